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
 * The table of the door, and waiting for guests.  Each function's contract is in
 * ompi/mca/common/ep/common_ep_engine.h.
 *
 * Tests: door, death (told_door)
 */

#include "ompi_config.h"

#include "../calls/calls.h"
#include "../engine/engine.h"
#include "../loss/loss.h"
#include "../proto/proto.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_door.h"
#include "pml_epml_door_memory.h"

#include "ompi/constants.h"
#include "ompi/mca/coll/base/coll_tags.h"

/* ---- guests and places ----------------------------------------------------------------------- */

static int door_enrol(const mpix_endpoints_guest_t *guest, int *number_p)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_enrol(guest, number_p));
}

static void *door_object(const ompi_communicator_t *comm, int number)
{
    return mca_pml_epml_enrolled_object(mca_pml_epml_comm(comm), number);
}

static bool door_place(const ompi_communicator_t *comm, int rank, mpix_endpoints_place_t *where)
{
    const mca_pml_epml_comm_t *epml_comm;

    if (!mca_pml_epml_is_endpoint_comm(comm)) {
        return false;
    }
    epml_comm = mca_pml_epml_comm(comm);
    if (NULL == epml_comm || 0 > rank || rank >= epml_comm->local->count) {
        return false;
    }
    mca_pml_epml_who_place(epml_comm, rank, where);
    return true;
}

static int door_members(const ompi_communicator_t *comm, mpix_endpoints_reach_t reach,
                        mpix_endpoints_members_t *within)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_who_members(mca_pml_epml_comm(comm), reach, within));
}

/* ---- waiting --------------------------------------------------------------------------------- */

/** Turns in vain between looks at who is lost. */
#define LOOK_LONG 64

/** @param[in] asks  the thread waits for that rank: to be looked after when it is silent */
static bool lost(const mca_pml_epml_comm_t *comm, int rank, bool asks)
{
    mca_pml_epml_ep_t *ep = comm->ep;
    bool is;

    mca_pml_epml_lock(ep);
    if (mca_pml_epml_lost_has_news(ep)) {
        mca_pml_epml_lost_look(ep);
    }
    is = 0 > rank ? comm->loss.member : mca_pml_epml_lost_is(ep, comm->peers->member[rank]);
    if (asks) {
        mca_pml_epml_lost_note_probe(comm, rank, MPI_ANY_TAG); /* no request says so */
    }
    mca_pml_epml_unlock(ep);
    return is;
}

static bool door_is_lost(const ompi_communicator_t *comm, int rank)
{
    return lost(mca_pml_epml_comm(comm), rank, true);
}

static void door_look_after(const ompi_communicator_t *comm)
{
    mca_pml_epml_lost_look_after(mca_pml_epml_comm(comm));
}

static void door_leave(const ompi_communicator_t *comm)
{
    mca_pml_epml_comm_t *epml_comm = mca_pml_epml_comm(comm);

    mca_pml_epml_lock(epml_comm->ep);
    mca_pml_epml_leave(epml_comm);
    mca_pml_epml_unlock(epml_comm->ep);
}

static int door_turn(const ompi_communicator_t *comm)
{
    return mca_pml_epml_ep_poll(mca_pml_epml_comm(comm)->ep);
}

_Static_assert(sizeof(mca_pml_epml_waiter_t) <= sizeof(mpix_endpoints_wait_t)
                   && 0 == offsetof(mca_pml_epml_waiter_t, counted),
               "a guest has it as words, and looks at the first one");

/** Is whoever is waited for lost? */
static __attribute__((noinline)) int look(const mca_pml_epml_comm_t *comm, int from)
{
    /* Within a process nobody can be, but may have left.  Relaxed: a hint. */
    const bool may_be = mca_pml_epml_ep_has_ways(comm->ep)
                        || atomic_load_explicit(&comm->ep->loss.any, memory_order_relaxed);

    return may_be && lost(comm, from, true) ? MPI_ERR_PROC_FAILED : MPI_SUCCESS;
}

static inline int wait_turn(const mca_pml_epml_comm_t *comm, int from,
                            mca_pml_epml_waiter_t *waiter)
{
    mca_pml_epml_turned(waiter, comm->ep, mca_pml_epml_ep_poll(comm->ep));
    return OPAL_UNLIKELY(0 == waiter->idle % LOOK_LONG) && 0 != waiter->idle ? look(comm, from)
                                                                             : MPI_SUCCESS;
}

static int door_wait_turn(const ompi_communicator_t *comm, int from, mpix_endpoints_wait_t *wait)
{
    return wait_turn(mca_pml_epml_comm(comm), from, (mca_pml_epml_waiter_t *) wait);
}

static void door_wait_end(mpix_endpoints_wait_t *wait)
{
    mca_pml_epml_wait_over((mca_pml_epml_waiter_t *) wait);
}

static int door_wait(const ompi_communicator_t *comm, int from, bool (*until)(void *context),
                     void *context)
{
    const mca_pml_epml_comm_t *epml_comm = mca_pml_epml_comm(comm);
    mca_pml_epml_waiter_t waiter = {0};
    int rc = MPI_SUCCESS;

    while (!until(context)) {
        rc = wait_turn(epml_comm, from, &waiter);
        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            rc = until(context) ? MPI_SUCCESS : rc;
            break;
        }
    }
    mca_pml_epml_wait_over(&waiter);
    return rc;
}

typedef struct word_t {
    const _Atomic uint64_t *word;
    uint64_t least;
} word_t;

static bool has_come(void *context)
{
    const word_t *awaited = context;

    /* Acquire: for what the guest has written before it. */
    return atomic_load_explicit(awaited->word, memory_order_acquire) >= awaited->least;
}

static int door_wait_word(const ompi_communicator_t *comm, int from, const _Atomic uint64_t *word,
                          uint64_t least)
{
    word_t awaited = {.word = word, .least = least};

    return door_wait(comm, from, has_come, &awaited);
}

/* ---- work and requests ----------------------------------------------------------------------- */

static void door_work_begin(ompi_communicator_t *comm, mpix_endpoints_work_t *work)
{
    mca_pml_epml_work_begin(mca_pml_epml_comm(comm)->ep, comm, work);
}

static void door_request_begin(ompi_request_t *request, mpix_endpoints_work_t *work)
{
    mca_pml_epml_work_begin(((mca_pml_epml_guest_request_t *) request)->ep, NULL, work);
}

static int door_request_new(ompi_communicator_t *comm, const mpix_endpoints_request_ops_t *ops,
                            void *context, bool persistent, ompi_request_t **request_p)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_guest_request_new(mca_pml_epml_comm(comm), ops,
                                                                 context, persistent, request_p));
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int door_memory_get(const ompi_communicator_t *comm, mpix_endpoints_reach_t reach,
                           int number, uint32_t key, size_t size,
                           mpix_endpoints_memory_t **memory_p)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_door_memory_get(mca_pml_epml_comm(comm), reach,
                                                               number, key, size, memory_p));
}

/* ---- messages -------------------------------------------------------------------------------- */

/** Guests' tags are negative, as a user's are not, and below those of Open MPI's collectives, but
 * for coll/hcoll, which does not serve endpoints. */
#define GUEST_TAGS (-0x60000000)

_Static_assert(GUEST_TAGS < MCA_COLL_BASE_TAG_NONBLOCKING_END - 0x1000000,
               "far below those of Open MPI's collectives");
_Static_assert(GUEST_TAGS > INT_MIN + EPML_ENROLLED_MOST * (MPIX_ENDPOINTS_TAG_MOST + 1),
               "and there is room for all guests'");

static int tag_of(int number, int tag)
{
    return GUEST_TAGS - number * (MPIX_ENDPOINTS_TAG_MOST + 1) - tag;
}

static int door_isend(ompi_communicator_t *comm, int number, const void *buffer, size_t count,
                      ompi_datatype_t *datatype, int rank, int tag, ompi_request_t **request_p)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_call_isend(buffer, count, datatype, rank,
                                                          tag_of(number, tag),
                                                          MCA_PML_BASE_SEND_STANDARD, comm,
                                                          request_p));
}

static int door_irecv(ompi_communicator_t *comm, int number, void *buffer, size_t count,
                      ompi_datatype_t *datatype, int rank, int tag, ompi_request_t **request_p)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_call_irecv(buffer, count, datatype, rank,
                                                          tag_of(number, tag), comm, request_p));
}

static int door_post(ompi_communicator_t *comm, int number, int rank, const void *data, size_t size)
{
    mca_pml_epml_comm_t *epml_comm = mca_pml_epml_comm(comm);
    int rc;

    if (MPIX_ENDPOINTS_POST_MOST < size) {
        return MPI_ERR_ARG;
    }
    mca_pml_epml_lock(epml_comm->ep);
    rc = mca_pml_epml_own_send(epml_comm, number, rank, data, size);
    mca_pml_epml_unlock(epml_comm->ep);
    return mca_pml_epml_mpi_error(rc);
}

/* ---- the table ------------------------------------------------------------------------------- */

const mpix_endpoints_door_t mca_pml_epml_door = {
    .abi = MPIX_ENDPOINTS_DOOR_ABI,
    .enrol = door_enrol,
    .object = door_object,
    .place = door_place,
    .members = door_members,
    .is_lost = door_is_lost,
    .look_after = door_look_after,
    .leave = door_leave,
    .accelerator = mca_pml_epml_device_accelerator,
    .is_device = mca_pml_epml_device_is,
    .refuse_device = mca_pml_epml_device_refuse,
    .turn = door_turn,
    .wait = door_wait,
    .wait_word = door_wait_word,
    .wait_turn = door_wait_turn,
    .wait_end = door_wait_end,
    .is_crowded = mca_pml_epml_is_crowded,
    .work_begin = door_work_begin,
    .request_new = door_request_new,
    .request_begin = door_request_begin,
    .request_types = mca_pml_epml_guest_request_types,
    .request_done = mca_pml_epml_guest_request_done,
    .memory_get = door_memory_get,
    .memory_is_whole = mca_pml_epml_memory_is_whole,
    .memory_put = mca_pml_epml_memory_put,
    .isend = door_isend,
    .irecv = door_irecv,
    .post = door_post,
};
