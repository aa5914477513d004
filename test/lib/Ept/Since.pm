#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# --since: the jobs that guard what a diff changes, by the names that sources and tests give each other.

package Ept::Since;

use strict;
use warnings;

use File::Basename qw(basename);

use Ept::Build;
use Ept::Guards;

# Looking at the tree takes a second: always.
my @ALWAYS = qw(self/guards self/layers self/links);

# What a diff says: paths, and the changed lines of each.
sub _changes
{
    my ($file) = @_;
    my (%lines, $path);

    for my $line (split /\n/, Ept::Build::read_file($file)) {
        if ($line =~ m{^(?:---|\+\+\+) [ab]/(.*)$}) {
            $path = $1;
            $lines{$path} //= '';
        } elsif (defined $path && $line =~ /^[-+](.*)/) {
            $lines{$path} .= "$1\n";
        }
    }
    return %lines;
}

# Files below some folders that include or name a file.
sub _users
{
    my ($top, $name, @folders) = @_;
    my @folders_there = grep { -d "$top/$_" } @folders;

    return split /\n/, `cd '$top' && grep -rlwF --include='*.[ch]' '$name' @folders_there`;
}

# Tests, by name, that guard a source of the product.
sub _tests_of_source
{
    my ($top, $path) = @_;
    my @tests = Ept::Guards::names("$top/$path", 'Tests');

    return @tests if @tests || $path !~ /\.h$/;
    # A header that names none: those of the sources that include it.
    return map { Ept::Guards::names("$top/$_", 'Tests') } _users($top, basename($path), qw(ompi opal));
}

# Programs of ours that a file in test/ is part of.
sub _programs_of_test
{
    my ($top, $path) = @_;
    my $name = basename($path) =~ s/\.\w+$//r;

    return ($name, map { basename($_) =~ s/\.\w+$//r }
            _users($top, basename($path), map { "test/$_" } qw(mpi ranks unit fuzz model)));
}

# The jobs of these that what has changed according to the diff concerns.
sub choose
{
    my ($top, $diff, @jobs) = @_;
    my %changes = _changes($diff);
    my (%tests, %programs);

    $tests{$_} = 1 for @ALWAYS;
    for my $path (sort keys %changes) {
        if ($path =~ m{^(?:ompi|opal)/.*\.[ch]$}) {
            $tests{$_} = 1 for _tests_of_source($top, $path);
        } elsif ($path =~ m{^test/lib/Ept/Table/}) {
            # The entries that have changed: words that are names of programs.
            $programs{$_} = 1 for $changes{$path} =~ /\w+/g;
        } elsif ($path =~ m{^test/lib/(\w+)\.[ch]$}) {
            my $name = $1;
            $programs{ $_->{program} } = 1 for grep { $name eq ($_->{preload} // '') } @jobs;
        } elsif ($path =~ m{^test/(self|install)/(\w+)\.t$}) {
            $tests{"$1/$2"} = 1;
        } elsif ($path =~ m{^(?:test/(?:mpi|ranks|unit|fuzz|model)|examples)/}) {
            $programs{$_} = 1 for _programs_of_test($top, $path);
        } elsif ($path =~ m{^(?:docs/.*\.in|.*help-.*\.txt|.*\.am|configure\.ac|config/.*)$}) {
            $tests{'install/files'} = 1;
        } elsif ($path =~ m{^bench/}) {
            $tests{$_} = 1 for qw(self/bench self/lines);
        }
    }
    return grep {
        my ($test) = Ept::Guards::test_of($_);
        $tests{$test} || $tests{ $_->{program} } || $programs{ $_->{program} =~ s/\.\w+$//r };
    } @jobs;
}

1;
