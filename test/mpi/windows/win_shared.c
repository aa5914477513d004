/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Shared windows: parts without gaps in the order of ranks, or apart where the user has asked for
 * it; sizes of 0, of one member, some or all; what MPI_Win_shared_query says; loads and stores of
 * all members in all parts.  Of members on several nodes, or that cannot share memory, a shared
 * window is an error at all.
 *
 * Guards: osc_epwin_create.c, osc_epwin_data.c, osc_epwin_peers.c, osc_epwin_query.c
 */

#include "ept.h"

/** Sizes in bytes of a case, by rank. */
typedef MPI_Aint (*size_fn_t)(int rank);

static MPI_Aint size_same(int rank)
{
    (void) rank;
    return 240;
}

static MPI_Aint size_uneven(int rank)
{
    return 3 == rank % 4 ? 100000 : 8 * (rank % 3);
}

static MPI_Aint size_last(int rank)
{
    return 1 == rank ? 808 : 0;
}

static MPI_Aint size_none(int rank)
{
    (void) rank;
    return 0;
}

static int unit_of(int rank)
{
    return 1 + rank % 4;
}

/** A window, its parts as the members see them. */
struct shared {
    MPI_Win win;
    int rank, size;
    unsigned char *base, **part;
    size_fn_t bytes;
    bool is_contiguous;
};

static void check_queries(struct shared *s, struct ept *t)
{
    unsigned char *address = (unsigned char *) &address;
    MPI_Aint size, total = 0;
    int unit, first = 0;

    for (int rank = 0; rank < s->size; ++rank) {
        EPT_OK(t, MPI_Win_shared_query(s->win, rank, &size, &unit, &s->part[rank]));
        EPT_EQ(t, s->bytes(rank), size);
        EPT_EQ(t, unit_of(rank), unit);
        total += size;
        first = 0 == s->bytes(first) && 0 < size ? rank : first;
        if (s->is_contiguous && 0 < rank && 0 < total && 0 < s->bytes(rank - 1)) {
            EPT_EQ(t, s->bytes(rank - 1), s->part[rank] - s->part[rank - 1]);
        }
        if (0 == size && !s->is_contiguous) {
            EPT_CHECK(t, NULL == s->part[rank], "an empty part at %p", (void *) s->part[rank]);
        }
    }
    EPT_CHECK(t, s->base == s->part[s->rank], "%p instead of %p", (void *) s->part[s->rank],
              (void *) s->base);
    EPT_OK(t, MPI_Win_shared_query(s->win, MPI_PROC_NULL, &size, &unit, &address));
    EPT_EQ(t, s->bytes(first), size);
    EPT_CHECK(t, address == (0 == total ? NULL : s->part[first]), "first part at %p",
              (void *) address);
}

/** Byte by byte: all that members store is seen by all. */
static void check_stores(struct shared *s, struct ept *t)
{
    for (int round = 0; round < 2; ++round) {
        for (int rank = 0; rank < s->size; ++rank) {
            EPT_OK(t, MPI_Win_fence(0, s->win));
            if ((rank + round) % s->size == s->rank && 0 < s->bytes(rank)) {
                ept_fill(s->part[rank], 0, (size_t) s->bytes(rank),
                         ept_mix(t->seed, (uint64_t) rank, (uint64_t) round, 3));
            }
        }
        EPT_OK(t, MPI_Win_fence(0, s->win));
        for (int rank = 0; rank < s->size; ++rank) {
            EPT_FILL(t, s->part[rank], (size_t) s->bytes(rank),
                     ept_mix(t->seed, (uint64_t) rank, (uint64_t) round, 3));
        }
    }
}

static void use_shared(MPI_Comm comm, struct ept *t, const char *noncontig, size_fn_t bytes)
{
    struct shared s = {.bytes = bytes, .is_contiguous = NULL == noncontig};
    MPI_Info info = MPI_INFO_NULL;

    EPT_OK(t, MPI_Comm_rank(comm, &s.rank));
    EPT_OK(t, MPI_Comm_size(comm, &s.size));
    s.part = calloc((size_t) s.size, sizeof(*s.part));
    if (NULL != noncontig) {
        EPT_OK(t, MPI_Info_create(&info));
        EPT_OK(t, MPI_Info_set(info, "alloc_shared_noncontig", noncontig));
    }
    EPT_OK(t, MPI_Win_allocate_shared(bytes(s.rank), unit_of(s.rank), info, comm, &s.base, &s.win));
    check_queries(&s, t);
    check_stores(&s, t);
    EPT_OK(t, MPI_Win_free(&s.win));
    if (NULL != noncontig) {
        EPT_OK(t, MPI_Info_free(&info));
    }
    free(s.part);
}

static void use_sizes(MPI_Comm comm, struct ept *t)
{
    static const size_fn_t sizes[] = {size_same, size_uneven, size_last, size_none};

    for (int i = 0; i < 4; ++i) {
        ept_phase(t, "sizes %d", i);
        use_shared(comm, t, NULL, sizes[i]);
        use_shared(comm, t, "true", sizes[i]);
    }
}

/** With --apart 1 the processes of the node cannot share memory. */
static void case_node(MPI_Comm comm, struct ept *t)
{
    MPI_Comm node;

    if (0 == ept_option_long("apart", 0)) {
        EPT_OK(t, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    } else {
        EPT_OK(t, MPI_Comm_split(comm, t->proc, t->rank, &node));
    }
    use_sizes(node, t);
    EPT_OK(t, MPI_Comm_free(&node));
}

/** An error at each member, whatever the sizes. */
static void check_refused(MPI_Comm comm, struct ept *t)
{
    MPI_Win win;
    int *base;

    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int i = 0; i < 3; ++i) {
        win = MPI_WIN_NULL;
        EPT_CLASS(t, MPI_ERR_RMA_SHARED,
                  MPI_Win_allocate_shared(1 == i && t->rank == 0 ? 0 : 8, 1, MPI_INFO_NULL, comm,
                                          &base, &win));
        EPT_CHECK(t, MPI_WIN_NULL == win, "the handle is not MPI_WIN_NULL");
    }
    ept_use_comm(t, comm, t->rank, t->size);
}

/** Of all: a window, or an error at each member. */
static void case_all(MPI_Comm comm, struct ept *t)
{
    MPI_Comm node;
    int size;

    EPT_OK(t, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    EPT_OK(t, MPI_Comm_size(node, &size));
    EPT_OK(t, MPI_Comm_free(&node));
    if (size == t->size && 0 == ept_option_long("apart", 0)) {
        use_sizes(comm, t);
    } else {
        check_refused(comm, t);
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_node);
    EPT_CASE(t, case_all);
    return 0;
}
