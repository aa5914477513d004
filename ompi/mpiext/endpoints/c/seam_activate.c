/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Putting a new communicator to use, the blocking form: its members set it up, and wait for each
 * other, because nobody may send on a communicator that somebody has not set up.
 *
 * libmpi does that by a request, whose steps are run by process-wide progress: all waiting threads
 * of a process walk through the requests of all of them, one at a time.  Here plain messages along
 * a tree do it, for which a thread waits on its own endpoint alone.
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_cid.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_compat.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_internal.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_seams.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

#if MPIX_ENDPOINTS_PLAIN_ACTIVATION

/** The word that goes up and down the tree: has anybody failed? */
static int word_recv(ompi_communicator_t *newcomm, ompi_communicator_t *comm, int rank, int tag,
                     int *failed)
{
    int from = mpix_endpoints_cid_comm_rank(newcomm, comm, rank);

    return 0 > from ? MPI_ERR_GROUP
                    : MCA_PML_CALL(recv(failed, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE));
}

static int word_send(ompi_communicator_t *newcomm, ompi_communicator_t *comm, int rank, int tag,
                     const int *failed)
{
    int to = mpix_endpoints_cid_comm_rank(newcomm, comm, rank);

    return 0 > to ? MPI_ERR_GROUP
                  : MCA_PML_CALL(send(failed, 1, MPI_INT, to, tag, MCA_PML_BASE_SEND_STANDARD,
                                      comm));
}

/** The members of newcomm meet: up a binomial tree of messages on comm, and down again.
 *
 * @return own rc if that is an error, otherwise an error if another member had one */
static int meet(ompi_communicator_t *newcomm, ompi_communicator_t *comm, int tag, int rc)
{
    const int rank = newcomm->c_local_group->grp_my_rank;
    const int size = newcomm->c_local_group->grp_proc_count;
    int failed = OMPI_SUCCESS != rc, bit;

    /* The lowest bit of a rank leads to its parent; the bits below that one, to its children. */
    for (bit = 1; bit < size && 0 == (rank & bit); bit <<= 1) {
        if (rank + bit < size) {
            int theirs = 1;

            if (OMPI_SUCCESS != word_recv(newcomm, comm, rank + bit, tag, &theirs)) {
                theirs = 1;
            }
            failed |= theirs;
        }
    }
    if (0 != rank) {
        int up_failed = OMPI_SUCCESS != word_send(newcomm, comm, rank - bit, tag, &failed);

        if (OMPI_SUCCESS != word_recv(newcomm, comm, rank - bit, tag, &failed) || up_failed) {
            failed = 1;
        }
    }
    for (bit >>= 1; 0 < bit; bit >>= 1) {
        if (rank + bit < size
            && OMPI_SUCCESS != word_send(newcomm, comm, rank + bit, tag, &failed)) {
            rc = OMPI_SUCCESS == rc ? OMPI_ERROR : rc;
        }
    }
    return OMPI_SUCCESS == rc && 0 != failed ? OMPI_ERROR : rc;
}

/** What libmpi's activation does for a member of an intracommunicator. */
static int activate_intra(ompi_communicator_t **newcomm_p, ompi_communicator_t *comm, int tag)
{
    ompi_communicator_t *newcomm = *newcomm_p;
    int rc = meet(newcomm, comm, tag, MCA_PML_CALL(add_comm(newcomm)));

    if (OMPI_SUCCESS == rc) {
        rc = mca_coll_base_comm_select(newcomm);
    }
    if (OMPI_SUCCESS != rc) {
        OBJ_RELEASE(newcomm);
        *newcomm_p = mpix_endpoints_cid_null();
    }
    return rc;
}

static int activation_tag(const ompi_communicator_t *newcomm)
{
    return mpix_endpoints_cid_tag(MPIX_ENDPOINTS_CID_ACTIVATE,
                                  mpix_endpoints_notes_context(newcomm));
}

void mpix_endpoints_activation_cancel(ompi_communicator_t *newcomm, ompi_communicator_t *comm,
                                      const int *tag, int rc)
{
    if (OMPI_SUCCESS != rc && MPI_ERR_GROUP != rc && mpix_endpoints_cid_participates(newcomm)) {
        (void) meet(newcomm, comm, NULL != tag ? *tag : activation_tag(newcomm), rc);
    }
}

#else

void mpix_endpoints_activation_cancel(ompi_communicator_t *newcomm, ompi_communicator_t *comm,
                                      const int *tag, int rc)
{
    /* libmpi's activation has no way to say no. */
    (void) newcomm;
    (void) comm;
    (void) tag;
    (void) rc;
}

#endif /* MPIX_ENDPOINTS_PLAIN_ACTIVATION */

/** The other modes, and where activation is more than that: through the nonblocking form.  libmpi's
 * own blocking one would park this thread behind the process's progress; this way of waiting can be
 * replaced, and pml/epml has replaced it. */
static int activate_by_request(ompi_communicator_t **newcomm, ompi_communicator_t *comm,
                               ompi_communicator_t *bridgecomm, const void *arg0,
                               const void *arg1, bool send_first, int mode)
{
    ompi_request_t *request;
    int rc = MPIX_ENDPOINTS_OWN(ompi_comm_activate_nb)(newcomm, comm, bridgecomm, arg0, arg1,
                                                       send_first, mode, &request);

    return OMPI_SUCCESS == rc ? ompi_request_wait(&request, MPI_STATUS_IGNORE) : rc;
}

MPIX_ENDPOINTS_EXPORT int ompi_comm_activate(ompi_communicator_t **newcomm,
                                             ompi_communicator_t *comm,
                                             ompi_communicator_t *bridgecomm, const void *arg0,
                                             const void *arg1, bool send_first, int mode)
{
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_activate)(newcomm, comm, bridgecomm, arg0, arg1,
                                                           send_first, mode);
    }
#if MPIX_ENDPOINTS_PLAIN_ACTIVATION
    if (OMPI_COMM_CID_GROUP == mode) {
        return activate_intra(newcomm, comm, *(const int *) arg0);
    }
    if (OMPI_COMM_CID_INTRA == mode) {
        return mpix_endpoints_cid_participates(*newcomm)
                   ? activate_intra(newcomm, comm, activation_tag(*newcomm))
                   : OMPI_SUCCESS; /* nothing to activate, and nobody to wait for */
    }
#endif
    return activate_by_request(newcomm, comm, bridgecomm, arg0, arg1, send_first, mode);
}
MPIX_ENDPOINTS_SEAM_DEFINED(ompi_comm_activate);
