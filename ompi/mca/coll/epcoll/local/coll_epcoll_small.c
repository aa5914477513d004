/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collectives whose data travel in slots.  Members read only what they need: a member that only
 * sends (in a gather or reduce, or a low rank of a scan) does not wait.
 *
 * Tests: coll_move, coll_reduce, coll_late, coll_mismatch, coll_pending, coll_order
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "coll_epcoll_order.h"
#include "coll_epcoll_small.h"

#include "mpi.h"

/** What a reduction of a slot's data needs. */
typedef struct reduce_args_t {
    ompi_op_t *op;
    ompi_datatype_t *type;
    mca_coll_epcoll_count_t count;
} reduce_args_t;

static void small_combine(void *into, const void *from, void *context)
{
    const reduce_args_t *args = context;

    ompi_op_reduce(args->op, (void *) (uintptr_t) from, into, args->count, args->type);
}

bool mca_coll_epcoll_is_small(const epcoll_member_t *member, uint32_t limit,
                              const mca_coll_epcoll_call_t *call)
{
    switch (call->kind) {
    case EPCOLL_ALLREDUCE:
    case EPCOLL_REDUCE:
        return call->bytes <= limit && mca_coll_epcoll_is_as_packed(call->recv_type);
    case EPCOLL_EXSCAN:
    case EPCOLL_SCAN:
    case EPCOLL_REDUCE_SCATTER:
    case EPCOLL_REDUCE_SCATTER_BLOCK:
        return 0 == member->levels && call->bytes <= limit
               && mca_coll_epcoll_is_as_packed(call->recv_type);
    case EPCOLL_BCAST:
        return call->bytes <= limit;
    case EPCOLL_GATHER: /* of a part, blocks are not one behind the other */
        return call->bytes <= limit && NULL == call->ranks;
    case EPCOLL_ALLGATHER:
        return call->bytes <= limit;
    case EPCOLL_ALLTOALL:
        return 0 == member->levels && call->bytes * member->count <= limit && NULL == call->ranks;
    case EPCOLL_SCATTER:
        return call->bytes * member->count <= limit && NULL == call->ranks;
    default:
        return false;
    }
}

int mca_coll_epcoll_small_allreduce(mca_coll_epcoll_view_t *view, const void *send, void *recv,
                                    size_t count, ompi_datatype_t *type, ompi_op_t *op)
{
    reduce_args_t args = {.op = op, .type = type, .count = (mca_coll_epcoll_count_t) count};
    const size_t bytes = count * type->super.size;
    const epcoll_contribution_t all = {.signature = mca_coll_epcoll_signature(EPCOLL_ALLREDUCE, 0,
                                                                              false, bytes),
                                       .data = send,
                                       .size = bytes,
                                       .combine = small_combine,
                                       .context = &args};

    return mca_coll_epcoll_ended(view, epcoll_allreduce(&view->member, &all, recv));
}

int mca_coll_epcoll_small_bcast(mca_coll_epcoll_view_t *view, void *data, size_t bytes, int root)
{
    return mca_coll_epcoll_ended(view, epcoll_bcast(&view->member, (uint32_t) root,
                                                    mca_coll_epcoll_signature(EPCOLL_BCAST, root,
                                                                              false, bytes),
                                                    data, bytes));
}

int mca_coll_epcoll_small_scatter(mca_coll_epcoll_view_t *view, const void *send, void *recv,
                                  size_t bytes, int root)
{
    epcoll_member_t *member = &view->member;
    unsigned char blocks[EPCOLL_INLINE];
    const bool is_root = member->index == (uint32_t) root;
    const unsigned char *all = is_root ? send : blocks;
    const int rc = epcoll_bcast(member, (uint32_t) root,
                                mca_coll_epcoll_signature(EPCOLL_SCATTER, root, false, bytes),
                                (void *) (uintptr_t) all, bytes * member->count);

    if (OPAL_LIKELY(0 == rc)) {
        epcoll_copy(recv, all + member->index * bytes, bytes);
    }
    return mca_coll_epcoll_ended(view, rc);
}

/* ---- publishing ------------------------------------------------------------------------------ */

/** A member's data as they are in its slot. */
static int small_publish_data(epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                              uint64_t signature)
{
    unsigned char packed[EPCOLL_INLINE];
    mca_coll_epcoll_buffer_t sent = {.address = (void *) (uintptr_t) call->send,
                                     .count = call->send_count,
                                     .type = call->send_type};
    size_t size = call->bytes;
    int rc;

    if (NULL != call->op) { /* a vector that is as if packed */
        epcoll_publish(epcoll_slot(member, member->index), member->seq, signature,
                       call->in_place ? call->recv : call->send, size);
        return 0;
    }
    if (EPCOLL_ALLTOALL == call->kind || EPCOLL_SCATTER == call->kind) {
        sent.count *= member->count;
        size *= member->count;
    }
    if (call->in_place && EPCOLL_SCATTER != call->kind) {
        sent.address = call->recv;
        sent.type = call->recv_type;
        sent.count = call->recv_count * (EPCOLL_ALLTOALL == call->kind ? member->count : 1);
        if (EPCOLL_ALLGATHER == call->kind || EPCOLL_GATHER == call->kind) {
            sent.address = (char *) call->recv
                           + (ptrdiff_t) (member->index * call->recv_count)
                                 * mca_coll_epcoll_extent(call->recv_type);
        }
    }
    rc = mca_coll_epcoll_small_pack(packed, &sent, size);
    if (OPAL_LIKELY(0 == rc)) {
        epcoll_publish(epcoll_slot(member, member->index), member->seq, signature, packed, size);
    }
    return rc;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/** Wait until a member has published its block.  @return 0 or an error */
static inline int gather_wait(epcoll_member_t *member, const epcoll_slot_t *slot, uint32_t index,
                              uint64_t signature)
{
    /* Acquire: as in epcoll_wait_member. */
    return OPAL_LIKELY(atomic_load_explicit(&slot->seq, memory_order_acquire) >= member->seq
                       && signature == slot->signature)
               ? 0
               : epcoll_wait_member_slow(member, 0, index, signature);
}

/** Kinds that gather: all members' blocks, in order.  In place, our own block is written back
 * unchanged. */
static int small_gather(epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                        uint64_t signature)
{
    enum { STRIDE = sizeof(epcoll_ctrl_t) / sizeof(epcoll_slot_t) };
    const size_t bytes = call->bytes,
                 offset = EPCOLL_ALLTOALL == call->kind ? member->index * bytes : 0;
    const bool is_run = mca_coll_epcoll_is_dense(call->recv_type);
    char *block = mca_coll_epcoll_away(call->recv, call->recv_type->super.true_lb)
                  + member->count * bytes;
    const epcoll_slot_t *slot = epcoll_slot(member, member->count);
    int rc = 0;

    if (is_run && sizeof(uint64_t) == bytes) {
#pragma GCC unroll 4
        for (uint32_t i = member->count; i-- > 0;) {
            slot -= STRIDE;
            block -= sizeof(uint64_t);
            rc = gather_wait(member, slot, i, signature);
            if (0 != rc) {
                return rc;
            }
            memcpy(block, slot->data + offset, sizeof(uint64_t));
        }
        return 0;
    }
    for (uint32_t i = member->count; i-- > 0 && 0 == rc;) {
        slot -= STRIDE;
        block -= bytes;
        rc = gather_wait(member, slot, i, signature);
        if (0 == rc && is_run) {
            epcoll_copy(block, slot->data + offset, bytes);
        } else if (0 == rc && (i != member->index || !call->in_place)) {
            rc = mca_coll_epcoll_small_unpack(call, slot->data + offset, i);
        }
    }
    return rc;
}

/** Combine the data of members first to last. */
static int small_reduce_members(epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                                uint64_t signature, uint32_t first, uint32_t last, void *result)
{
    const reduce_args_t what = {.op = call->op,
                                .type = call->recv_type,
                                .count = (mca_coll_epcoll_count_t) call->recv_count};
    int rc = 0;

    for (uint32_t i = last + 1; i-- > first && 0 == rc;) {
        rc = epcoll_wait_member(member, first, i, signature);
        if (0 == rc && i == last) {
            epcoll_copy(result, epcoll_slot(member, i)->data, call->bytes);
        } else if (0 == rc) {
            small_combine(result, epcoll_slot(member, i)->data, (void *) (uintptr_t) &what);
        }
    }
    return rc;
}

/** The same of the members before us, which wait for none and may be ahead. */
static int small_combine_before(epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                                uint64_t signature, uint32_t last)
{
    const bool is_ahead = 0 < member->index && epcoll_is_ahead(member, member->index - 1);
    const int rc = small_reduce_members(member, call, signature, 0, last, call->recv);

    if (is_ahead) {
        epcoll_prefetch_next(member, 0, member->index);
    }
    return rc;
}

/** Where our block is in the vector of a call that scatters: elements. */
static size_t block_begin(const epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                          size_t *count)
{
    size_t first = 0;

    *count = call->send_count;
    if (EPCOLL_REDUCE_SCATTER_BLOCK == call->kind) {
        return member->index * call->send_count;
    }
    for (uint32_t i = 0; i < member->index; ++i) {
        first += EPCOLL_COUNT(call->recv_counts, i);
    }
    *count = EPCOLL_COUNT(call->recv_counts, member->index);
    return first;
}

/** Our block of the combined data of all. */
static int small_combine_block(epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                               uint64_t signature)
{
    alignas(16) unsigned char all[EPCOLL_INLINE];
    const size_t size = call->recv_type->super.size;
    size_t count;
    const size_t first = block_begin(member, call, &count);
    const int rc = small_reduce_members(member, call, signature, 0, member->count - 1, all);

    if (0 == rc) {
        memcpy(call->recv, all + first * size, count * size);
    }
    return rc;
}

/** Members live in several processes, and it would show if they were put together as those of
 * one. */
static bool is_in_order(const epcoll_member_t *member, const mca_coll_epcoll_call_t *call)
{
    return NULL != member->aux && NULL != call->op && mca_coll_epcoll_order_matters(call);
}

/** Then: the result. */
static int small_wait_in_order(epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                               uint64_t signature)
{
    mca_coll_epcoll_order_t order = {.layout = member->aux->order,
                                     .rank = member->index,
                                     .is_small = true,
                                     .count = call->recv_count};
    uint32_t end = member->count;
    size_t first = 0;

    switch (call->kind) {
    case EPCOLL_REDUCE:
        end = member->index == (uint32_t) call->root ? end : 0;
        break;
    case EPCOLL_SCAN:
        end = member->index + 1;
        break;
    case EPCOLL_EXSCAN:
        end = member->index;
        break;
    case EPCOLL_REDUCE_SCATTER:
    case EPCOLL_REDUCE_SCATTER_BLOCK:
        first = block_begin(member, call, &order.count) * call->recv_type->super.size;
        break;
    default:
        break;
    }
    epcoll_prefetch_slots(member, 0, end);
    for (uint32_t i = end; i-- > 0;) {
        const int rc = epcoll_wait_member(member, 0, i, signature);

        if (0 != rc) {
            return rc;
        }
        order.vector[i] = epcoll_slot(member, i)->data + first;
    }
    if (0 < end) {
        mca_coll_epcoll_order_run(&order, call, call->recv);
    }
    return 0;
}

/** One has blocks for all. */
static int small_scatter(epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                         uint64_t signature)
{
    unsigned char blocks[EPCOLL_INLINE];
    const mca_coll_epcoll_buffer_t sent = {
        .address = (void *) (uintptr_t) call->send,
        .count = call->send_count * (EPCOLL_SCATTER == call->kind ? member->count : 1),
        .type = call->send_type};
    const bool is_scatter = EPCOLL_SCATTER == call->kind;
    const bool is_root = member->index == (uint32_t) call->root;
    int rc = is_root ? mca_coll_epcoll_pack(blocks, &sent) : 0;

    if (0 == rc) {
        rc = epcoll_bcast(member, (uint32_t) call->root, signature, blocks,
                          call->bytes * (is_scatter ? member->count : 1));
    }
    if (0 != rc || (is_root && (call->in_place || !is_scatter))) {
        return rc;
    }
    return mca_coll_epcoll_small_unpack(call,
                                        blocks + (is_scatter ? member->index * call->bytes : 0), 0);
}

/** The kinds in which each member publishes data.  Our slot is published. */
static int small_all(epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                     uint64_t signature)
{
    const uint32_t last = member->count - 1, index = member->index;

    if (OPAL_UNLIKELY(is_in_order(member, call))) {
        return small_wait_in_order(member, call, signature);
    }
    switch (call->kind) {
    case EPCOLL_GATHER:
        return index == (uint32_t) call->root ? small_gather(member, call, signature) : 0;
    case EPCOLL_REDUCE:
        return index == (uint32_t) call->root
                   ? small_reduce_members(member, call, signature, 0, last, call->recv)
                   : 0;
    case EPCOLL_SCAN:
        return small_combine_before(member, call, signature, index);
    case EPCOLL_EXSCAN:
        return 0 == index ? 0 : small_combine_before(member, call, signature, index - 1);
    default:
        break;
    }
    return NULL == call->op ? small_gather(member, call, signature)
                            : small_combine_block(member, call, signature);
}

/* ---- in steps -------------------------------------------------------------------------------- */

/** The members that we read.  @param count_p  set to their number @return the first of them */
static uint32_t small_needed(const epcoll_member_t *member, const mca_coll_epcoll_call_t *call,
                             uint32_t *count_p)
{
    const uint32_t root = (uint32_t) call->root;

    *count_p = member->count;
    switch (call->kind) {
    case EPCOLL_BCAST:
    case EPCOLL_SCATTER:
        *count_p = root != member->index;
        return root;
    case EPCOLL_GATHER:
    case EPCOLL_REDUCE:
        *count_p = root == member->index ? member->count : 0;
        return 0;
    case EPCOLL_SCAN:
        *count_p = member->index + 1;
        return 0;
    case EPCOLL_EXSCAN:
        *count_p = member->index;
        return 0;
    default:
        return 0;
    }
}

void mca_coll_epcoll_small_publish(mca_coll_epcoll_running_t *running, epcoll_member_t *member,
                                   const mca_coll_epcoll_call_t *call)
{
    const bool is_told = EPCOLL_BCAST == call->kind || EPCOLL_SCATTER == call->kind;

    *running = (mca_coll_epcoll_running_t){
        .member = member,
        .call = call,
        .signature = mca_coll_epcoll_signature_of(call),
    };
    if (EPCOLL_BARRIER == call->kind) {
        epcoll_publish(epcoll_slot(member, member->index), member->seq, running->signature, "", 0);
    } else if (!is_told || member->index == (uint32_t) call->root) {
        running->error = small_publish_data(member, call, running->signature);
    }
}

/** Have all members that we read arrived? */
static int small_hear(mca_coll_epcoll_running_t *running)
{
    epcoll_member_t *member = running->member;
    const mca_coll_epcoll_call_t *call = running->call;
    const bool is_root = member->index == (uint32_t) call->root;
    reduce_args_t args = {.op = call->op,
                          .type = call->recv_type,
                          .count = (mca_coll_epcoll_count_t) call->recv_count};
    const epcoll_contribution_t all = {.signature = running->signature,
                                       .size = call->bytes,
                                       .combine = small_combine,
                                       .context = &args};

    switch (call->kind) {
    case EPCOLL_BARRIER:
        return 0;
    case EPCOLL_BCAST:
        return is_root
                   ? 0
                   : mca_coll_epcoll_small_unpack(call,
                                                  epcoll_slot(member, (uint32_t) call->root)->data,
                                                  0);
    case EPCOLL_SCATTER:
        return is_root && call->in_place
                   ? 0
                   : mca_coll_epcoll_small_unpack(call,
                                                  epcoll_slot(member, (uint32_t) call->root)->data
                                                      + member->index * call->bytes,
                                                  0);
    case EPCOLL_ALLREDUCE: /* in the order of a blocking one */
        if (is_in_order(member, call)) {
            return small_wait_in_order(member, call, running->signature);
        }
        if (0 < member->levels) {
            return epcoll_allreduce_leaderless(member, &all, call->recv);
        }
        for (uint32_t i = member->count; i-- > 0;) {
            epcoll_combine(&all, call->recv, epcoll_slot(member, i)->data, member->count - 1 == i);
        }
        return 0;
    default:
        return small_all(member, call, running->signature);
    }
}

/** A member has not arrived.  @return EPCOLL_NOTHING, or EPCOLL_MISMATCH: it will not */
static int wait_on(mca_coll_epcoll_running_t *running, uint32_t index)
{
    epcoll_member_t *member = running->member;

    if (OPAL_LIKELY(0 != ++running->waits % EPCOLL_WAITS)) {
        return EPCOLL_NOTHING;
    }
    epcoll_publish_signature(member, running->signature);
    return epcoll_has_left(member, index) ? EPCOLL_MISMATCH : EPCOLL_NOTHING;
}

/** Check which members have arrived.  @return EPCOLL_NOTHING: not all that we read, *next_p has
 * not; or EPCOLL_MISMATCH */
static inline int small_poll(mca_coll_epcoll_running_t *running, uint32_t *next_p)
{
    uint32_t count;
    const uint32_t first = small_needed(running->member, running->call, &count);
    bool is_mismatch;

    running->seen += epcoll_count_arrived(running->member, first + running->seen,
                                          count - running->seen, running->signature, &is_mismatch);
    if (running->seen == count) {
        return MPI_SUCCESS;
    }
    *next_p = first + running->seen;
    return is_mismatch ? EPCOLL_MISMATCH : EPCOLL_NOTHING;
}

bool mca_coll_epcoll_small_may_progress(mca_coll_epcoll_running_t *running)
{
    uint32_t next;

    return 0 != running->error || EPCOLL_NOTHING != small_poll(running, &next);
}

int mca_coll_epcoll_small_step(mca_coll_epcoll_running_t *running)
{
    uint32_t next;
    int rc;

    if (OPAL_UNLIKELY(0 != running->error)) {
        return running->error;
    }
    rc = small_poll(running, &next);
    if (EPCOLL_NOTHING == rc) {
        return wait_on(running, next);
    }
    return MPI_SUCCESS == rc ? small_hear(running) : rc;
}

/* ---- at once --------------------------------------------------------------------------------- */

/** Have all others arrived when it is over?  Of a small call that is not one of one to all. */
static bool all_have_arrived(const epcoll_member_t *member, const mca_coll_epcoll_call_t *call)
{
    switch (call->kind) {
    case EPCOLL_GATHER:
    case EPCOLL_REDUCE:
        return member->index == (uint32_t) call->root;
    case EPCOLL_SCAN:
    case EPCOLL_EXSCAN:
        return member->index == member->count - 1;
    default:
        return true;
    }
}

int mca_coll_epcoll_small_run(mca_coll_epcoll_view_t *view, const mca_coll_epcoll_call_t *call)
{
    epcoll_member_t *member = &view->member;
    const uint64_t signature = mca_coll_epcoll_signature(
        call->kind, call->root, call->in_place && EPCOLL_ALLTOALL == call->kind, call->bytes);
    int rc;

    if (EPCOLL_ALLREDUCE == call->kind && !is_in_order(member, call)) {
        return mca_coll_epcoll_small_allreduce(view, call->in_place ? call->recv : call->send,
                                               call->recv, call->recv_count, call->recv_type,
                                               call->op);
    }
    if (EPCOLL_BCAST == call->kind || EPCOLL_SCATTER == call->kind) {
        return mca_coll_epcoll_ended(view, small_scatter(member, call, signature));
    }
    rc = epcoll_begin(member);
    rc = 0 == rc ? small_publish_data(member, call, signature) : rc;
    rc = 0 == rc ? small_all(member, call, signature) : rc;
    if (0 == rc) {
        const bool all_arrived = all_have_arrived(member, call);

        if (all_arrived) {
            epcoll_all_arrived(member);
        }
        epcoll_end(member);
        if (!all_arrived) {
            (void) epcoll_end_leader(member); /* an error is that of the next operation */
        }
    }
    return mca_coll_epcoll_ended(view, rc);
}
