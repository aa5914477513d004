/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reading ELF files (ranks/image/elf.h): a file that is made here is read right; damaged ones, cut at
 * each byte or with other bytes at random places, are refused or read, and nothing beyond them is
 * touched, which the variants with sanitizers show.
 *
 * Guards: elf.c
 */

#include "ompi/mpiext/endpoints/ranks/image/elf.c"

#include "tap.h"

/** The file: one segment that is all of it, and addresses that are offsets. */
typedef struct image_t {
    ElfW(Ehdr) header;
    ElfW(Phdr) segments[2];
    ElfW(Dyn) dynamic[14];
    ElfW(Sym) symbols[3];
    ElfW(Rela) relocations[3];
    ElfW(Addr) relr[2];
    ElfW(Verneed) need;
    uint32_t hash[4 + 2 + 1 + 2]; /* head, a filter of 64 bits, a bucket, chains */
    char strings[64];
    ElfW(Addr) data[4];
} image_t;

static const char strings[] = "\0libone.so\0outer\0inner\0";

enum { LIBRARY = 1, OUTER = 11, INNER = 17 };

static image_t make(void)
{
    image_t image = {
        .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_DYN,
                   .e_machine = MACHINE,
                   .e_phoff = offsetof(image_t, segments),
                   .e_phentsize = sizeof(ElfW(Phdr)),
                   .e_phnum = 2},
        .segments = {{.p_type = PT_LOAD,
                      .p_flags = PF_R | PF_W,
                      .p_filesz = sizeof(image_t),
                      .p_memsz = sizeof(image_t) + 100,
                      .p_align = 4096},
                     {.p_type = PT_DYNAMIC,
                      .p_offset = offsetof(image_t, dynamic),
                      .p_vaddr = offsetof(image_t, dynamic),
                      .p_filesz = sizeof(image.dynamic),
                      .p_memsz = sizeof(image.dynamic)}},
        .dynamic = {{DT_NEEDED, {LIBRARY}},
                    {DT_STRTAB, {offsetof(image_t, strings)}},
                    {DT_STRSZ, {sizeof(strings)}},
                    {DT_SYMTAB, {offsetof(image_t, symbols)}},
                    {DT_GNU_HASH, {offsetof(image_t, hash)}},
                    {DT_RELA, {offsetof(image_t, relocations)}},
                    {DT_RELASZ, {sizeof(image.relocations)}},
                    {DT_RELR, {offsetof(image_t, relr)}},
                    {DT_RELRSZ, {sizeof(image.relr)}},
                    {DT_VERNEED, {offsetof(image_t, need)}},
                    {DT_VERNEEDNUM, {1}}},
        .symbols = {{0},
                    {.st_name = OUTER, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)},
                    {.st_name = INNER,
                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                     .st_shndx = 1,
                     .st_value = offsetof(image_t, data),
                     .st_size = 8}},
        .relocations = {{offsetof(image_t, data), ELF64_R_INFO(1, TYPE_GOT), 0},
                        {offsetof(image_t, data[1]), ELF64_R_INFO(0, TYPE_RELATIVE), 77},
                        {offsetof(image_t, data), ELF64_R_INFO(2, TYPE_COPY), 0}},
        .relr = {offsetof(image_t, data[2]), 3},
        .need = {.vn_file = LIBRARY},
        .hash = {1, 2, 1, 0, ~0U, ~0U, 2, 1},
        .data = {0, 0, 88, 99},
    };

    memcpy(image.strings, strings, sizeof(strings));
    return image;
}

typedef struct seen_t {
    int count;
    unsigned long sum;
} seen_t;

static const char *visit(void *argument, const mpix_ranks_relocation_t *relocation)
{
    seen_t *seen = argument;

    ++seen->count;
    seen->sum += relocation->kind * 1000 + strlen(relocation->name);
    if (MPIX_RANKS_RELATIVE == relocation->kind) {
        seen->sum += relocation->addend;
    }
    return NULL;
}

static void case_right(void)
{
    image_t image = make();
    seen_t seen = {0};
    mpix_ranks_elf_t elf;
    const char *wrong = mpix_ranks_elf_read(&elf, (char *) &image, sizeof(image));
    ElfW(Xword) value = 0;

    tap_case("a file is read");
    TAP_CHECK(NULL == wrong, "refused: %s", wrong);
    if (NULL == wrong) {
        TAP_EQ(3, elf.symbol_count);
        TAP_EQ(11, elf.dynamic_count);
        TAP_CHECK(mpix_ranks_elf_dynamic(&elf, DT_NEEDED, &value), "nothing needed");
        TAP_CHECK(0 == strcmp("libone.so", mpix_ranks_elf_string(&elf, value)), "another name");
        TAP_CHECK(NULL == mpix_ranks_elf_string(&elf, sizeof(strings)), "a string beyond the end");
        TAP_CHECK(&image.symbols[2] == mpix_ranks_elf_defined(&elf, "inner"), "no inner");
        TAP_CHECK(NULL == mpix_ranks_elf_defined(&elf, "outer"), "outer is not defined");
        TAP_CHECK(&image.need == elf.needs, "no versions");
        TAP_CHECK(NULL == mpix_ranks_elf_at(&elf, sizeof(image), 1), "bytes beyond the file");
        TAP_CHECK(NULL == mpix_ranks_elf_relocations(&elf, visit, &seen), "damaged relocations");
        TAP_EQ(5, seen.count);
        TAP_EQ(1000 * (MPIX_RANKS_SYMBOL + MPIX_RANKS_COPY) + 5 + 5 + 77 + 88 + 99, seen.sum);
    }
    tap_case_done();
}

/** Read bytes that end where an allocation ends, and use all that is in them. */
static const char *read_bytes(const void *bytes, size_t size)
{
    char *file = NULL;
    seen_t seen = {0};
    mpix_ranks_elf_t elf;
    const char *wrong;

    if (0 != posix_memalign((void **) &file, 16, 0 == size ? 1 : size)) {
        return "no memory";
    }
    memcpy(file, bytes, size);
    wrong = mpix_ranks_elf_read(&elf, file, size);
    if (NULL == wrong) {
        (void) mpix_ranks_elf_defined(&elf, "nowhere");
        (void) mpix_ranks_elf_relocations(&elf, visit, &seen);
    }
    free(file);
    return wrong;
}

static void case_cut(void)
{
    image_t image = make();

    tap_case("files that end too early are refused");
    for (size_t size = 0; size < sizeof(image); ++size) {
        TAP_CHECK(NULL != read_bytes(&image, size), "%zu bytes are a file", size);
    }
    tap_case_done();
}

static void case_wrong(void)
{
    static const struct {
        size_t offset;
        uint64_t value;
        size_t size;
    } changes[] = {
        {offsetof(image_t, header.e_ident), 0, 1},
        {offsetof(image_t, header.e_type), ET_EXEC, 2},
        {offsetof(image_t, header.e_machine), EM_68K, 2},
        {offsetof(image_t, header.e_phoff), ~(uint64_t) 7, 8},
        {offsetof(image_t, header.e_phnum), PN_XNUM, 2},
        {offsetof(image_t, segments[0].p_memsz), 1, 8},
        {offsetof(image_t, segments[0].p_offset), ~(uint64_t) 0, 8},
        {offsetof(image_t, dynamic[2].d_un), 15, 8}, /* strings without an end */
        {offsetof(image_t, dynamic[3].d_un), ~(uint64_t) 0, 8},
        {offsetof(image_t, dynamic[5].d_un), 1, 8},  /* not aligned */
        {offsetof(image_t, dynamic[6].d_un), 25, 8}, /* no multiple */
        {offsetof(image_t, dynamic[10].d_un), 2, 8}, /* more versions than there are */
        {offsetof(image_t, symbols[1].st_name), 1000, 4},
        {offsetof(image_t, relocations[0].r_info), ELF64_R_INFO(3, TYPE_GOT), 8},
        {offsetof(image_t, need.vn_file), 1000, 4},
        {offsetof(image_t, hash[0]), 1 << 20, 4},
        {offsetof(image_t, hash[2]), ~0U, 4},
        {offsetof(image_t, hash[7]), 0, 4}, /* a chain without an end */
    };

    tap_case("each damage is seen");
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); ++i) {
        image_t image = make();

        memcpy((char *) &image + changes[i].offset, &changes[i].value, changes[i].size);
        TAP_CHECK(NULL != read_bytes(&image, sizeof(image)), "change %zu is not seen", i);
    }
    tap_case_done();
}

static void case_random(void)
{
    uint64_t state = tap_stream(1);
    int refused = 0;

    tap_case("bytes at random");
    for (int round = 0; round < (TAP_SANITIZED ? 20000 : 100000); ++round) {
        image_t image = make();

        for (uint64_t i = 1 + tap_below(&state, 3); i > 0; --i) {
            ((uint8_t *) &image)[tap_below(&state, sizeof(image))] = (uint8_t) tap_random(&state);
        }
        refused += NULL != read_bytes(&image, sizeof(image));
    }
    TAP_CHECK(0 != refused, "nothing was refused");
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_ranks_elf", 60);
    case_right();
    case_cut();
    case_wrong();
    case_random();
    return tap_end();
}
