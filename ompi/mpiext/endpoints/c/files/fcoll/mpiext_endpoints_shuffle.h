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
 * What the members of a channel send each other in a collective read or write.
 */

#ifndef MPIEXT_ENDPOINTS_SHUFFLE_H
#define MPIEXT_ENDPOINTS_SHUFFLE_H

#include "ompi_config.h"

#include "../../base/base.h"
#include "../members/members.h"

#if MPIX_ENDPOINTS_FILES

#    include "ompi/request/request.h"

BEGIN_C_DECLS

/** Chunks of a stream that may be under way at a time. */
#    define MPIX_ENDPOINTS_STREAM_SLOTS 2

/** As a piece travels, or several that lie one behind the other in the file. */
typedef struct mpix_endpoints_span_t {
    int64_t offset, length;
} mpix_endpoints_span_t;

/** What one member of a channel has for another one. */
typedef struct mpix_endpoints_amount_t {
    int64_t spans, bytes;
} mpix_endpoints_amount_t;

typedef struct mpix_endpoints_said_t {
    mpix_endpoints_amount_t sends, comes;
} mpix_endpoints_said_t;

/**
 * The pieces that one process has in the part of the file that a member of another one moves, one
 * behind the other, cut into chunks.  Both ends have one.
 */
typedef struct mpix_endpoints_stream_t {
    int rank; /**< of the other end */
    mca_common_ompio_io_array_t *pieces; /**< whose memory is the user's; at the other end, where
                                          * the piece begins in the stream */
    int64_t count;
    size_t bytes;
    char *room;                                           /**< for chunks */
    ompi_request_t *request[MPIX_ENDPOINTS_STREAM_SLOTS]; /**< NULL: none is under way */
    char *memory[MPIX_ENDPOINTS_STREAM_SLOTS];            /**< of chunks, behind their heads */

    /* Numbers of chunks: the messages of those before have been begun; those before have been
     * moved, but the file may need their memory; those before need none. */
    size_t begun, used, ended;

    /* The user's end. */
    int64_t at;  /**< where the next chunk begins */
    size_t skip; /**< of that piece */
    mpix_endpoints_span_t *spans;
    int64_t span_count;
} mpix_endpoints_stream_t;

typedef struct mpix_endpoints_streams_t {
    const ompio_file_t *file;
    bool writes;
    int count;     /**< of processes: streams in either direction; the own process has none */
    int own;       /**< process */
    size_t chunk;  /**< bytes of one that is not the last */
    mpix_endpoints_said_t *said;   /**< by processes */
    mpix_endpoints_stream_t *away; /**< the user's end: of what others move */
    mpix_endpoints_stream_t *here; /**< the file's end */
    int64_t file_end; /**< as far as known here: goes with chunks that have been read */
    int error;                     /**< a message has failed; an MPI class, or MPI_SUCCESS */
    bool flows;                    /**< messages are chunks */
    mpix_endpoints_wait_t wait;
} mpix_endpoints_streams_t;

/** Of all members of a channel; local.  @return OMPI_SUCCESS or an error; ended in any case */
int mpix_endpoints_streams_begin(mpix_endpoints_streams_t *streams, const ompio_file_t *file,
                                 const mpix_endpoints_crew_view_t *view, bool writes);

/** Away has its pieces, which stay their owner's: how do they travel?  Local.
 * @return OMPI_SUCCESS or an error */
int mpix_endpoints_streams_fold(mpix_endpoints_streams_t *streams);

/** Tell each other how many.  @return OMPI_SUCCESS or an error */
int mpix_endpoints_streams_count(mpix_endpoints_streams_t *streams);

/** Memory for the pieces of here, and for chunks; local.  @return OMPI_SUCCESS or an error */
int mpix_endpoints_streams_room(mpix_endpoints_streams_t *streams);

/** Tell each other which pieces, and begin with the chunks.
 * @param[in] start, end  of the part of the file that is moved here */
int mpix_endpoints_streams_tell(mpix_endpoints_streams_t *streams, int64_t start, int64_t end);

/**
 * The file's end: memory of the next chunk of a stream, with data if they are written, free if they
 * are read.  Waits for it, and serves the other streams meanwhile.
 *
 * @param[in] place  in the stream
 * @param[out] bytes_p  how many there are at most
 * @return NULL: a message has failed; or all memory is used, and used_over has to be called
 */
char *mpix_endpoints_streams_at(mpix_endpoints_streams_t *streams, mpix_endpoints_stream_t *stream,
                                size_t place, size_t *bytes_p);

/** The file's end: the file needs the memory of used chunks no more. */
void mpix_endpoints_streams_used_over(mpix_endpoints_streams_t *streams);

/** Wait until all messages are through.  @return OMPI_SUCCESS or an error */
int mpix_endpoints_streams_finish(mpix_endpoints_streams_t *streams);

/** No message is under way. */
void mpix_endpoints_streams_end(mpix_endpoints_streams_t *streams);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_SHUFFLE_H */
