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
 * The seams: functions of libmpi that this library defines as well.
 *
 * The dynamic linker gives libmpi's calls to the first definition in the program's list of
 * libraries; libmpix_endpoints stands before libmpi in it, so the calls come here.  Each of our
 * definitions serves endpoints and hands everything else to the function it stands before,
 * untouched.  Where the linker's order does not help (libmpi first, or loaded by dlopen) the call
 * slots of libmpi are rewritten instead; where libmpi has none for its own functions they are
 * entered.  docs/architecture.md, "Seams", says why these functions.
 *
 * seam_plt.c has the mechanism, with seam_enter.c and seam_entry*.c; the other seam_*.c have the
 * definitions.
 *
 * As part of Open MPI's own build (EP_IN_TREE, docs/tree.md) nothing has to be led away: libmpi is
 * linked with ld's option --wrap for each of the functions, so its calls come to __wrap_NAME, which
 * are our definitions, and __real_NAME are the functions themselves.  seam_wrap.c is all that is
 * left of the mechanism.
 */

#ifndef MPIEXT_ENDPOINTS_SEAMS_H
#define MPIEXT_ENDPOINTS_SEAMS_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_compat.h"

BEGIN_C_DECLS

#define MPIX_ENDPOINTS_SEAM_ID(name) MPIX_ENDPOINTS_SEAM_##name,

/** One constant for each seam, MPIX_ENDPOINTS_SEAM_<name of the function>. */
typedef enum mpix_endpoints_seam_t {
    MPIX_ENDPOINTS_SEAMS_REQUIRED(MPIX_ENDPOINTS_SEAM_ID)
    MPIX_ENDPOINTS_SEAMS_OPTIONAL(MPIX_ENDPOINTS_SEAM_ID)
    MPIX_ENDPOINTS_SEAM_COUNT
} mpix_endpoints_seam_t;

#undef MPIX_ENDPOINTS_SEAM_ID

#if EP_IN_TREE

#    define MPIX_ENDPOINTS_SEAM(name) __attribute__((visibility("hidden"))) __wrap_##name
#    define MPIX_ENDPOINTS_SEAM_SHARED(name) __attribute__((visibility("default"))) __wrap_##name
#    define MPIX_ENDPOINTS_OWN(name) __wrap_##name
#    define MPIX_ENDPOINTS_ORIGINAL(name)          \
        (__extension__({                           \
            extern __typeof__(name) __real_##name; \
            &__real_##name;                        \
        }))
/* What it is in the headers is what it must be here. */
#    define MPIX_ENDPOINTS_SEAM_DEFINED(name) extern __typeof__(name) __wrap_##name

#else

/** The name of our definition, where it is defined: int MPIX_ENDPOINTS_SEAM(ompi_...)(...).  The
 * second form is for functions that components call as well, which may be libraries of their
 * own. */
#    define MPIX_ENDPOINTS_SEAM(name) MPIX_ENDPOINTS_EXPORT name
#    define MPIX_ENDPOINTS_SEAM_SHARED(name) MPIX_ENDPOINTS_EXPORT name

/** The functions our definitions stand before; NULL until looked up.  Private to what follows. */
extern _Atomic(void *) mpix_endpoints_originals[MPIX_ENDPOINTS_SEAM_COUNT];

/** Find the function that ours stands before.  Any thread; aborts the program if there is none. */
void *mpix_endpoints_seam_lookup(mpix_endpoints_seam_t seam);

static inline void *mpix_endpoints_seam_original(mpix_endpoints_seam_t seam)
{
    /* Relaxed: the pointer is all that is passed on; code needs no publishing. */
    void *original = atomic_load_explicit(&mpix_endpoints_originals[seam], memory_order_relaxed);

    return OPAL_LIKELY(NULL != original) ? original : mpix_endpoints_seam_lookup(seam);
}

/** The function of libmpi that our definition of the same name stands before, typed as such. */
#    define MPIX_ENDPOINTS_ORIGINAL(name) \
        ((__typeof__(&name)) mpix_endpoints_seam_original(MPIX_ENDPOINTS_SEAM_##name))

/** Our definition itself.  The function's plain name means, also in this library, the definition
 * that stands first in the program; this is a second name that nobody else can have. */
#    define MPIX_ENDPOINTS_OWN(name) mpix_endpoints_own_##name

/** To stand behind each of our definitions: gives it its second name. */
#    define MPIX_ENDPOINTS_SEAM_DEFINED(name)                    \
        extern __typeof__(name) MPIX_ENDPOINTS_OWN(name)         \
            __attribute__((alias(#name), visibility("hidden")))

/**
 * Look a name up in Open MPI's libraries, however they have been loaded.  Any thread.
 *
 * @return what it names, or NULL if none of them exports it
 */
void *mpix_endpoints_libmpi_symbol(const char *name);

#endif

/** Tell the user why the seams are not in force, and what can be done.  After
 * mpix_endpoints_seams_in_force has said that they are not. */
void mpix_endpoints_seams_explain(void);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_SEAMS_H */
