/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Files as a client of the engine.
 */

#ifndef MPIEXT_ENDPOINTS_CLIENT_H
#define MPIEXT_ENDPOINTS_CLIENT_H

#include "ompi_config.h"

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** Register files as a client.  When pml/epml registers, by one thread.
 * @param[in] client  constant, and there until the end of the process */
void mpix_endpoints_client_register(const mpix_endpoints_pml_t *table,
                                    const mpix_endpoints_client_t *client);

/** Its number in calls of the engine; -1: it could not be registered, so there are no messages. */
int mpix_endpoints_client(void);

/** The functions of the engine, once there are endpoints. */
static inline const mpix_endpoints_engine_t *mpix_endpoints_client_engine(void)
{
    return mpix_endpoints_table()->engine;
}

/** Is a buffer in device memory that the CPU cannot access? */
static inline bool mpix_endpoints_client_is_device(const ompi_communicator_t *comm,
                                                   const void *buffer, size_t count,
                                                   const ompi_datatype_t *datatype)
{
    const mpix_endpoints_engine_t *engine = mpix_endpoints_client_engine();

    return NULL != engine->accelerator() && engine->is_device(comm, buffer, count, datatype);
}

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_CLIENT_H */
