/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Where the series of Open MPI that we build against differ for pml/epml: 5.0, and from 6.0 on.
 */

#ifndef MCA_PML_EPML_COMPAT_H
#define MCA_PML_EPML_COMPAT_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"
#include "ompi/mca/pml/base/pml_base_bsend.h"
#include "opal/mca/base/mca_base_framework.h"
#if OMPI_MAJOR_VERSION >= 6
#    include "ompi/runtime/ompi_mpit_events.h"
#    include "ompi/util/count_disp_array.h"
#endif

BEGIN_C_DECLS

/** Counts and displacements (arrays of int) as collective modules take them. */
#if OMPI_MAJOR_VERSION >= 6
#    define EPML_COMPAT_COUNTS(array) OMPI_COUNT_ARRAY_CREATE(array)
#    define EPML_COMPAT_DISPS(array) OMPI_DISP_ARRAY_CREATE(array)
#else
#    define EPML_COMPAT_COUNTS(array) (array)
#    define EPML_COMPAT_DISPS(array) (array)
#endif

/** A component of a framework that is linked in, by number.  NULL: there are no more */
static inline const mca_base_component_t *
mca_pml_epml_compat_linked(const mca_base_framework_t *framework, int number)
{
    if (NULL == framework->framework_static_components) {
        return NULL;
    }
#if OMPI_MAJOR_VERSION >= 6
    return NULL == framework->framework_static_components[number]
               ? NULL
               : *framework->framework_static_components[number];
#else
    return framework->framework_static_components[number];
#endif
}

/** Has comm a buffer of its own, which comes before one of its endpoint?  From 6.0 on. */
static inline bool mca_pml_epml_compat_bsend_of_comm(ompi_communicator_t *comm)
{
#if OMPI_MAJOR_VERSION >= 6
    return NULL != ompi_comm_bsend_buffer_get(comm);
#else
    (void) comm;
    return false;
#endif
}

/** Room in the attached buffer that serves comm.  @return NULL if there is none at present */
static inline void *mca_pml_epml_compat_bsend_alloc(ompi_communicator_t *comm, size_t size)
{
#if OMPI_MAJOR_VERSION >= 6
    return mca_pml_base_bsend_request_alloc_buf(comm, size);
#else
    (void) comm;
    return mca_pml_base_bsend_request_alloc_buf(size);
#endif
}

static inline void mca_pml_epml_compat_bsend_free(ompi_communicator_t *comm, void *room)
{
#if OMPI_MAJOR_VERSION >= 6
    (void) mca_pml_base_bsend_request_free(comm, room);
#else
    (void) comm;
    (void) mca_pml_base_bsend_request_free(room);
#endif
}

/** May there be an attached buffer?  @return false only if there is certainly none */
static inline bool mca_pml_epml_compat_bsend_attached(void)
{
#if OMPI_MAJOR_VERSION >= 6
    return true;
#else
    return NULL != mca_pml_bsend_addr;
#endif
}

/**
 * What the activation of an intracommunicator is, besides pml_add_comm, a barrier and the choice of
 * its collectives: from 6.0 on members note whether any two of them share a node, and tools are
 * notified.  The first is what a member knows by itself, the second is for when all have met.
 *
 * @param[in] shares  any member's answer to the first
 */
#if OMPI_MAJOR_VERSION >= 6
static inline bool mca_pml_epml_compat_shares_node(const ompi_communicator_t *newcomm)
{
    return 1 != ompi_group_count_local_peers(newcomm->c_local_group);
}

static inline void mca_pml_epml_compat_activated(ompi_communicator_t *newcomm, bool shares)
{
    const struct {
        int32_t size, pad;
        uint64_t handle;
    } payload = {.size = ompi_comm_size(newcomm), .handle = (uintptr_t) newcomm};

    newcomm->c_flags &= ~(uint32_t) OMPI_COMM_DISJOINT;
    newcomm->c_flags |= OMPI_COMM_DISJOINT_SET | (shares ? 0 : OMPI_COMM_DISJOINT);
    if (NULL != ompi_event_comm_created) {
        mca_base_event_raise(ompi_event_comm_created, NULL, &payload);
    }
}
#else
static inline bool mca_pml_epml_compat_shares_node(const ompi_communicator_t *newcomm)
{
    (void) newcomm;
    return false;
}

static inline void mca_pml_epml_compat_activated(ompi_communicator_t *newcomm, bool shares)
{
    (void) newcomm;
    (void) shares;
}
#endif

/** Do members of one side of an intercommunicator wait for each other in libmpi's activation?  From
 * 6.0 on they do not: its own PMLs keep what comes for communicators that they do not know yet. */
#define EPML_COMPAT_SIDES_MEET (OMPI_MAJOR_VERSION < 6)

END_C_DECLS

#endif /* MCA_PML_EPML_COMPAT_H */
