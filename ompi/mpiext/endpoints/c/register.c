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
 * finds it here.  And what we have to say to the user, and whom we stand before.
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_cid.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_link.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_internal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "ompi/constants.h"
#include "opal/util/show_help.h"

static _Atomic(const mpix_endpoints_pml_t *) registered_table;

static pthread_mutex_t help_lock = PTHREAD_MUTEX_INITIALIZER;
static bool help_added;

/** A file descriptor kept for opal_show_help, which has to open a file: that there are none left is
 * one of the things to tell.  -1: none.  Under help_lock. */
static int spare_file = -1;

static void spare_take(void)
{
    if (0 > spare_file) {
        spare_file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
}

static void spare_give(void)
{
    if (0 <= spare_file) {
        (void) close(spare_file);
        spare_file = -1;
    }
}

/** Let opal_show_help find our help files.  Under help_lock. */
static void help_add(void)
{
    if (!help_added) {
#if defined(MPIX_ENDPOINTS_HELPDIR)
        /* Open MPI looks into its own installation only; ours may be another one. */
        opal_show_help_add_dir(MPIX_ENDPOINTS_HELPDIR);
#endif
        help_added = true;
    }
}

MPIX_ENDPOINTS_EXPORT int mpix_endpoints_register_pml(const mpix_endpoints_pml_t *table)
{
    if (NULL != table && MPIX_ENDPOINTS_LINK_ABI != table->abi) {
        return OMPI_ERR_NOT_SUPPORTED;
    }
    /* MPI may have been initialized anew since the last message; Open MPI forgets our directory
     * when it is finalized. */
    pthread_mutex_lock(&help_lock);
    help_added = false;
    if (NULL != table) {
        help_add();
        spare_take();
    } else {
        spare_give();
    }
    pthread_mutex_unlock(&help_lock);
    /* Not by the first threads that use it, which Open MPI does not order. */
    if (NULL != table) {
        mpix_endpoints_cid_init();
    }
    /* Release: orders the table's contents before the pointer; partner: mpix_endpoints_table. */
    atomic_store_explicit(&registered_table, table, memory_order_release);
    return OMPI_SUCCESS;
}

const mpix_endpoints_pml_t *mpix_endpoints_table(void)
{
    /* Acquire: orders the pointer before the table's contents; partner:
     * mpix_endpoints_register_pml. */
    return atomic_load_explicit(&registered_table, memory_order_acquire);
}

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

MPIX_ENDPOINTS_EXPORT void mpix_endpoints_help_lock(void)
{
    pthread_mutex_lock(&help_lock);
    spare_give();
}

MPIX_ENDPOINTS_EXPORT void mpix_endpoints_help_unlock(void)
{
    if (NULL != mpix_endpoints_table()) {
        spare_take();
    }
    pthread_mutex_unlock(&help_lock);
}

void mpix_endpoints_show_help(const char *topic, const char *argument)
{
    /* opal_show_help reads the file with a scanner that has its state in global variables: two
     * threads in it at a time end in a crash. */
    pthread_mutex_lock(&help_lock);
    help_add();
    opal_show_help("help-mpiext-endpoints.txt", topic, true, argument);
    pthread_mutex_unlock(&help_lock);
}
