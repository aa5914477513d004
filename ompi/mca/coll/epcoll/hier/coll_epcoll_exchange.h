/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages between processes: of a member of each, one to one.
 *
 * All messages of a call have the same tag, which no other of the last calls has.  Between two
 * members they are received in the order in which they were sent.  A call waits for all messages
 * that it has begun, also after an error: no buffer is written after its call has returned.
 */

#ifndef MCA_COLL_EPCOLL_EXCHANGE_H
#define MCA_COLL_EPCOLL_EXCHANGE_H

#include "ompi_config.h"

#include "../base/base.h"
#include "../data/data.h"

#include "ompi/request/request.h"

BEGIN_C_DECLS

/**
 * Tags: of blocking calls by their count, of nonblocking ones likewise, and of persistent ones by
 * the order in which they were made; the same at all members.  Likewise those of the layer direct,
 * whose blocking and nonblocking calls share one.  Tags repeat after 2^22 calls, more than can be
 * active at a time.
 */
enum {
    EPCOLL_TAGS_BLOCKING = 0x3fffff,    /**< up to this one */
    EPCOLL_TAGS_DIRECT = 0x400000,      /**< from this one on; those of persistent ones behind it */
    EPCOLL_TAGS_NONBLOCKING = 0x800000, /**< from this one on */
    EPCOLL_TAGS_PERSISTENT = 0xc00000,
    EPCOLL_TAGS_EACH = 0x3fffff, /**< numbers of each */
};

/** The members that exchange messages: one of each process. */
typedef struct mca_coll_epcoll_partners_t {
    mca_coll_epcoll_handle_t *handle;
    uint32_t root_process; /**< the root's process */
    uint32_t root_index;   /**< the leader's index there: the root's; of other processes it is 0 */
    uint32_t offset;       /**< members that many behind the leaders */
    bool node_reduced;     /**< the data of a node's members are combined at its leader */
} mca_coll_epcoll_partners_t;

/** A vector, or a part of one. */
typedef struct mca_coll_epcoll_vector_t {
    void *address; /**< of element 0 */
    size_t count;
    ompi_datatype_t *type;
} mca_coll_epcoll_vector_t;

/** The rank of a process's member of the partners. */
int mca_coll_epcoll_partners_rank(const mca_coll_epcoll_partners_t *partners, uint32_t process);

/** Bytes of a vector that are processed at a time, for a slice.  So scratch buffers are no larger,
 * except for larger elements, and for a bcast of a type with gaps, whose slice is packed as a
 * whole. */
#define EPCOLL_SCRATCH_MAX ((size_t) 256 * 1024)

/** How many elements are that, gaps included? */
static inline size_t mca_coll_epcoll_scratch_elements(const ompi_datatype_t *type)
{
    const ptrdiff_t extent = mca_coll_epcoll_extent(type);
    const size_t step = (size_t) (0 > extent ? -extent : extent);
    const size_t each = step < type->super.size ? type->super.size : step;

    return each < EPCOLL_SCRATCH_MAX ? EPCOLL_SCRATCH_MAX / each : 1;
}

/** Room for elements of a type, until the next time.  @return NULL: no memory */
void *mca_coll_epcoll_scratch_get(mca_coll_epcoll_scratch_t *scratch, const ompi_datatype_t *type,
                                  size_t count);

/** The next time may be far away: a scratch buffer of more bytes goes. */
void mca_coll_epcoll_scratch_trim(mca_coll_epcoll_scratch_t *scratch, size_t most);

/** Wait for what has begun.  @param rc  how that has been so far  @return likewise, in the end */
int mca_coll_epcoll_wait_for(mca_coll_epcoll_handle_t *handle, ompi_request_t **request, int rc);

/** Is a message over? */
bool mca_coll_epcoll_is_complete(ompi_request_t *request);

/** A part of a vector. */
mca_coll_epcoll_vector_t mca_coll_epcoll_part_of(const mca_coll_epcoll_vector_t *vector,
                                                 size_t first, size_t count);

/** The part of a process, of a vector that is divided among all. */
mca_coll_epcoll_vector_t mca_coll_epcoll_process_part(const mca_coll_epcoll_vector_t *vector,
                                                      uint32_t process, uint32_t processes);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_EXCHANGE_H */
