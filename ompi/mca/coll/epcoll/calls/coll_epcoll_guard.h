/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Device memory (GPUs) in collectives: coll_epcoll_guard.c.
 */

#ifndef MCA_COLL_EPCOLL_GUARD_H
#define MCA_COLL_EPCOLL_GUARD_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** The module. */
typedef struct mca_coll_epcoll_guard_t {
    mca_coll_base_module_t super;
    mca_coll_epcoll_module_t *own; /**< NULL: we serve nothing here */
    mca_coll_epcoll_fallback_t next; /**< the functions that serve, from enable on; NULL: none */
} mca_coll_epcoll_guard_t;

/** To be initialized before threads make any. */
OBJ_CLASS_DECLARATION(mca_coll_epcoll_guard_t);

/**
 * A module in front of all others of a communicator of endpoints: its functions call those that
 * would have served without it, with host memory in place of device memory.
 *
 * @param[in] own  our module, which the new one takes over; NULL: we serve nothing here
 *
 * @return NULL: no memory; own is still the caller's
 */
mca_coll_base_module_t *mca_coll_epcoll_guard_new(mca_coll_base_module_t *own);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_GUARD_H */
