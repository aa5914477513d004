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

/** Wait for it. */
static int link_flush_end(mca_osc_epwin_module_t *module, epwin_am_link_t *link)
{
    int rc = mca_osc_epwin_am_wait_acked(module, link, link->requested);

    rc = mca_osc_epwin_first_error(rc, link_take_error(link));
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

    if (NULL == module->origin) {
        return MPI_SUCCESS;
    }
    if (MPIX_ENDPOINTS_ANY_RANK == target) {
        return links_do(module, link_flush_begin, link_flush_end);
    }
    link = mca_osc_epwin_am_link_find(module, target);
    if (NULL == link) {
        return MPI_SUCCESS;
    }
    rc = link_flush_begin(module, link);
    return mca_osc_epwin_first_error(rc, link_flush_end(module, link));
}

static int link_results(mca_osc_epwin_module_t *module, epwin_am_link_t *link)
{
    const int rc = mca_osc_epwin_am_wait_results(module, link, link->results);

    return mca_osc_epwin_first_error(rc, mca_osc_epwin_am_longs_end(module, link, rc));
}

int mca_osc_epwin_am_flush_local(mca_osc_epwin_module_t *module, int target)
{
    epwin_am_link_t *link;

    if (NULL == module->origin) {
        return MPI_SUCCESS;
    }
    if (MPIX_ENDPOINTS_ANY_RANK == target) {
        return links_do(module, mca_osc_epwin_am_send, link_results);
    }
    link = mca_osc_epwin_am_link_find(module, target);
    return NULL == link ? MPI_SUCCESS : link_results(module, link);
}

/** An exclusive lock that relies on the domain's lock of an earlier one of another member: wait until
 * that is held.  Messages to two targets are in no order. */
static int domain_wait(mca_osc_epwin_module_t *module, int target)
{
    const uint32_t domain = module->peers[target].domain;
    epwin_am_link_t *link;
    uint32_t index = 0;
    int rc = MPI_SUCCESS;

    while (NULL != (link = mca_osc_epwin_am_link_next(module, &index)) && MPI_SUCCESS == rc) {
        if (domain == module->peers[link->rank].domain
            && link->domain_position > atomic_load_explicit(&link->acked, memory_order_relaxed)) {
            rc = mca_osc_epwin_am_append_flush(module, link);
            if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
                rc = mca_osc_epwin_am_wait_acked(module, link, link->domain_position);
            }
        }
    }
    return rc;
}

int mca_osc_epwin_am_lock(mca_osc_epwin_module_t *module, int target, mca_osc_epwin_hold_t hold,
                          bool with_domain)
{
    const epwin_am_record_t lock = {.kind = EPWIN_AM_LOCK,
                                    .hold = (uint8_t) hold,
                                    .with_domain = with_domain};
    epwin_am_link_t *link;
    int rc;

    if (EPWIN_HOLD_NOTHING == hold && !with_domain) {
        return MPI_SUCCESS;
    }
    rc = mca_osc_epwin_am_link(module, target, &link);
    if (EPWIN_HOLD_EXCLUSIVE == hold && !with_domain && MPI_SUCCESS == rc) {
        rc = domain_wait(module, target);
    }
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        rc = mca_osc_epwin_am_append_head(module, link, &lock);
    }
    if (with_domain && MPI_SUCCESS == rc) {
        link->domain_position = link->position;
    }
    return rc;
}

int mca_osc_epwin_am_unlock(mca_osc_epwin_module_t *module, int target, mca_osc_epwin_hold_t hold,
                            bool with_domain)
{
    const epwin_am_record_t unlock = {.kind = EPWIN_AM_UNLOCK,
                                      .hold = (uint8_t) hold,
                                      .with_domain = with_domain};
    epwin_am_link_t *link;
    int rc;

    if (EPWIN_HOLD_NOTHING == hold && !with_domain) {
        return mca_osc_epwin_am_flush(module, target);
    }
    rc = mca_osc_epwin_am_link(module, target, &link);
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        rc = mca_osc_epwin_am_append_head(module, link, &unlock);
    }
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        rc = link_flush_begin(module, link);
        rc = mca_osc_epwin_first_error(rc, link_flush_end(module, link));
    }
    return rc;
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
    return links_do(module, link_unlock_begin, link_flush_end);
}

/** Append a head without number, and send. */
static int link_tell(mca_osc_epwin_module_t *module, int rank, uint8_t kind)
{
    const epwin_am_record_t head = {.kind = kind};
    epwin_am_link_t *link;
    int rc = mca_osc_epwin_am_link(module, rank, &link);

    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        rc = mca_osc_epwin_am_append_head(module, link, &head);
    }
    return OPAL_LIKELY(MPI_SUCCESS == rc) ? mca_osc_epwin_am_send(module, link) : rc;
}

int mca_osc_epwin_am_post(mca_osc_epwin_module_t *module, int origin)
{
    return link_tell(module, origin, EPWIN_AM_POST);
}

int mca_osc_epwin_am_complete(mca_osc_epwin_module_t *module, int target)
{
    return link_tell(module, target, EPWIN_AM_COMPLETE);
}
