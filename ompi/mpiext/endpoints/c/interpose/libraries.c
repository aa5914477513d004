/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The libraries of Open MPI's in this program: found by their names among those that are loaded.
 *
 * Tests: install/build, self/direct, comm_ops (direct)
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "mpiext_endpoints_libraries.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool is_library(const char *path)
{
    static const char *const names[] = MPIX_ENDPOINTS_LIBRARIES;
    const char *slash = strrchr(path, '/'), *file = NULL != slash ? slash + 1 : path;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (0 == strncmp(file, names[i], strlen(names[i]))) {
            return true;
        }
    }
    return false;
}

/** Notes the library and does no more: it runs under a lock of the dynamic linker's. */
static int note_library(struct dl_phdr_info *info, size_t size, void *data)
{
    mpix_endpoints_libraries_t *libraries = data;

    (void) size;
    if (is_library(info->dlpi_name) && MPIX_ENDPOINTS_LIBRARIES_MAX > libraries->count) {
        libraries->items[libraries->count++] = (mpix_endpoints_library_t){
            .path = info->dlpi_name,
            .base = info->dlpi_addr,
            .headers = info->dlpi_phdr,
            .header_count = info->dlpi_phnum,
        };
    }
    return 0;
}

void mpix_endpoints_libraries_find(mpix_endpoints_libraries_t *libraries)
{
    libraries->count = 0;
    dl_iterate_phdr(note_library, libraries);
}

const ElfW(Phdr)
    * mpix_endpoints_library_segment(const mpix_endpoints_library_t *library, const void *pointer)
{
    const uintptr_t address = (uintptr_t) pointer;

    for (int i = 0; i < library->header_count; ++i) {
        const ElfW(Phdr) *header = &library->headers[i];

        if (PT_LOAD == header->p_type
            && address - (library->base + header->p_vaddr) < header->p_memsz) {
            return header;
        }
    }
    return NULL;
}

const mpix_endpoints_library_t *mpix_endpoints_library_of(
    const mpix_endpoints_libraries_t *libraries, const void *pointer)
{
    for (int i = 0; i < libraries->count; ++i) {
        if (NULL != mpix_endpoints_library_segment(&libraries->items[i], pointer)) {
            return &libraries->items[i];
        }
    }
    return NULL;
}

void *mpix_endpoints_libraries_symbol(const mpix_endpoints_libraries_t *libraries, const char *name,
                                      const void *ours)
{
    for (int i = 0; i < libraries->count; ++i) {
        void *handle = dlopen(libraries->items[i].path, RTLD_LAZY | RTLD_NOLOAD);

        if (NULL != handle) {
            void *found = dlsym(handle, name);

            dlclose(handle);
            if (NULL != found && ours != found) {
                return found;
            }
        }
    }
    return NULL;
}
