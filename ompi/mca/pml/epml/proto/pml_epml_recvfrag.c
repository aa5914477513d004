/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What arrives from the transports: checked, then handed on.
 *
 * Runs inside a transport's progress, under the lock of the endpoint that the module belongs to.
 *
 * Tests: p2p_order, left, random_traffic, fuzz/epml
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_recv.h"
#include "pml_epml_recvfrag.h"
#include "pml_epml_send.h"

#include "ompi/constants.h"
#include "ompi/runtime/ompi_rte.h"

/** A message that makes no sense: say so once per process, count it, forget it. */
static __attribute__((noinline)) void recvfrag_drop(mca_pml_epml_ep_t *ep, const char *reason)
{
    static _Atomic bool said = false;

    mca_pml_epml_ep_drop(ep);
    /* Relaxed: two messages instead of one would do no harm. */
    if (!atomic_exchange_explicit(&said, true, memory_order_relaxed)) {
        EPML_SHOW_HELP("message dropped", true, reason, (unsigned int) OMPI_PROC_MY_NAME->vpid,
                       ompi_process_info.nodename);
    }
}

/** A message of another process that no sound sender can have sent, not even too late: it has taken
 * the place of one that may be awaited.  A transport that can tell the pipe it came by gives the
 * sender up (ep_nonsense). */
static __attribute__((noinline)) void recvfrag_refuse(mca_pml_epml_ep_t *ep,
                                                      mca_btl_base_module_t *btl,
                                                      const char *reason)
{
    recvfrag_drop(ep, reason);
    ((mca_btl_ep_module_t *) btl)->ep_nonsense = true;
}

/**
 * There is no memory to keep a message.  Neither its sender nor its receiver may wait without end:
 * a sender that is still there gets an error, and so does every receive of that communicator that
 * would wait.
 */
static __attribute__((noinline)) void recvfrag_lose(mca_pml_epml_comm_t *comm,
                                                    const mca_pml_epml_hdr_match_t *match)
{
    mca_pml_epml_ep_t *ep = comm->ep;
    const bool fin = EPML_HDR_EAGER != match->common.kind; /* what the data wait for */
    static _Atomic bool said = false;

    mca_pml_epml_ep_drop(ep);
    if (0 == (match->context & EPML_AGREE_CONTEXT)) {
        comm->message_lost = true;
    } else {
        comm->agree_message_lost = true;
    }
    if (fin || 0 != (match->common.flags & EPML_HDR_FLAG_SYNC)) {
        const mca_pml_epml_hdr_done_t hdr = {.common = {.kind = fin ? EPML_HDR_FIN : EPML_HDR_ACK,
                                                        .request = match->common.request},
                                             .status = OMPI_ERR_OUT_OF_RESOURCE};

        if (OMPI_ERR_OUT_OF_RESOURCE
            == mca_pml_epml_send_control(ep, comm->peers->member[match->source], &hdr,
                                         sizeof(hdr))) {
            mca_pml_epml_pending_give_up(ep, comm->peers->member[match->source]);
        }
    }
    /* Relaxed: as above. */
    if (!atomic_exchange_explicit(&said, true, memory_order_relaxed)) {
        EPML_SHOW_HELP("message lost", true, comm->rank, comm->comm->c_name, match->source,
                       (unsigned long long) ep->match.unexpected_count,
                       (unsigned long long) ep->flow.bytes);
    }
}

/** A copy of a message, in the matching table.  @return NULL without memory */
static inline mca_pml_epml_unexpected_t *recvfrag_store(mca_pml_epml_ep_t *ep, uint64_t context,
                                                        const mca_pml_epml_hdr_rndv_t *hdr,
                                                        const void *data, size_t size)
{
    mca_pml_epml_unexpected_t *message = mca_pml_epml_unexpected_new(ep, hdr, data, size);

    if (OPAL_LIKELY(NULL != message)
        && OPAL_UNLIKELY(0
                         != epml_match_store(&ep->match, &message->match, context,
                                             hdr->match.source, hdr->match.tag))) {
        mca_pml_epml_unexpected_free(ep, message);
        message = NULL;
    }
    return message;
}

__attribute__((noinline)) void mca_pml_epml_keep(mca_pml_epml_ep_t *ep, uint64_t context,
                                                 const mca_pml_epml_hdr_rndv_t *hdr,
                                                 const void *data, size_t size)
{
    const mca_pml_epml_hdr_match_t *match = &hdr->match;
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm_find(ep, match->context);
    mca_pml_epml_unexpected_t *message;
    mca_pml_epml_peer_t *sender;

    if (NULL == comm) {
        /* From a local peer (others are checked before): sent, never received, and the communicator
         * has been freed since.  Open MPI says nothing of such messages either. */
        mca_pml_epml_ep_drop(ep);
        return;
    }
    sender = comm->peers->member[match->source];
    message = recvfrag_store(ep, context, hdr, data, size);
    if (OPAL_UNLIKELY(NULL == message)) {
        mca_pml_epml_flow_exhausted(ep, sender);
        message = recvfrag_store(ep, context, hdr, data, size);
    }
    if (OPAL_UNLIKELY(NULL == message)) {
        recvfrag_lose(comm, match);
        return;
    }
    if (0 == (context & EPML_AGREE_CONTEXT)) { /* messages of agreements hold no sender back */
        mca_pml_epml_flow_kept(ep, sender, message);
    }
}

/** Does a message come from where it says?  The network tells whose it is (ep_source); others are
 * memory of this job's.  Of a peer that we send to by the node side the network's address is not
 * known here: that its message has a proof must do. */
static inline bool is_from(const mca_btl_base_module_t *btl, const mca_pml_epml_peer_t *peer)
{
    const uint64_t source = ((const mca_btl_ep_module_t *) btl)->ep_source;

    return 0 == source || EPML_TRANSPORT_NET != peer->transport
           || (sizeof(source) <= peer->address_length
               && 0 == memcmp(&source, peer->address, sizeof(source)));
}

/** Is an answer from the peer of the request that it names?  Also true if there is none. */
static bool is_from_partner(mca_pml_epml_ep_t *ep, const mca_btl_base_module_t *btl,
                            uint32_t number)
{
    const mca_pml_epml_request_t *request = mca_pml_epml_request_id_find(ep, number);

    if (NULL == request) {
        return true;
    }
    return is_from(btl, mca_pml_epml_request_partner(request));
}

/** Is it from the endpoint of this uid?  Also true if that is not known here.  One of the process
 * itself sends nothing this way. */
static bool is_from_uid(const mca_btl_base_module_t *btl, uint64_t uid)
{
    mca_pml_epml_peer_t *peer = mca_pml_epml_peer_find(uid);
    const bool is = NULL == peer || (NULL == peer->shm && is_from(btl, peer));

    if (NULL != peer) {
        mca_pml_epml_peer_release(peer);
    }
    return is;
}

/** Does a message of another process come from where it says?  (Of EPML_FROM_RANK is_sound will
 * tell.) */
static bool is_honest(mca_pml_epml_ep_t *ep, const mca_btl_base_module_t *btl,
                      const mca_pml_epml_kind_t *kind, const unsigned char *hdr)
{
    uint64_t uid;

    switch (kind->from) {
    case EPML_FROM_UID:
        memcpy(&uid, hdr + kind->uid, sizeof(uid));
        return is_from_uid(btl, uid);
    case EPML_FROM_PARTNER:
        return is_from_partner(ep, btl, ((const mca_pml_epml_hdr_common_t *) hdr)->request);
    default:
        return true;
    }
}

/** Does a message of the node name what it may name?  A network module may get answers to requests
 * of an endpoint that had it before; those of the node side have numbers of their own. */
static bool names_something(mca_pml_epml_ep_t *ep, const mca_btl_base_module_t *btl,
                            const mca_pml_epml_kind_t *kind, const unsigned char *hdr)
{
    uint64_t uid, context = 0;

    if (0 != ((const mca_btl_ep_module_t *) btl)->ep_source) {
        return true;
    }
    switch (kind->from) {
    case EPML_FROM_UID:
        memcpy(&uid, hdr + kind->uid, sizeof(uid));
        if (0 < kind->context) {
            memcpy(&context, hdr + kind->context, sizeof(context));
        }
        return mca_pml_epml_context_may_be(uid) && mca_pml_epml_context_may_be(context);
    case EPML_FROM_PARTNER:
        return mca_pml_epml_num_endpoints_may_be(
            ep, ((const mca_pml_epml_hdr_common_t *) hdr)->request);
    default:
        return true;
    }
}

/** Does the header of a message from another process make sense?  Otherwise it is dropped. */
static bool is_sound(mca_pml_epml_ep_t *ep, mca_btl_base_module_t *btl,
                     const mca_pml_epml_hdr_match_t *match)
{
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm_find(ep, match->context);

    if (OPAL_UNLIKELY(NULL == comm)) {
        if (EPML_HDR_AM == match->common.kind && mca_pml_epml_context_may_be(match->context)) {
            return false; /* what a client tells others, whose handles may have gone: it is not
                             missed */
        }
        if (MPI_ANY_TAG > match->tag && mca_pml_epml_context_may_be(match->context)) {
            mca_pml_epml_ep_drop(
                ep); /* of a collective that has failed here: its sender hears of it */
        } else if (mca_pml_epml_context_may_be(match->context & ~EPML_AGREE_CONTEXT)) {
            recvfrag_drop(ep,
                          "its communicator does not exist, or was freed before it was received");
        } else {
            recvfrag_refuse(ep, btl, "its communicator cannot exist");
        }
        return false;
    }
    if (OPAL_UNLIKELY(0 > match->source || match->source >= comm->peers->count)) {
        recvfrag_refuse(ep, btl, "its source is no rank of its communicator");
        return false;
    }
    if (OPAL_UNLIKELY(EPML_MATCH_ANY == match->tag)) {
        recvfrag_refuse(ep, btl, "its tag is the wildcard");
        return false;
    }
    /* It must not pass for a local peer's, whose addresses are followed. */
    if (OPAL_UNLIKELY(NULL != comm->peers->member[match->source]->shm)) {
        recvfrag_refuse(ep, btl, "its source is not reached by the transport that it came by");
        return false;
    }
    if (OPAL_UNLIKELY(!is_from(btl, comm->peers->member[match->source]))) {
        recvfrag_drop(ep, "it is not from the source that it names");
        return false;
    }
    return true;
}

static inline mca_pml_epml_request_t *request_of(epml_match_posted_t *posted)
{
    return (mca_pml_epml_request_t *) ((char *) posted - offsetof(mca_pml_epml_request_t, posted));
}

/** A message to be matched. */
static inline void match_message(mca_pml_epml_ep_t *ep, const mca_pml_epml_hdr_rndv_t *hdr,
                                 const void *data, size_t size)
{
    const mca_pml_epml_hdr_match_t *match = &hdr->match;
    epml_match_posted_t *posted;

    posted = epml_match_arrive(&ep->match, match->context, match->source, match->tag);
    if (OPAL_UNLIKELY(NULL == posted)) {
        mca_pml_epml_keep(ep, match->context, hdr, data, size);
        return;
    }
    mca_pml_epml_recv_matched(request_of(posted), hdr, data, size);
}

/** Take a copy of what others may write to at any time: what is checked must be what is used. */
static inline void copy_once(void *copy, const void *bytes, size_t size)
{
    memcpy(copy, bytes, size);
    /* The compiler must not read it again instead: as far as it knows the copy has changed. */
    __asm__ volatile("" : : "r"(copy) : "memory");
}

/** An eager message of another process. */
static inline void arrived_from_other(mca_pml_epml_ep_t *ep, mca_btl_base_module_t *btl,
                                      const unsigned char *message, size_t size)
{
    mca_pml_epml_hdr_rndv_t hdr; /* of which an eager message has the first part only */

    copy_once(&hdr.match, message, sizeof(hdr.match));
    hdr.match.common.kind = EPML_HDR_EAGER; /* it was when it was looked at */
    if (is_sound(ep, btl, &hdr.match)) {
        match_message(ep, &hdr, message + sizeof(hdr.match), size - sizeof(hdr.match));
    }
}

static bool rndv_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    match_message(ep, message->hdr, message->rest, message->rest_size);
    mca_pml_epml_flow_check(ep); /* it may come from a peer that still waits for a GO */
    return true;
}

const mca_pml_epml_kind_t mca_pml_epml_rndv_kind = {.size = sizeof(mca_pml_epml_hdr_rndv_t),
                                                    .rest = EPML_REST_HANDLE,
                                                    .from = EPML_FROM_RANK,
                                                    .arrived = rndv_arrived};

_Static_assert(EPML_HDR_SIZE_MOST >= sizeof(mca_pml_epml_hdr_rndv_t)
                   && EPML_HDR_SIZE_MOST >= sizeof(mca_pml_epml_hdr_part_rndv_t),
               "the copy of a header has room for the longest ones");

static const mca_pml_epml_kind_t *const *kinds;

void mca_pml_epml_kinds(const mca_pml_epml_kind_t *const table[EPML_HDR_KINDS])
{
    kinds = table;
}

/** Is that a size that such a message can have? */
static bool has_size(const mca_pml_epml_kind_t *kind, const mca_pml_epml_hdr_common_t *common,
                     size_t size)
{
    switch (kind->rest) {
    case EPML_REST_NONE:
        return kind->size == size;
    case EPML_REST_DATA:
        return kind->size <= size;
    default:
        return kind->size + common->handle_size == size
               && MCA_BTL_EP_ADDRESS_MAX >= common->handle_size;
    }
}

/** All kinds but eager messages. */
static __attribute__((noinline)) void arrived_other(mca_pml_epml_ep_t *ep,
                                                    mca_btl_base_module_t *btl,
                                                    const unsigned char *bytes, size_t size)
{
    _Alignas(uint64_t) unsigned char copy[EPML_HDR_SIZE_MOST];
    const bool is_foreign = btl != &ep->transports.shm->super;
    const mca_pml_epml_hdr_common_t *common;
    const mca_pml_epml_kind_t *kind;
    mca_pml_epml_message_t message = {.hdr = bytes, .module = (mca_btl_ep_module_t *) btl};

    if (is_foreign) {
        copy_once(copy, bytes, size < sizeof(copy) ? size : sizeof(copy));
        message.hdr = copy;
    }
    common = message.hdr;
    kind = EPML_HDR_KINDS > common->kind ? kinds[common->kind] : NULL;
    if (OPAL_UNLIKELY(NULL == kind)) {
        recvfrag_refuse(ep, btl, "a header of unknown kind");
        return;
    }
    if (OPAL_UNLIKELY(!has_size(kind, common, size))) {
        recvfrag_refuse(ep, btl, "a header of a wrong size");
        return;
    }
    if (is_foreign && !is_honest(ep, btl, kind, message.hdr)) {
        recvfrag_drop(ep, "it is not from the endpoint that it has to be from");
        return;
    }
    if (is_foreign && !names_something(ep, btl, kind, message.hdr)) {
        recvfrag_refuse(ep, btl, "what it names cannot exist");
        return;
    }
    if (is_foreign && EPML_FROM_RANK == kind->from && !is_sound(ep, btl, message.hdr)) {
        mca_pml_epml_flow_check(ep); /* its sender may still wait for a GO */
        return;
    }
    message.rest = bytes + kind->size;
    message.rest_size = size - kind->size;
    if (OPAL_UNLIKELY(!kind->arrived(ep, &message))) {
        recvfrag_refuse(ep, btl, "what it says does not fit what it names");
    }
}

void mca_pml_epml_arrived(mca_btl_base_module_t *btl,
                          const mca_btl_base_receive_descriptor_t *descriptor)
{
    mca_pml_epml_ep_t *ep = ((mca_btl_ep_module_t *) btl)->ep_context;
    const mca_btl_base_segment_t *segment = descriptor->des_segments;
    const unsigned char *message = segment->seg_addr.pval;
    const size_t size = segment->seg_len;

    if (OPAL_UNLIKELY(NULL == ep)) {
        mca_pml_epml_rndv_cancel_left((mca_btl_ep_module_t *) btl, message, size);
        return; /* a kept network module: its endpoint is gone */
    }
    if (OPAL_UNLIKELY(size < sizeof(mca_pml_epml_hdr_common_t)
                      || 1 != descriptor->des_segment_count)) {
        recvfrag_refuse(ep, btl, "shorter than any header");
        return;
    }
    if (OPAL_LIKELY(EPML_HDR_EAGER == message[0])) {
        if (OPAL_UNLIKELY(size < sizeof(mca_pml_epml_hdr_match_t))) {
            recvfrag_refuse(ep, btl, "a header of a wrong size");
            return;
        }
        /* A local peer's header is our own code's, and a context without communicator
         * matches nothing. */
        if (OPAL_LIKELY(btl == &ep->transports.shm->super)) {
            match_message(ep, (const mca_pml_epml_hdr_rndv_t *) message,
                          message + sizeof(mca_pml_epml_hdr_match_t),
                          size - sizeof(mca_pml_epml_hdr_match_t));
        } else {
            arrived_from_other(ep, btl, message, size);
        }
        return;
    }
    arrived_other(ep, btl, message, size);
}

/** No receive waits for it, or one whose data are in pieces. */
static __attribute__((noinline)) void bare_slow(mca_pml_epml_ep_t *ep, epml_match_posted_t *posted,
                                                const mca_pml_epml_hdr_bare_t *bare,
                                                const void *data, size_t size)
{
    mca_pml_epml_hdr_rndv_t hdr = {.match = {.common = {.kind = EPML_HDR_EAGER},
                                             .context = bare->context,
                                             .source = bare->source,
                                             .tag = bare->tag}};

    if (NULL == posted) {
        mca_pml_epml_keep(ep, bare->context, &hdr, data, size);
    } else {
        mca_pml_epml_recv_matched(request_of(posted), &hdr, data, size);
    }
}

/** The whole way of a short message, in one piece: what mca_pml_epml_recv_matched would do. */
static inline void arrived_plain(mca_pml_epml_ep_t *ep, const mca_pml_epml_hdr_bare_t *bare,
                                 const unsigned char *data, size_t size)
{
    epml_match_posted_t *posted = epml_match_arrive(&ep->match, bare->context, bare->source,
                                                    bare->tag);
    mca_pml_epml_request_t *request;
    ompi_status_public_t *status;
    size_t wanted;

    if (OPAL_UNLIKELY(NULL == posted || !request_of(posted)->contiguous)) {
        bare_slow(ep, posted, bare, data, size);
        return;
    }
    request = request_of(posted);
    wanted = size <= request->size ? size : request->size;
    if (OPAL_LIKELY(8 == wanted)) {
        memcpy(request->base, data, 8); /* a move instead of a call */
    } else if (0 < wanted) {
        memcpy(request->base, data, wanted);
    }
    status = &request->req_ompi.req_status;
    status->MPI_SOURCE = bare->source;
    status->MPI_TAG = bare->tag;
    status->MPI_ERROR = OPAL_LIKELY(size == wanted) ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
    status->_ucount = wanted;
    mca_pml_epml_request_complete(request);
}

void mca_pml_epml_arrived_bare(void *context, const void *rest, size_t size)
{
    const mca_pml_epml_hdr_bare_t *bare = rest;

    arrived_plain(context, bare, (const unsigned char *) (bare + 1), size - sizeof(*bare));
}

void mca_pml_epml_arrived_zcopy(void *context, const void *rest, const void *data, size_t size)
{
    arrived_plain(context, rest, data, size);
}

void mca_pml_epml_arrived_on_node(void *context, const void *rest, const void *data, size_t size)
{
    mca_pml_epml_ep_t *ep = context;
    mca_pml_epml_hdr_bare_t bare;

    copy_once(&bare, rest, sizeof(bare));
    if (is_sound(ep, &ep->transports.module[EPML_TRANSPORT_NODE]->super,
                 &(const mca_pml_epml_hdr_match_t){.common = {.kind = EPML_HDR_EAGER},
                                                   .context = bare.context,
                                                   .source = bare.source,
                                                   .tag = bare.tag})) {
        arrived_plain(ep, &bare, data, size);
    }
}
