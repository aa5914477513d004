/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/** @file Of Open MPI, what a model needs: progress, which does nothing. */

static inline int opal_progress(void)
{
    return 0;
}
