/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * The node side of btl/epshm as pml/epml uses it, between two processes and without any MPI: order,
 * the end of endpoints and processes, killed ones included, memory that is used again and memory
 * that runs out.
 *
 * Every case runs in two fresh processes, so that none inherits a segment.  One long file: the
 * cases are short, and share the pair of processes and its traffic.
 */

#include "opal_config.h"

#include "opal/mca/btl/epshm/btl_epshm_node.h"

#include "opal/datatype/opal_datatype.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/runtime/opal.h"
#include "opal/util/proc.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include <linux/magic.h>

/* There is no launcher to remove files: in place of Open MPI's own, which would ask one. */
int opal_pmix_register_cleanup(char *path, bool directory, bool ignore, bool jobscope)
{
    (void) path;
    (void) directory;
    (void) ignore;
    (void) jobscope;
    return OPAL_SUCCESS;
}

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
typedef struct side_t {
    mca_btl_ep_module_t *module;
    struct mca_btl_base_endpoint_t *peer;
    uint64_t received;
    uint64_t seed; /**< of the sizes that are to come */
    size_t most;   /**< bytes of a message; 0: any are right */
} side_t;

typedef struct name_t {
    size_t length;
    unsigned char bytes[MCA_BTL_EP_ADDRESS_MAX];
} name_t;

static char folder[64];
static opal_proc_t me;
static uint64_t segment_size = UINT64_C(1) << 28;

/* ---- two processes --------------------------------------------------------------------------- */

static void tell(const pair_t *pair, const void *data, size_t size)
{
    TAP_CHECK((ssize_t) size == send(pair->fd, data, size, MSG_NOSIGNAL), "the other is gone");
}

static void hear(const pair_t *pair, void *data, size_t size)
{
    if ((ssize_t) size != recv(pair->fd, data, size, MSG_WAITALL)) {
        TAP_CHECK(false, "the other has ended");
        _exit(1);
    }
}

static void meet(const pair_t *pair)
{
    char byte = 'm';

    tell(pair, &byte, 1);
    hear(pair, &byte, 1);
}

/* ---- modules --------------------------------------------------------------------------------- */

static unsigned char pattern(uint64_t number, size_t i)
{
    return (unsigned char) (number * 37 + i * 11);
}

static size_t next_size(uint64_t *random, size_t most)
{
    return (size_t) tap_below(random, 0 == tap_below(random, 4) ? most + 1 : 120);
}

static void on_receive(mca_btl_base_module_t *btl,
                       const mca_btl_base_receive_descriptor_t *message)
{
    side_t *side = ((mca_btl_ep_module_t *) btl)->ep_context;
    const unsigned char *data = message->des_segments[0].seg_addr.pval;
    const size_t size = message->des_segments[0].seg_len;

    TAP_EQ(MCA_BTL_EP_TAG, message->tag);
    if (0 < side->most) {
        TAP_EQ(next_size(&side->seed, side->most), size);
    }
    for (size_t i = 0; i < size; ++i) {
        if (pattern(side->received, i) != data[i]) {
            TAP_CHECK(false, "message %llu, byte %zu of %zu is wrong",
                      (unsigned long long) side->received, i, size);
            break;
        }
    }
    ++side->received;
}

static void component_start(int rank)
{
    mca_base_component_t *version = &mca_btl_epshm_component.super.super.btl_version;

    TAP_EQ(OPAL_SUCCESS, opal_init_util(NULL, NULL));
    OBJ_CONSTRUCT(&me, opal_proc_t);
    me.proc_name = (opal_process_name_t){.jobid = 4711, .vpid = (opal_vpid_t) rank};
    (void) opal_proc_local_set(&me);
    TAP_EQ(OPAL_SUCCESS, version->mca_register_component_params());
    TAP_EQ(OPAL_SUCCESS, version->mca_open_component());
    /* Not by the first threads that use them, together. */
    TAP_EQ(opal_class_init_epoch, OBJ_CLASS(mca_btl_epshm_frag_t)->cls_initialized);
    TAP_EQ(opal_class_init_epoch, OBJ_CLASS(epshm_node_frag_t)->cls_initialized);
    mca_btl_epshm_component.directory = folder;
    mca_btl_epshm_component.segment_size = segment_size;
    mca_btl_base_active_message_trigger[MCA_BTL_EP_TAG].cbfunc = on_receive;
}

static void component_stop(void)
{
    TAP_EQ(OPAL_SUCCESS, mca_btl_epshm_component.super.super.btl_version.mca_close_component());
}

static int side_open(side_t *side)
{
    return mca_btl_epshm_component.super.ep_create(side, MCA_BTL_EP_FLAG_NODE, &side->module);
}

static void side_close(side_t *side)
{
    TAP_EQ(OPAL_SUCCESS, side->module->super.btl_finalize(&side->module->super));
    side->module = NULL;
}

static void side_turn(side_t *side)
{
    if (0 == side->module->ep_progress(side->module)) {
        (void) sched_yield();
    }
}

static void name_of(const side_t *side, name_t *name)
{
    memset(name, 0, sizeof(*name));
    name->length = side->module->ep_address_length;
    memcpy(name->bytes, side->module->ep_address, name->length);
}

/** Open, and connect to the other's. */
static void side_begin(const pair_t *pair, side_t *side, name_t *theirs)
{
    name_t mine;

    TAP_EQ(OPAL_SUCCESS, side_open(side));
    name_of(side, &mine);
    tell(pair, &mine, sizeof(mine));
    hear(pair, theirs, sizeof(*theirs));
    TAP_EQ(OPAL_SUCCESS, side->module->ep_reach(side->module, theirs->bytes, theirs->length));
    meet(pair); /* each has mapped the other */
}

static void side_connect(side_t *side, const name_t *theirs)
{
    TAP_EQ(OPAL_SUCCESS, side->module->ep_connect(side->module, theirs->bytes, theirs->length,
                                                  &side->peer));
}

static void side_disconnect(side_t *side)
{
    side->module->ep_disconnect(side->module, side->peer);
    side->peer = NULL;
}

/** Message number of size bytes, by ep_send or as a descriptor.  @return as ep_send */
static int send_one(side_t *side, uint64_t number, size_t size)
{
    mca_btl_base_module_t *btl = &side->module->super;
    mca_btl_base_descriptor_t *descriptor;
    unsigned char data[1 << 16];
    int rc;

    for (size_t i = 0; i < size; ++i) {
        data[i] = pattern(number, i);
    }
    if (0 == number % 3 && size <= btl->btl_max_send_size) {
        descriptor = btl->btl_alloc(btl, side->peer, MCA_BTL_NO_ORDER, size, 0);
        if (NULL == descriptor) {
            return OPAL_ERR_OUT_OF_RESOURCE;
        }
        memcpy(descriptor->des_segments->seg_addr.pval, data, size);
        TAP_CHECK(NULL == btl->btl_alloc(btl, side->peer, MCA_BTL_NO_ORDER, 8, 0),
                  "two descriptors for the same place");
        if (0 == number % 2) { /* thought better of it, once */
            TAP_EQ(OPAL_SUCCESS, btl->btl_free(btl, descriptor));
            return side->module->ep_send(side->module, side->peer, data, size / 2, data + size / 2,
                                         size - size / 2, MCA_BTL_EP_TAG);
        }
        rc = btl->btl_send(btl, side->peer, descriptor, MCA_BTL_EP_TAG);
        if (0 > rc) {
            (void) btl->btl_free(btl, descriptor);
        }
        return 0 > rc ? rc : OPAL_SUCCESS;
    }
    return side->module->ep_send(side->module, side->peer, data, size / 2, data + size / 2,
                                 size - size / 2, MCA_BTL_EP_TAG);
}

/** Seconds, of a clock. */
static double now(clockid_t clock)
{
    struct timespec time_of;

    (void) clock_gettime(clock, &time_of);
    return (double) time_of.tv_sec + 1e-9 * (double) time_of.tv_nsec;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void case_traffic(const pair_t *pair)
{
    const uint64_t count = 20000;
    side_t side = {.seed = tap_stream(1 - pair->rank), .most = 16384};
    uint64_t random = tap_stream((uint64_t) pair->rank);
    name_t theirs;

    side_begin(pair, &side, &theirs);
    side_connect(&side, &theirs);
    for (uint64_t number = 0; number < count; ++number) {
        const size_t size = next_size(&random, side.most);
        int rc;

        while (OPAL_ERR_OUT_OF_RESOURCE == (rc = send_one(&side, number, size))) {
            side_turn(&side);
        }
        TAP_EQ(OPAL_SUCCESS, rc);
    }
    while (side.received < count) {
        side_turn(&side);
    }
    TAP_EQ(count, side.received);
    meet(pair);
    side_disconnect(&side);
    side_close(&side);
}

/** Rank 1 sends and ends, in one of three ways; rank 0 looks only then. */
static void end_of_sender(const pair_t *pair, bool killed)
{
    side_t side = {.received = 0};
    name_t theirs;
    char byte;

    side_begin(pair, &side, &theirs);
    if (1 == pair->rank) {
        side_connect(&side, &theirs);
        for (uint64_t number = 0; number < 10; ++number) {
            TAP_EQ(OPAL_SUCCESS, send_one(&side, number, 700 * number));
        }
        if (killed) {
            (void) raise(SIGKILL);
        }
        side_disconnect(&side);
        side_close(&side);
        return;
    }
    TAP_EQ(0, recv(pair->fd, &byte, 1, 0)); /* it has ended, and its file is gone, if it could */
    for (int turn = 0; turn < 1000; ++turn) {
        (void) side.module->ep_progress(side.module);
    }
    TAP_EQ(10, side.received);
    TAP_EQ(killed ? 1 : 0, ((epshm_node_module_t *) side.module)->in_count);
    side_close(&side);
}

static void case_end(const pair_t *pair)
{
    end_of_sender(pair, false);
}

static void case_killed(const pair_t *pair)
{
    end_of_sender(pair, true);
}

/** Rank 1 takes nothing and ends; rank 0 sends until it notices. */
static void end_of_receiver(const pair_t *pair, bool killed)
{
    side_t side = {.received = 0};
    uint64_t sent = 0, tries = 0;
    name_t theirs;
    int rc = OPAL_SUCCESS;
    char byte;

    side_begin(pair, &side, &theirs);
    if (1 == pair->rank) {
        if (killed) {
            (void) raise(SIGKILL);
        }
        hear(pair, &byte, 1); /* the pipe is full */
        side_close(&side);
        meet(pair);
        meet(pair);
        return;
    }
    side_connect(&side, &theirs);
    while (OPAL_SUCCESS == rc) {
        rc = send_one(&side, 1, 8);
        sent += OPAL_SUCCESS == rc;
    }
    TAP_EQ(mca_btl_epshm_component.pipe_cells, sent);
    TAP_EQ(OPAL_ERR_OUT_OF_RESOURCE, rc);
    if (killed) {
        (void) recv(pair->fd, &byte, 1, 0);
    } else {
        tell(pair, "x", 1);
        meet(pair);
    }
    /* The kernel may be still at ending the process when it has closed its socket. */
    for (const double closed = now(CLOCK_MONOTONIC);
         OPAL_ERR_OUT_OF_RESOURCE == (rc = send_one(&side, 1, 8))
         && now(CLOCK_MONOTONIC) - closed < 30;) {
        if (0 == ++tries % 1000) {
            sched_yield();
        }
    }
    TAP_EQ(OPAL_ERR_UNREACH, rc);
    TAP_EQ(OPAL_ERR_UNREACH, send_one(&side, 1, 8));
    side_disconnect(&side);
    side_close(&side);
    if (!killed) {
        meet(pair);
    }
}

static void case_receiver_closed(const pair_t *pair)
{
    end_of_receiver(pair, false);
}

static void case_receiver_killed(const pair_t *pair)
{
    end_of_receiver(pair, true);
}

/** Rank 1 takes nothing and ends, its process lives; rank 0 has fragments for it, until it is told.
 */
static void case_fragments_to_nobody(const pair_t *pair)
{
    side_t side = {.received = 0};
    mca_btl_base_descriptor_t *descriptor;
    mca_btl_base_module_t *btl;
    int sent = 0, rc = OPAL_SUCCESS;
    name_t theirs;

    side_begin(pair, &side, &theirs);
    meet(pair);
    if (0 == pair->rank) {
        btl = &side.module->super;
        side_connect(&side, &theirs);
        while (NULL != (descriptor = btl->btl_alloc(btl, side.peer, MCA_BTL_NO_ORDER, 400, 0))) {
            TAP_EQ(1, btl->btl_send(btl, side.peer, descriptor, MCA_BTL_EP_TAG));
            ++sent;
        }
        TAP_CHECK(100 < sent, "only %d fragments", sent);
        meet(pair);
        meet(pair);
        for (int try = 0; try < 10 && 0 <= rc; ++try) {
            descriptor = btl->btl_alloc(btl, side.peer, MCA_BTL_NO_ORDER, 400, 0);
            rc = NULL == descriptor ? OPAL_SUCCESS
                                    : btl->btl_send(btl, side.peer, descriptor, MCA_BTL_EP_TAG);
        }
        TAP_EQ(OPAL_ERR_UNREACH, rc);
        side_disconnect(&side);
        side_close(&side);
    } else {
        meet(pair);
        side_close(&side);
        meet(pair);
    }
    meet(pair);
}

/** Of the own segment. */
static void own_path(char *path, size_t size)
{
    uint64_t stamp = 0, bytes;
    char *made;

    TAP_EQ(OPAL_SUCCESS, mca_btl_epshm_segment_open(&stamp, &bytes));
    made = mca_btl_epshm_segment_path(&me.proc_name, stamp);
    snprintf(path, size, "%s", made);
    free(made);
}

/** Bytes of memory that the own segment takes. */
static uint64_t memory_taken(void)
{
    struct stat stat_of;
    char path[160];

    own_path(path, sizeof(path));
    TAP_EQ(0, stat(path, &stat_of));
    return (uint64_t) stat_of.st_blocks * 512;
}

/** Endpoints come and go on both sides, with messages on their way at the end. */
static void case_flat(const pair_t *pair)
{
    const int rounds = 1000;
    uint64_t taken = 0;

    for (int round = 0; round < rounds; ++round) {
        side_t side = {.received = 0};
        name_t theirs;

        side_begin(pair, &side, &theirs);
        side_connect(&side, &theirs);
        for (uint64_t number = 0; number < 5; ++number) {
            TAP_EQ(OPAL_SUCCESS, send_one(&side, number, 600));
        }
        if (0 == round % 2) {
            while (side.received < 5) {
                side_turn(&side);
            }
        }
        side_disconnect(&side);
        side_close(&side);
        if (10 == round) {
            taken = memory_taken();
        }
    }
    TAP_EQ(taken, memory_taken());
}

/** An endpoint that stays, and makes few turns, hears of one after the other: they come and go. */
static void case_visitors(const pair_t *pair)
{
    const int rounds = 1000;
    side_t side = {.received = 0}, visitor;
    uint64_t taken = 0;
    name_t theirs;

    side_begin(pair, &side, &theirs);
    for (int round = 0; round < rounds; ++round) {
        if (1 == pair->rank) {
            visitor = (side_t) {.received = 0};
            TAP_EQ(OPAL_SUCCESS, side_open(&visitor));
            side_connect(&visitor, &theirs);
            TAP_EQ(OPAL_SUCCESS, send_one(&visitor, (uint64_t) round, 8));
            side_disconnect(&visitor);
            side_close(&visitor);
        }
        meet(pair);
        if (0 == pair->rank) {
            for (int turn = 0; turn < 10 && side.received <= (uint64_t) round; ++turn) {
                (void) side.module->ep_progress(side.module);
            }
            TAP_EQ(round + 1, side.received);
        }
        meet(pair);
        if (20 == round) {
            taken = memory_taken();
        }
    }
    TAP_CHECK(10 > ((epshm_node_module_t *) side.module)->in_count, "%u pipes are kept",
              ((epshm_node_module_t *) side.module)->in_count);
    TAP_EQ(taken, memory_taken());
    side_close(&side);
}

/** So many pairs end at once, of a large communicator; the others take their time to leave.  That
 * does not cost the square, and the memory serves again. */
static void case_many_end(const pair_t *pair)
{
    enum { MANY = 20000 };
    struct mca_btl_base_endpoint_t **peers = calloc(MANY, sizeof(*peers));
    side_t side = {.received = 0}, again = {.received = 0};
    double connecting, ending, ended;
    uint64_t taken;
    name_t theirs;

    mca_btl_epshm_component.pipe_cells = EPSHM_PIPE_CELLS_LEAST;
    side_begin(pair, &side, &theirs);
    connecting = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; 0 == pair->rank && i < MANY; ++i) {
        TAP_EQ(OPAL_SUCCESS, side.module->ep_connect(side.module, theirs.bytes, theirs.length,
                                                     &peers[i]));
    }
    ending = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; 0 == pair->rank && i < MANY; ++i) {
        side.module->ep_disconnect(side.module, peers[i]);
    }
    ended = now(CLOCK_PROCESS_CPUTIME_ID);
    TAP_CHECK(ended - ending < 0.1 + 10 * (ending - connecting),
              "%g s to connect, %g s to disconnect", ending - connecting, ended - ending);
    taken = memory_taken();
    meet(pair);
    side_close(&side);
    side_begin(pair, &again, &theirs);
    for (int i = 0; 0 == pair->rank && i < MANY; ++i) {
        TAP_EQ(OPAL_SUCCESS, again.module->ep_connect(again.module, theirs.bytes, theirs.length,
                                                      &peers[i]));
    }
    TAP_EQ(taken, memory_taken());
    for (int i = 0; 0 == pair->rank && i < MANY; ++i) {
        again.module->ep_disconnect(again.module, peers[i]);
    }
    meet(pair);
    side_close(&again);
    free(peers);
}

/** More senders than a turn looks at, in turns: all are heard, in order each. */
static void case_many(const pair_t *pair)
{
    enum { MANY = 40 };
    side_t side[MANY] = {{.received = 0}}, *first = &side[0];
    name_t theirs;

    side_begin(pair, first, &theirs);
    for (int i = 1; i < MANY; ++i) {
        TAP_EQ(OPAL_SUCCESS, side_open(&side[i]));
    }
    for (int i = 0; i < MANY; ++i) {
        side_connect(&side[i], &theirs);
    }
    for (uint64_t number = 0; number < 10 * MANY; ++number) {
        /* One at a time: they are to arrive in this order, whoever sends. */
        TAP_EQ(OPAL_SUCCESS, send_one(&side[number * 7 % MANY], number, 8));
        while (first->received <= number) {
            side_turn(first);
        }
        meet(pair);
    }
    for (int i = 0; i < MANY; ++i) {
        side_disconnect(&side[i]);
        side_close(&side[i]);
    }
}

/** An address of an endpoint that has gone, whose door another one has. */
static void case_late(const pair_t *pair)
{
    side_t old = {.received = 0}, side = {.received = 0};
    name_t theirs;

    side_begin(pair, &old, &theirs);
    if (1 == pair->rank) {
        side_close(&old);
        TAP_EQ(OPAL_SUCCESS, side_open(&side));
        meet(pair);
        meet(pair);
        for (int turn = 0; turn < 100; ++turn) {
            (void) side.module->ep_progress(side.module);
        }
        TAP_EQ(0, side.received);
        TAP_EQ(0, ((epshm_node_module_t *) side.module)->in_count);
        meet(pair);
        side_close(&side);
        return;
    }
    meet(pair);
    side_connect(&old, &theirs);
    TAP_EQ(OPAL_SUCCESS, send_one(&old, 0, 8));
    meet(pair);
    meet(pair);
    TAP_CHECK(epshm_pipe_is_detached(((epshm_node_peer_t *) old.peer)->out.pipe),
              "nobody said that nobody is there");
    side_disconnect(&old);
    side_close(&old);
}

/** Pipes until there is no memory left, then fewer. */
static void case_no_room(const pair_t *pair)
{
    enum { MANY = 200 };
    static struct mca_btl_base_endpoint_t *peers[MANY];
    side_t side = {.received = 0};
    name_t theirs;
    int count = 0, rc = OPAL_SUCCESS;

    side_begin(pair, &side, &theirs);
    if (1 == pair->rank) {
        meet(pair);
        side.received = 1; /* the number of the one that comes */
        while (2 > side.received) {
            side_turn(&side);
        }
        meet(pair);
        side_close(&side);
        return;
    }
    while (OPAL_SUCCESS == rc && count < MANY) {
        rc = side.module->ep_connect(side.module, theirs.bytes, theirs.length, &peers[count]);
        count += OPAL_SUCCESS == rc;
    }
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, rc);
    TAP_CHECK(16 <= count, "only %d pipes in 512 KiB", count);
    side.peer = peers[0];
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, send_one(&side, 1, 600)); /* there is no area either */
    TAP_EQ(OPAL_SUCCESS, send_one(&side, 1, 8)); /* but there are cells */
    meet(pair);
    for (int i = 0; i < count; ++i) {
        side.module->ep_disconnect(side.module, peers[i]);
    }
    meet(pair);
    side_close(&side);
}

static void limit_file_size(uint64_t bytes)
{
    struct rlimit limit;

    TAP_EQ(0, getrlimit(RLIMIT_FSIZE, &limit));
    limit.rlim_cur = bytes;
    TAP_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
}

/** Files may not be as large as the segment is to be: whoever makes one all the same is killed. */
static void case_file_size(const pair_t *pair)
{
    side_t side = {.received = 0};
    name_t theirs;

    limit_file_size(1000000);
    side_begin(pair, &side, &theirs);
    side_connect(&side, &theirs);
    for (uint64_t number = 0; number < 5; ++number) {
        TAP_EQ(OPAL_SUCCESS, send_one(&side, number, 5000)); /* there is an area, too */
    }
    while (5 > side.received) {
        side_turn(&side);
    }
    meet(pair);
    side_disconnect(&side);
    side_close(&side);
}

/** Likewise, and what they may be is not enough. */
static void case_no_file_size(const pair_t *pair)
{
    side_t side = {.received = 0};

    (void) pair;
    (void) freopen("/dev/null", "w", stderr); /* it says so */
    limit_file_size(500000);
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, side_open(&side));
}

/** The file system is smaller than the segment may be, as in a container: pipes become small before
 * there is no room for more. */
static void case_small_folder(const pair_t *pair)
{
    enum { MANY = 1200 };
    static struct mca_btl_base_endpoint_t *peers[MANY];
    side_t side = {.received = 0};
    name_t theirs;
    int count = 0;

    folder_size = (uint64_t) 4 << 20;
    side_begin(pair, &side, &theirs);
    while (0 == pair->rank && count < MANY
           && OPAL_SUCCESS
                  == side.module->ep_connect(side.module, theirs.bytes, theirs.length,
                                             &peers[count])) {
        ++count;
    }
    TAP_CHECK(1 == pair->rank || 800 < count, "only %d pipes in 4 MiB", count);
    meet(pair);
    while (0 < count) {
        side.module->ep_disconnect(side.module, peers[--count]);
    }
    side_close(&side);
    meet(pair);
}

/** Addresses that are none. */
static void case_addresses(const pair_t *pair)
{
    struct mca_btl_base_endpoint_t *endpoint;
    side_t side = {.received = 0};
    epshm_node_address_t address;
    name_t theirs;

    side_begin(pair, &side, &theirs);
    for (size_t length = 0; length < theirs.length; ++length) {
        TAP_EQ(OPAL_ERR_BAD_PARAM,
               side.module->ep_connect(side.module, theirs.bytes, length, &endpoint));
    }
    /* Every byte but those of addressee and, within reason, door. */
    for (size_t i = 0; i < offsetof(epshm_node_address_t, door); ++i) {
        name_t wrong = theirs;

        wrong.bytes[i] ^= 0x55;
        TAP_CHECK(OPAL_SUCCESS
                      != side.module->ep_reach(side.module, wrong.bytes, wrong.length),
                  "byte %zu is not looked at", i);
    }
    memcpy(&address, theirs.bytes, sizeof(address));
    address.door = address.size - EPSHM_PIPE_LINE; /* in the file, but without memory */
    TAP_CHECK(OPAL_SUCCESS != side.module->ep_reach(side.module, &address, sizeof(address)),
              "a door where no memory is");
    meet(pair);
    side_close(&side);
}

/** What rank 1's process has left behind does not disturb: names do not come again. */
static void case_stale(const pair_t *pair)
{
    side_t side = {.received = 0};
    name_t theirs;
    uint64_t stamp, size;
    int status;
    pid_t pid;

    if (1 == pair->rank) {
        pid = fork();
        if (0 == pid) { /* makes the segment, and ends without a word */
            _exit(OPAL_SUCCESS == mca_btl_epshm_segment_open(&stamp, &size) ? 0 : 1);
        }
        TAP_EQ(pid, waitpid(pid, &status, 0));
        TAP_EQ(0, status);
    }
    side_begin(pair, &side, &theirs);
    side_connect(&side, &theirs);
    TAP_EQ(OPAL_SUCCESS, send_one(&side, 0, 8));
    while (1 > side.received) {
        side_turn(&side);
    }
    meet(pair);
    side_disconnect(&side);
    side_close(&side);
}

/** Files that a node that was switched off, or a launcher that was killed, could have left: their
 * names, and whether they stay. */
static const struct {
    const char *format; /**< the user's number goes in */
    bool locked;        /**< by a process that lives */
    bool stays;
} leftovers[] = {
    {"epshm.%u.77.0.0123456789abcdef", false, false},
    {"epshm.%u.77.12.0123456789abcdef", true, true},
    {"epshm.%u.1267.3.0123456789abcdef", false, true}, /* of this job, which is starting */
    {"epshm.%u.077.0.0123456789abcdef", false, true},  /* no name of ours */
    {"epshm.%u.77.0.123456789abcdef", false, true},
    {"epshm.%u.77.0.0123456789abcdef.old", false, true},
    {"epshm.%u.77.0", false, true},
    {"epshn.%u.77.0.0123456789abcdef", false, true},
};

enum { LEFTOVERS = sizeof(leftovers) / sizeof(leftovers[0]) };

static void leftover_path(int i, char *path, size_t size)
{
    char name[64];

    snprintf(name, sizeof(name), leftovers[i].format, (unsigned int) geteuid());
    snprintf(path, size, "%s/%s", folder, name);
}

static bool locks_are_seen(void)
{
    struct statfs statfs_of;

    return 0 == statfs(folder, &statfs_of) && TMPFS_MAGIC == statfs_of.f_type;
}

/** What other jobs have left is removed, by whoever makes a segment, and nothing else. */
static void case_leftovers(const pair_t *pair)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fds[LEFTOVERS];
    uint64_t stamp, size;
    char path[128];

    TAP_EQ(0x1267, OPAL_PROC_MY_NAME.jobid);
    for (int i = 0; 1 == pair->rank && i < LEFTOVERS; ++i) {
        leftover_path(i, path, sizeof(path));
        fds[i] = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
        TAP_CHECK(0 <= fds[i], "no %s", path);
        if (leftovers[i].locked) {
            TAP_EQ(0, fcntl(fds[i], F_SETLK, &lock));
        }
    }
    meet(pair);
    if (0 == pair->rank) {
        TAP_EQ(OPAL_SUCCESS, mca_btl_epshm_segment_open(&stamp, &size));
        for (int i = 0; i < LEFTOVERS; ++i) {
            leftover_path(i, path, sizeof(path));
            TAP_CHECK((leftovers[i].stays || !locks_are_seen()) == (0 == access(path, F_OK)),
                      "%s %s", path, leftovers[i].stays ? "was removed" : "is still there");
        }
    }
    meet(pair);
    for (int i = 0; 1 == pair->rank && i < LEFTOVERS; ++i) {
        leftover_path(i, path, sizeof(path));
        (void) unlink(path);
        close(fds[i]);
    }
}

/** Two jobs begin and end on one node, again and again: neither takes the other's file for one that
 * has been left, not even between its making and its lock. */
static void case_two_jobs(const pair_t *pair)
{
    struct stat named, opened;
    char path[160];

    me.proc_name.jobid = 4711 + (uint32_t) pair->rank;
    meet(pair);
    for (int i = 0; i < 3000 && !tap_case_failed(); ++i) {
        int fd;

        if (0 == i % 2) {
            own_path(path, sizeof(path));
            TAP_EQ(0, stat(path, &named));
            mca_btl_epshm_segment_close();
            continue;
        }
        snprintf(path, sizeof(path), "%s/epshm.%u.%x.%u.%016x", folder, (unsigned int) geteuid(),
                 me.proc_name.jobid, (unsigned int) pair->rank, (unsigned int) i);
        fd = mca_btl_epshm_segment_file_create(path);
        if (0 > fd && EEXIST == errno) {
            continue; /* taken away before it was locked: with another name, then */
        }
        TAP_CHECK(0 <= fd, "no file");
        TAP_EQ(0, fstat(fd, &opened));
        TAP_EQ(1, opened.st_nlink);
        TAP_EQ(0, unlink(path));
        close(fd);
    }
    meet(pair);
}

/* ---- what two endpoints share makes no sense ------------------------------------------------- */

static int losses, sender_losses; /**< that the owner has been told of */
static name_t lost_sender;

static bool on_lost(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint)
{
    TAP_CHECK(((side_t *) module->ep_context)->peer == endpoint, "somebody else is lost");
    ++losses;
    return false;
}

static bool on_lost_sender(mca_btl_ep_module_t *module, const void *address, size_t length,
                           char *who, size_t size)
{
    (void) module;
    (void) who;
    (void) size;
    memset(&lost_sender, 0, sizeof(lost_sender));
    lost_sender.length = length;
    memcpy(lost_sender.bytes, address, length);
    ++sender_losses;
    return false;
}

static void side_watch(side_t *side)
{
    losses = sender_losses = 0;
    side->module->ep_lost = on_lost;
    side->module->ep_lost_sender = on_lost_sender;
}

static void side_turns(side_t *side)
{
    for (int turn = 0; turn < 1000; ++turn) {
        (void) side->module->ep_progress(side->module);
    }
}

/** Nonsense as the next message of a pipe. */
static void corrupt_cell(side_t *side)
{
    epshm_pipe_out_t *out = &((epshm_node_peer_t *) side->peer)->out;

    memset(epshm_pipe_out_cell(out, 0)->data, 0xff, EPSHM_PIPE_CELL_PAYLOAD);
    epshm_pipe_publish(out, 1);
}

/** Nonsense where the next message begins: a number that none has there, ever. */
static void corrupt_sequence(side_t *side)
{
    epshm_pipe_out_t *out = &((epshm_node_peer_t *) side->peer)->out;

    atomic_store_explicit(&epshm_pipe_out_cell(out, 0)->seq, out->tail + 5, memory_order_relaxed);
}

/** Rank 1 sends nonsense, after three messages; rank 0 has sent it something before, or has not.
 * Both learn that they have lost each other, and what another endpoint sends still arrives. */
static void corrupt_pipe(const pair_t *pair, void (*corrupt)(side_t *), bool both_ways)
{
    side_t side = {.received = 0}, good = {.received = 3};
    name_t theirs;

    side_begin(pair, &side, &theirs);
    side_watch(&side);
    if (1 == pair->rank) {
        TAP_EQ(OPAL_SUCCESS, side_open(&good));
        side_connect(&good, &theirs);
        side_connect(&side, &theirs);
        for (uint64_t number = 0; number < 3; ++number) {
            TAP_EQ(OPAL_SUCCESS, send_one(&side, number, 8 + 300 * number));
        }
        corrupt(&side);
    } else if (both_ways) {
        side_connect(&side, &theirs);
        TAP_EQ(OPAL_SUCCESS, send_one(&side, 0, 8));
    }
    meet(pair);
    side_turns(&side);
    meet(pair);
    side_turns(&side);
    if (0 == pair->rank) {
        TAP_EQ(1, atomic_load(&mca_btl_epshm_component.pipes_broken));
        TAP_EQ(3, side.received);
        TAP_EQ(both_ways ? 1 : 0, losses);
        TAP_EQ(both_ways ? 0 : 1, sender_losses);
        TAP_CHECK(both_ways || 0 == memcmp(&theirs, &lost_sender, sizeof(theirs)),
                  "somebody else is lost");
        meet(pair);
        meet(pair);
        while (4 > side.received) {
            side_turn(&side);
        }
    } else {
        TAP_EQ(1, losses);
        TAP_EQ(0, sender_losses);
        TAP_EQ(both_ways ? 1 : 0, side.received);
        TAP_CHECK(epshm_pipe_is_refused(((epshm_node_peer_t *) side.peer)->out.pipe), "it is read");
        meet(pair);
        TAP_EQ(OPAL_SUCCESS, send_one(&good, 3, 8));
        meet(pair);
    }
    meet(pair);
    TAP_EQ(0, ((epshm_node_module_t *) side.module)->in_count - (0 == pair->rank));
    if (1 == pair->rank) {
        side_disconnect(&good);
        side_close(&good);
    }
    if (1 == pair->rank || both_ways) {
        side_disconnect(&side);
    }
    side_close(&side);
}

static void case_corrupt(const pair_t *pair)
{
    corrupt_pipe(pair, corrupt_cell, false);
}

static void case_corrupt_sequence(const pair_t *pair)
{
    corrupt_pipe(pair, corrupt_sequence, false);
}

static void case_corrupt_both(const pair_t *pair)
{
    corrupt_pipe(pair, corrupt_cell, true);
}

/** Rank 0 reads a pipe of rank 1's and writes nonsense of how far it is.  What rank 1 had sent
 * arrives, and both know. */
static void case_corrupt_head(const pair_t *pair)
{
    side_t side = {.received = 0};
    int rc = OPAL_SUCCESS;
    name_t theirs;

    side_begin(pair, &side, &theirs);
    side_watch(&side);
    if (1 == pair->rank) {
        side_connect(&side, &theirs);
        atomic_store(&((epshm_node_peer_t *) side.peer)->out.pipe->head, UINT64_C(1) << 60);
        for (int i = 0; i < 10000 && OPAL_SUCCESS == rc; ++i) {
            rc = send_one(&side, (uint64_t) i, 8);
            side.seed += OPAL_SUCCESS == rc;
        }
        TAP_EQ(OPAL_ERR_UNREACH, rc);
        TAP_EQ(1, losses);
        tell(pair, &side.seed, sizeof(side.seed));
        meet(pair);
        side_disconnect(&side);
    } else {
        uint64_t sent;

        hear(pair, &sent, sizeof(sent));
        side_turns(&side);
        TAP_EQ(sent, side.received);
        TAP_EQ(1, sender_losses);
        TAP_EQ(0, memcmp(&theirs, &lost_sender, sizeof(theirs)));
        meet(pair);
    }
    side_close(&side);
}

/** Rank 0 cannot send to rank 1, of which more waits than a turn takes, and refuses it: what had
 * been sent arrives, and rank 1 learns of it, once.  So it is whether a look that is due comes upon
 * the pipe first or one that another word in the door brings about. */
static void refuse(const pair_t *pair, bool by_door)
{
    side_t side = {.received = 0}, other = {.received = 0};
    name_t theirs;

    side_begin(pair, &side, &theirs);
    side_watch(&side);
    if (1 == pair->rank) {
        side_connect(&side, &theirs);
        for (uint64_t number = 0; number < 100; ++number) {
            TAP_EQ(OPAL_SUCCESS, send_one(&side, number, 8));
        }
        meet(pair);
        meet(pair);
        TAP_EQ(OPAL_SUCCESS, side_open(&other));
        if (by_door) {
            side_connect(&other, &theirs);
        }
        meet(pair);
        meet(pair);
        side_turns(&side);
        TAP_EQ(1, losses);
        side_disconnect(&side);
        if (by_door) {
            side_disconnect(&other);
        }
        side_close(&other);
    } else {
        epshm_node_module_t *module = (epshm_node_module_t *) side.module;

        meet(pair);
        (void) side.module->ep_progress(side.module);
        TAP_CHECK(100 > side.received, "it has all been taken at once");
        side.module->ep_refuse(side.module, theirs.bytes, theirs.length);
        meet(pair);
        meet(pair);
        module->turns = by_door ? 0 : UINT32_MAX; /* no look at the pipes, or one */
        (void) side.module->ep_progress(side.module);
        TAP_EQ(by_door ? 1 : 0, module->in_count);
        TAP_EQ(100, side.received);
        TAP_EQ(0, losses + sender_losses); /* the owner knows */
        meet(pair);
    }
    side_close(&side);
}

static void case_refuse(const pair_t *pair)
{
    refuse(pair, false);
}

static void case_refuse_by_door(const pair_t *pair)
{
    refuse(pair, true);
}

/** Nonsense in the list of a door: whoever has left word in it, or does so later, learns that he is
 * not heard, and the door's owner that it hears nobody. */
static void case_corrupt_door(const pair_t *pair)
{
    side_t side = {.received = 0};
    name_t theirs;

    side_begin(pair, &side, &theirs);
    side_watch(&side);
    if (1 == pair->rank) {
        side_connect(&side, &theirs);
        TAP_EQ(OPAL_SUCCESS, send_one(&side, 0, 8));
        atomic_store(&((epshm_node_peer_t *) side.peer)->door->last, 0xdeadbeefcafe);
        meet(pair);
        meet(pair);
        side_turns(&side);
        TAP_EQ(1, losses);
        side_disconnect(&side);
        side_connect(&side, &theirs); /* late */
        side_turns(&side);
        TAP_EQ(2, losses);
        side_disconnect(&side);
    } else {
        meet(pair);
        TAP_CHECK(0 > side.module->ep_progress(side.module), "it goes on");
        TAP_CHECK(0 > side.module->ep_progress(side.module), "it goes on again");
        TAP_EQ(0, side.received);
        meet(pair);
    }
    meet(pair);
    side_close(&side);
}

/** The words of a door lead to one another for ever. */
static void case_endless_door(const pair_t *pair)
{
    side_t side = {.received = 0};
    name_t theirs;

    side_begin(pair, &side, &theirs);
    if (1 == pair->rank) {
        epshm_node_peer_t *peer;

        side_connect(&side, &theirs);
        peer = (epshm_node_peer_t *) side.peer;
        atomic_store(&peer->out.pipe->next, atomic_load(&peer->door->last));
        meet(pair);
        meet(pair);
        side_disconnect(&side);
    } else {
        meet(pair);
        TAP_CHECK(0 > side.module->ep_progress(side.module), "it goes on");
        meet(pair);
    }
    side_close(&side);
}

/** What had arrived is taken in at one call, through however many pipes. */
static void case_drain(const pair_t *pair)
{
    enum { MANY = 600, EACH = 20 };
    static side_t sides[MANY];
    name_t theirs;

    side_begin(pair, &sides[0], &theirs);
    if (0 == pair->rank) {
        meet(pair);
        sides[0].module->ep_drain(sides[0].module);
        TAP_EQ(MANY * EACH, sides[0].received);
        meet(pair);
        side_close(&sides[0]);
        return;
    }
    for (int i = 0; i < MANY; ++i) {
        if (0 < i) {
            TAP_EQ(OPAL_SUCCESS, side_open(&sides[i]));
        }
        side_connect(&sides[i], &theirs);
    }
    for (uint64_t number = 0; number < MANY * EACH; ++number) {
        /* The door's list is read from its end. */
        TAP_EQ(OPAL_SUCCESS, send_one(&sides[MANY - 1 - number / EACH], number, 8));
    }
    meet(pair);
    meet(pair);
    for (int i = 0; i < MANY; ++i) {
        side_disconnect(&sides[i]);
        side_close(&sides[i]);
    }
}

/* ---- one copy -------------------------------------------------------------------------------- */

static mca_smsc_endpoint_t copy_endpoint;
static opal_proc_t copy_peer;
static int copies, gets;

/** Whose memory the kernel reads, where it is asked for the peer's. */
static enum { OF_PEER, OF_ANOTHER, OF_NOBODY } read_from;
static const void *odd; /**< a buffer that cannot be read */

static mca_smsc_endpoint_t *get_endpoint(opal_proc_t *proc)
{
    TAP_CHECK(&copy_peer == proc, "an endpoint for somebody else");
    return &copy_endpoint;
}

static void return_endpoint(mca_smsc_endpoint_t *endpoint)
{
    TAP_CHECK(&copy_endpoint == endpoint, "somebody else's endpoint comes back");
}

/** As the kernel.  What stands for the peer's memory is this process's own, but for what proves
 * whose it is. */
static int copy_from(mca_smsc_endpoint_t *endpoint, void *local, void *remote, size_t size,
                     void *registration)
{
    const epshm_neighbour_t *peer = mca_btl_epshm_neighbour_find(1 - me.proc_name.vpid);

    (void) endpoint;
    (void) registration;
    ++copies;
    if (OF_NOBODY == read_from || odd == remote) {
        return OPAL_ERROR;
    }
    if (OF_PEER == read_from && (uint64_t) (uintptr_t) remote == peer->proof.address) {
        memcpy(local, peer->proof.secret, size);
    } else {
        memcpy(local, remote, size);
    }
    return OPAL_SUCCESS;
}

static opal_proc_t *proc_for_name(const opal_process_name_t name)
{
    TAP_EQ(1 - (int) me.proc_name.vpid, name.vpid);
    return &copy_peer;
}

static void got(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                void *local_address, mca_btl_base_registration_handle_t *local_handle,
                void *context, void *data, int status)
{
    (void) btl;
    (void) endpoint;
    (void) local_address;
    (void) local_handle;
    (void) data;
    TAP_EQ(OPAL_SUCCESS, status);
    ++*(int *) context;
}

static int get_one(side_t *side, char *target, const char *source, size_t size)
{
    return side->module->super.btl_get(&side->module->super, side->peer, target,
                                       (uint64_t) (uintptr_t) source, NULL, NULL, size, 0,
                                       MCA_BTL_NO_ORDER, got, &gets, NULL);
}

/** The neighbour as it is when it has just been mapped. */
static void forget_proof(side_t *side)
{
    epshm_neighbour_t *neighbour = ((epshm_node_peer_t *) side->peer)->neighbour;

    atomic_store(&neighbour->proven_ns, 0);
    atomic_store(&neighbour->copy_failed, false);
    copies = 0;
}

/** Copies that succeed, and what follows where they do not. */
static void check_gets(side_t *side)
{
    char source[100], target[100] = {0};

    memset(source, 'x', sizeof(source));
    TAP_EQ(OPAL_SUCCESS, get_one(side, target, source, 60));
    TAP_EQ(OPAL_SUCCESS, get_one(side, target + 60, source + 60, 40));
    TAP_EQ(2, gets);
    TAP_EQ(0, memcmp(source, target, sizeof(source)));
    TAP_EQ(3, copies); /* it was looked whose memory it is, once */

    odd = source; /* one buffer is no reason not to try the next */
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, get_one(side, target, source, 60));
    odd = NULL;
    TAP_EQ(OPAL_SUCCESS, get_one(side, target, source, 60));
    TAP_EQ(6, copies);

    read_from = OF_NOBODY; /* the kernel forbids it from now on: tried twice, and never again */
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, get_one(side, target, source, 60));
    TAP_EQ(8, copies);
    read_from = OF_PEER;
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, get_one(side, target, source, 60));
    TAP_EQ(8, copies);

    /* Another process has the number: at the first copy, and after a time of good ones. */
    for (int again = 0; again < 2; ++again) {
        forget_proof(side);
        read_from = OF_ANOTHER;
        if (1 == again) {
            read_from = OF_PEER;
            TAP_EQ(OPAL_SUCCESS, get_one(side, target, source, 60));
            read_from = OF_ANOTHER;
            usleep(700000);
        }
        memset(target, 0, sizeof(target));
        TAP_EQ(OPAL_ERR_NOT_AVAILABLE, get_one(side, target, source, 60));
        TAP_EQ(0, target[0]);
        TAP_EQ(OPAL_ERR_NOT_AVAILABLE, get_one(side, target, source, 60));
        TAP_EQ(1 == again ? 3 : 1, copies);
    }
    TAP_EQ(4, gets);
}

static void case_get(const pair_t *pair)
{
    static mca_smsc_module_t module = {.get_endpoint = get_endpoint,
                                       .return_endpoint = return_endpoint,
                                       .copy_from = copy_from};
    side_t side = {.received = 0};
    name_t theirs;

    mca_smsc = &module;
    opal_proc_for_name = proc_for_name;
    side_begin(pair, &side, &theirs);
    side_connect(&side, &theirs);
    TAP_CHECK(0 != (side.module->super.btl_flags & MCA_BTL_FLAGS_GET), "no btl_get");
    check_gets(&side);
    side_disconnect(&side);
    side_close(&side);

    mca_btl_epshm_component.single_copy = false;
    TAP_EQ(OPAL_SUCCESS, side_open(&side));
    TAP_EQ(0, side.module->super.btl_flags & MCA_BTL_FLAGS_GET);
    side_close(&side);
    meet(pair);
}

/* ---- the whole ------------------------------------------------------------------------------- */

typedef void (*case_fn_t)(const pair_t *pair);

static pid_t start(case_fn_t run, int rank, const int fds[2])
{
    const pair_t pair = {.rank = rank, .fd = fds[rank]};
    pid_t pid = fork();

    if (0 == pid) {
        close(fds[1 - rank]);
        alarm(60);
        component_start(rank);
        run(&pair);
        component_stop();
        fflush(NULL);
        _exit(tap_case_failed() ? 1 : 0);
    }
    return pid;
}

/** @param[in] killed  rank 1 kills itself */
static void run_pair(const char *name, case_fn_t run, bool killed)
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

int main(int argc, char **argv)
{
    char left[160];

    tap_begin(argc, argv, "test_epshm_node", 300);
    snprintf(folder, sizeof(folder), "%s/epshm-test.XXXXXX",
             0 == access("/dev/shm", W_OK) ? "/dev/shm" : "/tmp");
    if (NULL == mkdtemp(folder)) {
        printf("Bail out! no folder\n");
        return 1;
    }
    run_pair("traffic both ways", case_traffic, false);
    run_pair("messages of an endpoint whose process has ended", case_end, false);
    run_pair("messages of a process that was killed", case_killed, true);
    run_pair("to an endpoint that has gone", case_receiver_closed, false);
    run_pair("fragments to an endpoint that has gone", case_fragments_to_nobody, false);
    run_pair("to a process that was killed", case_receiver_killed, true);
    run_pair("a thousand endpoints one after the other", case_flat, false);
    run_pair("a thousand visitors of one endpoint", case_visitors, false);
    run_pair("twenty thousand pairs that end at once", case_many_end, false);
    run_pair("more senders than a turn looks at", case_many, false);
    run_pair("a late word in a door", case_late, false);
    run_pair("addresses that are none", case_addresses, false);
    run_pair("files of the dead and of the living", case_stale, false);
    run_pair("files that other jobs have left", case_leftovers, false);
    run_pair("two jobs that come and go", case_two_jobs, false);
    run_pair("a corrupt pipe", case_corrupt, false);
    run_pair("a corrupt place in a pipe", case_corrupt_sequence, false);
    run_pair("a corrupt pipe of two", case_corrupt_both, false);
    run_pair("a corrupt pipe, as its sender sees", case_corrupt_head, false);
    run_pair("a sender that is refused", case_refuse, false);
    run_pair("a sender that is refused when another one comes", case_refuse_by_door, false);
    run_pair("a corrupt door", case_corrupt_door, false);
    run_pair("a door without an end", case_endless_door, false);
    run_pair("what had arrived through six hundred pipes", case_drain, false);
    run_pair("one copy, of the right memory", case_get, false);
    run_pair("a limit on the size of files", case_file_size, false);
    run_pair("a limit that leaves no room", case_no_file_size, false);
    run_pair("a small file system", case_small_folder, false);
    segment_size = 524288;
    run_pair("no memory left", case_no_room, false);
    /* Killed processes leave their files here, which the launcher would remove. */
    snprintf(left, sizeof(left), "rm -f %s/epshm.* && rmdir %s", folder, folder);
    tap_case("and nothing else is left");
    TAP_EQ(0, system(left));
    tap_case_done();
    return tap_end();
}
