#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# clang.t BUILD-FOLDER: library and components compile with clang, without a warning, and the short selection
# of the MPI tests runs with them.
#
# Guards: configure.ac

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use Test::More;

use Ept::Build;

my $build = shift // die "usage: clang.t BUILD-FOLDER\n";
my $top = dirname(dirname(dirname(__FILE__)));
my $folder = "$build/clang";

sub works
{
    my ($what, $command) = @_;
    my $log = `( $command ) 2>&1`;

    is($?, 0, $what) or diag(Ept::Build::last_lines($log, 60));
    done_testing(), exit if 0 != $?;
    return $log;
}

plan(skip_all => 'no clang') if !Ept::Build::on_path('clang');
remove_tree($folder);
make_path("$folder/build");
works('configures', "cd '$folder/build' && '$top/configure' -q CC=clang --prefix='$folder/installed'"
    . " CFLAGS='-O2 -Wall -Wextra -Werror'");
works('compiles without a warning', "make -s -j 2 -C '$folder/build'");
works('installs', "make -s -C '$folder/build' install");
works('the tests pass',
      "env -u EPT_RUN_TESTS EP_BUILD='$folder/programs' PATH='$folder/installed/bin:$ENV{PATH}'"
      . " '$top/test/run-tests' --quick --no-unit --only '^(?!.*:direct)'");
remove_tree($folder);
done_testing();
