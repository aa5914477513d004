/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A program in C that knows nothing of endpoints: what it has of its own (globals, statics, thread-local
 * variables, tables of MPI's handles and of functions in initialized data, getopt's variables), and its
 * MPI_COMM_WORLD and MPI_COMM_SELF in calls of all kinds (ranks_basic_calls.c).
 *
 * EPT-PARTS: ranks_basic_calls.c
 *
 * Guards: ranks/base, ranks/image, ranks/libc, ranks/mpi, ranks/start
 */

#include "check.h"
#include "ranks_basic.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY 100000

int in_data = 42;
int in_bss;
static long large[MANY];
static char text[] = "rank ?";
static int *pointer = &in_data;
static _Thread_local int per_thread = 7;
static _Thread_local int per_thread_zero;
static int constructed;
const char *const names[] = {"MPI_INT", "MPI_DOUBLE", "MPI_CHAR"};

static int next_number(void)
{
    static int number = 100;

    return ++number;
}

__attribute__((constructor)) static void construct(void)
{
    ++constructed;
}

static void check_globals(void)
{
    const int rank = ranks_rank();

    CHECK(1 == constructed && 42 == in_data && 0 == in_bss);
    in_data = 1000 + rank;
    in_bss = 2000 + rank;
    text[5] = (char) ('0' + rank % 10);
    for (int i = 0; i < MANY; ++i) {
        large[i] = rank * 10L + i;
    }
    for (int i = 0; i <= rank; ++i) {
        (void) next_number();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(1000 + rank == in_data && 2000 + rank == in_bss && 1000 + rank == *pointer);
    CHECK('0' + rank % 10 == text[5]);
    CHECK(rank * 10L == large[0] && rank * 10L + MANY - 1 == large[MANY - 1]);
    CHECK(102 + rank == next_number());
    ranks_case("globals and statics");
}

static void *other_thread(void *argument)
{
    int *sum = argument;

    *sum = 7 == per_thread && 0 == per_thread_zero ? in_data : -1;
    per_thread = 1;
    return NULL;
}

static void check_thread_local(void)
{
    const int rank = ranks_rank();
    pthread_t thread;
    int seen = 0;

    CHECK(7 == per_thread && 0 == per_thread_zero);
    per_thread = rank;
    per_thread_zero = -rank;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(0 == pthread_create(&thread, NULL, other_thread, &seen));
    CHECK(0 == pthread_join(thread, NULL));
    CHECK(1000 + rank == seen); /* the rank's own global, and fresh thread-local ones */
    CHECK(rank == per_thread && -rank == per_thread_zero);
    ranks_case("thread-local variables, and a thread of the rank's");
}

static const struct {
    MPI_Datatype type;
    size_t size;
} types[] = {{MPI_INT, sizeof(int)},     {MPI_DOUBLE, sizeof(double)}, {MPI_CHAR, 1},
             {MPI_LONG, sizeof(long)},   {MPI_BYTE, 1},                {MPI_FLOAT, sizeof(float)},
             {MPI_INT64_T, 8},           {MPI_UNSIGNED, 4},            {MPI_C_BOOL, sizeof(_Bool)}};
static MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL};
static MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_OP_NULL};
static MPI_Request no_request = MPI_REQUEST_NULL;
static MPI_Group empty = MPI_GROUP_EMPTY;

static void check_tables(void)
{
    const int rank = ranks_rank(), size = ranks_size();
    const int expected[] = {size * (size + 1) / 2, size, 1};
    MPI_Group group;
    int result;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i) {
        MPI_Type_size(types[i].type, &result);
        CHECK((int) types[i].size == result);
    }
    for (int i = 0; i < 3; ++i) {
        const int mine = rank + 1;

        MPI_Allreduce(&mine, &result, 1, MPI_INT, ops[i], comms[0]);
        CHECK(expected[i] == result);
    }
    CHECK(comms[0] == MPI_COMM_WORLD && comms[1] == MPI_COMM_SELF && comms[2] == MPI_COMM_NULL);
    CHECK(ops[3] == MPI_OP_NULL && no_request == MPI_REQUEST_NULL);
    MPI_Comm_size(comms[1], &result);
    CHECK(1 == result);
    MPI_Wait(&no_request, MPI_STATUS_IGNORE);
    MPI_Comm_group(comms[0], &group);
    MPI_Group_excl(group, 0, NULL, &group);
    MPI_Group_intersection(group, empty, &group);
    CHECK(MPI_GROUP_EMPTY == group);
    ranks_case("tables of handles in initialized data");
}

static int compared;

static int compare(const void *a, const void *b)
{
    ++compared;
    return *(const int *) a - *(const int *) b;
}

static int first(int x) { return x + in_data; }
static int second(int x) { return x - in_data; }
static int (*const functions[])(int) = {first, second};

static void check_functions(void)
{
    const int rank = ranks_rank();
    int (*volatile address)(int) = first;
    int numbers[] = {5, 3, 9, 1};

    qsort(numbers, 4, sizeof(int), compare);
    CHECK(1 == numbers[0] && 9 == numbers[3] && 0 < compared);
    CHECK(1001 + rank == functions[0](1) && 1 - 1000 - rank == functions[1](1));
    CHECK(address == functions[0]);
    CHECK(0 == strcmp("MPI_CHAR", names[2]));
    ranks_case("functions and their addresses");
}

static void check_options(int argc, char **argv)
{
    for (int round = 0; round < 50; ++round) {
        int flags = 0, value = 0, option;

        optind = 1;
        while (-1 != (option = getopt(argc, argv, "abc:"))) {
            flags += 'a' == option ? 1 : 'b' == option ? 10 : 0;
            value = 'c' == option ? atoi(optarg) : value;
        }
        CHECK(11 == flags && 17 == value && argc - 1 == optind);
    }
    CHECK(0 == strcmp("last", argv[argc - 1]));
    MPI_Barrier(MPI_COMM_WORLD);
    argv[argc - 1][0] = (char) ('0' + ranks_rank() % 10);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK('0' + ranks_rank() % 10 == argv[argc - 1][0]);
    ranks_case("getopt, and arguments of its own");
}

int main(int argc, char **argv)
{
    int initialized = -1, finalized = -1;

    MPI_Initialized(&initialized);
    MPI_Init(&argc, &argv);
    CHECK(0 == initialized);
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    CHECK(1 == initialized && 0 == finalized);
    ranks_case("MPI_Init");
    check_globals();
    check_thread_local();
    check_tables();
    check_functions();
    check_options(argc, argv);
    check_calls();
    return ranks_end();
}
