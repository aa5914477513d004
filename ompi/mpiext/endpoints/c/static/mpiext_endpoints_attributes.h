/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Attributes of endpoints: attributes.c, place.c.
 */

#ifndef MPIEXT_ENDPOINTS_ATTRIBUTES_H
#define MPIEXT_ENDPOINTS_ATTRIBUTES_H

#include "ompi_config.h"

#include "mpiext_endpoints_process.h"

BEGIN_C_DECLS

/** A new keyval.  Any thread.  @return OMPI_SUCCESS; OMPI_ERR_OUT_OF_RESOURCE: no memory, or no
 * numbers */
int mpix_endpoints_keyval_create(int *keyval);

/** No value is set any more with this keyval; what is there can be read, and deleted.
 *
 * @return OMPI_SUCCESS, or OMPI_ERR_NOT_FOUND: no keyval of the user's */
int mpix_endpoints_keyval_free(int keyval);

/** A value: C sets and gets pointers, Fortran integers of the same size. */
typedef union mpix_endpoints_value_t {
    void *pointer;
    MPI_Aint integer;
} mpix_endpoints_value_t;
_Static_assert(sizeof(void *) == sizeof(MPI_Aint), "each can hold the other");

/**
 * Set a value, in place of one that is there.  Any thread, any endpoint of the process; so are the
 * next two.
 *
 * @param[in] is_integer  which of the two it is
 *
 * @return OMPI_SUCCESS; OMPI_ERR_NOT_FOUND: no keyval of the user's; OMPI_ERR_OUT_OF_RESOURCE
 */
int mpix_endpoints_attribute_set(mpix_endpoint_t *endpoint, int keyval,
                                 mpix_endpoints_value_t value, bool is_integer);

/**
 * The value, of a predefined keyval, too; as MPI has it for communicators (MPI 4.1, 19.3.7): asked
 * for as an integer, a pointer is its address, and a number that a predefined one points to is
 * itself; asked for as a pointer, an integer is the address of where it is kept.
 *
 * @param[in]  as_integer  what is asked for
 * @param[out] value       unchanged if there is none
 * @param[out] found       is there one?
 *
 * @return OMPI_SUCCESS, or OMPI_ERR_NOT_FOUND: no keyval
 */
int mpix_endpoints_attribute_get(mpix_endpoint_t *endpoint, int keyval, bool as_integer,
                                 mpix_endpoints_value_t *value, bool *found);

/** Delete the value, if there is one.  @return as mpix_endpoints_attribute_set */
int mpix_endpoints_attribute_delete(mpix_endpoint_t *endpoint, int keyval);

/** MPI has ended: no values and no keyvals any more. */
void mpix_endpoints_attributes_end(mpix_endpoint_t endpoints[], int count);

/** Where the process may run, as it was at the first question: the cores that its threads may have,
 * as a list ("0-3,8"), and the one NUMA node that has them all.  @return NULL: unknown, or several
 * nodes */
const char *mpix_endpoints_place_cores(void);
const int *mpix_endpoints_place_node(void);

/** By which network others reach endpoints of the process: libfabric's provider, and the interface.
 * @return NULL: nobody has to, yet; or it has no name */
const char *mpix_endpoints_place_provider(void);
const char *mpix_endpoints_place_interface(void);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_ATTRIBUTES_H */
