/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * The sockets that libfabric opens for us, looked after.
 */

#ifndef MCA_BTL_EPOFI_SOCKETS_H
#define MCA_BTL_EPOFI_SOCKETS_H

#include "opal_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

struct mca_btl_epofi_gate_t;

/** From now on libfabric's calls come here. */
void mca_btl_epofi_sockets_begin(void);

/** libfabric has a new socket. */
void mca_btl_epofi_sockets_made(int fd);

/** Accept one connection.
 * @param[in] greeting  bytes that are said on it before libfabric says anything
 * @return the descriptor, or -1 and errno */
int mca_btl_epofi_sockets_accept(int listener, uint32_t greeting);

/** Close a socket of libfabric's, or one that it does not know of yet.  @return as of close */
int mca_btl_epofi_sockets_close(int fd);

/** A gate goes: its listener and its epoll set, if they are open still, have none any more. */
void mca_btl_epofi_sockets_forget(struct mca_btl_epofi_gate_t *gate, int listener, int set);

/** Bytes for the text of a host. */
#define EPOFI_HOST_TEXT 64

/** Who is at the other end, for people.  @return text */
const char *mca_btl_epofi_sockets_peer(int fd, char text[EPOFI_HOST_TEXT]);

/** A connection is closed on which nobody has talked for so long, ms: say so, the first time. */
void mca_btl_epofi_sockets_say_silent(int fd, uint64_t ms);

/** Close connections on which nobody talks, if it is time to look.  Slow path; any thread. */
void mca_btl_epofi_sockets_look(void);

/**
 * There are no file descriptors left.  Says so, the first time, and closes what can be spared.
 *
 * @param[in] error  EMFILE or ENFILE
 * @param[in] what   for what one was wanted, in words
 * @return has that been so for longer than can be borne?
 */
bool mca_btl_epofi_sockets_none_left(int error, const char *what);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_SOCKETS_H */
