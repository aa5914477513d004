/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Slots or chunks: which executes a call whose members are all in this process.
 *
 * Tests: coll_move, coll_reduce, coll_late, coll_pending
 */

#include "ompi_config.h"

#include "local.h"

static bool is_small(const epcoll_member_t *member, const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_is_small(member, (uint32_t) mca_coll_epcoll_component.inline_limit,
                                    call);
}

mca_coll_epcoll_path_t mca_coll_epcoll_local_path(const mca_coll_epcoll_handle_t *handle,
                                                  const mca_coll_epcoll_call_t *call)
{
    if (handle->is_hier) {
        return EPCOLL_PATH_HIER;
    }
    return EPCOLL_BARRIER == call->kind || is_small(&handle->view.member, call)
               ? EPCOLL_PATH_SLOTS
               : EPCOLL_PATH_CHUNKS;
}

int mca_coll_epcoll_local_run(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    if (OPAL_LIKELY(is_small(&handle->view.member, call))) {
        mca_coll_epcoll_count(handle, call->kind, EPCOLL_PATH_SLOTS);
        return mca_coll_epcoll_small_run(&handle->view, call);
    }
    mca_coll_epcoll_count(handle, call->kind, EPCOLL_PATH_CHUNKS);
    return mca_coll_epcoll_local_execute(handle, call, true);
}

bool mca_coll_epcoll_local_fits(const epcoll_member_t *member, const mca_coll_epcoll_call_t *call)
{
    return EPCOLL_BARRIER == call->kind || is_small(member, call);
}

void mca_coll_epcoll_local_publish(mca_coll_epcoll_running_t *running, epcoll_member_t *member,
                                   const mca_coll_epcoll_call_t *call)
{
    if (mca_coll_epcoll_local_fits(member, call)) {
        mca_coll_epcoll_small_publish(running, member, call);
    } else {
        mca_coll_epcoll_chunks_publish(running, member, call);
    }
}

int mca_coll_epcoll_local_step(mca_coll_epcoll_running_t *running, uint32_t most)
{
    return NULL == running->ops ? mca_coll_epcoll_small_step(running)
                                : mca_coll_epcoll_chunks_step(running, most);
}

void mca_coll_epcoll_local_close(mca_coll_epcoll_running_t *running, int why)
{
    if (NULL != running->ops) {
        mca_coll_epcoll_chunks_close(running, why);
    } else {
        (void) epcoll_break(running->member, why); /* members read nothing but slots */
    }
}

int mca_coll_epcoll_local_execute(mca_coll_epcoll_handle_t *handle,
                                  const mca_coll_epcoll_call_t *call, bool in_chunks)
{
    epcoll_member_t *member = &handle->view.member;
    mca_coll_epcoll_running_t running;
    uint32_t polls = 0;
    int rc = epcoll_begin(member);

    if (OPAL_UNLIKELY(0 != rc)) {
        return mca_coll_epcoll_ended(&handle->view, rc);
    }
    if (in_chunks) {
        mca_coll_epcoll_chunks_publish(&running, member, call);
    } else {
        mca_coll_epcoll_small_publish(&running, member, call);
    }
    while (EPCOLL_NOTHING == (rc = mca_coll_epcoll_local_step(&running, UINT32_MAX))
           || EPCOLL_SOME == rc) {
        rc = EPCOLL_SOME == rc ? 0 : epcoll_backoff(member, &polls);
        if (0 != rc) {
            break;
        }
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        rc = mca_coll_epcoll_ended(&handle->view, rc);
        mca_coll_epcoll_local_close(&running, rc);
        return rc;
    }
    if (running.seen == member->count) {
        epcoll_all_arrived(member);
    }
    epcoll_end(member);
    if (running.seen < member->count) {
        (void) epcoll_end_leader(member); /* an error is that of the next operation */
    }
    return mca_coll_epcoll_ended(&handle->view, MPI_SUCCESS);
}
