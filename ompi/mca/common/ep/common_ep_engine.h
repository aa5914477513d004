/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The engine's interface: the functions that pml/epml offers to components on top of it
 * (collectives, windows, files, tools).  Such a component includes this header and nothing else of
 * pml/epml.  docs/engine.md has an example and the costs.
 *
 *     const mpix_endpoints_engine_t *engine = mpix_endpoints_engine(MPIX_ENDPOINTS_ENGINE_ABI);
 *
 * Terms: a *handle* is an MPI_Comm of endpoints; there is one for each endpoint and communicator.
 * A *client* is a component that uses this interface.  For an intercommunicator, locality and
 * members refer to the local group; all other functions that take a rank refer to the remote group,
 * as MPI's own calls do.
 *
 * Rules for all functions, unless a function says otherwise:
 *
 *  - comm is a handle of endpoints that is not being freed.  It is not MPI_COMM_WORLD; only locality
 *    takes any communicator.
 *  - Any thread may call them for any handle.  Only the thread that uses a handle should wait on it:
 *    it acts as the endpoint's thread during the wait.
 *  - A client's callback that runs under a lock (am_handler) calls none of them, except work_begin,
 *    am_answer and am_max for the handle of the message.  A callback that other threads depend on (make, step) does not
 *    wait.
 *  - Errors are MPI error codes.  Outputs are set on success only.
 *
 * Implemented by ompi/mca/pml/epml/service.
 *
 * Tests: client (with test/client/epclient.c, a client)
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
struct ompi_win_t;          /* likewise an MPI_Win */

/** Incremented whenever this file changes in a way that a client notices. */
#define MPIX_ENDPOINTS_ENGINE_ABI 13

/* ---- clients --------------------------------------------------------------------------------- */

/** Largest active message that can be sent to any rank, in bytes: the least that am_max returns. */
#define MPIX_ENDPOINTS_AM_MAX 256

/** The most that am_max returns, and that arrives, in bytes. */
#define MPIX_ENDPOINTS_AM_LIMIT 8192

/** Tags of isend and irecv are 0 to this. */
#define MPIX_ENDPOINTS_TAG_MAX 0xffffff

/** A client's callbacks.  Constant, and valid until MPI_Finalize.  Each may be NULL. */
typedef struct mpix_endpoints_client_t {
    const char *name; /**< for messages to the user */

    /**
     * A handle is being made: make the client's object for it.  Local: it neither waits for other
     * members nor sends.  It may ask for local properties of the handle (rank, size, group).  An
     * error fails the creation at all members of the communicator, as a failed allocation of the
     * engine's own does.  Called by the thread that makes the handle, before any other thread has
     * it.  Several handles of a process may be made at the same time.
     *
     * @param[out] object_p  passed to the other callbacks and returned by client_object; may stay
     *                       NULL
     * @return MPI_SUCCESS or an error code
     */
    int (*make)(struct ompi_communicator_t *comm, void **object_p);

    /** The handle is freed, or its creation has failed here or elsewhere.  No thread uses it any
     * more.  comm still has its groups, but sends no message. */
    void (*free)(struct ompi_communicator_t *comm, void *object);

    /**
     * An active message has arrived.  Called under the endpoint's lock, in any thread that
     * progresses the endpoint.  It must be short, and must call neither MPI nor this interface,
     * except work_begin, am_answer and am_max for the handle that is addressed: anything longer is
     * left to a step.  Messages of one sender arrive in order.  The data of another process must be checked
     * before use.  Messages for a handle without object, or for one that is being freed, are
     * dropped.
     *
     * @param[in] object  of the handle that is addressed; never NULL.  The handle is not freed before
     *                    the callback has returned
     * @param[in] rank    of the sender
     * @param[in] data    aligned to 8 bytes; valid during the call; not written to
     * @param[in] size    bytes at data, MPIX_ENDPOINTS_AM_LIMIT at most
     * @return false: no correct sender can have sent it.  The message is counted as dropped and
     *         reported; a sending process of this node is treated as lost, as for any other corrupt
     *         message
     */
    bool (*am_handler)(void *object, int rank, const void *data, size_t size);

    /**
     * Describe what the handle's thread waits for in a function of the client, for a dump of queues.
     * Called under the endpoint's lock, in any thread, while the handle's own thread may be running.
     * It allocates nothing, takes no lock, and calls nothing of MPI; of this interface only locality
     * and client_object.
     *
     * @param[in]  object  of the handle, not NULL
     * @param[out] text    of size bytes: one line, or empty
     */
    void (*describe)(void *object, char *text, size_t size);
} mpix_endpoints_client_t;

/* ---- locality -------------------------------------------------------------------------------- */

/** The members that a question is about. */
typedef enum mpix_endpoints_scope_t {
    MPIX_ENDPOINTS_SCOPE_PROCESS, /**< in the handle's process: they share an address space */
    MPIX_ENDPOINTS_SCOPE_NODE     /**< on the handle's node, including its process */
} mpix_endpoints_scope_t;

#define MPIX_ENDPOINTS_NODE_UNKNOWN 0

/** Location of a member. */
typedef struct mpix_endpoints_locality_t {
    bool in_process;  /**< in the process of the handle asked */
    bool on_node;     /**< on its node */
    uint32_t process; /**< a number of its process, of whichever job: another one elsewhere */
    uint32_t node; /**< a number of its node, the same at all members: a hash of the name that its
                       * launcher gives the host, so seldom two nodes have one; or
                       * MPIX_ENDPOINTS_NODE_UNKNOWN */
} mpix_endpoints_locality_t;

/** The members within a scope, the handle's own among them. */
typedef struct mpix_endpoints_members_t {
    int count;
    int index;     /**< of the own rank among them, in the order of ranks */
    int first;     /**< rank of the first */
    int processes; /**< number of processes that they are in */
} mpix_endpoints_members_t;

/** As a rank: any member. */
#define MPIX_ENDPOINTS_ANY_RANK (-1)

/* ---- waiting --------------------------------------------------------------------------------- */

/** State of one thread's wait; all 0 at first, then private to pml/epml. */
typedef struct mpix_endpoints_wait_t {
    uint32_t words[4];
} mpix_endpoints_wait_t;

/* ---- work ------------------------------------------------------------------------------------ */

/** Result of a step. */
typedef enum mpix_endpoints_step_t {
    MPIX_ENDPOINTS_STEP_IDLE,     /**< nothing could be done */
    MPIX_ENDPOINTS_STEP_PROGRESS, /**< something was done, more remains */
    MPIX_ENDPOINTS_STEP_DONE      /**< complete; the memory is the client's again */
} mpix_endpoints_step_t;

/** An operation that advances while its endpoint is progressed.  Part of a larger object. */
typedef struct mpix_endpoints_work_t {
    /**
     * Advance a little: at most as long as the copy of a chunk of 64 KiB takes, because another
     * endpoint's thread may be executing it.  Never waits.  Called by one thread at a time, not
     * always the same, with no lock held.  It may start and test messages (isend, irecv, MPI_Test),
     * complete a request and begin other work.  Nothing that it starts or tests executes another
     * step.
     */
    mpix_endpoints_step_t (*step)(struct mpix_endpoints_work_t *work);

    /* private to pml/epml, from work_begin on */
    struct mpix_endpoints_work_t *next;
    struct ompi_communicator_t *comm;
} mpix_endpoints_work_t;

/* ---- requests -------------------------------------------------------------------------------- */

/** Returned by start for a request that is complete already; no error code of MPI. */
#define MPIX_ENDPOINTS_REQUEST_COMPLETE (-1)

/** Callbacks of a client's request. */
typedef struct mpix_endpoints_request_ops_t {
    /** MPI_Start of a persistent request.  @return MPI_SUCCESS; MPIX_ENDPOINTS_REQUEST_COMPLETE: it
     * is complete without error, and request_done must not be called; or an error code: not
     * started */
    int (*start)(void *context);

    /** The request is gone, and its operation is complete.  Called by the thread that frees the
     * request, or that completes one that the user has freed.  May be NULL. */
    void (*free)(void *context);
} mpix_endpoints_request_ops_t;

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct mpix_endpoints_memory_t {
    void *base;  /**< at a different address in each process; aligned to a page, or to a cache line
                  * of 64 bytes if it is smaller than a page */
    size_t size; /**< as requested */
} mpix_endpoints_memory_t;

/* ---- the interface --------------------------------------------------------------------------- */

typedef struct mpix_endpoints_engine_t {
    uint32_t abi; /**< MPIX_ENDPOINTS_ENGINE_ABI */

    /**
     * Register a client.  Once, after MPI_Init and before the first endpoints are created; existing
     * handles get no object.  A client that is registered already gets its number again.
     *
     * @param[in]  client    constant, and valid until MPI_Finalize
     * @param[out] number_p  its number.  All processes of a job must register the same clients in
     *                       the same order: messages carry the number.  coll/epcoll and osc/epwin
     *                       have the same number in any case
     * @return MPI_SUCCESS; MPI_ERR_NO_MEM: all eight numbers are taken
     */
    int (*client_register)(const mpix_endpoints_client_t *client, int *number_p);

    /** The object that the client's make has returned for a handle, or NULL. */
    void *(*client_object)(const struct ompi_communicator_t *comm, int number);

    /**
     * Location of a member.  Sends nothing: it is known from the creation of the member.
     *
     * @param[in] comm  any valid communicator
     * @return false: no handle of endpoints, or no rank of it
     */
    bool (*locality)(const struct ompi_communicator_t *comm, int rank,
                     mpix_endpoints_locality_t *locality);

    /** Likewise of a rank of the remote group of an intercommunicator of endpoints. */
    bool (*locality_remote)(const struct ompi_communicator_t *comm, int rank,
                            mpix_endpoints_locality_t *locality);

    /** The members within a scope.  Its cost grows with the number of members: call it once, in
     * make.
     * @return MPI_SUCCESS, MPI_ERR_NO_MEM */
    int (*members)(const struct ompi_communicator_t *comm, mpix_endpoints_scope_t scope,
                   mpix_endpoints_members_t *members);

    /** Is a member known to be lost?  The caller counts as waiting for it, so the engine checks its
     * liveness.
     * @param[in] rank  or MPIX_ENDPOINTS_ANY_RANK: any member, including a loss that another member
     *                  has reported (collectives fail then) */
    bool (*is_lost)(const struct ompi_communicator_t *comm, int rank);

    /** The client has learned of a loss through memory that endpoints share: check at once which
     * processes of the node are alive, so that the next message to a dead one fails.  (A peer
     * across a network may be unreachable for one member only.) */
    void (*check_liveness)(const struct ompi_communicator_t *comm);

    /** The handle takes part in no more collectives of its communicator.  All operations that
     * libmpi's components and clients have started on it, or start later, complete with
     * MPI_ERR_PROC_FAILED: here at once, at the other members as soon as the notice has arrived.
     * The user's messages are not affected. */
    void (*leave)(const struct ompi_communicator_t *comm);

    /** The name of Open MPI's accelerator component; constant.  NULL: there is no device memory, and
     * is_device must not be called. */
    const char *(*accelerator)(void);

    /** Would a call use device memory that the CPU cannot access?  Checks the first and the last
     * byte.  False for 0 bytes, and where comm asserts that its calls use none.
     * @param[in] comm  of endpoints, an intercommunicator or not */
    bool (*is_device)(const struct ompi_communicator_t *comm, const void *buffer, size_t count,
                      const struct ompi_datatype_t *datatype);

    /** Report, once for the process, that a call has been refused because of device memory.
     * @param[in] what  the call's name
     * @return MPI_ERR_BUFFER */
    int (*refuse_device)(const struct ompi_communicator_t *comm, const char *what);

    /** Progress the handle's endpoint once, including its work.  @return number of events */
    int (*progress)(const struct ompi_communicator_t *comm);

    /**
     * Progress, once and a little, endpoints of this process that no thread of it has progressed for
     * some calls of this function, as a thread that waits in MPI does for others.  For a thread of
     * the client's own, which MPI must have been initialized for (MPI_THREAD_MULTIPLE).  It executes
     * steps of clients.
     *
     * @return number of events
     */
    int (*progress_others)(void);

    /**
     * Wait as MPI_Recv does: progress the endpoint, help others, yield when oversubscribed, detect
     * losses.
     *
     * @param[in] from   the rank that the thread waits for; its liveness is checked
     * @param[in] until  evaluated after each progress; with acquire semantics if data depend on it
     * @return MPI_SUCCESS: until is true; MPI_ERR_PROC_FAILED: it is false, and from is lost
     */
    int (*wait)(const struct ompi_communicator_t *comm, int from, bool (*until)(void *context),
                void *context);

    /** The same, until a monotonically increasing flag is least or more; an acquire. */
    int (*wait_flag)(const struct ompi_communicator_t *comm, int from, const _Atomic uint64_t *flag,
                     uint64_t least);

    /**
     * One round of a wait, for a client with a loop of its own: what wait does after until was
     * false.  It may take a while (a yield, another endpoint's work).
     *
     * @return MPI_SUCCESS; MPI_ERR_PROC_FAILED: from is lost.  The client then tests its condition
     *         once more before it gives up
     */
    int (*wait_progress)(const struct ompi_communicator_t *comm, int from,
                         mpix_endpoints_wait_t *wait);

    /** After the last wait_progress, in the same thread.  Not needed where words[0] is 0.  The
     * object can be used again once it is all 0. */
    void (*wait_end)(mpix_endpoints_wait_t *wait);

    /** Are there more threads that may be waiting than cores, as far as is known?  Then a client's
     * own loop calls wait_progress early: the thread that it waits for may need the core. */
    bool (*is_oversubscribed)(void);

    /** Start work, which advances while the handle's endpoint is progressed, by any thread.  The
     * handle is retained until it is done.  Never fails.  An am_handler may call it for the handle
     * that the message is for.  The thread that progresses the endpoint then executes the first
     * step after it has released the endpoint's lock. */
    void (*work_begin)(struct ompi_communicator_t *comm, mpix_endpoints_work_t *work);

    /**
     * A request for which MPI_Wait and the other completion functions progress the handle's
     * endpoint.  For the user it is a request of a collective: errors go to the communicator's
     * error handler.  It retains the handle.  For libmpi it is an ompi_coll_base_nbc_request_t: a
     * component's nonblocking functions may return it, and libmpi retains datatype and operation for
     * it.  For a persistent request the client retains them.
     *
     * @param[in]  persistent  it is inactive, and MPI_Start calls ops->start; otherwise it is active
     * @param[out] request_p   becomes the user's
     * @return MPI_SUCCESS, MPI_ERR_NO_MEM
     */
    int (*request_new)(struct ompi_communicator_t *comm, const mpix_endpoints_request_ops_t *ops,
                       void *context, bool persistent, struct ompi_request_t **request_p);

    /**
     * A request of an operation on a window: as request_new, not persistent, with these differences.
     * For the user it is a request of the window (MPI_Rput and its like): errors go to the window's
     * error handler.  libmpi attaches nothing to it.  It retains comm, whose endpoint the completion
     * functions progress, but not the window.
     *
     * @param[in] comm  the window's communicator
     * @param[in] win   exists until the request is freed, as MPI requires of a program
     */
    int (*request_new_win)(struct ompi_communicator_t *comm, struct ompi_win_t *win,
                           const mpix_endpoints_request_ops_t *ops, void *context,
                           struct ompi_request_t **request_p);

    /** Start work for an active request: work_begin for its handle, which the request retains
     * already.  The request must not be completed before the last step, but may be in it. */
    void (*request_begin)(struct ompi_request_t *request, mpix_endpoints_work_t *work);

    /**
     * For an operation with one datatype per member (MPI_Ialltoallw), before its request is passed
     * to libmpi: the client's copies of both arrays, valid until ops->free.  libmpi reads the
     * arrays again when the request is freed; the user's may be gone then.
     *
     * @param[in] send, receive  NULL: no array (MPI_IN_PLACE)
     */
    void (*request_types)(struct ompi_request_t *request, struct ompi_datatype_t *const *send,
                          struct ompi_datatype_t *const *receive);

    /** Complete an active request.  The client uses no buffer, datatype or operation of it any
     * more.  The request may be gone on return.
     * @param[in] error  MPI_SUCCESS or an error code */
    void (*request_done)(struct ompi_request_t *request, int error);

    /**
     * Memory shared by the members of a communicator within a scope, identified by its context and
     * the client's key.  The first caller makes it, zeroed.  All pass the same size.  The last
     * memory_put frees it, also where processes have died.  (If all processes are killed before a
     * node's memory is complete, its file stays until the user's next job on the node.)
     *
     * Called in make, or where all members call it.  Memory of a process is usable at once; of a
     * node, memory_is_complete says so.  A member that has put back a node's memory must not get it
     * again while others have it: the new one would never be complete.
     *
     * @return MPI_SUCCESS; MPI_ERR_NO_MEM; MPI_ERR_ARG: different sizes, or 0;
     *         MPI_ERR_UNSUPPORTED_OPERATION: the members of this node cannot share memory, or comm
     *         is an intercommunicator
     */
    int (*memory_get)(const struct ompi_communicator_t *comm, mpix_endpoints_scope_t scope,
                      int number, uint32_t key, size_t size, mpix_endpoints_memory_t **memory_p);

    /**
     * As memory_get, but no page is allocated yet: each part is filled (memory_fill), or written to
     * first, by the member that owns it.  All members of a key call the same of the two functions.
     * Before a part of a node's memory is filled, nothing of it is accessed: if the node's folder of
     * shared memory were full, the access would end the process (SIGBUS).
     *
     * @return as memory_get
     */
    int (*memory_reserve)(const struct ompi_communicator_t *comm, mpix_endpoints_scope_t scope,
                          int number, uint32_t key, size_t size,
                          mpix_endpoints_memory_t **memory_p);

    /**
     * Allocate the pages of a part of memory from memory_reserve, zeroed, unless they are allocated
     * already.  The calling thread counts as the first to touch them, which decides on their NUMA
     * node.  A page at an edge of the part is allocated whole.  For memory of a process, and for
     * memory from memory_get, nothing need be done.  Any thread; parts may overlap.
     *
     * @param[in] offset, size  in bytes, within the memory; size may be 0
     * @return MPI_SUCCESS; MPI_ERR_NO_MEM: there is no room for them, the part must not be accessed;
     *         MPI_ERR_ARG: not within the memory
     */
    int (*memory_fill)(mpix_endpoints_memory_t *memory, size_t offset, size_t size);

    /**
     * Copy between memory of this process and memory of a member in another process of the node, by
     * the kernel, without that process.  Any thread.
     *
     * @param[in] local      buffer here; read if to_member, otherwise written
     * @param[in] remote     address in the member's process
     * @param[in] to_member  write the member's memory; otherwise read it
     * @return MPI_SUCCESS; MPI_ERR_UNSUPPORTED_OPERATION: it is not on the node, the kernel allows no
     *         such copies, or there is no such memory.  Of a write some may have been done
     */
    int (*memory_copy)(const struct ompi_communicator_t *comm, int rank, void *local,
                       uint64_t remote, size_t size, bool to_member);

    /** Do all members within the scope have the memory?  If it is got in make, then once the
     * communicator is complete (all members have returned from make), the answer is the same at all
     * of them and does not change.  If it is got later, the same holds once all members have
     * returned from memory_get (or memory_reserve), with or without success, and have synchronized
     * after it, by a barrier for example; and as long as none has put it back. */
    bool (*memory_is_complete)(const mpix_endpoints_memory_t *memory);

    /** Put it back, once for each memory_get. */
    void (*memory_put)(mpix_endpoints_memory_t *memory);

    /**
     * MPI_Isend and MPI_Irecv with tags of the client, which match no receive of the user or of
     * another client.  As with collectives, the loss of any member completes them with an error.  A
     * client whose operation has failed cancels them (req_cancel) until they are complete: a receive
     * that nothing has matched completes, and so does a send that is never received, with
     * MPI_ERR_PROC_FAILED, once the receiver's endpoint has said that no receive will match.
     *
     * @param[in] tag  0 to MPIX_ENDPOINTS_TAG_MAX, no wildcard
     */
    int (*isend)(struct ompi_communicator_t *comm, int number, const void *buffer, size_t count,
                 struct ompi_datatype_t *datatype, int rank, int tag,
                 struct ompi_request_t **request_p);
    int (*irecv)(struct ompi_communicator_t *comm, int number, void *buffer, size_t count,
                 struct ompi_datatype_t *datatype, int rank, int tag,
                 struct ompi_request_t **request_p);

    /** The same of a buffer in device memory, which the accelerator copies. */
    int (*isend_device)(struct ompi_communicator_t *comm, int number, const void *buffer,
                        size_t count, struct ompi_datatype_t *datatype, int rank, int tag,
                        struct ompi_request_t **request_p);
    int (*irecv_device)(struct ompi_communicator_t *comm, int number, void *buffer, size_t count,
                        struct ompi_datatype_t *datatype, int rank, int tag,
                        struct ompi_request_t **request_p);

    /**
     * Send an active message, for the receiving client's am_handler.  In order with the others to
     * that rank.  Copied; sent now or soon; makes no progress.
     *
     * @param[in] size  what am_max returns for the rank at most
     * @return MPI_SUCCESS; MPI_ERR_NO_MEM: not sent, try again; MPI_ERR_PROC_FAILED; MPI_ERR_ARG:
     *         too long
     */
    int (*am_send)(struct ompi_communicator_t *comm, int number, int rank, const void *data,
                   size_t size);

    /** The largest active message to a rank, in bytes: at least MPIX_ENDPOINTS_AM_MAX, at most
     * MPIX_ENDPOINTS_AM_LIMIT.  Depends on how the rank is reached and on parameters; constant for
     * the life of the handle.  The two directions between ranks may differ. */
    size_t (*am_max)(const struct ompi_communicator_t *comm, int rank);

    /** am_send, called by an am_handler for the handle of its message.  It may send to any rank, but
     * only few messages: the endpoint's lock is held. */
    int (*am_answer)(struct ompi_communicator_t *comm, int number, int rank, const void *data,
                     size_t size);
} mpix_endpoints_engine_t;

/**
 * The interface, from MPI_Init to MPI_Finalize.  Any thread.
 *
 * @param[in] abi  MPIX_ENDPOINTS_ENGINE_ABI
 * @return NULL: pml/epml is not selected, MPI is not initialized, or the ABI is a different one
 */
__attribute__((visibility("default"))) const mpix_endpoints_engine_t *mpix_endpoints_engine(
    uint32_t abi);

#endif /* OMPI_COMMON_EP_ENGINE_H */
