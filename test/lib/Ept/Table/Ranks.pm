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

our @ENTRIES = (
    (map { +{ program => $_, args => $OPTIONS{$_} // '', configs => [qw(1r4 2r2)],
              longer => [qw(1r1 4r1/node 2r4)] } } qw(ranks_basic ranks_cxx ranks_file
                                                  ranks_library ranks_mpi ranks_omp)),
    { program => 'ranks_window', configs => [qw(1r4 2r2/node)] }, # (shared memory)
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
    (map { +{ program => 'ranks_fortran.F90', variant => $_, interface => $_, configs => ['1r4'],
              longer => ['2r2'] } } qw(mpifh mpi f08)),

    # Small stand-ins for applications: the same results as with processes.
    (map { +{ program => $_, kind => 'same', args => $OPTIONS{$_} // '', configs => ['2r2/node'],
              longer => [qw(1r4 2r2/tcp 4r1/node)], plain => 0 } }
        qw(ranks_stencil ranks_cg.F90 ranks_farm)),
    { program => 'ranks_stencil', variant => 'clang', compiler => 'clang', kind => 'same', configs => ['1r4'],
      quick => [], plain => 0 },
);

1;
