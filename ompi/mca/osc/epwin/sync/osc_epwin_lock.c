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
 * for that lock.  Threads of a handle that take their first exclusive locks at the same time may hold
 * a domain's lock several times: each takes it for itself, unless another one holds it already.
 *
 * Members of the own domain are locked by atomic instructions, others by messages (am/).  A lock by
 * messages is not waited for, except before the next one: a program that takes locks in the order of
 * ranks relies on it that it holds the former when it waits for the latter.  Where several threads use
 * the handle it is waited for at once (far_is_sure).
 *
 * A member is lost: all waits fail (MPI_ERR_PROC_FAILED), as the lost one may hold the lock, and a
 * waiter that gives up never serves the next one.
 *
 * Called by libmpi.
 *
 * Tests: win_lock, win_sync_errors, win_death, win_away, win_threads, unit/test_epwin_held
 */

#include "ompi_config.h"

#include "osc_epwin_epoch.h"
#include "osc_epwin_sync.h"

#include <stdlib.h>
#include <string.h>

#include "../am/am.h"

/* ---- waiting for a lock ----------------------------------------------------------------------- */

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

/** Without the handle's lock.
 * @return MPI_SUCCESS; MPI_ERR_PROC_FAILED: not held.  The ticket is lost: see the file's head */
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

/** The same under the handle's lock, which is given back meanwhile. */
static int near_acquire(mca_osc_epwin_module_t *module, mca_osc_epwin_lock_t *lock,
                        epwin_group_t group)
{
    uint32_t depth;
    int rc;

    if (OPAL_LIKELY(epwin_lock_try(lock, group))) {
        return MPI_SUCCESS;
    }
    depth = mca_osc_epwin_suspend(module);
    rc = lock_queue(module, lock, group);
    mca_osc_epwin_resume(module, depth);
    return rc;
}

/* ---- the list of held locks.  Under the handle's lock. ---------------------------------------- */

/** Room for one more.  One lock needs no memory. */
static int held_reserve(mca_osc_epwin_module_t *module)
{
    const uint32_t room = 2 * module->held_room;
    mca_osc_epwin_held_t *held;

    if (OPAL_LIKELY(module->held_count < module->held_room)) {
        return MPI_SUCCESS;
    }
    held = malloc(room * sizeof(*held));
    if (NULL == held) {
        return MPI_ERR_NO_MEM;
    }
    memcpy(held, module->held, module->held_count * sizeof(*held));
    if (&module->first_held != module->held) {
        free(module->held);
    }
    module->held = held;
    module->held_room = room;
    return MPI_SUCCESS;
}

static inline bool held_has(const mca_osc_epwin_module_t *module, uint32_t at, int rank)
{
    return at < module->held_count && rank == module->held[at].rank;
}

/** @return MPI_SUCCESS; MPI_ERR_NO_MEM; MPI_ERR_RMA_SYNC */
static int held_add(mca_osc_epwin_module_t *module, int rank, mca_osc_epwin_hold_t hold)
{
    const uint32_t at = mca_osc_epwin_held_find(module, rank);
    mca_osc_epwin_held_t *held;
    int rc;

    if (!mca_osc_epwin_may_access(module)
        && (EPWIN_ACCESS_LOCK != module->access || held_has(module, at, rank))) {
        return MPI_ERR_RMA_SYNC;
    }
    rc = held_reserve(module);
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        return rc;
    }
    module->held_alone = NULL;
    held = &module->held[at];
    if (OPAL_UNLIKELY(at < module->held_count)) {
        memmove(held + 1, held, (module->held_count - at) * sizeof(*held));
    }
    *held = (mca_osc_epwin_held_t){.rank = rank, .hold = (uint8_t) hold};
    if (OPAL_LIKELY(1 == ++module->held_count)) {
        mca_osc_epwin_access_set(module, EPWIN_ACCESS_LOCK, rank);
    } else { /* other threads may be reading access */
        mca_osc_epwin_open_set(module, EPWIN_OPEN_SOME);
    }
    return MPI_SUCCESS;
}

/** The lock of a rank, or NULL. */
static inline mca_osc_epwin_held_t *held_of(mca_osc_epwin_module_t *module, int rank)
{
    const uint32_t at = mca_osc_epwin_held_find(module, rank);

    return held_has(module, at, rank) ? &module->held[at] : NULL;
}

/** Remove the lock of a rank.  @return what it was; EPWIN_HOLD_NOTHING if it is not there: the
 * program has released it twice */
static mca_osc_epwin_held_t held_remove(mca_osc_epwin_module_t *module, int rank)
{
    mca_osc_epwin_held_t *held = held_of(module, rank);
    mca_osc_epwin_held_t removed = {.rank = rank, .hold = EPWIN_HOLD_NOTHING};

    if (OPAL_UNLIKELY(NULL == held)) {
        return removed;
    }
    removed = *held;
    module->held_alone = NULL;
    --module->held_count;
    memmove(held, held + 1, (size_t) (&module->held[module->held_count] - held) * sizeof(*held));
    if (OPAL_LIKELY(0 == module->held_count)) {
        mca_osc_epwin_access_set(module, EPWIN_ACCESS_NONE, EPWIN_OPEN_NONE);
    } else if (1 == module->held_count) {
        mca_osc_epwin_open_set(module, module->held[0].rank);
    }
    return removed;
}

/** A lock in the list that has a state for a domain, or NULL. */
static mca_osc_epwin_held_t *held_unit(mca_osc_epwin_module_t *module, uint32_t domain,
                                       mca_osc_epwin_unit_state_t unit)
{
    for (uint32_t i = 0; i < module->held_count; ++i) {
        if (unit == module->held[i].unit && domain == module->peers[module->held[i].rank].domain) {
            return &module->held[i];
        }
    }
    return NULL;
}

static void held_unit_set(mca_osc_epwin_module_t *module, int rank, mca_osc_epwin_unit_state_t unit)
{
    mca_osc_epwin_held_t *held = held_of(module, rank);

    if (OPAL_LIKELY(NULL != held)) {
        held->unit = (uint8_t) unit;
    }
}

/** An exclusive lock of a target: does it share the domain's lock of another one? */
static bool held_unit_share(mca_osc_epwin_module_t *module, int target)
{
    if (NULL == held_unit(module, module->peers[target].domain, EPWIN_UNIT_HELD)) {
        return false;
    }
    held_unit_set(module, target, EPWIN_UNIT_SHARED);
    return true;
}

/** A lock has been removed from the list.  One that shares the domain's lock holds it from now on.
 * @return whether the domain's lock is to be released */
static bool held_unit_pass(mca_osc_epwin_module_t *module, const mca_osc_epwin_held_t *removed)
{
    mca_osc_epwin_held_t *other;

    if (EPWIN_UNIT_HELD != removed->unit) {
        return false;
    }
    other = held_unit(module, module->peers[removed->rank].domain, EPWIN_UNIT_SHARED);
    if (NULL != other) {
        other->unit = EPWIN_UNIT_HELD;
    }
    return NULL == other;
}

/* ---- locks of the own domain ------------------------------------------------------------------ */

/** Take it.  It is in the list.  @return MPI_SUCCESS; MPI_ERR_PROC_FAILED */
static int near_lock(mca_osc_epwin_module_t *module, int target, mca_osc_epwin_hold_t hold)
{
    mca_osc_epwin_control_t *control = mca_osc_epwin_control(module, target);
    int rc;

    if (EPWIN_HOLD_EXCLUSIVE != hold) {
        return EPWIN_HOLD_SHARED == hold ? near_acquire(module, &control->lock, EPWIN_GROUP_FIRST)
                                         : MPI_SUCCESS;
    }
    if (!held_unit_share(module, target)) {
        rc = near_acquire(module, &module->domain->lock, EPWIN_GROUP_SECOND);
        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            return rc;
        }
        held_unit_set(module, target, EPWIN_UNIT_HELD);
    }
    return near_acquire(module, &control->lock, EPWIN_GROUP_ALONE);
}

/** @param[in] with_domain  release the domain's lock as well */
static inline void near_release(const mca_osc_epwin_module_t *module,
                                mca_osc_epwin_control_t *control, mca_osc_epwin_hold_t hold,
                                bool with_domain)
{
    epwin_lock_release(&control->lock,
                       EPWIN_HOLD_SHARED == hold ? EPWIN_GROUP_FIRST : EPWIN_GROUP_ALONE);
    if (with_domain) {
        epwin_lock_release(&module->domain->lock, EPWIN_GROUP_SECOND);
    }
    mca_osc_epwin_settled();
}

/** The lock is in the list; afterwards it is not. */
static int near_unlock(mca_osc_epwin_module_t *module, int target)
{
    mca_osc_epwin_held_t held;
    int rc = MPI_SUCCESS;

    if (EPWIN_WAY_DIRECT != module->peers[target].way) {
        rc = mca_osc_epwin_am_flush(module, target);
    }
    held = held_remove(module, target);
    if (EPWIN_HOLD_NOTHING == held.hold) {
        mca_osc_epwin_settle();
    } else {
        near_release(module, mca_osc_epwin_control(module, target), held.hold,
                     held_unit_pass(module, &held));
    }
    return rc;
}

/* ---- locks of other domains ------------------------------------------------------------------- */

/** Wait until the lock that was asked for last is held: a flush is executed behind it.  An error of
 * an operation is returned, and the lock is held. */
static __attribute__((noinline)) int far_ensure(mca_osc_epwin_module_t *module)
{
    const int target = module->unsure - 1;

    module->unsure = 0;
    return mca_osc_epwin_am_flush(module, target);
}

/** Is a lock waited for at once?  With one thread not before its next lock.  With several it must be
 * clear whether a thread that takes the next lock relies on this one: it does if MPI_Win_lock has
 * returned here before. */
static inline bool far_is_sure(const mca_osc_epwin_module_t *module)
{
    return module->guard.is_shared || EPWIN_THREADS_SEVERAL == module->threads;
}

/** Ask for it.  It is in the list. */
static __attribute__((noinline)) int far_lock(mca_osc_epwin_module_t *module, int target,
                                              mca_osc_epwin_hold_t hold)
{
    const bool with_domain = EPWIN_HOLD_EXCLUSIVE == hold && !held_unit_share(module, target);
    int rc = mca_osc_epwin_am_lock(module, target, hold, with_domain);

    if (EPWIN_HOLD_NOTHING != hold && MPI_SUCCESS == rc) {
        if (far_is_sure(module)) {
            rc = mca_osc_epwin_am_flush(module, target);
        } else {
            module->unsure = target + 1;
        }
    }
    if (with_domain) {
        held_unit_set(module, target, EPWIN_UNIT_HELD);
    }
    return rc;
}

/** The lock is in the list; afterwards it is not. */
static __attribute__((noinline)) int far_unlock(mca_osc_epwin_module_t *module, int target)
{
    const mca_osc_epwin_held_t held = held_remove(module, target);

    if (target + 1 == module->unsure) {
        module->unsure = 0;
    }
    mca_osc_epwin_settle();
    return mca_osc_epwin_am_unlock(module, target, held.hold, held_unit_pass(module, &held));
}

/* ---- MPI_Win_lock, MPI_Win_unlock ------------------------------------------------------------- */

/* The fast paths are for the only lock of a handle, at a member of the own domain whose memory is
 * mapped.  Where one thread uses the handle they call nothing, so they save no registers. */

/** Take the lock of a member without waiting, with the domain's if it is exclusive. */
static inline bool near_try(mca_osc_epwin_domain_t *domain, mca_osc_epwin_control_t *control,
                            mca_osc_epwin_hold_t hold)
{
    if (EPWIN_HOLD_EXCLUSIVE != hold) {
        return EPWIN_HOLD_NOTHING == hold || epwin_lock_try(&control->lock, EPWIN_GROUP_FIRST);
    }
    if (OPAL_UNLIKELY(!epwin_lock_try(&domain->lock, EPWIN_GROUP_SECOND))) {
        return false;
    }
    if (OPAL_UNLIKELY(!epwin_lock_try(&control->lock, EPWIN_GROUP_ALONE))) {
        epwin_lock_release(&domain->lock, EPWIN_GROUP_SECOND);
        return false;
    }
    return true;
}

/** Take the only lock of the handle without waiting.  Under the handle's lock, or in a section. */
static inline bool alone_take(mca_osc_epwin_module_t *module, mca_osc_epwin_control_t *control,
                              int target, mca_osc_epwin_hold_t hold)
{
    if (OPAL_UNLIKELY(!mca_osc_epwin_may_access(module)
                      || !near_try(module->domain, control, hold))) {
        return false;
    }
    module->held[0] = (mca_osc_epwin_held_t){.rank = target,
                                             .hold = (uint8_t) hold,
                                             .unit = EPWIN_HOLD_EXCLUSIVE == hold
                                                         ? EPWIN_UNIT_HELD
                                                         : EPWIN_UNIT_NONE};
    module->held_count = 1;
    module->held_alone = control;
    mca_osc_epwin_access_set(module, EPWIN_ACCESS_LOCK, target);
    return true;
}

/** Release it, if alone_take has taken it and no other lock has been held meanwhile.  Likewise. */
static inline bool alone_release(mca_osc_epwin_module_t *module, int target)
{
    mca_osc_epwin_control_t *control = module->held_alone;
    const mca_osc_epwin_hold_t hold = module->held[0].hold;

    if (OPAL_UNLIKELY(NULL == control || target != module->held[0].rank)) {
        return false;
    }
    if (EPWIN_HOLD_NOTHING == hold) {
        mca_osc_epwin_settle();
    } else {
        near_release(module, control, hold, EPWIN_HOLD_EXCLUSIVE == hold);
    }
    module->held_count = 0;
    module->held_alone = NULL;
    mca_osc_epwin_access_set(module, EPWIN_ACCESS_NONE, EPWIN_OPEN_NONE);
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
    mca_osc_epwin_held_t failed;
    int rc = MPI_SUCCESS;

    mca_osc_epwin_enter(module);
    if (0 != module->unsure && EPWIN_HOLD_NOTHING != hold) {
        rc = far_ensure(module);
    }
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        rc = held_add(module, target, hold);
    }
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        rc = mca_osc_epwin_is_near(module, target) ? near_lock(module, target, hold)
                                                   : far_lock(module, target, hold);
        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            failed = held_remove(module, target);
            if (held_unit_pass(module, &failed) && mca_osc_epwin_is_near(module, target)) {
                epwin_lock_release(&module->domain->lock, EPWIN_GROUP_SECOND);
            }
        }
    }
    mca_osc_epwin_leave(module);
    return rc;
}

/** The fast path where several threads have used the handle. */
static __attribute__((noinline)) int lock_shared_handle(int lock_type, int target, int mpi_assert,
                                                        ompi_win_t *win, mca_osc_epwin_hold_t hold)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    bool is_taken;

    mca_osc_epwin_enter(module);
    is_taken = alone_take(module, mca_osc_epwin_control(module, target), target, hold);
    mca_osc_epwin_leave(module);
    return OPAL_LIKELY(is_taken) ? MPI_SUCCESS : lock_any(lock_type, target, mpi_assert, win);
}

/** MPI_Win_lock of one kind: its fast path. */
static inline __attribute__((always_inline)) int lock_of_kind(mca_osc_epwin_hold_t hold,
                                                              int lock_type, int target,
                                                              int mpi_assert, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    const mca_osc_epwin_peer_t *peer = &module->peers[target];
    mca_osc_epwin_control_t *control;
    bool is_taken;

    if (OPAL_UNLIKELY(peer->domain != module->domain_number || EPWIN_WAY_DIRECT != peer->way)) {
        return lock_any(lock_type, target, mpi_assert, win);
    }
    control = mca_osc_epwin_control(module, target);
    if (OPAL_UNLIKELY(!mca_osc_epwin_try_section(module))) {
        return lock_shared_handle(lock_type, target, mpi_assert, win, hold);
    }
    is_taken = alone_take(module, control, target, hold);
    mca_osc_epwin_end_section(module);
    return OPAL_LIKELY(is_taken) ? MPI_SUCCESS : lock_any(lock_type, target, mpi_assert, win);
}

/** Exclusive ones. */
static __attribute__((noinline)) int lock_exclusive(int lock_type, int target, int mpi_assert,
                                                    ompi_win_t *win)
{
    return lock_of_kind(EPWIN_HOLD_EXCLUSIVE, lock_type, target, mpi_assert, win);
}

/** With MPI_MODE_NOCHECK. */
static __attribute__((noinline)) int lock_nocheck(int lock_type, int target, int mpi_assert,
                                                  ompi_win_t *win)
{
    return lock_of_kind(EPWIN_HOLD_NOTHING, lock_type, target, mpi_assert, win);
}

int mca_osc_epwin_lock(int lock_type, int target, int mpi_assert, ompi_win_t *win)
{
    if (OPAL_UNLIKELY(0 != (mpi_assert & MPI_MODE_NOCHECK))) {
        return lock_nocheck(lock_type, target, mpi_assert, win);
    }
    return MPI_LOCK_SHARED == lock_type
               ? lock_of_kind(EPWIN_HOLD_SHARED, lock_type, target, mpi_assert, win)
               : lock_exclusive(lock_type, target, mpi_assert, win);
}

/** MPI_Win_unlock, all cases.  Whatever comes of it, the epoch is over. */
static __attribute__((noinline)) int unlock_any(int target, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    int rc = MPI_ERR_RMA_SYNC;

    mca_osc_epwin_enter(module);
    if (alone_release(module, target)) {
        rc = MPI_SUCCESS;
    } else if (EPWIN_ACCESS_LOCK == module->access && NULL != held_of(module, target)) {
        rc = mca_osc_epwin_is_near(module, target) ? near_unlock(module, target)
                                                   : far_unlock(module, target);
    }
    mca_osc_epwin_leave(module);
    return mca_osc_epwin_called(module, rc);
}

int mca_osc_epwin_unlock(int target, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    bool is_released;

    if (OPAL_UNLIKELY(!mca_osc_epwin_try_section(module))) {
        return unlock_any(target, win);
    }
    is_released = alone_release(module, target);
    mca_osc_epwin_end_section(module);
    return OPAL_LIKELY(is_released) ? mca_osc_epwin_called(module, MPI_SUCCESS)
                                    : unlock_any(target, win);
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
    if (mca_osc_epwin_has_origin(module)) {
        rc = mca_osc_epwin_am_unlock_all(module);
    }
    if (module->is_all_nocheck) {
        mca_osc_epwin_settle();
    } else {
        epwin_lock_release(&module->domain->lock, EPWIN_GROUP_FIRST);
        mca_osc_epwin_settled();
    }
    mca_osc_epwin_access_set(module, EPWIN_ACCESS_NONE, EPWIN_OPEN_NONE);
    return mca_osc_epwin_called(module, rc);
}
