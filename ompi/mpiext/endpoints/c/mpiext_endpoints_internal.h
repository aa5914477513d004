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
 * Inside libmpix_endpoints: the table that pml/epml has registered, error codes, help messages.
 */

#ifndef MPIEXT_ENDPOINTS_INTERNAL_H
#define MPIEXT_ENDPOINTS_INTERNAL_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_link.h"

/** 1: part of Open MPI's own build, and of libmpi; see docs/tree.md. */
#if !defined(EP_IN_TREE)
#    define EP_IN_TREE 0
#endif

BEGIN_C_DECLS

/** Seen from other objects whatever the compiler's default is.  On our definitions of libmpi's
 * functions, which libmpi's own headers do not all declare so. */
#define MPIX_ENDPOINTS_EXPORT __attribute__((visibility("default")))

/** The causes of error class MPIX_ERR_ENDPOINTS; each has an error code of its own. */
typedef enum mpix_endpoints_cause_t {
    MPIX_ENDPOINTS_CAUSE_LIMIT,        /**< more than pml_epml_max_endpoints */
    MPIX_ENDPOINTS_CAUSE_RESOURCE,     /**< the fabric or the memory allows no more */
    MPIX_ENDPOINTS_CAUSE_FAULT_TOLERANCE, /**< Open MPI's fault tolerance is on */
    MPIX_ENDPOINTS_CAUSE_NOT_SELECTED, /**< no pml/epml in this run */
    MPIX_ENDPOINTS_CAUSE_SEAMS,        /**< libmpi cannot be reached */
    MPIX_ENDPOINTS_CAUSE_COUNT
} mpix_endpoints_cause_t;

/**
 * What pml/epml has registered.  Any thread.
 *
 * @return the table, or NULL (pml/epml is not selected, MPI is not initialized or is finalized)
 */
const mpix_endpoints_pml_t *mpix_endpoints_table(void);

/** Is this a communicator of endpoints?  NULL and any valid communicator; any thread. */
static inline bool mpix_endpoints_is_endpoint_comm(const ompi_communicator_t *comm)
{
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();

    return NULL != table && NULL != comm && table->is_endpoint_comm(comm);
}

/** The member that a group belongs to, or NULL: the group's owner is not in it.  Procs are unique in
 * a process.  The group keeps it alive. */
static inline ompi_proc_t *mpix_endpoints_group_owner(const ompi_group_t *group)
{
    return MPI_UNDEFINED != group->grp_my_rank
               ? ompi_group_get_proc_ptr_raw(group, group->grp_my_rank)
               : NULL;
}

/** The rank of a proc in a group, or MPI_UNDEFINED. */
static inline int mpix_endpoints_group_rank_of(const ompi_group_t *group, const ompi_proc_t *proc)
{
    for (int i = 0; i < group->grp_proc_count; ++i) {
        if (proc == ompi_group_get_proc_ptr_raw(group, i)) {
            return i;
        }
    }
    return MPI_UNDEFINED;
}

/**
 * The MPI error code for a cause; made when it is first asked for.  Between MPI_Init and
 * MPI_Finalize, any thread.
 *
 * @return a code of class MPIX_ERR_ENDPOINTS with an error string; MPI_ERR_INTERN if there is no
 *         memory for one
 */
int mpix_endpoints_error_code(mpix_endpoints_cause_t cause);

/**
 * MPI functions that ours stand before: MPIX_ENDPOINTS_FUNCTION is the name under which ours is
 * defined, and MPIX_ENDPOINTS_NEXT what it stands before, libmpi's own or a tool's, or NULL if
 * there is none (libmpi's own is in force then, and nobody calls ours).
 *
 * As part of libmpi, whose MPI_ names are weak, ours has the MPI_ name and libmpi's keeps the
 * other: there a tool that calls PMPI_... itself gets libmpi's own.
 */
#if EP_IN_TREE
#    define MPIX_ENDPOINTS_FUNCTION(name) MPI_##name
#    define MPIX_ENDPOINTS_NEXT(name) (&PMPI_##name)
/* In an archive libmpi's weak definition is enough for the linker: it takes ours along because
 * register.c wants this. */
#    define MPIX_ENDPOINTS_FUNCTION_DEFINED(name) const char mpix_endpoints_has_##name = 1
extern const char mpix_endpoints_has_Comm_disconnect, mpix_endpoints_has_Comm_split_type,
    mpix_endpoints_has_Request_get_status;
#else
#    define MPIX_ENDPOINTS_FUNCTION(name) PMPI_##name
#    define MPIX_ENDPOINTS_NEXT(name)                                                              \
        (__extension__({                                                                           \
            static _Atomic(void *) found;                                                          \
            (__typeof__(&PMPI_##name)) mpix_endpoints_next_function("PMPI_" #name, &found);        \
        }))

/** To stand behind each: gives it its other name. */
#    define MPIX_ENDPOINTS_FUNCTION_DEFINED(name)                       \
        MPIX_ENDPOINTS_EXPORT extern __typeof__(PMPI_##name) MPI_##name \
            __attribute__((weak, alias("PMPI_" #name)))

/** @param[in,out] found  where the caller keeps the answer, zero at first */
void *mpix_endpoints_next_function(const char *name, _Atomic(void *) *found);
#endif

/** The MPI error code for what the PML reports: an error of its own, or else rc, an OMPI or MPI
 * error code.  As mpix_endpoints_error_code. */
int mpix_endpoints_error_code_of(mpix_endpoints_error_t error, int rc);

/** Stand in for opal_show_help, so that any thread may call it, and tell it where our help files
 * are; or stop that.
 *
 * @param[in] in_use  pml/epml is selected */
void mpix_endpoints_help_init(bool in_use);

/** The first thread that calls this goes on, as often as it calls, and is the one to end the job;
 * any other stays in here for good.  To be called with no lock that the first one might need. */
void mpix_endpoints_end_alone(void);

/** Is this message, of libmpi's, the one that explains the end of the job, which its thread brings
 * about next? */
bool mpix_endpoints_is_last_word(const char *file, const char *topic);

/**
 * Show the user a message of our help file.  Any thread, once MPI is being initialized.
 *
 * @param[in] topic     which one
 * @param[in] argument  what the message's %s stands for, or NULL if it has none
 */
void mpix_endpoints_show_help(const char *topic, const char *argument);

/** The same for the first caller only; the others come back when it has been said.
 *
 * @param[in,out] said  the message's own, false at first */
void mpix_endpoints_show_help_once(const char *topic, bool *said);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_INTERNAL_H */
