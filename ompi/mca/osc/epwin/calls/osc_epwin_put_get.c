/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Put, MPI_Get, MPI_Rput, MPI_Rget (MPI-4.1, 12.3.1, 12.3.2, 12.3.5).
 *
 * Data without gaps in mapped memory are copied; of 4 or 8 bytes in one access, so that a thread
 * that reads them meanwhile, as MPI's unified memory model allows, sees the old or the new value.
 *
 * Called by libmpi.
 *
 * Tests: win_random, win_net, win_errors
 */

#include "ompi_config.h"

#include "osc_epwin_calls.h"
#include "osc_epwin_place.h"

#include <string.h>

/** Copy; words at once. */
static inline void data_copy(void *to, const void *from, size_t bytes)
{
    if (8 == bytes) {
        uint64_t word;

        memcpy(&word, from, sizeof(word));
        memcpy(to, &word, sizeof(word));
    } else if (4 == bytes) {
        uint32_t word;

        memcpy(&word, from, sizeof(word));
        memcpy(to, &word, sizeof(word));
    } else {
        memcpy(to, from, bytes);
    }
}

/** Are both sides without gaps, and of one size?  @param[out] bytes_p  of the data */
static inline bool data_are_plain(const ompi_datatype_t *one_type, size_t one_count,
                                  const ompi_datatype_t *other_type, size_t other_count,
                                  size_t *bytes_p)
{
    const size_t bytes = one_type->super.size * one_count;

    *bytes_p = bytes;
    return mca_osc_epwin_is_plain(one_type) && mca_osc_epwin_is_plain(other_type)
           && bytes == other_type->super.size * other_count;
}

/**
 * Have the kernel copy long data without gaps between processes of the node.
 *
 * @param[in] user      the origin's side
 * @return MPI_ERR_UNSUPPORTED_OPERATION: use messages
 */
static int data_copy_between(const mca_osc_epwin_module_t *module,
                             const mca_osc_epwin_buffer_t *user, const mca_osc_epwin_place_t *place,
                             bool is_put)
{
    const mca_osc_epwin_peer_t *peer = &module->peers[place->target];
    const ompi_datatype_t *types[] = {user->type, place->type};
    const size_t counts[] = {user->count, place->count};
    const size_t bytes = place->type->super.size * place->count;

    /* Far ones: the target's lock may be requested, but not held yet. */
    if (EPWIN_WAY_COPY != peer->way || !mca_osc_epwin_is_near(module, place->target)
        || 0 == mca_osc_epwin_component.copy_limit || bytes < mca_osc_epwin_component.copy_limit
        || bytes != user->type->super.size * user->count) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    for (int i = 0; i < 2; ++i) {
        if (!opal_datatype_is_contiguous_memory_layout(&types[i]->super, 1 < counts[i] ? 2 : 1)) {
            return MPI_ERR_UNSUPPORTED_OPERATION;
        }
    }
    return mca_osc_epwin_component.engine->memory_copy(
        module->comm, place->target, (char *) user->address + user->type->super.true_lb,
        (uint64_t) (uintptr_t) (peer->base + place->at + place->type->super.true_lb), bytes,
        is_put);
}

static __attribute__((noinline)) int put_slow(mca_osc_epwin_module_t *module,
                                              const mca_osc_epwin_buffer_t *origin, int target,
                                              ptrdiff_t disp, size_t count, ompi_datatype_t *type)
{
    mca_osc_epwin_place_t place;
    int rc = mca_osc_epwin_place_check(module, target, disp, count, type, &place);

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    if (origin->type->super.size * origin->count > type->super.size * count) {
        return MPI_ERR_TRUNCATE;
    }
    if (EPWIN_WAY_DIRECT != module->peers[target].way) {
        return MPI_SUCCESS == data_copy_between(module, origin, &place, true)
                   ? MPI_SUCCESS
                   : mca_osc_epwin_am_put(module, origin, &place);
    }
    module->is_dirty = true;
    return ompi_datatype_sndrcv(origin->address, (mca_osc_epwin_count_t) origin->count,
                                origin->type,
                                mca_osc_epwin_memory(module, target) + place.at,
                                (mca_osc_epwin_count_t) count, type);
}

int mca_osc_epwin_put(const void *origin, mca_osc_epwin_count_t origin_count,
                      ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                      mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    size_t bytes;
    char *to;

    if (OPAL_LIKELY(data_are_plain(origin_type, (size_t) origin_count, type, (size_t) count,
                                   &bytes)
                    && NULL != (to = mca_osc_epwin_fast_address(module, target, disp, bytes)))) {
        module->is_dirty = true;
        data_copy(to, origin, bytes);
        return MPI_SUCCESS;
    }
    return put_slow(module,
                    &(mca_osc_epwin_buffer_t){.address = (void *) (uintptr_t) origin,
                                              .count = (size_t) origin_count,
                                              .type = origin_type},
                    target, disp, (size_t) count, type);
}

static __attribute__((noinline)) int get_slow(mca_osc_epwin_module_t *module,
                                              const mca_osc_epwin_buffer_t *result, int target,
                                              ptrdiff_t disp, size_t count, ompi_datatype_t *type,
                                              ompi_request_t **request_p)
{
    mca_osc_epwin_place_t place;
    int rc = mca_osc_epwin_place_check(module, target, disp, count, type, &place);

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    if (type->super.size * count > result->type->super.size * result->count) {
        return MPI_ERR_TRUNCATE;
    }
    if (EPWIN_WAY_DIRECT != module->peers[target].way) {
        return MPI_SUCCESS == data_copy_between(module, result, &place, false)
                   ? MPI_SUCCESS
                   : mca_osc_epwin_am_get(module, result, &place, request_p);
    }
    return ompi_datatype_sndrcv(mca_osc_epwin_memory(module, target) + place.at,
                                (mca_osc_epwin_count_t) count, type, result->address,
                                (mca_osc_epwin_count_t) result->count, result->type);
}

/** Of MPI_Get and MPI_Rget.  @param[out] request_p  NULL, or set if the result is not there yet */
static inline int get(void *result, mca_osc_epwin_count_t result_count,
                      ompi_datatype_t *result_type, int target, ptrdiff_t disp,
                      mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win,
                      ompi_request_t **request_p)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    const char *from;
    size_t bytes;

    if (OPAL_LIKELY(data_are_plain(result_type, (size_t) result_count, type, (size_t) count,
                                   &bytes)
                    && NULL
                           != (from = mca_osc_epwin_fast_address(module, target, disp, bytes)))) {
        data_copy(result, from, bytes);
        return MPI_SUCCESS;
    }
    return get_slow(module,
                    &(mca_osc_epwin_buffer_t){.address = result,
                                              .count = (size_t) result_count,
                                              .type = result_type},
                    target, disp, (size_t) count, type, request_p);
}

int mca_osc_epwin_get(void *result, mca_osc_epwin_count_t result_count,
                      ompi_datatype_t *result_type, int target, ptrdiff_t disp,
                      mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win)
{
    return get(result, result_count, result_type, target, disp, count, type, win, NULL);
}

int mca_osc_epwin_rput(const void *origin, mca_osc_epwin_count_t origin_count,
                       ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                       mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win,
                       ompi_request_t **request_p)
{
    *request_p = &ompi_request_empty;
    return mca_osc_epwin_put(origin, origin_count, origin_type, target, disp, count, type, win);
}

int mca_osc_epwin_rget(void *result, mca_osc_epwin_count_t result_count,
                       ompi_datatype_t *result_type, int target, ptrdiff_t disp,
                       mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win,
                       ompi_request_t **request_p)
{
    *request_p = &ompi_request_empty;
    return get(result, result_count, result_type, target, disp, count, type, win, request_p);
}
