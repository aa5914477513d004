/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The hooks' names, our definitions of them, and the functions that these stand before.
 */

#ifndef MPIEXT_ENDPOINTS_ORIGINALS_H
#define MPIEXT_ENDPOINTS_ORIGINALS_H

#include "ompi_config.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "../base/base.h"

#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"

BEGIN_C_DECLS

#define MPIX_ENDPOINTS_HOOK_ID(name) MPIX_ENDPOINTS_HOOK_##name,

/* clang-format off */
/** One constant for each hook, MPIX_ENDPOINTS_HOOK_<name of the function>. */
typedef enum mpix_endpoints_hook_t {
    MPIX_ENDPOINTS_HOOKS_REQUIRED(MPIX_ENDPOINTS_HOOK_ID)
    MPIX_ENDPOINTS_HOOKS_OPTIONAL(MPIX_ENDPOINTS_HOOK_ID)
    MPIX_ENDPOINTS_HOOK_COUNT
} mpix_endpoints_hook_t;
/* clang-format on */

#undef MPIX_ENDPOINTS_HOOK_ID

#if EP_IN_TREE

#    define MPIX_ENDPOINTS_OWN(name) __wrap_##name
#    define MPIX_ENDPOINTS_ORIGINAL(name)          \
        (__extension__({                           \
            extern __typeof__(name) __real_##name; \
            &__real_##name;                        \
        }))

#else

/** Our definition itself.  The function's plain name means, also in this library, the definition
 * that stands first in the program; this is a second name that nobody else can have. */
#    define MPIX_ENDPOINTS_OWN(name) mpix_endpoints_own_##name

typedef struct mpix_endpoints_definition_t {
    const char *name;
    void *ours;
    bool required;
} mpix_endpoints_definition_t;

/** Our definitions, in the order of mpix_endpoints_hook_t. */
extern const mpix_endpoints_definition_t mpix_endpoints_hooks[MPIX_ENDPOINTS_HOOK_COUNT];

/** The functions our definitions stand before; NULL until looked up. */
extern _Atomic(void *) mpix_endpoints_originals[MPIX_ENDPOINTS_HOOK_COUNT];

/** Find the function that ours stands before.  Any thread; aborts the program if there is none. */
void *mpix_endpoints_hook_lookup(mpix_endpoints_hook_t hook);

static inline void *mpix_endpoints_hook_original(mpix_endpoints_hook_t hook)
{
    /* Relaxed: the pointer is all that is passed on; code needs no publishing. */
    void *original = atomic_load_explicit(&mpix_endpoints_originals[hook], memory_order_relaxed);

    return OPAL_LIKELY(NULL != original) ? original : mpix_endpoints_hook_lookup(hook);
}

/** The function of libmpi that our definition of the same name stands before, typed as such. */
#    define MPIX_ENDPOINTS_ORIGINAL(name) \
        ((__typeof__(&name)) mpix_endpoints_hook_original(MPIX_ENDPOINTS_HOOK_##name))

struct mpix_endpoints_libraries_t;

/** libmpi's own definition, whatever the order of linking.  @return NULL if there is none */
void *mpix_endpoints_libmpi_definition(const struct mpix_endpoints_libraries_t *libraries,
                                       mpix_endpoints_hook_t hook);

/**
 * Look a name up in Open MPI's libraries, however they have been loaded.  Any thread.
 *
 * @return what it names, or NULL if none of them exports it
 */
void *mpix_endpoints_libmpi_symbol(const char *name);

#endif

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_ORIGINALS_H */
