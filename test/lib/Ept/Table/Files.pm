#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Files.
# What an entry is: lib/Ept/Matrix.pm.

package Ept::Table::Files;

use strict;
use warnings;

our @ENTRIES = (
    { program => 'file_basic', configs => [qw(1x4 2x2/tcp)],
      longer => [qw(1x1 1x7 2x1/node 2x2/node 3x3/node)], plain => 0 },
    { program => 'file_shared', configs => [qw(1x4 2x2/node)],
      longer => [qw(1x1 1x7 2x2/tcp 3x3/node)], plain => 0 },
    { program => 'file_shared', variant => 'interrupted', configs => ['2x1/node'], quick => [],
      plain => 0, preload => 'interrupted' },
    { program => 'file_nonblocking', configs => [qw(1x4 2x2/node)], longer => [qw(1x1 2x2/tcp)],
      plain => 0 },
    { program => 'file_random', configs => [qw(1x4 2x2/node)], longer => [qw(1x1 1x7 2x2/tcp)],
      quick => ['1x4'], plain => 0 },
    { program => 'file_random', variant => 'long', long => 1, configs => [qw(1x4 2x3/node)],
      plain => 0, args => '--phases 2000 --seed 11', timeout => 300 },
    { program => 'file_blocks', configs => [qw(1x4 2x2/tcp)], longer => [qw(1x1 1x7 2x2/node)],
      quick => ['1x4'], plain => 0 },
    { program => 'file_blocks', variant => 'large', long => 1, configs => [qw(1x2 2x1/node)],
      quick => [], plain => 0, args => '--large 1', timeout => 240 },
    { program => 'file_atomic', configs => [qw(1x4 2x2/node)], quick => ['1x4'], plain => 0 },
    # ompio of 5.0 says itself that it cannot write, in atomic mode.
    { program => 'file_errors', configs => [qw(1x4 2x2/node)], longer => [qw(1x1 2x2/tcp)], plain => 0,
      quick => ['1x4'], says => 'No space left on device|\A\z' },
    # Each allocation of the library's fails once.
    { program => 'file_nomem', configs => ['2x2/node'], longer => ['2x1/node'], plain => 0, quick => [],
      preload => 'fail_alloc', timeout => 60, says => 'file_select\(\) failed' },
    { program => 'file_nomem', variant => 'ompio', configs => ['2x2/node'], longer => ['1x4'], plain => 0,
      quick => [], preload => 'fail_alloc', timeout => 60, args => '--ompio 1',
      says => 'OUT OF MEMORY|file_select\(\) failed' },
    # On three nodes.
    { program => 'file_basic', variant => 'cluster', cluster => 'one', configs => ['6x2/node'],
      quick => [], plain => 0 },
    { program => 'file_blocks', variant => 'cluster', cluster => 'one', configs => ['6x2/node'],
      quick => [], plain => 0 },
    # As if it were NFS: what is small is exchanged.
    { program => 'file_blocks', variant => 'locked', configs => ['3x3/node'],
      longer => [qw(1x4 2x2)], quick => [], plain => 0, mca => 'fs_ufs_lock_algorithm 2',
      args => '--exchanged 1' },
    { program => 'file_random', variant => 'locked', configs => ['2x2/node'], longer => ['3x3/node'],
      quick => [], plain => 0, mca => 'fs_ufs_lock_algorithm 2' },
    { program => 'file_errors', variant => 'locked', configs => ['2x2/node'], quick => [],
      plain => 0, says => 'No space left on device|\A\z', mca => 'fs_ufs_lock_algorithm 2' },
    { program => 'file_blocks', variant => 'tsan_locked', kind => 'tsan', long => 1,
      configs => ['2x2/node'], quick => [], plain => 0, timeout => 240,
      mca => 'fs_ufs_lock_algorithm 2' },
    { program => 'file_nomem', variant => 'locked', configs => ['2x2/node'], plain => 0,
      quick => [], preload => 'fail_alloc', timeout => 60, says => 'file_select\(\) failed',
      mca => 'fs_ufs_lock_algorithm 2' },
    { program => 'file_errors', variant => 'cluster', cluster => 'one', configs => ['3x2/node'],
      quick => [], plain => 0, says => 'No space left on device|\A\z' },
    (map { +{ program => $_, variant => 'cluster', cluster => 'one', configs => ['3x2/node'],
              quick => [], plain => 0, long => 'file_random' eq $_ } }
        qw(file_shared file_random)),
    # Where libmpi calls its own functions directly.
    (map { +{ program => $_, variant => 'direct', configs => ['1x4'], quick => [], plain => 0,
              direct => 1 } }
        qw(file_basic file_shared file_nonblocking)),
    # Threads that set files up at once, which a process does once.
    { program => 'file_first', configs => ['4x1/node'], plain => 0 },
    # Instructions are counted.
    { program => 'file_many', configs => ['1x1'], quick => [], plain => 0 },
    # Reads and writes that end late.
    { program => 'file_late', configs => [qw(1x4 2x2/node)], quick => ['1x4'], plain => 0 },
    (map { +{ program => $_, variant => 'tsan', kind => 'tsan', configs => ['1x4'], quick => [],
              plain => 0, timeout => 240 } }
        qw(file_late file_basic file_blocks)),
);

1;
