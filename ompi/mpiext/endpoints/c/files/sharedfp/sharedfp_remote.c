/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The word of a shared file pointer if members are on several nodes: rank 0 has it, and the others
 * request additions to it.
 *
 * A member sends rank 0 the bytes to add, and waits for the position before: two active messages
 * (the engine's post).  The handler adds them, under the lock of rank 0's endpoint; a work step of
 * that endpoint replies, whenever some thread progresses it: one of rank 0's process that is in
 * MPI.  Each member has one request at a time, as calls on a file are serialized, so pending
 * replies fit into a ring of as many places as there are members.
 *
 * The object with all this is made with the communicator; ompio has one communicator for each file.
 *
 * Tests: file_shared, file_random (cluster)
 */

#include "ompi_config.h"

#include "../members/members.h"
#include "sharedfp.h"

#include "ompi/communicator/communicator.h"

#if MPIX_ENDPOINTS_FILES

#    include <stddef.h>
#    include <stdlib.h>

enum { REQUEST = 1, REPLY };

/** Counts begin shortly before they wrap, so that every job with a few calls tests it. */
#    define COUNT_FIRST (UINT32_MAX - 4)

/** A request to add value, which is not negative, or a reply: the position was value. */
typedef struct remote_message_t {
    uint64_t kind;
    int64_t value;
} remote_message_t;

typedef struct remote_reply_t {
    int rank;
    int64_t position;
} remote_reply_t;

struct mpix_endpoints_sharedfp_remote_t {
    ompi_communicator_t *comm;

    /* Any member but rank 0. */
    _Atomic bool is_waiting; /**< for a reply */
    int64_t position;

    /* Rank 0. */
    mpix_endpoints_sharedfp_word_t word;
    mpix_endpoints_work_t work;
    uint32_t places;           /**< of the ring: members or more, and a power of two */
    remote_reply_t *_Atomic due; /**< the ring; NULL: no file is open */
    _Atomic uint32_t put, got;   /**< counts from COUNT_FIRST on, which wrap */
    _Atomic bool ends;           /**< the file is closed */
};

/* ---- the client ------------------------------------------------------------------------------ */

static int remote_make(ompi_communicator_t *comm, void **object_p)
{
    mpix_endpoints_members_t here;
    mpix_endpoints_sharedfp_remote_t *remote;
    const int rc = mpix_endpoints_client_engine()->members(comm, MPIX_ENDPOINTS_SCOPE_NODE, &here);

    if (MPI_SUCCESS != rc || ompi_comm_size(comm) == here.count) {
        return rc;
    }
    remote = calloc(1, sizeof(*remote));
    if (NULL == remote) {
        return MPI_ERR_NO_MEM;
    }
    remote->comm = comm;
    *object_p = remote;
    return MPI_SUCCESS;
}

static void remote_free(ompi_communicator_t *comm, void *object)
{
    mpix_endpoints_sharedfp_remote_t *remote = object;

    (void) comm;
    /* Relaxed: the handle is not used any more. */
    free(atomic_load_explicit(&remote->due, memory_order_relaxed));
    free(remote);
}

/** Rank 0: a request has arrived.  @return false: nonsense */
static bool remote_requested(mpix_endpoints_sharedfp_remote_t *remote, int rank, int64_t bytes)
{
    /* Acquire: the ring is there; partner: mpix_endpoints_sharedfp_remote_serve. */
    remote_reply_t *due = atomic_load_explicit(&remote->due, memory_order_acquire);
    /* Relaxed: written here alone, under the endpoint's lock. */
    const uint32_t put = atomic_load_explicit(&remote->put, memory_order_relaxed);

    if (NULL == due || 0 > bytes) {
        return NULL == due;
    }
    /* Acquire: the place has been read before it is written again; partner: remote_step. */
    if (remote->places == put - atomic_load_explicit(&remote->got, memory_order_acquire)) {
        return false;
    }
    /* Relaxed: as in pointer_add (sharedfp_module.c). */
    due[put % remote->places] = (remote_reply_t){
        rank, atomic_fetch_add_explicit(&remote->word.position, bytes, memory_order_relaxed)};
    /* Release: the place before it is counted; partner: remote_step. */
    atomic_store_explicit(&remote->put, put + 1, memory_order_release);
    return true;
}

/** The others: a reply has arrived.  @return false: nonsense */
static bool remote_replied(mpix_endpoints_sharedfp_remote_t *remote, int64_t position)
{
    /* Relaxed: set by this member before its request. */
    if (!atomic_load_explicit(&remote->is_waiting, memory_order_relaxed)) {
        return false;
    }
    remote->position = position;
    /* Release: the position before the flag; partner: remote_has_reply. */
    atomic_store_explicit(&remote->is_waiting, false, memory_order_release);
    return true;
}

static bool remote_arrived(void *object, int rank, const void *data, size_t size)
{
    const remote_message_t *message = data;
    mpix_endpoints_sharedfp_remote_t *remote = object;

    if (sizeof(*message) != size) {
        return false;
    }
    if (0 == ompi_comm_rank(remote->comm)) {
        return REQUEST == message->kind && remote_requested(remote, rank, message->value);
    }
    return REPLY == message->kind && 0 == rank && remote_replied(remote, message->value);
}

static const mpix_endpoints_client_t client = {
    .name = "files", .make = remote_make, .free = remote_free, .am_handler = remote_arrived};

void mpix_endpoints_sharedfp_register(const mpix_endpoints_pml_t *table)
{
    mpix_endpoints_client_register(table, &client);
}

/* ---- rank 0 ---------------------------------------------------------------------------------- */

/** Send pending replies.  A lost member needs none. */
static mpix_endpoints_step_t remote_step(mpix_endpoints_work_t *work)
{
    mpix_endpoints_sharedfp_remote_t *remote
        = (void *) ((char *) work - offsetof(mpix_endpoints_sharedfp_remote_t, work));
    remote_reply_t *due = atomic_load_explicit(&remote->due,
                                               memory_order_relaxed); /* there before this work */
    uint32_t got = atomic_load_explicit(&remote->got, memory_order_relaxed); /* by steps alone */
    bool some = false;

    /* Acquire: the places; partner: remote_requested. */
    while (got != atomic_load_explicit(&remote->put, memory_order_acquire)) {
        const remote_reply_t *next = &due[got % remote->places];
        const remote_message_t message = {REPLY, next->position};

        if (MPI_ERR_NO_MEM
            == mpix_endpoints_client_engine()->am_send(remote->comm, mpix_endpoints_client(),
                                                       next->rank, &message, sizeof(message))) {
            break;
        }
        /* Release: the place has been read; partner: remote_requested. */
        atomic_store_explicit(&remote->got, ++got, memory_order_release);
        some = true;
    }
    /* Relaxed: all members synchronize before the file is closed, so none waits for a reply. */
    if (atomic_load_explicit(&remote->ends, memory_order_relaxed)) {
        return MPIX_ENDPOINTS_STEP_DONE;
    }
    return some ? MPIX_ENDPOINTS_STEP_PROGRESS : MPIX_ENDPOINTS_STEP_IDLE;
}

mpix_endpoints_sharedfp_word_t *mpix_endpoints_sharedfp_remote_serve(
    mpix_endpoints_sharedfp_remote_t *remote)
{
    uint32_t places = 1;
    remote_reply_t *due;

    while (places < (uint32_t) ompi_comm_size(remote->comm)) {
        places *= 2; /* as counts wrap, their places must follow each other there, too */
    }
    due = calloc(places, sizeof(*due));
    if (NULL == due) {
        return NULL;
    }
    remote->places = places;
    atomic_store_explicit(&remote->put, COUNT_FIRST, memory_order_relaxed); /* before due, below */
    atomic_store_explicit(&remote->got, COUNT_FIRST, memory_order_relaxed); /* likewise */
    remote->work.step = remote_step;
    /* Release: all above; partner: remote_requested. */
    atomic_store_explicit(&remote->due, due, memory_order_release);
    mpix_endpoints_client_engine()->work_begin(remote->comm, &remote->work);
    return &remote->word;
}

void mpix_endpoints_sharedfp_remote_end(mpix_endpoints_sharedfp_remote_t *remote)
{
    atomic_store_explicit(&remote->ends, true, memory_order_relaxed); /* as in step */
}

/* ---- the others ------------------------------------------------------------------------------ */

mpix_endpoints_sharedfp_remote_t *mpix_endpoints_sharedfp_remote(const ompi_communicator_t *comm)
{
    return 0 > mpix_endpoints_client()
               ? NULL
               : mpix_endpoints_client_engine()->client_object(comm, mpix_endpoints_client());
}

static bool remote_has_reply(void *context)
{
    mpix_endpoints_sharedfp_remote_t *remote = context;

    /* Acquire: partner: remote_replied. */
    return !atomic_load_explicit(&remote->is_waiting, memory_order_acquire);
}

int mpix_endpoints_sharedfp_remote_add(mpix_endpoints_sharedfp_remote_t *remote, int64_t bytes,
                                       int64_t *before_p)
{
    const remote_message_t message = {REQUEST, bytes};
    int rc;

    /* Relaxed: the reply comes after the request, which is sent below. */
    atomic_store_explicit(&remote->is_waiting, true, memory_order_relaxed);
    while (MPI_ERR_NO_MEM
           == (rc = mpix_endpoints_client_engine()->am_send(remote->comm, mpix_endpoints_client(),
                                                            0, &message, sizeof(message)))) {
        (void) mpix_endpoints_client_engine()->progress(remote->comm);
    }
    if (MPI_SUCCESS == rc) {
        rc = mpix_endpoints_client_engine()->wait(remote->comm, 0, remote_has_reply, remote);
    }
    if (MPI_SUCCESS == rc) {
        *before_p = remote->position;
    }
    return rc;
}

#endif
