/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The result of an allreduce or barrier (coll_epcoll_tree.h), computed by a member that does not
 * wait for the leaders of its groups.
 *
 * Tests: unit/test_epcoll_segment, coll_late
 */

#ifndef COLL_EPCOLL_LEADERLESS_H
#define COLL_EPCOLL_LEADERLESS_H

#include "coll_epcoll_reuse.h"

/** A member's part of an allreduce or barrier. */
typedef struct epcoll_contribution_t {
    uint64_t signature; /**< what we have called; the same at all members, or it is an error */
    const void *data;   /**< our data */
    size_t size;        /**< of it, and of the result: the same at all; at most EPCOLL_INLINE */
    /** into = from op into.  NULL: nothing to put together. */
    void (*combine)(void *into, const void *from, void *context);
    void *context;
} epcoll_contribution_t;

/** Members call different operations, or of different lengths. */
#define EPCOLL_MISMATCH (-1)

static inline void epcoll_combine(const epcoll_contribution_t *contrib, void *into,
                                  const void *from, bool first)
{
    if (first) {
        epcoll_copy(into, from, contrib->size);
    } else if (NULL != contrib->combine) {
        contrib->combine(into, from, contrib->context);
    }
}

/** All slots are published: combine those of a group's members, or, of level -1, copy a
 * member's. */
static inline int epcoll_combine_group(epcoll_member_t *member,
                                       const epcoll_contribution_t *contrib, int level,
                                       uint32_t index, void *value)
{
    const uint32_t below = epcoll_level_width(member, level - 1);
    const uint32_t from = index * member->fanout;
    const uint32_t to = from + member->fanout < below ? from + member->fanout : below;

    if (level < 0) {
        memcpy(value, epcoll_slot(member, index)->data, contrib->size);
        return contrib->signature == epcoll_slot(member, index)->signature ? 0 : EPCOLL_MISMATCH;
    }
    for (uint32_t i = to; i-- > from;) {
        alignas(16) unsigned char one[EPCOLL_INLINE];
        const int rc = epcoll_combine_group(member, contrib, level - 1, i, one);

        if (0 != rc) {
            return rc;
        }
        epcoll_combine(contrib, value, one, to - 1 == i);
    }
    return 0;
}

/** Words of a result: a number, and the data.  The number is twice that of the operation when they
 * are there, and one less while a member is at it. */
#define EPCOLL_RESULT_WORDS (1 + EPCOLL_INLINE / sizeof(uint64_t))

/** A word of this operation's result: those of an operation are in adjacent places. */
static inline _Atomic uint64_t *epcoll_result_word(const epcoll_member_t *member, size_t word)
{
    return &epcoll_ctrl(member,
                        (uint32_t) (member->seq % EPCOLL_WINDOW * EPCOLL_RESULT_WORDS + word))
                ->result_word;
}

/** Are there control lines enough for the words of a result?  With fewer members each computes it
 * by itself. */
static inline bool epcoll_has_result_words(const epcoll_member_t *member)
{
    return EPCOLL_WINDOW * EPCOLL_RESULT_WORDS <= member->count;
}

/** Has a member published the result?  Then all have arrived. */
static inline bool epcoll_has_result(const epcoll_member_t *member)
{
    /* Acquire pairs with the release in epcoll_result_publish. */
    return epcoll_has_result_words(member)
           && 2 * member->seq
                  == atomic_load_explicit(epcoll_result_word(member, 0), memory_order_acquire);
}

/** What has been found. */
static inline void epcoll_result_read(const epcoll_member_t *member, void *value, size_t size)
{
    uint64_t words[EPCOLL_RESULT_WORDS];

    for (size_t i = 0; i * sizeof(uint64_t) < size; ++i) {
        /* Relaxed: epcoll_has_result has acquired it. */
        words[i] = atomic_load_explicit(epcoll_result_word(member, 1 + i), memory_order_relaxed);
    }
    memcpy(value, words, size);
}

/** Are we to publish the result that we are about to compute?  Else another member does. */
static inline bool epcoll_result_claim(const epcoll_member_t *member)
{
    const uint64_t seq = 2 * member->seq;
    uint64_t old;

    if (!epcoll_has_result_words(member)) {
        return false;
    }
    /* Relaxed: the words publish nothing yet.  Their previous operation is completed at all
     * members, as all have arrived at this one. */
    old = atomic_load_explicit(epcoll_result_word(member, 0), memory_order_relaxed);
    return old < seq - 1
           && atomic_compare_exchange_strong_explicit(epcoll_result_word(member, 0), &old, seq - 1,
                                                      memory_order_relaxed, memory_order_relaxed);
}

/** We do. */
static inline void epcoll_result_publish(const epcoll_member_t *member, const void *value,
                                         size_t size)
{
    uint64_t words[EPCOLL_RESULT_WORDS] = {0};

    memcpy(words, value, size);
    for (size_t i = 0; i * sizeof(uint64_t) < size; ++i) {
        atomic_store_explicit(epcoll_result_word(member, 1 + i), words[i], memory_order_relaxed);
    }
    /* Release pairs with the acquire in epcoll_has_result: the data, and all that we have
     * acquired. */
    atomic_store_explicit(epcoll_result_word(member, 0), 2 * member->seq, memory_order_release);
}

/** Combine the groups of the topmost level.  @return 0 or EPCOLL_MISMATCH */
static inline int epcoll_combine_top(epcoll_member_t *member, const epcoll_contribution_t *contrib,
                                     void *value)
{
    const int top = (int) member->levels - 1;

    for (uint32_t i = member->top; i-- > 0;) {
        alignas(16) unsigned char one[EPCOLL_INLINE];
        const int rc = epcoll_combine_group(member, contrib, top, i, one);

        if (0 != rc) {
            return rc;
        }
        epcoll_combine(contrib, value, one, member->top - 1 == i);
    }
    return 0;
}

/** The result, without the leaders, once all slots are published with the same signature; combined
 * in the tree's order.  The first member that detects this publishes the result; others that come
 * meanwhile compute it themselves, as that member may have been descheduled. */
static inline int epcoll_allreduce_leaderless(epcoll_member_t *member,
                                              const epcoll_contribution_t *contrib, void *value)
{
    bool says;
    int rc = 0;

    if (epcoll_has_result(member)) {
        epcoll_result_read(member, value, contrib->size);
        return 0;
    }
    says = epcoll_result_claim(member);
    if (NULL == contrib->combine) {
        epcoll_copy(value, epcoll_slot(member, member->count - 1)->data, contrib->size);
    } else {
        rc = epcoll_combine_top(member, contrib, value);
    }
    if (says && 0 == rc) {
        epcoll_result_publish(member, value, contrib->size);
    }
    return rc;
}

#endif /* COLL_EPCOLL_LEADERLESS_H */
