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

#include "../am/am.h"
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

/* All cases, of buffers that may be in device memory. */

/** MPI_Put, MPI_Rput.  @param[in] may_defer  the buffer may be in use until the next flush */
int mca_osc_epwin_put_buffer(mca_osc_epwin_module_t *module, const mca_osc_epwin_buffer_t *origin,
                             int target, ptrdiff_t disp, size_t count, ompi_datatype_t *type,
                             bool may_defer);

/** MPI_Get, MPI_Rget.  @param[out] request_p  NULL, or set if the result is not there yet */
int mca_osc_epwin_get_buffer(mca_osc_epwin_module_t *module, const mca_osc_epwin_buffer_t *result,
                             int target, ptrdiff_t disp, size_t count, ompi_datatype_t *type,
                             ompi_request_t **request_p);

/**
 * MPI_Accumulate, MPI_Get_accumulate, MPI_Fetch_and_op, and the request forms.
 *
 * @param[in]  origin     NULL with MPI_NO_OP
 * @param[in]  result     NULL: MPI_Accumulate
 * @param[out] request_p  NULL, or set if the result is not there yet
 */
int mca_osc_epwin_accumulate_buffer(mca_osc_epwin_module_t *module,
                                    const mca_osc_epwin_buffer_t *origin,
                                    const mca_osc_epwin_buffer_t *result, int target,
                                    ptrdiff_t disp, size_t count, ompi_datatype_t *type,
                                    ompi_op_t *op, ompi_request_t **request_p);

/** MPI_Compare_and_swap.  @param[in] origin, compare  in host memory
 * @param[in] result  one element */
int mca_osc_epwin_swap_buffer(mca_osc_epwin_module_t *module, const void *origin,
                              const void *compare, const mca_osc_epwin_buffer_t *result, int target,
                              ptrdiff_t disp);

/** In MPI_Init: have these look for device memory in their buffers.  Only where there is an
 * accelerator.  @param[in,out] functions  of windows */
void mca_osc_epwin_device_install(ompi_osc_base_module_t *functions);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_CALLS_H */
