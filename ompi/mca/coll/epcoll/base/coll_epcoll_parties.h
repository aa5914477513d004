/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The parties of an agreement: the processes of a communicator, of an intercommunicator those of each
 * side.  A process with members on both sides is two parties, which die together.
 */

#ifndef COLL_EPCOLL_PARTIES_H
#define COLL_EPCOLL_PARTIES_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stdint.h>

#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"

/** Who speaks for a party: the lowest member of its process. */
typedef struct epcoll_speaker_t {
    int rank;
    bool remote; /**< a rank of the remote group of an intercommunicator */
} epcoll_speaker_t;

typedef struct epcoll_parties_t {
    uint32_t count, own;
    uint32_t words;            /**< of a set of parties */
    uint32_t *local, *remote;  /**< parties by rank; remote: NULL, or of an intercommunicator */
    epcoll_speaker_t *speaker; /**< by party */
    bool is_first;             /**< this side's parties come first */
} epcoll_parties_t;

/** Number the processes, the same at all members.
 * @return MPI_SUCCESS; MPI_ERR_NO_MEM, with nothing to free */
int epcoll_parties_make(ompi_communicator_t *comm, epcoll_parties_t *parties);

void epcoll_parties_free(epcoll_parties_t *parties);

/** A party's failure counts as acknowledged if all its members are in the group.
 * @param[out] acked  words
 * @return MPI_SUCCESS, MPI_ERR_NO_MEM, or another error */
int epcoll_parties_acked(const epcoll_parties_t *parties, const ompi_communicator_t *comm,
                         ompi_group_t *group, uint64_t *acked);

/** The members of parties, by rank; of an intercommunicator first those of the local group.
 * @param[in]  failed   words
 * @param[out] group_p  the caller's, on success */
int epcoll_parties_group(const epcoll_parties_t *parties, const ompi_communicator_t *comm,
                         const uint64_t *failed, ompi_group_t **group_p);

#endif /* COLL_EPCOLL_PARTIES_H */
