/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages that make sense, as a peer that behaves sends them.
 */

#include "fuzz.h"

void fuzz_eager(const fuzz_comm_t *comm, int source, int tag, size_t payload)
{
    struct {
        mca_pml_epml_hdr_match_t hdr;
        unsigned char data[FUZZ_EAGER_LIMIT];
    } message = {.hdr = {.common = {.kind = EPML_HDR_EAGER},
                         .context = comm->context,
                         .source = source,
                         .tag = tag}};

    memset(message.data, 0x3c, sizeof(message.data));
    fuzz_net_deliver(&message, sizeof(message.hdr) + payload);
}

void fuzz_rndv(mca_pml_epml_hdr_kind_t kind, const fuzz_comm_t *comm, int tag, uint64_t length)
{
    const mca_pml_epml_hdr_rndv_t hdr = {.match = {.common = {.kind = kind, .request = 77},
                                                   .context = comm->context,
                                                   .source = comm->remote,
                                                   .tag = tag},
                                         .length = length};

    fuzz_net_deliver(&hdr, sizeof(hdr));
}

static void deliver_frag(mca_pml_epml_hdr_frag_t hdr, size_t payload)
{
    struct {
        mca_pml_epml_hdr_frag_t hdr;
        unsigned char data[FUZZ_FRAG_LIMIT];
    } message = {.hdr = hdr};

    memset(message.data, 0x3c, sizeof(message.data));
    fuzz_net_deliver(&message, sizeof(message.hdr) + payload);
}

void fuzz_frag(mca_pml_epml_hdr_kind_t kind, uint32_t number, uint64_t offset, size_t payload)
{
    deliver_frag((mca_pml_epml_hdr_frag_t){.common = {.kind = kind, .request = number},
                                           .offset = offset},
                 payload);
}

void fuzz_part_data(const mca_pml_epml_part_t *part, uint64_t offset, size_t payload)
{
    deliver_frag((mca_pml_epml_hdr_frag_t){.common = {.kind = EPML_HDR_PART_DATA,
                                                      .handle_size
                                                      = mca_pml_epml_part_short_round(part->round),
                                                      .request = part->super.number},
                                           .offset = offset},
                 payload);
}

uint8_t fuzz_can_get(void)
{
    return EPML_TRANSPORT_NODE == fuzz_net.transport ? EPML_HDR_FLAG_GET | EPML_HDR_FLAG_NODE
                                                     : EPML_HDR_FLAG_GET;
}

void fuzz_part_start(uint32_t number, uint32_t round, uint64_t length)
{
    const mca_pml_epml_hdr_part_start_t hdr = {
        .common = {.kind = EPML_HDR_PART_START, .flags = fuzz_can_get(), .request = number},
        .receiver = 78,
        .round = round,
        .length = length};

    fuzz_net_deliver(&hdr, sizeof(hdr));
}

void fuzz_part_rndv(const mca_pml_epml_part_t *part, uint64_t offset, uint64_t length)
{
    const struct {
        mca_pml_epml_hdr_part_rndv_t hdr;
        unsigned char handle[FUZZ_HANDLE_SIZE];
    } message = {.hdr = {.common = {.kind = EPML_HDR_PART_RNDV,
                                    .flags = fuzz_can_get(),
                                    .handle_size = FUZZ_HANDLE_SIZE,
                                    .request = part->super.number},
                         .sender = 77,
                         .round = part->round,
                         .offset = offset,
                         .length = length}};

    fuzz_net_deliver(&message, sizeof(message));
}

void fuzz_finished(mca_pml_epml_hdr_kind_t kind, uint32_t number, uint32_t round)
{
    const mca_pml_epml_hdr_done_t hdr = {.common = {.kind = kind, .request = number},
                                         .round = round};

    fuzz_net_deliver(&hdr, sizeof(hdr));
}
