/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Zero-copy sends: messages of an SPSC ring whose bytes stay in the sender's memory until the receiver has copied
 * them, or the sender wants its memory back.
 *
 * The cell of such a message says where the bytes are.  The receiver copies them from there and
 * gives the cell back as any other; by the head the sender knows that its memory is its own again.
 * If the receiver does not come, the sender recalls all its zero-copy sends in the SPSC ring: it copies
 * the bytes somewhere else and writes into the cells where.
 *
 *   receiver, at position p              sender
 *   borrowed = p + 1                     recalled = tail
 *   (compiler barrier)                   membarrier: every thread passes a full barrier
 *   recalled <= p?  read, pop            wait until nothing is borrowed: head, or borrowed, differs
 *   else wait for replaced > p           write the cells that are left, replaced = tail
 *
 * The two sides are Dekker's, as those of the endpoint's lock: the common side, the receiver, pays
 * two moves, and the rare one a system call.  Positions never come twice, so none of the four words
 * needs to be reset.
 *
 * Standalone: C11 atomics, no Open MPI.
 *
 * Tests: unit/test_epshm_zcopy_cell, model/zcopy
 */

#ifndef BTL_EPSHM_ZCOPY_CELL_H
#define BTL_EPSHM_ZCOPY_CELL_H

#include "btl_epshm_spsc.h"

#if defined(__linux__)
#    include <linux/membarrier.h>
#    include <sys/syscall.h>
#    include <unistd.h>
#endif

/** Between two steps of a receiver that a sender may come in between: for tests to pause. */
#if !defined(EPSHM_ZCOPY_STEP)
#    define EPSHM_ZCOPY_STEP()
#endif

/** What a zero-copy send has in its cell. */
typedef struct epshm_zcopy_cell_t {
    void *address;            /**< of the bytes; once replaced, what the sender has put there */
    unsigned char header[16]; /**< of the message */
} epshm_zcopy_cell_t;

_Static_assert(EPSHM_SPSC_PAYLOAD == sizeof(epshm_zcopy_cell_t), "one cell");

/** Ask the kernel once for the right to use its barrier.  @return whether there can be zero-copy
 * sends */
static inline bool epshm_zcopy_setup(void)
{
#if defined(__linux__)
    return 0 == syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
#else
    return false;
#endif
}

/* ---- receiver -------------------------------------------------------------------------------- */

/** What the receiver may do with a zero-copy send. */
typedef enum epshm_zcopy_state_t {
    EPSHM_ZCOPY_OPEN,     /**< read it, then epshm_spsc_pop */
    EPSHM_ZCOPY_REPLACED, /**< read what stands in its place, then epshm_spsc_pop */
    EPSHM_ZCOPY_RECALLED  /**< neither yet: come again */
} epshm_zcopy_state_t;

/** The sender takes back the first message, or has done so. */
static inline epshm_zcopy_state_t epshm_zcopy_recalled(const epshm_spsc_ring_t *ring, uint64_t head)
{
    /* Acquire pairs with the release in epshm_zcopy_replace: the copy and the cell before it. */
    return head < atomic_load_explicit(&ring->replaced, memory_order_acquire)
               ? EPSHM_ZCOPY_REPLACED
               : EPSHM_ZCOPY_RECALLED;
}

/** The first message of the SPSC ring is a zero-copy send: whose are its bytes?  Consumer only. */
static inline epshm_zcopy_state_t epshm_zcopy_borrow(epshm_spsc_ring_t *ring)
{
    /* Relaxed: only the consumer writes the head. */
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    /* Relaxed: a look ahead, so that a sender that waits for us to let go does not see us borrow
     * again and again. */
    if (__builtin_expect(head < atomic_load_explicit(&ring->recalled, memory_order_relaxed), 0)) {
        return epshm_zcopy_recalled(ring, head);
    }
    EPSHM_ZCOPY_STEP();
    /* Relaxed, with only the compiler held back: the membarrier in epshm_zcopy_recall stands for
     * the fence between this store and the load below. */
    atomic_store_explicit(&ring->borrowed, head + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    /* Acquire: the reading stays behind this look. */
    if (__builtin_expect(head >= atomic_load_explicit(&ring->recalled, memory_order_acquire), 1)) {
        return EPSHM_ZCOPY_OPEN;
    }
    /* Release: pairs with the acquire in epshm_zcopy_is_settled; nothing has been read. */
    atomic_store_explicit(&ring->borrowed, 0, memory_order_release);
    return epshm_zcopy_recalled(ring, head);
}

/* ---- sender ---------------------------------------------------------------------------------- */

/** Has the receiver read the zero-copy send at position?  Then the memory is the sender's again. */
static inline bool epshm_zcopy_is_over(const epshm_spsc_ring_t *ring, uint64_t position)
{
    /* Acquire pairs with the release in epshm_spsc_pop: the receiver's reads before what we write
     * next. */
    return position < atomic_load_explicit(&ring->head, memory_order_acquire);
}

/** Recall all zero-copy sends so far.  A system call, microseconds. */
static inline void epshm_zcopy_recall(const epshm_spsc_writer_t *writer)
{
    /* Relaxed: ordered by the barrier.  After it each receiver that looks sees it, and one that has
     * not seen it is seen to borrow. */
    atomic_store_explicit(&writer->ring->recalled, writer->tail, memory_order_relaxed);
#if defined(__linux__)
    if (0 != syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0)) {
        abort(); /* allowed when asked and forbidden since: the receiver may be reading or not */
    }
#endif
}

/** Zero-copy sends have been taken back: is the receiver through with the one that it was reading?
 * Then those that epshm_zcopy_is_over does not know of have not been read, and will not be. */
static inline bool epshm_zcopy_is_settled(const epshm_spsc_ring_t *ring)
{
    /* Acquire pairs with the releases of borrowed and of the head: what the receiver read before
     * what we write next.  Borrowed first: a receiver that has gone on to another one had not seen
     * the recall, so that one is behind what was recalled, or is seen now. */
    const uint64_t borrowed = atomic_load_explicit(&ring->borrowed, memory_order_acquire);

    return 0 == borrowed || epshm_zcopy_is_over(ring, borrowed - 1);
}

/** The zero-copy send at position has been copied: this is where the receiver finds it.  In
 * order. */
static inline void epshm_zcopy_replace(epshm_spsc_ring_t *ring, uint64_t position, void *address)
{
    epshm_zcopy_cell_t *cell = (epshm_zcopy_cell_t *) ring->cell[position & ring->mask].data;

    cell->address = address;
    /* Release pairs with the acquire in epshm_zcopy_recalled. */
    atomic_store_explicit(&ring->replaced, position + 1, memory_order_release);
}

#endif /* BTL_EPSHM_ZCOPY_CELL_H */
