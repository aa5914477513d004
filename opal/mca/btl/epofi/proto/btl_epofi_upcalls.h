/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What endpoints call of the protocols.
 */

#ifndef MCA_BTL_EPOFI_UPCALLS_H
#define MCA_BTL_EPOFI_UPCALLS_H

#include "opal_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

extern const mca_btl_epofi_upcalls_t mca_btl_epofi_upcalls;

END_C_DECLS

#endif /* MCA_BTL_EPOFI_UPCALLS_H */
