/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Schedules: one member's part of a call that spans processes, as a list of steps that never wait.
 * A blocking call executes them at once; a nonblocking or persistent one incrementally (layer
 * pending), in whichever thread progresses the endpoint.
 *
 * A *builder* makes a schedule from handle and call: first the number of rounds, then the steps of
 * each round, when the one before is over.  Its rules:
 *
 * - It reads mca_coll_epcoll_layout(handle), rank, size, member.index and member.count, and the
 *   call; it stores only in schedule->state and in scratch buffers.
 * - Everything else is done by the operations below, in the order of execution: local, send,
 *   receive, wait, reduce and copy.  They have two backends.  A blocking call executes them at once
 *   (coll_epcoll_immediate.h); a nonblocking or persistent one appends them as steps, and executes
 *   them later (coll_epcoll_step.h).  So there is one text of each algorithm.
 * - No operation returns an error: it is stored in the schedule, whose later operations do nothing.
 *   Vectors and buffers are copied into the step, their data are not.  A builder must not read data
 *   that an operation receives.
 * - LOCAL: a call among the members of this process, in their segment, roots by index. *All*
 *   members of the process have the same ones, in the same order, as many as locals says.  The
 *   other operations may be executed by one member alone.  A process of one member needs none.
 * - SEND and RECEIVE begin a message; of two messages between the same two members the first one
 *   sent is the first one received.  WAIT is over when all messages that were begun are.  At the
 *   end of a round there is a WAIT in any case.
 * - User's buffers are those of the call; temporary elements are in scratch buffers of the
 *   schedule.
 * - What may differ between members without an error (counts of v forms) must not determine the
 *   number of LOCAL steps, nor the path of a message: the receiver has to know that it comes.
 */

#ifndef MCA_COLL_EPCOLL_SCHEDULE_H
#define MCA_COLL_EPCOLL_SCHEDULE_H

#include "ompi_config.h"

#include "../data/data.h"
#include "../local/local.h"
#include "coll_epcoll_exchange.h"

BEGIN_C_DECLS

typedef struct mca_coll_epcoll_schedule_t mca_coll_epcoll_schedule_t;
typedef struct mca_coll_epcoll_step_t mca_coll_epcoll_step_t;
typedef struct mca_coll_epcoll_part_t mca_coll_epcoll_part_t;

/** Bytes of a builder's own. */
#define EPCOLL_SCHEDULE_STATE 256

/** Makes schedules of a kind. */
typedef struct mca_coll_epcoll_builder_t {
    /** Is a call served?  The same answer at all members.  NULL: each */
    bool (*serves)(const mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call);
    /** A call begins: sets locals, and, unless it is 1, rounds; and state.  All are 0 before, but
     * for state, which is what the schedule before has left.  @return MPI_SUCCESS or an error
     * code */
    int (*begin)(mca_coll_epcoll_schedule_t *schedule);
    /** The operations of schedule->round. */
    void (*round)(mca_coll_epcoll_schedule_t *schedule);
} mca_coll_epcoll_builder_t;

/** A schedule; of a handle's thread, or under pending's gate. */
struct mca_coll_epcoll_schedule_t {
    /* for builders: read */
    mca_coll_epcoll_handle_t *handle;
    const mca_coll_epcoll_call_t *call; /**< the user's */
    uint64_t round;                     /**< that is appended */

    /* for builders: theirs */
    uint64_t rounds; /**< 1 unless begin sets it */
    uint64_t locals; /**< LOCAL steps of all rounds: the same at all members of the process */
    alignas(16) unsigned char state[EPCOLL_SCHEDULE_STATE];

    /* of blocking calls */
    bool is_immediate;         /**< operations are done at once: coll_epcoll_immediate.h */
    uint32_t request_capacity; /**< how many fit; open says how many have begun */
    ompi_request_t **request;  /**< see coll_epcoll_immediate.h */

    /* the schedule's own */
    const mca_coll_epcoll_builder_t *builder;
    mca_coll_epcoll_sequence_t
        *sequence; /**< where its LOCAL steps have numbers; NULL: it has not entered */
    epcoll_member_t own, *member; /**< its view of the segment; its own, of a sequence */
    int tag;                      /**< of its messages */
    int error;                    /**< why it fails: it only ends what it has begun */
    mca_coll_epcoll_step_t *step;
    mca_coll_epcoll_part_t *part;  /**< of LOCAL steps */
    uint32_t steps, step_capacity; /**< appended; and how many fit */
    uint32_t parts, part_capacity;
    uint32_t at;       /**< the step that we are in */
    uint32_t open;     /**< messages of earlier ones are over */
    bool is_published; /**< the LOCAL one that we are in: others see it */
    uint32_t waits;    /**< steps that have brought nothing */
    bool is_enough;    /**< done in a step */
    size_t done;       /**< of the one that we are in: elements, or bytes */
    mca_coll_epcoll_running_t running;
    mca_coll_epcoll_scratch_t scratch[EPCOLL_SCHEDULE_SCRATCHES];
};

/* ---- the two backends of operations: coll_epcoll_immediate.c, coll_epcoll_schedule.c
 * ------------------ */

void mca_coll_epcoll_immediate_local(mca_coll_epcoll_schedule_t *schedule,
                                     const mca_coll_epcoll_call_t *call,
                                     const mca_coll_epcoll_plan_t *plan);
void mca_coll_epcoll_immediate_send(mca_coll_epcoll_schedule_t *schedule,
                                    const mca_coll_epcoll_vector_t *vector, int rank);
void mca_coll_epcoll_immediate_receive(mca_coll_epcoll_schedule_t *schedule,
                                       const mca_coll_epcoll_vector_t *vector, int rank);
void mca_coll_epcoll_immediate_wait(mca_coll_epcoll_schedule_t *schedule);
void mca_coll_epcoll_immediate_reduce(mca_coll_epcoll_schedule_t *schedule,
                                      const mca_coll_epcoll_vector_t *from,
                                      const mca_coll_epcoll_vector_t *into);
void mca_coll_epcoll_immediate_copy(mca_coll_epcoll_schedule_t *schedule,
                                    const mca_coll_epcoll_buffer_t *into,
                                    const mca_coll_epcoll_buffer_t *from, size_t offset,
                                    size_t size);
void mca_coll_epcoll_append_local(mca_coll_epcoll_schedule_t *schedule,
                                  const mca_coll_epcoll_call_t *call,
                                  const mca_coll_epcoll_plan_t *plan);
void mca_coll_epcoll_append_send(mca_coll_epcoll_schedule_t *schedule,
                                 const mca_coll_epcoll_vector_t *vector, int rank);
void mca_coll_epcoll_append_receive(mca_coll_epcoll_schedule_t *schedule,
                                    const mca_coll_epcoll_vector_t *vector, int rank);
void mca_coll_epcoll_append_wait(mca_coll_epcoll_schedule_t *schedule);
void mca_coll_epcoll_append_reduce(mca_coll_epcoll_schedule_t *schedule,
                                   const mca_coll_epcoll_vector_t *from,
                                   const mca_coll_epcoll_vector_t *into);
void mca_coll_epcoll_append_copy(mca_coll_epcoll_schedule_t *schedule,
                                 const mca_coll_epcoll_buffer_t *into,
                                 const mca_coll_epcoll_buffer_t *from, size_t offset, size_t size);

/** Scratch buffers of blocking calls.  @return NULL: no memory */
mca_coll_epcoll_scratch_t *mca_coll_epcoll_immediate_scratches(
    const mca_coll_epcoll_schedule_t *schedule);

/* ---- for builders ---------------------------------------------------------------------------- */

/** @param call  copied; root, if it has one: an index of this process
 * @param plan  copied: what members do instead of the kind's default; NULL: nothing else */
static inline void mca_coll_epcoll_schedule_local(mca_coll_epcoll_schedule_t *schedule,
                                                  const mca_coll_epcoll_call_t *call,
                                                  const mca_coll_epcoll_plan_t *plan)
{
    if (schedule->is_immediate) {
        mca_coll_epcoll_immediate_local(schedule, call, plan);
    } else {
        mca_coll_epcoll_append_local(schedule, call, plan);
    }
}

/** @param rank  of the communicator */
static inline void mca_coll_epcoll_schedule_send(mca_coll_epcoll_schedule_t *schedule,
                                                 const mca_coll_epcoll_vector_t *vector, int rank)
{
    if (schedule->is_immediate) {
        mca_coll_epcoll_immediate_send(schedule, vector, rank);
    } else {
        mca_coll_epcoll_append_send(schedule, vector, rank);
    }
}

static inline void mca_coll_epcoll_schedule_receive(mca_coll_epcoll_schedule_t *schedule,
                                                    const mca_coll_epcoll_vector_t *vector,
                                                    int rank)
{
    if (schedule->is_immediate) {
        mca_coll_epcoll_immediate_receive(schedule, vector, rank);
    } else {
        mca_coll_epcoll_append_receive(schedule, vector, rank);
    }
}

/** Until all messages that were begun are over. */
static inline void mca_coll_epcoll_schedule_wait(mca_coll_epcoll_schedule_t *schedule)
{
    if (schedule->is_immediate) {
        mca_coll_epcoll_immediate_wait(schedule);
    } else {
        mca_coll_epcoll_append_wait(schedule);
    }
}

/** into = from op into, with the call's op; of into->count elements.  They do not overlap. */
static inline void mca_coll_epcoll_schedule_reduce(mca_coll_epcoll_schedule_t *schedule,
                                                   const mca_coll_epcoll_vector_t *from,
                                                   const mca_coll_epcoll_vector_t *into)
{
    if (schedule->is_immediate) {
        mca_coll_epcoll_immediate_reduce(schedule, from, into);
    } else {
        mca_coll_epcoll_append_reduce(schedule, from, into);
    }
}

/** Packed bytes, as mca_coll_epcoll_copy_part. */
static inline void mca_coll_epcoll_schedule_copy(mca_coll_epcoll_schedule_t *schedule,
                                                 const mca_coll_epcoll_buffer_t *into,
                                                 const mca_coll_epcoll_buffer_t *from,
                                                 size_t offset, size_t size)
{
    if (schedule->is_immediate) {
        mca_coll_epcoll_immediate_copy(schedule, into, from, offset, size);
    } else {
        mca_coll_epcoll_append_copy(schedule, into, from, offset, size);
    }
}

/**
 * Room for elements of a type, until the schedule is over, or the same scratch buffer is asked for
 * again with more: so ask for it in begin, or first thing in a round.
 *
 * @param which  0 to EPCOLL_SCHEDULE_SCRATCHES - 1
 *
 * @return as an address of MPI's: of element 0; NULL: no memory, and the schedule fails
 */
void *mca_coll_epcoll_schedule_scratch(mca_coll_epcoll_schedule_t *schedule, uint32_t which,
                                       const ompi_datatype_t *type, size_t count);

/* ---- for those that run them ----------------------------------------------------------------- */

/** The builder of each kind's schedules.  NULL: there is none. */
extern const mca_coll_epcoll_builder_t *const mca_coll_epcoll_builders[EPCOLL_KINDS];

/** Is there a schedule for a call?  The same answer at all members. */
bool mca_coll_epcoll_schedule_serves(const mca_coll_epcoll_handle_t *handle,
                                     const mca_coll_epcoll_call_t *call);

/**
 * Begin one.
 *
 * @param schedule  all 0, or one that is over: what it has of memory is used again
 * @param tag      of its messages, the same at all members
 *
 * @return MPI_SUCCESS or an error; then nothing has begun
 */
int mca_coll_epcoll_schedule_begin(mca_coll_epcoll_schedule_t *schedule,
                                   mca_coll_epcoll_handle_t *handle,
                                   const mca_coll_epcoll_call_t *call,
                                   mca_coll_epcoll_sequence_t *sequence, int tag);

/** Give its LOCAL steps their numbers, of a sequence: in the order of calls, before the first
 * step. */
void mca_coll_epcoll_schedule_reserve(mca_coll_epcoll_schedule_t *schedule);

/**
 * Go on.
 *
 * @param most  chunks to do at most, of LOCAL steps
 *
 * @return EPCOLL_NOTHING: it is up to others; EPCOLL_SOME: go on; MPI_SUCCESS or an error: it is
 * over
 */
int mca_coll_epcoll_schedule_step(mca_coll_epcoll_schedule_t *schedule, uint32_t most);

/** It is over, and another one may begin some time: gives back what is large. */
void mca_coll_epcoll_schedule_trim(mca_coll_epcoll_schedule_t *schedule);

/** Gives back its memory, but for the schedule itself. */
void mca_coll_epcoll_schedule_end(mca_coll_epcoll_schedule_t *schedule);

/* ---- builders -------------------------------------------------------------------------------- */

extern const mca_coll_epcoll_builder_t mca_coll_epcoll_build_allgather,
    mca_coll_epcoll_build_allreduce, mca_coll_epcoll_build_barrier, mca_coll_epcoll_build_bcast,
    mca_coll_epcoll_build_reduce;

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_SCHEDULE_H */
