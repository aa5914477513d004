/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The order in which a rank ends: thread-local objects, functions registered by atexit and static
 * objects, the last one first, then destructors of the file.  Constructors have MPI_COMM_WORLD.
 *
 * Guards: ranks/image, at_exit.c, construct.c
 */

#include "check.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

static char order[16];
static int rank_of_main = -1;

static void note(char what)
{
    order[std::strlen(order)] = what;
}

/* The first one of the file's destructors to run would be the last one that is written; so there is
 * one, which judges. */
__attribute__((destructor)) static void judge()
{
    if (0 != std::strcmp(order, "tbas")) {
        std::fprintf(stderr, "# rank %d: expected order tbas, got %s\n", rank_of_main, order);
        _Exit(1);
    }
}

static void in_handler()
{
    note('a');
}

static void at_exit()
{
    note('b');
    (void) std::atexit(in_handler); /* while handlers run: the next one */
}

struct Static {
    MPI_Comm comm;
    Static() : comm(MPI_COMM_WORLD) {}
    ~Static() { note('s'); }
};

struct Local {
    int *rank;
    Local() : rank(&rank_of_main) {}
    ~Local() { note('t'); }
};

static Static object;
static thread_local Local local;
static thread_local int *pointer = &rank_of_main; /* an address in the image of thread-local storage */

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank_of_main = ranks_rank();
    CHECK(object.comm == MPI_COMM_WORLD);
    CHECK(&rank_of_main == local.rank && &rank_of_main == pointer);
    (void) std::atexit(at_exit);
    try {
        throw std::runtime_error("thrown");
    } catch (const std::exception &error) {
        CHECK(0 == std::strcmp("thrown", error.what()));
    }
    ranks_case("constructed, in the thread of main");
    return ranks_end();
}
