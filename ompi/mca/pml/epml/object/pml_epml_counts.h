/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is counted of an endpoint, and of the process: the performance variables of MPI_T.
 *
 * Nothing is counted on a short message's way: values are computed when they are read, of what the
 * endpoint and its transports keep anyway.
 *
 * Tests: variables
 */

#ifndef MCA_PML_EPML_COUNTS_H
#define MCA_PML_EPML_COUNTS_H

#include "ompi_config.h"

#include "opal/mca/common/ep/common_ep_btl.h"

BEGIN_C_DECLS

/** The counts, in the order of the table of variables. */
typedef enum mca_pml_epml_count_t {
    EPML_COUNT_INSIDE_MESSAGES,
    EPML_COUNT_INSIDE_BYTES,
    EPML_COUNT_INSIDE_FETCHED,
    EPML_COUNT_NODE_MESSAGES,
    EPML_COUNT_NODE_BYTES,
    EPML_COUNT_NODE_FETCHED,
    EPML_COUNT_NET_MESSAGES,
    EPML_COUNT_NET_BYTES,
    EPML_COUNT_NET_FETCHED,
    EPML_COUNT_DROPPED,
    EPML_COUNT_DEFERRED,
    EPML_COUNT_HELPS,
    EPML_COUNT_BIASES,
    EPML_COUNT_TIMES_FULL,
    EPML_COUNT_UNEXPECTED_MOST,
    EPML_COUNT_UNEXPECTED,
    EPML_COUNT_UNEXPECTED_BYTES,
    EPML_COUNT_PENDING_QUEUES,
    EPML_COUNT_ENDPOINTS,
    EPML_COUNTS
} mca_pml_epml_count_t;

typedef struct mca_pml_epml_counts_t {
    uint64_t value[EPML_COUNTS];
} mca_pml_epml_counts_t;

END_C_DECLS

#endif /* MCA_PML_EPML_COUNTS_H */
