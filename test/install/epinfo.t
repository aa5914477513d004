#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# epinfo.t: what epinfo says while others keep it waiting.  The second process begins when the first has said so.
#
# Guards: epinfo.c

use strict;
use warnings;

use File::Temp;
use Test::More;

my $folder = File::Temp->newdir('epinfo-XXXXXX', TMPDIR => 1);

$ENV{EPINFO_PATIENCE} = 1;
delete $ENV{PMIX_MCA_mca_base_param_files};

my $first  = "-n 1 sh -c 'exec epinfo 2>$folder/said'";
my $second = "-n 1 sh -c 'until test -s $folder/said; do sleep 0.1; done; exec epinfo'";
my $out    = qx(epmpirun --oversubscribe --bind-to none --mca btl_tcp_if_include lo $first : $second 2>&1);

is($?, 0, 'it goes on');
like($out, qr/, 2 processes with 1 endpoint each\nprocess 0-1 on /, 'and prints the table');
like(qx(cat $folder/said), qr/\Aepinfo: still waiting .*btl_tcp_if_exclude lo,docker0,virbr0\n\z/, 'what it has said');

done_testing();
