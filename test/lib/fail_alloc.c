/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A malloc that fails on demand: preloaded by tests (LD_PRELOAD).  Only calls straight
 * from our own libraries, by the thread that gave the order, are counted.
 *
 *   void ept_fail_alloc_of(const char *name)  libraries with that in their names alone, be they
 *   Open
 *                                   MPI's; before the first order of the process
 *   void ept_fail_alloc_sized(size_t size)    calls for so many bytes alone; 0: any
 *   void ept_fail_alloc(long n)     the n-th call from now on fails, once; 0: none
 *   int ept_fail_alloc_done(void)   has it failed?  No more does after this
 *   long ept_fail_alloc_count(void) calls of all threads that have failed
 *
 * The program finds the functions with dlsym.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define MOST_RANGES 16

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

/** Code of our libraries; written by the first order, before anything counts. */
static struct {
    uintptr_t begin, end;
} ranges[MOST_RANGES];
static int range_count;
static const char *only; /**< NULL: all of ours */

static _Atomic long failed;
static __thread long left;
static __thread size_t sized;
static __thread bool done;

static bool is_ours(const char *name)
{
    return NULL != strstr(name, "mca_pml_epml") || NULL != strstr(name, "mca_btl_ep")
           || NULL != strstr(name, "mca_coll_epcoll") || NULL != strstr(name, "mca_osc_epwin")
           || NULL != strstr(name, "libmpix_endpoints");
}

static int note_ranges(struct dl_phdr_info *info, size_t size, void *data)
{
    (void) size;
    (void) data;
    if (NULL != only ? NULL == strstr(info->dlpi_name, only) : !is_ours(info->dlpi_name)) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum && range_count < MOST_RANGES; ++i) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];

        if (PT_LOAD == header->p_type && 0 != (header->p_flags & PF_X)) {
            ranges[range_count].begin = info->dlpi_addr + header->p_vaddr;
            ranges[range_count++].end = info->dlpi_addr + header->p_vaddr + header->p_memsz;
        }
    }
    return 0;
}

EXPORT void ept_fail_alloc_of(const char *name)
{
    only = name;
}

EXPORT void ept_fail_alloc_sized(size_t size)
{
    sized = size;
}

EXPORT void ept_fail_alloc(long n)
{
    if (0 == range_count) {
        dl_iterate_phdr(note_ranges, NULL);
    }
    done = false;
    left = n;
}

EXPORT int ept_fail_alloc_done(void)
{
    left = 0;
    return done;
}

EXPORT long ept_fail_alloc_count(void)
{
    return failed;
}

static bool fails(const void *caller, size_t size)
{
    if (0 == left || (0 != sized && size != sized)) {
        return false;
    }
    for (int i = 0; i < range_count; ++i) {
        if (ranges[i].begin <= (uintptr_t) caller && (uintptr_t) caller < ranges[i].end
            && (0 > left || 0 == --left)) {
            done = true;
            ++failed;
            errno = ENOMEM;
            return true;
        }
    }
    return false;
}

EXPORT void *malloc(size_t size)
{
    return fails(__builtin_return_address(0), size) ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0), count * size) ? NULL : __libc_calloc(count, size);
}

EXPORT void *realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0), size) ? NULL : __libc_realloc(old, size);
}

EXPORT int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (fails(__builtin_return_address(0), size)) {
        return ENOMEM;
    }
    *memory = __libc_memalign(alignment, size);
    return NULL == *memory ? ENOMEM : 0;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0), size) ? NULL : __libc_memalign(alignment, size);
}
