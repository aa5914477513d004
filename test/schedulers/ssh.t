#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# ssh.t: epmpirun and mpirun start their daemons with OpenSSH, on three nodes with two networks: hosts of the line and of a
# file, one by one and in a tree, in which nodes connect to each other; jobs that a signal to epmpirun
# ends; what it makes of PBS's file of nodes.
#
# Guards: ompi/mpiext/endpoints/tools/epmpirun.in

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Ept::Machine qw(machine);
use Ept::Nodes qw(on_nodes compile on_each expected_ranks left_of is_gone);
use Test::More;
use Time::HiRes qw(sleep);

my @NODES = qw(ept-a ept-b ept-c);

chomp(my $missing = qx($^X \Q$FindBin::Bin/../lib/with-ssh\E --check));
on_nodes('fast', $missing, "$FindBin::Bin/../lib/with-ssh");

my $folder = "$ENV{EPT_CLUSTER}/jobs";
mkdir $folder;
my $hello = compile($folder, 'epmpicc', '../../examples/hello_endpoints.c', '-fopenmp');
my $places = compile($folder, 'mpicc', 'places.c');

open my $out, '>', "$folder/hosts" or die "hosts: $!\n";
print $out map { "$_ slots=2\n" } @NODES;
close $out or die "hosts: $!\n";

sub prints
{
    my ($command, $right, $what) = @_;

    # The launcher puts each ssh into a process group, also from the parent, which fails if the child has called exec.
    my @lines = grep { !/plm:ssh: Warning: setpgid/ } split /\n/, qx($command 2>&1);

    is(join("\n", sort @lines), $right, $what);
}

$ENV{OMP_NUM_THREADS} = 3; # other than there are cores, as mostly
prints("epmpirun --host ept-a:2,ept-b:2,ept-c:2 --map-by ppr:2:node $hello", expected_ranks(18), 'hosts of the line');
prints("epmpirun --hostfile $folder/hosts $hello", expected_ranks(18), 'of a file');
prints("mpirun --mca pml epml -x OMP_NUM_THREADS --hostfile $folder/hosts $hello", expected_ranks(18), 'with mpirun');
prints("epmpirun --hostfile $folder/hosts --prtemca plm_ssh_no_tree_spawn 1 $hello", expected_ranks(18), 'one by one');
prints("epmpirun --hostfile $folder/hosts --prtemca routed_radix 1 $hello", expected_ranks(18), 'one by another');
prints("epmpirun --host ept-b,ept-c -ranks 3 $places", on_each(3, @NODES[1, 2]), 'ranks as threads, elsewhere');
like(scalar qx(epmpirun --hostfile $folder/hosts epinfo 2>&1),
     qr/^  interface +eth1 \(10\.76\.0\.1\): all nodes are in this network \(3 hosts\)$/m, 'the network');

# ---- as in a job of PBS --------------------------------------------------------------------------

# Not PBS itself: the variables and the file that OpenPBS makes for -l select=3:ncpus=8:mpiprocs=2:ompthreads=4.  Open
# MPI takes nodes and processes from them, and starts its daemons with ssh if it has been built without PBS.
{
    open my $file, '>', "$folder/nodefile" or die "nodefile: $!\n";
    print $file map { "$_\n" x 2 } @NODES;
    close $file or die "nodefile: $!\n";
    local @ENV{qw(PBS_ENVIRONMENT PBS_JOBID PBS_NODEFILE)} = ('PBS_BATCH', '7.server', "$folder/nodefile");
    local @ENV{qw(NCPUS OMP_NUM_THREADS)} = (4, 4);
    prints("epmpirun $hello", expected_ranks(24), 'PBS: nodes, processes and threads');
    prints("epmpirun -x OMP_NUM_THREADS=1 -ranks 2 $places", on_each(4, @NODES), 'PBS: ranks as threads');

    machine("$folder/machine", 2, 1, 4, 1); # two packages of four cores
    local @ENV{qw(HWLOC_FSROOT HWLOC_COMPONENTS)} = ("$folder/machine", '-x86');
    my $map = qx(epmpirun --display map --do-not-launch true 2>&1);
    is(join(' ', grep { defined } $map =~ /^Data for node: (\S+)|Bound:.*\[core:([-\d,]+)\]/mg),
       join(' ', map { "$_ 0-3 4-7" } @NODES), 'PBS: the cores of tasks');
}

# ---- jobs that a signal ends ---------------------------------------------------------------------

# The lines of a file.
sub lines
{
    my ($file) = @_;

    open my $in, '<', $file or return ();
    return <$in>;
}

for my $signal (qw(INT TERM)) {
    my $text = "$folder/$signal";
    my $pid = fork // die "fork: $!\n";
    if (0 == $pid) {
        open STDOUT, '>', $text;
        open STDERR, '>&', \*STDOUT;
        exec split ' ', "epmpirun --hostfile $folder/hosts -ranks 2 $places wait";
    }
    sleep 0.1 until 12 == grep { /^rank/ } lines($text);
    like(left_of('places'), qr/\bplaces\b.*\bepshm/, "SIG$signal: processes run, and share memory");
    kill $signal, $pid;
    waitpid $pid, 0;
    isnt($?, 0, "SIG$signal: epmpirun says that the job has not ended by itself");
    is_gone('places', "SIG$signal: nothing is left");
    is(join('', grep { !/^rank|plm:ssh: Warning: setpgid/ } lines($text)), '', "SIG$signal: and nothing is said");
}

done_testing();
