/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The node side of btl/epshm: messages between endpoints of different processes on one node.
 *
 * Each process that has such endpoints has one segment, a file in memory that the others map
 * (btl_epshm_segment.c).  A module owns a doorbell in it (btl_epshm_doorbell.h), a list into which others
 * push packets, which are single messages, and pipes (btl_epshm_pipe.h).  A pair begins with
 * packets.  After some of them the sender gives it a pipe, if fewer than btl_epshm_pipes pairs of
 * its have one, or if one of these is idle.  Packets and pipes lie in the sender's segment; the
 * receiver says when it will not touch them again.  So memory is used again only when both are
 * through, and messages outlive the endpoint, and the process, that sent them.
 */

#ifndef MCA_BTL_EPSHM_NODE_H
#define MCA_BTL_EPSHM_NODE_H

#include "opal_config.h"

#include "../segment/segment.h"
#include "../base/base.h"

BEGIN_C_DECLS

/** What a module publishes. */
typedef struct epshm_node_address_t {
    uint32_t magic;
    uint32_t version;
    opal_process_name_t process;
    uint64_t stamp;     /**< of its segment: random, and part of the file's name */
    uint64_t size;      /**< of its segment */
    uint64_t doorbell;  /**< offset in it */
    uint64_t addressee; /**< number of the module, which no other one of the job has or gets */
} epshm_node_address_t;

/** Largest message with a full header, header included, that is as fast in the cells as in the
 * area: four cells.  Others are faster there as soon as one cell does not do. */
#define EPSHM_NODE_CELLS_BEST 216

/** Messages that go in cells and would be better off in an area, after which one is taken, and so
 * many times as many where there was none to be had. */
#define EPSHM_NODE_AREA_AFTER 64
#define EPSHM_NODE_AREA_PAUSE 64

/** Local peers that a module finds again without a lock. */
#define EPSHM_NODE_KNOWN 64

/** A BTL endpoint of the node side: the way to one module of another process. */
typedef struct epshm_node_peer_t {
    epshm_pipe_out_t out; /**< out.pipe is NULL, and there is room for nothing, if it has no pipe */
    epshm_other_counts_t other;
    epshm_peer_proc_t *peer_proc;
    struct epshm_node_peer_t *next, *prev; /**< of the module's, in a ring */
    epshm_doorbell_t *doorbell;            /**< its */
    uint64_t addressee;                    /**< its number */
    uint64_t own_word;                     /**< this process, in words for its doorbell */
    epshm_retired_t *memory;               /**< of its pipe */
    mca_btl_ep_module_t *module;           /**< whose */
    uint64_t tail_seen;                    /**< out.tail when it was last seen to have moved */
    uint32_t call_seen;                    /**< the module's progress call then */
    uint32_t place;                        /**< in the module's piped */
    uint32_t packets;                      /**< on their way to it */
    int32_t due;                           /**< packets sent since a pipe was thought of */
    uint32_t full;                         /**< sends that found no room */
    int32_t medium;                        /**< messages that an area would have been better for */
    bool gone;                             /**< nothing is sent any more */
    bool refused;                          /**< it has refused a packet */
    bool lost;                             /**< and the owner knows that it is not as usual */
} epshm_node_peer_t;

/** A packet of the module's. */
typedef struct epshm_node_packet_t {
    epshm_retired_t memory; /**< first: what mca_btl_epshm_segment_retire takes over */
    epshm_packet_t *packet;
    epshm_node_peer_t *peer; /**< the receive queue that it is on its way to */
    struct epshm_node_packet_t *next;
} epshm_node_packet_t;

/** A pipe that leads here, and whose it is: copied when it was taken in. */
typedef struct epshm_node_in_t {
    epshm_pipe_in_t pipe;
    epshm_peer_proc_t *peer_proc;
    uint64_t sender, doorbell; /**< as in epshm_pipe_t */
    bool condemned;        /**< its sender is lost, as the owner knows: to be refused */
} epshm_node_in_t;

/** An element of the doorbell's list. */
typedef struct epshm_node_element_t {
    epshm_peer_proc_t *peer_proc;
    epshm_packet_t *packet; /**< NULL: it is a pipe */
    union {
        epshm_pipe_envelope_t envelope; /**< of the packet, as it was found */
        uint64_t offset;                /**< of the pipe */
    };
} epshm_node_element_t;

/** A sender that has been given up. */
typedef struct epshm_node_refused_t {
    uint64_t sender;
    bool corrupt; /**< not even what it had sent is read */
} epshm_node_refused_t;

/** A message that is being packed, in place if it can be: one per module at a time. */
typedef struct epshm_node_frag_t {
    mca_btl_base_descriptor_t base;
    mca_btl_base_segment_t segment;
    epshm_node_peer_t *peer;     /**< NULL: free */
    epshm_node_packet_t *packet; /**< NULL: it is in the peer's area, or in small */
    uint64_t position;           /**< in the area */
    /** In place of an area for which there was no memory: what fits in cells. */
    unsigned char small[EPSHM_PIPE_INLINE_MAX];
} epshm_node_frag_t;

OBJ_CLASS_DECLARATION(epshm_node_frag_t);

typedef struct epshm_node_module_t {
    mca_btl_ep_module_t super;
    epshm_doorbell_t *doorbell;
    epshm_block_t doorbell_block;
    uint64_t addressee;
    epshm_node_peer_t *peers; /**< the next one to look at, whether it has given us up */
    bool broken;              /**< its doorbell is: nothing is taken in any more */
    epshm_node_in_t *in;      /**< those that bring messages are at the front */
    uint32_t in_count, in_capacity;
    epshm_node_element_t *found; /**< in the doorbell, the newest first */
    uint32_t found_count, found_capacity;
    uint64_t
        rest; /**< what has been taken out of the doorbell and not been found for want of memory */
    epshm_peer_proc_t *known[EPSHM_NODE_KNOWN]; /**< found before, by vpid */
    epshm_node_refused_t *refused;
    uint32_t refused_count;
    epshm_node_peer_t **piped; /**< those that have pipes */
    uint32_t pipes, pipes_most;
    uint32_t hand;                         /**< the next one of them to look at */
    epshm_node_packet_t *sent, *sent_last; /**< not known to have been read */
    uint32_t sent_count;
    epshm_node_packet_t *spare[EPSHM_PACKET_CLASSES]; /**< packets at hand */
    uint64_t packet_bytes;                            /**< memory of both */
    uint32_t cold;   /**< the next one to look at of those behind */
    uint32_t demote; /**< the next place at the front to give to another */
    uint32_t progress_calls;
    uint32_t asked;          /**< the next one to ask whether its sender has gone */
    epshm_other_counts_t other; /**< messages to those that have been disconnected included */
    epshm_node_frag_t frag;
} epshm_node_module_t;

/* ---- btl_epshm_node_module.c ----------------------------------------------------------------- */

/** @return OPAL_SUCCESS; OPAL_ERR_NOT_AVAILABLE: not wanted, or no memory for it (said why);
 *          OPAL_ERR_OUT_OF_RESOURCE */
int mca_btl_epshm_node_module_create(void *context, mca_btl_ep_module_t **module_p);

/** An address of this process, but for its segment's stamp. */
void mca_btl_epshm_node_address_write(epshm_node_address_t *address, uint64_t size,
                                      uint64_t doorbell, uint64_t addressee);

/** Look at an address.  @return false if it is none */
bool mca_btl_epshm_node_address_read(const void *blob, size_t length,
                                     epshm_node_address_t *address);

/* ---- btl_epshm_node_memory.c: memory for the owner ------------------------------------------- */

/** See mca_btl_ep_memory_get_fn_t. */
int mca_btl_epshm_node_memory_get(const mca_btl_ep_memory_name_t *name, size_t size,
                                  unsigned int processes, bool reserve,
                                  mca_btl_ep_memory_t **memory_p);

/* ---- btl_epshm_node_get.c --------------------------------------------------------------------- */

/** See mca_btl_ep_copy_fn_t. */
int mca_btl_epshm_node_copy(const void *blob, size_t length, void *local, uint64_t remote,
                            size_t size, bool to_remote);

/* ---- btl_epshm_node_peer.c: ways to others --------------------------------------------------- */

int mca_btl_epshm_node_connect(mca_btl_ep_module_t *module, const void *address, size_t length,
                               struct mca_btl_base_endpoint_t **endpoint_p);
void mca_btl_epshm_node_disconnect(mca_btl_ep_module_t *module,
                                   struct mca_btl_base_endpoint_t *endpoint);
int mca_btl_epshm_node_reach(mca_btl_ep_module_t *module, const void *address, size_t length);
void mca_btl_epshm_node_ask(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                            bool connect);
void mca_btl_epshm_node_abandon(mca_btl_ep_module_t *module,
                                struct mca_btl_base_endpoint_t *endpoint);
bool mca_btl_epshm_node_is_left(mca_btl_ep_module_t *module,
                                const struct mca_btl_base_endpoint_t *endpoint);

/** Is a peer's doorbell, or what we have sent it, of no use any more to it? */
static inline bool mca_btl_epshm_node_is_refused(const epshm_node_peer_t *peer)
{
    /* Relaxed: as in epshm_pipe_is_refused. */
    return peer->refused || (NULL != peer->out.pipe && epshm_pipe_is_refused(peer->out.pipe))
           || EPSHM_DOORBELL_BROKEN
                  == atomic_load_explicit(&peer->doorbell->last, memory_order_relaxed);
}

void mca_btl_epshm_node_count(const mca_btl_ep_module_t *module, mca_btl_ep_counts_t *counts);

/** There is no room for a message.  @return OPAL_ERR_OUT_OF_RESOURCE, or OPAL_ERR_UNREACH if there
 * never will be */
int mca_btl_epshm_node_full(epshm_node_peer_t *peer, int why);

/** Bytes of a fragment between processes, header included. */
size_t mca_btl_epshm_node_max_send_size(void);

/* ---- btl_epshm_node_pipe.c: which peers have pipes ------------------------------------------- */

/** A message is to go to a peer without a pipe: is it time for one?  Under a message that is being
 * packed for it there is none, which would be overtaken.
 * @return has it one now? */
bool mca_btl_epshm_node_want_pipe(epshm_node_peer_t *peer);

/** Likewise, at once. */
bool mca_btl_epshm_node_open_pipe(epshm_node_peer_t *peer);

/** A peer does without its pipe, in which nothing more is sent.
 *
 * @param[in] close  say so in it; or its consumer is still to see what it says */
void mca_btl_epshm_node_leave_pipe(epshm_node_peer_t *peer, bool close);

/** Have an area for long messages.  @return OPAL_SUCCESS or OPAL_ERR_NOT_AVAILABLE (said why) */
int mca_btl_epshm_node_need_area(epshm_node_peer_t *peer);

/** Get an area if one is available beyond the ones that are indispensable; silent otherwise.
 * @return is there one? */
bool mca_btl_epshm_node_want_area(epshm_node_peer_t *peer);

/* ---- btl_epshm_node_packet.c ------------------------------------------------------------------ */

/** A packet for a message of size bytes to a peer without a pipe.
 *
 * @param[out] packet_p  sent by mca_btl_epshm_node_packet_push, or put back
 * @return OPAL_SUCCESS; OPAL_ERR_OUT_OF_RESOURCE; OPAL_ERR_NOT_AVAILABLE: a smaller one may do;
 *         OPAL_ERR_UNREACH */
int mca_btl_epshm_node_packet_get(epshm_node_peer_t *peer, size_t size,
                                  epshm_node_packet_t **packet_p);

/** Send size bytes in a packet, which is gone afterwards.
 *
 * @param[in] kind  EPSHM_PACKET_MESSAGE, ...
 * @return OPAL_SUCCESS or OPAL_ERR_UNREACH */
int mca_btl_epshm_node_packet_push(epshm_node_packet_t *packet, epshm_node_peer_t *peer,
                                   uint8_t kind, mca_btl_base_tag_t tag, size_t size);
void mca_btl_epshm_node_packet_put(epshm_node_module_t *module, epshm_node_packet_t *packet);

/** Bytes of a message of size bytes, all of it or its first part, for which the next
 * mca_btl_epshm_node_packet_get has a packet.  Where there is no packet of its class, only smaller
 * ones are of use: packet_get never takes one of a larger class. */
size_t mca_btl_epshm_node_packet_most(epshm_node_module_t *module, size_t size);

/** Send a packet without data, if there is memory for it. */
void mca_btl_epshm_node_packet_notify(epshm_node_peer_t *peer, uint8_t kind);

/** Take back packets that have been read, looking at so many. */
void mca_btl_epshm_node_packets_reclaim(epshm_node_module_t *module, uint32_t most);

/** Packets in flight to a peer may still arrive; the module does not track them any more.  NULL:
 * packets to all peers, and the module makes no more. */
void mca_btl_epshm_node_packets_retire(epshm_node_module_t *module, const epshm_node_peer_t *peer);

/* ---- btl_epshm_node_lost.c: connections that are given up ------------------------------------ */

/** Whatever leads to a peer and from it is of no use any more: it is notified, the owner is
 * notified, and mostly the user gets a message.
 *
 * @param[in] why  name of a help text, with the peer in words as its argument */
void mca_btl_epshm_node_lose(epshm_node_peer_t *peer, const char *why);

/** Likewise the sender of a pipe, which is not, or no longer, among the module's. */
void mca_btl_epshm_node_lose_in(epshm_node_module_t *module, epshm_node_in_t in, const char *why);

/** Likewise a sender.
 *
 * @param[in] corrupt  what it has sent makes no sense: nothing of it is read any more */
void mca_btl_epshm_node_lose_sender(epshm_node_module_t *module, epshm_peer_proc_t *peer_proc,
                                    uint64_t sender, uint64_t doorbell, bool corrupt,
                                    const char *why);

/** Likewise, to all modules: a doorbell has led nowhere.  The owner gets it as a result of
 * progress. */
void mca_btl_epshm_node_break_doorbell(epshm_node_module_t *module);

/** All senders are refused: tell the producers of the pipes that lead here.  Not while a message is
 * delivered. */
void mca_btl_epshm_node_refuse_pipes(epshm_node_module_t *module);

/** Likewise, for a peer that cannot be sent to, as the owner knows: it is notified. */
void mca_btl_epshm_node_refuse(mca_btl_ep_module_t *module, const void *address, size_t length);

/** Has a sender been given up?  @return NULL: no */
const epshm_node_refused_t *mca_btl_epshm_node_has_refused(const epshm_node_module_t *module,
                                                           uint64_t sender);

/** Nothing goes to a peer any more and nothing is expected of it; it is notified. */
void mca_btl_epshm_node_cut(epshm_node_peer_t *peer);

/* ---- btl_epshm_node_send.c ------------------------------------------------------------------- */

int mca_btl_epshm_node_ep_send(mca_btl_ep_module_t *module,
                               struct mca_btl_base_endpoint_t *endpoint, const void *header,
                               size_t header_size, const void *payload, size_t payload_size,
                               mca_btl_base_tag_t tag);
int mca_btl_epshm_node_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                             struct opal_convertor_t *convertor, void *header, size_t header_size,
                             size_t payload_size, uint8_t order, uint32_t flags,
                             mca_btl_base_tag_t tag, mca_btl_base_descriptor_t **descriptor);
mca_btl_base_descriptor_t *mca_btl_epshm_node_alloc(mca_btl_base_module_t *btl,
                                                    struct mca_btl_base_endpoint_t *endpoint,
                                                    uint8_t order, size_t size, uint32_t flags);
int mca_btl_epshm_node_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *descriptor);
mca_btl_base_descriptor_t *mca_btl_epshm_node_prepare_src(mca_btl_base_module_t *btl,
                                                          struct mca_btl_base_endpoint_t *endpoint,
                                                          struct opal_convertor_t *convertor,
                                                          uint8_t order, size_t reserve,
                                                          size_t *size, uint32_t flags);
int mca_btl_epshm_node_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                            mca_btl_base_descriptor_t *descriptor, mca_btl_base_tag_t tag);

/* ---- btl_epshm_node_progress.c --------------------------------------------------------------- */

int mca_btl_epshm_node_progress(mca_btl_ep_module_t *module);
bool mca_btl_epshm_node_pending(const mca_btl_ep_module_t *module);

/** Take in all messages that have arrived complete, of all senders. */
void mca_btl_epshm_node_drain(mca_btl_ep_module_t *module);

/** Ask one pipe after the other whether its sender has gone, or writes nonsense. */
void mca_btl_epshm_node_check_in(epshm_node_module_t *module);

/** The module goes: leave all pipes to it. */
void mca_btl_epshm_node_leave(epshm_node_module_t *module);

/** Hand a message to the owner. */
static inline void mca_btl_epshm_node_deliver(epshm_node_module_t *module, void *data, size_t size,
                                              mca_btl_base_tag_t tag)
{
    const mca_btl_active_message_callback_t *handler = &mca_btl_base_active_message_trigger[tag];
    const mca_btl_base_segment_t segment = {.seg_addr.pval = data, .seg_len = size};
    const mca_btl_base_receive_descriptor_t descriptor = {.endpoint = NULL,
                                                          .des_segments = &segment,
                                                          .des_segment_count = 1,
                                                          .tag = tag,
                                                          .cbdata = handler->cbdata};

    handler->cbfunc(&module->super.super, &descriptor);
}

/* ---- btl_epshm_node_doorbell.c ------------------------------------------------------------------- */

/** Take what is in the doorbell, in the order in which it came there.  Without memory for that
 * nothing is taken until there is some.  @return number of packets */
int mca_btl_epshm_node_answer_doorbell(epshm_node_module_t *module);

/** Leave what is in the doorbell of a module that goes. */
void mca_btl_epshm_node_leave_doorbell(epshm_node_module_t *module);

/* ---- btl_epshm_node_get.c -------------------------------------------------------------------- */

/** Offer btl_get, if Open MPI can copy between processes. */
void mca_btl_epshm_node_set_get(mca_btl_base_module_t *btl);

END_C_DECLS

#endif /* MCA_BTL_EPSHM_NODE_H */
