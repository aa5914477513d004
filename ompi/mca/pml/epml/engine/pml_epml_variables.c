/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Performance variables: each is there twice, for the process (PREFIX_x, bound to nothing) and for
 * an endpoint (PREFIX_ep_x, bound to a communicator of it; with any other communicator it is the
 * process's).  docs/variables.md has the list.
 *
 * Tests: variables
 */

#include "ompi_config.h"

#include <stdio.h>

#include "../wire/wire.h"
#include "../object/object.h"
#include "pml_epml_variables.h"

#include "ompi/constants.h"
#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/threads/mutex.h"

/** Looks at all endpoints, one of which was gone before it could be looked at. */
#define COUNT_TRIES 8

/** How a value of the process comes of those of its endpoints, and what remains of one that
 * ends. */
typedef enum kind_t {
    SUM,  /**< of all that there are and were */
    MOST, /**< the greatest one */
    NOW   /**< the sum of those that there are */
} kind_t;

static const struct {
    const char *name;
    kind_t kind;
    const char *help;
} variables[EPML_COUNTS] = {
    [EPML_COUNT_INSIDE_MESSAGES] = {"inside_messages", SUM,
                                    "Messages sent to endpoints of the same process, fragments "
                                    "and answers included"},
    [EPML_COUNT_INSIDE_BYTES] = {"inside_bytes", SUM,
                                 "Bytes of inside_messages, headers included (24 of most)"},
    [EPML_COUNT_INSIDE_FETCHED] = {"inside_fetched", SUM,
                                   "Bytes of large messages that were copied from the buffer of a "
                                   "sender in the same process"},
    [EPML_COUNT_NODE_MESSAGES] = {"node_messages", SUM,
                                  "As inside_messages, through memory shared with other processes "
                                  "of the node"},
    [EPML_COUNT_NODE_BYTES] = {"node_bytes", SUM, "Bytes of node_messages, headers included"},
    [EPML_COUNT_NODE_FETCHED] = {"node_fetched", SUM,
                                 "Bytes of large messages that were copied from the memory of "
                                 "another process of the node (smsc)"},
    [EPML_COUNT_NET_MESSAGES] = {"net_messages", SUM,
                                 "As inside_messages, over the network, its own questions and "
                                 "answers included"},
    [EPML_COUNT_NET_BYTES] = {"net_bytes", SUM,
                              "Bytes of net_messages, headers included but for the transport's "
                              "own, of 32 bytes each"},
    [EPML_COUNT_NET_FETCHED] = {"net_fetched", SUM,
                                "Bytes of large messages that were read over the network (RMA)"},
    [EPML_COUNT_DROPPED] = {"dropped", SUM,
                            "Messages that were thrown away because they made no sense, were too "
                            "late, or there was no memory to keep them"},
    [EPML_COUNT_DEFERRED]
    = {"deferred", SUM,
       "Sends, answers and fetches that had to wait in a pending queue, for room "
       "at a peer"},
    [EPML_COUNT_HELPS] = {"helps", SUM,
                          "Turns of an endpoint by threads that were not its own, since nobody "
                          "drove it"},
    [EPML_COUNT_BIASES] = {"biases", SUM,
                           "How often an endpoint's lock became one thread's own, which then takes "
                           "it without an atomic operation"},
    [EPML_COUNT_TIMES_FULL] = {"times_full", SUM,
                               "How often an endpoint had more than pml_epml_unexpected_limit "
                               "bytes of messages without a receive"},
    [EPML_COUNT_UNEXPECTED_MOST] = {"unexpected_most", MOST,
                                    "The most bytes of messages without a receive that an endpoint "
                                    "has had"},
    [EPML_COUNT_UNEXPECTED] = {"unexpected", NOW, "Messages that wait for a receive"},
    [EPML_COUNT_UNEXPECTED_BYTES] = {"unexpected_bytes", NOW,
                                     "Bytes that they take, with what is kept beside them"},
    [EPML_COUNT_PENDING_QUEUES] = {"backlogs", NOW,
                                   "Peers that something waits for, for want of room"},
    [EPML_COUNT_ENDPOINTS] = {"endpoints", NOW, "Endpoints of the process"},
};

static const mca_pml_epml_visits_t *visits; /**< written once, before variables can be read */

/** Of the endpoints that have ended. */
static struct {
    opal_mutex_t lock;
    mca_pml_epml_counts_t counts;
} past = {.lock = OPAL_MUTEX_STATIC_INIT};

/* ---- counting -------------------------------------------------------------------------------- */

/** All of an endpoint.  Under its lock. */
static void count_ep(const mca_pml_epml_ep_t *ep, mca_pml_epml_counts_t *counts)
{
    const mca_btl_ep_counts_t inside = mca_pml_epml_transport_count(ep->transports.shm);
    const mca_btl_ep_counts_t node
        = mca_pml_epml_transport_count(ep->transports.module[EPML_TRANSPORT_NODE]);
    const mca_btl_ep_counts_t net
        = mca_pml_epml_transport_count(ep->transports.module[EPML_TRANSPORT_NET]);
    const mca_btl_ep_counts_t *before = &ep->wire.net_before; /* zeros as long as there is no net */

    *counts = (mca_pml_epml_counts_t){{
        [EPML_COUNT_INSIDE_MESSAGES] = inside.messages,
        [EPML_COUNT_INSIDE_BYTES] = inside.bytes,
        [EPML_COUNT_INSIDE_FETCHED] = ep->fetch.bytes[EPML_TRANSPORTS],
        [EPML_COUNT_NODE_MESSAGES] = node.messages,
        [EPML_COUNT_NODE_BYTES] = node.bytes,
        [EPML_COUNT_NODE_FETCHED] = ep->fetch.bytes[EPML_TRANSPORT_NODE],
        [EPML_COUNT_NET_MESSAGES] = net.messages - before->messages,
        [EPML_COUNT_NET_BYTES] = net.bytes - before->bytes,
        [EPML_COUNT_NET_FETCHED] = ep->fetch.bytes[EPML_TRANSPORT_NET],
        [EPML_COUNT_DROPPED] = ep->flow.dropped + inside.dropped + node.dropped + net.dropped
                               - before->dropped,
        [EPML_COUNT_DEFERRED] = ep->wire.deferred,
        [EPML_COUNT_HELPS] = ep->engine.helps,
        [EPML_COUNT_BIASES] = ep->lock.biases,
        [EPML_COUNT_TIMES_FULL] = ep->flow.times_full,
        [EPML_COUNT_UNEXPECTED_MOST] = ep->flow.most,
        [EPML_COUNT_UNEXPECTED] = ep->match.unexpected_count,
        [EPML_COUNT_UNEXPECTED_BYTES] = ep->flow.bytes,
        [EPML_COUNT_PENDING_QUEUES] = ep->wire.pending.count,
        [EPML_COUNT_ENDPOINTS] = 1,
    }};
}

/** Add the counts of an endpoint to the process's; of one that ends, and less what is there. */
static void variables_add(mca_pml_epml_counts_t *sum, const mca_pml_epml_counts_t *counts,
                          bool ends, const mca_pml_epml_counts_t *there)
{
    for (int i = 0; i < EPML_COUNTS; ++i) {
        switch (variables[i].kind) {
        case SUM:
            sum->value[i] += counts->value[i] - (NULL != there ? there->value[i] : 0);
            break;
        case MOST:
            sum->value[i] = counts->value[i] > sum->value[i] ? counts->value[i] : sum->value[i];
            break;
        case NOW:
            sum->value[i] += ends ? 0 : counts->value[i];
            break;
        }
    }
}

void mca_pml_epml_counts_account(mca_pml_epml_ep_t *ep)
{
    mca_pml_epml_counts_t counts;

    count_ep(ep, &counts);
    opal_mutex_lock(&past.lock);
    variables_add(&past.counts, &counts, true, &ep->engine.accounted);
    opal_mutex_unlock(&past.lock);
    ep->engine.accounted = counts;
}

static void add_ep(mca_pml_epml_ep_t *ep, void *context)
{
    mca_pml_epml_counts_t counts;

    count_ep(ep, &counts);
    variables_add(context, &counts, false, NULL);
}

static void begin_with_past(void *context)
{
    opal_mutex_lock(&past.lock);
    *(mca_pml_epml_counts_t *) context = past.counts;
    opal_mutex_unlock(&past.lock);
}

/** All of the process.  Where endpoints come and go all the time one may be left out in the end. */
static void count_process(mca_pml_epml_counts_t *counts)
{
    for (int tries = 0; tries < COUNT_TRIES; ++tries) {
        if (visits->all(begin_with_past, add_ep, counts)) {
            return;
        }
    }
}

/* ---- MPI_T ----------------------------------------------------------------------------------- */

static int get_of_process(const mca_base_pvar_t *variable, void *value, void *object)
{
    mca_pml_epml_counts_t counts;

    (void) object;
    count_process(&counts);
    *(unsigned long long *) value = counts.value[(uintptr_t) variable->ctx];
    return OPAL_SUCCESS;
}

static int get_of_endpoint(const mca_base_pvar_t *variable, void *value, void *object)
{
    const ompi_communicator_t *comm = object;
    mca_pml_epml_counts_t counts;
    mca_pml_epml_ep_t *ep;

    /* Not refused: Open MPI does not survive a variable that cannot be bound (5.0.7). */
    if (NULL == comm || !mca_pml_epml_is_endpoint_comm(comm)) {
        return get_of_process(variable, value, object);
    }
    ep = mca_pml_epml_comm(comm)->ep;
    visits->one(ep);
    count_ep(ep, &counts);
    mca_pml_epml_unlock(ep);
    *(unsigned long long *) value = counts.value[(uintptr_t) variable->ctx];
    return OPAL_SUCCESS;
}

static int class_of(kind_t kind)
{
    return SUM == kind    ? MCA_BASE_PVAR_CLASS_COUNTER
           : MOST == kind ? MCA_BASE_PVAR_CLASS_HIGHWATERMARK
                          : MCA_BASE_PVAR_CLASS_LEVEL;
}

void mca_pml_epml_counts_register(const mca_base_component_t *component,
                                  const mca_pml_epml_visits_t *by)
{
    const mca_base_pvar_flag_t flags = MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS;

    visits = by;
    for (int i = 0; i < EPML_COUNTS; ++i) {
        char name[64], help[256];

        snprintf(name, sizeof(name), "ep_%s", variables[i].name);
        snprintf(help, sizeof(help), "%s; of the endpoint of a communicator", variables[i].help);
        (void) mca_base_component_pvar_register(component, variables[i].name, variables[i].help,
                                                OPAL_INFO_LVL_4, class_of(variables[i].kind),
                                                MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
                                                MCA_BASE_VAR_BIND_NO_OBJECT, flags, get_of_process,
                                                NULL, NULL, (void *) (uintptr_t) i);
        (void) mca_base_component_pvar_register(component, name, help, OPAL_INFO_LVL_4,
                                                class_of(variables[i].kind),
                                                MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
                                                MCA_BASE_VAR_BIND_MPI_COMM, flags, get_of_endpoint,
                                                NULL, NULL, (void *) (uintptr_t) i);
    }
}
