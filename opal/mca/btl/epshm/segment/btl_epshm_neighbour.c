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
#include "btl_epshm_neighbour.h"
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
    epshm_neighbour_t *first; /**< the youngest */
} neighbours = {.lock = OPAL_MUTEX_STATIC_INIT};

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
static void find_single_copy(epshm_neighbour_t *neighbour)
{
    opal_proc_t *proc = NULL != mca_smsc && mca_btl_epshm_component.single_copy
                            ? opal_proc_for_name(neighbour->name)
                            : NULL;

    atomic_init(&neighbour->copy_failed, false);
    atomic_init(&neighbour->proven_ns, 0);
    neighbour->single_copy = NULL != proc ? MCA_SMSC_CALL(get_endpoint, proc) : NULL;
}

/** Map a file that has been opened.
 * @param[out] neighbour_p  set on success
 * @return 0 or an error number; EINVAL: it is not what it should be */
static int neighbour_new(int fd, const opal_process_name_t *name, uint64_t stamp, uint64_t size,
                         epshm_neighbour_t **neighbour_p)
{
    epshm_neighbour_t *neighbour = calloc(1, sizeof(*neighbour));
    const epshm_segment_header_t *header;
    int rc = file_check(fd, size);

    if (NULL == neighbour || 0 != rc) {
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
    neighbour->name = *name;
    neighbour->number = mca_btl_epshm_neighbour_number(name, stamp, OPAL_PROC_MY_NAME.jobid);
    neighbour->stamp = stamp;
    neighbour->base = (unsigned char *) header;
    neighbour->size = size;
    neighbour->used = &header->used;
    neighbour->fd = fd;
    neighbour->proof = header->proof;
    find_single_copy(neighbour);
    *neighbour_p = neighbour;
    return 0;

err_free:
    free(neighbour);
    return rc;
}

/** Under the lock. */
static epshm_neighbour_t *find_neighbour(const opal_process_name_t *name)
{
    epshm_neighbour_t *neighbour = neighbours.first;

    while (NULL != neighbour
           && (neighbour->name.vpid != name->vpid || neighbour->name.jobid != name->jobid)) {
        neighbour = neighbour->next;
    }
    return neighbour;
}

/** Under the lock. */
static epshm_neighbour_t *find_number(uint32_t number)
{
    epshm_neighbour_t *neighbour = neighbours.first;

    while (NULL != neighbour && number != neighbour->number) {
        neighbour = neighbour->next;
    }
    return neighbour;
}

/** Open and map.  Under the lock.  @return 0 or an error number */
static int neighbour_add(const opal_process_name_t *name, uint64_t stamp, uint64_t size,
                         epshm_neighbour_t **neighbour_p)
{
    char *path;
    int fd, rc;

    if (NULL != find_number(mca_btl_epshm_neighbour_number(name, stamp, OPAL_PROC_MY_NAME.jobid))) {
        return EEXIST;
    }
    path = mca_btl_epshm_segment_path(name, stamp);
    if (NULL == path) {
        return ENOMEM;
    }
    fd = mca_btl_epshm_segment_file_open(AT_FDCWD, path);
    rc = 0 <= fd ? neighbour_new(fd, name, stamp, size, neighbour_p) : errno;
    free(path);
    if (0 == rc) {
        (*neighbour_p)->next = neighbours.first;
        neighbours.first = *neighbour_p;
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

int mca_btl_epshm_neighbour_attach(const opal_process_name_t *name, uint64_t stamp, uint64_t size,
                                   epshm_neighbour_t **neighbour_p)
{
    epshm_neighbour_t *neighbour;
    int error = 0;

    if (name->jobid == OPAL_PROC_MY_NAME.jobid && name->vpid == OPAL_PROC_MY_NAME.vpid) {
        return OPAL_ERR_UNREACH;
    }
    opal_mutex_lock(&neighbours.lock);
    neighbour = find_neighbour(name);
    if (NULL == neighbour) {
        error = neighbour_add(name, stamp, size, &neighbour);
    } else if (stamp != neighbour->stamp || size != neighbour->size) {
        error = EINVAL; /* a process has one segment */
    }
    opal_mutex_unlock(&neighbours.lock);
    if (0 != error) {
        say_not_mapped(name, error);
        return OPAL_ERR_UNREACH;
    }
    *neighbour_p = neighbour;
    return OPAL_SUCCESS;
}

epshm_neighbour_t *mca_btl_epshm_neighbour_find(const opal_process_name_t *name)
{
    epshm_neighbour_t *neighbour;

    opal_mutex_lock(&neighbours.lock);
    neighbour = find_neighbour(name);
    opal_mutex_unlock(&neighbours.lock);
    return neighbour;
}

epshm_neighbour_t *mca_btl_epshm_neighbour_of(uint32_t number)
{
    epshm_neighbour_t *neighbour;

    opal_mutex_lock(&neighbours.lock);
    neighbour = find_number(number);
    opal_mutex_unlock(&neighbours.lock);
    return neighbour;
}

/** Numbers have 24 bits less one value, 0, in a word; from here on they are of other jobs. */
#define NUMBER_OF_OTHERS UINT32_C(0x800000)

uint32_t mca_btl_epshm_neighbour_number(const opal_process_name_t *name, uint64_t stamp,
                                        opal_jobid_t job)
{
    /* The stamp is random. Two neighbours of other jobs with one number: with the second one no
     * memory is shared. */
    return job == name->jobid ? name->vpid
                              : NUMBER_OF_OTHERS + (uint32_t) (stamp % (NUMBER_OF_OTHERS / 2));
}

bool mca_btl_epshm_neighbour_is_dead(const epshm_neighbour_t *neighbour)
{
    return !mca_btl_epshm_segment_file_is_owned(neighbour->fd);
}

void mca_btl_epshm_neighbours_count(int *all_p, int *unreadable_p)
{
    *all_p = *unreadable_p = 0;
    opal_mutex_lock(&neighbours.lock);
    for (epshm_neighbour_t *neighbour = neighbours.first; NULL != neighbour;
         neighbour = neighbour->next) {
        ++*all_p;
        /* Relaxed: for people. */
        *unreadable_p += NULL == neighbour->single_copy
                         || atomic_load_explicit(&neighbour->copy_failed, memory_order_relaxed);
    }
    opal_mutex_unlock(&neighbours.lock);
}

void mca_btl_epshm_neighbours_forget(void)
{
    opal_mutex_lock(&neighbours.lock);
    while (NULL != neighbours.first) {
        epshm_neighbour_t *neighbour = neighbours.first;

        neighbours.first = neighbour->next;
        if (NULL != neighbour->single_copy && NULL != mca_smsc) {
            MCA_SMSC_CALL(return_endpoint, neighbour->single_copy);
        }
        (void) munmap(neighbour->base, neighbour->size);
        close(neighbour->fd);
        free(neighbour);
    }
    opal_mutex_unlock(&neighbours.lock);
}
