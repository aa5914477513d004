/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Phases: how members that have not met do something together, so that each learns of each what has
 * gone wrong, and no member waits for one that has stopped.
 *
 * In each phase a member hears (a collective exchange, or none), does something alone, and tells
 * how it went (one more collective exchange).  Whatever fails with it, it takes part in both, so
 * all are always at the same one; what all have sent is the same for all, and so is the verdict.
 *
 * Where the exchange itself fails a member gets nothing more from its own side, and stops.  But
 * members may be two sides, of which only the leaders communicate with each other; then the other
 * side may have succeeded, gone on, and wait for this side's leader.  So a leader that owes an
 * answer does one phase more, without doing anything, and reports that its side has failed.  After the
 * last phase there is nothing to report by: such a leader has succeeded, as the other leader has.
 *
 * Knows nothing of MPI: what is said, and how, is the caller's (pml_epml_creation.c).
 *
 * Tests: unit/test_epml_phases, unit/test_epml_traversal, ulfm_connect
 */

#ifndef MCA_PML_EPML_PHASES_H
#define MCA_PML_EPML_PHASES_H

#include <stdbool.h>
#include <stddef.h>

/** How it goes on, the same for all that have agreed. */
typedef enum epml_verdict_t {
    EPML_VERDICT_NEXT,  /**< with the next phase; after the last one it is done */
    EPML_VERDICT_AGAIN, /**< with the first phase, after all has been undone */
    EPML_VERDICT_DONE,  /**< all is done: the phases that are left have nothing to do */
    EPML_VERDICT_FAILED /**< not at all */
} epml_verdict_t;

/** A phase.  All functions get what the caller of epml_phases_run hands over; 0 is success, all
 * else the caller's own errors. */
typedef struct epml_phase_t {
    /** With all.  @param[in] rc  what has failed here before, or 0
     * @return rc, or else what has failed now; NULL: there is nothing to hear */
    int (*exchange)(void *work, int rc);

    /** Alone, if nothing has failed here. */
    int (*make)(void *work);

    /** With all.  @param[in] rc  what has failed here so far, or 0
     * @return 0: all that all have sent is known here; else it may be known to others */
    int (*agree)(void *work, int rc);

    /** Alone, of what all have sent.
     * @param[in,out] rc  what has failed here so far, or 0; after FAILED it must not be 0 */
    epml_verdict_t (*conclude)(void *work, int *rc);

    /** Alone: give up what make has made, if it has.  NULL: it stays for the next time. */
    void (*undo)(void *work);
} epml_phase_t;

/** Undo phases, the last one first. */
static inline void epml_phases_undo(const epml_phase_t *const *phases, int begun, void *work)
{
    while (0 < begun--) {
        if (NULL != phases[begun]->undo) {
            phases[begun]->undo(work);
        }
    }
}

/**
 * Take count phases.  All members that start the same phases finish them, if each exchange returns.
 *
 * @param[in] owes    does this member lead a side, and has the other one had all that it waited for
 *                    so far?
 * @param[in] failed  0; or what has failed before the first phase, while the other side was
 *                    notified that all is well: one phase for its sake
 *
 * @return 0, or an error; then all has been undone
 */
static inline int epml_phases_run(const epml_phase_t *const *phases, int count,
                                  bool (*owes)(const void *work), void *work, int failed)
{
    epml_verdict_t verdict = EPML_VERDICT_NEXT;
    int at = 0, begun = 0;

    while (at < count && EPML_VERDICT_DONE != verdict && EPML_VERDICT_FAILED != verdict) {
        const bool is_last = 0 != failed;
        const epml_phase_t *phase = phases[at];
        int rc = NULL != phase->exchange ? phase->exchange(work, failed) : failed, agreed;

        begun = ++at;
        if (0 == rc) {
            rc = phase->make(work);
        }
        agreed = phase->agree(work, rc);
        if (0 != agreed && 0 == failed) {
            failed = 0 != rc ? rc : agreed;
        }
        if (is_last || (0 != agreed && !owes(work))) {
            break;
        }
        verdict = phase->conclude(work, &rc);
        if (EPML_VERDICT_FAILED == verdict && 0 == failed) {
            failed = rc;
        } else if (EPML_VERDICT_DONE == verdict || (EPML_VERDICT_NEXT == verdict && count == at)) {
            failed = 0;
        } else if (EPML_VERDICT_AGAIN == verdict) {
            epml_phases_undo(phases, begun, work);
            at = 0;
        }
    }
    if (0 != failed) {
        epml_phases_undo(phases, begun, work);
    }
    return failed;
}

#endif /* MCA_PML_EPML_PHASES_H */
