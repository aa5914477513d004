/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory that copies have in common.  The dynamic linker takes files for one object if they have the
 * same inode, so each copy has a file of its own, and code and constants would be in memory once for
 * each rank.  When a copy has been loaded they are mapped from another file, which all ranks use, and
 * their pages are taken out of its own.
 *
 * Tests: ranks_memory
 */

#define _GNU_SOURCE

#include "share.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/** Less is not worth the calls. */
enum { LEAST = 64 << 10 };

static bool is_constant(const ElfW(Phdr) * segment)
{
    return PT_LOAD == segment->p_type && 0 == (segment->p_flags & PF_W);
}

static size_t size_of(const mpix_ranks_elf_t *elf)
{
    size_t size = 0;

    for (int i = 0; i < elf->segment_count; ++i) {
        size += is_constant(&elf->segments[i]) ? elf->segments[i].p_filesz : 0;
    }
    return size;
}

/** The file that all ranks use, with the object's constant segments where they are in its own. */
static bool make_file(mpix_ranks_object_t *object)
{
    const mpix_ranks_elf_t *elf = &object->elf;
    char path[MPIX_RANKS_NAME_SIZE];
    bool is_written = true;

    if (0 != object->shared_file) {
        return 0 < object->shared_file;
    }
    object->shared_file = mpix_ranks_copy_create(object->label, path, sizeof(path));
    for (int i = 0; 0 < object->shared_file && is_written && i < elf->segment_count; ++i) {
        const ElfW(Phdr) *segment = &elf->segments[i];

        if (is_constant(segment)) {
            is_written = mpix_ranks_copy_write(object->shared_file, elf->file + segment->p_offset,
                                               segment->p_filesz, segment->p_offset);
        }
    }
    if (!is_written) {
        (void) close(object->shared_file);
        object->shared_file = -1;
    }
    return 0 < object->shared_file;
}

static int protection_of(const ElfW(Phdr) * segment)
{
    return (0 != (segment->p_flags & PF_R) ? PROT_READ : 0)
           | (0 != (segment->p_flags & PF_X) ? PROT_EXEC : 0);
}

static void share_segment(const mpix_ranks_object_t *object, const mpix_ranks_loaded_t *loaded,
                          const ElfW(Phdr) * segment)
{
    const size_t page = (size_t) sysconf(_SC_PAGESIZE);
    const size_t before = segment->p_vaddr % page;
    const size_t begin = segment->p_offset - before;
    const size_t end = segment->p_offset + segment->p_filesz;
    /* Pages of which another segment has a part stay, and the first one, with what debuggers
     * read. */
    const size_t first = 0 == begin ? page : (segment->p_offset + page - 1) / page * page;
    const size_t last = end / page * page;

    if (MAP_FAILED
            != mmap(loaded->base + segment->p_vaddr - before, end - begin, protection_of(segment),
                    MAP_PRIVATE | MAP_FIXED, object->shared_file, (off_t) begin)
        && first < last) {
        (void) fallocate(loaded->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t) first,
                         (off_t) (last - first));
    }
}

void mpix_ranks_share(mpix_ranks_object_t *object, const mpix_ranks_loaded_t *loaded)
{
    const mpix_ranks_elf_t *elf = &object->elf;

    if (loaded->file < 0 || size_of(elf) < LEAST || !make_file(object)) {
        return;
    }
    for (int i = 0; i < elf->segment_count; ++i) {
        if (is_constant(&elf->segments[i])) {
            share_segment(object, loaded, &elf->segments[i]);
        }
    }
}
