#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# ompi6.t BUILD-FOLDER: what .ci/run has run before, with Open MPI 6, so that the summary counts it.
# Debian sid changes by itself: what fails with an Open MPI that nobody has tried yet, or for want of
# a sid, is shown, and is no failure.
#
# Guards: .ci/run

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;

my $TRIED = qr/^6\.0\.0~rc2-/;

# The version of Open MPI in that Debian; undef: there is none.
sub version
{
    my $top = abs_path(dirname(__FILE__) . '/../..');

    open my $status, '<', "$top/.ep/ompi6/sysroot/var/lib/dpkg/status" or return undef;
    local $/ = '';
    while (my $package = <$status>) {
        return $1 if $package =~ /^Package: openmpi-bin$/m && $package =~ /^Version: (\S+)$/m;
    }
    return undef;
}

my $failed = $ENV{EP_SMOKE};
plan skip_all => 'only after the jobs on Open MPI 6 that .ci/run runs' if !defined $failed;
my $version = $failed ? version() : '';
plan skip_all => 'no Debian sid could be made' if !defined $version;
plan skip_all => "failures with Open MPI $version, which is new" if $failed && $version !~ $TRIED;
plan tests => 1;
is($failed, 0, './ep check --ompi 6 --smoke, whose failures are shown above');
