/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of ompi/mca/pml/epml/object/pml_epml_memory.c: equal keys get the same memory, cleared,
 * until the last user has put it back; what has another key or size is another one, or none; a
 * source that fails leaves nothing behind; many threads at a time.
 *
 * Guards: pml_epml_memory.c
 */

#include <pthread.h>

#include "tap.h"

#include "ompi/mca/pml/epml/object/pml_epml_memory.c"

#define THREADS 6
#define ROUNDS 3000

/* ---- one thread ------------------------------------------------------------------------------ */

static void case_same(void)
{
    static const size_t sizes[] = {1, 64, 4095, 4096, 65535, 65536, 1 << 22};

    tap_case("the same for the same key, of any size");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        const size_t size = sizes[i], align = 4096 <= size ? 4096 : 64;
        const mca_pml_epml_memory_key_t key = {.context = 5, .number = 1, .key = 2};
        mpix_endpoints_memory_t *first = NULL, *second = NULL, *other;
        unsigned char *bytes;
        size_t set = 0;

        TAP_EQ(OMPI_SUCCESS, mca_pml_epml_memory_get(&key, size, NULL, NULL, &first));
        TAP_EQ(OMPI_SUCCESS, mca_pml_epml_memory_get(&key, size, NULL, NULL, &second));
        TAP_CHECK(first == second, "two of %zu bytes", size);
        TAP_EQ(size, first->size);
        TAP_EQ(0, (uintptr_t) first->base % align);
        TAP_CHECK(mca_pml_epml_memory_is_whole(first), "not whole");
        TAP_EQ(OMPI_SUCCESS, mca_pml_epml_memory_fill(first, 0, size));
        TAP_EQ(OMPI_SUCCESS, mca_pml_epml_memory_fill(first, size, 0));
        TAP_CHECK(OMPI_ERR_BAD_PARAM == mca_pml_epml_memory_fill(first, 1, size)
                      && OMPI_ERR_BAD_PARAM == mca_pml_epml_memory_fill(first, size + 1, 0)
                      && OMPI_ERR_BAD_PARAM == mca_pml_epml_memory_fill(first, size, SIZE_MAX),
                  "beyond its end");
        TAP_CHECK(OMPI_ERR_BAD_PARAM == mca_pml_epml_memory_get(&key, size + 1, NULL, NULL, &other),
                  "another size");
        bytes = first->base;
        for (size_t at = 0; at < size; ++at) {
            set += 0 != bytes[at];
        }
        TAP_EQ(0, set);
        memset(bytes, 0xff, size);
        mca_pml_epml_memory_put(first);
        TAP_EQ(0xff, bytes[size - 1]);
        mca_pml_epml_memory_put(second);
        TAP_CHECK(!memories.open, "the list is not empty");
    }
    tap_case_done();
}

static void case_others(void)
{
    static const mca_pml_epml_memory_key_t keys[] = {{.context = 5, .number = 1, .key = 2},
                                                     {.context = 6, .number = 1, .key = 2},
                                                     {.context = 5, .number = 2, .key = 2},
                                                     {.context = 5, .number = 1, .key = 3}};
    enum { KEYS = sizeof(keys) / sizeof(keys[0]) };
    mpix_endpoints_memory_t *memory[KEYS] = {NULL}, *none;

    tap_case("another one for another communicator, client or key");
    TAP_CHECK(OMPI_ERR_BAD_PARAM == mca_pml_epml_memory_get(&keys[0], 0, NULL, NULL, &none),
              "of no bytes");
    for (size_t i = 0; i < KEYS; ++i) {
        TAP_EQ(OMPI_SUCCESS, mca_pml_epml_memory_get(&keys[i], 8 + i, NULL, NULL, &memory[i]));
        for (size_t j = 0; j < i; ++j) {
            TAP_CHECK(memory[i]->base != memory[j]->base, "%zu is %zu", i, j);
        }
    }
    for (size_t i = 0; i < KEYS; ++i) {
        mca_pml_epml_memory_put(memory[i]);
    }
    TAP_CHECK(!memories.open, "the list is not empty");
    tap_case_done();
}

/* ---- a source -------------------------------------------------------------------------------- */

static int source_error, source_open;
static char source_memory[32];

static int source_get(void *context, const mca_pml_epml_memory_key_t *key, size_t size,
                      void **base_p, void **token_p)
{
    TAP_CHECK(&source_error == context && 7 == key->context && sizeof(source_memory) == size,
              "asked for something else");
    if (OMPI_SUCCESS == source_error) {
        ++source_open;
        *base_p = source_memory;
        *token_p = &source_open;
    }
    return source_error;
}

static bool source_is_whole(void *token)
{
    return 0 != *(int *) token;
}

static int source_fill(void *token, size_t offset, size_t size)
{
    TAP_CHECK(&source_open == token && 8 == offset && 24 == size, "another part");
    return OMPI_ERR_OUT_OF_RESOURCE;
}

static void source_put(void *token)
{
    --*(int *) token;
}

static void case_source(void)
{
    static const mca_pml_epml_memory_source_t source = {.get = source_get,
                                                        .is_whole = source_is_whole,
                                                        .fill = source_fill,
                                                        .put = source_put};
    const mca_pml_epml_memory_key_t key = {.context = 7};
    mpix_endpoints_memory_t *memory = NULL, *again = NULL;

    tap_case("memory from elsewhere, and its errors");
    source_error = OMPI_ERR_UNREACH;
    TAP_CHECK(OMPI_ERR_UNREACH
                  == mca_pml_epml_memory_get(&key, sizeof(source_memory), &source, &source_error,
                                             &memory),
              "another error");
    TAP_CHECK(!memories.open, "the list is not empty");
    source_error = OMPI_SUCCESS;
    for (int i = 0; i < 2; ++i) {
        TAP_EQ(OMPI_SUCCESS, mca_pml_epml_memory_get(&key, sizeof(source_memory), &source,
                                                     &source_error, &memory));
        TAP_EQ(OMPI_SUCCESS, mca_pml_epml_memory_get(&key, sizeof(source_memory), &source,
                                                     &source_error, &again));
        TAP_CHECK(memory == again && source_memory == memory->base, "another one");
        TAP_EQ(1, source_open);
        TAP_CHECK(mca_pml_epml_memory_is_whole(memory), "not whole");
        TAP_CHECK(OMPI_ERR_OUT_OF_RESOURCE == mca_pml_epml_memory_fill(memory, 8, 24),
                  "another error");
        TAP_CHECK(OMPI_ERR_BAD_PARAM == mca_pml_epml_memory_fill(memory, 8, 25), "beyond its end");
        mca_pml_epml_memory_put(memory);
        TAP_EQ(1, source_open);
        mca_pml_epml_memory_put(again);
        TAP_EQ(0, source_open);
    }
    tap_case_done();
}

/* ---- many threads ---------------------------------------------------------------------------- */

/** Each counts itself in what it has: nobody's count is lost while anybody has it. */
static void *have_and_put(void *arg)
{
    uint64_t random = tap_stream((uintptr_t) arg);

    for (int i = 0; i < ROUNDS; ++i) {
        const mca_pml_epml_memory_key_t key = {.context = 1 + tap_below(&random, 3)};
        mpix_endpoints_memory_t *memory = NULL;
        _Atomic uint64_t *words;

        TAP_EQ(OMPI_SUCCESS,
               mca_pml_epml_memory_get(&key, 2 * sizeof(*words), NULL, NULL, &memory));
        words = memory->base;
        TAP_CHECK(0 == words[1] || key.context == words[1], "another one's");
        words[1] = key.context;
        TAP_CHECK(THREADS > atomic_fetch_add(&words[0], 1), "more than all have it");
        atomic_fetch_sub(&words[0], 1);
        mca_pml_epml_memory_put(memory);
    }
    return NULL;
}

static void case_threads(void)
{
    pthread_t threads[THREADS];

    tap_case("%d threads", THREADS);
    for (uintptr_t i = 0; i < THREADS; ++i) {
        TAP_EQ(0, pthread_create(&threads[i], NULL, have_and_put, (void *) i));
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
    }
    TAP_CHECK(!memories.open, "the list is not empty");
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_memory", 60);
    case_same();
    case_others();
    case_source();
    case_threads();
    return tap_end();
}
