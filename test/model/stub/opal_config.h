/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/** @file Of Open MPI, what a model needs: opal_config.h. */

#ifndef MODEL_STUB_OPAL_CONFIG_H
#define MODEL_STUB_OPAL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BEGIN_C_DECLS
#define END_C_DECLS
#define OPAL_DECLSPEC
#define OPAL_LIKELY(condition) (condition)
#define OPAL_UNLIKELY(condition) (condition)

enum { OPAL_SUCCESS = 0, OPAL_ERR_OUT_OF_RESOURCE = -2, OPAL_ERR_UNREACH = -12 };

#endif
