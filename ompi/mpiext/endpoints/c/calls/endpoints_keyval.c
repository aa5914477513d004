/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_ENDPOINTS: the keyval of MPI_COMM_WORLD's attribute that says how many endpoints this
 * process may have: no more than the launcher was told; without that, as many as there may be.
 *
 * Made when somebody asks for it: most programs do not.  It is one of libmpi's predefined ones,
 * with a number that the keyvals of users do not get to: they cannot free it, nor delete the value.
 *
 * Tests: static_told
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../base/base.h"
#include "calls.h"

#include <limits.h>
#include <pthread.h>

#include "ompi/attribute/attribute.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/runtime/mpiruntime.h"

enum { KEYVAL = 0x40004570 };

/** Written under the lock, once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_made;

/** The attribute is not copied, and is no memory.  Functions of ours: those of libmpi are not in
 * libmpi_abi. */
static int copy_none(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void) comm, (void) key, (void) extra, (void) value, (void) copy;
    *flag = 0;
    return MPI_SUCCESS;
}

static int delete_none(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm, (void) key, (void) value, (void) extra;
    return MPI_SUCCESS;
}

/** How many endpoints?  What was told counts those that there are, what there is room for does
 * not. */
static int number_of_endpoints(void)
{
    const int told = mpix_endpoints_most_told(), limit = mpix_endpoints_limit();
    const bool has_them = mpix_endpoints_call_can_create();
    int optimal, maximum = 1;

    if (has_them && INT_MAX > told) {
        return told < limit ? told : limit;
    }
    if (has_them) {
        mpix_endpoints_table()->number(MPI_COMM_WORLD, &optimal, &maximum);
    }
    return maximum;
}

/** The keyval, and the value at MPI_COMM_WORLD, for good: libmpi deletes no attributes of that. */
static bool make_keyval(void)
{
    const ompi_attribute_fn_ptr_union_t copy
        = {.attr_communicator_copy_fn = copy_none};
    const ompi_attribute_fn_ptr_union_t remove = {.attr_communicator_delete_fn = delete_none};
    int key = KEYVAL, rc;

    if (OMPI_SUCCESS
        != ompi_attr_create_keyval(COMM_ATTR, copy, remove, &key, NULL, OMPI_KEYVAL_PREDEFINED,
                                   NULL)) {
        return false;
    }
    rc = ompi_attr_set_fint(COMM_ATTR, MPI_COMM_WORLD, &MPI_COMM_WORLD->c_keyhash, key,
                            number_of_endpoints(), true);
    (void) ompi_attr_free_keyval(COMM_ATTR, &key, true);
    return MPI_SUCCESS == rc;
}

int mpix_endpoints_call_keyval(void)
{
    const int32_t state = ompi_mpi_state;
    bool is_there = false;

    if (OMPI_MPI_STATE_INIT_COMPLETED <= state
        && OMPI_MPI_STATE_FINALIZE_PAST_COMM_SELF_DESTRUCT > state) {
        pthread_mutex_lock(&lock);
        is_made = is_made || make_keyval();
        is_there = is_made;
        pthread_mutex_unlock(&lock);
    }
    return is_there ? KEYVAL : MPI_KEYVAL_INVALID;
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Endpoints_keyval(void)
    __attribute__((alias("mpix_endpoints_call_keyval")));

MPIX_ENDPOINTS_EXPORT int MPIX_Endpoints_keyval(void)
    __attribute__((weak, alias("mpix_endpoints_call_keyval")));
