/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* EPT-PARTS: file_tools.c */
/**
 * @file
 *
 * Atomic mode: of writes of all ranks to the same bytes one is there in the end, whole, and reads
 * in between see one write, whole; though a write is of so many pieces that the system takes it in
 * several calls.  Blocking and nonblocking; other handles of the process are opened and closed on
 * the same file meanwhile.
 *
 * Guards: locks.c
 */

#include "file_tools.h"

/* More than IOV_MAX pieces, one call of the system's. */
enum { PIECES = 3000, PIECE = 8, BYTES = PIECES * PIECE, ROUNDS = 12 };

static MPI_File open_atomic(MPI_Comm comm, struct ept *t, const char *name)
{
    MPI_File file = file_create(comm, t, name, 0);
    MPI_Datatype piece, spread;

    EPT_OK(t, MPI_Type_contiguous(PIECE, MPI_BYTE, &piece));
    EPT_OK(t, MPI_Type_create_resized(piece, 0, 2 * PIECE, &spread));
    EPT_OK(t, MPI_Type_commit(&spread));
    EPT_OK(t, MPI_File_set_view(file, 0, MPI_BYTE, spread, "native", MPI_INFO_NULL));
    EPT_OK(t, MPI_File_set_atomicity(file, 1));
    EPT_OK(t, MPI_Type_free(&spread));
    EPT_OK(t, MPI_Type_free(&piece));
    return file;
}

/** All bytes must be the same. */
static void check_whole(struct ept *t, const unsigned char *data, int round)
{
    int other = 1;

    while (other < BYTES && data[other] == data[0]) {
        ++other;
    }
    EPT_CHECK(t, BYTES == other, "round %d: torn at %d: %d and %d", round, other, data[0],
              data[other % BYTES]);
}

static void rounds(MPI_Comm comm, struct ept *t, const char *name, bool nonblocking)
{
    unsigned char *data = malloc(BYTES), *there = malloc(BYTES);
    MPI_File file = open_atomic(comm, t, name);

    memset(data, 0, BYTES);
    EPT_OK(t, MPI_File_write_at_all(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < ROUNDS; ++i) {
        const bool reads = (t->rank + i) % 3 == 2;
        MPI_Request request = MPI_REQUEST_NULL;

        memset(data, 16 * (i + 1) + t->rank, BYTES);
        if (nonblocking) {
            EPT_OK(t, reads ? MPI_File_iread_at(file, 0, there, BYTES, MPI_BYTE, &request)
                            : MPI_File_iwrite_at(file, 0, data, BYTES, MPI_BYTE, &request));
            EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            EPT_OK(t, reads ? MPI_File_read_at(file, 0, there, BYTES, MPI_BYTE, MPI_STATUS_IGNORE)
                            : MPI_File_write_at(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        }
        if (reads) {
            FILE *stream = fopen(name, "rb"); /* what locks of the process would not survive */

            fclose(stream);
            check_whole(t, there, i);
        }
        EPT_OK(t, MPI_Barrier(comm));
        EPT_OK(t, MPI_File_read_at(file, 0, there, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        check_whole(t, there, i);
        EPT_CHECK(t, 1 == t->size || (16 * (i + 1) & 0xff) == (there[0] & 0xf0),
                  "round %d: nobody's: %d", i, there[0]);
        EPT_OK(t, MPI_Barrier(comm));
    }
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
    free(data);
    free(there);
}

static void case_blocking(MPI_Comm comm, struct ept *t)
{
    char name[FILE_NAME_MAX];

    file_name(comm, t, "atomic", name);
    rounds(comm, t, name, false);
}

static void case_nonblocking(MPI_Comm comm, struct ept *t)
{
    char name[FILE_NAME_MAX];

    file_name(comm, t, "iatomic", name);
    rounds(comm, t, name, true);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_blocking);
    EPT_CASE(t, case_nonblocking);
    return 0;
}
