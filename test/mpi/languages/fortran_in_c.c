/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* Of fortran_calls.F90: the same endpoint and the same attribute, as C has them. */

#include <mpi.h>
#include <mpi-ext.h>
#include <stdint.h>

int check_in_c(int endpoint, int none, int keyval, intptr_t set);

/* What Fortran has set is at an address; a pointer is set in its place.  Returns which check has
 * failed. */
int check_in_c(int endpoint, int none, int keyval, intptr_t set)
{
    MPIX_Endpoint own = MPIX_Endpoint_f2c(endpoint);
    MPI_Aint *value = NULL;
    int flag = 0, *index = NULL;

    if (MPIX_ENDPOINT_NULL == own || MPIX_Endpoint_c2f(own) != endpoint) {
        return 1;
    }
    if (MPIX_ENDPOINT_NULL != MPIX_Endpoint_f2c(none)
        || none != MPIX_Endpoint_c2f(MPIX_ENDPOINT_NULL)) {
        return 2;
    }
    if (-1 != MPIX_Endpoint_c2f((MPIX_Endpoint) &flag)
        || MPIX_ENDPOINT_NULL != MPIX_Endpoint_f2c(1000)
        || MPIX_ENDPOINT_NULL != MPIX_Endpoint_f2c(-1)) {
        return 3;
    }
    MPIX_Endpoint_get_attr(own, MPIX_ENDPOINT_INDEX, &index, &flag);
    if (!flag || *index + 1 != endpoint) {
        return 4;
    }
    MPIX_Endpoint_get_attr(own, keyval, &value, &flag);
    if (!flag || *value != set) {
        return 5;
    }
    return MPI_SUCCESS == MPIX_Endpoint_set_attr(own, keyval, (void *) (intptr_t) (4096 + keyval))
               ? 0
               : 6;
}
