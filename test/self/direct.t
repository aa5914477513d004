#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# direct.t BUILD-FOLDER: how a libmpi calls its own functions is found out (config/direct-calls),
# and what ./ep makes of it.
#
# Guards: config/direct-calls, config/ep/machine.sh, libraries.c, originals.c, probe.c, slots.c

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;

use Ept::Build;

my $build = shift // die "usage: direct.t BUILD-FOLDER\n";
my $top = abs_path(dirname(__FILE__) . '/../..');
my $info = Ept::Build::on_path('ompi_info') // plan skip_all => 'no ompi_info';
my $folder = "$build/direct-self";
my $shims = tempdir(CLEANUP => 1);

plan skip_all => 'lib/direct-calls knows x86-64 only' if !Ept::Build::can_be_direct();

# What config/ep/machine.sh says, by the given commands, on a machine whose mpicc has this folder.
sub machine
{
    my ($libraries, $machine, $zydis, $commands) = @_;

    open my $out, '>', "$shims/mpicc" or die "$shims/mpicc: $!\n";
    print $out "#!/bin/sh\ncase \$1 in *version) echo 'mpicc: Open MPI 5.0.7' ;;\n"
        . "*incdirs) echo '$shims' ;; *libdirs) echo '$libraries' ;; esac\n";
    close $out;
    chmod 0755, "$shims/mpicc";
    return `bash -c 'top=\$0; PATH=$shims:\$PATH; . "\$top/config/ep/machine.sh"
                     unset EP_OMPI EP_MODE; uname() { echo $machine; }
                     has_zydis() { $zydis; }; pkg-config() { true; }; command() { true; }
                     $commands' '$top'` =~ s/\n(?=.)/ /gr =~ s/\n//r;
}

# What it lacks: "lacks|direct|unfit".
sub lacks
{
    return machine(@_, 'find_lacks; echo "$lacks|$direct|$unfit"');
}

# Where ./ep works, run by this user, and what it says of that.
sub choice
{
    my ($user, @machine) = @_;

    return machine(@machine, "id() { echo $user; }; " . 'debian="Debian 13"; say() { echo "$*"; }
                   die() { echo "$*"; exit; }; choose_mode; echo "mode $mode"');
}

sub calls
{
    return `'$top/config/direct-calls' @_` =~ s/\n//r;
}

is(system("$top/test/lib/direct-calls '$folder' '$info' >/dev/null"), 0, 'a libmpi was changed');
my ($library) = glob "$folder/*.so.*";
my ($file) = $library =~ m{([^/]+)$};
my ($stock) = `ldd '$info'` =~ /\Q$file\E => (\S+)/;
is(calls($stock), "slots $stock", 'the one that is installed calls through slots');
is(calls($library), "directly $library", 'the other one does not');
is(calls("$folder/none", $library), "directly $library", 'what is not there is passed over');
is(calls('/bin/sh'), 'unknown', 'of a file without these functions nothing is known');

# Where a linker looks.
symlink $file, "$folder/" . ($file =~ s/\.so.*/.so/r);
mkdir "$shims/$_" for qw(slots ompi ompi/mca ompi/mca/pml);
symlink $stock, "$shims/slots/" . ($file =~ s/\.so.*/.so/r);
open my $header, '>', "$shims/ompi/mca/pml/pml.h" or die "pml.h: $!\n";
close $header;
is(lacks("$shims/slots", 'x86_64', 'false'), '||', 'with slots a machine lacks nothing');
is(lacks($folder, 'x86_64', 'true'), '||', 'without them, with Zydis, neither');
is(lacks($folder, 'x86_64', 'false'), 'libzydis-dev|yes|', 'without Zydis it lacks that');
is(lacks($folder, 'aarch64', 'false'), '||', 'but not on aarch64');
is(lacks($folder, 'ppc64le', 'false'), '|yes|yes', 'elsewhere nothing helps');

my $fallback = qr/^working in a Debian 13 of its own: .* \(-Bsymbolic-functions\)/;
is(choice(0, "$shims/slots", 'x86_64', 'false'), 'mode native', 'with slots ./ep works here');
is(choice(0, $folder, 'x86_64', 'true'), 'mode native', 'without them, with Zydis, too');
like(choice(0, $folder, 'x86_64', 'false'),
     qr/$fallback, which takes libzydis-dev here mode sysroot$/,
     'without a way, as root, in a Debian of its own, and says so');
like(choice(0, $folder, 'ppc64le', 'false'), qr/$fallback mode sysroot$/,
     'likewise where there is none');
like(choice(1000, $folder, 'ppc64le', 'false'), qr/no remedy on ppc64le.*run .\/ep as root/,
     'another user is told which user can');
done_testing();
