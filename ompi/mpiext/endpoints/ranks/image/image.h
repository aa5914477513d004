/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Layer image of libmpix_ranks: a copy of the executable, and of libraries that have state, for each
 * rank.  It knows ELF and the dynamic linker, and of MPI only which names are its objects'.
 */

#ifndef MPIX_RANKS_IMAGE_H
#define MPIX_RANKS_IMAGE_H

#include "../base/base.h"

#include <stdio.h>

/**
 * Is the running executable an MPI program (one that needs libmpi, by itself or by a library)?
 * Anything else (a shell, env, perf) runs as it is, and what it starts may be one.
 */
bool mpix_ranks_image_is_mpi(void);

/** Before libc starts an MPI program: its constructors and destructors are kept for
 * mpix_ranks_image_construct and _destruct, as they may use MPI_COMM_WORLD. */
void mpix_ranks_image_defer(void);

/**
 * Before MPI begins, in the first thread: read the executable and its libraries, decide which
 * libraries are private, and refuse (mpix_ranks_refuse) what cannot be copied.  May start the process
 * anew (exec) with what only the dynamic linker's start can give, as room for thread-local storage.
 */
void mpix_ranks_image_check(int ranks, char **argv);

/** In the first thread, one rank after the other, in order of index, with world and self set: map
 * the rank's copy, bind it, and store handles.  Ends the job if that fails. */
void mpix_ranks_image_load(mpix_rank_t *rank);

/** In each thread of the rank, before anything of the rank runs in it: first values of thread-local
 * variables of the executable. */
void mpix_ranks_image_enter(mpix_rank_t *rank);

/** In the rank's thread, before main: constructors of its private libraries and of its copy.  (Those
 * of index 0's libraries have run already.) */
void mpix_ranks_image_construct(mpix_rank_t *rank, int argc, char **argv, char **envp);

/** The rank's main, by that of the executable. */
mpix_ranks_main_t *mpix_ranks_image_main(mpix_rank_t *rank, mpix_ranks_main_t *executables);

/** In the rank's thread, after main or exit: what atexit has registered from the rank's copy, and
 * its destructors, then those of its private libraries. */
void mpix_ranks_image_destruct(mpix_rank_t *rank);

/** The rank's own of libc's variables: optarg, optind, opterr, optopt, stdin, stdout, stderr,
 * environ, program_invocation_name and _short_name.  What the rank's objects find under that name.
 * For index 0 it is libc's own.  NULL: another name. */
void *mpix_ranks_image_variable(mpix_rank_t *rank, const char *name);

/** Say what is copied, and why; after mpix_ranks_image_check. */
MPIX_RANKS_EXPORT void mpix_ranks_image_describe(FILE *stream);

/** Before the process ends other than by exit: remove files of copies. */
void mpix_ranks_image_end(void);

#endif /* MPIX_RANKS_IMAGE_H */
