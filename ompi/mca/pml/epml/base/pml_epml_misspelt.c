/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Misspelt parameters of our components.  The environment has those of the launcher's line, too;
 * those of files nobody tells us.
 *
 * Tests: create (misspelt, spelt)
 */

#include "ompi_config.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "pml_epml.h"
#include "pml_epml_misspelt.h"

#include "opal/constants.h"
#include "opal/mca/base/mca_base_var.h"

#define VARIABLE "OMPI_MCA_"

enum { NAME_BYTES = 64, TEXT_BYTES = 1024 };

static const char *const components[] = {"pml_epml_", "coll_epcoll_", "osc_epwin_", "btl_epshm_",
                                         "btl_epofi_"};

extern char **environ;

/** How many characters have to be put in, taken out or replaced to make one of the other.  Both are
 * shorter than NAME_BYTES. */
static unsigned int misspelt_distance(const char *one, const char *other)
{
    unsigned int row[NAME_BYTES];
    const size_t length = strlen(other);

    for (size_t j = 0; j <= length; ++j) {
        row[j] = (unsigned int) j;
    }
    for (size_t i = 0; '\0' != one[i]; ++i) {
        unsigned int corner = row[0];

        row[0] = (unsigned int) i + 1;
        for (size_t j = 0; j < length; ++j) {
            const unsigned int replaced = corner + (one[i] == other[j] ? 0 : 1);
            const unsigned int changed = 1 + (row[j] < row[j + 1] ? row[j] : row[j + 1]);

            corner = row[j + 1];
            row[j + 1] = replaced < changed ? replaced : changed;
        }
    }
    return row[length];
}

/** The parameter of a component that is most like name.
 *
 * @return NULL: the component is not there; name, if it is one */
static const char *misspelt_nearest(const char *name, const char *component)
{
    const int count = mca_base_var_get_count();
    unsigned int least = NAME_BYTES;
    const char *found = NULL;

    for (int i = 0; i < count; ++i) {
        const mca_base_var_t *variable;
        unsigned int changes;

        if (OPAL_SUCCESS != mca_base_var_get(i, &variable)
            || 0 != strncmp(variable->mbv_full_name, component, strlen(component))
            || NAME_BYTES <= strlen(variable->mbv_full_name)) {
            continue;
        }
        changes = misspelt_distance(name, variable->mbv_full_name);
        if (0 == changes) {
            return name;
        }
        if (changes < least) {
            least = changes;
            found = variable->mbv_full_name;
        }
    }
    return found;
}

/** Add a line to text if no component of ours knows the parameter that a variable of the environment
 * sets. */
static void look_at(const char *variable, char *text)
{
    const size_t used = strlen(text);
    char name[NAME_BYTES];

    if (0 != strncmp(variable, VARIABLE, sizeof(VARIABLE) - 1)) {
        return;
    }
    variable += sizeof(VARIABLE) - 1;
    if (NAME_BYTES <= strcspn(variable, "=")) {
        return;
    }
    (void) snprintf(name, sizeof(name), "%.*s", (int) strcspn(variable, "="), variable);
    for (size_t i = 0; i < sizeof(components) / sizeof(components[0]); ++i) {
        if (0 == strncmp(name, components[i], strlen(components[i]))) {
            const char *like = misspelt_nearest(name, components[i]);

            if (NULL != like && name != like) {
                (void) snprintf(text + used, TEXT_BYTES - used, "\n  %s: most like it is %s", name,
                                like);
            }
        }
    }
}

void mca_pml_epml_name_misspelt(void)
{
    static _Atomic bool looked = false;
    char text[TEXT_BYTES] = "";

    /* Relaxed: it orders nothing, it only counts to one. */
    if (atomic_exchange_explicit(&looked, true, memory_order_relaxed)) {
        return;
    }
    for (char **variable = environ; NULL != *variable; ++variable) {
        look_at(*variable, text);
    }
    if ('\0' != text[0]) {
        EPML_SHOW_HELP("misspelt", true, text);
    }
}
