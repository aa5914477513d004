/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Comm_create_from_group and MPI_Intercomm_create_from_groups with endpoints in the groups: in
 * any order, of parts that use one tag at a time, of several threads with a tag each, with a member
 * that comes late, of communicators that are gone, of two creations, with groups of a session.  The
 * new communicator's group is the one given, and its handles have what each member has asked for.
 *
 *   --limit 1   endpoints run out: all members get an error
 *
 * Guards: hook_from_group.c, pml_epml_from_group.c, pml_epml_proc_tree.c
 */

#include "ept.h"

enum { RANKS_MAX = 64, THREADS = 3, LATE_SIZE = 100000 };

static MPI_Group group_of(struct ept *t, MPI_Comm comm)
{
    MPI_Group group = MPI_GROUP_NULL;

    EPT_OK(t, MPI_Comm_group(comm, &group));
    return group;
}

/** Those ranks of a communicator's group. */
static MPI_Group part_of(struct ept *t, MPI_Comm comm, const int *ranks, int count)
{
    MPI_Group all = group_of(t, comm), part = MPI_GROUP_NULL;

    EPT_OK(t, MPI_Group_incl(all, count, ranks, &part));
    EPT_OK(t, MPI_Group_free(&all));
    return part;
}

/** Of two halves, which one has a rank: its number in its process and that of the process are added,
 * so that neither half is of endpoints of index 0 alone, whose communicator libmpi makes. */
static int half_with(const struct ept *t, int rank)
{
    return (rank / t->nlocal + rank % t->nlocal) % 2;
}

static MPI_Group half_of(struct ept *t, MPI_Comm comm, int half)
{
    int ranks[RANKS_MAX], count = 0;

    for (int r = 0; r < t->size; ++r) {
        if (half == half_with(t, r)) {
            ranks[count++] = r;
        }
    }
    return part_of(t, comm, ranks, count);
}

static void check_group(struct ept *t, MPI_Comm made, MPI_Group group, bool remote)
{
    int result = -1;
    MPI_Group own = MPI_GROUP_NULL;

    if (remote) {
        EPT_OK(t, MPI_Comm_remote_group(made, &own));
    } else {
        own = group_of(t, made);
    }
    EPT_OK(t, MPI_Group_compare(own, group, &result));
#if defined(HAVE_EP)
    if (remote
        && MPIX_ALIASED == result) { /* the given one is somebody's, and the other nobody's */
        result = MPI_IDENT;
    }
#endif
    EPT_EQ(t, MPI_IDENT, result);
    EPT_OK(t, MPI_Group_free(&own));
}

/** Make a communicator of a group that has the caller, use it, and free both. */
static void make_and_use(struct ept *t, MPI_Group *group, const char *tag)
{
    int rank = -1, size = -1;
    MPI_Comm made = MPI_COMM_NULL;

    EPT_OK(t, MPI_Group_rank(*group, &rank));
    EPT_OK(t, MPI_Group_size(*group, &size));
    EPT_OK(t, MPI_Comm_create_from_group(*group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    if (MPI_COMM_NULL == made) {
        ept_fail(t, __FILE__, __LINE__, "no communicator");
        return;
    }
    check_group(t, made, *group, false);
    EPT_OK(t, MPI_Group_free(group));
    ept_use_comm(t, made, rank, size);
    EPT_OK(t, MPI_Comm_free(&made));
}

/* ---- one communicator ------------------------------------------------------------------------ */

static void case_same(MPI_Comm comm, struct ept *t)
{
    int result = -1, flag = 0, *tag_ub = NULL;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group = group_of(t, comm);

    EPT_OK(t, MPI_Comm_create_from_group(group, "same", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    EPT_OK(t, MPI_Comm_compare(made, comm, &result));
    EPT_EQ(t, MPI_CONGRUENT, result);
    EPT_OK(t, MPI_Comm_get_attr(made, MPI_TAG_UB, &tag_ub, &flag));
    EPT_EQ(t, 1, flag);
    EPT_CHECK(t, NULL != tag_ub && 32767 <= *tag_ub, "no tags");
    EPT_OK(t, MPI_Comm_free(&made));
    EPT_OK(t, MPI_Group_free(&group));
    for (int round = 0; round < 5; ++round) {
        ept_phase(t, "round %d", round);
        group = group_of(t, comm);
        make_and_use(t, &group, "same");
    }
}

static void case_permuted(MPI_Comm comm, struct ept *t)
{
    uint64_t random = t->seed;
    int order[RANKS_MAX];

    for (int round = 0; round < 5; ++round) {
        MPI_Group group;

        ept_shuffle(order, t->size, &random);
        ept_phase(t, "round %d", round);
        group = part_of(t, comm, order, t->size);
        make_and_use(t, &group, "permuted");
    }
}

/** Both halves at once with one tag.  A group without the caller gives MPI_COMM_NULL. */
static void case_halves(MPI_Comm comm, struct ept *t)
{
    const int half = half_with(t, t->rank);
    MPI_Group mine = half_of(t, comm, half), other = half_of(t, comm, !half);
    MPI_Comm made = MPI_COMM_WORLD;

    EPT_OK(t, MPI_Comm_create_from_group(other, "halves", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    EPT_CHECK(t, MPI_COMM_NULL == made, "a communicator of others");
    made = MPI_COMM_WORLD;
    EPT_OK(t, MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "halves", MPI_INFO_NULL,
                                         MPI_ERRORS_RETURN, &made));
    EPT_CHECK(t, MPI_COMM_NULL == made, "a communicator of nobody");
    make_and_use(t, &mine, "halves");
    if (MPI_GROUP_EMPTY != other) {
        EPT_OK(t, MPI_Group_free(&other));
    }
}

struct call {
    struct ept *t;
    MPI_Comm comm;
    int number;
};

/** Each number has a tag and an order of its own. */
static void *call_thread(void *context)
{
    const struct call *call = context;
    uint64_t random = call->t->seed + (uint64_t) call->number;
    int order[RANKS_MAX];
    char tag[32];
    MPI_Group group;

    ept_shuffle(order, call->t->size, &random);
    (void) snprintf(tag, sizeof(tag), "threads %d", call->number);
    group = part_of(call->t, call->comm, order, call->t->size);
    make_and_use(call->t, &group, tag);
    return NULL;
}

static void case_threads(MPI_Comm comm, struct ept *t)
{
    pthread_t threads[THREADS];
    struct call calls[THREADS];

    for (int i = 0; i < THREADS; ++i) {
        calls[i] = (struct call){t, comm, (i + t->rank) % THREADS};
        if (0 != pthread_create(&threads[i], NULL, call_thread, &calls[i])) {
            abort();
        }
    }
    for (int i = 0; i < THREADS; ++i) {
        (void) pthread_join(threads[i], NULL);
    }
}

/** The last rank comes only after each other member has received from it, while that waits.
 *
 * @param[in] group  that has the last rank; its members call this, and others only get a barrier */
static void late(MPI_Comm comm, struct ept *t, MPI_Group group, int every)
{
    static _Thread_local unsigned char data[LATE_SIZE];
    const int late = t->size - 1;
    MPI_Request request = MPI_REQUEST_NULL;

    if (every - 1 != t->rank % every) {
        EPT_OK(t, MPI_Barrier(comm));
        EPT_OK(t, MPI_Group_free(&group));
        return;
    }

    if (t->rank == late) {
        EPT_OK(t, MPI_Barrier(comm));
        ept_fill(data, 0, LATE_SIZE, 7);
        for (int r = every - 1; r < late; r += every) {
            EPT_OK(t, MPI_Ssend(data, LATE_SIZE, MPI_BYTE, r, 5, comm));
        }
    } else {
        EPT_OK(t, MPI_Irecv(data, LATE_SIZE, MPI_BYTE, late, 5, comm, &request));
        EPT_OK(t, MPI_Barrier(comm));
    }
    make_and_use(t, &group, "late");
    if (t->rank != late) {
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_FILL(t, data, LATE_SIZE, 7);
    }
}

static void case_late(MPI_Comm comm, struct ept *t)
{
    int ranks[RANKS_MAX], count = 0;

    ept_phase(t, "all");
    late(comm, t, group_of(t, comm), 1);
    for (int r = t->nlocal - 1; r < t->size; r += t->nlocal) {
        ranks[count++] = r;
    }
    ept_phase(t, "one of each process");
    late(comm, t, part_of(t, comm, ranks, count), t->nlocal);
}

/* ---- what each member asks for --------------------------------------------------------------- */

static _Thread_local int handled_code;
static _Thread_local MPI_Comm handled_comm;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    handled_comm = *comm;
    handled_code = *code;
}

/** Even ranks have a handler of their own. */
static void case_errhandler(MPI_Comm comm, struct ept *t)
{
    const bool own = 0 == t->rank % 2;
    MPI_Errhandler handler = MPI_ERRORS_RETURN, got = MPI_ERRHANDLER_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group = group_of(t, comm);

    if (own) {
        EPT_OK(t, MPI_Comm_create_errhandler(on_error, &handler));
    }
    EPT_OK(t, MPI_Comm_create_from_group(group, "errhandler", MPI_INFO_NULL, handler, &made));
    EPT_OK(t, MPI_Comm_get_errhandler(made, &got));
    EPT_CHECK(t, handler == got, "another error handler");
    if (own) {
        EPT_OK(t, MPI_Errhandler_free(&handler));
    }
    EPT_OK(t, MPI_Errhandler_free(&got));
    handled_code = MPI_SUCCESS;
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Send(NULL, 0, MPI_BYTE, t->size, 0, made));
    EPT_CLASS(t, own ? MPI_ERR_RANK : MPI_SUCCESS, handled_code);
    EPT_CHECK(t, !own || made == handled_comm, "of another communicator");
    EPT_OK(t, MPI_Comm_free(&made));
    EPT_OK(t, MPI_Group_free(&group));
}

static void case_info(MPI_Comm comm, struct ept *t)
{
    static const char *const levels[] = {"serialized", "multiple"};
    char value[32] = "";
    int flag = 0;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group = group_of(t, comm);
    MPI_Info info;

    EPT_OK(t, MPI_Info_create(&info));
    EPT_OK(t, MPI_Info_set(info, "mpix_thread_level", levels[t->rank % 2]));
    EPT_OK(t, MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    EPT_OK(t, MPI_Comm_create_from_group(group, "info", info, MPI_ERRORS_RETURN, &made));
    EPT_OK(t, MPI_Info_free(&info));
    EPT_OK(t, MPI_Comm_get_info(made, &info));
    if (t->endpoints && 1 < t->nlocal) {
        EPT_OK(t, MPI_Info_get(info, "mpix_thread_level", sizeof(value) - 1, value, &flag));
        EPT_STREQ(t, levels[t->rank % 2], value);
        EPT_OK(t, MPI_Info_get(info, "mpi_assert_no_any_tag", sizeof(value) - 1, value, &flag));
        EPT_STREQ(t, "true", value);
    }
    EPT_OK(t, MPI_Info_free(&info));
    EPT_OK(t, MPI_Comm_free(&made));
    EPT_OK(t, MPI_Group_free(&group));
}

/* ---- groups that outlive, and of two creations ----------------------------------------------- */

static MPI_Comm of_process[RANKS_MAX];

/** One rank of each process makes endpoints for all. */
static MPI_Comm create_again(struct ept *t)
{
    ept_local_barrier(t);
    if (0 == t->local) {
        EPT_OK(t, ept_create_endpoints(MPI_COMM_WORLD, t->nlocal, MPI_INFO_NULL, of_process));
    }
    ept_local_barrier(t);
    return of_process[t->local];
}

static void case_freed(MPI_Comm comm, struct ept *t)
{
    MPI_Comm other = create_again(t);
    MPI_Group group = group_of(t, other);
    int backwards[1][3] = {{t->size - 1, 0, -1}};
    MPI_Group turned;

    (void) comm;
    EPT_OK(t, MPI_Comm_free(&other));
    ept_local_barrier(t);
    EPT_OK(t, MPI_Group_range_incl(group, 1, backwards, &turned));
    EPT_OK(t, MPI_Group_free(&group));
    make_and_use(t, &turned, "freed");
}

struct member {
    struct ept *t;
    MPI_Group group;
};

static void *union_thread(void *context)
{
    struct member *member = context;

    make_and_use(member->t, &member->group, "union");
    return NULL;
}

/** The union of both groups, for the member that the second one belongs to. */
static MPI_Group union_for_second(struct ept *t, MPI_Group first, MPI_Group second)
{
    MPI_Group wanted, mine, group = MPI_GROUP_NULL;
    int size = 0, ranks[2 * RANKS_MAX], order[2 * RANKS_MAX];

    EPT_OK(t, MPI_Group_union(first, second, &wanted));
    EPT_OK(t, MPI_Group_union(second, first, &mine));
    EPT_OK(t, MPI_Group_size(wanted, &size));
    for (int i = 0; i < size; ++i) {
        ranks[i] = i;
    }
    EPT_OK(t, MPI_Group_translate_ranks(wanted, size, ranks, mine, order));
    EPT_OK(t, MPI_Group_incl(mine, size, order, &group));
    EPT_OK(t, MPI_Group_free(&wanted));
    EPT_OK(t, MPI_Group_free(&mine));
    return group;
}

/** Endpoints of two creations; those of index 0 are the processes in both. */
static void case_union(MPI_Comm comm, struct ept *t)
{
    MPI_Comm other = create_again(t);
    MPI_Group first = group_of(t, comm), second = group_of(t, other);
    struct member members[2] = {{.t = t}, {.t = t}};
    pthread_t thread;

    EPT_OK(t, MPI_Group_union(first, second, &members[0].group));
    if (0 < t->local) {
        members[1].group = union_for_second(t, first, second);
        if (0 != pthread_create(&thread, NULL, union_thread, &members[1])) {
            abort();
        }
    }
    (void) union_thread(&members[0]);
    if (0 < t->local) {
        (void) pthread_join(thread, NULL);
    }
    EPT_OK(t, MPI_Group_free(&first));
    EPT_OK(t, MPI_Group_free(&second));
    EPT_OK(t, MPI_Comm_free(&other));
    ept_local_barrier(t);
}

/* ---- intercommunicators ---------------------------------------------------------------------- */

static void use_inter(struct ept *t, MPI_Comm inter, MPI_Group local, MPI_Group remote, bool high)
{
    int rank = -1, size = -1, others = -1, last = -1, flag = 0;
    MPI_Comm merged = MPI_COMM_NULL;

    EPT_OK(t, MPI_Comm_test_inter(inter, &flag));
    EPT_EQ(t, 1, flag);
    check_group(t, inter, local, false);
    check_group(t, inter, remote, true);
    EPT_OK(t, MPI_Comm_rank(inter, &rank));
    EPT_OK(t, MPI_Comm_size(inter, &size));
    EPT_OK(t, MPI_Comm_remote_size(inter, &others));
    EPT_OK(t, MPI_Allreduce(&rank, &last, 1, MPI_INT, MPI_MAX, inter));
    EPT_EQ(t, others - 1, last);
    EPT_OK(t, MPI_Intercomm_merge(inter, high, &merged));
    ept_use_comm(t, merged, high ? others + rank : rank, size + others);
    EPT_OK(t, MPI_Comm_free(&merged));
}

/** Both halves; leaders in turn. */
static void case_inter(MPI_Comm comm, struct ept *t)
{
    const int half = half_with(t, t->rank);
    MPI_Group local = half_of(t, comm, half), remote = half_of(t, comm, !half);
    int size = 0, others = 0;

    EPT_OK(t, MPI_Group_size(local, &size));
    EPT_OK(t, MPI_Group_size(remote, &others));
    for (int leader = 0; 0 < others && leader < 2; ++leader) {
        MPI_Comm inter = MPI_COMM_NULL;
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

        ept_phase(t, "leader %d", leader);
        EPT_OK(t,
               MPI_Intercomm_create_from_groups(local, leader % size, remote, leader % others,
                                                "inter", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
        if (MPI_COMM_NULL != inter) {
            EPT_OK(t, MPI_Comm_get_errhandler(inter, &handler));
            EPT_CHECK(t, MPI_ERRORS_RETURN == handler, "another error handler");
            EPT_OK(t, MPI_Errhandler_free(&handler));
            use_inter(t, inter, local, remote, half);
            EPT_OK(t, MPI_Comm_free(&inter));
        }
    }
    EPT_OK(t, MPI_Group_free(&local));
    if (MPI_GROUP_EMPTY != remote) {
        EPT_OK(t, MPI_Group_free(&remote));
    }
}

/** Processes on one side, whose groups are of MPI_COMM_WORLD, their other endpoints on the other. */
static void case_inter_processes(MPI_Comm comm, struct ept *t)
{
    const bool is_process = 0 == t->local;
    int ranks[RANKS_MAX], count = 0;
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Group world = group_of(t, MPI_COMM_WORLD), endpoints;

    for (int r = 0; r < t->size; ++r) {
        if (0 != r % t->nlocal) {
            ranks[count++] = r;
        }
    }
    endpoints = part_of(t, comm, ranks, count);
    EPT_OK(t, MPI_Intercomm_create_from_groups(is_process ? world : endpoints, 0,
                                               is_process ? endpoints : world, 0, "processes",
                                               MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    if (MPI_COMM_NULL != inter) {
        use_inter(t, inter, is_process ? world : endpoints, is_process ? endpoints : world,
                  !is_process);
        EPT_OK(t, MPI_Comm_free(&inter));
    }
    EPT_OK(t, MPI_Group_free(&world));
    EPT_OK(t, MPI_Group_free(&endpoints));
}

/** Rank 1 is on both sides: an error to all, first on the one, then on the other. */
static void case_inter_errors(MPI_Comm comm, struct ept *t)
{
    const int sides[2][2] = {{0, 1}, {1, 2}};

    for (int side = 0; 3 <= t->size && side < 2; ++side) {
        MPI_Group local = part_of(t, comm, sides[side], 2),
                  remote = part_of(t, comm, sides[!side], 2);
        MPI_Comm inter = MPI_COMM_NULL;

        if (t->rank == sides[side][0] || t->rank == sides[side][1]) {
            EPT_CLASS(t, MPI_ERR_GROUP,
                      MPI_Intercomm_create_from_groups(local, 0, remote, 0, "both", MPI_INFO_NULL,
                                                       MPI_ERRORS_RETURN, &inter));
            EPT_CLASS(t, MPI_ERR_ARG,
                      MPI_Intercomm_create_from_groups(local, 0, remote, -1, "none", MPI_INFO_NULL,
                                                       MPI_ERRORS_RETURN, &inter));
            EPT_CLASS(t, MPI_ERR_ARG,
                      MPI_Intercomm_create_from_groups(local, 2, remote, 0, "none", MPI_INFO_NULL,
                                                       MPI_ERRORS_RETURN, &inter));
            EPT_CHECK(t, MPI_COMM_NULL == inter, "a communicator came of it");
        }
        EPT_OK(t, MPI_Group_free(&local));
        EPT_OK(t, MPI_Group_free(&remote));
    }
}

/* ---- sessions -------------------------------------------------------------------------------- */

static MPI_Session session;

/** Processes by a session's set, and the endpoints that are none. */
static void case_session(MPI_Comm comm, struct ept *t)
{
    int ranks[RANKS_MAX], count = 0;
    MPI_Group world = MPI_GROUP_NULL, endpoints, all = MPI_GROUP_NULL;

    ept_local_barrier(t);
    if (0 == t->local) {
        EPT_OK(t, MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    }
    ept_local_barrier(t);
    for (int r = 0; r < t->size; ++r) {
        if (0 != r % t->nlocal) {
            ranks[count++] = r;
        }
    }
    endpoints = part_of(t, comm, ranks, count);
    EPT_OK(t, MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    EPT_OK(t, MPI_Group_union(endpoints, world, &all));
    EPT_OK(t, MPI_Group_free(&world));
    if (MPI_GROUP_EMPTY != endpoints) {
        EPT_OK(t, MPI_Group_free(&endpoints));
    }
    make_and_use(t, &all, "session");
    ept_local_barrier(t);
    if (0 == t->local) {
        EPT_OK(t, MPI_Session_finalize(&session));
    }
    ept_local_barrier(t);
}

/* ---- no endpoints left ----------------------------------------------------------------------- */

static void case_limit(MPI_Comm comm, struct ept *t)
{
#if defined(HAVE_EP)
    MPI_Comm made = MPI_COMM_WORLD;
    MPI_Group group = group_of(t, comm);

    EPT_CLASS(t, MPIX_ERR_ENDPOINTS,
              MPI_Comm_create_from_group(group, "limit", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    EPT_CHECK(t, MPI_COMM_NULL == made, "a communicator came of it");
    EPT_OK(t, MPI_Group_free(&group));
#else
    (void) comm;
    (void) t;
#endif
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    if (0 != ept_option_long("limit", 0)) {
        EPT_CASE(t, case_limit);
        return 0;
    }
    EPT_CASE(t, case_same);
    EPT_CASE(t, case_permuted);
    EPT_CASE(t, case_halves);
    EPT_CASE(t, case_threads);
    EPT_CASE(t, case_late);
    EPT_CASE(t, case_errhandler);
    EPT_CASE(t, case_info);
    EPT_CASE(t, case_freed);
    EPT_CASE(t, case_union);
    EPT_CASE(t, case_inter);
    EPT_CASE(t, case_inter_processes);
    EPT_CASE(t, case_inter_errors);
    EPT_CASE(t, case_session);
    (void) comm;
    return 0;
}
