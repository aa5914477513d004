#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Gets sources and packages from Debian, with apt, for tests that are not part of this project: into
# a folder, nothing is installed.  apt runs on settings of its own there; what the machine's apt
# knows stays as it is.  Signatures are checked as always.

package Ept::Debian;

use strict;
use warnings;

use File::Path qw(make_path remove_tree);

use Ept::Build;
use Ept::Session;

my $APT_HELPER = '/usr/lib/apt/apt-helper';
my $TIMEOUT = 300;

# Where packages may come from: what ./ep found out, what apt is set up with.  No other place is
# known here: the machine's own settings say it.
sub mirrors
{
    my ($top) = @_;
    my @mirrors = map { Ept::Build::read_file($_) =~ m{^(https?://\S+)}m }
        "$top/.ep/mirror", "$top/.ep/ompi6/mirror";
    my $result = Ept::Session::run_command([qw(apt-get --print-uris update)], 30);
    my %seen;

    push @mirrors, $result->{out} =~ m{^'(https?://[^']*/debian)/dists/}mg;
    return grep { !$seen{$_}++ } @mirrors;
}

sub _write
{
    my ($file, $text) = @_;

    open my $out, '>', $file or die "$file: $!\n";
    print $out $text;
    close $out or die "$file: $!\n";
}

sub _runs
{
    my (@command) = @_;
    my $result = Ept::Session::run_command(\@command, $TIMEOUT);

    print STDERR $result->{out}, $result->{err} if $ENV{EPT_VERBOSE};
    return 0 == $result->{status} && !$result->{timed_out};
}

# Settings in a new folder work, for one mirror and suite; kind is "deb" or "deb-src".
sub _settings
{
    my ($work, $kind, $mirror, $suite) = @_;

    remove_tree($work);
    make_path("$work/lists/partial", "$work/cache/archives/partial", "$work/source");
    _write("$work/sources.list", "$kind $mirror $suite main\n");
    _write("$work/apt.conf", <<"    END" =~ s/^ {8}//gmr);
        Dir::Etc::sourcelist "$work/sources.list";
        Dir::Etc::sourceparts "-";
        Dir::State::lists "$work/lists";
        Dir::Cache "$work/cache";
        Acquire::Languages "none";
        Acquire::Retries "1";
        Acquire::http::Timeout "20";
        APT::Sandbox::User "";
        APT::Install-Recommends "0";
        Debug::NoLocking "1";
    END
    return "$work/apt.conf";
}

# One attempt: the archive of the upstream source, in work, or nothing.
sub source
{
    my ($work, $mirror, $suite, $package) = @_;

    local $ENV{APT_CONFIG} = _settings($work, 'deb-src', $mirror, $suite);
    _runs('apt-get', 'update') or return undef;
    _runs('sh', '-c', 'cd "$0" && apt-get source --download-only "$1"', "$work/source", $package)
        or return undef;
    return (glob "$work/source/${package}_*.orig.tar.*")[0];
}

# Unpacks of an archive what is under these paths, with wildcards; apt's helper undoes what tar
# alone may not be able to.
sub unpack_source
{
    my ($archive, $folder, @paths) = @_;

    make_path($folder);
    return _runs('sh', '-c', 'helper=$1 archive=$2 folder=$3; shift 3;'
                 . ' "$helper" cat-file "$archive" | tar -x -C "$folder" --wildcards "$@"',
                 'sh', $APT_HELPER, $archive, $folder, @paths);
}

# One attempt: these packages and what they need and this machine lacks, unpacked in folder.  The
# `develop` are unpacked without what they need: their headers are all that is wanted.
sub packages
{
    my ($work, $mirror, $suite, $folder, $run, $develop) = @_;

    local $ENV{APT_CONFIG} = _settings($work, 'deb', $mirror, $suite);
    _runs('apt-get', 'update') or return 0;
    _runs(qw(apt-get install -y --download-only), @$run) or return 0;
    _runs('sh', '-c', 'cd "$0" && apt-get download "$@"', "$work/source", @$develop) or return 0;
    make_path($folder);
    for my $package (glob("$work/cache/archives/*.deb"), glob("$work/source/*.deb")) {
        _runs('dpkg-deb', '-x', $package, $folder) or return 0;
    }
    return 1;
}

1;
