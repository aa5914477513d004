#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What goes wrong: errors that end a job, deaths, faults, connections that are cut, parameters.
# What an entry is: lib/Ept/Matrix.pm.

package Ept::Table::Failures;

use strict;
use warnings;

# What mpirun must be told to leave the survivors of a death alone, and to tell them of it.  Its own
# status is then 0, and now and then even where a survivor has ended with another one.
my $RECOVER = '--prtemca state_base_recoverable 1';
my $NOTIFY = "$RECOVER --prtemca state_base_notify_errors 1";

# Open MPI's fault tolerance, with which the launcher does likewise.
my $ULFM = '--with-ft ulfm';
my $IO = 'io. module .ompio. is not tested'; # libmpi's, of files

# Ways between processes: all for one way of waiting, one for what differs from it in libmpi only;
# otherwise two.
my %UNTOLD = (probe => ['2x2/shm'], iprobe => ['2x2/tcp'], any => ['2x2/node'], later => ['2x2/node'],
             recv => ['2x2']);

# The transport may know of a death before the launcher, whose words are to be seen, however long that
# takes.
my $PATIENT = 'pml_epml_launcher_wait 3600000';

# An endpoint that is lost, and two that are to each other, as the users of both are told.
my $PEER = 'cannot be reached.*Peer: +rank [01] on host ';
my $DELIVERED = '\A(?!.*cannot be reached).*All was delivered';
# One that is found dead: by what it has left, or by what the launcher says when it is asked then.
my $FOUND = '(?s)\A.*?(?:Peer|Dead): +rank 1 on host';
my $BOTH_SIDES = '(?=.*Peer: +rank 0 on host )(?=.*Peer: +rank 1 on host ).*cannot be reached';

our @ENTRIES = (
    # Errors that end the run, or are about a run without epml.
    { program => 'create_fatal', kind => 'fatal', configs => ['2x0'], longer => ['1x0'], plain => 0,
      quick => ['2x0'], says => 'MPIX_Comm_create_endpoints.*MPI_ERR_ARG' },
    { program => 'comm_abort', kind => 'fatal', configs => ['2x3/tcp'], longer => [qw(1x3 2x3/node)], plain => 0,
      quick => ['2x3/tcp'], args => '--way abort', status => 42,
      says => 'MPI_ABORT was invoked on rank 1 in communicator .*Errorcode: 42' },
    { program => 'comm_abort', variant => 'fatal', kind => 'fatal', configs => ['2x3/tcp'],
      plain => 0, quick => [], args => '--way fatal', says => 'MPI_Send.*MPI_ERR_RANK.*FATAL' },
    { program => 'comm_abort', variant => 'errors_abort', kind => 'fatal', plain => 0,
      configs => ['2x3/tcp'], quick => [], args => '--way errors_abort',
      says => 'MPI_Send.*MPI_ERR_RANK.*MPI_ERRORS_ABORT' },
    # All ranks at once: one of them ends the job, and explains it.
    { program => 'comm_abort', variant => 'all', kind => 'fatal', plain => 0, runs => 2,
      configs => ['1x3'], longer => ['2x3/node'], quick => ['1x3'], args => '--way all', status => 43,
      says => 'MPI_Comm_connect.*MPI_ERR_PORT', once => 'MPI_ERRORS_ARE_FATAL' },
    { program => 'comm_abort', variant => 'all_abort', kind => 'fatal', plain => 0, runs => 2,
      configs => ['1x3'], quick => [], args => '--way all_abort', status => 42,
      says => 'Errorcode: 42', once => 'MPI_ABORT was invoked' },
    { program => 'comm_abort', variant => 'world', kind => 'fatal', plain => 0, runs => 2,
      configs => ['1x3'], quick => [], args => '--way world', status => 42,
      says => 'Errorcode: 42', once => 'MPI_ABORT was invoked' },
    { program => 'comm_abort', variant => 'kill', kind => 'fatal', configs => ['2x3/node'],
      plain => 0, quick => ['2x3/node'], args => '--way kill', leaves => 0,
      says => 'exited on\s+signal 9' },

    # Processes of a job have different PMLs: MPI_Init fails, and nobody waits.
    { program => 'create', variant => 'other_pml', kind => 'fatal', configs => ['2x2/node'], plain => 0,
      quick => [], rank0 => 'OMPI_MCA_pml=ob1',
      says => 'selected pml epml, but peer .* selected pml ob1.*An error occurred in MPI_Init' },

    # A process dies.  The launcher ends the job: one message, which is its own.
    (map { +{ program => 'death', variant => "ends_$_", kind => 'death', plain => 0,
              configs => ['2x2/tcp'], longer => [qw(2x2/shm 2x2/node)], long => scalar(!/^(?:stream|window)$/), quick => 'stream' eq $_ ? undef : [],
              args => "--how $_ --errors fatal",
              mca => $PATIENT,
              says => 'exited on\s+signal 9', never => 'MPI_ERR|cannot be reached|have died' } }
        qw(pingpong flood stream barrier any window)),
    # One of another job.
    { program => 'jobs_death', kind => 'death', plain => 0, configs => ['2x2/node'], longer => ['2x2/tcp'],
      quick => [], launcher => $NOTIFY, status => '\d+', env => 'PMIX_MCA_mca_base_param_files=none', mca => $PATIENT,
      says => '(?s)\A(?=.*parents: 0 mistakes)(?=.*sibling: 0 mistakes).*\z', timeout => 60 },
    # It leaves the survivors alone, and tells them.
    (map { +{ program => 'death', variant => "told_$_", kind => 'death', plain => 0,
              # What is waited for makes the difference, and in a few the way.
              configs => [/^(?:stuck|later|meet|merge|client)$/ ? '3x2/node' : '3x2/tcp'],
              longer => [qw(3x2/tcp 3x2/node), 'barrier' eq $_ ? '3x2/shm' : ()],
              long => scalar(/^(?:irecv|iprobe|pingpong|allreduce|bcast|unmatched|ring)$/),
              quick => 'stream' eq $_ ? ['3x2/tcp'] : [], launcher => $NOTIFY, survivors => 1,
              args => "--how $_ --end leave", status => 0, mca => $PATIENT,
              says => 'Dead: rank 2 on host', never => 'cannot be reached|written after' } }
        qw(recv irecv probe iprobe any pingpong stream flood stuck unmatched barrier create allreduce
           bcast later ring alltoallw inter meet merge client window)),
    # The endpoints of each process share a context of the network's.
    (map { +{ program => 'death', variant => "told_${_}_contexts", kind => 'death', plain => 0,
              configs => ['3x3/tcp'], long => 'stream' ne $_, quick => [],
              launcher => $NOTIFY, survivors => 1, args => "--how $_ --end leave", status => 0,
              mca => "$PATIENT btl_epofi_max_contexts 1",
              says => 'Dead: rank 2 on host', never => 'cannot be reached|written after' } }
        qw(recv stream flood stuck barrier ring)),
    # In collectives of all kinds and forms, one process after the other: four in a run, six of 18
    # endpoints.
    { program => 'death_coll', configs => ['5x2/node'], longer => [qw(5x2/tcp 7x2/node)],
      plain => 0, quick => [], launcher => $NOTIFY, says => '', mca => $PATIENT, timeout => 60 },
    (map { +{ program => 'death_coll', variant => "from$_", configs => [qw(5x2/node 5x2/tcp)],
              long => 1, plain => 0, launcher => $NOTIFY, says => '', mca => $PATIENT,
              timeout => 60, args => "--first $_" } } map { 24 * $_ } 1 .. 12),
    # In calls of windows, likewise: four of 16.
    (map { my ($from, $way) = @$_;
           +{ program => 'win_death', variant => "from$from", configs => ["5x2/$way"],
              longer => [qw(5x2/node 5x2/tcp)], plain => 0, quick => [], launcher => $NOTIFY,
              says => '', mca => $PATIENT, timeout => 60, args => "--first $from" } }
        [0, 'tcp'], [4, 'node'], [8, 'node'], [12, 'tcp']),
    # Members that only compute.
    { program => 'win_away', configs => [qw(2x4/node 2x4/tcp)], plain => 0, quick => [],
      mca => 'pml_epml_liveness_interval 100 pml_epml_launcher_wait 100' },
    # The launcher says nothing: they ask each other.
    { program => 'win_death', variant => 'untold', configs => ['3x2/node'], longer => ['5x2/tcp'],
      plain => 0, quick => [], launcher => $RECOVER, says => '', timeout => 60,
      mca => 'pml_epml_liveness_interval 300 pml_epml_launcher_wait 300' },
    { program => 'win_death', variant => 'ulfm', configs => ['3x2/node'],
      longer => [qw(5x2/tcp 5x2/node)], plain => 0, quick => [], launcher => $ULFM, says => '',
      mca => $PATIENT, timeout => 60 },
    # With Open MPI's fault tolerance: a death, what waits in libmpi's functions, what is refused.
    { program => 'ulfm', configs => ['3x2/node'], longer => [qw(3x2/tcp 4x1/node 4x3/tcp)], plain => 0,
      quick => ['3x2/node'], launcher => $ULFM, says => '', timeout => 60 },
    # What endpoints have of it: the failed as groups, and acknowledging them.
    { program => 'ulfm_ack', configs => ['4x2/node'], longer => [qw(4x2/tcp 3x1/node 3x1/tcp)],
      plain => 0, quick => [], launcher => $ULFM, says => '', mca => $PATIENT, timeout => 60 },
    { program => 'ulfm_revoke', configs => [qw(4x2/node 1x4)], longer => [qw(4x2/tcp 3x1/node 3x1/tcp)],
      plain => 0, quick => [], launcher => $ULFM, says => '', mca => $PATIENT, timeout => 60 },
    { program => 'ulfm_agree', configs => ['4x2/node'], longer => [qw(4x2/tcp 3x1/node 3x1/tcp)],
      plain => 0, quick => [], launcher => $ULFM, says => '', mca => $PATIENT, timeout => 60 },
    { program => 'ulfm_shrink', configs => ['4x2/node'], longer => [qw(4x2/tcp 3x1/node 3x1/tcp)],
      plain => 0, quick => [], launcher => $ULFM, says => '', mca => $PATIENT, timeout => 60 },
    { program => 'ulfm_inter', configs => ['3x2/node'], longer => [qw(4x2/tcp 3x4/node)],
      plain => 0, quick => [], launcher => $ULFM, says => '', mca => $PATIENT, timeout => 60 },
    # A parent or a child dies in a spawn: it ends at all parents, and nothing crashes.
    (map { my ($variant, $args) = @$_;
           +{ program => 'ulfm_spawn', variant => $variant, kind => 'fatal', configs => ['3x2/node'],
              not_6 => "Open MPI 6's launcher ends connected jobs",
              longer => ['3x2/tcp'], plain => 0, quick => [], launcher => $ULFM, runs => 2, args => $args,
              timeout => 60,
              says => '\A(?!.*signal 11)(?!.*Segmentation fault)(?!.*not ok 1)(?=.*rank 0: spawn has ended)'
                  . '.*rank 1: spawn has ended with class' } }
        [parent => '--seed 4'], [child => '--dies 1 --seed 3'], [root => '--dies 2 --seed 5']),
    # Processes die in MPI_Comm_accept and MPI_Comm_connect, which end at all survivors: seeds.
    (map { +{ program => 'ulfm_connect', variant => "seed$_", configs => [3 > $_ ? '6x2/node' : '6x2/tcp'],
              not_6 => "Open MPI 6 connects no processes with fault tolerance",
              longer => [qw(6x2/node 6x2/tcp)], long => scalar(3 < $_), plain => 0, quick => [],
              launcher => $ULFM, says => '', mca => "$PATIENT pml_epml_finalize_wait 500", timeout => 60,
              args => "--seed $_" } } 1 .. 8),
    # All of it, round after round, with deaths at random: seeds.
    (map { +{ program => 'ulfm_stress', variant => "seed$_", configs => ['6x2/node'], longer => ['6x2/tcp'],
              long => 1, plain => 0, launcher => $ULFM, says => '', mca => $PATIENT, timeout => 60,
              args => "--seed $_" } } 1 .. 8),
    { program => 'ulfm', variant => 'direct', direct => 1, configs => ['3x2/node'], plain => 0,
      quick => [], launcher => $ULFM, says => '', timeout => 60 },
    { program => 'ulfm', variant => 'cluster', cluster => 'one', configs => ['6x2/node'], long => 1,
      plain => 0, launcher => $ULFM, says => '', timeout => 60 },
    (map { +{ program => 'death', variant => "ulfm_$_", kind => 'death', plain => 0,
              configs => ['stuck' eq $_ ? '3x2/tcp' : '3x2/node'], longer => [qw(3x2/tcp 3x2/node)],
              long => scalar($_ !~ /^(?:stuck|later)$/), quick => [], launcher => $ULFM,
              survivors => 1, args => "--how $_ --end leave", status => 0, mca => $PATIENT,
              says => 'Dead: rank 2 on host', never => 'cannot be reached|written after' } }
        qw(recv irecv probe iprobe any pingpong stream flood stuck unmatched barrier create allreduce
           bcast later ring alltoallw inter meet merge client)),
    (map { my ($program, $configs, $longer, %more) = @$_;
           +{ program => $program, variant => 'ulfm', configs => $configs, longer => $longer,
              long => !@$configs, plain => 0, quick => [], launcher => $ULFM, %more } }
        ['p2p_mixed', ['2x2/node'], [qw(1x4 2x2/tcp)], says => $IO],
        ['part_requests', ['2x2/node'], [qw(1x4 2x2/tcp)]],
        ['comm_refused', ['2x2/node'], ['1x4'], args => '--faults 1'],
        ['cancel', ['2x1/tcp'], [qw(1x2 2x2/node)]],
        ['static_world', ['2x0'], []],
        (map { [$_, [], [qw(1x4 2x2/node 2x2/tcp)]] }
            qw(p2p_requests p2p_persistent part_life comm_ops coll_move coll_life random_traffic)),
        ['comm_pending', [], [qw(1x4 2x2/node 2x2/tcp)], says => $IO]),
    # On three nodes, of which one has one process.
    { program => 'death_coll', variant => 'cluster', cluster => 'one', configs => ['5x2/node'],
      plain => 0, quick => [], launcher => $NOTIFY, says => '', mca => $PATIENT, timeout => 60 },
    # While members write and read a file together.
    { program => 'file_death', configs => ['4x2/node'], plain => 0, quick => [],
      launcher => $NOTIFY, says => '', mca => $PATIENT, timeout => 60 },
    # Likewise, by messages.
    { program => 'file_death', variant => 'locked', configs => ['4x2/node'], plain => 0,
      quick => [], launcher => $NOTIFY, says => '', timeout => 60,
      mca => "$PATIENT fs_ufs_lock_algorithm 2" },
    (map { +{ program => 'file_death', variant => "locked$_", configs => [qw(4x2/node 4x2/tcp)],
              long => 1, plain => 0, launcher => $NOTIFY, says => '', timeout => 60,
              mca => "$PATIENT fs_ufs_lock_algorithm 2", args => "--first $_" } } 1 .. 6),
    (map { +{ program => 'file_death', variant => "from$_", configs => [qw(4x2/node 4x2/tcp)],
              long => 1, plain => 0, launcher => $NOTIFY, says => '', mca => $PATIENT,
              timeout => 60, args => "--first $_" } } 1 .. 6),
    { program => 'death', variant => 'told_late', kind => 'death', plain => 0,
      configs => ['3x1/tcp'], longer => [qw(3x1/shm 3x1/node)], quick => [],
      launcher => $NOTIFY, survivors => 1,
      args => '--how late --end leave', status => 0, mca => $PATIENT,
      says => 'Dead: rank 2 on host', never => 'cannot be reached|written after' },
    # What is being fetched when a collective fails is over before it returns.
    { program => 'death', variant => 'told_shift', kind => 'death', plain => 0,
      configs => ['3x1/tcp'], quick => [], launcher => $NOTIFY, survivors => 1,
      args => '--how shift --end leave', status => 0, preload => 'fault_fabric',
      mca => "$PATIENT coll_tuned_use_dynamic_rules 1 coll_tuned_alltoall_algorithm 2",
      says => 'Dead: rank 2 on host', never => 'cannot be reached|written after' },
    # shm that does not copy by itself: what is being fetched is still under way when the launcher
    # tells of the death.
    { program => 'death', variant => 'told_part', kind => 'death', plain => 0,
      configs => [qw(3x2/tcp 2x1/shm)], longer => ['3x2/node'], quick => [], launcher => $NOTIFY, survivors => 1,
      args => '--how part --end leave', status => 0, env => 'FI_SHM_DISABLE_CMA=1',
      mca => $PATIENT,
      says => 'Dead: rank [12] on host', never => 'cannot be reached' },
    # What it had sent complete is received.
    { program => 'last_words', configs => ['2x1/node'], plain => 0, quick => [],
      launcher => $NOTIFY, mca => $PATIENT, says => '' },
    # And what it waits to hear of that, where there is no memory to say it.
    { program => 'last_words', variant => 'owed', configs => ['2x1/node'], plain => 0, quick => [],
      launcher => $NOTIFY, mca => $PATIENT, says => '', args => 'owed', preload => 'fail_alloc',
      rank0 => 'OMPI_MCA_btl_epshm_pipe_cells=16', timeout => 30 },
    # It leaves them alone and says nothing: they find out by themselves, each way as it does.  What
    # they wait in does not depend on that: one way each is enough for probes and wildcards.
    (map { +{ program => 'death', variant => "untold_$_", kind => 'death', plain => 0,
              configs => $UNTOLD{$_} // ['2x2/tcp'], longer => ['2x2'], quick => [],
              launcher => $RECOVER, survivors => 1,
              args => "--how $_ --end leave", status => 0,
              says => $FOUND, never => 'written after' } }
        qw(recv probe iprobe stream any barrier later window)),
    # Nor does it answer when it is asked: what is left of the dead has to do.
    (map { +{ program => 'death', variant => "mute_$_", kind => 'death', plain => 0,
              configs => ['2x2/tcp'], quick => [], launcher => $RECOVER, within => 20000,
              args => "--how $_ --end leave", status => 0, preload => 'endless_fence',
              env => 'EPT_UNANSWERED=1000000', mca => 'pml_epml_launcher_wait 300',
              says => $FOUND, never => 'written after' } } qw(recv stream)),
    # MPI_Finalize does not wait for the dead, nor for ever for those that may.
    (map { my ($how, $launcher, $says) = @$_;
           +{ program => 'death', variant => "${how}_finalize", kind => 'death', plain => 0,
              configs => ['3x1/tcp'], quick => [], launcher => $launcher, survivors => 1,
              args => '--how recv --end apart', status => 0,
              mca => 'pml_epml_finalize_wait 500', says => 'process 1: ended', never => 'written' } }
        [told => $NOTIFY], [untold => $RECOVER]),
    # One that has noticed nothing hears of it there, in the launcher's table of processes, be it that it must
    # ask twice.
    (map { my ($variant, $env) = @$_;
           +{ program => 'death', variant => $variant, kind => 'death', plain => 0,
              configs => ['3x1/tcp'], quick => [], launcher => $RECOVER, survivors => 1,
              timeout => 30, args => '--how none --end finalize', status => 0,
              class => 'MPI_SUCCESS', later => 0, env => $env,
              mca => 'pml_epml_finalize_wait 500 pml_epml_liveness_interval 300', preload => 'endless_fence',
              says => 'process 1: ended', never => 'written' } }
        ['none_finalize'], ['none_finalize_again', 'EPT_UNANSWERED=1']),
    # What a survivor offers to one that has left and freed its endpoint is given back.
    { program => 'death', variant => 'offer', kind => 'death', plain => 0,
      configs => [qw(3x1/tcp 3x1/node)], quick => [], launcher => $RECOVER, survivors => 1,
      args => '--how offer --end finalize', status => 0, later => 0,
      mca => 'pml_epml_liveness_interval 300 pml_epml_finalize_wait 60000', says => 'process 1: ended',
      never => 'written after' },
    # Its children live on, which does not keep it alive for others.
    (map { +{ program => 'death', variant => "child_$_", kind => 'death', plain => 0,
              configs => ['2x1/tcp', 'fork' eq $_ ? '2x1/node' : ()], quick => [],
              launcher => $RECOVER, survivors => 1,
              args => "--how recv --child $_ --end leave", status => 0,
              says => $FOUND, never => 'written after' } } qw(fork spawn)),
    # The job may end before the launcher has named the dead process; then the error alone says it.
    { program => 'death', variant => 'told_fatal', kind => 'death', plain => 0,
      configs => ['2x2/tcp'], quick => [], launcher => $NOTIFY, status => '0|75',
      args => '--how stream --errors fatal', mca => $PATIENT,
      says => '(?s)Dead: rank 1 on host|\A(?!.*Dead: rank 1 on host).*MPI_ERR_PROC_FAILED',
      never => 'cannot be reached' },

    # The launcher ends the job, or leaves the survivors alone and tells them, though Open MPI's own
    # btl/tcp has seen connections to the dead close.
    { program => 'death', variant => 'cluster', kind => 'death', cluster => 'one', plain => 0,
      configs => ['6x2/node'], quick => [], args => '--how stream --errors fatal', mca => $PATIENT,
      says => 'exited on\s+signal 9', never => 'written after|Socket closed' },
    (map { +{ program => 'death', variant => "cluster_told_$_", kind => 'death', cluster => 'one',
              plain => 0, long => 'stream' ne $_, configs => ['6x2/node'], quick => [],
              launcher => $NOTIFY, survivors => 1, args => "--how $_ --end leave", status => 0,
              mca => $PATIENT, says => 'Dead: rank 5 on host ept-c',
              never => 'cannot be reached|written after|Socket closed' } }
        qw(stream recv barrier create)),
    { program => 'death', variant => 'cluster_told_finalize', kind => 'death', cluster => 'one',
      long => 1, plain => 0, configs => ['6x1/node'], quick => [], launcher => $NOTIFY,
      survivors => 1, args => '--how recv --end finalize', status => 0,
      mca => 'pml_epml_finalize_wait 500', says => 'process 1: ended',
      never => 'written|Socket closed' },

    # Faults of the fabric, and what is said of each.
    (map { my ($how, $says) = @$_;
           +{ program => 'fault', variant => $how, configs => ['3x1/tcp'], plain => 0,
              quick => $how =~ /^(?:sent|send_again)$/ ? ['3x1/tcp'] : [],
              args => "--how $how", says => $says, preload => 'fault_fabric', timeout => 180,
              mca => 'btl_epofi_stall_warning 1 btl_epofi_recv_buffers 4'
                  # Where connections are greeted, it is told from one that computes.
                  . ($how =~ /_again/ ? ' btl_epofi_hello 0' : '') } }
        (map { [$_, 'takes no message.*Peer: +rank 1 on host .*Seconds: +1 '] }
            qw(send_again read_again cq_again)),
        [sent => 'cannot be reached.*Peer: +rank 1 on host .*endpoint \S+, fi_sockaddr_in'
             . '.*Error: +Connection reset by peer.*Detail: +ordered by a test'],
        [send_error => 'cannot be reached.*Peer: +rank 1 on host .*Error: +Input/output error'],
        [rejected => 'cannot be reached.*Peer: +rank 1 on host .*Error: +Connection refused.*firewall'],
        [fetched => 'could not be fetched.*Peer: +rank 1 on host .*Error: +Input/output error'],
        [received => 'receive of an endpoint failed.*Error: +Input/output error'],
        [insert => 'address cannot be used.*Peer: +rank 1 on host .*Error: +Invalid argument'],
        (map { [$_, 'queue of an endpoint cannot be read.*Error: +Input/output error'] }
            qw(cq_broken readerr_broken broken_before)),
        [reset => 'cannot be reached.*Peer: +rank [01] on host ']),
    (map { my ($how, $mca) = @$_;
           +{ program => 'fault', variant => $how, configs => ['3x1/tcp'], plain => 0, quick => [],
              args => "--how $how", preload => 'fault_fabric', mca => $mca, timeout => 180 } }
        [route => ''],
        [cq_recovers => 'btl_epofi_recv_buffers 4'],
        [held_again => 'pml_epml_unexpected_limit 32k'],
        [asked => 'pml_epml_liveness_interval 200']),
    { program => 'fault', variant => 'silent', configs => ['3x1/tcp'], plain => 0, long => 1,
      args => '--how silent', preload => 'fault_fabric', timeout => 180 },
    # Connections that are cut, in each state, and what else ends them: delivered, or lost to both,
    # with a text from both processes.
    (map { my ($how, $says, $long) = @$_;
           +{ program => 'cut', variant => $how, configs => ['3x1/tcp'], plain => 0,
              quick => 'fin_eager' eq $how ? ['3x1/tcp'] : [], long => $long, timeout => 60,
              args => "--how $how", says => $says, preload => 'fault_fabric',
              mca => 'pml_epml_liveness_interval 300 pml_epml_launcher_wait 100 opal_base_help_aggregate 0 '
                  . ($how =~ /^files_/ ? 'btl_epofi_descriptor_wait '
                        . ($how eq 'files_back' ? 3600000 : 1000) . ' ' : '')
                  # Without hellos a connection takes another one's place.
                  . 'btl_epofi_hello ' . ($how =~ /^second/ ? 0 : 1) } }
        # Nothing can be lost.
        (map { [$_, $DELIVERED, 'fin_idle' ne $_] } qw(fin_idle fin_out_idle second)),
        [swallow_sent => "$DELIVERED.*had not taken all", 1],
        [twice => 'a message from the network was thrown away.*it came before.*All was delivered'],
        # Something may be, or must.
        (map { [$_, "$BOTH_SIDES|$DELIVERED", 'fin_eager' ne $_] }
            qw(fin_eager fin_tail fin_sent fin_received fin_create second_busy rst_eager fin_offer
               fin_fetched fin_part_start)),
        (map { [$_, $BOTH_SIDES, 0] }
            qw(fin_fetch fin_part half swallow_received swallow_fetched left_collective
               left_create left_part left_early packet)),
        # Descriptors.
        [files_receiver => "no file descriptors left.*accept a connection.*ulimit -n.*$PEER"],
        [files_sender => "no file descriptors left.*connect to a peer.*ulimit -n.*$PEER", 1],
        [files_back => 'no file descriptors left.*accept a connection.*ulimit -n.*All was delivered']),
    { program => 'create_errors', variant => 'unselected', kind => 'unselected',
      configs => [qw(1x0 2x0)], args => '--unselected 1', plain => 0, quick => ['2x0'] },
    # Wrong parameters: each is named once, with what is right.
    (map { +{ program => 'create_errors', variant => $_->[0], configs => ['2x0'],
              args => '--lacking 1', plain => 0, quick => [], mca => "btl_epshm_processes 0 $_->[1]",
              env => $_->[3], says => '\A(?!.*could not get what an endpoint).*' . $_->[2] } }
        ['spsc_rings', 'btl_epshm_spsc_rings 33', 'btl_epshm_spsc_rings.*0 to 32.*No endpoints'],
        ['queue', 'btl_epofi_peer_queue 0', 'btl_epofi_peer_queue.*1 to 65536.*No endpoints'],
        ['rxd', 'btl_epofi_provider udp', 'Wanted provider: +udp.*none of them fits'],
        ['linked', 'btl_epofi_provider lnx', 'Wanted provider: +lnx.*none of them fits(?!.*:lnx)',
         'FI_LNX_PROV_LINKS=shm+tcp;ofi_rxm'],
        ['device', 'btl_epofi_provider verbs', 'Wanted provider: +verbs.*(?:no device here|none of them fits)'],
        ['coll', 'pml_epml_coll nosuch', 'do not serve all.*"nosuch".*pml_epml_coll']),
    # Those that do not exist are named, with what is most like them, and only those.
    { program => 'create', variant => 'misspelt', configs => ['1x4'], plain => 0, quick => [],
      args => '--case free',
      mca => 'pml_epml_max_endpoint 8 btl_epshm_spsc_ring 4 coll_epcoll_priorty 40 pml_epml_liveness_interval 9000',
      says => '\A(?!.*epml_liveness)(?=.*epml_max_endpoint: most like it is pml_epml_max_endpoints\b)'
          . '(?=.*epshm_spsc_ring: most like it is btl_epshm_spsc_rings\b)(?=.*priorty: .* coll_epcoll_priority\b)' },
    { program => 'create', variant => 'spelt', configs => ['1x4'], plain => 0, quick => [],
      args => '--case free',
      mca => 'pml_epml_liveness_interval 9000 btl_epshm_eager_limit 4096 btl_epofi_eager_limit 4096',
      never => 'that do not exist' },
    # Also where nobody is on another node yet, and none that would only not work here.
    { program => 'create_errors', variant => 'provider', configs => ['1x0'], plain => 0, quick => [],
      args => '--lacking 1', mca => 'btl_epofi_provider tcpp',
      says => '\A(?!.*could not get what an endpoint)(?!.*tcpp.*tcpp)'
          . '.*Value given: +tcpp.*Known providers:.*\btcp\b' },
    { program => 'create', variant => 'provider', configs => ['1x4'], plain => 0, quick => [],
      args => '--case free', mca => 'btl_epofi_provider udp;ofi_rxd' },
    { program => 'create_errors', variant => 'files', configs => ['2x0'], args => '--files 1',
      plain => 0, quick => [], mca => 'btl_epshm_processes 0 btl_epofi_provider tcp',
      says => '\A(?!.*Sorry).*could not open.*ulimit.*Endpoint: +2 of 2' },
    (map { +{ program => 'create_errors', variant => 'memory', configs => [$_], args => '--memory 1', plain => 0,
              quick => [], says => 'No memory is left.*\[no resources\]|could not get what an endpoint needs' } } qw(1x0 2x0)),
    { program => 'descriptors', configs => ['2x0'], plain => 0, quick => [],
      says => 'cannot be used.*Too many open files.*ulimit -n' },
    # A libmpi that calls its own functions directly, as Ubuntu's does: they are entered.
    (map { +{ program => $_->[0], variant => 'direct', configs => [$_->[1]], direct => 1, plain => 0,
              quick => [$_->[1]], says => $_->[2] } }
        ['comm_ops', '2x2/node'], ['comm_bridge', '2x2/node'], ['comm_groups', '2x2/tcp'],
        ['comm_refused', '1x4'], ['jobs_endpoints', '2x2/node'], ['win_create_errors', '1x4'],
        ['coll_life', '1x4'], ['comm_pending', '1x4']),
    { program => 'create_errors', variant => 'direct', configs => ['2x0'], direct => 1, plain => 0,
      args => '--out_of_reach 1', quick => [], preload => 'no_code',
      says => '\A(?!.*Link the program).*calls its own functions directly.*ompi_comm_nextcid: the '
          . 'system lets no changed code be run \(memfd_create: Operation not permitted\)' },
    # Where only the shared memory of the node cannot be had, the network serves.
    { program => 'create', variant => 'pipe', configs => ['2x2/node'], plain => 0, quick => [],
      mca => 'btl_epshm_pipe_cells 17', says => 'btl_epshm_pipe_cells.*use the network instead' },
    { program => 'create', variant => 'loopback', configs => ['2x2/node'], plain => 0, quick => [],
      rank0 => 'OMPI_MCA_btl_epshm_processes=0', mca => 'btl_epofi_interface lo' },
);

1;
