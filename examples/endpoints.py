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

import ctypes
import sys
import threading
from array import array

import mpi4py

mpi4py.rc.fast_reduce = False   # or allreduce of objects would wait for ever: docs/python.md
from mpi4py import MPI


def create_endpoints(parent, count, info=MPI.INFO_NULL):
    """The handles of a communicator in which this process has count ranks."""
    try:
        # It is in the process already, brought by the component that epmpirun selects.
        create = ctypes.CDLL("libmpix_endpoints.so.0").MPIX_Comm_create_endpoints
    except OSError:
        sys.exit("endpoints.py: no endpoints here; start it with epmpirun")
    handles = (ctypes.c_void_p * max(count, 1))()
    create.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    code = create(parent.handle, count, info.handle, handles)   # without the GIL
    if code != MPI.SUCCESS:
        raise MPI.Exception(code)
    kind = MPI.Intercomm if parent.Is_inter() else MPI.Intracomm
    return [kind.fromhandle(handle) for handle in handles[:count]]


def be_a_rank(comm, result):
    rank, size = comm.Get_rank(), comm.Get_size()

    # Objects, pickled.
    heard = comm.sendrecv({"from": rank}, dest=(rank + 1) % size, source=(rank - 1) % size)
    # Collectives, with buffers and with objects.
    total = array("q", [0])
    comm.Allreduce(array("q", [rank]), total)
    seen = comm.allreduce([heard["from"]])

    right = (heard["from"] == (rank - 1) % size and total[0] == size * (size - 1) // 2
             and sorted(seen) == list(range(size)))
    comm.Free()
    result.append((rank, size, right))


def main():
    count = int(sys.argv[1]) if 1 < len(sys.argv) else 4
    world = MPI.COMM_WORLD
    comms = create_endpoints(world, count)
    result = []
    threads = [threading.Thread(target=be_a_rank, args=(comm, result)) for comm in comms]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    right = world.allreduce(len(result) == count and all(r[2] for r in result), op=MPI.LAND)
    if world.Get_rank() == 0:
        print("endpoints.py: %d processes, %d endpoints: %s"
              % (world.Get_size(), result[0][1], "right" if right else "WRONG"), flush=True)
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
