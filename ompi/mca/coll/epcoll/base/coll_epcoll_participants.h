/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The participants of an agreement: the processes of a communicator, of an intercommunicator those
 * of each side.  A process with members on both sides is two participants, which die together.
 */

#ifndef COLL_EPCOLL_PARTICIPANTS_H
#define COLL_EPCOLL_PARTICIPANTS_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stdint.h>

#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"

/** The representative of a participant: the lowest member of its process. */
typedef struct epcoll_representative_t {
    int rank;
    bool remote; /**< a rank of the remote group of an intercommunicator */
} epcoll_representative_t;

typedef struct epcoll_participants_t {
    uint32_t count, own;
    uint32_t words;           /**< of a set of participants */
    uint32_t *local, *remote; /**< participants by rank; remote: NULL, or of an intercommunicator */
    epcoll_representative_t *representative; /**< by participant */
    bool is_first;                           /**< this side's participants come first */
} epcoll_participants_t;

/** Number the processes, the same at all members.
 * @return MPI_SUCCESS; MPI_ERR_NO_MEM, with nothing to free */
int epcoll_participants_make(ompi_communicator_t *comm, epcoll_participants_t *participants);

void epcoll_participants_free(epcoll_participants_t *participants);

/** The communicator in which a participant's representative is a rank to send to.
 * @param[in] comm  whose participants they are */
static inline ompi_communicator_t *epcoll_participants_comm(
    const epcoll_participants_t *participants, ompi_communicator_t *comm, uint32_t participant)
{
    return OMPI_COMM_IS_INTER(comm) && !participants->representative[participant].remote
               ? comm->c_local_comm
               : comm;
}

/** A participant's failure counts as acknowledged if all its members are in the group.
 * @param[out] acked  words
 * @return MPI_SUCCESS, MPI_ERR_NO_MEM, or another error */
int epcoll_participants_acked(const epcoll_participants_t *participants,
                              const ompi_communicator_t *comm, ompi_group_t *group,
                              uint64_t *acked);

/** The members of participants, by rank; of an intercommunicator first those of the local group.
 * @param[in]  failed   words
 * @param[out] group_p  the caller's, on success */
int epcoll_participants_group(const epcoll_participants_t *participants,
                              const ompi_communicator_t *comm, const uint64_t *failed,
                              ompi_group_t **group_p);

#endif /* COLL_EPCOLL_PARTICIPANTS_H */
