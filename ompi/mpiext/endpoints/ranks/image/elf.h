/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * An ELF file in memory: its segments, dynamic section, symbols and relocations.  It is read from the
 * file, not from where the dynamic linker has mapped it.  Every offset is checked against the file's
 * size before it is used, so that a damaged file is refused.
 */

#ifndef MPIX_RANKS_ELF_H
#define MPIX_RANKS_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/** A file, and its tables within it.  The bytes may be written: they are a private mapping. */
typedef struct mpix_ranks_elf_t {
    char *file;
    size_t size;
    dev_t device; /**< of the file, with inode */
    ino_t inode;
    ElfW(Ehdr) * header;
    ElfW(Phdr) * segments;
    int segment_count;
    ElfW(Dyn) * dynamic;
    size_t dynamic_count; /**< without the DT_NULL at the end */
    const char *strings;
    size_t strings_size;
    ElfW(Addr) strings_address;
    ElfW(Sym) * symbols;
    size_t symbol_count;
    ElfW(Rela) * relocations[2]; /**< DT_RELA, DT_JMPREL */
    size_t relocation_counts[2];
    ElfW(Addr) * relr;
    size_t relr_count;
    ElfW(Verneed) * needs; /**< NULL: none */
    size_t need_count;
} mpix_ranks_elf_t;

typedef enum mpix_ranks_relocation_kind_t {
    MPIX_RANKS_RELATIVE, /**< an address within the object */
    MPIX_RANKS_SYMBOL,   /**< the address of a symbol */
    MPIX_RANKS_COPY,     /**< the content of a symbol's object */
    MPIX_RANKS_TLS,      /**< a thread-local variable's fixed distance from the thread's pointer */
    MPIX_RANKS_OTHER,    /**< other thread-local storage, indirect functions, none */
} mpix_ranks_relocation_kind_t;

/** A place that the dynamic linker fills. */
typedef struct mpix_ranks_relocation_t {
    mpix_ranks_relocation_kind_t kind;
    ElfW(Addr) place;
    ElfW(Addr) addend;  /**< RELATIVE: the address */
    ElfW(Sym) * symbol; /**< NULL: none */
    const char *name;   /**< the symbol's; "": none */
    ElfW(Rela) * entry; /**< NULL: one of DT_RELR's */
} mpix_ranks_relocation_t;

/**
 * Read the file behind a descriptor, which stays the caller's.
 *
 * @return NULL, or what is wrong; then there is nothing to close
 */
const char *mpix_ranks_elf_open(mpix_ranks_elf_t *elf, int descriptor);

/** The same of bytes in memory, which stay the caller's and are aligned to 16. */
const char *mpix_ranks_elf_read(mpix_ranks_elf_t *elf, char *file, size_t size);

void mpix_ranks_elf_close(mpix_ranks_elf_t *elf);

/** Where the bytes of an address range of the image are in the file.  NULL: not in the file, as
 * .bss. */
char *mpix_ranks_elf_at(const mpix_ranks_elf_t *elf, ElfW(Addr) address, size_t size);

/** The value of the first entry of the dynamic section with that tag.  @return is there one? */
bool mpix_ranks_elf_dynamic(const mpix_ranks_elf_t *elf, ElfW(Sxword) tag, ElfW(Xword) * value);

/** A string of the dynamic section.  NULL: none there. */
const char *mpix_ranks_elf_string(const mpix_ranks_elf_t *elf, size_t offset);

/** The first segment of that type.  NULL: none. */
ElfW(Phdr) * mpix_ranks_elf_segment(const mpix_ranks_elf_t *elf, unsigned type);

/** A symbol that others may refer to, and that is defined here.  NULL: none. */
ElfW(Sym) * mpix_ranks_elf_defined(const mpix_ranks_elf_t *elf, const char *name);

/** Call visit for each relocation, until one returns other than NULL.  @return that, or NULL */
const char *mpix_ranks_elf_relocations(const mpix_ranks_elf_t *elf,
                                       const char *(*visit)(void *argument,
                                                            const mpix_ranks_relocation_t *),
                                       void *argument);

#endif /* MPIX_RANKS_ELF_H */
