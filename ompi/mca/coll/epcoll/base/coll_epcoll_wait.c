/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Turns of the engine while an operation waits, and what its end means to the user.
 *
 * Tests: coll_move, coll_reduce, coll_different, death_coll, ulfm_revoke
 */

#include "ompi_config.h"

#include "coll_epcoll_different.h"
#include "coll_epcoll_wait.h"

#include <sched.h>
#include <string.h>

/** Where members live in several processes, and threads share cores, a wait turns its endpoint once
 * in so many looks, and yields at the others: to turn one that has a network takes microseconds,
 * and the leader, which waits for a message, may need this core.  Two endpoints of two processes
 * each, on two cores, over tcp: an allreduce of 8 bytes in 12 us instead of 23. */
#define TURN_CROWDED 64

/** Turns until our endpoint has taken note of a loss; somebody else may be turning it. */
#define TURNS_LOST 64

/** The wait of a blocking call: a thread is in one at a time. */
static _Thread_local mpix_endpoints_wait_t waiting;

int mca_coll_epcoll_wait_turn(mca_coll_epcoll_handle_t *handle)
{
    handle->has_waited = true;
    return mca_coll_epcoll_component.engine->wait_progress(handle->comm, MPIX_ENDPOINTS_ANY_RANK,
                                                           &waiting);
}

int mca_coll_epcoll_turn(epcoll_member_t *member)
{
    mca_coll_epcoll_handle_t *handle = (mca_coll_epcoll_handle_t *) member;

    member->crowded = mca_coll_epcoll_component.engine->is_oversubscribed();
    if (member->crowded && !handle->is_local && 0 != ++handle->yields % TURN_CROWDED) {
        (void) sched_yield();
        return MPI_SUCCESS;
    }
    return mca_coll_epcoll_wait_turn(handle);
}

int mca_coll_epcoll_failed(const mca_coll_epcoll_handle_t *handle, epcoll_member_t *member, int rc)
{
    /* Who has seen a loss elsewhere may have given up the communicator: that is why it does not
     * come.  If it has said so (engine->leave), it has before. */
    if (EPCOLL_DIFFERENT == rc) {
        (void) mca_coll_epcoll_component.engine->progress(handle->comm);
        if (mca_coll_epcoll_component.engine->is_lost(handle->comm, MPIX_ENDPOINTS_ANY_RANK)) {
            rc = MPI_ERR_PROC_FAILED;
        }
    }
    if (EPCOLL_DIFFERENT != rc) {
        (void) epcoll_break(member, rc);
        if (MPI_ERR_PROC_FAILED == rc) {
            /* It may be another member that has seen it, and reported it by the block: what comes
             * next on our endpoint is to fail as well. */
            mca_coll_epcoll_component.engine->check_liveness(handle->comm);
        }
        return rc;
    }
    rc = mca_coll_epcoll_different(member);
    if (epcoll_break(member, rc)) {
        mca_coll_epcoll_tell_different(handle, member); /* the first one does */
    }
    return rc;
}

/** All members of other processes are told: else they would wait for messages that do not come. 
 * One member of each process would break what all of it share, but a member that only gives may
 * have freed its handle already. */
static void tell_others(const mca_coll_epcoll_handle_t *handle, int why)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(handle); /* NULL: bare */
    const uint32_t members = mca_coll_epcoll_size(handle),
                   own = (uint32_t) mca_coll_epcoll_rank(handle);
    const int32_t word = why;

    for (uint32_t rank = 0; rank < members; ++rank) {
        if (NULL == layout ? rank != own : layout->process_of[rank] != layout->own) {
            /* Who has no memory for it cannot tell. */
            (void) mca_coll_epcoll_component.engine->am_send(handle->comm,
                                                             mca_coll_epcoll_component.client,
                                                             (int) rank, &word, sizeof(word));
        }
    }
}

/**
 * What members share is broken.  Called by the thread that progresses the endpoint, also while its
 * owner is making a node segment: that is published before its owner checks whether ours is broken,
 * and we break ours before we look for it, both sequentially consistent, so one of the two finds
 * what the other has done.
 */
static void break_shared(mca_coll_epcoll_handle_t *handle, int why)
{
    mca_coll_epcoll_near_t *near;
    mca_coll_epcoll_shelf_t *shelf;

    (void) epcoll_break(&handle->member, why);
    if (!handle->is_wide) {
        return;
    }
    atomic_thread_fence(memory_order_seq_cst);
    near = mca_coll_epcoll_wide(handle)->near;
    if (NULL != near) {
        (void) epcoll_break(&near->super.member, why);
    }
    shelf = mca_coll_epcoll_wide(handle)->shelf;
    if (NULL != shelf) {
        (void) epcoll_break(&shelf->super.member, why);
    }
}

void mca_coll_epcoll_break_late(const mca_coll_epcoll_handle_t *handle,
                                mca_coll_epcoll_handle_t *made)
{
    int why;

    atomic_thread_fence(memory_order_seq_cst); /* partner: break_shared */
    why = atomic_load_explicit(handle->member.broken, memory_order_relaxed);
    if (0 != why) {
        (void) epcoll_break(&made->member, why);
    }
}

void mca_coll_epcoll_break_all(mca_coll_epcoll_handle_t *handle, int why)
{
    if (mca_coll_epcoll_is_bare(handle)) {
        if (epcoll_break(&handle->member, why) && MPI_ERR_PROC_FAILED != why) {
            tell_others(handle, why);
        }
        return;
    }
    break_shared(handle, why);
    /* Relaxed: nothing is read by it. */
    if (NULL != mca_coll_epcoll_layout(handle) && MPI_ERR_PROC_FAILED != why
        && 0 == atomic_exchange_explicit(&handle->member.block->told, 1, memory_order_relaxed)) {
        tell_others(handle, why);
    }
}

int mca_coll_epcoll_in_vain(const mca_coll_epcoll_handle_t *handle, bool look)
{
    int why = 0;

    if (NULL != mca_coll_epcoll_layout(handle)) {
        /* Relaxed: nothing but the word itself is read by it. */
        why = atomic_load_explicit(handle->member.broken, memory_order_relaxed);
    }
    if (OPAL_LIKELY(0 != why || !look)) {
        return why;
    }
    return mca_coll_epcoll_component.engine->is_lost(handle->comm, MPIX_ENDPOINTS_ANY_RANK)
               ? MPI_ERR_PROC_FAILED
               : 0;
}

bool mca_coll_epcoll_arrived(void *object, int rank, const void *data, size_t size)
{
    mca_coll_epcoll_handle_t *handle = object;
    int32_t word = 0;

    (void) rank;
    if (sizeof(word) == size) {
        memcpy(&word, data, sizeof(word));
    }
    if ((NULL == mca_coll_epcoll_layout(handle) && !mca_coll_epcoll_is_bare(handle))
        || MPI_SUCCESS >= word || MPI_ERR_LASTCODE < word) {
        return false;
    }
    if (mca_coll_epcoll_is_bare(handle)) {
        (void) epcoll_break(&handle->member, word);
        return true;
    }
    /* Relaxed: as above.  The others have been told by the caller. */
    atomic_store_explicit(&handle->member.block->told, 1, memory_order_relaxed);
    break_shared(handle, word);
    return true;
}

/** What a call is once the block is broken: the error that broke it.  It makes progress, as a program
 * may call until it hears that the communicator has been revoked. */
static int run_broken(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    /* Relaxed: we have seen that it is set. */
    const int why = atomic_load_explicit(&handle->member.block->broken, memory_order_relaxed);

    (void) call;
    (void) mca_coll_epcoll_component.engine->progress(handle->comm);
    /* Of a node's block it may be another process that has written it. */
    return MPI_SUCCESS < why && MPI_ERR_LASTCODE >= why ? why : MPI_ERR_OTHER;
}

/** Likewise of a loss that is known to be one elsewhere: let it come here. */
static void see_loss(const mca_coll_epcoll_handle_t *handle)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;

    engine->check_liveness(handle->comm);
    for (int i = 0; i < TURNS_LOST && !engine->is_lost(handle->comm, MPIX_ENDPOINTS_ANY_RANK);
         ++i) {
        (void) engine->progress(handle->comm);
        (void) sched_yield();
    }
}

int mca_coll_epcoll_ended_slow(mca_coll_epcoll_handle_t *handle, int rc)
{
    handle->has_waited = false;
    if (0 != waiting.words[0]) {
        mca_coll_epcoll_component.engine->wait_end(&waiting);
    }
    memset(&waiting, 0, sizeof(waiting)); /* the thread's next wait may be on another handle */
    if (0 == rc) {
        return MPI_SUCCESS;
    }
    /* Numbers may differ between members from now on: epcoll_begin fails, as the block is
     * broken. */
    (void) mca_coll_epcoll_failed(handle, &handle->member, rc);
    handle->is_local = false;
    handle->run = run_broken;
    rc = run_broken(handle, NULL);
    if (MPI_ERR_PROC_FAILED == rc) {
        see_loss(handle);
    }
    return mca_coll_epcoll_loss_error(handle->comm, rc);
}
