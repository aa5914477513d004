/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Errors of MPIX_Comm_create_endpoints: every member of the parent gets an error of the right class
 * through the parent's error handler, nobody hangs, and the parent is usable afterwards.
 *
 *   --limit N       pml_epml_max_endpoints of this run: one member asks for more
 *   --unselected 1  the run is without pml/epml (and with --ep 0)
 *   --files 1       without files endpoints have no network (with --ep 0)
 *   --memory 1      many endpoints, and no memory for them (with --ep 0)
 *   --lacking 1     no endpoint of this run gets what it needs (and with --ep 0)
 *   --out_of_reach 1  libmpi's functions cannot be reached (and with --ep 0)
 *
 * Guards: pml_epml_component.c, pml_epml_framework.c, pml_epml_coll.c, pml_epml_create.c,
 * endpoints/c, btl_epofi_component.c, btl_epofi_fabric.c, btl_epshm_component.c,
 * pml_epml_creation.c, pml_epml_phase_endpoints.c, pml_epml_phase_tables.c, btl_epofi_context.c,
 * btl_epofi_choose.c, show_help.c
 */

#include "ept.h"

#include <errno.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(HAVE_EP)

#    define MAX_EP 64

static atomic_int handled; /* calls of the counting error handler */
static atomic_int handled_class;
static MPI_Comm handled_comm;

static void count_error(MPI_Comm *comm, int *code, ...)
{
    int class = 0;

    MPI_Error_class(*code, &class);
    handled_comm = *comm;
    atomic_store(&handled_class, class);
    atomic_fetch_add(&handled, 1);
}

static MPI_Comm make_parent(struct ept *t)
{
    MPI_Errhandler handler;
    MPI_Comm parent;

    EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    EPT_OK(t, MPI_Comm_create_errhandler(count_error, &handler));
    EPT_OK(t, MPI_Comm_set_errhandler(parent, handler));
    EPT_OK(t, MPI_Errhandler_free(&handler));
    return parent;
}

/* The parent communicates, and endpoints can still be made over it. */
static void check_usable(struct ept *t, MPI_Comm parent, bool create)
{
    int one = 1, sum = 0;
    MPI_Comm comms[2];

    EPT_OK(t, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, parent));
    EPT_EQ(t, t->nprocs, sum);
    if (create) {
        EPT_OK(t, MPIX_Comm_create_endpoints(parent, 2, MPI_INFO_NULL, comms));
        EPT_OK(t, MPI_Comm_free(&comms[0]));
        EPT_OK(t, MPI_Comm_free(&comms[1]));
    }
}

/* In the place of the array of the caller's own. */
static char own[1];

#    if defined(OPEN_MPI) /* the MPI ABI has no Fortran */
/* What libmpix_endpoints is given for Fortran where there is no memory for handles. */
extern char mpix_endpoints_call_no_room[1];
#    endif

/* The process `wrong` calls with bad arguments, the others with good ones. */
static void one_wrong(struct ept *t, int wrong, int bad_num, void *array, int expected,
                      const char *words)
{
    MPI_Comm comms[MAX_EP], parent = make_parent(t);
    char text[MPI_MAX_ERROR_STRING] = "";
    int rc, length;

    for (int i = 0; i < MAX_EP; ++i) {
        comms[i] = MPI_COMM_NULL;
    }
    atomic_store(&handled, 0);
    if (wrong == t->proc) {
        rc = MPIX_Comm_create_endpoints(parent, bad_num, MPI_INFO_NULL,
                                        own == (char *) array ? comms : (MPI_Comm *) array);
    } else {
        rc = MPIX_Comm_create_endpoints(parent, 1, MPI_INFO_NULL, comms);
    }
    EPT_CLASS(t, expected, rc);
    EPT_EQ(t, 1, atomic_load(&handled));
    EPT_EQ(t, expected, atomic_load(&handled_class));
    EPT_CHECK(t, parent == handled_comm, "the handler was called for another communicator");
    for (int i = 0; i < MAX_EP; ++i) {
        EPT_CHECK(t, MPI_COMM_NULL == comms[i], "handle %d came with the error", i);
    }
    if (NULL != words) {
        EPT_OK(t, MPI_Error_string(rc, text, &length));
        EPT_CHECK(t, NULL != strstr(text, words), "expected \"%s\" in \"%s\"", words, text);
    }
    check_usable(t, parent, true);
    EPT_OK(t, MPI_Comm_free(&parent));
}

/* Every process is the wrong one in turn. */
static void each_wrong(struct ept *t, int bad_num, void *array, int expected, const char *words)
{
    for (int wrong = 0; 0 == t->local && wrong < t->nprocs; ++wrong) {
        ept_phase(t, "process %d wrong, count %d", wrong, bad_num);
        one_wrong(t, wrong, bad_num, array, expected, words);
    }
    ept_local_barrier(t);
}

static void case_negative_count(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    each_wrong(t, -1, own, MPI_ERR_ARG, NULL);
    each_wrong(t, -1000000, own, MPI_ERR_ARG, NULL);
}

static void case_null_array(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    each_wrong(t, 2, NULL, MPI_ERR_ARG, NULL);
}

#    if defined(OPEN_MPI)
static void case_no_room(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    each_wrong(t, 2, mpix_endpoints_call_no_room, MPIX_ERR_ENDPOINTS, NULL);
}
#    endif

/* One more than the limit; then as many as there may be, again and again: what was refused or
 * freed does not count. */
static void case_limit(MPI_Comm comm, struct ept *t)
{
    int limit = (int) ept_option_long("limit", 0);
    MPI_Comm comms[MAX_EP], parent;

    (void) comm;
    each_wrong(t, limit + 1, own, MPIX_ERR_ENDPOINTS, "pml_epml_max_endpoints");
    each_wrong(t, 1000000000, own, MPIX_ERR_ENDPOINTS, "pml_epml_max_endpoints");
    if (0 == t->local) {
        parent = make_parent(t);
        atomic_store(&handled, 0);
        for (int round = 0; round < 20; ++round) {
            ept_phase(t, "round %d", round);
            EPT_OK(t, MPIX_Comm_create_endpoints(parent, limit - t->nlocal, MPI_INFO_NULL, comms));
            for (int i = 0; i < limit - t->nlocal; ++i) {
                EPT_OK(t, MPI_Comm_free(&comms[i]));
            }
        }
        EPT_EQ(t, 0, atomic_load(&handled));
        EPT_OK(t, MPI_Comm_free(&parent));
    }
    ept_local_barrier(t);
}

/* No parent: the error goes where MPI sends errors that belong to no communicator. */
static void case_null_comm(MPI_Comm comm, struct ept *t)
{
    MPI_Comm comms[1] = {MPI_COMM_NULL};

    (void) comm;
    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
        EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        EPT_CLASS(t, MPI_ERR_COMM,
                  MPIX_Comm_create_endpoints(MPI_COMM_NULL, 1, MPI_INFO_NULL, comms));
        EPT_CHECK(t, MPI_COMM_NULL == comms[0], "a handle came with the error");
        EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
        EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    }
    ept_local_barrier(t);
}

static void case_intercommunicator(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 == t->local) {
        MPI_Comm half, inter, parent = make_parent(t), comms[1] = {MPI_COMM_NULL};
        MPI_Errhandler handler;
        int one = 1, sum = 0;

        EPT_OK(t, MPI_Comm_split(parent, t->proc % 2, t->proc, &half));
        EPT_OK(t, MPI_Intercomm_create(half, 0, parent, 0 == t->proc % 2 ? 1 : 0, 5, &inter));
        EPT_OK(t, MPI_Comm_get_errhandler(parent, &handler));
        EPT_OK(t, MPI_Comm_set_errhandler(inter, handler));
        EPT_OK(t, MPI_Errhandler_free(&handler));
        /* One member is wrong, of one side or of the other: an error on both. */
        for (int wrong = 0; wrong < 2; ++wrong) {
            atomic_store(&handled, 0);
            EPT_CLASS(t, MPI_ERR_ARG,
                      MPIX_Comm_create_endpoints(inter, wrong == t->proc ? -1 : 1, MPI_INFO_NULL,
                                                 comms));
            EPT_EQ(t, 1, atomic_load(&handled));
            EPT_CHECK(t, MPI_COMM_NULL == comms[0], "a handle came with the error");
        }
        EPT_OK(t, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter));
        EPT_EQ(t, 0 == t->proc % 2 ? t->nprocs / 2 : (t->nprocs + 1) / 2, sum);
        EPT_OK(t, MPI_Comm_free(&inter));
        EPT_OK(t, MPI_Comm_free(&half));
        check_usable(t, parent, true);
        EPT_OK(t, MPI_Comm_free(&parent));
    }
    ept_local_barrier(t);
}

/* The error handler of an endpoint communicator as the parent is that endpoint's own. */
static void case_endpoint_parent(MPI_Comm comm, struct ept *t)
{
    MPI_Comm comms[1] = {MPI_COMM_NULL};
    int one = 1, sum = 0, rc;

    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    rc = MPIX_Comm_create_endpoints(comm, t->size - 1 == t->rank ? -1 : 1, MPI_INFO_NULL, comms);
    EPT_CLASS(t, MPI_ERR_ARG, rc);
    EPT_CHECK(t, MPI_COMM_NULL == comms[0], "a handle came with the error");
    EPT_OK(t, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    EPT_EQ(t, t->size, sum);
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
}

/* A run that can have no endpoints reports it, to all members and each time, and goes on
 * without. */
static void refused(struct ept *t, int support, const char *word)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    MPI_Comm parent = make_parent(t), comms[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
    int rc, length, flag = -1;

    EPT_OK(t, MPIX_Query_endpoints_support(&flag));
    EPT_EQ(t, support, flag);
    for (int i = 0; i < 2; ++i) {
        atomic_store(&handled, 0);
        rc = MPIX_Comm_create_endpoints(parent, 2, MPI_INFO_NULL, comms);
        EPT_CLASS(t, MPIX_ERR_ENDPOINTS, rc);
        EPT_EQ(t, 1, atomic_load(&handled));
        EPT_OK(t, MPI_Error_string(rc, text, &length));
        EPT_CHECK(t, NULL != strstr(text, word), "expected \"%s\" in \"%s\"", word, text);
        EPT_CHECK(t, MPI_COMM_NULL == comms[0] && MPI_COMM_NULL == comms[1],
                  "a handle came with the error");
        check_usable(t, parent, false);
    }
    EPT_OK(t, MPI_Comm_free(&parent));
}

static void case_unselected(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    refused(t, 0, "--mca pml epml");
}

static void case_needs(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    refused(t, 1, "could not get what its endpoints need");
}

static void case_out_of_reach(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    refused(t, 0, "cannot reach Open MPI's functions");
}

/* No more files may be opened: reported by the process concerned, and gone with the cause. */
static void case_no_files(MPI_Comm comm, struct ept *t)
{
    MPI_Comm parent = make_parent(t), comms[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
    struct rlimit usual, none;
    int lowest;

    (void) comm;
    /* Load what is loaded once; the context of this endpoint is kept. */
    EPT_OK(t, MPIX_Comm_create_endpoints(parent, 1, MPI_INFO_NULL, comms));
    EPT_OK(t, MPI_Comm_free(&comms[0]));
    EPT_EQ(t, 0, getrlimit(RLIMIT_NOFILE, &usual));
    none = usual;
    lowest = dup(0);
    EPT_CHECK(t, 0 <= lowest, "dup: %s", strerror(errno));
    close(lowest);
    /* Descriptors above the limit stay open; there is none to be had below it. */
    none.rlim_cur = (rlim_t) lowest;
    EPT_EQ(t, 0, setrlimit(RLIMIT_NOFILE, &none));
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Comm_create_endpoints(parent, 2, MPI_INFO_NULL, comms));
    EPT_EQ(t, 0, setrlimit(RLIMIT_NOFILE, &usual));
    check_usable(t, parent, true);
    EPT_OK(t, MPI_Comm_free(&parent));
}

/** Memory that is taken away from the rest of the process. */
struct block {
    struct block *next;
    char rest[8184];
};

static struct block *give_back(struct block *blocks, int count)
{
    for (; NULL != blocks && 0 < count; --count) {
        struct block *next = blocks->next;

        free(blocks);
        blocks = next;
    }
    return blocks;
}

/** All that malloc has, also in arenas of other threads. */
static struct block *take_all(void)
{
    struct block *blocks = NULL, *block;

    while (NULL != (block = malloc(sizeof(*block)))) {
        block->next = blocks;
        blocks = block;
    }
    return blocks;
}

/* No memory may be had, except for a few endpoints: every member gets the error, and the text or,
 * as it takes memory as well, a line in its place.  What is short differs with the amount. */
static void case_no_memory(MPI_Comm comm, struct ept *t)
{
    enum { ENDPOINTS = 1000, AMOUNTS = 8, BLOCKS = 128 };
    MPI_Comm parent = make_parent(t), comms[ENDPOINTS];
    struct rlimit usual, none;

    (void) comm;
    /* Load what is loaded once. */
    EPT_OK(t, MPIX_Comm_create_endpoints(parent, 1, MPI_INFO_NULL, comms));
    EPT_OK(t, MPI_Comm_free(&comms[0]));
    EPT_EQ(t, 0, getrlimit(RLIMIT_AS, &usual));
    none = usual;
    none.rlim_cur = 1;
    for (int i = 0; i < AMOUNTS; ++i) {
        struct block *blocks;

        EPT_EQ(t, 0, setrlimit(RLIMIT_AS, &none));
        blocks = give_back(take_all(), BLOCKS + i);
        EPT_CLASS(t, MPIX_ERR_ENDPOINTS,
                  MPIX_Comm_create_endpoints(parent, ENDPOINTS, MPI_INFO_NULL, comms));
        EPT_EQ(t, 0, setrlimit(RLIMIT_AS, &usual));
        (void) give_back(blocks, INT_MAX);
    }
    check_usable(t, parent, true);
    EPT_OK(t, MPI_Comm_free(&parent));
}

/** Cases that want a run set up for them, by the option that says so. */
static const struct {
    const char *option, *name;
    ept_case_fn_t fn;
} alone[] = {
    {"files", "case_no_files", case_no_files},
    {"memory", "case_no_memory", case_no_memory},
    {"unselected", "case_unselected", case_unselected},
    {"lacking", "case_needs", case_needs},
    {"out_of_reach", "case_out_of_reach", case_out_of_reach},
};

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); ++i) {
        if (0 != ept_option_long(alone[i].option, 0)) {
            ept_case(t, alone[i].name, alone[i].fn);
            return 0;
        }
    }
    if (!t->endpoints) {
        ept_skip(t, "all", "needs endpoints");
        return 0;
    }
    EPT_CASE(t, case_negative_count);
    EPT_CASE(t, case_null_array);
#    if defined(OPEN_MPI)
    EPT_CASE(t, case_no_room);
#    endif
    EPT_CASE(t, case_null_comm);
    EPT_CASE(t, case_endpoint_parent);
    if (2 <= t->nprocs) {
        EPT_CASE(t, case_intercommunicator);
    } else {
        ept_skip(t, "case_intercommunicator", "needs two processes");
    }
    if (0 < ept_option_long("limit", 0)) {
        EPT_CASE(t, case_limit);
    }
    return 0;
}

#else /* !HAVE_EP */

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    ept_skip(t, "all", "needs endpoints");
    return 0;
}

#endif
