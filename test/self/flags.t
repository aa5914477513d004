#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# flags.t BUILD-FOLDER: what the library and the components are made of compiles without a warning
# with the flags of a distribution; what has changed since is compiled again.  Unit tests are compiled
# with these flags anyway: Ept/Build.pm.
#
# Guards: config/ep_check_compiler.m4, packaging/debian/rules

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Path qw(make_path);
use Test::More;
use Text::ParseWords qw(shellwords);

use Ept::Build;
use Ept::Flags;

my $build = shift // die "usage: flags.t BUILD-FOLDER\n";
my $top = dirname(dirname(dirname(__FILE__)));
my $tree = dirname(dirname($build)) . '/build';
my @COMPONENTS = qw(ompi/mpiext/endpoints ompi/mca/pml/epml ompi/mca/coll/epcoll ompi/mca/osc/epwin
                    opal/mca/btl/epshm opal/mca/btl/epofi);

plan(skip_all => 'a compiler that changes by itself') if '6' eq ($ENV{EP_OMPI} // '');
plan(skip_all => 'no build tree') if !-f "$tree/config.status";

# What make would compile there, and by which command, but for libtool and CFLAGS.
my @tasks;
for my $component (@COMPONENTS) {
    my $rule = 'tell:;@:$(info $(CC) $(AM_CPPFLAGS) $(AM_CFLAGS))$(info $(am__depfiles_remade))';
    my ($command, $made)
        = split /\n/, `make -s -C '$tree/$component' --no-print-directory --eval='$rule' tell`;
    my @names = map { s{(?:^|/)\K\.deps/|^\./}{}gr } ($made // '') =~ m{(\S+)\.Pl?o\b}g;
    # What it does not build here, another version of Open MPI needs.
    my @built = grep { -f "$tree/$component/$_.lo" || -f "$tree/$component/$_.o" } @names;
    my @sources = grep { -f } map { "$top/$component/$_.c" } @built;
    my @command = (shellwords($command), "-I$tree/$component", "-I$top/$component", '-fPIC',
                   Ept::Flags::distribution(), '-g0');

    cmp_ok(scalar(@sources), '>', 0, "$component: " . @sources . ' sources');
    for my $source (@sources) {
        my $out = "$build/flags/" . ($source =~ s{^\Q$top\E/}{}r =~ tr{/}{.}r) . '.o';
        push @tasks, Ept::Build::compile_task($out, $source, @command);
    }
}
make_path("$build/flags");
is(join("\n", Ept::Build::make_tasks(\@tasks)), '', 'compile without a warning');
done_testing();
