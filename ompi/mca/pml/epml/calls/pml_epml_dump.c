/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is on its way and what waits on an endpoint, for people and debuggers: the three queues that
 * debuggers know from MPI's processes, of one communicator or of all that the endpoint has; and the
 * collectives that its thread is in.
 *
 * Nothing is kept for this on a message's way.  Receives and messages without partner are in the
 * matching table; sends and receives under way have a number; what waits for room is in a pending
 * queue.
 *
 * A debugger may have stopped the process anywhere, so nothing is allocated, no output of stdio's
 * is touched and no lock waited for without end.
 *
 * Tests: p2p_dump, coll_dump
 */

#include "ompi_config.h"

#include <stdarg.h>
#include <sched.h>
#include <unistd.h>

#include "../engine/engine.h"
#include "../proto/proto.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_dump.h"
#include "pml_epml_open.h"

#include "ompi/constants.h"

/** Tries for an endpoint's lock, with a yield every so many: some milliseconds. */
#define EPML_DUMP_TRIES 100000
#define EPML_DUMP_YIELD 64

/** What is shown. */
typedef struct view_t {
    const mca_pml_epml_ep_t *ep;
    const mca_pml_epml_comm_t *only; /**< NULL: all communicators */
} view_t;

static __attribute__((format(printf, 1, 2))) void dump_line(const char *format, ...)
{
    char text[768];
    va_list arguments;
    size_t length;
    int rc;

    va_start(arguments, format);
    rc = vsnprintf(text, sizeof(text) - 1, format, arguments);
    va_end(arguments);
    length = 0 > rc ? 0 : (size_t) rc < sizeof(text) - 1 ? (size_t) rc : sizeof(text) - 2;
    text[length++] = '\n';
    for (size_t written = 0; written < length;) {
        ssize_t more = write(STDERR_FILENO, text + written, length - written);

        if (0 >= more) {
            return;
        }
        written += (size_t) more;
    }
}

/* ---- pieces of a line ------------------------------------------------------------------------ */

typedef struct text_t {
    char s[96];
} text_t;

/** "rank 3 (process 1)", or that any will do. */
static text_t rank_text(const mca_pml_epml_comm_t *comm, int rank)
{
    text_t text = {"any source"};

    if (EPML_MATCH_ANY != rank) {
        snprintf(text.s, sizeof(text.s), "rank %d (process %u)", rank,
                 mca_pml_epml_name_process(&comm->peers->member[rank]->proc->super.proc_name).vpid);
    }
    return text;
}

static text_t tag_text(int tag)
{
    text_t text = {"any tag"};

    if (EPML_MATCH_ANY != tag) {
        snprintf(text.s, sizeof(text.s), "tag %d%s", tag, 0 > tag ? " (a collective's)" : "");
    }
    return text;
}

static const char *name_of(const mca_pml_epml_comm_t *comm)
{
    return comm->comm->c_name;
}

static bool dump_shows(const view_t *view, const mca_pml_epml_comm_t *comm)
{
    return NULL != comm && (NULL == view->only || comm == view->only);
}

/** The communicator of a context, ordinary or that of its partitioned messages or agreements,
 * without the side effects of mca_pml_epml_comm_find. */
static const mca_pml_epml_comm_t *comm_of(const view_t *view, uint64_t context)
{
    void *found = NULL;

    context &= ~(EPML_PART_CONTEXT | EPML_AGREE_CONTEXT);
    (void) opal_hash_table_get_value_uint64((opal_hash_table_t *) &view->ep->comms.table, context,
                                            &found);
    return found;
}

/* ---- pending sends --------------------------------------------------------------------------- */

/** What a request waits for that is on its way. */
static void request_line(const mca_pml_epml_request_t *request, const char *more)
{
    mca_pml_epml_request_text_t text;

    if (NULL != request->ops->describe && request->ops->describe(request, &text)) {
        dump_line("    %s %s %s in \"%s\", %s, %s%zu bytes, %s%s", request->ops->name,
                  request->ops->sends ? "to" : "from", rank_text(request->comm, text.rank).s,
                  name_of(request->comm), tag_text(text.tag).s, request->ops->sends ? "" : "up to ",
                  request->size, text.state, more);
    }
}

/** Has it not begun, so that its place in a pending queue is shown? */
static bool nobody_heard_of(const mca_pml_epml_request_t *request)
{
    return NULL != request->ops->is_unheard && request->ops->is_unheard(request);
}

/** All requests of one direction that have a number: the peer knows them. */
static void dump_numbered(const view_t *view, bool sends)
{
    for (uint32_t i = 0; i < view->ep->numbers.count; ++i) {
        const mca_pml_epml_request_t *request
            = epml_request_ids_slot(&view->ep->numbers, i)->request;

        /* Relaxed: written under the lock.  A request that is done may have kept its number. */
        if (NULL != request && request->ops->sends == sends && dump_shows(view, request->comm)
            && !nobody_heard_of(request)
            && !atomic_load_explicit(&request->done, memory_order_relaxed)) {
            request_line(request, "");
        }
    }
}

static void dump_sends(const view_t *view)
{
    dump_line("  pending sends:");
    dump_numbered(view, true);
    for (const epml_pending_thing_t *queue = view->ep->wire.pending.first; NULL != queue;
         queue = queue->next_queue) {
        const mca_pml_epml_peer_t *peer = queue->peer;
        unsigned int place = 0, control = 0;

        for (const epml_pending_thing_t *thing = queue; NULL != thing; thing = thing->next) {
            const mca_pml_epml_request_t *request = mca_pml_epml_pending_of(thing)->request;

            ++place;
            control += NULL == request;
            if (NULL != request && nobody_heard_of(request) && dump_shows(view, request->comm)) {
                char where[32];

                snprintf(where, sizeof(where), ", at place %u", place);
                request_line(request, where);
            }
        }
        dump_line(
            "    pending queue for an endpoint of process %u: %u messages, %u of them answers",
            mca_pml_epml_name_process(&peer->proc->super.proc_name).vpid, place, control);
    }
}

/* ---- pending receives ------------------------------------------------------------------------ */

static void dump_queue(const view_t *view, const epml_match_queue_t *queue)
{
    for (const epml_match_posted_t *posted = queue->posted_first; NULL != posted;
         posted = posted->next) {
        const mca_pml_epml_request_t *request
            = (const mca_pml_epml_request_t *) ((const char *) posted
                                                - offsetof(mca_pml_epml_request_t, posted));

        if (dump_shows(view, request->comm)) {
            dump_line("    %s from %s in \"%s\", %s, up to %zu bytes, waiting for a match, "
                      "posted as number %llu",
                      request->ops->name, rank_text(request->comm, queue->source).s,
                      name_of(request->comm), tag_text(queue->tag).s, request->size,
                      (unsigned long long) posted->sequence);
        }
    }
}

static void dump_receives(const view_t *view)
{
    const epml_match_table_t *match = &view->ep->match;

    dump_line("  pending receives:");
    for (uint64_t i = 0; i < match->buckets; ++i) {
        for (const epml_match_queue_t *queue = *epml_match_bucket(match, i); NULL != queue;
             queue = queue->chain) {
            dump_queue(view, queue);
        }
    }
    dump_numbered(view, false);
}

/* ---- unexpected messages --------------------------------------------------------------------- */

static void dump_unexpected(const view_t *view)
{
    uint64_t place = 0;

    dump_line("  unexpected messages:");
    for (const epml_match_unexpected_t *message = view->ep->match.arrival_first; NULL != message;
         message = message->newer) {
        const mca_pml_epml_unexpected_t *kept = (const mca_pml_epml_unexpected_t *) message;
        const bool eager = EPML_HDR_EAGER == kept->common.kind;
        const epml_match_queue_t *queue = epml_match_queue_of(message);
        const mca_pml_epml_comm_t *comm = comm_of(view, queue->context);

        ++place;
        if (dump_shows(view, comm)) {
            dump_line("    %smessage from %s in \"%s\", %s, %llu bytes, %s%s, waiting for a match, "
                      "arrived at place %llu",
                      EPML_HDR_PART_INIT == kept->common.kind ? "partitioned " : "",
                      rank_text(comm, queue->source).s, name_of(comm), tag_text(queue->tag).s,
                      (unsigned long long) mca_pml_epml_unexpected_length(kept),
                      eager && 0 != (kept->common.flags & EPML_HDR_FLAG_SYNC) ? "synchronous, "
                                                                              : "",
                      eager ? "data here" : "data at the sender", (unsigned long long) place);
        }
    }
}

/* ---- an endpoint ----------------------------------------------------------------------------- */

static void dump_comm_line(const mca_pml_epml_comm_t *comm)
{
    const mpix_endpoints_client_t *client;

    dump_line(
        "  communicator \"%s\": rank %d of %d%s, context %llx, %llu requests and matched messages "
        "hold it",
        name_of(comm), comm->rank, comm->local->count, comm->is_inter ? " of its side" : "",
        (unsigned long long) comm->context,
        (unsigned long long) (comm->active + mca_pml_epml_open_requests(comm->ep, comm, true)));
    for (int i = 0; i < EPML_ENROLLED_MOST; ++i) {
        void *object = mca_pml_epml_clients_object(comm, i);
        char text[400] = "";

        client = mca_pml_epml_clients(i);
        if (NULL != client && NULL != client->describe && NULL != object) {
            client->describe(object, text, sizeof(text));
        }
        if ('\0' != text[0]) {
            dump_line("    %s", text);
        }
    }
}

/** All communicators of an endpoint, a line each if wanted.
 * @return requests and matched messages that hold them */
static uint64_t walk_comms(const mca_pml_epml_ep_t *ep, bool lines)
{
    const mca_pml_epml_comm_t *comm;
    uint64_t active = 0;
    void *at = NULL;

    while (NULL != (comm = mca_pml_epml_comms_next(ep, &at))) {
        active += comm->active;
        if (lines) {
            dump_comm_line(comm);
        }
    }
    return active;
}

static void dump_comms(const view_t *view)
{
    if (NULL != view->only) {
        dump_comm_line(view->only);
    } else {
        (void) walk_comms(view->ep, true);
    }
}

/** @return false: the lock could not be had, which has been said */
static bool dump_ep(mca_pml_epml_ep_t *ep, const mca_pml_epml_comm_t *only)
{
    const view_t view = {ep, only};

    /* As a visitor: not even this thread can be in twice. */
    for (int tries = 1; !mca_pml_epml_try_visit(ep); ++tries) {
        if (EPML_DUMP_TRIES == tries) {
            dump_line(
                "endpoint %p: a thread is at work on it, and did not finish; let the threads run "
                "and ask again",
                (void *) ep);
            return false;
        }
        epml_lock_relax();
        if (0 == tries % EPML_DUMP_YIELD) {
            sched_yield();
        }
    }
    dump_line("endpoint %p of process %u, name %u: %llu requests open, %llu unexpected messages, "
              "%llu taken out by matched probes, %llu messages dropped",
              (void *) ep, OMPI_PROC_MY_NAME->vpid,
              NULL == ep->life.self ? OMPI_PROC_MY_NAME->vpid
                                    : ep->life.self->proc->super.proc_name.vpid,
              (unsigned long long) (walk_comms(ep, false) - ep->flow.taken_out
                                    + mca_pml_epml_open_requests(ep, NULL, true)),
              (unsigned long long) ep->match.unexpected_count,
              (unsigned long long) ep->flow.taken_out, (unsigned long long) ep->flow.dropped);
    dump_comms(&view);
    dump_sends(&view);
    dump_receives(&view);
    dump_unexpected(&view);
    mca_pml_epml_unlock(ep);
    return true;
}

int mca_pml_epml_call_dump(ompi_communicator_t *comm, int verbose)
{
    mca_pml_epml_comm_t *state = mca_pml_epml_comm(comm);

    return dump_ep(state->ep, 0 == verbose ? state : NULL) ? OMPI_SUCCESS : OMPI_ERR_RESOURCE_BUSY;
}

void mca_pml_epml_dump_comm(ompi_communicator_t *comm, int verbose)
{
    (void) MCA_PML_CALL(dump(comm, verbose));
}

static void dump_one(mca_pml_epml_ep_t *ep)
{
    (void) dump_ep(ep, NULL);
}

void mca_pml_epml_dump_all(void)
{
    if (!mca_pml_epml_ep_for_all(dump_one)) {
        dump_line("the list of endpoints is in use; let the threads run and ask again");
    }
}
