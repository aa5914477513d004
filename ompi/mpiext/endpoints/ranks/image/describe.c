/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is said of copies, for MPIX_RANKS_VERBOSE and epinfo.
 *
 * Tests: ranks_library (verbose)
 */

#define _GNU_SOURCE

#include "image.h"

#include "state.h"

/** Why a library is private. */
static const char *why_of(const mpix_ranks_object_t *object, const mpix_ranks_library_t *library)
{
    if (NULL != library->why) {
        return library->why;
    }
    return mpix_ranks_library_has_state(&object->elf) ? "it has state"
                                                      : "it needs MPI or a private library";
}

/** Memory that a copy has to itself, with what is written of it. */
static size_t memory_of(const mpix_ranks_elf_t *elf)
{
    size_t size = 0;

    for (int i = 0; i < elf->segment_count; ++i) {
        size += PT_LOAD == elf->segments[i].p_type ? elf->segments[i].p_memsz : 0;
    }
    return size;
}

static void describe_ranges(FILE *stream, const mpix_ranks_object_t *object)
{
    const mpix_ranks_range_t *range = MPIX_RANKS_ITEMS(object->ranges, mpix_ranks_range_t);
    int predefined = 0, places = 0, others = 0;

    for (int i = 0; i < object->ranges.count; ++i) {
        predefined += range[i].is_predefined;
        others += !range[i].is_predefined;
        places += range[i].changed;
    }
    (void) fprintf(stream,
                   "  refers in %d places to %d of MPI's objects and %d of other libraries;"
                   " %d pointers to handles and functions\n",
                   places, predefined, others, object->pointers.count);
    for (int i = 0; i < object->ranges.count; ++i) {
        if (!range[i].is_predefined) {
            (void) fprintf(stream, "  in the executable alone: %s\n", range[i].name);
        }
    }
}

void mpix_ranks_image_describe(FILE *stream)
{
    for (int i = 0; i < mpix_ranks_program.count; ++i) {
        const mpix_ranks_object_t *object = &mpix_ranks_program.objects[i];
        const mpix_ranks_library_t *library = mpix_ranks_library_of(&mpix_ranks_libraries,
                                                                    object->name);

        (void) fprintf(stream, "copied for each rank, %zu KiB: %s%s%s%s\n",
                       memory_of(&object->elf) >> 10, object->label,
                       object->is_program || NULL == library ? "" : " (",
                       object->is_program || NULL == library ? "" : why_of(object, library),
                       object->is_program || NULL == library ? "" : ")");
        if (object->is_program) {
            describe_ranges(stream, object);
        }
    }
    (void) fprintf(stream, "one for all ranks:");
    for (int i = 1; i < mpix_ranks_libraries.count; ++i) {
        const mpix_ranks_library_t *library = &mpix_ranks_libraries.all[i];

        if (library->is_reached && !library->is_private) {
            (void) fprintf(stream, " %s", library->name);
        }
    }
    (void) fputc('\n', stream);
}
