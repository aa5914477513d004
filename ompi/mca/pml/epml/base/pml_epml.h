/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * pml/epml: a PML whose communicators may be made of endpoints.
 *
 * It wraps the PML that the user would have had (the base PML) and passes every call on an ordinary
 * communicator to it.  Calls on an endpoint communicator are served here, by the engine of the
 * endpoint that the communicator handle stands for.  docs/architecture.md has the whole picture.
 */

#ifndef MCA_PML_EPML_H
#define MCA_PML_EPML_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/message/message.h"
#include "ompi/mca/common/ep/common_ep_link.h"
#include "opal/mca/common/ep/common_ep_cancel.h"
#include "opal/mca/common/ep/common_ep_help.h"

BEGIN_C_DECLS

/** How waiting threads yield; pml_epml_yield. */
typedef enum mca_pml_epml_yield_t {
    EPML_YIELD_AUTO = 0, /**< when a node has more endpoints than cores */
    EPML_YIELD_ALWAYS = 1,
    EPML_YIELD_NEVER = 2
} mca_pml_epml_yield_t;

typedef struct mca_pml_epml_component_t {
    mca_pml_base_component_2_1_0_t super;

    /* parameters */
    char *base_name;            /**< pml_epml_base: the wrapped PML; empty: Open MPI's choice */
    int max_endpoints;          /**< pml_epml_max_endpoints */
    int reserve;                /**< pml_epml_reserve, network contexts */
    char *cores;                /**< pml_epml_cores, for ompi_info */
    bool progress_others;       /**< pml_epml_progress_others */
    size_t unexpected_limit;    /**< pml_epml_unexpected_limit, bytes */
    int yield;                  /**< pml_epml_yield, a mca_pml_epml_yield_t */
    bool warn_bound;            /**< pml_epml_warn_bound */
    unsigned int liveness_interval; /**< pml_epml_liveness_interval, ms */
    unsigned int dump_after;    /**< pml_epml_dump_after, s */
    unsigned int dump_signal;   /**< pml_epml_dump_signal */
    unsigned int launcher_wait; /**< pml_epml_launcher_wait, ms */
    unsigned int transport_wait; /**< pml_epml_transport_wait, ms */
    unsigned int finalize_wait; /**< pml_epml_finalize_wait, ms */
    char *coll_components;      /**< pml_epml_coll */
    int verbose;                /**< pml_epml_verbose */

    mca_pml_base_module_t base; /**< the wrapped PML's functions */
} mca_pml_epml_component_t;

OMPI_DECLSPEC extern mca_pml_epml_component_t mca_pml_epml_component;

/** Tell the user something of our help file; any thread.  Arguments as opal_show_help's, from the
 * topic on. */
#define EPML_SHOW_HELP(...)                                         \
    do {                                                            \
        MCA_BTL_EP_HOLD_CANCEL();                                   \
        mca_btl_ep_show_help("help-mca-pml-epml.txt", __VA_ARGS__); \
    } while (0)

END_C_DECLS

#endif /* MCA_PML_EPML_H */
