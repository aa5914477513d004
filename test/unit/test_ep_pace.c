/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Choosing the faster of two ways (common_ep_pace.h), with times that the test makes up.
 *
 * Guards: common_ep_pace.h
 */

#include "opal/mca/common/ep/common_ep_pace.h"

#include "tap.h"

/** Somebody else has the core now and then. */
static bool disturbed = true;

/** Turns in which the ways take so long.  @return how often the second one was taken */
static unsigned int run(ep_pace_t *pace, unsigned int turns, uint64_t first, uint64_t second,
                        uint64_t *random)
{
    unsigned int others = 0;

    for (unsigned int i = 0; i < turns; ++i) {
        const bool other = ep_pace_choose(pace);
        const size_t units = 1 + tap_below(random, 100000);
        uint64_t ticks = (other ? second : first) * units;

        ticks += disturbed && 0 == tap_below(random, 30) ? 50 * ticks : 0;
        ep_pace_note(pace, other, ticks, units);
        /* One that was under way since before. */
        if (0 == tap_below(random, 50) && ep_pace_measures(pace)) {
            ep_pace_note(pace, !ep_pace_choose(pace), 1, units);
        }
        others += other;
    }
    return others;
}

static void case_choice(void)
{
    uint64_t random = tap_stream(1);

    tap_case("the faster way is found, kept, and left when it is no more");
    for (int round = 0; round < 50; ++round) {
        ep_pace_t pace = {.turn = 0};

        (void) run(&pace, 2 * EP_PACE_TRIAL, 300, 200, &random);
        (void) run(&pace, 1000, 300, 200, &random);
        TAP_CHECK(pace.other, "the slower one stays");
        /* The next trial is at most so far away; the first may go wrong by bad luck. */
        (void) run(&pace, 3 * (EP_PACE_MOST + 2 * EP_PACE_TRIAL_MOST), 200, 300, &random);
        TAP_CHECK(!pace.other, "stays with what has become slow");
    }
    tap_case_done();
}

static void case_cost(void)
{
    uint64_t random = tap_stream(2);
    ep_pace_t pace = {.turn = 0};
    unsigned int others;

    tap_case("little is spent on trials");
    others = run(&pace, 10, 200, 290, &random);
    TAP_EQ(EP_PACE_TRIAL, others);
    (void) run(&pace, 40000, 200, 290, &random);
    others = run(&pace, 10 * EP_PACE_MOST, 200, 290, &random);
    TAP_CHECK(others <= 10 * EP_PACE_TRIAL_MOST && 9 * EP_PACE_TRIAL_MOST <= others,
              "%u of %u turns the slow way", others, 10 * EP_PACE_MOST);
    tap_case_done();
}

/** Few messages, of which hardly any may be the slow way's. */
static void case_clear(void)
{
    uint64_t random = tap_stream(4);
    ep_pace_t pace = {.turn = 0};
    unsigned int others;

    tap_case("a way that is clearly slower is given up soon");
    disturbed = false;
    others = run(&pace, 1000, 200, 500, &random);
    TAP_EQ(3 * EP_PACE_HOPELESS, others); /* at first, after 64 turns, after 512 */
    pace = (ep_pace_t){.turn = 0};
    others = run(&pace, 1000, 200, 320, &random);
    TAP_EQ(EP_PACE_TRIAL + 2 * EP_PACE_SLOW, others);
    TAP_CHECK(!pace.other, "the slower way is taken");
    disturbed = true;
    tap_case_done();
}

/** The first turns of all may take long, whichever way they go. */
static void case_warming(void)
{
    ep_pace_t pace = {.turn = 0};

    tap_case("what has to warm up first is not held against the way that comes first");
    for (unsigned int i = 0; i < 2 * EP_PACE_TRIAL; ++i) {
        const bool other = ep_pace_choose(&pace);
        const uint64_t ticks = (other ? 300 : 200) + (i < EP_PACE_TRIAL - 1 ? 2000 / (i + 1) : 0);

        TAP_EQ(EP_PACE_TRIAL <= i, other);
        ep_pace_note(&pace, other, 1000 * ticks, 1000);
    }
    TAP_CHECK(!pace.other, "the slower way is taken");
    tap_case_done();
}

static void case_equal(void)
{
    uint64_t random = tap_stream(3);
    ep_pace_t pace = {.turn = 0};

    tap_case("a hair's breadth changes nothing");
    disturbed = false;
    (void) run(&pace, 100000, 205, 200, &random);
    TAP_CHECK(!pace.other, "changed for 2 %%");
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_ep_pace", 60);
    case_choice();
    case_cost();
    case_clear();
    case_warming();
    case_equal();
    return tap_end();
}
