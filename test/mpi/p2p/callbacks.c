/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a user's callback may do: call MPI on the very endpoint whose operation has called it.
 *
 * The end of a datatype calls the delete functions of its attributes, and its last user may be a
 * request: so that is tried in every way in which a request ends.  Likewise the attributes of a
 * communicator, error handlers, operations of reductions, and generalized requests in lists with
 * others.  Without care a callback runs under a lock that it takes itself, and hangs; where the
 * library counts locks (the tsan variants) the run ends with the reason.
 *
 * Guards: pml_epml_registry.c, pml_epml_check.c, pml_epml_lock.c
 */

#include "ept.h"

#include <string.h>
#include <unistd.h>

enum { TAG = 1, TAG_NEVER = 99, LARGE = 20000 };

static MPI_Comm ep[2];
static struct ept *current;
static int called, keyval;

/** Work on both endpoints, as a callback. */
static void work(void)
{
    int flag = 0, x = 4, y = 0;

    ++called;
    for (int i = 0; i < 2; ++i) {
        EPT_OK(current, MPI_Iprobe(MPI_ANY_SOURCE, TAG_NEVER, ep[i], &flag, MPI_STATUS_IGNORE));
        EPT_EQ(current, 0, flag);
        EPT_OK(current, MPI_Sendrecv(&x, 1, MPI_INT, i, TAG_NEVER, &y, 1, MPI_INT, i, TAG_NEVER,
                                     ep[i], MPI_STATUS_IGNORE));
    }
    EPT_EQ(current, 4, y);
}

static int type_goes(MPI_Datatype type, int key, void *value, void *extra)
{
    (void) type;
    (void) key;
    (void) value;
    (void) extra;
    work();
    return MPI_SUCCESS;
}

/** A type of one int, or many, whose end calls work. */
static MPI_Datatype make_type(int ints)
{
    MPI_Datatype type;

    EPT_OK(current, MPI_Type_vector(ints, 1, 2, MPI_INT, &type));
    EPT_OK(current, MPI_Type_commit(&type));
    EPT_OK(current, MPI_Type_set_attr(type, keyval, NULL));
    return type;
}

/* ---- the ways in which a request ends
 * --------------------------------------------------------- */

typedef enum way_t {
    WAIT,
    WAITALL,
    WAITANY,
    WAITSOME,
    TEST,
    TESTALL,
    TESTANY,
    TESTSOME,
    FREED,
    FREED_BEFORE,
    CANCELLED,
    SENT,
    SENT_SYNC,
    SENT_LARGE,
    PERSISTENT,
    BUFFERED,
    MATCHED,
    WAYS
} way_t;

static void end(way_t way, MPI_Request *request)
{
    int index, flag = 0, count = 0;

    switch (way) {
    case WAITALL:
        EPT_OK(current, MPI_Waitall(1, request, MPI_STATUSES_IGNORE));
        return;
    case WAITANY:
        EPT_OK(current, MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE));
        return;
    case WAITSOME:
        EPT_OK(current, MPI_Waitsome(1, request, &count, &index, MPI_STATUSES_IGNORE));
        return;
    case TEST:
    case TESTALL:
    case TESTANY:
    case TESTSOME:
        while (MPI_REQUEST_NULL != *request) {
            if (TEST == way) {
                EPT_OK(current, MPI_Test(request, &flag, MPI_STATUS_IGNORE));
            } else if (TESTALL == way) {
                EPT_OK(current, MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE));
            } else if (TESTANY == way) {
                EPT_OK(current, MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE));
            } else {
                EPT_OK(current, MPI_Testsome(1, request, &count, &index, MPI_STATUSES_IGNORE));
            }
        }
        return;
    case FREED:
        while (0 == flag) {
            EPT_OK(current, MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE));
        }
        EPT_OK(current, MPI_Request_free(request));
        return;
    default:
        EPT_OK(current, MPI_Wait(request, MPI_STATUS_IGNORE));
        return;
    }
}

static void receive_in_a_way(way_t way, int *in, const int *out)
{
    MPI_Datatype type = make_type(1);
    MPI_Request request;

    EPT_OK(current, MPI_Irecv(in, 1, type, 0, TAG, ep[1], &request));
    EPT_OK(current, MPI_Type_free(&type)); /* the request keeps it */
    EPT_EQ(current, 0, called);
    if (CANCELLED == way) {
        EPT_OK(current, MPI_Cancel(&request));
        *in = *out;
    } else if (FREED_BEFORE == way) {
        int flag = 0;

        EPT_OK(current, MPI_Request_free(&request));
        EPT_OK(current, MPI_Send(out, 1, MPI_INT, 1, TAG, ep[0]));
        while (0 == called) { /* ends while something else is waited for */
            EPT_OK(current, MPI_Iprobe(0, TAG_NEVER, ep[1], &flag, MPI_STATUS_IGNORE));
        }
        return;
    } else {
        EPT_OK(current, MPI_Send(out, 1, MPI_INT, 1, TAG, ep[0]));
    }
    end(way, &request);
}

static void send_in_a_way(way_t way, int *in, int *out)
{
    const int ints = SENT_LARGE == way ? LARGE : 1;
    MPI_Datatype type = make_type(ints);
    MPI_Request requests[2];

    EPT_OK(current, MPI_Irecv(in, ints, MPI_INT, 0, TAG, ep[1], &requests[1]));
    if (SENT_SYNC == way) {
        EPT_OK(current, MPI_Issend(out, 1, type, 1, TAG, ep[0], &requests[0]));
    } else if (PERSISTENT == way) {
        EPT_OK(current, MPI_Send_init(out, 1, type, 1, TAG, ep[0], &requests[0]));
    } else {
        EPT_OK(current, MPI_Isend(out, 1, type, 1, TAG, ep[0], &requests[0]));
    }
    EPT_OK(current, MPI_Type_free(&type));
    if (PERSISTENT == way) {
        EPT_OK(current, MPI_Start(&requests[0]));
    }
    EPT_OK(current, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    if (PERSISTENT == way) {
        EPT_EQ(current, 0, called);
        EPT_OK(current, MPI_Request_free(&requests[0]));
    }
}

static void receive_buffered(int *in, const int *out)
{
    char buffer[MPI_BSEND_OVERHEAD + 64];
    MPI_Datatype type = make_type(1);
    void *detached;
    int size;

    EPT_OK(current, MPI_Buffer_attach(buffer, sizeof(buffer)));
    EPT_OK(current, MPI_Bsend(out, 1, type, 1, TAG, ep[0]));
    EPT_OK(current, MPI_Type_free(&type));
    EPT_OK(current, MPI_Recv(in, 1, MPI_INT, 0, TAG, ep[1], MPI_STATUS_IGNORE));
    EPT_OK(current, MPI_Buffer_detach(&detached, &size));
}

static void receive_matched(int *in, const int *out)
{
    MPI_Datatype type = make_type(1);
    MPI_Message message;
    MPI_Request request;

    EPT_OK(current, MPI_Send(out, 1, MPI_INT, 1, TAG, ep[0]));
    EPT_OK(current, MPI_Mprobe(0, TAG, ep[1], &message, MPI_STATUS_IGNORE));
    EPT_OK(current, MPI_Imrecv(in, 1, type, &message, &request));
    EPT_OK(current, MPI_Type_free(&type));
    EPT_OK(current, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void make_endpoints(struct ept *t)
{
    current = t;
    EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, 2, MPI_INFO_NULL, ep));
}

static void free_endpoints(struct ept *t)
{
    EPT_OK(t, MPI_Comm_free(&ep[0]));
    EPT_OK(t, MPI_Comm_free(&ep[1]));
}

static void case_datatypes(MPI_Comm comm, struct ept *t)
{
    int *out = calloc(2 * LARGE, sizeof(*out)), *in = calloc(2 * LARGE, sizeof(*in));

    (void) comm;
    make_endpoints(t);
    EPT_OK(t, MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_goes, &keyval, NULL));
    for (int way = 0; way < WAYS; ++way) {
        ept_phase(t, "way %d", way);
        called = 0;
        in[0] = 0;
        out[0] = 100 + way;
        if (MATCHED == way) {
            receive_matched(in, out);
        } else if (BUFFERED == way) {
            receive_buffered(in, out);
        } else if (SENT <= way) {
            send_in_a_way((way_t) way, in, out);
        } else {
            receive_in_a_way((way_t) way, in, out);
        }
        EPT_EQ(t, 100 + way, in[0]);
        EPT_CHECK(t, 1 == called, "way %d: the type's end was called %d times", way, called);
    }
    EPT_OK(t, MPI_Type_free_keyval(&keyval));
    free_endpoints(t);
    free(out);
    free(in);
}

/* Partitioned requests: freed after use, and one whose partner never comes, by its communicator. */
static void case_partitioned(MPI_Comm comm, struct ept *t)
{
    int out[4] = {1, 2, 3, 4}, in[4] = {0};
    MPI_Datatype type;
    MPI_Request requests[2];
    MPI_Comm dups[2];

    (void) comm;
    make_endpoints(t);
    EPT_OK(t, MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_goes, &keyval, NULL));
    called = 0;
    type = make_type(1);
    EPT_OK(t, MPI_Psend_init(out, 2, 1, type, 1, TAG, ep[0], MPI_INFO_NULL, &requests[0]));
    EPT_OK(t, MPI_Precv_init(in, 2, 1, MPI_INT, 0, TAG, ep[1], MPI_INFO_NULL, &requests[1]));
    EPT_OK(t, MPI_Type_free(&type));
    EPT_OK(t, MPI_Startall(2, requests));
    EPT_OK(t, MPI_Pready_range(0, 1, requests[0]));
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EPT_EQ(t, 1, in[0]);
    EPT_EQ(t, 0, called);
    EPT_OK(t, MPI_Request_free(&requests[0]));
    EPT_OK(t, MPI_Request_free(&requests[1]));
    EPT_EQ(t, 1, called);

    for (int i = 0; i < 2; ++i) {
        EPT_OK(t, MPI_Comm_idup(ep[i], &dups[i], &requests[i]));
    }
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    type = make_type(1);
    EPT_OK(t, MPI_Precv_init(in, 2, 1, type, 0, TAG, dups[1], MPI_INFO_NULL, &requests[1]));
    EPT_OK(t, MPI_Type_free(&type));
    EPT_OK(t, MPI_Request_free(&requests[1]));
    EPT_EQ(t, 1, called);
    EPT_OK(t, MPI_Comm_free(&dups[0]));
    EPT_OK(t, MPI_Comm_free(&dups[1]));
    EPT_EQ(t, 2, called);
    EPT_OK(t, MPI_Type_free_keyval(&keyval));
    free_endpoints(t);
}

/* ---- other callbacks ------------------------------------------------------------------------ */

static int comm_goes(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm;
    (void) key;
    (void) value;
    (void) extra;
    work();
    return MPI_SUCCESS;
}

static void handle_error(MPI_Comm *comm, int *error, ...)
{
    (void) comm;
    (void) error;
    work();
}

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) type;
    work();
    for (int i = 0; i < *length; ++i) {
        ((int *) inout)[i] += ((int *) in)[i];
    }
}

static int query(void *extra, MPI_Status *status)
{
    (void) extra;
    work();
    MPI_Status_set_cancelled(status, 0);
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    return MPI_SUCCESS;
}

static int free_extra(void *extra)
{
    (void) extra;
    work();
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void) extra;
    (void) complete;
    return MPI_SUCCESS;
}

static void check_errors(struct ept *t)
{
    MPI_Errhandler handler;
    int many[2] = {1, 2}, one = 0;

    EPT_OK(t, MPI_Comm_create_errhandler(handle_error, &handler));
    EPT_OK(t, MPI_Comm_set_errhandler(ep[1], handler));
    called = 0;
    EPT_OK(t, MPI_Send(many, 2, MPI_INT, 1, TAG, ep[0]));
    EPT_CLASS(t, MPI_ERR_TRUNCATE, MPI_Recv(&one, 1, MPI_INT, 0, TAG, ep[1], MPI_STATUS_IGNORE));
    EPT_EQ(t, 1, called);
    EPT_OK(t, MPI_Comm_set_errhandler(ep[1], MPI_ERRORS_ARE_FATAL));
    EPT_OK(t, MPI_Errhandler_free(&handler));
}

static void check_operation(struct ept *t)
{
    int in[2] = {20, 22}, out[2] = {0};
    MPI_Request requests[2];
    MPI_Op op;

    EPT_OK(t, MPI_Op_create(add, 1, &op));
    called = 0;
    for (int i = 0; i < 2; ++i) {
        EPT_OK(t, MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, op, ep[i], &requests[i]));
    }
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EPT_EQ(t, 42, out[0]);
    EPT_EQ(t, 42, out[1]);
    EPT_CHECK(t, 1 <= called, "the operation was called %d times", called);
    EPT_OK(t, MPI_Op_free(&op));
}

static void check_generalized(struct ept *t)
{
    int x = 6, y = 0;
    MPI_Request requests[3];

    called = 0;
    EPT_OK(t, MPI_Irecv(&y, 1, MPI_INT, 0, TAG, ep[1], &requests[0]));
    EPT_OK(t, MPI_Grequest_start(query, free_extra, cancel, NULL, &requests[1]));
    EPT_OK(t, MPI_Irecv(&y, 1, MPI_INT, 0, TAG, ep[1], &requests[2]));
    EPT_OK(t, MPI_Send(&x, 1, MPI_INT, 1, TAG, ep[0]));
    EPT_OK(t, MPI_Send(&x, 1, MPI_INT, 1, TAG, ep[0]));
    EPT_OK(t, MPI_Grequest_complete(requests[1]));
    EPT_OK(t, MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    EPT_EQ(t, 6, y);
    EPT_EQ(t, 2, called);
}

static void case_others(MPI_Comm comm, struct ept *t)
{
    MPI_Request requests[2];
    MPI_Comm dups[2];

    (void) comm;
    make_endpoints(t);
    check_errors(t);
    check_operation(t);
    check_generalized(t);
    EPT_OK(t, MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_goes, &keyval, NULL));
    for (int i = 0; i < 2; ++i) {
        EPT_OK(t, MPI_Comm_idup(ep[i], &dups[i], &requests[i]));
    }
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EPT_OK(t, MPI_Comm_set_attr(dups[1], keyval, NULL));
    called = 0;
    EPT_OK(t, MPI_Comm_free(&dups[1]));
    EPT_OK(t, MPI_Comm_free(&dups[0]));
    EPT_EQ(t, 1, called);
    EPT_OK(t, MPI_Comm_free_keyval(&keyval));
    free_endpoints(t);
}

/* ---- called by a thread that helps ----------------------------------------------------------- */

static atomic_bool inside, freed;

/** The endpoint whose request has called this goes meanwhile. */
static int type_stays(MPI_Datatype type, int key, void *value, void *extra)
{
    (void) type;
    (void) key;
    (void) value;
    (void) extra;
    ++called;
    atomic_store(&inside, true);
    while (!atomic_load(&freed)) {
        usleep(1000);
    }
    return MPI_SUCCESS;
}

/** Sends to the endpoint of a thread that is not in MPI, waits for something else, and so helps. */
static void *helper_main(void *arg)
{
    struct ept *t = arg;
    const int value = 8;
    int x = 0;

    EPT_OK(t, MPI_Send(&value, 1, MPI_INT, 0, TAG, ep[1]));
    EPT_OK(t, MPI_Recv(&x, 1, MPI_INT, 0, TAG, ep[1], MPI_STATUS_IGNORE));
    EPT_EQ(t, 6, x);
    return NULL;
}

/* A callback in a thread that helps takes so long that the endpoint has gone when it returns. */
static void case_helper(MPI_Comm comm, struct ept *t)
{
    MPI_Comm other[2];
    MPI_Request request;
    MPI_Datatype type;
    pthread_t thread;
    int in[2] = {0, 0}, x = 6;

    (void) comm;
    /* Behind the one that goes in the list of all. */
    EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, 2, MPI_INFO_NULL, other));
    make_endpoints(t);
    called = 0;
    EPT_OK(t, MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_stays, &keyval, NULL));
    type = make_type(1);
    EPT_OK(t, MPI_Irecv(in, 1, type, 1, TAG, ep[0], &request));
    EPT_OK(t, MPI_Type_free(&type));
    EPT_OK(t, MPI_Request_free(&request));
    pthread_create(&thread, NULL, helper_main, t);
    ept_phase(t, "until somebody helps");
    while (!atomic_load(&inside)) {
        usleep(1000);
    }
    EPT_OK(t, MPI_Send(&x, 1, MPI_INT, 1, TAG, ep[0]));
    EPT_OK(t, MPI_Comm_free(&ep[0]));
    atomic_store(&freed, true);
    pthread_join(thread, NULL);
    EPT_EQ(t, 8, in[0]);
    EPT_EQ(t, 1, called);
    EPT_OK(t, MPI_Comm_free(&ep[1]));
    for (int i = 0; i < 2; ++i) {
        EPT_OK(t, MPI_Comm_free(&other[i]));
    }
    EPT_OK(t, MPI_Type_free_keyval(&keyval));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_datatypes);
    EPT_CASE(t, case_partitioned);
    EPT_CASE(t, case_others);
    EPT_CASE(t, case_helper);
    return 0;
}
