# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# All collectives beside all peers (--coll): what is run, and the tables.  What the project promises
# of them is in CollGoals.pm.

package EpBench::Coll;

use strict;
use warnings;

use EpBench::Data;
use EpBench::Table;
use EpBench::Ways;

# As in the columns of the table.
our @PEERS = qw(proc threadcomm threadcomm-new mpich mpich-new xhc acoll);

# What a program does without endpoints: in the goals.
our $HYBRID = 'hybrid';

# The libraries that run only here.
our %ONLY = map { $_ => 1 } grep { $EpBench::Ways::WAY{$_}{optional} } @PEERS, $HYBRID;

my @SIZES = (8, 4096, 65536, 1048576);
my @BRIEF = (8, 512, 4096); # what the goals over tcp are for
my @SUMS  = qw(reduce rsblock scan);
my @MOVES = qw(allgather alltoall gather scatter);

# Measured in no other run unless asked for.
our %OWN = map { $_ => 1 } @SUMS, @MOVES, $HYBRID,
    qw(rscatter ibarrier iallreduce pbarrier pallreduce);

# Scenario, pairs => libraries.  Two pairs are two endpoints in each of two processes: four workers on
# two cores, where only Open MPI yields in time (MPICH and xhc take milliseconds a call).
our %PLACE = (
    in  => { 1 => ['ep', @PEERS] },
    shm => { 2 => [qw(ep proc acoll)] },
    tcp => { 2 => ['ep', 'proc', $HYBRID], 1 => [qw(proc)] },
);
our @PLACES = (['in', 1], ['shm', 2], ['tcp', 2]);

sub at {
    my ($sizes, @measures) = @_;
    return map { my $measure = $_; map { "$measure:$_" } @$sizes } @measures;
}

# Each job has one kind, so that one that fails leaves the others.
sub kinds {
    my ($scenario, $pairs, $quick, $way) = @_;
    return (['sums', at(\@BRIEF, $HYBRID)]) if $HYBRID eq $way;
    return (['sums', at(\@BRIEF, 'allreduce')]) if 'tcp' eq $scenario && 1 == $pairs;
    return (['sums', 'barrier:0', at([@BRIEF, 65536, 1048576], 'allreduce'),
             at([8, 1048576], 'bcast')]) if 'tcp' eq $scenario;
    my @few = $quick ? @SIZES[0, -1] : @SIZES;
    return (['sums', 'barrier:0', at(\@SIZES, 'allreduce'), at(\@few, @SUMS)],
            ['moves', at(\@SIZES, 'bcast'), at(\@few, @MOVES)],
            ['later', qw(ibarrier:0 iallreduce:8 pbarrier:0 pallreduce:8)]);
}

# What is run of one way, but for the points that are measured there anyway.
sub parts {
    my ($way, $scenario, $pairs, $quick, $only, @others) = @_;
    my $like = 'ep' eq ($way->{way} || '') ? 'ep' : $way->{name};    # other endpoints: as ours
    return () unless grep { $like eq $_ } @{ $PLACE{$scenario}{$pairs} || [] };
    my %other = map { $_ => 1 } @others;
    my @parts;
    for my $kind (kinds($scenario, $pairs, $quick, $way->{name})) {
        my ($name, @points) = @$kind;
        next if 'later' eq $name && $way->{name} =~ /^threadcomm/;
        @points = grep { !$other{$_} && (!$only || $only->{ (split(/:/, $_))[0] }) } @points;
        push(@parts, { name => $name, points => \@points }) if @points;
    }
    return @parts;
}

# The least advantage over those of the peers that were measured; undef if none was.
sub least {
    my ($data, $scenario, $pairs, $measure, $size, @peers) = @_;
    my $mine = $data->figure($scenario, $pairs, $measure, $size, 'ep') or return undef;
    my ($least) = sort { $a <=> $b } grep { defined } map {
        my $other = $data->figure($scenario, $pairs, $measure, $size, $_);
        $other ? EpBench::Data::advantage($measure, $mine->{median}, $other->{median}) : undef
    } @peers;
    return $least;
}

# [measure, size] of what has been measured of a way, in the order of the tables.
sub measured {
    my ($data, $scenario, $pairs, $way) = @_;
    my @found;
    for my $measure (grep { $OWN{$_} || /^(?:barrier|allreduce|bcast)$/ }
                     map { $_->{name} } @EpBench::Data::MEASURES) {
        push(@found, map { [$measure, $_] } $data->sizes(
            scenario => $scenario, pairs => $pairs, measure => $measure, way => $way));
    }
    return @found;
}

sub line {
    my ($data, $scenario, $pairs, $measure, $size) = @_;
    my $mine = $data->figure($scenario, $pairs, $measure, $size, 'ep');
    my @other = map { $data->figure($scenario, $pairs, $measure, $size, $_) // undef } @PEERS;
    my $text = sprintf('%9s%7s%4s', EpBench::Table::label($EpBench::Data::MEASURE{$measure}, $size),
                       EpBench::Table::number($mine->{median}), EpBench::Table::spread($mine))
        . join('', map { sprintf('%7s', EpBench::Table::number($_ ? $_->{median} : undef)) } @other)
        . sprintf('%7s', EpBench::Table::ratio(
                      least($data, $scenario, $pairs, $measure, $size, @PEERS)));
    $text =~ s/ +$//;
    return "$text\n";
}

sub table {
    my ($data, $scenario, $pairs) = @_;
    my @points = measured($data, $scenario, $pairs, 'ep') or return '';
    my $rounds = $data->distinct('round', scenario => $scenario, pairs => $pairs, way => 'ep');
    return '' unless grep { $data->distinct('round', scenario => $scenario, pairs => $pairs,
                                            way => $_) } @PEERS;
    my $text = sprintf("%s: collectives of %d workers, us, %s\n",
                       $EpBench::Ways::SCENARIO{$scenario}{title}, 2 * $pairs,
                       $data->statistic($rounds))
        . '=' x 80 . "\n"
        . sprintf('%9s%7s%4s' . '%7s' x 8 . "\n", '', 'end-', '+-', qw(ob1 MPICH newer MPICH newer
                                                                      newer newer times))
        . sprintf('%9s%7s%4s' . '%7s' x 8 . "\n", '', 'points', '%', qw(proc thrcom thrcom proc proc
                                                                        xhc acoll best));
    my $last = '';
    for my $point (@points) {
        my ($measure, $size) = @$point;
        $text .= "$EpBench::Data::MEASURE{$measure}{title}\n" if $measure ne $last;
        $text .= line($data, $scenario, $pairs, $measure, $size);
        $last = $measure;
    }
    return $text;
}

sub legend {
    my ($about) = @_;
    my %newer = map { $_ => $about->{"newer $_"} || 'there is none' } ('MPICH', 'Open MPI');
    return <<"TEXT";
How to read: us a call, slowest worker; "times best" says how many times as good
endpoints are as the best peer.
  proc   ob1, a process per worker
  thrcom MPICH thread communicators; MPICH proc: a process per worker
  newer  of Debian sid, MPICH: $newer{MPICH}
         Open MPI, its coll/xhc and coll/acoll: $newer{'Open MPI'}
TEXT
}

sub tables {
    my ($data) = @_;
    my @tables = grep { length } map { table($data, @$_) } @PLACES;
    return @tables ? (@tables, legend($data->{about} || {})) : ();
}

1;
