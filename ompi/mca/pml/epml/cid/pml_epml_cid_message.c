/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages between members of a communicator from which another one is made, in the blocking
 * constructors: a few words, with a tag; in MPI_Comm_create_group the user's, which the standard
 * keeps apart from that of the user's messages (MPI 4.1, section 7.4.2).  They travel like any
 * small message, under a context of their own, in which no receive is ever posted: a member that
 * waits looks among the unexpected messages.  So neither member takes memory that it might not get
 * halfway through.
 *
 * Called by pml_epml_cid_tree.c and by create.
 *
 * Tests: comm_group_tag, comm_nomem, cut (left_part, left_early)
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../loss/loss.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_cid.h"
#include "pml_epml_cid_message.h"

#include "ompi/constants.h"

#define AGREE_BYTES (EPML_CID_WORDS * sizeof(uint64_t))

int mca_pml_epml_cid_send(ompi_communicator_t *comm, int rank, int tag, const uint64_t *words)
{
    const mca_pml_epml_comm_t *epml_comm = mca_pml_epml_comm(comm);
    const mca_pml_epml_hdr_match_t hdr = {.common = {.kind = EPML_HDR_EAGER},
                                          .context = epml_comm->context | EPML_AGREE_CONTEXT,
                                          .source = epml_comm->rank,
                                          .tag = tag};
    mca_pml_epml_peer_t *peer = epml_comm->peers->member[rank];
    mca_pml_epml_ep_t *ep = epml_comm->ep;
    mca_pml_epml_waiter_t waiter = {0};
    uint64_t since = 0;

    for (;;) {
        int rc;

        mca_pml_epml_lock(ep);
        /* Past the pending queue, if there is one: nothing before it has this context. */
        rc = mca_pml_epml_lost_is(ep, peer)
                 ? MPI_ERR_PROC_FAILED
                 : mca_pml_epml_transmit(ep, peer, &hdr, sizeof(hdr), words, AGREE_BYTES);
        /* A member that gets no message would wait without end, and this one for its answer.  So a
         * path without memory is waited for, and then the pair ends. */
        rc = mca_pml_epml_pending_judge(ep, peer, rc, &since);
        mca_pml_epml_unlock(ep);
        if (OMPI_ERR_OUT_OF_RESOURCE != rc) {
            mca_pml_epml_wait_over(&waiter);
            return mca_pml_epml_mpi_error(rc);
        }
        /* Also without memory: giving up here would leave the others waiting. */
        mca_pml_epml_progressed(&waiter, ep, mca_pml_epml_ep_poll(ep));
    }
}

/** Look once.  Under the lock.
 * @return OMPI_SUCCESS; OMPI_ERR_WOULD_BLOCK: not yet; or an error: there is none to come */
static int cid_message_take(mca_pml_epml_comm_t *comm, int rank, int tag, uint64_t *words)
{
    mca_pml_epml_ep_t *ep = comm->ep;
    epml_match_queue_t *queue;
    mca_pml_epml_unexpected_t *message = (mca_pml_epml_unexpected_t *)
        epml_match_first(&ep->match, comm->context | EPML_AGREE_CONTEXT, rank, tag, &queue);
    bool is_sound;

    if (comm->agree_message_lost) {
        return MPI_ERR_NO_MEM; /* what does come may be of another agreement */
    }
    if (comm->agree_over && MPI_ANY_TAG > tag) {
        return mca_pml_epml_loss_error(comm);
    }
    if (NULL != message) {
        is_sound = EPML_HDR_EAGER == message->common.kind && AGREE_BYTES == message->size;
        if (is_sound) {
            memcpy(words, message->data, AGREE_BYTES);
        }
        epml_match_remove(&ep->match, &message->match);
        mca_pml_epml_unexpected_free(ep, message);
        return is_sound ? OMPI_SUCCESS : OMPI_ERROR;
    }
    mca_pml_epml_lost_note_probe(comm, rank, tag);
    return comm->loss.member && 0 <= mca_pml_epml_lost_blocks(comm, rank, tag)
               ? mca_pml_epml_loss_error(comm)
               : OMPI_ERR_WOULD_BLOCK;
}

/** Is there a way to the one that is waited for?  That peer will need an answer; and without a way
 * this endpoint could not even ask whether it has been given up.  Under the lock.
 *
 * @param[out] has_way_p  there is a path: if it is lost, the peer is notified
 * @return OMPI_ERR_WOULD_BLOCK, or MPI_ERR_PROC_FAILED: never */
static int check_way(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer, uint64_t *since,
                     bool *has_way_p)
{
    struct mca_btl_base_endpoint_t *connection;
    mca_btl_ep_module_t *module;
    const int rc = mca_pml_epml_route(ep, peer, &module, &connection);

    *has_way_p = OMPI_SUCCESS == rc;
    return MPI_ERR_PROC_FAILED == mca_pml_epml_pending_judge(ep, peer, rc, since)
               ? MPI_ERR_PROC_FAILED
               : OMPI_ERR_WOULD_BLOCK;
}

int mca_pml_epml_cid_recv(ompi_communicator_t *comm, int rank, int tag, uint64_t *words)
{
    mca_pml_epml_comm_t *epml_comm = mca_pml_epml_comm(comm);
    mca_pml_epml_ep_t *ep = epml_comm->ep;
    mca_pml_epml_waiter_t waiter = {0};
    uint64_t since = 0;
    bool has_way = false;

    for (;;) {
        int events, rc;

        mca_pml_epml_lock(ep);
        rc = cid_message_take(epml_comm, rank, tag, words);
        if (OMPI_ERR_WOULD_BLOCK == rc && !has_way) {
            rc = check_way(ep, epml_comm->peers->member[rank], &since, &has_way);
        }
        epml_comm->agree_over = epml_comm->agree_over
                                || (mca_pml_epml_is_loss(rc) && MPI_ANY_TAG > tag);
        mca_pml_epml_unlock(ep);
        if (OMPI_ERR_WOULD_BLOCK != rc) {
            mca_pml_epml_wait_over(&waiter);
            return rc;
        }
        do {
            events = mca_pml_epml_ep_poll(ep);
            mca_pml_epml_progressed(&waiter, ep, events);
        } while (0 == events && 0 != waiter.idle % 64); /* another thread may have taken it in */
    }
}

void mca_pml_epml_comm_leave(ompi_communicator_t *newcomm)
{
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm(newcomm);
    mca_pml_epml_waiter_t waiter = {0};

    while (NULL != comm) {
        bool is_over;

        mca_pml_epml_lock(comm->ep);
        mca_pml_epml_leave_tell(comm, EPML_NOTICE_LEFT);
        is_over = comm->loss.passing[EPML_NOTICE_LEFT].over;
        mca_pml_epml_unlock(comm->ep);
        if (is_over) {
            break;
        }
        /* Without memory, as above. */
        mca_pml_epml_progressed(&waiter, comm->ep, mca_pml_epml_ep_poll(comm->ep));
    }
    mca_pml_epml_wait_over(&waiter);
}
