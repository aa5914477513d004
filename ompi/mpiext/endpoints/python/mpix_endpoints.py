#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Tests: pools, objects, world_python
"""MPI endpoints for Python threads, with mpi4py 4.0 or later: docs/python.md.

create makes the communicators of endpoints, one for each; Pool has a thread for each as well.

Importing this module before mpi4py.MPI sets mpi4py.rc.fast_reduce to False: with mpi4py's default the
reductions of objects (allreduce and its like) deadlock among the threads of a process.
"""

from __future__ import annotations

import ctypes
import operator
import os
import sys
import threading
import time
import traceback
import warnings
from array import array
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, Callable, TypeVar

import mpi4py

if "mpi4py.MPI" not in sys.modules:
    mpi4py.rc.fast_reduce = False
from mpi4py import MPI

__all__ = ["Pool", "create"]

Result = TypeVar("Result")

_LEVELS = {MPI.THREAD_SINGLE: "SINGLE", MPI.THREAD_FUNNELED: "FUNNELED", MPI.THREAD_SERIALIZED: "SERIALIZED"}
_of_thread = threading.local()


def _library() -> ctypes.CDLL:
    """The library of endpoints, which the component pml/epml has brought into the process."""
    try:
        return ctypes.CDLL("libmpix_endpoints.so.0", mode=os.RTLD_NOLOAD)
    except OSError:
        raise RuntimeError("there are no endpoints in this run: start it with epmpirun, or with mpirun"
                           " --mca pml epml where Open MPI finds the component (docs/python.md)") from None


def _check(code: int) -> None:
    if code != MPI.SUCCESS:
        raise MPI.Exception(code)


def create(comm: MPI.Comm, n: int, info: MPI.Info = MPI.INFO_NULL) -> list[MPI.Comm]:
    """A communicator in which this process has n ranks: MPIX_Comm_create_endpoints.

    Collective over comm, which may be of any kind; n may differ between its members, and may be 0.  One
    thread makes the call for all endpoints of its process.  The GIL is released meanwhile.

    Returns the n communicators, one for each endpoint, in the order of ranks.  Any thread may use each
    of them; the caller frees them (Free), in any thread and any order.  info is not kept.

    Raises, at every member if one has made a mistake: MPI.Exception, of class ERR_ARG for a negative n,
    ERR_COMM for no valid comm, or of the library's own class, with a text on stderr, if there can be no
    endpoints; TypeError for an n that is no number; RuntimeError if the library is not in the process,
    or if MPI was not initialized with THREAD_MULTIPLE.  comm stays usable.
    """
    function = _library().MPIX_Comm_create_endpoints
    function.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    mistake: Exception | None = None
    try:
        count = operator.index(n)
    except TypeError as error:
        count, mistake = -1, error
    level = MPI.Query_thread()
    if level != MPI.THREAD_MULTIPLE:
        count, mistake = -1, RuntimeError(
            f"MPI was initialized with MPI_THREAD_{_LEVELS[level]}, but endpoints of Python threads need"
            " MPI_THREAD_MULTIPLE, mpi4py's default: see mpi4py.rc.threads and mpi4py.rc.thread_level")
    handles = (ctypes.c_void_p * max(count, 1))()
    # Also with a mistake, as the other members wait for this one: they get an error, too.
    code = function(comm.handle, count, info.handle, handles)
    if mistake is not None:
        raise mistake
    _check(code)
    if 1 < count and mpi4py.rc.fast_reduce:
        warnings.warn("reductions of objects will deadlock: import mpix_endpoints before mpi4py.MPI, or set"
                      " mpi4py.rc.fast_reduce = False before it", RuntimeWarning, stacklevel=2)
    kind = MPI.Intercomm if comm.Is_inter() else MPI.Intracomm
    return [kind.fromhandle(handle) for handle in handles[:count]]


class Pool:
    """Threads of this process, each with a rank of one communicator.

        with Pool(MPI.COMM_WORLD, 4) as pool:
            results = pool.run(function, arguments)     # function(comm, arguments) in each thread

    Making a pool, run and close (or the end of "with") are collective over comm, an intracommunicator;
    n may differ between its members, and may be 0.  One thread at a time uses a pool.

    patience: how long, in seconds, run waits for other ranks to end after one has raised an exception,
    before it aborts the job; None: for ever.  world: each thread's MPI.COMM_WORLD is that of its endpoint, under
    epmpirun -world.

    Raises as create.
    """

    def __init__(self, comm: MPI.Intracomm, n: int, info: MPI.Info = MPI.INFO_NULL, *,
                 patience: float | None = 30.0, world: bool = False) -> None:
        if comm.Is_inter():
            raise TypeError("a pool needs an intracommunicator")
        self.patience = patience
        self.comms = create(comm, n, info)
        self._parent = comm.Dup()
        self._usable = True
        self._ranks = [each.Get_rank() for each in self.comms]
        self._threads = [
            ThreadPoolExecutor(1, f"rank {rank}", *((_set_world, (each,)) if world else ()))
            for rank, each in zip(self._ranks, self.comms)]

    def run(self, function: Callable[..., Result], *args: Any, **kwargs: Any) -> list[Result]:
        """Call function(comm, *args, **kwargs) in each thread, with the communicator of its endpoint.

        Returns what the calls have returned, in the order of ranks, when those of all processes have
        ended.  If one raises an exception, the communicator is revoked: others, which may wait for that
        rank, get MPI.Exception of class ERR_REVOKED from their calls on it.  When all have ended, run raises
        at every process: the exception of the lowest rank of this process, or else RuntimeError, whose
        cause may be a revocation.  The pool cannot run again.  If others still run when the patience is
        over, here or in other processes, the tracebacks are printed and the job is aborted.
        """
        if not self._usable:
            raise RuntimeError("a rank of this pool has failed: make a new one")
        calls = [thread.submit(_call, function, comm, *args, **kwargs)
                 for thread, comm in zip(self._threads, self.comms)]
        wait(calls, return_when=FIRST_EXCEPTION)
        end = None
        if self.patience is not None and self._errors(calls):
            end = time.monotonic() + self.patience
        if wait(calls, None if end is None else self.patience).not_done:
            self._abort(calls)
        errors = self._errors(calls)
        failed = [rank for rank, error in errors.items() if not _is_revocation(error)]
        highest = array("i", [max(failed, default=-1)])
        request = self._parent.Iallreduce(MPI.IN_PLACE, highest, op=MPI.MAX)
        while end is not None and not request.Test():
            if end < time.monotonic():
                self._abort(calls)
            time.sleep(0.001)
        request.Wait()
        self._usable = -1 == highest[0]
        if failed:
            raise errors[failed[0]]
        if not self._usable:
            raise RuntimeError(f"rank {highest[0]}, in another process, has raised an exception") from \
                next(iter(errors.values()), None)
        return [call.result() for call in calls]

    def close(self) -> None:
        """End the threads and free the communicators.  Again: nothing."""
        for thread in self._threads:
            thread.shutdown()
        for comm in (*self.comms, self._parent):
            if comm != MPI.COMM_NULL:
                comm.Free()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _errors(self, calls: list[Future]) -> dict[int, BaseException]:
        return {rank: call.exception() for rank, call in zip(self._ranks, calls) if call.done() and call.exception()}

    def _abort(self, calls: list[Future]) -> None:
        """End the job: what has failed is said first, as nobody else could."""
        for rank, error in self._errors(calls).items():
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            print(f"rank {rank}: {text}", end="", file=sys.stderr)
        print(f"mpix_endpoints: other ranks still run {self.patience} s after that and may wait for the ranks"
              " that have failed: the job is aborted (patience of Pool)", file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(1)


def _call(function: Callable[..., Result], comm: MPI.Intracomm, *args: Any, **kwargs: Any) -> Result:
    """What a thread does in run."""
    try:
        return function(comm, *args, **kwargs)
    except BaseException:
        try:
            comm.Revoke()
        except (MPI.Exception, NotImplementedError):
            pass    # freed; or an Open MPI without fault tolerance
        raise


def _is_revocation(error: BaseException) -> bool:
    return isinstance(error, MPI.Exception) and error.Get_error_class() == MPI.ERR_REVOKED


def _set_world(comm: MPI.Intracomm) -> None:
    """MPI.COMM_WORLD of the calling thread is comm until the thread ends, or comm is freed."""
    _check(_library().MPIX_Comm_world_set(ctypes.c_void_p(comm.handle)))
    # mpi4py finds a communicator's locks by its handle, and keeps only those of one thread for this one.
    _of_thread.locks = MPI._comm_lock_table(MPI.COMM_WORLD)
