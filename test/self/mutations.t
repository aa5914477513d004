#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# mutations.t BUILD-FOLDER: each change in the table of mutations has its place in the sources, and
# names tests of the default selection.  (That these notice it: ./ep check --long=mutations.)
#
# Guards: test/mutations, test/lib/Ept/Mutations.pm

use strict;
use warnings;
use feature 'state';

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;

use Ept::Build;
use Ept::Mutations;

my $top = abs_path(dirname(__FILE__) . '/../..');

# What runs by default, whatever options this run has.
sub default_names
{
    delete local @ENV{qw(EPT_ARGS EPT_VERBOSE)};
    my @names = `'$^X' '$top/test/run-tests' --list`;

    chomp @names;
    return map { $_ => 1 } @names;
}

# The tests of a mutation that do not.
sub not_default
{
    my ($mutation) = @_;
    state %default = default_names();

    return map { "$mutation->{name}: $_" } grep { !$default{$_} } split ' ', $mutation->{tests};
}

my @mutations = Ept::Mutations::all($top);
my %seen;

cmp_ok(scalar @mutations, '>', 0, 'there are some');
is(join("\n", grep { $seen{$_}++ } map { $_->{name} } @mutations), '', 'no name comes twice');
is(join("\n", map { "$_->{name}: $_->{file}" }
    grep { 1 != (() = Ept::Build::read_file("$top/$_->{file}") =~ /\Q$_->{from}\E/g) } @mutations),
    '', 'each has one place');
is(join("\n", map { $_->{name} } grep { $_->{from} eq $_->{to} } @mutations), '', 'each changes it');
is(join("\n", map { not_default($_) } @mutations), '', 'their tests run by default');
is(join("\n", map { $_->{name} } grep { '' eq $_->{tests} } @mutations), '', 'each has one');
done_testing();
