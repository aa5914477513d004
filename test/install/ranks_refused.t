#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# ranks_refused.t: what cannot run with its ranks as threads is reported before it runs, and what is short is
# provided.  Programs that cannot be copied are in test/ranks/ranks_not_copied.c.
#
# Guards: ompi/mpiext/endpoints/tools/epmpirun.in, check.c, count.c, files.c, static_tls.c

use strict;
use warnings;

use File::Copy qw(copy);
use File::Temp qw(tempdir);
use Test::More;

my $folder = tempdir('ranks-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $run = 'epmpirun --oversubscribe -n 1';

$ENV{OMPI_MCA_btl_tcp_if_include} //= 'lo';

sub compile
{
    my ($name, $text, $compiler, $behind) = @_;

    open(my $out, '>', "$folder/$name.c") or die $!;
    print $out $text;
    close $out or die $!;
    is(system("$compiler -o $folder/$name $folder/$name.c " . ($behind // '')), 0, "$name compiles");
}

# A job prints a line that matches, and succeeds, or fails.
sub says
{
    my ($command, $text, $is_well) = @_;
    my $out = qx($command 2>&1);

    like($out, $text, $command =~ s/\Q$folder\///gr);
    is($? ? 'fails' : 'succeeds', $is_well ? 'succeeds' : 'fails', 'its status');
    unlike($out, qr/^hello/m, 'does not run') if !$is_well;
}

my $hello = <<'END_OF_C';
#include <mpi.h>
#include <stdio.h>

extern int step(void);

int main(int argc, char **argv)
{
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("hello %d of %d\n", step(), size);
    MPI_Finalize();
    return 0;
}
END_OF_C

# Own libraries: with thread-local variables at fixed places, and one that has the name of another's.
compile('libtls.so', "__thread int values[1000] = {1}; int step(void) { return ++values[0]; }\n",
        'cc -shared -fPIC -ftls-model=initial-exec');
compile('libother.so', "int other;\n", "cc -shared -fPIC -Wl,-soname,$_->[0]"), copy("$folder/libother.so", "$folder/$_->[0]"),
    compile($_->[1], $hello, 'mpicc', "-L$folder -Wl,-rpath,$folder -Wl,--no-as-needed -lother -ltls")
    for ['libmpi_abi.so.0', 'abi'], ['libtsan.so.2', 'tsan'];
compile('hello', $hello, 'mpicc', "-L$folder -Wl,-rpath,$folder -ltls");

# Which compilers give programs, or what they are.
says("$run -ranks 2 $folder/abi", qr/^epmpirun -ranks: the program is linked with libmpi_abi\.so\.0, the MPI ABI, .*: compile it with mpicc/m);
says("$run -ranks 2 $folder/tsan", qr/^epmpirun -ranks: the program has a sanitizer \(libtsan\.so\.2\), .*run it with processes/m);
copy("$folder/hello", "$folder/rights");
for my $mode (04755, 02755) {
    chmod $mode, "$folder/rights";
    says("$run -ranks 2 $folder/rights", qr/^epmpirun: -ranks: \S+ is setuid or setgid: run it with processes$/m);
}

# Numbers.
says("$run -ranks 65537 $folder/hello", qr/^epmpirun -ranks: 65537 ranks in one process are too many$/m);
says("$run --mca pml_epml_max_endpoints 2 -ranks 3 $folder/hello",
     qr/^  Endpoints asked for here: 3\n.*^  Limit: +2\n.*^The limit is the MCA parameter pml_epml_max_endpoints\.$/ms);

# Descriptors: one for each copy of the two files.  The soft limit is raised; the hard one is what it is, except
# where copies are files.  A shell runs as it is.
says("$run -ranks 40 sh -c 'ulimit -Sn 70; exec $folder/hello'", qr/(?:^hello 2 of 40\n){40}/m, 1);
says("$run -ranks 40 sh -c 'ulimit -n 100; exec $folder/hello'",
     qr/^epmpirun -ranks: 39 copies of 2 files: too many open files: raise the hard limit \(ulimit -Hn\), or set MPIX_RANKS_FILES=1$/m);
says("$run --ranks-files -ranks 40 sh -c 'ulimit -n 100; exec $folder/hello'", qr/(?:^hello 2 of 40\n){40}/m, 1);

# Static thread-local storage: the program is started anew, which needs its file.
says("$run -ranks 3 sh -c 'cp $folder/hello $folder/gone; exec 3<$folder/gone; rm $folder/gone; exec /proc/self/fd/3'",
     qr/^epmpirun -ranks: private libraries need \d+ bytes of static thread-local storage: set GLIBC_TUNABLES=glibc\.rtld\.optional_static_tls=\d+ \(/m);

done_testing();
