/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * What the members of a communicator that live in one process share: the block.
 *
 * Operations have numbers, from 1, the same at all members: MPI has them call collectives in the same
 * order.  Each member has a place of its own that nobody else writes, and in it a few slots, taken in
 * turns: slot number % EPCOLL_WINDOW holds what a member says in operation number.  Nothing is ever
 * set back: a reader waits until the number in a slot is that of its operation.
 *
 * Memory order.  A slot's contents are plain; its number is stored with release after them, and loaded
 * with acquire before them.  When it may be written again: coll_epcoll_reuse.h.
 *
 * Standalone: C11 atomics, no Open MPI.  The operations: coll_epcoll_tree.h, coll_epcoll_work.h.
 *
 * Tests: unit/test_epcoll_block, coll_late
 */

#ifndef COLL_EPCOLL_BLOCK_H
#define COLL_EPCOLL_BLOCK_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Operations that may be under way at a time. */
#define EPCOLL_WINDOW 4

/** Bytes of data that travel in a slot: what its line has left. */
#define EPCOLL_INLINE ((size_t) 48)

/** Members or nodes whose lines one member reads: groups of a tree, see coll_epcoll_tree.h. */
#define EPCOLL_FAN 8

/** Levels of a tree, at most: 8^6 members. */
#define EPCOLL_LEVELS 6

/** Looks at a word before the first turn of the engine, and between turns: a microsecond, and less. */
#define EPCOLL_LOOKS_FIRST 400
#define EPCOLL_LOOKS 16
/** Likewise where there are more threads than cores, then at each look: what is waited for mostly needs
 * this core.  Four threads on two cores, 1 instead of 16: a barrier of two processes in 2.0 us instead of
 * 2.7, a bcast in 1.5 instead of 1.9. */
#define EPCOLL_LOOKS_CROWDED 1

/** A line: what a member, or the leader of a node, says in one operation. */
typedef struct epcoll_slot_t {
    alignas(64) _Atomic uint64_t number; /**< of the operation; 0: none yet */
    uint64_t call;                       /**< what has been called: equal at all members */
    unsigned char data[EPCOLL_INLINE];
} epcoll_slot_t;

/** A member's place: six lines. */
typedef struct epcoll_place_t {
    epcoll_slot_t slot[EPCOLL_WINDOW];
    alignas(64) _Atomic uint64_t through; /**< the last operation that it is through with */
    /** Of a leader: all members of the node that it leads on a level are, with those up to this. */
    _Atomic uint64_t below[EPCOLL_LEVELS];
    /** Shares of work, by any member: see coll_epcoll_work.h. */
    alignas(64) struct {
        _Atomic uint64_t claimed;
        _Atomic uint64_t done;
    } work[EPCOLL_WINDOW];
} epcoll_place_t;

/** A node of the tree: a group of members, or of nodes.  Written by its leader, its first member. */
typedef struct epcoll_node_t {
    epcoll_slot_t up[EPCOLL_WINDOW];   /**< what its members say together */
    epcoll_slot_t down[EPCOLL_WINDOW]; /**< what all say */
} epcoll_node_t;

/** The block's first line; places and nodes follow.  All zero at first. */
typedef struct epcoll_block_t {
    alignas(64) _Atomic int broken; /**< 0, or why no operation ends well any more, for good */
    _Atomic uint32_t users;         /**< its owner's: see pending/coll_epcoll_side.c */
    void *_Atomic left;             /**< likewise */
    _Atomic uint32_t told;          /**< likewise: see base/coll_epcoll_wait.c */
} epcoll_block_t;

/** A member's view, of its own thread. */
typedef struct epcoll_member_t {
    epcoll_block_t *block;
    _Atomic int *broken;           /**< the block's, or that of another one, which it breaks with */
    epcoll_place_t *place;         /**< of all members, by index */
    epcoll_node_t *node;           /**< of all levels */
    uint32_t count, index;         /**< members; our own one among them */
    uint32_t fan;                  /**< EPCOLL_FAN, or fewer in tests */
    uint32_t levels;               /**< of nodes; 0: all members read each other's slots */
    uint32_t first[EPCOLL_LEVELS]; /**< where the nodes of a level begin, the lowest level first */
    uint32_t nodes[EPCOLL_LEVELS]; /**< how many there are */
    uint64_t number;               /**< of the operation that we are in, or were last */
    uint64_t safe;                 /**< nobody is in an operation up to this one */
    uint64_t safe_below;           /**< likewise, of the nodes that we lead; safe, or more */
    uint32_t patience; /**< looks at a word before the first turn of the engine */
    uint32_t pace;     /**< looks between turns */
    /** Called while we wait, as the engine turns: nothing of the block is held. @return 0 or an error,
     * with which the operation ends */
    int (*turn)(void *context);
    void *context;
    const void
        *order; /**< its owner's: local/coll_epcoll_order.h; NULL: from the last to the first */
    epcoll_slot_t *ring; /**< lines of all members: coll_epcoll_ahead.h; NULL: there are none */
} epcoll_member_t;

/** Sets the sizes of the tree of that many members.  @return how many nodes there are in all */
static inline uint32_t epcoll_tree(epcoll_member_t *member, uint32_t count, uint32_t fan)
{
    uint32_t all = 0;

    member->levels = 0;
    for (uint32_t width = count; width > fan && member->levels < EPCOLL_LEVELS;) {
        width = (width + fan - 1) / fan;
        member->first[member->levels] = all;
        member->nodes[member->levels++] = width;
        all += width;
    }
    return all;
}

/** Bytes of the block of that many members. */
static inline size_t epcoll_block_size(uint32_t count, uint32_t fan)
{
    epcoll_member_t view;

    return sizeof(epcoll_block_t) + count * sizeof(epcoll_place_t)
           + epcoll_tree(&view, count, fan) * sizeof(epcoll_node_t);
}

/** Are there more threads than cores?  Then who is waited for may be waiting for this one's. */
static inline void epcoll_set_crowded(epcoll_member_t *member, bool crowded)
{
    member->patience = crowded ? EPCOLL_LOOKS_CROWDED : EPCOLL_LOOKS_FIRST;
    member->pace = crowded ? 1 : EPCOLL_LOOKS;
}

/**
 * Make a member's view of a block.
 *
 * @param memory  epcoll_block_size bytes, all 0 before the first member comes, the same for all; they
 *                last as long as the last view
 * @param index   0 to count - 1, another one for each member
 */
static inline void epcoll_member_init(epcoll_member_t *member, void *memory, uint32_t count,
                                      uint32_t index, uint32_t fan)
{
    member->block = memory;
    member->broken = &member->block->broken;
    member->place = (epcoll_place_t *) (member->block + 1);
    member->node = (epcoll_node_t *) (member->place + count);
    member->count = count;
    member->index = index;
    member->fan = fan;
    (void) epcoll_tree(member, count, fan);
    member->number = member->safe = member->safe_below = 0;
    epcoll_set_crowded(member, false);
    member->turn = NULL;
    member->context = NULL;
    member->order = NULL;
    member->ring = NULL;
}

static inline epcoll_slot_t *epcoll_slot(const epcoll_member_t *member, uint32_t index)
{
    return &member->place[index].slot[member->number % EPCOLL_WINDOW];
}

/** No operation of the block ends well any more; those who wait learn of it, and those who come.  Any
 * thread.  @return false: it was broken already */
static inline bool epcoll_break(epcoll_member_t *member, int why)
{
    int none = 0;

    /* Relaxed: nothing but the word itself is read by it. */
    return atomic_compare_exchange_strong_explicit(member->broken, &none, why,
                                                   memory_order_relaxed, memory_order_relaxed);
}

static inline void epcoll_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/**
 * Asks for lines that we are about to look at one after the other: they come at the same time.
 * Nothing depends on it; loads that acquire may each wait for the one before, and would where a
 * processor has not foretold that the number is there.
 *
 * @param stride  bytes from one to the next
 */
static inline void epcoll_ask(const void *line, size_t stride, uint32_t count)
{
    for (const char *next = line; 0 < count; --count, next += stride) {
        __builtin_prefetch(next);
    }
}

/** One look in vain.  @return 0, or the error with which to end */
static inline int epcoll_look(epcoll_member_t *member, uint32_t *looks)
{
    int rc;

    if (++*looks < member->patience || 0 != *looks % member->pace) {
        if (0 != *looks % 2) {
            epcoll_relax();
        }
        return 0;
    }
    rc = atomic_load_explicit(member->broken, memory_order_relaxed);
    return 0 != rc || NULL == member->turn ? rc : member->turn(member->context);
}

/** Was the last look one of the few that may take longer? */
static inline bool epcoll_looks_long(const epcoll_member_t *member, uint32_t looks)
{
    return member->patience <= looks && 0 == looks % EPCOLL_LOOKS;
}

/**
 * Has a member left our operation without a word in its slot?  Then it has called something in which
 * it has nothing to say, which is not what we have called.  For those who have waited for long: it
 * reads a line that the member writes at each end.
 */
static inline bool epcoll_is_gone(const epcoll_member_t *member, uint32_t index)
{
    /* Acquire pairs with the release in epcoll_end: what the member has said before is seen, so the
     * slot's number may be read relaxed. */
    return member->number <= atomic_load_explicit(&member->place[index].through,
                                                  memory_order_acquire)
           && atomic_load_explicit(&epcoll_slot(member, index)->number, memory_order_relaxed)
                  < member->number;
}

/** What a slot holds: mostly a number, for which no function is called. */
static inline void epcoll_copy(void *to, const void *from, size_t size)
{
    if (sizeof(uint64_t) == size) {
        memcpy(to, from, sizeof(uint64_t));
    } else if (0 != size) {
        memcpy(to, from, size);
    }
}

/** Say something in a slot of ours.  @param size  at most EPCOLL_INLINE */
static inline void epcoll_say(epcoll_slot_t *slot, uint64_t number, uint64_t call, const void *data,
                              size_t size)
{
    slot->call = call;
    epcoll_copy(slot->data, data, size);
    /* Release pairs with the acquire in epcoll_wait_member, and its like. */
    atomic_store_explicit(&slot->number, number, memory_order_release);
}

#endif /* COLL_EPCOLL_BLOCK_H */
