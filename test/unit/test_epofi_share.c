/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Modules of btl/epofi that share contexts, in two processes: which gets which, whose a message is,
 * owners that are elsewhere, modules that come and go meanwhile, threads that send and poll at
 * once.
 *
 * Guards: btl_epofi_share.c, btl_epofi_share_cq.c, btl_epofi_share_domain.c, btl_epofi_share_ep.c,
 * btl_epofi_share_recv.c, btl_epofi_share_slot.c, btl_epofi_av.c
 */

#include "test_epofi.h"

#include "opal/mca/btl/epofi/share/btl_epofi_share_types.h"
#include "opal/mca/btl/epofi/sockets/btl_epofi_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>

enum { ENDPOINTS = 4 };

/** What process "from" says from its endpoint i to the other one's endpoint j, the n-th time. */
static uint64_t word(int from, int i, int j, unsigned int n)
{
    return (uint64_t) from << 56 | (uint64_t) i << 48 | (uint64_t) j << 40 | n;
}

/** One process's endpoints, each connected to all of the other's. */
typedef struct mesh_t {
    test_ep_t ep[ENDPOINTS];
    name_t names[ENDPOINTS]; /**< the other process's */
    struct mca_btl_base_endpoint_t *peers[ENDPOINTS][ENDPOINTS];
    unsigned int next[ENDPOINTS][ENDPOINTS]; /**< of endpoint j here from endpoint i there */
    int rank;
    bool threads; /**< each endpoint has an owner of its own */
} mesh_t;

static mesh_t mesh;

/** An on_message: it is for this endpoint, and the next of its sender. */
static void expect_word(test_ep_t *ep, const unsigned char *data, size_t length)
{
    const int j = (int) (ep - mesh.ep);
    uint64_t number = 0;
    int i;

    TAP_CHECK(sizeof(number) <= length, "%zu bytes", length);
    memcpy(&number, data, sizeof(number));
    i = (int) (number >> 48 & 0xFF);
    TAP_CHECK(i < ENDPOINTS, "from %d", i);
    TAP_EQ(word(1 - mesh.rank, i, j, mesh.next[j][i % ENDPOINTS]), number);
    ++mesh.next[j][i % ENDPOINTS];
    for (size_t at = sizeof(number); at < length; ++at) {
        if ((unsigned char) number != data[at]) {
            TAP_CHECK(false, "byte %zu of %zu", at, length);
            break;
        }
    }
}

static void set_contexts(unsigned int most, unsigned int shared)
{
    mca_btl_epofi_component.max_contexts = most;
    mca_btl_epofi_component.shared_contexts = shared;
}

static void mesh_open(const pair_t *pair)
{
    name_t mine[ENDPOINTS];

    memset(&mesh, 0, sizeof(mesh));
    mesh.rank = pair->rank;
    for (int i = 0; i < ENDPOINTS; ++i) {
        test_ep_open(&mesh.ep[i]);
        mesh.ep[i].on_message = expect_word;
        mesh.ep[i].module->ep_lost = count_loss;
        name_of(&mesh.ep[i], &mine[i]);
    }
    losses = 0;
    pair_exchange(pair, NULL, mine, mesh.names, sizeof(mine));
    for (int i = 0; i < ENDPOINTS; ++i) {
        for (int j = 0; j < ENDPOINTS; ++j) {
            TAP_EQ(OPAL_SUCCESS,
                   mesh.ep[i].module->ep_connect(mesh.ep[i].module, mesh.names[j].bytes,
                                                 mesh.names[j].length, &mesh.peers[i][j]));
        }
    }
}

static void mesh_progress(void)
{
    for (int i = 0; i < ENDPOINTS; ++i) {
        (void) test_ep_progress(&mesh.ep[i]);
    }
}

/** Receives of a list; operations of other kinds are none. */
static uint32_t receives_in(const mca_btl_epofi_slots_t *slots)
{
    uint32_t count = 0;

    for (const mca_btl_epofi_slot_t *slot = slots->head; NULL != slot; slot = slot->next) {
        count += NULL != slot->memory;
    }
    return count;
}

/** Modules that share have counted their receives, for which the context has buffers: no more. */
static void expect_receives(const test_ep_t *ep)
{
    const mca_btl_epofi_member_t *member = module_of(ep)->fi.member;

    if (NULL != member) {
        TAP_EQ(receives_in(&member->posted) + receives_in(&member->ready), member->receives);
    }
}

/** All endpoints that there are yet. */
static void mesh_end(void)
{
    for (int i = 0; i < ENDPOINTS; ++i) {
        if (NULL != mesh.ep[i].module) {
            test_ep_close(&mesh.ep[i]);
        }
    }
}

static void mesh_close(const pair_t *pair)
{
    for (int i = 0; i < ENDPOINTS; ++i) {
        pair_barrier(pair, &mesh.ep[i]);
    }
    TAP_EQ(0, losses);
    for (int i = 0; i < ENDPOINTS; ++i) {
        TAP_EQ(0, mca_btl_epofi_dropped(mesh.ep[i].module));
        expect_receives(&mesh.ep[i]);
    }
    mesh_end();
}

/** Say the n-th word from endpoint i to endpoint j, with so many bytes behind it, or as many as may be. */
static void say(int i, int j, unsigned int n, size_t more)
{
    static _Thread_local unsigned char payload[65536];
    const uint64_t number = word(mesh.rank, i, j, n);
    mca_btl_ep_module_t *module = mesh.ep[i].module;
    const size_t most = module->super.btl_eager_limit - sizeof(number);
    int rc;

    more = more < most ? more : most;

    memset(payload, (int) (number & 0xFF), more);
    while (OPAL_ERR_OUT_OF_RESOURCE
           == (rc = module->ep_send(module, mesh.peers[i][j], &number, sizeof(number), payload,
                                    more, MCA_BTL_EP_TAG))) {
        if (mesh.threads) {
            (void) test_ep_progress(&mesh.ep[i]);
        } else {
            mesh_progress(); /* the receiver there may be waiting for any of ours */
        }
    }
    TAP_EQ(OPAL_SUCCESS, rc);
}

static void expect_contexts(unsigned int own, unsigned int shared, unsigned int modules)
{
    unsigned int found_own, found_shared, found_modules;

    mca_btl_epofi_context_count(&found_own, &found_shared, &found_modules);
    TAP_EQ(own, found_own);
    TAP_EQ(shared, found_shared);
    TAP_EQ(modules, found_modules);
}

/** All endpoints to all, in turns, by one thread. */
static void talk(const pair_t *pair)
{
    enum { ROUNDS = 60 };

    mesh_open(pair);
    for (unsigned int n = 0; n < ROUNDS; ++n) {
        for (int i = 0; i < ENDPOINTS; ++i) {
            for (int j = 0; j < ENDPOINTS; ++j) {
                say(i, j, n, 0 == n % 20 ? 30000 : n % 7);
            }
        }
        mesh_progress();
    }
    for (int j = 0; j < ENDPOINTS; ++j) {
        while (mesh.ep[j].received < ROUNDS * ENDPOINTS) {
            mesh_progress();
        }
    }
}

static void run_one(const pair_t *pair)
{
    set_contexts(1, 1);
    talk(pair);
    expect_contexts(0, 1, ENDPOINTS);
    mesh_close(pair);
    expect_contexts(0, 0, 0);
}

static void run_two(const pair_t *pair)
{
    set_contexts(2, 1);
    talk(pair);
    expect_contexts(1, 1, ENDPOINTS - 1);
    mesh_close(pair);
}

static void run_three(const pair_t *pair)
{
    set_contexts(3, 3);
    talk(pair);
    expect_contexts(0, 3, ENDPOINTS);
    for (int i = 0; i < ENDPOINTS; ++i) {
        TAP_CHECK(2 >= module_of(&mesh.ep[i])->fi.member->share->count, "they are uneven");
    }
    mesh_close(pair);
}

/** One process shares, the other does not. */
static void run_mixed(const pair_t *pair)
{
    set_contexts(0 == pair->rank ? 1 : 0, 1);
    talk(pair);
    expect_contexts(0 == pair->rank ? 0 : ENDPOINTS, 0 == pair->rank ? 1 : 0,
                    0 == pair->rank ? ENDPOINTS : 0);
    mesh_close(pair);
}

/** An owner that is elsewhere gets all when it comes back, and holds up no other meanwhile. */
static void run_elsewhere(const pair_t *pair)
{
    const unsigned int many = 10 * mca_btl_epofi_component.recv_buffers;

    set_contexts(1, 1);
    mesh_open(pair);
    if (0 == pair->rank) {
        for (unsigned int n = 0; n < many; ++n) {
            say(0, 0, n, n % 3000);
        }
        for (unsigned int n = 0; n < many; ++n) {
            say(0, 1, n, 8);
        }
        pair_barrier(pair, &mesh.ep[0]);
    } else {
        test_ep_wait(&mesh.ep[1],
                     many); /* they came behind those for endpoint 0, which nobody reads */
        TAP_EQ(0, mesh.ep[0].received);
        pair_barrier(pair, &mesh.ep[1]);
        test_ep_wait(&mesh.ep[0], many);
    }
    mesh_close(pair);
}

/** Modules that come and go while others of the context talk. */
static void run_turns(const pair_t *pair)
{
    enum { TURNS = 20 };
    uint16_t numbers[TURNS];
    test_ep_t client;

    set_contexts(1, 1);
    mesh_open(pair);
    for (unsigned int n = 0; n < TURNS; ++n) {
        memset(&client, 0, sizeof(client));
        test_ep_open(&client);
        numbers[n] = module_of(&client)->fi.member->number;
        for (unsigned int before = 0; before < n; ++before) {
            TAP_CHECK(numbers[before] != numbers[n], "number %u again", numbers[n]);
        }
        expect_contexts(0, 1, ENDPOINTS + 1);
        test_ep_connect(pair, &client);
        say(1, 2, n, 5);
        send_number(&client, n);
        test_ep_wait(&client, 1);
        pair_barrier(pair, &client);
        if (0 == n % 2) {
            test_ep_disconnect(&client);
        }
        test_ep_close(&client);
    }
    test_ep_wait(&mesh.ep[2], TURNS);
    TAP_CHECK(NULL == module_of(&mesh.ep[0])->fi.member->share->gone, "a module that left stays");
    mesh_close(pair);
}

/** A message to a member that has left, to a free number, or with another's proof, is not read by
 * any. */
static void run_strange(const pair_t *pair)
{
    mca_btl_epofi_pair_t *to;

    set_contexts(1, 1);
    mesh_open(pair);
    for (int i = 0; i < ENDPOINTS; ++i) {
        pair_barrier(pair, &mesh.ep[i]);
    }
    if (0 == pair->rank) {
        pair_barrier(pair, &mesh.ep[0]);
        say(0, 3, 0, 0); /* it has left */
        to = mesh.peers[0][1]->pair;
        to->out.magic = mesh.peers[0][2]->pair->out.magic;
        say(0, 1, 0, 0); /* goes to endpoint 2, with the proof for endpoint 1 */
        to = mesh.peers[1][1]->pair;
        to->out.magic = (uint16_t) (EPOFI_WIRE_MAGIC + EPOFI_NUMBER_MOST);
        say(1, 1, 0, 0);
        to = mesh.peers[3][1]->pair;
        to->out.magic = EPOFI_WIRE_MAGIC; /* as if it shared with nobody */
        say(3, 1, 0, 0);
        say(2, 1, 0, 0); /* this one is right; all come by one connection, in order */
        pair_barrier(pair, &mesh.ep[0]);
    } else {
        mca_btl_epofi_share_t *share = module_of(&mesh.ep[0])->fi.member->share;
        const uint64_t before = share->dropped;

        test_ep_close(&mesh.ep[3]);
        pair_barrier(pair, &mesh.ep[0]);
        test_ep_wait(&mesh.ep[1], 1);
        pair_barrier(pair, &mesh.ep[1]);
        (void) test_ep_progress(&mesh.ep[2]);
        TAP_EQ(1, mesh.ep[1].received);
        TAP_EQ(1, mca_btl_epofi_dropped(mesh.ep[1].module)); /* the one to nobody's number */
        TAP_EQ(0, mesh.ep[2].received);
        TAP_EQ(1, mca_btl_epofi_dropped(mesh.ep[2].module));
        TAP_EQ(2, share->dropped - before);
    }
    mesh_end();
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { STREAM = 3000 };

/** The owner of an endpoint: streams to its like, and to the next one, and receives what they send. */
static void *own(void *argument)
{
    test_ep_t *ep = argument;
    const int i = (int) (ep - mesh.ep);

    for (unsigned int n = 0; n < STREAM; ++n) {
        say(i, i, n, n % 97);
        say(i, (i + 1) % ENDPOINTS, n, 0 == n % 500 ? 20000 : 3);
        if (0 == n % 8) {
            (void) test_ep_progress(ep);
        }
    }
    test_ep_wait(ep, 2 * STREAM);
    return NULL;
}

/** A thread for each endpoint, while another one makes modules and closes them. */
static void run_threads(const pair_t *pair)
{
    pthread_t threads[ENDPOINTS];

    set_contexts(2, 2);
    mesh_open(pair);
    mesh.threads = true;
    for (int i = 0; i < ENDPOINTS; ++i) {
        TAP_EQ(0, pthread_create(&threads[i], NULL, own, &mesh.ep[i]));
    }
    for (int n = 0; n < 50; ++n) {
        test_ep_t client = {.received = 0};

        test_ep_open(&client);
        (void) test_ep_progress(&client);
        test_ep_close(&client);
    }
    for (int i = 0; i < ENDPOINTS; ++i) {
        TAP_EQ(0, pthread_join(threads[i], NULL));
    }
    mesh_close(pair);
}

/* ---- alone ----------------------------------------------------------------------------------- */

/** A module that comes when all numbers are taken gets an error, and one that comes when one is
 * free again gets it. */
static void run_full(const pair_t *pair)
{
    static mca_btl_epofi_context_t contexts[EPOFI_NUMBER_MOST];
    static const mca_btl_epofi_address_t own;
    const mca_btl_epofi_fabric_t *fabric;
    mca_btl_epofi_context_t more;

    (void) pair;
    set_contexts(1, 1);
    opal_mutex_lock(&mca_btl_epofi_lock);
    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_fabric_acquire(&fabric));
    for (int i = 0; i < EPOFI_NUMBER_MOST; ++i) {
        TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_context_get(fabric, &own, &contexts[i]));
        TAP_EQ(i + 1, contexts[i].member->number);
    }
    TAP_EQ(OPAL_ERR_OUT_OF_RESOURCE, mca_btl_epofi_context_get(fabric, &own, &more));
    mca_btl_epofi_context_put(&contexts[7]);
    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_context_get(fabric, &own, &contexts[7]));
    TAP_EQ(8, contexts[7].member->number);
    for (int i = 0; i < EPOFI_NUMBER_MOST; ++i) {
        mca_btl_epofi_context_put(&contexts[i]);
    }
    expect_contexts(0, 0, 0);
    mca_btl_epofi_fabric_release();
    opal_mutex_unlock(&mca_btl_epofi_lock);
}

/** Does a receive that is asked to come back do so? */
static bool comes_back(const mca_btl_epofi_context_t *context, void *receive)
{
    struct fi_cq_err_entry error;
    struct fi_cq_msg_entry entry;
    ssize_t result = -FI_EAGAIN;

    (void) fi_cancel(&context->ep->fid, receive);
    while (-FI_EAGAIN == result) {
        result = fi_cq_read(context->cq, &entry, 1);
    }
    return -FI_EAVAIL == result && 1 == fi_cq_readerr(context->cq, &error, 0)
           && FI_ECANCELED == error.err && receive == error.op_context;
}

/** A buffer of the context's waits, so each member's receives do, whenever it asks. */
static void run_asked(const pair_t *pair)
{
    static const mca_btl_epofi_address_t own;
    static unsigned char memory[2][2][4096];
    const mca_btl_epofi_fabric_t *fabric;
    mca_btl_epofi_context_t contexts[2];

    (void) pair;
    set_contexts(1, 1);
    opal_mutex_lock(&mca_btl_epofi_lock);
    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_fabric_acquire(&fabric));
    for (int i = 0; i < 2; ++i) {
        TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_context_get(fabric, &own, &contexts[i]));
        for (int j = 0; j < 2; ++j) {
            TAP_EQ(0, fi_recv(contexts[i].ep, memory[i][j], sizeof(memory[i][j]), NULL,
                              FI_ADDR_UNSPEC, memory[i][j]));
        }
    }
    for (int n = 0; n < 4; ++n) { /* the first of one and of the other, then the last */
        TAP_CHECK(comes_back(&contexts[n % 2], memory[n % 2][n / 2]), "receive %d of member %d",
                  n / 2, n % 2);
    }
    for (int i = 0; i < 2; ++i) {
        TAP_EQ(0, contexts[i].member->receives);
        mca_btl_epofi_context_put(&contexts[i]);
    }
    mca_btl_epofi_fabric_release();
    opal_mutex_unlock(&mca_btl_epofi_lock);
}

/** A module that ends while the provider has something of it: its memory stays as long as the
 * context does. */
static int buried;

static void count_burial(void *object)
{
    TAP_CHECK(&buried == object, "another object");
    ++buried;
}

static void run_kept(const pair_t *pair)
{
    static const mca_btl_epofi_address_t own;
    const mca_btl_epofi_fabric_t *fabric;
    mca_btl_epofi_context_t first, second;

    (void) pair;
    set_contexts(1, 1);
    opal_mutex_lock(&mca_btl_epofi_lock);
    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_fabric_acquire(&fabric));
    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_context_get(fabric, &own, &first));
    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_context_get(fabric, &own, &second));
    TAP_EQ(true, mca_btl_epofi_context_drop(&second));
    first.member->under_way = 1; /* as if the provider had not ended it */
    TAP_EQ(false, mca_btl_epofi_context_drop(&first));
    mca_btl_epofi_context_keep(&first, count_burial, &buried);
    mca_btl_epofi_context_put(&first);
    TAP_EQ(0, buried);
    mca_btl_epofi_context_put(&second);
    TAP_EQ(1, buried);
    mca_btl_epofi_fabric_release();
    opal_mutex_unlock(&mca_btl_epofi_lock);
}

/** Two that were met at one host and port: the acceptor knows the one that was met last, also if it was
 * met before, and no address has been forgotten. */
static void run_met_again(const pair_t *pair)
{
    const struct sockaddr_in place = {.sin_family = AF_INET,
                                      .sin_port = htons(9),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static mca_btl_epofi_address_t own;
    mca_btl_epofi_callee_t first = {.order = 1, .name.length = sizeof(place)}, second;
    mca_btl_epofi_entry_t *entries[4];
    const mca_btl_epofi_fabric_t *fabric;
    const mca_btl_epofi_callee_t *known;
    mca_btl_epofi_listener_t listener;
    mca_btl_epofi_context_t context = {.member = NULL}; /* as in a module */

    (void) pair;
    memcpy(first.name.bytes, &place, sizeof(place));
    memset(&first.name.secret, 1, sizeof(first.name.secret));
    second = first;
    second.order = 2;
    memset(&second.name.secret, 2, sizeof(second.name.secret));
    mca_btl_epofi_listener_of(&place, &listener);
    set_contexts(0, 1);
    opal_mutex_lock(&mca_btl_epofi_lock);
    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_fabric_acquire(&fabric));
    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_context_get(fabric, &own, &context));
    TAP_CHECK(NULL != context.acceptor, "connections are not authenticated");
    TAP_EQ(1, mca_btl_epofi_av_insert(context.av_table, &first, &entries[0]));
    TAP_EQ(1, mca_btl_epofi_av_insert(context.av_table, &second, &entries[1]));
    known = mca_btl_epofi_acceptor_callee(context.acceptor, &listener);
    TAP_CHECK(known == &entries[1]->callee, "not the second one");
    TAP_EQ(1, mca_btl_epofi_av_insert(context.av_table, &first, &entries[2])); /* of long ago */
    known = mca_btl_epofi_acceptor_callee(context.acceptor, &listener);
    TAP_CHECK(known == &entries[1]->callee, "not the second one any more");
    first.order = 3;
    TAP_EQ(1, mca_btl_epofi_av_insert(context.av_table, &first, &entries[3]));
    TAP_CHECK(entries[0] == entries[3], "entered twice");
    known = mca_btl_epofi_acceptor_callee(context.acceptor, &listener);
    TAP_CHECK(known == &entries[0]->callee, "not the first one, which was met last");
    mca_btl_epofi_av_remove(context.av_table, entries[1]);
    known = mca_btl_epofi_acceptor_callee(context.acceptor, &listener);
    TAP_CHECK(known == &entries[0]->callee, "gone with the second one");
    mca_btl_epofi_av_remove(context.av_table, entries[0]);
    mca_btl_epofi_av_remove(context.av_table, entries[2]);
    mca_btl_epofi_av_remove(context.av_table, entries[3]);
    TAP_CHECK(NULL == mca_btl_epofi_acceptor_callee(context.acceptor, &listener), "it stays");
    mca_btl_epofi_context_put(&context);
    mca_btl_epofi_fabric_release();
    opal_mutex_unlock(&mca_btl_epofi_lock);
}

static void run_all(void)
{
    run_pair("one context", run_one);
    run_pair("two, one of them shared", run_two);
    run_pair("three, all shared", run_three);
    run_pair("with a module that does not share", run_mixed);
    run_pair("an owner that is elsewhere", run_elsewhere);
    run_pair("modules come and go", run_turns);
    if (0 == strcmp(provider, "tcp")) { /* over shm a packet may be in front, and numbers differ */
        run_pair("messages to nobody", run_strange);
        run_single("an address that is met again", run_met_again);
    }
    run_pair("threads", run_threads);
    run_single("as many as there may be", run_full);
    run_single("memory that the provider has", run_kept);
    run_single("receives that are asked to come back", run_asked);
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epofi_share", 200);
    run_providers(run_all);
    return tap_end();
}
