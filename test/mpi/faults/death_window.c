/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the endpoints of death are at: a window.  win_death has all calls of windows.
 */

#include "death.h"

/** Each puts to its partner, with fences in between. */
int way_window(survivor_t *s)
{
    MPI_Errhandler handler;
    MPI_Win win;
    int rc = MPI_Win_create(s->buffer, LARGE, 1, MPI_INFO_NULL, s->comm, &win);

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    MPI_Comm_get_errhandler(s->comm, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    do {
        rc = MPI_Win_fence(0, win);
        if (MPI_SUCCESS == rc) {
            rc = MPI_Put(&s->rank, 1, MPI_INT, s->partner, s->rank * 4, 1, MPI_INT, win);
        }
    } while (MPI_SUCCESS == rc);
    MPI_Win_free(&win);
    return rc;
}
