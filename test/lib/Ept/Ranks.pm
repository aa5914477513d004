#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that know nothing of endpoints (test/ranks): compiled by Open MPI's own wrappers, run with
# their ranks as threads.

package Ept::Ranks;

use strict;
use warnings;

use File::Basename qw(basename);

use Ept::Build;

my $FORTRAN = qr/\.[fF](?:90)?$/;
my $CXX = qr/\.cpp$/;

# The program of a job: one for each variant that is compiled differently.
sub program_file
{
    my ($build, $job) = @_;

    my $is_own = grep { defined } @$job{qw(flags compiler interface)};

    return join '.', "$build/ranks/$job->{program}", $is_own ? $job->{variant} // () : ();
}

sub _source
{
    my ($top, $program) = @_;
    my $path = "$top/test/ranks/$program";

    return $program =~ $FORTRAN ? $path : -f "$path.cpp" ? "$path.cpp" : "$path.c";
}

# The words that compile a source, or link a program that begins with this one.
sub _compiler
{
    my ($build, $job, $source) = @_;
    my %other = map { defined $job->{compiler} ? ("OMPI_$_->[0]" => $_->[1]) : () }
        [CC => $job->{compiler}], [CXX => ($job->{compiler} // '') . '++'];
    my @env = %other && $source !~ $FORTRAN ? ('env', map { "$_=$other{$_}" } sort keys %other) : ();
    my @flags = (qw(-Wall -pthread), split ' ', $job->{flags} // '-O2');

    return (@env, 'mpicxx', '-std=c++17', '-Wextra', @flags) if $source =~ $CXX;
    return ('mpifort', @flags, defined $job->{interface} ? '-DTEST_' . uc $job->{interface} : (),
            '-J' . program_file($build, $job) . '.modules') if $source =~ $FORTRAN;
    return (@env, 'mpicc', '-std=gnu11', '-Wextra', @flags);
}

sub _compile
{
    my ($build, $job, $source, @more) = @_;
    my $object = join '.', program_file($build, $job), basename($source), 'o';
    my $task = Ept::Build::compile_task($object, $source, _compiler($build, $job, $source),
                                        Ept::Build::declared($source, 'CFLAGS'), @more);

    # Fortran's compiler gives no list of what it reads.
    return $task if $source !~ $FORTRAN;
    @{ $task->{command} } = grep { !/^-M[MF]/ && !/\.d$/ } @{ $task->{command} };
    return { %$task, from => [$source] };
}

# EPT-LIBRARY: shared libraries of the program's own, one of each source.  EPT-PLUGIN: likewise; it
# opens them itself, as PROGRAM.SOURCE.so.
sub _library
{
    my ($build, $job, $source) = @_;
    my $object = _compile($build, $job, $source, '-fPIC');
    my $file = join '.', program_file($build, $job), basename($source) =~ s/\.\w+$//r, 'so';
    my @link = (_compiler($build, $job, $source), '-shared', '-Wl,-soname,' . basename($file));

    return ($object, { %{ Ept::Build::link_task($file, [$object->{out}], \@link) }, first => 1 });
}

sub _libraries
{
    my ($top, $build, $job, @names) = @_;

    return [map { _library($build, $job, "$top/test/ranks/$_") } @names];
}

# What has to be made for a job.
sub tasks
{
    my ($top, $build, $job) = @_;
    my $out = program_file($build, $job);
    my $source = _source($top, $job->{program});
    my @sources = ($source, "$top/test/ranks/check." . ($source =~ $FORTRAN ? 'F90' : 'c'),
                   map { "$top/test/ranks/$_" } Ept::Build::declared($source, 'PARTS'));
    my @objects = map { _compile($build, $job, $_) } @sources;
    my $libraries = _libraries($top, $build, $job, Ept::Build::declared($source, 'LIBRARY'));
    my $plugins = _libraries($top, $build, $job, Ept::Build::declared($source, 'PLUGIN'));
    my @files = grep { /\.so$/ } map { $_->{out} } @$libraries;

    if ($source =~ $FORTRAN) {
        mkdir "$out.modules";
        $_->{after} = 1 for @objects[1 .. $#objects];
    }
    return (@objects, @$libraries, @$plugins,
            Ept::Build::link_task($out, [(map { $_->{out} } @objects), @files],
                                  [_compiler($build, $job, $source)],
                                  @$libraries || @$plugins ? "-Wl,-rpath,$build/ranks" : (),
                                  Ept::Build::declared($source, 'LIBS')));
}

# Why a program cannot be compiled here, or nothing.
sub missing
{
    my ($job) = @_;

    return '' if !defined $job->{compiler} || Ept::Build::on_path($job->{compiler});
    return "no $job->{compiler}";
}

# What has the launcher run each process with its ranks as threads.
sub options
{
    my ($job) = @_;

    return ('-ranks', $job->{ep});
}

sub command
{
    my ($build, $job, @launcher) = @_;

    return (@launcher, $job->{ranks} ? options($job) : (),
            $job->{preload} ? ('-x', 'LD_PRELOAD=' . Ept::Build::preload_file($build, $job)) : (),
            program_file($build, $job),
            split(' ', $job->{args}), split(' ', $ENV{EPT_ARGS} // ''));
}

1;
