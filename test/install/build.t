#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# build.t BUILD-FOLDER: a program is compiled with the wrappers, with pkg-config's flags and with CMake,
# and runs; what the wrappers show.
#
# Guards: component_path.c, in_force.c, libraries.c, originals.c, probe.c, slots.c

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use Test::More;

use Ept::Build;
use Ept::Installed qw(output runs);

my $build = shift // die "usage: build.t BUILD-FOLDER\n";
my $here = dirname(__FILE__);
my $folder = "$build/install-test";

remove_tree($folder);
make_path($folder);

# What the wrappers show, form by form: ours in front.
for my $wrapper (qw(epmpicc epmpicxx)) {
    SKIP: {
        skip "no $wrapper", 9 if !Ept::Build::on_path($wrapper);
        my %shows = map { $_ => output("$wrapper --showme:$_") }
            qw(command compile link incdirs libdirs libs version);
        my ($include) = $shows{incdirs} =~ /^(\S+)/;
        my ($library) = $shows{libdirs} =~ /^(\S+)/;

        ok(-f "$include/mpiext/mpiext_endpoints_c.h", "$wrapper --showme:incdirs");
        ok(-e "$library/libmpix_endpoints.so", "$wrapper --showme:libdirs");
        like($shows{libs}, qr/^mpix_endpoints mpi\b/, "$wrapper --showme:libs");
        like($shows{compile}, qr/^-I\Q$include\E /, "$wrapper --showme:compile");
        like($shows{link}, qr/^-L\Q$library\E .*-lmpix_endpoints -lmpi\b/, "$wrapper --showme:link");
        unlike($shows{command}, qr/-I|-l/, "$wrapper --showme:command");
        like($shows{version}, qr/^\Q$wrapper\E: Open MPI Endpoints \d.*^mpi\S+: Open MPI \d/ms,
             "$wrapper --showme:version");
        my $all = output("$wrapper --showme x.c");
        like($all, qr/^\S+ x\.c -I\Q$include\E .*-lmpix_endpoints -lmpi\b/, "$wrapper --showme");
        like(output("OMPI_LIBS=-lm OMPI_MPICPPFLAGS=-DX $wrapper --showme x.c"),
             qr/-I\Q$include\E -DX .*-lmpix_endpoints -lm$/, "$wrapper with flags of the user's");
    }
}

is(output("epmpicc '$here/asks.c' -o '$folder/c'"), '', 'epmpicc compiles');
runs("$folder/c", 'and it runs');
SKIP: {
    skip 'no epmpicxx', 2 if !Ept::Build::on_path('epmpicxx');
    skip 'no compiler for C++', 2 if 0 != system('epmpicxx --version >/dev/null 2>&1');
    is(output("epmpicxx -x c++ '$here/asks.c' -o '$folder/cxx'"), '', 'epmpicxx compiles');
    runs("$folder/cxx", 'and it runs');
}

SKIP: {
    # Open MPI 5 does not have it.
    skip 'no MPI ABI', 9 if !Ept::Build::has_abi();
    like(output('epmpicc_abi --showme:libs'), qr/^mpix_endpoints_abi mpi_abi\b/,
         'epmpicc_abi --showme:libs');
    like(output('epmpicc_abi --showme:compile'), qr{^-I\S+/standard_abi -I\S+/standard_abi},
         'epmpicc_abi --showme:compile');
    for my $wrapper ('epmpicc_abi', 'epmpicc --abi') {
        is(output("$wrapper '$here/asks.c' -o '$folder/abi'"), '', "$wrapper compiles");
        runs("$folder/abi", 'and it runs');
    }
    # Nothing that it calls is libmpi_abi's alone, so the linker leaves that out.
    like(output('epmpicc_abi -world --showme:libs'), qr/^mpix_world_abi mpix_endpoints_abi mpi_abi\b/,
         'epmpicc_abi -world --showme:libs');
    is(output("epmpicc_abi -world -Wl,--as-needed '$here/asks.c' -o '$folder/abi_world'"), '',
       'epmpicc_abi -world compiles');
    runs("$folder/abi_world", 'and it runs');
}
like(output('epmpicc --abi --showme:version'), qr/no wrapper for the MPI ABI here/,
     'epmpicc --abi, where there is none') if !Ept::Build::has_abi();

# No run path in there: as a user does without a module file.
my $cc = $ENV{CC} || 'cc';
my $libdir = output('pkg-config --variable=libdir mpix_endpoints');
is(output("$cc '$here/asks.c' -o '$folder/pc' \$(pkg-config --cflags --libs mpix_endpoints)"), '',
   "pkg-config's flags compile");
{
    local $ENV{LD_LIBRARY_PATH} = $libdir;
    runs("$folder/pc", 'and it runs');
}

SKIP: {
    skip 'no cmake (Debian: cmake)', 6 if !Ept::Build::on_path('cmake');
    for my $order (qw(mpi ours)) {
        my $tree = "$folder/cmake-$order";
        my $log = output("cmake -S '$here/cmake' -B '$tree' -DORDER=$order -DSOURCE="
            . abs_path("$here/asks.c") . " -DCMAKE_PREFIX_PATH='" . dirname($libdir) . "'");

        is($?, 0, "cmake, $order first") or diag($log);
        $log = output("cmake --build '$tree'");
        is($?, 0, 'and it compiles') or diag($log);
        runs("$tree/asks", 'and it runs');
    }
}

done_testing();
