/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The sockets that libfabric opens for us, looked after.
 */

#ifndef MCA_BTL_EPOFI_SOCKETS_H
#define MCA_BTL_EPOFI_SOCKETS_H

#include "opal_config.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../base/base.h"

BEGIN_C_DECLS

struct mca_btl_epofi_acceptor_t;
struct sockaddr_storage;

/** From now on libfabric's calls come here. */
void mca_btl_epofi_sockets_begin(void);

/** libfabric has a new socket. */
void mca_btl_epofi_sockets_made(int fd);

/** Accept one connection.  @return the descriptor, or -1 and errno */
int mca_btl_epofi_sockets_accept(int listener);

/** Close a socket of libfabric's, or one that it does not know of yet.  @return as of close */
int mca_btl_epofi_sockets_close(int fd);

/** A acceptor goes: its listener and its epoll set, if they are open still, have none any more. */
void mca_btl_epofi_sockets_forget(struct mca_btl_epofi_acceptor_t *acceptor, int listener, int set);

/** Connections that have not authenticated yet, of all acceptors of the process.  Relaxed,
 * everywhere: a count. */
extern _Atomic uint32_t mca_btl_epofi_sockets_held;

/** Bytes for the text of a host. */
#define EPOFI_HOST_TEXT 64

/** The address of the other end as text.  @return text */
const char *mca_btl_epofi_sockets_peer(int fd, char text[EPOFI_HOST_TEXT]);

/**
 * Is there a host that has not answered for btl_epofi_unanswered what was sent to it on a
 * connection that stands?  A system call for each connection, but not at each call.  Any thread.
 *
 * @param[out] peer  of the connection
 */
bool mca_btl_epofi_sockets_unanswered(struct sockaddr_storage *peer);

/**
 * There are no file descriptors left.  Says so, the first time.
 *
 * @param[in] error  EMFILE or ENFILE
 * @param[in] what   for what one was wanted, in words
 * @return has that been so for longer than can be borne?
 */
bool mca_btl_epofi_sockets_none_left(int error, const char *what);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_SOCKETS_H */
