#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Messages and collectives: each protocol and each call, within a process and between processes.
# What an entry is: lib/Ept/Matrix.pm.

package Ept::Table::Messages;

use strict;
use warnings;

# What most programs have: threads of one process, and two processes by each way between them.
my @FEW_RANKS = qw(1x4 2x2);

# With --long also these.  What they have of their own is in random_traffic and coll_move, which have
# some by default: one rank, a process of one endpoint, sixteen endpoints, and four processes of four.
my @MORE = qw(1x1 1x2 1x16 2x1 2x4 2x16 4x1 4x2 4x4 4x16);

my $FEW = join ' ', 'btl_epshm_ring_cells 16', 'btl_epshm_eager_frags_max 1',
    'btl_epshm_max_frags_max 1', 'btl_epshm_pipe_cells 16', 'btl_epshm_pipe_eager_limit 2048',
    'btl_epshm_pipe_bytes 4096',
    'btl_epofi_recv_buffers 4', 'btl_epofi_send_buffers 4',
    'btl_epofi_max_send_buffers 4';

# Collectives among the threads of a process in other ways than the parameters' defaults have it:
# without our component, nothing in lines, shares of a line or of everything, many levels.
my %COLL = (below => 'pml_epml_coll tuned,basic,libnbc,inter,self',
            lines => 'coll_epcoll_inline_limit 0',
            shares => 'coll_epcoll_chunk_size 64',
            whole => 'coll_epcoll_chunk_size 1073741824',
            fan => 'coll_epcoll_fanout 2');

# All that may go through the node's memory does, in small sections.
my $BOUNCE = join ' ', 'coll_epcoll_bounce_size 65536', 'coll_epcoll_bounce_min 1',
              'coll_epcoll_inline_limit 0';

# Device memory: said once, however many processes refuse it.
my $REFUSED = '\A(?!.*memory of a.*memory of a).*accelerator:  fake';

our @ENTRIES = (
    # The whole matrix, all ways between processes.
    { program => 'p2p_basic', configs => ['1x1', @FEW_RANKS, '2x2/shm'], longer => \@MORE },
    { program => 'random_traffic', configs => ['1x1', @FEW_RANKS, qw(1x16 2x2/shm 4x4 4x16/tcp)],
      longer => \@MORE },
    { program => 'coll_move', configs => ['1x1', @FEW_RANKS, qw(1x16 4x4/node)], longer => \@MORE },
    { program => 'comm_ops', configs => [@FEW_RANKS, qw(1x16 4x16/node)], longer => \@MORE },
    (map { +{ program => $_, configs => \@FEW_RANKS, longer => \@MORE } }
        qw(p2p_match p2p_requests p2p_order)),

    # Partitioned communication.  On ordinary communicators it is Open MPI's own module, which can
    # less: that is what the first entry, and the plain runs, are for.
    { program => 'part', variant => 'ordinary', configs => ['2x0'], quick => [],
      args => '--plain-only 1' },
    { program => 'part', configs => \@FEW_RANKS, plain => 0,
      longer => [qw(1x1 1x2 1x16 2x1 2x4/tcp 4x2/tcp)] },
    (map { +{ program => $_, plain => 0, configs => \@FEW_RANKS, longer => [qw(1x1 1x8 2x1 4x2/tcp)] } }
        qw(part_requests part_life)),

    # Open MPI 6 has it.
    { program => 'newer', configs => [qw(1x4 2x2/tcp 2x2/node)] },
    { program => 'large', configs => [qw(1x2 2x2/node)], longer => ['2x1/tcp'],
      quick => [qw(1x2 2x2/node)] },

    # Each protocol within a process and between processes, few and many ranks.
    { program => 'p2p_sizes', configs => \@FEW_RANKS, longer => [qw(1x2 2x1 4x2/tcp)] },
    { program => 'p2p_types', configs => [qw(1x4 2x2/tcp)], longer => [qw(1x1 1x2 2x1 2x2 4x4/tcp)] },
    { program => 'coll_reduce', configs => \@FEW_RANKS, longer => [qw(1x1 1x16 2x1/tcp 2x4 4x4)] },
    # Plain runs: Open MPI's own components choose other ways for other forms.
    { program => 'coll_order', configs => [qw(1x4 3x2/node 2x2/tcp)], plain => 0,
      longer => [qw(1x9 2x2/node 2x3/node 3x3/node 4x2/node 2x8/node 3x3/tcp)], quick => ['3x2/node'] },
    # Open MPI 5 shows a text twice where it does not put equal ones together.
    { program => 'coll_told', configs => ['1x4'], longer => [qw(1x2 1x16)], quick => ['1x4'],
      plain => 0, mca => 'opal_base_help_aggregate 0',
      says => '\A(?!(?:.*have called different){9})'
          . '(?=.*of kinds\s+rank \d+: MPI_(?:Barrier|Allreduce, 4 bytes)'
          . '\s+rank \d+: MPI_(?:Barrier|Allreduce, 4 bytes)\s)'
          . '(?=.*of roots\s+rank \d+: MPI_Gather, root [01], 65536 bytes'
          . '\s+rank \d+: MPI_Gather, root [01], 65536 bytes\s)'
          . '(?=.*of lengths\s+rank \d+: MPI_Allreduce, [48] bytes'
          . '\s+rank \d+: MPI_Allreduce, [48] bytes\s)'
          . '(?=.*of receivers\s+rank \d+: MPI_Bcast, root 0, 8 bytes'
          . '\s+rank 0: MPI_Bcast, root 0, 12 bytes\s)' },
    { program => 'coll_told', variant => 'away', configs => ['2x2/node'], longer => ['2x2/tcp'],
      quick => ['2x2/node'], plain => 0, mca => 'opal_base_help_aggregate 0',
      says => '\A(?=.*of roots away\s+rank [23]: MPI_Bcast, root [01], 65536 bytes'
          . '\s+rank [23]: MPI_Bcast, root [01], 65536 bytes\s)'
          . '(?=.*of later kinds\s+rank [23]: MPI_(?:Barrier|Allreduce, 4 bytes)'
          . '\s+rank [23]: MPI_(?:Barrier|Allreduce, 4 bytes)\s)' },
    { program => 'coll_neighbor', configs => \@FEW_RANKS, longer => [qw(1x1 1x16 2x1/tcp 2x4 4x4)] },
    { program => 'coll_blocks', configs => [qw(1x4 3x1/tcp 2x2/node)], longer => [qw(1x1 4x1)],
      quick => ['3x1/tcp'], plain => 0 },
    # Members that come late, one of them always; random calls of all kinds and forms, in each other.
    { program => 'coll_late', configs => [qw(1x4 2x2/node 3x3/tcp)],
      longer => [qw(1x2 1x7 1x16 2x2/tcp 2x2/shm 3x3/node 2x9/node 4x1/node)], quick => ['1x4'] },
    (map { +{ program => 'coll_late', variant => $_->[0], configs => $_->[1],
              longer => $_->[2] // [], quick => [], plain => 0, mca => $COLL{ $_->[0] },
              args => '--steps 150 --seed 3 ' . ($_->[3] // '') } }
        ['lines', [], [qw(1x4 1x7)]], ['shares', ['1x4'], ['1x7'], '--share 64 --most 65536'],
        ['fan', ['1x7'], ['1x16']], ['whole', [], ['1x4']],
        ['below', [], [qw(1x2 1x4)], '--stock 1']),
    (map { +{ program => 'coll_late', variant => "long$_",
              configs => [qw(1x2 1x4 1x7 2x2/node 3x3/tcp 3x3/node)], long => 1, plain => 0,
              args => "--steps 3000 --seed 10$_", timeout => 300 } } 1 .. 3),
    # Members that call different things.
    { program => 'coll_mismatch', configs => ['1x4'], longer => [qw(1x2 1x7 1x16)],
      quick => ['1x4'], plain => 0, says => 'have called different' },
    { program => 'coll_mismatch', variant => 'node', configs => ['2x2/node'],
      longer => ['2x3/node'], quick => [], plain => 0, args => '--node 1',
      says => 'have called different' },
    (map { +{ program => 'coll_mismatch', variant => $_->[0], configs => [$_->[1]], quick => [],
              plain => 0, long => 'lines' eq $_->[0], says => 'have called different',
              mca => $COLL{ $_->[0] } } }
        [qw(lines 1x4)], [qw(fan 1x7)]),
    # The other programs of collectives, likewise.
    (map { +{ program => $_->[0], variant => $_->[1], configs => [$_->[2]], quick => [],
              plain => 0, mca => $COLL{ $_->[1] } } }
        [qw(coll_move lines 1x4)], [qw(coll_reduce fan 1x7)]),
    (map { +{ program => $_->[0], variant => $_->[1], configs => [$_->[2]], long => 1,
              plain => 0, mca => $COLL{ $_->[1] }, args => $_->[3] // '' } }
        [qw(coll_move below 1x4)], [qw(coll_reduce lines 1x4)],
        [qw(coll_move fan 1x7)], [qw(coll_move shares 1x4)], [qw(coll_move whole 1x4)],
        ['coll_reduce', 'below', '1x4', '--stock 1'], [qw(coll_reduce shares 1x4)], [qw(coll_reduce whole 1x4)],
        ['coll_neighbor', 'below', '1x4', '--stock 1'], [qw(coll_neighbor fan 1x7)],
        [qw(coll_life below 1x4)], [qw(coll_life fan 1x8)]),
    { program => 'coll_layout', configs => [qw(1x3 2x2/tcp 3x3/node)],
      longer => [qw(2x2 2x9/node 3x3/tcp 4x4)], quick => ['3x3/node'] },
    # Everything in messages of many slices, and through no slot.
    { program => 'coll_layout', variant => 'slices', plain => 0, configs => ['2x2/node'],
      longer => [qw(2x9/node 3x3/tcp)], quick => [],
      mca => 'coll_epcoll_slice_size 64 coll_epcoll_inline_limit 0' },
    # In the node's memory: all of it in small sections, and nothing; also with late members.
    { program => 'coll_layout', variant => 'bounce', plain => 0, configs => ['3x3/node'],
      longer => ['2x2/node'], quick => ['3x3/node'], mca => $BOUNCE },
    # Blocks of four members that fill a section to its last line: 50001 ints are 4 rounds of 782 lines.
    { program => 'coll_layout', variant => 'section', plain => 0, configs => ['2x2/node'],
      quick => [], mca => 'coll_epcoll_bounce_size 600320' },
    { program => 'coll_layout', variant => 'messages', plain => 0, configs => ['3x3/node'],
      quick => [], mca => 'coll_epcoll_bounce_size 0' },
    { program => 'coll_late', variant => 'bounce', plain => 0, configs => ['2x2/node'], longer => ['3x3/node'],
      quick => [], mca => $BOUNCE },
    # In steps.
    (map { +{ program => 'coll_layout', variant => $_->[0], plain => 0, quick => [$_->[2]],
              configs => [$_->[2]], longer => [qw(1x3 2x2 3x3/node 4x4/node 2x9/node)],
              args => "--form $_->[1]" } }
        ['nonblocking', 1, '3x3/node'], ['persistent', 2, '2x2/tcp']),
    (map { +{ program => 'coll_layout', variant => "rails_$_->[0]", plain => 0, long => 1,
              configs => ['2x2/node'], longer => ['3x3/tcp'], args => "--form $_->[1]",
              mca => 'coll_epcoll_slice_size 64 coll_epcoll_inline_limit 0' } }
        ['nonblocking', 1], ['persistent', 2]),
    { program => 'progress', configs => \@FEW_RANKS, longer => [qw(1x2 2x1 2x4 4x2)] },
    { program => 'calls', configs => ['1x1'], quick => ['1x1'], plain => 0 },
    { program => 'calls', variant => 'bound', configs => ['1x0'], quick => [], plain => 0,
      args => '--bound 1' },
    { program => 'calls', variant => 'wait', configs => ['1x1'], quick => [], plain => 0,
      args => '--messages 8000', mca => 'btl_epshm_spsc_cells 8192' },
    { program => 'early', configs => ['1x2'], quick => [], plain => 0, env => 'UCX_VFS_ENABLE=n' },
    { program => 'looks', configs => ['1x0'], quick => ['1x0'], plain => 0 },
    # Not over a network, which copies by itself.
    { program => 'drafted', configs => [qw(1x4 2x3/node)], quick => [], plain => 0 },
    { program => 'callbacks', configs => ['1x1'], quick => ['1x1'], plain => 0, timeout => 30,
      env => 'MALLOC_PERTURB_=165' }, # what is freed too early is not as it was
    { program => 'callbacks', variant => 'tsan', kind => 'tsan', configs => ['1x1'], quick => [],
      plain => 0, timeout => 60 },
    { program => 'shared_endpoint', configs => [qw(1x4 2x2/tcp)], longer => [qw(1x1 1x2 2x1 2x2 4x2/tcp)] },
    { program => 'hint_level', configs => [qw(1x4 2x2/tcp)], longer => [qw(1x1 2x2/node)], plain => 0,
      says => 'mpix_thread_level.*frobnicated' },
    { program => 'cancel', configs => [qw(1x2 2x1/tcp 2x2/node)], longer => ['2x1/shm'], quick => ['2x1/tcp'],
      plain => 0 },

    # Point to point in full.
    { program => 'p2p_assert', configs => \@FEW_RANKS, longer => [qw(1x1 1x2)] },
    { program => 'p2p_assert', variant => 'few', configs => ['2x2/tcp'], longer => ['1x2'], quick => [],
      args => '--overtake 30', mca => $FEW, plain => 0 },
    # Not on node: a message that is seen on its way needs a network.
    { program => 'p2p_dump', configs => [qw(1x4 2x2/tcp)], plain => 0,
      longer => [qw(1x1 2x2/shm)], mca => 'btl_epofi_get_chunk 65536' }, # or all is there after one test
    { program => 'p2p_dump', variant => 'few', configs => [qw(1x2)], quick => [],
      args => '--pending 20', mca => $FEW, plain => 0 },
    { program => 'coll_dump', configs => [qw(1x4 2x2/tcp)], longer => ['2x2/node'], plain => 0 },
    { program => 'coll_dump', variant => 'signal', configs => ['1x4'], quick => [], plain => 0,
      args => '--way signal', mca => 'pml_epml_dump_signal 10' },
    { program => 'coll_dump', variant => 'after', configs => ['1x4'], quick => [], plain => 0,
      args => '--way after', mca => 'pml_epml_dump_after 1' },
    { program => 'query_thread', configs => ['1x2'], quick => [] },
    { program => 'base_variables', configs => ['1x4'], longer => [qw(1x1 2x2/node)], quick => ['1x4'] },
    # (Questions of processes that are waited for long would be counted, too.)
    { program => 'variables', configs => \@FEW_RANKS, longer => ['1x1'], plain => 0,
      mca => 'pml_epml_liveness_interval 0' },
    { program => 'variables', variant => 'held', configs => ['1x2'], quick => [], plain => 0,
      args => '--case full', mca => 'pml_epml_unexpected_limit 4000' },
    { program => 'variables', variant => 'verbose', configs => ['2x1/tcp'], longer => ['2x1/node'], quick => [],
      plain => 0, args => '--case process', mca => 'pml_epml_verbose 1',
      says => '\A(?!.*process 1: what).*base PML +\w+, the best of .*hooks .*in the process .*'
             . 'on the node .*cores +\d+ for this process.*limits +\d+ open files' },
    { program => 'p2p_sendrecv', configs => [qw(1x4 2x2/node)], longer => [qw(1x1 1x8 2x2 4x2/tcp)] },
    { program => 'p2p_sendrecv', variant => 'valgrind', kind => 'valgrind', configs => ['1x2'],
      quick => [], args => '--case used_request', plain => 0, timeout => 240 },
    (map { +{ program => $_, configs => \@FEW_RANKS, longer => [qw(1x1 2x1/tcp)] } }
        qw(p2p_errors p2p_bsend p2p_persistent p2p_mprobe p2p_mixed)),
    # Messages that stay with their senders; in a crowd none does, unless nobody notices it.
    (map { +{ program => 'offered', variant => $_, configs => ['2x1/node'], quick => [], plain => 0,
              args => "--case $_" } } qw(copied fetched)),
    { program => 'zcopy', configs => ['1x4'], longer => ['1x2'] },
    { program => 'zcopy', variant => 'oversubscribed', configs => ['1x4'], quick => [], plain => 0,
      args => '--seed 2', mca => 'pml_epml_yield never' },
    { program => 'zcopy', variant => 'few', configs => ['1x2'], quick => [], plain => 0,
      args => '--seed 3', mca => "$FEW btl_epshm_spsc_cells 64 btl_epshm_zcopy_min 1" },

    # More senders than SPSC rings, places that are fought for, endpoints that come and go.
    { program => 'spsc_rings', configs => [qw(1x24 2x12/tcp)], longer => [qw(1x1 1x4)] },
    { program => 'spsc_rings', variant => 'none', configs => ['1x24'], quick => [], plain => 0,
      args => '--seed 2', mca => 'btl_epshm_spsc_rings 0', timeout => 120 },
    { program => 'spsc_rings', variant => 'one', configs => ['1x24'], long => 1, plain => 0,
      args => '--seed 3', mca => 'btl_epshm_spsc_rings 1', timeout => 120 },
    { program => 'spsc_rings', variant => 'many', configs => [qw(1x4 1x24)], long => 1,
      plain => 0, args => '--seed 4', mca => 'btl_epshm_spsc_rings 32 btl_epshm_spsc_cells 64',
      timeout => 120 },
    { program => 'spsc_rings', variant => 'few', configs => ['1x24'], longer => ['1x4'], quick => [],
      plain => 0, args => '--seed 5', mca => "$FEW btl_epshm_spsc_cells 64", timeout => 120 },
    { program => 'spsc_rings', variant => 'memory', configs => ['1x1'], quick => [], plain => 0,
      args => '--case outlive --inbox 4096', mca => 'btl_epshm_ring_cells 65536' },

    # Promises of one thread at a time: the harness keeps them.
    { program => 'random_traffic', variant => 'single', configs => ['1x4'],
      longer => ['2x2'], quick => ['1x4'], args => '--level single --seed 3', plain => 0 },
    { program => 'p2p_basic', variant => 'serialized', configs => ['2x2/tcp'],
      longer => [qw(1x4 2x2)], quick => [], args => '--level serialized', plain => 0 },

    # More random traffic: other seeds, larger messages.
    { program => 'random_traffic', variant => 'seeds', configs => [qw(1x2 1x4 2x2 2x4)], long => 1,
      quick => [], args => '--seed 11 --epochs 8', plain => 0 },
    { program => 'random_traffic', variant => 'large', configs => ['2x2/node'],
      longer => [qw(1x2 2x1 2x2)], quick => [], args => '--seed 12 --epochs 2 --messages 120 --max 1500000',
      plain => 0 },

    # The smallest rings, windows and numbers of buffers: a sender must wait its turn.
    { program => 'random_traffic', variant => 'few', configs => [qw(1x4 2x2)],
      longer => [qw(1x2 4x4)], quick => [qw(2x2/tcp 2x2/node)], args => '--seed 13', mca => $FEW,
      plain => 0 },
    { program => 'p2p_order', variant => 'few', configs => ['2x2'], longer => [qw(1x2 2x1)],
      quick => [], args => '--seed 14', mca => $FEW, plain => 0 },
    # ofi_rxm with a queue of receives for all peers, as over tcp, and with one for each peer, as over verbs: messages
    # come before there are receives for them, and while addresses are entered.
    (map { +{ program => 'p2p_order', variant => "few_$_->[0]", configs => ['2x4/tcp;ofi_rxm'], plain => 0, quick => [],
              long => 1, args => '--seed 14', mca => $FEW, env => "FI_OFI_RXM_USE_SRX=$_->[1]" } }
        ['common', 1], ['each', 0]),
    { program => 'coll_move', variant => 'few', configs => ['2x2/node'],
      longer => [qw(1x4 2x2)], quick => [], mca => $FEW, plain => 0 },

    (map { +{ program => $_, variant => 'few', configs => ['2x2'], longer => ['1x4'], quick => [],
              mca => $FEW, plain => 0 } } qw(part part_requests)),
    # Contexts that are there before the first endpoint: none, some, more than it takes or than there are.
    (map { +{ program => 'reserve', variant => "$_->[0]", configs => ['2x0'], quick => [], plain => 0,
              args => "--more $_->[2]",
              mca => "btl_epshm_processes 0 btl_epofi_provider tcp pml_epml_reserve $_->[1]" } }
        ['none', 0, 4], ['some', 3, 1], ['all', 6, 0]),
    { program => 'reserve', variant => 'contexts', configs => ['2x0'], quick => [], plain => 0,
      args => '--more 0', env => 'EPT_CONTEXTS=2', preload => 'few_contexts',
      mca => 'btl_epshm_processes 0 btl_epofi_provider tcp pml_epml_reserve 8' },
    # Not where everybody is reached by memory.
    { program => 'reserve', variant => 'node', configs => ['2x0'], quick => [], plain => 0,
      args => '--more 0', env => 'EPT_CONTEXTS=0', preload => 'few_contexts',
      mca => 'pml_epml_reserve 4' },
    # A network with so many contexts for a process: endpoints share them.
    (map { +{ program => 'random_traffic', variant => "contexts$_", plain => 0,
              configs => ['2x4/tcp'], longer => ['2x2/shm', '2x2/tcp;ofi_rxm'], long => 2 == $_,
              quick => 1 == $_ ? ['2x4/tcp'] : [], args => "--seed 2$_ --epochs 2",
              env => "EPT_CONTEXTS=$_", preload => 'few_contexts' } } 1 .. 3),
    # Two shared ones are said to be there beside one's own, but somebody has taken the second: all others join the
    # first.
    { program => 'random_traffic', variant => 'contexts_taken', configs => ['2x4/tcp'], plain => 0, quick => [],
      args => '--seed 24 --epochs 2', env => 'EPT_CONTEXTS=2 EPT_CONTEXTS_SAID=3', preload => 'few_contexts',
      mca => 'btl_epofi_shared_contexts 2', says => '(?:few_contexts: 2 times one more than 2.*){2}' },
    (map { +{ program => $_, variant => 'contexts', configs => ['2x4/tcp'], long => 1, plain => 0,
              mca => 'btl_epofi_max_contexts 2 btl_epofi_shared_contexts 2' } }
        qw(p2p_order p2p_sizes part coll_move comm_ops)),
    { program => 'slow_peer', variant => 'contexts', configs => ['2x2/tcp'], quick => [],
      plain => 0, mca => 'btl_epofi_max_contexts 1 pml_epml_progress_others 0' },
    { program => 'flood', variant => 'held_contexts', configs => ['2x2/tcp'], quick => [],
      args => '--limit 32768', plain => 0, timeout => 120, long => 1,
      mca => 'pml_epml_unexpected_limit 32k btl_epofi_peer_queue 16 btl_epofi_max_contexts 1' },
    # A network that wants all memory registered, also what is only sent from or received into: a context each,
    # one for all of a process, and both.
    (map { +{ program => 'random_traffic', variant => "regions$_", configs => ['2x4/tcp'], plain => 0,
              longer => ['2x2/tcp;ofi_rxm'], long => 1 != $_, quick => 1 == $_ ? ['2x4/tcp'] : [],
              args => "--seed 3$_ --epochs 2",
              preload => 'registering_fabric', mca => "btl_epofi_max_contexts $_",
              says => '\A(?:registering_fabric: all three ways\s*){2}\z' } } 0 .. 2),
    # A network with small sizes, on which nothing can be injected, or which is busy at most calls and tells late what
    # has ended; a context each, and one for all of a process.
    # The busy one has few buffers and short reads: what is refused may neither keep a buffer nor end a chain of reads.
    (map { my ($name, $contexts, $env, $mca) = @$_; +{
        program => 'random_traffic', variant => "narrow_$name", configs => ['2x4/tcp'], plain => 0, quick => [],
        long => 1, args => '--seed 41 --epochs 2', preload => 'narrow_fabric', env => $env,
        mca => join(' ', "btl_epofi_max_contexts $contexts", $mca // ()),
        says => '\A(?:narrow_fabric: all within its limits\s*){2}\z' } }
        ['sizes', 0, 'EPT_INJECT=64 EPT_MESSAGE=8192'], ['inject', 0, 'EPT_INJECT=0'],
        ['busy', 0, 'EPT_BUSY=3 EPT_LATE=5',
         'btl_epofi_send_buffers 8 btl_epofi_max_send_buffers 8 btl_epofi_get_chunk 4096'],
        ['all', 1, 'EPT_INJECT=96 EPT_MESSAGE=4096 EPT_BUSY=3 EPT_LATE=5']),
    # Other providers, by name: on this machine they reach this machine only, as hardware they stand for none.
    (map { my $program = $_; map { +{
        program => $program, variant => 'provider', configs => ["2x2/$_"], plain => 0, quick => [], long => 1 } }
        'tcp;ofi_rxm', 'sockets', 'sm2' } qw(p2p_basic p2p_order p2p_sizes coll_reduce comm_ops random_traffic)),
    # What nobody receives: a million messages, and receivers that are full.  The shm provider takes
    # up to 43 KB per message on its way, from memory that it never gives back.
    { program => 'flood', configs => ['1x2'], longer => ['1x4'] , quick => ['1x2'] },
    { program => 'flood', variant => 'between', configs => ['2x2/tcp'], longer => ['2x1/tcp'], quick => [],
      args => '--messages 200000', plain => 0, timeout => 120 },
    { program => 'flood', variant => 'held', configs => ['1x4'], longer => ['1x2'], quick => ['1x4'],
      args => '--limit 1048576', mca => 'pml_epml_unexpected_limit 1m', plain => 0 },
    { program => 'flood', variant => 'held_between', configs => ['2x2/tcp'], longer => ['2x1/tcp'],
      quick => ['2x2/tcp'], args => '--limit 32768',
      mca => 'pml_epml_unexpected_limit 32k btl_epofi_peer_queue 16', plain => 0, timeout => 120 },
    { program => 'flood', variant => 'held_between', configs => [qw(2x1/shm 2x2/shm)], long => 1,
      args => '--limit 32768 --slack 65536',
      mca => 'pml_epml_unexpected_limit 32k btl_epofi_peer_queue 16', plain => 0, timeout => 120 },
    { program => 'flood', variant => 'exhausted', configs => [qw(1x2 2x1/node)], longer => ['2x1/tcp'],
      quick => ['1x2'], args => '--exhaust 1', plain => 0,
      mca => 'btl_epshm_pipe_cells 1024 btl_epofi_peer_queue 16',
      says => 'no memory left for a message' },
    { program => 'slow_peer', configs => [qw(1x4 2x2)], longer => ['1x3'], quick => ['1x4'],
      plain => 0 },
    { program => 'slow_peer', variant => 'held', configs => ['2x2/tcp'],
      longer => [qw(1x4 2x2)], quick => [], plain => 0,
      mca => 'pml_epml_unexpected_limit 32k' },
    { program => 'slow_peer', variant => 'alone', configs => ['2x2/tcp'], longer => ['1x4'], quick => [],
      mca => 'pml_epml_progress_others 0', plain => 0 },
    { program => 'random_traffic', variant => 'held', configs => [qw(1x4 2x2)],
      longer => [qw(1x2 4x4/tcp)], quick => ['2x2/tcp'], args => '--seed 15',
      mca => 'pml_epml_unexpected_limit 2000', plain => 0 },
    (map { +{ program => $_, variant => 'held', configs => ['2x2/tcp'],
              longer => [qw(1x4 2x2)], quick => [], plain => 0, mca => 'pml_epml_unexpected_limit 0' } }
        qw(p2p_basic p2p_match p2p_requests coll_move comm_tree)),
    # Between processes, large messages copied twice, as where the kernel forbids to read another
    # process's memory.
    { program => 'p2p_sizes', variant => 'frags', configs => ['2x2/node'], longer => ['2x1/node'],
      quick => ['2x2/node'], mca => 'btl_epshm_single_copy 0', plain => 0 },
    { program => 'random_traffic', variant => 'frags', configs => ['2x2/node'], quick => [],
      args => '--seed 16 --max 1500000 --epochs 2 --messages 120',
      mca => 'btl_epshm_single_copy 0', plain => 0 },

    # Device memory (GPUs), of an accelerator that is not there.  Where it is refused, that is told once.
    { program => 'device', configs => [qw(1x4 2x2/node 2x2/tcp)], quick => ['1x4'], plain => 0,
      preload => 'fake_accelerator' },
    # (coll/libnbc tells of an operation that fails, as it does where a member has no memory.)
    { program => 'device_coll', configs => [qw(1x4 2x2/node 2x2/tcp 2x1/tcp)], quick => ['1x4'],
      plain => 0, preload => 'fake_accelerator', says => 'NBC_Progress: an error 75|\A\s*\z' },
    { program => 'device_file', configs => [qw(1x4 2x2/node)], quick => ['1x4'], plain => 0,
      preload => 'fake_accelerator', says => $REFUSED },
    { program => 'win_device', configs => [qw(1x4 2x2/node 2x2/tcp)], quick => ['1x4'], plain => 0,
      preload => 'fake_accelerator' },
    { program => 'win_random', variant => 'device', configs => [qw(1x4 2x2/node 2x2/tcp)], quick => [],
      plain => 0, preload => 'fake_accelerator', args => '--device 1 --shared 0 --phases 40' },

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

    # A process writes nonsense into the memory that it shares with another: which process reports what.
    (map { +{ program => 'corrupt', variant => $_->[0], configs => ['2x2/node'], plain => 0,
              quick => 'first' eq $_->[0] ? ['2x2/node'] : [], args => "--how $_->[0]",
              says => $_->[1] } }
        (map { [$_, 'sends to one of this process holds what.*Peer: rank 1 on host'] }
            qw(cell first kind context number)),
        (map { [$_, 'through which an endpoint sends.*Peer: rank 0 on host'] } qw(head back))),
    { program => 'corrupt', variant => 'random', configs => ['2x2/node'], plain => 0, quick => [],
      args => '--how random --seed 3', says => 'makes no sense|cannot have written|door' },

    # Ordinary communicators under epml: they go to the base PML.
    { program => 'p2p_basic', variant => 'ordinary', configs => ['2x0'], quick => ['2x0'],
      plain => 0 },
    (map { +{ program => $_, variant => 'ordinary', configs => ['4x0'], long => 1, plain => 0 } }
        qw(p2p_requests coll_move)),
    { program => 'random_traffic', variant => 'ordinary', configs => ['4x0'], quick => [],
      plain => 0 },

    # One message of more than 2 GiB, within a process and between two.
    { program => 'p2p_sizes', variant => 'huge', configs => [qw(1x2 2x1/node 2x1/tcp)], long => 1, args => '--huge 2100', timeout => 150, plain => 0 },
    # More than 4 GiB; and in pieces at one rank. Up to 9 GiB of memory.
    (map { +{ program => 'p2p_sizes', variant => "huge$_->[0]", configs => [qw(1x2 2x1/tcp)],
              long => 1, quick => [], args => $_->[1], timeout => 300, plain => 0 } }
        ['4', '--huge 4200'], ['pieces', '--huge 2100 --pieces 1'],
        ['pieces2', '--huge 4200 --pieces 2']),
);

1;
