#
# Copyright (c) 2026      The Open MPI Endpoints project contributors.
#                         All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# What runs where: the one table of the MPI tests, and the jobs made from it.
#
# A job is a hash: name (what prove shows and --only matches), kind (how lib/Ept/Job.pm runs it),
# program, np (processes), ep (endpoints per process; 0: plain ranks), provider, args, timeout (s).

package Ept::Matrix;

use strict;
use warnings;

use Ept::MpichTests;

# Configurations, "processes x endpoints per process". With more than one process the configuration
# runs once per way between them: libfabric's providers tcp and shm, and "node", the shared memory of
# btl/epshm.  "2x4/tcp" names one only.
my @ALL = qw(1x1 1x2 1x4 1x16 2x2 4x4/tcp 4x4/node);

# All pairs of 64 ranks connected, far more than there are cores.
my @CROWD = qw(4x16/tcp 4x16/node);

# With --long also these, which run no code that those above do not: shm is another provider for the
# same btl/epofi, what more than two processes, or more than two endpoints each, do is in 4x4, and
# what one endpoint of a process does, in 1x1 and in the two programs that have 2x1 in any case.
my @MORE = qw(2x1 2x4 2x16 4x1 4x2 4x4/shm 4x16);

# Fewer ranks, with larger messages.
my @SOME = qw(1x1 1x4 1x16 2x1/tcp 2x2 4x4/tcp 4x4/node);

# Process-level tests (each process makes endpoints of its own in the test).
my @PROCESSES = qw(1x1 2x1/tcp 2x1/node 4x1/tcp);

my $FEW = join ' ', 'btl_epshm_ring_cells 16', 'btl_epshm_eager_frags_max 1',
    'btl_epshm_max_frags_max 1', 'btl_epshm_pipe_cells 16', 'btl_epshm_pipe_eager_limit 2048',
    'btl_epshm_pipe_bytes 4096',
    'btl_epofi_recv_buffers 4', 'btl_epofi_send_buffers 4',
    'btl_epofi_max_send_buffers 4';

# An endpoint that is lost, and two that are to each other, as the users of both are told.
my $PEER = 'cannot be reached.*Peer: +rank [01] on host ';
my $DELIVERED = '\A(?!.*cannot be reached).*All was delivered';
my $BOTH_SIDES = '(?=.*Peer: +rank 0 on host )(?=.*Peer: +rank 1 on host ).*cannot be reached';

# malloc counts what each thread keeps for next time as handed out: memory that only seems to be lost.
my $NO_CACHES = 'GLIBC_TUNABLES=glibc.malloc.tcache_count=0';

# One entry per program and purpose:
#   program the source test/mpi/PROGRAM.c, or examples/PROGRAM.c
#   configs where it runs
#   longer  where it runs with --long, or by its name, as well
#   args    further arguments (a string)
#   variant part of the name, to tell two entries of a program apart
#   quick   configurations of --quick (default: 1x4, 2x2/tcp and 2x2/node, as far as they are listed)
#   timeout seconds of one run (default 120; twice that from 32 ranks on)
#   kind    see lib/Ept/Job.pm (default "mpi")
#   folder  of kind "python": where the program is (default "examples")
#   plain   0: nothing to see without endpoints
#   mca     "name value" pairs
#   env     variables, "NAME=VALUE ..."
#   rank0   a variable that process 0 alone gets, "NAME=VALUE"
#   leaves  0: after the run nothing may be left where segments are
#   hosts   1: the processes are on two hosts, by turns (fake-ssh)
#   cluster LAYOUT: the processes are on three nodes, by turns (lib/cluster; what it has of networks)
#   long    1: runs only if it is named, or with --long
#   says    a pattern that the run's stderr must match; without it, stderr must stay silent
#   status  of a job of kind "fatal": how it must end (default: any but 0)
#   once    of a job of kind "fatal": a pattern that must be printed exactly once
#   runs    of a job of kind "fatal": how many
#   status  of a job of kind "death": likewise, as a pattern
#   direct  1: Open MPI's libraries as if linked with -Bsymbolic-functions (lib/direct-calls)
#   abi     1: compiled for the MPI ABI (epmpicc_abi), where Open MPI has it
#   preload NAME: test/lib/NAME.c is compiled and put in front of the program's libraries
#   launcher further options of mpirun
#   never, within, class  of kind "death": a pattern that must not be printed; how soon survivors must
#           get their error (ms from the start of the traffic; the death is at 500), and which
#   later   of kind "death": 0: the survivors try nothing more afterwards
# What mpirun must be told to leave the survivors of a death alone, and to tell them of it.  Its own
# status is then 0, and now and then even where a survivor has ended with another one.
my $RECOVER = '--prtemca state_base_recoverable 1';
my $NOTIFY = "$RECOVER --prtemca state_base_notify_errors 1";

# Ways between processes, one of which is enough; otherwise all.
my %UNTOLD = (probe => ['2x2/shm'], iprobe => ['2x2/tcp'], any => ['2x2/node'], recv => ['2x2']);

# Under ThreadSanitizer: between processes too, for the ways that are a program's own.
my %TSAN = (comm_ops => [qw(2x2/tcp 2x2/node)], p2p_requests => [qw(2x2/tcp 2x2/node)],
            shared_endpoint => [qw(2x2/tcp 2x2/node)], comm_bridge => ['2x2/tcp'],
            p2p_dump => ['2x2/tcp'], part => ['2x2/node'], part_life => ['2x2/tcp'],
            part_requests => ['2x2/node']);

# On three nodes what takes long is cut short.
my %CLUSTER_ARGS = (random_traffic => '--seed 31 --epochs 1', comm_inter => '--case across',
                    create => '--case parents', comm_bridge => '--case processes');

# The transport may know of a death before the launcher, whose words are to be seen.
my $PATIENT = 'pml_epml_launcher_wait 20000';

my @TABLE = (
    # The whole matrix, all ways between processes.
    { program => 'p2p_basic', configs => [@ALL, qw(2x1/tcp 2x1/node)], longer => \@MORE },
    { program => 'p2p_match', configs => \@ALL, longer => \@MORE },
    { program => 'random_traffic', configs => [@ALL, qw(2x1/tcp 2x1/node), @CROWD],
      longer => \@MORE },
    { program => 'coll_move', configs => [@ALL, '4x16/node'], longer => \@MORE },
    { program => 'p2p_requests', configs => \@ALL, longer => \@MORE },
    { program => 'p2p_order', configs => \@ALL, longer => \@MORE },
    { program => 'comm_ops', configs => [@ALL, @CROWD], longer => \@MORE },

    # Partitioned communication.  On ordinary communicators it is Open MPI's own module, which can
    # less: that is what the first entry, and the plain runs, are for.
    { program => 'part', variant => 'ordinary', configs => ['2x0'], quick => [],
      args => '--plain-only 1' },
    { program => 'part', configs => [qw(1x1 1x4 1x16 2x2 2x4/tcp)], plain => 0,
      longer => [qw(1x2 2x1 4x2/tcp)], timeout => 120 },
    { program => 'part_requests', plain => 0, configs => [qw(1x1 1x4 2x2 4x2/tcp)],
      longer => [qw(1x8 2x1)] },
    { program => 'part_life', plain => 0, configs => [qw(1x1 1x4 2x2 4x2/tcp)],
      longer => [qw(1x8 2x1)] },

    # Open MPI 6 has it.
    { program => 'newer', configs => [qw(1x4 2x2/tcp 2x2/node)] },
    { program => 'large', configs => [qw(1x2 2x2/node)], longer => ['2x1/tcp'],
      quick => [qw(1x2 2x2/node)] },
    # The MPI ABI.
    (map { +{ program => $_->[0], variant => 'abi', abi => 1, plain => 0, configs => [$_->[1]],
              quick => [$_->[1]] } }
        [qw(p2p_basic 2x2/node)], [qw(p2p_requests 1x4)], [qw(coll_move 2x2/tcp)],
        [qw(coll_reduce 1x4)], [qw(comm_local 2x2/node)], [qw(comm_groups 2x2/tcp)],
        [qw(comm_bridge 2x2/node)], [qw(comm_errors 1x4)], [qw(handles 1x4)], [qw(newer 1x4)],
        [qw(large 1x2)], [qw(create 2x2/tcp)]),
    { program => 'create_errors', variant => 'abi', abi => 1, plain => 0, configs => ['2x1/tcp'],
      quick => ['2x1/tcp'], args => '--limit 8', mca => 'pml_epml_max_endpoints 8',
      says => 'pml_epml_max_endpoints' },

    # Communicators: what an endpoint does with them, what they leave behind.
    # comm_bridge: groups that have never met.
    { program => 'comm_bridge', configs => [qw(1x2 1x4 1x7 2x1/tcp 2x2 4x2/tcp 4x2/node 3x3/tcp)],
      longer => [qw(2x1 2x4)] },
    { program => 'comm_bridge', variant => 'limit', configs => ['2x2/tcp'], quick => [],
      args => '--limit 1', mca => 'pml_epml_max_endpoints 2', plain => 0,
      says => 'pml_epml_max_endpoints' },
    { program => 'comm_tree', configs => [qw(1x4 1x8 2x2 4x4/tcp 4x4/node)],
      longer => [qw(2x4/tcp 2x4/node 4x2/tcp)] },
    { program => 'comm_tree', variant => 'long', long => 1, plain => 0, timeout => 300,
      configs => [qw(1x4 1x8 1x16 2x4 4x2 4x4/tcp)],
      args => '--seed 100 --episodes 200 --ops 200' },
    { program => 'comm_inter', configs => [qw(1x4 1x8 2x2 4x2/tcp 4x2/node)] },
    { program => 'comm_inter', variant => 'long', long => 1, plain => 0, timeout => 300,
      configs => [qw(1x4 1x8 2x4)], args => '--case storm --rounds 30000' },
    { program => 'comm_groups', configs => [qw(1x1 1x4 2x2/tcp 2x2/node 4x4/node)],
      longer => [qw(1x8 4x2/tcp)] },
    { program => 'handles', configs => [qw(1x1 1x4 2x2/tcp)], quick => [] },
    { program => 'coll_life', configs => [qw(1x4 1x8 2x2/tcp 2x2/node)], quick => ['1x4'] },
    # Threads that come late to locks: Open MPI's own tables, and ours.
    (map { +{ program => $_, variant => 'late', configs => [qw(1x8 2x3/tcp 2x3/node)], plain => 0,
              quick => 'handles' eq $_ ? ['1x8'] : [], args => '--seed 21', timeout => 120,
              env => 'LATE_LOCKS_SEED=21', preload => 'late_locks' } }
        qw(handles comm_tree comm_inter create part_life)),
    { program => 'comm_local', configs => [qw(1x1 1x4 2x2/tcp 2x2/node)],
      longer => [qw(1x8 4x2/tcp 2x4/shm)] },
    { program => 'comm_group_tag', configs => [qw(1x1 1x3 2x2/tcp 2x2/node)], quick => ['1x3'],
      plain => 0 },
    { program => 'comm_nomem', configs => [qw(1x3 2x2/node)], quick => ['1x3'], plain => 0,
      preload => 'fail_alloc' },
    { program => 'pack_error', configs => [qw(1x2 2x1/tcp 2x1/node)], quick => ['1x2'], plain => 0,
      preload => 'fail_pack', timeout => 30 },
    { program => 'left', configs => [qw(1x2 2x1/node 2x1/tcp)], quick => ['1x2'], plain => 0 },
    { program => 'left', variant => 'other', configs => ['1x2'], quick => [], plain => 0,
      args => '--other' },
    { program => 'left', variant => 'other', configs => [qw(2x1/node 2x1/tcp)], quick => [],
      plain => 0, args => '--other', says => 'was freed before it was received' },
    { program => 'comm_errors', configs => [qw(1x1 1x4 2x2/tcp 2x2/node)],
      longer => [qw(1x8 4x2/tcp)] },
    { program => 'comm_refused', configs => [qw(1x1 1x4)], plain => 0,
      says => '\A(?!.*windows yet.*windows yet)(?!.*files yet.*files yet).*windows yet.*files yet' },
    { program => 'comm_refused', configs => [qw(2x1/node 2x2/tcp 2x2/node)], plain => 0,
      says => 'cannot have windows yet.*cannot open files yet.*cannot be connected to other jobs' },
    { program => 'comm_topo', configs => [qw(1x1 1x4 2x2/tcp 2x2/node 4x2/tcp)],
      longer => [qw(1x8 2x4/shm)] },
    { program => 'comm_flat', configs => [qw(1x4 2x2/node)], quick => ['1x4'], env => $NO_CACHES,
      timeout => 120 },
    { program => 'comm_flat', variant => 'net', configs => ['2x2/tcp'], quick => [],
      env => $NO_CACHES, args => '--rounds 300', plain => 0, timeout => 120 },
    { program => 'comm_flat', variant => 'long', long => 1, plain => 0, timeout => 300,
      env => $NO_CACHES, configs => ['1x8'], args => '--rounds 10000' },
    { program => 'comm_flat', variant => 'long', long => 1, plain => 0, timeout => 300,
      env => $NO_CACHES, configs => ['2x4/tcp'], args => '--rounds 5000' },

    # Who is where, with more than one node.
    { program => 'comm_bridge', variant => 'hosts', hosts => 1,
      configs => [qw(2x2/tcp 4x2/tcp 4x2/node)], quick => [], plain => 0 },
    { program => 'comm_ops', variant => 'hosts', hosts => 1, configs => [qw(4x2/tcp 4x2/node)],
      quick => [], plain => 0 },
    { program => 'random_traffic', variant => 'hosts', hosts => 1, configs => ['4x2/node'],
      quick => [], args => '--seed 15', plain => 0 },

    # Three nodes with two processes each: shared memory within a node, tcp between them.
    { program => 'cluster', variant => 'link', cluster => 'one', configs => ['6x2/node'],
      quick => [], args => '--down 600', plain => 0 },
    (map { +{ program => $_, variant => 'cluster', cluster => 'one', configs => ['6x2/node'],
              quick => [], args => $CLUSTER_ARGS{$_} // '', plain => 0 } }
        qw(p2p_basic random_traffic create comm_bridge comm_inter coll_move coll_reduce)),
    (map { +{ program => $_, variant => 'cluster_long', cluster => 'one', configs => ['6x2/node'],
              long => 1, plain => 0, args => /^comm_(?:inter|tree)$/ ? '--hosts 3' : '' } }
        qw(create comm_bridge comm_inter p2p_match p2p_order p2p_sizes p2p_requests comm_ops
           comm_tree comm_groups coll_neighbor part)),
    # The launcher ends the job, or leaves the survivors alone and tells them, though Open MPI's own
    # btl/tcp has seen connections to the dead close.
    { program => 'death', variant => 'cluster', kind => 'death', cluster => 'one', plain => 0,
      configs => ['6x2/node'], quick => [], args => '--how stream --errors fatal', mca => $PATIENT,
      says => 'exited on\s+signal 9', never => 'written after|Socket closed' },
    (map { +{ program => 'death', variant => "cluster_told_$_", kind => 'death', cluster => 'one',
              plain => 0, long => 'stream' ne $_, configs => ['6x2/node'], quick => [],
              launcher => $NOTIFY, within => 30000, args => "--how $_ --end leave", status => 0,
              mca => $PATIENT, says => 'Dead: rank 5 on host ept-c',
              never => 'cannot be reached|written after|Socket closed' } }
        qw(stream recv barrier create)),
    { program => 'death', variant => 'cluster_told_finalize', kind => 'death', cluster => 'one',
      long => 1, plain => 0, configs => ['6x1/node'], quick => [], launcher => $NOTIFY,
      within => 30000, args => '--how recv --end finalize', status => 0,
      mca => 'pml_epml_finalize_wait 500', says => 'process 1: ended',
      never => 'written|Socket closed' },
    # Nobody has died: a connection is over, and ob1 has lost messages.
    { program => 'cluster', variant => 'closed', cluster => 'one', kind => 'fatal', plain => 0,
      configs => ['2x1/node'], quick => [], args => '--closed 1', timeout => 30,
      mca => 'pml_epml_launcher_wait 300',
      says => '[1-9]\d* connections closed.*error occurred in Socket closed' },
    # Which network the endpoints of all nodes take.
    (map { my ($layout, $interfaces, $mca) = @$_;
           my $others = join '', map { "(?!.*interface $_->[1],)" } grep { !$_->[0] } @$interfaces;
           my ($taken) = join '|', map { $_->[1] } grep { $_->[0] } @$interfaces;
           +{ program => 'cluster', variant => $layout, cluster => $layout =~ s/_.*//r, plain => 0,
              configs => ['3x1/node'], quick => [], mca => "btl_base_verbose 10 $mca",
              says => "\\A$others(?:.*btl:epofi: provider tcp, interface (?:$taken),){3}" } }
        [fast => [[1, 'eth1'], [0, 'eth0']], ''],
        [two_include => [[1, 'eth1'], [0, 'eth0']], 'btl_tcp_if_include 10.76.0.0/16'],
        [two_exclude => [[1, 'eth1'], [0, 'eth0']], 'btl_tcp_if_exclude lo,eth0'],
        [two_own => [[1, 'eth1'], [0, 'eth0']],
         'btl_tcp_if_include eth0 btl_epofi_interface 10.76.0.0/24'],
        [uneven => [[1, 'ens4'], [1, 'eno1'], [0, 'ens3']], ''],
        [docker => [[1, 'eth0'], [0, 'docker0']],
         'btl_tcp_if_include eth0 btl_epofi_interface docker0,eth0'],
        [both => [[1, 'eth1'], [0, 'eth0']],
         'btl_tcp_if_include eth0 btl_epofi_interface eth1'],
        [ipv6 => [[1, 'eth0']], '']),
    # (Two on a node would be told by btl/tcp that it finds no addresses to reach each other by.)
    { program => 'p2p_basic', variant => 'ipv6', cluster => 'ipv6', configs => ['3x2/node'],
      long => 1, plain => 0 },
    # One that does not lead everywhere, asked for: what is said.
    { program => 'cluster', variant => 'torn', cluster => 'torn', kind => 'fatal', plain => 0,
      configs => ['2x1/node'], quick => [], args => '--torn 1', timeout => 30,
      mca => 'btl_tcp_if_include eth0 btl_epofi_interface eth1 btl_epofi_stall_warning 1',
      says => 'takes no message.*Host: +ept-a.*Peer: +rank 1 on host ept-b, .*10\.78\.0\.2.*'
          . 'Interface: +eth1, fi_sockaddr_in://10\.78\.0\.1:.*btl_epofi_interface' },

    # Each protocol within a process and between processes, few and many ranks.
    { program => 'p2p_sizes', configs => [qw(1x2 1x4 2x1 2x2/tcp 2x2/node)],
      longer => [qw(2x2 4x2/tcp)] },
    { program => 'p2p_types', configs => [qw(1x1 1x4 2x2)], longer => [qw(1x2 2x1 4x4/tcp)] },
    { program => 'coll_reduce', configs => \@SOME, longer => ['2x4'] },
    { program => 'coll_neighbor', configs => \@SOME, longer => ['2x4'] },
    { program => 'progress', configs => [qw(1x2 1x4 2x1/tcp 2x1/node 2x2 4x2/tcp)],
      longer => [qw(2x1 2x4 4x2/node)] },
    { program => 'calls', configs => ['1x1'], quick => ['1x1'], plain => 0 },
    { program => 'calls', variant => 'bound', configs => ['1x0'], quick => [], plain => 0,
      args => '--bound 1' },
    { program => 'calls', variant => 'wait', configs => ['1x1'], quick => [], plain => 0,
      args => '--messages 8000', mca => 'btl_epshm_lane_cells 8192' },
    # Not over a network, which copies by itself.
    { program => 'drafted', configs => [qw(1x4 2x3/node)], quick => [], plain => 0 },
    { program => 'callbacks', configs => ['1x1'], quick => ['1x1'], plain => 0, timeout => 30,
      env => 'MALLOC_PERTURB_=165' }, # what is freed too early is not as it was
    { program => 'callbacks', variant => 'tsan', kind => 'tsan', configs => ['1x1'], quick => [],
      plain => 0, timeout => 60 },
    { program => 'shared_endpoint', configs => [qw(1x1 1x2 1x4 2x2)], longer => [qw(2x1 4x2/tcp)] },
    { program => 'cancel', configs => [qw(1x2 2x1/tcp 2x1/shm 2x2/node)], quick => ['2x1/tcp'],
      plain => 0 },

    # Point to point in full.
    { program => 'p2p_assert', configs => [qw(1x1 1x4 2x2/tcp 2x2/node)], longer => [qw(1x2 2x2)] },
    { program => 'p2p_assert', variant => 'few', configs => [qw(1x2 2x2/tcp)], quick => [],
      args => '--overtake 30', mca => $FEW, plain => 0 },
    # Not on node: a message that is seen on its way needs a network.
    { program => 'p2p_dump', configs => [qw(1x1 1x4 2x2/tcp)], plain => 0,
      longer => ['2x2/shm'], mca => 'btl_epofi_get_chunk 65536' }, # or it is all there after one test
    { program => 'p2p_dump', variant => 'few', configs => [qw(1x2)], quick => [],
      args => '--backlog 20', mca => $FEW, plain => 0 },
    { program => 'variables', configs => [qw(1x1 1x4 2x2/tcp 2x2/node)], plain => 0 },
    { program => 'variables', variant => 'held', configs => ['1x2'], quick => [], plain => 0,
      args => '--case full', mca => 'pml_epml_unexpected_limit 4000' },
    { program => 'variables', variant => 'verbose', configs => [qw(2x1/tcp 2x1/node)], quick => [],
      plain => 0, args => '--case process', mca => 'pml_epml_verbose 1',
      says => '\A(?!.*process 1: what).*base PML +\w+, the best of .*seams .*in the process .*'
             . 'on the node .*cores +\d+ for this process.*limits +\d+ open files' },
    { program => 'p2p_sendrecv', configs => [qw(1x1 1x4 2x2/tcp 2x2/node)],
      longer => [qw(1x8 2x2 4x2/tcp)] },
    { program => 'p2p_sendrecv', variant => 'valgrind', kind => 'valgrind', configs => ['1x2'],
      quick => [], args => '--case used_request', plain => 0, timeout => 240 },
    (map { +{ program => $_, configs => [qw(1x1 1x4 2x2/tcp 2x2/node)], longer => ['2x2'] } }
        qw(p2p_errors p2p_bsend p2p_persistent p2p_mprobe)),
    { program => 'p2p_mixed', configs => [qw(1x1 1x4 2x2/tcp 2x2/node)], longer => [qw(2x1/tcp 2x2)] },
    # Messages that stay with their senders; in a crowd none does, unless nobody notices it.
    { program => 'lend', configs => [qw(1x2 1x4)] },
    { program => 'lend', variant => 'crowd', configs => ['1x4'], quick => [], plain => 0,
      args => '--seed 2', mca => 'pml_epml_yield never' },
    { program => 'lend', variant => 'few', configs => ['1x2'], quick => [], plain => 0,
      args => '--seed 3', mca => "$FEW btl_epshm_lane_cells 64 btl_epshm_lend_min 1" },

    # More senders than lanes, places that are fought for, endpoints that come and go.
    { program => 'lanes', configs => [qw(1x1 1x4 1x24 2x12/tcp)], timeout => 120 },
    { program => 'lanes', variant => 'none', configs => ['1x24'], quick => [], plain => 0,
      args => '--seed 2', mca => 'btl_epshm_lanes 0', timeout => 120 },
    { program => 'lanes', variant => 'one', configs => ['1x24'], quick => [], plain => 0,
      args => '--seed 3', mca => 'btl_epshm_lanes 1', timeout => 120 },
    { program => 'lanes', variant => 'many', configs => ['1x24'], longer => ['1x4'], quick => [],
      plain => 0, args => '--seed 4', mca => 'btl_epshm_lanes 32 btl_epshm_lane_cells 64', timeout => 120 },
    { program => 'lanes', variant => 'few', configs => [qw(1x4 1x24)], quick => ['1x4'],
      plain => 0, args => '--seed 5', mca => "$FEW btl_epshm_lane_cells 64", timeout => 120 },
    { program => 'lanes', variant => 'memory', configs => ['1x1'], quick => [], plain => 0,
      args => '--case outlive --inbox 4096', mca => 'btl_epshm_ring_cells 65536' },

    # Creation.
    { program => 'create', configs => [qw(1x1 1x4 2x1/tcp 2x2 4x1/tcp 4x4/tcp)],
      longer => [qw(2x1 4x1)] },
    # What an endpoint owes when it goes is more than fits into its pipe.
    { program => 'create', variant => 'owed', configs => ['2x1/node'], quick => [], plain => 0,
      args => '--owed 1', rank0 => 'OMPI_MCA_btl_epshm_pipe_cells=16', timeout => 30 },
    { program => 'create_info', configs => \@PROCESSES, longer => [qw(2x1 4x1/node)],
      quick => ['2x1/tcp'], says => 'mpix_thread_level.*frobnicated' },
    { program => 'create_errors', configs => [@PROCESSES, qw(2x2/tcp 2x2/node)],
      longer => [qw(2x1 2x2 4x1/node)], args => '--limit 8',
      mca => 'pml_epml_max_endpoints 8', plain => 0, says => 'pml_epml_max_endpoints' },
    { program => 'create_first', configs => ['1x0'], quick => [], plain => 0 },
    { program => 'create_first', variant => 'limit', configs => ['1x0'], quick => [], plain => 0,
      args => '--limit 8', mca => 'pml_epml_max_endpoints 8', says => 'pml_epml_max_endpoints' },
    { program => 'create_omp', configs => \@PROCESSES, longer => [qw(2x1 4x1/node)],
      quick => ['2x1/tcp'] },
    { program => 'create_pmpi', configs => [qw(1x2 2x2/tcp 2x2/node)], plain => 0 },
    { program => 'finalize', configs => [qw(1x1 1x4 2x2 4x4/node)], longer => ['4x4/tcp'],
      args => '--keep 1' },
    # A thousand rounds; over shm a context costs a hundred times what it costs over tcp.
    { program => 'create_loop', configs => [qw(1x1 2x1/tcp 2x1/node)], quick => [],
      timeout => 120, env => $NO_CACHES },
    { program => 'create_loop', variant => 'few', configs => ['2x1/shm'], quick => [],
      args => '--rounds 100', timeout => 120, env => $NO_CACHES, plain => 0 },

    # A thousand endpoints in a process; with a network, as many as the descriptors of most machines
    # allow. How malloc keeps memory for next time must not be mistaken for memory in use.
    { program => 'create_many', configs => ['1x1'], quick => [], plain => 0, timeout => 180,
      env => $NO_CACHES },
    { program => 'create_many', variant => 'net', configs => [qw(2x1/tcp 2x1/node)],
      longer => ['2x1/shm'], quick => [], plain => 0, args => '--num 128', timeout => 180,
      env => $NO_CACHES },

    # Promises of one thread at a time: the harness keeps them.
    { program => 'random_traffic', variant => 'single', configs => [qw(1x4 2x2/node)],
      longer => ['2x2'], quick => ['1x4'], args => '--level single --seed 3', plain => 0 },
    { program => 'p2p_basic', variant => 'serialized', configs => [qw(1x4 2x2/tcp)],
      longer => ['2x2'], quick => [], args => '--level serialized', plain => 0 },

    # More random traffic: other seeds, larger messages.
    { program => 'random_traffic', variant => 'seeds', configs => [qw(1x4 2x2)],
      longer => [qw(1x2 2x4)], quick => [], args => '--seed 11 --epochs 8', plain => 0 },
    { program => 'random_traffic', variant => 'large', configs => [qw(1x2 2x2)],
      longer => ['2x1'], quick => [], args => '--seed 12 --epochs 2 --messages 120 --max 1500000',
      plain => 0 },

    # The smallest rings, windows and numbers of buffers: whoever sends must wait its turn.
    { program => 'random_traffic', variant => 'few', configs => [qw(1x4 2x2 4x4/tcp 4x4/node)],
      longer => ['1x2'], quick => [qw(2x2/tcp 2x2/node)], args => '--seed 13', mca => $FEW,
      plain => 0 },
    { program => 'p2p_order', variant => 'few', configs => [qw(1x2 2x2)], longer => ['2x1'],
      quick => [], args => '--seed 14', mca => $FEW, plain => 0 },
    { program => 'coll_move', variant => 'few', configs => [qw(1x4 2x2/tcp 2x2/node)],
      longer => ['2x2'], quick => [], mca => $FEW, plain => 0 },

    { program => 'part', variant => 'few', configs => [qw(1x4 2x2/tcp 2x2/node)],
      longer => ['2x2'], quick => [], mca => $FEW, plain => 0, timeout => 120 },
    { program => 'part_requests', variant => 'few', configs => [qw(1x4 2x2/tcp 2x2/node)],
      longer => ['2x2'], quick => [], mca => $FEW, plain => 0 },
    # What nobody receives: a million messages, and receivers that are full.  The shm provider takes
    # up to 43 KB per message on its way, from memory that it never gives back.
    { program => 'flood', configs => [qw(1x2 1x4)], quick => ['1x2'] },
    { program => 'flood', variant => 'between', configs => [qw(2x1/tcp 2x2/tcp)], quick => [],
      args => '--messages 200000', plain => 0, timeout => 120 },
    { program => 'flood', variant => 'held', configs => [qw(1x2 1x4)], quick => ['1x4'],
      args => '--limit 1048576', mca => 'pml_epml_unexpected_limit 1m', plain => 0 },
    { program => 'flood', variant => 'held_between', configs => [qw(2x1/tcp 2x2/tcp)],
      quick => ['2x2/tcp'], args => '--limit 32768',
      mca => 'pml_epml_unexpected_limit 32k btl_epofi_peer_queue 16', plain => 0, timeout => 120 },
    { program => 'flood', variant => 'held_between', configs => ['2x2/shm'], longer => ['2x1/shm'],
      quick => [], args => '--limit 32768 --slack 65536',
      mca => 'pml_epml_unexpected_limit 32k btl_epofi_peer_queue 16', plain => 0, timeout => 120 },
    { program => 'flood', variant => 'exhausted', configs => [qw(1x2 2x1/tcp 2x1/node)],
      quick => ['1x2'], args => '--exhaust 1', plain => 0,
      mca => 'btl_epshm_pipe_cells 1024 btl_epofi_peer_queue 16',
      says => 'no memory left for a message' },
    { program => 'slow_peer', configs => [qw(1x4 2x2)], longer => ['1x3'], quick => ['1x4'],
      plain => 0 },
    { program => 'slow_peer', variant => 'held', configs => [qw(1x4 2x2/tcp 2x2/node)],
      longer => ['2x2'], quick => [], plain => 0,
      mca => 'pml_epml_unexpected_limit 32k' },
    { program => 'slow_peer', variant => 'alone', configs => [qw(1x4 2x2/tcp)], quick => [],
      mca => 'pml_epml_progress_others 0', plain => 0 },
    { program => 'random_traffic', variant => 'held', configs => [qw(1x4 2x2 4x4/tcp)],
      longer => ['1x2'], quick => ['2x2/tcp'], args => '--seed 15', mca => 'pml_epml_unexpected_limit 2000',
      plain => 0 },
    (map { +{ program => $_, variant => 'held', configs => [qw(1x4 2x2/tcp 2x2/node)],
              longer => ['2x2'], quick => [], plain => 0, mca => 'pml_epml_unexpected_limit 0' } }
        qw(p2p_basic p2p_match p2p_requests p2p_types coll_move comm_tree)),
    # Between processes, large messages copied twice, as where the kernel forbids to read another
    # process's memory.
    { program => 'p2p_sizes', variant => 'frags', configs => [qw(2x1/node 2x2/node)],
      quick => ['2x1/node'], mca => 'btl_epshm_single_copy 0', plain => 0 },
    { program => 'random_traffic', variant => 'frags', configs => ['2x2/node'], quick => [],
      args => '--seed 16 --max 1500000 --epochs 2 --messages 120',
      mca => 'btl_epshm_single_copy 0', plain => 0 },

    # The kernel forbids it indeed, which turns out at the first copy.
    (map { +{ program => $_, variant => 'forbidden', configs => ['2x2/node'], plain => 0,
              quick => [], preload => 'no_single_copy', timeout => 120 } }
        qw(p2p_sizes part part_requests part_life)),
    { program => 'part', variant => 'forbidden_few', configs => ['2x2/node'], plain => 0,
      quick => [], preload => 'no_single_copy', mca => $FEW, timeout => 120 },

    # It reads another process's memory, in other namespaces of process ids: wrong data, no error.
    { program => 'single_copy', configs => ['2x2/node'], plain => 0, quick => [] },
    { program => 'single_copy', variant => 'other', configs => ['2x2/node'], plain => 0,
      preload => 'other_process' },

    # A process writes nonsense into the memory that it shares with another: who says what.
    (map { +{ program => 'corrupt', variant => $_->[0], configs => ['2x2/node'], plain => 0,
              quick => 'first' eq $_->[0] ? ['2x2/node'] : [], args => "--how $_->[0]",
              says => $_->[1] } }
        (map { [$_, 'sends to one of this process holds what.*Peer: rank 1 on host'] }
            qw(cell first kind context number)),
        (map { [$_, 'through which an endpoint sends.*Peer: rank 0 on host'] } qw(head back))),
    { program => 'corrupt', variant => 'random', configs => ['2x2/node'], plain => 0, quick => [],
      args => '--how random --seed 3', says => 'makes no sense|cannot have written|door' },

    # Processes that cannot share memory, or not all: they do not want to, it cannot be made, or it
    # is not where the others look for it.  All take the network.
    { program => 'random_traffic', variant => 'lacking', configs => ['2x2/node'], plain => 0,
      quick => ['2x2/node'], rank0 => 'OMPI_MCA_btl_epshm_processes=0',
      mca => 'btl_epofi_provider tcp', args => '--seed 17' },
    { program => 'random_traffic', variant => 'unmade', configs => ['2x2/node'], plain => 0,
      quick => [], rank0 => 'OMPI_MCA_btl_epshm_directory=/nonexistent',
      mca => 'btl_epofi_provider tcp', args => '--seed 18', says => 'could not be made' },
    { program => 'random_traffic', variant => 'apart', configs => ['2x2/node'], plain => 0,
      quick => [], rank0 => 'OMPI_MCA_btl_epshm_directory=/tmp', mca => 'btl_epofi_provider tcp',
      args => '--seed 19', says => 'cannot be used.*No such file' },
    { program => 'comm_bridge', variant => 'lacking', configs => ['2x2/node'], plain => 0,
      quick => [], rank0 => 'OMPI_MCA_btl_epshm_processes=0', mca => 'btl_epofi_provider tcp' },
    { program => 'comm_bridge', variant => 'apart', configs => ['2x2/node'], plain => 0,
      quick => [], rank0 => 'OMPI_MCA_btl_epshm_directory=/tmp', mca => 'btl_epofi_provider tcp',
      says => 'cannot be used.*No such file' },

    # Another user of the node is in the folder; what is said is that the network is used.
    { program => 'strangers', configs => ['2x1/node'], plain => 0 },
    # Somebody is at the ports of a job's endpoints, and is not let in.
    { program => 'strangers_net', configs => ['2x1/tcp'], plain => 0,
      mca => 'btl_epofi_interface lo btl_epofi_silence 1', says => 'did not prove.*From: +127' },

    # So little memory that some pairs have no area, and few cells.
    { program => 'random_traffic', variant => 'tight', configs => ['2x8/node'], plain => 0,
      quick => [], args => '--seed 20 --epochs 2', mca => 'btl_epshm_segment_size 524288',
      says => 'no memory left' },
    { program => 'p2p_types', variant => 'tight', configs => ['2x8/node'], plain => 0,
      quick => [], mca => 'btl_epshm_segment_size 524288 btl_epshm_single_copy 0',
      says => 'no memory left' },

    # Partitioned messages there; and pairs of which one cannot answer.
    { program => 'ways', variant => 'area', configs => ['2x4/node'], plain => 0, quick => [],
      mca => 'btl_epshm_segment_size 524288', says => 'no memory left', timeout => 60 },
    { program => 'ways', variant => 'back', configs => ['2x1/node'], plain => 0, quick => [],
      args => '--way back', says => 'there is no way to send it', timeout => 60,
      mca => 'btl_epshm_segment_size 524288 pml_epml_way_wait 100 pml_epml_ask 100 '
             . 'pml_epml_launcher_wait 50' },
    { program => 'ways', variant => 'group', configs => ['2x1/node'], plain => 0, quick => [],
      args => '--way group', says => 'there is no way to send it', timeout => 30,
      mca => 'btl_epshm_segment_size 524288 pml_epml_way_wait 100 pml_epml_ask 100 '
             . 'pml_epml_launcher_wait 50' },
    { program => 'ways', variant => 'later', configs => ['2x1/node'], plain => 0, quick => [],
      args => '--way later', says => '\A(?!.*there is no way to send it).*no memory left', timeout => 30,
      mca => 'btl_epshm_segment_size 524288 pml_epml_way_wait 60000' },
    # The two directions of a pair by different links.
    { program => 'ways', variant => 'links', configs => ['3x1/node'], plain => 0, quick => [],
      args => '--way links', rank0 => 'OMPI_MCA_btl_epshm_processes=0',
      mca => 'btl_epofi_provider tcp', timeout => 60 },

    # More ranks than cores.
    { program => 'oversubscribe', configs => [qw(1x16 2x16/tcp 4x16/node)],
      longer => [qw(2x16 4x16)], quick => ['1x16'] },
    { program => 'oversubscribe', variant => 'ratio', kind => 'ratio', configs => ['1x16'],
      quick => [], args => '--rounds 300', plain => 0, timeout => 120 },

    # Ordinary communicators under epml: they go to the base PML.
    { program => 'p2p_basic', variant => 'ordinary', configs => ['2x0'], quick => ['2x0'],
      plain => 0 },
    { program => 'p2p_requests', variant => 'ordinary', configs => ['2x0'], quick => [],
      plain => 0 },
    { program => 'coll_move', variant => 'ordinary', configs => ['4x0'], quick => [], plain => 0 },
    { program => 'random_traffic', variant => 'ordinary', configs => ['4x0'], quick => [],
      plain => 0 },

    # One message of more than 2 GiB, within a process and between two.
    { program => 'p2p_sizes', variant => 'huge', configs => [qw(1x2 2x1/node)],
      longer => ['2x1/tcp'], quick => [], args => '--huge 2100', timeout => 150, plain => 0 },
    # More than 4 GiB; and in pieces at one side. Up to 9 GiB of memory.
    (map { +{ program => 'p2p_sizes', variant => "huge$_->[0]", configs => [qw(1x2 2x1/tcp)],
              long => 1, quick => [], args => $_->[1], timeout => 300, plain => 0 } }
        ['4', '--huge 4200'], ['pieces', '--huge 2100 --pieces 1'],
        ['pieces2', '--huge 4200 --pieces 2']),

    # The base PML is what parameter files leave over.
    { program => 'sessions', configs => ['1x0'], quick => [], plain => 0, timeout => 60 },
    { program => 'sessions', variant => 'none', kind => 'fatal', configs => ['1x0'], quick => [],
      plain => 0, args => '--pml ^ob1,ucx,cm', says => 'PMLs tried: \(none are left\)' },

    # Errors that end the run, or are about a run without epml.
    { program => 'create_fatal', kind => 'fatal', configs => [qw(1x0 2x0)], plain => 0,
      quick => ['2x0'], says => 'MPIX_Comm_create_endpoints.*MPI_ERR_ARG' },
    { program => 'comm_abort', kind => 'fatal', configs => [qw(1x3 2x3/tcp 2x3/node)], plain => 0,
      quick => ['2x3/tcp'], args => '--way abort', status => 42,
      says => 'MPI_ABORT was invoked on rank 1 in communicator .*Errorcode: 42' },
    { program => 'comm_abort', variant => 'fatal', kind => 'fatal', configs => ['2x3/tcp'],
      plain => 0, quick => [], args => '--way fatal', says => 'MPI_Send.*MPI_ERR_RANK.*FATAL' },
    { program => 'comm_abort', variant => 'errors_abort', kind => 'fatal', plain => 0,
      configs => ['2x3/tcp'], quick => [], args => '--way errors_abort',
      says => 'MPI_Send.*MPI_ERR_RANK.*MPI_ERRORS_ABORT' },
    # All ranks at once: one of them ends the job, and explains it.
    { program => 'comm_abort', variant => 'all', kind => 'fatal', plain => 0, runs => 4,
      configs => [qw(1x3 2x3/node)], quick => ['1x3'], args => '--way all', status => 53,
      says => 'windows yet.*MPI_ERR_WIN', once => 'MPI_ERRORS_ARE_FATAL' },
    { program => 'comm_abort', variant => 'all_abort', kind => 'fatal', plain => 0, runs => 2,
      configs => ['1x3'], quick => [], args => '--way all_abort', status => 42,
      says => 'Errorcode: 42', once => 'MPI_ABORT was invoked' },
    { program => 'comm_abort', variant => 'world', kind => 'fatal', plain => 0, runs => 2,
      configs => ['1x3'], quick => [], args => '--way world', status => 42,
      says => 'Errorcode: 42', once => 'MPI_ABORT was invoked' },
    { program => 'comm_abort', variant => 'kill', kind => 'fatal', configs => ['2x3/node'],
      plain => 0, quick => ['2x3/node'], args => '--way kill', leaves => 0,
      says => 'exited on\s+signal 9' },

    # A process dies.  The launcher ends the job: one message, which is its own.
    (map { +{ program => 'death', variant => "ends_$_", kind => 'death', plain => 0,
              configs => ['2x2/tcp', 'stream' eq $_ ? qw(2x2/shm 2x2/node) : ()],
              long => !/^(?:stream|flood)$/, quick => 'stream' eq $_ ? undef : [],
              args => "--how $_ --errors fatal",
              mca => $PATIENT,
              says => 'exited on\s+signal 9', never => 'MPI_ERR|cannot be reached|have died' } }
        qw(pingpong flood stream barrier any)),
    # It leaves the survivors alone, and tells them.
    (map { +{ program => 'death', variant => "told_$_", kind => 'death', plain => 0,
              configs => ['3x2/tcp', 'barrier' eq $_ ? '3x2/shm' : (),
                           /^(?:recv|stream|stuck|barrier|ring)$/ ? '3x2/node' : ()],
              long => scalar(/^(?:irecv|iprobe|pingpong|allreduce|bcast)$/),
              quick => 'stream' eq $_ ? ['3x2/tcp'] : [], launcher => $NOTIFY, within => 30000,
              args => "--how $_ --end leave", status => 0, mca => $PATIENT,
              says => 'Dead: rank 2 on host', never => 'cannot be reached|written after' } }
        qw(recv irecv probe iprobe any pingpong stream flood stuck unmatched barrier create allreduce
           bcast ring alltoallw inter)),
    { program => 'death', variant => 'told_late', kind => 'death', plain => 0,
      configs => [qw(3x1/tcp 3x1/node)], longer => ['3x1/shm'], quick => [],
      launcher => $NOTIFY, within => 30000,
      args => '--how late --end leave', status => 0, mca => $PATIENT,
      says => 'Dead: rank 2 on host', never => 'cannot be reached|written after' },
    # What is being fetched when a collective fails is over before it returns.
    { program => 'death', variant => 'told_shift', kind => 'death', plain => 0,
      configs => ['3x1/tcp'], quick => [], launcher => $NOTIFY, within => 30000,
      args => '--how shift --end leave', status => 0, preload => 'fault_fabric',
      mca => "$PATIENT coll_tuned_use_dynamic_rules 1 coll_tuned_alltoall_algorithm 2",
      says => 'Dead: rank 2 on host', never => 'cannot be reached|written after' },
    # shm that does not copy by itself: what is being fetched is still under way when the launcher
    # tells of the death.
    { program => 'death', variant => 'told_part', kind => 'death', plain => 0,
      configs => [qw(3x2/tcp 3x2/node 2x1/shm)], quick => [], launcher => $NOTIFY, within => 30000,
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
              configs => $UNTOLD{$_} // [qw(2x2/tcp 2x2/node)], longer => ['2x2'], quick => [],
              launcher => $RECOVER, within => 20000,
              args => "--how $_ --end leave", status => 0,
              says => 'Peer: +rank 1 on host', never => 'have died' } }
        qw(recv probe iprobe stream any barrier)),
    # MPI_Finalize does not wait for the dead, nor for ever for those who may.
    (map { my ($how, $launcher, $says) = @$_;
           +{ program => 'death', variant => "${how}_finalize", kind => 'death', plain => 0,
              configs => ['3x1/tcp'], quick => [], launcher => $launcher, within => 20000,
              args => '--how recv --end apart', status => 0,
              mca => 'pml_epml_finalize_wait 500', says => 'process 1: ended', never => 'written' } }
        [told => $NOTIFY], [untold => $RECOVER]),
    # One that has noticed nothing hears of it there, in the launcher's books, be it that it must
    # ask twice.
    (map { my ($variant, $env) = @$_;
           +{ program => 'death', variant => $variant, kind => 'death', plain => 0,
              configs => ['3x1/tcp'], quick => [], launcher => $RECOVER, within => 20000,
              timeout => 30, args => '--how none --end finalize', status => 0,
              class => 'MPI_SUCCESS', later => 0, env => $env,
              mca => 'pml_epml_finalize_wait 500 pml_epml_ask 300', preload => 'endless_fence',
              says => 'process 1: ended', never => 'written' } }
        ['none_finalize'], ['none_finalize_again', 'EPT_UNANSWERED=1']),
    # What a survivor offers to one that has left and freed its endpoint is given back.
    { program => 'death', variant => 'offer', kind => 'death', plain => 0,
      configs => [qw(3x1/tcp 3x1/node)], quick => [], launcher => $RECOVER, within => 7000,
      args => '--how offer --end finalize', status => 0, timeout => 60, later => 0,
      mca => 'pml_epml_ask 300 pml_epml_finalize_wait 9000', says => 'process 1: ended',
      never => 'written after' },
    # Its children live on, which does not keep it alive for others.
    (map { +{ program => 'death', variant => "child_$_", kind => 'death', plain => 0,
              configs => ['2x1/tcp', 'fork' eq $_ ? '2x1/node' : ()], quick => [],
              launcher => $RECOVER, within => 10000,
              args => "--how recv --child $_ --end leave", status => 0,
              says => 'Peer: +rank 1 on host', never => 'have died' } } qw(fork spawn)),
    # The job may end before the launcher has printed who is dead; then the error alone says it.
    { program => 'death', variant => 'told_fatal', kind => 'death', plain => 0,
      configs => ['2x2/tcp'], quick => [], launcher => $NOTIFY, status => '0|75',
      args => '--how stream --errors fatal', mca => $PATIENT,
      says => '(?s)Dead: rank 1 on host|\A(?!.*Dead: rank 1 on host).*MPI_ERR_PROC_FAILED',
      never => 'cannot be reached' },

    # Faults of the fabric, and what is said of each.
    (map { my ($how, $says) = @$_;
           +{ program => 'fault', variant => $how, configs => ['3x1/tcp'], plain => 0,
              quick => $how =~ /^(?:sent|send_again)$/ ? ['3x1/tcp'] : [],
              args => "--how $how", says => $says, preload => 'fault_fabric', timeout => 180,
              mca => 'btl_epofi_stall_warning 1 btl_epofi_recv_buffers 4' } }
        (map { [$_, 'takes no message.*Peer: +rank 1 on host .*Seconds: +1 '] }
            qw(send_again read_again cq_again)),
        [sent => 'cannot be reached.*Peer: +rank 1 on host .*endpoint \S+, fi_sockaddr_in'
             . '.*Error: +Connection reset by peer.*Detail: +ordered by a test'],
        [send_error => 'cannot be reached.*Peer: +rank 1 on host .*Error: +No route to host'],
        [fetched => 'could not be fetched.*Peer: +rank 1 on host .*Error: +Input/output error'],
        [received => 'receive of an endpoint failed.*Error: +Input/output error'],
        [insert => 'address cannot be used.*Peer: +rank 1 on host .*Error: +Invalid argument'],
        (map { [$_, 'queue of an endpoint cannot be read.*Error: +Input/output error'] }
            qw(cq_broken readerr_broken broken_before)),
        [reset => 'cannot be reached.*Peer: +rank [01] on host ']),
    (map { my ($how, $mca) = @$_;
           +{ program => 'fault', variant => $how, configs => ['3x1/tcp'], plain => 0, quick => [],
              args => "--how $how", preload => 'fault_fabric', mca => $mca, timeout => 180 } }
        [cq_recovers => 'btl_epofi_recv_buffers 4'],
        [held_again => 'pml_epml_unexpected_limit 32k'],
        [asked => 'pml_epml_ask 200']),
    # Connections that are cut, in each state, and what else ends them: delivered, or lost to both,
    # with a text on both sides.
    (map { my ($how, $says, $long) = @$_;
           +{ program => 'cut', variant => $how, configs => ['3x1/tcp'], plain => 0,
              quick => 'fin_eager' eq $how ? ['3x1/tcp'] : [], long => $long, timeout => 60,
              args => "--how $how", says => $says, preload => 'fault_fabric',
              mca => 'pml_epml_ask 300 pml_epml_launcher_wait 100 opal_base_help_aggregate 0 '
                  . 'btl_epofi_descriptor_wait 1000 btl_epofi_silence 1 '
                  # Without greetings a connection takes another one's place.
                  . 'btl_epofi_greeting ' . ($how =~ /^second/ ? 0 : 1) } }
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
        [files_back => 'no file descriptors left.*accept a connection.*ulimit -n.*All was delivered'],
        [silent => 'was closed because nobody had begun to talk on it.*From: +\d']),
    { program => 'create_errors', variant => 'unselected', kind => 'unselected',
      configs => [qw(1x0 2x0)], args => '--unselected 1', plain => 0, quick => ['2x0'] },
    { program => 'create_errors', variant => 'ft', configs => ['2x0'], args => '--ft 1', plain => 0,
      launcher => '--with-ft ulfm', quick => [], says => 'Start the program without --with-ft' },
    # Wrong parameters: each is named once, with what is right.
    (map { +{ program => 'create_errors', variant => $_->[0], configs => ['2x0'],
              args => '--lacking 1', plain => 0, quick => [], mca => "btl_epshm_processes 0 $_->[1]",
              says => '\A(?!.*could not get what an endpoint).*' . $_->[2] } }
        ['lanes', 'btl_epshm_lanes 33', 'btl_epshm_lanes.*0 to 32.*No endpoints'],
        ['queue', 'btl_epofi_peer_queue 0', 'btl_epofi_peer_queue.*1 to 65536.*No endpoints'],
        ['rxd', 'btl_epofi_provider udp', 'Wanted provider: +udp.*none of them fits'],
        ['coll', 'pml_epml_coll nosuch', 'do not serve all.*"nosuch".*pml_epml_coll']),
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
    { program => 'descriptors', configs => ['2x0'], plain => 0, quick => [],
      says => 'cannot be used.*Too many open files.*ulimit -n' },
    # A libmpi that calls its own functions directly, as Ubuntu's does: they are entered.
    (map { +{ program => $_->[0], variant => 'direct', configs => [$_->[1]], direct => 1, plain => 0,
              quick => [$_->[1]], says => $_->[2] } }
        ['comm_ops', '2x2/node'], ['comm_bridge', '2x2/node'], ['comm_groups', '2x2/tcp'],
        ['comm_refused', '1x4', 'cannot have windows yet.*cannot open files yet'],
        ['coll_life', '1x4']),
    { program => 'create_errors', variant => 'direct', configs => ['2x0'], direct => 1, plain => 0,
      args => '--out_of_reach 1', quick => [], preload => 'no_code',
      says => '\A(?!.*Link the program).*calls its own functions directly.*ompi_comm_nextcid: the '
          . 'system lets no changed code be run \(memfd_create: Operation not permitted\)' },
    # Where only the shared memory of the node cannot be had, the network serves.
    { program => 'create', variant => 'pipe', configs => ['2x2/node'], plain => 0, quick => [],
      mca => 'btl_epshm_pipe_cells 17', says => 'btl_epshm_pipe_cells.*use the network instead' },
    { program => 'create', variant => 'loopback', configs => ['2x2/node'], plain => 0, quick => [],
      rank0 => 'OMPI_MCA_btl_epshm_processes=0', mca => 'btl_epofi_interface lo' },

    # Data races of ours.
    (map { +{ program => $_, variant => 'tsan', kind => 'tsan', quick => [], plain => 0,
              configs => ['1x4', @{ $TSAN{$_} // [] }],
              longer => ['2x2/tcp', 'p2p_dump' eq $_ ? () : '2x2/node'], timeout => 240 } }
        qw(comm_ops comm_bridge p2p_requests p2p_mprobe p2p_dump part part_life part_requests
           shared_endpoint)),
    { program => 'random_traffic', variant => 'tsan', kind => 'tsan', configs => ['1x4'],
      quick => [], plain => 0, timeout => 240 },
    { program => 'random_traffic', variant => 'held_tsan', kind => 'tsan', configs => ['1x4'],
      quick => [], args => '--seed 15', mca => 'pml_epml_unexpected_limit 2000', plain => 0,
      timeout => 240 },

    { program => 'variables', variant => 'tsan', kind => 'tsan', configs => ['1x4'], quick => [],
      plain => 0, timeout => 240 },
    # With a thread that sends packets whose own thread has left.
    { program => 'progress', variant => 'tsan', kind => 'tsan', configs => ['2x2/tcp'], quick => [],
      plain => 0, timeout => 240 },
    { program => 'lend', variant => 'tsan', kind => 'tsan', configs => ['1x2'], quick => [],
      plain => 0, timeout => 240 },
    { program => 'lanes', variant => 'tsan', kind => 'tsan', configs => ['1x8'], quick => [],
      plain => 0, args => '--rounds 2', mca => 'btl_epshm_lanes 3 btl_epshm_lane_cells 64',
      timeout => 240 },

    # The examples, as many threads per process as ranks; mesh_tiles has 16 in all, however spread.
    { program => 'hello_endpoints', kind => 'example', configs => [qw(1x4 2x4/tcp 2x4/node)], quick => [],
      plain => 0 },
    { program => 'openmp_allreduce', kind => 'example', configs => [qw(1x4 2x4/tcp)], plain => 0 },
    { program => 'ring', kind => 'example', configs => [qw(1x4 2x4/tcp)], quick => [], plain => 0 },
    { program => 'halo_partitions', kind => 'example', configs => [qw(1x4 2x3/tcp 3x2/tcp)],
      quick => ['2x3/tcp'], plain => 0 },
    { program => 'endpoints.py', kind => 'python', configs => [qw(1x4 2x3/tcp 2x3/node)],
      quick => ['2x3/tcp'], plain => 0, timeout => 60 },
    # What docs/python.md says that works; what does not, but with one endpoint in each process.
    { program => 'objects.py', kind => 'python', folder => 'test/mpi', configs => [qw(1x3 2x2/node)],
      quick => [], plain => 0, timeout => 60 },
    { program => 'objects.py', variant => 'fast', kind => 'python', folder => 'test/mpi',
      configs => [qw(1x1 3x1/tcp)], quick => [], plain => 0, args => 'fast', timeout => 60 },
    { program => 'mesh_tiles', kind => 'example', configs => [qw(1x16 2x8/node 3x5/tcp)],
      longer => ['2x8'], quick => ['3x5/tcp'], plain => 0 },

    # What a job's choices are.
    { program => 'epinfo', kind => 'tool', configs => [qw(1x2)], plain => 0, quick => [],
      says => '1 process with 2 endpoints each\nprocess 0 on \S+\n  base PML +\w+, .*'
             . 'on the node +not needed.*network +not needed.*pml_epml_unexpected_limit' },
    { program => 'epinfo', kind => 'tool', configs => ['2x1/tcp'], plain => 0, quick => [],
      says => 'processes with 1 endpoint each\nprocess 0-1 on \S+\n.*'
             . 'on the node +the network: btl_epshm_processes is off.*'
             . "network +libfabric's tcp .as btl_epofi_provider says.*interface +\\w+ .*greeting +" },
    { program => 'epinfo', kind => 'tool', configs => ['2x2/node'], plain => 0, quick => ['2x2/node'],
      says => 'process 0-1 on .*on the node +shared memory .btl/epshm. in .*[GM]iB free there\n'
             . '  single copy +\w+.*network +not needed' },
    { program => 'epinfo', variant => 'fast', kind => 'tool', configs => ['3x1/node'], plain => 0,
      quick => [], cluster => 'fast', mca => 'btl_tcp_if_exclude lo,docker0',
      says => 'process 1 on ept-b\n.*interface +eth1 .10\.76\.0\.2.: all nodes are in this network '
             . '.3 hosts.\n  passed over +eth0 .10\.77\.0\.2.: slower\n' },
    { program => 'epinfo', variant => 'docker', kind => 'tool', configs => ['3x1/node'], plain => 0,
      quick => [], cluster => 'docker',
      mca => 'btl_tcp_if_include eth0 btl_epofi_interface docker0,10.77.0.0/24',
      says => 'process 2 on ept-c\n.*interface +eth0 .10\.77\.0\.3., of those that '
             . 'btl_epofi_interface names: all nodes.*\n'
             . '  passed over +docker0 .172\.17\.0\.1.: another node has the same\n' },
    { program => 'epinfo', variant => 'unselected', kind => 'tool', configs => ['2x0'], plain => 0,
      quick => [], mca => 'pml ob1', status => 1, says => 'pml/epml was not selected' },
    { program => 'epinfo', variant => 'usage', kind => 'tool', configs => ['1x0'], plain => 0,
      quick => [], args => '--ep 0', status => 2, says => 'usage: epmpirun' },

    # Leaks and invalid accesses of ours.
    { program => 'random_traffic', variant => 'valgrind', kind => 'valgrind', configs => ['1x2'],
      quick => [], args => '--messages 60 --epochs 1 --max 40000', plain => 0, timeout => 240 },
    { program => 'part_life', variant => 'valgrind', kind => 'valgrind',
      configs => [qw(1x2 2x1/tcp)], quick => [], plain => 0, timeout => 240 },
    { program => 'create', variant => 'valgrind', kind => 'valgrind', configs => [qw(2x1/tcp 2x1/node)],
      quick => [], args => '--case free', plain => 0, timeout => 240 },
    { program => 'lanes', variant => 'valgrind', kind => 'valgrind', configs => ['1x2'],
      quick => [], args => '--rounds 1', plain => 0, timeout => 240 },
    { program => 'comm_tree', variant => 'valgrind', kind => 'valgrind', configs => ['1x4'],
      quick => [], args => '--episodes 2 --ops 80', plain => 0, timeout => 240 },
    { program => 'comm_ops', variant => 'valgrind', kind => 'valgrind', configs => ['2x2/shm'],
      quick => [], args => '--case split', plain => 0, timeout => 240 },
);

# In a plain run ob1 must not copy straight from the sender's memory in p2p_basic and p2p_types:
# on that path it writes past the end of a receive buffer that is too short.
my $NO_SINGLE_COPY = 'smsc ^cma,xpmem,knem';
my %PLAIN_MCA = (p2p_basic => $NO_SINGLE_COPY, p2p_types => $NO_SINGLE_COPY);

sub _configs_of
{
    my ($entry, $options) = @_;
    my @wanted = @{ $entry->{configs} };

    push @wanted, @{ $entry->{longer} // [] } if $options->{long};
    if ($options->{quick}) {
        my %listed = map { $_ => 1 } @wanted, map { ("$_/tcp", "$_/node") } @wanted;
        @wanted = $entry->{quick} ? @{ $entry->{quick} }
                                  : grep { $listed{$_} } qw(1x4 2x2/tcp 2x2/node);
        # One network is enough, the one that is asked for.
        s{/tcp$}{/$options->{provider}} for $options->{provider} ? @wanted : ();
    }
    return @wanted;
}

# One configuration of an entry: one job, or one per provider.
sub _jobs_of_config
{
    my ($entry, $config, $options) = @_;
    my ($np, $ep, $provider) = $config =~ m{^(\d+)x(\d+)(?:/(\w+))?$} or die "config $config";
    my @providers = (1 < $np && 0 < $ep) ? ($provider ? ($provider) : qw(tcp shm node)) : (undef);
    my $kind = $entry->{kind} // 'mpi';
    my $folder = $entry->{folder} // 'examples';
    my $name = ($kind =~ /^(?:example|python)$/ && 'examples' eq $folder ? 'example/' : '')
        . $entry->{program} . ($entry->{variant} ? ":$entry->{variant}" : '');
    my $mca = $entry->{mca} // '';
    my @jobs;

    $mca .= " $PLAIN_MCA{$entry->{program}}" if 0 == $ep && $PLAIN_MCA{ $entry->{program} };
    $mca =~ s/^ //;
    for my $p (@providers) {
        next if defined $p && $options->{provider} && $p ne $options->{provider};
        push @jobs, {
            name => "$name/$config" . (defined $p && $config !~ m{/} ? "/$p" : ''),
            kind => $kind,
            program => $entry->{program},
            folder => $folder,
            np => $np,
            ep => $ep,
            provider => $p,
            mca => $mca,
            says => $entry->{says},
            status => $entry->{status},
            once => $entry->{once},
            runs => $entry->{runs},
            launcher => $entry->{launcher},
            preload => $entry->{preload},
            direct => $entry->{direct},
            abi => $entry->{abi},
            never => $entry->{never} // '(?!)',
            within => $entry->{within},
            later => $entry->{later},
            class => $entry->{class} // 'MPI_ERR_PROC_FAILED',
            env => $entry->{env},
            hosts => $entry->{hosts},
            cluster => $entry->{cluster},
            rank0 => $entry->{rank0},
            leaves => $entry->{leaves},
            args => $entry->{args} // '',
            timeout => ($entry->{timeout} // 120) * (32 <= $np * $ep ? 2 : 1),
        };
    }
    return @jobs;
}

# Endpoints under epml.
sub endpoint_jobs
{
    my ($options) = @_;
    my @jobs;

    for my $entry (grep { $options->{long} || !$_->{long} } @TABLE) {
        push @jobs, map { _jobs_of_config($entry, $_, $options) } _configs_of($entry, $options);
    }
    return @jobs;
}

# --smoke: does it work at all, with this Open MPI?
my %SMOKE = map { $_ => 1 } qw(
    p2p_basic/2x2/tcp p2p_basic/2x2/node p2p_match/1x4 p2p_order/2x2/node p2p_requests/2x2/tcp
    p2p_persistent/1x4 p2p_sendrecv/1x4 p2p_basic:ordinary/2x0 random_traffic/2x2/tcp progress/1x4
    coll_move/2x2/node coll_reduce/1x4 coll_neighbor/2x2/tcp comm_ops/2x2/tcp comm_bridge/2x2/node
    comm_tree/1x4 comm_inter/1x4 comm_groups/2x2/node comm_errors/1x4 comm_refused/2x2/tcp
    part/2x2/tcp part_life/1x4 create/2x2/tcp create_errors/2x1/tcp finalize/2x2/node variables/1x4
    newer/1x4 p2p_basic:abi/2x2/node comm_bridge:abi/2x2/node comm_errors:abi/1x4
    comm_ops:direct/2x2/node death:told_stream/3x2/tcp comm_abort/2x3/tcp epinfo/2x2/node
    example/hello_endpoints/1x4 example/openmp_allreduce/2x4/tcp example/ring/2x4/tcp
    example/halo_partitions/2x3/tcp example/mesh_tiles/3x5/tcp example/endpoints.py/2x3/tcp);

sub smoke_jobs
{
    return grep { 'unit' eq $_->{kind} ? 'plain' eq $_->{flavour} : $SMOKE{ $_->{name} } } @_;
}

# The same programs with processes under the stock PML: what validates the tests themselves.
sub plain_jobs
{
    my ($options) = @_;
    my (@jobs, %seen);

    for my $entry (grep { $_->{plain} // 1 } @TABLE) {
        next if $seen{ $entry->{program} }++;
        for my $np ($options->{quick} ? (2) : (1, 2, 3, 4)) {
            push @jobs, {
                name => "plain/$entry->{program}/$np",
                kind => 'plain',
                program => $entry->{program},
                np => $np,
                ep => 0,
                mca => $PLAIN_MCA{ $entry->{program} } // '',
                args => $entry->{args} // '',
                timeout => $entry->{timeout} // 120,
            };
        }
    }
    return @jobs;
}

# MPICH's own tests, folder by folder; what is in them is their runner's business.
sub mpich_jobs
{
    my ($top, $options) = @_;

    return () if $options->{quick};
    return map { {
        name => "mpich/$_",
        kind => 'mpich',
        runner => "$top/test/mpich-suite/run-suite",
        program => $_,
        args => '',
    } } @Ept::MpichTests::FOLDERS;
}

# What is counted, not timed, and so holds on any machine that has the same programs.
sub perf_jobs
{
    my ($top) = @_;

    # The counts kept are of Open MPI 5 and Debian 13's compiler.
    return () if '6' eq ($ENV{EP_OMPI} // '');
    return ({
        name => 'perf/instructions',
        kind => 'perf',
        top => $top,
        program => 'count-instructions',
        args => '',
        timeout => 60,
    });
}

# Random messages off the network: how many, and from which seed on; --test-args wins.
sub fuzz_jobs
{
    my ($top, $options) = @_;
    my @targets = ([epml => 60_000], [epml => 30_000, 'node'], [epofi => 500_000]);

    return () if $options->{quick};
    return map { my ($target, $runs, $link) = @$_; {
        name => join('/', 'fuzz', $target, $link // ()),
        kind => 'fuzz',
        top => $top,
        program => "fuzz_$target",
        link => $link // 'net',
        runs => $runs,
        seed => 1,
        args => '',
        timeout => 300,
    } } @targets;
}

# The models of the protocols between threads, test/model.
my @MODELS = qw(completion lane loan lock pipe places pool ring share);

# What is installed, and how it is used: test/install/NAME.t.
sub install_jobs
{
    my ($top, $options) = @_;
    my %long = (debian => 1200, tree => 7200); # seconds
    my @jobs;

    return () if $options->{quick};
    for my $source (sort glob "$top/test/install/*.t") {
        my ($program) = $source =~ m{([^/]+)\.t$};

        next if $long{$program} && !$options->{long};
        push @jobs, {
            name => "install/$program",
            kind => 'self',
            folder => 'install',
            top => $top,
            program => $program,
            args => '',
            timeout => $long{$program} // 600,
        };
    }
    return @jobs;
}

# Standalone unit tests: every test/unit/test_*.c, as it is and under the sanitizers, and (long) for
# another machine; the models; test/self/*.t.
sub unit_jobs
{
    my ($top, $options) = @_;
    my @jobs;
    my $long = $options->{long} || defined $options->{run_one} || @{ $options->{names} // [] };

    for my $source (sort glob "$top/test/unit/test_*.c") {
        my ($program) = $source =~ m{([^/]+)\.c$};
        for my $flavour (qw(plain tsan asan), $long ? 'aarch64' : ()) {
            push @jobs, {
                name => "unit/$program/$flavour",
                kind => 'unit',
                program => $program,
                flavour => $flavour,
                args => '',
                timeout => 300,
            };
        }
    }
    push @jobs, map { {
        name => "model/$_",
        kind => 'model',
        top => $top,
        program => $_,
        args => '',
        timeout => 600,
    } } @MODELS;
    # The tests of the runner itself.
    for my $source (sort glob "$top/test/self/*.t") {
        my ($program) = $source =~ m{([^/]+)\.t$};
        push @jobs, {
            name => "self/$program",
            kind => 'self',
            folder => 'self',
            top => $top,
            program => $program,
            args => '',
            timeout => 600,
        };
    }
    return @jobs;
}

1;
