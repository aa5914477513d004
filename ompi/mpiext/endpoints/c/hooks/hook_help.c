/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What libmpi says to the user, where it calls a function for that (6.0; 5.0 calls through
 * pointers, for which show_help.c stands in).
 *
 * Tests: comm_refused, create_errors
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "hooks.h"

#include <stdarg.h>
#include <stdlib.h>

#include "opal/util/show_help.h"

int MPIX_ENDPOINTS_HOOK(opal_show_help)(const char *file, const char *topic, int want_error_header,
                                        ...)
{
    va_list arguments;
    char *text = NULL;
    int rc;

    va_start(arguments, want_error_header);
    if (NULL != mpix_endpoints_table() && mpix_endpoints_is_last_word(file, topic)) {
        mpix_endpoints_end_alone(); /* one explanation, of the error that ends the job */
        text = mpix_endpoints_last_word(file, topic, arguments);
    }
    rc = NULL != text ? mpix_endpoints_show_text(text, want_error_header)
                      : opal_show_vhelp(file, topic, want_error_header, arguments);
    va_end(arguments);
    free(text);
    return rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(opal_show_help);
