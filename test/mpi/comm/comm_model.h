/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A communicator as a test knows it without asking MPI: its members and their order; and what can
 * be checked of it then. For comm_tree.c.
 *
 * Members are named by their ranks in the run's communicator, "g".
 */

#ifndef EPT_COMM_MODEL_H
#define EPT_COMM_MODEL_H

#include "ept.h"

enum { MODEL_RANKS_MAX = 64 };

/** Members; an intracommunicator has side 0 only. */
struct model {
    bool inter;
    int count[2];
    int member[2][MODEL_RANKS_MAX];
};

/** Rank of g in its side, -1 if it is no member. */
static inline int model_rank(const struct model *m, int g, int *side)
{
    for (*side = 0; *side < 2; ++*side) {
        for (int r = 0; r < m->count[*side]; ++r) {
            if (g == m->member[*side][r]) {
                return r;
            }
        }
    }
    return -1;
}

static inline bool model_has(const struct model *m, int g)
{
    int side;

    return 0 <= model_rank(m, g, &side);
}

/** The rank by which g addresses to, -1 if it cannot. */
static inline int model_address(const struct model *m, int g, int to)
{
    int side, to_side, rank = model_rank(m, g, &side), to_rank = model_rank(m, to, &to_side);

    return 0 <= rank && 0 <= to_rank && m->inter == (side != to_side) ? to_rank : -1;
}

static inline void model_add(struct model *m, int side, int g)
{
    m->member[side][m->count[side]++] = g;
}

/** What MPI_Comm_compare must say of two different communicators, seen by g. */
static inline int model_compare(const struct model *a, const struct model *b, int g)
{
    int side[2], result = MPI_CONGRUENT;

    (void) model_rank(a, g, &side[0]);
    (void) model_rank(b, g, &side[1]);
    if (a->inter != b->inter) {
        return MPI_UNEQUAL;
    }
    for (int i = 0; i < (a->inter ? 2 : 1); ++i) {
        int sa = 0 == i ? side[0] : 1 - side[0], sb = 0 == i ? side[1] : 1 - side[1], other;

        if (a->count[sa] != b->count[sb]) {
            return MPI_UNEQUAL;
        }
        for (int r = 0; r < a->count[sa]; ++r) {
            int rank = model_rank(b, a->member[sa][r], &other);

            if (0 > rank || other != sb) {
                return MPI_UNEQUAL;
            }
            result = rank == r ? result : MPI_SIMILAR;
        }
    }
    return result;
}

/** A group must have these members; all is the group of the run's communicator. */
static inline void model_check_group(struct ept *t, MPI_Group group, const int member[], int count,
                                     int rank, MPI_Group all)
{
    int size = -1, my_rank = -1, ranks[MODEL_RANKS_MAX], found[MODEL_RANKS_MAX];

    EPT_OK(t, MPI_Group_size(group, &size));
    EPT_EQ(t, count, size);
    EPT_OK(t, MPI_Group_rank(group, &my_rank));
    EPT_EQ(t, rank, my_rank);
    if (count != size) {
        return;
    }
    for (int r = 0; r < count; ++r) {
        ranks[r] = r;
        found[r] = -1;
    }
    EPT_OK(t, MPI_Group_translate_ranks(group, count, ranks, all, found));
    for (int r = 0; r < count; ++r) {
        EPT_EQ(t, member[r], found[r]);
    }
}

/** Rank, sizes and groups of comm as this rank sees them. */
static inline void model_check(struct ept *t, MPI_Comm comm, const struct model *m, MPI_Group all)
{
    int side, rank = model_rank(m, t->rank, &side), got = -1;
    MPI_Group group;

    EPT_OK(t, MPI_Comm_rank(comm, &got));
    EPT_EQ(t, rank, got);
    EPT_OK(t, MPI_Comm_size(comm, &got));
    EPT_EQ(t, m->count[side], got);
    EPT_OK(t, MPI_Comm_test_inter(comm, &got));
    EPT_EQ(t, m->inter, got);
    EPT_OK(t, MPI_Comm_group(comm, &group));
    model_check_group(t, group, m->member[side], m->count[side], rank, all);
    EPT_OK(t, MPI_Group_free(&group));
    if (m->inter) {
        EPT_OK(t, MPI_Comm_remote_size(comm, &got));
        EPT_EQ(t, m->count[1 - side], got);
        EPT_OK(t, MPI_Comm_remote_group(comm, &group));
        model_check_group(t, group, m->member[1 - side], m->count[1 - side], MPI_UNDEFINED, all);
        EPT_OK(t, MPI_Group_free(&group));
    }
}

#endif /* EPT_COMM_MODEL_H */
