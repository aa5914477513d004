/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The agreements of fault tolerance (MPIX_Comm_agree, MPIX_Comm_iagree): coll_epcoll_agreement.c.
 */

#ifndef COLL_EPCOLL_AGREEMENT_H
#define COLL_EPCOLL_AGREEMENT_H

#include "ompi_config.h"

#include <stdbool.h>

#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"
#include "ompi/mca/common/ep/common_ep_link.h"
#include "ompi/request/request.h"

typedef mpix_endpoints_agreed_t epcoll_agreed_t;

/** Register as a client of the engine, as all processes do.  @return an MPI error code */
int mca_coll_epcoll_agreement_register(void);

/**
 * Begin an agreement; members begin theirs in the same order.
 *
 * @param[in,out] flag   the bitwise AND of what members have contributed, once the request is complete;
 *                       on an intercommunicator those of the other side, as of any reduction
 * @param[in,out] group  acknowledged failures.  With grow, once it is complete: the failed members,
 *                       the same at all; a new group, the caller's
 * @param[in]     grow   there is no error because of failures
 *
 * @return MPI_SUCCESS; MPI_ERR_UNSUPPORTED_OPERATION: without fault tolerance, or
 *         of too many processes; MPI_ERR_NO_MEM.  The request ends with MPI_ERR_PROC_FAILED at all
 *         members if one that has failed has not been acknowledged by all
 */
int mca_coll_epcoll_agreement_begin(ompi_communicator_t *comm, int *flag, ompi_group_t **group,
                                    bool grow, ompi_request_t **request_p);

/** Are there agreements on this communicator? */
bool mca_coll_epcoll_agreement_has(const ompi_communicator_t *comm);

/** Likewise, but of all 64 bits of a flag, on an intercommunicator of both sides; and of an id: the
 * least that a process has contributed. */
int mca_coll_epcoll_agreement_begin_id(ompi_communicator_t *comm, epcoll_agreed_t *agreed,
                                       ompi_group_t **group, bool grow, ompi_request_t **request_p);

#endif /* COLL_EPCOLL_AGREEMENT_H */
