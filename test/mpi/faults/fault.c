/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Faults of the fabric: what is retried, what ends with an error, which ranks it touches, what is
 * said. The roles are in fault.h.
 *
 * Guards: pml_epml_pmix.c, pml_epml_lost.c, pml_epml_liveness.c, pml_epml_connection.c,
 * common_ep_help.c, btl/epofi, pml_epml_fetch.c
 */

/* EPT-LIBS: -ldl */

#include "fault.h"

#include <limits.h>

/* ---- the provider has no room for long ------------------------------------------------------- */

static void again(const char *what)
{
    const double start = MPI_Wtime();
    double took;

    if (0 == rank) {
        fault(what, 0, EAGAIN, 3000);
        if (0 == strcmp(what, "read")) {
            recv_checked(1, LARGE, 3);
        }
        for (int round = 0; round < 50; ++round) {
            send_checked(1, 100, round);
        }
        recv_checked(1, 8, 9);
        took = MPI_Wtime() - start;
        CHECK(2.9 < took, "%.1f s, which is less than 3", took);
    } else if (1 == rank) {
        if (0 == strcmp(what, "read")) {
            send_checked(0, LARGE, 3);
        }
        for (int round = 0; round < 50; ++round) {
            recv_checked(0, 100, round);
        }
        send_checked(0, 8, 9);
    }
    talk(1, 20);
}

static void send_again(void)
{
    again("send");
}

static void read_again(void)
{
    again("read");
}

static void cq_again(void)
{
    again("cq");
}

/** A message that was to wait for its receive, because the receiver was full, finds no room, and
 * the receiver is full no longer when it does.  What the transport gave for it must have gone back
 * when the next message takes its request.  With pml_epml_unexpected_limit 32k. */
static void held_again(void)
{
    enum { SMALL = 1000, COUNT = 100 };
    MPI_Request requests[COUNT], last;

    if (0 == rank) {
        for (int i = 0; i < COUNT; ++i) {
            MPI_Isend(buffer, SMALL, MPI_CHAR, 1, 2, comm, &requests[i]);
        }
        EXPECT(MPI_SUCCESS, MPI_Send(buffer, 8, MPI_CHAR, 1, 3, comm));
        EXPECT(MPI_SUCCESS, MPI_Recv(buffer, 8, MPI_CHAR, 1, 3, comm, MPI_STATUS_IGNORE));
        fault("send", 0, EAGAIN, 1000);
        MPI_Isend(buffer, SMALL, MPI_CHAR, 1, 4, comm, &last);
        EXPECT(MPI_SUCCESS, MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));
        EXPECT(MPI_SUCCESS, MPI_Wait(&last, MPI_STATUS_IGNORE));
        send_checked(1, LARGE, 5);
    } else if (1 == rank) {
        EXPECT(MPI_SUCCESS, MPI_Recv(buffer, 8, MPI_CHAR, 0, 3, comm, MPI_STATUS_IGNORE));
        EXPECT(MPI_SUCCESS, MPI_Send(buffer, 8, MPI_CHAR, 0, 3, comm));
        for (int i = 0; i < COUNT; ++i) {
            EXPECT(MPI_SUCCESS, MPI_Recv(buffer, SMALL, MPI_CHAR, 0, 2, comm, MPI_STATUS_IGNORE));
        }
        EXPECT(MPI_SUCCESS, MPI_Recv(buffer, SMALL, MPI_CHAR, 0, 4, comm, MPI_STATUS_IGNORE));
        recv_checked(0, LARGE, 5);
    }
    talk(1, 20);
}

/** A piece of a partitioned message is being fetched for so long that its sender is asked whether
 * it is still there: the piece's, not that of the request's last user, which is not even in the
 * communicator.  With pml_epml_liveness_interval 200. */
static void asked(void)
{
    MPI_Comm pair;
    MPI_Request request;

    EXPECT(MPI_SUCCESS, MPI_Comm_split(comm, 2 == rank ? MPI_UNDEFINED : 0, rank, &pair));
    if (0 == rank) {
        MPI_Precv_init(buffer, 1, LARGE, MPI_CHAR, 1, 2, pair, MPI_INFO_NULL, &request);
        recv_checked(2, 8, 1);
        fault("read", 0, EAGAIN, 1000);
        MPI_Start(&request);
        EXPECT(MPI_SUCCESS, MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI_Request_free(&request);
    } else if (1 == rank) {
        MPI_Psend_init(buffer, 1, LARGE, MPI_CHAR, 0, 2, pair, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
        EXPECT(MPI_SUCCESS, MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI_Request_free(&request);
    } else {
        send_checked(0, 8, 1);
    }
    if (MPI_COMM_NULL != pair) {
        MPI_Comm_free(&pair);
    }
    talk(1, 20);
}

/* ---- operations that fail -------------------------------------------------------------------- */

static void sent(void)
{
    if (0 == rank) {
        fault("sent", 1, ECONNRESET, 0);
        EXPECT(MPI_SUCCESS, MPI_Send(buffer, 8, MPI_CHAR, 1, 2, comm));
        expect_lost(1);
    } else if (1 == rank) {
        /* What had arrived is received. */
        EXPECT(MPI_SUCCESS, MPI_Recv(buffer, 8, MPI_CHAR, 0, 2, comm, MPI_STATUS_IGNORE));
        expect_lost(0);
    }
}

static void send_error(void)
{
    if (0 == rank) {
        fault("send", 1, EIO, 0);
        EXPECT(MPI_ERR_PROC_FAILED, MPI_Send(buffer, 8, MPI_CHAR, 1, 2, comm));
        expect_lost(1);
    } else if (1 == rank) {
        expect_lost(0);
    }
}

/** No route, no answer, or no listener, in the view of the kernel, which may pass; the launcher
 * says that the peer lives. */
static void route(void)
{
    static const int errors[] = {EHOSTUNREACH,  ENETUNREACH,  ETIMEDOUT, ENETDOWN,
                                 EADDRNOTAVAIL, ECONNREFUSED, ECONNRESET};

    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); ++i) {
        if (0 == rank) {
            fault("send", 20, errors[i], 0);
            send_checked(1, 8, (int) i);
        } else if (1 == rank) {
            recv_checked(0, 8, (int) i);
        }
    }
    talk(1, 20);
}

/** A host where nobody accepts a connection, from before the first one, though its processes live:
 * as behind a firewall that rejects. */
static void rejected(void)
{
    if (0 == rank) {
        fault("send", 0, ECONNREFUSED, 20000);
        EXPECT(MPI_ERR_PROC_FAILED, MPI_Send(buffer, 8, MPI_CHAR, 1, 2, comm));
        fault("send", 0, 0, 0);
    }
}

/** Rank 0 begins its first message to rank 1, and computes for longer than a connection was once
 * left alone; rank 1 is in MPI, and waits for rank 2. */
static void silent(void)
{
    MPI_Request request;

    buffer[0] = 'a';
    if (0 == rank) {
        CHECK(MPI_SUCCESS == MPI_Isend(buffer, 1, MPI_CHAR, 1, 2, comm, &request), "Isend");
        (void) sleep(35);
        CHECK(MPI_SUCCESS == MPI_Wait(&request, MPI_STATUS_IGNORE), "Wait");
    } else if (2 == rank) {
        (void) sleep(37);
        CHECK(MPI_SUCCESS == MPI_Send(buffer, 1, MPI_CHAR, 1, 2, comm), "Send");
    } else {
        for (int from = 2; 0 <= from; from -= 2) {
            buffer[0] = 'b';
            CHECK(MPI_SUCCESS == MPI_Recv(buffer, 1, MPI_CHAR, from, 2, comm, MPI_STATUS_IGNORE)
                      && 'a' == buffer[0],
                  "message of rank %d", from);
        }
    }
    talk(1, 20);
}

/** Data cannot be fetched, but the peer is there. */
static void fetched(void)
{
    if (0 == rank) {
        fault("fetched", 1, EIO, 0);
        EXPECT(MPI_ERR_OTHER, MPI_Recv(buffer, LARGE, MPI_CHAR, 1, 2, comm, MPI_STATUS_IGNORE));
    } else if (1 == rank) {
        EXPECT(MPI_ERR_OTHER, MPI_Send(buffer, LARGE, MPI_CHAR, 0, 2, comm));
    }
    talk(1, 20);
}

/** More receives fail than there are buffers: they are posted again, and others go on (main).
 * Their messages are lost, which the numbers of those that follow tell. */
static void received(void)
{
    const int count = 12;

    if (0 == rank) {
        fault("received", count, EIO, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (1 == rank) {
        for (int i = 0; i < count; ++i) {
            int flag;

            EXPECT(MPI_SUCCESS, MPI_Send(buffer, 8, MPI_CHAR, 0, NEVER, comm));
            /* Each by itself: the last one has gone, and it is known. */
            EXPECT(MPI_SUCCESS, MPI_Iprobe(0, NEVER, comm, &flag, MPI_STATUS_IGNORE));
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == rank) {
        while (0 < fault("left", 0, 0, 0)) {
            look_at(1);
        }
        look_at(1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (2 > rank) {
        expect_lost(1 - rank);
    }
}

static void insert(void)
{
    if (0 == rank) {
        fault("insert", 1, EINVAL, 0);
        EXPECT(MPI_ERR_OTHER, MPI_Send(buffer, 8, MPI_CHAR, 1, 2, comm));
    }
    talk(1, 20);
}

/* ---- the queue itself ------------------------------------------------------------------------ */

static void cq_recovers(void)
{
    if (0 == rank) {
        fault("cq", 0, EIO, 1000);
    }
    talk(1, 40);
}

static void broken(const char *what)
{
    if (0 == rank) {
        fault(what, INT_MAX, EIO, 0);
        expect_lost(1);
        expect_lost(2);
    }
}

static void cq_broken(void)
{
    broken("cq");
}

static void readerr_broken(void)
{
    broken("readerr");
}

/** It breaks while the endpoint has no communicator that needs it.  A new one, made over the
 * processes, must know. */
static void broken_before(void)
{
    MPI_Comm alone, inter = MPI_COMM_NULL;
    int flag;

    EXPECT(MPI_SUCCESS, MPI_Comm_split(comm, rank, 0, &alone));
    MPI_Comm_free(&comm);
    comm = alone;
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == rank) {
        fault("cq", INT_MAX, EIO, 0);
        for (double stop = MPI_Wtime() + 4; MPI_Wtime() < stop;) {
            MPI_Iprobe(0, NEVER, comm, &flag, MPI_STATUS_IGNORE);
        }
    }
    if (2 > rank) {
        EXPECT(MPI_SUCCESS, MPI_Intercomm_create(alone, 0, MPI_COMM_WORLD, 1 - rank, 5, &inter));
    }
    if (0 == rank && MPI_COMM_NULL != inter) {
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        EXPECT(MPI_ERR_PROC_FAILED,
               MPI_Recv(buffer, 8, MPI_CHAR, 0, NEVER, inter, MPI_STATUS_IGNORE));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (MPI_COMM_NULL != inter) {
        MPI_Comm_free(&inter);
    }
}

/* ---- the connection -------------------------------------------------------------------------- */

static volatile sig_atomic_t is_reset;

static void on_reset(int signal)
{
    (void) signal;
    is_reset = 1;
}

/** It breaks while messages are on their way that the peer has not taken: it stays out of MPI until
 * a signal tells it. */
static void reset(void)
{
    MPI_Request requests[PIECES];
    int taker = (int) getpid();

    (void) signal(SIGUSR1, on_reset);
    MPI_Bcast(&taker, 1, MPI_INT, 1, MPI_COMM_WORLD);
    if (0 == rank) {
        for (int i = 0; i < PIECES; ++i) {
            MPI_Isend(buffer, PIECE, MPI_CHAR, 1, 2, comm, &requests[i]);
        }
        look_at(2);
        CHECK(0 < fault("reset", 1, 0, 0), "there is no connection to reset");
        (void) kill((pid_t) taker, SIGUSR1);
        /* Those that were buffered are done, the others fail. */
        (void) MPI_Waitall(PIECES, requests, MPI_STATUSES_IGNORE);
        expect_lost(1);
    } else if (1 == rank) {
        int rc, got = 0;

        while (!is_reset) {
            usleep(1000);
        }
        while (MPI_SUCCESS
               == (rc = MPI_Recv(buffer, PIECE, MPI_CHAR, 0, 2, comm, MPI_STATUS_IGNORE))) {
            ++got;
        }
        CHECK(MPI_ERR_PROC_FAILED == class_of(rc), "class %d after %d messages", class_of(rc), got);
        CHECK(PIECES > got, "nothing was lost");
        expect_lost(0);
    }
}

static const struct fault_case faults[] = {
    {"send_again", send_again, false, false},
    {"read_again", read_again, false, false},
    {"cq_again", cq_again, false, false},
    {"held_again", held_again, false, false},
    {"asked", asked, false, false},
    {"sent", sent, false, false},
    {"send_error", send_error, false, false},
    {"route", route, false, false},
    {"rejected", rejected, true, true},
    {"silent", silent, true, false},
    {"fetched", fetched, false, false},
    {"received", received, false, false},
    {"insert", insert, true, false},
    {"cq_recovers", cq_recovers, false, false},
    {"cq_broken", cq_broken, false, true},
    {"readerr_broken", readerr_broken, false, true},
    {"broken_before", broken_before, false, true},
    {"reset", reset, false, false},
};

int main(int argc, char **argv)
{
    return fault_main(argc, argv, faults, sizeof(faults) / sizeof(faults[0]));
}
