/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* EPT-PARTS: ../files/file_tools.c */
/**
 * @file
 *
 * Device memory in reads and writes of files, of an accelerator that is not there (fake_accelerator),
 * whose memory the CPU cannot access: blocking and split collective calls, with gaps, with buffers of
 * all members there and of one; calls of one member; short reads; and one for which there is no host
 * memory.
 *
 * Guards: fcoll_module.c, collective_io.c, handle.c
 */

#include "device.h"
#include "files/file_tools.h"

enum { COUNT = 1000 };

static int value(int rank, int i)
{
    return rank * 100003 + i;
}

/* COUNT ints of a rank, or nothing yet, in memory of the device or the host. */
static void fill(struct ept *t, int *memory, bool is_given)
{
    int host[COUNT];

    for (int i = 0; i < COUNT; ++i) {
        host[i] = is_given ? value(t->rank, i) : -1;
    }
    device_copy(t, memory, host, sizeof(host));
}

/* @param step  every step-th int is data, the others are as they were
 * @param have  ints that have come */
static void check(struct ept *t, const int *memory, int step, int have)
{
    int host[COUNT], wrong = 0;

    device_copy(t, host, memory, sizeof(host));
    for (int i = 0; i < COUNT; ++i) {
        wrong += (0 == i % step && i / step < have ? value(t->rank, i) : -1) != host[i];
    }
    EPT_EQ(t, 0, wrong);
}

/* @param is_split  by split calls */
static void move(struct ept *t, MPI_File file, bool writes, bool is_split, int *memory, int count,
                 MPI_Datatype type, MPI_Status *status)
{
    const MPI_Offset at = (MPI_Offset) t->rank * COUNT * (MPI_Offset) sizeof(int);

    if (!is_split) {
        EPT_OK(t, writes ? MPI_File_write_at_all(file, at, memory, count, type, status)
                         : MPI_File_read_at_all(file, at, memory, count, type, status));
    } else if (writes) {
        EPT_OK(t, MPI_File_write_at_all_begin(file, at, memory, count, type));
        EPT_OK(t, MPI_File_write_at_all_end(file, memory, status));
    } else {
        EPT_OK(t, MPI_File_read_at_all_begin(file, at, memory, count, type));
        EPT_OK(t, MPI_File_read_at_all_end(file, memory, status));
    }
}

static void case_moves(MPI_Comm comm, struct ept *t)
{
    int *device = device_memory(t, COUNT * sizeof(int)), host[COUNT];
    char name[FILE_NAME_MAX];
    MPI_Datatype second;
    MPI_File file;

    EPT_OK(t, MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &second));
    EPT_OK(t, MPI_Type_commit(&second));
    file_name(comm, t, "device", name);
    file = file_create(comm, t, name, 0);
    for (int i = 0; i < 8; ++i) {
        const bool is_split = 0 != (i & 1), has_gaps = 0 != (i & 2), is_all = 0 != (i & 4);
        const int step = has_gaps ? 2 : 1, count = COUNT / step;
        int *memory = is_all || 0 == t->rank ? device : host;
        MPI_Status status;

        fill(t, memory, true);
        move(t, file, true, is_split, memory, count, has_gaps ? second : MPI_INT, &status);
        EPT_STATUS(t, &status, status.MPI_SOURCE, status.MPI_TAG, (size_t) count * sizeof(int));
        fill(t, memory, false);
        move(t, file, false, is_split, memory, count, has_gaps ? second : MPI_INT, &status);
        EPT_STATUS(t, &status, status.MPI_SOURCE, status.MPI_TAG, (size_t) count * sizeof(int));
        check(t, memory, step, count);
    }
    EPT_OK(t, MPI_File_close(&file));
    EPT_OK(t, MPI_Type_free(&second));
}

/* Calls of one member, blocking and not. */
static void case_alone(MPI_Comm comm, struct ept *t)
{
    const MPI_Offset at = (MPI_Offset) t->rank * COUNT * (MPI_Offset) sizeof(int);
    int *device = device_memory(t, COUNT * sizeof(int));
    char name[FILE_NAME_MAX];
    MPI_Datatype second;
    MPI_Request request;
    MPI_File file;

    EPT_OK(t, MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &second));
    EPT_OK(t, MPI_Type_commit(&second));
    file_name(comm, t, "alone", name);
    file = file_create(comm, t, name, 0);
    for (int step = 1; step <= 2; ++step) {
        MPI_Datatype type = 1 == step ? MPI_INT : second;

        fill(t, device, true);
        EPT_OK(t, MPI_File_write_at(file, at, device, COUNT / step, type, MPI_STATUS_IGNORE));
        fill(t, device, false);
        EPT_OK(t, MPI_File_read_at(file, at, device, COUNT / step, type, MPI_STATUS_IGNORE));
        check(t, device, step, COUNT / step);
        fill(t, device, false);
        EPT_OK(t, MPI_File_iread_at(file, at, device, COUNT / step, type, &request));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(t, device, step, COUNT / step);
        fill(t, device, true);
        EPT_OK(t, MPI_File_iwrite_at(file, at, device, COUNT / step, type, &request));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        fill(t, device, false);
        EPT_OK(t, MPI_File_read_at(file, at, device, COUNT / step, type, MPI_STATUS_IGNORE));
        check(t, device, step, COUNT / step);
    }
    EPT_OK(t, MPI_File_close(&file));
    EPT_OK(t, MPI_Type_free(&second));
}

/* The file ends in the middle of what each reads: the rest of its memory stays. */
static void case_short(MPI_Comm comm, struct ept *t)
{
    int *device = device_memory(t, COUNT * sizeof(int)), have = -1;
    char name[FILE_NAME_MAX];
    MPI_Status status;
    MPI_File file;

    file_name(comm, t, "short", name);
    file = file_create(comm, t, name, 0);
    fill(t, device, true);
    EPT_OK(t, MPI_File_write_at_all(file, 0, device, COUNT / 4, MPI_INT, MPI_STATUS_IGNORE));
    fill(t, device, false);
    EPT_OK(t, MPI_File_read_at_all(file, 0, device, COUNT, MPI_INT, &status));
    EPT_OK(t, MPI_Get_count(&status, MPI_INT, &have));
    EPT_EQ(t, COUNT / 4, have);
    device_copy(t, &have, device + COUNT / 4, sizeof(have));
    EPT_EQ(t, -1, have);
    EPT_OK(t, MPI_File_close(&file));
}

/* One member's buffer has a layout for which there cannot be memory: an error of all. */
static void case_no_memory(MPI_Comm comm, struct ept *t)
{
    const MPI_Aint places[2] = {0, (MPI_Aint) 1 << 50};
    int *device = device_memory(t, COUNT * sizeof(int)), host[2] = {1, 2};
    char name[FILE_NAME_MAX];
    MPI_Datatype far;
    MPI_File file;

    EPT_OK(t, MPI_Type_create_hindexed_block(2, 1, places, MPI_INT, &far));
    EPT_OK(t, MPI_Type_commit(&far));
    file_name(comm, t, "memory", name);
    file = file_create(comm, t, name, 0);
    EPT_CLASS(t, MPI_ERR_BUFFER,
              0 == t->rank
                  ? MPI_File_write_at_all(file, 0, device, 1, far, MPI_STATUS_IGNORE)
                  : MPI_File_write_at_all(file, 0, host, 2, MPI_INT, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_File_close(&file));
    EPT_OK(t, MPI_Type_free(&far));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_moves);
    EPT_CASE(t, case_alone);
    EPT_CASE(t, case_short);
    EPT_CASE(t, case_no_memory);
    return 0;
}
