#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# The kinds of jobs: how each is run and judged.  Those under a checker are in Checkers.pm.

package Ept::Kinds;

use strict;
use warnings;

use Time::HiRes qw(time);

use Ept::Build;
use Ept::Command qw(launch program command_of);
use Ept::Session qw(run_command);
use Ept::Verdict qw(noise explain status_words tap judge_noise);

# The program speaks TAP.
sub run_tap
{
    my ($build, $job) = @_;

    my $failed = 0;
    my $result = run_command([command_of($build, $job)], $job->{timeout}, sub {
        my ($line) = @_;
        $failed++ if $line =~ /^not ok/ && $line !~ /# TODO/;
        print $line;
    });
    my @reasons;

    $Ept::Verdict::wrong = $failed;
    push @reasons, status_words($result) if 0 != $result->{status};
    push @reasons, judge_noise($job, $result) if !@reasons && !$failed;
    explain($build, $job, $result, @reasons) if $failed || @reasons;
    return @reasons || $failed ? 1 : 0;
}

# One run in which errors are fatal: it must fail and say where and why.  Returns its checks.
sub _fatal_checks
{
    my ($job, $result, @left) = @_;
    my $text = $result->{out} . $result->{err};
    my $times = defined $job->{once} ? () = $text =~ /$job->{once}/g : 0;

    return ([!$result->{timed_out}, 'ends'],
            [defined $job->{status} ? $job->{status} == $result->{status} >> 8
                                    : 0 != $result->{status},
             'with status ' . ($job->{status} // 'not 0')],
            [scalar($text =~ /$job->{says}/s), "says $job->{says}"],
            [$text !~ /still here/, 'does not go on'],
            defined $job->{once} ? [1 == $times, "says once ($times): $job->{once}"] : (),
            defined $job->{leaves} ? [!@left, "leaves nothing: @left"] : ());
}

sub run_fatal
{
    my ($build, $job) = @_;
    my $folder = defined $job->{leaves} ? "/dev/shm/ept.$$" : undef;
    my (@checks, $result);

    $job->{mca} = "btl_epshm_directory $folder" if $folder;
    for my $run (1 .. $job->{runs} // 1) {
        if ($folder) {
            mkdir $folder or die "$folder: $!\n";
        }
        $result = run_command([command_of($build, $job)], $job->{timeout});
        my @left = $folder ? glob "$folder/*" : ();
        unlink @left;
        rmdir $folder if $folder;
        push @checks, _fatal_checks($job, $result, @left);
        last if grep { !$_->[0] } @checks;
    }
    my $failed = tap(\@checks);

    explain($build, $job, { %$result, err => $result->{out} . $result->{err} },
             'a fatal error did not look like one') if $failed;
    return $failed ? 1 : 0;
}

# What the shm provider of libfabric has left in shared memory of processes of the job, which have
# printed their numbers.  Other jobs on this machine have files of their own; and those of Open MPI's
# btl/sm stay behind when a process of a stock program is killed, too.
sub _files_left
{
    my ($out) = @_;

    return map { s{.*/}{}r } map { glob "/dev/shm/$_:*" } $out =~ /^process \d+: pid (\d+)$/mg;
}

# A process of the job dies (test/mpi/faults/death.c).  What its survivors print is checked here:
# "rank R: CLASS after MS ms", what comes later, and that those that have nothing to do with the dead
# go on.
sub _check_survivors
{
    my ($job, $out) = @_;
    my $survivors = ($job->{np} - 1) * $job->{ep};
    my %class = $out =~ /^rank (\d+): (\w+(?: \w+)?) after \d+ ms$/mg;
    my $bystanders = () = $out =~ /^rank \d+: bystander /mg;
    my $right = () = $out =~ /^rank \d+: bystander MPI_SUCCESS, 0 wrong$/mg;
    my $later = () = $out =~ /^rank \d+: later send (?:\w+, (?:large|recv|any|probe) )*\w+, /mg;
    my $failed = () = $out =~ /^rank \d+: later (?:\w+ MPI_ERR_PROC_FAILED, ){5}/mg;
    my $made = () = $out =~ /^rank \d+: creations (?:\w+ MPI_ERR_PROC_FAILED,? ?){3}$/mg;
    my $on = () = $out =~ /^rank \d+: survivors MPI_SUCCESS, sum right$/mg;

    return ([$survivors == $bystanders + keys %class, 'every survivor tells how it went'],
            [!(grep { !/^(?:$job->{class})$/ } values %class), $job->{class}],
            !($job->{later} // 1) ? () : (
            [$later == keys(%class) && $failed == $later, 'what comes later fails as well'],
            [$right == $bystanders, 'bystanders see nothing of it'],
            [$made == $survivors, 'no other one can be made'],
            [$on == $survivors, 'a communicator of survivors works']));
}

sub run_death
{
    my ($build, $job) = @_;
    my $start = time;
    my $result = run_command([command_of($build, $job)], $job->{timeout});
    my $seconds = time - $start;
    my $text = $result->{out} . $result->{err};
    my @left = _files_left($result->{out});
    my $said = () = $text =~ /$job->{says}/g;
    my $failed = tap([
        [!$result->{timed_out}, sprintf 'ends, after %.1f s', $seconds],
        [defined $job->{status} ? scalar(($result->{status} >> 8) =~ /^(?:$job->{status})$/)
                                : 0 != $result->{status},
         'with status ' . ($job->{status} // 'not 0') . ': ' . ($result->{status} >> 8)],
        [1 == $said, "says once: $job->{says} ($said)"],
        [$text !~ /$job->{never}/, "does not say $job->{never}"],
        [!$result->{left_behind}, 'no process is left'],
        [$job->{np} == (() = $result->{out} =~ /^process \d+: pid \d+$/mg) && !@left,
         "no file is left in /dev/shm @left"],
        ($job->{survivors} ? _check_survivors($job, $result->{out}) : ()),
    ]);

    explain($build, $job, { %$result, err => $text }, 'a death was not taken as it should')
        if $failed;
    return $failed ? 1 : 0;
}

# Examples check themselves and say so by their status; nothing but their result is printed.
sub run_example
{
    my ($build, $job) = @_;
    my $result = run_command([command_of($build, $job)], $job->{timeout});
    my @noise = noise($result);
    my $failed = tap([
        [0 == $result->{status}, status_words($result)],
        ['' ne $result->{out}, 'prints its result'],
        [!@noise, 'and nothing else'],
    ]);

    explain($build, $job, { %$result, err => $result->{out} . $result->{err} },
             'an example does not work as it should') if $failed;
    return $failed ? 1 : 0;
}

# A program that is installed, and what it prints.
sub run_tool
{
    my ($build, $job) = @_;
    my $result = run_command([command_of($build, $job)], $job->{timeout});
    my $text = $result->{out} . $result->{err};
    my $failed = tap([
        [($job->{status} // 0) == $result->{status} >> 8 && !$result->{timed_out},
         status_words($result)],
        [scalar($text =~ /$job->{says}/s), 'prints what it should'],
    ]);

    explain($build, $job, { %$result, err => $text }, "it did not print /$job->{says}/")
        if $failed;
    return $failed ? 1 : 0;
}

# An example, or what a program prints, where there is a Python with mpi4py.
sub run_python
{
    my ($build, $job) = @_;

    if (0 != system(q(python3 -c 'import mpi4py, sys; sys.exit(mpi4py.__version__ < "4")')
                    . ' 2>/dev/null')) {
        print "1..0 # SKIP no Python with mpi4py 4 (Debian: python3-mpi4py)\n";
        return 0;
    }
    return defined $job->{says} ? run_tool($build, $job) : run_example($build, $job);
}

# What a program prints, line by line: lines of ranks come in any order.
sub _sorted
{
    return join '', sort split /^/m, $_[0]{out};
}

# A program that knows nothing of endpoints prints the same with its ranks as processes and as threads.
sub run_same
{
    my ($build, $job) = @_;
    my %processes = (%$job, ranks => 0, np => $job->{np} * $job->{ep}, provider => undef);
    my $expected = run_command([command_of($build, \%processes)], $job->{timeout});
    my $result = run_command([command_of($build, $job)], $job->{timeout});
    my @noise = noise($result);
    my $failed = tap([
        [0 == $expected->{status}, 'with processes: ' . status_words($expected)],
        [0 == $result->{status}, 'with ranks as threads: ' . status_words($result)],
        ['' ne $expected->{out}, 'prints its result'],
        [_sorted($expected) eq _sorted($result), 'and the same both ways'],
        [!@noise, 'and nothing else'],
    ]);

    explain($build, $job, { %$result, err => join "\n", "with processes:", $expected->{out},
                            'with ranks as threads:', @$result{qw(out err)} },
            'ranks as threads differ from processes') if $failed;
    return $failed ? 1 : 0;
}

# 16 endpoints in one process against 16 processes under ob1, on the same cores, in turns.
sub run_ratio
{
    my ($build, $job) = @_;
    my $ranks = $job->{np} * $job->{ep};
    my @ways = ([launch('epmpirun', $job), program($build, 'ep', $job)],
                [launch('mpirun', $job, $ranks), '--mca', 'mpi_yield_when_idle', '1',
                 program($build, 'plain', $job, 0)]);
    my (@best, $last, @checks);

    for my $round (1 .. 3) {
        for my $way (0, 1) {
            $last = run_command($ways[$way], $job->{timeout});
            for my $what (qw(alltoall barrier)) {
                my ($seconds) = $last->{out} =~ /^# seconds $what ([\d.]+)$/m;
                next if !defined $seconds;
                my $so_far = $best[$way]{$what};
                $best[$way]{$what} = $seconds if !defined $so_far || $seconds < $so_far;
            }
        }
    }
    my ($endpoints, $processes) = map { $_->{alltoall} } @best;
    if (defined $endpoints && defined $processes && 0 < $processes) {
        push @checks, [$endpoints <= 3 * $processes,
                       sprintf('alltoall of %d endpoints: %.4f s, of %d processes under ob1: '
                               . '%.4f s, ratio %.2f (at most 3)', $ranks, $endpoints, $ranks,
                               $processes, $endpoints / $processes)];
    } else {
        push @checks, [0, 'both ways print their times'];
    }
    my $failed = tap(\@checks);
    explain($build, $job, $last, $checks[0][1]) if $failed;
    return $failed ? 1 : 0;
}

sub run_unit
{
    my ($build, $job) = @_;
    my $program = (command_of($build, $job))[-1];

    if (!-x $program) {
        my $reason
            = $job->{tree} ? (-d $job->{tree} ? undef : 'no build tree (see --tree)')
            : Ept::Build::flavour_works($build, $job->{flavour}) ? undef
            : Ept::Build::flavour_lacks($job->{flavour});

        if (defined $reason) {
            print "1..0 # SKIP $reason\n";
            return 0;
        }
        print "1..1\nnot ok 1 - $job->{program} was built: its messages are above all tests\n";
        return 1;
    }
    return run_tap($build, $job);
}

1;
