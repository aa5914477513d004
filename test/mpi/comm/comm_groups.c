/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Groups of endpoints: every way to make one from others, against sets computed without MPI, by all
 * ranks at once. Above all each must find itself in its own group, whatever the way.
 *
 *   --steps N   groups to make at random (default 300)
 *
 * Guards: pml_epml_group.c, pml_epml_proc.c, hook_compare.c, hook_group.c
 */

#include "comm_model.h"

/** A group and what must be in it, as ranks of the run's communicator. */
struct set {
    MPI_Group group;
    int count, member[MODEL_RANKS_MAX];
};

void test_process_begin(void)
{
    /* Where errors of groups go. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static int position(const struct set *s, int g)
{
    for (int r = 0; r < s->count; ++r) {
        if (g == s->member[r]) {
            return r;
        }
    }
    return MPI_UNDEFINED;
}

static void check(struct ept *t, const struct set *s, const struct set *all)
{
    model_check_group(t, s->group, s->member, s->count, position(s, t->rank), all->group);
}

static void free_set(struct ept *t, struct set *s)
{
    if (MPI_GROUP_EMPTY == s->group) {
        return;
    }
    EPT_OK(t, MPI_Group_free(&s->group));
    EPT_CHECK(t, MPI_GROUP_NULL == s->group, "handle not null after MPI_Group_free");
}

static struct set all_of(MPI_Comm comm, struct ept *t)
{
    struct set s = {.count = t->size};

    EPT_OK(t, MPI_Comm_group(comm, &s.group));
    for (int r = 0; r < t->size; ++r) {
        s.member[r] = r;
    }
    return s;
}

/* ---- one step each ------------------------------------------------------------------------- */

/* Some of the ranks of a set, in random order. */
static int some_ranks(uint64_t *stream, const struct set *a, int ranks[])
{
    int n = 0;

    for (int r = 0; r < a->count; ++r) {
        if (0 != ept_random_below(stream, 3)) {
            int at = (int) ept_random_below(stream, (uint64_t) n + 1);

            ranks[n++] = ranks[at];
            ranks[at] = r;
        }
    }
    return n;
}

static struct set incl(struct ept *t, uint64_t *stream, const struct set *a)
{
    int ranks[MODEL_RANKS_MAX] = {0};
    struct set s = {.count = some_ranks(stream, a, ranks)};

    EPT_OK(t, MPI_Group_incl(a->group, s.count, ranks, &s.group));
    for (int i = 0; i < s.count; ++i) {
        s.member[i] = a->member[ranks[i]];
    }
    return s;
}

static struct set excl(struct ept *t, uint64_t *stream, const struct set *a)
{
    int ranks[MODEL_RANKS_MAX] = {0}, n = some_ranks(stream, a, ranks);
    struct set s = {.count = 0};

    EPT_OK(t, MPI_Group_excl(a->group, n, ranks, &s.group));
    for (int r = 0; r < a->count; ++r) {
        bool out = false;

        for (int i = 0; i < n; ++i) {
            out = out || r == ranks[i];
        }
        if (!out) {
            s.member[s.count++] = a->member[r];
        }
    }
    return s;
}

/* Two ranges, the first upwards in the lower half, the second downwards in the upper one. */
static struct set ranges(struct ept *t, uint64_t *stream, const struct set *a, bool include)
{
    int low = a->count / 2, range[2][3], n = 0;
    bool named[MODEL_RANKS_MAX] = {false};
    struct set s = {.count = 0};

    for (int i = 0; i < 2; ++i) {
        int first = 0 == i ? 0 : low, size = 0 == i ? low : a->count - low;
        int stride = 1 + (int) ept_random_below(stream, 3);

        if (0 < size) {
            range[n][0] = 0 == i ? first : first + size - 1;
            range[n][1] = 0 == i ? first + size - 1 : first;
            range[n][2] = 0 == i ? stride : -stride;
            for (int r = range[n][0]; r >= first && r < first + size; r += range[n][2]) {
                named[r] = true;
                if (include) {
                    s.member[s.count++] = a->member[r];
                }
            }
            ++n;
        }
    }
    for (int r = 0; !include && r < a->count; ++r) {
        if (!named[r]) {
            s.member[s.count++] = a->member[r];
        }
    }
    if (include) {
        EPT_OK(t, MPI_Group_range_incl(a->group, n, range, &s.group));
    } else {
        EPT_OK(t, MPI_Group_range_excl(a->group, n, range, &s.group));
    }
    return s;
}

static struct set set_union(struct ept *t, const struct set *a, const struct set *b)
{
    struct set s = *a;

    for (int r = 0; r < b->count; ++r) {
        if (MPI_UNDEFINED == position(a, b->member[r])) {
            s.member[s.count++] = b->member[r];
        }
    }
    EPT_OK(t, MPI_Group_union(a->group, b->group, &s.group));
    return s;
}

static struct set intersection(struct ept *t, const struct set *a, const struct set *b, bool in)
{
    struct set s = {.count = 0};

    for (int r = 0; r < a->count; ++r) {
        if (in == (MPI_UNDEFINED != position(b, a->member[r]))) {
            s.member[s.count++] = a->member[r];
        }
    }
    if (in) {
        EPT_OK(t, MPI_Group_intersection(a->group, b->group, &s.group));
    } else {
        EPT_OK(t, MPI_Group_difference(a->group, b->group, &s.group));
    }
    return s;
}

static void check_pair(struct ept *t, const struct set *a, const struct set *b)
{
    int ranks[MODEL_RANKS_MAX + 1], found[MODEL_RANKS_MAX + 1], result = -1;
    int expected = a->count == b->count ? MPI_IDENT : MPI_UNEQUAL;

    for (int r = 0; r < a->count; ++r) {
        int at = position(b, a->member[r]);

        ranks[r] = r;
        if (MPI_UNEQUAL != expected && at != r) {
            expected = MPI_UNDEFINED == at ? MPI_UNEQUAL : MPI_SIMILAR;
        }
    }
    EPT_OK(t, MPI_Group_compare(a->group, b->group, &result));
    EPT_EQ(t, expected, result);
    ranks[a->count] = MPI_PROC_NULL;
    EPT_OK(t, MPI_Group_translate_ranks(a->group, a->count + 1, ranks, b->group, found));
    for (int r = 0; r < a->count; ++r) {
        EPT_EQ(t, position(b, a->member[r]), found[r]);
    }
    /* Open MPI gives MPI_UNDEFINED where one of the groups is empty. */
    if (0 < a->count && 0 < b->count) {
        EPT_EQ(t, MPI_PROC_NULL, found[a->count]);
    }
}

/* ---- cases --------------------------------------------------------------------------------- */

/* Groups of groups of groups. */
static void case_random(MPI_Comm comm, struct ept *t)
{
    enum { KEPT = 8 };
    struct set sets[KEPT], all = all_of(comm, t), made = all;
    uint64_t stream = ept_mix(t->seed, (uint64_t) t->rank, 0, 0);
    long steps = ept_option_long("steps", 300);

    for (int i = 0; i < KEPT; ++i) {
        sets[i] = all_of(comm, t);
    }
    for (long step = 0; step < steps; ++step) {
        int way = (int) ept_random_below(&stream, 8);
        struct set *a = &sets[ept_random_below(&stream, KEPT)];
        struct set *b = &sets[ept_random_below(&stream, KEPT)];
        struct set *place = &sets[ept_random_below(&stream, KEPT)];

        ept_phase(t, "step %ld, way %d", step, way);
        switch (way) {
        case 0:
            made = incl(t, &stream, a);
            break;
        case 1:
            made = excl(t, &stream, a);
            break;
        case 2:
        case 3:
            made = ranges(t, &stream, a, 2 == way);
            break;
        case 4:
            made = intersection(t, a, b, true);
            break;
        case 5:
            made = intersection(t, a, b, false);
            break;
        case 6:
            made = set_union(t, a, b);
            break;
        default:
            made = all_of(comm, t);
            break;
        }
        check(t, &made, &all);
        check_pair(t, a, b);
        check_pair(t, &made, a);
        free_set(t, place);
        *place = made;
    }
    for (int i = 0; i < KEPT; ++i) {
        free_set(t, &sets[i]);
    }
    free_set(t, &all);
}

/* The groups of communicators made from a group: the way there and back. */
static void case_of_comms(MPI_Comm comm, struct ept *t)
{
    uint64_t stream = ept_mix(t->seed, 1, 2, 3); /* the same on all ranks */
    struct set all = all_of(comm, t);

    for (int round = 0; round < 10; ++round) {
        struct set part = incl(t, &stream, &all), back = part, rest;
        MPI_Comm made = MPI_COMM_NULL;

        ept_phase(t, "round %d", round);
        EPT_OK(t, MPI_Comm_create(comm, part.group, &made));
        EPT_EQ(t, MPI_UNDEFINED != position(&part, t->rank), MPI_COMM_NULL != made);
        if (MPI_COMM_NULL != made) {
            EPT_OK(t, MPI_Comm_group(made, &back.group));
            check(t, &back, &all);
            check_pair(t, &back, &part);
            rest = intersection(t, &all, &back, false);
            check(t, &rest, &all);
            EPT_OK(t, MPI_Comm_free(&made));
            /* Groups outlive the communicator. */
            check(t, &back, &all);
            free_set(t, &rest);
            free_set(t, &back);
        }
        free_set(t, &part);
    }
    free_set(t, &all);
}

/**
 * Groups of processes and of endpoints in one call: index 0 of each process is the process, the
 * others are in no group of processes. Members of the world are named by the ranks of the
 * endpoints that they are.
 */
static void case_processes(MPI_Comm comm, struct ept *t)
{
    struct set all = all_of(comm, t), world = {.count = t->nprocs}, made;
    int result = -1;

    EPT_OK(t, MPI_Comm_group(MPI_COMM_WORLD, &world.group));
    for (int p = 0; p < t->nprocs; ++p) {
        world.member[p] = p * t->nlocal;
    }
    check_pair(t, &all, &world);
    check_pair(t, &world, &all);

    ept_phase(t, "union");
    made = set_union(t, &all, &world);
    check(t, &made, &all);
    free_set(t, &made);
    made = set_union(t, &world, &all);
    check(t, &made, &all);
    free_set(t, &made);

    ept_phase(t, "intersection, difference");
    made = intersection(t, &all, &world, true);
    check(t, &made, &all);
    EPT_OK(t, MPI_Group_compare(made.group, world.group, &result));
#if defined(HAVE_EP)
    /* The process's members in its order; but the endpoint is not among them. */
    EPT_EQ(t, 0 == t->local ? MPI_IDENT : MPIX_ALIASED, result);
#else
    EPT_EQ(t, MPI_IDENT, result);
#endif
    free_set(t, &made);
    made = intersection(t, &all, &world, false);
    check(t, &made, &all);
    free_set(t, &made);
    made = intersection(t, &world, &all, false);
    EPT_EQ(t, 0, made.count);
    EPT_OK(t, MPI_Group_compare(made.group, MPI_GROUP_EMPTY, &result));
    EPT_EQ(t, MPI_IDENT, result);
    free_set(t, &made);

    /* The process's own groups know nothing of endpoints. */
    EPT_OK(t, MPI_Group_rank(world.group, &result));
    EPT_EQ(t, t->proc, result);
    free_set(t, &world);
    free_set(t, &all);
}

static void case_errors(MPI_Comm comm, struct ept *t)
{
    struct set all = all_of(comm, t);
    int ranks[2] = {t->size, 0}, range[2][3] = {{0, t->size, 1}, {0, 0, 0}}, value;
    MPI_Group got = MPI_GROUP_NULL, null = MPI_GROUP_NULL;

    EPT_CLASS(t, MPI_ERR_RANK, MPI_Group_incl(all.group, 1, ranks, &got));
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Group_excl(all.group, 1, ranks, &got));
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Group_range_incl(all.group, 1, range, &got));
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Group_range_excl(all.group, 1, range, &got));
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Group_range_incl(all.group, 1, &range[1], &got));
    ranks[0] = -1;
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Group_incl(all.group, 1, ranks, &got));
    EPT_CLASS(t, MPI_ERR_GROUP, MPI_Group_rank(null, &value));
    EPT_CLASS(t, MPI_ERR_GROUP, MPI_Group_size(null, &value));
    EPT_CLASS(t, MPI_ERR_GROUP, MPI_Group_union(all.group, null, &got));
    EPT_CLASS(t, MPI_ERR_GROUP, MPI_Group_free(&null));
    EPT_CHECK(t, MPI_GROUP_NULL == got, "a group came with an error");
    check(t, &all, &all);
    free_set(t, &all);
}

#if defined(HAVE_EP)
/* A group that knows another owner than the endpoint that gives it: the process's own. */
static void case_another_owner(MPI_Comm comm, struct ept *t)
{
    MPI_Group world;
    MPI_Comm made = MPI_COMM_NULL;
    int rank = -1, size = -1, sum = -1;

    EPT_OK(t, MPI_Comm_group(MPI_COMM_WORLD, &world));
    EPT_OK(t, MPI_Comm_create(comm, world, &made));
    EPT_EQ(t, 0 == t->local, MPI_COMM_NULL != made);
    if (MPI_COMM_NULL != made) {
        EPT_OK(t, MPI_Comm_rank(made, &rank));
        EPT_OK(t, MPI_Comm_size(made, &size));
        EPT_EQ(t, t->proc, rank);
        EPT_EQ(t, t->nprocs, size);
        EPT_OK(t, MPI_Allreduce(&t->rank, &sum, 1, MPI_INT, MPI_SUM, made));
        EPT_EQ(t, t->nlocal * t->nprocs * (t->nprocs - 1) / 2, sum);
        EPT_OK(t, MPI_Comm_free(&made));
    }
    /* It still is the process's. */
    EPT_OK(t, MPI_Group_rank(world, &rank));
    EPT_EQ(t, t->proc, rank);
    EPT_OK(t, MPI_Group_free(&world));
}

/* A group that another endpoint of the process has made: what comes of it is the caller's. */
static void case_group_of_another(MPI_Comm comm, struct ept *t)
{
    static MPI_Group shared;
    MPI_Group group;
    MPI_Comm made;
    int rank = -1;

    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_group(comm, &shared));
    }
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Comm_create(comm, shared, &made));
    EPT_OK(t, MPI_Comm_rank(made, &rank));
    EPT_EQ(t, t->rank, rank);
    EPT_OK(t, MPI_Comm_group(made, &group));
    EPT_OK(t, MPI_Group_rank(group, &rank));
    EPT_EQ(t, t->rank, rank);
    EPT_OK(t, MPI_Group_free(&group));
    EPT_OK(t, MPI_Comm_free(&made));
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->local) {
        EPT_OK(t, MPI_Group_free(&shared));
    }
}

/* A group that is no part of the communicator: an error for all, and nobody waits. */
static void case_no_part(MPI_Comm comm, struct ept *t)
{
    MPI_Group whole;
    MPI_Comm half, made;

    if (2 > t->size) {
        return;
    }
    EPT_OK(t, MPI_Comm_group(comm, &whole));
    EPT_OK(t, MPI_Comm_split(comm, t->rank % 2, t->rank, &half));
    EPT_OK(t, MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN));
    EPT_CLASS(t, MPI_ERR_GROUP, MPI_Comm_create(half, whole, &made));
    EPT_CLASS(t, MPI_ERR_GROUP, MPI_Comm_create_group(half, whole, 3, &made));
    /* All is well afterwards. */
    EPT_OK(t, MPI_Comm_dup(half, &made));
    EPT_OK(t, MPI_Barrier(made));
    EPT_OK(t, MPI_Comm_free(&made));
    EPT_OK(t, MPI_Comm_free(&half));
    EPT_OK(t, MPI_Group_free(&whole));
}

/* One process has no room left in its table of communicators: an error for all, again and again,
 * and all is well once there is room. */
static void case_full_table(MPI_Comm comm, struct ept *t)
{
    enum { MOST = 70000 };
    static MPI_Comm *fill;
    static int filled;
    MPI_Comm own, made;

    EPT_OK(t, MPI_Comm_dup(comm, &own));
    EPT_OK(t, MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Barrier(own));
    if (0 == t->local && t->proc == t->nprocs - 1) {
        fill = malloc(MOST * sizeof(*fill));
        EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
        ept_phase(t, "fill the table");
        for (filled = 0; filled < MOST; ++filled) {
            if (MPI_SUCCESS != MPI_Comm_dup(MPI_COMM_SELF, &fill[filled])) {
                break;
            }
        }
    }
    EPT_OK(t, MPI_Barrier(own));
    ept_phase(t, "no room");
    for (int round = 0; round < 3; ++round) {
        EPT_CHECK(t, MPI_SUCCESS != MPI_Comm_dup(own, &made), "a dup without room");
        EPT_CHECK(t, MPI_SUCCESS != MPI_Comm_split(own, 0, t->rank, &made), "a split without room");
    }
    EPT_OK(t, MPI_Barrier(own));
    if (0 == t->local && t->proc == t->nprocs - 1) {
        for (int i = 0; i < filled; ++i) {
            EPT_OK(t, MPI_Comm_free(&fill[i]));
        }
        free(fill);
        EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    }
    EPT_OK(t, MPI_Barrier(own));
    ept_phase(t, "room again");
    EPT_OK(t, MPI_Comm_dup(own, &made));
    EPT_OK(t, MPI_Barrier(made));
    EPT_OK(t, MPI_Comm_free(&made));
    EPT_OK(t, MPI_Comm_free(&own));
}
#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (MODEL_RANKS_MAX < t->size) {
        ept_skip(t, "all", "too many ranks");
        return 0;
    }
    EPT_CASE(t, case_random);
    EPT_CASE(t, case_of_comms);
    EPT_CASE(t, case_processes);
    EPT_CASE(t, case_errors);
#if defined(HAVE_EP)
    if (t->endpoints) {
        EPT_CASE(t, case_another_owner);
        EPT_CASE(t, case_group_of_another);
        EPT_CASE(t, case_no_part);
        EPT_CASE(t, case_full_table);
    }
#endif
    return 0;
}
