/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* EPT-PARTS: file_tools.c */
/**
 * @file
 *
 * Files, blocking: explicit offsets, individual pointers and views, by one rank and by all, and
 * what a handle says of itself.  What is in a file in the end is looked at byte by byte, by the
 * system's own calls.
 *
 * Guards: module_copy.c, fcoll_module.c, collective_calls.c, hook_file.c
 */

#include "file_tools.h"

#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1000 };

/** All bytes of a file must be these, in pieces in an order: piece i is that of key keys[i]. */
static void check_pieces(struct ept *t, const char *name, int pieces, size_t size,
                         uint64_t (*key_of)(int piece, const struct ept *t))
{
    size_t have = 0;
    unsigned char *bytes = file_bytes(name, &have);

    EPT_EQ(t, (size_t) pieces * size, have);
    for (int i = 0; NULL != bytes && have == (size_t) pieces * size && i < pieces; ++i) {
        EPT_FILL(t, &bytes[(size_t) i * size], size, key_of(i, t));
    }
    free(bytes);
}

static uint64_t by_rank(int piece, const struct ept *t)
{
    return (uint64_t) (piece % t->size) + 1;
}

static uint64_t by_piece(int piece, const struct ept *t)
{
    (void) t;
    return (uint64_t) piece + 1;
}

static void case_offsets(MPI_Comm comm, struct ept *t)
{
    unsigned char mine[PIECE], theirs[PIECE];
    char name[FILE_NAME_MAX];
    MPI_Status status;
    MPI_Offset size;
    MPI_File file;
    int next = (t->rank + 1) % t->size, count;

    file_name(comm, t, "offsets", name);
    file = file_create(comm, t, name, 0);
    ept_fill(mine, 0, PIECE, (uint64_t) t->rank + 1);
    EPT_OK(t,
           MPI_File_write_at(file, (MPI_Offset) t->rank * PIECE, mine, PIECE, MPI_BYTE, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    EPT_EQ(t, PIECE, count);
    EPT_OK(t, MPI_File_sync(file));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_File_sync(file));
    EPT_OK(t, MPI_File_read_at(file, (MPI_Offset) next * PIECE, theirs, PIECE, MPI_BYTE, &status));
    EPT_FILL(t, theirs, PIECE, (uint64_t) next + 1);
    EPT_OK(t, MPI_File_get_size(file, &size));
    EPT_EQ(t, (MPI_Offset) t->size * PIECE, size);

    /* behind the end there is nothing */
    EPT_OK(t, MPI_File_read_at(file, size - 10, theirs, PIECE, MPI_BYTE, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    EPT_EQ(t, 10, count);
    EPT_OK(t, MPI_Barrier(comm));

    EPT_OK(t, MPI_File_write_at_all(file, (MPI_Offset) (t->size + t->rank) * PIECE, mine, PIECE,
                                    MPI_BYTE, &status));
    EPT_OK(t, MPI_File_read_at_all(file, (MPI_Offset) (t->size + next) * PIECE, theirs, PIECE,
                                   MPI_BYTE, &status));
    EPT_OK(t, MPI_File_close(&file));
    EPT_EQ(t, true, MPI_FILE_NULL == file);
    check_pieces(t, name, 2 * t->size, PIECE, by_rank);
    file_remove(comm, name);
}

static void case_pointers(MPI_Comm comm, struct ept *t)
{
    char name[FILE_NAME_MAX];
    int data[10], there[10];
    MPI_Offset position;
    MPI_File file;

    file_name(comm, t, "pointers", name);
    file = file_create(comm, t, name, 0);
    EPT_OK(t, MPI_File_set_view(file, (MPI_Offset) (t->rank * sizeof(data)), MPI_INT, MPI_INT,
                                "native", MPI_INFO_NULL));
    for (int i = 0; i < 10; ++i) {
        data[i] = 100 * t->rank + i;
    }
    EPT_OK(t, MPI_File_write(file, data, 4, MPI_INT, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_File_get_position(file, &position));
    EPT_EQ(t, 4, position);
    EPT_OK(t, MPI_File_write_all(file, &data[4], 6, MPI_INT, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_File_seek(file, -9, MPI_SEEK_CUR));
    EPT_OK(t, MPI_File_get_byte_offset(file, 1, &position));
    EPT_EQ(t, (MPI_Offset) (t->rank * sizeof(data) + sizeof(int)), position);
    memset(there, 0, sizeof(there));
    EPT_OK(t, MPI_File_read(file, there, 9, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < 9; ++i) {
        EPT_EQ(t, data[i + 1], there[i]);
    }
    EPT_OK(t, MPI_File_seek(file, 2, MPI_SEEK_SET));
    EPT_OK(t, MPI_File_read_all(file, there, 1, MPI_INT, MPI_STATUS_IGNORE));
    EPT_EQ(t, data[2], there[0]);
    EPT_OK(t, MPI_File_close(&file));
    EPT_EQ(t, (long long) (t->size * sizeof(data)), file_size(name));
    file_remove(comm, name);
}

/* Rank r has every size-th piece, from the r-th on; the pieces are no block of anything. */
static void case_views(MPI_Comm comm, struct ept *t)
{
    enum { PIECES = 37, BYTES = 123 };
    unsigned char *data = malloc((size_t) PIECES * BYTES), *there = calloc(PIECES, BYTES);
    char name[FILE_NAME_MAX], rep[MPI_MAX_DATAREP_STRING];
    MPI_Datatype strided, etype, filetype;
    MPI_Offset disp;
    MPI_File file;

    file_name(comm, t, "views", name);
    EPT_OK(t, MPI_Type_contiguous(BYTES, MPI_BYTE, &etype));
    EPT_OK(t, MPI_Type_create_resized(etype, 0, (MPI_Aint) t->size * BYTES, &strided));
    EPT_OK(t, MPI_Type_commit(&strided));
    for (int i = 0; i < PIECES; ++i) {
        ept_fill(&data[(size_t) i * BYTES], 0, BYTES, (uint64_t) (i * t->size + t->rank) + 1);
    }
    file = file_create(comm, t, name, 0);
    EPT_OK(t, MPI_File_set_view(file, (MPI_Offset) t->rank * BYTES, MPI_BYTE, strided, "native",
                                MPI_INFO_NULL));
    EPT_OK(t, MPI_File_write_all(file, data, 30 * BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_File_write(file, &data[30 * BYTES], 7 * BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_File_get_view(file, &disp, &etype, &filetype, rep));
    EPT_EQ(t, (MPI_Offset) t->rank * BYTES, disp);
    EPT_STREQ(t, "native", rep);
    EPT_OK(t, MPI_File_sync(file));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_File_read_at(file, 0, there, 20 * BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_File_read_at_all(file, 20 * BYTES, &there[20 * BYTES], 17 * BYTES, MPI_BYTE,
                                   MPI_STATUS_IGNORE));
    EPT_CHECK(t, 0 == memcmp(data, there, (size_t) PIECES * BYTES), "read what was not written");
    EPT_OK(t, MPI_File_close(&file));
    check_pieces(t, name, PIECES * t->size, BYTES, by_piece);
    EPT_OK(t, MPI_Type_free(&strided));
    file_remove(comm, name);
    free(data);
    free(there);
}

static void case_handle(MPI_Comm comm, struct ept *t)
{
    MPI_Group group, of_comm;
    char name[FILE_NAME_MAX], value[20];
    int result, amode, flag;
    MPI_Info info, used;
    MPI_Offset size;
    MPI_Aint extent;
    MPI_File file;

    file_name(comm, t, "handle", name);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "1048576");
    EPT_OK(t, MPI_File_open(comm, name, MPI_MODE_WRONLY | MPI_MODE_CREATE, info, &file));
    EPT_OK(t, MPI_File_get_amode(file, &amode));
    EPT_EQ(t, MPI_MODE_WRONLY | MPI_MODE_CREATE, amode);
    EPT_OK(t, MPI_File_get_group(file, &group));
    EPT_OK(t, MPI_Comm_group(comm, &of_comm));
    EPT_OK(t, MPI_Group_compare(group, of_comm, &result));
    EPT_EQ(t, MPI_IDENT, result);
    EPT_OK(t, MPI_Group_rank(group, &result));
    EPT_EQ(t, t->rank, result);
    MPI_Group_free(&group);
    MPI_Group_free(&of_comm);
    EPT_OK(t, MPI_File_get_info(file, &used));
    EPT_OK(t, MPI_Info_get(used, "cb_buffer_size", sizeof(value) - 1, value, &flag));
    EPT_EQ(t, 1, flag);
    MPI_Info_free(&used);
    EPT_OK(t, MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    EPT_OK(t, MPI_File_get_type_extent(file, MPI_INT, &extent));
    EPT_EQ(t, (MPI_Aint) sizeof(int), extent);

    EPT_OK(t, MPI_File_set_size(file, 12345));
    EPT_OK(t, MPI_File_get_size(file, &size));
    EPT_EQ(t, 12345, size);
    EPT_OK(t, MPI_File_close(&file));
    EPT_EQ(t, 12345, file_size(name));

    file = file_create(comm, t, name, MPI_MODE_DELETE_ON_CLOSE);
    EPT_OK(t, MPI_File_preallocate(file, 23456));
    EPT_OK(t, MPI_File_get_size(file, &size));
    EPT_EQ(t, 23456, size);
    EPT_OK(t, MPI_File_set_atomicity(file, 1));
    EPT_OK(t, MPI_File_get_atomicity(file, &flag));
    EPT_EQ(t, 1, flag);
    EPT_OK(t, MPI_File_close(&file));
    MPI_Barrier(comm);
    EPT_EQ(t, -1, file_size(name));
}

/* Each rank alone, at the same time, with files of equal names in folders of their own, and one of
 * all besides. */
static void case_several(MPI_Comm comm, struct ept *t)
{
    char folder[FILE_NAME_MAX], name[FILE_NAME_MAX + 20];
    unsigned char data[PIECE];
    MPI_File own, all;
    MPI_Comm alone;

    EPT_OK(t, MPI_Comm_split(comm, t->rank, 0, &alone));
    file_name(alone, t, "folder", folder);
    EPT_EQ(t, 0, mkdir(folder, 0700));
    snprintf(name, sizeof(name), "%s/same", folder);
    own = file_create(alone, t, name, MPI_MODE_UNIQUE_OPEN);
    EPT_EQ(t, true, own == MPI_File_f2c(MPI_File_c2f(own)));
    ept_fill(data, 0, PIECE, (uint64_t) t->rank + 1);
    for (int i = 0; i < 20; ++i) {
        char common[FILE_NAME_MAX];

        EPT_OK(t, MPI_File_write_all(own, data, PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
        file_name(comm, t, "all", common);
        all = file_create(comm, t, common, MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_EXCL);
        EPT_OK(t, MPI_File_write_at(all, (MPI_Offset) t->rank * PIECE, data, PIECE, MPI_BYTE,
                                    MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_File_close(&all));
    }
    EPT_OK(t, MPI_File_close(&own));
    EPT_EQ(t, 20 * PIECE, file_size(name));
    EPT_OK(t, MPI_File_delete(name, MPI_INFO_NULL));
    EPT_EQ(t, 0, rmdir(folder)); /* nothing is in it */
    EPT_OK(t, MPI_Comm_free(&alone));
}

/* Positions beyond 4 GiB, in a file with holes; and one piece of many MiB by all. */
static void case_large(MPI_Comm comm, struct ept *t)
{
    enum { MIB = 1 << 20 };
    const MPI_Offset far = ((MPI_Offset) 5 << 30) + (MPI_Offset) t->rank * 4 * MIB;
    unsigned char *data = malloc(4 * MIB), *there = calloc(4, MIB);
    char name[FILE_NAME_MAX];
    MPI_File file;

    file_name(comm, t, "large", name);
    file = file_create(comm, t, name, MPI_MODE_DELETE_ON_CLOSE);
    ept_fill(data, 0, 4 * MIB, (uint64_t) t->rank + 1);
    EPT_OK(t, MPI_File_write_at_all(file, far, data, 4 * MIB, MPI_BYTE, MPI_STATUS_IGNORE));
    EPT_EQ(t, ((long long) 5 << 30) + (long long) t->size * 4 * MIB, file_size(name));
    EPT_OK(t, MPI_File_read_at(file, far, there, 4 * MIB, MPI_BYTE, MPI_STATUS_IGNORE));
    EPT_FILL(t, there, 4 * MIB, (uint64_t) t->rank + 1);
    EPT_OK(t, MPI_File_close(&file));
    free(data);
    free(there);
}

/* A path of more than 256 bytes, which ompio's component for shared pointers, sharedfp/lockedfile,
 * copies into an array of 256 when it is asked whether it can serve a file (Open MPI up to 5.0.9). */
static void case_long_path(MPI_Comm comm, struct ept *t)
{
    enum { LONG = 200 };
    unsigned char data[PIECE];
    char folder[FILE_NAME_MAX + LONG], name[sizeof(folder) + LONG];
    MPI_File file;

    file_name(comm, t, "long", folder);
    snprintf(name, sizeof(name), "%s%0*d", folder, LONG, 0);
    strcpy(folder, name);
    if (0 == t->rank) {
        EPT_EQ(t, 0, mkdir(folder, 0700));
    }
    EPT_OK(t, MPI_Barrier(comm));
    snprintf(name, sizeof(name), "%s/%0*d", folder, LONG / 2, 0);
    file = file_create(comm, t, name, MPI_MODE_DELETE_ON_CLOSE);
    ept_fill(data, 0, PIECE, (uint64_t) t->rank + 1);
    EPT_OK(t, MPI_File_write_ordered(file, data, PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
    EPT_EQ(t, (long long) t->size * PIECE, file_size(name));
    EPT_OK(t, MPI_File_close(&file));
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->rank) {
        EPT_EQ(t, 0, rmdir(folder)); /* nothing is in it */
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_offsets);
    EPT_CASE(t, case_pointers);
    EPT_CASE(t, case_views);
    EPT_CASE(t, case_handle);
    EPT_CASE(t, case_several);
    EPT_CASE(t, case_large);
    EPT_CASE(t, case_long_path);
    return 0;
}
