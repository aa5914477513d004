/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory of a GPU for the tests of device memory: preloaded by test/gpu/run in place of
 * fake_accelerator.c, whose functions it has.  Open MPI's cuda component stays what it is.  CUDA's
 * driver is opened at run time, so nothing of CUDA is needed to compile this.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

/** CU_MEM_ATTACH_GLOBAL */
#define ATTACH_GLOBAL 1

/* Of libcuda: results are 0 or an error, an address of the device is a number of 64 bits. */
static struct {
    int (*init)(unsigned flags);
    int (*device_get)(int *device, int ordinal);
    int (*context_retain)(void **context, int device);
    int (*context_set)(void *context);
    int (*alloc)(uint64_t *address, size_t size);
    int (*alloc_managed)(uint64_t *address, size_t size, unsigned flags);
    int (*copy)(uint64_t to, uint64_t from, size_t size);
    int (*synchronize)(void);
} cuda;

static void *context;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void check(int error, const char *what)
{
    if (0 != error) {
        fprintf(stderr, "cuda_accelerator: %s: error %d of CUDA\n", what, error);
        abort();
    }
}

static void *find(void *library, const char *name)
{
    void *function = NULL == library ? NULL : dlsym(library, name);

    if (NULL == function) {
        fprintf(stderr, "cuda_accelerator: no %s in libcuda.so.1\n", name);
        abort();
    }
    return function;
}

static void open_cuda(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int device;

    *(void **) &cuda.init = find(library, "cuInit");
    *(void **) &cuda.device_get = find(library, "cuDeviceGet");
    *(void **) &cuda.context_retain = find(library, "cuDevicePrimaryCtxRetain");
    *(void **) &cuda.context_set = find(library, "cuCtxSetCurrent");
    *(void **) &cuda.alloc = find(library, "cuMemAlloc_v2");
    *(void **) &cuda.alloc_managed = find(library, "cuMemAllocManaged");
    *(void **) &cuda.copy = find(library, "cuMemcpy");
    *(void **) &cuda.synchronize = find(library, "cuCtxSynchronize");
    check(cuda.init(0), "cuInit");
    check(cuda.device_get(&device, 0), "cuDeviceGet");
    check(cuda.context_retain(&context, device), "cuDevicePrimaryCtxRetain");
}

/** The calling thread has the device's context. */
static void attach(void)
{
    (void) pthread_once(&once, open_cuda);
    check(cuda.context_set(context), "cuCtxSetCurrent");
}

EXPORT void *ept_device_memory(size_t size)
{
    uint64_t address;

    attach();
    check(cuda.alloc(&address, size), "cuMemAlloc");
    return (void *) (uintptr_t) address;
}

EXPORT void *ept_managed_memory(size_t size)
{
    uint64_t address;

    attach();
    check(cuda.alloc_managed(&address, size, ATTACH_GLOBAL), "cuMemAllocManaged");
    return (void *) (uintptr_t) address;
}

EXPORT void ept_device_copy(void *to, const void *from, size_t size)
{
    attach();
    check(cuda.copy((uintptr_t) to, (uintptr_t) from, size), "cuMemcpy");
    check(cuda.synchronize(), "cuCtxSynchronize");
}

EXPORT void ept_device_detach(void)
{
    (void) pthread_once(&once, open_cuda);
    check(cuda.context_set(NULL), "cuCtxSetCurrent");
}

/* Nobody counts. */

EXPORT long ept_device_looks(void)
{
    return -1;
}

EXPORT long ept_device_copies(void)
{
    return -1;
}
