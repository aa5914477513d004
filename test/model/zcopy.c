/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Model of zero-copy sends (btl_epshm_zcopy_cell.h): a sender that sends, recalls and writes to its memory, and
 * a receiver that reads it, or what it finds in its place.
 *
 * membarrier(2) is an interrupt of the receiver at one of the points between its accesses, which
 * the checker chooses; as in lock.c, where it is explained.  MODEL_UNFENCED: none, and the receiver
 * must be found reading what the sender writes.
 *
 * MODEL_AGAIN: the sends one by one, each recalled, instead of both at once.
 *
 * Guards: btl_epshm_zcopy_cell.h
 */

#define MODEL_THREADS 2
#include "model.h"

#if defined(MODEL_CHECKER)
static void between(void);
static long barrier(void);

#    undef atomic_signal_fence
#    define atomic_signal_fence(order) between()
#    define syscall(...) barrier()
#    define EPSHM_ZCOPY_STEP() between()
#    define POINT() between()
#else
#    define POINT() ((void) 0)
#endif

#include "opal/mca/btl/epshm/threads/btl_epshm_zcopy_cell.h"

#define LOANS 2

epshm_spsc_ring_t *ring;
epshm_spsc_writer_t writer;
uint64_t mine[LOANS], copies[LOANS]; /* the sender's memory, and what stands in for it */
uint64_t handled;                    /* by the receiver */

#if defined(MODEL_CHECKER)

static _Atomic int asked, answered;

/** A point at which the receiver may be interrupted. */
static void between(void)
{
#    if !defined(MODEL_UNFENCED)
    const int now = atomic_load_explicit(&asked, memory_order_relaxed);

    if (now != atomic_load_explicit(&answered, memory_order_relaxed)) {
        atomic_thread_fence(memory_order_seq_cst);
        atomic_store_explicit(&answered, now, memory_order_relaxed);
    }
#    endif
}

static long barrier(void)
{
#    if !defined(MODEL_UNFENCED)
    int now;

    atomic_thread_fence(memory_order_seq_cst);
    now = 1 + atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed);
    /* A thread that has ended is not asked. */
    __VERIFIER_assume(now <= atomic_load_explicit(&answered, memory_order_relaxed));
    atomic_thread_fence(memory_order_seq_cst);
#    endif
    return 0;
}

#endif

static void model_setup(void)
{
    epshm_spsc_destroy(ring);
    ring = epshm_spsc_create(4);
    assert(NULL != ring);
    epshm_spsc_attach(&writer, ring);
    handled = 0;
#if !defined(MODEL_CHECKER)
    if (!epshm_zcopy_setup()) {
        printf("ok 1 - no membarrier here # SKIP\n");
        exit(0);
    }
#endif
}

static void zcopy_send(uint64_t number)
{
    mine[number] = 10 + number;
    MODEL_AWAIT(epshm_spsc_has_room(&writer, 1));
    ((epshm_zcopy_cell_t *) (void *) epshm_spsc_cell(&writer, 0)->data)->address = &mine[number];
    epshm_spsc_publish(&writer, 1, (epshm_spsc_mark_t){.kind = 5, .size = 8});
}

/** Have the memory of all that is out from first on, and use it for something else. */
static void take_back(uint64_t first, uint64_t last)
{
    epshm_zcopy_recall(&writer);
    MODEL_AWAIT(epshm_zcopy_is_settled(ring));
    for (uint64_t number = first; number < last; ++number) {
        if (!epshm_zcopy_is_over(ring, number)) {
            copies[number] = mine[number];
            epshm_zcopy_replace(ring, number, &copies[number]);
        }
        mine[number] = 0;
    }
}

static void send_all(void)
{
#if defined(MODEL_AGAIN)
    for (uint64_t number = 0; number < LOANS; ++number) {
        zcopy_send(number);
        take_back(number, number + 1);
    }
#else
    for (uint64_t number = 0; number < LOANS; ++number) {
        zcopy_send(number);
    }
    take_back(0, LOANS);
#endif
}

static void receive(uint64_t number)
{
    const epshm_spsc_cell_t *cell;
    epshm_spsc_mark_t mark;
    const uint64_t *data;

    MODEL_AWAIT(NULL != (cell = epshm_spsc_peek(ring, &mark)));
    POINT();
    if (EPSHM_ZCOPY_RECALLED == epshm_zcopy_borrow(ring)) {
        POINT();
        MODEL_AWAIT(EPSHM_ZCOPY_RECALLED != epshm_zcopy_borrow(ring));
    }
    POINT();
    data = ((const epshm_zcopy_cell_t *) (const void *) cell->data)->address;
    assert(10 + number == *data);
    POINT();
    ++handled;
    epshm_spsc_pop(ring, 1);
}

static void model_thread(unsigned int thread)
{
    if (0 == thread) {
        send_all();
        return;
    }
    for (uint64_t number = 0; number < LOANS; ++number) {
        POINT();
        receive(number);
    }
#if defined(MODEL_CHECKER) && !defined(MODEL_UNFENCED)
    /* The end: whatever is asked from now on is answered. */
    between();
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&answered, 1000, memory_order_relaxed);
#endif
}

static void model_verdict(void)
{
    assert(LOANS == handled && epshm_spsc_is_drained(&writer));
#if defined(MODEL_CHECKER)
    epshm_spsc_destroy(ring);
#endif
}
