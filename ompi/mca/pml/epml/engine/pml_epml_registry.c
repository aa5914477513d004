/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The list of all endpoints of the process, and progress of those that no thread drives.
 *
 * Process-wide progress runs in whatever thread is in MPI: one that waits for an endpoint of its
 * own and finds nothing, or one in libmpi that knows nothing of endpoints (MPI_Request_get_status,
 * a wait of ob1).  It does two things:
 *
 *  - It progresses the endpoints that the thread itself used last, as a test on them would.
 *  - It helps others, a little: a slice of copying (EPML_SLICE) and some messages, of endpoints
 *    whose own threads have not looked at them for a while.
 *
 * The list's lock is held to find an endpoint, not while it is progressed.  What keeps the endpoint
 * alive meanwhile is the number of its visitors, which like the list is read and written under that
 * lock.  The thread that gives up the last reference takes an endpoint without visitors out of the
 * list and owns it; one with visitors it only declares gone, and leaves in the list, so that they
 * find the way on from it.  The last visitor to leave sees under the lock that it is gone, and owns
 * it then. All that visitors did is ordered before its end by that lock.  Helpers leave an endpoint
 * alone that has a visitor.
 *
 * Tests: callbacks, drafted, progress, slow_peer, win_progress
 */

#include "ompi_config.h"

#include <sched.h>

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_registry.h"
#include "pml_epml_progress.h"
#include "pml_epml_variables.h"
#include "pml_epml_work.h"

#include "ompi/constants.h"
#include "opal/mca/threads/mutex.h"
#include "opal/runtime/opal_progress.h"

/** Scans that pass over an endpoint which a thread of its own has progressed since the last
 * look. */
#define EPML_SCAN_REST 32

/** Endpoints of others that are progressed in one scan. */
#define EPML_SCAN_VISITS 8

/** Endpoints of the thread's own whose receive queues are empty, but that have transports: each look
 * at a network may cost a system call, and a thread may have a hundred of them. */
#define EPML_SCAN_LOOKS 8

static struct {
    opal_mutex_t lock;
    mca_pml_epml_ep_t *first;
    mca_pml_epml_ep_t *resume; /**< where the next scan begins; NULL: at the first */
    mca_pml_epml_ep_t *dying;  /**< no communicator left, pending queue not yet empty */
    int listed;                /**< endpoints in the list */
    int count;                 /**< those of them that are not gone */
    int reserved;              /**< by creations under way */
    int node_count;            /**< endpoints of this node at the last creation */
    uint64_t ended;            /**< endpoints that have been taken out of the list */
} registry = {.lock = OPAL_MUTEX_STATIC_INIT};

/** What the thread does that is in mca_pml_epml_help. */
static _Thread_local struct {
    bool helps;
    const mca_pml_epml_ep_t *waits_for;
} helper;

/* ---- coming and going ------------------------------------------------------------------------ */

void mca_pml_epml_ep_note_node(int endpoints_on_node)
{
    opal_mutex_lock(&registry.lock);
    registry.node_count = endpoints_on_node;
    mca_pml_epml_oversubscription_update(registry.count, registry.node_count);
    opal_mutex_unlock(&registry.lock);
}

mpix_endpoints_error_t mca_pml_epml_ep_reserve(int count)
{
    const int most = mca_pml_epml_component.max_endpoints;
    int in_use;
    bool is_room;

    opal_mutex_lock(&registry.lock);
    in_use = registry.count + registry.reserved;
    is_room = 0 >= count || count <= most - in_use;
    if (0 < count && is_room) {
        registry.reserved += count;
    }
    opal_mutex_unlock(&registry.lock);
    if (!is_room) {
        EPML_SHOW_HELP("limit", true, count, in_use, most);
        return MPIX_ENDPOINTS_ERR_LIMIT;
    }
    return MPIX_ENDPOINTS_OK;
}

int mca_pml_epml_ep_room(void)
{
    int in_use;

    opal_mutex_lock(&registry.lock);
    in_use = registry.count + registry.reserved;
    opal_mutex_unlock(&registry.lock);
    return mca_pml_epml_component.max_endpoints - in_use;
}

void mca_pml_epml_ep_unreserve(int count)
{
    opal_mutex_lock(&registry.lock);
    registry.reserved -= count;
    opal_mutex_unlock(&registry.lock);
}

void mca_pml_epml_registry_add(mca_pml_epml_ep_t *ep)
{
    opal_mutex_lock(&registry.lock);
    ep->list.prev = NULL;
    ep->list.next = registry.first;
    if (NULL != ep->list.next) {
        ep->list.next->list.prev = ep;
    }
    registry.first = ep;
    ++registry.listed;
    ++registry.count;
    --registry.reserved;
    mca_pml_epml_oversubscription_update(registry.count, registry.node_count);
    opal_mutex_unlock(&registry.lock);
}

/** Take an endpoint that is gone out of the list.  Under the lock.
 * @return is it to be destroyed now?  Otherwise its pending queues hold what peers wait for */
static bool registry_unlist(mca_pml_epml_ep_t *ep)
{
    if (registry.resume == ep) {
        registry.resume = ep->list.next;
    }
    if (NULL == ep->list.prev) {
        registry.first = ep->list.next;
    } else {
        ep->list.prev->list.next = ep->list.next;
    }
    if (NULL != ep->list.next) {
        ep->list.next->list.prev = ep->list.prev;
    }
    --registry.listed;
    ++registry.ended;
    mca_pml_epml_counts_account(ep);
    if (NULL != ep->wire.pending.first) {
        ep->list.next = registry.dying;
        registry.dying = ep;
        return false;
    }
    return true;
}

bool mca_pml_epml_registry_remove(mca_pml_epml_ep_t *ep)
{
    bool owned = false;

    opal_mutex_lock(&registry.lock);
    --registry.count;
    if (0 == registry.count) {
        registry.node_count = 0;
    }
    mca_pml_epml_oversubscription_update(registry.count, registry.node_count);
    if (0 < ep->list.visitors) {
        ep->list.gone = true;
    } else {
        owned = registry_unlist(ep);
    }
    opal_mutex_unlock(&registry.lock);
    return owned;
}

void mca_pml_epml_visit(mca_pml_epml_ep_t *ep)
{
    for (int tries = 1; !mca_pml_epml_try_visit(ep); ++tries) {
        epml_lock_relax();
        if (0 == tries % 64) {
            sched_yield();
        }
    }
}

bool mca_pml_epml_ep_visit_all(void (*begin)(void *context),
                               void (*visit)(mca_pml_epml_ep_t *ep, void *context), void *context)
{
    mca_pml_epml_ep_t *ep;
    uint64_t ended;
    bool all;

    opal_mutex_lock(&registry.lock);
    begin(context);
    ended = registry.ended;
    ep = registry.first;
    if (NULL != ep) {
        ++ep->list.visitors;
    }
    while (NULL != ep) {
        mca_pml_epml_ep_t *next;
        bool owned;

        opal_mutex_unlock(&registry.lock);
        mca_pml_epml_visit(ep);
        visit(ep, context);
        mca_pml_epml_unlock(ep);
        opal_mutex_lock(&registry.lock);
        next = ep->list.next;
        if (NULL != next) {
            ++next->list.visitors; /* so that it is there when we come to it */
        }
        --ep->list.visitors;
        owned = ep->list.gone && 0 == ep->list.visitors && registry_unlist(ep);
        if (OPAL_UNLIKELY(owned)) {
            opal_mutex_unlock(&registry.lock);
            mca_pml_epml_ep_destroy(ep);
            opal_mutex_lock(&registry.lock);
        }
        ep = next;
    }
    all = ended == registry.ended;
    opal_mutex_unlock(&registry.lock);
    return all;
}

bool mca_pml_epml_ep_for_all(void (*function)(mca_pml_epml_ep_t *ep))
{
    if (0 != opal_mutex_trylock(&registry.lock)) {
        return false;
    }
    for (mca_pml_epml_ep_t *ep = registry.first; NULL != ep; ep = ep->list.next) {
        function(ep);
    }
    for (mca_pml_epml_ep_t *ep = registry.dying; NULL != ep; ep = ep->list.next) {
        function(ep);
    }
    opal_mutex_unlock(&registry.lock);
    return true;
}

void mca_pml_epml_registry_finalize(void)
{
    mca_pml_epml_ep_t *ep;

    while (NULL != (ep = registry.dying)) {
        registry.dying = ep->list.next;
        mca_pml_epml_ep_destroy(ep);
    }
    while (NULL != (ep = registry.first)) {
        registry.first = ep->list.next;
        mca_pml_epml_ep_destroy(ep);
    }
    registry.resume = NULL;
    registry.listed = registry.count = registry.reserved = registry.node_count = 0;
}

/* ---- progress of all ------------------------------------------------------------------------- */

/** One scan of the list by one thread. */
typedef struct scan_t {
    uintptr_t self;        /**< the thread, as the locks know it */
    mca_pml_epml_ep_t *at; /**< next in the list; NULL: the first */
    int left;              /**< endpoints to look at yet */
    int visits;            /**< endpoints of others that may be progressed yet */
    int looks; /**< likewise own ones that have transports, and an empty receive queue */
    size_t slice;          /**< bytes that may be copied for them yet */
    bool is_full;          /**< no more of others */
    bool is_own;           /**< the endpoint found is the thread's own */
} scan_t;

/** Is there reason to progress an endpoint?  Under the registry's lock, or of the thread's own. */
static inline bool has_work(const mca_pml_epml_ep_t *ep)
{
    /* Relaxed: hints. */
    return atomic_load_explicit(&ep->signs.busy, memory_order_relaxed)
           || ep->transports.shm->ep_pending(ep->transports.shm) || mca_pml_epml_work_has(ep);
}

/** Does another's endpoint need help?  Under the registry's lock. */
static bool wants_help(mca_pml_epml_ep_t *ep)
{
    /* Relaxed, here and below: hints. */
    const uint32_t heartbeat = atomic_load_explicit(&ep->signs.heartbeat, memory_order_relaxed);

    if (heartbeat != ep->list.seen_heartbeat) {
        ep->list.seen_heartbeat = heartbeat;
        ep->list.scan_rest = EPML_SCAN_REST;
        return false;
    }
    if (0 < ep->list.scan_rest) {
        --ep->list.scan_rest;
        return false;
    }
    return has_work(ep)
           && (mca_pml_epml_component.progress_others
               || 0 < atomic_load_explicit(&ep->comms.active, memory_order_relaxed)
               || atomic_load_explicit(&ep->signs.busy, memory_order_relaxed)
               || mca_pml_epml_work_has(ep));
}

/** Is an endpoint of the thread's own to be progressed?  Under the registry's lock. */
static bool wants_turn(scan_t *scan, mca_pml_epml_ep_t *ep)
{
    if (ep->transports.shm->ep_pending(ep->transports.shm) || mca_pml_epml_work_has(ep)) {
        return true;
    }
    if (!atomic_load_explicit(&ep->signs.busy, memory_order_relaxed)) {
        return false;
    }
    if (0 == scan->looks) {
        registry.resume = ep; /* next time */
        return false;
    }
    --scan->looks;
    return true;
}

/** The next endpoint to progress.  Under the registry's lock; the endpoint has one visitor more.
 * @return NULL: the scan is over */
static mca_pml_epml_ep_t *find_work(scan_t *scan)
{
    while (0 < scan->left--) {
        mca_pml_epml_ep_t *ep = NULL == scan->at ? registry.first : scan->at;
        bool wanted;

        if (NULL == ep) {
            return NULL;
        }
        scan->at = ep->list.next;
        scan->is_own = epml_lock_is_last(&ep->lock, scan->self);
        if (scan->is_own && !helper.helps) {
            wanted = wants_turn(scan, ep);
        } else {
            /* Also the other ones of a thread of ours that waits or tests: it progresses what it
             * needs. */
            wanted = 0 < scan->visits && 0 == ep->list.visitors && wants_help(ep);
            scan->visits -= wanted ? 1 : 0;
        }
        if (wanted) {
            ++ep->list.visitors;
            return ep;
        }
    }
    return NULL;
}

/** A thread progresses an endpoint that it used last, as a test would. */
static int turn_own(mca_pml_epml_ep_t *ep)
{
    int events = 0;

    for (int calls = 0; calls < EPML_TEST_CALLS; ++calls) {
        const int rc = mca_pml_epml_ep_poll_patiently(ep);

        if (0 == rc) {
            break;
        }
        events += rc;
    }
    return events;
}

/** Help an endpoint of others.  @return number of events; -1: another thread is in */
static int registry_help(scan_t *scan, mca_pml_epml_ep_t *ep)
{
    int events;

    if (!mca_pml_epml_try_visit(ep)) {
        return -1;
    }
    ++ep->engine.helps;
    mca_pml_epml_slice_set(ep, scan->slice);
    events = mca_pml_epml_ep_progress_locked(ep);
    scan->slice = ep->requests.slice;
    mca_pml_epml_slice_set(ep, EPML_SLICE_NONE);
    mca_pml_epml_unlock(ep);
    return OPAL_LIKELY(!mca_pml_epml_work_has(ep))
               ? events
               : events + mca_pml_epml_work_turn(ep, EPML_WORK_HELP);
}

/** Has the thread that helps got what it waits for? */
static bool is_called_back(void)
{
    return NULL != helper.waits_for && has_work(helper.waits_for);
}

/** One visitor less.  Under the registry's lock.
 * @param[in] events  of its progress; < 0: it could not be had
 * @return is the endpoint gone, and this thread's to destroy? */
static bool registry_leave(scan_t *scan, mca_pml_epml_ep_t *ep, int events)
{
    --ep->list.visitors;
    if (0 > events) {
        /* The thread that is in may do it itself; and trying may interrupt it. */
        ep->list.scan_rest = EPML_SCAN_REST;
    }
    scan->at = ep->list.next; /* others may have come and gone meanwhile */
    if (!scan->is_full && (0 == scan->slice || 0 == scan->visits || is_called_back())) {
        scan->is_full = true;
        scan->visits = 0; /* the rest of the scan is for the thread's own */
        registry.resume = scan->at;
    }
    return ep->list.gone && 0 == ep->list.visitors && registry_unlist(ep);
}

/** Turn the thread's own endpoints, and help others.
 * @param[out] dying_p  those that have no communicator any more, taken from their list */
static int scan_all(mca_pml_epml_ep_t **dying_p)
{
    scan_t scan = {.self = epml_lock_self(),
                   .visits = EPML_SCAN_VISITS,
                   .looks = EPML_SCAN_LOOKS,
                   .slice = EPML_SLICE};
    mca_pml_epml_ep_t *ep;
    int events = 0;

    *dying_p = NULL;
    for (int tries = 1; 0 != opal_mutex_trylock(&registry.lock); ++tries) {
        /* Another thread has it, and not for long; a call that tests wants progress of its own. */
        if (helper.helps || EPML_TEST_TRIES == tries) {
            return 0;
        }
        epml_lock_relax();
        if (0 == tries % 64) {
            sched_yield();
        }
    }
    scan.at = registry.resume;
    scan.left = registry.listed;
    while (NULL != (ep = find_work(&scan))) {
        int rc;

        opal_mutex_unlock(&registry.lock);
        rc = scan.is_own ? turn_own(ep) : registry_help(&scan, ep);
        events += 0 < rc ? rc : 0;
        opal_mutex_lock(&registry.lock);
        if (OPAL_UNLIKELY(registry_leave(&scan, ep, rc))) {
            opal_mutex_unlock(&registry.lock);
            mca_pml_epml_ep_destroy(ep);
            opal_mutex_lock(&registry.lock);
            scan.at = registry.resume;
        }
    }
    *dying_p = registry.dying;
    registry.dying = NULL;
    opal_mutex_unlock(&registry.lock);
    return events;
}

/** Push the pending queues of endpoints that have no communicator any more, each in a slice.  They
 * are in no list meanwhile: no other thread can have them. */
static int push_dying(mca_pml_epml_ep_t *list)
{
    int events = 0;

    while (NULL != list) {
        mca_pml_epml_ep_t *ep = list;

        list = ep->list.next;
        mca_pml_epml_slice_set(ep, EPML_SLICE);
        events += mca_pml_epml_ep_progress_locked(ep);
        if (NULL == ep->wire.pending.first) {
            mca_pml_epml_ep_destroy(ep);
            continue;
        }
        opal_mutex_lock(&registry.lock);
        ep->list.next = registry.dying;
        registry.dying = ep;
        opal_mutex_unlock(&registry.lock);
    }
    return events;
}

int mca_pml_epml_progress(void)
{
    mca_pml_epml_ep_t *dying;
    int events;

    mca_pml_epml_check_outside(); /* whatever is registered beside us may call the user */
    events = scan_all(&dying);

    if (OPAL_UNLIKELY(NULL != dying)) {
        events += push_dying(dying);
    }
    return events + mca_pml_epml_net_progress_kept();
}

int mca_pml_epml_progress_others(void)
{
    const bool helped = helper.helps;
    int events;

    helper.helps = true;
    events = mca_pml_epml_progress();
    helper.helps = helped;
    return events;
}

void mca_pml_epml_help(const mca_pml_epml_ep_t *ep)
{
    const mca_pml_epml_ep_t *before = helper.waits_for;
    const bool helped = helper.helps; /* a callback may wait itself */

    helper.helps = true;
    helper.waits_for = ep;
    mca_pml_epml_process_progress();
    helper.waits_for = before;
    helper.helps = helped;
}
