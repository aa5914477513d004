#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# What is said of a result: TAP, and what a job printed to stderr, only if it failed, followed by
# the command to run it again.

package Ept::Verdict;

use strict;
use warnings;

use Exporter 'import';

use Ept::Command qw(command_line);

our @EXPORT_OK = qw(noise explain status_words tap judge_noise);

# Has a check of the program's own failed, or has a checker found something?  That is no matter of load.
our $wrong = 0;

# What a run printed to stderr that is not a comment of the harness.
sub noise
{
    my ($result) = @_;

    # The launcher warns when the agent it has started has started its own program already.
    return grep { !/^\s*$/ && !/^# / && !/plm:ssh: Warning: setpgid/ } split /\n/, $result->{err};
}

sub explain
{
    my ($build, $job, $result, @reasons) = @_;
    my @lines = split /\n/, $result->{err};

    splice @lines, 0, @lines - 60, '[...]' if 60 < @lines;
    if (!$ENV{EPT_VERBOSE}) {
        print STDERR map { /^#/ ? "$_\n" : "# $_\n" } @lines;
    }
    print STDERR map { "# $_\n" } split /\n/, $result->{stacks} // '';
    print STDERR "# $job->{name}: $_\n" for @reasons;
    print STDERR "# run it alone: $ENV{EPT_RUN_TESTS} -v $job->{name}\n";
    print STDERR "# its command:  ", command_line($build, $job), "\n";
}

sub status_words
{
    my ($result) = @_;

    return $result->{timed_out} if $result->{timed_out};
    return sprintf 'ended by signal %d', $result->{status} & 127 if $result->{status} & 127;
    return sprintf 'exit status %d', $result->{status} >> 8;
}

# Numbered TAP lines of the runner's own.
sub tap
{
    my ($checks) = @_;
    my ($n, $failed) = (0, 0);

    printf "1..%d\n", scalar @$checks;
    for my $check (@$checks) {
        die "a check without a value\n" if 2 != @$check; # as of a match in list context
        my ($ok, $words) = @$check;
        printf "%sok %d - %s\n", $ok ? '' : 'not ', ++$n, $words;
        $failed++ if !$ok;
    }
    return $failed;
}

# What may have been printed to stderr was, and nothing else, if endpoints were on.
sub judge_noise
{
    my ($job, $result) = @_;
    my @noise = noise($result);

    return () if 'mpi' ne $job->{kind};
    if (defined $job->{says}) {
        return "@noise" =~ /$job->{says}/ ? () : "it did not print anything like /$job->{says}/";
    }
    return @noise ? "it printed what it should not: $noise[0]" : ();
}

1;
