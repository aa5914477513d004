/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The parties of an agreement, and sets of them as groups of members.
 *
 * Called by coll_epcoll_agreement.c.
 *
 * Tests: ulfm_agree, ulfm_inter
 */

#include "ompi_config.h"

#include "coll_epcoll_parties.h"
#include "coll_epcoll.h"
#include "coll_epcoll_consensus.h"

#include "ompi/constants.h"
#include "ompi/mca/common/ep/common_ep_group.h"

#include <stdlib.h>
#include <string.h>

#define ENGINE mca_coll_epcoll_component.engine

typedef struct place_t {
    uint32_t process;
    int rank;
} place_t;

static int compare_places(const void *a, const void *b)
{
    const place_t *left = a, *right = b;

    return left->process != right->process ? (left->process < right->process ? -1 : 1)
                                           : left->rank - right->rank;
}

/** Number the processes of a side, by their lowest ranks, behind those that have numbers. */
static int number_side(epcoll_parties_t *parties, const ompi_communicator_t *comm, bool remote)
{
    const int size = remote ? ompi_comm_remote_size(comm) : ompi_comm_size(comm);
    uint32_t *party_of = remote ? parties->remote : parties->local;
    place_t *places = calloc((size_t) size + 1, sizeof(*places));

    if (NULL == places) {
        return MPI_ERR_NO_MEM;
    }
    for (int rank = 0; rank < size; ++rank) {
        mpix_endpoints_locality_t where = {0};

        (void) (remote ? ENGINE->locality_remote : ENGINE->locality)(comm, rank, &where);
        places[rank] = (place_t){.process = where.process, .rank = rank};
    }
    qsort(places, (size_t) size, sizeof(*places), compare_places);
    /* First each rank's speaker, then that one's number. */
    for (int i = 0, first = 0; i < size; ++i) {
        first = places[i].process == places[first].process ? first : i;
        party_of[places[i].rank] = (uint32_t) places[first].rank;
    }
    free(places);
    for (int rank = 0; rank < size; ++rank) {
        if ((uint32_t) rank == party_of[rank]) {
            parties->speaker[parties->count] = (epcoll_speaker_t){.rank = rank, .remote = remote};
            party_of[rank] = parties->count++;
        } else {
            party_of[rank] = party_of[party_of[rank]];
        }
    }
    return MPI_SUCCESS;
}

int epcoll_parties_make(ompi_communicator_t *comm, epcoll_parties_t *parties)
{
    const bool has_two = OMPI_COMM_IS_INTER(comm);
    const size_t local = (size_t) ompi_comm_size(comm),
                 remote = has_two ? (size_t) ompi_comm_remote_size(comm) : 0;
    int rc = MPI_ERR_NO_MEM;

    memset(parties, 0, sizeof(*parties));
    parties->is_first = !has_two || mpix_endpoints_group_local_draws(comm);
    parties->local = calloc(local, sizeof(*parties->local));
    parties->remote = has_two ? calloc(remote, sizeof(*parties->remote)) : NULL;
    parties->speaker = calloc(local + remote, sizeof(*parties->speaker));
    if (NULL != parties->local && has_two == (NULL != parties->remote)
        && NULL != parties->speaker) {
        rc = number_side(parties, comm, !parties->is_first);
    }
    if (MPI_SUCCESS == rc && has_two) {
        rc = number_side(parties, comm, parties->is_first);
    }
    if (MPI_SUCCESS != rc) {
        epcoll_parties_free(parties);
        return rc;
    }
    parties->own = parties->local[ompi_comm_rank(comm)];
    parties->words = (parties->count + 63) / 64;
    return MPI_SUCCESS;
}

void epcoll_parties_free(epcoll_parties_t *parties)
{
    free(parties->local);
    free(parties->remote);
    free(parties->speaker);
    memset(parties, 0, sizeof(*parties));
}

/** Those of a side of whom a member is not in the group have not been acknowledged. */
static int strike_side(const uint32_t *party_of, ompi_group_t *side, ompi_group_t *group,
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
        const uint32_t party = party_of[rank];

        if (0 == numbers[rank]) {
            acked[party / 64] &= ~(UINT64_C(1) << party % 64);
        }
    }
    free(ranks);
    return rc;
}

int epcoll_parties_acked(const epcoll_parties_t *parties, const ompi_communicator_t *comm,
                         ompi_group_t *group, uint64_t *acked)
{
    int rc;

    memset(acked, 0xff, parties->words * sizeof(*acked));
    rc = strike_side(parties->local, comm->c_local_group, group, acked);
    return OMPI_SUCCESS == rc && NULL != parties->remote
               ? strike_side(parties->remote, comm->c_remote_group, group, acked)
               : rc;
}

static int group_of_side(const uint32_t *party_of, ompi_group_t *side, const uint64_t *failed,
                         ompi_group_t **group_p)
{
    const int size = ompi_group_size(side);
    int *ranks = calloc((size_t) size + 1, sizeof(*ranks)), count = 0, rc;

    if (NULL == ranks) {
        return MPI_ERR_NO_MEM;
    }
    for (int rank = 0; rank < size; ++rank) {
        if (epcoll_consensus_has(failed, party_of[rank])) {
            ranks[count++] = rank;
        }
    }
    rc = ompi_group_incl(side, count, ranks, group_p);
    free(ranks);
    return rc;
}

int epcoll_parties_group(const epcoll_parties_t *parties, const ompi_communicator_t *comm,
                         const uint64_t *failed, ompi_group_t **group_p)
{
    ompi_group_t *local, *remote;
    int rc = group_of_side(parties->local, comm->c_local_group, failed, &local);

    if (OMPI_SUCCESS != rc || NULL == parties->remote) {
        *group_p = OMPI_SUCCESS == rc ? local : *group_p;
        return rc;
    }
    rc = group_of_side(parties->remote, comm->c_remote_group, failed, &remote);
    if (OMPI_SUCCESS == rc) {
        rc = ompi_group_union(local, remote, group_p);
        (void) ompi_group_free(&remote);
    }
    (void) ompi_group_free(&local);
    return rc;
}
