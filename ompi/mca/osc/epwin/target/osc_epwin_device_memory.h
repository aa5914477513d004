/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory that may be a device's (GPU): copies, and atomic operations of a target.
 *
 * All copies are Open MPI's own, which look at both addresses: each is of the host or of a device.
 * Any thread: the look gives a thread of the process the context that a copy needs (docs/message.md).
 * A copy is over when it returns.  Where one fails, Open MPI ends the process.
 */

#ifndef MCA_OSC_EPWIN_DEVICE_MEMORY_H
#define MCA_OSC_EPWIN_DEVICE_MEMORY_H

#include "ompi_config.h"

#include "osc_epwin_apply.h"
#include "osc_epwin_walk.h"

BEGIN_C_DECLS

/** Bytes of the elements that are operated on at a time, at most. */
#define EPWIN_DEVICE_PIECE 4096

/** Copy the elements of one layout to another one, run by run.
 * @param[in] to_count  of elements that have as many bytes, or more
 * @return MPI_SUCCESS, MPI_ERR_NO_MEM */
int mca_osc_epwin_device_copy_layout(const void *from, size_t from_count,
                                     const ompi_datatype_t *from_type, void *to, size_t to_count,
                                     const ompi_datatype_t *to_type);

/** mca_osc_epwin_apply_runs, for the holder of the target's accumulate lock.  The elements are
 * copied to the host and back.  @param[in] runs  of EPWIN_DEVICE_PIECE bytes at most */
void mca_osc_epwin_device_apply_runs(const mca_osc_epwin_basic_t *basic, ompi_op_t *op,
                                     char *memory, const mca_osc_epwin_run_t *runs, uint32_t count,
                                     const void *operand, void *result);

/** mca_osc_epwin_apply_swap, likewise.  The operands and the result are in host memory. */
int mca_osc_epwin_device_swap(const void *operand, const void *compare, void *result,
                              const mca_osc_epwin_basic_t *basic, void *target);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_DEVICE_MEMORY_H */
