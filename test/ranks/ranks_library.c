/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A program with a shared library of its own that has state, linked with -rdynamic: the library
 * (ranks_library_own.c) has statics and handles, uses a variable and a function of the program, and
 * lends it variables.  The program has one of them by a copy relocation, the other by a function.
 *
 * EPT-LIBRARY: ranks_library_own.c
 * EPT-LIBS: -rdynamic
 *
 * Guards: ranks/image
 */

#include "check.h"
#include "ranks_library.h"

#include <string.h>

int programs_number = 3; /* that the library reads */

static int calls;

int programs_function(int x)
{
    ++calls;
    return x + programs_number;
}

static void check_state(void)
{
    const int rank = ranks_rank();

    CHECK(5 == own_number && 5 == *own_address());
    own_number = 100 + rank;
    programs_number = 200 + rank;
    for (int i = 0; i < rank; ++i) {
        (void) own_count();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(100 + rank == *own_address() && &own_number == own_address());
    CHECK(rank + 1 == own_count());
    CHECK(200 + rank == own_read_programs());
    ranks_case("the library's state, and the program's in it");
}

static void check_calls(void)
{
    const int rank = ranks_rank();

    CHECK(7 + 200 + rank == own_call_programs(7) && 1 == calls);
    CHECK(own_rank() == rank && 1 == own_self_size());
    CHECK(ranks_size() * (ranks_size() - 1) / 2 == own_sum(rank));
    CHECK(0 == strcmp("constructed", own_text()));
    ranks_case("calls both ways, MPI in the library");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_state();
    check_calls();
    return ranks_end();
}
