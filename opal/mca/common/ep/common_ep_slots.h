/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The call slots of a loaded library: pointers through which it calls exported functions, its own
 * ones too.  The dynamic linker fills them in, and lists them in the library's relocation tables by
 * the names of the functions.  Rewriting one is a single store of a pointer, so other threads may
 * be calling.
 *
 * For btl/epofi, which leads libfabric's calls of libc to itself, and libmpix_endpoints, which
 * leads libmpi's.  MCA_BTL_EP_SLOTS is 0 where it is not known how that is done on a machine.
 *
 * Tests: comm_ops, unit/test_epofi_handshake
 */

#ifndef OPAL_COMMON_EP_SLOTS_H
#define OPAL_COMMON_EP_SLOTS_H

#include "opal_config.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The relocation types of call slots: of the procedure linkage table, and of code built without
 * one. */
#if defined(__x86_64__)
#    define MCA_BTL_EP_SLOTS 1
#    define MCA_BTL_EP_SLOTS_PLT R_X86_64_JUMP_SLOT
#    define MCA_BTL_EP_SLOTS_GOT R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#    define MCA_BTL_EP_SLOTS 1
#    define MCA_BTL_EP_SLOTS_PLT R_AARCH64_JUMP_SLOT
#    define MCA_BTL_EP_SLOTS_GOT R_AARCH64_GLOB_DAT
#else
#    define MCA_BTL_EP_SLOTS 0
#endif

#if MCA_BTL_EP_SLOTS

/** The tables of one loaded library. */
typedef struct mca_btl_ep_slots_t {
    ElfW(Addr) base;
    const ElfW(Sym) * symbols; /**< NULL: nothing is known of it */
    const char *strings;
    const ElfW(Rela) * relocations[2]; /**< of the procedure linkage table, and others */
    size_t sizes[2];                   /**< bytes */
    uintptr_t ro_begin, ro_end;        /**< pages that are read-only after relocation */
} mca_btl_ep_slots_t;

/** An address from the dynamic section: some C libraries have added the base already. */
static inline const void *mca_btl_ep_slots_address(const mca_btl_ep_slots_t *slots,
                                                   ElfW(Addr) address)
{
    return (const void *) (address < slots->base ? slots->base + address : address);
}

static inline void mca_btl_ep_slots_dynamic(mca_btl_ep_slots_t *slots, const ElfW(Dyn) * dynamic)
{
    for (; DT_NULL != dynamic->d_tag; ++dynamic) {
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            slots->symbols = mca_btl_ep_slots_address(slots, dynamic->d_un.d_ptr);
            break;
        case DT_STRTAB:
            slots->strings = mca_btl_ep_slots_address(slots, dynamic->d_un.d_ptr);
            break;
        case DT_JMPREL:
            slots->relocations[0] = mca_btl_ep_slots_address(slots, dynamic->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            slots->sizes[0] = dynamic->d_un.d_val;
            break;
        case DT_RELA:
            slots->relocations[1] = mca_btl_ep_slots_address(slots, dynamic->d_un.d_ptr);
            break;
        case DT_RELASZ:
            slots->sizes[1] = dynamic->d_un.d_val;
            break;
        default:
            break;
        }
    }
}

/** Find a library's tables, from what dl_iterate_phdr says of it.  May run under its lock.
 * @return false: it has none */
static inline bool mca_btl_ep_slots_read(mca_btl_ep_slots_t *slots, ElfW(Addr) base,
                                         const ElfW(Phdr) * headers, int count)
{
    const uintptr_t page_mask = ~((uintptr_t) sysconf(_SC_PAGESIZE) - 1);

    memset(slots, 0, sizeof(*slots));
    slots->base = base;
    for (int i = 0; i < count; ++i) {
        const uintptr_t begin = base + headers[i].p_vaddr;

        if (PT_DYNAMIC == headers[i].p_type) {
            mca_btl_ep_slots_dynamic(slots, (const ElfW(Dyn) *) begin);
        } else if (PT_GNU_RELRO == headers[i].p_type) {
            /* The linker protects whole pages and leaves the last, partial one writable. */
            slots->ro_begin = begin & page_mask;
            slots->ro_end = (begin + headers[i].p_memsz) & page_mask;
        }
    }
    return NULL != slots->symbols && NULL != slots->strings;
}

/** @param[in] name  the function that is called through the slot */
typedef void (*mca_btl_ep_slots_fn_t)(const mca_btl_ep_slots_t *slots, const char *name,
                                      _Atomic(void *) *slot, void *context);

/** Go through all slots of a library. */
static inline void mca_btl_ep_slots_each(const mca_btl_ep_slots_t *slots,
                                         mca_btl_ep_slots_fn_t function, void *context)
{
    for (int table = 0; table < 2; ++table) {
        const ElfW(Rela) *relocations = slots->relocations[table];
        const size_t count = NULL == relocations ? 0 : slots->sizes[table] / sizeof(*relocations);

        for (size_t i = 0; i < count; ++i) {
            const unsigned long type = ELF64_R_TYPE(relocations[i].r_info);
            const ElfW(Sym) *symbol = &slots->symbols[ELF64_R_SYM(relocations[i].r_info)];
            const uintptr_t address = slots->base + relocations[i].r_offset;

            if (MCA_BTL_EP_SLOTS_PLT == type || MCA_BTL_EP_SLOTS_GOT == type) {
                function(slots, slots->strings + symbol->st_name, (_Atomic(void *) *) address,
                         context);
            }
        }
    }
}

static inline bool mca_btl_ep_slots_read_only(const mca_btl_ep_slots_t *slots,
                                              const _Atomic(void *) *slot)
{
    return slots->ro_begin <= (uintptr_t) slot && (uintptr_t) slot < slots->ro_end;
}

/** Store a function in a slot.
 * @param[in] read_only  of mca_btl_ep_slots_read_only
 * @return false if its page cannot be made writable, or read-only again */
static inline bool mca_btl_ep_slots_store(_Atomic(void *) *slot, bool read_only, void *function)
{
    const size_t page = (size_t) sysconf(_SC_PAGESIZE);
    void *begin = (void *) ((uintptr_t) slot & ~(uintptr_t) (page - 1));

    if (read_only && 0 != mprotect(begin, page, PROT_READ | PROT_WRITE)) {
        return false;
    }
    /* Release: orders what the caller has stored for the function before that, such as where it
     * goes on; a call through the slot depends on the pointer. */
    atomic_store_explicit(slot, function, memory_order_release);
    return !read_only || 0 == mprotect(begin, page, PROT_READ);
}

#endif /* MCA_BTL_EP_SLOTS */

#endif /* OPAL_COMMON_EP_SLOTS_H */
