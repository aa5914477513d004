/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Some processes of a communicator exchange data, along a binomial tree: pml_epml_proc_tree.c.
 */

#ifndef MCA_PML_EPML_PROC_TREE_H
#define MCA_PML_EPML_PROC_TREE_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"

BEGIN_C_DECLS

/** The tree, at one process.  All of them have the same but for rank. */
typedef struct mca_pml_epml_proc_tree_t {
    ompi_communicator_t *comm; /**< of processes */
    const int *ranks;          /**< of the members, in comm */
    int size;                  /**< of the tree */
    int rank;                  /**< own, in the tree */
    int tag;                   /**< below those of the user */
} mca_pml_epml_proc_tree_t;

/** A tag for a key: none that other traffic of a communicator of processes has. */
int mca_pml_epml_proc_tree_tag(uint64_t key);

/**
 * The maximum of each value over all members.
 *
 * @param[in,out] values  complete after success
 * @return OMPI_SUCCESS, or an error; others may have the other
 */
int mca_pml_epml_proc_tree_max(const mca_pml_epml_proc_tree_t *tree, int64_t *values, int count);

/**
 * All get what each has.
 *
 * @param[in,out] data    own part is there
 * @param[in]     places  where each member's part begins, without gaps
 * @param[in]     total   bytes
 * @return as mca_pml_epml_proc_tree_max
 */
int mca_pml_epml_proc_tree_gather(const mca_pml_epml_proc_tree_t *tree, void *data,
                                  const int *places, int total);

END_C_DECLS

#endif /* MCA_PML_EPML_PROC_TREE_H */
