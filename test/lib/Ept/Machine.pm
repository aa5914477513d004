#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Machines that are not there: what Linux would say of their processors in /sys, for epmpirun and, by
# HWLOC_FSROOT, for the hwloc of Open MPI's launcher: install/launcher, install/binding.

package Ept::Machine;

use strict;
use warnings;

use Exporter qw(import);
use File::Path qw(make_path);

our @EXPORT_OK = qw(machine pretend);

sub put
{
    my ($file, $text) = @_;
    my ($folder) = $file =~ m{^(.*)/};

    make_path($folder);
    open(my $out, '>', $file) or die "$file: $!\n";
    print $out "$text\n";
    close $out or die "$file: $!\n";
}

# As Linux writes a set of processors: words of 32 bits, the highest ones first.
sub mask
{
    my ($all, @cpus) = @_;
    my @words = (0) x (1 + int(($all - 1) / 32));

    $words[$_ / 32] |= 1 << $_ % 32 for @cpus;
    return join ',', map { sprintf '%08x', $_ } reverse @words;
}

# A machine of so many packages, NUMA nodes in each, cores in each of these, and threads in each core.  Linux
# numbers first one thread of each core, then the others.
sub machine
{
    my ($root, $packages, $nodes, $cores, $threads) = @_;
    my $system    = "$root/sys/devices/system";
    my $all_cores = $packages * $nodes * $cores;
    my $all       = $all_cores * $threads;
    my (@package, @node);

    put("$system/cpu/$_", '0-' . ($all - 1)) for qw(online possible);
    put("$system/node/online", '0-' . ($packages * $nodes - 1));
    for my $cpu (0 .. $all - 1) {
        my $node = int($cpu % $all_cores / $cores);

        push @{$node[$node]}, $cpu;
        push @{$package[$node / $nodes]}, $cpu;
    }
    for my $cpu (0 .. $all - 1) {
        my $core     = $cpu % $all_cores;
        my $package  = int($core / $cores / $nodes);
        my $topology = "$system/cpu/cpu$cpu/topology";
        my @siblings = map { $core + $_ * $all_cores } 0 .. $threads - 1;

        put("$topology/physical_package_id", $package);
        put("$topology/core_id", $core);
        put("$topology/thread_siblings_list", join ',', @siblings);
        put("$topology/$_", mask($all, @siblings)) for qw(core_cpus thread_siblings);
        put("$topology/$_", mask($all, @{$package[$package]})) for qw(package_cpus core_siblings);
    }
    for my $node (0 .. $#node) {
        put("$system/node/node$node/cpulist", join ',', @{$node[$node]});
        put("$system/node/node$node/cpumap", mask($all, @{$node[$node]}));
        put("$system/node/node$node/meminfo", "Node $node MemTotal: 1048576 kB");
    }
}

# Commands from now on see that machine, and nothing that says where processes go.
sub pretend
{
    my ($root) = @_;

    delete @ENV{grep { /^(PRTE|OMPI)_MCA_.*(binding|mapping|hostfile)|^(SLURM|PBS|LSB|FLUX)_|^PE_HOSTFILE$/ }
                    keys %ENV};
    delete @ENV{qw(OMP_NUM_THREADS OMP_THREAD_LIMIT MPIX_ENDPOINTS MPIX_ENDPOINTS_STATIC)};
    $ENV{HWLOC_FSROOT}     = $root;
    $ENV{HWLOC_COMPONENTS} = '-x86'; # it would ask the processor itself
}

1;
