/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is refused, each with a text that says what to do.
 *
 * Tests: ranks_not_copied, install/ranks_refused
 */

#define _GNU_SOURCE

#include "check.h"

#include "copy.h"
#include "references.h"
#include "set.h"

#include <errno.h>
#include <string.h>

/** Sanitizers know one copy of each object: they take addresses in others for errors, or crash. */
static _Noreturn void refuse_sanitizer(const char *name)
{
    mpix_ranks_refuse(
        "the program has a sanitizer (%s), which knows one copy of it only: compile it "
        "without -fsanitize, or run it with processes",
        name);
}

/** As libraries, which is how gcc links them. */
static void refuse_sanitizers(const mpix_ranks_libraries_t *libraries)
{
    static const char *const names[] = {"libasan.", "libtsan.",         "libhwasan.",
                                        "liblsan.", "libclang_rt.asan", "libclang_rt.tsan"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
        const mpix_ranks_library_t *library = mpix_ranks_libraries_reached(libraries, names[i]);

        if (NULL != library) {
            refuse_sanitizer(library->name);
        }
    }
}

/** clang links them into the executable. */
static void refuse_own_sanitizers(const mpix_ranks_object_t *program)
{
    static const char *const names[] = {"__asan_init", "__tsan_init", "__msan_init",
                                        "__hwasan_init"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
        if (NULL != mpix_ranks_elf_defined(&program->elf, names[i])) {
            refuse_sanitizer(names[i]);
        }
    }
}

static void refuse_kinds(const mpix_ranks_libraries_t *libraries)
{
    const mpix_ranks_library_t *abi = mpix_ranks_libraries_reached(libraries, "libmpi_abi.");

    if (NULL != abi) {
        mpix_ranks_refuse("the program is linked with %s, the MPI ABI, where MPI_COMM_WORLD is a "
                          "number: compile it with mpicc, or run it with processes",
                          abi->name);
    }
    refuse_sanitizers(libraries);
}

/** What to do where the program's file is one that cannot be copied. */
static const char *advice_of(const char *wrong)
{
    return NULL != strstr(wrong, "position-independent")
               ? " (link it with -pie and compile all of it with -fPIE, which most distributions' "
                 "compilers do by default; -no-pie prevents it)"
               : "";
}

static void check_add(mpix_ranks_set_t *set, const mpix_ranks_library_t *library)
{
    const mpix_ranks_object_t object = {.name = library->name,
                                        .label = 0 == set->count ? program_invocation_short_name
                                                                 : library->name,
                                        .map = library->map,
                                        .is_program = 0 == set->count};
    const char *path = object.is_program ? "/proc/self/exe" : library->map->l_name;
    const char *wrong = mpix_ranks_set_add(set, &object, path);

    if (NULL != wrong && object.is_program) {
        mpix_ranks_refuse("the program cannot be copied for each rank: %s%s", wrong,
                          advice_of(wrong));
    }
    if (NULL != wrong) {
        mpix_ranks_refuse("library %s cannot be copied for each rank: %s; if all ranks may share "
                          "it, MPIX_RANKS_SHARE=%s",
                          path, wrong, library->name);
    }
}

/** The library's index in the set, to which it is added where it is not yet in it. */
static int index_of(mpix_ranks_set_t *set, const mpix_ranks_library_t *library)
{
    int index = 0;

    while (index < set->count && library->map != set->objects[index].map) {
        ++index;
    }
    if (set->count == index) {
        check_add(set, library);
    }
    return index;
}

static void find_needed(mpix_ranks_set_t *set, int index, const mpix_ranks_libraries_t *libraries)
{
    size_t at = 0;

    for (const char *name;
         NULL != (name = mpix_ranks_library_needs(set->objects[index].map, &at));) {
        const mpix_ranks_library_t *library = mpix_ranks_library_of(libraries, name);

        if (NULL != library && library->is_private) {
            const int needed = index_of(set, library);

            mpix_ranks_set_need(&set->objects[index], (mpix_ranks_needed_t){.index = needed});
        }
    }
}

/** The executable and its private libraries, breadth first. */
static void make_set(const mpix_ranks_libraries_t *libraries, mpix_ranks_set_t *set)
{
    check_add(set, &libraries->all[0]);
    for (int i = 0; i < set->count; ++i) {
        find_needed(set, i, libraries);
    }
    mpix_ranks_set_order(set);
}

void mpix_ranks_check(const mpix_ranks_libraries_t *libraries,
                      const mpix_ranks_function_t *functions, mpix_ranks_set_t *set)
{
    refuse_kinds(libraries);
    make_set(libraries, set);
    refuse_own_sanitizers(&set->objects[0]);
    for (int i = 0; i < set->count; ++i) {
        mpix_ranks_object_t *object = &set->objects[i];
        const char *wrong = mpix_ranks_references_find(object, set, functions);

        wrong = NULL == wrong ? mpix_ranks_copy_prepare(object, set, set) : wrong;
        if (NULL != wrong) {
            mpix_ranks_refuse("%s cannot be copied for each rank: %s",
                              object->is_program ? "the program" : object->name, wrong);
        }
    }
}
