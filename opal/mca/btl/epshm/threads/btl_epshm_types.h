/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages between the threads of a process: what its files share.
 */

#ifndef MCA_BTL_EPSHM_TYPES_H
#define MCA_BTL_EPSHM_TYPES_H

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epshm_lane.h"
#include "btl_epshm_loan.h"
#include "btl_epshm_ring.h"
#include "btl_epshm_share.h"

#include "opal/mca/common/ep/common_ep_pace.h"

BEGIN_C_DECLS

struct mca_btl_epshm_frag_t;
struct mca_btl_epshm_pool_t;

/** What a message in an inbox or a lane is. */
enum {
    EPSHM_KIND_INLINE = 1, /**< the bytes follow in the cells */
    EPSHM_KIND_FRAG = 2,   /**< the address of a fragment follows */
    EPSHM_KIND_LANE = 3,   /**< from now on the sender uses the lane with the number in size */
    EPSHM_KIND_BARE = 4,   /**< the bytes follow but for the first 8, which are ep_prefix */
    EPSHM_KIND_LOAN = 5,   /**< so many bytes are lent: an epshm_loan_cell_t follows */
    EPSHM_KIND_BESIDE = 6  /**< so many bytes are beside the cells; the header follows, as bare */
};

/** First bytes of every message in the ring. */
typedef struct epshm_envelope_t {
    uint8_t kind;  /**< EPSHM_KIND_* */
    uint8_t tag;   /**< active message tag */
    uint16_t size; /**< bytes that follow inline */
    uint32_t unused;
} epshm_envelope_t;

/** Largest message (header and payload, bytes) that travels in the cells. */
#define EPSHM_INLINE_MAX (EPSHM_RING_CLAIM_MAX * EPSHM_CELL_PAYLOAD - sizeof(epshm_envelope_t))

/** Largest message that travels in the cells of a lane. */
#define EPSHM_LANE_MAX (EPSHM_LANE_CLAIM_MAX * EPSHM_LANE_PAYLOAD)

/** The most lanes of one inbox; btl_epshm_lanes allows fewer. */
#define EPSHM_LANES_MAX 32

/** Whose a lane is. */
enum {
    EPSHM_LANE_FREE = 0,  /**< no sender's */
    EPSHM_LANE_TAKEN = 1, /**< a sender's */
    EPSHM_LANE_LEFT = 2   /**< its sender has gone; the receiver frees it when it is empty */
};

/** A lane of an inbox: a ring of one sender at a time. */
typedef struct epshm_lane_t {
    _Atomic uint32_t state;            /**< EPSHM_LANE_* */
    _Atomic(epshm_lane_ring_t *) ring; /**< made for the first sender, then kept with the inbox */
} epshm_lane_t;

/**
 * A BTL endpoint: the receiving side of a module.  Lives as long as a sender is connected to it,
 * which may be longer than the module.
 */
struct mca_btl_base_endpoint_t {
    /* Line 0, read by senders, hardly ever written. */
    alignas(EPSHM_CACHE_LINE) uint64_t id; /**< key in the registry */
    struct mca_btl_base_endpoint_t *next;  /**< in the registry, under its lock */
    /** One reference of the module, one per ep_connect, one per sender that has a lane. */
    _Atomic uint32_t references;
    /** The module is gone: the rings will not be read any more. */
    _Atomic bool closed;

    /* Line 1 and on, read by the receiver, written when lanes come and go. */
    alignas(EPSHM_CACHE_LINE) _Atomic uint32_t lanes; /**< bit i: lane i is to be read */
    epshm_lane_t lane[EPSHM_LANES_MAX];

    epshm_ring_t ring; /**< of all senders that have no lane */

    /** A long copy out of memory of this endpoint's side, which its threads may help with. */
    epshm_share_t share;
};

/** The published form of an endpoint. */
typedef struct mca_btl_epshm_address_t {
    uint32_t magic;
    uint32_t pid;
    uint64_t id;
} mca_btl_epshm_address_t;

/** A buffer for one message or fragment, drawn from its owner's pool by the owner and put back by
 * the receiver. */
typedef struct mca_btl_epshm_frag_t {
    mca_btl_base_descriptor_t base;
    mca_btl_base_segment_t segment;
    struct mca_btl_epshm_pool_t *pool;
    struct mca_btl_epshm_frag_t *next; /**< in a free list */
    uint32_t class_index;              /**< which free list */
    uint32_t account; /**< the inbox that it was drawn for, roughly; see the pool */
    bool more;        /**< beyond those that there may be, for a loan that was taken back */
    alignas(EPSHM_CACHE_LINE) unsigned char data[];
} mca_btl_epshm_frag_t;

OBJ_CLASS_DECLARATION(mca_btl_epshm_frag_t);

/** Buffers come in two sizes: eager_limit and max_send_size. */
enum { EPSHM_FRAG_EAGER = 0, EPSHM_FRAG_MAX = 1, EPSHM_FRAG_CLASSES = 2 };

/** Places in which a module keeps its lanes to others, by the inbox's id. */
#define EPSHM_LANE_PLACES 16

struct epshm_loan_t;

/** What a module has lent to the receiver of a lane, btl_epshm_lend.c. */
typedef struct epshm_loans_t {
    struct epshm_loan_t *loan; /**< a place for each cell of the lane; NULL: none yet */
    uint64_t first, last;      /**< those that are out, by number */
    bool recalling;            /**< they are being taken back */
    uint32_t shy;              /**< messages to copy before the next is lent */
    uint32_t failures;         /**< loans lately that had to be taken back, more or less */
} epshm_loans_t;

/** A module's lane to an inbox, and the next sender that asks for the place. */
typedef struct epshm_place_t {
    struct mca_btl_base_endpoint_t *inbox; /**< NULL: no lane; a reference of ours */
    epshm_lane_writer_t writer;
    uint64_t first; /**< the writer's tail when it got the lane */
    epshm_lane_t *lane;
    const struct mca_btl_base_endpoint_t *rival; /**< compared, never followed */
    uint32_t rival_messages;
    epshm_loans_t loans;
} epshm_place_t;

/** Sizes of long copies that are told apart: up to 64 and 256 KiB, and above. */
#define EPSHM_COPY_CLASSES 3

/** Places for what is known of the way from others, by the inbox's id. */
#define EPSHM_COPY_PLACES 4

typedef struct mca_btl_epshm_module_t {
    mca_btl_ep_module_t super;
    struct mca_btl_base_endpoint_t *inbox;
    struct mca_btl_epshm_pool_t *pool;
    uint32_t burst;          /**< messages sent since the endpoint was last progressed */
    epshm_unusual_t unusual; /**< messages of lanes that were given up included */
    epshm_place_t place[EPSHM_LANE_PLACES];
    /** Long copies from an inbox's side: first way with its help, second alone. */
    ep_pace_t copies[EPSHM_COPY_PLACES][EPSHM_COPY_CLASSES];
    _Atomic uint32_t lending; /**< bit i: place i has lent something */
    uint32_t loan_calls;      /**< progress calls since a loan came back, or the first went out */
    uint64_t loan_start;      /**< when the first of them was, by ep_pace_clock */
    bool collected;           /**< the last progress call only saw loans come back */
    /** mca_btl_epshm_inboxes_closed when the places were last looked at. */
    _Atomic uint32_t closed_seen;
} mca_btl_epshm_module_t;

/* ---- btl_epshm_inbox.c: life and registry of inboxes --------------------------------------- */

/** How many inboxes of this process have been closed, modulo 2^32: when it changes, there may be
 * lanes to give up. */
extern _Atomic uint32_t mca_btl_epshm_inboxes_closed;

/** @return a registered inbox with one reference, or NULL (no memory) */
struct mca_btl_base_endpoint_t *mca_btl_epshm_inbox_create(unsigned int cells);

/** Stop accepting: later sends fail with OPAL_ERR_UNREACH and the registry forgets it.  Undelivered
 * fragments go back to their pools, at once, or with the last reference if they cross with this.
 * Only the module's thread. */
void mca_btl_epshm_inbox_close(struct mca_btl_base_endpoint_t *inbox);

/** Find by address and take a reference; NULL if the address is of no live inbox of this process.
 * Any thread. */
struct mca_btl_base_endpoint_t *mca_btl_epshm_inbox_find(const mca_btl_epshm_address_t *address);

/** The published form of an inbox. */
void mca_btl_epshm_inbox_address(const struct mca_btl_base_endpoint_t *inbox,
                                 mca_btl_epshm_address_t *address);

/** Give a reference back.  Any thread. */
void mca_btl_epshm_inbox_release(struct mca_btl_base_endpoint_t *inbox);

/* ---- btl_epshm_lane.c: rings of one sender ------------------------------------------------- */

/** A message is about to go through the shared ring: should there be a lane instead?
 * @return true if there is one now, in the inbox's place */
bool mca_btl_epshm_lane_consider(mca_btl_epshm_module_t *module,
                                 struct mca_btl_base_endpoint_t *inbox);

/** Give up the lanes to inboxes that have been closed: their memory would otherwise be kept until
 * another lane needs the place.  Sender only.
 * @param[in] closed  mca_btl_epshm_inboxes_closed, read with acquire */
void mca_btl_epshm_lanes_forget(mca_btl_epshm_module_t *module, uint32_t closed);

/** A sender has opened a lane.  Receiver only. */
void mca_btl_epshm_lane_opened(struct mca_btl_base_endpoint_t *inbox, unsigned int number);

/** A lane is empty: is its sender gone?  Then it is free for others.  Receiver only. */
void mca_btl_epshm_lane_check(struct mca_btl_base_endpoint_t *inbox, unsigned int number);

/** The sender goes: others may have its lanes, when they are empty. */
void mca_btl_epshm_lanes_leave(mca_btl_epshm_module_t *module);

/** The place of the lane from a module to an inbox. */
static inline epshm_place_t *mca_btl_epshm_place(mca_btl_epshm_module_t *module,
                                                 const struct mca_btl_base_endpoint_t *inbox)
{
    return &module->place[inbox->id % EPSHM_LANE_PLACES];
}

/* ---- btl_epshm_lend.c: messages that stay where they are ------------------------------------- */

/** See which loans have come back; take back what has been out too long.  Under the owner's lock.
 * @return number of loans that are over */
int mca_btl_epshm_loans_progress(mca_btl_epshm_module_t *module);

/** The receiver of a lane is gone, or has taken everything: its loans are over.
 * @return number of them */
int mca_btl_epshm_loans_end(mca_btl_epshm_module_t *module, epshm_place_t *place);

void mca_btl_epshm_loans_free(epshm_place_t *place);

/* ---- btl_epshm_frag.c: pools of buffers ---------------------------------------------------- */

struct mca_btl_epshm_pool_t *mca_btl_epshm_pool_create(void);

/** The owner is gone; the pool follows when the last fragment is back. */
void mca_btl_epshm_pool_abandon(struct mca_btl_epshm_pool_t *pool);

/** A buffer for a message to inbox.  Owner only.
 * @return NULL if all buffers that the parameters allow are in use, or three quarters by inbox */
mca_btl_epshm_frag_t *mca_btl_epshm_frag_get(struct mca_btl_epshm_pool_t *pool,
                                             const struct mca_btl_base_endpoint_t *inbox,
                                             size_t size);

/** Likewise a small one, however many there are: for what the receiver would else never get past.
 * @return NULL without memory */
mca_btl_epshm_frag_t *mca_btl_epshm_frag_get_more(struct mca_btl_epshm_pool_t *pool,
                                                  const struct mca_btl_base_endpoint_t *inbox,
                                                  size_t size);

/** Put back by its holder.  Any thread; lock-free. */
void mca_btl_epshm_frag_return(mca_btl_epshm_frag_t *frag);

/** Put back by the owner, without atomics. */
void mca_btl_epshm_frag_free(mca_btl_epshm_frag_t *frag);

/* ---- btl_epshm_send.c, btl_epshm_progress.c, btl_epshm_module.c ---------------------------- */

int mca_btl_epshm_ep_send(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                          const void *header, size_t header_size, const void *payload,
                          size_t payload_size, mca_btl_base_tag_t tag);
int mca_btl_epshm_ep_lend(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                          const void *header, size_t header_size, const void *payload,
                          size_t payload_size, void *token);
mca_btl_base_descriptor_t *mca_btl_epshm_alloc(mca_btl_base_module_t *btl,
                                               struct mca_btl_base_endpoint_t *endpoint,
                                               uint8_t order, size_t size, uint32_t flags);
int mca_btl_epshm_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *descriptor);
mca_btl_base_descriptor_t *mca_btl_epshm_prepare_src(mca_btl_base_module_t *btl,
                                                     struct mca_btl_base_endpoint_t *endpoint,
                                                     struct opal_convertor_t *convertor,
                                                     uint8_t order, size_t reserve, size_t *size,
                                                     uint32_t flags);
int mca_btl_epshm_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                       mca_btl_base_descriptor_t *descriptor, mca_btl_base_tag_t tag);
int mca_btl_epshm_get(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      void *local_address, uint64_t remote_address,
                      struct mca_btl_base_registration_handle_t *local_handle,
                      struct mca_btl_base_registration_handle_t *remote_handle, size_t size,
                      int flags, int order, mca_btl_base_rdma_completion_fn_t cbfunc,
                      void *cbcontext, void *cbdata);
int mca_btl_epshm_progress(mca_btl_ep_module_t *module);
bool mca_btl_epshm_pending(const mca_btl_ep_module_t *module);
void mca_btl_epshm_count(const mca_btl_ep_module_t *module, mca_btl_ep_counts_t *counts);

int mca_btl_epshm_module_create(void *context, uint32_t flags, mca_btl_ep_module_t **module_p);

END_C_DECLS

#endif /* MCA_BTL_EPSHM_TYPES_H */
