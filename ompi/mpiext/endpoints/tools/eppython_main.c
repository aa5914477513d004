/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * eppython_main PYTHON LIBRARY [ARGUMENT]...: what the script eppython starts.  It needs MPI, so epmpirun
 * -ranks gives each rank a copy of it, and of Python's library, which it opens.
 *
 * The arguments are those of Python; PYTHON is the path by which it finds its modules.
 *
 * Tests: install/python
 */

#define _GNU_SOURCE

#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int (*run)(int, char **), version, subversion;
    void *python;

    if (argc < 3) {
        (void) fprintf(stderr, "usage: eppython [ARGUMENT]... (Python's)\n");
        return 2;
    }
    /* The program needs libmpi because it calls it. */
    (void) MPI_Get_version(&version, &subversion);
    /* Modules find the interpreter's symbols in the program. */
    python = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL);
    *(void **) &run = NULL != python ? dlsym(python, "Py_BytesMain") : NULL;
    if (NULL == run) {
        (void) fprintf(stderr,
                       "eppython: %s\neppython: Python needs its shared library (Debian: "
                       "libpython3.13 and its like; others: configure --enable-shared)\n",
                       dlerror());
        return 1;
    }
    argv[2] = argv[1];
    return run(argc - 2, argv + 2);
}
