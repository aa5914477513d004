/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The orders of tsan_order.h.
 *
 * Tests: install/tsan
 */

#include "ompi_config.h"

#include "tsan_order.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"
#include "ompi/message/message.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "ompi/win/win.h"

/* ThreadSanitizer's; NULL where the program is linked without it. */
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));
extern void AnnotateIgnoreReadsBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreReadsEnd(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreWritesBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreWritesEnd(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreSyncBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreSyncEnd(const char *file, int line) __attribute__((weak));

/** What happens at a key. */
typedef enum kind_t {
    INBOX = 1,  /**< messages to an endpoint */
    POSTED,     /**< receives that members of a communicator have posted */
    STARTED,    /**< persistent and partitioned requests of a communicator */
    COLLECTIVE, /**< its nonblocking collectives */
    BLOCKING,   /**< one of its blocking ones */
    WINDOW      /**< operations and synchronization of a window */
} kind_t;

#define SLOTS 4096

/** Nothing but their addresses is used, but for these two. */
static uint64_t slots[SLOTS];
static uint64_t outside, completed;

/** A synchronous send is under way, or was: then the end of any request may be one's. */
static atomic_bool is_synchronous;

void mpix_tsan_release(void *key)
{
    if (NULL != key && NULL != __tsan_release) {
        __tsan_release(key);
    }
}

void mpix_tsan_acquire(void *key)
{
    if (NULL != key && NULL != __tsan_acquire) {
        __tsan_acquire(key);
    }
}

void mpix_tsan_enter(void)
{
    if (NULL != AnnotateIgnoreSyncBegin) {
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
        AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    }
}

void mpix_tsan_leave(void)
{
    if (NULL != AnnotateIgnoreSyncEnd) {
        AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void *slot_of(kind_t kind, uint64_t what)
{
    /* Multiplication with 2^64 over the golden ratio: the highest bits depend on all of what. */
    const uint64_t mixed = (what * 8 + kind) * UINT64_C(0x9e3779b97f4a7c15);

    return &slots[mixed >> 52];
}
_Static_assert(UINT64_C(1) << (64 - 52) == SLOTS, "as many as slot_of tells apart");

static bool is_valid(MPI_Comm comm)
{
    return MPI_COMM_NULL != comm && !ompi_comm_invalid(comm);
}

static uint64_t word_of(opal_process_name_t name)
{
    return (uint64_t) name.jobid << 32 | name.vpid;
}

/** Processes of the job; 0: not known, as with sessions only. */
static uint32_t tsan_order_processes(void)
{
    return NULL == ompi_mpi_comm_world.comm.c_local_group
               ? 0
               : (uint32_t) ompi_comm_size(&ompi_mpi_comm_world.comm);
}

/** Several processes: order may come by way of another one, which cannot be seen. */
static bool has_others(void)
{
    return 1 != tsan_order_processes();
}

/** Does a process, or an endpoint, of this name live here?  docs/objects.md has the numbers. */
static bool is_here(opal_process_name_t name)
{
    const opal_process_name_t here = ompi_proc_local_proc->super.proc_name;

    return name.jobid == here.jobid
           && (0 == tsan_order_processes() ? name.vpid : name.vpid % tsan_order_processes())
                  == here.vpid;
}

/** @param group  of a valid communicator.  @return NULL: it has no such rank */
static void *inbox_of(ompi_group_t *group, int rank)
{
    if (0 > rank || ompi_group_size(group) <= rank) {
        return NULL;
    }
    return slot_of(INBOX, word_of(ompi_group_get_proc_name(group, rank)));
}

/** A key of a communicator, the same with all its members, on both sides of an intercommunicator.
 * Communicators with the same first members and the same size share it.
 * @param number  of the collective; 0: of all */
static void *comm_key_of(MPI_Comm comm, kind_t kind, unsigned int number)
{
    ompi_group_t *group = comm->c_local_group, *remote = comm->c_remote_group;
    uint64_t what = 0;

    if (0 < ompi_group_size(group)) {
        what = word_of(ompi_group_get_proc_name(group, 0)) * (uint64_t) ompi_group_size(group);
    }
    if (remote != group && 0 < ompi_group_size(remote)) {
        what += word_of(ompi_group_get_proc_name(remote, 0)) * (uint64_t) ompi_group_size(remote);
    }
    return slot_of(kind, what + number);
}

static void *comm_key(MPI_Comm comm, kind_t kind)
{
    return comm_key_of(comm, kind, 0);
}

static void *own_inbox(MPI_Comm comm)
{
    return inbox_of(comm->c_local_group, ompi_comm_rank(comm));
}

/* ---- messages -------------------------------------------------------------------------------- */

void mpix_tsan_sends(MPI_Comm comm, int rank)
{
    void *inbox = is_valid(comm) ? inbox_of(comm->c_remote_group, rank) : NULL;

    mpix_tsan_release(inbox);
    if (NULL != inbox && !is_here(ompi_group_get_proc_name(comm->c_remote_group, rank))) {
        mpix_tsan_release(&outside);
    }
}

void mpix_tsan_sends_synchronously(MPI_Comm comm, int rank)
{
    /* Relaxed: a thread that waits for the send has its request from this thread, in order. */
    atomic_store_explicit(&is_synchronous, true, memory_order_relaxed);
    mpix_tsan_sends(comm, rank);
}

void mpix_tsan_sent_synchronously(MPI_Comm comm)
{
    if (is_valid(comm)) {
        mpix_tsan_acquire(comm_key(comm, POSTED));
    }
    if (has_others()) {
        mpix_tsan_acquire(&outside);
    }
}

void mpix_tsan_posts(MPI_Comm comm)
{
    if (is_valid(comm)) {
        mpix_tsan_release(comm_key(comm, POSTED));
    }
    if (has_others()) {
        mpix_tsan_release(&outside);
    }
}

void mpix_tsan_received(MPI_Comm comm)
{
    if (is_valid(comm)) {
        mpix_tsan_acquire(own_inbox(comm));
        mpix_tsan_acquire(comm_key(comm, STARTED));
    }
    if (has_others()) {
        mpix_tsan_acquire(&outside);
    }
}

MPI_Comm mpix_tsan_message_comm(MPI_Message message)
{
    return MPI_MESSAGE_NULL == message || MPI_MESSAGE_NO_PROC == message ? MPI_COMM_NULL
                                                                         : message->comm;
}

/* ---- collectives ----------------------------------------------------------------------------- */

/** Does this member come before others, or after them?  All members of an intercommunicator may. */
static bool member_comes(bool before, MPI_Comm comm, mpix_tsan_shape_t shape, int root)
{
    if (MPIX_TSAN_ALL == shape || OMPI_COMM_IS_INTER(comm)) {
        return true;
    }
    return (MPIX_TSAN_FROM == shape) == before ? ompi_comm_rank(comm) == root
                                               : ompi_comm_rank(comm) != root;
}

/** An attribute: how many blocking collectives a handle has been used for. */
static int counts = MPI_KEYVAL_INVALID;

static int count_free(MPI_Comm comm, int keyval, void *count, void *unused)
{
    (void) comm;
    (void) keyval;
    (void) unused;
    free(count);
    return MPI_SUCCESS;
}

static void counts_create(void)
{
    (void) PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_free, &counts, NULL);
}

/** Of a handle; made if it has none.  @return NULL: no memory */
static unsigned int *count_of(MPI_Comm comm)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned int *count = NULL;
    int found = 0;

    (void) pthread_once(&once, counts_create);
    if (MPI_KEYVAL_INVALID == counts
        || MPI_SUCCESS != PMPI_Comm_get_attr(comm, counts, &count, &found)) {
        return NULL;
    }
    if (!found) {
        count = calloc(1, sizeof(*count));
        if (NULL != count && MPI_SUCCESS != PMPI_Comm_set_attr(comm, counts, count)) {
            free(count);
            count = NULL;
        }
    }
    return count;
}

/** The number of the collective that begins.  Without it one that is late would be ordered behind
 * the next collective of a member that is early, and what that does in between.  Without memory:
 * 0. */
static unsigned int count_next(MPI_Comm comm)
{
    unsigned int *count;

    mpix_tsan_enter(); /* libmpi's lock of attributes is no order of the program's */
    count = count_of(comm);
    mpix_tsan_leave();
    return NULL == count ? 0 : ++*count;
}

/** By a key, and by what goes by way of other processes. */
static void say_of_many(void (*say)(void *), void *key)
{
    say(key);
    if (has_others()) {
        say(&outside);
    }
}

unsigned int mpix_tsan_collective_begins(MPI_Comm comm, mpix_tsan_shape_t shape, int root)
{
    unsigned int number = 0;

    if (is_valid(comm)) {
        number = count_next(comm);
        if (member_comes(true, comm, shape, root)) {
            say_of_many(mpix_tsan_release, comm_key_of(comm, BLOCKING, number));
        }
    }
    return number;
}

void mpix_tsan_collective_ends(MPI_Comm comm, mpix_tsan_shape_t shape, int root,
                               unsigned int number)
{
    if (is_valid(comm) && member_comes(false, comm, shape, root)) {
        say_of_many(mpix_tsan_acquire, comm_key_of(comm, BLOCKING, number));
    }
}

void mpix_tsan_collective_starts(MPI_Comm comm, mpix_tsan_shape_t shape, int root)
{
    if (is_valid(comm) && member_comes(true, comm, shape, root)) {
        say_of_many(mpix_tsan_release, comm_key(comm, COLLECTIVE));
    }
}

void mpix_tsan_collective_started(MPI_Comm comm, mpix_tsan_shape_t shape, int root,
                                  const MPI_Request *request)
{
    if (is_valid(comm) && NULL != request && &ompi_request_empty == *request
        && member_comes(false, comm, shape, root)) {
        say_of_many(mpix_tsan_acquire, comm_key(comm, COLLECTIVE));
    }
}

/* ---- windows --------------------------------------------------------------------------------- */

void *mpix_tsan_window_key(MPI_Win win)
{
    ompi_group_t *group;

    if (NULL == win || MPI_WIN_NULL == win || ompi_win_invalid(win)) {
        return NULL;
    }
    group = win->w_group;
    return slot_of(WINDOW,
                   word_of(ompi_group_get_proc_name(group, 0)) * (uint64_t) ompi_group_size(group));
}

void *mpix_tsan_window_says(MPI_Win win)
{
    void *key = mpix_tsan_window_key(win);

    if (NULL != key) {
        say_of_many(mpix_tsan_release, key);
    }
    return key;
}

void mpix_tsan_window_hears(void *key)
{
    if (NULL != key) {
        say_of_many(mpix_tsan_acquire, key);
    }
}

void mpix_tsan_window_started(void *key, const MPI_Request *request)
{
    if (NULL != request && &ompi_request_empty == *request) {
        mpix_tsan_window_hears(key);
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

/** Its communicator, or MPI_COMM_NULL: it has none, or does not tell. */
static MPI_Comm request_comm(MPI_Request request)
{
    if (MPI_REQUEST_NULL == request || NULL == request) {
        return MPI_COMM_NULL;
    }
    switch (request->req_type) {
    case OMPI_REQUEST_PML:
    case OMPI_REQUEST_COLL:
    case OMPI_REQUEST_PART:
        return NULL == request->req_mpi_object.comm ? MPI_COMM_NULL : request->req_mpi_object.comm;
    default:
        return MPI_COMM_NULL;
    }
}

void mpix_tsan_starts(MPI_Request request)
{
    MPI_Comm comm = request_comm(request);

    if (is_valid(comm)) {
        mpix_tsan_release(comm_key(comm, STARTED));
        mpix_tsan_release(comm_key(comm, COLLECTIVE));
        mpix_tsan_release(comm_key(comm, POSTED));
    }
    if (has_others()) {
        mpix_tsan_release(&outside);
    }
}

mpix_tsan_end_t mpix_tsan_end_of(MPI_Request request)
{
    MPI_Comm comm = request_comm(request);
    mpix_tsan_end_t end = {.inbox = NULL};

    if (is_valid(comm)) {
        end.inbox = own_inbox(comm);
        end.started = comm_key(comm, STARTED);
        end.collective = comm_key(comm, COLLECTIVE);
        /* Relaxed: see mpix_tsan_sends_synchronously. */
        if (atomic_load_explicit(&is_synchronous, memory_order_relaxed)) {
            end.posted = comm_key(comm, POSTED);
        }
    } else if (MPI_REQUEST_NULL != request && NULL != request) {
        if (OMPI_REQUEST_WIN == request->req_type) {
            end.window = mpix_tsan_window_key(request->req_mpi_object.win);
        }
        end.is_completed = OMPI_REQUEST_GEN == request->req_type;
        /* MPI_Isendrecv's, or a communicator's: libmpi does not say whose they are. */
        end.is_any = OMPI_REQUEST_COMM == request->req_type;
    }
    return end;
}

void mpix_tsan_ended(const mpix_tsan_end_t *end)
{
    mpix_tsan_acquire(end->inbox);
    mpix_tsan_acquire(end->started);
    mpix_tsan_acquire(end->collective);
    mpix_tsan_acquire(end->posted);
    mpix_tsan_acquire(end->window);
    if (end->is_completed) {
        mpix_tsan_acquire(&completed);
    }
    for (int i = 0; end->is_any && i < SLOTS; ++i) {
        mpix_tsan_acquire(&slots[i]);
    }
    if (has_others()) {
        mpix_tsan_acquire(&outside);
    }
}

void mpix_tsan_grequest_completes(void)
{
    mpix_tsan_release(&completed);
}
