/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the files of the program for tsan.t have in common: see tsan_right.c.
 */

#ifndef TSAN_RIGHT_H
#define TSAN_RIGHT_H

#include <mpi.h>
#include <mpi-ext.h>
#include <stdbool.h>

enum { EP = 3, ENTRIES = 32, LONG = 1 << 18 };

typedef struct rank_t {
    MPI_Comm comm, ring; /* ring: with a topology */
    int me, size;        /* in both */
    int index;           /* among the process's endpoints */
    bool here[64];       /* which ranks live in this process */
    int step;
    int *data; /* 2 * LONG of them */
} rank_t;

/* Ends the program if a call has failed. */
void done(int rc);

/* A rank's table, if it is one of this process: what it has is distinguished by step. */
void write_table(const rank_t *rank, int of);
void read_table(const rank_t *rank, int of, const char *what);

/* All collectives, in all forms, of n entries each; begin and end: once, before and behind them. */
void collectives_begin(void);
void collectives(rank_t *rank, int n);
void collectives_end(void);

/* By windows. */
void windows(rank_t *rank);

#endif
