#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Mutations (test/mutations): one change of a source each, that a test of the default selection must
# notice.  They are made in a copy of the project, with a build, an installation and test programs of
# its own, and its own runner.

package Ept::Mutations;

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Find ();
use File::Path qw(make_path);
use Time::HiRes qw(stat utime);

use Ept::Build;
use Ept::Session qw(run_command);
use Ept::Verdict qw(explain tap);

# The table: paragraphs of "name:", "file:", "from:", "to:" (parts of lines, \n between lines), "tests:".
sub all
{
    my ($top) = @_;
    my @mutations;

    for my $paragraph (split /\n\n+/, Ept::Build::read_file("$top/test/mutations")) {
        my %mutation = $paragraph =~ /^(name|file|from|to|tests): ?(.*)$/mg or next;

        s/\\n/\n/g for @mutation{qw(from to)};
        push @mutations, \%mutation;
    }
    return @mutations;
}

# Give the copy of the project the contents of the project; what is the same keeps its time.
sub _copy_project
{
    my ($top, $copy) = @_;

    File::Find::find({ no_chdir => 1, wanted => sub {
        my $path = substr $File::Find::name, length $top;

        if ($path =~ m{^/(?:\.git|\.ep|temp|build)$}) {
            $File::Find::prune = 1;
        } elsif (-d) {
            make_path("$copy$path");
        } elsif (-f && Ept::Build::read_file($_) ne Ept::Build::read_file("$copy$path")) {
            _write("$copy$path", Ept::Build::read_file($_));
            my (undef, undef, $mode, undef, undef, undef, undef, undef, @times) = stat;
            chmod $mode & 07777, "$copy$path";
            # Generated files must not look older than what they are made from.
            utime $times[0], $times[1], "$copy$path" if $path !~ /\.[ch]$/;
        }
    } }, $top);
}

sub _write
{
    my ($file, $text) = @_;

    open my $out, '>', $file or die "$file: $!\n";
    print $out $text;
    close $out;
}

# Does a test need what is built and installed?  Models do not, nor do unit tests that compile the
# sources which they test.
sub _needs_build
{
    my ($top, $test) = @_;
    my ($kind, $program) = split m{/}, $test;

    return 'unit' eq $kind ? Ept::Build::needs_component($top, $program) : 'model' ne $kind;
}

# Build and install the copy.  Returns an error message, or undef.
sub _build
{
    my ($home) = @_;
    my $tree = "$home/build";
    my $cores = Ept::Build::cores();
    my $make = "make -s -C '$tree' -j $cores && make -s -C '$tree' install";
    my $configure = "cd '$tree' && '$home/top/configure' -q --prefix='$home/install'";

    make_path($tree);
    return Ept::Build::make_logged(-f "$tree/config.status" ? $make : "($configure) && $make", "$home/log");
}

# Run tests in the copy.
sub _run_tests
{
    my ($home, $limit, @tests) = @_;

    local $ENV{PATH} = "$home/install/bin:$ENV{PATH}";
    local $ENV{EP_BUILD} = "$home/programs";
    local $ENV{TSAN_OPTIONS} = 'halt_on_error=1';       # one race is enough
    delete local $ENV{EPT_LINGER};
    return run_command(["$home/top/test/run-tests", '--tree', "$home/build", @tests], $limit);
}

# Forget what unit tests have compiled of a mutation that nothing else has, so that its file may become
# as old as it was: the components need not be built anew.
sub _forget_units
{
    my ($home, @tests) = @_;

    for my $test (@tests) {
        my (undef, $program, $flavour) = split m{/}, $test;

        unlink "$home/programs/test/unit/$program-$flavour.o", "$home/build/test/unit/$program.o";
    }
}

sub run
{
    my ($build, $job) = @_;
    my ($home, $mutation) = ("$build/mutations", $job->{mutation});
    my $file = "$home/top/$mutation->{file}";
    my @tests = split ' ', $mutation->{tests};

    make_path("$home/top");
    _copy_project($job->{top}, "$home/top");
    my $source = Ept::Build::read_file($file);
    my @times = (stat $file)[8, 9];
    my @places = $source =~ /\Q$mutation->{from}\E/g;
    if (1 != @places) {
        return tap([[0, "its place is in $mutation->{file} once, not " . @places . ' times']]) ? 1 : 0;
    }
    _write($file, $source =~ s/\Q$mutation->{from}\E/$mutation->{to}/r);
    my $builds = !-f "$home/build/config.status" || grep { _needs_build($job->{top}, $_) } @tests;
    my $problem = $builds ? _build($home) : undef;
    my $result = defined $problem ? { status => 2 << 8, err => $problem, out => '' }
        : _run_tests($home, $job->{timeout}, @tests);
    _write($file, $source);
    if (!$builds) {
        _forget_units($home, @tests);
        utime @times, $file;
    }
    my $failed = tap([
        [!defined $problem, 'compiles'],
        [1 == $result->{status} >> 8, "is noticed by one of @tests"],
    ]);
    explain($build, $job, { %$result, err => $result->{out} . $result->{err} },
            'nothing has noticed it') if $failed;
    return $failed ? 1 : 0;
}

1;
