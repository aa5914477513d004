/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Waiting for a module's packet_lock: see btl_epofi_packet_lock.h.
 *
 * Tests: unit/test_epofi_packet, unit/test_epofi_packet_thread
 */

#include "opal_config.h"

#include "btl_epofi_packet_lock.h"
#include "btl_epofi_types.h"

#include <sched.h>
#include <time.h>

/** Tries for the lock between two yields: the holder may be in a system call, ... */
#define TRIES 64
/** ... and so many yields until we sleep: if ours is a real-time thread on the packet thread's core,
 * it cannot go on otherwise. */
#define YIELDS 64
/** So long, ns. */
#define NAP_NS 50000

void mca_btl_epofi_packets_wait(mca_btl_epofi_module_t *module)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};

    for (unsigned int tries = 1; !mca_btl_epofi_packets_try(module); ++tries) {
        if (0 != tries % TRIES) {
            continue;
        }
        if (TRIES * YIELDS > tries) {
            (void) sched_yield();
        } else {
            (void) nanosleep(&nap, NULL);
        }
    }
}
