/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reading and writing another process's memory, by Open MPI's smsc (CMA, XPMEM, KNEM), and being sure whose it
 * is.
 *
 * CMA names a process by its number, and numbers mean different processes in different namespaces,
 * or later.  So before the first copy, and now and then after that, some bytes are read by the same
 * way whose value the peer has published in its segment.  If they are others, it is the memory of
 * another process, and none of it is ever copied.
 *
 * Tests: unit/test_epshm_get
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epshm_peer_proc.h"
#include "btl_epshm_identity.h"
#include "btl_epshm_segment.h"

#include <time.h>

/** For so long after it was seen whose memory it is a copy is made without looking again: until a
 * process has ended and its number has come round to another one takes longer. */
#define PROVEN_FOR_NS (UINT64_C(500) * 1000000)

/** What this process is known by; random, so that no other one has it at the same address. */
static struct {
    uint64_t secret[2];
    void *registration; /**< NULL: none */
} own;

int mca_btl_epshm_identity_make(epshm_identity_t *identity)
{
    int rc = mca_btl_epshm_random(own.secret, sizeof(own.secret));

    memset(identity, 0, sizeof(*identity));
    if (0 != rc || !mca_btl_epshm_component.single_copy || NULL == mca_smsc) {
        return rc;
    }
    if (mca_smsc_base_has_feature(MCA_SMSC_FEATURE_REQUIRE_REGISTRATION)) {
        const ssize_t size = mca_smsc_base_registration_data_size();

        if (0 >= size || (ssize_t) sizeof(identity->handle) < size) {
            return 0;
        }
        own.registration = MCA_SMSC_CALL(register_region, own.secret, sizeof(own.secret));
        if (NULL == own.registration) {
            return 0; /* no process will copy from here */
        }
        memcpy(identity->handle, own.registration, (size_t) size);
        identity->handle_size = (uint32_t) size;
    }
    memcpy(identity->secret, own.secret, sizeof(own.secret));
    identity->address = (uint64_t) (uintptr_t) own.secret;
    return 0;
}

void mca_btl_epshm_identity_end(void)
{
    if (NULL != own.registration && NULL != mca_smsc) {
        MCA_SMSC_CALL(deregister_region, own.registration);
    }
    own.registration = NULL;
}

/** Of a coarse clock: a few ns to ask, a few ms behind. */
static uint64_t now_ns(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t) now.tv_sec * UINT64_C(1000000000) + (uint64_t) now.tv_nsec;
}

static int identity_copy(epshm_peer_proc_t *peer_proc, void *local, uint64_t remote, size_t size,
                         void *registration)
{
    return MCA_SMSC_CALL(copy_from, peer_proc->single_copy, local, (void *) (uintptr_t) remote,
                         size, registration);
}

static int copy_to(epshm_peer_proc_t *peer_proc, void *local, uint64_t remote, size_t size,
                   void *registration)
{
    return MCA_SMSC_CALL(copy_to, peer_proc->single_copy, local, (void *) (uintptr_t) remote, size,
                         registration);
}

/** Is it the peer's memory that is read?  If not, or if none can be, none is tried again. */
static __attribute__((noinline)) bool identity_check(epshm_peer_proc_t *peer_proc)
{
    epshm_identity_t *identity = &peer_proc->identity;
    uint64_t read[2] = {0, 0};

    if (0 != identity->address
        && OPAL_SUCCESS
               == identity_copy(peer_proc, read, identity->address, sizeof(read),
                                0 < identity->handle_size ? identity->handle : NULL)
        && 0 == memcmp(read, identity->secret, sizeof(read))) {
        /* Relaxed, both: only the value matters, and another thread that does not see it yet looks
         * itself. */
        atomic_store_explicit(&peer_proc->proven_ns, now_ns(), memory_order_relaxed);
        return true;
    }
    atomic_store_explicit(&peer_proc->copy_failed, true, memory_order_relaxed);
    return false;
}

/** A copy in either direction, if it is the peer's memory. */
static inline int copy_proven(epshm_peer_proc_t *peer_proc, void *local, uint64_t remote,
                              size_t size, void *registration,
                              int (*function)(epshm_peer_proc_t *, void *, uint64_t, size_t,
                                              void *))
{
    uint64_t proven;

    /* Relaxed, both: a thread that does not see it yet checks once more. */
    if (NULL == peer_proc->single_copy
        || atomic_load_explicit(&peer_proc->copy_failed, memory_order_relaxed)) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    proven = atomic_load_explicit(&peer_proc->proven_ns, memory_order_relaxed);
    if (OPAL_UNLIKELY(0 == proven || now_ns() - proven > PROVEN_FOR_NS)
        && !identity_check(peer_proc)) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    if (OPAL_UNLIKELY(OPAL_SUCCESS != function(peer_proc, local, remote, size, registration))) {
        /* This buffer cannot be read, or nothing of that process: then no other is tried. */
        (void) identity_check(peer_proc);
        return OPAL_ERR_NOT_AVAILABLE;
    }
    return OPAL_SUCCESS;
}

int mca_btl_epshm_peer_proc_copy(epshm_peer_proc_t *peer_proc, void *local, uint64_t remote,
                                 size_t size, void *registration)
{
    return copy_proven(peer_proc, local, remote, size, registration, identity_copy);
}

int mca_btl_epshm_peer_proc_copy_to(epshm_peer_proc_t *peer_proc, const void *local,
                                    uint64_t remote, size_t size)
{
    return copy_proven(peer_proc, (void *) (uintptr_t) local, remote, size, NULL, copy_to);
}
