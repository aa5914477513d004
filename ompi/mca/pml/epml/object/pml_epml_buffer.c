/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A buffer that the user has attached to an endpoint, for its buffered sends.
 *
 * Messages in it are pieces, each with a header in front, in a list by address; a new one takes the
 * first gap that is large enough.  What a piece takes beside its data is less than
 * MPI_BSEND_OVERHEAD, so a buffer of the size that MPI says has room for what MPI says.
 *
 * Tests: p2p_bsend (static)
 */

#include "ompi_config.h"

#include "pml_epml_buffer.h"

#include <stdint.h>
#include <stdlib.h>

#include "ompi/constants.h"

enum { ALIGNMENT = 16 };

/** In front of each message. */
typedef struct piece_t {
    _Alignas(ALIGNMENT) struct piece_t *previous;
    struct piece_t *next;
    size_t bytes; /**< with this header; a multiple of ALIGNMENT */
} piece_t;
/* The buffer's beginning, and a message's end, may lie between two multiples. */
_Static_assert(sizeof(piece_t) + 2 * ALIGNMENT <= MPI_BSEND_OVERHEAD, "what MPI has users add");

/** What is attached. */
typedef struct mca_pml_epml_buffer_t {
    char *address;
    size_t size;
    piece_t *first; /**< by address; NULL: nothing is in it */
} buffer_t;

static size_t round_up(size_t value)
{
    return (value + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

int mca_pml_epml_buffer_attach(mca_pml_epml_ep_t *ep, void *address, size_t size)
{
    if (NULL != ep->buffer) {
        return MPI_ERR_BUFFER;
    }
    ep->buffer = calloc(1, sizeof(*ep->buffer));
    if (NULL == ep->buffer) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    ep->buffer->address = address;
    ep->buffer->size = size;
    return OMPI_SUCCESS;
}

bool mca_pml_epml_buffer_detach(mca_pml_epml_ep_t *ep, void **address, size_t *size)
{
    buffer_t *buffer = ep->buffer;

    *address = NULL;
    *size = 0;
    if (NULL == buffer) {
        return true;
    }
    if (NULL != buffer->first) {
        return false;
    }
    *address = buffer->address;
    *size = buffer->size;
    ep->buffer = NULL;
    free(buffer);
    return true;
}

/** Bytes from here to there; 0: it lies behind that. */
static size_t buffer_gap(uintptr_t from, uintptr_t to)
{
    return from < to ? to - from : 0;
}

void *mca_pml_epml_buffer_alloc(mca_pml_epml_ep_t *ep, size_t bytes)
{
    buffer_t *buffer = ep->buffer;
    const uintptr_t end = (uintptr_t) buffer->address + buffer->size;
    uintptr_t at = round_up((uintptr_t) buffer->address);
    piece_t *before = NULL, *behind = buffer->first, *piece;

    if (bytes > buffer->size) {
        return NULL; /* so sums below have room */
    }
    bytes = round_up(bytes + sizeof(*piece));
    while (NULL != behind && buffer_gap(at, (uintptr_t) behind) < bytes) {
        before = behind;
        at = (uintptr_t) behind + behind->bytes;
        behind = behind->next;
    }
    if (buffer_gap(at, end) < bytes) {
        return NULL;
    }
    piece = (piece_t *) at;
    *piece = (piece_t){.previous = before, .next = behind, .bytes = bytes};
    *(NULL != before ? &before->next : &buffer->first) = piece;
    if (NULL != behind) {
        behind->previous = piece;
    }
    return piece + 1;
}

bool mca_pml_epml_buffer_free(mca_pml_epml_ep_t *ep, void *room)
{
    buffer_t *buffer = ep->buffer;
    piece_t *piece = (piece_t *) room - 1;

    if (NULL == buffer || (char *) room < buffer->address
        || (char *) room >= buffer->address + buffer->size) {
        return false;
    }
    *(NULL != piece->previous ? &piece->previous->next : &buffer->first) = piece->next;
    if (NULL != piece->next) {
        piece->next->previous = piece->previous;
    }
    return true;
}
