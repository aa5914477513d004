/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Bad input to communicator and topology functions, by all ranks at once: each gets the error class
 * of the standard (of stock Open MPI, where the standard leaves it open) through its own error
 * handler, nobody is left waiting, and the communicator works on.
 *
 * Guards: show_help.c
 */

#include "ept.h"

/** What one handle's error handler saw; handles are distinguished by an attribute. */
struct seen {
    int calls, class;
    pthread_t thread;
    MPI_Comm comm;
};

static int seen_key = MPI_KEYVAL_INVALID; /* one per process */

static void see_error(MPI_Comm *comm, int *code, ...)
{
    struct seen *seen = NULL;
    int flag = 0;

    MPI_Comm_get_attr(*comm, seen_key, &seen, &flag);
    if (0 != flag) {
        ++seen->calls;
        seen->thread = pthread_self();
        seen->comm = *comm;
        MPI_Error_class(*code, &seen->class);
    }
}

/* MPI 5 has a class for this, and Open MPI 6 with it. */
#if defined(MPI_ERR_ERRHANDLER)
enum { ERR_ERRHANDLER = MPI_ERR_ERRHANDLER };
#elif defined(OPEN_MPI)
enum { ERR_ERRHANDLER = MPI_ERR_ARG };
#endif

void test_process_begin(void)
{
    /* Errors of calls that name no communicator. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &seen_key, NULL);
}

static void watch(struct ept *t, MPI_Comm comm, struct seen *seen)
{
    MPI_Errhandler handler;

    EPT_OK(t, MPI_Comm_create_errhandler(see_error, &handler));
    EPT_OK(t, MPI_Comm_set_errhandler(comm, handler));
    EPT_OK(t, MPI_Errhandler_free(&handler));
    EPT_OK(t, MPI_Comm_set_attr(comm, seen_key, seen));
}

static MPI_Comm watched_copy(struct ept *t, MPI_Comm comm, struct seen *seen)
{
    MPI_Comm copy;

    memset(seen, 0, sizeof(*seen));
    EPT_OK(t, MPI_Comm_dup(comm, &copy));
    watch(t, copy, seen);
    return copy;
}

/** The call gave an error of this class, and this handle's handler has seen it, once, here. */
#define ERROR(t, expected, watched, seen, call)                                              \
    do {                                                                                     \
        ept_phase((t), "%s", #call);                                                         \
        (seen)->calls = 0;                                                                   \
        ept_check_class((t), __FILE__, __LINE__, #call, (expected), (call));                 \
        ept_check_int((t), __FILE__, __LINE__, "handler calls of " #call, 1, (seen)->calls); \
        if (1 == (seen)->calls) {                                                            \
            EPT_EQ((t), (expected), (seen)->class);                                          \
            EPT_CHECK((t), (watched) == (seen)->comm, "handler got another handle");         \
            EPT_CHECK((t), 0 != pthread_equal(pthread_self(), (seen)->thread),               \
                      "handler ran in another thread");                                      \
        }                                                                                    \
    } while (0)

/** The same for an error that belongs to no communicator. */
#define ERROR_NOWHERE(t, expected, seen, call)                                               \
    do {                                                                                     \
        ept_phase((t), "%s", #call);                                                         \
        (seen)->calls = 0;                                                                   \
        ept_check_class((t), __FILE__, __LINE__, #call, (expected), (call));                 \
        ept_check_int((t), __FILE__, __LINE__, "handler calls of " #call, 0, (seen)->calls); \
    } while (0)

static void use_and_free(struct ept *t, MPI_Comm *comm, const struct seen *seen)
{
    int calls = seen->calls;

    ept_use_comm(t, *comm, t->rank, t->size);
    EPT_EQ(t, calls, seen->calls);
    EPT_OK(t, MPI_Comm_free(comm));
}

static void case_split(MPI_Comm comm, struct ept *t)
{
    struct seen seen;
    MPI_Comm c = watched_copy(t, comm, &seen), got = MPI_COMM_NULL;

    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Comm_split(c, -5, 0, &got));
    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Comm_split(c, 0, 0, NULL));
    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Comm_split_type(c, 12345, 0, MPI_INFO_NULL, &got));
    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Comm_dup(c, NULL));
    EPT_CHECK(t, MPI_COMM_NULL == got, "a communicator came with an error");
    /* A colour that some do not have. */
    EPT_OK(t, MPI_Comm_split(c, MPI_UNDEFINED, 0, &got));
    EPT_CHECK(t, MPI_COMM_NULL == got, "a communicator without a colour");
    use_and_free(t, &c, &seen);
}

/* What an error finds in the new handle it takes away. */
static void case_split_type(MPI_Comm comm, struct ept *t)
{
    struct seen seen;
    MPI_Comm c, got;

    if (!t->endpoints) {
        return; /* libmpi leaves it */
    }
    c = watched_copy(t, comm, &seen);
    got = c;
    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Comm_split_type(c, 12345, 0, MPI_INFO_NULL, &got));
    EPT_CHECK(t, MPI_COMM_NULL == got, "an error left the handle (unknown type)");
    got = c;
    ERROR(t, MPI_ERR_INFO, c, &seen, MPI_Comm_split_type(c, MPI_COMM_TYPE_SHARED, 0, NULL, &got));
    EPT_CHECK(t, MPI_COMM_NULL == got, "an error left the handle (bad info)");
#if defined(HAVE_EP)
    if (1 < t->size) {
        const int type = 0 == t->rank ? MPIX_COMM_TYPE_ADDRESS_SPACE : MPI_COMM_TYPE_SHARED;

        got = c;
        ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Comm_split_type(c, type, 0, MPI_INFO_NULL, &got));
        EPT_CHECK(t, MPI_COMM_NULL == got, "an error left the handle (different types)");
    }
#endif
    use_and_free(t, &c, &seen);
}

static int delete_if_willing(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm;
    (void) key;
    (void) extra;
    return *(int *) value ? MPI_SUCCESS : MPI_ERR_ARG;
}

/* An attribute that does not want to be deleted. */
static void case_disconnect(MPI_Comm comm, struct ept *t)
{
    int willing = 0, key = MPI_KEYVAL_INVALID;
    struct seen seen;
    MPI_Comm c;

    if (!t->endpoints) {
        return; /* libmpi's says success, and has not freed it */
    }
    c = watched_copy(t, comm, &seen);
    EPT_OK(t, MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_if_willing, &key, NULL));
    EPT_OK(t, MPI_Comm_set_attr(c, key, &willing));
    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Comm_disconnect(&c));
    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Comm_free(&c));
    EPT_CHECK(t, MPI_COMM_NULL != c, "the handle is gone");
    ept_use_comm(t, c, t->rank, t->size);
    willing = 1;
    EPT_OK(t, MPI_Comm_disconnect(&c));
    EPT_CHECK(t, MPI_COMM_NULL == c, "the handle is still there");
    EPT_OK(t, MPI_Comm_free_keyval(&key));
}

static void case_create(MPI_Comm comm, struct ept *t)
{
    struct seen seen;
    MPI_Comm c = watched_copy(t, comm, &seen), got = MPI_COMM_NULL;
    MPI_Group all;
    int *tag_ub = NULL, flag = 0;

    EPT_OK(t, MPI_Comm_group(c, &all));
    EPT_OK(t, MPI_Comm_get_attr(comm, MPI_TAG_UB, &tag_ub, &flag));
    EPT_EQ(t, 1, flag);
    ERROR(t, MPI_ERR_GROUP, c, &seen, MPI_Comm_create(c, MPI_GROUP_NULL, &got));
    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Comm_create(c, all, NULL));
    ERROR(t, MPI_ERR_TAG, c, &seen, MPI_Comm_create_group(c, all, -1, &got));
    if (0 != flag && INT32_MAX > *tag_ub) {
        ERROR(t, MPI_ERR_TAG, c, &seen, MPI_Comm_create_group(c, all, *tag_ub + 1, &got));
    }
    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Comm_create_group(c, all, 1, NULL));
    EPT_CHECK(t, MPI_COMM_NULL == got, "a communicator came with an error");
    EPT_OK(t, MPI_Comm_create(c, MPI_GROUP_EMPTY, &got));
    EPT_CHECK(t, MPI_COMM_NULL == got, "a communicator of the empty group");
    EPT_OK(t, MPI_Group_free(&all));
    use_and_free(t, &c, &seen);
}

/* No communicator at all. */
static void case_null(MPI_Comm comm, struct ept *t)
{
    struct seen seen;
    MPI_Comm c = watched_copy(t, comm, &seen), null = MPI_COMM_NULL, got = MPI_COMM_NULL;
    MPI_Group group;
    int value;

    ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Comm_free(&null));
    ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Comm_disconnect(&null));
    ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Comm_dup(null, &got));
    ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Comm_split(null, 0, 0, &got));
    ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Comm_create(null, MPI_GROUP_EMPTY, &got));
    ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Comm_group(null, &group));
    ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Comm_rank(null, &value));
    ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Comm_size(null, &value));
    ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Comm_set_name(null, "x"));
    ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Comm_set_errhandler(null, MPI_ERRORS_RETURN));
    ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Comm_call_errhandler(null, MPI_ERR_OTHER));
    ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Comm_compare(c, null, &value));
    ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Barrier(null));
    use_and_free(t, &c, &seen);
}

/* Topology functions on a communicator that has none. */
static void case_no_topology(MPI_Comm comm, struct ept *t)
{
    struct seen seen;
    MPI_Comm c = watched_copy(t, comm, &seen), got = MPI_COMM_NULL;
    int a[8] = {0}, b[8] = {0}, d[8] = {0}, value = -1, other = -1, kind = -1;
    MPI_Request request = MPI_REQUEST_NULL;

    EPT_OK(t, MPI_Topo_test(c, &kind));
    EPT_EQ(t, MPI_UNDEFINED, kind);
    ERROR(t, MPI_ERR_TOPOLOGY, c, &seen, MPI_Cartdim_get(c, &value));
    ERROR(t, MPI_ERR_TOPOLOGY, c, &seen, MPI_Cart_get(c, 1, a, b, d));
    ERROR(t, MPI_ERR_TOPOLOGY, c, &seen, MPI_Cart_rank(c, a, &value));
    ERROR(t, MPI_ERR_TOPOLOGY, c, &seen, MPI_Cart_coords(c, 0, 1, a));
    ERROR(t, MPI_ERR_TOPOLOGY, c, &seen, MPI_Cart_shift(c, 0, 1, &value, &other));
    ERROR(t, MPI_ERR_TOPOLOGY, c, &seen, MPI_Cart_sub(c, a, &got));
    ERROR(t, MPI_ERR_TOPOLOGY, c, &seen, MPI_Graphdims_get(c, &value, &other));
    ERROR(t, MPI_ERR_TOPOLOGY, c, &seen, MPI_Graph_get(c, 1, 1, a, b));
    ERROR(t, MPI_ERR_TOPOLOGY, c, &seen, MPI_Graph_neighbors_count(c, 0, &value));
    ERROR(t, MPI_ERR_TOPOLOGY, c, &seen, MPI_Graph_neighbors(c, 0, 1, a));
    ERROR(t, MPI_ERR_TOPOLOGY, c, &seen, MPI_Dist_graph_neighbors_count(c, &value, &other, a));
    ERROR(t, MPI_ERR_TOPOLOGY, c, &seen, MPI_Dist_graph_neighbors(c, 1, a, b, 1, a, d));
    /* Open MPI returns MPI_ERR_INTERN from the first and does not call the handler in others. */
    ept_phase(t, "neighbourhood collectives");
    EPT_CLASS(t, t->endpoints ? MPI_ERR_TOPOLOGY : MPI_ERR_INTERN,
              MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, c));
    EPT_CLASS(t, MPI_ERR_TOPOLOGY, MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, c));
    if (t->endpoints) { /* Open MPI's own crash */
        EPT_CLASS(t, MPI_ERR_TOPOLOGY,
                  MPI_Ineighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, c, &request));
    }
    EPT_CHECK(t, MPI_COMM_NULL == got, "a communicator came with an error");
    use_and_free(t, &c, &seen);
}

static void case_cart(MPI_Comm comm, struct ept *t)
{
    struct seen seen, grid_seen = {0};
    MPI_Comm c = watched_copy(t, comm, &seen), got = MPI_COMM_NULL, grid;
    int dims[2] = {t->size, 2}, periods[2] = {0, 0}, out[2] = {t->size, 0}, at[2];
    int value = -1, other;

    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Cart_create(c, -1, dims, periods, 0, &got));
    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Cart_create(c, 2, dims, periods, 0, &got));
    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Cart_create(c, 2, NULL, periods, 0, &got));
    /* Open MPI has its own class for these. */
    dims[1] = 0;
    ERROR(t, MPI_ERR_OTHER, c, &seen, MPI_Cart_create(c, 2, dims, periods, 0, &got));
    dims[1] = -1;
    ERROR(t, MPI_ERR_OTHER, c, &seen, MPI_Cart_create(c, 2, dims, periods, 0, &got));
    EPT_CHECK(t, MPI_COMM_NULL == got, "a communicator came with an error");

    dims[1] = 1;
    EPT_OK(t, MPI_Cart_create(c, 2, dims, periods, 0, &grid));
    watch(t, grid, &grid_seen);
    /* Open MPI lets a rank that is too large by one pass, and dimensions too large to shift by. */
    ERROR(t, MPI_ERR_RANK, grid, &grid_seen, MPI_Cart_coords(grid, t->size + 1, 2, at));
    ERROR(t, MPI_ERR_RANK, grid, &grid_seen, MPI_Cart_coords(grid, -1, 2, at));
    ERROR(t, MPI_ERR_ARG, grid, &grid_seen, MPI_Cart_rank(grid, out, &value));
    ERROR(t, MPI_ERR_DIMS, grid, &grid_seen, MPI_Cart_shift(grid, -1, 1, &value, &other));
    ERROR(t, MPI_ERR_TOPOLOGY, grid, &grid_seen, MPI_Graphdims_get(grid, &value, &other));
    EPT_EQ(t, 1, seen.calls); /* the last before there was a grid */
    use_and_free(t, &grid, &grid_seen);
    use_and_free(t, &c, &seen);
}

static void case_dims(MPI_Comm comm, struct ept *t)
{
    struct seen seen;
    MPI_Comm c = watched_copy(t, comm, &seen);
    int dims[2] = {2, 0};

    ERROR_NOWHERE(t, MPI_ERR_DIMS, &seen, MPI_Dims_create(7, 2, dims));
    dims[0] = -1;
    ERROR_NOWHERE(t, MPI_ERR_DIMS, &seen, MPI_Dims_create(8, 2, dims));
    ERROR_NOWHERE(t, MPI_ERR_DIMS, &seen, MPI_Dims_create(0, 2, dims));
    ERROR_NOWHERE(t, MPI_ERR_DIMS, &seen, MPI_Dims_create(4, -1, dims));
    dims[0] = dims[1] = 2;
    ERROR_NOWHERE(t, MPI_ERR_DIMS, &seen, MPI_Dims_create(8, 2, dims));
    use_and_free(t, &c, &seen);
}

static void case_graph(MPI_Comm comm, struct ept *t)
{
    struct seen seen;
    MPI_Comm c = watched_copy(t, comm, &seen), got = MPI_COMM_NULL;
    int index[1] = {0}, edges[1] = {0}, sources[1] = {0}, degrees[1] = {1}, bad[1] = {-7};

    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Graph_create(c, -1, index, edges, 0, &got));
    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Graph_create(c, t->size + 1, index, edges, 0, &got));
    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Graph_create(c, 1, NULL, edges, 0, &got));
    ERROR(t, MPI_ERR_ARG, c, &seen,
          MPI_Dist_graph_create(c, -1, sources, degrees, edges, degrees, MPI_INFO_NULL, 0, &got));
    ERROR(t, MPI_ERR_ARG, c, &seen,
          MPI_Dist_graph_create_adjacent(c, -1, sources, degrees, 1, edges, degrees, MPI_INFO_NULL,
                                         0, &got));
    ERROR(t, MPI_ERR_ARG, c, &seen,
          MPI_Dist_graph_create_adjacent(c, 1, bad, degrees, 1, edges, degrees, MPI_INFO_NULL, 0,
                                         &got));
    edges[0] = t->size;
    ERROR(t, MPI_ERR_ARG, c, &seen,
          MPI_Dist_graph_create(c, 1, sources, degrees, edges, degrees, MPI_INFO_NULL, 0, &got));
    degrees[0] = -1;
    ERROR(t, MPI_ERR_ARG, c, &seen,
          MPI_Dist_graph_create(c, 1, sources, degrees, sources, degrees, MPI_INFO_NULL, 0, &got));
    EPT_CHECK(t, MPI_COMM_NULL == got, "a communicator came with an error");
    EPT_OK(t, MPI_Graph_create(c, 0, index, edges, 0, &got));
    EPT_CHECK(t, MPI_COMM_NULL == got, "a communicator of an empty graph");
    use_and_free(t, &c, &seen);
}

static void case_intercomm(MPI_Comm comm, struct ept *t)
{
    struct seen seen, half_seen = {0}, inter_seen = {0};
    MPI_Comm c = watched_copy(t, comm, &seen), half, inter, got = MPI_COMM_NULL;
    const int bad_leader = t->endpoints ? MPI_ERR_RANK : MPI_ERR_ARG;
    int low = t->size / 2, side = t->rank < low ? 0 : 1, value;
    MPI_Group group;

    ERROR(t, MPI_ERR_COMM, c, &seen, MPI_Comm_remote_group(c, &group));
    ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Intercomm_merge(c, 0, &got));
    EPT_OK(t, MPI_Comm_test_inter(c, &value));
    EPT_EQ(t, 0, value);
    /* The standard has no answer for these; Open MPI says that nobody is there. */
    EPT_OK(t, MPI_Comm_remote_size(c, &value));
    EPT_EQ(t, 0, value);
    EPT_OK(t, MPI_Comm_get_parent(&got));
    EPT_CHECK(t, MPI_COMM_NULL == got, "a parent of a process that was not spawned");
    if (2 <= t->size) {
        EPT_OK(t, MPI_Comm_split(c, side, 0, &half));
        watch(t, half, &half_seen);
        /* Open MPI's own class is MPI_ERR_ARG. */
        ERROR(t, bad_leader, half, &half_seen, MPI_Intercomm_create(half, 99, c, 0, 3, &got));
        ERROR(t, bad_leader, half, &half_seen, MPI_Intercomm_create(half, -1, c, 0, 3, &got));
        ERROR(t, MPI_ERR_ARG, half, &half_seen, MPI_Intercomm_create(half, 0, c, 0, 3, NULL));
        EPT_OK(t, MPI_Intercomm_create(half, 0, c, 0 == side ? low : 0, 3, &inter));
        watch(t, inter, &inter_seen);
        ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Intercomm_create(inter, 0, c, 0, 3, &got));
        ERROR_NOWHERE(t, MPI_ERR_COMM, &seen, MPI_Cart_create(inter, 1, &low, &side, 0, &got));
        ERROR(t, MPI_ERR_ARG, inter, &inter_seen, MPI_Intercomm_merge(inter, 0, NULL));
        ERROR(t, MPI_ERR_RANK, inter, &inter_seen, MPI_Send(&value, 1, MPI_INT, t->size, 0, inter));
        EPT_CHECK(t, MPI_COMM_NULL == got, "a communicator came with an error");
        EPT_OK(t, MPI_Barrier(inter));
        EPT_OK(t, MPI_Comm_free(&inter));
        EPT_OK(t, MPI_Comm_free(&half));
    }
    use_and_free(t, &c, &seen);
}

static void case_cached(MPI_Comm comm, struct ept *t)
{
    struct seen seen;
    MPI_Comm c = watched_copy(t, comm, &seen);
    int value = 0, flag, key = MPI_KEYVAL_INVALID;

    /* Open MPI has its own class for three of these. */
    ERROR(t, MPI_ERR_OTHER, c, &seen, MPI_Comm_set_attr(c, MPI_KEYVAL_INVALID, &value));
    ERROR(t, MPI_ERR_KEYVAL, c, &seen, MPI_Comm_get_attr(c, MPI_KEYVAL_INVALID, &value, &flag));
    ERROR(t, MPI_ERR_OTHER, c, &seen, MPI_Comm_delete_attr(c, MPI_KEYVAL_INVALID));
    ERROR_NOWHERE(t, MPI_ERR_OTHER, &seen, MPI_Comm_free_keyval(&key));
#if defined(OPEN_MPI) /* 6.0.0rc2 converts to the MPI ABI for the handler and again afterwards */
    ERROR(t, ERR_ERRHANDLER, c, &seen, MPI_Comm_set_errhandler(c, MPI_ERRHANDLER_NULL));
#endif
    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Comm_set_name(c, NULL));
    ERROR(t, MPI_ERR_ARG, c, &seen, MPI_Comm_get_name(c, NULL, &value));
    ERROR(t, MPI_ERR_RANK, c, &seen, MPI_Send(&value, 1, MPI_INT, t->size, 0, c));
    ERROR(t, MPI_ERR_TAG, c, &seen, MPI_Recv(&value, 1, MPI_INT, 0, -5, c, MPI_STATUS_IGNORE));
    ERROR(t, MPI_ERR_ROOT, c, &seen, MPI_Bcast(&value, 1, MPI_INT, t->size, c));
    /* Of all classes, and it returns success all the same. */
    seen.calls = 0;
    EPT_OK(t, MPI_Comm_call_errhandler(c, MPI_ERR_OTHER));
    EPT_EQ(t, 1, seen.calls);
    EPT_EQ(t, MPI_ERR_OTHER, seen.class);
    use_and_free(t, &c, &seen);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    EPT_CASE(t, case_split);
    EPT_CASE(t, case_split_type);
    EPT_CASE(t, case_disconnect);
    EPT_CASE(t, case_create);
    EPT_CASE(t, case_null);
    EPT_CASE(t, case_no_topology);
    EPT_CASE(t, case_cart);
    EPT_CASE(t, case_dims);
    EPT_CASE(t, case_graph);
    EPT_CASE(t, case_intercomm);
    EPT_CASE(t, case_cached);
    return 0;
}
