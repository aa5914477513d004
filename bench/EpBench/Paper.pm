# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Figures 3 to 8 of the endpoints paper (Dinan et al., 2014, section 6), with endpoints beside what the
# paper had (--paper): what is run, the tables and the plots.
#
# P processes of T threads on one side communicate with as many on the other side: messages both ways
# in windows of 64 (Figures 3 to 6), or one way with messages and receives that do not match (7 and 8).
# Each layout P x T is a scenario of its own in the data, "shm-2x4".  Processes without threads are as
# many as the workers.

package EpBench::Paper;

use strict;
use warnings;

use File::Copy qw(copy);

use EpBench::Data;
use EpBench::Plot;
use EpBench::Table;
use EpBench::Ways;

our @WAYS      = qw(ep thread shared proc threadcomm);
our @SCENARIOS = qw(shm tcp);

my @PROCESSES = (1, 2, 4, 8, 16);
my @THREADS   = (1, 2, 4);
my $SENDERS   = 16;    # of one process, in Figures 3 and 4
my $WINDOW    = 64;

my @SIZES = (1, 4, 8, map { 4 ** $_ } 2 .. 10);
my @QUEUE = map { 4 ** $_ } 0 .. 5;
my %SHOWN = map { $_ => 1 } 8, 1024, 65536, 1048576;

# Of Figures 5 to 8: all P x T with a core for each worker of a side.
sub grid {
    my ($cores) = @_;
    return grep { $_->[0] * $_->[1] <= $cores } map { my $p = $_; map { [$p, $_] } @THREADS } @PROCESSES;
}

# Of Figures 3 and 4: one process.
sub senders {
    my ($cores) = @_;
    return map { [1, $_] } grep { $_ <= $SENDERS && $_ <= $cores } @PROCESSES;
}

# How many pairs of workers there are in any layout.
sub pairs {
    my ($cores) = @_;
    my %pairs = map { $_->[0] * $_->[1] => 1 } grid($cores), senders($cores);
    return sort { $a <=> $b } keys %pairs;
}

sub label {
    my ($scenario, $layout) = @_;
    return "$scenario-$layout->[0]x$layout->[1]";
}

# What is run of one way with a number of pairs: a job for each layout.  MPICH's thread communicators
# are a peer of one process.
sub parts {
    my ($way, $scenario, $pairs, $quick, $cores) = @_;
    my %layouts = map { label($scenario, $_) => $_ }
        $way->{each} ? [$pairs, 1]
                     : grep { $pairs == $_->[0] * $_->[1] } senders($cores),
                           'threadcomm' eq $way->{name} ? () : grid($cores);
    my @sizes = grep { !$quick || $SHOWN{$_} } @SIZES;
    my @queue = $quick ? @QUEUE[0, -1] : @QUEUE;
    my @points = map { my ($measure, @at) = @$_; map { "$measure:$_" } @at }
        (['birate', @sizes], ['posted', @queue], ['unexpected', @queue]);
    return map { { name => $_ =~ s/.*-//r, points => \@points, processes => 2 * $layouts{$_}[0],
                   arguments => ['--scenario', $_, '--window', $WINDOW] } }
        sort { $layouts{$a}[0] <=> $layouts{$b}[0] } keys %layouts;
}

# ---- the data, as the figures ask for them -----------------------------------------------------

# Processes are as many as the layout has workers; "bandwidth" is that of the messages.
sub EpBench::Paper::View::figure {
    my ($self, $scenario, $pairs, $measure, $size, $way) = @_;
    my ($kind, $by) = 'bandwidth' eq $measure ? ('birate', $size / 1e3) : ($measure, 1);
    $scenario =~ s/\d+x\d+$/${pairs}x1/ if 'proc' eq $way;
    my $figure = $self->{data}->figure($scenario, $pairs, $kind, $size, $way) or return;
    return { %$figure, map { $_ => $by * $figure->{$_} } qw(median min max) };
}

sub view {
    my ($data) = @_;
    return bless({ data => $data }, 'EpBench::Paper::View');
}

# The layouts of which there is a figure of endpoints, in the order of the workers' number.
sub layouts {
    my ($data, $scenario) = @_;
    my @layouts = map { /^\Q$scenario\E-(\d+)x(\d+)$/ ? [$1, $2] : () } $data->distinct('scenario');
    return sort { $a->[0] * $a->[1] <=> $b->[0] * $b->[1] || $a->[1] <=> $b->[1] }
        grep { $data->distinct('size', scenario => label($scenario, $_), way => 'ep') } @layouts;
}

# Of those, the ones of Figures 3 and 4, or of the others.
sub of_figure {
    my ($figure, @layouts) = @_;
    return grep { 1 == $_->[0] && $_->[1] <= $SENDERS } @layouts if $figure < 5;
    my %grid = map { $_ => 1 } @THREADS;
    return grep { $grid{ $_->[1] } } @layouts;
}

# ---- tables ------------------------------------------------------------------------------------

sub line {
    my ($data, $scenario, $layout, $measure, $size) = @_;
    my @at = (label($scenario, $layout), $layout->[0] * $layout->[1], $measure, $size);
    my ($mine, @others) = map { $data->figure(@at, $_) // undef } @WAYS[0 .. 3];
    my $text = sprintf('%7s %9s %7s%4s', "$layout->[0] x $layout->[1]",
                       'birate' eq $measure ? EpBench::Data::bytes($size) : $size,
                       EpBench::Table::number($mine ? $mine->{median} : undef),
                       EpBench::Table::spread($mine))
        . join('', map {
            sprintf('%8s%7s', EpBench::Table::number($_ ? $_->{median} : undef),
                    EpBench::Table::ratio($mine && $_ && $_->{median}
                                              ? $mine->{median} / $_->{median} : undef))
        } @others);
    $text =~ s/ +$//;
    return "$text\n";
}

sub table {
    my ($data, $scenario) = @_;
    my @layouts = layouts($data, $scenario) or return '';
    my $rounds = $data->distinct('round', scenario => label($scenario, $layouts[0]));
    my $text = sprintf("%s: P processes x T threads a side, M/s, %s\n",
                       $EpBench::Ways::SCENARIO{$scenario}{title}, $data->statistic($rounds))
        . '=' x 80 . "\n"
        . sprintf("%7s %9s %7s%4s%8s%7s%8s%7s%8s\n", '', '', 'end-', '+-', 'own', '', 'shared', '',
                  'pro-')
        . sprintf("%7s %9s %7s%4s%8s%7s%8s%7s%8s%7s\n", 'P x T', 'bytes', 'points', '%', 'comm.',
                  'times', 'rank', 'times', 'cesses', 'times');
    for my $part (['birate', ''], ['posted', "receives posted that do not match, 8 B\n"],
                  ['unexpected', "messages unexpected that do not match, 8 B\n"]) {
        my ($measure, $title) = @$part;
        $text .= $title;
        for my $layout (@layouts) {
            $text .= line(view($data), $scenario, $layout, $measure, $_)
                for grep { 'birate' ne $measure || $SHOWN{$_} }
                    $data->sizes(scenario => label($scenario, $layout), measure => $measure,
                                 way => 'ep');
        }
    }
    return $text;
}

sub legend {
    return <<'TEXT';
How to read: all messages of both sides together; "times" says how many times as
many endpoints send as that way.  own comm.: threads with a communicator each;
shared rank: threads of one rank and communicator; processes: P x T of them.
A layout needs a core for each worker of a side; the two sides share the cores.
TEXT
}

sub tables {
    my ($data) = @_;
    my @tables = grep { length } map { table($data, $_) } @SCENARIOS;
    return @tables ? (@tables, legend()) : ();
}

# ---- plots -------------------------------------------------------------------------------------

# Number, measure, what each is about, its axis, the scale.
my @FIGURES = (
    [3, 'birate', 'message rate of one process', 'million messages/s', 'log'],
    [4, 'bandwidth', 'bandwidth of one process', 'GB/s', ''],
    [5, 'birate', 'message rate of processes with threads', 'million messages/s', 'log'],
    [6, 'bandwidth', 'bandwidth of processes with threads', 'GB/s', ''],
    [7, 'posted', '8 B rate by receives posted that do not match', 'million messages/s', 'log'],
    [8, 'unexpected', '8 B rate by messages unexpected that do not match', 'million messages/s', 'log'],
);

sub where {
    return 'tcp' eq $_[0] ? 'TCP' : 'shared memory';
}

# What a layout is called above its panel.
sub panel_title {
    my ($figure, $scenario, $layout) = @_;
    my ($processes, $threads) = @$layout;
    my $what = $figure < 5 ? $threads . (1 == $threads ? ' sender' : ' senders')
        : "P = $processes, T = $threads";
    return "$what, " . where($scenario);
}

# A row has the layouts of one scenario, with one scale.
sub plot {
    my ($data, $number, $measure, $about, $label, $scale) = @_;
    my $kind = 'bandwidth' eq $measure ? 'birate' : $measure;
    my (@panels, %text, $columns);
    for my $scenario (@SCENARIOS) {
        my @layouts = grep { $data->distinct('size', scenario => label($scenario, $_),
                                             measure => $kind, way => 'ep') }
            of_figure($number, layouts($data, $scenario)) or next;
        $columns //= @layouts < 3 ? scalar @layouts : 3;
        push(@panels, undef) while @panels % $columns;
        for my $layout (@layouts) {
            my @at = (label($scenario, $layout), $layout->[0] * $layout->[1]);
            my @sizes = $data->sizes(scenario => $at[0], measure => $kind, way => 'ep');
            my $x = { values => \@sizes, at => sub { (@at, $measure, $_[0]) } };
            my ($text, @with) = EpBench::Plot::blocks(view($data), 'p' . @panels, $x);
            $text{$scenario} .= $text;
            push(@panels, [$scenario, $layout, $text, \@sizes, @with]);
        }
    }
    return '' unless @panels;
    my %axis = map { $_ => EpBench::Plot::y_axis($text{$_}, $scale, 1.05) } keys %text;
    my @drawn = map {
        my ($scenario, $layout, $text, $sizes, @with) = $_ ? @$_ : ();
        !$_ ? "set multiplot next\n"
            : $text . "set title '" . panel_title($number, $scenario, $layout) . "' font ',13'\n"
            . "set ylabel '$label'\nset logscale x 2\n"
            . 'set xrange [' . $sizes->[0] / 1.5 . ':' . $sizes->[-1] * 1.5 . "]\n$axis{$scenario}"
            . ($kind eq 'birate' ? EpBench::Plot::size_tics(@$sizes)
               : "set xlabel 'number that do not match'\nset xtics (" . join(', ', @$sizes) . ")\n")
            . "set format y '%g'\nplot " . EpBench::Plot::curves(@with) . "\n"
    } @panels;
    my ($last) = reverse grep { defined } @panels;
    return EpBench::Plot::figure($data, label(@$last[0, 1]), \@WAYS,
                                 { title => "Figure $number: $about", columns => $columns }, @drawn);
}

# Rate and bandwidth against the number of senders of one process.
sub senders_plot {
    my ($data) = @_;
    my (@panels, $at);
    for my $scenario (@SCENARIOS) {
        my @layouts = of_figure(3, layouts($data, $scenario)) or next;
        my @senders = map { $_->[1] } @layouts;
        $at = label($scenario, $layouts[-1]);
        for my $part (['birate', 8, 'message rate, 8 B', 'million messages/s'],
                      ['bandwidth', 65536, 'bandwidth, 64 KiB', 'GB/s']) {
            my ($measure, $size, $about, $label) = @$part;
            my $x = { values => \@senders,
                      at => sub { (label($scenario, [1, $_[0]]), $_[0], $measure, $size) } };
            push(@panels, EpBench::Plot::curve_panel(
                view($data), 's' . @panels, ucfirst(where($scenario)) . ": $about", $label,
                'senders in a process', $x, 'birate' eq $measure ? 'log' : ''));
        }
    }
    @panels = grep { length } @panels;
    return '' unless @panels;
    return EpBench::Plot::figure($data, $at, \@WAYS,
                                 { title => 'Threads that send, and their peers (more is better)' },
                                 @panels);
}

# Name of the file without its ending => input of gnuplot; empty where nothing was measured.
sub figures {
    my ($data) = @_;
    my %titles = (thread => 'ob1, threads, own comm.', shared => 'ob1, threads, one comm.');
    local @EpBench::Ways::WAY{keys %titles} =
        map { { %{ $EpBench::Ways::WAY{$_} }, title => $titles{$_} } } keys %titles;
    return (senders => senders_plot($data), map { ("figure$_->[0]" => plot($data, @$_)) } @FIGURES);
}

# The page docs/paper.md has the plots of a whole run.
sub renew {
    my ($docs, $out) = @_;
    for my $name ('senders.svg', map { "figure$_->[0].svg" } @FIGURES) {
        copy("$out/$name", "$docs/paper-$name") or die "$out/$name: $!\n";
    }
    return;
}

1;
