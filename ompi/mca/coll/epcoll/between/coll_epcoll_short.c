/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Calls whose data travel in slots within a process, and in one message between processes: what
 * members say goes up to their leader, the leaders put it together, and tell it to their members.
 *
 * An allreduce that does not fit in slots goes likewise if it fits in trays: memory of the process,
 * where each member has two, taken in turns.  Who writes a tray for the second time is through with
 * the call between, to which all have come, so nobody reads what it has held.
 *
 * Tests: coll_layout, coll_late, coll_nomem (trays)
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "coll_epcoll_between.h"
#include "coll_epcoll_leaders.h"
#include "coll_epcoll_now.h"
#include "coll_epcoll_stage.h"

#include "mpi.h"

/** The room of what comes in messages. */
#define ROOM_COME 0

typedef struct short_t {
    mca_coll_epcoll_handle_t *handle;
    const mca_coll_epcoll_call_t *call;
    uint64_t word;
    mca_coll_epcoll_party_t party;
    mca_coll_epcoll_meeting_t meeting; /**< of the leaders on our node */
    uint32_t leader;                   /**< of our process */
    bool is_tray;                 /**< data travel in trays */
    mca_coll_epcoll_more_t *more; /**< that has them */
    unsigned char *data;          /**< ours, then the result; of a leader with trays: the result */
    alignas(16) unsigned char slot[EPCOLL_INLINE];
} short_t;

/* ---- trays ----------------------------------------------------------------------------------- */

/** Bytes of a tray. */
#define TRAY ((size_t) 4096)

bool mca_coll_epcoll_is_short(const mca_coll_epcoll_call_t *call)
{
    if (call->bytes > mca_coll_epcoll_component.inline_limit || EPCOLL_ALLGATHER == call->kind) {
        return false;
    }
    return NULL == call->op || mca_coll_epcoll_is_as_packed(call->recv_type);
}

bool mca_coll_epcoll_is_tray(const mca_coll_epcoll_handle_t *handle,
                             const mca_coll_epcoll_call_t *call)
{
    /* A process that has more members than a group goes the long way: its messages are the same
     * then, as long as that is by one rail. */
    return EPCOLL_ALLREDUCE == call->kind && TRAY >= call->bytes && 0 == handle->member.levels
           && 2 > call->bytes / mca_coll_epcoll_component.rail_size
           && mca_coll_epcoll_is_as_packed(call->recv_type);
}

/** A member's tray of the call that we are in. */
static unsigned char *tray_at(const short_t *brief, uint32_t index)
{
    return (unsigned char *) brief->more->trays->base
           + (2 * index + brief->more->tray_calls % 2) * TRAY;
}

/** A call begins that goes by trays.  @return MPI_SUCCESS or an error code */
static int tray_begin(short_t *brief)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;
    mca_coll_epcoll_handle_t *handle = brief->handle;
    mca_coll_epcoll_more_t *more = mca_coll_epcoll_more(handle);
    int rc = NULL == more ? MPI_ERR_NO_MEM : MPI_SUCCESS;

    if (OPAL_UNLIKELY(MPI_SUCCESS == rc && NULL == more->trays)) {
        rc = engine->memory_get(handle->comm, MPIX_ENDPOINTS_SCOPE_PROCESS,
                                mca_coll_epcoll_component.client, EPCOLL_KEY_TRAYS,
                                2 * TRAY * handle->member.count, &more->trays);
    }
    if (MPI_SUCCESS == rc) {
        ++more->tray_calls;
        brief->more = more;
        brief->data = tray_at(brief, handle->member.index);
    }
    return rc;
}

void mca_coll_epcoll_tray_put(mca_coll_epcoll_more_t *more)
{
    if (NULL != more->trays) {
        mca_coll_epcoll_component.engine->memory_put(more->trays);
        more->trays = NULL;
    }
}

/* ---- phases ---------------------------------------------------------------------------------- */

/** What we bring. */
static const void *own_data(const short_t *brief)
{
    return brief->call->in_place ? brief->call->recv : brief->call->send;
}

static void short_combine(void *into, const void *from, void *context)
{
    const mca_coll_epcoll_call_t *call = context;

    ompi_op_reduce(call->op, (void *) (uintptr_t) from, into,
                   (mca_coll_epcoll_count_t) call->recv_count, call->recv_type);
}

/** What all members of the process say together, at the leader: from the last to the first. */
static int put_together(short_t *brief, const epcoll_contribution_t *contrib)
{
    epcoll_member_t *member = &brief->handle->member;
    int rc = 0;

    epcoll_prefetch_slots(member, 0, member->count);
    for (uint32_t i = member->count; i-- > 0 && 0 == rc;) {
        rc = epcoll_wait_member(member, 0, i, contrib->call);
        if (0 == rc) {
            epcoll_combine(contrib, brief->data,
                           !brief->is_tray      ? epcoll_slot(member, i)->data
                           : i == member->index ? own_data(brief)
                                                : tray_at(brief, i),
                           member->count - 1 == i);
        }
    }
    return rc;
}

/** What one says, and how it is put together. */
static epcoll_contribution_t all_of(const short_t *brief)
{
    return (epcoll_contribution_t){.call = brief->word,
                                   .data = brief->data,
                                   .size = brief->call->bytes,
                                   .combine = NULL == brief->call->op ? NULL : short_combine,
                                   .context = (void *) (uintptr_t) brief->call};
}

/** Members publish their part; one that does not lead goes on at once. */
static int short_up(short_t *brief)
{
    epcoll_member_t *member = &brief->handle->member;
    const epcoll_contribution_t contrib = all_of(brief);
    int rc;

    if (0 < member->levels) {
        return epcoll_allreduce(member, &contrib, brief->data);
    }
    rc = epcoll_begin(member);
    if (0 != rc) {
        return rc;
    }
    epcoll_publish(epcoll_slot(member, member->index), member->seq, contrib.call, contrib.data,
                   brief->is_tray ? 0 : contrib.size);
    if (brief->leader == member->index) {
        rc = put_together(brief, &contrib);
        if (0 == rc) {
            epcoll_all_arrived(member);
        }
    }
    if (0 == rc) {
        epcoll_end(member);
    }
    return rc;
}

/** The leader tells the result.  Whoever hears it knows that all had come to the operation
 * before. */
static int short_down(short_t *brief, bool all_arrived)
{
    epcoll_member_t *member = &brief->handle->member;
    const int rc = epcoll_bcast(member, brief->leader, brief->word, brief->data,
                                brief->is_tray ? 0 : brief->call->bytes);

    if (brief->is_tray) {
        brief->data = tray_at(brief, brief->leader);
    }

    if (0 == rc && all_arrived) {
        epcoll_all_arrived_before(member);
    }
    return rc;
}

/** The leaders' part, by messages. */
static int short_exchange(short_t *brief)
{
    const mca_coll_epcoll_call_t *call = brief->call;
    const mca_coll_epcoll_vector_t reduced = {.address = brief->data,
                                              .count = call->recv_count,
                                              .type = call->recv_type};
    const mca_coll_epcoll_vector_t packed = {.address = brief->data,
                                             .count = call->bytes,
                                             .type = MPI_BYTE};
    mca_coll_epcoll_now_t now;

    mca_coll_epcoll_now_begin(&now, brief->handle, call);
    switch (call->kind) {
    case EPCOLL_ALLREDUCE:
        mca_coll_epcoll_stage_allreduce(&now.program, &brief->party, &reduced, ROOM_COME);
        break;
    case EPCOLL_REDUCE:
        mca_coll_epcoll_stage_reduce(&now.program, &brief->party, &reduced, ROOM_COME);
        break;
    case EPCOLL_BCAST:
        mca_coll_epcoll_stage_bcast(&now.program, &brief->party, &packed);
        break;
    default:
        mca_coll_epcoll_stage_barrier(&now.program, &brief->party);
    }
    return mca_coll_epcoll_now_end(&now);
}

/** The leaders' part, where those of a node meet in its memory: the member that stands for the node
 * goes on by messages.  Of a reduce all do: where its root is not the one that combines all, it
 * gets the result from that one. */
static int short_by_memory(short_t *brief)
{
    epcoll_member_t *member = &brief->meeting.near->member;
    const uint32_t stands = brief->meeting.stands;
    const bool all_hear = EPCOLL_REDUCE != brief->call->kind;
    const epcoll_contribution_t contrib = all_of(brief);
    int rc = epcoll_leaders_reduce(member, &contrib, stands, brief->data);

    if (0 == rc && (!all_hear || stands == member->index)) {
        rc = short_exchange(brief);
    }
    if (0 == rc && all_hear) {
        rc = epcoll_leaders_bcast(member, stands, brief->word, brief->data, brief->call->bytes);
    }
    return mca_coll_epcoll_ended(brief->meeting.near, rc);
}

static int short_bcast(short_t *brief)
{
    const mca_coll_epcoll_handle_t *handle = brief->handle;
    const mca_coll_epcoll_call_t *call = brief->call;
    const mca_coll_epcoll_buffer_t sent = {.address = (void *) (uintptr_t) call->send,
                                           .count = call->send_count,
                                           .type = call->send_type};
    const mca_coll_epcoll_buffer_t received = {.address = call->recv,
                                               .count = call->recv_count,
                                               .type = call->recv_type};
    const bool is_root = mca_coll_epcoll_rank(handle) == call->root;
    int rc = is_root ? mca_coll_epcoll_pack(brief->data, &sent) : MPI_SUCCESS;

    if (MPI_SUCCESS == rc && brief->leader == handle->member.index) {
        rc = short_exchange(brief);
    }
    rc = MPI_SUCCESS == rc ? short_down(brief, false) : rc;
    return 0 == rc && !is_root ? mca_coll_epcoll_unpack(&received, brief->data) : rc;
}

/** Barrier, allreduce and reduce. */
static int short_reduce(short_t *brief)
{
    const mca_coll_epcoll_handle_t *handle = brief->handle;
    const mca_coll_epcoll_call_t *call = brief->call;
    const bool leads = brief->leader == handle->member.index;
    int rc;

    if (brief->is_tray) {
        rc = tray_begin(brief);
        if (MPI_SUCCESS != rc) {
            return rc;
        }
    } else {
        brief->meeting = mca_coll_epcoll_leaders_meet(&brief->party, call);
        brief->party.has_met = NULL != brief->meeting.near;
    }
    if (0 != call->bytes && !(brief->is_tray && leads)) {
        memcpy(brief->data, own_data(brief), call->bytes);
    }
    rc = short_up(brief);
    if (0 == rc && leads) {
        rc = brief->party.has_met ? short_by_memory(brief) : short_exchange(brief);
    }
    if (0 == rc && EPCOLL_REDUCE != call->kind) {
        rc = short_down(brief, true);
    }
    if (0 == rc && !leads && brief->party.has_met) {
        epcoll_leaders_skip(&brief->meeting.near->member, EPCOLL_REDUCE != call->kind);
    }
    if (0 == rc && 0 != call->bytes
        && (EPCOLL_REDUCE != call->kind || mca_coll_epcoll_rank(handle) == call->root)) {
        memcpy(call->recv, brief->data, call->bytes);
    }
    return rc;
}

/**
 * How far the leaders' part is behind the first members.  Where there is no root it rotates,
 * backwards: the member that publishes a result comes to the next call first, and if threads share
 * a core, the member before it comes last.  With that one as the next leader the core is handed on
 * one time less in each call; two endpoints in each of two processes, on two cores, over tcp: an
 * allreduce of 8 bytes in 7.7 us instead of 8.9.
 */
static uint32_t turn_of(const mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    const uint32_t members = handle->member.count;

    if (mca_coll_epcoll_has_root(call->kind) || members > mca_coll_epcoll_component.rails
        || !mca_coll_epcoll_layout(handle)->is_even) {
        return 0;
    }
    return (members - mca_coll_epcoll_wide(handle)->calls % members) % members;
}

int mca_coll_epcoll_short_run(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    const uint32_t turn = turn_of(handle, call);
    short_t brief = {.handle = handle,
                     .call = call,
                     .word = mca_coll_epcoll_word(call->kind, call->root, false, call->bytes),
                     .party = {.handle = handle,
                               .home = mca_coll_epcoll_home(handle, call),
                               .start = mca_coll_epcoll_layout(handle)->index_of[call->root],
                               .rail = turn},
                     .leader = mca_coll_epcoll_leader(handle, call) + turn,
                     .is_tray = EPCOLL_ALGORITHM_TRAYS == call->algorithm};

    brief.data = brief.slot;

    return mca_coll_epcoll_ended(handle, EPCOLL_BCAST == call->kind ? short_bcast(&brief)
                                                                    : short_reduce(&brief));
}
