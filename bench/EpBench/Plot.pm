# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Plots: one figure of four panels per scenario and, with several pair counts, one of the totals;
# one of all at a glance; or those of CostPlot.pm, Paper.pm.
# Every figure as SVG and as PNG, by gnuplot.

package EpBench::Plot;

use strict;
use warnings;

use POSIX ();

use EpBench::Data;
use EpBench::Job;
use EpBench::Table;
use EpBench::Ways;

# Colours that stay apart for colour-blind readers (Okabe and Ito), and in grey by their marks.
my %STYLE = (
    'ep'         => { color => '#D55E00', mark => 7,  width => 3 },
    'proc'       => { color => '#0072B2', mark => 5,  width => 2 },
    'thread'     => { color => '#009E73', mark => 9,  width => 2 },
    'shared'     => { color => '#E69F00', mark => 13, width => 2 },
    'threadcomm' => { color => '#CC79A7', mark => 11, width => 2 },
    'rdma'       => { color => '#56B4E9', mark => 13, width => 2 },
    'mpich'      => { color => '#CC79A7', mark => 11, width => 2 },
    'mpich-new'  => { color => '#E69F00', mark => 15, width => 2 },
    'fi'         => { color => '#56B4E9', mark => 13, width => 2 },
    'floor'      => { color => '#888888', mark => 0,  width => 1.5 },
);
our @ORDER = qw(ep proc thread shared threadcomm rdma mpich mpich-new fi floor);

our $SETUP = <<'GNUPLOT';
set encoding utf8
set datafile missing "-"
set border 3 lc rgb "#555555"
set tics nomirror
set grid ytics lc rgb "#DDDDDD" lt 1 lw 1
set key off
GNUPLOT

# Of a figure, in pixels; panels in one row take less.
my $WIDTH = 1200;
sub height { return 1 == $_[0] ? 500 : 450 * $_[0]; }

# What the floor is called on a plot: of times it is the least that can be, of bandwidth the most.
my $LIMIT = 'limit of the machine';

# One data block per way: x, median, least, greatest.
sub blocks {
    my ($data, $name, $x, @at) = @_;
    my $text = '';
    my @with;
    for my $way (@ORDER) {
        my @lines;
        for my $value (@{ $x->{values} }) {
            my $figure = $data->figure($x->{at}->($value, @at), $way) or next;
            push(@lines, join(' ', $value, @$figure{qw(median min max)}));
        }
        # Of the limit there is a line or nothing.
        next if @lines < ('floor' eq $way ? 2 : 1);
        (my $block = "\$${name}_$way") =~ tr/-/_/;
        $text .= "$block << END\n" . join("\n", @lines) . "\nEND\n";
        push(@with, [$way, $block, scalar @lines]);
    }
    return ($text, @with);
}

sub curves {
    my (@with) = @_;
    my @parts;
    for my $entry (@with) {
        my ($way, $block) = @$entry;
        my $style = $STYLE{$way};
        my $title = $EpBench::Ways::WAY{$way}{title};
        my $line  = "lc rgb '$style->{color}' lw $style->{width}";
        if ('floor' eq $way) {
            push(@parts, "$block using 1:2 with lines $line dt 2 title '$title'");
        } else {
            push(@parts, "$block using 1:3:4 with filledcurves fc rgb '$style->{color}' "
                         . 'fs transparent solid 0.15 noborder notitle');
            push(@parts, "$block using 1:2 with linespoints $line pt $style->{mark} ps 0.8 "
                         . "title '$title'");
        }
    }
    return join(", \\\n     ", @parts);
}

# What values up to so much are given in, for few characters: 50k, 12M.
sub unit {
    my ($value) = @_;
    return $value >= 1e6 ? (1e6, 'M') : $value >= 1e4 ? (1e3, 'k') : (1, '');
}

sub tic {
    my ($value) = @_;
    my ($by, $unit) = unit($value);
    return sprintf("'%g%s' %.10g", $value / $by, $unit, $value);
}

# The first of several choices of tics, of which each has more, that gives at least three.
sub tics {
    my ($from, $to, @choices) = @_;
    my @tics;
    for my $steps (@choices) {
        @tics = ();
        for my $exponent (-6 .. 12) {
            push(@tics, grep { $from <= $_ && $_ <= $to } map { $_ * 10 ** $exponent } @$steps);
        }
        last if 3 <= @tics;
    }
    return 'set ytics (' . join(', ', map { tic($_) } @tics) . ")\n";
}

# From 0 on, in steps of 1, 2 or 5 times a power of ten, five to ten of them, all in one unit and
# with as many decimals as the step has.
sub even_tics {
    my ($to) = @_;
    my $least = $to / 10;
    my $power = 10 ** POSIX::floor(log($least) / log(10));
    my ($step) = grep { $_ >= $least } map { $_ * $power } 1, 2, 5, 10;
    my ($by, $unit) = unit($to);
    my $decimals = -POSIX::floor(log($step / $by) / log(10) + 1e-9);
    return "set ytics ('0' 0" . join('', map {
        sprintf(", '%.*f%s' %.10g", $decimals > 0 ? $decimals : 0, $_ * $step / $by, $unit,
                $_ * $step)
    } 1 .. int($to / $step)) . ")\n";
}

# "set yrange" and "set ytics" that leave no room unused: from the least to the greatest of all
# blocks, or from 0 on.  What is 0 has no place on a logarithmic axis, and is not drawn.  $over: how
# much room above.
sub y_axis {
    my ($text, $scale, $over) = @_;
    my ($least, $greatest);
    for my $line (grep { /^[-\d.e+]+(?: [-\d.e+]+){3}(?: \S+)?$/ } split(/\n/, $text)) {
        my (undef, undef, $min, $max) = split(' ', $line);
        $least    = $min if 0 < $min && (!defined $least || $min < $least);
        $greatest = $max if !defined $greatest || $max > $greatest;
    }
    return '' unless defined $greatest && 0 < $greatest;
    my $to = $greatest * $over;
    return "unset logscale y\nset yrange [0:$to]\n" . even_tics($to)
        if 'log' ne $scale || !defined $least;
    my $margin = 1.03 * ($greatest / $least) ** 0.03;
    my $from   = $least / $margin;
    $to = $greatest * $margin;
    return "set logscale y 10\nset yrange [$from:$to]\n"
        . tics($from, $to, [1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 8],
               [map { $_ / 10 } 10 .. 99]);
}

# "set xtics" with sizes in bytes, powers of two, at most about eight of them: 8, 512, 4K, 1M.
sub size_tics {
    my @sizes = grep { 0 == ($_ & ($_ - 1)) } @_;
    my $step = int((@sizes + 7) / 8);
    my @shown = map { $sizes[$_] } grep { 0 == $_ % $step } 0 .. $#sizes;
    return "set xlabel 'message size in bytes (K: 1024)'\nset xtics (" . join(', ', map {
        my $text = EpBench::Data::bytes($_);
        $text =~ s/ B$| (?=[KM])|iB$//g;
        "'$text' $_"
    } @shown) . ")\n";
}

# A panel of curves over message size; empty where nothing was measured.
sub size_panel {
    my ($data, $scenario, $pairs, $measure, $title, $label, $scale) = @_;
    # On a logarithmic axis there is no place for 0.
    my @sizes = grep { 0 < $_ }
        $data->sizes(scenario => $scenario, pairs => $pairs, measure => $measure);
    return '' unless @sizes;
    my $x = { values => \@sizes, at => sub { ($scenario, $pairs, $measure, $_[0]) } };
    my ($text, @with) = blocks($data, $measure, $x);
    my $range = 'set xrange [' . $sizes[0] / 1.5 . ':' . $sizes[-1] * 1.5 . "]\n";
    return $text . "set title '$title' font ',13'\nset ylabel '$label'\nset logscale x 2\n$range"
        . y_axis($text, $scale, 1.05) . size_tics(@sizes) . "set format y '%g'\nplot "
        . curves(@with) . "\n";
}

# Likewise over a number, as blocks takes it: axis is what it is of.
sub curve_panel {
    my ($data, $name, $title, $label, $axis, $x, $scale) = @_;
    my ($text, @with) = blocks($data, $name, $x);
    return '' unless @with;
    my @values = @{ $x->{values} };
    return $text . "set title '$title' font ',13'\nset ylabel '$label'\nset xlabel '$axis'\n"
        . "set logscale x 2\nset xrange [" . $values[0] / 1.3 . ':' . $values[-1] * 1.3 . "]\n"
        . y_axis($text, $scale, 1.05) . 'set xtics (' . join(', ', @values)
        . ")\nset format y '%g'\nplot " . curves(@with) . "\n";
}

# Bars of each way side by side, and the limit across them.  A point is [measure, size, text] and, if
# it is another one, the scenario.  $axis: its label, or [label, 'log'].
sub bar_panel {
    my ($data, $scenario, $pairs, $title, $axis, @points) = @_;
    my ($label, $scale) = ref $axis ? @$axis : ($axis, '');
    my $at = sub {
        my ($point, $way) = @_;
        return $data->figure($point->[3] // $scenario, $pairs, @$point[0, 1], $way);
    };
    my @ways = grep {
        my $way = $_;
        'floor' ne $way && grep { $at->($_, $way) } @points
    } @ORDER;
    return '' unless @ways;
    my $width = 0.88 / @ways;
    my ($text, @plots) = ('');
    for my $i (0 .. $#ways) {
        my $way = $ways[$i];
        my ($lines, $vary) = ('', 0);
        for my $group (grep { $at->($points[$_], $way) } 0 .. $#points) {
            my $figure = $at->($points[$group], $way);
            $vary ||= $figure->{min} != $figure->{max};
            $lines .= join(' ', $group + ($i - $#ways / 2) * $width, @$figure{qw(median min max)},
                           EpBench::Table::number($figure->{median})) . "\n";
        }
        my $block = "\$bars_" . ($way =~ tr/-/_/r);
        $text .= "$block << END\n${lines}END\n";
        push(@plots, "$block using 1:2:($width * 0.9) with boxes fs solid 0.85 noborder "
                     . "fc rgb '$STYLE{$way}{color}'",
                     $vary ? "$block using 1:2:3:4 with yerrorbars pt 0 ps 0 lw 1 lc rgb '#333333'"
                           : (),
                     "$block using 1:4:(stringcolumn(5)) with labels offset 0,0.6 font ',7.5'");
    }
    my $limits = join('', map {
        my $figure = $at->($points[$_], 'floor');
        $figure ? "$_ $figure->{median} $figure->{median} $figure->{median}\n" : ''
    } 0 .. $#points);
    if (length($limits)) {
        $text .= "\$bars_floor << END\n${limits}END\n";
        push(@plots, "\$bars_floor using (\$1-0.44):2:(0.88):(0) with vectors nohead dt 2 "
                     . "lw $STYLE{floor}{width} lc rgb '#444444'");
    }
    my $tics = join(', ', map { qq("$points[$_][2]" $_) } 0 .. $#points);
    return $text . "set title '$title' font ',13'\nset ylabel '$label'\nset xlabel ' '\n"
        . "unset logscale\nset format y '%g'\n" . y_axis($text, $scale, 1.12) . 'set xrange [-0.5:'
        . ($#points + 0.5) . "]\nset xtics scale 0 ($tics)\nplot " . join(", \\\n     ", @plots)
        . "\nset xtics scale 1\n";
}

sub scenario_figure {
    my ($data, $scenario, $pairs) = @_;
    my @bars;
    for my $entry (['barrier', 'barrier'], ['allreduce', 'allreduce 8 B'],
                   ['bcast', 'broadcast 8 B']) {
        my ($least) = $data->sizes(scenario => $scenario, pairs => $pairs, measure => $entry->[0]);
        push(@bars, [$entry->[0], $least, $entry->[1]]) if defined $least;
    }
    my @panels = grep { length } (
        size_panel($data, $scenario, $pairs, 'lat', 'One way (less is better)', 'µs', 'log'),
        size_panel($data, $scenario, $pairs, 'bw', 'Bandwidth (more is better)', 'GB/s', ''),
        size_panel($data, $scenario, $pairs, 'rate', 'Message rate (more is better)',
                   'million messages/s', 'log'),
        bar_panel($data, $scenario, $pairs, 'Collectives (less is better)', 'µs', @bars),
    );
    return '' unless @panels;
    return figure($data, $scenario, \@ORDER, { title => titled($scenario, '') }, @panels);
}

# The one for people in a hurry: four figures of two threads, in one process and in two.
sub glance_figure {
    my ($data) = @_;
    return '' if grep { my $s = $_; !grep { $s eq $_ } $data->distinct('scenario', pairs => 1) }
        qw(in shm);
    my @panels = grep { length } map {
        my ($measure, $size, $title, $label) = @$_;
        bar_panel($data, 'in', 1, $title, $label, [$measure, $size, 'in one process', 'in'],
                  [$measure, $size, 'in two of a node', 'shm'])
    } (['lat', 8, '8 B one way (less is better)', 'µs'],
       ['rate', 8, '8 B messages (more is better)', 'million messages/s'],
       ['bw', 1048576, '1 MiB stream (more is better)', 'GB/s'],
       ['halo', 4096, 'Halo exchange, four times 4 KiB (less is better)', 'µs']);
    return 4 == @panels ? figure($data, 'in', \@ORDER, {
        title => 'Two threads that talk: MPI endpoints and their peers',
        note => "'ob1, processes' are two processes in either group." }, @panels) : '';
}

# Over the number of pairs: totals of messages, and what communicators cost.
my @TOTALS = (
    ['rate', 8, '8 B message rate, all pairs', 'million messages/s'],
    ['bw', 65536, '64 KiB bandwidth, all pairs', 'GB/s'],
    ['lat', 8, '8 B one way', 'µs'],
    ['halo', 4096, 'Halo exchange of 4 KiB, four neighbours', 'µs'],
    ['barrier', 0, 'Barrier of all workers', 'µs'],
);
# Gnuplot takes a bare _ for the beginning of an index.
my @COMMUNICATORS = map { [$_, 0, $EpBench::Data::MEASURE{$_}{title} =~ s/_/\\_/gr, 'µs'] }
    qw(dup split create free);

sub pairs_figure {
    my ($data, $scenario, @entries) = @_;
    my @pairs = sort { $a <=> $b } $data->distinct('pairs', scenario => $scenario);
    return '' if 2 > @pairs;
    my @panels;
    for my $entry (@entries) {
        my ($measure, $size, $title, $label) = @$entry;
        my $x = { values => \@pairs, at => sub { ($scenario, $_[0], $measure, $size) } };
        my ($text, @with) = blocks($data, $measure, $x);
        @with = grep { 'floor' ne $_->[0] } @with;
        next unless @with;
        my $better = $EpBench::Data::MEASURE{$measure}{higher} ? 'more' : 'less';
        my $scale  = "set logscale x 2\n" . y_axis($text, 'more' eq $better ? '' : 'log', 1.05);
        push(@panels, $text . "set title '$title ($better is better)' font ',13'\n"
             . "set ylabel '$label'\nset xlabel 'pairs of workers'\n$scale"
             . 'set xrange [' . $pairs[0] / 1.2 . ':' . $pairs[-1] * 1.2 . "]\n"
             . 'set xtics (' . join(', ', @pairs) . ")\nset format y '%g'\n"
             . 'plot ' . curves(@with) . "\n");
    }
    return '' unless @panels;
    return figure($data, $scenario, [grep { 'floor' ne $_ } @ORDER],
                  { title => titled($scenario, ', by number of workers') }, @panels);
}

# Lines of words, none longer than so many characters; between them $end, or what gnuplot takes for
# the end of a line.
sub wrap {
    my ($width, $text, $end) = @_;
    my @lines = ('');
    for my $word (split(' ', $text)) {
        if (length("$lines[-1] $word") > $width && length($lines[-1])) {
            push(@lines, $word);
        } else {
            $lines[-1] .= (length($lines[-1]) ? ' ' : '') . $word;
        }
    }
    return join($end // '\\n', @lines);
}

# What the limit is, beside the legend: nobody is slower than light, but two may be faster than one.
sub limit_note {
    my ($scenario) = @_;
    return ("$LIMIT:", 'a plain TCP socket, polled, up to 64 KiB.') if 'tcp' eq $scenario;
    return ("$LIMIT:", 'of times, the least: a cache line going across, and one memcpy;',
            'of bandwidth, what one core copies with memcpy from and to its own cache. Sender and'
            . ' receiver that copy together, each a part, may pass it.');
}

# The legend of all panels, beside them: a plot of nothing in a strip, and what must be said there.
sub legend {
    my ($scenario, $height, $text, @ways) = @_;
    my @shown = grep { $text =~ /^\$\w+_\Q@{[tr{-}{_}r]}\E <</m } @ways;
    my @note  = (grep { 'floor' eq $_ } @shown) ? limit_note($scenario) : ();
    my @parts;
    for my $way (@shown) {
        my $style = $STYLE{$way};
        my $with  = 'floor' eq $way ? 'lines dt 2'
            : $text =~ /with linespoints/ ? "linespoints pt $style->{mark} ps 0.9"
            : 'boxes fs solid 0.85 noborder';
        my $title = 'floor' eq $way ? $LIMIT : $EpBench::Ways::WAY{$way}{title};
        push(@parts, "NaN with $with lc rgb '$style->{color}' lw $style->{width} title '$title'");
    }
    return '' unless @parts;
    my $below = 1 - (105 + 15 * @parts) / $height;
    return "unset title\nunset border\nunset tics\nunset xlabel\nunset ylabel\nunset logscale\n"
        . "unset grid\nset lmargin at screen 0.825\nset rmargin at screen 0.995\n"
        . 'set tmargin at screen ' . (1 - 90 / $height) . "\nset bmargin at screen $below\n"
        . "set xrange [0:1]\nset yrange [0:1]\n"
        . (@note ? 'set label 1 "' . join('\n', map { wrap(28, $_) } @note)
                   . qq(" at screen 0.829,) . ($below - 20 / $height) . qq( left font ',9'\n) : '')
        . "set key left top vertical Left reverse samplen 2 font ',9'\n"
        . 'plot ' . join(", \\\n     ", @parts) . "\nunset label 1\n";
}

# Below the panels: of what the figures are, and what they were measured on.
sub caption {
    my ($data, $scenario, $text, $about_it) = @_;
    my $rounds = $about_it->{rounds} || $data->distinct('round', scenario => $scenario);
    my @pairs  = $data->distinct('pairs', scenario => $scenario);
    my $about  = $data->{about} || {};
    my @marks  = ($text =~ /with linespoints/ ? 'lines' : (), $text =~ /with boxes/ ? 'bars' : ());
    my @ranges = ($text =~ /with filledcurves/ ? 'shades' : (),
                  $text =~ /with yerrorbars/ ? 'error bars' : ());
    my $what = ucfirst(join(' and ', @marks)) . ': ' . $data->statistic($rounds)
        . (1 == @pairs && 1 == $pairs[0] ? ', one pair of workers' : '')
        . (1 < $rounds && @ranges
           ? '; ' . join(' and ', @ranges) . ': from the least to the greatest round.' : '.')
        . ($about_it->{note} ? " $about_it->{note}" : '');
    my @where = grep { defined } $about->{cpu},
        map { defined $about->{ $_->[0] } ? "$_->[1]$about->{ $_->[0] }$_->[2]" : undef }
        ['cores', '', ' cores'], ['kernel', 'Linux ', ''], ['Open MPI', 'Open MPI ', ''],
        ['MPICH', 'MPICH ', ''], ['endpoints', 'endpoints ', ''];
    # What the tools say of themselves has their names in front.
    my $where = join(', ', map { s/mpirun \(Open MPI\) |MPICH Version:\s*//r } @where);
    my $date = ($about->{date} // '') =~ /^(\d{4}-\d\d-\d\d)/ ? ", $1" : '';
    return $what . (length($where) ? '\\n' . $where . $date : '');
}

# $ways: those that the legend may have.  $about_it: title, columns, rounds (if not all), note
# (behind the caption's first line).
sub figure {
    my ($data, $scenario, $ways, $about_it, @panels) = @_;
    my $columns = $about_it->{columns} || (1 == @panels ? 1 : 2);
    my $rows    = int((@panels + $columns - 1) / $columns);
    my $height  = height($rows);
    my $text    = join('', @panels);
    return $SETUP . qq(set multiplot layout $rows,$columns title "$about_it->{title}" font ',16' )
        . 'margins 0.06,0.815,' . 122 / $height . ',' . (1 - 90 / $height)
        . ' spacing ' . (3 == $columns ? 0.06 : 0.075) . ',' . 117 / $height . "\n"
        . 'set label 2 "' . escape(caption($data, $scenario, $text, $about_it))
        . '" at screen 0.02,' . 40 / $height . " left font ',9'\n"
        . $panels[0] . "unset label 2\n" . join('', @panels[1 .. $#panels])
        . legend($scenario, $height, $text, @$ways) . "unset multiplot\n";
}

# Of what is in one scenario.
sub titled {
    my ($scenario, $more) = @_;
    return "MPI endpoints and their peers, $EpBench::Ways::SCENARIO{$scenario}{plot}$more";
}

# Gnuplot takes a bare _ for the beginning of an index, and ^ for that of a power.
sub escape {
    return $_[0] =~ s/([_^{}@])/\\\\$1/gr;
}

# Name of the file without its ending => input of gnuplot.
sub figures {
    my ($data) = @_;
    my %figure = (glance => glance_figure($data));
    for my $scenario ($data->distinct('scenario')) {
        my ($fewest) = sort { $a <=> $b } $data->distinct('pairs', scenario => $scenario);
        my $name = { in => 'in-process', tcp => 'across-tcp', shm => 'across-shm' }->{$scenario};
        $figure{$name} = scenario_figure($data, $scenario, $fewest);
        $figure{"$name-pairs"} = pairs_figure($data, $scenario, @TOTALS);
        $figure{"$name-communicators"} = pairs_figure($data, $scenario, @COMMUNICATORS);
    }
    return %figure;
}

# Browsers without the font would take one with serifs.
sub name_fonts {
    my ($path) = @_;
    my $text = join("\n", EpBench::Ways::lines($path)) =~
        s/font-family="DejaVu Sans"/font-family="DejaVu Sans,Verdana,sans-serif"/gr;
    open(my $file, '>', $path) or die "$path: $!\n";
    print $file "$text\n";
    close($file);
    return;
}

# Writes figures into $folder; returns the paths, or an empty list and why.
sub draw {
    my ($folder, %figure) = @_;
    my $gnuplot = EpBench::Ways::on_path('gnuplot')
        or return ([], 'gnuplot is not installed (package gnuplot-nox)');
    my @paths;
    for my $name (sort grep { length $figure{$_} } keys %figure) {
        my $script = "$folder/$name.gnuplot";
        open(my $file, '>', $script) or die "$script: $!\n";
        my $size = join(',', $WIDTH, height($figure{$name} =~ /multiplot layout (\d+)/));
        print $file "set terminal svg size $size dynamic background rgb 'white' "
            . "font 'DejaVu Sans,11'\nset output '$name.svg'\n$figure{$name}unset output\n"
            . "reset\nset terminal pngcairo size $size font 'DejaVu Sans,11'\n"
            . "set output '$name.png'\n$figure{$name}unset output\n";
        close($file);
        my $failed = EpBench::Job::run(
            command => ['sh', '-c', 'cd "$1" && exec "$2" "$3"', 'sh', $folder, $gnuplot,
                        "$name.gnuplot"],
            timeout => 60, out => "$folder/$name.log", err => "$folder/$name.err");
        if ($failed) {
            return (\@paths, "gnuplot: $failed (see $folder/$name.err)");
        }
        unlink("$folder/$name.log", "$folder/$name.err");
        name_fonts("$folder/$name.svg");
        push(@paths, "$folder/$name.svg", "$folder/$name.png");
    }
    return (\@paths, undef);
}

1;
