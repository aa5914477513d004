/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * dlopen and dlclose by a rank's objects.
 *
 * A library that ranks share is opened as it is.  Of any other the rank gets a copy, with copies of
 * what it needs and the rank does not have yet.  The first of them also needs the rank's copy of the
 * executable and what the rank has opened by RTLD_GLOBAL, so that symbols are found there.  Where a library and the executable define the same symbol, the library has its own,
 * other than in a process.
 *
 * Two locks, in this order: the rank's, under which constructors run, which may open more; and one
 * around reading and loading.
 *
 * Tests: ranks_plugin
 */

#define _GNU_SOURCE

#include "open.h"

#include "bind.h"
#include "construct.h"
#include "find.h"
#include "references.h"
#include "set.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const mpix_ranks_function_t *mpix_ranks_open_functions;

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;

/** What the last call in the thread failed by; empty: dlerror knows. */
static __thread char error[400];

void mpix_ranks_open_fail(const char *what, const char *why)
{
    (void) snprintf(error, sizeof(error), "%.200s: %.150s", what, why);
}

static struct link_map *program_map(void)
{
    return mpix_ranks_libraries.all[0].map;
}

/** The index of one of the program's private libraries.  0: none of them. */
static int program_library(const char *name)
{
    name = mpix_ranks_library_name(name);
    for (int i = 1; i < mpix_ranks_program.count; ++i) {
        if (0 == strcmp(name, mpix_ranks_program.objects[i].name)) {
            return i;
        }
    }
    return 0;
}

/** Do ranks share the library, by its name or by what was decided at the start? */
static bool is_shared(const char *name)
{
    const mpix_ranks_library_t *library = mpix_ranks_library_of(&mpix_ranks_libraries, name);
    const char *why;

    return (NULL != library && !library->is_private)
           || mpix_ranks_library_is_shared(mpix_ranks_library_name(name), &why);
}

static int set_index(const mpix_ranks_set_t *set, const char *name)
{
    for (int i = 0; i < set->count; ++i) {
        if (0 == strcmp(name, set->objects[i].name)) {
            return i;
        }
    }
    return -1;
}

static const char *string_of(const mpix_ranks_elf_t *elf, ElfW(Sxword) tag)
{
    ElfW(Xword) offset;

    return mpix_ranks_elf_dynamic(elf, tag, &offset) ? mpix_ranks_elf_string(elf, offset) : NULL;
}

static const char *open_add(mpix_ranks_set_t *set, const char *name, const char *path)
{
    const mpix_ranks_object_t object = {.name = strdup(name),
                                        .label = name,
                                        .folder = strdup(path)};
    const char *wrong = "no memory";

    if (NULL != object.name && NULL != object.folder) {
        char *slash = strrchr(object.folder, '/');

        if (NULL != slash) {
            *slash = '\0';
        }
        wrong = mpix_ranks_set_add(set, &object, path);
    }
    if (NULL != wrong) {
        free((char *) object.name);
        free(object.folder);
        return wrong;
    }
    set->objects[set->count - 1].label = object.name;
    return NULL;
}

/** What the rank has opened under this name, by itself or because another library needs it. */
static const mpix_ranks_loaded_t *loaded_before(const mpix_rank_t *rank, const char *name)
{
    name = mpix_ranks_library_name(name);
    for (const mpix_ranks_opened_t *opened = rank->image->opened; NULL != opened;
         opened = opened->next) {
        const int index = set_index(&opened->set, name);

        if (0 <= index) {
            return &opened->loaded[index];
        }
    }
    return NULL;
}

/** One library that an object of the set needs: the rank has a copy, or it becomes one, or it is
 * left to the dynamic linker. */
static const char *add_needed(const mpix_rank_t *rank, mpix_ranks_set_t *set, int index,
                              size_t offset)
{
    const mpix_ranks_object_t *object = &set->objects[index];
    const char *name = mpix_ranks_elf_string(&object->elf, offset);
    mpix_ranks_needed_t needed = {0};
    const char *wrong = NULL;
    char path[PATH_MAX];
    int found;

    if (NULL == name) {
        return "its dynamic section is damaged";
    }
    found = program_library(name);
    needed.loaded = loaded_before(rank, name);
    if (0 != found) {
        needed = (mpix_ranks_needed_t){.index = ~found};
    } else if (NULL != needed.loaded) {
        needed.index = 0;
    } else if (is_shared(name)
               || !mpix_ranks_find(name, program_map(), object->folder,
                                   string_of(&object->elf, DT_RUNPATH), path, sizeof(path))) {
        *(size_t *) mpix_ranks_list_add(&set->objects[index].kept, sizeof(size_t)) = offset;
        return NULL;
    } else {
        needed.index = set_index(set, name);
        if (needed.index < 0) {
            needed.index = set->count;
            wrong = open_add(set, name, path);
        }
    }
    if (NULL == wrong) {
        mpix_ranks_set_need(&set->objects[index], needed);
    }
    return wrong;
}

/** Libraries that were preloaded, ours among them: found before what a library needs, which would
 * otherwise lead to libmpi's and libc's functions themselves.  Under the lock. */
static const mpix_ranks_loaded_t *open_preloaded(int *count_p)
{
    static mpix_ranks_loaded_t *loaded;
    static mpix_ranks_object_t *objects;
    static int count;

    if (NULL == loaded) {
        loaded = calloc((size_t) mpix_ranks_libraries.count, sizeof(*loaded));
        objects = calloc((size_t) mpix_ranks_libraries.count, sizeof(*objects));
        if (NULL == loaded || NULL == objects) {
            mpix_ranks_refuse("no memory");
        }
        for (int i = 1; i < mpix_ranks_libraries.count; ++i) {
            const mpix_ranks_library_t *library = &mpix_ranks_libraries.all[i];

            if (library->is_reached) {
                break; /* the dynamic linker loads these behind them */
            }
            if ('/' == library->map->l_name[0]) { /* not the kernel's */
                objects[count].name = library->name;
                loaded[count].object = &objects[count];
                (void) snprintf(loaded[count].path, sizeof(loaded[count].path), "%s",
                                library->map->l_name);
                ++count;
            }
        }
    }
    *count_p = count;
    return loaded;
}

/** What the first object of a set finds symbols in before what it needs. */
static void add_preloaded(mpix_ranks_object_t *object)
{
    int count;
    const mpix_ranks_loaded_t *loaded = open_preloaded(&count);

    for (int i = 0; i < count; ++i) {
        mpix_ranks_set_need(object, (mpix_ranks_needed_t){.loaded = &loaded[i]});
    }
}

/** What the first object of a set finds symbols in, after what it needs: the executable, and
 * libraries that the rank has opened by RTLD_GLOBAL. */
static void add_global(const mpix_rank_t *rank, mpix_ranks_object_t *object)
{
    mpix_ranks_set_need(object, (mpix_ranks_needed_t){.index = ~0});
    for (const mpix_ranks_opened_t *opened = rank->image->opened; NULL != opened;
         opened = opened->next) {
        for (int i = 0; opened->is_global && i < opened->set.count; ++i) {
            mpix_ranks_set_need(object, (mpix_ranks_needed_t){.loaded = &opened->loaded[i]});
        }
    }
}

/** The library's copy, and copies of what it needs. */
static const char *make_set(const mpix_rank_t *rank, mpix_ranks_set_t *set, const char *name,
                            const char *path)
{
    const char *wrong = open_add(set, mpix_ranks_library_name(name), path);

    if (NULL == wrong) {
        add_preloaded(&set->objects[0]);
    }
    for (int i = 0; NULL == wrong && i < set->count; ++i) {
        for (size_t k = 0; NULL == wrong && k < set->objects[i].elf.dynamic_count; ++k) {
            const ElfW(Dyn) *entry = &set->objects[i].elf.dynamic[k];

            if (DT_NEEDED == entry->d_tag) {
                wrong = add_needed(rank, set, i, entry->d_un.d_val);
            }
        }
    }
    if (NULL == wrong) {
        add_global(rank, &set->objects[0]);
        mpix_ranks_set_order(set);
    }
    for (int i = 0; NULL == wrong && i < set->count; ++i) {
        wrong = mpix_ranks_references_find(&set->objects[i], &mpix_ranks_program,
                                           mpix_ranks_open_functions);
        wrong = NULL == wrong ? mpix_ranks_copy_prepare(&set->objects[i], set, &mpix_ranks_program)
                              : wrong;
    }
    return wrong;
}

static void free_opened(mpix_ranks_opened_t *opened)
{
    for (int i = 0; i < opened->set.count; ++i) {
        free((char *) opened->set.objects[i].name);
        free(opened->set.objects[i].folder);
    }
    mpix_ranks_set_free(&opened->set);
    free(opened->loaded);
    free(opened);
}

/** Read, load and bind a library for the rank. */
static const char *open_load(mpix_rank_t *rank, const char *name, const char *path, int flags,
                             mpix_ranks_opened_t **opened_p)
{
    mpix_ranks_opened_t *opened = calloc(1, sizeof(*opened));
    const char *wrong;
    char label[16];

    if (NULL == opened) {
        return "no memory";
    }
    (void) snprintf(label, sizeof(label), "rank%d", rank->number);
    wrong = make_set(rank, &opened->set, name, path);
    if (NULL == wrong) {
        opened->loaded = calloc((size_t) opened->set.count, sizeof(*opened->loaded));
        wrong = NULL == opened->loaded
                    ? "no memory"
                    : mpix_ranks_copy_load(&opened->set, label, flags & (RTLD_LAZY | RTLD_NOW),
                                           rank->image->loaded, opened->loaded);
    }
    if (NULL == wrong) {
        wrong = mpix_ranks_bind_copies(rank, &opened->set, opened->loaded, rank->image->variables);
        if (NULL != wrong) {
            mpix_ranks_copy_unload(&opened->set, opened->loaded);
        }
    }
    if (NULL != wrong) {
        free_opened(opened);
        return wrong;
    }
    *opened_p = opened;
    return NULL;
}

static void open_construct(const mpix_rank_t *rank, const mpix_ranks_opened_t *opened)
{
    const mpix_rank_image_t *image = rank->image;

    for (int i = 0; i < opened->set.count; ++i) {
        const int object = opened->set.order[i];

        mpix_ranks_construct(&opened->set.objects[object], opened->loaded[object].base, image->argc,
                             image->argv, image->envp);
    }
}

static void open_destruct(const mpix_ranks_opened_t *opened)
{
    for (int i = opened->set.count - 1; i >= 0; --i) {
        const int object = opened->set.order[i];

        mpix_ranks_destruct(&opened->set.objects[object], opened->loaded[object].base);
    }
}

mpix_ranks_opened_t *mpix_ranks_opened_of(const mpix_rank_t *rank, const void *handle)
{
    for (mpix_ranks_opened_t *opened = rank->image->opened; NULL != opened; opened = opened->next) {
        for (int i = 0; i < opened->set.count; ++i) {
            if (opened->loaded[i].map == handle) {
                return opened;
            }
        }
    }
    return NULL;
}

/** What the set needs of others stays open with it: call a function for each of these. */
static void for_each_earlier(mpix_rank_t *rank, const mpix_ranks_set_t *set,
                             void (*call)(mpix_rank_t *rank, mpix_ranks_opened_t *opened))
{
    for (int i = 0; i < set->count; ++i) {
        const mpix_ranks_needed_t *needed = MPIX_RANKS_ITEMS(set->objects[i].needed,
                                                             mpix_ranks_needed_t);

        for (int k = 0; k < set->objects[i].needed.count; ++k) {
            if (NULL != needed[k].loaded && NULL != needed[k].loaded->map) {
                call(rank, mpix_ranks_opened_of(rank, needed[k].loaded->map));
            }
        }
    }
}

static void open_hold(mpix_rank_t *rank, mpix_ranks_opened_t *opened)
{
    (void) rank;
    ++opened->count;
}

/** Of a library's file: the handle that the rank has, and what holds it.  NULL: none. */
static const mpix_ranks_loaded_t *opened_before(const mpix_rank_t *rank, const struct stat *status,
                                                mpix_ranks_opened_t **opened_p)
{
    for (mpix_ranks_opened_t *opened = rank->image->opened; NULL != opened; opened = opened->next) {
        for (int i = 0; i < opened->set.count; ++i) {
            const mpix_ranks_elf_t *elf = &opened->set.objects[i].elf;

            if (status->st_dev == elf->device && status->st_ino == elf->inode) {
                *opened_p = opened;
                return &opened->loaded[i];
            }
        }
    }
    return NULL;
}

/** A copy of a library for the rank, or once more the one that it has. */
static void *open_own(mpix_rank_t *rank, const char *name, const char *path, int flags)
{
    const mpix_ranks_loaded_t *loaded;
    mpix_ranks_opened_t *opened = NULL;
    const char *wrong = NULL;
    struct stat status;
    bool is_new;

    if (0 != stat(path, &status)) {
        mpix_ranks_open_fail(path, strerror(errno));
        return NULL;
    }
    loaded = opened_before(rank, &status, &opened);
    is_new = NULL == loaded && 0 == (flags & RTLD_NOLOAD);
    if (is_new) {
        (void) pthread_mutex_lock(&load_lock);
        wrong = open_load(rank, name, path, flags, &opened);
        if (NULL != wrong) {
            /* What the dynamic linker says is valid until another thread calls it. */
            mpix_ranks_open_fail(path, wrong);
        }
        (void) pthread_mutex_unlock(&load_lock);
    }
    if (NULL != wrong || NULL == opened) {
        return NULL;
    }
    ++opened->count;
    opened->is_global = opened->is_global || 0 != (flags & RTLD_GLOBAL);
    if (is_new) {
        loaded = opened->loaded;
        for_each_earlier(rank, &opened->set, open_hold);
        opened->next = rank->image->opened;
        rank->image->opened = opened;
        open_construct(rank, opened);
    }
    return loaded->map;
}

void *mpix_ranks_open(const char *name, int flags)
{
    mpix_rank_t *rank = mpix_ranks_self;
    char path[PATH_MAX];
    void *handle;
    int library;

    error[0] = '\0';
    if (NULL == rank || NULL == name || '\0' == *name) {
        return dlopen(name, flags);
    }
    library = program_library(name);
    if (0 != library) {
        return rank->image->loaded[library].map;
    }
    if (is_shared(name) || !mpix_ranks_find(name, program_map(), NULL, NULL, path, sizeof(path))) {
        return dlopen(name, flags);
    }
    (void) pthread_mutex_lock(&rank->image->lock);
    handle = open_own(rank, name, path, flags);
    (void) pthread_mutex_unlock(&rank->image->lock);
    return handle;
}

/** Once less; the last time it goes, and then what it needs of others. */
static void open_release(mpix_rank_t *rank, mpix_ranks_opened_t *opened)
{
    mpix_ranks_opened_t **link = &rank->image->opened;

    if (0 != --opened->count) {
        return;
    }
    while (opened != *link) {
        link = &(*link)->next;
    }
    *link = opened->next;
    open_destruct(opened);
    (void) pthread_mutex_lock(&load_lock);
    mpix_ranks_copy_unload(&opened->set, opened->loaded);
    (void) pthread_mutex_unlock(&load_lock);
    for_each_earlier(rank, &opened->set, open_release);
    free_opened(opened);
}

int mpix_ranks_close(void *handle)
{
    mpix_rank_t *rank = mpix_ranks_self;
    mpix_ranks_opened_t *opened = NULL;

    error[0] = '\0';
    if (NULL == rank) {
        return dlclose(handle);
    }
    for (int i = 0; i < mpix_ranks_program.count; ++i) {
        if (rank->image->loaded[i].map == handle) {
            return 0;
        }
    }
    (void) pthread_mutex_lock(&rank->image->lock);
    opened = mpix_ranks_opened_of(rank, handle);
    if (NULL != opened) {
        open_release(rank, opened);
    }
    (void) pthread_mutex_unlock(&rank->image->lock);
    return NULL != opened ? 0 : dlclose(handle);
}

char *mpix_ranks_open_error(void)
{
    static __thread char returned[sizeof(error)];

    if ('\0' == error[0]) {
        return dlerror();
    }
    memcpy(returned, error, sizeof(returned));
    error[0] = '\0';
    return returned;
}

void mpix_ranks_open_end(mpix_rank_t *rank)
{
    for (const mpix_ranks_opened_t *opened = rank->image->opened; NULL != opened;
         opened = opened->next) {
        open_destruct(opened);
    }
}
