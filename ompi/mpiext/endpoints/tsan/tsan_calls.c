/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI's functions in a program under ThreadSanitizer: each says by tsan_order.h what it orders, and
 * hands on to the PMPI_ function.  What is not here orders nothing that a program may rely on.
 *
 * Not from these: persistent forms, which order nothing before they are started, and functions whose
 * order is within one thread.
 *
 * Tests: install/tsan
 */

#include "ompi_config.h"

#include "tsan_order.h"

#include <stdlib.h>

/** By which tsan_options.c has this file linked. */
extern const char mpix_endpoints_tsan_calls;
const char mpix_endpoints_tsan_calls = 0;

#define LIST(...) __VA_ARGS__

/**
 * Define MPI_name.
 *
 * @param parameters, arguments  in parentheses
 * @param before, after          statements; after may read rc
 */
#define CALL(name, parameters, arguments, before, after) \
    int MPI_##name parameters                            \
    {                                                    \
        int rc;                                          \
                                                         \
        before;                                          \
        mpix_tsan_enter();                               \
        rc = PMPI_##name arguments;                      \
        mpix_tsan_leave();                               \
        after;                                           \
        return rc;                                       \
    }
#define NOTHING (void) 0

/* Functions with counts, and where Open MPI has them those whose counts are MPI_Count. */

#define COUNTED(name) name
#define COUNT int
#define DISP int
#include "tsan_counted.h"
#undef COUNTED
#undef COUNT
#undef DISP

#if OMPI_MAJOR_VERSION >= 6
#    define COUNTED(name) name##_c
#    define COUNT MPI_Count
#    define DISP MPI_Aint
#    include "tsan_counted.h"
#    undef COUNTED
#    undef COUNT
#    undef DISP
#endif

/* ---- others on communicators ----------------------------------------------------------------- */

CALL(Barrier, (MPI_Comm comm), (comm),
     const unsigned int number = mpix_tsan_collective_begins(comm, MPIX_TSAN_ALL, 0),
     mpix_tsan_collective_ends(comm, MPIX_TSAN_ALL, 0, number))
CALL(Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request),
     mpix_tsan_collective_starts(comm, MPIX_TSAN_ALL, 0),
     mpix_tsan_collective_started(comm, MPIX_TSAN_ALL, 0, request))

CALL(Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status), (source, tag, comm, status),
     NOTHING, mpix_tsan_received(comm))
CALL(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),
     (source, tag, comm, message, status), NOTHING, mpix_tsan_received(comm))

#define IF_SUCCESS(statement) \
    if (MPI_SUCCESS == rc) {  \
        statement;            \
    }
#define IF_FLAG(flag, statement)           \
    if (MPI_SUCCESS == rc && 0 != *flag) { \
        statement;                         \
    }

CALL(Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
     (source, tag, comm, flag, status), NOTHING, IF_FLAG(flag, mpix_tsan_received(comm)))
CALL(Improbe,
     (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status),
     (source, tag, comm, flag, message, status), NOTHING, IF_FLAG(flag, mpix_tsan_received(comm)))

/* ---- windows --------------------------------------------------------------------------------- */

CALL(Fetch_and_op,
     (const void *buf, void *result, MPI_Datatype type, int target, MPI_Aint disp, MPI_Op op,
      MPI_Win win),
     (buf, result, type, target, disp, op, win), (void) mpix_tsan_window_says(win), NOTHING)
CALL(Compare_and_swap,
     (const void *buf, const void *compare, void *result, MPI_Datatype type, int target,
      MPI_Aint disp, MPI_Win win),
     (buf, compare, result, type, target, disp, win), (void) mpix_tsan_window_says(win), NOTHING)

/* Calls that only tell others, and those that only hear of them. */
#define WINDOW_KEY(win) void *const key = mpix_tsan_window_key(win)
CALL(Win_post, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win),
     (void) mpix_tsan_window_says(win), NOTHING)
CALL(Win_start, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win),
     WINDOW_KEY(win), mpix_tsan_window_hears(key))
CALL(Win_wait, (MPI_Win win), (win), WINDOW_KEY(win), mpix_tsan_window_hears(key))
CALL(Win_test, (MPI_Win win, int *flag), (win, flag), WINDOW_KEY(win),
     IF_FLAG(flag, mpix_tsan_window_hears(key)))
CALL(Win_lock, (int type, int rank, int assertion, MPI_Win win), (type, rank, assertion, win),
     WINDOW_KEY(win), mpix_tsan_window_hears(key))
CALL(Win_lock_all, (int assertion, MPI_Win win), (assertion, win), WINDOW_KEY(win),
     mpix_tsan_window_hears(key))

/* Calls that end operations: their results tell of others, too. */
#define WINDOW_CALL(name, parameters, arguments, win)                               \
    CALL(name, parameters, arguments, void *const key = mpix_tsan_window_says(win), \
         mpix_tsan_window_hears(key))
WINDOW_CALL(Win_fence, (int assertion, MPI_Win win), (assertion, win), win)
WINDOW_CALL(Win_complete, (MPI_Win win), (win), win)
WINDOW_CALL(Win_unlock, (int rank, MPI_Win win), (rank, win), win)
WINDOW_CALL(Win_unlock_all, (MPI_Win win), (win), win)
WINDOW_CALL(Win_flush, (int rank, MPI_Win win), (rank, win), win)
WINDOW_CALL(Win_flush_all, (MPI_Win win), (win), win)
WINDOW_CALL(Win_flush_local, (int rank, MPI_Win win), (rank, win), win)
WINDOW_CALL(Win_flush_local_all, (MPI_Win win), (win), win)
WINDOW_CALL(Win_sync, (MPI_Win win), (win), win)
WINDOW_CALL(Win_free, (MPI_Win * win), (win), NULL == win ? MPI_WIN_NULL : *win)

/* ---- starting -------------------------------------------------------------------------------- */

static void start_all(int count, MPI_Request *requests)
{
    for (int i = 0; NULL != requests && i < count; ++i) {
        mpix_tsan_starts(requests[i]);
    }
}

CALL(Start, (MPI_Request * request), (request), start_all(1, request), NOTHING)
CALL(Startall, (int count, MPI_Request requests[]), (count, requests), start_all(count, requests),
     NOTHING)

CALL(Pready, (int partition, MPI_Request request), (partition, request), mpix_tsan_starts(request),
     NOTHING)
CALL(Pready_range, (int low, int high, MPI_Request request), (low, high, request),
     mpix_tsan_starts(request), NOTHING)
#if OMPI_MAJOR_VERSION >= 6
CALL(Pready_list, (int length, const int list[], MPI_Request request), (length, list, request),
     mpix_tsan_starts(request), NOTHING)
#else
CALL(Pready_list, (int length, int list[], MPI_Request request), (length, list, request),
     mpix_tsan_starts(request), NOTHING)
#endif

CALL(Grequest_complete, (MPI_Request request), (request), mpix_tsan_grequest_completes(), NOTHING)

/* ---- ending ---------------------------------------------------------------------------------- */

#define ONE_END(request) const mpix_tsan_end_t end = mpix_tsan_end_of(request)
#define REQUEST_AT(request) (NULL == request ? MPI_REQUEST_NULL : *request)

CALL(Wait, (MPI_Request * request, MPI_Status *status), (request, status),
     ONE_END(REQUEST_AT(request)), mpix_tsan_ended(&end))
CALL(Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status),
     ONE_END(REQUEST_AT(request)), IF_FLAG(flag, mpix_tsan_ended(&end)))
CALL(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status),
     (request, flag, status), ONE_END(request), IF_FLAG(flag, mpix_tsan_ended(&end)))
CALL(Parrived, (MPI_Request request, int partition, int *flag), (request, partition, flag),
     ONE_END(request), IF_FLAG(flag, mpix_tsan_ended(&end)))

#define ENDS_FEW 32

/** Of a list of requests. */
typedef struct ends_t {
    mpix_tsan_end_t *end, few[ENDS_FEW];
    int count;
} ends_t;

static void ends_take(ends_t *ends, int count, const MPI_Request *requests)
{
    ends->count = NULL == requests || 0 > count ? 0 : count;
    ends->end = ENDS_FEW >= ends->count ? ends->few
                                        : malloc((size_t) ends->count * sizeof(*ends->end));
    for (int i = 0; NULL != ends->end && i < ends->count; ++i) {
        ends->end[i] = mpix_tsan_end_of(requests[i]);
    }
}

/** One of the list has ended.  Without memory for the list: any. */
static void ends_one(const ends_t *ends, int index)
{
    static const mpix_tsan_end_t any = {.is_any = true};

    if (0 <= index && index < ends->count) { /* also not MPI_UNDEFINED */
        mpix_tsan_ended(NULL == ends->end ? &any : &ends->end[index]);
    }
}

static void ends_all(const ends_t *ends)
{
    for (int i = 0; i < (NULL == ends->end ? 1 : ends->count); ++i) {
        ends_one(ends, i);
    }
}

static void ends_some(const ends_t *ends, int count, const int *indices)
{
    for (int i = 0; i < count; ++i) { /* MPI_UNDEFINED is below 0 */
        ends_one(ends, indices[i]);
    }
}

static void ends_free(ends_t *ends)
{
    if (ends->few != ends->end) {
        free(ends->end);
    }
}

/** Likewise of functions with a list of requests; each says in statement which have ended. */
#define CALL_LIST(name, parameters, arguments, count, requests, statement)                       \
    CALL(name, parameters, arguments, ends_t ends; ends_take(&ends, count, requests), statement; \
         ends_free(&ends))

CALL_LIST(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
          (count, requests, statuses), count, requests, ends_all(&ends))
CALL_LIST(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status),
          (count, requests, index, status), count, requests, IF_SUCCESS(ends_one(&ends, *index)))
CALL_LIST(Waitsome,
          (int count, MPI_Request requests[], int *out, int indices[], MPI_Status statuses[]),
          (count, requests, out, indices, statuses), count, requests,
          IF_SUCCESS(ends_some(&ends, *out, indices)))
CALL_LIST(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]),
          (count, requests, flag, statuses), count, requests, IF_FLAG(flag, ends_all(&ends)))
CALL_LIST(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
          (count, requests, index, flag, status), count, requests,
          IF_FLAG(flag, ends_one(&ends, *index)))
CALL_LIST(Testsome,
          (int count, MPI_Request requests[], int *out, int indices[], MPI_Status statuses[]),
          (count, requests, out, indices, statuses), count, requests,
          IF_SUCCESS(ends_some(&ends, *out, indices)))

#if OMPI_MAJOR_VERSION >= 6
CALL_LIST(Request_get_status_all,
          (int count, const MPI_Request requests[], int *flag, MPI_Status statuses[]),
          (count, requests, flag, statuses), count, requests, IF_FLAG(flag, ends_all(&ends)))
CALL_LIST(Request_get_status_any,
          (int count, const MPI_Request requests[], int *index, int *flag, MPI_Status *status),
          (count, requests, index, flag, status), count, requests,
          IF_FLAG(flag, ends_one(&ends, *index)))
CALL_LIST(Request_get_status_some,
          (int count, const MPI_Request requests[], int *out, int indices[], MPI_Status statuses[]),
          (count, requests, out, indices, statuses), count, requests,
          IF_SUCCESS(ends_some(&ends, *out, indices)))
#endif
