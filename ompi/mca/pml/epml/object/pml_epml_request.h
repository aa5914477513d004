/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Requests of the endpoint engine: one type for sends and receives, kept on a free list of the
 * endpoint they belong to.
 */

#ifndef MCA_PML_EPML_REQUEST_H
#define MCA_PML_EPML_REQUEST_H

#include "ompi_config.h"

#include "../base/base.h"
#include "pml_epml_types.h"

#include "ompi/datatype/ompi_datatype.h"
#include "opal/datatype/opal_convertor.h"

BEGIN_C_DECLS

/** What a dump says of a request. */
typedef struct mca_pml_epml_request_text_t {
    int32_t rank, tag; /**< as they are known so far */
    char state[128];
} mca_pml_epml_request_text_t;

/**
 * What the engine asks of a request without knowing what it is.  Each protocol has a table for each
 * of its kinds of requests; no other layer asks for the kind.  All but start are called under the
 * lock of the request's endpoint.  Where it says so a function may be NULL.
 */
typedef struct mca_pml_epml_request_ops_t {
    const char *name; /**< "send", for people */
    bool sends;       /**< its data leave, for request->rank */

    /** A persistent request starts.  Not under the lock, and not for one that is active.
     * @return OMPI_SUCCESS, also if its completion will have an error; else it has not started */
    int (*start)(struct mca_pml_epml_request_t *request);

    /** Go on with what waited in a pending queue.
     * @return OMPI_SUCCESS when it needs no more room there, be it that it has ended;
     *         OMPI_ERR_OUT_OF_RESOURCE when it does */
    int (*resume)(struct mca_pml_epml_request_t *request);

    /** The peer is lost in whose pending queue it was; it is there no more.  NULL: resume finds
     * that it cannot go on. */
    void (*cut)(struct mca_pml_epml_request_t *request);

    /** Has the peer received nothing of it yet?  NULL: it has. */
    bool (*is_unheard)(const struct mca_pml_epml_request_t *request);

    /** It has a number, and a member of its communicator is lost: end it if it waits for that one.
     * NULL: another request sees to it. */
    void (*lost)(struct mca_pml_epml_request_t *request);

    /** Of a collective that has failed: the request may not be needed any more.  It ends, be it
     * later, unless it has not left yet: then it is to be asked again.  NULL: it is cancelled
     * another way, or ends. */
    void (*take_back)(struct mca_pml_epml_request_t *request);

    /** As lost, of one that waits for a match.  NULL: it goes on waiting. */
    void (*lost_unmatched)(struct mca_pml_epml_request_t *request);

    /** No message has come for a while, and it has a number.  NULL: nothing to be done. */
    void (*remind)(struct mca_pml_epml_request_t *request);

    /** The engine is through with it, and another request, not a user, is to know.  NULL: a
     * user. */
    void (*done)(struct mca_pml_epml_request_t *request);

    /** The user is through with it, after the engine; it has extras.  NULL: back to the free
     * list. */
    void (*put)(struct mca_pml_epml_request_t *request);

    /** What it waits for.  @return false: nothing that a peer or the transport has to do; NULL:
     * never anything. */
    bool (*describe)(const struct mca_pml_epml_request_t *request,
                     mca_pml_epml_request_text_t *text);
} mca_pml_epml_request_ops_t;

/** How far a send has come. */
typedef enum mca_pml_epml_send_state_t {
    EPML_SEND_START, /**< nothing sent yet */
    EPML_SEND_LENT,  /**< waits for the peer to copy the data, or the transport to buffer them */
    EPML_SEND_SYNC,  /**< waits for the peer's ACK */
    EPML_SEND_RNDV,  /**< waits for the peer's CTS or FIN */
    EPML_SEND_CANCELLED, /**< likewise, and the peer has been asked to forget it */
    EPML_SEND_FRAGS,     /**< fragments are going out */
    EPML_SEND_BROKEN,    /**< there will be no more, of which the receiver must be notified */
    EPML_SEND_DONE
} mca_pml_epml_send_state_t;

typedef struct mca_pml_epml_request_t {
    ompi_request_t req_ompi; /**< what the rest of Open MPI sees */

    /* What a short receive needs: as few cache lines as can be. */
    mca_pml_epml_ep_t *ep;
    mca_pml_epml_comm_t *comm;
    const mca_pml_epml_request_ops_t *ops;
    _Atomic bool done; /**< the engine is through with it */
    bool contiguous;   /**< data are one piece of memory at base */

    /* Adjacent, so that one store clears them all. */
    bool counted;     /**< holds a reference on the communicator (mca_pml_epml_comm_t.active) */
    bool free_called; /**< the user gave it up before it was done */
    bool blocking;    /**< lives in a blocking call, which looks at done only */
    bool convertor_set;
    bool has_remote_handle;
    bool in_pending_queue; /**< waits there, to start the gets that are left or with an answer */
    bool get_starting; /**< gets are being started: completion is looked at afterwards */
    bool extras;       /**< has had a number, a convertor or a datatype's reference; or ops->put */
    bool last_of_type; /**< it was the datatype's last user: to be ended without the lock */
    struct mca_pml_epml_request_t *next; /**< in the free or the deferred list */

    /* the user's data */
    unsigned char *base; /**< first byte, if contiguous */
    size_t size;         /**< bytes described by count and datatype */
    void *buffer;
    size_t count;
    ompi_datatype_t *datatype; /**< a reference of ours while set */
    int32_t rank;              /**< destination or source rank as given */
    int32_t tag;
    epml_match_posted_t posted; /**< a receive's place in the matching table */

    opal_convertor_t convertor;
    uint32_t number; /**< by which the peer names it; EPML_NUMBER_NONE: has none */
    int error;       /**< why its data do not come, or go no further (EPML_SEND_BROKEN) */

    /* receive */
    mca_pml_epml_peer_t *source; /**< matched sender; of the communicator, no reference */
    uint64_t expected;           /**< bytes of the matched message */
    uint64_t wanted;             /**< bytes of it that fit */
    uint64_t asked;              /**< bytes that gets have been started for */
    uint64_t received;
    uint32_t sender_request;
    uint64_t remote_address;
    mca_btl_ep_module_t *handle_module; /**< whose local_handle is */
    struct mca_btl_base_registration_handle_t *local_handle;
    unsigned char remote_handle[MCA_BTL_EP_ADDRESS_MAX];
    bool paced, in_frags; /**< the fetch is to be timed; it is done in fragments */
    uint64_t fetch_start;
    uint32_t gets;  /**< under way */
    uint8_t answer; /**< a mca_pml_epml_hdr_kind_t that the sender still has to get; else 0 */

    /* send */
    mca_pml_base_send_mode_t mode;
    mca_pml_epml_send_state_t state;
    uint64_t sent;    /**< bytes given to the transport */
    uint64_t to_send; /**< bytes of data that the receiver wants */
    uint32_t receiver_request;
    void *bsend_buffer; /**< in the user's attached buffer: packed data of a buffered send */

    mca_pml_epml_pending_t pending; /**< its place in a pending queue */
} mca_pml_epml_request_t;

/** Does a send wait for the receiver to take the data, one way or the other? */
static inline bool mca_pml_epml_send_is_offered(const mca_pml_epml_request_t *request)
{
    return EPML_SEND_RNDV == request->state || EPML_SEND_CANCELLED == request->state;
}

/** Of a collective that cannot succeed, because a member is lost, or of a revoked communicator? */
static inline bool mca_pml_epml_request_is_in_vain(const mca_pml_epml_request_t *request)
{
    return OPAL_UNLIKELY(request->comm->loss.member
                         && (MPI_ANY_TAG > request->tag || request->comm->loss.revoked));
}

/** An error by which what waits in vain ends: a member is lost, or the communicator is revoked. */
static inline bool mca_pml_epml_is_loss(int rc)
{
    return MPI_ERR_PROC_FAILED == rc || MPI_ERR_REVOKED == rc;
}

/** How what waits in vain on a communicator ends. */
static inline int mca_pml_epml_loss_error(const mca_pml_epml_comm_t *comm)
{
    return comm->loss.revoked ? MPI_ERR_REVOKED : MPI_ERR_PROC_FAILED;
}

OBJ_CLASS_DECLARATION(mca_pml_epml_request_t);

/**
 * The type of requests for libmpi, but for partitioned ones.  libmpi starts and ends those of types
 * COLL and PML alike, and reports the errors of both to their communicator.  But it casts those of
 * type PML to mca_pml_base_request_t where its fault tolerance is on: all that waits asks
 * ompi_request_is_failed_fn, which knows that requests of type COLL end by themselves.
 */
#define EPML_REQUEST_TYPE OMPI_REQUEST_COLL

/** Of sends, of receives, and of receives that fetch a piece of a partitioned one. */
extern const mca_pml_epml_request_ops_t mca_pml_epml_send_ops, mca_pml_epml_recv_ops,
    mca_pml_epml_piece_ops;

/** What a send returns that is done before its call returns. */
#if MPI_VERSION >= 4
#    define EPML_REQUEST_EMPTY_SEND (&ompi_request_empty_send)
#else
#    define EPML_REQUEST_EMPTY_SEND (&ompi_request_empty)
#endif

static inline bool mca_pml_epml_is_request(const ompi_request_t *request);

/* ---- pml_epml_request.c ---------------------------------------------------------------------- */

/** What libmpi calls, by each request (pml_epml_start.c): contracts as in ompi/request/request.h.
 */
int mca_pml_epml_request_start(size_t count, ompi_request_t **requests);
int mca_pml_epml_request_free(ompi_request_t **request);
int mca_pml_epml_request_cancel(ompi_request_t *request, int flag);

static inline bool mca_pml_epml_is_request(const ompi_request_t *request)
{
    return mca_pml_epml_request_free == request->req_free;
}

/** A persistent request is active from now on.  Under the lock. */
void mca_pml_epml_request_activate(mca_pml_epml_request_t *request);

/** The destination, or the source; NULL: not known yet. */
static inline const mca_pml_epml_peer_t *mca_pml_epml_request_partner(
    const mca_pml_epml_request_t *request)
{
    return request->ops->sends ? request->comm->peers->member[request->rank] : request->source;
}

/** Make the convertor ready for packing (send) or unpacking (receive) from the first byte.
 * @return OMPI_SUCCESS or an error */
int mca_pml_epml_request_convertor(mca_pml_epml_request_t *request);

/** Prepare its convertor, which has not been.  @param[in] flags  CONVERTOR_..., or 0
 * @return OMPI_SUCCESS, or an error of Open MPI's */
int mca_pml_epml_request_prepare(mca_pml_epml_request_t *request, uint32_t flags);

/** Give room in an attached buffer back: the endpoint's own, or the process's.  Under the lock. */
void mca_pml_epml_bsend_free(mca_pml_epml_comm_t *comm, void *room);

/** The engine is through with the request: tell the user.  Under the lock. */
void mca_pml_epml_request_done(mca_pml_epml_request_t *request);

/** The rare cases of telling: the user has freed the request, or libmpi attached a callback or a
 * synchronization object to it. */
void mca_pml_epml_request_complete_slow(mca_pml_epml_request_t *request);

/** Give up what extras stands for.  Under the lock.
 * @return false: the request goes with its datatype, when the lock has been given back */
bool mca_pml_epml_request_put_extras(mca_pml_epml_request_t *request);

/** Give up the reference on the datatype.  Under the lock, so without ending it, which calls what
 * the user has set for that.
 * @return false: it was the last one, and both end when the lock has been given back */
bool mca_pml_epml_request_put_type(mca_pml_epml_request_t *request);

/** As mca_pml_epml_request_done, with an error: rc as Open MPI or MPI has it.  Under the lock. */
void mca_pml_epml_request_fail(mca_pml_epml_request_t *request, int rc);

/** Free the requests that are kept for later.  Under the lock. */
void mca_pml_epml_requests_trim(mca_pml_epml_ep_t *ep);

/** An error below the engine as MPI knows it. */
int mca_pml_epml_mpi_error(int rc);

/** Give the request a number that can travel.  @return OMPI_SUCCESS, OMPI_ERR_OUT_OF_RESOURCE */
int mca_pml_epml_request_id_assign(mca_pml_epml_request_t *request);
void mca_pml_epml_request_id_drop(mca_pml_epml_request_t *request);

/** The request with this number, or NULL if there is none (any more). */
mca_pml_epml_request_t *mca_pml_epml_request_id_find(mca_pml_epml_ep_t *ep, uint32_t number);

/** May a request of this endpoint's have, or have had, this number? */
bool mca_pml_epml_num_endpoints_may_be(const mca_pml_epml_ep_t *ep, uint32_t number);

/** Is count of datatype one piece of memory?  Sets where it begins and its size in bytes. */
static inline bool mca_pml_epml_is_contiguous(const void *buffer, size_t count,
                                              const ompi_datatype_t *datatype,
                                              unsigned char **base_p, size_t *size_p)
{
    const size_t size = count * datatype->super.size;

    *size_p = size;
    /* As numbers: buffer may be MPI_BOTTOM, which is NULL, or an address before all memory. */
    *base_p = (unsigned char *) ((uintptr_t) buffer + (uintptr_t) datatype->super.true_lb);
    return 0 == size
           || opal_datatype_is_contiguous_memory_layout(&datatype->super, count > 1 ? 2 : 1);
}

END_C_DECLS

#endif /* MCA_PML_EPML_REQUEST_H */
