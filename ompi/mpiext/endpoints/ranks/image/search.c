/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * dlsym, as a rank's objects find it: what is looked for in the whole program is looked for in the
 * rank's own objects first.
 *
 * Tests: ranks_plugin
 */

#define _GNU_SOURCE

#include "search.h"

#include "open.h"

#include <dlfcn.h>

/** A symbol that the object itself defines: dlsym looks into what it needs, too. */
static void *symbol_of(struct link_map *map, const char *name)
{
    void *address = dlsym(map, name);
    struct link_map *found;
    Dl_info info;

    if (NULL != address
        && (0 == dladdr1(address, &info, (void **) &found, RTLD_DL_LINKMAP) || found != map)) {
        address = NULL;
    }
    return address;
}

/** In a library that the rank has opened, and in those that were loaded with it. */
static void *opened_symbol(const mpix_ranks_opened_t *opened, const char *name)
{
    void *address = NULL;

    for (int i = 0; NULL == address && i < opened->set.count; ++i) {
        address = symbol_of(opened->loaded[i].map, name);
    }
    return address;
}

/** In the rank's objects, from one on, and in what it has opened for all of them. */
static void *own_symbol(const mpix_rank_t *rank, int first, const char *name)
{
    void *address = NULL;

    for (int i = first; NULL == address && i < mpix_ranks_program.count; ++i) {
        address = symbol_of(rank->image->loaded[i].map, name);
    }
    for (const mpix_ranks_opened_t *opened = rank->image->opened; NULL == address && NULL != opened;
         opened = opened->next) {
        address = opened->is_global ? opened_symbol(opened, name) : NULL;
    }
    return address;
}

/** In the libraries that all ranks share, in the order in which they were loaded.  The dynamic
 * linker looks only into what has been opened, so that is done. */
static void *shared_symbol(const char *name)
{
    void *address = NULL;

    for (int i = 1; NULL == address && i < mpix_ranks_libraries.count; ++i) {
        const mpix_ranks_library_t *library = &mpix_ranks_libraries.all[i];
        void *handle = library->is_private ? NULL
                                           : dlopen(library->map->l_name, RTLD_LAZY | RTLD_NOLOAD);

        if (NULL != handle) {
            address = symbol_of(handle, name);
            (void) dlclose(handle);
        }
    }
    return address;
}

/** The one of the rank's objects in which an address is.  -1: none. */
static int object_of(const mpix_rank_t *rank, void *address)
{
    struct link_map *map;
    Dl_info info;

    if (0 != dladdr1(address, &info, (void **) &map, RTLD_DL_LINKMAP)) {
        for (int i = 0; i < mpix_ranks_program.count; ++i) {
            if (map == rank->image->loaded[i].map) {
                return i;
            }
        }
    }
    return -1;
}

void *mpix_ranks_search(void *handle, const char *name)
{
    const mpix_rank_t *rank = mpix_ranks_self;
    void *address = NULL;

    if (NULL != rank && RTLD_NEXT == handle) {
        const int caller = object_of(rank, __builtin_return_address(0));

        if (0 <= caller) {
            address = own_symbol(rank, caller + 1, name);
        }
        if (NULL == address) {
            address = shared_symbol(name);
        }
        if (NULL == address) { /* the dynamic linker would find the program's */
            mpix_ranks_open_fail("undefined symbol", name);
            return NULL;
        }
    } else if (NULL != rank
               && (RTLD_DEFAULT == handle || mpix_ranks_program.objects[0].map == handle)) {
        address = own_symbol(rank, 0, name);
    } else if (NULL != rank) {
        const mpix_ranks_opened_t *opened = mpix_ranks_opened_of(rank, handle);

        address = NULL != opened ? opened_symbol(opened, name) : NULL;
    }
    return NULL != address ? address : dlsym(handle, name);
}
