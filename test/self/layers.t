#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# layers.t BUILD-FOLDER: a file of a component in layers includes its own folder and those below it,
# by their one header; the files of a folder call each other in one direction; a component includes of
# the others only what they share, common/ep; a part of an object is written by one layer; no function
# of ours has more than 80 lines; and the functions of collectives are defined in the open.
#
# Guards: ompi, opal

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use List::Util qw(uniq);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
# The runner gives the folder of its programs, beside which ./ep has the build.
my ($build) = grep { -d "$_/ompi/mca" } grep { defined } $ARGV[0],
    defined $ARGV[0] ? "$ARGV[0]/../../build" : undef, $top;

# A component's layers, from the lowest one up; those in a list of their own do not know each other.
# docs/architecture.md ("The engine's layers"), epofi.md, epshm.md, collectives.md and extension.md
# say what each is for.  Sources beside the folders are on top of all, headers below.
my %LAYERS = (
    'ompi/mca/pml/epml' => [qw(base object wire proto loss engine calls service cid create)],
    'opal/mca/btl/epofi' => [qw(base sockets fabric share object peer proto engine)],
    'opal/mca/btl/epshm' => [qw(base segment), [qw(threads node)]],
    'ompi/mca/coll/epcoll' => [qw(segment base data local hier), [qw(direct pending)], 'calls'],
    'ompi/mca/osc/epwin' => [qw(base target am sync calls create)],
    'ompi/mpiext/endpoints/c' => [qw(base entry interpose), [qw(files static)],
        qw(hooks calls fortran)],
    'ompi/mpiext/endpoints/ranks' => ['base', [qw(image libc mpi)], 'start'],
    # Within a layer: what it shows to those above is its header, beside the folders.
    'ompi/mpiext/endpoints/c/files' => [qw(fbtl members), [qw(fcoll sharedfp)], 'interception'],
);
# What a component may include of ours in addition to itself: docs/architecture.md ("Contracts").
my @SHARED = qw(opal/mca/common/ep ompi/mca/common/ep);
my %INCLUDES = (
    'opal/mca/common/ep' => [],
    'ompi/mca/common/ep' => [$SHARED[0]],
    'opal/mca/btl/epofi' => [$SHARED[0]],
    'opal/mca/btl/epshm' => [$SHARED[0]],
    'ompi/mca/pml/epml' => \@SHARED,
    'ompi/mca/coll/epcoll' => \@SHARED,
    'ompi/mca/osc/epwin' => \@SHARED,
    'ompi/mpiext/endpoints' => \@SHARED,
);
# Which file writes which part of mca_pml_epml_ep_t, or of a communicator's state.
my %PARTS = (
    'ompi/mca/pml/epml' => {
        signs => 'object', requests => 'object', comms => 'object',
        ways => 'wire', wire => 'wire', flow => 'wire', fetch => 'proto', loss => 'loss',
        engine => 'engine', life => 'engine', list => 'engine',
        work => 'engine',
    },
);
# Layers whose files may call each other in a loop.
my %LOOPED = (
    'ompi/mca/pml/epml' => [qw(base object wire proto create)],
    'opal/mca/btl/epofi' => [qw(proto)],
    'opal/mca/btl/epshm' => [qw(segment threads node)],
);
my $LINES = 80;

sub text
{
    my ($path) = @_;

    open my $file, '<', $path or die "$path: $!\n";
    local $/;
    return <$file>;
}

# ---- includes ------------------------------------------------------------------------------------

# How high each layer of a component is.
sub heights
{
    my ($component) = @_;
    my @heights = map { ref $_ ? $_ : [$_] } @{$LAYERS{$component}};

    return { map { my $i = $_; map { $_ => $i } @{$heights[$i]} } 0 .. $#heights };
}

# What is wrong with the includes of a file in a layer.
sub wrong_includes
{
    my ($component, $layer, $path) = @_;
    my $own = "$component/$layer/" . basename($path);
    my $names = join '|', keys %{ heights($component) };
    my @wrong;

    for my $name (text($path) =~ /^\s*#\s*include\s*["<]((?:\.\/)*\.\.[^">]+)/mg) {
        my ($in, $at, $seen) = ($component, $layer, $name);

        # A folder within a layer may include what that layer may.
        ($in, $at, $seen) = (dirname($in), basename($in), $1)
            while $seen =~ m{^\.\./(\.\./.+)} && $LAYERS{ dirname($in) };
        my $height = heights($in);
        my ($other, $header) = $seen =~ m{^\.\./(\w+)/(\w+\.[ch])$} or do {
            push @wrong, "$own includes $name: name a layer, ../LAYER/LAYER.h";
            next;
        };
        if (!exists $height->{$other}) {
            push @wrong, "$own includes $name, which is no layer";
        } elsif ($height->{$other} >= $height->{$at}) {
            push @wrong, "$own includes $name, which is "
                . ($height->{$other} == $height->{$at} ? 'beside' : 'above')
                . ' it: turn the call round (a table of functions, or an argument), or move the'
                . ' file';
        } elsif ($header ne "$other.h") {
            push @wrong, "$own includes $name: a layer is seen by its header, $other.h";
        }
    }
    for my $name (text($path) =~ m{^#\s*include "((?:\Q$component\E|$names)/[^"]+)"}mg) {
        next if $name =~ m{^\Q$component\E/\w+\.h$}; # what it shows to others, below all
        push @wrong, "$own includes $name: write it as ../LAYER/LAYER.h";
    }
    return @wrong;
}

# ---- calls ---------------------------------------------------------------------------------------

# Which of a layer's files call which others, as their objects have it that have been built: for each
# file the others, and a function of them.
sub calls
{
    my ($folder) = @_;
    my @objects = grep { -e "$top/$folder/" . basename($_, '.o') . '.c' }
        glob "$build/$folder/.libs/*.o" or return;
    my (%file_of, @uses, %calls);

    open my $nm, '-|', 'nm', '-A', '-g', @objects or die "nm: $!\n";
    while (<$nm>) {
        my ($file, $kind, $name) = m{([^/:]+)\.o:[\da-f ]+ ([TU]) (\w+)$} or next;
        if ('T' eq $kind) {
            $file_of{$name} = $file;
        } else {
            push @uses, [$file, $name];
        }
    }
    $calls{ basename($_, '.o') } = {} for @objects;
    $calls{ $_->[0] }{ $file_of{ $_->[1] } } = $_->[1] for grep { $file_of{ $_->[1] } } @uses;
    return %calls;
}

# The calls that are left when files are taken away that call no other, or are called by none: those
# of loops, and between loops.
sub loops
{
    my (%calls) = @_;

    while (my @ends = grep { my $file = $_;
        !%{ $calls{$file} } || !grep { exists $_->{$file} } values %calls } keys %calls) {
        delete @calls{@ends};
        delete @$_{@ends} for values %calls;
    }
    return map { my $file = $_; map { "$file.c calls $_.c: $calls{$file}{$_}" }
        sort keys %{ $calls{$file} } } sort keys %calls;
}

# ---- parts ---------------------------------------------------------------------------------------

# Where a file of a layer writes parts that are another layer's.
sub wrong_writes
{
    my ($component, $layer, $path) = @_;
    my $of = $PARTS{$component} // {};
    my $part = '->(' . join('|', sort keys %$of) . ')\.\w+(?:\[[^]]*\]|\.\w+)*+';
    my $text = text($path);
    my @written = ($text =~ m{(?:\+\+|--)[\w>-]*?$part(?!->)}g,
        $text =~ m{$part\s*(?:\+\+|--|(?:[-+*/|&^]|<<|>>)?=(?!=))}g,
        $text =~ m{\batomic_(?!load)\w+\(\s*&[\w>-]*?$part,}g);

    return map { "$component/$layer/" . basename($path) . " writes $_, which is for $of->{$_}/: call"
        . " a function of that layer" } uniq(grep { $of->{$_} ne $layer } @written);
}

my $files = 0;
for my $component (sort keys %LAYERS) {
    my @layers = keys %{ heights($component) };
    my @folders = map { basename($_) } grep { -d && (() = glob("$_/*.[ch]")) }
        glob "$top/$component/*";

    is_deeply([sort @folders], [sort @layers], "the folders of $component are its layers");
    my $folders = join '|', @layers;
    is(join("\n", grep { text($_) =~ m{#\s*include "(?:\Q$component\E/)?(?:$folders)/} }
        grep { !$LAYERS{ dirname($component) } } glob "$top/$component/*.h"), '',
        "$component: what it shows to others needs no layer");
    for my $layer (sort @layers) {
        my @paths = glob "$top/$component/$layer/*.[ch]";

        $files += @paths;
        is(join("\n", map { wrong_includes($component, $layer, $_) } @paths), '',
            "$component/$layer includes only what is below it");
        is(join("\n", grep { 0 == grep { $layer eq $_ } @{ $LOOPED{$component} // [] } }
            loops(calls("$component/$layer"))), '', "$component/$layer: calls have no loop");
        is(join("\n", map { wrong_writes($component, $layer, $_) } @paths), '',
            "$component/$layer writes only what is its own");
    }
}
cmp_ok($files, '>', 80, "$files files");

# ---- components ----------------------------------------------------------------------------------

# The includes of other components of ours in a file that are not allowed.
sub wrong_components
{
    my ($component, $path) = @_;
    my %allowed = map { $_ => 1 } $component, @{$INCLUDES{$component}};
    my $components = join '|', map { quotemeta } sort keys %INCLUDES;

    return map { substr($path, length("$top/")) . " includes a file of $_" }
        grep { !$allowed{$_} } text($path) =~ m{^\s*#\s*include\s*"($components)/}mg;
}

for my $component (sort keys %INCLUDES) {
    my @sources = split /\n/, `find '$top/$component' -name '*.[ch]'`;

    cmp_ok(scalar(@sources), '>', 0, "$component has sources");
    is(join("\n", map { wrong_components($component, $_) } @sources), '',
        "$component includes of other components only what they share");
}

# ---- the length of functions ---------------------------------------------------------------------

my (@long, $functions);
my @sources = split /\n/, `cd '$top' && find ompi opal examples test bench -name '*.[ch]'`;
for my $path (grep { !m{^test/mpich-suite/} } @sources) {
    my ($start, $name, $line) = (0, '', 0);

    for (split /\n/, text("$top/$path")) {
        ++$line;
        if (/^\{/) {
            $start = $line;
        } elsif (/^\}/ && $start) {
            ++$functions;
            push @long, "$path:$start: $name has " . ($line - $start - 1) . ' lines'
                if $LINES < $line - $start - 1;
            $start = 0;
        } elsif (!$start && /^\w.*?(\w+)\(/) {
            $name = $1;
        }
    }
}
is(join("\n", @long), '', "no function has more than $LINES lines: make parts with names of it");
cmp_ok($functions, '>', 2000, "$functions functions");

# ---- entries -------------------------------------------------------------------------------------

# A collective's functions are defined in the open, not by a macro: else neither grep nor ctags leads
# to them.  A macro without a semicolon before a definition hides that one, too.
sub entries
{
    my ($kinds) = @_;
    my ($all, $neighbors) = map { my ($list) = $kinds =~ /^#define $_\(each\)(.*?[^\\])\n/ms;
        [($list // '') =~ /\beach\((\w+)/g] } qw(EPCOLL_FOR_ALL_KINDS EPCOLL_FOR_ALL_NEIGHBORS);

    is(@$all . ' and ' . @$neighbors, '17 and 5', 'kinds of collectives');
    return map { ($_, "i$_", "${_}_init") } @$all, @$neighbors,
        qw(direct_alltoallv direct_alltoallw);
}

my $epcoll = "$top/ompi/mca/coll/epcoll";
my $calls = join "\n", map { text($_) } glob "$epcoll/calls/*.c";
my @hidden = grep { $calls !~ m{(?:^|[;\}/]\n)\nint mca_coll_epcoll_$_\([^;{}]*\)\n\{}m }
    entries(text("$epcoll/base/coll_epcoll_call.h"));

is(join(' ', @hidden), '', 'definitions of all collectives\' functions are found');

done_testing;
