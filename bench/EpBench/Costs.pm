# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What endpoints cost (--costs): creation, memory, thread levels: what is run, and the tables.  The
# plots are in CostPlot.pm.

package EpBench::Costs;

use strict;
use warnings;

use EpBench::Data;
use EpBench::Table;
use EpBench::Ways;

# Sizes of each experiment, of the full run and of the quick one.
my %FULL = (
    set   => [1, 2, 4, 8, 16, 32, 64, 128, 256],
    more  => [512, 1024],               # sets of ours only
    net   => [1, 4, 16, 64],            # sets of ours, with a network
    peers => 8,                         # pairs that talk to each other
);
my %QUICK = (
    set   => [1, 16, 256],
    more  => [1024],
    net   => [1, 16],
    peers => 4,
);

sub sizes {
    my ($quick) = @_;
    return $quick ? \%QUICK : \%FULL;
}

sub at {
    my ($measure, @sizes) = @_;
    return map { "$measure:$_" } @sizes;
}

# The jobs of one pair: what it takes to make a set of endpoints.
sub set_parts {
    my ($way, $scenario, $sizes) = @_;
    my $in = 'in' eq $scenario;
    my @set = $in ? @{ $sizes->{set} } : ();
    push(@set, @{ $in ? $sizes->{more} : $sizes->{net} })
        if 'ep' eq $way->{name} && 'shm' ne $scenario;
    return () if !@set || 'proc' eq $way->{name};
    return ({ name => 'make', points => [at('make', @set)], slow => 1 },
            { name => 'idle', points => [at('heap', @set), at('resident', @set)], once => 1,
              slow => 1 });
}

# One pair, and as many as talk to each other.
sub pairs {
    my ($quick) = @_;
    return (1, sizes($quick)->{peers});
}

# What is run of one way, in one scenario, with a number of pairs: each part is a job of its own,
# for some must be the first of a process.  once: in the first round only; slow: may take its time.
sub parts {
    my ($way, $scenario, $pairs, $quick) = @_;
    my $sizes = sizes($quick);
    return () if $way->{ordinary};
    if ('ep-funneled' eq $way->{name}) {
        return 1 != $pairs || 'in' ne $scenario ? ()
            : { name => 'level', points => [at('lat', 8), at('rate', 8)] };
    }
    my @parts = 1 == $pairs ? set_parts($way, $scenario, $sizes) : ();
    push(@parts, { name => 'pair', points => [at('lat', 8), at('rate', 8)] })
        if 1 == $pairs && 'in' eq $scenario && 'ep' eq $way->{name};
    if ($pairs == $sizes->{peers} && 'thread' ne $way->{name}) {
        push(@parts, { name => 'peerheap', points => ['peerheap:8:1'], once => 1 },
             { name => 'peerresident', points => ['peerresident:65536:1', 'job:0'], once => 1 });
    }
    return @parts;
}

# ---- tables -----------------------------------------------------------------------------------

my %HEAD = (ep => 'endp.', proc => 'proc', thread => 'thread', threadcomm => 'thrcom');

sub heading {
    my ($title) = @_;
    return "$title\n" . '=' x 80 . "\n";
}

sub cell {
    my ($text, $width) = @_;
    return sprintf("%${width}s", defined $text ? $text : '-');
}

# Creation and idle memory; the first three ways that can make any number.
sub set_table {
    my ($data, $scenario) = @_;
    my @sizes = $data->sizes(scenario => $scenario, measure => 'make');
    return '' unless @sizes;
    my @ways = grep { $data->distinct('size', scenario => $scenario, measure => 'make',
                                      way => $_) } qw(ep thread threadcomm);
    my $where = $EpBench::Ways::SCENARIO{$scenario}{plot};
    my $text  = heading("Making endpoints, $where: us for all; bytes each, heap and resident")
        . sprintf('%7s', '') . join('', map { cell($HEAD{$_}, 24) } @ways) . "\n"
        . sprintf('%7s', 'number') . join('', map { cell('us', 8) . cell('heap', 8)
                                                    . cell('resid.', 8) } @ways) . "\n";
    for my $size (@sizes) {
        $text .= sprintf('%7d', $size);
        for my $way (@ways) {
            for my $measure (qw(make heap resident)) {
                my $value = $data->value($scenario, 1, $measure, $size, $way);
                $text .= cell(defined $value ? EpBench::Table::number($value) : undef, 8);
            }
        }
        $text .= "\n";
    }
    return $text;
}

sub peer_table {
    my ($data) = @_;
    my $text = '';
    for my $scenario (map { $_->{name} } @EpBench::Ways::SCENARIOS) {
        my ($pairs) = $data->distinct('pairs', scenario => $scenario, measure => 'peerheap');
        next unless defined $pairs;
        $text .= sprintf("%s, %d workers\n", $EpBench::Ways::SCENARIO{$scenario}{plot}, 2 * $pairs);
        for my $entry (['peerheap', 8, 'heap of a peer, 8 B messages'],
                       ['peerresident', 65536, 'resident of a peer, 64 KiB messages'],
                       ['job', 0, 'memory of the whole job, by worker']) {
            my ($measure, $size, $title) = @$entry;
            $text .= sprintf('  %-38s', $title);
            for my $way ('ep', 'proc', 'threadcomm') {
                my $value = $data->value($scenario, $pairs, $measure, $size, $way);
                $text .= cell(defined $value ? EpBench::Table::number($value) : undef, 10);
            }
            $text .= "\n";
        }
    }
    return '' unless length($text);
    return heading('What a peer takes at each endpoint after traffic with it, bytes')
        . sprintf('%40s', '') . join('', map { cell($HEAD{$_}, 10) } qw(ep proc threadcomm)) . "\n"
        . $text;
}

# [measure, title, default, funneled], ns a message.
sub levels {
    my ($data) = @_;
    my @lines;
    for my $entry (['lat', '8 B one way'], ['rate', '8 B stream, each']) {
        my ($measure, $title) = @$entry;
        my @value = map { $data->value('in', 1, $measure, 8, $_) } ('ep', 'ep-funneled');
        next if grep { !defined } @value;
        push(@lines, [$measure, $title, map { 'lat' eq $measure ? 1e3 * $_ : 1e3 / $_ } @value]);
    }
    return @lines;
}

sub level_table {
    my ($data) = @_;
    my @lines = levels($data) or return '';
    return heading('mpix_thread_level=funneled beside the default, ns a message')
        . sprintf("  %-20s%10s%10s%10s\n", '', 'default', 'funneled', 'saves')
        . join('', map { sprintf("  %-20s%10.1f%10.1f%10.1f\n", @$_[1, 2, 3], $_->[2] - $_->[3]) }
               @lines);
}

sub tables {
    my ($data) = @_;
    my @scenarios = map { $_->{name} } @EpBench::Ways::SCENARIOS;
    return ((map { set_table($data, $_) } @scenarios), peer_table($data), level_table($data));
}

1;
