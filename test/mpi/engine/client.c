/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The engine's interface: what components of ours may ask of pml/epml, by a client that uses nothing else
 * (test/client/epclient.c), and by calls of its functions one by one.
 *
 *   --whole 1  all processes are on one node, and must be able to share memory there
 *   --nomem 1  each allocation of ours fails in turn (test/lib/fail_alloc.c) while a communicator
 *              is made that the client hangs something on
 *
 * EPT-PARTS: client_windows.c
 * EPT-WITH: TOP/test/client/epclient.c TOP/test/client/epanswer.c
 * EPT-LIBS: -ldl
 *
 * Guards: epml/service, btl_epshm_node_memory.c, common_ep_engine.h, pml_epml_clients.c, pml_epml_job.c,
 * pml_epml_client_request.c, pml_epml_memory.c, pml_epml_locality.c, pml_epml_am.c, pml_epml_work.c
 */

#define _GNU_SOURCE

#include "client_windows.h"

#include "test/client/epclient.h"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#define ROUNDS 200

/** The member whose make fails next, in one of the process's handles; -1: nobody's. */
static atomic_int fails_at = -1;

static int fails(MPI_Comm comm)
{
    int rank;

    (void) MPI_Comm_rank(comm, &rank);
    return rank == atomic_load(&fails_at);
}

void test_process_begin(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_SUCCESS != epclient_open(fails) || MPI_SUCCESS != client_windows_begin()
        || NULL != mpix_endpoints_engine(0)) {
        fprintf(stderr, "the engine gives no interface, or gives it to any ABI\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* ---- places ---------------------------------------------------------------------------------- */

typedef struct said_t {
    int proc, node;
    char host[MPI_MAX_PROCESSOR_NAME];
} said_t;

/** Members that share something with this one. */
typedef struct sharing_t {
    int count, before, first, processes;
} sharing_t;

static void share(sharing_t *with, const said_t *said, int rank, int own)
{
    bool is_new = true;

    with->first = 0 == with->count++ ? rank : with->first;
    with->before += rank < own;
    for (int other = 0; other < rank; ++other) {
        is_new = is_new && said[other].proc != said[rank].proc;
    }
    with->processes += is_new;
}

static void check_members(MPI_Comm comm, struct ept *t, mpix_endpoints_scope_t reach,
                          const sharing_t *with)
{
    mpix_endpoints_members_t members;

    EPT_OK(t, epclient_engine->members(comm, reach, &members));
    EPT_EQ(t, with->count, members.count);
    EPT_EQ(t, with->before, members.index);
    EPT_EQ(t, with->first, members.first);
    EPT_EQ(t, with->processes, members.processes);
}

/** Against what the members say of themselves. */
static void members(MPI_Comm comm, struct ept *t)
{
    said_t *said = calloc((size_t) t->size, sizeof(*said)), own = {.proc = t->proc};
    sharing_t process = {0}, node = {0};
    mpix_endpoints_locality_t place;
    int length;

    EPT_OK(t, MPI_Get_processor_name(own.host, &length));
    EPT_CHECK(t, epclient_engine->locality(comm, t->rank, &place), "no place of its own");
    EPT_CHECK(t, MPIX_ENDPOINTS_NODE_UNKNOWN != place.node, "the launcher does not name its hosts");
    own.node = (int) place.node;
    EPT_OK(t, MPI_Allgather(&own, sizeof(own), MPI_BYTE, said, sizeof(own), MPI_BYTE, comm));
    for (int rank = 0; rank < t->size; ++rank) {
        const bool near = 0 == strcmp(own.host, said[rank].host);

        EPT_CHECK(t, epclient_engine->locality(comm, rank, &place), "no place of rank %d", rank);
        EPT_EQ(t, said[rank].proc == t->proc, place.in_process);
        EPT_EQ(t, near, place.on_node);
        EPT_EQ(t, near, own.node == said[rank].node);
        EPT_EQ(t, said[rank].proc, (int) place.process);
        EPT_EQ(t, said[rank].node, (int) place.node);
        EPT_EQ(t, false, epclient_engine->is_lost(comm, rank));
        if (said[rank].proc == t->proc) {
            share(&process, said, rank, t->rank);
        }
        if (near) {
            share(&node, said, rank, t->rank);
        }
    }
    EPT_EQ(t, false, epclient_engine->is_lost(comm, MPIX_ENDPOINTS_ANY_RANK));
    EPT_EQ(t, false, epclient_engine->locality(comm, t->size, &place));
    EPT_EQ(t, false, epclient_engine->locality(comm, -1, &place));
    EPT_EQ(t, false, epclient_engine->locality(MPI_COMM_WORLD, 0, &place));
    check_members(comm, t, MPIX_ENDPOINTS_SCOPE_PROCESS, &process);
    check_members(comm, t, MPIX_ENDPOINTS_SCOPE_NODE, &node);
    free(said);
}

/* ---- barriers -------------------------------------------------------------------------------- */

/** Nobody leaves before all have come: by the clock, which all processes share. */
static void check_meeting(MPI_Comm comm, struct ept *t, double came, double left)
{
    double last_came, first_left;

    EPT_OK(t, MPI_Allreduce(&came, &last_came, 1, MPI_DOUBLE, MPI_MAX, comm));
    EPT_OK(t, MPI_Allreduce(&left, &first_left, 1, MPI_DOUBLE, MPI_MIN, comm));
    EPT_CHECK(t, last_came <= first_left, "somebody left %g s before the last one came",
              last_came - first_left);
}

static void barriers(MPI_Comm comm, struct ept *t)
{
    for (int i = 0; i < 4; ++i) {
        double came;

        if (t->rank == i % t->size) {
            usleep(20000); /* late */
        }
        came = ept_time();
        EPT_OK(t, epclient_barrier(comm));
        check_meeting(comm, t, came, ept_time());
    }
    for (int i = 0; i < ROUNDS; ++i) {
        EPT_OK(t, epclient_barrier(comm));
    }
}

static void nonblocking(MPI_Comm comm, struct ept *t)
{
    MPI_Request requests[3];
    double came = 0;
    int done = 0;

    for (int i = 0; i < 2; ++i) {
        if (t->rank == t->size - 1) {
            usleep(20000);
        }
        came = ept_time();
        EPT_OK(t, epclient_ibarrier(comm, &requests[0]));
        while (0 == i && !done) {
            EPT_OK(t, MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE));
        }
        EPT_OK(t, MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        check_meeting(comm, t, came, ept_time());
    }
    /* Among others, in any order, two at a time. */
    for (int i = 0; i < ROUNDS; ++i) {
        const int next = (t->rank + 1) % t->size, before = (t->rank + t->size - 1) % t->size;
        int got = -1;

        EPT_OK(t, epclient_ibarrier(comm, &requests[0]));
        EPT_OK(t, MPI_Irecv(&got, 1, MPI_INT, before, MPI_ANY_TAG, comm, &requests[1]));
        EPT_OK(t, epclient_ibarrier(comm, &requests[2]));
        EPT_OK(t, MPI_Send(&t->rank, 1, MPI_INT, next, 5, comm));
        EPT_OK(t, MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
        EPT_EQ(t, before, got);
    }
}

static void persistent(MPI_Comm comm, struct ept *t)
{
    MPI_Request request;

    EPT_OK(t, epclient_barrier_init(comm, &request));
    for (int i = 0; i < ROUNDS; ++i) {
        EPT_OK(t, MPI_Start(&request));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    EPT_OK(t, MPI_Request_free(&request));
}

/** Rank 0 comes last: within one process it is over for it when it has started, again and again. */
static void over_at_once(MPI_Comm comm, struct ept *t)
{
    const int before = epclient_overs(comm);
    MPI_Request request;
    MPI_Status status;

    EPT_OK(t, epclient_barrier_init(comm, &request));
    for (int i = 0; i < 10; ++i) {
        if (0 == t->rank) {
            for (int rank = 1; rank < t->size; ++rank) {
                EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, rank, 8, comm, MPI_STATUS_IGNORE));
            }
        }
        EPT_OK(t, MPI_Start(&request));
        if (0 == t->rank) {
            if (1 == t->nprocs) {
                EPT_EQ(t, before + i + 1, epclient_overs(comm));
            }
        } else {
            EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, 0, 8, comm));
        }
        EPT_OK(t, MPI_Wait(&request, &status));
        EPT_EQ(t, MPI_ANY_SOURCE, status.MPI_SOURCE); /* an empty status */
    }
    EPT_OK(t, MPI_Request_free(&request));
}

/** What libmpi's calls of nonblocking collectives do with a request that a component has returned:
 * it is to keep the datatypes. */
typedef int keep_t(MPI_Request request, MPI_Datatype send, MPI_Datatype receive);
typedef int keep_all_t(MPI_Request request, MPI_Datatype *send, MPI_Datatype *receive, bool topo);

static int count_end(MPI_Datatype type, int key, void *ends, void *extra)
{
    (void) type;
    (void) key;
    (void) extra;
    atomic_fetch_add((atomic_int *) ends, 1);
    return MPI_SUCCESS;
}

/** A derived type that counts when it ends. */
static MPI_Datatype type_with_end(struct ept *t, int key, atomic_int *ends)
{
    MPI_Datatype type;

    EPT_OK(t, MPI_Type_contiguous(2, MPI_INT, &type));
    EPT_OK(t, MPI_Type_commit(&type));
    EPT_OK(t, MPI_Type_set_attr(type, key, ends));
    return type;
}

/** Nobody has ended the request yet: the last member comes when all others have said so. */
static void say_kept(MPI_Comm comm, struct ept *t)
{
    EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, t->size - 1, 9, comm));
}

static void await_kept(MPI_Comm comm, struct ept *t)
{
    for (int rank = 0; rank < t->size - 1; ++rank) {
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, rank, 9, comm, MPI_STATUS_IGNORE));
    }
}

/** What libmpi attaches to a request stays until the request goes, whichever thread ends it
 * when. */
static void kept(MPI_Comm comm, struct ept *t)
{
    const bool is_last = t->rank == t->size - 1;
    MPI_Request request;
    keep_t *keep;
    int key;

    *(void **) &keep = dlsym(RTLD_DEFAULT, "ompi_coll_base_retain_datatypes");
    EPT_CHECK(t, NULL != keep, "libmpi keeps nothing");
    EPT_OK(t, MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_end, &key, NULL));
    for (int i = 0; NULL != keep && i < ROUNDS; ++i) {
        atomic_int ends = 0;
        MPI_Datatype type = type_with_end(t, key, &ends);

        if (0 == i && is_last) {
            await_kept(comm, t);
        }
        EPT_OK(t, epclient_ibarrier(comm, &request));
        if (0 == i % 2) {
            sched_yield(); /* others may end it before libmpi knows of it */
        }
        EPT_OK(t, keep(request, type, MPI_INT));
        EPT_OK(t, MPI_Type_free(&type));
        if (0 == i && !is_last) {
            EPT_EQ(t, 0, atomic_load(&ends));
            say_kept(comm, t);
        }
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_EQ(t, 1, atomic_load(&ends));
    }
    EPT_OK(t, MPI_Type_free_keyval(&key));
}

/** Likewise, of an array that goes as soon as the user has heard of the end. */
static void kept_arrays(MPI_Comm comm, struct ept *t)
{
    const size_t size = (size_t) t->size * sizeof(MPI_Datatype);
    const bool is_last = t->rank == t->size - 1;
    MPI_Datatype *types = malloc(size);
    atomic_int ends = 0;
    MPI_Request request;
    keep_all_t *keep;
    int key, done = 0;

    *(void **) &keep = dlsym(RTLD_DEFAULT, "ompi_coll_base_retain_datatypes_w");
    EPT_CHECK(t, NULL != keep, "libmpi keeps nothing");
    EPT_OK(t, MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_end, &key, NULL));
    for (int rank = 0; rank < t->size; ++rank) {
        types[rank] = type_with_end(t, key, &ends);
    }
    if (is_last) {
        await_kept(comm, t);
    }
    EPT_OK(t, epclient_ibarrier_types(comm, types, &request));
    if (NULL != keep) {
        EPT_OK(t, keep(request, types, NULL, false));
    }
    for (int rank = 0; rank < t->size; ++rank) {
        MPI_Datatype type = types[rank];

        EPT_OK(t, MPI_Type_free(&type));
    }
    if (!is_last) {
        EPT_EQ(t, 0, atomic_load(&ends));
        say_kept(comm, t);
    }
    while (!done) {
        EPT_OK(t, MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE));
    }
    memset(types, 0xff, size);
    free(types);
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_EQ(t, t->size, atomic_load(&ends));
    EPT_OK(t, MPI_Type_free_keyval(&key));
}

/** A request, and its work, outlive the handle. */
static void freed(MPI_Comm comm, struct ept *t)
{
    MPI_Request request;
    MPI_Comm dup;

    for (int i = 0; i < 20; ++i) {
        EPT_OK(t, MPI_Comm_dup(comm, &dup));
        EPT_OK(t, epclient_ibarrier(dup, &request));
        if (0 == i % 2) {
            EPT_OK(t, MPI_Comm_free(&dup));
        }
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (0 != i % 2) {
            EPT_OK(t, MPI_Comm_free(&dup));
        }
    }
}

/* ---- what hangs on handles ------------------------------------------------------------------- */

/** Between the even ranks and the odd ones, and one of all of them. */
static void bridge(MPI_Comm comm, struct ept *t)
{
    mpix_endpoints_memory_t *memory;
    MPI_Comm half, inter, all;

    EPT_OK(t, MPI_Comm_split(comm, t->rank % 2, 0, &half));
    EPT_OK(t, MPI_Intercomm_create(half, 0, comm, 1 - t->rank % 2, 3, &inter));
    EPT_CHECK(t, NULL == epclient_engine->client_object(inter, epclient_number()),
              "something hangs on it");
    EPT_CLASS(t, MPI_ERR_UNSUPPORTED_OPERATION,
              epclient_engine->memory_get(inter, MPIX_ENDPOINTS_SCOPE_PROCESS, epclient_number(), 1,
                                          64, &memory));
    EPT_OK(t, MPI_Intercomm_merge(inter, t->rank % 2, &all));
    EPT_OK(t, epclient_barrier(half));
    EPT_OK(t, epclient_barrier(all));
    EPT_OK(t, MPI_Comm_free(&half));
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&all));
}

/** All kinds of communicators, each with an object, which goes with it. */
static void derived(MPI_Comm comm, struct ept *t)
{
    MPI_Request request;
    MPI_Comm made;

    EPT_OK(t, MPI_Barrier(comm));
    for (int i = 0; i < 10; ++i) {
        EPT_OK(t, MPI_Comm_split(comm, (t->rank + i) % 2, -t->rank, &made));
        EPT_CHECK(t, NULL != epclient_engine->client_object(made, epclient_number()),
                  "nothing hangs on it");
        EPT_OK(t, epclient_barrier(made));
        EPT_OK(t, MPI_Comm_free(&made));
    }
    EPT_OK(t, MPI_Comm_idup(comm, &made, &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_OK(t, epclient_barrier(made));
    EPT_OK(t, MPI_Comm_free(&made));
    if (1 < t->size) {
        bridge(comm, t);
    }
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->local) {
        EPT_EQ(t, t->nlocal, epclient_handles());
    }
    EPT_OK(t, MPI_Barrier(comm));
}

/** What fails at one member fails at all, and nothing stays. */
static void failing(MPI_Comm comm, struct ept *t)
{
    for (int victim = 0; victim < t->size; ++victim) {
        MPI_Comm made = MPI_COMM_NULL;
        int class = MPI_SUCCESS, least, most, rc;

        EPT_OK(t, MPI_Barrier(comm));
        if (0 == t->local) {
            atomic_store(&fails_at, victim);
        }
        EPT_OK(t, MPI_Barrier(comm));
        rc = MPI_Comm_dup(comm, &made);
        EPT_OK(t, MPI_Error_class(rc, &class));
        EPT_OK(t, MPI_Barrier(comm));
        if (0 == t->local) {
            atomic_store(&fails_at, -1);
            EPT_EQ(t, t->nlocal, epclient_handles());
        }
        EPT_OK(t, MPI_Allreduce(&class, &least, 1, MPI_INT, MPI_MIN, comm));
        EPT_OK(t, MPI_Allreduce(&class, &most, 1, MPI_INT, MPI_MAX, comm));
        EPT_CHECK(t, MPI_SUCCESS != least, "somebody has the communicator");
        EPT_EQ(t, t->rank == victim ? MPI_ERR_NO_MEM : class, class);
        (void) most;
    }
    barriers(comm, t); /* the parent works on */
}

/** Likewise of new endpoints. */
static void failing_endpoints(MPI_Comm comm, struct ept *t)
{
    if (0 == t->local) {
        MPI_Comm handles[2];
        int rc;

        atomic_store(&fails_at, 2 * t->nprocs - 1); /* the last one's */
        rc = ept_create_endpoints(MPI_COMM_WORLD, 2, MPI_INFO_NULL, handles);
        atomic_store(&fails_at, -1);
        EPT_CHECK(t, MPI_SUCCESS != rc, "there are endpoints");
        EPT_EQ(t, t->nlocal, epclient_handles());
        rc = ept_create_endpoints(MPI_COMM_WORLD, 2, MPI_INFO_NULL, handles);
        EPT_CHECK(t, MPI_SUCCESS == rc, "there are none");
        for (int i = 0; MPI_SUCCESS == rc && i < 2; ++i) {
            EPT_OK(t, MPI_Comm_free(&handles[i]));
        }
    }
    EPT_OK(t, MPI_Barrier(comm));
}

/* ---- memory ---------------------------------------------------------------------------------- */

#define KEY 77

/** Those of a process have the same, cleared, and not another communicator's. */
static void process_memory(MPI_Comm comm, struct ept *t)
{
    static const size_t sizes[] = {1, 64, 5000, 1 << 20};
    mpix_endpoints_memory_t *memory, *other;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        const size_t size = sizes[i], align = 4096 <= size ? 4096 : 64;
        _Atomic unsigned char *bytes;

        EPT_OK(t, epclient_engine->memory_get(comm, MPIX_ENDPOINTS_SCOPE_PROCESS, epclient_number(),
                                              KEY, size, &memory));
        bytes = memory->base;
        EPT_EQ(t, 0, (uintptr_t) bytes % align);
        EPT_EQ(t, size, memory->size);
        EPT_EQ(t, true, epclient_engine->memory_is_complete(memory));
        EPT_CLASS(t, MPI_ERR_ARG,
                  epclient_engine->memory_get(comm, MPIX_ENDPOINTS_SCOPE_PROCESS, epclient_number(),
                                              KEY, size + 1, &other));
        EPT_OK(t, epclient_barrier(comm));
        EPT_EQ(t, 0, bytes[size - 1]);
        EPT_OK(t, epclient_barrier(comm));
        (void) atomic_fetch_add(&bytes[size - 1], 1);
        EPT_OK(t, epclient_barrier(comm));
        EPT_EQ(t, t->nlocal, bytes[size - 1]);
        EPT_OK(t, epclient_barrier(comm));
        epclient_engine->memory_put(memory);
        EPT_OK(t, epclient_barrier(comm)); /* else a slow member finds none, and makes another
                                              one */
    }
    EPT_CLASS(t, MPI_ERR_ARG,
              epclient_engine->memory_get(comm, MPIX_ENDPOINTS_SCOPE_PROCESS, epclient_number(),
                                          KEY, 0, &memory));
}

/** Those of a node likewise, where they share memory at all. */
static void node_memory(MPI_Comm comm, struct ept *t)
{
    const size_t size = 3 * sizeof(uint64_t);
    mpix_endpoints_memory_t *memory = NULL;
    mpix_endpoints_members_t node;
    _Atomic uint64_t *words;
    int rc, whole = 0, all;

    rc = epclient_engine->memory_get(comm, MPIX_ENDPOINTS_SCOPE_NODE, epclient_number(), KEY, size,
                                     &memory);
    EPT_OK(t, MPI_Barrier(comm)); /* as the agreement of members that make a communicator does */
    if (MPI_SUCCESS == rc) {
        whole = epclient_engine->memory_is_complete(memory);
    } else {
        EPT_CLASS(t, MPI_ERR_UNSUPPORTED_OPERATION, rc);
    }
    EPT_OK(t, MPI_Allreduce(&whole, &all, 1, MPI_INT, MPI_SUM, comm));
    EPT_OK(t, epclient_engine->members(comm, MPIX_ENDPOINTS_SCOPE_NODE, &node));
    EPT_CHECK(t, 0 == all || t->size == all || node.count < t->size, "%d of %d have it", all,
              t->size);
    if (0 < ept_option_long("whole", 0)) {
        EPT_EQ(t, 1, whole);
    }
    if (whole) {
        words = memory->base;
        (void) atomic_fetch_add(&words[0], 1);
        EPT_OK(t, epclient_engine->wait_flag(comm, MPIX_ENDPOINTS_ANY_RANK, &words[0],
                                             (uint64_t) node.count));
        EPT_EQ(t, node.count, words[0]);
        EPT_EQ(t, 0, words[2]);
        EPT_OK(t, MPI_Barrier(comm));
    }
    if (NULL != memory) {
        epclient_engine->memory_put(memory);
    }
    EPT_OK(t, MPI_Barrier(comm));
}

/* ---- messages -------------------------------------------------------------------------------- */

#define POSTS 300

/** Each to each, in order; no receive of the user's sees them. */
static void posts(MPI_Comm comm, struct ept *t)
{
    const uint64_t all = (uint64_t) t->size * POSTS * (POSTS + 1) / 2;
    int found;

    EPT_OK(t, MPI_Barrier(comm));
    for (uint64_t i = 1; i <= POSTS; ++i) {
        for (int rank = 0; rank < t->size; ++rank) {
            EPT_OK(t, epclient_send(comm, rank, i));
        }
    }
    while (all > epclient_sum(comm)) {
        EPT_OK(t, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE));
        EPT_EQ(t, 0, found);
    }
    EPT_EQ(t, all, epclient_sum(comm));
    EPT_EQ(t, 0, epclient_out_of_order(comm));
}

/** Messages of the client's own, and a user's receive that takes anything. */
static void own_messages(MPI_Comm comm, struct ept *t)
{
    const int next = (t->rank + 1) % t->size, before = (t->rank + t->size - 1) % t->size;
    static const int tags[] = {0, 1, MPIX_ENDPOINTS_TAG_MAX};
    enum { TAGS = sizeof(tags) / sizeof(tags[0]) };
    const size_t size = 200000;
    struct ept_buffer in[TAGS], out[TAGS];
    MPI_Request requests[2 * TAGS], any;
    int user = -1, sent = 1000 + t->rank;

    EPT_OK(t, MPI_Irecv(&user, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &any));
    for (int i = 0; i < TAGS; ++i) {
        in[i] = ept_buffer(size, 3);
        out[i] = ept_buffer(size, 5);
        ept_fill(out[i].data, 0, size, (uint64_t) (t->rank * 10 + i));
        EPT_OK(t, epclient_engine->isend(comm, epclient_number(), out[i].data, size, MPI_BYTE, next,
                                         tags[i], &requests[i]));
    }
    for (int i = TAGS - 1; 0 <= i; --i) { /* the last first: tags are distinguished */
        EPT_OK(t, epclient_engine->irecv(comm, epclient_number(), in[i].data, size, MPI_BYTE,
                                         before, tags[i], &requests[TAGS + i]));
    }
    EPT_OK(t, MPI_Waitall(2 * TAGS, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < TAGS; ++i) {
        EPT_FILL(t, in[i].data, size, (uint64_t) (before * 10 + i));
        EPT_GUARDS(t, &in[i]);
        ept_buffer_free(&in[i]);
        ept_buffer_free(&out[i]);
    }
    EPT_EQ(t, -1, user);
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Send(&sent, 1, MPI_INT, next, 0, comm));
    EPT_OK(t, MPI_Wait(&any, MPI_STATUS_IGNORE));
    EPT_EQ(t, 1000 + before, user);
}

/* ---- no memory ------------------------------------------------------------------------------- */

#define ALLOCATIONS 200

/** Each allocation at each end of the ranks: all have the communicator, and the client's object on
 * it, or nobody. */
static void no_memory(MPI_Comm comm, struct ept *t)
{
    void (*fail_alloc)(long n);
    int (*fail_alloc_done)(void);
    int quiet = 0; /* rounds in a row in which nothing failed: one of each victim's is the end */

    *(void **) &fail_alloc = dlsym(RTLD_DEFAULT, "ept_fail_alloc");
    *(void **) &fail_alloc_done = dlsym(RTLD_DEFAULT, "ept_fail_alloc_done");
    ept_meet(comm, t);
    for (long n = 1; n < ALLOCATIONS && 2 > quiet; ++n) {
        MPI_Comm made = MPI_COMM_NULL;
        int mine[2] = {0, 0}, all[2] = {0, 0};

        ept_phase(t, "allocation %ld", n);
        EPT_OK(t, MPI_Barrier(comm));
        if (t->rank == (int) n % 2 * (t->size - 1)) {
            fail_alloc((n + 1) / 2);
        }
        mine[0] = MPI_SUCCESS == MPI_Comm_dup(comm, &made);
        if (t->rank == (int) n % 2 * (t->size - 1)) {
            mine[1] = fail_alloc_done();
        }
        EPT_OK(t, MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, comm));
        EPT_CHECK(t, 0 == all[0] || t->size == all[0], "%d of %d have the communicator", all[0],
                  t->size);
        if (MPI_COMM_NULL != made) {
            EPT_OK(t, epclient_barrier(made));
            EPT_OK(t, MPI_Comm_free(&made));
        }
        quiet = 0 < all[1] ? 0 : quiet + 1;
        EPT_OK(t, MPI_Barrier(comm));
    }
    EPT_EQ(t, 2, quiet);
    if (0 == t->local) {
        EPT_EQ(t, t->nlocal, epclient_handles());
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 != ept_option_long("nomem", 0)) {
        EPT_CASE(t, no_memory);
        return 0;
    }
    EPT_CASE(t, members);
    EPT_CASE(t, barriers);
    EPT_CASE(t, nonblocking);
    EPT_CASE(t, persistent);
    EPT_CASE(t, over_at_once);
    EPT_CASE(t, kept);
    EPT_CASE(t, kept_arrays);
    EPT_CASE(t, freed);
    EPT_CASE(t, derived);
    EPT_CASE(t, failing);
    EPT_CASE(t, failing_endpoints);
    EPT_CASE(t, process_memory);
    EPT_CASE(t, node_memory);
    EPT_CASE(t, posts);
    EPT_CASE(t, own_messages);
    client_windows(comm, t);
    return 0;
}
