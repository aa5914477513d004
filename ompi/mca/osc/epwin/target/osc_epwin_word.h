/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Atomic operations on words, for osc_epwin_apply.c.
 */

#ifndef MCA_OSC_EPWIN_WORD_H
#define MCA_OSC_EPWIN_WORD_H

#include "ompi_config.h"

#include "osc_epwin_apply.h"

BEGIN_C_DECLS

/** The function for one word.
 * @param[in] size  1, 2, 4, 8 bytes
 * @param[in] op    Fortran's number of an operation that is defined for the word's type */
mca_osc_epwin_one_t mca_osc_epwin_word_one(uint32_t size, int op);

/** mca_osc_epwin_apply, of elements that are atomic. */
void mca_osc_epwin_word_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, void *target,
                              const void *operand, void *result, size_t elements);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_WORD_H */
