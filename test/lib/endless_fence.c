/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A launcher whose fence goes on waiting for the dead, as PRRTE's does now and then (once in some
 * 14 deaths): of the one that pml/epml begins nobody hears.  Preloaded by tests (LD_PRELOAD).  And
 * the first EPT_UNANSWERED of its questions have no answer.
 *
 * EPT-LIBS: -ldl
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef void (*over_t)(int status, void *context);

static void nobody(int status, void *context)
{
    (void) status;
    (void) context;
}

static bool is_ours(const void *caller)
{
    Dl_info info = {0};

    return 0 != dladdr(caller, &info) && NULL != strstr(info.dli_fname, "mca_pml_epml");
}

/** As pmix.h has them. */
__attribute__((visibility("default"))) int PMIx_Fence_nb(const void *procs, size_t proc_count,
                                                         const void *info, size_t info_count,
                                                         over_t over, void *context)
{
    int (*next)(const void *, size_t, const void *, size_t, over_t, void *);

    *(void **) &next = dlsym(RTLD_NEXT, "PMIx_Fence_nb");
    if (is_ours(__builtin_return_address(0))) {
        over = nobody;
    }
    return next(procs, proc_count, info, info_count, over, context);
}

__attribute__((visibility("default"))) int PMIx_Query_info_nb(void *queries, size_t count,
                                                              void (*answer)(void), void *context)
{
    static int asked; /* by one thread */
    const char *unanswered = getenv("EPT_UNANSWERED");
    int (*next)(void *, size_t, void (*)(void), void *);

    *(void **) &next = dlsym(RTLD_NEXT, "PMIx_Query_info_nb");
    if (NULL != unanswered && is_ours(__builtin_return_address(0)) && asked++ < atoi(unanswered)) {
        return 0; /* PMIX_SUCCESS: it has been asked */
    }
    return next(queries, count, answer, context);
}
