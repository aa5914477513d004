/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The table of osc/epwin's MCA parameters, which docs/parameters.md is made from.
 *
 * Tests: install/files
 */

#include "ompi_config.h"

#include "base/base.h"
#include "osc_epwin_parameters.h"

#include "opal/mca/common/ep/common_ep_help.h"
#include "opal/mca/common/ep/common_ep_parameters.h"

#define STORAGE(member) EP_PARAMETER_STORAGE(mca_osc_epwin_component.member)

/* All processes must choose the same component. */
#define FIXED .scope = MCA_BASE_VAR_SCOPE_ALL_EQ

/* clang-format off */
static const ep_parameter_t parameters[] = {
    {.name = "priority", STORAGE(priority), .preset = 1000, .high = 1 << 30, FIXED,
     .level = OPAL_INFO_LVL_6,
     .help = "Priority among the components for windows, on communicators of endpoints; on others "
             "it is not used"},
    {.name = "pending_limit", STORAGE(pending_limit), .preset = 1 << 20, .low = 4096,
     .high = 1 << 30, .unit = "bytes", .scope = MCA_BASE_VAR_SCOPE_READONLY,
     .level = OPAL_INFO_LVL_5,
     .help = "Bytes of messages to one target that may be under way; further operations wait.  For "
             "targets whose memory is not mapped"},
    {.name = "copy_limit", STORAGE(copy_limit), .preset = 8192, .high = (size_t) 1 << 40,
     .unit = "bytes", .scope = MCA_BASE_VAR_SCOPE_READONLY, .level = OPAL_INFO_LVL_5,
     .help = "Least bytes of a put or get without gaps that the kernel copies between two processes "
             "of a node, in windows whose memory is not mapped (0: never).  In dynamic windows four "
             "times as much"},
    {.name = "progress_interval", STORAGE(progress_interval), .preset = 0, .high = 1000000,
     .unit = "us", .scope = MCA_BASE_VAR_SCOPE_READONLY, .level = OPAL_INFO_LVL_5,
     .help = "How long a thread of the process sleeps between looks for messages for its windows, "
             "which it executes while no thread of the program is in MPI (0: there is no such "
             "thread).  It is there while a window is whose memory not all members map"},
    {.name = "rendezvous_limit", STORAGE(rendezvous_limit), .preset = 16384,
     .high = (size_t) 1 << 40, .unit = "bytes", .scope = MCA_BASE_VAR_SCOPE_READONLY,
     .level = OPAL_INFO_LVL_5,
     .help = "Least bytes of a put or get without gaps that goes by a message of its own, between "
             "the user's buffer and the window, in windows whose memory is not mapped (0: never)"},
    {.name = NULL}};
/* clang-format on */

void mca_osc_epwin_parameters_register(void)
{
    /* What Open MPI cannot read it has reported; the default stays. */
    (void) ep_parameters_register(&mca_osc_epwin_component.super.osc_version,
                                  "Windows of endpoints", parameters);
}

bool mca_osc_epwin_parameters_right(void)
{
    ep_parameter_fault_t fault;

    if (ep_parameters_right(parameters, &fault)) {
        return true;
    }
    (void) mca_btl_ep_show_help("help-osc-epwin.txt", "out of range", true, fault.name,
                                fault.value, fault.low, fault.high);
    return false;
}
