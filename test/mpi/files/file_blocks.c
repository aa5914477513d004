/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* EPT-PARTS: file_tools.c */
/**
 * @file
 *
 * Collective reads and writes of blocks that lie between those of others: of few bytes to many,
 * with more blocks than the system takes at once, out of memory with gaps, by members of which some
 * have nothing, or more than all others; up to the file's end and beyond; and of more than 2 GiB.
 *
 * Options: --large 1: the last, and nothing else
 *          --exchanged 1: the file is locked as a whole, so what takes many calls is sent to few;
 *          counted
 *
 * Guards: client.c, local_group.c, two_phase.c, merge.c, messages.c, extents.c, shuffle.c,
 * collective_io.c
 */

#include "file_tools.h"

#include <fcntl.h>
#include <unistd.h>

enum { GAP = 3, UNTOUCHED = 0x5a };

/** What a rank has: blocks of a file, every stride bytes from start on. */
struct part {
    MPI_Offset start;
    int block, count, stride;
    bool gaps; /**< in memory, too */
};

static void set_view(struct ept *t, MPI_File file, const struct part *part)
{
    MPI_Datatype block, view;

    EPT_OK(t, MPI_Type_contiguous(part->block, MPI_BYTE, &block));
    EPT_OK(t, MPI_Type_create_resized(block, 0, part->stride, &view));
    EPT_OK(t, MPI_Type_commit(&view));
    EPT_OK(t, MPI_File_set_view(file, part->start, MPI_BYTE, view, "native", MPI_INFO_NULL));
    MPI_Type_free(&view);
    MPI_Type_free(&block);
}

static MPI_Datatype memory_type(const struct part *part)
{
    MPI_Datatype type;

    MPI_Type_vector(part->count, part->block, part->block + (part->gaps ? GAP : 0), MPI_BYTE,
                    &type);
    MPI_Type_commit(&type);
    return type;
}

static size_t memory_size(const struct part *part)
{
    return (size_t) part->count * (size_t) (part->block + GAP) + 1;
}

static unsigned char *at(const struct part *part, unsigned char *memory, int block)
{
    return &memory[(size_t) block * (size_t) (part->block + (part->gaps ? GAP : 0))];
}

/** The key of a rank's block. */
static uint64_t key(int rank, int block)
{
    return (uint64_t) rank * 1000003 + (uint64_t) block + 1;
}

static void write_part(struct ept *t, MPI_File file, const struct part *part)
{
    unsigned char *memory = calloc(1, memory_size(part));
    MPI_Datatype type = memory_type(part);
    MPI_Status status;
    int count;

    for (int i = 0; i < part->count; ++i) {
        ept_fill(at(part, memory, i), 0, (size_t) part->block, key(t->rank, i));
    }
    set_view(t, file, part);
    EPT_OK(t, MPI_File_write_all(file, memory, 0 < part->count, type, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    EPT_EQ(t, part->block * part->count, count);
    MPI_Type_free(&type);
    free(memory);
}

/** Read what rank has written. @param[in] there  bytes of it that are to be there */
static void read_part(struct ept *t, MPI_File file, const struct part *part, int rank, int there)
{
    unsigned char *memory = memset(malloc(memory_size(part)), UNTOUCHED, memory_size(part));
    MPI_Datatype type = memory_type(part);
    MPI_Status status;
    int count;

    set_view(t, file, part);
    EPT_OK(t, MPI_File_read_all(file, memory, 0 < part->count, type, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    EPT_EQ(t, there, count);
    for (int i = 0; i < part->count; ++i) {
        const int left = there - i * part->block;

        if (0 < left) {
            EPT_FILL(t, at(part, memory, i), (size_t) (left < part->block ? left : part->block),
                     key(rank, i));
        }
        if (left < part->block) {
            EPT_EQ(t, UNTOUCHED, at(part, memory, i)[part->block - 1]);
        }
        if (part->gaps) {
            EPT_EQ(t, UNTOUCHED, at(part, memory, i)[part->block + 1]);
        }
    }
    MPI_Type_free(&type);
    free(memory);
}

/** All blocks of a rank, as the system has them. */
static void look(struct ept *t, const char *name, const struct part *part, int rank)
{
    size_t have = 0;
    unsigned char *bytes = file_bytes(name, &have);

    for (int i = 0; i < part->count; ++i) {
        const MPI_Offset start = part->start + (MPI_Offset) i * part->stride;

        EPT_CHECK(t, (MPI_Offset) have >= start + part->block, "block %d of rank %d is not there",
                  i, rank);
        if ((MPI_Offset) have >= start + part->block) {
            EPT_FILL(t, &bytes[start], (size_t) part->block, key(rank, i));
        }
    }
    free(bytes);
}

static struct part woven(const struct ept *t, int rank, int block, int count, bool gaps)
{
    return (struct part){.start = 100 + (MPI_Offset) rank * block,
                         .block = block,
                         .count = count,
                         .stride = block * t->size,
                         .gaps = gaps};
}

/* Ranks have blocks in turns; then each reads those of its neighbour. */
static void case_woven(MPI_Comm comm, struct ept *t)
{
    static const struct {
        int block, count;
    } sizes[] = {{1, 3000}, {7, 5000}, {4096, 300}, {65536, 9}, {300000, 5}};
    const int next = (t->rank + 1) % t->size;

    for (int i = 0; i < 2 * (int) (sizeof(sizes) / sizeof(sizes[0])); ++i) {
        const int block = sizes[i / 2].block, count = sizes[i / 2].count;
        const struct part mine = woven(t, t->rank, block, count, 0 != i % 2);
        const struct part theirs = woven(t, next, block, count, 0 == i % 2);
        char name[FILE_NAME_MAX];
        MPI_File file;

        file_name(comm, t, "woven", name);
        file = file_create(comm, t, name, 0);
        write_part(t, file, &mine);
        look(t, name, &theirs, next);
        EPT_EQ(t, 100 + (long long) block * count * t->size, file_size(name));
        read_part(t, file, &theirs, next, block * count);
        EPT_OK(t, MPI_File_close(&file));
        file_remove(comm, name);
    }
}

/** The last rank has nothing, and the one before it a single large block behind the others'. */
static struct part uneven(const struct ept *t, int rank)
{
    struct part part = woven(t, rank, 500, 1500, false);

    if (rank == t->size - 1 && 1 < t->size) {
        part.count = 0;
    } else if (rank == t->size - 2 && 2 < t->size) {
        part = (struct part){.start = 100 + (MPI_Offset) 500 * 1500 * t->size,
                             .block = 600000,
                             .count = 1,
                             .stride = 600000};
    } else if (1 == rank) {
        part.start += (MPI_Offset) part.stride * 700; /* begins in the middle of the others */
        part.count = 800;
    }
    return part;
}

static void case_uneven(MPI_Comm comm, struct ept *t)
{
    const int next = (t->rank + 1) % t->size;
    const struct part mine = uneven(t, t->rank), theirs = uneven(t, next);
    char name[FILE_NAME_MAX];
    MPI_File file;

    file_name(comm, t, "uneven", name);
    file = file_create(comm, t, name, 0);
    write_part(t, file, &mine);
    look(t, name, &theirs, next);
    read_part(t, file, &theirs, next, theirs.block * theirs.count);
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
}

/* Many blocks, together more than goes into one message or stays in memory at once. */
static void case_many(MPI_Comm comm, struct ept *t)
{
    const struct part mine = woven(t, t->rank, 7777, (32 << 20) / 7777 / t->size, false),
                      theirs = woven(t, (t->rank + 1) % t->size, 7777, mine.count, true);
    char name[FILE_NAME_MAX];
    MPI_File file;

    file_name(comm, t, "many", name);
    file = file_create(comm, t, name, 0);
    write_part(t, file, &mine);
    look(t, name, &theirs, (t->rank + 1) % t->size);
    read_part(t, file, &theirs, (t->rank + 1) % t->size, theirs.block * theirs.count);
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
}

/* All read the same blocks; and gaps that are near to each other, and far. */
static void case_same(MPI_Comm comm, struct ept *t)
{
    char name[FILE_NAME_MAX];
    MPI_File file;

    file_name(comm, t, "same", name);
    file = file_create(comm, t, name, 0);
    for (int gap = 10; gap < 20000; gap *= 12) {
        const struct part part = {
            .start = 17, .block = 900, .count = 200, .stride = 900 + gap, .gaps = true};
        struct part mine = part;

        mine.count = 0 == t->rank ? part.count : 0;
        write_part(t, file, &mine);
        read_part(t, file, &part, 0, part.block * part.count);
    }
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
}

/* The file ends within a block of the first rank: others get what is before. */
static void case_end(MPI_Comm comm, struct ept *t)
{
    const struct part mine = woven(t, t->rank, 4096, 50, false);
    const int whole = 20; /* rounds of blocks that stay */
    struct part more = mine;
    char name[FILE_NAME_MAX];
    MPI_File file;

    more.count = 80;
    file_name(comm, t, "end", name);
    file = file_create(comm, t, name, 0);
    write_part(t, file, &mine);
    read_part(t, file, &more, t->rank, 50 * 4096);
    EPT_OK(t, MPI_File_set_size(file, 100 + (MPI_Offset) whole * 4096 * t->size + 1000));
    read_part(t, file, &more, t->rank, whole * 4096 + (0 == t->rank ? 1000 : 0));
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
}

/* One call with more than 2 GiB of one rank, out of a MiB of memory: blocks one behind the
 * other. */
static void case_large(MPI_Comm comm, struct ept *t)
{
    enum { MIB = 1 << 20, COUNT = 2100 };
    unsigned char *memory = malloc(MIB), *there = malloc(MIB);
    const MPI_Offset end = (MPI_Offset) COUNT * MIB;
    char name[FILE_NAME_MAX];
    MPI_Datatype type;
    MPI_Status status;
    MPI_Count bytes;
    MPI_File file;
    int fd;

    ept_fill(memory, 0, MIB, 5);
    EPT_OK(t, MPI_Type_create_hvector(COUNT, MIB, 0, MPI_BYTE, &type));
    EPT_OK(t, MPI_Type_commit(&type));
    file_name(comm, t, "large", name);
    file = file_create(comm, t, name, 0);
    EPT_OK(t, MPI_File_write_at_all(file, 0 == t->rank ? 0 : end + t->rank, memory,
                                    0 == t->rank ? 1 : 0, type, &status));
    MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    EPT_EQ(t, 0 == t->rank ? end : 0, bytes);
    EPT_EQ(t, end, file_size(name));
    fd = open(name, O_RDONLY);
    for (MPI_Offset place = 0; place < end; place += (MPI_Offset) 1049 * MIB) {
        EPT_EQ(t, MIB, pread(fd, there, MIB, place));
        EPT_FILL(t, there, MIB, 5);
    }
    EPT_EQ(t, MIB, pread(fd, there, MIB, end - MIB));
    EPT_FILL(t, there, MIB, 5);
    close(fd);
    memset(memory, 0, MIB);
    EPT_OK(t, MPI_File_read_at_all(file, 0, memory, 0 == t->rank ? 1 : 0, type, &status));
    MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    EPT_EQ(t, 0 == t->rank ? end : 0, bytes);
    if (0 == t->rank) {
        EPT_FILL(t, memory, MIB, 5);
        /* alone, too */
        EPT_OK(t, MPI_File_write_at(file, 1, memory, 1, type, &status));
        MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
        EPT_EQ(t, end, bytes);
        EPT_EQ(t, end + 1, file_size(name));
    }
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
    MPI_Type_free(&type);
    free(memory);
    free(there);
}

/* ---- what is sent ---------------------------------------------------------------------------- */

void test_process_begin(void)
{
    int level;

    (void) MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level);
}

/** The engine's counters of this process, from when they are begun on; one of its ranks has
 * them. */
struct counters {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handles[4];
};

static void count_begin(struct ept *t, struct counters *counters)
{
    static const char *const names[] = {"pml_epml_node_bytes", "pml_epml_node_fetched",
                                        "pml_epml_net_bytes", "pml_epml_net_fetched"};

    if (0 != t->local) {
        return;
    }
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_session_create(&counters->session));
    for (int i = 0; i < 4; ++i) {
        int index = -1, count = 0;

        EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_get_index(names[i], MPI_T_PVAR_CLASS_COUNTER, &index));
        EPT_EQ(t, MPI_SUCCESS,
               MPI_T_pvar_handle_alloc(counters->session, index, NULL, &counters->handles[i],
                                       &count));
    }
}

static void count_end(struct ept *t, struct counters *counters)
{
    for (int i = 0; 0 == t->local && i < 4; ++i) {
        EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_handle_free(counters->session, &counters->handles[i]));
    }
    if (0 == t->local) {
        EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_session_free(&counters->session));
    }
}

/** Bytes that processes have sent and fetched until now, all together; collective. */
static unsigned long long sent(MPI_Comm comm, struct ept *t, struct counters *counters)
{
    unsigned long long mine = 0, all = 0;

    MPI_Barrier(comm);
    for (int i = 0; 0 == t->local && i < 4; ++i) {
        unsigned long long value = 0;

        EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_read(counters->session, counters->handles[i], &value));
        mine += value;
    }
    MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm);
    return all;
}

/** The last rank has count blocks of BLOCK bytes, every other one; all others have one large block
 * behind them, in the reverse order of ranks, so that a part of the file is not its own
 * process's. */
static struct part headed(const struct ept *t, int rank, int count, int large)
{
    enum { BLOCK = 512, STRIDE = 16 * BLOCK }; /* further than a read goes over what is between */

    return rank == t->size - 1
               ? (struct part){.start = 0, .block = BLOCK, .count = count, .stride = STRIDE}
               : (struct part){.start = STRIDE * (MPI_Offset) count
                                        + (MPI_Offset) large * (t->size - 2 - rank),
                               .block = large,
                               .count = 1,
                               .stride = large};
}

/** @return bytes that have been sent between processes to write it, and, in read_p, to read it */
static unsigned long long sent_for(MPI_Comm comm, struct ept *t, int count, int large,
                                   unsigned long long *read_p)
{
    const struct part mine = headed(t, t->rank, count, large);
    unsigned long long before, between;
    struct counters counters;
    char name[FILE_NAME_MAX];
    MPI_File file;

    file_name(comm, t, "headed", name);
    file = file_create(comm, t, name, 0);
    count_begin(t, &counters);
    before = sent(comm, t, &counters);
    write_part(t, file, &mine);
    between = sent(comm, t, &counters);
    read_part(t, file, &mine, t->rank, mine.block * mine.count);
    *read_p = sent(comm, t, &counters) - between;
    count_end(t, &counters);
    look(t, name, &mine, t->rank);
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
    return between - before;
}

/* A short header beside large blocks: these stay where they are.  Many short blocks beside shorter
 * ones are sent, whichever member has them. */
static void case_headed(MPI_Comm comm, struct ept *t)
{
    enum { LARGE = 2 << 20, SMALL = 200 << 10, MANY = 600 };
    const bool sends = t->nlocal < t->size;
    unsigned long long read, written = sent_for(comm, t, 1, LARGE, &read);

    EPT_CHECK(t, written < LARGE / 4 && read < LARGE / 4,
              "%llu bytes written, %llu read by way of others, for a header", written, read);
    written = sent_for(comm, t, MANY, SMALL, &read);
    EPT_CHECK(t, !sends || (written >= SMALL && read >= SMALL),
              "only %llu bytes written, %llu read by way of others", written, read);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 != ept_option_long("exchanged", 0)) {
        EPT_CASE(t, case_headed);
    }
    if (0 != ept_option_long("large", 0)) {
        EPT_CASE(t, case_large);
        return 0;
    }
    EPT_CASE(t, case_woven);
    EPT_CASE(t, case_uneven);
    EPT_CASE(t, case_many);
    EPT_CASE(t, case_same);
    EPT_CASE(t, case_end);
    return 0;
}
