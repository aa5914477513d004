#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that know nothing of endpoints, test/ranks/, with their ranks as threads: "2r4" is two
# processes of four ranks.  With --plain they run with processes.
# What an entry is: lib/Ept/Matrix.pm.

package Ept::Table::Ranks;

use strict;
use warnings;

my %OPTIONS = (ranks_basic => '-a -c 17 -b last', 'ranks_cg.F90' => 60, ranks_farm => '-t 100 -s 17');

# How a rank ends (ranks_exit): arguments, the launcher's status, what is said.
my @ENDS = (
    ['exit5 1 before', 5, 'rank 1 of 4 has ended with status 5'], ['exit5 0 in', 5, 'rank 0 of 4 .* 5'],
    ['exit5 2 in', 5, 'rank 2 of 4 .* 5'], ['exit5 3 after', 5, 'rank 3 of 4 .* 5'],
    ['exit267 1 in', 11, 'rank 1 of 4 .* 11'], ['return4 1 in', 4, 'rank 1 of 4 .* 4'],
    ['again 1 in', 22, 'rank 1 of 4 .* 22'], ['exit0 1 before', 1, 'rank 1 of 4 .* without MPI_Init'],
    ['exit0 1 in', 1, 'rank 1 of 4 .* without MPI_Finalize'], ['_exit5 1 in', 5, 'rank 1 of 4 .* 5'],
    ['_exit0 0 in', 1, 'rank 0 of 4 .* without MPI_Finalize'], ['quick5 2 after', 5, 'rank 2 of 4 .* 5'],
    ['abort 1 before', 134, 'rank 1 of 4: Aborted'], ['abort 0 in', 134, 'rank 0 of 4: Aborted'],
    ['t:exit0 1 before', 1, 'rank 1 of 4 .* without MPI_Init'],
    ['comm_rank 1 before', 1, 'rank 1 has called MPI_Comm_rank before MPI_Init'],
    ['comm_rank 0 after', 1, 'rank 0 has called MPI_Comm_rank after MPI_Finalize'],
    ['irecv 2 before', 1, 'rank 2 has called MPI_Irecv before MPI_Init'],
    ['mpi_abort 1 in', 7, 'rank 1 of 4, in Proc: '], ['fatal 3 in', 6, 'in MPI_Send.*reported by rank 3 of 4, in process .*MPI_ERR_RANK'],
    ['null 3 in', 139, 'rank 3 of 4: Segmentation fault'],
    ['null 0 after', 139, 'rank 0 of 4: Segmentation fault'],
    ['divide 1 before', 136, 'rank 1 of 4: Floating point exception'],
    ['assert 1 in', 134, 'Assertion .*rank 1 of 4: Aborted'], ['err 1 in', 9, 'errx of rank 1.*rank 1 of 4'],
    ['overflow 1 in', 139, 'rank 1 of 4: Segmentation fault'],
    ['overflow 0 in', 139, 'rank 0 of 4: Segmentation fault'],
    ['t:exit5 1 in', 5, 'rank 1 of 4 .* 5'], ['t:exit0 1 in', 1, 'rank 1 of 4 .* without MPI_Finalize'],
    ['t:null 1 in', 139, 'rank 1 of 4: Segmentation fault'], ['t:abort 2 after', 134, 'rank 2 of 4: Aborted'],
);

our @ENTRIES = (
    (map { +{ program => $_, args => $OPTIONS{$_} // '', configs => [qw(1r4 2r2)],
              longer => [qw(1r1 4r1/node 2r4)] } } qw(ranks_basic ranks_cxx ranks_file
                                                  ranks_library ranks_mpi ranks_omp)),
    { program => 'ranks_window', configs => [qw(1r4 2r2/node)] }, # (shared memory)
    # State of libc.  These compare what is printed with what processes print.
    (map { +{ program => $_, kind => 'same', configs => ['1r4'], longer => ['2r2/node'], plain => 0 } }
        qw(ranks_getopt ranks_random)),
    (map { +{ program => $_, configs => ['1r4'], longer => ['2r2/node'] } }
        qw(ranks_stdio ranks_results ranks_environment ranks_directory ranks_signals ranks_threads)),
    (map { my ($args, $status, $says) = @$_;
           +{ program => 'ranks_exit', variant => $args =~ tr/ /-/r, kind => 'fatal', args => $args,
              status => $status, says => $says, configs => ['1r4'], quick => [], plain => 0 } } @ENDS),
    # A process dies before MPI_Finalize, which is no error of the survivors' MPI_Finalize.
    { program => 'ranks_exit', variant => 'killed', kind => 'fatal', args => 'killed 1 last', status => 0,
      launcher => '--with-ft ulfm', says => 'MPI has ended without', configs => ['4r1/node'],
      longer => ['4r1/tcp'], quick => [], plain => 0 },
    # No rank of a process calls MPI_Init.
    { program => 'ranks_exit', variant => 'no-init', kind => 'fatal', args => 'exit0 2+ before', status => 1,
      says => 'rank [23] of 4 .* without MPI_Init', configs => ['2r2/node'], quick => [], plain => 0 },
    { program => 'ranks_exit', variant => 'no-mpi', kind => 'same', args => 'exit0 0+ before', configs => ['2r2/node'],
      quick => [], plain => 0 },
    (map { +{ program => 'ranks_exit', variant => tr/ /-/r, kind => 'same', args => $_, configs => ['1r4'],
              quick => [], plain => 0 } }
        'exit0 -1 before', 'exit0 0 after', '_exit0 1 after', '_exit0 -1 after', 'quick0 2 after',
        'quick0 -1 after', 'pthread_exit 1 after', 'pthread_exit 0 after', 'linger 1 after', 't:exit0 1 after', 't:exit0 0 after'),
    { program => 'ranks_exit', variant => 'tag', kind => 'fatal', args => 'exit5 1 in', status => 5,
      env => 'MPIX_RANKS_TAG=1', says => '\\[1\\] on_exit of rank 1, 5, argument\\n', configs => ['1r4'],
      quick => [], plain => 0 },
    { program => 'ranks_told', kind => 'fatal', status => 0, configs => ['1r4'], quick => [], plain => 0,
      once => 'OMPI_MCA_ept_no_such', says => '(?=.*setlocale\\()(?=.*alarm by rank)(?=.*rank 1 executes)' },
    (map { +{ program => 'ranks_throw', variant => $_, kind => 'fatal', args => "$_ 1", status => 134,
              says => 'of rank 1.*rank 1 of 4: Aborted', configs => ['1r4'], quick => [], plain => 0 } }
        qw(throw thread)),
    (map { +{ program => 'ranks_throw', variant => $_, kind => 'same', args => "$_ 0", configs => ['1r4'],
              quick => [], plain => 0 } } qw(exit return)),
    # Compilers and their options: each has the linker make other references, or other relocations.
    (map { my ($variant, $flags, $compiler) = @$_;
           +{ program => 'ranks_basic', variant => $variant, flags => $flags, compiler => $compiler,
              args => $OPTIONS{ranks_basic}, configs => ['1r3'], quick => [], plain => 0 } }
        [O0 => '-O0 -g'], [debug => '-O2 -g3'], [stripped => '-O2 -s'], [now => '-O2 -Wl,-z,now'],
        [lazy => '-O2 -Wl,-z,lazy'], [noplt => '-O2 -fno-plt'], [pic => '-O2 -fPIC'],
        [lto => '-O2 -flto=auto'], [relr => '-O2 -Wl,-z,pack-relative-relocs'],
        [rdynamic => '-O2 -rdynamic'], [got => '-O2 -mno-direct-extern-access'],
        [clang => '-O2', 'clang']),
    (map { my ($variant, $flags, $compiler) = @$_;
           +{ program => 'ranks_cxx', variant => $variant, flags => $flags, compiler => $compiler,
              configs => ['1r3'], quick => [], plain => 0 } }
        [O0 => '-O0 -g'], [lto => '-O2 -flto=auto'], [got => '-O2 -mno-direct-extern-access'],
        [relr => '-O2 -Wl,-z,pack-relative-relocs']),
    { program => 'ranks_cxx', variant => 'private', env => 'MPIX_RANKS_PRIVATE=libstdc++.so.6', args => 'flags',
      configs => ['1r3'], quick => [], plain => 0 },
    (map { +{ program => 'ranks_fortran.F90', variant => $_, interface => $_, configs => ['1r4'],
              longer => ['2r2'] } } qw(mpifh mpi f08)),

    # How copies are loaded.
    (map { +{ program => $_, configs => ['1r4'], longer => ['2r2'] } }
        qw(ranks_at_exit ranks_plugin ranks_static_tls ranks_templates)),
    { program => 'ranks_static_tls', variant => 'tunables', configs => ['1r40'], quick => [], plain => 0,
      env => 'GLIBC_TUNABLES=glibc.malloc.perturb=0:glibc.rtld.optional_static_tls=64 '
             . 'RANKS_TUNABLE=glibc.malloc.perturb=0:' },
    { program => 'ranks_memory', configs => ['1r16'], quick => [], plain => 0 },
    { program => 'ranks_malloc', configs => ['1r4'], quick => [], plain => 0 },
    { program => 'ranks_malloc', variant => 'tuned', args => 'tuned', env => 'MALLOC_ARENA_TEST=4', configs => ['1r4'],
      quick => [], plain => 0 },
    (map { +{ program => $_, variant => 'hardened', preload => 'no_written_code', configs => ['1r3'],
              quick => [], plain => 0 } } qw(ranks_library ranks_templates)),
    (map { +{ program => $_, variant => 'files', env => 'MPIX_RANKS_FILES=1', configs => ['2r2/node'],
              quick => [], plain => 0 } } qw(ranks_library ranks_plugin)),
    { program => 'ranks_library', variant => 'no_memory', preload => 'no_code', configs => ['1r3'],
      quick => [], plain => 0 },
    { program => 'ranks_library', variant => 'verbose', env => 'MPIX_RANKS_VERBOSE=1', configs => ['2r2/node'],
      quick => [], plain => 0, says => 'copied for each rank.*ranks_library_own.*it has state' },
    (map { my ($variant, $flags, $says) = @$_;
           +{ program => 'ranks_not_copied', variant => $variant, flags => $flags, kind => 'fatal', status => 1,
              says => $says, once => 'epmpirun -ranks:', configs => ['2r2/node'], quick => [], plain => 0 } }
        [nopie => '-O2 -no-pie', 'not position-independent \\(link it with -pie'],
        [unknown => '-O2 -DTEST_UNKNOWN', 'uses ompi_mpi_int in an unknown way'],
        [sanitizer => '-O2 -DTEST_SANITIZER', 'has a sanitizer \\(__asan_init\\)']),

    # Small stand-ins for applications: the same results as with processes.
    (map { +{ program => $_, kind => 'same', args => $OPTIONS{$_} // '', configs => ['2r2/node'],
              longer => [qw(1r4 2r2/tcp 4r1/node)], plain => 0 } }
        qw(ranks_stencil ranks_cg.F90 ranks_farm)),
    { program => 'ranks_stencil', variant => 'clang', compiler => 'clang', kind => 'same', configs => ['1r4'],
      quick => [], plain => 0 },
);

1;
