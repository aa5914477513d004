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
 * The word that a shared file pointer is, where members are on several nodes: rank 0 has it, and
 * the others ask for it.
 *
 * Who wants the pointer moved on sends rank 0 by how much, and waits for where it was: two short
 * messages that no receive waits for (the door's post).  They are added up where they come in,
 * under the lock of rank 0's endpoint, and answered by work of that endpoint, which goes on while
 * anybody turns it: a thread of rank 0's process that is in MPI.  Each member asks once at a time,
 * since a file's calls are one at a time, so the answers that are due fit a ring of as many places.
 *
 * The object that all this is in is made with the communicator; ompio has one for each file.
 *
 * Tests: file_shared, file_random (cluster)
 */

#include "ompi_config.h"

#include "../members/members.h"
#include "mpiext_endpoints_sharedfp_module.h"

#include "ompi/communicator/communicator.h"

#if MPIX_ENDPOINTS_FILES

#    include <stddef.h>
#    include <stdlib.h>

enum { ASK = 1, ANSWER };

/** Counts begin shortly before they wrap, so that they do in any job with some more calls. */
#    define FIRST (UINT32_MAX - 4)

/** A message: move the pointer on by value, which is not negative; or, it was at value. */
typedef struct far_message_t {
    uint64_t kind;
    int64_t value;
} far_message_t;

typedef struct due_t {
    int rank;
    int64_t answer;
} due_t;

struct mpix_endpoints_shared_far_t {
    ompi_communicator_t *comm;

    /* Any member but rank 0. */
    _Atomic bool waits; /**< an answer is awaited */
    int64_t answer;

    /* Rank 0. */
    mpix_endpoints_shared_word_t word;
    mpix_endpoints_work_t work;
    uint32_t places;           /**< of the ring: members or more, and a power of two */
    due_t *_Atomic due;        /**< the ring; NULL: no file is open */
    _Atomic uint32_t put, got; /**< how many have been, from FIRST on, and wrap */
    _Atomic bool ends;         /**< the file goes */
};

/* ---- the client ------------------------------------------------------------------------------ */

static int make(ompi_communicator_t *comm, void **object_p)
{
    mpix_endpoints_members_t here;
    mpix_endpoints_shared_far_t *far;
    const int rc = mpix_endpoints_client_engine()->members(comm, MPIX_ENDPOINTS_NODE, &here);

    if (MPI_SUCCESS != rc || ompi_comm_size(comm) == here.count) {
        return rc;
    }
    far = calloc(1, sizeof(*far));
    if (NULL == far) {
        return MPI_ERR_NO_MEM;
    }
    far->comm = comm;
    *object_p = far;
    return MPI_SUCCESS;
}

static void end(ompi_communicator_t *comm, void *object)
{
    mpix_endpoints_shared_far_t *far = object;

    (void) comm;
    /* Relaxed: nobody uses the handle any more. */
    free(atomic_load_explicit(&far->due, memory_order_relaxed));
    free(far);
}

/** A member asks rank 0. */
static bool asked(mpix_endpoints_shared_far_t *far, int rank, int64_t bytes)
{
    /* Acquire: the ring is there; partner: mpix_endpoints_shared_far_serve. */
    due_t *due = atomic_load_explicit(&far->due, memory_order_acquire);
    /* Relaxed: written here alone, under the endpoint's lock. */
    const uint32_t put = atomic_load_explicit(&far->put, memory_order_relaxed);

    if (NULL == due || 0 > bytes) {
        return NULL == due;
    }
    /* Acquire: the place has been read before it is written again; partner: step. */
    if (far->places == put - atomic_load_explicit(&far->got, memory_order_acquire)) {
        return false;
    }
    /* Relaxed: as in add (sharedfp_module.c). */
    due[put % far->places]
        = (due_t){rank,
                  atomic_fetch_add_explicit(&far->word.position, bytes, memory_order_relaxed)};
    /* Release: the place before it is counted; partner: step. */
    atomic_store_explicit(&far->put, put + 1, memory_order_release);
    return true;
}

/** Rank 0 answers. */
static bool answered(mpix_endpoints_shared_far_t *far, int64_t position)
{
    /* Relaxed: set by this member before it asked. */
    if (!atomic_load_explicit(&far->waits, memory_order_relaxed)) {
        return false;
    }
    far->answer = position;
    /* Release: the answer before it is there; partner: has_answer. */
    atomic_store_explicit(&far->waits, false, memory_order_release);
    return true;
}

static bool arrived(void *object, int rank, const void *data, size_t size)
{
    const far_message_t *message = data;
    mpix_endpoints_shared_far_t *far = object;

    if (sizeof(*message) != size) {
        return false;
    }
    if (0 == ompi_comm_rank(far->comm)) {
        return ASK == message->kind && asked(far, rank, message->value);
    }
    return ANSWER == message->kind && 0 == rank && answered(far, message->value);
}

static const mpix_endpoints_guest_t client = {
    .name = "files", .make = make, .free = end, .arrived = arrived};

void mpix_endpoints_shared_register(const mpix_endpoints_pml_t *table)
{
    mpix_endpoints_client_register(table, &client);
}

/* ---- rank 0 ---------------------------------------------------------------------------------- */

/** Answer who has asked.  A member that is lost needs none. */
static mpix_endpoints_step_t step(mpix_endpoints_work_t *work)
{
    mpix_endpoints_shared_far_t *far
        = (void *) ((char *) work - offsetof(mpix_endpoints_shared_far_t, work));
    due_t *due = atomic_load_explicit(&far->due, memory_order_relaxed); /* there before this work */
    uint32_t got = atomic_load_explicit(&far->got, memory_order_relaxed); /* by steps alone */
    bool some = false;

    /* Acquire: what is in the places; partner: asked. */
    while (got != atomic_load_explicit(&far->put, memory_order_acquire)) {
        const due_t *next = &due[got % far->places];
        const far_message_t message = {ANSWER, next->answer};

        if (MPI_ERR_NO_MEM
            == mpix_endpoints_client_engine()->post(far->comm, mpix_endpoints_client(), next->rank,
                                                    &message, sizeof(message))) {
            break;
        }
        /* Release: the place has been read; partner: asked. */
        atomic_store_explicit(&far->got, ++got, memory_order_release);
        some = true;
    }
    /* Relaxed: all members have met before the file goes, none waits for an answer. */
    if (atomic_load_explicit(&far->ends, memory_order_relaxed)) {
        return MPIX_ENDPOINTS_STEP_DONE;
    }
    return some ? MPIX_ENDPOINTS_STEP_SOME : MPIX_ENDPOINTS_STEP_NOTHING;
}

mpix_endpoints_shared_word_t *mpix_endpoints_shared_far_serve(mpix_endpoints_shared_far_t *far)
{
    uint32_t places = 1;
    due_t *due;

    while (places < (uint32_t) ompi_comm_size(far->comm)) {
        places *= 2; /* as counts wrap, their places must follow each other there, too */
    }
    due = calloc(places, sizeof(*due));
    if (NULL == due) {
        return NULL;
    }
    far->places = places;
    atomic_store_explicit(&far->put, FIRST, memory_order_relaxed); /* before due, below */
    atomic_store_explicit(&far->got, FIRST, memory_order_relaxed); /* likewise */
    far->work.step = step;
    /* Release: all above; partner: asked. */
    atomic_store_explicit(&far->due, due, memory_order_release);
    mpix_endpoints_client_engine()->work_begin(far->comm, &far->work);
    return &far->word;
}

void mpix_endpoints_shared_far_end(mpix_endpoints_shared_far_t *far)
{
    atomic_store_explicit(&far->ends, true, memory_order_relaxed); /* as in step */
}

/* ---- the others ------------------------------------------------------------------------------ */

mpix_endpoints_shared_far_t *mpix_endpoints_shared_far(const ompi_communicator_t *comm)
{
    return 0 > mpix_endpoints_client()
               ? NULL
               : mpix_endpoints_client_engine()->object(comm, mpix_endpoints_client());
}

static bool has_answer(void *context)
{
    mpix_endpoints_shared_far_t *far = context;

    /* Acquire: partner: answered. */
    return !atomic_load_explicit(&far->waits, memory_order_acquire);
}

int mpix_endpoints_shared_far_add(mpix_endpoints_shared_far_t *far, int64_t bytes,
                                  int64_t *before_p)
{
    const far_message_t message = {ASK, bytes};
    int rc;

    /* Relaxed: rank 0 answers what is sent behind it. */
    atomic_store_explicit(&far->waits, true, memory_order_relaxed);
    while (MPI_ERR_NO_MEM
           == (rc = mpix_endpoints_client_engine()->post(far->comm, mpix_endpoints_client(), 0,
                                                         &message, sizeof(message)))) {
        (void) mpix_endpoints_client_engine()->turn(far->comm);
    }
    if (MPI_SUCCESS == rc) {
        rc = mpix_endpoints_client_engine()->wait(far->comm, 0, has_answer, far);
    }
    if (MPI_SUCCESS == rc) {
        *before_p = far->answer;
    }
    return rc;
}

#endif
