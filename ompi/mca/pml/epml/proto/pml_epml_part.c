/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Partitioned requests: their life, and what both directions have in common.
 *
 * Tests: part_life, part_requests
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_part.h"

#include "ompi/constants.h"

static int part_cancel(ompi_request_t *request, int flag);

static void part_construct(mca_pml_epml_part_t *part)
{
    memset((char *) part + sizeof(part->super), 0, sizeof(*part) - sizeof(part->super));
    part->super.req_ompi.req_type = OMPI_REQUEST_PART;
    part->super.req_ompi.req_cancel = part_cancel;
}

static void part_destruct(mca_pml_epml_part_t *part)
{
    free(part->is_ready);
    free(part->ready);
    free(part->left);
}

OBJ_CLASS_INSTANCE(mca_pml_epml_part_t, mca_pml_epml_request_t, part_construct, part_destruct);

mca_pml_epml_part_t *mca_pml_epml_part_new(const mca_pml_epml_request_ops_t *ops, size_t partitions)
{
    mca_pml_epml_part_t *part = OBJ_NEW(mca_pml_epml_part_t);
    const size_t room = 0 < partitions ? partitions : 1;

    if (NULL == part) {
        return NULL;
    }
    part->partitions = partitions;
    if (ops->sends) {
        part->is_ready = calloc(room, sizeof(*part->is_ready));
        part->ready = malloc(room * sizeof(*part->ready));
    } else {
        part->left = calloc(room, sizeof(*part->left));
    }
    if (ops->sends ? NULL == part->is_ready || NULL == part->ready : NULL == part->left) {
        OBJ_RELEASE(part);
        return NULL;
    }
    return part;
}

void mca_pml_epml_part_done(mca_pml_epml_part_t *part)
{
    part->super.req_ompi.req_status.MPI_ERROR = part->error;
    mca_pml_epml_request_done(&part->super);
}

bool mca_pml_epml_part_register(mca_pml_epml_part_t *part, mca_btl_ep_module_t *module,
                                struct mca_btl_base_endpoint_t *connection, uint32_t flags)
{
    mca_pml_epml_request_t *request = &part->super;

    if (NULL == module->super.btl_register_mem) {
        return true;
    }
    if (NULL == request->local_handle) {
        request->local_handle = module->super.btl_register_mem(&module->super, connection,
                                                               request->base, request->size, flags);
        request->handle_module = module;
    }
    return NULL != request->local_handle;
}

void mca_pml_epml_part_destroy(mca_pml_epml_part_t *part)
{
    mca_pml_epml_request_t *request = &part->super;

    mca_pml_epml_request_forget_handle(request);
    mca_pml_epml_request_id_drop(request);
    if (request->convertor_set) {
        (void) opal_convertor_cleanup(&request->convertor);
    }
    if (mca_pml_epml_request_put_type(request)) {
        OMPI_REQUEST_FINI(&request->req_ompi);
        OBJ_RELEASE(part);
    }
}

void mca_pml_epml_part_put(mca_pml_epml_request_t *request)
{
    mca_pml_epml_part_t *part = (mca_pml_epml_part_t *) request;

    if (NULL == request->posted.queue) {
        mca_pml_epml_part_destroy(part);
    } else {
        /* Its send has not come yet.  Receives and sends are matched in the order of their inits:
         * it stays to take that one, or until its communicator goes. */
        request->free_called = true;
        part->next_ghost = request->comm->ghosts;
        request->comm->ghosts = part;
    }
}

void mca_pml_epml_part_del_comm(mca_pml_epml_comm_t *comm)
{
    epml_match_unexpected_t *message;

    while (NULL != comm->ghosts) {
        mca_pml_epml_part_t *ghost = comm->ghosts;

        comm->ghosts = ghost->next_ghost;
        epml_match_unpost(&comm->ep->match, &ghost->super.posted);
        mca_pml_epml_part_destroy(ghost);
    }
    while (NULL
           != (message = epml_match_some_of_context(&comm->ep->match,
                                                    comm->context | EPML_PART_CONTEXT))) {
        epml_match_remove(&comm->ep->match, message);
        mca_pml_epml_unexpected_free(comm->ep, (mca_pml_epml_unexpected_t *) message);
    }
}

/** MPI knows no cancelling of partitioned operations. */
static int part_cancel(ompi_request_t *request, int flag)
{
    (void) request;
    (void) flag;
    return MPI_ERR_REQUEST;
}

void mca_pml_epml_part_activate(mca_pml_epml_part_t *part)
{
    mca_pml_epml_request_activate(&part->super);
    part->error = MPI_SUCCESS;
    ++part->round;
}
