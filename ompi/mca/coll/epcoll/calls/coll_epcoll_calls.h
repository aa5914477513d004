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
 * The functions of a module.  Their types, and so their arguments, are coll.h's.
 */

#ifndef MCA_COLL_EPCOLL_CALLS_H
#define MCA_COLL_EPCOLL_CALLS_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

#define EPCOLL_FUNCTION(name) \
    __typeof__(*(mca_coll_base_module_##name##_fn_t) NULL) mca_coll_epcoll_##name

#define EPCOLL_DECLARE(name, kind) EPCOLL_FUNCTION(name);
EPCOLL_FOR_ALL_KINDS(EPCOLL_DECLARE)
#undef EPCOLL_DECLARE

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_CALLS_H */
