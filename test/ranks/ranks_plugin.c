/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A program that opens libraries while it runs: one of its own, which uses the program's variables and
 * MPI_COMM_WORLD, and one of the system's.  Each rank has the former to itself.
 *
 * EPT-PLUGIN: ranks_plugin_own.c ranks_plugin_other.c
 * EPT-LIBS: -rdynamic -ldl
 *
 * Guards: ranks/image, find.c, open.c, search.c, set.c
 */

#define _GNU_SOURCE

#include "check.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* How the runner calls it. */
#define NAME "ranks_plugin.ranks_plugin_own.so"
#define OTHER "ranks_plugin.ranks_plugin_other.so"

int programs_number = 1;
int plugins_ended;

int programs_function(int x)
{
    return x + programs_number;
}

static void check_opened(void)
{
    void *handle = dlopen(NAME, RTLD_NOW), *again = dlopen(NAME, RTLD_LAZY | RTLD_NOLOAD);
    int (*step)(void), (*may_free)(void), (*early)(MPI_Comm);
    const int rank = ranks_rank();

    CHECK(NULL != handle && handle == again);
    if (NULL != handle) {
        *(void **) &step = dlsym(handle, "plugin_step");
        *(void **) &early = dlsym(handle, "plugin_early");
        *(void **) &may_free = dlsym(handle, "plugin_may_free");
        CHECK(NULL != step && NULL != early && NULL == dlsym(handle, "programs_missing"));
        CHECK(NULL != dlerror());
        CHECK(NULL != may_free && !may_free());
        programs_number = 10 * rank;
        for (int i = 0; i < rank; ++i) {
            (void) step();
        }
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(step() == 10 * rank + rank + 1 && early(MPI_COMM_WORLD));
        CHECK(0 == dlclose(again) && 0 == plugins_ended);
        CHECK(0 == dlclose(handle) && 1 == plugins_ended);
    }
    ranks_case("a library of the program's");
}

/** A library finds symbols of one that was opened with RTLD_GLOBAL, which stays as long as it does. */
static void check_global(void)
{
    void *first = dlopen(NAME, RTLD_LAZY | RTLD_GLOBAL), *other = dlopen(OTHER, RTLD_NOW);
    int (*step)(void), (*other_step)(MPI_Comm);
    const int before = plugins_ended, second = 0 == ranks_rank() ? -1 : 2;

    CHECK(NULL != first && NULL != other);
    if (NULL != first && NULL != other) {
        *(void **) &step = dlsym(first, "plugin_step");
        *(void **) &other_step = dlsym(other, "other_step");
        CHECK(NULL != step && NULL != other_step && step == dlsym(RTLD_DEFAULT, "plugin_step"));
        programs_number = 0;
        CHECK(1 == other_step(MPI_COMM_WORLD) && second == step());
        CHECK(0 == dlclose(first) && before == plugins_ended);
        CHECK(0 == dlclose(other) && before + 1 == plugins_ended);
    }
    ranks_case("symbols of a library that is global");
}

static void check_names(void)
{
    void *program = dlopen(NULL, RTLD_NOW), *missing;
    const char *error;

    CHECK((void *) programs_function == dlsym(RTLD_DEFAULT, "programs_function"));
    CHECK((void *) programs_function == dlsym(program, "programs_function"));
    CHECK(&programs_number == dlsym(program, "programs_number"));
    CHECK((void *) programs_function != dlsym(RTLD_NEXT, "programs_function"));
    CHECK(NULL != dlsym(RTLD_NEXT, "printf"));
    missing = dlopen("libranks-nowhere.so", RTLD_NOW);
    error = dlerror();
    CHECK(NULL == missing && NULL != error && NULL != strstr(error, "libranks-nowhere.so"));
    ranks_case("names in the program");
}

static void check_shared(void)
{
    void *library = dlopen("libm.so.6", RTLD_NOW);
    double (*cosine)(double);

    CHECK(NULL != library);
    if (NULL != library) {
        *(void **) &cosine = dlsym(library, "cos");
        CHECK(NULL != cosine && 1.0 == cosine(0.0));
        CHECK(0 == dlclose(library));
    }
    ranks_case("a library of the system's");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_opened();
    check_global();
    check_names();
    check_shared();
    return ranks_end();
}
