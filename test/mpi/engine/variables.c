/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The performance variables of MPI_T: what is sent, by which way, what waits and what is dropped,
 * of an endpoint and of the process, against what the test does; which way collectives go.
 *
 * Guards: pml_epml_report.c, pml_epml_variables.c, pml_epml_counts.h, coll_epcoll_count.c,
 * coll_epcoll_count.h, coll_epcoll_variables.c
 */

#include "ept.h"

enum { HEADER = 24, MANY = 100, LARGE = 1 << 20 };

/* One rank's access to the variables.  Open MPI 6.0.0rc2 takes the address of a handle for that of
 * the communicator, what is behind it for the communicator's flags, and refuses (or does not) with
 * MPI_T_ERR_INVALID_HANDLE: there are zeros. */
struct access {
    MPI_T_pvar_session session;
    MPI_Comm comm;
    unsigned char zeros[2048];
};

struct variable {
    MPI_T_pvar_handle handle;
    struct access *access;
};

void test_process_begin(void)
{
    int level;

    (void) MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level);
}

/* From now on counters of this handle count. */
static struct variable open_of(struct ept *t, struct access *access, const char *component,
                               const char *name, int class)
{
    struct variable variable = {.access = access};
    char full[80];
    int index = -1, count = 0;

    snprintf(full, sizeof(full), "%s_%s", component, name);
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_get_index(full, class, &index));
    EPT_EQ(t, MPI_SUCCESS,
           MPI_T_pvar_handle_alloc(access->session, index, &access->comm, &variable.handle,
                                   &count));
    EPT_EQ(t, 1, count);
    return variable;
}

static struct variable open_variable(struct ept *t, struct access *access, const char *name,
                                     int class)
{
    return open_of(t, access, "pml_epml", name, class);
}

static struct variable open_counter(struct ept *t, struct access *access, const char *name)
{
    return open_variable(t, access, name, MPI_T_PVAR_CLASS_COUNTER);
}

static unsigned long long value_of(struct ept *t, struct variable *variable)
{
    unsigned long long value = 0;

    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_read(variable->access->session, variable->handle, &value));
    return value;
}

static void close_variable(struct ept *t, struct variable *variable)
{
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_handle_free(variable->access->session, &variable->handle));
}

static struct access open_access(struct ept *t, MPI_Comm comm)
{
    struct access access = {.comm = comm};

    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_session_create(&access.session));
    return access;
}

static void close_access(struct ept *t, struct access *access)
{
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_session_free(&access->session));
}

/* ---- messages and bytes ---------------------------------------------------------------------- */

static const char *const ways[] = {"inside", "node", "net"};

/* By which of them messages to a rank go. */
static int way_to(const struct ept *t, int rank)
{
    const char *node = getenv("OMPI_MCA_btl_epshm_processes");

    return rank / t->nlocal == t->proc ? 0 : NULL == node || '0' != *node ? 1 : 2;
}

/* To the next one round the ring, and from the one before. */
static void round_ring(MPI_Comm comm, struct ept *t, int count, int size)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank + t->size - 1) % t->size;
    static unsigned char out[4096];
    unsigned char in[4096];

    for (int i = 0; i < count; ++i) {
        EPT_OK(t, MPI_Sendrecv(out, size, MPI_BYTE, to, 1, in, size, MPI_BYTE, from, 1, comm,
                               MPI_STATUS_IGNORE));
    }
}

/* All messages are in one way's counters.  The network asks questions of its own now and then. */
static void check_way(struct ept *t, struct variable *messages, struct variable *bytes, bool used,
                      bool exact, int size)
{
    const unsigned long long n = value_of(t, messages), b = value_of(t, bytes);
    const unsigned long long wanted = used ? MANY : 0, wanted_bytes = wanted * (HEADER + size);

    EPT_CHECK(t, exact ? n == wanted : n >= wanted && n <= wanted + 16,
              "%llu messages of %d bytes, not %llu", n, size, wanted);
    EPT_CHECK(t, exact ? b == wanted_bytes : b >= wanted_bytes && b <= wanted_bytes + 256,
              "%llu bytes for messages of %d, not %llu", b, size, wanted_bytes);
}

/* Sizes that go in one cell of shared memory, in several, beside them, in a buffer or with zero copy. */
static void case_messages(MPI_Comm comm, struct ept *t)
{
    static const int sizes[] = {8, 0, 3, 24, 100, 400, 900, 3000};
    struct access access = open_access(t, comm);
    const int way = way_to(t, (t->rank + 1) % t->size);

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        struct variable messages[3], bytes[3];

        ept_phase(t, "size %d", sizes[i]);
        EPT_OK(t, MPI_Barrier(comm));
        for (int w = 0; w < 3; ++w) {
            char name[32];

            snprintf(name, sizeof(name), "ep_%s_messages", ways[w]);
            messages[w] = open_counter(t, &access, name);
            snprintf(name, sizeof(name), "ep_%s_bytes", ways[w]);
            bytes[w] = open_counter(t, &access, name);
        }
        round_ring(comm, t, MANY, sizes[i]);
        for (int w = 0; w < 3; ++w) {
            check_way(t, &messages[w], &bytes[w], w == way, 2 != w, sizes[i]);
            close_variable(t, &messages[w]);
            close_variable(t, &bytes[w]);
        }
    }
    close_access(t, &access);
}

/* What the receiver reads from the sender's memory. */
static void case_fetched(MPI_Comm comm, struct ept *t)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank + t->size - 1) % t->size;
    const int way = way_to(t, from);
    struct access access = open_access(t, comm);
    unsigned char *out = calloc(1, LARGE), *in = malloc(LARGE);
    struct variable fetched[3];

    for (int w = 0; w < 3; ++w) {
        char name[32];

        snprintf(name, sizeof(name), "ep_%s_fetched", ways[w]);
        fetched[w] = open_counter(t, &access, name);
    }
    EPT_OK(t, MPI_Sendrecv(out, LARGE, MPI_BYTE, to, 1, in, LARGE, MPI_BYTE, from, 1, comm,
                           MPI_STATUS_IGNORE));
    for (int w = 0; w < 3; ++w) {
        const unsigned long long value = value_of(t, &fetched[w]);

        /* Between processes of a node there is a second way, which may be the one. */
        EPT_CHECK(t, (w == way ? LARGE : 0) == value || (1 == way && 1 == w && 0 == value),
                  "%llu bytes fetched, %s", value, ways[w]);
        close_variable(t, &fetched[w]);
    }
    close_access(t, &access);
    free(out);
    free(in);
}

/* ---- what waits, and what is dropped --------------------------------------------------------- */

/* A value, and perhaps some of what others have sent already for the barrier at the case's end. */
static void check_least(struct ept *t, struct variable *variable, unsigned long long least,
                        unsigned long long each)
{
    const unsigned long long value = value_of(t, variable);
    const unsigned long long others = (unsigned long long) (t->size - 1);

    EPT_CHECK(t, least <= value && least + 2 * others * each >= value, "%llu, not %llu", value,
              least);
}

static void case_unexpected(MPI_Comm comm, struct ept *t)
{
    enum { COUNT = 10, BYTES = 1000 };
    static unsigned char out[BYTES];
    unsigned char in[BYTES];
    struct access access = open_access(t, comm);
    struct variable waits = open_variable(t, &access, "ep_unexpected", MPI_T_PVAR_CLASS_LEVEL);
    struct variable bytes = open_variable(t, &access, "ep_unexpected_bytes",
                                          MPI_T_PVAR_CLASS_LEVEL);
    struct variable most = open_variable(t, &access, "ep_unexpected_most",
                                         MPI_T_PVAR_CLASS_HIGHWATERMARK);
    unsigned long long value;

    check_least(t, &waits, 0, 1);
    for (int i = 0; i < COUNT; ++i) {
        EPT_OK(t, MPI_Send(out, BYTES, MPI_BYTE, t->rank, 7 + i, comm));
    }
    EPT_OK(t, MPI_Probe(t->rank, 7 + COUNT - 1, comm, MPI_STATUS_IGNORE));
    check_least(t, &waits, COUNT, 1);
    value = value_of(t, &bytes);
    EPT_CHECK(t,
              COUNT * BYTES <= value
                  && COUNT * (BYTES + 100) + 200 * (unsigned long long) t->size >= value,
              "%llu bytes", value);
    for (int i = 0; i < COUNT; ++i) {
        EPT_OK(t, MPI_Recv(in, BYTES, MPI_BYTE, t->rank, 7 + i, comm, MPI_STATUS_IGNORE));
    }
    check_least(t, &waits, 0, 1);
    check_least(t, &bytes, 0, 100);
    EPT_CHECK(t, value <= value_of(t, &most), "less than %llu bytes at most", value);
    close_variable(t, &waits);
    close_variable(t, &bytes);
    close_variable(t, &most);
    close_access(t, &access);
}

/* Messages to one that has freed the communicator. */
static void case_dropped(MPI_Comm comm, struct ept *t)
{
    enum { COUNT = 3 };
    struct access access = open_access(t, comm);
    struct variable dropped = open_counter(t, &access, "ep_dropped");
    MPI_Comm dup;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_EQ(t, 0, (long) value_of(t, &dropped));
    if (1 == t->local) {
        EPT_OK(t, MPI_Comm_free(&dup));
    }
    ept_local_barrier(t);
    for (int i = 0; 0 == t->local && 1 < t->nlocal && i < COUNT; ++i) {
        EPT_OK(t, MPI_Send(&i, 1, MPI_INT, t->rank + 1, 1, dup));
    }
    ept_local_barrier(t);
    if (1 == t->local) {
        while (COUNT > value_of(t, &dropped)) {
            int flag;

            EPT_OK(t, MPI_Iprobe(t->rank, 1, comm, &flag, MPI_STATUS_IGNORE));
        }
        EPT_EQ(t, COUNT, (long) value_of(t, &dropped));
    } else {
        EPT_EQ(t, 0, (long) value_of(t, &dropped));
        EPT_OK(t, MPI_Comm_free(&dup));
    }
    close_variable(t, &dropped);
    close_access(t, &access);
}

/* A local peer does not take what it is sent: more than fits on the way waits. */
static void case_deferred(MPI_Comm comm, struct ept *t)
{
    enum { COUNT = 6000 };
    struct access access = open_access(t, comm);
    struct variable deferred = open_counter(t, &access, "ep_deferred");
    struct variable backlogs = open_variable(t, &access, "ep_backlogs", MPI_T_PVAR_CLASS_LEVEL);
    MPI_Request *requests = malloc(COUNT * sizeof(*requests));
    const bool sends = 0 == t->local && 1 < t->nlocal;
    int in;

    EPT_OK(t, MPI_Barrier(comm));
    ept_local_barrier(t); /* from here on nobody else is in MPI */
    EPT_EQ(t, 0, (long) value_of(t, &deferred));
    EPT_EQ(t, 0, (long) value_of(t, &backlogs));
    for (int i = 0; sends && i < COUNT; ++i) {
        EPT_OK(t, MPI_Isend(&t->rank, 1, MPI_INT, t->rank + 1, 1, comm, &requests[i]));
    }
    EPT_EQ(t, sends ? 1 : 0, (long) value_of(t, &backlogs));
    EPT_CHECK(t,
              sends ? 0 < value_of(t, &deferred) && COUNT > value_of(t, &deferred)
                    : 0 == value_of(t, &deferred),
              "%llu deferred", value_of(t, &deferred));
    ept_local_barrier(t);
    for (int i = 0; 1 == t->local && i < COUNT; ++i) {
        EPT_OK(t, MPI_Recv(&in, 1, MPI_INT, t->rank - 1, 1, comm, MPI_STATUS_IGNORE));
    }
    EPT_OK(t, MPI_Waitall(sends ? COUNT : 0, requests, MPI_STATUSES_IGNORE));
    EPT_EQ(t, 0, (long) value_of(t, &backlogs));
    free(requests);
    close_variable(t, &deferred);
    close_variable(t, &backlogs);
    close_access(t, &access);
}

/* A synchronous send ends while its receiver is not in MPI: its sender has turned the other's
 * endpoint. */
static void case_helps(MPI_Comm comm, struct ept *t)
{
    struct access access = open_access(t, comm);
    struct variable helps = open_counter(t, &access, "ep_helps");
    MPI_Request request = MPI_REQUEST_NULL;
    int in;

    EPT_OK(t, MPI_Barrier(comm));
    if (1 == t->local) {
        EPT_OK(t, MPI_Irecv(&in, 1, MPI_INT, t->rank - 1, 1, comm, &request));
    }
    ept_local_barrier(t);
    if (0 == t->local && 1 < t->nlocal) {
        EPT_OK(t, MPI_Ssend(&t->rank, 1, MPI_INT, t->rank + 1, 1, comm));
    }
    ept_local_barrier(t);
    EPT_CHECK(t, 1 != t->local || 0 < value_of(t, &helps), "nobody has helped");
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    close_variable(t, &helps);
    close_access(t, &access);
}

/* Once for each time that too much waits, however much. */
static void case_full(MPI_Comm comm, struct ept *t)
{
    enum { COUNT = 10, BYTES = 1000, TIMES = 3 };
    const char *limit = getenv("OMPI_MCA_pml_epml_unexpected_limit");
    static unsigned char out[BYTES];
    unsigned char in[BYTES];
    struct access access = open_access(t, comm);
    struct variable times = open_counter(t, &access, "ep_times_full");
    MPI_Request requests[COUNT];

    for (int n = 0; NULL != limit && n < TIMES; ++n) {
        for (int i = 0; i < COUNT; ++i) {
            EPT_OK(t, MPI_Isend(out, BYTES, MPI_BYTE, t->rank, i, comm, &requests[i]));
        }
        EPT_OK(t, MPI_Probe(t->rank, COUNT - 1, comm, MPI_STATUS_IGNORE));
        EPT_EQ(t, n + 1, (long) value_of(t, &times));
        for (int i = 0; i < COUNT; ++i) {
            EPT_OK(t, MPI_Recv(in, BYTES, MPI_BYTE, t->rank, i, comm, MPI_STATUS_IGNORE));
        }
        EPT_OK(t, MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));
    }
    close_variable(t, &times);
    close_access(t, &access);
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* Calls of a communicator whose members are all threads of this process, and of the process. */
static void case_collectives(MPI_Comm comm, struct ept *t)
{
    enum { BARRIERS = 5, SMALL = 3, LARGE_ONES = 2, INTS = 1 << 14, NAMES = 5 };
    static const char *const names[NAMES] = {"barrier_slots", "allreduce_slots", "allreduce_chunks",
                                             "alltoallv_chunks", "bcast_slots"};
    static const int expected[NAMES] = {BARRIERS, SMALL, LARGE_ONES, 1, 0};
    int *in = calloc(INTS, sizeof(*in)), *out = calloc(INTS, sizeof(*out));
    int *ones = malloc((size_t) t->size * sizeof(*ones));
    int *places = malloc((size_t) t->size * sizeof(*places));
    struct variable of_comm[NAMES], of_process[NAMES];
    struct access access;
    MPI_Comm dup;

    for (int i = 0; i < t->size; ++i) {
        ones[i] = 1;
        places[i] = i;
    }
    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    access = open_access(t, dup);
    ept_local_barrier(t);
    for (int i = 0; i < NAMES; ++i) {
        char name[32];

        snprintf(name, sizeof(name), "ep_%s", names[i]);
        of_comm[i] = open_of(t, &access, "coll_epcoll", name, MPI_T_PVAR_CLASS_COUNTER);
        of_process[i] = open_of(t, &access, "coll_epcoll", names[i], MPI_T_PVAR_CLASS_COUNTER);
    }
    ept_local_barrier(t);
    for (int i = 0; i < BARRIERS; ++i) {
        EPT_OK(t, MPI_Barrier(dup));
    }
    for (int i = 0; i < SMALL; ++i) {
        EPT_OK(t, MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, dup));
    }
    for (int i = 0; i < LARGE_ONES; ++i) {
        EPT_OK(t, MPI_Allreduce(in, out, INTS, MPI_INT, MPI_SUM, dup));
    }
    EPT_OK(t, MPI_Alltoallv(in, ones, places, MPI_INT, out, ones, places, MPI_INT, dup));
    ept_local_barrier(t);
    for (int i = 0; i < NAMES; ++i) {
        EPT_EQ(t, expected[i], (long) value_of(t, &of_comm[i]));
        EPT_EQ(t, expected[i] * t->size, (long) value_of(t, &of_process[i]));
        close_variable(t, &of_comm[i]);
    }
    ept_local_barrier(t);
    EPT_OK(t, MPI_Comm_free(&dup));
    ept_local_barrier(t);
    for (int i = 0; i < NAMES; ++i) {
        EPT_EQ(t, expected[i] * t->size, (long) value_of(t, &of_process[i]));
        close_variable(t, &of_process[i]);
    }
    ept_local_barrier(t); /* before the barrier at the case's end */
    close_access(t, &access);
    free(in);
    free(out);
    free(ones);
    free(places);
}

/* Calls of a communicator whose members live in several processes. */
static void case_between(MPI_Comm comm, struct ept *t)
{
    enum { CALLS = 3, NAMES = 3 };
    static const char *const names[NAMES] = {"ep_gatherv_hier", "ep_scan_hier",
                                             "ep_gatherv_chunks"};
    static const int expected[NAMES] = {CALLS, CALLS, 0};
    int *ones = malloc((size_t) t->size * sizeof(*ones));
    int *places = malloc((size_t) t->size * sizeof(*places));
    int *out = calloc((size_t) t->size, sizeof(*out)), in = t->rank;
    long vector[1000] = {0}, sums[1000];
    struct variable of_comm[NAMES];
    struct access access;
    MPI_Comm dup;

    for (int i = 0; i < t->size; ++i) {
        ones[i] = 1;
        places[i] = i;
    }
    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    access = open_access(t, dup);
    for (int i = 0; i < NAMES; ++i) {
        of_comm[i] = open_of(t, &access, "coll_epcoll", names[i], MPI_T_PVAR_CLASS_COUNTER);
    }
    for (int i = 0; i < CALLS; ++i) {
        EPT_OK(t, MPI_Gatherv(&in, 1, MPI_INT, out, ones, places, MPI_INT, i % t->size, dup));
        EPT_OK(t, MPI_Scan(vector, sums, 1000, MPI_LONG, MPI_SUM, dup));
    }
    for (int i = 0; i < NAMES; ++i) {
        EPT_EQ(t, expected[i], (long) value_of(t, &of_comm[i]));
        close_variable(t, &of_comm[i]);
    }
    close_access(t, &access);
    EPT_OK(t, MPI_Comm_free(&dup));
    free(ones);
    free(places);
    free(out);
}

/* ---- the process ----------------------------------------------------------------------------- */

/* Its values are those of all its endpoints, gone ones included; and those of any communicator
 * that is not of endpoints. */
static void case_process(MPI_Comm comm, struct ept *t)
{
    const int to = t->rank - t->local + (t->local + 1) % t->nlocal;
    const int from = t->rank - t->local + (t->local + t->nlocal - 1) % t->nlocal;
    struct access access = open_access(t, MPI_COMM_WORLD);
    struct variable process, world, endpoints;
    int in;

    EPT_OK(t, MPI_Barrier(comm));
    ept_local_barrier(t);
    process = open_counter(t, &access, "inside_messages");
    world = open_counter(t, &access, "ep_inside_messages");
    endpoints = open_variable(t, &access, "endpoints", MPI_T_PVAR_CLASS_LEVEL);
    ept_local_barrier(t);
    for (int i = 0; i < MANY; ++i) {
        EPT_OK(t, MPI_Sendrecv(&i, 1, MPI_INT, to, 1, &in, 1, MPI_INT, from, 1, comm,
                               MPI_STATUS_IGNORE));
    }
    ept_local_barrier(t);
    EPT_EQ(t, MANY * t->nlocal, (long) value_of(t, &process));
    EPT_EQ(t, MANY * t->nlocal, (long) value_of(t, &world));
    EPT_EQ(t, t->nlocal, (long) value_of(t, &endpoints));
    ept_local_barrier(t);
    if (0 == t->local) {
        unsigned long long before = value_of(t, &process), after;
        MPI_Comm own;

        EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, 1, MPI_INFO_NULL, &own));
        EPT_EQ(t, t->nlocal + 1, (long) value_of(t, &endpoints));
        for (int i = 0; i < MANY; ++i) {
            EPT_OK(t, MPI_Sendrecv(&i, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, own,
                                   MPI_STATUS_IGNORE));
        }
        after = value_of(t, &process);
        EPT_CHECK(t, before + MANY <= after, "from %llu to %llu", before, after);
        EPT_OK(t, MPI_Comm_free(&own));
        EPT_EQ(t, (long) after, (long) value_of(t, &process));
        EPT_EQ(t, t->nlocal, (long) value_of(t, &endpoints));
    }
    ept_local_barrier(t);
    close_variable(t, &process);
    close_variable(t, &world);
    close_variable(t, &endpoints);
    close_access(t, &access);
}

/* Tools group variables by component, and show what is said of each. */
static void case_categories(MPI_Comm comm, struct ept *t)
{
    static const char *const names[] = {"ompi_pml_epml", "ompi_coll_epcoll", "opal_btl_epshm"};

    (void) comm;
    for (int i = 0; i < (int) (sizeof(names) / sizeof(names[0])); ++i) {
        char name[64], text[128] = "";
        int index = -1, name_size = sizeof(name), text_size = sizeof(text), unused[3];

        EPT_EQ(t, MPI_SUCCESS, MPI_T_category_get_index(names[i], &index));
        EPT_EQ(t, MPI_SUCCESS,
               MPI_T_category_get_info(index, name, &name_size, text, &text_size, &unused[0],
                                       &unused[1], &unused[2]));
        EPT_EQ(t, 1, NULL != strstr(text, "ndpoints"));
    }
}

/* Looked at by one, whose endpoints come and go, while the others send. */
static void case_under_way(MPI_Comm comm, struct ept *t)
{
    struct access access = open_access(t, comm);
    struct variable all = open_counter(t, &access, "inside_messages");
    struct variable helps = open_counter(t, &access, "helps");
    unsigned long long last = 0;

    for (int round = 0; round < 20; ++round) {
        if (0 == t->local) {
            unsigned long long value;
            MPI_Comm own;
            int in;

            EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, 1, MPI_INFO_NULL, &own));
            EPT_OK(t, MPI_Sendrecv(&round, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, own,
                                   MPI_STATUS_IGNORE));
            EPT_OK(t, MPI_Comm_free(&own));
            value = value_of(t, &all);
            EPT_CHECK(t, last < value, "%llu after %llu", value, last);
            last = value;
            (void) value_of(t, &helps);
        }
        round_ring(comm, t, 1, 8);
    }
    close_variable(t, &all);
    close_variable(t, &helps);
    close_access(t, &access);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_messages);
    EPT_CASE(t, case_fetched);
    EPT_CASE(t, case_unexpected);
    EPT_CASE(t, case_dropped);
    EPT_CASE(t, case_deferred);
    EPT_CASE(t, case_helps);
    EPT_CASE(t, case_full);
    if (1 < t->size && t->size == t->nlocal) {
        EPT_CASE(t, case_collectives);
    }
    if (t->size > t->nlocal && 1 < t->nlocal) {
        EPT_CASE(t, case_between);
    }
    EPT_CASE(t, case_process);
    EPT_CASE(t, case_categories);
    EPT_CASE(t, case_under_way);
    return 0;
}
