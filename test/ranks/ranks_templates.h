/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What ranks_templates and its library both have: statics of templates and inline functions, of which
 * there is one in a process (STB_GNU_UNIQUE), so one for each rank.
 */

#ifndef RANKS_TEMPLATES_H
#define RANKS_TEMPLATES_H

#include <stdexcept>
#include <string>

template <class T> struct Count {
    static int number;
    static int &inside()
    {
        static int number_inside = 0;
        return number_inside;
    }
};

template <class T> int Count<T>::number = 0;

struct Base {
    virtual ~Base()
    {
    }
    virtual int id() const
    {
        return 1;
    }
};

struct Odd : std::runtime_error {
    using std::runtime_error::runtime_error;
};

int own_step();
void own_throw(int x);
Base *own_make();
extern thread_local std::string own_text;

#endif /* RANKS_TEMPLATES_H */
