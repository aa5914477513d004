/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Device memory in messages on endpoints, of an accelerator that is not there (fake_accelerator):
 * each call that uses some is refused with MPI_ERR_BUFFER before the CPU has touched it, and what is
 * not used may lie anywhere.  Managed memory, which the CPU can access, is used as any other, and
 * ordinary communicators use all of it.  Collectives are in device_coll.
 *
 * Guards: pml_epml_device.c, pml_epml_ipart.c
 */

#include "device.h"

enum { TAG = 7 };

typedef int (*send_fn_t)(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm);
typedef int (*isend_fn_t)(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                          MPI_Comm comm, MPI_Request *request);

static const send_fn_t sends[] = {MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend};

static const isend_fn_t isends[] = {MPI_Isend,     MPI_Issend,     MPI_Irsend,     MPI_Ibsend,
                                    MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* libmpi has errors of partitioned calls there. */
void test_process_begin(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

static int next_of(const struct ept *t)
{
    return (t->rank + 1) % t->size;
}

static int before(const struct ept *t)
{
    return (t->rank + t->size - 1) % t->size;
}

/* A ring of messages of host memory: all is as it was. */
static void use(MPI_Comm comm, struct ept *t)
{
    const int given = 100 + t->rank;
    int got = -1;

    EPT_OK(t, MPI_Sendrecv(&given, 1, MPI_INT, next_of(t), TAG, &got, 1, MPI_INT, before(t), TAG,
                           comm, MPI_STATUS_IGNORE));
    EPT_EQ(t, 100 + before(t), got);
}

/* Else Bsend would fail for want of it, with the same error. */
static void with_buffer(struct ept *t, bool attach)
{
    static char room[1 << 16];
    void *was;
    int size;

    ept_local_barrier(t);
    if (0 == t->local) {
        EPT_OK(t, attach ? MPI_Buffer_attach(room, sizeof(room)) : MPI_Buffer_detach(&was, &size));
    }
    ept_local_barrier(t);
}

static void case_send(MPI_Comm comm, struct ept *t)
{
    int *memory = device_memory(t, 2 * sizeof(int));

    with_buffer(t, true);
    for (size_t i = 0; i < COUNT_OF(sends); ++i) {
        EPT_CLASS(t, MPI_ERR_BUFFER, sends[i](memory, 2, MPI_INT, next_of(t), TAG, comm));
    }
    for (size_t i = 0; i < COUNT_OF(isends); ++i) {
        MPI_Request request = MPI_REQUEST_NULL;

        EPT_CLASS(t, MPI_ERR_BUFFER, isends[i](memory, 2, MPI_INT, next_of(t), TAG, comm, &request));
    }
    use(comm, t);
    with_buffer(t, false);
}

static void case_receive(MPI_Comm comm, struct ept *t)
{
    int *memory = device_memory(t, 2 * sizeof(int));
    MPI_Request request = MPI_REQUEST_NULL;

    EPT_CLASS(t, MPI_ERR_BUFFER,
              MPI_Recv(memory, 2, MPI_INT, before(t), TAG, comm, MPI_STATUS_IGNORE));
    EPT_CLASS(t, MPI_ERR_BUFFER,
              MPI_Recv(memory, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Irecv(memory, 2, MPI_INT, before(t), TAG, comm, &request));
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Recv_init(memory, 2, MPI_INT, before(t), TAG, comm, &request));
    use(comm, t);
}

/* A message that has been matched, and refused, can be received elsewhere. */
static void case_matched(MPI_Comm comm, struct ept *t)
{
    int *memory = device_memory(t, 2 * sizeof(int));

    for (int blocking = 0; blocking < 2; ++blocking) {
        const int given[2] = {t->rank, blocking};
        int got[2] = {-1, -1};
        MPI_Message message;
        MPI_Request request;
        MPI_Status status;

        EPT_OK(t, MPI_Send(given, 2, MPI_INT, next_of(t), TAG, comm));
        EPT_OK(t, MPI_Mprobe(before(t), TAG, comm, &message, &status));
        if (blocking) {
            EPT_CLASS(t, MPI_ERR_BUFFER,
                      MPI_Mrecv(memory, 2, MPI_INT, &message, MPI_STATUS_IGNORE));
            EPT_OK(t, MPI_Mrecv(got, 2, MPI_INT, &message, &status));
        } else {
            EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Imrecv(memory, 2, MPI_INT, &message, &request));
            EPT_OK(t, MPI_Imrecv(got, 2, MPI_INT, &message, &request));
            EPT_OK(t, MPI_Wait(&request, &status));
        }
        EPT_STATUS(t, &status, before(t), TAG, sizeof(got));
        EPT_EQ(t, before(t), got[0]);
        EPT_EQ(t, blocking, got[1]);
    }
}

static void case_both(MPI_Comm comm, struct ept *t)
{
    int *memory = device_memory(t, 2 * sizeof(int)), host[2] = {0};
    MPI_Request request = MPI_REQUEST_NULL;

    /* libmpi begins to receive first, and takes that back; of nobody (MPI_PROC_NULL) 5.0.7's crashes
     * where a send fails. */
    EPT_CLASS(t, MPI_ERR_BUFFER,
              MPI_Sendrecv(memory, 2, MPI_INT, next_of(t), TAG, host, 2, MPI_INT, before(t),
                           TAG + 1, comm, MPI_STATUS_IGNORE));
    EPT_CLASS(t, MPI_ERR_BUFFER,
              MPI_Sendrecv(host, 2, MPI_INT, next_of(t), TAG, memory, 2, MPI_INT, before(t), TAG,
                           comm, MPI_STATUS_IGNORE));
    EPT_CLASS(t, MPI_ERR_BUFFER,
              MPI_Sendrecv_replace(memory, 2, MPI_INT, next_of(t), TAG, before(t), TAG, comm,
                                   MPI_STATUS_IGNORE));
    EPT_CLASS(t, MPI_ERR_BUFFER,
              MPI_Isendrecv(memory, 2, MPI_INT, next_of(t), TAG, host, 2, MPI_INT, MPI_PROC_NULL,
                            TAG, comm, &request));
    use(comm, t);
}

static void case_partitioned(MPI_Comm comm, struct ept *t)
{
    int *memory = device_memory(t, 2 * sizeof(int));
    MPI_Request request = MPI_REQUEST_NULL;

    EPT_CLASS(t, MPI_ERR_BUFFER,
              MPI_Psend_init(memory, 2, 1, MPI_INT, next_of(t), TAG, comm, MPI_INFO_NULL,
                             &request));
    EPT_CLASS(t, MPI_ERR_BUFFER,
              MPI_Precv_init(memory, 2, 1, MPI_INT, before(t), TAG, comm, MPI_INFO_NULL,
                             &request));
    EPT_CLASS(t, MPI_ERR_TAG,
              MPI_Psend_init(memory, 2, 1, MPI_INT, next_of(t), -5, comm, MPI_INFO_NULL,
                             &request));
    EPT_OK(t, MPI_Psend_init(memory, 2, 1, MPI_INT, MPI_PROC_NULL, TAG, comm, MPI_INFO_NULL,
                             &request));
    EPT_OK(t, MPI_Request_free(&request));
    use(comm, t);
}

/* Memory that a call does not use. */
static void case_unused(MPI_Comm comm, struct ept *t)
{
    int *memory = device_memory(t, 2 * sizeof(int));
    MPI_Request requests[2];

    EPT_OK(t, MPI_Send(memory, 2, MPI_INT, MPI_PROC_NULL, TAG, comm));
    EPT_OK(t, MPI_Recv(memory, 2, MPI_INT, MPI_PROC_NULL, TAG, comm, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Sendrecv(memory, 0, MPI_INT, next_of(t), TAG, memory, 0, MPI_INT, before(t), TAG,
                           comm, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Recv_init(memory, 0, MPI_INT, before(t), TAG, comm, &requests[0]));
    EPT_OK(t, MPI_Ssend_init(memory, 0, MPI_INT, next_of(t), TAG, comm, &requests[1]));
    EPT_OK(t, MPI_Startall(2, requests));
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EPT_OK(t, MPI_Request_free(&requests[0]));
    EPT_OK(t, MPI_Request_free(&requests[1]));
    use(comm, t);
}

/* One int in each of two places, from an address on.  The type's data count, not that address. */
static MPI_Datatype two_ints(struct ept *t, const void *from, int *first, int *second)
{
    const MPI_Aint base = (MPI_Aint) from;
    const MPI_Aint places[2] = {(MPI_Aint) first - base, (MPI_Aint) second - base};
    MPI_Datatype type = MPI_DATATYPE_NULL;

    EPT_OK(t, MPI_Type_create_hindexed_block(2, 1, places, MPI_INT, &type));
    EPT_OK(t, MPI_Type_commit(&type));
    return type;
}

static void case_types(MPI_Comm comm, struct ept *t)
{
    int *memory = device_memory(t, 2 * sizeof(int));
    int host[2] = {t->rank, -t->rank}, got[2] = {0, 0};
    const struct {
        void *from;
        int *first, *second;
        bool is_refused;
    } tries[] = {{MPI_BOTTOM, &memory[0], &memory[1], true},
                 {MPI_BOTTOM, &host[0], &memory[0], true},
                 {MPI_BOTTOM, &memory[0], &host[0], true},
                 {host, &memory[0], &memory[1], true},
                 {MPI_BOTTOM, &host[0], &host[1], false},
                 {memory, &host[0], &host[1], false}};

    for (size_t i = 0; i < COUNT_OF(tries); ++i) {
        MPI_Datatype type = two_ints(t, tries[i].from, tries[i].first, tries[i].second);

        if (tries[i].is_refused) {
            EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Send(tries[i].from, 1, type, next_of(t), TAG, comm));
            EPT_CLASS(t, MPI_ERR_BUFFER,
                      MPI_Recv(tries[i].from, 1, type, before(t), TAG, comm, MPI_STATUS_IGNORE));
        } else {
            EPT_OK(t, MPI_Sendrecv(tries[i].from, 1, type, next_of(t), TAG, got, 2, MPI_INT,
                                   before(t), TAG, comm, MPI_STATUS_IGNORE));
            EPT_EQ(t, before(t), got[0]);
            EPT_EQ(t, -before(t), got[1]);
        }
        EPT_OK(t, MPI_Type_free(&type));
    }
}

static void case_managed(MPI_Comm comm, struct ept *t)
{
    int *given = managed_memory(t, 2 * sizeof(int)), *got = managed_memory(t, 2 * sizeof(int));

    given[0] = given[1] = t->rank;
    EPT_OK(t, MPI_Sendrecv(given, 2, MPI_INT, next_of(t), TAG, got, 2, MPI_INT, before(t), TAG,
                           comm, MPI_STATUS_IGNORE));
    EPT_EQ(t, before(t), got[0]);
    EPT_EQ(t, before(t), got[1]);
    EPT_OK(t, MPI_Allreduce(given, got, 2, MPI_INT, MPI_SUM, comm));
    EPT_EQ(t, t->size * (t->size - 1) / 2, got[1]);
}

/* A call looks at both ends of a buffer, and at no more. */
static void case_looks(MPI_Comm comm, struct ept *t)
{
    const int given[2] = {1, 2};
    const long looks = device_looks(t);
    int got[2];

    EPT_OK(t, MPI_Send(given, 2, MPI_INT, next_of(t), TAG, comm));
    EPT_EQ(t, 2, device_looks(t) - looks);
    EPT_OK(t, MPI_Recv(got, 2, MPI_INT, before(t), TAG, comm, MPI_STATUS_IGNORE));
}

/* The base PML's: its own way with device memory. */
static void case_ordinary(MPI_Comm comm, struct ept *t)
{
    const int given = 1000 + t->rank;
    int got = -1;

    (void) comm;
    ept_local_barrier(t);
    if (0 == t->local) {
        int *from = device_memory(t, sizeof(int)), *to = device_memory(t, sizeof(int));
        MPI_Request request;

        device_copy(t, from, &given, sizeof(given));
        EPT_OK(t, MPI_Irecv(to, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &request));
        EPT_OK(t, MPI_Send(from, 1, MPI_INT, 0, TAG, MPI_COMM_SELF));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        device_copy(t, &got, to, sizeof(got));
        EPT_EQ(t, given, got);
    }
    ept_local_barrier(t);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    EPT_CASE(t, case_send);
    EPT_CASE(t, case_receive);
    EPT_CASE(t, case_matched);
    EPT_CASE(t, case_both);
    EPT_CASE(t, case_partitioned);
    EPT_CASE(t, case_unused);
    EPT_CASE(t, case_types);
    EPT_CASE(t, case_managed);
    EPT_CASE(t, case_looks);
    EPT_CASE(t, case_ordinary);
    return 0;
}
