/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Device memory (GPUs) in the buffers of operations on windows.
 *
 * Where Open MPI has selected an accelerator component, windows get these functions in place of
 * those with the same names.  They look at the origin's buffers.  If none is in device memory, the
 * usual function goes on.  Otherwise the layers below know which one is, and copy its bytes by the
 * accelerator.  The target's memory has been looked at when the window was created
 * (EPWIN_WAY_DEVICE); in a dynamic window it is by each operation.
 *
 * Called by libmpi.
 *
 * Tests: win_device, win_random
 */

#include "ompi_config.h"

#include "osc_epwin_calls.h"

#include "../target/target.h"

/** A buffer, and whether it is in device memory. */
static mca_osc_epwin_buffer_t device_buffer(const ompi_win_t *win, const void *address,
                                            mca_osc_epwin_count_t count, ompi_datatype_t *type)
{
    return (mca_osc_epwin_buffer_t){
        .address = (void *) (uintptr_t) address,
        .count = (size_t) count,
        .type = type,
        .on_device = mca_osc_epwin_component.engine->is_device(mca_osc_epwin_module(win)->comm,
                                                               address, (size_t) count, type)};
}

/** The same of an operand.  @return no buffer: MPI_NO_OP has none */
static mca_osc_epwin_buffer_t device_operand(const ompi_win_t *win, const void *address,
                                             mca_osc_epwin_count_t count, ompi_datatype_t *type,
                                             const ompi_op_t *op)
{
    return &ompi_mpi_op_no_op.op == op ? (mca_osc_epwin_buffer_t){.type = NULL}
                                       : device_buffer(win, address, count, type);
}

static const mca_osc_epwin_buffer_t *device_or_none(const mca_osc_epwin_buffer_t *buffer)
{
    return NULL == buffer->type ? NULL : buffer;
}

/* ---- put, get --------------------------------------------------------------------------------- */

static int device_put(const void *origin, mca_osc_epwin_count_t origin_count,
                      ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                      mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win)
{
    const mca_osc_epwin_buffer_t from = device_buffer(win, origin, origin_count, origin_type);

    return from.on_device ? mca_osc_epwin_put_buffer(mca_osc_epwin_module(win), &from, target, disp,
                                                     (size_t) count, type, true)
                          : mca_osc_epwin_put(origin, origin_count, origin_type, target, disp,
                                              count, type, win);
}

static int device_rput(const void *origin, mca_osc_epwin_count_t origin_count,
                       ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                       mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win,
                       ompi_request_t **request_p)
{
    const mca_osc_epwin_buffer_t from = device_buffer(win, origin, origin_count, origin_type);

    if (!from.on_device) {
        return mca_osc_epwin_rput(origin, origin_count, origin_type, target, disp, count, type, win,
                                  request_p);
    }
    *request_p = &ompi_request_empty;
    return mca_osc_epwin_put_buffer(mca_osc_epwin_module(win), &from, target, disp, (size_t) count,
                                    type, false);
}

static int device_get(void *result, mca_osc_epwin_count_t result_count,
                      ompi_datatype_t *result_type, int target, ptrdiff_t disp,
                      mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win)
{
    const mca_osc_epwin_buffer_t to = device_buffer(win, result, result_count, result_type);

    return to.on_device ? mca_osc_epwin_get_buffer(mca_osc_epwin_module(win), &to, target, disp,
                                                   (size_t) count, type, NULL)
                        : mca_osc_epwin_get(result, result_count, result_type, target, disp, count,
                                            type, win);
}

static int device_rget(void *result, mca_osc_epwin_count_t result_count,
                       ompi_datatype_t *result_type, int target, ptrdiff_t disp,
                       mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win,
                       ompi_request_t **request_p)
{
    const mca_osc_epwin_buffer_t to = device_buffer(win, result, result_count, result_type);

    *request_p = &ompi_request_empty;
    return mca_osc_epwin_get_buffer(mca_osc_epwin_module(win), &to, target, disp, (size_t) count,
                                    type, request_p);
}

/* ---- accumulates ------------------------------------------------------------------------------ */

static int device_accumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                             ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                             mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_op_t *op,
                             ompi_win_t *win)
{
    const mca_osc_epwin_buffer_t from = device_operand(win, origin, origin_count, origin_type, op);

    return from.on_device
               ? mca_osc_epwin_accumulate_buffer(mca_osc_epwin_module(win), &from, NULL, target,
                                                 disp, (size_t) count, type, op, NULL)
               : mca_osc_epwin_accumulate(origin, origin_count, origin_type, target, disp, count,
                                          type, op, win);
}

static int device_raccumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                              ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                              mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_op_t *op,
                              ompi_win_t *win, ompi_request_t **request_p)
{
    *request_p = &ompi_request_empty;
    return device_accumulate(origin, origin_count, origin_type, target, disp, count, type, op, win);
}

/** @param[out] request_p  NULL, or of a request form */
static int device_fetch(const void *origin, mca_osc_epwin_count_t origin_count,
                        ompi_datatype_t *origin_type, void *result,
                        mca_osc_epwin_count_t result_count, ompi_datatype_t *result_type,
                        int target, ptrdiff_t disp, mca_osc_epwin_count_t count,
                        ompi_datatype_t *type, ompi_op_t *op, ompi_win_t *win,
                        ompi_request_t **request_p)
{
    const mca_osc_epwin_buffer_t from = device_operand(win, origin, origin_count, origin_type, op),
                                 to = device_buffer(win, result, result_count, result_type);

    return mca_osc_epwin_accumulate_buffer(mca_osc_epwin_module(win), device_or_none(&from), &to,
                                           target, disp, (size_t) count, type, op, request_p);
}

static int device_get_accumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                                 ompi_datatype_t *origin_type, void *result,
                                 mca_osc_epwin_count_t result_count, ompi_datatype_t *result_type,
                                 int target, ptrdiff_t disp, mca_osc_epwin_count_t count,
                                 ompi_datatype_t *type, ompi_op_t *op, ompi_win_t *win)
{
    return device_fetch(origin, origin_count, origin_type, result, result_count, result_type,
                        target, disp, count, type, op, win, NULL);
}

static int device_rget_accumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                                  ompi_datatype_t *origin_type, void *result,
                                  mca_osc_epwin_count_t result_count, ompi_datatype_t *result_type,
                                  int target, ptrdiff_t disp, mca_osc_epwin_count_t count,
                                  ompi_datatype_t *type, ompi_op_t *op, ompi_win_t *win,
                                  ompi_request_t **request_p)
{
    *request_p = &ompi_request_empty;
    return device_fetch(origin, origin_count, origin_type, result, result_count, result_type,
                        target, disp, count, type, op, win, request_p);
}

static int device_fetch_and_op(const void *origin, void *result, ompi_datatype_t *type, int target,
                               ptrdiff_t disp, ompi_op_t *op, ompi_win_t *win)
{
    const mca_osc_epwin_buffer_t from = device_operand(win, origin, 1, type, op),
                                 to = device_buffer(win, result, 1, type);

    if (!from.on_device && !to.on_device) {
        return mca_osc_epwin_fetch_and_op(origin, result, type, target, disp, op, win);
    }
    if (!ompi_datatype_is_predefined(type)) {
        return MPI_ERR_TYPE;
    }
    return mca_osc_epwin_accumulate_buffer(mca_osc_epwin_module(win), device_or_none(&from), &to,
                                           target, disp, 1, type, op, NULL);
}

static int device_compare_and_swap(const void *origin, const void *compare, void *result,
                                   ompi_datatype_t *type, int target, ptrdiff_t disp,
                                   ompi_win_t *win)
{
    const mca_osc_epwin_buffer_t from = device_buffer(win, origin, 1, type),
                                 with = device_buffer(win, compare, 1, type),
                                 to = device_buffer(win, result, 1, type);
    char operands[2][EPWIN_ELEMENT_MAX];

    if (!from.on_device && !with.on_device && !to.on_device) {
        return mca_osc_epwin_compare_and_swap(origin, compare, result, type, target, disp, win);
    }
    if (!ompi_datatype_is_predefined(type)) {
        return MPI_ERR_TYPE;
    }
    mca_osc_epwin_device_copy(operands[0], origin, type->super.size);
    mca_osc_epwin_device_copy(operands[1], compare, type->super.size);
    return mca_osc_epwin_swap_buffer(mca_osc_epwin_module(win), operands[0], operands[1], &to,
                                     target, disp);
}

void mca_osc_epwin_device_install(ompi_osc_base_module_t *functions)
{
    functions->osc_put = device_put;
    functions->osc_get = device_get;
    functions->osc_accumulate = device_accumulate;
    functions->osc_get_accumulate = device_get_accumulate;
    functions->osc_fetch_and_op = device_fetch_and_op;
    functions->osc_compare_and_swap = device_compare_and_swap;
    functions->osc_rput = device_rput;
    functions->osc_rget = device_rget;
    functions->osc_raccumulate = device_raccumulate;
    functions->osc_rget_accumulate = device_rget_accumulate;
}
