#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Communicators and creation: what is made, what it leaves behind, and the MPI ABI.
# What an entry is: lib/Ept/Matrix.pm.

package Ept::Table::Comms;

use strict;
use warnings;

# Process-level tests (each process makes endpoints of its own in the test).
# malloc counts what each thread keeps for next time as handed out: memory that only seems to be lost.
my $NO_CACHES = 'GLIBC_TUNABLES=glibc.malloc.tcache_count=0';

my $ENDS_ALL = "Open MPI 6's launcher ends connected jobs";

our @ENTRIES = (
    # The MPI ABI.
    (map { +{ program => $_->[0], variant => 'abi', abi => 1, plain => 0, configs => [$_->[1]],
              quick => [$_->[1]] } }
        [qw(p2p_basic 2x2/node)], [qw(p2p_requests 1x4)], [qw(coll_move 2x2/tcp)],
        [qw(coll_reduce 1x4)], [qw(comm_local 2x2/node)], [qw(comm_groups 2x2/tcp)],
        [qw(comm_bridge 2x2/node)], [qw(comm_errors 1x4)], [qw(handles 1x4)], [qw(newer 1x4)],
        [qw(large 1x2)], [qw(create 2x2/tcp)], [qw(merge 2x2/node)], [qw(merge_errors 1x6)]),
    { program => 'create_errors', variant => 'abi', abi => 1, plain => 0, configs => ['2x1/tcp'],
      quick => ['2x1/tcp'], args => '--limit 8', mca => 'pml_epml_max_endpoints 8',
      says => 'pml_epml_max_endpoints' },

    # Communicators: what an endpoint does with them, what they leave behind.
    # comm_bridge: groups that have never met.
    { program => 'comm_bridge', configs => [qw(1x4 2x2 3x3/tcp)],
      longer => [qw(1x2 1x7 2x1 2x4 4x2)] },
    { program => 'comm_bridge', variant => 'limit', configs => ['2x2/tcp'], quick => [],
      args => '--limit 1', mca => 'pml_epml_max_endpoints 2', plain => 0,
      says => 'pml_epml_max_endpoints' },
    # Communicators that hang together.
    { program => 'merge', configs => [qw(1x13 2x2/tcp 4x4/node)], longer => [qw(1x1 1x4 2x1 2x2 3x3 4x4/tcp)],
      plain => 0 },
    { program => 'merge_errors', configs => [qw(1x6 3x2/node 2x3/tcp)], longer => ['1x1'], quick => ['1x6'],
      plain => 0, timeout => 60 },
    { program => 'merge', variant => 'tsan', kind => 'tsan', configs => [qw(1x4 2x2/node)], long => 1,
      quick => [], plain => 0, timeout => 240 },
    # Members of several jobs.
    { program => 'jobs_spawn', configs => [qw(1x2 2x2/node 2x2/tcp)], quick => ['2x2/node'], plain => 0,
      timeout => 60 },
    { program => 'jobs_endpoints', configs => [qw(1x2 2x2/node 2x2/tcp)], quick => ['2x2/node'], plain => 0,
      timeout => 60 },
    { program => 'jobs_all', configs => [qw(1x2 2x2/node 2x2/tcp)], quick => ['2x2/node'], plain => 0,
      timeout => 60 },
    { program => 'jobs_endpoints', variant => 'absent', kind => 'fatal', configs => ['2x2/node'], quick => [],
      not_6 => $ENDS_ALL, plain => 0, args => '--absent 1', says => 'ok 1 - jobs_endpoints absent' },
    { program => 'jobs_endpoints', variant => 'dies', kind => 'fatal', configs => ['2x2/node'], quick => [],
      not_6 => $ENDS_ALL, plain => 0, args => '--dies 1', says => 'ok 1 - jobs_endpoints dies' },
    { program => 'jobs_endpoints', variant => 'without', configs => ['2x2/node'], quick => [],
      not_6 => 'Open MPI 6 gives the children no PML of their own by PMIX_ENVAR', plain => 0, args => '--without 1', says => 'without pml/epml' },
    (map { +{ program => $_, variant => 'tsan', kind => 'tsan', configs => ['1x2', '2x2/node'], long => 1,
              quick => [], plain => 0, timeout => 240 } }
        qw(jobs_spawn jobs_endpoints jobs_all)),
    { program => 'comm_tree', configs => [qw(1x4 2x2 4x4/node)],
      longer => [qw(1x8 2x4/tcp 2x4/node 4x2/tcp 4x4/tcp)] },
    { program => 'comm_tree', variant => 'long', long => 1, plain => 0, timeout => 300,
      configs => [qw(1x4 1x8 1x16 2x4 4x2 4x4/tcp)],
      args => '--seed 100 --episodes 200 --ops 200' },
    { program => 'comm_inter', configs => [qw(1x4 2x2 4x2/tcp)], longer => [qw(1x8 4x2)] },
    { program => 'comm_inter', variant => 'long', long => 1, plain => 0, timeout => 300,
      configs => [qw(1x4 1x8 2x4)], args => '--case storm --rounds 30000' },
    { program => 'comm_groups', configs => [qw(1x4 2x2/tcp)],
      longer => [qw(1x1 1x8 2x2/node 4x2/tcp 4x4/node)] },
    { program => 'handles', configs => [qw(1x4 2x2/tcp)], longer => ['1x1'], quick => [] },
    # Communicators freed with everything pending.
    { program => 'comm_pending', plain => 0, configs => [qw(1x4 3x2/node)],
      longer => [qw(1x8 2x4/node 3x2/tcp 4x2/node)], quick => ['3x2/node'] },
    { program => 'comm_pending', variant => 'long', long => 1, plain => 0, timeout => 300,
      configs => [qw(1x8 3x3/node)], args => '--rounds 4000' },
    { program => 'disconnect', configs => [qw(1x4 2x2)], quick => ['1x4'] },
    { program => 'coll_life', configs => [qw(1x4 2x2)], longer => ['1x8'], quick => ['1x4'] },
    # Many collectives under way; also with nothing in lines, small shares, and many levels.
    { program => 'coll_arrays', configs => [qw(1x4 3x3/node)] },
    { program => 'coll_pending', configs => [qw(1x4 2x2/tcp 3x3/node)],
      longer => [qw(1x2 1x7 1x16 2x2/node 3x3/tcp 2x9/node)],
      quick => ['1x4'] },
    (map { +{ program => 'coll_pending', variant => $_->[0], configs => [$_->[1]], quick => [],
              plain => 0, long => 'lines' eq $_->[0], args => '--seed 5', mca => $_->[2] } }
        ['lines', '1x4', 'coll_epcoll_inline_limit 0'],
        ['shares', '1x4', 'coll_epcoll_chunk_size 64'],
        ['fan', '1x7', 'coll_epcoll_fanout 2']),
    { program => 'coll_pending', variant => 'different', configs => ['1x4'], longer => ['1x2'], quick => [],
      plain => 0, args => '--different 1', says => 'have called different' },
    { program => 'coll_pending', variant => 'long', configs => [qw(1x3 1x7)], long => 1,
      plain => 0, args => '--operations 2000 --seed 11', timeout => 300 },
    # Threads that come late to locks: Open MPI's own tables, and ours.
    (map { +{ program => $_, variant => 'late', configs => ['create' eq $_ ? '2x3/tcp' : '1x8'],
              longer => [qw(1x8 2x3)], plain => 0,
              quick => 'handles' eq $_ ? ['1x8'] : [], args => '--seed 21', timeout => 120,
              env => 'LATE_LOCKS_SEED=21', preload => 'late_locks' } }
        qw(handles comm_tree comm_inter create part_life)),
    { program => 'comm_local', configs => [qw(1x4 2x2/node)],
      longer => [qw(1x1 1x8 2x2/tcp 4x2/tcp 2x4/shm)] },
    { program => 'comm_group_tag', configs => [qw(1x3 2x2/tcp)], longer => [qw(1x1 2x2/node)], quick => ['1x3'],
      plain => 0 },
    # Communicators of groups alone.
    { program => 'from_group', configs => [qw(1x4 2x2/node 2x2/tcp 3x2)], longer => [qw(1x2 2x4/node)],
      quick => ['2x2/node'], plain => 0, timeout => 60 },
    { program => 'from_group', variant => 'limit', configs => ['2x2/node'], quick => [], args => '--limit 1',
      mca => 'pml_epml_max_endpoints 3', plain => 0, says => 'pml_epml_max_endpoints' },
    { program => 'from_group', variant => 'abi', abi => 1, configs => ['2x2/node'], quick => [], plain => 0,
      timeout => 60 },
    { program => 'from_group', variant => 'tsan', kind => 'tsan', configs => [qw(1x4 2x2/node)], long => 1,
      quick => [], plain => 0, timeout => 240 },
    # What components of ours may ask for.
    { program => 'client', configs => [qw(1x4 2x2/tcp)], quick => ['1x4'], plain => 0 },
    { program => 'client', variant => 'whole', configs => ['3x3/node'], longer => ['2x2/node'],
      quick => ['3x3/node'], plain => 0, args => '--whole 1' },
    { program => 'client', variant => 'crowd', configs => ['2x8/node'], longer => ['1x16'], quick => [],
      plain => 0, args => '--whole 1' },
    { program => 'client', variant => 'nomem', configs => [qw(1x3 2x2/node)], quick => [],
      plain => 0, preload => 'fail_alloc', args => '--nomem 1' },
    { program => 'comm_nomem', configs => [qw(1x3 2x2/node)], quick => ['1x3'], plain => 0,
      preload => 'fail_alloc', says => 'could not get what an endpoint needs' },
    # What collectives make when it is first needed; of 9 more than of 3.
    { program => 'coll_nomem', configs => [qw(1x3 1x9)], quick => ['1x3'], plain => 0,
      preload => 'fail_alloc', timeout => 60 },
    { program => 'coll_nomem', variant => 'own', configs => ['2x2/tcp'], longer => ['2x3/node'], quick => [], plain => 0,
      preload => 'fail_alloc', args => '--own 1', timeout => 60 },
    { program => 'coll_nomem', variant => 'double-buffers', configs => [qw(2x3/node 2x2/tcp)], quick => [], plain => 0,
      preload => 'fail_alloc', args => '--double-buffers 1', timeout => 60 },
    { program => 'pack_error', configs => [qw(1x2 2x1/tcp 2x1/node)], quick => ['1x2'], plain => 0,
      preload => 'fail_pack', timeout => 30 },
    { program => 'left', configs => [qw(1x2 2x1/tcp)], longer => ['2x1/node'], quick => ['1x2'], plain => 0 },
    { program => 'left', variant => 'other', configs => ['1x2'], quick => [], plain => 0,
      args => '--other' },
    { program => 'left', variant => 'other', configs => ['2x1/node'], longer => ['2x1/tcp'], quick => [],
      plain => 0, args => '--other', says => 'was freed before it was received' },
    { program => 'comm_errors', configs => [qw(1x4 2x2/tcp)],
      longer => [qw(1x1 1x8 2x2/node 4x2/tcp)] },
    { program => 'comm_refused', configs => ['1x4'], longer => ['1x1'], plain => 0 },
    { program => 'comm_refused', configs => ['2x2/node'], longer => [qw(2x1/node 2x2/tcp)], plain => 0 },
    { program => 'comm_refused', variant => 'abi', abi => 1, configs => ['2x2/node'], plain => 0,
      quick => [] },
    { program => 'comm_refused', variant => 'files', configs => [qw(1x4 2x2/node)], plain => 0,
      quick => [], mca => 'io ^ompio', args => '--files 1', says => 'component "ompio"' },
    { program => 'comm_refused', variant => 'files_of_one', configs => ['2x2/node'], plain => 0,
      quick => [], rank0 => 'OMPI_MCA_io=^ompio', args => '--files 1',
      says => 'component "ompio"' },
    { program => 'comm_refused', variant => 'windows', configs => [qw(1x4 2x2/node)], plain => 0,
      quick => [], mca => 'osc ^epwin', args => '--windows 1',
      says => '\A(?!.*component "epwin".*component "epwin".*component "epwin").*component "epwin"' },
    { program => 'comm_refused', variant => 'windows_of_one', configs => ['2x2/node'], plain => 0,
      quick => [], rank0 => 'OMPI_MCA_osc=^epwin', args => '--windows 1', says => 'component "epwin"' },
    { program => 'comm_topo', configs => [qw(1x4 2x2/node)],
      longer => [qw(1x1 1x8 2x2/tcp 4x2/tcp 2x4/shm)] },
    { program => 'comm_flat', configs => ['1x4'], longer => ['2x2/node'], quick => ['1x4'], env => $NO_CACHES,
      timeout => 120 },
    { program => 'comm_flat', variant => 'net', configs => ['2x2/tcp'], long => 1,
      env => $NO_CACHES, args => '--rounds 100', plain => 0, timeout => 120 },
    { program => 'comm_flat', variant => 'long', long => 1, plain => 0, timeout => 300,
      env => $NO_CACHES, configs => ['1x8'], args => '--rounds 3000' },
    { program => 'comm_flat', variant => 'long', long => 1, plain => 0, timeout => 300,
      env => $NO_CACHES, configs => ['2x4/tcp'], args => '--rounds 1500' },

    # Creation.
    { program => 'create', configs => [qw(1x4 2x2 4x4/tcp)], longer => [qw(1x1 2x1 4x1)] },
    # What an endpoint owes when it goes is more than fits into its pipe.
    { program => 'create', variant => 'owed', configs => ['2x1/node'], quick => [], plain => 0,
      args => '--owed 1', rank0 => 'OMPI_MCA_btl_epshm_pipe_cells=16', timeout => 30 },
    { program => 'create_info', configs => ['2x1/tcp'], longer => [qw(1x1 2x1 4x1)],
      quick => ['2x1/tcp'], says => 'mpix_thread_level.*frobnicated' },
    { program => 'create_errors', configs => [qw(1x1 2x1/tcp 2x2/node)],
      longer => [qw(2x1 2x2 4x1)], args => '--limit 8',
      mca => 'pml_epml_max_endpoints 8', plain => 0, says => 'pml_epml_max_endpoints' },
    { program => 'create_first', configs => ['1x0'], quick => [], plain => 0 },
    { program => 'create_first', variant => 'limit', configs => ['1x0'], quick => [], plain => 0,
      args => '--limit 8', mca => 'pml_epml_max_endpoints 8', says => 'pml_epml_max_endpoints' },
    { program => 'level_low', configs => ['1x0'], quick => [], plain => 0,
      mca => 'pml_epml_yield always', says => 'Level: MPI_THREAD_SINGLE.*MPI_THREAD_MULTIPLE' },
    { program => 'create_omp', configs => ['2x1/tcp'], longer => [qw(1x1 2x1 4x1)],
      quick => ['2x1/tcp'] },
    { program => 'create_pmpi', configs => ['2x2/node'], longer => [qw(1x2 2x2/tcp)], plain => 0 },
    { program => 'finalize', configs => [qw(1x4 2x2/tcp 4x4/node)], longer => [qw(1x1 2x2 4x4/tcp)],
      args => '--keep 1' },
    # A thousand rounds; over shm a context costs a hundred times what it costs over tcp.
    { program => 'create_loop', configs => [qw(1x1 2x1/tcp 2x1/node)], quick => [],
      timeout => 120, env => $NO_CACHES },
    { program => 'create_loop', variant => 'few', configs => ['2x1/shm'], long => 1,
      args => '--rounds 100', timeout => 120, env => $NO_CACHES, plain => 0 },

    { program => 'create_loop', variant => 'contexts', configs => ['2x1/tcp'], quick => [],
      args => '--rounds 200 --num 4', mca => 'btl_epofi_max_contexts 2', timeout => 120,
      env => $NO_CACHES, plain => 0 },
    # A thousand endpoints in a process; with a network, as many as the descriptors of most machines
    # allow. How malloc keeps memory for next time must not be mistaken for memory in use.
    { program => 'create_many', configs => ['1x1'], quick => [], plain => 0, timeout => 180,
      env => $NO_CACHES },
    { program => 'create_many', variant => 'net', configs => ['2x1/tcp'],
      longer => [qw(2x1/shm 2x1/node)], quick => [], plain => 0, args => '--num 128', timeout => 180,
      env => $NO_CACHES },

    # The base PML is what parameter files leave over. Sessions one after another hang now and then for
    # PMIx's sake (docs/limits.md).
    { program => 'sessions', configs => [], longer => ['1x0'], quick => [], plain => 0, timeout => 20 },
    { program => 'sessions', variant => 'none', kind => 'fatal', configs => ['1x0'], quick => [],
      plain => 0, args => '--pml ^ob1,ucx,cm', says => 'PMLs tried: \(none are left\)' },
);

1;
