/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The executable itself, which rank 0 runs.  It is mapped already, so its slots are on a page near it,
 * and changed code is mapped over its own, from a file like a copy's: systems may forbid code to be
 * written where it is (PR_SET_MDWE).
 *
 * Tests: ranks_basic, ranks_library (hardened), install/ranks_debug
 */

#define _GNU_SOURCE

#include "program.h"

#include "copy.h"
#include "patch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/** The instruction that debuggers put where a breakpoint is (int3); only x86-64's code is
 * changed. */
enum { BREAKPOINT = (char) 0xcc };

/** Instructions reach 2 GiB; below an executable there is nothing, as a rule. */
static char *map_near(const char *base, size_t size)
{
    const size_t step = (size_t) 64 << 10;

    for (size_t distance = step; distance < (size_t) 1 << 30; distance += step) {
        void *page = mmap((char *) base - distance, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

        if (MAP_FAILED != page && (char *) base - distance == page) {
            return page;
        }
        if (MAP_FAILED != page) { /* Linux before 4.17 takes the address as a wish */
            (void) munmap(page, size);
        }
    }
    return NULL;
}

/** Map a segment of code anew, from the changed file. */
static const char *map_code(const mpix_ranks_elf_t *elf, const ElfW(Phdr) * segment, char *base)
{
    const size_t before = segment->p_vaddr % (size_t) sysconf(_SC_PAGESIZE);
    const size_t begin = segment->p_offset - before;
    const size_t size = before + segment->p_filesz;
    char path[MPIX_RANKS_NAME_SIZE];
    const int file = mpix_ranks_copy_create("program", path, sizeof(path));
    const char *wrong = NULL;
    bool is_whole;

    if (file < 0) {
        return strerror(errno);
    }
    is_whole = mpix_ranks_copy_is_file(); /* for debuggers; in memory only what is mapped */
    if (!mpix_ranks_copy_write(file, elf->file + (is_whole ? 0 : begin),
                               is_whole ? elf->size : size, is_whole ? 0 : begin)
        || MAP_FAILED
               == mmap(base + segment->p_vaddr - before, size, PROT_READ | PROT_EXEC,
                       MAP_PRIVATE | MAP_FIXED, file, (off_t) begin)) {
        wrong = strerror(errno);
    }
    (void) close(file);
    return wrong;
}

/** Breakpoints of a debugger: places of code, as offsets in the file, where memory has one and the
 * file has not.  Code that is mapped over its own would lose them. */
static void find_breakpoints(const mpix_ranks_elf_t *elf, const ElfW(Phdr) * segment,
                             const char *base, mpix_ranks_list_t *places)
{
    const char *file = elf->file + segment->p_offset;
    const char *memory = base + segment->p_vaddr;

    for (size_t i = 0; i < segment->p_filesz; ++i) {
        if (file[i] != memory[i] && BREAKPOINT == memory[i]) {
            *(size_t *) mpix_ranks_list_add(places, sizeof(size_t)) = segment->p_offset + i;
        }
    }
}

static bool is_code(const ElfW(Phdr) * segment)
{
    return PT_LOAD == segment->p_type && 0 != (segment->p_flags & PF_X);
}

/** Change the code in the file, with breakpoints as they are: a changed instruction begins as
 * before. */
static const char *change_code(const mpix_ranks_elf_t *elf, mpix_ranks_object_t *program,
                               const char *base, mpix_ranks_slots_t *slots)
{
    mpix_ranks_list_t places = {0};
    const char *wrong;

    for (int i = 0; i < elf->segment_count; ++i) {
        if (is_code(&elf->segments[i])) {
            find_breakpoints(elf, &elf->segments[i], base, &places);
        }
    }
    wrong = mpix_ranks_patch(elf, &program->ranges, true, slots);
    for (int i = 0; i < places.count; ++i) {
        elf->file[MPIX_RANKS_ITEMS(places, size_t)[i]] = BREAKPOINT;
    }
    free(places.items);
    return wrong;
}

const char *mpix_ranks_program_lead(const mpix_rank_t *rank, mpix_ranks_object_t *program)
{
    char *base = (char *) program->map->l_addr;
    mpix_ranks_list_t list = {0};
    mpix_ranks_slots_t slots = {.list = &list};
    const mpix_ranks_pointer_t *slot;
    const char *wrong;
    mpix_ranks_elf_t elf;
    char *page;
    int file;

    page = map_near(base, (size_t) sysconf(_SC_PAGESIZE));
    if (NULL == page) {
        return "no memory near the executable";
    }
    file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    wrong = file < 0 ? strerror(errno) : mpix_ranks_elf_open(&elf, file);
    if (0 <= file) {
        (void) close(file);
    }
    if (NULL != wrong) {
        return wrong;
    }
    slots.address = (ElfW(Addr))(page - base);
    wrong = change_code(&elf, program, base, &slots);
    slot = MPIX_RANKS_ITEMS(list, mpix_ranks_pointer_t);
    for (int i = 0; i < list.count; ++i) {
        ((void **) page)[i] = MPIX_RANKS_WORLD == slot[i].target ? (void *) rank->world
                                                                 : (void *) rank->self;
    }
    for (int i = 0; NULL == wrong && 0 != list.count && i < elf.segment_count; ++i) {
        if (is_code(&elf.segments[i])) {
            wrong = map_code(&elf, &elf.segments[i], base);
        }
    }
    mpix_ranks_elf_close(&elf);
    return wrong;
}

/** libc looks at these numbers when it runs them; the addresses stay. */
const char *mpix_ranks_program_defer(struct link_map *map)
{
    const size_t page = (size_t) sysconf(_SC_PAGESIZE);
    char *begin, *end;
    ElfW(Dyn) *entry = map->l_ld;

    while (DT_NULL != entry->d_tag) {
        ++entry;
    }
    begin = (char *) ((ElfW(Addr)) map->l_ld & ~(page - 1));
    end = (char *) (((ElfW(Addr))(entry + 1) + page - 1) & ~(page - 1));
    if (0 != mprotect(begin, (size_t) (end - begin), PROT_READ | PROT_WRITE)) {
        return strerror(errno);
    }
    for (entry = map->l_ld; DT_NULL != entry->d_tag; ++entry) {
        if (DT_INIT_ARRAYSZ == entry->d_tag || DT_FINI_ARRAYSZ == entry->d_tag) {
            entry->d_un.d_val = 0;
        }
    }
    return NULL;
}
