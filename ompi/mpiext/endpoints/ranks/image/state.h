/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the layer knows of the process, and of each rank.
 */

#ifndef MPIX_RANKS_STATE_H
#define MPIX_RANKS_STATE_H

#include "copy.h"
#include "private_libraries.h"

typedef struct mpix_ranks_opened_t mpix_ranks_opened_t;   /* open.h */
typedef struct mpix_ranks_handler_t mpix_ranks_handler_t; /* at_exit.c */

/** A rank's copies. */
typedef struct mpix_rank_image_t {
    mpix_ranks_loaded_t *loaded; /**< of the program's set; of index 0 the originals */
    void *variables[MPIX_RANKS_VARIABLES];
    int argc; /**< what constructors get */
    char **argv;
    char **envp;
    pthread_mutex_t lock;        /**< recursive: around what follows */
    mpix_ranks_opened_t *opened; /**< the last one first */
    mpix_ranks_handler_t *at_exit; /**< likewise */
    mpix_ranks_handler_t *at_thread_exit;
} mpix_rank_image_t;

/** What was loaded when the process began, and the executable with its private libraries.  Written
 * before there is a second thread. */
extern mpix_ranks_libraries_t mpix_ranks_libraries;
extern mpix_ranks_set_t mpix_ranks_program;

#endif /* MPIX_RANKS_STATE_H */
