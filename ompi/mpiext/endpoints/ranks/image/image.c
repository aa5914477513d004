/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Temporary: the prototype, behind the interface of image.h.
 */
#define _GNU_SOURCE
#include "image.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
typedef struct mpix_rank_image_t {
    mpix_rank_t *rank; struct link_map *map;
    int *optind, *opterr, *optopt; char **optarg; char *near_page; size_t near_used;
    struct { struct link_map *map; ElfW(Addr) init_array; size_t init_count; } priv[8];
    int privs; ElfW(Addr) init_array; size_t init_count;
} img_t;
#define die mpix_ranks_refuse
static const char *private_names[8];
static int private_count;
static bool verbose;
/* ---- images ----------------------------------------------------------------------------------- */
typedef struct image_t {
    char *base;
    ElfW(Dyn) *dyn;
    const ElfW(Sym) *symtab;
    const char *strtab;
    const ElfW(Rela) *rela, *jmprel;
    size_t rela_count, jmprel_count;
    char *text, *text_end;
} image_t;

static void image_read(image_t *im, struct link_map *map)
{
    memset(im, 0, sizeof *im);
    im->base = (char *) map->l_addr;
    for (ElfW(Dyn) *d = map->l_ld; DT_NULL != d->d_tag; ++d) {
        switch (d->d_tag) {
        case DT_SYMTAB: im->symtab = (void *) d->d_un.d_ptr; break;
        case DT_STRTAB: im->strtab = (void *) d->d_un.d_ptr; break;
        case DT_RELA: im->rela = (void *) d->d_un.d_ptr; break;
        case DT_RELASZ: im->rela_count = d->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_JMPREL: im->jmprel = (void *) d->d_un.d_ptr; break;
        case DT_PLTRELSZ: im->jmprel_count = d->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_RELR: die("packed relative relocations: not in the prototype"); break;
        }
    }
    ElfW(Ehdr) *eh = (void *) im->base;
    ElfW(Phdr) *ph = (void *) (im->base + eh->e_phoff);
    for (int i = 0; i < eh->e_phnum; ++i) {
        if (PT_LOAD == ph[i].p_type && (ph[i].p_flags & PF_X)) {
            im->text = im->base + ph[i].p_vaddr; im->text_end = im->text + ph[i].p_filesz;
        }
    }
}

static void writable(void *at, size_t n, int prot)
{
    uintptr_t a = (uintptr_t) at & ~4095ul, e = ((uintptr_t) at + n + 4095) & ~4095ul;
    if (mprotect((void *) a, e - a, prot)) die("mprotect: %s", strerror(errno));
}
static void store(void *at, void *value)
{
    if (*(void **) at == value) return;
    writable(at, 8, PROT_READ | PROT_WRITE);
    *(void **) at = value; /* the prototype leaves RELRO writable */
}

static void *near_slot(img_t *r, char *base)
{
    char *near_page = r->near_page;
    if (!near_page) {
        for (long step = 1; step < 16384 && !near_page; ++step) {
            void *p = mmap(base - step * 65536, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            if (MAP_FAILED != p) near_page = p;
        }
        if (!near_page) die("no page near the executable");
        r->near_page = near_page;
    }
    return near_page + 8 * r->near_used++;
}

static bool is_handle(const char *name)
{
    return !strncmp(name, "ompi_mpi_", 9) || !strncmp(name, "ompi_request_null", 17) || !strncmp(name, "ompi_message_", 13) ||
           !strncmp(name, "ompi_request_empty", 18);
}
static bool is_fortran(const char *name) { return !strncmp(name, "mpi_fortran_", 12); }

/* What the rank's own objects define, in the order of ELF: the executable's copy, then its libraries. */
static void *own_symbol(img_t *r, const char *name)
{
    for (int k = -1; k < r->privs; ++k) {
        struct link_map *map = k < 0 ? r->map : r->priv[k].map;
        Dl_info info;
        void *at = dlsym(map, name);
        if (at && dladdr(at, &info) && info.dli_fbase == (void *) map->l_addr) return at;
    }
    return NULL;
}
static bool in_private(img_t *r, const char *name, void **at_p)
{
    for (int k = 0; k < r->privs; ++k) {
        Dl_info info;
        void *at = dlsym(r->priv[k].map, name);
        if (at && dladdr(at, &info) && info.dli_fbase == (void *) r->priv[k].map->l_addr) { *at_p = at; return true; }
    }
    return false;
}

typedef struct target_t { char *clone; void *value; const char *name; char *slot; int leas, data; } target_t;

static void library_patch(img_t *r, struct link_map *map)
{
    image_t im;
    image_read(&im, map);
    for (size_t i = 0; i < im.rela_count; ++i) {
        const ElfW(Rela) *rel = &im.rela[i];
        char *at = im.base + rel->r_offset;
        const char *name = im.strtab + im.symtab[ELF64_R_SYM(rel->r_info)].st_name;
        unsigned type = ELF64_R_TYPE(rel->r_info);
        if (R_X86_64_GLOB_DAT != type && R_X86_64_64 != type) continue;
        if (!strcmp(name, "ompi_mpi_comm_world")) store(at, r->rank->world);
        else if (!strcmp(name, "ompi_mpi_comm_self")) store(at, r->rank->self);
        else if (is_handle(name) || is_fortran(name)) store(at, dlsym(RTLD_DEFAULT, name));
    }
}

static void image_patch(img_t *r)
{
    image_t im;
    target_t t[256];
    int n = 0, lea = 0, data = 0, got = 0;

    image_read(&im, r->map);
    for (size_t i = 0; i < im.rela_count; ++i) {
        const ElfW(Rela) *rel = &im.rela[i];
        const ElfW(Sym) *sym = &im.symtab[ELF64_R_SYM(rel->r_info)];
        const char *name = im.strtab + sym->st_name;
        if (R_X86_64_COPY != ELF64_R_TYPE(rel->r_info)) continue;
        char *clone = im.base + rel->r_offset;
        if (!strcmp(name, "optind")) r->optind = (int *) clone;
        if (!strcmp(name, "optarg")) r->optarg = (char **) clone;
        if (!strcmp(name, "opterr")) r->opterr = (int *) clone;
        if (!strcmp(name, "optopt")) r->optopt = (int *) clone;
        void *value = dlsym(RTLD_DEFAULT, name); /* what libmpi uses: the executable's */
        if (!is_handle(name)) {
            void *private_at;
            if (0 == r->rank->index || !strncmp(name, "opt", 3)) continue;
            if (in_private(r, name, &private_at)) { /* the library's own refers to the copy, as always */
                writable(clone, sym->st_size, PROT_READ | PROT_WRITE);
                memcpy(clone, private_at, sym->st_size);
                continue;
            }
            /* Another library's: what is read directly is a snapshot, the address is the one. */
            writable(clone, sym->st_size, PROT_READ | PROT_WRITE);
            memcpy(clone, value, sym->st_size);
            t[n++] = (target_t){.clone = clone, .value = value, .name = name, .slot = near_slot(r, im.base)};
            continue;
        }
        if (!strcmp(name, "ompi_mpi_comm_world")) value = r->rank->world;
        else if (!strcmp(name, "ompi_mpi_comm_self")) value = r->rank->self;
        else if (0 == r->rank->index) continue; /* it is libmpi's already */
        if (n == 256) die("too many");
        t[n++] = (target_t){.clone = clone, .value = value, .name = name, .slot = 0 == r->rank->index ? near_slot(r, im.base) : clone};
    }
    /* Fortran's constants are common blocks of the executable, known by their addresses. */
    if (0 != r->rank->index) {
        const ElfW(Sym) *s = im.symtab;
        for (; (const char *) s < im.strtab; ++s) {
            const char *name = im.strtab + s->st_name;
            if (SHN_UNDEF == s->st_shndx || STT_OBJECT != ELF64_ST_TYPE(s->st_info) || !is_fortran(name)) continue;
            bool have = false;
            char *clone = im.base + s->st_value;
            for (int k = 0; k < n; ++k) have |= t[k].clone == clone;
            if (!have && n < 256) t[n++] = (target_t){.clone = clone, .value = dlsym(RTLD_DEFAULT, name), .name = name, .slot = clone};
        }
    }
    for (int k = 0; k < n; ++k) { writable(t[k].slot, 8, PROT_READ | PROT_WRITE); *(void **) t[k].slot = t[k].value; }
    /* code: lea clone(%rip), reg -> mov slot(%rip), reg */
    writable(im.text, (size_t) (im.text_end - im.text), PROT_READ | PROT_WRITE | PROT_EXEC);
    for (char *p = im.text; p + 7 <= im.text_end; ++p) {
        unsigned char *b = (unsigned char *) p;
        int32_t disp;
        if ((b[0] != 0x48 && b[0] != 0x4c) || b[1] != 0x8d || (b[2] & 0xc7) != 0x05) continue;
        memcpy(&disp, b + 3, 4);
        char *to = p + 7 + disp;
        for (int k = 0; k < n; ++k) {
            if (to == t[k].clone) {
                ptrdiff_t d = t[k].slot - (p + 7);
                disp = (int32_t) d;
                if (disp != d) die("too far");
                b[1] = 0x8b; memcpy(b + 3, &disp, 4); ++lea; ++t[k].leas;
            }
        }
    }
    writable(im.text, (size_t) (im.text_end - im.text), PROT_READ | PROT_EXEC);
    /* data: addresses of clones, and of handles by the global offset table */
    for (size_t i = 0; i < im.rela_count; ++i) {
        const ElfW(Rela) *rel = &im.rela[i];
        char *at = im.base + rel->r_offset;
        const char *name = im.strtab + im.symtab[ELF64_R_SYM(rel->r_info)].st_name;
        switch (ELF64_R_TYPE(rel->r_info)) {
        case R_X86_64_RELATIVE:
            for (int k = 0; k < n; ++k)
                if (im.base + rel->r_addend == t[k].clone && *(char **) at == t[k].clone) { store(at, t[k].value); ++data; ++t[k].data; }
            break;
        case R_X86_64_GLOB_DAT: case R_X86_64_64:
            if (!strcmp(name, "ompi_mpi_comm_world")) { store(at, r->rank->world); ++got; }
            else if (!strcmp(name, "ompi_mpi_comm_self")) { store(at, r->rank->self); ++got; }
            else if (is_handle(name) || is_fortran(name)) { store(at, dlsym(RTLD_DEFAULT, name)); ++got; }
            break;
        }
    }
    if (verbose) {
        fprintf(stderr, "world: image %d at %p: %d predefined, %d lea, %d in data, %d by GOT\n", r->rank->index, (void *) im.base, n, lea, data, got);
        if (verbose && r->rank->index < 2) for (int k = 0; k < n; ++k) fprintf(stderr, "   %-28s lea %d data %d\n", t[k].name, t[k].leas, t[k].data);
    }
}

/* A copy's references to what the executable exports (it comes first in the global scope) are to be
 * its own: bind them anew. */
static void image_rebind(img_t *r, struct link_map *map)
{
    image_t im;
    int n = 0;
    image_read(&im, map);
    for (int pass = 0; pass < 2; ++pass) {
        const ElfW(Rela) *rel = pass ? im.jmprel : im.rela;
        size_t c = pass ? im.jmprel_count : im.rela_count;
        for (size_t i = 0; i < c; ++i) {
            unsigned type = ELF64_R_TYPE(rel[i].r_info);
            const ElfW(Sym) *s = &im.symtab[ELF64_R_SYM(rel[i].r_info)];
            if (R_X86_64_GLOB_DAT != type && R_X86_64_JUMP_SLOT != type && R_X86_64_64 != type) continue;
            {
                const char *name = im.strtab + s->st_name;
                void *at = is_handle(name) || is_fortran(name) ? NULL : own_symbol(r, name);
                if (at) {
                    store(im.base + rel[i].r_offset, (char *) at + (R_X86_64_64 == type ? rel[i].r_addend : 0));
                    ++n;
                }
            }
        }
    }
    if (verbose && n) fprintf(stderr, "world: %d references of a copy to itself and its libraries bound\n", n);
}

static struct link_map *load_copy(img_t *r, const char *path, ElfW(Addr) *init_array, size_t *init_count)
{
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("rank", MFD_CLOEXEC);
    struct stat st;
    char *file, name[64];
    if (from < 0 || to < 0 || fstat(from, &st)) die("%s: %s", path, strerror(errno));
    if (ftruncate(to, st.st_size)) die("memfd: %s", strerror(errno));
    file = mmap(NULL, (size_t) st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
    if (read(from, file, (size_t) st.st_size) != st.st_size) die("read");
    ElfW(Ehdr) *eh = (void *) file;
    ElfW(Phdr) *ph = (void *) (file + eh->e_phoff);
    if (ET_DYN != eh->e_type) die("%s is not position independent (-no-pie): it cannot be loaded twice", path);
    for (int i = 0; i < eh->e_phnum; ++i)
        if (PT_DYNAMIC == ph[i].p_type)
            for (ElfW(Dyn) *d = (void *) (file + ph[i].p_offset); DT_NULL != d->d_tag; ++d)
            {
                if (DT_FLAGS_1 == d->d_tag) d->d_un.d_val &= ~(ElfW(Xword)) (DF_1_PIE | DF_1_NOOPEN);
                if (DT_INIT_ARRAY == d->d_tag) *init_array = d->d_un.d_ptr;
                if (DT_INIT_ARRAYSZ == d->d_tag) { *init_count = d->d_un.d_val / sizeof(void *); d->d_un.d_val = 0; } /* run by the rank */
            }
    /* Names of private libraries, wherever they are in the table of strings: another for each rank. */
    for (int i = 0; i < eh->e_phnum; ++i)
        if (PT_DYNAMIC == ph[i].p_type) {
            ElfW(Addr) at = 0; size_t size = 0;
            for (ElfW(Dyn) *d = (void *) (file + ph[i].p_offset); DT_NULL != d->d_tag; ++d) {
                if (DT_STRTAB == d->d_tag) at = d->d_un.d_ptr;
                if (DT_STRSZ == d->d_tag) size = d->d_un.d_val;
            }
            for (int k = 0; k < eh->e_phnum; ++k)
                if (PT_LOAD == ph[k].p_type && at >= ph[k].p_vaddr && at < ph[k].p_vaddr + ph[k].p_filesz) {
                    char *table = file + ph[k].p_offset + (at - ph[k].p_vaddr);
                    for (size_t o = 1; o < size; o += strlen(table + o) + 1)
                        for (int l = 0; l < private_count; ++l)
                            if (!strcmp(table + o, private_names[l])) { char t[4]; snprintf(t, sizeof t, "%03x", r->rank->index & 0xfff); memcpy(table + o, t, 3); }
                }
        }
    munmap(file, (size_t) st.st_size);
    close(from);
    snprintf(name, sizeof name, "/proc/self/fd/%d", to); /* stays open: names must differ */
    struct link_map *map = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!map) die("%s", dlerror());
    return map;
}


bool mpix_ranks_image_is_mpi(void)
{
    return NULL != dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
}
void mpix_ranks_image_check(int ranks)
{
    (void) ranks;
    if (getenv("MPIX_RANKS_PRIVATE"))
        for (char *w = strtok(strdup(getenv("MPIX_RANKS_PRIVATE")), ","); w && private_count < 8; w = strtok(NULL, ",")) private_names[private_count++] = w;
}
void mpix_ranks_image_load(mpix_rank_t *rank)
{
    img_t *r = rank->image = calloc(1, sizeof *r);
    r->rank = rank;
    r->map = dlopen(NULL, RTLD_NOW);
    if (rank->index > 0) {
        for (int l = 0; l < private_count; ++l) {
            struct link_map *shared = dlopen(private_names[l], RTLD_NOLOAD | RTLD_NOW);
            if (!shared) die("%s is not loaded", private_names[l]);
            r->priv[l].map = load_copy(r, shared->l_name, &r->priv[l].init_array, &r->priv[l].init_count);
            r->privs = l + 1;
        }
        r->map = load_copy(r, "/proc/self/exe", &r->init_array, &r->init_count);
        for (int l = 0; l < r->privs; ++l) image_rebind(r, r->priv[l].map);
        image_rebind(r, r->map);
    }
}
void mpix_ranks_image_construct(mpix_rank_t *rank, int argc, char **argv, char **envp)
{
    img_t *r = rank->image;
    image_patch(r);
    for (int l = 0; l < private_count; ++l) library_patch(r, rank->index ? r->priv[l].map : dlopen(private_names[l], RTLD_NOLOAD | RTLD_NOW));
    for (int l = 0; l < r->privs; ++l)
        for (size_t i = 0; i < r->priv[l].init_count; ++i) {
            void (*init)(int, char **, char **) = ((void (**)(int, char **, char **)) (r->priv[l].map->l_addr + r->priv[l].init_array))[i];
            if (init && (intptr_t) init != -1) init(argc, argv, envp);
        }
    for (size_t i = 0; i < r->init_count; ++i) ((void (**)(int, char **, char **)) (r->map->l_addr + r->init_array))[i](argc, argv, envp);
}
mpix_ranks_main_t *mpix_ranks_image_main(mpix_rank_t *rank, mpix_ranks_main_t *executables)
{
    struct link_map *exe = dlopen(NULL, RTLD_NOW);
    return (mpix_ranks_main_t *) (rank->image->map->l_addr + ((char *) executables - (char *) exe->l_addr));
}
void mpix_ranks_image_destruct(mpix_rank_t *rank)
{
    (void) rank;
}
void *mpix_ranks_image_variable(mpix_rank_t *rank, const char *name)
{
    return dlsym(rank->image->map, name);
}
