#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# The whole stack under ThreadSanitizer and UBSan: a second build of our library and components, loaded
# into the stock Open MPI, which is not instrumented.  So what is seen is what is ours.

package Ept::Tsan;

use strict;
use warnings;

use File::Path qw(make_path);

# Why it is no race:
#   ompi_comm_activate_nb, steps_request, cid_agreed, activated, module_construct, comm_query,
#     pending_free: steps of libmpi's nonblocking constructors run in whatever thread progresses them,
#     and libmpi, which is not seen, hands the result over; as it does with the request, through a free
#     list, from the thread that has waited for it.
#   mca_btl_epofi_socket_unwatch, mca_btl_epofi_predict_: a descriptor's number goes from the thread that
#     closes it to the one that gets it next, and what is kept of it with it, through the kernel.
#   idle_free: looks at a reference count of OPAL's, which it and libmpi drop by atomic operations: a
#     thread that sees that it has the last one is alone.
#   opal_lifo, opal_read_counted_pointer, wrap: OPAL's free lists, which work by a compare-and-swap of
#     128 bits, and the message objects that come out of them.
#   wait_sync_update: libmpi's way to wake a thread that waits for a request of a file, by words on its
#     stack; it waits, not seen, until they have been written.
#   check_vector_collectives, check_reduce_scatter, check_nonblocking, check_collectives: parts of
#     tests that read what a nonblocking collective has brought; libnbc, not seen, hands it over.
my $SUPPRESSIONS = join '', map { "race:$_\n" }
    qw(ompi_comm_activate_nb mca_pml_epml_cid_steps_request cid_agreed activated module_construct
       comm_query mca_btl_epofi_socket_unwatch mca_btl_epofi_predict_ idle_free
       mca_coll_epcoll_pending_free opal_lifo_ opal_read_counted_pointer wrap
       wait_sync_update
       check_vector_collectives check_reduce_scatter check_nonblocking check_collectives);

sub prefix
{
    my ($build) = @_;

    return "$build/tsan-install";
}

# Configure, build and install; quick if nothing has changed.  Returns an error message, or undef.
sub build
{
    my ($top, $build, $cores) = @_;
    my ($tree, $prefix, $log) = ("$build/tsan-build", prefix($build), "$build/logs/tsan-build");
    my $configure = "cd '$tree' && '$top/configure' -q --prefix='$prefix'"
        . " CFLAGS='-fsanitize=thread,undefined -g -O1' CPPFLAGS=-DEPML_CHECK_LOCKS=1";
    my $make = "make -s -C '$tree' -j $cores && make -s -C '$tree' install";

    return "$top/configure is missing: run autogen.pl" if !-x "$top/configure";
    make_path($tree);
    print STDERR "# building with ThreadSanitizer\n" if !-f "$tree/config.status";
    # One from a configure, or with flags, that have changed since is of no use.
    unlink "$tree/config.status"
        if -f "$tree/config.status"
        && (-M "$tree/config.status" > -M "$top/configure"
            || -M "$tree/config.status" > -M "$top/test/lib/Ept/Tsan.pm");
    my $command = -f "$tree/config.status" ? $make : "($configure) && $make";
    return Ept::Build::make_logged($command, $log);
}

# Where the processes of a job write their reports: to this, with a process's number behind it.
sub _log
{
    my ($build, $job) = @_;

    return Ept::Build::job_file($build, $job, 'tsan');
}

sub _suppressions
{
    my ($build, $job) = @_;

    return Ept::Build::job_file($build, $job, 'supp');
}

# Environment and command of a job: ob1 as the base, because Open MPI's hooks into mmap, which UCX
# wants, and ThreadSanitizer's do not go together; no randomized addresses, which PMIx's shared memory
# and ThreadSanitizer's own need each for themselves.
sub command
{
    my ($build, $job, $launch, @program) = @_;
    my ($epmpirun, @launch) = @$launch;

    return ('env', 'PMIX_MCA_gds=hash',
            'TSAN_OPTIONS=' . join(':', 'ignore_noninstrumented_modules=1', 'history_size=7',
                                   'report_thread_leaks=0', 'report_signal_unsafe=0',
                                   'suppressions=' . _suppressions($build, $job),
                                   'log_path=' . _log($build, $job)),
            'setarch', '-R', prefix($build) . '/bin/epmpirun', @launch,
            qw(--mca pml_epml_base ob1 --mca memory ^patcher), @program);
}

sub prepare
{
    my ($build, $job) = @_;
    my $file = _suppressions($build, $job);

    unlink glob _log($build, $job) . '.*';
    open my $out, '>', $file or die "$file: $!\n";
    print $out $SUPPRESSIONS;
    close $out;
}

# The reports of a run, without the suppressed ones.  UBSan's are in what the job has printed: where it
# is built together with ThreadSanitizer it takes no notice of log_path.  Those of functions in headers
# of Open MPI's, which adds lower bounds to addresses, are not ours.
sub reports
{
    my ($build, $job, $printed) = @_;
    my @reports = grep { !m{^\S*/include/openmpi/} } $printed =~ /^([^\n]* runtime error: [^\n]*)/mg;

    for my $log (sort glob _log($build, $job) . '.*') {
        open my $in, '<', $log or next;
        local $/;
        my $text = <$in>;
        close $in;
        push @reports, $text =~ /^(WARNING: ThreadSanitizer:.*?^SUMMARY:[^\n]*)/msg;
    }
    return @reports;
}

1;
