/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Contexts that outlive their modules.
 *
 * The shm provider maps a peer of its own process by keeping a pointer into the peer's region, and
 * goes on using it (to receive, to remove the peer's address) after the peer has closed and
 * unmapped the region; seen in libfabric 2.1.0.  So where two modules of one process have met, the
 * context of the one that ends first is closed when no module is left that could reach
 * into it.  Modules of different processes, which is what this component is for, are not concerned.
 *
 * Tests: unit/test_epofi_life
 */

#include "opal_config.h"

#include "../share/share.h"
#include "../fabric/fabric.h"
#include "../base/base.h"
#include "btl_epofi_deferred_close.h"
#include "btl_epofi_types.h"

#include <stdlib.h>
#include <string.h>

typedef struct deferred_t {
    struct deferred_t *next;
    mca_btl_epofi_context_t context;
} deferred_t;

/* Under the component's lock. */
static mca_btl_epofi_module_t *live; /**< all modules of the process */
static unsigned int live_entangled;  /**< those of them that have met another */
static deferred_t *deferred;

static void deferred_close_entangle(mca_btl_epofi_module_t *module)
{
    if (!module->entangled) {
        module->entangled = true;
        ++live_entangled;
    }
}

void mca_btl_epofi_deferred_close_connect(mca_btl_epofi_module_t *module,
                                          const unsigned char *address, size_t length)
{
    if (!module->fabric->needs_deferred_close) {
        return;
    }
    opal_mutex_lock(&mca_btl_epofi_lock);
    for (mca_btl_epofi_module_t *peer = live; NULL != peer; peer = peer->next_module) {
        if (length == peer->super.ep_address_length
            && 0 == memcmp(address, peer->super.ep_address, length)) {
            deferred_close_entangle(module);
            deferred_close_entangle(peer);
            break;
        }
    }
    opal_mutex_unlock(&mca_btl_epofi_lock);
}

void mca_btl_epofi_deferred_close_enter(mca_btl_epofi_module_t *module)
{
    module->next_module = live;
    live = module;
}

static void close_deferred(void)
{
    while (NULL != deferred) {
        deferred_t *next = deferred->next;

        mca_btl_epofi_context_put(&deferred->context);
        free(deferred);
        deferred = next;
    }
}

void mca_btl_epofi_deferred_close_leave(mca_btl_epofi_module_t *module)
{
    mca_btl_epofi_module_t **link = &live;

    while (*link != module) {
        link = &(*link)->next_module;
    }
    *link = module->next_module;
    if (!module->entangled) {
        mca_btl_epofi_context_put(&module->fi);
        return;
    }
    if (0 < --live_entangled) {
        deferred_t *place = malloc(sizeof(*place));

        /* Without memory for it the context stays open for good, which is the lesser evil. */
        if (NULL != place) {
            place->context = module->fi;
            place->next = deferred;
            deferred = place;
        }
        return;
    }
    mca_btl_epofi_context_put(&module->fi);
    close_deferred();
}
