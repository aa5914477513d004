/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * mpix_thread_level at any time: what handles show, which of an endpoint's handles' levels is in
 * force, by the number of calls after which a thread gets the bias of the endpoint's lock (counted
 * by MPI_T), and that messages come while other threads change it.
 *
 * Guards: pml_epml_hints.c, pml_epml_comms.c
 */

#include "ept.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const LEVEL = "mpix_thread_level";

/* Calls: more than win the bias with funneled, fewer than with multiple (256 of the lock). */
enum { FEW = 10, ROUNDS = 300 };

void test_process_begin(void)
{
    int level;

    (void) MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level);
}

static MPI_Info one_key(struct ept *t, const char *value)
{
    MPI_Info info;

    EPT_OK(t, MPI_Info_create(&info));
    EPT_OK(t, MPI_Info_set(info, LEVEL, value));
    return info;
}

static void set_level(MPI_Comm comm, struct ept *t, const char *value)
{
    MPI_Info info = one_key(t, value);

    EPT_OK(t, MPI_Comm_set_info(comm, info));
    EPT_OK(t, MPI_Info_free(&info));
}

static void check_shown(MPI_Comm comm, struct ept *t, const char *expected)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info info;
    int flag = 0;

    EPT_OK(t, MPI_Comm_get_info(comm, &info));
    EPT_OK(t, MPI_Info_get(info, LEVEL, MPI_MAX_INFO_VAL, value, &flag));
    EPT_STREQ(t, expected, 0 != flag ? value : "");
    EPT_OK(t, MPI_Info_free(&info));
}

/* ---- what is shown --------------------------------------------------------------------------- */

static void case_shown(MPI_Comm comm, struct ept *t)
{
    static const char *const levels[] = {"single", "funneled", "serialized", "multiple"};
    MPI_Comm dup, half;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    EPT_OK(t, MPI_Comm_split(comm, t->rank % 2, 0, &half));
    check_shown(comm, t, "multiple");
    check_shown(dup, t, "");
    check_shown(half, t, "");
    for (int i = 0; i < 4; ++i) {
        ept_phase(t, "%s", levels[i]);
        /* Another one on each endpoint. */
        set_level(comm, t, levels[(i + t->rank) % 4]);
        check_shown(comm, t, levels[(i + t->rank) % 4]);
        check_shown(dup, t, "");
        set_level(half, t, levels[3 - i]);
        check_shown(half, t, levels[3 - i]);
        check_shown(comm, t, levels[(i + t->rank) % 4]);
        ept_use_comm(t, dup, t->rank, t->size);
    }
    /* A value that is none: nothing changes. */
    set_level(comm, t, "SINGLE");
    set_level(comm, t, "frobnicated");
    check_shown(comm, t, "single");
    set_level(dup, t, "frobnicated");
    check_shown(dup, t, "");
    set_level(comm, t, "multiple");
    EPT_OK(t, MPI_Comm_free(&half));
    EPT_OK(t, MPI_Comm_free(&dup));
}

static void case_with_info(MPI_Comm comm, struct ept *t)
{
    MPI_Info info = one_key(t, "funneled"), wrong = one_key(t, "frobnicated");
    MPI_Request request;
    MPI_Comm with, later, without;

    EPT_OK(t, MPI_Comm_dup_with_info(comm, info, &with));
    EPT_OK(t, MPI_Comm_idup_with_info(comm, info, &later, &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Comm_dup_with_info(comm, wrong, &without));
    check_shown(with, t, "funneled");
    check_shown(later, t, "funneled");
    check_shown(without, t, "");
    check_shown(comm, t, "multiple");
    EPT_OK(t, MPI_Comm_free(&with));
    EPT_OK(t, MPI_Comm_free(&later));
    EPT_OK(t, MPI_Comm_free(&without));
    EPT_OK(t, MPI_Info_free(&info));
    EPT_OK(t, MPI_Info_free(&wrong));
}

/* ---- what is in force ------------------------------------------------------------------------ */

/* The endpoint's counter of biases. */
struct counter {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    struct {
        MPI_Comm comm;
        unsigned char zeros[2048]; /* see variables.c */
    } object;
};

static void counter_open(struct ept *t, struct counter *counter, MPI_Comm comm)
{
    int index = -1, count = 0;

    memset(counter, 0, sizeof(*counter));
    counter->object.comm = comm;
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_session_create(&counter->session));
    EPT_EQ(t, MPI_SUCCESS,
           MPI_T_pvar_get_index("pml_epml_ep_biases", MPI_T_PVAR_CLASS_COUNTER, &index));
    EPT_EQ(t, MPI_SUCCESS,
           MPI_T_pvar_handle_alloc(counter->session, index, &counter->object.comm, &counter->handle,
                                   &count));
}

static void counter_close(struct ept *t, struct counter *counter)
{
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_handle_free(counter->session, &counter->handle));
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_session_free(&counter->session));
}

static unsigned long long biases(struct ept *t, struct counter *counter)
{
    unsigned long long value = 0;

    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_read(counter->session, counter->handle, &value));
    return value;
}

/* Is the bias won by few calls?  Reading the counter ends it; so each look begins without. */
static bool won_at_once(MPI_Comm comm, struct ept *t, struct counter *counter)
{
    const unsigned long long before = biases(t, counter);

    for (int i = 0; i < FEW; ++i) {
        int flag;

        EPT_OK(t, MPI_Iprobe(MPI_ANY_SOURCE, 1, comm, &flag, MPI_STATUS_IGNORE));
    }
    return before != biases(t, counter);
}

/* A process has so many ends of biases a second: a lock that does not win is asked again. */
static void check_won(MPI_Comm comm, struct ept *t, struct counter *counter, const char *when)
{
    bool won = false;

    for (int tries = 0; !won && tries < 50; ++tries) {
        won = won_at_once(comm, t, counter);
        if (!won) {
            usleep(20000);
        }
    }
    EPT_CHECK(t, won, "%s: no bias after %d calls", when, FEW);
}

static void check_not_won(MPI_Comm comm, struct ept *t, struct counter *counter, const char *when)
{
    EPT_CHECK(t, !won_at_once(comm, t, counter), "%s: a bias after %d calls", when, FEW);
}

static void force_on(MPI_Comm comm, struct ept *t, int index, void *context)
{
    MPI_Info info = one_key(t, "funneled");
    struct counter counter;
    MPI_Comm dup;

    (void) index;
    (void) context;
    counter_open(t, &counter, comm);
    check_not_won(comm, t, &counter, "nothing said");
    set_level(comm, t, "funneled");
    check_won(comm, t, &counter, "funneled");
    /* A handle that says nothing does not count, be it used. */
    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    check_won(dup, t, &counter, "another handle without a level");
    set_level(dup, t, "multiple");
    check_not_won(comm, t, &counter, "the other one raised");
    set_level(dup, t, "single");
    check_won(comm, t, &counter, "the other one lowered");
    set_level(comm, t, "serialized");
    check_not_won(dup, t, &counter, "raised, the other one lower");
    set_level(comm, t, "frobnicated");
    check_not_won(dup, t, &counter, "a value that is none");
    set_level(comm, t, "funneled");
    set_level(dup, t, "multiple");
    check_not_won(comm, t, &counter, "the other one raised again");
    EPT_OK(t, MPI_Comm_free(&dup));
    check_won(comm, t, &counter, "the other one freed");
    set_level(comm, t, "multiple");
    EPT_OK(t, MPI_Comm_dup_with_info(comm, info, &dup));
    check_not_won(comm, t, &counter, "multiple, a dup with a lower level");
    set_level(comm, t, "single");
    check_won(dup, t, &counter, "both low");
    EPT_OK(t, MPI_Comm_free(&dup));
    EPT_OK(t, MPI_Info_free(&info));
    counter_close(t, &counter);
}

/* One endpoint: nobody else looks after it. */
static void case_in_force(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 == t->local) {
        MPI_Comm ep;

        EPT_OK(t, ept_create_endpoints(MPI_COMM_SELF, 1, MPI_INFO_NULL, &ep));
        ept_on_each(t, &ep, 1, force_on, NULL);
        EPT_OK(t, MPI_Comm_free(&ep));
    }
    ept_local_barrier(t);
}

/* ---- while threads use it -------------------------------------------------------------------- */

struct changer {
    struct ept *t;
    MPI_Comm comm, dup;
    atomic_bool stop;
};

/* Says something else all the time, on both handles, and looks at what is shown. */
static void *change(void *argument)
{
    static const char *const levels[] = {"single", "multiple", "funneled", "serialized"};
    struct changer *changer = argument;
    struct ept *t = changer->t;

    for (int i = 0; !atomic_load(&changer->stop); ++i) {
        set_level(changer->comm, t, levels[i % 4]);
        check_shown(changer->comm, t, levels[i % 4]);
        set_level(changer->dup, t, levels[i / 4 % 4]);
        if (0 == i % 16) {
            usleep(500);
        }
    }
    return NULL;
}

static void case_in_use(MPI_Comm comm, struct ept *t)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank + t->size - 1) % t->size;
    struct changer changer = {.t = t};
    pthread_t thread;

    EPT_OK(t, MPI_Comm_dup(comm, &changer.comm));
    EPT_OK(t, MPI_Comm_dup(comm, &changer.dup));
    pthread_create(&thread, NULL, change, &changer);
    for (int i = 0; i < ROUNDS; ++i) {
        int out[2] = {t->rank, i}, in[2] = {-1, -1}, sum = -1;

        ept_phase(t, "round %d", i);
        EPT_OK(t, MPI_Sendrecv(out, 2, MPI_INT, to, 3, in, 2, MPI_INT, from, 3, changer.comm,
                               MPI_STATUS_IGNORE));
        EPT_EQ(t, from, in[0]);
        EPT_EQ(t, i, in[1]);
        if (0 == i % 32) {
            EPT_OK(t, MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, changer.dup));
            EPT_EQ(t, t->size * i, sum);
        }
    }
    atomic_store(&changer.stop, true);
    pthread_join(thread, NULL);
    EPT_OK(t, MPI_Comm_free(&changer.comm));
    EPT_OK(t, MPI_Comm_free(&changer.dup));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    const long barriers = syscall(__NR_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

    (void) comm;
    EPT_CASE(t, case_shown);
    EPT_CASE(t, case_with_info);
    if (0 < barriers && 0 != (barriers & MEMBARRIER_CMD_PRIVATE_EXPEDITED)) {
        EPT_CASE(t, case_in_force);
    } else {
        ept_skip(t, "case_in_force", "no membarrier here: there is never a bias");
    }
    EPT_CASE(t, case_in_use);
    return 0;
}
