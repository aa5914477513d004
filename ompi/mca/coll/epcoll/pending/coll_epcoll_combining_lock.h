/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The combining lock of a handle's active operations: one thread at a time progresses them.  A
 * thread that begins an operation while another one holds the lock enqueues it and does not wait:
 * the holder takes it from the queue before it releases the lock.
 *
 * A word: 0, or 1 if the lock is held; then also the address of the operation that was enqueued
 * last, which leads to those before it.
 *
 * Tests: coll_pending
 */

#ifndef MCA_COLL_EPCOLL_COMBINING_LOCK_H
#define MCA_COLL_EPCOLL_COMBINING_LOCK_H

#include "coll_epcoll_pending.h"

BEGIN_C_DECLS

#define EPCOLL_LOCK_FREE ((uintptr_t) 0)
#define EPCOLL_LOCK_HELD ((uintptr_t) 1)

static inline bool mca_coll_epcoll_lock_try(mca_coll_epcoll_pending_t *pending)
{
    uintptr_t before = EPCOLL_LOCK_FREE;

    /* Acquire: what was done under it; partner: mca_coll_epcoll_lock_release. */
    return atomic_compare_exchange_strong_explicit(&pending->lock, &before, EPCOLL_LOCK_HELD,
                                                   memory_order_acquire, memory_order_relaxed);
}

/** Go in, or leave an operation to the thread that is in.  @return are we in? */
static inline bool mca_coll_epcoll_lock_try_or_enqueue(mca_coll_epcoll_pending_t *pending,
                                                       mca_coll_epcoll_operation_t *operation)
{
    uintptr_t before = atomic_load_explicit(&pending->lock, memory_order_relaxed);

    for (;;) {
        if (EPCOLL_LOCK_FREE == before) {
            if (mca_coll_epcoll_lock_try(pending)) {
                return true;
            }
            before = atomic_load_explicit(&pending->lock, memory_order_relaxed);
            continue;
        }
        operation->next = (mca_coll_epcoll_operation_t *) (before & ~EPCOLL_LOCK_HELD);
        /* Release: the operation; partner: the acquire in mca_coll_epcoll_lock_dequeue. */
        if (atomic_compare_exchange_weak_explicit(&pending->lock, &before,
                                                  (uintptr_t) operation | EPCOLL_LOCK_HELD,
                                                  memory_order_release, memory_order_relaxed)) {
            return false;
        }
    }
}

/** @return false: something has been left there, which is to be taken in first */
static inline bool mca_coll_epcoll_lock_release(mca_coll_epcoll_pending_t *pending)
{
    uintptr_t before = EPCOLL_LOCK_HELD;

    /* Release: what was done under it; partner: mca_coll_epcoll_lock_try. */
    return atomic_compare_exchange_strong_explicit(&pending->lock, &before, EPCOLL_LOCK_FREE,
                                                   memory_order_release, memory_order_relaxed);
}

/** What has been left at the lock, the oldest first. */
static inline mca_coll_epcoll_operation_t *mca_coll_epcoll_lock_dequeue(
    mca_coll_epcoll_pending_t *pending)
{
    /* Acquire: the operations; partner: the release in mca_coll_epcoll_lock_try_or_enqueue. */
    uintptr_t word = atomic_exchange_explicit(&pending->lock, EPCOLL_LOCK_HELD,
                                              memory_order_acquire);
    mca_coll_epcoll_operation_t *all = (mca_coll_epcoll_operation_t *) (word & ~EPCOLL_LOCK_HELD);
    mca_coll_epcoll_operation_t *turned = NULL;

    while (NULL != all) {
        mca_coll_epcoll_operation_t *next = all->next;

        all->next = turned;
        turned = all;
        all = next;
    }
    return turned;
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_COMBINING_LOCK_H */
