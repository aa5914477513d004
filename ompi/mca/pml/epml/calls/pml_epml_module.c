/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The PML's function table: calls on endpoint communicators go to the engine, all others to the
 * base PML.
 *
 * Each forwarder is one test of a flag in the communicator, which the callee reads anyway, and a
 * tail call.
 *
 * Tests: p2p_basic, p2p_basic (ordinary), p2p_errors, ulfm_spawn
 */

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_calls.h"
#include "pml_epml_device.h"
#include "pml_epml_dump.h"
#include "pml_epml_module.h"
#include "pml_epml_serve.h"

#include "ompi/constants.h"
#include "opal/mca/threads/mutex.h"

#define BASE(function) mca_pml_epml_component.base.pml_##function

static inline bool is_ours(const ompi_communicator_t *comm)
{
    return OPAL_UNLIKELY(mca_pml_epml_is_endpoint_comm(comm));
}

/** Pass the processes among procs on to a function that knows nothing of endpoints. */
static int pass_processes(int (*function)(ompi_proc_t **, size_t), ompi_proc_t **procs,
                          size_t nprocs)
{
    ompi_proc_t **processes;
    size_t count = 0;
    int rc;

    for (size_t i = 0; i < nprocs; ++i) {
        count += !mca_pml_epml_is_endpoint_name(&procs[i]->super.proc_name);
    }
    if (count == nprocs) {
        return function(procs, nprocs);
    }
    if (0 == count) {
        return OMPI_SUCCESS;
    }
    processes = malloc(count * sizeof(*processes));
    if (NULL == processes) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    count = 0;
    for (size_t i = 0; i < nprocs; ++i) {
        if (!mca_pml_epml_is_endpoint_name(&procs[i]->super.proc_name)) {
            processes[count++] = procs[i];
        }
    }
    rc = function(processes, count);
    free(processes);
    return rc;
}

/** The base PML would compare its own name with the peers' selected PML, which is epml: we compare,
 * it does not. */
static int add_processes(ompi_proc_t **procs, size_t nprocs)
{
    /* Threads that make intercommunicators add procs at the same time. */
    static opal_mutex_t check_lock = OPAL_MUTEX_STATIC_INIT;
    bool check;
    int rc;

    opal_mutex_lock(&check_lock);
    check = ompi_pml_base_check_pml;
    rc = mca_pml_base_pml_check_selected(
        mca_pml_epml_component.super.pmlm_version.mca_component_name, procs, nprocs);
    if (OMPI_SUCCESS == rc) {
        ompi_pml_base_check_pml = false;
        rc = BASE(add_procs)(procs, nprocs);
        ompi_pml_base_check_pml = check;
    }
    opal_mutex_unlock(&check_lock);
    return rc;
}

static int epml_add_procs(ompi_proc_t **procs, size_t nprocs)
{
    const int rc = pass_processes(add_processes, procs, nprocs);

    if (OMPI_SUCCESS == rc) {
        mca_pml_epml_serve_reserve(); /* MPI_Init has exchanged addresses before */
    }
    return rc;
}

static int epml_del_procs(ompi_proc_t **procs, size_t nprocs)
{
    return pass_processes(BASE(del_procs), procs, nprocs);
}

static int epml_add_comm(ompi_communicator_t *comm)
{
    return is_ours(comm) ? mca_pml_epml_call_add_comm(comm) : BASE(add_comm)(comm);
}

static int epml_del_comm(ompi_communicator_t *comm)
{
    return is_ours(comm) ? mca_pml_epml_call_del_comm(comm) : BASE(del_comm)(comm);
}

/** Has the base PML its state of an ordinary communicator?  libmpi keeps one that it is making, or
 * could not make, in its table. */
static bool has_base_state(const ompi_communicator_t *comm)
{
    return NULL != comm->c_pml_comm
           && (OMPI_COMM_IS_INTRA(comm)
               || (NULL != comm->c_local_comm && NULL != comm->c_local_comm->c_pml_comm));
}

static int epml_revoke_comm(ompi_communicator_t *comm, bool coll_only)
{
    if (is_ours(comm) || NULL == BASE(revoke_comm) || !has_base_state(comm)) {
        return OMPI_ERR_NOT_IMPLEMENTED;
    }
    return BASE(revoke_comm)(comm, coll_only);
}

static int epml_irecv_init(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                           ompi_communicator_t *comm, ompi_request_t **request)
{
    return (is_ours(comm) ? mca_pml_epml_call_irecv_init
                          : BASE(irecv_init))(buf, count, datatype, src, tag, comm, request);
}

static int epml_irecv(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                      ompi_communicator_t *comm, ompi_request_t **request)
{
    return (is_ours(comm) ? mca_pml_epml_call_irecv : BASE(irecv))(buf, count, datatype, src, tag,
                                                                   comm, request);
}

static int epml_recv(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                     ompi_communicator_t *comm, ompi_status_public_t *status)
{
    return (is_ours(comm) ? mca_pml_epml_call_recv : BASE(recv))(buf, count, datatype, src, tag,
                                                                 comm, status);
}

static int epml_isend_init(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                           int tag, mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                           ompi_request_t **request)
{
    return (is_ours(comm) ? mca_pml_epml_call_isend_init
                          : BASE(isend_init))(buf, count, datatype, dst, tag, mode, comm, request);
}

static int epml_isend(const void *buf, size_t count, ompi_datatype_t *datatype, int dst, int tag,
                      mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                      ompi_request_t **request)
{
    return (is_ours(comm) ? mca_pml_epml_call_isend : BASE(isend))(buf, count, datatype, dst, tag,
                                                                   mode, comm, request);
}

static int epml_send(const void *buf, size_t count, ompi_datatype_t *datatype, int dst, int tag,
                     mca_pml_base_send_mode_t mode, ompi_communicator_t *comm)
{
    return (is_ours(comm) ? mca_pml_epml_call_send : BASE(send))(buf, count, datatype, dst, tag,
                                                                 mode, comm);
}

static int epml_iprobe(int src, int tag, ompi_communicator_t *comm, int *matched,
                       ompi_status_public_t *status)
{
    return (is_ours(comm) ? mca_pml_epml_call_iprobe : BASE(iprobe))(src, tag, comm, matched,
                                                                     status);
}

static int epml_probe(int src, int tag, ompi_communicator_t *comm, ompi_status_public_t *status)
{
    return (is_ours(comm) ? mca_pml_epml_call_probe : BASE(probe))(src, tag, comm, status);
}

static int epml_improbe(int src, int tag, ompi_communicator_t *comm, int *matched,
                        ompi_message_t **message, ompi_status_public_t *status)
{
    return (is_ours(comm) ? mca_pml_epml_call_improbe : BASE(improbe))(src, tag, comm, matched,
                                                                       message, status);
}

static int epml_mprobe(int src, int tag, ompi_communicator_t *comm, ompi_message_t **message,
                       ompi_status_public_t *status)
{
    return (is_ours(comm) ? mca_pml_epml_call_mprobe : BASE(mprobe))(src, tag, comm, message,
                                                                     status);
}

static int epml_imrecv(void *buf, size_t count, ompi_datatype_t *datatype, ompi_message_t **message,
                       ompi_request_t **request)
{
    return (is_ours((*message)->comm) ? mca_pml_epml_call_imrecv
                                      : BASE(imrecv))(buf, count, datatype, message, request);
}

static int epml_mrecv(void *buf, size_t count, ompi_datatype_t *datatype, ompi_message_t **message,
                      ompi_status_public_t *status)
{
    return (is_ours((*message)->comm) ? mca_pml_epml_call_mrecv : BASE(mrecv))(buf, count, datatype,
                                                                               message, status);
}

/** MPI_Startall's lists may mix both kinds, in any order; starting one by one keeps the order. */
static int epml_start(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; ++i) {
        int rc = OMPI_SUCCESS;

        if (NULL == requests[i]) {
            continue;
        }
        rc = mca_pml_epml_is_request(requests[i]) ? mca_pml_epml_call_start(requests[i])
                                                  : BASE(start)(1, &requests[i]);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    return OMPI_SUCCESS;
}

static int epml_dump(ompi_communicator_t *comm, int verbose)
{
    return (is_ours(comm) ? mca_pml_epml_call_dump : BASE(dump))(comm, verbose);
}

static int epml_enable(bool enable)
{
    if (enable) {
        /* Now, and not at the first creation: a process without endpoints may be on the other side
         * of an MPI_Intercomm_create.  If they are not, the first creation says so. */
        (void) mpix_endpoints_hooks_in_force();
    }
    return NULL == BASE(enable) ? OMPI_SUCCESS : BASE(enable)(enable);
}

static mca_pml_transports_t *epml_get_transports(ompi_communicator_t *comm, int rank)
{
    if (is_ours(comm) || NULL == BASE(get_transports)) {
        return NULL;
    }
    return BASE(get_transports)(comm, rank);
}

mca_pml_base_module_t *mca_pml_epml_module_init(void)
{
    static mca_pml_base_module_t module;

    module = (mca_pml_base_module_t){
        .pml_add_procs = epml_add_procs,
        .pml_del_procs = epml_del_procs,
        .pml_enable = epml_enable,
        .pml_progress = mca_pml_epml_component.base.pml_progress,
        .pml_add_comm = epml_add_comm,
        .pml_del_comm = epml_del_comm,
        .pml_revoke_comm = epml_revoke_comm,
        .pml_irecv_init = epml_irecv_init,
        .pml_irecv = epml_irecv,
        .pml_recv = epml_recv,
        .pml_isend_init = epml_isend_init,
        .pml_isend = epml_isend,
        .pml_send = epml_send,
        .pml_iprobe = epml_iprobe,
        .pml_probe = epml_probe,
        .pml_start = epml_start,
        .pml_improbe = epml_improbe,
        .pml_mprobe = epml_mprobe,
        .pml_imrecv = epml_imrecv,
        .pml_mrecv = epml_mrecv,
        .pml_dump = epml_dump,
        .pml_max_contextid = mca_pml_epml_component.base.pml_max_contextid,
        .pml_max_tag = mca_pml_epml_component.base.pml_max_tag,
        .pml_flags = mca_pml_epml_component.base.pml_flags,
        .pml_get_transports = epml_get_transports,
    };
    mca_pml_epml_device_install(&module);
    return &module;
}
