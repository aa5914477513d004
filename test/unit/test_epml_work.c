/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of ompi/mca/pml/epml/engine/pml_epml_work.c: each work goes on until it is done, one thread
 * at a time, with what the last step wrote in sight of the next, whichever thread progresses, and
 * whichever begins it; a step that begins more, or turns, does not lead into another one;
 * communicators are held until then.
 *
 * Guards: pml_epml_work.c
 */

#include <pthread.h>

#include "tap.h"

#include "ompi/mca/pml/epml/engine/pml_epml_work.c"

#define THREADS 4
#define WORKS 200
#define STEPS 50

static mca_pml_epml_ep_t ep;
static ompi_communicator_t handle;

typedef struct job_t {
    mpix_endpoints_work_t work;
    _Atomic int inside; /**< threads in a step of it */
    int steps;          /**< no atomic: the place, or the list's lock, orders them */
    int most;
    struct job_t *begins; /**< in its last step; or NULL */
} job_t;

static _Atomic int finished, overlaps, nested;

static mpix_endpoints_step_t job_step(mpix_endpoints_work_t *work)
{
    job_t *job = (job_t *) work;
    job_t *next = job->begins;
    mpix_endpoints_step_t step = MPIX_ENDPOINTS_STEP_PROGRESS;

    if (0 != atomic_fetch_add(&job->inside, 1)) {
        atomic_fetch_add(&overlaps, 1);
    }
    atomic_fetch_add(&nested, mca_pml_epml_work_turn(&ep, UINT32_MAX)); /* as a test does */
    ++job->steps;
    if (job->most == job->steps) {
        step = MPIX_ENDPOINTS_STEP_DONE;
    } else if (0 == job->steps % 3) {
        step = MPIX_ENDPOINTS_STEP_IDLE;
    }
    atomic_fetch_sub(&job->inside, 1);
    if (MPIX_ENDPOINTS_STEP_DONE == step) {
        if (NULL != next) {
            mca_pml_epml_work_begin(&ep, &handle, &next->work);
        }
        free(job); /* it is ours again */
        atomic_fetch_add(&finished, 1);
    }
    return step;
}

static job_t *job_new(int most, job_t *begins)
{
    job_t *job = calloc(1, sizeof(*job));

    job->work.step = job_step;
    job->most = most;
    job->begins = begins;
    return job;
}

static void begin(void)
{
    memset((void *) &ep, 0, sizeof(ep));
    OBJ_CONSTRUCT(&ep.work.lock, opal_mutex_t);
    ((opal_object_t *) &handle)->obj_reference_count = 1;
    finished = overlaps = nested = 0;
}

/** All is over, and nothing is left. */
static void check_end(int jobs)
{
    TAP_EQ(jobs, finished);
    TAP_EQ(0, overlaps);
    TAP_EQ(0, nested);
    TAP_EQ(0, ep.works);
    TAP_CHECK(NULL == ep.work_place && NULL == ep.work.first, "there is work left");
    TAP_CHECK(!mca_pml_epml_work_has(&ep), "and it shows");
    TAP_EQ(1, ((opal_object_t *) &handle)->obj_reference_count);
    OBJ_DESTRUCT(&ep.work.lock);
}

static void case_turns(void)
{
    tap_case("each once a turn, as many as are allowed");
    begin();
    TAP_EQ(0, mca_pml_epml_work_turn(&ep, UINT32_MAX));
    mca_pml_epml_work_begin(&ep, &handle, &job_new(2, NULL)->work);
    mca_pml_epml_work_begin(&ep, &handle, &job_new(2, NULL)->work);
    mca_pml_epml_work_begin(&ep, &handle, &job_new(2, NULL)->work);
    TAP_CHECK(mca_pml_epml_work_has(&ep), "it does not show");
    TAP_EQ(4, ((opal_object_t *) &handle)->obj_reference_count);
    TAP_EQ(2, mca_pml_epml_work_turn(&ep, 1)); /* the first, which has the place; the second */
    TAP_EQ(0, finished);
    TAP_EQ(2, mca_pml_epml_work_turn(&ep, 1)); /* the first; the third: the oldest in the list */
    TAP_EQ(1, finished);
    TAP_EQ(2, mca_pml_epml_work_turn(&ep, UINT32_MAX));
    check_end(3);
    tap_case_done();
}

static void *turn_until_done(void *arg)
{
    const int jobs = *(const int *) arg;

    while (jobs > atomic_load(&finished)) {
        (void) mca_pml_epml_work_turn(&ep, 1 + (uint32_t) atomic_load(&finished) % 4);
    }
    return NULL;
}

static void *begin_some(void *arg)
{
    uint64_t random = tap_stream((uintptr_t) arg);

    for (int i = 0; i < WORKS; ++i) {
        job_t *next = job_new(1 + (int) tap_below(&random, STEPS), NULL);

        mca_pml_epml_work_begin(&ep, &handle,
                                &job_new(1 + (int) tap_below(&random, STEPS), next)->work);
    }
    return NULL;
}

static void case_threads(void)
{
    int jobs = 2 * 2 * WORKS;
    pthread_t threads[THREADS + 2];

    tap_case("%d threads turn, two begin %d works each, and these as many", THREADS, WORKS);
    begin();
    for (uintptr_t i = 0; i < THREADS + 2; ++i) {
        TAP_EQ(0, pthread_create(&threads[i], NULL, i < THREADS ? turn_until_done : begin_some,
                                 i < THREADS ? (void *) &jobs : (void *) i));
    }
    for (int i = 0; i < THREADS + 2; ++i) {
        pthread_join(threads[i], NULL);
    }
    check_end(jobs);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_work", 60);
    opal_class_initialize(OBJ_CLASS(opal_mutex_t));
    (void) opal_set_using_threads(true); /* references are counted by atomics */
    case_turns();
    for (int i = 0; i < 20; ++i) {
        case_threads();
    }
    return tap_end();
}
