/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* What build.t compiles in every way there is, as C and as C++: has it the right header, and does
 * the library stand before libmpi?  That is where MPIX_COMM_TYPE_ADDRESS_SPACE is known. */

/**
 * @file
 *
 * Spawns itself; the child prints the processors that it may use, as Linux lists them.  For install/binding.
 */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void print_processors(void)
{
    static const char name[] = "Cpus_allowed_list:\t";
    FILE *status = fopen("/proc/self/status", "r");
    char line[1024];

    while (NULL != status && NULL != fgets(line, sizeof(line), status)) {
        if (0 == strncmp(line, name, sizeof(name) - 1)) {
            fputs(line + sizeof(name) - 1, stdout);
        }
    }
    if (NULL != status) {
        fclose(status);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm other;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&other);
    if (MPI_COMM_NULL != other) {
        print_processors();
    } else {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                       MPI_ERRCODES_IGNORE);
    }
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return 0;
}
