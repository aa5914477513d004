/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Where copies' files are: in memory, or, with MPIX_RANKS_FILES=1 and where the system forbids to run
 * memory files (vm.memfd_noexec=2), in a temporary folder, for as long as the process runs.
 *
 * A memory file's path is /proc/PID/fd/N, which debuggers can open from outside, too.  The dynamic
 * linker tells objects apart by their paths, so all descriptors stay open.
 *
 * Tests: ranks_files
 */

#define _GNU_SOURCE

#include "copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_EXEC /* Linux 6.3 */
#    define MFD_EXEC 0x0010U
#endif

/** Files that have been made, to be removed. */
static struct {
    char folder[MPIX_RANKS_NAME_SIZE / 2];
    char **paths;
    int count;
} files;

static int create_in_memory(const char *label)
{
    int file = memfd_create(label, MFD_CLOEXEC | MFD_EXEC);

    if (file < 0 && EINVAL == errno) {
        file = memfd_create(label, MFD_CLOEXEC);
    }
    return file;
}

static bool make_folder(void)
{
    const char *parent = getenv("TMPDIR");
    int length;

    if ('\0' != files.folder[0]) {
        return true;
    }
    parent = NULL == parent || '/' != *parent ? "/tmp" : parent;
    length = snprintf(files.folder, sizeof(files.folder), "%s/mpix-ranks.XXXXXX", parent);
    if (length < (int) sizeof(files.folder) && NULL != mkdtemp(files.folder)) {
        return true;
    }
    files.folder[0] = '\0';
    return false;
}

static int create_in_folder(const char *label, char *path, size_t path_size)
{
    char **paths = NULL;
    int file = -1;

    if (!make_folder()) {
        return -1;
    }
    if (snprintf(path, path_size, "%s/%d-%s", files.folder, files.count, label)
        >= (int) path_size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    paths = realloc(files.paths, (size_t) (files.count + 1) * sizeof(*paths));
    if (NULL == paths) {
        return -1;
    }
    files.paths = paths;
    paths[files.count] = strdup(path);
    if (NULL != paths[files.count]) {
        file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
        files.count += file >= 0;
    }
    return file;
}

int mpix_ranks_copy_create(const char *label, char *path, size_t path_size)
{
    const char *wanted = getenv("MPIX_RANKS_FILES");

    if (NULL == wanted || 0 == strcmp(wanted, "0")) {
        const int file = create_in_memory(label);

        if (file >= 0) {
            (void) snprintf(path, path_size, "/proc/%ld/fd/%d", (long) getpid(), file);
            return file;
        }
        if (EACCES != errno) {
            return -1;
        }
    }
    return create_in_folder(label, path, path_size);
}

void mpix_ranks_copy_remove_files(void)
{
    for (int i = 0; i < files.count; ++i) {
        (void) unlink(files.paths[i]);
        free(files.paths[i]);
    }
    free(files.paths);
    files.paths = NULL;
    files.count = 0;
    if ('\0' != files.folder[0]) {
        (void) rmdir(files.folder);
        files.folder[0] = '\0';
    }
}
