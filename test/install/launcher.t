#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# launcher.t: what epmpirun makes of its options, and of nonsense; and several programs as one job.
#
# Guards: ompi/mpiext/endpoints/tools/epmpirun.in

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Ept::Machine qw(machine pretend);
use File::Temp;
use Test::More;

# A machine of 8 cores, two packages of two NUMA nodes.
my $folder = File::Temp->newdir('launcher-XXXXXX', TMPDIR => 1);

machine("$folder/machine", 2, 2, 2, 1);
pretend("$folder/machine");
$ENV{HOME} = "$folder";

# The command line that it would run, without the launcher's own path.
sub shown
{
    my $text = qx(epmpirun --showme @_ 2>&1);

    chomp $text;
    $text =~ s{-x LD_PRELOAD=\S+/libmpix_world(|_abi)\.so:[^\s:]+/libmpix_endpoints\1\.so\.0(?=\s)}{WORLD\U$1}g;
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

# What all programs get if one of them asks for endpoints in a job that may be a large one.
my $look = '-x MPIX_ENDPOINTS_STATIC=1';
my $two  = '-x MPIX_ENDPOINTS=2 -x OMP_NUM_THREADS=2';
my $asp  = "$two -x MPIX_ENDPOINTS_ASP=1 -x MPIX_WORLD=asp WORLD";
my $free = '--bind-to none';

# Not ours: as it came, but for the place of the number of processes.
is_shown("$free -n 2 ./app", "-n 2 $free ./app");
is_shown("$free ./app", "$free ./app");
is_shown($_, $_) for '--version', '--help', '-h', '--help topic', '-n 2', '-n';
is_shown("--oversubscribe $free -np 3 ./app", "-n 3 --oversubscribe $free ./app");
is_shown("$free -n 1 ./app -asp 3 -endpoints x", "-n 1 $free ./app -asp 3 -endpoints x");
is_shown("--unknown $free ./app -asp 4", "--unknown $free ./app -asp 4");
is_shown("-x A --mca btl_x -asp $free -H n1 ./app", "-x A --mca btl_x -asp $free -H n1 ./app");
is_shown('-n 2 -bind-to none ./app', '-n 2 -bind-to none ./app');
is_shown("$free -n 1 -report-uri F ./app", "-n 1 $free -report-uri F ./app");
is_shown("$free -n 1 --gpu-support 0 ./app", "-n 1 $free --gpu-support 0 ./app");
is_shown("$free -n 1 --unheard-of value ./app", "-n 1 $free --unheard-of value ./app");
is_shown("$free -n 08 ./app", "-n 8 $free ./app");
is_shown("$free -n x ./app", "$free -n x ./app");
is_shown(qq($free -x 'A=b c\\n' ./app "it's"), qq($free -x 'A=b c\\n' ./app 'it'\\''s'));

# Values with = between, as mpirun takes them.
is_shown("$free $_ ./app", "-n 2 $free ./app") for qw(--np=2 -np=2 --n=2 -n=2);
is_shown("$free $_ ./app", "$_ $free ./app" =~ s/(\S+) (.*) \.\/app/$2 $1 .\/app/r) for qw(-n2 -c=2 -N=2 --np2);
is_shown("--bind-to=none $_ -n 2 ./app", "-n 2 $two --bind-to=none ./app")
    for qw(--endpoints=2 -endpoints=2);
is_shown("$free $_ -n 4 ./app", "-n 2 $asp $free ./app") for qw(--asp=2 --ranks-per-proc=2);
is_shown("$free -threadlevel=single ./app", "-x MPIX_THREAD_LEVEL=0 $free ./app");
is_shown("$free -x OMP_NUM_THREADS=3 -endpoints 2 -n 1 ./app",
         "-n 1 -x MPIX_ENDPOINTS=2 $free -x OMP_NUM_THREADS=3 ./app");
{
    local $ENV{OMP_NUM_THREADS} = 1; # goes to other hosts
    is_shown("$free -endpoints 2 -n 1 ./app", "-n 1 -x MPIX_ENDPOINTS=2 -x OMP_NUM_THREADS $free ./app");
    is_shown("$free -n 1 ./a : -n 1 ./b", "-n 1 -x OMP_NUM_THREADS $free ./a : -n 1 -x OMP_NUM_THREADS ./b");
    is_shown("$free $_ -n 1 ./app", "-n 1 $free $_ ./app") for '-x OMP_NUM_THREADS', '-x OMP_NUM_THREADS=3';
}
# A program of ours, which shells of other hosts need not find; one of the same name elsewhere.
chomp(my $epinfo = qx(sh -c 'command -v epinfo'));
is_shown("$free -n 1 epinfo --ep 2", "-n 1 $free $epinfo --ep 2");
is_shown("$free -n 1 sh epinfo", "-n 1 $free sh epinfo");
is_shown("$free -n 1 ./epinfo", "-n 1 $free ./epinfo");

# How processes are bound, where nothing says it (install/binding has whether that can be done).
sub binds
{
    my ($options, $right) = @_;
    my ($words) = shown("$options ./app") =~ /^((?:-n \d+ )?--(?:map-by|bind-to) \S+(?: --bind-to none)?)/;

    is($words // '', $right, "$options: " . ($right || 'as it is said'));
}

binds('-n 1', $free);
binds('-n 2', '--map-by package:PE=4');
binds('-n 4', '--map-by numa:PE=2');
binds('-n 5', '--map-by core');
binds('', '--map-by core');
binds('--oversubscribe -n 9', $free);
binds('-endpoints 2 -n 4', '--map-by numa:PE=2');
binds('-endpoints 2 -n 5', $free);
binds('-endpoints 3 -n 2', '--map-by package:PE=3');
binds('-endpoints 2',      '-n 4 --map-by numa:PE=2');
binds('-endpoints 9',      "-n 1 $free");
binds('-endpoints 1 -n 2', '--map-by package:PE=4');
binds('-x OMP_NUM_THREADS=2 -n 2', '--map-by numa:PE=2');
binds('-x OMP_NUM_THREADS=4 -endpoints 2 -n 2', '--map-by package:PE=4');
binds('-n 1 -endpoints 2 ./a : -n 1', '--map-by numa:PE=2');
binds('./a : -n 1', $free);
for (['4', 'package:PE=4'], ['2,2', 'package:PE=4'], ['1', 'package:PE=4'], ['x', 'package:PE=4'], ['2,x', 'package:PE=4'],
     [' 3', 'package:PE=3']) {
    local $ENV{OMP_NUM_THREADS} = $_->[0];
    binds('-n 2', "--map-by $_->[1]");
}
# This machine by its name.
chomp(my $name = qx(uname -n));
binds("$_ -n 2", '--map-by package:PE=4') for '--host localhost:4', '--host=localhost,localhost', "-H $name:9";
binds($_, $free)
    for '--host localhost:2', '--host localhost:2 -endpoints 2', '--host localhost,n1 -n 2', '--host n1:2 -n 2';
# Where nobody knows of cores.
binds($_, $free)
    for '--host n1:2 -endpoints 2 -n 2', '--hostfile=F -n 2', '-N 2', '--map-by ppr:2:node -n 2', '--app F',
        '--map-by :OVERSUBSCRIBE -n 2', '--rank-by slot -n 2', '--prtemca prte_default_hostfile F -n 2';
for my $name (qw(SLURM_JOB_ID PBS_JOBID LSB_JOBID PE_HOSTFILE FLUX_JOB_ID)) {
    local $ENV{$name} = 7;
    binds('-n 2', $free);
}

# In a job of Slurm's: nodes, their processors, tasks of each, processors of a task.
sub binds_in_slurm
{
    my ($nodes, $cpus, $tasks, $of_task, $options, $right) = @_;
    my $times = 1 == $nodes ? '' : "(x$nodes)";
    local @ENV{qw(SLURM_JOB_ID SLURMD_NODENAME SLURM_JOB_NUM_NODES SLURM_CPUS_ON_NODE)} = (7, 'n1', $nodes, $cpus);
    local @ENV{qw(SLURM_JOB_CPUS_PER_NODE SLURM_TASKS_PER_NODE)} = ("$cpus$times", "$tasks$times");
    local $ENV{SLURM_CPUS_PER_TASK} = $of_task if defined $of_task;

    binds($options, $right);
}

binds_in_slurm(1, 8, 8, undef, '-n 2',         '--map-by package:PE=4');
binds_in_slurm(1, 8, 8, undef, '-endpoints 2', '-n 4 --map-by numa:PE=2');
binds_in_slurm(1, 8, 2, undef, '',             '--map-by package:PE=4');
binds_in_slurm(1, 8, 1, undef, '',             $free);
binds_in_slurm(1, 4, 4, undef, '-n 2',         $free); # others are somebody else's, and Linux does not keep them from us
binds_in_slurm(1, 8, 2, undef, '-endpoints 2', '-n 2 --map-by numa:PE=2'); # no more processes than tasks
binds_in_slurm(1, 8, 2, undef, '-n 3',         $free);                     # mpirun says why not
# A task's processors.
binds_in_slurm(1, 8, 4, 2, '',                   '-n 4 --map-by numa:PE=2');
binds_in_slurm(1, 8, 8, 1, '',                   '--map-by core');
binds_in_slurm(1, 8, 2, 4, '-n 1',               '--map-by package:PE=4');
binds_in_slurm(1, 8, 2, 4, '-endpoints 2 -n 2',  '--map-by package:PE=4');
binds_in_slurm(1, 8, 4, 2, '-endpoints 4 -n 2',  '--map-by package:PE=4');
binds_in_slurm(1, 8, 4, 2, '-ranks 2',           '-n 4 --map-by numa:PE=2');
# More nodes, alike, and the job's as a whole.
binds_in_slurm(2, 8, 2, 4, '',             '-n 4 --map-by package:PE=4');
binds_in_slurm(2, 8, 2, 4, '-n 3',         '--map-by package:PE=4');
binds_in_slurm(2, 8, 8, undef, '-n 4',     '--map-by package:PE=4');
binds_in_slurm(2, 8, 8, undef, '',         '--map-by core');
binds_in_slurm(2, 8, 8, undef, '-endpoints 3',      '-n 4 --map-by package:PE=3');
binds_in_slurm(2, 8, 8, undef, '-endpoints 3 -n 5', $free);
binds_in_slurm(2, 8, 1, 8, '',             "-n 2 --map-by node $free"); # cores of two packages
binds_in_slurm(2, 4, 2, 2, '',             $free); # of each node a part
binds_in_slurm(2, 8, 2, 4, '-N 1',         $free);
{
    local @ENV{qw(SLURM_JOB_ID SLURMD_NODENAME SLURM_JOB_NUM_NODES SLURM_CPUS_ON_NODE)} = (7, 'n1', 3, 8);
    local @ENV{qw(SLURM_JOB_CPUS_PER_NODE SLURM_TASKS_PER_NODE)} = ('8(x2),4', '2(x3)');
    binds('', $free); # nodes differ,
    @ENV{qw(SLURM_JOB_CPUS_PER_NODE SLURM_TASKS_PER_NODE)} = ('8(x3)', '2(x2),1');
    binds('', $free); # or their tasks
    @ENV{qw(SLURM_TASKS_PER_NODE SLURMD_NODENAME)} = ('2(x3)', '');
    binds('', $free); # or this is none of them
}
# CPUs of Slurm's are hardware threads, or cores.
machine("$folder/threads", 2, 1, 4, 2);
{
    local $ENV{HWLOC_FSROOT} = "$folder/threads";
    binds_in_slurm(2, 16, 4, 4, '',                  '-n 8 --map-by numa:PE=2');
    binds_in_slurm(2, 16, 4, 3, '',                  '-n 8 --map-by numa:PE=2');
    binds_in_slurm(2, 8,  4, 2, '',                  '-n 8 --map-by numa:PE=2');
    binds_in_slurm(2, 16, 4, 4, '-endpoints 4 -n 8', '--map-by numa:PE=4:HWTCPUS');
}
# In a job of PBS's: a line of its file for each task, processors of a task.
sub binds_in_pbs
{
    my ($nodes, $task, $options, $right) = @_;

    open my $out, '>', "$folder/nodes" or die "nodes: $!\n";
    print $out map { "$_\n" } @$nodes;
    close $out or die "nodes: $!\n";
    local @ENV{qw(PBS_JOBID PBS_NODEFILE)} = ('7.server', "$folder/nodes");
    local @ENV{qw(NCPUS OMP_NUM_THREADS)} = ($task, $task) if defined $task;
    binds($options, $right);
}

binds_in_pbs([qw(n1 n1 n2 n2)], 4, '',             '-n 4 --map-by package:PE=4');
binds_in_pbs([qw(n1 n2 n1 n2)], 4, '-n 3',         '--map-by package:PE=4');
binds_in_pbs([('n1') x 4],      2, '-ranks 2 -x OMP_NUM_THREADS=1', '-n 4 --map-by numa:PE=2');
binds_in_pbs([('n1') x 8],      1, '',             '--map-by core');
binds_in_pbs([('n1') x 8, ('n2') x 8], undef, '-endpoints 4', '-n 4 --map-by package:PE=4'); # Torque's
binds_in_pbs([qw(n1 n2)],       8, '',             "-n 2 --map-by node $free"); # cores of two packages
binds_in_pbs([qw(n1 n2)],       4, '',             $free); # of each node a part
binds_in_pbs([qw(n1 n1 n1 n2)], 4, '',             $free); # nodes differ
binds_in_pbs([qw(n1 n1)],       8, '',             $free); # no ompthreads: all processors of the node, twice
binds_in_pbs([],                4, '',             $free);
# Where it is said.
is_shown("-n 2 $_ ./app", "-n 2 $_ ./app")
    for '--bind-to core', '--map-by slot:pe=2', '--map-by=package', '--map-by numa', '--map-by ppr:2:l3cache',
        '--rankfile F', '--map-by rankfile:file=F', '--cpu-set 0', '--use-hwthread-cpus',
        '--prtemca hwloc_default_binding_policy none', '--mca rmaps_base_mapping_policy slot', '--tune nowhere';
for my $name (qw(PRTE_MCA_hwloc_default_binding_policy OMPI_MCA_hwloc_base_bind_to_core
                 PRTE_MCA_hwloc_default_cpu_list PRTE_MCA_rmaps_default_mapping_policy)) {
    local $ENV{$name} = 'x';
    is_shown('-n 2 ./app', '-n 2 ./app');
}
{
    local $ENV{PRTE_MCA_rmaps_default_mapping_policy} = ':oversubscribe'; # of no places
    binds('-n 2', '--map-by package:PE=4');
    $ENV{PRTE_MCA_rmaps_default_mapping_policy} = ':PE=2:oversubscribe';
    binds('-n 2', '');
}
binds('--prtemca rmaps_default_mapping_policy :oversubscribe -n 2', '--map-by package:PE=4');

# A file says it, or does not.
sub in_file
{
    my ($file, $text, $options, $right) = @_;

    mkdir "$folder/.prte";
    open(my $out, '>', "$folder/$file") or die $!;
    print $out $text;
    close $out or die $!;
    binds($options, $right);
    unlink "$folder/$file";
}

in_file('.prte/mca-params.conf', "# binding_policy\nx = y\n",          '-n 2', '--map-by package:PE=4');
in_file('.prte/mca-params.conf', "rmaps_default_mapping_policy = :oversubscribe\n", '-n 2', '--map-by package:PE=4');
in_file('.prte/mca-params.conf', "hwloc_default_binding_policy = none", '-n 2', '');
in_file('tune', "-x A=b\n",                               "--tune $folder/tune -n 2", '--map-by package:PE=4');
in_file('tune', "--mca hwloc_base_binding_policy none\n", "--tune=$folder/tune -n 2", '');

# Where processes with MPI_Init would not look by themselves: above 256, in each program of the line.
is_shown("-endpoints 2 $free -n 256 ./app", "-n 256 $two $free ./app");
is_shown("-endpoints 2 $free -n 257 ./app", "-n 257 $two $look $free ./app");
is_shown("-asp 2 $free -n 512 ./app", "-n 256 $asp $free ./app");
is_shown("-n 200 $free ./a : -endpoints 2 -n 57 ./b",
         "-n 200 $look -x MPIX_PROGRAMS=1,2 $free ./a : -n 57 $two $look -x MPIX_PROGRAMS=1,2 ./b");
is_shown("$free -n 300 ./app", "-n 300 $free ./app");
is_shown("-endpoints 2 -x MPIX_ENDPOINTS_STATIC=0 $free -n 300 ./app",
         "-n 300 $two -x MPIX_ENDPOINTS_STATIC=0 $free ./app");
{
    local $ENV{MPIX_ENDPOINTS_STATIC} = 0;
    is_shown("-endpoints 2 $free -n 300 ./app", "-n 300 $two $free ./app");
}

# Ranks in address spaces.
is_shown("$_ 2 $free -n 12 ./app", "-n 6 $asp $free ./app")
    for '-asp', '--ranks-per-proc', '-ranks-per-proc';
fails('-asp 5 -n 12 ./app', '-asp 5 does not divide the 12 ranks of -n');
fails('-asp 5 ./app', '-asp 5 needs -n');
fails('-asp 2 -endpoints 2 -n 2 ./app', '-asp and -endpoints say the same');

# Ranks as threads: any program, with two libraries in front of the user's.
sub is_ranked
{
    my ($options, $right) = @_;

    is(shown($options) =~ s{-x UCX_MEM_EVENTS=no (?:-x MPIX_RANKS_UNBOUND=1 )?(-x LD_PRELOAD)}{$1}gr =~ s{-x LD_PRELOAD=\S+/libmpix_ranks\.so:[^\s:]+/libmpix_endpoints\.so\.0}{PRELOAD}gr,
       $right, $options);
}

is_ranked("$_ 4 $free -n 2 ./app -ranks 3", "-n 2 -x MPIX_RANKS=4 PRELOAD $free ./app -ranks 3")
    for '-ranks', '--ranks';
is_ranked("--ranks=4 $free -n 2 ./app", "-n 2 -x MPIX_RANKS=4 PRELOAD $free ./app");
is_ranked("--ranks-tag --ranks-files --ranks-verbose -ranks 2 --ranks-share a,b --ranks-private=c $free -n 1 ./app",
          '-n 1 -x MPIX_RANKS_TAG=1 -x MPIX_RANKS_FILES=1 -x MPIX_RANKS_VERBOSE=1 -x MPIX_RANKS_SHARE=a,b -x MPIX_RANKS_PRIVATE=c '
              . "-x MPIX_RANKS=2 PRELOAD $free ./app");
is_ranked("-ranks 2 $free -n 1 -x LD_PRELOAD='a b' -x A=b ./app", "-n 1 -x MPIX_RANKS=2 PRELOAD:a:b $free -x A=b ./app");
is_ranked("$free -n 1 -x LD_PRELOAD=a ./app", "-n 1 -x LD_PRELOAD=a $free ./app");
is_ranked("$free -n 1 ./a : -ranks 2 -n 1 ./b : -endpoints 2 -n 1 ./c",
          "-n 1 -x MPIX_RANKS=1 PRELOAD -x MPIX_PROGRAMS=1,1,2 $free ./a : "
              . "-n 1 -x MPIX_RANKS=2 PRELOAD -x MPIX_PROGRAMS=1,1,2 ./b : "
              . "-n 1 $two -x MPIX_RANKS= -x MPIX_PROGRAMS=1,1,2 ./c");
# A thread's own MPI_COMM_WORLD.
like(shown("--world $free -n 2 ./app -world"), qr{^-n 2 -x MPIX_WORLD=1 WORLD \Q$free\E ./app -world$},
     '-world');
like(shown("-world $free -n 1 ./a : -n 1 ./b"), qr{ ./a : -n 1 -x MPIX_WORLD=0 ./b$}, '-world, for one program of two');
# For a program of the MPI ABI, where there is one, another library, also for one of two.
open(my $abi_program, '>', "$folder/abi") or die "$folder/abi: $!";
print $abi_program "\0libmpi_abi.so.1\0";
close($abi_program);
chmod 0755, "$folder/abi";
my $libdir   = qx(epmpicc --showme:libdirs) =~ s/\s.*//sr;
my $of_abi   = -f "$libdir/libmpix_world_abi.so" ? 'WORLD_ABI' : 'WORLD';
like(shown("-world $free -n 1 $folder/abi : -world -n 1 ./b"),
     qr{MPIX_WORLD=1 $of_abi \Q$free $folder\E/abi : -n 1 -x MPIX_WORLD=1 WORLD \./b$}, '-world, the MPI ABI');
like(shown("-asp 2 $free -n 2 $folder/abi"), qr{MPIX_WORLD=asp $of_abi }, '-asp, the MPI ABI');
fails('-world -ranks 2 -n 1 ./app', '-ranks gives each rank a MPI_COMM_WORLD of its own');
is_ranked('-ranks auto -np 64 ./app', '--map-by ppr:1:numa --bind-to numa -x MPIX_RANKS_TOTAL=64 PRELOAD ./app');
is_ranked('-ranks auto -np 64 --map-by ppr:1:package ./app', '-x MPIX_RANKS_TOTAL=64 PRELOAD --map-by ppr:1:package ./app');
binds('-ranks 2 -n 4', '--map-by numa:PE=2');
binds('-ranks 2 -x OMP_NUM_THREADS=2 -n 2', '--map-by package:PE=4');
binds('-ranks 9 -n 2', $free);
fails("-ranks $_ ./app", '-ranks needs a number from 1 on') for qw(0 x -1);
fails('-ranks', '-ranks needs a value');
fails('-ranks auto ./app', '-ranks auto needs -n');
fails("-ranks auto -n 2 $_", '-ranks auto is for a line with one program') for './a : ./b', './a : -ranks 2 ./b';
fails('-ranks 2 -endpoints 2 ./app', '-ranks is for programs that make no endpoints');
fails('--ranks-tag ./app', '--ranks-tag and its like need -ranks');
fails("-ranks 2 --ranks-share $_ ./app", '-ranks-share needs names of libraries') for "''", "'a b'";

# Levels.
is_shown("-threadlevel 1 $free ./app", "-x MPIX_THREAD_LEVEL=1 $free ./app");
is_shown("--threadlevel multiple $free ./app", "-x MPIX_THREAD_LEVEL=3 $free ./app");
is_shown("-threadlevel $_ $free ./app", "-x MPIX_THREAD_LEVEL=4 $free ./app") for 4, 'attach';
is_shown("-threadlevel $_ $free ./app", "-x MPIX_THREAD_LEVEL=5 $free ./app") for 5, 'reattach';
fails('-threadlevel 6 ./app', '-threadlevel needs 0 to 5');

# Each program its own.
is_shown('--bind-to none -n 1 -endpoints 2 ./a -endpoints : -n 4 -asp 2 -threadlevel 2 ./b',
         "-n 1 $two -x MPIX_PROGRAMS=2,2 $free ./a -endpoints : "
             . "-n 2 $two -x MPIX_THREAD_LEVEL=2 -x MPIX_ENDPOINTS_ASP=1 -x MPIX_WORLD=asp WORLD -x MPIX_PROGRAMS=2,2 ./b");
# Open MPI 6 hands -x on to the programs behind.
is_shown('--bind-to none -endpoints 2 -n 1 ./a : -n 2 ./b : -threadlevel 1 ./c',
         "-n 1 $two $look -x MPIX_PROGRAMS=2,1,1 --bind-to none ./a : "
             . "-n 2 -x MPIX_ENDPOINTS= $look -x MPIX_PROGRAMS=2,1,1 ./b : "
             . "-x MPIX_ENDPOINTS= -x MPIX_THREAD_LEVEL=1 $look -x MPIX_PROGRAMS=2,1,1 ./c");
is_shown("-threadlevel 1 $free ./a : -n 2 ./b", "-x MPIX_THREAD_LEVEL=1 $free ./a : -n 2 -x MPIX_THREAD_LEVEL= ./b");

fails("-endpoints $_ ./app", '-endpoints needs a number from 1 on') for qw(x 0 -1 1.5 9999999999);
fails('-endpoints', '-endpoints needs a value');

# Ours in front of mpirun's.
sub prints
{
    my ($options, $ours, $theirs) = @_;
    my $out = qx(epmpirun $options 2>&1);

    like($out, qr/^$ours.*$theirs/s, "epmpirun $options");
}

prints('--version', 'epmpirun \(Open MPI Endpoints\) \d+\.\d+\.\d+\n', '\(Open MPI\)');
prints($_, 'usage: epmpirun .*--endpoints N .*--asp N .*--threadlevel .*--showme', 'Usage: ') for '--help', '-h';

# A PML of the environment serves ordinary communicators, one of the line is the only one.
sub selected
{
    my ($options) = @_;

    return qx(epmpirun $options -n 1 sh -c 'echo \$OMPI_MCA_pml,\$OMPI_MCA_pml_epml_base' 2>&1);
}

for (['ob1', '', 'epml,ob1'], ['^ucx', '', 'epml,^ucx'], ['ob1', '--mca pml cm', 'cm,ob1'], ['^ucx,epml', '', '^ucx,epml,'],
     ['epml', '', 'epml,'], ['', '', 'epml,'], ['', '--mca pml ob1', 'ob1,']) {
    my ($pml, $options, $right) = @$_;

    local $ENV{OMPI_MCA_pml} = $pml;
    is(selected($options), "$right\n", "OMPI_MCA_pml=$pml $options");
}

# A copy whose components are not where they should be.
{
    chomp(my $original = qx(sh -c 'command -v epmpirun'));
    open(my $in, '<', $original) or die $!;
    my $script = join '', <$in>;
    my ($components) = $script =~ /\[ -f '(.*)\/mca_pml_epml\.so' \]/;
    open(my $out, '>', "$folder/moved") or die $!;
    print $out $script =~ s/\Q$components\E/$components-gone/gr;
    close $out or die $!;
    like(qx(sh $folder/moved -n 1 true 2>&1), qr/^epmpirun: the components .* are not in \Q$components\E-gone:/, 'moved');
    is($?, 256, 'its status');
    local $ENV{OMPI_MCA_opal_mca_base_component_path} = $components;
    is(qx(sh $folder/moved --bind-to none -n 1 echo runs 2>&1), "runs\n", 'where it is said that they are elsewhere');
}

# They are started, too: PMIx's own files of parameters would have crashed the launcher.
delete $ENV{PMIX_MCA_mca_base_param_files};
my @programs = map { "-n 1 -endpoints $_ sh -c 'echo told \$MPIX_ENDPOINTS'" } 2, 3;
my $out = qx(epmpirun --oversubscribe --bind-to none $programs[0] : $programs[1] 2>&1);
is(join('', sort split /^/, $out), "told 2\ntold 3\n", 'two programs of one job');

done_testing();
