/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Floods: messages that nobody receives pile up, are all there when somebody does, in order, at a
 * memory per message that is asserted; and where the receiver is full (--limit BYTES, the value of
 * pml_epml_unexpected_limit), their data wait with the senders, while everything else goes on.
 *
 * Rank 0 is flooded.  Senders of a correct program may block in MPI_Send once it is full, so what
 * is sent before rank 0 receives is then sent with MPI_Isend, or with another rank's help. 
 * exhausted (--exhaust 1): rank 0 has no memory for messages.
 *
 * EPT-PARTS: flood_exhausted.c
 *
 * Guards: pml_epml_flow.c, btl_epofi_recv.c, btl_epofi_send.c, btl_epshm_frag.c,
 * btl_epshm_node_send.c, btl_epshm_send.c
 */

#define _GNU_SOURCE

#include "flood.h"
#include "usage.h"

/* What a message of 8 bytes takes at its receiver, malloc's part included; and what it takes more
 * once wildcards ask for it (docs/limits.md and docs/progress.md state both). */
enum { MESSAGE_BYTES = 64, WILDCARD_BYTES = 48 };

static long limit;
static long slack_kib; /* what the process may take besides; a provider may take a lot */

/** Messages of 8 bytes that are enough to fill rank 0, and some more. */
static long fill_count(void)
{
    return 0 == limit ? 20000 : 500 + limit / 40;
}

/** Rank 0 takes in, without receiving, what the others have sent before they say that they are
 * through. */
static void await_done(MPI_Comm comm, struct ept *t)
{
    for (int r = 1; r < t->size; ++r) {
        ept_phase(t, "wait for rank %d to have sent everything", r);
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, r, DONE, comm, MPI_STATUS_IGNORE));
    }
}

static void say_done(MPI_Comm comm, struct ept *t)
{
    EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, 0, DONE, comm));
}

/** The memory that so many messages have taken and given back, by process. */
static void check_memory(struct ept *t, long messages, long bytes_each, struct usage before,
                         struct usage full, struct usage after)
{
    const long most = messages * bytes_each / 1024 + slack_kib;

    if (!t->endpoints) {
        return; /* another library's affair */
    }
    ept_note("%ld messages: %.1f bytes each, %ld KiB left afterwards", messages,
             1024.0 * (double) (full.heap_kib - before.heap_kib) / (double) messages,
             after.heap_kib - before.heap_kib);
    EPT_CHECK(t, full.heap_kib - before.heap_kib <= most, "%ld KiB for %ld messages, %ld at most",
              full.heap_kib - before.heap_kib, messages, most);
    EPT_CHECK(t, after.heap_kib - before.heap_kib <= slack_kib, "%ld KiB left, %ld at most",
              after.heap_kib - before.heap_kib, slack_kib);
}

/** Receive so many of each sender, from one after the other by chance, in order of each. */
static void receive_shuffled(MPI_Comm comm, struct ept *t, long each)
{
    long *next = calloc((size_t) t->size, sizeof(*next));
    uint64_t stream = ept_mix(t->seed, 1, 2, 3), got = 0;

    for (long left = each * (t->size - 1); 0 < left; --left) {
        int from = 1 + (int) ept_random_below(&stream, (uint64_t) t->size - 1);

        while (next[from] == each) {
            from = from % (t->size - 1) + 1;
        }
        if (0 == left % 4096) {
            ept_phase(t, "receive from rank %d, %ld left", from, left);
        }
        EPT_OK(t, MPI_Recv(&got, 8, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE));
        EPT_EQ(t, value(from, next[from]), got);
        ++next[from];
    }
    free(next);
}

/** All is sent, by all others, before the first is received. */
static void case_million(MPI_Comm comm, struct ept *t)
{
    const long each = ept_option_long("messages", 1000000) / (t->size - 1);
    struct usage before, full;

    EPT_OK(t, MPI_Barrier(comm));
    before = measure(0);
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->rank) {
        await_done(comm, t);
        full = measure(0);
        receive_shuffled(comm, t, each);
        check_memory(t, each * (t->size - 1), MESSAGE_BYTES, before, full, measure(0));
        return;
    }
    for (long i = 0; i < each; ++i) {
        const uint64_t mine = value(t->rank, i);

        if (0 == i % 4096) {
            ept_phase(t, "send message %ld of %ld", i, each);
        }
        EPT_OK(t, MPI_Send(&mine, 8, MPI_BYTE, 0, TAG, comm));
    }
    say_done(comm, t);
}

/** Rank 0 receives all by wildcards: sources in any order, each one's messages in its own. */
static void receive_wild(MPI_Comm comm, struct ept *t, long each)
{
    long *next = calloc((size_t) t->size, sizeof(*next));

    for (long i = 0; i < each * (t->size - 1); ++i) {
        /* Each kind of wildcard in turn; tags go round by message. */
        const int kind = (int) (i % 3);
        const int any_from = 1 + (int) (i % (t->size - 1));
        const int from = 1 == kind && next[any_from] < each ? any_from : MPI_ANY_SOURCE;
        uint64_t got = 0;
        MPI_Status status;

        if (0 == i % 4096) {
            ept_phase(t, "receive message %ld by a wildcard", i);
        }
        EPT_OK(t, MPI_Recv(&got, 8, MPI_BYTE, from, MPI_ANY_TAG, comm, &status));
        EPT_STATUS(t, &status, status.MPI_SOURCE, (int) (next[status.MPI_SOURCE] % 5), 8);
        EPT_EQ(t, value(status.MPI_SOURCE, next[status.MPI_SOURCE]), got);
        ++next[status.MPI_SOURCE];
    }
    free(next);
}

static void case_wildcards(MPI_Comm comm, struct ept *t)
{
    const long each = ept_option_long("messages", 1000000) / 5 / (t->size - 1);
    struct usage before, full;
    int flag = 0;

    EPT_OK(t, MPI_Barrier(comm));
    before = measure(0);
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->rank) {
        await_done(comm, t);
        EPT_OK(t, MPI_Iprobe(MPI_ANY_SOURCE, DONE, comm, &flag, MPI_STATUS_IGNORE));
        EPT_EQ(t, 0, flag);
        full = measure(0);
        receive_wild(comm, t, each);
        check_memory(t, each * (t->size - 1), MESSAGE_BYTES + WILDCARD_BYTES, before, full,
                     measure(0));
        return;
    }
    for (long i = 0; i < each; ++i) {
        const uint64_t mine = value(t->rank, i);

        EPT_OK(t, MPI_Send(&mine, 8, MPI_BYTE, 0, (int) (i % 5), comm));
    }
    say_done(comm, t);
}

/* ---- with a limit ---------------------------------------------------------------------------- */

/** Each sends to each: what a provider allocates for the first message, such as a pool of send
 * buffers, is there before memory is measured. */
static void warm_up(MPI_Comm comm, struct ept *t)
{
    unsigned char out[2000] = {0}, in[2000];

    for (int i = 1; i < t->size; ++i) {
        EPT_OK(t, MPI_Sendrecv(out, sizeof(out), MPI_BYTE, (t->rank + i) % t->size, OTHER, in,
                               sizeof(in), MPI_BYTE, (t->rank + t->size - i) % t->size, OTHER, comm,
                               MPI_STATUS_IGNORE));
    }
}

/** Many nonblocking sends to a receiver that is soon full: what it keeps is bounded. */
static void case_isend(MPI_Comm comm, struct ept *t)
{
    /* As much as is sent eagerly, 48 MB in all. What is kept of each message in spite of the limit:
     * its header, and, with senders of this process, a request of theirs. */
    const int bytes = 1 < t->nprocs ? 32000 : 4000;
    const long each = 48000000 / bytes / (t->size - 1), all = each * (t->size - 1);
    const long overhead = 1 < t->nlocal ? 1800 : 256;
    const long most = limit / 1024 + all * overhead / 1024 + 9 * 1024 + slack_kib;
    unsigned char *data = malloc((size_t) (each * bytes));
    MPI_Request *requests = malloc((size_t) each * sizeof(*requests));
    struct usage before, full;

    warm_up(comm, t);
    EPT_OK(t, MPI_Barrier(comm));
    before = measure(0);
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->rank) {
        await_done(comm, t);
        full = measure(0);
        EPT_OK(t, MPI_Barrier(comm));
        ept_note("%ld KiB for %ld KiB of messages", full.heap_kib - before.heap_kib,
                 all * bytes / 1024);
        EPT_CHECK(t, !t->endpoints || 0 == limit || full.heap_kib - before.heap_kib <= most,
                  "%ld KiB, %ld at most", full.heap_kib - before.heap_kib, most);
        for (long i = 0; i < all; ++i) {
            const int from = 1 + (int) (i % (t->size - 1));

            ept_phase(t, "receive message %ld", i);
            EPT_OK(t, MPI_Recv(data, bytes, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE));
            EPT_FILL(t, data, (size_t) bytes,
                     ept_mix(t->seed, (uint64_t) from, (uint64_t) (i / (t->size - 1)), 0));
        }
    } else {
        for (long i = 0; i < each; ++i) {
            ept_fill(data + i * bytes, 0, (size_t) bytes,
                     ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) i, 0));
            EPT_OK(t, MPI_Isend(data + i * bytes, bytes, MPI_BYTE, 0, TAG, comm, &requests[i]));
        }
        say_done(comm, t);
        EPT_OK(t, MPI_Barrier(comm)); /* not one buffer goes before rank 0 has measured */
        ept_phase(t, "wait for %ld sends", each);
        EPT_OK(t, MPI_Waitall((int) each, requests, MPI_STATUSES_IGNORE));
    }
    free(requests);
    free(data);
}

/** After all this rank 0 is full no longer: a small blocking send need not be received. */
static void case_go(MPI_Comm comm, struct ept *t)
{
    uint64_t data = 5;

    for (int r = 1; 0 == t->rank && r < t->size; ++r) { /* behind the GO */
        EPT_OK(t, MPI_Send(&data, 8, MPI_BYTE, r, OTHER, comm));
    }
    if (0 != t->rank) {
        EPT_OK(t, MPI_Recv(&data, 8, MPI_BYTE, 0, OTHER, comm, MPI_STATUS_IGNORE));
        ept_phase(t, "send to one that was full");
        EPT_OK(t, MPI_Send(&data, 8, MPI_BYTE, 0, TAG, comm));
    }
    EPT_OK(t, MPI_Barrier(comm));
    for (int r = 1; 0 == t->rank && r < t->size; ++r) {
        EPT_OK(t, MPI_Recv(&data, 8, MPI_BYTE, r, TAG, comm, MPI_STATUS_IGNORE));
        EPT_EQ(t, 5, data);
    }
}

/** Blocking sends fill rank 0 and stay there; it receives other tags of other ranks first. */
static void case_send(MPI_Comm comm, struct ept *t)
{
    const long each = 2 * fill_count();
    const int others = t->size - 2;
    uint64_t got = 0;

    if (0 == t->rank) {
        for (long i = 0; i < others * (each / 10); ++i) {
            const int from = 2 + (int) (i % others);

            ept_phase(t, "receive the other tag, message %ld", i);
            EPT_OK(t, MPI_Recv(&got, 8, MPI_BYTE, from, OTHER, comm, MPI_STATUS_IGNORE));
            EPT_EQ(t, value(from, i / others), got);
        }
        for (long i = 0; i < each; ++i) {
            EPT_OK(t, MPI_Recv(&got, 8, MPI_BYTE, 1, TAG, comm, MPI_STATUS_IGNORE));
            EPT_EQ(t, value(1, i), got);
        }
        return;
    }
    for (long i = 0; i < (1 == t->rank ? each : each / 10); ++i) {
        const uint64_t mine = value(t->rank, i);

        EPT_OK(t, MPI_Send(&mine, 8, MPI_BYTE, 0, 1 == t->rank ? TAG : OTHER, comm));
    }
}

/** Each mode of sending, message number i, to a receiver that is full; buffer: 64 bytes that live
 * until the request is complete. */
static void send_by_mode(MPI_Comm comm, struct ept *t, int i, uint64_t *buffer, MPI_Datatype pieces,
                         MPI_Request *request)
{
    buffer[0] = value(t->rank, i);
    buffer[2] = ~value(t->rank, i);
    switch (i % 8) {
    case 0:
        EPT_OK(t, MPI_Isend(buffer, 8, MPI_BYTE, 0, TAG, comm, request));
        return;
    case 1:
        EPT_OK(t, MPI_Issend(buffer, 8, MPI_BYTE, 0, TAG, comm, request));
        return;
    case 2:
        EPT_OK(t, MPI_Ibsend(buffer, 8, MPI_BYTE, 0, TAG, comm, request));
        return;
    case 3:
        EPT_OK(t, MPI_Isend(buffer, 1, pieces, 0, TAG, comm, request));
        return;
    case 4:
        EPT_OK(t, MPI_Isend(NULL, 0, MPI_BYTE, 0, TAG, comm, request));
        return;
    case 5:
        EPT_OK(t, MPI_Send_init(buffer, 8, MPI_BYTE, 0, TAG, comm, request));
        break;
    case 6:
        EPT_OK(t, MPI_Ssend_init(buffer, 1, pieces, 0, TAG, comm, request));
        break;
    default:
        EPT_OK(t, MPI_Bsend_init(buffer, 8, MPI_BYTE, 0, TAG, comm, request));
        break;
    }
    EPT_OK(t, MPI_Start(request));
}

static const int bytes_by_mode[] = {8, 8, 8, 16, 0, 8, 16, 8};

static void receive_by_mode(MPI_Comm comm, struct ept *t, int from, int i)
{
    const int bytes = bytes_by_mode[i % 8];
    uint64_t got[2] = {0, 0};
    MPI_Message message;
    MPI_Status status;

    ept_phase(t, "receive message %d of rank %d", i, from);
    if (0 == i % 3) {
        EPT_OK(t, MPI_Mprobe(from, TAG, comm, &message, &status));
        EPT_STATUS(t, &status, from, TAG, bytes);
        EPT_OK(t, MPI_Mrecv(got, 16, MPI_BYTE, &message, &status));
    } else {
        EPT_OK(t, MPI_Recv(got, 16, MPI_BYTE, from, TAG, comm, &status));
    }
    EPT_STATUS(t, &status, from, TAG, bytes);
    EPT_EQ(t, 0 < bytes ? value(from, i) : 0, got[0]);
    EPT_EQ(t, 16 == bytes ? ~value(from, i) : 0, got[1]);
}

/** What the others do while rank 0 is full: all modes, itself as target, collectives. */
static void case_modes(MPI_Comm comm, struct ept *t)
{
    enum { MODES = 160 };
    const long fill = fill_count();
    uint64_t *data = calloc((size_t) (fill + 8 * MODES), 8), self = 1, sum = 0;
    MPI_Request *requests = malloc((size_t) (fill + MODES) * sizeof(*requests));
    MPI_Datatype pieces;

    EPT_OK(t, MPI_Type_vector(2, 1, 2, MPI_UINT64_T, &pieces));
    EPT_OK(t, MPI_Type_commit(&pieces));
    if (0 != t->rank) {
        for (long i = 0; i < fill; ++i) {
            data[i] = value(t->rank, i);
            EPT_OK(t, MPI_Isend(&data[i], 8, MPI_BYTE, 0, OTHER, comm, &requests[i]));
        }
        say_done(comm, t);
        for (int i = 0; i < MODES; ++i) {
            send_by_mode(comm, t, i, data + fill + 8 * i, pieces, &requests[fill + i]);
        }
    } else {
        await_done(comm, t);
        EPT_OK(t, MPI_Send(&self, 8, MPI_BYTE, 0, TAG, comm)); /* nobody else could take it */
        EPT_OK(t, MPI_Recv(&self, 8, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE));
    }
    ept_phase(t, "collectives of a full endpoint");
    EPT_OK(t, MPI_Allreduce(&self, &sum, 1, MPI_UINT64_T, MPI_SUM, comm));
    EPT_EQ(t, t->size, sum);
    EPT_OK(t, MPI_Bcast(&sum, 1, MPI_UINT64_T, t->size - 1, comm));
    EPT_OK(t, MPI_Barrier(comm));
    for (int from = 1; 0 == t->rank && from < t->size; ++from) {
        for (int i = 0; i < MODES; ++i) {
            receive_by_mode(comm, t, from, i);
        }
        for (long i = 0; i < fill; ++i) {
            EPT_OK(t, MPI_Recv(&sum, 8, MPI_BYTE, from, OTHER, comm, MPI_STATUS_IGNORE));
            EPT_EQ(t, value(from, i), sum);
        }
    }
    if (0 != t->rank) {
        ept_phase(t, "wait for the sends");
        EPT_OK(t, MPI_Waitall((int) fill + MODES, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < MODES; ++i) {
            if (MPI_REQUEST_NULL != requests[fill + i]) {
                EPT_OK(t, MPI_Request_free(&requests[fill + i])); /* a persistent one */
            }
        }
    }
    EPT_OK(t, MPI_Type_free(&pieces));
    free(requests);
    free(data);
}

static char attached[4 << 20];

void test_process_begin(void)
{
    /* libmpi blames errors of partitioned communication on this one. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Buffer_attach(attached, sizeof(attached));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    limit = ept_option_long("limit", 0);
    slack_kib = ept_option_long("slack", 1024);
    if (2 > t->size) {
        ept_skip(t, "all", "nobody else is there");
        return 0;
    }
    if (0 != ept_option_long("exhaust", 0)) {
        if (1 < t->nprocs) { /* before: afterwards rank 0 is full for good */
            EPT_CASE(t, case_exhausted_answers);
        }
        EPT_CASE(t, case_exhausted);
        if (1 < t->nprocs) { /* otherwise another endpoint's thread may take in what arrives */
            EPT_CASE(t, case_exhausted_parts);
        }
        return 0;
    }
    if (0 == limit && t->endpoints) { /* in other runs a blocking send may wait for its receive */
        EPT_CASE(t, case_million);
        EPT_CASE(t, case_wildcards);
    }
    EPT_CASE(t, case_isend);
    EPT_CASE(t, case_go);
    if (2 < t->size) {
        EPT_CASE(t, case_send);
    }
    EPT_CASE(t, case_modes);
    EPT_CASE(t, case_go);
    return 0;
}
