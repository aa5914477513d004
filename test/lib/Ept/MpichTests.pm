#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What MPICH's lists of tests say, and what becomes of it: which programs are compiled from what,
# and the jobs that run them.
#
# A test is a line of a testlist: a program, a number of processes, arguments.  It becomes the jobs
#   FOLDER/PROGRAM/N/ob1, FOLDER/PROGRAM/N/epml   N processes, ordinary communicators
#   FOLDER/PROGRAM/PrE                            P processes with E ranks as threads each, over tcp
#   FOLDER/PROGRAM/PrE/node                       the same through the node's memory
#   FOLDER/PROGRAM/A+B+C                          processes of A, B and C ranks, over tcp or with /node
# PROGRAM is followed by :2, :3, ... where a list has it again with other arguments.

package Ept::MpichTests;

use strict;
use warnings;

use Ept::Build;
use Ept::MpichTable;

our @FOLDERS = qw(attr comm group topo errhan info pt2pt part datatype init coll io errors/io
    romio rma errors/rma threads/rma ft);
our @CONFIGS = qw(ob1 epml 1rN PrN);

# Folders that run with ranks of one process, and otherwise only with --longer: where.
our %LONGER = (coll => [qw(2r2 1r7 3r3)], map { $_ => [qw(2r2 2r2/node 1r16)] } qw(rma errors/rma threads/rma));

my $TIMEOUT = 300;         # seconds, unless the list wants more
my $LONGEST = 600;         # more than this it does not get
my $MOST_RANKS = 8;    # that make sense on a machine with few cores

# ---- MPICH's lists -----------------------------------------------------------------------------

# Where a folder is: ROMIO is another part of MPICH's source.
sub folder_path
{
    my ($tests, $folder) = @_;

    return 'romio' eq $folder ? $tests =~ s{/test/mpi$}{/src/mpi/romio/test}r : "$tests/$folder";
}

sub _romio_lines
{
    return map {
        my ($program, $np, @args) = @$_;
        { folder => 'romio', program => $program, np => $np, args => \@args, timeout => $TIMEOUT };
    } @Ept::MpichTable::ROMIO;
}

# Lines of a folder's testlist: { program, np, args, timeout, result, left_out }.
sub _lines
{
    my ($tests, $folder) = @_;
    return _romio_lines() if 'romio' eq $folder;
    my ($list) = grep { -f } "$tests/$folder/testlist.in", "$tests/$folder/testlist";
    my (@lines, %seen);

    die "$tests/$folder: no testlist\n" if !defined $list;
    for my $text (split /\n/, Ept::Build::read_file($list)) {
        $text =~ s/#.*//;
        my ($program, $np, @pairs) = split ' ', $text;
        next if !defined $program;
        my %line = (folder => $folder, np => $np // 2, args => [], timeout => $TIMEOUT);
        $line{left_out} = 'a large test, by MPICH\'s own measure' if $program =~ s/^\@largetest\@//;
        $line{program} = $program;
        for my $pair (@pairs) {
            my ($key, $value) = $pair =~ /^(\w+)=(.*)$/ or next;
            push @{ $line{args} }, $value if 'arg' eq $key;
            $line{result} = $value if 'resultTest' eq $key;
            $line{left_out} //= "takes $value GB of memory" if 'mem' eq $key;
            $line{left_out} //= 'tests what only MPICH has' if "$key=$value" =~ /^mpix=true$/i;
            # MPICH 4.0.2 says so of persistent collectives as well, which MPI-4 has.
            $line{left_out} //= 'not in the MPI standard'
                if "$key=$value" =~ /^strict=false$/i && "$folder/$program" !~ m{^(?:coll/p_|ft/)};
            $line{timeout} = $value if 'timeLimit' eq $key && $value > $TIMEOUT;
        }
        $line{timeout} = $LONGEST if $line{timeout} > $LONGEST;
        # Environments are for MPICH's own parameters, so such a line repeats one without.
        push @lines, \%line if !$seen{"$program $np @{ $line{args} }"}++;
    }
    return @lines;
}

# How the automake file of the folder makes a program: its sources and definitions.
sub recipe
{
    my ($tests, $folder, $program) = @_;
    my $path = folder_path($tests, $folder);
    my $rules = Ept::Build::read_file("$path/Makefile.am") =~ s/\\\n//gr;
    my ($sources) = $rules =~ /^\Q$program\E_SOURCES\s*=\s*(.*)$/m;
    my ($flags) = $rules =~ /^\Q$program\E_CPPFLAGS\s*=\s*(.*)$/m;

    return ([map { "$path/$_" } grep { /\.c$/ } split ' ', $sources // "$program.c"],
            [grep { /^-D/ } split ' ', $flags // '']);
}

# ---- jobs --------------------------------------------------------------------------------------

sub _ordinary
{
    my ($line, $name, $longer) = @_;

    return map { {
        %$line, name => "$name/$line->{np}/$_", config => $_,
        base => 'epml' eq $_ ? "$name/$line->{np}/ob1" : undef,
        left_out => $line->{left_out} // $line->{no_processes},
    } } 'ob1', !$LONGER{ $line->{folder} } || $longer ? 'epml' : ();
}

# A rank dies with its process: each is in one of its own; then only the one that dies, so those before
# it are together, and those behind it.
sub _faulty_layouts
{
    my ($np, $dies) = @_;
    my $together = join '+', grep { 0 < $_ } $dies, 1, $np - $dies - 1;

    return ("${np}r1/node", "$together/node", $together);
}

# How many processes of how many ranks: all in one process, and half of them, or each, in its own.
sub _layouts
{
    my ($line, $entry, $longer) = @_;
    my $ranks = $entry->{ranks};

    return _faulty_layouts($line->{np}, $entry->{dies}) if defined $entry->{dies};
    if (my $others = $LONGER{ $line->{folder} }) {
        my ($first, @rest) = _layouts({ %$line, folder => '' }, $entry);
        my $quick = $Ept::MpichTable::QUICK{ $line->{folder} };
        my $now = !$quick || grep { $line->{program} eq $_ } @$quick;
        push @rest, map { "$_/node" } @rest if grep { m{/node$} } @$others;
        @rest = @$others if !%$entry;
        return $longer ? ($now ? () : $first, @rest) : $now ? $first : ();
    }
    return () if $longer;
    return @{ $entry->{layouts} } if $entry->{layouts};
    $ranks //= 4 >= $line->{np} ? 4 : $line->{np} - $line->{np} % 2;
    $ranks = $MOST_RANKS if $ranks > $MOST_RANKS;
    return 1 == $ranks ? ('1r1')
        : ("1r$ranks", 4 > $ranks || $ranks % 2 ? "${ranks}r1" : '2r' . $ranks / 2);
}

sub _as_threads
{
    my ($line, $name, $longer) = @_;
    my $entry = $Ept::MpichTable::ENDPOINTS{ $name } //
        $Ept::MpichTable::ENDPOINTS{ "$line->{folder}/$line->{program}" } // {};
    my @jobs;

    for my $layout (_layouts($line, $entry, $longer)) {
        my ($np, $ep, $more, $node) = $layout =~ m{^(\d+)(?:r(\d+)|((?:\+\d+)+))(/node)?$}
            or die "$name: layout $layout\n";
        my @parts = $more ? split /\+/, "$np$more" : ();
        ($np, $ep) = (scalar @parts, $parts[0]) if @parts;
        next if 1 < $np && !$node && $Ept::MpichTable::SHARED{"$line->{folder}/$line->{program}"};
        push @jobs, {
            %$line, name => "$name/$layout", config => 1 == $np ? '1rN' : 'PrN',
            np => $np, ep => $ep, parts => \@parts, node => $node, base => "$name/$line->{np}/ob1",
            left_out => $line->{left_out} // $entry->{skip},
        };
    }
    return @jobs;
}

# All jobs of the folders, in the order in which they are reported.  Longer: the others of %LONGER.
sub jobs
{
    my ($tests, $longer, @folders) = @_;
    my (@jobs, %seen);

    for my $folder (grep { !$longer || $LONGER{$_} } @folders) {
        my (%variants, %count);
        for my $line (_lines($tests, $folder)) {
            my $which = "$line->{program} @{ $line->{args} }";
            my $number = $variants{$which} //= ++$count{ $line->{program} };
            my $name = "$folder/$line->{program}" . (1 < $number ? ":$number" : '');
            $line->{left_out} //= $Ept::MpichTable::NOWHERE{ "$folder/$line->{program}" };
            $line->{no_processes} = $Ept::MpichTable::ENDPOINTS_ONLY{ "$folder/$line->{program}" };
            push @jobs, _ordinary($line, $name, $longer), _as_threads($line, $name, $longer);
        }
    }
    return grep { !$seen{ $_->{name} }++ } @jobs;
}

1;
