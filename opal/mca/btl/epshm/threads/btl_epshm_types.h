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
#include "btl_epshm_spsc.h"
#include "btl_epshm_zcopy_cell.h"
#include "btl_epshm_ring.h"
#include "btl_epshm_coop_copy.h"

#include "opal/mca/common/ep/common_ep_pace.h"

BEGIN_C_DECLS

struct mca_btl_epshm_frag_t;
struct mca_btl_epshm_pool_t;

/** What a message in a receive queue or an SPSC ring is. */
enum {
    EPSHM_KIND_INLINE = 1, /**< the bytes follow in the cells */
    EPSHM_KIND_FRAG = 2,   /**< the address of a fragment follows */
    EPSHM_KIND_SPSC = 3,   /**< from now on the sender uses the SPSC ring with the number in size */
    EPSHM_KIND_BARE = 4,   /**< the bytes follow but for the first 8, which are ep_prefix */
    EPSHM_KIND_ZCOPY = 5, /**< so many bytes are at their sender's: an epshm_zcopy_cell_t follows */
    EPSHM_KIND_BESIDE = 6 /**< so many bytes are beside the cells; the header follows, as bare */
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

/** Largest message that travels in the cells of an SPSC ring. */
#define EPSHM_SPSC_MAX (EPSHM_SPSC_CLAIM_MAX * EPSHM_SPSC_PAYLOAD)

/** The most SPSC rings of one receive queue; btl_epshm_spsc_rings allows fewer. */
#define EPSHM_SPSC_RINGS_MAX 32

/** Whose an SPSC ring is. */
enum {
    EPSHM_SPSC_FREE = 0,  /**< no sender's */
    EPSHM_SPSC_TAKEN = 1, /**< a sender's */
    EPSHM_SPSC_LEFT = 2   /**< its sender has gone; the receiver frees it when it is empty */
};

/** An SPSC ring of a receive queue: a ring of one sender at a time. */
typedef struct epshm_spsc_t {
    _Atomic uint32_t state; /**< EPSHM_SPSC_* */
    _Atomic(epshm_spsc_ring_t *)
        ring; /**< made for the first sender, then kept with the receive queue */
} epshm_spsc_t;

/**
 * A BTL endpoint: the receiving side of a module.  Lives as long as a sender is connected to it,
 * which may be longer than the module.
 */
struct mca_btl_base_endpoint_t {
    /* Line 0, read by senders, hardly ever written. */
    alignas(EPSHM_CACHE_LINE) uint64_t id; /**< key in the registry */
    struct mca_btl_base_endpoint_t *next;  /**< in the registry, under its lock */
    /** One reference of the module, one per ep_connect, one per sender that has an SPSC ring. */
    _Atomic uint32_t references;
    /** The module is gone: the rings will not be read any more. */
    _Atomic bool closed;

    /* Line 1 and on, read by the receiver, written when SPSC rings come and go. */
    alignas(EPSHM_CACHE_LINE) _Atomic uint32_t spsc_rings; /**< bit i: SPSC ring i is to be read */
    epshm_spsc_t spsc[EPSHM_SPSC_RINGS_MAX];

    epshm_ring_t ring; /**< of all senders that have no SPSC ring */

    /** A long copy out of memory of this endpoint, which its threads may help with. */
    epshm_coop_copy_t share;
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
    uint32_t account; /**< the receive queue that it was drawn for, roughly; see the pool */
    bool more; /**< beyond those that there may be, for a zero-copy send that was taken back */
    alignas(EPSHM_CACHE_LINE) unsigned char data[];
} mca_btl_epshm_frag_t;

OBJ_CLASS_DECLARATION(mca_btl_epshm_frag_t);

/** Buffers come in two sizes: eager_limit and max_send_size. */
enum { EPSHM_FRAG_EAGER = 0, EPSHM_FRAG_MAX = 1, EPSHM_FRAG_CLASSES = 2 };

/** Places in which a module keeps its SPSC rings to others, by the receive queue's id. */
#define EPSHM_SPSC_PLACES 16

struct epshm_zcopy_t;

/** Zero-copy sends of a module through an SPSC ring, btl_epshm_zcopy.c. */
typedef struct epshm_zcopy_sends_t {
    struct epshm_zcopy_t *zcopy; /**< a place for each cell of the SPSC ring; NULL: none yet */
    uint64_t first, last;      /**< those that are out, by number */
    bool recalling;            /**< they are being taken back */
    uint32_t shy;              /**< messages to copy before the next zero-copy send */
    uint32_t failures; /**< zero-copy sends lately that had to be taken back, more or less */
} epshm_zcopy_sends_t;

/** A module's SPSC ring to a receive queue, and the next sender that asks for the place. */
typedef struct epshm_place_t {
    struct mca_btl_base_endpoint_t *recv_queue; /**< NULL: no SPSC ring; a reference of ours */
    epshm_spsc_writer_t writer;
    uint64_t first; /**< the writer's tail when it got the SPSC ring */
    epshm_spsc_t *spsc;
    const struct mca_btl_base_endpoint_t *rival; /**< compared, never followed */
    uint32_t rival_messages;
    epshm_zcopy_sends_t zcopy_sends;
} epshm_place_t;

/** Sizes of long copies that are distinguished: up to 64 and 256 KiB, and above. */
#define EPSHM_COPY_CLASSES 3

/** Places for what is known of the way from others, by the receive queue's id. */
#define EPSHM_COPY_PLACES 4

typedef struct mca_btl_epshm_module_t {
    mca_btl_ep_module_t super;
    struct mca_btl_base_endpoint_t *recv_queue;
    struct mca_btl_epshm_pool_t *pool;
    uint32_t burst;          /**< messages sent since the endpoint was last progressed */
    epshm_other_counts_t other; /**< messages of SPSC rings that were given up included */
    epshm_place_t place[EPSHM_SPSC_PLACES];
    /** Long copies from the owner of a receive queue: first way with its help, second alone. */
    ep_pace_t copies[EPSHM_COPY_PLACES][EPSHM_COPY_CLASSES];
    _Atomic uint32_t zcopy_on; /**< bit i: place i has zero-copy sends */
    uint32_t
        zcopy_calls; /**< progress calls since a zero-copy send came back, or the first went out */
    uint64_t zcopy_start; /**< when the first of them was, by ep_pace_clock */
    bool collected;       /**< the last progress call only saw zero-copy sends come back */
    /** mca_btl_epshm_recv_queues_closed when the places were last looked at. */
    _Atomic uint32_t closed_seen;
} mca_btl_epshm_module_t;

/* ---- btl_epshm_recv_queue.c: life and registry of receive queues --------------------------------------- */

/** How many receive queues of this process have been closed, modulo 2^32: when it changes, there may
 * be SPSC rings to give up. */
extern _Atomic uint32_t mca_btl_epshm_recv_queues_closed;

/** @return a registered receive queue with one reference, or NULL (no memory) */
struct mca_btl_base_endpoint_t *mca_btl_epshm_recv_queue_create(unsigned int cells);

/** Stop accepting: later sends fail with OPAL_ERR_UNREACH and the registry forgets it.  Undelivered
 * fragments go back to their pools, at once, or with the last reference if they cross with this.
 * Only the module's thread. */
void mca_btl_epshm_recv_queue_close(struct mca_btl_base_endpoint_t *recv_queue);

/** Find by address and take a reference; NULL if the address is of no live receive queue of this
 * process.  Any thread. */
struct mca_btl_base_endpoint_t *mca_btl_epshm_recv_queue_find(
    const mca_btl_epshm_address_t *address);

/** The published form of a receive queue. */
void mca_btl_epshm_recv_queue_address(const struct mca_btl_base_endpoint_t *recv_queue,
                                      mca_btl_epshm_address_t *address);

/** Give a reference back.  Any thread. */
void mca_btl_epshm_recv_queue_release(struct mca_btl_base_endpoint_t *recv_queue);

/* ---- btl_epshm_spsc.c: rings of one sender ------------------------------------------------- */

/** A message is about to go through the shared ring: should there be an SPSC ring instead?
 * @return true if there is one now, in the receive queue's place */
bool mca_btl_epshm_spsc_consider(mca_btl_epshm_module_t *module,
                                 struct mca_btl_base_endpoint_t *recv_queue);

/** Give up the SPSC rings to receive queues that have been closed: their memory would otherwise be
 * kept until another SPSC ring needs the place.  Sender only.
 * @param[in] closed  mca_btl_epshm_recv_queues_closed, read with acquire */
void mca_btl_epshm_spsc_rings_forget(mca_btl_epshm_module_t *module, uint32_t closed);

/** A sender has opened an SPSC ring.  Receiver only. */
void mca_btl_epshm_spsc_opened(struct mca_btl_base_endpoint_t *recv_queue, unsigned int number);

/** An SPSC ring is empty: is its sender gone?  Then it is free for others.  Receiver only. */
void mca_btl_epshm_spsc_check(struct mca_btl_base_endpoint_t *recv_queue, unsigned int number);

/** The sender goes: others may have its SPSC rings, when they are empty. */
void mca_btl_epshm_spsc_rings_leave(mca_btl_epshm_module_t *module);

/** The place of the SPSC ring from a module to a receive queue. */
static inline epshm_place_t *mca_btl_epshm_place(mca_btl_epshm_module_t *module,
                                                 const struct mca_btl_base_endpoint_t *recv_queue)
{
    return &module->place[recv_queue->id % EPSHM_SPSC_PLACES];
}

/* ---- btl_epshm_zcopy.c: messages that stay where they are ------------------------------------- */

/** See which zero-copy sends have come back; take back what has been out too long.  Under the
 * owner's lock.
 * @return number of zero-copy sends that are over */
int mca_btl_epshm_zcopy_progress(mca_btl_epshm_module_t *module);

/** The receiver of an SPSC ring is gone, or has taken everything: its zero-copy sends are over.
 * @return number of them */
int mca_btl_epshm_zcopy_end(mca_btl_epshm_module_t *module, epshm_place_t *place);

void mca_btl_epshm_zcopy_free(epshm_place_t *place);

/* ---- btl_epshm_frag.c: pools of buffers ---------------------------------------------------- */

struct mca_btl_epshm_pool_t *mca_btl_epshm_pool_create(void);

/** The owner is gone; the pool follows when the last fragment is back. */
void mca_btl_epshm_pool_abandon(struct mca_btl_epshm_pool_t *pool);

/** A buffer for a message to receive queue.  Owner only.
 * @return NULL if all buffers that the parameters allow are in use, or three quarters by receive
 * queue */
mca_btl_epshm_frag_t *mca_btl_epshm_frag_get(struct mca_btl_epshm_pool_t *pool,
                                             const struct mca_btl_base_endpoint_t *recv_queue,
                                             size_t size);

/** Likewise a small one, however many there are: for what the receiver would else never get past.
 * @return NULL without memory */
mca_btl_epshm_frag_t *mca_btl_epshm_frag_get_more(struct mca_btl_epshm_pool_t *pool,
                                                  const struct mca_btl_base_endpoint_t *recv_queue,
                                                  size_t size);

/** Put back by its holder.  Any thread; lock-free. */
void mca_btl_epshm_frag_return(mca_btl_epshm_frag_t *frag);

/** Put back by the owner, without atomics. */
void mca_btl_epshm_frag_free(mca_btl_epshm_frag_t *frag);

/* ---- btl_epshm_send.c, btl_epshm_progress.c, btl_epshm_module.c ---------------------------- */

int mca_btl_epshm_ep_send(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                          const void *header, size_t header_size, const void *payload,
                          size_t payload_size, mca_btl_base_tag_t tag);
int mca_btl_epshm_ep_send_zcopy(mca_btl_ep_module_t *module,
                                struct mca_btl_base_endpoint_t *endpoint, const void *header,
                                size_t header_size, const void *payload, size_t payload_size,
                                void *token);
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
