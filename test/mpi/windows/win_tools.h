/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Windows of 64-bit words, for the tests of synchronization.
 */

#ifndef WIN_TOOLS_H
#define WIN_TOOLS_H

#include "ept.h"

/** Words of each member. */
#define WIN_WORDS 64

/** How its memory comes: mapped by the processes of a node, or only by those of its own process. */
enum win_kind { WIN_ALLOCATED, WIN_CREATED, WIN_KINDS };

static inline const char *win_kind_name(int kind)
{
    return WIN_ALLOCATED == kind ? "allocated" : "created";
}

/** A window over comm, all words 0; errors are returned.  Collective. */
static inline MPI_Win win_new(MPI_Comm comm, struct ept *t, int kind, int64_t **words_p)
{
    const MPI_Aint bytes = WIN_WORDS * sizeof(int64_t);
    MPI_Win win;

    if (WIN_ALLOCATED == kind) {
        EPT_OK(t, MPI_Win_allocate(bytes, sizeof(int64_t), MPI_INFO_NULL, comm, words_p, &win));
    } else {
        *words_p = malloc((size_t) bytes);
        EPT_OK(t, MPI_Win_create(*words_p, bytes, sizeof(int64_t), MPI_INFO_NULL, comm, &win));
    }
    EPT_OK(t, MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t->rank, 0, win));
    memset(*words_p, 0, (size_t) bytes);
    EPT_OK(t, MPI_Win_unlock(t->rank, win));
    EPT_OK(t, MPI_Barrier(comm));
    return win;
}

static inline void win_end(struct ept *t, MPI_Win *win, int kind, int64_t *words)
{
    EPT_OK(t, MPI_Win_free(win));
    if (WIN_CREATED == kind) {
        free(words);
    }
}

/** One word, or more. */
static inline int win_put(MPI_Win win, const int64_t *from, int count, int target, int word)
{
    return MPI_Put(from, count, MPI_INT64_T, target, word, count, MPI_INT64_T, win);
}

static inline int win_get(MPI_Win win, int64_t *to, int count, int target, int word)
{
    return MPI_Get(to, count, MPI_INT64_T, target, word, count, MPI_INT64_T, win);
}

static inline int win_add(MPI_Win win, const int64_t *from, int target, int word)
{
    return MPI_Accumulate(from, 1, MPI_INT64_T, target, word, 1, MPI_INT64_T, MPI_SUM, win);
}

#endif /* WIN_TOOLS_H */
