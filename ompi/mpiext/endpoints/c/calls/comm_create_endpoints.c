/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Comm_create_endpoints: argument checking and error reporting; pml/epml does the work.
 *
 * Tests: create_errors, create_fatal, create_pmpi
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../base/base.h"
#include "../interpose/interpose.h"
#include "calls.h"

#include "ompi/communicator/communicator.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/info/info.h"
#include "ompi/mca/pml/base/base.h"
#include "opal/mca/common/ep/common_ep_cancel.h"

static const char function_name[] = "MPIX_Comm_create_endpoints";

char mpix_endpoints_call_no_room[1];

/**
 * What is wrong with this process's own arguments.  The other members cannot know of it, so it must
 * not keep the process out of the collective.
 *
 * @return MPI_SUCCESS, or the error code for this process
 */
static int check_own_arguments(int my_num_ep, MPI_Info info, MPI_Comm ep_comms[])
{
    if (0 > my_num_ep || (0 < my_num_ep && NULL == ep_comms)) {
        return MPI_ERR_ARG;
    }
    if (NULL == info || ompi_info_is_freed(info)) {
        return MPI_ERR_INFO;
    }
    return MPI_SUCCESS;
}

/** No PML has registered: say what to do.  Every member comes here, so nobody waits. */
static int not_selected(void)
{
    mpix_endpoints_show_help("not selected",
                             mca_pml_base_selected_component.pmlm_version.mca_component_name);
    return mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_NOT_SELECTED);
}

/** Create with a valid parent.  @return an MPI error code */
static int create_endpoints(MPI_Comm parent, int my_num_ep, MPI_Info info, MPI_Comm ep_comms[])
{
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();
    mpix_endpoints_error_t local_error = MPIX_ENDPOINTS_OK, error = MPIX_ENDPOINTS_OK;
    int rc, code;

    if (NULL == table) {
        return not_selected();
    }

    code = check_own_arguments(my_num_ep, info, ep_comms);
    if (MPI_SUCCESS != code) {
        local_error = MPIX_ENDPOINTS_ERR_ARG;
    } else if (mpix_endpoints_call_no_room == (char *) ep_comms) {
        local_error = MPIX_ENDPOINTS_ERR_RESOURCE;
        code = mpix_endpoints_error_code_of(local_error, OMPI_ERR_OUT_OF_RESOURCE);
    } else if (mpix_endpoints_most_told() < my_num_ep) {
        local_error = MPIX_ENDPOINTS_ERR_LIMIT;
        code = mpix_endpoints_error_code_of(local_error, OMPI_ERROR);
    } else if (!mpix_endpoints_hooks_in_force()) {
        mpix_endpoints_hooks_explain();
        code = mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_HOOKS);
        local_error = MPIX_ENDPOINTS_ERR_RESOURCE;
    }

    rc = table->create_endpoints(parent, MPIX_ENDPOINTS_OK == local_error ? my_num_ep : 0,
                                 MPI_SUCCESS == code && MPI_INFO_NULL != info ? &info->super : NULL,
                                 local_error, ep_comms, &error);
    if (MPI_SUCCESS != code) {
        return code;
    }
    if (OMPI_SUCCESS != rc) {
        return mpix_endpoints_error_code_of(error, rc);
    }
    for (int i = 0; i < my_num_ep; ++i) {
    }
    return MPI_SUCCESS;
}

/** Is there something to call this on? */
static bool is_usable(MPI_Comm comm)
{
    return 0 != ompi_instance_count && !ompi_comm_invalid(comm);
}

int mpix_endpoints_call_create(MPI_Comm parent, int my_num_ep, MPI_Info info, MPI_Comm ep_comms[])
{
    MCA_BTL_EP_HOLD_CANCEL();

    if (!is_usable(parent)) {
        return 0 == ompi_instance_count ? MPI_ERR_OTHER : MPI_ERR_COMM;
    }
#if OPAL_ENABLE_FT_MPI
    int code;

    if (!ompi_comm_iface_create_check(parent, &code)) {
        return code;
    }
#endif
    return create_endpoints(parent, my_num_ep, info, ep_comms);
}

int mpix_endpoints_call_create_raise(MPI_Comm parent, int code)
{
    if (!is_usable(parent)) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(code, function_name);
    }
    return OMPI_ERRHANDLER_INVOKE(parent, code, function_name);
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Comm_create_endpoints(MPI_Comm parent, int my_num_ep, MPI_Info info,
                                                      MPI_Comm ep_comms[])
{
    const int code = mpix_endpoints_call_create(parent, my_num_ep, info, ep_comms);

    return MPI_SUCCESS == code ? MPI_SUCCESS : mpix_endpoints_call_create_raise(parent, code);
}

MPIX_ENDPOINTS_EXPORT int MPIX_Comm_create_endpoints(MPI_Comm parent, int my_num_ep, MPI_Info info,
                                                     MPI_Comm ep_comms[])
    __attribute__((weak, alias("PMPIX_Comm_create_endpoints")));
