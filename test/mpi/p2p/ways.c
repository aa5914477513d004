/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Pairs of endpoints whose ways are not what they mostly are.
 *
 *   --way area   some have no memory for messages of more than a few cells
 *   --way back   so little memory that few pairs can have any of their own: all can send and answer
 *   --way group  as back, and groups of two make communicators
 *   --way links  one direction is through shared memory, the other one through the network; of
 *   three
 *                processes the first cannot share memory
 *
 * Guards: pml_epml_connection.c, pml_epml_transmit.c, pml_epml_transport.c, btl_epshm_node_peer.c,
 * btl_epshm_segment.c, pml_epml_ep_transports.c
 */

#include "ept.h"

enum { TAG = 5, PARTS = 2, PIECE = 1000, ROUNDS = 3, LARGE = 1 << 20, CROWD = 20 };

/* ---- partitioned messages where there is no area --------------------------------------------- */

/** A round with all others: contiguous, or with gaps. */
static void rounds_with_all(MPI_Comm comm, struct ept *t, MPI_Datatype type, int stride)
{
    const size_t bytes = (size_t) PARTS * PIECE * (size_t) stride;
    unsigned char *out = malloc(bytes), *in = malloc(bytes * (size_t) t->size);
    MPI_Request *requests = malloc(2 * (size_t) t->size * sizeof(*requests));

    for (int i = 0; i < t->size; ++i) {
        EPT_OK(t, MPI_Precv_init(in + bytes * (size_t) i, PARTS, PIECE, type, i, TAG, comm,
                                 MPI_INFO_NULL, &requests[i]));
        EPT_OK(t, MPI_Psend_init(out, PARTS, PIECE, type, i, TAG, comm, MPI_INFO_NULL,
                                 &requests[t->size + i]));
    }
    for (int round = 0; round < ROUNDS; ++round) {
        ept_phase(t, "round %d, one byte in %d", round, stride);
        memset(out, 16 * round + t->rank, bytes);
        memset(in, 0xff, bytes * (size_t) t->size);
        EPT_OK(t, MPI_Startall(2 * t->size, requests));
        for (int i = 0; i < t->size; ++i) {
            EPT_OK(t, MPI_Pready_range(0, PARTS - 1, requests[t->size + i]));
        }
        EPT_OK(t, MPI_Waitall(2 * t->size, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < t->size; ++i) {
            for (size_t at = 0; at < bytes; at += (size_t) stride) {
                EPT_EQ(t, 16 * round + i, in[bytes * (size_t) i + at]);
            }
        }
    }
    for (int i = 0; i < 2 * t->size; ++i) {
        EPT_OK(t, MPI_Request_free(&requests[i]));
    }
    free(requests);
    free(in);
    free(out);
}

static void case_no_area(MPI_Comm comm, struct ept *t)
{
    MPI_Datatype gaps;

    rounds_with_all(comm, t, MPI_BYTE, 1);
    EPT_OK(t, MPI_Type_create_resized(MPI_BYTE, 0, 2, &gaps));
    EPT_OK(t, MPI_Type_commit(&gaps));
    rounds_with_all(comm, t, gaps, 2);
    EPT_OK(t, MPI_Type_free(&gaps));
}

/* ---- many pairs and little memory ------------------------------------------------------------ */

static atomic_int senders_done, over;

/** Use up the memory of this process for ways to the other one. */
static void use_up(MPI_Comm comm, struct ept *t)
{
    for (int i = 0; i < CROWD; ++i) {
        char byte = 0;

        EPT_OK(t, MPI_Send(&byte, 1, MPI_BYTE, i, TAG, comm));
    }
}

/** Send to all of the other process what they must acknowledge. */
static void want_answers(MPI_Comm comm, struct ept *t, int index)
{
    for (int i = CROWD; i < 2 * CROWD; ++i) {
        char byte = 1;

        ept_phase(t, "endpoint %d to %d", index, i);
        EPT_OK(t, MPI_Ssend(&byte, 1, MPI_BYTE, i, TAG + 1, comm));
    }
    atomic_fetch_add(&senders_done, 1);
}

/** Receive from all of the other process until that is through. */
static void give_answers(MPI_Comm comm)
{
    MPI_Request requests[CROWD];
    char bytes[CROWD];

    for (int i = 0; i < CROWD; ++i) {
        (void) MPI_Irecv(&bytes[i], 1, MPI_BYTE, i, TAG + 1, comm, &requests[i]);
    }
    while (!atomic_load(&over)) {
        for (int i = 0, flag; i < CROWD; ++i) {
            (void) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
        }
    }
    for (int i = 0; i < CROWD; ++i) {
        if (MPI_REQUEST_NULL != requests[i]) {
            (void) MPI_Cancel(&requests[i]);
            (void) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
    }
}

/** Without endpoints: when the senders' process is through. */
static void tell_when_over(const struct ept *t)
{
    char byte = 0;

    if (0 == t->proc) {
        while (CROWD > atomic_load(&senders_done)) {
            int flag;

            (void) MPI_Iprobe(1, TAG + 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        }
        (void) MPI_Send(&byte, 1, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    } else {
        (void) MPI_Recv(&byte, 1, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        atomic_store(&over, 1);
    }
}

/** The senders begin when the other process has no memory left. */
static void begin(MPI_Comm comm, struct ept *t, int index, pthread_barrier_t *barrier)
{
    char byte = 0;

    if (1 == t->proc && index < CROWD) {
        use_up(comm, t);
    }
    if (0 == t->proc && index == CROWD) {
        EPT_OK(t, MPI_Recv(&byte, 1, MPI_BYTE, 1, TAG, comm, MPI_STATUS_IGNORE));
    }
    (void) pthread_barrier_wait(barrier);
    if (1 == t->proc && index == CROWD) {
        EPT_OK(t, MPI_Send(&byte, 1, MPI_BYTE, 0, TAG, comm));
    }
}

static void in_the_crowd(MPI_Comm comm, struct ept *t, int index, void *context)
{
    if (index < CROWD) {
        EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    }
    begin(comm, t, index, context);
    if (index == CROWD) {
        tell_when_over(t);
    } else if (0 == t->proc) {
        want_answers(comm, t, index);
    } else {
        give_answers(comm);
    }
}

static void case_all_answer(MPI_Comm comm, struct ept *t)
{
    MPI_Comm crowd[CROWD + 1];
    pthread_barrier_t barrier;

    EPT_OK(t, MPI_Barrier(comm)); /* as in case_all_agree */
    EPT_OK(t, ept_create_endpoints(MPI_COMM_WORLD, CROWD, MPI_INFO_NULL, crowd));
    crowd[CROWD] = MPI_COMM_WORLD;
    pthread_barrier_init(&barrier, NULL, CROWD + 1);
    ept_on_each(t, crowd, CROWD + 1, in_the_crowd, &barrier);
    pthread_barrier_destroy(&barrier);
    for (int i = 0; i < CROWD; ++i) {
        EPT_OK(t, MPI_Comm_free(&crowd[i]));
    }
}

/* ---- agreements with little memory ----------------------------------------------------------- */

static void make_pairs(MPI_Comm comm, struct ept *t, int index, void *barrier)
{
    MPI_Group all;

    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_group(comm, &all));
    begin(comm, t, index, barrier);
    for (int shift = 7; shift < CROWD; shift += 8) {
        /* The one with little memory says which context it is to be. */
        const int ranks[2] = {CROWD + (0 == t->proc ? (index + shift) % CROWD : index),
                              0 == t->proc ? index : (index + CROWD - shift) % CROWD};
        MPI_Comm pair = MPI_COMM_NULL;
        MPI_Group two;

        ept_phase(t, "%d with %d", ranks[0], ranks[1]);
        EPT_OK(t, MPI_Group_incl(all, 2, ranks, &two));
        EPT_OK(t, MPI_Comm_create_group(comm, two, TAG, &pair));
        EPT_OK(t, MPI_Comm_free(&pair));
        EPT_OK(t, MPI_Group_free(&two));
    }
    EPT_OK(t, MPI_Group_free(&all));
}

/** All but the process itself, which takes part in the beginning only. */
static void make_or_begin(MPI_Comm comm, struct ept *t, int index, void *barrier)
{
    if (index < CROWD) {
        make_pairs(comm, t, index, barrier);
    } else {
        begin(comm, t, index, barrier);
    }
}

static void case_all_agree(MPI_Comm comm, struct ept *t)
{
    MPI_Comm crowd[CROWD + 1];
    pthread_barrier_t barrier;

    EPT_OK(t, MPI_Barrier(comm)); /* it has its ways before there is little memory */
    EPT_OK(t, ept_create_endpoints(MPI_COMM_WORLD, CROWD, MPI_INFO_NULL, crowd));
    crowd[CROWD] = MPI_COMM_WORLD;
    pthread_barrier_init(&barrier, NULL, CROWD + 1);
    ept_on_each(t, crowd, CROWD + 1, make_or_begin, &barrier);
    pthread_barrier_destroy(&barrier);
    for (int i = 0; i < CROWD; ++i) {
        EPT_OK(t, MPI_Comm_free(&crowd[i]));
    }
}

/* ---- each direction has its own link --------------------------------------------------------- */

/** One process with the first, one with the second: messages both ways, ordinary and partitioned.
 * first: does this one begin? */
static void both_ways(MPI_Comm inter, struct ept *t, int peer, bool first)
{
    unsigned char *data = malloc(LARGE);

    for (int turn = 0; turn < 4; ++turn) {
        const bool sends = first == (0 == turn % 2);
        MPI_Request request;

        ept_phase(t, "turn %d, %s", turn, sends ? "sending" : "receiving");
        memset(data, sends ? turn : 0xff, LARGE);
        if (2 > turn) {
            EPT_OK(t, sends ? MPI_Isend(data, LARGE, MPI_BYTE, peer, TAG, inter, &request)
                            : MPI_Irecv(data, LARGE, MPI_BYTE, peer, TAG, inter, &request));
        } else if (sends) {
            EPT_OK(t, MPI_Psend_init(data, PARTS, LARGE / PARTS, MPI_BYTE, peer, TAG, inter,
                                     MPI_INFO_NULL, &request));
            EPT_OK(t, MPI_Start(&request));
            EPT_OK(t, MPI_Pready_range(0, PARTS - 1, request));
        } else {
            EPT_OK(t, MPI_Precv_init(data, PARTS, LARGE / PARTS, MPI_BYTE, peer, TAG, inter,
                                     MPI_INFO_NULL, &request));
            EPT_OK(t, MPI_Start(&request));
        }
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (2 <= turn) {
            EPT_OK(t, MPI_Request_free(&request));
        }
        for (int i = 0; i < LARGE; ++i) {
            EPT_EQ(t, turn, data[i]);
        }
    }
    free(data);
}

/** Two groups meet: endpoints of processes 1 and 2, which share memory, and of 1 and 0, which do
 * not.  The second one of process 1 in the latter is none that its process is known by. */
static void meet(MPI_Comm comm, struct ept *t, int index, void *context)
{
    const bool near = 0 == index && 0 != t->proc;
    const int leader = near ? 0 : 2; /* of the other group, in MPI_COMM_WORLD */
    MPI_Comm group = comm, inter;
    int rank, peer = -1;

    (void) context;
    if (!near) {
        EPT_OK(t, MPI_Comm_rank(comm, &rank));
        EPT_OK(t,
               MPI_Comm_split(comm, 1 == t->proc && 1 == index ? MPI_UNDEFINED : 0, rank, &group));
        EPT_OK(t, MPI_Comm_free(&comm));
    }
    if (MPI_COMM_NULL == group) {
        return;
    }
    /* The leaders are processes 2 and 0. */
    EPT_OK(t, MPI_Comm_rank(group, &rank));
    EPT_OK(t, MPI_Intercomm_create(group, near ? 1 : 0, MPI_COMM_WORLD, leader, TAG, &inter));
    if (near && 2 == t->proc) {
        peer = 1; /* the last one of process 1 */
    } else if (!near && 1 == t->proc) {
        peer = 1; /* of process 2 */
    }
    if (0 <= peer) {
        both_ways(inter, t, peer, near);
    }
    EPT_OK(t, MPI_Barrier(inter));
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&group));
}

static void case_two_links(MPI_Comm comm, struct ept *t)
{
    MPI_Comm near, far, handles[3];
    int count = 0;

    (void) comm;
    EPT_OK(t, MPI_Comm_split(MPI_COMM_WORLD, 0 != t->proc ? 0 : MPI_UNDEFINED, t->proc, &near));
    EPT_OK(t, MPI_Comm_split(MPI_COMM_WORLD, 2 != t->proc ? 0 : MPI_UNDEFINED, t->proc, &far));
    if (0 != t->proc) {
        EPT_OK(t, ept_create_endpoints(near, 1, MPI_INFO_NULL, handles));
        EPT_OK(t, MPI_Comm_free(&near));
        ++count;
    }
    if (2 != t->proc) {
        EPT_OK(t, ept_create_endpoints(far, 0 == t->proc ? 1 : 2, MPI_INFO_NULL, handles + count));
        EPT_OK(t, MPI_Comm_free(&far));
        count += 0 == t->proc ? 1 : 2;
    }
    ept_on_each(t, handles, count, meet, NULL);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    const char *way = ept_option("way", "area");

    (void) comm;
    if (0 == strcmp("area", way)) {
        EPT_CASE(t, case_no_area);
    } else if (0 == strcmp("back", way)) {
        EPT_CASE(t, case_all_answer);
    } else if (0 == strcmp("group", way)) {
        EPT_CASE(t, case_all_agree);
    } else {
        EPT_CASE(t, case_two_links);
    }
    return 0;
}
