/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/** @file Of Open MPI, what a model needs: ompi_config.h. */

#include "opal_config.h"
