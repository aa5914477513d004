#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# no_fortran.t BUILD-FOLDER: where there is no Fortran configure says so and goes on, and the rest is built;
# asked for, it is an error.
#
# Guards: config/ep_check_fortran.m4

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use Test::More;

use Ept::Build;

my $build = shift // die "usage: no_fortran.t BUILD-FOLDER\n";
my $top = abs_path(dirname(dirname(dirname(__FILE__))));
my $folder = "$build/no-fortran";

plan(skip_all => 'no configure here') if !-x "$top/configure";

# In a folder of its own.  Returns what it printed.
sub configured
{
    my ($where, $variables, @options) = @_;

    remove_tree("$folder/$where");
    make_path("$folder/$where");
    return `cd '$folder/$where' && env $variables '$top/configure' --prefix='$folder/to' @options 2>&1`;
}

my $text = configured('absent', 'OMPI_FC=no-such-compiler');
is($?, 0, 'configure goes on') or diag(Ept::Build::last_lines($text, 20));
like($text, qr/checking for Fortran\.\.\. no: there is no no-such-compiler, which \S+ calls/, 'and says why');
like($text, qr/^    Fortran: +none$/m, 'and in its summary');
my $log = `cd '$folder/absent' && make -s -C opal/mca/common/ep install 2>&1 &&
    make -s -C ompi/mpiext/endpoints install 2>&1`;
is($?, 0, 'the library is built') or diag(Ept::Build::last_lines($log, 20));
my $names = `nm -D --defined-only '$folder/to/lib/libmpix_endpoints.so'`;
like($names, qr/ MPIX_Comm_self$/m, 'with the calls of C');
unlike($names, qr/mpix_comm_self/, 'and none of Fortran');
is(join(' ', map { s{.*/}{}r } glob "$folder/to/{bin/epmpif*,include/*.mod,include/mpif*,lib/pkgconfig/*fort*}"),
   '', 'nothing for Fortran is installed');

$text = configured('asked', 'OMPI_FC=no-such-compiler', '--enable-fortran');
isnt($?, 0, '--enable-fortran: configure fails');
like($text, qr/Fortran, which --enable-fortran asks for: no: there is no no-such-compiler/, 'and says why');

SKIP: {
    skip 'nothing for Fortran was built', 2 if !Ept::Build::has_fortran();
    $text = configured('refused', '', '--disable-fortran');
    is($?, 0, '--disable-fortran: configure goes on');
    like($text, qr/checking for Fortran\.\.\. no, as asked for/, 'and says so');
}

done_testing();
