#!/usr/bin/env python3
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# world_python.py THREADS: mpi4py as it is, under epmpirun -world: MPI.COMM_WORLD and MPI.COMM_SELF of each
# Python thread are its endpoint's, in a function that knows nothing of endpoints.
#
# Guards: comm_world.c

import sys
from array import array

from mpix_endpoints import Pool
from mpi4py import MPI


def plain(_):
    """Plain mpi4py: what is wrong, as a list of words."""
    world, wrong = MPI.COMM_WORLD, []
    rank, size = world.Get_rank(), world.Get_size()
    heard = world.sendrecv({"from": rank}, dest=(rank + 1) % size, source=(rank - 1) % size)
    total = array("q", [0])
    world.Allreduce(array("q", [rank]), total)
    copy = world.Dup() if size == 1 else world.Split(0, rank)
    expected = {
        "neighbour": (heard["from"], (rank - 1) % size),
        "sum": (total[0], size * (size - 1) // 2),
        "objects": (sorted(world.allgather(rank)), list(range(size))),
        "reduced": (world.allreduce(1), size),
        "compare": (MPI.Comm.Compare(world, MPI.COMM_WORLD), MPI.IDENT),
        "split": ((copy.Get_rank(), copy.Get_size()), (rank, size)),
        "self": ((MPI.COMM_SELF.Get_size(), MPI.COMM_SELF.sendrecv(rank, dest=0, source=0)), (1, rank)),
        "name": (world.Get_name(), "MPI_COMM_WORLD"),
        "tag": (world.Get_attr(MPI.TAG_UB) >= 32767, True),
    }
    copy.Free()
    try:
        world.Send(array("q", [0]), dest=size)
        wrong.append("no error")
    except MPI.Exception as error:
        expected["error"] = (error.Get_error_class(), MPI.ERR_RANK)
    wrong += ["%s: %r, not %r" % (what, *values) for what, values in expected.items()
              if values[0] != values[1]]
    return rank, size, wrong


def main():
    count = int(sys.argv[1])
    with Pool(MPI.COMM_WORLD, count, world=True) as pool:
        said = pool.run(plain)

    world = MPI.COMM_WORLD              # the process's again
    size = world.Get_size()
    first = world.Get_rank() * count
    right = ([s[0] for s in said] == list(range(first, first + count))
             and all(s[1] == size * count for s in said) and not any(s[2] for s in said))
    for rank, _, wrong in said:
        for words in wrong:
            print("# rank %d: %s" % (rank, words), file=sys.stderr)
    right = world.allreduce(right, op=MPI.LAND)
    if world.Get_rank() == 0:
        print("world_python.py: %d ranks: %s" % (size * count, "right" if right else "WRONG"), flush=True)
    sys.exit(0 if right else 1)


main()
