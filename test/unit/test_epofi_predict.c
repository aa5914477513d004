/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * When libfabric learns that a connection may have something, instead of the kernel being asked:
 * after a row of receives on it, with what libfabric has said when it had it watched; and when not.
 * Descriptors are of pipes and epoll sets, on which nothing is received: the test says what comes.
 *
 * Guards: btl_epofi_predict.c
 */

#define _GNU_SOURCE

#include "opal_config.h"

#include "opal/mca/btl/epofi/sockets/btl_epofi_predict.h"
#include "opal/mca/btl/epofi/sockets/btl_epofi_sockets.h"

#include "tap.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

/** A set, two connections that it watches, and what libfabric knows them by. */
typedef struct world_t {
    int set, fd[2];
} world_t;

static void watch(const world_t *world, int which, uint32_t events)
{
    const struct epoll_event event = {.events = events, .data = {.u64 = 100 + (unsigned) which}};

    mca_btl_epofi_predict_watched(world->set, world->fd[which], &event);
}

static world_t begin(const char *name)
{
    world_t world = {.set = epoll_create1(EPOLL_CLOEXEC)};

    tap_case("%s", name);
    TAP_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, world.fd));
    mca_btl_epofi_socket_enter(world.set);
    for (int i = 0; i < 2; ++i) {
        mca_btl_epofi_socket_enter(world.fd[i]);
        watch(&world, i, EPOLLIN);
    }
    return world;
}

static void end(const world_t *world)
{
    (void) mca_btl_epofi_sockets_close(world->set);
    (void) mca_btl_epofi_sockets_close(world->fd[0]);
    (void) mca_btl_epofi_sockets_close(world->fd[1]);
    tap_case_done();
}

static void receive(const world_t *world, int which, int times)
{
    for (int i = 0; i < times; ++i) {
        mca_btl_epofi_predict_came(world->fd[which], 8);
    }
}

/** So many looks.  @return how many of them are predictions; each is the right one */
static int look(const world_t *world, int which, int times)
{
    int predictions = 0;

    for (int i = 0; i < times; ++i) {
        struct epoll_event event = {.events = 0};

        if (mca_btl_epofi_predict_make(world->set, &event)) {
            ++predictions;
            TAP_EQ(EPOLLIN, event.events);
            TAP_EQ(100 + which, event.data.u64);
        }
    }
    return predictions;
}

static void case_row(void)
{
    const world_t world = begin("a row of receives");

    TAP_EQ(0, look(&world, 0, 100));
    receive(&world, 0, 7);
    TAP_EQ(0, look(&world, 0, 100));
    receive(&world, 0, 1);
    TAP_EQ(70, look(&world, 0, 80));
    end(&world);
}

static void case_another(void)
{
    const world_t world = begin("another connection");

    receive(&world, 0, 8);
    receive(&world, 1, 1);
    TAP_EQ(0, look(&world, 0, 100));
    receive(&world, 0, 7);
    receive(&world, 1, 8);
    TAP_EQ(70, look(&world, 1, 80));
    end(&world);
}

static void case_vain(void)
{
    const world_t world = begin("nothing comes");

    receive(&world, 0, 100);
    TAP_EQ(256, look(&world, 0, 1000));
    TAP_EQ(0, look(&world, 0, 1000));
    receive(&world, 0, 1);
    TAP_EQ(256, look(&world, 0, 1000));
    end(&world);
}

/** A connection of TCP, whose segments have a size. */
static int tcp_connect(int *other)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t size = sizeof(here);

    TAP_EQ(0, bind(listener, (struct sockaddr *) &here, size));
    TAP_EQ(0, listen(listener, 1));
    TAP_EQ(0, getsockname(listener, (struct sockaddr *) &here, &size));
    TAP_EQ(0, connect(fd, (struct sockaddr *) &here, size));
    *other = accept(listener, NULL, NULL);
    (void) close(listener);
    return fd;
}

static void case_segments(void)
{
    world_t world = begin("messages of several segments");
    int other, segment = 0;
    socklen_t size = sizeof(segment);

    (void) mca_btl_epofi_sockets_close(world.fd[0]);
    world.fd[0] = tcp_connect(&other);
    mca_btl_epofi_socket_enter(world.fd[0]);
    watch(&world, 0, EPOLLIN);
    TAP_EQ(0, getsockopt(world.fd[0], IPPROTO_TCP, TCP_MAXSEG, &segment, &size));
    receive(&world, 0, 8);
    mca_btl_epofi_predict_came(world.fd[0], (size_t) segment + 1);
    TAP_EQ(1, look(&world, 0, 1000));
    mca_btl_epofi_predict_came(world.fd[0], (size_t) segment);
    TAP_EQ(256, look(&world, 0, 1000));
    (void) close(other);
    end(&world);
}

static void case_watched(void)
{
    const world_t world = begin("watched for something else");

    receive(&world, 0, 8);
    watch(&world, 0, 0);
    TAP_EQ(0, look(&world, 0, 16));
    watch(&world, 0, EPOLLOUT);
    TAP_EQ(0, look(&world, 0, 16));
    watch(&world, 0, EPOLLIN | EPOLLOUT);
    TAP_EQ(0, look(&world, 0, 16));
    watch(&world, 0, EPOLLIN);
    TAP_EQ(14, look(&world, 0, 16));
    mca_btl_epofi_predict_unwatched(world.fd[0]);
    TAP_EQ(0, look(&world, 0, 16));
    receive(&world, 0, 8);
    TAP_EQ(0, look(&world, 0, 16));
    end(&world);
}

static void case_closed(void)
{
    const world_t world = begin("closed, and its number somebody else's");
    const int number = world.fd[0];

    receive(&world, 0, 8);
    TAP_EQ(14, look(&world, 0, 16));
    TAP_EQ(0, mca_btl_epofi_sockets_close(number));
    TAP_EQ(0, look(&world, 0, 16));
    TAP_EQ(number, dup2(world.fd[1], number));
    mca_btl_epofi_socket_enter(number);
    TAP_EQ(0, look(&world, 0, 16));
    receive(&world, 0, 8); /* which nobody of ours watches */
    TAP_EQ(0, look(&world, 0, 16));
    end(&world);
}

static void case_other_set(void)
{
    const world_t world = begin("in another set by now");
    world_t other = world;

    other.set = epoll_create1(EPOLL_CLOEXEC);
    mca_btl_epofi_socket_enter(other.set);
    receive(&world, 0, 8);
    TAP_EQ(14, look(&world, 0, 16));
    watch(&other, 0, EPOLLIN);
    TAP_EQ(0, look(&world, 0, 16));
    TAP_EQ(0, look(&other, 0, 16));
    receive(&other, 0, 8);
    TAP_EQ(0, look(&world, 0, 16));
    TAP_EQ(14, look(&other, 0, 16));
    (void) mca_btl_epofi_sockets_close(other.set);
    end(&world);
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epofi_predict", 60);
    case_row();
    case_another();
    case_vain();
    case_segments();
    case_watched();
    case_closed();
    case_other_set();
    return tap_end();
}
