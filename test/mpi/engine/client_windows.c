/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Part of the test client: what windows need of the engine.  Active messages of all sizes that are
 * answered by work which their arrival begins; requests of a window's, which is one of libmpi's own;
 * memory whose parts their owners fill.
 */

#include "client_windows.h"

#include "test/client/epanswer.h"
#include "test/client/epclient.h"

#include <stdlib.h>

/** Before MPI_Init: libmpi's osc/ucx prints an error when it is asked, on some machines. */
static __attribute__((constructor)) void without_ucx(void)
{
    (void) setenv("OMPI_MCA_osc", "^ucx", 0);
}

int client_windows_begin(void)
{
    return epanswer_open();
}

/* ---- active messages ------------------------------------------------------------------------- */

/** How large a message to a rank may be, and what is too large. */
static void sizes(MPI_Comm comm, struct ept *t)
{
    static unsigned char data[MPIX_ENDPOINTS_AM_LIMIT + 1];

    for (int rank = 0; rank < t->size; ++rank) {
        const size_t most = epclient_engine->am_max(comm, rank);

        EPT_CHECK(t, MPIX_ENDPOINTS_AM_MAX <= most && MPIX_ENDPOINTS_AM_LIMIT >= most,
                  "%zu bytes to rank %d", most, rank);
        EPT_CLASS(t, MPI_ERR_ARG,
                  epclient_engine->am_send(comm, epclient_number(), rank, data, most + 1));
        EPT_EQ(t, most, epclient_engine->am_max(comm, rank));
    }
}

#define QUESTIONS 40

/** Sizes of the i-th message to a rank: all up to the largest one, those round 256 in particular. */
static size_t size_of(MPI_Comm comm, int rank, int i)
{
    const size_t most = epclient_engine->am_max(comm, rank);
    size_t size = EPANSWER_LEAST;

    if (0 == i % 4) {
        size = most - (size_t) i / 4;
    } else if (1 == i % 4) {
        size = MPIX_ENDPOINTS_AM_MAX - 4 + (size_t) i / 4;
    } else if (2 == i % 4) {
        size += (most - size) * (size_t) i / QUESTIONS;
    }
    return size < most ? size : most;
}

static void answers(MPI_Comm comm, struct ept *t)
{
    const uint64_t all = (uint64_t) t->size * QUESTIONS;
    const uint64_t before = epanswer_answers(comm), asked = epanswer_questions(comm);

    EPT_OK(t, MPI_Barrier(comm));
    for (int i = 0; i < QUESTIONS; ++i) {
        for (int rank = 0; rank < t->size; ++rank) {
            EPT_OK(t, epanswer_ask(comm, rank, size_of(comm, rank, i),
                                   size_of(comm, rank, QUESTIONS - 1 - i)));
        }
    }
    while (all > epanswer_answers(comm) - before) {
    }
    EPT_OK(t, MPI_Barrier(comm)); /* others may still wait for some of this one's */
    EPT_EQ(t, all, epanswer_answers(comm) - before);
    EPT_EQ(t, all, epanswer_questions(comm) - asked);
    EPT_EQ(t, 0, epanswer_errors());
}

/** Handles that are freed while questions and answers are on their way to them. */
static void answers_freed(MPI_Comm comm, struct ept *t)
{
    MPI_Comm dup;

    for (int i = 0; i < 40; ++i) {
        EPT_OK(t, MPI_Comm_dup(comm, &dup));
        for (int rank = 0; rank < t->size; ++rank) {
            EPT_OK(t, epanswer_ask(dup, rank, EPANSWER_LEAST, 0 == i % 2 ? 2000 : EPANSWER_LEAST));
        }
        if (0 == i % 4) {
            (void) epanswer_answers(dup);
        }
        EPT_OK(t, MPI_Comm_free(&dup));
    }
    EPT_OK(t, MPI_Barrier(comm));
    while (t->nlocal < epanswer_handles()) { /* those that work still holds */
        (void) epclient_engine->progress(comm);
    }
    EPT_OK(t, MPI_Barrier(comm));
    EPT_EQ(t, t->nlocal, epanswer_handles());
    EPT_EQ(t, 0, epanswer_errors());
    EPT_OK(t, MPI_Barrier(comm));
}

/* ---- memory ---------------------------------------------------------------------------------- */

#define KEY 78

/** Each fills its part, and writes to it; all read all of it. */
static void use_parts(MPI_Comm comm, struct ept *t, mpix_endpoints_memory_t *memory, int count,
                      int index, size_t part)
{
    unsigned char *bytes = memory->base;
    int wrong = 0;

    EPT_OK(t, epclient_engine->memory_fill(memory, (size_t) index * part, part));
    EPT_OK(t, epclient_engine->memory_fill(memory, (size_t) index * part, 0));
    EPT_CLASS(t, MPI_ERR_ARG, epclient_engine->memory_fill(memory, memory->size, 1));
    for (size_t i = 0; i < part; ++i) {
        wrong += 0 != bytes[(size_t) index * part + i];
        bytes[(size_t) index * part + i] = (unsigned char) (i + (size_t) index);
    }
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, epclient_engine->memory_fill(memory, 0, memory->size)); /* all are there already */
    for (int other = 0; other < count; ++other) {
        for (size_t i = 0; i < part; ++i) {
            wrong += (unsigned char) (i + (size_t) other) != bytes[(size_t) other * part + i];
        }
    }
    EPT_EQ(t, 0, wrong);
    EPT_OK(t, MPI_Barrier(comm));
}

static void reserved(MPI_Comm comm, struct ept *t)
{
    static const size_t parts[] = {1, 4000, 3 * 4096 + 100, 200000};

    for (size_t i = 0; i < 2 * sizeof(parts) / sizeof(parts[0]); ++i) {
        const mpix_endpoints_scope_t scope = 0 == i % 2 ? MPIX_ENDPOINTS_SCOPE_PROCESS
                                                        : MPIX_ENDPOINTS_SCOPE_NODE;
        mpix_endpoints_memory_t *memory = NULL;
        mpix_endpoints_members_t members;
        int rc, whole = 0, all;

        EPT_OK(t, epclient_engine->members(comm, scope, &members));
        rc = epclient_engine->memory_reserve(comm, scope, epclient_number(), KEY,
                                             (size_t) members.count * parts[i / 2], &memory);
        EPT_OK(t, MPI_Barrier(comm));
        if (MPI_SUCCESS == rc) {
            whole = epclient_engine->memory_is_complete(memory);
        } else {
            EPT_CLASS(t, MPI_ERR_UNSUPPORTED_OPERATION, rc);
        }
        EPT_OK(t, MPI_Allreduce(&whole, &all, 1, MPI_INT, MPI_MIN, comm));
        if (0 == i % 2 || 0 < ept_option_long("whole", 0)) {
            EPT_EQ(t, 1, all);
        }
        if (all) {
            use_parts(comm, t, memory, members.count, members.index, parts[i / 2]);
        }
        if (NULL != memory) {
            epclient_engine->memory_put(memory);
        }
        EPT_OK(t, MPI_Barrier(comm));
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

#define STEPS 20

/** An operation on a window: work that ends with an error after some steps. */
typedef struct operation_t {
    mpix_endpoints_work_t work; /**< first */
    MPI_Request request;
    int steps, error;
} operation_t;

static atomic_int operations;

/** What the window's error handler has heard of in this thread. */
static _Thread_local int heard, heard_class;
static _Thread_local MPI_Win heard_of;

static void hear(MPI_Win *win, int *code, ...)
{
    ++heard;
    heard_of = *win;
    (void) MPI_Error_class(*code, &heard_class);
}

static mpix_endpoints_step_t operation_step(mpix_endpoints_work_t *work)
{
    operation_t *operation = (operation_t *) work;

    if (STEPS > ++operation->steps) {
        return MPIX_ENDPOINTS_STEP_IDLE;
    }
    epclient_engine->request_done(operation->request, operation->error);
    return MPIX_ENDPOINTS_STEP_DONE; /* it may be gone */
}

static void operation_free(void *context)
{
    free(context);
    atomic_fetch_sub(&operations, 1);
}

static const mpix_endpoints_request_ops_t operation_ops = {.free = operation_free};

static MPI_Request operation_begin(MPI_Comm comm, struct ept *t, MPI_Win win, int error)
{
    operation_t *operation = calloc(1, sizeof(*operation));
    MPI_Request request;

    operation->work.step = operation_step;
    operation->error = error;
    atomic_fetch_add(&operations, 1);
    EPT_OK(t, epclient_engine->request_new_win(comm, win, &operation_ops, operation,
                                               &operation->request));
    request = operation->request;
    epclient_engine->request_begin(request, &operation->work);
    return request;
}

/** All is well: by each function. */
static void complete_well(MPI_Comm comm, struct ept *t, MPI_Win win)
{
    MPI_Request requests[3];
    int done = 0, index;

    requests[0] = operation_begin(comm, t, win, MPI_SUCCESS);
    EPT_OK(t, MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    requests[0] = operation_begin(comm, t, win, MPI_SUCCESS);
    while (!done) {
        EPT_OK(t, MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < 3; ++i) {
        requests[i] = operation_begin(comm, t, win, MPI_SUCCESS);
    }
    EPT_OK(t, MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE));
    EPT_CHECK(t, 0 <= index && 3 > index && MPI_REQUEST_NULL == requests[index], "none is over");
    EPT_OK(t, MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    EPT_EQ(t, 0, heard);
}

/** The window's handler is called, and the call returns what it leaves. */
static void check_heard(struct ept *t, MPI_Win win, int rc, int expected)
{
    EPT_CLASS(t, expected, rc);
    EPT_EQ(t, 1, heard);
    EPT_EQ(t, MPI_ERR_RMA_RANGE, heard_class);
    EPT_CHECK(t, win == heard_of, "another window");
    heard = 0;
}

static void complete_badly(MPI_Comm comm, struct ept *t, MPI_Win win)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int done = 0, rc, index;

    requests[0] = operation_begin(comm, t, win, MPI_ERR_RMA_RANGE);
    check_heard(t, win, MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_ERR_RMA_RANGE);
    EPT_CHECK(t, MPI_REQUEST_NULL == requests[0], "it is still there");
    requests[0] = operation_begin(comm, t, win, MPI_ERR_RMA_RANGE);
    do {
        rc = MPI_Testany(1, requests, &index, &done, statuses);
    } while (MPI_SUCCESS == rc && !done);
    check_heard(t, win, rc, MPI_ERR_RMA_RANGE);
    requests[0] = operation_begin(comm, t, win, MPI_SUCCESS);
    requests[1] = operation_begin(comm, t, win, MPI_ERR_RMA_RANGE);
    rc = MPI_Waitall(2, requests, statuses);
    EPT_EQ(t, MPI_SUCCESS, statuses[0].MPI_ERROR);
    EPT_EQ(t, MPI_ERR_RMA_RANGE, statuses[1].MPI_ERROR);
    EPT_CHECK(t, MPI_SUCCESS != rc && 1 == heard && win == heard_of, "code %d, heard %d times", rc,
              heard);
    heard = 0;
}

/** Requests outlive the handle, and the user's interest. */
static void freed_early(MPI_Comm comm, struct ept *t, MPI_Win win)
{
    MPI_Request requests[2];
    MPI_Comm dup;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    requests[0] = operation_begin(dup, t, win, MPI_SUCCESS);
    requests[1] = operation_begin(dup, t, win, MPI_SUCCESS);
    EPT_OK(t, MPI_Comm_free(&dup));
    EPT_OK(t, MPI_Request_free(&requests[0]));
    EPT_OK(t, MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
}

static void window_requests(MPI_Comm comm, struct ept *t)
{
    static MPI_Errhandler handler;
    static MPI_Win win;

    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->local) {
        EPT_OK(t, MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
        EPT_OK(t, MPI_Win_create_errhandler(hear, &handler));
        EPT_OK(t, MPI_Win_set_errhandler(win, handler));
    }
    EPT_OK(t, MPI_Barrier(comm));
    heard = 0;
    complete_well(comm, t, win);
    complete_badly(comm, t, win);
    freed_early(comm, t, win);
    while (0 < atomic_load(&operations)) { /* the last ones may be other ranks' */
        (void) epclient_engine->progress(comm);
    }
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->local) {
        EPT_OK(t, MPI_Errhandler_free(&handler));
        EPT_OK(t, MPI_Win_free(&win));
    }
    EPT_OK(t, MPI_Barrier(comm));
}

void client_windows(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, sizes);
    EPT_CASE(t, answers);
    EPT_CASE(t, answers_freed);
    EPT_CASE(t, window_requests);
    EPT_CASE(t, reserved);
}
