/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What stands on nothing of ours: the component's parameters, the wrapped PML, headers as they
 * travel, the structures that know no endpoint (lock, matching table, numbers, pending queues), how
 * many cores there are, what the launcher says of the dead.
 *
 * Called by all.  Knows no endpoint, and sends nothing.
 *
 * Below it: nothing.
 */

#ifndef MCA_PML_EPML_BASE_LAYER_H
#define MCA_PML_EPML_BASE_LAYER_H

#include "pml_epml.h"
#include "pml_epml_pending_queue.h"
#include "pml_epml_base.h"
#include "pml_epml_base_error.h"
#include "pml_epml_pmix.h"
#include "pml_epml_biased_lock.h"
#include "pml_epml_clock.h"
#include "pml_epml_compat.h"
#include "pml_epml_context.h"
#include "pml_epml_oversubscription.h"
#include "pml_epml_framework.h"
#include "pml_epml_hdr.h"
#include "pml_epml_idle.h"
#include "pml_epml_job.h"
#include "pml_epml_lost_launcher.h"
#include "pml_epml_match.h"
#include "pml_epml_match_table.h"
#include "pml_epml_match_unexpected.h"
#include "pml_epml_misspelt.h"
#include "pml_epml_net.h"
#include "pml_epml_request_ids.h"
#include "pml_epml_hash.h"
#include "pml_epml_configured.h"

#endif /* MCA_PML_EPML_BASE_LAYER_H */
