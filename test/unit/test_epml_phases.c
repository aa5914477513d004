/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of ompi/mca/pml/epml/create/pml_epml_phases.h: whatever fails, at which member and when, all
 * come back, all with an error unless it was at the very end, both leaders or none, and nothing is left
 * behind.
 *
 * Members are threads, of one side or of two whose leaders talk to each other; their exchanges are
 * a model of those of pml_epml_bootstrap.c.  Each member in turn fails at each point in turn.
 *
 * Guards: pml_epml_phases.h
 */

#include <pthread.h>

#include "tap.h"

#include "ompi/mca/pml/epml/create/pml_epml_phases.h"

#define ROUNDS 3
#define MEMBERS_MAX 4
#define EXCHANGES_MAX 32

enum { FAILED = 1, EXCUSED = 2, AGREED = 3 };

/** What is between the members of a side. */
typedef struct side_t {
    int members;
    bool lost;      /**< somebody: nothing that takes all works any more */
    int arrived;    /**< at the reduction under way */
    int reductions; /**< over */
    int max, result;
    int passed; /**< on, by the leader */
    int pass[EXCHANGES_MAX];
    int exchanged; /**< by the leader */
    int words[EXCHANGES_MAX];
} side_t;

/** What a run is like. */
typedef struct run_t {
    int members[2];
    bool again; /**< the last phase finds that all must be taken again, once */
    bool done;  /**< the second one, that there is nothing left to do */
    bool alone; /**< what fails does so with one only, and all go on: where they only hear */
    int side, member, point; /**< the member that fails, at which of its points */
} run_t;

typedef struct member_t {
    const run_t *run;
    int side, index;
    int points;                         /**< passed so far */
    bool fails_now, has_failed, at_end; /**< at_end: in the last thing sent */
    int phase;                          /**< the one under way */
    int passed;                         /**< heard from the leader so far */
    bool owes, once, hears;
    int agreed; /**< the worst of all */
    int made[ROUNDS];
    int calls, rc;
} member_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static side_t sides[2];

/* ---- exchanges ------------------------------------------------------------------------------- */

static bool is_leader(const member_t *m)
{
    return 0 == m->index;
}

static int last_round(const run_t *run)
{
    return run->done ? 1 : ROUNDS - 1;
}

/** One more point where something may fail.  @return whether it does */
static bool point(member_t *m)
{
    const run_t *run = m->run;
    const bool fails = run->side == m->side && run->member == m->index && run->point == m->points++
                       && (!run->alone || m->hears);

    if (fails) {
        m->has_failed = true;
        m->at_end = !m->hears && last_round(run) == m->phase && (m->once || !run->again);
    }
    return fails;
}

/** Of this side, the largest.  Under the lock. */
static int reduce(member_t *m, int *value)
{
    side_t *side = &sides[m->side];
    const int reduction = side->reductions;
    const bool fails = point(m);

    side->lost = side->lost || (fails && !m->run->alone);
    if (side->lost) {
        (void) pthread_cond_broadcast(&changed);
        return FAILED;
    }
    side->max = side->max < *value ? *value : side->max;
    if (++side->arrived == side->members) {
        side->result = side->max;
        side->max = side->arrived = 0;
        ++side->reductions;
        (void) pthread_cond_broadcast(&changed);
    }
    while (reduction == side->reductions && !side->lost) {
        (void) pthread_cond_wait(&changed, &lock);
    }
    if (reduction == side->reductions) {
        return FAILED;
    }
    *value = side->result;
    return fails ? FAILED : 0;
}

/** From the leader, which does not wait.  Likewise. */
static int pass_on(member_t *m, int *value)
{
    side_t *side = &sides[m->side];
    const int number = m->passed++;
    const bool fails = point(m);

    side->lost = side->lost || (fails && !m->run->alone);
    if (is_leader(m) && !side->lost) {
        side->pass[side->passed++] = *value;
    }
    (void) pthread_cond_broadcast(&changed);
    while (number >= side->passed && !side->lost) {
        (void) pthread_cond_wait(&changed, &lock);
    }
    if (number >= side->passed || (side->lost && fails)) {
        return FAILED;
    }
    *value = side->pass[number];
    return fails ? FAILED : 0;
}

/** Between leaders.  Likewise. */
static int exchange(member_t *m, int rc, int word, int *theirs)
{
    side_t *mine = &sides[m->side], *other = &sides[1 - m->side];
    const int number = mine->exchanged++;

    mine->words[number] = 0 == rc ? word : -1;
    (void) pthread_cond_broadcast(&changed);
    while (number >= other->exchanged) {
        (void) pthread_cond_wait(&changed, &lock);
    }
    *theirs = other->words[number];
    m->owes = 0 == rc && 0 <= *theirs;
    return 0 != rc ? rc : 0 > *theirs ? EXCUSED : 0;
}

/** Likewise. */
static int swap(member_t *m, int rc, int word, int *theirs)
{
    int result = rc, passed;

    if (0 == m->run->members[1]) {
        return rc;
    }
    if (is_leader(m)) {
        result = exchange(m, rc, word, theirs);
        result = 0 == result ? 1000 + *theirs : result;
    }
    passed = pass_on(m, &result);
    if (0 == passed && 1000 <= result) {
        *theirs = result - 1000;
        result = 0;
    }
    return 0 != rc ? rc : 0 != passed ? passed : result;
}

/* ---- phases ---------------------------------------------------------------------------------- */

static int hear(void *work, int rc)
{
    member_t *m = work;
    int word = 0, theirs = 0, reduced;

    (void) pthread_mutex_lock(&lock);
    ++m->calls;
    m->hears = true;
    reduced = reduce(m, &word);
    rc = swap(m, 0 != rc ? rc : reduced, 0, &theirs);
    m->hears = false;
    (void) pthread_mutex_unlock(&lock);
    return rc;
}

static int make(void *work)
{
    member_t *m = work;

    ++m->made[m->phase];
    return !m->run->alone && point(m) ? FAILED : 0;
}

static int tell(void *work, int rc)
{
    member_t *m = work;
    int word = 0 != rc, theirs = 0;

    (void) pthread_mutex_lock(&lock);
    ++m->calls;
    rc = reduce(m, &word);
    rc = swap(m, rc, word, &theirs);
    m->agreed = word < theirs ? theirs : word;
    (void) pthread_mutex_unlock(&lock);
    return rc;
}

static epml_verdict_t conclude(void *work, int *rc)
{
    member_t *m = work;
    const int phase = m->phase++;

    if (0 != m->agreed) {
        *rc = 0 == *rc ? AGREED : *rc;
        return EPML_VERDICT_FAILED;
    }
    if (last_round(m->run) == phase && m->run->again && !m->once) {
        m->once = true;
        m->phase = 0;
        return EPML_VERDICT_AGAIN;
    }
    return last_round(m->run) == phase && m->run->done ? EPML_VERDICT_DONE : EPML_VERDICT_NEXT;
}

#define UNDO(n)                                                                     \
    static void undo_##n(void *work)                                                \
    {                                                                               \
        member_t *m = work;                                                         \
                                                                                    \
        for (int i = n + 1; i < ROUNDS; ++i) {                                      \
            TAP_CHECK(0 == m->made[i], "phase %d is undone before phase %d", n, i); \
        }                                                                           \
        m->made[n] = 0;                                                             \
    }

UNDO(1)
UNDO(2)

static bool owes(const void *work)
{
    return ((const member_t *) work)->owes;
}

static void *member_run(void *work)
{
    static const epml_phase_t first
        = {.make = make, .agree = tell, .conclude = conclude},
        second
        = {.exchange = hear, .make = make, .agree = tell, .conclude = conclude, .undo = undo_1},
        third = {
            .exchange = hear, .make = make, .agree = tell, .conclude = conclude, .undo = undo_2};
    static const epml_phase_t *const phases[ROUNDS] = {&first, &second, &third};
    member_t *m = work;

    m->rc = epml_phases_run(phases, ROUNDS, owes, m, 0);
    return NULL;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void check(const run_t *run, const member_t *m, bool has_failed, bool at_end)
{
    TAP_CHECK(has_failed || 0 == m->rc, "member %d of side %d: error %d", m->index, m->side, m->rc);
    TAP_CHECK(!has_failed || at_end || 0 != m->rc,
              "member %d of side %d has not noticed: point %d of %d, side %d", m->index, m->side,
              run->point, run->member, run->side);
    for (int i = 1; i < ROUNDS; ++i) {
        TAP_CHECK((0 == m->rc && i <= last_round(run) ? 1 : 0) == m->made[i],
                  "member %d of side %d: error %d, %d made in phase %d", m->index, m->side, m->rc,
                  m->made[i], i);
    }
    TAP_CHECK(1 + run->again >= m->made[0], "%d endpoints", m->made[0]);
}

/** @return whether the point at which something was to fail was there */
static bool run_once(const run_t *run)
{
    member_t members[2][MEMBERS_MAX] = {{{0}}};
    pthread_t threads[2][MEMBERS_MAX];
    bool has_failed = false, at_end = false;

    memset(sides, 0, sizeof(sides));
    for (int s = 0; s < 2; ++s) {
        sides[s].members = run->members[s];
        for (int i = 0; i < run->members[s]; ++i) {
            members[s][i] = (member_t){.run = run, .side = s, .index = i};
            (void) pthread_create(&threads[s][i], NULL, member_run, &members[s][i]);
        }
    }
    for (int s = 0; s < 2; ++s) {
        for (int i = 0; i < run->members[s]; ++i) {
            (void) pthread_join(threads[s][i], NULL);
            has_failed = has_failed || members[s][i].has_failed;
            at_end = at_end || members[s][i].at_end;
        }
    }
    for (int s = 0; s < 2; ++s) {
        for (int i = 0; i < run->members[s]; ++i) {
            check(run, &members[s][i], has_failed, at_end);
        }
    }
    TAP_EQ(sides[0].exchanged, sides[1].exchanged); /* nothing is left on the bridge */
    TAP_CHECK(0 == run->members[1] || (0 == members[0][0].rc) == (0 == members[1][0].rc),
              "point %d of member %d of side %d: leaders end with %d and %d", run->point,
              run->member, run->side, members[0][0].rc, members[1][0].rc);
    return has_failed;
}

static void case_runs(const char *what, run_t run)
{
    int failures = 0;

    for (run.side = 0; run.side < 2; ++run.side) {
        for (run.member = 0; run.member < run.members[run.side]; ++run.member) {
            bool is_there = true;

            tap_case("%d and %d members, %s: member %d of side %d fails", run.members[0],
                     run.members[1], what, run.member, run.side);
            /* Those that are left out of a notice are no end. */
            for (run.point = 0; is_there || (run.alone && 30 > run.point); ++run.point) {
                is_there = run_once(&run);
                failures += is_there;
            }
            tap_case_done();
        }
    }
    tap_case("%d and %d members, %s: points", run.members[0], run.members[1], what);
    TAP_CHECK(run.members[0] + run.members[1] < failures, "%d failures", failures);
    tap_case_done();
}

int main(int argc, char **argv)
{
    static const int members[][2] = {{1, 0}, {3, 0}, {1, 1}, {2, 1}, {3, 2}};

    tap_begin(argc, argv, "test_epml_phases", 120);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); ++i) {
        const run_t run = {.members = {members[i][0], members[i][1]}};

        case_runs("all phases", run);
        case_runs("taken again",
                  (run_t){.members = {run.members[0], run.members[1]}, .again = true});
        case_runs("done early", (run_t){.members = {run.members[0], run.members[1]}, .done = true});
        case_runs("alone", (run_t){.members = {run.members[0], run.members[1]}, .alone = true});
    }
    return tap_end();
}
