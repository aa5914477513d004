/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * What each thread of hdf5_threads.c does: ordinary parallel HDF5, which knows nothing of threads
 * or of endpoints.  All ranks of a communicator write one dataset together, each its row, and read
 * it back.
 */

#include <hdf5.h>
#include <mpi.h>

#include <stdlib.h>

int hdf5_part(MPI_Comm comm, const char *name);

enum { COLUMNS = 50000 };

static int expected(hsize_t row, hsize_t column)
{
    return (int) (row * COLUMNS + column);
}

/* Each rank has a row; all call HDF5 together (H5FD_MPIO_COLLECTIVE). */
static void write_rows(hid_t file, hid_t together, hsize_t ranks, hsize_t rank)
{
    const hsize_t size[2] = {ranks, COLUMNS}, start[2] = {rank, 0}, count[2] = {1, COLUMNS};
    hid_t all = H5Screate_simple(2, size, NULL), mine = H5Screate_simple(2, count, NULL);
    hid_t rows = H5Dcreate(file, "rows", H5T_NATIVE_INT, all, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
    int *row = malloc(COLUMNS * sizeof(*row));

    for (hsize_t i = 0; i < COLUMNS; ++i) {
        row[i] = expected(rank, i);
    }
    H5Sselect_hyperslab(all, H5S_SELECT_SET, start, NULL, count, NULL);
    H5Dwrite(rows, H5T_NATIVE_INT, mine, all, together, row);
    free(row);
    H5Dclose(rows);
    H5Sclose(mine);
    H5Sclose(all);
}

/* Everybody reads everything.  Returns how many values are wrong. */
static int wrong_values(hid_t file, hid_t together, hsize_t ranks)
{
    hid_t rows = H5Dopen(file, "rows", H5P_DEFAULT);
    int *all = calloc(ranks * COLUMNS, sizeof(*all)), wrong = 0;

    H5Dread(rows, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, together, all);
    for (hsize_t row = 0; row < ranks; ++row) {
        for (hsize_t i = 0; i < COLUMNS; ++i) {
            wrong += all[row * COLUMNS + i] != expected(row, i);
        }
    }
    free(all);
    H5Dclose(rows);
    return wrong;
}

int hdf5_part(MPI_Comm comm, const char *name)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), together = H5Pcreate(H5P_DATASET_XFER), file;
    int ranks, rank, wrong;

    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &rank);
    H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);

    file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    write_rows(file, together, (hsize_t) ranks, (hsize_t) rank);
    H5Fclose(file);

    file = H5Fopen(name, H5F_ACC_RDONLY, access);
    wrong = 0 > file ? -1 : wrong_values(file, together, (hsize_t) ranks);
    H5Fclose(file);
    H5Pclose(together);
    H5Pclose(access);
    return wrong;
}
