#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Windows.
# What an entry is: lib/Ept/Matrix.pm.

package Ept::Table::Windows;

use strict;
use warnings;

our @ENTRIES = (
    # Creation.  Not with Open MPI's own components: sizes that are queried of parts that are apart
    # are rounded up there, empty parts have addresses, and accesses are not checked.
    { program => 'win_create', configs => [qw(1x4 2x2)], longer => [qw(1x1 1x16 4x2/tcp 4x2/node)],
      plain => 0 },
    { program => 'win_create', variant => 'static', configs => ['1x4'], longer => ['2x2/node'],
      plain => 0, quick => [], args => '--static 1' },
    # Members of a node that cannot share memory.
    { program => 'win_create', variant => 'apart', configs => ['2x2/tcp'], plain => 0, quick => [],
      mca => 'btl_epshm_processes 0' },
    { program => 'win_create', variant => 'hosts', configs => ['4x2/tcp'], hosts => 1, plain => 0,
      quick => [] },
    { program => 'win_create', variant => 'many', configs => ['1x16'], longer => ['2x8/node'],
      plain => 0, long => 1, quick => [], args => '--case many --windows 1000', timeout => 300 },
    { program => 'win_create_errors', configs => ['1x4'], longer => [qw(1x1 2x2/node)], plain => 0 },
    { program => 'win_create_errors', configs => ['2x2/tcp'], plain => 0, args => '--apart 1' },
    { program => 'win_fortran.F90', configs => ['2x0'], plain => 0, quick => [], interface => 'f08' },
    { program => 'win_shared', configs => [qw(1x4 2x2/node)], longer => [qw(1x1 1x16 4x2/node)],
      plain => 0 },
    { program => 'win_shared', configs => ['2x2/tcp'], plain => 0, args => '--apart 1',
      says => 'processes cannot share memory' },
    { program => 'win_shared', variant => 'hosts', configs => ['4x2/tcp'], hosts => 1, plain => 0,
      quick => [], args => '--apart 1', says => 'several nodes|cannot share memory' },
    { program => 'win_dynamic', configs => [qw(1x4 2x2/tcp)], longer => [qw(2x2/node 1x16)],
      plain => 0 },
    { program => 'win_dynamic', variant => 'copied', configs => ['2x2/node'], plain => 0, quick => [],
      mca => 'osc_epwin_copy_limit 1' },
    { program => 'win_nomem', configs => ['1x3'], plain => 0, preload => 'fail_alloc' },
    { program => 'win_nomem', configs => ['2x2/node'], longer => ['2x2/tcp'], quick => [], plain => 0,
      preload => 'fail_alloc', says => 'cannot share memory' },
    { program => 'win_slots', configs => [qw(1x2 2x2/node)], longer => ['2x2/tcp'], quick => [],
      plain => 0 },
    { program => 'win_left', configs => [qw(1x4 2x2)], longer => [qw(1x1 1x16)], plain => 0 },
    { program => 'win_left', variant => 'keep', configs => [qw(1x4 2x2/node)], plain => 0, quick => [],
      args => '--keep 1' },
    # Bad input.  Open MPI's own components check less.
    { program => 'win_errors', configs => [qw(1x4 2x2/node)], longer => [qw(2x2/tcp 1x1)],
      plain => 0 },
    # Random operations against a model.
    { program => 'win_random', configs => [qw(1x4 2x2/node)], longer => [qw(1x1 1x7 2x1/node 3x3/node)] },
    { program => 'win_random', variant => 'apart', configs => ['2x2/tcp'], longer => ['2x1/tcp'],
      quick => [], plain => 0, args => '--shared 0' },
    { program => 'win_random', variant => 'long', long => 1, configs => [qw(1x4 1x16 2x3/node)],
      plain => 0, args => '--phases 500 --seed 11', timeout => 300 },
    { program => 'win_random', variant => 'apart_long', long => 1, configs => ['2x2/tcp'],
      quick => [], plain => 0, args => '--phases 500 --seed 11 --shared 0', timeout => 300 },

    # Memory that the origin does not map.
    { program => 'win_net', configs => [qw(2x2 4x1/tcp)], plain => 0, quick => ['2x2/node'],
      longer => [qw(1x4 4x1/node 4x4/tcp 3x3/node)] },
    { program => 'win_net', variant => 'bounded', configs => ['2x2/node'], plain => 0, quick => [],
      mca => 'osc_epwin_pending_limit 4096 osc_epwin_copy_limit 0' },
    # What a dump of queues shows.
    { program => 'win_dump', configs => [qw(1x4 2x2/tcp)], longer => ['2x2/node'], plain => 0,
      quick => [] },
    # The progress thread, and that it is not there without the parameter.
    { program => 'win_progress', configs => [qw(2x2/tcp 2x2/node)], longer => [qw(3x2/tcp)],
      plain => 0, quick => [], args => '--interval 50', mca => 'osc_epwin_progress_interval 50' },
    { program => 'win_progress', variant => 'off', configs => ['2x2/node'], plain => 0, quick => [] },
    { program => 'win_progress', variant => 'direct', configs => ['1x4'], plain => 0, quick => [],
      args => '--interval 50 --direct 1', mca => 'osc_epwin_progress_interval 50' },
    # Synchronization.  Stock Open MPI's osc/rdma loses updates, and its locks starve.
    { program => 'win_lock', configs => [qw(1x4 2x2)], longer => [qw(1x1 1x7 3x3/node)], plain => 0 },
    { program => 'win_lock', variant => 'many', configs => ['1x16'], longer => ['4x4/node'],
      quick => [], plain => 0, args => '--rounds 100' },
    { program => 'win_pscw', configs => [qw(1x4 2x2)], longer => [qw(1x1 1x7 1x16 3x3/node 3x3/tcp)] },
    { program => 'win_fence', configs => [qw(1x4 2x2)], longer => [qw(1x1 1x7 3x3/node)] },
    { program => 'win_flush', configs => ['2x1/node'], longer => [qw(2x1/tcp)], plain => 0,
      quick => [] },
    { program => 'win_flush', variant => 'shared', configs => [qw(2x2)], longer => ['1x4'],
      plain => 0, quick => [], args => '--flags 10' },
    { program => 'win_flush', variant => 'threads', configs => ['1x2'], plain => 0, quick => ['1x2'],
      args => '--rounds 200000' },
    # Large counts, with Open MPI 6.
    { program => 'win_counts', configs => [qw(1x2 2x1/node)], longer => ['2x1/tcp'], plain => 0 },
    { program => 'win_counts', variant => 'accumulate', long => 1, configs => [qw(1x2 2x1/node)],
      quick => [], plain => 0, args => '--accumulate 1', timeout => 300 },
    # Several threads on a handle.
    { program => 'win_threads', configs => [qw(1x4 2x2)], longer => [qw(1x1 4x1/tcp 3x3/node)],
      plain => 0 },
    { program => 'win_threads', variant => 'bounded', configs => ['2x2/tcp'], plain => 0, quick => [],
      args => '--rounds 12', mca => 'osc_epwin_pending_limit 4096 osc_epwin_rendezvous_limit 8192' },
    { program => 'win_sync_errors', configs => [qw(1x4 2x2/tcp)], longer => [qw(1x1 2x2/node)],
      plain => 0 },
);

1;
