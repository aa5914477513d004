#!/usr/bin/perl
#
# Copyright (c) 2026      The Open MPI Endpoints project contributors.
#                         All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# ep.t: where ./ep takes --ompi.  (Nothing is built for "help".)
#
# Guards: ep

use strict;
use warnings;

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

done_testing();
