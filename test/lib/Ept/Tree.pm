#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# An Open MPI that has endpoints in it (config/overlay, docs/install.md): what it calls mpicc and
# mpirun is, for the tests, epmpicc and epmpirun.

package Ept::Tree;

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Path qw(make_path);

# The one that is meant, or undef: run-tests --in PREFIX, and for what it starts, EPT_IN.
sub prefix
{
    return $ENV{EPT_IN};
}

# A name for it that is one word, for a folder of its own.
sub folder_name
{
    return 'in' . (prefix() =~ s/[^\w.-]+/_/gr);
}

sub _script
{
    my ($file, $command) = @_;

    open my $out, '>', $file or die "$file: $!\n";
    print $out "#!/bin/sh\n$command\n";
    close $out;
    chmod 0755, $file;
}

# Is it one?  Sets EPT_IN.
sub choose
{
    my ($prefix) = @_;
    my $path = abs_path($prefix) // $prefix;

    -x "$path/bin/mpicc" && -x "$path/bin/mpirun" or die "--in: no mpicc and mpirun in $path/bin\n";
    -f "$path/include/openmpi/mpiext/mpiext_endpoints_c.h"
        or die "--in: the Open MPI in $path was not built with endpoints (see docs/install.md)\n";
    $ENV{EPT_IN} = $path;
}

# Its commands first in PATH, and those that the tests know.  epinfo is no part of it: it is made.
sub enter
{
    my ($top, $build) = @_;
    my ($prefix, $bin) = (prefix(), "$build/bin");

    make_path($bin);
    _script("$bin/epmpicc", qq(exec "$prefix/bin/mpicc" "\$@"));
    # A PMIx whose configuration names a folder, as Debian's does, hides components that are loaded.
    _script("$bin/epmpirun",
            'export OMPI_MCA_pml="${OMPI_MCA_pml-epml}" '
            . qq(OMPI_MCA_opal_mca_base_component_path=SYSTEM_DEFAULT:USER_DEFAULT\n)
            . qq(exec "$prefix/bin/mpirun" "\$@"));
    $ENV{PATH} = "$bin:$prefix/bin:$ENV{PATH}";
    my $log = "$build/epinfo.log";
    my @include = map { "-I$_" } $top, "$prefix/include/openmpi", "$top/config/compat/include";
    my @command = ("$prefix/bin/mpicc", @include, '$(pkg-config --cflags pmix hwloc)',
                   '-o', "$bin/epinfo", "$top/ompi/mpiext/endpoints/tools/epinfo.c");
    print STDERR "# no epinfo, see $log\n"
        if !-x "$bin/epinfo" && 0 != system("@command >$log 2>&1");
}

# What says something of it: not what is about the way that it replaces, nor about another build of
# our own, nor Python, which has its own MPI; nor what is in front of other libraries and tells calls
# of ours from Open MPI's by the library that they come from; nor files, which are refused there, nor
# Fortran and options of epmpirun, which are not there.
sub applies
{
    my ($job) = @_;

    return !$job->{direct} && $job->{name} !~ /^(?:file_|comm_refused:files)/ && $job->{kind} !~ /^(?:tsan|python)$/
        && ($job->{preload} // '') !~ /^(?:fail_alloc|endless_fence)$/
        && $job->{program} !~ /\.[fF](?:90)?$/
        && ($job->{launcher} // '') !~ /(?:^| )--?(?:endpoints|asp|threadlevel) /;
}

1;
