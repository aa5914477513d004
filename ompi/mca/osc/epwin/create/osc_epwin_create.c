/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Creation of windows, collective over a communicator:
 *
 *     1  duplicate it; meanwhile get the memory of the domain and of the window object
 *     2  allgather of what members say (epwin_member_info_t): arguments, and errors in them
 *     3  allocated and shared windows: get data memory, allgather of the parts where members of
 *        several processes are on a node
 *     4  fill in the window object
 *     5  allreduce of errors
 *
 * In each step an error of one member ends the creation at all: in step 1 the duplicate fails, after
 * 2 and 5 all members know of it, and in between a member with an error goes on.
 *
 * Called by the component.
 *
 * Tests: win_create, win_shared, win_nomem, win_device, win_death, win_slots
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "../sync/sync.h"
#include "../target/target.h"
#include "osc_epwin_create.h"
#include "osc_epwin_making.h"

#include "ompi/mca/coll/coll.h"
#include "opal/mca/common/ep/common_ep_help.h"
#include "opal/mca/threads/thread_usage.h"
#include "opal/util/info.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** A larger mpi_minimum_memory_alignment is ignored. */
#define ALIGNMENT_MOST ((uint64_t) 1 << 30)

static bool info_is_true(opal_info_t *info, const char *key)
{
    bool value = false;
    int flag = 0;

    return NULL != info && OPAL_SUCCESS == opal_info_get_bool(info, key, &value, &flag) && 0 != flag
           && value;
}

/** Alignment of a member's part. */
static uint64_t info_alignment(opal_info_t *info)
{
    const uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE);
    opal_cstring_t *text = NULL;
    uint64_t value = 0;
    int flag = 0;

    if (NULL != info
        && OPAL_SUCCESS == opal_info_get(info, "mpi_minimum_memory_alignment", &text, &flag)
        && 0 != flag) {
        value = strtoull(text->string, NULL, 10);
        OBJ_RELEASE(text);
    }
    return page < value && ALIGNMENT_MOST >= value && 0 == (value & (value - 1)) ? value : page;
}

/** Which threads are going to use a handle?  The info key mpix_thread_level says it for a window as
 * it does for a communicator. */
static mca_osc_epwin_threads_t info_threads(opal_info_t *info)
{
    mca_osc_epwin_threads_t threads = EPWIN_THREADS_UNKNOWN;
    opal_cstring_t *level = NULL;
    int flag = 0;

    if (!opal_using_threads()) {
        return EPWIN_THREADS_TURNS;
    }
    if (NULL != info && OPAL_SUCCESS == opal_info_get(info, "mpix_thread_level", &level, &flag)
        && 0 != flag) {
        if (0 == strcmp(level->string, "multiple")) {
            threads = EPWIN_THREADS_SEVERAL;
        } else if (0 == strcmp(level->string, "single") || 0 == strcmp(level->string, "funneled")
                   || 0 == strcmp(level->string, "serialized")) {
            threads = EPWIN_THREADS_TURNS;
        }
        OBJ_RELEASE(level);
    }
    return threads;
}

static int arguments_check(size_t size, mca_osc_epwin_unit_t unit)
{
    if (0 >= unit) {
        return MPI_ERR_DISP;
    }
    return PTRDIFF_MAX >= size ? MPI_SUCCESS : MPI_ERR_SIZE;
}

/** Is some of a created window's memory in device memory? */
static bool memory_is_device(const mca_osc_epwin_module_t *module, const void *base, size_t size)
{
    return mca_osc_epwin_component.has_accelerator
           && mca_osc_epwin_component.engine->is_device(module->comm, base, size,
                                                        &ompi_mpi_byte.dt);
}

/** Steps 2 to 5, of a duplicate that is complete. */
static int window_make(epwin_making_t *making)
{
    mca_osc_epwin_module_t *module = making->module;
    int rc = module->comm->c_coll->coll_allgather(&making->own, sizeof(making->own), MPI_BYTE,
                                                  making->infos, sizeof(making->own), MPI_BYTE,
                                                  module->comm,
                                                  module->comm->c_coll->coll_allgather_module);
    int worst = mca_osc_epwin_mpi_error(rc);

    for (int rank = 0; rank < module->size && OMPI_SUCCESS == rc; ++rank) {
        worst = making->infos[rank].error > worst ? making->infos[rank].error : worst;
    }
    if (MPI_SUCCESS != worst) {
        return worst;
    }
    if (MPI_WIN_FLAVOR_ALLOCATE == module->flavor || MPI_WIN_FLAVOR_SHARED == module->flavor) {
        rc = mca_osc_epwin_data_get(making);
    }
    rc = MPI_SUCCESS == rc ? mca_osc_epwin_peers_fill(making) : rc;
    return mca_osc_epwin_error_reduce(module, rc);
}

/** Report, once for all members, why there is no shared window. */
static void not_shared_report(const epwin_making_t *making, const ompi_communicator_t *comm)
{
    if (0 == ompi_comm_rank(comm) && NULL != making->not_shared) {
        (void) mca_btl_ep_show_help("help-osc-epwin.txt", "not shared", true, comm->c_name,
                                    making->not_shared);
    }
}

/** What the window object and libmpi get of a window that is complete. */
static void window_publish(const epwin_making_t *making, ompi_win_t *win, void **base,
                           opal_info_t *info)
{
    mca_osc_epwin_module_t *module = making->module;

    module->listens = mca_osc_epwin_must_listen(module);
    module->threads = (uint8_t) info_threads(info);
    module->may_bias = EPWIN_THREADS_UNKNOWN == module->threads && epwin_handle_lock_setup();
    win->w_osc_module = &module->super;
    if (info_is_true(info, "no_locks")) {
        win->w_flags |= OMPI_WIN_NO_LOCKS;
    }
    if (MPI_WIN_FLAVOR_ALLOCATE == module->flavor || MPI_WIN_FLAVOR_SHARED == module->flavor) {
        *base = module->peers[module->rank].base;
    }
    if (mca_osc_epwin_has_progress(module)) {
        mca_osc_epwin_progress_begin();
    }
}

int mca_osc_epwin_create(ompi_win_t *win, const ompi_osc_base_module_t *table, void **base,
                         size_t size, mca_osc_epwin_unit_t unit, ompi_communicator_t *comm,
                         opal_info_t *info, int flavor, int *model_p)
{
    const size_t members = (size_t) ompi_comm_size(comm);
    epwin_making_t making = {
        .module = mca_osc_epwin_module_new(table, win, comm, flavor),
        .infos = malloc(members * sizeof(*making.infos)),
        .parts = malloc(members * sizeof(*making.parts)),
        .own = {.size = size,
                .unit = (uint64_t) unit,
                .alignment = info_alignment(info),
                .base = MPI_WIN_FLAVOR_CREATE == flavor ? (uintptr_t) *base : 0,
                .contiguous = MPI_WIN_FLAVOR_SHARED == flavor
                              && !info_is_true(info, "alloc_shared_noncontig")}};
    int rc = mca_osc_epwin_duplicate(&making, comm);

    mca_osc_epwin_basics_fill();
    if (MPI_SUCCESS == rc) {
        if (MPI_SUCCESS == making.own.error) {
            making.own.error = arguments_check(size, unit);
        }
        if (MPI_SUCCESS == making.own.error && MPI_WIN_FLAVOR_CREATE == flavor) {
            making.own.on_device = memory_is_device(making.module, *base, size);
        }
        if (MPI_WIN_FLAVOR_DYNAMIC == flavor) {
            making.own.base = mca_osc_epwin_regions_base(&making);
        }
        making.own.domain = making.module->domain_number;
        making.own.node = (uint32_t) making.node.first;
        making.own.process = (uint32_t) making.process.first;
        rc = window_make(&making);
        if (MPI_SUCCESS == rc) {
            window_publish(&making, win, base, info);
            *model_p = MPI_WIN_UNIFIED;
        } else {
            not_shared_report(&making, comm);
            mca_osc_epwin_duplicate_free(making.module);
        }
    }
    free(making.infos);
    free(making.parts);
    return rc;
}
