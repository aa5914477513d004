#
# Copyright (c) 2026      The Open MPI Endpoints project contributors.
#                         All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Runs one job for prove: its output is TAP, its commands have a time-out, and nothing that it
# started outlives it.  What a job printed to stderr is shown only if it failed, followed by the
# command to run it again.

package Ept::Job;

use strict;
use warnings;

use File::Temp;
use IO::Select;
use POSIX qw(:sys_wait_h setsid);
use Time::HiRes qw(time sleep);

use Ept::Build;
use Ept::Fuzz;
use Ept::Stacks;
use Ept::Tsan;

our $GRACE = 20;       # seconds that a program's own time-out gets to report where its ranks are
my $LINGER = 90;       # seconds that a process stays after that report, for its stacks to be taken
my $running_session;   # of the command in progress

# ---- processes ---------------------------------------------------------------------------------

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

# Run a command in a session of its own for at most limit seconds.
# Returns { status, timed_out, out, err, stacks, left_behind }; stacks only of what ran out of time,
# left_behind the number of processes that were still there.  Calls on_line with each line of stdout
# as it comes.
sub run_command
{
    my ($command, $limit, $on_line) = @_;
    my %result = (out => '', err => '', timed_out => 0, stacks => '');
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
    my $deadline = time + $limit;
    my ($said_so, $ended) = (0, 0);     # said: a process's own time-out, of many at the same time
    while ($select->count) {
        my $left = $deadline - time;
        if (0 >= $left && !$ended) {
            $ended = 1;
            $result{timed_out} = !$said_so;
            _take_stacks($pid, \%result);
            _end_session($pid, $pid);
            $deadline = time + 2;
            next;
        }
        last if 0 >= $left;
        for my $handle ($select->can_read($left)) {
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
            if ('err' eq $which && !$said_so && $result{err} =~ /^# TIMEOUT after /m) {
                $said_so = 1;
                $deadline = time + 1 if $deadline > time + 1;
            }
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
    $result{left_behind} = scalar(my @members = _session_members($pid));
    _end_session($pid, $pid) if $result{left_behind};
    undef $running_session;
    return \%result;
}

# When this process is told to end, so is the command in progress.
sub end_command_on_signals
{
    for my $signal (qw(INT TERM HUP)) {
        $SIG{$signal} = sub {
            _end_session($running_session, $running_session) if $running_session;
            POSIX::_exit(130);
        };
    }
}

# ---- commands ----------------------------------------------------------------------------------

sub _launch
{
    my ($mpirun, $job, $np) = @_;
    my @command = ($mpirun, '-n', $np // $job->{np}, qw(--oversubscribe --bind-to none));
    my @mca = split ' ', $job->{mca} // '';

    push @command, '--mca', splice @mca, 0, 2 while @mca;
    if ($job->{provider}) {
        # The processes are on one node: over a network they talk only if shared memory is off.
        push @command, '--mca', 'btl_epshm_processes', 'node' eq $job->{provider} ? 1 : 0;
        push @command, '--mca', 'btl_epofi_provider', $job->{provider}
            if 'node' ne $job->{provider};
    }
    push @command, split ' ', $job->{launcher} // '';
    @command = _on_two_hosts(@command) if $job->{hosts};
    @command = _on_cluster($job->{cluster}, @command) if $job->{cluster};
    return ($job->{env} ? ('env', split ' ', $job->{env}) : (), @command);
}

# Processes by turns on two hosts, which are this machine under other names: what is on one node is a
# matter of names to Open MPI.
sub _on_two_hosts
{
    my @command = @_;
    my $ssh = ($ENV{EPT_RUN_TESTS} // '') =~ s{/[^/]+$}{/lib/fake-ssh}r;

    return ('env', 'PMIX_MCA_pmix_if_retain_loopback=1', 'PRTE_MCA_pmix_if_retain_loopback=1',
            @command, '--prtemca', 'plm_ssh_agent', $ssh, '--prtemca', 'plm_ssh_no_tree_spawn', 1,
            '--leave-session-attached', '--host', 'ept-a:64,ept-b:64', qw(--map-by node --mca btl),
            'self,tcp');
}

# Processes by turns on three nodes with network stacks of their own.
sub _on_cluster
{
    my ($layout, @command) = @_;
    my $lib = ($ENV{EPT_RUN_TESTS} // '') =~ s{/[^/]+$}{/lib}r;

    # (run-tests has Open MPI use the loopback, elsewhere, and so has Debian's Open MPI 6, in its
    # file of parameters.)
    return (qw(env -u OMPI_MCA_btl_tcp_if_include OMPI_MCA_mca_base_param_files=none),
            "$lib/cluster", $layout, @command, '--prtemca', 'plm_ssh_agent', "$lib/cluster-ssh",
            '--prtemca', 'plm_ssh_no_tree_spawn', 1, '--leave-session-attached', '--host',
            'ept-a:64,ept-b:64,ept-c:64', qw(--map-by node));
}

# Why a job cannot run on this machine, or nothing.
sub _missing
{
    my ($job) = @_;

    # Nor does it with one PML or the other; 5 does.
    return "Open MPI 6's btl/tcp does not connect two hosts that have one address"
        if $job->{hosts} && 6 <= Ept::Build::ompi_series();
    if ($job->{hosts} && 0 != system('unshare --uts true 2>/dev/null')) {
        return 'no right to give this machine two names';
    }
    if ($job->{cluster}) {
        return "the daemons of Open MPI 6 (PRRTE 5.0.0rc1) do not start without IPv4"
            if 'ipv6' eq $job->{cluster} && '6' eq ($ENV{EP_OMPI} // '');
        my $cluster = ($ENV{EPT_RUN_TESTS} // '') =~ s{/[^/]+$}{/lib/cluster}r;
        my $words = qx($^X \Q$cluster\E --check 2>&1);

        return 'no right to make network namespaces: ' . ($words =~ s/\n.*//sr) if 0 != $?;
    }
    return 'lib/direct-calls knows x86-64 only' if $job->{direct} && !Ept::Build::can_be_direct();
    return 'this Open MPI does not have the MPI ABI' if $job->{abi} && !Ept::Build::has_abi();
    return '';
}

# A variable that only process 0 gets.
sub _for_rank0
{
    my ($job) = @_;
    my $shell = 'test 0 != "$OMPI_COMM_WORLD_RANK" || export "$0"; exec "$@"';

    return $job->{rank0} ? ('sh', '-c', $shell, $job->{rank0}) : ();
}

# A program's arguments as the user writes them (--test-args) come last and win.
sub _program
{
    my ($build, $way, $job, $ep) = @_;

    return (_for_rank0($job), "$build/$way/$job->{program}", '--ep', $ep // $job->{ep}, '--timeout', $job->{timeout},
            split(' ', $job->{args}), split(' ', $ENV{EPT_ARGS} // ''));
}

sub command_of
{
    my ($build, $job) = @_;
    my $kind = $job->{kind};

    if ('unit' eq $kind) {
        return $job->{tree} ? ("$job->{tree}/test/unit/$job->{program}")
                            : (Ept::Build::emulator($job->{flavour}),
                               "$build/unit/$job->{program}-$job->{flavour}");
    }
    return ($job->{runner}, '--tap', $job->{program}) if 'mpich' eq $kind;
    return ('perl', "-I$job->{top}/test/lib", "$job->{top}/test/$job->{folder}/$job->{program}.t", $build)
        if 'self' eq $kind;
    return ("$job->{top}/test/model/run-model", '--build', "$build/model", $job->{program})
        if 'model' eq $kind;
    return ("$job->{top}/bench/$job->{program}", '--tap') if 'perf' eq $kind;
    return Ept::Fuzz::command($build, $job) if 'fuzz' eq $kind;
    return (_launch('mpirun', $job), _program($build, 'plain', $job)) if 'plain' eq $kind;
    return (_launch('mpirun', $job), _program($build, 'ep', $job)) if 'unselected' eq $kind;
    if ('example' eq $kind) {
        return ('env', "OMP_NUM_THREADS=$job->{ep}", _launch('epmpirun', $job),
                "$build/example/$job->{program}", split(' ', $job->{args}));
    }
    if ('tool' eq $kind) {
        return (_launch('epmpirun', $job), $job->{program}, $job->{ep} ? ('--ep', $job->{ep}) : (),
                split(' ', $job->{args}));
    }
    if ('python' eq $kind) {
        my $top = ($ENV{EPT_RUN_TESTS} // '') =~ s{/test/[^/]+$}{}r;
        return (_launch('epmpirun', $job), 'python3', "$top/$job->{folder}/$job->{program}",
                $job->{ep}, split(' ', $job->{args}));
    }
    if ('valgrind' eq $kind) {
        return (_launch('epmpirun', $job), 'valgrind', '--leak-check=full',
                '--show-leak-kinds=definite', '--keep-debuginfo=yes', '--fair-sched=yes',
                '--num-callers=30', "--log-file=$build/logs/valgrind.%p",
                _program($build, 'ep', $job));
    }
    return Ept::Tsan::command($build, $job, [_launch('epmpirun', $job)],
                              _program($build, 'tsan', $job)) if 'tsan' eq $kind;
    return (_launch('epmpirun', $job),
            $job->{preload} ? ('-x', 'LD_PRELOAD=' . Ept::Build::preload_file($build, $job)) : (),
            $job->{direct} ? ('-x', 'LD_LIBRARY_PATH=' . Ept::Build::direct_folder($build)) : (),
            _program($build, $job->{abi} ? 'abi' : 'ep', $job));
}

sub quote
{
    return join ' ', map { m{^[\w./:=,^%+@-]+$} ? $_ : "'" . s/'/'\\''/gr . "'" } @_;
}

sub command_line
{
    my ($build, $job) = @_;

    return quote(command_of($build, $job));
}

# ---- words -------------------------------------------------------------------------------------

# What a run printed to stderr that is not a comment of the harness.
sub _noise
{
    my ($result) = @_;

    # The launcher warns when the agent it has started has started its own program already.
    return grep { !/^\s*$/ && !/^# / && !/plm:ssh: Warning: setpgid/ } split /\n/, $result->{err};
}

sub _explain
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

sub _status_words
{
    my ($result, $limit) = @_;

    return "killed after $limit s" if $result->{timed_out};
    return sprintf 'ended by signal %d', $result->{status} & 127 if $result->{status} & 127;
    return sprintf 'exit status %d', $result->{status} >> 8;
}

# ---- kinds of jobs -----------------------------------------------------------------------------

# What may have been printed to stderr was, and nothing else, if endpoints were on.
sub _judge_noise
{
    my ($job, $result) = @_;
    my @noise = _noise($result);

    return () if 'mpi' ne $job->{kind};
    if (defined $job->{says}) {
        return "@noise" =~ /$job->{says}/ ? () : "it did not print anything like /$job->{says}/";
    }
    return @noise ? "it printed what it should not: $noise[0]" : ();
}

# The program speaks TAP.
sub _run_tap
{
    my ($build, $job) = @_;

    my $limit = $job->{timeout} + $GRACE;
    my $failed = 0;
    my $result = run_command([command_of($build, $job)], $limit, sub {
        my ($line) = @_;
        $failed++ if $line =~ /^not ok/ && $line !~ /# TODO/;
        print $line;
    });
    my @reasons;

    push @reasons, _status_words($result, $limit) if 0 != $result->{status};
    push @reasons, _judge_noise($job, $result) if !@reasons && !$failed;
    _explain($build, $job, $result, @reasons) if $failed || @reasons;
    return @reasons || $failed ? 1 : 0;
}

# Numbered TAP lines of the runner's own.
sub _tap
{
    my ($checks) = @_;
    my ($n, $failed) = (0, 0);

    printf "1..%d\n", scalar @$checks;
    for my $check (@$checks) {
        my ($ok, $words) = @$check;
        printf "%sok %d - %s\n", $ok ? '' : 'not ', ++$n, $words;
        $failed++ if !$ok;
    }
    return $failed;
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

sub _run_fatal
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
    my $failed = _tap(\@checks);

    _explain($build, $job, { %$result, err => $result->{out} . $result->{err} },
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

# A process of the job dies (test/mpi/death.c).  What its survivors print is checked here:
# "rank R: CLASS after MS ms", what comes later, and that those who have nothing to do with the dead
# go on.
sub _check_survivors
{
    my ($job, $out) = @_;
    my $survivors = ($job->{np} - 1) * $job->{ep};
    my %class = $out =~ /^rank (\d+): (\w+(?: \w+)?) after \d+ ms$/mg;
    my @late = grep { $_ > $job->{within} } $out =~ /^rank \d+: \w+.* after (\d+) ms$/mg;
    my $bystanders = () = $out =~ /^rank \d+: bystander /mg;
    my $right = () = $out =~ /^rank \d+: bystander MPI_SUCCESS, 0 wrong$/mg;
    my $later = () = $out =~ /^rank \d+: later send (?:\w+, (?:large|recv|any|probe) )*\w+, /mg;
    my $failed = () = $out =~ /^rank \d+: later (?:\w+ MPI_ERR_PROC_FAILED, ){5}/mg;
    my $made = () = $out =~ /^rank \d+: creations (?:\w+ MPI_ERR_PROC_FAILED, ){3}at once$/mg;
    my $on = () = $out =~ /^rank \d+: survivors MPI_SUCCESS, sum right$/mg;

    return ([$survivors == $bystanders + keys %class, 'every survivor tells how it went'],
            [!(grep { !/^(?:$job->{class})$/ } values %class), $job->{class}],
            [!@late, "within $job->{within} ms" . (@late ? ", not @late" : '')],
            !($job->{later} // 1) ? () : (
            [$later == keys(%class) && $failed == $later, 'what comes later fails as well'],
            [$right == $bystanders, 'bystanders see nothing of it'],
            [$made == $survivors, 'no other one can be made'],
            [$on == $survivors, 'a communicator of survivors works']));
}

sub _run_death
{
    my ($build, $job) = @_;
    my $start = time;
    my $result = run_command([command_of($build, $job)], $job->{timeout});
    my $seconds = time - $start;
    my $text = $result->{out} . $result->{err};
    my @left = _files_left($result->{out});
    my $said = () = $text =~ /$job->{says}/g;
    my $failed = _tap([
        [!$result->{timed_out}, sprintf 'ends, after %.1f s', $seconds],
        [defined $job->{status} ? ($result->{status} >> 8) =~ /^(?:$job->{status})$/
                                : 0 != $result->{status},
         'with status ' . ($job->{status} // 'not 0') . ': ' . ($result->{status} >> 8)],
        [1 == $said, "says once: $job->{says} ($said)"],
        [$text !~ /$job->{never}/, "does not say $job->{never}"],
        [!$result->{left_behind}, 'no process is left'],
        [$job->{np} == (() = $result->{out} =~ /^process \d+: pid \d+$/mg) && !@left,
         "no file is left in /dev/shm @left"],
        ($job->{within} ? _check_survivors($job, $result->{out}) : ()),
    ]);

    _explain($build, $job, { %$result, err => $text }, 'a death was not taken as it should')
        if $failed;
    return $failed ? 1 : 0;
}

# Examples check themselves and say so by their status; nothing but their result is printed.
sub _run_example
{
    my ($build, $job) = @_;
    my $result = run_command([command_of($build, $job)], $job->{timeout});
    my @noise = _noise($result);
    my $failed = _tap([
        [0 == $result->{status}, _status_words($result, $job->{timeout})],
        ['' ne $result->{out}, 'prints its result'],
        [!@noise, 'and nothing else'],
    ]);

    _explain($build, $job, { %$result, err => $result->{out} . $result->{err} },
             'an example does not work as it should') if $failed;
    return $failed ? 1 : 0;
}

# A program that is installed, and what it prints.
sub _run_tool
{
    my ($build, $job) = @_;
    my $result = run_command([command_of($build, $job)], $job->{timeout});
    my $text = $result->{out} . $result->{err};
    my $failed = _tap([
        [($job->{status} // 0) == $result->{status} >> 8 && !$result->{timed_out},
         _status_words($result, $job->{timeout})],
        [scalar($text =~ /$job->{says}/s), 'prints what it should'],
    ]);

    _explain($build, $job, { %$result, err => $text }, "it did not print /$job->{says}/")
        if $failed;
    return $failed ? 1 : 0;
}

# Likewise, where there is a Python with mpi4py.
sub _run_python
{
    my ($build, $job) = @_;

    if (0 != system(q(python3 -c 'import mpi4py, sys; sys.exit(mpi4py.__version__ < "4")')
                    . ' 2>/dev/null')) {
        print "1..0 # SKIP no Python with mpi4py 4 (Debian: python3-mpi4py)\n";
        return 0;
    }
    return _run_example($build, $job);
}

# 16 endpoints in one process against 16 processes under ob1, on the same cores, in turns.
sub _run_ratio
{
    my ($build, $job) = @_;
    my $ranks = $job->{np} * $job->{ep};
    my @ways = ([_launch('epmpirun', $job), _program($build, 'ep', $job)],
                [_launch('mpirun', $job, $ranks), '--mca', 'mpi_yield_when_idle', '1',
                 _program($build, 'plain', $job, 0)]);
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
    my $failed = _tap(\@checks);
    _explain($build, $job, $last, $checks[0][1]) if $failed;
    return $failed ? 1 : 0;
}

# Is a leak or an invalid access ours?  frames are names, innermost first, without folders.
#
# Ours is what our own code allocated or touched, or what one function called by us allocated for
# us, or what libfabric opened for us.  Not ours is what Open MPI or libfabric do deeper down, be it
# below a call of ours: they have leaks of their own, which a run under ob1 shows as well.
sub _is_ours
{
    my @frames = @_;
    my $ours = qr/\b(?:mca_)?(?:pml_)?(?:epml|btl_epshm|btl_epofi|mpiext_endpoints)_|MPIX_|mpix_/;

    my $allocates = qr/vg_replace|\b(?:str|mem|malloc|calloc|realloc)\w* \(/;

    shift @frames while @frames && $frames[0] =~ $allocates;
    for my $depth (0 .. $#frames) {
        next if $frames[$depth] !~ $ours;
        return 1 if 1 >= $depth;
        return $frames[0] =~ /libfabric|\bfi_/
            && $frames[ $depth - 1 ] !~ /fi_(?:cq_|send|tsend|inject|recv|read|write)/;
    }
    return 0;
}

sub _our_records
{
    my ($file) = @_;
    my (@ours, @record);

    open my $in, '<', $file or return ();
    while (my $line = <$in>) {
        $line =~ s/^==\d+== ?//;
        if ($line =~ /\S/) {
            push @record, $line;
            next if !eof $in;
        }
        my ($head, @frames) = @record;
        @record = ();
        next if !@frames || $head !~ /definitely lost|^Invalid|[Uu]ninitiali[sz]ed|^Mismatched/;
        # "at 0x...: function (file.c:12)" or "by 0x...: ??? (in /a/library.so)"
        my @names = map { s{/\S*/}{}gr } grep { /^\s*(?:at|by) 0x/ } @frames;
        push @ours, join '', $head, @frames if _is_ours(@names);
    }
    close $in;
    return @ours;
}

sub _run_valgrind
{
    my ($build, $job) = @_;
    my $limit = $job->{timeout} + $GRACE;
    my (@ours, $failed);

    if (!Ept::Build::on_path('valgrind')) {
        print "1..0 # SKIP no valgrind\n";
        return 0;
    }
    unlink glob "$build/logs/valgrind.*";
    my $result = run_command([command_of($build, $job)], $limit);
    my @logs = glob "$build/logs/valgrind.*";
    @ours = map { _our_records($_) } @logs;
    $failed = _tap([
        [0 == $result->{status}, 'runs under valgrind: ' . _status_words($result, $limit)],
        [$result->{out} =~ /^ok 1 /m && $result->{out} !~ /^not ok/m, 'and passes'],
        [$job->{np} <= @logs, 'every process left a log'],
        [!@ours, 'no leak and no invalid access of ours'],
    ]);
    print STDERR map { "# $_" } map { "$_\n" } map { split /\n/ } @ours;
    _explain($build, $job, $result, 'see ' . join(' ', @logs)) if $failed;
    return $failed ? 1 : 0;
}

sub _run_tsan
{
    my ($build, $job) = @_;
    my $limit = $job->{timeout} + $GRACE;

    if (!-x Ept::Tsan::prefix($build) . '/bin/epmpirun') {
        print "1..0 # SKIP no build with ThreadSanitizer\n";
        return 0;
    }
    Ept::Tsan::prepare($build);
    my $result = run_command([command_of($build, $job)], $limit);
    my @reports = Ept::Tsan::reports($build);
    my $failed = _tap([
        [!$result->{timed_out}, 'runs under ThreadSanitizer: ' . _status_words($result, $limit)],
        [$result->{out} =~ /^1\.\.\d+$/m && $result->{out} !~ /^not ok/m, 'and passes'],
        [!@reports, 'no data race of ours'],
    ]);
    print STDERR map { "# $_\n" } map { split /\n/ } @reports[0 .. (3 < @reports ? 2 : $#reports)];
    _explain($build, $job, $result, scalar(@reports) . ' data races') if $failed;
    return $failed ? 1 : 0;
}

# Random input; what is found is kept, with the command that runs it again.
sub _run_fuzz
{
    my ($build, $job) = @_;
    my ($wanted) = ($ENV{EPT_ARGS} // '') =~ /-runs=(\d+)/ ? $1 : $job->{runs};
    my $limit = $job->{timeout} * ($wanted > $job->{runs} ? $wanted / $job->{runs} : 1);

    if (defined(my $lacks = Ept::Fuzz::lacks($build))) {
        print "1..0 # SKIP $lacks\n";
        return 0;
    }
    if (!-x Ept::Fuzz::program($build, $job)) {
        print "1..1\nnot ok 1 - $job->{program} was built: see $build/logs/fuzz-build\n";
        return 1;
    }
    Ept::Fuzz::prepare($build, $job);
    my $result = run_command([command_of($build, $job)], $limit);
    my ($runs) = $result->{err} =~ /^Done (\d+) runs/m;
    my ($found) = glob Ept::Fuzz::found_prefix($build, $job) . '*';
    my $failed = _tap([
        [0 == $result->{status}, "$job->{program}: " . _status_words($result, $limit)],
        [defined $runs && $wanted <= $runs, ($runs // 'not all') . " inputs of $wanted"],
        [!defined $found, 'none of them a crash, a leak, or against an invariant'],
    ]);
    # Each new path is a line of libFuzzer's; nobody reads shadow bytes.
    $result->{err} = join "\n", grep {
        !/^#\d+\s|^\s*NEW_FUNC|^INFO:|^Shadow byte|^(?:  |=>)0x[\da-f]+:/
    } split /\n/, $result->{err};
    _explain($build, $job, $result, defined $found
             ? 'run that input: ' . quote(Ept::Fuzz::command_for_input($build, $job, $found))
             : 'it did not come to its end') if $failed;
    return $failed ? 1 : 0;
}

sub _run_unit
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
    return _run_tap($build, $job);
}

# It runs many jobs, and prints TAP itself.
sub _run_mpich
{
    my ($build, $job) = @_;
    my @command = command_of($build, $job);

    { exec { $command[0] } @command }
    print "1..1\nnot ok 1 - $command[0]: $!\n";
    return 1;
}

my %KINDS = (
    mpi => \&_run_tap,
    plain => \&_run_tap,
    self => \&_run_tap,
    model => \&_run_tap,
    perf => \&_run_tap,
    unselected => \&_run_tap,
    unit => \&_run_unit,
    mpich => \&_run_mpich,
    fatal => \&_run_fatal,
    death => \&_run_death,
    example => \&_run_example,
    tool => \&_run_tool,
    python => \&_run_python,
    ratio => \&_run_ratio,
    tsan => \&_run_tsan,
    fuzz => \&_run_fuzz,
    valgrind => \&_run_valgrind,
);

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
    my $missing = _missing($job);
    if ('' ne $missing) {
        print "1..0 # SKIP $missing\n";
        return 0;
    }
    end_command_on_signals();
    return $KINDS{ $job->{kind} }->($build, $job);
}

1;
