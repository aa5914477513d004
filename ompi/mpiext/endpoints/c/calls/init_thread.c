/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Init_endpoint_thread, and MPIX_Init_UPCMPI on top of it: MPI begins by a call of each thread
 * of a process, as the threads of a PGAS language do.
 *
 * The threads of a process meet here; the last one that comes begins MPI, as MPIX_Init_endpoint
 * does, with an endpoint for each thread that wants one, in the order of the threads' numbers, not
 * of their coming.  Where the language's runtime has begun MPI before, as OpenCoarrays does, the
 * endpoints are made then.
 *
 * Tests: pgas
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../static/static.h"
#include "../base/base.h"
#include "calls.h"
#include "mpiext_endpoints_begin.h"
#include "mpiext_endpoints_init.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ompi/constants.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/runtime/mpiruntime.h"

/** A thread that has come, on its stack. */
typedef struct arrival_t {
    struct arrival_t *next;
    long number; /**< orders the threads of the process */
    bool flag;   /**< it wants an endpoint */
    int index;   /**< which one it gets */
} arrival_t;

/** Under the lock. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t over;
    arrival_t *arrivals;
    int arrived;
    bool is_over;
    int code; /**< what all threads return */
} meeting = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};

/** How many threads of this process come. */
static int init_thread_expected(void)
{
    const int told = mpix_endpoints_told(MPIX_ENDPOINTS_NUMBER_VARIABLE, 1, INT_MAX);

    return 1 < told ? told : 1;
}

/** Those that want an endpoint and have a number below this one. */
static int wanted_below(long number)
{
    int count = 0;

    for (const arrival_t *a = meeting.arrivals; NULL != a; a = a->next) {
        count += a->flag && a->number < number;
    }
    return count;
}

/** Have all threads their own number, and do they begin alike?
 *
 * @param[in] most  no number is higher
 * @return 0, or what is wrong */
static int init_thread_check(long most)
{
    for (const arrival_t *a = meeting.arrivals; NULL != a; a = a->next) {
        bool is_own = 0 <= a->number && most >= a->number;

        for (const arrival_t *b = a->next; NULL != b; b = b->next) {
            is_own &= a->number != b->number;
        }
        if (!is_own) {
            return MPIX_ENDPOINTS_BEGINS_WRONG + MPIX_ENDPOINTS_CAUSE_THREADS;
        }
    }
    return 0;
}

/** The level of the endpoints: the launcher's, or one with which any thread may use any. */
static int level_told(void)
{
    int number, level;

    (void) mpix_endpoints_call_told(&number, &level);
    return MPI_THREAD_FUNNELED <= level ? level : MPI_THREAD_MULTIPLE;
}

/** The runtime has begun MPI. */
static int begin_later(mpix_endpoints_begin_t *begin)
{
    if (mpix_endpoints_process_is_static() || NULL == mpix_endpoints_table()
        || MPIX_ENDPOINTS_FREE != mpix_endpoints_process_rule()) {
        return mpix_endpoints_begin_late_code();
    }
    begin->level = ompi_mpi_thread_provided;
    if (0 == begin->wrong && 1 < begin->count && MPI_THREAD_MULTIPLE > begin->level) {
        begin->wrong = MPIX_ENDPOINTS_BEGINS_WRONG + MPIX_ENDPOINTS_CAUSE_LEVEL_WRONG;
    }
    return mpix_endpoints_begin_later(begin);
}

/** All threads of the process have come. */
static int begin_all(const char *name, long most, mpix_endpoints_init_fn_t libmpi, void *arguments)
{
    mpix_endpoints_begin_t begin = {.count = wanted_below(LONG_MAX), .level = level_told()};
    const int wrong = init_thread_check(most);
    int code;

    if (mpix_endpoints_begin_is_late()) {
        begin.wrong = wrong;
        code = begin_later(&begin);
    } else {
        code = mpix_endpoints_begin_libmpi(0 != wrong ? wrong : MPIX_ENDPOINTS_BEGINS_STATIC,
                                           MPI_THREAD_MULTIPLE, libmpi, arguments);
        if (MPI_SUCCESS != code) {
            return code;
        }
        code = mpix_endpoints_begin(&begin, true);
    }
    return MPI_SUCCESS == code ? code : OMPI_ERRHANDLER_NOHANDLE_INVOKE(code, name);
}

/** Come, and wait for the others.  @return what all return */
static int init_thread_barrier(const char *name, arrival_t *own, long most,
                               mpix_endpoints_init_fn_t libmpi, void *arguments)
{
    int code;

    pthread_mutex_lock(&meeting.lock);
    if (meeting.is_over) {
        pthread_mutex_unlock(&meeting.lock);
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(mpix_endpoints_begin_late_code(), name);
    }
    own->next = meeting.arrivals;
    meeting.arrivals = own;
    if (init_thread_expected() == ++meeting.arrived) {
        for (arrival_t *a = meeting.arrivals; NULL != a; a = a->next) {
            a->index = wanted_below(a->number);
        }
        meeting.code = begin_all(name, most, libmpi, arguments);
        meeting.is_over = true;
        pthread_cond_broadcast(&meeting.over);
    }
    while (!meeting.is_over) {
        pthread_cond_wait(&meeting.over, &meeting.lock);
    }
    code = meeting.code;
    pthread_mutex_unlock(&meeting.lock);
    return code;
}

/** The thread has come back from the meeting: it has its endpoint, or none. */
static int init_thread_settle(const arrival_t *own)
{
    if (own->flag) {
        return mpix_endpoints_attach(mpix_endpoints_process_endpoint(own->index), -1, true);
    }
    (void) mpix_endpoints_detach(); /* from the first one, if there is any */
    return OMPI_SUCCESS;
}

static int init_thread(const char *name, arrival_t *own, long most, mpix_endpoints_init_fn_t libmpi,
                       void *arguments)
{
    const int code = init_thread_barrier(name, own, most, libmpi, arguments);

    return MPI_SUCCESS == code ? init_thread_settle(own) : code;
}

int mpix_endpoints_call_init_thread(int index, int flag, mpix_endpoints_init_fn_t libmpi,
                                    void *arguments)
{
    arrival_t own = {.number = index, .flag = 0 != flag};

    return init_thread("MPIX_Init_endpoint_thread", &own, init_thread_expected() - 1, libmpi,
                       arguments);
}

/** What orders the threads of a PGAS program in its process: the runtime's own number, where that is
 * the variable MYTHREAD, as GNU UPC has it; or else the order in which the threads have been made.
 * Linux numbers threads upwards, and goes on from below when the numbers are used up. */
static long number_of_thread(void)
{
    const int *mythread = dlsym(RTLD_DEFAULT, "MYTHREAD");
    enum { NUMBERS = 1 << 22 }; /* as many as Linux has */
    const long number = (long) syscall(SYS_gettid) - (long) getpid();

    return NULL != mythread ? *mythread : 0 <= number ? number : number + NUMBERS;
}

int mpix_endpoints_call_init_pgas(int flag, mpix_endpoints_init_fn_t libmpi, void *arguments)
{
    arrival_t own = {.number = number_of_thread(), .flag = 0 != flag};

    return init_thread("MPIX_Init_UPCMPI", &own, LONG_MAX, libmpi, arguments);
}

/* ---- in Open MPI's ABI ----------------------------------------------------------------------- */

MPIX_ENDPOINTS_EXPORT int PMPIX_Init_endpoint_thread(int index, int flag)
{
    mpix_endpoints_init_t arguments = {.argc = NULL};

    return mpix_endpoints_call_init_thread(index, flag, mpix_endpoints_init_thread_libmpi,
                                           &arguments);
}

MPIX_ENDPOINTS_EXPORT __attribute__((weak)) int MPIX_Init_endpoint_thread(int index, int flag)
{
    mpix_endpoints_init_t arguments = {.argc = NULL};

    return mpix_endpoints_call_init_thread(index, flag, mpix_endpoints_init_thread_tool,
                                           &arguments);
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Init_UPCMPI(int *argc, char ***argv, int flag)
{
    mpix_endpoints_init_t arguments = {.argc = argc, .argv = argv};

    return mpix_endpoints_call_init_pgas(flag, mpix_endpoints_init_thread_libmpi, &arguments);
}

MPIX_ENDPOINTS_EXPORT __attribute__((weak)) int MPIX_Init_UPCMPI(int *argc, char ***argv, int flag)
{
    mpix_endpoints_init_t arguments = {.argc = argc, .argv = argv};

    return mpix_endpoints_call_init_pgas(flag, mpix_endpoints_init_thread_tool, &arguments);
}
