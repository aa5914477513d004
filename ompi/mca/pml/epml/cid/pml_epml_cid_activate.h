/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Activation: what makes of a new communicator, after the agreement on its context id, one that its
 * members may use.
 */

#ifndef MCA_PML_EPML_CID_ACTIVATE_H
#define MCA_PML_EPML_CID_ACTIVATE_H

#include "ompi_config.h"

#include "pml_epml_cid.h"
#include "pml_epml_cid_tree.h"

#include "ompi/request/request.h"

BEGIN_C_DECLS

/** ompi_comm_activate of an endpoint: the same arguments, the same results. */
int mca_pml_epml_cid_activate(ompi_communicator_t **newcomm, ompi_communicator_t *comm,
                              ompi_communicator_t *bridgecomm, const void *arg0, const void *arg1,
                              bool send_first, int mode);

/** ompi_comm_activate_nb of an endpoint, likewise. */
int mca_pml_epml_cid_activate_nb(ompi_communicator_t **newcomm, ompi_communicator_t *comm,
                                 ompi_communicator_t *bridgecomm, const void *arg0,
                                 const void *arg1, bool send_first, int mode,
                                 ompi_request_t **request);

/**
 * Nothing if rc is OMPI_SUCCESS.  Otherwise this member cannot use the new communicator: the other
 * members, which wait for it to do so, get an error as well.
 *
 * @param[in] tree  of its members
 * @param[in] rc    MPI_ERR_GROUP is an error that all members see
 *
 * @return rc
 */
int mca_pml_epml_cid_activation_cancel(const mca_pml_epml_cid_tree_t *tree, int rc);

/** The tag of the activation that ends a blocking agreement in mode INTRA: one at a time, in an
 * order that all members of comm see. */
static inline int mca_pml_epml_cid_activation_tag(void)
{
    return mca_pml_epml_cid_tag(EPML_CID_ACTIVATE, 0);
}

END_C_DECLS

#endif /* MCA_PML_EPML_CID_ACTIVATE_H */
