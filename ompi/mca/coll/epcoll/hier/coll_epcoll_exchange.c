/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages of a partners, and temporary elements.
 *
 * Tests: coll_layout, death
 */

#include "ompi_config.h"

#include "coll_epcoll_exchange.h"

#include "mpi.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/request/request.h"

#include <stdlib.h>

_Static_assert(EPCOLL_TAGS_PERSISTENT + EPCOLL_TAGS_EACH == MPIX_ENDPOINTS_TAG_MAX,
               "tags are divided up");

/* ---- messages -------------------------------------------------------------------------------- */

int mca_coll_epcoll_partners_rank(const mca_coll_epcoll_partners_t *partners, uint32_t process)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(partners->handle);
    const uint32_t count = mca_coll_epcoll_layout_count(layout, process);
    uint32_t index = partners->offset
                     + (process == partners->root_process ? partners->root_index : 0);

    if (index >= count) {
        index -= count;
    }
    return (int) mca_coll_epcoll_layout_rank(layout, process, index);
}

bool mca_coll_epcoll_is_complete(ompi_request_t *request)
{
    /* Acquire: the data; partner: the thread that completes it, in the engine.  libmpi's flag is no
     * atomic type, but written as one. */
    return MPI_REQUEST_NULL == request
           || REQUEST_COMPLETED
                  == __atomic_load_n((void **) &request->req_complete, __ATOMIC_ACQUIRE);
}

/**
 * Wait until it is over.  If the segment is broken it is cancelled, since its partner may have
 * given up: a receive ends at once, a send when the receiver has agreed.  A send that has not left
 * yet, for want of credits, cannot be cancelled before it has: so this is tried each time.
 *
 * @param why  MPI_SUCCESS, or why the call has failed
 *
 * @return likewise, if it has been cancelled; else MPI_SUCCESS
 */
static int wait_until_complete(mca_coll_epcoll_handle_t *handle, ompi_request_t *request, int why)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;
    mpix_endpoints_wait_t wait = {.words = {0}};
    bool taken_back = false;

    while (!mca_coll_epcoll_is_complete(request)) {
        if (OPAL_UNLIKELY(MPI_SUCCESS != why)) {
            (void) ompi_request_cancel(request);
            taken_back = true;
        }
        (void) engine->wait_progress(handle->view.comm, MPIX_ENDPOINTS_ANY_RANK,
                                     &wait); /* it ends by itself */
        if (OPAL_LIKELY(MPI_SUCCESS == why)) {
            /* Relaxed: nothing but the word itself is read by it. */
            why = atomic_load_explicit(handle->view.member.broken, memory_order_relaxed);
        }
    }
    if (0 != wait.words[0]) {
        engine->wait_end(&wait);
    }
    return taken_back ? why : MPI_SUCCESS;
}

int mca_coll_epcoll_wait_for(mca_coll_epcoll_handle_t *handle, ompi_request_t **request, int rc)
{
    int end = MPI_SUCCESS, why;

    if (MPI_REQUEST_NULL != *request) {
        why = wait_until_complete(handle, *request, rc);
        end = ompi_request_wait(request, MPI_STATUS_IGNORE);
        end = 0 > end ? ompi_errcode_get_mpi_code(end) : end;
        if (OPAL_UNLIKELY(MPI_REQUEST_NULL != *request)) {
            (void) ompi_request_free(request); /* which libmpi leaves, of one that has failed */
        }
        end = MPI_SUCCESS == why ? end : why; /* not that it has been taken back */
    }
    return MPI_SUCCESS == rc ? end : rc;
}

/* ---- temporary elements ---------------------------------------------------------------------- */

void *mca_coll_epcoll_scratch_get(mca_coll_epcoll_scratch_t *scratch, const ompi_datatype_t *type,
                                  size_t count)
{
    const opal_datatype_t *opal_type = &type->super;
    const ptrdiff_t extent = mca_coll_epcoll_extent(type);
    const size_t step = (size_t) (0 > extent ? -extent : extent);
    ptrdiff_t low = opal_type->lb < opal_type->true_lb ? opal_type->lb : opal_type->true_lb;
    const ptrdiff_t high = opal_type->ub > opal_type->true_ub ? opal_type->ub : opal_type->true_ub;
    const size_t size = (size_t) (high > low ? high - low : 0) + (count - 1) * step + 64;

    if (size > scratch->size) {
        free(scratch->memory);
        scratch->memory = malloc(size);
        scratch->size = NULL == scratch->memory ? 0 : size;
        if (NULL == scratch->memory) {
            return NULL;
        }
    }
    low += 0 > extent ? (ptrdiff_t) (count - 1) * extent : 0;
    /* Elements begin at multiples of what is in them, as their users' do. */
    return (char *) (((uintptr_t) scratch->memory + 15) / 16 * 16) - (low - (low % 16 + 16) % 16);
}

mca_coll_epcoll_vector_t mca_coll_epcoll_part_of(const mca_coll_epcoll_vector_t *vector,
                                                 size_t first, size_t count)
{
    const ptrdiff_t extent = mca_coll_epcoll_extent(vector->type);

    return (mca_coll_epcoll_vector_t){.address = mca_coll_epcoll_away(vector->address,
                                                                      (ptrdiff_t) first * extent),
                                      .count = count,
                                      .type = vector->type};
}

mca_coll_epcoll_vector_t mca_coll_epcoll_process_part(const mca_coll_epcoll_vector_t *vector,
                                                      uint32_t process, uint32_t processes)
{
    const size_t first = vector->count / processes * process
                         + vector->count % processes * process / processes;
    const size_t end = vector->count / processes * (process + 1)
                       + vector->count % processes * (process + 1) / processes;

    return mca_coll_epcoll_part_of(vector, first, end - first);
}

void mca_coll_epcoll_scratch_trim(mca_coll_epcoll_scratch_t *scratch, size_t most)
{
    if (most < scratch->size) {
        free(scratch->memory);
        *scratch = (mca_coll_epcoll_scratch_t){.memory = NULL};
    }
}
