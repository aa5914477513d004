/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Life and death of btl/epofi's modules: many of them, many rounds of them, two of them in one
 * process with a thread each, wrong parameters and addresses, a peer that dies.  Providers as in
 * test_epofi.c.
 *
 * Guards: btl/epofi
 */

#include "test_epofi.h"

#include <dirent.h>
#include <pthread.h>
#include <time.h>

static size_t entries(const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder);

    if (NULL != dir) {
        while (NULL != readdir(dir)) {
            ++count;
        }
        closedir(dir);
    }
    return count;
}

/** Do the allocations of this process stay with a tool that watches them? */
static bool is_watched(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return TAP_SANITIZED || (NULL != preloaded && NULL != strstr(preloaded, "vgpreload"));
}

/** Resident memory, bytes. */
static size_t resident(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (NULL != file) {
        if (1 != fscanf(file, "%*u %lu", &pages)) {
            pages = 0;
        }
        fclose(file);
    }
    return pages * (size_t) sysconf(_SC_PAGESIZE);
}

/** Files that this process has in /dev/shm: the provider names them after the process. */
static size_t shared_files(void)
{
    char prefix[32];
    size_t count = 0;
    DIR *dir = opendir("/dev/shm");
    struct dirent *entry;

    snprintf(prefix, sizeof(prefix), "%d:", (int) getpid());
    while (NULL != dir && NULL != (entry = readdir(dir))) {
        count += 0 == strncmp(entry->d_name, prefix, strlen(prefix)) ? 1 : 0;
    }
    if (NULL != dir) {
        closedir(dir);
    }
    return count;
}

/** One progress call each, and one chance for the peer's process. */
static void progress_all(test_ep_t *eps, int count)
{
    for (int i = 0; i < count; ++i) {
        TAP_CHECK(0 <= eps[i].module->ep_progress(eps[i].module), "ep_progress");
    }
    (void) sched_yield();
}

static void case_many(const pair_t *pair)
{
    enum { MOST = 64 };
    /* The regions of shm take 4 MiB each. */
    const int count = 0 == strcmp(provider, "shm") ? 12 : MOST;
    test_ep_t eps[MOST] = {{0}};
    uint64_t number = 42;
    int done;

    for (int i = 0; i < count; ++i) {
        test_ep_open(&eps[i]);
        for (int j = 0; j < i; ++j) {
            TAP_CHECK(eps[i].module->ep_address_length != eps[j].module->ep_address_length
                          || 0
                                 != memcmp(eps[i].module->ep_address, eps[j].module->ep_address,
                                           eps[i].module->ep_address_length),
                      "modules %d and %d have the same address", i, j);
        }
    }
    for (int i = 0; i < count; ++i) {
        test_ep_connect(pair, &eps[i]);
    }
    for (int i = 0; i < count; ++i) {
        int rc;

        while (OPAL_ERR_OUT_OF_RESOURCE
               == (rc = eps[i].module->ep_send(eps[i].module, eps[i].peer, &number, sizeof(number),
                                               NULL, 0, MCA_BTL_EP_TAG))) {
            /* The peer of this module may be waiting for another of ours. */
            progress_all(eps, count);
        }
        TAP_EQ(OPAL_SUCCESS, rc);
    }
    do {
        done = 0;
        progress_all(eps, count);
        for (int i = 0; i < count; ++i) {
            done += 1 == eps[i].received ? 1 : 0;
        }
    } while (done < count);
    pair_barrier(pair, &eps[0]);
    for (int i = 0; i < count; ++i) {
        test_ep_disconnect(&eps[i]);
        test_ep_close(&eps[i]);
    }
}

static void case_rounds(const pair_t *pair)
{
    enum { ROUNDS = 200, WARM = 40 };
    test_ep_t keeper = {0};
    size_t fds = 0;
    size_t memory = 0;
    unsigned char payload[3000] = {0};

    /* One module that stays, connected to all those that come and go in the other process. */
    test_ep_open(&keeper);
    if (0 != strcmp(provider, "tcp")) {
        /* A question to a peer that closes may crash in libfabric's shm: docs/limits.md. */
        mca_btl_epofi_component.confirm = 0;
    }
    for (int round = 0; round < ROUNDS; ++round) {
        test_ep_t ep = {0};
        name_t mine;
        name_t theirs;

        test_ep_open(&ep);
        test_ep_connect(pair, &ep);
        name_of(&ep, &mine);
        pair_exchange(pair, &ep, &mine, &theirs, sizeof(mine));
        TAP_EQ(OPAL_SUCCESS,
               keeper.module->ep_connect(keeper.module, theirs.bytes, theirs.length, &keeper.peer));
        for (int i = 0; i < 3; ++i) {
            TAP_EQ(OPAL_SUCCESS, test_ep_send(&ep, payload, 8, payload, 1000 * (size_t) i));
        }
        test_ep_wait(&ep, 3);
        /* Both keepers send, so both endpoints must be progressed while they connect. */
        while (OPAL_SUCCESS
               != keeper.module->ep_send(keeper.module, keeper.peer, payload, 8, NULL, 0,
                                         MCA_BTL_EP_TAG)) {
            (void) test_ep_progress(&keeper);
            (void) test_ep_progress(&ep);
        }
        test_ep_wait(&ep, 4);
        pair_barrier(pair, &keeper);
        test_ep_disconnect(&keeper);
        test_ep_end(&ep);
        if (WARM == round) {
            fds = entries("/proc/self/fd");
            memory = resident();
        }
    }
    pair_barrier(pair, &keeper);
    (void) test_ep_progress(&keeper);
    TAP_CHECK(entries("/proc/self/fd") <= fds + 4, "file descriptors: %zu, then %zu", fds,
              entries("/proc/self/fd"));
    TAP_CHECK(is_watched() || resident() < memory + (1 << 20), "memory: %zu bytes, then %zu",
              memory, resident());
    test_ep_close(&keeper);
    TAP_EQ(0, shared_files());
}

/** The order in which the two threads of a case get on. */
typedef struct duo_t {
    test_ep_t eps[2];
    pthread_barrier_t barrier;
    unsigned char memory[100000];
    struct mca_btl_base_registration_handle_t *handle;
    int got;
} duo_t;

typedef struct player_t {
    duo_t *duo;
    int index;
} player_t;

static void duo_got(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                    void *local_address, struct mca_btl_base_registration_handle_t *local_handle,
                    void *context, void *cbdata, int status)
{
    (void) btl;
    (void) endpoint;
    (void) local_address;
    (void) local_handle;
    (void) cbdata;
    TAP_EQ(OPAL_SUCCESS, status);
    ((duo_t *) context)->got = 1;
}

/** Progress until the peer has got to the same point. */
static void duo_meet(duo_t *duo, test_ep_t *me, uint64_t *messages)
{
    TAP_EQ(OPAL_SUCCESS, test_ep_send(me, messages, sizeof(*messages), NULL, 0));
    ++*messages;
    test_ep_wait(me, *messages);
    (void) duo;
}

static void *play(void *argument)
{
    const player_t *player = argument;
    duo_t *duo = player->duo;
    test_ep_t *me = &duo->eps[player->index];
    test_ep_t *other = &duo->eps[1 - player->index];
    mca_btl_base_module_t *btl;
    unsigned char copy[sizeof(duo->memory)];
    uint64_t messages = 0;

    test_ep_open(me);
    btl = &me->module->super;
    pthread_barrier_wait(&duo->barrier);
    TAP_EQ(OPAL_SUCCESS, me->module->ep_connect(me->module, other->module->ep_address,
                                                other->module->ep_address_length, &me->peer));
    for (int i = 0; i < 200; ++i) {
        duo_meet(duo, me, &messages);
    }
    if (0 == player->index) {
        memset(duo->memory, 0x5A, sizeof(duo->memory));
        duo->handle = btl->btl_register_mem(btl, me->peer, duo->memory, sizeof(duo->memory),
                                            MCA_BTL_REG_FLAG_REMOTE_READ);
    }
    duo_meet(duo, me, &messages);
    if (1 == player->index) {
        TAP_EQ(OPAL_SUCCESS,
               btl->btl_get(btl, me->peer, copy, (uint64_t) (uintptr_t) duo->memory, NULL,
                            duo->handle, sizeof(copy), 0, MCA_BTL_NO_ORDER, duo_got, duo, NULL));
        while (0 == duo->got) {
            (void) test_ep_progress(me);
        }
        TAP_CHECK(0 == memcmp(copy, duo->memory, sizeof(copy)), "the get's data");
    }
    duo_meet(duo, me, &messages);
    if (0 == player->index) {
        TAP_EQ(OPAL_SUCCESS, btl->btl_deregister_mem(btl, duo->handle));
    }
    /* Each process ends when it likes: neither waits for the other's end. */
    test_ep_end(me);
    return NULL;
}

static void case_threads(const pair_t *pair)
{
    (void) pair;
    for (int round = 0; round < 20; ++round) {
        duo_t *duo = calloc(1, sizeof(*duo));
        player_t players[2] = {{duo, 0}, {duo, 1}};
        pthread_t threads[2];

        pthread_barrier_init(&duo->barrier, NULL, 2);
        for (int i = 0; i < 2; ++i) {
            pthread_create(&threads[i], NULL, play, &players[i]);
        }
        for (int i = 0; i < 2; ++i) {
            pthread_join(threads[i], NULL);
        }
        pthread_barrier_destroy(&duo->barrier);
        free(duo);
    }
    TAP_EQ(0, shared_files());
}

static void case_self(const pair_t *pair)
{
    test_ep_t ep = {0};
    struct mca_btl_base_endpoint_t *again;
    unsigned char payload[5000] = {0};

    (void) pair;
    test_ep_open(&ep);
    TAP_EQ(OPAL_SUCCESS, ep.module->ep_connect(ep.module, ep.module->ep_address,
                                               ep.module->ep_address_length, &ep.peer));
    TAP_EQ(OPAL_SUCCESS, ep.module->ep_connect(ep.module, ep.module->ep_address,
                                               ep.module->ep_address_length, &again));
    TAP_CHECK(again == ep.peer, "two endpoints for one address");
    for (int i = 0; i < 100; ++i) {
        TAP_EQ(OPAL_SUCCESS, test_ep_send(&ep, payload, 8, payload, 40 * (size_t) i));
    }
    test_ep_wait(&ep, 100);
    ep.module->ep_disconnect(ep.module, again);
    TAP_EQ(OPAL_SUCCESS, test_ep_send(&ep, payload, 8, NULL, 0));
    test_ep_wait(&ep, 101);
    test_ep_end(&ep);
}

static void case_addresses(const pair_t *pair)
{
    test_ep_t ep = {0};
    mca_btl_epofi_address_t good;
    mca_btl_epofi_address_t bad;
    struct mca_btl_base_endpoint_t *endpoint = NULL;
    size_t length;

    (void) pair;
    test_ep_open(&ep);
    length = ep.module->ep_address_length;
    memcpy(&good, ep.module->ep_address, sizeof(good));
    for (size_t cut = 0; cut < length; ++cut) {
        TAP_EQ(OPAL_ERR_BAD_PARAM, ep.module->ep_connect(ep.module, &good, cut, &endpoint));
    }
    TAP_EQ(OPAL_ERR_BAD_PARAM, ep.module->ep_connect(ep.module, &good, length + 1, &endpoint));
    TAP_EQ(OPAL_ERR_BAD_PARAM, ep.module->ep_connect(ep.module, &good, SIZE_MAX, &endpoint));
    bad = good;
    ++bad.magic;
    TAP_EQ(OPAL_ERR_BAD_PARAM, ep.module->ep_connect(ep.module, &bad, length, &endpoint));
    bad = good;
    ++bad.version;
    TAP_EQ(OPAL_ERR_BAD_PARAM, ep.module->ep_connect(ep.module, &bad, length, &endpoint));
    bad = good;
    bad.flags ^= 2;
    TAP_EQ(OPAL_ERR_BAD_PARAM, ep.module->ep_connect(ep.module, &bad, length, &endpoint));
    bad = good;
    bad.flags
        ^= EPOFI_ADDRESS_AUTHENTICATED; /* a peer that does what we do not do, or does not what we
                                           do */
    TAP_EQ(OPAL_ERR_UNREACH, ep.module->ep_connect(ep.module, &bad, length, &endpoint));
    TAP_EQ(0 == strcmp(provider, "tcp") ? EPOFI_ADDRESS_AUTHENTICATED : 0, good.flags);
    bad = good;
    bad.bytes[0] = FI_ADDR_STR == good.format ? 0 : bad.bytes[0] + 1;
    TAP_EQ(OPAL_ERR_BAD_PARAM, ep.module->ep_connect(ep.module, &bad, length, &endpoint));
    bad = good;
    ++bad.provider;
    TAP_EQ(OPAL_ERR_UNREACH, ep.module->ep_connect(ep.module, &bad, length, &endpoint));
    TAP_CHECK(NULL == endpoint, "an endpoint in spite of an error");
    test_ep_close(&ep);
}

static void case_component(const pair_t *pair)
{
    mca_btl_epofi_component_t *component = &mca_btl_epofi_component;
    mca_base_component_t *version = &component->super.super.btl_version;
    const unsigned int recv_buffers = component->recv_buffers;
    char *chosen = component->provider;
    int num_btls = 7;
    test_ep_t ep = {0};

    (void) pair;
    TAP_EQ(MCA_BTL_EP_ABI, component->super.ep_abi);
    TAP_CHECK(NULL == component->super.super.btl_init(&num_btls, false, true),
              "btl_init gives modules");
    TAP_EQ(0, num_btls);

    component->recv_buffers = 1;
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, component->super.ep_create(NULL, 0, &ep.module));
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, component->super.ep_create(NULL, 0, &ep.module));
    component->recv_buffers = recv_buffers;
    version->mca_close_component();
    version->mca_open_component();

    component->provider = "no such provider";
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, component->super.ep_create(NULL, 0, &ep.module));
    component->provider = chosen;
    version->mca_close_component();
    version->mca_open_component();

    /* Open MPI closes the component in the middle of things; the module goes on. */
    test_ep_open(&ep);
    version->mca_close_component();
    TAP_EQ(OPAL_SUCCESS, ep.module->ep_connect(ep.module, ep.module->ep_address,
                                               ep.module->ep_address_length, &ep.peer));
    TAP_EQ(OPAL_SUCCESS, test_ep_send(&ep, "12345678", 8, NULL, 0));
    test_ep_wait(&ep, 1);
    test_ep_end(&ep);
    version->mca_open_component();
    test_ep_open(&ep);
    test_ep_close(&ep);
}

static int bad_ends;

static void count_bad_end(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                          mca_btl_base_descriptor_t *descriptor, int status)
{
    (void) btl;
    (void) endpoint;
    (void) descriptor;
    bad_ends += OPAL_SUCCESS == status ? 0 : 1;
}

/** A process ends without a word while messages to it wait. */
static void case_death(const pair_t *pair)
{
    test_ep_t ep = {0};
    unsigned char payload[8000] = {0};
    mca_btl_base_module_t *btl;
    int sent = 0;

    test_ep_open(&ep);
    btl = &ep.module->super;
    test_ep_connect(pair, &ep);
    TAP_EQ(OPAL_SUCCESS, test_ep_send(&ep, payload, 8, NULL, 0));
    test_ep_wait(&ep, 1);
    pair_barrier(pair, &ep);
    if (1 == pair->rank) {
        usleep(200000);
        _exit(0);
    }
    ep.module->ep_lost = count_loss;
    for (;;) {
        mca_btl_base_descriptor_t *descriptor = btl->btl_alloc(btl, ep.peer, MCA_BTL_NO_ORDER,
                                                               sizeof(payload),
                                                               MCA_BTL_DES_FLAGS_BTL_OWNERSHIP);
        int rc;

        if (NULL == descriptor) {
            (void) test_ep_progress(&ep);
            continue;
        }
        descriptor->des_cbfunc = count_bad_end;
        rc = btl->btl_send(btl, ep.peer, descriptor, MCA_BTL_EP_TAG);
        if (OPAL_SUCCESS == rc) {
            ++sent;
            continue;
        }
        btl->btl_free(btl, descriptor);
        if (OPAL_ERR_UNREACH == rc) {
            break;
        }
        TAP_EQ(OPAL_ERR_OUT_OF_RESOURCE, rc);
        (void) test_ep_progress(&ep);
    }
    TAP_CHECK(1 <= losses, "the loss of the peer was not reported");
    TAP_CHECK(0 < bad_ends, "%d sent, and none of them failed", sent);
    TAP_EQ(OPAL_ERR_UNREACH,
           ep.module->ep_send(ep.module, ep.peer, payload, 8, NULL, 0, MCA_BTL_EP_TAG));
    test_ep_end(&ep);
}

/** On a context that others may share, which hands on what the provider says of an operation. */
static void case_death_shared(const pair_t *pair)
{
    mca_btl_epofi_component.max_contexts = mca_btl_epofi_component.shared_contexts = 1;
    case_death(pair);
}

/** Nobody has ever listened at an address: sending goes on being refused, and in the end it is
 * given up, which is reported. */
static void case_silence(const pair_t *pair)
{
    test_ep_t ep = {0};
    test_ep_t gone = {0};
    name_t name;

    (void) pair;
    mca_btl_epofi_component.linger = 3600000; /* nothing is under way that the end could wait for */
    test_ep_open(&ep);
    ep.module->ep_lost = count_loss;
    losses = 0;
    test_ep_open(&gone);
    name_of(&gone, &name);
    test_ep_close(&gone);
    TAP_EQ(OPAL_SUCCESS, ep.module->ep_connect(ep.module, name.bytes, name.length, &ep.peer));
    while (!ep.peer->failed) {
        TAP_EQ(0, losses);
        (void) ep.module->ep_send(ep.module, ep.peer, "12345678", 8, NULL, 0, MCA_BTL_EP_TAG);
        (void) test_ep_progress(&ep);
        usleep(1000);
    }
    TAP_CHECK(0 < losses, "the loss was not reported");
    test_ep_end(&ep);
}

/** A probe is answered that the peer is not there (tcp: any more), and not of one that is; a peer
 * that is given up takes nothing any more. */
static void case_ask(const pair_t *pair)
{
    test_ep_t ep = {0};
    test_ep_t other = {0};
    name_t name;
    uint64_t start;

    (void) pair;
    test_ep_open(&ep);
    test_ep_open(&other);
    ep.module->ep_lost = count_loss;
    losses = 0;
    name_of(&other, &name);
    TAP_EQ(OPAL_SUCCESS, ep.module->ep_connect(ep.module, name.bytes, name.length, &ep.peer));
    start = mca_btl_epofi_now();
    for (int i = 0; mca_btl_epofi_now() - start < 200000000u; ++i) {
        ep.module->ep_check_liveness(ep.module, ep.peer, 0 == i % 2);
        (void) test_ep_progress(&ep);
        (void) test_ep_progress(&other);
    }
    TAP_EQ(0, losses);
    TAP_EQ(0, other.received);
    if (0 == strcmp(provider, "tcp")) {
        test_ep_close(&other);
        while (0 == losses) {
            ep.module->ep_check_liveness(ep.module, ep.peer, true);
            (void) test_ep_progress(&ep);
        }
    } else {
        ep.module->ep_abandon(ep.module, ep.peer);
    }
    TAP_EQ(OPAL_ERR_UNREACH,
           ep.module->ep_send(ep.module, ep.peer, "12345678", 8, NULL, 0, MCA_BTL_EP_TAG));
    test_ep_disconnect(&ep);
    if (NULL != other.module) {
        test_ep_close(&other);
    }
    test_ep_close(&ep);
}

/** So many peers with which nothing has been exchanged are connected to for being asked, and no
 * more, however often; the descriptors are those of their connections. */
static void case_quiet(const pair_t *pair)
{
    enum { PEERS = 8, MOST = 3 };
    struct mca_btl_base_endpoint_t *peers[PEERS];
    test_ep_t ep = {0}, others[PEERS] = {0};
    name_t name;
    int asked = 0;

    (void) pair;
    mca_btl_epofi_component.quiet = MOST;
    test_ep_open(&ep);
    for (int i = 0; i < PEERS; ++i) {
        test_ep_open(&others[i]);
        name_of(&others[i], &name);
        TAP_EQ(OPAL_SUCCESS, ep.module->ep_connect(ep.module, name.bytes, name.length, &peers[i]));
    }
    for (int round = 0; round < 2000; ++round) {
        for (int i = 0; i < PEERS; ++i) {
            ep.module->ep_check_liveness(ep.module, peers[i], true);
            (void) test_ep_progress(&others[i]);
        }
        (void) test_ep_progress(&ep);
    }
    for (int i = 0; i < PEERS; ++i) {
        asked += 0 != peers[i]->pair->out.sequence;
        ep.module->ep_disconnect(ep.module, peers[i]);
    }
    TAP_EQ(MOST, asked);
    for (int i = 0; i < PEERS; ++i) {
        test_ep_close(&others[i]);
    }
    test_ep_close(&ep);
}

static void run_all(void)
{
    run_single("parameters, opening and closing", case_component);
    run_single("addresses from strangers", case_addresses);
    run_single("a module talks to itself", case_self);
    run_single("two modules of one process, a thread each", case_threads);
    run_single("asking whether a peer is there", case_ask);
    run_single("asking many", case_quiet);
    run_pair("many modules", case_many);
    run_pair("200 rounds of modules", case_rounds);
    if (0 == strcmp(provider, "tcp")) {
        /* shm has no way to find out. */
        run_pair("a peer dies", case_death);
        run_pair("a peer dies, contexts are shared", case_death_shared);
        run_single("a peer that is not there", case_silence);
    }
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epofi_life", 60);
    run_providers(run_all);
    return tap_end();
}
