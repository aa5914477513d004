/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Errors that concern no communicator (of types, operations, groups, infos), and those that libmpi
 * raises on MPI_COMM_WORLD or MPI_COMM_SELF itself, which no thread with a world of its own has: they
 * are raised on that thread's, where libmpix_world or libmpix_ranks is loaded.
 *
 * Tests: world_c, ranks_mpi
 */

#include "ompi_config.h"

#include "../static/static.h"
#include "../base/base.h"
#include "hooks.h"

#include "ompi/errhandler/errhandler.h"
#include "ompi/runtime/mpiruntime.h"
#include "ompi/runtime/params.h"

/** Where the calling thread's errors of this kind go, or NULL: where libmpi raises them. */
static ompi_communicator_t *own_of(const void *object, int type)
{
    ompi_communicator_t *own;

    if (!mpix_endpoints_world_is_own() || !mpix_endpoints_process_is_running()
        || (NULL != object && OMPI_ERRHANDLER_TYPE_COMM != type)) {
        return NULL;
    }
    if (NULL == object) {
        object = ompi_mpi_compat_mpi3 ? &ompi_mpi_comm_world.comm : &ompi_mpi_comm_self.comm;
    }
    if (&ompi_mpi_comm_world.comm == object) {
        own = mpix_endpoints_world();
    } else if (&ompi_mpi_comm_self.comm == object) {
        own = mpix_endpoints_world_self();
    } else {
        return NULL;
    }
    return own != object && &ompi_mpi_comm_null.comm != own ? own : NULL;
}

int MPIX_ENDPOINTS_HOOK(ompi_errhandler_invoke)(ompi_errhandler_t *errhandler, void *object,
                                                int type, int code, const char *message)
{
    ompi_communicator_t *own = own_of(object, type);

    if (NULL != own && NULL != mpix_endpoints_world_error) {
        mpix_endpoints_world_error(message);
    }
    if (NULL != own) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_errhandler_invoke)(own->error_handler, own,
                                                               (int) own->errhandler_type, code,
                                                               message);
    }
    return MPIX_ENDPOINTS_ORIGINAL(ompi_errhandler_invoke)(errhandler, object, type, code, message);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_errhandler_invoke);
