/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the hooks need to know about the Open MPI at hand: everything here was read off Open MPI's
 * source or its libraries and may change from one series to the next.  Known to hold for 5.0 and
 * 6.0.
 */

#ifndef MPIEXT_ENDPOINTS_COMPAT_H
#define MPIEXT_ENDPOINTS_COMPAT_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"

#include "opal/util/proc.h"

/** 1: part of Open MPI's own build, and of libmpi; see docs/install.md. */
#if !defined(EP_IN_TREE)
#    define EP_IN_TREE 0
#endif

/** Seen from other objects whatever the compiler's default is.  On our definitions of libmpi's
 * functions, which libmpi's own headers do not all declare so. */
#define MPIX_ENDPOINTS_EXPORT __attribute__((visibility("default")))

/**
 * The functions that decide what a process is; endpoints cannot work if any of them is out of
 * reach.  All are exported and called through the procedure linkage table.
 */
#define MPIX_ENDPOINTS_HOOKS_REQUIRED(X) \
    X(ompi_comm_nextcid)                 \
    X(ompi_comm_nextcid_nb)              \
    X(ompi_comm_activate)                \
    X(ompi_comm_activate_nb)             \
    X(ompi_group_incl_plist)             \
    X(ompi_group_union)                  \
    X(ompi_group_difference)             \
    X(ompi_intercomm_create)

/** Those without which endpoints work, but a call does not do all it should: comparing handles,
 * communicators of a group alone, duplicates whose parent is freed, the tables of handles and the
 * progress of collectives under many threads, the end of the job, topologies that may renumber, the
 * allreduce of two, errors of threads with a world of their own, errors at the creation and the end
 * of windows, files, fault tolerance, processes that are spawned with endpoints, and the clear
 * messages at the entrances to what endpoints do not offer yet. */
#define MPIX_ENDPOINTS_HOOKS_OPTIONAL(X)   \
    X(ompi_comm_compare)                   \
    X(ompi_comm_create_from_group)         \
    X(ompi_comm_idup)                      \
    X(ompi_comm_idup_with_info)            \
    X(ompi_group_compare)                  \
    X(ompi_group_intersection)             \
    X(ompi_intercomm_create_from_groups)   \
    X(ompi_mpi_abort)                      \
    X(opal_pmix_base_exchange)             \
    X(PMIx_Spawn)                          \
    X(opal_pointer_array_add)              \
    X(opal_progress_unregister)            \
    X(mca_topo_base_comm_select)           \
    X(ompi_coll_base_allreduce_intra_ring) \
    X(ompi_errhandler_invoke)              \
    X(ompi_osc_base_select)                \
    X(ompi_win_create)                     \
    X(ompi_win_allocate)                   \
    X(ompi_win_allocate_shared)            \
    X(ompi_win_create_dynamic)             \
    X(ompi_win_free)                       \
    X(ompi_file_open)                      \
    X(ompi_dpm_connect_accept)             \
    X(ompi_dpm_disconnect)                 \
    X(ompi_dpm_spawn)                      \
    MPIX_ENDPOINTS_HOOKS_FAULTS(X)         \
    MPIX_ENDPOINTS_HOOKS_FILES(X)          \
    MPIX_ENDPOINTS_HOOKS_HELP(X)

/** Open MPI's fault tolerance (ULFM), which knows processes only. */
#if !OPAL_ENABLE_FT_MPI
#    define MPIX_ENDPOINTS_HOOKS_FAULTS(X)
#elif OMPI_MAJOR_VERSION >= 6
#    define MPIX_ENDPOINTS_HOOKS_FAULTS(X) \
        MPIX_ENDPOINTS_HOOKS_FAULTS_5(X)   \
        X(ompi_comm_ishrink_internal)
#else
#    define MPIX_ENDPOINTS_HOOKS_FAULTS(X) MPIX_ENDPOINTS_HOOKS_FAULTS_5(X)
#endif
#define MPIX_ENDPOINTS_HOOKS_FAULTS_5(X)    \
    X(ompi_comm_revoke_internal)            \
    X(ompi_comm_shrink_internal)            \
    X(ompi_comm_get_failed_internal)        \
    X(ompi_comm_ack_failed_internal)        \
    X(ompi_comm_failure_ack_internal)       \
    X(ompi_comm_failure_get_acked_internal) \
    X(ompi_request_is_failed_fn)            \
    X(ompi_comm_set_rank_failed)            \
    X(ompi_errhandler_proc_failed_internal)

/** Can endpoints open files?  In Open MPI's own tree the linker would have to lead calls between
 * components that may be left out of it. */
#define MPIX_ENDPOINTS_FILES (!EP_IN_TREE)

/** Without all of these endpoints cannot open files; all else works.  They choose ompio's parts for
 * a file, its requests, its locks, the permissions of a file that is created, and what the first
 * call of files sets up. */
#if MPIX_ENDPOINTS_FILES
#    define MPIX_ENDPOINTS_HOOKS_FILES(F)     \
        F(mca_io_base_file_select)            \
        F(mca_fs_base_file_select)            \
        F(mca_fbtl_base_file_select)          \
        F(mca_fcoll_base_file_select)         \
        F(mca_sharedfp_base_file_select)      \
        F(mca_fs_base_get_file_perm)          \
        F(mca_fbtl_posix_lock)                \
        F(mca_fbtl_posix_unlock)              \
        F(mca_common_ompio_request_alloc)     \
        F(mca_common_ompio_register_progress) \
        F(mca_base_framework_open)
#else
#    define MPIX_ENDPOINTS_HOOKS_FILES(F)
#endif

/** How messages to people are got hold of, so that of many threads that end the job one explains
 * it: 5.0 calls through pointers (show_help.c), 6.0 a function (hook_help.c). */
#if EP_OWN_HELP_TEXTS
#    define MPIX_ENDPOINTS_HOOKS_HELP(X) X(opal_show_help)
#else
#    define MPIX_ENDPOINTS_HOOKS_HELP(X)
#endif

/** Beginnings of the file names of the libraries that hold and call these functions: the MPI
 * library (5.0), and the library below it and that of the MPI ABI (6.0). */
#define MPIX_ENDPOINTS_LIBRARIES                    \
    {                                               \
        "libmpi.so", "libopen_mpi.so", "libmpi_abi" \
    }

/** The type of a window's displacement unit below MPI_Win_create. */
#if OMPI_MAJOR_VERSION >= 6
typedef ptrdiff_t mpix_endpoints_disp_unit_t;
#else
typedef int mpix_endpoints_disp_unit_t;
#endif

/** A duplicate that is made without libmpi's activation: what comm's own has found out of its
 * members holds for it as well. */
static inline void mpix_endpoints_compat_alike(ompi_communicator_t *copy,
                                               const ompi_communicator_t *comm)
{
#if OMPI_MAJOR_VERSION >= 6
    copy->c_flags |= comm->c_flags & (uint32_t) (OMPI_COMM_DISJOINT_SET | OMPI_COMM_DISJOINT);
#else
    (void) copy;
    (void) comm;
#endif
}

/** A communicator that is there from MPI_Init on (c_flags): below pml/epml's mark, and far above
 * the bits that Open MPI 5 and 6 use, as that is.  libmpi passes no flags on to communicators that
 * are made of others. */
#define MPIX_ENDPOINTS_COMM_STATIC 0x20000000u

/** Processes of this job: vpids from here on name endpoints. */
static inline uint32_t mpix_endpoints_job_size(void)
{
    return opal_process_info.num_procs;
}

#endif /* MPIEXT_ENDPOINTS_COMPAT_H */
