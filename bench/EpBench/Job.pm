# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Starting a command under a time-out, and ending it with everything it started.

package EpBench::Job;

use strict;
use warnings;

use POSIX ();
use Time::HiRes qw(sleep time);

my $running;    # pid of the command under way, for the signal handlers

# Process table: pid => [parent, start time].  The start time tells a process from a later one that
# was given the same number.
sub processes {
    my %table;
    for my $path (glob('/proc/[0-9]*/stat')) {
        open(my $file, '<', $path) or next;
        my $line = <$file>;
        close($file);
        next unless defined $line && $line =~ /^(\d+) \(.*\) (.*)$/;
        my ($pid, @field) = ($1, split(' ', $2));
        $table{$pid} = [$field[1], $field[19]];
    }
    return \%table;
}

# All processes below $root, $root included: pid => start time.
sub family {
    my ($root) = @_;
    my $table = processes();
    my %found = exists $table->{$root} ? ($root => $table->{$root}[1]) : ();
    my $more  = 1;
    while ($more) {
        $more = 0;
        for my $pid (keys %$table) {
            next if exists $found{$pid} || !exists $found{$table->{$pid}[0]};
            $found{$pid} = $table->{$pid}[1];
            $more = 1;
        }
    }
    return \%found;
}

# Ends $root and all below it: first politely, so that the launcher tidies up, then for good.
sub end_family {
    my ($root) = @_;
    my $members = family($root);
    kill('TERM', $root);
    for (1 .. 40) {
        last if waitpid($root, POSIX::WNOHANG()) != 0;
        sleep(0.05);
    }
    my $table = processes();
    for my $pid (keys %$members) {
        if (exists $table->{$pid} && $table->{$pid}[1] eq $members->{$pid}) {
            kill('KILL', $pid);
        }
    }
    waitpid($root, 0);
    return;
}

# Ends the command under way, if any.  For signal handlers and die.
sub end_running {
    if (defined $running) {
        end_family($running);
        $running = undef;
    }
    return;
}

# Runs a command: (command => [...], env => {...}, timeout => seconds, out => file, err => file).
# Returns undef if it ended with status 0, else what went wrong, in a few words.
sub run {
    my (%job) = @_;
    my $pid = fork();
    return "fork: $!" unless defined $pid;
    if (0 == $pid) {
        setpgrp(0, 0);
        $ENV{$_} = $job{env}{$_} for keys %{ $job{env} || {} };
        open(STDIN,  '<', '/dev/null') or POSIX::_exit(126);
        open(STDOUT, '>', $job{out})   or POSIX::_exit(126);
        open(STDERR, '>', $job{err})   or POSIX::_exit(126);
        { no warnings 'exec'; exec { $job{command}[0] } @{ $job{command} }; }
        POSIX::_exit(127);
    }
    $running = $pid;
    my $deadline = time() + $job{timeout};
    while (1) {
        if (waitpid($pid, POSIX::WNOHANG()) == $pid) {
            $running = undef;
            return if 0 == $?;
            return 'ended by signal ' . ($? & 127) if $? & 127;
            return 'could not be started' if 127 == $? >> 8;
            return 'exit status ' . ($? >> 8);
        }
        if (time() > $deadline) {
            end_running();
            return "not finished after $job{timeout} s, ended";
        }
        sleep(0.02);
    }
}

1;
