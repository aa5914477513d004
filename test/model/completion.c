/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Model of completion (pml_epml_acquire.c): one thread completes two requests, as
 * mca_pml_epml_request_complete does; another one tests them by functions that look as libmpi's do,
 * the flag first, without an order, and then the status.  What it is told of has the new status,
 * and the data are there.  A third one has put the functions into their table, as
 * mca_pml_epml_wait_install does: a thread that finds them finds the originals.
 *
 * MODEL_FUNCTION: 0 test, 1 test_any, 2 test_all, 3 test_some.  To be found: MODEL_STOCK, without
 * pml_epml_acquire.c; MODEL_UNFENCED, without the fence in front of the originals.  For a checker
 * only.
 *
 * Guards: pml_epml_acquire.c
 */

#define MODEL_THREADS 3
#include "model.h"

#include "ompi/mca/pml/epml/calls/pml_epml_acquire.c"

#if !defined(MODEL_FUNCTION)
#    define MODEL_FUNCTION 0
#endif
#define COUNT 2

static ompi_request_t request[COUNT];
static uint64_t data[COUNT];

static ompi_request_fns_t original;
static _Atomic int replaced; /**< the table: whether our functions are in */

/* ---- as libmpi does it ----------------------------------------------------------------------- */

/** In place of a plain load, which is a race to a checker whatever comes of it. */
static bool flag_is_up(const ompi_request_t *tested)
{
    return REQUEST_COMPLETED
           == __atomic_load_n((void *const *) &tested->req_complete, __ATOMIC_RELAXED);
}

static int stock_test(ompi_request_t **tested, int *completed, ompi_status_public_t *status)
{
    *completed = flag_is_up(*tested);
    if (*completed) {
        status->MPI_TAG = (*tested)->req_status.MPI_TAG;
    }
    return OMPI_SUCCESS;
}

static int stock_test_some(size_t count, ompi_request_t **requests, int *outcount, int *indices,
                           ompi_status_public_t *statuses)
{
    *outcount = 0;
    for (size_t i = 0; i < count; ++i) {
        if (flag_is_up(requests[i])) {
            statuses[*outcount].MPI_TAG = requests[i]->req_status.MPI_TAG;
            indices[(*outcount)++] = (int) i;
        }
    }
    return OMPI_SUCCESS;
}

static int stock_test_any(size_t count, ompi_request_t **requests, int *index, int *completed,
                          ompi_status_public_t *status)
{
    *completed = 0;
    for (size_t i = 0; i < count && !*completed; ++i) {
        *index = (int) i;
        (void) stock_test(&requests[i], completed, status);
    }
    return OMPI_SUCCESS;
}

static int stock_test_all(size_t count, ompi_request_t **requests, int *completed,
                          ompi_status_public_t *statuses)
{
    *completed = 1;
    for (size_t i = 0; i < count && *completed; ++i) {
        (void) stock_test(&requests[i], completed, &statuses[i]);
    }
    return OMPI_SUCCESS;
}

/* ---- the threads ----------------------------------------------------------------------------- */

static void model_setup(void)
{
    for (int i = 0; i < COUNT; ++i) {
        request[i].req_complete = REQUEST_PENDING;
        request[i].req_state = OMPI_REQUEST_ACTIVE;
        request[i].req_status.MPI_TAG = -1;
    }
}

static void complete_all(void)
{
    for (int i = 0; i < COUNT; ++i) {
        data[i] = 200 + (uint64_t) i;
        request[i].req_status.MPI_TAG = 100 + i;
        __atomic_store_n(&request[i].req_complete, REQUEST_COMPLETED, __ATOMIC_RELEASE);
    }
}

static void install(void)
{
    original.req_test = stock_test;
    original.req_test_any = stock_test_any;
    original.req_test_all = stock_test_all;
    original.req_test_some = stock_test_some;
    atomic_store_explicit(&replaced, 1, memory_order_release);
}

/** As in pml_epml_wait.c. */
static const ompi_request_fns_t *libmpi(void)
{
#if !defined(MODEL_UNFENCED)
    atomic_thread_fence(memory_order_acquire);
#endif
    return &original;
}

#if defined(MODEL_STOCK)
#    define TEST libmpi()->req_test(
#    define TEST_ANY libmpi()->req_test_any(
#    define TEST_ALL libmpi()->req_test_all(
#    define TEST_SOME libmpi()->req_test_some(
#else
#    define TEST mca_pml_epml_acquire_test(libmpi(),
#    define TEST_ANY mca_pml_epml_acquire_test_any(libmpi(),
#    define TEST_ALL mca_pml_epml_acquire_test_all(libmpi(),
#    define TEST_SOME mca_pml_epml_acquire_test_some(libmpi(),
#endif

/** A request that a test has reported. */
static void check(int index, const ompi_status_public_t *status)
{
    assert(0 <= index && index < COUNT);
    assert(100 + index == status->MPI_TAG);
    assert(200 + (uint64_t) index == data[index]);
}

static void test(void)
{
    ompi_request_t *list[COUNT] = {&request[0], &request[1]};
    ompi_status_public_t status[COUNT];
    int indices[COUNT], number = 0;

    /* Relaxed: libmpi's plain load of a function out of its table. */
    MODEL_AWAIT(atomic_load_explicit(&replaced, memory_order_relaxed));
    switch (MODEL_FUNCTION) {
    case 0:
        (void) TEST &list[1], &number, status);
        if (number) {
            check(1, status);
        }
        break;
    case 1:
        (void) TEST_ANY COUNT, list, indices, &number, status);
        if (number) {
            check(indices[0], status);
        }
        break;
    case 2:
        (void) TEST_ALL COUNT, list, &number, status);
        for (int i = 0; i < COUNT && number; ++i) {
            check(i, &status[i]);
        }
        break;
    default:
        (void) TEST_SOME COUNT, list, &number, indices, status);
        for (int i = 0; i < number; ++i) {
            check(indices[i], &status[i]);
        }
    }
}

static void model_thread(unsigned int number)
{
    if (0 == number) {
        complete_all();
    } else if (1 == number) {
        install();
    } else {
        test();
    }
}

static void model_verdict(void)
{
}
