/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The hooks: functions of libmpi that this library defines as well.  Each definition serves
 * endpoints and hands everything else to the function it stands before, untouched.  How libmpi's
 * calls come here is the matter of interpose/; docs/hooks.md says why these
 * functions, docs/extension.md how one is added.
 *
 * Called by libmpi, and by nothing in this library.  A definition keeps no state of a
 * communicator's, and costs processes a test.
 *
 * Below it: agree, files, interpose, base.
 */

#ifndef MPIEXT_ENDPOINTS_HOOKS_LAYER_H
#define MPIEXT_ENDPOINTS_HOOKS_LAYER_H

#include "ompi_config.h"

#include "../base/base.h"
#include "../files/files.h"
#include "../interpose/interpose.h"

#include "opal/mca/pmix/base/base.h"

BEGIN_C_DECLS

#if EP_IN_TREE

#    define MPIX_ENDPOINTS_HOOK(name) __attribute__((visibility("hidden"))) __wrap_##name
#    define MPIX_ENDPOINTS_HOOK_SHARED(name) __attribute__((visibility("default"))) __wrap_##name
/* What it is in the headers is what it must be here. */
#    define MPIX_ENDPOINTS_HOOK_DEFINED(name) extern __typeof__(name) __wrap_##name

#else

/** The name of our definition, where it is defined: int MPIX_ENDPOINTS_HOOK(ompi_...)(...).  The
 * second form is for functions that components call as well, which may be libraries of their
 * own. */
#    define MPIX_ENDPOINTS_HOOK(name) MPIX_ENDPOINTS_EXPORT name
#    define MPIX_ENDPOINTS_HOOK_SHARED(name) MPIX_ENDPOINTS_EXPORT name

/** To stand behind each of our definitions: gives it its second name. */
#    define MPIX_ENDPOINTS_HOOK_DEFINED(name)            \
        extern __typeof__(name) MPIX_ENDPOINTS_OWN(name) \
            __attribute__((alias(#name), visibility("hidden")))

#endif

/** What the root of a spawn has said in the name of the port, as an error of MPI's.  Any other code
 * is returned as it is. */
int mpix_endpoints_spawn_heard(int rc);

/** Is this the port by which the processes come that the calling thread has started last? */
bool mpix_endpoints_spawn_is_port(const char *port);

/** Is it, and have these processes been started with the info key mpix_remote_group? */
bool mpix_endpoints_spawn_wants_all(const char *port);

/** opal_pmix_base_exchange with the job that the calling thread has started last.
 *
 * @return as that; -MPI_ERR_SPAWN: the job has ended without */
int mpix_endpoints_children_exchange(pmix_info_t *info, pmix_pdata_t *pdat, int timeout);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_HOOKS_LAYER_H */
