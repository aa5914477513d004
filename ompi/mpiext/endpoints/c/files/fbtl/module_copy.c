/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Copies of tables of functions of ompio's components, with some functions replaced.
 *
 * A component of ompio gives all files the same table of functions.  Files of endpoints get a copy
 * in which some functions are replaced.  There are as many copies as components, and they are never
 * freed: a file may be closed after the last endpoint has gone.  A file may have a private copy, by
 * which the file's state is found without a search.
 *
 * Tests: file_basic, file_many, file_nomem, file_random
 */

#include "ompi_config.h"

#include "mpiext_endpoints_module_copy.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

typedef struct copy_t {
    struct copy_t *next;
    const void *original;
    void (*change)(void *copy);
    const void *shared; /**< of a private copy: the table that it is a copy of */
    void *state;        /**< of a private copy; or NULL */
    alignas(max_align_t) unsigned char table[];
} copy_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static copy_t *copies; /**< under the lock */

static copy_t *copy_find(const void *original, void (*change)(void *copy))
{
    copy_t *copy = copies;

    while (NULL != copy && (copy->original != original || copy->change != change)) {
        copy = copy->next;
    }
    return copy;
}

void *mpix_endpoints_module_copy(const void *original, size_t size, void (*change)(void *copy))
{
    copy_t *copy;

    pthread_mutex_lock(&lock);
    copy = copy_find(original, change);
    if (NULL == copy && NULL != (copy = malloc(sizeof(*copy) + size))) {
        copy->original = original;
        copy->change = change;
        copy->shared = copy->table;
        copy->state = NULL;
        memcpy(copy->table, original, size);
        change(copy->table);
        copy->next = copies;
        copies = copy;
    }
    pthread_mutex_unlock(&lock);
    return NULL == copy ? NULL : copy->table;
}

static const copy_t *copy_of_table(const void *table)
{
    return (const copy_t *) ((const char *) table - offsetof(copy_t, table));
}

const void *mpix_endpoints_module_original(const void *copy)
{
    return copy_of_table(copy)->original;
}

void *mpix_endpoints_module_copy_private(const void *copy, size_t size, void *state)
{
    const copy_t *shared = copy_of_table(copy);
    copy_t *own = malloc(sizeof(*own) + size);

    if (NULL == own) {
        return NULL;
    }
    *own = (copy_t){.original = shared->original, .shared = copy, .state = state};
    memcpy(own->table, copy, size);
    return own->table;
}

void *mpix_endpoints_module_copy_state(const void *copy)
{
    return copy_of_table(copy)->state;
}

const void *mpix_endpoints_module_copy_free(void *own)
{
    const void *shared = copy_of_table(own)->shared;

    free((copy_t *) copy_of_table(own));
    return shared;
}
