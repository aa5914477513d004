/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * libmpi's object for a communicator that we serve.
 */

#ifndef MCA_COLL_EPCOLL_MODULE_H
#define MCA_COLL_EPCOLL_MODULE_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/coll.h"

BEGIN_C_DECLS

struct mca_coll_epcoll_handle_t;

/** A module with the functions that we serve.  @return NULL: no memory */
mca_coll_base_module_t *mca_coll_epcoll_module_new(struct mca_coll_epcoll_handle_t *handle);

/** Of an intercommunicator: the agreements alone.  @return NULL: none there, or no memory */
mca_coll_base_module_t *mca_coll_epcoll_module_inter(ompi_communicator_t *comm);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_MODULE_H */
