/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Differences between the series of Open MPI that osc/epwin is built against: 5.0 (osc 3.0), and
 * from 6.0 on (osc 4.0).
 */

#ifndef MCA_OSC_EPWIN_COMPAT_H
#define MCA_OSC_EPWIN_COMPAT_H

#include "ompi_config.h"

#include <stddef.h>
#include <stdint.h>

#include "ompi/mca/osc/osc.h"
#include "ompi/mca/osc/base/base.h"

/** A count of elements and a displacement unit as libmpi passes them. */
#if OMPI_MAJOR_VERSION >= 6
typedef size_t mca_osc_epwin_count_t;
typedef ptrdiff_t mca_osc_epwin_unit_t;
#    define EPWIN_BASE_VERSION OMPI_OSC_BASE_VERSION_4_0_0
/** The largest count of Open MPI's functions that copy between two datatypes. */
#    define EPWIN_COUNT_MAX SIZE_MAX
#else
typedef int mca_osc_epwin_count_t;
typedef int mca_osc_epwin_unit_t;
#    define EPWIN_BASE_VERSION OMPI_OSC_BASE_VERSION_3_0_0
#    define EPWIN_COUNT_MAX INT32_MAX
#endif

#endif /* MCA_OSC_EPWIN_COMPAT_H */
