/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The floor: what the machine does between two pinned threads with no MPI above it.
 *
 * Shared memory: a cache line bounced between the cores, and memcpy into as many destinations as
 * the bandwidth measurement receives into.  Scenario "tcp": a plain socket on the loopback
 * interface, polled as an MPI library polls it.
 */

#define _GNU_SOURCE 1

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "epbench.h"

/** Above this a library that cuts messages into pieces passes a plain socket: no floor there. */
#define SOCKET_LARGEST 65536

typedef struct floor_t {
    _Alignas(EPBENCH_LINE) atomic_long line; /**< bounced: odd, the other one has to answer */
    _Alignas(EPBENCH_LINE) const epbench_options_t *options;
    const epbench_point_t *point;
    long n;
    int socket[2];
    unsigned char *buffer[2];
} floor_t;

/** Time of n rounds of something, seconds. */
typedef double (*floor_block_t)(floor_t *floor, long n);

/** The other thread of a block. */
typedef void *(*floor_echo_t)(void *floor);

static double with_echo(floor_t *floor, long n, floor_echo_t echo, void (*rounds)(floor_t *, long))
{
    pthread_t other;
    double start;
    double elapsed;

    floor->n = n;
    /* It starts where we are.  To move by itself it would need our core first, which it does not
     * get from a thread of real-time priority that polls. */
    epbench_cores_pin(1, 2);
    if (0 != pthread_create(&other, NULL, echo, floor)) {
        epbench_fail("cannot start a thread");
    }
    epbench_cores_pin(0, 2);
    rounds(floor, 1); /* the other thread is there */
    start = epbench_now();
    rounds(floor, n);
    elapsed = epbench_now() - start;
    pthread_join(other, NULL);
    return elapsed;
}

/* A cache line. */

static void wait_for(floor_t *floor, long value)
{
    while (value != atomic_load_explicit(&floor->line, memory_order_acquire)) {
        continue;
    }
}

static void *line_echo(void *argument)
{
    floor_t *floor = argument;
    long last = atomic_load_explicit(&floor->line, memory_order_relaxed) / 2 * 2 + 2 * floor->n;

    for (long i = last - 2 * floor->n; i <= last; i += 2) {
        wait_for(floor, i + 1);
        atomic_store_explicit(&floor->line, i + 2, memory_order_release);
    }
    return NULL;
}

static void line_rounds(floor_t *floor, long n)
{
    long first = atomic_load_explicit(&floor->line, memory_order_relaxed);

    for (long i = first; i < first + 2 * n; i += 2) {
        atomic_store_explicit(&floor->line, i + 1, memory_order_release);
        wait_for(floor, i + 2);
    }
}

static double line_block(floor_t *floor, long n)
{
    return with_echo(floor, n, line_echo, line_rounds);
}

/* memcpy by one core. */

static double copy_block(floor_t *floor, long n)
{
    size_t size = floor->point->size;
    size_t stride = epbench_stride(size);
    double start = epbench_now();

    for (long i = 0; i < n; ++i) {
        for (int k = 0; k < floor->point->window; ++k) {
            memcpy(floor->buffer[1] + (size_t) k * stride, floor->buffer[0], size);
            /* The compiler must not merge the copies. */
            __asm__ volatile("" : : "r"(floor->buffer[1]) : "memory");
        }
    }
    return epbench_now() - start;
}

/* A socket. */

static void transfer(int fd, unsigned char *buffer, size_t size, bool out)
{
    while (0 < size) {
        ssize_t done = out ? send(fd, buffer, size, MSG_DONTWAIT | MSG_NOSIGNAL)
                           : recv(fd, buffer, size, MSG_DONTWAIT);

        if (0 < done) {
            buffer += done;
            size -= (size_t) done;
        } else if (0 == done || (EAGAIN != errno && EWOULDBLOCK != errno && EINTR != errno)) {
            epbench_fail("the loopback socket failed: %s", strerror(errno));
        }
    }
}

static void *socket_echo(void *argument)
{
    floor_t *floor = argument;
    size_t size = floor->point->size;

    for (long i = 0; i <= floor->n; ++i) {
        transfer(floor->socket[1], floor->buffer[1], size, false);
        transfer(floor->socket[1], floor->buffer[1], size, true);
    }
    return NULL;
}

static void socket_rounds(floor_t *floor, long n)
{
    size_t size = floor->point->size;

    for (long i = 0; i < n; ++i) {
        transfer(floor->socket[0], floor->buffer[0], size, true);
        transfer(floor->socket[0], floor->buffer[0], size, false);
    }
}

static double socket_block(floor_t *floor, long n)
{
    return with_echo(floor, n, socket_echo, socket_rounds);
}

static void socket_open(floor_t *floor)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int one = 1;

    floor->socket[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (0 > listener || 0 > floor->socket[0]
        || 0 != bind(listener, (struct sockaddr *) &address, sizeof(address))
        || 0 != listen(listener, 1)
        || 0 != getsockname(listener, (struct sockaddr *) &address, &length)
        || 0 != connect(floor->socket[0], (struct sockaddr *) &address, sizeof(address))
        || 0 > (floor->socket[1] = accept(listener, NULL, NULL))) {
        epbench_fail("no socket on the loopback interface: %s", strerror(errno));
    }
    close(listener);
    for (int i = 0; i < 2; ++i) {
        setsockopt(floor->socket[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    }
}

/** Seconds of one round, one value per block. */
static void time_rounds(floor_t *floor, floor_block_t block, double *seconds, long *n_p)
{
    double wanted = floor->options->budget / floor->options->blocks;
    double elapsed;
    long n = 1;

    while (wanted / 2 > (elapsed = block(floor, n))) {
        double factor = (0.0 < elapsed) ? wanted / elapsed : 8.0;

        n = (long) (n * ((8.0 < factor) ? 8.0 : factor)) + 1;
    }
    for (int i = 0; i < floor->options->blocks; ++i) {
        seconds[i] = block(floor, n) / (double) n;
    }
    *n_p = n;
}

static void report(floor_t *floor, const double *seconds, long n)
{
    const epbench_point_t *point = floor->point;
    double values[EPBENCH_MAX_BLOCKS];

    for (int i = 0; i < floor->options->blocks; ++i) {
        if (!point->measure->windowed) {
            values[i] = seconds[i] * 1e6;
        } else {
            values[i] = point->window * (double) point->size / seconds[i] / 1e9;
        }
    }
    epbench_report(floor->options, point, n, floor->options->blocks, values);
}

/** A message cannot arrive before a line has crossed, nor before its bytes were copied once. */
static void run_memory(floor_t *floor)
{
    const char *name = floor->point->measure->name;
    double seconds[EPBENCH_MAX_BLOCKS] = {0.0};
    double copies[EPBENCH_MAX_BLOCKS] = {0.0};
    bool large = 64 < floor->point->size;
    long n = 0;

    if (0 == strcmp(name, "bw")) {
        time_rounds(floor, copy_block, seconds, &n);
    } else if (0 == strcmp(name, "lat") || 0 == strcmp(name, "barrier")) {
        if (large) {
            time_rounds(floor, copy_block, copies, &n);
        }
        time_rounds(floor, line_block, seconds, &n);
        for (int i = 0; i < floor->options->blocks; ++i) {
            seconds[i] = seconds[i] / 2.0 + copies[i];
        }
    } else {
        return;
    }
    report(floor, seconds, n);
}

static void run_socket(floor_t *floor)
{
    const char *name = floor->point->measure->name;
    double seconds[EPBENCH_MAX_BLOCKS] = {0.0};
    long n = 0;

    if (0 != strcmp(name, "lat") || SOCKET_LARGEST < floor->point->size) {
        return;
    }
    time_rounds(floor, socket_block, seconds, &n);
    for (int i = 0; i < floor->options->blocks; ++i) {
        seconds[i] /= 2.0;
    }
    report(floor, seconds, n);
}

void epbench_floor_run(const epbench_options_t *options)
{
    bool network = 0 == strcmp(options->scenario, "tcp");
    floor_t *floor = aligned_alloc(EPBENCH_LINE, sizeof(*floor));
    const size_t page = (size_t) 2 << 20;
    size_t largest = page;

    if (NULL == floor) {
        epbench_fail("no memory");
    }
    memset(floor, 0, sizeof(*floor));
    floor->options = options;
    epbench_cores_pin(0, 2);
    for (int i = 0; i < options->points; ++i) {
        const epbench_point_t *point = &options->point[i];
        size_t bytes = epbench_stride(point->size) * (size_t) point->window;

        while (bytes > largest) {
            largest += page;
        }
    }
    for (int i = 0; i < 2; ++i) {
        floor->buffer[i] = aligned_alloc(page, largest);
        if (NULL == floor->buffer[i]) {
            epbench_fail("no memory for a buffer of %zu bytes", largest);
        }
        memset(floor->buffer[i], 1, largest);
    }
    if (network) {
        socket_open(floor);
    }
    for (int i = 0; i < options->points; ++i) {
        floor->point = &options->point[i];
        if (network) {
            run_socket(floor);
        } else {
            run_memory(floor);
        }
    }
    for (int i = 0; i < 2; ++i) {
        if (network) {
            close(floor->socket[i]);
        }
        free(floor->buffer[i]);
    }
    free(floor);
}
