/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Network contexts that are there before the first endpoint (pml_epml_reserve): listening sockets
 * of this process, counted before creations, with endpoints, and when these have gone; and the
 * endpoints work.
 *
 *   --more N   so many has the first creation of --num endpoints (4) to open, and none a later one
 *
 * Guards: pml_epml_serve.c, pml_epml_transport.c
 */

#include "ept.h"

#include <dirent.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 8 };

/* Each context of the provider tcp has one of its own. */
static int listening(void)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    int count = 0;

    while (NULL != folder && NULL != (entry = readdir(folder))) {
        int accepts = 0;
        socklen_t size = sizeof(accepts);

        count += 0 == getsockopt(atoi(entry->d_name), SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size)
                 && 0 != accepts;
    }
    if (NULL != folder) {
        closedir(folder);
    }
    return count;
}

static void use_handle(MPI_Comm comm, struct ept *t, int index, void *context)
{
    const int num = *(int *) context;

    ept_use_comm(t, comm, t->proc * num + index, t->nprocs * num);
}

static void case_reserved(MPI_Comm comm, struct ept *t)
{
    const int more = (int) ept_option_long("more", 0), before = listening();
    int num = (int) ept_option_long("num", 4);
    MPI_Comm ep[MOST];

    EPT_CHECK(t, 0 < num && MOST >= num, "%d endpoints", num);
    for (int round = 0; round < 3; ++round) {
        ept_phase(t, "round %d", round);
        EPT_OK(t, MPIX_Comm_create_endpoints(comm, num, MPI_INFO_NULL, ep));
        EPT_EQ(t, more, listening() - before);
        ept_on_each(t, ep, num, use_handle, &num);
        for (int i = 0; i < num; ++i) {
            EPT_OK(t, MPI_Comm_free(&ep[i]));
        }
        EPT_EQ(t, more, listening() - before);
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_reserved);
    return 0;
}
