/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Data that cannot be packed (test/lib/fail_pack.c): the send and the receive end with an error, at
 * whatever piece it happens, and before the first one; and the next message comes.
 *
 * EPT-LIBS: -ldl
 *
 * Guards: pml_epml_recv.c, pml_epml_send.c, btl_epshm_copy.h
 */

#define _GNU_SOURCE

#include "ept.h"

#include <dlfcn.h>

enum { TAG = 3, SMALL = 50, LARGE = 1 << 20 };

static void (*fail_pack)(long n), (*fail_prepare)(long n);

void test_process_begin(void)
{
    *(void **) &fail_pack = dlsym(RTLD_DEFAULT, "ept_fail_pack");
    *(void **) &fail_prepare = dlsym(RTLD_DEFAULT, "ept_fail_prepare");
}

/** One message with gaps, or a round of a partitioned one.
 * @param[in] at  the call that fails; -1: none can be begun */
static void message(MPI_Comm comm, struct ept *t, MPI_Datatype type, int count, bool parts, long at)
{
    unsigned char *buffer = calloc(2, (size_t) count);
    MPI_Request request;
    int rc, class = MPI_SUCCESS;

    ept_phase(t, "%d bytes, call %ld%s", count, at, parts ? ", partitioned" : "");
    if (0 == t->rank) {
        memset(buffer, 7, 2 * (size_t) count);
    }
    EPT_OK(t, MPI_Barrier(comm));
    if (parts) {
        EPT_OK(t,
               0 == t->rank
                   ? MPI_Psend_init(buffer, 1, count, type, 1, TAG, comm, MPI_INFO_NULL, &request)
                   : MPI_Precv_init(buffer, 1, count, type, 0, TAG, comm, MPI_INFO_NULL, &request));
        EPT_OK(t, MPI_Start(&request));
    }
    if (0 == t->rank) {
        fail_pack(0 < at ? at : 0);
        fail_prepare(0 > at ? 1 : 0);
        if (parts) {
            EPT_OK(t, MPI_Pready(0, request));
        } else {
            EPT_OK(t, MPI_Isend(buffer, count, type, 1, TAG, comm, &request));
        }
    } else if (!parts) {
        EPT_OK(t, MPI_Irecv(buffer, count, type, 0, TAG, comm, &request));
    }
    rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Error_class(rc, &class);
    if (0 == t->rank) {
        fail_pack(0);
        fail_prepare(0);
    }
    if (0 != at) {
        EPT_CHECK(t, MPI_ERR_OTHER == class, "class %d", class);
    } else {
        EPT_EQ(t, MPI_SUCCESS, class);
        for (int i = 0; i < count; ++i) {
            EPT_EQ(t, 7, buffer[2 * i]);
        }
    }
    if (parts && MPI_REQUEST_NULL != request) {
        EPT_OK(t, MPI_Request_free(&request));
    }
    free(buffer);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    MPI_Datatype gaps;

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    EPT_OK(t, MPI_Type_create_resized(MPI_BYTE, 0, 2, &gaps));
    EPT_OK(t, MPI_Type_commit(&gaps));
    for (int parts = 0; parts < 2; ++parts) {
        message(comm, t, gaps, SMALL, parts, 1);
        message(comm, t, gaps, SMALL, parts, 0);
        message(comm, t, gaps, LARGE, parts, 1);
        message(comm, t, gaps, LARGE, parts, 3);
        message(comm, t, gaps, LARGE, parts, 0);
        message(comm, t, gaps, SMALL, parts, -1);
        message(comm, t, gaps, LARGE, parts, -1);
        message(comm, t, gaps, LARGE, parts, 0);
    }
    EPT_OK(t, MPI_Type_free(&gaps));
    return 0;
}
