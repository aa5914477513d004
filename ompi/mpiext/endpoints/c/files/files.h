/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Files of endpoints: what ompio, Open MPI's own component, has to do differently where ranks share
 * a process.  It keeps the requests of a process in one list, locks files for a process, knows a
 * shared file pointer by names that ranks of a process do not agree on, and opens a file without
 * asking whether all could.
 *
 * Called by the hooks, where ompio chooses its parts for a file, and by ompio, through the tables
 * that it is given there.  Does not know which function of libmpi's has been called.
 *
 * Below it: interpose, base.
 */

#ifndef MPIEXT_ENDPOINTS_FILES_LAYER_H
#define MPIEXT_ENDPOINTS_FILES_LAYER_H

#include "fbtl/fbtl.h"
#include "fcoll/fcoll.h"
#include "interception/interception.h"
#include "members/members.h"
#include "sharedfp/sharedfp.h"

#endif /* MPIEXT_ENDPOINTS_FILES_LAYER_H */
