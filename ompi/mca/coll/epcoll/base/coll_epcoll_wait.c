/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Progress of the engine while an operation waits, and its end.
 *
 * Tests: coll_move, coll_reduce, coll_mismatch, death_coll, ulfm_revoke
 */

#include "ompi_config.h"

#include "coll_epcoll_mismatch.h"
#include "coll_epcoll_wait.h"

#include <sched.h>
#include <string.h>

/** Where members live in several processes, and threads share cores, a wait progresses its endpoint
 * once in so many polls, and yields at the others.  To progress an endpoint with a network takes
 * microseconds, and the leader, which waits for a message, may need this core.  Two endpoints of
 * two processes each, on two cores, over tcp: an allreduce of 8 bytes in 12 us instead of 23. */
#define PROGRESS_OVERSUBSCRIBED 64

/** Calls of progress until our endpoint has noticed a loss; another thread may be progressing
 * it. */
#define PROGRESS_LOST 64

/** The wait of a blocking call: a thread is in one at a time. */
static _Thread_local mpix_endpoints_wait_t waiting;

int mca_coll_epcoll_wait_progress(mca_coll_epcoll_view_t *view)
{
    view->has_progressed = true;
    return mca_coll_epcoll_component.engine->wait_progress(view->comm, MPIX_ENDPOINTS_ANY_RANK,
                                                           &waiting);
}

int mca_coll_epcoll_progress(epcoll_member_t *member)
{
    mca_coll_epcoll_view_t *view = (mca_coll_epcoll_view_t *) member;

    member->oversubscribed = mca_coll_epcoll_component.engine->is_oversubscribed();
    if (member->oversubscribed && !view->is_local
        && 0 != ++view->yields % PROGRESS_OVERSUBSCRIBED) {
        (void) sched_yield();
        return MPI_SUCCESS;
    }
    return mca_coll_epcoll_wait_progress(view);
}

int mca_coll_epcoll_failed(ompi_communicator_t *comm, epcoll_member_t *member, int rc)
{
    /* A member that has seen a loss elsewhere may have given up the communicator: that is why it
     * does not arrive.  If it has reported that (engine->leave), it has before. */
    if (EPCOLL_MISMATCH == rc) {
        (void) mca_coll_epcoll_component.engine->progress(comm);
        if (mca_coll_epcoll_component.engine->is_lost(comm, MPIX_ENDPOINTS_ANY_RANK)) {
            rc = MPI_ERR_PROC_FAILED;
        }
    }
    if (EPCOLL_MISMATCH != rc) {
        (void) epcoll_break(member, rc);
        if (MPI_ERR_PROC_FAILED == rc) {
            /* Another member may have seen it, and reported it by the segment: later operations on
             * our endpoint are to fail as well. */
            mca_coll_epcoll_component.engine->check_liveness(comm);
        }
        return rc;
    }
    rc = mca_coll_epcoll_mismatch_error(member);
    if (epcoll_break(member, rc)) {
        mca_coll_epcoll_mismatch_report(comm, member); /* the first one does */
    }
    return rc;
}

/** Notify all members of other processes: else they would wait for messages that are not sent.  One
 * member of each process would break what all of it share, but a member that only sends may have
 * freed its handle already. */
static void notify_others(const mca_coll_epcoll_handle_t *handle, int why)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(handle); /* NULL: bare */
    const uint32_t members = mca_coll_epcoll_size(handle),
                   own = (uint32_t) mca_coll_epcoll_rank(handle);
    const int32_t word = why;

    for (uint32_t rank = 0; rank < members; ++rank) {
        if (NULL == layout ? rank != own : layout->process_of[rank] != layout->own) {
            /* Without memory there is no notification. */
            (void) mca_coll_epcoll_component.engine->am_send(handle->view.comm,
                                                             mca_coll_epcoll_component.client,
                                                             (int) rank, &word, sizeof(word));
        }
    }
}

/**
 * Break what members share.  Called by the thread that progresses the endpoint, also while its
 * owner is making a node segment.  That is published before its owner checks whether ours is
 * broken, and we break ours before we look for it, both sequentially consistent, so one of the two
 * finds what the other has done.
 */
static void break_shared(mca_coll_epcoll_handle_t *handle, int why)
{
    mca_coll_epcoll_node_segment_t *node_segment;
    mca_coll_epcoll_bounce_t *bounce;

    (void) epcoll_break(&handle->view.member, why);
    if (!handle->is_hier) {
        return;
    }
    atomic_thread_fence(memory_order_seq_cst);
    node_segment = mca_coll_epcoll_hier(handle)->node_segment;
    if (NULL != node_segment) {
        (void) epcoll_break(&node_segment->view.member, why);
    }
    bounce = mca_coll_epcoll_hier(handle)->bounce;
    if (NULL != bounce) {
        (void) epcoll_break(&bounce->view.member, why);
    }
}

void mca_coll_epcoll_break_late(const mca_coll_epcoll_handle_t *handle,
                                mca_coll_epcoll_view_t *made)
{
    int why;

    atomic_thread_fence(memory_order_seq_cst); /* partner: break_shared */
    why = atomic_load_explicit(handle->view.member.broken, memory_order_relaxed);
    if (0 != why) {
        (void) epcoll_break(&made->member, why);
    }
}

void mca_coll_epcoll_break_all(mca_coll_epcoll_handle_t *handle, int why)
{
    if (mca_coll_epcoll_is_bare(handle)) {
        if (epcoll_break(&handle->view.member, why) && MPI_ERR_PROC_FAILED != why) {
            notify_others(handle, why);
        }
        return;
    }
    break_shared(handle, why);
    /* Relaxed: nothing is read by it. */
    if (NULL != mca_coll_epcoll_layout(handle) && MPI_ERR_PROC_FAILED != why
        && 0
               == atomic_exchange_explicit(&handle->view.member.segment->notified, 1,
                                           memory_order_relaxed)) {
        notify_others(handle, why);
    }
}

int mca_coll_epcoll_waiting_error(const mca_coll_epcoll_handle_t *handle, bool look)
{
    int why = 0;

    if (NULL != mca_coll_epcoll_layout(handle)) {
        /* Relaxed: nothing but the word itself is read by it. */
        why = atomic_load_explicit(handle->view.member.broken, memory_order_relaxed);
    }
    if (OPAL_LIKELY(0 != why || !look)) {
        return why;
    }
    return mca_coll_epcoll_component.engine->is_lost(handle->view.comm, MPIX_ENDPOINTS_ANY_RANK)
               ? MPI_ERR_PROC_FAILED
               : 0;
}

bool mca_coll_epcoll_am_handler(void *object, int rank, const void *data, size_t size)
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
        (void) epcoll_break(&handle->view.member, word);
        return true;
    }
    /* Relaxed: as above.  The sender has notified the others. */
    atomic_store_explicit(&handle->view.member.segment->notified, 1, memory_order_relaxed);
    break_shared(handle, word);
    return true;
}

/** The error that broke a segment. */
static int broken_by(const epcoll_member_t *member)
{
    /* Relaxed: we have seen that it is set. */
    const int why = atomic_load_explicit(member->broken, memory_order_relaxed);

    /* Another process may have written that of a node segment. */
    return MPI_SUCCESS < why && MPI_ERR_LASTCODE >= why ? why : MPI_ERR_OTHER;
}

/** A call once the segment is broken.  It makes progress, as a program may call until it learns that
 * the communicator has been revoked. */
static int run_broken(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    (void) call;
    (void) mca_coll_epcoll_component.engine->progress(handle->view.comm);
    return broken_by(&handle->view.member);
}

/** Likewise of a loss that is known elsewhere: wait until it is known here. */
static void wait_for_loss(const ompi_communicator_t *comm)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;

    engine->check_liveness(comm);
    for (int i = 0; i < PROGRESS_LOST && !engine->is_lost(comm, MPIX_ENDPOINTS_ANY_RANK); ++i) {
        (void) engine->progress(comm);
        (void) sched_yield();
    }
}

int mca_coll_epcoll_ended_slow(mca_coll_epcoll_view_t *view, int rc)
{
    view->has_progressed = false;
    if (0 != waiting.words[0]) {
        mca_coll_epcoll_component.engine->wait_end(&waiting);
    }
    memset(&waiting, 0, sizeof(waiting)); /* the thread's next wait may be on another handle */
    if (0 == rc) {
        return MPI_SUCCESS;
    }
    /* Sequence numbers may differ between members from now on: epcoll_begin fails, as the segment
     * is broken. */
    (void) mca_coll_epcoll_failed(view->comm, &view->member, rc);
    if (view->is_handle) {
        view->is_local = false;
        ((mca_coll_epcoll_handle_t *) view)->run = run_broken;
    }
    rc = broken_by(&view->member);
    if (MPI_ERR_PROC_FAILED == rc) {
        wait_for_loss(view->comm);
    }
    return mca_coll_epcoll_loss_error(view->comm, rc);
}
