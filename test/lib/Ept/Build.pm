#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Compiles the test programs that the chosen jobs need, those that are out of date, two at a time.
#
#   BUILD/ep/      MPI tests with endpoints (epmpicc -DHAVE_EP)
#   BUILD/abi/     the same in the MPI ABI (epmpicc_abi)
#   BUILD/plain/   the same without (mpicc)
#   BUILD/example/ the examples (epmpicc, epmpifort)
#   BUILD/ranks/   programs that know nothing of endpoints (Ranks.pm)
#   BUILD/f08/, mpi/, mpifh/ tests in Fortran, for one of its interfaces (epmpifort -DTEST_...)
#   BUILD/unit/    unit tests, one program per flavour

package Ept::Build;

use strict;
use warnings;
use feature 'state';

use File::Basename qw(basename dirname);
use POSIX ();
use Time::HiRes qw(stat);

use Ept::Flags;
use Ept::Fuzz;
use Ept::Ranks;
use Ept::Tsan;

my @FLAGS = qw(-O1 -g -Wall -Wextra -pthread);
my @C_FLAGS = ('-std=gnu11', @FLAGS);
my @HARNESS = qw(ept ept_data ept_comm);
my @FORTRAN_FLAGS = qw(-O1 -g -Wall -fopenmp);
my $FORTRAN = qr/\.[fF](?:90)?$/;
my %FLAVOURS = (
    plain => [Ept::Flags::distribution()],
    tsan => [qw(-fsanitize=thread)],
    asan => ['-fsanitize=address,undefined', '-fno-sanitize-recover=undefined',
             '-fno-omit-frame-pointer'],
    # For another machine, whose libraries are not here.
    aarch64 => ['-static'],
);

# Compiler, and what runs the program, of a flavour for another machine.
my %CROSS = (aarch64 => [qw(aarch64-linux-gnu-gcc qemu-aarch64)]);

sub _compiler
{
    my ($flavour) = @_;

    return $CROSS{$flavour} ? $CROSS{$flavour}[0] : $ENV{CC} || 'cc';
}

# What stands in front of the program's name on the command line.
sub emulator
{
    my ($flavour) = @_;

    return $CROSS{$flavour} ? $CROSS{$flavour}[1] : ();
}

sub on_path
{
    my ($program) = @_;

    for my $folder (split /:/, $ENV{PATH} // '') {
        return "$folder/$program" if -x "$folder/$program" && !-d _;
    }
    return undef;
}

# Which builds of a program a job wants, with the program's base name.
sub mpi_builds
{
    my ($job) = @_;

    return () if $job->{kind} =~ /^(?:unit|mpich|self|model|perf|fuzz|tool|python|mutation)$/;
    return () if $job->{tbb} && !has_tbb();
    return () if $job->{program} =~ $FORTRAN && !has_fortran();
    return () if $job->{unmodified} && Ept::Ranks::missing($job);
    return (['ranks', basename(Ept::Ranks::program_file('', $job))]) if $job->{unmodified};
    return ([$job->{interface}, $job->{program}]) if $job->{interface};
    return ([$job->{kind}, $job->{program}]) if $job->{kind} =~ /^(?:plain|example|tsan)$/;
    return (['ep', $job->{program}], ['plain', $job->{program}]) if 'ratio' eq $job->{kind};
    return has_abi() ? (['abi', $job->{program}]) : () if $job->{abi};
    return (['ep', $job->{program}]);
}

# Is there a wrapper for the MPI ABI?  Open MPI has it from 6 on.
sub has_abi
{
    return defined on_path('epmpicc_abi');
}

# Is there a compiler of C++, and oneTBB?
sub has_tbb
{
    return defined on_path('epmpicxx')
        && 0 == system('echo "#include <oneapi/tbb/version.h>" | epmpicxx -E -x c++ - >/dev/null 2>&1');
}

# Is there something for Fortran?
sub has_fortran
{
    return defined on_path('epmpifort');
}

# 5 or 6, as its wrapper says.
sub ompi_series
{
    return `epmpicc --showme:version 2>/dev/null` =~ /Open MPI (\d+)\.\d/ ? $1 : 0;
}

# Words after "EPT-CFLAGS:", "EPT-LIBS:", "EPT-PARTS:" (further sources beside it) or "EPT-WITH:"
# (sources from elsewhere in the project, TOP/PATH) in a source's comment.
sub declared
{
    my ($source, $what) = @_;
    my @words;

    open my $in, '<', $source or die "$source: $!\n";
    while (my $line = <$in>) {
        push @words, split ' ', $1 if $line =~ m{EPT-\Q$what\E:\s*(.*?)\s*(?:\*/)?\s*$};
    }
    close $in;
    return @words;
}

sub read_file
{
    my ($file) = @_;

    open my $in, '<', $file or return '';
    local $/;
    my $text = <$in>;
    close $in;
    return $text // '';
}

# Is the result newer than all it was made from, and made by the same command?
sub _up_to_date
{
    my ($task) = @_;
    my ($out, $command) = ($task->{out}, "@{ $task->{command} }");
    my $made = (stat $out)[9];
    my @from = @{ $task->{from} };

    return 0 if !defined $made || read_file("$out.cmd") ne $command;
    if ($task->{compiles}) {
        # The compiler's own list of what it read.
        my $rules = $task->{command}[0] eq 'epmpifort' ? '' : read_file("$out.d") =~ s/\\\n//gr;
        push @from, map { split ' ' } map { s/^[^:]*://r } split /\n/, $rules;
        return 0 if !@from;
    }
    for my $file (@from) {
        my $changed = (stat $file)[9];
        return 0 if !defined $changed || $changed > $made;
    }
    return 1;
}

# What makes an object file; what makes a program from object files.
sub compile_task
{
    my ($out, $source, @command) = @_;

    return { out => $out, from => [], compiles => 1,
             command => [@command, '-MMD', '-MF', "$out.d", '-c', '-o', $out, $source] };
}

sub link_task
{
    my ($out, $objects, $command, @libs) = @_;

    return { out => $out, from => $objects,
             command => [@$command, '-o', $out, @$objects, @libs] };
}

# A source in Fortran, of which the compiler gives no list of what it reads: modules are installed with the
# wrapper.
sub _fortran_task
{
    my ($out, $source, @command) = @_;
    my $headers = $source =~ s{[^/]*$}{}r;

    return { out => $out, from => [$source, on_path('epmpifort'), glob("${headers}fortran*.inc")],
             compiles => 1, command => [@command, '-c', '-o', $out, $source] };
}

# A program in Fortran, of one source or, with EPT-PARTS, several, also in C.
sub _fortran_tasks
{
    my ($source, $build, $way, $program) = @_;
    my $folder = $source =~ s{/[^/]*$}{}r;
    # Modules of a program's own are in the folder of its objects.
    my @fc = ('epmpifort', @FORTRAN_FLAGS, '-DTEST_' . uc $way, "-J$build/$way", "-I$folder");
    my (@objects, @tasks);

    for my $file ($source, map { "$folder/$_" } declared($source, 'PARTS')) {
        push @objects, "$build/$way/" . $file =~ s{.*/}{}r . '.o';
        push @tasks, $file =~ $FORTRAN ? _fortran_task($objects[-1], $file, @fc)
                                       : compile_task($objects[-1], $file, 'epmpicc', @C_FLAGS);
        # What uses a module of the first one's comes behind it.
        $tasks[-1]{after} = $objects[0] if 1 < @objects && $file =~ $FORTRAN;
    }
    return (@tasks, link_task("$build/$way/$program", \@objects, \@fc));
}

# A program's source in one of the folders that a pattern names.
sub source_in
{
    my ($folders, $program) = @_;
    my $end = $program =~ $FORTRAN ? '' : '.{cpp,c}';
    my ($source) = grep { -f } glob "$folders/$program$end";

    return $source // die "$program: no source in $folders\n";
}

# An MPI test: the harness's objects are the same for all, and come first.
sub _mpi_tasks
{
    my ($top, $build, $way, $program) = @_;
    my $source = 'example' eq $way ? source_in("$top/examples", $program)
        : source_in("$top/test/mpi/*", $program);
    my $folder = dirname($source);

    return _fortran_tasks($source, $build, $way, $program) if $program =~ $FORTRAN;
    my %compilers = (
        ep => [qw(epmpicc -DHAVE_EP)],
        abi => [qw(epmpicc_abi -DHAVE_EP)],
        plain => ['mpicc'],
        example => [qw(epmpicc -fopenmp)],
        # Not as an option: epmpicc would link the archive for users, which has calls of MPI looked away from.
        tsan => ['env', 'OMPI_MPICFLAGS=-fsanitize=thread', Ept::Tsan::prefix($build) . '/bin/epmpicc',
                 '-DHAVE_EP'],
    );
    # What MPI 4.1, or OpenMP 5.1, advises against is tested all the same, as long as it is there.
    my @cc = $source =~ /cpp$/ ? ('epmpicxx', '-std=c++17', @FLAGS)
        : (@{ $compilers{$way} }, @C_FLAGS, '-Wno-deprecated-declarations',
           '-Wno-deprecated-openmp');
    my @with = map { s{^TOP/}{$top/}r } declared($source, 'WITH');
    my @own = (@cc, "-I$top/test/mpi", @with ? "-I$top" : (), declared($source, 'CFLAGS'));
    my (@objects, @tasks);

    # A program without the harness has a main() of its own.
    for my $part (read_file($source) =~ /^int main\(/m ? () : @HARNESS) {
        push @objects, "$build/$way/$part.o";
        push @tasks, compile_task($objects[-1], "$top/test/mpi/$part.c", @cc);
    }
    for my $file ($source, (map { "$folder/$_" } declared($source, 'PARTS')), @with) {
        push @objects, "$build/$way/" . $file =~ s{.*/}{}r =~ s{c(?:pp)?$}{o}r;
        push @tasks, compile_task($objects[-1], $file, @own);
    }
    return (@tasks,
            link_task("$build/$way/$program", \@objects, \@own, declared($source, 'LIBS')));
}

# What a job puts in front of other libraries: lib/NAME.c, with the parts that it names, as BUILD/ep/NAME.so,
# or BUILD/abi/NAME.so for a program of the MPI ABI.
sub preload_file
{
    my ($build, $job) = @_;

    return join('/', $build, $job->{abi} ? 'abi' : 'ep', "$job->{preload}.so");
}

sub _preload_tasks
{
    my ($top, $build, $job) = @_;
    my $source = "$top/test/lib/$job->{preload}.c";
    # Open MPI's own headers, from 6.0 on, include PMIx's, and some that it does not install.
    my @own = read_file($source) =~ m{#include "opal/}
        ? (split(' ', `pkg-config --cflags pmix`), '-idirafter', "$top/config/compat/include") : ();
    my @cc = ($job->{abi} ? 'epmpicc_abi' : 'epmpicc', @C_FLAGS, '-fPIC', @own);
    my @sources = ($source, map { "$top/test/lib/$_" } declared($source, 'PARTS'));
    my @objects = map { dirname(preload_file($build, $job)) . '/' . basename($_, '.c') . '.o' } @sources;

    return ((map { compile_task($objects[$_], $sources[$_], @cc) } 0 .. $#sources),
            link_task(preload_file($build, $job), \@objects, [@cc, '-shared'],
                      declared($source, 'LIBS')));
}

# Open MPI's libraries as if linked with -Bsymbolic-functions: where they are put; or where there are
# some that were linked so.
sub direct_folder
{
    my ($build) = @_;

    return $ENV{EPT_DIRECT} // "$build/direct";
}

# The tool that makes them knows one machine.
sub can_be_direct
{
    return 'x86_64' eq (POSIX::uname())[4];
}

# Makes them, of those that this program loads.  Returns the folder, if that failed.
sub _make_direct
{
    my ($top, $build, $program) = @_;
    my $folder = direct_folder($build);

    return () if defined $ENV{EPT_DIRECT};
    return 0 == system("$top/test/lib/direct-calls", $folder, $program) ? () : ($folder);
}

sub _unit_tasks
{
    my ($top, $build, $program, $flavour) = @_;
    my $source = "$top/test/unit/$program.c";
    my $out = "$build/unit/$program-$flavour";
    my @cc = (_compiler($flavour), @C_FLAGS, @{ $FLAVOURS{$flavour} }, "-I$top",
              declared($source, 'CFLAGS'));

    return (compile_task("$out.o", $source, @cc),
            link_task($out, ["$out.o"], \@cc, declared($source, 'LIBS')));
}

# The tests that need more than one source say so in the Makefile; there they are built.
sub needs_tree
{
    my ($top, $program) = @_;

    return read_file("$top/test/Makefile.am") =~ /^unit_${program}_LDADD\s*=/m;
}

# Those that test a component as it is built.
sub needs_component
{
    my ($top, $program) = @_;

    return read_file("$top/test/Makefile.am") =~ /^unit_${program}_LDADD\s*=\s*\$\(EP\w+_LIBS\)/m;
}

# Can the compiler do this at all? Sanitizers are packages of their own on some systems, and so are
# other machines.
sub flavour_works
{
    my ($build, $flavour) = @_;
    my $probe = "$build/unit/probe-$flavour.$$";

    return 1 if !@{ $FLAVOURS{$flavour} };
    open my $out, '>', "$probe.c" or die "$probe.c: $!\n";
    print $out "int main(void) { return 0; }\n";
    close $out;
    my $cc = _compiler($flavour);
    my $try = join ' ', emulator($flavour), "'$probe'";
    my $works = 0 == system("($cc @{ $FLAVOURS{$flavour} } -o '$probe' '$probe.c' && $try) "
                            . '>/dev/null 2>&1');
    unlink $probe, "$probe.c";
    return $works;
}

# What to say where it cannot.
sub flavour_lacks
{
    my ($flavour) = @_;

    return $CROSS{$flavour} ? "no @{ $CROSS{$flavour} } (Debian: gcc-aarch64-linux-gnu, qemu-user)"
                            : "the compiler has no $flavour";
}

sub cores
{
    state $cores = () = read_file('/proc/cpuinfo') =~ /^processor\s*:/mg;

    return $cores || 1;
}

# Run the tasks, as many at a time as there are cores; what compilers say goes to the terminal.
# Returns what could not be made.
sub _run
{
    my ($tasks, $verbose) = @_;
    my @waiting = @$tasks;
    my (%running, @failed);
    my $cores = cores();

    while (@waiting || %running) {
        while (@waiting && keys(%running) < $cores) {
            my $task = shift @waiting;
            print STDERR "# @{ $task->{command} }\n" if $verbose;
            unlink $task->{out}, "$task->{out}.cmd";
            my $pid = fork // die "fork: $!\n";
            if (0 == $pid) {
                { exec { $task->{command}[0] } @{ $task->{command} } }
                print STDERR "# cannot run $task->{command}[0]: $!\n";
                POSIX::_exit(127);
            }
            $running{$pid} = $task;
        }
        my $pid = wait;
        my $task = delete $running{$pid} or next;
        if (0 != $?) {
            push @failed, $task->{out};
            next;
        }
        open my $out, '>', "$task->{out}.cmd" or die "$task->{out}.cmd: $!\n";
        print $out "@{ $task->{command} }";
        close $out;
    }
    return @failed;
}

# First all objects, then all programs. Returns the files that could not be made.
sub make_tasks
{
    my ($tasks, $verbose) = @_;

    my @objects = grep { $_->{compiles} && !_up_to_date($_) } @$tasks;
    printf STDERR "# compiling %d test sources\n", scalar @objects if @objects;
    my @failed = _run([grep { !$_->{after} } @objects], $verbose);
    push @failed, _run([grep { $_->{after} } @objects], $verbose);
    push @failed, _run([grep { $_->{first} && !_up_to_date($_) } @$tasks], $verbose);
    my @programs = grep { !$_->{compiles} && !_up_to_date($_) } @$tasks;
    # What lacks an object cannot be linked; its old self must not run instead.
    my @lacking = grep { grep { !-e } @{ $_->{from} } } @programs;
    my %lacks = map { $_->{out} => 1 } @lacking;
    unlink keys %lacks;
    return (@failed, _run([grep { !$lacks{ $_->{out} } } @programs], $verbose));
}

# Make everything that the jobs need. Returns the files that could not be made.
sub build
{
    my ($top, $build, $jobs, $verbose) = @_;
    my (%tasks, %works, @wanted);

    for my $folder ($build, map { "$build/$_" } qw(ep abi plain example f08 mpi mpifh ranks tsan unit logs)) {
        -d $folder or mkdir $folder or die "$folder: $!\n";
    }
    if (grep { 'tsan' eq $_->{kind} } @$jobs) {
        # Without it the jobs skip themselves.
        my $problem = flavour_works($build, 'tsan') ? Ept::Tsan::build($top, $build, cores())
                                                    : 'the compiler has no ThreadSanitizer';
        if (defined $problem) {
            print STDERR "# $problem\n";
            $jobs = [grep { 'tsan' ne $_->{kind} } @$jobs];
        }
    }
    if (grep { $_->{guided} } @$jobs) {
        my $problem = Ept::Fuzz::build($top, $build, cores());
        print STDERR "# fuzzers: $problem\n" if defined $problem;
    }
    if (my ($job) = grep { 'fuzz' eq $_->{kind} && !$_->{guided} } @$jobs) {
        my $problem = Ept::Fuzz::build_replay($build, $job->{tree}, cores());
        print STDERR "# fuzzers: $problem\n" if defined $problem;
    }
    for my $job (@$jobs) {
        my @builds = mpi_builds($job);
        push @wanted, $job->{unmodified} ? (@builds ? Ept::Ranks::tasks($top, $build, $job) : ())
            : map { _mpi_tasks($top, $build, @$_) } @builds;
        push @wanted, _preload_tasks($top, $build, $job)
            if $job->{preload} && (!$job->{abi} || has_abi());
        next if 'unit' ne $job->{kind} || $job->{tree};
        my $flavour = $job->{flavour};
        $works{$flavour} //= flavour_works($build, $flavour);
        push @wanted, _unit_tasks($top, $build, $job->{program}, $flavour) if $works{$flavour};
    }
    $tasks{ $_->{out} } //= $_ for @wanted;
    my @failed = make_tasks([map { $tasks{$_} } sort keys %tasks], $verbose);
    my ($direct) = grep { $_->{direct} } @$jobs;
    push @failed, _make_direct($top, $build, "$build/ep/$direct->{program}")
        if $direct && can_be_direct() && !@failed;
    return @failed;
}

# The end of a text, of that many lines.
sub last_lines
{
    my ($text, $count) = @_;
    my @lines = split /^/m, $text;

    splice @lines, 0, -$count if $count < @lines;
    return join '', @lines;
}

# How the files of a job are called: jobs that run at the same time share none.
sub job_file
{
    my ($build, $job, $what) = @_;

    return "$build/logs/" . job_name($job) . ".$what";
}

sub job_name
{
    my ($job) = @_;

    return $job->{name} =~ tr{/:}{..}r;
}

# Run a shell command that builds something.  Returns undef, or what is wrong.
sub make_logged
{
    my ($command, $log) = @_;

    return undef if 0 == system("{ $command; } >'$log' 2>&1");
    return "no build, see $log; its errors:\n" . `grep -i -B1 -A3 'error:' '$log' || tail '$log'`;
}

1;
