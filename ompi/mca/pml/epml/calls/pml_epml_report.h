/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What was chosen, and why: pml_epml_report.c.
 */

#ifndef MCA_PML_EPML_REPORT_H
#define MCA_PML_EPML_REPORT_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/**
 * Write down what was chosen for this process, and why, a line each: base PML, transports to others,
 * hooks, cores, limits.  Any thread that has not the lock of an endpoint.
 *
 * @param[out] text  of size bytes; always terminated
 */
void mca_pml_epml_report(char *text, size_t size);

/**
 * The network by which others reach endpoints of this process.  Any thread that has not the lock of
 * an endpoint.
 *
 * @param[out] provider, interface  MCA_BTL_EP_NAME_BYTES each; empty: it has no name
 *
 * @return OMPI_SUCCESS, or OMPI_ERR_NOT_AVAILABLE: none has to be reached by one
 */
int mca_pml_epml_network(char *provider, char *interface);

/** Endpoints have been created: tell the user that, if pml_epml_verbose asks for it, once. */
void mca_pml_epml_report_once(void);

END_C_DECLS

#endif /* MCA_PML_EPML_REPORT_H */
