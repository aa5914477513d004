# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# The ways that are compared, the scenarios, and the command that runs one way in one scenario.

package EpBench::Ways;

use strict;
use warnings;

use Cwd qw(abs_path getcwd);
use File::Basename qw(dirname);

use EpBench::Job;

# Parameters of Open MPI 6 for its collectives of shared memory.  Without XPMEM, xhc of 6.0.0rc2
# crashes in reductions that it does not copy through its own memory.
my @XHC = map { ('--mca', "coll_xhc_$_->[0]", $_->[1]) }
    (['priority', 90], ['allreduce_cico_max', '8M'], ['reduce_cico_max', '8M']);
my @ACOLL = ('--mca', 'coll_acoll_priority', 90);

# title: in sentences and legends; program: which build; way: what epbench calls it; each: a process
# per worker; optional: only if asked for; ordinary: no endpoints, but under pml/epml; mca: for
# mpirun.
our @WAYS = (
    { name => 'ep', title => 'endpoints', program => 'ep' },
    { name => 'ep-funneled', title => 'endpoints, funneled', program => 'ep', way => 'ep',
      info => 'mpix_thread_level=funneled', optional => 1 },
    { name => 'ep-before', title => 'endpoints of --against', program => 'before', way => 'ep',
      optional => 1 },
    { name => 'proc', title => 'ob1, processes', program => 'ompi', each => 1 },
    { name => 'rdma', title => 'ob1, processes, osc/rdma', program => 'ompi', way => 'proc',
      each => 1, optional => 1, mca => ['--mca', 'osc', 'rdma'] },
    { name => 'proc-multiple', title => 'ob1, processes, multiple', program => 'ompi', each => 1,
      optional => 1 },
    { name => 'thread', title => 'ob1, threads', program => 'ompi' },
    { name => 'shared', title => 'ob1, threads of one communicator', program => 'ompi',
      optional => 1 },
    { name => 'hybrid', title => 'ob1, one thread of each process', program => 'ompi',
      optional => 1 },
    { name => 'threadcomm', title => 'MPICH threadcomm', program => 'mpich' },
    { name => 'threadcomm-new', title => 'newest MPICH threadcomm', program => 'mpich-new',
      way => 'threadcomm', optional => 1 },
    { name => 'mpich', title => 'MPICH, processes', program => 'mpich', way => 'proc', each => 1,
      optional => 1 },
    { name => 'mpich-new', title => 'newest MPICH, processes', program => 'mpich-new',
      way => 'proc', each => 1, optional => 1 },
    { name => 'xhc', title => 'newest Open MPI, processes, xhc', program => 'ompi-new',
      way => 'proc', each => 1, optional => 1, mca => \@XHC },
    { name => 'acoll', title => 'newest Open MPI, processes, acoll', program => 'ompi-new',
      way => 'proc', each => 1, optional => 1, mca => \@ACOLL },
    { name => 'proc-epml', title => 'processes under epml', program => 'ompi', way => 'proc',
      each => 1, ordinary => 1 },
    { name => 'fi', title => 'libfabric, fi_pingpong', program => 'fabric', optional => 1 },
    { name => 'floor', title => 'floor of the machine', program => 'ompi' },
);
our %WAY = map { $_->{name} => $_ } @WAYS;

our @SCENARIOS = (
    { name => 'in', title => 'In one process', plot => 'in one process', processes => 1 },
    { name => 'tcp', title => 'Across two processes, TCP loopback',
      plot => 'across two processes over TCP', processes => 2 },
    { name => 'shm', title => 'Across two processes, shared memory',
      plot => 'across two processes over shared memory', processes => 2 },
    { name => 'net', title => 'Between two nodes, which are network namespaces, TCP',
      plot => 'between two network namespaces over TCP', processes => 2 },
    { name => 'created', title => 'Across two processes, windows of MPI_Win_create',
      plot => 'across two processes over shared memory', processes => 2 },
);
our %SCENARIO = map { $_->{name} => $_ } @SCENARIOS;

sub on_path {
    my ($name) = @_;
    return $name if $name =~ m{/} && -x $name;
    for my $folder (split(/:/, $ENV{PATH} || '')) {
        return "$folder/$name" if -x "$folder/$name" && !-d _;
    }
    return;
}

# Both MPI libraries call their tools mpicc and mpirun; distributions add a suffix.
sub find_ompi {
    return ($ENV{MPICC}, $ENV{MPIRUN} || 'mpirun') if $ENV{MPICC};
    for my $suffix ('', '.openmpi') {
        my $mpicc = on_path("mpicc$suffix") or next;
        my $version = `'$mpicc' --showme:version 2>/dev/null`;
        next unless $version =~ /Open MPI/;
        my $mpirun = dirname($mpicc) . "/mpirun$suffix";
        return ($mpicc, -x $mpirun ? $mpirun : on_path('mpirun'));
    }
    return;
}

# Becomes a command in the Debian that ./ep has made for newer peers ($EP_PEERS), in the current
# folder: as ./ep itself does, so that all folders but the distribution's are there as well.  In the
# Debian of ./ep, whose root is no mount point, mounts are out of the sight of others already.
sub enter {
    my ($root) = @_;
    my $project = abs_path(dirname(__FILE__) . '/../..');
    return ('unshare', '--mount', '--propagation', 'unchanged', 'sh', '-c',
            'mount --make-rprivate / 2>/dev/null; exec bash "$0" "$@"',
            "$project/config/ep/enter.sh", $root, $project,
            '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin', getcwd());
}

# Why there are no newer peers: what a machine cannot get is no reason to do without the rest.
our $UNREACHABLE = 'there is no Debian with newer peers ($EP_PEERS; ./ep bench --coll makes one)';

# A newer peer: its compiler and launcher are in that Debian.
sub newer_tool {
    my ($compiler, $launcher, @flags) = @_;
    my $root = $ENV{EP_PEERS};
    return { unreachable => 1, missing => $UNREACHABLE }
        unless $root;
    for my $name ($compiler, $launcher) {
        my $path = "$root/usr/bin/$name";
        return { missing => "no $name in the Debian with newer peers" } unless -e $path || -l $path;
    }
    return { enter => [enter($root)], compiler => $compiler, launcher => $launcher,
             stamp => "$root/etc/ep-packages", flags => \@flags };
}

# program => { compiler, launcher, flags }, of newer peers also enter and stamp, a file as old as
# the compiler; or { missing => why }.  $before: the folder in which other endpoints are installed,
# or undef.
sub tools {
    my ($before) = @_;
    my %tools;
    my ($mpicc, $mpirun) = find_ompi();
    $tools{ompi} = $mpicc
        ? { compiler => $mpicc, launcher => $mpirun, flags => [] }
        : { missing => 'no mpicc of Open MPI on PATH (package libopenmpi-dev), nor in $MPICC' };
    my $epmpicc  = on_path($ENV{EPMPICC}  || 'epmpicc');
    my $epmpirun = on_path($ENV{EPMPIRUN} || 'epmpirun');
    $tools{ep} = $epmpicc && $epmpirun
        ? { compiler => $epmpicc, launcher => $epmpirun, flags => ['-DHAVE_EP'] }
        : { missing => 'no epmpicc and epmpirun on PATH (make install, or ./ep bench)' };
    $tools{before} = $before
        ? { compiler => "$before/bin/epmpicc", launcher => "$before/bin/epmpirun",
            flags => ['-DHAVE_EP'] }
        : { missing => 'there is none without --against' };
    my $mpich_cc  = on_path($ENV{MPICH_MPICC}  || 'mpicc.mpich');
    my $mpich_run = on_path($ENV{MPICH_MPIRUN} || 'mpirun.mpich');
    $tools{fabric} = on_path('fi_pingpong')
        ? { binary => dirname(__FILE__) . '/../fabric-pingpong' }
        : { missing => 'no fi_pingpong on PATH (package libfabric-bin)' };
    $tools{mpich} = $mpich_cc && $mpich_run
        ? { compiler => $mpich_cc, launcher => $mpich_run, flags => ['-DHAVE_THREADCOMM'] }
        : { missing => 'MPICH is not installed (package libmpich-dev)' };
    $tools{'mpich-new'} = newer_tool('mpicc.mpich', 'mpirun.mpich', '-DHAVE_THREADCOMM');
    $tools{'ompi-new'} = newer_tool('mpicc.openmpi', 'mpirun.openmpi');
    return \%tools;
}

sub newer {
    my ($target, @sources) = @_;
    my $time = (stat($target))[9];
    return 0 unless defined $time;
    for my $source (@sources) {
        return 0 if (stat($source))[9] > $time;
    }
    return 1;
}

# Compiles one program where it is missing or old.  Sets $tool->{binary} or $tool->{missing}.
sub build {
    my ($name, $tool, $source, $folder) = @_;
    return if $tool->{missing} || $tool->{binary};
    my @sources = glob("$source/epbench*.c");
    my $binary  = "$folder/epbench-$name";
    my @command = (@{ $tool->{enter} || [] }, $tool->{compiler}, '-std=gnu11', '-O2',
                   @{ $tool->{flags} }, '-o', $binary, @sources, '-lpthread');
    my $stamp = "$binary.command";
    my $last  = '';
    if (open(my $file, '<', $stamp)) { local $/; $last = <$file>; close($file); }
    if ($last ne "@command"
        || !newer($binary, @sources, glob("$source/epbench*.h"),
                  $tool->{stamp} || $tool->{compiler})) {
        my $failed = EpBench::Job::run(command => \@command, timeout => 120,
                                       out => "$binary.log", err => "$binary.err");
        if ($failed) {
            my ($line) = grep { /error|cannot/i } lines("$binary.err");
            $tool->{missing} = "$tool->{compiler}: $failed" . ($line ? ": $line" : '');
            return;
        }
        open(my $file, '>', $stamp) or die "$stamp: $!\n";
        print $file "@command";
        close($file);
    }
    $tool->{binary} = $binary;
    return;
}

sub lines {
    my ($path) = @_;
    open(my $file, '<', $path) or return ();
    my @lines = <$file>;
    close($file);
    chomp(@lines);
    return grep { /\S/ } @lines;
}

# How many processes a way has in a scenario.
sub num_processes {
    my ($way, $scenario, $pairs) = @_;
    return $way->{each} ? 2 * $pairs : $scenario->{processes};
}

# On two nodes of test/lib/cluster, which are network namespaces: what the command begins with, and
# options of mpirun.
sub on_nodes {
    my $lib = abs_path(dirname(__FILE__) . '/../../test/lib');
    return ([qw(env -u OMPI_MCA_btl_tcp_if_include OMPI_MCA_mca_base_param_files=/dev/null),
             "$lib/cluster", 'one'],
            ['--prtemca', 'plm_ssh_agent', "$lib/cluster-ssh", qw(--prtemca plm_ssh_no_tree_spawn 1),
             '--leave-session-attached', '--host', 'ept-a:64,ept-b:64', '--map-by', 'node'],
            ['--other', "$lib/cluster-ssh", 'ept-b']);
}

# The command and environment of one run.
sub command {
    my ($tools, $way, $scenario, $pairs, $cores, @arguments) = @_;
    my $tool = $tools->{ $way->{program} };
    my $name = $scenario->{name};
    my @run  = ($tool->{binary}, '--way', $way->{way} || $way->{name}, '--scenario', $name,
                '--pairs', $pairs, @arguments);
    push(@run, '--info', $way->{info}) if $way->{info};
    return (\@run, {}) if 'floor' eq $way->{name};
    my ($nodes, $mapping, $other) = 'net' eq $name ? on_nodes() : ([], [], []);
    return ([@$nodes, @run, @$other], {}) if 'fi' eq $way->{name};

    my @processes = ('-np', num_processes($way, $scenario, $pairs));
    my %env;
    my @launch = (@{ $tool->{enter} || [] }, $tool->{launcher});
    if ($way->{program} =~ /^mpich/) {
        # The argument check of MPI_Bcast in MPICH 4.2 refuses a root that is a thread's rank.
        $env{MPIR_CVAR_ERROR_CHECKING} = 0;
        # All that MPICH offers a crowd; its thread communicators take no notice.
        $env{MPIR_CVAR_POLLS_BEFORE_YIELD} = 1 if 2 * $pairs > $cores;
        %env = (%env, MPIR_CVAR_NOLOCAL => 1, UCX_TLS => 'tcp,self', UCX_NET_DEVICES => 'lo')
            if 'tcp' eq $name;
        return ([@launch, @processes, '-bind-to', 'none', @run], \%env);
    }
    if (0 == $>) {
        %env = (OMPI_ALLOW_RUN_AS_ROOT => 1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM => 1);
    }
    my $endpoints  = 'ep' eq ($way->{way} || $way->{name});
    my $under_epml = $endpoints || $way->{ordinary};
    my @options    = (@processes, '--bind-to', 'none', '--oversubscribe', @$mapping);
    push(@options, '--mca', 'mpi_yield_when_idle', 2 * $pairs > $cores ? 1 : 0);
    push(@options, '--mca', 'pml', 'ob1') unless $under_epml;
    if ($endpoints) {
        # What ob1 below may use; btl/tcp complains on machines with nothing but a loopback.
        push(@options, '--mca', 'btl', '^tcp') unless 'net' eq $name;
        push(@options, '--mca', 'btl_epshm_processes',
             $name =~ /^(?:shm|created)$/ ? 1 : 0);
        push(@options, '--mca', 'btl_epofi_provider', 'tcp', '--mca', 'btl_epofi_interface', 'lo')
            if 'tcp' eq $name;
    } elsif ('net' eq $name) {
        push(@options, '--mca', 'btl', 'self,tcp');
    } elsif ('tcp' eq $name) {
        push(@options, '--mca', 'btl', 'self,tcp', '--mca', 'btl_tcp_if_include', 'lo');
    } else {
        push(@options, '--mca', 'btl', 'self,sm');
    }
    push(@options, @{ $way->{mca} || [] });
    @launch = ($tools->{ep}{launcher}) if $way->{ordinary};
    return ([@$nodes, @launch, @options, @run], \%env);
}

# Why a way cannot run at all, or undef.
sub why_not {
    my ($tools, $way) = @_;
    return $tools->{ep}{missing} if $way->{ordinary} && $tools->{ep}{missing};
    return $tools->{ $way->{program} }{missing};
}

1;
