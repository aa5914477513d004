# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Tables for people: one screen per scenario, 80 columns.

package EpBench::Table;

use strict;
use warnings;

use EpBench::Data;
use EpBench::Ways;

# Differences below this are called the same.
our $SAME = 0.02;

my @PEERS = qw(proc thread threadcomm);

# The sizes that a screen has room for; the CSV and the plots have all of them.
my %SHOWN = (
    lat        => [8, 512, 4096, 65536, 1048576, 4194304],
    rate       => [8, 512, 4096],
    birate     => [8],
    bw         => [4096, 65536, 1048576, 4194304],
    bibw       => [65536, 1048576],
    halo       => [8, 4096, 65536],
    barrier    => [0],
    (map { $_ => [8, 4096, 65536, 1048576] } qw(allreduce bcast reduce allgather alltoall rsblock
                                                rscatter gather scatter scan)),
    iallreduce => [8],
    pallreduce => [8],
    ibarrier   => [0],
    pbarrier   => [0],
    dup        => [0],
    split      => [0],
    create     => [0],
    free       => [0],
    posted     => [0, 256, 4096],
    unexpected => [0, 256, 4096],
    make       => [1, 16, 256, 1024],
    heap       => [1, 16, 256, 1024],
    resident   => [1, 16, 256, 1024],
    peerheap   => [8],
    peerresident => [65536],
    job        => [0],
);

sub shown {
    my ($measure, @sizes) = @_;
    my %room = map { $_ => 1 } @{ $SHOWN{ $measure->{name} } };
    my @some = grep { $room{$_} } @sizes;
    return @some ? @some : @sizes;
}

# Three significant digits, but four where there is no point in them; at most six characters.
sub number {
    my ($value) = @_;
    return '-' unless defined $value;
    return number($value / 1e6) . 'M' if $value >= 999500;
    return number($value / 1e3) . 'k' if $value >= 9999.5;
    return sprintf('%.0f', $value) if $value >= 99.95 || $value <= 0;
    return sprintf('%.1f', $value) if $value >= 9.995;
    return sprintf('%.2f', $value) if $value >= 0.9995;
    return sprintf('%.3f', $value) if $value >= 0.09995;
    return sprintf('%.4f', $value);
}

sub ratio {
    my ($value) = @_;
    return '-' unless defined $value;
    return sprintf($value >= 99.5 ? '%.0f' : $value >= 9.95 ? '%.1f' : '%.2f', $value);
}

sub verdict {
    my ($ratio, $color) = @_;
    return '' unless defined $ratio;
    my $word = abs($ratio - 1) <= $SAME ? 'same' : $ratio > 1 ? 'better' : 'worse';
    my $text = sprintf('%5s %s', ratio($ratio), $word);
    return $text if !$color || 'same' eq $word;
    return ('better' eq $word ? "\e[32m" : "\e[31m") . "$text\e[0m";
}

# Half the distance of the extremes, in percent of the median.
sub spread {
    my ($figure) = @_;
    return '' if !$figure || $figure->{rounds} < 2 || $figure->{median} <= 0;
    return sprintf('%.0f', 50 * ($figure->{max} - $figure->{min}) / $figure->{median});
}

sub label {
    my ($measure, $size) = @_;
    return '' if $measure->{bare};
    return $size if $measure->{count};
    return EpBench::Data::bytes($size);
}

sub comparison_line {
    my ($data, $scenario, $pairs, $measure, $size, $color) = @_;
    my %figure = map {
        $_ => $data->figure($scenario, $pairs, $measure->{name}, $size, $_)
    } ('ep', 'floor', @PEERS);
    my $mine = $figure{ep};
    my (@values, @ratios, $least);
    for my $peer (@PEERS) {
        my $other = $figure{$peer} ? $figure{$peer}{median} : undef;
        my $ratio = ($mine && defined $other)
            ? EpBench::Data::advantage($measure->{name}, $mine->{median}, $other) : undef;
        push(@values, number($other));
        push(@ratios, ratio($ratio));
        $least = $ratio if defined $ratio && (!defined $least || $ratio < $least);
    }
    my $line = sprintf("%8s%7s%4s%7s%7s%7s%7s%6s%7s%7s %s",
                       label($measure, $size), number($mine ? $mine->{median} : undef),
                       spread($mine), @values,
                       $figure{floor} ? number($figure{floor}{median}) : '-', @ratios,
                       verdict($least, $color));
    $line =~ s/ +$//;
    return "$line\n";
}

# One screen: everything measured in one scenario with one number of pairs.
sub comparison {
    my ($data, $scenario, $pairs, $color) = @_;
    my $rounds = $data->distinct('round', scenario => $scenario, pairs => $pairs);
    my $text   = sprintf("%s: %s of workers, %s\n",
                         $EpBench::Ways::SCENARIO{$scenario}{title},
                         1 == $pairs ? 'one pair' : "$pairs pairs", $data->statistic($rounds));
    $text .= '=' x 80 . "\n";
    $text .= sprintf("%8s%7s%4s%7s%7s%7s%7s  %-19s%s\n", '', 'end-', '+-', 'ob1', 'ob1',
                     'MPICH', '', 'times as good as', 'against');
    $text .= sprintf("%8s%7s%4s%7s%7s%7s%7s%6s%7s%7s  %s\n", '', 'points', '%', 'proc',
                     'thread', 'thrcom', 'floor', 'proc', 'thread', 'thrcom', 'best peer');
    for my $measure (@EpBench::Data::MEASURES) {
        # What only ways without a column here have measured would be a line of dashes.
        my @sizes = grep {
            my $size = $_;
            grep { $data->figure($scenario, $pairs, $measure->{name}, $size, $_) }
                'ep', 'floor', @PEERS;
        } shown($measure, $data->sizes(scenario => $scenario, pairs => $pairs,
                                       measure => $measure->{name}));
        next unless @sizes;
        $text .= "$measure->{title}, $measure->{unit} ("
            . ($measure->{higher} ? 'more' : 'less') . " is better)\n";
        $text .= comparison_line($data, $scenario, $pairs, $measure, $_, $color) for @sizes;
    }
    return $text;
}

sub legend {
    return <<'TEXT';
How to read: "times as good" is above 1 where endpoints are better, for times
and rates alike; "best peer" is the best of the three.  +-%: half the distance
between the extreme rounds.  A dash: not measured, or the peer cannot do it.
  proc    ob1, a process per worker
  thread  ob1, MPI_THREAD_MULTIPLE, a communicator per pair of threads
  thrcom  MPICH thread communicator
  floor   no MPI: a bounced cache line, one memcpy, a plain socket
TEXT
}

# Ways without a column, and the way they are to be seen beside: [way, base, title,
# head of the base's column, head of the way's].
my @BESIDE = (
    ['proc-epml', 'proc', 'An ordinary communicator under epml, beside plain ob1', 'plain',
     'epml'],
    ['ep-funneled', 'ep', 'Endpoints with mpix_thread_level=funneled, beside the default',
     'default', 'funnel'],
    ['ep', 'proc-multiple', 'Endpoints, beside ob1 processes with MPI_THREAD_MULTIPLE', 'ob1',
     'ep'],
    ['ep', 'ep-before', 'Endpoints, beside those of --against', 'before', 'ep'],
);

# 1.013 -> "+1.3 %", 3.2 -> "3.20 x"
sub difference {
    my ($ratio) = @_;
    return $ratio > 0.5 && $ratio < 1.5 ? sprintf('%+.1f %%', 100 * ($ratio - 1))
                                        : sprintf('%.2f x', $ratio);
}

sub beside_lines {
    my ($data, $way, $base, $scenario, $pairs) = @_;
    my $text = '';
    for my $measure (@EpBench::Data::MEASURES) {
        for my $size (shown($measure, $data->sizes(scenario => $scenario, way => $way,
                                                   pairs => $pairs,
                                                   measure => $measure->{name}))) {
            my @at    = ($scenario, $pairs, $measure->{name}, $size);
            my $mine  = $data->figure(@at, $way);
            my $other = $data->figure(@at, $base);
            my $ratio = $data->paired_advantage(@at, $way, $base);
            next unless $mine && $other && $ratio;
            my $name = $measure->{short} || $measure->{title};
            $name .= ' ' . label($measure, $size) unless $measure->{bare};
            $text .= sprintf("   %-30s%8s%8s%9s  (%s .. %s)\n", "$name, $measure->{unit}",
                             number($other->{median}), number($mine->{median}),
                             map { difference($_) } ($ratio->{median}, $ratio->{values}[0],
                                                     $ratio->{values}[-1]));
        }
    }
    return $text;
}

# Each round is compared with itself here: small differences show that way.
sub beside {
    my ($data) = @_;
    my @screens;
    for my $entry (@BESIDE) {
        my ($way, $base, $title, @heads) = @$entry;
        my $text = '';
        for my $scenario (map { $_->{name} } @EpBench::Ways::SCENARIOS) {
            for my $pairs (sort { $a <=> $b } $data->distinct('pairs', way => $way,
                                                              scenario => $scenario)) {
                my $lines = beside_lines($data, $way, $base, $scenario, $pairs) or next;
                my $where = $EpBench::Ways::WAY{$way}{each}
                    ? 2 * $pairs . ' processes' : $EpBench::Ways::SCENARIO{$scenario}{plot};
                $text .= "  $where, " . (1 == $pairs ? 'one pair' : "$pairs pairs") . "\n$lines";
            }
        }
        push(@screens, "$title\n" . '=' x 80 . "\n"
             . sprintf("   %-30s%8s%8s%10s %s\n", '', @heads, 'better by', 'all rounds') . $text)
            if length($text);
    }
    return @screens;
}

1;
