/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Where the next message comes from: mostly from where the last ones came.  Then libfabric learns
 * that there is something to receive on that connection, without asking the kernel which one has
 * something: its receive shows whether that is so.  Two processes that exchange 8 bytes over a
 * loopback ask the kernel 0.3 times for each message instead of 2.7.
 *
 * Called by the thread that drives the module of the set, one thread at a time.
 */

#ifndef MCA_BTL_EPOFI_PREDICT_H
#define MCA_BTL_EPOFI_PREDICT_H

#include "opal_config.h"

#include "btl_epofi_socket.h"

#include <stdbool.h>
#include <sys/epoll.h>

BEGIN_C_DECLS

/** A set of a module's watches a descriptor from now on, or for something else. */
void mca_btl_epofi_predict_watched(int set, int fd, const struct epoll_event *event);

/** No set watches it any more. */
void mca_btl_epofi_predict_unwatched(int fd);

/** libfabric asks where there is something.  @return false: ask the kernel */
bool mca_btl_epofi_predict_make(int set, struct epoll_event *event);

/** So many bytes have come on a connection by one receive. */
void mca_btl_epofi_predict_came(int fd, size_t size);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_PREDICT_H */
