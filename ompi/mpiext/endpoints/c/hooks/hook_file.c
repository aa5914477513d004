/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Files.  MPI_File_open on endpoints is ompio's, whatever other component there is: ROMIO, the
 * other one in Open MPI 5.0, holds one lock of its process while ranks wait for each other.  Where
 * ompio selects components for a file, functions of files/ are put before theirs.
 *
 * Requests, the mode that a file is created with, and what the first call initializes, are for
 * processes as well: they are common to all ranks.  Without pml/epml nothing is different.
 *
 * Tests: file_basic, file_errors, file_first, comm_refused
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "hooks.h"

#include "ompi/communicator/communicator.h"
#include "ompi/file/file.h"

#if MPIX_ENDPOINTS_FILES
#    include <pthread.h>
#    include <stdatomic.h>
#    include <string.h>

#    include "opal/mca/base/mca_base_component_repository.h"
#    include "opal/mca/base/mca_base_framework.h"
#endif

int MPIX_ENDPOINTS_HOOK(ompi_file_open)(ompi_communicator_t *comm, const char *filename, int amode,
                                        opal_info_t *info, ompi_file_t **fh)
{
    static bool said;
    int rc;

    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_file_open)(comm, filename, amode, info, fh);
    }
    rc = mpix_endpoints_open_check(comm, amode);
    if (MPI_ERR_UNSUPPORTED_OPERATION == rc) {
        mpix_endpoints_show_help_once("no files", &said);
    }
    return OMPI_SUCCESS == rc
               ? MPIX_ENDPOINTS_ORIGINAL(ompi_file_open)(comm, filename, amode, info, fh)
               : rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_file_open);

#if MPIX_ENDPOINTS_FILES

/** Is pml/epml selected, and can files of endpoints be served? */
static bool is_served(void)
{
    static _Atomic int
        known; /* 1: they can, -1: they cannot; does not change with pml/epml there */
    int answer;

    if (NULL == mpix_endpoints_table()) {
        return false;
    }
    answer = atomic_load_explicit(&known, memory_order_relaxed); /* alone, and always the same */
    if (OPAL_UNLIKELY(0 == answer)) {
        answer = mpix_endpoints_hooks_of_files() ? 1 : -1;
        atomic_store_explicit(&known, answer, memory_order_relaxed); /* likewise */
    }
    return 0 < answer;
}

static bool is_of_endpoints(const ompio_file_t *file)
{
    return is_served() && mpix_endpoints_is_endpoint_comm(file->f_comm);
}

/** The first call of files opens the framework io; MPI_File_open has a lock for that, which
 * MPI_File_delete and MPI_Register_datarep do not take, and threads that come together break the
 * tables of parameters.  All of libmpi's frameworks come here: the others wait for nobody. */
int MPIX_ENDPOINTS_HOOK(mca_base_framework_open)(mca_base_framework_t *framework,
                                                 mca_base_open_flag_t flags)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int rc;

    if (OPAL_LIKELY(&ompi_io_base_framework != framework)) {
        return MPIX_ENDPOINTS_ORIGINAL(mca_base_framework_open)(framework, flags);
    }
    pthread_mutex_lock(&lock);
    rc = MPIX_ENDPOINTS_ORIGINAL(mca_base_framework_open)(framework, flags);
    pthread_mutex_unlock(&lock);
    return rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(mca_base_framework_open);

/** ompio, or NULL.  The framework is open: MPI_File_open has seen to that. */
static mca_base_component_t *ompio_component(void)
{
    mca_base_component_list_item_t *item;

    OPAL_LIST_FOREACH (item, &ompi_io_base_framework.framework_components,
                       mca_base_component_list_item_t) {
        if (0 == strcmp("ompio", item->cli_component->mca_component_name)) {
            return (mca_base_component_t *) item->cli_component;
        }
    }
    return NULL;
}

int MPIX_ENDPOINTS_HOOK(mca_io_base_file_select)(ompi_file_t *file, mca_base_component_t *preferred)
{
    static bool said;
    int rc;

    if (!mpix_endpoints_is_endpoint_comm(file->f_comm)) {
        return MPIX_ENDPOINTS_ORIGINAL(mca_io_base_file_select)(file, preferred);
    }
    preferred = ompio_component();
    if (NULL == preferred) {
        mpix_endpoints_show_help_once("no ompio", &said);
        return mpix_endpoints_missed_before_open(file->f_comm, MPI_ERR_UNSUPPORTED_OPERATION);
    }
    mpix_endpoints_stage_begin(mpix_endpoints_fcoll_module_select);
    rc = MPIX_ENDPOINTS_ORIGINAL(mca_io_base_file_select)(file, preferred);
    if (NULL != file->f_io_selected_data) {
        rc = mpix_endpoints_missed_in_open(file, rc);
        mpix_endpoints_handle_hook(
            file); /* also if opening has failed: it is closed by libmpi now */
    } else if (OMPI_SUCCESS != rc) {
        rc = mpix_endpoints_missed_before_open(file->f_comm, rc);
    }
    if (OMPI_SUCCESS == rc
        && !mpix_endpoints_fcoll_module_is_selected(mpix_endpoints_ompio_file(file))) {
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (OMPI_SUCCESS != rc && NULL != file->f_io_selected_data) {
        mpix_endpoints_collective_calls_keep_file(file); /* it has never been open to the user */
    }
    return rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(mca_io_base_file_select);

int MPIX_ENDPOINTS_HOOK(mca_fs_base_file_select)(ompio_file_t *file,
                                                 mca_base_component_t *preferred)
{
    const int rc = MPIX_ENDPOINTS_ORIGINAL(mca_fs_base_file_select)(file, preferred);

    if (!is_of_endpoints(file)) {
        return rc;
    }
    /* An error is reduced when the next component has been selected, so that no member waits. */
    mpix_endpoints_open_select_fs(file, rc);
    return OMPI_SUCCESS;
}
MPIX_ENDPOINTS_HOOK_DEFINED(mca_fs_base_file_select);

int MPIX_ENDPOINTS_HOOK(mca_fbtl_base_file_select)(ompio_file_t *file,
                                                   mca_base_component_t *preferred)
{
    int rc = MPIX_ENDPOINTS_ORIGINAL(mca_fbtl_base_file_select)(file, preferred);

    if (OMPI_SUCCESS == rc && is_served()) {
        rc = mpix_endpoints_io_select(file);
    }
    return is_of_endpoints(file) ? mpix_endpoints_open_select_fbtl(file, rc) : rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(mca_fbtl_base_file_select);

int MPIX_ENDPOINTS_HOOK(mca_fcoll_base_file_select)(ompio_file_t *file,
                                                    mca_base_component_t *preferred)
{
    const int rc = MPIX_ENDPOINTS_ORIGINAL(mca_fcoll_base_file_select)(file, preferred);

    return is_of_endpoints(file) ? mpix_endpoints_fcoll_module_select(file, rc) : rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(mca_fcoll_base_file_select);

/** ompio's components are not asked: two of them create and remove a file for that, and one of the
 * two writes beyond its memory if the path is long (docs/decisions.md). */
int MPIX_ENDPOINTS_HOOK(mca_sharedfp_base_file_select)(ompio_file_t *file,
                                                       mca_base_component_t *preferred)
{
    if (is_of_endpoints(file)) {
        file->f_sharedfp = &mpix_endpoints_sharedfp_module;
        return OMPI_SUCCESS;
    }
    return MPIX_ENDPOINTS_ORIGINAL(mca_sharedfp_base_file_select)(file, preferred);
}
MPIX_ENDPOINTS_HOOK_DEFINED(mca_sharedfp_base_file_select);

/** The mode that a file is created with.  Open MPI sets the process's umask to learn what it is,
 * and back: another thread may do the same in between, and a wrong one stays.  The kernel applies
 * it anyway. */
int MPIX_ENDPOINTS_HOOK(mca_fs_base_get_file_perm)(ompio_file_t *file)
{
    if (NULL != mpix_endpoints_table() && OMPIO_PERM_NULL == file->f_perm) {
        return 0666;
    }
    return MPIX_ENDPOINTS_ORIGINAL(mca_fs_base_get_file_perm)(file);
}
MPIX_ENDPOINTS_HOOK_DEFINED(mca_fs_base_get_file_perm);

int MPIX_ENDPOINTS_HOOK(mca_fbtl_posix_lock)(struct flock *lock, ompio_file_t *file, int op,
                                             OMPI_MPI_OFFSET_TYPE offset, off_t length, int flags,
                                             int *depth)
{
    if (is_of_endpoints(file)) {
        return mpix_endpoints_lock(lock, file, op, offset, length, flags, depth);
    }
    return MPIX_ENDPOINTS_ORIGINAL(mca_fbtl_posix_lock)(lock, file, op, offset, length, flags,
                                                        depth);
}
MPIX_ENDPOINTS_HOOK_DEFINED(mca_fbtl_posix_lock);

void MPIX_ENDPOINTS_HOOK(mca_fbtl_posix_unlock)(struct flock *lock, ompio_file_t *file, int *depth)
{
    if (is_of_endpoints(file)) {
        mpix_endpoints_unlock(lock, file, depth);
    } else {
        MPIX_ENDPOINTS_ORIGINAL(mca_fbtl_posix_unlock)(lock, file, depth);
    }
}
MPIX_ENDPOINTS_HOOK_DEFINED(mca_fbtl_posix_unlock);

void MPIX_ENDPOINTS_HOOK(mca_common_ompio_request_alloc)(mca_ompio_request_t **req,
                                                         mca_ompio_request_type_t type)
{
    if (is_served()) {
        mpix_endpoints_io_request_alloc(MPIX_ENDPOINTS_ORIGINAL(mca_common_ompio_request_alloc),
                                        req, type);
    } else {
        MPIX_ENDPOINTS_ORIGINAL(mca_common_ompio_request_alloc)(req, type);
    }
}
MPIX_ENDPOINTS_HOOK_DEFINED(mca_common_ompio_request_alloc);

void MPIX_ENDPOINTS_HOOK(mca_common_ompio_register_progress)(void)
{
    if (is_served()) {
        mpix_endpoints_io_register_progress();
    } else {
        MPIX_ENDPOINTS_ORIGINAL(mca_common_ompio_register_progress)();
    }
}
MPIX_ENDPOINTS_HOOK_DEFINED(mca_common_ompio_register_progress);

#endif
