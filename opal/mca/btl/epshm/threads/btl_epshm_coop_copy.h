/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * One copy, two cores: a long copy that others may help with.
 *
 * The thread that has to copy (the taker, a receiver) opens the copy in a place that belongs to the
 * sender (its receive queue), and both take pieces of it until none is left.  A helper that
 * does not come costs nothing; one that has taken a piece is waited for.  One copy at a time is
 * open in a place; a thread that finds it taken copies alone.
 *
 * The ticket holds the copy's generation and the next free piece.  A helper reads the ticket, then
 * what is to be copied, and claims a piece by a compare-and-swap of the ticket: if that succeeds
 * the copy is still the same one, and stays open until the piece is done.  Between copies the
 * ticket is closed (a piece number that no copy has), so what is to be copied changes only while
 * no thread can claim.
 *
 * Standalone: C11 atomics, no Open MPI.
 *
 * Tests: unit/test_epshm_coop_copy, model/coop_copy
 */

#ifndef BTL_EPSHM_COOP_COPY_H
#define BTL_EPSHM_COOP_COPY_H

#include <limits.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Bytes of one piece: long enough for a claim not to count (some 10 ns of 300), short enough for
 * 64 KiB to be shared. */
#define EPSHM_COOP_COPY_PIECE ((size_t) 16384)

/** Pieces that a helper copies before it looks after its own affairs again: 64 KiB. */
#define EPSHM_COOP_COPY_TURN 4

/** Number of a piece that does not exist: the copy is closed. */
#define EPSHM_COOP_COPY_CLOSED UINT32_MAX

typedef struct epshm_coop_copy_t {
    alignas(
        64) _Atomic uint64_t ticket; /**< generation in the upper, next piece in the lower half */
    _Atomic uint32_t pieces;
    _Atomic uint32_t done; /**< pieces copied */
    _Atomic uintptr_t source;
    _Atomic uintptr_t target;
    _Atomic size_t size; /**< bytes */
    _Atomic bool taken;  /**< by a taker */
} epshm_coop_copy_t;

static inline void epshm_coop_copy_init(epshm_coop_copy_t *share)
{
    atomic_init(&share->ticket, EPSHM_COOP_COPY_CLOSED);
    atomic_init(&share->pieces, 0);
    atomic_init(&share->done, 0);
    atomic_init(&share->source, 0);
    atomic_init(&share->target, 0);
    atomic_init(&share->size, 0);
    atomic_init(&share->taken, false);
}

/** Is there a copy to help with?  A hint; any thread, one cache line. */
static inline bool epshm_coop_copy_open(const epshm_coop_copy_t *share)
{
    /* Relaxed: a caller that acts on the answer goes through epshm_coop_copy_work. */
    return EPSHM_COOP_COPY_CLOSED
           != (uint32_t) atomic_load_explicit(&share->ticket, memory_order_relaxed);
}

/**
 * Copy pieces, at most as many as that, until none is left to claim.  Called by the taker, which
 * copies all there is (INT_MAX), and by any number of helpers.
 *
 * @return number of pieces copied
 */
static inline int epshm_coop_copy_work(epshm_coop_copy_t *share, int most)
{
    int copied = 0;

    while (copied < most) {
        /* Acquire pairs with the release in epshm_coop_copy_take: what is to be copied, and the
         * target as the taker left it, are ordered before our reads and writes. */
        uint64_t ticket = atomic_load_explicit(&share->ticket, memory_order_acquire);
        const uint32_t piece = (uint32_t) ticket;
        /* Acquire pairs with the release in epshm_coop_copy_take: a thread that sees the number of
         * pieces of the next copy also sees that the last one is closed, and its claim fails. */
        const uint32_t pieces = atomic_load_explicit(&share->pieces, memory_order_acquire);
        const uintptr_t source = atomic_load_explicit(&share->source, memory_order_relaxed);
        const uintptr_t target = atomic_load_explicit(&share->target, memory_order_relaxed);
        const size_t size = atomic_load_explicit(&share->size, memory_order_relaxed);
        const size_t offset = (size_t) piece * EPSHM_COOP_COPY_PIECE;
        size_t length;

        /* The comparison with pieces is only sure once the claim has succeeded. */
        if (EPSHM_COOP_COPY_CLOSED == piece || piece >= pieces) {
            return copied;
        }
        /* Acquire and release: the loads above stay before the claim, the copying behind it. */
        if (!atomic_compare_exchange_strong_explicit(&share->ticket, &ticket, ticket + 1,
                                                     memory_order_acq_rel, memory_order_relaxed)) {
            continue;
        }
        length = size - offset < EPSHM_COOP_COPY_PIECE ? size - offset : EPSHM_COOP_COPY_PIECE;
        memcpy((void *) (target + offset), (const void *) (source + offset), length);
        ++copied;
        /* Release pairs with the acquire in epshm_coop_copy_finish: the piece is ordered before the
         * count. */
        atomic_fetch_add_explicit(&share->done, 1, memory_order_release);
    }
    return copied;
}

/** Open a copy.  @return false if another one is open in this place */
static inline bool epshm_coop_copy_take(epshm_coop_copy_t *share, void *target, const void *source,
                                        size_t size)
{
    uint64_t generation;

    /* Acquire pairs with the release in epshm_coop_copy_finish: the last copy is over before
     * ours. */
    if (atomic_load_explicit(&share->taken, memory_order_relaxed)
        || atomic_exchange_explicit(&share->taken, true, memory_order_acquire)) {
        return false;
    }
    /* Relaxed: only the taker, which we are now, changes the generation. */
    generation = (atomic_load_explicit(&share->ticket, memory_order_relaxed) >> 32) + 1;
    atomic_store_explicit(&share->source, (uintptr_t) source, memory_order_relaxed);
    atomic_store_explicit(&share->target, (uintptr_t) target, memory_order_relaxed);
    atomic_store_explicit(&share->size, size, memory_order_relaxed);
    atomic_store_explicit(&share->pieces,
                          (uint32_t) ((size + EPSHM_COOP_COPY_PIECE - 1) / EPSHM_COOP_COPY_PIECE),
                          memory_order_release);
    atomic_store_explicit(&share->done, 0, memory_order_relaxed);
    /* Release pairs with the acquire in epshm_coop_copy_work. */
    atomic_store_explicit(&share->ticket, generation << 32, memory_order_release);
    return true;
}

/** The taker has found nothing left to claim: wait for the helpers, close. */
static inline void epshm_coop_copy_finish(epshm_coop_copy_t *share)
{
    const uint32_t pieces = atomic_load_explicit(&share->pieces, memory_order_relaxed);

    for (uint32_t spins = 1; pieces != atomic_load_explicit(&share->done, memory_order_acquire);
         ++spins) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
        if (0 == spins % 1024) {
            sched_yield(); /* a helper has lost its core with a piece in hand */
        }
    }
    /* Relaxed: no claim can succeed any more; closed before the fields change again, because the
     * next taker comes after the release below. */
    atomic_store_explicit(&share->ticket,
                          atomic_load_explicit(&share->ticket, memory_order_relaxed)
                              | EPSHM_COOP_COPY_CLOSED,
                          memory_order_relaxed);
    atomic_store_explicit(&share->taken, false, memory_order_release);
}

/** memcpy, with the help of threads that work in share. */
static inline void epshm_coop_copy_copy(epshm_coop_copy_t *share, void *target, const void *source,
                                        size_t size)
{
    if (!epshm_coop_copy_take(share, target, source, size)) {
        memcpy(target, source, size);
        return;
    }
    (void) epshm_coop_copy_work(share, INT_MAX);
    epshm_coop_copy_finish(share);
}

#endif /* BTL_EPSHM_COOP_COPY_H */
