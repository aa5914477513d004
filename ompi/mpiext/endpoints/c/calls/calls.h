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
 * What programs call, and where pml/epml registers (register.c).
 *
 * Here is what the user's functions do, apart from the ABI in which they are called: handles and
 * error codes are Open MPI's own.  libmpix_endpoints has them, with the functions for Open MPI's
 * ABI; libmpix_endpoints_abi (abi.c) has those for the MPI ABI, and calls these.  So this header
 * has none of the layers below in it.
 *
 * Called by programs and pml/epml.  Stands before MPI functions for calls of programs alone; for
 * those of libmpi there are seams.
 *
 * Below it: agree, files, interpose, base.
 */

#ifndef MPIEXT_ENDPOINTS_CALLS_H
#define MPIEXT_ENDPOINTS_CALLS_H

#include "ompi_config.h"

#include <stdbool.h>

#include "mpi.h"

BEGIN_C_DECLS

#define MPIX_ENDPOINTS_CALL OMPI_DECLSPEC

/** MPIX_Comm_create_endpoints, but for the error handler. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_create(MPI_Comm parent, int my_num_ep, MPI_Info info,
                                                   MPI_Comm ep_comms[]);

/** What it returned goes to the error handler, of whichever ABI.  @return what that leaves of it */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_create_raise(MPI_Comm parent, int code);

/** MPIX_Query_endpoints_support, MPIX_Endpoints_error_class. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_query(int *flag);
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_error_class(void);

/** Is MPI_Comm_disconnect of this handle, which may be none or an invalid one, ours? */
MPIX_ENDPOINTS_CALL bool mpix_endpoints_call_disconnects(MPI_Comm comm);

/** MPI_Comm_disconnect of such a handle. */
MPIX_ENDPOINTS_CALL int mpix_endpoints_call_disconnect(MPI_Comm *comm);

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

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_CALLS_H */
