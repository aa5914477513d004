/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * More ranks than cores: loops of alltoall and barrier, of pairs that wait for each other, of one
 * token around all ranks.  What is tested is that they end, and how long they took is printed
 * ("# seconds NAME VALUE"), for the runner to compare with processes under ob1.
 *
 *   --rounds N   alltoalls (default 300)
 *
 * Guards: pml_epml_oversubscription.c, pml_epml_waiting.c
 */

#include "ept.h"

static void print_seconds(struct ept *t, const char *name, double since)
{
    double mine = ept_time() - since, longest = 0;

    EPT_OK(t, MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, t->comm));
    if (0 == t->rank) {
        printf("# seconds %s %.4f\n", name, longest);
        fflush(stdout);
    }
}

static void case_alltoall(MPI_Comm comm, struct ept *t)
{
    enum { COUNT = 16 };
    int rounds = (int) ept_option_long("rounds", 300);
    int32_t *out = calloc((size_t) t->size * COUNT, sizeof(*out));
    int32_t *in = calloc((size_t) t->size * COUNT, sizeof(*in));
    double start;

    EPT_OK(t, MPI_Barrier(comm));
    start = ept_time();
    for (int round = 0; round < rounds; ++round) {
        ept_phase(t, "round %d", round);
        for (int r = 0; r < t->size; ++r) {
            out[r * COUNT + round % COUNT] = round * 1000 + t->rank;
        }
        EPT_OK(t, MPI_Alltoall(out, COUNT, MPI_INT32_T, in, COUNT, MPI_INT32_T, comm));
        for (int r = 0; r < t->size; ++r) {
            EPT_EQ(t, round * 1000 + r, in[r * COUNT + round % COUNT]);
        }
    }
    print_seconds(t, "alltoall", start);
    free(out);
    free(in);
}

static void case_barrier(MPI_Comm comm, struct ept *t)
{
    int rounds = (int) ept_option_long("rounds", 300);
    double start;

    EPT_OK(t, MPI_Barrier(comm));
    start = ept_time();
    for (int round = 0; round < rounds; ++round) {
        ept_phase(t, "round %d", round);
        EPT_OK(t, MPI_Barrier(comm));
    }
    print_seconds(t, "barrier", start);
}

/* Every message needs its partner to run: with one core the worst case for spinning. */
static void case_ping_pong(MPI_Comm comm, struct ept *t)
{
    int rounds = (int) ept_option_long("rounds", 300), peer = ept_partner(t, EPT_PAIR_MIRROR);
    double start = ept_time();

    for (int round = 0; MPI_PROC_NULL != peer && round < rounds; ++round) {
        int value = round;

        ept_phase(t, "round %d", round);
        if (t->rank < peer) {
            EPT_OK(t, MPI_Send(&value, 1, MPI_INT, peer, 1, comm));
            EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE));
            EPT_EQ(t, round + 1, value);
        } else {
            EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE));
            ++value;
            EPT_OK(t, MPI_Send(&value, 1, MPI_INT, peer, 1, comm));
        }
    }
    print_seconds(t, "ping_pong", start);
}

/* All but one wait. */
static void case_token(MPI_Comm comm, struct ept *t)
{
    int rounds = (int) ept_option_long("rounds", 300) / 10 + 1, token = 0;
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    double start;

    EPT_OK(t, MPI_Barrier(comm));
    start = ept_time();
    for (int round = 0; 2 <= t->size && round < rounds; ++round) {
        ept_phase(t, "round %d", round);
        if (0 == t->rank) {
            token = round * t->size;
            EPT_OK(t, MPI_Send(&token, 1, MPI_INT, to, 1, comm));
            EPT_OK(t, MPI_Recv(&token, 1, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE));
            EPT_EQ(t, round * t->size + t->size - 1, token);
        } else {
            EPT_OK(t, MPI_Recv(&token, 1, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE));
            EPT_EQ(t, round * t->size + t->rank - 1, token);
            ++token;
            EPT_OK(t, MPI_Send(&token, 1, MPI_INT, to, 1, comm));
        }
    }
    print_seconds(t, "token", start);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_alltoall);
    EPT_CASE(t, case_barrier);
    EPT_CASE(t, case_ping_pong);
    EPT_CASE(t, case_token);
    return 0;
}
