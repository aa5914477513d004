/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Work of the engine's clients that goes on while its endpoint is progressed: pml_epml_work.c.
 */

#ifndef MCA_PML_EPML_WORK_H
#define MCA_PML_EPML_WORK_H

#include "ompi_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** See work_begin and request_begin in mpix_endpoints_engine_t.  With the endpoint's lock or
 * without: work.lock is the inner one.
 * @param[in] comm  of ep, that it holds until it is done; NULL: another reference keeps it */
void mca_pml_epml_work_begin(mca_pml_epml_ep_t *ep, ompi_communicator_t *comm,
                             mpix_endpoints_work_t *work);

/** Release a reference to a handle, possibly the last one.  Called under the endpoint's lock.  The
 * release itself is executed without the lock, by the thread that progresses the endpoint next.
 * Only one such release may be pending for a handle. */
void mca_pml_epml_work_release(mca_pml_epml_comm_t *comm);

/** Is there any?  A hint, by any thread. */
static inline bool mca_pml_epml_work_has(const mca_pml_epml_ep_t *ep)
{
    /* Relaxed: what it leads to is read behind an acquire of the place, or under ep->work.lock. */
    return 0
           != ((uintptr_t) atomic_load_explicit(&ep->work_place, memory_order_relaxed)
               | atomic_load_explicit(&ep->works, memory_order_relaxed));
}

/** Steps of others' work that a thread takes which helps, before it looks after its own. */
#define EPML_WORK_HELP 4

/** Have each go on once.  Not under the endpoint's lock; the endpoint does not go meanwhile.
 *
 * @param[in] most  steps of those in the list, besides the one in the place
 * @return number of steps that brought something */
int mca_pml_epml_work_turn(mca_pml_epml_ep_t *ep, uint32_t most);

END_C_DECLS

#endif /* MCA_PML_EPML_WORK_H */
