/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A test that hangs on purpose, for stacks.t: a process and its child, two threads each.  When
 * its time is over it says so, as the MPI tests do.
 */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void on_alarm(int signum)
{
    static const char text[] = "# TIMEOUT: on purpose\n";

    (void) signum;
    (void) !write(STDERR_FILENO, text, sizeof(text) - 1);
}

static __attribute__((noinline)) void hangs_on_purpose(const char *name)
{
    for (;;) {
        pause();
        (void) name;
    }
}

static void *thread_on_purpose(void *arg)
{
    hangs_on_purpose(arg);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int rc;

    signal(SIGALRM, on_alarm);
    puts("1..1");
    fflush(stdout);
    if (0 > fork()) {
        return 2;
    }
    rc = pthread_create(&thread, NULL, thread_on_purpose, "a thread");
    if (0 != rc) {
        return 2;
    }
    hangs_on_purpose("main");
    return 0;
}
