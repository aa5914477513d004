/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Operations in which each block is one message, from the sender's buffer to the receiver's: a list
 * of messages that begin together.  Neighbourhood collectives are, on all communicators; where no
 * process has two members, MPI_Alltoallv and MPI_Alltoallw are as well, since some forms of Open
 * MPI's own are wrong there (docs/collectives.md).
 *
 * Blocking and nonblocking ones begin in the order of calls, so all have the same tag; persistent
 * ones, which members start in any order, have one of their own each.
 *
 * The first error of an operation breaks the communicator (mca_coll_epcoll_break_all), so that
 * nobody waits for messages that do not come.  The operation ends when all of its messages are over.
 */

#ifndef MCA_COLL_EPCOLL_DIRECT_H
#define MCA_COLL_EPCOLL_DIRECT_H

#include "ompi_config.h"

#include "../base/base.h"
#include "coll_epcoll_blocks.h"

#include "ompi/request/request.h"

BEGIN_C_DECLS

typedef struct mca_coll_epcoll_direct_call_t {
    bool are_neighbors; /**< peers are; else all members */
    bool in_place;      /**< what is received replaces what is sent; peers are all members */
    mca_coll_epcoll_blocks_t send, recv;
} mca_coll_epcoll_direct_call_t;

/** A blocking one.  @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_direct_run(mca_coll_epcoll_handle_t *handle,
                               const mca_coll_epcoll_direct_call_t *call);

/** A nonblocking one, and a persistent one.  @param[out] request_p  set on success */
int mca_coll_epcoll_direct_begin(mca_coll_epcoll_handle_t *handle,
                                 const mca_coll_epcoll_direct_call_t *call,
                                 ompi_request_t **request_p);
int mca_coll_epcoll_direct_init(mca_coll_epcoll_handle_t *handle,
                                const mca_coll_epcoll_direct_call_t *call,
                                ompi_request_t **request_p);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_DIRECT_H */
