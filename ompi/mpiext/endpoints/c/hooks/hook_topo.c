/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Topologies: which component serves?
 *
 * Open MPI's topo/treematch places processes on cores: it asks the launcher where each member runs,
 * which has never heard of endpoints, looks into the machine's description without a lock, and may
 * bind the whole process anew.  Endpoints get topo/basic, which renumbers nothing; the standard
 * lets it (reorder is a permission).
 *
 * Tests: comm_topo, coll_neighbor
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "hooks.h"

#include "ompi/mca/topo/base/base.h"
#include "opal/mca/base/mca_base_component_repository.h"

#include <string.h>

/** topo/basic, or NULL if this Open MPI has none.  The framework is open: endpoints exist. */
static mca_topo_base_component_t *basic_component(void)
{
    mca_base_component_list_item_t *item;

    OPAL_LIST_FOREACH (item, &ompi_topo_base_framework.framework_components,
                       mca_base_component_list_item_t) {
        if (0 == strcmp("basic", item->cli_component->mca_component_name)) {
            return (mca_topo_base_component_t *) item->cli_component;
        }
    }
    return NULL;
}

int MPIX_ENDPOINTS_HOOK(mca_topo_base_comm_select)(const ompi_communicator_t *comm,
                                                   mca_topo_base_module_t *preferred,
                                                   mca_topo_base_module_t **selected, uint32_t type)
{
    mca_topo_base_module_t basic; /* only its component is looked at */

    if (OPAL_UNLIKELY(mpix_endpoints_is_endpoint_comm(comm))) {
        mca_topo_base_component_t *component = basic_component();

        if (NULL != component) {
            memset(&basic, 0, sizeof(basic));
            basic.topo_component = component;
            preferred = &basic;
        }
    }
    return MPIX_ENDPOINTS_ORIGINAL(mca_topo_base_comm_select)(comm, preferred, selected, type);
}
MPIX_ENDPOINTS_HOOK_DEFINED(mca_topo_base_comm_select);
