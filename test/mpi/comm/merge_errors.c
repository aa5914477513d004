/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is wrong with a call of MPIX_Comm_merge: an error of the same class at all members that are
 * connected with it, near and far, and at no other; all can go on afterwards.
 *
 * Guards: comm_merge.c, pml_epml_merge.c, pml_epml_discovery.c, pml_epml_traversal.c, pml_epml_graph.c
 */

#include "ept.h"

/* A chain of pairs over the run's ranks but the last one, which has a communicator of its own. */
struct links {
    MPI_Comm own[2]; /* with the rank before, with the one behind */
    int size;        /* of the chain */
};

static struct links make_links(MPI_Comm comm, struct ept *t)
{
    struct links links = {.own = {MPI_COMM_NULL, MPI_COMM_NULL},
                          .size = 1 < t->size ? t->size - 1 : 1};

    for (int i = 0; i + 1 < t->size; ++i) {
        const bool is_member = i + 1 < links.size ? t->rank == i || t->rank == i + 1
                                                  : t->rank == t->size - 1;
        MPI_Comm made;

        EPT_OK(t, MPI_Comm_split(comm, is_member ? 0 : MPI_UNDEFINED, 0, &made));
        if (is_member) {
            EPT_OK(t, MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN));
            links.own[t->rank == i] = made;
        }
    }
    return links;
}

static void free_links(struct ept *t, struct links *links)
{
    for (int i = 0; i < 2; ++i) {
        if (MPI_COMM_NULL != links->own[i]) {
            EPT_OK(t, MPI_Comm_free(&links->own[i]));
        }
    }
}

/* What the first rank of the chain does wrong. */
struct mistake {
    MPI_Comm comm; /* in place of the communicator that it does not have */
    bool no_result;
    int expected;
};

/* One is wrong, at the end of a chain; then nobody. */
static void merge_with(MPI_Comm comm, struct ept *t, const struct mistake *mistake)
{
    struct links links = make_links(comm, t);
    const bool is_last = 1 < t->size && t->rank == t->size - 1, is_wrong = 0 == t->rank;
    MPI_Comm merged = MPI_COMM_NULL;
    int rc, size;

    if (MPI_COMM_NULL != mistake->comm) {
        EPT_OK(t, MPI_Comm_set_errhandler(mistake->comm, MPI_ERRORS_RETURN));
    }
    ept_phase(t, "merge with a mistake");
    if (1 < t->size) {
        rc = MPIX_Comm_merge(is_wrong ? mistake->comm : links.own[0], links.own[1],
                             is_wrong && mistake->no_result ? NULL : &merged);
        if (is_last) {
            EPT_OK(t, rc);
            EPT_OK(t, MPI_Comm_size(merged, &size));
            EPT_EQ(t, 1, size);
            EPT_OK(t, MPI_Comm_free(&merged));
        } else if (2 < t->size || is_wrong) {
            EPT_CLASS(t, mistake->expected, rc);
            EPT_CHECK(t, MPI_COMM_NULL == merged, "there is a communicator after an error");
        }
        ept_phase(t, "merge without one");
        if (2 < t->size || is_last) {
            EPT_OK(t, MPIX_Comm_merge(links.own[0], links.own[1], &merged));
            EPT_OK(t, MPI_Comm_size(merged, &size));
            EPT_EQ(t, is_last ? 1 : links.size, size);
            EPT_OK(t, MPI_Comm_free(&merged));
        }
    }
    free_links(t, &links);
}

static void case_no_result(MPI_Comm comm, struct ept *t)
{
    const struct mistake mistake = {
        .comm = MPI_COMM_NULL, .no_result = true, .expected = MPI_ERR_ARG};

    merge_with(comm, t, &mistake);
}

/* An intercommunicator of which others know nothing here. */
static void case_inter(MPI_Comm comm, struct ept *t)
{
    struct mistake mistake = {.comm = MPI_COMM_NULL, .expected = MPI_ERR_COMM};
    MPI_Comm half;

    if (1 < t->size) {
        EPT_OK(t, MPI_Comm_split(comm, 0 < t->rank, 0, &half));
        EPT_OK(t, MPI_Intercomm_create(half, 0, comm, 0 < t->rank ? 0 : 1, 3, &mistake.comm));
        merge_with(comm, t, &mistake);
        EPT_OK(t, MPI_Comm_free(&half));
        EPT_OK(t, MPI_Comm_free(&mistake.comm));
    }
}

/* Another endpoint's handle: in a process with several. */
static void case_others_handle(MPI_Comm comm, struct ept *t)
{
    static _Atomic(MPI_Comm) handles[64]; /* each process has its own */
    struct mistake mistake = {.comm = MPI_COMM_NULL, .expected = MPI_ERR_COMM};
    MPI_Comm self, copy;

    if (1 < t->nlocal) {
        EPT_OK(t, MPI_Comm_split(comm, t->rank, 0, &self));
        EPT_OK(t, MPI_Comm_dup(self, &copy));
        atomic_store(&handles[t->local], copy);
        ept_local_barrier(t);
        /* Where there is one process its owner hangs together with nobody here. */
        mistake.comm = atomic_load(&handles[t->nlocal - 1]);
        if (0 != t->local) {
            mistake.comm = MPI_COMM_NULL;
        }
        merge_with(comm, t, &mistake);
        ept_local_barrier(t);
        EPT_OK(t, MPI_Comm_free(&copy));
        EPT_OK(t, MPI_Comm_free(&self));
    }
}

/* All processes, and the endpoints of each; the first endpoint of a process is that itself, and
 * passes both.  Rank "wrong" has no place for the result, and nobody gets one; then it has. */
static void merge_processes(MPI_Comm comm, struct ept *t, int wrong)
{
    MPI_Comm processes = MPI_COMM_NULL, own, merged = MPI_COMM_NULL;
    int size = -1, number = -1, index = -1;

    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &processes));
        EPT_OK(t, MPI_Comm_set_errhandler(processes, MPI_ERRORS_RETURN));
    }
    EPT_OK(t, MPI_Comm_split(comm, t->proc, 0, &own));
    EPT_OK(t, MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
    ept_phase(t, "merge with processes, rank %d is wrong", wrong);
    EPT_CLASS(t, MPI_ERR_ARG, MPIX_Comm_merge(processes, own, t->rank == wrong ? NULL : &merged));
    EPT_CHECK(t, MPI_COMM_NULL == merged, "there is a communicator after an error");
    ept_phase(t, "merge with processes");
    EPT_OK(t, MPIX_Comm_merge(processes, own, &merged));
    EPT_OK(t, MPI_Comm_size(merged, &size));
    EPT_EQ(t, t->size, size);
    EPT_OK(t, MPIX_Comm_num_endpoints(merged, &number, &index));
    EPT_EQ(t, t->nlocal, number);
    EPT_OK(t, MPI_Comm_free(&merged));
    EPT_OK(t, MPI_Comm_free(&own));
    if (MPI_COMM_NULL != processes) {
        EPT_OK(t, MPI_Comm_free(&processes));
    }
}

static void case_processes(MPI_Comm comm, struct ept *t)
{
    merge_processes(comm, t, 0);
    merge_processes(comm, t, t->size - 1);
}

static void case_null(MPI_Comm comm, struct ept *t)
{
    MPI_Comm merged = comm;

    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    }
    ept_local_barrier(t);
    EPT_CLASS(t, MPI_ERR_COMM, MPIX_Comm_merge(MPI_COMM_NULL, MPI_COMM_NULL, &merged));
    EPT_CHECK(t, comm == merged, "the result is not as it was");
}

/* ---- twice ----------------------------------------------------------------------------------- */

struct twice {
    MPI_Comm handles[2], copies[2];
};

/* Thread 0 passes the one, thread 2 the copy of the same endpoint: the other one joins them. */
static void call_twice(MPI_Comm comm, struct ept *t, int index, void *context)
{
    const struct twice *twice = context;
    MPI_Comm merged = MPI_COMM_NULL;

    (void) comm;
    EPT_CLASS(t, MPI_ERR_COMM,
              MPIX_Comm_merge(2 == index ? MPI_COMM_NULL : twice->handles[index % 2],
                              0 == index ? MPI_COMM_NULL : twice->copies[index % 2], &merged));
    EPT_CHECK(t, MPI_COMM_NULL == merged, "there is a communicator after an error");
}

static void copy(MPI_Comm comm, struct ept *t, int index, void *context)
{
    struct twice *twice = context;

    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_dup(comm, &twice->copies[index]));
}

static void case_twice(MPI_Comm comm, struct ept *t)
{
    struct twice twice;

    (void) comm;
    if (0 == t->local) {
        EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, 2, MPI_INFO_NULL, twice.handles));
        ept_on_each(t, twice.handles, 2, copy, &twice);
        ept_on_each(t, (MPI_Comm[]){MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL}, 3, call_twice,
                    &twice);
        for (int i = 0; i < 2; ++i) {
            EPT_OK(t, MPI_Comm_free(&twice.handles[i]));
            EPT_OK(t, MPI_Comm_free(&twice.copies[i]));
        }
    }
}

/* ---- the handler ----------------------------------------------------------------------------- */

static MPI_Comm raised_on;

static void note_raised(MPI_Comm *comm, int *code, ...)
{
    (void) code;
    raised_on = *comm;
}

/* The first one's handler hears of it, the second one's if there is no other. */
static void case_handler(MPI_Comm comm, struct ept *t)
{
    MPI_Errhandler handler;

    if (0 == t->rank) {
        MPI_Comm own[2];

        EPT_OK(t, MPI_Comm_dup(MPI_COMM_SELF, &own[0]));
        EPT_OK(t, MPI_Comm_dup(MPI_COMM_SELF, &own[1]));
        EPT_OK(t, MPI_Comm_create_errhandler(note_raised, &handler));
        for (int i = 0; i < 2; ++i) {
            EPT_OK(t, MPI_Comm_set_errhandler(own[i], handler));
        }
        raised_on = MPI_COMM_NULL;
        EPT_CLASS(t, MPI_ERR_ARG, MPIX_Comm_merge(own[1], own[0], NULL));
        EPT_CHECK(t, own[1] == raised_on, "not the first one's");
        EPT_CLASS(t, MPI_ERR_ARG, MPIX_Comm_merge(MPI_COMM_NULL, own[0], NULL));
        EPT_CHECK(t, own[0] == raised_on, "not the second one's");
        EPT_OK(t, MPI_Errhandler_free(&handler));
        for (int i = 0; i < 2; ++i) {
            EPT_OK(t, MPI_Comm_free(&own[i]));
        }
    }
    (void) comm;
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_null);
    EPT_CASE(t, case_no_result);
    EPT_CASE(t, case_inter);
    EPT_CASE(t, case_others_handle);
    EPT_CASE(t, case_processes);
    EPT_CASE(t, case_twice);
    EPT_CASE(t, case_handler);
    return 0;
}
