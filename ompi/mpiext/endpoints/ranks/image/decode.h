/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The disassembler Zydis, which is loaded when it is needed.
 */

#ifndef MPIX_RANKS_DECODE_H
#define MPIX_RANKS_DECODE_H

#include <stddef.h>
#include <stdint.h>

/** @return NULL, or why there is no disassembler */
const char *mpix_ranks_decode_load(void);

/**
 * The instruction at an address, which must have been found to be readable for size bytes.
 *
 * @param relative_p  where in the instruction the distance to data is, relative to the next
 *                    instruction; 0: it has none
 *
 * @return its length, or 0: it is none
 */
size_t mpix_ranks_decode(const uint8_t *code, size_t size, size_t *relative_p);

#endif /* MPIX_RANKS_DECODE_H */
