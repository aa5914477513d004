/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Random numbers with a state for each rank: rand, random, drand48 and their relatives, on glibc's
 * functions that take a state.  The numbers are those of a process.
 *
 * Tests: ranks_random
 */

#define _GNU_SOURCE

#include "state.h"

#include <sched.h>

void mpix_ranks_random_begin(mpix_rank_t *rank)
{
    mpix_ranks_random_t *state = &rank->libc->random;

    atomic_flag_clear(&state->lock);
    (void) initstate_r(1, state->first_state, sizeof(state->first_state), &state->data);
}

/** The rank's state, locked, or NULL. */
static mpix_ranks_random_t *state_lock(void)
{
    mpix_ranks_random_t *state = NULL;

    if (NULL != mpix_ranks_self) {
        state = &mpix_ranks_self->libc->random;
        /* Acquire: pairs with the release in state_unlock.  Held for some instructions only. */
        while (atomic_flag_test_and_set_explicit(&state->lock, memory_order_acquire)) {
            (void) sched_yield();
        }
    }
    return state;
}

static void state_unlock(mpix_ranks_random_t *state)
{
    atomic_flag_clear_explicit(&state->lock, memory_order_release);
}

#define WITH_STATE(type, next, call)           \
    mpix_ranks_random_t *state = state_lock(); \
    type result;                               \
    if (NULL == state) {                       \
        return next;                           \
    }                                          \
    call;                                      \
    state_unlock(state);                       \
    return result

#define WITH_STATE_VOID(next, call)            \
    mpix_ranks_random_t *state = state_lock(); \
    if (NULL == state) {                       \
        next;                                  \
        return;                                \
    }                                          \
    call;                                      \
    state_unlock(state);

static long random_next(mpix_ranks_random_t *state)
{
    int32_t number;

    (void) random_r(&state->data, &number);
    return number;
}

MPIX_RANKS_EXPORT long random(void)
{
    WITH_STATE(long, MPIX_RANKS_NEXT(random)(), result = random_next(state));
}

MPIX_RANKS_EXPORT int rand(void)
{
    WITH_STATE(int, MPIX_RANKS_NEXT(rand)(), result = (int) random_next(state));
}

MPIX_RANKS_EXPORT void srandom(unsigned seed)
{
    WITH_STATE_VOID(MPIX_RANKS_NEXT(srandom)(seed), (void) srandom_r(seed, &state->data));
}

MPIX_RANKS_EXPORT void srand(unsigned seed)
{
    WITH_STATE_VOID(MPIX_RANKS_NEXT(srand)(seed), (void) srandom_r(seed, &state->data));
}

/* glibc's state is behind a word that says of which kind it is; random_data knows its numbers
 * only. */
static char *state_of(const struct random_data *data)
{
    return (char *) (data->state - 1);
}

MPIX_RANKS_EXPORT char *initstate(unsigned seed, char *numbers, size_t size)
{
    WITH_STATE(char *, MPIX_RANKS_NEXT(initstate)(seed, numbers, size),
               char *before = state_of(&state->data);
               result = initstate_r(seed, numbers, size, &state->data) < 0 ? NULL : before);
}

MPIX_RANKS_EXPORT char *setstate(char *numbers)
{
    WITH_STATE(char *, MPIX_RANKS_NEXT(setstate)(numbers), char *before = state_of(&state->data);
               result = setstate_r(numbers, &state->data) < 0 ? NULL : before);
}

MPIX_RANKS_EXPORT double drand48(void)
{
    WITH_STATE(double, MPIX_RANKS_NEXT(drand48)(), (void) drand48_r(&state->drand48, &result));
}

MPIX_RANKS_EXPORT double erand48(unsigned short numbers[3])
{
    WITH_STATE(double, MPIX_RANKS_NEXT(erand48)(numbers),
               (void) erand48_r(numbers, &state->drand48, &result));
}

MPIX_RANKS_EXPORT long lrand48(void)
{
    WITH_STATE(long, MPIX_RANKS_NEXT(lrand48)(), (void) lrand48_r(&state->drand48, &result));
}

MPIX_RANKS_EXPORT long nrand48(unsigned short numbers[3])
{
    WITH_STATE(long, MPIX_RANKS_NEXT(nrand48)(numbers),
               (void) nrand48_r(numbers, &state->drand48, &result));
}

MPIX_RANKS_EXPORT long mrand48(void)
{
    WITH_STATE(long, MPIX_RANKS_NEXT(mrand48)(), (void) mrand48_r(&state->drand48, &result));
}

MPIX_RANKS_EXPORT long jrand48(unsigned short numbers[3])
{
    WITH_STATE(long, MPIX_RANKS_NEXT(jrand48)(numbers),
               (void) jrand48_r(numbers, &state->drand48, &result));
}

MPIX_RANKS_EXPORT void srand48(long seed)
{
    WITH_STATE_VOID(MPIX_RANKS_NEXT(srand48)(seed), (void) srand48_r(seed, &state->drand48));
}

MPIX_RANKS_EXPORT unsigned short *seed48(unsigned short seed[3])
{
    /* What was the seed is in the state, as in glibc. */
    WITH_STATE(unsigned short *, MPIX_RANKS_NEXT(seed48)(seed),
               (void) seed48_r(seed, &state->drand48);
               result = state->drand48.__old_x);
}

MPIX_RANKS_EXPORT void lcong48(unsigned short parameters[7])
{
    WITH_STATE_VOID(MPIX_RANKS_NEXT(lcong48)(parameters),
                    (void) lcong48_r(parameters, &state->drand48));
}
