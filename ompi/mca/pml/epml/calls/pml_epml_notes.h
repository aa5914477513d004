/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Notes on a communicator of endpoints.
 *
 * libmpi has an id block in each communicator that it uses only for those made through the launcher
 * (MPI_Comm_create_from_group); in communicators of endpoints it is free for our notes.
 */

#ifndef MCA_PML_EPML_NOTES_H
#define MCA_PML_EPML_NOTES_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"

BEGIN_C_DECLS

/** Start the notes of a new communicator of endpoints: with zeros when it gets its slot, then with
 * the result of the agreement, if there was one. */
static inline void mca_pml_epml_notes_init(ompi_communicator_t *comm, uint64_t context,
                                           uint64_t number)
{
    comm->c_contextidb.block_cid.cid_base = context;
    comm->c_contextidb.block_cid.cid_sub.u64 = number;
    comm->c_contextidb.block_nexttag = 0;
}

/** The context id that the members have agreed on. */
static inline uint64_t mca_pml_epml_notes_context(const ompi_communicator_t *comm)
{
    return comm->c_contextidb.block_cid.cid_base;
}

/** Which nonblocking agreement on its parent the communicator comes from. */
static inline uint64_t mca_pml_epml_notes_number(const ompi_communicator_t *comm)
{
    return comm->c_contextidb.block_cid.cid_sub.u64;
}

/** Count a nonblocking agreement on the communicator; libmpi begins them one at a time. */
static inline uint64_t mca_pml_epml_notes_count(ompi_communicator_t *comm)
{
    return ++comm->c_contextidb.block_nexttag;
}

END_C_DECLS

#endif /* MCA_PML_EPML_NOTES_H */
