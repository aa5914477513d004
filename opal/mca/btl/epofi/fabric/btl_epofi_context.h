/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The libfabric objects of a module.
 */

#ifndef MCA_BTL_EPOFI_CONTEXT_H
#define MCA_BTL_EPOFI_CONTEXT_H

#include "opal_config.h"

#include "../sockets/sockets.h"
#include "../base/base.h"
#include "btl_epofi_av.h"
#include "btl_epofi_fabric.h"

BEGIN_C_DECLS

/** The libfabric objects of a module, in the order in which they are opened. */
typedef struct mca_btl_epofi_context_t {
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct mca_btl_epofi_acceptor_t *acceptor; /**< NULL: no handshake here */
    mca_btl_epofi_av_t *av_table;              /**< the peers it knows */
    /** A place in a context that several modules share (../share); NULL: it is the module's own. */
    struct mca_btl_epofi_member_t *member;
} mca_btl_epofi_context_t;

/** Open a context; on failure nothing is left open.
 * @param[in] own  the module's address, which has nothing in it yet, or that of all modules to
 *                 be */
int mca_btl_epofi_context_open(const mca_btl_epofi_fabric_t *fabric,
                               const mca_btl_epofi_address_t *own,
                               mca_btl_epofi_context_t *context);

/** Close what is open of a context, in the reverse of the order of opening. */
void mca_btl_epofi_context_close(mca_btl_epofi_context_t *context);

/**
 * Register memory with a context, for its endpoint where regions are bound to one.
 *
 * @param[in]     secret    the keys that are made with it cannot be predicted without it
 * @param[in,out] next_key  so many have been made; only the registering thread uses it
 * @param[in]     access    libfabric's FI_SEND, FI_RECV, FI_READ, FI_REMOTE_READ
 * @param[out]    mr_p      set on success only
 *
 * @return 0, or libfabric's error
 */
int mca_btl_epofi_context_register(const mca_btl_epofi_fabric_t *fabric,
                                   const mca_btl_epofi_context_t *context,
                                   const mca_btl_epofi_secret_t *secret, uint64_t *next_key,
                                   void *base, size_t size, uint64_t access, struct fid_mr **mr_p);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_CONTEXT_H */
