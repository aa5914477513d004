/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Threads that are cancelled (pthread_cancel, the deferred kind) while they are in MPI.
 *
 * A cancelled thread ends at its next cancellation point, and most system calls of a network are
 * such points: it would end with an endpoint's lock held, or libfabric's, and with a request that
 * others still write to on a stack that is gone.  So what contains cancellation points is done with
 * cancelling held off; the thread ends when it is out of MPI.  Two stores, and none of them where
 * messages go from thread to thread.
 *
 * Tests: cancel
 */

#ifndef OPAL_COMMON_EP_CANCEL_H
#define OPAL_COMMON_EP_CANCEL_H

#include <pthread.h>

static inline int mca_btl_ep_cancel_hold(void)
{
    int state = PTHREAD_CANCEL_ENABLE;

    (void) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return state;
}

static inline void mca_btl_ep_cancel_restore(const int *state)
{
    (void) pthread_setcancelstate(*state, NULL);
}

/** A declaration: until the end of the block this thread is not cancelled.  Nests. */
#define MCA_BTL_EP_HOLD_CANCEL()                                                       \
    __attribute__((unused, cleanup(mca_btl_ep_cancel_restore))) const int cancel_state \
        = mca_btl_ep_cancel_hold()

#endif /* OPAL_COMMON_EP_CANCEL_H */
