/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The shuffle of two-phase I/O: messages between the members of a channel.
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

/** A piece, or several that are adjacent in the file, as it is sent. */
typedef struct mpix_endpoints_span_t {
    int64_t offset, length;
} mpix_endpoints_span_t;

/** The amount of one member's pieces in the domain of another one. */
typedef struct mpix_endpoints_amount_t {
    int64_t spans, bytes;
} mpix_endpoints_amount_t;

typedef struct mpix_endpoints_amounts_t {
    mpix_endpoints_amount_t sends, receives;
} mpix_endpoints_amounts_t;

/**
 * The pieces of one process in the domain of a member of another one, as a sequence of bytes that
 * is cut into chunks.  Both ends have a stream.
 */
typedef struct mpix_endpoints_stream_t {
    int rank; /**< of the other end */
    mca_common_ompio_io_array_t *pieces; /**< with the user's memory; at the other end, with the
                                          * offset in the stream */
    int64_t count;
    size_t bytes;
    char *buffer;                                         /**< for chunks */
    ompi_request_t *request[MPIX_ENDPOINTS_STREAM_SLOTS]; /**< NULL: none is under way */
    char *memory[MPIX_ENDPOINTS_STREAM_SLOTS];            /**< of chunks, behind their heads */

    /* Numbers of chunks: messages have been begun up to here; moved up to here, but calls of the
     * system may still need the memory; released up to here. */
    size_t begun, used, ended;

    /* The user's end. */
    int64_t at;  /**< piece in which the next chunk begins */
    size_t skip; /**< bytes of that piece before it */
    mpix_endpoints_span_t *spans;
    int64_t span_count;
} mpix_endpoints_stream_t;

typedef struct mpix_endpoints_shuffle_t {
    const ompio_file_t *file;
    bool writes;
    int count;    /**< of processes; there is no stream for the own one */
    int own;      /**< process */
    size_t chunk; /**< bytes of a chunk, except the last one */

    /* By processes. */
    mpix_endpoints_amounts_t *amounts;
    mpix_endpoints_stream_t *my_req;     /**< pieces of this process in the domains of others */
    mpix_endpoints_stream_t *others_req; /**< pieces of others in the domain of this member */

    int64_t file_end; /**< as far as known; sent with chunks that have been read */
    int error;        /**< a message has failed; an MPI class, or MPI_SUCCESS */
    bool flows;       /**< messages are chunks */
    mpix_endpoints_wait_t wait;
} mpix_endpoints_shuffle_t;

/** Begin.  Local.  @return OMPI_SUCCESS or an error; to be ended in any case */
int mpix_endpoints_shuffle_begin(mpix_endpoints_shuffle_t *shuffle, const ompio_file_t *file,
                                 const mpix_endpoints_local_view_t *view, bool writes);

/** my_req has its pieces, which stay the caller's: coalesce them to spans.  Local.
 * @return OMPI_SUCCESS or an error */
int mpix_endpoints_shuffle_coalesce(mpix_endpoints_shuffle_t *shuffle);

/** Exchange amounts.  @return OMPI_SUCCESS or an error */
int mpix_endpoints_shuffle_counts(mpix_endpoints_shuffle_t *shuffle);

/** Allocate memory for the pieces of others, and for chunks.  Local.
 * @return OMPI_SUCCESS or an error */
int mpix_endpoints_shuffle_allocate(mpix_endpoints_shuffle_t *shuffle);

/** Exchange spans, and begin with the chunks.
 * @param[in] start, end  of the domain of this member */
int mpix_endpoints_shuffle_spans(mpix_endpoints_shuffle_t *shuffle, int64_t start, int64_t end);

/**
 * The memory of the next chunk of a stream of others_req: with data for a write, free for a read.
 * Waits for it, and progresses the other streams meanwhile.
 *
 * @param[in]  place    in the stream, in bytes
 * @param[out] bytes_p  of the chunk from there on
 * @return NULL: a message has failed; or all memory is in use, and has to be released
 */
char *mpix_endpoints_shuffle_chunk(mpix_endpoints_shuffle_t *shuffle,
                                   mpix_endpoints_stream_t *stream, size_t place, size_t *bytes_p);

/** Release the memory of all used chunks of others_req: calls of the system do not need it. */
void mpix_endpoints_shuffle_release(mpix_endpoints_shuffle_t *shuffle);

/** Wait for all messages.  @return OMPI_SUCCESS or an error */
int mpix_endpoints_shuffle_wait(mpix_endpoints_shuffle_t *shuffle);

/** Free what the shuffle has.  No message is under way. */
void mpix_endpoints_shuffle_end(mpix_endpoints_shuffle_t *shuffle);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_SHUFFLE_H */
