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
 * The guests behind the door, and what they hang on handles: pml_epml_enrolled.c.
 */

#ifndef MCA_PML_EPML_ENROLLED_H
#define MCA_PML_EPML_ENROLLED_H

#include "ompi_config.h"

#include "pml_epml_types.h"

#include "ompi/mca/common/ep/common_ep_engine.h"

BEGIN_C_DECLS

/** Guests at most. */
#define EPML_ENROLLED_MOST 8

/** See enrol in mpix_endpoints_door_t. */
int mca_pml_epml_enrol(const mpix_endpoints_guest_t *guest, int *number_p);

/** @return NULL: nobody has that number.  Any thread */
const mpix_endpoints_guest_t *mca_pml_epml_enrolled(int number);

/** A handle is being made: let all guests hang something on it.  Not under the lock.
 * @return OMPI_SUCCESS or an error; what is there is for mca_pml_epml_enrolled_free all the same */
int mca_pml_epml_enrolled_make(mca_pml_epml_comm_t *comm);

/** A handle goes, and nothing arrives for it any more.  Not under the lock. */
void mca_pml_epml_enrolled_free(mca_pml_epml_comm_t *comm);

/** What a guest has hung on it, or NULL. */
static inline void *mca_pml_epml_enrolled_object(const mca_pml_epml_comm_t *comm, int number)
{
    return NULL != comm->objects && 0 <= number && EPML_ENROLLED_MOST > number
               ? comm->objects[number]
               : NULL;
}

/** The PML goes: nobody is a guest any more. */
void mca_pml_epml_enrolled_finalize(void);

END_C_DECLS

#endif /* MCA_PML_EPML_ENROLLED_H */
