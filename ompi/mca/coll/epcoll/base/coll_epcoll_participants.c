/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The participants of an agreement, and sets of them as groups of members.
 *
 * Called by coll_epcoll_agreement.c and coll_epcoll_agreement_messages.c.
 *
 * Tests: ulfm_agree, ulfm_inter
 */

#include "ompi_config.h"

#include "coll_epcoll_participants.h"
#include "coll_epcoll.h"
#include "coll_epcoll_consensus.h"

#include "ompi/constants.h"
#include "ompi/mca/common/ep/common_ep_group.h"

#include <stdlib.h>
#include <string.h>

#define ENGINE mca_coll_epcoll_component.engine

typedef struct member_t {
    uint32_t process;
    int rank;
} member_t;

static int compare_members(const void *a, const void *b)
{
    const member_t *left = a, *right = b;

    return left->process != right->process ? (left->process < right->process ? -1 : 1)
                                           : left->rank - right->rank;
}

/** Number the processes of a side, by their lowest ranks, behind those that have numbers. */
static int assign_side(epcoll_participants_t *participants, const ompi_communicator_t *comm,
                       bool remote)
{
    const int size = remote ? ompi_comm_remote_size(comm) : ompi_comm_size(comm);
    uint32_t *participant_of = remote ? participants->remote : participants->local;
    member_t *members = calloc((size_t) size + 1, sizeof(*members));

    if (NULL == members) {
        return MPI_ERR_NO_MEM;
    }
    for (int rank = 0; rank < size; ++rank) {
        mpix_endpoints_locality_t where = {0};

        (void) (remote ? ENGINE->locality_remote : ENGINE->locality)(comm, rank, &where);
        members[rank] = (member_t){.process = where.process, .rank = rank};
    }
    qsort(members, (size_t) size, sizeof(*members), compare_members);
    /* First each rank's representative, then that one's number. */
    for (int i = 0, first = 0; i < size; ++i) {
        first = members[i].process == members[first].process ? first : i;
        participant_of[members[i].rank] = (uint32_t) members[first].rank;
    }
    free(members);
    for (int rank = 0; rank < size; ++rank) {
        if ((uint32_t) rank == participant_of[rank]) {
            participants->representative[participants->count] = (epcoll_representative_t){
                .rank = rank, .remote = remote};
            participant_of[rank] = participants->count++;
        } else {
            participant_of[rank] = participant_of[participant_of[rank]];
        }
    }
    return MPI_SUCCESS;
}

int epcoll_participants_make(ompi_communicator_t *comm, epcoll_participants_t *participants)
{
    const bool has_two = OMPI_COMM_IS_INTER(comm);
    const size_t local = (size_t) ompi_comm_size(comm),
                 remote = has_two ? (size_t) ompi_comm_remote_size(comm) : 0;
    int rc = MPI_ERR_NO_MEM;

    memset(participants, 0, sizeof(*participants));
    participants->is_first = !has_two || mpix_endpoints_group_local_draws(comm);
    participants->local = calloc(local, sizeof(*participants->local));
    participants->remote = has_two ? calloc(remote, sizeof(*participants->remote)) : NULL;
    participants->representative = calloc(local + remote, sizeof(*participants->representative));
    if (NULL != participants->local && has_two == (NULL != participants->remote)
        && NULL != participants->representative) {
        rc = assign_side(participants, comm, !participants->is_first);
    }
    if (MPI_SUCCESS == rc && has_two) {
        rc = assign_side(participants, comm, participants->is_first);
    }
    if (MPI_SUCCESS != rc) {
        epcoll_participants_free(participants);
        return rc;
    }
    participants->own = participants->local[ompi_comm_rank(comm)];
    participants->words = (participants->count + 63) / 64;
    return MPI_SUCCESS;
}

void epcoll_participants_free(epcoll_participants_t *participants)
{
    free(participants->local);
    free(participants->remote);
    free(participants->representative);
    memset(participants, 0, sizeof(*participants));
}

/** Participants of a side with a member that is not in the group have not been acknowledged. */
static int clear_unacked(const uint32_t *participant_of, ompi_group_t *side, ompi_group_t *group,
                         uint64_t *acked)
{
    const int size = ompi_group_size(side), count = ompi_group_size(group);
    int *ranks = calloc((size_t) (size + count) + 1, 2 * sizeof(*ranks));
    int *numbers = ranks + size + count + 1, rc;

    if (NULL == ranks) {
        return MPI_ERR_NO_MEM;
    }
    for (int i = 0; i < count; ++i) {
        numbers[i] = i;
    }
    rc = 0 < count ? ompi_group_translate_ranks(group, count, numbers, side, ranks) : OMPI_SUCCESS;
    memset(numbers, 0, (size_t) (size + count) * sizeof(*numbers)); /* by rank now */
    for (int i = 0; i < count && OMPI_SUCCESS == rc; ++i) {
        if (0 <= ranks[i]) {
            numbers[ranks[i]] = 1;
        }
    }
    for (int rank = 0; rank < size; ++rank) {
        const uint32_t participant = participant_of[rank];

        if (0 == numbers[rank]) {
            acked[participant / 64] &= ~(UINT64_C(1) << participant % 64);
        }
    }
    free(ranks);
    return rc;
}

int epcoll_participants_acked(const epcoll_participants_t *participants,
                              const ompi_communicator_t *comm, ompi_group_t *group, uint64_t *acked)
{
    int rc;

    memset(acked, 0xff, participants->words * sizeof(*acked));
    rc = clear_unacked(participants->local, comm->c_local_group, group, acked);
    return OMPI_SUCCESS == rc && NULL != participants->remote
               ? clear_unacked(participants->remote, comm->c_remote_group, group, acked)
               : rc;
}

static int group_of_side(const uint32_t *participant_of, ompi_group_t *side, const uint64_t *failed,
                         ompi_group_t **group_p)
{
    const int size = ompi_group_size(side);
    int *ranks = calloc((size_t) size + 1, sizeof(*ranks)), count = 0, rc;

    if (NULL == ranks) {
        return MPI_ERR_NO_MEM;
    }
    for (int rank = 0; rank < size; ++rank) {
        if (epcoll_consensus_has(failed, participant_of[rank])) {
            ranks[count++] = rank;
        }
    }
    rc = ompi_group_incl(side, count, ranks, group_p);
    free(ranks);
    return rc;
}

int epcoll_participants_group(const epcoll_participants_t *participants,
                              const ompi_communicator_t *comm, const uint64_t *failed,
                              ompi_group_t **group_p)
{
    ompi_group_t *local, *remote;
    int rc = group_of_side(participants->local, comm->c_local_group, failed, &local);

    if (OMPI_SUCCESS != rc || NULL == participants->remote) {
        *group_p = OMPI_SUCCESS == rc ? local : *group_p;
        return rc;
    }
    rc = group_of_side(participants->remote, comm->c_remote_group, failed, &remote);
    if (OMPI_SUCCESS == rc) {
        rc = ompi_group_union(local, remote, group_p);
        (void) ompi_group_free(&remote);
    }
    (void) ompi_group_free(&local);
    return rc;
}
