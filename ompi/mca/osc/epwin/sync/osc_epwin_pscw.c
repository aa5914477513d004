/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Win_post, MPI_Win_start, MPI_Win_complete, MPI_Win_wait, MPI_Win_test (MPI-4.1, 12.5.2).
 *
 *     post      sets the target's bit in the row of each origin
 *     start     waits for the bits of its targets, in the row of its own, and clears them
 *     complete  counts in the control of each target, after the operations to it
 *     wait      until the count has grown by the size of post's group
 *
 * Rows and counts are in the memory of the domain.  Members of other domains are notified by
 * messages, whose handler does the same.  A target posts for an origin again only after its wait,
 * so after the origin's start: a bit suffices.
 *
 * Called by libmpi.
 *
 * Tests: win_pscw, win_sync_errors, win_death, win_away
 */

#include "ompi_config.h"

#include "osc_epwin_epoch.h"
#include "osc_epwin_sync.h"

#include <stdlib.h>

#include "../am/am.h"

#include "ompi/group/group.h"

/* ---- groups ----------------------------------------------------------------------------------- */

static int ranks_compare(const void *a, const void *b)
{
    const int left = *(const int *) a, right = *(const int *) b;

    return (left > right) - (left < right);
}

/** The ranks of a group in the window, ascending.
 * @param[out] ranks  of count; the caller's
 * @return MPI_SUCCESS, MPI_ERR_NO_MEM, MPI_ERR_GROUP: a member is not in the window */
static int ranks_translate(ompi_group_t *group, ompi_group_t *in, int *ranks, int count)
{
    int *own = malloc((size_t) count * sizeof(*own));
    int rc;

    if (NULL == own) {
        return MPI_ERR_NO_MEM;
    }
    for (int i = 0; i < count; ++i) {
        own[i] = i;
    }
    rc = ompi_group_translate_ranks(group, count, own, in, ranks);
    free(own);
    for (int i = 0; i < count && MPI_SUCCESS == rc; ++i) {
        if (MPI_UNDEFINED == ranks[i]) {
            rc = MPI_ERR_GROUP;
        }
    }
    qsort(ranks, (size_t) count, sizeof(*ranks), ranks_compare);
    return rc;
}

/**
 * The same, kept for the next call with the same group.  The group is retained, so the address
 * stays its own.
 *
 * @param[in,out] kept_p, ranks_p, count_p  of the last group; unchanged after an error
 */
static int ranks_of_group(const mca_osc_epwin_module_t *module, ompi_group_t *group,
                          ompi_group_t **kept_p, int **ranks_p, int *count_p)
{
    int *ranks = NULL;
    int count, rc = MPI_SUCCESS;

    if (OPAL_LIKELY(group == *kept_p && NULL != group)) {
        return MPI_SUCCESS;
    }
    if (NULL == group || MPI_GROUP_NULL == group) {
        return MPI_ERR_GROUP; /* libmpi does not check it */
    }
    count = ompi_group_size(group);
    if (0 < count) {
        ranks = malloc((size_t) count * sizeof(*ranks));
        rc = NULL == ranks ? MPI_ERR_NO_MEM
                           : ranks_translate(group, module->win->w_group, ranks, count);
    }
    if (MPI_SUCCESS != rc) {
        free(ranks);
        return rc;
    }
    OBJ_RETAIN(group);
    if (NULL != *kept_p) {
        OBJ_RELEASE(*kept_p);
    }
    free(*ranks_p);
    *kept_p = group;
    *ranks_p = ranks;
    *count_p = count;
    return MPI_SUCCESS;
}

/* ---- MPI_Win_post ----------------------------------------------------------------------------- */

static inline uint64_t row_bit(int rank)
{
    return UINT64_C(1) << (rank % 64);
}

static int post_tell(mca_osc_epwin_module_t *module, int origin)
{
    _Atomic uint64_t *row;

    if (OPAL_UNLIKELY(!mca_osc_epwin_is_near(module, origin))) {
        return mca_osc_epwin_am_post(module, origin);
    }
    row = mca_osc_epwin_row(module, origin);
    /* Release: orders the target's own accesses to its window before the operations of the origin;
     * partner: start_is_posted. */
    (void) atomic_fetch_or_explicit(&row[module->rank / 64], row_bit(module->rank),
                                    memory_order_release);
    return MPI_SUCCESS;
}

/** After an error the others are notified all the same: they wait there. */
int mca_osc_epwin_post(ompi_group_t *group, int mpi_assert, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    int rc;

    if (OPAL_UNLIKELY(module->is_exposed)) {
        return MPI_ERR_RMA_SYNC;
    }
    rc = ranks_of_group(module, group, &module->post_group, &module->post_ranks,
                        &module->post_count);
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        return rc;
    }
    if (0 == (mpi_assert & MPI_MODE_NOCHECK)) {
        for (int i = 0; i < module->post_count; ++i) {
            rc = mca_osc_epwin_first_error(rc, post_tell(module, module->post_ranks[i]));
        }
    }
    module->is_exposed = MPI_SUCCESS == rc;
    return rc;
}

/* ---- MPI_Win_start, MPI_Win_complete ---------------------------------------------------------- */

typedef struct start_awaited_t {
    const _Atomic uint64_t *word; /**< of the own row */
    uint64_t bit;
} start_awaited_t;

static bool start_is_posted(void *context)
{
    const start_awaited_t *awaited = context;

    /* Acquire: partners: post_tell, and the handler of its message.  Other targets' bits are set by
     * read-modify-writes as well, so a later value of the word serves, too. */
    return 0 != (awaited->bit & atomic_load_explicit(awaited->word, memory_order_acquire));
}

/** Wait for the bits of all targets, then clear them: after an error another start of those that
 * have posted finds them. */
static int start_wait(mca_osc_epwin_module_t *module)
{
    _Atomic uint64_t *row = mca_osc_epwin_row(module, module->rank);

    for (int i = 0; i < module->start_count; ++i) {
        const int target = module->start_ranks[i];
        start_awaited_t awaited = {&row[target / 64], row_bit(target)};

        if (!start_is_posted(&awaited)) {
            const int rc = mca_osc_epwin_wait(module, "MPI_Win_post", target, start_is_posted,
                                              &awaited);

            if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
                return rc;
            }
        }
    }
    for (int i = 0; i < module->start_count;) {
        const int word = module->start_ranks[i] / 64;
        uint64_t bits = 0;

        for (; i < module->start_count && word == module->start_ranks[i] / 64; ++i) {
            bits |= row_bit(module->start_ranks[i]);
        }
        /* Relaxed: the next post comes after this epoch's complete. */
        (void) atomic_fetch_and_explicit(&row[word], ~bits, memory_order_relaxed);
    }
    return MPI_SUCCESS;
}

int mca_osc_epwin_start(ompi_group_t *group, int mpi_assert, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    int rc;

    if (OPAL_UNLIKELY(!mca_osc_epwin_may_access(module))) {
        return MPI_ERR_RMA_SYNC;
    }
    rc = ranks_of_group(module, group, &module->start_group, &module->start_ranks,
                        &module->start_count);
    if (OPAL_LIKELY(MPI_SUCCESS == rc) && 0 == (mpi_assert & MPI_MODE_NOCHECK)) {
        rc = start_wait(module);
    }
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        mca_osc_epwin_access_set(module, EPWIN_ACCESS_START,
                                 0 == module->start_count   ? EPWIN_OPEN_NONE
                                 : 1 == module->start_count ? module->start_ranks[0]
                                                            : EPWIN_OPEN_SOME);
    }
    return rc;
}

/** Operations by messages are in front of the message that counts, so none of them is waited
 * for. */
static inline int complete_tell(mca_osc_epwin_module_t *module, int target)
{
    if (OPAL_UNLIKELY(!mca_osc_epwin_is_near(module, target)
                      || (mca_osc_epwin_has_origin(module)
                          && EPWIN_WAY_DIRECT != module->peers[target].way))) {
        return mca_osc_epwin_am_complete(module, target);
    }
    /* Release: orders the operations to the target before its accesses; partner: wait_is_over. */
    (void) atomic_fetch_add_explicit(&mca_osc_epwin_control(module, target)->completed, 1,
                                     memory_order_seq_cst);
    mca_osc_epwin_settled();
    return MPI_SUCCESS;
}

int mca_osc_epwin_complete(ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    int rc = MPI_SUCCESS;

    if (OPAL_UNLIKELY(EPWIN_ACCESS_START != module->access)) {
        return MPI_ERR_RMA_SYNC;
    }
    for (int i = 0; i < module->start_count; ++i) {
        rc = mca_osc_epwin_first_error(rc, complete_tell(module, module->start_ranks[i]));
    }
    /* Results of gets. */
    if (mca_osc_epwin_has_origin(module)) {
        rc = mca_osc_epwin_first_error(rc, mca_osc_epwin_am_flush_local(module,
                                                                        MPIX_ENDPOINTS_ANY_RANK));
    }
    mca_osc_epwin_access_set(module, EPWIN_ACCESS_NONE, EPWIN_OPEN_NONE);
    return rc;
}

/* ---- MPI_Win_wait, MPI_Win_test --------------------------------------------------------------- */

static bool wait_is_over(void *context)
{
    const mca_osc_epwin_module_t *module = context;
    const mca_osc_epwin_control_t *control = mca_osc_epwin_control(module, module->rank);

    /* Acquire: partners: complete_tell, and the handler of its message. */
    return atomic_load_explicit(&control->completed, memory_order_acquire)
           >= module->completed_seen + (uint64_t) module->post_count;
}

/** Also after an error.  Origins that are lost do not count, so that no later wait ends because of
 * origins of this epoch. */
static void wait_end(mca_osc_epwin_module_t *module)
{
    module->completed_seen += (uint64_t) module->post_count;
    module->is_exposed = false;
}

int mca_osc_epwin_wait_epoch(ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    int rc;

    if (OPAL_UNLIKELY(!module->is_exposed)) {
        return MPI_ERR_RMA_SYNC;
    }
    rc = mca_osc_epwin_wait(module, "MPI_Win_complete of its origins", MPIX_ENDPOINTS_ANY_RANK,
                            wait_is_over, module);
    wait_end(module);
    return rc;
}

int mca_osc_epwin_test_epoch(ompi_win_t *win, int *flag)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    const mpix_endpoints_engine_t *engine = mca_osc_epwin_component.engine;
    int rc = MPI_SUCCESS;

    if (OPAL_UNLIKELY(!module->is_exposed)) {
        return MPI_ERR_RMA_SYNC;
    }
    *flag = wait_is_over(module);
    if (!*flag) {
        const bool is_lost = engine->is_lost(module->comm, MPIX_ENDPOINTS_ANY_RANK);

        (void) engine->progress(module->comm);
        *flag = wait_is_over(module);
        if (!*flag && is_lost) {
            rc = MPI_ERR_PROC_FAILED;
        }
    }
    if (*flag || MPI_SUCCESS != rc) {
        wait_end(module);
    }
    return rc;
}
