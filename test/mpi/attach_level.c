/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Thread_attach_level: the first thread at an endpoint chooses the level, the others have the
 * same; what MPIX_MAX_THREAD_LEVEL and MPIX_CURRENT_THREAD_LEVEL say; each error and its text.
 *
 *   --level N  of the endpoints, 0 to 3 (default 3)
 *
 * Guards: thread_attach.c, attached.c, attributes.c, abi_static.c, mpiext_endpoints_abi.h
 */

#include "static.h"

#if defined(HAVE_EP)

int test_process_init(int *argc, char ***argv)
{
    static_code = static_begin(argc, argv);
    return MPI_THREAD_MULTIPLE;
}

/* The value of a level's attribute, or -1. */
static int level_of(struct ept *t, int index, int keyval)
{
    const int *value = NULL;
    int flag = 0;

    EPT_OK(t, MPIX_Endpoint_get_attr(static_endpoints[index], keyval, &value, &flag));
    return flag ? *value : -1;
}

static int current(struct ept *t, int index)
{
    return level_of(t, index, MPIX_CURRENT_THREAD_LEVEL);
}

/* By a thread of its own, which ends attached. */
struct other {
    struct ept *t;
    int index, level, code;
};

static void *attach_other(void *arg)
{
    struct other *other = arg;

    EPT_OK(other->t, MPIX_Thread_detach());
    other->code = MPIX_Thread_attach_level(static_endpoints[other->index], other->level);
    return NULL;
}

static int by_other(struct ept *t, int index, int level)
{
    struct other other = {.t = t, .index = index, .level = level};
    pthread_t thread;

    EPT_EQ(t, 0, pthread_create(&thread, NULL, attach_other, &other));
    EPT_EQ(t, 0, pthread_join(thread, NULL));
    return other.code;
}

static void check_cause(struct ept *t, int line, const char *words, int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, class = MPI_SUCCESS;

    (void) MPI_Error_class(rc, &class);
    (void) MPI_Error_string(rc, text, &length);
    EPT_CHECK(t, MPIX_ERR_ENDPOINTS == class && NULL != strstr(text, words),
              "line %d: expected \"%s\", got \"%s\"", line, words, text);
}

#    define CAUSE(t, words, rc) check_cause((t), __LINE__, (words), (rc))

/* One thread below MPI_THREAD_SERIALIZED, several above, all at the level of the first. */
static void case_levels(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_EQ(t, MPI_THREAD_MULTIPLE, level_of(t, 1, MPIX_MAX_THREAD_LEVEL));
    EPT_EQ(t, -1, current(t, 1));
    EPT_OK(t, MPIX_Thread_detach());
    EPT_OK(t, MPIX_Thread_attach_level(static_endpoints[1], MPI_THREAD_FUNNELED));
    EPT_EQ(t, MPI_THREAD_FUNNELED, current(t, 1));
    CAUSE(t, "another thread is attached", by_other(t, 1, MPI_THREAD_FUNNELED));
    CAUSE(t, "another thread level", by_other(t, 1, MPI_THREAD_MULTIPLE));
    EPT_OK(t, by_other(t, 0, MPI_THREAD_SERIALIZED));
    EPT_EQ(t, MPI_THREAD_FUNNELED, current(t, 1));
    EPT_OK(t, MPIX_Thread_detach());
    EPT_EQ(t, -1, current(t, 1));
    EPT_OK(t, MPIX_Thread_attach_level(static_endpoints[1], MPI_THREAD_SERIALIZED));
    EPT_EQ(t, MPI_THREAD_SERIALIZED, current(t, 1));
    EPT_OK(t, by_other(t, 1, MPI_THREAD_SERIALIZED));
    CAUSE(t, "another thread level", by_other(t, 1, MPI_THREAD_MULTIPLE));
    EPT_OK(t, MPIX_Thread_detach());
    EPT_OK(t, MPIX_Thread_attach(static_endpoints[1]));
    EPT_EQ(t, MPI_THREAD_MULTIPLE, current(t, 1));
    EPT_OK(t, by_other(t, 1, MPI_THREAD_MULTIPLE));
    CAUSE(t, "another thread level", by_other(t, 1, MPI_THREAD_SERIALIZED));
    EPT_OK(t, MPIX_Thread_attach_index(0));
}

static void case_errors(MPI_Comm comm, struct ept *t)
{
    const int most = static_level();

    (void) comm;
    EPT_EQ(t, most, level_of(t, 1, MPIX_MAX_THREAD_LEVEL));
    CAUSE(t, "MPIX_MAX_THREAD_LEVEL", by_other(t, 1, most + 1));
    CAUSE(t, "MPIX_MAX_THREAD_LEVEL", by_other(t, 1, MPI_THREAD_SINGLE - 1));
    CAUSE(t, "MPIX_Thread_detach comes before",
          MPIX_Thread_attach_level(static_endpoints[1], MPI_THREAD_FUNNELED));
    CAUSE(t, "no endpoint that its process",
          MPIX_Thread_attach_level(MPIX_ENDPOINT_NULL, MPI_THREAD_FUNNELED));
    EPT_OK(t, by_other(t, 1, most));
}

#    define THREADS 8

static pthread_barrier_t meeting;

/* They come and go at once; a thread that is refused finds another level. */
static void *crowd(void *arg)
{
    const struct other *other = arg;

    EPT_OK(other->t, MPIX_Thread_detach());
    pthread_barrier_wait(&meeting);
    for (int i = 0; i < 2000; ++i) {
        const int rc = MPIX_Thread_attach_level(static_endpoints[1], other->level);

        if (MPI_SUCCESS == rc) {
            EPT_EQ(other->t, other->level, current(other->t, 1));
            EPT_OK(other->t, MPIX_Thread_detach());
        } else {
            EPT_CLASS(other->t, MPIX_ERR_ENDPOINTS, rc);
        }
    }
    return NULL;
}

static void case_crowd(MPI_Comm comm, struct ept *t)
{
    struct other other[THREADS];
    pthread_t thread[THREADS];

    (void) comm;
    EPT_EQ(t, 0, pthread_barrier_init(&meeting, NULL, THREADS));
    for (int i = 0; i < THREADS; ++i) {
        other[i] = (struct other){.t = t,
                                  .level = i % 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED};
        EPT_EQ(t, 0, pthread_create(&thread[i], NULL, crowd, &other[i]));
    }
    for (int i = 0; i < THREADS; ++i) {
        EPT_EQ(t, 0, pthread_join(thread[i], NULL));
    }
    EPT_EQ(t, -1, current(t, 1));
    (void) pthread_barrier_destroy(&meeting);
}

#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
#if defined(HAVE_EP)
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    EPT_CASE(t, case_errors);
    if (MPI_THREAD_MULTIPLE == static_level()) {
        EPT_CASE(t, case_levels);
        EPT_CASE(t, case_crowd);
    }
#else
    ept_skip(t, "static", "needs endpoints");
#endif
    return 0;
}
