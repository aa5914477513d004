/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * libmpix_world: MPI_COMM_WORLD and MPI_COMM_SELF of a thread that is attached to an endpoint, or has
 * set a handle, are its endpoint's, in calls of all kinds; those of other threads are the process's.
 *
 * Guards: hook_errors.c, bound.c, attached.c, thread_world.c, comm_world.c, abi_world.c, world.c,
 * world_special.c, world_f2c.c
 */
/* EPT-LIBS: -world */

#include "static.h"

#if defined(HAVE_EP)

int test_process_init(int *argc, char ***argv)
{
    static_code = static_begin(argc, argv);
    return MPI_THREAD_MULTIPLE;
}

/* The numbers of MPI_COMM_WORLD and MPI_COMM_SELF.  In the MPI ABI what such a number gives is the name. */
#    if defined(OPEN_MPI)
enum { WORLD_NUMBER = 0, SELF_NUMBER = 1 };
#    else
enum { WORLD_NUMBER = 257, SELF_NUMBER = 258 };
#    endif

/* What a communicator is, beside what it should be. */
static void check_comm(struct ept *t, int line, MPI_Comm comm, int size, int rank)
{
    int value = -1;

    EPT_OK(t, MPI_Comm_size(comm, &value));
    EPT_CHECK(t, size == value, "line %d: size %d, not %d", line, value, size);
    EPT_OK(t, MPI_Comm_rank(comm, &value));
    EPT_CHECK(t, rank == value, "line %d: rank %d, not %d", line, value, rank);
}

#    define COMM(t, comm, size, rank) check_comm((t), __LINE__, (comm), (size), (rank))

static int compare(struct ept *t, MPI_Comm comm1, MPI_Comm comm2)
{
    int result = -1;

    EPT_OK(t, MPI_Comm_compare(comm1, comm2, &result));
    return result;
}

static int total(const struct ept *t)
{
    return static_first(t->nprocs);
}

/* ---- what the two are ---------------------------------------------------------------------------- */

static void is_named(struct ept *t, MPI_Comm comm, const char *name)
{
    char text[MPI_MAX_OBJECT_NAME] = "";
    int length;

    EPT_OK(t, MPI_Comm_get_name(comm, text, &length));
    EPT_CHECK(t, 0 == strcmp(name, text), "\"%s\", not \"%s\"", text, name);
}

static void check_member(struct ept *t, int index, void *context)
{
    MPI_Comm parent = MPI_COMM_WORLD;
    MPI_Group own, all;
    int zero = 0, rank = -1;

    (void) context;
    COMM(t, MPI_COMM_WORLD, total(t), static_first(t->proc) + index);
    COMM(t, MPI_COMM_SELF, 1, 0);
    EPT_EQ(t, MPI_IDENT, compare(t, MPI_COMM_WORLD, MPIX_COMM_ENDPOINTS));
    EPT_EQ(t, MPI_IDENT, compare(t, MPIX_COMM_ENDPOINTS, MPI_COMM_WORLD));
    EPT_EQ(t, MPI_IDENT, compare(t, MPI_COMM_SELF, MPIX_COMM_SELF));
    EPT_EQ(t, MPI_IDENT, compare(t, MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)), MPI_COMM_WORLD));
    EPT_EQ(t, MPI_IDENT, compare(t, MPI_Comm_f2c(SELF_NUMBER), MPI_COMM_SELF));
    EPT_EQ(t, WORLD_NUMBER, MPI_Comm_c2f(MPI_COMM_WORLD));
    EPT_CHECK(t, SELF_NUMBER < MPI_Comm_c2f(MPIX_COMM_ENDPOINTS), "a handle's number is its own");
    is_named(t, MPI_COMM_WORLD, "MPI_COMM_WORLD");
    is_named(t, MPI_COMM_SELF, "MPI_COMM_SELF");
    EPT_OK(t, MPI_Comm_get_parent(&parent));
    EPT_CHECK(t, MPI_COMM_NULL == parent, "nobody has started this job");
    EPT_OK(t, MPI_Comm_group(MPI_COMM_SELF, &own));
    EPT_OK(t, MPI_Comm_group(MPI_COMM_WORLD, &all));
    EPT_OK(t, MPI_Group_translate_ranks(own, 1, &zero, all, &rank));
    EPT_EQ(t, static_first(t->proc) + index, rank);
    EPT_OK(t, MPI_Group_free(&own));
    EPT_OK(t, MPI_Group_free(&all));
}

static void case_who(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    static_on_each(t, check_member, NULL);
}

static void *not_attached(void *arg)
{
    struct ept *t = arg;

    COMM(t, MPI_COMM_WORLD, t->nprocs, t->proc); /* on the first endpoint by default */
    EPT_OK(t, MPIX_Thread_detach());
    COMM(t, MPI_COMM_WORLD, t->nprocs, t->proc);
    EPT_OK(t, MPIX_Thread_attach_index(static_count(t->proc) - 1));
    COMM(t, MPI_COMM_WORLD, total(t), static_first(t->proc + 1) - 1);
    EPT_OK(t, MPIX_Thread_detach());
    COMM(t, MPI_COMM_WORLD, t->nprocs, t->proc);
    COMM(t, MPI_COMM_SELF, 1, 0);
    is_named(t, MPI_COMM_WORLD, "MPI_COMM_WORLD");
    EPT_CHECK(t, MPI_COMM_WORLD == MPI_Comm_f2c(WORLD_NUMBER), "the process's");
    return NULL;
}

static void in_thread(struct ept *t, void *(*fn)(void *) )
{
    pthread_t thread;

    EPT_EQ(t, 0, pthread_create(&thread, NULL, fn, t));
    EPT_EQ(t, 0, pthread_join(thread, NULL));
}

static void case_not_attached(MPI_Comm comm, struct ept *t)
{
    COMM(t, comm, t->nprocs, t->proc);
    in_thread(t, not_attached);
    COMM(t, MPI_COMM_WORLD, t->nprocs, t->proc);
}

/* ---- calls of all kinds -------------------------------------------------------------------------- */

static void messages(struct ept *t, int index, void *context)
{
    const int n = total(t), me = static_first(t->proc) + index;
    int out = me, in = -1, one = 1, sum = 0;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Comm copy;

    (void) context;
    EPT_OK(t, MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[0]));
    EPT_OK(t, MPI_Isend(&out, 1, MPI_INT, (me + 1) % n, 5, MPI_COMM_WORLD, &requests[1]));
    EPT_OK(t, MPI_Wait(&requests[0], &status));
    EPT_OK(t, MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    EPT_EQ(t, (me + n - 1) % n, in);
    EPT_EQ(t, in, status.MPI_SOURCE);
    EPT_OK(t, PMPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EPT_EQ(t, n, sum);
    EPT_OK(t, MPI_Comm_idup(MPI_COMM_WORLD, &copy, &requests[0]));
    EPT_OK(t, MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    EPT_EQ(t, MPI_CONGRUENT, compare(t, copy, MPI_COMM_WORLD));
    EPT_OK(t, MPI_Sendrecv(&out, 1, MPI_INT, 0, 6, &in, 1, MPI_INT, 0, 6, MPI_COMM_SELF,
                           MPI_STATUS_IGNORE));
    EPT_EQ(t, me, in);
    EPT_OK(t, MPI_Comm_free(&copy));
}

static void others(struct ept *t, int index, void *context)
{
    const int n = total(t), me = static_first(t->proc) + index;
    int dims[1] = {n}, periods[1] = {1}, from, to, *base, seen = -1;
    MPI_Comm grid, space;
    MPI_File file;
    MPI_Win window;
    char name[256];

    (void) context;
    EPT_OK(t, MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &grid));
    EPT_OK(t, MPI_Cart_shift(grid, 0, 1, &from, &to));
    COMM(t, grid, n, (to + n - 1) % n);
    EPT_OK(t, MPI_Comm_free(&grid));
    EPT_OK(t, MPI_Comm_split_type(MPI_COMM_WORLD, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL,
                                  &space));
    COMM(t, space, static_count(t->proc), index);
    EPT_OK(t, MPI_Comm_free(&space));
    EPT_OK(t, MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                               &window));
    *base = -1;
    EPT_OK(t, MPI_Win_fence(0, window));
    EPT_OK(t, MPI_Put(&me, 1, MPI_INT, (me + 1) % n, 0, 1, MPI_INT, window));
    EPT_OK(t, MPI_Win_fence(0, window));
    EPT_EQ(t, (me + n - 1) % n, *base);
    EPT_OK(t, MPI_Win_free(&window));
    (void) snprintf(name, sizeof(name), "%s/world_c.%d",
                    NULL != getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", me);
    EPT_OK(t, MPI_File_open(MPI_COMM_SELF, name,
                            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                            MPI_INFO_NULL, &file));
    EPT_OK(t, MPI_File_write_at(file, 0, &me, 1, MPI_INT, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_File_read_at(file, 0, &seen, 1, MPI_INT, MPI_STATUS_IGNORE));
    EPT_EQ(t, me, seen);
    EPT_OK(t, MPI_File_close(&file));
}

static void case_messages(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    static_on_each(t, messages, NULL);
}

static void case_others(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    static_on_each(t, others, NULL);
}

/* ---- attributes, errors -------------------------------------------------------------------------- */

static int keyval;

static void attributes(struct ept *t, int index, void *context)
{
    int own = index, flag = 0, *value = NULL;

    (void) context;
    EPT_OK(t, MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &own));
    EPT_OK(t, MPI_Barrier(MPI_COMM_WORLD));
    EPT_OK(t, MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag));
    EPT_CHECK(t, 0 != flag && &own == value, "another endpoint's value");
    EPT_OK(t, MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    EPT_CHECK(t, 0 != flag && 32767 <= *value, "MPI_TAG_UB");
    EPT_OK(t, MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_ENDPOINTS, &value, &flag));
    EPT_CHECK(t, 0 != flag, "MPIX_ENDPOINTS");
    EPT_OK(t, MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    EPT_CHECK(t, 0 != flag && *(int *) context <= *value, "MPI_LASTUSEDCODE");
    EPT_OK(t, MPI_Barrier(MPI_COMM_WORLD));
    EPT_OK(t, MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval));
}

static void case_attributes(MPI_Comm comm, struct ept *t)
{
    int flag = 0, *value, class;

    EPT_OK(t, MPI_Add_error_class(&class));
    EPT_OK(t,
           MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    static_on_each(t, attributes, &class);
    EPT_OK(t, MPI_Comm_get_attr(comm, keyval, &value, &flag));
    EPT_EQ(t, 0, flag);
    EPT_OK(t, MPI_Comm_free_keyval(&keyval));
}

static _Thread_local int raised;
static _Thread_local MPI_Comm raised_on;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void) code;
    ++raised;
    raised_on = *comm;
}

static void errors(struct ept *t, int index, void *context)
{
    MPI_Errhandler handler, before_world, before_self;
    int size, class;

    (void) index, (void) context;
    EPT_OK(t, MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before_world));
    EPT_OK(t, MPI_Comm_get_errhandler(MPI_COMM_SELF, &before_self));
    EPT_OK(t, MPI_Comm_create_errhandler(note, &handler));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    EPT_OK(t, MPI_Barrier(MPI_COMM_WORLD));
    EPT_CLASS(t, MPI_ERR_TAG, MPI_Send(&size, 1, MPI_INT, 0, -7, MPI_COMM_WORLD));
    EPT_EQ(t, 1, raised);
    EPT_EQ(t, MPI_IDENT, compare(t, MPI_COMM_WORLD, raised_on));
    /* without a communicator */
    EPT_CLASS(t, MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &size));
    EPT_EQ(t, 2, raised);
    EPT_CHECK(t,
              MPI_IDENT == compare(t, MPI_COMM_WORLD, raised_on)
                  || MPI_IDENT == compare(t, MPI_COMM_SELF, raised_on),
              "raised on another endpoint's communicator");
    EPT_CLASS(t, MPI_ERR_TYPE, MPI_Type_size(MPI_DATATYPE_NULL, &size));
    EPT_EQ(t, 3, raised);
    EPT_OK(t, MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_ARG));
    EPT_EQ(t, 4, raised);
    /* what nobody may do */
    for (int i = 0; i < 2; ++i) {
        MPI_Comm comm = 0 == i ? MPI_COMM_WORLD : MPI_COMM_SELF;

        class = MPI_Comm_free(&comm);
        EPT_CLASS(t, MPI_ERR_COMM, class);
        EPT_CLASS(t, MPI_ERR_COMM, MPI_Comm_disconnect(&comm));
    }
    EPT_EQ(t, 8, raised);
    EPT_CLASS(t, MPI_ERR_OTHER, MPI_Finalize());
    EPT_EQ(t, 9, raised);
    EPT_OK(t, MPI_Barrier(MPI_COMM_WORLD));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, before_world));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, before_self));
    EPT_OK(t, MPI_Errhandler_free(&handler));
    EPT_OK(t, MPI_Errhandler_free(&before_world));
    EPT_OK(t, MPI_Errhandler_free(&before_self));
}

static void case_errors(MPI_Comm comm, struct ept *t)
{
    int size;

    static_on_each(t, errors, NULL);
    EPT_CLASS(t, MPI_ERR_GROUP,
              MPI_Group_size(MPI_GROUP_NULL, &size)); /* the process's as before */
    EPT_EQ(t, 0, raised);
    (void) comm;
}

/* ---- worlds that are set ------------------------------------------------------------------------- */

struct world {
    struct ept *t;
    MPI_Comm comm;
    int index;
};

static void check_unset(struct ept *t)
{
    MPI_Comm world = MPI_COMM_SELF;

    EPT_OK(t, MPIX_Comm_world_get(&world));
    EPT_CHECK(t, MPI_COMM_NULL == world, "not the process's");
    COMM(t, MPI_COMM_WORLD, t->nprocs, t->proc);
    EPT_CHECK(t, MPI_COMM_SELF == MPI_Comm_f2c(SELF_NUMBER), "not the process's");
}

static void *worlds(void *arg)
{
    struct world *own = arg;
    struct ept *t = own->t;
    const int n = 3 * t->nprocs, me = 3 * t->proc + own->index;
    int out = me, in = -1, sum = 0;
    MPI_Comm world = MPI_COMM_NULL, self;

    check_unset(t);
    EPT_OK(t, MPIX_Comm_world_set(own->comm));
    EPT_OK(t, MPIX_Comm_world_get(&world));
    EPT_CHECK(t, own->comm == world, "another world");
    COMM(t, MPI_COMM_WORLD, n, me);
    is_named(t, MPI_COMM_WORLD, "MPI_COMM_WORLD");
    EPT_EQ(t, MPI_IDENT, compare(t, MPI_COMM_WORLD, own->comm));
    EPT_OK(t, MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EPT_EQ(t, n * (n - 1) / 2, sum);
    /* MPI_COMM_SELF is the endpoint alone, and stays the same. */
    self = MPI_Comm_f2c(SELF_NUMBER);
    COMM(t, MPI_COMM_SELF, 1, 0);
    EPT_OK(t, MPI_Sendrecv(&out, 1, MPI_INT, 0, 6, &in, 1, MPI_INT, 0, 6, MPI_COMM_SELF,
                           MPI_STATUS_IGNORE));
    EPT_EQ(t, me, in);
    EPT_CHECK(t, self == MPI_Comm_f2c(SELF_NUMBER), "another MPI_COMM_SELF");
    EPT_EQ(t, 0 == own->index,
           MPI_IDENT == compare(t, MPIX_COMM_SELF, MPI_COMM_SELF)); /* the process */
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    EPT_CLASS(t, MPI_ERR_COMM, MPI_Comm_free(&self));
    /* Unset, by each way; then by freeing. */
    EPT_OK(t, MPIX_Comm_world_set(MPI_COMM_NULL));
    check_unset(t);
    EPT_OK(t, MPIX_Comm_endpoint_attach(own->comm));
    COMM(t, MPI_COMM_WORLD, n, me);
    EPT_OK(t, MPIX_Thread_detach());
    check_unset(t);
    EPT_OK(t, MPIX_Comm_world_set(own->comm));
    EPT_OK(t, MPIX_Thread_attach_index(0));
    COMM(t, MPI_COMM_WORLD, total(t), static_first(t->proc));
    EPT_OK(t, MPIX_Comm_world_set(own->comm));
    COMM(t, MPI_COMM_WORLD, n, me);
    EPT_OK(t, MPI_Barrier(MPI_COMM_WORLD));
    EPT_OK(t, MPI_Comm_free(&own->comm));
    COMM(t, MPI_COMM_WORLD, total(t), static_first(t->proc));
    EPT_OK(t, MPIX_Thread_detach());
    check_unset(t);
    return NULL;
}

static void case_worlds(MPI_Comm comm, struct ept *t)
{
    MPI_Comm comms[3];
    struct world own[3];
    pthread_t threads[3];

    EPT_OK(t, MPIX_Comm_create_endpoints(comm, 3, MPI_INFO_NULL, comms));
    EPT_CLASS(t, MPI_ERR_COMM, MPIX_Comm_world_set(comm)); /* of processes */
    EPT_CLASS(t, MPI_ERR_COMM, MPIX_Comm_endpoint_attach(MPI_COMM_NULL));
    EPT_CLASS(t, MPI_ERR_ARG, MPIX_Comm_world_get(NULL));
    for (int i = 0; i < 3; ++i) {
        own[i] = (struct world){.t = t, .comm = comms[i], .index = i};
        EPT_EQ(t, 0, pthread_create(&threads[i], NULL, worlds, &own[i]));
    }
    for (int i = 0; i < 3; ++i) {
        EPT_EQ(t, 0, pthread_join(threads[i], NULL));
    }
}

static pthread_barrier_t meeting;

static void *bound(void *arg)
{
    struct world *own = arg;

    EPT_OK(own->t, MPIX_Comm_world_set(own->comm));
    COMM(own->t, MPI_COMM_SELF, 1, 0);
    pthread_barrier_wait(&meeting);
    pthread_barrier_wait(&meeting);
    check_unset(own->t);
    return NULL;
}

/* One thread sets a handle as its world, another one frees it. */
static void case_freed(MPI_Comm comm, struct ept *t)
{
    MPI_Comm comms[2];
    struct world own;
    pthread_t thread;

    EPT_OK(t, MPIX_Comm_create_endpoints(comm, 2, MPI_INFO_NULL, comms));
    own = (struct world){.t = t, .comm = comms[1]};
    pthread_barrier_init(&meeting, NULL, 2);
    EPT_EQ(t, 0, pthread_create(&thread, NULL, bound, &own));
    pthread_barrier_wait(&meeting);
    EPT_OK(t, MPI_Comm_free(&comms[1]));
    EPT_OK(t, MPI_Comm_free(&comms[0]));
    pthread_barrier_wait(&meeting);
    EPT_EQ(t, 0, pthread_join(thread, NULL));
    pthread_barrier_destroy(&meeting);
}

#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
#if defined(HAVE_EP)
    EPT_OK(t, static_code);
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    EPT_CASE(t, case_who);
    EPT_CASE(t, case_not_attached);
    EPT_CASE(t, case_messages);
    EPT_CASE(t, case_others);
    EPT_CASE(t, case_attributes);
    EPT_CASE(t, case_errors);
    EPT_CASE(t, case_worlds);
    EPT_CASE(t, case_freed);
#else
    ept_skip(t, "worlds", "needs endpoints");
#endif
    return 0;
}
