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
 * The objects of the endpoint engine: endpoints, peers, communicators.
 *
 * An endpoint (ep) is what a handle from MPIX_Comm_create_endpoints stands for: matching table,
 * transports, requests and a lock of its own.  All communicators that descend from one handle share
 * its endpoint.  A thread that works on one endpoint touches nothing of another's but its inbox.
 */

#ifndef MCA_PML_EPML_TYPES_H
#define MCA_PML_EPML_TYPES_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "pml_epml.h"
#include "pml_epml_backlog.h"
#include "pml_epml_biased_lock.h"
#include "pml_epml_counts.h"
#include "pml_epml_hdr.h"
#include "pml_epml_match.h"
#include "pml_epml_numbers.h"

#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "opal/class/opal_hash_table.h"
#include "opal/mca/btl/btl_ep.h"
#include "opal/mca/btl/btl_ep_pace.h"

BEGIN_C_DECLS

#define EPML_CACHE_LINE 64

struct mca_pml_epml_ep_t;
struct mca_pml_epml_comm_t;
struct mca_pml_epml_request_t;
struct mca_pml_epml_part_t;

/** Bytes of large messages that a thread copies for endpoints which are not its own, before it goes
 * back to what it waits for: some microseconds.  Their own threads copy all there is. */
#define EPML_SLICE ((size_t) 65536)
#define EPML_SLICE_NONE SIZE_MAX

/** How many threads use an endpoint at a time; info key mpix_thread_level. */
typedef enum mca_pml_epml_level_t {
    EPML_LEVEL_SINGLE = 0,
    EPML_LEVEL_FUNNELED = 1,
    EPML_LEVEL_SERIALIZED = 2,
    EPML_LEVEL_MULTIPLE = 3
} mca_pml_epml_level_t;

/** The ways to endpoints of other processes, in the order of preference.  A peer is reached by one,
 * for good; both sides agree on it when they make each other's acquaintance. */
typedef enum mca_pml_epml_link_t {
    EPML_LINK_NODE = 0, /**< processes of this node: epshm, through shared memory */
    EPML_LINK_NET = 1,  /**< any: epofi */
    EPML_LINKS = 2
} mca_pml_epml_link_t;

/** Sets of links. */
enum { EPML_WITH_NODE = 1 << EPML_LINK_NODE, EPML_WITH_NET = 1 << EPML_LINK_NET };

/**
 * An endpoint as others see it: identity and address.  One per endpoint known to this process,
 * shared by all communicators and all local endpoints; constant once published, but for full.
 */
typedef struct mca_pml_epml_peer_t {
    _Atomic uint32_t references;
    uint32_t slot;                       /**< key in every endpoint's table of connections */
    ompi_proc_t *proc;                   /**< a reference of ours */
    struct mca_btl_base_endpoint_t *shm; /**< its inbox, if it lives in this process, else NULL */
    _Atomic bool full; /**< lives here and is full, see pml_epml_flow.h; written by itself only */
    mca_btl_ep_disconnect_fn_t shm_disconnect;
    uint64_t id;                         /**< unique in this process for ever */
    uint64_t uid;                        /**< of its endpoint, see mca_pml_epml_ep_t */
    mca_pml_epml_link_t link;            /**< by which it is reached, if it has no inbox here */
    uint16_t address_length;             /**< of its address there; 0: none was exchanged */
    unsigned char address[MCA_BTL_EP_ADDRESS_MAX];
} mca_pml_epml_peer_t;

/** The procs of a list of peers, for groups: one array for the handles of all endpoints of this
 * process, each of whose groups would otherwise have its own.  It has a reference on each proc. */
typedef struct mca_pml_epml_procs_t {
    _Atomic uint32_t references; /**< groups, and the list of peers while it lasts */
    int count;
    ompi_proc_t *proc[];
} mca_pml_epml_procs_t;

/** The members of one side of a communicator, by rank.  Shared by handles; constant. */
typedef struct mca_pml_epml_peers_t {
    _Atomic uint32_t references;
    int count;
    _Atomic(mca_pml_epml_procs_t *) procs; /**< made for the first group, else NULL */
    uint64_t shared_key; /**< in pml_epml_share.c; 0: not entered there */
    mca_pml_epml_peer_t *peer[];
} mca_pml_epml_peers_t;

/** An endpoint's connection to a peer in another process. */
typedef struct mca_pml_epml_connection_t {
    uint64_t peer_id; /**< slots are used again: whose connection this is; 0: nobody's */
    mca_btl_ep_module_t *module;
    struct mca_btl_base_endpoint_t *endpoint; /**< NULL: none */
    uint32_t slot;
    bool used; /**< an entry of the table, for good: its slot comes again */
    mca_pml_epml_peer_t *told;    /**< a reference: we told the peer to hold; NULL: it may go on */
    uint32_t kept_since_told;     /**< messages of it kept since then */
    bool held;                    /**< the peer told us to hold */
    uint64_t lost_id; /**< the peer that this endpoint has lost; 0: none */
    opal_process_name_t name; /**< of the peer */
} mca_pml_epml_connection_t;

/** One thing that has to wait because a peer's queue is full: a request that goes on, whose part it
 * is, or a control message.  New traffic to the peer goes behind, so order is kept and other peers
 * are not held up. */
typedef struct mca_pml_epml_pending_t {
    epml_backlog_thing_t thing; /**< peer: a mca_pml_epml_peer_t, of which the queue has a
                                 * reference; since: ns, see pml_epml_backlog.c */
    struct mca_pml_epml_request_t *request; /**< NULL: a control message */
    size_t size;                            /**< bytes of the control message, which follow */
} mca_pml_epml_pending_t;

/** A message that came before its receive.  There may be a million of them: with up to 12 bytes of
 * data it is 56 bytes, of which malloc makes 64.  Context, source and tag are those of its queue in
 * the matching table. */
typedef struct mca_pml_epml_unexpected_t {
    union {
        epml_match_unexpected_t match; /**< while it is in the table */
        struct {
            int32_t source, tag;
        } taken;                       /**< once a matched probe has taken it out */
    };
    mca_pml_epml_hdr_common_t common;
    uint32_t size;                     /**< bytes at data */
    unsigned char data[];              /**< eager: data; rendezvous: the header's rest, handle */
} mca_pml_epml_unexpected_t;

/** Sizes of long messages that are told apart: up to 64 and 256 KiB, 1 MiB, and above. */
#define EPML_FETCH_CLASSES 4

/** Communicators of which members may speak before they are here, or half as many. */
#define EPML_LEFT_EARLY 32

/** An endpoint. */
typedef struct mca_pml_epml_ep_t {
    /* ---- lines of the lock: written by whoever works on the endpoint ---- */
    _Alignas(EPML_CACHE_LINE) epml_lock_t lock;
    /** Turn it even if the inbox is empty: it has links, or backlogs.  Read without the lock. */
    _Atomic bool busy;
    _Atomic uint32_t heartbeat;  /**< counts turns by a thread of its own; read by the others */

    /* ---- lines of the engine: under the lock ---- */
    _Alignas(EPML_CACHE_LINE) mca_btl_ep_module_t *shm;
    size_t immediate_limit; /**< header and data that go to a neighbour without a request */
    mca_btl_ep_module_t *link[EPML_LINKS]; /**< NULL: nobody is to be reached that way */
    epml_match_table_t match;
    /** Long messages from other processes of the node: fetched, or second way in fragments. */
    ep_pace_t fetches[EPML_FETCH_CLASSES];
    uint64_t fetch_last; /**< when the last of them was complete, by ep_pace_clock */
    struct mca_pml_epml_request_t *free_requests;
    struct mca_pml_epml_request_t *deferred; /**< callbacks to run when the lock is given back */
    epml_backlogs_t backlogs; /**< by the peer's slot; things are in mca_pml_epml_pending_t */
    epml_numbers_t numbers;
    /** A hash table by peer slot with open addressing, of a size that is a power of two, for those
     * peers only that the endpoint has sent to.  NULL: none yet. */
    mca_pml_epml_connection_t *connections;
    uint32_t connection_size;
    uint32_t connections_used;
    opal_hash_table_t comms; /**< context -> mca_pml_epml_comm_t, for checking what arrives */
    struct mca_pml_epml_comm_t *recent_comm;
    size_t slice; /**< bytes that this turn may still copy of large messages: see EPML_SLICE */
    uint32_t net_interval; /**< polls of the inbox per poll of the network, adaptive */
    uint32_t net_countdown;
    _Atomic uint32_t active_comms; /**< with requests on their way; also read without the lock */
    uint64_t dropped;   /**< messages dropped because they made no sense */
    uint64_t taken_out; /**< messages that a matched probe has, and no receive yet */

    /* flow control, see pml_epml_flow.h */
    uint64_t unexpected_bytes; /**< of messages kept, their headers included */
    uint64_t unexpected_limit; /**< pml_epml_unexpected_limit: full above it */
    uint64_t unexpected_most;  /**< the most there ever were */
    uint64_t times_full;       /**< how often the limit was reached */
    uint64_t holds_sent, gos_sent; /**< to other processes */
    uint64_t holds_received;
    uint32_t told_count;       /**< connections with told set */
    uint32_t held_count;       /**< connections with held set */
    bool full;                 /**< peers were told, or will be when they send */
    bool exhausted;            /**< there was no memory for a message: full for good */

    /* losses, see pml_epml_lost.c */
    uint32_t lost_seen; /**< mca_pml_epml_lost_news when this endpoint last looked, or LOOK */
    bool ask_soon;      /**< do not wait for pml_epml_ask: others have lost somebody */
    bool lost_any;      /**< somebody is lost: new communicators may have lost members */
    /** What members of communicators have said that are not here yet, or no more; the oldest goes. */
    struct {
        uint64_t context; /**< 0: nothing */
        uint64_t uid;     /**< who said it */
    } early[EPML_LEFT_EARLY];
    uint32_t early_next;
    bool broken[EPML_LINKS]; /**< the link's module has failed: everybody beyond it is lost */
    uint32_t quiet;     /**< turns in which no other process sent anything */
    uint64_t quiet_ns;  /**< when they began, or the last questions were asked */
    uint64_t launcher_ns; /**< when the launcher was last waited for, to tell of a death */
    const mca_pml_epml_peer_t *connecting; /**< whom ep_connect is called for */
    struct {
        uint64_t context; /**< 0: none since the last questions */
        int32_t source, tag;
    } probed; /**< the last probe in vain: it waits for somebody, too */

    /* ---- slow path ---- */
    uint64_t uid;                /**< unique in the job for ever: names are not, see index 0 */
    _Atomic uint32_t references; /**< communicators; the creation while it lasts */
    uint32_t seen_heartbeat;     /**< by process-wide progress, under the registry's lock */
    uint32_t scan_rest;          /**< looks that process-wide progress leaves out, likewise */
    uint32_t visitors;           /**< threads whose process-wide progress is at it; likewise */
    bool gone;                   /**< the last reference went meanwhile; likewise */
    /* Counts, under the lock: see pml_epml_counts.c. */
    uint64_t backlogged;         /**< things put in a backlog */
    uint64_t fetched[EPML_LINKS + 1]; /**< bytes read from senders' memory, by link; last: inside */
    uint64_t helps;              /**< turns by threads that were not its own */
    mca_btl_ep_counts_t net_before; /**< of the network's module, of those that had it before */
    mca_pml_epml_counts_t accounted; /**< what of its counts is in the process's, see
                                      * mca_pml_epml_counts_account */
    mca_pml_epml_peer_t *self;
    struct mca_pml_epml_ep_t *next, *prev; /**< registry */
} mca_pml_epml_ep_t;

/** Context ids have 62 bits (mca_pml_epml_context_ids).  With this one, messages by which members
 * of the communicator agree on another one (pml_epml_agree.c), and which no receive of anybody's
 * matches.  The last one is EPML_PART_CONTEXT. */
#define EPML_AGREE_CONTEXT (UINT64_C(1) << 62)

/** What hangs from an endpoint communicator (c_pml_comm). */
typedef struct mca_pml_epml_comm_t {
    mca_pml_epml_ep_t *ep;
    uint64_t context;            /**< what its messages carry */
    int32_t rank;                /**< own rank in it */
    bool is_inter;
    bool may_overtake;           /**< mpi_assert_allow_overtaking; under the ep's lock */
    mca_pml_epml_peers_t *peers; /**< whom ranks in calls name: the remote group, if there is one */
    mca_pml_epml_peers_t *local; /**< own group's members; the same as peers if not is_inter */
    ompi_communicator_t *comm;
    uint64_t active;             /**< requests that hold a reference on comm, under the ep's lock */
    /** Partitioned receives that were freed before their send came; under the ep's lock. */
    struct mca_pml_epml_part_t *ghosts;
    /** Of an intercommunicator, the state of its c_local_comm, which libmpi's collectives use
     * beside it; of that one, the intercommunicator's.  Or NULL; likewise. */
    struct mca_pml_epml_comm_t *inner, *outer;
    int32_t lost_peer; /**< a rank in peers whose endpoint is lost, or -1; likewise */
    bool lost_member;  /**< there is such a one in peers or in local, or in outer, or left is set;
                        * likewise */
    bool left;         /**< a member has said that it has lost another one; likewise */
    bool left_told;    /**< this one has told others of either; likewise */
    uint32_t left_count; /**< so many of them so far; likewise */
    bool lost;         /**< a message was lost for lack of memory: receives fail */
    bool agree_lost;   /**< the same of EPML_AGREE_CONTEXT */
    bool agrees;       /**< messages of EPML_AGREE_CONTEXT have come; under the ep's lock */
    uint32_t ask_next; /**< with whom to go on where all members are looked at; likewise */
} mca_pml_epml_comm_t;

static inline bool mca_pml_epml_is_endpoint_comm(const ompi_communicator_t *comm);

/* ---- pml_epml_context.c ---------------------------------------------------------------------- */

/** See mpix_endpoints_pml_t. */
uint64_t mca_pml_epml_context_ids(uint32_t count);

/** May a process of this job have drawn this id? */
bool mca_pml_epml_context_may_be(uint64_t id);

/* ---- pml_epml_transport.c -------------------------------------------------------------------- */

/** What a transport's modules call: see btl_ep.h. */
typedef struct mca_pml_epml_upcalls_t {
    mca_btl_base_module_recv_cb_fn_t arrived; /**< any message */
    mca_btl_ep_receive_bare_fn_t arrived_bare;
    mca_btl_ep_receive_loan_fn_t arrived_loan, arrived_on_node;
    mca_btl_ep_returned_fn_t returned;
    mca_btl_ep_lost_fn_t lost;
    mca_btl_ep_lost_sender_fn_t lost_sender;
    mca_btl_ep_describe_fn_t describe;
    mca_btl_ep_meet_fn_t meet;
} mca_pml_epml_upcalls_t;

/** Open the component that every endpoint needs; that of the network is opened when the first
 * module of it is asked for.  Idempotent, any thread; what is wrong has been said.
 *
 * @param[in] upcalls  always the same; for good */
int mca_pml_epml_transports_open(const mca_pml_epml_upcalls_t *upcalls);
void mca_pml_epml_transports_close(void);

/** Let a component that is open tell what it has chosen.  The caller has an endpoint, or comes
 * before the PML goes.
 *
 * @param[in] net  that of the network; else that of shared memory */
void mca_pml_epml_transports_report(uint32_t flags, bool net, mca_btl_ep_tell_fn_t tell,
                                    void *context);

/** A module of a link, new or, of the network, left by an endpoint that is gone.
 * @return OMPI_SUCCESS or an error; OMPI_ERR_NOT_AVAILABLE: the link cannot be used */
int mca_pml_epml_link_get(mca_pml_epml_link_t link, mca_pml_epml_ep_t *ep,
                          mca_btl_ep_module_t **module_p);

/** The endpoint needs it no longer.  One of the network is kept for the next endpoint: it may still
 * be delivering, and costs time to make. */
void mca_pml_epml_link_put(mca_pml_epml_link_t link, mca_btl_ep_module_t *module);

/** Progress the kept modules.  @return number of events */
int mca_pml_epml_net_progress_kept(void);

int mca_pml_epml_shm_create(mca_pml_epml_ep_t *ep, mca_btl_ep_module_t **module_p);

/* ---- pml_epml_ep.c, pml_epml_registry.c ------------------------------------------------------ */

/**
 * Create an endpoint with its transports.
 *
 * @param[in] level     decides how soon a thread that uses it alone gets its lock for itself
 * @param[in] links     by which it will talk to other processes, see mca_pml_epml_ep_need
 * @return OMPI_SUCCESS or an error; then *ep_p is untouched
 */
int mca_pml_epml_ep_create(mca_pml_epml_level_t level, unsigned int links,
                           mca_pml_epml_ep_t **ep_p);

/** Tell an endpoint who it is. */
void mca_pml_epml_ep_introduce(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *self);

/**
 * Make sure that an endpoint reaches beyond its process.
 *
 * @param[in] links  set of EPML_WITH_*.  Where EPML_WITH_NODE cannot be had, EPML_WITH_NET takes
 *                   its place, and ep->link[EPML_LINK_NODE] stays NULL.
 * @return OMPI_SUCCESS or an error
 */
int mca_pml_epml_ep_need(mca_pml_epml_ep_t *ep, unsigned int links);

/** A new endpoint that nobody has sent to does without the node side after all. */
void mca_pml_epml_ep_drop_node(mca_pml_epml_ep_t *ep);

/** Does it reach beyond its process? */
static inline bool mca_pml_epml_ep_has_links(const mca_pml_epml_ep_t *ep)
{
    return NULL != ep->link[EPML_LINK_NODE] || NULL != ep->link[EPML_LINK_NET];
}

void mca_pml_epml_ep_retain(mca_pml_epml_ep_t *ep);

/** The last one destroys it.  Not under its lock. */
void mca_pml_epml_ep_release(mca_pml_epml_ep_t *ep);

/** May this process have count endpoints more?  Then there is room for them: each
 * mca_pml_epml_ep_create that succeeds takes some of it, and what is left must be given back.  If
 * not, the user is told why. */
mpix_endpoints_error_t mca_pml_epml_ep_reserve(int count);
void mca_pml_epml_ep_unreserve(int count);

/** Endpoints of this node, this process included, as a creation has just found it. */
void mca_pml_epml_ep_note_node(int endpoints_on_node);

/**
 * Call a function with each endpoint of the process that has communicators, under its lock, which
 * is waited for.  Any thread that has not the lock of an endpoint.
 *
 * @param[in] begin  called first, while none can come to its end
 * @return false: one came to its end meanwhile, and may have been left out
 */
bool mca_pml_epml_ep_visit_all(void (*begin)(void *context),
                               void (*visit)(mca_pml_epml_ep_t *ep, void *context),
                               void *context);

/** Wait for an endpoint's lock, as a visitor.  Likewise. */
void mca_pml_epml_visit(mca_pml_epml_ep_t *ep);

/** Call a function with each endpoint of the process, the dying ones included, without waiting for
 * the lock of the list.  Any thread.  @return false: somebody else has that lock */
bool mca_pml_epml_ep_for_all(void (*function)(mca_pml_epml_ep_t *ep));

/** The PML goes: destroy what is left, close the transports. */
void mca_pml_epml_ep_finalize(void);

/** Registered with opal_progress: progress the calling thread's own endpoints, and what nobody
 * drives. */
int mca_pml_epml_progress(void);

/** A key for Open MPI's hash tables in place of one that is counted up.  They probe linearly, so
 * that numbers in a row make one cluster, through all of which each removal goes.  Multiplying by
 * an odd number, 2^64 over the golden ratio, is one to one and spreads them. */
static inline uint64_t mca_pml_epml_scatter(uint64_t number)
{
    return number * UINT64_C(0x9e3779b97f4a7c15);
}

/* ---- pml_epml_peer.c ------------------------------------------------------------------------- */

/** @return with one reference, or NULL (no memory).  Takes over the caller's use of proc. */
mca_pml_epml_peer_t *mca_pml_epml_peer_create(ompi_proc_t *proc, uint64_t uid);

/** The peer is complete and constant from now on: let it be found.  Any thread.
 *
 * @param[in] peer  the caller's reference is taken over
 * @return a reference on the one peer of that endpoint: another one, if somebody was faster; NULL
 *         without memory */
mca_pml_epml_peer_t *mca_pml_epml_peer_publish(mca_pml_epml_peer_t *peer);

/** The peer of an endpoint, if this process has one.  Any thread.
 * @return one reference, or NULL */
mca_pml_epml_peer_t *mca_pml_epml_peer_find(uint64_t uid);
void mca_pml_epml_peer_retain(mca_pml_epml_peer_t *peer);
void mca_pml_epml_peer_release(mca_pml_epml_peer_t *peer);

/** @return count empty places, one reference, or NULL */
mca_pml_epml_peers_t *mca_pml_epml_peers_create(int count);
void mca_pml_epml_peers_retain(mca_pml_epml_peers_t *peers);
void mca_pml_epml_peers_release(mca_pml_epml_peers_t *peers);

/**
 * Put lists of peers that other endpoints of this process have for the same communicator in place
 * of one's own, or leave one's own for them: n endpoints need not have n lists.  Any thread.
 *
 * @param[in]     context  of the communicator
 * @param[in,out] local    complete; the caller's reference is taken over, and one given
 * @param[in,out] remote   likewise, of an intercommunicator; else NULL
 */
void mca_pml_epml_peers_share(uint64_t context, mca_pml_epml_peers_t **local,
                              mca_pml_epml_peers_t **remote);

/** The list that another endpoint of this process has left for an intracommunicator, if it has:
 * then there is no need to put one together.  Any thread.
 *
 * @param[in] group  of the communicator
 * @return one reference, or NULL */
mca_pml_epml_peers_t *mca_pml_epml_peers_shared(uint64_t context, ompi_group_t *group);

/** The last reference on a list that was entered is gone. */
void mca_pml_epml_peers_unshare(mca_pml_epml_peers_t *peers);
void mca_pml_epml_share_finalize(void);

/** Make the members of group from those of two known sides; first counts where both have one.
 *
 * @param[out] peers_p  one reference
 * @return OMPI_SUCCESS; MPI_ERR_GROUP if a member is in neither; OMPI_ERR_OUT_OF_RESOURCE */
int mca_pml_epml_peers_for_group(ompi_group_t *group, mca_pml_epml_peers_t *first,
                                 mca_pml_epml_peers_t *second, mca_pml_epml_peers_t **peers_p);

/** All peers are gone: give up what numbers them. */
void mca_pml_epml_peers_finalize(void);

/** The entry of a peer's slot in the table of connections, used or used to be for this peer or an
 * earlier one.  Under ep's lock.  @return valid until the next connection is made; NULL: none */
mca_pml_epml_connection_t *mca_pml_epml_connection_entry(const mca_pml_epml_ep_t *ep,
                                                         const mca_pml_epml_peer_t *peer);

/** The connection of ep to a peer in another process, if there is one.  Under ep's lock.
 * @return valid until the next one is made; or NULL */
mca_pml_epml_connection_t *mca_pml_epml_connection_find(const mca_pml_epml_ep_t *ep,
                                                        const mca_pml_epml_peer_t *peer);

/** The endpoint cannot reach a peer, and will not try again: from now on it is lost, which the next
 * mca_pml_epml_lost_look sees.  Under ep's lock; without memory all are that are reached by the same
 * link. */
void mca_pml_epml_connection_give_up(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer);

/** An entry for a peer, without a connection.  Under ep's lock.
 * @return valid until the next one is made; NULL without memory */
mca_pml_epml_connection_t *mca_pml_epml_connection_place(mca_pml_epml_ep_t *ep,
                                                         const mca_pml_epml_peer_t *peer);

/** The connection of ep to a peer in another process; made at first use.  Under ep's lock. */
int mca_pml_epml_peer_connect(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                              mca_pml_epml_connection_t **connection_p);

/* ---- pml_epml_finalize.c --------------------------------------------------------------------- */

/** MPI_Finalize will not wait for those that are lost; and it will again. */
void mca_pml_epml_finalize_start(void);
void mca_pml_epml_finalize_stop(void);

/* ---- pml_epml_lost.c, pml_epml_lost_launcher.c, pml_epml_lost_ask.c -------------------------- */

/** Turns without a word from the network between looks at the clock. */
#define EPML_QUIET_LONG 1024

/** Of mca_pml_epml_ep_t.lost_seen: look at the next turn. */
#define EPML_LOST_LOOK UINT32_MAX

/** How many processes of the job are known to be dead. */
extern _Atomic uint32_t mca_pml_epml_lost_news;

/** Is there something that this endpoint has not taken note of?  Under its lock. */
static inline bool mca_pml_epml_lost_has_news(const mca_pml_epml_ep_t *ep)
{
    /* Relaxed: a hint; what it stands for is read under lost.lock. */
    return ep->lost_seen != atomic_load_explicit(&mca_pml_epml_lost_news, memory_order_relaxed);
}

/** Has this process lost anybody, be it a connection to one that lives?  Any thread. */
bool mca_pml_epml_lost_anybody(void);

/** Ask the launcher to tell of processes that die.  Idempotent, any thread; may block for a
 * moment. */
void mca_pml_epml_lost_start(void);

/** The PML goes. */
void mca_pml_epml_lost_stop(void);

/** Note that a process of the job is dead, by the launcher's word.  Any thread, PMIx's mostly: no
 * more than a note. */
void mca_pml_epml_lost_process(opal_vpid_t vpid);

/** Is the process of an endpoint dead, by the launcher's word? */
bool mca_pml_epml_lost_is_dead(opal_vpid_t vpid);

/** Tell the user which processes are dead, once.  Nobody goes on before that is done: the errors
 * that come next may be fatal, and end this process. */
void mca_pml_epml_lost_tell(void);

/** "rank 3 on host x"  @return as snprintf */
int mca_pml_epml_lost_describe_process(opal_vpid_t vpid, char *text, size_t size);

/** This process has lost somebody.  Any thread. */
void mca_pml_epml_lost_set_anybody(void);

/** Note that the endpoint has lost a peer, by the connection in its table.  Under its lock. */
void mca_pml_epml_lost_note(mca_pml_epml_ep_t *ep, mca_pml_epml_connection_t *connection);

/** End with an error what waits for those that are lost.  Under the endpoint's lock. */
void mca_pml_epml_lost_look(mca_pml_epml_ep_t *ep);

/** Has this endpoint lost this peer?  Under its lock. */
bool mca_pml_epml_lost_is(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer);

/** Likewise, for an operation that is about to fail: the user has been told of a death first. */
bool mca_pml_epml_lost_refuses(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer);

/** May a receive or probe of this source and tag never be served, on a communicator with a lost
 * member?  Under the lock.  @return the rank that is lost, or -1 */
int mca_pml_epml_lost_blocks(const mca_pml_epml_comm_t *comm, int src, int tag);

/** Has this communicator lost a member, as far as this process knows?  Takes the lock, and looks at
 * what the endpoint has not seen yet. */
bool mca_pml_epml_lost_member(const mca_pml_epml_comm_t *comm);

/** A new communicator may have lost members: look at the next turn.  Under the endpoint's lock. */
void mca_pml_epml_lost_attach(mca_pml_epml_comm_t *comm);

/** The network has been quiet for a while: are those whom this endpoint waits for still there?
 * Under its lock. */
void mca_pml_epml_lost_ask(mca_pml_epml_ep_t *ep);

/** What a module of a link calls: see btl_ep.h. */
bool mca_pml_epml_lost_upcall(mca_btl_ep_module_t *module,
                              struct mca_btl_base_endpoint_t *endpoint);
bool mca_pml_epml_lost_sender(mca_btl_ep_module_t *module, const void *address, size_t length,
                              char *who, size_t size);
void mca_pml_epml_lost_describe(mca_btl_ep_module_t *module,
                                struct mca_btl_base_endpoint_t *endpoint, char *text, size_t size);
void mca_pml_epml_lost_meet(mca_btl_ep_module_t *module, uint64_t source);

/* ---- pml_epml_handle.c ----------------------------------------------------------------------- */

/** Before there are threads: see component_init. */
void mca_pml_epml_handle_init(void);

/** Let a new intracommunicator's group be one that shares its procs with the other handles of this
 * process.  Nobody else may know the communicator yet.  Without memory it stays as it is.
 *
 * @param[in] peers  the group's members */
void mca_pml_epml_handle_share_group(ompi_communicator_t *comm, mca_pml_epml_peers_t *peers);

/** Give up a reference; the last one gives up the procs.  Any thread. */
void mca_pml_epml_procs_release(mca_pml_epml_procs_t *procs);

/**
 * A communicator of peers, seen from one of them, local: no messages, and nobody may send on it
 * before all members have theirs.
 *
 * @param[in]  parent   for instance and error handler; any communicator
 * @param[in]  ep       whose handle it is
 * @param[in]  context  the same on all members
 * @param[in]  members  by rank
 * @param[in]  rank     of ep
 * @param[out] comm_p   set on success
 */
int mca_pml_epml_handle_intra(ompi_communicator_t *parent, mca_pml_epml_ep_t *ep, uint64_t context,
                              mca_pml_epml_peers_t *members, int rank,
                              ompi_communicator_t **comm_p);

/** Likewise an intercommunicator, of the endpoint of local.
 *
 * @param[in] local  of endpoints; becomes the property of the new communicator, on success */
int mca_pml_epml_handle_inter(ompi_communicator_t *local, uint64_t context,
                              mca_pml_epml_peers_t *remote, ompi_communicator_t **comm_p);

/* ---- pml_epml_intercomm.c -------------------------------------------------------------------- */

/** See mpix_endpoints_pml_t. */
int mca_pml_epml_intercomm_create(ompi_communicator_t *local_comm, int local_leader,
                                  ompi_communicator_t *bridge, int remote_leader, int tag,
                                  ompi_communicator_t **newcomm, bool *served,
                                  mpix_endpoints_error_t *error);

struct mpix_endpoints_pml_t;
extern const struct mpix_endpoints_pml_t mca_pml_epml_link;

/* ---- pml_epml_proc.c ------------------------------------------------------------------------- */

/** Is this the name of an endpoint that is no process (not index 0)? */
bool mca_pml_epml_is_endpoint_name(const opal_process_name_t *name);

/** Are the endpoints, or processes, of these names in one process? */
bool mca_pml_epml_same_process(const opal_process_name_t *name1, const opal_process_name_t *name2);

/** Does the endpoint, or process, of this name live in this process? */
bool mca_pml_epml_name_is_here(const opal_process_name_t *name);

/** The rank in the job of the process that it lives in. */
opal_vpid_t mca_pml_epml_name_process(const opal_process_name_t *name);

/** By which links are the members of a group reached?  @return set of EPML_WITH_* */
unsigned int mca_pml_epml_group_links(ompi_group_t *group);

/** Are all members of a group of this process's job?  Endpoints are known in their job only. */
bool mca_pml_epml_group_is_of_this_job(ompi_group_t *group);

/** A name that no endpoint of this job has.  Any thread. */
opal_process_name_t mca_pml_epml_name_new(void);

/** The proc of a process or an endpoint of this job, made if need be.  Any thread.
 * @return to be given back with mca_pml_epml_proc_put; NULL without memory */
ompi_proc_t *mca_pml_epml_proc_get(const opal_process_name_t *name);
void mca_pml_epml_proc_put(ompi_proc_t *proc);

/** The PML goes, and Open MPI's procs after it. */
void mca_pml_epml_procs_finalize(void);

/* ---- pml_epml_comms.c: all under the endpoint's lock ------------------------------------------ */

/** @return OPAL_SUCCESS, OPAL_ERR_OUT_OF_RESOURCE */
int mca_pml_epml_comms_add(mca_pml_epml_comm_t *comm);
void mca_pml_epml_comms_remove(mca_pml_epml_comm_t *comm);

/** The communicator of ep with this context, or that of its agreements, or NULL. */
mca_pml_epml_comm_t *mca_pml_epml_comm_find(mca_pml_epml_ep_t *ep, uint64_t context);

/* ---- pml_epml_comm.c ------------------------------------------------------------------------- */

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

int mca_pml_epml_comm_assign(ompi_communicator_t *newcomm, ompi_communicator_t *comm,
                             uint64_t context, bool member);

/** Give a new communicator a table slot, c_contextid and our mark. */
int mca_pml_epml_comm_place(ompi_communicator_t *newcomm, uint64_t context);

/** Hang our state on a communicator.  Takes its own references on ep and peers. */
int mca_pml_epml_comm_attach(ompi_communicator_t *newcomm, mca_pml_epml_ep_t *ep, uint64_t context,
                             mca_pml_epml_peers_t *peers, mca_pml_epml_peers_t *local);

/** See agree_send, agree_recv and comm_leave in mpix_endpoints_pml_t. */
int mca_pml_epml_agree_send(ompi_communicator_t *comm, int rank, int tag, const uint64_t *words);
int mca_pml_epml_agree_recv(ompi_communicator_t *comm, int rank, int tag, uint64_t *words);
void mca_pml_epml_comm_leave(ompi_communicator_t *newcomm);

/* ---- pml_epml_coll.c ------------------------------------------------------------------------- */

/** Restrict Open MPI's choice of collective components to those that serve on endpoints. */
int mca_pml_epml_coll_restrict(ompi_communicator_t *comm);

/** The PML goes. */
void mca_pml_epml_coll_finalize(void);

/* ---- pml_epml_hints.c ------------------------------------------------------------------------ */

/** Have libmpi tell us of the assertions in a communicator's info, those in it already included. */
int mca_pml_epml_hints_subscribe(ompi_communicator_t *comm);

/** Take over the assertions in info (may be NULL) for a communicator that has subscribed. */
int mca_pml_epml_hints_copy(ompi_communicator_t *comm, opal_info_t *info);

END_C_DECLS

#endif /* MCA_PML_EPML_TYPES_H */
