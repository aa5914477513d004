/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The table of the engine's interface, and waiting for clients.  Each function's contract is in
 * ompi/mca/common/ep/common_ep_engine.h.
 *
 * Tests: client, death (told_client)
 */

#include "ompi_config.h"

#include "../calls/calls.h"
#include "../engine/engine.h"
#include "../loss/loss.h"
#include "../proto/proto.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_service.h"
#include "pml_epml_service_memory.h"

#include "ompi/constants.h"
#include "ompi/mca/coll/base/coll_tags.h"

/* ---- clients and places ----------------------------------------------------------------------- */

static int service_client_register(const mpix_endpoints_client_t *client, int *number_p)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_client_register(client, number_p));
}

static void *service_client_object(const ompi_communicator_t *comm, int number)
{
    return mca_pml_epml_clients_object(mca_pml_epml_comm(comm), number);
}

static bool service_locality(const ompi_communicator_t *comm, int rank,
                             mpix_endpoints_locality_t *where)
{
    const mca_pml_epml_comm_t *epml_comm;

    if (!mca_pml_epml_is_endpoint_comm(comm)) {
        return false;
    }
    epml_comm = mca_pml_epml_comm(comm);
    if (NULL == epml_comm || 0 > rank || rank >= epml_comm->local->count) {
        return false;
    }
    mca_pml_epml_locality_place(epml_comm->local->member[rank], where);
    return true;
}

static bool service_locality_remote(const ompi_communicator_t *comm, int rank,
                                    mpix_endpoints_locality_t *where)
{
    const mca_pml_epml_comm_t *epml_comm;

    if (!OMPI_COMM_IS_INTER(comm) || !mca_pml_epml_is_endpoint_comm(comm)) {
        return false;
    }
    epml_comm = mca_pml_epml_comm(comm);
    if (NULL == epml_comm || 0 > rank || rank >= epml_comm->peers->count) {
        return false;
    }
    mca_pml_epml_locality_place(epml_comm->peers->member[rank], where);
    return true;
}

static int service_members(const ompi_communicator_t *comm, mpix_endpoints_scope_t reach,
                           mpix_endpoints_members_t *within)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_locality_members(mca_pml_epml_comm(comm), reach,
                                                                within));
}

/* ---- waiting --------------------------------------------------------------------------------- */

/** Unsuccessful rounds of a wait between checks for losses. */
#define LOOK_LONG 64

/** Is a rank lost?  The thread counts as waiting for it: its liveness is checked when it is
 * silent. */
static bool service_lost(const mca_pml_epml_comm_t *comm, int rank)
{
    mca_pml_epml_ep_t *ep = comm->ep;
    bool is;

    mca_pml_epml_lock(ep);
    if (mca_pml_epml_lost_has_unseen(ep)) {
        mca_pml_epml_lost_look(ep);
    }
    is = 0 > rank ? comm->loss.member : mca_pml_epml_lost_is(ep, comm->peers->member[rank]);
    mca_pml_epml_lost_note_probe(comm, rank, MPI_ANY_TAG); /* no request says so */
    mca_pml_epml_unlock(ep);
    return is;
}

static bool service_is_lost(const ompi_communicator_t *comm, int rank)
{
    return service_lost(mca_pml_epml_comm(comm), rank);
}

static void service_check_liveness(const ompi_communicator_t *comm)
{
    mca_pml_epml_lost_look_after(mca_pml_epml_comm(comm));
}

static void service_leave(const ompi_communicator_t *comm)
{
    mca_pml_epml_leave(mca_pml_epml_comm(comm));
}

static int service_progress(const ompi_communicator_t *comm)
{
    return mca_pml_epml_ep_poll(mca_pml_epml_comm(comm)->ep);
}

_Static_assert(sizeof(mca_pml_epml_waiter_t) <= sizeof(mpix_endpoints_wait_t)
                   && 0 == offsetof(mca_pml_epml_waiter_t, counted),
               "a client has it as words, and looks at the first one");

/** Is the rank that a thread waits for lost? */
static __attribute__((noinline)) int service_check_member(const mca_pml_epml_comm_t *comm, int from)
{
    /* A member of the same process cannot be lost, but it may have left.  Relaxed: a hint. */
    const bool may_be = mca_pml_epml_ep_has_transports(comm->ep)
                        || atomic_load_explicit(&comm->ep->loss.any, memory_order_relaxed);

    return may_be && service_lost(comm, from) ? MPI_ERR_PROC_FAILED : MPI_SUCCESS;
}

static inline int wait_turn(const mca_pml_epml_comm_t *comm, int from,
                            mca_pml_epml_waiter_t *waiter)
{
    mca_pml_epml_progressed(waiter, comm->ep, mca_pml_epml_ep_poll(comm->ep));
    return OPAL_UNLIKELY(0 == waiter->idle % LOOK_LONG) && 0 != waiter->idle
               ? service_check_member(comm, from)
               : MPI_SUCCESS;
}

static int service_wait_progress(const ompi_communicator_t *comm, int from,
                                 mpix_endpoints_wait_t *wait)
{
    return wait_turn(mca_pml_epml_comm(comm), from, (mca_pml_epml_waiter_t *) wait);
}

static void service_wait_end(mpix_endpoints_wait_t *wait)
{
    mca_pml_epml_wait_over((mca_pml_epml_waiter_t *) wait);
}

static int service_wait(const ompi_communicator_t *comm, int from, bool (*until)(void *context),
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

    /* Acquire: for what the client has written before it. */
    return atomic_load_explicit(awaited->word, memory_order_acquire) >= awaited->least;
}

static int service_wait_flag(const ompi_communicator_t *comm, int from,
                             const _Atomic uint64_t *word, uint64_t least)
{
    word_t awaited = {.word = word, .least = least};

    return service_wait(comm, from, has_come, &awaited);
}

/* ---- work and requests ----------------------------------------------------------------------- */

static void service_work_begin(ompi_communicator_t *comm, mpix_endpoints_work_t *work)
{
    mca_pml_epml_work_begin(mca_pml_epml_comm(comm)->ep, comm, work);
}

static void service_request_begin(ompi_request_t *request, mpix_endpoints_work_t *work)
{
    mca_pml_epml_work_begin(((mca_pml_epml_client_request_t *) request)->ep, NULL, work);
}

static int service_request_new(ompi_communicator_t *comm, const mpix_endpoints_request_ops_t *ops,
                               void *context, bool persistent, ompi_request_t **request_p)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_client_request_new(mca_pml_epml_comm(comm), ops,
                                                                  context, persistent, request_p));
}

static int service_request_new_win(ompi_communicator_t *comm, struct ompi_win_t *win,
                                   const mpix_endpoints_request_ops_t *ops, void *context,
                                   ompi_request_t **request_p)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_client_request_new_win(mca_pml_epml_comm(comm), win,
                                                                      ops, context, request_p));
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int service_memory_get(const ompi_communicator_t *comm, mpix_endpoints_scope_t reach,
                              int number, uint32_t key, size_t size,
                              mpix_endpoints_memory_t **memory_p)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_service_memory_get(mca_pml_epml_comm(comm), reach,
                                                                  number, key, size, false,
                                                                  memory_p));
}

static int service_memory_reserve(const ompi_communicator_t *comm, mpix_endpoints_scope_t reach,
                                  int number, uint32_t key, size_t size,
                                  mpix_endpoints_memory_t **memory_p)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_service_memory_get(mca_pml_epml_comm(comm), reach,
                                                                  number, key, size, true,
                                                                  memory_p));
}

static int service_memory_fill(mpix_endpoints_memory_t *memory, size_t offset, size_t size)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_memory_fill(memory, offset, size));
}

static int service_memory_copy(const ompi_communicator_t *comm, int rank, void *local,
                               uint64_t remote, size_t size, bool to_member)
{
    return mca_pml_epml_service_memory_copy(mca_pml_epml_comm(comm), rank, local, remote, size,
                                            to_member);
}

/* ---- messages -------------------------------------------------------------------------------- */

/** Clients' tags are negative, as a user's are not, and below those of Open MPI's collectives, but
 * for coll/hcoll, which does not serve endpoints. */
#define GUEST_TAGS (-0x60000000)

_Static_assert(GUEST_TAGS < MCA_COLL_BASE_TAG_NONBLOCKING_END - 0x1000000,
               "far below those of Open MPI's collectives");
_Static_assert(GUEST_TAGS > INT_MIN + EPML_ENROLLED_MOST * (MPIX_ENDPOINTS_TAG_MAX + 1),
               "and there is room for all clients'");

static int tag_of(int number, int tag)
{
    return GUEST_TAGS - number * (MPIX_ENDPOINTS_TAG_MAX + 1) - tag;
}

static int service_isend(ompi_communicator_t *comm, int number, const void *buffer, size_t count,
                         ompi_datatype_t *datatype, int rank, int tag, ompi_request_t **request_p)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_call_isend(buffer, count, datatype, rank,
                                                          tag_of(number, tag),
                                                          MCA_PML_BASE_SEND_STANDARD, comm,
                                                          request_p));
}

static int service_irecv(ompi_communicator_t *comm, int number, void *buffer, size_t count,
                         ompi_datatype_t *datatype, int rank, int tag, ompi_request_t **request_p)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_call_irecv(buffer, count, datatype, rank,
                                                          tag_of(number, tag), comm, request_p));
}

static int service_isend_device(ompi_communicator_t *comm, int number, const void *buffer,
                                size_t count, ompi_datatype_t *datatype, int rank, int tag,
                                ompi_request_t **request_p)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_device_isend(buffer, count, datatype, rank,
                                                            tag_of(number, tag),
                                                            MCA_PML_BASE_SEND_STANDARD, comm,
                                                            request_p));
}

static int service_irecv_device(ompi_communicator_t *comm, int number, void *buffer, size_t count,
                                ompi_datatype_t *datatype, int rank, int tag,
                                ompi_request_t **request_p)
{
    return mca_pml_epml_mpi_error(mca_pml_epml_device_irecv(buffer, count, datatype, rank,
                                                            tag_of(number, tag), comm, request_p));
}

/** With the endpoint's lock. */
static int service_am_answer(ompi_communicator_t *comm, int number, int rank, const void *data,
                             size_t size)
{
    mca_pml_epml_comm_t *epml_comm = mca_pml_epml_comm(comm);

    if (MPIX_ENDPOINTS_AM_MAX < size && mca_pml_epml_am_max(epml_comm, rank) < size) {
        return MPI_ERR_ARG;
    }
    return mca_pml_epml_mpi_error(mca_pml_epml_am_send(epml_comm, number, rank, data, size));
}

static int service_am_send(ompi_communicator_t *comm, int number, int rank, const void *data,
                           size_t size)
{
    mca_pml_epml_ep_t *ep = mca_pml_epml_comm(comm)->ep;
    int rc;

    mca_pml_epml_lock(ep);
    rc = service_am_answer(comm, number, rank, data, size);
    mca_pml_epml_unlock(ep);
    return rc;
}

static size_t service_am_max(const ompi_communicator_t *comm, int rank)
{
    return mca_pml_epml_am_max(mca_pml_epml_comm(comm), rank);
}

/* ---- the table ------------------------------------------------------------------------------- */

const mpix_endpoints_engine_t mca_pml_epml_service = {
    .abi = MPIX_ENDPOINTS_ENGINE_ABI,
    .client_register = service_client_register,
    .client_object = service_client_object,
    .locality = service_locality,
    .locality_remote = service_locality_remote,
    .members = service_members,
    .is_lost = service_is_lost,
    .check_liveness = service_check_liveness,
    .leave = service_leave,
    .accelerator = mca_pml_epml_device_accelerator,
    .is_device = mca_pml_epml_device_is,
    .refuse_device = mca_pml_epml_device_refuse,
    .progress = service_progress,
    .progress_others = mca_pml_epml_progress_others,
    .wait = service_wait,
    .wait_flag = service_wait_flag,
    .wait_progress = service_wait_progress,
    .wait_end = service_wait_end,
    .is_oversubscribed = mca_pml_epml_is_oversubscribed,
    .work_begin = service_work_begin,
    .request_new = service_request_new,
    .request_new_win = service_request_new_win,
    .request_begin = service_request_begin,
    .request_types = mca_pml_epml_client_request_types,
    .request_done = mca_pml_epml_client_request_done,
    .memory_get = service_memory_get,
    .memory_copy = service_memory_copy,
    .memory_reserve = service_memory_reserve,
    .memory_fill = service_memory_fill,
    .memory_is_complete = mca_pml_epml_memory_is_whole,
    .memory_put = mca_pml_epml_memory_put,
    .isend = service_isend,
    .irecv = service_irecv,
    .isend_device = service_isend_device,
    .irecv_device = service_irecv_device,
    .am_send = service_am_send,
    .am_max = service_am_max,
    .am_answer = service_am_answer,
};
