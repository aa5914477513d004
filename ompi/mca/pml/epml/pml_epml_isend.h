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
 * Buffered sends: pml_epml_isend.c.
 */

#ifndef MCA_PML_EPML_ISEND_H
#define MCA_PML_EPML_ISEND_H

#include "ompi_config.h"

#include "pml_epml_types.h"

BEGIN_C_DECLS

/** A buffered send: done when it returns.  Not under the lock.
 * @return OMPI_SUCCESS; MPI_ERR_BUFFER if the attached buffer has no room */
int mca_pml_epml_send_buffered(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                               int tag, mca_pml_epml_comm_t *comm);

END_C_DECLS

#endif /* MCA_PML_EPML_ISEND_H */
