/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The fair lock of two groups (mca_osc_epwin_lock_t).  Holders of one group exclude those of the
 * other; the second group may also exclude its own.  Uncontended: one atomic instruction to take it,
 * one to release it.
 *
 *     word     bits 0-30   holders of EPWIN_GROUP_FIRST
 *              bit  31     a waiter is at the head of the queue: newcomers queue
 *              bits 32-62  holders of EPWIN_GROUP_SECOND
 *
 * Contended, waiters queue by tickets, whatever their group.  The head sets bit 31 and takes the lock
 * when no holder excludes it, then serves the next ticket.  So a stream of holders of one group
 * cannot starve the other.
 *
 * Standalone: no Open MPI.  Used directly by members of a domain, and by the target's steps for
 * origins of other domains, which poll instead of waiting.
 *
 * Tests: unit/test_epwin_lock
 */

#ifndef MCA_OSC_EPWIN_LOCK_H
#define MCA_OSC_EPWIN_LOCK_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** One cache line; starts as zeros. */
typedef struct mca_osc_epwin_lock_t {
    alignas(64) _Atomic uint64_t word;
    _Atomic uint32_t next;    /**< ticket of the next waiter */
    _Atomic uint32_t serving; /**< ticket of the head of the queue */
} mca_osc_epwin_lock_t;

_Static_assert(64 == sizeof(mca_osc_epwin_lock_t), "one line");

typedef enum epwin_group_t {
    EPWIN_GROUP_FIRST,  /**< a member's lock: shared; a domain's lock: MPI_Win_lock_all */
    EPWIN_GROUP_SECOND, /**< a domain's lock: exclusive locks of its members */
    EPWIN_GROUP_ALONE   /**< in the second group, which excludes its own: a member's exclusive lock */
} epwin_group_t;

/** A waiter's state; all 0 at first. */
typedef struct epwin_lock_wait_t {
    bool has_ticket;
    uint32_t ticket;
} epwin_lock_wait_t;

/* To be written in this file:
 * static inline bool epwin_lock_try(lock, group)               the fast path, once
 * static inline bool epwin_lock_poll(lock, group, wait)        once more; true: held
 * static inline void epwin_lock_release(lock, group)
 */

#endif /* MCA_OSC_EPWIN_LOCK_H */
