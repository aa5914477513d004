/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Comm_agree and MPIX_Comm_iagree on communicators of endpoints.  Processes die at random moments
 * of a series of agreements, first process 0, which coordinates them, then, of four and more, process
 * 1, which has taken over.  All survivors have the same value and the same error each time, and once
 * the failures have been acknowledged there is none.
 *
 *   --ep N     endpoints per process
 *   --seed N   of the moments
 *
 * Guards: coll_epcoll_agreement.c, coll_epcoll_agreement_messages.c, coll_epcoll_consensus.c,
 * coll_epcoll_participants.c, coll_epcoll_module.c
 */

#include "ulfm_kit.h"

enum { ROUNDS = 12, MOST = 256, LONGEST_US = 3000 };

enum { WHOLE, PENDING, SAME, ACKED, REVOKED, TOPICS };

static const char *const names[TOPICS] = {
    "nobody dies: the AND of all flags",
    "nonblocking ones, several under way",
    "processes die: the same value and error at all survivors",
    "after the acknowledgement there is no error",
    "on a revoked communicator",
};

/** What members have got, by agreement: class of the error, and flag. */
static int results[KIT_MOST_EP][MOST][2];
static int counts[KIT_MOST_EP];

static void note(const member_t *m, int rc, int flag)
{
    const int nth = counts[m->index]++;

    if (MOST > nth) {
        MPI_Error_class(rc, &results[m->index][nth][0]);
        results[m->index][nth][1] = flag;
    }
}

/** Are the results the same at all endpoints of all survivors? */
static void compare(MPI_Comm survivors)
{
    int least[2 * MOST + 1], most[2 * MOST + 1];

    for (int i = 0; i < kit_endpoints; ++i) {
        CHECK(SAME,
              counts[0] == counts[i] && 0 == memcmp(results[0], results[i], sizeof(results[0])));
    }
    MPI_Allreduce(results[0], least, 2 * MOST, MPI_INT, MPI_MIN, survivors);
    MPI_Allreduce(results[0], most, 2 * MOST, MPI_INT, MPI_MAX, survivors);
    MPI_Allreduce(&counts[0], &least[2 * MOST], 1, MPI_INT, MPI_MIN, survivors);
    MPI_Allreduce(&counts[0], &most[2 * MOST], 1, MPI_INT, MPI_MAX, survivors);
    CHECK(SAME, 0 == memcmp(least, most, sizeof(least)));
}

static void *die_soon(void *argument)
{
    (void) usleep(*(const useconds_t *) argument);
    kit_die();
    return NULL;
}

/** A process dies some time after the members of it have come here. */
static void begin_to_die(member_t *m, int victim)
{
    static useconds_t after;
    pthread_t thread;

    if (victim == kit_process) {
        pthread_barrier_wait(&kit_barrier);
        if (0 == m->index) {
            after = (useconds_t) ((unsigned int) rand_r(&m->seed) % LONGEST_US);
            pthread_create(&thread, NULL, die_soon, &after);
        }
    }
}

static void agree(const member_t *m, int *flag)
{
    const int rc = MPIX_Comm_agree(m->comm, flag);

    note(m, rc, *flag);
}

/** Agreements while a process dies; then until all survivors have acknowledged it. */
static void series(member_t *m, int victim, unsigned int alive)
{
    const int all = (int) alive, dead = kit_endpoints;
    int flag, class = MPI_SUCCESS, acked;

    begin_to_die(m, victim);
    for (int round = 0; round < ROUNDS; ++round) {
        (void) usleep((useconds_t) ((unsigned int) rand_r(&m->seed) % (LONGEST_US / ROUNDS)));
        flag = ~(1 << (m->rank % 24));
        agree(m, &flag);
    }
    while (victim == kit_process) { /* it may have been too quick */
        (void) usleep(LONGEST_US);
    }
    for (int round = 0; 0 == round || MPI_SUCCESS != class; ++round) {
        OK(ACKED, MPIX_Comm_ack_failed(m->comm, m->size, &acked));
        flag = ~(1 << (m->rank % 24));
        MPI_Error_class(MPIX_Comm_agree(m->comm, &flag), &class);
        CHECK(ACKED, MPI_SUCCESS == class || MPIX_ERR_PROC_FAILED == class);
        if (0 < acked % dead || 0 == acked) {
            (void) usleep(LONGEST_US); /* the death is not known here */
        }
    }
    CHECK(ACKED, all == (~flag & all));
    note(m, MPI_SUCCESS, flag);
}

static void several(const member_t *m)
{
    MPI_Request requests[3];
    int flags[3];

    for (int i = 0; i < 3; ++i) {
        flags[i] = ~(1 << ((m->rank + i) % 24));
        OK(PENDING, MPIX_Comm_iagree(m->comm, &flags[i], &requests[i]));
    }
    OK(PENDING, MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 3; ++i) {
        int expected = 0;

        for (int rank = 0; rank < m->size; ++rank) {
            expected |= 1 << ((rank + i) % 24);
        }
        CHECK(PENDING, expected == ~flags[i]);
    }
}

static void member_run(member_t *m)
{
    unsigned int bits = 0;
    int flag;
    MPI_Comm dup;

    for (int rank = 0; rank < m->size; ++rank) {
        bits |= 1u << (rank % 24);
    }
    MPI_Comm_dup(m->comm, &dup);
    for (int round = 0; round < 3; ++round) {
        flag = ~(1 << (m->rank % 24));
        OK(WHOLE, MPIX_Comm_agree(m->comm, &flag));
        CHECK(WHOLE, (int) bits == ~flag);
    }
    several(m);
    if (m->size - 1 == m->rank) {
        OK(REVOKED, MPIX_Comm_revoke(dup));
    }
    flag = ~(1 << (m->rank % 24));
    OK(REVOKED, MPIX_Comm_agree(dup, &flag));
    CHECK(REVOKED, (int) bits == ~flag);
    for (int victim = 0; victim < (3 < kit_processes ? 2 : 1); ++victim) {
        bits = 0;
        for (int rank = kit_endpoints * (victim + 1); rank < m->size; ++rank) {
            bits |= 1u << (rank % 24);
        }
        series(m, victim, bits);
    }
    MPI_Comm_free(&dup);
}

int main(int argc, char **argv)
{
    kit_compare = compare;
    return kit_main(argc, argv, names, TOPICS, NULL);
}
