/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Order: messages of a pair on a communicator are matched in the order in which they were sent,
 * whatever their sizes and modes, with receives for exact tags and wildcards interleaved.
 *
 * Guards: pml_epml_isend.c, pml_epml_recvfrag.c, pml_epml_transmit.c, btl_epofi_choose.c,
 * btl_epofi_send.c, btl_epshm_node_send.c, btl_epshm_progress.c, btl_epshm_send.c
 */

#include "ept.h"

#include <unistd.h>

enum { NUM_TAGS = 3, MAX_BYTES = 150000 };

struct message {
    int tag, bytes;
    bool synchronous;
};

struct plan {
    int num;
    struct message *messages; /* in the order of sending */
    int *tags;                /* the tag of each receive in the order of posting, or ANY_TAG */
    int *matches;             /* the message that each receive must get */
};

static int random_bytes(uint64_t *stream)
{
    static const int limits[] = {16, 64, 300, 2000, 9000, 20000, 70000, MAX_BYTES};

    return (int) ept_random_below(stream, (uint64_t) limits[ept_random_below(stream, 8)]);
}

/* Both ranks compute the same plan. The receives take, in the order of posting, the earliest
 * message that is left and fits: that is what MPI's rules give, whenever messages arrive. */
static struct plan make_plan(int num, uint64_t stream)
{
    struct plan plan = {num, malloc((size_t) num * sizeof(struct message)),
                        malloc((size_t) num * sizeof(int)), malloc((size_t) num * sizeof(int))};
    bool *taken = calloc((size_t) num, sizeof(bool));

    for (int i = 0; i < num; ++i) {
        plan.messages[i].tag = (int) ept_random_below(&stream, NUM_TAGS);
        plan.messages[i].bytes = random_bytes(&stream);
        plan.messages[i].synchronous = 0 == ept_random_below(&stream, 4);
    }
    for (int r = 0; r < num; ++r) {
        int any = (int) ept_random_below(&stream, 2);
        int tag = (int) ept_random_below(&stream, NUM_TAGS), m = 0;

        for (int attempt = 0;; ++attempt) {
            plan.tags[r] = 1 == any ? MPI_ANY_TAG : (tag + attempt) % NUM_TAGS;
            for (m = 0; m < num; ++m) {
                if (!taken[m] && (1 == any || plan.tags[r] == plan.messages[m].tag)) {
                    break;
                }
            }
            if (m < num) {
                break;
            }
        }
        taken[m] = true;
        plan.matches[r] = m;
    }
    free(taken);
    return plan;
}

static void free_plan(struct plan *plan)
{
    free(plan->messages);
    free(plan->tags);
    free(plan->matches);
}

struct flow {
    struct plan plan;
    int peer;
    uint64_t key;
    struct ept_buffer *buffers;
    MPI_Request *requests;
};

static struct flow make_flow(struct ept *t, int num, int from, int to, int peer, int round)
{
    struct flow flow;

    flow.key = ept_mix(t->seed, (uint64_t) from, (uint64_t) to, (uint64_t) round);
    flow.plan = make_plan(num, flow.key);
    flow.peer = peer;
    flow.buffers = malloc((size_t) num * sizeof(*flow.buffers));
    flow.requests = malloc((size_t) num * sizeof(*flow.requests));
    return flow;
}

static void free_flow(struct flow *flow)
{
    for (int i = 0; i < flow->plan.num; ++i) {
        ept_buffer_free(&flow->buffers[i]);
    }
    free(flow->buffers);
    free(flow->requests);
    free_plan(&flow->plan);
}

static void start_send(MPI_Comm comm, struct ept *t, struct flow *flow, int i)
{
    struct message *m = &flow->plan.messages[i];
    struct ept_buffer *b = &flow->buffers[i];

    *b = ept_buffer((size_t) m->bytes, (unsigned) i);
    ept_fill(b->data, 0, b->size, flow->key + (uint64_t) i);
    if (m->synchronous) {
        EPT_OK(t, MPI_Issend(b->data, m->bytes, MPI_BYTE, flow->peer, m->tag, comm,
                             &flow->requests[i]));
    } else {
        EPT_OK(t, MPI_Isend(b->data, m->bytes, MPI_BYTE, flow->peer, m->tag, comm,
                            &flow->requests[i]));
    }
}

static void start_receive(MPI_Comm comm, struct ept *t, struct flow *flow, int r)
{
    int m = flow->plan.matches[r];

    flow->buffers[r] = ept_buffer((size_t) flow->plan.messages[m].bytes, (unsigned) r * 3);
    /* Room for exactly the right message: a longer one in its place is truncated and shows. */
    EPT_OK(t, MPI_Irecv(flow->buffers[r].data, flow->plan.messages[m].bytes, MPI_BYTE, flow->peer,
                        flow->plan.tags[r], comm, &flow->requests[r]));
}

static void finish_receives(struct ept *t, struct flow *flow)
{
    for (int r = 0; r < flow->plan.num; ++r) {
        int m = flow->plan.matches[r];
        MPI_Status status;

        ept_phase(t, "wait for receive %d of %d from %d, message %d, %d bytes", r, flow->plan.num,
                  flow->peer, m, flow->plan.messages[m].bytes);
        EPT_OK(t, MPI_Wait(&flow->requests[r], &status));
        EPT_STATUS(t, &status, flow->peer, flow->plan.messages[m].tag,
                   flow->plan.messages[m].bytes);
        EPT_FILL(t, flow->buffers[r].data, flow->buffers[r].size, flow->key + (uint64_t) m);
        EPT_GUARDS(t, &flow->buffers[r]);
    }
}

/* Ring traffic: sends and receives are started in turns, at a mix of paces, so that messages find
 * their receive posted or not. */
static void ring(MPI_Comm comm, struct ept *t, int shift, int num, int round)
{
    int to = (t->rank + shift) % t->size, from = (t->rank - shift + t->size) % t->size;
    struct flow out = make_flow(t, num, t->rank, to, to, round);
    struct flow in = make_flow(t, num, from, t->rank, from, round);
    uint64_t stream = ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) round, 99);

    for (int s = 0, r = 0; s < num || r < num;) {
        if (r == num || (s < num && 0 == ept_random_below(&stream, 2))) {
            start_send(comm, t, &out, s++);
        } else {
            start_receive(comm, t, &in, r++);
        }
        if (0 == ept_random_below(&stream, 10)) {
            int flag;

            EPT_OK(t, MPI_Iprobe(from, NUM_TAGS, comm, &flag, MPI_STATUS_IGNORE));
            EPT_EQ(t, 0, flag);
        }
    }
    finish_receives(t, &in);
    ept_phase(t, "wait for sends to %d", to);
    EPT_OK(t, MPI_Waitall(num, out.requests, MPI_STATUSES_IGNORE));
    free_flow(&in);
    free_flow(&out);
}

static void case_ring(MPI_Comm comm, struct ept *t)
{
    int num = 16 < t->size ? 30 : 16 / t->size * 20 + 60;
    int shifts[4] = {0}, n = ept_shifts(t, shifts);

    if (0 == n) {
        n = 1; /* one rank: messages to itself, shift 0 */
    }
    for (int round = 0; round < 3 * n; ++round) {
        ring(comm, t, shifts[round % n], num, round);
    }
}

/* Receives with MPI_ANY_SOURCE: per source and communicator, in order; here on two communicators at
 * once, whose streams are independent. Rank 0 receives, all others send. */
static void any_source_sender(MPI_Comm comms[2], struct ept *t, int num)
{
    struct ept_buffer *buffers = malloc(2 * (size_t) num * sizeof(*buffers));
    MPI_Request *requests = malloc(2 * (size_t) num * sizeof(*requests));

    for (int i = 0; i < 2 * num; ++i) {
        uint64_t stream = ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) i, 3);
        int bytes = 8 + random_bytes(&stream);
        int32_t header[2] = {i / 2, bytes};

        buffers[i] = ept_buffer((size_t) bytes, 0);
        ept_fill(buffers[i].data, 0, (size_t) bytes, stream);
        memcpy(buffers[i].data, header, sizeof(header));
        if (0 == i % 5) {
            EPT_OK(t,
                   MPI_Issend(buffers[i].data, bytes, MPI_BYTE, 0, 1, comms[i % 2], &requests[i]));
        } else {
            EPT_OK(t,
                   MPI_Isend(buffers[i].data, bytes, MPI_BYTE, 0, 1, comms[i % 2], &requests[i]));
        }
    }
    EPT_OK(t, MPI_Waitall(2 * num, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2 * num; ++i) {
        ept_buffer_free(&buffers[i]);
    }
    free(buffers);
    free(requests);
}

static void any_source_receiver(MPI_Comm comms[2], struct ept *t, int num)
{
    int total = num * (t->size - 1);
    int left[2] = {total, total};
    int *next = calloc(2 * (size_t) t->size, sizeof(int));
    struct ept_buffer in = ept_buffer(MAX_BYTES + 8, 0);
    uint64_t choice = ept_mix(t->seed, 4, 4, 4);

    while (0 < left[0] + left[1]) {
        int c = (int) ept_random_below(&choice, 2), source;
        uint64_t stream;
        int32_t header[2];
        MPI_Status status;

        c = 0 == left[c] ? 1 - c : c;
        --left[c];
        ept_phase(t, "communicator %d, %d messages left", c, left[c]);
        EPT_OK(t, MPI_Recv(in.data, MAX_BYTES + 8, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c],
                           &status));
        source = status.MPI_SOURCE;
        memcpy(header, in.data, sizeof(header));
        EPT_EQ(t, next[2 * source + c], header[0]);
        stream = ept_mix(t->seed, (uint64_t) source, (uint64_t) (2 * next[2 * source + c] + c), 3);
        EPT_EQ(t, 8 + random_bytes(&stream), header[1]);
        EPT_STATUS(t, &status, source, 1, header[1]);
        ept_check_fill(t, __FILE__, __LINE__, in.data + 8, 8, (size_t) header[1] - 8, stream);
        ++next[2 * source + c];
    }
    EPT_GUARDS(t, &in);
    ept_buffer_free(&in);
    free(next);
}

static void case_any_source(MPI_Comm comm, struct ept *t)
{
    int num = 16 < t->size ? 10 : 60;
    MPI_Comm comms[2] = {comm, MPI_COMM_NULL};

    EPT_OK(t, MPI_Comm_dup(comm, &comms[1]));
    if (0 == t->rank) {
        any_source_receiver(comms, t, num);
    } else {
        any_source_sender(comms, t, num);
    }
    ept_phase(t, "free");
    EPT_OK(t, MPI_Comm_free(&comms[1]));
}

/* A long run of small messages, far more than any queue or window holds, to a receiver that comes
 * late and looks at each number. */
static void case_flood(MPI_Comm comm, struct ept *t)
{
    int num = 16 < t->size ? 2000 : 20000;
    int peer = ept_partner(t, EPT_PAIR_NEXT);

    for (int turn = 0; turn < 2 && MPI_PROC_NULL != peer; ++turn) {
        bool sends = (t->rank < peer) == (0 == turn);

        ept_phase(t, "turn %d, %s", turn, sends ? "sends" : "receives");
        if (!sends) {
            usleep(50000);
        }
        for (int i = 0; i < num; ++i) {
            int number = i;

            if (sends) {
                EPT_OK(t, MPI_Send(&number, 1, MPI_INT, peer, 1, comm));
            } else {
                EPT_OK(t, MPI_Recv(&number, 1, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE));
                EPT_EQ(t, i, number);
            }
        }
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_ring);
    EPT_CASE(t, case_any_source);
    EPT_CASE(t, case_flood);
    return 0;
}
