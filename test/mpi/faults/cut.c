/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Whatever ends a connection between two that live, in whatever state: the messages of both
 * arrive, or both get errors, and neither waits.  And: no descriptors for a connection; connections
 * on which nobody talks.  The part of each rank is in fault.h.
 *
 * Guards: pml_epml_cid_message.c, pml_epml_leave.c, pml_epml_left.c, pml_epml_lost.c, pml_epml_rndv_cancel.c,
 * pml_epml_connection.c, btl/epofi, pml_epml_cid.c, pml_epml_fetch.c
 */

/* EPT-LIBS: -ldl */

#define _GNU_SOURCE /* RTLD_NEXT */

#include "fault.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static int (*cut)(const char *event, int count, const char *action, int address);

/** The first error of a rank's calls, and the peers of the calls. */
static int first_error;

#define TRY(call)                                                       \
    do {                                                                \
        int try_rc = MPI_SUCCESS == first_error ? (call) : MPI_SUCCESS; \
        first_error = MPI_SUCCESS == try_rc ? first_error : try_rc;     \
    } while (0)

static void order(const char *event, int count, const char *action)
{
    *(void **) &cut = dlsym(RTLD_DEFAULT, "ept_cut");
    if (0 == rank) {
        CHECK(0 < cut(event, count, action, 1), "nothing to cut");
    }
}

/* ---- what they are at ------------------------------------------------------------------------ */

enum { EAGER = 8, HALF = 60000, ROUNDS = 6 };

static void check_data(int round, int size)
{
    int wrong = 0;

    for (int i = 0; MPI_SUCCESS == first_error && i < size; ++i) {
        wrong += pattern(round, i) != buffer[i];
    }
    CHECK(0 == wrong, "round %d: %d of %d bytes wrong", round, wrong, size);
}

static void fill(int round, int size)
{
    for (int i = 0; i < size; ++i) {
        buffer[i] = pattern(round, i);
    }
}

/** Ranks 0 and 1 send each other messages of a size by turns. */
static void turns(int size)
{
    for (int round = 0; round < ROUNDS; ++round) {
        const bool sends = rank == round % 2;

        if (sends) {
            fill(round, size);
            TRY(MPI_Send(buffer, size, MPI_CHAR, 1 - rank, 1, comm));
        } else {
            TRY(MPI_Recv(buffer, size, MPI_CHAR, 1 - rank, 1, comm, MPI_STATUS_IGNORE));
            check_data(round, size);
        }
    }
}

static void eager(void)
{
    turns(EAGER);
}

/** Ten messages at once, of which the last ones travel together. */
static void ten(void)
{
    enum { TEN = 10 };
    MPI_Request requests[TEN];
    int flag;

    for (int i = 0; i < 4; ++i) { /* so that nothing is under way when the first one leaves */
        TRY(MPI_Iprobe(1 - rank, NEVER, comm, &flag, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < TEN && 0 == rank; ++i) {
        TRY(MPI_Isend(buffer, EAGER, MPI_CHAR, 1, 1, comm, &requests[i]));
    }
    if (0 == rank) {
        TRY(MPI_Waitall(TEN, requests, MPI_STATUSES_IGNORE));
        TRY(MPI_Recv(buffer, EAGER, MPI_CHAR, 1, 1, comm, MPI_STATUS_IGNORE));
        return;
    }
    for (int i = 0; i < TEN; ++i) {
        TRY(MPI_Recv(buffer, EAGER, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE));
        CHECK(MPI_SUCCESS != first_error || 2 > i, "message %d was in the packet", i);
    }
    TRY(MPI_Send(buffer, EAGER, MPI_CHAR, 0, 1, comm));
}

static void halves(void)
{
    turns(HALF);
}

static void large(void)
{
    turns(LARGE);
}

static void partitioned(void)
{
    enum { PARTITIONS = 4 };
    MPI_Request request;

    if (1 == rank) {
        fill(3, LARGE);
        MPI_Psend_init(buffer, PARTITIONS, LARGE / PARTITIONS, MPI_CHAR, 0, 2, comm, MPI_INFO_NULL,
                       &request);
        MPI_Start(&request);
        for (int i = 0; i < PARTITIONS; ++i) {
            TRY(MPI_Pready(i, request));
        }
    } else {
        MPI_Precv_init(buffer, PARTITIONS, LARGE / PARTITIONS, MPI_CHAR, 1, 2, comm, MPI_INFO_NULL,
                       &request);
        MPI_Start(&request);
    }
    first_error = MPI_SUCCESS == first_error ? MPI_Wait(&request, MPI_STATUS_IGNORE) : first_error;
    if (0 == rank) {
        check_data(3, LARGE);
    }
    if (MPI_REQUEST_NULL != request) {
        MPI_Request_free(&request);
    }
}

static void creation(void)
{
    for (int round = 0; round < ROUNDS && MPI_SUCCESS == first_error; ++round) {
        MPI_Group all, pair;
        MPI_Comm two = MPI_COMM_NULL;
        const int both[2] = {0, 1};

        MPI_Comm_group(comm, &all);
        MPI_Group_incl(all, 2, both, &pair);
        TRY(MPI_Comm_create_group(comm, pair, 7, &two));
        MPI_Group_free(&pair);
        MPI_Group_free(&all);
        if (MPI_COMM_NULL != two) {
            TRY(MPI_Barrier(two));
            MPI_Comm_free(&two);
        }
    }
}

/** Nothing is under way, and both see that the connection has ended before either sends. */
static void idle(void)
{
    char none;

    look_at(1 - rank);
    MPI_Sendrecv(NULL, 0, MPI_CHAR, 1 - rank, NEVER, &none, 0, MPI_CHAR, 1 - rank, NEVER,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    eager();
}

/** The receiver knows nothing of a message: it waits, as the sender does for the answer. */
static void tail(void)
{
    if (0 == rank) {
        TRY(MPI_Send(buffer, EAGER, MPI_CHAR, 1, 1, comm));
        TRY(MPI_Recv(buffer, EAGER, MPI_CHAR, 1, 1, comm, MPI_STATUS_IGNORE));
    } else {
        usleep(300000); /* it arrives in the kernel, and ends there */
        TRY(MPI_Recv(buffer, EAGER, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE));
        TRY(MPI_Send(buffer, EAGER, MPI_CHAR, 0, 1, comm));
    }
}

/* ---- how it must end ------------------------------------------------------------------------- */

/** All of it has arrived, or both have lost each other, with errors of that class. */
static void judge(void)
{
    int all[3];
    const int class = class_of(first_error);

    CHECK(MPI_SUCCESS == class || MPI_ERR_PROC_FAILED == class, "class %d", class);
    MPI_Allgather(&class, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    if (0 == rank && MPI_SUCCESS == all[0] && MPI_SUCCESS == all[1]) {
        fprintf(stderr, "All was delivered.\n"); /* then nobody may have said anything else */
    }
    if (2 == rank) {
        return;
    }
    if (MPI_SUCCESS != all[0] || MPI_SUCCESS != all[1]) {
        expect_lost(1 - rank);
    } else {
        talk(1, 20);
    }
}

/** For test/failure-table. */
static void tell_time(double start)
{
    if (2 > rank) {
        printf("# rank %d: %s after %d ms\n", rank,
               MPI_SUCCESS == first_error ? "MPI_SUCCESS" : "MPI_ERR_PROC_FAILED",
               (int) (1e3 * (MPI_Wtime() - start)));
    }
}

static void at(const char *event, int count, const char *action, void (*traffic)(void))
{
    const double start = MPI_Wtime();

    order(event, count, action);
    MPI_Barrier(MPI_COMM_WORLD);
    if (2 > rank) {
        traffic();
    }
    tell_time(start);
    judge();
}

/** Two have lost each other, and leave what takes all members; so does the third, which reaches
 * both. Members that reach each other go on. */
static void leave(int (*call)(void))
{
    const double start = MPI_Wtime();
    int sum = 0;
    MPI_Comm rest = MPI_COMM_NULL;
    MPI_Group all, some;
    const int ranks[2] = {0, 2};

    at("send", 1, "half", halves);
    if (0 == rank) {
        usleep(300000); /* the others are waiting */
    }
    EXPECT(MPI_ERR_PROC_FAILED, call());
    EXPECT(MPI_ERR_PROC_FAILED, call()); /* at once */
    tell_time(start);
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, 2, ranks, &some);
    if (1 != rank) {
        EXPECT(MPI_SUCCESS, MPI_Comm_create_group(comm, some, 8, &rest));
        EXPECT(MPI_SUCCESS, MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, rest));
        CHECK(2 == sum, "sum %d", sum);
        MPI_Comm_free(&rest);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);
}

static int collective(void)
{
    return MPI_Barrier(comm);
}

static int duplicate(void)
{
    MPI_Comm dup = MPI_COMM_NULL;
    const int rc = MPI_Comm_dup(comm, &dup);

    if (MPI_COMM_NULL != dup) {
        MPI_Comm_free(&dup);
    }
    return rc;
}

static void left_collective(void)
{
    leave(collective);
}

static void left_create(void)
{
    leave(duplicate);
}

/** Rank 1 has given up something that rank 2 takes part in. */
static void await_rank_1(void)
{
    MPI_Recv(NULL, 0, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static bool is_late; /**< in the middle of a creation */

/** In front of libmpi's: what a member does by itself before it meets the others. */
int mca_coll_base_comm_select(MPI_Comm newcomm);

int mca_coll_base_comm_select(MPI_Comm newcomm)
{
    static int (*next)(MPI_Comm);

    if (NULL == next) {
        *(void **) &next = dlsym(RTLD_NEXT, "mca_coll_base_comm_select");
    }
    if (is_late) {
        is_late = false;
        await_rank_1();
    }
    return next(newcomm);
}

/** Ranks 1 and 2 make a communicator without rank 0, and rank 1 waits for the other one when it
 * loses rank 0, and fails.  Rank 2 has lost nobody, and finds all messages that it wants.
 *
 * @param[in] early  rank 2 hears that rank 1 has left the communicator before it has it itself */
static void leave_part(bool early)
{
    const double start = MPI_Wtime();
    const int ranks[3] = {0, 2, 1};
    MPI_Comm side = MPI_COMM_NULL;
    MPI_Group all, some;
    int rc;

    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, 0 == rank ? 1 : 2, ranks + (0 < rank), &some);
    is_late = 2 == rank && !early;
    if (2 == rank && early) {
        await_rank_1();
        look_at(1);
    }
    rc = MPI_Comm_create(comm, some, &side);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    if (2 > rank) {
        order("send", 1, "half");
        halves();
    }
    if (1 == rank) {
        EXPECT(MPI_ERR_PROC_FAILED, rc);
        MPI_Send(NULL, 0, MPI_CHAR, 2, 3, MPI_COMM_WORLD);
    } else if (MPI_SUCCESS == rc) {
        EXPECT(2 == rank ? MPI_ERR_PROC_FAILED : MPI_SUCCESS, MPI_Barrier(side));
        MPI_Comm_free(&side);
    } else {
        EXPECT(MPI_ERR_PROC_FAILED, rc);
        CHECK(2 == rank, "rank 0 needs nobody");
    }
    tell_time(start);
    judge();
}

static void left_part(void)
{
    leave_part(false);
}

static void left_early(void)
{
    leave_part(true);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static atomic_int not_accepted; /**< times that there was no descriptor for a connection */

/** In front of libc's. */
int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    const int accepted = (int) syscall(SYS_accept4, fd, address, size, flags);

    if (-1 == accepted && EMFILE == errno) {
        atomic_fetch_add(&not_accepted, 1);
    }
    return accepted;
}

/** Use up all descriptors.  @return the limit that there was */
static rlim_t use_up(void)
{
    struct rlimit limit;
    rlim_t was;
    int fd = dup(0);

    getrlimit(RLIMIT_NOFILE, &limit);
    was = limit.rlim_cur;
    limit.rlim_cur = (rlim_t) fd;
    CHECK(0 == setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
    close(fd);
    while (0 <= dup(0)) {
    }
    return was;
}

static void give_back(rlim_t limit)
{
    struct rlimit now;

    getrlimit(RLIMIT_NOFILE, &now);
    now.rlim_cur = limit;
    setrlimit(RLIMIT_NOFILE, &now);
}

/** @param[in] sender  rank 0 sends first, before there is any connection; which rank has no
 * descriptors? */
static void no_files(int sender, bool recover)
{
    const double start = MPI_Wtime();
    rlim_t limit = 0;
    int flag;

    if (sender == rank) {
        limit = use_up();
    }
    MPI_Barrier(MPI_COMM_WORLD); /* rank 1 has none left before rank 0 connects */
    if (sender == rank) {
        while (recover && 0 == atomic_load(&not_accepted)) {
            TRY(MPI_Iprobe(0, NEVER, comm, &flag, MPI_STATUS_IGNORE));
        }
        if (recover) {
            give_back(limit);
        }
    }
    if (2 > rank) {
        eager();
        if (recover) {
            CHECK(MPI_SUCCESS == first_error, "it is lost, though there are descriptors again");
        } else {
            CHECK(MPI_ERR_PROC_FAILED == class_of(first_error), "class %d", class_of(first_error));
        }
    }
    tell_time(start);
    if (1 == sender) {
        /* Both have noticed while there were none.  (The process that connects has noticed by
         * itself, and the third one, which wants to reach it meanwhile, would lose it as well.) */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (0 != limit) {
        give_back(limit);
    }
    judge();
}

static void files_receiver(void)
{
    no_files(1, false);
}

static void files_sender(void)
{
    no_files(0, false);
}

static void files_back(void)
{
    no_files(1, true);
}

#define AT(name, event, count, action, traffic) \
    static void name(void)                      \
    {                                           \
        at(event, count, action, traffic);      \
    }

AT(fin_idle, "now", 0, "fin", idle)
AT(fin_out_idle, "now", 0, "fin_out", idle)
AT(fin_eager, "send", 2, "fin", eager)
AT(fin_tail, "send", 1, "fin", tail)
AT(fin_sent, "sent", 1, "fin", eager)
AT(fin_received, "received", 1, "fin", eager)
AT(rst_eager, "send", 2, "rst", eager)
AT(fin_offer, "send", 1, "fin", large)
AT(fin_fetch, "read", 1, "fin", large)
AT(fin_fetched, "fetched", 1, "fin", large)
AT(fin_part, "read", 2, "fin", partitioned)
AT(fin_part_start, "send", 1, "fin", partitioned)
AT(fin_create, "send", 3, "fin", creation)
AT(half, "send", 1, "half", halves)
AT(packet, "send", 3, "lose", ten)
AT(twice, "send", 1, "double", eager)
AT(second, "now", 0, "second", idle)
AT(second_busy, "send", 1, "second", large)
AT(swallow_sent, "sent", 1, "swallow", eager)
AT(swallow_received, "received", 1, "swallow", eager)
AT(swallow_fetched, "fetched", 1, "swallow", large)

static const struct fault_case cuts[] = {
/* clang-format off */
#define CASE(name) {#name, name, false, false}
    /* clang-format on */
    CASE(fin_idle),
    CASE(fin_out_idle),
    CASE(fin_eager),
    CASE(fin_tail),
    CASE(fin_sent),
    CASE(fin_received),
    CASE(rst_eager),
    CASE(fin_offer),
    CASE(fin_fetch),
    CASE(fin_fetched),
    CASE(fin_part),
    CASE(fin_part_start),
    CASE(fin_create),
    CASE(half),
    CASE(packet),
    CASE(twice),
    CASE(second),
    CASE(second_busy),
    CASE(swallow_sent),
    CASE(swallow_received),
    CASE(swallow_fetched),
    CASE(left_collective),
    CASE(left_create),
    CASE(left_part),
    CASE(left_early),
    {"files_receiver", files_receiver, true, false},
    {"files_sender", files_sender, true, false},
    {"files_back", files_back, true, false},
};

int main(int argc, char **argv)
{
    return fault_main(argc, argv, cuts, sizeof(cuts) / sizeof(cuts[0]));
}
