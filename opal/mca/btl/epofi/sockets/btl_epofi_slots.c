/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Leading a library's calls of libc here, by its call slots (common_ep_slots.h).  No other
 * library's calls are touched.
 *
 * Where that cannot be done (another architecture, a libfabric that is linked statically), all goes
 * on without btl_epofi_calls.c.
 *
 * Tests: unit/test_epofi_handshake, cut
 */

#define _GNU_SOURCE

#include "opal_config.h"

#include "btl_epofi_slots.h"

#include "opal/mca/common/ep/common_ep_slots.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/**
 * Keep this component loaded: the slots lead here until the end of the process.
 *
 * @return false if it could be unloaded
 */
static bool slots_stay(void)
{
    struct link_map *map = NULL;
    Dl_info own;
    void *handle;

    if (0 == dladdr1((const void *) slots_stay, &own, (void **) &map, RTLD_DL_LINKMAP)) {
        return false;
    }
    if (NULL == map || '\0' == *map->l_name) {
        return true; /* part of the program itself */
    }
    handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    return NULL != handle && 0 == dlclose(handle);
}

#if MCA_BTL_EP_SLOTS

/** What is wanted, and how far that is. */
typedef struct leading_t {
    ElfW(Addr) base;
    mca_btl_ep_slots_t library;
    bool found; /**< the library's tables */
    mca_btl_epofi_slot_t *slots;
    size_t count;
    bool all; /**< every slot could be stored to */
} leading_t;

/** Find the library's tables.  Runs under a lock of the dynamic linker's. */
static int find_tables(struct dl_phdr_info *info, size_t size, void *data)
{
    leading_t *leading = data;

    (void) size;
    if (info->dlpi_addr != leading->base) {
        return 0;
    }
    leading->found = mca_btl_ep_slots_read(&leading->library, info->dlpi_addr, info->dlpi_phdr,
                                           info->dlpi_phnum);
    return 1;
}

static void slot_lead(const mca_btl_ep_slots_t *library, const char *name, _Atomic(void *) *slot,
                      void *context)
{
    leading_t *leading = context;

    for (size_t i = 0; i < leading->count; ++i) {
        mca_btl_epofi_slot_t *wanted = &leading->slots[i];

        if (0 == strcmp(wanted->name, name)) {
            wanted->led = mca_btl_ep_slots_store(slot, mca_btl_ep_slots_read_only(library, slot),
                                                 wanted->function);
            leading->all = leading->all && wanted->led;
        }
    }
}

bool mca_btl_epofi_slots_lead(const void *inside, mca_btl_epofi_slot_t *slots, size_t count)
{
    leading_t leading = {.slots = slots, .count = count, .all = true};
    struct link_map *map = NULL;
    Dl_info info;

    if (0 == dladdr1(inside, &info, (void **) &map, RTLD_DL_LINKMAP) || NULL == map
        || '\0' == *map->l_name || !slots_stay()) {
        return false;
    }
    leading.base = map->l_addr;
    (void) dl_iterate_phdr(find_tables, &leading);
    if (!leading.found) {
        return false;
    }
    mca_btl_ep_slots_each(&leading.library, slot_lead, &leading);
    return leading.all;
}

#else /* no rewriting on this machine */

bool mca_btl_epofi_slots_lead(const void *inside, mca_btl_epofi_slot_t *slots, size_t count)
{
    (void) inside;
    (void) slots;
    (void) count;
    (void) slots_stay;
    return false;
}

#endif
