/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a shared context is made of: the real context, the places in it, operations, and receive
 * buffers.  All under its lock, unless a comment says otherwise.
 */

#ifndef MCA_BTL_EPOFI_SHARE_TYPES_H
#define MCA_BTL_EPOFI_SHARE_TYPES_H

#include "opal_config.h"

#include "../fabric/fabric.h"
#include "../base/base.h"

#include <stdatomic.h>

BEGIN_C_DECLS

struct mca_btl_epofi_member_t;

/** What the provider gets as the context of an operation; part of one of the two that follow. */
typedef struct mca_btl_epofi_given_t {
    struct fi_context2 context; /**< the provider's while the operation is under way */
    bool is_buffer;             /**< part of a buffer, not of a slot */
} mca_btl_epofi_given_t;

/** An operation of a member's: under way in the provider, a receive that waits for a message, or
 * one that is over, of which the member has not read yet. */
typedef struct mca_btl_epofi_slot_t {
    mca_btl_epofi_given_t given;
    struct mca_btl_epofi_slot_t *next;
    struct mca_btl_epofi_member_t *member;
    void *user;            /**< the member's context of the operation */
    unsigned char *memory; /**< of a receive: where the message goes, ... */
    size_t size;           /**< ... and its room, bytes */
    uint64_t flags;        /**< of the completion, as is what follows */
    size_t length;
    int error; /**< libfabric's, positive; 0: it went well */
    int provider_error;
    char *detail; /**< what the provider says to the error; NULL: nothing */
} mca_btl_epofi_slot_t;

/** First in, first out. */
typedef struct mca_btl_epofi_slots_t {
    mca_btl_epofi_slot_t *head;
    mca_btl_epofi_slot_t **tail;
} mca_btl_epofi_slots_t;

/** A receive buffer of the context's, which the provider has. */
typedef struct mca_btl_epofi_buffer_t {
    mca_btl_epofi_given_t given;
    struct mca_btl_epofi_buffer_t *next; /**< among those that could not be posted */
    unsigned char *memory;
    void *desc; /**< libfabric's local descriptor */
} mca_btl_epofi_buffer_t;

/** Buffers that were made together. */
typedef struct mca_btl_epofi_buffers_t {
    struct mca_btl_epofi_buffers_t *next;
    unsigned char *memory;
    struct fid_mr *mr; /**< NULL unless the provider wants local buffers registered */
    mca_btl_epofi_buffer_t buffer[];
} mca_btl_epofi_buffers_t;

/** A message to a member that has no receive posted: its owner is elsewhere. */
typedef struct mca_btl_epofi_early_t {
    struct mca_btl_epofi_early_t *next;
    size_t length;
    unsigned char bytes[];
} mca_btl_epofi_early_t;

/** Slots that were made together. */
typedef struct mca_btl_epofi_block_t {
    struct mca_btl_epofi_block_t *next;
    mca_btl_epofi_slot_t slots[];
} mca_btl_epofi_block_t;

/** What is to be done when a context is closed. */
typedef struct mca_btl_epofi_kept_t {
    struct mca_btl_epofi_kept_t *next;
    void (*bury)(void *object);
    void *object;
} mca_btl_epofi_kept_t;

/** A context that several modules share. */
typedef struct mca_btl_epofi_share_t {
    /** Around every call of the provider's for this context, and all that follows.  Its holder
     * calls only the provider, so it is the innermost of our locks. */
    opal_mutex_t lock;
    const mca_btl_epofi_fabric_t *fabric;
    mca_btl_epofi_context_t fi;
    mca_btl_epofi_address_t own; /**< its secret is all members'; the acceptor knows it by this */
    struct mca_btl_epofi_member_t *members[EPOFI_NUMBER_MOST + 1]; /**< by number; 0: none */
    unsigned int last;                                             /**< number given last */

    mca_btl_epofi_slot_t *free; /**< slots */
    mca_btl_epofi_block_t *blocks;

    mca_btl_epofi_buffers_t *buffers;
    unsigned int buffer_count;
    size_t buffer_size;                /**< of each, bytes; 0: there are none yet */
    mca_btl_epofi_buffer_t *unposted;  /**< those that the provider had no room for */
    mca_btl_epofi_buffer_t *last_post; /**< the one that was posted last */
    bool probing;                      /**< members want to know whether a buffer waits */
    uint64_t next_key;                 /**< for regions of our own */
    uint64_t dropped;                  /**< messages to no member, or without memory for them */

    /* Under the component's lock. */
    unsigned int count;                  /**< places taken, ... */
    struct mca_btl_epofi_member_t *gone; /**< ... given back, with operations at the provider */
    mca_btl_epofi_kept_t *kept;
    struct mca_btl_epofi_share_t *next;
} mca_btl_epofi_share_t;

/** A place in it: what a module has for a context. */
typedef struct mca_btl_epofi_member_t {
    struct fid_ep ep;         /**< these three stand in front of the real ones */
    struct fid_cq cq;         /**< likewise */
    struct fid_domain domain; /**< likewise */
    mca_btl_epofi_share_t *share;
    uint16_t number;
    bool left;                    /**< it gets nothing any more */
    uint32_t under_way;           /**< operations that the provider has */
    uint32_t receives;            /**< posted, and over but not read of */
    mca_btl_epofi_slots_t posted; /**< receives that wait for a message */
    mca_btl_epofi_early_t *early; /**< messages that wait for a receive, the oldest first */
    mca_btl_epofi_early_t **early_tail;
    mca_btl_epofi_slots_t ready; /**< operations that are over */
    /** How many.  Changed under the lock; read without it, as a hint: a member that finds none and
     * cannot have the lock comes again. */
    _Atomic uint32_t ready_count;
    void *probe;      /**< the user's context of a receive that is asked to come back, or NULL */
    char detail[128]; /**< of the error that was read last; the owner's */
    struct mca_btl_epofi_member_t *next; /**< among those that are gone */
} mca_btl_epofi_member_t;

/* ---- btl_epofi_share_slot.c: all under the lock ---------------------------------------------- */

void mca_btl_epofi_slots_init(mca_btl_epofi_slots_t *slots);

/** @return NULL: no memory */
mca_btl_epofi_slot_t *mca_btl_epofi_slot_get(mca_btl_epofi_member_t *member, void *user);
void mca_btl_epofi_slot_put(mca_btl_epofi_share_t *share, mca_btl_epofi_slot_t *slot);

void mca_btl_epofi_slots_push(mca_btl_epofi_slots_t *slots, mca_btl_epofi_slot_t *slot);
/** @return NULL: there is none */
mca_btl_epofi_slot_t *mca_btl_epofi_slots_pop(mca_btl_epofi_slots_t *slots);

/** An operation is over: its member reads of it next. */
void mca_btl_epofi_slot_ready(mca_btl_epofi_slot_t *slot);

/** Free all slots there are. */
void mca_btl_epofi_slots_free(mca_btl_epofi_share_t *share);

/* ---- btl_epofi_share_recv.c: likewise -------------------------------------------------------- */

/** Have buffers for as many receives as a member has.  @return 0, or libfabric's error */
int mca_btl_epofi_buffers_supply(mca_btl_epofi_share_t *share, uint32_t receives, size_t size);

/** The provider is through with a buffer: hand on what is in it, and post it again.
 * @param[in] looking  whose owner has the lock
 * @param[in] error    libfabric's, positive; 0: there is a message of this length */
void mca_btl_epofi_buffer_ended(mca_btl_epofi_member_t *looking, mca_btl_epofi_buffer_t *buffer,
                                size_t length, int error);

/** Post those that there was no room for. */
void mca_btl_epofi_buffers_repost(mca_btl_epofi_share_t *share);

/** A member has posted a receive, which is a slot of its.  What waits for it goes there. */
void mca_btl_epofi_receive_post(mca_btl_epofi_slot_t *slot);

/** Ask one to come back, as fi_cancel does: it does if the context has a buffer that waits. */
void mca_btl_epofi_receive_probe(mca_btl_epofi_member_t *member, void *user);

/** Forget all that a member has received, or wants to. */
void mca_btl_epofi_receives_drop(mca_btl_epofi_member_t *member);

/** Close the regions of buffers, and free them: before and after the context is closed. */
void mca_btl_epofi_buffers_close(mca_btl_epofi_share_t *share);
void mca_btl_epofi_buffers_free(mca_btl_epofi_share_t *share);

/* ---- what stands in front of the real objects ------------------------------------------------ */

void mca_btl_epofi_share_ep_init(mca_btl_epofi_member_t *member);
void mca_btl_epofi_share_cq_init(mca_btl_epofi_member_t *member);
void mca_btl_epofi_share_domain_init(mca_btl_epofi_member_t *member);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_SHARE_TYPES_H */
