/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The other processes of the node: their segments, as they are mapped here.  All slow path, under
 * one lock.
 *
 * Tests: unit/test_epshm_node, unit/test_epshm_broken, descriptors, corrupt, jobs_spawn
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epshm_peer_proc.h"
#include "btl_epshm_segment.h"
#include "btl_epshm_segment_file.h"

#include "opal/mca/threads/mutex.h"
#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    opal_mutex_t lock;
    epshm_peer_proc_t *first; /**< the youngest */
} peer_procs = {.lock = OPAL_MUTEX_STATIC_INIT};

/** Does a file look like the segment of a process?  @return 0 or an error number */
static int file_check(int fd, uint64_t size)
{
    struct stat stat;

    if (0 != fstat(fd, &stat)) {
        return errno;
    }
    return 0 == (stat.st_mode & 077) && EPSHM_SEGMENT_STEP <= size
                   && size == (uint64_t) stat.st_size
               ? 0
               : EINVAL;
}

static bool header_is_sound(const epshm_segment_header_t *header, const opal_process_name_t *name,
                            uint64_t stamp, uint64_t size)
{
    return EPSHM_SEGMENT_MAGIC == header->magic && EPSHM_SEGMENT_VERSION == header->version
           && (uint32_t) geteuid() == header->uid && name->jobid == header->name.jobid
           && name->vpid == header->name.vpid && size == header->size && stamp == header->stamp;
}

/** How its memory is read from here, if it can be. */
static void find_single_copy(epshm_peer_proc_t *peer_proc)
{
    opal_proc_t *proc = NULL != mca_smsc && mca_btl_epshm_component.single_copy
                            ? opal_proc_for_name(peer_proc->name)
                            : NULL;

    atomic_init(&peer_proc->copy_failed, false);
    atomic_init(&peer_proc->proven_ns, 0);
    peer_proc->single_copy = NULL != proc ? MCA_SMSC_CALL(get_endpoint, proc) : NULL;
}

/** Map a file that has been opened.
 * @param[out] peer_proc_p  set on success
 * @return 0 or an error number; EINVAL: it is not what it should be */
static int peer_proc_new(int fd, const opal_process_name_t *name, uint64_t stamp, uint64_t size,
                         epshm_peer_proc_t **peer_proc_p)
{
    epshm_peer_proc_t *peer_proc = calloc(1, sizeof(*peer_proc));
    const epshm_segment_header_t *header;
    int rc = file_check(fd, size);

    if (NULL == peer_proc || 0 != rc) {
        rc = 0 != rc ? rc : ENOMEM;
        goto err_free;
    }
    header = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (MAP_FAILED == header) {
        rc = errno;
        goto err_free;
    }
    if (!header_is_sound(header, name, stamp, size)) {
        (void) munmap((void *) header, size);
        rc = EINVAL;
        goto err_free;
    }
    peer_proc->name = *name;
    peer_proc->number = mca_btl_epshm_peer_proc_number(name, stamp, OPAL_PROC_MY_NAME.jobid);
    peer_proc->stamp = stamp;
    peer_proc->base = (unsigned char *) header;
    peer_proc->size = size;
    peer_proc->used = &header->used;
    peer_proc->fd = fd;
    peer_proc->identity = header->identity;
    find_single_copy(peer_proc);
    *peer_proc_p = peer_proc;
    return 0;

err_free:
    free(peer_proc);
    return rc;
}

/** Under the lock. */
static epshm_peer_proc_t *find_peer_proc(const opal_process_name_t *name)
{
    epshm_peer_proc_t *peer_proc = peer_procs.first;

    while (NULL != peer_proc
           && (peer_proc->name.vpid != name->vpid || peer_proc->name.jobid != name->jobid)) {
        peer_proc = peer_proc->next;
    }
    return peer_proc;
}

/** Under the lock. */
static epshm_peer_proc_t *find_number(uint32_t number)
{
    epshm_peer_proc_t *peer_proc = peer_procs.first;

    while (NULL != peer_proc && number != peer_proc->number) {
        peer_proc = peer_proc->next;
    }
    return peer_proc;
}

/** Open and map.  Under the lock.  @return 0 or an error number */
static int peer_proc_add(const opal_process_name_t *name, uint64_t stamp, uint64_t size,
                         epshm_peer_proc_t **peer_proc_p)
{
    char *path;
    int fd, rc;

    if (NULL != find_number(mca_btl_epshm_peer_proc_number(name, stamp, OPAL_PROC_MY_NAME.jobid))) {
        return EEXIST;
    }
    path = mca_btl_epshm_segment_path(name, stamp);
    if (NULL == path) {
        return ENOMEM;
    }
    fd = mca_btl_epshm_segment_file_open(AT_FDCWD, path);
    rc = 0 <= fd ? peer_proc_new(fd, name, stamp, size, peer_proc_p) : errno;
    free(path);
    if (0 == rc) {
        (*peer_proc_p)->next = peer_procs.first;
        peer_procs.first = *peer_proc_p;
    } else if (0 <= fd) {
        close(fd);
    }
    return rc;
}

/** The network will be used instead; once per process. */
static void say_not_mapped(const opal_process_name_t *name, int error)
{
    /* Relaxed: two messages instead of one would do no harm. */
    static _Atomic bool said = false;

    if (!atomic_exchange_explicit(&said, true, memory_order_relaxed)) {
        EPSHM_SHOW_HELP("not mapped", true, opal_process_info.nodename,
                        (unsigned int) OPAL_PROC_MY_NAME.vpid, (unsigned int) name->vpid,
                        mca_btl_epshm_component.directory, strerror(error),
                        mca_btl_epshm_segment_advice(error));
    }
}

int mca_btl_epshm_peer_proc_attach(const opal_process_name_t *name, uint64_t stamp, uint64_t size,
                                   epshm_peer_proc_t **peer_proc_p)
{
    epshm_peer_proc_t *peer_proc;
    int error = 0;

    if (name->jobid == OPAL_PROC_MY_NAME.jobid && name->vpid == OPAL_PROC_MY_NAME.vpid) {
        return OPAL_ERR_UNREACH;
    }
    opal_mutex_lock(&peer_procs.lock);
    peer_proc = find_peer_proc(name);
    if (NULL == peer_proc) {
        error = peer_proc_add(name, stamp, size, &peer_proc);
    } else if (stamp != peer_proc->stamp || size != peer_proc->size) {
        error = EINVAL; /* a process has one segment */
    }
    opal_mutex_unlock(&peer_procs.lock);
    if (0 != error) {
        say_not_mapped(name, error);
        return OPAL_ERR_UNREACH;
    }
    *peer_proc_p = peer_proc;
    return OPAL_SUCCESS;
}

epshm_peer_proc_t *mca_btl_epshm_peer_proc_find(const opal_process_name_t *name)
{
    epshm_peer_proc_t *peer_proc;

    opal_mutex_lock(&peer_procs.lock);
    peer_proc = find_peer_proc(name);
    opal_mutex_unlock(&peer_procs.lock);
    return peer_proc;
}

epshm_peer_proc_t *mca_btl_epshm_peer_proc_of(uint32_t number)
{
    epshm_peer_proc_t *peer_proc;

    opal_mutex_lock(&peer_procs.lock);
    peer_proc = find_number(number);
    opal_mutex_unlock(&peer_procs.lock);
    return peer_proc;
}

/** Numbers have 24 bits less one value, 0, in a word; from here on they are of other jobs. */
#define NUMBER_OF_OTHERS UINT32_C(0x800000)

uint32_t mca_btl_epshm_peer_proc_number(const opal_process_name_t *name, uint64_t stamp,
                                        opal_jobid_t job)
{
    /* The stamp is random. Two local peers of other jobs with one number: with the second one no
     * memory is shared. */
    return job == name->jobid ? name->vpid
                              : NUMBER_OF_OTHERS + (uint32_t) (stamp % (NUMBER_OF_OTHERS / 2));
}

bool mca_btl_epshm_peer_proc_is_dead(const epshm_peer_proc_t *peer_proc)
{
    return !mca_btl_epshm_segment_file_is_owned(peer_proc->fd);
}

void mca_btl_epshm_peer_procs_count(int *all_p, int *unreadable_p)
{
    *all_p = *unreadable_p = 0;
    opal_mutex_lock(&peer_procs.lock);
    for (epshm_peer_proc_t *peer_proc = peer_procs.first; NULL != peer_proc;
         peer_proc = peer_proc->next) {
        ++*all_p;
        /* Relaxed: for people. */
        *unreadable_p += NULL == peer_proc->single_copy
                         || atomic_load_explicit(&peer_proc->copy_failed, memory_order_relaxed);
    }
    opal_mutex_unlock(&peer_procs.lock);
}

void mca_btl_epshm_peer_procs_forget(void)
{
    opal_mutex_lock(&peer_procs.lock);
    while (NULL != peer_procs.first) {
        epshm_peer_proc_t *peer_proc = peer_procs.first;

        peer_procs.first = peer_proc->next;
        if (NULL != peer_proc->single_copy && NULL != mca_smsc) {
            MCA_SMSC_CALL(return_endpoint, peer_proc->single_copy);
        }
        (void) munmap(peer_proc->base, peer_proc->size);
        close(peer_proc->fd);
        free(peer_proc);
    }
    opal_mutex_unlock(&peer_procs.lock);
}
