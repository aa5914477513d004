#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# ranks_debug.t: gdb with ranks as threads: a breakpoint is hit in each rank, which has its name, its frames
# and its variables.
#
# Guards: copy.c, program.c, ompi/mpiext/endpoints/tools/ranks-gdb.py

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;

my $top = dirname(dirname(dirname(abs_path(__FILE__))));
my $folder = tempdir('ranks-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $ranks = 3;

plan skip_all => 'no gdb with Python' if qx(gdb -nx -batch -ex 'python print(6 * 7)' 2>&1) !~ /^42$/m;
$ENV{OMPI_MCA_btl_tcp_if_include} //= 'lo';

open(my $out, '>', "$folder/app.c") or die $!;
print $out <<'END_OF_C';
#include <mpi.h>

int value = -1;

__attribute__((noinline)) static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &value);
    barrier();
    MPI_Finalize();
    return 0;
}
END_OF_C
close $out or die $!;
is(system("mpicc -g -O1 -o $folder/app $folder/app.c"), 0, 'it compiles');

# The first instruction of barrier loads MPI_COMM_WORLD, which is changed in each copy and in the executable.
my @look = ('continue', 'bt', 'print $own("value")', 'print $_thread');
my @commands = ('set breakpoint pending on', 'set width 0', 'break -function barrier', 'run', @look[1 .. 3],
                (@look) x ($ranks - 1), 'continue');
for my $files ('', '--ranks-files') {
    my $command = join ' ', "epmpirun --oversubscribe -n 1 -ranks $ranks $files gdb -nx -batch",
        "-x $top/ompi/mpiext/endpoints/tools/ranks-gdb.py", (map { "-ex '$_'" } @commands), "$folder/app";
    my $text = qx($command </dev/null 2>&1);
    my @hit = $text =~ /^Thread \d+ "(rank-\d+)" hit Breakpoint/mg;
    my @value = $text =~ /^\$\d+ = (-?\d+)$/mg;
    my $where = $files || 'in memory';

    is(join(' ', sort @hit), 'rank-0 rank-1 rank-2', "each rank stops, by its name: $where");
    is(join(' ', map { 'rank-' . ($value[2 * $_] // 'none') } 0 .. $ranks - 1), join(' ', @hit), "has its variable: $where");
    is(() = $text =~ /^#1 +0x\w+ in main \(argc=/mg, $ranks, "and its frames: $where");
    like($text, qr/exited normally/, "the program goes on: $where");
    unlike($text, qr/not at the expected address/, "gdb takes files for what they are: $where");
    diag($text) if !Test::More->builder->is_passing;
}

done_testing();
