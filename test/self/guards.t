#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
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

use Ept::Guards;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $HOW = 'see test/README.md, "Adding one"';

sub names
{
    my ($path, $title) = @_;

    return Ept::Guards::names("$top/$path", $title);
}

# The first of them, a line each.
sub few
{
    return join "\n", @_[0 .. (20 < @_ ? 19 : $#_)];
}

my %tests = Ept::Guards::tests($top);
my @sources = Ept::Guards::sources($top);
my $places_of = Ept::Guards::places($top);

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
        # A file at the top, such as ep, is of no component.
        my @at = -f "$top/$what" ? () : $places_of->($what);

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
