# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Messages over TCP beside ob1 and beside libfabric alone (--network): what is run, the table and the
# plot.  On the loopback interface, and between two nodes that are network namespaces of this machine.

package EpBench::Network;

use strict;
use warnings;

use File::Copy qw(copy);

use EpBench::Data;
use EpBench::Plot;
use EpBench::Table;
use EpBench::Ways;

our @WAYS      = qw(ep proc mpich fi floor);
our @SCENARIOS = qw(tcp net);

my @SIZES = (8, 64, 512, 4096, 16384, 65536, 262144, 1048576);

# What endpoints should be: of ob1's time, and of fi_pingpong's.
my $SAME   = 1 - $EpBench::Table::SAME;
my $FABRIC = 1 / 1.05;

# What is run of one way; fi_pingpong streams nothing, the plain socket is no peer.
sub parts {
    my ($way, $scenario, $quick) = @_;
    my @sizes = $quick ? @SIZES[0, 5, 7] : @SIZES;
    return () if 'net' eq $scenario && $way->{name} =~ /^(?:mpich|floor)$/;
    return { name => 'floor', points => ['lat:8', 'lat:65536'] } if 'floor' eq $way->{name};
    return { name => 'network', points => [map { "lat:$_" } @sizes] } if 'fi' eq $way->{name};
    return { name => 'network', points => [(map { "lat:$_" } @sizes), map { "bw:$_" } @sizes] };
}

# A line of the table: ours, and how many times as good it is as each peer's.
sub line {
    my ($data, $scenario, $measure, $size) = @_;
    my $mine = $data->figure($scenario, 1, $measure, $size, 'ep') or return '';
    my $text = sprintf('%9s%9s%4s', EpBench::Data::bytes($size),
                       EpBench::Table::number($mine->{median}), EpBench::Table::spread($mine));
    for my $way (qw(proc mpich fi)) {
        my $other = $data->value($scenario, 1, $measure, $size, $way);
        my $ratio = defined $other ? EpBench::Data::advantage($measure, $mine->{median}, $other) : undef;
        my $wanted = { proc => $SAME, fi => $FABRIC }->{$way};
        $text .= sprintf('%10s%7s%1s', EpBench::Table::number($other), EpBench::Table::ratio($ratio),
                         defined $ratio && defined $wanted && $ratio < $wanted ? '*' : '');
    }
    $text .= sprintf('%10s', EpBench::Table::number($data->value($scenario, 1, $measure, $size,
                                                               'floor'))) if 'lat' eq $measure;
    $text =~ s/ +$//;
    return "$text\n";
}

sub table {
    my ($data, $scenario) = @_;
    return '' unless $data->distinct('size', scenario => $scenario, way => 'ep');
    my $rounds = $data->distinct('round', scenario => $scenario);
    my $text = sprintf("%s: %s\n", $EpBench::Ways::SCENARIO{$scenario}{title}, $data->statistic($rounds))
        . '=' x 80 . "\n"
        . sprintf("%9s%9s%4s%10s%7s %10s%7s %10s%7s %10s\n", '', 'endp.', '+-%', 'ob1', 'times', 'MPICH',
                  'times', 'fi_pp', 'times', 'socket');
    for my $part (['lat', 'one way, us'], ['bw', 'stream, GB/s']) {
        my ($measure, $title) = @$part;
        $text .= "$title\n" . join('', map { line($data, $scenario, $measure, $_) }
                                   $data->sizes(scenario => $scenario, measure => $measure,
                                                way => 'ep'));
    }
    return $text;
}

sub tables {
    my ($data) = @_;
    my @tables = grep { length } map { table($data, $_) } @SCENARIOS;
    return @tables ? (@tables, <<'TEXT') : ();
How to read: "times" says how many times as good endpoints are.  fi_pp is
libfabric's fi_pingpong over the same provider; socket a plain one, polled.
*: behind ob1, or more than 5 % behind fi_pingpong.
TEXT
}

# Name of the file without its ending => input of gnuplot.
sub figures {
    my ($data) = @_;
    my @panels = grep { length } map {
        my $where = 'net' eq $_ ? 'between namespaces' : 'loopback';
        (EpBench::Plot::size_panel($data, $_, 1, 'lat', "One way, $where (less is better)", 'µs', 'log'),
         EpBench::Plot::size_panel($data, $_, 1, 'bw', "Stream, $where (more is better)", 'GB/s', ''))
    } @SCENARIOS;
    return @panels ? (network => EpBench::Plot::figure(
        $data, 'tcp', \@WAYS, { title => 'Two processes over TCP: MPI endpoints and their peers' },
        @panels)) : ();
}

# The page docs/comparison.md has the plot of a whole run.
sub renew {
    my ($docs, $out) = @_;
    copy("$out/network.svg", "$docs/comparison-network.svg") or die "$out/network.svg: $!\n";
    return;
}

1;
