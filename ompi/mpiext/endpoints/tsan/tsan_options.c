/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Options of a program under ThreadSanitizer, set before main, unless the environment says
 * otherwise.
 *
 * Tests: install/tsan
 */

#include <stdlib.h>

/** What -u names in the link, so that a program gets this file of the archive, and with it the
 * calls. */
extern const char mpix_endpoints_tsan_calls;
extern const char *const mpix_endpoints_tsan;
const char *const mpix_endpoints_tsan = &mpix_endpoints_tsan_calls;

/**
 * Reports that have a library of MPI's in a stack are none of the program's: libraries are not
 * instrumented, so ThreadSanitizer sees what they do by functions that it stands in front of
 * (memcpy, pthread_mutex_lock, ...), and not the atomic operations that order it.
 *
 * Not called_from_lib, which ends programs that unload one of the libraries, as MPI_Finalize does;
 * and not ignore_noninstrumented_modules, which on Linux takes the program itself for such a module,
 * and so its own calls of memcpy.
 */
#define IN_LIBRARY(name)  \
    "race:" name "\n"     \
    "mutex:" name "\n"    \
    "deadlock:" name "\n" \
    "thread:" name "\n"   \
    "signal:" name "\n"

const char *__tsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void)
{
    return IN_LIBRARY("/libmpi.so") IN_LIBRARY("/libopen-pal.so") IN_LIBRARY("/libopen_mpi.so")
        IN_LIBRARY("/libmpix_endpoints.so") IN_LIBRARY("/mca_*.so") IN_LIBRARY("/libmca_*.so")
            IN_LIBRARY("/libpmix.so") IN_LIBRARY("/pmix_mca_*.so") IN_LIBRARY("/libhwloc.so")
                IN_LIBRARY("/libevent*.so") IN_LIBRARY("/libfabric.so") IN_LIBRARY("/libucp.so")
                    IN_LIBRARY("/libucs.so") IN_LIBRARY("/libuct.so") IN_LIBRARY("/libucm.so");
}

/** PMIx's shared memory needs addresses that are ThreadSanitizer's, and so do Open MPI's hooks into
 * mmap: both have to do without. */
static __attribute__((constructor)) void set_environment(void)
{
    (void) setenv("PMIX_MCA_gds", "hash", 0);
    (void) setenv("PMIX_GDS_MODULE", "hash", 1); /* the launcher's choice */
    (void) setenv("OMPI_MCA_memory", "^patcher", 0);
}
