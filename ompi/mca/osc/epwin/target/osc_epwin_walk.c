/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The walk over a target's layout, and convertors of the origin's: osc_epwin_walk.h.
 *
 * Open MPI's convertor lists the contiguous blocks of a layout (opal_convertor_raw), for a buffer
 * at an address: here the displacement, as nothing is read there.
 *
 * Called by the layers calls and am.
 *
 * Tests: win_random, win_net, win_counts, win_device
 */

#include "ompi_config.h"

#include "osc_epwin_walk.h"

#include <stdlib.h>
#include <string.h>

int mca_osc_epwin_walk_begin(mca_osc_epwin_walk_t *walk, int64_t at, size_t count,
                             const ompi_datatype_t *type, uint32_t unit)
{
    const opal_datatype_t *layout = &type->super;

    walk->unit = unit;
    walk->next = walk->count = 0;
    walk->is_plain = 0 == count || 0 == layout->size
                     || opal_datatype_is_contiguous_memory_layout(layout, (int32_t) (1 < count) + 1);
    if (walk->is_plain) {
        walk->runs[0] = (struct iovec){
            .iov_base = (void *) (uintptr_t) (at + layout->true_lb),
            .iov_len = layout->size * count};
        walk->count = 0 < walk->runs[0].iov_len ? 1 : 0;
        return MPI_SUCCESS;
    }
    OBJ_CONSTRUCT(&walk->convertor, opal_convertor_t);
    if (OPAL_SUCCESS
        != opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, layout, count,
                                                    (void *) (uintptr_t) at, 0,
                                                    &walk->convertor)) {
        OBJ_DESTRUCT(&walk->convertor);
        return MPI_ERR_NO_MEM;
    }
    return MPI_SUCCESS;
}

/** More runs of the convertor.  @return false: there are none */
static bool walk_refill(mca_osc_epwin_walk_t *walk)
{
    while (walk->next == walk->count) {
        uint32_t count = EPWIN_WALK_RUNS;
        size_t bytes;

        if (walk->is_plain || (walk->convertor.flags & CONVERTOR_COMPLETED)) {
            return false;
        }
        (void) opal_convertor_raw(&walk->convertor, walk->runs, &count, &bytes);
        walk->next = 0;
        walk->count = count;
    }
    return true;
}

/** Append a part of a run, joined with the one before where they are adjacent. */
static void run_append(mca_osc_epwin_run_t *runs, uint32_t *count, int64_t at, size_t size)
{
    mca_osc_epwin_run_t *last = 0 < *count ? &runs[*count - 1] : NULL;

    if (NULL != last && last->at + (int64_t) last->size == at) {
        last->size += size;
    } else {
        runs[*count] = (mca_osc_epwin_run_t){.at = at, .size = size};
        ++*count;
    }
}

size_t mca_osc_epwin_walk_next(mca_osc_epwin_walk_t *walk, mca_osc_epwin_run_t *runs,
                               uint32_t *count_p, size_t bytes)
{
    const uint32_t room = *count_p;
    uint32_t count = 0;
    size_t total = 0;

    bytes -= bytes % walk->unit;
    while (total < bytes && walk_refill(walk)) {
        struct iovec *run = &walk->runs[walk->next];
        const size_t size = run->iov_len < bytes - total ? run->iov_len : bytes - total;

        /* A new element needs room for two runs, the rest of one for one. */
        if (count + (0 == total % walk->unit && 1 < walk->unit ? 2 : 1) > room) {
            break;
        }
        run_append(runs, &count, (int64_t) (uintptr_t) run->iov_base, size);
        total += size;
        run->iov_base = (char *) run->iov_base + size;
        run->iov_len -= size;
        walk->next += 0 == run->iov_len;
    }
    *count_p = count;
    return total;
}

void mca_osc_epwin_walk_end(mca_osc_epwin_walk_t *walk)
{
    if (!walk->is_plain) {
        OBJ_DESTRUCT(&walk->convertor);
    }
}

/* ---- the origin's side ------------------------------------------------------------------------ */

void mca_osc_epwin_device_copy(void *to, const void *from, size_t bytes)
{
    (void) ompi_datatype_copy_content_same_ddt(&ompi_mpi_byte.dt, bytes, to,
                                               (char *) (uintptr_t) from);
}

/** A buffer that may be in device memory: its runs are copied one by one. */
static int pack_begin_device(mca_osc_epwin_pack_t *pack, const void *buffer, size_t count,
                             const ompi_datatype_t *type)
{
    int rc;

    pack->device = malloc(sizeof(*pack->device));
    if (NULL == pack->device) {
        return MPI_ERR_NO_MEM;
    }
    rc = mca_osc_epwin_walk_begin(pack->device, (intptr_t) buffer, count, type, 1);
    if (MPI_SUCCESS != rc) {
        free(pack->device);
    }
    return rc;
}

/** The next bytes of it.  @param[in] from  packed bytes; NULL: pack to to */
static void pack_device(mca_osc_epwin_pack_t *pack, char *to, const char *from, size_t bytes)
{
    mca_osc_epwin_run_t runs[EPWIN_WALK_RUNS];
    size_t had;

    do {
        uint32_t count = EPWIN_WALK_RUNS;

        had = mca_osc_epwin_walk_next(pack->device, runs, &count, bytes);
        bytes -= had;
        for (uint32_t i = 0; i < count; ++i) {
            void *at = (void *) (intptr_t) runs[i].at;

            if (NULL == from) {
                mca_osc_epwin_device_copy(to, at, runs[i].size);
                to += runs[i].size;
            } else {
                mca_osc_epwin_device_copy(at, from, runs[i].size);
                from += runs[i].size;
            }
        }
    } while (0 < had && 0 < bytes);
}

int mca_osc_epwin_pack_begin(mca_osc_epwin_pack_t *pack, const void *buffer, size_t count,
                             const ompi_datatype_t *type, bool on_device)
{
    if (OPAL_UNLIKELY(on_device)) {
        return pack_begin_device(pack, buffer, count, type);
    }
    pack->device = NULL;
    pack->carry_next = pack->carry_end = 0;
    OBJ_CONSTRUCT(&pack->convertor, opal_convertor_t);
    if (OPAL_SUCCESS
        != opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &type->super, count,
                                                    buffer, 0, &pack->convertor)) {
        OBJ_DESTRUCT(&pack->convertor);
        return MPI_ERR_NO_MEM;
    }
    return MPI_SUCCESS;
}

int mca_osc_epwin_unpack_begin(mca_osc_epwin_pack_t *pack, void *buffer, size_t count,
                               const ompi_datatype_t *type, bool on_device)
{
    if (OPAL_UNLIKELY(on_device)) {
        return pack_begin_device(pack, buffer, count, type);
    }
    pack->device = NULL;
    OBJ_CONSTRUCT(&pack->convertor, opal_convertor_t);
    if (OPAL_SUCCESS
        != opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &type->super, count,
                                                    buffer, 0, &pack->convertor)) {
        OBJ_DESTRUCT(&pack->convertor);
        return MPI_ERR_NO_MEM;
    }
    return MPI_SUCCESS;
}

/** Whole elements, at most so many bytes.  @return bytes */
static size_t pack_elements(mca_osc_epwin_pack_t *pack, void *to, size_t bytes)
{
    struct iovec piece = {.iov_base = to, .iov_len = bytes};
    uint32_t pieces = 1;
    size_t packed = bytes;

    if (pack->convertor.flags & CONVERTOR_COMPLETED) {
        return 0;
    }
    (void) opal_convertor_pack(&pack->convertor, &piece, &pieces, &packed);
    return packed;
}

/** Bytes that the last call has carried over.  @return bytes */
static size_t pack_carried(mca_osc_epwin_pack_t *pack, void *to, size_t bytes)
{
    const uint32_t carried = pack->carry_end - pack->carry_next;
    const size_t size = carried < bytes ? carried : bytes;

    memcpy(to, pack->carry + pack->carry_next, size);
    pack->carry_next += (uint32_t) size;
    return size;
}

void mca_osc_epwin_pack_next(mca_osc_epwin_pack_t *pack, void *to, size_t bytes)
{
    char *at = to;
    size_t done;

    if (OPAL_UNLIKELY(NULL != pack->device)) {
        pack_device(pack, to, NULL, bytes);
        return;
    }
    done = OPAL_UNLIKELY(pack->carry_next < pack->carry_end) ? pack_carried(pack, at, bytes) : 0;

    if (done < bytes) {
        done += pack_elements(pack, at + done, bytes - done);
    }
    if (OPAL_UNLIKELY(done < bytes)) { /* less than an element of it */
        pack->carry_next = 0;
        pack->carry_end = (uint32_t) pack_elements(pack, pack->carry, sizeof(pack->carry));
        (void) pack_carried(pack, at + done, bytes - done);
    }
}

void mca_osc_epwin_unpack_next(mca_osc_epwin_pack_t *pack, const void *from, size_t bytes)
{
    struct iovec piece = {.iov_base = (void *) (uintptr_t) from, .iov_len = bytes};
    uint32_t pieces = 1;
    size_t unpacked = bytes;

    if (OPAL_UNLIKELY(NULL != pack->device)) {
        pack_device(pack, NULL, from, bytes);
        return;
    }
    (void) opal_convertor_unpack(&pack->convertor, &piece, &pieces, &unpacked);
}

void mca_osc_epwin_pack_end(mca_osc_epwin_pack_t *pack)
{
    if (OPAL_UNLIKELY(NULL != pack->device)) {
        mca_osc_epwin_walk_end(pack->device);
        free(pack->device);
    } else {
        OBJ_DESTRUCT(&pack->convertor);
    }
}
