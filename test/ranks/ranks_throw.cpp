/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The end of a rank in C++: objects are destroyed by exit in the order of a process, in the thread that
 * calls it; an exception that nobody catches names the rank.  ranks_throw HOW RANK, HOW being throw, thread,
 * exit or return.
 *
 * Guards: finish.c, exit.c, signals.c
 */

#include "check.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

static int rank = -1;

namespace {

struct Noisy {
    const char *name;
    explicit Noisy(const char *own) : name(own)
    {
    }
    ~Noisy()
    {
        std::printf("rank %d destroys %s\n", rank, name);
    }
};

Noisy first("the first object of the file");
thread_local Noisy of_thread("a thread-local object");
Noisy second("the second object of the file");

void last_call()
{
    static Noisy inside("an object of a function that atexit has registered");

    std::printf("rank %d in atexit's function\n", rank);
}

void deep(int depth)
{
    static Noisy inside("an object of a function");
    Noisy local("an object on the stack");

    (void) of_thread.name;
    if (0 == depth) {
        std::exit(0);
    }
    if (depth > 0) {
        deep(depth - 1);
    }
}

} // namespace

int main(int argc, char **argv)
{
    const std::string how = argv[1];
    const int which = std::atoi(argv[2]);

    MPI_Init(&argc, &argv);
    rank = ranks_rank();
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::atexit(last_call);
    if ("throw" == how && which == rank) {
        throw std::runtime_error("of rank " + std::to_string(rank));
    }
    if ("thread" == how && which == rank) {
        std::thread([] { throw std::runtime_error("of rank " + std::to_string(rank)); }).join();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if ("throw" == how || "thread" == how) {
        std::printf("still here\n");
    }
    MPI_Finalize();
    if ("exit" == how) {
        deep(2);
    }
    (void) of_thread.name;
    return 0;
}
