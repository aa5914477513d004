/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A program that is refused in each of its variants, by how it is compiled or linked.  It would run, by
 * a mistake, without a word.
 *
 * EPT-LIBS: -rdynamic
 *
 * Guards: check.c, decode.c, patch_x86_64.c
 */

#include <mpi.h>

#include <stdio.h>

#if defined(TEST_SANITIZER)
void __asan_init(void);

void __asan_init(void)
{
} /* as clang links it into programs */
#endif

int main(int argc, char **argv)
{
    void *content = NULL;

    MPI_Init(&argc, &argv);
#if defined(TEST_UNKNOWN)
    __asm__("movq ompi_mpi_int(%%rip), %0" : "=r"(content));
#endif
    printf("not refused: %d\n", NULL != content && MPI_INT != MPI_DATATYPE_NULL);
    MPI_Finalize();
    return 0;
}
