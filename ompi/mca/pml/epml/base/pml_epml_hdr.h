/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The headers of pml/epml's messages.  One layout for all transports.
 *
 * They may come off a wire, so nothing in one that does is followed before it is checked: requests
 * are named by a number that the receiver of the number gave out itself (index and
 * generation, pml_epml_request.c), contexts are looked up, lengths are compared with what arrived.
 */

#ifndef MCA_PML_EPML_HDR_H
#define MCA_PML_EPML_HDR_H

#include "ompi_config.h"

/** What a message is. */
typedef enum mca_pml_epml_hdr_kind_t {
    EPML_HDR_EAGER = 1, /**< match header, then the data */
    EPML_HDR_RNDV = 2,  /**< rendezvous header: the data wait at the sender */
    EPML_HDR_CTS = 3,   /**< to the sender: send the fragments */
    EPML_HDR_FRAG = 4,  /**< a piece of the data */
    EPML_HDR_FIN = 5,   /**< to the sender: the data have been fetched */
    EPML_HDR_ACK = 6,   /**< to the sender: the synchronous message has been matched */
    /* partitioned communication, pml_epml_part.h; FIN also answers PART_RNDV */
    EPML_HDR_PART_INIT = 7,   /**< a partitioned send, to be matched; as a rendezvous header */
    EPML_HDR_PART_START = 8,  /**< to the sender: the receive has been started */
    EPML_HDR_PART_DATA = 9,   /**< some of the data; as a fragment */
    EPML_HDR_PART_RNDV = 10,  /**< some of the data, to be fetched */
    EPML_HDR_HOLD = 11,       /**< to a sender: too much waits here unmatched, keep the data */
    EPML_HDR_GO = 12,         /**< to a sender: not any more */
    EPML_HDR_PART_AGAIN = 13, /**< answers PART_RNDV: cannot be fetched, send it */
    EPML_HDR_CANCEL = 14,     /**< to the receiver: forget this rendezvous, unless it is matched */
    EPML_HDR_PART_FAIL = 15,  /**< to the receiver: nothing more comes in this round, there was an
                             * error; as a FIN */
    EPML_HDR_LEFT = 16,       /**< to a member of a communicator: its collectives cannot succeed, or
                               * nothing in it */
    EPML_HDR_AM = 17,         /**< of a client of the engine: match header, its number for a tag */
    EPML_HDR_KINDS = 18
} mca_pml_epml_hdr_kind_t;

/** Bits of the match header's flags. */
enum {
    EPML_HDR_FLAG_SYNC = 0x01, /**< eager: the sender wants an ACK */
    EPML_HDR_FLAG_GET = 0x02,  /**< rendezvous: the data may be fetched from address; start of a
                                * partitioned receive: it can fetch data; CTS and FIN: of the
                                * shortest class the receiver fetches data faster than it gets
                                * fragments */
    EPML_HDR_FLAG_NODE = 0x04, /**< with GET: of the node side; each direction of a pair has its own
                                * way */
    EPML_HDR_FLAG_FAIL = 0x08, /**< fragment: without data, the rest cannot be packed */
    EPML_HDR_FLAG_MORE = 0x10, /**< active message: a piece; the next one of its sender goes on */
    EPML_HDR_FLAG_DEVICE = 0x20, /**< with GET, within a process: the data are in device memory */
    EPML_HDR_FLAG_REVOKE = 0x40  /**< LEFT: the communicator is revoked */
};

/** The part that all headers start with. */
typedef struct mca_pml_epml_hdr_common_t {
    uint8_t kind;
    uint8_t flags;
    uint16_t handle_size; /**< rendezvous: bytes of registration handle behind the header;
                           * CANCEL: of address;
                           * PART_DATA, PART_AGAIN: the round, modulo 2^16 */
    uint32_t request;     /**< number of a request at the addressee, or of the sender's own */
} mca_pml_epml_hdr_common_t;

/** What a message is matched by; the whole header of an eager message. */
typedef struct mca_pml_epml_hdr_match_t {
    mca_pml_epml_hdr_common_t common; /**< request: the sender's, if it expects an answer */
    uint64_t context;
    int32_t source; /**< rank in the communicator */
    int32_t tag;
} mca_pml_epml_hdr_match_t;

/** What is left of it where the common part is that of a plain eager message and was left out on
 * the way (ep_prefix in common_ep_btl.h). */
typedef struct mca_pml_epml_hdr_bare_t {
    uint64_t context;
    int32_t source;
    int32_t tag;
} mca_pml_epml_hdr_bare_t;

typedef struct mca_pml_epml_hdr_rndv_t {
    mca_pml_epml_hdr_match_t match;
    uint64_t length;  /**< bytes of the whole message */
    uint64_t address; /**< of the data at the sender, with EPML_HDR_FLAG_GET */
} mca_pml_epml_hdr_rndv_t;

typedef struct mca_pml_epml_hdr_cts_t {
    mca_pml_epml_hdr_common_t common; /**< request: the sender's */
    uint32_t receiver;                /**< number of the receiver's request, for the fragments */
    uint32_t unused;
    uint64_t length; /**< bytes that the receiver wants */
} mca_pml_epml_hdr_cts_t;

typedef struct mca_pml_epml_hdr_frag_t {
    mca_pml_epml_hdr_common_t common; /**< request: the receiver's */
    uint64_t offset;                  /**< of this piece in the message, bytes */
} mca_pml_epml_hdr_frag_t;

/** EPML_HDR_FIN, EPML_HDR_ACK and EPML_HDR_PART_FAIL. */
typedef struct mca_pml_epml_hdr_done_t {
    mca_pml_epml_hdr_common_t common; /**< request: the addressee's */
    int32_t status;                   /**< OMPI_SUCCESS, MPI_ERR_REVOKED, or why the data could
                                       * not be fetched */
    uint32_t round;                   /**< partitioned: that it is about; else 0 */
} mca_pml_epml_hdr_done_t;

typedef struct mca_pml_epml_hdr_part_start_t {
    mca_pml_epml_hdr_common_t common; /**< request: the sender's */
    uint32_t receiver;                /**< number of the receiver's request */
    uint32_t round;                   /**< which start this is, from 1 on */
    uint64_t length;                  /**< bytes of a round that the receiver wants */
} mca_pml_epml_hdr_part_start_t;

typedef struct mca_pml_epml_hdr_part_rndv_t {
    mca_pml_epml_hdr_common_t common; /**< request: the receiver's */
    uint32_t sender;                  /**< number of the sender's request, for the answer */
    uint32_t round;                   /**< that the piece belongs to */
    uint64_t offset;                  /**< of this piece in the message, bytes */
    uint64_t length;                  /**< bytes of this piece */
    uint64_t address;                 /**< of this piece at the sender */
} mca_pml_epml_hdr_part_rndv_t;

typedef struct mca_pml_epml_hdr_part_again_t {
    mca_pml_epml_hdr_common_t common; /**< request: the sender's */
    uint64_t offset; /**< of the piece in the message, bytes, as in its PART_RNDV */
    uint64_t length; /**< bytes, likewise */
} mca_pml_epml_hdr_part_again_t;

/** Over the network the sender's address is behind it (handle_size bytes): the endpoint that it is
 * for may be gone, and with it all that its process knew of the sender. */
typedef struct mca_pml_epml_hdr_cancel_t {
    mca_pml_epml_hdr_common_t common; /**< request: the sender's */
    uint64_t context;
    uint64_t uid; /**< of the sender's endpoint */
} mca_pml_epml_hdr_cancel_t;

typedef struct mca_pml_epml_hdr_left_t {
    mca_pml_epml_hdr_common_t common;
    uint64_t context;
    uint64_t uid; /**< of the endpoint that says so */
} mca_pml_epml_hdr_left_t;

/** EPML_HDR_HOLD and EPML_HDR_GO. */
typedef struct mca_pml_epml_hdr_flow_t {
    mca_pml_epml_hdr_common_t common;
    uint64_t uid; /**< of the endpoint that says so */
} mca_pml_epml_hdr_flow_t;

_Static_assert(8 == sizeof(mca_pml_epml_hdr_common_t), "no padding on the wire");
_Static_assert(24 == sizeof(mca_pml_epml_hdr_match_t), "no padding on the wire");
_Static_assert(24 == sizeof(mca_pml_epml_hdr_common_t) + sizeof(mca_pml_epml_hdr_bare_t),
               "a match header in two parts");
_Static_assert(40 == sizeof(mca_pml_epml_hdr_rndv_t), "no padding on the wire");
_Static_assert(24 == sizeof(mca_pml_epml_hdr_cts_t), "no padding on the wire");
_Static_assert(16 == sizeof(mca_pml_epml_hdr_frag_t), "no padding on the wire");
_Static_assert(16 == sizeof(mca_pml_epml_hdr_done_t), "no padding on the wire");
_Static_assert(24 == sizeof(mca_pml_epml_hdr_part_start_t), "no padding on the wire");
_Static_assert(40 == sizeof(mca_pml_epml_hdr_part_rndv_t), "no padding on the wire");
_Static_assert(24 == sizeof(mca_pml_epml_hdr_part_again_t), "no padding on the wire");
_Static_assert(24 == sizeof(mca_pml_epml_hdr_cancel_t), "no padding on the wire");
_Static_assert(24 == sizeof(mca_pml_epml_hdr_left_t), "no padding on the wire");
_Static_assert(16 == sizeof(mca_pml_epml_hdr_flow_t), "no padding on the wire");

#endif /* MCA_PML_EPML_HDR_H */
