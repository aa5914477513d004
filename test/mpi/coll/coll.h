/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The three ways to call a collective, for the coll_*.c tests.
 */

#ifndef EPT_COLL_H
#define EPT_COLL_H

#include "ept.h"

enum coll_mode { COLL_BLOCKING, COLL_NONBLOCKING, COLL_PERSISTENT, COLL_NUM_MODES };

static const char *const coll_mode_names[] = {"blocking", "nonblocking", "persistent"};

/* Finish a nonblocking collective; by tests on every other rank. */
static inline void coll_wait(struct ept *t, MPI_Request *request)
{
    if (0 == t->rank % 2) {
        EPT_OK(t, MPI_Wait(request, MPI_STATUS_IGNORE));
    } else {
        for (int flag = 0; 0 == flag;) {
            EPT_OK(t, MPI_Test(request, &flag, MPI_STATUS_IGNORE));
        }
    }
}

static inline void coll_start_wait_free(struct ept *t, MPI_Request *request)
{
    EPT_OK(t, MPI_Start(request));
    coll_wait(t, request);
    EPT_OK(t, MPI_Request_free(request));
}

/**
 * Call MPI_<Name>, MPI_I<name> or MPI_<Name>_init with the arguments that they share, and complete
 * it.
 */
#define COLL(t, mode, Name, name, ...)                                               \
    do {                                                                             \
        MPI_Request coll_request = MPI_REQUEST_NULL;                                 \
                                                                                     \
        switch (mode) {                                                              \
        case COLL_BLOCKING:                                                          \
            EPT_OK(t, MPI_##Name(__VA_ARGS__));                                      \
            break;                                                                   \
        case COLL_NONBLOCKING:                                                       \
            EPT_OK(t, MPI_I##name(__VA_ARGS__, &coll_request));                      \
            coll_wait(t, &coll_request);                                             \
            break;                                                                   \
        default:                                                                     \
            EPT_OK(t, MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &coll_request)); \
            coll_start_wait_free(t, &coll_request);                                  \
            break;                                                                   \
        }                                                                            \
    } while (0)

/** What rank from gives to rank to at index i; to may be -1 where all get the same. */
static inline int32_t coll_value(int from, int to, int i)
{
    uint32_t value = (uint32_t) from * 1000003u + (uint32_t) (to + 1) * 7919u;

    return (int32_t) (value + (uint32_t) i * 17u);
}

/** An array of n ints between guard zones. */
struct coll_ints {
    struct ept_buffer buffer;
    int32_t *v;
    int n;
};

static inline struct coll_ints coll_ints(int n)
{
    struct coll_ints a = {ept_buffer((size_t) n * sizeof(int32_t), 0), NULL, n};

    a.v = (int32_t *) a.buffer.data;
    return a;
}

static inline void coll_set(struct coll_ints *a, int at, int n, int from, int to)
{
    for (int i = 0; i < n; ++i) {
        a->v[at + i] = coll_value(from, to, i);
    }
}

/* Compare a->v[at ... at + n - 1] with what from gave to to. */
static inline void coll_check(struct ept *t, const char *file, int line, const struct coll_ints *a,
                              int at, int n, int from, int to)
{
    atomic_fetch_add(&t->checks, 1);
    for (int i = 0; i < n; ++i) {
        if (coll_value(from, to, i) != a->v[at + i]) {
            ept_fail(t, file, line, "element %d of %d from %d: expected %d, got %d", i, n, from,
                     coll_value(from, to, i), a->v[at + i]);
            return;
        }
    }
}

/* a->v[at ... at + n - 1] must be as untouched as the harness made it. */
static inline void coll_check_clear(struct ept *t, const char *file, int line,
                                    const struct coll_ints *a, int at, int n)
{
    atomic_fetch_add(&t->checks, 1);
    for (int i = 0; i < n; ++i) {
        if (0x3a3a3a3a != a->v[at + i]) {
            ept_fail(t, file, line, "element %d in a gap was written: %d", at + i, a->v[at + i]);
            return;
        }
    }
}

#define COLL_CHECK(t, a, at, n, from, to) \
    coll_check((t), __FILE__, __LINE__, (a), (at), (n), (from), (to))
#define COLL_CHECK_CLEAR(t, a, at, n) coll_check_clear((t), __FILE__, __LINE__, (a), (at), (n))

static inline void coll_free(struct ept *t, struct coll_ints *a)
{
    EPT_GUARDS(t, &a->buffer);
    ept_buffer_free(&a->buffer);
}

/** Counts to run with: 0, 1, odd ones, and a large one that fits the number of ranks.
 * @param[in] per_pair  the buffers hold count elements per rank
 * @return how many */
static inline int coll_counts(const struct ept *t, bool per_pair, int counts[5])
{
    int large = 16 < t->size ? 5000 : 100000;

    counts[0] = 0;
    counts[1] = 1;
    counts[2] = 7;
    counts[3] = 16 < t->size ? 67 : 1023;
    counts[4] = per_pair ? large / t->size : large;
    return 5;
}

/** Different roots: first, last, one in the middle.
 * @return how many */
static inline int coll_roots(const struct ept *t, int roots[3])
{
    int n = 0;

    roots[n++] = 0;
    if (1 < t->size) {
        roots[n++] = t->size - 1;
    }
    if (2 < t->size) {
        roots[n++] = t->size / 2;
    }
    return n;
}

#endif /* EPT_COLL_H */
