/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * The postman: a thread of the process that sends packets (btl_epofi_packet.c) whose own thread has
 * turned to something else.
 *
 * There is none before the first packet.  While there are packets it looks every
 * btl_epofi_packet_wait microseconds, and sends those that were there at its last look too; a
 * stream's are full before that.  When there have been none for a while it sleeps until it is
 * told.  It does nothing else: it reads no completions, and calls nobody.
 *
 * Tests: test/unit/test_epofi_packet.c, test/mpi/progress.c.
 */

#define _GNU_SOURCE

#include "opal_config.h"

#include "btl_epofi_types.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

/** Looks that find nothing before it goes to sleep. */
#define LOOKS_IDLE 64

/** Nanoseconds by which the kernel may let it sleep longer than told. */
#define SLACK_NS 5000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static pthread_cond_t gone = PTHREAD_COND_INITIALIZER;

/* Under the lock. */
static mca_btl_epofi_module_t *modules; /**< those that may have packets */
static pthread_t thread;
static bool works;                      /**< there is a thread, ... */
static bool ends;                       /**< ... which is to end */

/** It sleeps, or is about to.  Written under the lock, read by all without. */
static _Atomic bool asleep;

/** One look at all.  @return are there packets? */
static bool look(void)
{
    bool any = false;

    for (mca_btl_epofi_module_t *module = modules; NULL != module; module = module->next_posted) {
        any = mca_btl_epofi_packets_collect(module) || any;
    }
    return any;
}

/** Sleep until there is a packet again. */
static void sleep_on(void)
{
    atomic_store_explicit(&asleep, true, memory_order_relaxed);
    /* Either we see the packet, or who has made it sees that we sleep: partner is the fence in
     * mca_btl_epofi_postman_tell. */
    atomic_thread_fence(memory_order_seq_cst);
    if (!look()) {
        while (atomic_load_explicit(&asleep, memory_order_relaxed) && !ends) {
            (void) pthread_cond_wait(&wake, &lock);
        }
    }
    atomic_store_explicit(&asleep, false, memory_order_relaxed);
}

static void *work(void *argument)
{
    const uint64_t ns = (uint64_t) mca_btl_epofi_component.packet_wait * 1000u;
    const struct timespec pause = {.tv_sec = (time_t) (ns / 1000000000u),
                                   .tv_nsec = (long) (ns % 1000000000u)};
    unsigned int idle = 0;

    (void) argument;
    (void) prctl(PR_SET_TIMERSLACK, (unsigned long) SLACK_NS);
    (void) pthread_mutex_lock(&lock);
    while (!ends) {
        idle = look() ? 0 : idle + 1;
        if (LOOKS_IDLE <= idle) {
            sleep_on();
            idle = 0;
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
static bool start(void)
{
    sigset_t all, before;
    bool started;

    (void) sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &before);
    started = 0 == pthread_create(&thread, NULL, work, NULL);
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        (void) pthread_setname_np(thread, "epofi-postman");
    }
    return started;
}

bool mca_btl_epofi_postman_take(mca_btl_epofi_module_t *module)
{
    bool taken;

    (void) pthread_mutex_lock(&lock);
    while (ends) {
        (void) pthread_cond_wait(&gone, &lock); /* another one's last module is just leaving */
    }
    works = works || start();
    taken = works;
    if (taken) {
        module->next_posted = modules;
        modules = module;
    }
    (void) pthread_mutex_unlock(&lock);
    return taken;
}

void mca_btl_epofi_postman_tell(void)
{
    /* See sleep_on. */
    atomic_thread_fence(memory_order_seq_cst);
    if (OPAL_UNLIKELY(atomic_load_explicit(&asleep, memory_order_relaxed))) {
        (void) pthread_mutex_lock(&lock);
        atomic_store_explicit(&asleep, false, memory_order_relaxed);
        (void) pthread_cond_signal(&wake);
        (void) pthread_mutex_unlock(&lock);
    }
}

void mca_btl_epofi_postman_leave(mca_btl_epofi_module_t *module)
{
    mca_btl_epofi_module_t **link = &modules;

    if (!module->posted) {
        return;
    }
    (void) pthread_mutex_lock(&lock);
    while (*link != module) {
        link = &(*link)->next_posted;
    }
    *link = module->next_posted;
    module->posted = false;
    if (NULL == modules) {
        ends = true;
        (void) pthread_cond_signal(&wake);
        (void) pthread_mutex_unlock(&lock);
        (void) pthread_join(thread, NULL);
        (void) pthread_mutex_lock(&lock);
        works = false;
        ends = false;
        (void) pthread_cond_broadcast(&gone);
    }
    (void) pthread_mutex_unlock(&lock);
}
