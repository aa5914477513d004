/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Device memory in windows of endpoints, of an accelerator that is not there (fake_accelerator): a
 * window of it is not created, it is not attached, and operations with origin buffers in it are
 * refused before the CPU has touched anything.  The window works on.  Managed memory is used as any
 * other.
 *
 * Guards: osc_epwin_device.c, osc_epwin_query.c, osc_epwin_create.c
 */

#include "device.h"

static int next_of(const struct ept *t)
{
    return (t->rank + 1) % t->size;
}

static int before(const struct ept *t)
{
    return (t->rank + t->size - 1) % t->size;
}

static MPI_Win window(MPI_Comm comm, struct ept *t, int *memory)
{
    MPI_Win win;

    EPT_OK(t, MPI_Win_create(memory, 4 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &win));
    EPT_OK(t, MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    return win;
}

/** A put to the next member, with flush; memory of all members is zeroed before. */
static void use(MPI_Comm comm, struct ept *t, MPI_Win win, const int *memory, int *origin)
{
    *origin = 100 + t->rank;
    EPT_OK(t, MPI_Put(origin, 1, MPI_INT, next_of(t), 1, 1, MPI_INT, win));
    EPT_OK(t, MPI_Win_flush(next_of(t), win));
    *origin = -1;
    EPT_OK(t, MPI_Get(origin, 1, MPI_INT, next_of(t), 1, 1, MPI_INT, win));
    EPT_OK(t, MPI_Win_flush(next_of(t), win));
    EPT_EQ(t, 100 + t->rank, *origin);
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Win_sync(win));
    EPT_EQ(t, 100 + before(t), memory[1]);
    EPT_EQ(t, 0, memory[0]);
    EPT_OK(t, MPI_Barrier(comm));
}

/** Each operation with a buffer of the device. */
static void refusals(struct ept *t, MPI_Win win)
{
    int *memory = device_memory(t, 4 * sizeof(int)), to = next_of(t), host[2] = {1, 1};
    MPI_Request request;

    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Put(memory, 2, MPI_INT, to, 0, 2, MPI_INT, win));
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Get(memory, 2, MPI_INT, to, 0, 2, MPI_INT, win));
    EPT_CLASS(t, MPI_ERR_BUFFER,
              MPI_Accumulate(memory, 2, MPI_INT, to, 0, 2, MPI_INT, MPI_SUM, win));
    EPT_CLASS(t, MPI_ERR_BUFFER,
              MPI_Get_accumulate(memory, 2, MPI_INT, host, 2, MPI_INT, to, 0, 2, MPI_INT, MPI_SUM,
                                 win));
    EPT_CLASS(t, MPI_ERR_BUFFER,
              MPI_Get_accumulate(host, 2, MPI_INT, memory, 2, MPI_INT, to, 0, 2, MPI_INT, MPI_SUM,
                                 win));
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Fetch_and_op(memory, host, MPI_INT, to, 0, MPI_SUM, win));
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Fetch_and_op(host, memory, MPI_INT, to, 0, MPI_SUM, win));
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Compare_and_swap(memory, host, host + 1, MPI_INT, to, 0, win));
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Compare_and_swap(host, memory, host + 1, MPI_INT, to, 0, win));
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Compare_and_swap(host, host + 1, memory, MPI_INT, to, 0, win));
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Rput(memory, 2, MPI_INT, to, 0, 2, MPI_INT, win, &request));
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Rget(memory, 2, MPI_INT, to, 0, 2, MPI_INT, win, &request));
    EPT_CLASS(t, MPI_ERR_BUFFER,
              MPI_Raccumulate(memory, 2, MPI_INT, to, 0, 2, MPI_INT, MPI_SUM, win, &request));
    EPT_CLASS(t, MPI_ERR_BUFFER,
              MPI_Rget_accumulate(host, 2, MPI_INT, memory, 2, MPI_INT, to, 0, 2, MPI_INT, MPI_SUM,
                                  win, &request));
    /* What is not used may lie anywhere. */
    EPT_OK(t, MPI_Put(memory, 0, MPI_INT, to, 0, 0, MPI_INT, win));
    EPT_OK(t, MPI_Fetch_and_op(memory, host, MPI_INT, to, 0, MPI_NO_OP, win));
}

static void case_operations(MPI_Comm comm, struct ept *t)
{
    int memory[4] = {0}, host;
    MPI_Win win = window(comm, t, memory);

    EPT_OK(t, MPI_Win_lock_all(0, win));
    refusals(t, win);
    EPT_OK(t, MPI_Win_flush_all(win));
    use(comm, t, win, memory, &host);
    EPT_OK(t, MPI_Win_unlock_all(win));
    EPT_OK(t, MPI_Win_free(&win));
}

static void case_managed(MPI_Comm comm, struct ept *t)
{
    int *memory = managed_memory(t, 4 * sizeof(int));
    MPI_Win win = window(comm, t, memory);

    EPT_OK(t, MPI_Win_lock_all(0, win));
    use(comm, t, win, memory, managed_memory(t, sizeof(int)));
    EPT_OK(t, MPI_Win_unlock_all(win));
    EPT_OK(t, MPI_Win_free(&win));
}

/** Memory of one member is a device's: no member gets a window. */
static void case_window(MPI_Comm parent, struct ept *t)
{
    int host[4] = {0}, *memory = device_memory(t, sizeof(host)), one = 1, sum = 0;
    MPI_Comm comm;

    EPT_OK(t, MPI_Comm_dup(parent, &comm));
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int guilty = 0; guilty < t->size; guilty += t->size - 1) {
        MPI_Win win = MPI_WIN_NULL;

        ept_phase(t, "rank %d", guilty);
        EPT_CLASS(t, MPI_ERR_BUFFER,
                  MPI_Win_create(guilty == t->rank ? memory : host, sizeof(host), sizeof(int),
                                 MPI_INFO_NULL, comm, &win));
    }
    EPT_OK(t, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    EPT_EQ(t, t->size, sum);
    EPT_OK(t, MPI_Comm_free(&comm));
}

static void case_attach(MPI_Comm comm, struct ept *t)
{
    int *memory = device_memory(t, 4 * sizeof(int));
    MPI_Win win;

    EPT_OK(t, MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
    EPT_OK(t, MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Win_attach(win, memory, 4 * sizeof(int)));
    EPT_CLASS(t, MPI_ERR_RMA_ATTACH, MPI_Win_detach(win, memory));
    EPT_OK(t, MPI_Win_free(&win));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_operations);
    EPT_CASE(t, case_managed);
    EPT_CASE(t, case_window);
    EPT_CASE(t, case_attach);
    return 0;
}
