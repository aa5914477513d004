/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The tag of MPI_Comm_create_group has nothing to do with the tags of messages (MPI 4.1, section
 * 7.4.2): the user's receives and messages with the same tag are not touched.  And it tells calls
 * of several threads apart, whichever two tags they have.
 *
 * Guards: pml_epml_cid_message.c, pml_epml_cid.h, pml_epml_cid.c
 */

#include "ept.h"

#include <limits.h>

#define TAG 5

static MPI_Comm create_group(struct ept *t, MPI_Comm comm, int tag, bool backwards)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group all, group;

    EPT_OK(t, MPI_Comm_group(comm, &all));
    if (backwards) {
        int range[1][3] = {{t->size - 1, 0, -1}};

        EPT_OK(t, MPI_Group_range_incl(all, 1, range, &group));
        EPT_OK(t, MPI_Group_free(&all));
    } else {
        group = all;
    }
    EPT_OK(t, MPI_Comm_create_group(comm, group, tag, &made));
    EPT_OK(t, MPI_Group_free(&group));
    return made;
}

/* Receives with that tag, and with any, are posted. */
static void case_posted(MPI_Comm comm, struct ept *t)
{
    const int next = (t->rank + 1) % t->size, last = (t->rank + t->size - 1) % t->size;
    int values[2][8], value = 0;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Comm made;

    EPT_OK(t, MPI_Irecv(values[0], 8, MPI_INT, MPI_ANY_SOURCE, TAG, comm, &requests[0]));
    EPT_OK(t, MPI_Irecv(values[1], 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[1]));
    EPT_OK(t, MPI_Barrier(comm));
    ept_phase(t, "create_group");
    made = create_group(t, comm, TAG, false);
    EPT_OK(t, MPI_Barrier(comm));
    for (int i = 0; i < 2; ++i) {
        value = 100 * t->rank + i;
        EPT_OK(t, MPI_Send(&value, 1, MPI_INT, next, TAG, comm));
    }
    EPT_OK(t, MPI_Waitall(2, requests, statuses));
    for (int i = 0; i < 2; ++i) {
        EPT_STATUS(t, &statuses[i], last, TAG, sizeof(int));
        EPT_EQ(t, 100 * last + i, values[i][0]);
    }
    ept_use_comm(t, made, t->rank, t->size);
    EPT_OK(t, MPI_Comm_free(&made));
}

/* Messages with that tag wait, of the length of those that agree and of others. */
static void case_waiting(MPI_Comm comm, struct ept *t)
{
    static const int sizes[] = {0, 4, 8, 16, 100, 60000};
    enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
    const int next = (t->rank + 1) % t->size, last = (t->rank + t->size - 1) % t->size;
    MPI_Request requests[COUNT];
    unsigned char *out[COUNT];
    MPI_Comm made;

    for (int i = 0; i < COUNT; ++i) {
        out[i] = malloc((size_t) sizes[i] + 1);
        ept_fill(out[i], 0, (size_t) sizes[i],
                 ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) i, 0));
        EPT_OK(t, MPI_Isend(out[i], sizes[i], MPI_BYTE, next, TAG, comm, &requests[i]));
    }
    EPT_OK(t, MPI_Barrier(comm));
    ept_phase(t, "create_group");
    made = create_group(t, comm, TAG, false);
    for (int i = 0; i < COUNT; ++i) {
        struct ept_buffer in = ept_buffer(60000, 1);
        MPI_Status status;

        EPT_OK(t, MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
        EPT_STATUS(t, &status, last, TAG, sizes[i]);
        EPT_OK(t, MPI_Recv(in.data, 60000, MPI_BYTE, last, TAG, comm, &status));
        EPT_STATUS(t, &status, last, TAG, sizes[i]);
        EPT_FILL(t, in.data, (size_t) sizes[i], ept_mix(t->seed, (uint64_t) last, (uint64_t) i, 0));
        EPT_GUARDS(t, &in);
        ept_buffer_free(&in);
    }
    EPT_OK(t, MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COUNT; ++i) {
        free(out[i]);
    }
    ept_use_comm(t, made, t->rank, t->size);
    EPT_OK(t, MPI_Comm_free(&made));
}

struct call {
    struct ept *t;
    MPI_Comm comm, made;
    int tag;
    bool backwards;
};

static void *call_thread(void *context)
{
    struct call *call = context;

    call->made = create_group(call->t, call->comm, call->tag, call->backwards);
    return NULL;
}

/* Two threads of every rank, in both orders. */
static void two_tags(MPI_Comm comm, struct ept *t, int tag, int other)
{
    struct call calls[2] = {{t, comm, MPI_COMM_NULL, tag, false},
                            {t, comm, MPI_COMM_NULL, other, true}};
    const int first = t->rank % 2;
    pthread_t thread;

    ept_phase(t, "tags %d and %d", tag, other);
    pthread_create(&thread, NULL, call_thread, &calls[first]);
    call_thread(&calls[!first]);
    pthread_join(thread, NULL);
    ept_use_comm(t, calls[0].made, t->rank, t->size);
    ept_use_comm(t, calls[1].made, t->size - 1 - t->rank, t->size);
    EPT_OK(t, MPI_Comm_free(&calls[0].made));
    EPT_OK(t, MPI_Comm_free(&calls[1].made));
}

static void case_tags(MPI_Comm comm, struct ept *t)
{
    for (int round = 0; round < 5; ++round) {
        for (int bit = 0; bit < 31; bit += 6) {
            two_tags(comm, t, TAG, TAG ^ (int) (1u << bit));
        }
        two_tags(comm, t, 0, INT_MAX);
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_posted);
    EPT_CASE(t, case_waiting);
    EPT_CASE(t, case_tags);
    return 0;
}
