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
 * The mechanism of the seams: finding the functions that ours stand before, seeing whether libmpi's
 * calls come to ours, and rewriting libmpi's call slots where the dynamic linker has not done it.
 * Where libmpi calls its own functions directly they are entered instead (seam_enter.c).
 *
 * What call slots are is in btl_ep_slots.h.  The dynamic linker fills them in at load time, or
 * lazily, with a stub of the library's own in it until the first call.
 *
 * Tests: install/build, comm_ops
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_help.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_link.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_probe.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_seams.h"
#include "ompi/mpiext/endpoints/c/seam_enter.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/dpm/dpm.h"
#include "ompi/file/file.h"
#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/mca/topo/base/base.h"
#include "ompi/win/win.h"
#include "opal/class/opal_pointer_array.h"
#include "opal/mca/btl/btl_ep_slots.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/show_help.h"

/** Several libraries may call the same function, and each in two ways. */
#define SLOTS_MAX (2 * MPIX_ENDPOINTS_LIBRARIES_MAX * MPIX_ENDPOINTS_SEAM_COUNT)

/* What is behind our definitions' second names. */
#define SEAM_DECLARE(name) \
    extern __typeof__(name) MPIX_ENDPOINTS_OWN(name) __attribute__((visibility("hidden")));
MPIX_ENDPOINTS_SEAMS_REQUIRED(SEAM_DECLARE)
MPIX_ENDPOINTS_SEAMS_OPTIONAL(SEAM_DECLARE)

_Atomic(void *) mpix_endpoints_originals[MPIX_ENDPOINTS_SEAM_COUNT];

/** The seams in the order of mpix_endpoints_seam_t. */
static const struct {
    const char *name;
    void *ours;
    bool required;
} seams[MPIX_ENDPOINTS_SEAM_COUNT] = {
#define SEAM_REQUIRED(name) {#name, (void *) MPIX_ENDPOINTS_OWN(name), true},
#define SEAM_OPTIONAL(name) {#name, (void *) MPIX_ENDPOINTS_OWN(name), false},
    MPIX_ENDPOINTS_SEAMS_REQUIRED(SEAM_REQUIRED)
    MPIX_ENDPOINTS_SEAMS_OPTIONAL(SEAM_OPTIONAL)
};

/** A call slot of libmpi. */
typedef struct slot_t {
    _Atomic(void *) *address;
    ElfW(Addr) base; /**< of the library that it belongs to */
    mpix_endpoints_seam_t seam;
    bool read_only; /**< made so after relocation */
    bool foreign;   /**< its first content lay in no library of Open MPI */
    bool patched;   /**< rewritten here */
} slot_t;

static pthread_mutex_t seams_lock = PTHREAD_MUTEX_INITIALIZER;

/* All under seams_lock. */
static slot_t slots[SLOTS_MAX];
static int slot_count;
static enum { SEAMS_UNKNOWN, SEAMS_IN_FORCE, SEAMS_OUT_OF_REACH } seams_state;
static bool seams_linked; /**< by the dynamic linker alone, when they were put in force */
static char seams_problem[240]; /**< why they are out of reach, for people */
static bool entered[MPIX_ENDPOINTS_SEAM_COUNT]; /**< whose slots need no rewriting */

/* ---- the libraries --------------------------------------------------------------------------- */

static bool is_library(const char *path)
{
    static const char *const names[] = MPIX_ENDPOINTS_LIBRARIES;
    const char *slash = strrchr(path, '/'), *file = NULL != slash ? slash + 1 : path;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (0 == strncmp(file, names[i], strlen(names[i]))) {
            return true;
        }
    }
    return false;
}

/** Notes the library and does no more: it runs under a lock of the dynamic linker's. */
static int note_library(struct dl_phdr_info *info, size_t size, void *data)
{
    mpix_endpoints_libraries_t *libraries = data;

    (void) size;
    if (is_library(info->dlpi_name) && MPIX_ENDPOINTS_LIBRARIES_MAX > libraries->count) {
        libraries->items[libraries->count++] = (mpix_endpoints_library_t){
            .path = info->dlpi_name,
            .base = info->dlpi_addr,
            .headers = info->dlpi_phdr,
            .header_count = info->dlpi_phnum,
        };
    }
    return 0;
}

static void find_libraries(mpix_endpoints_libraries_t *libraries)
{
    libraries->count = 0;
    dl_iterate_phdr(note_library, libraries);
}

/** What a name means in Open MPI's libraries, other than ours.  @return NULL if nothing */
static void *find_definition(const mpix_endpoints_libraries_t *libraries, const char *name,
                             const void *ours)
{
    for (int i = 0; i < libraries->count; ++i) {
        void *handle = dlopen(libraries->items[i].path, RTLD_LAZY | RTLD_NOLOAD);

        if (NULL != handle) {
            void *found = dlsym(handle, name);

            dlclose(handle);
            if (NULL != found && ours != found) {
                return found;
            }
        }
    }
    return NULL;
}

/** libmpi's own definition, whatever the order of linking.  @return NULL if there is none */
static void *libmpi_definition(const mpix_endpoints_libraries_t *libraries,
                               mpix_endpoints_seam_t seam)
{
    return find_definition(libraries, seams[seam].name, seams[seam].ours);
}

void *mpix_endpoints_libmpi_symbol(const char *name)
{
    mpix_endpoints_libraries_t libraries;

    find_libraries(&libraries);
    return find_definition(&libraries, name, NULL);
}

void *mpix_endpoints_seam_lookup(mpix_endpoints_seam_t seam)
{
    void *none = NULL, *found = dlsym(RTLD_NEXT, seams[seam].name);

    if (NULL == found || seams[seam].ours == found) {
        /* libmpi stands before us, or out of our sight. */
        mpix_endpoints_libraries_t libraries;

        find_libraries(&libraries);
        found = libmpi_definition(&libraries, seam);
    }
    if (NULL == found) {
        fprintf(stderr, "libmpix_endpoints: no Open MPI library in this program has %s\n",
                seams[seam].name);
        abort();
    }
    /* Another thread, or the rewriting of the slots, may have been first: then theirs stands.
     * Relaxed: see mpix_endpoints_seam_original. */
    if (!atomic_compare_exchange_strong_explicit(&mpix_endpoints_originals[seam], &none, found,
                                                 memory_order_relaxed, memory_order_relaxed)) {
        found = none;
    }
    return found;
}

/* ---- the call slots -------------------------------------------------------------------------- */

#if MCA_BTL_EP_SLOTS

/** Note a slot, if it is a seam's. */
static void note_slot(const mca_btl_ep_slots_t *library, const char *name, _Atomic(void *) *address,
                      void *context)
{
    const mpix_endpoints_libraries_t *libraries = context;

    for (int seam = 0; seam < MPIX_ENDPOINTS_SEAM_COUNT; ++seam) {
        if (0 == strcmp(seams[seam].name, name) && SLOTS_MAX > slot_count) {
            slots[slot_count++] = (slot_t){
                .address = address,
                .base = library->base,
                .seam = (mpix_endpoints_seam_t) seam,
                .read_only = mca_btl_ep_slots_read_only(library, address),
                .foreign = NULL == mpix_endpoints_library_of(libraries, atomic_load(address)),
                .patched = false,
            };
        }
    }
}

static void find_slots(const mpix_endpoints_libraries_t *libraries)
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

/** Has a seam a slot, in the library at this address, or (0) in any? */
static bool has_slot(mpix_endpoints_seam_t seam, ElfW(Addr) base)
{
    for (int i = 0; i < slot_count; ++i) {
        if (slots[i].seam == seam && (0 == base || slots[i].base == base)) {
            return true;
        }
    }
    return false;
}

/** Has the library no slot for any of the seams that it defines itself?  Then it was linked so that
 * it calls them directly (-Bsymbolic-functions). */
static bool calls_directly(const mpix_endpoints_libraries_t *libraries,
                           const mpix_endpoints_library_t *library)
{
    for (int seam = 0; seam < MPIX_ENDPOINTS_SEAM_COUNT; ++seam) {
        const mpix_endpoints_seam_t s = (mpix_endpoints_seam_t) seam;

        if (has_slot(s, library->base)
            && library == mpix_endpoints_library_of(libraries, libmpi_definition(libraries, s))) {
            return false;
        }
    }
    return true;
}

/**
 * Enter the functions that are called directly.
 *
 * @return false if a function that must be in reach is not
 */
static bool enter_direct(const mpix_endpoints_libraries_t *libraries)
{
    mpix_endpoints_enter_t wanted[MPIX_ENDPOINTS_SEAM_COUNT];
    int count = 0;

    for (int seam = 0; seam < MPIX_ENDPOINTS_SEAM_COUNT; ++seam) {
        void *definition = libmpi_definition(libraries, (mpix_endpoints_seam_t) seam);
        const mpix_endpoints_library_t *library = mpix_endpoints_library_of(libraries, definition);
        const bool led = has_slot((mpix_endpoints_seam_t) seam, 0);

        if (NULL != library
            && (calls_directly(libraries, library) || (seams[seam].required && !led))) {
            wanted[count++] = (mpix_endpoints_enter_t){
                .name = seams[seam].name,
                .ours = seams[seam].ours,
                .definition = definition,
                .library = library,
                .original = &mpix_endpoints_originals[seam],
                .required = seams[seam].required,
                .entered = &entered[seam],
            };
        } else if (seams[seam].required && !led) {
            snprintf(seams_problem, sizeof(seams_problem), "%s is in no library of Open MPI's",
                     seams[seam].name);
            return false;
        }
    }
    return mpix_endpoints_enter(wanted, count, seams_problem, sizeof(seams_problem));
}

/** Store our function in a slot.  @return false if its page cannot be made writable */
static bool slot_store(slot_t *slot)
{
    slot->patched = true;
    return mca_btl_ep_slots_store(slot->address, slot->read_only, seams[slot->seam].ours);
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
                                   : libmpi_definition(libraries, slot->seam);

    if (NULL == original) {
        return false;
    }
    /* Relaxed: see mpix_endpoints_seam_original.  The slot's store comes after it in any case. */
    atomic_store_explicit(&mpix_endpoints_originals[slot->seam], original, memory_order_relaxed);
    return slot_store(slot);
}

/**
 * Rewrite the slots that do not lead here.
 *
 * @param[in] linked  the linker leads calls here: then empty slots will be filled in rightly, and
 *                    those that lead out of Open MPI are somebody's who calls us in turn; what
 *                    remains was filled in before this library was there
 */
static bool slots_patch(const mpix_endpoints_libraries_t *libraries, bool linked)
{
    for (int i = 0; i < slot_count; ++i) {
        void *content = atomic_load(slots[i].address);

        if (entered[slots[i].seam] || seams[slots[i].seam].ours == content
            || (linked && libmpi_definition(libraries, slots[i].seam) != content)) {
            continue;
        }
        if (!slot_patch(libraries, &slots[i])) {
            return false;
        }
    }
    return true;
}

/** A first call under way while its slot was rewritten may have made the linker undo that. */
static bool slots_keep(void)
{
    for (int i = 0; i < slot_count; ++i) {
        if (slots[i].patched && seams[slots[i].seam].ours != atomic_load(slots[i].address)
            && !slot_store(&slots[i])) {
            return false;
        }
    }
    return true;
}

#else /* no rewriting on this machine */

static void find_slots(const mpix_endpoints_libraries_t *libraries)
{
    (void) libraries;
}

static bool enter_direct(const mpix_endpoints_libraries_t *libraries)
{
    (void) libraries;
    return true;
}

static bool slots_patch(const mpix_endpoints_libraries_t *libraries, bool linked)
{
    (void) libraries;
    return linked;
}

static bool slots_keep(void)
{
    return true;
}

#endif

/**
 * Keep this library loaded: libmpi's slots lead here, before MPI is initialized and after it is
 * finalized too (MPI_Info_create).  Where pml/epml has brought the library, it would go with it.
 */
static bool stay(void)
{
    Dl_info own;
    void *handle = NULL;

    if (0 != dladdr(seams, &own)) {
        handle = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
    return NULL != handle && 0 == dlclose(handle);
}

/** @return false if libmpi's calls of the seams cannot be had; seams_problem says why */
static bool put_in_force(void)
{
    const bool linked = mpix_endpoints_probe();
    mpix_endpoints_libraries_t libraries;

    seams_linked = linked;
    find_libraries(&libraries);
    find_slots(&libraries);
    if (!stay()) {
        snprintf(seams_problem, sizeof(seams_problem), "this library cannot be kept loaded");
    } else if (!enter_direct(&libraries)) {
        return false;
    } else if (!slots_patch(&libraries, linked)) {
        snprintf(seams_problem, sizeof(seams_problem), "its call slots cannot be changed here");
    } else if (!mpix_endpoints_probe()) {
        snprintf(seams_problem, sizeof(seams_problem), "ompi_group_incl does not call our %s",
                 seams[MPIX_ENDPOINTS_SEAM_ompi_group_incl_plist].name);
    } else {
        return true;
    }
    return false;
}

MPIX_ENDPOINTS_EXPORT bool mpix_endpoints_seams_in_force(void)
{
    bool in_force;

    pthread_mutex_lock(&seams_lock);
    if (SEAMS_UNKNOWN == seams_state) {
        seams_state = put_in_force() ? SEAMS_IN_FORCE : SEAMS_OUT_OF_REACH;
    }
    in_force = SEAMS_OUT_OF_REACH != seams_state && slots_keep();
    pthread_mutex_unlock(&seams_lock);

    return in_force;
}

/** Optional seams without a way, ", " between them.  Under seams_lock.  @return how many */
static int list_without_way(char *text, size_t size)
{
    int count = 0;

    text[0] = '\0';
    for (int seam = 0; seam < MPIX_ENDPOINTS_SEAM_COUNT; ++seam) {
        bool have = entered[seam];

        for (int i = 0; i < slot_count && !have; ++i) {
            have = (int) slots[i].seam == seam;
        }
        if (!have) {
            const size_t used = strlen(text);

            snprintf(text + used, size - used, "%s%s", 0 < count ? ", " : "", seams[seam].name);
            ++count;
        }
    }
    return count;
}

/** How they have come to be in force.  Under seams_lock. */
static const char *way_in_force(void)
{
    for (int seam = 0; seam < MPIX_ENDPOINTS_SEAM_COUNT; ++seam) {
        if (entered[seam]) {
            return "by their first instructions, which were moved (libmpi calls them directly)";
        }
    }
    return seams_linked ? "by the dynamic linker, which finds libmpix_endpoints first"
                        : "by libmpi's call slots, which were rewritten (libmpi stands first)";
}

MPIX_ENDPOINTS_EXPORT void mpix_endpoints_seams_describe(char *text, size_t size)
{
    const bool in_force = mpix_endpoints_seams_in_force();
    char without[512];
    int count;

    pthread_mutex_lock(&seams_lock);
    count = list_without_way(without, sizeof(without));
    if (!in_force) {
        snprintf(text, size, "libmpi's calls are out of reach (%s): no endpoints", seams_problem);
    } else if (!MCA_BTL_EP_SLOTS) {
        snprintf(text, size, "%s", way_in_force());
    } else {
        snprintf(text, size, "%d of %d functions, %s%s%s", MPIX_ENDPOINTS_SEAM_COUNT - count,
                 MPIX_ENDPOINTS_SEAM_COUNT, way_in_force(), 0 < count ? "; not: " : "", without);
    }
    pthread_mutex_unlock(&seams_lock);
}

void mpix_endpoints_seams_explain(void)
{
    const mpix_endpoints_seam_t any = MPIX_ENDPOINTS_SEAM_ompi_group_incl_plist;

    /* Who is before libmpi already is not told to link so.  What the problem is does not change
     * once it has been looked for. */
    mpix_endpoints_show_help(dlsym(RTLD_DEFAULT, seams[any].name) == seams[any].ours
                                 ? "seams out of reach"
                                 : "seams not in force",
                             seams_problem);
}
