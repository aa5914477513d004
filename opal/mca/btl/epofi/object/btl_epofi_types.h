/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A module, and what it is made of: operations, pairs, packets, endpoints, buffers, gets, regions.
 *
 * Unless a comment says otherwise, a function that takes a module is called by the module's owner
 * of the moment, one call at a time, and does not block.
 */

#ifndef MCA_BTL_EPOFI_TYPES_H
#define MCA_BTL_EPOFI_TYPES_H

#include "opal_config.h"

#include "../share/share.h"
#include "../fabric/fabric.h"
#include "../sockets/sockets.h"
#include "../base/base.h"

BEGIN_C_DECLS

struct mca_btl_epofi_module_t;
struct mca_btl_epofi_op_t;

/* ---- operations ------------------------------------------------------------------------------ */

/**
 * An operation is over.
 *
 * @param[in] length  bytes received; 0 for anything but a receive
 * @param[in] status  OPAL_SUCCESS or an OPAL error code
 */
typedef void (*mca_btl_epofi_complete_fn_t)(struct mca_btl_epofi_module_t *module,
                                            struct mca_btl_epofi_op_t *op, size_t length,
                                            int status);

/** What the context pointer of every libfabric operation leads to; part of a larger object. */
typedef struct mca_btl_epofi_op_t {
    mca_btl_epofi_complete_fn_t complete;
    struct fi_context2 context; /**< the provider's while the operation is under way */
} mca_btl_epofi_op_t;

/* ---- pairs ----------------------------------------------------------------------------------- */

/** What a module knows of another one: both directions between them.  One per module that has been
 * connected to or heard of; kept until our module ends, because numbers go on. */
typedef struct mca_btl_epofi_pair_t {
    /* One line: all that a message needs. */
    uint64_t id;       /**< of the other module */
    uint64_t proof;    /**< in the headers of its messages to us */
    uint64_t expected; /**< sequence of its next message; 0: some are lost, take no more */
    struct mca_btl_base_endpoint_t *endpoint; /**< NULL: not connected at present */
    mca_btl_epofi_wire_t out; /**< the header of our messages; sequence: that of the last one */

    bool lost;     /**< messages of either direction are lost; both endpoints get to know it */
    bool given_up; /**< the last endpoint failed, and may be gone: notified when it asks */
    uint64_t sent_bytes; /**< of our messages, without this header; but for an open packet's */
    uint64_t packed;     /**< messages that have no number of their own, being in packets */
    /* Has all arrived that we have sent?  No liveness probe is needed for what was sent up to here:
     * the peer has said that it has it, or it is such a question itself. */
    uint64_t settled;
    uint64_t noticed;       /**< out.sequence when that was looked at last */
    uint32_t asked;         /**< questions since the last answer */
    uint32_t next_look;     /**< the module's look at which to ask again */
    uint32_t order;         /**< so many pairs were there before in this process */
    unsigned char *address; /**< the other module's, once it has been connected to, ... */
    size_t address_length;  /**< ... and its length, bytes */
} mca_btl_epofi_pair_t;

/** Pairs by id: open addressing, at most half full; ids are random, and need no hashing. */
typedef struct mca_btl_epofi_pairs_t {
    struct {
        uint64_t id;
        mca_btl_epofi_pair_t *pair; /**< NULL: free */
    } * slots;
    uint32_t mask; /**< number of slots less 1 */
    uint32_t used;
} mca_btl_epofi_pairs_t;

/* ---- packets --------------------------------------------------------------------------------- */

/** A packet that is being filled: a place in the ring of its module's, all under the module's
 * packet_lock. */
typedef struct mca_btl_epofi_packet_t {
    struct mca_btl_epofi_packet_t *next;
    struct mca_btl_epofi_packet_t *previous;
    struct mca_btl_epofi_frag_t *frag; /**< NULL: none is being filled */
    uint32_t used;                     /**< bytes behind the wire header */
    uint32_t bytes; /**< of them those of messages; these two stay when the packet has gone */
    uint32_t count; /**< messages */
    uint32_t age;   /**< rounds in which the packet thread has seen it */
} mca_btl_epofi_packet_t;

/* ---- endpoints ------------------------------------------------------------------------------- */

/** A peer's module as one of ours sees it while it is connected to; one, however often. */
struct mca_btl_base_endpoint_t {
    fi_addr_t address;
    struct mca_btl_epofi_module_t *module;
    mca_btl_epofi_pair_t *pair;
    uint32_t references;   /**< ep_connect less ep_disconnect */
    uint32_t inflight;     /**< operations to this peer that the provider has not finished */
    bool failed;           /**< the peer is gone; said already */
    bool warned;           /**< the peer's silence has been reported */
    bool ended;            /**< what was under way has been ended after it was given up */
    bool quiet;            /**< connected for nothing but questions, when it was */
    bool asking;           /**< a message of our own (btl_epofi_liveness.c) is under way, ... */
    bool parting;          /**< ... which says that the peer is given up */
    uint64_t stalled_ns;   /**< since when the provider takes nothing for this peer; 0: it does */
    uint64_t lives_ns;     /**< when the owner was last asked whether the peer's process lives */
    uint32_t ends;         /**< operations that have ended; wraps */
    uint64_t question;     /**< number of the question whose answer is waited for; 0: of none */
    uint32_t ends_then;    /**< of them when the peer last answered, ... */
    uint32_t answers;      /**< ... and how often it has since without one more */
    uint64_t abandoned_ns; /**< when the owner gave it up; 0: it has not */
    /* See btl_epofi_packet.c. */
    uint32_t pack_after;  /**< operations under way with which messages go into a packet; 0: there
                              may be one */
    bool packing;         /**< there was a packet when its owner last looked */
    uint32_t direct;      /**< messages yet that go by themselves, ... */
    uint32_t direct_next; /**< ... and how many the next time */
    mca_btl_epofi_packet_t packet;
    mca_btl_epofi_op_t inject_op; /**< of all injected sends: they need no state of their own */
    mca_btl_epofi_op_t ask_op;    /**< of the message that asking stands for */
    struct mca_btl_base_endpoint_t *next; /**< in the module's list */
    mca_btl_epofi_callee_t callee;        /**< with its address, ... */
    mca_btl_epofi_entry_t *entry;         /**< ... which is known to the context */
};

/* ---- buffers --------------------------------------------------------------------------------- */

/** Fragments that were made together. */
typedef struct mca_btl_epofi_slab_t {
    struct mca_btl_epofi_slab_t *next;
    unsigned char *memory;
    struct fid_mr *mr; /**< NULL unless the provider wants local buffers registered */
    unsigned int count;
    struct mca_btl_epofi_frag_t *frags;
} mca_btl_epofi_slab_t;

/** Fragments of one size.  Grows up to a bound, shrinks never. */
typedef struct mca_btl_epofi_pool_t {
    struct mca_btl_epofi_frag_t *free;
    size_t size;        /**< bytes of header and payload that a fragment holds */
    unsigned int count; /**< made so far */
    unsigned int limit; /**< how many there may be */
    mca_btl_epofi_slab_t *slabs;
} mca_btl_epofi_pool_t;

/** A send buffer, with the descriptor by which btl_alloc and btl_prepare_src hand it out. */
typedef struct mca_btl_epofi_frag_t {
    mca_btl_base_descriptor_t base;
    mca_btl_base_segment_t segment; /**< what follows the wire header in buffer */
    struct mca_btl_epofi_frag_t *next;
    mca_btl_epofi_pool_t *pool;
    struct mca_btl_base_endpoint_t *endpoint; /**< while a send is under way */
    unsigned char *buffer;                    /**< starts with room for the wire header */
    void *desc;                               /**< libfabric's local descriptor */
    mca_btl_epofi_op_t op;
} mca_btl_epofi_frag_t;

/** A posted receive. */
typedef struct mca_btl_epofi_recv_t {
    struct mca_btl_epofi_recv_t *next; /**< in the list of those that could not be posted */
    unsigned char *buffer;
    void *desc; /**< libfabric's local descriptor */
    mca_btl_epofi_op_t op;
} mca_btl_epofi_recv_t;

/** Receive buffers that were made together. */
typedef struct mca_btl_epofi_recvs_t {
    struct mca_btl_epofi_recvs_t *next;
    unsigned char *memory;
    struct fid_mr *mr; /**< NULL unless the provider wants local buffers registered */
    mca_btl_epofi_recv_t recv[];
} mca_btl_epofi_recvs_t;

/** A read under way, part of a get. */
typedef struct mca_btl_epofi_read_t {
    mca_btl_epofi_op_t op;
    struct mca_btl_epofi_get_t *get;
    struct mca_btl_epofi_read_t *next; /**< among the get's idle ones */
} mca_btl_epofi_read_t;

/** A btl_get under way: a chain of reads. */
typedef struct mca_btl_epofi_get_t {
    struct mca_btl_epofi_get_t *next; /**< in a list of free or of waiting ones */
    struct mca_btl_epofi_get_t *made; /**< in the list of all there are */
    struct mca_btl_base_endpoint_t *endpoint;
    unsigned char *local; /**< where the next read goes */
    uint64_t remote;      /**< where it comes from, as fi_read wants it */
    uint64_t key;
    void *desc;
    size_t left;         /**< bytes for which no read has been started */
    unsigned int active; /**< reads under way */
    int status;          /**< OPAL_SUCCESS until a read has failed */
    bool reported;       /**< the caller knows the end already; reads may still be under way */
    mca_btl_epofi_read_t *idle;
    /* What the caller gave. */
    void *local_address;
    struct mca_btl_base_registration_handle_t *local_handle;
    mca_btl_base_rdma_completion_fn_t callback;
    void *callback_context;
    void *callback_data;
    mca_btl_epofi_read_t reads[EPOFI_GET_DEPTH];
} mca_btl_epofi_get_t;

/** A registered region; the handle is what the caller sees. */
typedef struct mca_btl_epofi_region_t {
    struct mca_btl_base_registration_handle_t handle;
    struct fid_mr *mr;
    struct mca_btl_epofi_region_t *previous;
    struct mca_btl_epofi_region_t *next;
} mca_btl_epofi_region_t;

/* ---- modules --------------------------------------------------------------------------------- */

/** What endpoints call of the protocols, which are above them. */
typedef struct mca_btl_epofi_upcalls_t {
    /** There is an endpoint: give it what protocols keep with it. */
    void (*start)(struct mca_btl_base_endpoint_t *endpoint);
    /** Its peer has been given up: notify it, if that is possible. */
    void (*disconnect_notice)(struct mca_btl_base_endpoint_t *endpoint);
    /** Report to the waiting operations that what is under way to it has failed. */
    void (*abandon)(struct mca_btl_epofi_module_t *module,
                    const struct mca_btl_base_endpoint_t *endpoint);
} mca_btl_epofi_upcalls_t;

typedef struct mca_btl_epofi_module_t {
    mca_btl_ep_module_t super;

    const mca_btl_epofi_upcalls_t *upcalls;
    mca_btl_epofi_context_t fi; /**< if it is shared, the objects in it are of the share layer */
    const mca_btl_epofi_fabric_t *fabric;
    size_t inject_size; /**< wire header included, bytes; at most that of inject_buffer */
    unsigned char *inject_buffer;
    uint32_t peer_queue;    /**< most operations under way to one peer */
    uint32_t inflight;      /**< operations under way to all peers */
    uint32_t own_ends;      /**< completions of our own messages since the last count */
    uint32_t idle;          /**< looks at the completion queue since the last completion */
    uint32_t idle_start;    /**< idle at the last look at the clock */
    uint64_t idle_ns;       /**< time of the first look since the last completion */
    uint32_t empty;         /**< looks at the completion queue that found nothing */
    uint32_t confirm_looks; /**< looks at what has been sent, whether it has arrived, ... */
    uint64_t confirm_ns;    /**< ... when the last one was, ... */
    uint32_t confirm_next;  /**< ... and the slot at which the next one begins; wraps */
    uint64_t watch_ns;      /**< likewise of the receive buffers */
    uint64_t broken_ns;     /**< since when the queue cannot be read; 0: it can */
    uint32_t refusals;      /**< of connections, of the acceptor, when they were last looked at */
    bool abandons;          /**< peers have been given up whose gets may not have ended */
    bool closing;           /**< finalize runs: deliver nothing any more */
    bool send_refused;      /**< the provider has refused a send since we last made it look */

    /* Packets that are being filled: of the module's owner and of the packet thread. */
    atomic_flag packet_lock;
    _Atomic uint32_t packet_count;  /**< changed under the lock; read by both without, as a hint */
    mca_btl_epofi_packet_t packets; /**< head of a ring; under the lock */
    size_t packet_size;             /**< bytes behind the wire header */
    bool posted;                    /**< known to the packet thread; of the owner */
    _Atomic bool watched;           /**< in its list.  Written under its lock, read by the owner */
    uint32_t looks_idle;            /**< looks without a packet in a row; under its lock, as ... */
    struct mca_btl_epofi_module_t *next_watched; /**< ... the list */

    /* Things to do besides reading the completion queue; looked at together. */
    mca_btl_epofi_recv_t *unposted;    /**< receives that the provider had no room for */
    mca_btl_epofi_get_t *waiting_gets; /**< those whose next read the provider had no room for */
    mca_btl_epofi_get_t **waiting_gets_tail;

    mca_btl_epofi_pool_t eager_pool;
    mca_btl_epofi_pool_t max_pool;

    mca_btl_epofi_recvs_t *recvs;
    unsigned int recv_count;
    size_t recv_size;                  /**< of a receive buffer, wire header included, bytes */
    mca_btl_epofi_recv_t *recv_last;   /**< the last one that was posted */
    uint64_t recv_posts;               /**< how often one was */
    mca_btl_epofi_recv_t *recv_probed; /**< one that was asked to come back, ... */
    uint64_t recv_probed_posts;        /**< ... and recv_posts then */

    mca_btl_epofi_get_t *gets; /**< all of them */
    mca_btl_epofi_get_t *free_gets;
    mca_btl_epofi_region_t regions; /**< head of a ring: what is registered now */
    mca_btl_epofi_region_t *free_regions;
    mca_btl_epofi_secret_t key_secret; /**< where we choose the keys: what they are made of, ... */
    uint64_t next_key;                 /**< ... and how many we have made */

    mca_btl_epofi_pairs_t pairs;
    struct mca_btl_base_endpoint_t *endpoint_list;

    uint64_t dropped; /**< messages thrown away */
    int error;        /**< libfabric's, positive, of the operation that ends with an error now */
    char error_detail[128]; /**< what the provider adds to it */

    /* Under the component's lock. */
    bool
        entangled; /**< a module of this process has this one's address (btl_epofi_deferred_close.c) */
    struct mca_btl_epofi_module_t *next_module;
} mca_btl_epofi_module_t;

END_C_DECLS

#endif /* MCA_BTL_EPOFI_TYPES_H */
