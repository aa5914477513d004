/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory of the node for the owner of our modules: a file for each, which the processes that are to
 * have it make together, without messages.  Each process opens or creates the file, gives it its
 * size and memory, which has one outcome however many do so at a time, maps it, and counts itself
 * in the first page.  The last one removes the name: the file then ends with the processes that
 * have it mapped, whatever their end is like.
 *
 * The name must be known without a message, but not to other users, which could take it beforehand.
 * So it is made with a secret from the segment of the process that all of them name.  A process
 * that does not see that segment cannot share, and the count tells the others.
 *
 * Memory may be reserved: the file has its size, but only its first page is allocated.  The process
 * that owns a part allocates its pages, on its own NUMA node, before it accesses them.  The kernel
 * does that for a part of a mapping (MADV_POPULATE_WRITE).  Before Linux 5.14 it needs the file, so the
 * descriptor stays open until the memory is put back.
 *
 * A file that has not got all of its processes keeps its name until one of them puts it back.
 * Where all of them are killed before, the launcher removes it, with which each has registered it,
 * or, if that is killed as well, the next job (btl_epshm_segment_file.c): each holds a lock on it.
 *
 * Called through the component's table.
 *
 * Tests: client, unit/test_epshm_files
 */

#include "opal_config.h"

#include "btl_epshm_node.h"

#include "opal/mca/pmix/pmix-internal.h"
#include "opal/util/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/** What is in the first page of the file; the owner gets those behind it. */
typedef struct memory_front_t {
    _Atomic uint32_t mapped; /**< processes that have it */
} memory_front_t;

#if !defined(MADV_POPULATE_WRITE) /* headers older than glibc 2.35 */
#    define MADV_POPULATE_WRITE 23
#endif

typedef struct memory_t {
    mca_btl_ep_memory_t super;
    memory_front_t *front;
    size_t size; /**< of the mapping */
    uint32_t processes;
    bool is_reserved;
    bool fills_by_file; /**< it is reserved, and the kernel cannot fill a mapping */
    char *path;
    _Atomic int fd; /**< holds our lock on the file; -1: it has no name any more */
} memory_t;

/** The name of the file.
 * @param[out] rc  OPAL_SUCCESS, or as mca_btl_ep_memory_get_fn_t
 * @return to be freed */
static char *path_of(const mca_btl_ep_memory_name_t *name, int *rc)
{
    const uint64_t words[] = {name->context, name->key};
    epshm_node_address_t address;
    ep_secret_t secret;
    bool seen = false;
    char *path = NULL;

    *rc = OPAL_ERR_NOT_AVAILABLE;
    if (mca_btl_epshm_node_address_read(name->address, name->address_length, &address)) {
        const epshm_peer_proc_t *peer_proc = mca_btl_epshm_peer_proc_find(&address.process);

        seen = mca_btl_epshm_segment_secret(address.stamp, &secret);
        if (!seen && NULL != peer_proc && address.stamp == peer_proc->stamp) {
            secret = ((const epshm_segment_header_t *) peer_proc->base)->secret;
            seen = true;
        }
    }
    if (seen) {
        path = mca_btl_epshm_segment_path(&address.process, ep_keyed_words(&secret, words, 2));
        *rc = NULL == path ? OPAL_ERR_OUT_OF_RESOURCE : OPAL_SUCCESS;
    }
    return path;
}

static bool all_have(const memory_t *memory)
{
    /* Acquire: nothing hangs on it but the name, which is taken away once. */
    return memory->processes == atomic_load_explicit(&memory->front->mapped, memory_order_acquire);
}

/** The file is needed no longer. */
static void close_file(memory_t *memory)
{
    const int fd = atomic_exchange_explicit(&memory->fd, -1, memory_order_relaxed);

    if (0 <= fd) {
        MCA_BTL_EP_HOLD_CANCEL(); /* the caller of put may hold locks of the owner's */
        close(fd);
    }
}

/** The file has no name any more, and needs no lock. */
static void forget_file(memory_t *memory)
{
    if (!memory->fills_by_file) {
        close_file(memory);
    }
}

static bool is_whole(mca_btl_ep_memory_t *super)
{
    memory_t *memory = (memory_t *) super;

    if (!all_have(memory)) {
        return false;
    }
    forget_file(memory); /* the last one has taken the name away */
    return true;
}

static void node_memory_put(mca_btl_ep_memory_t *super)
{
    memory_t *memory = (memory_t *) super;

    if (!all_have(memory)) {
        (void) unlink(memory->path); /* the others will not have it whole any more */
    }
    close_file(memory);
    (void) munmap(memory->front, memory->size);
    free(memory->path);
    free(memory);
}

/** Fill a part of the mapping that consists of pages.  @return 0 or an error number; EINVAL: the
 * kernel cannot; EFAULT: there is no room for them */
static int node_memory_populate(const memory_t *memory, size_t first, size_t size)
{
    int rc;

    do {
        rc = 0 == madvise((unsigned char *) memory->front + first, size, MADV_POPULATE_WRITE)
                 ? 0
                 : errno;
    } while (EINTR == rc);
    return rc;
}

static int node_memory_fill(mca_btl_ep_memory_t *super, size_t offset, size_t size)
{
    memory_t *memory = (memory_t *) super;
    const size_t page = (size_t) sysconf(_SC_PAGESIZE);
    const size_t first = page + offset / page * page;
    size_t last = page + offset + size;
    int rc;

    if (!memory->is_reserved || 0 == size) {
        return OPAL_SUCCESS;
    }
    if (memory->fills_by_file) {
        do { /* relaxed: it was set before the memory was handed out */
            rc = posix_fallocate(atomic_load_explicit(&memory->fd, memory_order_relaxed),
                                 (off_t) first, (off_t) (last - first));
        } while (EINTR == rc);
    } else {
        last = (last + page - 1) / page * page;
        rc = node_memory_populate(memory, first, last - first);
    }
    return 0 == rc ? OPAL_SUCCESS : OPAL_ERR_OUT_OF_RESOURCE;
}

/** Map a file that has been opened, and count.  @return 0 or an error number */
static int node_memory_map(memory_t *memory, int fd)
{
    const size_t page = (size_t) sysconf(_SC_PAGESIZE);
    memory_front_t *front = mmap(NULL, memory->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (MAP_FAILED == front) {
        return errno;
    }
    memory->front = front;
    memory->super.base = (unsigned char *) front + page;
    atomic_init(&memory->fd, fd);
    memory->fills_by_file = memory->is_reserved && EINVAL == node_memory_populate(memory, 0, page);
    /* Release: partner is the acquire in all_have. */
    if (memory->processes
        == atomic_fetch_add_explicit(&front->mapped, 1, memory_order_acq_rel) + 1) {
        (void) unlink(memory->path);
        forget_file(memory);
    }
    return 0;
}

int mca_btl_epshm_node_memory_get(const mca_btl_ep_memory_name_t *name, size_t size,
                                  unsigned int processes, bool reserve,
                                  mca_btl_ep_memory_t **memory_p)
{
    MCA_BTL_EP_HOLD_CANCEL();
    const size_t page = (size_t) sysconf(_SC_PAGESIZE);
    memory_t *memory = calloc(1, sizeof(*memory));
    int rc = OPAL_ERR_OUT_OF_RESOURCE, fd, error;

    if (NULL == memory || INT64_MAX - page < size) {
        goto err_free;
    }
    memory->super = (mca_btl_ep_memory_t){.is_whole = is_whole,
                                          .fill = node_memory_fill,
                                          .put = node_memory_put};
    memory->is_reserved = reserve;
    memory->size = page + size;
    memory->processes = processes;
    memory->path = path_of(name, &rc);
    if (NULL == memory->path) {
        goto err_free;
    }
    /* By each: the others may make it when one has been killed, until they are killed as well. */
    (void) opal_pmix_register_cleanup(memory->path, false, false, false);
    fd = mca_btl_epshm_segment_file_share(memory->path, memory->size,
                                          reserve ? page : memory->size);
    error = 0 > fd ? errno : node_memory_map(memory, fd);
    if (0 == error) {
        *memory_p = &memory->super;
        return OPAL_SUCCESS;
    }
    rc = EINVAL == error ? OPAL_ERR_BAD_PARAM : OPAL_ERR_OUT_OF_RESOURCE;
    if (0 <= fd) {
        close(fd);
    }
    if (EINVAL != error) {
        (void) unlink(memory->path); /* a process that has it does not have all of us */
    }

err_free:
    if (NULL != memory) {
        free(memory->path);
    }
    free(memory);
    return rc;
}
