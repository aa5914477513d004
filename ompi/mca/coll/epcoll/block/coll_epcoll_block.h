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
 * One rule of reuse: a member writes a slot for an operation only when all are through with the one
 * that is EPCOLL_WINDOW before it (epcoll_begin).  What it knows of that comes for nothing where all
 * wait for all (epcoll_all_came); elsewhere it reads every member's word, once in a window or less.
 *
 * Memory order.  A slot's contents are plain; its number is stored with release after them, and loaded
 * with acquire before them.  Reads of a slot come before their reader's store to through (release),
 * which the writer loads (acquire) before it writes the slot again; or before the reader's next slot
 * or word, which the writer has seen in an operation of all.
 *
 * Standalone: C11 atomics, no Open MPI.  The operations: coll_epcoll_tree.h, coll_epcoll_work.h.
 *
 * Tests: unit/test_epcoll_block
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
    /** Called while we wait, as the engine turns: nothing of the block is held. @return 0 or an error,
     * with which the operation ends */
    int (*turn)(void *context);
    void *context;
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
    member->number = member->safe = 0;
    member->turn = NULL;
    member->context = NULL;
}

static inline epcoll_slot_t *epcoll_slot(const epcoll_member_t *member, uint32_t index)
{
    return &member->place[index].slot[member->number % EPCOLL_WINDOW];
}

/** No operation of the block ends well any more; those who wait learn of it.  Any thread.
 * @return false: it was broken already */
static inline bool epcoll_break(epcoll_member_t *member, int why)
{
    int none = 0;

    /* Relaxed: nothing but the word itself is read by it. */
    return atomic_compare_exchange_strong_explicit(member->broken, &none, why,
                                                   memory_order_relaxed, memory_order_relaxed);
}

/** An operation of ours has failed: the next ones will in epcoll_begin, with no test on the fast way. */
static inline void epcoll_give_up(epcoll_member_t *member)
{
    member->safe = 0 - (uint64_t) EPCOLL_WINDOW; /* no number is safe */
}

static inline void epcoll_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/** One look in vain.  @return 0, or the error with which to end */
static inline int epcoll_look(epcoll_member_t *member, uint32_t *looks)
{
    int rc;

    if (++*looks < EPCOLL_LOOKS_FIRST || 0 != *looks % EPCOLL_LOOKS) {
        if (0 != *looks % 2) {
            epcoll_relax();
        }
        return 0;
    }
    rc = atomic_load_explicit(member->broken, memory_order_relaxed);
    return 0 != rc || NULL == member->turn ? rc : member->turn(member->context);
}

/** Wait until a word has come to a number.  @return 0, or why it will not */
static inline int epcoll_wait(epcoll_member_t *member, _Atomic uint64_t *word, uint64_t number)
{
    uint32_t looks = 0;
    int rc = 0;

    while (atomic_load_explicit(word, memory_order_acquire) < number && 0 == rc) {
        rc = epcoll_look(member, &looks);
    }
    return rc;
}

/** Reads who is through with what, until nobody is in the operation that had our slot before. */
static inline int epcoll_find_safe(epcoll_member_t *member)
{
    const uint64_t wanted = member->number - EPCOLL_WINDOW;
    const int why = atomic_load_explicit(&member->block->broken, memory_order_relaxed);
    uint64_t least = member->number - 1;

    if (0 != why) {
        return why;
    }
    for (uint32_t i = 0; i < member->count; ++i) {
        uint64_t through = UINT64_MAX;
        uint32_t looks = 0;
        int rc = 0;

        /* Acquire pairs with the release in epcoll_end_at: what it has read of our slots is read. */
        while (i != member->index && 0 == rc
               && (through = atomic_load_explicit(&member->place[i].through, memory_order_acquire))
                      < wanted) {
            rc = epcoll_look(member, &looks);
        }
        if (0 != rc) {
            return rc;
        }
        least = through < least ? through : least;
    }
    member->safe = least;
    return 0;
}

/** Likewise without waiting, of any operation.  @return may its slot be written? */
static inline bool epcoll_may_begin(epcoll_member_t *member, uint64_t number)
{
    uint64_t least = UINT64_MAX;

    if (number <= member->safe + EPCOLL_WINDOW) {
        return true;
    }
    for (uint32_t i = 0; i < member->count; ++i) {
        /* Acquire pairs with the release in epcoll_end_at. */
        const uint64_t through = atomic_load_explicit(&member->place[i].through,
                                                      memory_order_acquire);

        least = through < least ? through : least;
    }
    member->safe = least;
    return number <= least + EPCOLL_WINDOW;
}

/** The next operation; afterwards its slot may be written.  @return 0 or an error */
static inline int epcoll_begin(epcoll_member_t *member)
{
    ++member->number;
    if (__builtin_expect(member->number <= member->safe + EPCOLL_WINDOW, 1)) {
        return 0;
    }
    return epcoll_find_safe(member);
}

/** All have come to this operation, so all are through with those before. */
static inline void epcoll_all_came(epcoll_member_t *member)
{
    member->safe = member->number - 1;
}

/** We are through with all operations up to this one: read nothing of them any more. */
static inline void epcoll_end_at(epcoll_member_t *member, uint64_t number)
{
    /* Release pairs with the acquires in epcoll_find_safe and epcoll_may_begin. */
    atomic_store_explicit(&member->place[member->index].through, number, memory_order_release);
}

/** We are through with the operation. */
static inline void epcoll_end(epcoll_member_t *member)
{
    epcoll_end_at(member, member->number);
}

/** Say something in a slot of ours.  @param size  at most EPCOLL_INLINE */
static inline void epcoll_say(epcoll_slot_t *slot, uint64_t number, uint64_t call, const void *data,
                              size_t size)
{
    slot->call = call;
    memcpy(slot->data, data, size);
    /* Release pairs with the acquire in epcoll_wait. */
    atomic_store_explicit(&slot->number, number, memory_order_release);
}

#endif /* COLL_EPCOLL_BLOCK_H */
