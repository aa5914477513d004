/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The progress thread of a process (parameter osc_epwin_progress_interval): it executes the messages
 * of other processes' origins while no thread of this process is in MPI.
 *
 * Called by the component and by create/.
 */

#ifndef MCA_OSC_EPWIN_PROGRESS_H
#define MCA_OSC_EPWIN_PROGRESS_H

#include "ompi_config.h"

#include <stdbool.h>

BEGIN_C_DECLS

/** In MPI_Init, in the thread that calls it: the progress thread will run on that thread's
 * cores. */
void mca_osc_epwin_progress_init(void);

/** A window handle to which messages may arrive exists; the first one starts the thread.  Any
 * thread.  Where the thread cannot be started that is reported, once, and there is none. */
void mca_osc_epwin_progress_begin(void);

/** It is freed; with the last one the thread has ended on return.  Any thread. */
void mca_osc_epwin_progress_end(void);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_PROGRESS_H */
