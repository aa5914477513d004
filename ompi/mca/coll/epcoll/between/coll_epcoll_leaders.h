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
 * Where members are on several nodes, the leaders of a node's processes meet in its memory, in
 * small calls: what they say goes up to who stands for the node, and the result comes down, without
 * a message.  Between nodes it goes by messages, whether nodes meet so or not.
 *
 * A place in that block (coll_epcoll_near.h) is a process's: coll_epcoll_meet.h.  Who leads a
 * process comes there when it has heard from all its members, by the block of the process.
 */

#ifndef MCA_COLL_EPCOLL_LEADERS_H
#define MCA_COLL_EPCOLL_LEADERS_H

#include "ompi_config.h"

#include "coll_epcoll_party.h"

BEGIN_C_DECLS

/** A meeting, as a member of the node has it. */
typedef struct mca_coll_epcoll_meeting_t {
    epcoll_member_t *member; /**< our view; NULL: they meet by messages */
    const mca_coll_epcoll_call_t *call;
    uint64_t word;
    uint32_t stands; /**< the place of the process that stands for the node */
} mca_coll_epcoll_meeting_t;

/**
 * A barrier, or a reduction of what fits in a slot, begins: do leaders meet in memory?  Once in a
 * call at each member, whether it leads or not; the same answer on all of a node.
 *
 * @param party  of the call
 * @param word   what is called: mca_coll_epcoll_word
 */
mca_coll_epcoll_meeting_t mca_coll_epcoll_meeting_begin(const mca_coll_epcoll_party_t *party,
                                                        const mca_coll_epcoll_call_t *call,
                                                        uint64_t word);

/** Of a leader: what its process says; at who stands for the node it becomes what all of the node
 * say, in the order in which messages would have put it together.
 * @param combine  into = from op into; NULL: there is nothing to put together
 * @return 0 or an error */
int mca_coll_epcoll_meeting_up(const mca_coll_epcoll_meeting_t *meeting, void *data,
                               void (*combine)(void *into, const void *from, void *context));

/** Of a leader: the result, from who stands for the node.  @return 0 or an error */
int mca_coll_epcoll_meeting_down(const mca_coll_epcoll_meeting_t *meeting, void *data);

/** Of a leader: it is over.  @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_meeting_ended(const mca_coll_epcoll_meeting_t *meeting, int rc);

/** Of who does not lead: it is over. */
void mca_coll_epcoll_meeting_passed(const mca_coll_epcoll_meeting_t *meeting);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_LEADERS_H */
