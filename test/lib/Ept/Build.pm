#
# Copyright (c) 2026      The Open MPI Endpoints project contributors.
#                         All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Compiles the test programs that the chosen jobs need, those that are out of date, two at a time.
#
#   BUILD/ep/      MPI tests with endpoints (epmpicc -DHAVE_EP)
#   BUILD/plain/   the same without (mpicc)
#   BUILD/unit/    unit tests, one program per flavour

package Ept::Build;

use strict;
use warnings;

use POSIX ();

my @C_FLAGS = qw(-std=gnu11 -O1 -g -Wall -Wextra -pthread);
my @HARNESS = qw(ept ept_data ept_comm);
my %FLAVOURS = (
    plain => [],
    tsan => [qw(-fsanitize=thread)],
    asan => ['-fsanitize=address,undefined', '-fno-sanitize-recover=undefined',
             '-fno-omit-frame-pointer'],
);

sub on_path
{
    my ($program) = @_;

    for my $folder (split /:/, $ENV{PATH} // '') {
        return "$folder/$program" if -x "$folder/$program" && !-d _;
    }
    return undef;
}

# Which of the two builds of the MPI tests a job wants, with the program's base name.
sub mpi_builds
{
    my ($job) = @_;

    return () if 'unit' eq $job->{kind};
    return (['plain', $job->{program}]) if 'plain' eq $job->{kind};
    return (['ep', $job->{program}], ['plain', $job->{program}]) if 'ratio' eq $job->{kind};
    return (['ep', $job->{program}]);
}

# Words after "EPT-CFLAGS:" or "EPT-LIBS:" in a source's comment.
sub _declared
{
    my ($source, $what) = @_;
    my @words;

    open my $in, '<', $source or die "$source: $!\n";
    while (<$in>) {
        push @words, split ' ', $1 if m{EPT-\Q$what\E:\s*(.*?)\s*(?:\*/)?\s*$};
    }
    close $in;
    return @words;
}

sub _read
{
    my ($file) = @_;

    open my $in, '<', $file or return '';
    local $/;
    my $text = <$in>;
    close $in;
    return $text // '';
}

# Is the program newer than all it was made from, and made by the same command?
sub _up_to_date
{
    my ($out, $command) = @_;
    my $made = (stat $out)[9];
    my $rules = _read("$out.d");

    return 0 if !defined $made || _read("$out.cmd") ne "@$command" || '' eq $rules;
    $rules =~ s/\\\n//g;
    for my $file (map { split ' ' } map { s/^[^:]*://r } split /\n/, $rules) {
        my $changed = (stat $file)[9];
        return 0 if !defined $changed || $changed > $made;
    }
    return 1;
}

# A task: the program, the command that makes it.
sub _task
{
    my ($out, @command) = @_;

    return { out => $out, command => [@command] };
}

sub _mpi_task
{
    my ($top, $build, $way, $program) = @_;
    my $folder = "$top/test/mpi";
    my $source = "$folder/$program.c";
    my @extra = _declared($source, 'CFLAGS');
    my @sources = ($source);

    # A program without the harness has a main() of its own.
    push @sources, map { "$folder/$_.c" } @HARNESS if _read($source) !~ /^int main\(/m;
    return _task("$build/$way/$program", 'ep' eq $way ? 'epmpicc' : 'mpicc', @C_FLAGS,
                 'ep' eq $way ? ('-DHAVE_EP') : (), @extra, '-MMD', '-MF',
                 "$build/$way/$program.d", '-o', "$build/$way/$program", @sources,
                 _declared($source, 'LIBS'));
}

sub _unit_task
{
    my ($top, $build, $program, $flavour) = @_;
    my $source = "$top/test/unit/$program.c";
    my $out = "$build/unit/$program-$flavour";

    return _task($out, $ENV{CC} || 'cc', @C_FLAGS, @{ $FLAVOURS{$flavour} }, "-I$top",
                 _declared($source, 'CFLAGS'), '-MMD', '-MF', "$out.d", '-o', $out, $source,
                 _declared($source, 'LIBS'));
}

# The tests that need more than one source say so in the Makefile; there they are built.
sub needs_tree
{
    my ($top, $program) = @_;

    return _read("$top/test/Makefile.am") =~ /^unit_${program}_LDADD\s*=/m;
}

# Can the compiler do this at all? Sanitizers are packages of their own on some systems.
sub flavour_works
{
    my ($build, $flavour) = @_;
    my $probe = "$build/unit/probe-$flavour";

    return 1 if !@{ $FLAVOURS{$flavour} };
    open my $out, '>', "$probe.c" or die "$probe.c: $!\n";
    print $out "int main(void) { return 0; }\n";
    close $out;
    my $cc = $ENV{CC} || 'cc';
    return 0 == system("$cc @{ $FLAVOURS{$flavour} } -o '$probe' '$probe.c' >/dev/null 2>&1");
}

# Run the tasks, as many at a time as there are cores; what compilers say goes to the terminal.
# Returns the programs that could not be made.
sub _run
{
    my ($tasks, $verbose) = @_;
    my @waiting = grep { !_up_to_date($_->{out}, $_->{command}) } @$tasks;
    my (%running, @failed);
    my $cores = () = _read('/proc/cpuinfo') =~ /^processor\s*:/mg;

    printf STDERR "# compiling %d test programs\n", scalar @waiting if @waiting;
    while (@waiting || %running) {
        while (@waiting && keys(%running) < ($cores || 1)) {
            my $task = shift @waiting;
            print STDERR "# @{ $task->{command} }\n" if $verbose;
            unlink "$task->{out}.cmd";
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

# Make everything that the jobs need. Returns the names of the programs that failed.
sub build
{
    my ($top, $build, $jobs, $verbose) = @_;
    my (%tasks, %works);

    for my $folder ($build, map { "$build/$_" } qw(ep plain unit logs)) {
        -d $folder or mkdir $folder or die "$folder: $!\n";
    }
    for my $job (@$jobs) {
        for my $want (mpi_builds($job)) {
            my $task = _mpi_task($top, $build, @$want);
            $tasks{ $task->{out} } = $task;
        }
        next if 'unit' ne $job->{kind} || $job->{tree};
        my $flavour = $job->{flavour};
        $works{$flavour} //= flavour_works($build, $flavour);
        if ($works{$flavour}) {
            my $task = _unit_task($top, $build, $job->{program}, $flavour);
            $tasks{ $task->{out} } = $task;
        }
    }
    return _run([map { $tasks{$_} } sort keys %tasks], $verbose);
}

1;
