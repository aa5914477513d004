/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The calls of partitioned communication: ours stand before those of the module that Open MPI
 * selected, which gets all that is about ordinary communicators.
 *
 * Tests: part (ordinary), part_requests, part_life, device
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../proto/proto.h"
#include "../object/object.h"
#include "pml_epml_device.h"

#include <limits.h>

#include "ompi/constants.h"
#include "ompi/mca/part/part.h"

static mca_part_base_module_t original;

/** Open MPI's module.  A thread may have come here by the replaced table, which it has read like
 * any other memory. */
static inline const mca_part_base_module_t *libmpi_part(void)
{
    /* Acquire: that look before ours at the originals; partner: the releases in
     * mca_pml_epml_ipart_install. */
    atomic_thread_fence(memory_order_acquire);
    return &original;
}

/** libmpi hands the arguments on unchecked.  @return MPI_SUCCESS, or the class of the error */
static int ipart_check(size_t partitions, size_t count, const ompi_datatype_t *datatype, int peer,
                       int tag, const mca_pml_epml_comm_t *comm)
{
    size_t elements, bytes;

    if (INT_MAX < partitions) {
        return MPI_ERR_ARG;
    }
    if (NULL == datatype || MPI_DATATYPE_NULL == datatype
        || !opal_datatype_is_committed(&datatype->super)) {
        return MPI_ERR_TYPE;
    }
    if (PTRDIFF_MAX < count || __builtin_mul_overflow(partitions, count, &elements)
        || __builtin_mul_overflow(elements, datatype->super.size, &bytes) || PTRDIFF_MAX < bytes) {
        return MPI_ERR_COUNT;
    }
    if (MPI_PROC_NULL != peer && (0 > peer || peer >= comm->peers->count)) {
        return MPI_ERR_RANK;
    }
    if (0 > tag || tag > mca_pml.pml_max_tag) {
        return MPI_ERR_TAG;
    }
    return MPI_SUCCESS;
}

/** @param[in] is_device  buf is in device memory */
static int part_init(const mca_pml_epml_request_ops_t *ops, const void *buf, size_t partitions,
                     size_t count, ompi_datatype_t *datatype, int peer, int tag, bool is_device,
                     ompi_communicator_t *ompi_comm, ompi_request_t **ompi_request)
{
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm(ompi_comm);
    mca_pml_epml_request_t *request;
    mca_pml_epml_part_t *part;
    int rc = ipart_check(partitions, count, datatype, peer, tag, comm);

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    part = mca_pml_epml_part_new(ops, partitions);
    if (NULL == part) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    request = &part->super;
    OMPI_REQUEST_INIT(&request->req_ompi, true);
    request->req_ompi.req_mpi_object.comm = ompi_comm;
    request->ep = comm->ep;
    request->comm = comm;
    request->ops = ops;
    request->extras = true;
    request->rank = peer;
    request->tag = tag;
    atomic_store_explicit(&request->done, true, memory_order_relaxed);
    mca_pml_epml_request_set_data(request, buf, partitions * count, datatype);
    part->partition_size = count * datatype->super.size;

    mca_pml_epml_lock(comm->ep);
    rc = is_device ? mca_pml_epml_request_by_accelerator(request) : OMPI_SUCCESS;
    if (OMPI_SUCCESS == rc) {
        rc = ops->sends ? mca_pml_epml_part_send_init(part) : mca_pml_epml_part_recv_init(part);
    }
    if (OMPI_SUCCESS == rc) {
        mca_pml_epml_request_count(request);
        *ompi_request = &request->req_ompi;
    } else {
        mca_pml_epml_part_destroy(part);
        rc = mca_pml_epml_mpi_error(rc);
    }
    mca_pml_epml_unlock(comm->ep);
    return rc;
}

static int part_psend_init(const void *buf, size_t partitions, size_t count,
                           ompi_datatype_t *datatype, int dst, int tag, ompi_communicator_t *comm,
                           struct ompi_info_t *info, ompi_request_t **request)
{
    if (!mca_pml_epml_is_endpoint_comm(comm)) {
        return libmpi_part()->part_psend_init(buf, partitions, count, datatype, dst, tag, comm,
                                              info, request);
    }
    return part_init(&mca_pml_epml_psend_ops, buf, partitions, count, datatype, dst, tag, false,
                     comm, request);
}

static int part_precv_init(void *buf, size_t partitions, size_t count, ompi_datatype_t *datatype,
                           int src, int tag, ompi_communicator_t *comm, struct ompi_info_t *info,
                           ompi_request_t **request)
{
    if (!mca_pml_epml_is_endpoint_comm(comm)) {
        return libmpi_part()->part_precv_init(buf, partitions, count, datatype, src, tag, comm,
                                              info, request);
    }
    return part_init(&mca_pml_epml_precv_ops, buf, partitions, count, datatype, src, tag, false,
                     comm, request);
}

/* Likewise, where there is an accelerator: a request to nobody touches no buffer. */

static bool is_device(const void *buf, size_t partitions, size_t count, ompi_datatype_t *datatype,
                      int peer, int tag, ompi_communicator_t *comm)
{
    return mca_pml_epml_is_endpoint_comm(comm) && MPI_PROC_NULL != peer
           && MPI_SUCCESS
                  == ipart_check(partitions, count, datatype, peer, tag, mca_pml_epml_comm(comm))
           && mca_pml_epml_device_is(comm, buf, partitions * count, datatype);
}

static int checked_psend_init(const void *buf, size_t partitions, size_t count,
                              ompi_datatype_t *datatype, int dst, int tag,
                              ompi_communicator_t *comm, struct ompi_info_t *info,
                              ompi_request_t **request)
{
    return is_device(buf, partitions, count, datatype, dst, tag, comm)
               ? part_init(&mca_pml_epml_psend_ops, buf, partitions, count, datatype, dst, tag,
                           true, comm, request)
               : part_psend_init(buf, partitions, count, datatype, dst, tag, comm, info, request);
}

static int checked_precv_init(void *buf, size_t partitions, size_t count, ompi_datatype_t *datatype,
                              int src, int tag, ompi_communicator_t *comm, struct ompi_info_t *info,
                              ompi_request_t **request)
{
    return is_device(buf, partitions, count, datatype, src, tag, comm)
               ? part_init(&mca_pml_epml_precv_ops, buf, partitions, count, datatype, src, tag,
                           true, comm, request)
               : part_precv_init(buf, partitions, count, datatype, src, tag, comm, info, request);
}

/** Do partitions first to last exist?  libmpi turns negative numbers into very large ones. */
static bool ipart_exist(const mca_pml_epml_part_t *part, size_t first, size_t last)
{
    return first <= last && last < part->partitions;
}

static inline bool is_our_part(const ompi_request_t *request)
{
    return mca_pml_epml_is_request(request)
           && mca_pml_epml_is_part((const mca_pml_epml_request_t *) request);
}

static int part_pready(size_t first, size_t last, ompi_request_t *request)
{
    mca_pml_epml_part_t *part = (mca_pml_epml_part_t *) request;
    mca_pml_epml_ep_t *ep;
    int rc;

    if (!is_our_part(request)) {
        return libmpi_part()->part_pready(first, last, request);
    }
    if (&mca_pml_epml_psend_ops != part->super.ops || OMPI_REQUEST_ACTIVE != request->req_state) {
        return MPI_ERR_REQUEST;
    }
    if (!ipart_exist(part, first, last)) {
        return MPI_ERR_ARG;
    }
    ep = part->super.ep;
    mca_pml_epml_lock(ep);
    rc = mca_pml_epml_part_send_ready(part, (uint32_t) first, (uint32_t) last);
    if (part->ready_first < part->ready_last
        && (atomic_load_explicit(&ep->signs.busy, memory_order_relaxed)
            || ep->transports.shm->ep_pending(ep->transports.shm))) {
        /* Perhaps the receiver's start is here already.  Not after the lock: the request may be
         * complete then, and freed by another thread, and with it the endpoint. */
        (void) mca_pml_epml_ep_progress_locked(ep);
    }
    mca_pml_epml_unlock(ep);
    return rc;
}

static int part_parrived(size_t first, size_t last, int *flag, ompi_request_t *request)
{
    mca_pml_epml_part_t *part = (mca_pml_epml_part_t *) request;

    if (!is_our_part(request)) {
        return libmpi_part()->part_parrived(first, last, flag, request);
    }
    if (&mca_pml_epml_precv_ops != part->super.ops) {
        return MPI_ERR_REQUEST;
    }
    if (!ipart_exist(part, first, last)) {
        return MPI_ERR_ARG;
    }
    *flag = OMPI_REQUEST_INACTIVE == request->req_state
            || mca_pml_epml_part_recv_arrived(part, first, last);
    for (int events = 1, calls = 0; !*flag && 0 < events && calls < EPML_TEST_CALLS; ++calls) {
        events = mca_pml_epml_ep_poll_patiently(part->super.ep);
        *flag = mca_pml_epml_part_recv_arrived(part, first, last);
    }
    if (!*flag) {
        (void) mca_pml_epml_tested(false);
    }
    return OMPI_SUCCESS;
}

/** As for the waiting functions.  Release pairs with the acquire in libmpi_part(). */
#define INSTALL(name, function) __atomic_store_n(&mca_part.name, function, __ATOMIC_RELEASE)

/* The first endpoint is being created, there is no request of ours yet, and either function serves
 * the others.  The module's progress function, by whose address Open MPI unregisters it, stays as
 * it is. */
void mca_pml_epml_ipart_install(void)
{
    const bool checks = NULL != mca_pml_epml_device_accelerator();

    original = mca_part;
    INSTALL(part_psend_init, checks ? checked_psend_init : part_psend_init);
    INSTALL(part_precv_init, checks ? checked_precv_init : part_precv_init);
    INSTALL(part_pready, part_pready);
    INSTALL(part_parrived, part_parrived);
}

void mca_pml_epml_ipart_remove(void)
{
    if (part_pready != mca_part.part_pready) {
        return; /* Open MPI has selected anew */
    }
    mca_part.part_psend_init = original.part_psend_init;
    mca_part.part_precv_init = original.part_precv_init;
    mca_part.part_pready = original.part_pready;
    mca_part.part_parrived = original.part_parrived;
}
