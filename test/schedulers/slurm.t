#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# slurm.t: jobs of Slurm's on three nodes with two networks: what srun starts, without epmpirun; epmpirun and mpirun
# in the allocation of a batch script and of salloc; which cores processes get then; jobs that are cancelled.
#
# Guards: ompi/mpiext/endpoints/tools/epmpirun.in, ompi/mpiext/endpoints/tools/epranks.in, pml_epml_job.c,
# pml_epml_net.c, btl_epofi_net.c

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Ept::Machine qw(machine);
use Ept::Nodes qw(on_nodes compile on_each expected_ranks left_of is_gone);
use Test::More;
use Time::HiRes qw(sleep);

my $CPUS = 8; # of each node, to Slurm
my @NODES = qw(ept-a ept-b ept-c);

chomp(my $missing = qx($^X \Q$FindBin::Bin/../lib/slurm\E --check));
on_nodes('fast', $missing, "$FindBin::Bin/../lib/slurm", $CPUS);

$ENV{OMPI_MCA_mpi_yield_when_idle} = 1; # srun does not tell processes that they have too few cores
my $folder = "$ENV{EPT_CLUSTER}/jobs";
mkdir $folder;
chdir $folder;
my $hello = compile($folder, 'epmpicc', '../../examples/hello_endpoints.c', '-fopenmp');
my $places = compile($folder, 'mpicc', 'places.c');

sub sorted
{
    my ($text) = @_;

    return join "\n", sort split /\n/, $text;
}

# ---- without epmpirun --------------------------------------------------------------------------

# What srun's processes print.  Open MPI 5.0.7 may crash in MPI_Init under srun if a process is late, with ob1 alone, too
# (docs/limits.md): such a run is repeated.
sub srun
{
    my ($words) = @_;
    my $out;

    for (1 .. 5) {
        $out = qx(srun --mpi=pmix $words 2>&1);
        last if $out !~ /mca_pml_ob1_recv_frag_callback_match/;
        diag('crashed in MPI_Init, again');
    }
    return $out =~ s/^srun: job \d+ .*\n//mgr;
}

{
    local $ENV{OMPI_MCA_pml} = 'epml';
    local $ENV{OMP_NUM_THREADS} = 2;
    is(sorted(srun("-N 3 --ntasks-per-node 2 $hello")), expected_ranks(12), 'srun, endpoints');
    my $info = srun("-N 3 --ntasks-per-node 2 epinfo --ep 2");
    like($info, qr/^  interface +eth1 \(10\.76\.0\.1\): all nodes are in this network \(3 hosts\)$/m,
         'srun, the nodes agree on the faster network');

    # How many messages collectives send between nodes.
    my $mpi = '../mpi';
    my $program = compile($folder, 'epmpicc', "$mpi/coll/coll_nodes.c",
                          map({ "$FindBin::Bin/$mpi/$_.c" } qw(ept ept_comm ept_data)),
                          '-DHAVE_EP', '-pthread', "-I$FindBin::Bin/$mpi", '-lm');
    my $out = srun("-N 3 -n 7 --distribution cyclic --overcommit $program --ep 2");
    like($out, qr/\A(?:ok [^\n]*\n|#[^\n]*\n|1\.\.\d+\n)+\z/, 'srun, collectives know the nodes');
}
is(sorted(srun("-N 3 --ntasks-per-node 1 epranks 4 $places")), on_each(4, @NODES),
   'srun epranks: ranks as threads');
is(sorted(srun("-N 3 --ntasks-per-node 2 $places")), on_each(2, @NODES), 'srun, processes');

# ---- in an allocation --------------------------------------------------------------------------

# What a batch script prints.
sub batch
{
    my ($options, @lines) = @_;

    open my $out, '>', "$folder/job.sh" or die "job.sh: $!\n";
    print $out map { "$_\n" } '#!/bin/sh', "#SBATCH $options", "#SBATCH --output $folder/job.out", @lines;
    close $out or die "job.sh: $!\n";
    unlink "$folder/job.out";
    system("sbatch --quiet --wait $folder/job.sh");
    is($?, 0, "batch $options");
    open my $in, '<', "$folder/job.out" or return '';
    local $/;
    return sorted(scalar <$in>);
}

is(batch('-N 3 --ntasks-per-node 2 -c 4', "OMP_NUM_THREADS=2 epmpirun $hello"), expected_ranks(12), 'endpoints');
is(batch('-N 3 --ntasks-per-node 2 -c 4', "OMP_NUM_THREADS=2 mpirun --mca pml epml $hello"), expected_ranks(12),
   'the same with mpirun');
is(batch('-N 2 --ntasks-per-node 1', "epmpirun -ranks 4 $places"), on_each(4, @NODES[0, 1]), 'ranks as threads');
is(sorted(scalar qx(salloc --quiet -N 3 --ntasks-per-node 1 epmpirun -ranks 2 $places)), on_each(2, @NODES), 'salloc');

# ---- cores -------------------------------------------------------------------------------------

# Where the launcher puts processes, on nodes that have two packages of four cores, by node: "0-3 4-7".
machine("$folder/machine", 2, 1, 4, 1);

sub mapped
{
    my ($options, $words) = @_;
    my $out = batch($options, "export HWLOC_FSROOT=$folder/machine HWLOC_COMPONENTS=-x86",
                    "epmpirun --display map --do-not-launch $words true 2>&1 | awk '/Data for node/ { node = \$4 } /Bound/ { print node, \$NF }'");
    my %places;

    for my $line (split /\n/, $out) {
        my ($node, $bound) = $line =~ /^(\S+) (\S+)$/ or return "? $out";
        push @{ $places{$node} }, $bound =~ /\[core:([-\d,]+)\]/ ? $1 : 'free';
    }
    return join ', ', map { "@{ $places{$_} }" } sort keys %places;
}

is(mapped('-N 3 --ntasks-per-node 2 -c 4', ''),               '0-3 4-7, 0-3 4-7, 0-3 4-7', 'the cores of tasks');
is(mapped('-N 2 --ntasks-per-node 4 -c 2', '-ranks 2'),       '0-1 2-3 4-5 6-7, 0-1 2-3 4-5 6-7', 'of ranks');
is(mapped('-N 2 --exclusive',              '-n 4'),           '0-3 4-7, 0-3 4-7', 'shares');
is(mapped('-N 2 --exclusive',              '-endpoints 3'),   '0-2 4-6, 0-2 4-6', 'as many as there are cores for');
is(mapped('-N 2 --ntasks-per-node 1 -c 8', ''),               'free, free', 'cores of two packages');
is(mapped('-N 2 --ntasks-per-node 2 -c 1', ''),               'free free, free free', 'a part of each node');
is(mapped('-N 1 --ntasks-per-node 2 -c 4', ''),               '0-3 4-7', 'one node');

# ---- cancelled jobs ----------------------------------------------------------------------------

# The lines that a job has printed so far.
sub printed
{
    open my $in, '<', "$folder/job.out" or return ();
    return grep { !/^slurmstepd-/ } <$in>;
}

# A job of a batch script, with two processes of two ranks on each node, that is cancelled when all ranks run.  One that
# ends before (srun, above) is repeated.
sub cancel
{
    my ($what, $command) = @_;
    my $id;

    for (1 .. 5) {
        unlink "$folder/job.out";
        chomp($id = qx(sbatch --parsable -N 3 --ntasks-per-node 2 --output $folder/job.out --wrap '$command'));
        sleep 0.1 until 12 == grep({ /^rank/ } printed()) || '' eq qx(squeue --noheader --jobs $id 2>/dev/null);
        last if 12 == grep { /^rank/ } printed();
        diag('ended by itself, again');
    }
    like(left_of('places'), qr/\bplaces\b.*\bepshm/, "$what: processes run, and share memory");
    system("scancel $id");
    sleep 0.1 until '' eq qx(squeue --noheader --jobs $id 2>/dev/null);
    is_gone('places', "$what: cancelled, nothing is left");
}

cancel('srun', "srun --mpi=pmix epranks 2 $places wait");
cancel('exec epmpirun', "exec epmpirun --map-by ppr:2:node --bind-to none -ranks 2 $places wait");

done_testing();
