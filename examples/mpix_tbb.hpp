/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * oneTBB's threads as ranks: a thread in an arena is attached to the endpoint of its slot there.
 *
 * MPI has begun with MPIX_Init_endpoint.  A task of such an arena may call MPI on what the three
 * names MPIX_COMM_ENDPOINTS, _PROCESS and _SELF are for it, until it waits for other tasks: the
 * thread may then run another body meanwhile.  Two tasks may run one after the other on the same
 * thread, so a body must not wait in MPI for a task that has not begun (no collectives).
 */

#ifndef MPIX_TBB_HPP
#define MPIX_TBB_HPP

#include <mpi.h>
#include <mpi-ext.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

/* Threads in slot i of the arena are attached to endpoint first + i of the process, which has at
 * least first + as many endpoints as the arena has slots.  A thread of the program's own goes back
 * to endpoint "home" when it leaves, oneTBB's are detached.  The arena outlives this. */
class mpix_tbb_attach : public tbb::task_scheduler_observer
{
  public:
    explicit mpix_tbb_attach(tbb::task_arena &arena, int first = 0, int home = 0)
        : tbb::task_scheduler_observer(arena), first_(first), home_(home)
    {
        observe(true);
    }
    ~mpix_tbb_attach()
    {
        observe(false);
    }

    void on_scheduler_entry(bool) override
    {
        MPIX_Thread_attach_index(first_ + tbb::this_task_arena::current_thread_index());
    }
    void on_scheduler_exit(bool is_worker) override
    {
        MPIX_Thread_detach();
        if (!is_worker) {
            MPIX_Thread_attach_index(home_);
        }
    }

  private:
    const int first_, home_;
};

#endif /* MPIX_TBB_HPP */
