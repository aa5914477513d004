/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The table of what libfabric has open: sockets by their numbers, and what is known of each.
 */

#ifndef MCA_BTL_EPOFI_SOCKET_H
#define MCA_BTL_EPOFI_SOCKET_H

#include "opal_config.h"

#include "btl_epofi_handshake.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

BEGIN_C_DECLS

/**
 * A socket of libfabric's, in the table by its number; or an epoll set.
 *
 * mca_btl_epofi_sockets_on_fork_child, which walks all of them, may come when one has been closed
 * and its number is another file's: then the inode is another one.  The rest belongs to the thread
 * that uses the descriptor, one at a time; a number goes from one to the next through the kernel.
 */
typedef struct mca_btl_epofi_socket_t {
    _Atomic uint64_t inode; /**< 0: none */
    /** What is to be said and heard on it before libfabric hears anything; NULL: nothing. */
    _Atomic(mca_btl_epofi_connector_t *) connector;
    _Atomic bool is_awaited; /**< that one has authenticated, and waits for the answer */
    _Atomic(mca_btl_epofi_acceptor_t *)
        acceptor; /**< of a listener, and of its module's epoll set */
    /** Of what a module's epoll set watches: see btl_epofi_predict.h. */
    struct {
        bool is;
        int set;
        uint32_t segment; /**< bytes that one of the connection's carries; 0: not asked yet */
        struct epoll_event event; /**< as libfabric has said it */
    } watched;
    /** Of such a set: on what it received last. */
    struct {
        int fd;
        uint32_t row;   /**< receives there, one after the other; as far as it counts */
        uint32_t vain;  /**< predictions since the last */
        uint32_t most;  /**< ... of which there may be so many */
        uint32_t looks; /**< of libfabric's, while there are predictions */
    } last;
} mca_btl_epofi_socket_t;

#define EPOFI_SOCKET_CHUNK 1024  /**< entries that are made together */
#define EPOFI_SOCKET_CHUNKS 1024 /**< so many chunks; numbers above are not kept */

/** The entry of a number.  @param[in] make  have one if there is none
 * @return NULL: none, or no memory for it */
mca_btl_epofi_socket_t *mca_btl_epofi_socket_at(int fd, bool make);

/** The first entry from a number on whose socket is still the one that was entered.
 * @param[in,out] fd  the number
 * @return NULL: there is none */
mca_btl_epofi_socket_t *mca_btl_epofi_socket_next(int *fd);

/** The number is that of a new socket. */
void mca_btl_epofi_socket_enter(int fd);

/** Its set watches it no longer, and predictions it no longer: the number may be another module's
 * soon.  Only by the thread that drives the set, or after the set has gone. */
void mca_btl_epofi_socket_unwatch(mca_btl_epofi_socket_t *entry);

/** The inode of a socket, which is its own until it is closed; 0 if this is none. */
uint64_t mca_btl_epofi_socket_inode(int fd);

/** What an entry has, if there is one. */
mca_btl_epofi_acceptor_t *mca_btl_epofi_socket_acceptor(int fd);
mca_btl_epofi_connector_t *mca_btl_epofi_socket_connector(int fd);

void mca_btl_epofi_socket_set_acceptor(int fd, mca_btl_epofi_acceptor_t *acceptor);
void mca_btl_epofi_socket_forget_connector(mca_btl_epofi_socket_t *entry);

/** An entry's caller has authenticated: count it, until it is forgotten. */
void mca_btl_epofi_socket_await(mca_btl_epofi_socket_t *entry);

/** In the child of a fork.  Nothing but system calls: other threads may have held any lock. */
void mca_btl_epofi_sockets_on_fork_child(void);

/** Callers that have authenticated and wait for the answer.  Relaxed, everywhere: a thread that
 * waits on a descriptor has counted it, or has it from the thread that did. */
extern _Atomic uint32_t mca_btl_epofi_sockets_awaited;

END_C_DECLS

#endif /* MCA_BTL_EPOFI_SOCKET_H */
