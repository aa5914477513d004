/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Device memory in messages on endpoints, of an accelerator that is not there (fake_accelerator),
 * whose memory the CPU cannot access: a forgotten access is a segmentation fault.  All send modes and
 * kinds of receives, short and long, from and to device and host, with layouts in pieces; partitioned
 * messages; copies by threads that have no context of the device.  Collectives are in device_coll.
 *
 * Guards: pml_epml_device.c, pml_epml_accelerator.c, pml_epml_ipart.c,
 * pml_epml_fetch.c, pml_epml_send.c
 */

#include "device.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TAG = 7, LONG = 300000, SHORT = 3, SIZES = 3, ROUNDS = 3 };

static const int sizes[SIZES] = {SHORT, 4000, LONG};

typedef int (*send_fn_t)(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm);
typedef int (*isend_fn_t)(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                          MPI_Comm comm, MPI_Request *request);

static const send_fn_t sends[] = {MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend};

static const isend_fn_t isends[] = {MPI_Isend,     MPI_Issend,     MPI_Irsend,     MPI_Ibsend,
                                    MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};

#define COUNT_OF(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* Where the buffers of a transfer are. */
enum { DEVICE_DEVICE, DEVICE_HOST, HOST_DEVICE, DIRECTIONS };

/* A thread's buffers, of LONG ints: what it sends, and what it receives. */
static _Thread_local int *device[2], *host[2];

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

static int value(int rank, int salt, int i)
{
    return rank * 100003 + salt * 1009 + i;
}

static int *buffer_of(int direction, int is_receive)
{
    return (is_receive ? DEVICE_HOST : HOST_DEVICE) == direction ? host[is_receive]
                                                                 : device[is_receive];
}

/* What this rank sends; and nothing received yet. */
static void fill(struct ept *t, int direction, int salt, int count)
{
    int *memory = malloc((size_t) count * sizeof(int));

    for (int i = 0; i < count; ++i) {
        memory[i] = value(t->rank, salt, i);
    }
    device_copy(t, buffer_of(direction, 0), memory, (size_t) count * sizeof(int));
    memset(memory, -1, (size_t) count * sizeof(int));
    device_copy(t, buffer_of(direction, 1), memory, (size_t) count * sizeof(int));
    free(memory);
}

/* What the rank before has sent. */
static void check(struct ept *t, int direction, int salt, int count)
{
    int *memory = malloc((size_t) count * sizeof(int)), wrong = 0;

    device_copy(t, memory, buffer_of(direction, 1), (size_t) count * sizeof(int));
    for (int i = 0; i < count; ++i) {
        wrong += value(before(t), salt, i) != memory[i];
    }
    EPT_EQ(t, 0, wrong);
    free(memory);
}

static void with_buffer(struct ept *t, bool attach)
{
    static char room[16 * (LONG * sizeof(int) + MPI_BSEND_OVERHEAD)];
    void *was;
    int size;

    ept_local_barrier(t);
    if (0 == t->local) {
        EPT_OK(t, attach ? MPI_Buffer_attach(room, sizeof(room)) : MPI_Buffer_detach(&was, &size));
    }
    ept_local_barrier(t);
}

/* Each mode, to a receive that has been started. */
static void modes(MPI_Comm comm, struct ept *t, int direction, int count)
{
    for (int mode = 0; mode < COUNT_OF(sends) + COUNT_OF(isends); ++mode) {
        const int which = mode - COUNT_OF(sends);
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Status status;
        int *from = buffer_of(direction, 0);

        ept_phase(t, "mode %d, direction %d, %d ints", mode, direction, count);
        fill(t, direction, mode, count);
        EPT_OK(t, MPI_Irecv(buffer_of(direction, 1), count, MPI_INT, before(t), TAG, comm,
                            &requests[0]));
        EPT_OK(t, MPI_Barrier(comm)); /* MPI_Rsend */
        if (0 > which) {
            EPT_OK(t, sends[mode](from, count, MPI_INT, next_of(t), TAG, comm));
        } else {
            EPT_OK(t, isends[which](from, count, MPI_INT, next_of(t), TAG, comm, &requests[1]));
            if (4 <= which) {
                EPT_OK(t, MPI_Start(&requests[1]));
            }
            EPT_OK(t, MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
            if (4 <= which) {
                EPT_OK(t, MPI_Request_free(&requests[1]));
            }
            EPT_EQ(t, true, MPI_REQUEST_NULL == requests[1]);
        }
        EPT_OK(t, MPI_Wait(&requests[0], &status));
        EPT_EQ(t, true, MPI_REQUEST_NULL == requests[0]);
        EPT_STATUS(t, &status, before(t), TAG, (size_t) count * sizeof(int));
        check(t, direction, mode, count);
    }
}

static void case_modes(MPI_Comm comm, struct ept *t)
{
    with_buffer(t, true);
    for (int direction = 0; direction < DIRECTIONS; ++direction) {
        for (int i = 0; i < SIZES; ++i) {
            modes(comm, t, direction, sizes[i]);
        }
    }
    with_buffer(t, false);
}

/* Kinds of receives, of a message that is there already, or has been announced. */
enum { RECV, RECV_ANY, IRECV, RECV_INIT, MRECV, IMRECV, RECEIVES };

static void receive(MPI_Comm comm, struct ept *t, int kind, int *to, int count, MPI_Status *status)
{
    MPI_Request request;
    MPI_Message message;

    switch (kind) {
    case RECV:
        EPT_OK(t, MPI_Recv(to, count, MPI_INT, before(t), TAG, comm, status));
        return;
    case RECV_ANY:
        EPT_OK(t, MPI_Recv(to, count, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, status));
        return;
    case MRECV:
        EPT_OK(t, MPI_Mprobe(before(t), TAG, comm, &message, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Mrecv(to, count, MPI_INT, &message, status));
        return;
    case IRECV:
        EPT_OK(t, MPI_Irecv(to, count, MPI_INT, before(t), TAG, comm, &request));
        break;
    case RECV_INIT:
        EPT_OK(t, MPI_Recv_init(to, count, MPI_INT, before(t), TAG, comm, &request));
        EPT_OK(t, MPI_Start(&request));
        break;
    default:
        EPT_OK(t, MPI_Mprobe(before(t), TAG, comm, &message, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Imrecv(to, count, MPI_INT, &message, &request));
        break;
    }
    EPT_OK(t, MPI_Wait(&request, status));
    if (RECV_INIT == kind) {
        EPT_OK(t, MPI_Request_free(&request));
    }
}

static void case_receives(MPI_Comm comm, struct ept *t)
{
    for (int i = 0; i < SIZES * RECEIVES * DIRECTIONS; ++i) {
        const int count = sizes[i % SIZES], kind = i / SIZES % RECEIVES;
        const int direction = i / SIZES / RECEIVES;
        MPI_Request request;
        MPI_Status status;

        ept_phase(t, "receive %d, direction %d, %d ints", kind, direction, count);
        fill(t, direction, i, count);
        EPT_OK(t,
               MPI_Isend(buffer_of(direction, 0), count, MPI_INT, next_of(t), TAG, comm, &request));
        receive(comm, t, kind, buffer_of(direction, 1), count, &status);
        EPT_STATUS(t, &status, before(t), TAG, (size_t) count * sizeof(int));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(t, direction, i, count);
        EPT_OK(t, MPI_Barrier(comm)); /* MPI_ANY_SOURCE */
    }
}

/* Persistent requests that are started again. */
static void case_rounds(MPI_Comm comm, struct ept *t)
{
    for (int i = 0; i < SIZES * DIRECTIONS; ++i) {
        const int count = sizes[i % SIZES], direction = i / SIZES;
        MPI_Request requests[2];

        EPT_OK(t, MPI_Recv_init(buffer_of(direction, 1), count, MPI_INT, before(t), TAG, comm,
                                &requests[0]));
        EPT_OK(t, MPI_Send_init(buffer_of(direction, 0), count, MPI_INT, next_of(t), TAG, comm,
                                &requests[1]));
        for (int round = 0; round < ROUNDS; ++round) {
            fill(t, direction, round, count);
            EPT_OK(t, MPI_Startall(2, requests));
            EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            check(t, direction, round, count);
        }
        EPT_OK(t, MPI_Request_free(&requests[0]));
        EPT_OK(t, MPI_Request_free(&requests[1]));
    }
}

static void case_both(MPI_Comm comm, struct ept *t)
{
    for (int i = 0; i < SIZES * DIRECTIONS; ++i) {
        const int count = sizes[i % SIZES], direction = i / SIZES;
        MPI_Request request;

        fill(t, direction, 1, count);
        EPT_OK(t, MPI_Sendrecv(buffer_of(direction, 0), count, MPI_INT, next_of(t), TAG,
                               buffer_of(direction, 1), count, MPI_INT, before(t), TAG, comm,
                               MPI_STATUS_IGNORE));
        check(t, direction, 1, count);
        fill(t, direction, 2, count);
        EPT_OK(t, MPI_Isendrecv(buffer_of(direction, 0), count, MPI_INT, next_of(t), TAG,
                                buffer_of(direction, 1), count, MPI_INT, before(t), TAG, comm,
                                &request));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(t, direction, 2, count);
        fill(t, DEVICE_DEVICE, 3, count);
        device_copy(t, device[1], device[0], (size_t) count * sizeof(int));
        EPT_OK(t, MPI_Sendrecv_replace(device[1], count, MPI_INT, next_of(t), TAG, before(t), TAG,
                                       comm, MPI_STATUS_IGNORE));
        check(t, DEVICE_DEVICE, 3, count);
    }
}

/* Within a process a long message is copied from device to device, and once: not through the host. */
static void case_direct(MPI_Comm comm, struct ept *t)
{
    const int first = t->rank - t->local, to = first + (t->local + 1) % t->nlocal;
    const int from = first + (t->local + t->nlocal - 1) % t->nlocal;
    long copies;

    fill(t, DEVICE_DEVICE, 1, LONG);
    ept_local_barrier(t);
    copies = device_copies(t);
    ept_local_barrier(t);
    EPT_OK(t, MPI_Sendrecv(device[0], LONG, MPI_INT, to, TAG, device[1], LONG, MPI_INT, from, TAG,
                           comm, MPI_STATUS_IGNORE));
    ept_local_barrier(t);
    if (0 <= copies) {
        EPT_CHECK(t, copies < device_copies(t), "through the host");
    }
    ept_local_barrier(t);
}

/* A receive that is too short takes what fits, and nothing behind it is written to. */
static void case_truncated(MPI_Comm comm, struct ept *t)
{
    for (int i = 1; i < SIZES; ++i) {
        const int count = sizes[i], less = count - 5;
        MPI_Request request;
        int after = 0;

        fill(t, DEVICE_DEVICE, i, count);
        EPT_OK(t, MPI_Isend(device[0], count, MPI_INT, next_of(t), TAG, comm, &request));
        EPT_CLASS(t, MPI_ERR_TRUNCATE,
                  MPI_Recv(device[1], less, MPI_INT, before(t), TAG, comm, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(t, DEVICE_DEVICE, i, less);
        device_copy(t, &after, device[1] + less, sizeof(after));
        EPT_EQ(t, -1, after);
    }
}

static void case_cancel(MPI_Comm comm, struct ept *t)
{
    MPI_Request request;
    MPI_Status status;
    int is_cancelled = 0;

    EPT_OK(t, MPI_Irecv(device[1], 1, MPI_INT, before(t), TAG, comm, &request));
    EPT_OK(t, MPI_Cancel(&request));
    EPT_OK(t, MPI_Wait(&request, &status));
    EPT_OK(t, MPI_Test_cancelled(&status, &is_cancelled));
    EPT_EQ(t, 1, is_cancelled);
}

/* Partitions, each marked ready by itself. */
static void partitioned(MPI_Comm comm, struct ept *t, int direction, int count)
{
    const int parts = 4, each = count / parts;
    MPI_Request requests[2];

    ept_phase(t, "partitioned, direction %d, %d ints", direction, count);
    EPT_OK(t, MPI_Psend_init(buffer_of(direction, 0), parts, each, MPI_INT, next_of(t), TAG, comm,
                             MPI_INFO_NULL, &requests[0]));
    EPT_OK(t, MPI_Precv_init(buffer_of(direction, 1), parts, each, MPI_INT, before(t), TAG, comm,
                             MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < ROUNDS; ++round) {
        fill(t, direction, round, count);
        EPT_OK(t, MPI_Startall(2, requests));
        for (int i = parts - 1; 0 <= i; --i) {
            EPT_OK(t, MPI_Pready(i, requests[0]));
        }
        EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        check(t, direction, round, parts * each);
    }
    EPT_OK(t, MPI_Request_free(&requests[0]));
    EPT_OK(t, MPI_Request_free(&requests[1]));
}

static void case_partitioned(MPI_Comm comm, struct ept *t)
{
    MPI_Request request = MPI_REQUEST_NULL;

    for (int direction = 0; direction < DIRECTIONS; ++direction) {
        partitioned(comm, t, direction, 4 * SHORT);
        partitioned(comm, t, direction, LONG);
    }
    EPT_CLASS(t, MPI_ERR_TAG,
              MPI_Psend_init(device[0], 2, 1, MPI_INT, next_of(t), -5, comm, MPI_INFO_NULL,
                             &request));
    EPT_OK(t, MPI_Psend_init(device[0], 2, 1, MPI_INT, MPI_PROC_NULL, TAG, comm, MPI_INFO_NULL,
                             &request));
    EPT_OK(t, MPI_Request_free(&request));
}

/* Memory that a call does not use. */
static void case_unused(MPI_Comm comm, struct ept *t)
{
    int *memory = device[0];
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
}

/* One int in each of two places, from an address on.  The type's data count, not that address. */
static MPI_Datatype two_ints(struct ept *t, const void *from, const int *first, const int *second)
{
    const MPI_Aint base = (MPI_Aint) from;
    const MPI_Aint places[2] = {(MPI_Aint) first - base, (MPI_Aint) second - base};
    MPI_Datatype type = MPI_DATATYPE_NULL;

    EPT_OK(t, MPI_Type_create_hindexed_block(2, 1, places, MPI_INT, &type));
    EPT_OK(t, MPI_Type_commit(&type));
    return type;
}

/* Places by absolute addresses, or far from the buffer's, of device and host. */
static void case_addresses(MPI_Comm comm, struct ept *t)
{
    int *sent = device[0], *got = device[1];
    int *low = mmap((void *) 0x200000000000, 4096, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* mostly below the device's memory */
    const struct {
        void *from;
        int *first, *second;
    } tries[] = {{MPI_BOTTOM, &sent[1], &sent[3]},       {MPI_BOTTOM, &low[0], &sent[2]},
                 {MPI_BOTTOM, &sent[0], &host[0][1]},    {host[0], &sent[1], &host[0][2]},
                 {MPI_BOTTOM, &host[0][0], &host[0][3]}, {sent, &host[0][0], &host[0][1]}};

    with_buffer(t, true);
    for (int i = 0; i < 2 * COUNT_OF(tries); ++i) {
        const int n = i / 2, given[2] = {value(t->rank, i, 0), value(t->rank, i, 1)};
        MPI_Datatype out = two_ints(t, tries[n].from, tries[n].first, tries[n].second);
        MPI_Datatype in = two_ints(t, MPI_BOTTOM, &got[5], &host[1][6]);
        MPI_Request request;
        int seen = 0;

        device_copy(t, tries[n].first, &given[0], sizeof(int));
        device_copy(t, tries[n].second, &given[1], sizeof(int));
        EPT_OK(t, (0 == i % 2 ? MPI_Isend : MPI_Ibsend)(tries[n].from, 1, out, next_of(t), TAG,
                                                        comm, &request));
        EPT_OK(t, MPI_Recv(MPI_BOTTOM, 1, in, before(t), TAG, comm, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        device_copy(t, &seen, &got[5], sizeof(int));
        EPT_EQ(t, value(before(t), i, 0), seen);
        EPT_EQ(t, value(before(t), i, 1), host[1][6]);
        EPT_OK(t, MPI_Type_free(&out));
        EPT_OK(t, MPI_Type_free(&in));
    }
    (void) munmap(low, 4096);
    with_buffer(t, false);
}

/* Every third int, three at a time: what lies between stays. */
static void case_gaps(MPI_Comm comm, struct ept *t)
{
    for (int i = 0; i < SIZES * DIRECTIONS; ++i) {
        const int blocks = (LONG == sizes[i % SIZES] ? LONG / 6 : sizes[i % SIZES] / 3),
                  direction = i / SIZES, all = 6 * blocks;
        int *memory = malloc((size_t) all * sizeof(int)), wrong = 0;
        MPI_Datatype type;

        EPT_OK(t, MPI_Type_vector(blocks, 3, 6, MPI_INT, &type));
        EPT_OK(t, MPI_Type_commit(&type));
        fill(t, direction, i, all);
        EPT_OK(t, MPI_Sendrecv(buffer_of(direction, 0), 1, type, next_of(t), TAG,
                               buffer_of(direction, 1), 1, type, before(t), TAG, comm,
                               MPI_STATUS_IGNORE));
        device_copy(t, memory, buffer_of(direction, 1), (size_t) all * sizeof(int));
        for (int k = 0; k < all; ++k) {
            wrong += (3 > k % 6 ? value(before(t), i, k) : -1) != memory[k];
        }
        EPT_EQ(t, 0, wrong);
        EPT_OK(t, MPI_Type_free(&type));
        free(memory);
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
    if (0 <= looks) {
        EPT_EQ(t, 2, device_looks(t) - looks);
    }
    EPT_OK(t, MPI_Recv(got, 2, MPI_INT, before(t), TAG, comm, MPI_STATUS_IGNORE));
}

/* A rank that is not in MPI is progressed by others, which copy for it; they have not used the device
 * before. */
static void case_helped(MPI_Comm comm, struct ept *t)
{
    static _Atomic int is_posted, is_sent;
    const int first = t->rank - t->local;

    fill(t, HOST_DEVICE, 0, LONG);
    ept_local_barrier(t);
    if (0 == t->local) {
        int *memory = malloc(LONG * sizeof(int)), wrong = 0;
        MPI_Request request;

        EPT_OK(t, MPI_Irecv(device[1], LONG, MPI_INT, first + 1, TAG, comm, &request));
        atomic_store(&is_posted, 1);
        while (!atomic_load(&is_sent)) {
            usleep(1000);
        }
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        device_copy(t, memory, device[1], LONG * sizeof(int));
        for (int i = 0; i < LONG; ++i) {
            wrong += value(first + 1, 0, i) != memory[i];
        }
        EPT_EQ(t, 0, wrong);
        free(memory);
    } else if (1 == t->local) {
        device_detach(t);
        while (!atomic_load(&is_posted)) {
            usleep(1000);
        }
        EPT_OK(t, MPI_Ssend(host[0], LONG, MPI_INT, first, TAG, comm));
        atomic_store(&is_sent, 1);
    }
    ept_local_barrier(t);
}

/* The base PML's: its own way with device memory. */
static void case_ordinary(MPI_Comm comm, struct ept *t)
{
    const int given = 1000 + t->rank;
    int got = -1;

    (void) comm;
    ept_local_barrier(t);
    if (0 == t->local) {
        int *from = device[0], *to = device[1];
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
    for (int i = 0; i < 2; ++i) {
        device[i] = device_memory(t, LONG * sizeof(int));
        host[i] = malloc(LONG * sizeof(int));
    }
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    EPT_CASE(t, case_modes);
    EPT_CASE(t, case_receives);
    EPT_CASE(t, case_rounds);
    EPT_CASE(t, case_both);
    if (1 < t->nlocal) {
        EPT_CASE(t, case_direct);
    }
    EPT_CASE(t, case_truncated);
    EPT_CASE(t, case_cancel);
    EPT_CASE(t, case_partitioned);
    EPT_CASE(t, case_unused);
    EPT_CASE(t, case_addresses);
    EPT_CASE(t, case_gaps);
    EPT_CASE(t, case_managed);
    EPT_CASE(t, case_looks);
    if (1 < t->nlocal) {
        EPT_CASE(t, case_helped);
    }
    EPT_CASE(t, case_ordinary);
    free(host[0]);
    free(host[1]);
    return 0;
}
