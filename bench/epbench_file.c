/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Files: all workers write or read 64 MiB of one file together, each its part.  The size of a point
 * is that of the blocks that are dealt to the workers in turn, as by a vector filetype; with 0 a
 * part is contiguous.  What is timed is the system's memory for files, not the disk: nothing is
 * synced, and after the first iteration the file is there.
 *
 * A file is deleted as soon as all have opened it: whatever happens, none stays.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epbench.h"

#define TOTAL ((size_t) 64 << 20)

/** A worker's view of the file of the point. */
struct epbench_file_t {
    MPI_File handle;
    unsigned char *part;
    int bytes; /**< of the part */
    MPI_Offset start;
};

static void *memory(size_t bytes)
{
    void *new = NULL;

    if (0 != posix_memalign(&new, (size_t) 2 << 20, bytes)) {
        epbench_fail("no memory for %zu bytes of a file", bytes);
    }
    memset(new, 0, bytes);
    return new;
}

/** The view: every size-th block, from the worker's first one on. */
static void set_view(const epbench_worker_t *worker, struct epbench_file_t *file, size_t block)
{
    const MPI_Aint extent = (MPI_Aint) block * worker->size;
    MPI_Datatype whole, type;

    MPI_Type_contiguous((int) block, MPI_BYTE, &whole);
    MPI_Type_create_resized(whole, 0, extent, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(file->handle, (MPI_Offset) block * worker->rank, MPI_BYTE, type, "native",
                      MPI_INFO_NULL);
    MPI_Type_free(&type);
    MPI_Type_free(&whole);
}

/** @param[in] variable  of the environment: names the folder */
static void open_file(epbench_worker_t *worker, const epbench_point_t *point, const char *variable)
{
    struct epbench_file_t *file = memory(sizeof(*file));
    const char *folder = getenv(variable);
    char name[4096];

    snprintf(name, sizeof(name), "%s/epbench-file", NULL == folder ? "/dev/shm" : folder);
    file->bytes = (int) (TOTAL / (size_t) worker->size);
    if (0 < point->size) {
        file->bytes -= file->bytes % (int) point->size;
    }
    file->part = memory((size_t) file->bytes);
    epbench_fill(file->part, (size_t) file->bytes, worker->rank);
    if (MPI_SUCCESS
        != MPI_File_open(worker->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                         &file->handle)) {
        epbench_fail("cannot open %s", name);
    }
    if (0 < point->size) {
        set_view(worker, file, point->size);
    } else {
        file->start = (MPI_Offset) file->bytes * worker->rank;
    }
    epbench_team_sync(worker);
    if (0 == worker->rank) {
        (void) unlink(name);
    }
    MPI_File_write_at(file->handle, file->start, file->part, file->bytes, MPI_BYTE,
                      MPI_STATUS_IGNORE);
    worker->file = file;
}

static void prepare_in_memory(epbench_worker_t *worker, const epbench_point_t *point)
{
    open_file(worker, point, "EPBENCH_TMPFS");
}

static void prepare_on_disk(epbench_worker_t *worker, const epbench_point_t *point)
{
    open_file(worker, point, "EPBENCH_DISK");
}

/** Reads the part by itself, whatever was measured. */
static size_t check(epbench_worker_t *worker, const epbench_point_t *point)
{
    struct epbench_file_t *file = worker->file;
    size_t wrong = epbench_compare(file->part, (size_t) file->bytes, worker->rank);

    (void) point;
    epbench_team_sync(worker); /* all have written */
    memset(file->part, 0, (size_t) file->bytes);
    MPI_File_read_at(file->handle, file->start, file->part, file->bytes, MPI_BYTE,
                     MPI_STATUS_IGNORE);
    wrong += epbench_compare(file->part, (size_t) file->bytes, worker->rank);
    MPI_File_close(&file->handle);
    free(file->part);
    free(file);
    worker->file = NULL;
    return wrong;
}

static double value_all(const epbench_worker_t *worker, const epbench_point_t *point, long n,
                        epbench_elapsed_t elapsed)
{
    (void) point;
    return (double) worker->file->bytes * worker->size * (double) n / elapsed.longest / 1e9;
}

/** Defines the block of a call. */
#define BLOCK(name, call)                                                                          \
    static void block_##name(epbench_worker_t *worker, const epbench_point_t *point, long n)       \
    {                                                                                              \
        struct epbench_file_t *file = worker->file;                                                \
                                                                                                   \
        (void) point;                                                                              \
        for (long i = 0; i < n; ++i) {                                                             \
            call(file->handle, file->start, file->part, file->bytes, MPI_BYTE, MPI_STATUS_IGNORE); \
        }                                                                                          \
    }

BLOCK(write, MPI_File_write_at)
BLOCK(read, MPI_File_read_at)
BLOCK(writeall, MPI_File_write_at_all)
BLOCK(readall, MPI_File_read_at_all)

/** An entry of the table. */
#define MEASURE(what, in, where)                                                                 \
    {                                                                                            \
        .name = in #what, .unit = "GB/s", .higher_is_better = true, .needs = EPBENCH_COLLECTIVE, \
        .prepare = prepare_##where, .block = block_##what, .check = check, .value = value_all    \
    }

const epbench_measure_t epbench_file_measures[] = {
    MEASURE(write, "m", in_memory),
    MEASURE(read, "m", in_memory),
    MEASURE(writeall, "m", in_memory),
    MEASURE(readall, "m", in_memory),
    MEASURE(write, "d", on_disk),
    MEASURE(read, "d", on_disk),
    MEASURE(writeall, "d", on_disk),
    MEASURE(readall, "d", on_disk),
    {.name = NULL},
};
