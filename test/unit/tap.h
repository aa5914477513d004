/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the unit tests share: TAP lines, checks, options, the time-out and random numbers.  No MPI,
 * and one file only, so that a unit test is built by one compiler command.
 *
 *   --seed N     seed of everything random; else EPT_SEED, else 1
 *   --timeout S  seconds of CPU time until the program gives up, and ten times as many of the clock,
 *                for what sleeps; else EPT_TIMEOUT, else the test's own value
 */

#ifndef EP_TEST_UNIT_TAP_H
#define EP_TEST_UNIT_TAP_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

/** Under a sanitizer everything is several times slower; tests do less then. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#    define TAP_SANITIZED 1
#elif defined(__has_feature)
#    if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#        define TAP_SANITIZED 1
#    endif
#endif
#if !defined(TAP_SANITIZED)
#    define TAP_SANITIZED 0
#endif

/** Failures printed per case; the rest is only counted. */
#define TAP_FAILURES_SHOWN 5

static struct {
    uint64_t seed;
    int cases;
    int failed_cases;
    _Atomic unsigned long failures; /**< of the running case */
    char where[160];                /**< name of the running case, for the time-out */
} tap = {.seed = 1};

static void tap_on_alarm(int signum)
{
    static const char text[] = "Bail out! time-out in: ";
    const char *linger = getenv("EPT_LINGER");
    ssize_t ignored;

    (void) signum;
    ignored = write(STDOUT_FILENO, text, sizeof(text) - 1);
    ignored = write(STDOUT_FILENO, tap.where, strlen(tap.where));
    ignored = write(STDOUT_FILENO, "\n", 1);
    (void) ignored;
    sleep(NULL == linger ? 0 : (unsigned int) atoi(linger)); /* its stacks are taken */
    _exit(99);
}

static inline uint64_t tap_option(int argc, char **argv, const char *name, const char *environment,
                                  uint64_t fallback)
{
    const char *value = getenv(environment);

    for (int i = 1; i + 1 < argc; i += 2) {
        if (0 == strcmp(argv[i], name)) {
            value = argv[i + 1];
        }
    }
    return NULL == value ? fallback : strtoull(value, NULL, 0);
}

/** The calling process gives up after so many seconds of CPU time of all its threads, whatever else
 * the machine does, or after ten times as many of the clock.  Not inherited by a child.  The runner
 * counts CPU time itself, and tells by SIGALRM when it is over. */
static inline void tap_limit(unsigned int cpu_s)
{
    const struct itimerval cpu_time = {.it_value = {.tv_sec = (time_t) cpu_s}};

    if (NULL != getenv("EPT_LINGER")) {
        return;
    }
    (void) setitimer(ITIMER_PROF, &cpu_time, NULL);
    (void) alarm(10 * cpu_s);
}

/** First thing in main. */
static inline void tap_begin(int argc, char **argv, const char *name, unsigned int timeout_s)
{
    struct sigaction action = {.sa_handler = tap_on_alarm};

    setvbuf(stdout, NULL, _IOLBF, 0);
    tap.seed = tap_option(argc, argv, "--seed", "EPT_SEED", tap.seed);
    timeout_s = (unsigned int) tap_option(argc, argv, "--timeout", "EPT_TIMEOUT", timeout_s);
    printf("# %s: --seed %llu\n", name, (unsigned long long) tap.seed);
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGPROF, &action, NULL);
    tap_limit(timeout_s);
}

/** Last thing in main.  @return the exit status */
static inline int tap_end(void)
{
    tap_limit(0);
    printf("1..%d\n", tap.cases);
    return 0 == tap.failed_cases ? 0 : 1;
}

__attribute__((format(printf, 3, 4))) static inline void tap_fail(const char *file, int line,
                                                                  const char *format, ...)
{
    const char *base = strrchr(file, '/');
    char text[512];
    va_list arguments;

    /* Relaxed, here and below: a counter that must not order the threads under test. */
    if (TAP_FAILURES_SHOWN <= atomic_fetch_add_explicit(&tap.failures, 1, memory_order_relaxed)) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    printf("# %s:%d: %s\n", NULL == base ? file : base + 1, line, text);
}

/** condition, and a printf format that says what was expected and what was found.  Any thread.
 * A failed check does not end the case. */
#define TAP_CHECK(condition, ...)                      \
    do {                                               \
        if (!(condition)) {                            \
            tap_fail(__FILE__, __LINE__, __VA_ARGS__); \
        }                                              \
    } while (0)

/** Two unsigned numbers that must be equal. */
#define TAP_EQ(expected, got)                                                                   \
    do {                                                                                        \
        const unsigned long long tap_expected = (unsigned long long) (expected);                \
        const unsigned long long tap_got = (unsigned long long) (got);                          \
        TAP_CHECK(tap_expected == tap_got, "%s: expected %s = %llu, got %llu", #got, #expected, \
                  tap_expected, tap_got);                                                       \
    } while (0)

static inline bool tap_case_failed(void)
{
    return 0 != atomic_load_explicit(&tap.failures, memory_order_relaxed);
}

/** Start of a case; its name is also what the time-out prints. */
__attribute__((format(printf, 1, 2))) static inline void tap_case(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(tap.where, sizeof(tap.where), format, arguments);
    va_end(arguments);
    atomic_store_explicit(&tap.failures, 0, memory_order_relaxed);
}

/** End of a case: prints its TAP line. */
static inline void tap_case_done(void)
{
    const unsigned long failures = atomic_load_explicit(&tap.failures, memory_order_relaxed);

    ++tap.cases;
    if (0 != failures) {
        ++tap.failed_cases;
        printf("# %lu checks failed\n", failures);
    }
    printf("%sok %d - %s\n", 0 == failures ? "" : "not ", tap.cases, tap.where);
}

/** splitmix64 (Steele, Lea, Flood): the next number of the stream *state. */
static inline uint64_t tap_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/** 0 ... bound - 1 */
static inline uint64_t tap_below(uint64_t *state, uint64_t bound)
{
    return tap_random(state) % bound;
}

/** Mostly nothing; once in so many times a yield, and as often a sleep of up to so many ns. */
static inline void tap_pause(uint64_t *state, uint64_t times, uint64_t most)
{
    const uint64_t dice = tap_below(state, times);

    if (0 == dice) {
        (void) sched_yield();
    } else if (1 == dice) {
        const struct timespec nap = {0, (long) tap_below(state, most)};

        (void) nanosleep(&nap, NULL);
    }
}

/** A stream of its own for part a of the test. */
static inline uint64_t tap_stream(uint64_t a)
{
    uint64_t state = tap.seed * UINT64_C(0xd1342543de82ef95) + a;

    return tap_random(&state);
}

#endif /* EP_TEST_UNIT_TAP_H */
