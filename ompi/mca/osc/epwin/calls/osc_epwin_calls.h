/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Operations of windows, as libmpi calls them: functions of the module's table
 * (ompi_osc_base_module_t), by the thread of the handle.  All return MPI_SUCCESS or an error class:
 * MPI_ERR_RMA_SYNC outside an access epoch that has the target, MPI_ERR_RMA_RANGE, MPI_ERR_TYPE,
 * MPI_ERR_OP, MPI_ERR_TRUNCATE, MPI_ERR_NO_MEM, MPI_ERR_PROC_FAILED.
 *
 * Requests: a put or accumulate is complete at the origin on return.  So is a get in mapped memory;
 * one by messages has a request of the engine.
 */

#ifndef MCA_OSC_EPWIN_CALLS_H
#define MCA_OSC_EPWIN_CALLS_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

int mca_osc_epwin_put(const void *origin, mca_osc_epwin_count_t origin_count,
                      ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                      mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win);

int mca_osc_epwin_get(void *result, mca_osc_epwin_count_t result_count,
                      ompi_datatype_t *result_type, int target, ptrdiff_t disp,
                      mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win);

int mca_osc_epwin_accumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                             ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                             mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_op_t *op,
                             ompi_win_t *win);

int mca_osc_epwin_get_accumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                                 ompi_datatype_t *origin_type, void *result,
                                 mca_osc_epwin_count_t result_count, ompi_datatype_t *result_type,
                                 int target, ptrdiff_t disp, mca_osc_epwin_count_t count,
                                 ompi_datatype_t *type, ompi_op_t *op, ompi_win_t *win);

int mca_osc_epwin_fetch_and_op(const void *origin, void *result, ompi_datatype_t *type, int target,
                               ptrdiff_t disp, ompi_op_t *op, ompi_win_t *win);

int mca_osc_epwin_compare_and_swap(const void *origin, const void *compare, void *result,
                                   ompi_datatype_t *type, int target, ptrdiff_t disp,
                                   ompi_win_t *win);

int mca_osc_epwin_rput(const void *origin, mca_osc_epwin_count_t origin_count,
                       ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                       mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win,
                       ompi_request_t **request_p);

int mca_osc_epwin_rget(void *result, mca_osc_epwin_count_t result_count,
                       ompi_datatype_t *result_type, int target, ptrdiff_t disp,
                       mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_win_t *win,
                       ompi_request_t **request_p);

int mca_osc_epwin_raccumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                              ompi_datatype_t *origin_type, int target, ptrdiff_t disp,
                              mca_osc_epwin_count_t count, ompi_datatype_t *type, ompi_op_t *op,
                              ompi_win_t *win, ompi_request_t **request_p);

int mca_osc_epwin_rget_accumulate(const void *origin, mca_osc_epwin_count_t origin_count,
                                  ompi_datatype_t *origin_type, void *result,
                                  mca_osc_epwin_count_t result_count, ompi_datatype_t *result_type,
                                  int target, ptrdiff_t disp, mca_osc_epwin_count_t count,
                                  ompi_datatype_t *type, ompi_op_t *op, ompi_win_t *win,
                                  ompi_request_t **request_p);

/** In MPI_Init: have these check their buffers for device memory (MPI_ERR_BUFFER).  Only where there
 * is an accelerator.  @param[in,out] functions  of windows */
void mca_osc_epwin_device_install(ompi_osc_base_module_t *functions);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_CALLS_H */
