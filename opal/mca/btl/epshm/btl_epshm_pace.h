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
 * Which of two ways to do a thing is the faster one here and now?
 *
 * Whether two cores copy faster than one depends on where they are, which may change (a hypervisor
 * moves them, a thread is not bound), and on the size.  So it is tried: some turns of the way that
 * is thought the better one are measured, then some of the other, and the best of each count.
 * Trials become longer and rarer: the first costs five turns of the slower way, later ones a
 * hundredth of all turns at most.
 *
 * Not atomic: something else orders those who use one.  Standalone.  Tests:
 * test/unit/test_epshm_pace.c.
 */

#ifndef BTL_EPSHM_PACE_H
#define BTL_EPSHM_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/** Turns of each way in the first trial, and in the longest: what has been copied the one way leaves
 * its traces, lines in another cache, in buffers that come again after many turns. */
#define EPSHM_PACE_TRIAL 5
#define EPSHM_PACE_TRIAL_MOST 160

/** Turns between trials, at first and at most. */
#define EPSHM_PACE_FIRST 64
#define EPSHM_PACE_MOST 16384

typedef struct epshm_pace_t {
    bool other;        /**< the second way is the better one */
    uint32_t turn;     /**< since the last trial */
    uint32_t interval; /**< turns until the next; 0: never tried */
    uint32_t trial;    /**< turns of each way in it, less EPSHM_PACE_TRIAL */
    uint64_t best[2];  /**< least time of the trial for 1024 units: of the better way, the other */
} epshm_pace_t;

/** A clock that goes with little effort; its unit does not matter. */
static inline uint64_t epshm_pace_clock(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
#endif
}

static inline uint32_t epshm_pace_trial(const epshm_pace_t *pace)
{
    return EPSHM_PACE_TRIAL + pace->trial;
}

/** Is this turn one of a trial, of the way that is thought the worse one? */
static inline bool epshm_pace_tries(const epshm_pace_t *pace)
{
    return pace->turn >= pace->interval + epshm_pace_trial(pace);
}

/** Should the second way be taken this time? */
static inline bool epshm_pace_choose(const epshm_pace_t *pace)
{
    return pace->other != epshm_pace_tries(pace);
}

/** Is the time of this turn wanted? */
static inline bool epshm_pace_measures(const epshm_pace_t *pace)
{
    return pace->turn >= pace->interval;
}

/** Both have been tried. */
static inline void epshm_pace_decide(epshm_pace_t *pace)
{
    /* Not for a hair's breadth, or the two would change places again and again. */
    const bool change = pace->best[1] + pace->best[1] / 16 < pace->best[0];

    if (change) {
        pace->other = !pace->other;
    }
    /* Eight times as far, until the trials are as long as they get. */
    if (0 == pace->interval) {
        pace->interval = EPSHM_PACE_FIRST;
    } else if (EPSHM_PACE_MOST > pace->interval) {
        pace->interval *= EPSHM_PACE_TRIAL_MOST == epshm_pace_trial(pace) && !change ? 2 : 8;
        pace->interval = EPSHM_PACE_MOST < pace->interval ? EPSHM_PACE_MOST : pace->interval;
    }
    pace->trial = EPSHM_PACE_FIRST == pace->interval ? 3 * EPSHM_PACE_TRIAL
                                                     : EPSHM_PACE_TRIAL_MOST - EPSHM_PACE_TRIAL;
    pace->turn = 0;
}

/**
 * The turn is over.
 *
 * @param[in] ticks  it has taken, if epshm_pace_measures
 * @param[in] units  of work in it
 */
static inline void epshm_pace_note(epshm_pace_t *pace, uint64_t ticks, size_t units)
{
    if (epshm_pace_measures(pace)) {
        const uint32_t in_trial = (pace->turn - pace->interval) % epshm_pace_trial(pace);
        uint64_t *best = &pace->best[epshm_pace_tries(pace) ? 1 : 0];
        const uint64_t pace_now = ticks * 1024 / (0 < units ? units : 1);

        if (1 >= in_trial || pace_now < *best) {
            *best = pace_now;
        }
        if (pace->turn + 1 == pace->interval + 2 * epshm_pace_trial(pace)) {
            epshm_pace_decide(pace);
            return;
        }
    }
    ++pace->turn;
}

#endif /* BTL_EPSHM_PACE_H */
