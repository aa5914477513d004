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
 * closed after the last endpoint has gone.
 *
 * Tests: file_basic, file_nomem, file_random
 */

#include "ompi_config.h"

#include "mpiext_endpoints_copies.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

typedef struct copy_t {
    struct copy_t *next;
    const void *original;
    void (*change)(void *copy);
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
        memcpy(copy->table, original, size);
        change(copy->table);
        copy->next = copies;
        copies = copy;
    }
    pthread_mutex_unlock(&lock);
    return NULL == copy ? NULL : copy->table;
}

const void *mpix_endpoints_copied(const void *copy)
{
    return ((const copy_t *) ((const char *) copy - offsetof(copy_t, table)))->original;
}
