# Copyright (c) 2026      The Open MPI Endpoints project contributors.
#                         All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# The ways that are compared, the scenarios, and the command that runs one way in one scenario.

package EpBench::Ways;

use strict;
use warnings;

use File::Basename qw(dirname);

use EpBench::Job;

# title: in sentences and legends; program: which build; way: what epbench calls it; each: a process
# per worker; optional: only if asked for; ordinary: no endpoints, but under pml/epml.
our @WAYS = (
    { name => 'ep', title => 'endpoints', program => 'ep' },
    { name => 'ep-funneled', title => 'endpoints, funneled', program => 'ep', way => 'ep',
      info => 'mpix_thread_level=funneled', optional => 1 },
    { name => 'ep-before', title => 'endpoints of --against', program => 'before', way => 'ep',
      optional => 1 },
    { name => 'proc', title => 'ob1, processes', program => 'ompi', each => 1 },
    { name => 'proc-multiple', title => 'ob1, processes, multiple', program => 'ompi', each => 1,
      optional => 1 },
    { name => 'thread', title => 'ob1, threads', program => 'ompi' },
    { name => 'threadcomm', title => 'MPICH threadcomm', program => 'mpich' },
    { name => 'proc-epml', title => 'processes under epml', program => 'ompi', way => 'proc',
      each => 1, ordinary => 1 },
    { name => 'floor', title => 'floor of the machine', program => 'ompi' },
);
our %WAY = map { $_->{name} => $_ } @WAYS;

our @SCENARIOS = (
    { name => 'in', title => 'In one process', plot => 'in one process', processes => 1 },
    { name => 'tcp', title => 'Across two processes, TCP loopback',
      plot => 'across two processes over TCP', processes => 2 },
    { name => 'shm', title => 'Across two processes, shared memory',
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

# program => { compiler, launcher, flags }, or { missing => why }.  $before: the folder in which
# other endpoints are installed, or undef.
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
    $tools{mpich} = $mpich_cc && $mpich_run
        ? { compiler => $mpich_cc, launcher => $mpich_run, flags => ['-DHAVE_THREADCOMM'] }
        : { missing => 'MPICH is not installed (package libmpich-dev)' };
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
    return if $tool->{missing};
    my @sources = glob("$source/epbench*.c");
    my $binary  = "$folder/epbench-$name";
    my @command = ($tool->{compiler}, '-std=gnu11', '-O2', @{ $tool->{flags} }, '-o', $binary,
                   @sources, '-lpthread');
    my $stamp = "$binary.command";
    my $last  = '';
    if (open(my $file, '<', $stamp)) { local $/; $last = <$file>; close($file); }
    if ($last ne "@command"
        || !newer($binary, @sources, glob("$source/epbench*.h"), $tool->{compiler})) {
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

# The command and environment of one run.
sub command {
    my ($tools, $way, $scenario, $pairs, $cores, @arguments) = @_;
    my $tool = $tools->{ $way->{program} };
    my $name = $scenario->{name};
    my @run  = ($tool->{binary}, '--way', $way->{way} || $way->{name}, '--scenario', $name,
                '--pairs', $pairs, @arguments);
    push(@run, '--info', $way->{info}) if $way->{info};
    return (\@run, {}) if 'floor' eq $way->{name};

    my @processes = ('-np', num_processes($way, $scenario, $pairs));
    my %env;
    if ('mpich' eq $way->{program}) {
        # The argument check of MPI_Bcast in MPICH 4.2 refuses a root that is a thread's rank.
        $env{MPIR_CVAR_ERROR_CHECKING} = 0;
        # All that MPICH offers a crowd; its thread communicators take no notice.
        $env{MPIR_CVAR_POLLS_BEFORE_YIELD} = 1 if 2 * $pairs > $cores;
        %env = (%env, MPIR_CVAR_NOLOCAL => 1, UCX_TLS => 'tcp,self', UCX_NET_DEVICES => 'lo')
            if 'tcp' eq $name;
        return ([$tool->{launcher}, @processes, '-bind-to', 'none', @run], \%env);
    }
    if (0 == $>) {
        %env = (OMPI_ALLOW_RUN_AS_ROOT => 1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM => 1);
    }
    my $endpoints  = 'ep' eq ($way->{way} || $way->{name});
    my $under_epml = $endpoints || $way->{ordinary};
    my @options    = (@processes, '--bind-to', 'none', '--oversubscribe');
    push(@options, '--mca', 'mpi_yield_when_idle', 2 * $pairs > $cores ? 1 : 0);
    push(@options, '--mca', 'pml', 'ob1') unless $under_epml;
    if ($endpoints) {
        # What ob1 below may use; btl/tcp complains on machines with nothing but a loopback.
        push(@options, '--mca', 'btl', '^tcp');
        push(@options, '--mca', 'btl_epshm_processes', 'shm' eq $name ? 1 : 0);
        push(@options, '--mca', 'btl_epofi_provider', 'tcp', '--mca', 'btl_epofi_interface', 'lo')
            if 'tcp' eq $name;
    } elsif ('tcp' eq $name) {
        push(@options, '--mca', 'btl', 'self,tcp', '--mca', 'btl_tcp_if_include', 'lo');
    } else {
        push(@options, '--mca', 'btl', 'self,sm');
    }
    my $launcher = $way->{ordinary} ? $tools->{ep}{launcher} : $tool->{launcher};
    return ([$launcher, @options, @run], \%env);
}

# Why a way cannot run at all, or undef.
sub why_not {
    my ($tools, $way) = @_;
    return $tools->{ep}{missing} if $way->{ordinary} && $tools->{ep}{missing};
    return $tools->{ $way->{program} }{missing};
}

1;
