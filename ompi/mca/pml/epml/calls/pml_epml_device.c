/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Device memory in messages on endpoint communicators: which calls have some, and their requests.
 *
 * Where an accelerator component has been selected, the module's functions that take a buffer are
 * replaced by those below, once.  They check, and go on to the ones that were there.  Ordinary
 * communicators are not checked: the base PML knows device memory.
 *
 * A call with a buffer in device memory becomes a persistent request, whose data are left to the
 * accelerator before it is started.  Where the call is not MPI_Send_init or its like, the request is
 * made one that is not persistent then.
 *
 * Tests: device, device_coll
 */

#include "ompi_config.h"

#include <string.h>

#include "../proto/proto.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_calls.h"
#include "pml_epml_device.h"

#include "opal/mca/accelerator/accelerator.h"
#include "opal/mca/accelerator/base/base.h"

const char *mca_pml_epml_device_accelerator(void)
{
    const char *name = opal_accelerator_base_selected_component.base_version.mca_component_name;

    return '\0' == name[0] || 0 == strcmp("null", name) ? NULL : name;
}

/** Is it memory of a device, which the CPU cannot access? */
static bool is_device_address(const char *address)
{
    int device;
    uint64_t flags = 0;

    return 0 < opal_accelerator.check_addr(address, &device, &flags)
           && 0 == (flags & MCA_ACCELERATOR_FLAGS_UNIFIED_MEMORY);
}

/* Info mpi_assert_memory_alloc_kinds sets the assertion. */
bool mca_pml_epml_device_is(const ompi_communicator_t *comm, const void *buffer, size_t count,
                            const ompi_datatype_t *datatype)
{
    const opal_datatype_t *type = &datatype->super;
    const char *first, *last;

#if defined(OMPI_COMM_CHECK_ASSERT_NO_ACCEL_BUF)
    if (OMPI_COMM_CHECK_ASSERT_NO_ACCEL_BUF(comm)) {
        return false;
    }
#else
    (void) comm;
#endif
    if (0 == count || 0 == type->size) {
        return false;
    }
    first = (const char *) ((uintptr_t) buffer + (uintptr_t) type->true_lb);
    last = (const char *) ((uintptr_t) buffer + (count - 1) * (uintptr_t) (type->ub - type->lb)
                           + (uintptr_t) type->true_ub - 1);
    return is_device_address(first) || (first != last && is_device_address(last));
}

int mca_pml_epml_device_refuse(const ompi_communicator_t *comm, const char *what)
{
    static _Atomic bool said = false;

    /* Relaxed: nothing is read by it. */
    if (!atomic_exchange_explicit(&said, true, memory_order_relaxed)) {
        EPML_SHOW_HELP("device memory", true, what, comm->c_name,
                       mca_pml_epml_device_accelerator());
    }
    return MPI_ERR_BUFFER;
}

/* ---- the module's functions ------------------------------------------------------------------ */

/** What was there.  Written in MPI_Init, before any call. */
static mca_pml_base_module_t unchecked;

/** Are a message's data in device memory? */
static inline bool is_device(const ompi_communicator_t *comm, const void *buffer, size_t count,
                             const ompi_datatype_t *datatype)
{
    return mca_pml_epml_is_endpoint_comm(comm)
           && mca_pml_epml_device_is(comm, buffer, count, datatype);
}

/** Leave the data of an inactive request to the accelerator.
 * @param[in]     rc       of what has made it
 * @param[in,out] request  MPI_REQUEST_NULL after an error */
static int leave_to_accelerator(int rc, ompi_request_t **request)
{
    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_request_by_accelerator((mca_pml_epml_request_t *) *request);
        if (OMPI_SUCCESS != rc) {
            (void) ompi_request_free(request);
        }
    }
    return rc;
}

/** Start an inactive request, which from now on is one of a call that is not persistent. */
static int start_once(int rc, ompi_request_t **request)
{
    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_call_start(*request);
        (*request)->req_persistent = false;
        if (OMPI_SUCCESS != rc) {
            (void) ompi_request_free(request);
        }
    }
    return rc;
}

/** The end of a blocking call. */
static int wait_once(int rc, ompi_request_t *request, ompi_status_public_t *status)
{
    if (OMPI_SUCCESS == rc) {
        rc = ompi_request_wait(&request, status);
        if (MPI_REQUEST_NULL != request) {
            (void) ompi_request_free(&request); /* an error leaves it to the caller */
        }
    }
    return rc;
}

static int device_irecv_init(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                             ompi_communicator_t *comm, ompi_request_t **request)
{
    return leave_to_accelerator(mca_pml_epml_call_irecv_init(buf, count, datatype, src, tag, comm,
                                                             request),
                                request);
}

int mca_pml_epml_device_irecv(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                              ompi_communicator_t *comm, ompi_request_t **request)
{
    return start_once(device_irecv_init(buf, count, datatype, src, tag, comm, request), request);
}

static int device_recv(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                       ompi_communicator_t *comm, ompi_status_public_t *status)
{
    ompi_request_t *request = MPI_REQUEST_NULL;
    const int rc = mca_pml_epml_device_irecv(buf, count, datatype, src, tag, comm, &request);

    return wait_once(rc, request, status);
}

static int device_isend_init(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                             int tag, mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                             ompi_request_t **request)
{
    return leave_to_accelerator(mca_pml_epml_call_isend_init(buf, count, datatype, dst, tag, mode,
                                                             comm, request),
                                request);
}

int mca_pml_epml_device_isend(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                              int tag, mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                              ompi_request_t **request)
{
    return start_once(device_isend_init(buf, count, datatype, dst, tag, mode, comm, request),
                      request);
}

static int device_send(const void *buf, size_t count, ompi_datatype_t *datatype, int dst, int tag,
                       mca_pml_base_send_mode_t mode, ompi_communicator_t *comm)
{
    ompi_request_t *request = MPI_REQUEST_NULL;
    const int rc = mca_pml_epml_device_isend(buf, count, datatype, dst, tag, mode, comm, &request);

    return wait_once(rc, request, MPI_STATUS_IGNORE);
}

static int checked_irecv_init(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                              ompi_communicator_t *comm, ompi_request_t **request)
{
    return (is_device(comm, buf, count, datatype)
                ? device_irecv_init
                : unchecked.pml_irecv_init)(buf, count, datatype, src, tag, comm, request);
}

static int checked_irecv(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                         ompi_communicator_t *comm, ompi_request_t **request)
{
    return (is_device(comm, buf, count, datatype)
                ? mca_pml_epml_device_irecv
                : unchecked.pml_irecv)(buf, count, datatype, src, tag, comm, request);
}

static int checked_recv(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                        ompi_communicator_t *comm, ompi_status_public_t *status)
{
    return (is_device(comm, buf, count, datatype)
                ? device_recv
                : unchecked.pml_recv)(buf, count, datatype, src, tag, comm, status);
}

static int checked_isend_init(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                              int tag, mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                              ompi_request_t **request)
{
    return (is_device(comm, buf, count, datatype)
                ? device_isend_init
                : unchecked.pml_isend_init)(buf, count, datatype, dst, tag, mode, comm, request);
}

static int checked_isend(const void *buf, size_t count, ompi_datatype_t *datatype, int dst, int tag,
                         mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                         ompi_request_t **request)
{
    return (is_device(comm, buf, count, datatype)
                ? mca_pml_epml_device_isend
                : unchecked.pml_isend)(buf, count, datatype, dst, tag, mode, comm, request);
}

static int checked_send(const void *buf, size_t count, ompi_datatype_t *datatype, int dst, int tag,
                        mca_pml_base_send_mode_t mode, ompi_communicator_t *comm)
{
    return (is_device(comm, buf, count, datatype)
                ? device_send
                : unchecked.pml_send)(buf, count, datatype, dst, tag, mode, comm);
}

static int checked_imrecv(void *buf, size_t count, ompi_datatype_t *datatype,
                          ompi_message_t **message, ompi_request_t **request)
{
    return is_device((*message)->comm, buf, count, datatype)
               ? mca_pml_epml_call_imrecv_in(buf, count, datatype, true, message, request)
               : unchecked.pml_imrecv(buf, count, datatype, message, request);
}

static int checked_mrecv(void *buf, size_t count, ompi_datatype_t *datatype,
                         ompi_message_t **message, ompi_status_public_t *status)
{
    ompi_request_t *request = MPI_REQUEST_NULL;
    int rc;

    if (!is_device((*message)->comm, buf, count, datatype)) {
        return unchecked.pml_mrecv(buf, count, datatype, message, status);
    }
    rc = mca_pml_epml_call_imrecv_in(buf, count, datatype, true, message, &request);
    return wait_once(rc, request, status);
}

void mca_pml_epml_device_install(mca_pml_base_module_t *module)
{
    if (NULL == mca_pml_epml_device_accelerator()) {
        return;
    }
    unchecked = *module;
    module->pml_irecv_init = checked_irecv_init;
    module->pml_irecv = checked_irecv;
    module->pml_recv = checked_recv;
    module->pml_isend_init = checked_isend_init;
    module->pml_isend = checked_isend;
    module->pml_send = checked_send;
    module->pml_imrecv = checked_imrecv;
    module->pml_mrecv = checked_mrecv;
}
