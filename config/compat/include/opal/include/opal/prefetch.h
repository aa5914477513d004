/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Some installed headers include opal/prefetch.h by its path in Open MPI's source tree.  This leads
 * them to the installed file.
 */

#include "opal/prefetch.h"
