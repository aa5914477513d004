/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the tests of btl/epshm's node side share: a pair of processes, what they tell each other,
 * and the component opened in each of them without any MPI.
 *
 * Every case runs in two fresh processes, so that none inherits a segment.
 */

#ifndef EP_TEST_UNIT_TEST_EPSHM_NODE_H
#define EP_TEST_UNIT_TEST_EPSHM_NODE_H

#include "test_epshm.h"

#include "opal/datatype/opal_datatype.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

/** Bytes of a file system that is smaller than the segment; 0: as it is. */
static uint64_t folder_size;

/** In place of the C library's. */
int statvfs(const char *path, struct statvfs *result)
{
    (void) path;
    *result = (struct statvfs){.f_frsize = 4096};
    result->f_blocks = result->f_bavail = folder_size / 4096;
    return 0;
}

/** Likewise. */
int posix_fallocate(int fd, off_t offset, off_t size)
{
    if (0 < folder_size && (uint64_t) (offset + size) > folder_size) {
        return ENOSPC;
    }
    return 0 == fallocate(fd, 0, offset, size) ? 0 : errno;
}

/** One of the two processes of a case. */
typedef struct pair_t {
    int rank; /**< 0 or 1 */
    int fd;   /**< to the other one */
} pair_t;

/** What has arrived at a module; its ep_context. */
typedef struct test_ep_t {
    mca_btl_ep_module_t *module;
    struct mca_btl_base_endpoint_t *peer;
    uint64_t received;
    uint64_t seed; /**< of the sizes that are to come */
    size_t most;   /**< bytes of a message; 0: any are right */
} test_ep_t;

typedef struct name_t {
    size_t length;
    unsigned char bytes[MCA_BTL_EP_ADDRESS_MAX];
} name_t;

static uint64_t segment_size = UINT64_C(1) << 28;

/* ---- two processes --------------------------------------------------------------------------- */

static inline void tell(const pair_t *pair, const void *data, size_t size)
{
    TAP_CHECK((ssize_t) size == send(pair->fd, data, size, MSG_NOSIGNAL), "the other is gone");
}

static inline void hear(const pair_t *pair, void *data, size_t size)
{
    if ((ssize_t) size != recv(pair->fd, data, size, MSG_WAITALL)) {
        TAP_CHECK(false, "the other has ended");
        _exit(1);
    }
}

static inline void meet(const pair_t *pair)
{
    char byte = 'm';

    tell(pair, &byte, 1);
    hear(pair, &byte, 1);
}

/* ---- modules --------------------------------------------------------------------------------- */

static inline unsigned char pattern(uint64_t number, size_t i)
{
    return (unsigned char) (number * 37 + i * 11);
}

static inline size_t next_size(uint64_t *random, size_t most)
{
    return (size_t) tap_below(random, 0 == tap_below(random, 4) ? most + 1 : 120);
}

static inline void on_receive(mca_btl_base_module_t *btl,
                              const mca_btl_base_receive_descriptor_t *message)
{
    test_ep_t *ep = ((mca_btl_ep_module_t *) btl)->ep_context;
    const unsigned char *data = message->des_segments[0].seg_addr.pval;
    const size_t size = message->des_segments[0].seg_len;

    TAP_EQ(MCA_BTL_EP_TAG, message->tag);
    if (0 < ep->most) {
        TAP_EQ(next_size(&ep->seed, ep->most), size);
    }
    for (size_t i = 0; i < size; ++i) {
        if (pattern(ep->received, i) != data[i]) {
            TAP_CHECK(false, "message %llu, byte %zu of %zu is wrong",
                      (unsigned long long) ep->received, i, size);
            break;
        }
    }
    ++ep->received;
}

static inline void component_start(int rank)
{
    mca_base_component_t *version = &mca_btl_epshm_component.super.super.btl_version;

    TAP_EQ(OPAL_SUCCESS, opal_init_util(NULL, NULL));
    me_make(4711, rank);
    TAP_EQ(OPAL_SUCCESS, version->mca_register_component_params());
    TAP_EQ(OPAL_SUCCESS, version->mca_open_component());
    /* Not by the first threads that use them, together. */
    TAP_EQ(opal_class_init_epoch, OBJ_CLASS(mca_btl_epshm_frag_t)->cls_initialized);
    TAP_EQ(opal_class_init_epoch, OBJ_CLASS(epshm_node_frag_t)->cls_initialized);
    mca_btl_epshm_component.directory = folder;
    mca_btl_epshm_component.segment_size = segment_size;
    mca_btl_base_active_message_trigger[MCA_BTL_EP_TAG].cbfunc = on_receive;
}

static inline void component_stop(void)
{
    TAP_EQ(OPAL_SUCCESS, mca_btl_epshm_component.super.super.btl_version.mca_close_component());
}

static inline int test_ep_open(test_ep_t *ep)
{
    return mca_btl_epshm_component.super.ep_create(ep, MCA_BTL_EP_FLAG_NODE, &ep->module);
}

static inline void test_ep_close(test_ep_t *ep)
{
    TAP_EQ(OPAL_SUCCESS, ep->module->super.btl_finalize(&ep->module->super));
    ep->module = NULL;
}

static inline void test_ep_turn(test_ep_t *ep)
{
    if (0 == ep->module->ep_progress(ep->module)) {
        (void) sched_yield();
    }
}

static inline void name_of(const test_ep_t *ep, name_t *name)
{
    memset(name, 0, sizeof(*name));
    name->length = ep->module->ep_address_length;
    memcpy(name->bytes, ep->module->ep_address, name->length);
}

/** Open, and connect to the other's. */
static inline void test_ep_begin(const pair_t *pair, test_ep_t *ep, name_t *theirs)
{
    name_t mine;

    TAP_EQ(OPAL_SUCCESS, test_ep_open(ep));
    name_of(ep, &mine);
    tell(pair, &mine, sizeof(mine));
    hear(pair, theirs, sizeof(*theirs));
    TAP_EQ(OPAL_SUCCESS, ep->module->ep_reach(ep->module, theirs->bytes, theirs->length));
    meet(pair); /* each has mapped the other */
}

static inline void test_ep_connect(test_ep_t *ep, const name_t *theirs)
{
    TAP_EQ(OPAL_SUCCESS,
           ep->module->ep_connect(ep->module, theirs->bytes, theirs->length, &ep->peer));
}

/** Connect, and be as after some messages. */
static inline void test_ep_connect_pipe(test_ep_t *ep, const name_t *theirs)
{
    test_ep_connect(ep, theirs);
    TAP_CHECK(mca_btl_epshm_node_open_pipe((epshm_node_peer_t *) ep->peer), "no pipe");
}

static inline void test_ep_disconnect(test_ep_t *ep)
{
    ep->module->ep_disconnect(ep->module, ep->peer);
    ep->peer = NULL;
}

/** Message number of size bytes, by ep_send or as a descriptor.  @return as ep_send */
static inline int send_one(test_ep_t *ep, uint64_t number, size_t size)
{
    mca_btl_base_module_t *btl = &ep->module->super;
    mca_btl_base_descriptor_t *descriptor;
    unsigned char data[1 << 16];
    int rc;

    for (size_t i = 0; i < size; ++i) {
        data[i] = pattern(number, i);
    }
    if (0 == number % 3 && size <= btl->btl_max_send_size) {
        descriptor = btl->btl_alloc(btl, ep->peer, MCA_BTL_NO_ORDER, size, 0);
        if (NULL == descriptor) {
            return OPAL_ERR_OUT_OF_RESOURCE;
        }
        memcpy(descriptor->des_segments->seg_addr.pval, data, size);
        TAP_CHECK(NULL == btl->btl_alloc(btl, ep->peer, MCA_BTL_NO_ORDER, 8, 0),
                  "two descriptors for the same place");
        if (0 == number % 2) { /* thought better of it, once */
            TAP_EQ(OPAL_SUCCESS, btl->btl_free(btl, descriptor));
            return ep->module->ep_send(ep->module, ep->peer, data, size / 2, data + size / 2,
                                       size - size / 2, MCA_BTL_EP_TAG);
        }
        rc = btl->btl_send(btl, ep->peer, descriptor, MCA_BTL_EP_TAG);
        if (0 > rc) {
            (void) btl->btl_free(btl, descriptor);
        }
        return 0 > rc ? rc : OPAL_SUCCESS;
    }
    return ep->module->ep_send(ep->module, ep->peer, data, size / 2, data + size / 2,
                               size - size / 2, MCA_BTL_EP_TAG);
}

/** Seconds, of a clock. */
static inline double now(clockid_t clock)
{
    struct timespec time_of;

    (void) clock_gettime(clock, &time_of);
    return (double) time_of.tv_sec + 1e-9 * (double) time_of.tv_nsec;
}

/** Of the own segment. */
static inline void own_path(char *path, size_t size)
{
    uint64_t stamp = 0, bytes;
    char *made;

    TAP_EQ(OPAL_SUCCESS, mca_btl_epshm_segment_open(&stamp, &bytes));
    made = mca_btl_epshm_segment_path(&me.proc_name, stamp);
    snprintf(path, size, "%s", made);
    free(made);
}

/** As send_one, but never by a descriptor, for which an area is taken. */
static inline int send_whole(test_ep_t *ep, uint64_t number, size_t size)
{
    unsigned char data[1024];

    for (size_t i = 0; i < size; ++i) {
        data[i] = pattern(number, i);
    }
    return ep->module->ep_send(ep->module, ep->peer, data, size / 2, data + size / 2,
                               size - size / 2, MCA_BTL_EP_TAG);
}

/** Bytes of memory that the own segment takes. */
static inline uint64_t memory_taken(void)
{
    struct stat stat_of;
    char path[160];

    own_path(path, sizeof(path));
    TAP_EQ(0, stat(path, &stat_of));
    return (uint64_t) stat_of.st_blocks * 512;
}

/* ---- the whole ------------------------------------------------------------------------------- */

typedef void (*case_fn_t)(const pair_t *pair);

static inline pid_t start(case_fn_t run, int rank, const int fds[2])
{
    const pair_t pair = {.rank = rank, .fd = fds[rank]};
    pid_t pid = fork();

    if (0 == pid) {
        close(fds[1 - rank]);
        tap_limit(60);
        component_start(rank);
        run(&pair);
        component_stop();
        fflush(NULL);
        _exit(tap_case_failed() ? 1 : 0);
    }
    return pid;
}

/** @param[in] killed  rank 1 kills itself */
static inline void run_pair(const char *name, case_fn_t run, bool killed)
{
    int fds[2], status[2] = {-1, -1};
    pid_t pids[2];

    tap_case("%s", name);
    TAP_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
    fflush(NULL);
    for (int rank = 0; rank < 2; ++rank) {
        pids[rank] = start(run, rank, fds);
    }
    close(fds[0]);
    close(fds[1]);
    for (int rank = 0; rank < 2; ++rank) {
        (void) waitpid(pids[rank], &status[rank], 0);
    }
    TAP_EQ(0, status[0]);
    TAP_CHECK(killed ? WIFSIGNALED(status[1]) && SIGKILL == WTERMSIG(status[1]) : 0 == status[1],
              "process 1 ended with status 0x%x", (unsigned int) status[1]);
    tap_case_done();
}

/** Killed processes leave their files here, which the launcher would remove. */
static inline int pairs_end(void)
{
    char left[160];

    snprintf(left, sizeof(left), "rm -f %s/epshm.* && rmdir %s", folder, folder);
    tap_case("and nothing else is left");
    TAP_EQ(0, system(left));
    tap_case_done();
    return tap_end();
}

#endif /* EP_TEST_UNIT_TEST_EPSHM_NODE_H */
