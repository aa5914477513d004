/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The functions that ompio calls for collective reads and writes, for files of endpoints.
 *
 * In a collective write of ompio's own components one rank writes for several.  The others return,
 * with success, when they have sent their data, before these are in the file: a read of their own
 * right after it may find what was there before.  And that rank forgets that it could not write
 * them.  (With processes, too.)  Here all members wait for each other, and return the same error.
 *
 * Device memory, which the processor cannot access, has host memory take its place.  (Calls of one
 * member are ompio's own, which does that as well.)
 *
 * Tests: file_basic, file_death, file_errors, file_nomem, file_random, device_file
 */

#include "ompi_config.h"

#include "../fbtl/fbtl.h"
#include "../members/members.h"
#include "mpiext_endpoints_collective_io.h"
#include "mpiext_endpoints_fcoll_module.h"

#if MPIX_ENDPOINTS_FILES

#    include <stdlib.h>

#    include "ompi/errhandler/errcode-internal.h"
#    include "ompi/mca/fcoll/base/base.h"
#    include "ompi/mca/fcoll/fcoll.h"

/** By ompio's component; or, in atomic mode, as an independent call, because ompio locks the range
 * of each call of a member. */
static int module_move_by_ompio(ompio_file_t *file, bool writes, void *buffer,
                                mpix_endpoints_io_count_t count, ompi_datatype_t *datatype,
                                ompi_status_public_t *status)
{
    const mca_fcoll_base_module_t *original = mpix_endpoints_module_original(file->f_fcoll);
    int rc, failure;

    mpix_endpoints_io_failure_clear(file);
    if (writes) {
        rc = 0 != file->f_atomicity
                 ? mca_common_ompio_file_write(file, buffer, count, datatype, status)
                 : original->fcoll_file_write_all(file, buffer, count, datatype, status);
    } else {
        rc = 0 != file->f_atomicity
                 ? mca_common_ompio_file_read(file, buffer, count, datatype, status)
                 : original->fcoll_file_read_all(file, buffer, count, datatype, status);
    }
    failure = mpix_endpoints_io_failure(file); /* ompio ignores it */
    return mpix_endpoints_reduce_error(file->f_comm, MPI_SUCCESS != failure ? failure : rc);
}

/** Reduce the errors after the call.  @param[in] rc  this member's  @return that of all */
static int module_end(mpix_endpoints_collective_io_t *collective, int rc, int64_t file_end,
                      ompi_status_public_t *status)
{
    int64_t reduced[] = {OMPI_SUCCESS == rc ? MPI_SUCCESS : ompi_errcode_get_mpi_code(rc),
                         -file_end};
    const int met = mpix_endpoints_reduce_max(collective->file->f_comm, reduced, 2);

    mpix_endpoints_collective_io_status(collective, -reduced[1], status);
    return OMPI_SUCCESS == met ? (int) reduced[0] : met;
}

/** Members reduce their values first; afterwards none waits for a member that has died (except in
 * ompio's component, which crashes if one of its messages fails). */
static int module_move_all(ompio_file_t *file, bool writes, void *buffer,
                           mpix_endpoints_io_count_t count, ompi_datatype_t *datatype,
                           ompi_status_public_t *status)
{
    mpix_endpoints_collective_io_t collective;
    int64_t file_end;
    int rc, moved;

    if (0 != file->f_atomicity) {
        rc = mpix_endpoints_reduce_error(file->f_comm, OMPI_SUCCESS);
        return OMPI_SUCCESS == rc
                   ? module_move_by_ompio(file, writes, buffer, count, datatype, status)
                   : rc;
    }
    mpix_endpoints_collective_io_begin(&collective, file, writes, buffer, count, datatype);
    rc = mpix_endpoints_reduce_max(file->f_comm, collective.reduced, MPIX_ENDPOINTS_REDUCED_COUNT);
    rc = OMPI_SUCCESS == rc ? (int) collective.reduced[MPIX_ENDPOINTS_REDUCED_ERROR] : rc;
    if (OMPI_SUCCESS == rc && 0 != collective.reduced[MPIX_ENDPOINTS_REDUCED_FALLBACK]) {
        mpix_endpoints_collective_io_undo(&collective);
        return module_move_by_ompio(file, writes, buffer, count, datatype, status);
    }
    moved = mpix_endpoints_collective_io_end(&collective, rc, &file_end);
    if (OMPI_SUCCESS == rc) {
        return module_end(&collective, moved, file_end, status);
    }
    mpix_endpoints_collective_io_status(&collective, INT64_MAX, MPI_STATUS_IGNORE);
    return moved;
}

/** Host memory in place of a buffer in device memory, with a copy of what is there.
 *
 * @param[out] host_p  the address of the buffer in there
 * @return NULL: it is in host memory; or there is no memory, and then the call will be refused, at
 *         all members (collective_io.c) */
static void *module_stage(ompio_file_t *file, void *buffer, mpix_endpoints_io_count_t count,
                          ompi_datatype_t *datatype, void **host_p)
{
    ptrdiff_t gap = 0;
    void *memory;

    if (!mpix_endpoints_client_is_device(file->f_comm, buffer, (size_t) count, datatype)) {
        return NULL;
    }
    memory = malloc((size_t) opal_datatype_span(&datatype->super, (size_t) count, &gap));
    if (NULL != memory) {
        *host_p = (char *) memory - gap;
        (void) ompi_datatype_copy_content_same_ddt(datatype, (size_t) count, *host_p, buffer);
    }
    return memory;
}

static int module_move(ompio_file_t *file, bool writes, void *buffer,
                       mpix_endpoints_io_count_t count, ompi_datatype_t *datatype,
                       ompi_status_public_t *status)
{
    void *host = buffer;
    void *memory = module_stage(file, buffer, count, datatype, &host);
    const int rc = module_move_all(file, writes, host, count, datatype, status);

    if (NULL != memory && !writes && OMPI_SUCCESS == rc) {
        (void) ompi_datatype_copy_content_same_ddt(datatype, (size_t) count, buffer, host);
    }
    free(memory);
    return rc;
}

static int module_read_all(ompio_file_t *file, void *buffer, mpix_endpoints_io_count_t count,
                           ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    return 0 != (file->f_amode & MPI_MODE_WRONLY)
               ? MPI_ERR_ACCESS /* the mode is the same at all members */
               : module_move(file, false, buffer, count, datatype, status);
}

static int module_write_all(ompio_file_t *file, const void *buffer, mpix_endpoints_io_count_t count,
                            ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    return 0 != (file->f_amode & MPI_MODE_RDONLY)
               ? MPI_ERR_READ_ONLY /* likewise */
               : module_move(file, true, (void *) buffer, count, datatype, status);
}

static void module_replace(void *copy)
{
    ((mca_fcoll_base_module_t *) copy)->fcoll_file_read_all = module_read_all;
    ((mca_fcoll_base_module_t *) copy)->fcoll_file_write_all = module_write_all;
}

int mpix_endpoints_fcoll_module_select(ompio_file_t *file, int rc)
{
    mca_fcoll_base_module_t *copy = OMPI_SUCCESS == rc
                                        ? mpix_endpoints_module_copy(file->f_fcoll,
                                                                     sizeof(*file->f_fcoll),
                                                                     module_replace)
                                        : NULL;
    const mpix_endpoints_io_state_t *state;

    mpix_endpoints_stage_reach(MPIX_ENDPOINTS_STAGE_FCOLL);
    rc = mpix_endpoints_local_group_join(file, OMPI_SUCCESS == rc && NULL == copy
                                                   ? OMPI_ERR_OUT_OF_RESOURCE
                                                   : rc);

    state = mpix_endpoints_io_state(file);
    /* ompio's component at all members if one has none, or no memory: the file has not been opened
     * then, at all alike.  A loss is not the same at all, and ompio's component cannot cope with
     * one.  If the file is open all members have had ours. */
    if (NULL != copy
        && (OMPI_SUCCESS == rc || MPI_ERR_PROC_FAILED == rc || (NULL != state && state->is_open))) {
        file->f_fcoll = copy;
    }
    return rc;
}

bool mpix_endpoints_fcoll_module_is_selected(const ompio_file_t *file)
{
    const mca_fcoll_base_module_t *module = file->f_fcoll;

    return NULL != module && module_write_all == module->fcoll_file_write_all;
}

#endif
