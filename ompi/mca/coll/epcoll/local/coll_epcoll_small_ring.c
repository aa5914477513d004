/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Small collectives in which some members need not wait for others, in rings (coll_epcoll_ring.h):
 * bcast, scatter, gather, reduce, scan and exscan.  Results are associated as those in slots.
 *
 * Called by the layer hier.
 *
 * Tests: coll_move, coll_reduce, coll_late, coll_mismatch, coll_order
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "coll_epcoll_order.h"
#include "coll_epcoll_small.h"

#include "mpi.h"

bool mca_coll_epcoll_small_has_ring(mca_coll_epcoll_kind_t kind)
{
    switch (kind) {
    case EPCOLL_BCAST:
    case EPCOLL_EXSCAN:
    case EPCOLL_GATHER:
    case EPCOLL_REDUCE:
    case EPCOLL_SCAN:
    case EPCOLL_SCATTER:
        return true;
    default:
        return false;
    }
}

/** Say something that is packed. */
static void small_ring_publish(epcoll_member_t *member, uint64_t signature, const void *packed,
                               size_t size)
{
    epcoll_publish(epcoll_ring_slot(member, member->index), member->seq, signature, packed, size);
}

/** Say what is in a buffer. */
static int say_packed(epcoll_member_t *member, uint64_t signature,
                      const mca_coll_epcoll_buffer_t *buffer, size_t size)
{
    unsigned char packed[EPCOLL_INLINE];
    const int rc = mca_coll_epcoll_small_pack(packed, buffer, size);

    if (0 == rc) {
        small_ring_publish(member, signature, packed, size);
    }
    return rc;
}

/** One has something for all: the same, or a block for each. */
static int small_ring_from_root(epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                                uint64_t signature)
{
    const uint32_t root = (uint32_t) call->root;
    const bool scatters = EPCOLL_SCATTER == call->kind;
    const size_t offset = scatters ? member->index * call->bytes : 0;
    const epcoll_slot_t *line = epcoll_ring_slot(member, root);
    int rc;

    if (root == member->index) {
        const mca_coll_epcoll_buffer_t sent = {.address = (void *) (uintptr_t) call->send,
                                               .count = call->send_count
                                                        * (scatters ? member->count : 1),
                                               .type = call->send_type};

        rc = say_packed(member, signature, &sent, call->bytes * (scatters ? member->count : 1));
        return 0 != rc || !scatters || call->in_place
                   ? rc
                   : mca_coll_epcoll_small_unpack(call, line->data + offset, 0);
    }
    rc = epcoll_ring_wait(member, root, signature);
    return 0 == rc ? mca_coll_epcoll_small_unpack(call, line->data + offset, 0) : rc;
}

static int small_ring_gather(epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                             uint64_t signature)
{
    const bool is_root = (uint32_t) call->root == member->index;
    mca_coll_epcoll_buffer_t sent = {.address = (void *) (uintptr_t) call->send,
                                     .count = call->send_count,
                                     .type = call->send_type};
    int rc = 0;

    if (!is_root) {
        return say_packed(member, signature, &sent, call->bytes);
    }
    if (!call->in_place) {
        rc = say_packed(member, signature, &sent, call->bytes);
    } else {
        small_ring_publish(member, signature, "",
                           0); /* read only by a member that has called something
                                               else */
    }
    for (uint32_t i = member->count; i-- > 0 && 0 == rc;) {
        if (i != member->index || !call->in_place) {
            rc = epcoll_ring_wait(member, i, signature);
            rc = 0 == rc ? mca_coll_epcoll_small_unpack(call, epcoll_ring_slot(member, i)->data, i)
                         : rc;
        }
    }
    return rc;
}

/** Combine the data of members before `last`, from there to the first, with the result so far. */
static int small_ring_combine(epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                              uint64_t signature, uint32_t last, void *result)
{
    int rc = 0;

    for (uint32_t i = last; i-- > 0 && 0 == rc;) {
        rc = epcoll_ring_wait(member, i, signature);
        if (0 == rc) {
            ompi_op_reduce(call->op, epcoll_ring_slot(member, i)->data, result,
                           (mca_coll_epcoll_count_t) call->recv_count, call->recv_type);
        }
    }
    return rc;
}

/** As small_ring_combine, where the order of members of several processes matters. */
static int small_ring_combine_in_order(epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                                       uint64_t signature, uint32_t last)
{
    mca_coll_epcoll_order_t order = {.layout = member->aux->order,
                                     .rank = member->index,
                                     .is_small = true,
                                     .count = call->recv_count};

    for (uint32_t i = last + 1; i-- > 0;) {
        const int rc = epcoll_ring_wait(member, i, signature);

        if (0 != rc) {
            return rc;
        }
        order.vector[i] = epcoll_ring_slot(member, i)->data;
    }
    mca_coll_epcoll_order_run(&order, call, call->recv);
    return 0;
}

/** Those that reduce: up to which member, and whether that one's part is ours. */
static int small_ring_reduce(epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                             uint64_t signature)
{
    const void *const own = call->in_place ? call->recv : call->send;
    uint32_t last = member->index;
    int rc;

    small_ring_publish(member, signature, own, call->bytes);
    if (EPCOLL_REDUCE == call->kind) {
        if ((uint32_t) call->root != member->index) {
            return 0;
        }
        last = member->count - 1;
    } else if (EPCOLL_EXSCAN == call->kind) {
        if (0 == last) {
            return 0;
        }
        --last;
    }
    if (NULL != member->aux && mca_coll_epcoll_order_matters(call)) {
        return small_ring_combine_in_order(member, call, signature, last);
    }
    if (last == member->index) {
        if (!call->in_place) {
            epcoll_copy(call->recv, own, call->bytes);
        }
    } else {
        rc = epcoll_ring_wait(member, last, signature);
        if (0 != rc) {
            return rc;
        }
        epcoll_copy(call->recv, epcoll_ring_slot(member, last)->data, call->bytes);
    }
    return small_ring_combine(member, call, signature, last, call->recv);
}

int mca_coll_epcoll_small_ring_run(mca_coll_epcoll_view_t *view, const mca_coll_epcoll_call_t *call)
{
    epcoll_member_t *member = &view->member;
    const uint64_t signature = mca_coll_epcoll_signature(call->kind, call->root, false,
                                                         call->bytes);
    int rc = epcoll_ring_begin(member);

    if (0 == rc) {
        rc = NULL != call->op              ? small_ring_reduce(member, call, signature)
             : EPCOLL_GATHER == call->kind ? small_ring_gather(member, call, signature)
                                           : small_ring_from_root(member, call, signature);
    }
    if (0 == rc) {
        epcoll_end(member);
    } else if (EPCOLL_MISMATCH == rc) {
        epcoll_ring_publish_signature(member, signature);
    }
    return mca_coll_epcoll_ended(view, rc);
}
