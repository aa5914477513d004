/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Win_lock, MPI_Win_lock_all and their ends (MPI-4.1, 12.5.3).
 *
 *     shared     the target's lock, first group
 *     exclusive  the domain's lock, second group; then the target's lock, alone
 *     all        the domain's lock, first group; domains of others: with the first message there
 *
 * An origin takes a domain's lock for its first exclusive lock there, and releases it with the last
 * one.  So an origin that holds an exclusive lock never queues behind MPI_Win_lock_all, which waits
 * for that lock.
 *
 * Members of the own domain are locked by atomic instructions, others by messages (am/).  A lock by
 * messages is not waited for, except before the next one: a program that takes locks in the order of
 * ranks relies on it that it holds the former when it waits for the latter.
 *
 * A member is lost: all waits fail (MPI_ERR_PROC_FAILED), as the lost one may hold the lock, and a
 * waiter that gives up never serves the next one.
 *
 * Called by libmpi.
 *
 * Tests: win_lock, win_sync_errors, win_death, win_away
 */

#include "ompi_config.h"

#include "osc_epwin_epoch.h"
#include "osc_epwin_sync.h"

#include <stdlib.h>
#include <string.h>

#include "../am/am.h"

/* ---- locks of the own domain ------------------------------------------------------------------ */

typedef struct lock_waiter_t {
    mca_osc_epwin_lock_t *lock;
    epwin_group_t group;
    epwin_lock_wait_t wait;
    bool is_held;
} lock_waiter_t;

/** May be called again after it was true. */
static bool lock_is_held(void *context)
{
    lock_waiter_t *waiter = context;

    if (!waiter->is_held) {
        waiter->is_held = epwin_lock_poll(waiter->lock, waiter->group, &waiter->wait);
    }
    return waiter->is_held;
}

/** @return MPI_SUCCESS; MPI_ERR_PROC_FAILED: not held.  The ticket is lost: see the file's head */
static __attribute__((noinline)) int lock_queue(mca_osc_epwin_module_t *module,
                                                mca_osc_epwin_lock_t *lock, epwin_group_t group)
{
    lock_waiter_t waiter = {.lock = lock, .group = group};

    /* The holders are not known, and the queue has others in front: any member's loss counts. */
    return mca_osc_epwin_wait(module, "a lock that others hold", MPIX_ENDPOINTS_ANY_RANK,
                              lock_is_held, &waiter);
}

static inline int lock_acquire(mca_osc_epwin_module_t *module, mca_osc_epwin_lock_t *lock,
                               epwin_group_t group)
{
    return OPAL_LIKELY(epwin_lock_try(lock, group)) ? MPI_SUCCESS : lock_queue(module, lock, group);
}

static int near_exclusive(mca_osc_epwin_module_t *module, mca_osc_epwin_control_t *control)
{
    int rc = MPI_SUCCESS;

    if (0 == module->exclusives) {
        rc = lock_acquire(module, &module->domain->lock, EPWIN_GROUP_SECOND);
        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            return rc;
        }
    }
    rc = lock_acquire(module, &control->lock, EPWIN_GROUP_ALONE);
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        ++module->exclusives;
    } else if (0 == module->exclusives) {
        epwin_lock_release(&module->domain->lock, EPWIN_GROUP_SECOND);
    }
    return rc;
}

static inline int near_lock(mca_osc_epwin_module_t *module, int target, mca_osc_epwin_hold_t hold)
{
    mca_osc_epwin_control_t *control = mca_osc_epwin_control(module, target);

    if (EPWIN_HOLD_EXCLUSIVE == hold) {
        return near_exclusive(module, control);
    }
    return EPWIN_HOLD_SHARED == hold ? lock_acquire(module, &control->lock, EPWIN_GROUP_FIRST)
                                     : MPI_SUCCESS;
}

static inline void near_release(mca_osc_epwin_module_t *module, mca_osc_epwin_control_t *control,
                                mca_osc_epwin_hold_t hold)
{
    if (EPWIN_HOLD_SHARED == hold) {
        epwin_lock_release(&control->lock, EPWIN_GROUP_FIRST);
    } else {
        epwin_lock_release(&control->lock, EPWIN_GROUP_ALONE);
        if (0 == --module->exclusives) {
            epwin_lock_release(&module->domain->lock, EPWIN_GROUP_SECOND);
        }
    }
    mca_osc_epwin_settled(module);
}

static int near_unlock(mca_osc_epwin_module_t *module, int target, mca_osc_epwin_hold_t hold)
{
    int rc = MPI_SUCCESS;

    if (EPWIN_WAY_DIRECT != module->peers[target].way) {
        rc = mca_osc_epwin_am_flush(module, target);
    }
    if (EPWIN_HOLD_NOTHING == hold) {
        mca_osc_epwin_settle(module);
    } else {
        near_release(module, mca_osc_epwin_control(module, target), hold);
    }
    return rc;
}

/* ---- locks of other domains ------------------------------------------------------------------- */

/** Exclusive locks that this handle holds in a target's domain. */
static uint32_t far_exclusives(const mca_osc_epwin_module_t *module, int target)
{
    const uint32_t domain = module->peers[target].domain;
    uint32_t count = 0;

    for (uint32_t i = 0; i < module->held_count; ++i) {
        count += EPWIN_HOLD_EXCLUSIVE == module->held[i].hold
                 && domain == module->peers[module->held[i].rank].domain;
    }
    return count;
}

static __attribute__((noinline)) int far_lock(mca_osc_epwin_module_t *module, int target,
                                              mca_osc_epwin_hold_t hold)
{
    const bool with_domain = EPWIN_HOLD_EXCLUSIVE == hold && 0 == far_exclusives(module, target);
    const int rc = mca_osc_epwin_am_lock(module, target, hold, with_domain);

    if (MPI_SUCCESS == rc && EPWIN_HOLD_NOTHING != hold) {
        module->unsure = target + 1;
    }
    return rc;
}

/** Wait until the lock that was asked for last is held: a flush is executed behind it.  An error of
 * an operation is returned, and the lock is held. */
static __attribute__((noinline)) int far_ensure(mca_osc_epwin_module_t *module)
{
    const int target = module->unsure - 1;

    module->unsure = 0;
    return mca_osc_epwin_am_flush(module, target);
}

/** The lock is still in held. */
static __attribute__((noinline)) int far_unlock(mca_osc_epwin_module_t *module, int target,
                                                mca_osc_epwin_hold_t hold)
{
    const bool with_domain = EPWIN_HOLD_EXCLUSIVE == hold && 1 == far_exclusives(module, target);

    if (target + 1 == module->unsure) {
        module->unsure = 0;
    }
    mca_osc_epwin_settle(module);
    return mca_osc_epwin_am_unlock(module, target, hold, with_domain);
}

/* ---- the list of held locks ------------------------------------------------------------------- */

/** Room for one more.  One lock needs no memory. */
static int held_reserve(mca_osc_epwin_module_t *module)
{
    const uint32_t room = 0 == module->held_room ? 1 : 2 * module->held_room;
    mca_osc_epwin_held_t *held = &module->first_held;

    if (OPAL_LIKELY(module->held_count < module->held_room)) {
        return MPI_SUCCESS;
    }
    if (1 < room) {
        held = malloc(room * sizeof(*held));
        if (NULL == held) {
            return MPI_ERR_NO_MEM;
        }
        memcpy(held, module->held, module->held_count * sizeof(*held));
        if (&module->first_held != module->held) {
            free(module->held);
        }
    }
    module->held = held;
    module->held_room = room;
    return MPI_SUCCESS;
}

static inline void held_add(mca_osc_epwin_module_t *module, uint32_t at, int rank,
                            mca_osc_epwin_hold_t hold)
{
    mca_osc_epwin_held_t *held = &module->held[at];

    if (OPAL_UNLIKELY(at < module->held_count)) {
        memmove(held + 1, held, (module->held_count - at) * sizeof(*held));
    }
    held->rank = rank;
    held->hold = hold;
    ++module->held_count;
    mca_osc_epwin_access_set(module, EPWIN_ACCESS_LOCK,
                             1 == module->held_count ? rank : EPWIN_OPEN_SOME);
}

static inline void held_remove(mca_osc_epwin_module_t *module, uint32_t at)
{
    mca_osc_epwin_held_t *held = &module->held[at];

    --module->held_count;
    if (OPAL_UNLIKELY(at < module->held_count)) {
        memmove(held, held + 1, (module->held_count - at) * sizeof(*held));
    }
    if (OPAL_LIKELY(0 == module->held_count)) {
        mca_osc_epwin_access_set(module, EPWIN_ACCESS_NONE, EPWIN_OPEN_NONE);
    } else if (1 == module->held_count) {
        module->open_target = module->held[0].rank;
    }
}

static inline bool held_has(const mca_osc_epwin_module_t *module, uint32_t at, int rank)
{
    return at < module->held_count && rank == module->held[at].rank;
}

/* ---- MPI_Win_lock, MPI_Win_unlock ------------------------------------------------------------- */

/* The fast paths are for the only lock of a handle, in the own domain.  They call nothing, so they
 * save no registers. */

/** Take a lock without waiting, where no other is held. */
static inline bool lock_at_once(mca_osc_epwin_module_t *module, mca_osc_epwin_control_t *control,
                                mca_osc_epwin_hold_t hold)
{
    if (EPWIN_HOLD_SHARED == hold) {
        return epwin_lock_try(&control->lock, EPWIN_GROUP_FIRST);
    }
    if (OPAL_UNLIKELY(!epwin_lock_try(&module->domain->lock, EPWIN_GROUP_SECOND))) {
        return false;
    }
    if (OPAL_UNLIKELY(!epwin_lock_try(&control->lock, EPWIN_GROUP_ALONE))) {
        epwin_lock_release(&module->domain->lock, EPWIN_GROUP_SECOND);
        return false;
    }
    module->exclusives = 1;
    return true;
}

/** MPI_Win_lock, all cases. */
static __attribute__((noinline)) int lock_any(int lock_type, int target, int mpi_assert,
                                              ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    const mca_osc_epwin_hold_t hold = 0 != (mpi_assert & MPI_MODE_NOCHECK) ? EPWIN_HOLD_NOTHING
                                      : MPI_LOCK_SHARED == lock_type       ? EPWIN_HOLD_SHARED
                                                                           : EPWIN_HOLD_EXCLUSIVE;
    uint32_t at = 0;
    int rc;

    if (!mca_osc_epwin_may_access(module)) {
        at = mca_osc_epwin_held_find(module, target);
        if (EPWIN_ACCESS_LOCK != module->access || held_has(module, at, target)) {
            return MPI_ERR_RMA_SYNC;
        }
    }
    rc = held_reserve(module);
    if (0 != module->unsure && MPI_SUCCESS == rc && EPWIN_HOLD_NOTHING != hold) {
        rc = far_ensure(module);
    }
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        rc = mca_osc_epwin_is_near(module, target) ? near_lock(module, target, hold)
                                                   : far_lock(module, target, hold);
    }
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        held_add(module, at, target, hold);
    }
    return rc;
}

int mca_osc_epwin_lock(int lock_type, int target, int mpi_assert, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    const mca_osc_epwin_hold_t hold = MPI_LOCK_SHARED == lock_type ? EPWIN_HOLD_SHARED
                                                                   : EPWIN_HOLD_EXCLUSIVE;

    if (OPAL_UNLIKELY(!mca_osc_epwin_may_access(module) || 0 == module->held_room
                      || !mca_osc_epwin_is_near(module, target)
                      || 0 != (mpi_assert & MPI_MODE_NOCHECK)
                      || !lock_at_once(module, mca_osc_epwin_control(module, target), hold))) {
        return lock_any(lock_type, target, mpi_assert, win);
    }
    module->held[0] = (mca_osc_epwin_held_t){.rank = target, .hold = hold};
    module->held_count = 1;
    mca_osc_epwin_access_set(module, EPWIN_ACCESS_LOCK, target);
    return MPI_SUCCESS;
}

/** MPI_Win_unlock, all cases. */
static __attribute__((noinline)) int unlock_any(int target, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    const uint32_t at = mca_osc_epwin_held_find(module, target);
    int rc;

    if (EPWIN_ACCESS_LOCK != module->access || !held_has(module, at, target)) {
        return MPI_ERR_RMA_SYNC;
    }
    rc = mca_osc_epwin_is_near(module, target) ? near_unlock(module, target, module->held[at].hold)
                                               : far_unlock(module, target, module->held[at].hold);
    /* Whatever came of it: the epoch is over. */
    held_remove(module, at);
    return mca_osc_epwin_called(module, rc);
}

int mca_osc_epwin_unlock(int target, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);

    if (OPAL_UNLIKELY(EPWIN_ACCESS_LOCK != module->access || module->open_target != target
                      || EPWIN_WAY_DIRECT != module->peers[target].way
                      || !mca_osc_epwin_is_near(module, target)
                      || EPWIN_HOLD_NOTHING == module->held[0].hold)) {
        return unlock_any(target, win);
    }
    near_release(module, mca_osc_epwin_control(module, target), module->held[0].hold);
    module->held_count = 0;
    mca_osc_epwin_access_set(module, EPWIN_ACCESS_NONE, EPWIN_OPEN_NONE);
    return mca_osc_epwin_called(module, MPI_SUCCESS);
}

/* ---- MPI_Win_lock_all, MPI_Win_unlock_all ----------------------------------------------------- */

int mca_osc_epwin_lock_all(int mpi_assert, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    const bool is_nocheck = 0 != (mpi_assert & MPI_MODE_NOCHECK);
    int rc = MPI_SUCCESS;

    if (OPAL_UNLIKELY(!mca_osc_epwin_may_access(module))) {
        return MPI_ERR_RMA_SYNC;
    }
    if (!is_nocheck) {
        rc = lock_acquire(module, &module->domain->lock, EPWIN_GROUP_FIRST);
    }
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        module->is_all_nocheck = is_nocheck;
        mca_osc_epwin_access_set(module, EPWIN_ACCESS_LOCK_ALL, EPWIN_OPEN_ALL);
    }
    return rc;
}

int mca_osc_epwin_unlock_all(ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    int rc = MPI_SUCCESS;

    if (OPAL_UNLIKELY(EPWIN_ACCESS_LOCK_ALL != module->access)) {
        return MPI_ERR_RMA_SYNC;
    }
    if (NULL != module->origin) {
        rc = mca_osc_epwin_am_unlock_all(module);
    }
    if (module->is_all_nocheck) {
        mca_osc_epwin_settle(module);
    } else {
        epwin_lock_release(&module->domain->lock, EPWIN_GROUP_FIRST);
        mca_osc_epwin_settled(module);
    }
    mca_osc_epwin_access_set(module, EPWIN_ACCESS_NONE, EPWIN_OPEN_NONE);
    return mca_osc_epwin_called(module, rc);
}
