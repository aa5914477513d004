/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * For how many modules a provider has room, by what it says of itself; and descriptors.
 *
 * Guards: btl_epofi_context_limit.h
 */

#define _GNU_SOURCE

#include "opal/mca/btl/epofi/fabric/btl_epofi_context_limit.h"

#include "tap.h"

#include <fcntl.h>
#include <unistd.h>

/** How many modules may share a context. */
#define SHARED EPOFI_CONTEXT_LIMIT_SHARE

/* A provider with so many endpoints, and queues that go out and come in. */
static void expect_room(size_t endpoints, size_t out, size_t in, long descriptors, int optimal,
                        int maximum)
{
    struct fi_domain_attr domain = {.ep_cnt = endpoints, .tx_ctx_cnt = out, .rx_ctx_cnt = in};
    const struct fi_info info = {.domain_attr = &domain};
    int found_optimal = -1, found_maximum = -1;

    epofi_context_limit_of(&info, 0, 1, descriptors, &found_optimal, &found_maximum);
    TAP_EQ(optimal, found_optimal);
    TAP_EQ(maximum, found_maximum);
}

static void case_providers(void)
{
    tap_case("providers");
    expect_room(0, 0, 0, -1, INT_MAX, INT_MAX);
    expect_room(160, 16, 32, -1, 16, 159 + SHARED);
    expect_room(160, 32, 16, -1, 16, 159 + SHARED);
    expect_room(3, 256, 256, -1, 3, 2 + SHARED);
    expect_room(1, 0, 0, -1, 1, SHARED);
    expect_room((size_t) INT_MAX + 5, 0, 0, -1, INT_MAX, INT_MAX);
    tap_case_done();
}

/* Of a provider with so many endpoints: contexts for one module each, and for sharing. */
static void expect_plan(size_t endpoints, unsigned int most, unsigned int shared, unsigned int own,
                        unsigned int for_sharing)
{
    struct fi_domain_attr domain = {.ep_cnt = endpoints};
    const struct fi_info info = {.domain_attr = &domain};
    epofi_context_limit_plan_t plan;

    epofi_context_limit_plan(&info, most, shared, &plan);
    TAP_EQ(own, plan.own);
    TAP_EQ(for_sharing, plan.shared);
}

static void case_plans(void)
{
    tap_case("which contexts are shared");
    expect_plan(0, 0, 1, INT_MAX, 0);
    expect_plan(8, 0, 1, 7, 1);
    expect_plan(1, 0, 1, 0, 1);
    expect_plan(8, 2, 1, 1, 1);
    expect_plan(2, 8, 1, 1, 1);
    expect_plan(0, 8, 8, 0, 8);
    expect_plan(0, 3, 8, 0, 3);
    tap_case_done();
}

static void case_descriptors(void)
{
    tap_case("descriptors");
    expect_room(0, 0, 0, 41, 10, 10);
    expect_room(5, 0, 0, 41, 5, 4 + SHARED);
    expect_room(11, 0, 0, 41, 10, 10);
    expect_room(0, 7, 0, 41, 7, 10);
    expect_room(0, 0, 0, 3, 0, 0);
    expect_room(0, 0, 0, 0, 0, 0);
    tap_case_done();
}

static void case_own_descriptors(void)
{
    struct rlimit limit = {0};
    long before;
    int fd;

    tap_case("descriptors of this process");
    TAP_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = 64;
    TAP_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
    before = epofi_context_limit_descriptors();
    fd = open("/dev/null", O_RDONLY);
    TAP_EQ(before - 1, epofi_context_limit_descriptors());
    for (long i = 1; i < before; ++i) {
        TAP_CHECK(0 <= open("/dev/null", O_RDONLY), "%ld of %ld", i, before);
    }
    TAP_EQ(-1, open("/dev/null", O_RDONLY));
    TAP_EQ(0, close(fd));
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epofi_context_limit", 60);
    case_providers();
    case_plans();
    case_descriptors();
    case_own_descriptors();
    return tap_end();
}
