/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Checks of messages before they are used, and walks over their runs.
 *
 * Layer am only.
 */

#ifndef MCA_OSC_EPWIN_AM_CHECK_H
#define MCA_OSC_EPWIN_AM_CHECK_H

#include "ompi_config.h"

#include "../target/target.h"
#include "osc_epwin_am_wire.h"

BEGIN_C_DECLS

/**
 * Check a message as a whole: sizes, kinds, numbers, and that its runs are in the member's memory
 * (except in a dynamic window).
 *
 * @param[in]  data         aligned to 8 bytes; nobody writes to it
 * @param[out] is_answer_p  its records are for the origin
 * @return false: no correct sender can have sent it
 */
bool mca_osc_epwin_am_check(const mca_osc_epwin_module_t *module, const void *data, size_t size,
                            bool *is_answer_p);

/** The predefined operation and type of a record that has been checked. */
ompi_op_t *mca_osc_epwin_am_op(const epwin_am_record_t *record);
ompi_datatype_t *mca_osc_epwin_am_type(const epwin_am_record_t *record);

/** A place in the runs of a record; all 0 at first. */
typedef struct epwin_am_cursor_t {
    uint32_t run, block; /**< of epwin_am_runs; of its blocks */
    uint32_t in_block;   /**< bytes of it */
    uint32_t done;       /**< bytes of the record */
} epwin_am_cursor_t;

/**
 * The next blocks of a record.
 *
 * @param[out]    runs     of *count_p
 * @param[in,out] count_p  room in runs, at least 2; number of them
 * @param[in]     bytes    at most, at least unit
 * @param[in]     unit     bytes of an element that is not split
 * @return bytes; 0: there are no more
 */
size_t mca_osc_epwin_am_blocks(const epwin_am_record_t *record, epwin_am_cursor_t *cursor,
                               mca_osc_epwin_run_t *runs, uint32_t *count_p, size_t bytes,
                               uint32_t unit);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_AM_CHECK_H */
