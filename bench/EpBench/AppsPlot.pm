# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# The plot of docs/ranks.md: unmodified programs with their ranks as threads beside processes.  Start-up
# and memory by the number of ranks, and how many times as fast applications are; of what bench/apps has
# printed.

package EpBench::AppsPlot;

use strict;
use warnings;

use File::Copy qw(copy);
use File::Temp qw(tempdir);
use POSIX qw(strftime);

use EpBench::Machine;
use EpBench::Plot;
use EpBench::Ways;

my %COLOR = (processes => '#0072B2', threads => '#D55E00', cpu => '#888888');
my $NUMBER = qr/\d+(?:\.\d+)?/;

# What is in a file: of --start [ranks, s, s, MB, MB], of --apps [name, ratio of time, of CPU time].
sub _read
{
    my ($path) = @_;
    my (@starts, @apps);

    for my $line (EpBench::Ways::lines($path)) {
        my ($name, @words) = split ' ', $line;

        if (9 == grep { /^$NUMBER$/ } @words) {
            push @starts, [$name, @words[0, 1, 6, 7]];
        } elsif (8 == @words && 'equal' eq $words[1]) {
            push @apps, [$name =~ s/^debian-//r, @words[4, 7]];
        }
    }
    return (\@starts, \@apps);
}

sub _block
{
    my ($name, @lines) = @_;

    return "\$$name << END\n" . join('', map { join(' ', @$_) . "\n" } @lines) . "END\n";
}

# Over the number of ranks, both axes logarithmic.
sub _curves
{
    my ($name, $title, $label, @points) = @_;
    my @ranks = map { $_->[0] } @points;

    return _block($name, @points) . "set title '$title (less is better)' font ',13'\nset ylabel '$label'\n"
        . "set xlabel 'ranks'\nset logscale xy\nset xrange [" . $ranks[0] / 1.3 . ':' . $ranks[-1] * 1.3 . "]\n"
        . "set yrange [*:*]\nset xtics (" . join(', ', @ranks) . ")\nset ytics autofreq\nset format y '%g'\n"
        . "set key left top Left reverse samplen 2\nplot " . join(', ', map {
            my ($column, $way) = @$_;
            "\$$name using 1:$column with linespoints lw 3 pt 7 lc rgb '$COLOR{$way}' title '$way'"
        } [2, 'processes'], [3, 'threads']) . "\nunset logscale\n";
}

sub _bars
{
    my (@apps) = @_;
    my @sorted = sort { $b->[1] <=> $a->[1] || $a->[0] cmp $b->[0] } @apps;
    my @lines = map { [$_, @{ $sorted[$_] }[1, 2]] } 0 .. $#sorted;
    my $tics = join ', ', map { "'$sorted[$_][0]' $_" } 0 .. $#sorted;

    return _block('apps', @lines) . "set title 'Applications (more is better)' font ',13'\n"
        . "set ylabel 'processes / threads'\nunset xlabel\nset xrange [-0.7:$#sorted.7]\nset logscale y 2\nset yrange [0.5:*]\n"
        . "set xtics rotate by 45 right scale 0 ($tics) font ',9'\nset ytics autofreq\n"
        . "set key right top Left reverse samplen 2\nplot \$apps using (\$1-0.2):2:(0.38) with boxes fs solid 0.85 "
        . "noborder lc rgb '$COLOR{threads}' title 'time', \$apps using (\$1+0.2):3:(0.38) with boxes fs solid 0.85 "
        . "noborder lc rgb '$COLOR{cpu}' title 'CPU time', 1 with lines dt 2 lc rgb '#444444' notitle\nunset logscale\n";
}

# Where it was: of this machine.
sub _caption
{
    my ($model) = map { /^model name\s*:\s*(.*)/ ? $1 : () } EpBench::Ways::lines('/proc/cpuinfo');
    my ($mpi) = `mpirun --version 2>/dev/null` =~ /(\d+\.\d+\S*)/;

    return EpBench::Plot::escape('Whole jobs, medians; processes: the stock Open MPI; threads: ranks of one process. '
        . join ', ', $model // 'unknown', "Open MPI " . ($mpi // 'unknown'), strftime('%Y-%m-%d', localtime));
}

# Draw what is in a file of tables.  Dies with why not.
sub draw
{
    my ($from, $svg) = @_;
    my ($starts, $apps) = _read($from);
    my $folder = tempdir('plot-XXXXXX', TMPDIR => 1, CLEANUP => 1);

    die "$from has no table of --start with several numbers of ranks, or none of --apps\n"
        if 2 > @$starts || 0 == @$apps;
    my $text = $EpBench::Plot::SETUP
        . "set multiplot layout 1,3 title 'Any MPI program: ranks as threads beside processes' font ',16' "
        . "margins 0.05,0.99,0.27,0.82 spacing 0.06,0.1\n"
        . 'set label 2 "' . _caption() . qq(" at screen 0.02,0.04 left font ',9'\n)
        . _curves('seconds', 'From start to end', 's', map { [@$_[0, 1, 2]] } @$starts) . "unset label 2\n"
        . _curves('memory', 'Memory', 'MB', map { [@$_[0, 3, 4]] } @$starts)
        . _bars(@$apps) . "unset multiplot\n";
    my ($paths, $why) = EpBench::Plot::draw($folder, ranks => $text);
    die "$why\n" if defined $why;
    copy("$folder/ranks.svg", $svg) or die "$svg: $!\n";
    return;
}

1;
