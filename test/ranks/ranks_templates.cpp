/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A library in C++ with state: statics of templates, exceptions and types that cross it, thread-local
 * objects.
 *
 * EPT-LIBRARY: ranks_templates_own.cpp
 *
 * Guards: ranks/image, references.c
 */

#include "ranks_templates.h"

#include "check.h"

#include <sstream>
#include <thread>
#include <typeinfo>

static void check_statics()
{
    const int rank = ranks_rank();
    int last = 0;

    for (int i = 0; i <= rank; ++i) {
        last = own_step();
        ++Count<int>::number;
    }
    CHECK(last == rank + 6);
    CHECK(Count<int>::number == 2 * (rank + 1) && Count<int>::inside() == rank + 1);
    CHECK(Count<long>::number == 1);
    ranks_case("statics that program and library have in common");
}

static void check_types()
{
    Base *object = own_make();
    std::ostringstream text;
    std::string caught;

    try {
        own_throw(1);
    } catch (const Odd &odd) {
        caught = odd.what();
    }
    CHECK("odd" == caught);
    try {
        own_throw(2);
    } catch (int x) {
        caught = std::to_string(x);
    }
    CHECK("2" == caught);
    CHECK(2 == object->id() && typeid(*object) != typeid(Base));
    delete object;
    text << std::hex << 255 << ' ' << std::fixed << 1.5;
    CHECK("ff 1.500000" == text.str());
    ranks_case("exceptions and types");
}

static void check_local()
{
    const std::string before = own_text;
    std::string other;

    std::thread([&] {
        own_step();
        other = own_text;
    }).join();
    CHECK("begin." == other && before == own_text);
    CHECK("begin" + std::string(static_cast<size_t>(ranks_rank()) + 1, '.') == own_text);
    ranks_case("thread-local objects of the library");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_statics();
    check_types();
    check_local();
    return ranks_end();
}
