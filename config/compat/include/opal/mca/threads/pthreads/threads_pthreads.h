/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Stands in for the header of the same name that some packages of Open MPI forget to install.
 * Only the one variable that threads_pthreads_threads.h uses; it lives in Open MPI's core library.
 */

#ifndef EP_COMPAT_THREADS_PTHREADS_H
#define EP_COMPAT_THREADS_PTHREADS_H

#include "opal_config.h"

BEGIN_C_DECLS

typedef void(opal_threads_pthreads_yield_fn_t)(void);

/** What a thread does to let others run; chosen by an MCA parameter at start-up. */
OPAL_DECLSPEC extern opal_threads_pthreads_yield_fn_t *opal_threads_pthreads_yield_fn;

END_C_DECLS

#endif /* EP_COMPAT_THREADS_PTHREADS_H */
