/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Lets Open MPI find our components in a program that is linked with this library, wherever they
 * are installed and however it is launched: the folder goes in front of those that Open MPI looks
 * into by itself.  epmpirun does the same for programs that are not.
 *
 * Tests: install/build, create
 */

#include "ompi_config.h"

#include "opal/util/printf.h"

#include <stdlib.h>

/** The parameter under its long name, with the project in front: PMIx takes the short one for its
 * own too, and complains about every file in the folder that is not a plugin for PMIx. */
#define PATH_LONG_NAME "OMPI_MCA_opal_mca_base_component_path"

/** The short name.  PMIx sets it in the processes that it launches if its own configuration file
 * names a folder, as Debian's does; then Open MPI does not even look into its own. */
#define PATH_SHORT_NAME "OMPI_MCA_mca_base_component_path"

/** Runs when the library is loaded, which is before MPI_Init can read the parameter. */
__attribute__((constructor)) static void component_path_init(void)
{
    const char *others = getenv(PATH_SHORT_NAME);
    char *path;

    if (NULL != getenv(PATH_LONG_NAME)) {
        return;
    }
    if (NULL == others) {
        others = "SYSTEM_DEFAULT:USER_DEFAULT";
    }
    if (0 < opal_asprintf(&path, "%s:%s", MPIX_ENDPOINTS_COMPONENTDIR, others)) {
        setenv(PATH_LONG_NAME, path, 0);
        free(path);
    }
}
