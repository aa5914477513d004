/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A list that any thread pushes to and that one step empties, and which says whether the step's work
 * is active: so work is begun exactly when there is something and it is not.
 *
 *     NULL            empty, and the work is not active
 *     EPWIN_AM_ACTIVE empty, and it is
 *     an item         the last one pushed; it is active, or is begun by the thread that has pushed to
 *                     NULL
 *
 * Layer am only.
 *
 * Tests: unit/test_epwin_am
 */

#ifndef MCA_OSC_EPWIN_AM_INBOX_H
#define MCA_OSC_EPWIN_AM_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/** The first field of what is pushed. */
typedef struct epwin_am_item_t {
    struct epwin_am_item_t *next;
} epwin_am_item_t;

typedef struct epwin_am_inbox_t {
    epwin_am_item_t *_Atomic last;
} epwin_am_inbox_t;

/** No address of an item. */
#define EPWIN_AM_ACTIVE ((epwin_am_item_t *) 1)

/** @return true: the caller begins the work, after this call */
static inline bool inbox_push(epwin_am_inbox_t *inbox, epwin_am_item_t *item)
{
    epwin_am_item_t *last = atomic_load_explicit(&inbox->last, memory_order_relaxed);

    do {
        item->next = EPWIN_AM_ACTIVE == last ? NULL : last;
        /* Release: orders the item before its address; partner: inbox_take.  Acquire: if the work
         * is not active, orders all that its last step has written before what the caller does;
         * partner: inbox_end. */
    } while (!atomic_compare_exchange_weak_explicit(&inbox->last, &last, item, memory_order_acq_rel,
                                                    memory_order_relaxed));
    return NULL == last;
}

/** Is the work not active?  Then the thread that alone pushes may do what the step does. */
static inline bool inbox_is_idle(const epwin_am_inbox_t *inbox)
{
    /* Acquire: as in inbox_push. */
    return NULL == atomic_load_explicit(&inbox->last, memory_order_acquire);
}

/** The step: all items, in the order in which they were pushed, or NULL. */
static inline epwin_am_item_t *inbox_take(epwin_am_inbox_t *inbox)
{
    epwin_am_item_t *first = NULL, *item;

    /* Relaxed: a hint, without writing to the line. */
    if (EPWIN_AM_ACTIVE == atomic_load_explicit(&inbox->last, memory_order_relaxed)) {
        return NULL;
    }
    /* Acquire: the items; partner: inbox_push. */
    item = atomic_exchange_explicit(&inbox->last, EPWIN_AM_ACTIVE, memory_order_acquire);
    while (NULL != item) {
        epwin_am_item_t *next = item->next;

        item->next = first;
        first = item;
        item = next;
    }
    return first;
}

/** The step has nothing left: end the work.  @return false: there are items.  true: the step touches
 * nothing any more, and returns DONE */
static inline bool inbox_end(epwin_am_inbox_t *inbox)
{
    epwin_am_item_t *active = EPWIN_AM_ACTIVE;

    /* Release: orders what the step has written before its end; partners: inbox_push,
     * inbox_is_idle. */
    return atomic_compare_exchange_strong_explicit(&inbox->last, &active, NULL,
                                                   memory_order_release, memory_order_relaxed);
}

#endif /* MCA_OSC_EPWIN_AM_INBOX_H */
