#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# runner.t BUILD-FOLDER: what the runner makes of jobs that pass, fail, or do not come to their ends.
#
# Guards: test/lib/Ept/Runner.pm, test/lib/Ept/Times.pm, test/lib/Ept/Job.pm, test/lib/Ept/Session.pm

use strict;
use warnings;

use File::Path qw(make_path remove_tree);
use Test::More;

use Ept::Runner;

my $build = (shift // die "usage: runner.t BUILD-FOLDER\n") . '/runner-test';
$ENV{EPT_RUN_TESTS} //= 'run-tests';
delete $ENV{EPT_VERBOSE};

# Programs for jobs.  Those that "compute" are ended by their time-out; each says that it has begun.
my %PROGRAMS = (
    right => 'echo "ok 1"; echo 1..1',
    wrong => 'echo "not ok 1"; echo 1..1; exit 1',
    wrong_late => 'echo "not ok 1"; compute',
    crash => 'echo "ok 1"; kill -SEGV $$',
    once => 'test -e "$mark" && { echo "ok 1"; echo 1..1; exit; }; touch "$mark"; compute',
    always => 'compute',
    noise => 'echo "ok 1"; echo 1..1; exit 3',
);

sub job
{
    my ($program, $name) = @_;

    return { name => "unit/$name", kind => 'unit', program => $name, flavour => 'plain', args => '',
             timeout => 1, source => $program };
}

# Run jobs, PROGRAM or PROGRAM.N, in a process of its own.  Returns its status, what it printed, and
# what it has kept of unsteady jobs.
sub outcome
{
    my @jobs = map { job(s/\..*//r, $_) } @_;

    remove_tree($build);
    make_path("$build/unit", "$build/logs");
    for my $job (@jobs) {
        open my $out, '>', "$build/unit/$job->{program}-plain" or die "$build: $!\n";
        print $out "#!/bin/sh\nmark=$build/$job->{program}.mark\necho begun >>$build/$job->{program}.runs\n",
            "compute() { while :; do :; done; }\n$PROGRAMS{ $job->{source} }\n";
        close $out;
        chmod 0755, "$build/unit/$job->{program}-plain";
    }
    my $pid = fork // die "fork: $!\n";
    if (0 == $pid) {
        open STDOUT, '>', "$build/out";
        open STDERR, '>&', \*STDOUT;
        my $result = Ept::Runner::run($build, \@jobs, { temp => "$build/temp" });
        STDOUT->flush;
        POSIX::_exit($result->{failed} ? 1 : 0);
    }
    waitpid $pid, 0;
    return ($? >> 8, Ept::Build::read_file("$build/out"), Ept::Build::read_file("$build/temp/unsteady"));
}

sub runs
{
    my ($name) = @_;
    my @lines = split /\n/, Ept::Build::read_file("$build/$name.runs");

    return scalar @lines;
}

my ($status, $text, $kept) = outcome(qw(right once right.2));
is($status, 0, 'a job that ends the second time does not fail the run');
like($text, qr/NOT ENDED.*Unsteady.*unit\/once: killed after 1 s of CPU time\n.*first run: failed.*load.*\n.*second run: ok/s,
     'it is named, with both results');
like($text, qr/^Result: PASS\n\z/m, 'the last line is of the whole');
like($kept, qr/unit\/once/, 'what was said of it is kept');
is(runs('once'), 2, 'it ran twice');
is(runs('right'), 1, 'others did not');
like(Ept::Build::read_file("$build/temp/times"), qr/unit\/right\.2 .*load/, 'times are kept');

($status, $text, $kept) = outcome(qw(wrong wrong_late crash noise right));
is($status, 1, 'what is wrong fails the run');
is_deeply([map { runs($_) } qw(wrong wrong_late crash noise)], [1, 1, 1, 1], 'at once');
is($kept, '', 'and is not unsteady');
like($text, qr/^Result: FAIL\n\z/m, 'so says the last line');
like($text, qr{^unit/crash failed:\n.*ended by signal 11.*^Test Summary Report}ms, 'why is said once more before');

($status, $text) = outcome(qw(always right));
is($status, 1, 'what does not end twice has failed');
is(runs('always'), 2, 'after its second run');

($status, $text) = outcome(map { "once.$_" } 1 .. 4);
is($status, 1, 'more than three unsteady jobs fail the run');
like($text, qr/unsteady jobs/, 'which is said');

remove_tree($build);
done_testing();
