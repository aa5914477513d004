/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Requests whose data are in device memory (GPUs): pml_epml_accelerator.c.
 */

#ifndef MCA_PML_EPML_ACCELERATOR_H
#define MCA_PML_EPML_ACCELERATOR_H

#include "ompi_config.h"

#include "pml_epml_request.h"

BEGIN_C_DECLS

/**
 * From now on a request's data are copied by the accelerator, whatever their layout: the engine
 * accesses them by its convertor only.  The request has its data, and is not on its way.  Under the
 * lock, or before another thread has it.
 *
 * @return OMPI_SUCCESS or an error
 */
int mca_pml_epml_request_by_accelerator(mca_pml_epml_request_t *request);

/** Are a request's data left to the accelerator, and one piece of memory at base? */
bool mca_pml_epml_request_is_piece_of_device(mca_pml_epml_request_t *request);

END_C_DECLS

#endif /* MCA_PML_EPML_ACCELERATOR_H */
