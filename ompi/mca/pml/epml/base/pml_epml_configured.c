/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which PMLs the site and the user would have, were it not for "--mca pml epml": that takes the
 * place of the value of pml in their parameter files, of which Open MPI keeps only the winner.  So
 * the files are read once more, by Open MPI's own parser.
 *
 * Called when epml is selected, by one thread.
 *
 * Tests: sessions
 */

#include "ompi_config.h"

#include "pml_epml.h"
#include "pml_epml_configured.h"

#include <stdlib.h>
#include <string.h>

#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/base/mca_base_vari.h"
#include "opal/mca/installdirs/installdirs.h"
#include "opal/util/argv.h"
#include "opal/util/opal_environ.h"

/** The value that a file gives pml.  @return to be freed; NULL: none */
static char *value_in(const char *file)
{
    mca_base_var_file_value_t *value;
    char *found = NULL;
    opal_list_t values;

    OBJ_CONSTRUCT(&values, opal_list_t);
    (void) mca_base_parse_paramfile(file, &values); /* many of them do not exist */
    OPAL_LIST_FOREACH (value, &values, mca_base_var_file_value_t) {
        const bool is_pml = 0 == strcmp(value->mbvfv_var, "pml")
                            || 0 == strcmp(value->mbvfv_var, "ompi_pml");

        if (is_pml && NULL != value->mbvfv_value) {
            free(found);
            found = strdup(value->mbvfv_value);
        }
    }
    OPAL_LIST_DESTRUCT(&values);
    return found;
}

/** The files that Open MPI has read. */
static const char *files_read(void)
{
    const char *const *files = NULL;
    int index = mca_base_var_find("opal", "mca", "base", "param_files");

    if (0 > index || OPAL_SUCCESS != mca_base_var_get_value(index, &files, NULL, NULL)
        || NULL == files || NULL == *files || 0 == strcmp(*files, "none")) {
        return "";
    }
    return *files;
}

/** All parameter files, the first of which counts: also those that the launcher has read, and put
 * in the environment, where --mca has replaced the value. */
static char **all_files(void)
{
    char **files = NULL, **read = opal_argv_split(files_read(), ',');
    char *path = NULL;

    if (NULL != getenv("OPAL_USER_PARAMS_GIVEN")
        && 0 < asprintf(&path, "%s/.openmpi/mca-params.conf", opal_home_directory())) {
        (void) opal_argv_append_nosize(&files, path);
        free(path);
    }
    for (int i = 0; NULL != read && NULL != read[i]; ++i) {
        (void) opal_argv_append_nosize(&files, read[i]);
    }
    opal_argv_free(read);
    if (NULL != getenv("OPAL_SYS_PARAMS_GIVEN")
        && 0 < asprintf(&path, "%s/openmpi-mca-params.conf", opal_install_dirs.sysconfdir)) {
        (void) opal_argv_append_nosize(&files, path);
        free(path);
    }
    return files;
}

char *mca_pml_epml_configured_pmls(void)
{
    char **files = all_files();
    char *value = NULL;

    for (int i = 0; NULL == value && NULL != files && NULL != files[i]; ++i) {
        value = value_in(files[i]);
    }
    opal_argv_free(files);
    return value;
}

/** Is the name in the list? */
static bool site_contains(char **list, const char *name)
{
    for (int i = 0; NULL != list && NULL != list[i]; ++i) {
        if (0 == strcmp(list[i], name)) {
            return true;
        }
    }
    return false;
}

char *mca_pml_epml_configured_candidates(const char *value, const char *standard)
{
    const char *own = mca_pml_epml_component.super.pmlm_version.mca_component_name;
    const bool excludes = NULL != value && '^' == value[0];
    char **named = opal_argv_split(NULL == value ? "" : value + excludes, ',');
    char **all = opal_argv_split(standard, ','), **left = NULL;
    char **from = excludes || NULL == named ? all : named;
    char *result;

    for (int i = 0; NULL != from && NULL != from[i]; ++i) {
        if (0 != strcmp(from[i], own) && !(excludes && site_contains(named, from[i]))) {
            (void) opal_argv_append_nosize(&left, from[i]);
        }
    }
    if (NULL == left && !excludes) {
        result = strdup(standard); /* nothing but epml was named */
    } else {
        result = opal_argv_join(left, ',');
    }
    opal_argv_free(named);
    opal_argv_free(all);
    opal_argv_free(left);
    return result;
}
