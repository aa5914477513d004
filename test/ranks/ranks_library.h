/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What ranks_library and its shared library have from each other.
 */

#ifndef RANKS_LIBRARY_H
#define RANKS_LIBRARY_H

/* The library's. */
extern int own_number;
int *own_address(void);
int own_count(void);
int own_rank(void);
int own_self_size(void);
int own_sum(int value);
const char *own_text(void);
int own_read_programs(void);
int own_call_programs(int x);

/* The program's. */
extern int programs_number;
int programs_function(int x);

#endif /* RANKS_LIBRARY_H */
