#!/usr/bin/env perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes ./configure and the Makefile.in files.  Needed after a checkout, not with a release.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);

# program, the oldest version that will do, the Debian package that has it
my @tools = (
    ["autoconf",   "2.69",  "autoconf"],
    ["automake",   "1.15",  "automake"],
    ["libtoolize", "2.4.6", "libtool"],
    ["pkg-config", "0.28",  "pkgconf"],
    ["m4",         "1.4",   "m4"],
);

# -1, 0 or 1, by the numbers in a version
sub compare_versions {
    my @a = split(/\./, shift);
    my @b = split(/\./, shift);
    while (@a || @b) {
        my $order = (shift(@a) // 0) <=> (shift(@b) // 0);
        return $order if ($order);
    }
    return 0;
}

chdir(dirname(abs_path($0))) or die("autogen.pl: $!\n");

my @missing;
foreach my $tool (@tools) {
    my ($program, $oldest, $package) = @$tool;
    my ($found) = map { /(\d+(?:\.\d+)+)/ ? $1 : () } qx($program --version 2>/dev/null);
    if (!defined($found)) {
        push(@missing, "$program: not in PATH; Debian package $package");
    } elsif (compare_versions($found, $oldest) < 0) {
        push(@missing, "$program: $found found, $oldest needed; Debian package $package");
    }
}
if (@missing) {
    die(map { "autogen.pl: $_\n" } @missing);
}

# autoreconf wants the folder of the generated macros to be there.
make_path("config/generated");
my @options = grep { /^(-f|--force|-v|--verbose)$/ } @ARGV;
exec("autoreconf", "--install", "--warnings=all,no-obsolete", @options)
    or die("autogen.pl: cannot run autoreconf: $!\n");
