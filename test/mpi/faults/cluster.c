/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Processes on nodes with network stacks of their own (test/lib/cluster): the places of members; a
 * link that has a fault and is well again, in the middle of traffic and without any; and processes
 * that are long not in MPI.  No process dies: all get all messages, right.
 *
 *   --down MS  for how long a link has a fault; the launcher's connections must survive it, too
 *   --fault F  which one, of the switch's: link, mute, address, slow
 *   --idle 1   while nobody talks
 *   --away S   for how many seconds processes are not in MPI, computing and stopped
 *   --torn 1   the network that endpoints take is cut in two: rank 0 sends to rank 1 in vain, and
 *              ends the job (kind "fatal": the runner looks at what is said)
 *   --closed 1 connections of ordinary communicators are closed, and nobody dies: likewise
 *
 * Guards: pml_epml_base_error.c, pml_epml_net.c, btl_epofi_agree.c, btl_epofi_liveness.c,
 * btl_epofi_fabric.c, btl_epofi_lost.c, btl_epofi_net.c, btl_epofi_sockets.c
 */

#include "ept.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAME = 64, SMALL = 97, LARGE = 300000, ROUNDS = 4, TAG = 5 };

/** As many hosts as there should be, the processes by turns; processes of one host share memory:
 * that is what MPI_COMM_TYPE_SHARED says of endpoints. */
static void case_where(MPI_Comm comm, struct ept *t)
{
    enum { HOSTS = 3 };
    char name[NAME] = "", *names = malloc((size_t) t->size * NAME);
    int same = 0, others = 0, size;
    MPI_Comm node;

    EPT_CHECK(t, 0 == gethostname(name, NAME - 1), "no host name");
    EPT_OK(t, MPI_Allgather(name, NAME, MPI_CHAR, names, NAME, MPI_CHAR, comm));
    for (int i = 0; i < t->size; ++i) {
        same += 0 == strcmp(name, names + i * NAME);
        others += i > 0 && 0 != strcmp(names + (i - 1) * NAME, names + i * NAME);
    }
    EPT_EQ(t, t->size / HOSTS, same);
    EPT_EQ(t, t->nprocs - 1, others); /* each process is on another host than the one before it */
    EPT_OK(t, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    EPT_OK(t, MPI_Comm_size(node, &size));
    EPT_EQ(t, same, size);
    EPT_OK(t, MPI_Comm_free(&node));
    free(names);
}

/** To each other rank a message of each size, and from each. */
static void exchange(MPI_Comm comm, struct ept *t, int round)
{
    const int sizes[2] = {SMALL, LARGE};

    for (int shift = 1; shift < t->size; ++shift) {
        const int to = (t->rank + shift) % t->size, from = (t->rank + t->size - shift) % t->size;

        for (int i = 0; i < 2; ++i) {
            const int size = sizes[i];
            unsigned char *out = malloc((size_t) size), *in = calloc(1, (size_t) size);
            MPI_Status status;
            int count;

            ept_phase(t, "round %d, %d bytes to %d and from %d", round, size, to, from);
            ept_fill(out, 0, (size_t) size,
                     ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) to, (uint64_t) round));
            EPT_OK(t, MPI_Sendrecv(out, size, MPI_BYTE, to, TAG, in, size, MPI_BYTE, from, TAG,
                                   comm, &status));
            EPT_OK(t, MPI_Get_count(&status, MPI_BYTE, &count));
            EPT_EQ(t, size, count);
            EPT_FILL(t, in, (size_t) size,
                     ept_mix(t->seed, (uint64_t) from, (uint64_t) t->rank, (uint64_t) round));
            free(out);
            free(in);
        }
    }
}

/** Ask the switch for a link that has a fault for a while. */
static void pull_the_plug(struct ept *t, const char *folder)
{
    char path[512], new[512];
    FILE *file;

    (void) snprintf(path, sizeof(path), "%s/request", folder);
    (void) snprintf(new, sizeof(new), "%s/request.new", folder);
    file = fopen(new, "w");
    EPT_CHECK(t, NULL != file, "cannot ask");
    if (NULL != file) {
        (void) fprintf(file, "ept-b 0 %ld %s\n", ept_option_long("down", 600),
                       ept_option("fault", "link"));
        (void) fclose(file);
        EPT_EQ(t, 0, rename(new, path));
    }
}

/** The link of one node has a fault in the middle of messages of all, or while nobody is in MPI,
 * and is well again: all arrive, once and whole, and so do those afterwards. */
static void case_link(MPI_Comm comm, struct ept *t)
{
    const char *folder = getenv("EPT_CLUSTER");
    int left = ROUNDS, round = 0;
    char path[512];
    struct stat stat_of;

    (void) snprintf(path, sizeof(path), "%s/done", NULL == folder ? "" : folder);
    exchange(comm, t, round++);
    if (0 == t->rank) {
        EPT_CHECK(t, NULL != folder, "no switch");
        pull_the_plug(t, folder);
    }
    while (0 != ept_option_long("idle", 0) && NULL != folder && 0 != stat(path, &stat_of)) {
        (void) usleep(10000);
    }
    while (0 < left) {
        exchange(comm, t, round++);
        /* Rank 0 is where the switch can be heard: some rounds more once the link is back. */
        if (0 == t->rank && (NULL == folder || 0 == stat(path, &stat_of))) {
            --left;
        }
        EPT_OK(t, MPI_Bcast(&left, 1, MPI_INT, 0, comm));
    }
    if (0 == t->rank) {
        EPT_EQ(t, 0, stat(path, &stat_of));
        ept_note("%d rounds", round);
    }
}

/** Not in MPI for so long: stopped, and sent on by a child. */
static void be_stopped(struct ept *t, unsigned int seconds)
{
    const pid_t parent = getpid(), child = fork();

    if (0 == child) {
        (void) sleep(seconds);
        (void) kill(parent, SIGCONT);
        _exit(0);
    }
    EPT_CHECK(t, 0 < child, "fork");
    (void) kill(parent, SIGSTOP);
    EPT_EQ(t, child, waitpid(child, NULL, 0));
}

/** The first process is not in MPI, while all others send to its first rank what is their first
 * message there, and wait for its answer: more connections than its kernel has room for.  Then it
 * is stopped as a whole. */
static void away(MPI_Comm comm, struct ept *t, bool stopped)
{
    const unsigned int seconds = (unsigned int) ept_option_long("away", 0);
    const int own = t->rank + 1000 * stopped;
    int got = -1;

    if (0 == t->proc) {
        if (!stopped) {
            (void) sleep(seconds);
        } else if (0 == t->rank) {
            be_stopped(t, seconds);
        }
        ept_local_barrier(t);
    }
    if (0 == t->rank) {
        for (int i = t->nlocal; i < t->size; ++i) {
            EPT_OK(t, MPI_Recv(&got, 1, MPI_INT, i, TAG, comm, MPI_STATUS_IGNORE));
            EPT_EQ(t, i + 1000 * stopped, got);
            EPT_OK(t, MPI_Send(&got, 1, MPI_INT, i, TAG, comm));
        }
    } else if (0 != t->proc) {
        EPT_OK(t, MPI_Send(&own, 1, MPI_INT, 0, TAG, comm));
        EPT_OK(t, MPI_Recv(&got, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE));
        EPT_EQ(t, own, got);
    }
}

static void case_away(MPI_Comm comm, struct ept *t)
{
    away(comm, t, false);
    away(comm, t, true);
    exchange(comm, t, 0);
}

/** A message that cannot get there: rank 0 has looked often enough once more time has gone than it
 * takes to say so (a second), and ends the job. */
static void case_torn(MPI_Comm comm, struct ept *t)
{
    enum { LATE_LOOKS = 1000 };
    const double start = ept_time();
    MPI_Request request = MPI_REQUEST_NULL;
    char bytes[8] = "";
    int flag, looks = 0;

    if (0 == t->rank) {
        EPT_OK(t, MPI_Issend(bytes, sizeof(bytes), MPI_CHAR, 1, TAG, comm, &request));
    } else if (1 == t->rank) {
        EPT_OK(t, MPI_Irecv(bytes, sizeof(bytes), MPI_CHAR, 0, TAG, comm, &request));
    }
    do {
        looks += 2 < ept_time() - start;
        EPT_OK(t, MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    } while (!flag && (0 != t->rank || LATE_LOOKS > looks));
    printf("%s\n", flag ? "still here: it got there" : "in vain");
    (void) fflush(stdout);
    (void) MPI_Abort(comm, 3);
}

/** Close this process's connections with other hosts, as somebody between them might. */
static int close_connections(void)
{
    enum { MOST = 1024 };
    int closed = 0;

    for (int fd = 3; fd < MOST; ++fd) {
        struct sockaddr_in own, peer;
        socklen_t own_size = sizeof(own), peer_size = sizeof(peer);

        if (0 == getpeername(fd, (struct sockaddr *) &peer, &peer_size)
            && 0 == getsockname(fd, (struct sockaddr *) &own, &own_size)
            && AF_INET == peer.sin_family && own.sin_addr.s_addr != peer.sin_addr.s_addr) {
            closed += 0 == shutdown(fd, SHUT_RDWR);
        }
    }
    return closed;
}

/** Ordinary communicators lose their connections while all live: their PML hears of it, and ends the
 * job. */
static void case_closed(MPI_Comm comm, struct ept *t)
{
    int flag;

    (void) comm;
    if (1 == t->rank) {
        printf("%d connections closed\n", close_connections());
        (void) fflush(stdout);
    }
    for (;;) {
        EPT_OK(t, MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 != ept_option_long("closed", 0)) {
        EPT_CASE(t, case_closed);
    }
    if (0 != ept_option_long("torn", 0)) {
        EPT_CASE(t, case_torn);
    }
    if (0 != ept_option_long("away", 0)) {
        EPT_CASE(t, case_away);
        return 0;
    }
    EPT_CASE(t, case_where);
    if (0 != ept_option_long("down", 0)) {
        EPT_CASE(t, case_link);
    }
    return 0;
}
