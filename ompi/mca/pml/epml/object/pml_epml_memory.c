/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory that handles of one communicator share within a process.  The first handle that asks for
 * it makes it, the last one that puts it back takes it along.  All of it hangs in one list under
 * one lock: it is asked for when a handle is made, or a window, and a client has one piece or two of
 * each communicator.
 *
 * Called by the layer service.
 *
 * Tests: unit/test_epml_memory, client
 */

#include "ompi_config.h"

#include "pml_epml_memory.h"

#include "ompi/constants.h"
#include "opal/class/opal_hash_table.h"
#include "opal/mca/threads/mutex.h"

#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_LINE 64

/** Bytes from which on memory comes straight from the kernel: cleared, without a page of it being
 * touched, so that the thread that writes to it first decides on which NUMA node it lies. */
#define MEMORY_MAPPED 65536

typedef struct memory_t {
    mpix_endpoints_memory_t super;
    mca_pml_epml_memory_key_t key;
    uint32_t references;                        /**< under the lock */
    const mca_pml_epml_memory_source_t *source; /**< NULL: own memory */
    void *token;
} memory_t;

_Static_assert(16 == sizeof(mca_pml_epml_memory_key_t), "no padding: it is compared as bytes");

static struct {
    opal_mutex_t lock;
    bool open;
    opal_hash_table_t by_key;
} memories = {.lock = OPAL_MUTEX_STATIC_INIT};

/* ---- memory of the process's own ------------------------------------------------------------- */

static void *own_get(size_t size)
{
    const size_t page = (size_t) sysconf(_SC_PAGESIZE);
    void *base = NULL;

    if (MEMORY_MAPPED <= size) {
        base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return MAP_FAILED == base ? NULL : base;
    }
    if (0 != posix_memalign(&base, page <= size ? page : MEMORY_LINE, size)) {
        return NULL;
    }
    return memset(base, 0, size);
}

static void own_put(void *base, size_t size)
{
    if (MEMORY_MAPPED <= size) {
        (void) munmap(base, size);
    } else {
        free(base);
    }
}

/* ---- the list -------------------------------------------------------------------------------- */

/** Under the lock. */
static memory_t *memory_find(const mca_pml_epml_memory_key_t *key)
{
    void *found = NULL;

    if (memories.open) {
        (void) opal_hash_table_get_value_ptr(&memories.by_key, key, sizeof(*key), &found);
    }
    return found;
}

/** Under the lock.  @return OMPI_SUCCESS or OMPI_ERR_OUT_OF_RESOURCE */
static int memory_enter(memory_t *memory)
{
    if (!memories.open) {
        OBJ_CONSTRUCT(&memories.by_key, opal_hash_table_t);
        if (OPAL_SUCCESS != opal_hash_table_init(&memories.by_key, 64)) {
            OBJ_DESTRUCT(&memories.by_key);
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        memories.open = true;
    }
    return OPAL_SUCCESS
                   == opal_hash_table_set_value_ptr(&memories.by_key, &memory->key,
                                                    sizeof(memory->key), memory)
               ? OMPI_SUCCESS
               : OMPI_ERR_OUT_OF_RESOURCE;
}

/** Take out of the list.  With the last one the list goes.  Under the lock. */
static void memory_leave(memory_t *memory)
{
    (void) opal_hash_table_remove_value_ptr(&memories.by_key, &memory->key, sizeof(memory->key));
    if (0 == opal_hash_table_get_size(&memories.by_key)) {
        OBJ_DESTRUCT(&memories.by_key);
        memories.open = false;
    }
}

/** Under the lock, so that no thread makes the same again before it has gone: of a file there can
 * be but one of a name. */
static void memory_free(memory_t *memory)
{
    if (NULL == memory->source) {
        own_put(memory->super.base, memory->super.size);
    } else {
        memory->source->put(memory->token);
    }
    free(memory);
}

/** Under the lock.  @param[out] memory_p  on success, in the list, one reference */
static int memory_make(const mca_pml_epml_memory_key_t *key, size_t size,
                       const mca_pml_epml_memory_source_t *source, void *context,
                       memory_t **memory_p)
{
    memory_t *memory = calloc(1, sizeof(*memory));
    int rc = OMPI_SUCCESS;

    if (NULL == memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    memory->key = *key;
    memory->super.size = size;
    memory->references = 1;
    memory->source = source;
    if (NULL != source) {
        rc = source->get(context, key, size, &memory->super.base, &memory->token);
    } else {
        memory->super.base = own_get(size);
        rc = NULL == memory->super.base ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
    }
    if (OMPI_SUCCESS != rc) {
        free(memory);
        return rc;
    }
    rc = memory_enter(memory);
    if (OMPI_SUCCESS != rc) {
        memory_free(memory);
        return rc;
    }
    *memory_p = memory;
    return OMPI_SUCCESS;
}

int mca_pml_epml_memory_get(const mca_pml_epml_memory_key_t *key, size_t size,
                            const mca_pml_epml_memory_source_t *source, void *context,
                            mpix_endpoints_memory_t **memory_p)
{
    memory_t *memory;
    int rc = OMPI_SUCCESS;

    if (0 == size) {
        return OMPI_ERR_BAD_PARAM;
    }
    opal_mutex_lock(&memories.lock);
    memory = memory_find(key);
    if (NULL == memory) {
        rc = memory_make(key, size, source, context, &memory);
    } else if (size != memory->super.size) {
        rc = OMPI_ERR_BAD_PARAM;
    } else {
        ++memory->references;
    }
    opal_mutex_unlock(&memories.lock);
    if (OMPI_SUCCESS == rc) {
        *memory_p = &memory->super;
    }
    return rc;
}

bool mca_pml_epml_memory_is_whole(const mpix_endpoints_memory_t *memory)
{
    const memory_t *own = (const memory_t *) memory;

    return NULL == own->source || own->source->is_whole(own->token);
}

int mca_pml_epml_memory_fill(mpix_endpoints_memory_t *memory, size_t offset, size_t size)
{
    const memory_t *own = (const memory_t *) memory;

    if (memory->size < offset || memory->size - offset < size) {
        return OMPI_ERR_BAD_PARAM;
    }
    return NULL == own->source ? OMPI_SUCCESS : own->source->fill(own->token, offset, size);
}

void mca_pml_epml_memory_put(mpix_endpoints_memory_t *memory)
{
    memory_t *own = (memory_t *) memory;

    opal_mutex_lock(&memories.lock);
    if (0 == --own->references) {
        memory_leave(own);
        memory_free(own);
    }
    opal_mutex_unlock(&memories.lock);
}
