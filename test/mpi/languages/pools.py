#!/usr/bin/env python3
#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# pools.py ENDPOINTS [late | level | none | abort]: the module mpix_endpoints: communicators, pools, their
# ends, mistakes and exceptions.  "late": it is imported after mpi4py.MPI; "level": process 0 has a low thread
# level; "none": for a run without endpoints; "abort": a rank fails while the others wait for it.
#
# Guards: ompi/mpiext/endpoints/python/mpix_endpoints.py

import os
import sys
import threading
import warnings
from array import array

import mpi4py

CASE = sys.argv[2] if 2 < len(sys.argv) else ""
if CASE == "late":
    from mpi4py import MPI
if CASE == "level" and os.environ["OMPI_COMM_WORLD_RANK"] == "0":
    mpi4py.rc.thread_level = "serialized"
from mpix_endpoints import Pool, create
from mpi4py import MPI

world = MPI.COMM_WORLD
own, processes = world.Get_rank(), world.Get_size()
last = own == processes - 1


def expect(wanted, got):
    if wanted != got:
        raise AssertionError("expected %r, got %r" % (wanted, got))


def raises(kind, words, function, *args):
    """The exception of this very kind that a call raises, with these words in it."""
    try:
        function(*args)
    except BaseException as error:
        expect((kind, True), (type(error), words in str(error)))
        return error
    raise AssertionError("no exception")


def creations(n):
    """As many ranks as asked for, by the order of processes, freed in any order."""
    for counts in ([n] * processes, [n + each for each in range(processes)], [n] * (processes - 1) + [0]):
        info = MPI.Info.Create()
        info.Set("mpix_thread_level", "multiple")
        comms = create(world, counts[own], info)
        info.Free()
        first = sum(counts[:own])
        expect(list(range(first, first + counts[own])), [each.Get_rank() for each in comms])
        expect({sum(counts)} if counts[own] else set(), {each.Get_size() for each in comms})
        for each in reversed(comms):
            each.Free()
            expect(MPI.COMM_NULL, each)


def mistakes(n):
    """Of one process: an error at all, and the parent is usable."""
    wrong = raises(MPI.Exception, "", create, world, -1 if last else n)
    if last:
        expect(MPI.ERR_ARG, wrong.Get_error_class())
    raises(TypeError if last else MPI.Exception, "", create, world, "2" if last else n)
    expect(MPI.ERR_COMM, raises(MPI.Exception, "", create, MPI.COMM_NULL, n).Get_error_class())
    expect(processes, world.allreduce(1))


def runs(n):
    """Results in the order of ranks, by the same threads in each run."""
    with Pool(world, n) as pool:
        def work(comm, a, b=0):
            total = array("q", [0])
            comm.Allreduce(array("q", [a]), total)
            return comm.Get_rank(), total[0], comm.allreduce([b])

        ranks = range(own * n, own * n + n)
        for _ in range(3):
            expect([(rank, 2 * n * processes, [b for b in range(processes) for _ in range(n)])
                    for rank in ranks], pool.run(work, 2, b=own))
        threads = pool.run(lambda comm: threading.current_thread())
        expect(n, len(set(threads)))
        expect(threads, pool.run(lambda comm: threading.current_thread()))
        expect(["rank %d_0" % rank for rank in ranks], [each.name for each in threads])
    with Pool(world, 0 if last else n) as pool:
        expect([] if last else [n * (processes - 1)] * n, pool.run(lambda comm: comm.Get_size()))


def exceptions(n):
    """Of one rank while the others wait for it, of all: raised by run at all processes."""
    def fail(comm, ranks, kind):
        comm.Barrier()
        if comm.Get_rank() in ranks:
            raise kind("of rank %d" % comm.Get_rank())
        comm.recv(source=ranks[0])

    size = n * processes
    for failing, kind in (size - 1, ValueError), (size - 1, SystemExit), (0, KeyError):
        with Pool(world, n, patience=None) as pool:
            here = failing // n == own
            error = raises(kind if here else RuntimeError, "rank %d" % failing, pool.run, fail, [failing], kind)
            expect(MPI.ERR_REVOKED if not here else None,
                   error.__cause__ and error.__cause__.Get_error_class())
            raises(RuntimeError, "make a new one", pool.run, fail, [], kind)
    with Pool(world, n, patience=None) as pool:
        try:
            pool.run(fail, range(size), KeyError)
            raise AssertionError("no exception")
        except (KeyError, RuntimeError) as error:   # the latter if all here were still in the barrier
            expect(True, 1 <= world.allreduce(isinstance(error, KeyError)))


def several(n):
    """Pools of one parent at a time; of an endpoint; by two threads."""
    def size(comm):
        return comm.allreduce(1)

    def inner(comm):
        with Pool(comm, 2) as pool:
            return [each == 2 * comm.Get_size() for each in pool.run(size)]

    with Pool(world, n) as one, Pool(world, n + 1) as other:
        expect([processes * n] * n, one.run(size))
        expect([processes * (n + 1)] * (n + 1), other.run(size))
        results = []
        thread = threading.Thread(target=lambda: results.extend(one.run(size) for _ in range(20)))
        thread.start()
        for _ in range(20):
            expect([processes * (n + 1)] * (n + 1), other.run(size))
        thread.join()
        expect([[processes * n] * n] * 20, results)
        expect([[True, True]] * n, one.run(inner))
    inter = MPI.Intracomm.Create_intercomm(MPI.COMM_SELF, 0, world, (own + 1) % 2) if processes == 2 else None
    if inter:
        expect([n] * n, [each.Get_remote_size() for each in create(inter, n)])
        raises(TypeError, "intracommunicator", Pool, inter, n)
        inter.Free()


def ends(n):
    """Threads and communicators are gone, those that a rank has freed as well."""
    before = len(os.listdir("/proc/self/fd"))
    for i in range(30):
        with Pool(world, n) as pool:
            pool.run(lambda comm: comm.Free() if i % 2 else comm.Barrier())
        expect([MPI.COMM_NULL] * n, pool.comms)
        pool.close()
    expect(1, threading.active_count())
    expect(True, len(os.listdir("/proc/self/fd")) < before + 30)    # an endpoint over tcp has 4
    raises(RuntimeError, "after shutdown", pool.run, lambda comm: 0)


def late(n):
    """A warning that object reductions would wait for ever; not with one endpoint."""
    for count in 1, n:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with Pool(world, count) as pool:
                expect([count * processes] * count, pool.run(lambda comm: len(comm.allgather(0))))
        expect([RuntimeWarning] if 1 < count else [], [each.category for each in said])
        expect([True] * len(said), ["before mpi4py.MPI" in str(each.message) for each in said])


def level(n):
    """Threads may not call MPI: an error that says so there, one at all others."""
    if own == 0:
        raises(RuntimeError, "MPI_THREAD_SERIALIZED", create, world, n)
    else:
        raises(MPI.Exception, "", create, world, n)


def none(n):
    """No library: an error that says what to do."""
    raises(RuntimeError, "start it with epmpirun", create, world, n)
    raises(RuntimeError, "start it with epmpirun", Pool, world, n)


def abort(n):
    """Ends the job: rank 1 fails, the others wait for it in a communicator that the pool does not know."""
    def fail(comm):
        other = comm.Dup()
        other.Barrier()
        if comm.Get_rank() == 1:
            raise ValueError("of rank 1")
        other.Barrier()

    with Pool(world, n, patience=0.1) as pool:
        pool.run(fail)


def main():
    for case in [globals()[CASE]] if CASE else (creations, mistakes, runs, exceptions, several, ends):
        case(int(sys.argv[1]))
        world.Barrier()
    if own == 0:
        print("pools.py: right", flush=True)


if __name__ == "__main__":
    try:
        main()
    except AssertionError:
        sys.excepthook(*sys.exc_info())
        world.Abort(1)
