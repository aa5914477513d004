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
 * Test of the biased lock, ompi/mca/pml/epml/pml_epml_biased_lock.h, in three ways:
 *
 *   walks   threads that run one at a time, a few of the lock's atomic accesses each, in an order
 *           that depends on the seed alone, with store buffers modelled: finds interleavings and
 *           missing barriers that a clock hardly ever meets;
 *   litmus  two threads that meet at the lock with full store buffers: finds a missing barrier;
 *   stress  more threads than cores, with random delays between the lock's accesses or without.
 *
 * The lock's header is compiled here with a hook before each of its atomic accesses and system
 * calls.  Run the test under ThreadSanitizer too.
 */

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>

#include "tap.h"

/* ---- the lock, with hooks ------------------------------------------------------------------- */

/** Threads of a walk. */
#define ACTORS 4

#define BUFFER_MAX 4

/** What a thread does before each access of the lock. */
typedef struct hook_t {
    uint64_t random;
    uint64_t laziness; /**< stress: one delay in so many accesses */
    bool walks;        /**< walk: give the turn back when the budget is spent */
    uint64_t budget;   /**< accesses left in this turn */
    uint64_t accesses; /**< in this operation */
    sem_t go, back;

    /* A walk's model of a core that stores late, in order (total store order). */
    bool buffers;
    int buffered;
    struct {
        void *object;
        size_t size;
        uintptr_t value;
    } buffer[BUFFER_MAX];
} hook_t;

static _Thread_local hook_t *my_hook;
static hook_t *walkers[ACTORS];

/** Let the oldest stores reach the memory. */
static void buffer_drain(hook_t *hook, int count)
{
    for (; 0 < count && 0 < hook->buffered; --count) {
        /* Relaxed is enough: the threads of a walk take turns. */
        if (sizeof(bool) == hook->buffer[0].size) {
            atomic_store_explicit((_Atomic bool *) hook->buffer[0].object,
                                  0 != hook->buffer[0].value, memory_order_relaxed);
        } else {
            atomic_store_explicit((_Atomic uintptr_t *) hook->buffer[0].object,
                                  hook->buffer[0].value, memory_order_relaxed);
        }
        --hook->buffered;
        memmove(&hook->buffer[0], &hook->buffer[1],
                (size_t) hook->buffered * sizeof(hook->buffer[0]));
    }
}

static void buffer_store(void *object, size_t size, uintptr_t value)
{
    hook_t *hook = my_hook;

    if (BUFFER_MAX == hook->buffered) {
        buffer_drain(hook, 1);
    }
    hook->buffer[hook->buffered].object = object;
    hook->buffer[hook->buffered].size = size;
    hook->buffer[hook->buffered].value = value;
    ++hook->buffered;
}

/** A thread sees its own stores at once. */
static uintptr_t buffer_load(void *object, size_t size)
{
    const hook_t *hook = my_hook;

    for (int i = hook->buffered - 1; 0 <= i; --i) {
        if (object == hook->buffer[i].object) {
            return hook->buffer[i].value;
        }
    }
    return sizeof(bool) == size
               ? atomic_load_explicit((_Atomic bool *) object, memory_order_relaxed)
               : atomic_load_explicit((_Atomic uintptr_t *) object, memory_order_relaxed);
}

static __attribute__((noinline)) void hook_run(hook_t *hook)
{
    if (hook->walks) {
        ++hook->accesses;
        if (0 == hook->budget) {
            sem_post(&hook->back);
            while (0 != sem_wait(&hook->go)) {
            }
        }
        --hook->budget;
        if (0 == tap_below(&hook->random, 3)) {
            buffer_drain(hook, 1);
        }
    } else if (0 == tap_below(&hook->random, hook->laziness)) {
        if (0 == tap_below(&hook->random, 4)) {
            usleep((useconds_t) tap_below(&hook->random, 60));
        } else {
            sched_yield();
        }
    }
}

static inline void at_access(void)
{
    if (__builtin_expect(NULL != my_hook, 0)) {
        hook_run(my_hook);
    }
}

/** Before a load or store.  @return whether it goes by way of the buffer */
static inline bool at_buffered(void)
{
    at_access();
    return __builtin_expect(NULL != my_hook, 0) && my_hook->buffers;
}

/** Before an atomic read-modify-write: it orders the thread's own stores. */
static inline void at_exchange(void)
{
    at_access();
    if (__builtin_expect(NULL != my_hook, 0)) {
        buffer_drain(my_hook, BUFFER_MAX);
    }
}

/** Before the lock's system call, the barrier of all threads. */
static inline void at_membarrier(void)
{
    at_access();
    if (__builtin_expect(NULL != my_hook, 0) && my_hook->buffers) {
        for (int i = 0; i < ACTORS; ++i) {
            buffer_drain(walkers[i], BUFFER_MAX);
        }
    }
}

#pragma push_macro("atomic_load_explicit")
#pragma push_macro("atomic_store_explicit")
#pragma push_macro("atomic_exchange_explicit")
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#if defined(__clang__)
#define RAW_LOAD __c11_atomic_load
#define RAW_STORE __c11_atomic_store
#define RAW_EXCHANGE __c11_atomic_exchange
#else
#define RAW_LOAD __atomic_load_n
#define RAW_STORE __atomic_store_n
#define RAW_EXCHANGE __atomic_exchange_n
#endif
#define atomic_load_explicit(object, order)                            \
    (at_buffered() ? buffer_load((void *) (object), sizeof(*(object))) \
                   : (uintptr_t) RAW_LOAD(object, order))
#define atomic_store_explicit(object, value, order)                            \
    (at_buffered() ? buffer_store((void *) (object), sizeof(*(object)), value) \
                   : (void) RAW_STORE(object, value, order))
#define atomic_exchange_explicit(object, value, order) \
    (at_exchange(), RAW_EXCHANGE(object, value, order))
#define syscall(...) (at_membarrier(), (syscall) (__VA_ARGS__))

#include "ompi/mca/pml/epml/pml_epml_biased_lock.h"

#undef syscall
#pragma pop_macro("atomic_load_explicit")
#pragma pop_macro("atomic_store_explicit")
#pragma pop_macro("atomic_exchange_explicit")

/** 0: nobody */
static uintptr_t owner_of(epml_lock_t *lock)
{
    return atomic_load_explicit(&lock->owner, memory_order_relaxed);
}

/** The lock may add a little to the number of the thread: they are never that close together. */
static bool biased_to(epml_lock_t *lock, uintptr_t self)
{
    return 8 > owner_of(lock) - self;
}

typedef enum op_t { OP_ENTER, OP_TRY, OP_VISIT } op_t;

/** @return whether the lock is held now */
static bool do_op(epml_lock_t *lock, op_t op)
{
    switch (op) {
    case OP_TRY:
        return epml_lock_try(lock);
    case OP_VISIT:
        return epml_lock_try_visit(lock);
    default:
        epml_lock_enter(lock);
        return true;
    }
}

static void start(pthread_t *thread, void *(*entry)(void *), void *argument)
{
    if (0 != pthread_create(thread, NULL, entry, argument)) {
        printf("Bail out! no thread\n");
        exit(99);
    }
}

/* ---- one thread ----------------------------------------------------------------------------- */

static void case_bias(bool may_bias)
{
    epml_lock_t lock;
    const uintptr_t self = epml_lock_self();

    tap_case("alone: the bias comes after a streak%s", may_bias ? "" : ", or never");
    memset((void *) &lock, 0x5a, sizeof(lock));
    epml_lock_init(&lock, EPML_LOCK_BIAS_AFTER);
    TAP_CHECK(0 != self, "the number of a thread must not be 0");
    for (int i = 1; i <= 2 * EPML_LOCK_BIAS_AFTER; ++i) {
        const bool biased = may_bias && EPML_LOCK_BIAS_AFTER < i;

        TAP_CHECK(do_op(&lock, (op_t) (i % 2)), "acquisition %d", i);
        TAP_CHECK(biased == lock.by_bias, "acquisition %d: by bias: expected %d", i, biased);
        epml_lock_leave(&lock, may_bias);
    }
    TAP_CHECK(may_bias == biased_to(&lock, self), "biased at the end: expected %d", may_bias);
    TAP_CHECK(epml_lock_try_visit(&lock), "a visit where nobody is in");
    TAP_CHECK(!epml_lock_try_visit(&lock), "a visit where somebody is in");
    TAP_EQ(0, owner_of(&lock));
    epml_lock_leave(&lock, may_bias);
    tap_case_done();
}

static void acquire(epml_lock_t *lock, int times)
{
    for (int i = 0; i < times; ++i) {
        epml_lock_enter(lock);
        epml_lock_leave(lock, true);
    }
}

/** argument: the lock.  Comes as often as wins the bias. */
static void *streak_main(void *argument)
{
    epml_lock_t *lock = argument;

    acquire(lock, EPML_LOCK_BIAS_AFTER - 1);
    TAP_EQ(0, owner_of(lock));
    acquire(lock, 1);
    TAP_CHECK(biased_to(lock, epml_lock_self()), "not biased to the thread that came in a row");
    return NULL;
}

static void case_streak(void)
{
    epml_lock_t lock;
    pthread_t other;

    tap_case("the bias goes to who came in a row, and to nobody else");
    epml_lock_init(&lock, EPML_LOCK_BIAS_AFTER);
    acquire(&lock, EPML_LOCK_BIAS_AFTER - 1);
    start(&other, streak_main, &lock);
    pthread_join(other, NULL);
    acquire(&lock, EPML_LOCK_BIAS_AFTER - 1);
    TAP_EQ(0, owner_of(&lock));
    acquire(&lock, 1);
    TAP_CHECK(biased_to(&lock, epml_lock_self()), "not biased to the first thread again");
    tap_case_done();
}

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
    actor_t *holder; /**< who is in */
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
    TAP_CHECK(tap_case_failed() || (0 < walk.by_bias && 0 < walk.proper && 0 < walk.won
                                    && 0 < walk.lost && 0 < walk.refused),
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

/** Enters once by the bias and stays in until told to leave. */
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

/* ---- litmus --------------------------------------------------------------------------------- */

#define COLD_LINES 12

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

typedef struct litmus_t {
    _Alignas(64) epml_lock_t lock;
    _Alignas(64) _Atomic uint64_t mark;
    _Alignas(64) _Atomic uint64_t arrived[2]; /**< rounds; owner and other */
    _Atomic bool stop;
    struct {
        _Alignas(64) _Atomic uint64_t word;
    } cold[COLD_LINES]; /**< the owner's stores wait for these lines from the other's cache */
    uint64_t biased, visits;
    double seconds;
} litmus_t;

/** @return false: the litmus is over */
static bool litmus_meet(litmus_t *litmus, int me, uint64_t round)
{
    /* Release and acquire, both ways: who comes second finds the other ready. */
    atomic_store_explicit(&litmus->arrived[me], round, memory_order_release);
    for (uint32_t spins = 1;
         atomic_load_explicit(&litmus->arrived[1 - me], memory_order_acquire) < round; ++spins) {
        if (atomic_load_explicit(&litmus->stop, memory_order_relaxed)) {
            return false;
        }
        epml_lock_relax();
        if (0 == spins % 1024) {
            sched_yield();
        }
    }
    return true;
}

static void litmus_inside(litmus_t *litmus, uint64_t me)
{
    /* Relaxed: what goes wrong here must not be put in order by the test. */
    atomic_store_explicit(&litmus->mark, me, memory_order_relaxed);
    for (int i = 0; i < 20; ++i) {
        epml_lock_relax();
        TAP_CHECK(me == atomic_load_explicit(&litmus->mark, memory_order_relaxed),
                  "both are in, round %llu", (unsigned long long) litmus->arrived[me]);
    }
}

static void litmus_chill(litmus_t *litmus, uint64_t value)
{
    for (int i = 0; i < COLD_LINES; ++i) {
        atomic_store_explicit(&litmus->cold[i].word, value, memory_order_relaxed);
    }
}

static void *litmus_owner(void *argument)
{
    litmus_t *litmus = argument;
    const uintptr_t self = epml_lock_self();
    const double end = now_s() + litmus->seconds;
    uint64_t random = tap_stream(2);

    for (uint64_t round = 1; now_s() < end && !tap_case_failed(); ++round) {
        while (!biased_to(&litmus->lock, self)) {
            epml_lock_enter(&litmus->lock);
            epml_lock_leave(&litmus->lock, true);
        }
        litmus_meet(litmus, 0, round);
        for (uint64_t wait = tap_below(&random, 200); 0 < wait; --wait) {
            atomic_signal_fence(memory_order_seq_cst);
        }
        litmus_chill(litmus, round);
        epml_lock_enter(&litmus->lock);
        litmus_inside(litmus, 0);
        litmus->biased += litmus->lock.by_bias;
        epml_lock_leave(&litmus->lock, true);
    }
    atomic_store_explicit(&litmus->stop, true, memory_order_relaxed);
    return NULL;
}

static void *litmus_other(void *argument)
{
    litmus_t *litmus = argument;
    uint64_t random = tap_stream(3);

    for (uint64_t round = 1;; ++round) {
        litmus_chill(litmus, round);
        if (!litmus_meet(litmus, 1, round)) {
            return NULL;
        }
        for (uint64_t wait = tap_below(&random, 400); 0 < wait; --wait) {
            atomic_signal_fence(memory_order_seq_cst);
        }
        if (do_op(&litmus->lock, 0 == round % 2 ? OP_VISIT : OP_TRY)) {
            litmus_inside(litmus, 1);
            ++litmus->visits;
            epml_lock_leave(&litmus->lock, true);
        }
    }
}

static void case_litmus(void)
{
    static litmus_t litmus;
    pthread_t owner, other;

    tap_case("litmus: the owner's store and the other's are not both overlooked");
    memset((void *) &litmus, 0, sizeof(litmus));
    litmus.seconds = TAP_SANITIZED ? 0.5 : 1.0;
    epml_lock_init(&litmus.lock, EPML_LOCK_BIAS_AFTER);
    start(&owner, litmus_owner, &litmus);
    start(&other, litmus_other, &litmus);
    pthread_join(owner, NULL);
    pthread_join(other, NULL);
    TAP_CHECK(tap_case_failed() || (0 < litmus.biased && 0 < litmus.visits), "they never met");
    printf("# %llu rounds, owner in by bias %llu, other in %llu\n",
           (unsigned long long) litmus.arrived[0], (unsigned long long) litmus.biased,
           (unsigned long long) litmus.visits);
    tap_case_done();
}

/* ---- stress --------------------------------------------------------------------------------- */

#define WORKERS_MAX 8

/** What the lock protects; nothing else does. */
typedef struct guarded_t {
    uint64_t entries;
    uint64_t words[8]; /**< entries times an odd number each */
    int holders;
    uint64_t by_bias, proper;
} guarded_t;

typedef struct stress_t {
    epml_lock_t lock;
    guarded_t guarded;
    bool may_bias;
    bool mortal;         /**< the threads end and are replaced */
    int owners;          /**< workers that enter very often, each in its time */
    int workers;
    uint64_t laziness;   /**< of the hooks; 0: no hooks */
    uint64_t target;     /**< bias won so many times, or entries / 1000 */
    _Atomic uint64_t won, lost;
    _Atomic bool stop;
} stress_t;

typedef struct worker_t {
    stress_t *stress;
    int index;
    hook_t hook;
    pthread_t thread;
    uint64_t random, entries, lives, reused;
    uintptr_t last;
    bool had;
} worker_t;

static bool stopped(stress_t *stress)
{
    return atomic_load_explicit(&stress->stop, memory_order_relaxed);
}

static void stress_inside(worker_t *worker)
{
    stress_t *stress = worker->stress;
    guarded_t *guarded = &stress->guarded;

    TAP_EQ(0, guarded->holders);
    ++guarded->holders;
    for (uint64_t i = 0; i < 8; ++i) {
        TAP_EQ(guarded->entries * (2 * i + 1), guarded->words[i]);
        guarded->words[i] += 2 * i + 1;
        if (4 == i && 0 == tap_below(&worker->random, 256)) {
            sched_yield();
        }
    }
    ++guarded->entries;
    ++*(stress->lock.by_bias ? &guarded->by_bias : &guarded->proper);
    --guarded->holders;
    ++worker->entries;
}

/** One operation, and counts of what became of the bias. */
static void stress_step(worker_t *worker, uintptr_t self)
{
    stress_t *stress = worker->stress;
    const uint64_t dice = tap_below(&worker->random, 8);
    bool has;

    if (do_op(&stress->lock, 6 > dice ? OP_ENTER : 6 == dice ? OP_TRY : OP_VISIT)) {
        stress_inside(worker);
        epml_lock_leave(&stress->lock, stress->may_bias);
    }
    has = biased_to(&stress->lock, self);
    if (has != worker->had) {
        /* Relaxed: counters. */
        atomic_fetch_add_explicit(has ? &stress->won : &stress->lost, 1, memory_order_relaxed);
        worker->had = has;
    }
    if (tap_case_failed()) {
        atomic_store_explicit(&stress->stop, true, memory_order_relaxed);
    }
}

/** Enter very often until the bias has been won and used, or hopeless. */
static void stress_owner(worker_t *worker, uintptr_t self)
{
    const uint64_t steps = 1 + tap_below(&worker->random, 4 * EPML_LOCK_BIAS_AFTER);

    for (uint64_t i = 0; i < steps && !stopped(worker->stress); ++i) {
        if (worker->had && 0 == tap_below(&worker->random, 1024)) {
            sched_yield();
        }
        stress_step(worker, self);
    }
}

static void *worker_life(void *argument)
{
    worker_t *worker = argument;
    stress_t *stress = worker->stress;
    const uintptr_t self = epml_lock_self();

    my_hook = 0 == stress->laziness ? NULL : &worker->hook;
    worker->reused += self == worker->last;
    worker->last = self;
    worker->had = biased_to(&stress->lock, self); /* a thread that ended may leave its bias */
    ++worker->lives;
    do {
        if (worker->index < stress->owners) {
            stress_owner(worker, self);
        }
        if (worker->index >= stress->owners || 0 == tap_below(&worker->random, 16)) {
            usleep((useconds_t) tap_below(&worker->random, 1000));
            stress_step(worker, self);
        }
        if (0 == worker->index
            && stress->target <= (stress->may_bias ? atomic_load(&stress->won)
                                                   : worker->entries / 1000)) {
            atomic_store_explicit(&stress->stop, true, memory_order_relaxed);
        }
    } while (!stopped(stress) && !stress->mortal);
    return NULL;
}

/** Lives of one worker after another. */
static void *worker_lives(void *argument)
{
    worker_t *worker = argument;

    while (!stopped(worker->stress)) {
        pthread_t thread;

        start(&thread, worker_life, worker);
        pthread_join(thread, NULL);
    }
    return NULL;
}

static void stress_report(stress_t *stress, worker_t *workers)
{
    guarded_t *guarded = &stress->guarded;
    uint64_t entries = 0, lives = 0, reused = 0;

    for (int i = 0; i < stress->workers; ++i) {
        entries += workers[i].entries;
        lives += workers[i].lives;
        reused += workers[i].reused;
    }
    TAP_EQ(entries, guarded->entries);
    TAP_EQ(0, guarded->holders);
    if (stress->may_bias) {
        TAP_CHECK(tap_case_failed() || (0 < guarded->by_bias && 0 < stress->lost),
                  "in by bias %llu times, bias lost %llu times",
                  (unsigned long long) guarded->by_bias, (unsigned long long) stress->lost);
    } else {
        TAP_EQ(0, guarded->by_bias);
        TAP_EQ(0, stress->won);
    }
    printf("# in by bias %llu, proper %llu; bias won %llu, lost %llu; %llu threads, %llu of them "
           "with the number of the last\n",
           (unsigned long long) guarded->by_bias, (unsigned long long) guarded->proper,
           (unsigned long long) stress->won, (unsigned long long) stress->lost,
           (unsigned long long) lives, (unsigned long long) reused);
}

static void case_stress(const char *name, stress_t shape)
{
    static stress_t stress;
    static worker_t workers[WORKERS_MAX];

    tap_case("stress: %s%s", name, shape.may_bias ? "" : ", without bias");
    memset((void *) workers, 0, sizeof(workers));
    memset((void *) &stress, 0, sizeof(stress));
    stress.may_bias = shape.may_bias;
    stress.mortal = shape.mortal;
    stress.owners = shape.owners;
    stress.workers = shape.workers;
    stress.laziness = shape.laziness;
    stress.target = shape.target;
    epml_lock_init(&stress.lock, EPML_LOCK_BIAS_AFTER);
    for (int i = 0; i < stress.workers; ++i) {
        workers[i].stress = &stress;
        workers[i].index = i;
        workers[i].random = tap_stream(10 + (uint64_t) i);
        workers[i].hook = (hook_t){.random = tap_stream(50 + (uint64_t) i),
                                   .laziness = stress.laziness};
        start(&workers[i].thread, stress.mortal ? worker_lives : worker_life, &workers[i]);
    }
    for (int i = 0; i < stress.workers; ++i) {
        pthread_join(workers[i].thread, NULL);
    }
    stress_report(&stress, workers);
    tap_case_done();
}

int main(int argc, char **argv)
{
    const uint64_t less = TAP_SANITIZED ? 5 : 1;
    bool can_bias;

    tap_begin(argc, argv, "test_epml_lock", TAP_SANITIZED ? 240 : 120);
    can_bias = epml_lock_setup();
    case_bias(false);
    if (can_bias) {
        case_bias(true);
        case_streak();
        /* Not after its store: then everybody has to wait for it. */
        case_preempted(1);
        for (uint64_t number = 1; number <= 6; ++number) {
            case_walk(number, 12000 / less);
        }
        case_litmus();
    } else {
        printf("# no membarrier here: nothing is tested with a bias\n");
    }
    for (int may_bias = 0; may_bias <= (can_bias ? 1 : 0); ++may_bias) {
        case_stress("one owner, seven others",
                    (stress_t){.may_bias = 1 == may_bias, .owners = 1, .workers = 8,
                               .target = 3000 / less});
        case_stress("owners that change",
                    (stress_t){.may_bias = 1 == may_bias, .owners = 4, .workers = 6,
                               .target = 600 / less});
        case_stress("with delays",
                    (stress_t){.may_bias = 1 == may_bias, .owners = 2, .workers = 5,
                               .laziness = 2000, .target = 300 / less});
        case_stress("threads that end",
                    (stress_t){.may_bias = 1 == may_bias, .owners = 3, .workers = 5,
                               .mortal = true, .target = 500 / less});
    }
    return tap_end();
}
