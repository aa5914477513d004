# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What docs/ has of a run: the plot of the README, and the figures of comparison.md, which stand
# there between two marks (--renew).

package EpBench::Page;

use strict;
use warnings;

use File::Copy qw(copy);

use EpBench::CollGoals;
use EpBench::Data;
use EpBench::Plot;
use EpBench::Table;
use EpBench::Ways;

my $PAGE  = 'comparison.md';
my $PLOT  = 'comparison.svg';
my $BEGIN = '<!-- figures: what is between these two lines is written by ./ep bench --renew -->';
my $END   = '<!-- figures: end -->';

# What one needs for the page, and nothing that takes longer.
our %OPTIONS = (quick => 1, coll => 1, goals => 1, rounds => 5, scenarios => 'in,tcp,shm');

my @PEERS = qw(proc thread threadcomm);

# Scenario, heading of its rows, [measure, size, text].
my @ROWS = (
    ['in', undef, ['lat', 8, '8 B one way, µs'], ['lat', 4096, '4 KiB one way, µs'],
     ['lat', 65536, '64 KiB one way, µs'], ['rate', 8, '8 B messages, M/s'],
     ['bw', 65536, '64 KiB stream, GB/s'], ['bw', 1048576, '1 MiB stream, GB/s'],
     ['halo', 4096, 'halo exchange, 4 × 4 KiB, µs'], ['barrier', 0, 'barrier, µs'],
     ['allreduce', 8, 'allreduce 8 B, µs']],
    ['shm', 'two processes of a node', ['lat', 8, '8 B one way, µs'],
     ['lat', 4096, '4 KiB one way, µs'], ['rate', 8, '8 B messages, M/s'],
     ['bw', 65536, '64 KiB stream, GB/s'], ['bw', 1048576, '1 MiB stream, GB/s'],
     ['halo', 4096, 'halo exchange, 4 × 4 KiB, µs']],
    ['tcp', 'two processes, TCP loopback', ['lat', 8, '8 B one way, µs'],
     ['lat', 1048576, '1 MiB one way, µs'], ['rate', 8, '8 B messages, M/s'],
     ['bw', 1048576, '1 MiB stream, GB/s'], ['halo', 4096, 'halo exchange, 4 × 4 KiB, µs'],
     ['allreduce', 4096, 'allreduce 4 KiB, µs']],
);

sub row {
    my ($data, $scenario, $measure, $size, $text) = @_;
    my $mine = $data->figure($scenario, 1, $measure, $size, 'ep')
        or die "$text, $scenario: not measured\n";
    my @cells = ($text, EpBench::Table::number($mine->{median}));
    for my $peer (@PEERS) {
        my $other = $data->figure($scenario, 1, $measure, $size, $peer);
        my $times = $other
            ? EpBench::Data::advantage($measure, $mine->{median}, $other->{median}) : undef;
        push(@cells, $other ? EpBench::Table::number($other->{median}) : '',
             defined $times ? sprintf($times < 9.95 ? '%.1f' : '%.0f', $times) : '');
    }
    return '| ' . join(' | ', @cells) . " |\n";
}

# From the worst to the best of what is beside plain ob1, in percent.
sub ordinary {
    my ($data) = @_;
    my @percent = sort { $a <=> $b } map { 100 * ($_->{median} - 1) } grep { defined } map {
        my $row = $_;
        $data->paired_advantage((map { $row->{$_} } qw(scenario pairs measure size)), 'proc-epml',
                                'proc')
    } grep { 1 == $_->{round} && 'proc-epml' eq $_->{way} } @{ $data->{rows} };
    return '' unless @percent;
    my @words = map { sprintf('%.0f %% %s', abs($_), 0 > $_ ? 'worse' : 'better') } @percent[0, -1];
    return 'An ordinary communicator under epml was, by the medians of ' . @percent
        . " figures, from $words[0] to $words[1] than plain ob1. ";
}

# The greatest spread of our figures in a scenario, in percent of the median.
sub spread {
    my ($data, $scenario) = @_;
    my ($greatest) = sort { $b <=> $a } map {
        my $f = $data->figure($scenario, 1, @$_, 'ep');
        $f && 0 < $f->{median} ? 100 * ($f->{max} - $f->{min}) / $f->{median} : 0
    } map { [@$_[0, 1]] } map { @$_[2 .. $#$_] } grep { $scenario eq $_->[0] } @ROWS;
    return sprintf('%.0f %%', $greatest);
}

sub figures {
    my ($data) = @_;
    my $about = $data->{about};
    my ($mpich) = ($about->{MPICH} // '') =~ /(\d[\w.]*)/;
    my ($ompi)  = ($about->{'Open MPI'} // '') =~ /(\d[\w.]*)$/;
    my ($date)  = ($about->{date} // '') =~ /^(\S+)/;
    my $text = "On $about->{cores} cores ($about->{cpu}), one pair of workers, "
        . $data->statistic(scalar $data->distinct('round', way => 'ep'))
        . ", endpoints $about->{endpoints}, Open MPI $ompi, $date:\n\n"
        . "| | endpoints | ob1, processes | times | ob1, threads | times | MPICH $mpich threadcomm "
        . "| times |\n|" . '---|' x 8 . "\n";
    for my $group (@ROWS) {
        my ($scenario, $heading, @rows) = @$group;
        $text .= "| **$heading** |" . ' |' x 7 . "\n" if defined $heading;
        $text .= row($data, $scenario, @$_) for @rows;
    }
    my $copy = $data->figure('in', 1, 'bw', 1048576, 'floor');
    my $below = ordinary($data)
        . ($copy ? 'One core moves ' . EpBench::Table::number($copy->{median})
                   . ' GB/s with `memcpy` at 1 MiB. ' : '')
        . 'Rounds of endpoints were up to ' . spread($data, 'in') . ' apart in a process, '
        . spread($data, 'shm') . ' between two, ' . spread($data, 'tcp') . ' over TCP.';
    return "$text\n" . EpBench::Plot::wrap(118, $below, "\n") . "\n\n"
        . EpBench::CollGoals::page($data);
}

# Writes both into $docs; dies and has changed nothing if something is missing.
sub renew {
    my ($data, $docs, $out) = @_;
    my $text = figures($data);
    my $page = "$docs/$PAGE";
    my $old  = do { open(my $file, '<', $page) or die "$page: $!\n"; local $/; <$file> };
    my $new  = $old =~ s/(\Q$BEGIN\E\n).*?(\Q$END\E\n)/$1\n$text\n$2/sr;
    die "$page: no lines that say where the figures go\n" if $old !~ /\Q$BEGIN\E\n.*\Q$END\E\n/s;
    copy("$out/glance.svg", "$docs/$PLOT") or die "$out/glance.svg: $!\n";
    open(my $file, '>', $page) or die "$page: $!\n";
    print $file $new;
    close($file) or die "$page: $!\n";
    return;
}

1;
