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
 * What is said to the user, where Open MPI calls a function and has its texts in its library (6.0;
 * show_help.c is for 5.0).
 *
 * Any thread may call it there, but for the first use of each text, which is put together then: one
 * of two threads that are the first may leave its copy behind.
 *
 * Tests: comm_refused, create_errors
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_end.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_help.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_seams.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_table.h"

#include <pthread.h>
#include <stdarg.h>

#include "opal/mca/btl/ephelp/btl_ep_help.h"

static pthread_mutex_t once_lock = PTHREAD_MUTEX_INITIALIZER;

int MPIX_ENDPOINTS_SEAM(opal_show_help)(const char *file, const char *topic,
                                        int want_error_header, ...)
{
    va_list arguments;
    int rc;

    if (NULL != mpix_endpoints_table() && mpix_endpoints_is_last_word(file, topic)) {
        mpix_endpoints_end_alone(); /* one explanation, of the error that ends the job */
    }
    va_start(arguments, want_error_header);
    rc = opal_show_vhelp(file, topic, want_error_header, arguments);
    va_end(arguments);
    return rc;
}
MPIX_ENDPOINTS_SEAM_DEFINED(opal_show_help);

void mpix_endpoints_help_init(bool in_use)
{
    (void) in_use; /* the table says so */
}

void mpix_endpoints_show_help(const char *topic, const char *argument)
{
    (void) mca_btl_ep_show_help("help-mpiext-endpoints.txt", topic, true, argument);
}

void mpix_endpoints_show_help_once(const char *topic, bool *said)
{
    pthread_mutex_lock(&once_lock);
    if (!*said) {
        *said = true;
        mpix_endpoints_show_help(topic, NULL);
    }
    pthread_mutex_unlock(&once_lock);
}
