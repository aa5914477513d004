#!/usr/bin/perl
#
# Copyright (c) 2026      The Open MPI Endpoints project contributors.
#                         All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# launcher.t: what epmpirun makes of its options, and of nonsense; and several programs as one job.
#
# Guards: ompi/mpiext/endpoints/tools/epmpirun.in

use strict;
use warnings;

use Test::More;

delete @ENV{qw(PRTE_MCA_hwloc_default_binding_policy PRTE_MCA_rmaps_default_mapping_policy
               SLURM_JOB_ID PBS_JOBID MPIX_ENDPOINTS_STATIC)};

# The command line that it would run, without the launcher's own path.
sub shown
{
    my $text = qx(epmpirun --showme @_ 2>&1);

    chomp $text;
    return 0 == $? ? $text =~ s/^\S*mpirun\S* //r : "$? $text";
}

sub is_shown
{
    my ($options, $right) = @_;

    is(shown($options), $right, $options);
}

sub fails
{
    my ($options, $why) = @_;

    like(shown($options), qr/^256 epmpirun: $why/, $options);
}

# Cores, not what OpenMP is told.
delete @ENV{qw(OMP_NUM_THREADS OMP_THREAD_LIMIT)};
chomp(my $cores = qx(nproc));
my $many = $cores + 1;

# What all programs get if one of them asks for endpoints in a job that may be a large one.
my $look = '-x MPIX_ENDPOINTS_STATIC=1';

# Not ours: as it came, but for the place of the number of processes.
is_shown('-n 2 ./app', '-n 2 ./app');
is_shown('./app', './app');
is_shown('--version', '--version');
is_shown('--oversubscribe -np 3 ./app', '-n 3 --oversubscribe ./app');
is_shown('-n 1 ./app -asp 3 -endpoints x', '-n 1 ./app -asp 3 -endpoints x');
is_shown('--unknown ./app -asp 4', '--unknown ./app -asp 4');
is_shown('-x A --mca btl_x -asp -H n1 ./app', '-x A --mca btl_x -asp -H n1 ./app');
is_shown('-n 2 -bind-to none ./app', '-n 2 -bind-to none ./app');
is_shown('-n 1 -report-uri F ./app', '-n 1 -report-uri F ./app');
is_shown('-n 1 --gpu-support 0 ./app', '-n 1 --gpu-support 0 ./app');
is_shown('-n 1 --unheard-of value ./app', '-n 1 --unheard-of value ./app');
is_shown('-n 08 ./app', '-n 8 ./app');
is_shown('-n x ./app', '-n x ./app');
is_shown(q(-x 'A=b c\\n' ./app "it's"), q(-x 'A=b c\\n' ./app 'it'\\''s'));

# As many cores for each process as it has endpoints, if there are that many, unless the user has said so.
is_shown("-endpoints $many -n 1 ./app", "--bind-to none -n 1 -x MPIX_ENDPOINTS=$many ./app");
is_shown("-endpoints $many ./app", "--bind-to none -x MPIX_ENDPOINTS=$many $look ./app");
is_shown("-endpoints 64 -n 1 $_ ./app", "-n 1 -x MPIX_ENDPOINTS=64 $_ ./app")
    for '-bind-to none', '--map-by=slot', '--prtemca hwloc_default_binding_policy none';
is_shown('--hostfile=F -endpoints 64 -n 1 ./app',
         '--map-by slot:PE=64 -n 1 -x MPIX_ENDPOINTS=64 --hostfile=F ./app');
is_shown("--bind-to core -endpoints $many -n 1 ./app",
         "-n 1 -x MPIX_ENDPOINTS=$many --bind-to core ./app");
# By the program that has most.
is_shown("-endpoints $many -n 1 ./a : -n 1 ./b",
         "--bind-to none -n 1 -x MPIX_ENDPOINTS=$many ./a : -n 1 -x MPIX_ENDPOINTS= ./b");
is_shown('-endpoints 1 -n 1 ./app', '-n 1 -x MPIX_ENDPOINTS=1 ./app');
is_shown('--host n1:2 --endpoints 64 -n 2 ./app',
         '--map-by slot:PE=64 -n 2 -x MPIX_ENDPOINTS=64 --host n1:2 ./app');
SKIP: {
    skip 'one core', 4 if 2 > $cores;
    for my $threads (1, 64) {
        local $ENV{OMP_NUM_THREADS} = $threads;
        is_shown('-endpoints 2 -n 1 ./app', '--map-by slot:PE=2 -n 1 -x MPIX_ENDPOINTS=2 ./app');
    }
    is_shown('-endpoints 2 ./app', "--map-by slot:PE=2 -x MPIX_ENDPOINTS=2 $look ./app");
    is_shown('-endpoints 2 -n 1 ./app', '--map-by slot:PE=2 -n 1 -x MPIX_ENDPOINTS=2 ./app');
}

# Where processes with MPI_Init would not look by themselves: above 256, in each program of the line.
my $free = '--bind-to none';
is_shown("-endpoints 2 $free -n 256 ./app", "-n 256 -x MPIX_ENDPOINTS=2 $free ./app");
is_shown("-endpoints 2 $free -n 257 ./app", "-n 257 -x MPIX_ENDPOINTS=2 $look $free ./app");
is_shown("-asp 2 $free -n 512 ./app", "-n 256 -x MPIX_ENDPOINTS=2 $free ./app");
is_shown("-n 200 $free ./a : -endpoints 2 -n 57 ./b",
         "-n 200 $look $free ./a : -n 57 -x MPIX_ENDPOINTS=2 $look ./b");
is_shown('-n 300 ./app', '-n 300 ./app');
is_shown("-endpoints 2 -x MPIX_ENDPOINTS_STATIC=0 $free -n 300 ./app",
         "-n 300 -x MPIX_ENDPOINTS=2 -x MPIX_ENDPOINTS_STATIC=0 $free ./app");
{
    local $ENV{MPIX_ENDPOINTS_STATIC} = 0;
    is_shown("-endpoints 2 $free -n 300 ./app", "-n 300 -x MPIX_ENDPOINTS=2 $free ./app");
}

# Ranks in address spaces.
is_shown('--bind-to none -asp 4 -n 12 ./app', '-n 3 -x MPIX_ENDPOINTS=4 --bind-to none ./app');
is_shown("$_ 4 $free -n 12 ./app", "-n 3 -x MPIX_ENDPOINTS=4 $free ./app")
    for '--ranks-per-proc', '-ranks-per-proc';
fails('-asp 5 -n 12 ./app', '-asp 5 does not divide the 12 ranks of -n');
fails('-asp 5 ./app', '-asp 5 wants -n');
fails('-asp 2 -endpoints 2 -n 2 ./app', '-asp and -endpoints say the same');

# Levels.
is_shown('-threadlevel 1 ./app', '-x MPIX_THREAD_LEVEL=1 ./app');
is_shown('--threadlevel multiple ./app', '-x MPIX_THREAD_LEVEL=3 ./app');
fails('-threadlevel 4 ./app', '-threadlevel wants 0 to 3');

# Each program its own.
is_shown('--bind-to none -n 1 -endpoints 2 ./a -endpoints : -n 4 -asp 2 -threadlevel 2 ./b',
         '-n 1 -x MPIX_ENDPOINTS=2 --bind-to none ./a -endpoints : -n 2 -x MPIX_ENDPOINTS=2 '
             . '-x MPIX_THREAD_LEVEL=2 ./b');
# Open MPI 6 hands -x on to the programs behind.
is_shown('--bind-to none -endpoints 2 -n 1 ./a : -n 2 ./b : -threadlevel 1 ./c',
         "-n 1 -x MPIX_ENDPOINTS=2 $look --bind-to none ./a : -n 2 -x MPIX_ENDPOINTS= $look ./b : "
             . "-x MPIX_ENDPOINTS= -x MPIX_THREAD_LEVEL=1 $look ./c");
is_shown('-threadlevel 1 ./a : -n 2 ./b', '-x MPIX_THREAD_LEVEL=1 ./a : -n 2 -x MPIX_THREAD_LEVEL= ./b');

fails("-endpoints $_ ./app", '-endpoints wants a number from 1 on') for qw(x 0 -1 1.5 9999999999);
fails('-endpoints', '-endpoints wants a value');

# They are started, too: PMIx's own files of parameters would have crashed the launcher.
delete $ENV{PMIX_MCA_mca_base_param_files};
my @programs = map { "-n 1 -endpoints $_ sh -c 'echo told \$MPIX_ENDPOINTS'" } 2, 3;
my $out = qx(epmpirun --oversubscribe --bind-to none $programs[0] : $programs[1] 2>&1);
is(join('', sort split /^/, $out), "told 2\ntold 3\n", 'two programs of one job');

done_testing();
