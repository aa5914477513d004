/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is said to the user, where Open MPI has its texts in its library and we have ours (6.0;
 * show_help.c is for 5.0).
 *
 * Any thread may call it there, but for the first use of each text, which is put together then: one
 * of two threads that are the first may leave its copy behind.
 *
 * Tests: create_errors
 */

#include "ompi_config.h"

#include "mpiext_endpoints_help.h"

#include <pthread.h>

#include "opal/mca/common/ep/common_ep_help.h"

static pthread_mutex_t once_lock = PTHREAD_MUTEX_INITIALIZER;

void mpix_endpoints_help_init(bool in_use)
{
    (void) in_use; /* the hook goes by the table: hook_help.c */
}

void mpix_endpoints_show_help(const char *topic, const char *argument)
{
    (void) mca_btl_ep_show_help("help-mpiext-endpoints.txt", topic, true, argument);
}

int mpix_endpoints_show_text(const char *text, bool want_error_header)
{
    return mca_btl_ep_show_help("help-mpiext-endpoints.txt", "as it is", want_error_header, text);
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
