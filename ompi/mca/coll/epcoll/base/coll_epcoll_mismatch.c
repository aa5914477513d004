/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Members have called different things: the error code, and the report to the user.  All is read
 * from the signatures in the members' slots.  Those of our operation stay while we are in it,
 * except that in a chain a later member may be writing its next one, which is the same signature.
 *
 * Tests: coll_told, coll_mismatch, coll_dump
 */

#include "ompi_config.h"

#include <ctype.h>
#include <stdio.h>

#include "coll_epcoll_mismatch.h"

#include "mpi.h"
#include "opal/mca/common/ep/common_ep_help.h"

#define NAME(name, kind) [kind] = #name,
static const char *const names[] = {EPCOLL_FOR_ALL_KINDS(NAME)};
#undef NAME

/** What we have called. */
static uint64_t own_signature(const epcoll_member_t *member)
{
    const epcoll_slot_t *published = epcoll_published(member, member->index);

    return (NULL == published ? epcoll_slot(member, member->index) : published)->signature;
}

/** A member that has called something else than we, as far as we see.  @return NULL: none */
static const epcoll_slot_t *find_other(const epcoll_member_t *member, uint32_t *index)
{
    const uint64_t own = own_signature(member);

    for (*index = 0; *index < member->count; ++*index) {
        const epcoll_slot_t *published = epcoll_published(member, *index);

        if (NULL != published && own != published->signature) {
            return published;
        }
    }
    return NULL;
}

int mca_coll_epcoll_mismatch_error(const epcoll_member_t *member)
{
    uint32_t index;
    const epcoll_slot_t *other = find_other(member, &index);

    return NULL != other && other->signature >> 32 == own_signature(member) >> 32 ? MPI_ERR_TRUNCATE
                                                                                  : MPI_ERR_OTHER;
}

static bool has_root(mca_coll_epcoll_kind_t kind)
{
    return EPCOLL_BCAST == kind || EPCOLL_GATHER == kind || EPCOLL_GATHERV == kind
           || EPCOLL_REDUCE == kind || EPCOLL_SCATTER == kind || EPCOLL_SCATTERV == kind;
}

/** A call's word (mca_coll_epcoll_signature, epcoll_barrier) for people. */
static void describe_signature(uint64_t signature, char *text, size_t size)
{
    const uint64_t kind = (signature >> 57) - 1;
    const unsigned int root = signature >> 32 & 0xffffff, bytes = signature & UINT32_MAX;
    char at_root[32] = "", length[32] = "";

    if (EPCOLL_KINDS <= kind) {
        snprintf(text, size, "MPI_Barrier");
        return;
    }
    if (has_root((mca_coll_epcoll_kind_t) kind)) {
        snprintf(at_root, sizeof(at_root), ", root %u", root);
    }
    if (0 != bytes) {
        snprintf(length, sizeof(length), ", %u bytes", bytes);
    }
    snprintf(text, size, "MPI_%c%s%s%s%s", toupper((unsigned char) names[kind][0]), names[kind] + 1,
             at_root, length, 0 != (signature >> 56 & 1) ? ", in place" : "");
}

/** Is it a view of the segment of our node's processes?  @param layout_p  set then */
static bool is_of_processes(const ompi_communicator_t *comm, const epcoll_member_t *member,
                            const mca_coll_epcoll_layout_t **layout_p)
{
    const mca_coll_epcoll_handle_t *handle
        = mca_coll_epcoll_component.engine->client_object(comm, mca_coll_epcoll_component.client);
    const mca_coll_epcoll_node_segment_t *node_segment;

    *layout_p = mca_coll_epcoll_layout(handle);
    if (NULL == *layout_p || mca_coll_epcoll_is_on_node(handle)) {
        return false;
    }
    node_segment = mca_coll_epcoll_hier(handle)->node_segment;
    return NULL != node_segment && member == &node_segment->view.member;
}

/** The rank of a member of the segment; of a process, its first. */
static int rank_of(const ompi_communicator_t *comm, const epcoll_member_t *member, uint32_t index)
{
    const mca_coll_epcoll_layout_t *layout;
    mpix_endpoints_locality_t place;

    if (member->count == (uint32_t) ompi_comm_size(comm)) {
        return (int) index; /* of all, also where it is a node's */
    }
    if (is_of_processes(comm, member, &layout)) {
        const uint32_t begin = layout->node_first[layout->node_of[layout->own]];

        return (int) mca_coll_epcoll_layout_rank(layout, layout->on_node[begin + index], 0);
    }
    for (int rank = 0; rank < ompi_comm_size(comm); ++rank) {
        if (mca_coll_epcoll_component.engine->locality(comm, rank, &place) && place.in_process
            && 0 == index--) {
            return rank;
        }
    }
    return MPI_UNDEFINED;
}

void mca_coll_epcoll_mismatch_report(const ompi_communicator_t *comm, const epcoll_member_t *member)
{
    char own[128], others[128];
    uint32_t index;
    const epcoll_slot_t *other = find_other(member, &index);

    if (NULL == other) {
        return;
    }
    describe_signature(own_signature(member), own, sizeof(own));
    describe_signature(other->signature, others, sizeof(others));
    (void) mca_btl_ep_show_help("help-coll-epcoll.txt", "different calls", true, comm->c_name,
                                ompi_comm_rank(comm), own, rank_of(comm, member, index), others);
}

/* ---- for dumps ------------------------------------------------------------------------------- */

/** Ranks that a line names. */
#define NAMED 8

/** The members that have not arrived at our operation.  @return how many; up to NAMED are named */
static uint32_t name_missing(const mca_coll_epcoll_handle_t *handle, const epcoll_member_t *member,
                             const epcoll_member_t *view, char *text, size_t size)
{
    uint32_t missing = 0;
    size_t length = 0;

    for (uint32_t i = 0; i < view->count; ++i) {
        if (NULL != epcoll_published(view, i)
            || view->seq <= atomic_load_explicit(&epcoll_ctrl(view, i)->completed,
                                                 memory_order_acquire)) {
            continue;
        }
        if (NAMED > missing++ && length < size) {
            length += (size_t) snprintf(text + length, size - length, "%s%d",
                                        1 == missing ? "" : ", ",
                                        rank_of(handle->view.comm, member, i));
        }
    }
    if (NAMED < missing && length < size) {
        (void) snprintf(text + length, size - length, " and %u more", missing - NAMED);
    }
    return missing;
}

/**
 * Describe the call that a view's thread is in.  The caller may be another thread: it reads the
 * view's constants, and the slots of the segment.  A thread that has waited for some polls has
 * published its signature (epcoll_publish_signature).
 *
 * @return false: no call is known
 */
static bool describe_view(const mca_coll_epcoll_handle_t *handle, const epcoll_member_t *member,
                          const char *where, char *text, size_t size)
{
    epcoll_member_t view = {.segment = member->segment,
                            .aux = member->aux,
                            .count = member->count,
                            .index = member->index,
                            .fanout = member->fanout,
                            .levels = member->levels};
    const epcoll_slot_t *published;
    char call[128], ranks[128] = "";
    uint32_t missing;

    view.seq = 1
               + atomic_load_explicit(&epcoll_ctrl(&view, view.index)->completed,
                                      memory_order_acquire);
    published = epcoll_published(&view, view.index);
    if (0 == view.seq || NULL == published) {
        return false;
    }
    describe_signature(published->signature, call, sizeof(call));
    missing = name_missing(handle, member, &view, ranks, sizeof(ranks));
    if (0 == missing) {
        (void) snprintf(text, size, "in %s, operation %llu of members of %s: all have come", call,
                        (unsigned long long) view.seq, where);
        return true;
    }
    (void) snprintf(text, size, "in %s, operation %llu of members of %s, waits for rank %s, %s",
                    call, (unsigned long long) view.seq, where, ranks,
                    handle->is_hier ? "not so far yet" : "which has not come");
    return true;
}

void mca_coll_epcoll_describe(void *object, char *text, size_t size)
{
    const mca_coll_epcoll_handle_t *handle = object;
    const mca_coll_epcoll_node_segment_t *node_segment = NULL;

    *text = '\0';
    if (mca_coll_epcoll_is_bare(handle)) {
        return;
    }
    if (handle->is_hier) {
        node_segment = mca_coll_epcoll_hier(handle)->node_segment;
    }
    if ((NULL == node_segment
         || !describe_view(handle, &node_segment->view.member, "this node", text, size))) {
        (void) describe_view(handle, &handle->view.member, "this process", text, size);
    }
}
