/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Comm_merge: the members of the result, their order, and that it can be used.
 *
 *   --webs N   by chance (default 12)
 *
 * Guards: pml_epml_merge.c, pml_epml_discovery.c, pml_epml_traversal.c, pml_epml_graph.c, pml_epml_graph.h,
 * pml_epml_traversal.h, pml_epml_bootstrap.c, pml_epml_creation.c, pml_epml_phase_endpoints.c,
 * pml_epml_phase_handles.c, comm_merge.c
 */

#include "ept.h"

#define RANKS_MAX 64

/* Two groups of the run's ranks that are to be merged; -1: none. */
struct parts {
    int color[2][RANKS_MAX];
};

/* ---- the model ------------------------------------------------------------------------------- */

/* The ranks that hang together with one: members[rank] is true. */
static int hang_together(const struct parts *parts, int size, int rank, bool *members)
{
    int count = 1;
    bool grows = true;

    memset(members, 0, RANKS_MAX * sizeof(*members));
    members[rank] = true;
    while (grows) {
        grows = false;
        for (int i = 0; i < size; ++i) {
            for (int j = 0; members[i] && j < size; ++j) {
                const bool joined = (0 <= parts->color[0][i]
                                     && parts->color[0][i] == parts->color[0][j])
                                    || (0 <= parts->color[1][i]
                                        && parts->color[1][i] == parts->color[1][j]);

                if (joined && !members[j]) {
                    members[j] = grows = true;
                    ++count;
                }
            }
        }
    }
    return count;
}

/* Is this a communicator of these ranks of the run's, and this rank's own? */
static void check_members(struct ept *t, MPI_Comm comm, MPI_Comm merged, const bool *members,
                          int count)
{
    MPI_Group whole, group;
    int size, rank, ranks[RANKS_MAX], all[RANKS_MAX];
    bool seen[RANKS_MAX] = {false};

    EPT_OK(t, MPI_Comm_size(merged, &size));
    EPT_OK(t, MPI_Comm_rank(merged, &rank));
    EPT_EQ(t, count, size);
    if (count != size) {
        return;
    }
    EPT_OK(t, MPI_Comm_group(comm, &whole));
    EPT_OK(t, MPI_Comm_group(merged, &group));
    for (int i = 0; i < size; ++i) {
        all[i] = i;
    }
    EPT_OK(t, MPI_Group_translate_ranks(group, size, all, whole, ranks));
    for (int i = 0; i < size; ++i) {
        EPT_CHECK(t, 0 <= ranks[i] && members[ranks[i]] && !seen[ranks[i]],
                  "rank %d is %d of the run's, which is not to be there, or is there twice", i,
                  ranks[i]);
        if (0 <= ranks[i]) {
            seen[ranks[i]] = true;
        }
    }
    EPT_EQ(t, t->rank, ranks[rank]);
    EPT_OK(t, MPI_Group_free(&whole));
    EPT_OK(t, MPI_Group_free(&group));
}

/* In any order of ranks. */
static void use_and_free(struct ept *t, MPI_Comm *merged, int size)
{
    int rank = -1;

    EPT_OK(t, MPI_Comm_rank(*merged, &rank));
    ept_phase(t, "use of what was merged");
    ept_use_comm(t, *merged, rank, size);
    EPT_OK(t, MPI_Comm_free(merged));
}

/* Make the communicators, merge them, look at the result. */
static void merge_parts(MPI_Comm comm, struct ept *t, const struct parts *parts, uint64_t seed)
{
    MPI_Comm own[2], merged = MPI_COMM_NULL;
    bool members[RANKS_MAX];
    const int count = hang_together(parts, t->size, t->rank, members);
    uint64_t random = ept_mix(seed, (uint64_t) t->rank, 1, 0);
    const int first = (int) ept_random_below(&random, 2);

    for (int i = 0; i < 2; ++i) {
        const int color = parts->color[i][t->rank];

        EPT_OK(t, MPI_Comm_split(comm, 0 <= color ? color : MPI_UNDEFINED,
                                 (int) ept_random_below(&random, 100), &own[i]));
    }
    if (MPI_COMM_NULL == own[0] && MPI_COMM_NULL == own[1]) {
        return;
    }
    ept_phase(t, "merge");
    EPT_OK(t, MPIX_Comm_merge(own[first], own[!first], &merged));
    for (int i = 0; i < 2; ++i) {
        if (MPI_COMM_NULL != own[i]) {
            EPT_OK(t, MPI_Comm_free(&own[i]));
        }
    }
    if (MPI_COMM_NULL != merged) {
        check_members(t, comm, merged, members, count);
        use_and_free(t, &merged, count);
    }
}

/* ---- figures --------------------------------------------------------------------------------- */

/* 13 endpoints, two parts, four that pass two communicators: figure 3 of the proposal of 2011. */
static void case_figure(MPI_Comm comm, struct ept *t)
{
    static const int colors[2][13] = {{0, 0, 0, 0, 1, 1, 1, 1, 3, 3, 3, 4, 4},
                                      {-1, -1, -1, 2, 2, -1, -1, -1, -1, -1, 5, 5, -1}};
    struct parts parts;

    for (int i = 0; i < t->size; ++i) {
        parts.color[0][i] = i < 13 ? colors[0][i] : -1;
        parts.color[1][i] = i < 13 ? colors[1][i] : -1;
    }
    merge_parts(comm, t, &parts, t->seed);
}

/* A chain, each two adjacent ones; as a ring, each waits for the next one if anything is in
 * order. */
static void chain(MPI_Comm comm, struct ept *t, bool is_ring)
{
    MPI_Comm own[2] = {MPI_COMM_NULL, MPI_COMM_NULL}, merged;

    for (int i = 0; i < t->size; ++i) { /* members i and i + 1 */
        const bool is_member = (t->rank == i || t->rank == (i + 1) % t->size)
                               && (is_ring || i + 1 < t->size);
        MPI_Comm pair;

        EPT_OK(t, MPI_Comm_split(comm, is_member ? 0 : MPI_UNDEFINED, 0, &pair));
        if (is_member) {
            own[t->rank == i] = pair;
        }
    }
    ept_phase(t, "merge");
    EPT_OK(t, MPIX_Comm_merge(own[0], own[1], &merged));
    use_and_free(t, &merged, t->size);
    for (int i = 0; i < 2; ++i) {
        if (MPI_COMM_NULL != own[i]) {
            EPT_OK(t, MPI_Comm_free(&own[i]));
        }
    }
}

static void case_chain(MPI_Comm comm, struct ept *t)
{
    if (1 < t->size) {
        chain(comm, t, false);
    }
}

static void case_ring(MPI_Comm comm, struct ept *t)
{
    if (2 < t->size) {
        chain(comm, t, true);
    }
}

/* By chance: up to five groups of either kind, some ranks in none. */
static void case_webs(MPI_Comm comm, struct ept *t)
{
    const int webs = (int) ept_option_long("webs", 12);

    for (int web = 0; web < webs; ++web) {
        uint64_t random = ept_mix(t->seed, (uint64_t) web, 2, 0);
        struct parts parts;

        for (int i = 0; i < t->size; ++i) {
            parts.color[0][i] = (int) ept_random_below(&random, 6) - 1;
            parts.color[1][i] = (int) ept_random_below(&random, 6) - 1;
        }
        merge_parts(comm, t, &parts, random);
    }
}

/* ---- one, and the same ----------------------------------------------------------------------- */

static void case_one(MPI_Comm comm, struct ept *t)
{
    MPI_Comm self, merged, copy;
    int result;

    EPT_OK(t, MPI_Comm_split(comm, t->rank, 0, &self));
    EPT_OK(t, MPIX_Comm_merge(self, MPI_COMM_NULL, &merged));
    use_and_free(t, &merged, 1);
    EPT_OK(t, MPIX_Comm_merge(comm, MPI_COMM_NULL, &merged));
    EPT_OK(t, MPI_Comm_compare(comm, merged, &result));
    EPT_EQ(t, MPI_CONGRUENT, result);
    use_and_free(t, &merged, t->size);
    EPT_OK(t, PMPIX_Comm_merge(comm, comm, &merged));
    EPT_OK(t, MPI_Comm_compare(comm, merged, &result));
    EPT_EQ(t, MPI_CONGRUENT, result);
    use_and_free(t, &merged, t->size);
    /* One is a part of the other, or the other's copy. */
    EPT_OK(t, MPI_Comm_dup(comm, &copy));
    EPT_OK(t, MPIX_Comm_merge(self, comm, &merged));
    use_and_free(t, &merged, t->size);
    EPT_OK(t, MPIX_Comm_merge(0 == t->rank % 2 ? comm : copy, 0 == t->rank % 2 ? copy : comm,
                              &merged));
    use_and_free(t, &merged, t->size);
    EPT_OK(t, MPI_Comm_free(&copy));
    EPT_OK(t, MPI_Comm_free(&self));
}

/* What is made of what was merged, and what is not passed on. */
static void case_heirs(MPI_Comm comm, struct ept *t)
{
    MPI_Comm halves, merged, copy, rest;
    MPI_Errhandler handler;
    int *tag_ub, flag;

    EPT_OK(t, MPI_Comm_split(comm, t->rank % 2, 0, &halves));
    EPT_OK(t, MPI_Comm_set_errhandler(halves, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
    EPT_OK(t, MPIX_Comm_merge(halves, comm, &merged));
    EPT_OK(t, MPI_Comm_get_errhandler(merged, &handler));
    EPT_CHECK(t, MPI_ERRORS_RETURN == handler, "the error handler is not the first one's");
    EPT_OK(t, MPI_Comm_get_attr(merged, MPI_TAG_UB, &tag_ub, &flag));
    EPT_CHECK(t, flag && 32767 <= *tag_ub, "no tags");
    EPT_OK(t, MPI_Comm_dup(merged, &copy));
    use_and_free(t, &copy, t->size);
    EPT_OK(t, MPIX_Comm_merge(MPI_COMM_NULL, merged, &copy));
    EPT_OK(t, MPI_Comm_free(&merged));
    EPT_OK(t, MPIX_Comm_merge(copy, halves, &rest));
    EPT_OK(t, MPI_Comm_free(&copy));
    use_and_free(t, &rest, t->size);
    EPT_OK(t, MPI_Comm_free(&halves));
}

/* ---- with processes -------------------------------------------------------------------------- */

/* The processes in the opposite order; at one rank of each process. */
static MPI_Comm opposite(struct ept *t)
{
    MPI_Comm processes = MPI_COMM_NULL;

    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_split(MPI_COMM_WORLD, 0, -t->proc, &processes));
    }
    return processes;
}

/* A communicator of processes with that of each one's endpoints, as the proposal has it for
 * libraries: processes in their order, and the endpoints of each in theirs. */
static void case_process(MPI_Comm comm, struct ept *t)
{
    MPI_Comm process, processes = opposite(t), merged;
    int rank;

    EPT_OK(t, MPI_Comm_split(comm, t->proc, 0, &process));
    ept_phase(t, "merge with processes");
    EPT_OK(t, MPIX_Comm_merge(processes, process, &merged));
    EPT_OK(t, MPI_Comm_rank(merged, &rank));
    EPT_EQ(t, (t->nprocs - 1 - t->proc) * t->nlocal + t->local, rank);
    use_and_free(t, &merged, t->size);
    EPT_OK(t, MPI_Comm_free(&process));
    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_free(&processes));
    }
}

/* Processes alone, and with the endpoints of every second one. */
static void case_processes(MPI_Comm comm, struct ept *t)
{
    const bool joins = 0 == t->proc % 2;
    const int members = t->nprocs + (t->nprocs + 1) / 2 * (t->nlocal - 1);
    MPI_Comm process, merged;
    int result, rank;

    EPT_OK(t, MPI_Comm_split(comm, t->proc, 0, &process));
    if (0 == t->local) {
        ept_phase(t, "merge of processes");
        EPT_OK(t, MPIX_Comm_merge(MPI_COMM_WORLD, MPI_COMM_NULL, &merged));
        EPT_OK(t, MPI_Comm_compare(MPI_COMM_WORLD, merged, &result));
        EPT_EQ(t, MPI_CONGRUENT, result);
        EPT_OK(t, MPI_Comm_rank(merged, &rank));
        EPT_EQ(t, t->proc, rank);
        use_and_free(t, &merged, t->nprocs);
    }
    if (joins || 0 == t->local) {
        ept_phase(t, "merge of processes and endpoints");
        EPT_OK(t, MPIX_Comm_merge(joins ? process : MPI_COMM_NULL,
                                  0 == t->local ? MPI_COMM_WORLD : MPI_COMM_NULL, &merged));
        use_and_free(t, &merged, members);
    }
    EPT_OK(t, MPI_Comm_free(&process));
}

/* ---- of several creations -------------------------------------------------------------------- */

static void merge_strangers(MPI_Comm comm, struct ept *t, int index, void *context)
{
    const MPI_Comm *processes = context;
    MPI_Comm merged;

    EPT_OK(t, MPIX_Comm_merge(comm, 0 == index ? *processes : MPI_COMM_NULL, &merged));
    use_and_free(t, &merged, 2 * t->nprocs);
}

/* Endpoints that have never heard of each other: their creations were of a process each. */
static void case_strangers(MPI_Comm comm, struct ept *t)
{
    MPI_Comm processes = opposite(t), endpoints[2];

    (void) comm;
    if (0 == t->local) {
        EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, 2, MPI_INFO_NULL, endpoints));
        ept_on_each(t, endpoints, 2, merge_strangers, &processes);
        for (int i = 0; i < 2; ++i) {
            EPT_OK(t, MPI_Comm_free(&endpoints[i]));
        }
        EPT_OK(t, MPI_Comm_free(&processes));
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (RANKS_MAX < t->size) {
        return 1;
    }
    EPT_CASE(t, case_one);
    EPT_CASE(t, case_figure);
    EPT_CASE(t, case_chain);
    EPT_CASE(t, case_ring);
    EPT_CASE(t, case_webs);
    EPT_CASE(t, case_process);
    EPT_CASE(t, case_processes);
    EPT_CASE(t, case_strangers);
    EPT_CASE(t, case_heirs);
    return 0;
}
