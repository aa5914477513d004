/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the parts of death share: an endpoint that survives, what it is at, and what it tries when
 * somebody has died.
 */

#ifndef EPT_DEATH_H
#define EPT_DEATH_H

#include <mpi.h>
#if defined(HAVE_EP)
#    include <mpi-ext.h>
#endif

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_EP 16
#define LARGE (1 << 20)
#define TAG 7
#define MARK 0x5a

typedef struct survivor_t {
    MPI_Comm comm;
    int rank, size;
    int partner;     /**< endpoint of the process that dies */
    bool is_partner; /**< is in that process itself */
    int bystander;   /**< the other bystander's rank, or -1 */
    char *buffer;    /**< LARGE bytes */
} survivor_t;

extern int endpoints; /**< of each process */
extern int after_ms;  /**< from the start of the traffic to the death */

/* death_p2p.c: ways of talking with one other; each returns what ends it. */
int way_recv(survivor_t *s);
int way_irecv(survivor_t *s);
int way_probe(survivor_t *s);
int way_iprobe(survivor_t *s);
int way_any(survivor_t *s);
int way_pingpong(survivor_t *s);
int way_stream(survivor_t *s);
int way_flood(survivor_t *s);
int way_stuck(survivor_t *s);
int way_unmatched(survivor_t *s);
int way_part(survivor_t *s);

/* death_merge.c */
int way_merge(survivor_t *s);

/* death_window.c */
int way_window(survivor_t *s);

/* death_after.c */
const char *class_name(int rc);
void try_again(survivor_t *s);
void mark_buffer(survivor_t *s);
void check_buffer(const survivor_t *s);
void create_again(survivor_t *s);
void go_on(survivor_t *s);
void stand_by(survivor_t *s);

#endif /* EPT_DEATH_H */
