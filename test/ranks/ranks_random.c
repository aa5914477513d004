/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Sequences of random numbers are a rank's own, and those that a process gets.
 *
 * Guards: random.c, libc.c
 */

#define _GNU_SOURCE

#include "check.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* A number stands for twenty: a launcher cuts long output of processes into pieces. */
static void twenty(int rank, const char *name, long (*next)(void))
{
    unsigned long sum = 0;

    for (int i = 0; i < 20; ++i) {
        sum = sum * 6364136223846793005ul + (unsigned long) next();
        sched_yield();
    }
    printf("%d %s %lx\n", rank, name, sum);
}

static long next_rand(void)
{
    return rand();
}

static long next_drand48(void)
{
    return (long) (1e15 * drand48());
}

static long next_mixed(void)
{
    static unsigned short numbers[3] = {1, 2, 3};

    return nrand48(numbers) ^ jrand48(numbers) ^ (long) (1e15 * erand48(numbers)) ^ mrand48();
}

int main(int argc, char **argv)
{
    static char state[256];
    unsigned short seed[3] = {4, 5, 6}, parameters[7] = {1, 2, 3, 4, 5, 6, 7};
    unsigned short *before;
    char *first;
    int rank;

    MPI_Init(&argc, &argv);
    rank = ranks_rank();
    twenty(rank, "rand", next_rand); /* as if by srand(1) */
    srand((unsigned) rank + 5);
    twenty(rank, "rand", next_rand);
    srandom(17);
    twenty(rank, "random", random);
    first = initstate(3, state, 64);
    twenty(rank, "initstate", random);
    CHECK(state == setstate(first));
    twenty(rank, "setstate", random);
    CHECK(NULL == initstate(3, state, 4));
    twenty(rank, "drand48", next_drand48);
    srand48(rank);
    twenty(rank, "lrand48", lrand48);
    before = seed48(seed);
    printf("%d seed48 %d %d %d\n", rank, before[0], before[1], before[2]);
    twenty(rank, "mixed", next_mixed);
    lcong48(parameters);
    twenty(rank, "lcong48", lrand48);
    MPI_Finalize();
    return 0;
}
