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
 * What the files of btl/epofi share.  Nobody else includes this.
 *
 * Unless a comment says otherwise, a function that takes a module is called by whoever the module
 * belongs to at the moment, one call at a time, and does not block.
 */

#ifndef MCA_BTL_EPOFI_TYPES_H
#define MCA_BTL_EPOFI_TYPES_H

#include "opal_config.h"

#include "btl_epofi.h"

#include "btl_epofi_keyed.h"

#include "opal/mca/btl/btl_ep_cancel.h"
#include "opal/mca/btl/ephelp/btl_ep_help.h"
#include "opal/mca/threads/mutex.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

BEGIN_C_DECLS

struct mca_btl_epofi_module_t;
struct mca_btl_epofi_op_t;

/* ---- on the wire --------------------------------------------------------------------------- */

/** First bytes of every message of a stranger with the other byte order read as something else. */
#define EPOFI_WIRE_MAGIC   0xE90F
#define EPOFI_WIRE_VERSION 3

/**
 * In front of every message, our own included; a multiple of 8 bytes, so that what follows keeps its
 * alignment.
 *
 *      0       2         3     4        8        16        24         32
 *      | magic | version | tag | length | sender | proof   | sequence |
 *
 * Proof and sequence belong to a pair: to one direction between two modules, for as long as both
 * live.  btl_epofi_pair.c has the rules.
 */
typedef struct mca_btl_epofi_wire_t {
    uint16_t magic;    /**< EPOFI_WIRE_MAGIC in the sender's byte order */
    uint8_t version;   /**< EPOFI_WIRE_VERSION */
    uint8_t tag;       /**< active message tag */
    uint32_t length;   /**< bytes that follow */
    uint64_t sender;   /**< the sender's id, from its address */
    uint64_t proof;    /**< that the sender knows the addressee's secret */
    uint64_t sequence; /**< which message of this pair it is, from 1 on */
} mca_btl_epofi_wire_t;

_Static_assert(32 == sizeof(mca_btl_epofi_wire_t), "no padding on the wire");

/** In front of each message of a packet (EPOFI_TAG_PACKET): several messages behind one wire header,
 * with one number.  Each is followed by what makes it a multiple of 8 bytes. */
typedef struct mca_btl_epofi_part_t {
    uint32_t length; /**< bytes that follow, less those that make up the multiple */
    uint8_t tag;     /**< active message tag */
    uint8_t zero[3];
} mca_btl_epofi_part_t;

_Static_assert(8 == sizeof(mca_btl_epofi_part_t), "no padding on the wire");

#define EPOFI_ADDRESS_MAGIC   0x49464F45
#define EPOFI_ADDRESS_VERSION 3
#define EPOFI_ADDRESS_FIXED   40
#define EPOFI_ADDRESS_BYTES   (MCA_BTL_EP_ADDRESS_MAX - EPOFI_ADDRESS_FIXED)

/** Nobody gets a connection to it who does not greet (btl_epofi_greet.c). */
#define EPOFI_ADDRESS_GREETED 1

/** A module's published address: for those who may talk to it, and for nobody else, because of the
 * secret.  Only the first EPOFI_ADDRESS_FIXED + length bytes are published. */
typedef struct mca_btl_epofi_address_t {
    uint64_t id;       /**< random, as long as the module lives; not secret.  See ep_source. */
    uint32_t magic;    /**< EPOFI_ADDRESS_MAGIC in the owner's byte order */
    uint8_t version;   /**< EPOFI_ADDRESS_VERSION */
    uint8_t flags;     /**< EPOFI_ADDRESS_GREETED or 0 */
    uint16_t length;   /**< of bytes, bytes */
    uint32_t format;   /**< libfabric's FI_SOCKADDR_IN and so on */
    uint32_t provider; /**< hash of the provider's name: contexts of two providers never meet */
    mca_btl_epofi_secret_t secret; /**< what messages and greetings to it are proven with */
    unsigned char bytes[EPOFI_ADDRESS_BYTES]; /**< what fi_getname gave */
} mca_btl_epofi_address_t;

_Static_assert(EPOFI_ADDRESS_FIXED == offsetof(mca_btl_epofi_address_t, bytes), "no padding");
_Static_assert(0 == offsetof(mca_btl_epofi_address_t, id), "the contract of ep_source");
_Static_assert(MCA_BTL_EP_ADDRESS_MAX == sizeof(mca_btl_epofi_address_t), "fits the contract");

/** Whom a module may connect to: part of what it has of a peer, and known to its gate meanwhile. */
typedef struct mca_btl_epofi_callee_t {
    uint32_t order; /**< so many were met before this one */
    mca_btl_epofi_address_t name;
} mca_btl_epofi_callee_t;

/** A registration handle as it travels: what fi_read needs to name memory of a peer. */
struct mca_btl_base_registration_handle_t {
    uint64_t key;
    uint64_t base; /**< subtracted from addresses: 0 if the provider wants virtual addresses */
};

/* ---- the process's fabric ------------------------------------------------------------------- */

/** What the process found out once; constant while anybody holds it. */
typedef struct mca_btl_epofi_fabric_t {
    struct fi_info *info; /**< the chosen provider and interface */
    struct fid_fabric *fabric;
    uint32_t provider_hash;
    size_t eager_limit; /**< header and payload, bytes */
    size_t get_chunk;   /**< most bytes of one read */
    bool rma;          /**< RMA reads are there, so btl_get is */
    bool mr_local;     /**< local buffers must be registered, too */
    bool mr_virtual;   /**< remote memory is named by address, not by offset */
    bool mr_prov_key;  /**< the provider chooses keys */
    bool mr_endpoint;  /**< regions are bound to an endpoint */
    bool packs; /**< small messages to one peer leave together while the wire is busy */
    bool recv_watched; /**< receives that wait can be told from those that are being filled */
    bool wants_context; /**< every operation lends the provider a struct fi_context2 */
    /** Contexts of one process reach into each other's memory without asking whether it is still
     * there (btl_epofi_parking.c). */
    bool needs_parking;
} mca_btl_epofi_fabric_t;

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

/** The object of the given type whose member op is at the given address. */
#define EPOFI_CONTAINER(pointer, type, member) \
    ((type *) ((char *) (pointer) - offsetof(type, member)))

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

    bool lost; /**< messages of either direction are lost, which both sides know, or shall know */
    bool given_up; /**< the last endpoint failed, and may be gone: who asks is told */
    uint64_t sent_bytes; /**< of our messages, without this header; but for an open packet's */
    uint64_t packed;     /**< messages that have no number of their own, being in packets */
    /* Has all arrived that we have sent?  Of what was sent up to here nobody needs to ask: the other
     * side has said that it has it, or it is such a question itself. */
    uint64_t settled;
    uint64_t noticed;       /**< out.sequence when that was looked at last */
    uint32_t asked;         /**< questions since the last answer */
    uint32_t next_look;     /**< the module's look at which to ask again */
    uint32_t order;         /**< so many pairs were there before */
    unsigned char *address; /**< the other module's, once it has been connected to, ... */
    size_t address_length;  /**< ... and its length, bytes */
} mca_btl_epofi_pair_t;

/** Pairs by id: open addressing, at most half full; ids are random, and need no hashing. */
typedef struct mca_btl_epofi_pairs_t {
    struct {
        uint64_t id;
        mca_btl_epofi_pair_t *pair; /**< NULL: free */
    } *slots;
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
    uint32_t used;  /**< bytes behind the wire header */
    uint32_t bytes; /**< of them those of messages; these two stay when the packet has gone */
    uint32_t count; /**< messages */
    uint32_t age;   /**< rounds in which the postman has seen it */
} mca_btl_epofi_packet_t;

/* ---- endpoints ------------------------------------------------------------------------------- */

/** A peer's module as one of ours sees it while it is connected to; one, however often. */
struct mca_btl_base_endpoint_t {
    fi_addr_t address;
    struct mca_btl_epofi_module_t *module;
    mca_btl_epofi_pair_t *pair;
    uint32_t references; /**< ep_connect less ep_disconnect */
    uint32_t inflight;   /**< operations to this peer that the provider has not finished */
    bool failed;         /**< the peer is gone; said already */
    bool warned;         /**< the peer's silence has been reported */
    bool ended;          /**< what was under way has been ended after it was given up */
    bool asking;         /**< a message of our own (btl_epofi_ask.c) is under way, ... */
    bool parting;        /**< ... which says that the peer is given up */
    int probe;           /**< a connection attempt that asks whether the peer listens; -1: none */
    uint64_t stalled_ns; /**< since when the provider takes nothing for this peer; 0: it does */
    uint32_t attempts;   /**< connections that were begun since then */
    uint32_t ends;       /**< operations that have ended; wraps */
    uint32_t ends_then;  /**< of them when the peer last answered, ... */
    uint32_t answers;    /**< ... and how often it has since without one more */
    uint64_t abandoned_ns; /**< when the owner gave it up; 0: it has not */
    /* See btl_epofi_packet.c. */
    uint32_t pack_after; /**< operations under way with which messages go into a packet; 0: there
                              may be one */
    bool packing;        /**< there was a packet when its owner last looked */
    uint32_t direct;     /**< messages yet that go by themselves, ... */
    uint32_t direct_next; /**< ... and how many the next time */
    mca_btl_epofi_packet_t packet;
    mca_btl_epofi_op_t inject_op; /**< of all injected sends: they need no state of their own */
    mca_btl_epofi_op_t ask_op;    /**< of the message that asking stands for */
    struct mca_btl_base_endpoint_t *next; /**< in the module's list */
    mca_btl_epofi_callee_t callee; /**< with its address */
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

/** So many times its receive buffers a module may have when all of them are held. */
#define EPOFI_RECVS_MOST 16

/** Most reads that one get may have under way; bound of the parameter get_depth. */
#define EPOFI_GET_DEPTH 8

/** A read under way, part of a get. */
typedef struct mca_btl_epofi_read_t {
    mca_btl_epofi_op_t op;
    struct mca_btl_epofi_get_t *get;
    struct mca_btl_epofi_read_t *next; /**< among the get's idle ones */
} mca_btl_epofi_read_t;

/** A btl_get under way: a chain of reads. */
typedef struct mca_btl_epofi_get_t {
    struct mca_btl_epofi_get_t *next; /**< in a list of free or of stalled ones */
    struct mca_btl_epofi_get_t *made; /**< in the list of all there are */
    struct mca_btl_base_endpoint_t *endpoint;
    unsigned char *local; /**< where the next read goes */
    uint64_t remote;      /**< where it comes from, as fi_read wants it */
    uint64_t key;
    void *desc;
    size_t left;         /**< bytes for which no read has been started */
    unsigned int active; /**< reads under way */
    int status;          /**< OPAL_SUCCESS until a read has failed */
    bool told;           /**< the caller knows the end already; reads may still be under way */
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

/** The libfabric objects of a module, in the order in which they are opened. */
typedef struct mca_btl_epofi_context_t {
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct mca_btl_epofi_gate_t *gate; /**< NULL: nobody greets here */
} mca_btl_epofi_context_t;

/** What endpoints call of the protocols, which are above them. */
typedef struct mca_btl_epofi_upcalls_t {
    /** There is an endpoint: give it what protocols keep with it. */
    void (*start)(struct mca_btl_base_endpoint_t *endpoint);
    /** It goes: take that back. */
    void (*stop)(struct mca_btl_base_endpoint_t *endpoint);
    /** Its peer has been given up: tell it, if it can be told. */
    void (*farewell)(struct mca_btl_base_endpoint_t *endpoint);
    /** Tell those who wait for what is under way to it that it has failed. */
    void (*abandon)(struct mca_btl_epofi_module_t *module,
                    const struct mca_btl_base_endpoint_t *endpoint);
} mca_btl_epofi_upcalls_t;

typedef struct mca_btl_epofi_module_t {
    mca_btl_ep_module_t super;

    const mca_btl_epofi_upcalls_t *upcalls;
    mca_btl_epofi_context_t fi;
    const mca_btl_epofi_fabric_t *fabric;
    size_t inject_size;       /**< wire header included, bytes; at most that of inject_buffer */
    unsigned char *inject_buffer;
    uint32_t peer_queue;      /**< most operations under way to one peer */
    uint32_t inflight;        /**< operations under way to all peers */
    uint32_t own_ends;        /**< completions of our own messages since somebody counted */
    uint32_t idle;            /**< looks at the completion queue since the last completion */
    uint32_t idle_start;      /**< idle at the last look at the clock */
    uint64_t idle_ns;         /**< time of the first look since the last completion */
    uint32_t empty;           /**< looks at the completion queue that found nothing */
    uint32_t confirm_looks;   /**< looks at what has been sent, whether it has arrived, ... */
    uint64_t confirm_ns;      /**< ... when the last one was, ... */
    uint32_t confirm_next;    /**< ... and the slot at which the next one begins; wraps */
    uint64_t watch_ns;        /**< likewise of the receive buffers */
    uint64_t broken_ns;       /**< since when the queue cannot be read; 0: it can */
    bool abandons;            /**< peers have been given up whose gets may not have ended */
    bool closing;             /**< finalize runs: deliver nothing any more */
    bool refused;             /**< the provider has refused a send since we last made it look */

    /* Packets that are being filled: of the module's owner and of the postman. */
    atomic_flag packet_lock;
    _Atomic uint32_t packet_count; /**< changed under the lock; read by both without, as a hint */
    mca_btl_epofi_packet_t packets; /**< head of a ring; under the lock */
    size_t packet_size;             /**< bytes behind the wire header */
    bool posted;                    /**< known to the postman; of the owner */
    _Atomic bool watched;           /**< in its list.  Written under its lock, read by the owner */
    uint32_t looks_idle;            /**< looks without a packet in a row; under its lock, as ... */
    struct mca_btl_epofi_module_t *next_watched; /**< ... the list */

    /* Things to do besides reading the completion queue; looked at together. */
    mca_btl_epofi_recv_t *unposted;   /**< receives that the provider had no room for */
    mca_btl_epofi_get_t *stalled;     /**< gets whose next read the provider had no room for */
    mca_btl_epofi_get_t **stalled_tail;

    mca_btl_epofi_pool_t eager_pool;
    mca_btl_epofi_pool_t max_pool;

    mca_btl_epofi_recvs_t *recvs;
    unsigned int recv_count;
    size_t recv_size; /**< of a receive buffer, wire header included, bytes */
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
    bool entangled; /**< a module of this process has this one's address (btl_epofi_parking.c) */
    struct mca_btl_epofi_module_t *next_module;
} mca_btl_epofi_module_t;

/* ---- btl_epofi_base.c --------------------------------------------------------------------- */

#define EPOFI_SHOW_HELP(...)                                   \
    do {                                                       \
        MCA_BTL_EP_HOLD_CANCEL();                              \
        mca_btl_ep_show_help("help-btl-epofi.txt", __VA_ARGS__); \
    } while (0)

/** Guards what modules share: the fabric, the list of modules, what has been said once.  Not taken
 * on any path of a message. */
extern opal_mutex_t mca_btl_epofi_lock;

/** True the first time it is called with a flag; for messages that are said once per process. */
static inline bool mca_btl_epofi_first_time(atomic_flag *said)
{
    /* Relaxed: it orders nothing, it only counts to one. */
    return !atomic_flag_test_and_set_explicit(said, memory_order_relaxed);
}

/** Nanoseconds of a clock that only goes forward. */
uint64_t mca_btl_epofi_now(void);

/** The OPAL code for a positive libfabric error. */
int mca_btl_epofi_status(int error);

/* ---- btl_epofi_fabric.c ---------------------------------------------------------------------- */

/**
 * Get the process's fabric, choosing a provider if nobody has yet.  The caller holds the lock.
 *
 * @return OPAL_SUCCESS; OPAL_ERR_NOT_AVAILABLE (the reason has been said); OPAL_ERR_OUT_OF_RESOURCE
 */
int mca_btl_epofi_fabric_acquire(const mca_btl_epofi_fabric_t **fabric_p);

/**
 * Is the provider that the user names one that this libfabric has ever heard of?  It need not work
 * here: a site may name what only its compute nodes have.  The caller holds the lock.
 *
 * @return OPAL_SUCCESS, or OPAL_ERR_NOT_AVAILABLE after saying which there are
 */
int mca_btl_epofi_fabric_check(void);

/** Give it back; it closes with its last user.  The caller holds the lock. */
void mca_btl_epofi_fabric_release(void);

/** The component is opened (+1) or closed (-1): an open component keeps a fabric it has, and a
 * reason not to have one is forgotten when it closes.  The caller holds the lock. */
void mca_btl_epofi_fabric_hold(int change);

/* ---- btl_epofi_context.c --------------------------------------------------------------------- */

/** Open a context; on failure nothing is left open.
 * @param[in] own  the module's address, which has nothing in it yet */
int mca_btl_epofi_context_open(const mca_btl_epofi_fabric_t *fabric,
                               const mca_btl_epofi_address_t *own,
                               mca_btl_epofi_context_t *context);

/** Close what is open of a context, in the reverse of the order of opening. */
void mca_btl_epofi_context_close(mca_btl_epofi_context_t *context);

/* ---- btl_epofi_report.c ---------------------------------------------------------------------- */

/** See mca_btl_ep_report_fn_t. */
void mca_btl_epofi_report(uint32_t flags, mca_btl_ep_tell_fn_t tell, void *context);

/* ---- btl_epofi_module.c ---------------------------------------------------------------------- */

/** What ep_create does; the caller holds the lock. */
int mca_btl_epofi_module_create(void *context, uint32_t flags, mca_btl_ep_module_t **module_p);

/* ---- btl_epofi_parking.c --------------------------------------------------------------------- */

/** Module is about to get the peer's address: note it if the peer is of this process. */
void mca_btl_epofi_parking_connect(mca_btl_epofi_module_t *module, const unsigned char *address,
                                   size_t length);

/** Add to the list of live modules.  The caller holds the lock. */
void mca_btl_epofi_parking_enter(mca_btl_epofi_module_t *module);

/** Take off the list and close the module's context, now or when it is safe.  The caller holds the
 * lock. */
void mca_btl_epofi_parking_leave(mca_btl_epofi_module_t *module);

/* ---- btl_epofi_endpoint.c -------------------------------------------------------------------- */

/** Fill in the module's ep_address from its enabled libfabric endpoint. */
int mca_btl_epofi_address_publish(mca_btl_epofi_module_t *module);

/** The endpoint of whoever has this address, which may come off the wire.  With no reference more:
 * forget it with mca_btl_epofi_endpoint_retire if it has none.
 * @return OPAL_SUCCESS; OPAL_ERR_BAD_PARAM; OPAL_ERR_OUT_OF_RESOURCE; OPAL_ERR_UNREACH, said why */
int mca_btl_epofi_endpoint_at(mca_btl_epofi_module_t *module, const void *address, size_t length,
                              struct mca_btl_base_endpoint_t **endpoint_p);

int mca_btl_epofi_connect(mca_btl_ep_module_t *module, const void *address, size_t length,
                          struct mca_btl_base_endpoint_t **endpoint_p);
void mca_btl_epofi_disconnect(mca_btl_ep_module_t *module,
                              struct mca_btl_base_endpoint_t *endpoint);

/** Forget all endpoints; nothing is under way any more. */
void mca_btl_epofi_endpoint_free_all(mca_btl_epofi_module_t *module);

/** An endpoint that the owner does not know of, to send something to a peer that it has been
 * connected to before; forget it with mca_btl_epofi_endpoint_retire.  @return NULL: cannot be had */
struct mca_btl_base_endpoint_t *mca_btl_epofi_endpoint_again(mca_btl_epofi_module_t *module,
                                                             const mca_btl_epofi_pair_t *pair);

/** An operation to the peer ended: forget the peer if that is what was waited for. */
void mca_btl_epofi_endpoint_retire(struct mca_btl_base_endpoint_t *endpoint);

/** The provider had no room: say so if that has been going on for long.  Slow path.
 * @return OPAL_ERR_OUT_OF_RESOURCE */
int mca_btl_epofi_endpoint_stalled(struct mca_btl_base_endpoint_t *endpoint);

/** Declare the peer gone and tell the owner; the first time also the user, and the peer, if it is
 * still there.
 * @param[in] error   libfabric's error, positive
 * @param[in] detail  what the provider adds */
void mca_btl_epofi_endpoint_fail(struct mca_btl_base_endpoint_t *endpoint, int error,
                                 const char *detail);

/** What a refused libfabric call means for its caller; handles all but success.
 * @param[in] result  of the call, negative
 * @return OPAL_ERR_OUT_OF_RESOURCE or OPAL_ERR_UNREACH */
int mca_btl_epofi_endpoint_refused(struct mca_btl_base_endpoint_t *endpoint, ssize_t result);

/** Operations to peers have been under way for long without a completion: say so.  Slow path. */
void mca_btl_epofi_endpoint_watch(mca_btl_epofi_module_t *module);

/** End what is under way to peers that were given up some time ago. */
void mca_btl_epofi_endpoint_end_abandoned(mca_btl_epofi_module_t *module);

/** Operations to peers that are not gone.  Slow. */
uint32_t mca_btl_epofi_endpoint_awaited(const mca_btl_epofi_module_t *module);

/** See mca_btl_ep_abandon_fn_t. */
void mca_btl_epofi_abandon(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint);

/** Who the peer is, and its address, for people.
 * @param[in]  endpoint  NULL: the one that is being connected to, at address
 * @return text */
const char *mca_btl_epofi_describe(mca_btl_epofi_module_t *module,
                                   struct mca_btl_base_endpoint_t *endpoint, const void *address,
                                   char *text, size_t size);

/** Bytes of such a text. */
#define EPOFI_DESCRIBE 512

/* ---- btl_epofi_pair.c ------------------------------------------------------------------------ */

/** A module's id, secret and table of pairs.  @return OPAL_SUCCESS; OPAL_ERR_OUT_OF_RESOURCE;
 * OPAL_ERR_NOT_AVAILABLE: no random numbers, which has been said */
int mca_btl_epofi_pairs_init(mca_btl_epofi_module_t *module);
void mca_btl_epofi_pairs_fini(mca_btl_epofi_module_t *module);

/** A pair with the module of this id, which the table does not have.  @return NULL: no memory */
mca_btl_epofi_pair_t *mca_btl_epofi_pair_new(mca_btl_epofi_module_t *module, uint64_t id);

/** The pair with the module of an address that has been checked, able to send.
 * @return NULL: no memory */
mca_btl_epofi_pair_t *mca_btl_epofi_pair_get(mca_btl_epofi_module_t *module,
                                             const mca_btl_epofi_address_t *address);

/** The peer's endpoint: if there is none at present, the owner is asked for it. */
struct mca_btl_base_endpoint_t *mca_btl_epofi_pair_endpoint(mca_btl_epofi_module_t *module,
                                                            const mca_btl_epofi_pair_t *pair);

/** The pair of an id, or NULL. */
static inline mca_btl_epofi_pair_t *mca_btl_epofi_pair_find(const mca_btl_epofi_module_t *module,
                                                            uint64_t id)
{
    const mca_btl_epofi_pairs_t *pairs = &module->pairs;
    uint32_t at = (uint32_t) id & pairs->mask;

    while (OPAL_UNLIKELY(id != pairs->slots[at].id) && NULL != pairs->slots[at].pair) {
        at = (at + 1) & pairs->mask;
    }
    return pairs->slots[at].pair;
}

/** Write the header of the next message of a pair.  It counts once it is sent. */
static inline void mca_btl_epofi_wire_init(mca_btl_epofi_pair_t *pair, void *buffer,
                                           mca_btl_base_tag_t tag, size_t length)
{
    mca_btl_epofi_wire_t wire;

    pair->out.length = (uint32_t) length;
    wire = pair->out;
    wire.tag = tag;
    ++wire.sequence;
    memcpy(buffer, &wire, sizeof(wire));
}

/** The message whose header was written last has been taken by the provider. */
static inline void mca_btl_epofi_pair_sent(mca_btl_epofi_pair_t *pair)
{
    ++pair->out.sequence;
    pair->sent_bytes += pair->out.length;
}

/* ---- btl_epofi_ask.c ------------------------------------------------------------------------- */

/** Tags of messages between modules, which no owner sees; no active message has them. */
enum {
    EPOFI_TAG_PACKET = 0xFC, /**< several messages, see mca_btl_epofi_part_t */
    EPOFI_TAG_HERE = 0xFD, /**< answers ASK; its sequence tells whether anything is lost */
    EPOFI_TAG_ASK = 0xFE, /**< are you there, and do you still know me? */
    EPOFI_TAG_GONE = 0xFF /**< I have given you up */
};

/** See mca_btl_ep_ask_fn_t. */
void mca_btl_epofi_ask(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                       bool look_only);

/** Tell a peer that it has been given up, if it can be told. */
void mca_btl_epofi_ask_farewell(struct mca_btl_base_endpoint_t *endpoint);

/** Somebody asks: answer. */
void mca_btl_epofi_ask_answer(mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair);

/** A message of these tags has come.
 * @param[in] payload  length bytes, aligned to 8
 * @return false: it is none of these, or not of the right size */
bool mca_btl_epofi_ask_arrived(mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair,
                               mca_btl_base_tag_t tag, const void *payload, size_t length);

/** Ask whether what was sent some time ago has arrived.  Slow path, for now and then. */
void mca_btl_epofi_ask_confirm(mca_btl_epofi_module_t *module);

/** The endpoint goes: give up what asking holds. */
void mca_btl_epofi_ask_stop(struct mca_btl_base_endpoint_t *endpoint);

/* ---- btl_epofi_upcalls.c --------------------------------------------------------------------- */

extern const mca_btl_epofi_upcalls_t mca_btl_epofi_upcalls;

/* ---- btl_epofi_frag.c ------------------------------------------------------------------------ */

void mca_btl_epofi_pool_init(mca_btl_epofi_pool_t *pool, size_t size, unsigned int limit);

/** Free all fragments, wherever they are. */
void mca_btl_epofi_pool_fini(mca_btl_epofi_pool_t *pool);

/** Slow path of mca_btl_epofi_frag_get: make more.  @return a fragment, or NULL at the bound */
mca_btl_epofi_frag_t *mca_btl_epofi_pool_grow(mca_btl_epofi_module_t *module,
                                              mca_btl_epofi_pool_t *pool);

mca_btl_base_descriptor_t *mca_btl_epofi_alloc(mca_btl_base_module_t *btl,
                                               struct mca_btl_base_endpoint_t *endpoint,
                                               uint8_t order, size_t size, uint32_t flags);
int mca_btl_epofi_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *descriptor);
mca_btl_base_descriptor_t *mca_btl_epofi_prepare_src(mca_btl_base_module_t *btl,
                                                     struct mca_btl_base_endpoint_t *endpoint,
                                                     struct opal_convertor_t *convertor,
                                                     uint8_t order, size_t reserve, size_t *size,
                                                     uint32_t flags);

/** The smallest fragment that holds size bytes; NULL if there is none left or none so large. */
static inline mca_btl_epofi_frag_t *mca_btl_epofi_frag_get(mca_btl_epofi_module_t *module,
                                                           size_t size)
{
    mca_btl_epofi_pool_t *pool = size <= module->eager_pool.size ? &module->eager_pool
                                                                 : &module->max_pool;
    mca_btl_epofi_frag_t *frag = pool->free;

    if (OPAL_UNLIKELY(NULL == frag)) {
        return size <= pool->size ? mca_btl_epofi_pool_grow(module, pool) : NULL;
    }
    if (OPAL_UNLIKELY(size > pool->size)) {
        return NULL;
    }
    pool->free = frag->next;
    return frag;
}

static inline void mca_btl_epofi_frag_put(mca_btl_epofi_frag_t *frag)
{
    frag->next = frag->pool->free;
    frag->pool->free = frag;
}

/* ---- btl_epofi_send.c ------------------------------------------------------------------------ */

int mca_btl_epofi_ep_send(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                          const void *header, size_t header_size, const void *payload,
                          size_t payload_size, mca_btl_base_tag_t tag);
int mca_btl_epofi_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                        struct opal_convertor_t *convertor, void *header, size_t header_size,
                        size_t payload_size, uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                        mca_btl_base_descriptor_t **descriptor);
int mca_btl_epofi_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                       mca_btl_base_descriptor_t *descriptor, mca_btl_base_tag_t tag);

/** See mca_btl_ep_answer_fn_t. */
int mca_btl_epofi_answer(mca_btl_ep_module_t *module, const void *address, size_t length,
                         const void *message, size_t size, mca_btl_base_tag_t tag);

/** Completion of injected sends. */
void mca_btl_epofi_inject_complete(mca_btl_epofi_module_t *module, mca_btl_epofi_op_t *op,
                                   size_t length, int status);

/** Completion of a fragment that nobody but us knows of. */
void mca_btl_epofi_frag_complete(mca_btl_epofi_module_t *module, mca_btl_epofi_op_t *op,
                                 size_t length, int status);

static inline void mca_btl_epofi_op_started(mca_btl_epofi_module_t *module,
                                            struct mca_btl_base_endpoint_t *endpoint)
{
    ++module->inflight;
    ++endpoint->inflight;
    endpoint->stalled_ns = 0;
}

/** Undo mca_btl_epofi_op_started.  The endpoint may be gone afterwards. */
static inline void mca_btl_epofi_op_ended(mca_btl_epofi_module_t *module,
                                          struct mca_btl_base_endpoint_t *endpoint)
{
    --module->inflight;
    --endpoint->inflight;
    ++endpoint->ends;
    if (OPAL_UNLIKELY(0 == endpoint->references)) {
        mca_btl_epofi_endpoint_retire(endpoint);
    }
}

/* ---- btl_epofi_packet.c ---------------------------------------------------------------------- */

/** A module's ring of packets, empty. */
void mca_btl_epofi_packets_init(mca_btl_epofi_module_t *module);

/** An endpoint's, which is filled by whoever sends much to it. */
void mca_btl_epofi_packet_init(struct mca_btl_base_endpoint_t *endpoint);

/** Bytes of a message in a packet, what is in front of it and behind it included. */
static inline size_t mca_btl_epofi_part_size(size_t length)
{
    return sizeof(mca_btl_epofi_part_t) + ((length + 7) & ~(size_t) 7);
}

/**
 * Put a message into the endpoint's packet, beginning one if that is worth it.  For an endpoint
 * that has as many operations under way as pack_after says.
 *
 * @return OPAL_SUCCESS; OPAL_ERR_NOT_AVAILABLE: it is to be sent by itself, now, and there is no
 *         packet in front of it; OPAL_ERR_OUT_OF_RESOURCE, OPAL_ERR_UNREACH: as of ep_send
 */
int mca_btl_epofi_pack(mca_btl_epofi_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                       const void *header, size_t header_size, const void *payload,
                       size_t payload_size, mca_btl_base_tag_t tag);

/** Slow path of mca_btl_epofi_packet_send. */
int mca_btl_epofi_packet_close(mca_btl_epofi_module_t *module,
                               struct mca_btl_base_endpoint_t *endpoint);

/** Send the packet, if there is one, because something else is to follow it.
 * @return OPAL_SUCCESS: there is none any more; OPAL_ERR_OUT_OF_RESOURCE, OPAL_ERR_UNREACH */
static inline int mca_btl_epofi_packet_send(mca_btl_epofi_module_t *module,
                                            struct mca_btl_base_endpoint_t *endpoint)
{
    return OPAL_LIKELY(!endpoint->packing) ? OPAL_SUCCESS
                                           : mca_btl_epofi_packet_close(module, endpoint);
}

/** Send all packets of a module, as far as there is room, and forget those for the lost. */
void mca_btl_epofi_packets_send(mca_btl_epofi_module_t *module);

/** Likewise, if there are any. */
static inline void mca_btl_epofi_packets_look(mca_btl_epofi_module_t *module)
{
    /* Relaxed: it is the caller that adds, and what the postman takes away meanwhile is not found
     * under the lock. */
    if (OPAL_UNLIKELY(
            0 < atomic_load_explicit(&module->packet_count, memory_order_relaxed))) {
        mca_btl_epofi_packets_send(module);
    }
}

/** Send those that nobody has sent for a while.  Called by the postman, at any time.
 * @return are there any? */
bool mca_btl_epofi_packets_collect(mca_btl_epofi_module_t *module);

/** Add what is in open packets. */
void mca_btl_epofi_packets_count(const mca_btl_epofi_module_t *module, mca_btl_ep_counts_t *counts);

/* ---- btl_epofi_postman.c --------------------------------------------------------------------- */

/** One more module has packets that somebody is to look after.  By its owner.
 * @return false: there is no thread for it */
bool mca_btl_epofi_postman_take(void);

/** Slow path of mca_btl_epofi_postman_tell. */
void mca_btl_epofi_postman_watch(mca_btl_epofi_module_t *module);

/** There is a packet where there was none. */
static inline void mca_btl_epofi_postman_tell(mca_btl_epofi_module_t *module)
{
    /* Either we see that nobody watches us, or the postman sees the packet: partner is the fence in
     * has_none (btl_epofi_postman.c). */
    atomic_thread_fence(memory_order_seq_cst);
    if (OPAL_UNLIKELY(!atomic_load_explicit(&module->watched, memory_order_relaxed))) {
        mca_btl_epofi_postman_watch(module);
    }
}

/** The module goes: nobody looks after it any more when this returns. */
void mca_btl_epofi_postman_leave(mca_btl_epofi_module_t *module);

/* ---- btl_epofi_odd.c ------------------------------------------------------------------------- */

/** Count a message that is thrown away, and tell the first time. */
void mca_btl_epofi_drop(mca_btl_epofi_module_t *module, const char *why);

/** The pair of a header whose sender is not known yet: entered, if its proof is right.  Slow path.
 * @return NULL: a stranger's, or no memory; counted, and said once */
mca_btl_epofi_pair_t *mca_btl_epofi_pair_meet(mca_btl_epofi_module_t *module,
                                              const mca_btl_epofi_wire_t *wire);

/** A message of a pair that is not the next one.  Slow path; the message is not to be used. */
void mca_btl_epofi_pair_odd(mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair,
                            const mca_btl_epofi_wire_t *wire);

/** Messages of a pair are lost, of either direction: tell the owner, the user and the peer. */
void mca_btl_epofi_pair_lose(mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair,
                             const char *detail);

/* ---- btl_epofi_recv.c ------------------------------------------------------------------------ */

/** Make the receive buffers and post them. */
int mca_btl_epofi_recv_start(mca_btl_epofi_module_t *module);

/** Post what could not be posted before. */
void mca_btl_epofi_recv_repost(mca_btl_epofi_module_t *module);

/**
 * Are all receive buffers held by messages that have begun and do not go on?  Then nothing else can
 * be received: say so, and make more.  Slow path, for now and then.
 */
void mca_btl_epofi_recv_watch(mca_btl_epofi_module_t *module);

/** Free the buffers; the libfabric endpoint is closed, or never was. */
void mca_btl_epofi_recv_stop(mca_btl_epofi_module_t *module);

/* ---- btl_epofi_region.c ---------------------------------------------------------------------- */

/**
 * Register memory with the module's domain.
 *
 * @param[in] access  libfabric's FI_SEND, FI_RECV, FI_READ, FI_REMOTE_READ
 */
int mca_btl_epofi_mr_open(mca_btl_epofi_module_t *module, void *base, size_t size, uint64_t access,
                          struct fid_mr **mr_p);

struct mca_btl_base_registration_handle_t *
mca_btl_epofi_register_mem(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                           void *base, size_t size, uint32_t flags);
int mca_btl_epofi_deregister_mem(mca_btl_base_module_t *btl,
                                 struct mca_btl_base_registration_handle_t *handle);

/** Deregister what is left. */
void mca_btl_epofi_regions_stop(mca_btl_epofi_module_t *module);

/* ---- btl_epofi_get.c ------------------------------------------------------------------------- */

int mca_btl_epofi_get(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      void *local_address, uint64_t remote_address,
                      struct mca_btl_base_registration_handle_t *local_handle,
                      struct mca_btl_base_registration_handle_t *remote_handle, size_t size,
                      int flags, int order, mca_btl_base_rdma_completion_fn_t cbfunc,
                      void *cbcontext, void *cbdata);

/** Go on with gets whose next read had to wait. */
void mca_btl_epofi_get_resume(mca_btl_epofi_module_t *module);

/** Tell the callers of what is under way to this peer that it has failed. */
void mca_btl_epofi_get_abandon(mca_btl_epofi_module_t *module,
                               const struct mca_btl_base_endpoint_t *endpoint);

/** Free all gets. */
void mca_btl_epofi_get_stop(mca_btl_epofi_module_t *module);

/* ---- btl_epofi_sockets.c --------------------------------------------------------------------- */

/** See what sockets libfabric opens from now on, as far as that can be had.  Under the component's
 * lock; may be called for every fabric. */
void mca_btl_epofi_sockets_watch(const struct fid_fabric *fabric);

/** Can greetings be had: are all calls led here that they need?  After mca_btl_epofi_sockets_watch,
 * under the component's lock. */
bool mca_btl_epofi_sockets_can_greet(void);

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

/** How often this thread has tried to connect to somebody, within libfabric. */
uint32_t mca_btl_epofi_sockets_connects(void);

/* ---- btl_epofi_slots.c ----------------------------------------------------------------------- */

/** A function that is called in place of one of libc. */
typedef struct mca_btl_epofi_slot_t {
    const char *name;
    void *function;
    bool led; /**< set here: the library calls it, and is led */
} mca_btl_epofi_slot_t;

/**
 * Lead a library's calls of functions here, and keep this component loaded from now on.
 *
 * @param[in] inside  an address in the library
 * @return false if that cannot be done, here or with this library
 */
bool mca_btl_epofi_slots_lead(const void *inside, mca_btl_epofi_slot_t *slots, size_t count);

/* ---- btl_epofi_progress.c -------------------------------------------------------------------- */

int mca_btl_epofi_progress(mca_btl_ep_module_t *module);
bool mca_btl_epofi_pending(const mca_btl_ep_module_t *module);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_TYPES_H */
