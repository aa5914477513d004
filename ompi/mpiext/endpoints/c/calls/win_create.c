/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Win_create and its relatives on endpoints: bad arguments of one member are an error at all.
 *
 * libmpi returns at the member that has bad arguments (a negative size, no info), while the others
 * wait for it in the creation.  Here that member takes part in the reduction of errors with which
 * creation begins (hooks/hook_win.c).  libmpi's functions also replace the class of each error by
 * MPI_ERR_WIN; here it is kept.
 *
 * Not hooks: as comm_disconnect.c.  In a program that loaded libmpi first, and in the MPI ABI,
 * libmpi's functions are in force.
 *
 * Tests: win_create_errors, win_fortran
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "mpiext_endpoints_function.h"

#include "ompi/errhandler/errhandler.h"
#include "ompi/info/info.h"
#include "ompi/runtime/params.h"
#include "ompi/win/win.h"

/** A call on any other communicator is libmpi's, also where it is not a valid one. */
static bool win_is_ours(MPI_Comm comm)
{
    return NULL != comm && MPI_COMM_NULL != comm && !ompi_comm_invalid(comm)
           && OMPI_COMM_IS_INTRA(comm) && mpix_endpoints_is_endpoint_comm(comm);
}

/** The error class of a member's arguments.  @param[in] baseptr  not NULL where there is none */
static int win_arguments_check(MPI_Aint size, MPI_Aint unit, MPI_Info info, const void *baseptr,
                               const MPI_Win *win)
{
    if (!MPI_PARAM_CHECK) {
        return MPI_SUCCESS;
    }
    if (NULL == info || ompi_info_is_freed(info)) {
        return MPI_ERR_INFO;
    }
    if (NULL == win || NULL == baseptr) {
        return MPI_ERR_ARG;
    }
    if (0 > size) {
        return MPI_ERR_SIZE;
    }
    return 0 < unit ? MPI_SUCCESS : MPI_ERR_DISP;
}

/** What a call returns. */
static int win_result(int rc, MPI_Comm comm, MPI_Win *win, const char *name)
{
    if (MPI_SUCCESS != rc && NULL != win) {
        *win = MPI_WIN_NULL;
    }
    OMPI_ERRHANDLER_RETURN(rc, comm, rc, name);
}

/**
 * Defines a function.
 *
 * @param name        of MPI's, without MPI_
 * @param parameters  in parentheses
 * @param arguments   likewise
 * @param checked     size, displacement unit, info, address of the base, and handle; in parentheses
 * @param create      libmpi's own, below the checks of MPI_...: this library's hook
 */
#define CREATION(name, parameters, arguments, checked, create)                         \
    MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(name) parameters                 \
    {                                                                                  \
        int (*const original) parameters = MPIX_ENDPOINTS_NEXT(name);                  \
        int rc;                                                                        \
                                                                                       \
        if (!win_is_ours(comm)) {                                                      \
            return NULL != original ? original arguments : MPI_ERR_INTERN;             \
        }                                                                              \
        rc = win_arguments_check checked;                                              \
        rc = MPI_SUCCESS == rc ? create : mpix_endpoints_reduce_error(comm, rc);       \
        return win_result(rc, comm, win, "MPI_" #name);                                \
    }                                                                                  \
                                                                                       \
    MPIX_ENDPOINTS_FUNCTION_DEFINED(name, parameters, arguments)

#define FUNCTIONS(suffix, unit_t)                                                               \
    CREATION(Win_create##suffix,                                                                \
             (void *base, MPI_Aint size, unit_t unit, MPI_Info info, MPI_Comm comm,             \
              MPI_Win *win),                                                                    \
             (base, size, unit, info, comm, win), (size, unit, info, win, win),                 \
             ompi_win_create(base, (size_t) size, unit, comm, &info->super, win));              \
    CREATION(Win_allocate##suffix,                                                              \
             (MPI_Aint size, unit_t unit, MPI_Info info, MPI_Comm comm, void *baseptr,          \
              MPI_Win *win),                                                                    \
             (size, unit, info, comm, baseptr, win), (size, unit, info, baseptr, win),          \
             ompi_win_allocate((size_t) size, unit, &info->super, comm, baseptr, win));         \
    CREATION(Win_allocate_shared##suffix,                                                       \
             (MPI_Aint size, unit_t unit, MPI_Info info, MPI_Comm comm, void *baseptr,          \
              MPI_Win *win),                                                                    \
             (size, unit, info, comm, baseptr, win), (size, unit, info, baseptr, win),          \
             ompi_win_allocate_shared((size_t) size, unit, &info->super, comm, baseptr, win))

FUNCTIONS(, int);
#if OMPI_MAJOR_VERSION >= 6
FUNCTIONS(_c, MPI_Aint);
#endif
CREATION(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win),
         (0, 1, info, win, win), ompi_win_create_dynamic(&info->super, comm, win));
