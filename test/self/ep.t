#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# ep.t: where ./ep takes --ompi (nothing is built for "help"), and what a Debian of ours lacks.
#
# Guards: ep, config/ep/sysroot.sh

use strict;
use warnings;

use File::Path qw(make_path);
use File::Temp;
use FindBin;
use Test::More;

my $ep = "$FindBin::Bin/../../ep";

delete @ENV{qw(EP_INSIDE EP_OMPI)};

sub answers
{
    my ($words, $right) = @_;

    like(scalar qx($ep $words 2>&1), $right, "./ep $words");
}

answers($_, qr/\Ausage: /) for '', 'help', 'help --ompi 6', '--ompi 6 help', '--ompi=6 help', '--ompi 6', 'help --ompi=5';
answers($_, qr/\Aep: the version of Open MPI is '7'/) for '--ompi 7 help', 'help --ompi=7', '--ompi=7';
answers($_, qr/\Aep: --ompi needs a version/) for '--ompi', 'help --ompi';
answers('--ompi 6 nosuch', qr/there is no command 'nosuch'/);

# What of gcc, make and gdb is not in a Debian whose records are these.
my $parts = "$FindBin::Bin/../../config/ep";
sub lacks
{
    my ($right, $what, %records) = @_;
    my $debian = File::Temp->newdir('ep-XXXXXX', TMPDIR => 1);

    make_path("$debian/etc");
    for my $name (keys %records) {
        open my $file, '>', "$debian/etc/$name" or die "$name: $!\n";
        print $file $records{$name};
        close $file;
    }
    my $asks = qq(. "$parts/sysroot.sh"; suite=trixie; lacking "$debian" gcc make gdb; echo "\${lacking[*]}");
    is(scalar qx(bash -c '$asks'), "$right\n", $what);
}

lacks('gcc make gdb', 'a Debian that is not finished');
lacks('gcc make gdb', 'another one', 'ep-packages' => "sid gcc make gdb\n");
lacks('gdb', 'one for the demo', 'ep-packages' => "trixie gcc make\n");
lacks('', 'one to which tests have added', 'ep-packages' => "trixie gcc make\n", 'ep-packages-added' => "g++\ngdb\n");
lacks('make', 'names are whole', 'ep-packages' => "trixie gcc automake gdb\n");

done_testing();
