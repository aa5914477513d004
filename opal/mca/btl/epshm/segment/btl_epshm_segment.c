/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The segment of a process: a file in memory in which its doorbells and pipes are.  All slow path,
 * under one lock.
 *
 * The file has its full size from the beginning, but memory is taken only as needed, by
 * posix_fallocate: where there is none, that fails, while a page that is merely touched would kill
 * the process.  How far there is memory is in the header; no process looks beyond.
 *
 * The file itself, and whose life it is tied to: btl_epshm_segment_file.c.  The segments of others:
 * btl_epshm_peer_proc.c.
 *
 * Tests: unit/test_epshm_node, unit/test_epshm_files, unit/test_epshm_folder, ways
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epshm_peer_proc.h"
#include "btl_epshm_pipe_out.h"
#include "btl_epshm_segment.h"
#include "btl_epshm_segment_file.h"

#include "opal/mca/pmix/pmix-internal.h"
#include "opal/mca/threads/mutex.h"
#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/** Retired pipes that are looked at whenever memory is wanted or another one comes. */
#define SEGMENT_RECLAIM 4

/** Attempts to make a file: each with another name, because another job may take one that is not
 * locked yet for one that was left, and remove it. */
#define SEGMENT_TRIES 50

/** Memory that is free again. */
typedef struct free_block_t {
    struct free_block_t *next;
    epshm_block_t block;
} free_block_t;

static struct {
    opal_mutex_t lock;
    epshm_segment_header_t *header; /**< NULL: none */
    char *path;
    int fd;
    uint64_t size;
    uint64_t used;  /**< what the header says */
    uint64_t given; /**< bytes from the beginning that have been handed out */
    bool failed;    /**< said already */
    free_block_t *free[EPSHM_BLOCK_KINDS];
    epshm_retired_t *retired, *retired_last;
} segment = {.lock = OPAL_MUTEX_STATIC_INIT, .fd = -1};

static _Atomic bool is_short;

/* ---- the own segment ------------------------------------------------------------------------- */

int mca_btl_epshm_random(void *bytes, size_t size)
{
    ssize_t rc;

    do {
        rc = getrandom(bytes, size, 0);
    } while (0 > rc && EINTR == errno);
    return (ssize_t) size == rc ? 0 : 0 > rc ? errno : EIO; /* so few come whole */
}

/** Have memory behind a part of a file.  @return 0 or an error number */
static int take_memory(int fd, uint64_t offset, uint64_t size)
{
    int rc;

    do {
        rc = posix_fallocate(fd, (off_t) offset, (off_t) size);
    } while (EINTR == rc);
    return rc;
}

/** Size, memory for the beginning, mapping, header.  @return 0 or an error number */
static int file_fill(int fd, uint64_t size, uint64_t stamp)
{
    epshm_segment_header_t *header;
    epshm_identity_t identity;
    ep_secret_t secret;
    int rc = mca_btl_epshm_identity_make(&identity);

    if (0 == rc) {
        rc = mca_btl_epshm_random(&secret, sizeof(secret));
    }
    if (0 != rc) {
        return rc;
    }
    if (0 != ftruncate(fd, (off_t) size)) {
        return errno;
    }
    rc = take_memory(fd, 0, EPSHM_SEGMENT_STEP);
    if (0 != rc) {
        return rc;
    }
    header = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (MAP_FAILED == header) {
        return errno;
    }
    *header = (epshm_segment_header_t){.magic = EPSHM_SEGMENT_MAGIC,
                                       .version = EPSHM_SEGMENT_VERSION,
                                       .uid = (uint32_t) geteuid(),
                                       .name = OPAL_PROC_MY_NAME,
                                       .stamp = stamp,
                                       .size = size,
                                       .identity = identity,
                                       .secret = secret};
    segment.used = EPSHM_SEGMENT_STEP;
    atomic_init(&header->used, segment.used);
    segment.header = header;
    segment.size = size;
    segment.given = epshm_pipe_area_for(sizeof(*header));
    segment.fd = fd;
    return 0;
}

/** Bytes that the own segment may have.  No more than its share of what the file system has room
 * for: as its end comes near, pipes are made smaller, and that must not be too late.  No more than
 * any file, or making it would end the process (SIGXFSZ). */
static uint64_t size_allowed(void)
{
    uint64_t size = mca_btl_epshm_component.segment_size;
    struct statvfs room;
    struct rlimit limit;

    if (0 == statvfs(mca_btl_epshm_component.directory, &room) && 0 < room.f_blocks) {
        const uint64_t share = (uint64_t) room.f_bavail * room.f_frsize
                               / (opal_process_info.num_local_peers + UINT64_C(1));

        size = share < size ? share : size;
        size = EPSHM_SEGMENT_LEAST < size ? size : EPSHM_SEGMENT_LEAST; /* what there is */
    }
    if (0 == getrlimit(RLIMIT_FSIZE, &limit) && RLIM_INFINITY != limit.rlim_cur
        && limit.rlim_cur < size) {
        size = limit.rlim_cur;
    }
    return size & ~(EPSHM_SEGMENT_STEP - 1);
}

/** A file, under a name that no other has.
 * @param[out] fd_p, path_p  on success
 * @return 0 or an error number */
static int file_new(uint64_t *stamp_p, int *fd_p, char **path_p)
{
    const opal_process_name_t name = OPAL_PROC_MY_NAME;
    int rc = EEXIST, fd;
    char *path;

    for (int i = 0; i < SEGMENT_TRIES && EEXIST == rc; ++i) {
        rc = mca_btl_epshm_random(stamp_p, sizeof(*stamp_p));
        if (0 != rc) {
            return rc;
        }
        path = mca_btl_epshm_segment_path(&name, *stamp_p);
        if (NULL == path) {
            return ENOMEM;
        }
        /* Before there is a file, so that nothing is left whatever happens. */
        (void) opal_pmix_register_cleanup(path, false, false, false);
        fd = mca_btl_epshm_segment_file_create(path);
        if (0 <= fd) {
            *fd_p = fd;
            *path_p = path;
            return 0;
        }
        rc = errno;
        free(path);
    }
    return rc;
}

/** Under the lock.  @return 0 or an error number */
static int segment_create(void)
{
    const uint64_t size = size_allowed();
    uint64_t stamp;
    char *path = NULL;
    int fd = -1, rc;

    if (EPSHM_SEGMENT_LEAST > size) {
        return EFBIG;
    }
    mca_btl_epshm_segment_sweep();
    rc = file_new(&stamp, &fd, &path);
    if (0 != rc) {
        return rc;
    }
    rc = file_fill(fd, size, stamp);
    if (0 != rc) {
        (void) unlink(path);
        close(fd);
        free(path);
        return rc;
    }
    segment.path = path;
    return 0;
}

bool mca_btl_epshm_segment_secret(uint64_t stamp, ep_secret_t *secret)
{
    bool is;

    opal_mutex_lock(&segment.lock);
    is = NULL != segment.header && stamp == segment.header->stamp;
    if (is) {
        *secret = segment.header->secret;
    }
    opal_mutex_unlock(&segment.lock);
    return is;
}

void mca_btl_epshm_segment_describe(uint64_t *size_p, bool *failed_p)
{
    opal_mutex_lock(&segment.lock);
    *size_p = NULL != segment.header ? segment.size : 0;
    *failed_p = segment.failed;
    opal_mutex_unlock(&segment.lock);
}

int mca_btl_epshm_segment_open(uint64_t *stamp_p, uint64_t *size_p)
{
    MCA_BTL_EP_HOLD_CANCEL();
    int error = 0;

    opal_mutex_lock(&segment.lock);
    if (NULL == segment.header && !segment.failed) {
        error = segment_create();
        segment.failed = 0 != error;
    }
    if (NULL != segment.header) {
        *stamp_p = segment.header->stamp;
        *size_p = segment.size;
    }
    opal_mutex_unlock(&segment.lock);
    if (0 != error) {
        EPSHM_SHOW_HELP("no segment", true, opal_process_info.nodename,
                        mca_btl_epshm_component.directory, strerror(error),
                        mca_btl_epshm_segment_advice(error));
    }
    return NULL != segment.header ? OPAL_SUCCESS : OPAL_ERR_NOT_AVAILABLE;
}

const char *mca_btl_epshm_segment_advice(int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE:
        return "\nThere are too few file descriptors (ulimit -n): one is needed for the memory\n"
               "of each process of the node.\n";
    case ENOSPC:
        return "\nThe folder's file system is full, or has no inodes left: see \"df\" and\n"
               "\"df -i\".  Other users may have files there, or jobs that were killed.\n";
    case EPERM:
        return "\nUnder the name of the file of that memory there is something that is not a\n"
               "file of the job's user.  Only a folder in which users cannot take away each\n"
               "other's files (mode 1777, as /dev/shm has it) keeps others from that.\n";
    default:
        return "";
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

/** Under the lock. */
static void block_put(const epshm_block_t *block)
{
    free_block_t *place = malloc(sizeof(*place));

    if (NULL == place) {
        return; /* the block is lost, which is the lesser evil */
    }
    place->block = *block;
    place->next = segment.free[block->kind];
    segment.free[block->kind] = place;
}

void mca_btl_epshm_segment_put(const epshm_block_t *block)
{
    opal_mutex_lock(&segment.lock);
    block_put(block);
    opal_mutex_unlock(&segment.lock);
}

/** At the end of the retired.  Under the lock. */
static void retired_add(epshm_retired_t *retired)
{
    retired->next = NULL;
    if (NULL == segment.retired) {
        segment.retired = retired;
    } else {
        segment.retired_last->next = retired;
    }
    segment.retired_last = retired;
}

/** Take memory back if its consumer has left it; else it goes to the end of the retired.  Under the
 * lock.
 *
 * @param[in] dead  or has ended: a system call */
static void reclaim_one(epshm_retired_t *retired, bool dead)
{
    /* Acquire pairs with the releases in epshm_pipe_detach and epshm_packet_detach. */
    if (0 == atomic_load_explicit(retired->detached, memory_order_acquire)
        && !(dead && mca_btl_epshm_peer_proc_is_dead(retired->peer_proc))) {
        retired_add(retired);
        return;
    }
    block_put(&retired->block);
    if (0 < retired->area_block.size) {
        block_put(&retired->area_block);
    }
    free(retired);
}

/** Look at a few of the retired; the next call looks at others.  All of them at each would be a
 * square of the endpoints' pairs, all of which end at once when a communicator does. */
static void reclaim_some(void)
{
    for (int i = 0; i < SEGMENT_RECLAIM && NULL != segment.retired; ++i) {
        epshm_retired_t *retired = segment.retired;

        segment.retired = retired->next;
        reclaim_one(retired, false);
    }
}

/** Look at all, those of processes that have ended included. */
static void reclaim_all(void)
{
    epshm_retired_t *retired = segment.retired, *next;

    segment.retired = NULL;
    for (; NULL != retired; retired = next) {
        next = retired->next;
        reclaim_one(retired, true);
    }
}

void mca_btl_epshm_segment_retire(epshm_retired_t *retired)
{
    opal_mutex_lock(&segment.lock);
    retired_add(retired);
    reclaim_some();
    opal_mutex_unlock(&segment.lock);
}

/** A block of exactly that size that is free again.  Under the lock. */
static bool block_again(epshm_block_kind_t kind, uint64_t size, epshm_block_t *block)
{
    for (free_block_t **link = &segment.free[kind]; NULL != *link; link = &(*link)->next) {
        free_block_t *place = *link;

        if (size == place->block.size) {
            *block = place->block;
            *link = place->next;
            free(place);
            return true;
        }
    }
    return false;
}

/** Memory that has not been given out before.  Under the lock. */
static bool block_new(epshm_block_kind_t kind, uint64_t size, unsigned int spare,
                      epshm_block_t *block)
{
    const uint64_t end = segment.given + size;

    if (end + segment.size / 8 * spare > segment.size) {
        return false;
    }
    if (end > segment.used) {
        const uint64_t used = (end + EPSHM_SEGMENT_STEP - 1) & ~(EPSHM_SEGMENT_STEP - 1);

        if (0 != take_memory(segment.fd, segment.used, used - segment.used)) {
            return false;
        }
        segment.used = used;
        atomic_store_explicit(&segment.header->used, used, memory_order_relaxed);
    }
    *block = (epshm_block_t){.memory = (unsigned char *) segment.header + segment.given,
                             .offset = segment.given,
                             .size = size,
                             .kind = kind};
    segment.given = end;
    return true;
}

bool mca_btl_epshm_segment_get(epshm_block_kind_t kind, uint64_t size, unsigned int spare,
                               epshm_block_t *block)
{
    bool found;

    size = epshm_pipe_area_for(size);
    opal_mutex_lock(&segment.lock);
    reclaim_some();
    found = block_again(kind, size, block) || block_new(kind, size, spare, block);
    if (!found) {
        reclaim_all();
        found = block_again(kind, size, block);
    }
    opal_mutex_unlock(&segment.lock);
    if (!found && EPSHM_BLOCK_PACKET <= kind) {
        /* Relaxed: late is early enough. */
        atomic_store_explicit(&is_short, true, memory_order_relaxed);
    }
    return found;
}

bool mca_btl_epshm_segment_is_short(void)
{
    return atomic_load_explicit(&is_short, memory_order_relaxed); /* likewise */
}

/* ---- the end --------------------------------------------------------------------------------- */

static void free_lists(void)
{
    while (NULL != segment.retired) {
        epshm_retired_t *retired = segment.retired;

        segment.retired = retired->next;
        free(retired);
    }
    for (int kind = 0; kind < EPSHM_BLOCK_KINDS; ++kind) {
        while (NULL != segment.free[kind]) {
            free_block_t *place = segment.free[kind];

            segment.free[kind] = place->next;
            free(place);
        }
    }
}

void mca_btl_epshm_segment_close(void)
{
    mca_btl_epshm_peer_procs_forget();
    opal_mutex_lock(&segment.lock);
    if (NULL != segment.header) {
        free_lists();
        mca_btl_epshm_identity_end();
        (void) unlink(segment.path);
        (void) munmap(segment.header, segment.size);
        close(segment.fd);
        free(segment.path);
        segment.header = NULL;
        segment.path = NULL;
        segment.fd = -1;
    }
    segment.failed = false;
    opal_mutex_unlock(&segment.lock);
}
