/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What was chosen, in words: the memory that is shared, and which process copies.
 *
 * Tests: epinfo
 */

#include "opal_config.h"

#include "threads/threads.h"
#include "segment/segment.h"
#include "base/base.h"
#include "btl_epshm_report.h"

#include <stdio.h>
#include <sys/statvfs.h>

#include "opal/mca/smsc/base/base.h"

#define MIB (UINT64_C(1) << 20)

static void report_inside(mca_btl_ep_tell_fn_t tell, void *context)
{
    const mca_btl_epshm_component_t *component = &mca_btl_epshm_component;
    char text[256];

    snprintf(text, sizeof(text),
             "memory of the process (btl/epshm): up to %zu bytes are buffered%s, larger messages "
             "copied once",
             component->eager_limit,
             epshm_zcopy_setup() ? "" : " (no zero-copy sends: no membarrier in this kernel)");
    tell(context, "in the process", text);
}

/** The name of Open MPI's way to read other processes' memory: of those that can, the framework
 * keeps the best one first. */
static const char *smsc_name(void)
{
    opal_list_t *components = &opal_smsc_base_framework.framework_components;

    if (NULL == mca_smsc || opal_list_is_empty(components)) {
        return NULL;
    }
    return ((mca_base_component_list_item_t *) opal_list_get_first(components))
        ->cli_component->mca_component_name;
}

static void report_single_copy(mca_btl_ep_tell_fn_t tell, void *context)
{
    const char *name = smsc_name();
    char text[256];
    int all, unreadable;

    mca_btl_epshm_peer_procs_count(&all, &unreadable);
    if (!mca_btl_epshm_component.single_copy) {
        snprintf(text, sizeof(text), "none: btl_epshm_single_copy is off");
    } else if (NULL == name) {
        snprintf(text, sizeof(text), "none: Open MPI has no smsc component that works here");
    } else if (0 < unreadable) {
        snprintf(text, sizeof(text),
                 "%s, but the memory of %d of %d processes that were met cannot be read", name,
                 unreadable, all);
    } else {
        snprintf(text, sizeof(text), "%s (Open MPI's smsc), where it is the faster way", name);
    }
    tell(context, "single copy", text);
}

/** "7.9 GiB": not too exactly, or no two processes would say the same. */
static void size_text(uint64_t size, char *text, size_t room)
{
    const bool is_large = 1024 * MIB <= size;
    const double value = (double) size / (double) (is_large ? 1024 * MIB : MIB);

    snprintf(text, room, "%.*f %s", 10 > value ? 1 : 0, value, is_large ? "GiB" : "MiB");
}

static void report_node(mca_btl_ep_tell_fn_t tell, void *context)
{
    const char *directory = mca_btl_epshm_component.directory;
    struct statvfs room;
    uint64_t size;
    char text[512], own[32], there[32] = "unknown";
    bool failed;

    mca_btl_epshm_segment_describe(&size, &failed);
    if (!mca_btl_epshm_component.processes) {
        tell(context, "on the node", "the network: btl_epshm_processes is off");
        return;
    }
    if (failed) {
        tell(context, "on the node", "the network: the shared memory could not be made");
        return;
    }
    if (0 == size) {
        tell(context, "on the node", "no endpoint of another process here has been met");
        return;
    }
    size_text(size, own, sizeof(own));
    if (0 == statvfs(directory, &room)) {
        size_text((uint64_t) room.f_bavail * room.f_frsize, there, sizeof(there));
    }
    snprintf(text, sizeof(text),
             "shared memory (btl/epshm) in %s: up to %s of this process, %s free there", directory,
             own, there);
    tell(context, "on the node", text);
    report_single_copy(tell, context);
}

void mca_btl_epshm_report(uint32_t flags, mca_btl_ep_tell_fn_t tell, void *context)
{
    if (0 != (flags & MCA_BTL_EP_FLAG_NODE)) {
        report_node(tell, context);
    } else {
        report_inside(tell, context);
    }
}
