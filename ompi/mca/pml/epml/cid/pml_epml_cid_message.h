/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages by which members agree: pml_epml_cid_message.c.
 */

#ifndef MCA_PML_EPML_CID_MESSAGE_H
#define MCA_PML_EPML_CID_MESSAGE_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/**
 * Send words to another member of an endpoint communicator, which only mca_pml_epml_cid_recv
 * receives, whatever its tag.  Blocks until they have been sent, which needs no receive; progresses
 * the endpoint.  Without memory it waits for some.
 *
 * @param[in] rank   in comm, the remote group's if it is an intercommunicator
 * @param[in] tag    of the user's, 0 or more; or of mca_pml_epml_cid_tag
 * @param[in] words  EPML_CID_WORDS
 *
 * @return OMPI_SUCCESS, or an error: they have not been sent, and will not be
 */
int mca_pml_epml_cid_send(ompi_communicator_t *comm, int rank, int tag, const uint64_t *words);

/**
 * Wait for words of a member; several threads may wait for different tags.  Takes no memory but for
 * a connection to that member; if that cannot be had, nothing will come.
 *
 * @return OMPI_SUCCESS, or an error: they will not come
 */
int mca_pml_epml_cid_recv(ompi_communicator_t *comm, int rank, int tag, uint64_t *words);

/**
 * A new communicator, after mca_pml_epml_comm_assign, is about to be freed, because its members'
 * agreement has failed here; elsewhere it may have succeeded.  Tell them, so that no member waits
 * in it: its collectives fail.  Without memory it waits for some.
 */
void mca_pml_epml_comm_leave(ompi_communicator_t *newcomm);

END_C_DECLS

#endif /* MCA_PML_EPML_CID_MESSAGE_H */
