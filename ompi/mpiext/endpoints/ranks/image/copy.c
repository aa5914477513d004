/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Copies of objects: the file with its annex (object.h), and loading it.
 *
 * All that is changed is changed in the file, before it is mapped: no page is ever writable and
 * executable.
 *
 * The new dynamic section leaves out
 *  - libraries that all ranks share: the copy is to find them behind the executable's preloaded ones,
 *    as it would in a process; they are loaded anyhow;
 *  - constructors and destructors, which run in the rank's thread;
 *  - its name, by which another would be taken for the original;
 *  - the mark of an executable, which the dynamic linker refuses to load by.
 * The new program header leaves out the interpreter, thread-local variables of the executable (their
 * place is in the executable's block of each thread), and what becomes read-only, as pointers are
 * stored after loading.
 *
 * Tests: ranks_basic, ranks_library, install/ranks_debug
 */

#define _GNU_SOURCE

#include "copy.h"

#include "patch.h"
#include "share.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef DF_1_PIE
#    define DF_1_PIE 0x08000000
#endif

/** What is behind the segments (symbols, debug information) is for debuggers; it is left out of
 * copies in memory where it is larger. */
#define TAIL_MAX ((size_t) 64 << 10)

static size_t round_up(size_t value, size_t to)
{
    return (value + to - 1) / to * to;
}

/** Where the last segment ends, in memory and in the file. */
static void find_ends(const mpix_ranks_elf_t *elf, ElfW(Addr) * memory_p, size_t *file_p)
{
    *memory_p = 0;
    *file_p = 0;
    for (int i = 0; i < elf->segment_count; ++i) {
        const ElfW(Phdr) *segment = &elf->segments[i];

        if (PT_LOAD == segment->p_type) {
            const ElfW(Addr) end = segment->p_vaddr + segment->p_memsz;
            const size_t file_end = segment->p_offset + segment->p_filesz;

            *memory_p = end > *memory_p ? end : *memory_p;
            *file_p = file_end > *file_p ? file_end : *file_p;
        }
    }
}

static bool is_left_out(const mpix_ranks_object_t *object, unsigned type)
{
    return PT_GNU_RELRO == type || PT_INTERP == type || (object->is_program && PT_TLS == type);
}

/** @return how many */
static int write_segments(const mpix_ranks_object_t *object, ElfW(Addr) address, size_t size,
                          size_t align, ElfW(Phdr) * to)
{
    const mpix_ranks_elf_t *elf = &object->elf;
    int last = 0, count = 0;

    for (int i = 0; i < elf->segment_count; ++i) {
        last = PT_LOAD == elf->segments[i].p_type ? i : last;
    }
    for (int i = 0; i < elf->segment_count; ++i) {
        if (!is_left_out(object, elf->segments[i].p_type)) {
            to[count++] = elf->segments[i];
        }
        if (last == i) {
            to[count++] = (ElfW(Phdr)){.p_type = PT_LOAD,
                                       .p_flags = PF_R | PF_W,
                                       .p_offset = object->annex_offset,
                                       .p_vaddr = object->annex_address,
                                       .p_paddr = object->annex_address,
                                       .p_filesz = object->annex_size,
                                       .p_memsz = object->annex_size,
                                       .p_align = align};
        }
    }
    for (int i = 0; i < count; ++i) {
        if (PT_PHDR == to[i].p_type) {
            to[i].p_vaddr = to[i].p_paddr = address;
            to[i].p_offset = object->annex_offset + (address - object->annex_address);
            to[i].p_filesz = to[i].p_memsz = (size_t) count * sizeof(*to);
        } else if (PT_DYNAMIC == to[i].p_type) {
            to[i].p_vaddr = to[i].p_paddr = address + (ElfW(Addr)) count * sizeof(*to);
            to[i].p_offset = object->annex_offset + (to[i].p_vaddr - object->annex_address);
            to[i].p_filesz = to[i].p_memsz = size;
        }
    }
    return count;
}

/** @return how many, with the DT_NULL at the end */
static int write_dynamic(const mpix_ranks_object_t *object, ElfW(Dyn) * to)
{
    const mpix_ranks_elf_t *elf = &object->elf;
    int count = 0;

    for (int i = 0; i < object->needed.count; ++i) {
        /* Offsets of strings are not bounded by the table's size. */
        to[count].d_tag = DT_NEEDED;
        to[count++].d_un.d_val = object->annex_address + object->names
                                 + (size_t) i * MPIX_RANKS_NAME_SIZE - elf->strings_address;
    }
    for (int i = 0; i < object->kept.count; ++i) {
        to[count].d_tag = DT_NEEDED;
        to[count++].d_un.d_val = MPIX_RANKS_ITEMS(object->kept, size_t)[i];
    }
    for (size_t i = 0; i < elf->dynamic_count; ++i) {
        to[count] = elf->dynamic[i];
        switch (elf->dynamic[i].d_tag) {
        case DT_NEEDED:
        case DT_SONAME:
        case DT_INIT:
        case DT_FINI:
        case DT_INIT_ARRAY:
        case DT_INIT_ARRAYSZ:
        case DT_FINI_ARRAY:
        case DT_FINI_ARRAYSZ:
        case DT_PREINIT_ARRAY:
        case DT_PREINIT_ARRAYSZ:
        case DT_DEBUG:
            continue;
        case DT_FLAGS_1:
            to[count].d_un.d_val &= ~(ElfW(Xword))(DF_1_PIE | DF_1_NOOPEN | DF_1_GLOBAL
                                                   | DF_1_INITFIRST | DF_1_NODELETE);
            break;
        default:
            break;
        }
        ++count;
    }
    to[count++] = (ElfW(Dyn)){.d_tag = DT_NULL};
    return count;
}

/** The names under which the versions of private libraries are looked for become those of the
 * annex. */
static const char *name_versions(mpix_ranks_object_t *object, const mpix_ranks_set_t *set,
                                 const mpix_ranks_set_t *program)
{
    ElfW(Verneed) *need = object->elf.needs;
    const mpix_ranks_needed_t *needed = MPIX_RANKS_ITEMS(object->needed, mpix_ranks_needed_t);

    for (size_t i = 0; i < object->elf.need_count; ++i) {
        const char *name = mpix_ranks_elf_string(&object->elf, need->vn_file);

        for (int k = 0; k < object->needed.count; ++k) {
            const int index = needed[k].index;
            const mpix_ranks_object_t *other = NULL != needed[k].loaded ? needed[k].loaded->object
                                               : 0 <= index             ? &set->objects[index]
                                                                        : &program->objects[~index];

            if (0 == strcmp(name, other->name)) {
                const size_t offset = object->annex_address + object->names
                                      + (size_t) k * MPIX_RANKS_NAME_SIZE
                                      - object->elf.strings_address;

                need->vn_file = (ElfW(Word)) offset;
                if (offset != need->vn_file) {
                    return "it is larger than 4 GiB";
                }
                break;
            }
        }
        need = (ElfW(Verneed) *) ((char *) need + need->vn_next);
    }
    return NULL;
}

/** Debuggers compare the section of the file with what the dynamic linker has loaded, and take a
 * difference for addresses that have been moved. */
static void lead_section(const mpix_ranks_elf_t *elf, const ElfW(Phdr) * segments)
{
    ElfW(Shdr) *section = (ElfW(Shdr) *) (elf->file + elf->header->e_shoff);
    int dynamic = 0;

    while (PT_DYNAMIC != segments[dynamic].p_type) {
        ++dynamic;
    }
    for (int i = 0; i < elf->header->e_shnum; ++i) {
        if (SHT_DYNAMIC == section[i].sh_type) {
            section[i].sh_addr = segments[dynamic].p_vaddr;
            section[i].sh_offset = segments[dynamic].p_offset;
            section[i].sh_size = segments[dynamic].p_filesz;
        }
    }
}

static const char *make_annex(mpix_ranks_object_t *object, size_t align)
{
    const mpix_ranks_elf_t *elf = &object->elf;
    const size_t slots = (size_t) object->slots.count * sizeof(void *);
    const size_t segments = slots + MPIX_RANKS_VARIABLES * sizeof(void *);
    const size_t entries = elf->dynamic_count + (size_t) (object->needed.count + object->kept.count)
                           + 1;
    const size_t most = segments + ((size_t) elf->segment_count + 1) * sizeof(ElfW(Phdr))
                        + entries * sizeof(ElfW(Dyn));
    ElfW(Dyn) * dynamic;
    int count;

    object->variables = object->annex_address + slots;
    object->names = most;
    object->annex_size = most + (size_t) object->needed.count * MPIX_RANKS_NAME_SIZE;
    object->annex = calloc(1, object->annex_size);
    dynamic = calloc(entries, sizeof(*dynamic));
    if (NULL == object->annex || NULL == dynamic) {
        free(dynamic);
        return "no memory";
    }
    count = write_dynamic(object, dynamic);
    elf->header->e_phnum = (ElfW(Half)) write_segments(object, object->annex_address + segments,
                                                       (size_t) count * sizeof(*dynamic), align,
                                                       (ElfW(Phdr) *) (object->annex + segments));
    elf->header->e_phoff = object->annex_offset + segments;
    memcpy(object->annex + segments + elf->header->e_phnum * sizeof(ElfW(Phdr)), dynamic,
           (size_t) count * sizeof(*dynamic));
    free(dynamic);
    lead_section(elf, (const ElfW(Phdr) *) (object->annex + segments));
    return NULL;
}

/** Of a file that has been cut off, or never had some, there may be none. */
static bool has_sections(const mpix_ranks_elf_t *elf)
{
    const size_t begin = elf->header->e_shoff, count = elf->header->e_shnum;

    return 0 != count && sizeof(ElfW(Shdr)) == elf->header->e_shentsize && begin < elf->size
           && count * sizeof(ElfW(Shdr)) <= elf->size - begin && 0 == begin % _Alignof(ElfW(Shdr));
}

const char *mpix_ranks_copy_prepare(mpix_ranks_object_t *object, const mpix_ranks_set_t *set,
                                    const mpix_ranks_set_t *program)
{
    mpix_ranks_elf_t *elf = &object->elf;
    mpix_ranks_slots_t slots = {.list = &object->slots};
    const size_t align = (size_t) sysconf(_SC_PAGESIZE);
    const char *wrong;
    size_t content;

    find_ends(elf, &object->annex_address, &content);
    object->annex_address = round_up(object->annex_address, align);
    slots.address = object->annex_address;
    if ((elf->size - content > TAIL_MAX && !mpix_ranks_copy_are_files()) || !has_sections(elf)) {
        elf->header->e_shoff = 0;
        elf->header->e_shnum = elf->header->e_shstrndx = 0;
    } else {
        content = elf->size;
    }
    object->content_size = content;
    object->annex_offset = round_up(content, align);
    wrong = 0 != object->ranges.count ? mpix_ranks_patch(elf, &object->ranges, false, &slots)
                                      : NULL;
    wrong = NULL == wrong ? make_annex(object, align) : wrong;
    return NULL == wrong ? name_versions(object, set, program) : wrong;
}

/** Write one copy, of a set whose files have their names. */
static bool write_copy(const mpix_ranks_loaded_t *loaded, int index,
                       const mpix_ranks_loaded_t *program)
{
    const mpix_ranks_object_t *object = loaded[index].object;
    const mpix_ranks_needed_t *needed = MPIX_RANKS_ITEMS(object->needed, mpix_ranks_needed_t);
    const int file = loaded[index].file;

    for (int i = 0; i < object->needed.count; ++i) {
        char *name = object->annex + object->names + (size_t) i * MPIX_RANKS_NAME_SIZE;
        const mpix_ranks_loaded_t *other = NULL != needed[i].loaded ? needed[i].loaded
                                           : 0 <= needed[i].index   ? &loaded[needed[i].index]
                                                                    : &program[~needed[i].index];

        (void) snprintf(name, MPIX_RANKS_NAME_SIZE, "%s", other->path);
    }
    return mpix_ranks_copy_write(file, object->elf.file, object->content_size, 0)
           && mpix_ranks_copy_write(file, object->annex, object->annex_size, object->annex_offset);
}

static const char *open_copies(mpix_ranks_loaded_t *loaded, int count, int flags)
{
    for (int i = 0; i < count; ++i) {
        mpix_ranks_loaded_t *one = &loaded[i];

        /* The first one brings all others; after that they are found by their paths. */
        one->map = dlopen(one->path, flags | RTLD_LOCAL | RTLD_DEEPBIND);
        if (NULL == one->map) {
            return dlerror();
        }
        one->base = (char *) one->map->l_addr;
        if (mpix_ranks_copy_is_file()) { /* it keeps its name */
            (void) close(one->file);
            one->file = -1;
        }
    }
    return NULL;
}

const char *mpix_ranks_copy_load(const mpix_ranks_set_t *set, const char *label, int flags,
                                 const mpix_ranks_loaded_t *program, mpix_ranks_loaded_t *loaded)
{
    const char *wrong = NULL;

    for (int i = 0; i < set->count; ++i) {
        loaded[i] = (mpix_ranks_loaded_t){.object = &set->objects[i], .file = -1};
    }
    for (int i = 0; NULL == wrong && i < set->count; ++i) {
        char name[64];

        (void) snprintf(name, sizeof(name), "%.40s-%.16s", set->objects[i].label, label);
        loaded[i].file = mpix_ranks_copy_create(name, loaded[i].path, sizeof(loaded[i].path));
        wrong = loaded[i].file < 0 ? strerror(errno) : NULL;
    }
    for (int i = 0; NULL == wrong && i < set->count; ++i) {
        wrong = write_copy(loaded, i, program) ? NULL : strerror(errno);
    }
    wrong = NULL == wrong ? open_copies(loaded, set->count, flags) : wrong;
    for (int i = 0; NULL == wrong && i < set->count; ++i) {
        mpix_ranks_share(&set->objects[i], &loaded[i]);
    }
    if (NULL != wrong) {
        mpix_ranks_copy_unload(set, loaded);
    }
    return wrong;
}

void mpix_ranks_copy_unload(const mpix_ranks_set_t *set, mpix_ranks_loaded_t *loaded)
{
    for (int i = 0; i < set->count; ++i) {
        if (NULL != loaded[i].map) {
            (void) dlclose(loaded[i].map);
        }
        if (0 <= loaded[i].file) {
            (void) close(loaded[i].file);
        }
    }
}
