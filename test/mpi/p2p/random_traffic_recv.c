/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Receiving in random_traffic: what may be posted or probed for, and which message must have come.
 */

#include "random_traffic.h"

static bool meets(int a, int b)
{
    return a == b || MPI_ANY_SOURCE == a || MPI_ANY_SOURCE == b;
}

static bool meets_tag(int a, int b)
{
    return a == b || MPI_ANY_TAG == a || MPI_ANY_TAG == b;
}

/* May a receive of this kind be posted without fear that nothing is left for it? */
static bool feasible(const struct traffic *f, int comm, int source, int tag)
{
    int messages = 0;

    for (int s = 0; s < f->t->size; ++s) {
        for (int g = 0; g < NUM_TAGS && meets(source, s); ++g) {
            const struct stream *stream = traffic_stream_of(f, s, comm, g);

            messages += meets_tag(tag, g) ? stream->num - stream->next : 0;
        }
    }
    for (int i = 0; i < f->queues[comm].num; ++i) {
        const struct slot *slot = &f->slots[f->queues[comm].slots[i]];

        messages -= meets(source, slot->source) && meets_tag(tag, slot->tag);
    }
    return 0 < messages;
}

static int free_slot(const struct traffic *f)
{
    for (int i = 0; i < SLOTS; ++i) {
        if (!f->slots[i].used) {
            return i;
        }
    }
    return -1;
}

static struct slot *use_slot(struct traffic *f, int i, int comm, int source, int tag)
{
    struct slot *slot = &f->slots[i];

    slot->used = true;
    slot->completed = false;
    slot->comm = comm;
    slot->source = source;
    slot->tag = tag;
    f->queues[comm].slots[f->queues[comm].num++] = i;
    return slot;
}

/* A random kind of receive that is feasible, if one is found in a few attempts. */
static bool choose(struct traffic *f, int *comm, int *source, int *tag)
{
    for (int attempt = 0; attempt < 6; ++attempt) {
        uint64_t kind = ept_random_below(&f->random, 4);

        *comm = (int) ept_random_below(&f->random, NUM_COMMS);
        *source = 0 == (kind & 1) ? (int) ept_random_below(&f->random, (uint64_t) f->t->size)
                                  : MPI_ANY_SOURCE;
        *tag = 0 == (kind & 2) ? (int) ept_random_below(&f->random, NUM_TAGS) : MPI_ANY_TAG;
        if (feasible(f, *comm, *source, *tag)) {
            return true;
        }
    }
    for (*comm = 0; *comm < NUM_COMMS; ++*comm) {
        *source = MPI_ANY_SOURCE;
        *tag = MPI_ANY_TAG;
        if (feasible(f, *comm, *source, *tag)) {
            return true;
        }
    }
    return false;
}

void traffic_post_receive(struct traffic *f)
{
    int i = free_slot(f), comm, source, tag;
    struct ept *t = f->t;
    struct slot *slot;

    if (0 > i || !choose(f, &comm, &source, &tag)) {
        return;
    }
    slot = use_slot(f, i, comm, source, tag);
    EPT_OK(t, MPI_Irecv(slot->buffer.data, (int) slot->buffer.size, MPI_BYTE,
                        traffic_to_comm(f, comm, source), tag, f->comms[comm], &f->requests[i]));
}

/* Receive what a probe finds; by MPI_Recv, or from the message handle. */
void traffic_probe_receive(struct traffic *f, bool blocking, bool matched)
{
    int i = free_slot(f), comm, source, tag, flag = 0, bytes = -1, got = -2;
    MPI_Message message = MPI_MESSAGE_NULL;
    struct ept *t = f->t;
    struct slot *slot;
    MPI_Status status;

    if (0 > i || !choose(f, &comm, &source, &tag)) {
        return;
    }
    source = traffic_to_comm(f, comm, source);
    if (blocking) {
        flag = 1;
        if (matched) {
            EPT_OK(t, MPI_Mprobe(source, tag, f->comms[comm], &message, &status));
        } else {
            EPT_OK(t, MPI_Probe(source, tag, f->comms[comm], &status));
        }
    } else if (matched) {
        EPT_OK(t, MPI_Improbe(source, tag, f->comms[comm], &flag, &message, &status));
    } else {
        EPT_OK(t, MPI_Iprobe(source, tag, f->comms[comm], &flag, &status));
    }
    if (0 == flag) {
        return;
    }
    slot = use_slot(f, i, comm, traffic_from_comm(f, comm, status.MPI_SOURCE), status.MPI_TAG);
    EPT_OK(t, MPI_Get_count(&status, MPI_BYTE, &bytes));
    if (matched) {
        EPT_OK(t, MPI_Imrecv(slot->buffer.data, bytes, MPI_BYTE, &message, &f->requests[i]));
    } else {
        EPT_OK(t, MPI_Recv(slot->buffer.data, bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
                           f->comms[comm], &slot->status));
        EPT_OK(t, MPI_Get_count(&slot->status, MPI_BYTE, &got));
        EPT_EQ(t, bytes, got);
        slot->completed = true;
    }
}

/* The head of the queue is complete: it got the next message of its source and tag. */
static void resolve_one(struct traffic *f, struct queue *queue)
{
    struct slot *slot = &f->slots[queue->slots[0]];
    int source = traffic_from_comm(f, slot->comm, slot->status.MPI_SOURCE);
    int tag = slot->status.MPI_TAG;
    struct ept *t = f->t;
    struct stream *stream;
    const struct message *m;

    --queue->num;
    memmove(queue->slots, queue->slots + 1, (size_t) queue->num * sizeof(int));
    slot->used = false;
    --f->unresolved;
    EPT_CHECK(t, 0 <= source && t->size > source && 0 <= tag && NUM_TAGS > tag,
              "a message from %d with tag %d", source, tag);
    EPT_CHECK(t, meets(slot->source, source) && meets_tag(slot->tag, tag),
              "asked for source %d, tag %d, got source %d, tag %d", slot->source, slot->tag, source,
              tag);
    if (0 > source || t->size <= source || 0 > tag || NUM_TAGS <= tag) {
        return;
    }
    stream = traffic_stream_of(f, source, slot->comm, tag);
    EPT_CHECK(t, stream->next < stream->num, "too many messages from %d with tag %d on %d", source,
              tag, slot->comm);
    if (stream->next == stream->num) {
        return;
    }
    m = &f->in[source].messages[stream->indices[stream->next++]];
    EPT_STATUS(t, &slot->status, slot->status.MPI_SOURCE, m->tag, m->bytes);
    EPT_FILL(t, slot->buffer.data, (size_t) m->bytes, m->key);
    EPT_GUARDS(t, &slot->buffer);
}

void traffic_resolve(struct traffic *f)
{
    for (int c = 0; c < NUM_COMMS; ++c) {
        while (0 < f->queues[c].num && f->slots[f->queues[c].slots[0]].completed) {
            resolve_one(f, &f->queues[c]);
        }
    }
}
