/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Operations on windows with large counts (MPI 4: MPI_Put_c and its relatives), and layouts whose blocks
 * are further apart than 2^31.  Windows and buffers have more addresses than memory.
 *
 *   --accumulate 1  an accumulate of more than 2^31 elements as well, some seconds
 *
 * Guards: osc_epwin_put_get.c, osc_epwin_accumulate.c, osc_epwin_walk.c
 */

#define _GNU_SOURCE /* memfd_create */

#include "large_buffer.h"

#if 4 <= MPI_VERSION

#    define FAR ((MPI_Count) 3 << 30) /* bytes between two blocks */

enum { BLOCKS = 3 };

/** The first rank operates on the last one's window. */
static MPI_Win window_new(MPI_Comm comm, struct ept *t, unsigned char *area, size_t size)
{
    MPI_Win win;

    EPT_OK(t, MPI_Win_create_c(area, (MPI_Aint) size, 1, MPI_INFO_NULL, comm, &win));
    EPT_OK(t, MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Win_lock_all(0, win));
    return win;
}

static void window_end(MPI_Comm comm, struct ept *t, MPI_Win *win)
{
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Win_unlock_all(*win));
    EPT_OK(t, MPI_Win_free(win));
}

/** Blocks of two ints, far from each other at the target. */
static void far_operations(struct ept *t, MPI_Win win, MPI_Datatype type)
{
    int value[2 * BLOCKS], there[2 * BLOCKS], before[2 * BLOCKS];
    const int target = t->size - 1;
    MPI_Request request;

    for (int i = 0; i < 2 * BLOCKS; ++i) {
        value[i] = 10 + i;
        there[i] = before[i] = -1;
    }
    EPT_OK(t, MPI_Put_c(value, 2 * BLOCKS, MPI_INT, target, 8, 1, type, win));
    EPT_OK(t, MPI_Win_flush(target, win));
    EPT_OK(t,
           MPI_Accumulate_c(value, 2 * BLOCKS, MPI_INT, target, 8, 1, type, MPI_SUM, win));
    EPT_OK(t, MPI_Raccumulate_c(value, 2 * BLOCKS, MPI_INT, target, 8, 1, type, MPI_SUM, win,
                                &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Get_accumulate_c(value, 2 * BLOCKS, MPI_INT, before, 2 * BLOCKS, MPI_INT, target, 8,
                                   1, type, MPI_SUM, win));
    EPT_OK(t, MPI_Win_flush(target, win));
    EPT_OK(t, MPI_Rget_c(there, 2 * BLOCKS, MPI_INT, target, 8, 1, type, win, &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < 2 * BLOCKS; ++i) {
        EPT_EQ(t, 3 * (10 + i), before[i]);
        EPT_EQ(t, 4 * (10 + i), there[i]);
    }
    EPT_OK(t, MPI_Rput_c(value, 2 * BLOCKS, MPI_INT, target, 8, 1, type, win, &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Win_flush(target, win));
    EPT_OK(t, MPI_Get_c(there, 2 * BLOCKS, MPI_INT, target, 8, 1, type, win));
    EPT_OK(t, MPI_Win_flush(target, win));
    EPT_EQ(t, 0, memcmp(value, there, sizeof(value)));
    /* One byte too far. */
    EPT_CLASS(t, MPI_ERR_RMA_RANGE,
              MPI_Put_c(value, 2 * BLOCKS, MPI_INT, target, PAGE - 7, 1, type, win));
}

static void case_far(MPI_Comm comm, struct ept *t)
{
    const size_t size = (BLOCKS - 1) * (size_t) FAR + PAGE;
    unsigned char *area = empty_area(t, size);
    MPI_Win win = window_new(comm, t, area, size);
    MPI_Datatype type;

    EPT_OK(t, MPI_Type_create_hvector_c(BLOCKS, 2, FAR, MPI_INT, &type));
    EPT_OK(t, MPI_Type_commit(&type));
    if (0 == t->rank) {
        far_operations(t, win, type);
    }
    EPT_OK(t, MPI_Type_free(&type));
    window_end(comm, t, &win);
    for (int i = 0; i < 2 * BLOCKS && t->rank == t->size - 1; ++i) {
        EPT_EQ(t, 10 + i, ((int *) (area + 8 + (size_t) (i / 2) * FAR))[i % 2]);
    }
    munmap(area, size);
}

/** More than 2^31 bytes. */
static void case_long(MPI_Comm comm, struct ept *t)
{
    unsigned char *area = t->rank == t->size - 1 ? large_buffer(t) : NULL;
    MPI_Win win = window_new(comm, t, area, NULL == area ? 0 : (size_t) LARGE);
    unsigned char *buffer = 0 == t->rank ? large_buffer(t) : NULL;
    const int target = t->size - 1;

    if (NULL != buffer) {
        memset(buffer, 0x5a, PIECE);
        buffer[LARGE - 1] = 0x5b;
        EPT_OK(t, MPI_Put_c(buffer, LARGE, MPI_BYTE, target, 0, LARGE, MPI_BYTE, win));
        EPT_OK(t, MPI_Win_flush(target, win));
        memset(buffer, 0, PIECE);
        buffer[LARGE - 1] = 0;
        EPT_OK(t, MPI_Get_c(buffer, LARGE, MPI_BYTE, target, 0, LARGE, MPI_BYTE, win));
        EPT_OK(t, MPI_Win_flush(target, win));
        EPT_EQ(t, 0x5a, buffer[0]);
        EPT_EQ(t, 0x5a, buffer[PIECE - 1]);
        EPT_EQ(t, 0x5b, buffer[LARGE - 1]);
        EPT_CLASS(t, MPI_ERR_RMA_RANGE,
                  MPI_Put_c(buffer, LARGE, MPI_BYTE, target, 1, LARGE, MPI_BYTE, win));
        if (ept_option_long("accumulate", 0)) {
            EPT_OK(t, MPI_Accumulate_c(buffer, LARGE, MPI_BYTE, target, 0, LARGE, MPI_BYTE, MPI_BXOR,
                                       win));
            EPT_OK(t, MPI_Win_flush(target, win));
        }
    }
    window_end(comm, t, &win);
    if (NULL != area) {
        EPT_EQ(t, ept_option_long("accumulate", 0) ? 0 : 0x5b, area[LARGE - 1]);
        munmap(area, large_size());
    }
    if (NULL != buffer) {
        munmap(buffer, large_size());
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_far);
    EPT_CASE(t, case_long);
    return 0;
}

#else

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    ept_skip(t, "win_counts", "no large counts before MPI 4");
    return 0;
}

#endif
