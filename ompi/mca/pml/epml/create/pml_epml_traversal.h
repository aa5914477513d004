/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Traversals: how members that are connected by communicators (pml_epml_graph.h), and have none that all
 * of them are in, exchange something.
 *
 * The communicators are a tree: each was found through a member, its root here, which is in the
 * one above as well.  Values go up by a reduction in each communicator, the deepest ones first, and
 * what came of it down by broadcasts, in the opposite order.  All come to their communicators in
 * the same order, so there is no circular wait.
 *
 * All functions are collective over all members and block.
 *
 * Tests: unit/test_epml_traversal, merge
 */

#ifndef MCA_PML_EPML_TRAVERSAL_H
#define MCA_PML_EPML_TRAVERSAL_H

#include "ompi_config.h"

#include "../object/object.h"
#include "pml_epml_graph.h"

BEGIN_C_DECLS

/** A communicator of this member's. */
typedef struct mca_pml_epml_stop_t {
    ompi_communicator_t *comm;
    int root;
    bool is_over; /**< an exchange has failed: nothing is said here any more */
} mca_pml_epml_stop_t;

typedef struct mca_pml_epml_traversal_t {
    int stops;    /**< 1 or 2 */
    bool is_lost; /**< what is over from the beginning is so because a member was lost */
    mca_pml_epml_stop_t stop[EPML_GRAPH_EDGES];
} mca_pml_epml_traversal_t;

/**
 * The maximum of each value over all members.
 *
 * @param[in,out] values  complete after success, and where owes is set
 * @param[out]    owes    after an error: with those of one communicator all has gone well.  They go
 *                        on, and wait for this member in the next exchange
 *
 * @return OMPI_SUCCESS, or an error; others may have the other
 */
int mca_pml_epml_traversal_max(mca_pml_epml_traversal_t *traversal, int64_t *values, int count,
                               bool *owes);

/**
 * Each byte is of one member, and 0 with all others; afterwards all have all.
 *
 * @return OMPI_SUCCESS, or an error: then data may be anything here, and elsewhere after success,
 *         so a maximum has to follow that says so
 */
int mca_pml_epml_traversal_gather(mca_pml_epml_traversal_t *traversal, void *data, int size);

END_C_DECLS

#endif /* MCA_PML_EPML_TRAVERSAL_H */
