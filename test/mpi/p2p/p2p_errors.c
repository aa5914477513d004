/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Errors of point-to-point calls: each bad argument and each truncation gives the class that the
 * standard names, through the error handler of the endpoint's own communicator, and leaves it
 * usable.
 *
 * Guards: pml_epml_irecv.c, pml_epml_isend.c, pml_epml_module.c
 */

#include "ept.h"

enum { TAG = 3 };

/* What this thread's handler has seen. */
static _Thread_local struct {
    int calls, class;
    MPI_Comm handle;
} seen;

static void handler(MPI_Comm *comm, int *code, ...)
{
    ++seen.calls;
    seen.handle = *comm;
    MPI_Error_class(*code, &seen.class);
}

/* The call must fail with this class, and its handler be called once, with comm. */
#define FAILS(t, comm, expected, call)                                                            \
    do {                                                                                          \
        seen.calls = 0;                                                                           \
        seen.class = MPI_SUCCESS;                                                                 \
        EPT_CLASS((t), (expected), (call));                                                       \
        EPT_EQ((t), 1, seen.calls);                                                               \
        EPT_EQ((t), MPI_ERR_IN_STATUS == (expected) ? MPI_ERR_TRUNCATE : (expected),              \
               seen.class); /* libmpi hands on the first request's own */                         \
        EPT_CHECK((t), (comm) == seen.handle, "the handler was called for another communicator"); \
    } while (0)

/* A duplicate with the handler above, the thread's own. */
static MPI_Comm with_handler(MPI_Comm comm, struct ept *t)
{
    MPI_Errhandler errhandler;
    MPI_Comm dup;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    EPT_OK(t, MPI_Comm_create_errhandler(handler, &errhandler));
    EPT_OK(t, MPI_Comm_set_errhandler(dup, errhandler));
    EPT_OK(t, MPI_Errhandler_free(&errhandler));
    return dup;
}

static void one_bad_send(struct ept *t, MPI_Comm c, int class, int count, MPI_Datatype type,
                         int rank, int tag)
{
    MPI_Request r = MPI_REQUEST_NULL;
    static const double data[4];
    double back[4];

    FAILS(t, c, class, MPI_Send(data, count, type, rank, tag, c));
    FAILS(t, c, class, MPI_Ssend(data, count, type, rank, tag, c));
    FAILS(t, c, class, MPI_Rsend(data, count, type, rank, tag, c));
    FAILS(t, c, class, MPI_Bsend(data, count, type, rank, tag, c));
    FAILS(t, c, class, MPI_Isend(data, count, type, rank, tag, c, &r));
    FAILS(t, c, class, MPI_Issend(data, count, type, rank, tag, c, &r));
    FAILS(t, c, class, MPI_Irsend(data, count, type, rank, tag, c, &r));
    FAILS(t, c, class, MPI_Ibsend(data, count, type, rank, tag, c, &r));
    FAILS(t, c, class, MPI_Send_init(data, count, type, rank, tag, c, &r));
    if (MPI_ERR_TYPE != class || MPI_DATATYPE_NULL == type) {
        /* libmpi 5.0 does not ask these whether the type is committed. */
        FAILS(t, c, class, MPI_Ssend_init(data, count, type, rank, tag, c, &r));
        FAILS(t, c, class, MPI_Rsend_init(data, count, type, rank, tag, c, &r));
        FAILS(t, c, class, MPI_Bsend_init(data, count, type, rank, tag, c, &r));
    }
    FAILS(t, c, class,
          MPI_Sendrecv(data, count, type, rank, tag, back, 1, MPI_INT, 0, TAG, c,
                       MPI_STATUS_IGNORE));
    FAILS(t, c, class,
          MPI_Sendrecv_replace(back, count, type, rank, tag, 0, TAG, c, MPI_STATUS_IGNORE));
    FAILS(t, c, class,
          MPI_Isendrecv(data, count, type, rank, tag, back, 1, MPI_INT, 0, TAG, c, &r));
    EPT_CHECK(t, MPI_REQUEST_NULL == r, "a failed call has set a request");
}

static void one_bad_recv(struct ept *t, MPI_Comm c, int class, int count, MPI_Datatype type,
                         int rank, int tag)
{
    MPI_Request r = MPI_REQUEST_NULL;
    double data[4];

    FAILS(t, c, class, MPI_Recv(data, count, type, rank, tag, c, MPI_STATUS_IGNORE));
    FAILS(t, c, class, MPI_Irecv(data, count, type, rank, tag, c, &r));
    FAILS(t, c, class, MPI_Recv_init(data, count, type, rank, tag, c, &r));
    FAILS(t, c, class,
          MPI_Sendrecv(data, 1, MPI_INT, 0, TAG, data, count, type, rank, tag, c,
                       MPI_STATUS_IGNORE));
    EPT_CHECK(t, MPI_REQUEST_NULL == r, "a failed call has set a request");
}

static void one_bad_probe(struct ept *t, MPI_Comm c, int class, int rank, int tag)
{
    MPI_Message m;
    int flag;

    FAILS(t, c, class, MPI_Probe(rank, tag, c, MPI_STATUS_IGNORE));
    FAILS(t, c, class, MPI_Iprobe(rank, tag, c, &flag, MPI_STATUS_IGNORE));
    FAILS(t, c, class, MPI_Mprobe(rank, tag, c, &m, MPI_STATUS_IGNORE));
    FAILS(t, c, class, MPI_Improbe(rank, tag, c, &flag, &m, MPI_STATUS_IGNORE));
}

static void case_arguments(MPI_Comm comm, struct ept *t)
{
    MPI_Comm c = with_handler(comm, t);
    MPI_Datatype uncommitted;
    int *tag_ub, flag, me = t->rank;

    EPT_OK(t, MPI_Type_contiguous(2, MPI_INT, &uncommitted));
    one_bad_send(t, c, MPI_ERR_RANK, 1, MPI_INT, t->size, TAG);
    one_bad_send(t, c, MPI_ERR_RANK, 1, MPI_INT, -77, TAG);
    one_bad_send(t, c, MPI_ERR_RANK, 1, MPI_INT, MPI_ANY_SOURCE, TAG);
    one_bad_send(t, c, MPI_ERR_TAG, 1, MPI_INT, me, -5);
    one_bad_send(t, c, MPI_ERR_TAG, 1, MPI_INT, me, MPI_ANY_TAG);
    one_bad_send(t, c, MPI_ERR_COUNT, -1, MPI_INT, me, TAG);
    one_bad_send(t, c, MPI_ERR_TYPE, 1, MPI_DATATYPE_NULL, me, TAG);
    one_bad_send(t, c, MPI_ERR_TYPE, 1, uncommitted, me, TAG);
    one_bad_recv(t, c, MPI_ERR_RANK, 1, MPI_INT, t->size, TAG);
    one_bad_recv(t, c, MPI_ERR_RANK, 1, MPI_INT, -77, TAG);
    one_bad_recv(t, c, MPI_ERR_TAG, 1, MPI_INT, me, -5);
    one_bad_recv(t, c, MPI_ERR_COUNT, -1, MPI_INT, me, TAG);
    one_bad_recv(t, c, MPI_ERR_TYPE, 1, MPI_DATATYPE_NULL, me, TAG);
    one_bad_recv(t, c, MPI_ERR_TYPE, 1, uncommitted, me, TAG);
    one_bad_probe(t, c, MPI_ERR_RANK, t->size, TAG);
    one_bad_probe(t, c, MPI_ERR_RANK, -77, TAG);
    one_bad_probe(t, c, MPI_ERR_TAG, me, -5);
    EPT_OK(t, MPI_Comm_get_attr(c, MPI_TAG_UB, &tag_ub, &flag));
    if (0 != flag && *tag_ub < INT32_MAX) {
        one_bad_send(t, c, MPI_ERR_TAG, 1, MPI_INT, me, *tag_ub + 1);
    }
    EPT_OK(t, MPI_Type_free(&uncommitted));
    ept_use_comm(t, c, t->rank, t->size);
    EPT_OK(t, MPI_Comm_free(&c));
}

/* What belongs to no communicator goes to that of MPI_COMM_SELF or MPI_COMM_WORLD; these
 * return here.  Probes on MPI_COMM_NULL and receives of MPI_MESSAGE_NULL are left out: libmpi 5.0
 * ends the job for them. */
static void case_no_communicator(MPI_Comm comm, struct ept *t)
{
    MPI_Request request = MPI_REQUEST_NULL, active;
    int value = 0;

    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    }
    ept_local_barrier(t);
    EPT_CLASS(t, MPI_ERR_COMM, MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_NULL));
    EPT_CLASS(t, MPI_ERR_COMM, MPI_Irecv(&value, 1, MPI_INT, 0, TAG, MPI_COMM_NULL, &request));
    EPT_CLASS(t, MPI_ERR_COMM,
              MPI_Recv(&value, 1, MPI_INT, 0, TAG, MPI_COMM_NULL, MPI_STATUS_IGNORE));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_Start(&request));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_Startall(1, &request));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_Request_free(&request));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_Cancel(&request));

    /* Started twice; started without being persistent. */
    EPT_OK(t, MPI_Recv_init(&value, 1, MPI_INT, t->rank, 99, comm, &request));
    EPT_OK(t, MPI_Start(&request));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_Start(&request));
    EPT_OK(t, MPI_Cancel(&request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Request_free(&request));
    EPT_OK(t, MPI_Irecv(&value, 1, MPI_INT, t->rank, 99, comm, &active));
    EPT_CLASS(t, MPI_ERR_REQUEST, MPI_Start(&active));
    EPT_OK(t, MPI_Cancel(&active));
    EPT_OK(t, MPI_Wait(&active, MPI_STATUS_IGNORE));
}

/* ---- truncation ------------------------------------------------------------------------------ */

/* Ways to receive. */
enum { RECV, IRECV, PERSISTENT, MRECV, IMRECV, WAITALL, WAITANY, WAITSOME, TESTALL, NUM_WAYS };

static void receive_short(struct ept *t, MPI_Comm c, int way, struct ept_buffer *in, int from)
{
    const int n = (int) in->size;
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int index = -1, count = -1, flag = 0;
    MPI_Status s[2];
    MPI_Message m;

    switch (way) {
    case RECV:
        FAILS(t, c, MPI_ERR_TRUNCATE, MPI_Recv(in->data, n, MPI_BYTE, from, TAG, c, &s[0]));
        return;
    case MRECV:
        EPT_OK(t, MPI_Mprobe(from, TAG, c, &m, MPI_STATUS_IGNORE));
        FAILS(t, c, MPI_ERR_TRUNCATE, MPI_Mrecv(in->data, n, MPI_BYTE, &m, &s[0]));
        EPT_CHECK(t, MPI_MESSAGE_NULL == m, "the message is left");
        return;
    case IMRECV:
        EPT_OK(t, MPI_Mprobe(from, TAG, c, &m, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Imrecv(in->data, n, MPI_BYTE, &m, &r[0]));
        FAILS(t, c, MPI_ERR_TRUNCATE, MPI_Wait(&r[0], &s[0]));
        return;
    case PERSISTENT:
        EPT_OK(t, MPI_Recv_init(in->data, n, MPI_BYTE, from, TAG, c, &r[0]));
        EPT_OK(t, MPI_Start(&r[0]));
        FAILS(t, c, MPI_ERR_TRUNCATE, MPI_Wait(&r[0], &s[0]));
        if (MPI_REQUEST_NULL != r[0]) {
            EPT_OK(t, MPI_Request_free(&r[0]));
        }
        return;
    default:
        break;
    }
    EPT_OK(t, MPI_Irecv(in->data, n, MPI_BYTE, from, TAG, c, &r[0]));
    switch (way) {
    case WAITALL:
        FAILS(t, c, MPI_ERR_IN_STATUS, MPI_Waitall(2, r, s));
        EPT_CLASS(t, MPI_ERR_TRUNCATE, s[0].MPI_ERROR);
        EPT_EQ(t, MPI_SUCCESS, s[1].MPI_ERROR);
        break;
    case TESTALL:
        do {
            seen.calls = 0;
            count = MPI_Testall(2, r, &flag, s);
        } while (MPI_SUCCESS == count && 0 == flag);
        EPT_CLASS(t, MPI_ERR_IN_STATUS, count);
        EPT_CLASS(t, MPI_ERR_TRUNCATE, s[0].MPI_ERROR);
        EPT_EQ(t, 1, seen.calls);
        break;
    case WAITANY:
        FAILS(t, c, MPI_ERR_TRUNCATE, MPI_Waitany(2, r, &index, &s[0]));
        EPT_EQ(t, 0, index);
        break;
    case WAITSOME:
        FAILS(t, c, MPI_ERR_IN_STATUS, MPI_Waitsome(2, r, &count, &index, s));
        EPT_EQ(t, 1, count);
        EPT_EQ(t, 0, index);
        EPT_CLASS(t, MPI_ERR_TRUNCATE, s[0].MPI_ERROR);
        break;
    default:
        FAILS(t, c, MPI_ERR_TRUNCATE, MPI_Wait(&r[0], &s[0]));
        break;
    }
}

/* Small, large, in pieces, synchronous; before its receive and after. */
static void case_truncation(MPI_Comm comm, struct ept *t)
{
    static const int sizes[] = {9, 100, 2000, 20000, 300000};
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    MPI_Comm c = with_handler(comm, t);
    MPI_Datatype pairs;
    char *out = calloc(2, 300000);

    EPT_OK(t, MPI_Type_create_resized(MPI_BYTE, 0, 2, &pairs));
    EPT_OK(t, MPI_Type_commit(&pairs));
    for (int k = 0; k < 5 * NUM_WAYS * 4; ++k) {
        int size = sizes[k % 5], way = k / 5 % NUM_WAYS, how = k / (5 * NUM_WAYS);
        struct ept_buffer in = ept_buffer((size_t) size / 2, 3);
        MPI_Request request;

        ept_phase(t, "%d bytes, way %d, %s, %s", size, way, 0 != (how & 1) ? "pieces" : "one piece",
                  0 != (how & 2) ? "synchronous" : "standard");
        if (0 != (how & 2)) {
            EPT_OK(t,
                   MPI_Issend(out, size, 0 != (how & 1) ? pairs : MPI_BYTE, to, TAG, c, &request));
        } else {
            EPT_OK(t,
                   MPI_Isend(out, size, 0 != (how & 1) ? pairs : MPI_BYTE, to, TAG, c, &request));
        }
        if (0 == k % 3) {
            EPT_OK(t, MPI_Probe(from, TAG, c, MPI_STATUS_IGNORE));
        }
        receive_short(t, c, way, &in, from);
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_GUARDS(t, &in);
        ept_buffer_free(&in);
    }
    free(out);
    EPT_OK(t, MPI_Type_free(&pairs));
    ept_use_comm(t, c, t->rank, t->size);
    EPT_OK(t, MPI_Comm_free(&c));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_arguments);
    EPT_CASE(t, case_no_communicator);
    if (t->endpoints) {
        EPT_CASE(t, case_truncation);
    } else {
        ept_skip(t, "case_truncation", "ob1 writes behind the end of a buffer that is too short");
    }
    return 0;
}
