/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * One rank runs out of memory while communicators are made: each allocation of ours in turn fails
 * once (test/lib/fail_alloc.c), at the first, the second and the last rank.  Either all ranks get
 * the communicator or none does, nobody hangs, and the parent works on.  Constructors in which
 * libmpi gathers something first (MPI_Comm_split) are none of these: its collectives tell nobody.
 * Endpoints from a communicator of endpoints, groups that meet, and merges are: whose collectives
 * on the parent have failed leaves it, so the parent is a new one each time.  If that was the last
 * of them, others may have the communicator, in which the first collective fails.
 *
 * EPT-LIBS: -ldl
 *
 * Guards: pml_epml_cid_activate.c, pml_epml_cid_activate_nb.c, pml_epml_cid.c, pml_epml_cid_assign.c, pml_epml_cid_nb.c, coll_epcoll_component.c,
 * pml_epml_cid_message.c, pml_epml_discovery.c, pml_epml_merge.c, pml_epml_phase_endpoints.c,
 * pml_epml_phase_handles.c, pml_epml_phase_tables.c, pml_epml_traversal.c, pml_epml_graph.c
 */

#define _GNU_SOURCE

#include "ept.h"

#include <dlfcn.h>

/** More allocations than any constructor makes. */
#define MOST 200

#define MOST_LOCAL 16

typedef int (*make_fn_t)(MPI_Comm comm, struct ept *t, MPI_Comm *made);

static void (*fail_alloc)(long n);
static int (*fail_alloc_done)(void);

void test_process_begin(void)
{
    *(void **) &fail_alloc = dlsym(RTLD_DEFAULT, "ept_fail_alloc");
    *(void **) &fail_alloc_done = dlsym(RTLD_DEFAULT, "ept_fail_alloc_done");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

static int make_dup(MPI_Comm comm, struct ept *t, MPI_Comm *made)
{
    (void) t;
    return MPI_Comm_dup(comm, made);
}

static int make_create(MPI_Comm comm, struct ept *t, MPI_Comm *made)
{
    MPI_Group group;
    int rc;

    EPT_OK(t, MPI_Comm_group(comm, &group));
    rc = MPI_Comm_create(comm, group, made);
    EPT_OK(t, MPI_Group_free(&group));
    return rc;
}

static int make_create_group(MPI_Comm comm, struct ept *t, MPI_Comm *made)
{
    MPI_Group group;
    int rc;

    EPT_OK(t, MPI_Comm_group(comm, &group));
    rc = MPI_Comm_create_group(comm, group, 9, made);
    EPT_OK(t, MPI_Group_free(&group));
    return rc;
}

/* A group that belongs to the first endpoint of this process: libmpi takes the others for it. */
static int make_foreign_group(MPI_Comm comm, struct ept *t, MPI_Comm *made)
{
    static MPI_Group first; /* of rank t->local 0 */
    int rc;

    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_group(comm, &first));
    }
    ept_local_barrier(t);
    rc = MPI_Comm_create_group(comm, first, 10, made);
    ept_local_barrier(t);
    if (0 == t->local) {
        EPT_OK(t, MPI_Group_free(&first));
    }
    return rc;
}

static int make_cart(MPI_Comm comm, struct ept *t, MPI_Comm *made)
{
    int dimension = t->size, periodic = 1;

    return MPI_Cart_create(comm, 1, &dimension, &periodic, 0, made);
}

/* By one rank of each process, for all of them. */
static int make_endpoints(MPI_Comm comm, struct ept *t, MPI_Comm *made)
{
    static MPI_Comm handles[MOST_LOCAL];
    static int created;
    int rc;

    (void) comm;
    if (0 == t->local) {
        created = MPIX_Comm_create_endpoints(MPI_COMM_WORLD, t->nlocal, MPI_INFO_NULL, handles);
    }
    ept_local_barrier(t);
    rc = created;
    *made = MPI_SUCCESS == rc ? handles[t->local] : MPI_COMM_NULL;
    ept_local_barrier(t);
    return rc;
}

static int make_more(MPI_Comm comm, struct ept *t, MPI_Comm *made)
{
    (void) t;
    return MPIX_Comm_create_endpoints(comm, 1, MPI_INFO_NULL, made);
}

/* Even and odd ranks, on their own communicators. */
static int make_intercomm(MPI_Comm comm, struct ept *t, MPI_Comm *made)
{
    return MPI_Intercomm_create(comm, 0, t->comm, 1 - t->rank % 2, 11, made);
}

/** Low ranks, high ranks, and the one in the middle, which is among both; or the processes, and the
 * endpoints of each. */
static _Thread_local MPI_Comm halves[2];

static void make_halves(MPI_Comm comm, struct ept *t, bool of_processes)
{
    const int middle = t->size / 2;

    if (of_processes) {
        halves[0] = MPI_COMM_NULL;
        if (0 == t->local) {
            EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &halves[0]));
        }
        EPT_OK(t, MPI_Comm_split(comm, t->proc, 0, &halves[1]));
        return;
    }

    EPT_OK(t, MPI_Comm_split(comm, t->rank <= middle ? 0 : MPI_UNDEFINED, 0, &halves[0]));
    EPT_OK(t, MPI_Comm_split(comm, t->rank >= middle ? 0 : MPI_UNDEFINED, 0, &halves[1]));
}

static int make_merge(MPI_Comm comm, struct ept *t, MPI_Comm *made)
{
    (void) comm;
    (void) t;
    return MPIX_Comm_merge(halves[0], halves[1], made);
}

static int make_merge_processes(MPI_Comm comm, struct ept *t, MPI_Comm *made)
{
    return make_merge(comm, t, made);
}

/** The parent of one round, where that may be lost.  @return comm, if it may not */
static MPI_Comm parent_of(MPI_Comm comm, struct ept *t, make_fn_t make)
{
    MPI_Comm parent = comm;

    if (make_more == make) {
        EPT_OK(t, MPI_Comm_dup(comm, &parent));
    } else if (make_intercomm == make) {
        EPT_OK(t, MPI_Comm_split(comm, t->rank % 2, t->rank, &parent));
    } else if (make_merge == make || make_merge_processes == make) {
        make_halves(comm, t, make_merge_processes == make);
        parent = MPI_COMM_NULL;
    }
    return parent;
}

/** @return whether the allocation that was to fail was made at all, at victim */
static bool round_of(MPI_Comm comm, struct ept *t, make_fn_t make, int victim, long n)
{
    MPI_Comm made = MPI_COMM_NULL, parent = parent_of(comm, t, make);
    int rc, mine[2] = {0, 0}, all[2] = {0, 0};

    ept_phase(t, "allocation %ld of rank %d", n, victim);
    EPT_OK(t, MPI_Barrier(comm));
    if (t->rank == victim) {
        fail_alloc(n);
    }
    rc = make(parent, t, &made);
    if (t->rank == victim) {
        mine[1] = fail_alloc_done();
    }
    mine[0] = MPI_SUCCESS == rc;
    EPT_OK(t, MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, comm));
    EPT_CHECK(t, 0 == all[0] || t->size == all[0] || parent != comm,
              "%d of %d ranks have the communicator after allocation %ld of rank %d failed", all[0],
              t->size, n, victim);
    if (t->size == all[0]) {
        int rank = -1, least = -1;

        EPT_OK(t, MPI_Comm_rank(made, &rank));
        EPT_OK(t, MPI_Allreduce(&rank, &least, 1, MPI_INT, MPI_MIN, made));
        EPT_EQ(t, 0, least);
    } else if (MPI_SUCCESS == rc) {
        int one = 1, sum;

        EPT_CHECK(t, MPI_SUCCESS != MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made),
                  "a communicator that only %d of %d ranks have", all[0], t->size);
    }
    if (MPI_SUCCESS == rc && MPI_COMM_NULL != made) {
        EPT_OK(t, MPI_Comm_free(&made));
    }
    for (int i = 0; MPI_COMM_NULL == parent && i < 2; ++i) {
        if (MPI_COMM_NULL != halves[i]) {
            EPT_OK(t, MPI_Comm_free(&halves[i]));
        }
    }
    if (parent != comm && MPI_COMM_NULL != parent) {
        EPT_OK(t, MPI_Comm_free(&parent));
    }
    return 0 != all[1];
}

static void all_rounds(MPI_Comm comm, struct ept *t, make_fn_t make, const int victims[], int count)
{
    for (int i = 0; i < count; ++i) {
        long n = 1;

        while (n < MOST && round_of(comm, t, make, victims[i], n)) {
            ++n;
        }
        EPT_CHECK(t, 1 < n && n < MOST, "%ld allocations failed", n - 1);
    }
}

#define CASE(name)                                                            \
    static void case_##name(MPI_Comm comm, struct ept *t)                     \
    {                                                                         \
        const int victims[] = {0, 1, t->size - 1};                            \
                                                                              \
        all_rounds(comm, t, make_##name, victims, t->size < 3 ? t->size : 3); \
    }

CASE(dup)
CASE(create)
CASE(create_group)
CASE(foreign_group)
CASE(cart)
CASE(more)
CASE(intercomm)

static void case_merge(MPI_Comm comm, struct ept *t)
{
    const int victims[] = {t->size / 2, 0, t->size - 1};

    all_rounds(comm, t, make_merge, victims, t->size < 3 ? t->size : 3);
}

static void case_merge_processes(MPI_Comm comm, struct ept *t)
{
    const int victims[] = {0, t->size - 1};

    all_rounds(comm, t, make_merge_processes, victims, t->size < 2 ? t->size : 2);
}

static void case_endpoints(MPI_Comm comm, struct ept *t)
{
    const int victims[] = {0, (t->nprocs - 1) * t->nlocal};

    all_rounds(comm, t, make_endpoints, victims, t->nprocs < 2 ? t->nprocs : 2);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    if (!t->endpoints || NULL == fail_alloc) {
        ept_skip(t, "all", "needs endpoints, and fail_alloc in front of libc");
        return 0;
    }
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    ept_meet(comm, t);
    EPT_CASE(t, case_dup);
    EPT_CASE(t, case_create);
    EPT_CASE(t, case_create_group);
    EPT_CASE(t, case_foreign_group);
    EPT_CASE(t, case_cart);
    EPT_CASE(t, case_endpoints);
    EPT_CASE(t, case_more);
    EPT_CASE(t, case_intercomm);
    EPT_CASE(t, case_merge);
    EPT_CASE(t, case_merge_processes);
    return 0;
}
