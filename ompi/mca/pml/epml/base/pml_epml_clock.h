/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The time, for waits of milliseconds.
 */

#ifndef MCA_PML_EPML_CLOCK_H
#define MCA_PML_EPML_CLOCK_H

#include "ompi_config.h"

#include <stdint.h>
#include <time.h>

BEGIN_C_DECLS

/** Nanoseconds since some time or other. */
static inline uint64_t mca_pml_epml_now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

END_C_DECLS

#endif /* MCA_PML_EPML_CLOCK_H */
