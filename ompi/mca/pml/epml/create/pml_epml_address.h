/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What members say of their endpoints: pml_epml_address.c.
 */

#ifndef MCA_PML_EPML_ADDRESS_H
#define MCA_PML_EPML_ADDRESS_H

#include "ompi_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** What a member tells the others of its endpoint; on the wire followed by padding up to the agreed
 * size. */
typedef struct mca_pml_epml_address_t {
    opal_process_name_t name;
    uint64_t uid;
    uint32_t host;     /**< of its process: mca_pml_epml_host */
    uint32_t job_size; /**< processes of its job */
    uint16_t shm_length;
    uint16_t transport_length[EPML_TRANSPORTS]; /**< 0: not to be reached by it */
    uint16_t unused;
    unsigned char bytes[]; /**< shm_length bytes, then those of the transports, in their order */
} mca_pml_epml_address_t;

/** Bytes that the address of an endpoint needs.
 *
 * @param[in] with_node  may others reach it by the node side, if it has one? */
size_t mca_pml_epml_address_size(const mca_pml_epml_ep_t *ep, bool with_node);

void mca_pml_epml_address_write(mca_pml_epml_address_t *address, const mca_pml_epml_ep_t *ep,
                                bool with_node, const opal_process_name_t *name);

/** Does the address make sense, having come from a process?  Nothing in it is used before.  The job
 * that it is from is known then.
 * @return OMPI_SUCCESS; OMPI_ERR_BAD_PARAM; OMPI_ERR_OUT_OF_RESOURCE */
int mca_pml_epml_address_check(const mca_pml_epml_address_t *address, size_t address_size);

/** The peer that a sound address describes, known already or new.
 *
 * @param[in]  any     an endpoint of this process that will talk to it, for its transports
 * @param[out] peer_p  with one reference
 * @return OMPI_SUCCESS; OMPI_ERR_UNREACH: it should be reached by the node side, but cannot
 *         be; or another error */
int mca_pml_epml_address_peer(const mca_pml_epml_address_t *address, mca_pml_epml_ep_t *any,
                              mca_pml_epml_peer_t **peer_p);

END_C_DECLS

#endif /* MCA_PML_EPML_ADDRESS_H */
