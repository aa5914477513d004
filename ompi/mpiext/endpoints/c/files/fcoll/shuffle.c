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
 * What the members of a channel, one of each process, send each other in a collective read or
 * write: which pieces of the file each process has in the part of each, and the data of these, in
 * chunks, of which two are under way at a time.  Who waits for a chunk of one stream serves all
 * others meanwhile, so no order in which they are needed can make members wait for each other.
 *
 * Losses end messages (the door says so), with any member's; then all are taken back, and the
 * members meet with the error.
 *
 * Tests: file_blocks, file_death, file_nomem (locked)
 */

#include "ompi_config.h"

#include "../members/members.h"
#include "mpiext_endpoints_shuffle.h"

#if MPIX_ENDPOINTS_FILES

#    include <stdlib.h>
#    include <string.h>

typedef mpix_endpoints_streams_t streams_t;
typedef mpix_endpoints_stream_t stream_t;
typedef mca_common_ompio_io_array_t piece_t;

enum { SLOTS = MPIX_ENDPOINTS_STREAM_SLOTS };

/** Tags: what a message is. */
enum { COUNTS = 1, PIECES, CHUNKS };

/** All chunks of a member at once, and of one of them, in bytes. */
#    define CHUNKS_MOST ((size_t) 32 << 20)
#    define CHUNK_MOST ((size_t) 1 << 20)
#    define CHUNK_LEAST ((size_t) 64 << 10)

/** Before a chunk that has been read goes where the file ends, at the end of so many bytes. */
#    define HEAD 64

static const mpix_endpoints_door_t *door(void)
{
    return mpix_endpoints_table()->door;
}

static void fail(streams_t *streams, int rc)
{
    if (MPI_SUCCESS == streams->error) {
        streams->error = rc;
    }
}

static void send_bytes(streams_t *streams, stream_t *stream, size_t slot, const void *bytes,
                       size_t size, int tag)
{
    const int rc = mpix_endpoints_message_send(streams->file->f_comm, stream->rank, tag, bytes,
                                               size, &stream->request[slot]);

    if (MPI_SUCCESS != rc) {
        fail(streams, rc);
    }
}

static void receive_bytes(streams_t *streams, stream_t *stream, size_t slot, void *bytes,
                          size_t size, int tag)
{
    const int rc = mpix_endpoints_message_receive(streams->file->f_comm, stream->rank, tag, bytes,
                                                  size, &stream->request[slot]);

    if (MPI_SUCCESS != rc) {
        fail(streams, rc);
    }
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static size_t chunks_of(const streams_t *streams, const stream_t *stream)
{
    return (stream->bytes + streams->chunk - 1) / streams->chunk;
}

static size_t bytes_of(const streams_t *streams, const stream_t *stream, size_t chunk)
{
    const size_t left = stream->bytes - chunk * streams->chunk;

    return left < streams->chunk ? left : streams->chunk;
}

/** The user's memory to a chunk, or back: bytes of it from where the stream is.
 * @param[in] file_end  behind which nothing has been read */
static void copy(stream_t *stream, char *chunk, size_t bytes, bool out, int64_t file_end)
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

/** What is to be sent next lies in one place: it needs no copy.  @return it, or NULL */
static char *in_one_place(stream_t *stream, size_t bytes)
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

static void send_chunks(streams_t *streams, stream_t *stream)
{
    while (MPI_SUCCESS == streams->error && stream->begun < chunks_of(streams, stream)
           && NULL == stream->request[stream->begun % SLOTS]) {
        const size_t slot = stream->begun % SLOTS,
                     bytes = bytes_of(streams, stream, stream->begun);
        char *memory = in_one_place(stream, bytes);

        if (NULL == memory) {
            memory = stream->memory[slot];
            copy(stream, memory, bytes, true, 0);
        }
        send_bytes(streams, stream, slot, memory, bytes, CHUNKS);
        ++stream->begun;
    }
}

/** Into memory that is not in use. */
static void receive_chunks(streams_t *streams, stream_t *stream)
{
    const size_t head = streams->writes ? 0 : sizeof(int64_t);

    while (MPI_SUCCESS == streams->error && stream->begun < chunks_of(streams, stream)
           && stream->begun < stream->ended + SLOTS) {
        const size_t slot = stream->begun % SLOTS;

        receive_bytes(streams, stream, slot, stream->memory[slot] - head,
                      bytes_of(streams, stream, stream->begun) + head, CHUNKS);
        ++stream->begun;
    }
}

/** In their order, which may not be that in which they are complete. */
static void take_chunks(streams_t *streams, stream_t *stream)
{
    while (MPI_SUCCESS == streams->error && stream->ended < stream->begun
           && NULL == stream->request[stream->ended % SLOTS]) {
        char *const memory = stream->memory[stream->ended % SLOTS];
        int64_t file_end;

        memcpy(&file_end, memory - sizeof(file_end), sizeof(file_end));
        copy(stream, memory, bytes_of(streams, stream, stream->ended), false, file_end);
        ++stream->ended;
    }
    receive_chunks(streams, stream);
}

/** What has been read, as far as the calls of the system for it are over. */
static void send_read_chunks(streams_t *streams, stream_t *stream)
{
    while (MPI_SUCCESS == streams->error && stream->begun < stream->used) {
        const size_t slot = stream->begun % SLOTS;
        char *const message = stream->memory[slot] - sizeof(streams->file_end);

        memcpy(message, &streams->file_end, sizeof(streams->file_end));
        send_bytes(streams, stream, slot, message,
                   bytes_of(streams, stream, stream->begun) + sizeof(streams->file_end), CHUNKS);
        ++stream->begun;
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

/** A message of a stream is through: what comes next? */
static void go_on(streams_t *streams, stream_t *stream)
{
    if (!streams->flows || stream < streams->away || stream >= streams->away + streams->count) {
        return; /* what is moved here goes on when it has been moved */
    }
    if (streams->writes) {
        send_chunks(streams, stream);
    } else {
        take_chunks(streams, stream);
    }
}

/** @return whether any message is under way; takes all back where one has failed */
static bool serve_stream(streams_t *streams, stream_t *stream)
{
    bool is_busy = false;

    for (size_t slot = 0; slot < SLOTS; ++slot) {
        ompi_request_t **request = &stream->request[slot];

        if (NULL == *request) {
            continue;
        }
        if (mpix_endpoints_message_is_over(*request)) {
            const int rc = mpix_endpoints_message_end(request);

            if (MPI_SUCCESS != rc) {
                fail(streams, rc);
            }
            go_on(streams, stream);
        } else if (OPAL_UNLIKELY(MPI_SUCCESS != streams->error)) {
            /* One that has not left yet, for want of room, cannot be taken back before it has: each
             * time. */
            (void) ompi_request_cancel(*request);
        }
        is_busy = is_busy || NULL != *request;
    }
    return is_busy;
}

static bool serve(streams_t *streams)
{
    bool is_busy = false;

    for (int process = 0; process < streams->count; ++process) {
        is_busy = serve_stream(streams, &streams->away[process]) || is_busy;
        is_busy = serve_stream(streams, &streams->here[process]) || is_busy;
    }
    return is_busy;
}

static void turn(streams_t *streams)
{
    /* Who is lost ends messages. */
    (void) door()->wait_turn(streams->file->f_comm, MPIX_ENDPOINTS_ANYBODY, &streams->wait);
}

static void turned(streams_t *streams)
{
    if (0 != streams->wait.words[0]) {
        door()->wait_end(&streams->wait);
    }
    streams->wait = (mpix_endpoints_wait_t){.words = {0}};
}

int mpix_endpoints_streams_finish(streams_t *streams)
{
    while (serve(streams)) {
        turn(streams);
    }
    turned(streams);
    return MPI_SUCCESS == streams->error ? OMPI_SUCCESS : streams->error;
}

char *mpix_endpoints_streams_at(streams_t *streams, stream_t *stream, size_t place, size_t *bytes_p)
{
    const size_t chunk = place / streams->chunk, slot = chunk % SLOTS;

    if (MPI_SUCCESS != streams->error
        || (streams->writes ? stream->begun <= chunk : stream->begun + SLOTS <= chunk)) {
        return NULL;
    }
    while (NULL != stream->request[slot] && MPI_SUCCESS == streams->error) {
        (void) serve(streams);
        if (NULL != stream->request[slot]) {
            turn(streams);
        }
    }
    turned(streams);
    if (MPI_SUCCESS != streams->error) {
        return NULL;
    }
    place -= chunk * streams->chunk;
    *bytes_p = bytes_of(streams, stream, chunk) - place;
    return stream->memory[slot] + place;
}

void mpix_endpoints_streams_used_over(streams_t *streams)
{
    for (int process = 0; process < streams->count; ++process) {
        stream_t *stream = &streams->here[process];

        stream->ended = stream->used;
        if (streams->writes) {
            receive_chunks(streams, stream);
        } else {
            send_read_chunks(streams, stream);
        }
    }
    (void) serve(streams);
}

/* ---- their life ------------------------------------------------------------------------------ */

int mpix_endpoints_streams_begin(streams_t *streams, const ompio_file_t *file,
                                 const mpix_endpoints_crew_view_t *view, bool writes)
{
    const size_t count = (size_t) view->processes;
    const size_t chunk = CHUNKS_MOST / (2 * SLOTS * count) / CHUNK_LEAST * CHUNK_LEAST;

    *streams = (streams_t){.file = file,
                           .writes = writes,
                           .count = view->processes,
                           .own = view->process,
                           .chunk = chunk < CHUNK_LEAST  ? CHUNK_LEAST
                                    : chunk > CHUNK_MOST ? CHUNK_MOST
                                                         : chunk,
                           .file_end = INT64_MAX,
                           .error = MPI_SUCCESS};
    streams->said = calloc(count, sizeof(*streams->said));
    streams->away = calloc(2 * count, sizeof(*streams->away));
    streams->here = NULL == streams->away ? NULL : streams->away + count;
    if (NULL == streams->said || NULL == streams->away) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (size_t process = 0; process < count; ++process) {
        streams->away[process].rank = streams->here[process].rank = view->ranks[process];
    }
    return OMPI_SUCCESS;
}

void mpix_endpoints_streams_end(streams_t *streams)
{
    for (int process = 0; NULL != streams->away && process < streams->count; ++process) {
        free(streams->here[process].pieces);
        free(streams->here[process].room);
        free(streams->away[process].room);
        free(streams->away[process].spans);
    }
    free(streams->away);
    free(streams->said);
}

int mpix_endpoints_streams_fold(streams_t *streams)
{
    for (int process = 0; process < streams->count; ++process) {
        stream_t *away = &streams->away[process];
        mpix_endpoints_span_t *last = NULL;

        away->spans = 0 < away->count ? malloc((size_t) away->count * sizeof(*away->spans)) : NULL;
        if (0 < away->count && NULL == away->spans) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        for (int64_t i = 0; i < away->count; ++i) {
            const int64_t offset = (int64_t) (intptr_t) away->pieces[i].offset;
            const int64_t length = (int64_t) away->pieces[i].length;

            if (NULL != last && last->offset + last->length == offset) {
                last->length += length;
            } else {
                last = &away->spans[away->span_count++];
                *last = (mpix_endpoints_span_t){offset, length};
            }
            away->bytes += (size_t) length;
        }
    }
    return OMPI_SUCCESS;
}

int mpix_endpoints_streams_count(streams_t *streams)
{
    for (int process = 0; process < streams->count; ++process) {
        stream_t *away = &streams->away[process];
        mpix_endpoints_said_t *said = &streams->said[process];

        if (process != streams->own) {
            said->sends = (mpix_endpoints_amount_t){away->span_count, (int64_t) away->bytes};
            receive_bytes(streams, &streams->here[process], 0, &said->comes, sizeof(said->comes),
                          COUNTS);
            send_bytes(streams, away, 0, &said->sends, sizeof(said->sends), COUNTS);
        }
    }
    return mpix_endpoints_streams_finish(streams);
}

/** Memory for chunks. */
static bool make_room(const streams_t *streams, stream_t *stream)
{
    size_t size = stream->bytes < streams->chunk ? stream->bytes : streams->chunk;

    if (0 == size) {
        return true;
    }
    size = HEAD + (size + HEAD - 1) / HEAD * HEAD;
    stream->room = malloc(SLOTS * size);
    for (size_t slot = 0; NULL != stream->room && slot < SLOTS; ++slot) {
        stream->memory[slot] = stream->room + slot * size + HEAD;
    }
    return NULL != stream->room;
}

int mpix_endpoints_streams_room(streams_t *streams)
{
    for (int process = 0; process < streams->count; ++process) {
        stream_t *here = &streams->here[process];

        here->count = streams->said[process].comes.spans;
        here->bytes = (size_t) streams->said[process].comes.bytes;
        if (0 > here->count || here->count > streams->said[process].comes.bytes
            || here->count > PTRDIFF_MAX / (int64_t) sizeof(*here->pieces)) {
            return OMPI_ERROR; /* nobody sound says so */
        }
        if (0 < here->count) {
            here->pieces = malloc((size_t) here->count * sizeof(*here->pieces));
            if (NULL == here->pieces) {
                return OMPI_ERR_OUT_OF_RESOURCE;
            }
        }
        if (!make_room(streams, here) || !make_room(streams, &streams->away[process])) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
    }
    return OMPI_SUCCESS;
}

/** Where spans are received: at the end of the memory of the pieces that they become. */
static mpix_endpoints_span_t *spans_of(const stream_t *here)
{
    return (mpix_endpoints_span_t *) (void *) (here->pieces + here->count) - here->count;
}

/** Spans to pieces.  @return false: nobody sound has sent them */
static bool unfold(stream_t *here, int64_t start, int64_t end)
{
    const mpix_endpoints_span_t *spans = spans_of(here);
    int64_t bytes = 0;

    for (int64_t i = 0; i < here->count; ++i) {
        const mpix_endpoints_span_t span = spans[i]; /* the piece may lie on it */

        if (span.offset < start || span.offset >= end || 0 >= span.length
            || span.length > end - span.offset) {
            return false;
        }
        start = span.offset; /* in ascending order */
        here->pieces[i] = (piece_t){.memory_address = (void *) (intptr_t) bytes,
                                    .offset = (void *) (intptr_t) span.offset,
                                    .length = (size_t) span.length};
        bytes += span.length;
    }
    return bytes == (int64_t) here->bytes;
}

int mpix_endpoints_streams_tell(streams_t *streams, int64_t start, int64_t end)
{
    for (int process = 0; process < streams->count; ++process) {
        stream_t *away = &streams->away[process], *here = &streams->here[process];

        if (0 < here->count) {
            receive_bytes(streams, here, 0, spans_of(here),
                          (size_t) here->count * sizeof(mpix_endpoints_span_t), PIECES);
        }
        if (0 < away->span_count) {
            send_bytes(streams, away, 0, away->spans,
                       (size_t) away->span_count * sizeof(*away->spans), PIECES);
        }
    }
    (void) mpix_endpoints_streams_finish(streams);
    for (int process = 0; MPI_SUCCESS == streams->error && process < streams->count; ++process) {
        if (!unfold(&streams->here[process], start, end)) {
            fail(streams, MPI_ERR_INTERN);
        }
    }
    streams->flows = true;
    for (int process = 0; process < streams->count; ++process) {
        stream_t *away = &streams->away[process];

        if (streams->writes) {
            receive_chunks(streams, &streams->here[process]);
            send_chunks(streams, away);
        } else {
            receive_chunks(streams, away);
        }
    }
    return MPI_SUCCESS == streams->error ? OMPI_SUCCESS : streams->error;
}

#endif
