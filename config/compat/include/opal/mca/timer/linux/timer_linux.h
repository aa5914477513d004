/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Stands in for the header of the same name that some packages of Open MPI forget to install.
 * ompi/runtime/ompi_spc.h includes it.  Only what the core library exports.
 */

#ifndef EP_COMPAT_TIMER_LINUX_H
#define EP_COMPAT_TIMER_LINUX_H

#include "opal_config.h"

#include "opal/sys/timer.h"

BEGIN_C_DECLS

OPAL_DECLSPEC extern opal_timer_t (*opal_timer_base_get_cycles)(void);
OPAL_DECLSPEC extern opal_timer_t (*opal_timer_base_get_usec)(void);

/** Cycles per second. */
OPAL_DECLSPEC extern opal_timer_t opal_timer_base_get_freq(void);

END_C_DECLS

#endif /* EP_COMPAT_TIMER_LINUX_H */
