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
 * Messages by which members agree: pml_epml_agree.c.
 */

#ifndef MCA_PML_EPML_AGREE_H
#define MCA_PML_EPML_AGREE_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** See agree_send, agree_recv and comm_leave in mpix_endpoints_pml_t. */
int mca_pml_epml_agree_send(ompi_communicator_t *comm, int rank, int tag, const uint64_t *words);
int mca_pml_epml_agree_recv(ompi_communicator_t *comm, int rank, int tag, uint64_t *words);
void mca_pml_epml_comm_leave(ompi_communicator_t *newcomm);

END_C_DECLS

#endif /* MCA_PML_EPML_AGREE_H */
