/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* EPT-PARTS: file_tools.c */
/**
 * @file
 *
 * Shared file pointers: each piece that is written by one is in the file once, whole, at a place of
 * its own; ordered ones are in the order of ranks; reads get each piece once.  Several files at
 * once, with names that are equal but for the folder.  Views that begin where the pointer is.
 *
 * Guards: client.c, sharedfp_module.c, sharedfp_remote.c, sharedfp_word.c, split.c, split_request.c
 */

#include "file_tools.h"

#include <sys/stat.h>
#include <unistd.h>

enum { BYTES = 52, ROUNDS = 60 };

/** A piece says whose it is, and which. */
static void make_piece(unsigned char *piece, int rank, int number)
{
    memcpy(piece, &rank, sizeof(rank));
    memcpy(&piece[sizeof(rank)], &number, sizeof(number));
    ept_fill(&piece[8], 0, BYTES - 8, ept_mix((uint64_t) rank, (uint64_t) number, 0, 0));
}

/** Which piece is it?  @return rank * ROUNDS + number, or -1: it is torn */
static int which(const unsigned char *piece, const struct ept *t)
{
    unsigned char sound[BYTES];
    int rank, number;

    memcpy(&rank, piece, sizeof(rank));
    memcpy(&number, &piece[sizeof(rank)], sizeof(number));
    if (0 > rank || rank >= t->size || 0 > number || number >= ROUNDS) {
        return -1;
    }
    make_piece(sound, rank, number);
    return 0 == memcmp(sound, piece, BYTES) ? rank * ROUNDS + number : -1;
}

/** Each piece once, those of a rank in the order in which it has written them. */
static void check_all_there(struct ept *t, const char *name)
{
    int *next = calloc((size_t) t->size, sizeof(*next));
    size_t have = 0;
    unsigned char *bytes = file_bytes(name, &have);

    EPT_EQ(t, (size_t) t->size * ROUNDS * BYTES, have);
    for (size_t at = 0; NULL != bytes && at + BYTES <= have; at += BYTES) {
        const int piece = which(&bytes[at], t);

        EPT_CHECK(t, 0 <= piece, "torn at %zu", at);
        if (0 <= piece) {
            EPT_EQ(t, next[piece / ROUNDS]++, piece % ROUNDS);
        }
    }
    free(bytes);
    free(next);
}

static void write_all_pieces(MPI_Comm comm, struct ept *t, const char *name)
{
    MPI_File file = file_create(comm, t, name, 0);

    for (int i = 0; i < ROUNDS; ++i) {
        unsigned char piece[BYTES];
        MPI_Request request;

        make_piece(piece, t->rank, i);
        if (0 == i % 3) {
            EPT_OK(t, MPI_File_iwrite_shared(file, piece, BYTES, MPI_BYTE, &request));
            EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            EPT_OK(t, MPI_File_write_shared(file, piece, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        }
    }
    EPT_OK(t, MPI_File_close(&file));
}

static void case_write(MPI_Comm comm, struct ept *t)
{
    char name[FILE_NAME_MAX];

    file_name(comm, t, "shared", name);
    write_all_pieces(comm, t, name);
    check_all_there(t, name);
    file_remove(comm, name);
}

static void case_read(MPI_Comm comm, struct ept *t)
{
    int *seen = calloc((size_t) t->size * ROUNDS, sizeof(*seen)), *all;
    char name[FILE_NAME_MAX];
    MPI_Offset position;
    MPI_File file;

    all = calloc((size_t) t->size * ROUNDS, sizeof(*all));
    file_name(comm, t, "read", name);
    write_all_pieces(comm, t, name);
    EPT_OK(t, MPI_File_open(comm, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int i = 0; i < ROUNDS; ++i) {
        unsigned char piece[BYTES];
        MPI_Request request;
        MPI_Status status;
        int count, found;

        if (0 == i % 4) {
            EPT_OK(t, MPI_File_iread_shared(file, piece, BYTES, MPI_BYTE, &request));
            EPT_OK(t, MPI_Wait(&request, &status));
        } else {
            EPT_OK(t, MPI_File_read_shared(file, piece, BYTES, MPI_BYTE, &status));
        }
        MPI_Get_count(&status, MPI_BYTE, &count);
        EPT_EQ(t, BYTES, count);
        found = which(piece, t);
        EPT_CHECK(t, 0 <= found, "torn in round %d", i);
        if (0 <= found) {
            ++seen[found];
        }
    }
    EPT_OK(t, MPI_Allreduce(seen, all, t->size * ROUNDS, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < t->size * ROUNDS; ++i) {
        EPT_EQ(t, 1, all[i]);
    }
    EPT_OK(t, MPI_File_get_position_shared(file, &position));
    EPT_EQ(t, (MPI_Offset) t->size * ROUNDS * BYTES, position);
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
    free(seen);
    free(all);
}

/* Rank r has r + i bytes in round i, behind those of the ranks before it. */
static void case_ordered(MPI_Comm comm, struct ept *t)
{
    unsigned char data[300], there[300];
    char name[FILE_NAME_MAX];
    MPI_Offset at = 0;
    MPI_File file;

    file_name(comm, t, "ordered", name);
    file = file_create(comm, t, name, 0);
    for (int i = 0; i < 20; ++i) {
        ept_fill(data, 0, (size_t) (t->rank + i), ept_mix(1, (uint64_t) t->rank, (uint64_t) i, 0));
        if (0 == i % 3) {
            EPT_OK(t, MPI_File_write_ordered_begin(file, data, t->rank + i, MPI_BYTE));
            EPT_OK(t, MPI_File_write_ordered_end(file, data, MPI_STATUS_IGNORE));
        } else {
            EPT_OK(t, MPI_File_write_ordered(file, data, t->rank + i, MPI_BYTE, MPI_STATUS_IGNORE));
        }
    }
    EPT_OK(t, MPI_File_sync(file));
    EPT_OK(t, MPI_Barrier(comm));
    for (int i = 0; i < 20; ++i) {
        for (int rank = 0; rank < t->size; ++rank) {
            EPT_OK(t, MPI_File_read_at(file, at, there, rank + i, MPI_BYTE, MPI_STATUS_IGNORE));
            EPT_FILL(t, there, (size_t) (rank + i), ept_mix(1, (uint64_t) rank, (uint64_t) i, 0));
            at += rank + i;
        }
    }
    EPT_OK(t, MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int i = 0; i < 20; ++i) {
        if (0 == i % 3) {
            EPT_OK(t, MPI_File_read_ordered_begin(file, there, t->rank + i, MPI_BYTE));
            EPT_OK(t, MPI_File_read_ordered_end(file, there, MPI_STATUS_IGNORE));
        } else {
            EPT_OK(t, MPI_File_read_ordered(file, there, t->rank + i, MPI_BYTE, MPI_STATUS_IGNORE));
        }
        EPT_FILL(t, there, (size_t) (t->rank + i), ept_mix(1, (uint64_t) t->rank, (uint64_t) i, 0));
    }
    EPT_OK(t, MPI_File_close(&file));
    EPT_EQ(t, (long long) at, file_size(name));
    file_remove(comm, name);
}

/* What a seek counts are etypes of the view: here every second int, from the fifth byte on. */
static void case_seek(MPI_Comm comm, struct ept *t)
{
    char name[FILE_NAME_MAX];
    MPI_Datatype second;
    MPI_Offset position;
    int values[20], got;
    MPI_File file;

    file_name(comm, t, "seek", name);
    file = file_create(comm, t, name, 0);
    EPT_OK(t, MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &second));
    EPT_OK(t, MPI_Type_commit(&second));
    EPT_OK(t, MPI_File_set_view(file, 4, MPI_INT, second, "native", MPI_INFO_NULL));
    for (int i = 0; i < 20; ++i) {
        values[i] = 1000 + i;
    }
    if (0 == t->rank) {
        EPT_OK(t, MPI_File_write_shared(file, values, 20, MPI_INT, MPI_STATUS_IGNORE));
    }
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_File_get_position_shared(file, &position));
    EPT_EQ(t, 20, position);
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_File_seek_shared(file, -3, MPI_SEEK_END));
    EPT_OK(t, MPI_File_get_position_shared(file, &position));
    EPT_EQ(t, 17, position);
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_File_seek_shared(file, -10, MPI_SEEK_CUR));
    EPT_OK(t, MPI_File_get_position_shared(file, &position));
    EPT_EQ(t, 7, position);
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_File_read_ordered(file, &got, 0 == t->rank, MPI_INT, MPI_STATUS_IGNORE));
    if (0 == t->rank) {
        EPT_EQ(t, 1007, got);
    }
    EPT_OK(t, MPI_File_get_position_shared(file, &position));
    EPT_EQ(t, 8, position);
    EPT_OK(t, MPI_Barrier(comm));

    /* wrong: all hear of it, and the pointer stays */
    EPT_CLASS(t, MPI_ERR_ARG, MPI_File_seek_shared(file, -1, MPI_SEEK_SET));
    if (1 < t->size) {
        EPT_CLASS(t, MPI_ERR_NOT_SAME, MPI_File_seek_shared(file, t->rank, MPI_SEEK_SET));
    }
    EPT_OK(t, MPI_File_get_position_shared(file, &position));
    EPT_EQ(t, 8, position);

    /* a view begins anew */
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    EPT_OK(t, MPI_File_get_position_shared(file, &position));
    EPT_EQ(t, 0, position);
    EPT_OK(t, MPI_File_close(&file));
    EPT_OK(t, MPI_Type_free(&second));

    /* appended to: where the file ends */
    file = file_create(comm, t, name, MPI_MODE_APPEND);
    EPT_OK(t, MPI_File_get_position_shared(file, &position));
    EPT_EQ(t, 4 + 39 * (long long) sizeof(int), position);
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
}

/* Two files at once on halves of the ranks, of the same name in two folders, and one more on the
 * same communicator. */
static void case_several(MPI_Comm comm, struct ept *t)
{
    char folder[FILE_NAME_MAX], name[2][FILE_NAME_MAX + 20];
    MPI_File file[2];
    MPI_Comm half;
    int size;

    EPT_OK(t, MPI_Comm_split(comm, t->rank % 2, 0, &half));
    EPT_OK(t, MPI_Comm_size(half, &size));
    for (int i = 0; i < 2; ++i) {
        int rank;

        MPI_Comm_rank(half, &rank);
        file_name(half, t, "folder", folder);
        if (0 == rank) {
            EPT_EQ(t, 0, mkdir(folder, 0700));
        }
        MPI_Barrier(half);
        snprintf(name[i], sizeof(name[i]), "%s/same", folder);
        file[i] = file_create(half, t, name[i], 0);
    }
    for (int i = 0; i < ROUNDS; ++i) {
        unsigned char piece[BYTES];

        make_piece(piece, t->rank, i);
        EPT_OK(t, MPI_File_write_shared(file[i % 2], piece, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < 2; ++i) {
        EPT_OK(t, MPI_File_close(&file[i]));
        EPT_EQ(t, (long long) size * ROUNDS / 2 * BYTES, file_size(name[i]));
        file_remove(half, name[i]);
        *strrchr(name[i], '/') = '\0';
        rmdir(name[i]);
    }
    EPT_OK(t, MPI_Comm_free(&half));
}

static void write_more(struct ept *t, MPI_File file, MPI_Datatype filetype, int count)
{
    const int data[] = {t->rank, t->rank, t->rank};

    EPT_OK(t, MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, filetype, "native",
                                MPI_INFO_NULL));
    EPT_OK(t, MPI_File_write_ordered(file, data, count, MPI_INT, MPI_STATUS_IGNORE));
}

/* A view that begins where the pointer is, after views with holes and without. */
static void case_current(MPI_Comm comm, struct ept *t)
{
    enum { VIEWS = 4 };
    static const struct {
        int count, stride;
    } views[VIEWS] = {{3, 2}, {2, 1}, {1, 2}, {1, 1}};
    char name[FILE_NAME_MAX];
    MPI_Datatype strided;
    MPI_File file;
    size_t have = 0;

    EPT_OK(t, MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint) sizeof(int), &strided));
    EPT_OK(t, MPI_Type_commit(&strided));
    file_name(comm, t, "current", name);
    EPT_OK(t, MPI_File_open(comm, name, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL,
                            MPI_INFO_NULL, &file));
    for (int i = 0; i < VIEWS; ++i) {
        write_more(t, file, 1 == views[i].stride ? MPI_INT : strided, views[i].count);
    }
    EPT_OK(t, MPI_File_close(&file));
    if (0 == t->rank) {
        unsigned char *bytes = file_bytes(name, &have);
        size_t at = 0;

        EPT_EQ(t, sizeof(int) * (size_t) t->size * (6 + 2 + 2 + 1), have);
        for (int i = 0; NULL != bytes && i < VIEWS; ++i) {
            for (int k = 0; k < views[i].count * t->size; ++k) {
                int value = -1;

                if (at + sizeof(int) <= have) {
                    memcpy(&value, &bytes[at], sizeof(int));
                }
                EPT_EQ(t, k / views[i].count, value);
                at += (size_t) views[i].stride * sizeof(int);
            }
        }
        free(bytes);
    }
    EPT_OK(t, MPI_Type_free(&strided));
    file_remove(comm, name);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_write);
    EPT_CASE(t, case_read);
    EPT_CASE(t, case_ordered);
    EPT_CASE(t, case_seek);
    EPT_CASE(t, case_several);
    EPT_CASE(t, case_current);
    return 0;
}
