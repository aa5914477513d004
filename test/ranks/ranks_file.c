/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Files of a program that knows nothing of endpoints: one for all by MPI_COMM_WORLD, with views and
 * collective calls, one for each by MPI_COMM_SELF, and the C library's own.
 *
 * Guards: ranks/image, ranks/mpi
 */

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 1000 };

static char folder[512];

static const char *name_of(const char *what)
{
    static char name[600];

    snprintf(name, sizeof(name), "%s/ranks_file.%s", folder, what);
    return name;
}

static void check_world(void)
{
    const int rank = ranks_rank(), size = ranks_size();
    static int data[COUNT], got[COUNT];
    MPI_Datatype every;
    MPI_Offset bytes;
    MPI_File file;
    int wrong = 0;

    for (int i = 0; i < COUNT; ++i) {
        data[i] = rank + size * i;
    }
    CHECK(MPI_SUCCESS == MPI_File_open(MPI_COMM_WORLD, name_of("world"),
                                       MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                                       MPI_INFO_NULL, &file));
    MPI_Type_vector(COUNT, 1, size, MPI_INT, &every);
    MPI_Type_commit(&every);
    MPI_File_set_view(file, (MPI_Offset) (rank * (int) sizeof(int)), MPI_INT, every, "native",
                      MPI_INFO_NULL);
    MPI_File_write_all(file, data, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &bytes);
    CHECK((MPI_Offset) sizeof(int) * COUNT * size == bytes);
    MPI_File_read_at(file, 0, got, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; ++i) {
        wrong += i != got[i];
    }
    CHECK(0 == wrong);
    MPI_Type_free(&every);
    MPI_File_close(&file);
    CHECK(MPI_FILE_NULL == file);
    ranks_case("a file of all ranks");
}

static void check_self(void)
{
    const int rank = ranks_rank();
    char what[16], text[16] = "";
    MPI_File file;

    snprintf(what, sizeof(what), "self%d", rank);
    CHECK(MPI_SUCCESS == MPI_File_open(MPI_COMM_SELF, name_of(what),
                                       MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                                       MPI_INFO_NULL, &file));
    MPI_File_write(file, what, (int) strlen(what) + 1, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_read(file, text, (int) strlen(what) + 1, MPI_CHAR, MPI_STATUS_IGNORE);
    CHECK(0 == strcmp(what, text));
    MPI_File_close(&file);
    ranks_case("a file of each rank");
}

static void check_stdio(void)
{
    const int rank = ranks_rank();
    char what[16];
    FILE *file;
    int wrong = 0, number, line;

    snprintf(what, sizeof(what), "stdio%d", rank);
    file = fopen(name_of(what), "w+");
    CHECK(NULL != file);
    for (int i = 0; i < COUNT; ++i) {
        fprintf(file, "%d %d\n", rank, i);
    }
    rewind(file);
    for (int i = 0; i < COUNT; ++i) {
        wrong += 2 != fscanf(file, "%d %d", &number, &line) || rank != number || i != line;
    }
    CHECK(0 == wrong);
    fclose(file);
    CHECK(0 == unlink(name_of(what)));
    ranks_case("the C library's files");
}

int main(int argc, char **argv)
{
    const char *temporary = getenv("TMPDIR");

    MPI_Init(&argc, &argv);
    snprintf(folder, sizeof(folder), "%s", NULL == temporary ? "/tmp" : temporary);
    check_world();
    check_self();
    check_stdio();
    return ranks_end();
}
