/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* EPT-PARTS: file_tools.c */
/**
 * @file
 *
 * Files, nonblocking: many reads and writes under way in all ranks at once, waited for and tested
 * in all forms, beside messages; the collective and split ones; a request that is given up before
 * it has ended; reads at the file's end.
 *
 * Guards: io.c, zero_size.c, posix_request.c, split.c, split_request.c
 */

#include "file_tools.h"

enum { PIECES = 24, BYTES = 3000 };

static void fill_pieces(unsigned char *data, const struct ept *t)
{
    for (int i = 0; i < PIECES; ++i) {
        ept_fill(&data[i * BYTES], 0, BYTES, ept_mix((uint64_t) t->rank, (uint64_t) i, 7, 0));
    }
}

static MPI_Offset place(const struct ept *t, int rank, int piece)
{
    return ((MPI_Offset) piece * t->size + rank) * BYTES;
}

/** End all requests, in one way of several. */
static void end_all(struct ept *t, int way, int count, MPI_Request *requests)
{
    int left = count, done = 0, indices[2 * PIECES], flag = 0;
    MPI_Status statuses[2 * PIECES];

    switch (way) {
    case 0:
        EPT_OK(t, MPI_Waitall(count, requests, statuses));
        break;
    case 1:
        while (0 < left--) {
            EPT_OK(t, MPI_Waitany(count, requests, &done, statuses));
        }
        break;
    case 2:
        while (!flag) {
            EPT_OK(t, MPI_Testall(count, requests, &flag, statuses));
        }
        break;
    case 3:
        for (; 0 < left; left -= done) {
            EPT_OK(t, MPI_Waitsome(count, requests, &done, indices, statuses));
        }
        break;
    default:
        for (int i = 0; i < count; ++i) {
            for (flag = 0; !flag;) {
                EPT_OK(t, MPI_Test(&requests[i], &flag, statuses));
            }
        }
    }
    for (int i = 0; i < count; ++i) {
        EPT_EQ(t, true, MPI_REQUEST_NULL == requests[i]);
    }
}

static void case_many(MPI_Comm comm, struct ept *t)
{
    unsigned char *data = malloc(PIECES * BYTES), *there = malloc(PIECES * BYTES);
    const int next = (t->rank + 1) % t->size;
    MPI_Request requests[2 * PIECES];
    char name[FILE_NAME_MAX];
    MPI_File file;

    fill_pieces(data, t);
    file_name(comm, t, "many", name);
    file = file_create(comm, t, name, 0);
    for (int round = 0; round < 15; ++round) {
        for (int i = 0; i < PIECES; ++i) {
            EPT_OK(t, MPI_File_iwrite_at(file, place(t, t->rank, i), &data[i * BYTES], BYTES,
                                         MPI_BYTE, &requests[i]));
        }
        end_all(t, round % 5, PIECES, requests);
        EPT_OK(t, MPI_Barrier(comm));
        memset(there, 0, PIECES * BYTES);
        for (int i = 0; i < PIECES; ++i) {
            EPT_OK(t, MPI_File_iread_at(file, place(t, next, i), &there[i * BYTES], BYTES, MPI_BYTE,
                                        &requests[i]));
        }
        end_all(t, (round + t->rank) % 5, PIECES, requests);
        for (int i = 0; i < PIECES; ++i) {
            EPT_FILL(t, &there[i * BYTES], BYTES, ept_mix((uint64_t) next, (uint64_t) i, 7, 0));
        }
        EPT_OK(t, MPI_Barrier(comm));
    }
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
    free(data);
    free(there);
}

/* In one list: writes, and messages to a rank that answers when it has written. */
static void case_mixed(MPI_Comm comm, struct ept *t)
{
    unsigned char *data = malloc(PIECES * BYTES);
    const int next = (t->rank + 1) % t->size, last = (t->rank + t->size - 1) % t->size;
    char name[FILE_NAME_MAX];
    MPI_Request requests[2 * PIECES];
    int out[PIECES], in[PIECES];
    MPI_File file;

    fill_pieces(data, t);
    file_name(comm, t, "mixed", name);
    file = file_create(comm, t, name, 0);
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < PIECES; ++i) {
            if (0 == i % 2) {
                EPT_OK(t, MPI_File_iwrite_at(file, place(t, t->rank, i), &data[i * BYTES], BYTES,
                                             MPI_BYTE, &requests[i]));
            } else {
                EPT_OK(t, MPI_Irecv(&in[i], 1, MPI_INT, last, i, comm, &requests[i]));
            }
        }
        for (int i = 1; i < PIECES; i += 2) {
            out[i] = 100 * t->rank + i;
            EPT_OK(t, MPI_Send(&out[i], 1, MPI_INT, next, i, comm));
        }
        end_all(t, round % 5, PIECES, requests);
        for (int i = 1; i < PIECES; i += 2) {
            EPT_EQ(t, 100 * last + i, in[i]);
        }
    }
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
    free(data);
}

static void case_collective(MPI_Comm comm, struct ept *t)
{
    unsigned char *data = malloc(PIECES * BYTES), *there = malloc(PIECES * BYTES);
    char name[FILE_NAME_MAX];
    MPI_Datatype strided, piece;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_File file;
    int count;

    fill_pieces(data, t);
    file_name(comm, t, "collective", name);
    EPT_OK(t, MPI_Type_contiguous(BYTES, MPI_BYTE, &piece));
    EPT_OK(t, MPI_Type_create_resized(piece, 0, (MPI_Aint) t->size * BYTES, &strided));
    EPT_OK(t, MPI_Type_commit(&strided));
    file = file_create(comm, t, name, 0);
    EPT_OK(t, MPI_File_set_view(file, (MPI_Offset) t->rank * BYTES, MPI_BYTE, strided, "native",
                                MPI_INFO_NULL));
    EPT_OK(t, MPI_File_iwrite_all(file, data, 4 * BYTES, MPI_BYTE, &requests[0]));
    EPT_OK(t, MPI_File_iwrite_at_all(file, 4 * BYTES, &data[4 * BYTES], 4 * BYTES, MPI_BYTE,
                                     &requests[1]));
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_File_write_at_all_end(file, data, &status)); /* none begun */
    EPT_OK(t, MPI_File_write_at_all_begin(file, 8 * BYTES, &data[8 * BYTES], 8 * BYTES, MPI_BYTE));
    EPT_OK(t, MPI_File_write_at_all_end(file, &data[8 * BYTES], &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    EPT_EQ(t, 8 * BYTES, count);
    EPT_OK(t, MPI_File_seek(file, 16 * BYTES, MPI_SEEK_SET));
    EPT_OK(t, MPI_File_write_all_begin(file, &data[16 * BYTES], 8 * BYTES, MPI_BYTE));
    EPT_OK(t, MPI_File_write_all_end(file, &data[16 * BYTES], &status));
    EPT_OK(t, MPI_Barrier(comm));
    memset(there, 0, PIECES * BYTES);
    EPT_OK(t, MPI_File_iread_at_all(file, 0, there, 8 * BYTES, MPI_BYTE, &requests[0]));
    EPT_OK(t, MPI_File_seek(file, 8 * BYTES, MPI_SEEK_SET));
    EPT_OK(t, MPI_File_iread_all(file, &there[8 * BYTES], 8 * BYTES, MPI_BYTE, &requests[1]));
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EPT_OK(t, MPI_File_read_all_begin(file, &there[16 * BYTES], 4 * BYTES, MPI_BYTE));
    EPT_OK(t, MPI_File_read_all_end(file, &there[16 * BYTES], &status));
    EPT_OK(t,
           MPI_File_read_at_all_begin(file, 20 * BYTES, &there[20 * BYTES], 4 * BYTES, MPI_BYTE));
    EPT_OK(t, MPI_File_read_at_all_end(file, &there[20 * BYTES], &status));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_File_read_at_all_end(file, there, &status));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_File_read_all_end(file, there, &status));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_File_write_at_all_end(file, there, &status));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_File_write_all_end(file, there, &status));
    for (int i = 0; i < PIECES; ++i) {
        EPT_FILL(t, &there[i * BYTES], BYTES, ept_mix((uint64_t) t->rank, (uint64_t) i, 7, 0));
    }
    EPT_OK(t, MPI_File_close(&file));
    EPT_OK(t, MPI_Type_free(&strided));
    EPT_OK(t, MPI_Type_free(&piece));
    file_remove(comm, name);
    free(data);
    free(there);
}

/* Individual pointers move on at once; and nothing to write is written at once. */
static void case_pointers(MPI_Comm comm, struct ept *t)
{
    char name[FILE_NAME_MAX];
    MPI_Request requests[3];
    int data[30], there[30];
    MPI_Offset position;
    MPI_File file;

    for (int i = 0; i < 30; ++i) {
        data[i] = 1000 * t->rank + i;
    }
    file_name(comm, t, "pointers", name);
    file = file_create(comm, t, name, 0);
    EPT_OK(t, MPI_File_set_view(file, (MPI_Offset) (t->rank * sizeof(data)), MPI_INT, MPI_INT,
                                "native", MPI_INFO_NULL));
    for (int i = 0; i < 3; ++i) {
        EPT_OK(t, MPI_File_iwrite(file, &data[10 * i], 10, MPI_INT, &requests[i]));
        EPT_OK(t, MPI_File_get_position(file, &position));
        EPT_EQ(t, 10 * (i + 1), position);
    }
    end_all(t, 0, 3, requests);
    EPT_OK(t, MPI_File_iwrite(file, data, 0, MPI_INT, &requests[0]));
    end_all(t, 4, 1, requests);
    EPT_OK(t, MPI_File_seek(file, 0, MPI_SEEK_SET));
    for (int i = 0; i < 3; ++i) {
        EPT_OK(t, MPI_File_iread(file, &there[10 * i], 10, MPI_INT, &requests[i]));
    }
    end_all(t, 3, 3, requests);
    EPT_EQ(t, 0, memcmp(data, there, sizeof(data)));
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
}

/* Many of a type of no size are nothing, too. */
static void case_nothing(MPI_Comm comm, struct ept *t)
{
    char name[FILE_NAME_MAX];
    MPI_Request requests[4];
    MPI_Status status;
    MPI_Datatype none;
    MPI_File file;
    int value = 1, count = 1;

    EPT_OK(t, MPI_Type_contiguous(0, MPI_INT, &none));
    EPT_OK(t, MPI_Type_commit(&none));
    file_name(comm, t, "nothing", name);
    file = file_create(comm, t, name, 0);
    EPT_OK(t, MPI_File_iwrite_at(file, 100, &value, 5, none, &requests[0]));
    EPT_OK(t, MPI_File_iwrite(file, &value, 5, none, &requests[1]));
    EPT_OK(t, MPI_File_iread_at(file, 100, &value, 5, none, &requests[2]));
    EPT_OK(t, MPI_File_iwrite_all(file, &value, 5, none, &requests[3]));
    end_all(t, t->rank % 5, 4, requests);
    EPT_OK(t, MPI_File_write_at(file, 100, &value, 5, none, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    EPT_EQ(t, 0, count);
    EPT_OK(t, MPI_File_write_at_all(file, 100, &value, 5, none, &status));
    EPT_OK(t, MPI_File_close(&file));
    EPT_EQ(t, 0, file_size(name));
    EPT_OK(t, MPI_Type_free(&none));
    file_remove(comm, name);
}

/* The buffer is free again only when MPI says so, but the request may be given up at once. */
static void case_given_up(MPI_Comm comm, struct ept *t)
{
    enum { LONG = 1 << 20 };
    unsigned char *data = malloc(LONG);
    char name[FILE_NAME_MAX];
    MPI_Request request;
    size_t have = 0;
    MPI_File file;

    ept_fill(data, 0, LONG, (uint64_t) t->rank + 1);
    file_name(comm, t, "given_up", name);
    file = file_create(comm, t, name, 0);
    EPT_OK(t,
           MPI_File_iwrite_at(file, (MPI_Offset) t->rank * LONG, data, LONG, MPI_BYTE, &request));
    EPT_OK(t, MPI_Request_free(&request));
    EPT_OK(t, MPI_File_close(&file));
    if (0 == t->rank) {
        unsigned char *bytes = file_bytes(name, &have);

        EPT_EQ(t, (size_t) t->size * LONG, have);
        for (int i = 0; NULL != bytes && have == (size_t) t->size * LONG && i < t->size; ++i) {
            EPT_FILL(t, &bytes[(size_t) i * LONG], LONG, (uint64_t) i + 1);
        }
        free(bytes);
    }
    file_remove(comm, name);
    free(data);
}

/* Data that are converted, more than fit a buffer of ompio's: the file has them with the highest
 * byte first, and they come back.  One write is given up.  (With explicit offsets: 6.0.0rc2 moves
 * an individual pointer on by as many etypes as there are bytes.) */
static void case_converted(MPI_Comm comm, struct ept *t)
{
    enum { INTS = 700000, LENGTH = INTS * (int) sizeof(int) };
    int *data = malloc(LENGTH), *there = calloc(INTS, sizeof(int));
    char name[FILE_NAME_MAX];
    MPI_Request requests[2];
    unsigned char *bytes;
    size_t have = 0;
    MPI_Status status;
    MPI_File file;
    int count, bad = 0;

    for (int i = 0; i < INTS; ++i) {
        data[i] = (int) ept_mix((uint64_t) t->rank, (uint64_t) i, 5, 0);
    }
    file_name(comm, t, "converted", name);
    file = file_create(comm, t, name, 0);
    EPT_OK(t, MPI_File_set_view(file, (MPI_Offset) t->rank * LENGTH, MPI_INT, MPI_INT, "external32",
                                MPI_INFO_NULL));
    EPT_OK(t, MPI_File_iwrite_at(file, 0, data, INTS / 2, MPI_INT, &requests[0]));
    EPT_OK(t, MPI_File_iwrite_at(file, INTS / 2, &data[INTS / 2], INTS / 2, MPI_INT, &requests[1]));
    EPT_OK(t, MPI_Request_free(&requests[1]));
    EPT_OK(t, MPI_Wait(&requests[0], &status));
    MPI_Get_count(&status, MPI_INT, &count);
    EPT_EQ(t, INTS / 2, count);
    EPT_OK(t, MPI_Barrier(comm));
    bytes = file_bytes(name, &have);
    EPT_EQ(t, (size_t) t->size * LENGTH, have);
    for (int i = 0; have == (size_t) t->size * LENGTH && i < INTS; ++i) {
        const unsigned char *byte = &bytes[(size_t) t->rank * LENGTH + (size_t) i * sizeof(int)];

        bad += data[i] != (int) ((uint32_t) byte[0] << 24 | byte[1] << 16 | byte[2] << 8 | byte[3]);
    }
    EPT_EQ(t, 0, bad);
    EPT_OK(t, MPI_File_iread_at(file, 0, there, INTS, MPI_INT, &requests[0]));
    EPT_OK(t, MPI_Wait(&requests[0], &status));
    MPI_Get_count(&status, MPI_INT, &count);
    EPT_EQ(t, INTS, count);
    EPT_EQ(t, 0, memcmp(data, there, LENGTH));
    EPT_OK(t, MPI_File_close(&file));
    file_remove(comm, name);
    free(bytes);
    free(data);
    free(there);
}

static int end_one(struct ept *t, MPI_Request *request)
{
    MPI_Status status;
    int count = -1;

    EPT_OK(t, MPI_Wait(request, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    return count;
}

/* Reads that reach beyond the file's end have what is there: of one piece, and of several. */
static void case_end(MPI_Comm comm, struct ept *t)
{
    enum { LENGTH = 100 };
    unsigned char data[LENGTH], there[2 * LENGTH];
    char name[FILE_NAME_MAX];
    MPI_Datatype pieces;
    MPI_Request request;
    MPI_Status status;
    MPI_File file;
    int count = -1;

    EPT_OK(t, MPI_Type_vector(4, 10, 20, MPI_BYTE, &pieces));
    EPT_OK(t, MPI_Type_commit(&pieces));
    ept_fill(data, 0, LENGTH, 9);
    file_name(comm, t, "end", name);
    file = file_create(comm, t, name, 0);
    EPT_OK(t, MPI_File_write_at_all(file, 0, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_File_iread_at(file, 90, there, 20, MPI_BYTE, &request));
    EPT_EQ(t, 10, end_one(t, &request));
    EPT_EQ(t, 0, memcmp(&data[90], there, 10));
    EPT_OK(t, MPI_File_iread_at(file, LENGTH, there, 20, MPI_BYTE, &request));
    EPT_EQ(t, 0, end_one(t, &request));
    EPT_OK(t, MPI_File_iread_at(file, 85, there, 1, pieces, &request));
    EPT_EQ(t, 15, end_one(t, &request));
    EPT_EQ(t, 0, memcmp(&data[85], there, 10));
    EPT_EQ(t, 0, memcmp(&data[95], &there[20], 5));
    EPT_OK(t, MPI_File_seek(file, 70, MPI_SEEK_SET));
    EPT_OK(t, MPI_File_iread_all(file, there, 50, MPI_BYTE, &request));
    EPT_EQ(t, 30, end_one(t, &request));
    EPT_EQ(t, 0, memcmp(&data[70], there, 30));
    EPT_OK(t, MPI_File_seek(file, 60, MPI_SEEK_SET));
    EPT_OK(t, MPI_File_read_all_begin(file, there, 2 * LENGTH, MPI_BYTE));
    EPT_OK(t, MPI_File_read_all_end(file, there, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    EPT_EQ(t, 40, count);
    EPT_EQ(t, 0, memcmp(&data[60], there, 40));
    EPT_OK(t, MPI_File_close(&file));
    EPT_OK(t, MPI_Type_free(&pieces));
    file_remove(comm, name);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_many);
    EPT_CASE(t, case_mixed);
    EPT_CASE(t, case_collective);
    EPT_CASE(t, case_pointers);
    EPT_CASE(t, case_nothing);
    EPT_CASE(t, case_given_up);
    EPT_CASE(t, case_converted);
    EPT_CASE(t, case_end);
    return 0;
}
