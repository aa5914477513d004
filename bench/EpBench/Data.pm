# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# The numbers: one row per round, scenario, pairs, way, measurement and size.

package EpBench::Data;

use strict;
use warnings;

our @COLUMNS = qw(round scenario pairs way measure size value best unit better window iterations);

# name; title: heading of its lines in a table; short: for a single line; unit; higher: does more
# mean better; bare: without size; count: the size is a number of messages.
our @MEASURES = (
    { name => 'lat', title => 'One way', unit => 'us', higher => 0 },
    { name => 'rate', title => 'Message rate', unit => 'M/s', higher => 1 },
    { name => 'birate', title => 'Message rate both ways', short => 'Rate both ways', unit => 'M/s',
      higher => 1 },
    { name => 'bw', title => 'Bandwidth', unit => 'GB/s', higher => 1 },
    { name => 'bibw', title => 'Bandwidth both ways', short => 'Both ways', unit => 'GB/s',
      higher => 1 },
    { name => 'halo', title => 'Halo exchange with four neighbours', short => 'Halo exchange',
      unit => 'us', higher => 0 },
    { name => 'barrier', title => 'Barrier', unit => 'us', higher => 0, bare => 1 },
    { name => 'allreduce', title => 'Allreduce', unit => 'us', higher => 0 },
    { name => 'hybrid', title => 'Allreduce by one thread between barriers',
      short => 'Allreduce, hybrid', unit => 'us', higher => 0 },
    { name => 'bcast', title => 'Broadcast', unit => 'us', higher => 0 },
    { name => 'reduce', title => 'Reduce', unit => 'us', higher => 0 },
    { name => 'allgather', title => 'Allgather', unit => 'us', higher => 0 },
    { name => 'alltoall', title => 'Alltoall', unit => 'us', higher => 0 },
    { name => 'rsblock', title => 'Reduce_scatter_block', short => 'Reduce_scat_block', unit => 'us',
      higher => 0 },
    { name => 'rscatter', title => 'Reduce_scatter', unit => 'us', higher => 0 },
    { name => 'gather', title => 'Gather', unit => 'us', higher => 0 },
    { name => 'scatter', title => 'Scatter', unit => 'us', higher => 0 },
    { name => 'scan', title => 'Scan', unit => 'us', higher => 0 },
    { name => 'ibarrier', title => 'Ibarrier and wait', short => 'Ibarrier', unit => 'us',
      higher => 0, bare => 1 },
    { name => 'iallreduce', title => 'Iallreduce and wait', short => 'Iallreduce', unit => 'us',
      higher => 0 },
    { name => 'pbarrier', title => 'Persistent barrier, start and wait',
      short => 'Persistent barrier', unit => 'us', higher => 0, bare => 1 },
    { name => 'pallreduce', title => 'Persistent allreduce, start and wait',
      short => 'Persist. allreduce', unit => 'us', higher => 0 },
    { name => 'dup', title => 'MPI_Comm_dup', short => 'Comm_dup', unit => 'us', higher => 0,
      bare => 1 },
    { name => 'split', title => 'MPI_Comm_split in halves', short => 'Comm_split', unit => 'us',
      higher => 0, bare => 1 },
    { name => 'create', title => 'Creation of all endpoints', short => 'Creation', unit => 'us',
      higher => 0, bare => 1 },
    { name => 'free', title => 'MPI_Comm_free of a dup', short => 'Comm_free', unit => 'us',
      higher => 0, bare => 1 },
    { name => 'posted', title => '8 B rate by number of other receives posted',
      short => '8 B rate, posted', unit => 'M/s', higher => 1, count => 1 },
    { name => 'unexpected', title => '8 B rate by number of other messages unexpected',
      short => '8 B rate, unexpected', unit => 'M/s', higher => 1, count => 1 },
    { name => 'make', title => 'Creation by number of endpoints', short => 'Creation of',
      unit => 'us', higher => 0, count => 1 },
    { name => 'heap', title => 'Heap of each of a number of idle endpoints', short => 'Heap, idle',
      unit => 'B', higher => 0, count => 1 },
    { name => 'resident', title => 'Resident memory of each of a number of idle endpoints',
      short => 'Resident, idle', unit => 'B', higher => 0, count => 1 },
    { name => 'peerheap', title => 'Heap of each peer after traffic', short => 'Heap of a peer',
      unit => 'B', higher => 0 },
    { name => 'peerresident', title => 'Resident memory of each peer after traffic',
      short => 'Resident, peer', unit => 'B', higher => 0 },
    { name => 'job', title => 'Memory of the whole job by worker', short => 'Job by worker',
      unit => 'B', higher => 0, bare => 1 },
    { name => 'mwrite', title => 'Each writes, tmpfs', unit => 'GB/s',
      higher => 1 },
    { name => 'mread', title => 'Each reads, tmpfs', unit => 'GB/s',
      higher => 1 },
    { name => 'mwriteall', title => 'Collective write, tmpfs', unit => 'GB/s',
      higher => 1 },
    { name => 'mreadall', title => 'Collective read, tmpfs', unit => 'GB/s',
      higher => 1 },
    { name => 'dwrite', title => 'Each writes, disk', unit => 'GB/s',
      higher => 1 },
    { name => 'dread', title => 'Each reads, disk', unit => 'GB/s',
      higher => 1 },
    { name => 'dwriteall', title => 'Collective write, disk', unit => 'GB/s',
      higher => 1 },
    { name => 'dreadall', title => 'Collective read, disk', unit => 'GB/s',
      higher => 1 },
    { name => 'wput', title => 'Put', unit => 'us', higher => 0 },
    { name => 'wget', title => 'Get', unit => 'us', higher => 0 },
    { name => 'wfop', title => 'Fetch_and_op', unit => 'us', higher => 0 },
    { name => 'wcas', title => 'Compare_and_swap', unit => 'us', higher => 0 },
    { name => 'wacc', title => 'Accumulate', unit => 'us', higher => 0 },
    { name => 'wfopboth', title => 'Fetch_and_op by two', short => 'Fetch_and_op, both',
      unit => 'us', higher => 0 },
    { name => 'wlockshared', title => 'Lock shared, put, unlock', short => 'Lock shared, put',
      unit => 'us', higher => 0 },
    { name => 'wlockexcl', title => 'Lock exclusive, put, unlock', short => 'Lock exclusive, put',
      unit => 'us', higher => 0 },
    { name => 'wlockall', title => 'Lock_all, unlock_all', unit => 'us', higher => 0, bare => 1 },
    { name => 'wfence', title => 'Fence', unit => 'us', higher => 0, bare => 1 },
    { name => 'wpscw', title => 'Post, start, put, complete, wait', short => 'Post to wait, put',
      unit => 'us', higher => 0 },
    { name => 'watomicboth', title => 'Atomic, bare, by two', short => 'Atomic, bare, both',
      unit => 'us', higher => 0 },
    { name => 'wcopyto', title => 'Copy, bare, to', unit => 'us', higher => 0 },
    { name => 'wcopyfrom', title => 'Copy, bare, from', unit => 'us', higher => 0 },
);
our %MEASURE = map { $_->{name} => $_ } @MEASURES;

# $best: figures are the best timed blocks instead of the medians.
sub new {
    my ($class, $best) = @_;
    return bless({ rows => [], index => {}, column => $best ? 'best' : 'value' }, $class);
}

# What the figures are, for headings.
sub statistic {
    my ($self, $rounds) = @_;
    my $of = 1 == $rounds ? 'one round' : "$rounds rounds";
    return 'best' eq $self->{column} ? "best block of $of" : 1 == $rounds ? $of : "median of $of";
}

sub key {
    my ($row) = @_;
    return join('/', @$row{qw(scenario pairs measure size way)});
}

sub add {
    my ($self, $row) = @_;
    push(@{ $self->{rows} }, $row);
    push(@{ $self->{index}{ key($row) } }, $row);
    return;
}

# Takes the lines of one run of epbench; returns how many were understood.
sub add_output {
    my ($self, $round, $way, @lines) = @_;
    my $count = 0;
    for my $line (@lines) {
        my @field = split(/,/, $line);
        next unless 11 == @field && 'epbench' eq $field[0] && $MEASURE{ $field[4] };
        my %row;
        @row{qw(scenario pairs measure size window iterations value best unit)} = @field[2 .. 10];
        $row{round}  = $round;
        $row{way}    = $way;
        $row{better} = $MEASURE{ $row{measure} }{higher} ? 'higher' : 'lower';
        $self->add(\%row);
        ++$count;
    }
    return $count;
}

sub write_csv {
    my ($self, $path) = @_;
    open(my $file, '>', $path) or die "$path: $!\n";
    print $file join(',', @COLUMNS), "\n";
    for my $row (@{ $self->{rows} }) {
        print $file join(',', @$row{@COLUMNS}), "\n";
    }
    close($file) or die "$path: $!\n";
    return;
}

sub read_csv {
    my ($self, $path) = @_;
    open(my $file, '<', $path) or die "$path: $!\n";
    my $head = <$file> // '';
    chomp($head);
    die "$path: not a table of this benchmark\n" unless $head eq join(',', @COLUMNS);
    while (my $line = <$file>) {
        chomp($line);
        my %row;
        @row{@COLUMNS} = split(/,/, $line);
        $self->add(\%row);
    }
    close($file);
    return;
}

sub median {
    my @sorted = sort { $a <=> $b } @_;
    my $half   = int(@sorted / 2);
    return @sorted % 2 ? $sorted[$half] : ($sorted[$half - 1] + $sorted[$half]) / 2;
}

# Median (or best), least, greatest and number of rounds of one figure; undef if not measured.
sub figure {
    my ($self, $scenario, $pairs, $measure, $size, $way) = @_;
    my $rows = $self->{index}{"$scenario/$pairs/$measure/$size/$way"};
    return undef unless $rows;    # also in a list
    my @values = sort { $a <=> $b } map { $_->{ $self->{column} } } @$rows;
    my $value  = median(@values);
    $value = $values[$MEASURE{$measure}{higher} ? -1 : 0] if 'best' eq $self->{column};
    return { median => $value, min => $values[0], max => $values[-1], rounds => scalar @values };
}

# The median (or best) alone; undef if not measured.
sub value {
    my ($self, @at) = @_;
    my $figure = $self->figure(@at);
    return $figure ? $figure->{median} : undef;
}

# The rows of one figure, one per round.
sub rows {
    my ($self, $scenario, $pairs, $measure, $size, $way) = @_;
    return @{ $self->{index}{"$scenario/$pairs/$measure/$size/$way"} || [] };
}

# What counts of a row: its median, or its best block.
sub of {
    my ($self, $row) = @_;
    return $row->{ $self->{column} };
}

# How many times as good the first value is as the second: above 1, it is better.
sub advantage {
    my ($measure, $mine, $other) = @_;
    return 1 if $mine == $other;
    return undef if $mine <= 0 || $other <= 0;    # of memory, nothing may have been taken
    return $MEASURE{$measure}{higher} ? $mine / $other : $other / $mine;
}

# The same, each round compared with itself: what the machine did meanwhile falls out.
sub paired_advantage {
    my ($self, $scenario, $pairs, $measure, $size, $way, $other_way) = @_;
    my ($mine, $others) =
        map { $self->{index}{"$scenario/$pairs/$measure/$size/$_"} } ($way, $other_way);
    return undef unless $mine && $others;
    my $column = $self->{column};
    my %other  = map { $_->{round} => $_->{$column} } @$others;
    my @ratios = grep { defined }
        map { advantage($measure, $_->{$column}, $other{ $_->{round} }) }
        grep { $other{ $_->{round} } } @$mine;
    return @ratios ? { median => median(@ratios), values => [sort { $a <=> $b } @ratios] } : undef;
}

# Distinct values of a column, among rows that agree with the filter.
sub distinct {
    my ($self, $column, %filter) = @_;
    my %seen;
    ROW: for my $row (@{ $self->{rows} }) {
        for my $name (keys %filter) {
            next ROW if $row->{$name} ne $filter{$name};
        }
        $seen{ $row->{$column} } = 1;
    }
    return keys %seen;
}

sub sizes {
    my ($self, %filter) = @_;
    return sort { $a <=> $b } $self->distinct('size', %filter);
}

# What a figure is called in one line.
sub title {
    my ($measure, $size) = @_;
    my $entry = $MEASURE{$measure};
    my $name  = $entry->{short} || $entry->{title};
    return $entry->{bare} ? $name : "$name " . ($entry->{count} ? $size : bytes($size));
}

# The rows for which a test is true, as data of their own.
sub subset {
    my ($self, $test) = @_;
    my $subset = bless({ rows => [], index => {}, column => $self->{column},
                         about => $self->{about} }, ref $self);
    $subset->add($_) for grep { $test->($_) } @{ $self->{rows} };
    return $subset;
}

# 65536 -> "64 KiB"
sub bytes {
    my ($size) = @_;
    for my $unit ([1 << 20, 'MiB'], [1 << 10, 'KiB']) {
        return $size / $unit->[0] . " $unit->[1]" if $size >= $unit->[0] && 0 == $size % $unit->[0];
    }
    return "$size B";
}

1;
