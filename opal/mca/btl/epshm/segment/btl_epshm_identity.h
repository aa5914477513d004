/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How other processes verify which process's memory they read.
 */

#ifndef MCA_BTL_EPSHM_IDENTITY_H
#define MCA_BTL_EPSHM_IDENTITY_H

#include "opal_config.h"

#include "opal/mca/common/ep/common_ep_btl.h"

BEGIN_C_DECLS

/** By which others see that memory that they read is this process's: bytes that no other process
 * has at that place.  A process id, by which CMA names a process, may mean another one to them, in
 * another namespace or once the process has ended. */
typedef struct epshm_identity_t {
    uint64_t secret[2];
    uint64_t address;     /**< of the same bytes in memory of the process's own; 0: none */
    uint32_t handle_size; /**< of its registration; 0: none is needed */
    uint32_t unused;
    unsigned char handle[MCA_BTL_EP_ADDRESS_MAX];
} epshm_identity_t;

/** Publish what proves to other processes that they read this process's memory.  Under the
 * segment's lock.
 * @return 0 or an error number */
int mca_btl_epshm_identity_make(epshm_identity_t *identity);

/** The segment goes.  Likewise. */
void mca_btl_epshm_identity_end(void);

END_C_DECLS

#endif /* MCA_BTL_EPSHM_IDENTITY_H */
