#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# tools.t BUILD-FOLDER: a tool of MPI's profiling interface sees each call once, whether it is preloaded,
# linked as a library before ours or behind it, or an archive; by the wrappers and by CMake.
#
# Guards: next_function.c, init_endpoint.c, init_libmpi.c, init_mpi.c

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use Test::More;

use Ept::Build;
use Ept::Installed qw(output);

my $build = shift // die "usage: tools.t BUILD-FOLDER\n";
my $here = abs_path(dirname(__FILE__));
my $folder = abs_path($build) . '/install-tools';
my $cc = $ENV{CC} || 'cc';

# In the order of the tool: of a dup of MPI_COMM_WORLD, and of an endpoint.
my %COUNTS = (
    init => '2 2 2 2 2 1 0 1 2 2 2 2 2',
    thread => '2 2 2 2 2 0 1 1 2 2 2 2 2',
    endpoint => '2 2 2 2 2 0 1 1 2 2 2 2 2', # begins by MPI_Init_thread, as the tool has it
);

remove_tree($folder);
make_path($folder);

sub sees
{
    my ($program, $what, @options) = @_;

    for my $how (sort keys %COUNTS) {
        is(output("epmpirun --oversubscribe -n 1 @options '$program' $how"), "tool: $COUNTS{$how}",
           "$what, $how");
    }
}

my $compile = output('mpicc --showme:compile');
my ($libdir) = split ' ', output('epmpicc --showme:libdirs');
my $mpi = output('mpicc --showme:link');
my $made = output("$cc -fPIC -shared '$here/tool.c' -o '$folder/libtool.so' $compile");
$made .= output("$cc -c '$here/tool.c' -o '$folder/tool.o' $compile && ar rcs '$folder/libarchive.a' '$folder/tool.o'");
$made .= output("epmpicc -c '$here/tool_program.c' -o '$folder/program.o'");
is($made, '', 'all compiles');

is(output("epmpicc '$folder/program.o' -o '$folder/alone'"), '', 'without the tool');
sees("$folder/alone", 'preloaded', '-x', "LD_PRELOAD=$folder/libtool.so");

my %links = (
    'a library before ours' => "epmpicc '$folder/program.o' -L'$folder' -ltool -Wl,-rpath,'$folder'",
    'a library behind ours' => "$cc '$folder/program.o' -Wl,--no-as-needed -L'$libdir' -L'$folder' "
        . "-lmpix_endpoints -ltool $mpi -Wl,-rpath,'$libdir',-rpath,'$folder'",
    'an archive' => "epmpicc '$folder/program.o' -L'$folder' -larchive",
);
for my $how (sort keys %links) {
    is(output("$links{$how} -o '$folder/linked'"), '', "$how links");
    sees("$folder/linked", $how);
}

SKIP: {
    skip 'no cmake (Debian: cmake)', 8 if !Ept::Build::on_path('cmake');
    for my $kind (qw(SHARED STATIC)) {
        my $tree = "$folder/cmake-$kind";
        my $log = output("cmake -S '$here/cmake' -B '$tree' -DSOURCE='$here/tool_program.c'"
            . " -DTOOL='$here/tool.c' -DTOOL_KIND=$kind -DCMAKE_PREFIX_PATH='" . dirname($libdir)
            . "' && cmake --build '$tree'");

        is($?, 0, "CMake, $kind") or diag($log);
        sees("$tree/asks", "CMake, $kind");
    }
}

done_testing();
