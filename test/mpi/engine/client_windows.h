/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What windows need of the engine: client_windows.c.
 */

#ifndef EP_TEST_CLIENT_WINDOWS_H
#define EP_TEST_CLIENT_WINDOWS_H

#include "ept.h"

/** Once per process, before there are endpoints.  @return MPI_SUCCESS or an error code */
int client_windows_begin(void);

void client_windows(MPI_Comm comm, struct ept *t);

#endif /* EP_TEST_CLIENT_WINDOWS_H */
