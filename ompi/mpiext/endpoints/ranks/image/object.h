/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * An object of which each rank has its own: the executable, or a library with state.  What must be
 * changed in a copy of it is the same for all ranks, and is found once.
 *
 * A copy is the object's file with an *annex* behind its last segment, one more segment, which holds:
 *
 *   slots       pointers that changed instructions load
 *   variables   libc's that are a rank's own, where the executable has no copy of them
 *   segments    the new program header
 *   dynamic     the new dynamic section
 *   names       paths of the copies of libraries that it needs, MPIX_RANKS_NAME_SIZE bytes each
 */

#ifndef MPIX_RANKS_OBJECT_H
#define MPIX_RANKS_OBJECT_H

#include "../base/base.h"
#include "elf.h"

#define MPIX_RANKS_NAME_SIZE 256

/** What a pointer in a rank's copy must be. */
typedef enum mpix_ranks_target_t {
    MPIX_RANKS_ORIGINAL, /**< an address within the original object */
    MPIX_RANKS_WORLD,    /**< the rank's handle */
    MPIX_RANKS_SELF,     /**< likewise */
    MPIX_RANKS_VARIABLE, /**< a variable of the rank's own, by its index */
    MPIX_RANKS_FUNCTION, /**< a function of ours, by its address */
} mpix_ranks_target_t;

typedef struct mpix_ranks_pointer_t {
    ElfW(Addr) place; /**< within the object; of a slot: in the annex */
    mpix_ranks_target_t target;
    ElfW(Addr) value;
} mpix_ranks_pointer_t;

/** A part of the object whose addresses must not be used in a copy: there is one such thing for all
 * ranks, in the original, or, of WORLD and SELF, another one for each. */
typedef struct mpix_ranks_range_t {
    ElfW(Addr) begin;
    size_t size;
    mpix_ranks_target_t target;
    bool is_predefined; /**< one of MPI's, whose content means nothing */
    const char *name;
    int changed; /**< instructions and pointers */
} mpix_ranks_range_t;

/** A variable of another library that the executable has a copy of: what is in it at the
 * beginning. */
typedef struct mpix_ranks_content_t {
    ElfW(Addr) place;
    size_t size;
    int source; /**< 0: the executable itself; else the private library of that index */
    ElfW(Addr) value;
} mpix_ranks_content_t;

/** A library that an object needs, of which the rank has a copy. */
typedef struct mpix_ranks_needed_t {
    int index; /**< of the object's set; ~index: of the program's set */
    const struct mpix_ranks_loaded_t *loaded; /**< not NULL: instead, what the rank has
                                               * opened before; without a map, what was preloaded */
} mpix_ranks_needed_t;

/** A function of ours that a rank's objects find under a name of the dynamic linker's. */
typedef struct mpix_ranks_function_t {
    const char *name;
    void *function;
} mpix_ranks_function_t;

typedef struct mpix_ranks_list_t {
    void *items;
    int count;
    int room;
} mpix_ranks_list_t;

typedef struct mpix_ranks_object_t {
    const char *name;     /**< as others need it; the executable: "" */
    const char *label;    /**< of its file, for people */
    struct link_map *map; /**< the original; NULL: none, as of what a rank opens later */
    char *folder;         /**< of its file; NULL: map knows it */
    bool is_program;
    mpix_ranks_elf_t elf; /**< the file, changed as all copies are */

    mpix_ranks_list_t needed;   /**< mpix_ranks_needed_t */
    mpix_ranks_list_t kept;     /**< size_t: strings of libraries that it needs as they are */
    mpix_ranks_list_t ranges;   /**< mpix_ranks_range_t */
    mpix_ranks_list_t slots;    /**< mpix_ranks_pointer_t */
    mpix_ranks_list_t pointers; /**< mpix_ranks_pointer_t */
    mpix_ranks_list_t contents; /**< mpix_ranks_content_t */
    bool has_tls_pointers;      /**< the image of its thread-local variables has relocations */

    int shared_file; /**< of what is constant in all copies; 0: not yet made, -1: there is none */
    size_t content_size; /**< of the file, that copies have */
    char *annex;
    size_t annex_size;
    ElfW(Addr) annex_address;
    size_t annex_offset;  /**< in the file */
    size_t names;         /**< within the annex */
    ElfW(Addr) variables; /**< address of the first */
} mpix_ranks_object_t;

/** Objects that a rank has copies of: the executable with its libraries, or a library that the
 * program loads with those that it needs.  The first one is what is loaded, in breadth-first
 * order. */
typedef struct mpix_ranks_set_t {
    mpix_ranks_object_t *objects;
    int count;
    int *order; /**< of construction: what is needed comes first */
} mpix_ranks_set_t;

#define MPIX_RANKS_ITEMS(list, type) ((type *) (list).items)

/** One more item at the end, zeroed; refuses if there is no memory. */
void *mpix_ranks_list_add(mpix_ranks_list_t *list, size_t item_size);

/** Names of MPI's that are more than functions. */
bool mpix_ranks_is_predefined(const char *name);
bool mpix_ranks_is_fortran(const char *name);

/** One of libc's variables that are a rank's own. */
typedef struct mpix_ranks_variable_t {
    const char *name;
    int index; /**< of where it lies; other names of the same variable have the same */
    size_t size;
} mpix_ranks_variable_t;

#define MPIX_RANKS_VARIABLES 11

/** NULL: none of these. */
const mpix_ranks_variable_t *mpix_ranks_variable(const char *name);

/** The one that an index belongs to. */
const mpix_ranks_variable_t *mpix_ranks_variable_at(int index);

#endif /* MPIX_RANKS_OBJECT_H */
