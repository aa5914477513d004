/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Every size around every protocol switch, expected and unexpected, byte by byte, with guard zones
 * around misaligned buffers.
 *
 *   --big N    largest message in MiB of the case "big" (default 64; fewer ranks pay for it)
 *   --huge N   run the case "huge": one message of N MiB (more than 2048: count times extent no
 *              longer fits an int), built from a 1 MiB type; --pieces 1: whose units have gaps
 *              between them at the sender (--pieces 2: at the receiver)
 *
 * Guards: pml_epml_recv.c, pml_epml_send.c, btl_epofi_get.c, btl_epshm_node_get.c,
 * pml_epml_fetch.c, pml_epml_frag.c
 */

#include "ept.h"

enum { TAG_DATA = 1, TAG_MARK = 2, TAG_BACK = 3 };

#define KIB 1024
#define MIB (1024 * 1024)
#define AROUND(n) (n) - 1, (n), (n) + 1

static const int sizes[] = {0,
                            1,
                            7,
                            8,
                            31,
                            32,
                            33,
                            39,
                            40,
                            41,
                            55,
                            56,
                            57,
                            63,
                            64,
                            65,
                            AROUND(128),
                            AROUND(256),
                            AROUND(KIB),
                            AROUND(4 * KIB),
                            AROUND(8 * KIB),
                            AROUND(16 * KIB),
                            AROUND(32 * KIB),
                            AROUND(64 * KIB),
                            AROUND(128 * KIB),
                            AROUND(MIB)};
#define NUM_SIZES ((int) (sizeof(sizes) / sizeof(sizes[0])))

static uint64_t key_of(int from, int to, int bytes, int unexpected)
{
    return ept_mix((uint64_t) from, (uint64_t) to, (uint64_t) bytes, (uint64_t) unexpected);
}

static void send_one(MPI_Comm comm, struct ept *t, int peer, int bytes, bool unexpected)
{
    struct ept_buffer out = ept_buffer((size_t) bytes, (unsigned) bytes * 5);
    uint64_t key = key_of(t->rank, peer, bytes, unexpected);
    MPI_Request requests[2];

    ept_fill(out.data, 0, out.size, key);
    if (!unexpected) {
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG_MARK, comm, MPI_STATUS_IGNORE));
    }
    EPT_OK(t, MPI_Isend(out.data, bytes, MPI_BYTE, peer, TAG_DATA, comm, &requests[0]));
    EPT_OK(t, MPI_Isend(NULL, 0, MPI_BYTE, peer, TAG_MARK, comm, &requests[1]));
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EPT_FILL(t, out.data, out.size, key);
    EPT_GUARDS(t, &out);
    ept_buffer_free(&out);
}

static void receive_one(MPI_Comm comm, struct ept *t, int peer, int bytes, bool unexpected)
{
    /* Room for more than the message: the rest must stay untouched. */
    struct ept_buffer in = ept_buffer((size_t) bytes + 70, (unsigned) bytes * 11 + 1);
    size_t touched = 0;
    MPI_Request request;
    MPI_Status status;

    if (unexpected) {
        /* The mark was sent after the data. */
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG_MARK, comm, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Recv(in.data, bytes + 70, MPI_BYTE, peer, TAG_DATA, comm, &status));
    } else {
        EPT_OK(t, MPI_Irecv(in.data, bytes + 70, MPI_BYTE, peer, TAG_DATA, comm, &request));
        EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, peer, TAG_MARK, comm));
        EPT_OK(t, MPI_Wait(&request, &status));
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG_MARK, comm, MPI_STATUS_IGNORE));
    }
    EPT_STATUS(t, &status, peer, TAG_DATA, bytes);
    EPT_FILL(t, in.data, (size_t) bytes, key_of(peer, t->rank, bytes, unexpected));
    for (size_t i = (size_t) bytes; i + 1 < in.size; ++i) {
        touched += in.data[i] != in.data[i + 1];
    }
    EPT_CHECK(t, 0 == touched, "%zu bytes behind the message were written", touched);
    EPT_GUARDS(t, &in);
    ept_buffer_free(&in);
}

static void case_sizes(MPI_Comm comm, struct ept *t)
{
    enum ept_pairing pairings[3];
    int n = ept_pairings(t, pairings), limit = 16 < t->size ? 130 * KIB : 2 * MIB;

    for (int i = 0; i < n; ++i) {
        int peer = ept_partner(t, pairings[i]);

        for (int s = 0; MPI_PROC_NULL != peer && s < NUM_SIZES; ++s) {
            for (int variant = 0; sizes[s] <= limit && variant < 4; ++variant) {
                bool unexpected = 0 != (variant & 1), first = 0 != (variant & 2);

                ept_phase(t, "%d bytes, peer %d, %s", sizes[s], peer,
                          unexpected ? "unexpected" : "expected");
                if ((t->rank < peer) == first) {
                    send_one(comm, t, peer, sizes[s], unexpected);
                } else {
                    receive_one(comm, t, peer, sizes[s], unexpected);
                }
            }
        }
    }
}

/* All sizes at once in both directions, with no order between the two ranks. */
static void case_both_ways(MPI_Comm comm, struct ept *t)
{
    int limit = 16 < t->size ? 5 * KIB : 130 * KIB, shifts[4], n = ept_shifts(t, shifts);
    struct ept_buffer in[NUM_SIZES], out[NUM_SIZES];
    MPI_Request requests[2 * NUM_SIZES];

    for (int k = 0; k < n; ++k) {
        int to = (t->rank + shifts[k]) % t->size, used = 0;
        int from = (t->rank - shifts[k] + t->size) % t->size;

        ept_phase(t, "shift %d", shifts[k]);
        for (int s = 0; s < NUM_SIZES && sizes[s] <= limit; ++s) {
            in[s] = ept_buffer((size_t) sizes[s], (unsigned) s);
            out[s] = ept_buffer((size_t) sizes[s], (unsigned) s * 7);
            ept_fill(out[s].data, 0, out[s].size, key_of(t->rank, to, sizes[s], 2));
            EPT_OK(t, MPI_Irecv(in[s].data, sizes[s], MPI_BYTE, from, s, comm, &requests[used++]));
            EPT_OK(t, MPI_Isend(out[s].data, sizes[s], MPI_BYTE, to, s, comm, &requests[used++]));
        }
        EPT_OK(t, MPI_Waitall(used, requests, MPI_STATUSES_IGNORE));
        for (int s = 0; s < NUM_SIZES && sizes[s] <= limit; ++s) {
            EPT_FILL(t, in[s].data, in[s].size, key_of(from, t->rank, sizes[s], 2));
            EPT_GUARDS(t, &in[s]);
            ept_buffer_free(&in[s]);
            ept_buffer_free(&out[s]);
        }
    }
}

static void case_big(MPI_Comm comm, struct ept *t)
{
    int bytes = (int) ept_option_long("big", 64) * MIB;

    for (int k = 0; k < 2; ++k) {
        /* Ranks 0 and 1, which share a process where there are endpoints; 0 and the last. */
        int other = 0 == k ? 1 : t->size - 1, peer = 0 == t->rank ? other : 0;

        if (1 == t->size || (0 != t->rank && other != t->rank) || (1 == k && 2 == t->size)) {
            continue;
        }
        for (int variant = 0; variant < 4; ++variant) {
            ept_phase(t, "%d bytes, peer %d, variant %d", bytes, peer, variant);
            if ((0 == t->rank) == (0 != (variant & 2))) {
                send_one(comm, t, peer, bytes, 0 != (variant & 1));
            } else {
                receive_one(comm, t, peer, bytes, 0 != (variant & 1));
            }
        }
    }
}

/* One message from rank 0 to the last, longer than an int counts. */
static void case_huge(MPI_Comm comm, struct ept *t)
{
    int count = (int) ept_option_long("huge", 0), last = t->size - 1;
    /* Bytes from one unit to the next, at this rank. */
    bool gaps = (0 == t->rank ? 1 : 2) == ept_option_long("pieces", 0);
    size_t extent = MIB + (gaps ? 4096 : 0), bytes = (size_t) count * extent;
    MPI_Datatype contiguous, unit;
    MPI_Status status;
    MPI_Count got = -1;

    EPT_OK(t, MPI_Type_contiguous(MIB, MPI_BYTE, &contiguous));
    EPT_OK(t, MPI_Type_create_resized(contiguous, 0, (MPI_Aint) extent, &unit));
    EPT_OK(t, MPI_Type_commit(&unit));
    if (0 == t->rank) {
        struct ept_buffer out = ept_buffer(bytes, 0);

        ept_phase(t, "fill");
        for (int i = 0; i < count; ++i) {
            ept_fill(out.data + (size_t) i * extent, (size_t) i * MIB, MIB, t->seed);
        }
        ept_phase(t, "send");
        EPT_OK(t, MPI_Send(out.data, count, unit, last, TAG_DATA, comm));
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, last, TAG_BACK, comm, MPI_STATUS_IGNORE));
        ept_buffer_free(&out);
    } else if (last == t->rank) {
        struct ept_buffer in = ept_buffer(bytes, 0);

        ept_phase(t, "receive");
        EPT_OK(t, MPI_Recv(in.data, count, unit, 0, TAG_DATA, comm, &status));
        EPT_OK(t, MPI_Get_elements_x(&status, MPI_BYTE, &got));
        EPT_EQ(t, (MPI_Count) count * MIB, got);
        ept_phase(t, "check");
        for (int i = 0; i < count; ++i) {
            EPT_CHECK(t,
                      ept_check_fill(t, __FILE__, __LINE__, in.data + (size_t) i * extent,
                                     (size_t) i * MIB, MIB, t->seed),
                      "unit %d of %d", i, count);
        }
        EPT_GUARDS(t, &in);
        ept_buffer_free(&in);
        EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_BACK, comm));
    }
    EPT_OK(t, MPI_Type_free(&unit));
    EPT_OK(t, MPI_Type_free(&contiguous));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 != ept_option_long("huge", 0)) {
        if (1 == t->size) {
            ept_skip(t, "huge", "needs two ranks");
        } else {
            EPT_CASE(t, case_huge);
        }
        return 0;
    }
    EPT_CASE(t, case_sizes);
    EPT_CASE(t, case_both_ways);
    EPT_CASE(t, case_big);
    return 0;
}
