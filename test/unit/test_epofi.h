/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the tests of btl/epofi share: a pair of processes that exchange addresses through pipes, and
 * the component opened in each of them without any MPI.
 *
 * Every case runs in two fresh processes, so that neither libfabric nor Open MPI's utilities are
 * ever used by both processes of a fork.
 */

#ifndef EP_TEST_UNIT_TEST_EPOFI_H
#define EP_TEST_UNIT_TEST_EPOFI_H

#include "opal_config.h"

#include "opal/mca/btl/epofi/proto/btl_epofi_liveness.h"
#include "opal/mca/btl/epofi/peer/btl_epofi_endpoint.h"
#include "opal/mca/btl/epofi/proto/btl_epofi_discard.h"
#include "opal/mca/btl/epofi/object/btl_epofi_pair.h"
#include "opal/mca/btl/epofi/object/btl_epofi_types.h"

#include "opal/datatype/opal_convertor.h"
#include "opal/datatype/opal_datatype.h"
#include "opal/mca/accelerator/base/base.h"
#include "opal/runtime/opal.h"

#include "tap.h"

#include <poll.h>
#include <sched.h>
#include <sys/wait.h>

/** One of the two processes of a case. */
typedef struct pair_t {
    int rank; /**< 0 or 1 */
    int in;   /**< pipe from the other one */
    int out;  /**< pipe to the other one */
} pair_t;

/** What a module's messages do; ep_context of all modules of the tests. */
typedef struct test_ep_t {
    uint64_t received; /**< messages */
    uint64_t bytes;
    /** What to do with a message, besides counting it. */
    void (*on_message)(struct test_ep_t *ep, const unsigned char *data, size_t length);
    void *state; /**< on_message's */
    mca_btl_ep_module_t *module;
    struct mca_btl_base_endpoint_t *peer;
} test_ep_t;

static const char *provider = "tcp";
static const char *interface = "lo";
static unsigned int seconds_per_case = 60; /**< of CPU time */

static inline void on_receive(mca_btl_base_module_t *btl,
                              const mca_btl_base_receive_descriptor_t *message)
{
    test_ep_t *ep = ((mca_btl_ep_module_t *) btl)->ep_context;

    TAP_EQ(1, message->des_segment_count);
    TAP_EQ(MCA_BTL_EP_TAG, message->tag);
    ++ep->received;
    ep->bytes += message->des_segments[0].seg_len;
    if (NULL != ep->on_message) {
        ep->on_message(ep, message->des_segments[0].seg_addr.pval,
                       message->des_segments[0].seg_len);
    }
}

static inline void component_start(void)
{
    mca_base_component_t *version = &mca_btl_epofi_component.super.super.btl_version;

    setenv("OMPI_MCA_pml", "epml", 1); /* as a user of endpoints would */
    setenv("OMPI_MCA_btl_epofi_provider", provider, 1);
    setenv("OMPI_MCA_btl_epofi_interface", interface, 1);
    TAP_EQ(OPAL_SUCCESS, opal_init_util(NULL, NULL));
    /* Convertors ask where memory lies, so somebody must answer. */
    TAP_EQ(OPAL_SUCCESS,
           mca_base_framework_open(&opal_accelerator_base_framework, MCA_BASE_OPEN_DEFAULT));
    TAP_EQ(OPAL_SUCCESS, opal_accelerator_base_select());
    TAP_EQ(OPAL_SUCCESS, opal_datatype_init());
    TAP_EQ(OPAL_SUCCESS, version->mca_register_component_params());
    TAP_EQ(OPAL_SUCCESS, version->mca_open_component());
    mca_btl_base_active_message_trigger[MCA_BTL_EP_TAG].cbfunc = on_receive;
}

static inline void component_stop(void)
{
    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_component.super.super.btl_version.mca_close_component());
    (void) mca_base_framework_close(&opal_accelerator_base_framework);
    (void) opal_finalize_util();
}

/** Make the module of an endpoint.  Without one a test cannot go on. */
static inline void test_ep_open(test_ep_t *ep)
{
    int rc = mca_btl_epofi_component.super.ep_create(ep, MCA_BTL_EP_FLAG_NONE, &ep->module);

    if (OPAL_SUCCESS != rc) {
        TAP_CHECK(false, "ep_create: %d", rc);
        _exit(1);
    }
}

static inline void test_ep_close(test_ep_t *ep)
{
    TAP_EQ(OPAL_SUCCESS, ep->module->super.btl_finalize(&ep->module->super));
    ep->module = NULL;
}

static inline int test_ep_progress(test_ep_t *ep)
{
    int rc = ep->module->ep_progress(ep->module);

    TAP_CHECK(0 <= rc, "ep_progress: %d", rc);
    if (0 == rc) {
        (void) sched_yield(); /* the peer may be waiting for this core */
    }
    return rc;
}

/** Send, trying again while there is no room. */
static inline int test_ep_send(test_ep_t *ep, const void *header, size_t header_size,
                               const void *payload, size_t payload_size)
{
    int rc;

    while (OPAL_ERR_OUT_OF_RESOURCE
           == (rc = ep->module->ep_send(ep->module, ep->peer, header, header_size, payload,
                                        payload_size, MCA_BTL_EP_TAG))) {
        (void) test_ep_progress(ep);
    }
    return rc;
}

static inline void test_ep_wait(test_ep_t *ep, uint64_t messages)
{
    while (ep->received < messages) {
        (void) test_ep_progress(ep);
    }
}

/** Write and read the same number of bytes; ep (may be NULL) is progressed meanwhile, as the
 * peer may need it to get that far. */
static inline void pair_exchange(const pair_t *pair, test_ep_t *ep, const void *mine, void *theirs,
                                 size_t size)
{
    struct pollfd readable = {.fd = pair->in, .events = POLLIN};
    size_t got = 0;

    TAP_CHECK((ssize_t) size == write(pair->out, mine, size), "write to the pipe");
    while (got < size) {
        ssize_t n;

        while (NULL != ep && 0 == poll(&readable, 1, 0)) {
            (void) test_ep_progress(ep);
        }
        n = read(pair->in, (char *) theirs + got, size - got);
        if (0 >= n) {
            TAP_CHECK(false, "the other process has ended");
            _exit(1);
        }
        got += (size_t) n;
    }
}

static inline void pair_barrier(const pair_t *pair, test_ep_t *ep)
{
    char mine = 'b';
    char theirs = 0;

    pair_exchange(pair, ep, &mine, &theirs, 1);
}

typedef struct name_t {
    size_t length;
    unsigned char bytes[MCA_BTL_EP_ADDRESS_MAX];
} name_t;

static inline void name_of(const test_ep_t *ep, name_t *name)
{
    memset(name, 0, sizeof(*name));
    name->length = ep->module->ep_address_length;
    memcpy(name->bytes, ep->module->ep_address, name->length);
}

/** Connect to the other process's endpoint. */
static inline void test_ep_connect(const pair_t *pair, test_ep_t *ep)
{
    name_t mine;
    name_t theirs;

    name_of(ep, &mine);
    pair_exchange(pair, NULL, &mine, &theirs, sizeof(mine));
    TAP_EQ(OPAL_SUCCESS,
           ep->module->ep_connect(ep->module, theirs.bytes, theirs.length, &ep->peer));
}

static inline void test_ep_disconnect(test_ep_t *ep)
{
    ep->module->ep_disconnect(ep->module, ep->peer);
    ep->peer = NULL;
}

/** What test_ep_open and test_ep_connect have begun. */
static inline void test_ep_end(test_ep_t *ep)
{
    test_ep_disconnect(ep);
    test_ep_close(ep);
}

/* ---- losses, and messages that are numbers --------------------------------------------------- */

static inline mca_btl_epofi_module_t *module_of(const test_ep_t *ep)
{
    return (mca_btl_epofi_module_t *) ep->module;
}

static int losses;

static inline bool count_loss(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint)
{
    (void) module;
    TAP_CHECK(NULL != endpoint, "nobody is lost");
    ++losses;
    return false; /* nothing is reported to the user */
}

/** Open and connect; losses are counted from here on. */
static inline void start(const pair_t *pair, test_ep_t *ep)
{
    losses = 0;
    test_ep_open(ep);
    ep->module->ep_lost = count_loss;
    test_ep_connect(pair, ep);
}

static inline void send_number(test_ep_t *ep, uint64_t number)
{
    TAP_EQ(OPAL_SUCCESS, test_ep_send(ep, &number, sizeof(number), NULL, 0));
}

/** An on_message: numbers come in order; state is that of the next. */
static inline void expect_next(test_ep_t *ep, const unsigned char *data, size_t length)
{
    uint64_t *next = ep->state;
    uint64_t number = 0;

    TAP_EQ(sizeof(number), length);
    memcpy(&number, data, sizeof(number));
    TAP_EQ(*next, number);
    ++*next;
}

/* ---- cases ----------------------------------------------------------------------------------- */

typedef void (*case_fn_t)(const pair_t *pair);

static inline pid_t pair_fork(case_fn_t run, const pair_t *pair, int close_a, int close_b)
{
    pid_t pid = fork();

    if (0 == pid) {
        close(close_a);
        close(close_b);
        tap_limit(seconds_per_case);
        component_start();
        run(pair);
        component_stop();
        fflush(NULL);
        exit(tap_case_failed() ? 1 : 0);
    }
    return pid;
}

/** Run a case as two processes. */
static inline void run_pair(const char *name, case_fn_t run)
{
    int a[2];
    int b[2];
    pid_t pids[2];
    int status;

    tap_case("%s %s: %s", provider, interface, name);
    tap_limit(seconds_per_case + 10);
    if (0 != pipe(a) || 0 != pipe(b)) {
        TAP_CHECK(false, "pipe");
        tap_case_done();
        return;
    }
    fflush(NULL);
    pids[0] = pair_fork(run, &(pair_t){0, a[0], b[1]}, a[1], b[0]);
    pids[1] = pair_fork(run, &(pair_t){1, b[0], a[1]}, a[0], b[1]);
    close(a[0]);
    close(a[1]);
    close(b[0]);
    close(b[1]);
    for (int left = 2; 0 < left; --left) {
        pid_t pid = waitpid(-1, &status, 0);

        if (0 == status) {
            continue;
        }
        TAP_CHECK(false, "process %d ended with status 0x%x", pid == pids[0] ? 0 : 1,
                  (unsigned int) status);
        if (2 == left) {
            kill(pid == pids[0] ? pids[1] : pids[0], SIGTERM); /* it would wait in vain */
        }
    }
    tap_case_done();
}

/** Run a case in one process. */
static inline void run_single(const char *name, case_fn_t run)
{
    int status = 0;
    pid_t pid;

    tap_case("%s %s: %s", provider, interface, name);
    tap_limit(seconds_per_case + 10);
    fflush(NULL);
    pid = pair_fork(run, &(pair_t){0, -1, -1}, -1, -1);
    (void) waitpid(pid, &status, 0);
    TAP_EQ(0, status);
    tap_case_done();
}

/** Run all cases over each provider, or over that of the environment. */
static inline void run_providers(void (*run_all)(void))
{
    if (NULL != getenv("EPT_EPOFI_PROVIDER")) {
        provider = getenv("EPT_EPOFI_PROVIDER");
        interface = getenv("EPT_EPOFI_INTERFACE");
        interface = NULL == interface ? "" : interface;
        run_all();
        return;
    }
    run_all();
    provider = "shm";
    interface = "";
    run_all();
}

#endif /* EP_TEST_UNIT_TEST_EPOFI_H */
