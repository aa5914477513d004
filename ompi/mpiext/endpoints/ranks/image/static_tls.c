/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Room for thread-local variables of private libraries.  A library that accesses them at a fixed
 * distance from the thread's pointer (the initial-exec model), or that others access so, needs
 * room in each thread's static block, whose size the dynamic linker fixes when the process begins: 512 bytes for all that is loaded later,
 * or what the tunable glibc.rtld.optional_static_tls says.  So the process is started once more, with
 * the tunable, where that is too little.
 *
 * Tests: ranks_static_tls, install/ranks_refused
 */

#define _GNU_SOURCE

#include "static_tls.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TUNABLES "GLIBC_TUNABLES"
#define TUNABLE "glibc.rtld.optional_static_tls="
#define AGAIN "MPIX_RANKS_STARTED_AGAIN"

/** glibc's default. */
enum { DEFAULT_ROOM = 512 };

/** Is a variable of another object accessed so? */
static const char *static_tls_visit(void *argument, const mpix_ranks_relocation_t *relocation)
{
    bool *is = argument;

    *is = *is
          || (MPIX_RANKS_TLS == relocation->kind && NULL != relocation->symbol
              && SHN_UNDEF == relocation->symbol->st_shndx);
    return NULL;
}

/** What a copy of each library takes, at most. */
static size_t size_of(const mpix_ranks_set_t *set)
{
    bool is_accessed = false;
    size_t size = 0;

    for (int i = 0; i < set->count; ++i) {
        (void) mpix_ranks_elf_relocations(&set->objects[i].elf, static_tls_visit, &is_accessed);
    }
    for (int i = 1; i < set->count; ++i) {
        const mpix_ranks_elf_t *elf = &set->objects[i].elf;
        const ElfW(Phdr) *tls = mpix_ranks_elf_segment(elf, PT_TLS);
        ElfW(Xword) flags = 0;

        (void) mpix_ranks_elf_dynamic(elf, DT_FLAGS, &flags);
        if (NULL != tls && (is_accessed || 0 != (flags & DF_STATIC_TLS))) {
            size += tls->p_memsz + tls->p_align;
        }
    }
    return size;
}

static size_t room_of(const char *tunables)
{
    const char *ours = NULL != tunables ? strstr(tunables, TUNABLE) : NULL;

    return NULL != ours ? strtoul(ours + strlen(TUNABLE), NULL, 0) : DEFAULT_ROOM;
}

/** The user's tunables with another room. */
static char *tunables_with(const char *tunables, size_t room)
{
    char *text = NULL, *copy = strdup(NULL != tunables ? tunables : ""), *next = copy;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (NULL == copy || NULL == stream) {
        mpix_ranks_refuse("no memory");
    }
    for (const char *one; NULL != (one = strsep(&next, ":"));) {
        if ('\0' != *one && 0 != strncmp(one, TUNABLE, strlen(TUNABLE))) {
            (void) fprintf(stream, "%s:", one);
        }
    }
    (void) fprintf(stream, TUNABLE "%zu", room);
    free(copy);
    if (0 != fclose(stream)) {
        mpix_ranks_refuse("no memory");
    }
    return text;
}

void mpix_ranks_static_tls_provide(const mpix_ranks_set_t *set, int ranks, char **argv)
{
    const char *tunables = getenv(TUNABLES);
    const bool is_again = NULL != getenv(AGAIN);
    const size_t need = 1 < ranks ? size_of(set) * (size_t) (ranks - 1) : 0;
    char path[PATH_MAX];
    ssize_t length;

    (void) unsetenv(AGAIN);
    if (is_again || 0 == need || need + DEFAULT_ROOM / 2 <= room_of(tunables)) {
        return;
    }
    length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (0 < length) {
        path[length] = '\0';
        if (0 == setenv(TUNABLES, tunables_with(tunables, need + DEFAULT_ROOM), 1)
            && 0 == setenv(AGAIN, "1", 1)) {
            (void) execv(path, argv);
        }
    }
    mpix_ranks_refuse("private libraries need %zu bytes of static thread-local storage: set "
                      "GLIBC_TUNABLES=" TUNABLE "%zu (starting the program anew with that failed: "
                      "%s)",
                      need, need + DEFAULT_ROOM, strerror(errno));
}
