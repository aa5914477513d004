/* EPT-PARTS: file_tools.c */
/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Random reads and writes of all ranks, by all ways there are, each byte against a model: in each
 * phase ranks have parts of the file, side by side or woven into each other, that they write with
 * views or without, collectively or not, blocking or not, out of memory with gaps or without; then
 * read parts of others likewise.  The file grows and shrinks.  All ranks know the model, since all
 * know the seed, and rank 0 looks at the whole file with the system's own calls.
 *
 * Options: --phases N
 *
 * Guards: collective_open.c, module_copy.c, fcoll_module.c, io.c, collective_calls.c, reduce.c,
 * sharedfp_module.c, sharedfp_remote.c, sharedfp_word.c, collective_io.c
 */

#include "file_tools.h"

enum { FILE_MOST = 1 << 20, BLOCK_MOST = 600, COUNT_MOST = 25, GAP = 5 };

/** How a part is written or read. */
enum way {
    VIEW_ALL,     /**< write_all */
    VIEW_ALONE,   /**< write */
    VIEW_BEGUN,   /**< iwrite */
    VIEW_ALL_NOW, /**< iwrite_all */
    VIEW_SPLIT,   /**< write_all_begin */
    AT_EACH,      /**< write_at, for each block */
    AT_BEGUN,     /**< iwrite_at, for each block, all under way */
    AT_ALL,       /**< write_at_all of blocks that follow each other */
    ORDERED,      /**< write_ordered, likewise */
    WAYS
};

/** What all ranks do in a phase, as all know. */
struct phase {
    enum way way;
    int block, count; /**< bytes, and blocks of each rank */
    long base;        /**< where the first rank's part begins */
    bool woven;       /**< blocks of ranks lie in turns */
    bool gaps;        /**< in memory */
    int shift;        /**< whose part a rank has: that of the rank so many behind it */
    uint64_t key;
};

struct model {
    unsigned char *bytes; /**< FILE_MOST */
    long size;
};

static struct phase draw(const struct ept *t, uint64_t *random)
{
    struct phase phase = {
        .way = (enum way) ept_random_below(random, WAYS),
        .block = 1 + (int) ept_random_below(random, BLOCK_MOST),
        .count = 1 + (int) ept_random_below(random, COUNT_MOST),
        .base = (long) ept_random_below(random, 20000),
        .woven = 0 != ept_random_below(random, 2),
        .gaps = 0 != ept_random_below(random, 2),
        .shift = (int) ept_random_below(random, (uint64_t) t->size),
        .key = ept_random(random),
    };

    if (AT_ALL == phase.way || ORDERED == phase.way) {
        phase.woven = false;
    }
    if (ORDERED == phase.way) {
        phase.shift = 0; /* ranks come in order */
    }
    return phase;
}

/** Where a block of a rank's part lies. */
static long place(const struct ept *t, const struct phase *phase, int part, int block)
{
    return phase->base
           + (phase->woven ? (long) block * t->size + part : (long) part * phase->count + block)
                 * phase->block;
}

/** All ranks' parts into the model. */
static void write_model(const struct ept *t, const struct phase *phase, struct model *model)
{
    for (int part = 0; part < t->size; ++part) {
        for (int i = 0; i < phase->count; ++i) {
            const long at = place(t, phase, part, i);

            ept_fill(&model->bytes[at], 0, (size_t) phase->block,
                     ept_mix(phase->key, (uint64_t) part, (uint64_t) i, 0));
            model->size = at + phase->block > model->size ? at + phase->block : model->size;
        }
    }
}

/** The file's view of a part, and the offset of its beginning in that. */
static void set_view(struct ept *t, MPI_File file, const struct phase *phase, int part)
{
    MPI_Datatype block, spread;

    EPT_OK(t, MPI_Type_contiguous(phase->block, MPI_BYTE, &block));
    EPT_OK(t,
           MPI_Type_create_resized(block, 0, (MPI_Aint) phase->block * (phase->woven ? t->size : 1),
                                   &spread));
    EPT_OK(t, MPI_Type_commit(&spread));
    EPT_OK(t, MPI_File_set_view(file, place(t, phase, part, 0), MPI_BYTE, spread, "native",
                                MPI_INFO_NULL));
    EPT_OK(t, MPI_Type_free(&spread));
    EPT_OK(t, MPI_Type_free(&block));
}

static void with_view(struct ept *t, MPI_File file, const struct phase *phase, bool reads,
                      unsigned char *data, int count, MPI_Datatype type)
{
    MPI_Request request = MPI_REQUEST_NULL;

    switch (phase->way) {
    case VIEW_ALL:
        EPT_OK(t, reads ? MPI_File_read_all(file, data, count, type, MPI_STATUS_IGNORE)
                        : MPI_File_write_all(file, data, count, type, MPI_STATUS_IGNORE));
        break;
    case VIEW_ALONE:
        EPT_OK(t, reads ? MPI_File_read(file, data, count, type, MPI_STATUS_IGNORE)
                        : MPI_File_write(file, data, count, type, MPI_STATUS_IGNORE));
        break;
    case VIEW_BEGUN:
        EPT_OK(t, reads ? MPI_File_iread(file, data, count, type, &request)
                        : MPI_File_iwrite(file, data, count, type, &request));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    case VIEW_ALL_NOW:
        EPT_OK(t, reads ? MPI_File_iread_all(file, data, count, type, &request)
                        : MPI_File_iwrite_all(file, data, count, type, &request));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    default:
        EPT_OK(t, reads ? MPI_File_read_all_begin(file, data, count, type)
                        : MPI_File_write_all_begin(file, data, count, type));
        EPT_OK(t, reads ? MPI_File_read_all_end(file, data, MPI_STATUS_IGNORE)
                        : MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE));
    }
}

static void without_view(struct ept *t, MPI_File file, const struct phase *phase, bool reads,
                         int part, unsigned char *data, int step)
{
    MPI_Request requests[COUNT_MOST];

    for (int i = 0; i < phase->count; ++i) {
        const MPI_Offset at = place(t, phase, part, i);

        requests[i] = MPI_REQUEST_NULL;
        if (AT_BEGUN == phase->way) {
            EPT_OK(t, reads ? MPI_File_iread_at(file, at, &data[i * step], phase->block, MPI_BYTE,
                                                &requests[i])
                            : MPI_File_iwrite_at(file, at, &data[i * step], phase->block, MPI_BYTE,
                                                 &requests[i]));
        } else {
            EPT_OK(t, reads ? MPI_File_read_at(file, at, &data[i * step], phase->block, MPI_BYTE,
                                               MPI_STATUS_IGNORE)
                            : MPI_File_write_at(file, at, &data[i * step], phase->block, MPI_BYTE,
                                                MPI_STATUS_IGNORE));
        }
    }
    EPT_OK(t, MPI_Waitall(phase->count, requests, MPI_STATUSES_IGNORE));
}

/** A rank's part, in one of all ways. */
static void move_part(struct ept *t, MPI_File file, const struct phase *phase, bool reads, int part,
                      unsigned char *data)
{
    const int step = phase->block + (phase->gaps ? GAP : 0);
    MPI_Datatype memory;

    EPT_OK(t, MPI_Type_vector(phase->count, phase->block, step, MPI_BYTE, &memory));
    EPT_OK(t, MPI_Type_commit(&memory));
    if (AT_EACH > phase->way) {
        set_view(t, file, phase, part);
        with_view(t, file, phase, reads, data, 1, memory);
    } else {
        EPT_OK(t, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        if (AT_ALL == phase->way) {
            const MPI_Offset at = place(t, phase, part, 0);

            EPT_OK(t, reads ? MPI_File_read_at_all(file, at, data, 1, memory, MPI_STATUS_IGNORE)
                            : MPI_File_write_at_all(file, at, data, 1, memory, MPI_STATUS_IGNORE));
        } else if (ORDERED == phase->way) {
            EPT_OK(t, MPI_File_seek_shared(file, phase->base, MPI_SEEK_SET));
            EPT_OK(t, reads ? MPI_File_read_ordered(file, data, 1, memory, MPI_STATUS_IGNORE)
                            : MPI_File_write_ordered(file, data, 1, memory, MPI_STATUS_IGNORE));
        } else {
            without_view(t, file, phase, reads, part, data, step);
        }
    }
    EPT_OK(t, MPI_Type_free(&memory));
}

static void write_phase(struct ept *t, MPI_File file, uint64_t *random, struct model *model)
{
    const struct phase phase = draw(t, random);
    const int part = (t->rank + phase.shift) % t->size;
    const int step = phase.block + (phase.gaps ? GAP : 0);
    struct ept_buffer data = ept_buffer((size_t) phase.count * (size_t) step, 3);

    ept_phase(t, "write, way %d, %d blocks of %d", phase.way, phase.count, phase.block);
    for (int i = 0; i < phase.count; ++i) {
        ept_fill(&data.data[i * step], 0, (size_t) phase.block,
                 ept_mix(phase.key, (uint64_t) part, (uint64_t) i, 0));
    }
    move_part(t, file, &phase, false, part, data.data);
    write_model(t, &phase, model);
    ept_buffer_free(&data);
}

/** Read nothing but what is there: of the model, so many bytes from a place on. */
static void read_phase(struct ept *t, MPI_File file, uint64_t *random, const struct model *model)
{
    const struct phase phase = draw(t, random);
    const int part = (t->rank + phase.shift) % t->size;
    const int step = phase.block + (phase.gaps ? GAP : 0);
    struct ept_buffer data;

    if (place(t, &phase, t->size - 1, phase.count - 1) + phase.block > model->size) {
        return;
    }
    ept_phase(t, "read, way %d, %d blocks of %d", phase.way, phase.count, phase.block);
    data = ept_buffer((size_t) phase.count * (size_t) step, 5);
    ept_buffer_clear(&data);
    move_part(t, file, &phase, true, part, data.data);
    for (int i = 0; i < phase.count; ++i) {
        EPT_CHECK(t,
                  0
                      == memcmp(&data.data[i * step], &model->bytes[place(t, &phase, part, i)],
                                (size_t) phase.block),
                  "way %d, block %d of %d at %ld, %d bytes: not what the model has", phase.way, i,
                  phase.count, place(t, &phase, part, i), phase.block);
    }
    EPT_GUARDS(t, &data);
    ept_buffer_free(&data);
}

static void size_phase(struct ept *t, MPI_File file, uint64_t *random, struct model *model)
{
    const long size = (long) ept_random_below(random, 100000);

    ept_phase(t, "set_size");
    EPT_OK(t, MPI_File_set_size(file, size));
    if (size < model->size) {
        memset(&model->bytes[size], 0, (size_t) (model->size - size));
    }
    model->size = size;
}

static void case_model(MPI_Comm comm, struct ept *t)
{
    struct model model = {.bytes = calloc(1, FILE_MOST)};
    const long phases = ept_option_long("phases", 60);
    uint64_t random = ept_mix(t->seed, 1, 2, 3);
    char name[FILE_NAME_MAX];
    size_t have = 0;
    MPI_File file;

    file_name(comm, t, "random", name);
    file = file_create(comm, t, name, 0);
    for (long i = 0; i < phases; ++i) {
        const uint64_t kind = ept_random_below(&random, 8);

        if (0 == kind) {
            size_phase(t, file, &random, &model);
        } else if (4 > kind) {
            write_phase(t, file, &random, &model);
        } else {
            read_phase(t, file, &random, &model);
        }
        EPT_OK(t, MPI_File_sync(file));
        EPT_OK(t, MPI_Barrier(comm));
        if (0 == t->rank && 4 > kind) {
            unsigned char *bytes = file_bytes(name, &have);

            EPT_EQ(t, model.size, (long) have);
            EPT_CHECK(t, model.size == (long) have && 0 == memcmp(bytes, model.bytes, have),
                      "phase %ld: the file is not as the model", i);
            free(bytes);
        }
        EPT_OK(t, MPI_Barrier(comm));
    }
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
    free(model.bytes);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_model);
    return 0;
}
