/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages to people out of our help files.
 *
 * Open MPI 5.0 reads help files when it needs them, from any folder that has been registered.  From
 * 6.0 on it has its own texts in its library, and finds no others.  There, each of our libraries
 * has ours in it, and shows them as Open MPI would.
 */

#ifndef OPAL_COMMON_EP_HELP_H
#define OPAL_COMMON_EP_HELP_H

#include "opal_config.h"

#include "opal/util/show_help.h"

#if EP_OWN_HELP_TEXTS && !EP_IN_TREE
/**
 * As opal_show_help, for a help file of ours.  Any thread, any number at once.
 *
 * @return OPAL_SUCCESS, or OPAL_ERR_NOT_FOUND or OPAL_ERR_OUT_OF_RESOURCE: nothing has been shown
 */
int mca_btl_ep_show_help(const char *file, const char *topic, int want_error_header, ...)
    __attribute__((visibility("hidden")));
#else
#    define mca_btl_ep_show_help opal_show_help
#endif

#endif /* OPAL_COMMON_EP_HELP_H */
