#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs under ThreadSanitizer and valgrind, and the examples.
# What an entry is: lib/Ept/Matrix.pm.

package Ept::Table::Checked;

use strict;
use warnings;

# Under ThreadSanitizer: between processes too, for the ways that are a program's own.
my %TSAN = (comm_ops => [qw(2x2/tcp 2x2/node)], p2p_requests => [qw(2x2/tcp 2x2/node)],
            shared_endpoint => [qw(2x2/tcp 2x2/node)], comm_bridge => ['2x2/tcp'],
            p2p_dump => ['2x2/tcp'], part => ['2x2/node'], part_life => ['2x2/tcp'],
            part_requests => ['2x2/node']);

our @ENTRIES = (
    # Data races of ours; all with --long=checkers, as they take a build of their own.
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

    { program => 'client', variant => 'tsan', kind => 'tsan', configs => [qw(1x4 2x2/node)],
      quick => [], plain => 0, timeout => 240 },
    { program => 'coll_late', variant => 'tsan', kind => 'tsan', configs => ['1x4'], quick => [],
      plain => 0, args => '--steps 80 --most 100000', timeout => 240 },
    { program => 'coll_late', variant => 'fan_tsan', kind => 'tsan', configs => ['1x7'], long => 1,
      plain => 0, args => '--seed 2 --steps 200 --share 2048', timeout => 300,
      mca => 'coll_epcoll_fanout 2 coll_epcoll_chunk_size 2048' },
    # Types whose elements begin far from their addresses: UBSan.
    { program => 'coll_reduce', variant => 'tsan', kind => 'tsan', configs => ['2x2/node'], long => 1,
      plain => 0, timeout => 240 },
    { program => 'coll_mismatch', variant => 'tsan', kind => 'tsan', configs => ['1x4'],
      quick => [], plain => 0, args => '--long 4000', timeout => 240,
      says => 'have called different' },
    { program => 'comm_pending', variant => 'tsan', kind => 'tsan', configs => ['1x4'], long => 1,
      plain => 0, args => '--case random --rounds 30', timeout => 300 },
    # Whose builds have no bias to count.
    { program => 'hint_level', variant => 'tsan', kind => 'tsan', configs => ['1x4'], quick => [],
      plain => 0, args => '--case in_use', timeout => 240 },
    { program => 'variables', variant => 'tsan', kind => 'tsan', configs => ['1x4'], quick => [],
      plain => 0, timeout => 240 },
    # With a thread that sends packets whose own thread has left.
    { program => 'progress', variant => 'tsan', kind => 'tsan', configs => ['2x2/tcp'], quick => [],
      plain => 0, timeout => 240 },
    # Endpoints that share a context of the network's.
    { program => 'random_traffic', variant => 'contexts_tsan', kind => 'tsan',
      configs => ['2x3/tcp'], quick => [], args => '--seed 24 --epochs 1 --messages 60', plain => 0,
      mca => 'btl_epofi_max_contexts 1', timeout => 240 },
    { program => 'create', variant => 'contexts_tsan', kind => 'tsan', configs => ['2x2/tcp'],
      plain => 0, mca => 'btl_epofi_max_contexts 2', timeout => 240, long => 1 },
    { program => 'coll_layout', variant => 'tsan', kind => 'tsan', configs => ['2x2/node'], quick => [],
      plain => 0, timeout => 240 },
    { program => 'zcopy', variant => 'tsan', kind => 'tsan', configs => ['1x2'], quick => [],
      plain => 0, timeout => 240 },
    { program => 'spsc_rings', variant => 'tsan', kind => 'tsan', configs => ['1x8'], quick => [],
      plain => 0, args => '--rounds 2', mca => 'btl_epshm_spsc_rings 3 btl_epshm_spsc_cells 64',
      timeout => 240 },
    { program => 'coll_pending', variant => 'tsan', kind => 'tsan', configs => [qw(1x4 2x2/node)],
      quick => [],
      plain => 0, args => '--operations 60', timeout => 240 },

    # Windows: through memory, and by messages.  Messages not over node: there a member of another
    # process releases locks in its own process, unseen.
    (map { my ($program, $configs, %more) = @$_;
           +{ program => $program, variant => 'tsan', kind => 'tsan', configs => $configs,
              quick => [], plain => 0, timeout => 240, %more } }
        ['win_net', ['2x2/tcp']],
        ['win_random', ['1x4'], longer => ['2x2/tcp'], args => '--shared 0 --phases 40'],
        ['win_lock', ['2x2/tcp'], longer => ['1x4'], args => '--rounds 30'],
        ['win_pscw', ['2x2/tcp'], longer => ['1x4']],
        ['win_threads', [qw(1x2 2x2/tcp)], args => '--rounds 8'],
        ['win_create', ['1x4']],
        ['win_dynamic', ['2x2/tcp'], longer => ['1x4']]),

    # Leaks and invalid accesses of ours.
    { program => 'random_traffic', variant => 'valgrind', kind => 'valgrind', configs => ['1x2'],
      quick => [], args => '--messages 60 --epochs 1 --max 40000', plain => 0, timeout => 240 },
    { program => 'part_life', variant => 'valgrind', kind => 'valgrind',
      configs => [qw(1x2 2x1/tcp)], quick => [], plain => 0, timeout => 240 },
    { program => 'create', variant => 'valgrind', kind => 'valgrind', configs => [qw(2x1/tcp 2x1/node)],
      quick => [], args => '--case free', plain => 0, timeout => 240 },
    { program => 'spsc_rings', variant => 'valgrind', kind => 'valgrind', configs => ['1x2'],
      quick => [], args => '--rounds 1', plain => 0, timeout => 240 },
    { program => 'comm_tree', variant => 'valgrind', kind => 'valgrind', configs => ['1x4'],
      quick => [], args => '--episodes 2 --ops 80', plain => 0, timeout => 240 },
    { program => 'comm_ops', variant => 'valgrind', kind => 'valgrind', configs => ['2x2/shm'],
      quick => [], args => '--case split', plain => 0, timeout => 240 },

    # The examples, as many threads per process as ranks; mesh_tiles has 16 in all, however spread.
    { program => 'hello_endpoints', kind => 'example', configs => [qw(1x4 2x4/node)], longer => ['2x4/tcp'], quick => [],
      plain => 0 },
    { program => 'openmp_allreduce', kind => 'example', configs => ['2x4/tcp'], longer => ['1x4'], plain => 0 },
    { program => 'ring', kind => 'example', configs => ['2x4/tcp'], longer => ['1x4'], quick => [], plain => 0 },
    { program => 'from_processes', kind => 'example', configs => ['2x3/node'], longer => ['1x4'], quick => [],
      plain => 0 },
    { program => 'from_processes', variant => 'ob1', kind => 'example', configs => ['2x3/node'],
      quick => [], mca => 'pml ob1', plain => 0 },
    { program => 'from_threads', kind => 'example', configs => ['2x3/tcp'], longer => ['1x4'], quick => [],
      plain => 0 },
    { program => 'from_threads', variant => 'tags', kind => 'example', configs => ['2x3/node'],
      quick => [], args => 'tags', plain => 0 },
    { program => 'halo_partitions', kind => 'example', configs => ['2x3/tcp'], longer => [qw(1x4 3x2/tcp)],
      quick => ['2x3/tcp'], plain => 0 },
    { program => 'checkpoint', kind => 'example', configs => ['2x4/node'], longer => ['1x4'], quick => [], plain => 0 },
    { program => 'red_black', kind => 'example', configs => ['3x3/tcp'], longer => [qw(1x4 2x3/node)], quick => [],
      plain => 0, env => 'OMP_WAIT_POLICY=passive' },
    (map { +{ program => 'task_graph', variant => $_, kind => 'example',
              configs => ['process' eq $_ ? '1x4' : '3x3/tcp'], longer => [qw(1x4 2x6/node 3x3/tcp)],
              quick => [], args => $_, plain => 0 } }
        qw(process masters roles)),
    { program => 'self_threads', kind => 'example', configs => ['2x3/node'], longer => ['1x4'], quick => [],
      plain => 0 },
    { program => 'static_hello', kind => 'example', configs => ['2x4/node'], longer => ['1x4'], quick => [],
      args => '4', plain => 0 },
    { program => 'static_hello', variant => 'counts', kind => 'example', configs => ['3x2/node'],
      quick => [], args => '1 5 2', plain => 0 },
    (map { +{ program => 'asp_levels', variant => $_, kind => 'example', configs => ['2x3/node'], quick => [],
              args => $_, plain => 0, launcher => '-endpoints 3 -x MPIX_ENDPOINTS_ASP=1',
              env => 'OMP_WAIT_POLICY=passive' } }
        qw(masters roles library)),
    { program => 'asp_levels', variant => 'master', kind => 'example', configs => ['2x1/node'], quick => [],
      args => 'master', plain => 0, launcher => '-endpoints 1 -x MPIX_ENDPOINTS_ASP=1' },
    { program => 'library_models', kind => 'example', configs => ['2x4/node'],
      longer => [qw(1x4 3x4/tcp)], quick => [], args => '4', plain => 0 },
    (map { +{ program => 'static_openmp', variant => $_, kind => 'example',
              configs => ['2x3/node'], longer => ['1x4'], quick => [], args => $_, plain => 0 } }
        qw(team dynamic loop)),
    { program => 'upc_style', kind => 'example', configs => ['2x3/node'], longer => ['1x4'], quick => [],
      args => '3', plain => 0 },
    { program => 'tbb_collect', kind => 'example', configs => ['2x3/tcp'], longer => ['1x4'], quick => [],
      args => '3', plain => 0, tbb => 1 },
    { program => 'static_workers', kind => 'example', configs => ['1x1'], quick => [], plain => 0,
      args => '2 3' },
    # In Fortran, with mpi_f08, mpi, mpif.h.
    { program => 'hello_endpoints.f90', kind => 'example', configs => ['1x4'], plain => 0 },
    { program => 'static_hello.f90', kind => 'example', configs => ['2x3/node'], quick => [],
      launcher => '-endpoints 3', plain => 0 },
    { program => 'openmp_allreduce.f', kind => 'example', configs => ['2x4/node'], quick => [],
      plain => 0 },
    { program => 'endpoints.py', kind => 'python', configs => ['2x3/tcp'], longer => [qw(1x4 2x3/node)],
      quick => ['2x3/tcp'], plain => 0, timeout => 60 },
    # What docs/python.md says that works; what does not, but with one endpoint in each process.
    { program => 'objects.py', kind => 'python', folder => 'test/mpi/languages', configs => ['2x2/node'], longer => ['1x3'],
      quick => [], plain => 0, timeout => 60 },
    { program => 'objects.py', variant => 'fast', kind => 'python', folder => 'test/mpi/languages',
      configs => ['3x1/tcp'], longer => ['1x1'], quick => [], plain => 0, args => 'fast', timeout => 60 },
    { program => 'pools.py', kind => 'python', folder => 'test/mpi/languages', configs => ['2x3/node'],
      longer => [qw(1x4 3x2/tcp)], quick => [], plain => 0, timeout => 60 },
    (map { +{ program => 'pools.py', variant => $_, kind => 'python', folder => 'test/mpi/languages',
              configs => ['2x2/node'], quick => [], args => $_, plain => 0, timeout => 60 } } qw(late level)),
    { program => 'pools.py', variant => 'none', kind => 'python', folder => 'test/mpi/languages',
      configs => ['2x2/node'], quick => [], args => 'none', mca => 'pml ob1', plain => 0, timeout => 60 },
    { program => 'pools.py', variant => 'abort', kind => 'python', folder => 'test/mpi/languages',
      configs => ['2x2/node'], quick => [], args => 'abort', plain => 0, timeout => 60, status => 1,
      says => 'rank 1: Traceback.*ValueError: of rank 1\nmpix_endpoints: other ranks .* the job is aborted' },
    { program => 'mesh_tiles', kind => 'example', configs => ['3x5/tcp'],
      longer => [qw(1x16 2x8)], quick => ['3x5/tcp'], plain => 0 },
);

1;
