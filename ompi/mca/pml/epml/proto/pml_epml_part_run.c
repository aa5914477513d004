/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a round of a partitioned send is made of: runs, partitions that follow on each other in the
 * buffer; each leaves in one message, for the receiver to fetch, or packed.
 *
 * Called by pml_epml_part_send.c.
 *
 * Tests: part, part_life
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_frag.h"
#include "pml_epml_part.h"

#include "ompi/constants.h"

static mca_pml_epml_hdr_frag_t data_header(const mca_pml_epml_part_t *part, uint64_t offset)
{
    return (mca_pml_epml_hdr_frag_t){
        .common = {.kind = EPML_HDR_PART_DATA,
                   .handle_size = mca_pml_epml_part_short_round(part->round),
                   .request = part->super.receiver_request},
        .offset = offset};
}

/** Send the run as it is, in one message. */
static int send_eager(mca_pml_epml_part_t *part)
{
    const mca_pml_epml_hdr_frag_t hdr = data_header(part, part->run_at);
    int rc = mca_pml_epml_transmit(part->super.ep, mca_pml_epml_part_receiver(part), &hdr,
                                   sizeof(hdr), part->super.base + part->run_at,
                                   part->run_end - part->run_at);

    if (OMPI_SUCCESS == rc) {
        part->run_at = part->run_end;
    }
    return rc;
}

/** Let the receiver fetch the run. */
static int send_rndv(mca_pml_epml_part_t *part, const mca_btl_ep_module_t *module)
{
    mca_pml_epml_request_t *request = &part->super;
    const struct mca_btl_base_registration_handle_t *handle = request->local_handle;
    const mca_pml_epml_hdr_part_rndv_t hdr = {
        .common = {.kind = EPML_HDR_PART_RNDV,
                   .flags = mca_pml_epml_part_transport_flag(mca_pml_epml_part_receiver(part)),
                   .handle_size = NULL != handle ? module->super.btl_registration_handle_size : 0,
                   .request = request->receiver_request},
        .sender = request->number,
        .round = part->round,
        .offset = part->run_at,
        .length = part->run_end - part->run_at,
        .address = (uint64_t) (uintptr_t) (request->base + part->run_at)};
    int rc = mca_pml_epml_transmit(request->ep, mca_pml_epml_part_receiver(part), &hdr, sizeof(hdr),
                                   handle, hdr.common.handle_size);

    if (OMPI_SUCCESS == rc) {
        part->run_at = part->run_end;
        ++part->open;
    }
    return rc;
}

/** Pack some of the run, and send it. */
static int send_packed(mca_pml_epml_part_t *part, mca_btl_ep_module_t *module,
                       struct mca_btl_base_endpoint_t *connection)
{
    mca_pml_epml_request_t *request = &part->super;
    const mca_pml_epml_hdr_frag_t hdr = data_header(part, part->run_at);
    size_t size = part->run_end - part->run_at, position = part->run_at;
    int rc = OMPI_SUCCESS;

    if (!request->convertor_set) {
        rc = mca_pml_epml_request_convertor(request);
    }
    if (OMPI_SUCCESS == rc) {
        rc = opal_convertor_set_position(&request->convertor, &position);
    }
    if (OMPI_SUCCESS != rc) {
        return OMPI_ERROR;
    }
    rc = mca_pml_epml_frag_send(request, module, connection, &hdr, &size);
    part->run_at += OMPI_SUCCESS == rc ? size : 0;
    return rc;
}

/** Can the receiver fetch what is left of the run?  Not what begins in the middle of a partition:
 * it could not be asked for again. */
static bool may_offer(mca_pml_epml_part_t *part, mca_btl_ep_module_t *module,
                      struct mca_btl_base_endpoint_t *connection)
{
    return part->super.contiguous && part->may_fetch && 0 == part->run_at % part->partition_size
           && 0 != (module->super.btl_flags & MCA_BTL_FLAGS_GET)
           && mca_pml_epml_part_register(part, module, connection, MCA_BTL_REG_FLAG_REMOTE_READ);
}

int mca_pml_epml_part_send_run(mca_pml_epml_part_t *part)
{
    mca_pml_epml_request_t *request = &part->super;
    struct mca_btl_base_endpoint_t *connection;
    mca_btl_ep_module_t *module;
    int rc = mca_pml_epml_route(request->ep, mca_pml_epml_part_receiver(part), &module,
                                &connection);

    while (OMPI_SUCCESS == rc && part->run_at < part->run_end && part->run_at < request->to_send) {
        const uint64_t left = part->run_end - part->run_at;

        rc = OMPI_ERR_NOT_AVAILABLE;
        if (request->contiguous
            && sizeof(mca_pml_epml_hdr_frag_t) + left <= module->super.btl_eager_limit) {
            rc = send_eager(part);
        }
        if (OMPI_ERR_NOT_AVAILABLE != rc) {
            continue;
        }
        /* Too large; or the transport could buffer as much, but has no memory for it. */
        rc = may_offer(part, module, connection) ? send_rndv(part, module)
                                                 : send_packed(part, module, connection);
    }
    return rc;
}

int mca_pml_epml_part_send_empty(mca_pml_epml_part_t *part)
{
    const mca_pml_epml_hdr_frag_t hdr = data_header(part, 0);
    int rc;

    if (0 < part->super.to_send || part->closed || MPI_SUCCESS != part->error) {
        return OMPI_SUCCESS;
    }
    rc = mca_pml_epml_transmit(part->super.ep, mca_pml_epml_part_receiver(part), &hdr, sizeof(hdr),
                               NULL, 0);
    part->closed = OMPI_SUCCESS == rc;
    return rc;
}
