/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Both ends of a pipe between processes (btl_epshm_pipe.h) at once: two threads, two processes,
 * one that is killed while it writes.
 *
 * Guards: btl_epshm_pipe.h, btl_epshm_pipe_in.h, btl_epshm_pipe_out.h
 */

#include "test_epshm_pipe.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

typedef struct traffic_t {
    segment_t segment;
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;
    uint64_t seed;
    uint64_t count;
    size_t most; /**< bytes of a message */
} traffic_t;

/** Sizes, the same for both processes: many small ones, some in between, few large ones. */
static size_t next_size(uint64_t *random, size_t most)
{
    const uint64_t kind = tap_below(random, 16);

    return (size_t) tap_below(random, kind < 10 ? 49 : kind < 14 ? 442 : most + 1);
}

static void *produce(void *argument)
{
    traffic_t *traffic = argument;
    uint64_t random = traffic->seed;
    unsigned char *data = malloc(traffic->most);
    int rc = EPSHM_PIPE_MESSAGE;

    for (uint64_t number = 0; EPSHM_PIPE_BROKEN != rc && number < traffic->count; ++number) {
        const size_t size = next_size(&random, traffic->most);

        fill(data, size, number);
        while (EPSHM_PIPE_NOTHING == (rc = send(&traffic->out, data, size))) {
            sched_yield();
        }
    }
    TAP_EQ(EPSHM_PIPE_MESSAGE, rc);
    epshm_pipe_close(&traffic->out);
    free(data);
    return NULL;
}

static void consume(traffic_t *traffic)
{
    uint64_t random = traffic->seed, number = 0;
    unsigned char room[ROOM];

    while (!epshm_pipe_is_over(&traffic->in)) {
        epshm_pipe_message_t message;
        int rc = epshm_pipe_peek(&traffic->in, room, &message);

        if (EPSHM_PIPE_NOTHING == rc) {
            sched_yield();
            continue;
        }
        if (EPSHM_PIPE_MESSAGE != rc) {
            TAP_CHECK(false, "broken at message %llu", (unsigned long long) number);
            return;
        }
        check(&message, next_size(&random, traffic->most), number++);
        epshm_pipe_done(&traffic->in, &message);
    }
    TAP_EQ(traffic->count, number);
    epshm_pipe_detach(traffic->in.pipe);
}

/** Geometries: fewest cells and the smallest area that the largest message allows, and more. */
static const struct {
    uint64_t cells, area;
    size_t most;
} geometries[] = {{16, 4096, 4096}, {16, 65536, 3000}, {256, 8192, 5000}, {256, 65536, 16384}};

static void traffic_start(traffic_t *traffic, size_t geometry, uint64_t seed)
{
    traffic->seed = tap_stream(seed);
    traffic->count = TAP_SANITIZED ? 20000 : 100000;
    traffic->most = geometries[geometry].most;
    make(&traffic->segment, geometries[geometry].cells, geometries[geometry].area, &traffic->out,
         &traffic->in);
}

static void case_threads(void)
{
    traffic_t traffic = {.segment = segment_new()};

    for (size_t i = 0; i < sizeof(geometries) / sizeof(geometries[0]); ++i) {
        pthread_t thread;

        tap_case("two threads, %llu cells, area of %llu", (unsigned long long) geometries[i].cells,
                 (unsigned long long) geometries[i].area);
        traffic_start(&traffic, i, i); /* the same memory again: both are through with it */
        pthread_create(&thread, NULL, produce, &traffic);
        consume(&traffic);
        pthread_join(thread, NULL);
        TAP_CHECK(epshm_pipe_is_detached(traffic.out.pipe), "not left");
        tap_case_done();
    }
    segment_free(&traffic.segment);
}

static void case_processes(void)
{
    traffic_t traffic = {.segment = segment_new()};

    for (size_t i = 0; i < sizeof(geometries) / sizeof(geometries[0]); ++i) {
        int status = -1;
        pid_t child;

        tap_case("two processes, %llu cells, area of %llu",
                 (unsigned long long) geometries[i].cells, (unsigned long long) geometries[i].area);
        traffic_start(&traffic, i, 100 + i);
        child = fork();
        if (0 == child) {
            produce(&traffic);
            _exit(tap_case_failed() ? 1 : 0);
        }
        consume(&traffic);
        TAP_EQ(child, waitpid(child, &status, 0));
        TAP_EQ(0, status);
        tap_case_done();
    }
    segment_free(&traffic.segment);
}

/** The child publishes three messages, writes half of a fourth, and is killed. */
static void case_killed(void)
{
    segment_t segment = segment_new();
    unsigned char data[600], room[ROOM];
    epshm_pipe_message_t message;
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;
    int status = 0;
    pid_t child;

    tap_case("a process that is killed while it writes leaves whole messages only");
    make(&segment, 16, 4096, &out, &in);
    child = fork();
    if (0 == child) {
        uint64_t position = 0;

        for (uint64_t number = 0; number < 3; ++number) {
            fill(data, sizeof(data), number);
            (void) send(&out, data, sizeof(data));
        }
        (void) epshm_pipe_reserve(&out, sizeof(data), &position);
        memset(epshm_pipe_area_at(&out, position), 0xee, 100);
        memset(epshm_pipe_out_cell(&out, 0)->data, 0xee, 20);
        (void) kill(getpid(), SIGKILL);
    }
    TAP_EQ(child, waitpid(child, &status, 0));
    TAP_CHECK(WIFSIGNALED(status), "the child was not killed");
    for (uint64_t number = 0; number < 3; ++number) {
        take(&in, sizeof(data), number);
    }
    TAP_EQ(EPSHM_PIPE_NOTHING, epshm_pipe_peek(&in, room, &message));
    TAP_CHECK(!epshm_pipe_is_over(&in), "an end that nobody wrote");
    segment_free(&segment);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_pipe_two", 120);
    splits = true;
    case_threads();
    case_processes();
    case_killed();
    return tap_end();
}
