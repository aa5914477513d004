/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Where the series of Open MPI that we build against differ for coll/epcoll: 5.0 (coll 2.4), and
 * from 6.0 on (coll 3.0).
 */

#ifndef MCA_COLL_EPCOLL_COMPAT_H
#define MCA_COLL_EPCOLL_COMPAT_H

#include "ompi_config.h"

#include <stddef.h>

#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#if OMPI_MAJOR_VERSION >= 6
#    include "ompi/util/count_disp_array.h"
#endif

/** A count, a displacement, and arrays of both, as libmpi hands them over; displacements in bytes
 * of neighbours (aints); whether there is one; and how to hand over an array of one's own. */
#if OMPI_MAJOR_VERSION >= 6
typedef size_t mca_coll_epcoll_count_t;
typedef ompi_count_array_t mca_coll_epcoll_counts_t;
typedef ptrdiff_t mca_coll_epcoll_disp_t;
typedef ompi_disp_array_t mca_coll_epcoll_disps_t;
typedef ompi_disp_array_t mca_coll_epcoll_aints_t;
#    define EPCOLL_COUNT(counts, index) ompi_count_array_get(counts, index)
#    define EPCOLL_DISP(disps, index) ompi_disp_array_get(disps, index)
#    define EPCOLL_HAS_COUNTS(counts) (NULL != ompi_count_array_ptr(counts))
#    define EPCOLL_HAS_DISPS(disps) (NULL != ompi_disp_array_ptr(disps))
#    define EPCOLL_AINT(aints, index) EPCOLL_DISP(aints, index)
#    define EPCOLL_HAS_AINTS(aints) EPCOLL_HAS_DISPS(aints)
#    define EPCOLL_COUNTS_OF(array) ompi_count_array_create_c(array)
#    define EPCOLL_DISPS_OF(array) ompi_disp_array_create_c(array)
#    define EPCOLL_BASE_VERSION MCA_COLL_BASE_VERSION_3_0_0
#else
typedef int mca_coll_epcoll_count_t;
typedef const int *mca_coll_epcoll_counts_t;
typedef int mca_coll_epcoll_disp_t;
typedef const int *mca_coll_epcoll_disps_t;
typedef const MPI_Aint *mca_coll_epcoll_aints_t;
#    define EPCOLL_COUNT(counts, index) ((size_t) (counts)[index])
#    define EPCOLL_DISP(disps, index) ((ptrdiff_t) (disps)[index])
#    define EPCOLL_HAS_COUNTS(counts) (NULL != (counts))
#    define EPCOLL_HAS_DISPS(disps) (NULL != (disps))
#    define EPCOLL_AINT(aints, index) ((ptrdiff_t) (aints)[index])
#    define EPCOLL_HAS_AINTS(aints) (NULL != (aints))
#    define EPCOLL_COUNTS_OF(array) (array)
#    define EPCOLL_DISPS_OF(array) (array)
#    define EPCOLL_BASE_VERSION MCA_COLL_BASE_VERSION_2_4_0
#endif

#endif /* MCA_COLL_EPCOLL_COMPAT_H */
