/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * The members of a file that are in this process: they see each other's memory, and wait for each
 * other.
 */

#ifndef MPIEXT_ENDPOINTS_LOCAL_GROUP_H
#define MPIEXT_ENDPOINTS_LOCAL_GROUP_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** Most channels.  Who writes holds the file's lock in the system: one more finds and sends what
 * comes next meanwhile. */
#    define MPIX_ENDPOINTS_CREW_CHANNELS 2

/** What a member shows the others of its process while a collective call lasts. */
typedef struct mpix_endpoints_crewman_t {
    /** The number of its call, twice, and one more if its meeting has gone well. */
    _Atomic uint64_t met;
    int rank;

    /* Written by its owner before it says that it has met. */
    const mca_common_ompio_io_array_t *pieces; /**< of memory and file */
    int count;
    size_t bytes;     /**< of all pieces */
    int64_t start;    /**< of the first piece in the file */
    int64_t end;      /**< behind the last one */
    bool is_in_order; /**< no piece begins before the one before it has ended */

    /** Where its reading has found the file's end; written before the crew meets again. */
    int64_t file_end;
} mpix_endpoints_crewman_t;

/** The members of a file that are in this process, in the order of ranks. */
typedef struct mpix_endpoints_crew_t mpix_endpoints_crew_t;

/** How a member sees its crew. */
typedef struct mpix_endpoints_crew_view_t {
    mpix_endpoints_crew_t *crew;
    mpix_endpoints_crewman_t *members;
    int count;
    int index;          /**< its own */
    uint64_t *number_p; /**< of its last call, its own alone */

    /* The n-th members of all crews are the n-th channel, if all crews have so many. */
    int processes; /**< of the file */
    int process;   /**< its own, among them */
    int channels;  /**< the same at all members */
    int *ranks;    /**< of its channel, by processes; of none, if index is not less than channels */
} mpix_endpoints_crew_view_t;

/** Find the crew of a file that is being opened, if it has none.  Collective.
 *
 * @param[in] rc  an error of this member, so all fail; or OMPI_SUCCESS
 * @return OMPI_SUCCESS, or an error, of all members alike */
int mpix_endpoints_crew_make(ompio_file_t *file, int rc);

/** The file goes: it has no crew, if it had one. */
void mpix_endpoints_crew_end(ompio_file_t *file);

/** The crew of a file.  @return false: none has been made */
bool mpix_endpoints_crew_of(const ompio_file_t *file, mpix_endpoints_crew_view_t *view);

/**
 * A meeting of all members of the file is over: did it go well for all of the crew?  Who has failed
 * there may be gone, and its memory with it.
 *
 * @param[in] well  for this member.  If not, nobody is waited for
 * @return false: not for all; the crew does nothing together
 */
bool mpix_endpoints_crew_met(const ompio_file_t *file, const mpix_endpoints_crew_view_t *view,
                             bool well);

/** All of the crew, who have met, wait for each other, asleep.  Orders what they have written
 * before what they read afterwards. */
void mpix_endpoints_crew_wait(const mpix_endpoints_crew_view_t *view);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_LOCAL_GROUP_H */
