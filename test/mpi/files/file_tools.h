/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the tests of files have in common: names of files, what is in them, and opening them.
 */

#ifndef FILE_TOOLS_H
#define FILE_TOOLS_H

#include "ept.h"

#define FILE_NAME_MAX 256

/** A name that nobody else has for a file of comm's, the same at all members, which is not there.
 * Collective. */
void file_name(MPI_Comm comm, struct ept *t, const char *what, char name[FILE_NAME_MAX]);

/** Open it for reading and writing, created; collective. */
MPI_File file_create(MPI_Comm comm, struct ept *t, const char *name, int more);

/** Its size as the system has it, or -1: there is none. */
long long file_size(const char *name);

/** Remove it; collective, and after all have left it. */
void file_remove(MPI_Comm comm, const char *name);

/** All bytes of a file, read by the system; NULL if there is none.  To be freed. */
unsigned char *file_bytes(const char *name, size_t *size_p);

#endif /* FILE_TOOLS_H */
