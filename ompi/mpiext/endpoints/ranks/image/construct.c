/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Constructors and destructors of a rank's objects.  They are those of the file's dynamic section; the
 * copy's has none.
 *
 * Thread-local variables of the executable are in its block, which each thread has, at the same
 * distance from the thread's pointer: code of a copy finds them there.  Their first values are those
 * of the executable, though, with its addresses; so they are copied once more from the rank's copy.
 *
 * Tests: ranks_at_exit
 */

#define _GNU_SOURCE

#include "construct.h"

#include <dlfcn.h>
#include <string.h>

typedef void constructor_t(int argc, char **argv, char **envp);
typedef void destructor_t(void);

/** An array of functions.  @return how many */
static size_t functions_of(const mpix_ranks_elf_t *elf, char *base, ElfW(Sxword) tag,
                           ElfW(Sxword) size_tag, void ***array_p)
{
    ElfW(Xword) address, size;

    if (!mpix_ranks_elf_dynamic(elf, tag, &address)
        || !mpix_ranks_elf_dynamic(elf, size_tag, &size)) {
        return 0;
    }
    *array_p = (void **) (base + address);
    return size / sizeof(**array_p);
}

/** Old linkers leave a 0 at an end, and -1 at the other. */
static bool is_function(const void *function)
{
    return NULL != function && (void *) -1 != function;
}

static void construct_by(const mpix_ranks_elf_t *elf, char *base, ElfW(Sxword) tag,
                         ElfW(Sxword) size_tag, int argc, char **argv, char **envp)
{
    void **array;
    const size_t count = functions_of(elf, base, tag, size_tag, &array);

    for (size_t i = 0; i < count; ++i) {
        if (is_function(array[i])) {
            ((constructor_t *) array[i])(argc, argv, envp);
        }
    }
}

static bool is_original(const mpix_ranks_object_t *object, const char *base)
{
    return NULL != object->map && (char *) object->map->l_addr == base;
}

void mpix_ranks_construct(const mpix_ranks_object_t *object, char *base, int argc, char **argv,
                          char **envp)
{
    const mpix_ranks_elf_t *elf = &object->elf;
    ElfW(Xword) function;

    if (!is_original(object, base)) { /* libc has called these of the executable */
        construct_by(elf, base, DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ, argc, argv, envp);
        if (mpix_ranks_elf_dynamic(elf, DT_INIT, &function)) {
            ((constructor_t *) (base + function))(argc, argv, envp);
        }
    }
    construct_by(elf, base, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, argc, argv, envp);
}

void mpix_ranks_destruct(const mpix_ranks_object_t *object, char *base)
{
    const mpix_ranks_elf_t *elf = &object->elf;
    ElfW(Xword) function;
    void **array;
    size_t count = functions_of(elf, base, DT_FINI_ARRAY, DT_FINI_ARRAYSZ, &array);

    while (0 != count) {
        if (is_function(array[--count])) {
            ((destructor_t *) array[count])();
        }
    }
    if (!is_original(object, base) && mpix_ranks_elf_dynamic(elf, DT_FINI, &function)) {
        ((destructor_t *) (base + function))();
    }
}

void mpix_ranks_tls_enter(const mpix_ranks_object_t *program, char *base)
{
    const ElfW(Phdr) *tls = mpix_ranks_elf_segment(&program->elf, PT_TLS);
    void *block;

    if (program->has_tls_pointers && NULL != tls
        && 0 == dlinfo(program->map, RTLD_DI_TLS_DATA, &block) && NULL != block) {
        memcpy(block, base + tls->p_vaddr, tls->p_filesz);
    }
}
