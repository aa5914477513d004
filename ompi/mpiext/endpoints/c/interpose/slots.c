/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The call slots of libmpi's libraries: seeing where they lead, and rewriting them where the
 * dynamic linker has not led them here.
 *
 * What call slots are is in common_ep_slots.h.  The dynamic linker fills them in at load time, or
 * lazily, with a stub of the library's own in it until the first call.
 *
 * Tests: install/build, self/direct, comm_ops (direct)
 */

#include "ompi_config.h"

#include "mpiext_endpoints_libraries.h"
#include "mpiext_endpoints_originals.h"
#include "mpiext_endpoints_slots.h"

#include <stdatomic.h>
#include <string.h>

#if MCA_BTL_EP_SLOTS

/** Several libraries may call the same function, and each in two ways. */
#    define SLOTS_MAX (2 * MPIX_ENDPOINTS_LIBRARIES_MAX * MPIX_ENDPOINTS_HOOK_COUNT)

/** A call slot of libmpi. */
typedef struct slot_t {
    _Atomic(void *) *address;
    ElfW(Addr) base; /**< of the library that it belongs to */
    mpix_endpoints_hook_t hook;
    bool read_only; /**< made so after relocation */
    bool foreign;   /**< its first content lay in no library of Open MPI */
    bool patched;   /**< rewritten here */
} slot_t;

/* Under the lock of in_force.c. */
static slot_t slots[SLOTS_MAX];
static int slot_count;

/** Note a slot, if it is a hook's. */
static void note_slot(const mca_btl_ep_slots_t *library, const char *name, _Atomic(void *) *address,
                      void *context)
{
    const mpix_endpoints_libraries_t *libraries = context;

    for (int hook = 0; hook < MPIX_ENDPOINTS_HOOK_COUNT; ++hook) {
        if (0 == strcmp(mpix_endpoints_hooks[hook].name, name) && SLOTS_MAX > slot_count) {
            slots[slot_count++] = (slot_t){
                .address = address,
                .base = library->base,
                .hook = (mpix_endpoints_hook_t) hook,
                .read_only = mca_btl_ep_slots_read_only(library, address),
                .foreign = NULL == mpix_endpoints_library_of(libraries, atomic_load(address)),
                .patched = false,
            };
        }
    }
}

void mpix_endpoints_slots_find(const mpix_endpoints_libraries_t *libraries)
{
    slot_count = 0;
    for (int i = 0; i < libraries->count; ++i) {
        const mpix_endpoints_library_t *item = &libraries->items[i];
        mca_btl_ep_slots_t library;

        if (mca_btl_ep_slots_read(&library, item->base, item->headers, item->header_count)) {
            mca_btl_ep_slots_each(&library, note_slot, (void *) libraries);
        }
    }
}

bool mpix_endpoints_slots_have(mpix_endpoints_hook_t hook, ElfW(Addr) base)
{
    for (int i = 0; i < slot_count; ++i) {
        if (slots[i].hook == hook && (0 == base || slots[i].base == base)) {
            return true;
        }
    }
    return false;
}

/** Store our function in a slot.  @return false if its page cannot be made writable */
static bool slot_store(slot_t *slot)
{
    slot->patched = true;
    return mca_btl_ep_slots_store(slot->address, slot->read_only,
                                  mpix_endpoints_hooks[slot->hook].ours);
}

/**
 * Rewrite a slot.
 *
 * What it held becomes the function that ours stands before: somebody else's, if it led out of Open
 * MPI; libmpi's own definition otherwise, also if the slot was not filled in yet (calling through
 * what an empty slot holds would make the linker fill it in over our address).
 */
static bool slot_patch(const mpix_endpoints_libraries_t *libraries, slot_t *slot)
{
    void *original = slot->foreign ? atomic_load(slot->address)
                                   : mpix_endpoints_libmpi_definition(libraries, slot->hook);

    if (NULL == original) {
        return false;
    }
    /* Relaxed: see mpix_endpoints_hook_original.  The slot's store comes after it in any case. */
    atomic_store_explicit(&mpix_endpoints_originals[slot->hook], original, memory_order_relaxed);
    return slot_store(slot);
}

bool mpix_endpoints_slots_patch(const mpix_endpoints_libraries_t *libraries, bool linked,
                                const bool entered[])
{
    for (int i = 0; i < slot_count; ++i) {
        void *content = atomic_load(slots[i].address);

        if (entered[slots[i].hook] || mpix_endpoints_hooks[slots[i].hook].ours == content
            || (linked && mpix_endpoints_libmpi_definition(libraries, slots[i].hook) != content)) {
            continue;
        }
        if (!slot_patch(libraries, &slots[i])) {
            return false;
        }
    }
    return true;
}

bool mpix_endpoints_slots_keep(void)
{
    for (int i = 0; i < slot_count; ++i) {
        if (slots[i].patched
            && mpix_endpoints_hooks[slots[i].hook].ours != atomic_load(slots[i].address)
            && !slot_store(&slots[i])) {
            return false;
        }
    }
    return true;
}

#else /* no rewriting on this machine */

void mpix_endpoints_slots_find(const mpix_endpoints_libraries_t *libraries)
{
    (void) libraries;
}

bool mpix_endpoints_slots_have(mpix_endpoints_hook_t hook, ElfW(Addr) base)
{
    (void) hook;
    (void) base;
    return false;
}

bool mpix_endpoints_slots_patch(const mpix_endpoints_libraries_t *libraries, bool linked,
                                const bool entered[])
{
    (void) libraries;
    (void) entered;
    return linked;
}

bool mpix_endpoints_slots_keep(void)
{
    return true;
}

#endif
