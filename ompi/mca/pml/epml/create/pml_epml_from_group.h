/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Comm_create_from_group: pml_epml_from_group.c.
 */

#ifndef MCA_PML_EPML_FROM_GROUP_H
#define MCA_PML_EPML_FROM_GROUP_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"
#include "ompi/mca/common/ep/common_ep_link.h"

BEGIN_C_DECLS

/** See mpix_endpoints_pml_t. */
int mca_pml_epml_group_max(ompi_group_t *group, uint64_t key, int64_t *value);
int mca_pml_epml_create_from_group(ompi_group_t *group, uint64_t key,
                                   mpix_endpoints_member_t *members, int count,
                                   mpix_endpoints_error_t *error);

END_C_DECLS

#endif /* MCA_PML_EPML_FROM_GROUP_H */
