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
 * The files that segments are, and whose they are.
 *
 * A process holds a record lock on its own segment's file for as long as it lives.  That is how the
 * others see that it has ended: the kernel gives the lock up, whatever the end was like, and
 * process ids need not mean the same to all.
 *
 * The launcher removes the files of those that cannot.  Where it is killed itself they stay, so
 * every process that makes a segment first removes those of other jobs that are nobody's any more.
 * Who removes a file holds its lock meanwhile, and who makes one looks, once he has the lock,
 * whether the file still has a name: so nobody loses one that he has made and not yet locked.
 */

#include "opal_config.h"

#include "btl_epshm_node.h"

#include "opal/util/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

/** Attempts to make a file whose name another one has, and microseconds between them: one that is
 * being removed. */
#define FILE_TRIES 50
#define FILE_WAIT 1000

char *mca_btl_epshm_segment_path(const opal_process_name_t *name)
{
    char *path;

    if (0 > asprintf(&path, "%s/epshm.%u.%x.%u", mca_btl_epshm_component.directory,
                     (unsigned int) geteuid(), (unsigned int) name->jobid,
                     (unsigned int) name->vpid)) {
        return NULL;
    }
    return path;
}

bool mca_btl_epshm_segment_file_is_owned(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return 0 != fcntl(fd, F_GETLK, &lock) || F_UNLCK != lock.l_type;
}

/** Tie this process's life to a file.  @return 0; EAGAIN: it is another one's; an error number */
static int own(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat stat;

    if (0 != fcntl(fd, F_SETLK, &lock)) {
        return EACCES == errno ? EAGAIN : errno;
    }
    if (0 != fstat(fd, &stat)) {
        return errno;
    }
    return 0 < stat.st_nlink ? 0 : EAGAIN; /* somebody has found it before it was locked */
}

/** Remove the file of a process that has ended.  @return false: it is there still, and somebody's
 * perhaps */
static bool remove_stale(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct stat stat;
    bool gone;
    int rc;

    if (0 > fd) {
        return ENOENT == errno;
    }
    gone = 0 == fstat(fd, &stat) && S_ISREG(stat.st_mode) && geteuid() == stat.st_uid;
    if (gone) {
        rc = own(fd);
        gone = 0 == rc && (0 == unlink(path) || ENOENT == errno);
    }
    close(fd);
    return gone;
}

int mca_btl_epshm_segment_file_create(const char *path)
{
    for (int i = 0; i < FILE_TRIES; ++i) {
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        int rc;

        if (0 <= fd) {
            rc = own(fd);
            if (0 == rc) {
                return fd;
            }
            if (EAGAIN != rc) {
                (void) unlink(path);
            }
            close(fd);
            if (EAGAIN != rc) {
                errno = rc;
                return -1;
            }
        } else if (EEXIST != errno) {
            return -1;
        } else if (!remove_stale(path)) {
            (void) usleep(FILE_WAIT);
        }
    }
    errno = EEXIST;
    return -1;
}

/** Is this the name of a segment of another job? */
static bool is_of_others(const char *file, opal_process_name_t *name)
{
    unsigned int uid, jobid, vpid;
    char again[64];

    if (3 != sscanf(file, "epshm.%u.%x.%u", &uid, &jobid, &vpid) || geteuid() != uid
        || OPAL_PROC_MY_NAME.jobid == jobid) {
        return false;
    }
    *name = (opal_process_name_t){.jobid = jobid, .vpid = vpid};
    (void) snprintf(again, sizeof(again), "epshm.%u.%x.%u", uid, jobid, vpid);
    return 0 == strcmp(again, file);
}

void mca_btl_epshm_segment_sweep(void)
{
    const struct dirent *file;
    opal_process_name_t name;
    struct statfs statfs_of;
    DIR *folder;
    char *path;

    /* Only where all who use a file are on this node, or their locks might not be seen. */
    if (0 != statfs(mca_btl_epshm_component.directory, &statfs_of)
        || TMPFS_MAGIC != statfs_of.f_type) {
        return;
    }
    folder = opendir(mca_btl_epshm_component.directory);
    if (NULL == folder) {
        return;
    }
    while (NULL != (file = readdir(folder))) {
        if (!is_of_others(file->d_name, &name)) {
            continue;
        }
        path = mca_btl_epshm_segment_path(&name);
        if (NULL != path) {
            (void) remove_stale(path);
            free(path);
        }
    }
    (void) closedir(folder);
}
