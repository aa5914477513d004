/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The objects of the endpoint engine: endpoints, peers, communicators.
 *
 * An endpoint (ep) is what a handle from MPIX_Comm_create_endpoints stands for: matching table,
 * transports, requests and a lock of its own.  All communicators that descend from one handle share
 * its endpoint.  A thread that works on one endpoint touches nothing of another's but its receive queue.
 */

#ifndef MCA_PML_EPML_TYPES_H
#define MCA_PML_EPML_TYPES_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "../base/base.h"
#include "pml_epml_counts.h"

#include "ompi/mca/common/ep/common_ep_engine.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "opal/class/opal_hash_table.h"
#include "opal/mca/common/ep/common_ep_btl.h"
#include "opal/mca/common/ep/common_ep_pace.h"
#include "opal/mca/threads/mutex.h"

BEGIN_C_DECLS

#define EPML_CACHE_LINE 64

struct mca_pml_epml_ep_t;
struct mca_pml_epml_comm_t;
struct mca_pml_epml_request_t;
struct mca_pml_epml_part_t;
struct mca_pml_epml_am_partial_t;

/** Bytes of large messages that a thread copies for endpoints which are not its own, before it goes
 * back to what it waits for: some microseconds.  Their own threads copy all there is. */
#define EPML_SLICE ((size_t) 65536)
#define EPML_SLICE_NONE SIZE_MAX

/** How many threads use an endpoint at a time; info key mpix_thread_level. */
typedef enum mca_pml_epml_level_t {
    EPML_LEVEL_NONE = -1, /**< of a handle: nothing was said */
    EPML_LEVEL_SINGLE = 0,
    EPML_LEVEL_FUNNELED = 1,
    EPML_LEVEL_SERIALIZED = 2,
    EPML_LEVEL_MULTIPLE = 3
} mca_pml_epml_level_t;
#define EPML_LEVELS (EPML_LEVEL_MULTIPLE + 1)

/** The transports to endpoints of other processes, in the order of preference.  A peer is reached by
 * one, for good; both endpoints agree on it when they first meet. */
typedef enum mca_pml_epml_transport_t {
    EPML_TRANSPORT_NODE = 0, /**< processes of this node: epshm, through shared memory */
    EPML_TRANSPORT_NET = 1,  /**< any: epofi */
    EPML_TRANSPORTS = 2
} mca_pml_epml_transport_t;

/** Sets of transports. */
enum { EPML_WITH_NODE = 1 << EPML_TRANSPORT_NODE, EPML_WITH_NET = 1 << EPML_TRANSPORT_NET };

/**
 * An endpoint as others see it: identity and address.  One per endpoint known to this process,
 * shared by all communicators and all local endpoints; constant once published, but for full.
 */
typedef struct mca_pml_epml_peer_t {
    _Atomic uint32_t references;
    uint32_t slot;                       /**< key in every endpoint's table of connections */
    ompi_proc_t *proc;                   /**< a reference of ours */
    struct mca_btl_base_endpoint_t
        *shm;          /**< its receive queue, if it lives in this process, else NULL */
    _Atomic bool full; /**< lives here and is full, see pml_epml_flow.h; written by itself only */
    bool is_near;      /**< on this node */
    mca_btl_ep_disconnect_fn_t shm_disconnect;
    uint64_t id;             /**< unique in this process for ever */
    uint64_t uid;            /**< of its endpoint, see mca_pml_epml_ep_t */
    mca_pml_epml_transport_t
        transport;           /**< by which it is reached, if it has no receive queue here */
    uint16_t address_length; /**< of its address there; 0: none was exchanged */
    unsigned char address[MCA_BTL_EP_ADDRESS_MAX];
} mca_pml_epml_peer_t;

/** The procs of a list of peers, for groups: one array for the handles of all endpoints of this
 * process, each of whose groups would otherwise have its own.  It has a reference on each proc. */
typedef struct mca_pml_epml_procs_t {
    _Atomic uint32_t references; /**< groups, and the list of peers while it lasts */
    int count;
    ompi_proc_t *proc[];
} mca_pml_epml_procs_t;

/** The members of a list of peers that a reach includes. */
typedef struct mca_pml_epml_within_t {
    int count, processes;
    int first, last; /**< ranks */
} mca_pml_epml_within_t;

/** The members of one side of a communicator, by rank.  Shared by handles; constant. */
typedef struct mca_pml_epml_peers_t {
    _Atomic uint32_t references;
    int count;
    mca_pml_epml_within_t within[2];       /**< by reach; see pml_epml_locality.c */
    _Atomic bool is_counted;               /**< they are: for the first handle */
    _Atomic(mca_pml_epml_procs_t *) procs; /**< made for the first group, else NULL */
    uint64_t shared_key;                   /**< in pml_epml_shared_peers.c; 0: not shared */
    mca_pml_epml_peer_t *member[];
} mca_pml_epml_peers_t;

/** An endpoint's connection to a peer in another process. */
typedef struct mca_pml_epml_connection_t {
    uint64_t peer_id; /**< slots are used again: whose connection this is; 0: none's */
    mca_btl_ep_module_t *module;
    struct mca_btl_base_endpoint_t *endpoint; /**< NULL: none */
    uint32_t slot;
    bool used;                    /**< an entry of the table, for good: its slot comes again */
    mca_pml_epml_peer_t *holding; /**< a reference: the peer was sent HOLD; NULL: it may go on */
    uint32_t kept_since_hold;     /**< messages of it kept since then */
    bool held;                    /**< the peer sent HOLD */
    bool fetches;                 /**< short data too it would rather fetch, see pml_epml_send.c */
    uint32_t copied;              /**< messages sent of which that was to be known */
    uint64_t lost_id;             /**< the peer that this endpoint has lost; 0: none */
    opal_process_name_t name;     /**< of the peer */
} mca_pml_epml_connection_t;

/** One thing that has to wait because a peer's queue is full: a request that goes on, whose part it
 * is, or a control message.  New traffic to the peer goes behind, so order is kept and other peers
 * are not held up. */
typedef struct mca_pml_epml_pending_t {
    epml_pending_thing_t thing; /**< peer: a mca_pml_epml_peer_t, of which the queue has a
                                 * reference; since: ns, see pml_epml_transmit.c */
    struct mca_pml_epml_request_t *request; /**< NULL: a control message */
    size_t size;                            /**< bytes of the control message, which follow */
    size_t sent; /**< of an active message that goes in pieces: bytes of its data */
} mca_pml_epml_pending_t;

static inline mca_pml_epml_pending_t *mca_pml_epml_pending_of(const epml_pending_thing_t *thing)
{
    return (mca_pml_epml_pending_t *) ((char *) thing - offsetof(mca_pml_epml_pending_t, thing));
}

/** A message that came before its receive.  There may be a million of them: with up to 12 bytes of
 * data it is 56 bytes, of which malloc makes 64.  Context, source and tag are those of its queue in
 * the matching table. */
typedef struct mca_pml_epml_unexpected_t {
    union {
        epml_match_unexpected_t match; /**< while it is in the table */
        struct {
            int32_t source, tag;
        } taken; /**< once a matched probe has taken it out */
    };
    mca_pml_epml_hdr_common_t common;
    uint32_t size;        /**< bytes at data */
    unsigned char data[]; /**< eager: data; rendezvous: the header's rest, handle */
} mca_pml_epml_unexpected_t;

/** Sizes of fetched messages that are distinguished: up to 16, 32, 64 and 256 KiB, 1 MiB, and above. */
#define EPML_FETCH_CLASSES 6

/** Bytes of data up to which they are copied twice on their way to another process of the node,
 * however far the cores are from each other: one copy by the kernel takes longer. */
#define EPML_NODE_COPIED 4096

/** Notices that a member of a communicator sends to others, which pass them on. */
typedef enum mca_pml_epml_notice_t {
    EPML_NOTICE_LEFT,    /**< its collectives cannot succeed */
    EPML_NOTICE_REVOKED, /**< it is revoked: nothing of it can succeed */
    EPML_NOTICES
} mca_pml_epml_notice_t;

/** How far a member has come with passing such notices on. */
typedef struct mca_pml_epml_passing_t {
    bool over;      /**< all that are to be notified by it have been */
    bool first;     /**< it notifies all members: no member has notified it */
    uint32_t count; /**< so many of them so far */
    int32_t lost;   /**< of members lost then: after more losses others are to be notified */
} mca_pml_epml_passing_t;

/** Communicators of which members may speak before they are here, or half as many. */
#define EPML_LEFT_EARLY 32

/* ---- an endpoint, and its parts -------------------------------------------------------------- */

/* Each part is written by the layer that it names, under the endpoint's lock if nothing else is
 * said, and read by others; test/self/layers.t sees to that. */

/** What threads see of an endpoint that do not have its lock.  object. */
typedef struct mca_pml_epml_ep_signs_t {
    /** Progress it even if the receive queue is empty: it has transports to other processes, or
     * pending queues. */
    _Atomic bool busy;
    _Atomic uint32_t
        heartbeat; /**< counts progress calls by a thread of its own; without the lock, too */
} mca_pml_epml_ep_signs_t;

/** The transports' modules.  wire. */
typedef struct mca_pml_epml_ep_transports_t {
    mca_btl_ep_module_t *shm;
    size_t immediate_limit; /**< header and data that go to a local peer without a request */
    mca_btl_ep_module_t *module[EPML_TRANSPORTS]; /**< NULL: no peer is reached by it */
} mca_pml_epml_ep_transports_t;

/** Lists of requests, and how much this progress call may do for them.  object. */
typedef struct mca_pml_epml_ep_requests_t {
    struct mca_pml_epml_request_t *unused;
    struct mca_pml_epml_request_t *deferred; /**< callbacks to run when the lock is given back */
    size_t
        slice; /**< bytes that this progress call may still copy of large messages: see EPML_SLICE */
} mca_pml_epml_ep_requests_t;

/** How peers in other processes are reached, and which of them are lost.  wire. */
typedef struct mca_pml_epml_ep_wire_t {
    epml_pending_queues_t pending; /**< by the peer's slot; things are in mca_pml_epml_pending_t */
    /** A hash table by peer slot with open addressing, of a size that is a power of two, for those
     * peers only that the endpoint has sent to.  NULL: none yet. */
    mca_pml_epml_connection_t *connections;
    uint32_t connection_size;
    uint32_t connections_used;
    uint32_t lost_seen; /**< mca_pml_epml_lost_count when this endpoint last looked, or LOOK */
    bool broken
        [EPML_TRANSPORTS]; /**< the transport's module has failed: all peers beyond it are lost */
    const mca_pml_epml_peer_t *connecting; /**< the peer of an ep_connect in progress */
    uint64_t deferred;                     /**< counts things put in a pending queue */
    mca_btl_ep_counts_t net_before; /**< of the network's module, of those that had it before */
} mca_pml_epml_ep_wire_t;

/** Its communicators.  object. */
typedef struct mca_pml_epml_ep_comms_t {
    opal_hash_table_t table; /**< context -> mca_pml_epml_comm_t, for checking what arrives */
    struct mca_pml_epml_comm_t *recent;
    _Atomic uint32_t active; /**< with requests on their way; also read without the lock */
    uint32_t said[EPML_LEVELS]; /**< handles by the level that was said for them */
} mca_pml_epml_ep_comms_t;

/** Messages without a receive, and holding their senders back: pml_epml_flow.h.  wire. */
typedef struct mca_pml_epml_ep_flow_t {
    uint64_t bytes;                /**< of messages kept, their headers included */
    uint64_t limit;                /**< pml_epml_unexpected_limit: full above it */
    uint64_t most;                 /**< the most bytes there ever were */
    uint32_t holding_count;        /**< connections with holding set */
    uint32_t held_count;           /**< connections with held set */
    bool full;                     /**< peers were notified, or will be when they send */
    bool exhausted;                /**< there was no memory for a message: full for good */
    uint64_t times_full;           /**< how often the limit was reached */
    uint64_t holds_sent, gos_sent; /**< to other processes */
    uint64_t holds_received;
    uint64_t dropped;   /**< messages that made no sense, or came too late */
    uint64_t taken_out; /**< messages that a matched probe has, and no receive yet */
} mca_pml_epml_ep_flow_t;

/** Its progress.  engine. */
typedef struct mca_pml_epml_ep_engine_t {
    uint32_t net_interval; /**< polls of the receive queue per poll of the network, adaptive */
    uint32_t net_countdown;
    uint32_t quiet; /**< progress calls in which no other process sent anything */
    /** One progress call, for layers below the engine that must see what has come: see
     * pml_epml_progress.h. */
    int (*progress)(struct mca_pml_epml_ep_t *ep);
    uint64_t helps;                  /**< progress calls by threads that were not its own */
    mca_pml_epml_counts_t accounted; /**< what of its counts is in the process's, see
                                      * mca_pml_epml_counts_account */
} mca_pml_epml_ep_engine_t;

/** Long messages that are fetched.  proto. */
typedef struct mca_pml_epml_ep_fetch_t {
    /** From other processes of the node: fetched, or sent in fragments. */
    ep_pace_t pace[EPML_FETCH_CLASSES];
    uint64_t last;                 /**< when the last of them was complete, by ep_pace_clock */
    uint64_t
        bytes[EPML_TRANSPORTS + 1]; /**< read from senders' memory, by transport; last: inside */
} mca_pml_epml_ep_fetch_t;

/** What is known of losses, and asking for them.  loss. */
typedef struct mca_pml_epml_ep_loss_t {
    bool ask_soon; /**< do not wait for pml_epml_liveness_interval: others have lost a peer */
    /** A peer is lost, or has left: new communicators may have lost members.  Written under the
     * lock; a waiting thread reads it without, as a hint. */
    atomic_bool any;
    /** What members of communicators have said that are not here yet, or no more; the oldest
     * goes. */
    struct {
        uint64_t context; /**< 0: nothing */
        uint64_t uid;     /**< its sender */
        mca_pml_epml_notice_t notice;
    } early[EPML_LEFT_EARLY];
    uint32_t early_next;
    uint64_t quiet_ns;    /**< when it became quiet, or the last questions were asked */
    uint64_t launcher_ns; /**< when the launcher was last waited for, to tell of a death */
    struct {
        uint64_t context; /**< 0: none since the last questions */
        int32_t source, tag;
    } probed; /**< the last probe in vain: it waits for a peer, too */
} mca_pml_epml_ep_loss_t;

/** What clients have begun and no thread executes, except for one: pml_epml_work.h.  engine, under
 * a lock of its own. */
typedef struct mca_pml_epml_ep_work_t {
    opal_mutex_t lock;
    struct mpix_endpoints_work_t *first, *last; /**< the oldest first */
} mca_pml_epml_ep_work_t;

/** Identity and lifetime.  engine; constant once it is made, except for the references. */
typedef struct mca_pml_epml_ep_life_t {
    uint64_t uid; /**< unique in the job for ever: names are not, see index 0 */
    mca_pml_epml_peer_t *self;
    _Atomic uint32_t references; /**< communicators; the creation while it lasts; no lock */
} mca_pml_epml_ep_life_t;

/** Its place among the endpoints of the process.  engine, under the registry's lock. */
typedef struct mca_pml_epml_ep_list_t {
    uint32_t seen_heartbeat; /**< by process-wide progress */
    uint32_t scan_rest;      /**< looks that process-wide progress leaves out */
    uint32_t visitors;       /**< threads whose process-wide progress is at it */
    bool gone;               /**< the last reference went meanwhile */
    struct mca_pml_epml_ep_t *next, *prev;
} mca_pml_epml_ep_list_t;

/** An endpoint.  Its lock, matching table and numbers are written by their own functions only. */
typedef struct mca_pml_epml_ep_t {
    _Alignas(EPML_CACHE_LINE) epml_lock_t lock;
    mca_pml_epml_ep_signs_t signs;
    _Atomic uint32_t works; /**< of clients in the list, or of it and taken out; engine, no lock */
    /** Work that is not in the list: pml_epml_work.c.  engine, no lock. */
    struct mpix_endpoints_work_t *_Atomic work_place;

    /* What each progress call and each short message needs comes first. */
    _Alignas(EPML_CACHE_LINE) mca_pml_epml_ep_transports_t transports;
    epml_match_table_t match;
    mca_pml_epml_ep_requests_t requests;
    mca_pml_epml_ep_wire_t wire;
    epml_request_ids_t numbers;
    mca_pml_epml_ep_comms_t comms;
    _Alignas(EPML_CACHE_LINE) mca_pml_epml_ep_flow_t flow;
    mca_pml_epml_ep_engine_t engine;
    mca_pml_epml_ep_fetch_t fetch;
    mca_pml_epml_ep_loss_t loss;
    mca_pml_epml_ep_work_t work;
    struct mca_pml_epml_client_request_t *clients_unused; /**< object, under the lock */
    struct mca_pml_epml_buffer_t *buffer; /**< for buffered sends; NULL: the process's.  Likewise */
    mca_pml_epml_ep_life_t life;
    mca_pml_epml_ep_list_t list;
} mca_pml_epml_ep_t;

/* Do two fields begin on one cache line? */
#define EPML_SAME_LINE(a, b)                          \
    (offsetof(mca_pml_epml_ep_t, a) / EPML_CACHE_LINE \
     == offsetof(mca_pml_epml_ep_t, b) / EPML_CACHE_LINE)
_Static_assert(EPML_SAME_LINE(transports, match.recent),
               "the transports, and the queue that is searched first");
_Static_assert(EPML_SAME_LINE(requests, wire.pending.first),
               "what each call and progress looks at");
_Static_assert(EPML_SAME_LINE(flow.bytes, flow.exhausted), "what a kept message looks at");

/** Context ids have 62 bits (mca_pml_epml_context_ids).  With this one, messages by which members
 * of the communicator agree on another one (pml_epml_cid_message.c), and which no receive of any
 * member's matches.  The last one is EPML_PART_CONTEXT. */
#define EPML_AGREE_CONTEXT (UINT64_C(1) << 62)

/** What hangs from an endpoint communicator (c_pml_comm). */
typedef struct mca_pml_epml_comm_t {
    mca_pml_epml_ep_t *ep;
    uint64_t context; /**< what its messages carry */
    int32_t rank;     /**< own rank in it */
    bool is_inter;
    bool may_overtake;           /**< mpi_assert_allow_overtaking; under the ep's lock */
    mca_pml_epml_peers_t *peers; /**< the group that ranks in calls name: the remote group, if there
                                      is one */
    mca_pml_epml_peers_t *local; /**< own group's members; the same as peers if not is_inter */
    ompi_communicator_t *comm;
    mca_pml_epml_level_t level; /**< mpix_thread_level, of this handle; under the ep's lock */
    uint64_t active; /**< requests that hold a reference on comm, under the ep's lock */
    /** Partitioned receives that were freed before their send came; under the ep's lock. */
    struct mca_pml_epml_part_t *ghosts;
    /** Of an intercommunicator, the state of its c_local_comm, which libmpi's collectives use
     * beside it; of that one, the intercommunicator's.  Or NULL; likewise. */
    struct mca_pml_epml_comm_t *inner, *outer;
    /** Members that are lost: written by the layer loss, under the ep's lock. */
    struct {
        int32_t rank;          /**< one in peers whose endpoint is lost, or -1 */
        int32_t count;         /**< members that are lost, of peers and local */
        int32_t acked;         /**< so many of them the user has acknowledged */
        int32_t listed;        /**< members in list */
        int32_t *list; /**< lost members in the order in which they were reported to the user: ranks
                                * in peers, or ~ranks in local; NULL: never asked for */
        bool member;   /**< some member is lost, of peers, of local or of outer; or left or
                                * revoked is set */
        bool left;             /**< a member has said that it has lost another one */
        bool revoked;          /**< all that waits in it ends with MPI_ERR_REVOKED */
        mca_pml_epml_passing_t passing[EPML_NOTICES];
        uint32_t ask_next; /**< the next member where all members are looked at */
    } loss;
    bool message_lost;       /**< one was lost for lack of memory: receives fail */
    bool agree_message_lost; /**< the same of EPML_AGREE_CONTEXT */
    bool agree_over; /**< one of all members was given up: what still comes of it must not be
                        * taken for the next one's; under the ep's lock */
    bool agrees;     /**< messages of EPML_AGREE_CONTEXT have come; under the ep's lock */
    bool may_owe;   /**< a client has sent a notice to others, or received one, as of an error, or a
                      * message of a collective was never received: members may still ask for
                      * what they have offered; under the ep's lock */
    void **objects; /**< of clients, see pml_epml_clients.h; NULL: none; set under the lock */
    struct mca_pml_epml_am_partial_t *partials; /**< active messages of which pieces are missing;
                                                 * engine, under the ep's lock */
    mpix_endpoints_work_t release; /**< engine: see mca_pml_epml_work_release */
} mca_pml_epml_comm_t;

/** Does it reach beyond its process? */
static inline bool mca_pml_epml_ep_has_transports(const mca_pml_epml_ep_t *ep)
{
    return NULL != ep->transports.module[EPML_TRANSPORT_NODE]
           || NULL != ep->transports.module[EPML_TRANSPORT_NET];
}

/** Our mark in c_flags: far above the bits that Open MPI 5 and 6 use. */
#define EPML_COMM_FLAG 0x40000000u

static inline bool mca_pml_epml_is_endpoint_comm(const ompi_communicator_t *comm)
{
    return 0 != (comm->c_flags & EPML_COMM_FLAG);
}

static inline mca_pml_epml_comm_t *mca_pml_epml_comm(const ompi_communicator_t *comm)
{
    return (mca_pml_epml_comm_t *) comm->c_pml_comm;
}

END_C_DECLS

#endif /* MCA_PML_EPML_TYPES_H */
