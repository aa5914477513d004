/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI endpoints: threads that own MPI ranks.  The user's interface, for C and C++; included by
 * mpi-ext.h, or directly.  Each function has a manual page; MPIX_Comm_create_endpoints(3) and
 * MPIX_Init_endpoint(3) are where to begin.
 *
 * It serves both ABIs of Open MPI: its own (mpicc, libmpix_endpoints), and from 6.0 on the MPI ABI
 * (mpicc_abi, libmpix_endpoints_abi), where handles and most constants are other values.  The
 * constants below have the same in both, beyond 2^14, up to which the MPI ABI has its own.
 *
 * Every function is also there under its PMPIX_ name; the MPIX_ name is a weak alias of it, so that
 * a profiling tool may define its own MPIX_ function and call the PMPIX_ one.
 */

#ifndef MPIEXT_ENDPOINTS_C_H
#define MPIEXT_ENDPOINTS_C_H

#include <mpi.h>

#if defined(OMPI_DECLSPEC)
#    define MPIX_ENDPOINTS_DECLSPEC OMPI_DECLSPEC
#else /* the MPI ABI's mpi.h has nothing of Open MPI */
#    define MPIX_ENDPOINTS_DECLSPEC __attribute__((visibility("default")))
#endif

/** The version of this project (not Open MPI's), as numbers. */
#define MPIX_ENDPOINTS_MAJOR_VERSION 0
#define MPIX_ENDPOINTS_MINOR_VERSION 1
#define MPIX_ENDPOINTS_RELEASE_VERSION 0

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * Create a communicator in which this process owns my_num_ep ranks (endpoints).
 *
 * Each handle in ep_comms behaves from then on as if it belonged to an MPI process of its own: own
 * rank, own message matching, own progress.  Any thread may use it; handles of different endpoints
 * share nothing that a thread would have to wait for.  Ranks are numbered in the order of the
 * parent's ranks and, within a process, in the order of the array.  The handle at index 0 stands
 * for the calling process itself: with one endpoint everywhere the new communicator is congruent
 * with the parent.  Nothing cached on the parent (attributes) is passed on; the parent's error
 * handler is.
 *
 * If parent is an intercommunicator, so is the new one: its groups are the endpoints of either
 * side's members.  If one side has none at all, every handle is MPI_COMM_NULL, and the call
 * succeeds.
 *
 * Collective over parent (both groups of an intercommunicator); blocks until every member has
 * called it.  One thread of a process makes the call for all endpoints of that process.
 *
 * Thread safety: as any collective call, one at a time on a given parent handle; calls on different
 * parents may run at the same time.
 *
 * @param[in]  parent     communicator of any kind, ordinary or of endpoints
 * @param[in]  my_num_ep  number of endpoints of this process, 0 or more; may differ between members
 * @param[in]  info       hints, or MPI_INFO_NULL; keys: same_num_ep, mpix_thread_level (see the
 *                        manual page).  Not kept: the caller may free it afterwards.
 * @param[out] ep_comms   my_num_ep handles, the caller's, each to be freed with MPI_Comm_free or
 *                        MPI_Comm_disconnect; ignored if my_num_ep is 0, untouched on failure
 *
 * @retval MPI_SUCCESS     on every member
 * @retval MPI_ERR_ARG     my_num_ep is negative, or ep_comms is NULL and my_num_ep is not 0
 * @retval MPI_ERR_COMM    parent is MPI_COMM_NULL or invalid
 * @retval MPI_ERR_INFO    info is not a valid info handle
 * @retval MPI_ERR_INFO_VALUE  the promise same_num_ep was not kept
 * @retval (an error code of class MPIX_ERR_ENDPOINTS)  the endpoints could not be had;
 *                         MPI_Error_string says why
 *
 * Errors are raised through parent's error handler (through the one for calls without a
 * communicator if parent is no valid one) and leave parent usable.  A mistake of one member is an
 * error on every member, though not always of the same class; no member is left waiting.
 *
 * Source: Dinan et al., "Enabling communication concurrency through flexible MPI endpoints", 2014,
 * sections 3.2 to 3.5; MPI Forum ticket 380, chapter 6 (draft of March 2015).
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Comm_create_endpoints(MPI_Comm parent, int my_num_ep,
                                                       MPI_Info info, MPI_Comm ep_comms[]);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Comm_create_endpoints(MPI_Comm parent, int my_num_ep,
                                                        MPI_Info info, MPI_Comm ep_comms[]);

/**
 * Merge communicators that hang together.
 *
 * A caller that passes two communicators joins their members.  The new one has all members that can
 * be reached from the caller by communicators and by members that have joined two.  Example: each
 * process merges the communicator of all processes with that of its endpoints.  So the call is
 * collective over all of them: each member of each communicator calls it once, with one or two of its
 * communicators.  In which order two are passed does not matter.
 *
 * A caller is one endpoint, or process: two different communicators are of the same one.  The first
 * endpoint of a process is the process.  The new communicator is one of endpoints, also where only
 * processes have called (a process then has an endpoint made for it).  Ranks: processes in the
 * order of the communicator with the most processes, then of those behind it; the members that are
 * in one process follow each other.  Nothing cached is passed on; the error handler is that of
 * comm1, or of comm2.
 *
 * Thread safety: as any collective call, one at a time on a given handle; merges of communicators
 * that do not hang together may run at the same time.
 *
 * @param[in]  comm1    an intracommunicator of the caller, or MPI_COMM_NULL
 * @param[in]  comm2    likewise, of the same endpoint; not both null
 * @param[out] newcomm  the caller's, to be freed; untouched on failure
 *
 * @retval MPI_SUCCESS   on every member
 * @retval MPI_ERR_COMM  both are null; one is invalid, or an intercommunicator; they are not of the
 *                       same endpoint; or an endpoint has called twice
 * @retval MPI_ERR_ARG   newcomm is NULL
 * @retval MPI_ERR_UNSUPPORTED_OPERATION  there are members of more than one job
 * @retval MPI_ERR_PROC_FAILED  a member is lost
 * @retval (an error code of class MPIX_ERR_ENDPOINTS)  as MPIX_Comm_create_endpoints
 *
 * Errors are raised through comm1's error handler, or comm2's.  A mistake of one member is an error
 * on every member that hangs together with it by valid communicators; no member is left waiting,
 * but where the owner of another endpoint's handle calls with it, too, and where a process has no
 * memory for a message (docs/merge.md).
 *
 * Source: Hybrid Programming Working Group, August 2011, section 0.3.2 (MPI_COMM_MERGE).
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Comm_merge(MPI_Comm comm1, MPI_Comm comm2, MPI_Comm *newcomm);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Comm_merge(MPI_Comm comm1, MPI_Comm comm2, MPI_Comm *newcomm);

/**
 * Can threads have endpoints in this run?
 *
 * Says yes if the endpoint PML is selected (mpirun --mca pml epml), this library stands where it
 * has to between the program and Open MPI, Open MPI's fault tolerance is off, and MPI was
 * initialized with MPI_THREAD_MULTIPLE.  Local; any thread; may be called at any time, also before
 * MPI_Init and after MPI_Finalize (the answer then is no).
 *
 * @param[out] flag  1: threads can use what MPIX_Comm_create_endpoints makes; 0: it will fail, or
 *                   only one thread at a time may be in MPI
 *
 * @retval MPI_SUCCESS
 * @retval MPI_ERR_ARG  flag is NULL
 *
 * Source: in the manner of Open MPI's MPIX_Query_cuda_support.
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Query_endpoints_support(int *flag);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Query_endpoints_support(int *flag);

/**
 * The value of MPIX_ERR_ENDPOINTS, which is what programs should write.
 *
 * Open MPI hands out new error classes at run time, so the class is no compile-time constant (it
 * cannot be a case label), and two processes may have different values for it.  Local; any thread.
 *
 * @return the class, valid from MPI_Init to MPI_Finalize; MPI_ERR_UNKNOWN outside of them
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Endpoints_error_class(void);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Endpoints_error_class(void);

/* ---- endpoints from the beginning on, and threads that are attached to them ------------------ */

/** An endpoint that a process has had since it began MPI; local to the process. */
typedef struct mpix_endpoint_t *MPIX_Endpoint;

/** No endpoint. */
#define MPIX_ENDPOINT_NULL ((MPIX_Endpoint) 0)

/**
 * Begin MPI with several endpoints in this process.
 *
 * In place of MPI_Init and MPI_Init_thread, which begin with one; processes of a job may use any of
 * the three, as long as their calls come to this library.  Collective over the job's processes.
 * There are four communicators then, in all of them:
 *
 *   MPIX_COMM_ENDPOINTS  all endpoints, in the order of MPI_COMM_WORLD and, within a process, of
 *   the
 *                        array
 *   MPI_COMM_WORLD       the first endpoint of each process, as before
 *   MPIX_COMM_PROCESS    the endpoints of this process
 *   MPIX_COMM_SELF       the endpoint of the calling thread
 *
 * The calling thread, and each other one that has not said otherwise, is attached to the first
 * endpoint.  MPI_Finalize ends them all; nobody frees these communicators.
 *
 * @param[in]  argc, argv    as for MPI_Init
 * @param[in]  count         endpoints of this process, may differ between processes; 0: none, and
 *                           its threads are attached to nothing
 * @param[in]  thread_level  MPI_THREAD_..., of each endpoint; at least MPI_THREAD_FUNNELED if count
 *                           is more than 1
 * @param[out] endpoints     count handles; untouched on failure
 *
 * @retval MPI_SUCCESS
 * @retval (an error code of class MPIX_ERR_ENDPOINTS)  the same cause in all processes that take
 *         part; MPI_Error_string tells it.  MPI has begun, without endpoints
 *
 * Errors are raised as those of calls without a communicator.  Source: Hybrid Programming Working
 * Group, "Supporting Multiple Endpoints per Process", August 2011, section 0.2.2.
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Init_endpoint(int *argc, char ***argv, int count, int thread_level,
                                               MPIX_Endpoint endpoints[]);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Init_endpoint(int *argc, char ***argv, int count,
                                                int thread_level, MPIX_Endpoint endpoints[]);

/**
 * As MPIX_Init_endpoint, without handles: threads attach by number (MPIX_Thread_attach_index).
 *
 * @param[in]  requested  MPI_THREAD_...
 * @param[out] provided   the level of each endpoint: requested, but MPI_THREAD_FUNNELED in place of
 *                        MPI_THREAD_SINGLE if count is more than 1; unchanged on failure; may be NULL
 *
 * Source: Dinan et al. 2014, section 3.1 (MPI_Init_endpoints).
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Init_endpoints(int *argc, char ***argv, int count, int requested,
                                                int *provided);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Init_endpoints(int *argc, char ***argv, int count, int requested,
                                                 int *provided);

/**
 * Begin MPI in two phases: the first tells this process's place in the job, the second makes its
 * endpoints.  Other processes may use this, or MPIX_Init_endpoint, MPI_Init or MPI_Init_thread, whose
 * calls return after the second phase of all.  Between the phases MPI has not begun for the program:
 * it may call MPI_Get_version, MPI_Initialized and MPI_Finalize, which makes one endpoint; other
 * calls are what they are before MPI_Init.
 *
 * @param[in]  argc, argv     as for MPI_Init
 * @param[out] max_endpoints  as many as this process may create (MPIX_Query_endpoints_number)
 * @param[out] size, rank     of and in MPI_COMM_WORLD
 * @param[in]  count          endpoints of this process, 1 to max_endpoints
 * @param[out] endpoints      count handles, as those of MPIX_Init_endpoint; untouched on failure
 *
 * The level of the endpoints is MPI_THREAD_MULTIPLE; threads choose theirs when they attach
 * (MPIX_Thread_attach_level).  By one thread of each process, which need not be the same for both.
 *
 * @retval MPI_SUCCESS
 * @retval (an error code of class MPIX_ERR_ENDPOINTS)  the first one's: MPI has begun before, a place
 *         for a result is missing, a process takes no part.  The second one's: it was called before
 *         the first or twice (an error of this process alone); count is less than 1 or more than
 *         max_endpoints, no array.  In all processes that take part, and MPI has begun, without
 *         endpoints
 * @retval MPI_ERR_OTHER  the second: MPI has not begun, or has ended
 *
 * Errors are raised as those of calls without a communicator.  Source: Hybrid Programming Working
 * Group, May 2010, section 0.2.2 (MPI_INIT_ENDPOINT, MPI_ENDPOINT_CREATE).
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Init_endpoint_begin(int *argc, char ***argv, int *max_endpoints,
                                                     int *size, int *rank);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Init_endpoint_begin(int *argc, char ***argv, int *max_endpoints,
                                                      int *size, int *rank);
MPIX_ENDPOINTS_DECLSPEC int MPIX_Endpoint_create(int count, MPIX_Endpoint endpoints[]);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Endpoint_create(int count, MPIX_Endpoint endpoints[]);

/**
 * Begin MPI by a call of each thread of the process, as the threads of a PGAS program do.  As many
 * threads as the launcher was told endpoints (epmpirun -endpoints; 1 without) call it, once each;
 * they wait for each other, and all return the same.  The process has an endpoint for each thread
 * that wants one, in the order of the threads' numbers, and such a thread is attached to its own;
 * the others are attached to none.  If MPI has begun by MPI_Init or MPI_Init_thread already (as
 * OpenCoarrays does) it is collective over MPI_COMM_WORLD.
 *
 * @param[in] index  of the thread in the process, from 0 on
 * @param[in] flag   does it want an endpoint?
 *
 * MPIX_Init_UPCMPI has no index: it takes the order of the runtime's variable MYTHREAD if there is
 * one, or else that in which the threads of the process have been made.
 *
 * @retval MPI_SUCCESS
 * @retval (an error code of class MPIX_ERR_ENDPOINTS)  as MPIX_Init_endpoint; or an index is out of
 *         range, or of two threads
 *
 * Source: Hybrid Programming Working Group, May 2010, section 0.8.3 (MPI_INIT_UPCMPI,
 * MPI_INIT_CAFMPI).
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Init_endpoint_thread(int index, int flag);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Init_endpoint_thread(int index, int flag);
MPIX_ENDPOINTS_DECLSPEC int MPIX_Init_UPCMPI(int *argc, char ***argv, int flag);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Init_UPCMPI(int *argc, char ***argv, int flag);

/**
 * The PGAS programs of the job: those that the launcher's line has between colons.  Local; any
 * thread, any time; no error handler is called.
 *
 * @param[out] num_progs    their number; config: the same number comes in
 * @param[out] my_prog      which one this process belongs to, from 0 on
 * @param[out] num_threads  num_progs numbers: the threads of each, which are the endpoints that the
 *                          launcher was told (1 without) times its processes
 *
 * @retval MPI_SUCCESS
 * @retval MPI_ERR_ARG    an argument is NULL, or num_progs is not their number
 * @retval MPI_ERR_OTHER  the launcher has not said how many processes there are
 *
 * Source: as above (MPI_GET_UPC_NUMPROGS, MPI_GET_UPC_CONFIG).
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Get_UPC_numprogs(int *num_progs);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Get_UPC_numprogs(int *num_progs);
MPIX_ENDPOINTS_DECLSPEC int MPIX_Get_UPC_config(int num_progs, int *my_prog, int num_threads[]);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Get_UPC_config(int num_progs, int *my_prog, int num_threads[]);

/**
 * Attach the calling thread to an endpoint: MPIX_COMM_ENDPOINTS, MPIX_COMM_PROCESS and
 * MPIX_COMM_SELF are that endpoint's from now on.  Local.  A thread that is attached, as all are at
 * first, has to be detached before.
 *
 * @retval MPI_SUCCESS
 * @retval (an error code of class MPIX_ERR_ENDPOINTS)  no endpoint of this process; the thread is
 *         attached; the level is below MPI_THREAD_SERIALIZED, and another thread is attached to it
 *
 * Source: as MPIX_Init_endpoint, section 0.2.3.
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Thread_attach(MPIX_Endpoint endpoint);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Thread_attach(MPIX_Endpoint endpoint);

/**
 * The same, at a level of the caller's: all that are attached to an endpoint at the same time have the
 * same, which the first one chooses; MPIX_CURRENT_THREAD_LEVEL tells it.
 *
 * @param[in] required  MPI_THREAD_SINGLE to the endpoint's MPIX_MAX_THREAD_LEVEL, which
 *                      MPIX_Thread_attach takes
 *
 * @retval (an error code of class MPIX_ERR_ENDPOINTS)  as MPIX_Thread_attach; or no such level; or
 *         others are attached at another one
 *
 * Source: Hybrid Programming Working Group, May 2010, section 0.2.2 (MPI_THREAD_ATTACH).
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Thread_attach_level(MPIX_Endpoint endpoint, int required);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Thread_attach_level(MPIX_Endpoint endpoint, int required);

/**
 * Detach the calling thread from its endpoint.  Local.  What it has started on it goes on, and any
 * thread may complete it; MPIX_COMM_ENDPOINTS and its relatives are MPI_COMM_NULL for this thread.
 * A thread that ends is detached by that.
 *
 * @retval MPI_SUCCESS
 * @retval (an error code of class MPIX_ERR_ENDPOINTS)  the thread is attached to none
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Thread_detach(void);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Thread_detach(void);

/**
 * Attach the calling thread to another endpoint, from wherever it is: by number, from 0 on, or by
 * its rank in a communicator, which may be any intracommunicator or the local group of an
 * intercommunicator.  Local.  Nothing happens if it is there already.  A rank of a communicator
 * that MPIX_Comm_create_endpoints has made: as MPIX_Comm_endpoint_attach of that member's handle.
 *
 * @retval MPI_SUCCESS
 * @retval MPI_ERR_COMM  no valid communicator
 * @retval (an error code of class MPIX_ERR_ENDPOINTS)  as MPIX_Thread_attach; the thread stays
 * where
 *         it was
 *
 * Source: draft of chapter 12 for MPI 3 (MPI_Thread_attach); MPI Forum, ticket 311.
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Thread_attach_index(int index);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Thread_attach_index(int index);
MPIX_ENDPOINTS_DECLSPEC int MPIX_Thread_attach_rank(int rank, MPI_Comm comm);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Thread_attach_rank(int rank, MPI_Comm comm);

/**
 * What MPIX_COMM_ENDPOINTS, MPIX_COMM_PROCESS and MPIX_COMM_SELF are: communicators of the endpoint
 * that the calling thread is attached to, or MPI_COMM_NULL if it is detached.  Any thread, local,
 * one thread-local read.
 */
MPIX_ENDPOINTS_DECLSPEC MPI_Comm MPIX_Comm_endpoints(void);
MPIX_ENDPOINTS_DECLSPEC MPI_Comm PMPIX_Comm_endpoints(void);
MPIX_ENDPOINTS_DECLSPEC MPI_Comm MPIX_Comm_process(void);
MPIX_ENDPOINTS_DECLSPEC MPI_Comm PMPIX_Comm_process(void);
MPIX_ENDPOINTS_DECLSPEC MPI_Comm MPIX_Comm_self(void);
MPIX_ENDPOINTS_DECLSPEC MPI_Comm PMPIX_Comm_self(void);

/**
 * The calling thread's world: what MPI_COMM_WORLD is in it where libmpix_world is loaded
 * (epmpicc -world, epmpirun -world), for all code that it runs, also code that was compiled without
 * this library.  MPI_COMM_SELF is the communicator of the world's endpoint alone then.  Without
 * libmpix_world the world is kept all the same, and nothing asks for it.  Local; about the calling
 * thread alone.
 *
 * The world is what was set last, or else MPIX_COMM_ENDPOINTS of the endpoint that the thread was
 * attached to by a call, or else the process's MPI_COMM_WORLD.  It is unset when the thread is
 * attached or detached, when it ends, and when the handle is freed by any thread.
 *
 * @param[in]  world  set: a handle of endpoints (intracommunicator); MPI_COMM_NULL: unset
 * @param[out] world  get: the handle; MPI_COMM_NULL: it is the process's MPI_COMM_WORLD
 *
 * @retval MPI_SUCCESS
 * @retval MPI_ERR_COMM  set: no valid communicator, or none that can be a world
 * @retval MPI_ERR_ARG   get: world is NULL
 * @retval MPI_ERR_NO_MEM
 *
 * Source: draft of chapter 12 for MPI 3, section 12.5; Dinan et al. 2014, section 5.2.
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Comm_world_set(MPI_Comm world);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Comm_world_set(MPI_Comm world);
MPIX_ENDPOINTS_DECLSPEC int MPIX_Comm_world_get(MPI_Comm *world);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Comm_world_get(MPI_Comm *world);

/**
 * Attach the calling thread to the endpoint that a handle belongs to, from wherever it is.  The
 * handle is the thread's world (MPIX_Comm_world_set); MPIX_Thread_detach undoes it.  Which static
 * endpoint the thread is attached to, and so MPIX_COMM_ENDPOINTS and its relatives, stays as it is.
 * Local; no message looks for it.
 *
 * @param[in] comm  a handle of endpoints (intracommunicator)
 *
 * @retval MPI_SUCCESS
 * @retval MPI_ERR_COMM  no valid communicator, or none of these
 * @retval MPI_ERR_NO_MEM
 *
 * Source: Dinan et al. 2014, section 3.3.1.
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Comm_endpoint_attach(MPI_Comm comm);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Comm_endpoint_attach(MPI_Comm comm);

/**
 * The calling thread's own handle of a communicator, given any handle of it: that of the endpoint
 * that the thread is attached to.  Local; looks through the process's handles, so call it once and
 * keep what it says.
 *
 * @param[in]  comm  any communicator
 * @param[out] mine  a handle that is there already; MPI_COMM_NULL: the thread's endpoint is no
 *                   member, or has no handle of it (any more)
 *
 * @retval MPI_SUCCESS
 * @retval MPI_ERR_COMM  no valid communicator
 * @retval MPI_ERR_ARG   mine is NULL
 *
 * Source: as MPIX_Comm_endpoint_attach.
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Comm_mine(MPI_Comm comm, MPI_Comm *mine);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Comm_mine(MPI_Comm comm, MPI_Comm *mine);

/** Not constants: no initializer of a static object can have them. */
#define MPIX_COMM_ENDPOINTS (MPIX_Comm_endpoints())
#define MPIX_COMM_PROCESS (MPIX_Comm_process())
#define MPIX_COMM_SELF (MPIX_Comm_self())

/**
 * Keyvals of endpoint attributes, which all endpoints of the process share; local to it.  There are
 * no callbacks: endpoints are neither duplicated nor freed, and what is set when MPI ends is
 * dropped. Any thread.
 *
 * @param[inout] keyval  of the user's.  Freed, it becomes MPI_KEYVAL_INVALID; values that are set
 *                       can still be read and deleted with a copy of its number
 *
 * @retval MPI_SUCCESS
 * @retval MPI_ERR_ARG     keyval is NULL
 * @retval MPI_ERR_KEYVAL  no keyval, or a predefined one
 * @retval MPI_ERR_NO_MEM
 * @retval MPI_ERR_OTHER   MPI has not begun, or has ended
 *
 * Errors, here and below, are raised as those of calls without a communicator.
 *
 * Source: as MPIX_Init_endpoint, section 0.3.1.
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Endpoint_create_keyval(int *keyval);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Endpoint_create_keyval(int *keyval);
MPIX_ENDPOINTS_DECLSPEC int MPIX_Endpoint_free_keyval(int *keyval);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Endpoint_free_keyval(int *keyval);

/**
 * Attributes of an endpoint.  Local; any thread, for any endpoint of the process: a read returns
 * what was set last.
 *
 * @param[in]  endpoint  one of MPIX_Init_endpoint's
 * @param[in]  value     set: the pointer that is kept
 * @param[out] value     get: address of the pointer that is set to it; unchanged without one.  What
 *                       Fortran has set, an MPI_Aint, is pointed to; Fortran gets a pointer as an
 *                       integer
 * @param[out] flag      get: 1 if there is a value, else 0
 *
 * @retval MPI_SUCCESS     also where there is nothing to delete
 * @retval MPI_ERR_ARG     value or flag is NULL, in get
 * @retval MPI_ERR_KEYVAL  no keyval; set and delete: a predefined one; set: one that has been freed
 * @retval MPI_ERR_NO_MEM  set
 * @retval (an error code of class MPIX_ERR_ENDPOINTS)  no endpoint of this process
 * @retval MPI_ERR_OTHER   MPI has not begun, or has ended
 *
 * Source: as above.
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Endpoint_set_attr(MPIX_Endpoint endpoint, int keyval, void *value);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Endpoint_set_attr(MPIX_Endpoint endpoint, int keyval,
                                                    void *value);
MPIX_ENDPOINTS_DECLSPEC int MPIX_Endpoint_get_attr(MPIX_Endpoint endpoint, int keyval, void *value,
                                                   int *flag);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Endpoint_get_attr(MPIX_Endpoint endpoint, int keyval, void *value,
                                                    int *flag);
MPIX_ENDPOINTS_DECLSPEC int MPIX_Endpoint_delete_attr(MPIX_Endpoint endpoint, int keyval);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Endpoint_delete_attr(MPIX_Endpoint endpoint, int keyval);

#if defined(OPEN_MPI) /* the MPI ABI has no MPI_Fint */
/**
 * An endpoint as Fortran has it, and back.  Local; any thread; no error.
 *
 * @return c2f: 0 for MPIX_ENDPOINT_NULL, -1 for no endpoint of this process.  f2c:
 *         MPIX_ENDPOINT_NULL for these, and for what c2f has never returned
 */
MPIX_ENDPOINTS_DECLSPEC MPI_Fint MPIX_Endpoint_c2f(MPIX_Endpoint endpoint);
MPIX_ENDPOINTS_DECLSPEC MPI_Fint PMPIX_Endpoint_c2f(MPIX_Endpoint endpoint);
MPIX_ENDPOINTS_DECLSPEC MPIX_Endpoint MPIX_Endpoint_f2c(MPI_Fint endpoint);
MPIX_ENDPOINTS_DECLSPEC MPIX_Endpoint PMPIX_Endpoint_f2c(MPI_Fint endpoint);
#endif

/** Predefined keyvals: the highest thread level that attaching to the endpoint gives, which is the
 * one that it began with; the one that threads are attached with at the time of the question, with
 * no value while none is (pointers to int; of the first endpoint, where threads are by default,
 * there always is one); its number in the process (likewise); the cores that the process may use,
 * as a list like "0-3,8" (pointer to char); the NUMA node, by the system's number, that has all of
 * these (pointer to int; no value if there are several); libfabric's provider and the interface by
 * which others reach it (pointers to char; no value as long as nobody has to).  Values do not
 * change. */
#define MPIX_MAX_THREAD_LEVEL 0x4560
#define MPIX_CURRENT_THREAD_LEVEL 0x4561
#define MPIX_ENDPOINT_INDEX 0x4562
#define MPIX_ENDPOINT_CORES 0x4563
#define MPIX_ENDPOINT_NUMA_NODE 0x4564
#define MPIX_ENDPOINT_PROVIDER 0x4565
#define MPIX_ENDPOINT_INTERFACE 0x4566

/**
 * How many members of a communicator are in this process, and which of them the caller is.  Local.
 *
 * @param[in]  comm    any communicator; of an intercommunicator the local group
 * @param[out] num_ep  members that share this process's memory, 1 or more
 * @param[out] index   the handle's own number among them, by rank, from 0 on
 *
 * @retval MPI_SUCCESS
 * @retval MPI_ERR_COMM  no valid communicator
 * @retval MPI_ERR_ARG   num_ep or index is NULL
 *
 * Source: MPI Forum, plenary of June 2014 (MPI_Comm_num_endpoints).
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Comm_num_endpoints(MPI_Comm comm, int *num_ep, int *index);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Comm_num_endpoints(MPI_Comm comm, int *num_ep, int *index);

/**
 * How many endpoints could this process have?  Local; any thread; opens nothing.  The numbers may
 * differ between processes, and a creation may still fail: others may take what is there.
 *
 * @param[in]  parent   the communicator that endpoints would be created from: how far apart its
 *                      members are decides whether they need the network
 * @param[out] optimal  as many as the process has cores (its affinity mask, and what its control
 *                      group grants), but no more than the network serves well
 * @param[out] maximum  as many as there may be: what the launcher was told
 *                      (MPIX_Query_endpoints_told), parameter pml_epml_max_endpoints, what the
 *                      network has, and descriptors; not less than optimal.  Both are 0 if this run
 *                      can have none (MPIX_Query_endpoints_support)
 *
 * @retval MPI_SUCCESS
 * @retval MPI_ERR_COMM  parent is no valid communicator
 * @retval MPI_ERR_ARG   optimal or maximum is NULL
 *
 * Source: Dinan et al. 2014, section 4.5; Hybrid Programming Working Group 2010 (max_endpoints).
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Query_endpoints_number(MPI_Comm parent, int *optimal,
                                                        int *maximum);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Query_endpoints_number(MPI_Comm parent, int *optimal,
                                                         int *maximum);

/**
 * With how many endpoints was this process started, and with which thread level?  epmpirun
 * -endpoints (or -asp) and -threadlevel say so, or the user, by the variables MPIX_ENDPOINTS and
 * MPIX_THREAD_LEVEL (0 to 3); and the process that has spawned it, by the info keys num_endpoints
 * and asp. The number is a maximum: MPIX_Init_endpoint, and MPIX_Comm_create_endpoints by each
 * caller, fail if they are asked for more (class MPIX_ERR_ENDPOINTS). Local; any thread, also
 * before MPI has begun and behind its end.
 *
 * @param[out] number        1 or more; 0: nothing was said, or no number
 * @param[out] thread_level  MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE; -1: likewise
 *
 * @retval MPI_SUCCESS
 * @retval MPI_ERR_ARG  an argument is NULL; no error handler is called
 *
 * Source: as MPIX_Init_endpoint, sections 0.2.2 (arguments of mpiexec) and 0.2.4 (spawning).
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Query_endpoints_told(int *number, int *thread_level);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Query_endpoints_told(int *number, int *thread_level);

/**
 * The keyval of an attribute of MPI_COMM_WORLD (pointer to int, as of all predefined ones): how
 * many endpoints this process may have.  It is what the launcher was told, no more than
 * pml_epml_max_endpoints; or else as many as MPIX_Query_endpoints_number has as the maximum at the
 * first question; 1 where there can be none.
 * Other communicators do not have it.  Any thread; MPI_KEYVAL_INVALID: MPI has not begun, or has
 * ended, or there is no memory.
 *
 * Source: the slides of the MPI Forum's hybrid working group, "MPI3 Hybrid": attribute
 * MPI_ENDPOINTS.
 */
MPIX_ENDPOINTS_DECLSPEC int MPIX_Endpoints_keyval(void);
MPIX_ENDPOINTS_DECLSPEC int PMPIX_Endpoints_keyval(void);

/** Not a constant. */
#define MPIX_ENDPOINTS (MPIX_Endpoints_keyval())

/* ---- constants ------------------------------------------------------------------------------- */

/**
 * Result of MPI_Comm_compare: two handles of one communicator, different endpoints.  Of
 * MPI_Group_compare: groups of the same members in the same order that belong to different ones of
 * them (or one of them to nobody, as the remote group of an intercommunicator).
 *
 * The other results mean what they mean for processes; groups of the same members in another order
 * are MPI_SIMILAR only if they belong to the same one, otherwise MPI_UNEQUAL.
 *
 * Source: Dinan et al. 2014, section 3.2; MPI Forum ticket 380.
 */
#define MPIX_ALIASED 0x4551

/**
 * Thread levels of MPI_Init_thread, above MPI_THREAD_MULTIPLE: a thread belongs to no endpoint before
 * it has called MPIX_Thread_attach_index, which it may do once; or any time.  Each endpoint may be
 * used by several threads at once.
 *
 * Source: draft of chapter 12 for MPI 3, section 12.4.3 (MPI_THREAD_ATTACH, MPI_THREAD_REATTACH).
 */
#define MPIX_THREAD_ATTACH (MPI_THREAD_MULTIPLE + 1)
#define MPIX_THREAD_REATTACH (MPI_THREAD_MULTIPLE + 2)

/**
 * Split type of MPI_Comm_split_type: those that share an address space, that is the endpoints of a
 * process, and the process itself.  On any communicator, also without endpoints; takes no info
 * keys.
 *
 * Needs the library linked before libmpi (as epmpicc does); otherwise MPI_ERR_ARG.
 *
 * Source: draft of chapter 12 for MPI 3, MPI_COMM_TYPE_ADDRESS_SPACE.
 */
#define MPIX_COMM_TYPE_ADDRESS_SPACE 0x4550

/** Error class (MPI_Error_class): endpoints could not be created as asked for. */
#define MPIX_ERR_ENDPOINTS (MPIX_Endpoints_error_class())

#if defined(__cplusplus)
}
#endif

#endif /* MPIEXT_ENDPOINTS_C_H */
