/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of the biased lock, ompi/mca/pml/epml/base/pml_epml_biased_lock.h, by threads that run in
 * turns:
 *
 *   preempted  an owner that stands still while it comes in, and goes on under another owner;
 *   walks      threads that run one at a time, a few of the lock's atomic accesses each, in an
 *              order that depends on the seed alone, with store buffers modelled: finds
 *              interleavings and missing barriers that a clock hardly ever meets.
 *
 * Everything here is about the bias.  Single cases, litmus and stress: test_epml_lock.c.
 *
 * Guards: pml_epml_biased_lock.h
 */

#include "test_epml_lock.h"

/* ---- walks ---------------------------------------------------------------------------------- */

/** Accesses of the lock that a visit may take: it must not wait for anybody. */
#define VISIT_ACCESSES_MAX 16

typedef struct walk_t walk_t;

typedef struct actor_t {
    walk_t *walk;
    hook_t hook;
    pthread_t thread;
    bool finished;
} actor_t;

/** Nothing here is shared at the same time: one actor runs, or the director. */
struct walk_t {
    epml_lock_t lock;
    actor_t actors[ACTORS];
    actor_t *holder; /**< the thread that is in */
    bool finish;     /**< no more operations */
    uint64_t by_bias, proper, refused, won, lost;
};

static void actor_inside(actor_t *actor)
{
    walk_t *walk = actor->walk;

    TAP_CHECK(NULL == walk->holder, "actor %d came in by %s, and actor %d is in",
              (int) (actor - walk->actors), walk->lock.by_bias ? "bias" : "the lock proper",
              (int) (walk->holder - walk->actors));
    walk->holder = actor;
    if (walk->lock.by_bias) {
        ++walk->by_bias;
    } else {
        ++walk->proper;
    }
    for (uint64_t stay = tap_below(&actor->hook.random, 6); 0 < stay; --stay) {
        at_access();
    }
    if (actor == walk->holder) {
        walk->holder = NULL;
    }
}

static void *actor_main(void *argument)
{
    actor_t *actor = argument;
    walk_t *walk = actor->walk;
    const uintptr_t self = epml_lock_self();
    bool had = false;

    my_hook = &actor->hook;
    at_access(); /* the first turn */
    while (!walk->finish) {
        const uint64_t dice = tap_below(&actor->hook.random, 4);
        const op_t op = 2 > dice ? OP_ENTER : 2 == dice ? OP_TRY : OP_VISIT;
        bool in;

        actor->hook.accesses = 0;
        in = do_op(&walk->lock, op);
        TAP_CHECK(OP_VISIT != op || VISIT_ACCESSES_MAX >= actor->hook.accesses,
                  "a visit of %llu accesses", (unsigned long long) actor->hook.accesses);
        walk->lost += had && !biased_to(&walk->lock, self);
        if (in) {
            actor_inside(actor);
            epml_lock_leave(&walk->lock, true);
        } else {
            ++walk->refused;
        }
        had = had && biased_to(&walk->lock, self);
        if (!had && biased_to(&walk->lock, self)) {
            had = true;
            ++walk->won;
        }
        at_access();
    }
    buffer_drain(my_hook, BUFFER_MAX);
    my_hook = NULL;
    actor->finished = true;
    sem_post(&actor->hook.back);
    return NULL;
}

static void turn(actor_t *actor, uint64_t budget)
{
    if (!actor->finished) {
        actor->hook.budget = budget;
        sem_post(&actor->hook.go);
        while (0 != sem_wait(&actor->hook.back)) {
        }
    }
}

/** Everybody must get out in the end. */
static void walk_finish(walk_t *walk)
{
    bool all = false;

    walk->finish = true;
    for (int round = 0; !all; ++round) {
        all = true;
        for (int i = 0; i < ACTORS; ++i) {
            turn(&walk->actors[i], 4);
            all = all && walk->actors[i].finished;
        }
        if (10000 < round) {
            printf("Bail out! dead-lock in: %s\n", tap.where);
            exit(99);
        }
    }
    for (int i = 0; i < ACTORS; ++i) {
        pthread_join(walk->actors[i].thread, NULL);
        sem_destroy(&walk->actors[i].hook.go);
        sem_destroy(&walk->actors[i].hook.back);
    }
}

static void case_walk(uint64_t number, uint64_t turns)
{
    static walk_t walk;
    uint64_t random = tap_stream(100 * number), frozen_until = 0;
    actor_t *frozen = NULL;

    tap_case("walk %llu: %d threads, one at a time, bias after %llu", (unsigned long long) number,
             ACTORS, (unsigned long long) (1 + number % 2));
    memset((void *) &walk, 0, sizeof(walk));
    /* Soon, so that a walk sees the bias come and go often. */
    epml_lock_init(&walk.lock, 1 + number % 2);
    for (int i = 0; i < ACTORS; ++i) {
        actor_t *actor = &walk.actors[i];

        actor->walk = &walk;
        walkers[i] = &actor->hook;
        actor->hook.walks = true;
        actor->hook.buffers = true;
        actor->hook.random = tap_stream(100 * number + 1 + (uint64_t) i);
        sem_init(&actor->hook.go, 0, 0);
        sem_init(&actor->hook.back, 0, 0);
        start(&actor->thread, actor_main, actor);
        while (0 != sem_wait(&actor->hook.back)) {
        }
    }
    for (uint64_t t = 0; t < turns && !tap_case_failed(); ++t) {
        actor_t *actor = &walk.actors[tap_below(&random, ACTORS)];

        /* Now and then one stands still for long, wherever it is, as if preempted. */
        if (t >= frozen_until) {
            frozen = 0 == tap_below(&random, 3) ? NULL : actor;
            frozen_until = t + 1 + tap_below(&random, 60);
        }
        if (actor != frozen) {
            turn(actor, 1 + tap_below(&random, 0 == tap_below(&random, 4) ? 40 : 5));
        }
    }
    walk_finish(&walk);
    TAP_CHECK(tap_case_failed()
                  || (0 < walk.by_bias && 0 < walk.proper && 0 < walk.won && 0 < walk.lost
                      && 0 < walk.refused),
              "not everything happened");
    printf("# in by bias %llu, proper %llu, refused %llu; bias won %llu, lost %llu\n",
           (unsigned long long) walk.by_bias, (unsigned long long) walk.proper,
           (unsigned long long) walk.refused, (unsigned long long) walk.won,
           (unsigned long long) walk.lost);
    tap_case_done();
}

/* ---- an owner that is preempted ------------------------------------------------------------- */

typedef struct preempted_t {
    epml_lock_t lock;
    hook_t hook;
    pthread_t thread;
    _Atomic bool owns, in, may_leave;
} preempted_t;

static void wait_for(_Atomic bool *flag)
{
    while (!atomic_load(flag)) {
        usleep(100);
    }
}

/** Take the lock until it is biased to this thread. */
static void win(epml_lock_t *lock, uintptr_t self)
{
    for (int i = 0; i < 4 * EPML_LOCK_BIAS_AFTER && !biased_to(lock, self); ++i) {
        epml_lock_enter(lock);
        epml_lock_leave(lock, true);
    }
}

/** Enters once by the bias and stays in until it is to leave. */
static void *stay_main(void *argument)
{
    preempted_t *other = argument;

    win(&other->lock, epml_lock_self());
    atomic_store(&other->owns, biased_to(&other->lock, epml_lock_self()));
    epml_lock_enter(&other->lock);
    atomic_store(&other->in, true);
    wait_for(&other->may_leave);
    epml_lock_leave(&other->lock, true);
    return NULL;
}

/** The first owner: enters, stopped where its hook says. */
static void *preempted_main(void *argument)
{
    preempted_t *owner = argument;

    win(&owner->lock, epml_lock_self());
    my_hook = &owner->hook;
    epml_lock_enter(&owner->lock);
    epml_lock_leave(&owner->lock, true);
    my_hook = NULL;
    owner->hook.walks = false;
    sem_post(&owner->hook.back);
    return NULL;
}

/**
 * An owner stands still after so many accesses of its entry; the lock loses its bias and, if it
 * will, is biased to another thread, which is in when the first goes on.
 */
static void case_preempted(uint64_t accesses)
{
    static preempted_t shared;
    pthread_t second;

    tap_case("an owner stopped after %llu accesses comes back under another",
             (unsigned long long) accesses);
    memset((void *) &shared, 0, sizeof(shared));
    epml_lock_init(&shared.lock, EPML_LOCK_BIAS_AFTER);
    shared.hook.walks = true;
    shared.hook.budget = accesses;
    sem_init(&shared.hook.go, 0, 0);
    sem_init(&shared.hook.back, 0, 0);
    start(&shared.thread, preempted_main, &shared);
    while (0 != sem_wait(&shared.hook.back)) {
    }
    start(&second, stay_main, &shared);
    wait_for(&shared.in);
    for (int turns = 0; turns < 8; ++turns) {
        shared.hook.budget = 1;
        sem_post(&shared.hook.go);
        while (0 != sem_wait(&shared.hook.back)) {
        }
        TAP_CHECK(shared.hook.walks, "the first owner is in while the second is");
        TAP_CHECK(!epml_lock_try_visit(&shared.lock), "turn %d: a visit while the second is in",
                  turns);
        if (tap_case_failed()) {
            break;
        }
    }
    atomic_store(&shared.may_leave, true);
    if (!tap_case_failed()) {
        shared.hook.budget = UINT64_MAX;
        sem_post(&shared.hook.go);
        pthread_join(shared.thread, NULL);
    } else {
        pthread_detach(shared.thread); /* it never goes on */
    }
    pthread_join(second, NULL);
    printf("# the second was%s biased to\n", atomic_load(&shared.owns) ? "" : " not");
    tap_case_done();
}

int main(int argc, char **argv)
{
    const uint64_t less = TAP_SANITIZED ? 5 : 1;

    tap_begin(argc, argv, "test_epml_lock_walks", TAP_SANITIZED ? 240 : 120);
    if (epml_lock_setup()) {
        /* Not after its store: then all have to wait for it. */
        case_preempted(1);
        for (uint64_t number = 1; number <= 6; ++number) {
            case_walk(number, 12000 / less);
        }
    } else {
        printf("# no membarrier here: nothing is tested with a bias\n");
    }
    return tap_end();
}
