/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The library of ranks_templates.
 */

#include "ranks_templates.h"

thread_local std::string own_text = "begin";

namespace {

struct Derived : Base {
    int id() const override { return 2; }
};

struct Global {
    int number;
    Global() : number(5) { ++Count<long>::number; }
};

Global global;

} // namespace

int own_step()
{
    ++Count<int>::number;
    ++Count<int>::inside();
    own_text += '.';
    return ++global.number;
}

void own_throw(int x)
{
    if (0 != x % 2) {
        throw Odd("odd");
    }
    throw x;
}

Base *own_make()
{
    return new Derived;
}
