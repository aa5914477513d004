/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Connections to a module of btl/epofi: hellos that are right, wrong, cut, slow, or another
 * module's; another listener at the port of one that is gone; and users of libfabric in the same
 * process that know nothing of all this.  Over tcp on the loopback interface; strangers are plain
 * sockets of the test.
 *
 * Guards: common_ep_keyed.h, common_ep_slots.h, btl_epofi_handshake.c, btl_epofi_keyed.h, btl_epofi_slots.c,
 * btl_epofi_calls.c, btl_epofi_connector.c
 */

#define _GNU_SOURCE

#include "test_epofi.h"

#include "opal/mca/btl/epofi/sockets/btl_epofi_handshake.h"

#include "../lib/tcp_hello.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <limits.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

static const mca_btl_epofi_address_t *own(const test_ep_t *ep)
{
    return (const mca_btl_epofi_address_t *) ep->module->ep_address;
}

static uint64_t refused(const test_ep_t *ep)
{
    return mca_btl_epofi_acceptor_refused(module_of(ep)->fi.acceptor);
}

static int dial(const test_ep_t *ep)
{
    const mca_btl_epofi_address_t *address = own(ep);
    int fd = socket(((const struct sockaddr *) address->bytes)->sa_family,
                    SOCK_STREAM | SOCK_CLOEXEC, 0);

    TAP_EQ(0, connect(fd, (const struct sockaddr *) address->bytes, address->length));
    return fd;
}

static void say(int fd, const void *bytes, size_t size)
{
    TAP_EQ(size, send(fd, bytes, size, MSG_NOSIGNAL));
}

/** Drive the module for so many turns, and see what comes.
 * @return bytes, at most size; -1: the connection has ended */
static ssize_t hear(test_ep_t *ep, int fd, void *bytes, size_t size, int turns)
{
    size_t got = 0;

    for (int i = 0; i < turns && got < size; ++i) {
        ssize_t n = recv(fd, (char *) bytes + got, size - got, MSG_DONTWAIT);

        if (0 == n || (0 > n && EAGAIN != errno)) {
            return -1;
        }
        got += 0 < n ? (size_t) n : 0;
        (void) test_ep_progress(ep);
        usleep(100);
    }
    return (ssize_t) got;
}

/** Values of an implementation of its own (Python), checked with the paper's vectors. */
static void case_words(const pair_t *pair)
{
    const mca_btl_epofi_secret_t secret = {
        {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};
    const uint64_t words[3] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908),
                               UINT64_C(0x1716151413121110)};

    (void) pair;
    TAP_CHECK(UINT64_C(0x93f5f5799a932462) == mca_btl_epofi_keyed_words(&secret, words, 1), "8");
    TAP_CHECK(UINT64_C(0x3f2acc7f57c29bdb) == mca_btl_epofi_keyed_words(&secret, words, 2), "16");
    TAP_CHECK(UINT64_C(0xb8ad50c6f649af94) == mca_btl_epofi_keyed_words(&secret, words, 3), "24");
}

static void expect_answer(test_ep_t *ep, int fd, const mca_btl_epofi_hello_t *hello)
{
    const mca_btl_epofi_answer_t right = mca_btl_epofi_answer_make(&own(ep)->secret, hello->nonce);
    mca_btl_epofi_answer_t answer = {0};

    TAP_EQ(sizeof(answer), hear(ep, fd, &answer, sizeof(answer), INT_MAX));
    TAP_CHECK(0 == memcmp(&right, &answer, sizeof(answer)), "the answer is wrong");
}

/** A right hello is answered, in whatever pieces it comes. */
static void case_right(const pair_t *pair)
{
    mca_btl_epofi_hello_t hello;
    test_ep_t ep = {0};
    int fd;

    (void) pair;
    test_ep_open(&ep);
    for (size_t piece = 1; piece <= sizeof(hello); piece += 1 == piece ? 10 : 21) {
        fd = dial(&ep);
        TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_hello_make(&own(&ep)->secret, &hello));
        for (size_t at = 0; at < sizeof(hello); at += piece) {
            char nothing;

            TAP_EQ(0, hear(&ep, fd, &nothing, 1, 3));
            say(fd, (const char *) &hello + at,
                piece < sizeof(hello) - at ? piece : sizeof(hello) - at);
        }
        expect_answer(&ep, fd, &hello);
        close(fd);
    }
    TAP_EQ(0, refused(&ep));
    test_ep_close(&ep);
}

/** Say this, and no more: it ends at once, without an answer. */
static void expect_end(test_ep_t *ep, const void *bytes, size_t size)
{
    const uint64_t before = refused(ep);
    int fd = dial(ep);
    char nothing;

    say(fd, bytes, size);
    TAP_EQ(-1, hear(ep, fd, &nothing, 1, 10000));
    TAP_EQ(before + 1, refused(ep));
    close(fd);
}

/** What is wrong ends, each with its own reason; one for another module is wrong, too. */
static void case_wrong(const pair_t *pair)
{
    static const char request[] = "GET / HTTP/1.0\r\n\r\n";
    mca_btl_epofi_hello_t good, bad;
    test_ep_t ep = {0}, other = {0};
    const tcp_hello_t hello = tcp_hello(1);

    (void) pair;
    test_ep_open(&ep);
    test_ep_open(&other);
    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_hello_make(&own(&ep)->secret, &good));
    for (unsigned int bit = 0; bit < 8 * sizeof(good); ++bit) {
        bad = good;
        ((unsigned char *) &bad)[bit / 8] ^= (unsigned char) (1u << bit % 8);
        expect_end(&ep, &bad, sizeof(bad));
    }
    expect_end(&other, &good, sizeof(good));
    expect_end(&ep, request, sizeof(request) - 1);
    expect_end(&ep, &hello, sizeof(hello)); /* libfabric's own, without ours */
    expect_end(&ep, &hello, 1);
    test_ep_close(&other);
    test_ep_close(&ep);
}

/** Likewise one that is cut short by its end; one that says nothing at all is not counted. */
static void case_cut(const pair_t *pair)
{
    mca_btl_epofi_hello_t hello;
    test_ep_t ep = {0};

    (void) pair;
    test_ep_open(&ep);
    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_hello_make(&own(&ep)->secret, &hello));
    for (size_t size = 0; size < sizeof(hello); ++size) {
        int fd = dial(&ep);

        if (0 < size) {
            say(fd, &hello, size);
        }
        close(fd);
        for (int i = 0; i < 10000 && refused(&ep) < size; ++i) {
            (void) test_ep_progress(&ep);
        }
        TAP_EQ(size, refused(&ep));
    }
    test_ep_close(&ep);
}

static int descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 1024; ++fd) {
        count += 0 <= fcntl(fd, F_GETFD);
    }
    return count;
}

/** One that greets and ends before libfabric's request: its descriptor is not kept. */
static void case_brief(const pair_t *pair)
{
    enum { COUNT = 8 };
    mca_btl_epofi_hello_t hello;
    test_ep_t ep = {0};
    int before;

    (void) pair;
    test_ep_open(&ep);
    before = descriptors();
    for (int i = 0; i < COUNT; ++i) {
        int fd = dial(&ep);

        TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_hello_make(&own(&ep)->secret, &hello));
        say(fd, &hello, sizeof(hello));
        if (0 == i % 2) {
            expect_answer(&ep, fd, &hello);
        }
        close(fd);
        for (int turn = 0; turn < 100; ++turn) {
            (void) test_ep_progress(&ep);
        }
    }
    TAP_EQ(before, descriptors());
    test_ep_close(&ep);
}

/** Say so much of a hello, and no more. */
static void stay_silent(const test_ep_t *ep, int fds[], int count, size_t said)
{
    mca_btl_epofi_hello_t hello;

    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_hello_make(&own(ep)->secret, &hello));
    for (int i = 0; i < count; ++i) {
        fds[i] = dial(ep);
        say(fds[i], &hello, i < count / 2 ? said : 0);
    }
}

/** Many connections that say nothing, or half a hello: when there are too many the oldest are
 * closed; and a hello gets through all the time.  A silent connection is not called a stranger;
 * and one that has authenticated, and says no more, is never closed. */
static void case_silent(const pair_t *pair)
{
    enum { MOST = 100, MANY = 2 * MOST };
    static int fds[MANY];
    mca_btl_epofi_hello_t hello;
    struct rlimit limit;
    test_ep_t ep = {0};
    int open = MANY, kept;
    char nothing;

    (void) pair;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < 4 * MANY ? limit.rlim_max : 4 * MANY;
    setrlimit(RLIMIT_NOFILE, &limit);
    mca_btl_epofi_component.unproven = MOST;
    test_ep_open(&ep);
    kept = dial(&ep);
    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_hello_make(&own(&ep)->secret, &hello));
    say(kept, &hello, sizeof(hello));
    expect_answer(&ep, kept, &hello);
    stay_silent(&ep, fds, MANY, sizeof(hello) / 2);
    while (MOST < open) {
        int fd = dial(&ep);

        TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_hello_make(&own(&ep)->secret, &hello));
        say(fd, &hello, sizeof(hello));
        expect_answer(&ep, fd, &hello);
        close(fd);
        open = 0;
        for (int i = 0; i < MANY; ++i) {
            open += 0 > recv(fds[i], &nothing, 1, MSG_DONTWAIT) && EAGAIN == errno;
        }
        usleep(10000);
    }
    for (int turn = 0; turn < 1000; ++turn) {
        (void) test_ep_progress(&ep);
        usleep(10);
    }
    TAP_EQ(MOST, refused(&ep)); /* the first half, which has said half a hello */
    TAP_CHECK(0 > recv(kept, &nothing, 1, MSG_DONTWAIT) && EAGAIN == errno, "it has been closed");
    close(kept);
    for (int i = 0; i < MANY; ++i) {
        close(fds[i]);
    }
    test_ep_close(&ep);
}

/** A port of the test's, and the address of a member that is said to listen there. */
static int listen_as(const test_ep_t *ep, uint64_t number, int backlog,
                     mca_btl_epofi_address_t *address)
{
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(here);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    TAP_EQ(0, bind(listener, (struct sockaddr *) &here, size));
    TAP_EQ(0, listen(listener, backlog));
    TAP_EQ(0, getsockname(listener, (struct sockaddr *) &here, &size));
    *address = *own(ep);
    address->id += number;
    address->secret.word[0] += number;
    memcpy(address->bytes, &here, sizeof(here));
    return listener;
}

static struct mca_btl_base_endpoint_t *connect_to(test_ep_t *ep, mca_btl_epofi_address_t *address)
{
    struct mca_btl_base_endpoint_t *peer = NULL;

    TAP_EQ(OPAL_SUCCESS, ep->module->ep_connect(ep->module, address,
                                                EPOFI_ADDRESS_FIXED + address->length, &peer));
    return peer;
}

/** Begin to connect: nothing can be sent yet. */
static void begin(test_ep_t *ep)
{
    TAP_EQ(OPAL_ERR_OUT_OF_RESOURCE,
           ep->module->ep_send(ep->module, ep->peer, "12345678", 8, NULL, 0, MCA_BTL_EP_TAG));
}

/** What a module says on a connection that it has made: a hello, and libfabric's request. */
static void expect_hello(test_ep_t *ep, int fd, const mca_btl_epofi_secret_t *secret,
                         mca_btl_epofi_hello_t *hello)
{
    unsigned char said[sizeof(*hello) + sizeof(tcp_hello_t) + 1] = {0};

    TAP_EQ(sizeof(said) - 1, hear(ep, fd, said, sizeof(said), 1000));
    memcpy(hello, said, sizeof(*hello));
    TAP_CHECK(mca_btl_epofi_hello_is_right(secret, hello), "it has not authenticated");
}

/** Another process listens where one has gone: it gets a hello, which it cannot use, and
 * libfabric's own data, but no message. */
static void case_impostor(const pair_t *pair)
{
    mca_btl_epofi_address_t address;
    mca_btl_epofi_hello_t hello;
    mca_btl_epofi_answer_t answer;
    test_ep_t ep = {0};
    int listener, fd;
    char nothing;

    (void) pair;
    test_ep_open(&ep);
    listener = listen_as(&ep, 1, 4, &address);
    ep.peer = connect_to(&ep, &address);
    begin(&ep);
    fd = accept(listener, NULL, NULL);
    expect_hello(&ep, fd, &address.secret, &hello);
    answer = mca_btl_epofi_answer_make(&own(&ep)->secret, hello.nonce); /* not that secret */
    say(fd, &answer, sizeof(answer));
    TAP_EQ(-1, hear(&ep, fd, &nothing, 1, 10000));
    close(fd);
    close(listener);
    test_ep_end(&ep);
}

static uint16_t port_of(int fd, int (*name)(int, struct sockaddr *, socklen_t *))
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof(address);

    (void) name(fd, (struct sockaddr *) &address, &size);
    return address.sin_port;
}

/** The peer is given up while its connection is being made, which takes until it is retried, as its
 * listener has no room before: it is authenticated all the same when it stands. */
static void case_forgotten(const pair_t *pair)
{
    mca_btl_epofi_address_t address;
    mca_btl_epofi_hello_t hello;
    test_ep_t ep = {0};
    int listener, fd = -1, fillers[2];

    (void) pair;
    test_ep_open(&ep);
    listener = listen_as(&ep, 1, 0, &address);
    for (int i = 0; i < 2; ++i) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void) connect(fillers[i], (struct sockaddr *) address.bytes, address.length);
    }
    ep.peer = connect_to(&ep, &address);
    begin(&ep);
    test_ep_disconnect(&ep);
    TAP_CHECK(NULL == mca_btl_epofi_pair_find(module_of(&ep), address.id)->endpoint,
              "it is still known");
    (void) fcntl(listener, F_SETFL, O_NONBLOCK);
    while (0 > fd) {
        (void) test_ep_progress(&ep);
        fd = accept(listener, NULL, NULL);
        for (int i = 0; i < 2 && 0 <= fd; ++i) {
            if (port_of(fd, getpeername) == port_of(fillers[i], getsockname)) {
                close(fd);
                fd = -1;
            }
        }
    }
    expect_hello(&ep, fd, &address.secret, &hello);
    close(fd);
    close(fillers[0]);
    close(fillers[1]);
    close(listener);
    test_ep_close(&ep);
}

/** One has gone, and another one has got its port.  That the first one is sent something more, in
 * vain, does not take the second one's secret away. */
static void case_same_port(const pair_t *pair)
{
    mca_btl_epofi_address_t first, second;
    mca_btl_epofi_hello_t hello;
    struct mca_btl_base_endpoint_t *again;
    test_ep_t ep = {0};
    int listener, fd;

    (void) pair;
    test_ep_open(&ep);
    listener = listen_as(&ep, 1, 4, &first);
    second = first;
    ++second.id;
    ++second.secret.word[0];
    ep.peer = connect_to(&ep, &first);
    test_ep_disconnect(&ep);
    ep.peer = connect_to(&ep, &second);
    again = mca_btl_epofi_endpoint_again(module_of(&ep),
                                         mca_btl_epofi_pair_find(module_of(&ep), first.id));
    for (int i = 0; i < 2; ++i) {
        begin(&ep);
        fd = accept(listener, NULL, NULL);
        expect_hello(&ep, fd, &second.secret, &hello);
        close(fd);
        for (int turn = 0; turn < 100; ++turn) {
            (void) test_ep_progress(&ep);
        }
        if (0 == i) {
            mca_btl_epofi_endpoint_retire(again);
        }
    }
    close(listener);
    test_ep_end(&ep);
}

/** A context of somebody else's in this process, by the book. */
typedef struct other_t {
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
} other_t;

static void other_open(const mca_btl_epofi_fabric_t *fabric, other_t *other)
{
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE};

    TAP_EQ(0, fi_domain(fabric->fabric, fabric->info, &other->domain, NULL));
    TAP_EQ(0, fi_av_open(other->domain, &av_attr, &other->av, NULL));
    TAP_EQ(0, fi_cq_open(other->domain, &cq_attr, &other->cq, NULL));
    TAP_EQ(0, fi_endpoint(other->domain, fabric->info, &other->ep, NULL));
    TAP_EQ(0, fi_ep_bind(other->ep, &other->av->fid, 0));
    TAP_EQ(0, fi_ep_bind(other->ep, &other->cq->fid, FI_TRANSMIT | FI_RECV));
    TAP_EQ(0, fi_enable(other->ep));
}

static void other_close(other_t *other)
{
    (void) fi_close(&other->ep->fid);
    (void) fi_close(&other->cq->fid);
    (void) fi_close(&other->av->fid);
    (void) fi_close(&other->domain->fid);
}

/** Other users of libfabric's tcp in this process communicate with each other as before. */
static void case_others(const pair_t *pair)
{
    test_ep_t ep = {0};
    other_t a, b;
    unsigned char name[64], words[8] = "1234567", read[64] = "";
    size_t length = sizeof(name);
    struct fi_cq_msg_entry entry;
    fi_addr_t to;
    ssize_t sent = -FI_EAGAIN, got;

    (void) pair;
    test_ep_open(&ep);
    other_open(module_of(&ep)->fabric, &a);
    other_open(module_of(&ep)->fabric, &b);
    TAP_EQ(0, fi_getname(&b.ep->fid, name, &length));
    TAP_EQ(1, fi_av_insert(a.av, name, 1, &to, 0, NULL));
    TAP_EQ(0, fi_recv(b.ep, read, sizeof(read), NULL, FI_ADDR_UNSPEC, NULL));
    do {
        if (-FI_EAGAIN == sent) {
            sent = fi_inject(a.ep, words, sizeof(words), to);
        }
        (void) fi_cq_read(a.cq, &entry, 1);
        got = fi_cq_read(b.cq, &entry, 1);
    } while (-FI_EAGAIN == got);
    TAP_EQ(0, sent);
    TAP_EQ(1, got);
    TAP_CHECK(0 == memcmp(words, read, sizeof(words)), "something else has come");
    other_close(&a);
    other_close(&b);
    test_ep_close(&ep);
}

/* ---- several threads ------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 12 };

typedef struct worker_t {
    name_t *names;
    pthread_barrier_t *barrier;
    int number;
} worker_t;

/** Modules come and go, and connect to those of all the others at once. */
static void *work(void *context)
{
    worker_t *worker = context;

    for (int round = 0; round < ROUNDS; ++round) {
        test_ep_t ep = {0};
        struct mca_btl_base_endpoint_t *peers[THREADS];

        test_ep_open(&ep);
        name_of(&ep, &worker->names[worker->number]);
        (void) pthread_barrier_wait(worker->barrier);
        for (int i = 1; i < THREADS; ++i) {
            name_t *name = &worker->names[(worker->number + i) % THREADS];

            TAP_EQ(OPAL_SUCCESS,
                   ep.module->ep_connect(ep.module, name->bytes, name->length, &peers[i]));
            ep.peer = peers[i];
            TAP_EQ(OPAL_SUCCESS, test_ep_send(&ep, "12345678", 8, NULL, 0));
        }
        test_ep_wait(&ep, THREADS - 1);
        TAP_EQ(0, refused(&ep));
        for (int i = 1; i < THREADS; ++i) {
            ep.module->ep_disconnect(ep.module, peers[i]);
        }
        while (!ep.module->ep_pending(ep.module) && 0 < module_of(&ep)->inflight) {
            (void) test_ep_progress(&ep);
        }
        (void) pthread_barrier_wait(worker->barrier);
        test_ep_close(&ep);
    }
    return NULL;
}

static void case_threads(const pair_t *pair)
{
    name_t names[THREADS];
    worker_t workers[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t barrier;

    (void) pair;
    (void) pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; ++i) {
        workers[i] = (worker_t){names, &barrier, i};
        TAP_EQ(0, pthread_create(&threads[i], NULL, work, &workers[i]));
    }
    for (int i = 0; i < THREADS; ++i) {
        (void) pthread_join(threads[i], NULL);
    }
}

/** Over a provider that uses libfabric's tcp in a way of its own nobody greets, and all connect. */
static void case_layered(const pair_t *pair)
{
    test_ep_t ep = {0};

    test_ep_open(&ep);
    TAP_CHECK(NULL == module_of(&ep)->fi.acceptor, "connections are authenticated");
    test_ep_connect(pair, &ep);
    TAP_EQ(OPAL_SUCCESS, test_ep_send(&ep, "12345678", 8, NULL, 0));
    test_ep_wait(&ep, 1);
    pair_barrier(pair, &ep);
    test_ep_end(&ep);
}

/** Other jobs of this machine connect to ports that were their peers' once.  They do not reach a
 * network of this test's own.  (Without the right to make one they are refused, and counted.) */
static void network_unshare(void)
{
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    int fd;

    if (0 == unshare(CLONE_NEWNET)) {
        fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        TAP_EQ(0, ioctl(fd, SIOCSIFFLAGS, &loopback));
        close(fd);
    }
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epofi_handshake", 60);
    network_unshare();
    run_single("SipHash of several words", case_words);
    run_single("right hellos", case_right);
    run_single("wrong hellos", case_wrong);
    run_single("hellos cut short", case_cut);
    run_single("authenticated, and gone", case_brief);
    run_single("silence", case_silent);
    run_single("an impostor", case_impostor);
    run_single("a peer forgotten while it is connected to", case_forgotten);
    run_single("two peers at one port", case_same_port);
    run_single("other users of libfabric", case_others);
    run_single("modules of several threads", case_threads);
    provider = "tcp;ofi_rxm";
    seconds_per_case = 10;
    run_pair("no hellos", case_layered);
    return tap_end();
}
