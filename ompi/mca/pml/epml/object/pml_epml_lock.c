/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What all endpoints' locks of a process have in common.
 *
 * Tests: shared_endpoint, callbacks
 */

#include "ompi_config.h"

#include "pml_epml_lock.h"

bool mca_pml_epml_may_bias = false;
_Atomic uint64_t epml_lock_endings_until = 0;
