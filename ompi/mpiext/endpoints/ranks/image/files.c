/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Where copies' files are: in memory, or, with MPIX_RANKS_FILES=1 and where the system forbids
 * memory files (vm.memfd_noexec=2, seccomp), in the launcher's folder for the process, or a temporary one, for as
 * long as the process runs.
 *
 * A memory file's path is /proc/PID/fd/N, which debuggers can open from outside, too.  The dynamic
 * linker tells objects apart by their paths, so all descriptors stay open.  They are not counted
 * against the program's soft limit.
 *
 * Tests: ranks_memory, ranks_library (files, no_memory), install/ranks_refused
 */

#define _GNU_SOURCE

#include "copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

/** Descriptors are taken from here on, where the limit lets them be: what is below is the program's,
 * which may use select.  It needs some at least, as MPI does. */
enum { FIRST_DESCRIPTOR = 1024, PROGRAM_DESCRIPTORS = 64 };

bool mpix_ranks_copy_are_files(void)
{
    static int are_files = -1;

    if (are_files < 0) {
        are_files = mpix_ranks_is_asked("MPIX_RANKS_FILES");
    }
    return are_files;
}

static int create_in_memory(const char *label)
{
    int file = memfd_create(label, MFD_CLOEXEC | MFD_EXEC), higher;

    if (file < 0 && EINVAL == errno) {
        file = memfd_create(label, MFD_CLOEXEC);
    }
    higher = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
    if (0 <= higher) {
        (void) close(file);
        file = higher;
    }
    return file;
}

/** Let the kernel's table of descriptors be as long as it will be.  In a process that has several
 * threads it takes some 10 ms to grow. */
static void grow_table(rlim_t descriptors)
{
    const int file = create_in_memory("table");
    const int last = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, (int) descriptors - 1);

    if (0 <= file) {
        (void) close(file);
    }
    if (0 <= last) {
        (void) close(last);
    }
}

const char *mpix_ranks_copy_reserve(size_t count)
{
    struct rlimit limit;
    rlim_t need;

    if (mpix_ranks_copy_are_files() || 0 != getrlimit(RLIMIT_NOFILE, &limit)) {
        return NULL;
    }
    if (count + PROGRAM_DESCRIPTORS > limit.rlim_max) {
        return "too many open files: raise the hard limit (ulimit -Hn), or set MPIX_RANKS_FILES=1";
    }
    need = (limit.rlim_cur < FIRST_DESCRIPTOR ? limit.rlim_cur : FIRST_DESCRIPTOR) + count;
    need = need < limit.rlim_max ? need : limit.rlim_max;
    if (need > limit.rlim_cur) {
        limit.rlim_cur = need;
        if (0 != setrlimit(RLIMIT_NOFILE, &limit)) {
            return strerror(errno);
        }
    }
    grow_table(need);
    return NULL;
}

static bool make_folder_in(const char *parent)
{
    if (NULL != parent && '/' == *parent
        && snprintf(files.folder, sizeof(files.folder), "%s/mpix-ranks.XXXXXX", parent)
               < (int) sizeof(files.folder)
        && NULL != mkdtemp(files.folder)) {
        return true;
    }
    files.folder[0] = '\0';
    return false;
}

/** The launcher's folder for the process goes with the job, however that ends. */
static bool make_folder(void)
{
    return '\0' != files.folder[0] || make_folder_in(getenv("OMPI_FILE_LOCATION"))
           || make_folder_in(getenv("TMPDIR")) || make_folder_in("/tmp");
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

bool mpix_ranks_copy_is_file(void)
{
    return '\0' != files.folder[0];
}

int mpix_ranks_copy_create(const char *label, char *path, size_t path_size)
{
    if (!mpix_ranks_copy_are_files()) {
        const int file = create_in_memory(label);

        if (file >= 0) {
            (void) snprintf(path, path_size, "/proc/%ld/fd/%d", (long) getpid(), file);
            return file;
        }
    }
    return create_in_folder(label, path, path_size);
}

/** Also where the process ends by exit without a word to this layer. */
__attribute__((destructor)) static void remove_files(void)
{
    mpix_ranks_copy_remove_files();
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

bool mpix_ranks_copy_write(int file, const char *bytes, size_t size, size_t offset)
{
    while (0 != size) {
        const ssize_t written = pwrite(file, bytes, size, (off_t) offset);

        if (written < 0 && EINTR == errno) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        bytes += written;
        size -= (size_t) written;
        offset += (size_t) written;
    }
    return true;
}
