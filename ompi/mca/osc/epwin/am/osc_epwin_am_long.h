/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Long data by messages of the engine: osc_epwin_am_long.c.
 *
 * Layer am only.
 */

#ifndef MCA_OSC_EPWIN_AM_LONG_H
#define MCA_OSC_EPWIN_AM_LONG_H

#include "ompi_config.h"

#include "osc_epwin_am.h"
#include "osc_epwin_am_link.h"
#include "osc_epwin_am_queue.h"

BEGIN_C_DECLS

/** Do the data of a put or get go by a message of their own?  @param[in] user  the origin's side */
bool mca_osc_epwin_am_long_is(const mca_osc_epwin_module_t *module,
                              const mca_osc_epwin_buffer_t *user,
                              const mca_osc_epwin_place_t *place);

/** Such a put or get.  The buffer is in use until mca_osc_epwin_am_longs_end.
 * @return MPI_SUCCESS; MPI_ERR_NO_MEM; MPI_ERR_PROC_FAILED */
int mca_osc_epwin_am_long(mca_osc_epwin_module_t *module, const mca_osc_epwin_buffer_t *user,
                          const mca_osc_epwin_place_t *place, bool is_put);

/** Wait until no buffer of the link is in use.
 * @param[in] why  MPI_SUCCESS, or an error of the link: messages that have not begun end with it
 * @return MPI_SUCCESS or the first error */
int mca_osc_epwin_am_longs_end(mca_osc_epwin_module_t *module, epwin_am_link_t *link, int why);

/** The step: execute a record of long data.  @return EXECUTED; WAITS: the message is under way */
epwin_am_outcome_t mca_osc_epwin_am_long_execute(const mca_osc_epwin_module_t *module,
                                                 epwin_am_peer_t *peer,
                                                 const epwin_am_record_t *record);

/** The step: the records of an origin are dropped.  @return false: a message is still under way */
bool mca_osc_epwin_am_long_drop(epwin_am_peer_t *peer);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_AM_LONG_H */
