/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which libraries are private: all that the executable needs, except
 *  - libraries of the system and of MPI, which are for threads or must be there once, by a list,
 *    and what these need;
 *  - libraries that write nothing after their relocation;
 *  - what MPIX_RANKS_SHARE names.
 * MPIX_RANKS_PRIVATE names what is private nevertheless.  libgfortran is private though MPI's library
 * for Fortran needs it: its units are the program's.
 *
 * Tests: ranks_library, ranks_static_tls
 */

#define _GNU_SOURCE

#include "private_libraries.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Beginnings of names. */
static const char *const shared_names[] = {
    /* libc and the dynamic linker: they know of threads */
    "ld-linux",
    "ld64",
    "linux-vdso",
    "libc.so",
    "libm.so",
    "libmvec.",
    "libpthread.",
    "libdl.",
    "librt.",
    "libutil.",
    "libanl.",
    "libresolv.",
    "libnss_",
    "libnsl.",
    "libcrypt.",
    /* compilers': likewise, or a pool of threads for the process */
    "libgcc_s.",
    "libstdc++.",
    "libc++.",
    "libc++abi.",
    "libunwind.",
    "libgomp.",
    "libomp.",
    "libiomp5.",
    "libatomic.",
    "libtbb",
    "libquadmath.",
    /* MPI, and what it stands on: they are one process to the launcher and to the network */
    "libmpi.",
    "libmpi_",
    "libmpix_",
    "libopen-",
    "libopen_",
    "libprrte.",
    "libpmix.",
    "libhwloc.",
    "libevent",
    "libfabric.",
    "libucp.",
    "libucs.",
    "libuct.",
    "libucm.",
    "libucc.",
    "libpsm",
    "libibverbs.",
    "librdmacm.",
    "libmunge.",
    /* the process's heap */
    "libjemalloc",
    "libtcmalloc",
    "libmimalloc",
    /* accelerators: the driver has one context for the process */
    "libcuda.",
    "libcudart.",
    "libnv",
    "libamdhip",
    "libhsa",
    "libze_",
    "libOpenCL.",
    /* no state but in what the caller hands over */
    "libz.",
    "libzstd.",
    "liblzma.",
    "libbz2.",
    "libnuma.",
    "libdrm",
};

static const char *const private_names[] = {"libgfortran."};

static bool libraries_begins(const char *name, const char *with)
{
    return 0 == strncmp(name, with, strlen(with));
}

const char *mpix_ranks_library_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return NULL != slash ? slash + 1 : path;
}

/** Is the name in a list of beginnings of names, separated by commas, of the environment? */
static bool is_listed(const char *variable, const char *name)
{
    const char *next = getenv(variable);

    while (NULL != next && '\0' != *next) {
        const size_t length = strcspn(next, ",");

        if (0 != length && 0 == strncmp(name, next, length)) {
            return true;
        }
        next += length + strspn(next + length, ",");
    }
    return false;
}

bool mpix_ranks_library_is_shared(const char *name, const char **why_p)
{
    if (is_listed("MPIX_RANKS_PRIVATE", name)) {
        *why_p = "MPIX_RANKS_PRIVATE";
        return false;
    }
    if (is_listed("MPIX_RANKS_SHARE", name)) {
        *why_p = "MPIX_RANKS_SHARE";
        return true;
    }
    for (size_t i = 0; i < sizeof(private_names) / sizeof(*private_names); ++i) {
        if (libraries_begins(name, private_names[i])) {
            *why_p = "its state is the program's";
            return false;
        }
    }
    for (size_t i = 0; i < sizeof(shared_names) / sizeof(*shared_names); ++i) {
        if (libraries_begins(name, shared_names[i])) {
            *why_p = "a library of the system's or of MPI's";
            return true;
        }
    }
    *why_p = NULL;
    return false;
}

bool mpix_ranks_library_has_state(const mpix_ranks_elf_t *elf)
{
    const ElfW(Phdr) *relro = mpix_ranks_elf_segment(elf, PT_GNU_RELRO);

    if (NULL != mpix_ranks_elf_segment(elf, PT_TLS)) {
        return true;
    }
    for (int i = 0; i < elf->segment_count; ++i) {
        const ElfW(Phdr) *segment = &elf->segments[i];
        ElfW(Addr) begin = segment->p_vaddr;

        if (PT_LOAD != segment->p_type || 0 == (segment->p_flags & PF_W)) {
            continue;
        }
        if (NULL != relro && relro->p_vaddr <= begin) {
            begin = relro->p_vaddr + relro->p_memsz;
        }
        /* What crtbegin brings is one pointer and one flag of 8 bytes each; the rest of the global
         * offset table may lie there, too, which only the dynamic linker writes. */
        if (segment->p_vaddr + segment->p_memsz > begin + 2 * sizeof(void *)) {
            return true;
        }
    }
    return false;
}

/** The table of strings of what is loaded.  NULL: there is none. */
static const char *strings_of(const struct link_map *map)
{
    for (const ElfW(Dyn) *entry = map->l_ld; NULL != entry && DT_NULL != entry->d_tag; ++entry) {
        if (DT_STRTAB == entry->d_tag) {
            /* Some machines' dynamic linkers leave the section as it is in the file. */
            return (const char *) (entry->d_un.d_ptr
                                   + (entry->d_un.d_ptr < map->l_addr ? map->l_addr : 0));
        }
    }
    return NULL;
}

const char *mpix_ranks_library_needs(const struct link_map *map, size_t *at)
{
    const char *strings = strings_of(map);
    size_t found = 0;

    for (const ElfW(Dyn) *entry = map->l_ld; NULL != strings && DT_NULL != entry->d_tag; ++entry) {
        if (DT_NEEDED == entry->d_tag && found++ == *at) {
            ++*at;
            return strings + entry->d_un.d_val;
        }
    }
    return NULL;
}

mpix_ranks_library_t *mpix_ranks_library_of(const mpix_ranks_libraries_t *libraries,
                                            const char *name)
{
    name = mpix_ranks_library_name(name);
    for (int i = 0; i < libraries->count; ++i) {
        if (0 == strcmp(libraries->all[i].name, name)) {
            return &libraries->all[i];
        }
    }
    return NULL;
}

static const char *own_name(const struct link_map *map)
{
    const char *strings = strings_of(map);

    for (const ElfW(Dyn) *entry = map->l_ld; NULL != strings && DT_NULL != entry->d_tag; ++entry) {
        if (DT_SONAME == entry->d_tag) {
            return strings + entry->d_un.d_val;
        }
    }
    return mpix_ranks_library_name(map->l_name);
}

static void libraries_reach(mpix_ranks_libraries_t *libraries, mpix_ranks_library_t *from)
{
    size_t at = 0;

    from->is_reached = true;
    for (const char *name; NULL != (name = mpix_ranks_library_needs(from->map, &at));) {
        mpix_ranks_library_t *library = mpix_ranks_library_of(libraries, name);

        if (NULL != library && !library->is_reached) {
            libraries_reach(libraries, library);
        }
    }
}

void mpix_ranks_libraries_read(mpix_ranks_libraries_t *libraries)
{
    struct link_map *first = _r_debug.r_map;

    *libraries = (mpix_ranks_libraries_t){0};
    for (const struct link_map *map = first; NULL != map; map = map->l_next) {
        ++libraries->count;
    }
    libraries->all = calloc((size_t) libraries->count, sizeof(*libraries->all));
    if (NULL == libraries->all) {
        mpix_ranks_refuse("no memory");
    }
    libraries->count = 0;
    for (struct link_map *map = first; NULL != map; map = map->l_next) {
        libraries->all[libraries->count++] = (mpix_ranks_library_t){
            .map = map, .name = first == map ? "" : own_name(map)};
    }
    libraries_reach(libraries, &libraries->all[0]);
}

/** What a shared library needs is shared, as both use the same one. */
static void libraries_share(mpix_ranks_libraries_t *libraries, mpix_ranks_library_t *library)
{
    size_t at = 0;

    library->is_private = false;
    for (const char *name; NULL != (name = mpix_ranks_library_needs(library->map, &at));) {
        mpix_ranks_library_t *needed = mpix_ranks_library_of(libraries, name);

        if (NULL != needed && needed->is_private && NULL == needed->why) {
            needed->why = "a shared library needs it";
            libraries_share(libraries, needed);
        }
    }
}

/** What cannot be read is found out later. */
static bool has_state(const mpix_ranks_library_t *library)
{
    const int file = open(library->map->l_name, O_RDONLY | O_CLOEXEC);
    mpix_ranks_elf_t elf;
    bool is = true;

    if (file >= 0) {
        if (NULL == mpix_ranks_elf_open(&elf, file)) {
            is = mpix_ranks_library_has_state(&elf);
            mpix_ranks_elf_close(&elf);
        }
        (void) close(file);
    }
    return is;
}

/** Is what it calls the same for all ranks?  MPI is not: its predefined communicators are a
 * rank's. */
static bool needs_shared(const mpix_ranks_libraries_t *libraries,
                         const mpix_ranks_library_t *library)
{
    size_t at = 0;

    for (const char *name; NULL != (name = mpix_ranks_library_needs(library->map, &at));) {
        const mpix_ranks_library_t *needed = mpix_ranks_library_of(libraries, name);

        if (NULL == needed || needed->is_private || libraries_begins(needed->name, "libmpi")) {
            return false;
        }
    }
    return true;
}

/** What has no state need not be copied, unless it needs what is. */
static void spare_stateless(mpix_ranks_libraries_t *libraries)
{
    mpix_ranks_library_t *const end = libraries->all + libraries->count;
    bool is_changed = true;

    while (is_changed) {
        is_changed = false;
        for (mpix_ranks_library_t *library = libraries->all + 1; library < end; ++library) {
            if (library->is_private && NULL == library->why && needs_shared(libraries, library)) {
                library->is_private = has_state(library);
                library->why = library->is_private ? "it has state" : "it has no state";
                is_changed = is_changed || !library->is_private;
            }
        }
    }
}

void mpix_ranks_libraries_decide(mpix_ranks_libraries_t *libraries)
{
    mpix_ranks_library_t *const end = libraries->all + libraries->count;

    for (mpix_ranks_library_t *library = libraries->all + 1; library < end; ++library) {
        library->is_private = library->is_reached
                              && !mpix_ranks_library_is_shared(library->name, &library->why);
    }
    for (mpix_ranks_library_t *library = libraries->all + 1; library < end; ++library) {
        if (library->is_reached && !library->is_private) {
            libraries_share(libraries, library);
        }
    }
    spare_stateless(libraries);
}

const mpix_ranks_library_t *mpix_ranks_libraries_reached(const mpix_ranks_libraries_t *libraries,
                                                         const char *begin)
{
    for (int i = 1; i < libraries->count; ++i) {
        if (libraries->all[i].is_reached && libraries_begins(libraries->all[i].name, begin)) {
            return &libraries->all[i];
        }
    }
    return NULL;
}
