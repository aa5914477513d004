#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# stacks.t BUILD-FOLDER: what hangs is killed, and its stacks are in the report.
#
# Guards: test/lib/Ept/Stacks.pm, test/lib/Ept/Session.pm

use strict;
use warnings;

use File::Basename qw(dirname);
use Test::More;

use Ept::Job;
use Ept::Kinds;
use Ept::Session;
use Ept::Stacks;

my $build = shift // die "usage: stacks.t BUILD-FOLDER\n";
my $hang = "$build/unit/hang-plain";

# The runner's whole way with a job, as a user reads it.
sub report_of
{
    my ($job) = @_;
    my $file = "$build/logs/stacks-report";

    my $pid = fork // die "fork: $!\n";
    if (0 == $pid) {
        open STDERR, '>', $file or die "$file: $!\n";
        open STDOUT, '>', '/dev/null';
        exit Ept::Job::run($build, $job);
    }
    waitpid $pid, 0;
    return ($? >> 8, Ept::Build::read_file($file));
}

sub count
{
    my ($text, $pattern) = @_;
    my $n = () = $text =~ /$pattern/mg;

    return $n;
}

is(system($ENV{CC} || 'cc', '-g', '-O1', '-pthread', '-o', $hang,
          dirname(__FILE__) . '/hang.c'), 0, 'the program that hangs was compiled');
$ENV{EPT_RUN_TESTS} //= 'run-tests';
# What the inner runner shows must not look as if this test itself had run out of time.
delete $ENV{EPT_VERBOSE};
# It sleeps.
local $Ept::Session::PATIENCE = 1;
# On a machine that does much else.
local $Ept::Stacks::EACH = 60;
local $Ept::Stacks::ALL = 300;

# gdb may be missing, or not be allowed to look: then there are threads, but no functions' names.
my $gdb = Ept::Build::on_path('gdb')
    && `sleep 20 & gdb -nx -batch -p \$! -ex bt 2>&1; kill \$!` =~ /^#0/m;
my %job = (name => 'hang', kind => 'unit', program => 'hang', flavour => 'plain', timeout => 3);
my ($status, $report) = report_of({%job});

is($status, $Ept::Job::UNFINISHED, 'what hangs has not come to its end');
like($report, qr/killed after 3 s, .*slept/, 'the report says how');
is(count($report, '^# TIMEOUT: on purpose'), 2, 'both processes were made to report');
is(count($report, '^# ---- process \d+:.*hang-plain'), 2, 'both processes are in the report');
is(count($report, '^# Thread \d+'), 4, 'with all threads');
SKIP: {
    skip 'gdb is missing, or may not attach', 3 if !$gdb;
    is(count($report, '^# #\d+ .*\bhangs_on_purpose \('), 4, 'and where each of them is');
    is(count($report, '^# #\d+ .*\bthread_on_purpose \('), 2, 'and by whom it was called');
    is(count($report, '^# #\d+ .*\bmain \('), 2, 'to the beginning');
}

# A program that computes is ended by the CPU time that it has got.
local $Ept::Session::PATIENCE = 1000;
my $result = Ept::Session::run_command(['sh', '-c', 'while :; do :; done'], 1);
like($result->{timed_out}, qr/after 1 s of CPU time/, 'CPU time is counted');
$result = Ept::Session::run_command(['true'], 40);
is($result->{stacks}, '', 'what ends by itself has none');

# Without gdb.
local $ENV{PATH} = '/dev/null';
my $text = Ept::Stacks::of($$);
like($text, qr/^---- process $$: .*stacks\.t.*\nThread $$: R/, 'without gdb, the kernel is asked');

done_testing();
