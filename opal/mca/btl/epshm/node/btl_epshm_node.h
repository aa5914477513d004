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
 * The node side of btl/epshm: messages between endpoints of different processes on one node.
 *
 * Each process that has such endpoints has one segment, a file in memory that the others map
 * (btl_epshm_segment.c).  A module owns a door in it, one word, in which others leave word of the
 * pipes that they have made for it in their own segments (btl_epshm_pipe.h).  Whoever writes makes
 * the pipe and owns its memory; whoever reads says when he will not touch it again.  So memory is
 * used again only when both are through, and messages outlive the endpoint, and the process, that
 * sent them.
 */

#ifndef MCA_BTL_EPSHM_NODE_H
#define MCA_BTL_EPSHM_NODE_H

#include "opal_config.h"

#include "../segment/segment.h"
#include "../base/base.h"

BEGIN_C_DECLS

/** One word by which a module learns of pipes: the last one announced, which links to the one
 * before.  A word is the process (vpid + 1) in the upper 24 bits and the pipe's offset in its
 * segment, in lines, below; 0 is none.  Doors are never used as anything else, so that somebody who
 * comes late leaves his word with the wrong endpoint, which sees that, but harms nobody. */
typedef struct epshm_door_t {
    alignas(EPSHM_PIPE_LINE) _Atomic uint64_t last;
} epshm_door_t;

#define EPSHM_DOOR_OFFSET_BITS 40

/** In a door whose list has led nowhere: whoever has left word here, or comes to do so, is not
 * heard. */
#define EPSHM_DOOR_BROKEN UINT64_MAX

/** In a door that nobody is behind at present: whoever comes to leave word here is too late. */
#define EPSHM_DOOR_LEFT (UINT64_MAX - 1)

/** What a module publishes. */
typedef struct epshm_node_address_t {
    uint32_t magic;
    uint32_t version;
    opal_process_name_t process;
    uint64_t stamp;     /**< of its segment: random, and part of the file's name */
    uint64_t size;      /**< of its segment */
    uint64_t door;      /**< offset in it */
    uint64_t addressee; /**< number of the module, which no other one of the job has or gets */
} epshm_node_address_t;

/** Largest message with an unusual header, header included, that is as fast in the cells as in the
 * area: four cells.  Others are faster there as soon as one cell does not do. */
#define EPSHM_NODE_CELLS_BEST 216

/** Messages that go in cells and would be better off in an area, after which one is taken, and so
 * many times as many where there was none to be had. */
#define EPSHM_NODE_AREA_AFTER 64
#define EPSHM_NODE_AREA_PAUSE 64

/** A BTL endpoint of the node side: the way to one module of another process. */
typedef struct epshm_node_peer_t {
    epshm_pipe_out_t out;
    epshm_unusual_t unusual;
    epshm_neighbour_t *neighbour;
    struct epshm_node_peer_t *next, *prev; /**< of the module's, in a ring */
    epshm_door_t *door;                    /**< its */
    uint64_t addressee;                    /**< its number */
    epshm_retired_t *last_will;            /**< made beforehand, so that the end needs no memory */
    mca_btl_ep_module_t *module;           /**< whose */
    uint32_t full;                         /**< sends that found no room */
    int32_t medium;                        /**< messages that an area would have been better for */
    bool gone;                             /**< nothing is sent any more */
    bool lost;                             /**< and the owner knows that it is not as usual */
} epshm_node_peer_t;

/** A pipe that leads here, and whose it is: copied when it was taken in. */
typedef struct epshm_node_in_t {
    epshm_pipe_in_t pipe;
    epshm_neighbour_t *neighbour;
    uint64_t sender, door; /**< as in epshm_pipe_t */
    bool condemned;        /**< its sender is lost, as the owner knows: to be refused */
} epshm_node_in_t;

/** A message that is being packed, in place if it can be: one per module at a time. */
typedef struct epshm_node_frag_t {
    mca_btl_base_descriptor_t base;
    mca_btl_base_segment_t segment;
    epshm_node_peer_t *peer; /**< NULL: free */
    uint64_t position;       /**< in the area */
    /** In place of an area for which there was no memory: what fits in cells. */
    unsigned char small[EPSHM_PIPE_INLINE_MAX];
} epshm_node_frag_t;

OBJ_CLASS_DECLARATION(epshm_node_frag_t);

typedef struct epshm_node_module_t {
    mca_btl_ep_module_t super;
    epshm_door_t *door;
    epshm_block_t door_block;
    uint64_t addressee;
    epshm_node_peer_t *peers; /**< the next one to look at, whether it has given us up */
    bool broken;              /**< its door is: nothing is taken in any more */
    epshm_node_in_t *in;      /**< those that bring messages are at the front */
    uint32_t in_count, in_capacity;
    uint64_t *refused; /**< senders given up before their pipes came */
    uint32_t refused_count;
    uint32_t cold;   /**< the next one to look at of those behind */
    uint32_t demote; /**< the next place at the front to give to another */
    uint32_t turns;
    uint32_t asked;          /**< the next one to ask whether its sender has gone */
    epshm_unusual_t unusual; /**< messages to those that have been disconnected included */
    epshm_node_frag_t frag;
} epshm_node_module_t;

/* ---- btl_epshm_node_module.c ----------------------------------------------------------------- */

/** @return OPAL_SUCCESS; OPAL_ERR_NOT_AVAILABLE: not wanted, or no memory for it (said why);
 *          OPAL_ERR_OUT_OF_RESOURCE */
int mca_btl_epshm_node_module_create(void *context, mca_btl_ep_module_t **module_p);

/** An address of this process, but for its segment's stamp. */
void mca_btl_epshm_node_address_write(epshm_node_address_t *address, uint64_t size, uint64_t door,
                                      uint64_t addressee);

/** Look at an address.  @return false if it is none */
bool mca_btl_epshm_node_address_read(const void *blob, size_t length,
                                     epshm_node_address_t *address);

/* ---- btl_epshm_node_memory.c: memory for the owner ------------------------------------------- */

/** See mca_btl_ep_memory_get_fn_t. */
int mca_btl_epshm_node_memory_get(const mca_btl_ep_memory_name_t *name, size_t size,
                                  unsigned int processes, mca_btl_ep_memory_t **memory_p);

/* ---- btl_epshm_node_peer.c: pipes to others -------------------------------------------------- */

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

/** Is a peer's door, or what we have sent it, of no use any more to it? */
static inline bool mca_btl_epshm_node_is_refused(const epshm_node_peer_t *peer)
{
    /* Relaxed: as in epshm_pipe_is_refused. */
    return epshm_pipe_is_refused(peer->out.pipe)
           || EPSHM_DOOR_BROKEN == atomic_load_explicit(&peer->door->last, memory_order_relaxed);
}

void mca_btl_epshm_node_count(const mca_btl_ep_module_t *module, mca_btl_ep_counts_t *counts);

/** A pipe has no room.  @return OPAL_ERR_OUT_OF_RESOURCE, or OPAL_ERR_UNREACH if it never will */
int mca_btl_epshm_node_full(epshm_node_peer_t *peer, int why);

/** Have an area for long messages.  @return OPAL_SUCCESS or OPAL_ERR_NOT_AVAILABLE (said why) */
int mca_btl_epshm_node_need_area(epshm_node_peer_t *peer);

/** Have an area, if one can be had without taking what those need who cannot do without: silently.
 * @return is there one? */
bool mca_btl_epshm_node_want_area(epshm_node_peer_t *peer);

/** Bytes of a fragment between processes, header included. */
size_t mca_btl_epshm_node_max_send_size(void);

/* ---- btl_epshm_node_lost.c: connections that are given up ------------------------------------ */

/** Whatever leads to a peer and from it is of no use any more: it is told, the owner is told, and
 * mostly somebody tells the user.
 *
 * @param[in] why  name of a help text, with the peer in words as its argument */
void mca_btl_epshm_node_lose(epshm_node_peer_t *peer, const char *why);

/** Likewise the sender of a pipe, which is not, or no longer, among the module's. */
void mca_btl_epshm_node_lose_sender(epshm_node_module_t *module, epshm_node_in_t in,
                                    const char *why);

/** Likewise everybody: a door has led nowhere.  The owner learns of it by what progress returns. */
void mca_btl_epshm_node_break_door(epshm_node_module_t *module);

/** Everybody is refused: tell those whose pipes lead here.  Not while a message is delivered. */
void mca_btl_epshm_node_refuse_pipes(epshm_node_module_t *module);

/** Likewise somebody to whom nothing can be sent, as the owner knows: it is told. */
void mca_btl_epshm_node_refuse(mca_btl_ep_module_t *module, const void *address, size_t length);

/** Has that been called for a sender that had no pipe here? */
bool mca_btl_epshm_node_has_refused(const epshm_node_module_t *module, uint64_t sender);

/** Nothing goes to a peer any more and nothing is expected of it; it is told. */
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

/** Take in all that has arrived complete, whoever sent it. */
void mca_btl_epshm_node_drain(mca_btl_ep_module_t *module);

/** The module goes: leave all pipes to it. */
void mca_btl_epshm_node_leave(epshm_node_module_t *module);

/* ---- btl_epshm_node_get.c -------------------------------------------------------------------- */

/** Offer btl_get, if Open MPI can copy between processes. */
void mca_btl_epshm_node_set_get(mca_btl_base_module_t *btl);

END_C_DECLS

#endif /* MCA_BTL_EPSHM_NODE_H */
