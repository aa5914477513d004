#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that use what is installed, as its tests run them: install/build, install/fortran.

package Ept::Installed;

use strict;
use warnings;

use Exporter qw(import);
use Test::More;

our @EXPORT_OK = qw(output runs);

# All that a command prints, without the last newline.
sub output
{
    my ($command) = @_;
    my $text = `$command 2>&1`;

    chomp $text;
    return $text;
}

# Does a program that asks.c or asks.f90 became find what there is?
sub runs
{
    my ($program, $what) = @_;

    is(output("epmpirun --oversubscribe -n 1 '$program'"), 'support 1, size 2, before 1', $what);
}

1;
