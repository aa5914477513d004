/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A hardened system, put in front of a program's libraries: no memory is writable and executable, or
 * becomes executable later (PR_SET_MDWE; Linux 6.3).  Where the kernel cannot do so, nothing is
 * different.
 */

#include <sys/prctl.h>

#if !defined(PR_SET_MDWE)
#    define PR_SET_MDWE 65
#endif

__attribute__((constructor)) static void forbid(void)
{
    (void) prctl(PR_SET_MDWE, 1UL, 0UL, 0UL, 0UL);
}
