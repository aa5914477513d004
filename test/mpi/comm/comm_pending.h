/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Operations that comm_pending leaves pending.
 */

#ifndef COMM_PENDING_H
#define COMM_PENDING_H

#include "ept.h"

/** Requests of an operation, and the most elements of a vector of it. */
enum { REQUESTS = 2, LENGTH = 4000 };

/** The members of an operation. */
struct members {
    int rank, size;  /**< own, of the own group */
    int remote_size; /**< of the other group; 0: an intracommunicator */
    bool is_ring;    /**< with neighbours rank - 1 and rank + 1 */
};

/** Something that is pending.  check compares the result, which it clears for the next start. */
struct operation {
    struct members members;
    MPI_Request request[REQUESTS];
    int requests;
    bool is_persistent;
    bool is_part;   /**< partitioned: request 1 sends PARTS partitions */
    bool was_freed; /**< request 1 sends, and was freed while it was active */
    int n;          /**< elements of a member */
    int key;        /**< drawn by all members alike */
    int *from, *to;
    MPI_Comm made; /**< of MPI_Comm_idup */
    void (*check)(struct ept *t, struct operation *operation);
};

enum { PARTS = 4 };

void members_of(struct ept *t, MPI_Comm comm, struct members *members);

/** Begin an operation on comm: one of collectives, or messages. */
void operation_begin(struct ept *t, struct operation *operation, MPI_Comm comm,
                     const struct members *members, uint64_t *shared);
void operation_begin_messages(struct ept *t, struct operation *operation, MPI_Comm comm,
                              uint64_t kind);

/** MPI_Start of a persistent one, when all ranks have seen its end. */
void operation_restart(struct ept *t, struct operation *operation);

void operation_end(struct ept *t, struct operation *operation);

/** Element i of what rank brings. */
static inline int value_of(const struct operation *operation, int rank, int i)
{
    return operation->key + 7 * rank + i;
}

/** What the members of a group of size bring, added. */
static inline int sum_of(const struct operation *operation, int size, int i)
{
    return size * (operation->key + i) + 7 * (size * (size - 1) / 2);
}

/** The rank that a collective's result is from. */
static inline int senders(const struct operation *operation)
{
    return 0 < operation->members.remote_size ? operation->members.remote_size
                                              : operation->members.size;
}

/** Compare n elements at to with what rank brings from element first on; clears them. */
void expect_values(struct ept *t, struct operation *operation, int *to, int rank, int first, int n);

#endif /* COMM_PENDING_H */
