#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# ranks.t: ways to start an unmodified program with its ranks as threads, and what is said where that
# cannot be.
#
# Guards: ompi/mpiext/endpoints/tools/epmpirun.in, ompi/mpiext/endpoints/tools/epranks.in, epinfo.c, count.c,
# cores.c, refused.c, environment.c, hook_connect.c

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;

my $top    = dirname(dirname(dirname(abs_path(__FILE__))));
my $folder = tempdir('ranks-XXXXXX', TMPDIR => 1, CLEANUP => 1);

$ENV{OMPI_MCA_btl_tcp_if_include} //= 'lo';
delete $ENV{OMP_NUM_THREADS};

sub compile
{
    my ($name, $text, $compiler, $behind) = @_;

    open(my $out, '>', "$folder/$name.c") or die $!;
    print $out $text;
    close $out or die $!;
    is(system("$compiler -o $folder/$name $folder/$name.c " . ($behind // '')), 0, "$name compiles");
}

compile('hello', <<'END', 'mpicc -fopenmp');
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;
    cpu_set_t cores;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sched_getaffinity(0, sizeof(cores), &cores);
    printf("%d of %d %s: %d cores, %d threads\n", rank, size, argc > 1 ? argv[1] : "",
           CPU_COUNT(&cores), omp_get_max_threads());
    MPI_Finalize();
    return 0;
}
END

compile('wrong', <<'END', 'mpicc');
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    MPI_Comm other;
    MPI_Session session;
    int level;

    if (0 == strcmp(argv[1], "finalize-first")) {
        MPI_Finalize();
    }
    MPI_Init(&argc, &argv);
    if (0 == strcmp(argv[1], "init-twice")) {
        MPI_Init(&argc, &argv);
    }
    if (0 == strcmp(argv[1], "spawn")) {
        MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other,
                       MPI_ERRCODES_IGNORE);
    }
    if (0 == strcmp(argv[1], "session")) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    }
    MPI_Finalize();
    if (0 == strcmp(argv[1], "query-late")) {
        MPI_Query_thread(&level);
    }
    if (0 == strcmp(argv[1], "finalize-twice")) {
        MPI_Finalize();
    }
    return 0;
}
END

sub rank_of
{
    my ($line) = @_;

    return $line =~ /^(\d+)/ ? "$1" : -1;
}

# The lines that ranks print, sorted by rank.
sub printed
{
    my ($command) = @_;
    my $text = qx($command 2>&1);

    return join '', sort { rank_of($a) <=> rank_of($b) } split /^/, $text;
}

sub greets
{
    my ($command, $size, @words) = @_;
    my $text = printed($command) =~ s/: .*//mgr;

    is($text, join('', map { "$_ of $size " . ($words[$_] // '') . "\n" } 0 .. $size - 1), $command =~ s/\Q$folder\///gr);
}

my $run = 'epmpirun --oversubscribe';
my $hello = "$folder/hello";
greets("$run -n 2 -ranks 3 $hello", 6);
greets("$run -n 1 -ranks 1 $hello", 1);
greets("$run -n 1 $hello a : -n 2 -ranks 2 $hello b", 5, 'a', ('b') x 4);
greets("mpirun --oversubscribe -n 3 epranks 2 $hello", 6);
greets("$run -ranks auto -np 3 $hello", 3);
# Shares of a total, by each process's place: 2, 1, 1; and 1, 1, none.
greets("epmpirun --map-by ppr:3:node:oversubscribe --bind-to none -ranks auto -np $_ $hello", $_) for 4, 2;

# Cores: each rank has its share, of whole ones, and OpenMP as many threads; unless somebody says otherwise.
my @cores = grep { /^processor/ } do { open(my $in, '<', '/proc/cpuinfo') or die $!; <$in> };
SKIP: {
    skip 'one processor', 3 if 2 > @cores;
    like(printed("epmpirun -n 1 -ranks 2 --map-by slot:pe=2 $hello"), qr/(?:\d of 2 : (\d+) cores, \d+ threads\n){2}/, 'two ranks');
    like(printed("$run --bind-to none -n 1 -ranks 2 $hello"), qr/^0 of 2 : @{[scalar @cores]} cores, \d+ threads\n/m,
         'not bound where the user says so');
    like(printed("$run -n 1 -x OMP_NUM_THREADS=3 -ranks 2 $hello"), qr/, 3 threads\n.*, 3 threads\n/,
         'as many threads as the user says');
}

my $epinfo = printed("$run -n 2 -ranks 3 epinfo");
unlike($epinfo, qr/^epmpirun -ranks: /m, 'epinfo: nothing that ranks share is set by several');
like($epinfo, qr/, 6 ranks as threads with 1 endpoint each\n.*^  ranks +3 as threads of this process; not bound/ms,
     'epinfo');
# The example: the same with processes and with threads.
is(system("mpicc -o $folder/heat $top/examples/heat.c -lm"), 0, 'heat.c compiles');
is(printed("$run -n 2 -ranks 2 $folder/heat 20"), printed("mpirun --oversubscribe -n 4 $folder/heat 20"), 'heat');

# A tool of the profiling interface: its MPI_Init comes once for each rank; linked into the program, or a library
# of it, it counts its rank alone, preloaded all ranks of the process, which have ended when as many have as began.
my $tool = <<'END';
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>

static _Atomic int inits, sends, ends;

int MPI_Init(int *argc, char ***argv)
{
    ++inits;
    return PMPI_Init(argc, argv);
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    ++sends;
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Finalize(void)
{
    if (++ends == inits) {
        printf("tool: %d inits, %d sends\n", inits, sends);
    }
    return PMPI_Finalize();
}
END
my $program = <<'END';
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, got;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
compile('libtool.so', $tool, 'mpicc -shared -fPIC');
compile('linked', $program . $tool =~ s/^#include <mpi.h>\n//r, 'mpicc');
compile('plain', $program, 'mpicc');
is(printed("$run -n 1 -ranks 3 $folder/linked"), "tool: 1 inits, 1 sends\n" x 3, 'a tool in the program');
is(printed("LD_PRELOAD=$folder/libtool.so $run -n 1 -ranks 3 $folder/plain"), "tool: 3 inits, 3 sends\n", 'a tool that is preloaded');

compile('with_library', $program, 'mpicc', "-L$folder -Wl,-rpath,$folder -Wl,--no-as-needed -ltool");
is(printed("$run -n 1 -ranks 3 $folder/with_library"), "tool: 1 inits, 1 sends\n" x 3, 'a tool in a library of the program');

# What is said, and that the job fails.
sub says
{
    my ($command, $text) = @_;
    my $out = qx($command 2>&1);

    like($out, $text, $command =~ s/\Q$folder\///gr);
    isnt($?, 0, 'its status');
}

says("$run -n 1 -x MPIX_RANKS=$_ -x LD_PRELOAD=\$(epmpirun --showme -ranks 1 a | sed 's/.*LD_PRELOAD=//; s/ .*//') $hello",
     qr/^epmpirun -ranks: MPIX_RANKS=\Q$_\E: it has to be a number from 1 on$/m) for qw(x 0 -3 4x 99999999999999999999);
says("$run -n 1 -ranks 2 $folder/wrong $_->[0]", qr/^epmpirun -ranks: rank \d has called $_->[1]/m)
    for ['finalize-first', 'MPI_Finalize before MPI_Init'], ['init-twice', 'MPI_Init a second time'],
        ['query-late', 'MPI_Query_thread after MPI_Finalize'], ['finalize-twice', 'MPI_Finalize after MPI_Finalize'],
        ['spawn', 'MPI_Comm_spawn, which does not work'], ['session', 'MPI_Session_init, which does not work'];
# Children with ranks, of processes.  All are in the parents' remote group, or each process's first.
compile('parents', <<'END', 'mpicc');
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char *words[] = {"2", argv[0], "child", NULL};
    int rank, local, remote, sum = -1;
    MPI_Comm other;
    MPI_Info info;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (0 == strcmp(argv[1], "child")) {
        MPI_Comm_get_parent(&other);
    } else {
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpix_remote_group", argv[1]);
        MPI_Comm_spawn("epranks", words, 2, info, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
        MPI_Info_free(&info);
    }
    MPI_Comm_size(other, &local);
    MPI_Comm_remote_size(other, &remote);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, other);
    printf("%d of %d %s, with %d: %d\n", rank, local, argv[1], remote, sum);
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return 0;
}
END
is(join('', sort split /^/, qx($run -n 3 $folder/parents endpoints 2>&1)),
   join('', sort +(map { "$_ of 4 child, with 3: 3\n" } 0 .. 3), (map { "$_ of 3 endpoints, with 4: 6\n" } 0 .. 2)),
   'spawned with ranks');
# Debian's launcher does not always end the parent, which waits for a child that has ended.
# It may also end the job before the text comes that says what to do.
says("timeout -k 5 30 $run -n 1 $folder/parents processes",
     qr/^epranks: rank [13] has called MPI_Comm_get_parent, and has no parents|An error occurred in MPI_Comm_get_parent\n/m);

says("epranks $_", qr/^usage: epranks/) for '', 'x true', 2;

done_testing();
