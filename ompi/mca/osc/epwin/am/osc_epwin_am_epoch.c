/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Synchronization by messages, at the origin (osc_epwin_am.h).
 *
 * Called by the layers sync and calls.
 *
 * Tests: win_net, unit/test_epwin_am, unit/test_epwin_am_random
 */

#include "ompi_config.h"

#include "osc_epwin_am_link.h"
#include "osc_epwin_am_long.h"

/** The first error of the operations since the last call. */
static int link_take_error(epwin_am_link_t *link)
{
    /* Relaxed: the ACK that has been waited for orders it. */
    return MPI_SUCCESS == atomic_load_explicit(&link->error, memory_order_relaxed)
               ? MPI_SUCCESS
               : atomic_exchange_explicit(&link->error, MPI_SUCCESS, memory_order_relaxed);
}

/** Ask for an ACK of all that has been appended, and send. */
static int link_flush_begin(mca_osc_epwin_module_t *module, epwin_am_link_t *link)
{
    int rc = atomic_load_explicit(&link->failed, memory_order_relaxed);

    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        rc = mca_osc_epwin_am_append_flush(module, link);
    }
    return OPAL_LIKELY(MPI_SUCCESS == rc) ? mca_osc_epwin_am_send(module, link) : rc;
}

/** Wait until records up to a position are executed, and the buffers of long data are free. */
static int link_wait_end(mca_osc_epwin_module_t *module, epwin_am_link_t *link, uint64_t position)
{
    int rc = mca_osc_epwin_am_wait_acked(module, link, position);

    rc = mca_osc_epwin_first_error(rc, link_take_error(link));
    return mca_osc_epwin_first_error(rc, mca_osc_epwin_am_longs_end(module, link, rc));
}

/** Wait for it.  Other threads may have asked for later ones since, which are waited for as
 * well. */
static int link_flush_end(mca_osc_epwin_module_t *module, epwin_am_link_t *link)
{
    return link_wait_end(module, link, link->requested);
}

/** The same of operations alone: another thread may have appended a LOCK behind them, which is not
 * waited for. */
static int link_complete_begin(mca_osc_epwin_module_t *module, epwin_am_link_t *link)
{
    return link->operated > link->requested ? link_flush_begin(module, link)
                                            : mca_osc_epwin_am_send(module, link);
}

static int link_complete_end(mca_osc_epwin_module_t *module, epwin_am_link_t *link)
{
    return link_wait_end(module, link, link->operated);
}

static int link_flush(mca_osc_epwin_module_t *module, epwin_am_link_t *link)
{
    const int rc = link_flush_begin(module, link);

    return mca_osc_epwin_first_error(rc, link_flush_end(module, link));
}

static int link_results(mca_osc_epwin_module_t *module, epwin_am_link_t *link)
{
    const int rc = mca_osc_epwin_am_wait_results(module, link, link->results);

    return mca_osc_epwin_first_error(rc, mca_osc_epwin_am_longs_end(module, link, rc));
}

/** All links.  @return the first error */
static int links_do(mca_osc_epwin_module_t *module,
                    int (*begin)(mca_osc_epwin_module_t *module, epwin_am_link_t *link),
                    int (*end)(mca_osc_epwin_module_t *module, epwin_am_link_t *link))
{
    epwin_am_link_t *link;
    uint32_t index = 0;
    int rc = MPI_SUCCESS;

    while (NULL != (link = mca_osc_epwin_am_link_next(module, &index))) {
        rc = mca_osc_epwin_first_error(rc, begin(module, link));
    }
    for (index = 0; NULL != (link = mca_osc_epwin_am_link_next(module, &index));) {
        rc = mca_osc_epwin_first_error(rc, end(module, link));
    }
    return rc;
}

int mca_osc_epwin_am_flush(mca_osc_epwin_module_t *module, int target)
{
    epwin_am_link_t *link;
    int rc;

    if (!mca_osc_epwin_has_origin(module)) {
        return MPI_SUCCESS;
    }
    mca_osc_epwin_enter(module);
    if (MPIX_ENDPOINTS_ANY_RANK == target) {
        rc = links_do(module, link_complete_begin, link_complete_end);
    } else {
        link = mca_osc_epwin_am_link_find(module, target);
        rc = NULL == link ? MPI_SUCCESS : link_flush(module, link);
    }
    mca_osc_epwin_leave(module);
    return rc;
}

int mca_osc_epwin_am_flush_local(mca_osc_epwin_module_t *module, int target)
{
    epwin_am_link_t *link;
    int rc;

    if (!mca_osc_epwin_has_origin(module)) {
        return MPI_SUCCESS;
    }
    mca_osc_epwin_enter(module);
    if (MPIX_ENDPOINTS_ANY_RANK == target) {
        rc = links_do(module, mca_osc_epwin_am_send, link_results);
    } else {
        link = mca_osc_epwin_am_link_find(module, target);
        rc = NULL == link ? MPI_SUCCESS : link_results(module, link);
    }
    mca_osc_epwin_leave(module);
    return rc;
}

/** Append a head to the records for a target.
 * @param[in] then  NULL, or what to do behind it */
static int head_append(mca_osc_epwin_module_t *module, int target, const epwin_am_record_t *head,
                       int (*then)(mca_osc_epwin_module_t *module, epwin_am_link_t *link))
{
    epwin_am_link_t *link;
    int rc;

    mca_osc_epwin_enter(module);
    rc = mca_osc_epwin_am_link(module, target, &link);
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        rc = mca_osc_epwin_am_append_head(module, link, head);
    }
    if (NULL != then && MPI_SUCCESS == rc) {
        rc = then(module, link);
    }
    mca_osc_epwin_leave(module);
    return rc;
}

int mca_osc_epwin_am_lock(mca_osc_epwin_module_t *module, int target, mca_osc_epwin_hold_t hold,
                          bool with_domain)
{
    const epwin_am_record_t lock = {.kind = EPWIN_AM_LOCK,
                                    .hold = (uint8_t) hold,
                                    .with_domain = with_domain};

    if (EPWIN_HOLD_NOTHING == hold && !with_domain) {
        return MPI_SUCCESS;
    }
    return head_append(module, target, &lock, NULL);
}

int mca_osc_epwin_am_unlock(mca_osc_epwin_module_t *module, int target, mca_osc_epwin_hold_t hold,
                            bool with_domain)
{
    const epwin_am_record_t unlock = {.kind = EPWIN_AM_UNLOCK,
                                      .hold = (uint8_t) hold,
                                      .with_domain = with_domain};

    if (EPWIN_HOLD_NOTHING == hold && !with_domain) {
        return mca_osc_epwin_am_flush(module, target);
    }
    return head_append(module, target, &unlock, link_flush);
}

/** The last record of an epoch of MPI_Win_lock_all. */
static int link_unlock_begin(mca_osc_epwin_module_t *module, epwin_am_link_t *link)
{
    const epwin_am_record_t unlock = {.kind = EPWIN_AM_DOMAIN_UNLOCK};
    int rc = atomic_load_explicit(&link->failed, memory_order_relaxed);

    if (link->has_domain_lock && MPI_SUCCESS == rc) {
        rc = mca_osc_epwin_am_append_head(module, link, &unlock);
    }
    link->has_domain_lock = false;
    return OPAL_LIKELY(MPI_SUCCESS == rc) ? link_flush_begin(module, link) : rc;
}

int mca_osc_epwin_am_unlock_all(mca_osc_epwin_module_t *module)
{
    int rc;

    mca_osc_epwin_enter(module);
    rc = links_do(module, link_unlock_begin, link_flush_end);
    mca_osc_epwin_leave(module);
    return rc;
}

int mca_osc_epwin_am_post(mca_osc_epwin_module_t *module, int origin)
{
    const epwin_am_record_t post = {.kind = EPWIN_AM_POST};

    return head_append(module, origin, &post, mca_osc_epwin_am_send);
}

int mca_osc_epwin_am_complete(mca_osc_epwin_module_t *module, int target)
{
    const epwin_am_record_t complete = {.kind = EPWIN_AM_COMPLETE};

    return head_append(module, target, &complete, mca_osc_epwin_am_send);
}
