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
 * The door: what components of ours (collectives, windows, files, tools) may ask of pml/epml, and
 * all that they need know of it.  docs/door.md has an example, and what it costs.
 *
 *     const mpix_endpoints_door_t *door = mpix_endpoints_door(MPIX_ENDPOINTS_DOOR_ABI);
 *
 * Words: a *handle* is an MPI_Comm of endpoints, one per endpoint and communicator; a *guest* is a
 * component that uses the door.  Of an intercommunicator, place and members are about the own
 * group, all else that has a rank about the other one, as MPI's calls are.
 *
 * What holds for all functions unless they say otherwise:
 *
 *  - comm is a handle that is not being freed, of endpoints (not MPI_COMM_WORLD: place says so).
 *  - Any thread may call them for any handle.  Who waits should be the one thread that uses the
 *    handle: it is the endpoint's thread meanwhile.
 *  - Nothing of it is called from what the guest is called by under a lock (arrived), nor waits in
 *    what others wait for (make, step).
 *  - Errors are MPI error codes.  Outputs are set on success only.
 *
 * Implemented by ompi/mca/pml/epml/door.
 *
 * Tests: door (with test/door/epdoor.c, a guest)
 */

#ifndef OMPI_COMMON_EP_ENGINE_H
#define OMPI_COMMON_EP_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ompi_communicator_t; /* what an MPI_Comm points to */
struct ompi_datatype_t;     /* likewise an MPI_Datatype */
struct ompi_request_t;      /* likewise an MPI_Request */

/** Raised whenever this file changes in a way that a guest would notice. */
#define MPIX_ENDPOINTS_DOOR_ABI 6

/* ---- guests ---------------------------------------------------------------------------------- */

/** The longest message of post, in bytes. */
#define MPIX_ENDPOINTS_POST_MOST 256

/** Tags of isend and irecv are 0 to this. */
#define MPIX_ENDPOINTS_TAG_MOST 0xffffff

/** What a guest hangs on handles; constant, and there until MPI_Finalize.  Each may be NULL. */
typedef struct mpix_endpoints_guest_t {
    const char *name; /**< for people */

    /**
     * A handle is being made: make what belongs to it.  Local: it must not wait for other members,
     * nor send; what MPI says of the handle itself (rank, size, group) may be asked.  What fails
     * here fails at all members of the communicator, as if an allocation of ours had.  Called by
     * the thread that makes the handle, before anybody has it; several handles of a process may be
     * made at once.
     *
     * @param[out] object_p  what object and arrived will give, and free; may be left NULL
     * @return MPI_SUCCESS or an error code
     */
    int (*make)(struct ompi_communicator_t *comm, void **object_p);

    /** The handle goes, or its making has failed, here or elsewhere; nobody uses it any more.  comm
     * still has its groups, but no message leaves. */
    void (*free)(struct ompi_communicator_t *comm, void *object);

    /**
     * A message of post has come.  Under the lock of the endpoint, in whatever thread turns it: to
     * be short, and to call nothing of MPI's or of the door's; work_begin must wait for a step.
     * Messages of one sender come in order.  Of another process nothing in data is to be believed.
     *
     * @param[in] object  of the handle that it is for; not NULL (else it is dropped)
     * @param[in] rank    of the sender
     * @param[in] size    bytes at data, MPIX_ENDPOINTS_POST_MOST at most
     * @return false: nobody sound can have sent it.  It is counted as dropped, and said; and a
     *         process of this node that it came from is lost, as with any other nonsense
     */
    bool (*arrived)(void *object, int rank, const void *data, size_t size);

    /**
     * What does the handle's thread wait for in a function of the guest's?  For a dump of queues:
     * under the lock of the endpoint, in any thread, while the handle's own may be at work.  It
     * allocates nothing, takes no lock and calls nothing of MPI's, and of the door's only place
     * and object.
     *
     * @param[in]  object  of the handle, not NULL
     * @param[out] text    of size bytes: one line, or empty
     */
    void (*describe)(void *object, char *text, size_t size);
} mpix_endpoints_guest_t;

/* ---- who is where ---------------------------------------------------------------------------- */

/** Groups of members around a handle's own. */
typedef enum mpix_endpoints_reach_t {
    MPIX_ENDPOINTS_PROCESS, /**< in its process: they can follow each other's pointers */
    MPIX_ENDPOINTS_NODE     /**< on its node, those in its process included */
} mpix_endpoints_reach_t;

#define MPIX_ENDPOINTS_NODE_UNKNOWN UINT32_MAX

/** Where a member lives. */
typedef struct mpix_endpoints_place_t {
    bool in_process;  /**< of the handle asked */
    bool on_node;     /**< likewise */
    uint32_t process; /**< the rank in the job of its process: the same at all members */
    uint32_t node;    /**< the launcher's number of its node, the same at all members; or
                       * MPIX_ENDPOINTS_NODE_UNKNOWN, where the launcher tells of none */
} mpix_endpoints_place_t;

/** The members within reach, the handle's own among them. */
typedef struct mpix_endpoints_members_t {
    int count;
    int index;     /**< of own rank among them, in the order of ranks */
    int first;     /**< rank of the first */
    int processes; /**< in which they live */
} mpix_endpoints_members_t;

/** For from: whoever it is. */
#define MPIX_ENDPOINTS_ANYBODY (-1)

/* ---- waiting --------------------------------------------------------------------------------- */

/** A wait of one thread in pieces; all 0 at first, then pml/epml's own. */
typedef struct mpix_endpoints_wait_t {
    uint32_t words[4];
} mpix_endpoints_wait_t;

/* ---- work ------------------------------------------------------------------------------------ */

/** What a step has brought. */
typedef enum mpix_endpoints_step_t {
    MPIX_ENDPOINTS_STEP_NOTHING, /**< nothing to do yet */
    MPIX_ENDPOINTS_STEP_SOME,    /**< it went on */
    MPIX_ENDPOINTS_STEP_DONE     /**< it is over; the memory is the guest's again */
} mpix_endpoints_step_t;

/** Something that goes on while its endpoint is turned.  To be put into something larger. */
typedef struct mpix_endpoints_work_t {
    /**
     * Go on a little: as long as a chunk of 64 KiB takes at most, for it may be another endpoint's
     * thread that helps.  Never waits.  Called by one thread at a time, not always the same, with
     * no lock held: it may begin and test messages (isend, irecv, MPI_Test), end a request, begin
     * other work; but what it begins or tests does not lead into another step.
     */
    mpix_endpoints_step_t (*step)(struct mpix_endpoints_work_t *work);

    /* pml/epml's own, from work_begin on */
    struct mpix_endpoints_work_t *next;
    struct ompi_communicator_t *comm;
} mpix_endpoints_work_t;

/* ---- requests -------------------------------------------------------------------------------- */

/** What start returns of a request that is over; no error code of MPI's. */
#define MPIX_ENDPOINTS_OVER (-1)

/** What becomes of a guest's request. */
typedef struct mpix_endpoints_request_ops_t {
    /** MPI_Start, of a persistent one.  @return MPI_SUCCESS; MPIX_ENDPOINTS_OVER: and it is over
     * already, without error, so nobody ends it any more; or an error code: not started */
    int (*start)(void *context);

    /** The request is over, and so is what it stands for; by the thread that frees it, or that ends
     * one which has been freed.  May be NULL. */
    void (*free)(void *context);
} mpix_endpoints_request_ops_t;

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct mpix_endpoints_memory_t {
    void *base;  /**< at another address in each process; aligned to a page, or to a cache line of
                  * 64 bytes if it is smaller than a page */
    size_t size; /**< as asked for */
} mpix_endpoints_memory_t;

/* ---- the door -------------------------------------------------------------------------------- */

typedef struct mpix_endpoints_door_t {
    uint32_t abi; /**< MPIX_ENDPOINTS_DOOR_ABI */

    /**
     * Become a guest.  Once, after MPI_Init, and before the first endpoints are made: handles that
     * are there already get nothing.  A guest that is one already gets the number that it has.
     *
     * @param[in]  guest     constant, and there until MPI_Finalize
     * @param[out] number_p  its number.  All processes of a job must have the same guests, in one
     *                       order: messages tell their guest by it
     * @return MPI_SUCCESS; MPI_ERR_NO_MEM: there are eight
     */
    int (*enrol)(const mpix_endpoints_guest_t *guest, int *number_p);

    /** What the guest's make has hung on a handle, or NULL. */
    void *(*object)(const struct ompi_communicator_t *comm, int number);

    /**
     * Where does a member live?  Without a message: from what was said when it was made.
     *
     * @param[in] comm  any communicator that is valid
     * @return false: no handle of endpoints, or no rank of it
     */
    bool (*place)(const struct ompi_communicator_t *comm, int rank, mpix_endpoints_place_t *place);

    /** Who is within reach?  Looks at all members: ask once, in make.
     * @return MPI_SUCCESS, MPI_ERR_NO_MEM */
    int (*members)(const struct ompi_communicator_t *comm, mpix_endpoints_reach_t reach,
                   mpix_endpoints_members_t *members);

    /** Has the handle lost a member, as far as is known?  Who asks is taken to wait for it, so that
     * the engine finds out whether it is there.
     * @param[in] rank  or MPIX_ENDPOINTS_ANYBODY: any, also if another member has said so (then
     *                  collectives fail) */
    bool (*is_lost)(const struct ompi_communicator_t *comm, int rank);

    /** A guest has heard that a member is lost, by memory that it shares with another endpoint:
     * have the handle's look at once whether the processes of its node live, so that what is sent
     * next to one that does not has an error.  (Who is beyond a network may be lost to that other
     * one alone.) */
    void (*look_after)(const struct ompi_communicator_t *comm);

    /** A member takes part in the communicator's collectives no more: all that libmpi's components
     * and guests have under way on it, and begin later, ends with MPI_ERR_PROC_FAILED, here and,
     * as soon as they have heard of it, at all members.  Messages of users are not touched. */
    void (*leave)(const struct ompi_communicator_t *comm);

    /** Is there device memory (GPUs)?  Constant.  @return the accelerator component's name, or
     * NULL: there is none, and is_device must not be called */
    const char *(*accelerator)(void);

    /** Would a call use device memory, which the CPU cannot access?  Looks at the first and the
     * last byte; at nothing of 0 bytes, and where comm asserts that it uses none.
     * @param[in] comm  of endpoints, an intercommunicator or not */
    bool (*is_device)(const struct ompi_communicator_t *comm, const void *buffer, size_t count,
                      const struct ompi_datatype_t *datatype);

    /** A call has been refused for that: the user is told, once for the process.
     * @param[in] what  the call's name
     * @return MPI_ERR_BUFFER */
    int (*refuse_device)(const struct ompi_communicator_t *comm, const char *what);

    /** Turn the handle's endpoint once, its work included.  @return number of events */
    int (*turn)(const struct ompi_communicator_t *comm);

    /**
     * Wait as MPI_Recv does: turn the endpoint, help others, yield in a crowd, notice losses.
     *
     * @param[in] from   whom it is that the thread waits for: who is asked whether he is there
     * @param[in] until  looked at after each turn; an acquire, if data come with it
     * @return MPI_SUCCESS: it is true; MPI_ERR_PROC_FAILED: it is not, and from is lost
     */
    int (*wait)(const struct ompi_communicator_t *comm, int from, bool (*until)(void *context),
                void *context);

    /** Likewise until a word in memory, which only grows, is least or more; an acquire. */
    int (*wait_word)(const struct ompi_communicator_t *comm, int from, const _Atomic uint64_t *word,
                     uint64_t least);

    /**
     * The same in pieces, for a guest that looks for itself: what wait does after a look in vain.
     * Once for each such look; it may last for a while (a yield, another endpoint's work).
     *
     * @return MPI_SUCCESS; MPI_ERR_PROC_FAILED: from is lost.  Then the guest looks once more
     *         before it believes that nothing comes
     */
    int (*wait_turn)(const struct ompi_communicator_t *comm, int from, mpix_endpoints_wait_t *wait);

    /** After the last wait_turn, in the same thread; nothing to do, and not to be called, where
     * words[0] is 0.  Then the wait may be used for another one if it is all 0 again. */
    void (*wait_end)(mpix_endpoints_wait_t *wait);

    /** Are there more threads that may be waiting than cores, as far as is known now?  Then who
     * waits in a loop of his own calls wait_turn soon: who is waited for may need the core. */
    bool (*is_crowded)(void);

    /** Have work go on while the handle's endpoint is turned, by anybody, from now on.  The handle
     * is held until it is done.  Never fails. */
    void (*work_begin)(struct ompi_communicator_t *comm, mpix_endpoints_work_t *work);

    /**
     * A request that MPI_Wait and its like turn the handle's endpoint for.  To the user it is that
     * of a collective: errors go to the communicator's handler.  It holds the handle.  To libmpi it
     * is an ompi_coll_base_nbc_request_t: a component's nonblocking functions may return it, and
     * libmpi keeps the datatype and the operation for it.  Of a persistent one the guest has to.
     *
     * @param[in]  persistent  it is inactive, and MPI_Start calls ops->start; else it is active
     * @param[out] request_p   becomes the user's
     * @return MPI_SUCCESS, MPI_ERR_NO_MEM
     */
    int (*request_new)(struct ompi_communicator_t *comm, const mpix_endpoints_request_ops_t *ops,
                       void *context, bool persistent, struct ompi_request_t **request_p);

    /** Work for an active request: as work_begin for its handle, which the request holds already.
     * It is not to be ended before the work's last step, but may be in that. */
    void (*request_begin)(struct ompi_request_t *request, mpix_endpoints_work_t *work);

    /**
     * Before a request is given to libmpi, of an operation with a datatype for each member
     * (MPI_Ialltoallw): the guest's copies of both arrays, there until ops->free.  libmpi looks at
     * the arrays once more when the request goes, and the user's may be gone by then.
     *
     * @param[in] send, receive  NULL: nothing that libmpi knows of (MPI_IN_PLACE)
     */
    void (*request_types)(struct ompi_request_t *request, struct ompi_datatype_t *const *send,
                          struct ompi_datatype_t *const *receive);

    /** What an active request stands for is over: the guest touches no buffer, datatype or
     * operation of it any more.  The request may be gone when this returns.
     * @param[in] error  MPI_SUCCESS or an error code */
    void (*request_done)(struct ompi_request_t *request, int error);

    /**
     * Memory that the members of a communicator within reach share, by its context and the guest's
     * key: who asks first makes it, cleared.  All ask with the same size.  It goes with the last
     * one that puts it back, also where processes have died.  (A file of a node's memory that is
     * not whole yet when all are killed stays until the user's next job there.)
     *
     * To be called in make, or where all members do.  Of a process it is there at once.  Of a node
     * there is memory_is_whole to ask.  Who has put a node's memory back must not ask for the same
     * again while others have it: it would get another that is never whole.
     *
     * @return MPI_SUCCESS; MPI_ERR_NO_MEM; MPI_ERR_ARG: another size, or 0;
     *         MPI_ERR_UNSUPPORTED_OPERATION: the members of this node cannot share memory, or
     *         comm is an intercommunicator
     */
    int (*memory_get)(const struct ompi_communicator_t *comm, mpix_endpoints_reach_t reach,
                      int number, uint32_t key, size_t size, mpix_endpoints_memory_t **memory_p);

    /** Do all members within reach have it?  From the moment on that the communicator is made (its
     * make has ended everywhere) the answer is the same for all of them, and does not change. */
    bool (*memory_is_whole)(const mpix_endpoints_memory_t *memory);

    /** Put it back, once for each time that it was got. */
    void (*memory_put)(mpix_endpoints_memory_t *memory);

    /**
     * Messages of the guest's own, as MPI_Isend and MPI_Irecv have them, which no receive of the
     * user's or of another guest's matches.  Losses end them as they end collectives: with any
     * member.  Who has failed otherwise cancels them (req_cancel) until they are complete: a
     * receive that nothing has come for ends, and a send that nobody has received, with
     * MPI_ERR_PROC_FAILED, when the receiver's endpoint has said that nobody does.
     *
     * @param[in] tag  0 to MPIX_ENDPOINTS_TAG_MOST, no wildcard
     */
    int (*isend)(struct ompi_communicator_t *comm, int number, const void *buffer, size_t count,
                 struct ompi_datatype_t *datatype, int rank, int tag,
                 struct ompi_request_t **request_p);
    int (*irecv)(struct ompi_communicator_t *comm, int number, void *buffer, size_t count,
                 struct ompi_datatype_t *datatype, int rank, int tag,
                 struct ompi_request_t **request_p);

    /**
     * A short message that no receive waits for: the guest's arrived takes it.  In order among
     * those to that rank.  Copied, sent now or soon; turns nothing.
     *
     * @param[in] size  MPIX_ENDPOINTS_POST_MOST at most
     * @return MPI_SUCCESS; MPI_ERR_NO_MEM: not sent, to be tried again; MPI_ERR_PROC_FAILED;
     *         MPI_ERR_ARG: too long
     */
    int (*post)(struct ompi_communicator_t *comm, int number, int rank, const void *data,
                size_t size);
} mpix_endpoints_door_t;

/**
 * The door, from MPI_Init to MPI_Finalize.  Any thread.
 *
 * @param[in] abi  MPIX_ENDPOINTS_DOOR_ABI
 * @return NULL: pml/epml is not selected, MPI is not initialized, or the door is another one
 */
__attribute__((visibility("default"))) const mpix_endpoints_door_t *mpix_endpoints_door(
    uint32_t abi);

#endif /* OMPI_COMMON_EP_ENGINE_H */
