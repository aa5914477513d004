/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of what a thread does while it waits, ompi/mca/pml/epml/base/pml_epml_idle.h: how often, and
 * that a wait of more turns than a counter holds is counted once, and goes on as before.
 *
 * Guards: pml_epml_idle.h
 */

#include "tap.h"

#include "ompi/mca/pml/epml/base/pml_epml_idle.h"

typedef struct counts_t {
    int relax, count, help, yield, anyway;
} counts_t;

static counts_t run(uint32_t *turns, int steps)
{
    counts_t counts = {0};

    for (int i = 0; i < steps; ++i) {
        const unsigned int due = epml_idle_step(turns);

        counts.relax += 0 != (due & EPML_IDLE_RELAX);
        counts.count += 0 != (due & EPML_IDLE_COUNT);
        counts.help += 0 != (due & EPML_IDLE_HELP);
        counts.yield += 0 != (due & EPML_IDLE_YIELD_IF_OVERSUBSCRIBED);
        counts.anyway += 0 != (due & EPML_IDLE_YIELD_ANYWAY);
    }
    return counts;
}

static void case_begin(void)
{
    uint32_t turns = 0;
    counts_t counts;

    tap_case("a wait begins");
    counts = run(&turns, EPML_IDLE_LONG - 1);
    TAP_EQ(0, counts.count);
    TAP_EQ(0, counts.help);
    TAP_EQ(EPML_IDLE_LONG / EPML_IDLE_YIELD_OVERSUBSCRIBED - 1, counts.yield);
    counts = run(&turns, 1);
    TAP_EQ(1, counts.count);
    TAP_EQ(1, counts.help);
    TAP_EQ(0, counts.anyway);
    counts = run(&turns, 99 * EPML_IDLE_LONG);
    TAP_EQ(0, counts.count);
    TAP_EQ(99, counts.help);
    TAP_EQ(0, counts.anyway);
    tap_case_done();
}

static void case_wrap(void)
{
    enum { LONGS = 1000 };
    uint32_t turns = UINT32_MAX - EPML_IDLE_LONG * LONGS / 2;
    counts_t counts;

    tap_case("more turns than a counter holds: counted once, and nothing forgotten");
    counts = run(&turns, EPML_IDLE_LONG * LONGS);
    TAP_CHECK(turns < UINT32_MAX / 2, "it has not wrapped around");
    TAP_EQ(0, counts.count);
    TAP_EQ(LONGS, counts.help);
    TAP_EQ(LONGS, counts.anyway);
    TAP_EQ(EPML_IDLE_LONG * LONGS / EPML_IDLE_YIELD_OVERSUBSCRIBED, counts.yield);
    TAP_EQ(EPML_IDLE_LONG * LONGS / 2, counts.relax);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_idle", 60);
    case_begin();
    case_wrap();
    return tap_end();
}
