/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * For tsan.t: a program without a race.  Each case hands data over between endpoints of a process by
 * one way that MPI has: somebody writes into tables, MPI is called, and somebody else reads them.
 * Nothing but the case's own call orders the one before the other; a barrier stands behind each case.
 *
 * Usage: tsan_right; one process or two, 3 endpoints each.
 */

#include "tsan_right.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int table[64][ENTRIES];
static MPI_Comm ep[EP];
static int processes, first; /* first: rank of the process's endpoint 0 */

static void fail(const rank_t *rank, const char *what)
{
    fprintf(stderr, "rank %d, step %d: wrong data %s\n", rank->me, rank->step, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Of one rank's table. */
void write_table(const rank_t *rank, int of)
{
    if (rank->here[of]) {
        for (int i = 0; i < ENTRIES; ++i) {
            table[of][i] = rank->step + i;
        }
    }
}

void read_table(const rank_t *rank, int of, const char *what)
{
    for (int i = 0; rank->here[of] && i < ENTRIES; ++i) {
        if (table[of][i] != rank->step + i) {
            fail(rank, what);
        }
    }
}

/* ---- messages: from the process's endpoint 0 to its endpoint 1 ---------------------------------- */

typedef void way_t(const rank_t *rank, int peer, int count);

void done(int rc)
{
    if (MPI_SUCCESS != rc) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

#define DATA rank->data, count, MPI_INT, peer, 5
#define SENDS(name, call)                                     \
    static void name(const rank_t *rank, int peer, int count) \
    {                                                         \
        done(call(DATA, rank->comm));                         \
    }
SENDS(send, MPI_Send)
SENDS(ssend, MPI_Ssend)
static void recv(const rank_t *rank, int peer, int count)
{
    done(MPI_Recv(DATA, rank->comm, MPI_STATUS_IGNORE));
}
static void rsend(const rank_t *rank, int peer, int count)
{
    done(MPI_Recv(NULL, 0, MPI_INT, peer, 6, rank->comm, MPI_STATUS_IGNORE));
    done(MPI_Rsend(DATA, rank->comm));
}
static void ready_recv(const rank_t *rank, int peer, int count)
{
    MPI_Request request;

    done(MPI_Irecv(DATA, rank->comm, &request));
    done(MPI_Send(NULL, 0, MPI_INT, peer, 6, rank->comm));
    done(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
static void bsend(const rank_t *rank, int peer, int count)
{
    int size = count * (int) sizeof(int) + MPI_BSEND_OVERHEAD;
    void *buffer = malloc((size_t) size);

    done(MPI_Buffer_attach(buffer, size));
    done(MPI_Bsend(DATA, rank->comm));
    done(MPI_Buffer_detach(&buffer, &size));
    free(buffer);
}

/* Nonblocking ones, ended in every way. */
static void end(MPI_Request *request, int how)
{
    MPI_Request list[2] = {MPI_REQUEST_NULL, *request};
    int flag = 0, index = 0, indices[2], out = 0;

    *request = MPI_REQUEST_NULL;
    switch (how) {
    case 0:
        done(MPI_Wait(&list[1], MPI_STATUS_IGNORE));
        return;
    case 1:
        done(MPI_Waitall(2, list, MPI_STATUSES_IGNORE));
        return;
    case 2:
        done(MPI_Waitany(2, list, &index, MPI_STATUS_IGNORE));
        return;
    case 3:
        done(MPI_Waitsome(2, list, &out, indices, MPI_STATUSES_IGNORE));
        return;
    default:
        break;
    }
    while (!flag) {
        switch (how) {
        case 4:
            done(MPI_Test(&list[1], &flag, MPI_STATUS_IGNORE));
            break;
        case 5:
            done(MPI_Testall(2, list, &flag, MPI_STATUSES_IGNORE));
            break;
        case 6:
            done(MPI_Testany(2, list, &index, &flag, MPI_STATUS_IGNORE));
            break;
        case 7:
            done(MPI_Testsome(2, list, &out, indices, MPI_STATUSES_IGNORE));
            flag = 1 == out;
            break;
        default:
            done(MPI_Request_get_status(list[1], &flag, MPI_STATUS_IGNORE));
            break;
        }
    }
    if (8 == how) {
        done(MPI_Request_free(&list[1]));
    }
}
#define ENDED(how)                                                  \
    static void isend##how(const rank_t *rank, int peer, int count) \
    {                                                               \
        MPI_Request request;                                        \
                                                                    \
        done(MPI_Isend(DATA, rank->comm, &request));                \
        end(&request, how);                                         \
    }                                                               \
    static void irecv##how(const rank_t *rank, int peer, int count) \
    {                                                               \
        MPI_Request request;                                        \
                                                                    \
        done(MPI_Irecv(DATA, rank->comm, &request));                \
        end(&request, how);                                         \
    }
ENDED(0)
ENDED(1)
ENDED(2) ENDED(3) ENDED(4) ENDED(5) ENDED(6) ENDED(7)
    ENDED(8) static void issend(const rank_t *rank, int peer, int count)
{
    MPI_Request request;

    done(MPI_Issend(DATA, rank->comm, &request));
    end(&request, 0);
}

/* The probe alone is an order. */
static void seen(const rank_t *rank)
{
    read_table(rank, first, "behind a probe");
}
static void probe(const rank_t *rank, int peer, int count)
{
    done(MPI_Probe(peer, 5, rank->comm, MPI_STATUS_IGNORE));
    seen(rank);
    recv(rank, peer, count);
}
static void iprobe(const rank_t *rank, int peer, int count)
{
    for (int flag = 0; !flag;) {
        done(MPI_Iprobe(peer, 5, rank->comm, &flag, MPI_STATUS_IGNORE));
    }
    seen(rank);
    recv(rank, peer, count);
}
static void mprobe(const rank_t *rank, int peer, int count)
{
    MPI_Message message;

    done(MPI_Mprobe(peer, 5, rank->comm, &message, MPI_STATUS_IGNORE));
    seen(rank);
    done(MPI_Mrecv(rank->data, count, MPI_INT, &message, MPI_STATUS_IGNORE));
}
static void improbe(const rank_t *rank, int peer, int count)
{
    MPI_Message message;
    MPI_Request request;

    for (int flag = 0; !flag;) {
        done(MPI_Improbe(peer, 5, rank->comm, &flag, &message, MPI_STATUS_IGNORE));
    }
    seen(rank);
    done(MPI_Imrecv(rank->data, count, MPI_INT, &message, &request));
    end(&request, 4);
}

#define PERSISTENT(name, init, start)                         \
    static void name(const rank_t *rank, int peer, int count) \
    {                                                         \
        MPI_Request request;                                  \
                                                              \
        done(init(DATA, rank->comm, &request));               \
        done(start);                                          \
        done(MPI_Wait(&request, MPI_STATUS_IGNORE));          \
        done(MPI_Request_free(&request));                     \
    }
PERSISTENT(send_init, MPI_Send_init, MPI_Start(&request))
PERSISTENT(send_init_all, MPI_Send_init, MPI_Startall(1, &request))
PERSISTENT(recv_init, MPI_Recv_init, MPI_Start(&request))
PERSISTENT(ssend_init, MPI_Ssend_init, MPI_Start(&request))

static void sendrecv(const rank_t *rank, int peer, int count)
{
    done(MPI_Sendrecv(DATA, rank->data + LONG, count, MPI_INT, peer, 5, rank->comm,
                      MPI_STATUS_IGNORE));
}
static void sendrecv_replace(const rank_t *rank, int peer, int count)
{
    done(MPI_Sendrecv_replace(DATA, peer, 5, rank->comm, MPI_STATUS_IGNORE));
}
static void isendrecv(const rank_t *rank, int peer, int count)
{
    MPI_Request request;

    done(MPI_Isendrecv(DATA, rank->data + LONG, count, MPI_INT, peer, 5, rank->comm, &request));
    end(&request, 0);
}
static void isendrecv_replace(const rank_t *rank, int peer, int count)
{
    MPI_Request request;

    done(MPI_Isendrecv_replace(DATA, peer, 5, rank->comm, &request));
    end(&request, 5);
}

static void psend(const rank_t *rank, int peer, int count)
{
    MPI_Request request;
    int list[] = {3};

    done(MPI_Psend_init(rank->data, 4, count / 4, MPI_INT, peer, 5, rank->comm, MPI_INFO_NULL,
                        &request));
    done(MPI_Start(&request));
    write_table(rank, first);
    done(MPI_Pready(0, request));
    done(MPI_Pready_range(1, 2, request));
    done(MPI_Pready_list(1, list, request));
    done(MPI_Wait(&request, MPI_STATUS_IGNORE));
    done(MPI_Request_free(&request));
}
static void precv(const rank_t *rank, int peer, int count)
{
    MPI_Request request;

    done(MPI_Precv_init(rank->data, 4, count / 4, MPI_INT, peer, 5, rank->comm, MPI_INFO_NULL,
                        &request));
    done(MPI_Start(&request));
    for (int flag = 0; !flag;) {
        done(MPI_Parrived(request, 2, &flag));
    }
    read_table(rank, first, "behind a partition");
    done(MPI_Wait(&request, MPI_STATUS_IGNORE));
    done(MPI_Request_free(&request));
}

/* On a communicator of the process, which both threads use as one rank. */
static void send_self(const rank_t *rank, int peer, int count)
{
    (void) peer;
    done(MPI_Send(rank->data, count, MPI_INT, 0, 5, MPI_COMM_SELF));
}
static void recv_self(const rank_t *rank, int peer, int count)
{
    (void) peer;
    done(MPI_Recv(rank->data, count, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE));
}

/* By way of an endpoint of the other process. */
static void send_far(const rank_t *rank, int peer, int count)
{
    (void) peer;
    done(MPI_Send(rank->data, count, MPI_INT, (rank->me + EP + 2) % rank->size, 5, rank->comm));
}
static void recv_far(const rank_t *rank, int peer, int count)
{
    (void) peer;
    done(MPI_Recv(rank->data, count, MPI_INT, (rank->me + EP + 1) % rank->size, 5, rank->comm,
                  MPI_STATUS_IGNORE));
}
static void pass_far(const rank_t *rank, int count)
{
    const int from = (rank->me + rank->size - EP - 2) % rank->size;

    done(MPI_Recv(rank->data, count, MPI_INT, from, 5, rank->comm, MPI_STATUS_IGNORE));
    done(MPI_Send(rank->data, count, MPI_INT, from + 1, 5, rank->comm));
}

static const struct {
    const char *name;
    way_t *from, *to;
    bool back; /* the receiver's call orders before the sender's end, too */
    bool far;  /* needs two processes */
} ways[] = {
    {"MPI_Send", send, recv, false, false},
    {"MPI_Ssend", ssend, recv, true, false},
    {"MPI_Rsend", rsend, ready_recv, true, false},
    {"MPI_Bsend", bsend, recv, false, false},
    {"MPI_Wait", isend0, irecv0, false, false},
    {"MPI_Waitall", isend1, irecv1, false, false},
    {"MPI_Waitany", isend2, irecv2, false, false},
    {"MPI_Waitsome", isend3, irecv3, false, false},
    {"MPI_Test", isend4, irecv4, false, false},
    {"MPI_Testall", isend5, irecv5, false, false},
    {"MPI_Testany", isend6, irecv6, false, false},
    {"MPI_Testsome", isend7, irecv7, false, false},
    {"MPI_Request_get_status", isend8, irecv8, false, false},
    {"MPI_Issend", issend, recv, true, false},
    {"MPI_Issend, MPI_Irecv", issend, irecv0, true, false},
    {"MPI_Probe", send, probe, false, false},
    {"MPI_Iprobe", send, iprobe, false, false},
    {"MPI_Mprobe", send, mprobe, false, false},
    {"MPI_Improbe", send, improbe, false, false},
    {"MPI_Ssend, MPI_Mrecv", ssend, mprobe, true, false},
    {"MPI_Start", send_init, recv_init, false, false},
    {"MPI_Startall", send_init_all, recv, false, false},
    {"MPI_Ssend_init", ssend_init, recv_init, true, false},
    {"MPI_Sendrecv", sendrecv, sendrecv, true, false},
    {"MPI_Sendrecv_replace", sendrecv_replace, sendrecv_replace, true, false},
    {"MPI_Isendrecv", isendrecv, isendrecv, true, false},
    {"MPI_Isendrecv_replace", isendrecv_replace, isendrecv_replace, true, false},
    {"MPI_Pready", psend, precv, false, false},
    {"MPI_COMM_SELF", send_self, recv_self, false, false},
    {"another process", send_far, recv_far, false, true},
};

static void messages(rank_t *rank)
{
    const int counts[] = {4, LONG};

    for (int i = 0; i < (int) (sizeof(ways) / sizeof(ways[0])); ++i) {
        for (int long_one = 0; long_one < 2; ++long_one) {
            const int me = rank->index;

            ++rank->step;
            if (!ways[i].far || 1 < processes) {
                if (0 == me) {
                    write_table(rank, first);
                    ways[i].from(rank, first + 1, counts[long_one]);
                    if (ways[i].back) {
                        read_table(rank, first + 1, ways[i].name);
                    }
                } else if (1 == me) {
                    if (ways[i].back) {
                        write_table(rank, first + 1);
                    }
                    ways[i].to(rank, first, counts[long_one]);
                    read_table(rank, first, ways[i].name);
                } else if (ways[i].far) {
                    pass_far(rank, counts[long_one]);
                }
            }
            done(MPI_Barrier(rank->comm));
        }
    }
}

/* ---- generalized requests ----------------------------------------------------------------------- */

static int query(void *state, MPI_Status *status)
{
    (void) state;
    done(MPI_Status_set_elements(status, MPI_INT, 0));
    return MPI_SUCCESS;
}
static int nothing(void *state)
{
    (void) state;
    return MPI_SUCCESS;
}
static int no_cancel(void *state, int complete)
{
    (void) state;
    (void) complete;
    return MPI_SUCCESS;
}

/* The process's endpoint 1 waits, 0 completes. */
static void generalized(rank_t *rank)
{
    static MPI_Request request;

    ++rank->step;
    if (1 == rank->index) {
        done(MPI_Grequest_start(query, nothing, no_cancel, NULL, &request));
        send(rank, first, 1);
        done(MPI_Wait(&(MPI_Request){request}, MPI_STATUS_IGNORE));
        read_table(rank, first, "behind a generalized request");
    } else if (0 == rank->index) {
        recv(rank, first + 1, 1);
        write_table(rank, first);
        done(MPI_Grequest_complete(request));
    }
    done(MPI_Barrier(rank->comm));
}

/* ------------------------------------------------------------------------------------------------- */

static void *run(void *argument)
{
    rank_t rank = {.index = (int) (size_t) argument};
    int periodic = 1;

    rank.comm = ep[rank.index];
    MPI_Comm_rank(rank.comm, &rank.me);
    MPI_Comm_size(rank.comm, &rank.size);
    for (int i = 0; i < rank.size; ++i) {
        rank.here[i] = first <= i && i < first + EP;
    }
    rank.data = calloc(2 * LONG, sizeof(int));
    done(MPI_Cart_create(rank.comm, 1, &rank.size, &periodic, 0, &rank.ring));
    messages(&rank);
    collectives(&rank, 4);
    collectives(&rank, LONG / 16);
    generalized(&rank);
    windows(&rank);
    free(rank.data);
    done(MPI_Comm_free(&rank.ring));
    done(MPI_Comm_free(&ep[rank.index]));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[EP];
    int level, process;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    first = process * EP;
    collectives_begin();
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, EP, MPI_INFO_NULL, ep);
    for (size_t i = 0; i < EP; ++i) {
        pthread_create(&threads[i], NULL, run, (void *) i);
    }
    for (int i = 0; i < EP; ++i) {
        pthread_join(threads[i], NULL);
    }
    collectives_end();
    MPI_Finalize();
    printf("right\n");
    return 0;
}
