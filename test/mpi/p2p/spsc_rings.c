/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Lanes: what btl/epshm gives to a sender after 32 messages in a row to one receiver, 8 to a
 * receiver, and takes away again.  Bursts shorter and longer than that, from more senders than
 * there are SPSC rings, to receivers whose place for an SPSC ring is the same (numbers that differ by a
 * multiple of 16), by endpoints that come and go; messages of 0 to 500 bytes, so that those of one
 * cell, of several, and buffers mix.  Per sender and communicator everything must arrive in order.
 *
 *   --rounds N  how often endpoints come and go --inbox K   an endpoint that goes gives back K KiB
 *   at least, whatever senders have SPSC rings to it
 *
 * Guards: btl_epshm_recv_queue.c, btl_epshm_spsc.c, btl_epshm_progress.c
 */

#define _GNU_SOURCE /* mallinfo2 */
#include "usage.h"

enum {
    BYTES_MAX = 500,
    NUM_TAGS = 3,
    PLACES = 16,    /* EPSHM_SPSC_PLACES: numbers that differ by it compete */
    AFTER = 32,     /* EPSHM_SPSC_AFTER */
    WINDOW = 64,    /* sends that are on their way at once */
    GROUP = 20,     /* endpoints of a case that makes its own */
    SURVIVORS = 4,  /* of them */
    LAST_WORDS = 40 /* messages that are taken when their sender has gone */
};

/* ---- messages that both ranks know --------------------------------------------------------- */

struct message {
    int bytes, tag;
    uint64_t key;
};

static struct message message_of(const struct ept *t, int round, int from, int to, int number)
{
    uint64_t stream = ept_mix(t->seed, (uint64_t) round, (uint64_t) (from * 1000 + to),
                              (uint64_t) number);
    /* Mostly short ones, as they travel in one cell; at 424 to 500 bytes cells end, buffers
     * begin. */
    static const int limits[] = {9, 9, 9, 33, 33, 60, 200, BYTES_MAX + 1};
    struct message m = {.key = stream};

    m.bytes = (int) ept_random_below(&stream, (uint64_t) limits[ept_random_below(&stream, 8)]);
    m.tag = (int) ept_random_below(&stream, NUM_TAGS);
    return m;
}

/** What one rank does with others in a round: sends in flight, and where each stream is. */
struct traffic {
    MPI_Comm comm;
    struct ept *t;
    int rank, size, round;
    int *sent, *received; /* messages to and from each rank */
    int total;            /* received in all */
    int in_flight;
    MPI_Request requests[WINDOW];
    unsigned char out[WINDOW][BYTES_MAX];
    uint64_t random;
};

static struct traffic *traffic_begin(MPI_Comm comm, struct ept *t, int round)
{
    struct traffic *f = calloc(1, sizeof(*f));

    f->comm = comm;
    f->t = t;
    f->round = round;
    EPT_OK(t, MPI_Comm_rank(comm, &f->rank));
    EPT_OK(t, MPI_Comm_size(comm, &f->size));
    f->sent = calloc((size_t) f->size, sizeof(int));
    f->received = calloc((size_t) f->size, sizeof(int));
    f->random = ept_mix(t->seed, (uint64_t) round, (uint64_t) f->rank, 77);
    return f;
}

static void finish_sends(struct traffic *f)
{
    EPT_OK(f->t, MPI_Waitall(f->in_flight, f->requests, MPI_STATUSES_IGNORE));
    f->in_flight = 0;
}

static void traffic_end(struct traffic *f)
{
    finish_sends(f);
    free(f->sent);
    free(f->received);
    free(f);
}

static void send_one(struct traffic *f, int to)
{
    const struct message m = message_of(f->t, f->round, f->rank, to, f->sent[to]++);
    unsigned char *data;

    if (WINDOW == f->in_flight) {
        finish_sends(f);
    }
    data = f->out[f->in_flight];
    ept_fill(data, 0, (size_t) m.bytes, m.key);
    if (0 == ept_random_below(&f->random, 2)) {
        EPT_OK(f->t, MPI_Send(data, m.bytes, MPI_BYTE, to, m.tag, f->comm));
    } else {
        EPT_OK(f->t, MPI_Isend(data, m.bytes, MPI_BYTE, to, m.tag, f->comm,
                               &f->requests[f->in_flight++]));
    }
}

/** Count and check a message that has come. */
static void check_one(struct traffic *f, const unsigned char *data, const MPI_Status *status)
{
    const int from = status->MPI_SOURCE, number = f->received[from]++;
    const struct message m = message_of(f->t, f->round, from, f->rank, number);

    ept_phase(f->t, "round %d: message %d from %d to %d", f->round, number, from, f->rank);
    EPT_STATUS(f->t, status, from, m.tag, m.bytes);
    EPT_FILL(f->t, data, (size_t) m.bytes, m.key);
    ++f->total;
}

static void receive_one(struct traffic *f)
{
    unsigned char data[BYTES_MAX];
    MPI_Status status;

    EPT_OK(f->t,
           MPI_Recv(data, BYTES_MAX, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, f->comm, &status));
    check_one(f, data, &status);
}

static void receive_what_is_there(struct traffic *f)
{
    int flag = 0;

    for (;;) {
        EPT_OK(f->t, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, f->comm, &flag, MPI_STATUS_IGNORE));
        if (!flag) {
            return;
        }
        receive_one(f);
    }
}

/** What rank sends in a round: target and length of burst number i.  @return false at the end */
typedef bool (*burst_fn_t)(const struct traffic *f, int rank, int i, int *to, int *length);

/** All ranks send their bursts, and receive in between and at the end. */
static void exchange(MPI_Comm comm, struct ept *t, int round, burst_fn_t burst)
{
    struct traffic *f = traffic_begin(comm, t, round);
    int due = 0, to, length;

    for (int from = 0; from < f->size; ++from) {
        for (int i = 0; burst(f, from, i, &to, &length); ++i) {
            due += to == f->rank ? length : 0;
        }
    }
    for (int i = 0; burst(f, f->rank, i, &to, &length); ++i) {
        ept_phase(t, "round %d: burst %d, %d to %d", round, i, length, to);
        for (int k = 0; k < length; ++k) {
            send_one(f, to);
        }
        if (0 == ept_random_below(&f->random, 3)) {
            receive_what_is_there(f);
        }
    }
    while (f->total < due) {
        ept_phase(t, "round %d: %d of %d received", round, f->total, due);
        receive_one(f);
    }
    traffic_end(f);
    EPT_OK(t, MPI_Barrier(comm));
}

static uint64_t burst_stream(const struct traffic *f, int rank, int i)
{
    return ept_mix(f->t->seed + (uint64_t) f->round, (uint64_t) rank, (uint64_t) i, 5);
}

/* ---- more senders than SPSC rings --------------------------------------------------------------- */

/** Everybody to one rank, the root itself too; bursts around and far beyond what opens an SPSC ring. */
static bool burst_to_one(const struct traffic *f, int rank, int i, int *to, int *length)
{
    uint64_t stream = burst_stream(f, rank, i);

    *to = f->round % f->size;
    *length = 0 == i % 2 ? AFTER - 2 + (int) ept_random_below(&stream, 5)
                         : 1 + (int) ept_random_below(&stream, 300);
    return 6 > i;
}

static void case_many_to_one(MPI_Comm comm, struct ept *t)
{
    for (int round = 0; round < 4; ++round) {
        exchange(comm, t, round, burst_to_one);
    }
}

/* ---- places that are fought for ------------------------------------------------------------ */

/** By turns to two ranks that compete for a place, and now and then to others. */
static bool burst_alternating(const struct traffic *f, int rank, int i, int *to, int *length)
{
    uint64_t stream = burst_stream(f, rank, i);
    const int shift = 1 + (int) ept_random_below(&stream, 8) / 7;

    *to = (rank + shift + PLACES * (i % 3)) % f->size;
    *length = AFTER - 4 + (int) ept_random_below(&stream, 70);
    return 12 > i;
}

static void case_alternate(MPI_Comm comm, struct ept *t)
{
    for (int round = 10; round < 14; ++round) {
        exchange(comm, t, round, burst_alternating);
    }
}

/** Anything. */
static bool burst_random(const struct traffic *f, int rank, int i, int *to, int *length)
{
    uint64_t stream = burst_stream(f, rank, i);

    *to = (int) ept_random_below(&stream, (uint64_t) f->size);
    *length = 1 + (int) ept_random_below(&stream, 0 == ept_random_below(&stream, 4) ? 200 : 40);
    return 25 > i;
}

static void case_random(MPI_Comm comm, struct ept *t)
{
    for (int round = 20; round < 23; ++round) {
        exchange(comm, t, round, burst_random);
    }
}

/* ---- endpoints that come and go ------------------------------------------------------------ */

struct group {
    int round;
    atomic_int gone; /* endpoints of which nothing is left */
    atomic_int said; /* survivors that have sent what nobody takes */
};

/** Senders leave SPSC rings with messages in them, which the receiver, number 0, takes only then. */
static void leave_full(MPI_Comm comm, struct ept *t, int index, void *context)
{
    struct group *group = context;
    struct traffic *f = traffic_begin(comm, t, group->round);
    const int senders = f->size - 1, opening = senders * 2 * AFTER, all = senders * LAST_WORDS;
    unsigned char(*in)[BYTES_MAX] = malloc(sizeof(*in) * (size_t) all);
    MPI_Request *requests = malloc(sizeof(*requests) * (size_t) all);
    MPI_Status *statuses = malloc(sizeof(*statuses) * (size_t) all);

    if (0 == index) {
        while (f->total < opening) {
            receive_one(f);
        }
        for (int i = 0; i < all; ++i) {
            EPT_OK(t, MPI_Irecv(in[i], BYTES_MAX, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                                &requests[i]));
        }
    } else {
        for (int i = 0; i < 2 * AFTER; ++i) {
            send_one(f, 0);
        }
        finish_sends(f);
    }
    EPT_OK(t, MPI_Barrier(comm));
    if (0 != index) {
        for (int i = 0; i < LAST_WORDS; ++i) {
            send_one(f, 0);
        }
        traffic_end(f);
        EPT_OK(t, MPI_Comm_free(&comm));
        atomic_fetch_add(&group->gone, 1);
    } else {
        ept_phase(t, "round %d: waits for the senders to go", group->round);
        /* Not for ever: what does not fit in keeps a sender. */
        for (int i = 0; i < 100 && senders > atomic_load(&group->gone); ++i) {
            usleep(1000);
        }
        EPT_OK(t, MPI_Waitall(all, requests, statuses));
        for (int i = 0; i < all; ++i) {
            check_one(f, in[i], &statuses[i]);
        }
        for (int i = 1; i <= senders; ++i) {
            EPT_EQ(t, 2 * AFTER + LAST_WORDS, f->received[i]);
        }
        traffic_end(f);
        EPT_OK(t, MPI_Comm_free(&comm));
    }
    free(in);
    free(requests);
    free(statuses);
}

/** What the end of an endpoint must give back at least, KiB; 0: not looked at. */
static long inbox_kib(void)
{
    return ept_option_long("inbox", 0);
}

/** The dead leave nothing behind, once the others have looked at their endpoints. */
static void check_given_back(MPI_Comm survivors, struct ept *t, int index, long before)
{
    const long due = (GROUP - SURVIVORS) * inbox_kib() * 1024;

    if (0 != due && 0 == index) {
        for (long now = heap_bytes(); now + due > before; now = heap_bytes()) {
            int flag;

            ept_phase(t, "%ld KiB before, %ld now, %ld less expected", before / 1024, now / 1024,
                      due / 1024);
            EPT_OK(t, MPI_Iprobe(0, NUM_TAGS, survivors, &flag, MPI_STATUS_IGNORE));
            usleep(1000);
        }
    }
    EPT_OK(t, MPI_Barrier(survivors));
}

/** Some die, some live on, with SPSC rings from and to the dead, and messages that nobody has taken. */
static void outlive(MPI_Comm comm, struct ept *t, int index, void *context)
{
    struct group *group = context;
    MPI_Comm survivors;
    unsigned char unwanted[BYTES_MAX] = {0};
    long before;

    EPT_OK(t, MPI_Comm_split(comm, index < SURVIVORS ? 0 : MPI_UNDEFINED, index, &survivors));
    exchange(comm, t, group->round, burst_alternating);
    exchange(comm, t, group->round + 1, burst_random);
    before = 0 != inbox_kib() ? heap_bytes() : 0;
    if (index < SURVIVORS) {
        /* Into an SPSC ring to one that goes: its buffers must come back, or the next is the last. */
        for (int i = 0; i < 3 * AFTER; ++i) {
            EPT_OK(t, MPI_Send(unwanted, 1, MPI_BYTE, GROUP - 1 - index, NUM_TAGS, comm));
        }
        EPT_OK(t, MPI_Barrier(survivors));
    }
    if (index >= GROUP - SURVIVORS) {
        for (int i = 0; i < 3 * AFTER; ++i) {
            EPT_OK(t, MPI_Recv(unwanted, BYTES_MAX, MPI_BYTE, GROUP - 1 - index, NUM_TAGS, comm,
                               MPI_STATUS_IGNORE));
        }
    }
    EPT_OK(t, MPI_Barrier(comm));
    if (index < SURVIVORS) {
        EPT_OK(t, MPI_Send(unwanted, BYTES_MAX, MPI_BYTE, GROUP - 1 - index, NUM_TAGS, comm));
        atomic_fetch_add(&group->said, 1);
    }
    while (SURVIVORS > atomic_load(&group->said)) {
        usleep(100);
    }
    EPT_OK(t, MPI_Comm_free(&comm));
    atomic_fetch_add(&group->gone, 1);
    if (index >= SURVIVORS) {
        return;
    }
    ept_phase(t, "round %d: waits for the others to go", group->round);
    while (GROUP > atomic_load(&group->gone)) {
        usleep(1000);
    }
    check_given_back(survivors, t, index, before);
    for (int round = 2; round < 5; ++round) {
        exchange(survivors, t, group->round + round, burst_random);
    }
    EPT_OK(t, MPI_Comm_free(&survivors));
}

/** Rounds of fn on endpoints of its own; each process for itself, its other ranks wait. */
static void on_groups(struct ept *t, int rounds, ept_handle_fn_t fn)
{
    if (0 != t->local || !t->endpoints) {
        return;
    }
    for (int round = 0; round < rounds; ++round) {
        struct group group = {.round = 100 + 10 * round};
        MPI_Comm comms[GROUP];

        EPT_OK(t, ept_create_endpoints(MPI_COMM_SELF, GROUP, MPI_INFO_NULL, comms));
        ept_on_each(t, comms, GROUP, fn, &group);
        EPT_EQ(t, leave_full == fn ? GROUP - 1 : GROUP, atomic_load(&group.gone));
    }
}

static void case_leave_full(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    on_groups(t, (int) ept_option_long("rounds", 6), leave_full);
}

static void case_outlive(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    on_groups(t, (int) ept_option_long("rounds", 4), outlive);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_many_to_one);
    EPT_CASE(t, case_alternate);
    EPT_CASE(t, case_random);
    EPT_CASE(t, case_leave_full);
    EPT_CASE(t, case_outlive);
    return 0;
}
