/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The cases of comm_bridge about identity: comparing, and sharing an address space.
 */

#include "comm_bridge.h"

#if defined(HAVE_EP)

/* ---- cases: identity ------------------------------------------------------------------------- */

static int compare(struct ept *t, MPI_Comm comm1, MPI_Comm comm2)
{
    int result = -1;

    EPT_OK(t, MPI_Comm_compare(comm1, comm2, &result));
    return result;
}

static int compare_groups(struct ept *t, MPI_Comm comm1, MPI_Comm comm2)
{
    MPI_Group group1, group2;
    int result = -1;

    EPT_OK(t, MPI_Comm_group(comm1, &group1));
    EPT_OK(t, MPI_Comm_group(comm2, &group2));
    EPT_OK(t, MPI_Group_compare(group1, group2, &result));
    EPT_OK(t, MPI_Group_free(&group1));
    EPT_OK(t, MPI_Group_free(&group2));
    return result;
}

struct dups {
    MPI_Comm dup[3], turned[3];
};

static void derive(MPI_Comm comm, struct ept *t, int index, void *context)
{
    struct dups *dups = context;
    int rank;

    EPT_OK(t, MPI_Comm_dup(comm, &dups->dup[index]));
    EPT_OK(t, MPI_Comm_rank(comm, &rank));
    EPT_OK(t, MPI_Comm_split(comm, 0, -rank, &dups->turned[index]));
}

void case_compare(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 == t->local) {
        MPI_Comm ep[3], one[1];
        struct dups d;

        EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 3, MPI_INFO_NULL, ep));
        ept_on_each(t, ep, 3, derive, &d);
        /* Communicators: one, another of the same members, the same in another order. */
        EPT_EQ(t, MPI_IDENT, compare(t, ep[1], ep[1]));
        EPT_EQ(t, MPIX_ALIASED, compare(t, ep[1], ep[2]));
        EPT_EQ(t, MPIX_ALIASED, compare(t, ep[0], ep[2]));
        EPT_EQ(t, MPIX_ALIASED, compare(t, d.dup[0], d.dup[1]));
        EPT_EQ(t, MPI_CONGRUENT, compare(t, ep[1], d.dup[1]));
        EPT_EQ(t, MPI_CONGRUENT, compare(t, ep[1], d.dup[2]));
        EPT_EQ(t, MPI_SIMILAR, compare(t, ep[1], d.turned[1]));
        EPT_EQ(t, MPI_SIMILAR, compare(t, ep[1], d.turned[0]));
        EPT_EQ(t, MPI_UNEQUAL, compare(t, ep[1], MPI_COMM_WORLD));
        EPT_EQ(t, MPI_UNEQUAL, compare(t, MPI_COMM_SELF, ep[1]));
        /* Groups: of the same member, or of another one. */
        EPT_EQ(t, MPI_IDENT, compare_groups(t, ep[1], ep[1]));
        EPT_EQ(t, MPI_IDENT, compare_groups(t, ep[1], d.dup[1]));
        EPT_EQ(t, MPIX_ALIASED, compare_groups(t, ep[0], ep[1]));
        EPT_EQ(t, MPIX_ALIASED, compare_groups(t, ep[1], d.dup[2]));
        EPT_EQ(t, MPI_SIMILAR, compare_groups(t, ep[1], d.turned[1]));
        EPT_EQ(t, MPI_UNEQUAL, compare_groups(t, ep[1], d.turned[0]));
        EPT_EQ(t, MPI_UNEQUAL, compare_groups(t, ep[1], MPI_COMM_WORLD));
        /* One endpoint everywhere: the processes themselves. */
        EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, one));
        EPT_EQ(t, MPI_CONGRUENT, compare(t, one[0], MPI_COMM_WORLD));
        EPT_EQ(t, MPI_IDENT, compare_groups(t, one[0], MPI_COMM_WORLD));
        EPT_OK(t, MPI_Comm_free(&one[0]));
        for (int i = 0; i < 3; ++i) {
            EPT_OK(t, MPI_Comm_free(&ep[i]));
            EPT_OK(t, MPI_Comm_free(&d.dup[i]));
            EPT_OK(t, MPI_Comm_free(&d.turned[i]));
        }
    }
    ept_local_barrier(t);
}

/* Both sides of one intercommunicator, compared in one process. */
void case_compare_inter(MPI_Comm comm, struct ept *t)
{
    static MPI_Comm inters[MAX_RANKS];
    MPI_Comm half, inter;

    EPT_OK(t, MPI_Comm_split(comm, t->rank % 2, t->rank, &half));
    EPT_OK(t, MPI_Intercomm_create(half, 0, comm, 1 - t->rank % 2, 20, &inter));
    inters[t->local] = inter;
    ept_local_barrier(t);
    for (int i = 0; i < t->nlocal; ++i) {
        EPT_EQ(t, i == t->local ? MPI_IDENT : MPIX_ALIASED, compare(t, inter, inters[i]));
        EPT_EQ(t, MPI_UNEQUAL, compare(t, half, inters[i]));
    }
    ept_local_barrier(t);
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&half));
}

/* A communicator's address spaces: the members that are in this process, in the order of the
 * keys. */
static void check_spaces(struct ept *t, MPI_Comm comm, int id, int sign)
{
    int pid = (int) getpid(), rank, pids[MAX_RANKS], ids[MAX_RANKS], size, spaces_rank, n = 0;
    int expected[MAX_RANKS];
    MPI_Comm space = MPI_COMM_NULL;

    EPT_OK(t, MPI_Comm_rank(comm, &rank));
    EPT_OK(t, MPI_Comm_size(comm, &size));
    EPT_OK(t, MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, comm));
    EPT_OK(t, MPI_Allgather(&id, 1, MPI_INT, ids, 1, MPI_INT, comm));
    for (int i = 0; i < size; ++i) {
        int at = 0 < sign ? i : size - 1 - i;

        if (pid == pids[at]) {
            expected[n++] = ids[at];
        }
    }
    EPT_OK(t, MPI_Comm_split_type(comm, MPIX_COMM_TYPE_ADDRESS_SPACE, sign * rank, MPI_INFO_NULL,
                                  &space));
    EPT_CHECK(t, MPI_COMM_NULL != space, "no communicator");
    if (MPI_COMM_NULL != space) {
        EPT_OK(t, MPI_Comm_rank(space, &spaces_rank));
        check_intra(t, space, id, expected, n);
        EPT_OK(t, MPI_Comm_free(&space));
    }
}

/* What the info says holds for the new communicator.  (Of processes libmpi shows it for none.) */
static void check_info(struct ept *t, MPI_Comm comm)
{
    static const char key[] = "mpi_assert_no_any_tag";
    char value[8] = "";
    MPI_Comm space;
    MPI_Info info;
    int flag = 0;

    EPT_OK(t, MPI_Info_create(&info));
    EPT_OK(t, MPI_Info_set(info, key, "true"));
    EPT_OK(t, MPI_Comm_split_type(comm, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, info, &space));
    EPT_OK(t, MPI_Info_free(&info));
    EPT_OK(t, MPI_Comm_get_info(space, &info));
    EPT_OK(t, MPI_Info_get(info, key, (int) sizeof(value) - 1, value, &flag));
    EPT_EQ(t, 1, flag);
    EPT_STREQ(t, "true", value);
    EPT_OK(t, MPI_Info_free(&info));
    EPT_OK(t, MPI_Comm_free(&space));
}

void case_address_space(MPI_Comm comm, struct ept *t)
{
    MPI_Comm space;

    check_spaces(t, comm, t->rank, 1);
    check_spaces(t, comm, t->rank, -1);
    check_info(t, comm);
    /* Some stay out. */
    EPT_OK(t, MPI_Comm_split_type(comm, 0 == t->rank ? MPI_UNDEFINED : MPIX_COMM_TYPE_ADDRESS_SPACE,
                                  0, MPI_INFO_NULL, &space));
    EPT_EQ(t, 0 == t->rank, MPI_COMM_NULL == space);
    if (MPI_COMM_NULL != space) {
        int size, here = t->nlocal - (0 == t->proc);

        EPT_OK(t, MPI_Comm_size(space, &size));
        EPT_EQ(t, here, size);
        EPT_OK(t, MPI_Comm_free(&space));
    }
    /* Processes. */
    if (0 == t->local) {
        check_spaces(t, MPI_COMM_WORLD, t->proc, 1);
        check_spaces(t, MPI_COMM_SELF, t->proc, 1);
    }
    ept_local_barrier(t);
}

/* On an intercommunicator: the members of either side in one process stay together. */
void case_address_space_inter(MPI_Comm comm, struct ept *t)
{
    const int mine = t->rank % 2;
    MPI_Comm half, inter, space;
    struct sides s = {0, 0, {0}, {0}};

    for (int i = t->proc * t->nlocal; i < (t->proc + 1) * t->nlocal; ++i) {
        if (mine == i % 2) {
            s.local[s.num_local++] = i;
        } else {
            s.remote[s.num_remote++] = i;
        }
    }
    EPT_OK(t, MPI_Comm_split(comm, mine, t->rank, &half));
    EPT_OK(t, MPI_Intercomm_create(half, 0, comm, 1 - mine, 21, &inter));
    EPT_OK(t, MPI_Comm_split_type(inter, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL, &space));
    EPT_EQ(t, 0 == s.num_remote, MPI_COMM_NULL == space);
    if (MPI_COMM_NULL != space) {
        check_inter(t, space, t->rank, &s);
        EPT_OK(t, MPI_Comm_free(&space));
    }
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&half));
}

/* MPI_COMM_TYPE_SHARED: those on the same node, whatever communicator they met on. */
static void check_node(struct ept *t, MPI_Comm comm, int id)
{
    char own[MPI_MAX_PROCESSOR_NAME] = "", *names;
    int ids[MAX_RANKS], expected[MAX_RANKS], size, length, rank, n = 0;
    MPI_Comm node = MPI_COMM_NULL;

    EPT_OK(t, MPI_Comm_size(comm, &size));
    EPT_OK(t, MPI_Comm_rank(comm, &rank));
    names = malloc((size_t) size * sizeof(own));
    EPT_OK(t, MPI_Get_processor_name(own, &length));
    EPT_OK(t, MPI_Allgather(own, sizeof(own), MPI_CHAR, names, sizeof(own), MPI_CHAR, comm));
    EPT_OK(t, MPI_Allgather(&id, 1, MPI_INT, ids, 1, MPI_INT, comm));
    for (int i = 0; i < size; ++i) {
        if (0 == strcmp(own, names + (size_t) i * sizeof(own))) {
            expected[n++] = ids[i];
        }
    }
    EPT_OK(t, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
    EPT_CHECK(t, MPI_COMM_NULL != node, "no communicator");
    if (MPI_COMM_NULL != node) {
        check_intra(t, node, id, expected, n);
        EPT_OK(t, MPI_Comm_free(&node));
    }
    free(names);
}

void case_node(MPI_Comm comm, struct ept *t)
{
    MPI_Comm half, own[1], inter, whole;

    check_node(t, comm, t->rank);
    EPT_OK(t, MPI_Comm_split(comm, t->rank % 2, t->rank, &half));
    EPT_OK(t, ept_create_endpoints(half, 1, MPI_INFO_NULL, own));
    EPT_OK(t, MPI_Intercomm_create(own[0], 0, comm, 1 - t->rank % 2, 25, &inter));
    EPT_OK(t, MPI_Intercomm_merge(inter, 0, &whole));
    check_node(t, whole, t->rank);
    check_node(t, comm, t->rank); /* still */
    EPT_OK(t, MPI_Comm_free(&whole));
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&own[0]));
    EPT_OK(t, MPI_Comm_free(&half));
}

/* Each side in processes of its own: nobody shares an address space across.  Some stay out. */
void case_address_space_apart(MPI_Comm comm, struct ept *t)
{
    const int side = t->proc % 2;
    MPI_Comm half, inter, space;

    EPT_OK(t, MPI_Comm_split(comm, side, t->rank, &half));
    EPT_OK(t, MPI_Intercomm_create(half, 0, comm, 0 == side ? t->nlocal : 0, 22, &inter));
    EPT_OK(t, MPI_Comm_split_type(inter, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL, &space));
    EPT_CHECK(t, MPI_COMM_NULL == space, "a communicator with nobody on the other side");
    EPT_OK(t,
           MPI_Comm_split_type(inter, 0 == t->rank ? MPI_UNDEFINED : MPIX_COMM_TYPE_ADDRESS_SPACE,
                               0, MPI_INFO_NULL, &space));
    EPT_CHECK(t, MPI_COMM_NULL == space, "a communicator with nobody on the other side");
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&half));
    /* Processes. */
    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_split(MPI_COMM_WORLD, side, t->proc, &half));
        EPT_OK(t, MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 23, &inter));
        EPT_OK(t,
               MPI_Comm_split_type(inter, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL, &space));
        EPT_CHECK(t, MPI_COMM_NULL == space, "a communicator of one process's space");
        EPT_OK(t, MPI_Comm_free(&inter));
        EPT_OK(t, MPI_Comm_free(&half));
    }
    ept_local_barrier(t);
}

void case_address_space_errors(MPI_Comm comm, struct ept *t)
{
    MPI_Comm own, space;

    EPT_OK(t, MPI_Comm_dup(comm, &own));
    EPT_OK(t, MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
    EPT_CLASS(t, MPI_ERR_ARG,
              MPI_Comm_split_type(own, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL, NULL));
    EPT_CLASS(t, MPI_ERR_ARG, MPI_Comm_split_type(own, 0x4551, 0, MPI_INFO_NULL, &space));
    /* Not all mean the same; one has no place for the result; one has no info. */
    EPT_CLASS(t, MPI_ERR_ARG,
              MPI_Comm_split_type(own,
                                  0 == t->rank ? MPI_COMM_TYPE_SHARED
                                               : MPIX_COMM_TYPE_ADDRESS_SPACE,
                                  0, MPI_INFO_NULL, &space));
    EPT_CLASS(t, MPI_ERR_ARG,
              MPI_Comm_split_type(own, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL,
                                  0 == t->rank ? NULL : &space));
    EPT_CLASS(t, 0 == t->rank ? MPI_ERR_INFO : MPI_ERR_ARG,
              MPI_Comm_split_type(own, MPI_COMM_TYPE_SHARED, 0, 0 == t->rank ? NULL : MPI_INFO_NULL,
                                  &space));
    ept_use_comm(t, own, t->rank, t->size);
    EPT_OK(t, MPI_Comm_free(&own));
}

#endif /* HAVE_EP */
