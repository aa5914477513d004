#!/usr/bin/env python3
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# objects.py ENDPOINTS [fast]: what docs/python.md says that works with mpi4py, each thread a rank, and
# values checked.  "fast": what duplicates the communicator inside of mpi4py, which waits for ever unless
# there is one endpoint in each process.
#
# Guards: docs/python.md

import sys
from array import array

import mpi4py

FAST = sys.argv[2:] == ["fast"]
if FAST:
    from mpi4py import MPI  # before the next line could change the default
from mpix_endpoints import Pool
from mpi4py import MPI
from mpi4py.util import pkl5


def expect(wanted, got):
    if wanted != got:
        raise AssertionError("expected %r, got %r" % (wanted, got))


def messages(comm, rank, size):
    """Of buffers and of objects, with requests, probes and persistent requests."""
    to, back = (rank + 1) % size, (rank - 1) % size
    come, status = array("i", [0] * 1000), MPI.Status()

    request = comm.Irecv(come, back, 1)
    comm.Send(array("i", range(rank, rank + 1000)), to, 1)
    request.Wait(status)
    expect((list(range(back, back + 1000)), back), (list(come), status.Get_source()))
    requests = [comm.isend({"from": rank}, to, 2), comm.irecv(source=back, tag=2)]
    expect([None, {"from": back}], MPI.Request.waitall(requests))
    request = comm.issend("large" * 100000, to, 3)
    comm.Probe(MPI.ANY_SOURCE, 3, status)
    expect(back, status.Get_source())
    message = comm.mprobe(back, 3)
    expect("large" * 100000, message.recv())
    request.wait()
    out, come = array("i", [0]), array("i", [0])
    pair = [comm.Send_init(out, to, 4), comm.Recv_init(come, back, 4)]
    for i in range(5):
        out[0] = 10 * rank + i
        MPI.Prequest.Startall(pair)
        MPI.Request.Waitall(pair)
        expect(10 * back + i, come[0])
    large = pkl5.Intracomm(comm)
    request = large.isend(bytearray(b"x" * 300000), to, 5)
    expect(300000, len(large.recv(source=back, tag=5)))
    request.wait()


def collectives(comm, rank, size):
    """With buffers, and of objects, but for reductions."""
    ranks, mine, total = list(range(size)), array("q", [rank]), array("q", [0])

    request = comm.Iallreduce(mine, total)
    comm.Barrier()
    request.Wait()
    expect(sum(ranks), total[0])
    all_of = array("q", [0] * size)
    comm.Allgather(mine, all_of)
    expect(ranks, list(all_of))
    expect("root", comm.bcast("root" if rank == 1 % size else None, 1 % size))
    expect(ranks if rank == 0 else None, comm.gather(rank))
    expect(str(rank), comm.scatter([str(r) for r in ranks] if rank == 0 else None))
    expect(ranks, comm.allgather(rank))
    expect([(r, rank) for r in ranks], comm.alltoall([(rank, r) for r in ranks]))
    comm.barrier()


def reductions(comm, rank, size):
    """Of objects."""
    strings = "".join(str(r) for r in range(size))

    for _ in range(3):
        expect(strings if rank == 0 else None, comm.reduce(str(rank)))
        expect(strings, comm.allreduce(str(rank)))
        expect(strings[:rank + 1], comm.scan(str(rank)))
        expect(strings[:rank] if rank else None, comm.exscan(str(rank)))
        expect(size - 1, comm.allreduce(rank, op=MPI.MAX))


def large_objects(comm, rank, size):
    """Collectives of mpi4py.util.pkl5."""
    large = pkl5.Intracomm(comm)

    expect(["root"] * size, large.allgather(large.bcast("root" if rank == 0 else None)))
    expect(list(range(size)) if rank == 0 else None, large.gather(rank))


def communicators(comm, rank, size):
    """Made of it; deletions of attributes and reductions that call Python."""
    ended = []
    key = MPI.Comm.Create_keyval(delete_fn=lambda c, k, value: ended.append(value))

    for make in (lambda: comm.Dup(), lambda: comm.Split(0, -rank),
                 lambda: comm.Create(comm.Get_group()),
                 lambda: comm.Create_cart([size], periods=True)):
        new = make()
        new.Set_attr(key, (rank, size))
        expect(size, new.Get_size())
        expect([1] * size, new.allgather(1))
        new.Free()
    expect([(rank, size)] * 4, ended)
    MPI.Comm.Free_keyval(key)

    def add(a, b, datatype):
        two = memoryview(b).cast("q")
        for i, value in enumerate(memoryview(a).cast("q")):
            two[i] += value

    operation, total = MPI.Op.Create(add, commute=True), array("q", [0, 0])
    comm.Allreduce([array("q", [rank, 1]), MPI.INT64_T], [total, MPI.INT64_T], op=operation)
    expect([size * (size - 1) // 2, size], list(total))
    operation.Free()


def windows(comm, rank, size):
    """Each thread has a window handle: created, allocated, shared, dynamic; all kinds of epochs."""
    to, back = (rank + 1) % size, (rank - 1) % size
    own = array("q", [0] * 4)
    win = MPI.Win.Create(own, 8, comm=comm)
    win.Fence()
    win.Put(array("q", [rank]), to, 1)
    win.Fence()
    expect(back, own[1])
    total = array("q", [0])
    win.Lock_all()
    win.Accumulate(array("q", [rank + 1]), 0, 2, op=MPI.SUM)
    win.Flush(0)
    comm.Barrier()
    win.Fetch_and_op(array("q", [0]), total, 0, 2, op=MPI.NO_OP)
    win.Flush(0)
    expect(size * (size + 1) // 2, total[0])
    request = win.Rget(total, back, 1)
    request.Wait()
    expect((back - 1) % size, total[0])
    win.Unlock_all()
    group = win.Get_group()
    origin, target = group.Incl([back]), group.Incl([to])
    win.Post(origin)
    win.Start(target)
    win.Put(array("q", [100 + rank]), to, 3)
    win.Complete()
    win.Wait()
    expect(100 + back, own[3])
    comm.Barrier()
    win.Lock(back, MPI.LOCK_EXCLUSIVE)
    win.Compare_and_swap(array("q", [7]), array("q", [100 + (back - 1) % size]), total, back, 3)
    win.Unlock(back)
    expect(100 + (back - 1) % size, total[0])
    comm.Barrier()
    expect(7, own[3])
    for each in group, origin, target, win:
        each.Free()

    win = MPI.Win.Allocate(16, 8, comm=comm)
    memory = memoryview(win).cast("q")
    win.Fence()
    win.Put(array("q", [rank, 5]), to)
    win.Fence()
    expect([back, 5], list(memory[:2]))
    memory.release()
    win.Free()

    win = MPI.Win.Create_dynamic(comm=comm)
    win.Attach(own)
    places = comm.allgather(MPI.Get_address(own))
    win.Lock(to, MPI.LOCK_SHARED)
    win.Put(array("q", [200 + rank]), to, places[to])
    win.Unlock(to)
    comm.Barrier()
    expect(200 + back, own[0])
    win.Lock(to)
    try:
        win.Put(array("q", [1]), to, places[to] + 8 * len(own))
        win.Flush(to)
    except MPI.Exception as e:
        expect(MPI.ERR_RMA_RANGE, e.Get_error_class())
    else:
        raise AssertionError("no exception")
    win.Unlock(to)
    comm.Barrier()
    win.Detach(own)
    win.Free()


def errors(comm, rank, size):
    """An exception in the thread that has made the call."""
    try:
        comm.send(1, size)
    except MPI.Exception as e:
        expect(MPI.ERR_RANK, e.Get_error_class())
    else:
        raise AssertionError("no exception")


def be_a_rank(comm):
    for what in ((reductions, large_objects) if FAST
                 else (messages, collectives, reductions, communicators, windows, errors)):
        what(comm, comm.Get_rank(), comm.Get_size())
        comm.Barrier()


def main():
    with Pool(MPI.COMM_WORLD, int(sys.argv[1])) as pool:
        pool.run(be_a_rank)
    if MPI.COMM_WORLD.Get_rank() == 0:
        print("objects.py: right", flush=True)


if __name__ == "__main__":
    main()
