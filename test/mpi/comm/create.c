/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Comm_create_endpoints: ranks, sizes and groups for all kinds of counts per process; many
 * communicators alive at once; every kind of parent; every way to free.
 *
 * One thread per process (local rank 0) creates over MPI_COMM_WORLD while the other threads of the
 * process, which hold endpoints already, wait; the handles are then used by threads of their own.
 *
 *   --owed 1  only: endpoints that go while they owe answers
 *
 * Guards: btl_epshm_component.c, comm_disconnect.c, component_path.c, pml_epml_address.c,
 * pml_epml_create.c, pml_epml_creation.c, pml_epml_ep.c, pml_epml_ep_destroy.c, pml_epml_handle.c,
 * pml_epml_bootstrap.c, pml_epml_misspelt.c, pml_epml_phase_endpoints.c, pml_epml_phase_handles.c,
 * pml_epml_phase_tables.c, pml_epml_transport.c, pml_epml_ep_transports.c, register.c, table.c
 */

#include "ept.h"

#include <unistd.h>

#define MAX_EP 16

/* How many endpoints process proc of nprocs asks for, by pattern. */
typedef int (*pattern_fn_t)(int proc, int nprocs);

static int one_each(int proc, int nprocs)
{
    (void) proc;
    (void) nprocs;
    return 1;
}

static int three_each(int proc, int nprocs)
{
    (void) proc;
    (void) nprocs;
    return 3;
}

static int rising_to_two(int proc, int nprocs)
{
    (void) nprocs;
    return 1 + proc % 2;
}

static int rising(int proc, int nprocs)
{
    (void) nprocs;
    return proc + 1;
}

static int not_the_first(int proc, int nprocs)
{
    (void) nprocs;
    return 0 == proc ? 0 : 2;
}

static int not_the_last(int proc, int nprocs)
{
    return proc == nprocs - 1 ? 0 : 4;
}

static int odd_ones(int proc, int nprocs)
{
    (void) nprocs;
    return 1 == proc % 2 ? 2 : 0;
}

static int many_and_one(int proc, int nprocs)
{
    (void) nprocs;
    return 0 == proc ? MAX_EP : 1;
}

static int only_the_last(int proc, int nprocs)
{
    return proc == nprocs - 1 ? 5 : 0;
}

static int none(int proc, int nprocs)
{
    (void) proc;
    (void) nprocs;
    return 0;
}

static const struct {
    const char *name;
    pattern_fn_t count;
} patterns[] = {{"1 each", one_each},
                {"3 each", three_each},
                {"rising", rising},
                {"0 on the first", not_the_first},
                {"0 on the last", not_the_last},
                {"odd processes", odd_ones},
                {"many and 1", many_and_one},
                {"the last only", only_the_last},
                {"none", none}};
#define NUM_PATTERNS ((int) (sizeof(patterns) / sizeof(patterns[0])))

/** One set of endpoints over a parent of which this process has rank proc. */
struct set {
    MPI_Comm comms[MAX_EP];
    int num, first, total;
};

/* first and total from what every process asks for. */
static struct set expect(struct ept *t, pattern_fn_t count, int proc, int nprocs)
{
    struct set s = {.num = 0};

    for (int p = 0; p < nprocs; ++p) {
        int num = ept_count(t, count(p, nprocs));

        s.first += p < proc ? num : 0;
        s.num = p == proc ? num : s.num;
        s.total += num;
    }
    for (int i = 0; i < MAX_EP; ++i) {
        s.comms[i] = MPI_COMM_NULL;
    }
    return s;
}

static struct set create(struct ept *t, MPI_Comm parent, pattern_fn_t count, int proc, int nprocs)
{
    struct set s = expect(t, count, proc, nprocs);

    /* With a count of 0 the array is not looked at. */
    EPT_OK(t, ept_create_endpoints(parent, s.num, MPI_INFO_NULL, 0 == s.num ? NULL : s.comms));
    for (int i = 0; i < MAX_EP; ++i) {
        EPT_EQ(t, i < s.num, MPI_COMM_NULL != s.comms[i]);
    }
    return s;
}

static void use_handle(MPI_Comm comm, struct ept *t, int index, void *context)
{
    const struct set *s = context;

    ept_use_comm(t, comm, s->first + index, s->total);
}

static void use(struct ept *t, struct set *s)
{
    ept_on_each(t, s->comms, s->num, use_handle, s);
}

static void free_handle(MPI_Comm comm, struct ept *t, int index, void *context)
{
    struct set *s = context;

    (void) comm;
    EPT_OK(t, MPI_Comm_free(&s->comms[index]));
    EPT_CHECK(t, MPI_COMM_NULL == s->comms[index], "handle not null after MPI_Comm_free");
}

static void free_by_owners(struct ept *t, struct set *s)
{
    ept_on_each(t, s->comms, s->num, free_handle, s);
}

/* Index 0 is the calling process; the others are in no group of the parent. */
static void check_groups(struct ept *t, const struct set *s, MPI_Comm parent)
{
    MPI_Group mine, parents;
    int parent_rank, result = -1;

    EPT_OK(t, MPI_Comm_rank(parent, &parent_rank));
    EPT_OK(t, MPI_Comm_group(parent, &parents));
    for (int i = 0; i < s->num; ++i) {
        int rank = s->first + i, translated = -99, size = -1, back = -99;

        EPT_OK(t, MPI_Comm_group(s->comms[i], &mine));
        EPT_OK(t, MPI_Group_size(mine, &size));
        EPT_EQ(t, s->total, size);
        EPT_OK(t, MPI_Group_rank(mine, &back));
        EPT_EQ(t, rank, back);
        EPT_OK(t, MPI_Group_translate_ranks(mine, 1, &rank, parents, &translated));
        EPT_EQ(t, 0 == i ? parent_rank : MPI_UNDEFINED, translated);
        EPT_OK(t, MPI_Group_translate_ranks(parents, 1, &parent_rank, mine, &back));
        EPT_EQ(t, s->first, back);
        EPT_OK(t, MPI_Comm_compare(s->comms[i], s->comms[i], &result));
        EPT_EQ(t, MPI_IDENT, result);
        EPT_OK(t, MPI_Group_free(&mine));
    }
    for (int i = 1; i < s->num; ++i) {
        EPT_OK(t, MPI_Comm_compare(s->comms[0], s->comms[i], &result));
        EPT_CHECK(t, MPI_IDENT != result && MPI_UNEQUAL != result,
                  "handles 0 and %d of one communicator compare as %d", i, result);
    }
    EPT_OK(t, MPI_Group_free(&parents));
}

static void check_compare(struct ept *t, const struct set *s, MPI_Comm parent, bool one_everywhere)
{
    int result = -1;

    if (0 < s->num) {
        EPT_OK(t, MPI_Comm_compare(s->comms[0], parent, &result));
        EPT_EQ(t, one_everywhere ? MPI_CONGRUENT : MPI_UNEQUAL, result);
    }
}

static void case_counts(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    for (int k = 0; 0 == t->local && k < NUM_PATTERNS; ++k) {
        struct set s;
        bool one_everywhere = true;

        ept_phase(t, "%s: create", patterns[k].name);
        s = create(t, MPI_COMM_WORLD, patterns[k].count, t->proc, t->nprocs);
        for (int p = 0; p < t->nprocs; ++p) {
            one_everywhere = one_everywhere && 1 == ept_count(t, patterns[k].count(p, t->nprocs));
        }
        check_groups(t, &s, MPI_COMM_WORLD);
        check_compare(t, &s, MPI_COMM_WORLD, one_everywhere);
        ept_phase(t, "%s: use", patterns[k].name);
        use(t, &s);
        ept_phase(t, "%s: free", patterns[k].name);
        free_by_owners(t, &s);
    }
    ept_local_barrier(t);
}

/* A dozen sets alive, used one after another and in the opposite order, freed in a third. */
static void case_many_alive(MPI_Comm comm, struct ept *t)
{
    enum { MANY = 12 };
    struct set sets[MANY];

    (void) comm;
    if (0 == t->local) {
        for (int k = 0; k < MANY; ++k) {
            ept_phase(t, "create %d", k);
            sets[k] = create(t, MPI_COMM_WORLD, patterns[k % NUM_PATTERNS].count, t->proc,
                             t->nprocs);
        }
        for (int k = 0; k < 2 * MANY; ++k) {
            ept_phase(t, "use %d", k);
            use(t, &sets[k < MANY ? k : 2 * MANY - 1 - k]);
        }
        for (int k = 0; k < MANY; ++k) {
            ept_phase(t, "free %d", k);
            free_by_owners(t, &sets[(5 * k + 3) % MANY]);
        }
    }
    ept_local_barrier(t);
}

static void disconnect_handle(MPI_Comm comm, struct ept *t, int index, void *context)
{
    struct set *s = context;

    (void) comm;
    EPT_OK(t, MPI_Comm_disconnect(&s->comms[index]));
    EPT_CHECK(t, MPI_COMM_NULL == s->comms[index], "handle not null after MPI_Comm_disconnect");
}

/* By its own thread, or all by one thread, upwards, downwards, from the middle. */
static void case_free(MPI_Comm comm, struct ept *t)
{
    static const char *const ways[] = {"owners",
                                       "disconnect by owners",
                                       "upwards",
                                       "downwards",
                                       "mixed",
                                       "disconnect upwards",
                                       "disconnect downwards"};
    enum { OWNERS, DISCONNECT_OWNERS, UP, DOWN, MIXED, DISCONNECT_UP, DISCONNECT_DOWN, WAYS };

    (void) comm;
    for (int way = 0; 0 == t->local && way < WAYS; ++way) {
        struct set s = create(t, MPI_COMM_WORLD, three_each, t->proc, t->nprocs);

        ept_phase(t, "%s: use", ways[way]);
        use(t, &s);
        ept_phase(t, "%s: free", ways[way]);
        if (OWNERS == way) {
            free_by_owners(t, &s);
        } else if (DISCONNECT_OWNERS == way) {
            ept_on_each(t, s.comms, s.num, disconnect_handle, &s);
        } else {
            for (int i = 0; i < s.num; ++i) {
                bool down = DOWN == way || DISCONNECT_DOWN == way;
                int index = down ? s.num - 1 - i : MIXED == way ? (i + 1) % s.num : i;

                if (DISCONNECT_UP <= way) {
                    disconnect_handle(MPI_COMM_NULL, t, index, &s);
                } else {
                    free_handle(MPI_COMM_NULL, t, index, &s);
                }
            }
        }
    }
    ept_local_barrier(t);
}

/* MPI_COMM_SELF, a duplicate, halves of the world. */
static void case_parents(MPI_Comm comm, struct ept *t)
{
    MPI_Comm parent;
    struct set s;
    int proc, nprocs;

    (void) comm;
    if (0 == t->local) {
        ept_phase(t, "self");
        s = create(t, MPI_COMM_SELF, three_each, 0, 1);
        check_groups(t, &s, MPI_COMM_SELF);
        use(t, &s);
        free_by_owners(t, &s);

        ept_phase(t, "duplicate");
        EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &parent));
        s = create(t, parent, rising, t->proc, t->nprocs);
        /* The parent may go first. */
        EPT_OK(t, MPI_Comm_free(&parent));
        use(t, &s);
        free_by_owners(t, &s);

        ept_phase(t, "halves, in the opposite order");
        EPT_OK(t, MPI_Comm_split(MPI_COMM_WORLD, t->proc % 2, -t->proc, &parent));
        EPT_OK(t, MPI_Comm_rank(parent, &proc));
        EPT_OK(t, MPI_Comm_size(parent, &nprocs));
        s = create(t, parent, rising, proc, nprocs);
        check_groups(t, &s, parent);
        use(t, &s);
        free_by_owners(t, &s);
        EPT_OK(t, MPI_Comm_free(&parent));
    }
    ept_local_barrier(t);
}

/* Endpoints of endpoints, from a handle that is an endpoint itself. */
static void second_floor(MPI_Comm comm, struct ept *t, int index, void *context)
{
    const struct set *below = context;
    struct set s = create(t, comm, rising_to_two, below->first + index, below->total);

    check_groups(t, &s, comm);
    use(t, &s);
    free_by_owners(t, &s);
}

/* Every rank of the run creates over the run's own communicator, each for itself. */
static void case_over_endpoints(MPI_Comm comm, struct ept *t)
{
    static const pattern_fn_t counts[] = {one_each, rising_to_two, odd_ones, not_the_first};

    for (int k = 0; k < 4; ++k) {
        struct set s;

        ept_phase(t, "pattern %d: create", k);
        s = create(t, comm, counts[k], t->rank, t->size);
        check_groups(t, &s, comm);
        if (one_each == counts[k]) {
            check_compare(t, &s, comm, true);
        }
        ept_phase(t, "pattern %d: use", k);
        use(t, &s);
        if (16 >= t->size) {
            ept_phase(t, "pattern %d: second floor", k);
            ept_on_each(t, s.comms, s.num, second_floor, &s);
        }
        ept_phase(t, "pattern %d: free", k);
        free_by_owners(t, &s);
    }
}

/* All threads of a process create at the same time, each over a parent of its own. */
static MPI_Comm *own_parents;

static void case_concurrent(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 == t->local) {
        own_parents = malloc((size_t) t->nlocal * sizeof(*own_parents));
        for (int i = 0; i < t->nlocal; ++i) {
            EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &own_parents[i]));
        }
    }
    ept_local_barrier(t);
    for (int round = 0; round < 3; ++round) {
        struct set s;

        ept_phase(t, "round %d", round);
        s = create(t, own_parents[t->local], rising_to_two, t->proc, t->nprocs);
        check_groups(t, &s, own_parents[t->local]);
        use(t, &s);
        free_by_owners(t, &s);
    }
    ept_local_barrier(t);
    if (0 == t->local) {
        for (int i = 0; i < t->nlocal; ++i) {
            EPT_OK(t, MPI_Comm_free(&own_parents[i]));
        }
        free(own_parents);
    }
    ept_local_barrier(t);
}

/* Nothing cached on the parent comes along. */
/* From an intercommunicator of processes while it is being duplicated: the leaders of the sides
 * talk for both. */
static void case_under_idup(MPI_Comm comm, struct ept *t)
{
    const int side = t->proc % 2;
    MPI_Comm half, inter;

    (void) comm;
    if (0 != t->local || 2 > t->nprocs || !t->endpoints) {
        return;
    }
    EPT_OK(t, MPI_Comm_split(MPI_COMM_WORLD, side, t->proc, &half));
    EPT_OK(t, MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 3, &inter));
    EPT_OK(t, MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    for (int round = 0; round < 10; ++round) {
        MPI_Comm copy, handles[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
        MPI_Request request;
        int done = 0, size = 0;

        EPT_OK(t, MPI_Comm_idup(inter, &copy, &request));
        for (int i = 0; 0 == side && i < 20 * round; ++i) { /* one side is ahead */
            EPT_OK(t, MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        }
        if (!EPT_OK(t, ept_create_endpoints(inter, 2, MPI_INFO_NULL, handles))) {
            break; /* an error is that of all */
        }
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Comm_remote_size(copy, &size));
        EPT_EQ(t, 0 == side ? t->nprocs / 2 : (t->nprocs + 1) / 2, size);
        EPT_OK(t, MPI_Comm_free(&copy));
        for (int i = 0; i < 2; ++i) {
            EPT_OK(t, MPI_Comm_remote_size(handles[i], &size));
            EPT_EQ(t, 2 * (0 == side ? t->nprocs / 2 : (t->nprocs + 1) / 2), size);
            EPT_OK(t, MPI_Comm_free(&handles[i]));
        }
    }
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&half));
}

static void case_attributes(MPI_Comm comm, struct ept *t)
{
    int key = MPI_KEYVAL_INVALID, value = 5, flag = 1;
    void *got;
    MPI_Comm parent;
    struct set s;

    (void) comm;
    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &parent));
        EPT_OK(t, MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
        EPT_OK(t, MPI_Comm_set_attr(parent, key, &value));
        s = create(t, parent, one_each, t->proc, t->nprocs);
        EPT_OK(t, MPI_Comm_get_attr(s.comms[0], key, &got, &flag));
        EPT_EQ(t, 0, flag);
        free_by_owners(t, &s);
        EPT_OK(t, MPI_Comm_get_attr(parent, key, &got, &flag));
        EPT_EQ(t, 1, flag);
        EPT_OK(t, MPI_Comm_free(&parent));
        EPT_OK(t, MPI_Comm_free_keyval(&key));
    }
    ept_local_barrier(t);
}

/* The predefined attributes of the process are those of its endpoints; the largest tag works. */
static void case_tag_ub(MPI_Comm comm, struct ept *t)
{
    int *value = NULL, *world = NULL, flag = 0, in = -1, peer = (t->rank + 1) % t->size;
    MPI_Request request;
    MPI_Status status;

    EPT_OK(t, MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &world, &flag));
    EPT_EQ(t, 1, flag);
    EPT_OK(t, MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &flag));
    EPT_EQ(t, 1, flag);
    if (NULL != world && NULL != value) {
        EPT_EQ(t, *world, *value);
        EPT_OK(t, MPI_Isend(&t->rank, 1, MPI_INT, peer, *value, comm, &request));
        EPT_OK(t, MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, *value, comm, &status));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_EQ(t, (t->rank - 1 + t->size) % t->size, in);
        EPT_EQ(t, *value, status.MPI_TAG);
    }
}

/* The last communicator of an endpoint goes before all of its answers have: they do all the
 * same. */
static void case_owed(MPI_Comm comm, struct ept *t)
{
    enum { SENDS = 100, TAG = 3 };
    MPI_Request requests[SENDS];
    MPI_Comm pair;
    int value[SENDS];

    EPT_OK(t, MPIX_Comm_create_endpoints(comm, 1, MPI_INFO_NULL, &pair));
    for (int i = 0; i < SENDS; ++i) {
        value[i] = i;
        if (1 == t->rank) {
            EPT_OK(t, MPI_Issend(&value[i], 1, MPI_INT, 0, TAG, pair, &requests[i]));
        } else {
            EPT_OK(t, MPI_Recv(&value[i], 1, MPI_INT, 1, TAG, pair, MPI_STATUS_IGNORE));
            EPT_EQ(t, i, value[i]);
        }
    }
    if (1 == t->rank) {
        usleep(300000); /* out of MPI: its receive queue fills up */
        EPT_OK(t, MPI_Waitall(SENDS, requests, MPI_STATUSES_IGNORE));
    }
    EPT_OK(t, MPI_Comm_free(&pair));
    EPT_OK(t, MPI_Barrier(comm));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 < ept_option_long("owed", 0)) {
        EPT_CASE(t, case_owed);
        return 0;
    }
    EPT_CASE(t, case_counts);
    EPT_CASE(t, case_many_alive);
    EPT_CASE(t, case_free);
    EPT_CASE(t, case_parents);
    EPT_CASE(t, case_over_endpoints);
    EPT_CASE(t, case_concurrent);
    EPT_CASE(t, case_under_idup);
    EPT_CASE(t, case_attributes);
    EPT_CASE(t, case_tag_ub);
    return 0;
}
