/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * Gives a thread libraries of its own, so that one which is not made for threads, such as parallel
 * HDF5, can be used by all threads of a process at once, each with an endpoint as its rank.
 *
 * A library's globals are one set in a process, because the dynamic linker loads a file once.  A
 * copy of the file is another file, with globals of its own.  Two things are left to do:
 *
 *   - A library that is linked with this one asks for it by name, and gets what is loaded under
 *     that name already.  So each copy has a name of its own, of the same length, in itself and in
 *     the libraries that ask for it: the first three letters are a number.  libmpi is not copied:
 *     that stays one.
 *   - Libraries use MPI_COMM_WORLD and MPI_COMM_SELF where they want to know their rank, or to be
 *     told when MPI ends.  Both are addresses of variables in libmpi, which the dynamic linker has
 *     written into a table of the copy; there the rank's own communicators take their place.
 *
 * For Linux with glibc and 64 bits.  A copy is a file in memory without a name; it is open, and
 * known to debuggers by its path in /proc, until the process ends.
 */

#define _GNU_SOURCE /* memfd_create, dlinfo, memmem */

#include "private_copy.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- copies ---------------------------------------------------------------------------------- */

/* A file's bytes; NULL if it cannot be read. */
static char *read_file(const char *path, size_t *length)
{
    struct stat about;
    char *bytes = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (0 <= fd && 0 == fstat(fd, &about)) {
        *length = (size_t) about.st_size;
        bytes = malloc(*length + 1);
        for (size_t have = 0; NULL != bytes && have < *length;) {
            ssize_t n = read(fd, bytes + have, *length - have);

            if (0 >= n) {
                free(bytes);
                bytes = NULL;
            } else {
                have += (size_t) n;
            }
        }
    }
    if (0 <= fd) {
        close(fd);
    }
    return bytes;
}

/* Wherever the file says this name, and nothing but it: NAME with the number for its beginning. */
static void rename_in(char *bytes, size_t length, const char *name, int number)
{
    size_t size = strlen(name) + 1; /* the 0 behind it, too */
    char *at = bytes, digits[16];

    snprintf(digits, sizeof(digits), "%03d", number);
    while (NULL != (at = memmem(at, (size_t) (bytes + length - at), name, size))) {
        if (at > bytes && '\0' == at[-1]) {
            memcpy(at, digits, 3);
        }
        at += size;
    }
}

static void *open_bytes(const char *bytes, size_t length)
{
    char path[64];
    int fd = memfd_create("private copy", MFD_CLOEXEC);

    for (size_t done = 0; done < length;) {
        ssize_t n = write(fd, bytes + done, length - done);

        if (0 >= n) {
            return NULL;
        }
        done += (size_t) n;
    }
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int) getpid(), fd);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_copy(const char *path, const char *const libraries[], int count, int number)
{
    size_t length;
    char *bytes = read_file(path, &length);
    void *handle = NULL;

    if (NULL != bytes) {
        for (int i = 0; i < count; ++i) {
            rename_in(bytes, length, libraries[i], number);
        }
        handle = open_bytes(bytes, length);
        free(bytes);
    }
    return handle;
}

const char *private_copy(const char *object, const char *const libraries[], int count, int number,
                         void *handles[])
{
    if (0 > number || PRIVATE_COPY_MOST <= number) {
        return "too many copies";
    }
    for (int i = 0; i < count; ++i) {
        /* The dynamic linker knows where it is; opening does not yet run what is in it. */
        void *original = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        struct link_map *map;

        if (NULL == original || 0 != dlinfo(original, RTLD_DI_LINKMAP, &map)) {
            return dlerror();
        }
        handles[i] = open_copy(map->l_name, libraries, count, number);
        if (NULL == handles[i]) {
            return "a library could not be copied";
        }
    }
    handles[count] = open_copy(object, libraries, count, number);
    return NULL == handles[count] ? dlerror() : NULL;
}

/* ---- communicators --------------------------------------------------------------------------- */

/* Where the dynamic linker has written `from`, the address of this symbol, there is `to` now. */
static int redirect(const struct link_map *map, const char *symbol, const void *from, void *to)
{
    const ElfW(Rela) *first = NULL, *rela;
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    size_t size = 0, page = (size_t) sysconf(_SC_PAGESIZE);

    for (const ElfW(Dyn) *dyn = map->l_ld; DT_NULL != dyn->d_tag; ++dyn) {
        if (DT_RELA == dyn->d_tag) {
            first = (const void *) dyn->d_un.d_ptr;
        } else if (DT_RELASZ == dyn->d_tag) {
            size = dyn->d_un.d_val;
        } else if (DT_SYMTAB == dyn->d_tag) {
            symbols = (const void *) dyn->d_un.d_ptr;
        } else if (DT_STRTAB == dyn->d_tag) {
            strings = (const void *) dyn->d_un.d_ptr;
        }
    }
    for (rela = first; rela < first + size / sizeof(*rela); ++rela) {
        void **where = (void **) (map->l_addr + rela->r_offset);
        const char *name = strings + symbols[ELF64_R_SYM(rela->r_info)].st_name;

        if (0 != strcmp(name, symbol) || *where != from) {
            continue;
        }
        /* The table is read-only by now. */
        if (0 != mprotect((void *) ((size_t) where & ~(page - 1)), page, PROT_READ | PROT_WRITE)) {
            return -1;
        }
        *where = to;
    }
    return 0;
}

const char *private_copy_worlds(void *handle, MPI_Comm world, MPI_Comm self)
{
    struct link_map *map;

    if (0 != dlinfo(handle, RTLD_DI_LINKMAP, &map)) {
        return dlerror();
    }
    if (0 != redirect(map, "ompi_mpi_comm_world", (void *) MPI_COMM_WORLD, (void *) world)
        || 0 != redirect(map, "ompi_mpi_comm_self", (void *) MPI_COMM_SELF, (void *) self)) {
        return "the table of addresses could not be written";
    }
    return NULL;
}
