/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The addresses that a context has entered into libfabric's table, and into its acceptor's.
 *
 * Several modules of a peer may share a context, and so an address, and several of ours: an address
 * is entered once, counted, and removed with the last reference.
 */

#ifndef MCA_BTL_EPOFI_AV_H
#define MCA_BTL_EPOFI_AV_H

#include "opal_config.h"

#include "../sockets/sockets.h"
#include "../base/base.h"

BEGIN_C_DECLS

typedef struct mca_btl_epofi_av_t mca_btl_epofi_av_t;

/** An address that has been entered. */
typedef struct mca_btl_epofi_entry_t {
    fi_addr_t address;
    uint32_t references;
    mca_btl_epofi_callee_t callee; /**< for the acceptor; its order is that of the last reference
                                        taken */
    mca_btl_epofi_attempts_t attempts; /**< to connect there */
} mca_btl_epofi_entry_t;

/** @param[in] acceptor  may be NULL
 * @return NULL: no memory */
mca_btl_epofi_av_t *mca_btl_epofi_av_new(struct fid_av *av, mca_btl_epofi_acceptor_t *acceptor);

/** With all that is in it: the table of libfabric's and the acceptor are gone.  May be NULL. */
void mca_btl_epofi_av_free(mca_btl_epofi_av_t *av_table);

/** The context is shared: entering and leaving take its lock from now on. */
void mca_btl_epofi_av_set_lock(mca_btl_epofi_av_t *av_table, opal_mutex_t *lock);

/**
 * Enter an address.
 *
 * @param[in] callee  copied; of its name, bytes and secret say which it is
 *
 * @return 1, as fi_av_insert; 0: it is not accepted; a negative error of libfabric's
 */
int mca_btl_epofi_av_insert(mca_btl_epofi_av_t *av_table, const mca_btl_epofi_callee_t *callee,
                            mca_btl_epofi_entry_t **entry_p);

/** Drop one reference. */
void mca_btl_epofi_av_remove(mca_btl_epofi_av_t *av_table, mca_btl_epofi_entry_t *entry);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_AV_H */
