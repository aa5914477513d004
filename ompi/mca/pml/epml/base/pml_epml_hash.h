/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Keys for Open MPI's hash tables.
 */

#ifndef MCA_PML_EPML_HASH_H
#define MCA_PML_EPML_HASH_H

#include "ompi_config.h"

#include <stdint.h>

BEGIN_C_DECLS

/** A key for Open MPI's hash tables in place of one that is counted up.  They probe linearly, so
 * that numbers in a row make one cluster, through all of which each removal goes.  Multiplying by
 * an odd number, 2^64 over the golden ratio, is one to one and spreads them. */
static inline uint64_t mca_pml_epml_hash(uint64_t number)
{
    return number * UINT64_C(0x9e3779b97f4a7c15);
}

END_C_DECLS

#endif /* MCA_PML_EPML_HASH_H */
