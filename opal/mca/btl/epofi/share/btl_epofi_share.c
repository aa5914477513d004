/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which context a module gets, and the life of those that are shared.
 *
 * Modules on contexts of their own are not touched by any of this: a module that shares has other
 * libfabric objects in its context, and all calls of the provider's lead to these by themselves.
 *
 * Called with the component's lock when modules are made and closed.
 *
 * Tests: unit/test_epofi_share, random_traffic (contexts1), create_loop (contexts)
 */

#include "opal_config.h"

#include "btl_epofi_share.h"
#include "btl_epofi_share_types.h"

#include "opal/mca/btl/base/base.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Under the component's lock. */
static unsigned int own_count; /**< contexts that are a module's own */
static mca_btl_epofi_share_t *shares;

/* ---- shared contexts ------------------------------------------------------------------------- */

static mca_btl_epofi_share_t *share_open(const mca_btl_epofi_fabric_t *fabric, int *rc_p)
{
    mca_btl_epofi_share_t *share = calloc(1, sizeof(*share));

    *rc_p = OPAL_ERR_OUT_OF_RESOURCE;
    if (NULL == share) {
        return NULL;
    }
    if (OPAL_SUCCESS != mca_btl_epofi_random(&share->own.secret, sizeof(share->own.secret))) {
        EPOFI_SHOW_HELP("no random numbers", true, opal_process_info.nodename, strerror(errno));
        *rc_p = OPAL_ERR_NOT_AVAILABLE;
        free(share);
        return NULL;
    }
    *rc_p = mca_btl_epofi_context_open(fabric, &share->own, &share->fi);
    if (OPAL_SUCCESS != *rc_p) {
        free(share);
        return NULL;
    }
    OBJ_CONSTRUCT(&share->lock, opal_mutex_t);
    share->fabric = fabric;
    mca_btl_epofi_av_set_lock(share->fi.av_table, &share->lock);
    share->next = shares;
    shares = share;
    return share;
}

static void share_close(mca_btl_epofi_share_t *share)
{
    mca_btl_epofi_share_t **link = &shares;

    while (*link != share) {
        link = &(*link)->next;
    }
    *link = share->next;
    if (0 < share->dropped) {
        opal_output_verbose(1, opal_btl_base_framework.framework_output,
                            "btl:epofi: a shared context dropped %llu messages",
                            (unsigned long long) share->dropped);
    }
    /* As in a module's own: regions that are bound to the endpoint go before it. */
    if (!share->fabric->mr_endpoint) {
        (void) fi_close(&share->fi.ep->fid);
        share->fi.ep = NULL;
    }
    while (NULL != share->kept) {
        mca_btl_epofi_kept_t *next = share->kept->next;

        share->kept->bury(share->kept->object);
        free(share->kept);
        share->kept = next;
    }
    mca_btl_epofi_buffers_close(share);
    mca_btl_epofi_context_close(&share->fi);
    mca_btl_epofi_buffers_free(share);
    mca_btl_epofi_slots_free(share);
    while (NULL != share->gone) {
        mca_btl_epofi_member_t *next = share->gone->next;

        free(share->gone);
        share->gone = next;
    }
    OBJ_DESTRUCT(&share->lock);
    free(share);
}

/* ---- places in them -------------------------------------------------------------------------- */

/** A number that is free, and has been for long: messages to its last holder may still arrive.
 * @return 0: there is none */
static uint16_t new_number(mca_btl_epofi_share_t *share)
{
    for (unsigned int tries = 0; tries < EPOFI_NUMBER_MOST; ++tries) {
        share->last = share->last % EPOFI_NUMBER_MOST + 1;
        if (NULL == share->members[share->last]) {
            return (uint16_t) share->last;
        }
    }
    return 0;
}

static int share_join(mca_btl_epofi_share_t *share, mca_btl_epofi_context_t *context)
{
    mca_btl_epofi_member_t *member = calloc(1, sizeof(*member));

    if (NULL == member) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    member->share = share;
    mca_btl_epofi_slots_init(&member->posted);
    mca_btl_epofi_slots_init(&member->ready);
    member->early_tail = &member->early;
    mca_btl_epofi_share_ep_init(member);
    mca_btl_epofi_share_cq_init(member);
    mca_btl_epofi_share_domain_init(member);
    opal_mutex_lock(&share->lock);
    member->number = new_number(share);
    if (0 != member->number) {
        share->members[member->number] = member;
    }
    opal_mutex_unlock(&share->lock);
    if (0 == member->number) {
        free(member);
        EPOFI_SHOW_HELP("context full", true, opal_process_info.nodename,
                        share->fabric->info->fabric_attr->prov_name, EPOFI_NUMBER_MOST);
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    ++share->count;
    *context = (mca_btl_epofi_context_t){.domain = &member->domain,
                                         .av = share->fi.av,
                                         .cq = &member->cq,
                                         .ep = &member->ep,
                                         .acceptor = share->fi.acceptor,
                                         .av_table = share->fi.av_table,
                                         .member = member};
    return OPAL_SUCCESS;
}

bool mca_btl_epofi_context_drop(mca_btl_epofi_context_t *context)
{
    mca_btl_epofi_member_t *member = context->member;
    bool free_of_it;

    opal_mutex_lock(&member->share->lock);
    member->left = true;
    member->share->members[member->number] = NULL;
    mca_btl_epofi_receives_drop(member);
    free_of_it = 0 == member->under_way;
    opal_mutex_unlock(&member->share->lock);
    return free_of_it;
}

void mca_btl_epofi_context_keep(mca_btl_epofi_context_t *context, void (*bury)(void *object),
                                void *object)
{
    mca_btl_epofi_share_t *share = context->member->share;
    mca_btl_epofi_kept_t *kept = malloc(sizeof(*kept));

    if (NULL == kept) {
        return; /* which loses the memory: the lesser evil */
    }
    *kept = (mca_btl_epofi_kept_t){.next = share->kept, .bury = bury, .object = object};
    share->kept = kept;
}

/** Free the members that have left and of which the provider has nothing any more. */
static void share_sweep(mca_btl_epofi_share_t *share)
{
    mca_btl_epofi_member_t **link = &share->gone;

    opal_mutex_lock(&share->lock);
    while (NULL != *link) {
        mca_btl_epofi_member_t *member = *link;

        if (0 == member->under_way) {
            *link = member->next;
            free(member);
        } else {
            link = &member->next;
        }
    }
    opal_mutex_unlock(&share->lock);
}

/** Give back a place.  The provider may have operations yet, which lead to the member. */
static void share_leave(mca_btl_epofi_context_t *context)
{
    mca_btl_epofi_member_t *member = context->member;
    mca_btl_epofi_share_t *share = member->share;

    if (!member->left) {
        (void) mca_btl_epofi_context_drop(context); /* a module that was never finished */
    }
    member->next = share->gone;
    share->gone = member;
    share_sweep(share);
    if (0 == --share->count) {
        share_close(share);
    }
}

void mca_btl_epofi_context_put(mca_btl_epofi_context_t *context)
{
    if (NULL != context->member) {
        share_leave(context);
    } else {
        mca_btl_epofi_context_close(context);
        --own_count;
    }
}

void mca_btl_epofi_context_name(const mca_btl_epofi_context_t *context,
                                mca_btl_epofi_address_t *address)
{
    if (NULL != context->member) {
        address->number = context->member->number;
        address->secret = context->member->share->own.secret;
    }
}

/* ---- which one ------------------------------------------------------------------------------- */

void mca_btl_epofi_context_count(unsigned int *own, unsigned int *shared, unsigned int *modules)
{
    *own = own_count;
    *shared = *modules = 0;
    for (const mca_btl_epofi_share_t *share = shares; NULL != share; share = share->next) {
        ++*shared;
        *modules += share->count;
    }
}

/** The shared context with the fewest modules, or NULL. */
static mca_btl_epofi_share_t *share_emptiest(void)
{
    mca_btl_epofi_share_t *best = shares;

    for (mca_btl_epofi_share_t *share = shares; NULL != share; share = share->next) {
        best = share->count < best->count ? share : best;
    }
    return best;
}

int mca_btl_epofi_context_get(const mca_btl_epofi_fabric_t *fabric,
                              const mca_btl_epofi_address_t *own, mca_btl_epofi_context_t *context)
{
    mca_btl_epofi_share_t *share = NULL;
    epofi_context_limit_plan_t plan;
    unsigned int others, count, modules;
    int rc = OPAL_ERR_OUT_OF_RESOURCE;

    epofi_context_limit_plan(fabric->info, mca_btl_epofi_component.max_contexts,
                             mca_btl_epofi_component.shared_contexts, &plan);
    if (own_count < plan.own) {
        rc = mca_btl_epofi_context_open(fabric, own, context);
        own_count += OPAL_SUCCESS == rc ? 1 : 0;
        if (OPAL_SUCCESS == rc || NULL == shares) {
            return rc;
        }
    }
    mca_btl_epofi_context_count(&others, &count, &modules);
    if (count < plan.shared) {
        share = share_open(fabric, &rc);
        if (NULL == share && NULL == shares) {
            return rc;
        }
    }
    rc = share_join(share_emptiest(), context);
    if (OPAL_SUCCESS != rc && NULL != share) { /* new, without a member */
        share_close(share);
    }
    return rc;
}
