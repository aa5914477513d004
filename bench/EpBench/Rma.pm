# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# One-sided communication beside the peers' (--rma): what is run, and the tables.  What the project
# promises of it is in RmaGoals.pm.

package EpBench::Rma;

use strict;
use warnings;

use EpBench::Data;
use EpBench::Table;
use EpBench::Ways;

# As in the columns of the table.  proc has osc/sm, rdma osc/rdma.
our @PEERS = qw(proc rdma mpich mpich-new);

our @SCENARIOS = qw(in shm created tcp);

# One pair; and 16 members, one of which calls: the cost that grows with their number.
our $MANY  = 8;
our @PAIRS = (1, $MANY);

# Where the windows are of MPI_Win_create, others of MPI_Win_allocate.
my %CREATED = map { $_ => 1 } qw(created tcp);

# osc/sm serves allocated windows alone.  MPICH does not come to an end over TCP under chrt -f.
my %WITHOUT = (created => { proc => 1 }, tcp => { map { $_ => 1 } qw(proc mpich mpich-new) });

my @BLOCKS = (8, 4096, 65536, 1048576);
my @EPOCHS = qw(wlockshared:8 wlockexcl:8 wlockall:0 wfence:0 barrier:0 wpscw:8);
# What a program does without MPI, in a window of MPI_Win_allocate_shared: of endpoints and osc/sm.
my @BARE = qw(watomicboth:8 wcopyto:1048576 wcopyfrom:1048576);

# Measured in no other run unless asked for.
our %OWN = map { $_ => 1 } qw(wput wget wacc wfop wcas wlockshared wlockexcl wlockall wfence wpscw
                              wfopboth watomicboth wcopyto wcopyfrom);

sub at {
    my ($measure, @sizes) = @_;
    return map { "$measure:$_" } @sizes;
}

# Each job has one kind, so that one that fails leaves the others.
sub kinds {
    my ($scenario, $pairs, $quick, $way) = @_;
    return (['all', 'wlockall:0']) if 1 < $pairs;
    return (['operations', at('wput', 8, 65536), at('wget', 8, 65536), qw(wfop:8 wcas:8 wacc:8 lat:8)])
        if $CREATED{$scenario};
    my @few = $quick ? @BLOCKS[0, -1] : @BLOCKS;
    return (['operations', at('wput', @few), at('wget', @few), qw(wfop:8 wcas:8),
             at('wacc', 8, 65536, 1048576), 'wfopboth:8', $way =~ /^(?:ep|proc)$/ ? @BARE : ()],
            ['epochs', @EPOCHS]);
}

# What is run of one way.
sub parts {
    my ($way, $scenario, $pairs, $quick, $only) = @_;
    my $like = 'ep' eq ($way->{way} || '') ? 'ep' : $way->{name};    # other endpoints: as ours
    return () if $WITHOUT{$scenario}{$like};
    return () if 1 < $pairs && ('in' ne $scenario || 'ep' ne $like);
    my @parts;
    for my $kind (kinds($scenario, $pairs, $quick, $like)) {
        my ($name, @points) = @$kind;
        @points = grep { !$only || $only->{ (split(/:/, $_))[0] } } @points;
        push(@parts, { name => $name, points => \@points, slow => 1,
                       arguments => $CREATED{$scenario} ? ['--created'] : [] }) if @points;
    }
    return @parts;
}

# The least time of those of the peers that were measured, us; undef if none was.
sub best_peer {
    my ($data, $scenario, $measure, $size, @peers) = @_;
    my ($best) = sort { $a <=> $b } map { $_->{median} } grep { defined }
        map { $data->figure($scenario, 1, $measure, $size, $_) // undef } @peers;
    return $best;
}

# [measure, size] of what has been measured of anything, in the order of the tables.
sub measured {
    my ($data, $scenario) = @_;
    my @found;
    for my $measure (map { $_->{name} } @EpBench::Data::MEASURES) {
        push(@found, map { [$measure, $_] } $data->sizes(
            scenario => $scenario, pairs => 1, measure => $measure));
    }
    return @found;
}

sub ns {
    my ($us) = @_;
    return EpBench::Table::number(defined $us ? 1e3 * $us : undef);
}

sub line {
    my ($data, $scenario, $measure, $size) = @_;
    my $mine = $data->figure($scenario, 1, $measure, $size, 'ep');
    my $best = best_peer($data, $scenario, $measure, $size, @PEERS);
    my $text = sprintf('%-26s%8s%4s', EpBench::Data::title($measure, $size),
                       ns($mine ? $mine->{median} : undef), EpBench::Table::spread($mine))
        . join('', map {
            my $other = $data->figure($scenario, 1, $measure, $size, $_);
            sprintf('%9s', ns($other ? $other->{median} : undef))
        } @PEERS)
        . sprintf('%6s', EpBench::Table::ratio($mine && $best && EpBench::Data::advantage(
                      $measure, $mine->{median}, $best)));
    $text =~ s/ +$//;
    return "$text\n";
}

sub table {
    my ($data, $scenario) = @_;
    my @points = measured($data, $scenario) or return '';
    my $rounds = $data->distinct('round', scenario => $scenario, pairs => 1);
    return sprintf("%s: windows, ns, %s\n", $EpBench::Ways::SCENARIO{$scenario}{title},
                   $data->statistic($rounds))
        . '=' x 80 . "\n"
        . sprintf('%-26s%8s%4s' . '%9s' x 4 . "%6s\n", '', 'end-', '+-', qw(osc/ osc/ MPICH newer
                                                                         times))
        . sprintf('%-26s%8s%4s' . '%9s' x 4 . "%6s\n", '', 'points', '%', 'sm', 'rdma', 'proc',
                  'MPICH', 'best')
        . join('', map { line($data, $scenario, @$_) } @points);
}

sub legend {
    return <<'TEXT';
How to read: ns an operation with its flush, or an epoch; "times best" says how
many times as good endpoints are as the best peer.  Peers are processes, on the
same two cores.  Copy, bare: memcpy from or to the target's memory.
TEXT
}

sub tables {
    my ($data) = @_;
    my @tables = grep { length } map { table($data, $_) } @SCENARIOS;
    return @tables ? (@tables, legend()) : ();
}

1;
