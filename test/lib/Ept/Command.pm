#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# The command of a job: the launcher with its options, what stands in front of the program, and its
# arguments; and why a job cannot run on this machine.

package Ept::Command;

use strict;
use warnings;

use Exporter 'import';
use Ept::Build;
use Ept::Fuzz;
use Ept::Ranks;
use Ept::Tsan;

our @EXPORT_OK = qw(launch program command_of command_line quote missing);

sub launch
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
    @command = _on_two_hosts($job, @command) if $job->{hosts};
    @command = _on_cluster($job->{cluster}, @command) if $job->{cluster};
    return ($job->{env} ? ('env', split ' ', $job->{env}) : (), @command);
}

# Processes on two hosts, by turns or in halves, which are this machine under other names: what is on one
# node is a matter of names to Open MPI.
sub _on_two_hosts
{
    my ($job, @command) = @_;
    my $map = 'halves' eq $job->{hosts} ? 'ppr:' . $job->{np} / 2 . ':node' : 'node';
    my $ssh = ($ENV{EPT_RUN_TESTS} // '') =~ s{/[^/]+$}{/lib/fake-ssh}r;

    return ('env', 'PMIX_MCA_pmix_if_retain_loopback=1', 'PRTE_MCA_pmix_if_retain_loopback=1',
            @command, '--prtemca', 'plm_ssh_agent', $ssh, '--prtemca', 'plm_ssh_no_tree_spawn', 1,
            '--leave-session-attached', '--host', 'ept-a:64,ept-b:64', '--map-by', $map,
            '--mca', 'btl', 'self,tcp');
}

# Processes by turns on three nodes with network stacks of their own.
sub _on_cluster
{
    my ($layout, @command) = @_;
    my $lib = ($ENV{EPT_RUN_TESTS} // '') =~ s{/[^/]+$}{/lib}r;

    # (run-tests has Open MPI use the loopback, elsewhere, and so has Debian's Open MPI 6, in its
    # file of parameters.  Without any file, "none", Open MPI crashes with fault tolerance on.)
    return (qw(env -u OMPI_MCA_btl_tcp_if_include OMPI_MCA_mca_base_param_files=/dev/null),
            "$lib/cluster", $layout, @command, '--prtemca', 'plm_ssh_agent', "$lib/cluster-ssh",
            '--prtemca', 'plm_ssh_no_tree_spawn', 1, '--leave-session-attached', '--host',
            'ept-a:64,ept-b:64,ept-c:64', qw(--map-by node));
}

# Why a job cannot run on this machine, or nothing.
sub missing
{
    my ($job) = @_;

    # Nor does it with one PML or the other; 5 does.
    return "Open MPI 6's btl/tcp does not connect two hosts that have one address"
        if $job->{hosts} && 6 <= Ept::Build::ompi_series();
    return $job->{not_6} if $job->{not_6} && 6 <= Ept::Build::ompi_series();
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
    return 'no oneTBB (Debian: g++, libtbb-dev)' if $job->{tbb} && !Ept::Build::has_tbb();
    return 'nothing for Fortran was built' if $job->{program} =~ /\.[fF](?:90)?$/
        && !Ept::Build::has_fortran();
    return Ept::Ranks::missing($job) if $job->{unmodified} && Ept::Ranks::missing($job);
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
sub program
{
    my ($build, $way, $job, $ep) = @_;

    return (_for_rank0($job), "$build/$way/$job->{program}", '--ep', $ep // $job->{ep},
            split(' ', $job->{args}),
            split(' ', $ENV{EPT_ARGS} // ''));
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
    return ($job->{runner}, '--tap', split(' ', $job->{args}), $job->{program}) if 'mpich' eq $kind;
    return ('perl', "-I$job->{top}/test/lib", "$job->{top}/test/$job->{folder}/$job->{program}.t",
            $build) if 'self' eq $kind;
    return ("$job->{top}/test/model/run-model", '--build', "$build/model", $job->{program})
        if 'model' eq $kind;
    return ("$job->{top}/bench/$job->{program}", '--tap') if 'perf' eq $kind;
    return Ept::Fuzz::command($build, $job) if 'fuzz' eq $kind;
    return ('mutate', $job->{mutation}{file}) if 'mutation' eq $kind;
    return Ept::Ranks::command($build, $job, launch($job->{ranks} ? 'epmpirun' : 'mpirun', $job))
        if $job->{unmodified};
    return (launch('mpirun', $job), program($build, 'plain', $job)) if 'plain' eq $kind;
    return (launch('mpirun', $job), program($build, 'ep', $job)) if 'unselected' eq $kind;
    if ('example' eq $kind) {
        return ('env', "OMP_NUM_THREADS=$job->{ep}", launch('epmpirun', $job),
                "$build/example/$job->{program}", split(' ', $job->{args}));
    }
    if ('tool' eq $kind) {
        return (launch('epmpirun', $job), $job->{program}, $job->{ep} ? ('--ep', $job->{ep}) : (),
                split(' ', $job->{args}));
    }
    if ('python' eq $kind) {
        my $top = ($ENV{EPT_RUN_TESTS} // '') =~ s{/test/[^/]+$}{}r;
        return (launch('epmpirun', $job), 'python3', "$top/$job->{folder}/$job->{program}",
                $job->{ep}, split(' ', $job->{args}));
    }
    if ('valgrind' eq $kind) {
        return (launch('epmpirun', $job), 'valgrind', '--leak-check=full',
                '--show-leak-kinds=definite', '--keep-debuginfo=yes', '--fair-sched=yes',
                '--num-callers=30', '--log-file=' . Ept::Build::job_file($build, $job, 'valgrind.%p'),
                program($build, 'ep', $job));
    }
    return Ept::Tsan::command($build, $job, [launch('epmpirun', $job)],
                              program($build, 'tsan', $job)) if 'tsan' eq $kind;
    return (launch('epmpirun', $job),
            $job->{preload} ? ('-x', 'LD_PRELOAD=' . Ept::Build::preload_file($build, $job)) : (),
            $job->{direct} ? ('-x', 'LD_LIBRARY_PATH=' . Ept::Build::direct_folder($build)) : (),
            program($build, $job->{interface} // ($job->{abi} ? 'abi' : 'ep'), $job));
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

1;
