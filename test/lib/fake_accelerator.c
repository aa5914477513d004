/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * An accelerator that is not there: preloaded by tests (LD_PRELOAD).  When Open MPI has selected
 * its accelerator component (opal_init), this one takes its place.
 *
 *   void *ept_device_memory(size_t size)    memory of the device, never given back: the CPU cannot
 *                                           access it, so a forgotten access is a segmentation
 *                                           fault
 *   void *ept_managed_memory(size_t size)   memory of the device that the CPU can access
 *   void ept_device_copy(void *to, const void *from, size_t size)
 *   long ept_device_looks(void)             addresses that this thread has asked about so far
 *   long ept_device_copies(void)            copies between two places of the device, by all threads
 *   void ept_device_detach(void)            this thread has no context
 *
 * As with CUDA, a thread copies only if it has a context, and gets one by asking about an address.
 *
 * The program finds the functions with dlsym.
 */

#define _GNU_SOURCE

#include "opal_config.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "opal/constants.h"
#include "opal/mca/accelerator/accelerator.h"
#include "opal/mca/accelerator/base/base.h"

#define EXPORT __attribute__((visibility("default")))

/** Device memory, and managed memory, in bytes. */
#define SIZE ((size_t) 64 << 20)

/** A part of the device's memory.  Device memory is mapped twice: as the program sees it, and as
 * the accelerator's copies do. */
static struct memory {
    char *seen, *own;
    _Atomic size_t used;
} plain, managed;

/* Below all that the process gets without asking for a place, and far above 0: a program can have
 * host memory at source and target. */
#define PLACE ((void *) 0x300000000000)

static void *map(int file, int protection)
{
    void *base = mmap(PLACE, SIZE, protection, MAP_SHARED | MAP_NORESERVE, file, 0);

    if (MAP_FAILED == base) {
        abort();
    }
    return base;
}

static void memory_make(struct memory *memory, int protection)
{
    const int file = memfd_create("device", MFD_CLOEXEC);

    if (0 > file || 0 != ftruncate(file, (off_t) SIZE)) {
        abort();
    }
    memory->seen = map(file, protection);
    memory->own = map(file, PROT_READ | PROT_WRITE);
    (void) close(file);
}

static void *memory_get(struct memory *memory, size_t size)
{
    const size_t rounded = (size + 4095) & ~(size_t) 4095;
    const size_t place = atomic_fetch_add(&memory->used, rounded);

    if (SIZE < place + rounded) {
        abort();
    }
    return memory->seen + place;
}

static bool memory_has(const struct memory *memory, const void *address)
{
    return (uintptr_t) address - (uintptr_t) memory->seen < SIZE;
}

/** Where the accelerator's copies find it. */
static void *own_address(const void *address)
{
    return memory_has(&plain, address) ? plain.own + ((const char *) address - plain.seen)
                                       : (void *) (uintptr_t) address;
}

EXPORT void *ept_device_memory(size_t size)
{
    return memory_get(&plain, size);
}

EXPORT void *ept_managed_memory(size_t size)
{
    return memory_get(&managed, size);
}

EXPORT void ept_device_copy(void *to, const void *from, size_t size)
{
    memmove(own_address(to), own_address(from), size);
}

/* ---- the module ------------------------------------------------------------------------------ */

static _Thread_local long looks;
static _Thread_local bool has_context;
static _Atomic long copies;

EXPORT long ept_device_copies(void)
{
    return atomic_load(&copies);
}

EXPORT void ept_device_detach(void)
{
    has_context = false;
}

EXPORT long ept_device_looks(void)
{
    return looks;
}

static int fake_check_addr(const void *address, int *device, uint64_t *flags)
{
    ++looks;
    *device = MCA_ACCELERATOR_NO_DEVICE_ID;
    *flags = memory_has(&managed, address) ? MCA_ACCELERATOR_FLAGS_UNIFIED_MEMORY : 0;
    has_context = has_context || memory_has(&plain, address);
    return memory_has(&managed, address) || memory_has(&plain, address);
}

static int fake_copy(int to_device, int from_device, void *to, const void *from, size_t size,
                     opal_accelerator_transfer_type_t type)
{
    (void) to_device;
    (void) from_device;
    (void) type;
    if (!has_context && (memory_has(&plain, to) || memory_has(&plain, from))) {
        fprintf(stderr, "fake_accelerator: a copy in a thread without context\n");
        return OPAL_ERROR;
    }
    if (memory_has(&plain, to) && memory_has(&plain, from)) {
        atomic_fetch_add(&copies, 1);
    }
    ept_device_copy(to, from, size);
    return OPAL_SUCCESS;
}

static int fake_copy_async(int to_device, int from_device, void *to, const void *from, size_t size,
                           opal_accelerator_stream_t *stream,
                           opal_accelerator_transfer_type_t type)
{
    (void) stream;
    return fake_copy(to_device, from_device, to, from, size, type);
}

static int fake_create_stream(int device, opal_accelerator_stream_t **stream)
{
    (void) device;
    *stream = OBJ_NEW(opal_accelerator_stream_t);
    return NULL == *stream ? OPAL_ERR_OUT_OF_RESOURCE : OPAL_SUCCESS;
}

#if OMPI_MAJOR_VERSION >= 6
static int fake_create_event(int device, opal_accelerator_event_t **event, bool enable_ipc)
{
    (void) enable_ipc;
#else
static int fake_create_event(int device, opal_accelerator_event_t **event)
{
#endif
    (void) device;
    *event = OBJ_NEW(opal_accelerator_event_t);
    return NULL == *event ? OPAL_ERR_OUT_OF_RESOURCE : OPAL_SUCCESS;
}

static int fake_record_event(int device, opal_accelerator_event_t *event,
                             opal_accelerator_stream_t *stream)
{
    (void) device;
    (void) event;
    (void) stream;
    return OPAL_SUCCESS;
}

static int fake_query_event(int device, opal_accelerator_event_t *event)
{
    (void) device;
    (void) event;
    return OPAL_SUCCESS;
}

static int fake_host_register(int device, void *address, size_t size)
{
    (void) device;
    (void) address;
    (void) size;
    return OPAL_SUCCESS;
}

static int fake_host_unregister(int device, void *address)
{
    (void) device;
    (void) address;
    return OPAL_SUCCESS;
}

static int fake_get_device(int *device)
{
    *device = 0;
    return OPAL_SUCCESS;
}

static int fake_can_access_peer(int *access, int first, int second)
{
    *access = first == second;
    return OPAL_SUCCESS;
}

static int fake_get_buffer_id(int device, const void *address, opal_accelerator_buffer_id_t *id)
{
    (void) device;
    *id = (uintptr_t) address;
    return OPAL_SUCCESS;
}

#if OMPI_MAJOR_VERSION >= 6
static bool fake_is_ipc_enabled(void)
{
    return false;
}

static void fake_get_memkind(ompi_memkind_t *kind)
{
    *kind = (ompi_memkind_t){.im_name = strdup("fake"), .im_no_restrictors = true};
}
#endif

static const opal_accelerator_base_module_t fake = {
#if OMPI_MAJOR_VERSION >= 6
    .is_ipc_enabled = fake_is_ipc_enabled,
    .get_memkind = fake_get_memkind,
#endif
    .check_addr = fake_check_addr,
    .create_stream = fake_create_stream,
    .create_event = fake_create_event,
    .record_event = fake_record_event,
    .query_event = fake_query_event,
    .mem_copy_async = fake_copy_async,
    .mem_copy = fake_copy,
    .mem_move = fake_copy,
    .host_register = fake_host_register,
    .host_unregister = fake_host_unregister,
    .get_device = fake_get_device,
    .device_can_access_peer = fake_can_access_peer,
    .get_buffer_id = fake_get_buffer_id,
};

EXPORT int opal_init(int *argc, char ***argv);

int opal_init(int *argc, char ***argv)
{
    static int (*next)(int *, char ***);
    char *name = opal_accelerator_base_selected_component.base_version.mca_component_name;
    int rc;

    if (NULL == next) {
        memory_make(&plain, PROT_NONE);
        memory_make(&managed, PROT_READ | PROT_WRITE);
        *(void **) &next = dlsym(RTLD_NEXT, "opal_init");
    }
    rc = next(argc, argv);
    opal_accelerator = fake;
    strcpy(name, "fake");
    return rc;
}
