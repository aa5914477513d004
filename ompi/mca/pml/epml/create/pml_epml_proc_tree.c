/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Exchanges of some processes that have no communicator of their own: by messages of
 * MPI_COMM_WORLD, with a tag for each group.
 *
 * libmpi has two ways to make them a communicator, and neither serves.  That of sessions
 * (MPI_Comm_create_from_group) blocks in the launcher without progress, and loses a message that
 * another thread takes in before the communicator is complete.  MPI_Comm_create_group lets one
 * thread of a process wait for the agreements of all others.
 *
 * Waiting is that of all requests, which progresses the process.
 *
 * Tests: from_group
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "pml_epml_proc_tree.h"

#include "ompi/constants.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

#include <limits.h>

/** The lowest tags.  Open MPI's own end above them (MCA_COLL_BASE_TAG_NEIGHBOR_END); 5.0 has set the
 * rest aside for coll/hcoll, which begins at the other end. */
#define TREE_TAGS (1u << 29)
#define TREE_TAG_LOWEST (-INT_MAX)
_Static_assert(MCA_COLL_BASE_TAG_NEIGHBOR_END > TREE_TAG_LOWEST + (int) TREE_TAGS,
               "these tags are Open MPI's");

int mca_pml_epml_proc_tree_tag(uint64_t key)
{
    return TREE_TAG_LOWEST + (int) (mca_pml_epml_hash(key) % TREE_TAGS);
}

static int tree_send(const mca_pml_epml_proc_tree_t *tree, int to, const void *data, size_t size)
{
    ompi_request_t *request;
    const int rc = MCA_PML_CALL(isend(data, size, MPI_BYTE, tree->ranks[to], tree->tag,
                                      MCA_PML_BASE_SEND_STANDARD, tree->comm, &request));

    return OMPI_SUCCESS == rc ? ompi_request_wait(&request, MPI_STATUS_IGNORE) : rc;
}

static int tree_recv(const mca_pml_epml_proc_tree_t *tree, int from, void *data, size_t size)
{
    ompi_status_public_t status;
    ompi_request_t *request;
    int rc = MCA_PML_CALL(irecv(data, size, MPI_BYTE, tree->ranks[from], tree->tag, tree->comm,
                                &request));

    if (OMPI_SUCCESS == rc) {
        rc = ompi_request_wait(&request, &status);
    }
    return OMPI_SUCCESS == rc && size != status._ucount ? OMPI_ERR_BAD_PARAM : rc;
}

/** The members below one, itself included, are those from it on: so many, if there are. */
static int tree_span(const mca_pml_epml_proc_tree_t *tree, int rank)
{
    int span = 1;

    while (span < tree->size && 0 == (rank & span)) {
        span *= 2;
    }
    return span < tree->size - rank ? span : tree->size - rank;
}

/** The one above. */
static int tree_parent(const mca_pml_epml_proc_tree_t *tree)
{
    return tree->rank & (tree->rank - 1);
}

/** From the first one to all. */
static int tree_bcast(const mca_pml_epml_proc_tree_t *tree, void *data, size_t size)
{
    const int span = tree_span(tree, tree->rank);
    int rc = 0 == tree->rank ? OMPI_SUCCESS : tree_recv(tree, tree_parent(tree), data, size);

    for (int below = 1; OMPI_SUCCESS == rc && below < span; below *= 2) {
        rc = tree_send(tree, tree->rank + below, data, size);
    }
    return rc;
}

int mca_pml_epml_proc_tree_max(const mca_pml_epml_proc_tree_t *tree, int64_t *values, int count)
{
    const int span = tree_span(tree, tree->rank);
    const size_t size = (size_t) count * sizeof(*values);
    int rc = OMPI_SUCCESS;

    for (int below = 1; OMPI_SUCCESS == rc && below < span; below *= 2) {
        int64_t theirs[count];

        rc = tree_recv(tree, tree->rank + below, theirs, size);
        for (int i = 0; OMPI_SUCCESS == rc && i < count; ++i) {
            values[i] = values[i] < theirs[i] ? theirs[i] : values[i];
        }
    }
    if (OMPI_SUCCESS == rc && 0 < tree->rank) {
        rc = tree_send(tree, tree_parent(tree), values, size);
    }
    return OMPI_SUCCESS == rc ? tree_bcast(tree, values, size) : rc;
}

int mca_pml_epml_proc_tree_gather(const mca_pml_epml_proc_tree_t *tree, void *data,
                                  const int *places, int total)
{
    const int span = tree_span(tree, tree->rank);
    unsigned char *bytes = data;
    int rc = OMPI_SUCCESS;

    for (int below = 1; OMPI_SUCCESS == rc && below < span; below *= 2) {
        const int child = tree->rank + below, end = child + tree_span(tree, child);
        const int last = end < tree->size ? places[end] : total;

        rc = tree_recv(tree, child, bytes + places[child], (size_t) (last - places[child]));
    }
    if (OMPI_SUCCESS == rc && 0 < tree->rank) {
        const int end = tree->rank + span, last = end < tree->size ? places[end] : total;

        rc = tree_send(tree, tree_parent(tree), bytes + places[tree->rank],
                       (size_t) (last - places[tree->rank]));
    }
    return OMPI_SUCCESS == rc ? tree_bcast(tree, data, (size_t) total) : rc;
}
