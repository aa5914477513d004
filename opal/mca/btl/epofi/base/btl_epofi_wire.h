/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What travels: headers of messages and packets, addresses, names of registered memory.
 */

#ifndef MCA_BTL_EPOFI_WIRE_H
#define MCA_BTL_EPOFI_WIRE_H

#include "opal_config.h"

#include "btl_epofi_keyed.h"

#include "opal/mca/common/ep/common_ep_btl.h"

#include <stddef.h>
#include <stdint.h>

BEGIN_C_DECLS

/** First bytes of every message of a stranger with the other byte order read as something else.  To
 * a module that shares its context its number is added, which the share layer takes off again. */
#define EPOFI_WIRE_MAGIC 0xE90F
#define EPOFI_WIRE_VERSION 3

/**
 * In front of every message, our own included; a multiple of 8 bytes, so that what follows keeps
 * its alignment.
 *
 *      0       2         3     4        8        16        24         32
 *      | magic | version | tag | length | sender | proof   | sequence |
 *
 * Proof and sequence belong to a pair: to one direction between two modules, for as long as both
 * live.  btl_epofi_pair.c has the rules.
 */
typedef struct mca_btl_epofi_wire_t {
    uint16_t magic; /**< EPOFI_WIRE_MAGIC in the sender's byte order, plus the addressee's number */
    uint8_t version;   /**< EPOFI_WIRE_VERSION */
    uint8_t tag;       /**< active message tag */
    uint32_t length;   /**< bytes that follow */
    uint64_t sender;   /**< the sender's id, from its address */
    uint64_t proof;    /**< that the sender knows the addressee's secret */
    uint64_t sequence; /**< which message of this pair it is, from 1 on */
} mca_btl_epofi_wire_t;

_Static_assert(32 == sizeof(mca_btl_epofi_wire_t), "no padding on the wire");

/** In front of each message of a packet (EPOFI_TAG_PACKET): several messages behind one wire
 * header, with one number.  Each is followed by what makes it a multiple of 8 bytes. */
typedef struct mca_btl_epofi_part_t {
    uint32_t length; /**< bytes that follow, less those that make up the multiple */
    uint8_t tag;     /**< active message tag */
    uint8_t zero[3];
} mca_btl_epofi_part_t;

_Static_assert(8 == sizeof(mca_btl_epofi_part_t), "no padding on the wire");

/** Bytes of a message in a packet, what is in front of it and behind it included. */
static inline size_t mca_btl_epofi_part_size(size_t length)
{
    return sizeof(mca_btl_epofi_part_t) + ((length + 7) & ~(size_t) 7);
}

/** Tags of messages between modules, which no owner sees; no active message has them. */
enum {
    EPOFI_TAG_PACKET = 0xFC,   /**< several messages, see mca_btl_epofi_part_t */
    EPOFI_TAG_HERE = 0xFD,     /**< answers ASK; its sequence tells whether anything is lost */
    EPOFI_TAG_LIVENESS = 0xFE, /**< are you there, and do you still know me? */
    EPOFI_TAG_GONE = 0xFF      /**< I have given you up */
};

#define EPOFI_ADDRESS_MAGIC 0x4F45
#define EPOFI_ADDRESS_VERSION 4
#define EPOFI_ADDRESS_FIXED 40
#define EPOFI_ADDRESS_BYTES (MCA_BTL_EP_ADDRESS_MAX - EPOFI_ADDRESS_FIXED)

/** A connection to it needs the handshake (btl_epofi_handshake.c). */
#define EPOFI_ADDRESS_AUTHENTICATED 1

/** Modules that share a context have numbers from 1 on to this. */
#define EPOFI_NUMBER_MOST 4095

/** A module's published address.  It contains the secret, so it is for processes of the job only. 
 * Only the first EPOFI_ADDRESS_FIXED + length bytes are published. */
typedef struct mca_btl_epofi_address_t {
    uint64_t id;       /**< random, as long as the module lives; not secret.  See ep_source. */
    uint16_t magic;    /**< EPOFI_ADDRESS_MAGIC in the owner's byte order */
    uint16_t number;   /**< among those that share its context; 0: it is alone there */
    uint8_t version;   /**< EPOFI_ADDRESS_VERSION */
    uint8_t flags;     /**< EPOFI_ADDRESS_AUTHENTICATED or 0 */
    uint16_t length;   /**< of bytes, bytes */
    uint32_t format;   /**< libfabric's FI_SOCKADDR_IN and so on */
    uint32_t provider; /**< hash of the provider's name: contexts of two providers never meet */
    mca_btl_epofi_secret_t secret; /**< what messages and hellos to it are proven with; one for
                                        all that share a context */
    unsigned char bytes[EPOFI_ADDRESS_BYTES]; /**< what fi_getname gave */
} mca_btl_epofi_address_t;

_Static_assert(EPOFI_ADDRESS_FIXED == offsetof(mca_btl_epofi_address_t, bytes), "no padding");
_Static_assert(0 == offsetof(mca_btl_epofi_address_t, id), "the contract of ep_source");
_Static_assert(MCA_BTL_EP_ADDRESS_MAX == sizeof(mca_btl_epofi_address_t), "fits the contract");

/** A registration handle as it travels: what fi_read needs to name memory of a peer. */
struct mca_btl_base_registration_handle_t {
    uint64_t key;
    uint64_t base; /**< subtracted from addresses: 0 if the provider wants virtual addresses */
};

END_C_DECLS

#endif /* MCA_BTL_EPOFI_WIRE_H */
