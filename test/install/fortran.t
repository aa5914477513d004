#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# fortran.t BUILD-FOLDER: what Fortran has is what C has; the wrappers, pkg-config's flags and CMake compile a
# program, and it runs; Open MPI's own extensions are still there; manual pages show what there is.
#
# Guards: special.c, ompi/mpiext/endpoints/fortran/calls.txt, ompi/mpiext/endpoints/fortran/bindings.awk

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use Test::More;

use Ept::Build;
use Ept::Installed qw(output runs);

my $build = shift // die "usage: fortran.t BUILD-FOLDER\n";
my $here = dirname(__FILE__);
my $top = dirname(dirname($here));
my $extension = "$top/ompi/mpiext/endpoints";
my $folder = "$build/install-fortran";
# For C alone: what an endpoint is for Fortran, and C's variants of names.
my %FOR_C = map { $_ => 1 } qw(MPIX_Endpoint_c2f MPIX_Endpoint_f2c);

remove_tree($folder);
make_path($folder);

sub made
{
    my ($what, $more) = @_;

    return `awk -v make=$what @{[$more // '']} -f '$extension/fortran/bindings.awk' \\
        '$extension/c/mpiext_endpoints_c.h' '$extension/fortran/calls.txt'`;
}

sub compiles
{
    my ($what, $command, $source) = @_;
    my $file = "$folder/" . $what =~ s/\W+/_/gr . '.f90';

    open my $out, '>', $file or die "$file: $!\n";
    print $out $source;
    close $out;
    is(output("cd '$folder' && $command -Wall -c '$file'"), '', $what);
}

# ---- the list of calls, which needs no compiler --------------------------------------------------

my $header = Ept::Build::read_file("$extension/c/mpiext_endpoints_c.h");
my %in_c = map { $_ => 1 } $header =~ /\b(MPIX_\w+)\([^()]*(?:\([^()]*\)[^()]*)*\);/g;
my @calls = split ' ', made('names');
cmp_ok(scalar @calls, '>', 15, @calls . ' calls');
is("@{[grep { !$FOR_C{$_} && !{ map { $_ => 1 } @calls }->{$_} } sort keys %in_c]}", '',
   'fortran/calls.txt has all calls of mpiext_endpoints_c.h');
# The names for coarrays are Fortran's alone.
is("@{[grep { !$in_c{$_} && !/CAF/ } @calls]}", '', 'and no others');

# Each is in a manual page, as it is.
my $pages = join '', map { Ept::Build::read_file($_) =~ s/\\-/-/gr } glob "$extension/man/*.3.in";
for my $call (@calls) {
    my $synopsis = made('man', "-v only=$call");

    ok(-1 != index($pages, $synopsis), "$call: its manual page") or diag($synopsis);
}

# ---- what is installed -----------------------------------------------------------------------------

if (!Ept::Build::has_fortran()) {
    note('nothing for Fortran was built');
    done_testing();
    exit;
}

chomp(my $libdir = `pkg-config --variable=libdir mpix_endpoints-fort`);
my %exported = map { $_ => 1 } `nm -D --defined-only '$libdir/libmpix_endpoints.so'` =~ / [TW] (\S+)/g;
my @lacking;
for my $call (map { ($_, "P$_") } @calls) {
    my $f08 = lc "${call}_f08";
    my $is_handle = made('usempif08') =~ /bind\(C, name="$f08"\)/;

    push @lacking, grep { !$exported{$_} } lc $call, lc "${call}_", lc "${call}__", uc $call,
        $is_handle ? $f08 : ("${f08}_", "${f08}__", uc $f08);
}
is("@lacking", '', 'the library has all names that compilers make');

for my $wrapper (qw(epmpifort epmpif90 epmpif77)) {
    my ($include) = output("$wrapper --showme:incdirs") =~ /^(\S+)/;

    ok(-f "$include/mpif-ext.h", "$wrapper --showme:incdirs");
    like(output("$wrapper --showme:libs"), qr/^mpix_endpoints mpi\w*\b.* mpi\b/, "$wrapper --showme:libs");
    like(output("$wrapper --showme:version"), qr/^\Q$wrapper\E: Open MPI Endpoints \d.*^mpi\S+: Open MPI \d/ms,
         "$wrapper --showme:version");
    is(output("$wrapper '$here/asks.f90' -o '$folder/$wrapper'"), '', "$wrapper compiles");
}
runs("$folder/epmpifort", 'and it runs');
like(output("OMPI_LIBS=-lm OMPI_FCFLAGS=-DX epmpifort --showme x.f90"),
     qr/-I\S+ .*-DX .*-lmpix_endpoints -lm$/, "epmpifort with flags of the user's");

my $fc = output('epmpifort --showme:command');
my $flags = '$(pkg-config --cflags --libs mpix_endpoints-fort)';
is(output("$fc '$here/asks.f90' -o '$folder/pc' $flags"), '', "pkg-config's flags compile");
{
    local $ENV{LD_LIBRARY_PATH} = $libdir;
    runs("$folder/pc", 'and it runs');
}

# Open MPI's own extensions, where it has some; ours by their own names.
my $ours = 'print *, MPIX_ALIASED, OMPI_HAVE_MPI_EXT_ENDPOINTS';
for my $module (qw(mpi mpi_f08)) {
    my $ext = "${module}_ext";
    my $fault = "program p\n use $module\n use $ext\n implicit none\n print *, MPIX_ERR_PROC_FAILED\nend\n";

    compiles("module of ours for $module", 'epmpifort', "program p\n use $module\n use mpix_endpoints"
        . ('mpi' eq $module ? '' : '_f08') . "\n implicit none\n $ours\nend\n");
    compiles("$ext", 'epmpifort', "program p\n use $module\n use $ext\n implicit none\n $ours\nend\n");
    SKIP: {
        open my $out, '>', "$folder/has.f90" or die;
        print $out $fault;
        close $out;
        skip 'Open MPI has no fault tolerance', 1
            if 0 != system("cd '$folder' && \$(epmpicc --showme:command >/dev/null; command -v mpifort.openmpi"
                . " || command -v mpifort) -c has.f90 >/dev/null 2>&1");
        compiles("$ext has what Open MPI's has", 'epmpifort', $fault);
    }
}
compiles('an endpoint in a class(*)', 'epmpifort', "subroutine s(e, u)\n use mpi_f08_ext\n implicit none\n"
    . " type(MPIX_Endpoint), intent(in) :: e\n class(*), allocatable, intent(out) :: u\n"
    . " allocate(u, source=e)\nend\n");
is(output("cd '$folder' && epmpifort -shared -fPIC -Wl,-z,defs an_endpoint_in_a_class_.f90 -o class.so"), '',
   'and it links');

SKIP: {
    skip 'no cmake (Debian: cmake)', 6 if !Ept::Build::on_path('cmake');
    for my $order (qw(mpi ours)) {
        my $tree = "$folder/cmake-$order";
        my $log = output("FC=$fc cmake -S '$here/cmake' -B '$tree' -DORDER=$order -DLANGUAGE=Fortran -DSOURCE="
            . abs_path("$here/asks.f90") . " -DCMAKE_PREFIX_PATH='" . dirname($libdir) . "'");

        is($?, 0, "cmake, $order first") or diag($log);
        $log = output("cmake --build '$tree'");
        is($?, 0, 'and it compiles') or diag($log);
        runs("$tree/asks", 'and it runs');
    }
}

done_testing();
