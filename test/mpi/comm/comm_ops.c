/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Communicators made from the run's communicator by all ranks, threads of one process among them,
 * at the same time: dup, idup, split, create, create_group, intercommunicators. The first look;
 * comm_tree.c goes on from here.
 *
 * Guards: pml_epml_context.c, common_ep_slots.h, pml_epml_cid_activate_nb.c, pml_epml_cid_steps.c, pml_epml_cid_tree.c, enter.c, in_force.c,
 * libraries.c, originals.c, probe.c, slots.c, hook_comm.c
 */

#include "ept.h"

static void use_and_free(struct ept *t, MPI_Comm *comm, int rank, int size)
{
    int result = -1;

    ept_use_comm(t, *comm, rank, size);
    EPT_OK(t, MPI_Comm_compare(*comm, t->comm, &result));
    EPT_CHECK(t, MPI_IDENT != result, "compares as identical to its parent");
    EPT_OK(t, MPI_Comm_free(comm));
    EPT_CHECK(t, MPI_COMM_NULL == *comm, "handle not null after MPI_Comm_free");
}

static void case_dup(MPI_Comm comm, struct ept *t)
{
    MPI_Comm copies[4] = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
    MPI_Request requests[2];
    MPI_Info info;
    int result = -1;

    EPT_OK(t, MPI_Comm_dup(comm, &copies[0]));
    EPT_OK(t, MPI_Comm_compare(copies[0], comm, &result));
    EPT_EQ(t, MPI_CONGRUENT, result);
    EPT_OK(t, MPI_Info_create(&info));
    EPT_OK(t, MPI_Comm_dup_with_info(copies[0], info, &copies[1]));
    EPT_OK(t, MPI_Info_free(&info));
    ept_phase(t, "idup");
    EPT_OK(t, MPI_Comm_idup(comm, &copies[2], &requests[0]));
    EPT_OK(t, MPI_Comm_idup(copies[1], &copies[3], &requests[1]));
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 4; ++i) {
        ept_phase(t, "copy %d", i);
        use_and_free(t, &copies[(i * 3 + 1) % 4], t->rank, t->size);
    }
}

/* Halves; a reversed order; some ranks left out; all at their own pace. */
static void case_split(MPI_Comm comm, struct ept *t)
{
    MPI_Comm part;
    int even = (t->size + 1) / 2, odd = t->size / 2;

    ept_phase(t, "halves");
    EPT_OK(t, MPI_Comm_split(comm, t->rank % 2, t->rank, &part));
    use_and_free(t, &part, t->rank / 2, 0 == t->rank % 2 ? even : odd);
    ept_phase(t, "reversed");
    EPT_OK(t, MPI_Comm_split(comm, 7, -t->rank, &part));
    use_and_free(t, &part, t->size - 1 - t->rank, t->size);
    ept_phase(t, "left out");
    EPT_OK(t, MPI_Comm_split(comm, 0 == t->rank % 2 ? 3 : MPI_UNDEFINED, 0, &part));
    EPT_EQ(t, 0 == t->rank % 2, MPI_COMM_NULL != part);
    if (MPI_COMM_NULL != part) {
        use_and_free(t, &part, t->rank / 2, even);
    }
    ept_phase(t, "alone");
    EPT_OK(t, MPI_Comm_split(comm, t->rank, 0, &part));
    use_and_free(t, &part, 0, 1);
}

static void case_create(MPI_Comm comm, struct ept *t)
{
    MPI_Group all, odd;
    MPI_Comm part = MPI_COMM_NULL;
    int range[1][3] = {{t->size - 1, 0, -1}}, translated = -1, zero = 0;

    EPT_OK(t, MPI_Comm_group(comm, &all));
    EPT_OK(t, MPI_Group_range_incl(all, 1, range, &odd));
    EPT_OK(t, MPI_Group_translate_ranks(odd, 1, &zero, all, &translated));
    EPT_EQ(t, t->size - 1, translated);
    ept_phase(t, "create");
    EPT_OK(t, MPI_Comm_create(comm, odd, &part));
    use_and_free(t, &part, t->size - 1 - t->rank, t->size);
    EPT_OK(t, MPI_Group_free(&odd));

    /* Only the members of the group call: the first three quarters. */
    range[0][0] = 0;
    range[0][1] = (3 * t->size + 3) / 4 - 1;
    range[0][2] = 1;
    EPT_OK(t, MPI_Group_range_incl(all, 1, range, &odd));
    if (t->rank <= range[0][1]) {
        ept_phase(t, "create_group");
        EPT_OK(t, MPI_Comm_create_group(comm, odd, 17, &part));
        use_and_free(t, &part, t->rank, range[0][1] + 1);
    }
    EPT_OK(t, MPI_Group_free(&odd));
    EPT_OK(t, MPI_Group_free(&all));
}

/* Two halves, a bridge between them, and the whole again. */
static void case_intercomm(MPI_Comm comm, struct ept *t)
{
    int low = t->size / 2, mine = t->rank < low ? 0 : 1, remote = -1, got = -1, flag = 0;
    int local_rank = t->rank - (0 == mine ? 0 : low), sum = -1, wanted = 0;
    MPI_Comm half, inter, whole;

    EPT_OK(t, MPI_Comm_split(comm, mine, 0, &half));
    ept_phase(t, "intercomm_create");
    EPT_OK(t, MPI_Intercomm_create(half, 0, comm, 0 == mine ? low : 0, 3, &inter));
    EPT_OK(t, MPI_Comm_test_inter(inter, &flag));
    EPT_EQ(t, 1, flag);
    EPT_OK(t, MPI_Comm_remote_size(inter, &remote));
    EPT_EQ(t, 0 == mine ? t->size - low : low, remote);
    ept_phase(t, "messages across");
    if (local_rank < remote && local_rank < t->size - remote) {
        EPT_OK(t, MPI_Sendrecv(&t->rank, 1, MPI_INT, local_rank, 1, &got, 1, MPI_INT,
                               MPI_ANY_SOURCE, 1, inter, MPI_STATUS_IGNORE));
        EPT_EQ(t, local_rank + (0 == mine ? low : 0), got);
    }
    ept_phase(t, "allreduce across");
    EPT_OK(t, MPI_Allreduce(&t->rank, &sum, 1, MPI_INT, MPI_SUM, inter));
    for (int r = 0; r < t->size; ++r) {
        wanted += (r < low) == (1 == mine) ? r : 0;
    }
    EPT_EQ(t, wanted, sum);
    ept_phase(t, "intercomm_merge");
    EPT_OK(t, MPI_Intercomm_merge(inter, 0 == mine, &whole));
    use_and_free(t, &whole, 0 == mine ? t->size - low + t->rank : t->rank - low, t->size);
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&half));
}

/* Pairs make communicators of their own, again and again, all pairs at once and unequally fast:
 * nothing is collective over more than two ranks. */
static void case_storm(MPI_Comm comm, struct ept *t)
{
    int peer = ept_partner(t, EPT_PAIR_NEXT), rounds = 8 < t->size ? 10 : 40;
    MPI_Comm pair, copy, part;

    EPT_OK(t, MPI_Comm_split(comm, t->rank / 2, t->rank, &pair));
    for (int round = 0; MPI_PROC_NULL != peer && round < rounds * (1 + t->rank / 2 % 3); ++round) {
        ept_phase(t, "round %d", round);
        EPT_OK(t, MPI_Comm_dup(pair, &copy));
        EPT_OK(t, MPI_Comm_split(copy, 0, -t->rank, &part));
        EPT_OK(t, MPI_Comm_free(&copy));
        ept_use_comm(t, part, 1 - t->rank % 2, 2);
        EPT_OK(t, MPI_Comm_free(&part));
    }
    EPT_OK(t, MPI_Comm_free(&pair));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_dup);
    EPT_CASE(t, case_split);
    EPT_CASE(t, case_create);
    if (2 <= t->size) {
        EPT_CASE(t, case_intercomm);
    } else {
        ept_skip(t, "case_intercomm", "needs two ranks");
    }
    EPT_CASE(t, case_storm);
    return 0;
}
