/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The files that segments are, and whose they are.
 *
 * A process holds a record lock on its own segment's file for as long as it lives.  That is how the
 * others see that it has ended: the kernel gives the lock up, whatever the end was like, and
 * process ids need not mean the same to all.
 *
 * The launcher removes the files of processes that cannot.  If the launcher is killed itself the
 * files stay, so each process that makes a segment first removes unused ones of other jobs.  The
 * removing process holds the lock of the file meanwhile.  The creating process checks, once it has
 * the lock, that the file still has a name: so no process loses a file that it has created and not
 * yet locked.
 *
 * The folder is writable by all users.  Names have a random part, which the other processes of the
 * job learn with the address, so that no other user can take one beforehand; a file of another user
 * is neither opened nor followed, whatever its name is.
 *
 * Tests: unit/test_epshm_files, unit/test_epshm_folder, strangers
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epshm_segment_file.h"

#include "opal/util/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

/** Names that are looked at for what other jobs have left: another user may have put any number of
 * files there, which must not cause a wait. */
#define SWEEP_NAMES_MOST 20000

/** Attempts to open a file of several: another job may have taken it for one that was left. */
#define SHARE_TRIES 1000

/** What names of segments look like: user, job, process, and the random number that makes it a name
 * that no other file can have. */
#define NAME_FORMAT "epshm.%u.%x.%u.%016" PRIx64
#define NAME_SIZE 80

char *mca_btl_epshm_segment_path(const opal_process_name_t *name, uint64_t stamp)
{
    char *path;

    if (0 > asprintf(&path, "%s/" NAME_FORMAT, mca_btl_epshm_component.directory,
                     (unsigned int) geteuid(), (unsigned int) name->jobid,
                     (unsigned int) name->vpid, stamp)) {
        return NULL;
    }
    return path;
}

static bool is_ours(const struct stat *stat)
{
    return S_ISREG(stat->st_mode) && geteuid() == stat->st_uid;
}

int mca_btl_epshm_segment_file_open(int folder, const char *path)
{
    struct stat named, opened;
    int fd;

    /* Checked before it is opened: opening a file of another user may block as long as that user
     * likes (a lease, a FIFO, a link to anything).  The open does not wait if the file is replaced
     * meanwhile. */
    if (0 != fstatat(folder, path, &named, AT_SYMLINK_NOFOLLOW)) {
        return -1;
    }
    if (!is_ours(&named)) {
        errno = EPERM;
        return -1;
    }
    fd = openat(folder, path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (0 <= fd && (0 != fstat(fd, &opened) || !is_ours(&opened))) {
        close(fd);
        errno = EPERM;
        return -1;
    }
    return fd;
}

bool mca_btl_epshm_segment_file_is_owned(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return 0 != fcntl(fd, F_GETLK, &lock) || F_UNLCK != lock.l_type;
}

/** Tie this process's life to a file.  @return 0; EAGAIN: it is another one's; an error number */
static int segment_file_own(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat stat;

    if (0 != fcntl(fd, F_SETLK, &lock)) {
        return EACCES == errno ? EAGAIN : errno;
    }
    if (0 != fstat(fd, &stat)) {
        return errno;
    }
    return 0 < stat.st_nlink ? 0 : EAGAIN; /* another process has found it before it was locked */
}

/** Remove the file of a process that has ended, if it is one. */
static void remove_stale(int folder, const char *name)
{
    int fd = mca_btl_epshm_segment_file_open(folder, name);

    if (0 > fd) {
        return;
    }
    if (0 == segment_file_own(fd)) {
        (void) unlinkat(folder, name, 0);
    }
    close(fd);
}

int mca_btl_epshm_segment_file_create(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int rc;

    if (0 > fd) {
        return -1;
    }
    rc = segment_file_own(fd);
    if (0 == rc) {
        return fd;
    }
    if (EAGAIN != rc) {
        (void) unlink(path);
    }
    close(fd);
    errno = EAGAIN == rc ? EEXIST : rc; /* another job has taken it for one that was left */
    return -1;
}

/** Say that this process has an open file, as others may.  @return as own */
static int segment_file_hold(int fd)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    struct stat stat;

    if (0 != fcntl(fd, F_SETLK, &lock)) {
        return EACCES == errno ? EAGAIN : errno; /* another process is about to remove it */
    }
    if (0 != fstat(fd, &stat)) {
        return errno;
    }
    return 0 < stat.st_nlink ? 0 : EAGAIN;
}

/** Give a file that is new its size, and memory to the first bytes.  Several may be at it, to the
 * same end.
 * @return 0 or an error number */
static int give_size(int fd, uint64_t size, uint64_t filled)
{
    struct rlimit limit;
    struct stat stat;
    int rc;

    if (0 == getrlimit(RLIMIT_FSIZE, &limit) && RLIM_INFINITY != limit.rlim_cur
        && limit.rlim_cur < size) {
        return EFBIG; /* to try would end the process (SIGXFSZ) */
    }
    if (0 != fstat(fd, &stat)) {
        return errno;
    }
    if (0 != stat.st_size && size != (uint64_t) stat.st_size) {
        return EINVAL;
    }
    /* The size first: another process must not find a file of less. */
    while (filled < size && 0 != ftruncate(fd, (off_t) size)) {
        if (EINTR != errno) {
            return errno;
        }
    }
    do {
        rc = posix_fallocate(fd, 0, (off_t) filled);
    } while (EINTR == rc);
    return rc;
}

int mca_btl_epshm_segment_file_share(const char *path, uint64_t size, uint64_t filled)
{
    int rc = EAGAIN;

    for (int i = 0; i < SHARE_TRIES && EAGAIN == rc; ++i) {
        int fd = open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0600);
        struct stat stat;

        if (0 > fd) {
            return -1;
        }
        rc = 0 != fstat(fd, &stat) ? errno : is_ours(&stat) ? segment_file_hold(fd) : EPERM;
        rc = 0 == rc ? give_size(fd, size, filled) : rc;
        if (0 == rc) {
            return fd;
        }
        close(fd);
        if (EAGAIN == rc) {
            sched_yield();
        }
    }
    errno = rc;
    return -1;
}

/** Is this the name of a segment of another job? */
static bool is_of_others(const char *file)
{
    unsigned int uid, jobid, vpid;
    char again[NAME_SIZE];
    uint64_t stamp;

    if (4 != sscanf(file, "epshm.%u.%x.%u.%" SCNx64, &uid, &jobid, &vpid, &stamp)
        || geteuid() != uid || OPAL_PROC_MY_NAME.jobid == jobid) {
        return false;
    }
    (void) snprintf(again, sizeof(again), NAME_FORMAT, uid, jobid, vpid, stamp);
    return 0 == strcmp(again, file);
}

void mca_btl_epshm_segment_sweep(void)
{
    const struct dirent *file;
    struct statfs statfs_of;
    DIR *folder;

    /* Only where all processes that use a file are on this node: elsewhere its locks might not be
     * seen. */
    if (0 != statfs(mca_btl_epshm_component.directory, &statfs_of)
        || TMPFS_MAGIC != statfs_of.f_type) {
        return;
    }
    folder = opendir(mca_btl_epshm_component.directory);
    if (NULL == folder) {
        return;
    }
    for (int i = 0; i < SWEEP_NAMES_MOST && NULL != (file = readdir(folder)); ++i) {
        if (is_of_others(file->d_name)) {
            remove_stale(dirfd(folder), file->d_name);
        }
    }
    (void) closedir(folder);
}
