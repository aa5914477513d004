/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Init_endpoint_begin and MPIX_Endpoint_create: what the first tells, what is allowed between
 * them, that the others wait, in whichever way they begin; MPI_Finalize in place of the second; and
 * each error, in all processes.
 *
 *   --how LETTERS    as in static.h; b: in two phases
 *   --counts DIGITS  of those, and of s
 *   --wrong WHAT     by process --by: none (count 0), limit (more than the maximum), array, place (no
 *                    place for a result); twice, alone (MPIX_Endpoint_create once more, or alone)
 *   --call 1         MPI_Barrier between the two, which libmpi refuses
 *   --omit 1         nobody calls MPIX_Endpoint_create: MPI_Finalize does
 *   --endpoints 1    by MPIX_Init_endpoints
 *
 * Guards: init_phases.c, init_make.c, init_endpoint.c, thread_calls.c, abi_init.c, errors.c
 */

#include "static.h"

#if defined(HAVE_EP)

static int maximum = -1, size_told = -1, rank_told = -1, begun_between = -1, begin_code;

static bool is_wrong(const char *what)
{
    return 0 == strcmp(what, ept_option("wrong", ""));
}

static bool is_by(int proc)
{
    return ept_option_long("by", -1) == proc;
}

static int count_here(int proc)
{
    const char how = static_how(proc);

    return 'b' == how || 's' == how ? static_letter(ept_option("counts", "2"), proc) - '0' : 1;
}

static int create(int proc)
{
    const int count = count_here(proc);

    if (is_by(proc) && is_wrong("none")) {
        return MPIX_Endpoint_create(0, static_endpoints);
    }
    if (is_by(proc) && is_wrong("limit")) {
        return MPIX_Endpoint_create(maximum + 1, static_endpoints);
    }
    if (is_by(proc) && is_wrong("array")) {
        return MPIX_Endpoint_create(count, NULL);
    }
    return MPIX_Endpoint_create(count, static_endpoints);
}

static int begin_phases(int *argc, char ***argv)
{
    const int proc = static_proc();
    int version, subversion;

    begin_code = MPIX_Init_endpoint_begin(argc, argv,
                                          is_by(proc) && is_wrong("place") ? NULL : &maximum,
                                          &size_told, &rank_told);
    if (MPI_SUCCESS != begin_code) {
        return begin_code;
    }
    MPI_Initialized(&begun_between);
    MPI_Get_version(&version, &subversion);
    if (0 != ept_option_long("call", 0)) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (0 != ept_option_long("omit", 0)) {
        const int code = MPI_Finalize();

        fprintf(stderr, "one endpoint, %d\n", code);
        exit(MPI_SUCCESS == code ? 0 : 1);
    }
    return create(proc);
}

int test_process_init(int *argc, char ***argv)
{
    const int proc = static_proc();
    int provided = -1;

    if (0 != ept_option_long("endpoints", 0)) {
        static_code = MPIX_Init_endpoints(argc, argv, count_here(proc), MPI_THREAD_SINGLE,
                                          &provided);
        begun_between = 0;
        maximum = provided;
    } else {
        static_code = 'b' == static_how(proc) ? begin_phases(argc, argv) : static_begin(argc, argv);
    }
    return MPI_THREAD_MULTIPLE;
}

static void check_text(struct ept *t, const char *words, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, code);
    EPT_OK(t, MPI_Error_string(code, text, &length));
    EPT_CHECK(t, NULL != strstr(text, words), "expected \"%s\" in \"%s\"", words, text);
}

static void case_told(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_OK(t, static_code);
    if ('b' == static_how(t->proc)) {
        int optimal, most;

        EPT_OK(t, MPIX_Query_endpoints_number(MPI_COMM_WORLD, &optimal, &most));
        EPT_EQ(t, most + count_here(t->proc), maximum); /* now that it has these */
        EPT_EQ(t, t->nprocs, size_told);
        EPT_EQ(t, t->proc, rank_told);
        EPT_EQ(t, 0, begun_between);
    }
}

static void *member(void *arg)
{
    struct ept *t = ((struct static_thread *) arg)->t;
    const int index = ((struct static_thread *) arg)->index;
    int first = 0, all = 0, rank, size, one = 1, sum;

    for (int i = 0; i < t->nprocs; ++i) {
        first += i < t->proc ? count_here(i) : 0;
        all += count_here(i);
    }
    EPT_OK(t, MPIX_Thread_attach_index(index));
    EPT_OK(t, MPI_Comm_rank(MPIX_COMM_ENDPOINTS, &rank));
    EPT_OK(t, MPI_Comm_size(MPIX_COMM_ENDPOINTS, &size));
    EPT_EQ(t, first + index, rank);
    EPT_EQ(t, all, size);
    EPT_OK(t, MPI_Comm_size(MPIX_COMM_PROCESS, &size));
    EPT_EQ(t, count_here(t->proc), size);
    EPT_OK(t, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPIX_COMM_ENDPOINTS));
    EPT_EQ(t, all, sum);
    return NULL;
}

static void case_members(MPI_Comm comm, struct ept *t)
{
    struct static_thread threads[STATIC_MAX];
    const int count = count_here(t->proc);

    (void) comm;
    for (int i = 0; i < count; ++i) {
        threads[i] = (struct static_thread){.t = t, .index = i};
        EPT_EQ(t, 0, pthread_create(&threads[i].thread, NULL, member, &threads[i]));
    }
    for (int i = 0; i < count; ++i) {
        EPT_EQ(t, 0, pthread_join(threads[i].thread, NULL));
    }
}

/* Once more, which is this process's own mistake. */
static void case_order(MPI_Comm comm, struct ept *t)
{
    int a, b, c;

    (void) comm;
    check_text(t, "called once, after MPIX_Init_endpoint_begin",
               MPIX_Endpoint_create(1, static_endpoints));
    check_text(t, "after another initialization", MPIX_Init_endpoint_begin(NULL, NULL, &a, &b, &c));
}

static void case_wrong(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    check_text(t,
               is_wrong("none")    ? "less than one endpoint"
               : is_wrong("limit") ? "more endpoints in one process"
               : is_wrong("array") ? "no array"
                                   : "no place for a result",
               static_code);
    EPT_CHECK(t, MPIX_ENDPOINT_NULL == static_endpoints[0], "an endpoint came with it");
}

#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
#if defined(HAVE_EP)
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if ('\0' != *ept_option("wrong", "")) {
        EPT_CASE(t, case_wrong);
        return 0;
    }
    if (0 != ept_option_long("endpoints", 0)) {
        EPT_EQ(t, 1 < count_here(t->proc) ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE, maximum);
    }
    EPT_CASE(t, case_told);
    EPT_CASE(t, case_members);
    EPT_CASE(t, case_order);
#else
    ept_skip(t, "static", "needs endpoints");
#endif
    return 0;
}
