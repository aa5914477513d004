/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The profiling interface: a tool that defines MPIX_Comm_create_endpoints is called instead of
 * ours, and reaches ours as PMPIX_Comm_create_endpoints.
 *
 * Guards: comm_create_endpoints.c, next_function.c
 */

#include "ept.h"

#if defined(HAVE_EP)

static atomic_int intercepted;
static atomic_int intercepted_num;

int MPIX_Comm_create_endpoints(MPI_Comm parent, int my_num_ep, MPI_Info info, MPI_Comm ep_comms[])
{
    atomic_fetch_add(&intercepted, 1);
    atomic_fetch_add(&intercepted_num, my_num_ep);
    return PMPIX_Comm_create_endpoints(parent, my_num_ep, info, ep_comms);
}

static void case_intercepted(MPI_Comm comm, struct ept *t)
{
    /* By the harness, for the communicator in use now. */
    EPT_EQ(t, 1, atomic_load(&intercepted));
    EPT_EQ(t, t->nlocal, atomic_load(&intercepted_num));
    ept_use_comm(t, comm, t->rank, t->size);
}

#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
#if defined(HAVE_EP)
    if (t->endpoints) {
        EPT_CASE(t, case_intercepted);
        return 0;
    }
#endif
    ept_skip(t, "intercepted", "needs endpoints");
    return 0;
}
