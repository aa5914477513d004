/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The table of btl/epofi's MCA parameters, which docs/parameters.md is made from.
 *
 * Tests: install/files
 */

#include "opal_config.h"

#include "btl_epofi_base.h"
#include "btl_epofi_parameters.h"

#include "opal/mca/common/ep/common_ep_parameters.h"

#define STORAGE(member) EP_PARAMETER_STORAGE(mca_btl_epofi_component.member)
#define FIXED .scope = MCA_BASE_VAR_SCOPE_READONLY

/* clang-format off */
static const ep_parameter_t parameters[] = {
    {.name = "provider", STORAGE(provider), .preset_text = "", FIXED, .level = OPAL_INFO_LVL_3,
     .help = "libfabric provider, such as tcp, verbs or shm; empty: the best one that reaches "
             "other nodes, hardware first, then tcp"},
    {.name = "interface", STORAGE(interface), .preset_text = "", FIXED, .level = OPAL_INFO_LVL_3,
     .help = "Network interfaces or devices as libfabric names them, such as eth0, lo or mlx5_0, "
             "or networks, such as 10.1.0.0/16, separated by commas; empty: what "
             "btl_tcp_if_include and btl_tcp_if_exclude leave over (tcp). Of several, the "
             "fastest that all nodes have"},
    {.name = "max_contexts", STORAGE(max_contexts), .preset = 0, .low = 1, .high = 65536,
     .automatic = true, .unit = "contexts", FIXED, .level = OPAL_INFO_LVL_4,
     .help = "Network contexts that a process opens at most, one for each endpoint; further "
             "endpoints share; by itself as many as the provider says that it has"},
    {.name = "shared_contexts", STORAGE(shared_contexts), .preset = 1, .low = 1, .high = 65536,
     .unit = "contexts", FIXED, .level = OPAL_INFO_LVL_4,
     .help = "Of the contexts that there may be, how many are for endpoints that share; the others "
             "have one endpoint each. With as many as btl_epofi_max_contexts all are shared "
             "evenly"},
    {.name = "recv_buffers", STORAGE(recv_buffers), .preset = 64, .low = 4, .high = 65536,
     .unit = "buffers", FIXED, .level = OPAL_INFO_LVL_4,
     .help = "Receive buffers that an endpoint keeps posted, each of max_send_size bytes"},
    {.name = "eager_limit", STORAGE(eager_limit), .preset = 0, .low = 512, .high = 1 << 20,
     .automatic = true, .unit = "bytes", FIXED, .level = OPAL_INFO_LVL_4,
     .help = "Largest message, in bytes and with its header, that is sent without asking the "
             "receiver; by itself 132096 over tcp, what the provider copies at once over shm, "
             "16384 over others"},
    {.name = "max_send_size", STORAGE(max_send_size), .preset = 0, .low = 512, .high = 1 << 24,
     .floor = "eager_limit", .automatic = true, .unit = "bytes", FIXED, .level = OPAL_INFO_LVL_5,
     .help = "Largest fragment of a long message, in bytes and with its header, where the data "
             "cannot be fetched by RMA, and bytes of a receive buffer; at least eager_limit; by "
             "itself 132096 over tcp, 65536 over others"},
    {.name = "send_buffers", STORAGE(send_buffers), .preset = 512, .low = 4, .high = 65536,
     .unit = "buffers", FIXED, .level = OPAL_INFO_LVL_5,
     .help = "Buffers of eager_limit bytes that an endpoint may have on their way; made as needed"},
    {.name = "max_send_buffers", STORAGE(max_send_buffers), .preset = 64, .low = 4, .high = 65536,
     .unit = "buffers", FIXED, .level = OPAL_INFO_LVL_5,
     .help = "Buffers of max_send_size bytes that an endpoint may have on their way; made as "
             "needed"},
    {.name = "peer_queue", STORAGE(peer_queue), .preset = 256, .low = 1, .high = 65536,
     .unit = "operations", FIXED, .level = OPAL_INFO_LVL_5,
     .help = "Operations that an endpoint may have under way to one peer; a peer that does not "
             "receive holds no more than that"},
    {.name = "tx_size", STORAGE(tx_size), .preset = 0, .low = 16, .high = 1 << 20,
     .automatic = true, .unit = "entries", FIXED, .level = OPAL_INFO_LVL_6,
     .help = "Entries of the provider's transmit queue; by itself the provider's choice"},
    {.name = "rx_size", STORAGE(rx_size), .preset = 0, .low = 16, .high = 1 << 20,
     .automatic = true, .unit = "entries", FIXED, .level = OPAL_INFO_LVL_6,
     .help = "Entries of the provider's receive queue; by itself the provider's choice"},
    {.name = "cq_size", STORAGE(cq_size), .preset = 0, .low = 16, .high = 1 << 20,
     .automatic = true, .unit = "entries", FIXED, .level = OPAL_INFO_LVL_6,
     .help = "Entries of an endpoint's completion queue; by itself as many as both other queues "
             "together"},
    {.name = "get_chunk", STORAGE(get_chunk), .preset = 0, .low = 4096, .high = (size_t) 1 << 40,
     .automatic = true, .unit = "bytes", FIXED, .level = OPAL_INFO_LVL_6,
     .help = "Largest single RMA read, in bytes, of which longer ones are made; by itself 524288 "
             "over tcp, what the provider allows over others"},
    {.name = "get_depth", STORAGE(get_depth), .preset = 2, .low = 1, .high = EPOFI_GET_DEPTH,
     .unit = "reads", FIXED, .level = OPAL_INFO_LVL_6,
     .help = "Reads of get_chunk bytes that one long read has under way at a time"},
    {.name = "linger", STORAGE(linger), .preset = 10000, .high = 3600000, .unit = "ms", FIXED,
     .level = OPAL_INFO_LVL_6,
     .help = "Milliseconds that the end of an endpoint waits for peers to take what was sent to "
             "them"},
    {.name = "stall_warning", STORAGE(stall_warning), .preset = 60, .high = 86400, .unit = "s",
     FIXED, .level = OPAL_INFO_LVL_6,
     .help = "Seconds after which a peer that takes nothing, or answers nothing, is reported, "
             "once, where it cannot be distinguished from one that computes (all but tcp); "
             "0: never"},
    {.name = "unanswered", STORAGE(unanswered), .preset = 10, .high = 86400, .unit = "s", FIXED,
     .level = OPAL_INFO_LVL_6,
     .help = "Seconds after which a host that does not answer is reported, once (tcp); 0: never.  "
             "What is under way to it goes on being tried"},
    {.name = "confirm", STORAGE(confirm), .preset = 2000, .low = 10, .high = 3600000,
     .automatic = true, .unit = "ms", FIXED, .level = OPAL_INFO_LVL_6,
     .help = "Milliseconds after which an endpoint that has sent something, and nothing since, "
             "asks whether it has arrived; by a connection that breaks it may get lost without a "
             "word. For this number 0 means never"},
    {.name = "keepalive", STORAGE(keepalive), .preset = 60, .high = 32767, .unit = "s", FIXED,
     .level = OPAL_INFO_LVL_6,
     .help = "Seconds of silence after which the kernels exchange a packet on a connection, so "
             "that nothing between them forgets it (tcp); 0: never"},
    {.name = "unproven", STORAGE(unproven), .preset = 256, .low = 1, .high = EPOFI_UNPROVEN_MOST,
     .unit = "connections", FIXED, .level = OPAL_INFO_LVL_6,
     .help = "Connections that a process holds which have not proven yet that they come from the "
             "job, and 8 for each of its endpoints; beyond that the oldest is closed when another "
             "one comes (tcp)"},
    {.name = "quiet", STORAGE(quiet), .preset = 64, .high = 65536, .unit = "connections", FIXED,
     .level = OPAL_INFO_LVL_6,
     .help = "Connections that a process makes for no other reason than to learn of the end of a "
             "process that it waits for and has exchanged nothing with"},
    {.name = "hello", STORAGE(hello), .preset = 1, .high = 1, FIXED,
     .level = OPAL_INFO_LVL_6,
     .help = "Whether a connection has to prove that it comes from the job, or leads to it, "
             "before libfabric gets it (tcp, where libfabric can be led to it); the same for all "
             "processes"},
    {.name = "descriptor_wait", STORAGE(descriptor_wait), .preset = 10000, .high = 3600000,
     .unit = "ms", FIXED, .level = OPAL_INFO_LVL_6,
     .help = "Milliseconds for which a connection waits for a file descriptor, where there are "
             "none left, before it is refused or given up (tcp)"},
    {.name = "packet_size", STORAGE(packet_size), .preset = 16384, .high = 1 << 20,
     .unit = "bytes", FIXED, .level = OPAL_INFO_LVL_5,
     .help = "Bytes of a packet in which messages of up to half of it leave together that are "
             "sent to a peer while others are on their way to it (tcp), at most eager_limit; 0: "
             "each leaves by itself"},
    {.name = "packet_wait", STORAGE(packet_wait), .preset = 100, .low = 10, .high = 1000000,
     .unit = "us", FIXED, .level = OPAL_INFO_LVL_6,
     .help = "Microseconds between two looks at such packets for the case that their thread has "
             "left MPI; no message waits for longer than two of them"},
    {.name = NULL}};
/* clang-format on */

int mca_btl_epofi_parameters_register(void)
{
    return ep_parameters_register(&mca_btl_epofi_component.super.super.btl_version,
                                  "Messages of endpoints between nodes, over libfabric",
                                  parameters);
}

bool mca_btl_epofi_parameters_right(void)
{
    ep_parameter_fault_t fault;

    if (ep_parameters_right(parameters, &fault)) {
        return true;
    }
    EPOFI_SHOW_HELP("out of range", true, fault.name, fault.value, fault.low, fault.high);
    return false;
}
