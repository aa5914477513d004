#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# files.t BUILD-FOLDER: what is installed: one version everywhere, nothing twice, nothing left open.
#
# Guards: docs/parameters.md, configure.ac, common_ep_parameters.h, pml_epml_parameters.c,
# btl_epofi_parameters.c, btl_epshm_parameters.c, coll_epcoll_component.c, coll_epcoll_parameters.c,
# coll_epcoll_variables.c, osc_epwin_component.c, osc_epwin_module.c, osc_epwin_parameters.c

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;

use Ept::Build;

my $top = dirname(dirname(dirname(__FILE__)));
my ($version) = Ept::Build::read_file("$top/configure.ac") =~ /^AC_INIT\(\[.*?\], \[(.*?)\]/m;

sub variable
{
    my ($name) = @_;

    chomp(my $value = `pkg-config --variable=$name mpix_endpoints`);
    return $value;
}

sub first
{
    my ($file, $pattern) = @_;

    return Ept::Build::read_file("$top/$file") =~ /$pattern/m ? $1 : undef;
}

# In the sources, what configure.ac cannot tell.
like($version, qr/^\d+\.\d+\.\d+$/, "configure.ac: $version");
is(first('NEWS.md', qr/^## (\S+)/m), $version, 'NEWS.md');
is(first('packaging/debian/changelog', qr/\A\S+ \((.*)-[^-]*\)/), $version, 'debian/changelog');
is(first('packaging/spack/packages/openmpi_endpoints/package.py', qr/^    version\("(.*?)"/m),
   $version, 'Spack');
my ($recipe) = glob "$top/packaging/easybuild/*.eb";
like($recipe, qr/-\Q$version\E-/, 'EasyBuild: the name of the file');
is(first($recipe =~ s{^\Q$top\E/}{}r, qr/^version = '(.*?)'/m), $version, 'EasyBuild');

my $header = 'ompi/mpiext/endpoints/c/mpiext_endpoints_c.h';
my @parts  = map { first($header, qr/^#define MPIX_ENDPOINTS_${_}_VERSION (\d+)\b/m) } qw(MAJOR MINOR RELEASE);
is(join('.', @parts), $version, 'the header of programs');

# A tarball has all pages.
my $pages = Ept::Build::read_file("$top/docs/Makefile.am");
for my $page (map { s{.*/}{}r } glob "$top/docs/*.md") {
    like($pages, qr/\s\Q$page\E\s/, "docs/Makefile.am: $page");
}

# In what is installed.
chomp(my $said = `pkg-config --modversion mpix_endpoints`);
is($said, $version, 'pkg-config');
my ($libdir, $components) = (variable('libdir'), variable('componentdir'));
like(Ept::Build::read_file("$libdir/cmake/mpix_endpoints/mpix_endpointsConfigVersion.cmake"),
     qr/PACKAGE_VERSION "\Q$version\E"/, 'CMake');
my @pages = qw(man1/epinfo.1 man1/epmpicc.1 man1/epmpirun.1 man1/eppython.1 man1/epranks.1
               man3/MPIX_Comm_create_endpoints.3
               man3/MPIX_Comm_merge.3 man3/MPIX_Init_endpoint.3 man3/MPIX_Query_endpoints_number.3
               man3/MPIX_Query_endpoints_support.3 man3/MPIX_Thread_attach.3 man7/mpix_endpoints.7);
for my $page (@pages) {
    my $text = Ept::Build::read_file(dirname($libdir) . "/share/man/$page");

    like($text, qr/^\.TH \S+ \d \S+ "Open MPI Endpoints \Q$version\E"/m, $page);
    unlike($text, qr/\@\w+\@/, 'is filled in');
}
# Each call has a page of its name, if only one that leads to another, which then names it.
$header = Ept::Build::read_file("$top/ompi/mpiext/endpoints/c/mpiext_endpoints_c.h");
my @calls = $header =~ /^MPIX_ENDPOINTS_DECLSPEC \S+ (MPIX_\w+)\(/mg;
cmp_ok(scalar(@calls), '>=', 20, 'calls in the header');
for my $call (@calls) {
    my $page = dirname($libdir) . "/share/man/man3/$call.3";
    my $text = -f $page ? Ept::Build::read_file($page) : '';

    $text = Ept::Build::read_file(dirname($libdir) . "/share/man/$1") if $text =~ /\A\.so (\S+)$/m;
    like($text, qr/^\.SH NAME\n(?:\w+, )*\Q$call\E(?:,| \\-)/m, "$call.3");
}
# Each program has its page, and the Debian packages have both.
my @listed = map { split /\n/, Ept::Build::read_file($_) } glob "$top/packaging/debian/*.install";
# dh_install's patterns, as far as there are any for these.
@listed = map { my $pattern = quotemeta($_) =~ s/\\\*/[^\/]*/gr; qr/^$pattern$/ } @listed;
for my $program (map { s{.*/}{}r } glob dirname($libdir) . '/bin/ep*') {
    ok(-f dirname($libdir) . "/share/man/man1/$program.1", "$program.1");
    for my $file ("bin/$program", "share/man/man1/$program.1") {
        ok(scalar(grep { "usr/$file" =~ $_ } @listed), "a Debian package has $file");
    }
}
# Where configure was told of a folder for it, as by ./ep.
SKIP: {
    skip 'no folder for the Python module', 1 if '' eq variable('pythondir');
    ok(-f variable('pythondir') . '/mpix_endpoints.py', 'the Python module');
}
my @files = map { s{.*/}{}r } glob "$components/*";
is("@{[grep { !/^mca_\w+\.so$|\.txt$|^modulefiles$/ } @files]}", '', 'only components and texts');
is(scalar(grep { /^mca_/ } @files), 5, 'five components');

# As Open MPI sees them.
my @lines = split /\n/, `epmpirun -n 1 ompi_info --parsable --all --level 9 2>&1`;
for my $component (qw(pml:epml coll:epcoll osc:epwin btl:epshm btl:epofi)) {
    my @versions = grep { /^mca:\Q$component\E:version:"component:/ } @lines;

    is("@versions", qq(mca:$component:version:"component:$version"), "ompi_info: $component");
}
my %seen;
$seen{$_}++ for grep { /^mca:\w+:ep\w+:param:[^:]*:value:/ } @lines;
ok(20 < keys %seen, 'ompi_info shows our parameters');
is(join(' ', grep { 1 < $seen{$_} } sort keys %seen), '', 'each once');

# The pages that have all of them are made of what was just seen.
my $folder = tempdir(CLEANUP => 1);
is(`'$top/docs/make-pages' '$folder' 2>&1`, '', 'docs/make-pages has no complaints');
for my $page (qw(parameters.md variables.md)) {
    is(`diff -u '$top/docs/$page' '$folder/$page' 2>&1`, '', "docs/$page is what ./ep docs makes");
}

# configure
SKIP: {
    skip 'no configure here', 2 if !-x "$top/configure";
    my $text = `cd /tmp && '$top/configure' --enable-degub --with-ompi-source=x 2>&1`;
    isnt($?, 0, 'configure does not take what it does not know');
    like($text, qr/error: unrecognized options: --enable-degub, --with-ompi-source/, 'and says it');
}

done_testing();
