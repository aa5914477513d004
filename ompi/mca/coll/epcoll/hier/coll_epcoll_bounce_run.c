/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Bcast, gather, scatter, allgather, alltoall, scan and exscan by bounce buffers.
 *
 * A member copies what it sends into its sections, round after round, as far as they are free, and
 * copies out what others have published as it arrives.  Members may arrive in any order and be
 * descheduled.  A round transfers the same range of each block, so a call in place works: a range
 * is copied into a section before it is overwritten.
 *
 * In an alltoall members of a process copy each other's blocks from buffer to buffer, once; their
 * sections have the blocks for other processes.
 *
 * Only data are read from the sections of others: all lengths are those of our own call, whose
 * signature is compared with the one in each slot.
 *
 * Called by coll_epcoll_hier.c.
 *
 * Tests: coll_layout, coll_late, death_coll, coll_order
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "coll_epcoll_bounce.h"

#include "mpi.h"

/** Bytes of a block in a round, at least, if the section has so many: less is not worth a flag of
 * each member. */
#define FRAGMENT_MIN ((size_t) 32 * 1024)

/** A call, as a member has it. */
typedef struct bounce_op_t {
    const mca_coll_epcoll_call_t *call;
    epcoll_member_t *member;
    uint64_t signature; /**< of the call */
    uint64_t before;    /**< the number of round 0 is one more */
    uint64_t rounds;
    const mca_coll_epcoll_layout_t *layout;
    uint32_t process; /**< ours */
    size_t bytes;     /**< of a block */
    size_t fragment;  /**< of that, in a round */
    uint32_t sources; /**< members that we take from */
    uint64_t put;     /**< rounds that we have put, or all: we put nothing */
    uint64_t taken;   /**< likewise */
    uint32_t seen;    /**< sources that have put the next round that we take */
    bool keeps;       /**< our block for ourselves is still to be copied */
} bounce_op_t;

static bool is_scan(const mca_coll_epcoll_call_t *call)
{
    return EPCOLL_SCAN == call->kind || EPCOLL_EXSCAN == call->kind;
}

/** Does each member have a block for each other one in its section?  Of an alltoall: of other
 * processes. */
static bool is_divided(const mca_coll_epcoll_call_t *call)
{
    return EPCOLL_ALLTOALL == call->kind || EPCOLL_SCATTER == call->kind;
}

/** Members of other processes than one. */
static uint32_t members_beyond(const bounce_op_t *op, uint32_t process)
{
    return op->member->count - mca_coll_epcoll_layout_count(op->layout, process);
}

/** A member of another process, in turn: those after our process, and round; each member of our
 * process begins with another one. */
static uint32_t member_beyond(const bounce_op_t *op, uint32_t turn)
{
    const uint32_t own = op->member->index, size = op->member->count;
    const uint32_t at = op->layout->first[op->process + 1]
                        + (turn + op->layout->index_of[own]) % members_beyond(op, op->process);

    return op->layout->member[at < size ? at : at - size];
}

/** Which part is ours: do we put, and which member do we take from?  @return whether we put */
static bool find_sources(bounce_op_t *op)
{
    const mca_coll_epcoll_call_t *call = op->call;
    const bool is_root = (uint32_t) call->root == op->member->index;
    const uint32_t own = op->member->index, others = op->member->count - 1;

    op->keeps = !call->in_place;
    switch (call->kind) {
    case EPCOLL_BCAST:
    case EPCOLL_SCATTER:
        op->sources = !is_root;
        op->keeps = op->keeps && is_root && EPCOLL_SCATTER == call->kind;
        return is_root;
    case EPCOLL_GATHER:
        op->sources = is_root ? others : 0;
        op->keeps = op->keeps && is_root;
        return !is_root;
    case EPCOLL_EXSCAN:
    case EPCOLL_SCAN:
        op->sources = own;
        op->keeps = op->keeps && 0 == own && EPCOLL_SCAN == call->kind;
        return others > own;
    case EPCOLL_ALLTOALL:
        op->sources = members_beyond(op, op->process);
        op->keeps = op->keeps && 1 == mca_coll_epcoll_layout_count(op->layout, op->process);
        return true;
    default:
        op->sources = others;
        return true;
    }
}

/** Blocks in a section, at most: the same at all members. */
static uint32_t blocks_of(const bounce_op_t *op)
{
    uint32_t most = 0;

    if (EPCOLL_ALLTOALL != op->call->kind) {
        return is_divided(op->call) ? op->member->count - 1 : 1;
    }
    for (uint32_t i = 0; i < op->layout->processes; ++i) {
        const uint32_t beyond = members_beyond(op, i);

        most = beyond > most ? beyond : most;
    }
    return most;
}

/** Bytes of a block in a round: in as many rounds as may be under way, so that all work at the same
 * time, if they do not become too short. */
static size_t fragment_of(const bounce_op_t *op)
{
    const uint32_t members = op->member->count;
    const size_t section = mca_coll_epcoll_bounce_section(members);
    /* Whole lines, as a chunk is: they are to fit when it has been rounded up. */
    const size_t most = section / blocks_of(op) & ~(size_t) 63;
    size_t fragment = op->bytes / EPCOLL_WINDOW + 1;

    fragment = fragment < FRAGMENT_MIN ? FRAGMENT_MIN : fragment;
    fragment = (fragment < most ? fragment + 63 : most) & ~(size_t) 63;
    if (is_scan(op->call)) { /* whole elements */
        const size_t each = op->call->recv_type->super.size;

        fragment = fragment < each ? most : fragment;
        fragment -= fragment % each;
    }
    return fragment;
}

/** Nothing is published yet. */
static void bounce_run_begin(bounce_op_t *op, epcoll_member_t *member,
                             const mca_coll_epcoll_call_t *call)
{
    bool puts;

    *op = (bounce_op_t){.call = call,
                        .member = member,
                        .signature = mca_coll_epcoll_signature_of(call),
                        .before = member->seq,
                        .layout = member->aux->order,
                        .bytes = call->bytes};
    op->process = op->layout->process_of[member->index];
    puts = find_sources(op);
    op->fragment = fragment_of(op);
    op->rounds = (op->bytes + op->fragment - 1) / op->fragment;
    op->put = puts ? 0 : op->rounds;
    op->taken = 0 < op->sources ? 0 : op->rounds;
}

static size_t size_of(const bounce_op_t *op, uint64_t round)
{
    const size_t left = op->bytes - round * op->fragment;

    return left < op->fragment ? left : op->fragment;
}

/** A section, or a part of it, as if it had all of a block. */
static mca_coll_epcoll_buffer_t as_block(const bounce_op_t *op, uint32_t index, uint64_t round,
                                         size_t away)
{
    const size_t first = round * op->fragment;

    return (mca_coll_epcoll_buffer_t){.address = mca_coll_epcoll_bounce_at(op->member, index,
                                                                           op->before + 1 + round)
                                                 + away - first,
                                      .count = first + size_of(op, round),
                                      .type = MPI_BYTE};
}

/** Where in a section is what a member has for another one? */
static size_t away_of(const bounce_op_t *op, uint32_t from, uint32_t to)
{
    const mca_coll_epcoll_layout_t *layout = op->layout;
    const uint32_t process = layout->process_of[from];
    uint32_t before;

    if (EPCOLL_ALLTOALL != op->call->kind) {
        return is_divided(op->call) ? (to < from ? to : to - 1) * op->fragment : 0;
    }
    before = layout->first[layout->process_of[to]] + layout->index_of[to];
    return (layout->process_of[to] < process
                ? before
                : before - mca_coll_epcoll_layout_count(layout, process))
           * op->fragment;
}

/** What we have for a member, or for all. */
static mca_coll_epcoll_buffer_t bounce_run_sent(const bounce_op_t *op, uint32_t to)
{
    const mca_coll_epcoll_call_t *call = op->call;

    if (is_scan(call)) {
        return (mca_coll_epcoll_buffer_t){.address = call->in_place
                                                         ? call->recv
                                                         : (void *) (uintptr_t) call->send,
                                          .count = call->recv_count,
                                          .type = call->recv_type};
    }
    return EPCOLL_ALLTOALL == call->kind && call->in_place
               ? mca_coll_epcoll_received(call, to)
               : mca_coll_epcoll_sent(call, op->member->index, to);
}

/** Copy the next round into our section, and publish it. */
static int bounce_run_put(bounce_op_t *op)
{
    const uint32_t size = op->member->count, own = op->member->index;
    const uint64_t seq = op->before + 1 + op->put;
    const bool is_alltoall = EPCOLL_ALLTOALL == op->call->kind;
    const uint32_t members = is_alltoall ? op->sources : is_divided(op->call) ? size - 1 : 1;

    for (uint32_t i = 0; i < members; ++i) {
        const uint32_t next = own + 1 + i < size ? own + 1 + i : own + 1 + i - size;
        const uint32_t to = is_alltoall ? member_beyond(op, i) : next;
        const mca_coll_epcoll_buffer_t from = bounce_run_sent(op, to);
        const mca_coll_epcoll_buffer_t into = as_block(op, own, op->put, away_of(op, own, to));
        const int rc = mca_coll_epcoll_copy_part(&into, &from, op->put * op->fragment,
                                                 size_of(op, op->put));

        if (MPI_SUCCESS != rc) {
            return rc;
        }
    }
    epcoll_publish(&epcoll_ctrl(op->member, own)->slot[seq % EPCOLL_WINDOW], seq, op->signature, "",
                   0);
    ++op->put;
    if (0 == op->sources) {
        epcoll_end_at(op->member, seq);
    }
    return MPI_SUCCESS;
}

static uint32_t source_of(const bounce_op_t *op, uint32_t turn)
{
    const uint32_t own = op->member->index, next = own + 1 + turn;

    if (is_scan(op->call)) {
        return own - 1 - turn;
    }
    if (EPCOLL_ALLTOALL == op->call->kind) {
        return member_beyond(op, turn);
    }
    if (1 == op->sources && EPCOLL_GATHER != op->call->kind) {
        return is_divided(op->call) || EPCOLL_BCAST == op->call->kind ? (uint32_t) op->call->root
                                                                      : 1 - own;
    }
    return next < op->member->count ? next : next - op->member->count;
}

/** Prefixes of a round, of all before us. */
static int bounce_combine(const bounce_op_t *op)
{
    const mca_coll_epcoll_call_t *call = op->call;
    const uint32_t own = op->member->index;
    const ptrdiff_t first = (ptrdiff_t) (op->taken * op->fragment);
    const void *vector[BOUNCE_SCAN_MEMBERS];
    void *recv = mca_coll_epcoll_away(call->recv, first);
    const mca_coll_epcoll_reduction_t reduction = {.op = call->op,
                                                   .type = call->recv_type,
                                                   .count = own + (EPCOLL_SCAN == call->kind),
                                                   .send = vector};

    for (uint32_t i = 0; i < own; ++i) {
        vector[i] = mca_coll_epcoll_bounce_at(op->member, i, op->before + 1 + op->taken);
    }
    vector[own] = mca_coll_epcoll_away(bounce_run_sent(op, own).address, first);
    if (mca_coll_epcoll_order_matters(call)) {
        mca_coll_epcoll_order_t order = {.layout = op->member->aux->order,
                                         .rank = own,
                                         .count = size_of(op, op->taken)
                                                  / call->recv_type->super.size};

        memcpy(order.vector, vector, reduction.count * sizeof(*vector));
        mca_coll_epcoll_order_run(&order, call, recv);
        return MPI_SUCCESS;
    }
    return mca_coll_epcoll_reduce_part(&reduction, 0,
                                       size_of(op, op->taken) / call->recv_type->super.size, &recv,
                                       1);
}

/** A source has put the next round. */
static int bounce_run_take(bounce_op_t *op, uint32_t source)
{
    int rc = MPI_SUCCESS;

    if (!is_scan(op->call)) {
        const uint32_t own = op->member->index;
        const mca_coll_epcoll_buffer_t from = as_block(op, source, op->taken,
                                                       away_of(op, source, own));
        const mca_coll_epcoll_buffer_t into = mca_coll_epcoll_received(op->call, source);

        rc = mca_coll_epcoll_copy_part(&into, &from, op->taken * op->fragment,
                                       size_of(op, op->taken));
    }
    if (++op->seen < op->sources || MPI_SUCCESS != rc) {
        return rc;
    }
    rc = is_scan(op->call) ? bounce_combine(op) : MPI_SUCCESS;
    op->seen = 0;
    ++op->taken;
    epcoll_end_at(op->member, op->before + op->taken);
    return rc;
}

/** Has the next source put the next round?
 * @return EPCOLL_SOME, EPCOLL_NOTHING, EPCOLL_MISMATCH */
static int bounce_run_poll(const bounce_op_t *op, uint32_t source)
{
    const uint64_t seq = op->before + 1 + op->taken;
    epcoll_slot_t *slot = &epcoll_ctrl(op->member, source)->slot[seq % EPCOLL_WINDOW];

    /* Acquire pairs with the release in epcoll_publish: what is in the section is seen. */
    if (atomic_load_explicit(&slot->seq, memory_order_acquire) < seq) {
        return EPCOLL_NOTHING;
    }
    return op->signature == slot->signature ? EPCOLL_SOME : EPCOLL_MISMATCH;
}

/** Our own block: while there is nothing else to do. */
static int bounce_run_copy_own(bounce_op_t *op)
{
    const mca_coll_epcoll_call_t *call = op->call;
    const uint32_t own = op->member->index;
    const mca_coll_epcoll_buffer_t from = bounce_run_sent(op, own);
    const mca_coll_epcoll_buffer_t into
        = is_scan(call) ? (mca_coll_epcoll_buffer_t){.address = call->recv,
                                                     .count = call->recv_count,
                                                     .type = call->recv_type}
                        : mca_coll_epcoll_received(call, own);

    op->keeps = false;
    return mca_coll_epcoll_copy_part(&into, &from, 0, op->bytes);
}

/** Do what can be done now.  @return EPCOLL_SOME; EPCOLL_NOTHING: others have to act; or an
 * error */
static int bounce_run_step(bounce_op_t *op)
{
    int rc = EPCOLL_NOTHING;

    if (op->put < op->rounds && epcoll_may_begin(op->member, op->before + 1 + op->put)) {
        rc = bounce_run_put(op);
        return MPI_SUCCESS == rc ? EPCOLL_SOME : rc;
    }
    if (op->taken < op->rounds && op->taken < op->put) {
        const uint32_t source = source_of(op, op->seen);

        rc = bounce_run_poll(op, source);
        if (EPCOLL_SOME == rc) {
            rc = bounce_run_take(op, source);
            return MPI_SUCCESS == rc ? EPCOLL_SOME : rc;
        }
    }
    if (EPCOLL_NOTHING == rc && op->keeps) {
        rc = bounce_run_copy_own(op);
        return MPI_SUCCESS == rc ? EPCOLL_SOME : rc;
    }
    return rc;
}

/** After a poll that found nothing; after many, check whether the source has left without
 * publishing its slot. */
static int wait_for_it(bounce_op_t *op, uint32_t *polls)
{
    epcoll_member_t *member = op->member;
    const int rc = epcoll_backoff(member, polls);

    /* A slot of which we still have to put the section must not be written otherwise. */
    if (MPI_SUCCESS != rc || op->taken == op->rounds || op->taken == op->put
        || !epcoll_polls_long(member, *polls)) {
        return rc;
    }
    member->seq = op->before + 1 + op->taken;
    epcoll_publish_signature(member, op->signature);
    return epcoll_has_left(member, source_of(op, op->seen)) ? EPCOLL_MISMATCH : MPI_SUCCESS;
}

/** An alltoall among the members of the process. */
static int run_within(mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call)
{
    const mca_coll_epcoll_layout_t *layout = hier->layout;
    mca_coll_epcoll_call_t part = *call;

    part.ranks = layout->member + layout->first[layout->own];
    return 1 == hier->super.view.member.count
               ? MPI_SUCCESS
               : mca_coll_epcoll_local_execute(&hier->super, &part, true);
}

int mca_coll_epcoll_bounce_run(mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call)
{
    mca_coll_epcoll_view_t *bounce = &hier->bounce->view;
    uint32_t polls = 0;
    bounce_op_t op;
    /* Relaxed: as in epcoll_break. */
    int rc = atomic_load_explicit(bounce->member.broken, memory_order_relaxed);

    if (mca_coll_epcoll_bounce_is_chain(&hier->super, call)) {
        return mca_coll_epcoll_bounce_chain(hier, call);
    }
    bounce_run_begin(&op, &bounce->member, call);
    while (0 == rc && (op.put < op.rounds || op.taken < op.rounds || op.keeps)) {
        rc = bounce_run_step(&op);
        if (EPCOLL_SOME == rc) {
            polls = 0;
            rc = 0;
        } else if (EPCOLL_NOTHING == rc) {
            rc = wait_for_it(&op, &polls);
        }
    }
    if (OPAL_UNLIKELY(0 != rc)) {
        op.member->seq = op.before + 1 + op.taken;
        if (EPCOLL_MISMATCH == rc) {
            epcoll_publish_signature(op.member, op.signature);
        }
        return mca_coll_epcoll_ended(bounce, rc);
    }
    op.member->seq = op.before + op.rounds;
    rc = mca_coll_epcoll_ended(bounce, MPI_SUCCESS);
    return MPI_SUCCESS == rc && EPCOLL_ALLTOALL == call->kind ? run_within(hier, call) : rc;
}
