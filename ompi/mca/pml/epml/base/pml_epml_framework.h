/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Opening components of a framework on our own, in addition to what Open MPI has opened.
 */

#ifndef MCA_PML_EPML_PRIVATE_FRAMEWORK_H
#define MCA_PML_EPML_PRIVATE_FRAMEWORK_H

#include "ompi_config.h"

#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_framework.h"

BEGIN_C_DECLS

/**
 * Register and open components of a framework into a description of our own, so that neither Open
 * MPI's list of components nor its selection is touched.
 *
 * @param[out] copy       our description; close with mca_pml_epml_framework_close
 * @param[in]  original   Open MPI's description
 * @param[in]  selection  comma separated names, as of a selection parameter; the string is kept
 *
 * @return OMPI_SUCCESS or an error; then there is nothing to close
 */
int mca_pml_epml_framework_open(mca_base_framework_t *copy, const mca_base_framework_t *original,
                                const char *selection);

/**
 * Of components, those that this Open MPI has.  To open others fails: what nobody has asked for by
 * name must not be asked for where it is not.
 *
 * @param[in] names  comma separated
 *
 * @return likewise, to be freed; empty if there are none; NULL without memory
 */
char *mca_pml_epml_framework_present(const mca_base_framework_t *framework, const char *names);

/** Close what is still in the description's list of components. */
void mca_pml_epml_framework_close(mca_base_framework_t *copy);

END_C_DECLS

#endif /* MCA_PML_EPML_PRIVATE_FRAMEWORK_H */
