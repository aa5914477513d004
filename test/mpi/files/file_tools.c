/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the tests of files have in common.  Files are made in TMPDIR, or /tmp.
 */

#include "file_tools.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

void file_name(MPI_Comm comm, struct ept *t, const char *what, char name[FILE_NAME_MAX])
{
    static _Atomic int number;
    const char *folder = getenv("TMPDIR");
    int rank;

    MPI_Comm_rank(comm, &rank);
    if (0 == rank) {
        snprintf(name, FILE_NAME_MAX, "%s/ept-%s-%ld-%d", NULL == folder ? "/tmp" : folder, what,
                 (long) getpid(), atomic_fetch_add(&number, 1));
        unlink(name);
    }
    EPT_OK(t, MPI_Bcast(name, FILE_NAME_MAX, MPI_CHAR, 0, comm));
}

MPI_File file_create(MPI_Comm comm, struct ept *t, const char *name, int more)
{
    MPI_File file = MPI_FILE_NULL;

    EPT_OK(t,
           MPI_File_open(comm, name, MPI_MODE_RDWR | MPI_MODE_CREATE | more, MPI_INFO_NULL, &file));
    return file;
}

long long file_size(const char *name)
{
    struct stat stat_of;

    return 0 == stat(name, &stat_of) ? (long long) stat_of.st_size : -1;
}

void file_remove(MPI_Comm comm, const char *name)
{
    int rank;

    MPI_Barrier(comm);
    MPI_Comm_rank(comm, &rank);
    if (0 == rank) {
        unlink(name);
    }
    MPI_Barrier(comm);
}

unsigned char *file_bytes(const char *name, size_t *size_p)
{
    FILE *stream = fopen(name, "rb");
    unsigned char *bytes = NULL;
    const long long size = file_size(name);

    if (NULL != stream && 0 <= size && NULL != (bytes = malloc((size_t) size + 1))) {
        *size_p = fread(bytes, 1, (size_t) size, stream);
    }
    if (NULL != stream) {
        fclose(stream);
    }
    return bytes;
}
