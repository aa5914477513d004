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
