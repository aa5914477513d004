/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The end of an endpoint.
 *
 * Tests: create, create_loop, left
 */

#include "ompi_config.h"

#include "../proto/proto.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_registry.h"
#include "pml_epml_variables.h"

void mca_pml_epml_ep_destroy(mca_pml_epml_ep_t *ep)
{
    mca_pml_epml_counts_account(ep);
    mca_pml_epml_pending_clear(ep);
    mca_pml_epml_flow_clear(ep);
    mca_pml_epml_connections_close(ep);
    mca_pml_epml_ep_transports_close(ep);
    while (NULL != ep->match.arrival_first) {
        epml_match_unexpected_t *message = ep->match.arrival_first;

        epml_match_remove(&ep->match, message);
        free(message);
    }
    epml_match_fini(&ep->match);
    epml_request_ids_fini(&ep->numbers);
    mca_pml_epml_requests_trim(ep);
    if (NULL != ep->life.self) {
        mca_pml_epml_peer_release(ep->life.self);
    }
    mca_pml_epml_comms_fini(ep);
    OBJ_DESTRUCT(&ep->work.lock);
    free(ep);
}
