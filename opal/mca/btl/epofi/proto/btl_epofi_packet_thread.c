/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The packet thread: a thread of the process that sends packets (btl_epofi_packet.c) whose own thread has
 * turned to something else.
 *
 * There is none before the first packet.  While there are packets it looks every
 * btl_epofi_packet_wait microseconds, and sends those that were there at its last look too; a
 * stream's are full before that.  It looks at modules that have had packets lately, however many
 * others there are; when there are none it sleeps until it is woken.  It reads no completions.
 *
 * Its calls may make libfabric connect anew, and with that come all calls that are led to
 * btl_epofi_calls.c: they come from here as from any thread that drives a module, one at a time
 * for each module, and mca_btl_epofi_packets_hold keeps them out.
 *
 * Tests: unit/test_epofi_packet_thread, unit/test_epofi_packet, progress
 */

#define _GNU_SOURCE

#include "opal_config.h"

#include "../object/object.h"
#include "btl_epofi_packet.h"
#include "btl_epofi_packet_thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

/** Looks that find nothing before it forgets a module until it is woken. */
#define LOOKS_IDLE 64

/** Nanoseconds by which the kernel may let it sleep longer than asked. */
#define SLACK_NS 5000

/** So long the end of a process waits for a look to end, ns. */
#define EXIT_NS 100000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static pthread_cond_t gone = PTHREAD_COND_INITIALIZER;

/* Under the lock. */
static mca_btl_epofi_module_t *watched; /**< those that may have packets */
static unsigned int users;              /**< modules that know it */
static pthread_t thread;
static bool works; /**< there is a thread, ... */
static bool ends;  /**< ... which is to end */

/** A module has had no packet for a while: has it really none?  Then it tells when it has. */
static bool has_none(mca_btl_epofi_module_t *module)
{
    atomic_store_explicit(&module->watched, false, memory_order_relaxed);
    /* Either we see the packet, or its maker sees that we do not watch: partner is the fence in
     * mca_btl_epofi_packet_thread_tell. */
    atomic_thread_fence(memory_order_seq_cst);
    if (!mca_btl_epofi_packets_collect(module)) {
        return true;
    }
    atomic_store_explicit(&module->watched, true, memory_order_relaxed);
    module->looks_idle = 0;
    return false;
}

/** One look at all that are watched. */
static void packet_thread_poll(void)
{
    mca_btl_epofi_module_t **link = &watched;

    while (NULL != *link) {
        mca_btl_epofi_module_t *module = *link;

        module->looks_idle = mca_btl_epofi_packets_collect(module) ? 0 : module->looks_idle + 1;
        if (LOOKS_IDLE <= module->looks_idle && has_none(module)) {
            *link = module->next_watched;
        } else {
            link = &module->next_watched;
        }
    }
}

static void *packet_thread_work(void *argument)
{
    const uint64_t ns = (uint64_t) mca_btl_epofi_component.packet_wait * 1000u;
    const struct timespec pause = {.tv_sec = (time_t) (ns / 1000000000u),
                                   .tv_nsec = (long) (ns % 1000000000u)};

    (void) argument;
    (void) prctl(PR_SET_TIMERSLACK, (unsigned long) SLACK_NS);
    (void) pthread_mutex_lock(&lock);
    while (!ends) {
        packet_thread_poll();
        if (NULL == watched) {
            (void) pthread_cond_wait(&wake, &lock);
            continue;
        }
        (void) pthread_mutex_unlock(&lock);
        (void) nanosleep(&pause, NULL);
        (void) pthread_mutex_lock(&lock);
    }
    (void) pthread_mutex_unlock(&lock);
    return NULL;
}

/** Start the thread.  No signal is for it. */
static bool packet_thread_start(void)
{
    sigset_t all, before;
    bool started;

    (void) sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &before);
    started = 0 == pthread_create(&thread, NULL, packet_thread_work, NULL);
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        (void) pthread_setname_np(thread, "epofi-packet thread");
    }
    return started;
}

/** The process ends without MPI_Finalize, and libfabric's destructors come next, as we depend on it:
 * the packet thread must not look any more.  In the child of a fork there is no packet thread, but
 * perhaps its lock: so the wait for it is short. */
static __attribute__((destructor)) void packet_thread_halt(void)
{
    struct timespec until;

    (void) clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += EXIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (0 == pthread_mutex_timedlock(&lock, &until) && !works) {
        (void) pthread_mutex_unlock(&lock);
    }
}

bool mca_btl_epofi_packet_thread_take(void)
{
    bool taken;

    (void) pthread_mutex_lock(&lock);
    while (ends) {
        (void) pthread_cond_wait(&gone, &lock); /* another one's last module is just leaving */
    }
    works = works || packet_thread_start();
    taken = works;
    users += taken ? 1 : 0;
    (void) pthread_mutex_unlock(&lock);
    return taken;
}

void mca_btl_epofi_packet_thread_watch(mca_btl_epofi_module_t *module)
{
    (void) pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&module->watched, memory_order_relaxed)) {
        if (NULL == watched) {
            (void) pthread_cond_signal(&wake);
        }
        module->next_watched = watched;
        module->looks_idle = 0;
        watched = module;
        atomic_store_explicit(&module->watched, true, memory_order_relaxed);
    }
    (void) pthread_mutex_unlock(&lock);
}

/** The last module has left.  Under the lock, which is free meanwhile. */
static void packet_thread_stop(void)
{
    ends = true;
    (void) pthread_cond_signal(&wake);
    (void) pthread_mutex_unlock(&lock);
    (void) pthread_join(thread, NULL);
    (void) pthread_mutex_lock(&lock);
    works = false;
    ends = false;
    (void) pthread_cond_broadcast(&gone);
}

void mca_btl_epofi_packet_thread_leave(mca_btl_epofi_module_t *module)
{
    mca_btl_epofi_module_t **link = &watched;

    if (!module->posted) {
        return;
    }
    module->posted = false;
    (void) pthread_mutex_lock(&lock);
    while (NULL != *link && *link != module) {
        link = &(*link)->next_watched;
    }
    if (NULL != *link) {
        *link = module->next_watched;
    }
    if (0 == --users) {
        packet_thread_stop();
    }
    (void) pthread_mutex_unlock(&lock);
}
