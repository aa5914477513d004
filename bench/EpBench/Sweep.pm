# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# One way, rate and stream at every size: what is run, the table, and whether a longer message is
# ever the faster one.  The plot is made of Plot.pm's panels.

package EpBench::Sweep;

use strict;
use warnings;

use EpBench::Data;
use EpBench::Plot;
use EpBench::Table;
use EpBench::Ways;

our @PEERS = qw(proc thread threadcomm);

# What endpoints are to be, times as good as the best peer.
our %GOAL = (in => 1.3, shm => 1.1);

# A message may take so much longer than a larger one.
our $SLACK = 1.05;

# Powers of two and what is half way between, 0, and the last size below a page with a header.
sub all_sizes {
    my @sizes = (0, 4000);
    for (my $size = 8; $size <= 4 << 20; $size *= 2) {
        push(@sizes, $size);
        push(@sizes, $size / 2 * 3) if 256 <= $size && $size < 4 << 20;
    }
    return sort { $a <=> $b } @sizes;
}

my %RANGE = (lat => [0, 4 << 20], rate => [0, 64 << 10], bw => [4 << 10, 4 << 20]);
my @MEASURES = qw(lat rate bw);

# Is a size in one of the ranges, or are there none?
sub is_wanted {
    my ($size, $ranges) = @_;
    return !$ranges || grep { $_->[0] <= $size && $size <= $_->[1] } @$ranges;
}

# The jobs of a way; the floor says how far the cores were from each other meanwhile.
sub parts {
    my ($way, $scenario, $pairs, $only, $ranges) = @_;
    return () if 1 != $pairs || $way->{ordinary};
    if ('floor' eq $way->{name}) {
        return 'in' eq $scenario ? { name => 'floor', points => ['lat:8'] } : ();
    }
    my @parts;
    for my $measure (grep { !$only || $only->{$_} } @MEASURES) {
        my ($least, $most) = @{ $RANGE{$measure} };
        my @points = map { "$measure:$_" }
            grep { $least <= $_ && $_ <= $most && is_wanted($_, $ranges) } all_sizes();
        push(@parts, { name => $measure, points => \@points }) if @points;
    }
    return @parts;
}

# The best peer's figure and how many times as good ours is; undef where one is missing.
sub against_best {
    my ($data, $scenario, $measure, $size) = @_;
    my $mine = $data->figure($scenario, 1, $measure, $size, 'ep') or return;
    my ($best, $least);
    for my $peer (@PEERS) {
        my $other = $data->figure($scenario, 1, $measure, $size, $peer) or next;
        my $ratio = EpBench::Data::advantage($measure, $mine->{median}, $other->{median});
        ($best, $least) = ($other->{median}, $ratio)
            if defined $ratio && (!defined $least || $ratio < $least);
    }
    return ($mine->{median}, $best, $least);
}

# What a message takes, us.
sub duration {
    my ($data, $scenario, $measure, $size) = @_;
    my $figure = $data->figure($scenario, 1, $measure, $size, 'ep') or return;
    return 'lat' eq $measure ? $figure->{median}
        : 'rate' eq $measure ? 1 / $figure->{median} : $size / $figure->{median} / 1e3;
}

# size => [larger size, how many times as long], of those that take longer than a larger one.
sub inversions {
    my ($data, $scenario, $measure) = @_;
    my (%found, $least, $at);
    for my $size (reverse $data->sizes(scenario => $scenario, measure => $measure, way => 'ep')) {
        my $takes = duration($data, $scenario, $measure, $size);
        next unless $takes;
        $found{$size} = [$at, $takes / $least] if defined $least && $takes > $SLACK * $least;
        ($least, $at) = ($takes, $size) if !defined $least || $takes < $least;
    }
    return \%found;
}

sub line {
    my ($data, $scenario, $size, $inverted) = @_;
    my $text = sprintf('%9s', EpBench::Data::bytes($size));
    for my $measure (@MEASURES) {
        my ($mine, $best, $ratio) = against_best($data, $scenario, $measure, $size);
        $text .= sprintf(' %7s%1s%7s%6s%1s', EpBench::Table::number($mine),
                         $inverted->{$measure}{$size} ? '!' : '', EpBench::Table::number($best),
                         EpBench::Table::ratio($ratio),
                         defined $ratio && $ratio < $GOAL{$scenario} ? '*' : '');
    }
    $text =~ s/ +$//;
    return "$text\n";
}

# How many sizes are as good as they should be, and the worst.
sub summary {
    my ($data, $scenario, $inverted) = @_;
    my $text = '';
    for my $measure (@MEASURES) {
        my @ratios;
        for my $size ($data->sizes(scenario => $scenario, measure => $measure, way => 'ep')) {
            my $ratio = (against_best($data, $scenario, $measure, $size))[2];
            push(@ratios, [$size, $ratio]) if defined $ratio;
        }
        next unless @ratios;
        my ($worst) = sort { $a->[1] <=> $b->[1] } @ratios;
        my @longer = sort { $a <=> $b } keys %{ $inverted->{$measure} };
        $text .= sprintf("  %-13s %d of %d sizes %.1f times as good; least %s at %s\n",
                         $EpBench::Data::MEASURE{$measure}{title},
                         scalar(grep { $_->[1] >= $GOAL{$scenario} } @ratios), scalar @ratios,
                         $GOAL{$scenario}, EpBench::Table::ratio($worst->[1]),
                         EpBench::Data::bytes($worst->[0]));
        $text .= sprintf("  %-13s takes %.2f times as long as %s\n",
                         '  ' . EpBench::Data::bytes($_), $inverted->{$measure}{$_}[1],
                         EpBench::Data::bytes($inverted->{$measure}{$_}[0])) for @longer;
    }
    return $text;
}

sub table {
    my ($data, $scenario) = @_;
    my @sizes = $data->sizes(scenario => $scenario, way => 'ep');
    return '' unless @sizes;
    my $rounds = $data->distinct('round', scenario => $scenario, way => 'ep');
    my %inverted = map { $_ => inversions($data, $scenario, $_) } @MEASURES;
    my $text = sprintf("%s: every size, one pair, %s\n", $EpBench::Ways::SCENARIO{$scenario}{title},
                       $data->statistic($rounds)) . '=' x 80 . "\n"
        . sprintf("%9s%22s%23s%23s\n", '', 'one way, us  ', 'rate, M/s  ', 'stream, GB/s  ')
        . sprintf('%9s', '') . sprintf(' %7s %7s%6s ', 'endp.', 'best', 'times') x 3 . "\n";
    $text =~ s/ +$//mg;
    $text .= line($data, $scenario, $_, \%inverted) for @sizes;
    return $text . "\n" . summary($data, $scenario, \%inverted);
}

# How far the cores were from each other: on a virtual machine that may change under the benchmark.
sub distance {
    my ($data) = @_;
    my $figure = $data->figure('in', 1, 'lat', 8, 'floor') or return '';
    return sprintf("A cache line from core to core: %.3f us (%.3f to %.3f in %d rounds)%s\n",
                   @$figure{qw(median min max rounds)},
                   $figure->{max} > 1.5 * $figure->{min}
                       ? ":\nthe cores have moved, and figures of different ways may not compare."
                       : '');
}

sub tables {
    my ($data) = @_;
    return ((map { table($data, $_->{name}) } @EpBench::Ways::SCENARIOS), distance($data),
            "*: less than wanted.  !: takes over 5 % longer than a larger one.\n");
}

sub figures {
    my ($data) = @_;
    my %figure;
    for my $scenario ($data->distinct('scenario', way => 'ep')) {
        my @panels = grep { length } (
            EpBench::Plot::size_panel($data, $scenario, 1, 'lat', 'One way (less is better)', 'µs',
                                      'log'),
            EpBench::Plot::size_panel($data, $scenario, 1, 'rate',
                                      'Message rate (more is better)', 'million messages/s', 'log'),
            EpBench::Plot::size_panel($data, $scenario, 1, 'bw', 'Stream (more is better)', 'GB/s',
                                      ''));
        $figure{"sweep-$scenario"} = EpBench::Plot::figure(
            $data, $scenario, ['ep', @PEERS, 'floor'],
            { title => EpBench::Plot::titled($scenario, ', every size') }, @panels) if @panels;
    }
    return %figure;
}

1;
