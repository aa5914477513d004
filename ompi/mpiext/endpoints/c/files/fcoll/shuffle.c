/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The shuffle of two-phase I/O: messages of the members of a channel, one of each process.  First
 * which pieces each process has in the domain of each other one; then their data, in chunks, of
 * which two are under way at a time.  While a member waits for a chunk of one stream it progresses
 * all others, so no order in which chunks are needed can deadlock.
 *
 * Any loss ends all messages (the engine's contract); the rest is cancelled, and the members reduce
 * the error.
 *
 * Tests: file_blocks, file_death, file_nomem (locked)
 */

#include "ompi_config.h"

#include "../members/members.h"
#include "mpiext_endpoints_shuffle.h"

#if MPIX_ENDPOINTS_FILES

#    include <stdlib.h>
#    include <string.h>

typedef mpix_endpoints_shuffle_t shuffle_t;
typedef mpix_endpoints_stream_t stream_t;
typedef mca_common_ompio_io_array_t piece_t;

enum { SLOTS = MPIX_ENDPOINTS_STREAM_SLOTS };

/** Tags of messages. */
enum { COUNTS = 1, PIECES, CHUNKS };

/** Bytes: of all chunks of a member at a time, and of one chunk. */
#    define CHUNKS_MOST ((size_t) 32 << 20)
#    define CHUNK_MOST ((size_t) 1 << 20)
#    define CHUNK_LEAST ((size_t) 64 << 10)

/** Bytes before a chunk.  If it has been read, the last 8 of them are the end of the file, and are
 * sent with it. */
#    define HEAD 64

static void shuffle_fail(shuffle_t *shuffle, int rc)
{
    if (MPI_SUCCESS == shuffle->error) {
        shuffle->error = rc;
    }
}

static void shuffle_send(shuffle_t *shuffle, stream_t *stream, size_t slot, const void *bytes,
                         size_t size, int tag)
{
    const int rc = mpix_endpoints_message_send(shuffle->file->f_comm, stream->rank, tag, bytes,
                                               size, &stream->request[slot]);

    if (MPI_SUCCESS != rc) {
        shuffle_fail(shuffle, rc);
    }
}

static void shuffle_receive(shuffle_t *shuffle, stream_t *stream, size_t slot, void *bytes,
                            size_t size, int tag)
{
    const int rc = mpix_endpoints_message_receive(shuffle->file->f_comm, stream->rank, tag, bytes,
                                                  size, &stream->request[slot]);

    if (MPI_SUCCESS != rc) {
        shuffle_fail(shuffle, rc);
    }
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static size_t stream_chunks(const shuffle_t *shuffle, const stream_t *stream)
{
    return (stream->bytes + shuffle->chunk - 1) / shuffle->chunk;
}

static size_t stream_chunk_bytes(const shuffle_t *shuffle, const stream_t *stream, size_t chunk)
{
    const size_t left = stream->bytes - chunk * shuffle->chunk;

    return left < shuffle->chunk ? left : shuffle->chunk;
}

/** Copy between the user's memory, from the stream's position on, and a chunk.
 * @param[in] out       to the chunk
 * @param[in] file_end  nothing has been read behind it */
static void stream_copy(stream_t *stream, char *chunk, size_t bytes, bool out, int64_t file_end)
{
    while (0 < bytes) {
        const piece_t *piece = &stream->pieces[stream->at];
        const size_t left = piece->length - stream->skip, now = left < bytes ? left : bytes;
        char *const memory = (char *) piece->memory_address + stream->skip;

        if (out) {
            memcpy(chunk, memory, now);
        } else {
            const int64_t before = file_end - (int64_t) (intptr_t) piece->offset
                                   - (int64_t) stream->skip;

            memcpy(memory, chunk, 0 > before ? 0 : before < (int64_t) now ? (size_t) before : now);
        }
        stream->at += now == left;
        stream->skip = now == left ? 0 : stream->skip + now;
        chunk += now;
        bytes -= now;
    }
}

/** The next bytes to be sent, if they are contiguous: they need no copy.  @return NULL: they are
 * not */
static char *stream_contiguous(stream_t *stream, size_t bytes)
{
    const piece_t *piece = &stream->pieces[stream->at];
    char *const memory = (char *) piece->memory_address + stream->skip;

    if (piece->length - stream->skip < bytes) {
        return NULL;
    }
    stream->skip += bytes;
    if (piece->length == stream->skip) {
        ++stream->at;
        stream->skip = 0;
    }
    return memory;
}

static void stream_send_chunks(shuffle_t *shuffle, stream_t *stream)
{
    while (MPI_SUCCESS == shuffle->error && stream->begun < stream_chunks(shuffle, stream)
           && NULL == stream->request[stream->begun % SLOTS]) {
        const size_t slot = stream->begun % SLOTS,
                     bytes = stream_chunk_bytes(shuffle, stream, stream->begun);
        char *memory = stream_contiguous(stream, bytes);

        if (NULL == memory) {
            memory = stream->memory[slot];
            stream_copy(stream, memory, bytes, true, 0);
        }
        shuffle_send(shuffle, stream, slot, memory, bytes, CHUNKS);
        ++stream->begun;
    }
}

/** Receive into free memory. */
static void stream_receive_chunks(shuffle_t *shuffle, stream_t *stream)
{
    const size_t head = shuffle->writes ? 0 : sizeof(int64_t);

    while (MPI_SUCCESS == shuffle->error && stream->begun < stream_chunks(shuffle, stream)
           && stream->begun < stream->ended + SLOTS) {
        const size_t slot = stream->begun % SLOTS;

        shuffle_receive(shuffle, stream, slot, stream->memory[slot] - head,
                        stream_chunk_bytes(shuffle, stream, stream->begun) + head, CHUNKS);
        ++stream->begun;
    }
}

/** Copy complete chunks to the user, in their order, which may not be that of completion. */
static void stream_take_chunks(shuffle_t *shuffle, stream_t *stream)
{
    while (MPI_SUCCESS == shuffle->error && stream->ended < stream->begun
           && NULL == stream->request[stream->ended % SLOTS]) {
        char *const memory = stream->memory[stream->ended % SLOTS];
        int64_t file_end;

        memcpy(&file_end, memory - sizeof(file_end), sizeof(file_end));
        stream_copy(stream, memory, stream_chunk_bytes(shuffle, stream, stream->ended), false,
                    file_end);
        ++stream->ended;
    }
    stream_receive_chunks(shuffle, stream);
}

/** Send chunks whose reads have been done. */
static void stream_send_read_chunks(shuffle_t *shuffle, stream_t *stream)
{
    while (MPI_SUCCESS == shuffle->error && stream->begun < stream->used) {
        const size_t slot = stream->begun % SLOTS;
        char *const message = stream->memory[slot] - sizeof(shuffle->file_end);

        memcpy(message, &shuffle->file_end, sizeof(shuffle->file_end));
        shuffle_send(shuffle, stream, slot, message,
                     stream_chunk_bytes(shuffle, stream, stream->begun) + sizeof(shuffle->file_end),
                     CHUNKS);
        ++stream->begun;
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

/** A message of a stream is complete: begin the next ones. */
static void stream_advance(shuffle_t *shuffle, stream_t *stream)
{
    if (!shuffle->flows || stream < shuffle->my_req || stream >= shuffle->my_req + shuffle->count) {
        return; /* streams of others' requests are advanced by the release of chunks */
    }
    if (shuffle->writes) {
        stream_send_chunks(shuffle, stream);
    } else {
        stream_take_chunks(shuffle, stream);
    }
}

/** Complete the messages of a stream; cancel them if any message has failed.  @return is one under
 * way? */
static bool stream_progress(shuffle_t *shuffle, stream_t *stream)
{
    bool is_busy = false;

    for (size_t slot = 0; slot < SLOTS; ++slot) {
        ompi_request_t **request = &stream->request[slot];

        if (NULL == *request) {
            continue;
        }
        if (mpix_endpoints_message_is_complete(*request)) {
            const int rc = mpix_endpoints_message_end(request);

            if (MPI_SUCCESS != rc) {
                shuffle_fail(shuffle, rc);
            }
            stream_advance(shuffle, stream);
        } else if (OPAL_UNLIKELY(MPI_SUCCESS != shuffle->error)) {
            /* A message in a pending queue cannot be cancelled before it has left: each time. */
            (void) ompi_request_cancel(*request);
        }
        is_busy = is_busy || NULL != *request;
    }
    return is_busy;
}

static bool shuffle_progress(shuffle_t *shuffle)
{
    bool is_busy = false;

    for (int process = 0; process < shuffle->count; ++process) {
        is_busy = stream_progress(shuffle, &shuffle->my_req[process]) || is_busy;
        is_busy = stream_progress(shuffle, &shuffle->others_req[process]) || is_busy;
    }
    return is_busy;
}

static void shuffle_wait_turn(shuffle_t *shuffle)
{
    /* A loss ends the messages. */
    (void) mpix_endpoints_client_engine()->wait_progress(shuffle->file->f_comm,
                                                         MPIX_ENDPOINTS_ANY_RANK, &shuffle->wait);
}

static void shuffle_wait_end(shuffle_t *shuffle)
{
    if (0 != shuffle->wait.words[0]) {
        mpix_endpoints_client_engine()->wait_end(&shuffle->wait);
    }
    shuffle->wait = (mpix_endpoints_wait_t){.words = {0}};
}

int mpix_endpoints_shuffle_wait(shuffle_t *shuffle)
{
    while (shuffle_progress(shuffle)) {
        shuffle_wait_turn(shuffle);
    }
    shuffle_wait_end(shuffle);
    return MPI_SUCCESS == shuffle->error ? OMPI_SUCCESS : shuffle->error;
}

char *mpix_endpoints_shuffle_chunk(shuffle_t *shuffle, stream_t *stream, size_t place,
                                   size_t *bytes_p)
{
    const size_t chunk = place / shuffle->chunk, slot = chunk % SLOTS;

    if (MPI_SUCCESS != shuffle->error
        || (shuffle->writes ? stream->begun <= chunk : stream->begun + SLOTS <= chunk)) {
        return NULL;
    }
    while (NULL != stream->request[slot] && MPI_SUCCESS == shuffle->error) {
        (void) shuffle_progress(shuffle);
        if (NULL != stream->request[slot]) {
            shuffle_wait_turn(shuffle);
        }
    }
    shuffle_wait_end(shuffle);
    if (MPI_SUCCESS != shuffle->error) {
        return NULL;
    }
    place -= chunk * shuffle->chunk;
    *bytes_p = stream_chunk_bytes(shuffle, stream, chunk) - place;
    return stream->memory[slot] + place;
}

void mpix_endpoints_shuffle_release(shuffle_t *shuffle)
{
    for (int process = 0; process < shuffle->count; ++process) {
        stream_t *stream = &shuffle->others_req[process];

        stream->ended = stream->used;
        if (shuffle->writes) {
            stream_receive_chunks(shuffle, stream);
        } else {
            stream_send_read_chunks(shuffle, stream);
        }
    }
    (void) shuffle_progress(shuffle);
}

/* ---- begin, end ------------------------------------------------------------------------------ */

int mpix_endpoints_shuffle_begin(shuffle_t *shuffle, const ompio_file_t *file,
                                 const mpix_endpoints_local_view_t *view, bool writes)
{
    const size_t count = (size_t) view->processes;
    const size_t chunk = CHUNKS_MOST / (2 * SLOTS * count) / CHUNK_LEAST * CHUNK_LEAST;

    *shuffle = (shuffle_t){.file = file,
                           .writes = writes,
                           .count = view->processes,
                           .own = view->process,
                           .chunk = chunk < CHUNK_LEAST  ? CHUNK_LEAST
                                    : chunk > CHUNK_MOST ? CHUNK_MOST
                                                         : chunk,
                           .file_end = INT64_MAX,
                           .error = MPI_SUCCESS};
    shuffle->amounts = calloc(count, sizeof(*shuffle->amounts));
    shuffle->my_req = calloc(2 * count, sizeof(*shuffle->my_req));
    shuffle->others_req = NULL == shuffle->my_req ? NULL : shuffle->my_req + count;
    if (NULL == shuffle->amounts || NULL == shuffle->my_req) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (size_t process = 0; process < count; ++process) {
        shuffle->my_req[process].rank = shuffle->others_req[process].rank = view->ranks[process];
    }
    return OMPI_SUCCESS;
}

void mpix_endpoints_shuffle_end(shuffle_t *shuffle)
{
    for (int process = 0; NULL != shuffle->my_req && process < shuffle->count; ++process) {
        free(shuffle->others_req[process].pieces);
        free(shuffle->others_req[process].buffer);
        free(shuffle->my_req[process].buffer);
        free(shuffle->my_req[process].spans);
    }
    free(shuffle->my_req);
    free(shuffle->amounts);
}

int mpix_endpoints_shuffle_coalesce(shuffle_t *shuffle)
{
    for (int process = 0; process < shuffle->count; ++process) {
        stream_t *my_req = &shuffle->my_req[process];
        mpix_endpoints_span_t *last = NULL;

        my_req->spans = 0 < my_req->count ? malloc((size_t) my_req->count * sizeof(*my_req->spans))
                                          : NULL;
        if (0 < my_req->count && NULL == my_req->spans) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        for (int64_t i = 0; i < my_req->count; ++i) {
            const int64_t offset = (int64_t) (intptr_t) my_req->pieces[i].offset;
            const int64_t length = (int64_t) my_req->pieces[i].length;

            if (NULL != last && last->offset + last->length == offset) {
                last->length += length;
            } else {
                last = &my_req->spans[my_req->span_count++];
                *last = (mpix_endpoints_span_t){offset, length};
            }
            my_req->bytes += (size_t) length;
        }
    }
    return OMPI_SUCCESS;
}

int mpix_endpoints_shuffle_counts(shuffle_t *shuffle)
{
    for (int process = 0; process < shuffle->count; ++process) {
        stream_t *my_req = &shuffle->my_req[process];
        mpix_endpoints_amounts_t *amounts = &shuffle->amounts[process];

        if (process != shuffle->own) {
            amounts->sends = (mpix_endpoints_amount_t){my_req->span_count, (int64_t) my_req->bytes};
            shuffle_receive(shuffle, &shuffle->others_req[process], 0, &amounts->receives,
                            sizeof(amounts->receives), COUNTS);
            shuffle_send(shuffle, my_req, 0, &amounts->sends, sizeof(amounts->sends), COUNTS);
        }
    }
    return mpix_endpoints_shuffle_wait(shuffle);
}

/** Memory for chunks.  @return false: none */
static bool stream_allocate(const shuffle_t *shuffle, stream_t *stream)
{
    size_t size = stream->bytes < shuffle->chunk ? stream->bytes : shuffle->chunk;

    if (0 == size) {
        return true;
    }
    size = HEAD + (size + HEAD - 1) / HEAD * HEAD;
    stream->buffer = malloc(SLOTS * size);
    for (size_t slot = 0; NULL != stream->buffer && slot < SLOTS; ++slot) {
        stream->memory[slot] = stream->buffer + slot * size + HEAD;
    }
    return NULL != stream->buffer;
}

int mpix_endpoints_shuffle_allocate(shuffle_t *shuffle)
{
    for (int process = 0; process < shuffle->count; ++process) {
        stream_t *others_req = &shuffle->others_req[process];

        others_req->count = shuffle->amounts[process].receives.spans;
        others_req->bytes = (size_t) shuffle->amounts[process].receives.bytes;
        if (0 > others_req->count || others_req->count > shuffle->amounts[process].receives.bytes
            || others_req->count > PTRDIFF_MAX / (int64_t) sizeof(*others_req->pieces)) {
            return OMPI_ERROR; /* no sound peer sends this */
        }
        if (0 < others_req->count) {
            others_req->pieces = malloc((size_t) others_req->count * sizeof(*others_req->pieces));
            if (NULL == others_req->pieces) {
                return OMPI_ERR_OUT_OF_RESOURCE;
            }
        }
        if (!stream_allocate(shuffle, others_req)
            || !stream_allocate(shuffle, &shuffle->my_req[process])) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
    }
    return OMPI_SUCCESS;
}

/** Spans are received at the end of the memory of the pieces that they become. */
static mpix_endpoints_span_t *stream_spans(const stream_t *others_req)
{
    return (mpix_endpoints_span_t *) (void *) (others_req->pieces + others_req->count)
           - others_req->count;
}

/** Spans to pieces.  @return false: no sound peer has sent them */
static bool stream_unpack_spans(stream_t *others_req, int64_t start, int64_t end)
{
    const mpix_endpoints_span_t *spans = stream_spans(others_req);
    int64_t bytes = 0;

    for (int64_t i = 0; i < others_req->count; ++i) {
        const mpix_endpoints_span_t span = spans[i]; /* the piece may overlap it */

        if (span.offset < start || span.offset >= end || 0 >= span.length
            || span.length > end - span.offset) {
            return false;
        }
        start = span.offset; /* in ascending order */
        others_req->pieces[i] = (piece_t){.memory_address = (void *) (intptr_t) bytes,
                                          .offset = (void *) (intptr_t) span.offset,
                                          .length = (size_t) span.length};
        bytes += span.length;
    }
    return bytes == (int64_t) others_req->bytes;
}

int mpix_endpoints_shuffle_spans(shuffle_t *shuffle, int64_t start, int64_t end)
{
    for (int process = 0; process < shuffle->count; ++process) {
        stream_t *my_req = &shuffle->my_req[process], *others_req = &shuffle->others_req[process];

        if (0 < others_req->count) {
            shuffle_receive(shuffle, others_req, 0, stream_spans(others_req),
                            (size_t) others_req->count * sizeof(mpix_endpoints_span_t), PIECES);
        }
        if (0 < my_req->span_count) {
            shuffle_send(shuffle, my_req, 0, my_req->spans,
                         (size_t) my_req->span_count * sizeof(*my_req->spans), PIECES);
        }
    }
    (void) mpix_endpoints_shuffle_wait(shuffle);
    for (int process = 0; MPI_SUCCESS == shuffle->error && process < shuffle->count; ++process) {
        if (!stream_unpack_spans(&shuffle->others_req[process], start, end)) {
            shuffle_fail(shuffle, MPI_ERR_INTERN);
        }
    }
    shuffle->flows = true;
    for (int process = 0; process < shuffle->count; ++process) {
        stream_t *my_req = &shuffle->my_req[process];

        if (shuffle->writes) {
            stream_receive_chunks(shuffle, &shuffle->others_req[process]);
            stream_send_chunks(shuffle, my_req);
        } else {
            stream_receive_chunks(shuffle, my_req);
        }
    }
    return MPI_SUCCESS == shuffle->error ? OMPI_SUCCESS : shuffle->error;
}

#endif
