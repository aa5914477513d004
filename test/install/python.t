#!/usr/bin/perl
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# python.t: unmodified Python scripts with ranks as threads: an interpreter for each rank.
#
# Guards: ompi/mpiext/endpoints/tools/eppython.in, eppython_main.c

use strict;
use warnings;

use File::Temp qw(tempdir);
use Test::More;

plan(skip_all => 'no Python with mpi4py (Debian: python3-mpi4py)')
    if 0 != system(q(python3 -c 'import mpi4py' >/dev/null 2>&1));
plan(skip_all => 'no shared library of Python (Debian: libpython3.13 and its like)')
    if 0 != system(q(eppython -c '' >/dev/null 2>&1));

my $folder = tempdir('python-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $mpirun = 'epmpirun --oversubscribe --bind-to none';
$ENV{OMPI_MCA_btl_tcp_if_include} //= 'lo';
delete $ENV{PYTHONUNBUFFERED}; # lines in pieces

# What a script prints that is started so, and its status.
sub run_script
{
    my ($how, $text) = @_;

    open my $out, '>', "$folder/script.py" or die $!;
    print $out $text;
    close $out or die $!;
    my @lines = split /\n/, qx(timeout 60 $how $folder/script.py a 'b c' 2>$folder/errors);
    return (join("\n", sort @lines), $? >> 8);
}

# Modules and variables are a rank's own: each changes what others would see.
my $SCRIPT = <<'END';
import json, os, sys
from mpi4py import MPI

world = MPI.COMM_WORLD
json.rank = world.rank
os.environ["RANK_OF_MINE"] = str(world.rank)
data = world.bcast({"list": [1, 2]}, root=0)
total = world.allreduce(world.rank)
window = MPI.Win.Allocate(8, comm=world)
window.Fence()
window.Put(bytes([world.rank] * 8), (world.rank + 1) % world.size)
window.Fence()
left = window.tomemory()[0]
window.Free()
world.Barrier()
print(world.rank, "of", world.size, sys.argv[1:], data, total, left, json.rank, os.environ["RANK_OF_MINE"])
END

sub expected
{
    my ($ranks) = @_;
    my $total = $ranks * ($ranks - 1) / 2;

    return join "\n", map {
        sprintf "%d of %d ['a', 'b c'] {'list': [1, 2]} %d %d %d %d", $_, $ranks, $total,
            ($_ + $ranks - 1) % $ranks, $_, $_
    } 0 .. $ranks - 1;
}

for (["$mpirun -n 1 -ranks 4 eppython", 4], ["$mpirun -n 2 -ranks 2 eppython", 4],
     ["$mpirun -n 2 eppython", 2]) {
    my ($how, $ranks) = @$_;
    my ($text, $status) = run_script($how, $SCRIPT);

    is($text,   expected($ranks), $how);
    is($status, 0,                'its status');
}

my (undef, $status) = run_script("$mpirun -n 1 -ranks 2 eppython", "import sys\nfrom mpi4py import MPI\nsys.exit(3)\n");
is($status, 3, 'the status of sys.exit');

(my $text, $status) = run_script("$mpirun -n 1 -ranks 2 python3", "from mpi4py import MPI\nprint(MPI.COMM_WORLD.size)\n");
is("$status $text", '1 ', 'python3 cannot have ranks as threads');
like(qx(cat $folder/errors), qr/^epmpirun -ranks: python3 does not need libmpi, .* 2 ranks as threads: use eppython/m,
     'which is said');

$ENV{EPPYTHON} = 'ep-no-python';
like(qx(eppython 2>&1), qr/^eppython: there is no ep-no-python in PATH: .* EPPYTHON\n\z/, 'no such Python');

done_testing();
