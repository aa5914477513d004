/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Shared file pointers: the functions that ompio calls for them, for files of endpoints.
 *
 * ompio's own components identify the pointer of a file by the communicator's number, which differs
 * between endpoints, and by the file's name without its folder; or they lock it for a process.
 * Here it is one word that all members access (sharedfp_word.c): a read or write adds its bytes in
 * one atomic addition.  In ordered calls the last rank adds those of all.  If members are on
 * several nodes rank 0 does it for them (sharedfp_remote.c).
 *
 * Tests: file_shared, file_random (also cluster)
 */

#include "ompi_config.h"

#include "../../interpose/interpose.h"
#include "../fbtl/fbtl.h"
#include "../members/members.h"
#include "sharedfp.h"

#include <stdlib.h>

#include "ompi/op/op.h"
#include "ompi/request/request.h"

#if MPIX_ENDPOINTS_FILES

static bool pointer_exists(const mpix_endpoints_sharedfp_t *shared)
{
    return NULL != shared && (NULL != shared->word || NULL != shared->remote);
}

bool mpix_endpoints_sharedfp_exists(const ompio_file_t *file)
{
    static bool said;

    if (!pointer_exists(file->f_sharedfp_data)) {
        mpix_endpoints_show_help_once("no shared pointers", &said);
        return false;
    }
    return true;
}

/** Add to the file's word.  @param[out] before_p  its value before */
static int pointer_add(const ompio_file_t *file, int64_t bytes, int64_t *before_p)
{
    const mpix_endpoints_sharedfp_t *shared = file->f_sharedfp_data;

    if (!mpix_endpoints_sharedfp_exists(file)) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    if (NULL == shared->word) {
        return mpix_endpoints_sharedfp_remote_add(shared->remote, bytes, before_p);
    }
    /* Relaxed: the value alone matters; accesses of the file are ordered by the file system. */
    *before_p = atomic_fetch_add_explicit(&shared->word->position, bytes, memory_order_relaxed);
    return OMPI_SUCCESS;
}

static int64_t pointer_bytes(mpix_endpoints_io_count_t count, const ompi_datatype_t *datatype)
{
    size_t size;

    opal_datatype_type_size(&datatype->super, &size);
    return (int64_t) count * (int64_t) size;
}

/** Move the pointer.  @param[out] offset_p  its offset before, in etypes */
static int pointer_move(const ompio_file_t *file, int64_t bytes, OMPI_MPI_OFFSET_TYPE *offset_p)
{
    int64_t before = 0;
    const int rc = pointer_add(file, bytes, &before);

    *offset_p = before / (int64_t) MPIX_ENDPOINTS_VIEW(file)->f_etype_size;
    return rc;
}

/**
 * Move the pointer for all members, in the order of ranks.  Collective.
 *
 * @param[in]  bytes     of this member's
 * @param[out] offset_p  where its part begins, in etypes
 */
static int pointer_move_ordered(const ompio_file_t *file, int64_t bytes,
                                OMPI_MPI_OFFSET_TYPE *offset_p)
{
    ompi_communicator_t *comm = file->f_comm;
    int64_t end = 0, start[] = {0, OMPI_SUCCESS}; /* and the last rank's error */
    int rc;

    if (!mpix_endpoints_sharedfp_exists(file)) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    rc = comm->c_coll->coll_scan(&bytes, &end, 1, &ompi_mpi_int64_t.dt, &ompi_mpi_op_sum.op, comm,
                                 comm->c_coll->coll_scan_module);
    if (OMPI_SUCCESS == rc && file->f_size - 1 == file->f_rank) {
        start[1] = pointer_add(file, end, &start[0]);
    }
    if (OMPI_SUCCESS == rc) {
        rc = comm->c_coll->coll_bcast(start, 2, &ompi_mpi_int64_t.dt, file->f_size - 1, comm,
                                      comm->c_coll->coll_bcast_module);
    }
    if (OMPI_SUCCESS == rc) {
        rc = (int) start[1];
    }
    *offset_p = (start[0] + end - bytes) / (int64_t) MPIX_ENDPOINTS_VIEW(file)->f_etype_size;
    return rc;
}

/* ---- opening, closing ------------------------------------------------------------------------ */

static int sharedfp_open(ompi_communicator_t *comm, const char *filename, int amode,
                         opal_info_t *info, ompio_file_t *file)
{
    mpix_endpoints_sharedfp_t *shared = calloc(1, sizeof(*shared));
    int rc = mpix_endpoints_reduce_error(file->f_comm,
                                         NULL == shared ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS);

    (void) comm;
    (void) filename;
    (void) amode;
    (void) info;
    if (OMPI_SUCCESS == rc) {
        rc = mpix_endpoints_sharedfp_word_make(file->f_comm, shared);
    }
    if (OMPI_SUCCESS != rc) {
        free(shared);
        return rc;
    }
    file->f_sharedfp_data = shared;
    return OMPI_SUCCESS;
}

static int sharedfp_close(ompio_file_t *file)
{
    if (NULL != file->f_sharedfp_data) {
        mpix_endpoints_sharedfp_word_free(file->f_sharedfp_data);
        free(file->f_sharedfp_data);
        file->f_sharedfp_data = NULL;
    }
    return OMPI_SUCCESS;
}

static int sharedfp_nothing(ompio_file_t *file)
{
    (void) file;
    return OMPI_SUCCESS;
}

/* ---- position -------------------------------------------------------------------------------- */

/** The bytes of the view's data before a byte of the file. */
static int64_t pointer_bytes_before(const ompio_file_t *file, OMPI_MPI_OFFSET_TYPE byte)
{
    const mpix_endpoints_view_t *view = MPIX_ENDPOINTS_VIEW(file);
    const int64_t distance = byte - view->f_disp, extent = view->f_view_extent;
    int64_t bytes, rest;

    if (0 >= distance || 0 >= extent) {
        return 0;
    }
    bytes = distance / extent * (int64_t) view->f_view_size;
    rest = distance % extent;
    for (uint32_t i = 0; i < view->f_iov_count; ++i) {
        const int64_t from = (intptr_t) view->f_decoded_iov[i].iov_base;
        const int64_t length = (int64_t) view->f_decoded_iov[i].iov_len;

        if (rest > from) {
            bytes += rest - from < length ? rest - from : length;
        }
    }
    return bytes - bytes % (int64_t) view->f_etype_size;
}

int mpix_endpoints_sharedfp_byte(const ompio_file_t *file, OMPI_MPI_OFFSET_TYPE *byte_p)
{
    const mpix_endpoints_view_t *view = MPIX_ENDPOINTS_VIEW(file);
    const int64_t size = (int64_t) view->f_view_size;
    int64_t position = 0, rest;
    const int rc = pointer_add(file, 0, &position);

    *byte_p = view->f_disp;
    if (OMPI_SUCCESS != rc || 0 == size) {
        return rc;
    }
    *byte_p += position / size * view->f_view_extent;
    rest = position % size;
    for (uint32_t i = 0; i < view->f_iov_count; ++i) {
        const int64_t length = (int64_t) view->f_decoded_iov[i].iov_len;

        if (rest < length) {
            *byte_p += (intptr_t) view->f_decoded_iov[i].iov_base + rest;
            break;
        }
        rest -= length;
    }
    return OMPI_SUCCESS;
}

/** The new position of a seek.  @return OMPI_SUCCESS or an error */
static int pointer_seek_target(ompio_file_t *file, const mpix_endpoints_sharedfp_word_t *word,
                               int64_t offset, int whence, int64_t *position_p)
{
    OMPI_MPI_OFFSET_TYPE size;
    int rc = OMPI_SUCCESS;

    *position_p = offset * (int64_t) MPIX_ENDPOINTS_VIEW(file)->f_etype_size;
    switch (whence) {
    case MPI_SEEK_SET:
        break;
    case MPI_SEEK_CUR:
        *position_p += atomic_load_explicit(&word->position,
                                            memory_order_relaxed); /* as in pointer_add */
        break;
    case MPI_SEEK_END:
        rc = file->f_fs->fs_file_get_size(file, &size);
        *position_p += OMPI_SUCCESS == rc ? pointer_bytes_before(file, size) : 0;
        break;
    default:
        return MPI_ERR_ARG;
    }
    return OMPI_SUCCESS == rc && 0 > *position_p ? MPI_ERR_ARG : rc;
}

/** Collective: rank 0 seeks, after the arguments have been compared. */
static int sharedfp_seek(ompio_file_t *file, OMPI_MPI_OFFSET_TYPE offset, int whence)
{
    mpix_endpoints_sharedfp_t *shared = file->f_sharedfp_data;
    ompi_communicator_t *comm = file->f_comm;
    int64_t said[] = {offset, -offset, whence, -whence};
    int64_t position, error = OMPI_SUCCESS;
    int rc;

    mpix_endpoints_stage_catch_up(file);
    if (!pointer_exists(shared)) {
        return OMPI_SUCCESS; /* ompio itself, when a view is set; users' calls do not come here */
    }
    rc = mpix_endpoints_reduce_max(comm, said, 4);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (said[0] != -said[1] || said[2] != -said[3]) {
        return MPI_ERR_NOT_SAME;
    }
    if (0 == file->f_rank) {
        error = pointer_seek_target(file, shared->word, offset, whence, &position);
        if (OMPI_SUCCESS == error) {
            /* Relaxed: published by the broadcast that follows. */
            atomic_store_explicit(&shared->word->position, position, memory_order_relaxed);
        }
    }
    rc = comm->c_coll->coll_bcast(&error, 1, &ompi_mpi_int64_t.dt, 0, comm,
                                  comm->c_coll->coll_bcast_module);
    return OMPI_SUCCESS == rc ? (int) error : rc;
}

static int sharedfp_get_position(ompio_file_t *file, OMPI_MPI_OFFSET_TYPE *offset_p)
{
    int64_t before = 0;
    const int rc = pointer_add(file, 0, &before);

    *offset_p = before;
    return rc;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int sharedfp_read(ompio_file_t *file, void *buffer, mpix_endpoints_io_count_t count,
                         ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    OMPI_MPI_OFFSET_TYPE offset;
    const int rc = pointer_move(file, pointer_bytes(count, datatype), &offset);

    return OMPI_SUCCESS == rc
               ? mca_common_ompio_file_read_at(file, offset, buffer, count, datatype, status)
               : rc;
}

static int sharedfp_iread(ompio_file_t *file, void *buffer, mpix_endpoints_io_count_t count,
                          ompi_datatype_t *datatype, ompi_request_t **request)
{
    OMPI_MPI_OFFSET_TYPE offset;
    const int rc = pointer_move(file, pointer_bytes(count, datatype), &offset);

    return OMPI_SUCCESS == rc
               ? mca_common_ompio_file_iread_at(file, offset, buffer, count, datatype, request)
               : rc;
}

static int sharedfp_read_ordered(ompio_file_t *file, void *buffer, mpix_endpoints_io_count_t count,
                                 ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    OMPI_MPI_OFFSET_TYPE offset;
    const int rc = pointer_move_ordered(file, pointer_bytes(count, datatype), &offset);

    return OMPI_SUCCESS == rc
               ? mca_common_ompio_file_read_at_all(file, offset, buffer, count, datatype, status)
               : rc;
}

static int sharedfp_read_ordered_begin(ompio_file_t *file, void *buffer,
                                       mpix_endpoints_io_count_t count, ompi_datatype_t *datatype)
{
    ompi_status_public_t status = {._ucount = 0};

    return file->f_split_coll_in_use
               ? MPI_ERR_REQUEST
               : mpix_endpoints_split_request_begin(file, false,
                                                    sharedfp_read_ordered(file, buffer, count,
                                                                          datatype, &status),
                                                    &status);
}

static int sharedfp_read_ordered_end(ompio_file_t *file, void *buffer, ompi_status_public_t *status)
{
    (void) buffer;
    return mpix_endpoints_split_request_end(file, status);
}

/* ---- writing --------------------------------------------------------------------------------- */

static int sharedfp_write(ompio_file_t *file, const void *buffer, mpix_endpoints_io_count_t count,
                          ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    OMPI_MPI_OFFSET_TYPE offset;
    const int rc = pointer_move(file, pointer_bytes(count, datatype), &offset);

    return OMPI_SUCCESS == rc
               ? mca_common_ompio_file_write_at(file, offset, buffer, count, datatype, status)
               : rc;
}

static int sharedfp_iwrite(ompio_file_t *file, const void *buffer, mpix_endpoints_io_count_t count,
                           ompi_datatype_t *datatype, ompi_request_t **request)
{
    OMPI_MPI_OFFSET_TYPE offset;
    const int rc = pointer_move(file, pointer_bytes(count, datatype), &offset);

    return OMPI_SUCCESS == rc
               ? mca_common_ompio_file_iwrite_at(file, offset, buffer, count, datatype, request)
               : rc;
}

static int sharedfp_write_ordered(ompio_file_t *file, const void *buffer,
                                  mpix_endpoints_io_count_t count, ompi_datatype_t *datatype,
                                  ompi_status_public_t *status)
{
    OMPI_MPI_OFFSET_TYPE offset;
    const int rc = pointer_move_ordered(file, pointer_bytes(count, datatype), &offset);

    return OMPI_SUCCESS == rc
               ? mca_common_ompio_file_write_at_all(file, offset, buffer, count, datatype, status)
               : rc;
}

static int sharedfp_write_ordered_begin(ompio_file_t *file, const void *buffer,
                                        mpix_endpoints_io_count_t count, ompi_datatype_t *datatype)
{
    ompi_status_public_t status = {._ucount = 0};

    return file->f_split_coll_in_use
               ? MPI_ERR_REQUEST
               : mpix_endpoints_split_request_begin(file, true,
                                                    sharedfp_write_ordered(file, buffer, count,
                                                                           datatype, &status),
                                                    &status);
}

static int sharedfp_write_ordered_end(ompio_file_t *file, const void *buffer,
                                      ompi_status_public_t *status)
{
    (void) buffer;
    return mpix_endpoints_split_request_end(file, status);
}

mca_sharedfp_base_module_t mpix_endpoints_sharedfp_module = {
    .sharedfp_module_init = sharedfp_nothing,
    .sharedfp_module_finalize = sharedfp_nothing,
    .sharedfp_seek = sharedfp_seek,
    .sharedfp_get_position = sharedfp_get_position,
    .sharedfp_read = sharedfp_read,
    .sharedfp_read_ordered = sharedfp_read_ordered,
    .sharedfp_read_ordered_begin = sharedfp_read_ordered_begin,
    .sharedfp_read_ordered_end = sharedfp_read_ordered_end,
    .sharedfp_iread = sharedfp_iread,
    .sharedfp_write = sharedfp_write,
    .sharedfp_write_ordered = sharedfp_write_ordered,
    .sharedfp_write_ordered_begin = sharedfp_write_ordered_begin,
    .sharedfp_write_ordered_end = sharedfp_write_ordered_end,
    .sharedfp_iwrite = sharedfp_iwrite,
    .sharedfp_file_open = sharedfp_open,
    .sharedfp_file_close = sharedfp_close,
};

#endif
