/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Files of endpoints: what ompio, Open MPI's own component, has to do differently where ranks share
 * a process.  It keeps the requests of a process in one list, locks files for a process, knows a
 * shared file pointer by names that ranks of a process do not agree on, and opens a file without
 * asking whether all could.
 *
 * Called by the seams, where ompio chooses its parts for a file, and by ompio, through the tables
 * that it is given there.  Does not know which function of libmpi's has been called.
 *
 * Below it: interpose, base.
 */

#ifndef MPIEXT_ENDPOINTS_FILES_LAYER_H
#define MPIEXT_ENDPOINTS_FILES_LAYER_H

#include "mpiext_endpoints_agreed.h"
#include "mpiext_endpoints_blocking.h"
#include "mpiext_endpoints_client.h"
#include "mpiext_endpoints_copies.h"
#include "mpiext_endpoints_crew.h"
#include "mpiext_endpoints_exchange.h"
#include "mpiext_endpoints_fcoll_module.h"
#include "mpiext_endpoints_handle.h"
#include "mpiext_endpoints_io.h"
#include "mpiext_endpoints_locks.h"
#include "mpiext_endpoints_meetings.h"
#include "mpiext_endpoints_members.h"
#include "mpiext_endpoints_merge.h"
#include "mpiext_endpoints_messages.h"
#include "mpiext_endpoints_nothing.h"
#include "mpiext_endpoints_ompio_module.h"
#include "mpiext_endpoints_reasons.h"
#include "mpiext_endpoints_reduce.h"
#include "mpiext_endpoints_runs.h"
#include "mpiext_endpoints_shared.h"
#include "mpiext_endpoints_split.h"
#include "mpiext_endpoints_split_request.h"
#include "mpiext_endpoints_stage.h"
#include "mpiext_endpoints_streams.h"
#include "mpiext_endpoints_together.h"

#endif /* MPIEXT_ENDPOINTS_FILES_LAYER_H */
