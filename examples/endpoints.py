#!/usr/bin/env python3
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# endpoints.py [THREADS]: Python threads that are ranks, with mpi4py 4.0 or later.  Each thread sends
# an object to the next rank, across threads and processes, then all add up their ranks.  What works
# so, and what waits for ever, is in docs/python.md.
#
#   epmpirun -n 2 python3 endpoints.py 4

import sys
from array import array

from mpix_endpoints import Pool     # before mpi4py.MPI
from mpi4py import MPI


def be_a_rank(comm):
    rank, size = comm.Get_rank(), comm.Get_size()

    # Objects, pickled.
    heard = comm.sendrecv({"from": rank}, dest=(rank + 1) % size, source=(rank - 1) % size)
    # Collectives, with buffers and with objects.
    total = array("q", [0])
    comm.Allreduce(array("q", [rank]), total)
    seen = comm.allreduce([heard["from"]])

    return (heard["from"] == (rank - 1) % size and total[0] == size * (size - 1) // 2
            and sorted(seen) == list(range(size)))


def main():
    world = MPI.COMM_WORLD
    with Pool(world, int(sys.argv[1]) if 1 < len(sys.argv) else 4) as pool:
        size = pool.comms[0].Get_size()
        right = world.allreduce(all(pool.run(be_a_rank)), op=MPI.LAND)
    if world.Get_rank() == 0:
        print("endpoints.py: %d processes, %d endpoints: %s"
              % (world.Get_size(), size, "right" if right else "WRONG"), flush=True)
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
