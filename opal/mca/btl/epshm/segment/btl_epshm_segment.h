/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The own segment: a file in memory that the other processes of the node map, and what is in it.
 */

#ifndef MCA_BTL_EPSHM_SEGMENT_H
#define MCA_BTL_EPSHM_SEGMENT_H

#include "opal_config.h"

#include <stdatomic.h>

#include "btl_epshm_peer_proc.h"
#include "btl_epshm_pipe.h"
#include "btl_epshm_identity.h"

#include "opal/mca/common/ep/common_ep_keyed.h"

BEGIN_C_DECLS

#define EPSHM_SEGMENT_MAGIC UINT64_C(0x6d68737065707365)
#define EPSHM_SEGMENT_VERSION 4

/** Memory is taken in steps of so many bytes, a multiple of every page size in use. */
#define EPSHM_SEGMENT_STEP ((uint64_t) 256 * 1024)

/** Beginning of every segment.  Constant, but for used, once others may know of it. */
typedef struct epshm_segment_header_t {
    uint64_t magic;
    uint32_t version;
    uint32_t uid;
    opal_process_name_t name;
    uint64_t stamp; /**< random, and part of the file's name */
    uint64_t size;
    epshm_identity_t identity;
    ep_secret_t secret; /**< for names that only processes of the job that see the segment can
                             make */
    /** Bytes from the beginning that have memory.  Relaxed everywhere: a process learns of data in
     * the segment later, by an acquire. */
    _Atomic uint64_t used;
} epshm_segment_header_t;

/** Sizes of packets: class c holds EPSHM_PACKET_LEAST << c bytes of data. */
#define EPSHM_PACKET_LEAST 64
#define EPSHM_PACKET_CLASSES 15

/** What memory of the own segment is used for; each is used for the same again. */
typedef enum epshm_block_kind_t {
    EPSHM_BLOCK_DOORBELL,
    EPSHM_BLOCK_PIPE,
    EPSHM_BLOCK_AREA,
    EPSHM_BLOCK_PACKET, /**< and EPSHM_PACKET_CLASSES - 1 more */
    EPSHM_BLOCK_KINDS = EPSHM_BLOCK_PACKET + EPSHM_PACKET_CLASSES
} epshm_block_kind_t;

typedef struct epshm_block_t {
    unsigned char *memory;
    uint64_t offset;
    uint64_t size;
    epshm_block_kind_t kind;
} epshm_block_t;

/** A pipe that its producer has closed, or a packet, until its consumer has left it. */
typedef struct epshm_retired_t {
    struct epshm_retired_t *next;
    const _Atomic uint64_t *detached; /**< not 0 then */
    epshm_peer_proc_t *peer_proc;     /**< the consumer's */
    epshm_block_t block, area_block;  /**< area_block.size may be 0 */
} epshm_retired_t;

/** The smallest segment, in bytes. */
#define EPSHM_SEGMENT_LEAST 524288

/** The own segment, made if need be.  Any thread.
 *
 * @param[out] stamp_p, size_p  for the address
 * @return OPAL_SUCCESS; OPAL_ERR_NOT_AVAILABLE (said why) */
int mca_btl_epshm_segment_open(uint64_t *stamp_p, uint64_t *size_p);

/** The secret of the own segment.  Any thread.
 *
 * @param[in] stamp  of the segment that is meant
 * @return false: there is none of that stamp */
bool mca_btl_epshm_segment_secret(uint64_t stamp, ep_secret_t *secret);

/** How large the own segment may become, 0 if there is none, and whether it could not be made.  Any
 * thread. */
void mca_btl_epshm_segment_describe(uint64_t *size_p, bool *failed_p);

/** Bytes that cannot be guessed.  @return 0 or an error number */
int mca_btl_epshm_random(void *bytes, size_t size);

/** Neither it nor the others' segments are used any more: unmap all, remove the file. */
void mca_btl_epshm_segment_close(void);

/** Memory of the own segment, whole lines, not cleared.  Any thread.
 *
 * @param[in] spare  eighths of the segment that must be left for others
 * @return false: no room, in the segment or on the machine */
bool mca_btl_epshm_segment_get(epshm_block_kind_t kind, uint64_t size, unsigned int spare,
                               epshm_block_t *block);
void mca_btl_epshm_segment_put(const epshm_block_t *block);

/** Has there once been no memory for a packet?  Any thread; a hint. */
bool mca_btl_epshm_segment_is_short(void);

/** A pipe has been closed, or the producer of a packet goes; takes over *retired, which is the
 * beginning of its memory, and frees what consumers have left. */
void mca_btl_epshm_segment_retire(epshm_retired_t *retired);

/** What helps against an error of the system, for the help texts. */
const char *mca_btl_epshm_segment_advice(int error);

END_C_DECLS

#endif /* MCA_BTL_EPSHM_SEGMENT_H */
