/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Entering a function: its first instructions are moved aside, and a branch to another function is
 * put in their place, so that every call arrives there, whichever way it was made.  What was moved,
 * with a branch back behind it, is the original.
 *
 * For libraries that call their own functions directly (linked with -Bsymbolic-functions), where
 * the dynamic linker has nothing to lead away.  entry.c has pages and the order of things,
 * entry_x86_64.c and entry_aarch64.c what is about instructions.
 *
 * Called by interpose/.  Knows neither Open MPI nor anything else of ours, so that
 * test/unit/test_hook_entry.c needs none.
 *
 * Below it: nothing.
 */

#ifndef MPIEXT_ENDPOINTS_ENTRY_H
#define MPIEXT_ENDPOINTS_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) || defined(__aarch64__)
#    define MPIX_ENDPOINTS_ENTRIES 1
#else
#    define MPIX_ENDPOINTS_ENTRIES 0
#endif

/** Bytes near a library that one of its functions takes: the original, and a way to ours. */
#define MPIX_ENDPOINTS_ENTRY_SLOT 64

/** Where in there the way to ours begins. */
#define MPIX_ENDPOINTS_ENTRY_WAY 48

typedef struct mpix_endpoints_entry_t {
    const uint8_t *function; /**< where it begins */
    size_t size;             /**< bytes, from the library's table of symbols */
    const void *ours;        /**< what shall be called instead */
    const uint8_t *slot;     /**< what was moved, once mpix_endpoints_entries_place has done it */
    uint8_t kept;            /**< bytes that stay: a landing pad for indirect calls */
    uint8_t moved;           /**< bytes behind that: whole instructions */
} mpix_endpoints_entry_t;

/**
 * Look at a function, given by function, size and ours; changes nothing.
 *
 * @return NULL, or why it cannot be entered: for people
 */
const char *mpix_endpoints_entry_check(mpix_endpoints_entry_t *entry);

/**
 * Put what will be moved into new pages near the functions.  Nothing leads there yet: the caller
 * can store the originals where its functions look for them (entry->slot, which is called like the
 * function).
 *
 * @param[in] entries  that have been looked at, those of one library side by side
 *
 * @return NULL, or why not
 */
const char *mpix_endpoints_entries_place(mpix_endpoints_entry_t *entries, int count);

/**
 * From now on calls of the function come to ours.
 *
 * Other threads may call the function or be in it, behind what is moved; none may be in those few
 * instructions themselves.  There is no state between: the pages are replaced by changed copies,
 * which never were writable here.
 *
 * @return NULL, or why not; then nothing has changed
 */
const char *mpix_endpoints_entry_enter(const mpix_endpoints_entry_t *entry);

/* ---- of the machine, for entry.c -------------------------------------------------------- */

/** As mpix_endpoints_entry_check: sets kept and moved. */
const char *mpix_endpoints_machine_check(mpix_endpoints_entry_t *entry);

/**
 * Write what stands at entry->slot: the original, and from MPIX_ENDPOINTS_ENTRY_WAY on the way to
 * ours.
 *
 * @param[out] code  MPIX_ENDPOINTS_ENTRY_SLOT bytes; they will be at entry->slot
 *
 * @return false: something that the moved instructions refer to is too far from there
 */
bool mpix_endpoints_machine_place(const mpix_endpoints_entry_t *entry, uint8_t *code);

/** Write the branch from the function to the way to ours.
 * @param[out] code  a copy of what is at function + kept, MPIX_ENDPOINTS_MACHINE_BRANCH bytes */
void mpix_endpoints_machine_branch(const mpix_endpoints_entry_t *entry, uint8_t *code);

#if defined(__x86_64__)
#    define MPIX_ENDPOINTS_MACHINE_BRANCH 5
/* A branch, and an operand relative to its instruction, reach 2 GiB. */
#    define MPIX_ENDPOINTS_MACHINE_REACH ((uintptr_t) 1 << 30)
#elif defined(__aarch64__)
#    define MPIX_ENDPOINTS_MACHINE_BRANCH 4
/* A branch reaches 128 MiB. */
#    define MPIX_ENDPOINTS_MACHINE_REACH ((uintptr_t) 120 << 20)
#endif

#endif /* MPIEXT_ENDPOINTS_ENTRY_H */
