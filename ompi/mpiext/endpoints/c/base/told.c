/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Numbers that this process was told by its environment: by epmpirun (-endpoints, -threadlevel), by
 * the process that has spawned it (hooks/hook_spawn.c), or by the user.
 *
 * That of endpoints is a maximum, as the text of 2011 has it for mpiexec's: creations that would go
 * beyond it fail, and a query for the number allowed returns it.
 *
 * Tests: static_told, static_errors (told)
 */

#include "ompi_config.h"

#include "mpiext_endpoints_told.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

int mpix_endpoints_told(const char *variable, int low, int high)
{
    const char *text = getenv(variable);
    char *end;
    long number;

    if (NULL == text || '\0' == *text) {
        return low - 1;
    }
    errno = 0;
    number = strtol(text, &end, 10);
    return 0 == errno && '\0' == *end && low <= number && high >= number ? (int) number : low - 1;
}

int mpix_endpoints_most_told(void)
{
    const int told = mpix_endpoints_told(MPIX_ENDPOINTS_NUMBER_VARIABLE, 1, INT_MAX);

    return 0 < told ? told : INT_MAX;
}
