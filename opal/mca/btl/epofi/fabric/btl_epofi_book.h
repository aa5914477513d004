/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The addresses that a context has entered into libfabric's table, and into its gate's.
 *
 * Several modules of a peer may share a context, and so an address, and several of ours: an address
 * is entered once, counted, and removed with the last reference.
 */

#ifndef MCA_BTL_EPOFI_BOOK_H
#define MCA_BTL_EPOFI_BOOK_H

#include "opal_config.h"

#include "../sockets/sockets.h"
#include "../base/base.h"

BEGIN_C_DECLS

typedef struct mca_btl_epofi_book_t mca_btl_epofi_book_t;

/** An address that has been entered. */
typedef struct mca_btl_epofi_entry_t {
    fi_addr_t address;
    uint32_t references;
    mca_btl_epofi_callee_t callee;     /**< for the gate; its order is that of the last reference
                                        taken */
    mca_btl_epofi_attempts_t attempts; /**< to connect there */
} mca_btl_epofi_entry_t;

/** @param[in] gate  may be NULL
 * @return NULL: no memory */
mca_btl_epofi_book_t *mca_btl_epofi_book_new(struct fid_av *av, mca_btl_epofi_gate_t *gate);

/** With all that is in it: the table of libfabric's and the gate are gone.  May be NULL. */
void mca_btl_epofi_book_free(mca_btl_epofi_book_t *book);

/** The context is shared: entering and leaving take its lock from now on. */
void mca_btl_epofi_book_set_lock(mca_btl_epofi_book_t *book, opal_mutex_t *lock);

/**
 * Enter an address.
 *
 * @param[in] callee  copied; of its name, bytes and secret say which it is
 *
 * @return 1, as fi_av_insert; 0: it is not accepted; a negative error of libfabric's
 */
int mca_btl_epofi_book_enter(mca_btl_epofi_book_t *book, const mca_btl_epofi_callee_t *callee,
                             mca_btl_epofi_entry_t **entry_p);

/** Drop one reference. */
void mca_btl_epofi_book_leave(mca_btl_epofi_book_t *book, mca_btl_epofi_entry_t *entry);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_BOOK_H */
