# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# The plots of what Costs.pm has measured.

package EpBench::CostPlot;

use strict;
use warnings;

use EpBench::Data;
use EpBench::Costs;
use EpBench::Plot;
use EpBench::Table;
use EpBench::Ways;

# What is no time is measured once, whatever the number of rounds.
my $ONCE = 'Memory: one round.';

sub sets {
    my ($data, $scenario) = @_;
    my @panels;
    for my $entry (['make', 'Creation of all (less is better)', 'µs', 'log'],
                   ['heap', 'Heap of each, idle (less is better)', 'bytes', 'log'],
                   ['resident', 'Resident memory of each, idle (less is better)', 'bytes', 'log']) {
        my ($measure, $title, $label, $scale) = @$entry;
        my @sizes = $data->sizes(scenario => $scenario, pairs => 1, measure => $measure);
        next unless @sizes;
        # What rounds down to nothing has no place on a logarithm.
        @sizes = grep {
            my $size = $_;
            grep { my $f = $data->figure($scenario, 1, $measure, $size, $_); $f && 0 < $f->{min} }
                qw(ep thread threadcomm);
        } @sizes;
        next unless @sizes;
        my $x = { values => \@sizes, at => sub { ($scenario, 1, $measure, $_[0]) } };
        push(@panels, EpBench::Plot::curve_panel($data, $measure, $title, $label, 'endpoints', $x, $scale));
    }
    return @panels ? whole($data, $scenario, { more => ', making endpoints', note => $ONCE },
                            @panels) : '';
}

sub peers {
    my ($data, $scenario) = @_;
    my ($pairs) = $data->distinct('pairs', scenario => $scenario, measure => 'peerheap');
    return '' unless defined $pairs;
    my @panels = grep { length } (
        EpBench::Plot::bar_panel($data, $scenario, $pairs,
                                 'A peer, after traffic (less is better)', 'bytes',
                                 ['peerheap', 8, 'heap, 8 B'],
                                 ['peerresident', 65536, 'resident, 64 KiB']),
        EpBench::Plot::bar_panel($data, $scenario, $pairs,
                                 'The whole job, by worker (less is better)', 'bytes',
                                 ['job', 0, 2 * $pairs . ' workers']));
    return @panels ? whole($data, $scenario, { more => ', memory', rounds => 1 }, @panels) : '';
}

sub level {
    my ($data) = @_;
    my @lines = EpBench::Costs::levels($data) or return '';
    my $text = "\$level << END\n";
    my ($greatest) = sort { $b <=> $a } map { @$_[2, 3] } @lines;
    for my $i (0 .. $#lines) {
        $text .= join(' ', $i, map { ($_, EpBench::Table::number($_)) } @{ $lines[$i] }[2, 3])
            . "\n";
    }
    $text .= "END\nset title 'Default and funneled (less is better)' font ',13'\n"
        . "set ylabel 'ns a message'\nset xlabel ' '\nunset logscale\n"
        . 'set yrange [0:' . 1.08 * $greatest . "]\n" . EpBench::Plot::even_tics(1.08 * $greatest)
        . 'set xrange [-0.6:' . ($#lines + 0.6) . "]\nset xtics ("
        . join(', ', map { "'$lines[$_][1]' $_" } 0 .. $#lines) . ")\nset format y '%g'\n"
        . "set key at screen 0.83,0.9 left top Left reverse samplen 2\n"
        . "set style fill solid 0.85 noborder\nset boxwidth 0.3\n"
        . "plot \$level using (\$1-0.17):2 with boxes fc rgb '#D55E00' title 'default', \\\n"
        . "     \$level using (\$1+0.17):4 with boxes fc rgb '#E69F00' title 'funneled', \\\n"
        . "     \$level using (\$1-0.17):2:(stringcolumn(3)) with labels offset 0,0.6 notitle, \\\n"
        . "     \$level using (\$1+0.17):4:(stringcolumn(5)) with labels offset 0,0.6 notitle\n"
        . "set key off\n";
    my $title = EpBench::Plot::titled('in', ', thread levels');
    return EpBench::Plot::figure($data, 'in', [], { title => $title }, $text);
}

# With a legend of the ways that are in it: each has data blocks, called NAME_WAY.
sub whole {
    my ($data, $scenario, $more, @panels) = @_;
    my $about_it = ref($more) ? $more : { more => $more };
    $about_it->{title} = EpBench::Plot::titled($scenario, $about_it->{more});
    my $text = join('', @panels);
    my @ways = grep { $text =~ /^\$\w+_$_ <</m } qw(ep proc thread threadcomm);
    return EpBench::Plot::figure($data, $scenario, \@ways, $about_it, @panels);
}

# Name of the file without its ending => input of gnuplot; empty where nothing was measured.
sub figures {
    my ($data) = @_;
    my %figure = (levels => level($data));
    my %name   = (in => 'in-process', tcp => 'across-tcp', shm => 'across-shm');
    for my $scenario (keys %name) {
        $figure{"creation-$name{$scenario}"}  = sets($data, $scenario);
        $figure{"memory-$name{$scenario}"}    = peers($data, $scenario);
    }
    return %figure;
}

1;
