/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Groups that have never met: intercommunicators between endpoints of different creations, and
 * between endpoints and processes; what comes of them; endpoints created from intercommunicators;
 * and their identities: MPIX_ALIASED, MPIX_COMM_TYPE_ADDRESS_SPACE. --limit 1:
 * pml_epml_max_endpoints is what the run has.
 *
 * Each member is known by its rank in the run's communicator, its id.  A member that is to be reached on
 * a communicator is told by the ids that come back.
 *
 * EPT-PARTS: comm_bridge_check.c comm_bridge_who.c
 *
 * Guards: pml_epml_handle.c, pml_epml_intercomm.c, pml_epml_bootstrap.c, pml_epml_peer.c,
 * pml_epml_proc.c, endpoints/c, pml_epml_address.c, pml_epml_creation.c, pml_epml_phase_handles.c
 */

#include "comm_bridge.h"

/* ---- cases: intercommunicators --------------------------------------------------------------- */

/* Two halves of the run, each with a parent of its own, create endpoints that have never met. */
static void case_two_creations(MPI_Comm comm, struct ept *t)
{
    const int mine = t->rank % 2;
    MPI_Comm half, own[1], inter;
    const struct sides s = even_and_odd(t->size, mine);

    EPT_OK(t, MPI_Comm_split(comm, mine, t->rank, &half));
    ept_phase(t, "create");
    EPT_OK(t, ept_create_endpoints(half, 1, MPI_INFO_NULL, own));
    EPT_OK(t, MPI_Comm_free(&half));
    ept_phase(t, "intercomm_create");
    EPT_OK(t, MPI_Intercomm_create(own[0], 0, comm, 1 - mine, 11, &inter));
    EPT_OK(t, MPI_Comm_free(&own[0]));
    check_inter(t, inter, t->rank, &s);
    check_derived(t, inter, t->rank, &s);
    EPT_OK(t, MPI_Comm_free(&inter));
}

/* Leaders that are not the first, order of ranks turned round. */
static void case_other_leaders(MPI_Comm comm, struct ept *t)
{
    const int mine = t->rank % 2;
    MPI_Comm half, own[1], inter;
    struct sides s = {0, 0, {0}, {0}};

    for (int i = t->size - 1; 0 <= i; --i) {
        if (mine == i % 2) {
            s.local[s.num_local++] = i;
        } else {
            s.remote[s.num_remote++] = i;
        }
    }
    EPT_OK(t, MPI_Comm_split(comm, mine, -t->rank, &half));
    EPT_OK(t, ept_create_endpoints(half, 1, MPI_INFO_NULL, own));
    /* The last of each half leads: ids 0 and 1. */
    EPT_OK(t, MPI_Intercomm_create(own[0], s.num_local - 1, comm, 1 - mine, 12, &inter));
    check_inter(t, inter, t->rank, &s);
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&own[0]));
    EPT_OK(t, MPI_Comm_free(&half));
}

/* The processes as such on one side; on the other all endpoints but the first of each process,
 * which is the process itself. */
static void case_processes(MPI_Comm comm, struct ept *t)
{
    const bool process = 0 == t->local;
    MPI_Comm side, inter;
    struct sides s = {0, 0, {0}, {0}};

    for (int i = 0; i < t->size; ++i) {
        if (process == (0 == i % t->nlocal)) {
            s.local[s.num_local++] = i;
        } else {
            s.remote[s.num_remote++] = i;
        }
    }
    EPT_OK(t, MPI_Comm_split(comm, process, t->rank, &side));
    if (process) {
        EPT_OK(t, MPI_Comm_free(&side));
        EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &side));
    }
    ept_phase(t, "intercomm_create");
    EPT_OK(t, MPI_Intercomm_create(side, 0, comm, process ? 1 : 0, 13, &inter));
    EPT_OK(t, MPI_Comm_free(&side));
    check_inter(t, inter, t->rank, &s);
    check_derived(t, inter, t->rank, &s);
    EPT_OK(t, MPI_Comm_free(&inter));
}

/* One process alone on one side; on the other the endpoints of all others. */
static void case_one_process(MPI_Comm comm, struct ept *t)
{
    const bool process = 0 == t->rank;
    MPI_Comm side, others, inter;
    struct sides s = {0, 0, {0}, {0}};

    EPT_OK(t, MPI_Comm_split(comm, process, t->rank, &others));
    side = process ? MPI_COMM_SELF : others;
    EPT_OK(t, MPI_Intercomm_create(side, 0, comm, process ? 1 : 0, 14, &inter));
    EPT_CHECK(t, MPI_COMM_NULL != inter, "no handle");
    EPT_OK(t, MPI_Comm_free(&inter));
    /* Another leader on the larger side: its last. */
    EPT_OK(t, MPI_Intercomm_create(side, process ? 0 : t->size - 2, comm, process ? t->size - 1 : 0,
                                   14, &inter));
    EPT_OK(t, MPI_Comm_free(&others));
    for (int i = 1; i < t->size; ++i) {
        s.local[s.num_local++] = i;
    }
    s.remote[s.num_remote++] = 0;
    if (process) {
        struct sides swapped = {s.num_remote, s.num_local, {0}, {0}};

        memcpy(swapped.local, s.remote, sizeof(s.remote));
        memcpy(swapped.remote, s.local, sizeof(s.local));
        s = swapped;
    }
    check_inter(t, inter, t->rank, &s);
    check_derived(t, inter, t->rank, &s);
    EPT_OK(t, MPI_Comm_free(&inter));
}

/* Results as parents again, and again: each round merges two sides that have never met. */
static void case_generations(MPI_Comm comm, struct ept *t)
{
    MPI_Comm world, half, own[1], inter;
    int ids[MAX_RANKS];

    for (int i = 0; i < t->size; ++i) {
        ids[i] = i;
    }
    EPT_OK(t, MPI_Comm_dup(comm, &world));
    for (int round = 0; round < 4; ++round) {
        const int cut = 1 + round % (t->size - 1); /* ranks below it are one side */
        const bool low = t->rank < cut;

        ept_phase(t, "round %d", round);
        EPT_OK(t, MPI_Comm_split(world, low, t->rank, &half));
        EPT_OK(t, ept_create_endpoints(half, 1, MPI_INFO_NULL, own));
        EPT_OK(t, MPI_Intercomm_create(own[0], 0, world, low ? cut : 0, 15, &inter));
        EPT_OK(t, MPI_Comm_free(&world));
        EPT_OK(t, MPI_Intercomm_merge(inter, !low, &world));
        EPT_OK(t, MPI_Comm_free(&inter));
        EPT_OK(t, MPI_Comm_free(&own[0]));
        EPT_OK(t, MPI_Comm_free(&half));
        check_intra(t, world, t->rank, ids, t->size);
    }
    EPT_OK(t, MPI_Comm_free(&world));
}

#if defined(HAVE_EP)

/* Sides that share a member; bad leaders; bad bridges: an error for all members that can know, and
 * none waits. */
static void case_bad_arguments(MPI_Comm comm, struct ept *t)
{
    const int mine = t->rank % 2;
    MPI_Comm half, inter;

    EPT_OK(t, MPI_Comm_split(comm, mine, t->rank, &half));
    EPT_OK(t, MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN));
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Intercomm_create(half, -1, comm, 0, 16, &inter));
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Intercomm_create(half, 1000, comm, 0, 16, &inter));
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Intercomm_create(half, 0, comm, t->size, 16, &inter));
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Intercomm_create(half, 0, comm, -1, 16, &inter));
    EPT_CLASS(t, MPI_ERR_COMM, MPI_Intercomm_create(half, 0, MPI_COMM_NULL, 0, 16, &inter));
    /* Both lead the same group: the leader talks to itself. */
    EPT_CLASS(t, MPI_ERR_COMM, MPI_Intercomm_create(half, 0, comm, mine, 16, &inter));
    /* All is well afterwards. */
    EPT_OK(t, MPI_Intercomm_create(half, 0, comm, 1 - mine, 16, &inter));
    EPT_CLASS(t, MPI_ERR_COMM, MPI_Intercomm_create(half, 0, inter, 0, 16, &half));
    EPT_OK(t, MPI_Comm_free(&inter));
}

/* What rank 0 does with both of its handles at a time, the others with their one. */
static void create_overlapping(MPI_Comm comm, struct ept *t, int index, void *context)
{
    const bool alone = 0 == t->rank && 0 == index;
    MPI_Comm *bridge = context, inter = MPI_COMM_NULL;

    EPT_CLASS(t, MPI_ERR_COMM,
              MPI_Intercomm_create(comm, alone ? 0 : t->size - 1, *bridge, alone ? t->size - 1 : 0,
                                   17, &inter));
    EPT_CHECK(t, MPI_COMM_NULL == inter, "a handle came with the error");
}

/* The index 0 of every creation is the parent's member itself: rank 0 meets itself. */
static void case_overlap(MPI_Comm comm, struct ept *t)
{
    MPI_Comm all[1], alone, handles[2];

    EPT_OK(t, ept_create_endpoints(comm, 1, MPI_INFO_NULL, all));
    EPT_OK(t, MPI_Comm_split(comm, t->rank, 0, &alone));
    EPT_OK(t, MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(all[0], MPI_ERRORS_RETURN));
    handles[0] = 0 == t->rank ? alone : all[0];
    handles[1] = all[0];
    ept_on_each(t, handles, 0 == t->rank ? 2 : 1, create_overlapping, &comm);
    ept_use_comm(t, all[0], t->rank, t->size);
    EPT_OK(t, MPI_Comm_free(&alone));
    EPT_OK(t, MPI_Comm_free(&all[0]));
}

/* ---- cases: endpoints from intercommunicators ------------------------------------------------ */

struct use {
    struct sides sides;
    int first_id;
};

static void use_inter(MPI_Comm comm, struct ept *t, int index, void *context)
{
    const struct use *use = context;

    check_inter(t, comm, use->first_id + index, &use->sides);
    check_merge(t, comm, use->first_id + index, &use->sides);
}

/* Each member creates count(id) endpoints from an intercommunicator of two sides; ids of those are
 * 10 times the parent's plus the index. */
static void create_from(struct ept *t, MPI_Comm parent, const struct sides *s, int id,
                        int (*count)(int id))
{
    MPI_Comm comms[MAX_EP] = {NULL, NULL, NULL, NULL};
    struct use use = {.first_id = 10 * id};
    int num = count(id);

    for (int i = 0; i < s->num_local; ++i) {
        for (int j = 0; j < count(s->local[i]); ++j) {
            use.sides.local[use.sides.num_local++] = 10 * s->local[i] + j;
        }
    }
    for (int i = 0; i < s->num_remote; ++i) {
        for (int j = 0; j < count(s->remote[i]); ++j) {
            use.sides.remote[use.sides.num_remote++] = 10 * s->remote[i] + j;
        }
    }
    ept_phase(t, "create %d from an intercommunicator", num);
    EPT_OK(t, ept_create_endpoints(parent, num, MPI_INFO_NULL, comms));
    if (0 == use.sides.num_local || 0 == use.sides.num_remote) {
        for (int i = 0; i < num; ++i) {
            EPT_CHECK(t, MPI_COMM_NULL == comms[i], "handle %d for nobody to talk to", i);
        }
        return;
    }
    ept_on_each(t, comms, num, use_inter, &use);
    for (int i = 0; i < num; ++i) {
        EPT_OK(t, MPI_Comm_free(&comms[i]));
    }
}

static int one_each(int id)
{
    (void) id;
    return 1;
}

static int two_each(int id)
{
    (void) id;
    return 2;
}

static int by_rank(int id)
{
    return id % 3;
}

static int even_only(int id)
{
    return 0 == id % 2 ? 2 : 0;
}

static int nobody(int id)
{
    (void) id;
    return 0;
}

static void create_from_each_way(struct ept *t, MPI_Comm inter, int id, const struct sides *s)
{
    create_from(t, inter, s, id, two_each);
    create_from(t, inter, s, id, one_each);
    create_from(t, inter, s, id, by_rank);
    create_from(t, inter, s, id, even_only); /* in the cases below: one side only */
    create_from(t, inter, s, id, nobody);
}

/* The parent is an intercommunicator of endpoints. */
static void case_create_from_endpoints(MPI_Comm comm, struct ept *t)
{
    const int mine = t->rank % 2;
    MPI_Comm half, inter;
    const struct sides s = even_and_odd(t->size, mine);

    EPT_OK(t, MPI_Comm_split(comm, mine, t->rank, &half));
    EPT_OK(t, MPI_Intercomm_create(half, 0, comm, 1 - mine, 18, &inter));
    EPT_OK(t, MPI_Comm_free(&half));
    create_from_each_way(t, inter, t->rank, &s);
    EPT_OK(t, MPI_Comm_free(&inter));
}

/* The parent is an ordinary intercommunicator, of processes. */
static void case_create_from_processes(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 == t->local) {
        const int mine = t->proc % 2;
        MPI_Comm half, inter;
        const struct sides s = even_and_odd(t->nprocs, mine);

        EPT_OK(t, MPI_Comm_split(MPI_COMM_WORLD, mine, t->proc, &half));
        EPT_OK(t, MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mine, 19, &inter));
        EPT_OK(t, MPI_Comm_free(&half));
        create_from_each_way(t, inter, t->proc, &s);
        EPT_OK(t, MPI_Comm_free(&inter));
    }
    ept_local_barrier(t);
}

/* Processes that join endpoints count as endpoints do. */
static void case_limit(MPI_Comm comm, struct ept *t)
{
    MPI_Comm side, inter, none;

    EPT_OK(t, MPI_Comm_split(comm, 0 == t->local, t->rank, &side));
    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_free(&side));
        EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &side));
    }
    EPT_OK(t, MPI_Comm_set_errhandler(side, MPI_ERRORS_RETURN));
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS,
              MPI_Intercomm_create(side, 0, comm, 0 == t->local ? 1 : 0, 24, &inter));
    if (0 == t->local) {
        /* A rank that asks for none gets none, without an error. */
        EPT_OK(t, MPIX_Comm_create_endpoints(side, 0, MPI_INFO_NULL, &none));
    }
    EPT_OK(t, MPI_Comm_free(&side));
}

#endif /* HAVE_EP */

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (2 > t->size) {
        ept_skip(t, "all", "needs two ranks");
        return 0;
    }
#if defined(HAVE_EP)
    if (0 != ept_option_long("limit", 0)) {
        EPT_CASE(t, case_limit);
        return 0;
    }
#endif
    EPT_CASE(t, case_two_creations);
    EPT_CASE(t, case_other_leaders);
    EPT_CASE(t, case_one_process);
    EPT_CASE(t, case_generations);
    if (1 < t->nlocal) {
        EPT_CASE(t, case_processes);
    }
#if defined(HAVE_EP)
    if (t->endpoints) {
        EPT_CASE(t, case_bad_arguments);
        EPT_CASE(t, case_overlap);
        EPT_CASE(t, case_create_from_endpoints);
        if (1 < t->nprocs) {
            EPT_CASE(t, case_create_from_processes);
        }
        EPT_CASE(t, case_compare);
        EPT_CASE(t, case_compare_inter);
        EPT_CASE(t, case_node);
        EPT_CASE(t, case_address_space);
        EPT_CASE(t, case_address_space_inter);
        if (1 < t->nprocs) {
            EPT_CASE(t, case_address_space_apart);
        }
        EPT_CASE(t, case_address_space_errors);
    }
#endif
    return 0;
}
