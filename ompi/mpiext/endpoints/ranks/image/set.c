/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Sets of objects: see set.h.
 *
 * Tests: ranks_plugin, ranks_library
 */

#define _GNU_SOURCE

#include "set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *mpix_ranks_set_add(mpix_ranks_set_t *set, const mpix_ranks_object_t *object,
                               const char *path)
{
    const size_t count = (size_t) set->count + 1;
    mpix_ranks_object_t *objects = realloc(set->objects, count * sizeof(*objects));
    const char *wrong;
    int file;

    if (NULL == objects) {
        return "no memory";
    }
    set->objects = objects;
    objects[set->count] = *object;
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return strerror(errno);
    }
    wrong = mpix_ranks_elf_open(&objects[set->count].elf, file);
    (void) close(file);
    set->count += NULL == wrong;
    return wrong;
}

void mpix_ranks_set_need(mpix_ranks_object_t *object, mpix_ranks_needed_t needed)
{
    *(mpix_ranks_needed_t *) mpix_ranks_list_add(&object->needed, sizeof(needed)) = needed;
}

/** Depth first; libraries that need each other in a circle come as they are met. */
static void put_in_order(mpix_ranks_set_t *set, int index, bool *is_met, int *count)
{
    const mpix_ranks_needed_t *needed = MPIX_RANKS_ITEMS(set->objects[index].needed,
                                                         mpix_ranks_needed_t);

    is_met[index] = true;
    for (int i = 0; i < set->objects[index].needed.count; ++i) {
        if (NULL == needed[i].loaded && 0 <= needed[i].index && !is_met[needed[i].index]) {
            put_in_order(set, needed[i].index, is_met, count);
        }
    }
    set->order[(*count)++] = index;
}

void mpix_ranks_set_order(mpix_ranks_set_t *set)
{
    bool *is_met = calloc((size_t) set->count, sizeof(*is_met));
    int count = 0;

    set->order = calloc((size_t) set->count, sizeof(*set->order));
    if (NULL == set->order || NULL == is_met) {
        mpix_ranks_refuse("no memory");
    }
    put_in_order(set, 0, is_met, &count);
    free(is_met);
}

void mpix_ranks_set_free(mpix_ranks_set_t *set)
{
    for (int i = 0; i < set->count; ++i) {
        mpix_ranks_object_t *object = &set->objects[i];

        mpix_ranks_elf_close(&object->elf);
        free(object->needed.items);
        free(object->kept.items);
        free(object->ranges.items);
        free(object->slots.items);
        free(object->pointers.items);
        free(object->contents.items);
        free(object->annex);
        if (0 < object->shared_file) {
            (void) close(object->shared_file);
        }
    }
    free(set->objects);
    free(set->order);
    *set = (mpix_ranks_set_t){0};
}
