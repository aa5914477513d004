/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of mca_pml_epml_framework_present: of the names of PMLs those are left, in their order, that
 * Open MPI has, linked in or in files.  An Open MPI without UCX has no PML ucx, and to open it
 * fails.
 *
 * Guards: pml_epml_framework.c
 */

#include "tap.h"

#include "ompi/mca/pml/epml/base/pml_epml_framework.c"

#include "opal/runtime/opal.h"

static const mca_base_component_t ob1 = {.mca_component_name = "ob1"};
static const mca_base_component_t ob = {.mca_component_name = "ob"};
static const mca_base_component_t cm = {.mca_component_name = "cm"};

/** At most three components, as MCA's generated list has them; Open MPI 6 lists where a pointer
 * is */
static void expect(const mca_base_component_t **linked, const char *names, const char *expected)
{
#if OMPI_MAJOR_VERSION >= 6
    const mca_base_component_t **list[4] = {NULL};

    for (int i = 0; NULL != linked && NULL != linked[i]; ++i) {
        list[i] = &linked[i];
    }
#else
    const mca_base_component_t **list = linked;
#endif
    const mca_base_framework_t framework = {.framework_name = "nobody-has-files-of-this-one",
                                            .framework_static_components = NULL == linked ? NULL
                                                                                          : list};
    char *present = mca_pml_epml_framework_present(&framework, names);

    TAP_CHECK(0 == strcmp(expected, present), "%s: of %s there are %s", expected, names, present);
    free(present);
}

static void case_files(void)
{
    mca_base_framework_t framework = {.framework_name = ""};
    opal_list_t files;
    mca_base_component_repository_item_t file = {.ri_name = "ucx"};

    tap_case("in files");
    OBJ_CONSTRUCT(&files, opal_list_t);
    OBJ_CONSTRUCT(&file.super, opal_list_item_t);
    TAP_CHECK(!is_present(&framework, &files, "ucx"), "in no file");
    opal_list_append(&files, &file.super);
    TAP_CHECK(is_present(&framework, &files, "ucx"), "in a file");
    TAP_CHECK(!is_present(&framework, &files, "ucx2") && !is_present(&framework, &files, "uc"),
              "a part of a name");
    TAP_CHECK(!is_present(&framework, NULL, "ucx"), "there are no files");
    (void) opal_list_remove_first(&files);
    OBJ_DESTRUCT(&file.super);
    OBJ_DESTRUCT(&files);
    tap_case_done();
}

int main(int argc, char **argv)
{
    const mca_base_component_t *all[] = {&cm, &ob1, NULL}, *one[] = {&ob, NULL};

    tap_begin(argc, argv, "test_epml_present", 30);
    TAP_EQ(OPAL_SUCCESS, opal_init_util(NULL, NULL));
    TAP_EQ(OPAL_SUCCESS, mca_base_component_repository_init());
    tap_case("linked in");
    expect(all, "ob1,ucx,cm", "ob1,cm");
    expect(all, "ob1,cm", "ob1,cm");
    expect(one, "ob1,ucx,cm", "");
    expect(NULL, "ob1", "");
    expect(all, "", "");
    tap_case_done();
    case_files();
    return tap_end();
}
