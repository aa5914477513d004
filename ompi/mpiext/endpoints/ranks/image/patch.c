/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which range an address is in; and code of machines where compilers form no address of another
 * library's object by themselves, as on aarch64: they load it from the global offset table.
 *
 * Tests: ranks_basic
 */

#define _GNU_SOURCE

#include "patch.h"

mpix_ranks_range_t *mpix_ranks_range_of(const mpix_ranks_list_t *ranges, ElfW(Addr) address)
{
    mpix_ranks_range_t *range = MPIX_RANKS_ITEMS(*ranges, mpix_ranks_range_t);

    for (int i = 0; i < ranges->count; ++i) {
        if (range[i].begin <= address && address - range[i].begin < range[i].size) {
            return &range[i];
        }
    }
    return NULL;
}

#if !defined(__x86_64__)

const char *mpix_ranks_patch(const mpix_ranks_elf_t *elf, mpix_ranks_list_t *ranges,
                             bool only_handles, mpix_ranks_slots_t *slots)
{
    const mpix_ranks_range_t *range = MPIX_RANKS_ITEMS(*ranges, mpix_ranks_range_t);

    (void) elf;
    (void) only_handles;
    (void) slots;
    for (int i = 0; i < ranges->count; ++i) {
        if (range[i].is_predefined) {
            return "its code has addresses of MPI's objects in it (compile it with -fPIE or -fPIC)";
        }
    }
    return NULL;
}

#endif
