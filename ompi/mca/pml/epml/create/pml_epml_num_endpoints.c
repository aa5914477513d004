/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How many endpoints a process could bring: as many as it has cores, if there may be as many; and
 * where some members are on other nodes, if the network has room for them.  The network is chosen
 * for that, but no context of it is opened.
 *
 * Called through the link table.
 *
 * Tests: static_number
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_num_endpoints.h"

static int number_least(int a, int b)
{
    return a < b ? a : b;
}

void mca_pml_epml_num_endpoints(ompi_communicator_t *parent, int *optimal, int *maximum)
{
    unsigned int transports = mca_pml_epml_group_transports(parent->c_local_group);
    int served_well = INT_MAX, served = INT_MAX;

    if (OMPI_COMM_IS_INTER(parent)) {
        transports |= mca_pml_epml_group_transports(parent->c_remote_group);
    }
    if (0 != (transports & EPML_WITH_NET)) {
        mca_pml_epml_net_room(&served_well, &served);
    }
    *maximum = number_least(mca_pml_epml_ep_room(), served);
    *optimal = number_least(number_least(mca_pml_epml_oversubscription_cores(), served_well),
                            *maximum);
}
