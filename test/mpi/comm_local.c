/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What belongs to an endpoint and not to its process: names, attributes, infos, error handlers,
 * handles. All ranks do everything at once, and each looks that no sibling has touched its own.
 *
 * Guards: pml_epml_comm.c
 */

#include "ept.h"

/* Names belong to handles; copies have names of their own. */
static void case_names(MPI_Comm comm, struct ept *t)
{
    char name[MPI_MAX_OBJECT_NAME + 1], got[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = -1;
    MPI_Comm copy;

    snprintf(name, sizeof(name), "endpoint %d of %d", t->rank, t->size);
    EPT_OK(t, MPI_Comm_set_name(comm, name));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Comm_get_name(comm, got, &length));
    EPT_STREQ(t, name, got);
    EPT_EQ(t, strlen(name), length);
    EPT_OK(t, MPI_Comm_dup(comm, &copy));
    EPT_OK(t, MPI_Comm_set_name(copy, ""));
    EPT_OK(t, MPI_Comm_get_name(copy, got, &length));
    EPT_EQ(t, 0, length);
    EPT_OK(t, MPI_Comm_get_name(comm, got, &length));
    EPT_STREQ(t, name, got);
    EPT_OK(t, MPI_Comm_free(&copy));
}

/* ---- attributes ---------------------------------------------------------------------------- */

/** An attribute's value: the rank that made it, and what the callbacks saw. */
struct attribute {
    MPI_Comm comm; /* the callbacks' communicator must be this */
    int key;
    void *extra;
    pthread_t thread; /* in which they must run */
    int copies, deletes, strangers;
    int copy_rc, delete_rc, copy_flag;
};

static void look(struct attribute *a, MPI_Comm comm, int key, void *extra)
{
    a->strangers += (MPI_COMM_NULL != a->comm && comm != a->comm) || key != a->key
                    || extra != a->extra || !pthread_equal(pthread_self(), a->thread);
}

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    struct attribute *a = in;

    look(a, comm, key, extra);
    ++a->copies;
    *(void **) out = in;
    *flag = a->copy_flag;
    return a->copy_rc;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    struct attribute *a = value;

    look(a, comm, key, extra);
    ++a->deletes;
    return a->delete_rc;
}

static struct attribute attribute(MPI_Comm comm, int key, void *extra)
{
    return (struct attribute){
        .comm = comm, .key = key, .extra = extra, .thread = pthread_self(), .copy_flag = 1};
}

/* What comm has under the key, NULL: nothing. */
static void *cached(struct ept *t, MPI_Comm comm, int key)
{
    void *got = NULL;
    int flag = 0;

    EPT_OK(t, MPI_Comm_get_attr(comm, key, &got, &flag));
    return 0 != flag ? got : NULL;
}

#define CACHED(t, expected, comm, key)                                                     \
    EPT_CHECK((t), (void *) (expected) == cached((t), (comm), (key)), "%s: another value", \
              #comm " " #key)

/* One key per process, one value per handle; then a key per thread. */
static int shared_key = MPI_KEYVAL_INVALID;

static void use_key(MPI_Comm comm, struct ept *t, int key, void *extra)
{
    struct attribute mine = attribute(comm, key, extra), second = attribute(comm, key, extra);
    MPI_Comm copy, part;

    CACHED(t, NULL, comm, key);
    EPT_OK(t, MPI_Comm_set_attr(comm, key, &mine));
    EPT_OK(t, MPI_Barrier(comm));
    CACHED(t, &mine, comm, key);

    /* Once per duplicate, in this thread; nothing for a split. */
    EPT_OK(t, MPI_Comm_dup(comm, &copy));
    EPT_EQ(t, 1, mine.copies);
    CACHED(t, &mine, copy, key);
    EPT_OK(t, MPI_Comm_split(comm, 0, 0, &part));
    EPT_EQ(t, 1, mine.copies);
    CACHED(t, NULL, part, key);
    EPT_OK(t, MPI_Comm_free(&part));
    EPT_EQ(t, 0, mine.deletes);
    mine.comm = copy;
    EPT_OK(t, MPI_Comm_free(&copy));
    mine.comm = comm;
    EPT_EQ(t, 1, mine.deletes);

    /* A callback that wants no copy. */
    mine.copy_flag = 0;
    EPT_OK(t, MPI_Comm_dup(comm, &copy));
    EPT_EQ(t, 2, mine.copies);
    CACHED(t, NULL, copy, key);
    EPT_OK(t, MPI_Comm_free(&copy));
    EPT_EQ(t, 1, mine.deletes);

    /* What is overwritten is deleted; what is deleted is gone. */
    EPT_OK(t, MPI_Comm_set_attr(comm, key, &second));
    EPT_EQ(t, 2, mine.deletes);
    CACHED(t, &second, comm, key);
    EPT_OK(t, MPI_Comm_delete_attr(comm, key));
    EPT_EQ(t, 1, second.deletes);
    CACHED(t, NULL, comm, key);
    EPT_EQ(t, 0, mine.strangers + second.strangers);
}

static void case_attributes(MPI_Comm comm, struct ept *t)
{
    int key = MPI_KEYVAL_INVALID;

    if (0 == t->local) {
        EPT_OK(t,
               MPI_Comm_create_keyval(copy_attribute, delete_attribute, &shared_key, &shared_key));
    }
    ept_local_barrier(t);
    ept_phase(t, "one key");
    use_key(comm, t, shared_key, &shared_key);
    ept_local_barrier(t);
    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_free_keyval(&shared_key));
        EPT_EQ(t, MPI_KEYVAL_INVALID, shared_key);
    }
    for (int round = 0; round < 20; ++round) {
        ept_phase(t, "a key each, round %d", round);
        EPT_OK(t, MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, t));
        use_key(comm, t, key, t);
        EPT_OK(t, MPI_Comm_free_keyval(&key));
    }
}

/* A key that is freed lives on where it is in use. */
static void case_freed_key(MPI_Comm comm, struct ept *t)
{
    int key = MPI_KEYVAL_INVALID, kept;
    struct attribute mine;
    MPI_Comm copy, second;

    EPT_OK(t, MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL));
    kept = key;
    mine = attribute(MPI_COMM_NULL, kept, NULL);
    EPT_OK(t, MPI_Comm_dup(comm, &copy));
    EPT_OK(t, MPI_Comm_set_attr(copy, key, &mine));
    EPT_OK(t, MPI_Comm_free_keyval(&key));
    EPT_EQ(t, MPI_KEYVAL_INVALID, key);
    EPT_OK(t, MPI_Barrier(comm));
    CACHED(t, &mine, copy, kept);
    EPT_OK(t, MPI_Comm_dup(copy, &second));
    EPT_EQ(t, 1, mine.copies);
    CACHED(t, &mine, second, kept);
    EPT_OK(t, MPI_Comm_free(&copy));
    EPT_OK(t, MPI_Comm_free(&second));
    EPT_EQ(t, 2, mine.deletes);
    EPT_EQ(t, 0, mine.strangers);
}

/* The functions that MPI brings; nonblocking duplicates. */
static void case_stock_functions(MPI_Comm comm, struct ept *t)
{
    int dup_key, null_key, own_key, value = 0;
    struct attribute mine;
    MPI_Comm copies[2], parent;
    MPI_Request requests[2];

    EPT_OK(t, MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_key, NULL));
    EPT_OK(t,
           MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &null_key, NULL));
    EPT_OK(t, MPI_Comm_create_keyval(copy_attribute, delete_attribute, &own_key, NULL));
    EPT_OK(t, MPI_Comm_dup(comm, &parent));
    mine = attribute(parent, own_key, NULL);
    EPT_OK(t, MPI_Comm_set_attr(parent, dup_key, &value));
    EPT_OK(t, MPI_Comm_set_attr(parent, null_key, &value));
    EPT_OK(t, MPI_Comm_set_attr(parent, own_key, &mine));
    EPT_OK(t, MPI_Comm_idup(parent, &copies[0], &requests[0]));
    EPT_OK(t, MPI_Comm_idup(parent, &copies[1], &requests[1]));
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EPT_EQ(t, 2, mine.copies);
    for (int i = 0; i < 2; ++i) {
        CACHED(t, &value, copies[i], dup_key);
        CACHED(t, NULL, copies[i], null_key);
        CACHED(t, &mine, copies[i], own_key);
        mine.comm = copies[i];
        EPT_OK(t, MPI_Comm_free(&copies[i]));
        EPT_EQ(t, i + 1, mine.deletes);
    }
    mine.comm = parent;
    EPT_OK(t, MPI_Comm_free(&parent));
    EPT_EQ(t, 3, mine.deletes);
    EPT_EQ(t, 0, mine.strangers);
    EPT_OK(t, MPI_Comm_free_keyval(&own_key));
    EPT_OK(t, MPI_Comm_free_keyval(&null_key));
    EPT_OK(t, MPI_Comm_free_keyval(&dup_key));
}

/* Callbacks that fail make the call fail that caused them, on every rank; things stay whole. */
static void case_callback_errors(MPI_Comm comm, struct ept *t)
{
    int key;
    struct attribute mine;
    MPI_Comm parent, copy = MPI_COMM_NULL, same;

    EPT_OK(t, MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL));
    EPT_OK(t, MPI_Comm_dup(comm, &parent));
    EPT_OK(t, MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
    mine = attribute(parent, key, NULL);
    EPT_OK(t, MPI_Comm_set_attr(parent, key, &mine));
    mine.copy_rc = MPI_ERR_SIZE;
    ept_phase(t, "a copy that fails");
    EPT_CHECK(t, MPI_SUCCESS != MPI_Comm_dup(parent, &copy), "a duplicate in spite of an error");
    EPT_EQ(t, 1, mine.copies);
    EPT_CHECK(t, MPI_COMM_NULL == copy, "a handle came with an error");
    mine.copy_rc = MPI_SUCCESS;
    EPT_OK(t, MPI_Comm_dup(parent, &copy));
    ept_use_comm(t, copy, t->rank, t->size);
    mine.comm = MPI_COMM_NULL;
    EPT_OK(t, MPI_Comm_free(&copy));
    mine.comm = parent;
    EPT_EQ(t, 1, mine.deletes);

    ept_phase(t, "a delete that fails");
    mine.delete_rc = MPI_ERR_SIZE;
    EPT_CHECK(t, MPI_SUCCESS != MPI_Comm_delete_attr(parent, key), "deleted in spite of an error");
    EPT_EQ(t, 2, mine.deletes);
    CACHED(t, &mine, parent, key);
    same = parent;
    EPT_CHECK(t, MPI_SUCCESS != MPI_Comm_free(&parent), "freed in spite of an error");
    EPT_EQ(t, 3, mine.deletes);
    EPT_CHECK(t, same == parent, "the handle is gone in spite of an error");
    mine.delete_rc = MPI_SUCCESS;
    ept_use_comm(t, parent, t->rank, t->size);
    EPT_OK(t, MPI_Comm_free(&parent));
    EPT_EQ(t, 4, mine.deletes);
    EPT_EQ(t, 0, mine.strangers);
    EPT_OK(t, MPI_Comm_free_keyval(&key));
}

/* The predefined attributes are those of MPI_COMM_WORLD. */
static void case_predefined(MPI_Comm comm, struct ept *t)
{
    const int keys[] = {MPI_TAG_UB,        MPI_HOST,   MPI_IO,          MPI_WTIME_IS_GLOBAL,
                        MPI_UNIVERSE_SIZE, MPI_APPNUM, MPI_LASTUSEDCODE};
    MPI_Comm copy;

    EPT_OK(t, MPI_Comm_dup(comm, &copy));
    for (int i = 0; i < (int) (sizeof(keys) / sizeof(keys[0])); ++i) {
        const int *world = cached(t, MPI_COMM_WORLD, keys[i]), *mine = cached(t, comm, keys[i]);
        const int *copied = cached(t, copy, keys[i]);

        ept_phase(t, "attribute %d", i);
        EPT_EQ(t, NULL != world, NULL != mine);
#if !defined(OPEN_MPI)
        if (MPI_HOST == keys[i] || MPI_LASTUSEDCODE == keys[i]) {
            continue; /* Open MPI converts values to the MPI ABI on MPI_COMM_WORLD only */
        }
#endif
        if (NULL != world && NULL != mine) {
            EPT_EQ(t, *world, *mine);
        }
        /* Open MPI keeps the last one to MPI_COMM_WORLD and to what endpoints are made of. */
        EPT_EQ(t, NULL != world && MPI_LASTUSEDCODE != keys[i], NULL != copied);
        if (NULL != world && NULL != copied) {
            EPT_EQ(t, *world, *copied);
        }
    }
    EPT_OK(t, MPI_Comm_free(&copy));
}

/* ---- infos --------------------------------------------------------------------------------- */

/* What comm says of a hint; "" if nothing. */
static void hint_of(struct ept *t, MPI_Comm comm, const char *key, char value[64])
{
    MPI_Info info;
    int flag = 0;

    value[0] = '\0';
    EPT_OK(t, MPI_Comm_get_info(comm, &info));
    EPT_OK(t, MPI_Info_get(info, key, 63, value, &flag));
    if (0 == flag) {
        value[0] = '\0';
    }
    EPT_OK(t, MPI_Info_free(&info));
}

/* Hints are a handle's own, and pass to a duplicate by MPI_Comm_dup_with_info alone.  The hint is
 * one that Open MPI knows on all duplicates; those of the standard are the PML's, and epml's are
 * none. */
static void case_info(MPI_Comm comm, struct ept *t)
{
    static const char *const key = "ompi_assert_lazy_barrier";
    const char *mine = 0 == t->rank % 2 ? "true" : "false";
    char value[64];
    MPI_Comm first, second;
    MPI_Info info;
    MPI_Request request;

    EPT_OK(t, MPI_Comm_dup(comm, &first));
    hint_of(t, first, key, value);
    EPT_STREQ(t, "false", value);
    EPT_OK(t, MPI_Info_create(&info));
    EPT_OK(t, MPI_Info_set(info, key, mine));
    EPT_OK(t, MPI_Info_set(info, "frobnicate", "yes"));
    EPT_OK(t, MPI_Comm_set_info(first, info));
    EPT_OK(t, MPI_Barrier(comm));
    hint_of(t, first, "frobnicate", value);
    EPT_STREQ(t, "", value);
    hint_of(t, first, key, value);
    EPT_STREQ(t, mine, value);
    ept_use_comm(t, first, t->rank, t->size);
    EPT_OK(t, MPI_Comm_dup_with_info(comm, info, &second));
    hint_of(t, second, key, value);
    EPT_STREQ(t, mine, value);
    EPT_OK(t, MPI_Comm_free(&second));
    EPT_OK(t, MPI_Comm_dup(first, &second));
    hint_of(t, second, key, value);
    EPT_STREQ(t, "false", value);
    EPT_OK(t, MPI_Comm_free(&second));
    EPT_OK(t, MPI_Comm_idup_with_info(comm, info, &second, &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    /* Open MPI forgets this hint on the way. */
    ept_use_comm(t, second, t->rank, t->size);
    EPT_OK(t, MPI_Info_free(&info));
    EPT_OK(t, MPI_Comm_free(&second));
    EPT_OK(t, MPI_Comm_free(&first));
}

/* ---- error handlers ------------------------------------------------------------------------ */

static int seen_key = MPI_KEYVAL_INVALID; /* tells a handler whose error it is */

struct seen {
    int calls, strangers;
    MPI_Comm comm;
    pthread_t thread;
};

static void note_error(MPI_Comm *comm, int add)
{
    struct seen *seen = NULL;
    int flag = 0;

    MPI_Comm_get_attr(*comm, seen_key, &seen, &flag);
    if (0 != flag) {
        seen->calls += add;
        seen->strangers += !pthread_equal(pthread_self(), seen->thread);
        seen->comm = *comm;
    }
}

static void see_error(MPI_Comm *comm, int *code, ...)
{
    (void) code;
    note_error(comm, 1);
}

static void see_error_hundredfold(MPI_Comm *comm, int *code, ...)
{
    (void) code;
    note_error(comm, 100);
}

void test_process_begin(void)
{
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &seen_key, NULL);
}

/* One handler for all threads of the process, freed before most of its use. */
static MPI_Errhandler shared_handler;

static void case_errhandlers(MPI_Comm comm, struct ept *t)
{
    struct seen seen = {.thread = pthread_self()};
    MPI_Errhandler own, got;
    MPI_Comm copy, part;
    int value = 0, expected = 0, one;

    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_create_errhandler(see_error, &shared_handler));
    }
    ept_local_barrier(t);
    EPT_OK(t, MPI_Comm_create_errhandler(see_error_hundredfold, &own));
    EPT_OK(t, MPI_Comm_set_attr(comm, seen_key, &seen));

    /* Each third rank has another: nothing, once, a hundredfold. */
    one = 0 == t->rank % 3 ? 0 : 1 == t->rank % 3 ? 1 : 100;
    EPT_OK(t, MPI_Comm_set_errhandler(comm, 0 == one   ? MPI_ERRORS_RETURN
                                            : 1 == one ? shared_handler
                                                       : own));
    EPT_OK(t, MPI_Comm_get_errhandler(comm, &got));
    EPT_CHECK(t,
              (0 == one   ? MPI_ERRORS_RETURN
               : 1 == one ? shared_handler
                          : own)
                  == got,
              "another handler than was set");
    EPT_OK(t, MPI_Errhandler_free(&got));
    EPT_OK(t, MPI_Errhandler_free(&own));
    ept_local_barrier(t);
    if (0 == t->local) {
        EPT_OK(t, MPI_Errhandler_free(&shared_handler));
    }
    ept_local_barrier(t);

    /* What is made of it inherits. */
    EPT_OK(t, MPI_Comm_dup(comm, &copy));
    EPT_OK(t, MPI_Comm_split(comm, 0, 0, &part));
    EPT_OK(t, MPI_Comm_set_attr(part, seen_key, &seen));
    for (int round = 0; round < 20; ++round) {
        MPI_Comm at = 0 == round % 3 ? comm : 1 == round % 3 ? copy : part;

        ept_phase(t, "round %d", round);
        EPT_CLASS(t, MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, t->size, 0, at));
        EPT_CLASS(t, MPI_ERR_TAG, MPI_Send(&value, 1, MPI_INT, 0, -5, at));
        EPT_OK(t, MPI_Comm_call_errhandler(at, MPI_ERR_OTHER));
        expected += 3 * one;
        EPT_EQ(t, expected, seen.calls);
        EPT_CHECK(t, 0 == one || at == seen.comm, "the handler got another handle");
    }
    EPT_EQ(t, 0, seen.strangers);

    /* A duplicate may have another one than what it is of; siblings keep theirs. */
    EPT_OK(t, MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, t->size, 0, copy));
    EPT_EQ(t, expected, seen.calls);
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, t->size, 0, comm));
    EPT_EQ(t, expected + one, seen.calls);
    EPT_OK(t, MPI_Comm_free(&part));
    EPT_OK(t, MPI_Comm_free(&copy));
    EPT_OK(t, MPI_Comm_delete_attr(comm, seen_key));
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
}

/* ---- handles ------------------------------------------------------------------------------- */

enum { COPIES = 6 };

static MPI_Fint *all_handles; /* of a process */

static void case_handles(MPI_Comm comm, struct ept *t)
{
    MPI_Comm copies[COPIES];
    int num = COPIES * t->nlocal;

    if (0 == t->local) {
        all_handles = calloc((size_t) num, sizeof(*all_handles));
    }
    ept_local_barrier(t);
    for (int i = 0; i < COPIES; ++i) {
        EPT_OK(t, MPI_Comm_dup(comm, &copies[i]));
        all_handles[COPIES * t->local + i] = MPI_Comm_c2f(copies[i]);
        EPT_CHECK(t, copies[i] == MPI_Comm_f2c(all_handles[COPIES * t->local + i]),
                  "there and back gives another handle");
    }
    EPT_CHECK(t, comm == MPI_Comm_f2c(MPI_Comm_c2f(comm)), "there and back gives another handle");
    ept_local_barrier(t);
    for (int i = 0; i < COPIES; ++i) {
        for (int j = 0; j < num; ++j) {
            EPT_EQ(t, COPIES * t->local + i == j,
                   all_handles[COPIES * t->local + i] == all_handles[j]);
        }
    }
    ept_local_barrier(t);
    for (int i = 0; i < COPIES; ++i) {
        EPT_OK(t, MPI_Comm_free(&copies[i]));
    }
    if (0 == t->local) {
        free(all_handles);
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_names);
    EPT_CASE(t, case_attributes);
    EPT_CASE(t, case_freed_key);
    EPT_CASE(t, case_stock_functions);
    EPT_CASE(t, case_callback_errors);
    EPT_CASE(t, case_predefined);
    EPT_CASE(t, case_info);
    EPT_CASE(t, case_errhandlers);
    EPT_CASE(t, case_handles);
    return 0;
}
