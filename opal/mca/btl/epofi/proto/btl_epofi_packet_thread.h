/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The thread that sends packets whose own thread does something else.
 */

#ifndef MCA_BTL_EPOFI_PACKET_THREAD_H
#define MCA_BTL_EPOFI_PACKET_THREAD_H

#include "opal_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** One more module has packets that the thread has to send when they are late.  By its owner.
 * @return false: there is no thread for it */
bool mca_btl_epofi_packet_thread_take(void);

/** Slow path of mca_btl_epofi_packet_thread_tell. */
void mca_btl_epofi_packet_thread_watch(mca_btl_epofi_module_t *module);

/** There is a packet where there was none. */
static inline void mca_btl_epofi_packet_thread_tell(mca_btl_epofi_module_t *module)
{
    /* Either this thread sees that the module is not watched, or the packet thread sees the packet:
     * partner is the fence in has_none (btl_epofi_packet_thread.c). */
    atomic_thread_fence(memory_order_seq_cst);
    if (OPAL_UNLIKELY(!atomic_load_explicit(&module->watched, memory_order_relaxed))) {
        mca_btl_epofi_packet_thread_watch(module);
    }
}

/** The module goes: the thread does not use it any more when this returns. */
void mca_btl_epofi_packet_thread_leave(mca_btl_epofi_module_t *module);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_PACKET_THREAD_H */
