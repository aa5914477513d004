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
 * A test that hangs on purpose, for stacks.t: a process and its child, two threads each.  With an
 * argument it says first, as the MPI tests do, that it has run out of time.
 */

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static __attribute__((noinline)) void hangs_on_purpose(const char *who)
{
    for (;;) {
        pause();
        fprintf(stderr, "# %s was woken\n", who);
    }
}

static void *thread_on_purpose(void *arg)
{
    hangs_on_purpose(arg);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int rc;

    (void) argv;
    puts("1..1");
    fflush(stdout);
    if (0 > fork()) {
        return 2;
    }
    if (1 < argc) {
        fprintf(stderr, "# TIMEOUT after 0 s: on purpose\n");
    }
    rc = pthread_create(&thread, NULL, thread_on_purpose, "a thread");
    if (0 != rc) {
        return 2;
    }
    hangs_on_purpose("main");
    return 0;
}
