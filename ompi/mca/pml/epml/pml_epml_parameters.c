/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The table of pml/epml's MCA parameters, which docs/parameters.md is made from.
 *
 * Tests: install/files
 */

#include "ompi_config.h"

#include "base/base.h"
#include "pml_epml_parameters.h"

#include "opal/mca/common/ep/common_ep_parameters.h"

/** More would not fit in Open MPI's table of communicators anyway. */
#define EPML_MAX_ENDPOINTS 1000000

static const mca_base_var_enum_value_t yield_values[] = {{EPML_YIELD_AUTO, "auto"},
                                                         {EPML_YIELD_ALWAYS, "always"},
                                                         {EPML_YIELD_NEVER, "never"},
                                                         {0, NULL}};

#define STORAGE(member) EP_PARAMETER_STORAGE(mca_pml_epml_component.member)

/* After MPI_Init, by MPI_T, or not. */
#define SETTABLE .flags = MCA_BASE_VAR_FLAG_SETTABLE, .scope = MCA_BASE_VAR_SCOPE_LOCAL
#define FIXED .scope = MCA_BASE_VAR_SCOPE_ALL_EQ

/** For ompi_info: MPIX_Query_endpoints_number asks the network, too. */
static const char *find_cores(void)
{
    static char text[16];

    (void) snprintf(text, sizeof(text), "%d", mca_pml_epml_oversubscription_cores());
    return text;
}

/* clang-format off */
static const ep_parameter_t parameters[] = {
    {.name = "base", STORAGE(base_name), FIXED, .level = OPAL_INFO_LVL_3,
     .help = "Name of the PML that serves ordinary communicators, or a list as pml's, also "
             "\"^a,b\" (default: the one that Open MPI would select if epml were not there, by the "
             "parameter files' pml)"},
    {.name = "max_endpoints", STORAGE(max_endpoints), .preset = 4096,
     .high = EPML_MAX_ENDPOINTS, .unit = "endpoints", SETTABLE, .level = OPAL_INFO_LVL_3,
     .help = "Number of endpoints that may live in one process at a time"},
    {.name = "reserve", STORAGE(reserve), .preset = 0, .high = EPML_MAX_ENDPOINTS,
     .unit = "network contexts", FIXED, .level = OPAL_INFO_LVL_5,
     .help = "Network contexts that each process of a job which needs the network opens in "
             "MPI_Init, so that its first endpoints need not; no more than the network has"},
    {.name = "cores", STORAGE(cores), .find_preset = find_cores,
     .flags = MCA_BASE_VAR_FLAG_DEFAULT_ONLY, .scope = MCA_BASE_VAR_SCOPE_CONSTANT,
     .level = OPAL_INFO_LVL_3,
     .help = "Shows how many endpoints suit this process: as many as the cores that it may use "
             "(MPIX_Query_endpoints_number asks the network as well)"},
    {.name = "progress_others", STORAGE(progress_others), .preset = true, SETTABLE,
     .level = OPAL_INFO_LVL_4,
     .help = "Should a thread that is in MPI progress the endpoints of its process that no thread "
             "is driving at the moment, so that messages sent before a thread left for other work "
             "still arrive?  If not, only endpoints with unfinished requests are progressed that "
             "way"},
    {.name = "unexpected_limit", STORAGE(unexpected_limit), .preset = (size_t) 1 << 30,
     .unit = "bytes", SETTABLE, .level = OPAL_INFO_LVL_4,
     .help = "Bytes, headers included, of messages without a receive that one endpoint keeps.  "
             "While it keeps more, until it keeps half of that, senders keep the data of their "
             "messages until these are received, so that a blocking send waits for its receive"},
    {.name = "yield", STORAGE(yield), .preset = EPML_YIELD_AUTO, .values = yield_values, SETTABLE,
     .level = OPAL_INFO_LVL_4,
     .help = "When does a thread that waits on an endpoint give its core to others?  auto: when "
             "the node has more endpoints, or the process more waiting threads, than there are "
             "cores"},
    {.name = "warn_bound", STORAGE(warn_bound), .preset = true, SETTABLE,
     .level = OPAL_INFO_LVL_3,
     .help = "Say it, once in a job, when more threads of a process wait on endpoints than it has "
             "cores, because it is bound, though the node has a core for each endpoint"},
    {.name = "liveness_interval", STORAGE(liveness_interval), .preset = 2000, .unit = "ms", SETTABLE,
     .level = OPAL_INFO_LVL_5,
     .help = "Milliseconds that an endpoint waits for other processes without hearing anything "
             "from the network before it looks whether they are still there, again and again, and "
             "MPI_Finalize whether all are (0: never)"},
    {.name = "launcher_wait", STORAGE(launcher_wait), .preset = 1000, .unit = "ms", SETTABLE,
     .level = OPAL_INFO_LVL_6,
     .help = "Milliseconds that the launcher is given to say that a process has died, or to end "
             "the job, before a peer that the network cannot reach is reported as such, and before "
             "the base PML hears that a connection of its own is over"},
    {.name = "transport_wait", STORAGE(transport_wait), .preset = 3000, .unit = "ms", SETTABLE,
     .level = OPAL_INFO_LVL_6,
     .help = "Milliseconds that an answer to another process waits for a connection to it, where "
             "there is no memory for one, before the two endpoints end with an error"},
    {.name = "finalize_wait", STORAGE(finalize_wait), .preset = 10000, .unit = "ms", SETTABLE,
     .level = OPAL_INFO_LVL_6,
     .help = "Milliseconds that MPI_Finalize waits for the other processes where this one has lost "
             "an endpoint of another process"},
    {.name = "dump_after", STORAGE(dump_after), .preset = 0, .unit = "s", SETTABLE,
     .level = OPAL_INFO_LVL_4,
     .help = "Seconds that a thread waits in MPI on an endpoint before the process writes to stderr, "
             "once, what all of its endpoints wait for (0: never)"},
    {.name = "dump_signal", STORAGE(dump_signal), .preset = 0, .high = 64, FIXED,
     .level = OPAL_INFO_LVL_4,
     .help = "Number of a signal at which a thread that waits in MPI on an endpoint writes to "
             "stderr what all endpoints of the process wait for (0: none).  The process must not "
             "use that signal otherwise"},
    {.name = "coll", STORAGE(coll_components),
     .preset_text = "epcoll,tuned,basic,libnbc,inter,self", FIXED, .level = OPAL_INFO_LVL_6,
     .help = "Comma separated list of the collective components that may serve endpoint "
             "communicators (ours, and those that use nothing but point-to-point messages)"},
    {.name = "verbose", STORAGE(verbose), .preset = 0, SETTABLE, .level = OPAL_INFO_LVL_3,
     .help = "Say, when the first endpoints have been created, what was chosen and why (0: no; 1: "
             "one process of each node; 2: every process)"},
    {.name = NULL}};
/* clang-format on */

void mca_pml_epml_parameters_register(void)
{
    /* What Open MPI cannot read it has reported; the default stays. */
    (void) ep_parameters_register(&mca_pml_epml_component.super.pmlm_version,
                                  "Endpoints: their messages and communicators", parameters);
}

bool mca_pml_epml_parameters_right(void)
{
    ep_parameter_fault_t fault;

    if (ep_parameters_right(parameters, &fault)) {
        return true;
    }
    EPML_SHOW_HELP("out of range", true, fault.name, (int) fault.value, (int) fault.low,
                   (int) fault.high);
    return false;
}
