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
 * What count-instructions runs under callgrind: 8-byte messages between two endpoints of one
 * process, used by one thread in turns, so that nothing depends on time and the counts are the same
 * in each run.  Collection is on only around the calls of interest; each path ends with a dump
 * named "LEVEL PATH MESSAGES".
 */

#include <mpi.h>
#include <mpi-ext.h>

#include <stdio.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

#define WINDOW 32
#define WARM_UP 20 /* windows: more than the calls after which a lock is biased */
#define WINDOWS 32
#define TAG 7
#define NO_TAG 8

static MPI_Comm sender, receiver;
static double sent[WINDOW], received[WINDOW];
static MPI_Request requests[WINDOW];

static void fail(const char *what)
{
    fprintf(stderr, "instructions: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void send_window(int count)
{
    for (int i = 0; i < count; ++i) {
        MPI_Send(&sent[i], 1, MPI_DOUBLE, 1, TAG, sender);
    }
}

static void recv_window(int count)
{
    for (int i = 0; i < count; ++i) {
        MPI_Recv(&received[i], 1, MPI_DOUBLE, 0, TAG, receiver, MPI_STATUS_IGNORE);
    }
}

static void irecv_window(void)
{
    for (int i = 0; i < WINDOW; ++i) {
        MPI_Irecv(&received[i], 1, MPI_DOUBLE, 0, TAG, receiver, &requests[i]);
    }
}

/* ---- paths: each sends and receives one window; what is between the toggles is counted ------- */

static void path_send(void)
{
    CALLGRIND_TOGGLE_COLLECT;
    send_window(WINDOW);
    CALLGRIND_TOGGLE_COLLECT;
    recv_window(WINDOW);
}

/** Each message is in the inbox when its receive is called. */
static void path_recv(void)
{
    for (int i = 0; i < WINDOW; ++i) {
        MPI_Send(&sent[i], 1, MPI_DOUBLE, 1, TAG, sender);
        CALLGRIND_TOGGLE_COLLECT;
        MPI_Recv(&received[i], 1, MPI_DOUBLE, 0, TAG, receiver, MPI_STATUS_IGNORE);
        CALLGRIND_TOGGLE_COLLECT;
    }
}

/** With its part of waiting for them. */
static void path_isend(void)
{
    CALLGRIND_TOGGLE_COLLECT;
    for (int i = 0; i < WINDOW; ++i) {
        MPI_Isend(&sent[i], 1, MPI_DOUBLE, 1, TAG, sender, &requests[i]);
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    CALLGRIND_TOGGLE_COLLECT;
    recv_window(WINDOW);
}

/** Posted before the messages are sent, with the waiting. */
static void path_irecv_posted(void)
{
    CALLGRIND_TOGGLE_COLLECT;
    irecv_window();
    CALLGRIND_TOGGLE_COLLECT;
    send_window(WINDOW);
    CALLGRIND_TOGGLE_COLLECT;
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    CALLGRIND_TOGGLE_COLLECT;
}

/** Posted when the messages have been taken from the inbox, and wait; their keeping not counted. */
static void path_irecv_unexpected(void)
{
    int flag;

    send_window(WINDOW);
    MPI_Iprobe(0, NO_TAG, receiver, &flag, MPI_STATUS_IGNORE);
    CALLGRIND_TOGGLE_COLLECT;
    irecv_window();
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    CALLGRIND_TOGGLE_COLLECT;
}

static const struct {
    const char *name;
    void (*run)(void);
} paths[] = {
    {"send", path_send},
    {"recv", path_recv},
    {"isend", path_isend},
    {"irecv-posted", path_irecv_posted},
    {"irecv-unexpected", path_irecv_unexpected},
};

static void check_window(void)
{
    for (int i = 0; i < WINDOW; ++i) {
        if (sent[i] != received[i]) {
            fail("a message came out wrong");
        }
        received[i] = 0;
    }
}

static void run_level(const char *level)
{
    MPI_Comm endpoints[2];
    MPI_Info info;
    char name[100];

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_thread_level", level);
    MPIX_Comm_create_endpoints(MPI_COMM_SELF, 2, info, endpoints);
    MPI_Info_free(&info);
    sender = endpoints[0];
    receiver = endpoints[1];
    for (size_t path = 0; path < sizeof(paths) / sizeof(paths[0]); ++path) {
        for (int i = 0; i < WARM_UP; ++i) {
            paths[path].run();
        }
        CALLGRIND_ZERO_STATS;
        for (int i = 0; i < WINDOWS; ++i) {
            paths[path].run();
            check_window();
        }
        snprintf(name, sizeof(name), "%s %s %d", level, paths[path].name, WINDOWS * WINDOW);
        CALLGRIND_DUMP_STATS_AT(name);
    }
    MPI_Comm_free(&endpoints[0]);
    MPI_Comm_free(&endpoints[1]);
}

int main(int argc, char **argv)
{
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    for (int i = 0; i < WINDOW; ++i) {
        sent[i] = 1.5 + i;
    }
    run_level("multiple");
    run_level("funneled");
    MPI_Finalize();
    return 0;
}
