/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Pointers of objects that are loaded.  The dynamic linker has bound them; what is stored here is what
 * it cannot know: a rank's handles, its variables, addresses of objects of which there is one.
 *
 * Part of what is stored may have become read-only after relocation (PT_GNU_RELRO).  In copies it
 * becomes so here, afterwards; in originals it is made writable for the while.
 *
 * Tests: ranks_library, ranks_cxx
 */

#define _GNU_SOURCE

#include "bind.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/** The pages of an object that the dynamic linker makes read-only. */
static const char *bind_protect(const mpix_ranks_elf_t *elf, char *base, int protection)
{
    const ElfW(Addr) page = (ElfW(Addr)) sysconf(_SC_PAGESIZE);
    const ElfW(Phdr) *relro = mpix_ranks_elf_segment(elf, PT_GNU_RELRO);
    ElfW(Addr) begin, end;

    if (NULL == relro) {
        return NULL;
    }
    begin = relro->p_vaddr & ~(page - 1);
    end = (relro->p_vaddr + relro->p_memsz) & ~(page - 1);
    if (begin < end && 0 != mprotect(base + begin, end - begin, protection)) {
        return strerror(errno);
    }
    return NULL;
}

/** What a pointer of a copy must be; original: where the object itself lies. */
static void *value_of(const mpix_rank_t *rank, const mpix_ranks_pointer_t *pointer, char *original,
                      void *const *variables)
{
    switch (pointer->target) {
    case MPIX_RANKS_WORLD:
        return rank->world;
    case MPIX_RANKS_SELF:
        return rank->self;
    case MPIX_RANKS_VARIABLE:
        return variables[pointer->value];
    case MPIX_RANKS_FUNCTION:
        return (void *) pointer->value;
    default:
        return original + pointer->value;
    }
}

static void bind_store(const mpix_rank_t *rank, const mpix_ranks_list_t *pointers, char *base,
                       char *original, void *const *variables)
{
    const mpix_ranks_pointer_t *pointer = MPIX_RANKS_ITEMS(*pointers, mpix_ranks_pointer_t);

    for (int i = 0; i < pointers->count; ++i) {
        void *value;

        if (base == original
            && (MPIX_RANKS_ORIGINAL == pointer[i].target
                || MPIX_RANKS_VARIABLE == pointer[i].target)) {
            continue;
        }
        value = value_of(rank, &pointer[i], original, variables);
        memcpy(base + pointer[i].place, &value, sizeof(value));
    }
}

const char *mpix_ranks_bind_copies(const mpix_rank_t *rank, const mpix_ranks_set_t *set,
                                   const mpix_ranks_loaded_t *loaded, void *const *variables)
{
    const char *wrong = NULL;

    for (int i = 0; NULL == wrong && i < set->count; ++i) {
        const mpix_ranks_object_t *object = &set->objects[i];
        const mpix_ranks_content_t *content = MPIX_RANKS_ITEMS(object->contents,
                                                               mpix_ranks_content_t);
        char *original = NULL != object->map ? (char *) object->map->l_addr : NULL;

        for (int k = 0; k < object->contents.count; ++k) {
            const char *from = 0 == content[k].source ? original : loaded[content[k].source].base;

            memcpy(loaded[i].base + content[k].place, from + content[k].value, content[k].size);
        }
        bind_store(rank, &object->slots, loaded[i].base, original, variables);
        bind_store(rank, &object->pointers, loaded[i].base, original, variables);
        wrong = bind_protect(&object->elf, loaded[i].base, PROT_READ);
    }
    return wrong;
}

/** What a visitor of relocations is about. */
typedef struct check_t {
    const mpix_ranks_set_t *set;
    const mpix_ranks_loaded_t *loaded; /**< all of the set */
    const mpix_ranks_loaded_t *one;    /**< whose relocations these are */
} check_t;

static bool is_in_copies(const check_t *check, const char *address)
{
    for (int i = 0; i < check->set->count; ++i) {
        const mpix_ranks_object_t *object = &check->set->objects[i];
        const char *base = check->loaded[i].base;

        if (base <= address && address < base + object->annex_address) {
            return true;
        }
    }
    return false;
}

/** A reference to a symbol that the object defines itself. */
static const char *check_reference(void *argument, const mpix_ranks_relocation_t *relocation)
{
    const check_t *check = argument;
    const char *value;

    if (MPIX_RANKS_SYMBOL != relocation->kind || NULL == relocation->symbol
        || SHN_UNDEF == relocation->symbol->st_shndx || SHN_ABS == relocation->symbol->st_shndx) {
        return NULL;
    }
    memcpy(&value, check->one->base + relocation->place, sizeof(value));
    return is_in_copies(check, value - relocation->addend)
               ? NULL
               : "the dynamic linker binds copies in another way than is expected";
}

const char *mpix_ranks_bind_check(const mpix_ranks_set_t *set, const mpix_ranks_loaded_t *loaded)
{
    const char *wrong = NULL;

    for (int i = 0; NULL == wrong && i < set->count; ++i) {
        check_t check = {set, loaded, &loaded[i]};

        wrong = mpix_ranks_elf_relocations(&set->objects[i].elf, check_reference, &check);
    }
    return wrong;
}

const char *mpix_ranks_bind_original(const mpix_rank_t *rank, const mpix_ranks_object_t *object)
{
    char *base = (char *) object->map->l_addr;
    const char *wrong;

    if (0 == object->pointers.count) {
        return NULL;
    }
    wrong = bind_protect(&object->elf, base, PROT_READ | PROT_WRITE);
    if (NULL == wrong) {
        bind_store(rank, &object->pointers, base, base, NULL);
        wrong = bind_protect(&object->elf, base, PROT_READ);
    }
    return wrong;
}
