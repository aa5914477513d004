/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The list of all endpoints: pml_epml_registry.c.
 */

#ifndef MCA_PML_EPML_REGISTRY_H
#define MCA_PML_EPML_REGISTRY_H

#include "ompi_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** A new, complete endpoint: from now on threads that have nothing to do may progress it.  Any
 * thread. */
void mca_pml_epml_registry_add(mca_pml_epml_ep_t *ep);

/** The endpoint's last reference is gone.  Any thread, not under its lock.
 * @return is it the caller's to destroy?  If not, process-wide progress does it when it can */
bool mca_pml_epml_registry_remove(mca_pml_epml_ep_t *ep);

/** Free everything; no thread can reach the endpoint any more (pml_epml_ep_destroy.c). */
void mca_pml_epml_ep_destroy(mca_pml_epml_ep_t *ep);

/** The PML goes: all endpoints are destroyed. */
void mca_pml_epml_registry_finalize(void);

/** May this process have count endpoints more?  Then there is room for them: each
 * mca_pml_epml_ep_create that succeeds takes some of it, and what is left must be given back.  If
 * not, the reason is reported. */
mpix_endpoints_error_t mca_pml_epml_ep_reserve(int count);
void mca_pml_epml_ep_unreserve(int count);

/** How many more this process may have: pml_epml_max_endpoints.  Any thread. */
int mca_pml_epml_ep_room(void);

/** Endpoints of this node, this process included, as a creation has just found it. */
void mca_pml_epml_ep_note_node(int endpoints_on_node);

/**
 * Call a function with each endpoint of the process that has communicators, under its lock, which
 * is waited for.  Any thread that has not the lock of an endpoint.
 *
 * @param[in] begin  called first, while none can come to its end
 * @return false: one came to its end meanwhile, and may have been left out
 */
bool mca_pml_epml_ep_visit_all(void (*begin)(void *context),
                               void (*visit)(mca_pml_epml_ep_t *ep, void *context), void *context);

/** Wait for an endpoint's lock, as a visitor.  Likewise. */
void mca_pml_epml_visit(mca_pml_epml_ep_t *ep);

/** Call a function with each endpoint of the process, the dying ones included, without waiting for
 * the lock of the list.  Any thread.  @return false: another thread has that lock */
bool mca_pml_epml_ep_for_all(void (*function)(mca_pml_epml_ep_t *ep));

/** Registered with opal_progress: progress the calling thread's own endpoints, and what no thread
 * drives. */
int mca_pml_epml_progress(void);

/** The same, but no endpoint is the calling thread's own.  @return number of events */
int mca_pml_epml_progress_others(void);

END_C_DECLS

#endif /* MCA_PML_EPML_REGISTRY_H */
