/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Leading a library's calls of libc here, by its call slots: pointers that the dynamic linker has
 * filled in, listed in the library's relocation tables under the functions' names.  One store of a
 * pointer each, so other threads may be calling.  Nobody else's calls are touched.
 *
 * Where that cannot be done (another architecture, a libfabric that is linked statically), all goes
 * on without btl_epofi_sockets.c.  The same mechanism, for libmpi, is in ompi/mpiext/endpoints
 * (seam_plt.c).
 */

#define _GNU_SOURCE

#include "opal_config.h"

#include "btl_epofi_types.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#    define SLOT_TYPE_PLT R_X86_64_JUMP_SLOT
#    define SLOT_TYPE_GOT R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#    define SLOT_TYPE_PLT R_AARCH64_JUMP_SLOT
#    define SLOT_TYPE_GOT R_AARCH64_GLOB_DAT
#endif

/**
 * Keep this component loaded: the slots lead here until the end of the process.
 *
 * @return false if it could be unloaded
 */
static bool stay(void)
{
    struct link_map *map = NULL;
    Dl_info own;
    void *handle;

    if (0 == dladdr1((const void *) stay, &own, (void **) &map, RTLD_DL_LINKMAP)) {
        return false;
    }
    if (NULL == map || '\0' == *map->l_name) {
        return true; /* part of the program itself */
    }
    handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    return NULL != handle && 0 == dlclose(handle);
}

#if defined(SLOT_TYPE_PLT)

/** The tables of a loaded library. */
typedef struct tables_t {
    ElfW(Addr) base;
    const ElfW(Sym) *symbols;
    const char *strings;
    const ElfW(Rela) *relocations[2]; /**< of the procedure linkage table, and others */
    size_t sizes[2];                  /**< bytes */
    uintptr_t ro_begin, ro_end;       /**< pages that are read-only after relocation */
} tables_t;

/** An address from the dynamic section: some C libraries have added the base already. */
static const void *table_address(const tables_t *tables, ElfW(Addr) address)
{
    return (const void *) (address < tables->base ? tables->base + address : address);
}

static void read_dynamic(tables_t *tables, const ElfW(Dyn) *dynamic)
{
    for (; DT_NULL != dynamic->d_tag; ++dynamic) {
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            tables->symbols = table_address(tables, dynamic->d_un.d_ptr);
            break;
        case DT_STRTAB:
            tables->strings = table_address(tables, dynamic->d_un.d_ptr);
            break;
        case DT_JMPREL:
            tables->relocations[0] = table_address(tables, dynamic->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            tables->sizes[0] = dynamic->d_un.d_val;
            break;
        case DT_RELA:
            tables->relocations[1] = table_address(tables, dynamic->d_un.d_ptr);
            break;
        case DT_RELASZ:
            tables->sizes[1] = dynamic->d_un.d_val;
            break;
        default:
            break;
        }
    }
}

/** Note which pages of the library are read-only.  Runs under a lock of the dynamic linker's. */
static int note_read_only(struct dl_phdr_info *info, size_t size, void *data)
{
    const uintptr_t page_mask = ~((uintptr_t) sysconf(_SC_PAGESIZE) - 1);
    tables_t *tables = data;

    (void) size;
    if (info->dlpi_addr != tables->base) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

        if (PT_GNU_RELRO == info->dlpi_phdr[i].p_type) {
            /* The linker protects whole pages and leaves the last, partial one writable. */
            tables->ro_begin = begin & page_mask;
            tables->ro_end = (begin + info->dlpi_phdr[i].p_memsz) & page_mask;
        }
    }
    return 1;
}

/** @return false if the slot's page cannot be written to */
static bool slot_store(const tables_t *tables, uintptr_t address, void *function)
{
    const size_t page = (size_t) sysconf(_SC_PAGESIZE);
    void *begin = (void *) (address & ~(uintptr_t) (page - 1));
    const bool read_only = tables->ro_begin <= address && address < tables->ro_end;

    if (read_only && 0 != mprotect(begin, page, PROT_READ | PROT_WRITE)) {
        return false;
    }
    /* Relaxed: the function has been there for as long as anybody could call it. */
    atomic_store_explicit((_Atomic(void *) *) address, function, memory_order_relaxed);
    return !read_only || 0 == mprotect(begin, page, PROT_READ);
}

static bool lead_table(const tables_t *tables, int which, mca_btl_epofi_slot_t *slots,
                       size_t count)
{
    const ElfW(Rela) *relocations = tables->relocations[which];
    bool all = true;

    for (size_t i = 0; NULL != relocations && i < tables->sizes[which] / sizeof(*relocations);
         ++i) {
        const unsigned long type = ELF64_R_TYPE(relocations[i].r_info);
        const char *name = tables->strings
                           + tables->symbols[ELF64_R_SYM(relocations[i].r_info)].st_name;

        for (size_t j = 0; (SLOT_TYPE_PLT == type || SLOT_TYPE_GOT == type) && j < count; ++j) {
            if (0 == strcmp(slots[j].name, name)) {
                slots[j].led = slot_store(tables, tables->base + relocations[i].r_offset,
                                          slots[j].function);
                all = all && slots[j].led;
            }
        }
    }
    return all;
}

bool mca_btl_epofi_slots_lead(const void *inside, mca_btl_epofi_slot_t *slots, size_t count)
{
    struct link_map *map = NULL;
    tables_t tables;
    Dl_info info;

    if (0 == dladdr1(inside, &info, (void **) &map, RTLD_DL_LINKMAP) || NULL == map
        || '\0' == *map->l_name || !stay()) {
        return false;
    }
    memset(&tables, 0, sizeof(tables));
    tables.base = map->l_addr;
    read_dynamic(&tables, map->l_ld);
    (void) dl_iterate_phdr(note_read_only, &tables);
    return NULL != tables.symbols && NULL != tables.strings
           && lead_table(&tables, 0, slots, count) && lead_table(&tables, 1, slots, count);
}

#else /* no rewriting on this machine */

bool mca_btl_epofi_slots_lead(const void *inside, mca_btl_epofi_slot_t *slots, size_t count)
{
    (void) inside;
    (void) slots;
    (void) count;
    (void) stay;
    return false;
}

#endif
