/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of ompi/mca/pml/epml/engine/pml_epml_am.c: what arrives for a handle that is being destroyed is
 * dropped, and a handle is not destroyed under the lock, or twice, by a message that arrives for it,
 * with work begun in the client's callback or without.
 *
 * Guards: pml_epml_am.c, pml_epml_work.c
 */

#include <pthread.h>

#include "tap.h"

#include "ompi/mca/pml/epml/engine/pml_epml_am.c"
#include "ompi/mca/pml/epml/engine/pml_epml_work.c"

#define ROUNDS 20000
#define NUMBER 3

static mca_pml_epml_ep_t ep;

/** The endpoint's lock, as far as it matters here. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/** A handle, destroyed as one of libmpi's is: it leaves the table under the lock. */
typedef struct handle_t {
    ompi_communicator_t comm;
    mca_pml_epml_comm_t own;
    mpix_endpoints_work_t work;
    int ends;
    void *objects[EPML_ENROLLED_MOST];
} handle_t;

static mca_pml_epml_comm_t *table;
static int destroyed, steps, arrived, twice;
static _Thread_local bool is_locked;
static bool under_lock;

static void handle_construct(handle_t *handle)
{
    memset(&handle->own, 0, sizeof(handle->own));
    handle->own.ep = &ep;
    handle->own.comm = &handle->comm;
    handle->own.objects = handle->objects;
    handle->objects[NUMBER] = handle;
    handle->ends = 0;
}

static void handle_destruct(handle_t *handle)
{
    if (is_locked) {
        under_lock = true;
        table = NULL;
        return;
    }
    pthread_mutex_lock(&lock);
    twice += 0 != handle->ends++;
    table = NULL;
    ++destroyed;
    pthread_mutex_unlock(&lock);
}

OBJ_CLASS_INSTANCE(handle_t, opal_object_t, handle_construct, handle_destruct);

/* ---- what is below --------------------------------------------------------------------------- */

static bool (*handler)(void *object, int rank, const void *data, size_t size);

const mpix_endpoints_client_t *mca_pml_epml_clients(int number)
{
    static mpix_endpoints_client_t client;

    client.am_handler = handler;
    return NUMBER == number ? &client : NULL;
}

mca_pml_epml_comm_t *mca_pml_epml_comm_find(mca_pml_epml_ep_t *where, uint64_t context)
{
    (void) where;
    (void) context;
    return table;
}

int mca_pml_epml_send_control_data(mca_pml_epml_ep_t *from, mca_pml_epml_peer_t *peer,
                                   const void *header, size_t header_size, const void *data,
                                   size_t size)
{
    (void) from;
    (void) peer;
    (void) header;
    (void) header_size;
    (void) data;
    (void) size;
    return OMPI_SUCCESS;
}

/* ---- references ------------------------------------------------------------------------------ */

static int references(const handle_t *handle)
{
    return ((const opal_object_t *) handle)->obj_reference_count;
}

static handle_t *handle_new(void)
{
    handle_t *handle = OBJ_NEW(handle_t);

    pthread_mutex_lock(&lock);
    table = &handle->own;
    pthread_mutex_unlock(&lock);
    return handle;
}

/** An active message arrives.  @return what its kind says of it */
static bool arrive(void)
{
    const mca_pml_epml_hdr_match_t hdr = {.common = {.kind = EPML_HDR_AM}, .source = 7, .tag = NUMBER};
    const mca_pml_epml_message_t message = {.hdr = &hdr,
                                            .rest = (const unsigned char *) "eight...",
                                            .rest_size = 8};
    bool rc;

    pthread_mutex_lock(&lock);
    rc = mca_pml_epml_am_kind.arrived(&ep, &message);
    pthread_mutex_unlock(&lock);
    return rc;
}

static mpix_endpoints_step_t count_step(mpix_endpoints_work_t *work)
{
    (void) work;
    ++steps;
    return MPIX_ENDPOINTS_STEP_DONE;
}

static bool count_only(void *object, int rank, const void *data, size_t size)
{
    (void) object;
    ++arrived;
    return 7 == rank && 8 == size && 0 == memcmp("eight...", data, 8);
}

static bool begin_work(void *object, int rank, const void *data, size_t size)
{
    handle_t *handle = object;

    handle->work.step = count_step;
    mca_pml_epml_work_begin(&ep, &handle->comm, &handle->work);
    return count_only(object, rank, data, size);
}

/** The user frees the handle while the callback runs. */
static bool freed_meanwhile(void *object, int rank, const void *data, size_t size)
{
    is_locked = true;
    OBJ_RELEASE(object);
    is_locked = false;
    return count_only(NULL, rank, data, size);
}

static bool work_and_freed(void *object, int rank, const void *data, size_t size)
{
    return begin_work(object, rank, data, size) && freed_meanwhile(object, rank, data, size);
}

static void begin(void)
{
    memset((void *) &ep, 0, sizeof(ep));
    OBJ_CONSTRUCT(&ep.work.lock, opal_mutex_t);
    destroyed = steps = arrived = twice = 0;
    under_lock = false;
}

static void check_end(int ends, int works)
{
    TAP_EQ(ends, destroyed);
    TAP_EQ(works, steps);
    TAP_EQ(0, twice);
    TAP_CHECK(!under_lock, "destroyed under the lock");
    TAP_CHECK(!mca_pml_epml_work_has(&ep), "there is work left");
    OBJ_DESTRUCT(&ep.work.lock);
}

static void case_references(void)
{
    handle_t *handle;

    tap_case("references to a handle while a message arrives");
    begin();
    handle = handle_new();
    handler = count_only;
    TAP_CHECK(arrive(), "it is refused");
    TAP_EQ(1, references(handle));
    TAP_CHECK(!mca_pml_epml_work_has(&ep), "there is work");
    handler = begin_work;
    TAP_CHECK(arrive(), "it is refused");
    TAP_EQ(2, references(handle));
    TAP_EQ(1, mca_pml_epml_work_turn(&ep, 1));
    TAP_EQ(1, references(handle));
    handler = freed_meanwhile;
    TAP_CHECK(arrive(), "it is refused");
    TAP_EQ(0, destroyed);
    TAP_EQ(1, references(handle));
    TAP_EQ(1, mca_pml_epml_work_turn(&ep, 1));
    TAP_EQ(3, arrived);
    check_end(1, 1);
    tap_case_done();

    tap_case("likewise with work that is begun");
    begin();
    (void) handle_new();
    handler = work_and_freed;
    TAP_CHECK(arrive(), "it is refused");
    TAP_EQ(0, destroyed);
    while (mca_pml_epml_work_has(&ep)) {
        (void) mca_pml_epml_work_turn(&ep, 1);
    }
    check_end(1, 1);
    tap_case_done();
}

static void case_dying(void)
{
    handle_t *handle;

    tap_case("a message for a handle without references, or for none");
    begin();
    handle = handle_new();
    handler = begin_work;
    ((opal_object_t *) handle)->obj_reference_count = 0; /* its thread is on the way here */
    TAP_CHECK(arrive(), "it is refused");
    TAP_EQ(0, references(handle));
    TAP_EQ(1, ep.flow.dropped);
    ((opal_object_t *) handle)->obj_reference_count = 1;
    handle->objects[NUMBER] = NULL;
    TAP_CHECK(arrive(), "it is refused");
    TAP_EQ(2, ep.flow.dropped);
    OBJ_RELEASE(handle);
    TAP_CHECK(arrive(), "it is refused");
    TAP_EQ(3, ep.flow.dropped);
    handler = NULL;
    TAP_CHECK(!arrive(), "a client that takes none");
    TAP_EQ(0, arrived);
    check_end(1, 0);
    tap_case_done();
}

/* ---- threads --------------------------------------------------------------------------------- */

static _Atomic bool over;

static void *deliver(void *arg)
{
    (void) arg;
    while (!atomic_load(&over)) {
        TAP_CHECK(arrive(), "it is refused");
        (void) mca_pml_epml_work_turn(&ep, UINT32_MAX);
    }
    while (mca_pml_epml_work_has(&ep)) {
        (void) mca_pml_epml_work_turn(&ep, UINT32_MAX);
    }
    return NULL;
}

static mpix_endpoints_step_t job_step(mpix_endpoints_work_t *work)
{
    free(work);
    return MPIX_ENDPOINTS_STEP_DONE;
}

static bool begin_now_and_then(void *object, int rank, const void *data, size_t size)
{
    handle_t *handle = object;

    if (0 == arrived % 3) {
        mpix_endpoints_work_t *job = calloc(1, sizeof(*job)); /* there may be two for a handle */

        job->step = job_step;
        mca_pml_epml_work_begin(&ep, &handle->comm, job);
    }
    return count_only(object, rank, data, size);
}

static void case_threads(void)
{
    pthread_t thread;

    tap_case("messages for %d handles, one after the other, that are freed meanwhile", ROUNDS);
    begin();
    handler = begin_now_and_then;
    atomic_store(&over, false);
    TAP_EQ(0, pthread_create(&thread, NULL, deliver, NULL));
    for (int i = 0; i < ROUNDS; ++i) {
        handle_t *handle = handle_new();

        if (0 == i % 8) {
            sched_yield();
        }
        OBJ_RELEASE(handle);
        for (bool is_over = false; !is_over;) { /* the other thread may have it, and its end */
            pthread_mutex_lock(&lock);
            is_over = i < destroyed;
            pthread_mutex_unlock(&lock);
        }
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    check_end(ROUNDS, 0);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_am", 120);
    opal_class_initialize(OBJ_CLASS(opal_mutex_t));
    opal_class_initialize(OBJ_CLASS(handle_t));
    (void) opal_set_using_threads(true); /* references are counted by atomics */
    case_references();
    case_dying();
    case_threads();
    return tap_end();
}
