/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The messages of random_traffic, as all ranks work them out: which, in which order, and the ranks
 * of each communicator's members.
 */

#include "random_traffic.h"

/* ---- the lists ---------------------------------------------------------------------------- */

static int random_size(uint64_t *stream, int max_bytes)
{
    static const int edges[] = {0,    8,    32,    40,    56,    64,     128,    256,    1024,
                                4096, 8192, 16384, 32768, 65536, 131072, 262144, 1048576};
    int num = 0, edge, size;

    while (num < (int) (sizeof(edges) / sizeof(edges[0])) && edges[num] <= max_bytes) {
        ++num;
    }
    /* Small ones more often: the lower of two choices. */
    edge = (int) ept_random_below(stream, (uint64_t) num);
    size = (int) ept_random_below(stream, (uint64_t) num);
    edge = edges[size < edge ? size : edge];
    switch (ept_random_below(stream, 3)) {
    case 0:
        size = edge + (int) ept_random_below(stream, 3) - 1;
        break;
    case 1:
        size = edge + (int) ept_random_below(stream, (uint64_t) edge / 8 + 50);
        break;
    default:
        size = (int) ept_random_below(stream, (uint64_t) edge + 1);
        break;
    }
    return size < 0 ? 0 : size > max_bytes ? max_bytes : size;
}

static struct list make_list(const struct traffic *f, int src, int dst)
{
    uint64_t stream = ept_mix(f->t->seed, (uint64_t) f->epoch, (uint64_t) src, (uint64_t) dst);
    int size = f->t->size;
    struct list l;

    /* per_rank in the mean; unevenly, some pairs not at all. */
    l.num = (int) ept_random_below(&stream, (uint64_t) (2 * f->per_rank / size + 2));
    l.messages = malloc(((size_t) l.num + 1) * sizeof(*l.messages));
    for (int i = 0; i < l.num; ++i) {
        struct message *m = &l.messages[i];

        m->comm = (int) ept_random_below(&stream, NUM_COMMS);
        m->tag = (int) ept_random_below(&stream, NUM_TAGS);
        m->bytes = random_size(&stream, f->max_bytes);
        m->mode = (enum send_mode) ept_random_below(&stream, NUM_MODES);
        if (SEND_BUFFERED == m->mode && BSEND_LIMIT < m->bytes) {
            m->mode = SEND_STANDARD;
        }
        m->key = ept_random(&stream);
    }
    return l;
}

struct stream *traffic_stream_of(const struct traffic *f, int source, int comm, int tag)
{
    return &f->streams[(source * NUM_COMMS + comm) * NUM_TAGS + tag];
}

void traffic_make_streams(struct traffic *f)
{
    f->unresolved = 0;
    for (int s = 0; s < f->t->size; ++s) {
        f->in[s] = make_list(f, s, f->t->rank);
        f->unresolved += f->in[s].num;
        for (int k = 0; k < NUM_COMMS * NUM_TAGS; ++k) {
            struct stream *stream = &f->streams[s * NUM_COMMS * NUM_TAGS + k];

            stream->num = stream->next = 0;
            stream->indices = malloc(((size_t) f->in[s].num + 1) * sizeof(int));
        }
        for (int i = 0; i < f->in[s].num; ++i) {
            struct message *m = &f->in[s].messages[i];
            struct stream *stream = traffic_stream_of(f, s, m->comm, m->tag);

            stream->indices[stream->num++] = i;
        }
    }
}

void traffic_make_sends(struct traffic *f)
{
    f->num_sends = f->sends_left = 0;
    for (int d = 0; d < f->t->size; ++d) {
        f->out[d] = make_list(f, f->t->rank, d);
        f->started[d] = 0;
        f->sends_left += f->out[d].num;
    }
    f->outgoing = calloc((size_t) f->sends_left + 1, sizeof(*f->outgoing));
    f->requests = malloc(((size_t) f->sends_left + SLOTS) * sizeof(*f->requests));
    f->indices = malloc(((size_t) f->sends_left + SLOTS) * sizeof(*f->indices));
    f->statuses = malloc(((size_t) f->sends_left + SLOTS) * sizeof(*f->statuses));
    for (int i = 0; i < SLOTS + f->sends_left; ++i) {
        f->requests[i] = MPI_REQUEST_NULL;
    }
}

/* ---- ranks of the communicators: the last one is in reverse -------------------------------- */

int traffic_to_comm(const struct traffic *f, int comm, int rank)
{
    return MPI_ANY_SOURCE == rank || NUM_COMMS - 1 != comm ? rank : f->t->size - 1 - rank;
}

int traffic_from_comm(const struct traffic *f, int comm, int rank)
{
    return NUM_COMMS - 1 != comm ? rank : f->t->size - 1 - rank;
}
