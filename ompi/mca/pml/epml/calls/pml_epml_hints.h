/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Assertions in info objects: pml_epml_hints.c.
 */

#ifndef MCA_PML_EPML_HINTS_H
#define MCA_PML_EPML_HINTS_H

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"

BEGIN_C_DECLS

/** What a value of mpix_thread_level means.  @return EPML_LEVEL_NONE: nothing, which has been
 * said */
mca_pml_epml_level_t mca_pml_epml_level_read(const char *value);

/** A level that is none of EPML_LEVEL_NONE, for a handle that has subscribed. */
int mca_pml_epml_hints_set_level(ompi_communicator_t *comm, mca_pml_epml_level_t level);

/** Likewise, that of another handle, if it has one. */
int mca_pml_epml_hints_descend(ompi_communicator_t *comm, const ompi_communicator_t *from);

/** Have libmpi tell us of the hints in a communicator's info, those in it already included. */
int mca_pml_epml_hints_subscribe(ompi_communicator_t *comm);

/** Take over the assertions in info (may be NULL) for a communicator that has subscribed. */
int mca_pml_epml_hints_copy(ompi_communicator_t *comm, opal_info_t *info);

END_C_DECLS

#endif /* MCA_PML_EPML_HINTS_H */
