/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What stands before ompio's own functions: those of a handle, and opening and closing.
 *
 * Called by libmpi, through the table of a handle, by ompio, and by the hooks.  Moves no data.
 *
 * Below it: fcoll, sharedfp, members, fbtl.
 */

#ifndef MPIEXT_ENDPOINTS_FILES_INTERCEPTION_LAYER_H
#define MPIEXT_ENDPOINTS_FILES_INTERCEPTION_LAYER_H

#include "ompi_config.h"

#include "../../base/base.h"

BEGIN_C_DECLS

/* ---- opening: collective_open.c, missed.c ---------------------------------------------------- */

/**
 * Before a file is opened: can all members open files, and in the same mode?  Collective over comm;
 * never hangs.
 *
 * @return OMPI_SUCCESS; MPI_ERR_UNSUPPORTED_OPERATION: calls of libmpi cannot be hooked in some
 *         process; MPI_ERR_NOT_SAME; or another error.  The same at all members
 */
int mpix_endpoints_open_check(ompi_communicator_t *comm, int amode);

#if MPIX_ENDPOINTS_FILES

/** ompio has selected the fs component of a file of endpoints, or has failed to: our functions
 * stand before the component's from now on, if there is memory for it.  Local.
 * @param[in] rc  ompio's */
void mpix_endpoints_open_select_fs(ompio_file_t *file, int rc);

/**
 * And the fbtl component: can all members go on?  Collective.
 *
 * @param[in] rc  of this member
 * @return OMPI_SUCCESS; or an error, of all members alike: the file is not opened
 */
int mpix_endpoints_open_select_fbtl(ompio_file_t *file, int rc);

/**
 * ompio has opened a file, or has failed to: make the collective calls that this thread has missed,
 * with its error.
 *
 * @param[in] rc  ompio's
 * @return OMPI_SUCCESS or an error: of all members alike, unless their reductions have succeeded */
int mpix_endpoints_missed_in_open(ompi_file_t *handle, int rc);

/**
 * Opening has failed before there is a handle of ompio's: make all collective calls of an opening,
 * with this member's error.
 *
 * @param[in] comm  of the file
 * @param[in] rc    not OMPI_SUCCESS */
int mpix_endpoints_missed_before_open(ompi_communicator_t *comm, int rc);

/** Likewise, after a new view of an open file. */
int mpix_endpoints_missed_in_view(ompio_file_t *file, int rc);

/* ---- the functions of a handle --------------------------------------------------------------- */

/** ompio has opened a file of endpoints: replace functions of its handle.  Any thread. */
void mpix_endpoints_handle_hook(ompi_file_t *file);

/** Opening has failed here: closing, which follows, must not delete the file. */
void mpix_endpoints_collective_calls_keep_file(ompi_file_t *handle);

/* ---- within the layer ------------------------------------------------------------------------ */

/** ompio's own functions of a handle, the same for all files.  Not to be read before a function of
 * a handle has been replaced. */
extern mpix_endpoints_io_module_t mpix_endpoints_ompio;

/** Keep them.  Any thread.  @param[in] module  of a handle, in which nothing has been replaced */
void mpix_endpoints_ompio_keep(const mpix_endpoints_io_module_t *module);

/* Replace functions in the table of a handle of endpoints; each in the file of its name. */
void mpix_endpoints_blocking_hook(mpix_endpoints_io_module_t *module);
void mpix_endpoints_collective_calls_hook(mpix_endpoints_io_module_t *module);
void mpix_endpoints_split_hook(mpix_endpoints_io_module_t *module);
void mpix_endpoints_zero_size_hook(mpix_endpoints_io_module_t *module);

#endif

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_FILES_INTERCEPTION_LAYER_H */
