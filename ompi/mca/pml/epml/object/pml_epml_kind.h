/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Kinds of messages: what each looks like, which peer may send it, and its handler.  Each protocol
 * has one of these for each of its kinds; pml_epml_recvfrag.c checks what has arrived by it. 
 * (Eager messages have a handler of their own, the fast path.)
 */

#ifndef MCA_PML_EPML_KIND_H
#define MCA_PML_EPML_KIND_H

#include "ompi_config.h"

#include "pml_epml_types.h"

BEGIN_C_DECLS

/** The longest header. */
#define EPML_HDR_SIZE_MOST 64

/** What may follow the header. */
typedef enum mca_pml_epml_rest_t {
    EPML_REST_NONE,
    EPML_REST_DATA,  /**< any number of bytes */
    EPML_REST_HANDLE /**< common.handle_size bytes, MCA_BTL_EP_ADDRESS_MAX at most */
} mca_pml_epml_rest_t;

/** The part of a message that names its sender. */
typedef enum mca_pml_epml_from_t {
    EPML_FROM_RANK,    /**< it begins with a match header */
    EPML_FROM_PARTNER, /**< it names a request by its number: from the peer of that one */
    EPML_FROM_UID      /**< it has its endpoint's uid */
} mca_pml_epml_from_t;

/** A message; the header is whole, and no other thread writes to it. */
typedef struct mca_pml_epml_message_t {
    const void *hdr;
    const unsigned char *rest;
    size_t rest_size;
    mca_btl_ep_module_t *module; /**< that it came by */
} mca_pml_epml_message_t;

typedef struct mca_pml_epml_kind_t {
    size_t size; /**< of the header, bytes */
    mca_pml_epml_rest_t rest;
    mca_pml_epml_from_t from;
    size_t uid;     /**< where it is in the header, with EPML_FROM_UID */
    size_t context; /**< likewise the context that it names; 0: none */

    /** It has arrived.  Under the endpoint's lock.
     * @return false: it makes no sense.  (What may have come too late does, and is dropped.) */
    bool (*arrived)(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message);
} mca_pml_epml_kind_t;

END_C_DECLS

#endif /* MCA_PML_EPML_KIND_H */
