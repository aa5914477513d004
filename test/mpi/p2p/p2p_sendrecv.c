/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Sending and receiving in one call: MPI_Sendrecv_replace, MPI_Isendrecv, MPI_Isendrecv_replace, in
 * all waits and tests, with MPI_PROC_NULL and wildcards, and by requests that have been used for
 * something else before.
 *
 * Guards: pml_epml_wait.c
 */

#include "ept.h"

enum { TAG = 5, ROUNDS = 60 };

static const int sizes[] = {0, 4, 200, 5000, 60000, 300000};

static uint64_t key(int from, int to, int round)
{
    return ept_mix((uint64_t) from, (uint64_t) to, (uint64_t) round, 31);
}

/* A buffer of 2 * bytes, of which every other 4 bytes are data, or of bytes. */
static void pack(unsigned char *data, size_t bytes, bool strided, uint64_t k)
{
    unsigned char *flat = malloc(bytes + 1);

    ept_fill(flat, 0, bytes, k);
    for (size_t i = 0; i < bytes; ++i) {
        data[strided ? i / 4 * 8 + i % 4 : i] = flat[i];
    }
    free(flat);
}

static void check(struct ept *t, const unsigned char *data, size_t bytes, bool strided, uint64_t k)
{
    unsigned char *flat = malloc(bytes + 1);

    for (size_t i = 0; i < bytes; ++i) {
        flat[i] = data[strided ? i / 4 * 8 + i % 4 : i];
    }
    EPT_FILL(t, flat, bytes, k);
    free(flat);
}

/* ---- MPI_Sendrecv_replace -------------------------------------------------------------------- */

static void case_sendrecv_replace(MPI_Comm comm, struct ept *t)
{
    MPI_Datatype gaps;
    int shifts[4], n = ept_shifts(t, shifts);

    EPT_OK(t, MPI_Type_create_resized(MPI_INT, 0, 8, &gaps));
    EPT_OK(t, MPI_Type_commit(&gaps));
    for (int round = 0; round < 24; ++round) {
        int shift = 0 == n ? 0 : shifts[round % n], bytes = sizes[round % 6];
        int to = (t->rank + shift) % t->size, from = (t->rank - shift + t->size) % t->size;
        bool strided = 0 != (round & 8);
        struct ept_buffer data = ept_buffer(2 * (size_t) bytes, 0);
        MPI_Status status;

        ept_phase(t, "round %d, shift %d, %d bytes", round, shift, bytes);
        pack(data.data, (size_t) bytes, strided, key(t->rank, to, round));
        EPT_OK(t, MPI_Sendrecv_replace(data.data, strided ? bytes / 4 : bytes,
                                       strided ? gaps : MPI_BYTE, to, round,
                                       0 == round % 3 ? MPI_ANY_SOURCE : from,
                                       0 == round % 5 ? MPI_ANY_TAG : round, comm, &status));
        EPT_STATUS(t, &status, from, round, bytes);
        check(t, data.data, (size_t) bytes, strided, key(from, t->rank, round));
        EPT_GUARDS(t, &data);
        ept_buffer_free(&data);
        EPT_OK(t, MPI_Barrier(comm)); /* for the wildcards of the next round */
    }
    EPT_OK(t, MPI_Type_free(&gaps));
}

/* ---- the nonblocking ones -------------------------------------------------------------------- */

static void finish(struct ept *t, MPI_Request *request, int form, MPI_Status *status)
{
    MPI_Request list[3] = {MPI_REQUEST_NULL, *request, MPI_REQUEST_NULL};
    MPI_Status statuses[3];
    int index = -1, n = 0, flag = 0;

    switch (form) {
    case 0:
        EPT_OK(t, MPI_Wait(request, status));
        return;
    case 1:
        while (0 == flag) {
            EPT_OK(t, MPI_Test(request, &flag, status));
        }
        return;
    case 2:
        EPT_OK(t, MPI_Waitall(3, list, statuses));
        *status = statuses[1];
        break;
    case 3:
        EPT_OK(t, MPI_Waitany(3, list, &index, status));
        EPT_EQ(t, 1, index);
        break;
    case 4:
        EPT_OK(t, MPI_Waitsome(3, list, &n, &index, status));
        EPT_EQ(t, 1, n);
        break;
    default:
        while (0 == flag) {
            EPT_OK(t, MPI_Request_get_status(*request, &flag, status));
        }
        EPT_OK(t, MPI_Testall(3, list, &flag, statuses));
        EPT_EQ(t, 1, flag);
        break;
    }
    *request = list[1];
}

static void nonblocking(MPI_Comm comm, struct ept *t, bool replace, int rounds)
{
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;

    for (int round = 0; round < rounds; ++round) {
        int bytes = sizes[round % 6];
        struct ept_buffer in = ept_buffer((size_t) bytes, 1), out = ept_buffer((size_t) bytes, 0);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Status status;

        ept_phase(t, "replace %d, round %d, %d bytes", replace, round, bytes);
        ept_fill(replace ? in.data : out.data, 0, in.size, key(t->rank, to, round));
        if (replace) {
            EPT_OK(t, MPI_Isendrecv_replace(in.data, bytes, MPI_BYTE, to, TAG, from, TAG, comm,
                                            &request));
        } else {
            EPT_OK(t, MPI_Isendrecv(out.data, bytes, MPI_BYTE, to, TAG, in.data, bytes, MPI_BYTE,
                                    0 == round % 2 ? from : MPI_ANY_SOURCE, TAG, comm, &request));
        }
        finish(t, &request, round / 6 % 6, &status);
        EPT_CHECK(t, MPI_REQUEST_NULL == request, "the request is left");
        EPT_STATUS(t, &status, from, TAG, bytes);
        EPT_FILL(t, in.data, in.size, key(from, t->rank, round));
        EPT_GUARDS(t, &in);
        ept_buffer_free(&in);
        ept_buffer_free(&out);
    }
}

static void case_isendrecv(MPI_Comm comm, struct ept *t)
{
    nonblocking(comm, t, false, 8 < t->size ? 12 : ROUNDS);
}

static void case_isendrecv_replace(MPI_Comm comm, struct ept *t)
{
    nonblocking(comm, t, true, 8 < t->size ? 12 : ROUNDS);
}

/* Half of the partners are missing. */
static void case_proc_null(MPI_Comm comm, struct ept *t)
{
    int to = t->rank + 1 < t->size ? t->rank + 1 : MPI_PROC_NULL;
    int from = 0 < t->rank ? t->rank - 1 : MPI_PROC_NULL;

    for (int way = 0; way < 3; ++way) {
        int out = t->rank, in = -7;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Status status;

        ept_phase(t, "way %d", way);
        if (0 == way) {
            in = out;
            EPT_OK(t, MPI_Sendrecv_replace(&in, 1, MPI_INT, to, TAG, from, TAG, comm, &status));
        } else if (1 == way) {
            EPT_OK(t, MPI_Isendrecv(&out, 1, MPI_INT, to, TAG, &in, 1, MPI_INT, from, TAG, comm,
                                    &request));
            EPT_OK(t, MPI_Wait(&request, &status));
        } else {
            in = out;
            EPT_OK(t, MPI_Isendrecv_replace(&in, 1, MPI_INT, to, TAG, from, TAG, comm, &request));
            EPT_OK(t, MPI_Wait(&request, &status));
        }
        if (MPI_PROC_NULL == from) {
            EPT_EQ(t, 1 == way ? -7 : t->rank, in);
            EPT_STATUS(t, &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        } else {
            EPT_EQ(t, from, in);
            EPT_STATUS(t, &status, from, TAG, sizeof(int));
        }
    }
}

/* libmpi uses a request again that has been an MPI_Comm_idup's, of a communicator that is gone. */
static void case_used_request(MPI_Comm comm, struct ept *t)
{
    for (int round = 0; round < 4; ++round) {
        MPI_Comm first, second;
        MPI_Request request;

        ept_phase(t, "round %d", round);
        EPT_OK(t, MPI_Comm_dup(comm, &first));
        EPT_OK(t, MPI_Comm_idup(first, &second, &request));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Comm_free(&first));
        nonblocking(comm, t, 0 == round % 2, 6);
        nonblocking(second, t, 1 == round % 2, 6);
        EPT_OK(t, MPI_Comm_free(&second));
    }
}

/* Many at once, of which the last is waited for first. */
static void case_many(MPI_Comm comm, struct ept *t)
{
    enum { MANY = 40 };
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    MPI_Request requests[MANY];
    int in[MANY], out[MANY];

    for (int i = 0; i < MANY; ++i) {
        out[i] = 100 * t->rank + i;
        in[i] = -1;
        EPT_OK(t, MPI_Isendrecv(&out[i], 1, MPI_INT, to, i, &in[i], 1, MPI_INT, from, i, comm,
                                &requests[i]));
    }
    for (int i = MANY; 0 < i--;) {
        if (0 == i % 2) {
            EPT_OK(t, MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
            EPT_EQ(t, 100 * from + i, in[i]);
        }
    }
    EPT_OK(t, MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; ++i) {
        EPT_EQ(t, 100 * from + i, in[i]);
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_sendrecv_replace);
    EPT_CASE(t, case_isendrecv);
    EPT_CASE(t, case_isendrecv_replace);
    EPT_CASE(t, case_proc_null);
    EPT_CASE(t, case_used_request);
    EPT_CASE(t, case_many);
    return 0;
}
