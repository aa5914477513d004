/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Instructions that form the address of something that a copy must not use: they load it from a slot
 * instead.
 */

#ifndef MPIX_RANKS_PATCH_H
#define MPIX_RANKS_PATCH_H

#include "object.h"

/** Where the slots are, and which address each stands for. */
typedef struct mpix_ranks_slots_t {
    ElfW(Addr) address;      /**< of the first one, within the object's addresses */
    mpix_ranks_list_t *list; /**< mpix_ranks_pointer_t */
} mpix_ranks_slots_t;

/**
 * Change the code of the file.
 *
 * @param only_handles   leave out the ranges whose target is MPIX_RANKS_ORIGINAL
 *
 * @return NULL, or what is wrong, which is valid until the next call
 */
const char *mpix_ranks_patch(const mpix_ranks_elf_t *elf, mpix_ranks_list_t *ranges,
                             bool only_handles, mpix_ranks_slots_t *slots);

/** The range that an address is in.  NULL: none. */
mpix_ranks_range_t *mpix_ranks_range_of(const mpix_ranks_list_t *ranges, ElfW(Addr) address);

#endif /* MPIX_RANKS_PATCH_H */
