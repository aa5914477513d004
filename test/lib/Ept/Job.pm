#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs one job for Runner.pm: its output is TAP.  Session.pm runs its command, Command.pm says which
# that is, Kinds.pm and Checkers.pm how it is judged, Verdict.pm what is said of it.

package Ept::Job;

use strict;
use warnings;

use Ept::Build;
use Ept::Checkers;
use Ept::Command qw(missing);
use Ept::Kinds;
use Ept::Mutations;
use Ept::Session qw(end_command_on_signals);
use Ept::Verdict;

my %KINDS = (
    mpi => \&Ept::Kinds::run_tap,
    plain => \&Ept::Kinds::run_tap,
    self => \&Ept::Kinds::run_tap,
    model => \&Ept::Kinds::run_tap,
    perf => \&Ept::Kinds::run_tap,
    unselected => \&Ept::Kinds::run_tap,
    unit => \&Ept::Kinds::run_unit,
    mpich => \&Ept::Kinds::run_tap,
    fatal => \&Ept::Kinds::run_fatal,
    death => \&Ept::Kinds::run_death,
    example => \&Ept::Kinds::run_example,
    tool => \&Ept::Kinds::run_tool,
    python => \&Ept::Kinds::run_python,
    same => \&Ept::Kinds::run_same,
    ratio => \&Ept::Kinds::run_ratio,
    tsan => \&Ept::Checkers::run_tsan,
    fuzz => \&Ept::Checkers::run_fuzz,
    valgrind => \&Ept::Checkers::run_valgrind,
    mutation => \&Ept::Mutations::run,
);

# Status of a job that has failed, and of which nothing is known but that it did not come to its end.
our $UNFINISHED = 75;

sub run
{
    my ($build, $job) = @_;

    local $| = 1;
    for my $want (Ept::Build::mpi_builds($job)) {
        my ($way, $program) = @$want;
        next if -x "$build/$way/$program" || 'tsan' eq $way;
        print "1..1\nnot ok 1 - $program was compiled\n";
        return 1;
    }
    my $missing = missing($job);
    if ('' ne $missing) {
        print "1..0 # SKIP $missing\n";
        return 0;
    }
    end_command_on_signals();
    my $failed = $KINDS{ $job->{kind} }->($build, $job);
    return $failed && '' ne $Ept::Session::unfinished && !$Ept::Verdict::wrong ? $UNFINISHED : $failed;
}

1;
