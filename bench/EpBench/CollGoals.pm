# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What the project promises of collectives on two cores, wanted and seen; and their figures for
# docs/comparison.md.

package EpBench::CollGoals;

use strict;
use warnings;

use EpBench::Coll;
use EpBench::Data;
use EpBench::Goals;
use EpBench::Table;

# Two endpoints of a process: [measure, size, most us, least ratio to every peer], undef: none.
my @INSIDE = (
    ['barrier',    0,       0.06, 1.0],
    ['allreduce',  8,       0.07, 2.0],
    ['bcast',      8,       0.05, undef],
    ['iallreduce', 8,       0.25, undef],
    ['pallreduce', 8,       0.15, undef],
    ['pbarrier',   0,       0.15, undef],
    ['allreduce',  65536,   2.5,  2.0],
    ['allreduce',  1048576, 35,   2.0],
    ['bcast',      65536,   1.5,  undef],
    ['bcast',      1048576, 14,   undef],
);

# All sizes of these, of two endpoints of a process, against every peer.
my $OTHERS = 1.5;
my %OTHER  = map { $_ => 1 } qw(reduce allgather alltoall rsblock gather scatter scan);

# Two processes of two endpoints on a node: every line, against ob1.
my $NODE = 1.2;

# Over TCP, two endpoints each.
my @HYBRID = (8, 512, 4096);    # against two ob1 processes, of which one thread calls
my $RAILS  = 1.2;               # 1 MiB, against four ob1 processes

# How many of the points reach a ratio: a line for the worst, and a list of those that do not.
sub group {
    my ($data, $where, $what, $against, $wanted, $scenario, $pairs, $peers, @points) = @_;
    my @seen = sort { $a->[1] <=> $b->[1] } grep { defined $_->[1] } map {
        [$_, EpBench::Coll::least($data, $scenario, $pairs, @$_, @$peers)]
    } @points;
    my $text = EpBench::Goals::line($where, "$what: worst", $against, $wanted,
                                    @seen ? $seen[0][1] : undef, 1);
    my @missed = grep { $_->[1] < $wanted } @seen;
    return $text unless @missed;
    $text .= sprintf("         %d of %d lines miss it:\n", scalar @missed, scalar @seen);
    $text .= sprintf("           %-28s %s\n", EpBench::Data::title(@{ $_->[0] }),
                     EpBench::Table::ratio($_->[1])) for @missed;
    return $text;
}

# How many times as good we are as what a program does without endpoints: one thread of each process
# calls, and the others wait at a barrier before and after.
sub hybrid {
    my ($data, $size) = @_;
    my $mine   = $data->value('tcp', 2, 'allreduce', $size, 'ep');
    my $theirs = $data->value('tcp', 2, $EpBench::Coll::HYBRID, $size, $EpBench::Coll::HYBRID);
    return defined $mine && defined $theirs ? $theirs / $mine : undef;
}

# The same on cores enough for all threads, put together: the call of two processes that have one
# thread each, and two barriers of ours of two threads with a core each.
sub added {
    my ($data, $size) = @_;
    my $mine    = $data->value('tcp', 2, 'allreduce', $size, 'ep');
    my $alone   = $data->value('tcp', 1, 'allreduce', $size, 'proc');
    my $barrier = $data->value('in', 1, 'barrier', 0, 'ep');
    return defined $mine && defined $alone && defined $barrier ? ($alone + 2 * $barrier) / $mine
                                                               : undef;
}

sub table {
    my ($data) = @_;
    my $text = "Goals of collectives (us, or times as good): wanted and seen\n" . '=' x 80 . "\n";
    for my $goal (@INSIDE) {
        my ($measure, $size, $most, $ratio) = @$goal;
        my $name = EpBench::Data::title($measure, $size);
        $text .= EpBench::Goals::line('inside', $name, 'us', $most,
                                      $data->value('in', 1, $measure, $size, 'ep'), 0);
        $text .= EpBench::Goals::line('inside', $name, 'every peer', $ratio, EpBench::Coll::least(
            $data, 'in', 1, $measure, $size, @EpBench::Coll::PEERS), 1) if defined $ratio;
    }
    $text .= group($data, 'inside', 'the others', 'every peer', $OTHERS, 'in', 1,
                   \@EpBench::Coll::PEERS,
                   grep { $OTHER{ $_->[0] } } EpBench::Coll::measured($data, 'in', 1, 'ep'));
    $text .= group($data, 'shm', '2 x 2, all', 'ob1, 4 processes', $NODE, 'shm', 2, ['proc'],
                   EpBench::Coll::measured($data, 'shm', 2, 'ep'));
    for my $size (@HYBRID) {
        my $name = '2 x 2, ' . EpBench::Data::title('allreduce', $size);
        $text .= EpBench::Goals::line('tcp', $name, 'ob1, one thread', 1, hybrid($data, $size), 1);
        $text .= EpBench::Goals::line('tcp', $name, 'ob1 + 2 barriers', 1, added($data, $size), 1);
    }
    $text .= EpBench::Goals::line('tcp', '2 x 2, ' . EpBench::Data::title('allreduce', 1048576),
                                  'ob1, 4 processes', $RAILS, EpBench::Coll::least(
                                      $data, 'tcp', 2, 'allreduce', 1048576, 'proc'), 1);
    return $text;
}

# ---- the page ---------------------------------------------------------------------------------

# Scenario, pairs, heading of its rows, [measure, sizes].
my @ROWS = (
    ['in', 1, undef, ['barrier', 0], ['allreduce', 8, 65536, 1048576], ['bcast', 8, 65536, 1048576],
     ['ibarrier', 0], ['iallreduce', 8], ['pbarrier', 0], ['pallreduce', 8],
     map { [$_, 8, 1048576] } qw(reduce allgather alltoall rsblock gather scatter scan)],
    ['shm', 2, 'two processes of a node, two endpoints each, 4 on 2 cores', ['barrier', 0],
     ['allreduce', 8, 65536, 1048576], ['bcast', 8, 1048576],
     map { [$_, 8, 1048576] } qw(allgather alltoall)],
    ['tcp', 2, 'two processes, TCP loopback, two endpoints each', ['allreduce', 8, 4096, 1048576]],
);

sub row {
    my ($data, $scenario, $pairs, $measure, $size) = @_;
    my $mine = $data->value($scenario, $pairs, $measure, $size, 'ep')
        // die "$measure $size, $scenario, $pairs pairs: not measured\n";
    my $times = EpBench::Coll::least($data, $scenario, $pairs, $measure, $size,
                                     @EpBench::Coll::PEERS);
    my ($goal) = map { $_->[2] } grep { 'in' eq $scenario && $_->[0] eq $measure
                                        && $_->[1] == $size } @INSIDE;
    my @cells = (EpBench::Data::title($measure, $size), EpBench::Table::number($mine),
                 $goal // '', map {
        my $other = $data->value($scenario, $pairs, $measure, $size, $_);
        defined $other ? EpBench::Table::number($other) : ''
    } @EpBench::Coll::PEERS);
    return '| ' . join(' | ', @cells, defined $times
                       ? sprintf($times < 9.95 ? '%.1f' : '%.0f', $times) : '') . " |\n";
}

# What docs/comparison.md says of collectives.
sub page {
    my ($data) = @_;
    my $about = $data->{about};
    my ($mpich) = ($about->{MPICH} // '') =~ /(\d[\w.]*)/;
    my ($new)   = ($about->{'newer MPICH'} // '') =~ /(\d[\w.]*)/;
    my ($ompi)  = ($about->{'newer Open MPI'} // '') =~ /(\d[\w.]*)$/;
    $_ = defined $_ ? " $_" : '' for $mpich, $new, $ompi;
    my $text = "Collectives, of the same run, µs; blocks of such a size, a root that moves on, "
        . "other buffers in each call:\n\n"
        . "| | endpoints | goal | ob1, processes | MPICH$mpich threadcomm | MPICH$new threadcomm "
        . "| MPICH$mpich, processes | MPICH$new, processes | Open MPI$ompi, xhc "
        . "| Open MPI$ompi, acoll | times the best |\n|" . '---|' x 11 . "\n";
    for my $group (@ROWS) {
        my ($scenario, $pairs, $heading, @rows) = @$group;
        $text .= "| **$heading** |" . ' |' x 10 . "\n" if defined $heading;
        for my $row (@rows) {
            my ($measure, @sizes) = @$row;
            $text .= row($data, $scenario, $pairs, $measure, $_) for @sizes;
        }
    }
    my @alone = map { $data->value('tcp', 1, 'allreduce', $_, 'proc') } (8, 4096);
    my @hybrid = map { $data->value('tcp', 2, $EpBench::Coll::HYBRID, $_, $EpBench::Coll::HYBRID) }
        (8, 4096);
    return $text if grep { !defined } @alone, @hybrid;
    return $text . "\n"
        . sprintf("Two ob1 processes of one thread take %s µs for an allreduce of 8 B over TCP, "
                  . "and %s for 4 KiB; with a second thread in each that waits at a barrier before "
                  . "and after, %s and %s.\n",
                  map { EpBench::Table::number($_) } @alone, @hybrid);
}

1;
