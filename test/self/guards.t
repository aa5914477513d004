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
# guards.t BUILD-FOLDER: each source file names the tests that guard it ("Tests: NAME, NAME" at the
# end of its head comment), each test what it guards ("Guards: FILE, FOLDER"); what they name is
# there, and each names the other back, a test perhaps the folder.
#
# Guards: ompi, opal, test

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use Test::More;

use Ept::Jobs;
use Ept::Matrix;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $HOW = 'see test/README.md, "Adding one"';

sub text
{
    my ($path) = @_;

    open my $file, '<', "$top/$path" or die "$path: $!\n";
    local $/;
    return <$file>;
}

# The names in a file's line of this title, which may go on in the next lines; what is in
# parentheses is for people.
sub names
{
    my ($path, $title) = @_;
    my ($line) = text($path) =~ /^(?: \*|#|!) \Q$title\E: (.*(?:\n(?: \*|#|!) (?!\S+:)\S.*)*)/m or return;

    return grep { '' ne $_ } map { s/\([^)]*\)//gr =~ s/^\s+|\s+$//gr }
        split /,(?![^(]*\))/, $line =~ s/\n(?: \*|#|!)//gr;
}

# The first of them, a line each.
sub few
{
    return join "\n", @_[0 .. (20 < @_ ? 19 : $#_)];
}

# ---- what there is -------------------------------------------------------------------------------

# Each test by its name in ./ep check, without variant and configuration, and its source, if that is
# one of ours.
my %tests;
my %folders = (unit => 'test/unit', model => 'test/model', fuzz => 'test/fuzz');
my @jobs = (Ept::Jobs::unit_jobs($top, {}), Ept::Jobs::install_jobs($top, { long => 1 }),
            Ept::Jobs::fuzz_jobs($top, {}), Ept::Matrix::endpoint_jobs({ long => 1 }));
for my $job (grep { 'example' ne $_->{kind} } @jobs) {
    my $program = $job->{program} =~ s/\.(?:py|F90)$//r;
    my ($name, $path) = ($program, "test/mpi/$program");

    if ('self' eq $job->{kind}) {
        ($name, $path) = ("$job->{folder}/$program", "test/$job->{folder}/$program");
    } elsif (my $folder = $folders{ $job->{kind} }) {
        ($name, $path) = ("$job->{kind}/" . $program =~ s/^fuzz_//r, "$folder/$program");
    }
    ($tests{$name}) = grep { -e "$top/$_" } map { "$path$_" } qw(.c .py .t .F90);
}

my @sources = split /\n/, `cd '$top' && find ompi opal -name '*.[ch]' | sort`;
my %by_name;
push @{ $by_name{ basename($_) } }, $_ for @sources;
my @places = split /\n/, `cd '$top' && find ompi opal -type d`;

# What a test names: a source by its name alone, a folder by the end of its path, and whatever else
# is in the project.  Returns paths of sources, of folders with a slash behind it.
sub places_of
{
    my ($name) = @_;

    return @{ $by_name{$name} } if $by_name{$name};
    my @found = grep { "/$_" =~ m{/\Q$name\E$} } @places;
    return map { "$_/" } @found;
}

# ---- what they say -------------------------------------------------------------------------------

my (%named, %guarded, @wrong);
for my $path (@sources) {
    my @tests = names($path, 'Tests');

    push @wrong, "$path names no test: $HOW" if !@tests && $path =~ /\.c$/;
    for my $test (@tests) {
        push @wrong, "$path names $test, which is no test of ./ep check --list"
            if !exists $tests{$test};
        $named{$test}{$path} = 1;
    }
}
for my $test (grep { defined $tests{$_} } sort keys %tests) {
    my @what = names($tests{$test}, 'Guards');

    push @wrong, "$tests{$test} names nothing that it guards: $HOW" if !@what;
    for my $what (@what) {
        my @at = places_of($what);

        push @wrong, "$tests{$test} guards $what, which is not there" if !@at && !-e "$top/$what";
        push @wrong, "$tests{$test} guards $what, of which there are " . @at if 1 < @at;
        $guarded{$test}{$_} = $what for @at;
    }
}
is(few(@wrong), '', scalar(@sources) . ' sources, ' . keys(%tests) . ' tests: all name some');

# ---- do they agree? ------------------------------------------------------------------------------

@wrong = ();
for my $test (grep { defined $tests{$_} } sort keys %named) {
    for my $path (sort keys %{ $named{$test} }) {
        push @wrong, "$path names $test, but $tests{$test} does not guard " . basename($path)
            if !grep { $path eq $_ || (m{/$} && 0 == index $path, $_) } keys %{ $guarded{$test} };
    }
}
# A test of how the tree looks guards what need not know of it.
for my $test (grep { !m{^self/} } sort keys %guarded) {
    for my $place (sort keys %{ $guarded{$test} }) {
        push @wrong, "$tests{$test} guards $guarded{$test}{$place}, which does not name $test"
            if !grep { $_ eq $place || ($place =~ m{/$} && 0 == index $_, $place) }
                keys %{ $named{$test} };
    }
}
is(few(@wrong), '', 'each names the other');

done_testing;
