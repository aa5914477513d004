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
 * One rule of reuse: a slot is written for an operation only when all who may read it are through with
 * the one that is EPCOLL_WINDOW before it.  Of a member's own slot these are all (epcoll_begin), of a
 * node's the node's members (epcoll_begin_leader); who writes nothing asks nobody.  What a member knows
 * of that comes for nothing where all wait for all (epcoll_all_came).  Elsewhere leaders look after
 * their nodes, once in a window or less, and say in a word of the node how far all of it are; who wants
 * to know it of all reads the topmost nodes' words, and goes down to the members' own, and waits there,
 * only where a node's is not new enough.  So nobody reads more than a few lines for it, and nobody waits
 * for a leader.
 *
 * Memory order.  A slot's contents are plain; its number is stored with release after them, and loaded
 * with acquire before them.  Reads of a slot come before their reader's store to through (release),
 * which the writer loads (acquire) before it writes the slot again, itself or by way of leaders, who
 * load it and store the node's word behind it; or before the reader's next slot or word, which the
 * writer has seen in an operation of all.
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
/** Likewise before the first one, where there are more threads than cores; then at each look. */
#define EPCOLL_LOOKS_CROWDED 16

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
    alignas(
        64) _Atomic uint64_t through; /**< all its members are, with operations up to this one */
} epcoll_node_t;

/** The block's first line; places and nodes follow.  All zero at first. */
typedef struct epcoll_block_t {
    alignas(64) _Atomic int broken; /**< 0, or why no operation ends well any more, for good */
} epcoll_block_t;

/** A member's view, of its own thread. */
typedef struct epcoll_member_t {
    epcoll_block_t *block;
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
}

static inline epcoll_slot_t *epcoll_slot(const epcoll_member_t *member, uint32_t index)
{
    return &member->place[index].slot[member->number % EPCOLL_WINDOW];
}

/** No operation of the block ends well any more; those who wait learn of it.  Any thread. */
static inline void epcoll_break(epcoll_member_t *member, int why)
{
    int none = 0;

    /* Relaxed: nothing but the word itself is read by it. */
    atomic_compare_exchange_strong_explicit(&member->block->broken, &none, why,
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
    rc = atomic_load_explicit(&member->block->broken, memory_order_relaxed);
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

static inline epcoll_node_t *epcoll_node(const epcoll_member_t *member, uint32_t level,
                                         uint32_t index)
{
    return &member->node[member->first[level] + index];
}

/** How many there are on a level; those of level -1 are the members. */
static inline uint32_t epcoll_width(const epcoll_member_t *member, int level)
{
    return level < 0 ? member->count : member->nodes[level];
}

/** Does it lead nodes? */
static inline bool epcoll_leads(const epcoll_member_t *member)
{
    return 0 < member->levels && 0 == member->index % member->fan;
}

/**
 * Reads who is through with what, of some nodes of a level, or, of level -1, of some members.
 *
 * @param wanted  waits until all are through with this one
 * @param least   becomes the last one that all are through with, if that is less than it was
 *
 * @return 0 or an error
 */
static inline int epcoll_read_through(epcoll_member_t *member, int level, uint32_t from,
                                      uint32_t to, uint64_t wanted, uint64_t *least)
{
    if (level < 0) {
        epcoll_ask(&member->place[from].through, sizeof(epcoll_place_t), to - from);
    } else {
        epcoll_ask(&epcoll_node(member, (uint32_t) level, from)->through, sizeof(epcoll_node_t),
                   to - from);
    }
    for (uint32_t i = from; i < to; ++i) {
        uint64_t through;
        uint32_t looks = 0;
        int rc = 0;

        if (0 <= level) {
            const uint32_t first = i * member->fan, below = epcoll_width(member, level - 1);

            /* Acquire pairs with the release in epcoll_look_below. */
            through = atomic_load_explicit(&epcoll_node(member, (uint32_t) level, i)->through,
                                           memory_order_acquire);
            if (through < wanted) {
                through = UINT64_MAX;
                rc = epcoll_read_through(member, level - 1, first,
                                         first + member->fan < below ? first + member->fan : below,
                                         wanted, &through);
            }
        } else if (i == member->index) {
            through = member->number - 1;
        } else {
            /* Acquire pairs with the release in epcoll_end: what it has read of our slots is read. */
            while ((through = atomic_load_explicit(&member->place[i].through,
                                                   memory_order_acquire))
                       < wanted
                   && 0 == rc) {
                rc = epcoll_look(member, &looks);
            }
        }
        if (0 != rc) {
            return rc;
        }
        *least = through < *least ? through : *least;
    }
    return 0;
}

/** Waits until nobody is in the operation that had our slot before. */
static inline int epcoll_find_safe(epcoll_member_t *member)
{
    const int top = (int) member->levels - 1;
    uint64_t least = member->number - 1;
    const int rc = epcoll_read_through(member, top, 0, epcoll_width(member, top),
                                       member->number - EPCOLL_WINDOW, &least);

    if (0 == rc) {
        member->safe = least;
        member->safe_below = least < member->safe_below ? member->safe_below : least;
    }
    return rc;
}

/** How far are the members of the nodes that we lead?  Says so in the nodes' words.
 * @param wanted  waits until all are through with this one */
static inline int epcoll_look_below(epcoll_member_t *member, uint64_t wanted)
{
    uint64_t least = member->number - 1;
    uint32_t index = member->index;

    for (uint32_t level = 0; level < member->levels && 0 == index % member->fan; ++level) {
        const uint32_t below = epcoll_width(member, (int) level - 1);
        const int rc = epcoll_read_through(member, (int) level - 1, index,
                                           index + member->fan < below ? index + member->fan
                                                                       : below,
                                           wanted, &least);

        if (0 != rc) {
            return rc;
        }
        index /= member->fan;
        /* Release pairs with the acquire in epcoll_read_through: what they have read is read. */
        atomic_store_explicit(&epcoll_node(member, level, index)->through, least,
                              memory_order_release);
    }
    member->safe_below = least;
    return 0;
}

/** The next operation, in which we write our slot, and our nodes'.  @return 0 or an error */
static inline int epcoll_begin(epcoll_member_t *member)
{
    ++member->number;
    if (__builtin_expect(member->number <= member->safe + EPCOLL_WINDOW, 1)) {
        return 0;
    }
    return epcoll_find_safe(member);
}

/** The next operation, in which we write nothing but the down slots of the nodes that we lead. */
static inline int epcoll_begin_leader(epcoll_member_t *member)
{
    ++member->number;
    if (!epcoll_leads(member) || member->number <= member->safe_below + EPCOLL_WINDOW) {
        return 0;
    }
    return epcoll_look_below(member, member->number - EPCOLL_WINDOW);
}

/** Behind an operation that not all have come to: leaders look ahead, where nobody waits for them. */
static inline int epcoll_end_leader(epcoll_member_t *member)
{
    return epcoll_leads(member) && member->safe_below + EPCOLL_WINDOW <= member->number
               ? epcoll_look_below(member, 0)
               : 0;
}

/** All have come to this operation, so all are through with those before. */
static inline void epcoll_all_came(epcoll_member_t *member)
{
    member->safe = member->safe_below = member->number - 1;
}

/** We are through with the operation: read nothing of it any more. */
static inline void epcoll_end(epcoll_member_t *member)
{
    /* Release pairs with the acquire in epcoll_read_through. */
    atomic_store_explicit(&member->place[member->index].through, member->number,
                          memory_order_release);
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
