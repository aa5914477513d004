/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The libfabric objects of a module are opened and closed here, and memory is registered with them.
 * Registrations are not cached: providers whose registrations are expensive cache them themselves.
 *
 * Tests: unit/test_epofi, unit/test_epofi_keys, random_traffic (regions0, regions1), create_errors
 * (files)
 */

#include "opal_config.h"

#include "../sockets/sockets.h"
#include "../base/base.h"
#include "btl_epofi_context.h"
#include "btl_epofi_fabric.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <string.h>

/** Keys that are tried for a region. */
#define KEY_TRIES 16

void mca_btl_epofi_context_close(mca_btl_epofi_context_t *context)
{
    if (NULL != context->ep) {
        (void) fi_close(&context->ep->fid);
    }
    if (NULL != context->cq) {
        (void) fi_close(&context->cq->fid);
    }
    if (NULL != context->av) {
        (void) fi_close(&context->av->fid);
    }
    if (NULL != context->domain) {
        (void) fi_close(&context->domain->fid);
    }
    mca_btl_epofi_acceptor_close(context->acceptor);
    mca_btl_epofi_av_free(context->av_table);
    memset(context, 0, sizeof(*context));
}

/** Say what cannot be opened.  @return what that means */
static int say_cannot_open(const mca_btl_epofi_fabric_t *fabric, const char *what, int result)
{
    EPOFI_SHOW_HELP("cannot open", true, opal_process_info.nodename,
                    fabric->info->fabric_attr->prov_name, what, fabric->info->domain_attr->name,
                    fi_strerror(-result));
    return -FI_ENOMEM == result || -FI_EMFILE == result ? OPAL_ERR_OUT_OF_RESOURCE
                                                        : OPAL_ERR_NOT_AVAILABLE;
}

int mca_btl_epofi_context_open(const mca_btl_epofi_fabric_t *fabric,
                               const mca_btl_epofi_address_t *own, mca_btl_epofi_context_t *context)
{
    struct fi_info *info = fabric->info;
    struct fi_av_attr av_attr = {.type = info->domain_attr->av_type};
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE};
    const char *what = "domain";
    int result;

    if (FI_AV_UNSPEC == av_attr.type) {
        av_attr.type = FI_AV_TABLE;
    }
    cq_attr.size = mca_btl_epofi_component.cq_size;
    if (0 == cq_attr.size) {
        cq_attr.size = info->tx_attr->size + info->rx_attr->size;
    }
    memset(context, 0, sizeof(*context));
    result = fi_domain(fabric->fabric, info, &context->domain, NULL);
    if (0 == result) {
        what = "address vector";
        result = fi_av_open(context->domain, &av_attr, &context->av, NULL);
    }
    if (0 == result) {
        what = "completion queue";
        result = fi_cq_open(context->domain, &cq_attr, &context->cq, NULL);
    }
    if (0 == result) {
        what = "endpoint";
        result = fi_endpoint(context->domain, info, &context->ep, NULL);
    }
    if (0 == result) {
        result = fi_ep_bind(context->ep, &context->av->fid, 0);
    }
    if (0 == result) {
        result = fi_ep_bind(context->ep, &context->cq->fid, FI_TRANSMIT | FI_RECV);
    }
    if (0 == result && mca_btl_epofi_calls_can_authenticate()
        && OPAL_SUCCESS != mca_btl_epofi_acceptor_open(own, &context->acceptor)) {
        result = -FI_ENOMEM;
    }
    if (0 == result) {
        result = fi_enable(context->ep);
    }
    if (!mca_btl_epofi_acceptor_stands(context->acceptor)) {
        mca_btl_epofi_acceptor_close(context->acceptor);
        context->acceptor = NULL;
    }
    if (0 == result) {
        context->av_table = mca_btl_epofi_av_new(context->av, context->acceptor);
        result = NULL == context->av_table ? -FI_ENOMEM : 0;
    }
    if (0 != result) {
        mca_btl_epofi_context_close(context);
        return say_cannot_open(fabric, what, result);
    }
    return OPAL_SUCCESS;
}

/** Register under a key that cannot be predicted: otherwise a process that reaches our port could
 * read the memory with it. Where the provider makes the keys, ours is ignored. */
static int register_keyed(const mca_btl_epofi_fabric_t *fabric, struct fid_domain *domain,
                          const mca_btl_epofi_secret_t *secret, uint64_t *next_key, void *base,
                          size_t size, uint64_t access, struct fid_mr **mr_p)
{
    const size_t bytes = fabric->info->domain_attr->mr_key_size;
    const uint64_t mask = sizeof(uint64_t) > bytes ? (UINT64_C(1) << 8 * bytes) - 1 : UINT64_MAX;
    int result;

    if (fabric->mr_prov_key) {
        return fi_mr_reg(domain, base, size, access, 0, 0, 0, mr_p, NULL);
    }
    /* A key is unique within the domain.  One that is taken is as good as impossible where keys
     * have 64 bits, but not where they have 32. */
    for (int tries = 0; tries < KEY_TRIES; ++tries) {
        const uint64_t key = mca_btl_epofi_keyed(secret, ++*next_key) & mask;

        result = fi_mr_reg(domain, base, size, access, 0, key, 0, mr_p, NULL);
        if (-FI_ENOKEY != result) {
            break;
        }
    }
    return result;
}

int mca_btl_epofi_context_register(const mca_btl_epofi_fabric_t *fabric,
                                   const mca_btl_epofi_context_t *context,
                                   const mca_btl_epofi_secret_t *secret, uint64_t *next_key,
                                   void *base, size_t size, uint64_t access, struct fid_mr **mr_p)
{
    struct fid_mr *mr;
    int result = register_keyed(fabric, context->domain, secret, next_key, base, size, access, &mr);

    if (0 == result && fabric->mr_endpoint) {
        result = fi_mr_bind(mr, &context->ep->fid, 0);
        if (0 == result) {
            result = fi_mr_enable(mr);
        }
        if (0 != result) {
            (void) fi_close(&mr->fid);
        }
    }
    if (0 == result) {
        *mr_p = mr;
    }
    return result;
}
