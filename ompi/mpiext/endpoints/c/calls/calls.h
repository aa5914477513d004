/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What programs call, and where pml/epml registers (register.c).
 *
 * Here is what the user's functions do, apart from the ABI in which they are called: handles and
 * error codes are Open MPI's own.  libmpix_endpoints has them, with the functions for Open MPI's
 * ABI; libmpix_endpoints_abi (abi.c) has those for the MPI ABI, and calls these.  So this header
 * has none of the layers below in it.
 *
 * Called by programs and pml/epml.  Stands before MPI functions for calls of programs alone; for
 * those of libmpi there are hooks.
 *
 * Below it: static, agree, files, interpose, base.
 */

#ifndef MPIEXT_ENDPOINTS_CALLS_H
#define MPIEXT_ENDPOINTS_CALLS_H

#include "ompi_config.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "mpi.h"

BEGIN_C_DECLS

#define MPIX_ENDPOINTS_CALL OMPI_DECLSPEC

/** Passed in place of an array of handles: the binding of another language has no memory for
 * one. */
MPIX_ENDPOINTS_CALL extern char mpix_endpoints_call_no_room[1];

/** MPIX_Comm_create_endpoints, but for the error handler. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_create(MPI_Comm parent, int my_num_ep, MPI_Info info,
                                                   MPI_Comm ep_comms[]);

/** What it returned goes to the error handler, of whichever ABI.  @return what that leaves of it */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_create_raise(MPI_Comm parent, int code);

/** MPIX_Comm_merge, and what it returned, likewise. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_merge(MPI_Comm comm1, MPI_Comm comm2,
                                                  MPI_Comm *newcomm);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_merge_raise(MPI_Comm comm1, MPI_Comm comm2, int code);

/** MPIX_Query_endpoints_support, MPIX_Endpoints_error_class. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_query(int *flag);

/** Will a creation work, at whatever level of threads? */
bool mpix_endpoints_call_can_create(void);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_error_class(void);

/** Is MPI_Comm_disconnect of this handle, which may be none or an invalid one, ours? */
MPIX_ENDPOINTS_CALL bool mpix_endpoints_call_disconnects(MPI_Comm comm);

/** MPI_Comm_disconnect of such a handle. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_disconnect(MPI_Comm *comm);

/** Do members agree on the arguments of spawn, connect and accept on this handle, which may be none
 * or an invalid one?  Then one of the next two comes before libmpi's own function, which follows
 * where it has returned MPI_SUCCESS. */
MPIX_ENDPOINTS_CALL bool mpix_endpoints_call_connects(MPI_Comm comm);

/** Collective: is something wrong with the arguments of a member, or has one died?  Raised at all then.  Of
 * a death the other side's root is notified.
 *
 * @param[in] connects  MPI_Comm_connect, not MPI_Comm_accept
 * @param[in] port      the root's
 * @return MPI_SUCCESS, or what the error handler leaves of the error */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_check_connect(bool connects, const char *port,
                                                          MPI_Info info, int root, MPI_Comm comm,
                                                          const void *newcomm);

/** Likewise, of the function of this name, and with nobody to tell.  commands, maxprocs, infos: the root's,
 * count each */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_check_spawn(const char *name, int count,
                                                        char *const *commands, const int *maxprocs,
                                                        const MPI_Info *infos, int root,
                                                        MPI_Comm comm, const void *intercomm);

/** MPI_Request_get_status up to where libmpi's takes over: is the request, which may be NULL, not
 * seen to be complete, after one turn of progress?  Then the flag is 0, and that is all. */
MPIX_ENDPOINTS_CALL bool mpix_endpoints_call_is_pending(MPI_Request request);

/** libmpi's own MPI_Comm_split_type, for mpix_endpoints_call_split_type: with the caller's
 * arguments, but for the type. */
typedef int (*mpix_endpoints_split_type_fn_t)(void *arguments, int split_type);

/**
 * MPI_Comm_split_type.
 *
 * @param[in] libmpi     takes over where the call is not ours; then its result is ours, and newcomm
 *                       is left to it
 * @param[in] arguments  for libmpi
 */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_split_type(MPI_Comm comm, int split_type, int key,
                                                       MPI_Info info, MPI_Comm *newcomm,
                                                       mpix_endpoints_split_type_fn_t libmpi,
                                                       void *arguments);

/** libmpi's own MPI_Init or MPI_Init_thread, with the caller's arguments; from level 0 on its
 * MPI_Init_thread with that level. */
typedef int (*mpix_endpoints_init_fn_t)(void *arguments, int level);

struct mpix_endpoint_t;

/** MPIX_Init_endpoint.
 *
 * @param[in] libmpi     called once, unless MPI has begun
 * @param[in] arguments  for libmpi */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_init_endpoint(int count, int level,
                                                          struct mpix_endpoint_t *endpoints[],
                                                          mpix_endpoints_init_fn_t libmpi,
                                                          void *arguments);

/** MPIX_Init_endpoints.  provided may be NULL. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_init_endpoints(int count, int requested, int *provided,
                                                           mpix_endpoints_init_fn_t libmpi,
                                                           void *arguments);

/** MPIX_Init_endpoint_begin, MPIX_Endpoint_create. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_init_begin(int *maximum, int *size, int *rank,
                                                       mpix_endpoints_init_fn_t libmpi,
                                                       void *arguments);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_endpoint_create(int count,
                                                            struct mpix_endpoint_t *endpoints[]);

/** MPIX_Init_endpoint_thread; MPIX_Init_UPCMPI, which has no index. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_init_thread(int index, int flag,
                                                        mpix_endpoints_init_fn_t libmpi,
                                                        void *arguments);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_init_pgas(int flag, mpix_endpoints_init_fn_t libmpi,
                                                      void *arguments);

/** MPIX_Get_UPC_numprogs, MPIX_Get_UPC_config. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_numprogs(int *num_progs);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_config(int num_progs, int *my_prog, int num_threads[]);

/** MPI_Init, MPI_Init_thread.
 *
 * @param[in]  name      of the function, for errors
 * @param[in]  required  Open MPI's, or MPIX_THREAD_ATTACH or _REATTACH as there
 * @param[out] provided  likewise, written where that is not libmpi's; may be NULL */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_init(const char *name, int required, int *provided,
                                                 mpix_endpoints_init_fn_t libmpi, void *arguments);

/** MPI_Initialized: what libmpi has said becomes what holds for the calling thread. */
MPIX_ENDPOINTS_CALL void mpix_endpoints_call_initialized(int *flag);

/** MPI_Is_thread_main: the flag, or -1 if libmpi is to be asked. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_is_main(void);

/** MPI_Finalize.  @param[in] libmpi  its own, which may be called later */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_finalize(int (*libmpi)(void));

/** The calling thread is one of that endpoint's, as after MPIX_Thread_attach_index.  Before MPI
 * begins and after it has ended nothing happens: a library may have started the thread late. */
MPIX_ENDPOINTS_CALL void mpix_endpoints_call_enter_endpoint(struct mpix_endpoint_t *endpoint);

/** A rank of libmpix_ranks calls MPI_Finalize, before the process does: attributes of its
 * MPI_COMM_SELF are deleted, messages in its buffer are sent. */
MPIX_ENDPOINTS_CALL void mpix_endpoints_call_end_endpoint(struct mpix_endpoint_t *endpoint);

/** See mpix_endpoints_find_tool_function: a tool behind this library, for libmpix_ranks, which is in
 * front of it. */
MPIX_ENDPOINTS_CALL void *mpix_endpoints_call_tool(const char *name, _Atomic(void *) *found);

/** MPI_Query_thread: the level, or -1 if libmpi is to be asked. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_thread_level(void);

/** May nobody free this handle, which may be none or an invalid one?  Then it is an error, raised
 * by mpix_endpoints_call_refuse_free. */
MPIX_ENDPOINTS_CALL bool mpix_endpoints_call_keeps(MPI_Comm comm);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_refuse_free(MPI_Comm comm, const char *name);

/** MPIX_Thread_attach and its relatives. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_attach(struct mpix_endpoint_t *endpoint);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_attach_level(struct mpix_endpoint_t *endpoint,
                                                         int level);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_detach(void);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_attach_index(int index);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_attach_rank(int rank, MPI_Comm comm);

/** MPIX_Comm_world_set and _get, MPIX_Comm_endpoint_attach, MPIX_Comm_mine. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_world_set(MPI_Comm world);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_world_get(MPI_Comm *world);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_endpoint_attach(MPI_Comm comm);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_mine(MPI_Comm comm, MPI_Comm *mine);

/** Attach the calling thread to the endpoint of a handle; NULL: to none.
 *
 * @param[in] name  of the function, for errors */
int mpix_endpoints_call_bind(MPI_Comm comm, const char *name);

/** The handle that this process has of a valid communicator for the member of a rank, or NULL. */
MPI_Comm mpix_endpoints_call_handle_of(MPI_Comm comm, int rank);

/** libmpix_world or libmpix_ranks is loaded: errors of calls without a communicator are raised on
 * the thread's world from now on, and the next two say which that is.  Before there are threads
 * that are attached.
 *
 * @param[in] if_asp  only in a process begun by chapter 12
 * @param[in] error   called before such an error is raised, with the name of the function that was
 *                    called; may end the job.  NULL: nothing */
MPIX_ENDPOINTS_CALL void mpix_endpoints_call_world_begin(bool if_asp,
                                                         void (*error)(const char *function));

/** What MPI_COMM_WORLD and MPI_COMM_SELF are in the calling thread: itself, where they are the
 * process's.  Any thread, any time. */
MPIX_ENDPOINTS_CALL MPI_Comm mpix_endpoints_call_world(void);
MPIX_ENDPOINTS_CALL MPI_Comm mpix_endpoints_call_world_self(void);

/** Has the calling thread a world of its own, as another endpoint than the process's first? */
MPIX_ENDPOINTS_CALL bool mpix_endpoints_call_is_other(void);

/** Is MPI_Finalize refused, since the thread has a world of its own, and has not begun MPI?  Then it
 * is an error, raised by mpix_endpoints_call_refuse_finalize. */
MPIX_ENDPOINTS_CALL bool mpix_endpoints_call_refuses_finalize(void);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_refuse_finalize(void);

/** MPI_Comm_get_parent of the calling thread's endpoint; NULL: libmpi's, of the process. */
MPIX_ENDPOINTS_CALL MPI_Comm mpix_endpoints_call_parent(void);

/** MPIX_COMM_ENDPOINTS, MPIX_COMM_PROCESS, MPIX_COMM_SELF. */
MPIX_ENDPOINTS_CALL MPI_Comm mpix_endpoints_call_comm_endpoints(void);
MPIX_ENDPOINTS_CALL MPI_Comm mpix_endpoints_call_comm_process(void);
MPIX_ENDPOINTS_CALL MPI_Comm mpix_endpoints_call_comm_self(void);

/** MPIX_Comm_num_endpoints. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_num_endpoints(MPI_Comm comm, int *num_ep, int *index);

/** MPIX_Query_endpoints_number. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_number(MPI_Comm parent, int *optimal, int *maximum);

/** MPIX_Endpoint_create_keyval and its relatives.  Levels are Open MPI's. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_create_keyval(int *keyval);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_free_keyval(int *keyval);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_set_attr(struct mpix_endpoint_t *endpoint, int keyval,
                                                     void *value);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_get_attr(struct mpix_endpoint_t *endpoint, int keyval,
                                                     void *value, int *flag);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_delete_attr(struct mpix_endpoint_t *endpoint,
                                                        int keyval);

/** Likewise, for Fortran: values are integers. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_set_integer(struct mpix_endpoint_t *endpoint,
                                                        int keyval, MPI_Aint value);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_get_integer(struct mpix_endpoint_t *endpoint,
                                                        int keyval, MPI_Aint *value, int *flag);

/** Is it a predefined keyval whose value is a thread level? */
MPIX_ENDPOINTS_CALL bool mpix_endpoints_call_is_level(int keyval);

/** MPIX_Query_endpoints_told; the level is Open MPI's, or -1. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_told(int *number, int *thread_level);

/** MPIX_Endpoints_keyval. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_keyval(void);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_CALLS_H */
