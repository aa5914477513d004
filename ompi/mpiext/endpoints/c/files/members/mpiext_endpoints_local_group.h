/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The process-local group of a file: its members in this process, which access each other's memory
 * and wait for each other.
 */

#ifndef MPIEXT_ENDPOINTS_LOCAL_GROUP_H
#define MPIEXT_ENDPOINTS_LOCAL_GROUP_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** Most channels.  A writer holds the file's lock in the kernel: one member more finds and sends
 * the next pieces meanwhile. */
#    define MPIX_ENDPOINTS_LOCAL_CHANNELS 2

/** What a member publishes to its group during a collective call. */
typedef struct mpix_endpoints_local_member_t {
    /** Twice the number of its call, and one more if the reduction before has succeeded. */
    _Atomic uint64_t met;
    int rank;

    /* Written by its owner before met. */
    const mca_common_ompio_io_array_t *pieces; /**< of memory and file */
    int count;
    size_t bytes;     /**< of all pieces */
    int64_t start;    /**< of the first piece in the file */
    int64_t end;      /**< behind the last one */
    bool is_in_order; /**< no piece begins before the one before it has ended */

    /** Where its reads have found the end of the file; written before the barrier. */
    int64_t file_end;
} mpix_endpoints_local_member_t;

/** A process-local group; members in the order of ranks. */
typedef struct mpix_endpoints_local_group_t mpix_endpoints_local_group_t;

/** A member's view of its group. */
typedef struct mpix_endpoints_local_view_t {
    mpix_endpoints_local_group_t *group;
    mpix_endpoints_local_member_t *members;
    int count;
    int index;          /**< its own */
    uint64_t *number_p; /**< of its last call; private */

    /* The n-th members of all groups are the n-th channel, if all groups have n members. */
    int processes; /**< of the file */
    int process;   /**< its own, among them */
    int channels;  /**< the same at all members */
    int *ranks;    /**< of its channel, by processes; of none, if index is not less than channels */
} mpix_endpoints_local_view_t;

/** Join the group of a file that is being opened, unless the member has.  Collective.
 *
 * @param[in] rc  an error of this member, with which all fail; or OMPI_SUCCESS
 * @return OMPI_SUCCESS, or an error, of all members alike */
int mpix_endpoints_local_group_join(ompio_file_t *file, int rc);

/** The file is closed: leave its group, if it has one. */
void mpix_endpoints_local_group_leave(ompio_file_t *file);

/** The group of a file.  @return false: it has none */
bool mpix_endpoints_local_group_view(const ompio_file_t *file, mpix_endpoints_local_view_t *view);

/**
 * A reduction of all members of the file has ended: has it succeeded at all members of the group?
 * A member at which it has failed may be gone, and its memory with it.  Waits for the group.
 *
 * @param[in] well  has it at this member?  If not, this does not wait
 * @return false: not at all of them; their memory must not be accessed
 */
bool mpix_endpoints_local_group_all_well(const ompio_file_t *file,
                                         const mpix_endpoints_local_view_t *view, bool well);

/** A barrier of the group, after mpix_endpoints_local_group_all_well; sleeps.  Orders what members
 * have written before what they read afterwards. */
void mpix_endpoints_local_group_barrier(const mpix_endpoints_local_view_t *view);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_LOCAL_GROUP_H */
