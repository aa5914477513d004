/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Locks of parts of a file: atomic mode, and files on NFS.
 *
 * ompio takes POSIX locks, which belong to a process: two endpoints of a process would both get the
 * same lock, and each would release the other's when it unlocks or closes the file.  Open file
 * description locks (F_OFD_SETLKW, Linux) belong to an open file, and each endpoint has opened its
 * own.  Both kinds exclude each other, so processes and endpoints do, too.
 *
 * A nonblocking request holds its lock until some thread has completed it.  A thread that waits for
 * a lock progresses requests meanwhile: the lock may be held by a request that no other thread
 * progresses.  The functions for that are handed in by io.c, which calls this file.
 *
 * Tests: file_atomic
 */

#include "ompi_config.h"

#include "mpiext_endpoints_locks.h"

#if MPIX_ENDPOINTS_FILES

#    include <errno.h>
#    include <time.h>

/** ompio's value for a lock that has not been taken. */
#    define NONE (-1)

/* Written before there are endpoints. */
static bool (*requests_are_busy)(void);
static int (*requests_progress)(void);

void mpix_endpoints_lock_progress(bool (*is_busy)(void), int (*progress)(void))
{
    requests_are_busy = is_busy;
    requests_progress = progress;
}

/** A file system that writes whole blocks atomically needs locks for partial blocks only: from the
 * first to the last one.
 * @return false: there is none */
static bool lock_set_ends(struct flock *lock, const ompio_file_t *file, off_t offset, off_t length)
{
    const off_t block = file->f_fs_block_size, end = offset + length;
    const bool first = 0 != offset % block, last = 0 != end % block;

    if (!first && !last) {
        return false;
    }
    lock->l_start = first ? offset : end - end % block;
    lock->l_len = last ? end - lock->l_start : block - offset % block;
    return true;
}

/** @return false: the operation needs no lock */
static bool lock_set_range(struct flock *lock, const ompio_file_t *file, off_t offset, off_t length,
                           int flags)
{
    if (0 == length) {
        return false;
    }
    if (0 != (file->f_flags & OMPIO_LOCK_ENTIRE_FILE)) {
        lock->l_start = 0;
        lock->l_len = 0; /* to the end of the file */
        return true;
    }
    if (0 != (file->f_flags & (OMPIO_LOCK_NEVER | OMPIO_LOCK_NOT_THIS_OP))) {
        return false;
    }
    if (OMPIO_LOCK_ENTIRE_REGION != flags) {
        return lock_set_ends(lock, file, offset, length);
    }
    lock->l_start = offset;
    lock->l_len = length;
    return true;
}

/** Wait for the lock.  @return as fcntl */
static int lock_wait(struct flock *lock, const ompio_file_t *file)
{
    struct timespec pause = {.tv_nsec = 10000};
    int rc;

    for (;;) {
        /* Without requests this thread may block in the kernel. */
        rc = fcntl(file->fd, requests_are_busy() ? F_OFD_SETLK : F_OFD_SETLKW, lock);
        if (0 == rc || (EAGAIN != errno && EACCES != errno && EINTR != errno)) {
            return rc;
        }
        if (0 == requests_progress()) {
            nanosleep(&pause, NULL);
            pause.tv_nsec += pause.tv_nsec < 500000 ? pause.tv_nsec : 0;
        }
    }
}

int mpix_endpoints_lock(struct flock *lock, ompio_file_t *file, int op, OMPI_MPI_OFFSET_TYPE offset,
                        off_t length, int flags, int *depth)
{
    if (1 < ++*depth) {
        return 0; /* taken already, by an outer call */
    }
    *lock = (struct flock){
        .l_type = (short) op, .l_whence = SEEK_SET, .l_start = NONE, .l_len = NONE};
    return lock_set_range(lock, file, (off_t) offset, length, flags) ? lock_wait(lock, file) : 0;
}

void mpix_endpoints_unlock(struct flock *lock, ompio_file_t *file, int *depth)
{
    if (0 < --*depth || (NONE == lock->l_start && NONE == lock->l_len)) {
        return;
    }
    lock->l_type = F_UNLCK;
    (void) fcntl(file->fd, F_OFD_SETLK, lock);
    lock->l_start = NONE;
    lock->l_len = NONE;
}

#endif
