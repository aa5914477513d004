/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
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

#define EPCOLL_FUNCTION(function, name) \
    __typeof__(*((mca_coll_base_module_t *) NULL)->coll_##name) mca_coll_epcoll_##function;

#define EPCOLL_DECLARE(name, ...)     \
    EPCOLL_FUNCTION(name, name)       \
    EPCOLL_FUNCTION(i##name, i##name) \
    EPCOLL_FUNCTION(name##_init, name##_init)
EPCOLL_FOR_ALL_KINDS(EPCOLL_DECLARE)
EPCOLL_FOR_ALL_NEIGHBORS(EPCOLL_DECLARE)
#undef EPCOLL_DECLARE

/* Where no process has two members. */
#define EPCOLL_DECLARE(name)                 \
    EPCOLL_FUNCTION(direct_##name, name)     \
    EPCOLL_FUNCTION(idirect_##name, i##name) \
    EPCOLL_FUNCTION(direct_##name##_init, name##_init)
EPCOLL_DECLARE(alltoallv)
EPCOLL_DECLARE(alltoallw)
#undef EPCOLL_DECLARE

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_CALLS_H */
