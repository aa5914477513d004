/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What one member does of one call that spans processes, as a list of steps which never wait: a
 * program. A blocking call goes through it and waits between steps; of a nonblocking or persistent
 * one the layer pending goes on a little at a time, in whichever thread turns the endpoint.
 *
 * A *builder* makes it, out of handle and call: once how many rounds there are, then the steps of
 * one round after the other, each when the one before is over.  What it may do, and must:
 *
 *  - It looks at mca_coll_epcoll_layout(handle), rank, size, member.index and member.count, and at
 *    the call; it keeps nothing but in program->state and in rooms.
 *  - All else it does by the operations below, in the order in which they are to be done: local,
 *    send, receive, wait, reduce and copy.  They have two backends.  A blocking call does them at
 *    once (coll_epcoll_now.h); a nonblocking or persistent one appends them as steps, and does them
 *    later (coll_epcoll_step.h).  So there is one text of each algorithm.
 *  - No operation returns an error: it is in the program, whose later operations do nothing.
 *    Vectors and buffers are copied into the step, what they point to is not.  A builder must not
 *    read data that an operation brings.
 *  - LOCAL: a call among the members of this process, by their block, roots by index.  *All*
 *    members of the process have the same ones, in the same order, as many as locals says.  The
 *    others may be done by one member alone.  Of a process of one member there need not be any.
 *  - SEND and RECEIVE begin a message, and go on; of two messages between the same two members the
 *    first one sent is the first one received.  WAIT is over when all messages that were begun are.
 *    At the end of a round there is a WAIT in any case.
 *  - Buffers of the user's are those of the call; temporary elements are in rooms of the program's.
 *  - What may differ between members without an error (counts of v forms) must not decide how many
 *    LOCAL steps there are, nor which way a message goes: the receiver has to know that it comes.
 */

#ifndef MCA_COLL_EPCOLL_PROGRAM_H
#define MCA_COLL_EPCOLL_PROGRAM_H

#include "ompi_config.h"

#include "../data/data.h"
#include "../local/local.h"
#include "coll_epcoll_exchange.h"

BEGIN_C_DECLS

typedef struct mca_coll_epcoll_program_t mca_coll_epcoll_program_t;
typedef struct mca_coll_epcoll_step_t mca_coll_epcoll_step_t;
typedef struct mca_coll_epcoll_part_t mca_coll_epcoll_part_t;

/** Bytes of a builder's own. */
#define EPCOLL_PROGRAM_STATE 256

/** Makes programs of a kind. */
typedef struct mca_coll_epcoll_builder_t {
    /** Is a call served?  The same answer at all members.  NULL: each */
    bool (*serves)(const mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call);
    /** A call begins: sets locals, and, unless it is 1, rounds; and state.  All are 0 before, but
     * for state, which is what the program before has left.  @return MPI_SUCCESS or an error
     * code */
    int (*begin)(mca_coll_epcoll_program_t *program);
    /** The operations of program->round. */
    void (*round)(mca_coll_epcoll_program_t *program);
} mca_coll_epcoll_builder_t;

/** A program; of a handle's thread, or under pending's gate. */
struct mca_coll_epcoll_program_t {
    /* for builders: read */
    mca_coll_epcoll_handle_t *handle;
    const mca_coll_epcoll_call_t *call; /**< the user's */
    uint64_t round;                     /**< that is appended */

    /* for builders: theirs */
    uint64_t rounds; /**< 1 if begin does not say */
    uint64_t locals; /**< LOCAL steps of all rounds: the same at all members of the process */
    alignas(16) unsigned char state[EPCOLL_PROGRAM_STATE];

    /* of blocking calls */
    bool is_now;              /**< operations are done at once: coll_epcoll_now.h */
    uint32_t request_room;    /**< how many fit; open says how many have begun */
    ompi_request_t **request; /**< see coll_epcoll_now.h */

    /* the program's own */
    const mca_coll_epcoll_builder_t *builder;
    mca_coll_epcoll_channel_t
        *channel; /**< where its LOCAL steps have numbers; NULL: it has not entered */
    epcoll_member_t own, *member;       /**< its view of the block; its own, of a channel */
    int tag;                            /**< of its messages */
    int error;                          /**< why it fails: it only ends what it has begun */
    mca_coll_epcoll_step_t *step;
    mca_coll_epcoll_part_t *part; /**< of LOCAL steps */
    uint32_t steps, step_room;    /**< appended; and how many fit */
    uint32_t parts, part_room;
    uint32_t at;    /**< the step that we are in */
    uint32_t open;  /**< messages of earlier ones are over */
    bool is_shown;  /**< the LOCAL one that we are in: others see it */
    uint32_t waits; /**< steps that have brought nothing */
    bool is_enough; /**< done in a step */
    size_t done;    /**< of the one that we are in: elements, or bytes */
    mca_coll_epcoll_running_t running;
    mca_coll_epcoll_room_t room[EPCOLL_PROGRAM_ROOMS];
};

/* ---- the two backends of operations: coll_epcoll_now.c, coll_epcoll_program.c ------------------ */

void mca_coll_epcoll_now_local(mca_coll_epcoll_program_t *program,
                               const mca_coll_epcoll_call_t *call,
                               const mca_coll_epcoll_plan_t *plan);
void mca_coll_epcoll_now_send(mca_coll_epcoll_program_t *program,
                              const mca_coll_epcoll_vector_t *vector, int rank);
void mca_coll_epcoll_now_receive(mca_coll_epcoll_program_t *program,
                                 const mca_coll_epcoll_vector_t *vector, int rank);
void mca_coll_epcoll_now_wait(mca_coll_epcoll_program_t *program);
void mca_coll_epcoll_now_reduce(mca_coll_epcoll_program_t *program,
                                const mca_coll_epcoll_vector_t *from,
                                const mca_coll_epcoll_vector_t *into);
void mca_coll_epcoll_now_copy(mca_coll_epcoll_program_t *program,
                              const mca_coll_epcoll_buffer_t *into,
                              const mca_coll_epcoll_buffer_t *from, size_t offset, size_t size);
void mca_coll_epcoll_append_local(mca_coll_epcoll_program_t *program,
                                  const mca_coll_epcoll_call_t *call,
                                  const mca_coll_epcoll_plan_t *plan);
void mca_coll_epcoll_append_send(mca_coll_epcoll_program_t *program,
                                 const mca_coll_epcoll_vector_t *vector, int rank);
void mca_coll_epcoll_append_receive(mca_coll_epcoll_program_t *program,
                                    const mca_coll_epcoll_vector_t *vector, int rank);
void mca_coll_epcoll_append_wait(mca_coll_epcoll_program_t *program);
void mca_coll_epcoll_append_reduce(mca_coll_epcoll_program_t *program,
                                   const mca_coll_epcoll_vector_t *from,
                                   const mca_coll_epcoll_vector_t *into);
void mca_coll_epcoll_append_copy(mca_coll_epcoll_program_t *program,
                                 const mca_coll_epcoll_buffer_t *into,
                                 const mca_coll_epcoll_buffer_t *from, size_t offset, size_t size);

/** Rooms of blocking calls.  @return NULL: no memory */
mca_coll_epcoll_room_t *mca_coll_epcoll_now_rooms(const mca_coll_epcoll_program_t *program);

/* ---- for builders ---------------------------------------------------------------------------- */

/** @param call  copied; root, if it has one: an index of this process
 *  @param plan  copied: what members do instead of what the kind says; NULL: nothing else */
static inline void mca_coll_epcoll_program_local(mca_coll_epcoll_program_t *program,
                                                 const mca_coll_epcoll_call_t *call,
                                                 const mca_coll_epcoll_plan_t *plan)
{
    if (program->is_now) {
        mca_coll_epcoll_now_local(program, call, plan);
    } else {
        mca_coll_epcoll_append_local(program, call, plan);
    }
}

/** @param rank  of the communicator */
static inline void mca_coll_epcoll_program_send(mca_coll_epcoll_program_t *program,
                                                const mca_coll_epcoll_vector_t *vector, int rank)
{
    if (program->is_now) {
        mca_coll_epcoll_now_send(program, vector, rank);
    } else {
        mca_coll_epcoll_append_send(program, vector, rank);
    }
}

static inline void mca_coll_epcoll_program_receive(mca_coll_epcoll_program_t *program,
                                                   const mca_coll_epcoll_vector_t *vector, int rank)
{
    if (program->is_now) {
        mca_coll_epcoll_now_receive(program, vector, rank);
    } else {
        mca_coll_epcoll_append_receive(program, vector, rank);
    }
}

/** Until all messages that were begun are over. */
static inline void mca_coll_epcoll_program_wait(mca_coll_epcoll_program_t *program)
{
    if (program->is_now) {
        mca_coll_epcoll_now_wait(program);
    } else {
        mca_coll_epcoll_append_wait(program);
    }
}

/** into = from op into, with the call's op; of into->count elements.  They do not overlap. */
static inline void mca_coll_epcoll_program_reduce(mca_coll_epcoll_program_t *program,
                                                  const mca_coll_epcoll_vector_t *from,
                                                  const mca_coll_epcoll_vector_t *into)
{
    if (program->is_now) {
        mca_coll_epcoll_now_reduce(program, from, into);
    } else {
        mca_coll_epcoll_append_reduce(program, from, into);
    }
}

/** Packed bytes, as mca_coll_epcoll_copy_part. */
static inline void mca_coll_epcoll_program_copy(mca_coll_epcoll_program_t *program,
                                                const mca_coll_epcoll_buffer_t *into,
                                                const mca_coll_epcoll_buffer_t *from, size_t offset,
                                                size_t size)
{
    if (program->is_now) {
        mca_coll_epcoll_now_copy(program, into, from, offset, size);
    } else {
        mca_coll_epcoll_append_copy(program, into, from, offset, size);
    }
}

/**
 * Room for elements of a type, until the program is over, or the same room is asked for again with
 * more: so ask for it in begin, or first thing in a round.
 *
 * @param which  0 to EPCOLL_PROGRAM_ROOMS - 1
 *
 * @return as an address of MPI's: of element 0; NULL: no memory, and the program fails
 */
void *mca_coll_epcoll_program_room(mca_coll_epcoll_program_t *program, uint32_t which,
                                   const ompi_datatype_t *type, size_t count);

/* ---- for those that run them ----------------------------------------------------------------- */

/** Who makes programs of a kind?  NULL: nobody.  By kind. */
extern const mca_coll_epcoll_builder_t *const mca_coll_epcoll_builders[EPCOLL_KINDS];

/** Is there a program for a call?  The same answer at all members. */
bool mca_coll_epcoll_program_serves(const mca_coll_epcoll_handle_t *handle,
                                    const mca_coll_epcoll_call_t *call);

/**
 * Begin one.
 *
 * @param program  all 0, or one that is over: what it has of memory is used again
 * @param tag      of its messages, the same at all members
 *
 * @return MPI_SUCCESS or an error; then nothing has begun
 */
int mca_coll_epcoll_program_begin(mca_coll_epcoll_program_t *program,
                                  mca_coll_epcoll_handle_t *handle,
                                  const mca_coll_epcoll_call_t *call,
                                  mca_coll_epcoll_channel_t *channel, int tag);

/** Give its LOCAL steps their numbers, of a channel: in the order of calls, before the first
 * step. */
void mca_coll_epcoll_program_enter(mca_coll_epcoll_program_t *program);

/**
 * Go on.
 *
 * @param most  shares to do at most, of LOCAL steps
 *
 * @return EPCOLL_NOTHING: it is up to others; EPCOLL_SOME: go on; MPI_SUCCESS or an error: it is
 * over
 */
int mca_coll_epcoll_program_step(mca_coll_epcoll_program_t *program, uint32_t most);

/** It is over, and another one may begin some time: gives back what is large. */
void mca_coll_epcoll_program_trim(mca_coll_epcoll_program_t *program);

/** Gives back its memory, but for the program itself. */
void mca_coll_epcoll_program_end(mca_coll_epcoll_program_t *program);

/* ---- builders -------------------------------------------------------------------------------- */

extern const mca_coll_epcoll_builder_t mca_coll_epcoll_build_allgather,
    mca_coll_epcoll_build_allreduce, mca_coll_epcoll_build_barrier, mca_coll_epcoll_build_bcast,
    mca_coll_epcoll_build_reduce;

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_PROGRAM_H */
