/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * What travels in a slot: up to EPCOLL_INLINE bytes, with the number that says that they are there.
 */

#ifndef MCA_COLL_EPCOLL_SMALL_H
#define MCA_COLL_EPCOLL_SMALL_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** Is it small?  The same answer at all members. */
bool mca_coll_epcoll_is_small(const epcoll_member_t *member, uint32_t limit,
                              const mca_coll_epcoll_call_t *call);

/** All of a small call, by the thread of the member.  @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_small_run(mca_coll_epcoll_handle_t *handle,
                              const mca_coll_epcoll_call_t *call);

/** An allreduce of few bytes of a dense type: the shortest way. */
int mca_coll_epcoll_small_allreduce(mca_coll_epcoll_handle_t *handle, const void *send, void *recv,
                                    size_t count, ompi_datatype_t *type, ompi_op_t *op);

/** All of any call but a barrier, small or not (coll_epcoll_local.c). */
int mca_coll_epcoll_local_run(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_SMALL_H */
