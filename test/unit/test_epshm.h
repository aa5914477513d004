/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the tests of btl/epshm share that make segments: no launcher, a folder of their own, and the
 * process that they pass for.
 */

#ifndef EP_TEST_UNIT_TEST_EPSHM_H
#define EP_TEST_UNIT_TEST_EPSHM_H

#include "opal_config.h"

#include "opal/mca/btl/epshm/node/btl_epshm_node.h"
#include "opal/mca/btl/epshm/segment/btl_epshm_segment_file.h"
#include "opal/mca/btl/epshm/threads/btl_epshm_types.h"

#include "opal/mca/pmix/pmix-internal.h"
#include "opal/runtime/opal.h"
#include "opal/util/proc.h"

#include "tap.h"

#include <unistd.h>

static char folder[64];
static opal_proc_t me;

static char registered[256]; /**< the last file that a launcher would remove */

/* There is no launcher to remove files: in place of Open MPI's own, which would ask one. */
int opal_pmix_register_cleanup(char *path, bool directory, bool ignore, bool jobscope)
{
    snprintf(registered, sizeof(registered), "%s", path);
    (void) directory;
    (void) ignore;
    (void) jobscope;
    return OPAL_SUCCESS;
}

/** Segments are made in a folder that nobody else has.  Without one a test cannot go on. */
static inline void folder_make(void)
{
    snprintf(folder, sizeof(folder), "%s/epshm-test.XXXXXX",
             0 == access("/dev/shm", W_OK) ? "/dev/shm" : "/tmp");
    if (NULL == mkdtemp(folder)) {
        printf("Bail out! no folder\n");
        exit(1);
    }
}

/** This process is one of a job. */
static inline void me_make(opal_jobid_t job, int rank)
{
    OBJ_CONSTRUCT(&me, opal_proc_t);
    me.proc_name = (opal_process_name_t){.jobid = job, .vpid = (opal_vpid_t) rank};
    (void) opal_proc_local_set(&me);
}

#endif /* EP_TEST_UNIT_TEST_EPSHM_H */
