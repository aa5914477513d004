/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Members have called different things.
 */

#ifndef MCA_COLL_EPCOLL_MISMATCH_H
#define MCA_COLL_EPCOLL_MISMATCH_H

#include "ompi_config.h"

#include "coll_epcoll.h"

BEGIN_C_DECLS

/** Which error is that?  Before epcoll_end.  @return MPI_ERR_TRUNCATE: of other lengths;
 * MPI_ERR_OTHER */
int mca_coll_epcoll_mismatch_error(const epcoll_member_t *member);

/** Report to the user which member has called what.  Before epcoll_end. */
void mca_coll_epcoll_mismatch_report(const ompi_communicator_t *comm,
                                     const epcoll_member_t *member);

/** What the handle's thread waits for, as mpix_endpoints_client_t has it: of blocking calls. */
void mca_coll_epcoll_describe(void *object, char *text, size_t size);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_MISMATCH_H */
