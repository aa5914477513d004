/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The wrapped PML: selected as if epml were not there.
 *
 * Tests: p2p_basic (ordinary), sessions
 */

#include "ompi_config.h"

#include <stdio.h>

#include "pml_epml.h"
#include "pml_epml_base.h"
#include "pml_epml_base_error.h"
#include "pml_epml_framework.h"
#include "pml_epml_configured.h"

#include "ompi/constants.h"

/** The candidates among which Open MPI itself chooses when neither user nor site has a wish: those
 * of them that it has. */
static const char default_candidates[] = "ob1,ucx,cm";

static mca_base_framework_t base_framework;
static mca_pml_base_component_t *base_component;

/** What the choice of the base PML followed, as text; constant while there is a base PML. */
static const char *base_wish;
static char base_candidates[128];

/** Ask every candidate; the one with the highest priority stays. */
static mca_pml_base_module_t *base_choose(bool enable_progress_threads, bool enable_mpi_threads)
{
    mca_pml_base_module_t *best_module = NULL;
    mca_base_component_list_item_t *item;
    int best_priority = -1;

    OPAL_LIST_FOREACH (item, &base_framework.framework_components, mca_base_component_list_item_t) {
        mca_pml_base_component_t *component = (mca_pml_base_component_t *) item->cli_component;
        mca_pml_base_module_t *module;
        int priority = best_priority;

        if (NULL == component->pmlm_init) {
            continue;
        }
        module = component->pmlm_init(&priority, enable_progress_threads, enable_mpi_threads);
        if (NULL == module) {
            continue;
        }
        if (NULL == best_module || priority > best_priority) {
            if (NULL != base_component && NULL != base_component->pmlm_finalize) {
                (void) base_component->pmlm_finalize();
            }
            base_component = component;
            best_module = module;
            best_priority = priority;
        } else if (NULL != component->pmlm_finalize) {
            (void) component->pmlm_finalize();
        }
    }
    return best_module;
}

/** The names of the PMLs to choose from.  @return to be freed; empty: there are none */
static char *make_candidates(void)
{
    const char *wanted = mca_pml_epml_component.base_name;
    char *standard = mca_pml_epml_framework_present(&ompi_pml_base_framework, default_candidates);
    char *site = NULL, *candidates;

    if (NULL == standard) {
        return NULL;
    }
    if (NULL != wanted && '\0' != wanted[0]) {
        base_wish = "pml_epml_base";
    } else {
        wanted = site = mca_pml_epml_configured_pmls();
        base_wish = NULL != site ? "the parameter files' pml" : "nobody has a wish";
    }
    candidates = mca_pml_epml_configured_candidates(wanted, standard);
    free(site);
    free(standard);
    return candidates;
}

/** Select one of these.  @return OMPI_SUCCESS or an error, the framework being closed */
static int select_of(char *candidates, bool enable_progress_threads, bool enable_mpi_threads)
{
    mca_pml_base_module_t *module;
    int rc;

    if ('\0' == candidates[0]) {
        return OMPI_ERR_NOT_FOUND;
    }
    rc = mca_pml_epml_framework_open(&base_framework, &ompi_pml_base_framework, candidates);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    base_component = NULL;
    module = base_choose(enable_progress_threads, enable_mpi_threads);
    if (NULL == module) {
        mca_pml_epml_framework_close(&base_framework);
        return OMPI_ERR_NOT_FOUND;
    }
    (void) mca_base_components_close(base_framework.framework_output,
                                     &base_framework.framework_components,
                                     &base_component->pmlm_version);
    mca_pml_epml_component.base = *module;
    mca_pml_epml_base_error_start();
    return OMPI_SUCCESS;
}

int mca_pml_epml_base_select(bool enable_progress_threads, bool enable_mpi_threads)
{
    const char *name = mca_pml_epml_component.base_name;
    char *candidates;
    int rc;

    if (NULL != name
        && 0 == strcmp(name, mca_pml_epml_component.super.pmlm_version.mca_component_name)) {
        EPML_SHOW_HELP("base is epml", true);
        return OMPI_ERR_BAD_PARAM;
    }
    candidates = make_candidates();
    if (NULL == candidates) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    snprintf(base_candidates, sizeof(base_candidates), "%s", candidates);
    rc = select_of(candidates, enable_progress_threads, enable_mpi_threads);
    if (OMPI_SUCCESS != rc) {
        EPML_SHOW_HELP("no base", true, '\0' != candidates[0] ? candidates : "(none are left)");
    }
    /* The framework's copy has the selection still, and does not look at it any more. */
    free(candidates);
    return rc;
}

void mca_pml_epml_base_describe(char *text, size_t size)
{
    snprintf(text, size, "%s, the best of %s (%s)",
             NULL != base_component ? base_component->pmlm_version.mca_component_name : "none",
             base_candidates, base_wish);
}

int mca_pml_epml_base_finalize(void)
{
    int rc = OMPI_SUCCESS;

    if (NULL == base_component) {
        return OMPI_SUCCESS;
    }
    mca_pml_epml_base_error_stop();
    if (NULL != base_component->pmlm_finalize) {
        rc = base_component->pmlm_finalize();
    }
    base_component = NULL;
    mca_pml_epml_framework_close(&base_framework);
    return rc;
}
