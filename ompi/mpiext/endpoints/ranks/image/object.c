/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Lists, and what names mean: see object.h.
 *
 * Tests: ranks_basic
 */

#define _GNU_SOURCE

#include "object.h"

#include <stdlib.h>
#include <string.h>

static const mpix_ranks_variable_t variables[] = {
    {"optarg", 0, sizeof(char *)},
    {"optind", 1, sizeof(int)},
    {"opterr", 2, sizeof(int)},
    {"optopt", 3, sizeof(int)},
    {"stdin", 4, sizeof(void *)},
    {"stdout", 5, sizeof(void *)},
    {"stderr", 6, sizeof(void *)},
    {"environ", 7, sizeof(char **)},
    {"__environ", 7, sizeof(char **)},
    {"_environ", 7, sizeof(char **)},
    {"program_invocation_name", 8, sizeof(char *)},
    {"__progname_full", 8, sizeof(char *)},
    {"program_invocation_short_name", 9, sizeof(char *)},
    {"__progname", 9, sizeof(char *)},
    {"signgam", 10, sizeof(int)},
    {"__signgam", 10, sizeof(int)},
};

enum { NAMES = sizeof(variables) / sizeof(*variables) };

const mpix_ranks_variable_t *mpix_ranks_variable(const char *name)
{
    for (int i = 0; i < NAMES; ++i) {
        if (0 == strcmp(name, variables[i].name)) {
            return &variables[i];
        }
    }
    return NULL;
}

const mpix_ranks_variable_t *mpix_ranks_variable_at(int index)
{
    int i = 0;

    while (index != variables[i].index) {
        ++i;
    }
    return &variables[i];
}

void *mpix_ranks_list_add(mpix_ranks_list_t *list, size_t item_size)
{
    char *items = list->items;

    if (list->count == list->room) {
        const int room = 2 * list->room + 16;

        items = realloc(items, (size_t) room * item_size);
        if (NULL == items) {
            mpix_ranks_refuse("no memory");
        }
        list->items = items;
        list->room = room;
    }
    items += (size_t) list->count++ * item_size;
    return memset(items, 0, item_size);
}

static bool object_begins(const char *name, const char *with)
{
    return 0 == strncmp(name, with, strlen(with));
}

bool mpix_ranks_is_predefined(const char *name)
{
    return object_begins(name, "ompi_mpi_") || object_begins(name, "ompi_request_null")
           || object_begins(name, "ompi_request_empty") || object_begins(name, "ompi_message_");
}

bool mpix_ranks_is_fortran(const char *name)
{
    return object_begins(name, "mpi_fortran_");
}
