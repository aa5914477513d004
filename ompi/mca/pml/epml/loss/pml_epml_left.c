/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * LEFT, and this member's own end of a communicator's collectives or of all: what pml_epml_leave.c tells
 * others follows from both.  What is said of a communicator that is not here is kept until it is.
 *
 * Called by others without the endpoint's lock (mca_pml_epml_leave), or when a message has come.
 *
 * Tests: cut (left_), device_coll, ulfm_revoke, ulfm_stress, unit/test_epml_leave
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_leave.h"
#include "pml_epml_lost.h"

#include "ompi/constants.h"

static bool is_member(const mca_pml_epml_peers_t *peers, uint64_t uid)
{
    for (int32_t i = 0; i < peers->count; ++i) {
        if (uid == peers->member[i]->uid) {
            return true;
        }
    }
    return false;
}

/** A communicator is revoked: libmpi, too, refuses new operations on it from now on. */
static void set_revoked(mca_pml_epml_comm_t *comm)
{
    comm->loss.revoked = true;
#if OPAL_ENABLE_FT_MPI
    /* Relaxed: a word of its own. */
    __atomic_store_n(&comm->comm->comm_revoked, true, __ATOMIC_RELAXED);
#endif
    if (NULL != comm->inner) {
        set_revoked(comm->inner);
    }
}

/** A member has left a communicator, or it is revoked; now, or before it was here. */
static void left_receive(mca_pml_epml_comm_t *comm, mca_pml_epml_notice_t notice)
{
    if (EPML_NOTICE_REVOKED == notice ? !comm->loss.revoked : !comm->loss.left) {
        if (EPML_NOTICE_REVOKED == notice) {
            set_revoked(comm);
        } else {
            comm->loss.left = true;
        }
        mca_pml_epml_lost_look_soon(comm->ep);
        /* This endpoint may be waiting for the sender, or the sender may have lost this endpoint.
         * The message is no proof that the connection works, so the peer is asked. */
        comm->ep->loss.ask_soon = true;
        if (!mca_pml_epml_ep_has_transports(comm->ep)) {
            mca_pml_epml_lost_look(
                comm->ep); /* its progress calls do not, as it cannot lose anybody */
        }
    }
}

void mca_pml_epml_leave(mca_pml_epml_comm_t *comm)
{
    mca_pml_epml_lock(comm->ep);
    left_receive(comm, EPML_NOTICE_LEFT);
    mca_pml_epml_lost_look(
        comm->ep); /* which tells the others: this one may make no progress call again */
    mca_pml_epml_unlock(comm->ep);
}

int mca_pml_epml_revoke(ompi_communicator_t *ompi_comm)
{
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm(ompi_comm);

    mca_pml_epml_lock(comm->ep);
    if (!comm->loss.revoked) { /* else it is passed on already */
        comm->loss.passing[EPML_NOTICE_REVOKED].first = true;
        left_receive(comm, EPML_NOTICE_REVOKED);
        mca_pml_epml_lost_look(comm->ep);
    }
    mca_pml_epml_unlock(comm->ep);
    return OMPI_SUCCESS;
}

/** What a message says. */
static mca_pml_epml_notice_t notice_of(const mca_pml_epml_hdr_left_t *hdr)
{
    return 0 != (hdr->common.flags & EPML_HDR_FLAG_REVOKE) ? EPML_NOTICE_REVOKED : EPML_NOTICE_LEFT;
}

/** Messages of at most so many senders are kept for a context that has no communicator yet, one of
 * each.  Only the communicator shows which senders are members, and one of the two may not be. */
#define EARLY_SAME 2

static void left_retain(mca_pml_epml_ep_t *ep, const mca_pml_epml_hdr_left_t *hdr)
{
    int same = 0;

    for (uint32_t i = 0; i < EPML_LEFT_EARLY; ++i) {
        if (hdr->context == ep->loss.early[i].context) {
            if (hdr->uid != ep->loss.early[i].uid) {
                ++same;
            } else if (notice_of(hdr) == ep->loss.early[i].notice) {
                same += EARLY_SAME;
            }
        }
    }
    if (EARLY_SAME > same && 0 != hdr->context) {
        ep->loss.early[ep->loss.early_next].context = hdr->context;
        ep->loss.early[ep->loss.early_next].uid = hdr->uid;
        ep->loss.early[ep->loss.early_next].notice = notice_of(hdr);
        ep->loss.early_next = (ep->loss.early_next + 1) % EPML_LEFT_EARLY;
    }
}

static bool left_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_left_t *hdr = message->hdr;
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm_find(ep, hdr->context);

    if (NULL == comm) {
        mca_pml_epml_ep_drop(ep); /* it has been freed here, most likely */
        left_retain(ep, hdr);     /* no id comes twice, so it does no harm */
    } else if (!is_member(comm->local, hdr->uid) && !is_member(comm->peers, hdr->uid)) {
        mca_pml_epml_ep_drop(ep);
    } else {
        left_receive(comm, notice_of(hdr));
    }
    return true;
}

const mca_pml_epml_kind_t mca_pml_epml_left_kind = {.size = sizeof(mca_pml_epml_hdr_left_t),
                                                    .from = EPML_FROM_UID,
                                                    .uid = offsetof(mca_pml_epml_hdr_left_t, uid),
                                                    .context = offsetof(mca_pml_epml_hdr_left_t,
                                                                        context),
                                                    .arrived = left_arrived};

void mca_pml_epml_leave_attach(mca_pml_epml_comm_t *comm)
{
    mca_pml_epml_ep_t *ep = comm->ep;

    for (uint32_t i = 0; i < EPML_LEFT_EARLY; ++i) {
        const uint64_t uid = ep->loss.early[i].uid;

        if (comm->context == ep->loss.early[i].context) {
            ep->loss.early[i].context = 0;
            if (is_member(comm->local, uid) || is_member(comm->peers, uid)) {
                left_receive(comm, ep->loss.early[i].notice);
            }
        }
    }
}
