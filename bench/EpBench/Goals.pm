# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What the project promises of two cores, wanted and seen.

package EpBench::Goals;

use strict;
use warnings;

use EpBench::Data;
use EpBench::Table;
use EpBench::Ways;

# One pair: how many times as good as a peer, or as the best of several.
# [scenario, measure, size, peers, least ratio]
my @RATIOS = (
    ['in',  'lat',  8,       'floor',           0.5],
    ['in',  'lat',  8,       'proc,threadcomm', 1.4],
    ['in',  'lat',  8,       'thread',          4.0],
    ['in',  'rate', 8,       'proc,threadcomm', 2.0],
    ['in',  'rate', 8,       'thread',          8.0],
    ['in',  'bw',   65536,   'floor',           1.0],
    ['in',  'bw',   1048576, 'floor',           1.3],
    ['in',  'bw',   65536,   'threadcomm',      1.0],
    ['in',  'bw',   1048576, 'threadcomm',      1.0],
    ['in',  'bw',   65536,   'proc',            2.5],
    ['in',  'bw',   1048576, 'proc',            2.5],
    ['shm', 'lat',  8,       'proc',            1.0],
    ['shm', 'rate', 8,       'proc',            1.0],
    ['tcp', 'lat',  8,       'proc',            1 / 1.1],
    ['tcp', 'rate', 8,       'proc',            4.0],
    ['tcp', 'bw',   1048576, 'proc',            1.0],
);

# What a promise of one thread may still save, ns a message.
my $LEVEL_NS = 15;

my @ORDINARY = (['lat', 8], ['rate', 8], ['bw', 1048576]);

my %SHORT = (floor => 'floor', proc => 'ob1, processes', thread => 'ob1, threads',
             threadcomm => 'MPICH threadcomm', 'proc,threadcomm' => 'ob1 proc. or MPICH');

# One line.  $least: does more mean better?  Then it is a ratio.
sub line {
    my ($where, $what, $against, $wanted, $seen, $least) = @_;
    my $word = !defined $seen ? 'none'
        : ($least ? $seen >= $wanted : $seen <= $wanted) ? 'met' : 'MISSED';
    my $text = $least ? EpBench::Table::ratio($seen) : EpBench::Table::number($seen);
    return sprintf("  %-6s %-25s%-18swanted %5.2f seen %6s  %s\n", $where, $what, $against,
                   $wanted, $text, $word);
}

sub ratio_line {
    my ($data, $scenario, $measure, $size, $peers, $wanted) = @_;
    my $mine = $data->figure($scenario, 1, $measure, $size, 'ep');
    my $seen;
    for my $peer ($mine ? split(/,/, $peers) : ()) {
        my $other = $data->figure($scenario, 1, $measure, $size, $peer) or next;
        my $ratio = EpBench::Data::advantage($measure, $mine->{median}, $other->{median});
        $seen = $ratio if defined $ratio && (!defined $seen || $ratio < $seen);
    }
    return line('in' eq $scenario ? 'inside' : $scenario, EpBench::Data::title($measure, $size),
                $SHORT{$peers}, $wanted, $seen, 1);
}

# How much of a figure is left at another point, each round compared with itself.
sub kept {
    my ($data, $measure, $from, $to) = @_;    # [pairs, size]
    my %base = map { $_->{round} => $_ } $data->rows('in', $from->[0], $measure, $from->[1], 'ep');
    my @kept = map { $data->of($_) / $data->of($base{ $_->{round} }) }
        grep { $base{ $_->{round} } } $data->rows('in', $to->[0], $measure, $to->[1], 'ep');
    return @kept ? EpBench::Data::median(@kept) : undef;
}

# What funneled saves, ns: a message's time is the inverse of the rate, or the latency itself.
sub saved_ns {
    my ($data, $measure) = @_;
    my ($default, $funneled) =
        map { $data->figure('in', 1, $measure, 8, $_) } ('ep', 'ep-funneled');
    return undef unless $default && $funneled;
    return 1e3 * ($default->{median} - $funneled->{median}) if 'lat' eq $measure;
    return 1e3 / $default->{median} - 1e3 / $funneled->{median};
}

sub table {
    my ($data) = @_;
    my $text = "Goals (one pair, times as good unless it says else): wanted and seen\n"
        . '=' x 80 . "\n";
    $text .= ratio_line($data, @$_) for @RATIOS;
    $text .= line('inside', 'Rate both ways 8 B', '2 pairs of 1 pair', 1 - $EpBench::Table::SAME,
                  kept($data, 'birate', [1, 8], [2, 8]), 1);
    for my $measure ('posted', 'unexpected') {
        $text .= line('inside', "8 B, 4096 $measure", 'share of none', 0.8,
                      kept($data, $measure, [1, 0], [1, 4096]), 1);
    }
    for my $measure ('lat', 'rate') {
        $text .= line('inside', EpBench::Data::title($measure, 8), 'funneled saves ns', $LEVEL_NS,
                      saved_ns($data, $measure), 0);
    }
    for my $point (@ORDINARY) {
        my $ratio = $data->paired_advantage('in', 1, @$point, 'proc-epml', 'proc');
        $text .= line('epml', EpBench::Data::title(@$point), 'plain ob1', 1 - $EpBench::Table::SAME,
                      $ratio ? $ratio->{median} : undef, 1);
    }
    return $text;
}

1;
