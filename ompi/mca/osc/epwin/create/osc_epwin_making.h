/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The creation of a window, as the files of this layer pass it on.
 */

#ifndef MCA_OSC_EPWIN_MAKING_H
#define MCA_OSC_EPWIN_MAKING_H

#include "ompi_config.h"

#include "../base/base.h"

#include "ompi/errhandler/errcode-internal.h"

BEGIN_C_DECLS

/** What a member tells the others. */
typedef struct epwin_member_info_t {
    int32_t error;       /**< MPI_SUCCESS, or of an argument */
    uint32_t domain;     /**< number of its domain: the lowest rank in it */
    uint32_t node;       /**< lowest rank on its node */
    uint32_t process;    /**< lowest rank in its process */
    uint64_t size, unit; /**< bytes; positive ones of ptrdiff_t */
    uint64_t base;       /**< address in its process: of a created window; of the list of attached
                          * memory of a dynamic one */
    uint64_t alignment;  /**< of its part: a page or more; a power of two */
    uint32_t contiguous; /**< 1: parts follow each other without gaps */
    uint32_t on_device;  /**< 1: a created window in device memory */
} epwin_member_info_t;

/** What a member tells the others about its part of data memory. */
typedef struct epwin_part_t {
    uint64_t at;        /**< byte offset in the memory */
    uint64_t is_filled; /**< 1: its pages are allocated */
} epwin_part_t;

/** A creation under way; one thread's. */
typedef struct epwin_making_t {
    mca_osc_epwin_module_t *module; /**< NULL, as infos and parts: no memory */
    bool is_taken;                  /**< the duplicate owns the module */
    const ompi_group_t *group;      /**< of the duplicate that it belongs to */
    mpix_endpoints_members_t process, node; /**< members with this one */
    epwin_member_info_t own;
    epwin_member_info_t *infos; /**< by rank */
    epwin_part_t *parts; /**< by rank; where members of several processes are on a node */
    bool is_on_node;     /**< data memory is the node's; otherwise the process's */
    size_t at;           /**< own part */
    const char *not_shared; /**< why there can be no shared window, for the user */
} epwin_making_t;

/** A handle's module.  @return NULL: no memory */
mca_osc_epwin_module_t *mca_osc_epwin_module_new(const ompi_osc_base_module_t *table,
                                                 ompi_win_t *win, ompi_communicator_t *comm,
                                                 int flavor);

/** Duplicate the window's communicator: collective.  On success the module is the client's object of
 * the duplicate, and has the memory of the window object and of the domain, unless own.error says
 * otherwise.  On an error, which is one at all members, the module is gone.
 * @return MPI_SUCCESS or an error code of MPI */
int mca_osc_epwin_duplicate(epwin_making_t *making, ompi_communicator_t *comm);

/** Does the progress thread serve a handle, if there is one?  The same for the handle's life. */
bool mca_osc_epwin_has_progress(const mca_osc_epwin_module_t *module);

/** Free a duplicate: with it, unless requests of the user hold it, its module. */
void mca_osc_epwin_duplicate_free(mca_osc_epwin_module_t *module);

/** An error code of Open MPI or of MPI, as one of MPI. */
static inline int mca_osc_epwin_mpi_error(int rc)
{
    return 0 > rc ? ompi_errcode_get_mpi_code(rc) : rc;
}

/** The worst of all members' errors, or that of the reduction itself: collective. */
int mca_osc_epwin_error_reduce(const mca_osc_epwin_module_t *module, int error);

/**
 * Get memory for the data of an allocated or shared window: collective, after the exchange of
 * infos.
 *
 * @return MPI_SUCCESS; MPI_ERR_PROC_FAILED; MPI_ERR_NO_MEM, perhaps at this member alone;
 *         MPI_ERR_RMA_SHARED, at all members
 */
int mca_osc_epwin_data_get(epwin_making_t *making);

/** Does a member's part of data memory begin somewhere?  Without gaps an empty part does, too. */
static inline bool mca_osc_epwin_has_part(const epwin_making_t *making,
                                          const epwin_member_info_t *info)
{
    return NULL != making->module->memory[EPWIN_KEY_DATA] && (0 < info->size || info->contiguous);
}

/** Where the parts of data memory are, in the order of ranks.  All 0 at first. */
typedef struct epwin_layout_t {
    size_t end; /**< of the parts before */
} epwin_layout_t;

/** Is a member's part in the same data memory as the own one? */
static inline bool mca_osc_epwin_is_beside(const epwin_making_t *making,
                                           const epwin_member_info_t *info)
{
    return making->is_on_node ? info->node == making->own.node
                              : info->process == making->own.process;
}

/**
 * The next part, of a member with mca_osc_epwin_is_beside.
 *
 * @param[in]  memory  the address of the memory in the member's process; NULL: a page's boundary
 * @param[out] at_p    byte offset in the memory
 * @return false: the sum of sizes overflows
 */
bool mca_osc_epwin_layout_next(epwin_layout_t *layout, const epwin_member_info_t *info,
                               const void *memory, size_t *at_p);

/** Fill in the window object, unless another handle of the process has done so.
 * @return MPI_SUCCESS, MPI_ERR_NO_MEM */
int mca_osc_epwin_peers_fill(epwin_making_t *making);

/** Of a dynamic window whose duplicate is complete: the base of the own info. */
uint64_t mca_osc_epwin_regions_base(const epwin_making_t *making);

/** Bytes of a window object. */
size_t mca_osc_epwin_window_bytes(const mca_osc_epwin_module_t *module, int members_in_process);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_MAKING_H */
