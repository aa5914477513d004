/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
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
