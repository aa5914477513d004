/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A buffer that the user has attached to an endpoint, for its buffered sends: pml_epml_buffer.c.
 */

#ifndef MCA_PML_EPML_BUFFER_H
#define MCA_PML_EPML_BUFFER_H

#include "ompi_config.h"

#include "pml_epml_types.h"

#include <stdbool.h>

BEGIN_C_DECLS

/** Has the endpoint a buffer of its own?  Without the lock: programs attach before they send. */
static inline bool mca_pml_epml_buffer_is_there(const mca_pml_epml_ep_t *ep)
{
    return NULL != ep->buffer;
}

/* Under the endpoint's lock: */

/** Its buffered sends use this memory from now on, which stays the caller's.
 *
 * @return OMPI_SUCCESS; MPI_ERR_BUFFER: it has one; OMPI_ERR_OUT_OF_RESOURCE */
int mca_pml_epml_buffer_attach(mca_pml_epml_ep_t *ep, void *address, size_t size);

/** No more, if nothing is in it.
 *
 * @param[out] address, size  as they were given; NULL and 0 if there was none
 *
 * @return false: there is something in it */
bool mca_pml_epml_buffer_detach(mca_pml_epml_ep_t *ep, void **address, size_t *size);

/** Room for a message of so many bytes.  @return NULL if there is none at present */
void *mca_pml_epml_buffer_alloc(mca_pml_epml_ep_t *ep, size_t bytes);

/** Give it back.  @return false: it is not of this buffer */
bool mca_pml_epml_buffer_free(mca_pml_epml_ep_t *ep, void *room);

END_C_DECLS

#endif /* MCA_PML_EPML_BUFFER_H */
