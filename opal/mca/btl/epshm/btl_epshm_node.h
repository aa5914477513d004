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
 *
 * Only the files of the node side include this.
 */

#ifndef MCA_BTL_EPSHM_NODE_H
#define MCA_BTL_EPSHM_NODE_H

#include "opal_config.h"

#include "btl_epshm_pipe.h"
#include "btl_epshm_types.h"

#include "opal/mca/smsc/smsc.h"

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

#define EPSHM_SEGMENT_MAGIC UINT64_C(0x6d68737065707365)
#define EPSHM_SEGMENT_VERSION 2

/** Memory is taken in steps of so many bytes, a multiple of every page size in use. */
#define EPSHM_SEGMENT_STEP ((uint64_t) 256 * 1024)

/** By which others see that memory that they read is this process's: bytes that nobody else has at
 * that place.  A process id, by which CMA names a process, may mean another one to them, in another
 * namespace or once the process has ended. */
typedef struct epshm_copy_proof_t {
    uint64_t secret[2];
    uint64_t address;     /**< of the same bytes in memory of the process's own; 0: none */
    uint32_t handle_size; /**< of its registration; 0: none is needed */
    uint32_t unused;
    unsigned char handle[MCA_BTL_EP_ADDRESS_MAX];
} epshm_copy_proof_t;

/** Beginning of every segment.  Constant, but for used, once others may know of it. */
typedef struct epshm_segment_header_t {
    uint64_t magic;
    uint32_t version;
    uint32_t uid;
    opal_process_name_t name;
    uint64_t stamp; /**< random, and part of the file's name */
    uint64_t size;
    epshm_copy_proof_t proof;
    /** Bytes from the beginning that have memory.  Relaxed everywhere: whoever hears of something
     * in the segment hears of it later, by an acquire. */
    _Atomic uint64_t used;
} epshm_segment_header_t;

/** Another process of the node, whose segment is mapped.  Kept as long as the component. */
typedef struct epshm_neighbour_t {
    struct epshm_neighbour_t *next;
    opal_process_name_t name;
    uint64_t stamp;
    unsigned char *base;
    uint64_t size;
    const _Atomic uint64_t *used; /**< in its segment */
    int fd;                       /**< to ask whether it lives */
    mca_smsc_endpoint_t *single_copy; /**< NULL: its memory cannot be read from here */
    _Atomic bool copy_failed; /**< it could not be read when it was tried, or was another one's */
    epshm_copy_proof_t proof;
    _Atomic uint64_t proven_ns; /**< when its memory was last seen to be its own; 0: never */
} epshm_neighbour_t;

/** What memory of the own segment is used for; each is used for the same again. */
typedef enum epshm_block_kind_t {
    EPSHM_BLOCK_DOOR,
    EPSHM_BLOCK_PIPE,
    EPSHM_BLOCK_AREA,
    EPSHM_BLOCK_KINDS
} epshm_block_kind_t;

typedef struct epshm_block_t {
    unsigned char *memory;
    uint64_t offset;
    uint64_t size;
} epshm_block_t;

/** A pipe that its producer has closed, until its consumer has left it. */
typedef struct epshm_retired_t {
    struct epshm_retired_t *next;
    epshm_pipe_t *pipe;
    epshm_neighbour_t *neighbour; /**< the consumer's */
    epshm_block_t pipe_block, area_block; /**< area_block.size may be 0 */
} epshm_retired_t;

/** Largest message with an unusual header, header included, that is as fast in the cells as in the
 * area: four cells.  Others are faster there as soon as one cell does not do. */
#define EPSHM_NODE_CELLS_BEST 216

/** Messages that go in cells and would be better off in an area, after which one is taken, and so many
 * times as many where there was none to be had. */
#define EPSHM_NODE_AREA_AFTER 64
#define EPSHM_NODE_AREA_PAUSE 64

/** A BTL endpoint of the node side: the way to one module of another process. */
typedef struct epshm_node_peer_t {
    epshm_pipe_out_t out;
    epshm_unusual_t unusual;
    epshm_neighbour_t *neighbour;
    struct epshm_node_peer_t *next, *prev; /**< of the module's, in a ring */
    epshm_door_t *door;           /**< its */
    uint64_t addressee;           /**< its number */
    epshm_retired_t *last_will;   /**< made beforehand, so that the end needs no memory */
    mca_btl_ep_module_t *module;  /**< whose */
    uint32_t full;                /**< sends that found no room */
    int32_t medium;               /**< messages that an area would have been better for */
    bool gone;                    /**< nothing is sent any more */
    bool lost;                    /**< and the owner knows that it is not as usual */
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
    bool broken;         /**< its door is: nothing is taken in any more */
    epshm_node_in_t *in; /**< those that bring messages are at the front */
    uint32_t in_count, in_capacity;
    uint64_t *refused;   /**< senders given up before their pipes came */
    uint32_t refused_count;
    uint32_t cold;       /**< the next one to look at of those behind */
    uint32_t demote;     /**< the next place at the front to give to another */
    uint32_t turns;
    uint32_t asked;      /**< the next one to ask whether its sender has gone */
    epshm_unusual_t unusual; /**< messages to those that have been disconnected included */
    epshm_node_frag_t frag;
} epshm_node_module_t;

/* ---- btl_epshm_segment.c --------------------------------------------------------------------- */

/** The smallest segment, in bytes. */
#define EPSHM_SEGMENT_LEAST 524288

/** The own segment, made if need be.  Any thread.
 *
 * @param[out] stamp_p, size_p  for the address
 * @return OPAL_SUCCESS; OPAL_ERR_NOT_AVAILABLE (said why) */
int mca_btl_epshm_segment_open(uint64_t *stamp_p, uint64_t *size_p);

/** How large the own segment may become, 0 if there is none, and whether it could not be made.  Any
 * thread. */
void mca_btl_epshm_segment_describe(uint64_t *size_p, bool *failed_p);

/** Bytes that nobody can guess.  @return 0 or an error number */
int mca_btl_epshm_random(void *bytes, size_t size);

/** Nobody uses it any more, nor those of others: unmap all, remove the file. */
void mca_btl_epshm_segment_close(void);

/** Memory of the own segment, whole lines, not cleared.  Any thread.
 *
 * @param[in] spare  eighths of the segment that must be left for others
 * @return false: no room, in the segment or on the machine */
bool mca_btl_epshm_segment_get(epshm_block_kind_t kind, uint64_t size, unsigned int spare,
                               epshm_block_t *block);
void mca_btl_epshm_segment_put(epshm_block_kind_t kind, const epshm_block_t *block);

/** A pipe has been closed; takes over *retired, and frees what its consumer has left. */
void mca_btl_epshm_segment_retire(epshm_retired_t *retired);

/** What helps against an error of the system, for the help texts. */
const char *mca_btl_epshm_segment_advice(int error);

/* ---- btl_epshm_neighbour.c ------------------------------------------------------------------- */

/** Map the segment of a process.  Any thread.
 *
 * @param[in] name, stamp, size  as in the address of one of its modules
 * @return OPAL_SUCCESS; OPAL_ERR_UNREACH (said why, once) */
int mca_btl_epshm_neighbour_attach(const opal_process_name_t *name, uint64_t stamp, uint64_t size,
                                 epshm_neighbour_t **neighbour_p);

/** The segment of a process of this job that has been mapped.  Any thread.  @return NULL: none */
epshm_neighbour_t *mca_btl_epshm_neighbour_find(opal_vpid_t vpid);

/** Has the process of a mapped segment ended?  A system call. */
bool mca_btl_epshm_neighbour_is_dead(const epshm_neighbour_t *neighbour);

/** How many there are, and the memory of how many of them cannot be read from here, although Open
 * MPI has a way to try.  Any thread. */
void mca_btl_epshm_neighbours_count(int *all_p, int *unreadable_p);

/** Nobody uses them any more: unmap all. */
void mca_btl_epshm_neighbours_forget(void);

/* ---- btl_epshm_proof.c ----------------------------------------------------------------------- */

/** Prove to others whose memory this process's is.  Under the segment's lock.
 * @return 0 or an error number */
int mca_btl_epshm_proof_make(epshm_copy_proof_t *proof);

/** The segment goes.  Likewise. */
void mca_btl_epshm_proof_end(void);

/** Read memory of another process: one copy.  Any thread.
 *
 * @param[in] registration  of the other's, where Open MPI's way needs one
 * @return OPAL_SUCCESS; OPAL_ERR_NOT_AVAILABLE: this cannot be read, or nothing of it */
int mca_btl_epshm_neighbour_copy(epshm_neighbour_t *neighbour, void *local, uint64_t remote,
                                 size_t size, void *registration);

/* ---- btl_epshm_segment_file.c ---------------------------------------------------------------- */

/** Where the segment of a process is.  @return to be freed, or NULL (no memory) */
char *mca_btl_epshm_segment_path(const opal_process_name_t *name, uint64_t stamp);

/** A new file to which this process's life is tied.
 * @return its descriptor, or -1 with errno set; EEXIST: try another name */
int mca_btl_epshm_segment_file_create(const char *path);

/** Open a file of this user.  Never waits, and does not touch what is another user's.
 *
 * @param[in] folder  that path is relative to, or AT_FDCWD
 * @return its descriptor, or -1 with errno set; EPERM: not a file of this user */
int mca_btl_epshm_segment_file_open(int folder, const char *path);

/** Is the life of another process tied to this file?  A system call. */
bool mca_btl_epshm_segment_file_is_owned(int fd);

/** Remove what other jobs have left in the folder. */
void mca_btl_epshm_segment_sweep(void);

/* ---- btl_epshm_node_module.c ----------------------------------------------------------------- */

/** An address of this process, but for its segment's stamp. */
void mca_btl_epshm_node_address_write(epshm_node_address_t *address, uint64_t size, uint64_t door,
                                      uint64_t addressee);

/** Look at an address.  @return false if it is none */
bool mca_btl_epshm_node_address_read(const void *blob, size_t length,
                                     epshm_node_address_t *address);

/* ---- btl_epshm_node_peer.c: pipes to others -------------------------------------------------- */

int mca_btl_epshm_node_connect(mca_btl_ep_module_t *module, const void *address, size_t length,
                               struct mca_btl_base_endpoint_t **endpoint_p);
void mca_btl_epshm_node_disconnect(mca_btl_ep_module_t *module,
                                   struct mca_btl_base_endpoint_t *endpoint);
int mca_btl_epshm_node_reach(mca_btl_ep_module_t *module, const void *address, size_t length);
void mca_btl_epshm_node_ask(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                            bool look_only);
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
mca_btl_base_descriptor_t *
mca_btl_epshm_node_prepare_src(mca_btl_base_module_t *btl,
                               struct mca_btl_base_endpoint_t *endpoint,
                               struct opal_convertor_t *convertor, uint8_t order, size_t reserve,
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
