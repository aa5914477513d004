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
 * The published table: pml/epml puts it here when it is selected, everything else in this library
 * finds it here.  And whom we stand before.
 *
 * Tests: create, create_errors (unselected)
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_cid.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_link.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_internal.h"

#if !EP_IN_TREE
#    include <dlfcn.h>
#endif
#include <stdatomic.h>

#include "ompi/constants.h"

static _Atomic(const mpix_endpoints_pml_t *) registered_table;

MPIX_ENDPOINTS_EXPORT int mpix_endpoints_register_pml(const mpix_endpoints_pml_t *table)
{
    if (NULL != table && MPIX_ENDPOINTS_LINK_ABI != table->abi) {
        return OMPI_ERR_NOT_SUPPORTED;
    }
    mpix_endpoints_help_init(NULL != table);
    /* Not by the first threads that use it, which Open MPI does not order. */
    if (NULL != table) {
        mpix_endpoints_cid_init();
    }
    /* Release: orders the table's contents before the pointer; partner: mpix_endpoints_table. */
    atomic_store_explicit(&registered_table, table, memory_order_release);
    return OMPI_SUCCESS;
}

MPIX_ENDPOINTS_EXPORT int mpix_endpoints_report(char *text, size_t size)
{
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();

    if (NULL == table) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    table->report(text, size);
    return OMPI_SUCCESS;
}

const mpix_endpoints_pml_t *mpix_endpoints_table(void)
{
    /* Acquire: orders the pointer before the table's contents; partner:
     * mpix_endpoints_register_pml. */
    return atomic_load_explicit(&registered_table, memory_order_acquire);
}

#if EP_IN_TREE

/** See MPIX_ENDPOINTS_FUNCTION_DEFINED. */
static const char *const functions[] __attribute__((used))
    = {&mpix_endpoints_has_Comm_disconnect, &mpix_endpoints_has_Comm_split_type,
       &mpix_endpoints_has_Request_get_status};

#else

void *mpix_endpoints_next_function(const char *name, _Atomic(void *) *found)
{
    /* Relaxed: the pointer is all that is passed on. */
    void *function = atomic_load_explicit(found, memory_order_relaxed);

    if (NULL == function) {
        function = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(found, function, memory_order_relaxed);
    }
    return function;
}

#endif
