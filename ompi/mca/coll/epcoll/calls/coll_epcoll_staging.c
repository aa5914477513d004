/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Host memory in place of buffers in device memory (GPUs).  A buffer gets as much as lies between
 * its first and its last byte, so counts, displacements and types of the call stay as they are, and
 * its address alone is another one.  Only what the types describe is copied, block by block, by Open
 * MPI's function for copying elements, which knows accelerators.
 *
 * The request of a nonblocking operation is the user's no more than its buffers are: the user's is
 * one of the engine's, whose work tests the operation's, and at its end copies the results.  A
 * persistent operation keeps its host memory from start to start.
 *
 * Called by coll_epcoll_guard.c.
 *
 * Tests: device_coll
 */

#include "ompi_config.h"

#include <stdlib.h>

#include "coll_epcoll_staging.h"

#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"

typedef struct staging_block_t {
    mca_coll_epcoll_buffer_t device;
    char *host; /**< in place of device.address */
    bool is_read, is_written;
} staging_block_t;

struct mca_coll_epcoll_staging_t {
    mpix_endpoints_work_t work;
    void *memory[2];           /**< of both areas; NULL: in host memory anyway */
    ompi_request_t *outer;     /**< the user's */
    ompi_request_t *inner;     /**< of the operation */
    ompi_op_t *op;             /**< held; or NULL */
    bool is_persistent;
    bool holds_types;
    ompi_datatype_t **types[2]; /**< copies of a w form's arrays; or NULL */
    uint32_t count;
    staging_block_t block[];
};

static const mpix_endpoints_engine_t *staging_engine(void)
{
    return mca_coll_epcoll_component.engine;
}

/* ---- areas ----------------------------------------------------------------------------------- */

/** Does the call use a block? */
static bool area_uses(const mca_coll_epcoll_area_t *area, uint32_t i)
{
    return NULL == area->peers
           || MPI_PROC_NULL
                  != (area->is_sent ? mca_coll_epcoll_peers_target(area->peers, i)
                                    : mca_coll_epcoll_peers_source(area->peers, i));
}

static bool area_is_on_device(const ompi_communicator_t *comm, const mca_coll_epcoll_area_t *area)
{
    for (uint32_t i = 0; i < area->count; ++i) {
        const mca_coll_epcoll_buffer_t block = mca_coll_epcoll_blocks_get(&area->blocks, i);

        if (area_uses(area, i)
            && staging_engine()->is_device(comm, block.address, block.count, block.type)) {
            return true;
        }
    }
    return false;
}

bool mca_coll_epcoll_areas_on_device(const ompi_communicator_t *comm,
                                     const mca_coll_epcoll_areas_t *areas)
{
    return area_is_on_device(comm, &areas->area[0]) || area_is_on_device(comm, &areas->area[1]);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/** Note an area's blocks, and get memory for them if one is in device memory.
 * @return false: there is none */
static bool staging_add(mca_coll_epcoll_staging_t *staging, int which,
                        const mca_coll_epcoll_area_t *area, bool is_on_device)
{
    uintptr_t low = UINTPTR_MAX, high = 0;
    const uint32_t first = staging->count;

    for (uint32_t i = 0; i < area->count; ++i) {
        const mca_coll_epcoll_buffer_t block = mca_coll_epcoll_blocks_get(&area->blocks, i);
        const opal_datatype_t *type = &block.type->super;
        const uintptr_t start = (uintptr_t) block.address + (uintptr_t) type->true_lb;
        const bool is_copied = is_on_device && area_uses(area, i) && 0 < block.count
                               && 0 < type->size;
        uintptr_t end;

        staging->block[staging->count++] = (staging_block_t){.device = block,
                                                             .is_read = is_copied && area->is_read,
                                                             .is_written = is_copied
                                                                           && area->is_written};
        if (!is_copied) {
            continue;
        }
        end = start + (block.count - 1) * (uintptr_t) (type->ub - type->lb)
              + (uintptr_t) (type->true_ub - type->true_lb);
        low = start < low ? start : low;
        high = end > high ? end : high;
    }
    if (!is_on_device) {
        return true;
    }
    staging->memory[which] = malloc(high - low);
    if (NULL == staging->memory[which]) {
        return false;
    }
    for (uint32_t i = first; i < staging->count; ++i) {
        staging_block_t *block = &staging->block[i];

        block->host = mca_coll_epcoll_away(block->device.address,
                                           (ptrdiff_t) ((uintptr_t) staging->memory[which] - low));
    }
    *area->argument = mca_coll_epcoll_away(*area->argument,
                                           (ptrdiff_t) ((uintptr_t) staging->memory[which] - low));
    return true;
}

/** Copy a w form's array of types.  @return false: no memory */
static bool staging_copy_types(mca_coll_epcoll_staging_t *staging, int which,
                               const mca_coll_epcoll_area_t *area)
{
    const size_t bytes = area->count * sizeof(*staging->types[which]);

    if (NULL == area->blocks.types || 0 == bytes) {
        return true;
    }
    staging->types[which] = malloc(bytes);
    if (NULL == staging->types[which]) {
        return false;
    }
    memcpy(staging->types[which], area->blocks.types, bytes);
    return true;
}

mca_coll_epcoll_staging_t *mca_coll_epcoll_staging_new(const ompi_communicator_t *comm,
                                                       const mca_coll_epcoll_areas_t *areas)
{
    const size_t most = (size_t) areas->area[0].count + areas->area[1].count;
    mca_coll_epcoll_staging_t *staging = calloc(1, sizeof(*staging)
                                                       + most * sizeof(staging->block[0]));

    for (int i = 0; NULL != staging && i < 2; ++i) {
        const mca_coll_epcoll_area_t *area = &areas->area[i];

        if (!staging_copy_types(staging, i, area)
            || !staging_add(staging, i, area, area_is_on_device(comm, area))) {
            mca_coll_epcoll_staging_free(staging);
            staging = NULL;
        }
    }
    return staging;
}

void mca_coll_epcoll_staging_free(mca_coll_epcoll_staging_t *staging)
{
    for (uint32_t i = 0; staging->holds_types && i < staging->count; ++i) {
        OBJ_RELEASE(staging->block[i].device.type);
    }
    if (NULL != staging->op) {
        OBJ_RELEASE(staging->op);
    }
    for (int i = 0; i < 2; ++i) {
        free(staging->types[i]);
        free(staging->memory[i]);
    }
    free(staging);
}

void mca_coll_epcoll_staging_hold(mca_coll_epcoll_staging_t *staging, ompi_op_t *op)
{
    staging->holds_types = true;
    for (uint32_t i = 0; i < staging->count; ++i) {
        OBJ_RETAIN(staging->block[i].device.type);
    }
    staging->op = op;
    if (NULL != op) {
        OBJ_RETAIN(op);
    }
}

void mca_coll_epcoll_staging_in(const mca_coll_epcoll_staging_t *staging)
{
    for (uint32_t i = 0; i < staging->count; ++i) {
        const staging_block_t *block = &staging->block[i];

        if (block->is_read) {
            (void) ompi_datatype_copy_content_same_ddt(block->device.type, block->device.count,
                                                       block->host, block->device.address);
        }
    }
}

void mca_coll_epcoll_staging_out(const mca_coll_epcoll_staging_t *staging)
{
    for (uint32_t i = 0; i < staging->count; ++i) {
        const staging_block_t *block = &staging->block[i];

        if (block->is_written) {
            (void) ompi_datatype_copy_content_same_ddt(block->device.type, block->device.count,
                                                       block->device.address, block->host);
        }
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

static mpix_endpoints_step_t staging_step(mpix_endpoints_work_t *work)
{
    mca_coll_epcoll_staging_t *staging = (mca_coll_epcoll_staging_t *) work;
    ompi_status_public_t status;
    int is_complete = 0;
    const int rc = ompi_request_test(&staging->inner, &is_complete, &status);

    if (MPI_SUCCESS == rc && !is_complete) {
        return MPIX_ENDPOINTS_STEP_IDLE;
    }
    if (MPI_SUCCESS == rc) {
        mca_coll_epcoll_staging_out(staging);
    }
    staging_engine()->request_done(staging->outer, rc); /* with which the staging may go */
    return MPIX_ENDPOINTS_STEP_DONE;
}

/** MPI_Start. */
static int staging_start(void *context)
{
    mca_coll_epcoll_staging_t *staging = context;
    int rc;

    mca_coll_epcoll_staging_in(staging);
    rc = staging->inner->req_start(1, &staging->inner);
    if (OMPI_SUCCESS == rc) {
        staging_engine()->request_begin(staging->outer, &staging->work);
    }
    return rc;
}

static void staging_end(void *context)
{
    mca_coll_epcoll_staging_t *staging = context;

    if (MPI_REQUEST_NULL != staging->inner) { /* persistent, or failed */
        (void) ompi_request_free(&staging->inner);
    }
    mca_coll_epcoll_staging_free(staging);
}

static const mpix_endpoints_request_ops_t staging_ops = {.start = staging_start,
                                                         .free = staging_end};

int mca_coll_epcoll_staging_request(mca_coll_epcoll_staging_t *staging, ompi_communicator_t *comm,
                                    bool is_persistent, ompi_request_t ***inner_p)
{
    int rc;

    staging->work.step = staging_step;
    staging->inner = MPI_REQUEST_NULL;
    staging->is_persistent = is_persistent;
    *inner_p = &staging->inner;
    rc = staging_engine()->request_new(comm, &staging_ops, staging, is_persistent,
                                       &staging->outer);
    if (MPI_SUCCESS == rc && (NULL != staging->types[0] || NULL != staging->types[1])) {
        staging_engine()->request_types(staging->outer, staging->types[0], staging->types[1]);
    }
    return MPI_SUCCESS == rc ? rc : MPI_ERR_NO_MEM;
}

int mca_coll_epcoll_staging_begun(mca_coll_epcoll_staging_t *staging, int rc,
                                  ompi_request_t **request_p)
{
    ompi_request_t *outer = staging->outer;

    if (MPI_SUCCESS != rc) {
        staging->inner = MPI_REQUEST_NULL;
        if (!staging->is_persistent) {
            staging_engine()->request_done(outer, rc);
        }
        (void) ompi_request_free(&outer);
        return rc;
    }
    *request_p = outer;
    if (!staging->is_persistent) {
        staging_engine()->request_begin(outer, &staging->work);
    }
    return MPI_SUCCESS;
}
