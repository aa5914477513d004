/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The first phase of a creation: each member has its endpoints, with the transports that they need.
 * All agree on the result: have all members succeeded, which context id, do all promise the same
 * count, how large is an address, can all use memory of the node?
 *
 * Called by pml_epml_creation.c.
 *
 * Tests: create, create_errors, comm_nomem, merge
 */

#include "ompi_config.h"

#include "../calls/calls.h"
#include "../engine/engine.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_address.h"
#include "pml_epml_creation.h"

#include "ompi/constants.h"

typedef mca_pml_epml_creation_t creation_t;

static int make_endpoints(creation_t *creation)
{
    int rc;

    creation->error = mca_pml_epml_ep_reserve(creation->num_ep);
    if (MPIX_ENDPOINTS_OK != creation->error) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = mca_pml_epml_serve();
    for (int i = 0; OMPI_SUCCESS == rc && i < creation->num_ep; ++i) {
        rc = mca_pml_epml_ep_create(creation->level, creation->transports, &creation->eps[i]);
        if (OMPI_SUCCESS != rc && NULL != creation->ops->short_of) {
            creation->ops->short_of(creation, i, rc);
        }
    }
    mca_pml_epml_ep_unreserve(creation->num_ep - mca_pml_epml_creation_eps(creation));
    return rc;
}

/** Other transports are needed than before, or endpoints are there that have been made without
 * a thought of these members. */
static int need_transports(creation_t *creation)
{
    int rc = OMPI_SUCCESS;

    for (int i = 0; OMPI_SUCCESS == rc && i < creation->num_ep; ++i) {
        if (creation->without_node && !creation->has_eps) {
            mca_pml_epml_ep_drop_node(creation->eps[i]);
        }
        rc = mca_pml_epml_ep_need(creation->eps[i], creation->transports);
    }
    return rc;
}

static int have_endpoints(void *work)
{
    creation_t *creation = work;
    const bool is_first = NULL == creation->local.counts;
    int rc;

    if (MPIX_ENDPOINTS_OK != creation->error) {
        return OMPI_ERR_BAD_PARAM;
    }
    if (is_first && (!epml_side_begin(&creation->local) || !epml_side_begin(&creation->remote))) {
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    } else if (is_first && !creation->has_eps) {
        rc = make_endpoints(creation);
    } else {
        rc = need_transports(creation);
    }
    if (OMPI_SUCCESS != rc && MPIX_ENDPOINTS_OK == creation->error) {
        creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
    }
    return rc;
}

static int agree_on_endpoints(void *work, int rc)
{
    creation_t *creation = work;
    mca_pml_epml_agreement_t *agreed = &creation->agreed, own_side;
    const int count = mca_pml_epml_creation_eps(creation);
    const bool uses_node = mca_pml_epml_creation_uses_node(creation);

    if (OMPI_SUCCESS != rc && MPIX_ENDPOINTS_OK == creation->error) {
        creation->error = MPIX_ENDPOINTS_ERR_INTERN;
    }
    *agreed = (mca_pml_epml_agreement_t){.error = creation->error,
                                         .num_ep = creation->num_ep,
                                         .minus_ep = -(int64_t) creation->num_ep,
                                         .address_size = (int64_t) sizeof(mca_pml_epml_address_t),
                                         .no_promise = !creation->promise};
    for (int i = 0; i < count; ++i) {
        const int64_t size = (int64_t) mca_pml_epml_address_size(creation->eps[i], uses_node);
        const bool has_node = NULL != creation->eps[i]->transports.module[EPML_TRANSPORT_NODE];

        agreed->address_size = agreed->address_size < size ? size : agreed->address_size;
        agreed->lacking_node |= uses_node && !has_node;
        agreed->having_node |= uses_node && has_node;
    }
    if (0 == creation->rank) {
        agreed->context = (int64_t) mca_pml_epml_context_ids(2);
    }
    rc = mca_pml_epml_bootstrap_max(&creation->bootstrap, (int64_t *) agreed,
                                    sizeof(*agreed) / sizeof(int64_t), (int64_t *) &own_side);
    creation->local_context = (uint64_t) own_side.context + 1;
    if (OMPI_SUCCESS != rc) {
        creation->error = MPIX_ENDPOINTS_ERR_INTERN;
    }
    return rc;
}

static epml_verdict_t conclude_endpoints(void *work, int *rc)
{
    creation_t *creation = work;
    const mca_pml_epml_agreement_t *agreed = &creation->agreed;

    creation->error = (mpix_endpoints_error_t) agreed->error;
    if (MPIX_ENDPOINTS_OK == creation->error && !agreed->no_promise
        && agreed->num_ep != -agreed->minus_ep) {
        creation->error = MPIX_ENDPOINTS_ERR_PROMISE;
    }
    if (MPIX_ENDPOINTS_OK != creation->error) {
        *rc = OMPI_SUCCESS != *rc ? *rc : OMPI_ERROR;
        return EPML_VERDICT_FAILED;
    }
    if (!creation->without_node && 0 != agreed->lacking_node && 0 != agreed->having_node) {
        return mca_pml_epml_creation_without_node(creation);
    }
    return EPML_VERDICT_NEXT;
}

const epml_phase_t mca_pml_epml_phase_endpoints = {.make = have_endpoints,
                                                   .agree = agree_on_endpoints,
                                                   .conclude = conclude_endpoints};
