#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What each job took: kept in the folder temp of the project, printed with --times.

package Ept::Times;

use strict;
use warnings;

use File::Path qw(make_path);

# A line for each job, those with the most CPU time first, and sums by program.
sub table
{
    my @runs = sort { $b->{cpu} <=> $a->{cpu} } @_;
    my (%sums, @lines);

    for my $run (@runs) {
        my $family = $run->{job}{name} =~ m{^(\w+/)} ? $1 : $run->{job}{name} =~ s{[:/].*}{}r;

        for my $key ($family, 'all') {
            $sums{$key}{$_} += $run->{$_} for qw(seconds cpu);
            $sums{$key}{jobs}++;
        }
        push @lines, sprintf "%8.1f %8.1f  %-40s load %s\n", @$run{qw(seconds cpu)}, $run->{job}{name},
            $run->{load};
    }
    push @lines, "\n", sprintf "%8s %8s  %s\n", 'seconds', 'CPU', 'together';
    push @lines, map { sprintf "%8.1f %8.1f  %s (%d)\n", @{ $sums{$_} }{qw(seconds cpu)}, $_,
                       $sums{$_}{jobs} }
        sort { $sums{$b}{cpu} <=> $sums{$a}{cpu} } keys %sums;
    return sprintf("%8s %8s  %s\n", 'seconds', 'CPU', 'job') . join '', @lines;
}

# Into the folder: times, the table of the last run; unsteady, all that was said of unsteady jobs.
sub keep
{
    my ($folder, $runs, $unsteady) = @_;

    make_path($folder);
    open my $out, '>', "$folder/times" or die "$folder/times: $!\n";
    print $out table(@$runs);
    close $out;
    return if !@$unsteady;
    open $out, '>>', "$folder/unsteady" or die "$folder/unsteady: $!\n";
    print $out scalar(localtime), "\n", map { "$_\n" } @$unsteady;
    close $out;
}

1;
