#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs a command with a time-out, in a session of its own: nothing that it started outlives it.

package Ept::Session;

use strict;
use warnings;

use Exporter 'import';
use File::Temp;
use IO::Select;
use POSIX qw(:sys_wait_h setsid);
use Time::HiRes qw(time sleep);

use Ept::Build;
use Ept::Stacks;

our @EXPORT_OK = qw(run_command end_command_on_signals);

# Seconds that a program stays after it has reported where its ranks are, for its stacks to be taken.
my $LINGER = 90;
# A command that sleeps gets no CPU time: it ends after this many times its limit on the clock.
our $PATIENCE = 10;
my $running_session;   # of the command in progress

# Why the last command that did not come to its end did not; '' otherwise.  Load may be the reason.
our $unfinished = '';

# mpirun gives each process a process group of its own, but all stay in the session that we opened
# for the command: so they are found without knowing their names, even after mpirun is gone.
sub _session_members
{
    my ($session) = @_;
    my @members;

    for my $stat (glob '/proc/[0-9]*/stat') {
        open my $in, '<', $stat or next;
        my $line = <$in> // '';
        close $in;
        # pid (name) state ppid pgrp session; the name may hold spaces and parentheses
        push @members, $1 if $line =~ /^(\d+) \(.*\) (\S) \d+ \d+ (\d+) /s
                             && $3 == $session && 'Z' ne $2;
    }
    return @members;
}

# Seconds of CPU time that its processes have got, with those that have ended and been waited for.
sub _cpu_seconds
{
    my ($session) = @_;
    my $ticks = 0;

    for my $pid (_session_members($session)) {
        my $line = Ept::Build::read_file("/proc/$pid/stat");
        # Behind the name: state, ppid, pgrp, session, ..., then utime, stime, cutime, cstime.
        my @fields = split ' ', $line =~ s/^.*\) //sr;

        $ticks += $_ // 0 for @fields[11 .. 14];
    }
    return $ticks / POSIX::sysconf(&POSIX::_SC_CLK_TCK);
}

# Why a command that began then has to end now, or nothing.
sub _is_over
{
    my ($session, $limit, $start) = @_;
    my $elapsed = time - $start;

    return sprintf 'killed after %.0f s, ten times its limit, in which it has mostly slept', $elapsed
        if $PATIENCE * $limit <= $elapsed;
    # It cannot have used up its time earlier than with all cores.
    return if $elapsed * Ept::Build::cores() < $limit || _cpu_seconds($session) < $limit;
    return "killed after $limit s of CPU time";
}

# Programs that say where they are when their time is over (test/mpi/ept.h, test/unit/tap.h) do so by
# SIGALRM.  A launcher hands it on, also to programs that it would end.
sub _have_it_reported
{
    my ($session) = @_;

    for my $pid (_session_members($session)) {
        my $status = Ept::Build::read_file("/proc/$pid/status");
        my ($caught) = $status =~ /^SigCgt:\s*[\da-f]*([\da-f]{8})$/m;

        next if $status =~ /^Name:\s*(?:prterun|prted|mpirun)$/m;
        kill 'ALRM', $pid if hex($caught // 0) & 1 << POSIX::SIGALRM() - 1;
    }
}

# The launcher has failed before the program began: what it says then.
my $LAUNCHER = qr/^.*(?:
    unable\ to\ (?:start|launch)\b.*daemon | daemon\ .*(?:failed\ to\ start|died\ unexpectedly|never\ reported)
    | PRTE\ has\ lost\ communication | PMIx?\ ERROR:\ (?:UNREACH|TIMEOUT) | tool\ .*\ failed\ to\ connect
    | unable\ to\ (?:open|create|bind)\ .*socket).*$/mxi;

sub _end_session
{
    my ($session, $mpirun) = @_;

    # mpirun first: it takes its processes along and cleans up after them.
    kill 'TERM', $mpirun;
    for (1 .. 100) {
        return if !_session_members($session);
        sleep 0.1;
    }
    kill 'KILL', _session_members($session);
}

# Where the processes of the command are, the launcher among them, before they are killed.
sub _take_stacks
{
    my ($session, $result) = @_;
    my @members = sort { $a <=> $b } _session_members($session);

    print STDERR "# taking the stacks of what hangs\n" if $ENV{EPT_VERBOSE};
    $result->{stacks} = Ept::Stacks::of(@members);
}

# Run a command in a session of its own until its processes have had limit seconds of CPU time, or
# $PATIENCE times that are over on the clock.
# Returns { status, timed_out, out, err, stacks, left_behind }; timed_out says why it was ended, stacks
# are only of what was, left_behind is the number of processes that were still there.  Calls on_line
# with each line of stdout as it comes.
sub run_command
{
    my ($command, $limit, $on_line) = @_;
    my %result = (out => '', err => '', timed_out => '', stacks => '');
    my %partial = (out => '', err => '');
    # The launcher's folder is named by its pid, and stays behind where the launcher is killed: the
    # next one of that pid would not start.
    my $folder = File::Temp->newdir('ept-XXXXXX', TMPDIR => 1);   # goes at the end

    pipe my $out_read, my $out_write or die "pipe: $!\n";
    pipe my $err_read, my $err_write or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";
    if (0 == $pid) {
        setsid();
        open STDIN, '<', '/dev/null';
        open STDOUT, '>&', $out_write;
        open STDERR, '>&', $err_write;
        $ENV{EPT_LINGER} = $LINGER;
        $ENV{TMPDIR} = $folder->dirname;
        { exec { $command->[0] } @$command }
        print STDERR "cannot run $command->[0]: $!\n";
        POSIX::_exit(127);
    }
    $running_session = $pid;
    close $out_write;
    close $err_write;

    my $select = IO::Select->new($out_read, $err_read);
    my $start = time;
    my $deadline;       # for what comes after its end
    while ($select->count) {
        if (!defined $deadline and my $why = _is_over($pid, $limit, $start)) {
            $result{timed_out} = $unfinished = $why;
            _have_it_reported($pid);
            _take_stacks($pid, \%result);
            _end_session($pid, $pid);
            $deadline = time + 2;
        }
        last if defined $deadline && $deadline <= time;
        for my $handle ($select->can_read(1)) {
            my $which = $handle == $out_read ? 'out' : 'err';
            my $n = sysread $handle, my $piece, 65536;
            if (!$n) {
                $select->remove($handle);
                next;
            }
            # mpirun ends the help texts that it prints with a null byte.
            $piece =~ tr/\0//d;
            $result{$which} .= $piece;
            print STDERR $piece if 'err' eq $which && $ENV{EPT_VERBOSE};
            if ('out' eq $which && $on_line) {
                $partial{out} .= $piece;
                $on_line->($1) while $partial{out} =~ s/^(.*?\n)//;
            }
        }
    }
    $on_line->("$partial{out}\n") if $on_line && '' ne $partial{out};
    # Its pipes are closed, but it may still be ending.
    for (1 .. 300) {
        last if $pid == waitpid $pid, WNOHANG and defined($result{status} = $?);
        sleep 0.1;
    }
    if (!defined $result{status}) {
        _end_session($pid, $pid);
        waitpid $pid, 0;
        $result{status} = $?;
    }
    # Whatever the command started has a moment to end by itself, too.
    for (1 .. 300) {
        last if !_session_members($pid);
        sleep 0.1;
    }
    $unfinished = "the launcher: $1"
        if 0 != $result{status} && $result{out} !~ /\S/ && $result{err} =~ /($LAUNCHER)/;
    $result{left_behind} = scalar(my @members = _session_members($pid));
    _end_session($pid, $pid) if $result{left_behind};
    undef $running_session;
    return \%result;
}

# On a signal to end, so is the command in progress.
sub end_command_on_signals
{
    for my $signal (qw(INT TERM HUP)) {
        $SIG{$signal} = sub {
            _end_session($running_session, $running_session) if $running_session;
            POSIX::_exit(130);
        };
    }
}

1;
