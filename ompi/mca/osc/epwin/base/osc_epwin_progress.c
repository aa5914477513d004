/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The progress thread: osc_epwin_progress.h.
 *
 * It progresses endpoints that no other thread has progressed for a while, as any thread that waits
 * in MPI does.  So it takes no lock that a thread in MPI uses often.  When it has found nothing it
 * sleeps; after it has found something it polls for a moment, because an origin's next operation
 * depends on the answer to the last one.
 *
 * Tests: win_progress
 */

#define _GNU_SOURCE

#include "ompi_config.h"

#include "osc_epwin.h"
#include "osc_epwin_progress.h"
#include "osc_epwin_wait.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "opal/mca/common/ep/common_ep_help.h"
#include "opal/mca/threads/mutex.h"
#include "opal/mca/threads/thread_usage.h"

/** Unsuccessful polls before a sleep, 30 to 60 microseconds; 1 where threads share cores. */
#define PROGRESS_POLLS 500

/** How late the kernel may wake the thread; its default of 50 microseconds is too much. */
#define PROGRESS_SLACK_NS 1000UL

/** How long a process that ends without MPI_Finalize waits for the thread. */
#define PROGRESS_EXIT_NS 100000000L

static struct {
    opal_mutex_t lock;
    int handles;
    bool is_running;
    pthread_t thread;
    pid_t pid; /**< whose thread it is: a child of a fork has none */
    cpu_set_t cores;
    bool has_cores;
    _Atomic bool ends;
} progress = {.lock = OPAL_MUTEX_STATIC_INIT};

void mca_osc_epwin_progress_init(void)
{
    progress.has_cores = 0 == sched_getaffinity(0, sizeof(progress.cores), &progress.cores);
}

static void progress_sleep(void)
{
    const long interval = (long) mca_osc_epwin_component.progress_interval;
    const struct timespec time = {.tv_sec = interval / 1000000,
                                  .tv_nsec = interval % 1000000 * 1000};

    (void) nanosleep(&time, NULL);
}

static void *progress_run(void *unused)
{
    const mpix_endpoints_engine_t *engine = mca_osc_epwin_component.engine;
    int idle = 0;

    (void) unused;
    (void) prctl(PR_SET_TIMERSLACK, PROGRESS_SLACK_NS);
    /* Relaxed: nothing but the flag is read. */
    while (!atomic_load_explicit(&progress.ends, memory_order_relaxed)) {
        if (0 < engine->progress_others()) {
            idle = 0;
        } else if (PROGRESS_POLLS <= ++idle || engine->is_oversubscribed()) {
            idle = PROGRESS_POLLS;
            progress_sleep();
        } else {
            epwin_pause();
        }
    }
    return NULL;
}

/** The process ends, perhaps without MPI_Finalize: destructors of libraries that the thread uses
 * come next.  Not waited for without a bound, since a thread may have ended the process in a signal
 * handler, with an endpoint's lock. */
static void progress_exit(void)
{
    struct timespec until;

    if (!progress.is_running || getpid() != progress.pid) {
        return;
    }
    progress.is_running = false;
    atomic_store_explicit(&progress.ends, true, memory_order_relaxed);
    (void) clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PROGRESS_EXIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void) pthread_timedjoin_np(progress.thread, NULL, &until);
}

/** Under the lock.  @return NULL; why there is no thread */
static const char *progress_start(void)
{
    static bool has_exit;
    sigset_t all, before;
    int rc;

    if (!opal_using_threads()) {
        return "the program has not asked for MPI_THREAD_MULTIPLE";
    }
    has_exit = has_exit || 0 == atexit(progress_exit);
    if (!has_exit) {
        return strerror(ENOMEM);
    }
    atomic_store_explicit(&progress.ends, false, memory_order_relaxed);
    /* The program's signals are for its own threads. */
    (void) sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&progress.thread, NULL, progress_run, NULL);
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (0 != rc) {
        return strerror(rc);
    }
    progress.is_running = true;
    progress.pid = getpid();
    (void) pthread_setname_np(progress.thread, "osc_epwin");
    /* The caller may be bound to a core that another thread needs. */
    if (progress.has_cores) {
        (void) pthread_setaffinity_np(progress.thread, sizeof(progress.cores), &progress.cores);
    }
    return NULL;
}

void mca_osc_epwin_progress_begin(void)
{
    static bool is_told;
    const char *reason = NULL;
    bool tell = false;

    opal_mutex_lock(&progress.lock);
    if (0 == progress.handles++) {
        reason = progress_start();
        tell = NULL != reason && !is_told;
        is_told = is_told || tell;
    }
    opal_mutex_unlock(&progress.lock);
    if (tell) {
        (void) mca_btl_ep_show_help("help-osc-epwin.txt", "no progress thread", true, reason);
    }
}

void mca_osc_epwin_progress_end(void)
{
    opal_mutex_lock(&progress.lock);
    if (0 == --progress.handles && progress.is_running) {
        progress.is_running = false;
        atomic_store_explicit(&progress.ends, true, memory_order_relaxed);
        /* Under the lock: the next window starts the next thread after this one's end.  The thread
         * takes no lock that a caller holds. */
        (void) pthread_join(progress.thread, NULL);
    }
    opal_mutex_unlock(&progress.lock);
}
