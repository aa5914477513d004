/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the parts of win_death share: a member in a round, and the calls in which a process dies.
 */

#ifndef EPT_WIN_DEATH_H
#define EPT_WIN_DEATH_H

#include <mpi.h>
#if defined(HAVE_EP)
#    include <mpi-ext.h>
#endif

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIN_WORDS = 8192, WIN_LARGE = WIN_WORDS * sizeof(int64_t) };

/** A member in a round. */
typedef struct member_t {
    MPI_Comm comm;
    MPI_Win win;
    MPI_Group all;
    int rank, size;
    int local;      /**< index in its process */
    int first_dead; /**< rank of the first one of the process that dies */
    int dead;       /**< the one of that process with the same index */
    int64_t *words; /**< of the window: WIN_WORDS */
    int64_t *own;   /**< that a created window has */
    char *data;     /**< WIN_LARGE bytes */
} member_t;

/** A call in which a process dies. */
typedef struct win_way_t {
    const char *name;
    bool is_created;              /**< the window; otherwise allocated */
    bool must;                    /**< the survivors' call fails, in any case */
    bool must_by_message;         /**< likewise, unless the dead's memory is mapped */
    bool must_mapped;             /**< likewise, if it is mapped */
    bool is_of_comm;              /**< the error goes to the communicator's handler */
    void (*prepare)(member_t *m); /**< of those that die: before the others begin */
    void (*perish)(member_t *m);  /**< then; returns, or is in MPI when the process dies */
    int (*survive)(member_t *m);  /**< @return what has ended it */
} win_way_t;

extern const win_way_t win_ways[];
extern const int win_way_count;

#endif /* EPT_WIN_DEATH_H */
