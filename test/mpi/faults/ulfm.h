/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The parts of ulfm, to each other.
 */

#ifndef EPT_ULFM_H
#define EPT_ULFM_H

#include <mpi.h>
#include <mpi-ext.h>

#include <stdbool.h>

/** Tags; nothing answers NEVER. */
enum { READY = 1, LATE = 2, RING = 3, NEVER = 9 };

enum topic { BEFORE, ELSEWHERE, DEAD, OTHERS, ORDINARY, WILDCARD, SHRUNK, TOPICS };

extern int processes, process, victim;

/** Note what is wrong. */
void check(enum topic topic, bool right, const char *what, int line);

#define CHECK(topic, condition) check((topic), (condition), #condition, __LINE__)

/** The class of an error code. */
int class_of(int rc);

/* ulfm_ordinary.c */
void revoke_elsewhere(void);
void test_ordinary(MPI_Comm idle);
void recover(MPI_Comm ordinary);

#endif /* EPT_ULFM_H */
