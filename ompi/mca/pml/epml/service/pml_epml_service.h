/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The table of the engine's interface: pml_epml_service.c.
 */

#ifndef MCA_PML_EPML_SERVICE_H
#define MCA_PML_EPML_SERVICE_H

#include "ompi_config.h"

#include "ompi/mca/common/ep/common_ep_engine.h"

BEGIN_C_DECLS

extern const mpix_endpoints_engine_t mca_pml_epml_service;

END_C_DECLS

#endif /* MCA_PML_EPML_SERVICE_H */
