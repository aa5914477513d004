#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Where processes are that are about to be killed: the stacks of all their threads, by gdb; where
# there is none, or it may not look, what the kernel tells.

package Ept::Stacks;

use strict;
use warnings;

use Time::HiRes qw(time);

use Ept::Build;

our $EACH = 10;         # seconds that gdb may take for one process
our $ALL = 60;          # and for all of them
my $LINES = 200;        # of one process that are shown
my $FRAMES = 40;        # of one thread
my $LENGTH = 200;       # characters of one line

my @GDB = ('gdb', '-nx', '-batch', map { ('-ex', $_) } 'set pagination off', 'set width 0',
           'set print elements 32', 'set debuginfod enabled off');

sub _read
{
    my ($file) = @_;

    open my $in, '<', $file or return undef;
    local $/;
    my $text = <$in>;
    close $in;
    return $text;
}

sub _command_of
{
    my ($pid) = @_;
    my $command = (_read("/proc/$pid/cmdline") // '') =~ tr/\0/ /r;

    return $command =~ s/ $//r;
}

# What gdb says, without what it says of each library and thread on its way.
sub _by_gdb
{
    my ($pid, $seconds) = @_;
    my @command = ('timeout', '-k', 1, $seconds, @GDB, '-p', $pid, '-ex',
                   "thread apply all bt $FRAMES");

    my $child = open my $out, '-|';
    return () if !defined $child;
    if (0 == $child) {
        open STDIN, '<', '/dev/null';
        open STDERR, '>', '/dev/null';
        { exec { $command[0] } @command }
        POSIX::_exit(127);
    }
    my @lines = grep { /^(?:Thread |#\d+ |\(More stack)/ } <$out>;
    close $out;
    push @lines, "gdb was stopped after $seconds s\n" if 124 == $? >> 8 || 137 == $? >> 8;
    return @lines;
}

# Threads, what they wait for in the kernel, and their system calls.
sub _by_kernel
{
    my ($pid) = @_;
    my @lines;

    for my $task (sort glob "/proc/$pid/task/*") {
        my ($tid) = $task =~ m{(\d+)$};
        my ($state) = (_read("$task/status") // '') =~ /^State:\s*(.*)$/m;

        push @lines, sprintf "Thread %d: %s; waits in %s; system call %s\n", $tid,
            $state // 'is gone', (_read("$task/wchan") || '?'),
            (_read("$task/syscall") // '?') =~ s/\n//r;
        push @lines, map { "  $_\n" } split /\n/, _read("$task/stack") // '';
    }
    return @lines;
}

# The stacks of these processes as text, or '' without processes.  Takes at most $ALL seconds.
sub of
{
    my (@pids) = @_;
    my $end = time + $ALL;
    my $gdb = Ept::Build::on_path('gdb') && Ept::Build::on_path('timeout');
    my $text = '';

    local $?;
    for my $pid (@pids) {
        my $left = int($end - time);
        my @lines;

        @lines = _by_gdb($pid, $left < $EACH ? $left : $EACH) if $gdb && 0 < $left;
        push @lines, _by_kernel($pid) if !grep { /^#\d/ } @lines;
        splice @lines, $LINES / 2, @lines - $LINES, "[...]\n" if $LINES < @lines;
        $text .= sprintf "---- process %d: %s\n", $pid, _command_of($pid);
        for my $line (@lines) {
            chomp $line;
            $text .= (length $line > $LENGTH ? substr($line, 0, $LENGTH) . '...' : $line) . "\n";
        }
    }
    return $text;
}

1;
