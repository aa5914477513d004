#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs the jobs, one more at a time than there are cores, as launchers mostly sleep, and judges their
# TAP with the modules that prove is made of.  A job that was ended by its time-out, or that the
# launcher could not start, runs once more, alone, after all others: it is unsteady, and named as
# such.  Every other failure is final.

package Ept::Runner;

use strict;
use warnings;

use POSIX qw(:sys_wait_h);
use TAP::Formatter::Console;
use TAP::Parser;
use TAP::Parser::Aggregator;
use Time::HiRes qw(time);

use Ept::Build;
use Ept::Job;
use Ept::Times;

# More unsteady jobs than that fail the run.
our $MOST_UNSTEADY = 3;

my %running;        # by process id

sub _load
{
    return (split ' ', Ept::Build::read_file('/proc/loadavg'))[0] // '?';
}

sub _start
{
    my ($build, $job) = @_;
    my %run = (job => $job, start => time, load => _load());

    my $pid = fork // die "fork: $!\n";
    if (0 == $pid) {
        $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', Ept::Build::job_file($build, $job, 'out') or die "$job->{name}: $!\n";
        open STDERR, '>', Ept::Build::job_file($build, $job, 'err') or die "$job->{name}: $!\n";
        my $status = eval { Ept::Job::run($build, $job) };
        print STDERR "# $@" if !defined $status;
        STDOUT->flush;
        POSIX::_exit($status // 2);
    }
    $running{$pid} = \%run;
}

# What has been used by the children that have been waited for, and by their descendants.
sub _cpu_of_children
{
    my (undef, undef, $user, $system) = times;

    return $user + $system;
}

# Wait for one.  Returns its run: job, seconds, cpu, load at its start and at its end, parser, errors,
# unfinished.
sub _wait_for_one
{
    my ($build) = @_;
    my $before = _cpu_of_children();
    my $pid = wait;
    my $run = delete $running{$pid} // die "a process that is no job's has ended\n";
    my ($status, $job) = ($?, $run->{job});
    my $out = Ept::Build::read_file(Ept::Build::job_file($build, $job, 'out'));

    $run->{seconds} = time - $run->{start};
    $run->{cpu} = _cpu_of_children() - $before;
    $run->{load} .= ' to ' . _load();
    $run->{errors} = Ept::Build::read_file(Ept::Build::job_file($build, $job, 'err'));
    # An empty text is no TAP to the parser.
    $run->{parser} = TAP::Parser->new({ tap => '' eq $out ? "\n" : $out });
    $run->{parser}->run;
    $run->{parser}->wait($status);
    $run->{parser}->exit(WIFEXITED($status) ? WEXITSTATUS($status) : $status);
    $run->{unfinished} = WIFEXITED($status) && $Ept::Job::UNFINISHED == WEXITSTATUS($status);
    $run->{ok} = !$run->{parser}->has_problems;
    $run->{text} = $out;
    return $run;
}

sub _show
{
    my ($run, $verbose) = @_;
    my ($parser, $name) = ($run->{parser}, $run->{job}{name});
    my $words = defined $parser->skip_all ? 'skipped: ' . $parser->skip_all
        : $run->{ok} ? 'ok' : $run->{unfinished} ? 'NOT ENDED, will run again' : 'FAILED';

    print $run->{text} if $verbose;
    printf "%s %s %s\n", $name, '.' x (3 + (50 > length $name ? 50 - length $name : 0)), $words
        . ($verbose ? sprintf('  (%.1f s, %.1f s of CPU)', @$run{qw(seconds cpu)}) : '');
    print STDERR $run->{errors};
}

# End all that runs, on a signal to end.
sub _end_all_on_signals
{
    for my $signal (qw(INT TERM HUP)) {
        $SIG{$signal} = sub {
            kill 'TERM', keys %running;
            1 while 0 < wait;
            print STDERR "run-tests: interrupted\n";
            POSIX::_exit(130);
        };
    }
}

# Run jobs, so many at a time.  Those that must have the machine alone come last.
sub _run_all
{
    my ($build, $at_a_time, $verbose, @jobs) = @_;
    my @alone = grep { $_->{alone} } @jobs;
    my @waiting = grep { !$_->{alone} } @jobs;
    my @runs;

    while (@waiting || %running) {
        _start($build, shift @waiting) while @waiting && $at_a_time > keys %running;
        push @runs, _wait_for_one($build);
        _show($runs[-1], $verbose);
    }
    for my $job (@alone) {
        _start($build, $job);
        push @runs, _wait_for_one($build);
        _show($runs[-1], $verbose);
    }
    return @runs;
}

# The job's second run takes the place of the first.  Returns what is to be said of both.
sub _run_again
{
    my ($build, $verbose, $first) = @_;

    _start($build, $first->{job});
    my $second = _wait_for_one($build);
    _show($second, $verbose);
    my ($why) = $first->{errors} =~ /^# \Q$first->{job}{name}\E: (.*)$/m;
    my @words = ("$first->{job}{name}: " . ($why // 'did not come to its end'));
    for my $run ($first, $second) {
        push @words, sprintf '    %s run: %s, %.1f s, %.1f s of CPU, load %s',
            $run == $first ? 'first' : 'second', $run->{ok} ? 'ok' : 'failed',
            @$run{qw(seconds cpu load)};
    }
    return ($second, @words);
}

# Options: jobs (at a time), verbose, temp (the folder where times are kept).  Returns { jobs, failed, seconds }.
sub run
{
    my ($build, $jobs, $options) = @_;
    my $aggregate = TAP::Parser::Aggregator->new;
    my (@unsteady, @failed);

    local $| = 1;
    _end_all_on_signals();
    $aggregate->start;
    my @runs = _run_all($build, $options->{jobs} // 1 + Ept::Build::cores(), $options->{verbose}, @$jobs);
    for my $run (@runs) {
        my $first = $run;

        if ($run->{unfinished}) {
            ($run, my @words) = _run_again($build, $options->{verbose}, $first);
            push @unsteady, join "\n", @words;
        }
        $aggregate->add($run->{job}{name}, $run->{parser});
        push @failed, $run if !$run->{ok};
    }
    $aggregate->stop;
    Ept::Times::keep($options->{temp}, \@runs, \@unsteady);
    print Ept::Times::table(@runs) if $options->{times};
    if (@unsteady) {
        printf "\nUnsteady (their first runs did not come to their ends; to be mended):\n%s\n",
            join "\n", map { "  $_" } @unsteady;
    }
    if ($MOST_UNSTEADY < @unsteady) {
        my $parser = TAP::Parser->new({ tap => "1..1\nnot ok 1 - at most $MOST_UNSTEADY are unsteady\n" });

        $parser->run;
        $aggregate->add('unsteady jobs', $parser);
    }
    # Once more: of a long run often only the end is kept.
    print "\n$_->{job}{name} failed:\n$_->{errors}" for @failed;
    my $formatter = TAP::Formatter::Console->new({ verbosity => $options->{verbose} ? 1 : 0 });
    $formatter->prepare($aggregate->descriptions);      # how long the names are
    $formatter->summary($aggregate);
    return { jobs => scalar @runs, failed => scalar(grep { $_->has_problems } $aggregate->parsers),
             seconds => $aggregate->elapsed->real };
}

1;
