#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What runs beside the MPI tests: unit tests, models, the runner's own tests, counts of instructions,
# fuzzing, what is installed, MPICH's tests, libraries'.  A job is what Matrix.pm says.

package Ept::Jobs;

use strict;
use warnings;

use Ept::Build;
use Ept::LibraryTable;
use Ept::MpichTests;
use Ept::Mutations;

# MPICH's own tests, folder by folder; what is in them is their runner's business.
sub mpich_jobs
{
    my ($top, $options) = @_;

    # Collectives take two minutes, and are well covered by programs of ours.
    my @folders = map { [$_, ''] }
        grep { 'ft' ne $_ && ('coll' ne $_ || $options->{long}) } @Ept::MpichTests::FOLDERS;
    push @folders, map { [$_, '--longer'] } @Ept::MpichTests::FOLDERS if $options->{long};
    return map { {
        name => "mpich/$_->[0]" . ($_->[1] ? ':long' : ''),
        kind => 'mpich',
        runner => "$top/test/mpich-suite/run-suite",
        program => $_->[0],
        args => "--jobs 1 $_->[1]",
        timeout => 1800,
    } } @folders;
}

# The tests of libraries over MPI-IO, likewise, with --long.  Their packages are Open MPI 5's.
sub library_jobs
{
    my ($top, $options) = @_;

    return () if !$options->{long} || '6' eq ($ENV{EP_OMPI} // '');
    my @libraries = map { ([$_, ''], [$_, '--longer']) } @Ept::LibraryTable::NAMES;
    return map { {
        name => "library/$_->[0]" . ($_->[1] ? ':long' : ''),
        kind => 'mpich',
        runner => "$top/test/library-suite/run-suite",
        program => $_->[0],
        args => $_->[1],
        timeout => 3600,
    } } @libraries;
}

# What is counted, not timed, and so holds on any machine that has the same programs.
sub perf_jobs
{
    my ($top) = @_;

    # The counts kept are of Open MPI 5 and Debian 13's compiler.
    return () if '6' eq ($ENV{EP_OMPI} // '');
    return ({
        name => 'perf/instructions',
        kind => 'perf',
        top => $top,
        program => 'count-instructions',
        args => '',
        timeout => 60,
    });
}

# Random messages off the network: how many inputs are changed at random, how many are guided by
# coverage (--long), and from which seed on; --test-args wins.
sub fuzz_jobs
{
    my ($top, $options) = @_;
    my @targets = ([epml => 30_000, 60_000], [epml => 8_000, 30_000, 'node'],
                   [epofi => 500_000, 500_000], [epwin => 20_000, 100_000]);

    return map { my ($target, $replayed, $guided, $link) = @$_; map { my $is_guided = $_; {
        name => join('/', 'fuzz', $target, $link // ()) . ($is_guided ? ':guided' : ''),
        kind => 'fuzz',
        top => $top,
        program => "fuzz_$target",
        link => $link // 'net',
        guided => $is_guided,
        runs => $is_guided ? $guided : $replayed,
        seed => 1,
        args => '',
        timeout => 300,
    } } 0, $options->{long} ? 1 : () } @targets;
}

# The models of the protocols between threads, test/model.
my @MODELS = qw(completion coop_copy handle lock pipe places pool ring spsc zcopy);

# What is installed, and how it is used: test/install/NAME.t.
sub install_jobs
{
    my ($top, $options) = @_;
    my %long = (clang => 2400, debian => 1200, html => 300, no_fortran => 600, tree => 7200); # seconds
    my @jobs;

    for my $source (sort glob "$top/test/install/*.t") {
        my ($program) = $source =~ m{([^/]+)\.t$};

        next if $long{$program} && !$options->{long};
        push @jobs, {
            name => "install/$program",
            kind => 'self',
            folder => 'install',
            top => $top,
            program => $program,
            args => '',
            timeout => $long{$program} // 600,
        };
    }
    return @jobs;
}

# Jobs of schedulers, and other launchers, on three nodes: test/schedulers/NAME.t.
sub scheduler_jobs
{
    my ($top, $options) = @_;

    return () if !$options->{long};
    return map { {
        name => "schedulers/" . s{.*/(.*)\.t$}{$1}r,
        kind => 'self',
        folder => 'schedulers',
        top => $top,
        program => s{.*/(.*)\.t$}{$1}r,
        args => '',
        alone => 1, # each has the cluster's three nodes
        timeout => 600,
    } } sort glob "$top/test/schedulers/*.t";
}

# How a unit test is compiled by default: with ThreadSanitizer if it has threads, otherwise with
# AddressSanitizer and UBSan.  With --long, or by its name, in each way, and for another machine.
sub _flavours
{
    my ($top, $program, $options) = @_;

    return qw(plain tsan asan aarch64) if $options->{long};
    return ('plain') if $options->{smoke} || Ept::Build::needs_tree($top, $program);
    my @files = ("$top/test/unit/$program.c", glob "$top/test/unit/" . $program =~ s/^(test_[^_]*_[^_]*).*/$1/r . '.h');
    my $text = join '', map { Ept::Build::read_file($_) } @files;
    return $text =~ /\bpthread_create\b/ ? 'tsan' : 'asan';
}

# Standalone unit tests: every test/unit/test_*.c; the models; test/self/*.t.
sub unit_jobs
{
    my ($top, $options) = @_;
    my @jobs;

    for my $source (sort glob "$top/test/unit/test_*.c") {
        my ($program) = $source =~ m{([^/]+)\.c$};
        for my $flavour (_flavours($top, $program, $options)) {
            push @jobs, {
                name => "unit/$program/$flavour",
                kind => 'unit',
                program => $program,
                flavour => $flavour,
                args => '',
                timeout => 300,
            };
        }
    }
    push @jobs, map { {
        name => "model/$_",
        kind => 'model',
        top => $top,
        program => $_,
        args => '',
        timeout => 600,
    } } @MODELS;
    # The tests of the runner itself; two take a minute of CPU time.
    for my $source (sort glob "$top/test/self/*.t") {
        my ($program) = $source =~ m{([^/]+)\.t$};

        next if $program =~ /^(?:flags|lines)$/ && !$options->{long};
        push @jobs, {
            name => "self/$program",
            kind => 'self',
            folder => 'self',
            top => $top,
            program => $program,
            args => '',
            timeout => 600,
        };
    }
    return @jobs;
}

# Changes of the sources that tests must notice: one at a time, as they share a copy of the project.
sub mutation_jobs
{
    my ($top, $options) = @_;

    return () if !$options->{long};
    return map { {
        name => "mutations/$_->{name}",
        kind => 'mutation',
        top => $top,
        program => $_->{name},
        mutation => $_,
        args => '',
        alone => 1,
        timeout => 600,
    } } Ept::Mutations::all($top);
}

# All of them; of --quick, unit tests and counts.
sub all
{
    my ($top, $options) = @_;
    my @jobs = (unit_jobs($top, $options), perf_jobs($top));

    return @jobs if $options->{quick};
    return (install_jobs($top, $options), scheduler_jobs($top, $options), mpich_jobs($top, $options), library_jobs($top, $options),
            fuzz_jobs($top, $options), mutation_jobs($top, $options), @jobs);
}

1;
