/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * For tests of the static interface: each process begins MPI in its own way, and has a thread for
 * each of its endpoints.
 *
 *   --how LETTERS   of each process, the last letter goes on: s MPIX_Init_endpoint, i MPI_Init,
 *                   t MPI_Init_thread
 *   --counts DIGITS endpoints of those that use the first, likewise
 *   --level N       the thread level, 0 to 3
 */

#ifndef EP_TEST_MPI_STATIC_H
#define EP_TEST_MPI_STATIC_H

#include "ept.h"

#if defined(HAVE_EP)

#    define STATIC_MAX 16

static MPIX_Endpoint static_endpoints[STATIC_MAX];
static int static_code; /* what the initialization returned */

static inline char static_letter(const char *letters, int proc)
{
    const int last = (int) strlen(letters) - 1;

    return letters[proc < last ? proc : last];
}

/* Before MPI_Init. */
static inline int static_proc(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");

    return NULL != rank ? atoi(rank) : 0;
}

static inline char static_how(int proc)
{
    return static_letter(ept_option("how", "s"), proc);
}

static inline int static_count(int proc)
{
    return 's' == static_how(proc) ? static_letter(ept_option("counts", "2"), proc) - '0' : 1;
}

/* By number: the levels of the MPI ABI have others. */
static inline int static_level(void)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                 MPI_THREAD_MULTIPLE};
    const long level = ept_option_long("level", 1);

    return 0 <= level && level < 4 ? levels[level] : (int) level;
}

static inline int static_begin(int *argc, char ***argv)
{
    const int proc = static_proc();
    int provided;

    switch (static_how(proc)) {
    case 's':
        return MPIX_Init_endpoint(argc, argv, static_count(proc), static_level(), static_endpoints);
    case 'i':
        return MPI_Init(argc, argv);
    default:
        return MPI_Init_thread(argc, argv, static_level(), &provided);
    }
}

/* The rank in MPIX_COMM_ENDPOINTS of a process's first endpoint. */
static inline int static_first(int proc)
{
    int first = 0;

    for (int i = 0; i < proc; ++i) {
        first += static_count(i);
    }
    return first;
}

typedef void (*static_fn_t)(struct ept *t, int index, void *context);

struct static_thread {
    struct ept *t;
    int index;
    static_fn_t fn;
    void *context;
    pthread_t thread;
};

static inline void *static_main(void *arg)
{
    struct static_thread *thread = arg;

    if ('s' == static_how(thread->t->proc)) {
        EPT_OK(thread->t, MPIX_Thread_detach());
        EPT_OK(thread->t, MPIX_Thread_attach(static_endpoints[thread->index]));
    }
    thread->fn(thread->t, thread->index, thread->context);
    return NULL;
}

/* Run fn once per endpoint of this process, in a thread that is attached to it. */
static inline void static_on_each(struct ept *t, static_fn_t fn, void *context)
{
    struct static_thread threads[STATIC_MAX];
    const int count = static_count(t->proc);

    for (int i = 0; i < count; ++i) {
        threads[i] = (struct static_thread){.t = t, .index = i, .fn = fn, .context = context};
        EPT_EQ(t, 0, pthread_create(&threads[i].thread, NULL, static_main, &threads[i]));
    }
    for (int i = 0; i < count; ++i) {
        EPT_EQ(t, 0, pthread_join(threads[i].thread, NULL));
    }
}

#endif

#endif /* EP_TEST_MPI_STATIC_H */
