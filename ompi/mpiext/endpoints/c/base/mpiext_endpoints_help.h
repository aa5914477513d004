/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages to the user: our help texts, from any thread.
 */

#ifndef MPIEXT_ENDPOINTS_HELP_H
#define MPIEXT_ENDPOINTS_HELP_H

#include "ompi_config.h"

#include <stdbool.h>

BEGIN_C_DECLS

/** Stand in for opal_show_help, so that any thread may call it, and tell it where our help files
 * are; or stop that.
 *
 * @param[in] in_use  pml/epml is selected */
void mpix_endpoints_help_init(bool in_use);

/**
 * Show the user a message of our help file.  Any thread, once MPI is being initialized.
 *
 * @param[in] topic     which one
 * @param[in] argument  what the message's %s stands for, or NULL if it has none
 */
void mpix_endpoints_show_help(const char *topic, const char *argument);

/** Show a text as it is.
 *
 * @return OMPI_SUCCESS, or an error of opal_show_help's */
int mpix_endpoints_show_text(const char *text, bool want_error_header);

/** A message for the first caller of mpix_endpoints_show_help only; the others come back when it has
 * been said.
 *
 * @param[in,out] said  the message's own, false at first */
void mpix_endpoints_show_help_once(const char *topic, bool *said);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_HELP_H */
