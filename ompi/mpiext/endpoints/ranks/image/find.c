/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The file of a library.  A name with a slash is a path.  Another one is looked for in the folders that
 * a library names itself (DT_RUNPATH), and in those that the dynamic linker says it would look into:
 * LD_LIBRARY_PATH, the executable's, the system's.  Its cache is asked by the caller, in that it opens
 * the library as it is.
 *
 * Tests: ranks_plugin
 */

#define _GNU_SOURCE

#include "find.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Is there such a file in that folder? */
static bool is_there(const char *folder, size_t length, const char *origin, const char *name,
                     char *path, size_t path_size)
{
    static const char *const marks[] = {"$ORIGIN", "${ORIGIN}"};
    const char *before = "";
    int size;

    for (size_t i = 0; i < 2; ++i) {
        const size_t mark = strlen(marks[i]);

        if (NULL != origin && length >= mark && 0 == strncmp(folder, marks[i], mark)) {
            before = origin;
            folder += mark;
            length -= mark;
        }
    }
    size = snprintf(path, path_size, "%s%.*s/%s", before, (int) length, folder, name);
    return 0 < size && (size_t) size < path_size && 0 == access(path, R_OK);
}

/** In the folders that the dynamic linker names. */
static bool find_by_linker(const char *name, struct link_map *map, char *path, size_t path_size)
{
    Dl_serinfo size, *folders;
    bool is_found = false;

    if (0 != dlinfo(map, RTLD_DI_SERINFOSIZE, &size)) {
        return false;
    }
    folders = malloc(size.dls_size);
    if (NULL == folders) {
        return false;
    }
    *folders = size;
    if (0 == dlinfo(map, RTLD_DI_SERINFOSIZE, folders)
        && 0 == dlinfo(map, RTLD_DI_SERINFO, folders)) {
        for (unsigned i = 0; !is_found && i < folders->dls_cnt; ++i) {
            const char *folder = folders->dls_serpath[i].dls_name;

            is_found = is_there(folder, strlen(folder), NULL, name, path, path_size);
        }
    }
    free(folders);
    return is_found;
}

bool mpix_ranks_find(const char *name, struct link_map *map, const char *folder, const char *run,
                     char *path, size_t path_size)
{
    if (NULL != strchr(name, '/')) {
        return snprintf(path, path_size, "%s", name) < (int) path_size && 0 == access(path, R_OK);
    }
    while (NULL != run && '\0' != *run) {
        const size_t length = strcspn(run, ":");

        if (0 != length && is_there(run, length, folder, name, path, path_size)) {
            return true;
        }
        run += length + (':' == run[length]);
    }
    return find_by_linker(name, map, path, path_size);
}
