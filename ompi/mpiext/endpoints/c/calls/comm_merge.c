/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Comm_merge: what is wrong with the caller's arguments, and the way to pml/epml.
 *
 * Other members know nothing of a mistake here, and wait on the communicators that are in order.
 * So the call goes on with these, and brings the mistake along.
 *
 * Tests: merge, merge_errors
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../base/base.h"
#include "../interpose/interpose.h"
#include "calls.h"

#include "ompi/communicator/communicator.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/mca/pml/base/base.h"
#include "opal/mca/common/ep/common_ep_cancel.h"

static const char function_name[] = "MPIX_Comm_merge";

typedef struct arguments_t {
    MPI_Comm comms[2]; /**< those that will do */
    int count;
    mpix_endpoints_error_t error;
    int code; /**< of this member's mistake, if it has made one */
} arguments_t;

static void note_mistake(arguments_t *arguments, mpix_endpoints_error_t error, int code)
{
    if (MPIX_ENDPOINTS_OK == arguments->error) {
        arguments->error = error;
        arguments->code = code;
    }
}

/** One of the two communicators, which may be null, or the other one once more. */
static void take_comm(arguments_t *arguments, MPI_Comm comm)
{
    if (MPI_COMM_NULL == comm || (0 < arguments->count && comm == arguments->comms[0])) {
        return;
    }
    if (ompi_comm_invalid(comm) || OMPI_COMM_IS_INTER(comm)) {
        note_mistake(arguments, MPIX_ENDPOINTS_ERR_COMM, MPI_ERR_COMM);
        return;
    }
#if OPAL_ENABLE_FT_MPI
    int code;

    if (!ompi_comm_iface_create_check(comm, &code)) {
        note_mistake(arguments, MPIX_ENDPOINTS_ERR_LOST, code);
    }
#endif
    arguments->comms[arguments->count++] = comm;
}

/** No PML has registered: say what to do.  Every member comes here, so nobody waits. */
static int not_selected(void)
{
    mpix_endpoints_show_help("not selected",
                             mca_pml_base_selected_component.pmlm_version.mca_component_name);
    return mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_NOT_SELECTED);
}

/** With one communicator at least that will do. */
static int comm_merge_valid(arguments_t *arguments, MPI_Comm *newcomm)
{
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();
    mpix_endpoints_error_t error = MPIX_ENDPOINTS_OK;
    int rc;

    if (NULL == table) {
        return not_selected();
    }
    if (NULL == newcomm) {
        note_mistake(arguments, MPIX_ENDPOINTS_ERR_ARG, MPI_ERR_ARG);
    } else if (!mpix_endpoints_hooks_in_force()) {
        mpix_endpoints_hooks_explain();
        note_mistake(arguments, MPIX_ENDPOINTS_ERR_RESOURCE,
                     mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_HOOKS));
    }
    rc = table->comm_merge(arguments->comms, arguments->count, arguments->error, newcomm, &error);
    if (MPIX_ENDPOINTS_OK != arguments->error) {
        return arguments->code;
    }
    if (OMPI_SUCCESS != rc) {
        return mpix_endpoints_error_code_of(error, rc);
    }
    return MPI_SUCCESS;
}

int mpix_endpoints_call_merge(MPI_Comm comm1, MPI_Comm comm2, MPI_Comm *newcomm)
{
    arguments_t arguments = {.count = 0};

    MCA_BTL_EP_HOLD_CANCEL();

    if (0 == ompi_instance_count) {
        return MPI_ERR_OTHER;
    }
    take_comm(&arguments, comm1);
    take_comm(&arguments, comm2);
    return 0 < arguments.count ? comm_merge_valid(&arguments, newcomm) : MPI_ERR_COMM;
}

int mpix_endpoints_call_merge_raise(MPI_Comm comm1, MPI_Comm comm2, int code)
{
    const bool has_begun = 0 != ompi_instance_count;

    if (has_begun && !ompi_comm_invalid(comm1)) {
        return OMPI_ERRHANDLER_INVOKE(comm1, code, function_name);
    }
    if (has_begun && !ompi_comm_invalid(comm2)) {
        return OMPI_ERRHANDLER_INVOKE(comm2, code, function_name);
    }
    return OMPI_ERRHANDLER_NOHANDLE_INVOKE(code, function_name);
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Comm_merge(MPI_Comm comm1, MPI_Comm comm2, MPI_Comm *newcomm)
{
    const int code = mpix_endpoints_call_merge(comm1, comm2, newcomm);

    return MPI_SUCCESS == code ? MPI_SUCCESS : mpix_endpoints_call_merge_raise(comm1, comm2, code);
}

MPIX_ENDPOINTS_EXPORT int MPIX_Comm_merge(MPI_Comm comm1, MPI_Comm comm2, MPI_Comm *newcomm)
    __attribute__((weak, alias("PMPIX_Comm_merge")));
