#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Jobs under a checker: valgrind, ThreadSanitizer, libFuzzer; which of what they report is ours.

package Ept::Checkers;

use strict;
use warnings;

use Ept::Build;
use Ept::Command qw(command_of quote);
use Ept::Fuzz;
use Ept::Kinds;
use Ept::Session qw(run_command);
use Ept::Tsan;
use Ept::Verdict qw(explain status_words tap);

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

sub run_valgrind
{
    my ($build, $job) = @_;
    my (@ours, $failed);

    if (!Ept::Build::on_path('valgrind')) {
        print "1..0 # SKIP no valgrind\n";
        return 0;
    }
    my $log = Ept::Build::job_file($build, $job, 'valgrind');
    unlink glob "$log.*";
    my $result = run_command([command_of($build, $job)], $job->{timeout});
    my @logs = glob "$log.*";
    @ours = map { _our_records($_) } @logs;
    $Ept::Verdict::wrong = @ours;
    $failed = tap([
        [0 == $result->{status}, 'runs under valgrind: ' . status_words($result)],
        [$result->{out} =~ /^ok 1 /m && $result->{out} !~ /^not ok/m, 'and passes'],
        [$job->{np} <= @logs, 'every process left a log'],
        [!@ours, 'no leak and no invalid access of ours'],
    ]);
    print STDERR map { "# $_" } map { "$_\n" } map { split /\n/ } @ours;
    explain($build, $job, $result, 'see ' . join(' ', @logs)) if $failed;
    return $failed ? 1 : 0;
}

sub run_tsan
{
    my ($build, $job) = @_;

    if (!-x Ept::Tsan::prefix($build) . '/bin/epmpirun') {
        print "1..0 # SKIP no build with ThreadSanitizer\n";
        return 0;
    }
    Ept::Tsan::prepare($build, $job);
    my $result = run_command([command_of($build, $job)], $job->{timeout});
    my @reports = Ept::Tsan::reports($build, $job, $result->{err});
    $Ept::Verdict::wrong = @reports;
    my $failed = tap([
        [!$result->{timed_out}, 'runs under ThreadSanitizer: ' . status_words($result)],
        [$result->{out} =~ /^1\.\.\d+$/m && $result->{out} !~ /^not ok/m, 'and passes'],
        [!@reports, 'no data race of ours, nor what C does not define'],
    ]);
    print STDERR map { "# $_\n" } map { split /\n/ } @reports[0 .. (3 < @reports ? 2 : $#reports)];
    explain($build, $job, $result, scalar(@reports) . ' reports') if $failed;
    return $failed ? 1 : 0;
}

# Random input; what is found is kept, with the command that runs it again.
sub run_fuzz
{
    my ($build, $job) = @_;
    my ($wanted) = ($ENV{EPT_ARGS} // '') =~ /-runs=(\d+)/ ? $1 : $job->{runs};
    my $limit = $job->{timeout} * ($wanted > $job->{runs} ? $wanted / $job->{runs} : 1);

    if ($job->{guided} and defined(my $lacks = Ept::Fuzz::lacks($build, $job))) {
        print "1..0 # SKIP $lacks\n";
        return 0;
    }
    if (!-x Ept::Fuzz::program($build, $job)) {
        print "1..1\nnot ok 1 - $job->{program} was built: see $build/logs/*-build\n";
        return 1;
    }
    Ept::Fuzz::prepare($build, $job);
    my $result = run_command([command_of($build, $job)], $limit);
    my ($runs) = $result->{err} =~ /^Done (\d+) runs/m;
    my ($found) = glob Ept::Fuzz::found_prefix($build, $job) . '*';
    $Ept::Verdict::wrong = defined $found;
    my $failed = tap([
        [0 == $result->{status}, "$job->{program}: " . status_words($result)],
        [defined $runs && $wanted <= $runs, ($runs // 'not all') . " inputs of $wanted"],
        [!defined $found, 'none of them a crash, a leak, or against an invariant'],
    ]);
    # Each new path is a line of libFuzzer's; nobody reads shadow bytes.
    $result->{err} = join "\n", grep {
        !/^#\d+\s|^\s*NEW_FUNC|^INFO:|^Shadow byte|^(?:  |=>)0x[\da-f]+:/
    } split /\n/, $result->{err};
    explain($build, $job, $result, defined $found
             ? 'run that input: ' . quote(Ept::Fuzz::command_for_input($build, $job, $found))
             : 'it did not come to its end') if $failed;
    return $failed ? 1 : 0;
}

1;
