/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory that may be a device's: osc_epwin_device_memory.h.
 *
 * Called by the layers calls and am.
 *
 * Tests: win_device, win_random
 */

#include "ompi_config.h"

#include "osc_epwin_device_memory.h"

int mca_osc_epwin_device_copy_layout(const void *from, size_t from_count,
                                     const ompi_datatype_t *from_type, void *to, size_t to_count,
                                     const ompi_datatype_t *to_type)
{
    mca_osc_epwin_run_t runs[EPWIN_WALK_RUNS];
    uint32_t count = EPWIN_WALK_RUNS;
    mca_osc_epwin_walk_t walk;
    mca_osc_epwin_pack_t unpack;
    int rc = mca_osc_epwin_unpack_begin(&unpack, to, to_count, to_type, true);

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    rc = mca_osc_epwin_walk_begin(&walk, (intptr_t) from, from_count, from_type, 1);
    if (MPI_SUCCESS == rc) {
        while (0 < mca_osc_epwin_walk_next(&walk, runs, &count, SIZE_MAX)) {
            for (uint32_t i = 0; i < count; ++i) {
                mca_osc_epwin_unpack_next(&unpack, (const void *) (intptr_t) runs[i].at,
                                          runs[i].size);
            }
            count = EPWIN_WALK_RUNS;
        }
        mca_osc_epwin_walk_end(&walk);
    }
    mca_osc_epwin_pack_end(&unpack);
    return rc;
}

/** Copy all runs to packed elements, or back.  @return bytes */
static size_t runs_copy(char *memory, const mca_osc_epwin_run_t *runs, uint32_t count, char *packed,
                        bool back)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < count; ++i) {
        char *at = memory + runs[i].at;

        mca_osc_epwin_device_copy(back ? at : packed + bytes, back ? packed + bytes : at,
                                  runs[i].size);
        bytes += runs[i].size;
    }
    return bytes;
}

void mca_osc_epwin_device_apply_runs(const mca_osc_epwin_basic_t *basic, ompi_op_t *op,
                                     char *memory, const mca_osc_epwin_run_t *runs, uint32_t count,
                                     const void *operand, void *result)
{
    alignas(EPWIN_ELEMENT_MAX) char elements[EPWIN_DEVICE_PIECE];
    const size_t bytes = runs_copy(memory, runs, count, elements, false);

    mca_osc_epwin_apply(basic, op, elements, operand, result, bytes / basic->size);
    if (OMPI_OP_BASE_FORTRAN_NO_OP != op->o_f_to_c_index) {
        (void) runs_copy(memory, runs, count, elements, true);
    }
}

int mca_osc_epwin_device_swap(const void *operand, const void *compare, void *result,
                              const mca_osc_epwin_basic_t *basic, void *target)
{
    alignas(EPWIN_ELEMENT_MAX) char element[EPWIN_ELEMENT_MAX];

    mca_osc_epwin_device_copy(element, target, basic->size);
    (void) mca_osc_epwin_apply_swap(operand, compare, result, basic, element);
    mca_osc_epwin_device_copy(target, element, basic->size);
    return MPI_SUCCESS;
}
