/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A walk over the target's layout of an operation, in pieces: each piece is a list of contiguous
 * runs.  The origin's side of an operation is packed or unpacked piece by piece with a convertor.
 * Accumulates in mapped memory and all messages use it.
 */

#ifndef MCA_OSC_EPWIN_WALK_H
#define MCA_OSC_EPWIN_WALK_H

#include "ompi_config.h"

#include "../base/base.h"

#include "osc_epwin_range.h"

#include "opal/datatype/opal_convertor.h"

#include <sys/uio.h>

BEGIN_C_DECLS

/** Contiguous bytes of a target. */
typedef struct mca_osc_epwin_run_t {
    int64_t at;    /**< byte displacement in the target's memory; an address in a dynamic window */
    uint64_t size; /**< bytes */
} mca_osc_epwin_run_t;

/** Runs that a walk asks of Open MPI's convertor at a time. */
#define EPWIN_WALK_RUNS 16

typedef struct mca_osc_epwin_walk_t {
    opal_convertor_t convertor; /**< of the target's layout; not of a plain one */
    struct iovec runs[EPWIN_WALK_RUNS];
    uint32_t next, count; /**< of runs: those that no piece has had */
    uint32_t unit;        /**< pieces end at multiples of this many bytes */
    bool is_plain;        /**< one run: no convertor */
} mca_osc_epwin_walk_t;

/**
 * @param[in] at     byte displacement of the buffer in the target's memory
 * @param[in] unit   bytes of a basic element, which no piece splits; 1: split anywhere.  (An
 *                   element may have two runs: MPI_SHORT_INT)
 * @return MPI_SUCCESS, MPI_ERR_NO_MEM
 */
int mca_osc_epwin_walk_begin(mca_osc_epwin_walk_t *walk, int64_t at, size_t count,
                             const ompi_datatype_t *type, uint32_t unit);

/**
 * The next piece.
 *
 * @param[out]    runs     of *count_p
 * @param[in,out] count_p  room in runs, at least 2; number of them
 * @param[in]     bytes    at most, at least unit
 * @return bytes of the piece; 0: there are no more
 */
size_t mca_osc_epwin_walk_next(mca_osc_epwin_walk_t *walk, mca_osc_epwin_run_t *runs,
                               uint32_t *count_p, size_t bytes);

void mca_osc_epwin_walk_end(mca_osc_epwin_walk_t *walk);

/** Bytes of the largest predefined element, with padding. */
#define EPWIN_ELEMENT_MAX 32

/** The origin's side: packs from, or unpacks into, a buffer of the user, any number of bytes at a
 * time.  (Open MPI's convertor packs whole elements only.) */
typedef struct mca_osc_epwin_pack_t {
    mca_osc_epwin_walk_t
        *device; /**< NULL; or in place of what follows: of memory that may be a device's */
    opal_convertor_t convertor;
    unsigned char carry[EPWIN_ELEMENT_MAX]; /**< packed, for the next call */
    uint32_t carry_next, carry_end;
} mca_osc_epwin_pack_t;

/** @param[in] on_device  the buffer may be in device memory
 * @return MPI_SUCCESS, MPI_ERR_NO_MEM */
int mca_osc_epwin_pack_begin(mca_osc_epwin_pack_t *pack, const void *buffer, size_t count,
                             const ompi_datatype_t *type, bool on_device);
int mca_osc_epwin_unpack_begin(mca_osc_epwin_pack_t *pack, void *buffer, size_t count,
                               const ompi_datatype_t *type, bool on_device);

/** The next bytes of it: as many as there are, at most. */
void mca_osc_epwin_pack_next(mca_osc_epwin_pack_t *pack, void *to, size_t bytes);
void mca_osc_epwin_unpack_next(mca_osc_epwin_pack_t *pack, const void *from, size_t bytes);

/** End of either. */
void mca_osc_epwin_pack_end(mca_osc_epwin_pack_t *pack);

/** Copy bytes between host memory and device memory, or within either.  Any thread. */
void mca_osc_epwin_device_copy(void *to, const void *from, size_t bytes);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_WALK_H */
