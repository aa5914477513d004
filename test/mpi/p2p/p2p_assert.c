/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Assertions about a communicator by info keys: what MPI_Comm_get_info says is in force, that
 * messages come as ever under each of them, that wildcards of another communicator still see all of
 * theirs, and that small messages may overtake where the user allows it, and only there.
 *
 *   --overtake N   N rounds in which at least one message must overtake; with few send buffers
 *
 * Guards: pml_epml_hints.c
 */

#include "ept.h"

enum { TAG_LARGE = 1, TAG_SMALL = 2, ROUNDS = 30 };

static const char *const NO_ANY_TAG = "mpi_assert_no_any_tag";
static const char *const NO_ANY_SOURCE = "mpi_assert_no_any_source";
static const char *const OVERTAKING = "mpi_assert_allow_overtaking";
static const char *const EXACT_LENGTH = "mpi_assert_exact_length";

static void set_key(MPI_Comm comm, struct ept *t, const char *key, const char *value)
{
    MPI_Info info;

    EPT_OK(t, MPI_Info_create(&info));
    EPT_OK(t, MPI_Info_set(info, key, value));
    EPT_OK(t, MPI_Comm_set_info(comm, info));
    EPT_OK(t, MPI_Info_free(&info));
}

/* What the communicator shows for a key, or "" if nothing. */
static void shown(MPI_Comm comm, struct ept *t, const char *key, char value[16])
{
    MPI_Info info;
    int flag = 0;

    value[0] = '\0';
    EPT_OK(t, MPI_Comm_get_info(comm, &info));
    EPT_OK(t, MPI_Info_get(info, key, 15, value, &flag));
    if (0 == flag) {
        value[0] = '\0';
    }
    EPT_OK(t, MPI_Info_free(&info));
}

#define SHOWS(comm, t, key, expected)       \
    do {                                    \
        char shown_[16];                    \
        shown((comm), (t), (key), shown_);  \
        EPT_STREQ((t), (expected), shown_); \
    } while (0)

/* ---- what is in force ------------------------------------------------------------------------ */

static void case_info(MPI_Comm comm, struct ept *t)
{
    const char *const keys[] = {NO_ANY_TAG, NO_ANY_SOURCE, OVERTAKING};
    MPI_Comm dup, with;
    MPI_Info info;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    for (int i = 0; i < 3; ++i) {
        ept_phase(t, "%s", keys[i]);
        if (t->endpoints) {
            SHOWS(comm, t, keys[i], "false");
            SHOWS(dup, t, keys[i], "false");
        }
        set_key(dup, t, keys[i], "true");
        if (t->endpoints) {
            SHOWS(dup, t, keys[i], "true");
            SHOWS(comm, t, keys[i], "false");
            for (int other = i + 1; other < 3; ++other) {
                SHOWS(dup, t, keys[other], "false");
            }
            set_key(dup, t, keys[i], "nonsense");
            SHOWS(dup, t, keys[i], "false");
            set_key(dup, t, keys[i], "1");
            SHOWS(dup, t, keys[i], "true");
        }
        EPT_OK(t, MPI_Info_create(&info));
        EPT_OK(t, MPI_Info_set(info, keys[i], "true"));
        EPT_OK(t, MPI_Comm_dup_with_info(comm, info, &with));
        EPT_OK(t, MPI_Info_free(&info));
        if (t->endpoints) {
            SHOWS(with, t, keys[i], "true");
        }
        EPT_OK(t, MPI_Comm_free(&with));
    }
    /* Nothing is gained by it, so it is not taken. */
    set_key(dup, t, EXACT_LENGTH, "true");
    if (t->endpoints) {
        SHOWS(dup, t, EXACT_LENGTH, "");
    }
    EPT_OK(t, MPI_Comm_free(&dup));
}

static void use_handle(MPI_Comm comm, struct ept *t, int index, void *context)
{
    const int num = *(int *) context;

    if (t->endpoints) {
        SHOWS(comm, t, NO_ANY_SOURCE, "true");
        SHOWS(comm, t, NO_ANY_TAG, "false");
        SHOWS(comm, t, OVERTAKING, "true");
    }
    ept_use_comm(t, comm, t->proc * num + index, t->nprocs * num);
}

/* Endpoints may be made with assertions from the start. */
static void case_creation(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 == t->local) {
        int num = ept_count(t, 2);
        MPI_Comm comms[2];
        MPI_Info info;

        EPT_OK(t, MPI_Info_create(&info));
        EPT_OK(t, MPI_Info_set(info, NO_ANY_SOURCE, "true"));
        EPT_OK(t, MPI_Info_set(info, OVERTAKING, "true"));
        EPT_OK(t, ept_create_endpoints(MPI_COMM_WORLD, num, info, comms));
        EPT_OK(t, MPI_Info_free(&info));
        ept_on_each(t, comms, num, use_handle, &num);
        for (int i = 0; i < num; ++i) {
            EPT_OK(t, MPI_Comm_free(&comms[i]));
        }
    }
    ept_local_barrier(t);
}

/* ---- traffic --------------------------------------------------------------------------------- */

/* A ring on comm, expected and unexpected, small and large, without wildcards. */
static void ring(MPI_Comm comm, struct ept *t, int rounds)
{
    static const int sizes[] = {0, 8, 300, 5000, 150000};
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;

    for (int round = 0; round < rounds; ++round) {
        int bytes = sizes[round % 5];
        struct ept_buffer in = ept_buffer((size_t) bytes, 1), out = ept_buffer((size_t) bytes, 2);
        MPI_Request requests[2];
        MPI_Status status;

        ept_fill(out.data, 0, out.size, ept_mix((uint64_t) t->rank, (uint64_t) round, 4, 0));
        for (int half = 0; half < 2; ++half) {
            if (half == round % 2) {
                EPT_OK(t, MPI_Irecv(in.data, bytes, MPI_BYTE, from, round, comm, &requests[0]));
            } else {
                EPT_OK(t, MPI_Isend(out.data, bytes, MPI_BYTE, to, round, comm, &requests[1]));
            }
        }
        EPT_OK(t, MPI_Wait(&requests[0], &status));
        EPT_OK(t, MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        EPT_STATUS(t, &status, from, round, bytes);
        EPT_FILL(t, in.data, in.size, ept_mix((uint64_t) from, (uint64_t) round, 4, 0));
        ept_buffer_free(&in);
        ept_buffer_free(&out);
    }
}

/* Wildcards of each kind are posted on comm while promised communicators are used; then they get
 * their messages, in the order of posting. */
static void case_other_comm(MPI_Comm comm, struct ept *t)
{
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    /* From four processes on, libmpi's own barrier receives from any source, and ob1, which relies
     * on the user's assertion, hangs in it. */
    int most = t->endpoints ? 4 : 2;

    for (int kind = 1; kind < most; ++kind) {
        int in[6], out[6], sum = -1;
        MPI_Request receives[6], sends[6];
        MPI_Comm dup;

        ept_phase(t, "kind %d", kind);
        EPT_OK(t, MPI_Comm_dup(comm, &dup));
        if (0 != (kind & 1)) {
            set_key(dup, t, NO_ANY_TAG, "true");
        }
        if (0 != (kind & 2)) {
            set_key(dup, t, NO_ANY_SOURCE, "true");
        }
        for (int i = 0; i < 6; ++i) {
            in[i] = -1;
            out[i] = 10 * t->rank + i;
            EPT_OK(t, MPI_Irecv(&in[i], 1, MPI_INT, 0 == i % 2 ? MPI_ANY_SOURCE : from,
                                0 == i % 3 ? MPI_ANY_TAG : 7, comm, &receives[i]));
        }
        EPT_OK(t, MPI_Barrier(dup));
        ring(dup, t, 20);
        EPT_OK(t, MPI_Allreduce(&t->rank, &sum, 1, MPI_INT, MPI_SUM, dup));
        EPT_EQ(t, t->size * (t->size - 1) / 2, sum);
        for (int i = 0; i < 6; ++i) {
            EPT_EQ(t, -1, in[i]);
        }
        EPT_OK(t, MPI_Barrier(dup));
        for (int i = 0; i < 6; ++i) {
            EPT_OK(t, MPI_Isend(&out[i], 1, MPI_INT, to, 7, comm, &sends[i]));
        }
        EPT_OK(t, MPI_Waitall(6, receives, MPI_STATUSES_IGNORE));
        EPT_OK(t, MPI_Waitall(6, sends, MPI_STATUSES_IGNORE));
        for (int i = 0; i < 6; ++i) {
            EPT_EQ(t, 10 * from + i, in[i]);
        }
        ring(dup, t, 10);
        EPT_OK(t, MPI_Comm_free(&dup));
    }
}

/* A rank that breaks a promise is served all the same: messages that came before and after, in
 * order; and no promise is taken of a wildcard that is posted. */
static void case_broken(MPI_Comm comm, struct ept *t)
{
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    int in[8], out[8];
    MPI_Request sends[8], waiting, pending;
    MPI_Status status;
    MPI_Comm dup;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    /* Keeps the wildcards' queues in use, for all messages of the endpoint. */
    EPT_OK(t, MPI_Irecv(&in[7], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &waiting));
    set_key(dup, t, NO_ANY_TAG, "true");
    set_key(dup, t, NO_ANY_SOURCE, "true");
    for (int i = 0; i < 8; ++i) {
        in[i] = -1;
        out[i] = 100 * t->rank + i;
        EPT_OK(t, MPI_Isend(&out[i], 1, MPI_INT, to, i, dup, &sends[i]));
    }
    EPT_OK(t, MPI_Barrier(dup));
    for (int i = 0; i < 7; ++i) {
        EPT_OK(t, MPI_Recv(&in[i], 1, MPI_INT, 0 == i % 2 ? MPI_ANY_SOURCE : from,
                           2 == i % 4 ? i : MPI_ANY_TAG, dup, &status));
        EPT_EQ(t, 100 * from + i, in[i]);
        EPT_STATUS(t, &status, from, i, sizeof(int));
    }
    EPT_OK(t, MPI_Recv(&in[6], 1, MPI_INT, from, 7, dup, &status));
    EPT_EQ(t, 100 * from + 7, in[6]);
    EPT_OK(t, MPI_Waitall(8, sends, MPI_STATUSES_IGNORE));
    EPT_OK(t, MPI_Cancel(&waiting));
    EPT_OK(t, MPI_Wait(&waiting, MPI_STATUS_IGNORE));

    EPT_OK(t, MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 3, dup, &pending));
    set_key(dup, t, NO_ANY_SOURCE, "true");
    SHOWS(dup, t, NO_ANY_SOURCE, "false");
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Send(&out[5], 1, MPI_INT, to, 3, dup));
    EPT_OK(t, MPI_Wait(&pending, MPI_STATUS_IGNORE));
    EPT_EQ(t, 100 * from + 5, in[0]);
    set_key(dup, t, NO_ANY_SOURCE, "true");
    SHOWS(dup, t, NO_ANY_SOURCE, "true");
    EPT_OK(t, MPI_Comm_free(&dup));
}

/* ---- overtaking ------------------------------------------------------------------------------ */

#define LARGE 3000
#define MANY 40

/* The first rank of a process floods the second, which is not there, and sends a small message
 * behind. @return messages of the flood that the small one has overtaken */
static int overtaken(MPI_Comm comm, struct ept *t)
{
    static unsigned char out[LARGE];
    MPI_Request requests[MANY];
    int small = 77, before = 0;

    ept_local_barrier(t);
    if (0 == t->local) {
        for (int i = 0; i < MANY; ++i) {
            EPT_OK(t, MPI_Isend(out, LARGE, MPI_BYTE, t->rank + 1, TAG_LARGE, comm, &requests[i]));
        }
        EPT_OK(t, MPI_Send(&small, 1, MPI_INT, t->rank + 1, TAG_SMALL, comm));
    }
    ept_local_barrier(t);
    if (0 == t->local) {
        EPT_OK(t, MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    } else if (1 == t->local) {
        unsigned char in[LARGE];
        MPI_Status status;

        for (int i = 0; i <= MANY; ++i) {
            EPT_OK(t, MPI_Recv(in, LARGE, MPI_BYTE, t->rank - 1, MPI_ANY_TAG, comm, &status));
            if (TAG_SMALL == status.MPI_TAG) {
                EPT_STATUS(t, &status, t->rank - 1, TAG_SMALL, sizeof(int));
                before = MANY - i;
            } else {
                EPT_STATUS(t, &status, t->rank - 1, TAG_LARGE, LARGE);
            }
        }
    }
    return before;
}

static void case_overtaking(MPI_Comm comm, struct ept *t)
{
    const long rounds = ept_option_long("overtake", 3);
    int total = 0, sum = -1;
    MPI_Comm dup;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    for (long round = 0; round < rounds; ++round) {
        ept_phase(t, "in order, round %ld", round);
        EPT_EQ(t, 0, overtaken(dup, t));
    }
    set_key(dup, t, OVERTAKING, "true");
    for (long round = 0; round < rounds; ++round) {
        ept_phase(t, "round %ld", round);
        total += overtaken(dup, t);
    }
    if (1 == t->local && 3 < rounds) {
        EPT_CHECK(t, 0 < total, "no message has overtaken another in %ld rounds", rounds);
    }
    /* libmpi's own messages keep their order. */
    for (int round = 0; round < ROUNDS; ++round) {
        int value = t->rank * round, root = round % t->size, got = root == t->rank ? round : -1;

        EPT_OK(t, MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, dup));
        EPT_EQ(t, round * t->size * (t->size - 1) / 2, sum);
        EPT_OK(t, MPI_Bcast(&got, 1, MPI_INT, root, dup));
        EPT_EQ(t, round, got);
    }
    ring(dup, t, ROUNDS);
    EPT_OK(t, MPI_Comm_free(&dup));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_info);
    EPT_CASE(t, case_creation);
    EPT_CASE(t, case_other_comm);
    if (t->endpoints) {
        EPT_CASE(t, case_broken);
    } else {
        ept_skip(t, "case_broken", "nothing is said of a broken promise");
    }
    if (2 <= t->nlocal) {
        EPT_CASE(t, case_overtaking);
    } else {
        ept_skip(t, "case_overtaking", "needs two endpoints in a process");
    }
    return 0;
}
