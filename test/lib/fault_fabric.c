/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A fabric that fails on demand: preloaded in front of libfabric by tests (LD_PRELOAD).
 *
 * It has functions of its own in the tables of endpoints, completion queues and address vectors.
 * Everything goes on to the provider, but for the faults that are ordered:
 *
 *   void ept_fault(const char *what, int count, int error, int ms);
 *
 *   send, read      the next count calls return -error; or all for ms milliseconds
 *   cq, readerr     likewise of reading the completion queue or its errors
 *   insert          likewise of entering an address
 *   sent, fetched, received   the next count completions of sends, reads, receives are turned into
 *                   errors with this code
 *   left            no order: returns how often the last one is still to be carried out
 *   reset           shut down the sockets that lead to the count-th address entered (from 1): a
 *                   connection reset as the provider sees it; returns at once
 *
 * and at a chosen moment:
 *
 *   int ept_cut(const char *event, int count, const char *action, int address);
 *
 *   event   "now"; "send", "read": the count-th such call; "sent", "fetched", "received": the
 *           count-th such completion
 *   action  fin     end the connections to that address as if their user had closed them
 *           fin_out likewise, one way only
 *           rst     break them
 *           half    fin, with no more of the call's message sent than a small buffer takes
 *           second  connect there once more, as if this were another process at our address: it
 *                   takes the living connection's place
 *           double  the call's message is sent twice
 *           lose    the call's message is not sent at all, without an error (calls of fi_send)
 *           swallow the completion is kept back for ever
 *   address which of those entered (from 1)
 *
 * and, of what is known, ept_peer(address, &sockaddr_storage).
 *
 * EPT-PARTS: front_fabric.c
 * EPT-LIBS: -lfabric -ldl
 *
 * One order at a time; the program finds the function with dlsym.  tcp only, as tests are: other
 * providers would need their own "reset".
 */

#define _GNU_SOURCE

#include "front_fabric.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST_ADDRESSES 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* All under the lock. */
static struct {
    char what[16];
    int count; /**< how often */
    int error;
    uint64_t until; /**< ns; 0: count decides */
    bool pending;   /**< an error entry is to be read */
    struct fi_cq_err_entry entry;
} order;
static struct {
    char event[16];
    char action[16];
    int count;
    int address;
} cut;
static struct fid_ep *last_ep;
static struct sockaddr_storage addresses[MOST_ADDRESSES];
static int address_count;

/* The provider's functions. */
static struct fi_ops_av av_ops;
static struct fi_ops_cq cq_ops;
static struct fi_ops_msg msg_ops;
static struct fi_ops_rma rma_ops;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

/** Is this ordered now?  @return the error, or 0 */
static int ordered(const char *what)
{
    int error = 0;

    pthread_mutex_lock(&lock);
    if (0 == strcmp(what, order.what)) {
        if (0 != order.until) {
            error = now_ns() < order.until ? order.error : 0;
        } else if (0 < order.count) {
            --order.count;
            error = order.error;
        }
        if (0 == error) {
            order.what[0] = '\0';
        }
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- reset ----------------------------------------------------------------------------------- */

static int port_of(const struct sockaddr_storage *address)
{
    return AF_INET == address->ss_family ? ntohs(((const struct sockaddr_in *) address)->sin_port)
           : AF_INET6 == address->ss_family
               ? ntohs(((const struct sockaddr_in6 *) address)->sin6_port)
               : -1;
}

/** What is done to a socket. */
static void break_socket(int fd, const char *action)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    const int small = 4608;

    if (0 == strcmp(action, "shrink")) {
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    } else if (0 == strcmp(action, "rst")) {
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        connect(fd, &nobody, sizeof(nobody));
    } else {
        shutdown(fd, 0 == strcmp(action, "fin_out") ? SHUT_WR : SHUT_RDWR);
    }
}

/** @return how many sockets there were */
static int to_sockets(const struct sockaddr_storage *to, const char *action)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    int found = 0;

    while (NULL != folder && NULL != (entry = readdir(folder))) {
        struct sockaddr_storage peer;
        socklen_t size = sizeof(peer);
        int fd = atoi(entry->d_name);

        if ('.' != entry->d_name[0] && 0 == getpeername(fd, (struct sockaddr *) &peer, &size)
            && port_of(to) == port_of(&peer)) {
            break_socket(fd, action);
            ++found;
        }
    }
    if (NULL != folder) {
        closedir(folder);
    }
    return found;
}

/** Greet as libfabric's tcp does, with the port that is said to be ours. */
static int second_connection(const struct sockaddr_storage *to)
{
    struct {
        uint8_t version, type;
        uint16_t size;
        uint32_t number;
        uint64_t ids[2], data;
        uint8_t protocol, unused;
        uint16_t port;
        uint32_t pid;
    } greeting = {.version = 3, .size = htons(8), .data = 1, .protocol = 1, .pid = htonl(1)};
    struct sockaddr_storage own;
    size_t size = sizeof(own);
    int fd = socket(to->ss_family, SOCK_STREAM, 0);

    _Static_assert(40 == sizeof(greeting), "no padding on the wire");
    fi_getname(&last_ep->fid, &own, &size);
    greeting.port = htons((uint16_t) port_of(&own));
    if (0 > fd || 0 != connect(fd, (const struct sockaddr *) to, sizeof(struct sockaddr_in))) {
        return 0;
    }
    return sizeof(greeting) == send(fd, &greeting, sizeof(greeting), 0); /* and it stays open */
}

/** Carry out what was ordered.  Under the lock.  @return whether there was anything to do it to */
static int carry_out(const char *action)
{
    const struct sockaddr_storage *to = &addresses[cut.address - 1];

    return 0 == strcmp(action, "second") ? second_connection(to) : to_sockets(to, action);
}

/** Is this the event at which something was ordered?  @return the action, or NULL */
static const char *cut_at(const char *event)
{
    static _Thread_local char action[sizeof(cut.action)];
    bool now;

    pthread_mutex_lock(&lock);
    now = 0 == strcmp(event, cut.event) && 0 == --cut.count;
    if (now) {
        cut.event[0] = '\0';
        memcpy(action, cut.action, sizeof(action));
    }
    pthread_mutex_unlock(&lock);
    return now ? action : NULL;
}

static void cut_now(const char *action)
{
    if (NULL != action) {
        pthread_mutex_lock(&lock);
        carry_out(action);
        pthread_mutex_unlock(&lock);
    }
}

__attribute__((visibility("default"))) int ept_cut(const char *event, int count, const char *action,
                                                   int address)
{
    int found = 0;

    pthread_mutex_lock(&lock);
    if (0 < address && address <= address_count) {
        cut.count = count;
        cut.address = address;
        strncpy(cut.action, action, sizeof(cut.action) - 1);
        strncpy(cut.event, event, sizeof(cut.event) - 1);
        found = 0 == strcmp(event, "now") ? carry_out(action) : 1;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

__attribute__((visibility("default"))) int ept_peer(int address, struct sockaddr_storage *peer)
{
    int known;

    pthread_mutex_lock(&lock);
    known = 0 < address && address <= address_count;
    if (known) {
        *peer = addresses[address - 1];
    }
    pthread_mutex_unlock(&lock);
    return known;
}

__attribute__((visibility("default"))) int ept_fault(const char *what, int count, int error, int ms)
{
    int found = 0;

    pthread_mutex_lock(&lock);
    if (0 == strcmp(what, "reset")) {
        found = 0 < count && count <= address_count ? to_sockets(&addresses[count - 1], "fin") : 0;
    } else if (0 == strcmp(what, "left")) {
        found = order.count;
    } else {
        strncpy(order.what, what, sizeof(order.what) - 1);
        order.count = count;
        order.error = error;
        order.until = 0 < ms ? now_ns() + (uint64_t) ms * 1000000u : 0;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- data calls ------------------------------------------------------------------------------ */

/** What is done before a message is sent; messages of one piece, as all of ours are.
 * @return what is done after it */
static const char *before_send(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest)
{
    const char *action = cut_at("send");

    if (NULL != action && 0 == strcmp(action, "half")) {
        cut_now("shrink");
        return "fin";
    }
    if (NULL != action && 0 == strcmp(action, "double")) {
        (void) msg_ops.inject(ep, buf, len, dest); /* of which no completion tells */
        return NULL;
    }
    return action;
}

static ssize_t fault_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
                          fi_addr_t dest, void *context)
{
    const int error = ordered("send");
    const char *action = 0 != error ? NULL : before_send(ep, buf, len, dest);
    ssize_t result;

    if (NULL != action && 0 == strcmp(action, "lose")) {
        return 0;
    }
    result = 0 != error ? -error : msg_ops.send(ep, buf, len, desc, dest, context);
    cut_now(action);
    return result;
}

static ssize_t fault_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
    const int error = ordered("send");
    const struct iovec *iov = msg->msg_iov;
    const char *action = 0 != error ? NULL
                                    : before_send(ep, iov->iov_base, iov->iov_len, msg->addr);
    const ssize_t result = 0 != error ? -error : msg_ops.sendmsg(ep, msg, flags);

    cut_now(action);
    return result;
}

static ssize_t fault_read(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
                          uint64_t addr, uint64_t key, void *context)
{
    const int error = ordered("read");
    const ssize_t result = 0 != error ? -error
                                      : rma_ops.read(ep, buf, len, desc, src, addr, key, context);

    cut_now(0 != error ? NULL : cut_at("read"));
    return result;
}

/** What is the completion of? */
static const char *kind_of(uint64_t flags)
{
    return 0 != (flags & FI_RECV) ? "received" : 0 != (flags & FI_READ) ? "fetched" : "sent";
}

/** Completions are read one by one, so that each may become an error. */
static ssize_t fault_cq_read(struct fid_cq *cq, void *buf, size_t count)
{
    struct fi_cq_msg_entry *entry = buf;
    int error = ordered("cq");
    const char *action;
    ssize_t result;

    (void) count;
    if (0 != error) {
        return -error;
    }
    if (0 == strcmp(order.what, "readerr")) {
        return -FI_EAVAIL; /* read without the lock: a test orders it while it does nothing else */
    }
    result = cq_ops.read(cq, buf, 1);
    if (1 != result) {
        return result;
    }
    action = cut_at(kind_of(entry->flags));
    if (NULL != action && 0 == strcmp(action, "swallow")) {
        return -FI_EAGAIN;
    }
    cut_now(action);
    error = ordered(kind_of(entry->flags));
    if (0 == error) {
        return 1;
    }
    pthread_mutex_lock(&lock);
    memset(&order.entry, 0, sizeof(order.entry));
    order.entry.op_context = entry->op_context;
    order.entry.flags = entry->flags;
    order.entry.err = error;
    order.pending = true;
    pthread_mutex_unlock(&lock);
    return -FI_EAVAIL;
}

static ssize_t fault_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *buf, uint64_t flags)
{
    int error = ordered("readerr");
    bool pending;

    if (0 != error) {
        return -error;
    }
    pthread_mutex_lock(&lock);
    pending = order.pending;
    order.pending = false;
    if (pending) {
        *buf = order.entry;
    }
    pthread_mutex_unlock(&lock);
    return pending ? 1 : cq_ops.readerr(cq, buf, flags);
}

static const char *fault_cq_strerror(struct fid_cq *cq, int prov_errno, const void *err_data,
                                     char *buf, size_t len)
{
    return 0 == prov_errno ? "ordered by a test"
                           : cq_ops.strerror(cq, prov_errno, err_data, buf, len);
}

static int fault_av_insert(struct fid_av *av, const void *addr, size_t count, fi_addr_t *fi_addr,
                           uint64_t flags, void *context)
{
    int error = ordered("insert");

    if (0 != error) {
        return -error;
    }
    pthread_mutex_lock(&lock);
    if (address_count < MOST_ADDRESSES) {
        const struct sockaddr *one = addr;

        memcpy(&addresses[address_count++], one,
               AF_INET6 == one->sa_family ? sizeof(struct sockaddr_in6)
                                          : sizeof(struct sockaddr_in));
    }
    pthread_mutex_unlock(&lock);
    return av_ops.insert(av, addr, count, fi_addr, flags, context);
}

/* ---- making objects -------------------------------------------------------------------------- */

static int fault_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
                         void *context)
{
    static struct fi_ops_av ops;
    int result = front_domain_ops.av_open(domain, attr, av, context);

    if (0 == result) {
        FRONT_TABLE((*av)->ops, av_ops, ops);
        ops.insert = fault_av_insert;
    }
    return result;
}

static int fault_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
                         void *context)
{
    static struct fi_ops_cq ops;
    int result = front_domain_ops.cq_open(domain, attr, cq, context);

    if (0 == result) {
        FRONT_TABLE((*cq)->ops, cq_ops, ops);
        ops.read = fault_cq_read;
        ops.readerr = fault_cq_readerr;
        ops.strerror = fault_cq_strerror;
    }
    return result;
}

static int fault_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                          void *context)
{
    static struct fi_ops_msg msg;
    static struct fi_ops_rma rma;
    int result = front_fabric_endpoint(domain, info, ep, context);

    if (0 == result) {
        last_ep = *ep;
        FRONT_TABLE((*ep)->msg, msg_ops, msg);
        msg.send = fault_send;
        msg.sendmsg = fault_sendmsg;
        if (NULL != (*ep)->rma) {
            FRONT_TABLE((*ep)->rma, rma_ops, rma);
            rma.read = fault_read;
        }
    }
    return result;
}

static void fault_domain(struct fid_domain *domain, struct fi_ops_domain *ops)
{
    (void) domain;
    ops->av_open = fault_av_open;
    ops->cq_open = fault_cq_open;
    ops->endpoint = fault_endpoint;
}

const front_fabric_t front_fabric = {.domain = fault_domain};
