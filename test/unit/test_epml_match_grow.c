/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of the growth of the matching table, ompi/mca/pml/epml/base/pml_epml_match_table.h: no
 * operation looks at more than a few queues or allocates much, however many keys there are; and
 * what is done meanwhile.  Counts, no times.  Keys that come and go, and load: test_epml_match.c.
 *
 * Guards: pml_epml_match_table.h
 */

#include "test_epml_match.h"

/** Queues and buckets that one operation may look at to make room: a few times that many buckets
 * as are swept or split. */
#define VISITS_MAX 64

/** Bytes of one allocation. */
#define LARGEST_MAX 65536

enum { MANY = TAP_SANITIZED ? 60000 : 400000 };

/** What one operation has looked at is over. */
static uint64_t most_visits(uint64_t most)
{
    const uint64_t now = visits;

    visits = 0;
    return now > most ? now : most;
}

static match_key_t key_number(uint64_t i)
{
    return (match_key_t){i % 3 + 1, (int32_t) (i / 3 % 500), (int32_t) (i / 1500)};
}

static void check_found(epml_match_table_t *match, message_t *messages, uint64_t i)
{
    TAP_CHECK(&messages[i] == first(match, key_number(i)), "message %llu", (unsigned long long) i);
}

/** From few keys to many, message by message; each is found at any time. */
static void case_growth(void)
{
    message_t *messages = calloc(MANY, sizeof(*messages));
    uint64_t most = 0, random = tap_stream(1);
    epml_match_table_t match;

    tap_case("%d keys: what one more takes", MANY);
    table_init(&match);
    visits = 0;
    heap.largest = 0;
    for (uint64_t i = 0; i < MANY; ++i) {
        TAP_EQ(0, store(&match, &messages[i], key_number(i)));
        most = most_visits(most);
        check_found(&match, messages, tap_below(&random, i + 1));
        TAP_CHECK(match.queues <= match.buckets + 1, "%llu queues in %llu buckets",
                  (unsigned long long) match.queues, (unsigned long long) match.buckets);
    }
    TAP_CHECK(most <= VISITS_MAX, "one looked at %llu queues and buckets",
              (unsigned long long) most);
    TAP_CHECK(heap.largest <= LARGEST_MAX, "%zu bytes were allocated at once", heap.largest);
    printf("# at most %llu queues and buckets looked at, %zu bytes allocated\n",
           (unsigned long long) most, heap.largest);
    for (uint64_t i = 0; i < MANY; ++i) {
        check_found(&match, messages, i);
        epml_match_remove(&match, &messages[i].match);
    }
    TAP_EQ(0, match.unexpected_count);
    table_fini(&match);
    free(messages);
    tap_case_done();
}

/** Three come, one goes, at each load and size; and after the tide new keys clear the old queues
 * out, a few at a time. */
static void case_growth_with_removals(void)
{
    message_t *messages = calloc(MANY, sizeof(*messages));
    uint64_t most = 0, gone = 0, before, i;
    epml_match_table_t match;

    tap_case("%d keys, of which every third one goes again", MANY / 2);
    table_init(&match);
    visits = 0;
    for (i = 0; i < MANY / 2; ++i) {
        TAP_EQ(0, store(&match, &messages[i], key_number(i)));
        if (2 == i % 3) {
            epml_match_remove(&match, &messages[gone++].match);
        }
        most = most_visits(most);
        check_found(&match, messages, gone + i % (i + 1 - gone));
    }
    for (uint64_t k = gone; k < i; ++k) {
        check_found(&match, messages, k);
        epml_match_remove(&match, &messages[k].match);
    }
    before = match.buckets;
    for (; i < MANY; ++i) {
        TAP_EQ(0, store(&match, &messages[i], key_number(i)));
        epml_match_remove(&match, &messages[i].match);
        most = most_visits(most);
    }
    TAP_CHECK(match.buckets <= before + 16, "from %llu to %llu buckets for empty queues",
              (unsigned long long) before, (unsigned long long) match.buckets);
    TAP_CHECK(most <= VISITS_MAX, "one looked at %llu queues and buckets",
              (unsigned long long) most);
    table_fini(&match);
    free(messages);
    tap_case_done();
}

/** Without memory for buckets, from some size on, all works as before; with it again the table
 * catches up, by steps. */
static void case_no_memory(uint64_t from)
{
    enum { KEYS = 40000 };
    message_t *messages = calloc(KEYS, sizeof(*messages));
    uint64_t stuck = 0;
    epml_match_table_t match;

    tap_case("no memory for buckets, from %llu to %d keys", (unsigned long long) from, KEYS / 2);
    table_init(&match);
    for (uint64_t i = 0; i < KEYS; ++i) {
        if (from == i) {
            heap.most = sizeof(epml_match_queue_t);
        } else if (KEYS / 2 - 1000 == i) {
            stuck = match.buckets; /* the last piece may have had room for some more */
        } else if (KEYS / 2 == i) {
            TAP_EQ(stuck, match.buckets);
            heap.most = 0;
        }
        TAP_EQ(0, store(&match, &messages[i], key_number(i)));
        check_found(&match, messages, i / 2);
    }
    TAP_CHECK(0 < stuck && stuck <= from + EPML_MATCH_SEGMENT, "%llu buckets without memory",
              (unsigned long long) stuck);
    TAP_CHECK(match.queues <= match.buckets + 1, "%llu queues in %llu buckets",
              (unsigned long long) match.queues, (unsigned long long) match.buckets);
    for (uint64_t i = 0; i < KEYS; ++i) {
        check_found(&match, messages, i);
        epml_match_remove(&match, &messages[i].match);
    }
    table_fini(&match);
    free(messages);
    tap_case_done();
}

/** The first wildcard receives of a kind, when many messages wait: each looks no further than at
 * the one that it takes, and none looks again at what another one has looked at. */
static void case_first_wildcards(int kind)
{
    enum { WAITING = 30000 };
    message_t *messages = calloc(WAITING, sizeof(*messages));
    const int32_t source = 0 != (kind & EPML_MATCH_ANY_SOURCE) ? ANY : 7;
    const int32_t tag = 0 != (kind & EPML_MATCH_ANY_TAG) ? ANY : 7;
    epml_match_table_t match;
    int64_t made;

    tap_case("wildcards of kind %d, when %d messages wait", kind, WAITING);
    table_init(&match);
    for (uint64_t i = 0; i < WAITING; ++i) {
        TAP_EQ(0, store(&match, &messages[i], (match_key_t){1 + i % 3, 7, 7}));
    }
    made = heap.made;
    visits = 0;
    for (uint64_t i = 0; i < 3; ++i) { /* of each context the first one */
        TAP_CHECK(&messages[i] == first(&match, (match_key_t){1 + i, source, tag}), "message %llu",
                  (unsigned long long) i);
    }
    TAP_EQ(3, visits);
    TAP_EQ(6, heap.made - made); /* a queue and an entry each */
    for (uint64_t i = 0; i < WAITING; i += 3) {
        visits = 0;
        TAP_CHECK(&messages[i] == first(&match, (match_key_t){1, source, tag}), "message %llu",
                  (unsigned long long) i);
        TAP_CHECK(3 >= visits, "message %llu: looked at %llu", (unsigned long long) i,
                  (unsigned long long) visits);
        epml_match_remove(&match, &messages[i].match);
    }
    TAP_CHECK(NULL == first(&match, (match_key_t){1, source, tag}), "one more");
    visits = 0;
    TAP_CHECK(NULL == first(&match, (match_key_t){1, source, tag}), "one more");
    TAP_EQ(0, visits);
    for (uint64_t i = 0; i < WAITING; ++i) {
        if (0 != i % 3) {
            epml_match_remove(&match, &messages[i].match);
        }
    }
    TAP_EQ(0, match.unexpected_count);
    table_fini(&match);
    free(messages);
    tap_case_done();
}

/** Walk through all receives, of which those with even numbers go.  @return how many there were */
static uint64_t walk(epml_match_table_t *match, receive_t *receives, unsigned char *seen)
{
    epml_match_posted_t *next;
    uint64_t count = 0;

    for (epml_match_posted_t *at = epml_match_posted_after(match, NULL); NULL != at; at = next) {
        const uint64_t i = (uint64_t) ((receive_t *) ((char *) at - offsetof(receive_t, posted))
                                       - receives);

        next = epml_match_posted_after(match, at);
        ++count;
        ++seen[i];
        if (0 == i % 2) {
            epml_match_unpost(match, at);
        }
    }
    return count;
}

/** A walk sees each receive once, wherever the growth has got to. */
static void case_walk(void)
{
    enum { ROUNDS = 40, EACH = 500 };
    receive_t *receives = calloc(ROUNDS * EACH, sizeof(*receives));
    unsigned char *seen = calloc(ROUNDS * EACH, sizeof(*seen));
    uint64_t odd = 0;
    epml_match_table_t match;

    tap_case("walks while the table grows");
    table_init(&match);
    for (uint64_t round = 0; round < ROUNDS; ++round) {
        for (uint64_t i = round * EACH; i < (round + 1) * EACH; ++i) {
            post(&match, &receives[i], key_number(i));
        }
        TAP_EQ(odd + EACH, walk(&match, receives, seen));
        odd += EACH / 2;
        for (uint64_t i = 0; i < (round + 1) * EACH; ++i) {
            TAP_EQ(0 == i % 2 ? 1 : round - i / EACH + 1, seen[i]);
        }
    }
    for (uint64_t i = 1; i < ROUNDS * EACH; i += 2) {
        TAP_CHECK(&receives[i] == arrive(&match, key_number(i)), "receive %llu",
                  (unsigned long long) i);
    }
    TAP_CHECK(NULL == epml_match_posted_after(&match, NULL), "more than were posted");
    table_fini(&match);
    free(seen);
    free(receives);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_match_grow", TAP_SANITIZED ? 120 : 60);
    case_growth();
    case_growth_with_removals();
    case_no_memory(10);
    case_no_memory(900);
    case_no_memory(9000);
    for (int kind = EPML_MATCH_ANY_TAG; kind < EPML_MATCH_KINDS; ++kind) {
        case_first_wildcards(kind);
    }
    case_walk();
    return tap_end();
}
