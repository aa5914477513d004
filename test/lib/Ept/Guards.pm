#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# The names that sources and tests give each other: "Tests: NAME, ..." in a source, "Guards: SOURCE, ..."
# in a test (README.md, "Adding one").  self/guards compares them, and --since chooses by them.

package Ept::Guards;

use strict;
use warnings;

use File::Basename qw(basename);

use Ept::Build;
use Ept::Jobs;
use Ept::Matrix;

# The names in a file's line of this title, which may go on in the next lines; what is in
# parentheses is for people.
sub names
{
    my ($file, $title) = @_;
    my ($line) = Ept::Build::read_file($file)
        =~ /^(?: \*|#|!) \Q$title\E: (.*(?:\n(?: \*|#|!) (?!\S+:)\S.*)*)/m or return;

    return grep { '' ne $_ } map { s/\([^)]*\)//gr =~ s/^\s+|\s+$//gr }
        split /,(?![^(]*\))/, $line =~ s/\n(?: \*|#|!)//gr;
}

# A job's test, by its name in ./ep check without variant and configuration, and its source's path
# without an end.
sub test_of
{
    my ($job) = @_;
    my $program = $job->{program} =~ s/\.(?:py|F90)$//r;
    my %folders = (unit => 'test/unit', model => 'test/model', fuzz => 'test/fuzz');

    return ("$job->{folder}/$program", "test/$job->{folder}/$program") if 'self' eq $job->{kind};
    if (my $folder = $folders{ $job->{kind} }) {
        return ("$job->{kind}/" . $program =~ s/^fuzz_//r, "$folder/$program");
    }
    return ($program, $job->{unmodified} ? "test/ranks/$program" : "test/mpi/*/$program");
}

# All tests by their names: the source of each, if that is one of ours.
sub tests
{
    my ($top) = @_;
    my @jobs = (Ept::Jobs::unit_jobs($top, {}), Ept::Jobs::install_jobs($top, { long => 1 }),
                Ept::Jobs::scheduler_jobs($top, { long => 1 }),
                Ept::Jobs::fuzz_jobs($top, {}), Ept::Matrix::endpoint_jobs({ long => 1 }));
    my %tests;

    for my $job (grep { 'example' ne $_->{kind} } @jobs) {
        my ($name, $path) = test_of($job);

        ($tests{$name}) = map { s{^\Q$top\E/}{}r } grep { -e } glob "$top/$path.{c,cpp,py,t,F90}";
    }
    return %tests;
}

sub sources
{
    my ($top) = @_;

    return split /\n/, `cd '$top' && find ompi opal -name '*.[ch]' | sort`;
}

# What a test's names mean: a source by its name alone, a folder by the end of its path, and whatever
# else is in the project.  Returns a function that gives the paths of a name: of sources, and of
# folders with a slash behind them.
sub places
{
    my ($top) = @_;
    my @places = split /\n/, `cd '$top' && find ompi opal -type d`;
    my %by_name;

    push @{ $by_name{ basename($_) } }, $_ for sources($top);
    return sub {
        my ($name) = @_;

        return @{ $by_name{$name} } if $by_name{$name};
        return map { "$_/" } grep { "/$_" =~ m{/\Q$name\E$} } @places;
    };
}

1;
