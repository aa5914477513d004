/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reading ELF files: see elf.h.
 *
 * Tests: unit/test_ranks_elf
 */

#define _GNU_SOURCE

#include "elf.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#    define MACHINE EM_X86_64
#    define TYPE_RELATIVE R_X86_64_RELATIVE
#    define TYPE_COPY R_X86_64_COPY
#    define TYPE_GOT R_X86_64_GLOB_DAT
#    define TYPE_SLOT R_X86_64_JUMP_SLOT
#    define TYPE_ADDRESS R_X86_64_64
#    define TYPE_TLS R_X86_64_TPOFF64
#elif defined(__aarch64__)
#    define MACHINE EM_AARCH64
#    define TYPE_RELATIVE R_AARCH64_RELATIVE
#    define TYPE_COPY R_AARCH64_COPY
#    define TYPE_GOT R_AARCH64_GLOB_DAT
#    define TYPE_SLOT R_AARCH64_JUMP_SLOT
#    define TYPE_ADDRESS R_AARCH64_ABS64
#    define TYPE_TLS R_AARCH64_TLS_TPREL
#else /* the numbers of no machine: nothing can be copied */
#    define MACHINE EM_NONE
#    define TYPE_RELATIVE 1
#    define TYPE_COPY 2
#    define TYPE_GOT 3
#    define TYPE_SLOT 4
#    define TYPE_ADDRESS 5
#    define TYPE_TLS 6
#endif

/** Are size bytes at offset within limit? */
static bool is_within(size_t offset, size_t size, size_t limit)
{
    return offset <= limit && size <= limit - offset;
}

static bool is_aligned(const void *address)
{
    return 0 == (uintptr_t) address % _Alignof(ElfW(Addr));
}

char *mpix_ranks_elf_at(const mpix_ranks_elf_t *elf, ElfW(Addr) address, size_t size)
{
    for (int i = 0; i < elf->segment_count; ++i) {
        const ElfW(Phdr) *segment = &elf->segments[i];

        if (PT_LOAD == segment->p_type && segment->p_vaddr <= address
            && is_within(address - segment->p_vaddr, size, segment->p_filesz)) {
            return elf->file + segment->p_offset + (address - segment->p_vaddr);
        }
    }
    return NULL;
}

bool mpix_ranks_elf_dynamic(const mpix_ranks_elf_t *elf, ElfW(Sxword) tag, ElfW(Xword) * value)
{
    for (size_t i = 0; i < elf->dynamic_count; ++i) {
        if (tag == elf->dynamic[i].d_tag) {
            *value = elf->dynamic[i].d_un.d_val;
            return true;
        }
    }
    return false;
}

const char *mpix_ranks_elf_string(const mpix_ranks_elf_t *elf, size_t offset)
{
    return offset < elf->strings_size ? elf->strings + offset : NULL;
}

ElfW(Phdr) * mpix_ranks_elf_segment(const mpix_ranks_elf_t *elf, unsigned type)
{
    for (int i = 0; i < elf->segment_count; ++i) {
        if (type == elf->segments[i].p_type) {
            return &elf->segments[i];
        }
    }
    return NULL;
}

ElfW(Sym) * mpix_ranks_elf_defined(const mpix_ranks_elf_t *elf, const char *name)
{
    for (size_t i = 1; i < elf->symbol_count; ++i) {
        ElfW(Sym) *symbol = &elf->symbols[i];

        if (SHN_UNDEF != symbol->st_shndx && STB_LOCAL != ELF64_ST_BIND(symbol->st_info)
            && 0 == strcmp(name, elf->strings + symbol->st_name)) {
            return symbol;
        }
    }
    return NULL;
}

/** Segments: where they are in the file, and that they ascend, as the dynamic linker demands. */
static const char *read_segments(mpix_ranks_elf_t *elf)
{
    const ElfW(Ehdr) *header = elf->header;
    ElfW(Addr) end = 0;

    if (sizeof(ElfW(Phdr)) != header->e_phentsize || 0 == header->e_phnum
        || PN_XNUM == header->e_phnum
        || !is_within(header->e_phoff, header->e_phnum * sizeof(ElfW(Phdr)), elf->size)) {
        return "its program header is damaged";
    }
    elf->segments = (ElfW(Phdr) *) (elf->file + header->e_phoff);
    elf->segment_count = header->e_phnum;
    if (!is_aligned(elf->segments)) {
        return "its program header is damaged";
    }
    for (int i = 0; i < elf->segment_count; ++i) {
        const ElfW(Phdr) *segment = &elf->segments[i];
        const ElfW(Addr) limit = (ElfW(Addr)) 1 << 47;

        if (!is_within(segment->p_offset, segment->p_filesz, elf->size) || segment->p_vaddr > limit
            || segment->p_memsz > limit) {
            return "a segment is not within the file";
        }
        if (PT_LOAD != segment->p_type) {
            continue;
        }
        if (segment->p_vaddr < end || segment->p_memsz < segment->p_filesz
            || 0 != (segment->p_align & (segment->p_align - 1))) {
            return "its segments are damaged";
        }
        end = segment->p_vaddr + segment->p_memsz;
    }
    return 0 != end ? NULL : "it has no segments";
}

static const char *read_dynamic(mpix_ranks_elf_t *elf)
{
    const ElfW(Phdr) *segment = mpix_ranks_elf_segment(elf, PT_DYNAMIC);
    size_t count;

    if (NULL == segment) {
        return "it is linked statically";
    }
    elf->dynamic = (ElfW(Dyn) *) mpix_ranks_elf_at(elf, segment->p_vaddr, segment->p_filesz);
    count = segment->p_filesz / sizeof(ElfW(Dyn));
    if (NULL == elf->dynamic || !is_aligned(elf->dynamic)) {
        return "its dynamic section is damaged";
    }
    while (elf->dynamic_count < count && DT_NULL != elf->dynamic[elf->dynamic_count].d_tag) {
        ++elf->dynamic_count;
    }
    return elf->dynamic_count < count ? NULL : "its dynamic section has no end";
}

/** A table of the dynamic section, by the tags of its address and its size in bytes.
 * @return false if it is damaged; without one, 0 entries */
static bool read_table(const mpix_ranks_elf_t *elf, ElfW(Sxword) address_tag, ElfW(Sxword) size_tag,
                       size_t item, void *first_p, size_t *count_p)
{
    ElfW(Xword) address, size;
    char *first;

    if (!mpix_ranks_elf_dynamic(elf, address_tag, &address)
        || !mpix_ranks_elf_dynamic(elf, size_tag, &size) || 0 == size) {
        return true;
    }
    first = mpix_ranks_elf_at(elf, address, size);
    if (NULL == first || 0 != size % item || !is_aligned(first)) {
        return false;
    }
    *(void **) first_p = first;
    *count_p = size / item;
    return true;
}

/** How many symbols there are is nowhere written: the hash table of GNU's has the last one at the
 * end of its last chain. */
static const char *count_by_gnu_hash(const mpix_ranks_elf_t *elf, ElfW(Addr) address,
                                     size_t *count_p)
{
    const uint32_t *head = (const uint32_t *) mpix_ranks_elf_at(elf, address, 4 * sizeof(*head));
    const uint32_t *buckets;
    ElfW(Addr) chains;
    size_t last = 0;

    if (NULL == head || 0 != (uintptr_t) head % sizeof(*head)) {
        return "its hash table is damaged";
    }
    address += 4 * sizeof(*head) + head[2] * sizeof(ElfW(Addr));
    chains = address + head[0] * sizeof(*head);
    buckets = (const uint32_t *) mpix_ranks_elf_at(elf, address, head[0] * sizeof(*head));
    if (NULL == buckets) {
        return "its hash table is damaged";
    }
    for (uint32_t i = 0; i < head[0]; ++i) {
        last = buckets[i] > last ? buckets[i] : last;
    }
    *count_p = head[1];
    while (0 != last) {
        const uint32_t *chain;

        if (last < head[1]) {
            return "its hash table is damaged";
        }
        chain = (const uint32_t *) mpix_ranks_elf_at(elf,
                                                     chains + (last - head[1]) * sizeof(*chain),
                                                     sizeof(*chain));
        if (NULL == chain) {
            return "its hash table has no end";
        }
        *count_p = ++last;
        if (0 != (*chain & 1)) {
            break;
        }
    }
    return NULL;
}

static const char *count_symbols(const mpix_ranks_elf_t *elf, size_t *count_p)
{
    const uint32_t *head;
    ElfW(Xword) address;

    if (mpix_ranks_elf_dynamic(elf, DT_GNU_HASH, &address)) {
        return count_by_gnu_hash(elf, address, count_p);
    }
    if (!mpix_ranks_elf_dynamic(elf, DT_HASH, &address)) {
        return "it has no hash table";
    }
    head = (const uint32_t *) mpix_ranks_elf_at(elf, address, 2 * sizeof(*head));
    if (NULL == head || 0 != (uintptr_t) head % sizeof(*head)) {
        return "its hash table is damaged";
    }
    *count_p = head[1];
    return NULL;
}

static const char *read_symbols(mpix_ranks_elf_t *elf)
{
    const char *wrong;
    ElfW(Xword) address;

    if (!mpix_ranks_elf_dynamic(elf, DT_SYMTAB, &address)) {
        return "it has no symbols";
    }
    wrong = count_symbols(elf, &elf->symbol_count);
    if (NULL != wrong) {
        return wrong;
    }
    elf->symbols = elf->symbol_count > elf->size
                       ? NULL
                       : (ElfW(Sym) *) mpix_ranks_elf_at(elf, address,
                                                         elf->symbol_count * sizeof(ElfW(Sym)));
    if (NULL == elf->symbols || !is_aligned(elf->symbols)) {
        return "its symbols are damaged";
    }
    for (size_t i = 0; i < elf->symbol_count; ++i) {
        if (elf->symbols[i].st_name >= elf->strings_size) {
            return "its symbols are damaged";
        }
    }
    return NULL;
}

static const char *read_strings(mpix_ranks_elf_t *elf)
{
    ElfW(Xword) address, size;

    if (!mpix_ranks_elf_dynamic(elf, DT_STRTAB, &address)
        || !mpix_ranks_elf_dynamic(elf, DT_STRSZ, &size)) {
        return "it has no strings";
    }
    elf->strings = mpix_ranks_elf_at(elf, address, size);
    if (NULL == elf->strings || 0 == size || '\0' != elf->strings[size - 1]) {
        return "its strings are damaged";
    }
    elf->strings_address = address;
    elf->strings_size = size;
    return NULL;
}

/** The list of the libraries whose versions it needs. */
static const char *read_needs(mpix_ranks_elf_t *elf)
{
    ElfW(Xword) address, count;

    if (!mpix_ranks_elf_dynamic(elf, DT_VERNEED, &address)
        || !mpix_ranks_elf_dynamic(elf, DT_VERNEEDNUM, &count)) {
        return NULL;
    }
    elf->need_count = count;
    for (size_t i = 0; i < count; ++i) {
        ElfW(Verneed) *need = (ElfW(Verneed) *) mpix_ranks_elf_at(elf, address, sizeof(*need));

        if (NULL == need || 0 != (uintptr_t) need % _Alignof(ElfW(Verneed))
            || need->vn_file >= elf->strings_size || (0 == need->vn_next && i + 1 < count)) {
            return "the versions that it needs are damaged";
        }
        elf->needs = 0 == i ? need : elf->needs;
        address += need->vn_next;
    }
    return NULL;
}

static const char *read_relocations(mpix_ranks_elf_t *elf)
{
    ElfW(Xword) value;

    if (mpix_ranks_elf_dynamic(elf, DT_TEXTREL, &value)
        || (mpix_ranks_elf_dynamic(elf, DT_FLAGS, &value) && 0 != (value & DF_TEXTREL))) {
        return "it has relocations in its code (compile all of it with -fPIC or -fPIE)";
    }
    if (!read_table(elf, DT_RELA, DT_RELASZ, sizeof(ElfW(Rela)), &elf->relocations[0],
                    &elf->relocation_counts[0])
        || !read_table(elf, DT_JMPREL, DT_PLTRELSZ, sizeof(ElfW(Rela)), &elf->relocations[1],
                       &elf->relocation_counts[1])
        || !read_table(elf, DT_RELR, DT_RELRSZ, sizeof(ElfW(Addr)), &elf->relr, &elf->relr_count)) {
        return "its relocations are damaged";
    }
    for (int table = 0; table < 2; ++table) {
        for (size_t i = 0; i < elf->relocation_counts[table]; ++i) {
            if (ELF64_R_SYM(elf->relocations[table][i].r_info) >= elf->symbol_count) {
                return "its relocations are damaged";
            }
        }
    }
    return NULL;
}

const char *mpix_ranks_elf_read(mpix_ranks_elf_t *elf, char *file, size_t size)
{
    const char *wrong;

    *elf = (mpix_ranks_elf_t){.file = file, .size = size, .header = (ElfW(Ehdr) *) file};
    if (size < sizeof(ElfW(Ehdr)) || 0 != memcmp(file, ELFMAG, SELFMAG)
        || ELFCLASS64 != file[EI_CLASS] || MACHINE != elf->header->e_machine) {
        return "it is no ELF file of this machine";
    }
    if (ET_DYN != elf->header->e_type) {
        return "it is not position-independent";
    }
    wrong = read_segments(elf);
    wrong = NULL == wrong ? read_dynamic(elf) : wrong;
    wrong = NULL == wrong ? read_strings(elf) : wrong;
    wrong = NULL == wrong ? read_symbols(elf) : wrong;
    wrong = NULL == wrong ? read_needs(elf) : wrong;
    return NULL == wrong ? read_relocations(elf) : wrong;
}

const char *mpix_ranks_elf_open(mpix_ranks_elf_t *elf, int descriptor)
{
    const char *wrong;
    struct stat status;
    void *file;

    if (0 != fstat(descriptor, &status) || status.st_size <= 0) {
        return "it cannot be read";
    }
    /* Private: what is written is ours, and what is not takes no memory. */
    file = mmap(NULL, (size_t) status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
    if (MAP_FAILED == file) {
        return "it cannot be read";
    }
    wrong = mpix_ranks_elf_read(elf, file, (size_t) status.st_size);
    if (NULL != wrong) {
        (void) munmap(file, (size_t) status.st_size);
    }
    elf->device = status.st_dev;
    elf->inode = status.st_ino;
    return wrong;
}

void mpix_ranks_elf_close(mpix_ranks_elf_t *elf)
{
    (void) munmap(elf->file, elf->size);
    *elf = (mpix_ranks_elf_t){0};
}

static mpix_ranks_relocation_kind_t kind_of(unsigned long type)
{
    switch (type) {
    case TYPE_RELATIVE:
        return MPIX_RANKS_RELATIVE;
    case TYPE_GOT:
    case TYPE_SLOT:
    case TYPE_ADDRESS:
        return MPIX_RANKS_SYMBOL;
    case TYPE_COPY:
        return MPIX_RANKS_COPY;
    case TYPE_TLS:
        return MPIX_RANKS_TLS;
    default:
        return MPIX_RANKS_OTHER;
    }
}

/** Entries of DT_RELR are relative ones, by the address of the place, or, if odd, by a bit for each
 * of the next 63 words.  The address that is wanted is in the place. */
static const char *packed_relocations(const mpix_ranks_elf_t *elf,
                                      const char *(*visit)(void *, const mpix_ranks_relocation_t *),
                                      void *argument)
{
    const char *wrong = NULL;
    ElfW(Addr) next = 0;

    for (size_t i = 0; NULL == wrong && i < elf->relr_count; ++i) {
        ElfW(Addr) bits = elf->relr[i];
        const ElfW(Addr) first = 0 == (bits & 1) ? bits : next;

        bits = 0 == (bits & 1) ? 1 : bits >> 1;
        next = first + sizeof(first) * (0 == (elf->relr[i] & 1) ? 1 : 8 * sizeof(first) - 1);
        for (int bit = 0; NULL == wrong && 0 != bits; ++bit, bits >>= 1) {
            mpix_ranks_relocation_t one = {.kind = MPIX_RANKS_RELATIVE, .name = ""};
            const char *at;

            if (0 == (bits & 1)) {
                continue;
            }
            one.place = first + (ElfW(Addr)) bit * sizeof(first);
            at = mpix_ranks_elf_at(elf, one.place, sizeof(one.addend));
            if (NULL == at) {
                return "its relocations are damaged";
            }
            memcpy(&one.addend, at, sizeof(one.addend));
            wrong = visit(argument, &one);
        }
    }
    return wrong;
}

const char *mpix_ranks_elf_relocations(const mpix_ranks_elf_t *elf,
                                       const char *(*visit)(void *argument,
                                                            const mpix_ranks_relocation_t *),
                                       void *argument)
{
    const char *wrong = NULL;

    for (int table = 0; table < 2; ++table) {
        for (size_t i = 0; NULL == wrong && i < elf->relocation_counts[table]; ++i) {
            ElfW(Rela) *entry = &elf->relocations[table][i];
            const unsigned long type = ELF64_R_TYPE(entry->r_info);
            mpix_ranks_relocation_t one = {.kind = kind_of(type),
                                           .place = entry->r_offset,
                                           .addend = (ElfW(Addr)) entry->r_addend,
                                           .name = "",
                                           .entry = entry};

            if (0 != ELF64_R_SYM(entry->r_info)) {
                one.symbol = &elf->symbols[ELF64_R_SYM(entry->r_info)];
                one.name = elf->strings + one.symbol->st_name;
            }
            wrong = visit(argument, &one);
        }
    }
    return NULL == wrong ? packed_relocations(elf, visit, argument) : wrong;
}
