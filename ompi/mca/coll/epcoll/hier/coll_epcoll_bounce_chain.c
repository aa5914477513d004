/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Scan and exscan by bounce buffers, as a chain: a member reads the result of all before it in the
 * section of its predecessor, and writes its own result and its own section.  So each member reads
 * two vectors and writes two, the least where the next one cannot read a result.  Vectors read,
 * written and added by four members: 7, 7, 3; where each reads all before it
 * (coll_epcoll_bounce_run.c), 13, 7 and 6; by messages of ob1 from each to the next, 13, 10 and 3.
 *
 * A round is a quarter of the vector, so that members work concurrently, but not less than is worth
 * a flag; a round is written into caches that the next member reads from.
 *
 * The first sequence number publishes only the signature, for the next member to compare: a member
 * has no data before its predecessor has arrived, and a member that has called something else may
 * wait for it meanwhile, or publish only its signature itself.  Each section is published with its
 * sequence number, so that the signature of the predecessor's next scan is not taken for data.
 *
 * Only the next member reads a section of the call.  So a slot is reused when that one has
 * completed it (acquire; partner: the release in epcoll_end_at, after its reads), and for the first
 * time in the call when all have (epcoll_may_begin).
 *
 * Called by coll_epcoll_bounce_run.c.
 *
 * Tests: coll_layout, coll_late, coll_order, coll_mismatch, death_coll
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "coll_epcoll_bounce.h"

#include "mpi.h"

/** Bytes of a round, at least, if the section has so many.  Each round costs each member a flag,
 * and where threads share cores perhaps a context switch: 1 MiB of four members on two cores,
 * rounds of 64, 128 and 256 KiB against ob1 in turns: 1.0, 1.2 and 1.5 times as fast. */
#define FRAGMENT_MIN ((size_t) 64 * 1024)

/** A call, as a member has it. */
typedef struct chain_op_t {
    const mca_coll_epcoll_call_t *call;
    epcoll_member_t *member;
    uint64_t signature; /**< of the call */
    uint64_t before;    /**< the signature's number is one more, and that of round 0 two */
    size_t elements;    /**< of a round */
    uint32_t own;       /**< our rank */
    bool is_last;       /**< no member reads our section */
} chain_op_t;

static void bounce_chain_begin(chain_op_t *op, epcoll_member_t *member,
                               const mca_coll_epcoll_call_t *call)
{
    const size_t section = mca_coll_epcoll_bounce_section(member->count),
                 least = call->bytes / EPCOLL_WINDOW + 1,
                 wanted = least < FRAGMENT_MIN ? FRAGMENT_MIN : least,
                 size = call->recv_type->super.size;
    const uint32_t own = member->index;

    *op = (chain_op_t){.call = call,
                       .member = member,
                       .signature = mca_coll_epcoll_signature(call->kind, call->root, false,
                                                              call->bytes),
                       .before = member->seq,
                       .elements = (wanted < size || section < wanted ? section : wanted) / size,
                       .own = own,
                       .is_last = member->count - 1 == own};
}

static uint64_t seq_of(const chain_op_t *op, uint64_t round)
{
    return op->before + 2 + round;
}

/* ---- waiting --------------------------------------------------------------------------------- */

/** May our slot and section of a number be written?  @return EPCOLL_SOME, EPCOLL_NOTHING */
static int is_reusable(const chain_op_t *op, uint64_t seq)
{
    if (op->before + EPCOLL_WINDOW >= seq) {
        return epcoll_may_begin(op->member, seq) ? EPCOLL_SOME : EPCOLL_NOTHING;
    }
    /* Acquire pairs with the release in epcoll_end_at: the next member has read it.  UINT64_MAX:
     * its handle is gone. */
    return op->is_last
                   || seq - EPCOLL_WINDOW
                          <= atomic_load_explicit(&epcoll_ctrl(op->member, op->own + 1)->completed,
                                                  memory_order_acquire)
               ? EPCOLL_SOME
               : EPCOLL_NOTHING;
}

/** Has the preceding member published its section of a number, or its signature?
 * @return EPCOLL_SOME, EPCOLL_NOTHING, EPCOLL_MISMATCH */
static int has_arrived(const chain_op_t *op, uint64_t seq)
{
    epcoll_slot_t *slot = &epcoll_ctrl(op->member, op->own - 1)->slot[seq % EPCOLL_WINDOW];
    uint64_t at;

    /* Acquire pairs with the release in epcoll_publish: what is in the section is seen. */
    if (atomic_load_explicit(&slot->seq, memory_order_acquire) < seq) {
        return EPCOLL_NOTHING;
    }
    memcpy(&at, slot->data, sizeof(at));
    /* The signature is published with 0. */
    return op->signature == slot->signature && (op->before + 1 == seq ? 0 : seq) == at
               ? EPCOLL_SOME
               : EPCOLL_MISMATCH;
}

/** Until one of them is so. */
static int wait_until(chain_op_t *op, int (*is_so)(const chain_op_t *op, uint64_t seq),
                      uint64_t seq)
{
    epcoll_member_t *member = op->member;
    uint32_t polls = 0;
    int rc;

    while (EPCOLL_NOTHING == (rc = is_so(op, seq))) {
        rc = epcoll_backoff(member, &polls);
        if (0 != rc) {
            return rc;
        }
        if (has_arrived == is_so && epcoll_polls_long(member, polls)
            && epcoll_has_left(member, op->own - 1)) {
            return EPCOLL_MISMATCH;
        }
    }
    return EPCOLL_SOME == rc ? 0 : rc;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/** Write the result of all up to us, or of an exscan the received one, and our section. */
static int bounce_combine(const chain_op_t *op, uint64_t seq, size_t first, size_t count)
{
    const mca_coll_epcoll_call_t *call = op->call;
    const size_t size = call->recv_type->super.size;
    const char *vector = mca_coll_epcoll_away(call->in_place ? call->recv : call->send,
                                              (ptrdiff_t) (first * size));
    char *result = mca_coll_epcoll_away(call->recv, (ptrdiff_t) (first * size));
    char *section = mca_coll_epcoll_bounce_at(op->member, op->own, seq);
    const char *received = 0 == op->own ? NULL
                                        : mca_coll_epcoll_bounce_at(op->member, op->own - 1, seq);
    const void *const vectors[] = {received, vector};
    const mca_coll_epcoll_reduction_t reduction = {.op = call->op,
                                                   .type = call->recv_type,
                                                   .count = NULL == received ? 1 : 2,
                                                   .send = vectors + (NULL == received)};
    void *to[2];
    uint32_t receivers = 0;
    int rc;

    if (!op->is_last) {
        to[receivers++] = section;
    }
    if (EPCOLL_SCAN == call->kind) {
        to[receivers++] = result;
    }
    rc = mca_coll_epcoll_reduce_part(&reduction, 0, count, to, receivers);
    if (EPCOLL_EXSCAN == call->kind && NULL != received) {
        memcpy(result, received, count * size); /* in place: our own has been read */
    }
    return rc;
}

static int round_of(chain_op_t *op, uint64_t round)
{
    const uint64_t seq = seq_of(op, round);
    const size_t first = round * op->elements, left = op->call->recv_count - first;
    int rc;

    op->member->seq = seq;
    rc = op->is_last ? 0 : wait_until(op, is_reusable, seq);
    rc = 0 == rc && 0 < op->own ? wait_until(op, has_arrived, seq) : rc;
    rc = 0 == rc ? bounce_combine(op, seq, first, left < op->elements ? left : op->elements) : rc;
    if (0 != rc) {
        return rc;
    }
    if (!op->is_last) {
        epcoll_publish(epcoll_slot(op->member, op->own), seq, op->signature, &seq, sizeof(seq));
    }
    epcoll_end(op->member);
    return 0;
}

int mca_coll_epcoll_bounce_chain(mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call)
{
    static const uint64_t nothing = 0;
    mca_coll_epcoll_view_t *bounce = &hier->bounce->view;
    uint64_t rounds;
    chain_op_t op;
    /* Relaxed: as in epcoll_break. */
    int rc = atomic_load_explicit(bounce->member.broken, memory_order_relaxed);

    bounce_chain_begin(&op, &bounce->member, call);
    rounds = (call->recv_count + op.elements - 1) / op.elements;
    op.member->seq = op.before + 1;
    rc = 0 == rc ? wait_until(&op, is_reusable, op.before + 1) : rc;
    if (0 == rc) {
        epcoll_publish(epcoll_slot(op.member, op.own), op.before + 1, op.signature, &nothing,
                       sizeof(nothing));
        /* After our own signature, as two may wait for each other; and before we complete that
         * number: a member that has called something of one round publishes only its signature. */
        rc = 0 < op.own ? wait_until(&op, has_arrived, op.before + 1) : 0;
    }
    if (0 == rc) {
        epcoll_end(op.member);
    }
    for (uint64_t round = 0; round < rounds && 0 == rc; ++round) {
        rc = round_of(&op, round);
    }
    if (OPAL_UNLIKELY(EPCOLL_MISMATCH == rc)) {
        epcoll_publish_signature(op.member, op.signature);
    }
    return mca_coll_epcoll_ended(bounce, rc);
}
