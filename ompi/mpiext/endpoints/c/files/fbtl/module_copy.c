/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Tables of functions of Open MPI's, in which some of the functions are ours.
 *
 * A component of ompio's gives every file the same table.  A file that we have a say in gets a
 * copy; others keep theirs.  There are as many copies as components, and they stay: a file may be
 * closed after the last endpoint has gone.  A file may have a copy of its own, by which what is kept
 * of that file is found without a search.
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
    const void *shared; /**< of one file alone: the copy that this is one of */
    void *kept;         /**< likewise; or NULL */
    alignas(max_align_t) unsigned char table[];
} copy_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static copy_t *copies; /**< under the lock */

static copy_t *find(const void *original, void (*change)(void *copy))
{
    copy_t *copy = copies;

    while (NULL != copy && (copy->original != original || copy->change != change)) {
        copy = copy->next;
    }
    return copy;
}

void *mpix_endpoints_copy(const void *original, size_t size, void (*change)(void *copy))
{
    copy_t *copy;

    pthread_mutex_lock(&lock);
    copy = find(original, change);
    if (NULL == copy && NULL != (copy = malloc(sizeof(*copy) + size))) {
        copy->original = original;
        copy->change = change;
        copy->shared = copy->table;
        copy->kept = NULL;
        memcpy(copy->table, original, size);
        change(copy->table);
        copy->next = copies;
        copies = copy;
    }
    pthread_mutex_unlock(&lock);
    return NULL == copy ? NULL : copy->table;
}

static const copy_t *copy_of(const void *table)
{
    return (const copy_t *) ((const char *) table - offsetof(copy_t, table));
}

const void *mpix_endpoints_copied(const void *copy)
{
    return copy_of(copy)->original;
}

void *mpix_endpoints_copy_own(const void *copy, size_t size, void *kept)
{
    const copy_t *shared = copy_of(copy);
    copy_t *own = malloc(sizeof(*own) + size);

    if (NULL == own) {
        return NULL;
    }
    *own = (copy_t){.original = shared->original, .shared = copy, .kept = kept};
    memcpy(own->table, copy, size);
    return own->table;
}

void *mpix_endpoints_copy_kept(const void *copy)
{
    return copy_of(copy)->kept;
}

const void *mpix_endpoints_copy_free(void *own)
{
    const void *shared = copy_of(own)->shared;

    free((copy_t *) copy_of(own));
    return shared;
}
