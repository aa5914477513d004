/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Long data without gaps: a message of the engine, between the user's buffer and the window, whose
 * receiver fetches it (rendezvous).  A record in the stream of active messages announces it.  The
 * target executes that record by a receive or send, and executes later records of the origin when it
 * is complete.  So an ACK covers long data as it does others.
 *
 * The origin's buffer is in use until the message is complete: flushes wait for that as well.
 *
 * Called by osc_epwin_am_origin.c and osc_epwin_am_epoch.c (origin), osc_epwin_am_queue.c and
 * osc_epwin_am_execute.c (target).
 *
 * Tests: win_net, win_device, unit/test_epwin_am_random, win_threads
 */

#include "ompi_config.h"

#include "osc_epwin_am_link.h"
#include "osc_epwin_am_long.h"
#include "osc_epwin_am_queue.h"

#include "ompi/errhandler/errcode-internal.h"
#include "ompi/request/request.h"

#define ENGINE mca_osc_epwin_component.engine

static bool long_is_complete(ompi_request_t *request)
{
    /* Acquire: the data; partner: the engine's completion.  libmpi's flag is no atomic type, but
     * written as one. */
    return REQUEST_COMPLETED == __atomic_load_n((void **) &request->req_complete, __ATOMIC_ACQUIRE);
}

/** Free a request that is complete.  @return its error class */
static int long_free(ompi_request_t *request)
{
    const int rc = request->req_status.MPI_ERROR;

    (void) ompi_request_free(&request);
    return 0 > rc ? ompi_errcode_get_mpi_code(rc) : rc;
}

/* ---- the origin ------------------------------------------------------------------------------- */

bool mca_osc_epwin_am_long_is(const mca_osc_epwin_module_t *module,
                              const mca_osc_epwin_buffer_t *user,
                              const mca_osc_epwin_place_t *place)
{
    const size_t limit = mca_osc_epwin_component.rendezvous_limit;
    const size_t bytes = place->type->super.size * place->count;

    /* A message of a dynamic window could not be refused once its data are on their way. */
    return 0 < limit && limit <= bytes && MPI_WIN_FLAVOR_DYNAMIC != module->flavor
           && bytes == user->type->super.size * user->count
           && opal_datatype_is_contiguous_memory_layout(&user->type->super,
                                                        1 < user->count ? 2 : 1)
           && opal_datatype_is_contiguous_memory_layout(&place->type->super,
                                                        1 < place->count ? 2 : 1);
}

/**
 * Wait until a message of a link is complete, and free it.  Without the handle's lock, which is taken
 * for each look: another thread that waits may free it.
 *
 * @param[in] number  of the oldest one
 * @param[in] why     not MPI_SUCCESS: take it back, as the target may not execute its record
 * @return MPI_SUCCESS; its error, or why if it has been taken back
 */
static int long_wait(mca_osc_epwin_module_t *module, epwin_am_link_t *link, uint32_t number,
                     int why)
{
    mpix_endpoints_wait_t wait = {.words = {0}};
    bool is_cancelled = false;
    int rc = MPI_SUCCESS;

    while (number == link->longs_first) {
        ompi_request_t *request = link->longs[number % EPWIN_AM_LONGS];
        uint32_t depth;

        if (long_is_complete(request)) {
            ++link->longs_first;
            rc = long_free(request);
            break;
        }
        if (MPI_SUCCESS == why) {
            /* Relaxed: an error code and nothing with it. */
            why = atomic_load_explicit(&link->failed, memory_order_relaxed);
        }
        if (OPAL_UNLIKELY(MPI_SUCCESS != why)) {
            (void) ompi_request_cancel(request); /* each time: one that waits for room cannot be */
            is_cancelled = true;
        }
        depth = mca_osc_epwin_suspend(module);
        (void) ENGINE->wait_progress(module->comm, link->rank, &wait); /* it ends by itself */
        mca_osc_epwin_resume(module, depth);
    }
    if (0 != wait.words[0]) {
        ENGINE->wait_end(&wait);
    }
    return is_cancelled ? why : rc;
}

int mca_osc_epwin_am_longs_end(mca_osc_epwin_module_t *module, epwin_am_link_t *link, int why)
{
    const uint32_t end = link->longs_end; /* not those that other threads begin meanwhile */
    int rc = MPI_SUCCESS;

    if (OPAL_LIKELY(link->longs_first == end)) {
        return MPI_SUCCESS;
    }
    atomic_store_explicit(&module->awaited_rank, link->rank, memory_order_relaxed);
    atomic_store_explicit(&module->awaited, "long data", memory_order_relaxed);
    while (0 < (int32_t) (end - link->longs_first)) {
        rc = mca_osc_epwin_first_error(rc, long_wait(module, link, link->longs_first, why));
    }
    atomic_store_explicit(&module->awaited, NULL, memory_order_relaxed);
    return rc;
}

/** Append the record of a message.  @return as mca_osc_epwin_am_send */
static int long_append(mca_osc_epwin_module_t *module, epwin_am_link_t *link, uint8_t kind,
                       int64_t at, uint64_t bytes, uint32_t tag)
{
    const uint32_t size = epwin_am_size(0, sizeof(epwin_am_long_t));
    epwin_am_record_t *record;
    size_t room;
    int rc = mca_osc_epwin_am_room(module, link, size, 0, &room, &record);

    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        return rc;
    }
    record->kind = kind;
    record->eights = (uint16_t) (size / 8);
    record->at = at;
    *(epwin_am_long_t *) (record + 1) = (epwin_am_long_t){.bytes = bytes, .tag = tag};
    mca_osc_epwin_am_append_operation(link, record);
    return mca_osc_epwin_am_send(module, link);
}

/** The message itself.  @param[in] on_device  the buffer is in device memory */
static int long_isend(const mca_osc_epwin_module_t *module, char *buffer, size_t bytes, int rank,
                      uint32_t tag, bool on_device, ompi_request_t **request_p)
{
    return (on_device ? ENGINE->isend_device
                      : ENGINE->isend)(module->comm, mca_osc_epwin_component.client, buffer, bytes,
                                       &ompi_mpi_byte.dt, rank, (int) tag, request_p);
}

static int long_irecv(const mca_osc_epwin_module_t *module, char *buffer, size_t bytes, int rank,
                      uint32_t tag, bool on_device, ompi_request_t **request_p)
{
    return (on_device ? ENGINE->irecv_device
                      : ENGINE->irecv)(module->comm, mca_osc_epwin_component.client, buffer, bytes,
                                       &ompi_mpi_byte.dt, rank, (int) tag, request_p);
}

/** Begin a message and append its record. */
static int long_begin(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                      const mca_osc_epwin_buffer_t *user, const mca_osc_epwin_place_t *place,
                      bool is_put)
{
    const size_t bytes = place->type->super.size * place->count;
    char *address = (char *) user->address + user->type->super.true_lb;
    const uint32_t tag = link->longs_end % EPWIN_AM_TAG_RESULT;
    ompi_request_t *request;
    int rc = is_put
                 ? long_isend(module, address, bytes, place->target, tag, user->on_device, &request)
                 : long_irecv(module, address, bytes, place->target, tag | EPWIN_AM_TAG_RESULT,
                              user->on_device, &request);

    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        return rc;
    }
    link->longs[link->longs_end++ % EPWIN_AM_LONGS] = request;
    rc = long_append(module, link, is_put ? EPWIN_AM_LONG_PUT : EPWIN_AM_LONG_GET,
                     place->at + place->type->super.true_lb, bytes, tag);
    /* A message without its record: nothing on the link is in order any more. */
    return MPI_SUCCESS == rc ? rc : mca_osc_epwin_am_link_fail(link, rc);
}

int mca_osc_epwin_am_long(mca_osc_epwin_module_t *module, const mca_osc_epwin_buffer_t *user,
                          const mca_osc_epwin_place_t *place, bool is_put)
{
    epwin_am_link_t *link;
    int rc;

    mca_osc_epwin_enter(module);
    rc = mca_osc_epwin_am_link(module, place->target, &link);
    while (MPI_SUCCESS == rc && EPWIN_AM_LONGS == link->longs_end - link->longs_first) {
        rc = long_wait(module, link, link->longs_first, MPI_SUCCESS);
    }
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        rc = long_begin(module, link, user, place, is_put);
    }
    mca_osc_epwin_leave(module);
    return rc;
}

/* ---- the target ------------------------------------------------------------------------------- */

epwin_am_outcome_t mca_osc_epwin_am_long_execute(const mca_osc_epwin_module_t *module,
                                                 epwin_am_peer_t *peer,
                                                 const epwin_am_record_t *record)
{
    const epwin_am_long_t *data = (const epwin_am_long_t *) (record + 1);
    const mca_osc_epwin_peer_t *self = &module->peers[module->rank];
    char *at = self->base + record->at;
    const bool on_device = EPWIN_WAY_DEVICE == self->way;
    int rc = MPI_SUCCESS;

    if (NULL == peer->request) {
        rc = EPWIN_AM_LONG_PUT == record->kind
                 ? long_irecv(module, at, data->bytes, peer->rank, data->tag, on_device,
                              &peer->request)
                 : long_isend(module, at, data->bytes, peer->rank, data->tag | EPWIN_AM_TAG_RESULT,
                              on_device, &peer->request);
        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            peer->request = NULL;
        }
        if (OPAL_UNLIKELY(MPI_ERR_NO_MEM == rc)) {
            return EPWIN_AM_WAITS; /* the next step tries again */
        }
    }
    if (NULL != peer->request) {
        if (!long_is_complete(peer->request)) {
            return EPWIN_AM_WAITS;
        }
        rc = long_free(peer->request);
        peer->request = NULL;
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc) && MPI_SUCCESS == peer->error) {
        peer->error = (uint8_t) rc;
    }
    return EPWIN_AM_EXECUTED;
}

bool mca_osc_epwin_am_long_drop(epwin_am_peer_t *peer)
{
    if (OPAL_LIKELY(NULL == peer->request)) {
        return true;
    }
    if (!long_is_complete(peer->request)) {
        (void) ompi_request_cancel(peer->request);
        return false;
    }
    (void) long_free(peer->request);
    peer->request = NULL;
    return true;
}
