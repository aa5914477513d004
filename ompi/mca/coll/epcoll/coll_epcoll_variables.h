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
 * The performance variables of coll/epcoll; what they count is in each handle
 * (base/coll_epcoll_count.h).
 */

#ifndef MCA_COLL_EPCOLL_VARIABLES_H
#define MCA_COLL_EPCOLL_VARIABLES_H

#include "ompi_config.h"

BEGIN_C_DECLS

struct mca_coll_epcoll_handle_t;

/** Register them with Open MPI. */
void mca_coll_epcoll_variables_register(void);

/** A handle is there: the process's variables have its counts, until it has gone and for good. */
void mca_coll_epcoll_variables_add(struct mca_coll_epcoll_handle_t *handle);

/** It goes: what it has counted stays. */
void mca_coll_epcoll_variables_remove(struct mca_coll_epcoll_handle_t *handle);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_VARIABLES_H */
