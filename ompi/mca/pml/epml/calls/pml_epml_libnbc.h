/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Nonblocking and persistent collectives of coll/libnbc: pml_epml_libnbc.c.
 */

#ifndef MCA_PML_EPML_LIBNBC_H
#define MCA_PML_EPML_LIBNBC_H

/** From now on the requests of coll/libnbc on endpoint communicators hold these.  Before the first
 * endpoint is made. */
void mca_pml_epml_libnbc_install(void);

/** No more: pml/epml goes. */
void mca_pml_epml_libnbc_remove(void);

#endif /* MCA_PML_EPML_LIBNBC_H */
