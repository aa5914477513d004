/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Counts, displacements, strides and positions beyond 2^31, in the calls that MPI 4 has for them,
 * on endpoints, where Open MPI has them (6).
 *
 * A message of more than 2 GiB takes no such memory: its buffer is one piece of a few megabytes,
 * mapped as often as it takes, but for the last page, which is a page of its own.  Layouts that
 * only reach far touch a few pages of an empty area.
 *
 * Guards: pml_epml_request_inline.h
 */

#define _GNU_SOURCE /* memfd_create */

#include "large_buffer.h"

#if 4 <= MPI_VERSION

#    define FAR ((MPI_Count) 5 << 30) /* where things lie that lie far away */

enum { TAG = 3 };

static uint64_t end_key(int rank)
{
    return ept_mix(23, (uint64_t) rank, 0, 0);
}

/* What is on the last page is the sender's alone. */
static void fill_end(unsigned char *buffer, int rank)
{
    ept_fill(buffer + LARGE - 100, 0, 100, end_key(rank));
}

/* By a count of more than 2^31 from the first endpoint to the last one. */
static void case_message(MPI_Comm comm, struct ept *t)
{
    unsigned char *buffer = 0 == t->rank || t->size - 1 == t->rank ? large_buffer(t) : NULL;
    MPI_Request request;
    MPI_Status status;
    MPI_Count count = 0;

    if (NULL != buffer && 0 == t->rank) {
        memset(buffer, 0x5a, PIECE);
        fill_end(buffer, 0);
        EPT_OK(t, MPI_Isend_c(buffer, LARGE, MPI_BYTE, t->size - 1, TAG, comm, &request));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (NULL != buffer) {
        EPT_OK(t, MPI_Probe(0, TAG, comm, &status));
        EPT_OK(t, MPI_Get_count_c(&status, MPI_BYTE, &count));
        EPT_EQ(t, (long) LARGE, (long) count);
        EPT_OK(t, MPI_Recv_c(buffer, LARGE, MPI_BYTE, 0, TAG, comm, &status));
        EPT_OK(t, MPI_Get_elements_c(&status, MPI_BYTE, &count));
        EPT_EQ(t, (long) LARGE, (long) count);
        EPT_FILL(t, buffer + LARGE - 100, 100, end_key(0));
        EPT_EQ(t, 0x5a, buffer[0]);
        EPT_EQ(t, 0x5a, buffer[PIECE - 1]);
    }
    if (NULL != buffer) {
        munmap(buffer, large_size());
    }
}

/* To all, from the last one. */
static void case_bcast(MPI_Comm comm, struct ept *t)
{
    const int root = t->size - 1;
    unsigned char *buffer = large_buffer(t);

    if (NULL != buffer) {
        memset(buffer, t->rank == root ? 0x33 : 0, PIECE);
        if (t->rank == root) {
            fill_end(buffer, root);
        }
        EPT_OK(t, MPI_Bcast_c(buffer, LARGE, MPI_BYTE, root, comm));
        EPT_FILL(t, buffer + LARGE - 100, 100, end_key(root));
        EPT_EQ(t, 0x33, buffer[0]);
        munmap(buffer, large_size());
    }
}

/* Types whose parts lie further apart than 2^31, made in each way. */
static void far_type(struct ept *t, int which, MPI_Datatype *type, MPI_Count at[3])
{
    const MPI_Count lengths[3] = {7, 7, 7};

    for (int i = 0; i < 3; ++i) {
        at[i] = (MPI_Count) i * (FAR / 2 - 64);
    }
    switch (which) {
    case 0:
        EPT_OK(t, MPI_Type_create_hvector_c(3, 7, at[1], MPI_BYTE, type));
        break;
    case 1:
        EPT_OK(t, MPI_Type_vector_c(3, 7, at[1], MPI_BYTE, type));
        break;
    case 2:
        EPT_OK(t, MPI_Type_indexed_c(3, lengths, at, MPI_BYTE, type));
        break;
    case 3:
        EPT_OK(t, MPI_Type_create_hindexed_block_c(3, 7, at, MPI_BYTE, type));
        break;
    default: {
        const MPI_Datatype types[3] = {MPI_BYTE, MPI_BYTE, MPI_BYTE};

        EPT_OK(t, MPI_Type_create_struct_c(3, lengths, at, types, type));
    }
    }
    EPT_OK(t, MPI_Type_commit(type));
}

/* Round the ring, from far apart to far apart. */
static void case_types(MPI_Comm comm, struct ept *t)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    unsigned char *out = empty_area(t, (size_t) FAR), *in = empty_area(t, (size_t) FAR);

    for (int which = 0; NULL != out && NULL != in && which < 5; ++which) {
        MPI_Datatype type;
        MPI_Count at[3], size = 0, lb = -1, extent = 0;

        far_type(t, which, &type, at);
        EPT_OK(t, MPI_Type_size_c(type, &size));
        EPT_EQ(t, 21, (long) size);
        EPT_OK(t, MPI_Type_get_extent_c(type, &lb, &extent));
        EPT_EQ(t, 0, (long) lb);
        EPT_EQ(t, (long) at[2] + 7, (long) extent);
        for (int i = 0; i < 3; ++i) {
            ept_fill(out + at[i], 0, 7, ept_mix(31, (uint64_t) t->rank, (uint64_t) which, i));
        }
        EPT_OK(t, MPI_Sendrecv_c(out, 1, type, to, which, in, 1, type, from, which, comm,
                                 MPI_STATUS_IGNORE));
        for (int i = 0; i < 3; ++i) {
            EPT_FILL(t, in + at[i], 7, ept_mix(31, (uint64_t) from, (uint64_t) which, i));
        }
        EPT_OK(t, MPI_Type_free(&type));
    }
    if (NULL != out && NULL != in) {
        munmap(out, (size_t) FAR);
        munmap(in, (size_t) FAR);
    }
}

/* Pieces of a few bytes, at displacements of more than 2^31. */
static void case_displacements(MPI_Comm comm, struct ept *t)
{
    const size_t step = (size_t) (FAR / t->size) / 8 * 8, whole = step * (size_t) t->size;
    unsigned char *in = empty_area(t, whole);
    MPI_Count *counts = malloc((size_t) t->size * sizeof(*counts));
    MPI_Aint *displs = malloc((size_t) t->size * sizeof(*displs));
    long long mine[2] = {t->rank, 1000 + t->rank};
    MPI_Request request;

    for (int i = 0; i < t->size; ++i) {
        counts[i] = 2;
        displs[i] = (MPI_Aint) (step / 8 * (size_t) i);
    }
    for (int round = 0; NULL != in && round < 2; ++round) {
        if (0 == round) {
            EPT_OK(t, MPI_Allgatherv_c(mine, 2, MPI_LONG_LONG, in, counts, displs, MPI_LONG_LONG,
                                       comm));
        } else {
            EPT_OK(t, MPI_Ialltoallv_c(in, counts, displs, MPI_LONG_LONG, in + 64, counts, displs,
                                       MPI_LONG_LONG, comm, &request));
            EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        for (int i = 0; i < t->size; ++i) {
            long long theirs[2];

            memcpy(theirs, in + step * (size_t) i + (0 == round ? 0 : 64), sizeof(theirs));
            EPT_EQ(t, 0 == round ? i : t->rank, (long) theirs[0]);
            EPT_EQ(t, 1000 + (0 == round ? i : t->rank), (long) theirs[1]);
        }
    }
    if (NULL != in) {
        munmap(in, whole);
    }
    free(displs);
    free(counts);
}

/* A position beyond 2^31; what is there is sent as it is. */
static void case_pack(MPI_Comm comm, struct ept *t)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    const MPI_Count begin = ((MPI_Count) 1 << 31) + 16;
    unsigned char *area = empty_area(t, (size_t) FAR);
    MPI_Count position = begin, size = 0;
    int numbers[3] = {t->rank, t->rank + 1, t->rank + 2};

    EPT_OK(t, MPI_Pack_size_c(LARGE, MPI_INT, comm, &size));
    EPT_CHECK(t, 4 * LARGE <= size, "only %lld bytes", (long long) size);
    if (NULL == area) {
        return;
    }
    EPT_OK(t, MPI_Pack_c(numbers, 3, MPI_INT, area, FAR, &position, comm));
    EPT_EQ(t, (long) begin + 12, (long) position);
    EPT_OK(t, MPI_Sendrecv_c(area + begin, 12, MPI_PACKED, to, TAG, area + begin + 64, 12,
                             MPI_PACKED, from, TAG, comm, MPI_STATUS_IGNORE));
    position = begin + 64;
    EPT_OK(t, MPI_Unpack_c(area, FAR, &position, numbers, 3, MPI_INT, comm));
    EPT_EQ(t, (long) begin + 76, (long) position);
    for (int i = 0; i < 3; ++i) {
        EPT_EQ(t, from + i, numbers[i]);
    }
    munmap(area, (size_t) FAR);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_types);
    EPT_CASE(t, case_displacements);
    EPT_CASE(t, case_pack);
    EPT_CASE(t, case_message);
    EPT_CASE(t, case_bcast);
    return 0;
}

#else

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    ept_skip(t, "all", "this MPI is older than version 4");
    return 0;
}

#endif
