/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A client of the engine whose callback for an active message sends an answer, also an active
 * message, or begins work, the step of which sends it.  Both messages may be as large as they can.
 */

#include "test/client/epanswer.h"
#include "test/client/epclient.h"

#include <stdlib.h>
#include <string.h>

/** How a message begins. */
typedef struct front_t {
    uint32_t is_answer;
    uint32_t size;   /**< bytes of the whole message */
    uint32_t answer; /**< of a question: bytes that it asks for */
    uint32_t seed;   /**< of the bytes behind it */
} front_t;

_Static_assert(EPANSWER_LEAST == sizeof(front_t), "the smallest message is this alone");

typedef struct handle_t {
    MPI_Comm comm;
    _Atomic uint64_t questions, answers; /**< written under the endpoint's lock */
} handle_t;

/** An answer that is owed. */
typedef struct owed_t {
    mpix_endpoints_work_t work; /**< first */
    handle_t *handle;
    int rank;
    size_t size;
} owed_t;

static int number;
static atomic_int handles, errors;

static unsigned char byte_of(const front_t *front, size_t at)
{
    return (unsigned char) (front->seed + front->size * 3 + at * 5);
}

/** am_send or am_answer. */
typedef int send_t(MPI_Comm comm, int client, int rank, const void *data, size_t size);

/** A message of size bytes.  @return as am_send */
static int say(send_t *send, MPI_Comm comm, int rank, size_t size, uint32_t is_answer,
               size_t answer)
{
    unsigned char message[MPIX_ENDPOINTS_AM_LIMIT];
    const front_t front = {.is_answer = is_answer,
                           .size = (uint32_t) size,
                           .answer = (uint32_t) answer,
                           .seed = (uint32_t) rank};

    memcpy(message, &front, sizeof(front));
    for (size_t i = sizeof(front); i < size; ++i) {
        message[i] = byte_of(&front, i);
    }
    return send(comm, number, rank, message, size);
}

static mpix_endpoints_step_t step(mpix_endpoints_work_t *work)
{
    owed_t *owed = (owed_t *) work;
    const int rc = say(epclient_engine->am_send, owed->handle->comm, owed->rank, owed->size, 1, 0);

    if (MPI_ERR_NO_MEM == rc) {
        return MPIX_ENDPOINTS_STEP_IDLE;
    }
    if (MPI_SUCCESS != rc) {
        atomic_fetch_add(&errors, 1);
    }
    free(owed);
    return MPIX_ENDPOINTS_STEP_DONE;
}

static bool arrived(void *object, int rank, const void *data, size_t size)
{
    handle_t *handle = object;
    front_t front;
    int wrong = 0;

    if (sizeof(front) > size) {
        return false;
    }
    memcpy(&front, data, sizeof(front));
    wrong += size != front.size || 0 != (uintptr_t) data % 8;
    for (size_t i = sizeof(front); i < size; ++i) {
        wrong += byte_of(&front, i) != ((const unsigned char *) data)[i];
    }
    if (0 != wrong) {
        atomic_fetch_add(&errors, 1);
    }
    if (front.is_answer) {
        /* Release: partner is epanswer_answers. */
        atomic_fetch_add_explicit(&handle->answers, 1, memory_order_release);
        return true;
    }
    atomic_fetch_add_explicit(&handle->questions, 1, memory_order_release);
    /* Half of the answers at once; those for which there is no memory, by the step, too. */
    if (0 != front.answer % 16
        || MPI_SUCCESS != say(epclient_engine->am_answer, handle->comm, rank, front.answer, 1, 0)) {
        owed_t *owed = calloc(1, sizeof(*owed));

        *owed = (owed_t){.work = {.step = step},
                         .handle = handle,
                         .rank = rank,
                         .size = front.answer};
        epclient_engine->work_begin(handle->comm, &owed->work);
    }
    return true;
}

static int make(MPI_Comm comm, void **object_p)
{
    handle_t *handle = calloc(1, sizeof(*handle));
    int inter;

    (void) MPI_Comm_test_inter(comm, &inter);
    if (inter || NULL == handle) {
        free(handle);
        return inter ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    handle->comm = comm;
    atomic_fetch_add(&handles, 1);
    *object_p = handle;
    return MPI_SUCCESS;
}

static void handle_free(MPI_Comm comm, void *object)
{
    (void) comm;
    free(object);
    atomic_fetch_sub(&handles, 1);
}

static const mpix_endpoints_client_t client = {
    .name = "epanswer", .make = make, .free = handle_free, .am_handler = arrived};

int epanswer_open(void)
{
    return epclient_engine->client_register(&client, &number);
}

int epanswer_handles(void)
{
    return atomic_load(&handles);
}

int epanswer_ask(MPI_Comm comm, int rank, size_t size, size_t answer)
{
    return say(epclient_engine->am_send, comm, rank, size, 0, answer);
}

/** Acquire: what was checked of the messages before they were counted. */
static uint64_t counted(MPI_Comm comm, const _Atomic uint64_t *count)
{
    (void) epclient_engine->progress(comm);
    return atomic_load_explicit(count, memory_order_acquire);
}

uint64_t epanswer_questions(MPI_Comm comm)
{
    return counted(comm, &((handle_t *) epclient_engine->client_object(comm, number))->questions);
}

uint64_t epanswer_answers(MPI_Comm comm)
{
    return counted(comm, &((handle_t *) epclient_engine->client_object(comm, number))->answers);
}

int epanswer_errors(void)
{
    return atomic_load(&errors);
}
