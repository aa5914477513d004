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
 * Life of a module.
 */

#ifndef MCA_BTL_EPOFI_MODULE_H
#define MCA_BTL_EPOFI_MODULE_H

#include "opal_config.h"

#include "opal/mca/common/ep/common_ep_btl.h"

BEGIN_C_DECLS

/** What ep_create does; the caller holds the lock. */
int mca_btl_epofi_module_create(void *context, uint32_t flags, mca_btl_ep_module_t **module_p);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_MODULE_H */
