/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The tables of btl/epshm's MCA parameters, which docs/parameters.md is made from.
 *
 * Tests: install/files
 */

#include "opal_config.h"

#include "threads/threads.h"
#include "segment/segment.h"
#include "btl_epshm_parameters.h"

#include "opal/mca/common/ep/common_ep_parameters.h"
#include "opal/util/proc.h"

#include <unistd.h>

#define STORAGE(member) EP_PARAMETER_STORAGE(mca_btl_epshm_component.member)

/* After MPI_Init, by MPI_T; each process as it likes, or all the same. */
#define SETTABLE .flags = MCA_BASE_VAR_FLAG_SETTABLE, .scope = MCA_BASE_VAR_SCOPE_LOCAL
#define SETTABLE_ALL .flags = MCA_BASE_VAR_FLAG_SETTABLE, .scope = MCA_BASE_VAR_SCOPE_ALL_EQ

/* clang-format off */
/** Of receive queues: without these nothing works. */
static const ep_parameter_t parameters[] = {
    {.name = "ring_cells", STORAGE(ring_cells), .preset = 512, .low = 2 * EPSHM_RING_CLAIM_MAX,
     .high = 1 << 20, .power_of_two = true, .unit = "cells", SETTABLE, .level = OPAL_INFO_LVL_5,
     .help = "Cells of 64 bytes in an endpoint's receive queue: how many small messages senders may be "
             "ahead of the receiver"},
    {.name = "spsc_rings", STORAGE(spsc_rings), .preset = 8, .high = EPSHM_SPSC_RINGS_MAX, .unit = "rings",
     SETTABLE, .level = OPAL_INFO_LVL_5,
     .help = "Rings of one sender that a receive queue may have besides the shared one: given to senders "
             "that send much"},
    {.name = "spsc_cells", STORAGE(spsc_cells), .preset = 256, .low = 64, .high = 1 << 20,
     .power_of_two = true, .unit = "cells", SETTABLE, .level = OPAL_INFO_LVL_5,
     .help = "Cells of 32 bytes in such a ring"},
    {.name = "eager_limit", STORAGE(eager_limit), .preset = 4096, .low = 512, .high = 1 << 20,
     .unit = "bytes", SETTABLE, .level = OPAL_INFO_LVL_4,
     .help = "Largest message, in bytes and with its header, that the sender buffers; longer ones "
             "are copied once, straight from the sender's memory, when the receive is posted"},
    {.name = "zcopy_min", STORAGE(zcopy_min), .preset = 640, .low = 1, .unit = "bytes", SETTABLE,
     .level = OPAL_INFO_LVL_5,
     .help = "Bytes of a message from which on the receiver, if it is there, copies them "
             "straight from the sender's memory; if it does not come at once they are buffered (at "
             "least 1; a value above zcopy_max switches it off)"},
    {.name = "zcopy_max", STORAGE(zcopy_max), .preset = 16384, .high = UINT16_MAX,
     .unit = "bytes", SETTABLE, .level = OPAL_INFO_LVL_5,
     .help = "Bytes of a message up to which it is sent so, at most max_send_size; above "
             "eager_limit, if the receiver is not there, the next ones wait for their receives"},
    {.name = "coop_copy_min", STORAGE(coop_copy_min), .preset = 32768, .low = 1, .unit = "bytes", SETTABLE,
     .level = OPAL_INFO_LVL_5,
     .help = "Bytes of a single copy from which on the sender, if it is waiting, copies a part of "
             "the message itself (at least 1; a value above every message's size switches it off)"},
    {.name = "max_send_size", STORAGE(max_send_size), .preset = 32768, .floor = "eager_limit",
     .high = 1 << 24, .unit = "bytes", SETTABLE, .level = OPAL_INFO_LVL_5,
     .help = "Bytes, header included, in one fragment of a long message whose memory layout rules "
             "out a single copy"},
    {.name = "eager_frags_max", STORAGE(eager_frags_max), .preset = 256, .low = 1, .high = 1 << 16,
     .unit = "buffers", SETTABLE, .level = OPAL_INFO_LVL_5,
     .help = "Buffers of eager_limit bytes that one endpoint may have on their way"},
    {.name = "max_frags_max", STORAGE(max_frags_max), .preset = 16, .low = 1, .high = 1 << 16,
     .unit = "buffers", SETTABLE, .level = OPAL_INFO_LVL_5,
     .help = "Buffers of max_send_size bytes that one endpoint may have on their way"},
    {.name = NULL}};
/* clang-format on */

static const char *find_directory(void)
{
    return 0 == access("/dev/shm", W_OK) || NULL == opal_process_info.job_session_dir
               ? "/dev/shm"
               : opal_process_info.job_session_dir;
}

/* clang-format off */
/** Between processes; what these do the network can do. */
static const ep_parameter_t node_parameters[] = {
    {.name = "processes", STORAGE(processes), .preset = true, SETTABLE_ALL,
     .level = OPAL_INFO_LVL_3,
     .help = "Should endpoints of different processes on one node talk through shared memory?  If "
             "not, or if one of them cannot, they use the network transport (epofi)"},
    {.name = "single_copy", STORAGE(single_copy), .preset = true, SETTABLE_ALL,
     .level = OPAL_INFO_LVL_4,
     .help = "Should large messages between processes of a node be copied once, straight from the "
             "sender's memory, where Open MPI has a way to do it (smsc: cma, xpmem, knem)?"},
    {.name = "directory", STORAGE(directory), .find_preset = find_directory,
     .scope = MCA_BASE_VAR_SCOPE_LOCAL, .level = OPAL_INFO_LVL_4,
     .help = "Folder, the same for all processes of a node and in memory, for the files through "
             "which processes of a node talk"},
    {.name = "segment_size", STORAGE(segment_size), .preset = (size_t) 1 << 30,
     .low = EPSHM_SEGMENT_LEAST, .high = (size_t) 1 << 40, .unit = "bytes", SETTABLE,
     .level = OPAL_INFO_LVL_5,
     .help = "Bytes to which the shared memory of a process may grow; only what is needed is "
             "taken"},
    {.name = "packet_bytes", STORAGE(packet_bytes), .preset = 131072, .low = 8192,
     .high = (size_t) 1 << 30, .unit = "bytes", SETTABLE, .level = OPAL_INFO_LVL_5,
     .help = "Bytes of shared memory of an endpoint for messages to endpoints of other processes "
             "that it has no pipe to"},
    {.name = "pipes", STORAGE(pipes), .preset = 16, .high = 1 << 16, .unit = "pipes", SETTABLE,
     .level = OPAL_INFO_LVL_5,
     .help = "Endpoints of other processes that an endpoint may have a pipe to at a time: memory of "
             "pipe_cells and pipe_bytes, by which messages are faster"},
    {.name = "pipe_after", STORAGE(pipe_after), .preset = 8, .high = 1 << 20, .unit = "messages",
     SETTABLE, .level = OPAL_INFO_LVL_5,
     .help = "Messages from one endpoint to another of another process after which it gets a pipe"},
    {.name = "pipe_cells", STORAGE(pipe_cells), .preset = 256, .low = EPSHM_PIPE_CELLS_LEAST,
     .high = EPSHM_PIPE_CELLS_MOST, .power_of_two = true, .unit = "cells", SETTABLE,
     .level = OPAL_INFO_LVL_5,
     .help = "Cells of 64 bytes in the pipe from one endpoint to another of another process: how "
             "many small messages the sender may be ahead"},
    {.name = "pipe_eager_limit", STORAGE(pipe_eager_limit), .preset = 16384, .low = 512,
     .high = 1 << 20, .unit = "bytes", SETTABLE, .level = OPAL_INFO_LVL_4,
     .help = "Largest message between processes of a node, in bytes and with its header, that the "
             "sender buffers; above 4096 only where two copies are seen to be faster than one by "
             "the kernel"},
    {.name = "pipe_bytes", STORAGE(pipe_bytes), .preset = 65536, .floor = "pipe_eager_limit",
     .high = 1 << 24, .unit = "bytes", SETTABLE, .level = OPAL_INFO_LVL_5,
     .help = "Bytes in such a pipe for messages that the cells do not hold, taken at the first "
             "one"},
    {.name = NULL}};
/* clang-format on */

void mca_btl_epshm_parameters_register(void)
{
    const mca_base_component_t *component = &mca_btl_epshm_component.super.super.btl_version;
    const char about[] = "Messages of endpoints within a process and a node, through memory";

    /* What Open MPI cannot read it has reported; the default stays. */
    (void) ep_parameters_register(component, about, parameters);
    (void) ep_parameters_register(component, about, node_parameters);
}

/** @param[in] consequence  of a mistake, for the help texts */
static bool all_right(const ep_parameter_t *table, const char *consequence)
{
    ep_parameter_fault_t fault;

    if (ep_parameters_right(table, &fault)) {
        return true;
    }
    if (fault.in_range) {
        EPSHM_SHOW_HELP("not a power of two", true, fault.name, (unsigned int) fault.value,
                        consequence);
    } else {
        EPSHM_SHOW_HELP("out of range", true, fault.name, fault.value, fault.low, fault.high,
                        consequence);
    }
    return false;
}

bool mca_btl_epshm_parameters_right(bool node)
{
    return all_right(parameters, "No endpoints can be created with it.")
           && (!node
               || all_right(node_parameters, "Endpoints of different processes will use the "
                                             "network instead, which is\nslower."));
}
