/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What was chosen for this process, and why, for people: epinfo, and pml_epml_verbose.
 *
 * Tests: variables (verbose), epinfo
 */

#include "ompi_config.h"

#include <stdio.h>
#include <sys/resource.h>

#include "../engine/engine.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_report.h"

#include "ompi/constants.h"
#include "ompi/mca/common/ep/common_ep_link.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"

/** Bytes of a whole report. */
#define EPML_REPORT_BYTES 8192

/** A text that grows. */
typedef struct report_t {
    char *text;
    size_t size, used;
} report_t;

static void add_line(void *context, const char *what, const char *text)
{
    report_t *report = context;
    const size_t left = report->size - report->used;
    const int length = snprintf(report->text + report->used, left, "  %-15s %s\n", what, text);

    report->used += 0 > length ? 0 : (size_t) length < left ? (size_t) length : left - 1;
}

/** Has any endpoint of this process got the network? */
static void none_has(void *context)
{
    *(bool *) context = false;
}

static void look_for_net(mca_pml_epml_ep_t *ep, void *context)
{
    bool *has_net = context;

    *has_net = *has_net || NULL != ep->transports.module[EPML_TRANSPORT_NET];
}

static bool has_net(void)
{
    bool found;

    (void) mca_pml_epml_ep_visit_all(none_has, look_for_net, &found);
    return found;
}

static void report_ways(report_t *report)
{
    mca_pml_epml_transports_report(MCA_BTL_EP_FLAG_NONE, false, add_line, report);
    if (0 < opal_process_info.num_local_peers) {
        mca_pml_epml_transports_report(MCA_BTL_EP_FLAG_NODE, false, add_line, report);
    } else {
        add_line(report, "on the node", "not needed: the job has no other process on this node");
    }
    if (0 < mca_pml_epml_component.reserve) {
        char text[96];

        snprintf(text, sizeof(text),
                 "%d of %d network contexts were opened by MPI_Init "
                 "(pml_epml_reserve)",
                 mca_pml_epml_net_reserved(), mca_pml_epml_component.reserve);
        add_line(report, "reserved", text);
    }
    if (has_net()) {
        mca_pml_epml_transports_report(MCA_BTL_EP_FLAG_NONE, true, add_line, report);
    } else {
        add_line(report, "network", "not needed: no endpoint has to be reached by it");
    }
}

int mca_pml_epml_network(char *provider, char *interface)
{
    return has_net() ? mca_pml_epml_transports_network(provider, interface)
                     : OMPI_ERR_NOT_AVAILABLE;
}

static void report_limits(report_t *report)
{
    struct rlimit files = {.rlim_cur = 0};
    char text[256];

    (void) getrlimit(RLIMIT_NOFILE, &files);
    snprintf(text, sizeof(text),
             "%llu open files (ulimit -n); %d endpoints of a process (pml_epml_max_endpoints); %zu "
             "bytes without a receive for each (pml_epml_unexpected_limit)",
             (unsigned long long) files.rlim_cur, mca_pml_epml_component.max_endpoints,
             mca_pml_epml_component.unexpected_limit);
    add_line(report, "limits", text);
}

void mca_pml_epml_report(char *text, size_t size)
{
    report_t report = {.text = text, .size = size};
    char line[1024];

    text[0] = '\0';
    mca_pml_epml_base_describe(line, sizeof(line));
    add_line(&report, "base PML", line);
    mpix_endpoints_hooks_describe(line, sizeof(line));
    add_line(&report, "hooks", line);
    report_ways(&report);
    mca_pml_epml_oversubscription_describe(line, sizeof(line));
    add_line(&report, "cores", line);
    report_limits(&report);
}

void mca_pml_epml_report_once(void)
{
    static _Atomic bool said = false;
    char text[EPML_REPORT_BYTES];

    /* Relaxed: it orders nothing, it only counts to one. */
    if ((1 == mca_pml_epml_component.verbose && 0 < opal_process_info.my_local_rank)
        || atomic_exchange_explicit(&said, true, memory_order_relaxed)) {
        return;
    }
    mca_pml_epml_report(text, sizeof(text));
    opal_output(0, "endpoints, process %u: what was chosen, and why\n%s",
                (unsigned int) OMPI_PROC_MY_NAME->vpid, text);
}
