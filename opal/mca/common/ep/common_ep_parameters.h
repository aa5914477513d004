/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MCA parameters as tables: what a component has of them is written once, in its
 * *_parameters.c.  From there come what Open MPI knows of them, what is checked before endpoints
 * are made, and, by ompi_info, docs/parameters.md (docs/make-pages).
 *
 * Tests: unit/test_ep_parameters, install/files
 */

#ifndef OPAL_COMMON_EP_PARAMETERS_H
#define OPAL_COMMON_EP_PARAMETERS_H

#include "opal_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opal/constants.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/mca.h"
#include "opal/util/printf.h"

/** A parameter.  A table of them ends with one that has no name. */
typedef struct ep_parameter_t {
    const char *name;         /**< without the component's: eager_limit */
    mca_base_var_type_t type; /**< EP_PARAMETER_STORAGE */
    void *storage;            /**< likewise */

    size_t preset;                    /**< the default of a number; of a bool, 0 or 1 */
    const char *preset_text;          /**< the default of a text */
    const char *(*find_preset)(void); /**< of a text whose default depends on the machine */

    size_t low;        /**< the least value of a number */
    const char *floor; /**< name of another one, below which it must not be either, or NULL */
    size_t high;       /**< the greatest value; 0: there is none */
    bool automatic;    /**< 0 leaves the choice to us, whatever the range */
    bool power_of_two; /**< no other values */
    const mca_base_var_enum_value_t *values; /**< their names, if it is one of a few */

    const char *unit; /**< of a number; shown in docs/parameters.md, which reads it here */
    mca_base_var_flag_t flags;
    mca_base_var_scope_t scope;
    mca_base_var_info_lvl_t level;
    const char *help; /**< what becomes different; the range, if it has an end, is added */
} ep_parameter_t;

/** The fields type and storage, for an int, unsigned int, size_t, bool or char *. */
#define EP_PARAMETER_STORAGE(variable) \
    .type = _Generic((variable),                                   \
                     bool: MCA_BASE_VAR_TYPE_BOOL,                 \
                     int: MCA_BASE_VAR_TYPE_INT,                   \
                     unsigned int: MCA_BASE_VAR_TYPE_UNSIGNED_INT, \
                     size_t: MCA_BASE_VAR_TYPE_SIZE_T,             \
                     char *: MCA_BASE_VAR_TYPE_STRING),            \
    .storage = &(variable)

/** What is wrong with a value. */
typedef struct ep_parameter_fault_t {
    const char *name;
    size_t value; /**< of an int, its bits */
    size_t low;   /**< what it may be */
    size_t high;
    bool in_range; /**< but not a power of two */
} ep_parameter_fault_t;

/* ---- values ---------------------------------------------------------------------------------- */

/** A number.  @return a negative one as one that is too great for any range; 0 for a text */
static inline size_t ep_parameter_value(const ep_parameter_t *parameter)
{
    switch (parameter->type) {
    case MCA_BASE_VAR_TYPE_BOOL:
        return *(const bool *) parameter->storage;
    case MCA_BASE_VAR_TYPE_INT:
        return (size_t) * (const int *) parameter->storage;
    case MCA_BASE_VAR_TYPE_UNSIGNED_INT:
        return *(const unsigned int *) parameter->storage;
    case MCA_BASE_VAR_TYPE_SIZE_T:
        return *(const size_t *) parameter->storage;
    default:
        return 0;
    }
}

static inline void ep_parameter_preset(const ep_parameter_t *parameter)
{
    switch (parameter->type) {
    case MCA_BASE_VAR_TYPE_BOOL:
        *(bool *) parameter->storage = 0 != parameter->preset;
        break;
    case MCA_BASE_VAR_TYPE_INT:
        *(int *) parameter->storage = (int) parameter->preset;
        break;
    case MCA_BASE_VAR_TYPE_UNSIGNED_INT:
        *(unsigned int *) parameter->storage = (unsigned int) parameter->preset;
        break;
    case MCA_BASE_VAR_TYPE_SIZE_T:
        *(size_t *) parameter->storage = parameter->preset;
        break;
    default:
        *(const char **) parameter->storage = NULL != parameter->find_preset
                                                  ? parameter->find_preset()
                                                  : parameter->preset_text;
        break;
    }
}

/** The least value that a parameter may have, given the other values of its table. */
static inline size_t ep_parameter_low(const ep_parameter_t *table, const ep_parameter_t *parameter)
{
    size_t floor = 0;

    for (; NULL != parameter->floor && NULL != table->name; ++table) {
        if (0 == strcmp(parameter->floor, table->name)) {
            floor = ep_parameter_value(table);
        }
    }
    return parameter->low > floor ? parameter->low : floor;
}

/**
 * Are all values of a table valid?  To be asked when endpoints are made and not before, so that
 * only users of endpoints get a mistake reported.
 *
 * @param[out] fault  if not: the first one that is not, for a help text
 */
static inline bool ep_parameters_right(const ep_parameter_t *table, ep_parameter_fault_t *fault)
{
    for (const ep_parameter_t *parameter = table; NULL != parameter->name; ++parameter) {
        const size_t value = ep_parameter_value(parameter);
        const size_t low = ep_parameter_low(table, parameter);
        const size_t high = 0 == parameter->high ? SIZE_MAX : parameter->high;
        const bool in_range = low <= value && value <= high;

        if ((parameter->automatic && 0 == value) || MCA_BASE_VAR_TYPE_STRING == parameter->type
            || (in_range && (!parameter->power_of_two || 0 == (value & (value - 1))))) {
            continue;
        }
        *fault = (ep_parameter_fault_t){parameter->name, value, low, high, in_range};
        return false;
    }
    return true;
}

/* ---- registration ---------------------------------------------------------------------------- */

/** The text with the range behind it, to be freed.  @return NULL: no memory */
static inline char *ep_parameter_help(const ep_parameter_t *parameter)
{
    char *help = NULL;
    int size;

    if (0 == parameter->high) {
        size = opal_asprintf(&help, "%s", parameter->help);
    } else if (NULL != parameter->floor && 0 == parameter->low) {
        size = opal_asprintf(&help, "%s (at least %s, at most %zu)", parameter->help,
                             parameter->floor, parameter->high);
    } else {
        size = opal_asprintf(&help, "%s (%s%zu to %zu)", parameter->help,
                             parameter->automatic      ? "0: by itself; or "
                             : parameter->power_of_two ? "a power of two, "
                                                       : "",
                             parameter->low, parameter->high);
    }
    return 0 > size ? NULL : help;
}

/** The names of its values, to be released.  @return NULL: it has none, or no memory */
static inline mca_base_var_enum_t *ep_parameter_enum(const mca_base_component_t *component,
                                                     const ep_parameter_t *parameter)
{
    mca_base_var_enum_t *values = NULL;
    char name[128];

    if (NULL != parameter->values) {
        (void) snprintf(name, sizeof(name), "%s_%s_%s", component->mca_type_name,
                        component->mca_component_name, parameter->name);
        (void) mca_base_var_enum_create(name, parameter->values, &values);
    }
    return values;
}

static inline int ep_parameter_register(const mca_base_component_t *component,
                                        const ep_parameter_t *parameter)
{
    mca_base_var_enum_t *values = ep_parameter_enum(component, parameter);
    char *help = ep_parameter_help(parameter);
    int rc = OPAL_ERR_OUT_OF_RESOURCE;

    if (NULL != help) {
        rc = mca_base_component_var_register(component, parameter->name, help, parameter->type,
                                             values, 0, parameter->flags, parameter->level,
                                             parameter->scope, parameter->storage);
        free(help);
    }
    if (NULL != values) {
        OBJ_RELEASE(values);
    }
    return 0 > rc ? rc : OPAL_SUCCESS;
}

/**
 * Give all parameters of a table their defaults, and make Open MPI know them, which gives them the
 * user's values.  Each time that the component is registered: it may be opened again.
 *
 * @param about  the component, for MPI_T's categories
 * @return the first error; the others are registered all the same
 */
static inline int ep_parameters_register(const mca_base_component_t *component, const char *about,
                                         const ep_parameter_t *table)
{
    int result = OPAL_SUCCESS;

    (void) mca_base_var_group_component_register(component, about);
    for (; NULL != table->name; ++table) {
        int rc;

        ep_parameter_preset(table);
        rc = ep_parameter_register(component, table);
        result = OPAL_SUCCESS == result ? rc : result;
    }
    return result;
}

#endif /* OPAL_COMMON_EP_PARAMETERS_H */
