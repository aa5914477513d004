/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A thread that waits helps endpoints whose own threads are not in MPI, but only a little: the
 * message that it waits for reaches it while it has hardly begun with a large copy for another, and
 * a creation in a third thread does not wait for the copy either.
 *
 * Rank 0 waits for a few bytes, rank 1 has posted a large receive and computes, rank 2 watches the
 * memory of that receive: as soon as its first byte comes it sends the few bytes, or creates an
 * endpoint, and then its last byte must not have come.  The last rank sends the large message.
 *
 * Whatever thread has its core: rank 0 goes no further than to its next look at the process before the few
 * bytes have been sent.
 *
 * Guards: pml_epml_registry.c, pml_epml_progress.c, pml_epml_waiting.c
 */

#define _GNU_SOURCE /* RTLD_NEXT */

#include "ept.h"
#include "next_progress.h"

#include <sched.h>
#include <unistd.h>

enum { WAITS, COMPUTES, WATCHES, RANKS_MIN = 4, TAG_SMALL = 1, TAG_LARGE = 2 };

/* Between processes the large message comes in fragments now and then, to see whether that is
 * faster. */
enum { TRIES = 3 };

/** Of the process that rank 0 to 2 live in. */
static unsigned char *memory;
static size_t memory_size;
static atomic_bool over; /**< rank 1 may be in MPI again */
static atomic_bool sent; /**< the few bytes */
static atomic_int in_time;

typedef enum way_t { SMALL, CREATION, WITH_GAPS, WAYS } way_t;

/** A character and a double: 9 bytes of data in 16, so that slices end within elements. */
enum { DATA = 9, EXTENT = 16 };

static const size_t bytes_of[] = {16u << 20, 16u << 20, DATA *(1u << 20)};

static void make_type(struct ept *t, MPI_Datatype *type)
{
    const int lengths[] = {1, 1};
    const MPI_Aint displacements[] = {0, 8};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE};

    EPT_OK(t, MPI_Type_create_struct(2, lengths, displacements, types, type));
    EPT_OK(t, MPI_Type_commit(type));
}

/** Byte i of the message; never 0. */
static unsigned char byte_of(size_t i)
{
    return (unsigned char) (1 + i % 251);
}

/** Has all come, and nothing but that? */
static void check(struct ept *t, way_t way)
{
    size_t wrong = 0, at = 0;

    for (size_t i = 0; i < memory_size; ++i) {
        const bool gap = WITH_GAPS == way && 1 <= i % EXTENT && 8 > i % EXTENT;

        wrong += memory[i] != (gap ? 0 : byte_of(at));
        at += gap ? 0 : 1;
    }
    EPT_EQ(t, bytes_of[way], at);
    EPT_EQ(t, 0, wrong);
}

static unsigned char load(const unsigned char *byte)
{
    return __atomic_load_n(byte, __ATOMIC_RELAXED);
}

/* ---- libmpi's progress, in which a thread that waits helps ---------------------------------- */

static _Thread_local bool is_stepped;

int opal_progress(void)
{
    while (is_stepped && 0 != load(&memory[0]) && !atomic_load(&sent)) {
        usleep(100);
    }
    return next_progress();
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static void wait_for_few(MPI_Comm comm, struct ept *t)
{
    int value = 0;

    is_stepped = true;
    EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, WATCHES, TAG_SMALL, comm, MPI_STATUS_IGNORE));
    is_stepped = false;
    EPT_EQ(t, 77, value);
    if (0 == load(&memory[memory_size - 1])) {
        atomic_fetch_add(&in_time, 1);
    }
    atomic_store(&over, true);
}

static void compute(MPI_Comm comm, struct ept *t, way_t way)
{
    const size_t bytes = bytes_of[way];
    MPI_Datatype type = MPI_PACKED;
    MPI_Request request;
    size_t count = bytes;

    memory_size = bytes;
    if (WITH_GAPS == way) {
        make_type(t, &type);
        count = bytes / DATA;
        memory_size = count * EXTENT;
    }
    memory = calloc(memory_size, 1);
    EPT_OK(t, MPI_Irecv(memory, (int) count, type, t->size - 1, TAG_LARGE, comm, &request));
    ept_local_barrier(t);
    while (!atomic_load(&over)) {
        usleep(1000);
    }
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    check(t, way);
    if (WITH_GAPS == way) {
        EPT_OK(t, MPI_Type_free(&type));
    }
}

static void watch(MPI_Comm comm, struct ept *t, way_t way)
{
    MPI_Comm created = MPI_COMM_NULL;
    int value = 77;

    while (0 == load(&memory[0])) {
        sched_yield();
    }
    if (CREATION == way) {
        EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, 1, MPI_INFO_NULL, &created));
        if (0 == load(&memory[memory_size - 1])) {
            atomic_fetch_add(&in_time, 1);
        }
    }
    EPT_OK(t, MPI_Send(&value, 1, MPI_INT, WAITS, TAG_SMALL, comm));
    atomic_store(&sent, true);
    if (MPI_COMM_NULL != created) {
        EPT_OK(t, MPI_Comm_free(&created));
    }
}

static void send_large(MPI_Comm comm, struct ept *t, way_t way)
{
    unsigned char *data = malloc(bytes_of[way]);
    MPI_Request request;

    for (size_t i = 0; i < bytes_of[way]; ++i) {
        data[i] = byte_of(i);
    }
    EPT_OK(t,
           MPI_Isend(data, (int) bytes_of[way], MPI_PACKED, COMPUTES, TAG_LARGE, comm, &request));
    while (0 == t->proc && !atomic_load(&over)) {
        usleep(1000); /* or it would be drafted itself */
    }
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    free(data);
}

/** @return how many of the ranks that should have been in time were: of the one, or the two */
static int run(MPI_Comm comm, struct ept *t, way_t way)
{
    int came;

    if (0 == t->local) {
        atomic_store(&over, false);
        atomic_store(&sent, false);
        atomic_store(&in_time, 0);
    }
    EPT_OK(t, MPI_Barrier(comm));
    if (COMPUTES == t->rank) {
        compute(comm, t, way);
    } else if (0 == t->proc) {
        ept_local_barrier(t); /* the memory is there, the receive posted */
    }
    if (WAITS == t->rank) {
        wait_for_few(comm, t);
    } else if (WATCHES == t->rank) {
        watch(comm, t, way);
    } else if (t->size - 1 == t->rank) {
        send_large(comm, t, way);
    }
    ept_local_barrier(t); /* nobody else is in MPI meanwhile */
    came = atomic_load(&in_time);
    EPT_OK(t, MPI_Bcast(&came, 1, MPI_INT, 0, comm));
    if (COMPUTES == t->rank) {
        free(memory);
    }
    return came;
}

static void run_way(MPI_Comm comm, struct ept *t, way_t way)
{
    const int wanted = CREATION == way ? 2 : 1;

    for (int try = 0; try < TRIES; ++try) {
        int came;

        ept_phase(t, "try %d", try);
        came = run(comm, t, way);
        EPT_CHECK(t, wanted == came, "try %d: somebody waited for a copy of another's", try);
    }
}

static void case_small(MPI_Comm comm, struct ept *t)
{
    run_way(comm, t, SMALL);
}

static void case_creation(MPI_Comm comm, struct ept *t)
{
    run_way(comm, t, CREATION);
}

static void case_with_gaps(MPI_Comm comm, struct ept *t)
{
    run_way(comm, t, WITH_GAPS);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CHECK(t, RANKS_MIN <= t->size && 3 <= t->nlocal, "needs four ranks, three in a process");
    EPT_CASE(t, case_small);
    EPT_CASE(t, case_creation);
    EPT_CASE(t, case_with_gaps);
    return 0;
}
