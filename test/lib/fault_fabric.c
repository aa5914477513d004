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
 * A fabric that fails when it is told to: preloaded in front of libfabric by tests (LD_PRELOAD).
 *
 * libfabric's data calls are inline functions that follow tables of pointers.  This library stands
 * in for fi_fabric, which hands out the first of these tables, and puts copies with functions of
 * its own into the objects that it and its children make: domains, endpoints, completion queues,
 * address vectors.  Everything goes on to the provider, but for the faults that are ordered:
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
 * EPT-LIBS: -lfabric -ldl
 *
 * One order at a time; the program finds the function with dlsym.  tcp only, as tests are: other
 * providers would need their own "reset".
 */

#define _GNU_SOURCE

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define MOST_ADDRESSES 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* All under the lock. */
static struct {
    char what[16];
    int count;       /**< how often */
    int error;
    uint64_t until;  /**< ns; 0: count decides */
    bool pending;    /**< an error entry is to be read */
    struct fi_cq_err_entry entry;
} order;
static struct sockaddr_storage addresses[MOST_ADDRESSES];
static int address_count;

/* The provider's functions; there is one provider in a test. */
static struct fi_ops_fabric fabric_ops;
static struct fi_ops_domain domain_ops;
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
    return AF_INET == address->ss_family
               ? ntohs(((const struct sockaddr_in *) address)->sin_port)
           : AF_INET6 == address->ss_family
               ? ntohs(((const struct sockaddr_in6 *) address)->sin6_port)
               : -1;
}

/** @return how many sockets there were */
static int reset(const struct sockaddr_storage *to)
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
            shutdown(fd, SHUT_RDWR);
            ++found;
        }
    }
    if (NULL != folder) {
        closedir(folder);
    }
    return found;
}

__attribute__((visibility("default"))) int ept_fault(const char *what, int count, int error,
                                                     int ms)
{
    int found = 0;

    pthread_mutex_lock(&lock);
    if (0 == strcmp(what, "reset")) {
        found = 0 < count && count <= address_count ? reset(&addresses[count - 1]) : 0;
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

static ssize_t fault_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
                          fi_addr_t dest, void *context)
{
    int error = ordered("send");

    return 0 != error ? -error : msg_ops.send(ep, buf, len, desc, dest, context);
}

static ssize_t fault_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
    int error = ordered("send");

    return 0 != error ? -error : msg_ops.sendmsg(ep, msg, flags);
}

static ssize_t fault_read(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src,
                          uint64_t addr, uint64_t key, void *context)
{
    int error = ordered("read");

    return 0 != error ? -error : rma_ops.read(ep, buf, len, desc, src, addr, key, context);
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
    int result = domain_ops.av_open(domain, attr, av, context);

    if (0 == result) {
        av_ops = *(*av)->ops;
        ops = av_ops;
        ops.insert = fault_av_insert;
        (*av)->ops = &ops;
    }
    return result;
}

static int fault_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
                         void *context)
{
    static struct fi_ops_cq ops;
    int result = domain_ops.cq_open(domain, attr, cq, context);

    if (0 == result) {
        cq_ops = *(*cq)->ops;
        ops = cq_ops;
        ops.read = fault_cq_read;
        ops.readerr = fault_cq_readerr;
        ops.strerror = fault_cq_strerror;
        (*cq)->ops = &ops;
    }
    return result;
}

static int fault_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                          void *context)
{
    static struct fi_ops_msg msg;
    static struct fi_ops_rma rma;
    int result = domain_ops.endpoint(domain, info, ep, context);

    if (0 == result) {
        msg_ops = *(*ep)->msg;
        msg = msg_ops;
        msg.send = fault_send;
        msg.sendmsg = fault_sendmsg;
        (*ep)->msg = &msg;
        if (NULL != (*ep)->rma) {
            rma_ops = *(*ep)->rma;
            rma = rma_ops;
            rma.read = fault_read;
            (*ep)->rma = &rma;
        }
    }
    return result;
}

static int fault_domain(struct fid_fabric *fabric, struct fi_info *info,
                        struct fid_domain **domain, void *context)
{
    static struct fi_ops_domain ops;
    int result = fabric_ops.domain(fabric, info, domain, context);

    if (0 == result) {
        domain_ops = *(*domain)->ops;
        ops = domain_ops;
        ops.av_open = fault_av_open;
        ops.cq_open = fault_cq_open;
        ops.endpoint = fault_endpoint;
        (*domain)->ops = &ops;
    }
    return result;
}

__attribute__((visibility("default"))) int fi_fabric(struct fi_fabric_attr *attr,
                                                     struct fid_fabric **fabric, void *context)
{
    static struct fi_ops_fabric ops;
    int (*next)(struct fi_fabric_attr *, struct fid_fabric **, void *)
        = dlsym(RTLD_NEXT, "fi_fabric");
    int result = next(attr, fabric, context);

    if (0 == result) {
        fabric_ops = *(*fabric)->ops;
        ops = fabric_ops;
        ops.domain = fault_domain;
        (*fabric)->ops = &ops;
    }
    return result;
}
