/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the parts of random_traffic share: the messages that there will be, and how far a rank has
 * come with them.
 */

#ifndef EPT_RANDOM_TRAFFIC_H
#define EPT_RANDOM_TRAFFIC_H

#include "ept.h"

enum { NUM_COMMS = 4, NUM_TAGS = 3, SLOTS = 12, BSEND_LIMIT = 9000 };
enum send_mode { SEND_STANDARD, SEND_SYNCHRONOUS, SEND_BUFFERED, SEND_STRIDED, NUM_MODES };

struct message {
    int comm, tag, bytes;
    enum send_mode mode;
    uint64_t key;
};

struct list {
    int num;
    struct message *messages;
};

/** The messages of one source, communicator and tag, in order: indices into the source's list. */
struct stream {
    int num, next;
    int *indices;
};

/** A receive from posting to resolution. */
struct slot {
    bool used, completed;
    int comm, source, tag; /* as posted; source is a rank of the run, or ANY */
    MPI_Status status;
    struct ept_buffer buffer;
};

struct queue { /* of slots, in the order of posting */
    int num;
    int slots[SLOTS];
};

struct outgoing {
    unsigned char *data;
    size_t bytes;
};

struct traffic {
    struct ept *t;
    MPI_Comm comms[NUM_COMMS];
    uint64_t random; /* of this rank alone: the choices of how */
    int epoch, max_bytes, per_rank;
    /* receiving */
    struct list *in;        /* by source */
    struct stream *streams; /* by source, communicator, tag */
    int unresolved;
    struct slot slots[SLOTS];
    struct queue queues[NUM_COMMS];
    /* sending */
    struct list *out; /* by destination */
    int *started;     /* by destination: how many of the list */
    int sends_left, num_sends;
    struct outgoing *outgoing; /* by number of the send */
    MPI_Request *requests;     /* SLOTS receives, then the sends */
    int *indices;
    MPI_Status *statuses;
};

/* random_traffic_lists.c */
struct stream *traffic_stream_of(const struct traffic *f, int source, int comm, int tag);
void traffic_make_streams(struct traffic *f);
void traffic_make_sends(struct traffic *f);
int traffic_to_comm(const struct traffic *f, int comm, int rank);
int traffic_from_comm(const struct traffic *f, int comm, int rank);

/* random_traffic_recv.c */
void traffic_post_receive(struct traffic *f);
void traffic_probe_receive(struct traffic *f, bool blocking, bool matched);
void traffic_resolve(struct traffic *f);

#endif /* EPT_RANDOM_TRAFFIC_H */
