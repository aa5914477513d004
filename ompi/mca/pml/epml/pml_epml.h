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
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_link.h"
#include "opal/mca/btl/btl_ep_cancel.h"
#include "opal/mca/btl/ephelp/btl_ep_help.h"

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
    char *base_name;         /**< pml_epml_base: the wrapped PML; empty: Open MPI's choice */
    int max_endpoints;       /**< pml_epml_max_endpoints */
    bool progress_others;    /**< pml_epml_progress_others */
    size_t unexpected_limit; /**< pml_epml_unexpected_limit, bytes */
    int yield;               /**< pml_epml_yield, a mca_pml_epml_yield_t */
    unsigned int ask;        /**< pml_epml_ask, ms */
    unsigned int launcher_wait; /**< pml_epml_launcher_wait, ms */
    unsigned int way_wait;   /**< pml_epml_way_wait, ms */
    unsigned int finalize_wait; /**< pml_epml_finalize_wait, ms */
    char *coll_components;   /**< pml_epml_coll */
    int verbose;             /**< pml_epml_verbose */

    mca_pml_base_module_t base; /**< the wrapped PML's functions */
} mca_pml_epml_component_t;

OMPI_DECLSPEC extern mca_pml_epml_component_t mca_pml_epml_component;

/** Tell the user something of our help file; any thread.  Arguments as opal_show_help's, from the
 * topic on. */
#define EPML_SHOW_HELP(...)                                    \
    do {                                                       \
        MCA_BTL_EP_HOLD_CANCEL();                              \
        mca_btl_ep_show_help("help-mca-pml-epml.txt", __VA_ARGS__); \
    } while (0)

/* ---- pml_epml_net.c ------------------------------------------------------------------------- */

/** Tell the other nodes what networks this one has.  Before PMIx_Commit, after the BTLs have been
 * opened. */
void mca_pml_epml_net_publish(void);

/* ---- pml_epml_serve.c ----------------------------------------------------------------------- */

/** Before there are threads: see component_init. */
void mca_pml_epml_serve_init(void);

/** This process is about to have endpoints.  Idempotent, any thread.
 * @return OMPI_SUCCESS or an error, of which the user has been told */
int mca_pml_epml_serve(void);

/** The PML goes, and all that there is of endpoints. */
void mca_pml_epml_serve_no_more(void);

/* ---- pml_epml_base.c: the wrapped PML ------------------------------------------------------- */

/** Select the base PML as Open MPI would have.  @return OMPI_SUCCESS, or an error (said already) */
int mca_pml_epml_base_select(bool enable_progress_threads, bool enable_mpi_threads);

/** Finalize and close the base PML. */
int mca_pml_epml_base_finalize(void);

/** Which PML that is and among which it was chosen, in words. */
void mca_pml_epml_base_describe(char *text, size_t size);

/* ---- pml_epml_site.c: the PMLs that the site wants ------------------------------------------- */

/** What parameter files say of pml, whatever else has taken its place.
 * @return to be freed; NULL: nothing */
char *mca_pml_epml_site_pmls(void);

/**
 * The PMLs that a value of pml leaves, epml not among them.
 *
 * @param[in] value     as of pml: "a,b", "^a,b", or NULL: no wish
 * @param[in] standard  the names that there are without a wish
 *
 * @return to be freed, empty if there are none; NULL without memory
 */
char *mca_pml_epml_site_candidates(const char *value, const char *standard);

/* ---- pml_epml_module.c: the function table --------------------------------------------------- */

/** The PML's module, filled in from the base PML's limits.  */
mca_pml_base_module_t *mca_pml_epml_module_init(void);

/* ---- the verbs on endpoint communicators; contracts as in ompi/mca/pml/pml.h ----------------- */

int mca_pml_epml_ep_add_comm(ompi_communicator_t *comm);
int mca_pml_epml_ep_del_comm(ompi_communicator_t *comm);
int mca_pml_epml_ep_send(const void *buf, size_t count, ompi_datatype_t *datatype, int dst, int tag,
                         mca_pml_base_send_mode_t mode, ompi_communicator_t *comm);
int mca_pml_epml_ep_isend(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                          int tag, mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                          ompi_request_t **request);
int mca_pml_epml_ep_isend_init(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                               int tag, mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                               ompi_request_t **request);
int mca_pml_epml_ep_recv(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                         ompi_communicator_t *comm, ompi_status_public_t *status);
int mca_pml_epml_ep_irecv(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                          ompi_communicator_t *comm, ompi_request_t **request);
int mca_pml_epml_ep_irecv_init(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                               ompi_communicator_t *comm, ompi_request_t **request);
int mca_pml_epml_ep_iprobe(int src, int tag, ompi_communicator_t *comm, int *matched,
                           ompi_status_public_t *status);
int mca_pml_epml_ep_probe(int src, int tag, ompi_communicator_t *comm,
                          ompi_status_public_t *status);
int mca_pml_epml_ep_improbe(int src, int tag, ompi_communicator_t *comm, int *matched,
                            ompi_message_t **message, ompi_status_public_t *status);
int mca_pml_epml_ep_mprobe(int src, int tag, ompi_communicator_t *comm, ompi_message_t **message,
                           ompi_status_public_t *status);
int mca_pml_epml_ep_imrecv(void *buf, size_t count, ompi_datatype_t *datatype,
                           ompi_message_t **message, ompi_request_t **request);
int mca_pml_epml_ep_mrecv(void *buf, size_t count, ompi_datatype_t *datatype,
                          ompi_message_t **message, ompi_status_public_t *status);
int mca_pml_epml_ep_start(ompi_request_t *request);

/* ---- pml_epml_report.c ----------------------------------------------------------------------- */

/**
 * Write down what was chosen for this process, and why, a line each: base PML, ways to others,
 * seams, cores, limits.  Any thread that has not the lock of an endpoint.
 *
 * @param[out] text  of size bytes; always terminated
 */
void mca_pml_epml_report(char *text, size_t size);

/** Endpoints have been created: tell the user that, if pml_epml_verbose asks for it, once. */
void mca_pml_epml_report_once(void);

/* ---- pml_epml_dump.c ------------------------------------------------------------------------- */

/**
 * Write the queues of an endpoint to stderr: sends on their way, receives, messages that wait.
 * Any thread that has not the endpoint's lock; waits for the lock a little while, then says that it
 * could not look.
 *
 * @param[in] verbose  0: those of comm only; else of all communicators of comm's endpoint
 * @return OMPI_SUCCESS, OMPI_ERR_RESOURCE_BUSY
 */
int mca_pml_epml_ep_dump(ompi_communicator_t *comm, int verbose);

/** The same for all endpoints of the process; for debuggers (gdb: call mca_pml_epml_dump_all()).
 * No memory is allocated, and no lock is waited for without end. */
OMPI_DECLSPEC void mca_pml_epml_dump_all(void);

/** mca_pml.pml_dump of any communicator (an MPI_Comm), under a name that debuggers and programs
 * find.  Of an ordinary one the base PML shows what it has. */
OMPI_DECLSPEC void mca_pml_epml_dump_comm(ompi_communicator_t *comm, int verbose);

END_C_DECLS

#endif /* MCA_PML_EPML_H */
