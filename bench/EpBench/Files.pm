# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Files beside ob1's processes (--files): what is run, where, and the table.

package EpBench::Files;

use strict;
use warnings;

use File::Temp qw(tempdir);

use EpBench::Data;
use EpBench::Table;
use EpBench::Ways;

# Four workers: endpoints of one process, or two of each of two.
our @PAIRS     = (2);
our @SCENARIOS = qw(in shm);
our @PEERS     = qw(ep-before proc);

my @CALLS  = qw(write read writeall readall);
my @BLOCKS = (0, 4096, 65536);
my %PLACE  = (m => 'EPBENCH_TMPFS', d => 'EPBENCH_DISK');

# Measured in no other run unless asked for.
our %OWN = map { my $place = $_; map { ("$place$_" => 1) } @CALLS } sort keys %PLACE;

# The folders of the files, for the environment of the jobs; they go when this process ends, however.
my %folder;

sub environment {
    %folder = map { $_->[0] => tempdir('epbench-XXXXXX', DIR => $_->[1], CLEANUP => 1) }
        (['EPBENCH_TMPFS', '/dev/shm'], ['EPBENCH_DISK', $ENV{TMPDIR} || '/var/tmp'])
        unless %folder;
    return \%folder;
}

# What is run of one way: a job for each folder, so that one that fails leaves the other.
sub parts {
    my ($quick, $only, $sizes) = @_;
    my @blocks = $quick ? @BLOCKS[0, 1] : @BLOCKS;
    my @parts;
    for my $place (sort { $b cmp $a } keys %PLACE) {
        my @points = map { my $call = "$place$_"; map { "$call:$_" } @blocks }
            grep { !$only || $only->{"$place$_"} } @CALLS;
        push(@parts, { name => $place, points => \@points, slow => 1 }) if @points;
    }
    return @parts;
}

sub line {
    my ($data, $scenario, $measure, $size) = @_;
    my $mine = $data->figure($scenario, $PAIRS[0], $measure, $size, 'ep') or return '';
    my $text = sprintf('%9s%8s%4s', $size ? EpBench::Table::label({}, $size) : 'one each',
                       EpBench::Table::number($mine->{median}), EpBench::Table::spread($mine));
    for my $peer (@PEERS) {
        my $other = $data->figure($scenario, $PAIRS[0], $measure, $size, $peer);
        $text .= sprintf('%10s%7s', EpBench::Table::number($other ? $other->{median} : undef),
                         EpBench::Table::ratio($other && EpBench::Data::advantage(
                             $measure, $mine->{median}, $other->{median})));
    }
    $text =~ s/ +$//;
    return "$text\n";
}

sub table {
    my ($data, $scenario) = @_;
    my $rounds = $data->distinct('round', scenario => $scenario, way => 'ep') or return '';
    my $text = sprintf("%s: 64 MiB of a file by four workers, GB/s, %s\n",
                       $EpBench::Ways::SCENARIO{$scenario}{title}, $data->statistic($rounds))
        . '=' x 80 . "\n"
        . sprintf("%9s%8s%4s%10s%7s%10s%7s\n", 'blocks', 'endp.', '+-%', '--against', 'times',
                  'ob1 proc', 'times');
    for my $measure (map { $_->{name} } grep { $OWN{ $_->{name} } } @EpBench::Data::MEASURES) {
        my @sizes = $data->sizes(scenario => $scenario, pairs => $PAIRS[0], measure => $measure,
                                 way => 'ep') or next;
        $text .= "$EpBench::Data::MEASURE{$measure}{title}\n"
            . join('', map { line($data, $scenario, $measure, $_) } @sizes);
    }
    return $text;
}

sub tables {
    my ($data) = @_;
    return map { table($data, $_) } @SCENARIOS;
}

1;
