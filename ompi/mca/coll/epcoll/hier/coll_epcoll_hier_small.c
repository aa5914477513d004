/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Blocking calls whose data are in slots within a process, and in one message between processes:
 * the leader combines the data of its members, the leaders exchange messages, and broadcast the
 * result to their members.
 *
 * An allreduce that does not fit in slots uses double buffers instead, up to 4 KiB: memory of the
 * process, where each member has two, used in turn.  A member that writes a buffer again has
 * completed the call in between, at which all had arrived, so the old data are not read any more.
 *
 * Tests: coll_layout, coll_late, coll_nomem (double buffers)
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "coll_epcoll_hier.h"
#include "coll_epcoll_node_leaders.h"
#include "coll_epcoll_immediate.h"
#include "coll_epcoll_phase.h"

#include "mpi.h"

/** The scratch buffer of received vectors. */
#define SCRATCH_RECV 0

typedef struct hier_small_t {
    mca_coll_epcoll_handle_t *handle;
    const mca_coll_epcoll_call_t *call;
    uint64_t signature;
    mca_coll_epcoll_partners_t partners;
    mca_coll_epcoll_node_leaders_t node_leaders; /**< on our node */
    uint32_t leader;                             /**< of our process */
    bool is_double_buffered;                     /**< data travel in double buffers */
    mca_coll_epcoll_lazy_t *lazy;                /**< that has them */
    unsigned char *data; /**< ours, then the result; of a leader with double buffers: the result */
    alignas(16) unsigned char slot[EPCOLL_INLINE];
} hier_small_t;

/* ---- double buffers
 * ----------------------------------------------------------------------------------- */

/** Bytes of a double buffer. */
#define DOUBLE_BUFFER_SIZE ((size_t) 4096)

bool mca_coll_epcoll_is_hier_small(const mca_coll_epcoll_call_t *call)
{
    if (call->bytes > mca_coll_epcoll_component.inline_limit || EPCOLL_ALLGATHER == call->kind) {
        return false;
    }
    return NULL == call->op || mca_coll_epcoll_is_as_packed(call->recv_type);
}

bool mca_coll_epcoll_is_double_buffered(const mca_coll_epcoll_handle_t *handle,
                                        const mca_coll_epcoll_call_t *call)
{
    /* With groups the schedule is used in such a process: its messages are the same then, as long
     * as there is one slice. */
    return EPCOLL_ALLREDUCE == call->kind && DOUBLE_BUFFER_SIZE >= call->bytes
           && 0 == handle->view.member.levels
           && 2 > call->bytes / mca_coll_epcoll_component.slice_size
           && mca_coll_epcoll_is_as_packed(call->recv_type);
}

/** A member's double buffer of the call that we are in. */
static unsigned char *double_buffer(const hier_small_t *op, uint32_t index)
{
    return (unsigned char *) op->lazy->double_buffers->base
           + (2 * index + op->lazy->double_buffer_calls % 2) * DOUBLE_BUFFER_SIZE;
}

/** A call begins that uses double buffers.  @return MPI_SUCCESS or an error code */
static int double_buffers_begin(hier_small_t *op)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;
    mca_coll_epcoll_handle_t *handle = op->handle;
    mca_coll_epcoll_lazy_t *lazy = mca_coll_epcoll_lazy(handle);
    int rc = NULL == lazy ? MPI_ERR_NO_MEM : MPI_SUCCESS;

    if (OPAL_UNLIKELY(MPI_SUCCESS == rc && NULL == lazy->double_buffers)) {
        rc = engine->memory_get(handle->view.comm, MPIX_ENDPOINTS_SCOPE_PROCESS,
                                mca_coll_epcoll_component.client, EPCOLL_KEY_DOUBLE_BUFFERS,
                                2 * DOUBLE_BUFFER_SIZE * handle->view.member.count,
                                &lazy->double_buffers);
    }
    if (MPI_SUCCESS == rc) {
        ++lazy->double_buffer_calls;
        op->lazy = lazy;
        op->data = double_buffer(op, handle->view.member.index);
    }
    return rc;
}

void mca_coll_epcoll_double_buffers_put(mca_coll_epcoll_lazy_t *lazy)
{
    if (NULL != lazy->double_buffers) {
        mca_coll_epcoll_component.engine->memory_put(lazy->double_buffers);
        lazy->double_buffers = NULL;
    }
}

/* ---- phases ---------------------------------------------------------------------------------- */

/** Our data. */
static const void *own_data(const hier_small_t *op)
{
    return op->call->in_place ? op->call->recv : op->call->send;
}

static void hier_small_combine(void *into, const void *from, void *context)
{
    const mca_coll_epcoll_call_t *call = context;

    ompi_op_reduce(call->op, (void *) (uintptr_t) from, into,
                   (mca_coll_epcoll_count_t) call->recv_count, call->recv_type);
}

/** Combine the data of all members of the process, at the leader: from the last to the first. */
static int hier_small_gather(hier_small_t *op, const epcoll_contribution_t *contrib)
{
    epcoll_member_t *member = &op->handle->view.member;
    int rc = 0;

    epcoll_prefetch_slots(member, 0, member->count);
    for (uint32_t i = member->count; i-- > 0 && 0 == rc;) {
        rc = epcoll_wait_member(member, 0, i, contrib->signature);
        if (0 == rc) {
            epcoll_combine(contrib, op->data,
                           !op->is_double_buffered ? epcoll_slot(member, i)->data
                           : i == member->index    ? own_data(op)
                                                   : double_buffer(op, i),
                           member->count - 1 == i);
        }
    }
    return rc;
}

/** Our part of the reduction within the process. */
static epcoll_contribution_t all_of(const hier_small_t *op)
{
    return (epcoll_contribution_t){.signature = op->signature,
                                   .data = op->data,
                                   .size = op->call->bytes,
                                   .combine = NULL == op->call->op ? NULL : hier_small_combine,
                                   .context = (void *) (uintptr_t) op->call};
}

/** Members publish their part; one that does not lead returns at once. */
static int hier_small_up(hier_small_t *op)
{
    epcoll_member_t *member = &op->handle->view.member;
    const epcoll_contribution_t contrib = all_of(op);
    int rc;

    if (0 < member->levels) {
        return epcoll_allreduce(member, &contrib, op->data);
    }
    rc = epcoll_begin(member);
    if (0 != rc) {
        return rc;
    }
    epcoll_publish(epcoll_slot(member, member->index), member->seq, contrib.signature, contrib.data,
                   op->is_double_buffered ? 0 : contrib.size);
    if (op->leader == member->index) {
        rc = hier_small_gather(op, &contrib);
        if (0 == rc) {
            epcoll_all_arrived(member);
        }
    }
    if (0 == rc) {
        epcoll_end(member);
    }
    return rc;
}

/** The leader broadcasts the result.  A member that has received it knows that all had arrived at
 * the operation before. */
static int hier_small_down(hier_small_t *op, bool all_arrived)
{
    epcoll_member_t *member = &op->handle->view.member;
    const int rc = epcoll_bcast(member, op->leader, op->signature, op->data,
                                op->is_double_buffered ? 0 : op->call->bytes);

    if (op->is_double_buffered) {
        op->data = double_buffer(op, op->leader);
    }

    if (0 == rc && all_arrived) {
        epcoll_all_arrived_before(member);
    }
    return rc;
}

/** The leaders' part, by messages. */
static int hier_small_exchange(hier_small_t *op)
{
    const mca_coll_epcoll_call_t *call = op->call;
    const mca_coll_epcoll_vector_t reduced = {.address = op->data,
                                              .count = call->recv_count,
                                              .type = call->recv_type};
    const mca_coll_epcoll_vector_t packed = {.address = op->data,
                                             .count = call->bytes,
                                             .type = MPI_BYTE};
    mca_coll_epcoll_immediate_t immediate;

    mca_coll_epcoll_immediate_begin(&immediate, op->handle, call);
    switch (call->kind) {
    case EPCOLL_ALLREDUCE:
        mca_coll_epcoll_phase_allreduce(&immediate.schedule, &op->partners, &reduced, SCRATCH_RECV);
        break;
    case EPCOLL_REDUCE:
        mca_coll_epcoll_phase_reduce(&immediate.schedule, &op->partners, &reduced, SCRATCH_RECV);
        break;
    case EPCOLL_BCAST:
        mca_coll_epcoll_phase_bcast(&immediate.schedule, &op->partners, &packed);
        break;
    default:
        mca_coll_epcoll_phase_barrier(&immediate.schedule, &op->partners);
    }
    return mca_coll_epcoll_immediate_end(&immediate);
}

/** The leaders' part, where those of a node use its memory: the node leader continues with
 * messages. In a reduce all leaders do: a root elsewhere on the node gets the result from the node
 * leader. */
static int hier_small_by_node_segment(hier_small_t *op)
{
    epcoll_member_t *member = &op->node_leaders.node_segment->member;
    const uint32_t node_leader = op->node_leaders.node_leader;
    const bool all_hear = EPCOLL_REDUCE != op->call->kind;
    const epcoll_contribution_t contrib = all_of(op);
    int rc = epcoll_leaders_reduce(member, &contrib, node_leader, op->data);

    if (0 == rc && (!all_hear || node_leader == member->index)) {
        rc = hier_small_exchange(op);
    }
    if (0 == rc && all_hear) {
        rc = epcoll_leaders_bcast(member, node_leader, op->signature, op->data, op->call->bytes);
    }
    return mca_coll_epcoll_ended(op->node_leaders.node_segment, rc);
}

static int hier_small_bcast(hier_small_t *op)
{
    const mca_coll_epcoll_handle_t *handle = op->handle;
    const mca_coll_epcoll_call_t *call = op->call;
    const mca_coll_epcoll_buffer_t sent = {.address = (void *) (uintptr_t) call->send,
                                           .count = call->send_count,
                                           .type = call->send_type};
    const mca_coll_epcoll_buffer_t received = {.address = call->recv,
                                               .count = call->recv_count,
                                               .type = call->recv_type};
    const bool is_root = mca_coll_epcoll_rank(handle) == call->root;
    int rc = is_root ? mca_coll_epcoll_pack(op->data, &sent) : MPI_SUCCESS;

    if (MPI_SUCCESS == rc && op->leader == handle->view.member.index) {
        rc = hier_small_exchange(op);
    }
    rc = MPI_SUCCESS == rc ? hier_small_down(op, false) : rc;
    return 0 == rc && !is_root ? mca_coll_epcoll_unpack(&received, op->data) : rc;
}

/** Barrier, allreduce and reduce. */
static int hier_small_reduce(hier_small_t *op)
{
    const mca_coll_epcoll_handle_t *handle = op->handle;
    const mca_coll_epcoll_call_t *call = op->call;
    const bool leads = op->leader == handle->view.member.index;
    int rc;

    if (op->is_double_buffered) {
        rc = double_buffers_begin(op);
        if (MPI_SUCCESS != rc) {
            return rc;
        }
    } else {
        op->node_leaders = mca_coll_epcoll_node_leaders(&op->partners, call);
        op->partners.node_reduced = NULL != op->node_leaders.node_segment;
    }
    if (0 != call->bytes && !(op->is_double_buffered && leads)) {
        memcpy(op->data, own_data(op), call->bytes);
    }
    rc = hier_small_up(op);
    if (0 == rc && leads) {
        rc = op->partners.node_reduced ? hier_small_by_node_segment(op) : hier_small_exchange(op);
    }
    if (0 == rc && EPCOLL_REDUCE != call->kind) {
        rc = hier_small_down(op, true);
    }
    if (0 == rc && !leads && op->partners.node_reduced) {
        epcoll_leaders_skip(&op->node_leaders.node_segment->member, EPCOLL_REDUCE != call->kind);
    }
    if (0 == rc && 0 != call->bytes
        && (EPCOLL_REDUCE != call->kind || mca_coll_epcoll_rank(handle) == call->root)) {
        memcpy(call->recv, op->data, call->bytes);
    }
    return rc;
}

/**
 * By how many members the leader is shifted from the first one.  Without a root it rotates,
 * backwards: the member that publishes a result is the first one in the next call, and if threads
 * share a core, the member before it is the last one.  With that one as the next leader, threads
 * switch one time less in each call; two endpoints in each of two processes, on two cores, over
 * tcp: an allreduce of 8 bytes in 7.7 us instead of 8.9.
 */
static uint32_t leader_rotation(const mca_coll_epcoll_handle_t *handle,
                                const mca_coll_epcoll_call_t *call)
{
    const uint32_t members = handle->view.member.count;

    if (mca_coll_epcoll_has_root(call->kind) || members > mca_coll_epcoll_component.slices
        || !mca_coll_epcoll_layout(handle)->is_even) {
        return 0;
    }
    return (members - mca_coll_epcoll_hier(handle)->calls % members) % members;
}

int mca_coll_epcoll_hier_small_run(mca_coll_epcoll_handle_t *handle,
                                   const mca_coll_epcoll_call_t *call, bool is_double_buffered)
{
    const uint32_t turn = leader_rotation(handle, call);
    hier_small_t op = {
        .handle = handle,
        .call = call,
        .signature = mca_coll_epcoll_signature(call->kind, call->root, false, call->bytes),
        .partners = {.handle = handle,
                     .root_process = mca_coll_epcoll_root_process(handle, call),
                     .root_index = mca_coll_epcoll_layout(handle)->index_of[call->root],
                     .offset = turn},
        .leader = mca_coll_epcoll_leader(handle, call) + turn,
        .is_double_buffered = is_double_buffered};

    op.data = op.slot;

    return mca_coll_epcoll_ended(&handle->view, EPCOLL_BCAST == call->kind
                                                    ? hier_small_bcast(&op)
                                                    : hier_small_reduce(&op));
}
