/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A module's packet_lock: a spinlock that only its owner and the packet thread use.  the packet thread holds it
 * for all that it does with a module, so its holder keeps the packet thread away.
 *
 * Taken for the packets, and for what is not safe beside a packet thread, which may connect anew when it
 * sends: in libfabric (addresses) or here (acceptors).  Short.
 */

#ifndef MCA_BTL_EPOFI_PACKET_LOCK_H
#define MCA_BTL_EPOFI_PACKET_LOCK_H

#include "opal_config.h"

#include "btl_epofi_types.h"

#include <stdatomic.h>
#include <stdbool.h>

/** The other thread has it.  Slow path. */
void mca_btl_epofi_packets_wait(mca_btl_epofi_module_t *module);

static inline bool mca_btl_epofi_packets_try(mca_btl_epofi_module_t *module)
{
    /* Acquire: partner is the release in mca_btl_epofi_packets_release. */
    return !atomic_flag_test_and_set_explicit(&module->packet_lock, memory_order_acquire);
}

static inline void mca_btl_epofi_packets_hold(mca_btl_epofi_module_t *module)
{
    if (OPAL_UNLIKELY(!mca_btl_epofi_packets_try(module))) {
        mca_btl_epofi_packets_wait(module);
    }
}

static inline void mca_btl_epofi_packets_release(mca_btl_epofi_module_t *module)
{
    /* Release: what was done to the packets comes before the next one's acquire in
     * mca_btl_epofi_packets_try. */
    atomic_flag_clear_explicit(&module->packet_lock, memory_order_release);
}

#endif /* MCA_BTL_EPOFI_PACKET_LOCK_H */
