/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages of 8 KiB from one process to another of the node: they are copied twice or fetched,
 * whichever the receiver has found to be the faster way.  What is fetched is counted in front of
 * process_vm_readv, which can be slow; and fragments are slow if the sender stays away from MPI.
 *
 * Guards: pml_epml_send.c, pml_epml_fetch.c
 */

/* EPT-LIBS: -rdynamic */

#define _GNU_SOURCE

#include "ept.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/** Some are offered whatever is known, the first ones among them, of which TRIAL and fewer decide:
 * what is to be slow there is so by more than a busy machine makes anything.  The others are fewer
 * than there are between two trials. */
enum { BYTES = 8192, LEARN = 32, TRIAL = 12, COPIED = 640, FETCHED = 24, DELAY_US = 80000 };

static atomic_int fetched; /**< messages, by this process */
static atomic_bool slow;

/** In front of libc's. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals,
                         const struct iovec *remote, unsigned long remotes, unsigned long flags)
{
    if (1 == remotes && BYTES == remote[0].iov_len) {
        atomic_fetch_add(&fetched, 1);
        if (atomic_load(&slow)) {
            usleep(DELAY_US);
        }
    }
    return syscall(SYS_process_vm_readv, pid, local, locals, remote, remotes, flags);
}

void test_process_begin(void)
{
    int level;

    (void) MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level);
}

/** @param[in] away  the sender is not in MPI for a while after each of so many sends
 * @return how many of them were fetched; 0 at the sender */
static int stream(MPI_Comm comm, struct ept *t, int count, int away)
{
    static unsigned char data[BYTES];
    const int before = atomic_load(&fetched);

    for (int i = 0; i < count; ++i) {
        if (0 == t->rank) {
            MPI_Request request;

            ept_fill(data, 0, BYTES, (uint64_t) i);
            EPT_OK(t, MPI_Isend(data, BYTES, MPI_BYTE, 1, 1, comm, &request));
            if (i < away) {
                usleep(DELAY_US);
            }
            EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            EPT_OK(t, MPI_Recv(data, BYTES, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE));
            EPT_FILL(t, data, BYTES, (uint64_t) i);
        }
    }
    EPT_OK(t, MPI_Barrier(comm));
    return atomic_load(&fetched) - before;
}

static void case_copied(MPI_Comm comm, struct ept *t)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    unsigned long long messages = 0;
    int index = -1, count;

    atomic_store(&slow, true);
    count = stream(comm, t, LEARN, 0);
    EPT_CHECK(t, 0 == t->rank || 0 < count, "none was fetched");
    EPT_EQ(t, MPI_SUCCESS,
           MPI_T_pvar_get_index("pml_epml_node_messages", MPI_T_PVAR_CLASS_COUNTER, &index));
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_session_create(&session));
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    count = stream(comm, t, COPIED, 0);
    EPT_EQ(t, 0, count); /* which takes longer */
    /* A message of the transport's each; it would be two or more of one that is offered. */
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_read(session, handle, &messages));
    EPT_CHECK(t, 0 < t->rank || COPIED + COPIED / 10 > messages, "%llu messages for %d", messages,
              COPIED);
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_session_free(&session));
}

static void case_fetched(MPI_Comm comm, struct ept *t)
{
    int count;

    atomic_store(&slow, false);
    (void) stream(comm, t, LEARN, TRIAL);
    count = stream(comm, t, FETCHED, 0);
    EPT_EQ(t, 0 == t->rank ? 0 : FETCHED, count);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_copied);
    EPT_CASE(t, case_fetched);
    return 0;
}
