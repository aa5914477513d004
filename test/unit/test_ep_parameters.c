/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Tables of MCA parameters (common_ep_parameters.h): defaults, the user's values, what is said of the
 * ranges and what is found wrong.
 *
 * Guards: common_ep_parameters.h
 */

#include "opal/mca/common/ep/common_ep_parameters.h"

#include "tap.h"

#include "opal/runtime/opal.h"

static struct {
    bool sure;
    int color;
    unsigned int cells;
    size_t least;
    size_t most;
    size_t size;
    char *name;
    char *folder;
} values;

static const mca_base_var_enum_value_t colors[] = {{1, "red"}, {2, "blue"}, {0, NULL}};

static const char *find_folder(void)
{
    return "/found";
}

#define FIXED .scope = MCA_BASE_VAR_SCOPE_READONLY, .level = OPAL_INFO_LVL_3

static const ep_parameter_t table[] = {
    {.name = "sure", EP_PARAMETER_STORAGE(values.sure), .preset = true, FIXED, .help = "Sure?"},
    {.name = "color",
     EP_PARAMETER_STORAGE(values.color),
     .preset = 1,
     .values = colors,
     FIXED,
     .help = "Color"},
    {.name = "cells",
     EP_PARAMETER_STORAGE(values.cells),
     .preset = 16,
     .low = 4,
     .high = 64,
     .power_of_two = true,
     FIXED,
     .help = "Cells"},
    {.name = "most",
     EP_PARAMETER_STORAGE(values.most),
     .preset = 300,
     .floor = "least",
     .high = 1000,
     FIXED,
     .help = "Most"},
    {.name = "least",
     EP_PARAMETER_STORAGE(values.least),
     .preset = 200,
     .low = 1,
     FIXED,
     .help = "Least (at least 1)"},
    {.name = "size",
     EP_PARAMETER_STORAGE(values.size),
     .preset = 0,
     .low = 10,
     .high = 20,
     .automatic = true,
     .floor = "least",
     FIXED,
     .help = "Size"},
    {.name = "name",
     EP_PARAMETER_STORAGE(values.name),
     .preset_text = "anna",
     FIXED,
     .help = "Name"},
    {.name = "folder",
     EP_PARAMETER_STORAGE(values.folder),
     .find_preset = find_folder,
     FIXED,
     .help = "Folder"},
    {.name = NULL}};

static const mca_base_component_t component = {.mca_project_name = "opal",
                                               .mca_type_name = "btl",
                                               .mca_component_name = "eptest"};

static void preset(void)
{
    for (const ep_parameter_t *parameter = table; NULL != parameter->name; ++parameter) {
        ep_parameter_preset(parameter);
    }
}

/** Is this value the first that is wrong, and in this range? */
static void check_fault(const char *name, size_t value, size_t low, size_t high, bool in_range)
{
    ep_parameter_fault_t fault = {.name = "none"};

    TAP_CHECK(!ep_parameters_right(table, &fault), "%s of %zu is taken", name, value);
    TAP_CHECK(0 == strcmp(name, fault.name), "%s is said to be wrong, not %s", fault.name, name);
    TAP_EQ(value, fault.value);
    TAP_EQ(low, fault.low);
    TAP_EQ(high, fault.high);
    TAP_EQ(in_range, fault.in_range);
    preset();
    TAP_CHECK(ep_parameters_right(table, &fault), "the default of %s is wrong", fault.name);
}

static void case_ranges(void)
{
    ep_parameter_fault_t fault;

    tap_case("values out of their range, and no others, are found");
    preset();
    values.cells = 2;
    check_fault("cells", 2, 4, 64, false);
    values.cells = 128;
    check_fault("cells", 128, 4, 64, false);
    values.cells = 24;
    check_fault("cells", 24, 4, 64, true);
    values.least = 0;
    check_fault("least", 0, 1, SIZE_MAX, false);
    values.most = 199;
    check_fault("most", 199, 200, 1000, false);
    values.least = 301;
    check_fault("most", 300, 301, 1000, false);
    values.least = 15;
    values.size = 14;
    check_fault("size", 14, 15, 20, false);
    values.least = 5;
    values.size = 9;
    check_fault("size", 9, 10, 20, false);
    values.least = 5;
    values.size = 10;
    values.color = -1; /* no range at all */
    TAP_CHECK(ep_parameters_right(table, &fault), "%s is said to be wrong", fault.name);
    tap_case_done();
}

static void case_texts(void)
{
    static const char *const texts[] = {"Sure?",
                                        "Color",
                                        "Cells (a power of two, 4 to 64)",
                                        "Most (at least least, at most 1000)",
                                        "Least (at least 1)",
                                        "Size (0: by itself; or 10 to 20)",
                                        "Name",
                                        "Folder"};

    tap_case("the texts say the ranges");
    for (size_t i = 0; NULL != table[i].name; ++i) {
        char *help = ep_parameter_help(&table[i]);

        TAP_CHECK(NULL != help && 0 == strcmp(texts[i], help), "expected \"%s\", got \"%s\"",
                  texts[i], NULL == help ? "nothing" : help);
        free(help);
    }
    tap_case_done();
}

static void case_registered(void)
{
    tap_case("what is registered has its default or the user's value");
    (void) setenv("OMPI_MCA_btl_eptest_color", "blue", 1);
    (void) setenv("OMPI_MCA_btl_eptest_size", "1k", 1);
    TAP_EQ(OPAL_SUCCESS, opal_init_util(NULL, NULL));
    TAP_EQ(OPAL_SUCCESS, ep_parameters_register(&component, "of a test", table));
    TAP_EQ(2, values.color);
    TAP_EQ(1024, values.size);
    TAP_EQ(true, values.sure);
    TAP_EQ(16, values.cells);
    TAP_CHECK(0 == strcmp("anna", values.name), "name is %s", values.name);
    TAP_CHECK(0 == strcmp("/found", values.folder), "folder is %s", values.folder);
    for (const ep_parameter_t *parameter = table; NULL != parameter->name; ++parameter) {
        TAP_CHECK(0 <= mca_base_var_find("opal", "btl", "eptest", parameter->name),
                  "%s is not registered", parameter->name);
    }
    (void) opal_finalize_util();
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_ep_parameters", 60);
    case_ranges();
    case_texts();
    case_registered();
    return tap_end();
}
