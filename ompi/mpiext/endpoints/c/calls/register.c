/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Where pml/epml and this library meet: it registers its table, and what is said for it is asked
 * here.
 *
 * Tests: create, create_errors (unselected), sessions
 */

#include "ompi_config.h"

#include "ompi/mca/common/ep/common_ep_link.h"
#include "../base/base.h"
#include "../files/files.h"
#include "../static/static.h"
#include "mpiext_endpoints_function.h"

#include "ompi/constants.h"

MPIX_ENDPOINTS_EXPORT int mpix_endpoints_register_pml(const mpix_endpoints_pml_t *table)
{
    if (NULL != table && MPIX_ENDPOINTS_LINK_ABI != table->abi) {
        return OMPI_ERR_NOT_SUPPORTED;
    }
    mpix_endpoints_help_init(NULL != table);
    mpix_endpoints_end_init(mpix_endpoints_attached_rank);
    /* Not by the first threads that use it, which Open MPI does not order. */
    if (NULL != table) {
        mpix_endpoints_announce_publish();
    } else {
        mpix_endpoints_announce_forget();
        mpix_endpoints_parent_forget();
        mpix_endpoints_process_end();
    }
    mpix_endpoints_table_set(table);
#if MPIX_ENDPOINTS_FILES
    if (NULL != table) {
        mpix_endpoints_io_session_begin();
        mpix_endpoints_sharedfp_register(table);
    }
#endif
    return OMPI_SUCCESS;
}

MPIX_ENDPOINTS_EXPORT int mpix_endpoints_report(char *text, size_t size)
{
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();

    if (NULL == table) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    table->report(text, size);
    return OMPI_SUCCESS;
}

MPIX_ENDPOINTS_EXPORT const mpix_endpoints_engine_t *mpix_endpoints_engine(uint32_t abi)
{
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();

    return NULL != table && abi == table->engine->abi ? table->engine : NULL;
}

#if EP_IN_TREE

/** See MPIX_ENDPOINTS_FUNCTION_DEFINED. */
static const char *const functions[] __attribute__((used)) = {
    &mpix_endpoints_has_Buffer_attach,
    &mpix_endpoints_has_Buffer_detach,
    &mpix_endpoints_has_Comm_accept,
    &mpix_endpoints_has_Comm_connect,
    &mpix_endpoints_has_Comm_disconnect,
    &mpix_endpoints_has_Comm_free,
    &mpix_endpoints_has_Comm_get_parent,
    &mpix_endpoints_has_Comm_spawn,
    &mpix_endpoints_has_Comm_spawn_multiple,
    &mpix_endpoints_has_Comm_split_type,
    &mpix_endpoints_has_Finalize,
    &mpix_endpoints_has_Init,
    &mpix_endpoints_has_Init_thread,
    &mpix_endpoints_has_Initialized,
    &mpix_endpoints_has_Is_thread_main,
    &mpix_endpoints_has_Query_thread,
    &mpix_endpoints_has_Request_get_status,
    &mpix_endpoints_has_Win_allocate,
    &mpix_endpoints_has_Win_allocate_shared,
    &mpix_endpoints_has_Win_create,
    &mpix_endpoints_has_Win_create_dynamic};

#endif
