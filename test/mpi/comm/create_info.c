/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The info argument of MPIX_Comm_create_endpoints: same_num_ep, mpix_thread_level, unknown keys,
 * and what MPI_Comm_get_info shows.
 *
 * Guards: pml_epml_create.c, pml_epml_creation.c
 */

#include "ept.h"

#define MAX_EP 4

static void use_handle(MPI_Comm comm, struct ept *t, int index, void *context)
{
    int num = *(int *) context;

    ept_use_comm(t, comm, t->proc * num + index, t->nprocs * num);
}

/* The value that the communicator shows for key, or "" if none. */
static void shown(struct ept *t, MPI_Comm comm, const char *key, char value[MPI_MAX_INFO_VAL + 1])
{
    MPI_Info info;
    int flag = 0;

    value[0] = '\0';
    EPT_OK(t, MPI_Comm_get_info(comm, &info));
    EPT_OK(t, MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag));
    if (0 == flag) {
        value[0] = '\0';
    }
    EPT_OK(t, MPI_Info_free(&info));
}

/* Create with one key set (or none), check what is shown on each handle, use and free. */
static void with_key(struct ept *t, const char *key, const char *value, const char *shown_key,
                     const char *expected)
{
    int num = ept_count(t, 2);
    MPI_Comm comms[MAX_EP];
    MPI_Info info = MPI_INFO_NULL;
    char got[MPI_MAX_INFO_VAL + 1];

    ept_phase(t, "%s = %s", NULL == key ? "no key" : key, NULL == value ? "" : value);
    if (NULL != key) {
        EPT_OK(t, MPI_Info_create(&info));
        EPT_OK(t, MPI_Info_set(info, key, value));
    }
    EPT_OK(t, ept_create_endpoints(MPI_COMM_WORLD, num, info, comms));
    if (NULL != key) {
        EPT_OK(t, MPI_Info_free(&info));
    }
    for (int i = 0; t->endpoints && i < num; ++i) {
        shown(t, comms[i], shown_key, got);
        EPT_STREQ(t, expected, got);
    }
    ept_on_each(t, comms, num, use_handle, &num);
    for (int i = 0; i < num; ++i) {
        EPT_OK(t, MPI_Comm_free(&comms[i]));
    }
}

static void case_thread_level(MPI_Comm comm, struct ept *t)
{
    static const char *const levels[] = {"single", "funneled", "serialized", "multiple"};

    (void) comm;
    if (0 == t->local) {
        with_key(t, NULL, NULL, "mpix_thread_level", "multiple");
        for (int i = 0; i < 4; ++i) {
            with_key(t, "mpix_thread_level", levels[i], "mpix_thread_level", levels[i]);
        }
        /* A value that is none: ignored, as MPI does with hints that it does not understand. */
        with_key(t, "mpix_thread_level", "frobnicated", "mpix_thread_level", "multiple");
    }
    ept_local_barrier(t);
}

static void case_same_num_ep(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 == t->local) {
        with_key(t, "same_num_ep", "true", "same_num_ep", "true");
        with_key(t, "same_num_ep", "false", "same_num_ep", "false");
    }
    ept_local_barrier(t);
}

static void case_unknown_key(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 == t->local) {
        with_key(t, "no_such_key_anywhere", "7", "no_such_key_anywhere", "");
    }
    ept_local_barrier(t);
}

/* The levels below multiple, each used as promised, under real traffic of two threads. */
static void case_threads_as_promised(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    for (int round = 0; 0 == t->local && round < 20; ++round) {
        with_key(t, "mpix_thread_level", 0 == round % 2 ? "serialized" : "single",
                 "mpix_thread_level", 0 == round % 2 ? "serialized" : "single");
    }
    ept_local_barrier(t);
}

/* Counts differ though the same count was promised: every member gets the error, the parent stays
 * usable, and a call without the promise works. */
static void case_wrong_promise(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 == t->local) {
        int num = 0 == t->proc ? 2 : 1, sum = -1, rc;
        MPI_Comm parent, comms[MAX_EP] = {MPI_COMM_NULL, MPI_COMM_NULL};
        MPI_Info info;

        EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &parent));
        EPT_OK(t, MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
        EPT_OK(t, MPI_Info_create(&info));
        EPT_OK(t, MPI_Info_set(info, "same_num_ep", "true"));
        rc = ept_create_endpoints(parent, num, info, comms);
        EPT_CLASS(t, MPI_ERR_INFO_VALUE, rc);
        EPT_CHECK(t, MPI_COMM_NULL == comms[0], "a handle came with the error");
        EPT_OK(t, MPI_Info_free(&info));
        EPT_OK(t, MPI_Allreduce(&num, &sum, 1, MPI_INT, MPI_SUM, parent));
        EPT_EQ(t, t->nprocs + 1, sum);
        EPT_OK(t, ept_create_endpoints(parent, num, MPI_INFO_NULL, comms));
        for (int i = 0; i < num; ++i) {
            EPT_OK(t, MPI_Comm_free(&comms[i]));
        }
        EPT_OK(t, MPI_Comm_free(&parent));
    }
    ept_local_barrier(t);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_thread_level);
    EPT_CASE(t, case_same_num_ep);
    EPT_CASE(t, case_unknown_key);
    EPT_CASE(t, case_threads_as_promised);
    if (t->endpoints && 2 <= t->nprocs) {
        EPT_CASE(t, case_wrong_promise);
    } else {
        ept_skip(t, "case_wrong_promise", "needs endpoints in two processes");
    }
    return 0;
}
