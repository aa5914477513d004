/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Many endpoints: a thousand in one process, made by one call, used by as many threads or by a few,
 * and what each takes, which must not depend on how many there are.
 *
 *   --num N      endpoints of each process (default 1000)
 *   --drivers N  threads where a few drive them all (default 3)
 *
 * Guards: pml_epml_create.c, btl_epofi_module.c, btl_epshm_recv_queue.c, btl_epshm_module.c,
 * pml_epml_creation.c, pml_epml_shared_peers.c
 */

#define _GNU_SOURCE /* mallinfo2 */

#include "usage.h"

#include <sys/resource.h>

enum {
    STACK_BYTES = 192 * 1024,
    IDLE_BYTES = 64 * 1024,
    /* What one endpoint may take more when there are twice as many: tables grow by doubling.  With
     * an array of them all, each would take 4000 more if there are 1000 in place of 500. */
    GROWTH_BYTES = 1500,
    TAG_RING = 1,
    TAG_REPORT = 2,
    EVERY = 8 /* of the ranks, one is in the split communicator */
};

/** One thread, and the handles it drives: first, first + step, ... below num. */
struct driver {
    struct ept *t;
    MPI_Comm *comms;
    int first, step, num;
    void (*use)(struct driver *driver);
    pthread_t thread;
};

void test_process_begin(void)
{
    struct rlimit limit;

    /* A network context takes some descriptors, a connection one more. */
    if (0 == getrlimit(RLIMIT_NOFILE, &limit)) {
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void *driver_main(void *argument)
{
    struct driver *driver = argument;

    driver->use(driver);
    return NULL;
}

/** Let threads, each with its share of the handles, use them all. */
static void drive(struct ept *t, MPI_Comm *comms, int num, int threads,
                  void (*use)(struct driver *driver))
{
    struct driver *drivers = calloc((size_t) threads, sizeof(*drivers));
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (int i = 0; i < threads; ++i) {
        drivers[i] = (struct driver){
            .t = t, .comms = comms, .first = i, .step = threads, .num = num, .use = use};
        if (0 != pthread_create(&drivers[i].thread, &attributes, driver_main, &drivers[i])) {
            ept_note("cannot start thread %d of %d", i, threads);
            abort();
        }
    }
    for (int i = 0; i < threads; ++i) {
        pthread_join(drivers[i].thread, NULL);
    }
    pthread_attr_destroy(&attributes);
    free(drivers);
}

/* ---- what the threads do --------------------------------------------------------------------- */

/** Each rank sends to the next; all handles of a driver are under way at once. */
static void use_ring(struct driver *driver)
{
    const int mine = (driver->num - driver->first + driver->step - 1) / driver->step;
    MPI_Request *requests = malloc(2 * (size_t) mine * sizeof(*requests));
    int(*values)[2] = malloc((size_t) mine * sizeof(*values));
    int size;

    MPI_Comm_size(driver->comms[0], &size);
    for (int k = 0; k < mine; ++k) {
        MPI_Comm comm = driver->comms[driver->first + k * driver->step];
        int rank;

        MPI_Comm_rank(comm, &rank);
        values[k][0] = 7 * rank + 3;
        values[k][1] = -1;
        EPT_OK(driver->t, MPI_Irecv(&values[k][1], 1, MPI_INT, (rank + size - 1) % size, TAG_RING,
                                    comm, &requests[2 * k]));
        EPT_OK(driver->t, MPI_Isend(&values[k][0], 1, MPI_INT, (rank + 1) % size, TAG_RING, comm,
                                    &requests[2 * k + 1]));
    }
    EPT_OK(driver->t, MPI_Waitall(2 * mine, requests, MPI_STATUSES_IGNORE));
    for (int k = 0; k < mine; ++k) {
        int rank;

        MPI_Comm_rank(driver->comms[driver->first + k * driver->step], &rank);
        EPT_EQ(driver->t, 7 * ((rank + size - 1) % size) + 3, values[k][1]);
    }
    free(values);
    free(requests);
}

/** Rank 0 takes one message of each rank, in any order. */
static void collect_reports(struct ept *t, MPI_Comm comm, int size)
{
    unsigned char *seen = calloc((size_t) size, 1);

    for (int i = 1; i < size; ++i) {
        MPI_Status status;
        int value = -1;

        ept_phase(t, "report %d of %d", i, size - 1);
        EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG_REPORT, comm, &status));
        EPT_EQ(t, 5 * status.MPI_SOURCE, value);
        EPT_CHECK(t, 0 == seen[status.MPI_SOURCE]++, "two reports of rank %d", status.MPI_SOURCE);
    }
    free(seen);
}

/** One of some ranks: a communicator of them, and a barrier on it. */
static void split_and_meet(struct ept *t, MPI_Comm comm, int rank, int size)
{
    MPI_Comm some;
    int members;

    EPT_OK(t, MPI_Comm_split(comm, 0 == rank % EVERY ? 0 : MPI_UNDEFINED, rank, &some));
    if (0 != rank % EVERY) {
        EPT_CHECK(t, MPI_COMM_NULL == some, "rank %d got a communicator", rank);
        return;
    }
    MPI_Comm_size(some, &members);
    EPT_EQ(t, (size + EVERY - 1) / EVERY, members);
    EPT_OK(t, MPI_Barrier(some));
    EPT_OK(t, MPI_Comm_free(&some));
}

/** A thread that has one endpoint, and uses it as a rank. */
static void use_as_rank(struct driver *driver)
{
    MPI_Comm *comm = &driver->comms[driver->first];
    struct ept *t = driver->t;
    int rank, size;

    MPI_Comm_rank(*comm, &rank);
    MPI_Comm_size(*comm, &size);
    use_ring(driver);
    if (0 == rank) {
        collect_reports(t, *comm, size);
    } else {
        int value = 5 * rank;

        EPT_OK(t, MPI_Send(&value, 1, MPI_INT, 0, TAG_REPORT, *comm));
    }
    split_and_meet(t, *comm, rank, size);
    EPT_OK(t, MPI_Barrier(*comm));
    EPT_OK(t, MPI_Comm_free(comm));
}

/** The threads of use_halves meet here, while one looks at the heap. */
static pthread_barrier_t halves_meet;
static long halves_before, halves_after;

static void measure_alone(struct driver *driver, long *bytes)
{
    pthread_barrier_wait(&halves_meet);
    if (0 == driver->first) {
        *bytes = heap_bytes();
    }
    pthread_barrier_wait(&halves_meet);
}

/** Communicators of half of the ranks: the second one is measured, the first brings what messages
 * leave behind on the endpoint. */
static void use_halves(struct driver *driver)
{
    MPI_Comm *comm = &driver->comms[driver->first], half;
    int rank;

    MPI_Comm_rank(*comm, &rank);
    for (int round = 0; round < 2; ++round) {
        measure_alone(driver, &halves_before);
        EPT_OK(driver->t, MPI_Comm_split(*comm, rank % 2, rank, &half));
        measure_alone(driver, &halves_after);
        EPT_OK(driver->t, MPI_Comm_free(&half));
    }
    EPT_OK(driver->t, MPI_Comm_free(comm));
}

/* ---- cases ----------------------------------------------------------------------------------- */

static MPI_Comm *create(struct ept *t, int num)
{
    MPI_Comm *comms = malloc((size_t) num * sizeof(*comms));

    ept_phase(t, "creating %d endpoints", num);
    EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_WORLD, num, MPI_INFO_NULL, comms));
    return comms;
}

static void free_all(struct ept *t, MPI_Comm *comms, int num)
{
    for (int i = 0; i < num; ++i) {
        EPT_OK(t, MPI_Comm_free(&comms[i]));
    }
    free(comms);
}

static int option_num(void)
{
    return (int) ept_option_long("num", 1000);
}

/** A thread per endpoint. */
static void case_threads(MPI_Comm comm, struct ept *t)
{
    const int num = option_num();
    MPI_Comm *comms;

    (void) comm;
    if (0 == t->local) {
        comms = create(t, num);
        ept_phase(t, "%d threads", num);
        drive(t, comms, num, num, use_as_rank);
        free(comms);
    }
    ept_local_barrier(t);
}

/** A few threads, each with many endpoints under way. */
static void case_few_threads(MPI_Comm comm, struct ept *t)
{
    const int num = option_num(), threads = (int) ept_option_long("drivers", 3);
    MPI_Comm *comms;

    (void) comm;
    if (0 == t->local) {
        comms = create(t, num);
        ept_phase(t, "%d threads with %d endpoints", threads, num);
        for (int i = 0; i < 10; ++i) {
            drive(t, comms, num, threads, use_ring);
        }
        free_all(t, comms, num);
    }
    ept_local_barrier(t);
}

/** Bytes of heap and of memory that each of num idle endpoints takes. */
static long idle_bytes(struct ept *t, int num)
{
    const long before = heap_bytes(), resident = resident_kib();
    MPI_Comm *comms = create(t, num);
    const long each = (heap_bytes() - before) / num;
    const long each_resident = (resident_kib() - resident) * 1024 / num;

    ept_note("%d idle endpoints: %ld bytes of heap each, %ld resident", num, each, each_resident);
    free_all(t, comms, num);
    return each > each_resident ? each : each_resident;
}

static void case_memory(MPI_Comm comm, struct ept *t)
{
    const int num = option_num();
    long half, all;

    (void) comm;
    if (0 == t->local) {
        (void) idle_bytes(t, 2); /* what comes with the first */
        half = idle_bytes(t, num / 2);
        all = idle_bytes(t, num);
        EPT_CHECK(t, all < IDLE_BYTES, "an idle endpoint takes %ld bytes, allowed are %d", all,
                  IDLE_BYTES);
        EPT_CHECK(t, all <= half + GROWTH_BYTES,
                  "one of %d endpoints takes %ld bytes, one of %d %ld: this grows with the square",
                  num / 2, half, num, all);
    }
    ept_local_barrier(t);
}

/** @return bytes of heap that each of num endpoints takes for a communicator of half of them */
static long half_bytes(struct ept *t, int num)
{
    MPI_Comm *comms = create(t, num);
    long each;

    ept_phase(t, "%d threads split", num);
    pthread_barrier_init(&halves_meet, NULL, (unsigned) num);
    drive(t, comms, num, num, use_halves);
    pthread_barrier_destroy(&halves_meet);
    each = (halves_after - halves_before) / num;
    ept_note("%d endpoints, split in halves: %ld bytes of heap each", num, each);
    free(comms);
    return each;
}

static void case_split_memory(MPI_Comm comm, struct ept *t)
{
    const int num = option_num();
    long half, all;

    (void) comm;
    if (0 == t->local) {
        half = half_bytes(t, num / 2);
        all = half_bytes(t, num);
        EPT_CHECK(t, all <= half + GROWTH_BYTES,
                  "a handle of a half of %d takes %ld bytes, of %d %ld: this grows with the square",
                  num / 2, half, num, all);
    }
    ept_local_barrier(t);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_threads);
    EPT_CASE(t, case_few_threads);
    if (1 == t->nprocs) {
        EPT_CASE(t, case_memory);
        EPT_CASE(t, case_split_memory);
    } else {
        /* The fabric's part is its own. */
        ept_skip(t, "case_memory", "in one process only");
        ept_skip(t, "case_split_memory", "in one process only");
    }
    return 0;
}
