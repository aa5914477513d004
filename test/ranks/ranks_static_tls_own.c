/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The library of ranks_static_tls.
 *
 * EPT-CFLAGS: -ftls-model=initial-exec
 */

int own_step(int by);

__thread int own_values[300] = {7};

int own_step(int by)
{
    return own_values[0] += by;
}
