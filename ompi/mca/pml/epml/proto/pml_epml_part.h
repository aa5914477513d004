/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Partitioned communication (MPI 4.0, chapter 4) on endpoint communicators.
 *
 * The sender's init tells the receiver of the request (EPML_HDR_PART_INIT), which is matched once,
 * with the receives of MPI_Precv_init only.  Each start of the receive lets the sender send one
 * round (PART_START).  Then every partition, or a run of adjacent ones, leaves as soon as it is
 * ready and names the receive by its number, and the round: as PART_DATA, or as PART_RNDV for the
 * receiver to fetch, which answers with FIN, or with PART_AGAIN where it cannot.  A sender that
 * cannot go on says so (PART_FAIL), which ends the receiver's round.  A receiver without memory to
 * keep the init answers that with a FIN that has an error.  docs/wire.md has the reasons.
 *
 * pml_epml_ipart.c has the calls, _part_send.c (with _part_run.c) and _part_recv.c the two peers.
 * All functions are called under the endpoint's lock unless they say otherwise.
 */

#ifndef MCA_PML_EPML_PART_H
#define MCA_PML_EPML_PART_H

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"

BEGIN_C_DECLS

/** Partitioned messages are matched under a context of their own: contexts have 62 bits
 * (mca_pml_epml_context_ids), agreements one (EPML_AGREE_CONTEXT), this is the last one.  It is
 * never sent: the kind of header implies it. */
#define EPML_PART_CONTEXT (UINT64_C(1) << 63)

/** Most bytes of adjacent partitions that leave together.  A single partition may be larger.
 * Enough to be at full speed, and little enough for MPI_Parrived to see them in between. */
#define EPML_PART_RUN_MAX ((uint64_t) 1 << 20)

/** What is_ready says of a partition. */
enum {
    EPML_PART_MARKED = 1, /**< it is ready */
    EPML_PART_AGAIN = 2   /**< it was to be fetched, and must be sent */
};

/** The round of a message that has no more than 16 bits for it. */
static inline uint16_t mca_pml_epml_part_short_round(uint32_t round)
{
    return (uint16_t) round;
}

/** In left: the partition has no bytes in this round, and has arrived when the whole has. */
#define EPML_PART_WHOLE UINT64_MAX

/** A partitioned request, of mca_pml_epml_psend_ops or mca_pml_epml_precv_ops.  super describes the
 * data of all partitions as one message. */
typedef struct mca_pml_epml_part_t {
    mca_pml_epml_request_t super;
    size_t partitions;
    uint64_t partition_size; /**< bytes */
    uint32_t round;          /**< starts so far; both peers count */
    uint64_t open;           /**< pieces of this round that are being fetched */
    int error;               /**< of this round, as MPI has it */
    bool may_fetch; /**< the receiver has said for this round that it can fetch from memory */
    bool ended;     /**< nothing more comes in this round; send: and the receiver is to be
                     * notified why */

    /* send; super.to_send: bytes of a round that the receiver wants, super.receiver_request */
    uint32_t granted;  /**< the last round that the receiver has started */
    bool refused;      /**< the receiver had no memory to keep it: no round can succeed */
    bool closed;       /**< a round without bytes: its one empty message has gone */
    uint8_t *is_ready; /**< by partition; 0: not ready */
    uint32_t *ready;   /**< partitions in the order in which they became ready */
    uint32_t ready_first, ready_last;
    uint32_t run;             /**< partitions, from ready_first on, that are being sent; 0: none */
    uint64_t run_at, run_end; /**< bytes of the message: what is left of the run */
    uint32_t again;           /**< partitions that are EPML_PART_AGAIN */
    uint32_t again_next;      /**< where to look for the next one; again_open: it is being sent */
    bool again_open;
    uint64_t again_pieces; /**< of open: pieces that those partitions were */

    /* receive; super.wanted: bytes of a round, super.source, super.sender_request */
    bool matched;
    bool cannot_fetch; /**< it has turned out that the sender's memory cannot be read */
    uint64_t missing;  /**< bytes of this round */
    bool owes_start;   /**< what the sender still has to get, for want of room and memory */
    uint32_t owes_good, owes_bad; /**< FINs without and with an error, likewise; in open, too */
    _Atomic uint64_t *left; /**< bytes missing by partition, or EPML_PART_WHOLE; the lock's owner
                             * writes, MPI_Parrived reads without the lock */
    struct mca_pml_epml_part_t *next_ghost; /**< see mca_pml_epml_comm_t.ghosts */
} mca_pml_epml_part_t;

OBJ_CLASS_DECLARATION(mca_pml_epml_part_t);

/** The bit by which one says that addresses and handles of a peer are the node side's. */
static inline uint8_t mca_pml_epml_part_transport_flag(const mca_pml_epml_peer_t *peer)
{
    return NULL == peer->shm && EPML_TRANSPORT_NODE == peer->transport ? EPML_HDR_FLAG_NODE : 0;
}

/** The peer of a send, not MPI_PROC_NULL. */
static inline mca_pml_epml_peer_t *mca_pml_epml_part_receiver(const mca_pml_epml_part_t *part)
{
    return part->super.comm->peers->member[part->super.rank];
}

extern const mca_pml_epml_request_ops_t mca_pml_epml_psend_ops, mca_pml_epml_precv_ops;

static inline bool mca_pml_epml_is_part(const mca_pml_epml_request_t *request)
{
    return &mca_pml_epml_psend_ops == request->ops || &mca_pml_epml_precv_ops == request->ops;
}

/* ---- pml_epml_part.c ------------------------------------------------------------------------- */

/** @return NULL without memory */
mca_pml_epml_part_t *mca_pml_epml_part_new(const mca_pml_epml_request_ops_t *ops,
                                           size_t partitions);

/** The engine is through with this round: tell the user. */
void mca_pml_epml_part_done(mca_pml_epml_part_t *part);

/** The memory of the user's data, registered for the network from now on until the request goes.
 * @return false: cannot be */
bool mca_pml_epml_part_register(mca_pml_epml_part_t *part, mca_btl_ep_module_t *module,
                                struct mca_btl_base_endpoint_t *connection, uint32_t flags);

/** A round begins. */
void mca_pml_epml_part_activate(mca_pml_epml_part_t *part);

/** See put in mca_pml_epml_request_ops_t. */
void mca_pml_epml_part_put(mca_pml_epml_request_t *request);

/** Back to the system; it holds no communicator any more. */
void mca_pml_epml_part_destroy(mca_pml_epml_part_t *part);

/** May something of this round come now, in time or too late?  The transport keeps order, and each
 * round has a message in either direction: nothing is a million rounds late. */
static inline bool mca_pml_epml_part_may_be_round(const mca_pml_epml_part_t *part, uint32_t round)
{
    return part->round - round < UINT32_C(1) << 20;
}

/** The round that a piece belongs to. */
uint32_t mca_pml_epml_part_piece_round(const mca_pml_epml_request_t *piece);

/** A piece cannot be fetched, nor can others: ask for the data.  Takes it back. */
void mca_pml_epml_part_piece_refused(mca_pml_epml_request_t *piece);

/** The communicator goes: so does what waits for it to match, or to be matched. */
void mca_pml_epml_part_del_comm(mca_pml_epml_comm_t *comm);

/* ---- pml_epml_part_send.c -------------------------------------------------------------------- */

/** Tell the receiver of a new request.  @return OMPI_SUCCESS or an error */
int mca_pml_epml_part_send_init(mca_pml_epml_part_t *part);

/** Partitions first to last, which exist, are ready.
 * @return OMPI_SUCCESS; MPI_ERR_ARG if one has been before, then none is marked */
int mca_pml_epml_part_send_ready(mca_pml_epml_part_t *part, uint32_t first, uint32_t last);

/** FIN has come: the receiver has fetched a piece, or could not.
 * @return as arrived in mca_pml_epml_kind_t */
bool mca_pml_epml_part_send_finished(mca_pml_epml_part_t *part, const mca_pml_epml_hdr_done_t *hdr);

/** PART_START and PART_AGAIN: of the receiver. */
extern const mca_pml_epml_kind_t mca_pml_epml_part_start_kind, mca_pml_epml_part_again_kind;

/* ---- pml_epml_part_run.c --------------------------------------------------------------------- */

/** Send what is left of the run that a send has come to.
 * @return OMPI_SUCCESS; OMPI_ERR_OUT_OF_RESOURCE to be called again; or an error */
int mca_pml_epml_part_send_run(mca_pml_epml_part_t *part);

/** A round without bytes is one empty message, so that the receive ends after the send's last
 * partition is ready, as others do.  @return likewise */
int mca_pml_epml_part_send_empty(mca_pml_epml_part_t *part);

/* ---- pml_epml_part_recv.c -------------------------------------------------------------------- */

/** Match a new receive, now or when its send comes.  @return OMPI_SUCCESS or an error */
int mca_pml_epml_part_recv_init(mca_pml_epml_part_t *part);

/** Has all of partitions first to last, which exist, arrived?  Not under the lock. */
bool mca_pml_epml_part_recv_arrived(mca_pml_epml_part_t *part, size_t first, size_t last);

/** PART_INIT, PART_DATA, PART_RNDV, PART_FAIL: of the sender. */
extern const mca_pml_epml_kind_t mca_pml_epml_part_init_kind, mca_pml_epml_part_data_kind,
    mca_pml_epml_part_rndv_kind, mca_pml_epml_part_fail_kind;

END_C_DECLS

#endif /* MCA_PML_EPML_PART_H */
