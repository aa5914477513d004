/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI from the beginning with endpoints: the four communicators, their members, and that groups of
 * all of them name the same members; messages, duplicates, attributes and info, and that MPI_Finalize
 * begins by deleting the former; where all processes use MPIX_Init_endpoint, with other numbers
 * each or none, where some use MPI_Init or MPI_Init_thread, and where all do (static.h has the
 * options).
 *
 *   --dirt 1   what comes from the heap is not zero
 *
 * Guards: init_endpoint.c, init_libmpi.c, init_make.c, init_mpi.c, abi_init.c, static_comms.c, num_endpoints.c, process.c, duplicate.c, announce.c,
 * pml_epml_among.c, abi_static.c
 */

#include "static.h"

#if defined(HAVE_EP)

/* What MPI_Finalize has called, by communicator: 0 MPIX_COMM_SELF, 1 _PROCESS, 2 _ENDPOINTS. */
static struct {
    pthread_t finalizes;
    int endpoints, deleted[3], wrong;
} end;

/* What libmpi gets next has been somebody's, other bytes in each piece. */
static void leave_dirt(void)
{
    enum { SIZES = 100, PIECES = 100, STEP = 16 };
    static unsigned char *pieces[SIZES][2 * PIECES];

    for (int size = 0; size < SIZES; ++size) {
        for (int i = 0; i < 2 * PIECES; ++i) {
            const size_t length = (size_t) (size + 1) * STEP;

            pieces[size][i] = malloc(length);
            memset(pieces[size][i], 1 + (size + i) % 251, length);
        }
    }
    for (int size = 0; size < SIZES; ++size) {
        for (int i = 0; i < 2 * PIECES; i += 2) { /* the rest lies between them */
            free(pieces[size][i]);
        }
    }
}

int test_process_init(int *argc, char ***argv)
{
    if (0 != ept_option_long("dirt", 0)) {
        leave_dirt();
    }
    end.finalizes = pthread_self();
    static_code = static_begin(argc, argv);
    return MPI_THREAD_MULTIPLE;
}

/* Does any process use MPIX_Init_endpoint? */
static bool is_static_job(const struct ept *t)
{
    bool any = false;

    for (int i = 0; i < t->nprocs; ++i) {
        any |= 's' == static_how(i);
    }
    return any;
}

/* The calling thread's handle, which must be rank of size. */
static void check_place(struct ept *t, MPI_Comm comm, int rank, int size)
{
    int found = -1;

    EPT_OK(t, MPI_Comm_rank(comm, &found));
    EPT_EQ(t, rank, found);
    EPT_OK(t, MPI_Comm_size(comm, &found));
    EPT_EQ(t, size, found);
}

static void ranks_on_each(struct ept *t, int index, void *context)
{
    const int count = static_count(t->proc);
    int num_ep = -1, own = -1;

    (void) context;
    check_place(t, MPIX_COMM_ENDPOINTS, static_first(t->proc) + index, static_first(t->nprocs));
    check_place(t, MPIX_COMM_PROCESS, index, count);
    check_place(t, MPIX_COMM_SELF, 0, 1);
    check_place(t, MPI_COMM_WORLD, t->proc, t->nprocs);
    EPT_OK(t, MPIX_Comm_num_endpoints(MPIX_COMM_ENDPOINTS, &num_ep, &own));
    EPT_EQ(t, count, num_ep);
    EPT_EQ(t, index, own);
    EPT_OK(t, MPIX_Comm_num_endpoints(MPIX_COMM_SELF, &num_ep, &own));
    EPT_EQ(t, 1, num_ep);
    EPT_EQ(t, 0, own);
    EPT_CHECK(t, MPIX_COMM_ENDPOINTS == PMPIX_Comm_endpoints(), "another PMPIX_Comm_endpoints");
    EPT_CHECK(t, MPIX_COMM_PROCESS == PMPIX_Comm_process(), "another PMPIX_Comm_process");
    EPT_CHECK(t, MPIX_COMM_SELF == PMPIX_Comm_self(), "another PMPIX_Comm_self");
}

static void case_ranks(MPI_Comm comm, struct ept *t)
{
    int level = -1, num_ep = -1, index = -1;

    (void) comm;
    EPT_EQ(t, MPI_SUCCESS, static_code);
    static_on_each(t, ranks_on_each, NULL);
    EPT_OK(t, MPI_Query_thread(&level));
    EPT_EQ(t, 'i' == static_how(t->proc) ? MPI_THREAD_SINGLE : static_level(), level);
    EPT_OK(t, MPIX_Comm_num_endpoints(MPI_COMM_WORLD, &num_ep, &index));
    EPT_EQ(t, 1, num_ep);
    EPT_EQ(t, 0, index);
}

/* Rank i of one is rank expected(i) of the other, all of them. */
static void check_translates(struct ept *t, MPI_Comm from, MPI_Comm to, const int *expected)
{
    MPI_Group group, other;
    int size, rank = -1;

    EPT_OK(t, MPI_Comm_group(from, &group));
    EPT_OK(t, MPI_Comm_group(to, &other));
    EPT_OK(t, MPI_Group_size(group, &size));
    for (int i = 0; i < size; ++i) {
        EPT_OK(t, MPI_Group_translate_ranks(group, 1, &i, other, &rank));
        EPT_EQ(t, expected[i], rank);
    }
    EPT_OK(t, MPI_Group_free(&group));
    EPT_OK(t, MPI_Group_free(&other));
}

static void groups_on_each(struct ept *t, int index, void *context)
{
    int expected[STATIC_MAX * STATIC_MAX], result = -1;
    const int count = static_count(t->proc), first = static_first(t->proc);

    (void) context;
    for (int i = 0; i < t->nprocs; ++i) {
        expected[i] = 0 < static_count(i) ? static_first(i) : MPI_UNDEFINED;
    }
    check_translates(t, MPI_COMM_WORLD, MPIX_COMM_ENDPOINTS, expected);
    for (int p = 0, rank = 0; p < t->nprocs; ++p) {
        for (int i = 0; i < static_count(p); ++i, ++rank) {
            expected[rank] = p == t->proc ? i : MPI_UNDEFINED;
        }
    }
    check_translates(t, MPIX_COMM_ENDPOINTS, MPIX_COMM_PROCESS, expected);
    for (int i = 0; i < count; ++i) {
        expected[i] = first + i;
    }
    check_translates(t, MPIX_COMM_PROCESS, MPIX_COMM_ENDPOINTS, expected);
    expected[0] = index;
    check_translates(t, MPIX_COMM_SELF, MPIX_COMM_PROCESS, expected);
    expected[0] = 0 == index ? 0 : MPI_UNDEFINED;
    check_translates(t, MPIX_COMM_SELF, MPI_COMM_SELF, expected);
    if (1 == count) {
        EPT_OK(t, MPI_Comm_compare(MPIX_COMM_PROCESS, MPI_COMM_SELF, &result));
        EPT_EQ(t, MPI_CONGRUENT, result);
        EPT_OK(t, MPI_Comm_compare(MPIX_COMM_PROCESS, MPIX_COMM_SELF, &result));
        EPT_EQ(t, MPI_CONGRUENT, result);
    }
    if (static_first(t->nprocs) == t->nprocs) {
        EPT_OK(t, MPI_Comm_compare(MPIX_COMM_ENDPOINTS, MPI_COMM_WORLD, &result));
        EPT_EQ(t, MPI_CONGRUENT, result);
    }
}

static void case_groups(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    static_on_each(t, groups_on_each, NULL);
}

/* A duplicate that is made while nobody waits: its members find each other by counting. */
static void use_idup(struct ept *t, MPI_Comm comm, int rank, int size)
{
    MPI_Request request;
    MPI_Comm copies[2];

    for (int i = 0; i < 2; ++i) {
        EPT_OK(t, MPI_Comm_idup(comm, &copies[i], &request));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        ept_use_comm(t, copies[i], rank, size);
    }
    for (int i = 0; i < 2; ++i) {
        EPT_OK(t, MPI_Comm_free(&copies[i]));
    }
}

static void messages_on_each(struct ept *t, int index, void *context)
{
    MPI_Comm process = MPIX_COMM_PROCESS, all = MPIX_COMM_ENDPOINTS, copy;
    int rank, size;

    (void) context;
    EPT_OK(t, MPI_Comm_rank(all, &rank));
    EPT_OK(t, MPI_Comm_size(all, &size));
    ept_use_comm(t, all, rank, size);
    ept_use_comm(t, process, index, static_count(t->proc));
    ept_use_comm(t, MPIX_COMM_SELF, 0, 1);
    EPT_OK(t, MPI_Comm_dup(process, &copy));
    ept_use_comm(t, copy, index, static_count(t->proc));
    EPT_OK(t, MPI_Comm_free(&copy));
    use_idup(t, process, index, static_count(t->proc));
    use_idup(t, MPIX_COMM_SELF, 0, 1);
    use_idup(t, all, rank, size);
    EPT_OK(t, MPI_Comm_split(all, rank % 2, -rank, &copy));
    EPT_OK(t, MPI_Barrier(copy));
    EPT_OK(t, MPI_Comm_free(&copy));
}

static void case_messages(MPI_Comm comm, struct ept *t)
{
    static_on_each(t, messages_on_each, NULL);
    ept_use_comm(t, comm, t->rank, t->size);
}

/* Attributes and info of a handle are those of MPIX_COMM_ENDPOINTS. */
static void check_facts(struct ept *t, MPI_Comm comm, bool is_static)
{
    static const int keyvals[] = {MPI_TAG_UB, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE};
    char level[MPI_MAX_INFO_VAL] = "", expected[MPI_MAX_INFO_VAL] = "";
    int length = sizeof(level), flag = 0;
    MPI_Info info;

    for (size_t i = 0; i < sizeof(keyvals) / sizeof(keyvals[0]); ++i) {
        int *value = NULL, *world = NULL, flag_world = 0;

        EPT_OK(t, MPI_Comm_get_attr(MPI_COMM_WORLD, keyvals[i], &world, &flag_world));
        EPT_OK(t, MPI_Comm_get_attr(comm, keyvals[i], &value, &flag));
        EPT_EQ(t, is_static ? flag_world : flag, flag); /* MPI_COMM_SELF has its own */
        EPT_EQ(t, is_static && 0 != flag_world ? *world : 0, is_static && 0 != flag ? *value : 0);
    }
    if (!is_static) {
        return;
    }
    EPT_OK(t, MPI_Comm_get_info(MPIX_COMM_ENDPOINTS, &info));
    EPT_OK(t, MPI_Info_get_string(info, "mpix_thread_level", &length, expected, &flag));
    EPT_EQ(t, 1, flag);
    EPT_OK(t, MPI_Info_free(&info));
    length = sizeof(level);
    EPT_OK(t, MPI_Comm_get_info(comm, &info));
    EPT_OK(t, MPI_Info_get_string(info, "mpix_thread_level", &length, level, &flag));
    EPT_EQ(t, 1, flag);
    EPT_STREQ(t, expected, level);
    EPT_OK(t, MPI_Info_free(&info));
}

static void facts_on_each(struct ept *t, int index, void *context)
{
    (void) index;
    (void) context;
    check_facts(t, MPIX_COMM_ENDPOINTS, is_static_job(t));
    check_facts(t, MPIX_COMM_PROCESS, is_static_job(t));
    check_facts(t, MPIX_COMM_SELF, is_static_job(t));
}

static void case_facts(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    static_on_each(t, facts_on_each, NULL);
}

/* The same tag, source and time on three communicators of the same endpoints. */
static void apart_on_each(struct ept *t, int index, void *context)
{
    MPI_Comm comms[2] = {MPIX_COMM_PROCESS, MPIX_COMM_ENDPOINTS};
    const int count = static_count(t->proc), next = (index + 1) % count;
    MPI_Request requests[2];

    (void) context;
    for (int i = 0; i < 2; ++i) {
        const int value = 10 * index + i, to = next + (0 == i ? 0 : static_first(t->proc));

        EPT_OK(t, MPI_Isend(&value, 1, MPI_INT, to, 7, comms[i], &requests[i]));
        EPT_OK(t, MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    }
    for (int i = 1; 0 <= i; --i) {
        int value = -1;

        EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i],
                           MPI_STATUS_IGNORE));
        EPT_EQ(t, 10 * ((index + count - 1) % count) + i, value);
    }
}

/* Likewise on what MPIX_COMM_ENDPOINTS may be a duplicate of. */
static void case_apart_from_world(MPI_Comm comm, struct ept *t)
{
    const int rank = static_first(t->proc), value = 3;
    int flag = 1, received = -1;
    MPI_Request request;

    (void) comm;
    if (0 == static_count(t->proc)) {
        return;
    }
    EPT_OK(t, MPI_Isend(&value, 1, MPI_INT, rank, 9, MPIX_COMM_ENDPOINTS, &request));
    for (int i = 0; i < 100; ++i) {
        EPT_OK(t, MPI_Iprobe(t->proc, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        EPT_EQ(t, 0, flag);
    }
    EPT_OK(t, MPI_Recv(&received, 1, MPI_INT, rank, 9, MPIX_COMM_ENDPOINTS, MPI_STATUS_IGNORE));
    EPT_EQ(t, value, received);
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void case_apart(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    static_on_each(t, apart_on_each, NULL);
}

static void kept_on_each(struct ept *t, int index, void *context)
{
    static const char *const names[] = {"MPIX_COMM_ENDPOINTS", "MPIX_COMM_PROCESS",
                                        "MPIX_COMM_SELF"};
    const MPI_Comm comms[] = {MPIX_COMM_ENDPOINTS, MPIX_COMM_PROCESS, MPIX_COMM_SELF};

    (void) index;
    (void) context;
    for (int i = 0; i < 3; ++i) {
        char name[MPI_MAX_OBJECT_NAME] = "";
        MPI_Comm comm = comms[i];
        int length;

        if (MPI_COMM_SELF == comm) {
            continue; /* itself: nobody has asked for endpoints */
        }
        EPT_OK(t, MPI_Comm_get_name(comm, name, &length));
        EPT_STREQ(t, names[i], name);
        EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
        EPT_CLASS(t, MPI_ERR_COMM, MPI_Comm_free(&comm));
        EPT_CHECK(t, comms[i] == comm, "the handle is another one now");
        EPT_CLASS(t, MPI_ERR_COMM, MPI_Comm_disconnect(&comm));
        EPT_CHECK(t, comms[i] == comm, "the handle is another one now");
        EPT_OK(t, MPI_Barrier(comm));
    }
}

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    const int kind = (int) (intptr_t) value, sent = 10 * kind + end.deleted[kind];
    int rank = -1, received = -1, is_over = 1;

    (void) keyval;
    (void) extra;
    MPI_Finalized(&is_over);
    MPI_Comm_rank(comm, &rank);
    MPI_Sendrecv(&sent, 1, MPI_INT, rank, 3, &received, 1, MPI_INT, rank, 3, comm,
                 MPI_STATUS_IGNORE);
    end.wrong += is_over || sent != received || !pthread_equal(end.finalizes, pthread_self())
                 || (0 < kind && end.endpoints != end.deleted[kind - 1]);
    ++end.deleted[kind];
    return MPI_SUCCESS;
}

/* Behind the end of MPI nobody listens to a test: it ends with a status of its own. */
static void ask_at_exit(void)
{
    for (int kind = 0; kind < 3; ++kind) {
        end.wrong += end.endpoints != end.deleted[kind];
    }
    if (0 != end.wrong) {
        ept_note("%d endpoints; attributes deleted by MPI_Finalize: %d, %d, %d; %d mistakes",
                 end.endpoints, end.deleted[0], end.deleted[1], end.deleted[2], end.wrong);
        _Exit(3);
    }
}

static void end_on_each(struct ept *t, int index, void *context)
{
    const MPI_Comm comms[] = {MPIX_COMM_SELF, MPIX_COMM_PROCESS, MPIX_COMM_ENDPOINTS};
    const int keyval = *(int *) context;

    (void) index;
    for (int kind = 0; kind < 3; ++kind) {
        EPT_OK(t, MPI_Comm_set_attr(comms[kind], keyval, (void *) (intptr_t) kind));
    }
}

/* Attributes that MPI_Finalize deletes before anything else: first those of each endpoint's own. */
static void case_end(MPI_Comm comm, struct ept *t)
{
    int keyval;

    (void) comm;
    end.endpoints = static_count(t->proc);
    EPT_OK(t, MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL));
    static_on_each(t, end_on_each, &keyval);
    EPT_OK(t, MPI_Comm_free_keyval(&keyval));
    EPT_EQ(t, 0, atexit(ask_at_exit));
}

/* A process without endpoints: its threads are attached to nothing. */
static void case_no_endpoint(MPI_Comm comm, struct ept *t)
{
    if (0 < static_count(t->proc)) {
        return;
    }
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    EPT_CHECK(t, MPI_COMM_NULL == MPIX_COMM_ENDPOINTS, "it has a communicator");
    EPT_CHECK(t, MPI_COMM_NULL == MPIX_COMM_PROCESS, "it has a communicator");
    EPT_CHECK(t, MPI_COMM_NULL == MPIX_COMM_SELF, "it has a communicator");
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Thread_detach());
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Thread_attach_index(0));
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Thread_attach_rank(t->proc, MPI_COMM_WORLD));
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Thread_attach(MPIX_ENDPOINT_NULL));
    ept_use_comm(t, MPI_COMM_SELF, 0, 1);
    (void) comm;
}

/* Nobody can free them. */
static void case_kept(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    static_on_each(t, kept_on_each, NULL);
}

#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
#if defined(HAVE_EP)
    EPT_CASE(t, case_ranks);
    EPT_CASE(t, case_groups);
    EPT_CASE(t, case_messages);
    EPT_CASE(t, case_facts);
    EPT_CASE(t, case_apart);
    EPT_CASE(t, case_apart_from_world);
    EPT_CASE(t, case_no_endpoint);
    EPT_CASE(t, case_kept);
    EPT_CASE(t, case_end);
#else
    ept_skip(t, "static", "needs endpoints");
#endif
    return 0;
}
