#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# lines.t BUILD-FOLDER: the model of bench/lines counts what is known of simple ways, and what it says of
# coll/epcoll's segment is what the project has promised.
#
# Guards: bench/lines

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');

# What the model says with these options: {kind}{threads} = [[ns, times the bound, lines, most], ...],
# by way.
sub tables
{
    my (@options) = @_;
    my $text = `'$top/bench/lines/run-lines' @options 2>&1`;
    my (%table, $kind);

    is($?, 0, "run-lines @options") or diag($text);
    for (split /\n/, $text) {
        $kind = $1 if /^(barrier|allreduce|bcast)\b.*bound/;
        next if !defined $kind || !/^ +(\d+) +\d+ \|(.*)\|$/;
        my $threads = $1;
        $table{$kind}{$threads} = [map { [split ' '] } split /\|/, $2];
    }
    return \%table;
}

my ($SEGMENT, $DISSEMINATION, $TREE, $COUNTER) = 0 .. 3;
my ($NS, $TIMES, $LINES, $MOST) = 0 .. 3;

# ---- what is known -------------------------------------------------------------------------------

my $first = tables('--threads', 64);
for my $threads (2, 4, 8, 16, 32, 64) {
    my $rounds = log($threads) / log(2);
    my $got = $first->{allreduce}{$threads};
    my $near = $rounds < 3 ? $rounds : 3;

    is($got->[$DISSEMINATION][$LINES], sprintf('%.2f', $rounds),
       "recursive doubling, $threads threads: a line each round");
    is($got->[$DISSEMINATION][$NS], 30 * $near + 120 * ($rounds - $near) + $rounds,
       'near ones, then far ones, and a store each');
    is($got->[$TREE][$LINES], sprintf('%.2f', 2 * ($threads - 1) / $threads),
       'tree: up and down for all but one');
    is($got->[$COUNTER][$LINES], sprintf('%.2f', (2 * $threads - 1) / $threads),
       'counter: to each, and back to all but the last');
    # They come in the order of their groups.
    my $groups = $threads < 8 ? 1 : $threads / 8;
    cmp_ok($got->[$COUNTER][$NS], '>=', 30 * ($threads - $groups) + 120 * ($groups - 1),
           'counter: one after the other');
}
is_deeply(tables('--threads', 64), $first, 'and the same again');

# ---- what is promised ----------------------------------------------------------------------------

# Issue 13: at most twice the lower bound of 8 groups of 8, and never more lines per member as threads
# grow.  Also where a store waits half a transfer for the end of others' copies, which the bound has.
my @KINDS = qw(barrier allreduce);
my $all = tables();
cmp_ok($all->{bcast}{$_}[$SEGMENT][$LINES], '<=', $all->{bcast}{8}[$SEGMENT][$LINES],
       "bcast, $_ threads: lines per member") for 16, 32, 64, 128, 256;
my $slow = tables(qw(--threads 64 --invalidate 50));
for my $kind (@KINDS) {
    cmp_ok($all->{$kind}{64}[$SEGMENT][$TIMES], '<=', 2, "$kind, 8 groups of 8");
    cmp_ok($slow->{$kind}{64}[$SEGMENT][$TIMES], '<=', 2, "$kind, stores that wait");
    for my $threads (16, 32, 64, 128, 256) {
        my $got = $all->{$kind}{$threads}[$SEGMENT];

        cmp_ok($got->[$LINES], '<=', $all->{$kind}{8}[$SEGMENT][$LINES],
               "$kind, $threads threads: lines per member");
        cmp_ok($got->[$MOST], '<=', $threads <= 64 ? 14 : 21, 'seven at each level for a leader');
    }
}

done_testing;
