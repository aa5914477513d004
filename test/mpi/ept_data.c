/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Data of the tests: guarded buffers, byte patterns, random numbers, choice of peers.
 */

#include "ept.h"

#define GUARD_SIZE 192
#define GUARD_BYTE 0xc5
#define CLEAR_BYTE 0x3a

struct ept_buffer ept_buffer(size_t size, unsigned skew)
{
    struct ept_buffer buffer;
    size_t before = GUARD_SIZE + skew % 64;

    buffer.size = size;
    buffer.base = malloc(before + size + GUARD_SIZE);
    if (NULL == buffer.base) {
        ept_note("out of memory: %zu bytes", size);
        abort();
    }
    buffer.data = buffer.base + before;
    memset(buffer.base, GUARD_BYTE, before);
    memset(buffer.data + size, GUARD_BYTE, GUARD_SIZE);
    ept_buffer_clear(&buffer);
    return buffer;
}

void ept_buffer_free(struct ept_buffer *buffer)
{
    free(buffer->base);
    buffer->base = NULL;
    buffer->data = NULL;
}

void ept_buffer_clear(struct ept_buffer *buffer)
{
    memset(buffer->data, CLEAR_BYTE, buffer->size);
}

void ept_fill(void *data, size_t offset, size_t size, uint64_t key)
{
    unsigned char *p = data;

    for (size_t i = 0; i < size; ++i) {
        p[i] = ept_byte(key, offset + i);
    }
}

bool ept_check_fill(struct ept *t, const char *file, int line, const void *data, size_t offset,
                    size_t size, uint64_t key)
{
    const unsigned char *p = data;
    size_t wrong = 0, first = 0;

    atomic_fetch_add(&t->checks, 1);
    for (size_t i = 0; i < size; ++i) {
        if (ept_byte(key, offset + i) != p[i]) {
            if (0 == wrong++) {
                first = i;
            }
        }
    }
    if (0 != wrong) {
        ept_fail(t, file, line,
                 "%zu of %zu bytes wrong, the first at %zu: expected 0x%02x, got 0x%02x%s", wrong,
                 size, first, ept_byte(key, offset + first), p[first],
                 CLEAR_BYTE == p[first] ? " (looks never written)" : "");
    }
    return 0 == wrong;
}

bool ept_check_guards(struct ept *t, const char *file, int line, const struct ept_buffer *buffer)
{
    atomic_fetch_add(&t->checks, 1);
    for (const unsigned char *p = buffer->base; p < buffer->data; ++p) {
        if (GUARD_BYTE != *p) {
            ept_fail(t, file, line, "written %td bytes before the buffer", buffer->data - p);
            return false;
        }
    }
    for (size_t i = 0; i < GUARD_SIZE; ++i) {
        if (GUARD_BYTE != buffer->data[buffer->size + i]) {
            ept_fail(t, file, line, "written %zu bytes behind the end of %zu", i, buffer->size);
            return false;
        }
    }
    return true;
}

uint64_t ept_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void ept_shuffle(int *order, int count, uint64_t *random)
{
    for (int i = 0; i < count; ++i) {
        order[i] = i;
    }
    for (int i = count - 1; 0 < i; --i) {
        const int j = (int) ept_random_below(random, (uint64_t) i + 1);
        const int swapped = order[i];

        order[i] = order[j];
        order[j] = swapped;
    }
}

uint64_t ept_mix(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t state = a;

    state = ept_random(&state) + b;
    state = ept_random(&state) + c;
    state = ept_random(&state) + d;
    return ept_random(&state);
}

int ept_shifts(const struct ept *t, int shifts[4])
{
    const int wanted[] = {1, t->nlocal, t->size / 2 + 1, t->size - 1};
    int n = 0;

    for (int i = 0; i < 4; ++i) {
        int shift = wanted[i] % t->size;
        bool seen = 0 == shift;

        for (int j = 0; j < n; ++j) {
            seen = seen || shifts[j] == shift;
        }
        if (!seen) {
            shifts[n++] = shift;
        }
    }
    return n;
}

int ept_pairings(const struct ept *t, enum ept_pairing pairings[3])
{
    int n = 0;

    if (2 <= t->size) {
        pairings[n++] = EPT_PAIR_NEXT;
    }
    if (2 <= t->nprocs && 2 <= t->nlocal) {
        pairings[n++] = EPT_PAIR_PROCESS;
    }
    if (3 <= t->size) {
        pairings[n++] = EPT_PAIR_MIRROR;
    }
    return n;
}

int ept_partner(const struct ept *t, enum ept_pairing pairing)
{
    int partner = MPI_PROC_NULL;

    switch (pairing) {
    case EPT_PAIR_NEXT:
        partner = t->rank ^ 1;
        break;
    case EPT_PAIR_PROCESS:
        partner = (t->proc ^ 1) * t->nlocal + t->local;
        break;
    case EPT_PAIR_MIRROR:
        partner = t->size - 1 - t->rank;
        break;
    }
    return (partner >= t->size || partner == t->rank) ? MPI_PROC_NULL : partner;
}
