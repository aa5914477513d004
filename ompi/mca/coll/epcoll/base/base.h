/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer base: what all of coll/epcoll knows.
 */

#ifndef MCA_COLL_EPCOLL_BASE_BASE_H
#define MCA_COLL_EPCOLL_BASE_BASE_H

#include "coll_epcoll.h"
#include "coll_epcoll_call.h"
#include "coll_epcoll_compat.h"
#include "coll_epcoll_count.h"
#include "coll_epcoll_mismatch.h"
#include "coll_epcoll_layout.h"
#include "coll_epcoll_agreement.h"
#include "coll_epcoll_wait.h"

#endif /* MCA_COLL_EPCOLL_BASE_BASE_H */
