/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What must be another thing in a copy.
 *
 * The dynamic linker binds a copy: it is loaded with RTLD_DEEPBIND and needs only copies, so that it
 * and its private libraries are searched first, in ELF's order, and then everything as at the start of
 * the process.  What would be found in a copy and must not be is made undefined there: it is found in
 * the executable, then.
 *
 * What the executable has by a copy relocation is one of four things:
 *  - an object of MPI's: there is one, in the executable itself; WORLD and SELF are the rank's handles;
 *  - a variable of libc's that is a rank's own: the copy keeps it;
 *  - a variable of a private library: the copy keeps it, with the value that the rank's library has;
 *  - anything else, as std::cout or a table of virtual functions: there is one, in the executable.
 *    Instructions that read it without forming its address read what was in it at the beginning.
 * Constants of MPI's for Fortran are common blocks that the executable defines itself, and are known
 * by their addresses.
 *
 * Tests: ranks_cxx, ranks_templates
 */

#define _GNU_SOURCE

#include "references.h"

#include "patch.h"

#include <string.h>

/** What the visitors of relocations are about. */
typedef struct search_t {
    mpix_ranks_object_t *object;
    const mpix_ranks_set_t *program;
    const mpix_ranks_function_t *functions;
} search_t;

static mpix_ranks_target_t target_of(const char *name)
{
    if (0 == strcmp(name, "ompi_mpi_comm_world")) {
        return MPIX_RANKS_WORLD;
    }
    return 0 == strcmp(name, "ompi_mpi_comm_self") ? MPIX_RANKS_SELF : MPIX_RANKS_ORIGINAL;
}

static void add_range(mpix_ranks_object_t *object, ElfW(Sym) * symbol, const char *name)
{
    mpix_ranks_range_t *range = mpix_ranks_list_add(&object->ranges, sizeof(*range));

    range->begin = symbol->st_value;
    range->size = 0 != symbol->st_size ? symbol->st_size : 1;
    range->target = target_of(name);
    range->is_predefined = mpix_ranks_is_predefined(name) || mpix_ranks_is_fortran(name);
    range->name = name;
}

static void add_content(mpix_ranks_object_t *object, const ElfW(Sym) * symbol, int source,
                        ElfW(Addr) value)
{
    mpix_ranks_content_t *content = mpix_ranks_list_add(&object->contents, sizeof(*content));

    content->place = symbol->st_value;
    content->size = symbol->st_size;
    content->source = source;
    content->value = value;
}

/** A private library that defines it, or 0. */
static int provider_of(const mpix_ranks_set_t *set, const char *name, ElfW(Addr) * value_p)
{
    for (int i = 1; i < set->count; ++i) {
        const ElfW(Sym) *symbol = mpix_ranks_elf_defined(&set->objects[i].elf, name);

        if (NULL != symbol) {
            *value_p = symbol->st_value;
            return i;
        }
    }
    return 0;
}

/** The executable's copy of another library's object. */
static const char *visit_copy(void *argument, const mpix_ranks_relocation_t *relocation)
{
    const search_t *search = argument;
    ElfW(Sym) *symbol = relocation->symbol;
    int source = 0;
    ElfW(Addr) value;

    if (MPIX_RANKS_COPY != relocation->kind) {
        return NULL;
    }
    if (NULL == symbol || relocation->place != symbol->st_value) {
        return "its copy relocations are damaged";
    }
    /* The dynamic linker would take what is in the library, where nobody has initialized it. */
    relocation->entry->r_info = 0;
    value = symbol->st_value;
    if (NULL == mpix_ranks_variable(relocation->name)) {
        source = provider_of(search->program, relocation->name, &value);
        if (0 == source) {
            add_range(search->object, symbol, relocation->name);
        }
    }
    if (0 != source || !mpix_ranks_is_predefined(relocation->name)) {
        add_content(search->object, symbol, source, value);
    }
    return NULL;
}

static void add_pointer(mpix_ranks_object_t *object, ElfW(Addr) place, mpix_ranks_target_t target,
                        ElfW(Addr) value)
{
    mpix_ranks_pointer_t *pointer = mpix_ranks_list_add(&object->pointers, sizeof(*pointer));

    pointer->place = place;
    pointer->target = target;
    pointer->value = value;
}

/** Has the executable a variable of this name by a copy relocation? */
static bool is_copied(const mpix_ranks_set_t *program, const char *name)
{
    return NULL != mpix_ranks_elf_defined(&program->objects[0].elf, name);
}

static void *function_of(const mpix_ranks_function_t *functions, const char *name)
{
    while (NULL != functions->name && 0 != strcmp(functions->name, name)) {
        ++functions;
    }
    return functions->function;
}

/** A pointer in data, or in the global offset table. */
static const char *visit_pointer(void *argument, const mpix_ranks_relocation_t *relocation)
{
    const search_t *search = argument;
    mpix_ranks_object_t *object = search->object;
    const mpix_ranks_target_t target = target_of(relocation->name);
    const mpix_ranks_variable_t *variable = mpix_ranks_variable(relocation->name);
    mpix_ranks_range_t *range;
    void *function;

    if (MPIX_RANKS_RELATIVE == relocation->kind) {
        range = mpix_ranks_range_of(&object->ranges, relocation->addend);
        if (NULL != range && MPIX_RANKS_ORIGINAL != range->target
            && range->begin != relocation->addend) {
            return "its data have an address within MPI_COMM_WORLD or MPI_COMM_SELF";
        }
        if (NULL != range) {
            ++range->changed;
            add_pointer(object, relocation->place, range->target, relocation->addend);
        }
        return NULL;
    }
    if (MPIX_RANKS_SYMBOL != relocation->kind) {
        return NULL;
    }
    function = function_of(search->functions, relocation->name);
    if (MPIX_RANKS_ORIGINAL != target) {
        add_pointer(object, relocation->place, target, 0);
    } else if (NULL != variable && !is_copied(search->program, relocation->name)) {
        add_pointer(object, relocation->place, MPIX_RANKS_VARIABLE, (ElfW(Addr)) variable->index);
    } else if (NULL != function && NULL != relocation->symbol
               && SHN_UNDEF == relocation->symbol->st_shndx) {
        add_pointer(object, relocation->place, MPIX_RANKS_FUNCTION, (ElfW(Addr)) function);
    }
    return NULL;
}

/** The image of thread-local variables is the executable's in all threads: see
 * mpix_ranks_tls_enter. */
static const char *visit_tls(void *argument, const mpix_ranks_relocation_t *relocation)
{
    const search_t *search = argument;
    const ElfW(Phdr) *tls = mpix_ranks_elf_segment(&search->object->elf, PT_TLS);

    if (NULL != tls && relocation->place >= tls->p_vaddr
        && relocation->place - tls->p_vaddr < tls->p_filesz) {
        search->object->has_tls_pointers = true;
    }
    return NULL;
}

/** What others must not find in the copy becomes undefined in it. */
static void change_symbols(mpix_ranks_object_t *object)
{
    for (size_t i = 1; i < object->elf.symbol_count; ++i) {
        ElfW(Sym) *symbol = &object->elf.symbols[i];
        const unsigned type = ELF64_ST_TYPE(symbol->st_info);
        bool is_original;

        if (SHN_UNDEF == symbol->st_shndx) {
            continue;
        }
        /* There is one of these for the whole process, the first one that is loaded. */
        if (STB_GNU_UNIQUE == ELF64_ST_BIND(symbol->st_info)) {
            symbol->st_info = (unsigned char) ELF64_ST_INFO(STB_GLOBAL, type);
        }
        is_original = object->is_program
                      && (STT_TLS == type
                          || (STT_OBJECT == type
                              && NULL != mpix_ranks_range_of(&object->ranges, symbol->st_value)));
        if (is_original) {
            symbol->st_shndx = SHN_UNDEF;
            symbol->st_value = 0;
        }
    }
}

static void find_fortran(mpix_ranks_object_t *object)
{
    for (size_t i = 1; i < object->elf.symbol_count; ++i) {
        ElfW(Sym) *symbol = &object->elf.symbols[i];
        const char *name = object->elf.strings + symbol->st_name;

        if (SHN_UNDEF != symbol->st_shndx && STT_OBJECT == ELF64_ST_TYPE(symbol->st_info)
            && mpix_ranks_is_fortran(name)
            && NULL == mpix_ranks_range_of(&object->ranges, symbol->st_value)) {
            add_range(object, symbol, name);
        }
    }
}

const char *mpix_ranks_references_find(mpix_ranks_object_t *object, const mpix_ranks_set_t *program,
                                       const mpix_ranks_function_t *functions)
{
    search_t search = {object, program, functions};
    const char *wrong = NULL;

    if (object->is_program) {
        wrong = mpix_ranks_elf_relocations(&object->elf, visit_copy, &search);
        find_fortran(object);
        (void) mpix_ranks_elf_relocations(&object->elf, visit_tls, &search);
    }
    if (NULL == wrong) {
        wrong = mpix_ranks_elf_relocations(&object->elf, visit_pointer, &search);
    }
    if (NULL == wrong) {
        change_symbols(object);
    }
    return wrong;
}
