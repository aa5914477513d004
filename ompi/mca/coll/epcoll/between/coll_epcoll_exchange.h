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
 * Messages between processes: of a member of each, one to one.
 *
 * All messages of a call have the same tag, which others of the last 2^24 calls have not; between two
 * members they are received in the order in which they were sent.  What has begun is waited for, also
 * after an error: nobody writes to a buffer of a call that has returned.
 */

#ifndef MCA_COLL_EPCOLL_EXCHANGE_H
#define MCA_COLL_EPCOLL_EXCHANGE_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** The members who exchange messages: one of each process. */
typedef struct mca_coll_epcoll_party_t {
    mca_coll_epcoll_handle_t *handle;
    uint32_t home;  /**< the root's process, whose leader it is */
    uint32_t start; /**< the leader's index there: the root's; of other processes it is 0 */
    uint32_t rail;  /**< members that many behind the leaders */
} mca_coll_epcoll_party_t;

/** A vector, or a part of one. */
typedef struct mca_coll_epcoll_vector_t {
    void *address; /**< of element 0 */
    size_t count;
    ompi_datatype_t *type;
} mca_coll_epcoll_vector_t;

/** The rank of a process's member of the party. */
int mca_coll_epcoll_party_rank(const mca_coll_epcoll_party_t *party, uint32_t process);

/** Which room: of messages that have come, and of what a call puts together. */
enum { EPCOLL_ROOM_COME, EPCOLL_ROOM_CALL };

/** Bytes of a vector that are worked on at a time, for a rail: so rooms are no larger, but for larger
 * elements. */
#define EPCOLL_ROOM_MOST ((size_t) 256 * 1024)

/** How many elements are that? */
static inline size_t mca_coll_epcoll_room_elements(const ompi_datatype_t *type)
{
    return type->super.size < EPCOLL_ROOM_MOST ? EPCOLL_ROOM_MOST / type->super.size : 1;
}

/** Room for elements of a type, of the handle, until the next time.  @return NULL: no memory */
void *mca_coll_epcoll_room(mca_coll_epcoll_handle_t *handle, int which,
                           const ompi_datatype_t *type, size_t count);

/** Send and receive.  @param to, from  processes; of a vector of no elements as well */
int mca_coll_epcoll_exchange(const mca_coll_epcoll_party_t *party,
                             const mca_coll_epcoll_vector_t *send, uint32_t to,
                             const mca_coll_epcoll_vector_t *recv, uint32_t from);

/* Collectives of the party; all return MPI_SUCCESS or an error code. */

int mca_coll_epcoll_party_barrier(const mca_coll_epcoll_party_t *party);

/** From the root's process to all. */
int mca_coll_epcoll_party_bcast(const mca_coll_epcoll_party_t *party,
                                const mca_coll_epcoll_vector_t *vector);

/** The vector is the own part, and becomes the result at all.  The same bits everywhere. */
int mca_coll_epcoll_party_allreduce(const mca_coll_epcoll_party_t *party,
                                    const mca_coll_epcoll_vector_t *vector, ompi_op_t *op);

/** Likewise at the root's process; elsewhere it is overwritten. */
int mca_coll_epcoll_party_reduce(const mca_coll_epcoll_party_t *party,
                                 const mca_coll_epcoll_vector_t *vector, ompi_op_t *op);

/**
 * The blocks of all members, by rank; of those of a process that the rail stands for.
 *
 * @param count  elements of a block
 * @param rails  how many there are
 */
int mca_coll_epcoll_party_allgather(const mca_coll_epcoll_party_t *party, void *address,
                                    size_t count, ompi_datatype_t *type, uint32_t rails);

/** The first index of a process's members that a rail stands for. */
static inline uint32_t mca_coll_epcoll_rail_begin(uint32_t members, uint32_t rails, uint32_t rail)
{
    return (uint32_t) ((uint64_t) members * rail / rails);
}

/** The rail that stands for a member. */
static inline uint32_t mca_coll_epcoll_rail_of(uint32_t members, uint32_t rails, uint32_t index)
{
    return (uint32_t) ((((uint64_t) index + 1) * rails - 1) / members);
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_EXCHANGE_H */
