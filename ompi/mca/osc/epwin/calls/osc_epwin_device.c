/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Device memory in operations on windows: an error in place of a crash, as all copies are the CPU's.
 *
 * Where Open MPI has selected an accelerator component, windows get these functions in place of
 * those with the same names.  They check the origin's buffers.  The target's memory has been checked
 * when it became a window's (create/).
 *
 * Called by libmpi.
 *
 * Tests: win_device
 */

#include "ompi_config.h"

#include "osc_epwin_calls.h"

/** Is a buffer in device memory?  Then the user is told so, once. */
static bool device_is(const ompi_win_t *win, const void *buffer, mca_osc_epwin_count_t count,
                      const ompi_datatype_t *type, const char *what)
{
    const mpix_endpoints_engine_t *engine = mca_osc_epwin_component.engine;
    const ompi_communicator_t *comm = mca_osc_epwin_module(win)->comm;

    if (!engine->is_device(comm, buffer, (size_t) count, type)) {
        return false;
    }
    (void) engine->refuse_device(comm, what);
    return true;
}

static bool operand_is_device(const ompi_win_t *win, const void *origin,
                              mca_osc_epwin_count_t count, const ompi_datatype_t *type,
                              const ompi_op_t *op, const char *what)
{
    return &ompi_mpi_op_no_op.op != op && device_is(win, origin, count, type, what);
}

static int checked_put(const void *origin, mca_osc_epwin_count_t origin_count,
                       ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                       mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win)
{
    return device_is(win, origin, origin_count, origin_type, "MPI_Put")
               ? MPI_ERR_BUFFER
               : mca_osc_epwin_put(origin, origin_count, origin_type, target, disp, count, type,
                                   win);
}

static int checked_get(void *result, mca_osc_epwin_count_t result_count,
                       ompi_datatype_t *result_type, int target, ptrdiff_t disp,
                       mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win)
{
    return device_is(win, result, result_count, result_type, "MPI_Get")
               ? MPI_ERR_BUFFER
               : mca_osc_epwin_get(result, result_count, result_type, target, disp, count, type,
                                   win);
}

static int checked_accumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                              ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                              mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_op_t *op,
                              ompi_win_t *win)
{
    return operand_is_device(win, origin, origin_count, origin_type, op, "MPI_Accumulate")
               ? MPI_ERR_BUFFER
               : mca_osc_epwin_accumulate(origin, origin_count, origin_type, target, disp, count,
                                          type, op, win);
}

static int checked_get_accumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                                  ompi_datatype_t *origin_type, void *result,
                                  mca_osc_epwin_count_t result_count, ompi_datatype_t *result_type,
                                  int target, ptrdiff_t disp, mca_osc_epwin_count_t count,
                                  ompi_datatype_t *type, ompi_op_t *op, ompi_win_t *win)
{
    static const char what[] = "MPI_Get_accumulate";

    return operand_is_device(win, origin, origin_count, origin_type, op, what)
                   || device_is(win, result, result_count, result_type, what)
               ? MPI_ERR_BUFFER
               : mca_osc_epwin_get_accumulate(origin, origin_count, origin_type, result,
                                              result_count, result_type, target, disp, count, type,
                                              op, win);
}

static int checked_fetch_and_op(const void *origin, void *result, ompi_datatype_t *type, int target,
                                ptrdiff_t disp, ompi_op_t *op, ompi_win_t *win)
{
    static const char what[] = "MPI_Fetch_and_op";

    return operand_is_device(win, origin, 1, type, op, what)
                   || device_is(win, result, 1, type, what)
               ? MPI_ERR_BUFFER
               : mca_osc_epwin_fetch_and_op(origin, result, type, target, disp, op, win);
}

static int checked_compare_and_swap(const void *origin, const void *compare, void *result,
                                    ompi_datatype_t *type, int target, ptrdiff_t disp,
                                    ompi_win_t *win)
{
    static const char what[] = "MPI_Compare_and_swap";

    return device_is(win, origin, 1, type, what) || device_is(win, compare, 1, type, what)
                   || device_is(win, result, 1, type, what)
               ? MPI_ERR_BUFFER
               : mca_osc_epwin_compare_and_swap(origin, compare, result, type, target, disp, win);
}

static int checked_rput(const void *origin, mca_osc_epwin_count_t origin_count,
                        ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                        mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win,
                        ompi_request_t **request_p)
{
    return device_is(win, origin, origin_count, origin_type, "MPI_Rput")
               ? MPI_ERR_BUFFER
               : mca_osc_epwin_rput(origin, origin_count, origin_type, target, disp, count, type,
                                    win, request_p);
}

static int checked_rget(void *result, mca_osc_epwin_count_t result_count,
                        ompi_datatype_t *result_type, int target, ptrdiff_t disp,
                        mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win,
                        ompi_request_t **request_p)
{
    return device_is(win, result, result_count, result_type, "MPI_Rget")
               ? MPI_ERR_BUFFER
               : mca_osc_epwin_rget(result, result_count, result_type, target, disp, count, type,
                                    win, request_p);
}

static int checked_raccumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                               ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                               mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_op_t *op,
                               ompi_win_t *win, ompi_request_t **request_p)
{
    return operand_is_device(win, origin, origin_count, origin_type, op, "MPI_Raccumulate")
               ? MPI_ERR_BUFFER
               : mca_osc_epwin_raccumulate(origin, origin_count, origin_type, target, disp, count,
                                           type, op, win, request_p);
}

static int checked_rget_accumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                                   ompi_datatype_t *origin_type, void *result,
                                   mca_osc_epwin_count_t result_count,
                                   ompi_datatype_t *result_type, int target, ptrdiff_t disp,
                                   mca_osc_epwin_count_t count, ompi_datatype_t *type,
                                   ompi_op_t *op, ompi_win_t *win, ompi_request_t **request_p)
{
    static const char what[] = "MPI_Rget_accumulate";

    return operand_is_device(win, origin, origin_count, origin_type, op, what)
                   || device_is(win, result, result_count, result_type, what)
               ? MPI_ERR_BUFFER
               : mca_osc_epwin_rget_accumulate(origin, origin_count, origin_type, result,
                                               result_count, result_type, target, disp, count,
                                               type, op, win, request_p);
}

void mca_osc_epwin_device_install(ompi_osc_base_module_t *functions)
{
    functions->osc_put = checked_put;
    functions->osc_get = checked_get;
    functions->osc_accumulate = checked_accumulate;
    functions->osc_get_accumulate = checked_get_accumulate;
    functions->osc_fetch_and_op = checked_fetch_and_op;
    functions->osc_compare_and_swap = checked_compare_and_swap;
    functions->osc_rput = checked_rput;
    functions->osc_rget = checked_rget;
    functions->osc_raccumulate = checked_raccumulate;
    functions->osc_rget_accumulate = checked_rget_accumulate;
}
