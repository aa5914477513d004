/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Leading a library's calls here.
 */

#ifndef MCA_BTL_EPOFI_SLOTS_H
#define MCA_BTL_EPOFI_SLOTS_H

#include "opal_config.h"

#include <stdbool.h>
#include <stddef.h>

BEGIN_C_DECLS

/** A function that is called in place of one of libc. */
typedef struct mca_btl_epofi_slot_t {
    const char *name;
    void *function;
    bool led; /**< set here: the library calls it, and is led */
} mca_btl_epofi_slot_t;

/**
 * Lead a library's calls of functions here, and keep this component loaded from now on.
 *
 * @param[in] inside  an address in the library
 * @return false if that cannot be done, here or with this library
 */
bool mca_btl_epofi_slots_lead(const void *inside, mca_btl_epofi_slot_t *slots, size_t count);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_SLOTS_H */
