/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What goes between the members of a file: messages, those of a process as a group, and
 * how far a thread has come in a call that all make.
 *
 * Called by what is above it.  Reads and writes no file.
 *
 * Below it: fbtl.
 */

#ifndef MPIEXT_ENDPOINTS_FILES_MEMBERS_LAYER_H
#define MPIEXT_ENDPOINTS_FILES_MEMBERS_LAYER_H

#include "mpiext_endpoints_client.h"
#include "mpiext_endpoints_local_group.h"
#include "mpiext_endpoints_messages.h"
#include "mpiext_endpoints_stage.h"

#endif /* MPIEXT_ENDPOINTS_FILES_MEMBERS_LAYER_H */
