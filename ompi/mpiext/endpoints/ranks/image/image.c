/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Images of ranks: what layer start calls: see image.h.
 *
 * Tests: ranks_basic, ranks_library, ranks_cg, ranks_farm, ranks_file, ranks_fortran, ranks_stencil,
 * ranks_window
 */

#define _GNU_SOURCE

#include "image.h"

#include "at_exit.h"
#include "bind.h"
#include "check.h"
#include "construct.h"
#include "open.h"
#include "program.h"
#include "search.h"
#include "static_tls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mpix_ranks_libraries_t mpix_ranks_libraries;
mpix_ranks_set_t mpix_ranks_program;

/** What the program and its private libraries find under these names.  Shared libraries find libc's:
 * what libmpi loads is there for all ranks, whichever calls it. */
static const mpix_ranks_function_t functions[] = {
    {"dlsym", (void *) mpix_ranks_search},
    {"dlopen", (void *) mpix_ranks_open},
    {"dlclose", (void *) mpix_ranks_close},
    {"dlerror", (void *) mpix_ranks_open_error},
    {"__cxa_atexit", (void *) mpix_ranks_at_exit},
    {"__cxa_thread_atexit", (void *) mpix_ranks_at_thread_exit},
    {"__cxa_thread_atexit_impl", (void *) mpix_ranks_at_thread_exit},
    {"__cxa_finalize", (void *) mpix_ranks_finalize},
    {NULL, NULL},
};

static char *base_of(const mpix_rank_t *rank, int object)
{
    return rank->image->loaded[object].base;
}

bool mpix_ranks_image_is_mpi(void)
{
    mpix_ranks_libraries_read(&mpix_ranks_libraries);
    return NULL != mpix_ranks_libraries_reached(&mpix_ranks_libraries, "libmpi.")
           || NULL != mpix_ranks_libraries_reached(&mpix_ranks_libraries, "libmpi_abi.");
}

void mpix_ranks_image_defer(void)
{
    const char *wrong = mpix_ranks_program_defer(mpix_ranks_libraries.all[0].map);

    if (NULL != wrong) {
        mpix_ranks_refuse("the executable's constructors cannot be put off: %s", wrong);
    }
}

void mpix_ranks_image_check(int ranks, char **argv)
{
    const char *wrong;

    mpix_ranks_open_functions = functions;
    mpix_ranks_libraries_decide(&mpix_ranks_libraries);
    mpix_ranks_check(&mpix_ranks_libraries, functions, &mpix_ranks_program);
    wrong = mpix_ranks_copy_reserve((size_t) mpix_ranks_program.count * (size_t) ranks);
    if (NULL != wrong) {
        mpix_ranks_refuse("%d copies of %d files: %s", ranks - 1, mpix_ranks_program.count, wrong);
    }
    mpix_ranks_static_tls_provide(&mpix_ranks_program, ranks, argv);
    if (mpix_ranks_is_asked("MPIX_RANKS_VERBOSE") && mpix_ranks_is_first_process()) {
        mpix_ranks_image_describe(stderr);
    }
}

/** The addresses of the variables that are a rank's own. */
static void find_variables(mpix_rank_t *rank)
{
    void **variables = rank->image->variables;
    const mpix_ranks_object_t *program = &mpix_ranks_program.objects[0];

    for (int i = 0; i < MPIX_RANKS_VARIABLES; ++i) {
        const mpix_ranks_variable_t *variable = mpix_ranks_variable_at(i);
        void *libcs = dlsym(RTLD_DEFAULT, variable->name);

        variables[i] = libcs;
        if (0 != rank->index && NULL != libcs) {
            const ElfW(Sym) *symbol = mpix_ranks_elf_defined(&program->elf, variable->name);

            if (NULL != symbol) {
                variables[i] = base_of(rank, 0) + symbol->st_value;
            } else {
                variables[i] = base_of(rank, 0) + program->variables + (size_t) i * sizeof(void *);
                memcpy(variables[i], libcs, variable->size);
            }
        }
    }
}

static const char *load_originals(mpix_rank_t *rank)
{
    const char *wrong = mpix_ranks_program_lead(rank, &mpix_ranks_program.objects[0]);

    for (int i = 0; NULL == wrong && i < mpix_ranks_program.count; ++i) {
        const char *path = mpix_ranks_program.objects[i].map->l_name;
        mpix_ranks_loaded_t *loaded = &rank->image->loaded[i];

        *loaded = (mpix_ranks_loaded_t){.object = &mpix_ranks_program.objects[i], .file = -1};
        /* Symbols are looked for only in what has been opened. */
        loaded->map = dlopen(0 == i ? NULL : path, RTLD_LAZY | RTLD_NOLOAD);
        if (NULL == loaded->map) {
            return dlerror();
        }
        loaded->base = (char *) loaded->map->l_addr;
        /* By this path what the rank opens needs it; there is none of the executable. */
        (void) snprintf(loaded->path, sizeof(loaded->path), "%s", 0 == i ? "libc.so.6" : path);
        wrong = mpix_ranks_bind_original(rank, &mpix_ranks_program.objects[i]);
    }
    find_variables(rank);
    return wrong;
}

static const char *load_copies(mpix_rank_t *rank)
{
    const char *wrong;
    char label[16];

    (void) snprintf(label, sizeof(label), "rank%d", rank->number);
    wrong = mpix_ranks_copy_load(&mpix_ranks_program, label, RTLD_LAZY, NULL, rank->image->loaded);
    if (NULL == wrong) {
        find_variables(rank);
        wrong = mpix_ranks_bind_copies(rank, &mpix_ranks_program, rank->image->loaded,
                                       rank->image->variables);
    }
    if (NULL == wrong && 1 == rank->index) { /* all others are the same */
        wrong = mpix_ranks_bind_check(&mpix_ranks_program, rank->image->loaded);
    }
    return wrong;
}

void mpix_ranks_image_load(mpix_rank_t *rank)
{
    const char *wrong = "no memory";
    pthread_mutexattr_t recursive;

    rank->image = calloc(1, sizeof(*rank->image));
    if (NULL != rank->image) {
        rank->image->loaded = calloc((size_t) mpix_ranks_program.count,
                                     sizeof(*rank->image->loaded));
    }
    if (NULL != rank->image && NULL != rank->image->loaded) {
        (void) pthread_mutexattr_init(&recursive);
        (void) pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
        (void) pthread_mutex_init(&rank->image->lock, &recursive);
        (void) pthread_mutexattr_destroy(&recursive);
        wrong = 0 == rank->index ? load_originals(rank) : load_copies(rank);
    }
    if (NULL != wrong) {
        mpix_ranks_refuse("no copy of the program for rank %d: %s", rank->number, wrong);
    }
}

void mpix_ranks_image_enter(mpix_rank_t *rank)
{
    mpix_ranks_tls_enter(&mpix_ranks_program.objects[0], base_of(rank, 0));
}

void mpix_ranks_image_construct(mpix_rank_t *rank, int argc, char **argv, char **envp)
{
    rank->image->argc = argc;
    rank->image->argv = argv;
    rank->image->envp = envp;
    for (int i = 0; i < mpix_ranks_program.count; ++i) {
        const int object = mpix_ranks_program.order[i];

        /* The originals of libraries have been constructed at the start of the process. */
        if (0 == object || 0 != rank->index) {
            mpix_ranks_construct(&mpix_ranks_program.objects[object], base_of(rank, object), argc,
                                 argv, envp);
        }
    }
}

mpix_ranks_main_t *mpix_ranks_image_main(mpix_rank_t *rank, mpix_ranks_main_t *executables)
{
    const ptrdiff_t offset = (char *) executables
                             - (char *) mpix_ranks_program.objects[0].map->l_addr;

    return (mpix_ranks_main_t *) (base_of(rank, 0) + offset);
}

void mpix_ranks_image_destruct(mpix_rank_t *rank)
{
    mpix_ranks_at_exit_run(rank);
    mpix_ranks_open_end(rank);
    for (int i = mpix_ranks_program.count - 1; i >= 0; --i) {
        const int object = mpix_ranks_program.order[i];

        if (0 == object || 0 != rank->index) {
            mpix_ranks_destruct(&mpix_ranks_program.objects[object], base_of(rank, object));
        }
    }
}

void *mpix_ranks_image_variable(mpix_rank_t *rank, const char *name)
{
    const mpix_ranks_variable_t *variable = mpix_ranks_variable(name);

    return NULL != variable ? rank->image->variables[variable->index] : NULL;
}

void mpix_ranks_image_end(void)
{
    mpix_ranks_copy_remove_files();
}
