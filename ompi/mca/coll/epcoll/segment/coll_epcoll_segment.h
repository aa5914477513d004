/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The control segment that the members of a communicator in one process share.
 *
 * Operations have sequence numbers, from 1, the same at all members:  MPI has them call collectives
 * in the same order.  Each member has control lines that no other one writes, and in these a few
 * slots, used in turn: slot seq % EPCOLL_WINDOW has the member's part of operation seq.  Nothing is
 * ever reset: a reader waits until the slot's number is that of its operation.
 *
 * Memory order.  A slot's contents are plain; its number is stored with release after them, and
 * loaded with acquire before them.  When a slot may be written again: coll_epcoll_reuse.h.
 *
 * The memory of a member is counted (docs/comparison.md), so views and control lines hold nothing
 * that is known elsewhere.  A view has no table of the tree: levels above the lowest are computed,
 * by divisions, where there are more than EPCOLL_FANOUT^2 members, or a member checks the flags of
 * others.
 *
 * Standalone:  C11 atomics, no Open MPI.  The operations: coll_epcoll_tree.h,
 * coll_epcoll_stealing.h.
 *
 * Tests: unit/test_epcoll_segment, coll_late
 */

#ifndef COLL_EPCOLL_SEGMENT_H
#define COLL_EPCOLL_SEGMENT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Operations that may be active at a time. */
#define EPCOLL_WINDOW 4

/** Bytes of data in a slot: the rest of its line. */
#define EPCOLL_INLINE ((size_t) 48)

/** Members or groups whose slots one member reads: a group of the tree, see coll_epcoll_tree.h. */
#define EPCOLL_FANOUT 8

/** Polls of a flag before the engine is progressed first, and between further times: a microsecond,
 * and less. */
#define EPCOLL_POLLS_FIRST 400
#define EPCOLL_POLLS 16
/** Likewise with more threads than cores, then at each poll: the thread that is waited for mostly
 * needs this core.  Four threads on two cores, 1 instead of 16: a barrier of two processes in 2.0
 * us instead of 2.7, a bcast in 1.5 instead of 1.9. */
#define EPCOLL_POLLS_OVERSUBSCRIBED 1

/** A cache line: the part of a member, or of a group, in one operation. */
typedef struct epcoll_slot_t {
    alignas(64) _Atomic uint64_t seq; /**< of the operation; 0: none yet */
    uint64_t signature;               /**< what has been called: equal at all members */
    unsigned char data[EPCOLL_INLINE];
} epcoll_slot_t;

/** A member's control lines: five cache lines. */
typedef struct epcoll_ctrl_t {
    epcoll_slot_t slot[EPCOLL_WINDOW];
    alignas(64) _Atomic uint64_t completed; /**< the last operation that it is through with */
    uint64_t
        group_safe; /**< the member's alone: all members of the groups that it leads have completed operations up to this one; epcoll_member_t's safe, or more */
    void *owner;    /**< the owner's: see base/coll_epcoll_count.c */
    /** Shares of work, by any member: see coll_epcoll_stealing.h. */
    _Atomic uint64_t work[EPCOLL_WINDOW];
    _Atomic uint64_t
        result_word; /**< of no member: a word of a result, see coll_epcoll_leaderless.h */
} epcoll_ctrl_t;

/** Slots of a group for the combined data of its members.  Only operations of all members write
 * them; a member that arrives at one has seen all arrive at the one before, and then the data of
 * the one before that are not read any more. */
#define EPCOLL_UPS 2

/** A group of the tree: of members, or of groups.  Written by its leader, its first member. */
typedef struct epcoll_group_t {
    epcoll_slot_t up[EPCOLL_UPS]; /**< combined data of its members: operations of all in turn */
    epcoll_slot_t down[EPCOLL_WINDOW]; /**< the result, or the root's data */
} epcoll_group_t;

/**
 * The segment's first line.  All zero at first.  Behind it:
 *
 *     epcoll_ctrl_t     of the members
 *     epcoll_group_t    of the lowest level, then of those above
 *     _Atomic uint64_t  of the groups, in the same order: the operation that all members of a group
 *                       have completed, on the level where its leader leads it; whole lines
 */
typedef struct epcoll_segment_t {
    alignas(64) _Atomic int broken; /**< 0, or why no operation ends well any more, for good */
    _Atomic uint32_t users;         /**< its owner's: see pending/coll_epcoll_op_segment.c */
    void *_Atomic orphans;          /**< likewise */
    _Atomic uint32_t notified;      /**< likewise: see base/coll_epcoll_wait.c */
    uint32_t listed;                /**< likewise: see base/coll_epcoll_count.c */
    void *_Atomic memory;           /**< likewise: see coll_epcoll_component.c */
    struct epcoll_segment_t *next, *previous; /**< likewise: see base/coll_epcoll_count.c */
    uint32_t count;                           /**< likewise: members */
    /** All have completed the operations up to this one, as some member has found: see
     * epcoll_may_begin. */
    _Atomic uint64_t safe;
} epcoll_segment_t;

_Static_assert(64 == sizeof(epcoll_segment_t) && 320 == sizeof(epcoll_ctrl_t)
                   && 384 == sizeof(epcoll_group_t),
               "what a member takes: docs/comparison.md");

/** What its owner adds to a view, for members of several processes; NULL: nothing. */
typedef struct epcoll_aux_t {
    const void *order;   /**< local/coll_epcoll_order.h */
    epcoll_slot_t *ring; /**< lines of all members: coll_epcoll_ring.h; NULL: there are none */
} epcoll_aux_t;

/** A member's view, of its own thread. */
typedef struct epcoll_member_t {
    epcoll_segment_t *segment;
    _Atomic int *broken;     /**< the segment's, or that of another one, with which it breaks */
    uint64_t seq;            /**< of the operation that we are in, or were last */
    uint64_t safe;           /**< all have completed operations up to this one */
    const epcoll_aux_t *aux; /**< its owner's; NULL: nothing */
    uint32_t count, index;   /**< members; our own one among them */
    uint32_t top;            /**< groups of the topmost level */
    uint8_t fanout;          /**< EPCOLL_FANOUT, or fewer in tests */
    uint8_t levels;          /**< of groups; 0: all members read each other's slots */
    bool oversubscribed;     /**< there are more threads than cores */
    uint8_t up;              /**< which of a group's up slots the last operation of all has used */
} epcoll_member_t;

/**
 * Called while a member waits, to progress the engine; nothing of the segment is locked.  To be
 * defined by the source that uses the segment; not called for views that wait elsewhere.
 *
 * @return 0 or an error, with which the operation ends
 */
int mca_coll_epcoll_progress(epcoll_member_t *member);

/** Groups of a level, the lowest is 0, of that many members. */
static inline uint32_t epcoll_groups(uint32_t count, uint32_t fanout, uint32_t level)
{
    uint32_t width = count;

    for (uint32_t i = 0; i <= level; ++i) {
        width = (width + fanout - 1) / fanout;
    }
    return width;
}

/** Levels of the tree of that many members. */
static inline uint32_t epcoll_levels(uint32_t count, uint32_t fanout)
{
    uint32_t levels = 0;

    for (uint32_t width = count; width > fanout; ++levels) {
        width = (width + fanout - 1) / fanout;
    }
    return levels;
}

/** Groups below a level. */
static inline uint32_t epcoll_groups_below(uint32_t count, uint32_t fanout, uint32_t level)
{
    uint32_t all = 0;

    for (uint32_t i = 0; i < level; ++i) {
        all += epcoll_groups(count, fanout, i);
    }
    return all;
}

/** Bytes of the segment of that many members. */
static inline size_t epcoll_segment_size(uint32_t count, uint32_t fanout)
{
    const size_t nodes = epcoll_groups_below(count, fanout, epcoll_levels(count, fanout));

    return sizeof(epcoll_segment_t) + count * sizeof(epcoll_ctrl_t) + nodes * sizeof(epcoll_group_t)
           + (nodes * sizeof(_Atomic uint64_t) + 63) / 64 * 64;
}

/**
 * Make a member's view of a segment.
 *
 * @param memory  epcoll_segment_size bytes, all 0 before the first member uses them, the same for
 *                all; they last as long as the last view
 * @param index   0 to count - 1, another one for each member
 */
static inline void epcoll_member_init(epcoll_member_t *member, void *memory, uint32_t count,
                                      uint32_t index, uint32_t fanout)
{
    const uint32_t levels = epcoll_levels(count, fanout);

    *member = (epcoll_member_t){.segment = memory,
                                .broken = &((epcoll_segment_t *) memory)->broken,
                                .count = count,
                                .index = index,
                                .top = 0 == levels ? 0 : epcoll_groups(count, fanout, levels - 1),
                                .fanout = (uint8_t) fanout,
                                .levels = (uint8_t) levels};
}

/** A member's control lines. */
static inline epcoll_ctrl_t *epcoll_ctrl(const epcoll_member_t *member, uint32_t index)
{
    return (epcoll_ctrl_t *) (member->segment + 1) + index;
}

static inline epcoll_slot_t *epcoll_slot(const epcoll_member_t *member, uint32_t index)
{
    return &epcoll_ctrl(member, index)->slot[member->seq % EPCOLL_WINDOW];
}

/** Break the segment: each of its operations fails from now on, and members that wait find out.
 * Any thread.  @return false: it was broken already */
static inline bool epcoll_break(epcoll_member_t *member, int why)
{
    int none = 0;

    /* Relaxed: nothing but the word itself is read by it. */
    return atomic_compare_exchange_strong_explicit(member->broken, &none, why, memory_order_relaxed,
                                                   memory_order_relaxed);
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
 * Prefetch lines that we are about to read one after the other, so that their transfers overlap.
 * Only a hint: loads with acquire may each wait for the one before, unless the processor predicts
 * that the flag is set.
 *
 * @param stride  bytes from one to the next
 */
static inline void epcoll_prefetch(const void *line, size_t stride, uint32_t count)
{
    for (const char *next = line; 0 < count; --count, next += stride) {
        __builtin_prefetch(next);
    }
}

/** Polls of a flag before the engine is progressed first. */
static inline uint32_t epcoll_polls_first(const epcoll_member_t *member)
{
    return member->oversubscribed ? EPCOLL_POLLS_OVERSUBSCRIBED : EPCOLL_POLLS_FIRST;
}

/** After a poll that found nothing: spin, or progress the engine.  @return 0, or the error with
 * which to end */
static inline int epcoll_backoff(epcoll_member_t *member, uint32_t *polls)
{
    int rc;

    if (++*polls < epcoll_polls_first(member)
        || (!member->oversubscribed && 0 != *polls % EPCOLL_POLLS)) {
        if (0 != *polls % 2) {
            epcoll_relax();
        }
        return 0;
    }
    rc = atomic_load_explicit(member->broken, memory_order_relaxed);
    return 0 != rc ? rc : mca_coll_epcoll_progress(member);
}

/** Was the last poll one of the few after which more expensive checks are made? */
static inline bool epcoll_polls_long(const epcoll_member_t *member, uint32_t polls)
{
    return epcoll_polls_first(member) <= polls && 0 == polls % EPCOLL_POLLS;
}

/**
 * Has a member completed our operation without publishing its slot?  Then it has called something
 * in which it publishes nothing, which is not what we have called.  To be checked after a long
 * wait: it reads a line that the member writes at each end.
 */
static inline bool epcoll_has_left(const epcoll_member_t *member, uint32_t index)
{
    /* Acquire pairs with the release in epcoll_end: what the member has published before is seen,
     * so the slot's number may be read relaxed. */
    return member->seq
               <= atomic_load_explicit(&epcoll_ctrl(member, index)->completed, memory_order_acquire)
           && atomic_load_explicit(&epcoll_slot(member, index)->seq, memory_order_relaxed)
                  < member->seq;
}

/** Copy a slot's data: mostly one number, for which no function is called. */
static inline void epcoll_copy(void *to, const void *from, size_t size)
{
    if (sizeof(uint64_t) == size) {
        memcpy(to, from, sizeof(uint64_t));
    } else if (0 != size) {
        memcpy(to, from, size);
    }
}

/** Publish in a slot of ours.  @param size  at most EPCOLL_INLINE */
static inline void epcoll_publish(epcoll_slot_t *slot, uint64_t seq, uint64_t signature,
                                  const void *data, size_t size)
{
    slot->signature = signature;
    epcoll_copy(slot->data, data, size);
    /* Release pairs with the acquire in epcoll_wait_member, and its like. */
    atomic_store_explicit(&slot->seq, seq, memory_order_release);
}

#endif /* COLL_EPCOLL_SEGMENT_H */
