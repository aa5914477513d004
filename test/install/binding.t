#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# binding.t: which cores processes get by default.  Open MPI's launcher maps jobs onto machines that are not
# there: never may it refuse to, no core may have two processes, and the cores must be those of one NUMA
# node or package.  On this machine processes have the cores that they were promised.
#
# Guards: ompi/mpiext/endpoints/tools/epmpirun.in, hook_spawn.c

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Ept::Machine qw(machine pretend);
use File::Temp;
use Test::More;

my $folder = File::Temp->newdir('binding-XXXXXX', TMPDIR => 1);

$ENV{TMPDIR} = "$folder"; # launchers leave their session folders here
delete @ENV{grep { /^(HWLOC|OMP)_/ } keys %ENV};

# What processes of a job on this machine may use.
sub usable
{
    my ($command) = @_;
    my $out = qx($command sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status 2>&1);

    return join ' ', sort split /\n/, $out;
}

my %siblings = map { $_ => 1 } qx(cat /sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list);
SKIP: {
    skip 'this machine has other processors than 0 and 1', 9 unless '0-1' eq usable('') && 2 == keys %siblings;
    is(usable('epmpirun -n 1'),                        '0-1',         'one process has all cores');
    is(usable('epmpirun -n 2'),                        '0 1',         'each of two its share');
    is(usable('epmpirun -endpoints 2 -n 1'),           '0-1',         'or as many as it has endpoints');
    is(usable('epmpirun --oversubscribe -n 3'),        '0-1 0-1 0-1', 'too few cores');
    is(usable('epmpirun -endpoints 3 -n 1'),           '0-1',         'too few for the endpoints of one');
    {
        local $ENV{OMPI_MCA_btl_tcp_if_include} = 'lo'; # there may be no other network
        system("epmpicc -o $folder/spawns $FindBin::Bin/spawns.c");
        is(usable("epmpirun -endpoints 2 -n 1 $folder/spawns"), '0-1', 'spawned, where the others have all cores');
    }
    like(qx(epmpirun --bind-to core -n 1 epinfo --ep 2 2>&1), qr/cores .*; bound to too few: --map-by numa:PE=2 or/,
         'epinfo says what to add');
    unlike(qx(epmpirun -n 1 epinfo --ep 2 2>&1), qr/bound to too few/, 'if anything');
    is(usable('taskset -c 1 epmpirun --oversubscribe -n 2'), '1 1',   'no other ones than the launcher may use');
}

# Cores or hardware threads of each process, in the order of ranks, by the launcher's own account: "c0-3",
# "t0-7", "free"; what is wrong with them.
sub mapped
{
    my ($options) = @_;
    my $out = qx(epmpirun --display map --do-not-launch $options true 2>&1);
    my (@places, %users);

    return "refused: $out" if 0 != $?;
    for my $bound ($out =~ /rank: \d+ Bound: (.*)/g) {
        my @parts = $bound =~ /\[(core|hwt):([-\d,]+)\]/g;

        return "in two packages: $bound" if 2 < @parts;
        push @places, @parts ? substr($parts[0], 0, 1) =~ tr/h/t/r . $parts[1] : 'free';
        for my $part (split /,/, $parts[1] // '') {
            my ($from, $to) = split /-/, $part;

            return "two processes on one core: $bound" if grep { $users{$_}++ } $from .. $to // $from;
        }
    }
    return join ' ', @places;
}

# A job on a machine of packages x NUMA nodes x cores x threads.
my %MACHINES = (large => [2, 2, 4, 2], flat => [1, 1, 6, 1], one => [1, 1, 1, 1], threads => [1, 1, 1, 2],
                odd => [2, 3, 3, 1]);

sub is_mapped
{
    my ($name, $options, $right) = @_;
    my $root = "$folder/$name";

    machine($root, @{$MACHINES{$name}}) if !-d $root;
    pretend($root);
    is(mapped($options), $right, "$name: $options");
}

# Nobody says how many threads there are: each process gets its share.
is_mapped('large', '-n 1',  'free');
is_mapped('large', '-n 2',  'c0-7 c8-15');
is_mapped('large', '-n 3',  'c0-3 c4-7 c8-11');
is_mapped('large', '-n 5',  'c0-1 c2-3 c4-5 c8-9 c12-13');
is_mapped('large', '-n 9',  join ' ', map { "c$_" } 0 .. 8);
is_mapped('large', '',      join ' ', map { "c$_" } 0 .. 15);
is_mapped('odd',   '-n 4',  'c0-3 c4-7 c9-12 c13-16');
is_mapped('odd',   '-n 6',  'c0-2 c3-5 c6-8 c9-11 c12-14 c15-17');
is_mapped('large', '--oversubscribe -n 17', join ' ', ('free') x 17);
is_mapped('one',   '-n 1',  'free');

# They are told: cores of one NUMA node if it has enough, of one package otherwise.
is_mapped('large', '-x OMP_NUM_THREADS=4 -n 3', 'c0-3 c4-7 c8-11');
is_mapped('large', '-endpoints 3 -n 4',         'c0-2 c4-6 c8-10 c12-14');
is_mapped('large', '-x OMP_NUM_THREADS=3,2 -n 2', 'c0-5 c8-13');
is_mapped('flat',  '-endpoints 3 -n 2',         'c0-2 c3-5');
is_mapped('odd',   '-endpoints 2 -n 8',         'c0-1 c2-3 c4-5 c6-7 c9-10 c11-12 c13-14 c15-16');
# Several programs: as the one with most of them.
is_mapped('large', '-n 1 -endpoints 2 true : -n 2 -endpoints 4', 'c0-3 c4-7 c8-11');
# Without -n: as many processes as there are cores for.
is_mapped('large', '-endpoints 3', 'c0-2 c4-6 c8-10 c12-14');
is_mapped('one',   '-endpoints 3', 'free');

# Too few cores: hardware threads, or none are bound.
is_mapped('large',   '-endpoints 8 -n 4', 't0-3,16-19 t4-7,20-23 t8-11,24-27 t12-15,28-31');
is_mapped('large',   '-endpoints 9 -n 1', 'free');
is_mapped('large',   '-endpoints 5 -n 3', 'free free free');
is_mapped('threads', '-endpoints 2 -n 1', 't0-1');
is_mapped('flat',    '-endpoints 4 -n 2', 'free free');
is_mapped('flat',    '--oversubscribe -endpoints 2 -n 9', join ' ', ('free') x 9);

# On other hosts, where nobody knows of cores.
is_mapped('large', '--host n1:2,n2:2 --oversubscribe -endpoints 64 -n 4', join ' ', ('free') x 4);
is_mapped('large', '-endpoints 4 -N 2', 'free free');

done_testing();
