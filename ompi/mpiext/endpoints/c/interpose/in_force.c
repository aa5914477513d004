/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Putting the hooks in force: whether libmpi's calls come to our definitions, what is done where
 * they do not, and what is said of it.
 *
 * The dynamic linker may have done it.  Otherwise libmpi's call slots are rewritten (slots.c);
 * where libmpi calls its own functions directly they are entered instead (enter.c).
 *
 * Tests: install/build, comm_ops
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "mpiext_endpoints_enter.h"
#include "mpiext_endpoints_in_force.h"
#include "mpiext_endpoints_libraries.h"
#include "mpiext_endpoints_originals.h"
#include "mpiext_endpoints_probe.h"
#include "mpiext_endpoints_slots.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t hooks_lock = PTHREAD_MUTEX_INITIALIZER;

/* All under hooks_lock. */
static enum { HOOKS_UNKNOWN, HOOKS_IN_FORCE, HOOKS_OUT_OF_REACH } hooks_state;
static bool hooks_linked;       /**< by the dynamic linker alone, when they were put in force */
static char hooks_problem[240]; /**< why they are out of reach, for people */
static bool entered[MPIX_ENDPOINTS_HOOK_COUNT]; /**< whose slots need no rewriting */

#if MCA_BTL_EP_SLOTS

/** Has the library no slot for any of the hooks that it defines itself?  Then it was linked so that
 * it calls them directly (-Bsymbolic-functions). */
static bool calls_directly(const mpix_endpoints_libraries_t *libraries,
                           const mpix_endpoints_library_t *library)
{
    for (int hook = 0; hook < MPIX_ENDPOINTS_HOOK_COUNT; ++hook) {
        const mpix_endpoints_hook_t s = (mpix_endpoints_hook_t) hook;

        if (mpix_endpoints_slots_have(s, library->base)
            && library
                   == mpix_endpoints_library_of(libraries,
                                                mpix_endpoints_libmpi_definition(libraries, s))) {
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
    mpix_endpoints_enter_t wanted[MPIX_ENDPOINTS_HOOK_COUNT];
    int count = 0;

    for (int i = 0; i < MPIX_ENDPOINTS_HOOK_COUNT; ++i) {
        const mpix_endpoints_definition_t *hook = &mpix_endpoints_hooks[i];
        void *definition = mpix_endpoints_libmpi_definition(libraries, (mpix_endpoints_hook_t) i);
        const mpix_endpoints_library_t *library = mpix_endpoints_library_of(libraries, definition);
        const bool led = mpix_endpoints_slots_have((mpix_endpoints_hook_t) i, 0);

        if (NULL != library && (calls_directly(libraries, library) || (hook->required && !led))) {
            wanted[count++] = (mpix_endpoints_enter_t){
                .name = hook->name,
                .ours = hook->ours,
                .definition = definition,
                .library = library,
                .original = &mpix_endpoints_originals[i],
                .required = hook->required,
                .entered = &entered[i],
            };
        } else if (hook->required && !led) {
            snprintf(hooks_problem, sizeof(hooks_problem), "%s is in no library of Open MPI's",
                     hook->name);
            return false;
        }
    }
    return mpix_endpoints_enter(wanted, count, hooks_problem, sizeof(hooks_problem));
}

#else /* not known on this machine */

static bool enter_direct(const mpix_endpoints_libraries_t *libraries)
{
    (void) libraries;
    return true;
}

#endif

/**
 * Keep this library loaded: libmpi's slots lead here, before MPI is initialized and after it is
 * finalized too (MPI_Info_create).  Where pml/epml has brought the library, it would go with it.
 */
static bool in_force_stay(void)
{
    Dl_info own;
    void *handle = NULL;

    if (0 != dladdr(mpix_endpoints_hooks, &own)) {
        handle = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
    return NULL != handle && 0 == dlclose(handle);
}

/** @return false if libmpi's calls of the hooks cannot be had; hooks_problem says why */
static bool put_in_force(void)
{
    const bool linked = mpix_endpoints_probe();
    mpix_endpoints_libraries_t libraries;

    hooks_linked = linked;
    mpix_endpoints_libraries_find(&libraries);
    mpix_endpoints_slots_find(&libraries);
    if (!in_force_stay()) {
        snprintf(hooks_problem, sizeof(hooks_problem), "this library cannot be kept loaded");
    } else if (!enter_direct(&libraries)) {
        return false;
    } else if (!mpix_endpoints_slots_patch(&libraries, linked, entered)) {
        snprintf(hooks_problem, sizeof(hooks_problem), "its call slots cannot be changed here");
    } else if (!mpix_endpoints_probe()) {
        snprintf(hooks_problem, sizeof(hooks_problem), "ompi_group_incl does not call our %s",
                 mpix_endpoints_hooks[MPIX_ENDPOINTS_HOOK_ompi_group_incl_plist].name);
    } else {
        return true;
    }
    return false;
}

MPIX_ENDPOINTS_EXPORT bool mpix_endpoints_hooks_in_force(void)
{
    bool in_force;

    pthread_mutex_lock(&hooks_lock);
    if (HOOKS_UNKNOWN == hooks_state) {
        hooks_state = put_in_force() ? HOOKS_IN_FORCE : HOOKS_OUT_OF_REACH;
    }
    in_force = HOOKS_OUT_OF_REACH != hooks_state && mpix_endpoints_slots_keep();
    pthread_mutex_unlock(&hooks_lock);

    return in_force;
}

/** Does a function have no way to ours?  Under hooks_lock. */
static bool is_without_way(int hook)
{
    return !entered[hook] && !mpix_endpoints_slots_have((mpix_endpoints_hook_t) hook, 0);
}

bool mpix_endpoints_hooks_of_files(void)
{
#if MPIX_ENDPOINTS_FILES
#    define HOOK_OF_FILES(name) MPIX_ENDPOINTS_HOOK_##name,
    static const mpix_endpoints_hook_t needed[] = {MPIX_ENDPOINTS_HOOKS_FILES(HOOK_OF_FILES)};
    bool all = mpix_endpoints_hooks_in_force();

    pthread_mutex_lock(&hooks_lock);
    for (size_t i = 0; all && MCA_BTL_EP_SLOTS && i < sizeof(needed) / sizeof(needed[0]); ++i) {
        all = !is_without_way(needed[i]);
    }
    pthread_mutex_unlock(&hooks_lock);
    return all;
#else
    return false;
#endif
}

/** Optional hooks without a way, ", " between them.  Under hooks_lock.  @return how many */
static int list_without_way(char *text, size_t size)
{
    int count = 0;

    text[0] = '\0';
    for (int hook = 0; hook < MPIX_ENDPOINTS_HOOK_COUNT; ++hook) {
        if (is_without_way(hook)) {
            const size_t used = strlen(text);

            snprintf(text + used, size - used, "%s%s", 0 < count ? ", " : "",
                     mpix_endpoints_hooks[hook].name);
            ++count;
        }
    }
    return count;
}

/** How they have come to be in force.  Under hooks_lock. */
static const char *way_in_force(void)
{
    for (int hook = 0; hook < MPIX_ENDPOINTS_HOOK_COUNT; ++hook) {
        if (entered[hook]) {
            return "by their first instructions, which were moved (libmpi calls them directly)";
        }
    }
    return hooks_linked ? "by the dynamic linker, which finds libmpix_endpoints first"
                        : "by libmpi's call slots, which were rewritten (libmpi stands first)";
}

MPIX_ENDPOINTS_EXPORT void mpix_endpoints_hooks_describe(char *text, size_t size)
{
    const bool in_force = mpix_endpoints_hooks_in_force();
    char without[512];
    int count;

    pthread_mutex_lock(&hooks_lock);
    count = list_without_way(without, sizeof(without));
    if (!in_force) {
        snprintf(text, size, "libmpi's calls are out of reach (%s): no endpoints", hooks_problem);
    } else if (!MCA_BTL_EP_SLOTS) {
        snprintf(text, size, "%s", way_in_force());
    } else {
        snprintf(text, size, "%d of %d functions, %s%s%s", MPIX_ENDPOINTS_HOOK_COUNT - count,
                 MPIX_ENDPOINTS_HOOK_COUNT, way_in_force(), 0 < count ? "; not: " : "", without);
    }
    pthread_mutex_unlock(&hooks_lock);
}

void mpix_endpoints_hooks_explain(void)
{
    const mpix_endpoints_definition_t *any
        = &mpix_endpoints_hooks[MPIX_ENDPOINTS_HOOK_ompi_group_incl_plist];

    /* If the library is before libmpi already, the text does not advise that link order.  The
     * problem does not change after the search for it. */
    mpix_endpoints_show_help(dlsym(RTLD_DEFAULT, any->name) == any->ours ? "hooks out of reach"
                                                                         : "hooks not in force",
                             hooks_problem);
}
