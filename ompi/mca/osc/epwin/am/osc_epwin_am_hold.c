/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Locks that origins of other domains take by messages.  The handler polls once, then the step does; the records of
 * that origin that follow wait, those of others do not.
 *
 * An origin that holds exclusive locks of several members of a domain holds the domain's lock once:
 * the first exclusive lock takes it, the last unlock releases it.
 *
 * Losses.  A member that is lost may have held any lock.  So the wait for one ends with
 * MPI_ERR_PROC_FAILED, which the ACK tells, as soon as any member is lost.
 *
 * Called by osc_epwin_am_execute.c.
 *
 * Tests: win_net, unit/test_epwin_am, unit/test_epwin_am_random, win_death, fuzz/epwin
 */

#include "ompi_config.h"

#include "osc_epwin_am_queue.h"

#define ENGINE mca_osc_epwin_component.engine

/** Unsuccessful polls between checks for losses. */
#define HOLD_LIVENESS 64

static mca_osc_epwin_lock_t *hold_lock(const epwin_am_queue_t *queue)
{
    return &mca_osc_epwin_control(queue->module, queue->module->rank)->lock;
}

static epwin_group_t hold_group(uint8_t hold)
{
    return EPWIN_HOLD_SHARED == hold ? EPWIN_GROUP_FIRST : EPWIN_GROUP_ALONE;
}

static void hold_note_error(epwin_am_peer_t *peer, int error)
{
    if (MPI_SUCCESS == peer->error) {
        peer->error = (uint8_t) error;
    }
}

/* ---- releasing -------------------------------------------------------------------------------- */

static void hold_release_member(epwin_am_queue_t *queue, epwin_am_peer_t *peer)
{
    if (EPWIN_HOLD_NOTHING != peer->hold) {
        epwin_lock_release(hold_lock(queue), hold_group(peer->hold));
        peer->hold = EPWIN_HOLD_NOTHING;
    }
}

/** Release the domain's lock of an origin's exclusive locks.  The last of them releases it, which
 * may be another target's than the first, which has taken it; so it may not be known here. */
static void hold_release_domain(epwin_am_queue_t *queue)
{
    mca_osc_epwin_lock_t *lock = &queue->module->domain->lock;

    /* Relaxed: an origin that releases what it holds finds itself counted.  After a loss it may not
     * hold it. */
    if (0 != atomic_load_explicit(&lock->word, memory_order_relaxed) >> 32) {
        epwin_lock_release(lock, EPWIN_GROUP_SECOND);
    }
}

static void hold_release_all(epwin_am_queue_t *queue, epwin_am_peer_t *peer)
{
    if (peer->has_all) {
        epwin_lock_release(&queue->module->domain->lock, EPWIN_GROUP_FIRST);
        peer->has_all = false;
    }
}

static void hold_unlock(epwin_am_queue_t *queue, epwin_am_peer_t *peer,
                        const epwin_am_record_t *record)
{
    if (record->hold != peer->hold) {
        hold_note_error(peer, MPI_ERR_RMA_SYNC);
    }
    hold_release_member(queue, peer);
    if (record->with_domain) {
        hold_release_domain(queue);
    }
    peer->has_domain = false;
}

/* ---- taking ----------------------------------------------------------------------------------- */

/** @return EXECUTED: it is held; WAITS; NO_ROOM: it will never be, and the error is noted */
static epwin_am_outcome_t hold_poll(epwin_am_queue_t *queue, epwin_am_peer_t *peer,
                                    mca_osc_epwin_lock_t *lock, epwin_group_t group)
{
    if (epwin_lock_poll(lock, group, &peer->wait)) {
        peer->wait = (epwin_lock_wait_t){0};
        peer->polls = 0;
        return EPWIN_AM_EXECUTED;
    }
    if (!queue->is_in_handler && 0 == ++peer->polls % HOLD_LIVENESS
        && ENGINE->is_lost(queue->module->comm, MPIX_ENDPOINTS_ANY_RANK)) {
        peer->wait = (epwin_lock_wait_t){0};
        peer->polls = 0;
        hold_note_error(peer, MPI_ERR_PROC_FAILED);
        return EPWIN_AM_NO_ROOM;
    }
    return EPWIN_AM_WAITS;
}

static epwin_am_outcome_t hold_take(epwin_am_queue_t *queue, epwin_am_peer_t *peer,
                                    const epwin_am_record_t *record)
{
    epwin_am_outcome_t outcome;

    if (EPWIN_HOLD_NOTHING != peer->hold || (peer->has_domain && !peer->is_second)) {
        hold_note_error(peer, MPI_ERR_RMA_SYNC);
        return EPWIN_AM_EXECUTED;
    }
    if (record->with_domain && !peer->is_second) {
        outcome = hold_poll(queue, peer, &queue->module->domain->lock, EPWIN_GROUP_SECOND);
        if (EPWIN_AM_EXECUTED != outcome) {
            return EPWIN_AM_WAITS == outcome ? outcome : EPWIN_AM_EXECUTED;
        }
        peer->is_second = peer->has_domain = true;
    }
    if (EPWIN_HOLD_NOTHING != record->hold) {
        outcome = hold_poll(queue, peer, hold_lock(queue), hold_group(record->hold));
        if (EPWIN_AM_WAITS == outcome) {
            return outcome;
        }
        if (EPWIN_AM_EXECUTED == outcome) {
            peer->hold = record->hold;
        }
    }
    peer->is_second = false;
    return EPWIN_AM_EXECUTED;
}

static epwin_am_outcome_t hold_take_all(epwin_am_queue_t *queue, epwin_am_peer_t *peer,
                                        const epwin_am_record_t *record)
{
    epwin_am_outcome_t outcome;

    if (peer->has_all) {
        hold_note_error(peer, MPI_ERR_RMA_SYNC);
        return EPWIN_AM_EXECUTED;
    }
    /* The origin holds the lock of its own domain. */
    outcome = hold_poll(queue, peer, &queue->module->domain->lock,
                        record->with_domain ? EPWIN_GROUP_AGAIN : EPWIN_GROUP_JOIN);
    peer->has_all = EPWIN_AM_EXECUTED == outcome;
    return EPWIN_AM_WAITS == outcome ? outcome : EPWIN_AM_EXECUTED;
}

epwin_am_outcome_t mca_osc_epwin_am_hold(epwin_am_queue_t *queue, epwin_am_peer_t *peer,
                                         const epwin_am_record_t *record)
{
    switch (record->kind) {
    case EPWIN_AM_LOCK:
        return hold_take(queue, peer, record);
    case EPWIN_AM_DOMAIN_LOCK:
        return hold_take_all(queue, peer, record);
    case EPWIN_AM_UNLOCK:
        /* Before the ACK: the origin may take it again at once, by another way. */
        hold_unlock(queue, peer, record);
        break;
    default:
        hold_release_all(queue, peer);
        break;
    }
    return EPWIN_AM_EXECUTED;
}
