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
 * Tests: win_random, win_net, win_errors, win_counts, win_device
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

/** Are both layouts without gaps?  (They are of one size, or the target's is larger.) */
static inline bool data_are_plain(const ompi_datatype_t *one_type,
                                  const ompi_datatype_t *other_type)
{
    return mca_osc_epwin_is_plain(one_type) && mca_osc_epwin_is_plain(other_type);
}

/** In a dynamic window the kernel copies data that are so many times as long: three copies more read
 * what is attached, 6 microseconds on a virtual machine. */
#define EPWIN_DYNAMIC_COPY 4

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
    const bool is_dynamic = MPI_WIN_FLAVOR_DYNAMIC == module->flavor;
    const size_t limit = mca_osc_epwin_component.copy_limit * (is_dynamic ? EPWIN_DYNAMIC_COPY : 1);
    uintptr_t remote = (uintptr_t) (place->at + place->type->super.true_lb);

    /* Far ones: the target's lock may be requested, but not held yet. */
    if (EPWIN_WAY_COPY != peer->way || !mca_osc_epwin_is_near(module, place->target) || 0 == limit
        || user->on_device || bytes < limit || bytes != user->type->super.size * user->count) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    for (int i = 0; i < 2; ++i) {
        if (!opal_datatype_is_contiguous_memory_layout(&types[i]->super, 1 < counts[i] ? 2 : 1)) {
            return MPI_ERR_UNSUPPORTED_OPERATION;
        }
    }
    if (!is_dynamic) {
        remote += (uintptr_t) peer->base;
    } else if (!mca_osc_epwin_regions_have_far(module, place->target, remote, bytes)) {
        return MPI_ERR_UNSUPPORTED_OPERATION; /* the target tells the error, if it is one */
    }
    return mca_osc_epwin_component.engine->memory_copy(module->comm, place->target,
                                                       (char *) user->address
                                                           + user->type->super.true_lb,
                                                       remote, bytes, is_put);
}

/** Is it a word, of one predefined type at origin and target? */
static inline bool data_is_word(const ompi_datatype_t *type, size_t bytes,
                                const ompi_datatype_t *other_type)
{
    return type == other_type && mca_osc_epwin_is_plain(type) && (8 == bytes || 4 == bytes);
}

int mca_osc_epwin_put_buffer(mca_osc_epwin_module_t *module, const mca_osc_epwin_buffer_t *origin,
                             int target, ptrdiff_t disp, size_t count, ompi_datatype_t *type,
                             bool may_defer)
{
    const size_t bytes = origin->type->super.size * origin->count;
    mca_osc_epwin_place_t place;
    int rc = mca_osc_epwin_place_check(module, target, disp, count, type, &place);
    char *to;

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    if (bytes > type->super.size * place.count) {
        return MPI_ERR_TRUNCATE;
    }
    if (EPWIN_WAY_MESSAGE <= module->peers[target].way) {
        return MPI_SUCCESS == data_copy_between(module, origin, &place, true)
                   ? MPI_SUCCESS
                   : mca_osc_epwin_am_put(module, origin, &place, may_defer);
    }
    mca_osc_epwin_is_dirty = true;
    to = mca_osc_epwin_memory(module, target) + place.at;
    if (OPAL_UNLIKELY(origin->on_device || place.on_device)) {
        return mca_osc_epwin_device_copy_layout(origin->address, origin->count, origin->type, to,
                                                count, type);
    }
    if (data_are_plain(origin->type, type)) {
        data_copy(to, origin->address, bytes);
        return MPI_SUCCESS;
    }
    return ompi_datatype_sndrcv(origin->address, (mca_osc_epwin_count_t) origin->count,
                                origin->type, to, (mca_osc_epwin_count_t) count, type);
}

/** MPI_Put and MPI_Rput, all cases. */
static inline int put_all(const void *origin, mca_osc_epwin_count_t origin_count,
                          ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                          mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win,
                          bool may_defer)
{
    return mca_osc_epwin_put_buffer(mca_osc_epwin_module(win),
                                    &(mca_osc_epwin_buffer_t){
                                        .address = (void *) (uintptr_t) origin,
                                        .count = (size_t) origin_count,
                                        .type = origin_type},
                                    target, disp, (size_t) count, type, may_defer);
}

/** MPI_Put but for its fast path.  It has the parameters of the caller, which ends with a jump. */
static __attribute__((noinline)) int put_any(const void *origin, mca_osc_epwin_count_t origin_count,
                                             ompi_datatype_t *origin_type, int target,
                                             ptrdiff_t disp, mca_osc_epwin_count_t count,
                                             ompi_datatype_t *type, ompi_win_t *win)
{
    return put_all(origin, origin_count, origin_type, target, disp, count, type, win, true);
}

int mca_osc_epwin_put(const void *origin, mca_osc_epwin_count_t origin_count,
                      ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                      mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    const size_t bytes = type->super.size * (size_t) count;
    char *to;

    if (OPAL_LIKELY(data_is_word(type, bytes, origin_type) && origin_count == count
                    && NULL != (to = mca_osc_epwin_fast_address(module, target, disp, bytes)))) {
        mca_osc_epwin_is_dirty = true;
        data_copy(to, origin, bytes);
        return MPI_SUCCESS;
    }
    return put_any(origin, origin_count, origin_type, target, disp, count, type, win);
}

int mca_osc_epwin_get_buffer(mca_osc_epwin_module_t *module, const mca_osc_epwin_buffer_t *result,
                             int target, ptrdiff_t disp, size_t count, ompi_datatype_t *type,
                             ompi_request_t **request_p)
{
    mca_osc_epwin_place_t place;
    int rc = mca_osc_epwin_place_check(module, target, disp, count, type, &place);
    const size_t bytes = type->super.size * place.count;
    char *from;

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    if (bytes > result->type->super.size * result->count) {
        return MPI_ERR_TRUNCATE;
    }
    if (EPWIN_WAY_MESSAGE <= module->peers[target].way) {
        return MPI_SUCCESS == data_copy_between(module, result, &place, false)
                   ? MPI_SUCCESS
                   : mca_osc_epwin_am_get(module, result, &place, request_p);
    }
    from = mca_osc_epwin_memory(module, target) + place.at;
    if (OPAL_UNLIKELY(result->on_device || place.on_device)) {
        return mca_osc_epwin_device_copy_layout(from, count, type, result->address, result->count,
                                                result->type);
    }
    if (data_are_plain(result->type, type)) {
        data_copy(result->address, from, bytes);
        return MPI_SUCCESS;
    }
    return ompi_datatype_sndrcv(from, (mca_osc_epwin_count_t) count, type, result->address,
                                (mca_osc_epwin_count_t) result->count, result->type);
}

/** MPI_Get and MPI_Rget, all cases.
 * @param[out] request_p  NULL, or set if the result is not there yet */
static __attribute__((noinline)) int get_any(void *result, mca_osc_epwin_count_t result_count,
                                             ompi_datatype_t *result_type, int target,
                                             ptrdiff_t disp, mca_osc_epwin_count_t count,
                                             ompi_datatype_t *type, ompi_win_t *win,
                                             ompi_request_t **request_p)
{
    return mca_osc_epwin_get_buffer(mca_osc_epwin_module(win),
                                    &(mca_osc_epwin_buffer_t){.address = result,
                                                              .count = (size_t) result_count,
                                                              .type = result_type},
                                    target, disp, (size_t) count, type, request_p);
}

int mca_osc_epwin_get(void *result, mca_osc_epwin_count_t result_count,
                      ompi_datatype_t *result_type, int target, ptrdiff_t disp,
                      mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win)
{
    const size_t bytes = type->super.size * (size_t) count;
    const char *from;

    if (OPAL_LIKELY(data_is_word(type, bytes, result_type) && result_count == count
                    && NULL
                           != (from = mca_osc_epwin_fast_address(mca_osc_epwin_module(win), target,
                                                                 disp, bytes)))) {
        data_copy(result, from, bytes);
        return MPI_SUCCESS;
    }
    return get_any(result, result_count, result_type, target, disp, count, type, win, NULL);
}

int mca_osc_epwin_rput(const void *origin, mca_osc_epwin_count_t origin_count,
                       ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                       mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win,
                       ompi_request_t **request_p)
{
    *request_p = &ompi_request_empty;
    return put_all(origin, origin_count, origin_type, target, disp, count, type, win, false);
}

int mca_osc_epwin_rget(void *result, mca_osc_epwin_count_t result_count,
                       ompi_datatype_t *result_type, int target, ptrdiff_t disp,
                       mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win,
                       ompi_request_t **request_p)
{
    *request_p = &ompi_request_empty;
    return get_any(result, result_count, result_type, target, disp, count, type, win, request_p);
}
