/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is published by the launcher in place of a root's list of members, for the other root, which would
 * wait for ten minutes.
 *
 * Called by calls/comm_spawn.c and hooks/hook_children.c.
 *
 * Tests: ulfm_connect, jobs_endpoints (dies)
 */

#include "ompi_config.h"

#include "mpiext_endpoints_port.h"

#include <stdio.h>

#include "mpi.h"
#include "opal/mca/pmix/pmix-internal.h"

void mpix_endpoints_publish(const char *key, const char *text)
{
    pmix_persistence_t first_read = PMIX_PERSIST_FIRST_READ;
    pmix_info_t infos[2];

    PMIX_INFO_LOAD(&infos[0], key, text, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_PERSISTENCE, &first_read, PMIX_PERSIST);
    (void) PMIx_Publish_nb(infos, 2, NULL, NULL);
    PMIX_INFO_DESTRUCT(&infos[0]);
    PMIX_INFO_DESTRUCT(&infos[1]);
}

void mpix_endpoints_publish_failed(const char *port, bool connects)
{
    char key[MPI_MAX_PORT_NAME + sizeof(":connect")];

    (void) snprintf(key, sizeof(key), "%s:%s", port, connects ? "connect" : "accept");
    mpix_endpoints_publish(key, MPIX_ENDPOINTS_SIDE_FAILED);
}
