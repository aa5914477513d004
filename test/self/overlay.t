#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# overlay.t BUILD-FOLDER: what config/overlay puts into an Open MPI's source tree is complete.  That
# it builds there is a matter of install/tree, which takes long.
#
# Guards: config/overlay

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $tree = tempdir(CLEANUP => 1);

# What is not for a tree: the ways into an Open MPI that is there already, and a newer one's texts
# and ABI.
my %outside = map { $_ => 1 } qw(fortran/special.c base/component_path.c base/show_help_own.c calls/abi.c calls/abi_init.c calls/abi_static.c calls/abi_world.c
    calls/next_function.c calls/ranks.c entry/entry.c entry/entry_aarch64.c entry/entry_x86_64.c
    interpose/enter.c interpose/in_force.c interpose/libraries.c interpose/originals.c
    interpose/slots.c hooks/hook_help.c);

sub put
{
    my ($file, $text) = @_;

    make_path(dirname("$tree/$file"));
    open my $out, '>', "$tree/$file" or die "$file: $!\n";
    print $out $text;
    close $out;
}

sub text_of
{
    my ($file) = @_;

    open my $in, '<', $file or return '';
    local $/;
    return <$in>;
}

sub overlay
{
    my $words = `'$top/config/overlay' '$tree' 2>&1`;

    return "$?: $words";
}

like(overlay(), qr/^[1-9]\d*: overlay: \S+ is no source tree of Open MPI$/m, 'a folder is no tree');
put($_, '') for qw(autogen.pl opal/mca/btl/btl.h);
put('VERSION', "major=6\nminor=0\nrelease=0\n");
like(overlay(), qr/^[1-9]\d*: overlay: \S+ is Open MPI 6.0, but must be 5.0/, 'not a newer one');
put('VERSION', "major=5\nminor=0\nrelease=7\n");
put('opal/mca/btl/epshm/gone.c', '');
like(overlay(), qr/^0: .*Open MPI 5\.0\.7/, 'Open MPI 5 is one');
like(overlay(), qr/^0: /, 'twice, too');
ok(!-e "$tree/opal/mca/btl/epshm/gone.c", 'what an older one has left is gone');

for my $folder (qw(opal/mca/btl/epshm opal/mca/btl/epofi ompi/mca/pml/epml
                   ompi/mca/coll/epcoll ompi/mca/osc/epwin ompi/mpiext/endpoints/c)) {
    my $makefile = text_of("$tree/$folder/Makefile.am");
    my ($project) = split m{/}, $folder;
    my @ours = grep { !$outside{$_} } map { s{^\Q$top/$folder\E/}{}r } glob "$top/$folder/{,*/,*/*/}*.c";
    # Those beside the folder by their base name.
    my @named = map { m{^\.\./} ? basename($_) : $_ }
        $makefile =~ m{(?<=\s)([\w./]+\.[ch])(?=\s)}g;

    unlike($makefile, qr/\@:\w+:\@/, "$folder: all is filled in");
    is(join(' ', grep { my $name = $_; !grep { $name eq $_ } @named } @ours), '', 'all is built');
    is(join(' ', grep { !-f "$tree/$folder/$_" && !-f "$tree/$project/mca/common/ep/$_" }
                      @named), '', 'and there');
    # Ours, that is: what a tree has itself is not here.
    my $header = qr{(?:\.\./)+\w+/\w+\.h|(?:\w+/)*\w*(?:epml|epcoll|epwin|common_ep|mpiext_endp)\w*\.h};
    my @missing;
    for my $file (glob "$tree/$folder/{,*/,*/*/}*.[ch]") {
        my @wanted = text_of($file) =~ /#\s*include "((?:\.\.\/)*$header)"/g;

        push @missing, grep { !-f dirname($file) . "/$_" && !-f "$tree/$_" } @wanted;
    }
    is("@missing", '', 'with all headers');
}
ok(-f "$tree/$_/configure.m4", "$_/configure.m4")
    for qw(opal/mca/btl/epshm opal/mca/btl/epofi ompi/mca/pml/epml ompi/mca/coll/epcoll
           ompi/mca/osc/epwin ompi/mpiext/endpoints);
ok(!-e "$tree/$_/mca/common/ep/Makefile.am", "$_: a folder of headers is no component") for qw(opal ompi);
done_testing();
