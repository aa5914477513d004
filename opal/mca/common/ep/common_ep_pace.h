/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which of two ways to do a thing is the faster one here and now?
 *
 * Whether two cores copy faster than one depends on where they are, which may change (a hypervisor
 * moves them, a thread is not bound), and on the size.  So it is tried: some turns of the way that
 * is thought the better one are measured, then some of the other.
 * Trials become longer and rarer: the first costs five turns of the slower way, later ones a
 * hundredth of all turns at most; and a way that is clearly the slower one is not tried to the end.
 *
 * Not atomic: the callers order their accesses.  Standalone.
 *
 * Tests: unit/test_ep_pace
 */

#ifndef OPAL_COMMON_EP_PACE_H
#define OPAL_COMMON_EP_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/** Turns of each way in the first trial, and in the longest: what has been copied the one way
 * leaves its traces, lines in another cache, in buffers that come again after many turns. */
#define EP_PACE_TRIAL 5
#define EP_PACE_TRIAL_MOST 80

/** Turns of the worse way in a trial after which it is over if the fastest of them took more than
 * twice the other's mean, and likewise if more than one and a half times.  A program may have no
 * more than some dozens of messages of a few MiB. */
#define EP_PACE_HOPELESS 5
#define EP_PACE_SLOW 20

/** Turns between trials, at first and at most. */
#define EP_PACE_FIRST 64
#define EP_PACE_MOST 16384

typedef struct ep_pace_t {
    bool other;        /**< the second way is the better one */
    uint32_t turn;     /**< since the last trial */
    uint32_t interval; /**< turns until the next; 0: never tried */
    uint32_t trial;    /**< turns of each way in it, less EP_PACE_TRIAL */
    uint64_t best[2];  /**< least time of the trial for 1024 units: of the better way, the other */
    uint64_t sum[2];   /**< of all its times */
} ep_pace_t;

/** A clock that goes with little effort; its unit does not matter. */
static inline uint64_t ep_pace_clock(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
#endif
}

static inline uint32_t ep_pace_trial(const ep_pace_t *pace)
{
    return EP_PACE_TRIAL + pace->trial;
}

/** Is this turn one of a trial, of the way that is thought the worse one? */
static inline bool ep_pace_tries(const ep_pace_t *pace)
{
    return pace->turn >= pace->interval + ep_pace_trial(pace);
}

/** Should the second way be taken this time? */
static inline bool ep_pace_choose(const ep_pace_t *pace)
{
    return pace->other != ep_pace_tries(pace);
}

/** Is the time of this turn wanted? */
static inline bool ep_pace_measures(const ep_pace_t *pace)
{
    return pace->turn >= pace->interval;
}

/** Both have been tried. */
static inline void ep_pace_decide(ep_pace_t *pace)
{
    /* The first turns of all are slow in themselves (pages, caches), so that the fastest counts. */
    const uint64_t *const took = 0 == pace->interval ? pace->best : pace->sum;
    /* Not for a hair's breadth, or the two would change places again and again. */
    const bool change = took[1] + took[1] / 16 < took[0];

    if (change) {
        pace->other = !pace->other;
    }
    /* Eight times as far, until the trials are as long as they get. */
    if (0 == pace->interval) {
        pace->interval = EP_PACE_FIRST;
    } else if (EP_PACE_MOST > pace->interval) {
        pace->interval *= EP_PACE_TRIAL_MOST == ep_pace_trial(pace) && !change ? 2 : 8;
        pace->interval = EP_PACE_MOST < pace->interval ? EP_PACE_MOST : pace->interval;
    }
    pace->trial = EP_PACE_FIRST == pace->interval ? 3 * EP_PACE_TRIAL
                                                  : EP_PACE_TRIAL_MOST - EP_PACE_TRIAL;
    pace->turn = 0;
}

/** So many turns of the worse way: is it clear that it is that? */
static inline bool ep_pace_is_clear(const ep_pace_t *pace, uint32_t turns)
{
    const uint64_t mean = pace->sum[0] / ep_pace_trial(pace);

    return (EP_PACE_HOPELESS == turns && pace->best[1] > 2 * mean)
           || (EP_PACE_SLOW == turns && pace->best[1] > mean + mean / 2);
}

/** A measured turn: its time counts as at most so many times the best one's, since another thread
 * may have had the core. */
#define EP_PACE_CLIP 8

static inline void ep_pace_measured(ep_pace_t *pace, uint64_t ticks, size_t units)
{
    const uint32_t trial = ep_pace_trial(pace), in_trial = (pace->turn - pace->interval) % trial;
    const unsigned int way = ep_pace_tries(pace) ? 1 : 0;
    const uint64_t now = ticks * 1024 / (0 < units ? units : 1);

    if (1 >= in_trial) {
        pace->best[way] = now;
        pace->sum[way] = 0;
    }
    if (now < pace->best[way]) {
        /* What came before counts as if this had been known. */
        const uint64_t most = EP_PACE_CLIP * now * in_trial;

        pace->best[way] = now;
        pace->sum[way] = pace->sum[way] < most ? pace->sum[way] : most;
    }
    pace->sum[way] += now < EP_PACE_CLIP * pace->best[way] ? now : EP_PACE_CLIP * pace->best[way];
    if (1 == way && ep_pace_is_clear(pace, in_trial + 1)) {
        pace->sum[1] = pace->sum[0]; /* what it took in fewer turns would pass for less */
        ep_pace_decide(pace);
        return;
    }
    if (pace->turn + 1 == pace->interval + 2 * trial) {
        ep_pace_decide(pace);
        return;
    }
    ++pace->turn;
}

/**
 * The turn is over.
 *
 * @param[in] other  it went the second way: where several are under way at a time, it may have been
 *                   chosen before the last change, and is not what is to be measured now
 * @param[in] ticks  it has taken, if ep_pace_measures
 * @param[in] units  of work in it
 */
static inline void ep_pace_note(ep_pace_t *pace, bool other, uint64_t ticks, size_t units)
{
    if (!ep_pace_measures(pace)) {
        ++pace->turn;
    } else if (other == ep_pace_choose(pace)) {
        ep_pace_measured(pace, ticks, units);
    }
}

#endif /* OPAL_COMMON_EP_PACE_H */
