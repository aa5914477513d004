/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Results and other answers at the origin (osc_epwin_am_link.h).
 *
 * The results that a link awaits are a list, in the order of the records that ask for them.  The
 * thread that has the handle's lock appends to it and frees what is complete; the handler, in any
 * thread, writes arriving bytes to the first one that is not complete.  It keeps a pointer to the last
 * one that it has completed, so that one is freed only when a later one is complete.
 *
 * A result with a request is also in a list of the origin's step.  The handler must not complete
 * requests; the step does, and it fails those of targets that are lost.
 *
 * Called by osc_epwin_am_origin.c, and osc_epwin_am_queue.c for what arrives.
 *
 * Tests: win_net, unit/test_epwin_am, unit/test_epwin_am_random, win_death, win_away, fuzz/epwin,
 * win_threads, win_device
 */

#include "ompi_config.h"

#include "osc_epwin_am_link.h"

#include <stdlib.h>
#include <string.h>

#define ENGINE mca_osc_epwin_component.engine

/* ---- under the handle's lock -------------------------------------------------------------------- */

/** Release what a result holds. */
static void result_clean(epwin_am_result_t *result)
{
    if (NULL != result->pack) {
        mca_osc_epwin_pack_end(result->pack);
        free(result->pack);
        result->pack = NULL;
    }
    if (NULL != result->type) {
        ompi_datatype_t *type = result->type;

        result->type = NULL; /* before a callback of the user's */
        OBJ_RELEASE(type);
    }
}

static inline bool result_is_over(const epwin_am_result_t *result)
{
    /* Acquire: orders the accesses of the handler and of the step before the reuse; partners:
     * result_take and result_complete. */
    return atomic_load_explicit(&result->is_complete, memory_order_acquire)
           && atomic_load_explicit(&result->is_done, memory_order_acquire);
}

/** Free results that are over, except the last one. */
static void link_reap(epwin_am_origin_t *origin, epwin_am_link_t *link)
{
    while (result_is_over(link->oldest)) {
        epwin_am_result_t *result = link->oldest, *next;

        result_clean(result);
        if (OPAL_UNLIKELY(result != link->oldest)) {
            continue; /* a callback of the user's has called MPI */
        }
        next = atomic_load_explicit(&result->next, memory_order_relaxed);
        if (NULL == next || !atomic_load_explicit(&next->is_complete, memory_order_acquire)) {
            break;
        }
        link->oldest = next;
        result->item.next = (epwin_am_item_t *) origin->unused;
        origin->unused = result;
    }
}

static epwin_am_result_t *result_new(epwin_am_origin_t *origin)
{
    epwin_am_result_t *result = origin->unused;

    if (OPAL_LIKELY(NULL != result)) {
        origin->unused = (epwin_am_result_t *) result->item.next;
        memset((void *) result, 0, sizeof(*result));
        return result;
    }
    return calloc(1, sizeof(*result));
}

/** Where its bytes go. */
static int result_prepare(epwin_am_result_t *result, const mca_osc_epwin_buffer_t *buffer)
{
    int rc;

    if (OPAL_LIKELY(mca_osc_epwin_is_plain(buffer->type) && !buffer->on_device)) {
        result->address = buffer->address;
        return MPI_SUCCESS;
    }
    result->pack = malloc(sizeof(*result->pack));
    if (NULL == result->pack) {
        return MPI_ERR_NO_MEM;
    }
    rc = mca_osc_epwin_unpack_begin(result->pack, buffer->address, buffer->count, buffer->type,
                                    buffer->on_device);
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        free(result->pack);
        return rc;
    }
    /* The user may free it before the result is there. */
    OBJ_RETAIN(buffer->type);
    result->type = buffer->type;
    return MPI_SUCCESS;
}

static mpix_endpoints_step_t requests_step(mpix_endpoints_work_t *work);

static const mpix_endpoints_request_ops_t request_ops = {0};

/** The step completes the request of a result. */
static void result_push(mca_osc_epwin_module_t *module, epwin_am_result_t *result)
{
    epwin_am_origin_t *origin = module->origin;

    atomic_store_explicit(&result->is_done, false, memory_order_relaxed); /* not pushed so far */
    if (inbox_push(&origin->requests, &result->item)) {
        origin->work.step = requests_step;
        ENGINE->work_begin(module->comm, &origin->work);
    }
}

int mca_osc_epwin_am_result(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                            const mca_osc_epwin_buffer_t *buffer, ompi_request_t **request_p,
                            epwin_am_result_t **result_p)
{
    epwin_am_origin_t *origin = module->origin;
    epwin_am_result_t *result;
    int rc;

    link_reap(origin, link);
    result = result_new(origin);
    if (OPAL_UNLIKELY(NULL == result)) {
        return MPI_ERR_NO_MEM;
    }
    result->last = result;
    result->link = link;
    result->request = MPI_REQUEST_NULL;
    atomic_store_explicit(&result->is_done, true, memory_order_relaxed);
    rc = result_prepare(result, buffer);
    if (MPI_SUCCESS == rc && NULL != request_p) {
        rc = ENGINE->request_new_win(module->comm, module->win, &request_ops, NULL,
                                     &result->request);
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        result_clean(result);
        free(result);
        return rc;
    }
    if (NULL != request_p) {
        *request_p = result->request;
    }
    *result_p = result;
    return MPI_SUCCESS;
}

/** The part of a result that is not the last one.  @return NULL: no memory */
static epwin_am_result_t *result_part(epwin_am_origin_t *origin, epwin_am_result_t *last)
{
    epwin_am_result_t *part = result_new(origin);

    if (OPAL_LIKELY(NULL != part)) {
        part->last = last;
        part->link = last->link;
        part->address = last->address;
        part->request = MPI_REQUEST_NULL;
        atomic_store_explicit(&part->is_done, true, memory_order_relaxed);
    }
    return part;
}

int mca_osc_epwin_am_await(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                           epwin_am_result_t *result, size_t size, bool is_last)
{
    epwin_am_result_t *part = is_last ? result : result_part(module->origin, result);

    if (OPAL_UNLIKELY(NULL == part)) {
        return MPI_ERR_NO_MEM;
    }
    part->size = size;
    if (!is_last && NULL != result->address) {
        result->address += size;
    }
    link->results += size;
    /* Release: orders the result before its address; partner: result_current. */
    atomic_store_explicit(&link->last->next, part, memory_order_release);
    link->last = part;
    if (is_last && MPI_REQUEST_NULL != part->request) {
        result_push(module, part);
    }
    return MPI_SUCCESS;
}

/* ---- requests --------------------------------------------------------------------------------- */

/** Is a result with a request there, or will it never be?  @param[in] look  check for losses */
static bool result_has_ended(const epwin_am_origin_t *origin, epwin_am_result_t *result, bool look,
                             int *error_p)
{
    /* Acquire: what has been written to the user's buffer; partner: result_take. */
    if (atomic_load_explicit(&result->is_complete, memory_order_acquire)) {
        *error_p = result->error;
        return true;
    }
    *error_p = atomic_load_explicit(&result->link->failed, memory_order_relaxed);
    if (MPI_SUCCESS == *error_p && look
        && ENGINE->is_lost(origin->module->comm, MPIX_ENDPOINTS_ANY_RANK)) {
        *error_p = MPI_ERR_PROC_FAILED;
    }
    if (MPI_SUCCESS == *error_p) {
        return false;
    }
    mca_osc_epwin_am_link_close(origin->module, result->link);
    return true;
}

static void result_complete(epwin_am_result_t *result, int error)
{
    ompi_request_t *request = result->request;

    /* Release: orders the step's accesses before the reuse; partner: result_is_over. */
    atomic_store_explicit(&result->is_done, true, memory_order_release);
    ENGINE->request_done(request, error);
}

/** New results with a request go to their links. */
static void requests_sort(epwin_am_origin_t *origin)
{
    epwin_am_item_t *next, *item;

    for (item = inbox_take(&origin->requests); NULL != item; item = next) {
        epwin_am_link_t *link = ((epwin_am_result_t *) item)->link;

        next = item->next;
        item->next = NULL;
        if (NULL == link->first_request) {
            link->first_request = item;
            link->next_waiting = origin->waiting;
            origin->waiting = link;
        } else {
            link->last_request->next = item;
        }
        link->last_request = item;
    }
}

/** Complete the requests of results that are there.  Results of a link arrive in order. */
static mpix_endpoints_step_t requests_step(mpix_endpoints_work_t *work)
{
    epwin_am_origin_t *origin = (epwin_am_origin_t *) ((char *) work
                                                       - offsetof(epwin_am_origin_t, work));
    mpix_endpoints_step_t step = MPIX_ENDPOINTS_STEP_IDLE;
    const bool look = 0 == ++origin->idle % EPWIN_AM_LIVENESS;
    epwin_am_link_t **at = &origin->waiting, *link;
    int error;

    requests_sort(origin);
    while (NULL != (link = *at)) {
        epwin_am_result_t *result;

        while (NULL != (result = (epwin_am_result_t *) link->first_request)
               && result_has_ended(origin, result, look, &error)) {
            link->first_request = result->item.next; /* before result_complete: it is reused then */
            result_complete(result, error);
            step = MPIX_ENDPOINTS_STEP_PROGRESS;
        }
        if (NULL == result) {
            *at = link->next_waiting;
        } else {
            at = &link->next_waiting;
        }
    }
    return NULL == origin->waiting && inbox_end(&origin->requests) ? MPIX_ENDPOINTS_STEP_DONE
                                                                   : step;
}

/* ---- the handler ------------------------------------------------------------------------------ */

/** The result that the next byte is for, or NULL. */
static epwin_am_result_t *result_current(epwin_am_link_t *link)
{
    epwin_am_result_t *result = link->current;

    if (result->had == result->size) {
        /* Acquire: partner is mca_osc_epwin_am_await. */
        result = atomic_load_explicit(&result->next, memory_order_acquire);
        if (NULL != result) {
            link->current = result;
        }
    }
    return result;
}

/** Bytes of results, or (data NULL) an error in place of them. */
static bool result_take(epwin_am_link_t *link, const char *data, size_t bytes, uint8_t error)
{
    const uint64_t had = bytes + atomic_load_explicit(&link->results_had, memory_order_relaxed);

    while (0 < bytes) {
        epwin_am_result_t *result = result_current(link), *last;
        size_t size;

        if (OPAL_UNLIKELY(NULL == result)) {
            return false;
        }
        last = result->last;
        size = result->size - result->had < bytes ? result->size - result->had : bytes;
        if (OPAL_UNLIKELY(NULL == data)) {
            last->error = error;
        } else if (OPAL_LIKELY(MPI_SUCCESS == last->error)) {
            if (NULL != result->address) {
                memcpy(result->address + result->had, data, size);
            } else {
                mca_osc_epwin_unpack_next(last->pack, data, size);
            }
        }
        data = NULL == data ? NULL : data + size;
        bytes -= size;
        result->had += size;
        if (result->had == result->size) {
            /* Release: orders the bytes before the flag; partners: result_has_ended,
             * result_is_over. */
            atomic_store_explicit(&result->is_complete, true, memory_order_release);
        }
    }
    /* Release: orders the bytes before their number; partner: link_has. */
    atomic_store_explicit(&link->results_had, had, memory_order_release);
    return true;
}

static void link_note_error(epwin_am_link_t *link, int error)
{
    int none = MPI_SUCCESS;

    /* Relaxed: a flush reads it after its ACK, whose store is a release. */
    (void) atomic_compare_exchange_strong_explicit(&link->error, &none, error, memory_order_relaxed,
                                                   memory_order_relaxed);
}

/** An answer with the flag, or without. */
static bool ack_take(epwin_am_link_t *link, const epwin_am_record_t *record)
{
    const uint64_t acks = atomic_load_explicit(&link->acks, memory_order_relaxed);

    if (0 == (record->flags & EPWIN_AM_FLAG_ACK)) {
        return true;
    }
    /* Relaxed: written before the message was sent. */
    if (acks == atomic_load_explicit(&link->asks, memory_order_relaxed)) {
        return false;
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != record->error)) {
        link_note_error(link, record->error);
    }
    /* Release: orders error and results before the position, and the use of asked before its reuse;
     * partners: link_has, mca_osc_epwin_am_append_flush. */
    atomic_store_explicit(&link->acked, link->asked[acks % EPWIN_AM_ASKS], memory_order_release);
    atomic_store_explicit(&link->acks, acks + 1, memory_order_release);
    return true;
}

static bool answer_take(epwin_am_link_t *link, const epwin_am_record_t *record)
{
    switch (record->kind) {
    case EPWIN_AM_DATA:
        return result_take(link, epwin_am_data(record), record->access.bytes, MPI_SUCCESS)
               && ack_take(link, record);
    case EPWIN_AM_NO_DATA:
        link_note_error(link, record->error);
        return result_take(link, NULL, record->access.bytes, record->error);
    case EPWIN_AM_ACK:
        return ack_take(link, record);
    default: /* EPWIN_AM_BROKEN */
        atomic_store_explicit(&link->failed, record->error, memory_order_relaxed);
        return true;
    }
}

bool mca_osc_epwin_am_answer(mca_osc_epwin_module_t *module, int rank, const void *data,
                             size_t size)
{
    epwin_am_link_t *link = mca_osc_epwin_am_link_find(module, rank);
    const char *at = data;

    if (NULL == link) { /* a target without memory tells all members */
        return EPWIN_AM_BROKEN == ((const epwin_am_record_t *) data)->kind;
    }
    while (0 < size) {
        const epwin_am_record_t *record = (const epwin_am_record_t *) at;

        if (OPAL_UNLIKELY(MPI_SUCCESS
                          != atomic_load_explicit(&link->failed, memory_order_relaxed))) {
            return true; /* its results are awaited no more */
        }
        if (!answer_take(link, record)) {
            return false;
        }
        at += epwin_am_length(record);
        size -= epwin_am_length(record);
    }
    return true;
}

/* ---- the end ---------------------------------------------------------------------------------- */

static void results_free(epwin_am_result_t *result)
{
    while (NULL != result) {
        epwin_am_result_t *next = atomic_load_explicit(&result->next, memory_order_relaxed);

        result_clean(result);
        free(result);
        result = next;
    }
}

void mca_osc_epwin_am_origin_free(mca_osc_epwin_module_t *module)
{
    epwin_am_origin_t *origin = module->origin;
    epwin_am_table_t *table;
    epwin_am_link_t *link;
    uint32_t index = 0;

    if (NULL == origin) {
        return;
    }
    while (NULL != (link = mca_osc_epwin_am_link_next(module, &index))) {
        results_free(link->oldest);
        free(link);
    }
    table = atomic_load_explicit(&origin->table, memory_order_relaxed);
    while (NULL != table) {
        epwin_am_table_t *older = table->older;

        free(table);
        table = older;
    }
    while (NULL != origin->unused) {
        epwin_am_result_t *result = origin->unused;

        origin->unused = (epwin_am_result_t *) result->item.next;
        free(result);
    }
    free(origin);
    module->origin = NULL;
}
