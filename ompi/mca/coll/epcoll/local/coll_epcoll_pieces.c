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
 * The steps of what is done in pieces.  Which pieces there are, and what a share of one is, the
 * family of the kind knows.
 *
 * Tests: coll_move, coll_reduce, coll_late, coll_different, coll_pending
 */

#include "ompi_config.h"

#include "coll_epcoll_pieces.h"

#include "mpi.h"

static const mca_coll_epcoll_family_t *family_of(const mca_coll_epcoll_call_t *call)
{
    if (NULL != call->plan) {
        return call->plan->family;
    }
    switch (call->kind) {
    case EPCOLL_BCAST:
    case EPCOLL_GATHER:
    case EPCOLL_GATHERV:
    case EPCOLL_SCATTER:
    case EPCOLL_SCATTERV:
        return &mca_coll_epcoll_move_rooted;
    case EPCOLL_ALLGATHER:
    case EPCOLL_ALLGATHERV:
    case EPCOLL_ALLTOALL:
    case EPCOLL_ALLTOALLV:
    case EPCOLL_ALLTOALLW:
        return &mca_coll_epcoll_move;
    default:
        return &mca_coll_epcoll_fold;
    }
}

void mca_coll_epcoll_pieces_show(mca_coll_epcoll_running_t *running, epcoll_member_t *member,
                                 const mca_coll_epcoll_call_t *call)
{
    unsigned char shown[sizeof(call) + sizeof(uint64_t)];
    const uint64_t longest = NULL != call->plan ? call->plan->wants
                                                : mca_coll_epcoll_move_longest(call, member->count);

    *running = (mca_coll_epcoll_running_t){
        .member = member,
        .call = call,
        .family = family_of(call),
        .word = mca_coll_epcoll_word_of(call),
        .least_share = (uint32_t) mca_coll_epcoll_component.share_size,
    };
    memcpy(shown, &call, sizeof(call));
    memcpy(shown + sizeof(call), &longest, sizeof(longest));
    epcoll_work_begin(member);
    epcoll_say(epcoll_slot(member, member->index), member->number, running->word, shown,
               sizeof(shown));
}

/** Has a member come?  @return EPCOLL_SOME, EPCOLL_NOTHING, or an error: it has called something
 * else */
static int look_for(const mca_coll_epcoll_running_t *running, uint32_t index)
{
    epcoll_slot_t *slot = epcoll_slot(running->member, index);

    /* Acquire pairs with the release in epcoll_say. */
    if (atomic_load_explicit(&slot->number, memory_order_acquire) < running->member->number) {
        return EPCOLL_NOTHING;
    }
    return running->word == slot->call ? EPCOLL_SOME : EPCOLL_DIFFERENT;
}

/** See who has come.  @return EPCOLL_SOME: all; EPCOLL_NOTHING; or an error */
static int look_for_all(mca_coll_epcoll_running_t *running)
{
    int rc = EPCOLL_SOME;

    while (running->seen < running->member->count
           && EPCOLL_SOME == (rc = look_for(running, running->seen))) {
        ++running->seen;
    }
    return rc;
}

/** Can a piece be worked on? */
static int is_ready(mca_coll_epcoll_running_t *running, uint32_t piece)
{
    const int rc = look_for(running, (uint32_t) running->call->root);

    return EPCOLL_SOME == rc ? look_for(running, piece) : rc;
}

/** Work on a piece.  @return EPCOLL_SOME: a share is done, or more; EPCOLL_NOTHING; or an error */
static int work_on(mca_coll_epcoll_running_t *running, uint32_t piece, uint32_t *most)
{
    const uint32_t shares = running->family->shares(running, piece);
    uint32_t share;
    int rc = EPCOLL_NOTHING;

    while (0 < *most && epcoll_claim(running->member, piece, shares, &share)) {
        const int error = running->family->work(running, piece, share);

        if (OPAL_UNLIKELY(MPI_SUCCESS != error)) {
            /* Before the share counts as done: who sees that must not take it for a success. */
            epcoll_break(running->member, error);
        }
        epcoll_share_done(running->member, piece);
        --*most;
        rc = EPCOLL_SOME;
        if (MPI_SUCCESS != error) {
            return error;
        }
    }
    return rc;
}

static bool is_over(const mca_coll_epcoll_running_t *running, uint32_t piece)
{
    return epcoll_is_work_over(running->member, piece, running->family->shares(running, piece));
}

/** Are we through, as far as the others are concerned? */
static bool is_through(mca_coll_epcoll_running_t *running)
{
    const uint32_t index = running->member->index;

    if (running->family->is_rooted && index != (uint32_t) running->call->root) {
        return EPCOLL_SOME == is_ready(running, index) && is_over(running, index);
    }
    while (running->over < running->seen && is_over(running, running->over)) {
        ++running->over;
    }
    return running->over == running->member->count;
}

/** Work on what can be worked on, our own piece first.  @return as work_on */
static int work(mca_coll_epcoll_running_t *running, uint32_t most)
{
    const uint32_t count = running->member->count;
    int result = EPCOLL_NOTHING;

    for (uint32_t i = 0, piece = running->member->index; i < count && 0 < most;
         ++i, piece = piece + 1 < count ? piece + 1 : 0) {
        int rc = running->family->is_rooted ? is_ready(running, piece) : EPCOLL_SOME;

        if (EPCOLL_SOME == rc) {
            rc = work_on(running, piece, &most);
        }
        if (EPCOLL_SOME != rc && EPCOLL_NOTHING != rc) {
            return rc;
        }
        result = EPCOLL_SOME == rc ? rc : result;
    }
    return result;
}

int mca_coll_epcoll_pieces_step(mca_coll_epcoll_running_t *running, uint32_t most)
{
    epcoll_member_t *member = running->member;
    int rc = look_for_all(running);

    if (EPCOLL_NOTHING == rc && 0 == ++running->waits % EPCOLL_WAITS
        && epcoll_is_gone(member, running->seen)) {
        return EPCOLL_DIFFERENT;
    }
    if (EPCOLL_SOME == rc || (EPCOLL_NOTHING == rc && running->family->is_rooted)) {
        rc = work(running, most);
    }
    if ((EPCOLL_NOTHING != rc && EPCOLL_SOME != rc) || !is_through(running)) {
        return rc;
    }
    /* Relaxed: who broke the block before it gave up a share of ours has released that. */
    rc = atomic_load_explicit(member->broken, memory_order_relaxed);
    if (0 != rc || NULL == running->family->finish) {
        return rc;
    }
    return running->family->finish(running);
}

void mca_coll_epcoll_pieces_close(mca_coll_epcoll_running_t *running, int why)
{
    (void) epcoll_break(running->member, why);
    for (uint32_t i = 0; i < running->member->count; ++i) {
        epcoll_close(running->member, i);
    }
}

int mca_coll_epcoll_pieces_run(mca_coll_epcoll_handle_t *handle,
                               const mca_coll_epcoll_call_t *call)
{
    epcoll_member_t *member = &handle->member;
    mca_coll_epcoll_running_t running;
    uint32_t looks = 0;
    int rc = epcoll_begin(member);

    if (OPAL_UNLIKELY(0 != rc)) {
        return mca_coll_epcoll_ended(handle, rc);
    }
    mca_coll_epcoll_pieces_show(&running, member, call);
    while (EPCOLL_NOTHING == (rc = mca_coll_epcoll_pieces_step(&running, UINT32_MAX))
           || EPCOLL_SOME == rc) {
        rc = EPCOLL_SOME == rc ? 0 : epcoll_look(member, &looks);
        if (0 != rc) {
            break;
        }
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        rc = mca_coll_epcoll_ended(handle, rc);
        mca_coll_epcoll_pieces_close(&running, rc);
        return rc;
    }
    if (running.seen == member->count) {
        epcoll_all_came(member);
    }
    epcoll_end(member);
    return mca_coll_epcoll_ended(handle, MPI_SUCCESS);
}
