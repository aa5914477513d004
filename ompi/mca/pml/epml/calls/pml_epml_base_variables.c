/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Performance variables of the base PML that are bound to communicators.
 *
 * The base PML takes what hangs from a communicator (c_pml_comm) for its own, and crashes when such
 * a variable is read of an endpoint communicator.  ob1 has two, lengths of queues by peer; of
 * endpoint communicators they are read here, out of the matching table.  Others of this kind would
 * give an error.
 *
 * Called by pml_epml_serve.c, and by MPI_T.
 *
 * Tests: base_variables
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_base_variables.h"

#include <string.h>

#include "opal/constants.h"
#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var_group.h"

/** More such variables than any PML has. */
#define MOST 16

typedef enum kind_t { UNEXPECTED, POSTED, OTHER } kind_t;

/** Variables whose function was replaced. */
static struct {
    mca_base_pvar_t *variable;
    mca_base_get_value_fn_t get; /**< the base PML's */
    kind_t kind;
} replaced[MOST];
static int count;

/** The length of a queue of one key. */
static unsigned int base_variables_length(const epml_match_queue_t *queue, kind_t kind)
{
    unsigned int items = 0;

    if (POSTED == kind) {
        for (const epml_match_posted_t *posted = queue->posted_first; NULL != posted;
             posted = posted->next) {
            ++items;
        }
    } else if (EPML_MATCH_EXACT == queue->kind) { /* messages are in wildcards' queues as well */
        for (const epml_match_unexpected_t *message = queue->unexpected.exact.first;
             NULL != message; message = message->next) {
            ++items;
        }
    }
    return items;
}

/** For each rank, how many messages of it are unexpected, or receives from it alone are posted. */
static void get_lengths(const ompi_communicator_t *ompi_comm, kind_t kind, unsigned int *lengths)
{
    const mca_pml_epml_comm_t *comm = mca_pml_epml_comm(ompi_comm);
    const int size = ompi_comm_size(ompi_comm);
    const epml_match_table_t *match = &comm->ep->match;

    memset(lengths, 0, (size_t) size * sizeof(*lengths));
    mca_pml_epml_visit(comm->ep);
    for (uint64_t i = 0; i < match->buckets; ++i) {
        for (const epml_match_queue_t *queue = *epml_match_bucket(match, i); NULL != queue;
             queue = queue->chain) {
            if (comm->context == queue->context && 0 <= queue->source && queue->source < size) {
                lengths[queue->source] += base_variables_length(queue, kind);
            }
        }
    }
    mca_pml_epml_unlock(comm->ep);
}

static int base_variables_get(const mca_base_pvar_t *variable, void *value, void *object)
{
    const ompi_communicator_t *comm = object;
    int i = 0;

    while (variable != replaced[i].variable) {
        ++i;
    }
    if (NULL == comm || !mca_pml_epml_is_endpoint_comm(comm)) {
        return replaced[i].get(variable, value, object);
    }
    if (OTHER == replaced[i].kind) {
        return OPAL_ERR_NOT_BOUND;
    }
    get_lengths(comm, replaced[i].kind, value);
    return OPAL_SUCCESS;
}

/** Is it a variable of another PML's that is bound to communicators? */
static bool is_of_base(const mca_base_pvar_t *variable)
{
    const mca_base_var_group_t *group = NULL;

    return MCA_BASE_VAR_BIND_MPI_COMM == variable->bind && NULL != variable->get_value
           && OPAL_SUCCESS == mca_base_var_group_get(variable->group_index, &group)
           && NULL != group->group_framework && NULL != group->group_component
           && 0 == strcmp("pml", group->group_framework)
           && 0 != strcmp("epml", group->group_component);
}

static kind_t kind_of(const mca_base_pvar_t *variable)
{
    return 0 == strcmp("pml_ob1_unexpected_msgq_length", variable->name) ? UNEXPECTED
           : 0 == strcmp("pml_ob1_posted_recvq_length", variable->name)  ? POSTED
                                                                         : OTHER;
}

void mca_pml_epml_base_variables_install(void)
{
    int variables = 0;

    (void) mca_base_pvar_get_count(&variables);
    count = 0;
    for (int i = 0; i < variables && count < MOST; ++i) {
        const mca_base_pvar_t *found = NULL;

        if (OPAL_SUCCESS == mca_base_pvar_get(i, &found) && is_of_base(found)) {
            mca_base_pvar_t *variable = (mca_base_pvar_t *) found;

            replaced[count].variable = variable;
            replaced[count].get = variable->get_value;
            replaced[count++].kind = kind_of(variable);
            /* Release: its entry before the function that looks for it, in threads that read the
             * variable of ordinary communicators meanwhile. */
            __atomic_store_n(&variable->get_value, base_variables_get, __ATOMIC_RELEASE);
        }
    }
}

void mca_pml_epml_base_variables_remove(void)
{
    while (0 < count) {
        --count;
        replaced[count].variable->get_value = replaced[count].get;
    }
}
