#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# The fuzzers of what comes off the network (test/fuzz).  By default they replay the corpus, and random
# changes of it, with the usual build.  Guided ones (--long) are a build of our library and components
# with clang, AddressSanitizer and libFuzzer's instrumentation, loaded into the stock Open MPI.

package Ept::Fuzz;

use strict;
use warnings;

use File::Path qw(make_path remove_tree);

my @FLAGS = ('-fsanitize=address,fuzzer-no-link', qw(-fno-omit-frame-pointer -g -O1));

# Open MPI closes components and opens them again, maybe elsewhere; libFuzzer goes on writing to the
# counters of those that it has seen.
my $LINK_FLAGS = '-Wl,-z,nodelete';

# What Open MPI and PMIx keep beyond MPI_Finalize.
my $SUPPRESSIONS = join '', map { "leak:$_\n" }
    qw(libpmix opal_os_path ompi_op_base_op_select ompi_comm_init_mpi3);

sub prefix
{
    my ($build) = @_;

    return "$build/fuzz-install";
}

# The smallest fuzzer there is: of a job, or of the build.
sub _probe
{
    my ($build, $job) = @_;

    return $job ? Ept::Build::job_file($build, $job, 'probe') : "$build/logs/fuzz-probe";
}

# Is there a clang with libFuzzer and AddressSanitizer?  Returns why not, or undef.
sub lacks
{
    my ($build, $job) = @_;
    my $probe = _probe($build, $job);

    open my $out, '>', "$probe.c" or die "$probe.c: $!\n";
    print $out "#include <stddef.h>\nint LLVMFuzzerTestOneInput(const unsigned char *d, size_t s);\n",
        "int LLVMFuzzerTestOneInput(const unsigned char *d, size_t s) { return d && s > 9; }\n";
    close $out;
    return 0 == system("clang -fsanitize=fuzzer,address -o '$probe' '$probe.c' >/dev/null 2>&1")
        ? undef : 'there is no clang with libFuzzer (Debian: libclang-rt-dev)';
}

# Configure, build and install, then the fuzzers; quick if nothing has changed.  Returns an error
# message, or undef.
sub build
{
    my ($top, $build, $cores) = @_;
    my ($tree, $prefix, $log) = ("$build/fuzz-build", prefix($build), "$build/logs/fuzz-build");
    my $configure = "cd '$tree' && '$top/configure' -q --prefix='$prefix' CC=clang CFLAGS='@FLAGS'"
        . " LDFLAGS='$LINK_FLAGS'";
    my $make = "make -s -C '$tree' -j $cores && make -s -C '$tree' install"
        . " && make -s -C '$tree/test' -j $cores fuzz/fuzz_epml fuzz/fuzz_epofi fuzz/fuzz_epwin";
    my $lacks = lacks($build);

    # Their old selves must not run instead.
    unlink map { "$tree/test/fuzz/$_" } qw(fuzz_epml fuzz_epofi fuzz_epwin);
    return $lacks if defined $lacks;
    return "$top/configure is missing: run autogen.pl" if !-x "$top/configure";
    make_path($tree);
    print STDERR "# building with clang for the fuzzers\n" if !-f "$tree/config.status";
    # One from a configure, or with flags, that have changed since is of no use.
    unlink "$tree/config.status"
        if -f "$tree/config.status"
        && (-M "$tree/config.status" > -M "$top/configure"
            || -M "$tree/config.status" > -M "$top/test/lib/Ept/Fuzz.pm");
    my $command = -f "$tree/config.status" ? $make : "($configure) && $make";
    return Ept::Build::make_logged($command, $log);
}

# Build those that replay, in a tree where configure and make have run.  Returns an error message, or
# undef.
sub build_replay
{
    my ($build, $tree, $cores) = @_;

    return 'no build tree (see --tree)' if !-d $tree;
    return Ept::Build::make_logged("make -s -C '$tree/test' -j $cores fuzz/replay_epml fuzz/replay_epofi"
                                       . ' fuzz/replay_epwin',
                                   "$build/logs/replay-build");
}

sub program
{
    my ($build, $job) = @_;

    return "$job->{tree}/test/fuzz/" . $job->{program} =~ s/^fuzz/replay/r if !$job->{guided};
    return "$build/fuzz-build/test/fuzz/$job->{program}";
}

# LeakSanitizer stops its process with ptrace, which some containers forbid.
my $leaks = 1;

sub _look_for_leaks
{
    my ($build, $job) = @_;
    my $probe = _probe($build, $job);

    $leaks = 0 == system("ASAN_OPTIONS=detect_leaks=1 '$probe' -runs=9 >/dev/null 2>&1") ? 1 : 0;
    print STDERR "# leaks cannot be looked for on this machine\n" if !$leaks;
}

# Folders and files of a job.  In corpus, libFuzzer leaves the inputs that reached something new.
sub corpus
{
    my ($build, $job) = @_;

    return "$build/fuzz-corpus/" . Ept::Build::job_name($job);
}

sub _segments
{
    my ($build, $job) = @_;

    return "$build/fuzz-shm/" . Ept::Build::job_name($job);
}

sub _suppressions
{
    my ($build, $job) = @_;

    return Ept::Build::job_file($build, $job, 'supp');
}

# A job's environment: the process is its own launcher; ob1 as the base and no patching of mmap, as
# under ThreadSanitizer; signals are libFuzzer's, and not Open MPI's or UCX's to catch; what ob1 leaves
# as shared memory is in a folder of ours.
sub environment
{
    my ($build, $job) = @_;

    return ('env', "FUZZ_LINK=$job->{link}", 'OMPI_MCA_pml=epml', 'OMPI_MCA_pml_epml_base=ob1',
            'OMPI_MCA_memory=^patcher', 'OMPI_MCA_opal_signal=', 'UCX_HANDLE_ERRORS=none',
            'OMPI_MCA_btl_sm_backing_directory=' . _segments($build, $job),
            "ASAN_OPTIONS=detect_leaks=$leaks:quarantine_size_mb=32:print_legend=0"
                . ':external_symbolizer_path=/usr/bin/addr2line',
            'LSAN_OPTIONS=suppressions=' . _suppressions($build, $job) . ':print_suppressions=0');
}

# How the names of files with inputs that have failed begin.
sub found_prefix
{
    my ($build, $job) = @_;

    return Ept::Build::job_file($build, $job, 'input-');
}

# The corpus of the project is read, a folder in front of it is written.
sub command
{
    my ($build, $job) = @_;

    return (environment($build, $job), program($build, $job),
            "-runs=$job->{runs}", "-seed=$job->{seed}", '-len_control=0', '-max_len=512',
            '-timeout=300', '-print_final_stats=1',
            '-artifact_prefix=' . found_prefix($build, $job), corpus($build, $job),
            "$job->{top}/test/fuzz/corpus/$job->{program}",
            grep { /^-\w+=/ } split ' ', $ENV{EPT_ARGS} // ''); # others are for the MPI tests
}

# How to run one input again.
sub command_for_input
{
    my ($build, $job, $file) = @_;

    return (environment($build, $job), program($build, $job), $file);
}

sub prepare
{
    my ($build, $job) = @_;

    my @folders = (corpus($build, $job), _segments($build, $job));
    my $file = _suppressions($build, $job);

    _look_for_leaks($build, $job) if $job->{guided};
    remove_tree(@folders);
    make_path(@folders);
    unlink glob found_prefix($build, $job) . '*';
    open my $out, '>', $file or die "$file: $!\n";
    print $out $SUPPRESSIONS;
    close $out;
}

1;
