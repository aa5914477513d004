/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * MPI_Abort, and errors that are fatal: libmpi would have the launcher end the processes whose
 * names are in the communicator's groups.  The launcher knows no endpoints; so that nobody is left
 * over, an endpoint takes the whole job with it, which the standard allows (MPI 4.1, section 9.4).
 *
 * And libmpi ends a job once: a second call returns, as if it had to protect itself against its
 * own.  Where ranks are threads the second call is another rank's, whose failed call would return
 * then, with results that are none, while the first is still on its way to the launcher.  So the
 * first thread ends the job, and every other one that comes stays.
 *
 * Tests: comm_abort
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_internal.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_seams.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ompi/communicator/communicator.h"
#include "ompi/runtime/mpiruntime.h"

/** The thread that ends the job; 0: nobody does so far. */
static _Atomic pid_t ender;

void mpix_endpoints_end_alone(void)
{
    const pid_t own = (pid_t) syscall(SYS_gettid);
    pid_t first = 0;

    /* Relaxed: who is first is all that matters; nothing is passed on. */
    if (!atomic_compare_exchange_strong_explicit(&ender, &first, own, memory_order_relaxed,
                                                 memory_order_relaxed)
        && own != first) {
        for (;;) {
            (void) pause(); /* signals are the user's; the end of the process ends it */
        }
    }
}

bool mpix_endpoints_is_last_word(const char *file, const char *topic)
{
    if (NULL == file || NULL == topic) {
        return false;
    }
    return (0 == strcmp(file, "help-mpi-errors.txt") && 0 == strncmp(topic, "mpi_errors_", 11))
           || (0 == strcmp(file, "help-mpi-api.txt") && 0 == strcmp(topic, "mpi-abort"));
}

int MPIX_ENDPOINTS_SEAM(ompi_mpi_abort)(ompi_communicator_t *comm, int errcode)
{
    mpix_endpoints_end_alone();
    if (mpix_endpoints_is_endpoint_comm(comm)) {
        comm = &ompi_mpi_comm_world.comm;
    }
    return MPIX_ENDPOINTS_ORIGINAL(ompi_mpi_abort)(comm, errcode);
}
MPIX_ENDPOINTS_SEAM_DEFINED(ompi_mpi_abort);
