/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of the matching table, ompi/mca/pml/epml/base/pml_epml_match.h: tables of cases, memory that
 * runs out, and scale.  What must not grow is asserted as counts of queues, buckets and
 * allocations, not as times.  Random programs: test_epml_match_random.c; promises:
 * test_epml_promise.c.
 *
 * Guards: pml_epml_match.h, pml_epml_match_unexpected.h
 */

#include <sys/mman.h>

#include "test_epml_match.h"

/* ---- directed cases ------------------------------------------------------------------------- */

static void case_rules(void)
{
    static const struct {
        match_key_t receive, message;
        bool fits;
    } table[] = {{{1, 2, 3}, {1, 2, 3}, true},
                 {{1, 2, 3}, {1, 2, 4}, false},
                 {{1, 2, 3}, {1, 4, 3}, false},
                 {{1, 2, 3}, {2, 2, 3}, false},
                 {{1, 2, ANY}, {1, 2, 3}, true},
                 {{1, 2, ANY}, {1, 2, 0}, true},
                 {{1, 2, ANY}, {1, 3, 3}, false},
                 {{1, 2, ANY}, {2, 2, 3}, false},
                 {{1, ANY, 3}, {1, 2, 3}, true},
                 {{1, ANY, 3}, {1, 0, 3}, true},
                 {{1, ANY, 3}, {1, 2, 4}, false},
                 {{1, ANY, 3}, {3, 2, 3}, false},
                 {{1, ANY, ANY}, {1, 2, 3}, true},
                 {{1, ANY, ANY}, {1, 0, 0}, true},
                 {{1, ANY, ANY}, {2, 2, 3}, false},
                 {{1, ANY, ANY}, {1, 2, INT32_MAX}, true},
                 /* Negative tags belong to the library itself. */
                 {{1, 2, -7}, {1, 2, -7}, true},
                 {{1, ANY, -7}, {1, 2, -7}, true},
                 {{1, 2, ANY}, {1, 2, -7}, false},
                 {{1, ANY, ANY}, {1, 2, -7}, false},
                 {{1, 2, ANY}, {1, 2, -2}, false},
                 {{1, ANY, ANY}, {1, 2, INT32_MIN}, false},
                 {{1, ANY, INT32_MIN}, {1, 2, INT32_MIN}, true},
                 /* The whole context counts, and all of the source. */
                 {{UINT64_C(1) << 63, 2, 3}, {0, 2, 3}, false},
                 {{UINT64_C(1) << 32, 2, 3}, {0, 2, 3}, false},
                 {{UINT64_MAX, INT32_MAX, 0}, {UINT64_MAX, INT32_MAX, 0}, true},
                 {{5, 0x10000, 3}, {5, 0, 3}, false}};

    tap_case("which receive fits which message");
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); ++i) {
        epml_match_table_t match;
        receive_t receive, *taken;
        message_t message;

        table_init(&match);
        post(&match, &receive, table[i].receive);
        taken = arrive(&match, table[i].message);
        TAP_CHECK((table[i].fits ? &receive : NULL) == taken, "row %zu: receive first", i);
        TAP_CHECK((NULL == taken) == (NULL != receive.posted.queue), "row %zu: still posted?", i);
        if (NULL == taken) {
            epml_match_unpost(&match, &receive.posted);
        }
        TAP_EQ(0, store(&match, &message, table[i].message));
        TAP_CHECK((table[i].fits ? &message : NULL) == first(&match, table[i].receive),
                  "row %zu: message first", i);
        epml_match_remove(&match, &message.match);
        TAP_CHECK(NULL == first(&match, table[i].receive), "row %zu: removed", i);
        TAP_EQ(0, match.unexpected_count);
        table_fini(&match);
    }
    tap_case_done();
}

/** The four receives that fit one message, posted in any order, are taken in that order. */
static void case_posting_order(void)
{
    static const match_key_t keys[] = {{9, 4, 6}, {9, 4, ANY}, {9, ANY, 6}, {9, ANY, ANY}};

    tap_case("the receive posted first, of all kinds");
    for (int code = 0; code < 256; ++code) {
        const int order[] = {code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6};
        epml_match_table_t match;
        receive_t receives[4];

        table_init(&match);
        for (int i = 0; i < 4; ++i) { /* a kind may come twice: first come, first served */
            post(&match, &receives[i], keys[order[i]]);
        }
        TAP_CHECK(NULL == arrive(&match, (match_key_t){8, 4, 6}), "code %d: other context", code);
        for (int i = 0; i < 4; ++i) {
            TAP_CHECK(&receives[i] == arrive(&match, keys[0]), "code %d: receive %d", code, i);
        }
        TAP_CHECK(NULL == arrive(&match, keys[0]), "code %d: a fifth", code);
        for (int kind = 0; kind < EPML_MATCH_KINDS; ++kind) {
            TAP_EQ(0, match.posted_count[kind]);
        }
        table_fini(&match);
    }
    tap_case_done();
}

/** Cancelling the first, a middle and the last one of a queue leaves the others in order. */
static void case_cancel(void)
{
    const match_key_t key = {1, ANY, 2}, arriving = {1, 3, 2};

    tap_case("cancel any one, or two, of five receives");
    for (int gone = 0; gone < 5; ++gone) {
        for (int also = 0; also < 5; ++also) {
            epml_match_table_t match;
            receive_t receives[5];

            table_init(&match);
            for (int i = 0; i < 5; ++i) {
                post(&match, &receives[i], key);
            }
            epml_match_unpost(&match, &receives[gone].posted);
            TAP_CHECK(NULL == receives[gone].posted.queue, "still marked as posted");
            if (also != gone) {
                epml_match_unpost(&match, &receives[also].posted);
            }
            for (int i = 0; i < 5; ++i) {
                if (i != gone && i != also) {
                    TAP_CHECK(&receives[i] == arrive(&match, arriving), "without %d, %d: %d", gone,
                              also, i);
                }
            }
            TAP_CHECK(NULL == arrive(&match, arriving), "without %d, %d: one more", gone, also);
            table_fini(&match);
        }
    }
    tap_case_done();
}

/** Every posted receive is found once, though they are taken out on the way. */
static void case_walk(void)
{
    enum { COUNT = 1000 };
    static receive_t receives[COUNT];
    static int seen[COUNT];
    epml_match_table_t match;
    int left = COUNT / 2;

    tap_case("walking through posted receives, taking out every other one");
    table_init(&match);
    TAP_CHECK(NULL == epml_match_posted_after(&match, NULL), "an empty table");
    for (int i = 0; i < COUNT; ++i) {
        /* Several to a key, and all kinds of keys. */
        post(&match, &receives[i],
             (match_key_t){(uint64_t) i % 7, 0 == i % 5 ? ANY : i % 50, 0 == i % 3 ? ANY : i % 9});
    }
    memset(seen, 0, sizeof(seen));
    for (int round = 0; round < 2; ++round) {
        epml_match_posted_t *next;

        for (epml_match_posted_t *posted = epml_match_posted_after(&match, NULL); NULL != posted;
             posted = next) {
            const long i = (receive_t *) ((char *) posted - offsetof(receive_t, posted)) - receives;

            next = epml_match_posted_after(&match, posted);
            TAP_CHECK(0 <= i && i < COUNT, "receive %ld", i);
            ++seen[i];
            if (1 == i % 2 || 1 == round) {
                epml_match_unpost(&match, posted);
            }
        }
    }
    for (int i = 0; i < COUNT; ++i) {
        TAP_EQ(1 == i % 2 ? 1 : 2, seen[i]);
        left -= NULL != receives[i].posted.queue ? 1 : 0;
    }
    TAP_EQ(COUNT / 2, left);
    TAP_CHECK(NULL == epml_match_posted_after(&match, NULL), "all were taken out");
    table_fini(&match);
    tap_case_done();
}

/** Thousands of messages wait when the first wildcard of a kind comes. */
static void case_late_wildcards(int kind)
{
    enum { MESSAGES = 3000 };
    static message_t messages[MESSAGES];
    const match_key_t key = {7, 0 != (kind & EPML_MATCH_ANY_SOURCE) ? ANY : 5,
                             0 != (kind & EPML_MATCH_ANY_TAG) ? ANY : 3};
    epml_match_table_t match;
    bool taken[MESSAGES] = {false};

    tap_case("wildcards of kind %d switched on while %d messages wait", kind, MESSAGES);
    table_init(&match);
    for (int i = 0; i < MESSAGES; ++i) {
        const int32_t tag = i % 17 < 14 ? i % 17 : -10 - i % 17;

        TAP_EQ(0, store(&match, &messages[i],
                        (match_key_t){7 + (uint64_t) (0 == i % 11), i % 13, tag}));
    }
    TAP_EQ(1u << EPML_MATCH_EXACT, match.indexed);
    for (int i = 0; i < MESSAGES; ++i) {
        if (fits(key, messages[i].key)) {
            TAP_CHECK(&messages[i] == first(&match, key), "message %d first", i);
            TAP_CHECK(&messages[i] == first(&match, key), "message %d stays until taken", i);
            epml_match_remove(&match, &messages[i].match);
            taken[i] = true;
        }
    }
    TAP_CHECK(NULL == first(&match, key), "none left");
    TAP_EQ(1u << EPML_MATCH_EXACT | 1u << kind, match.indexed);
    for (int i = 0; i < MESSAGES; ++i) {
        if (!taken[i]) {
            epml_match_remove(&match, &messages[i].match);
        }
    }
    TAP_EQ(0, match.unexpected_count);
    TAP_CHECK(NULL == match.arrival_first && NULL == match.arrival_last, "arrivals left");
    table_fini(&match);
    tap_case_done();
}

static void case_contexts(void)
{
    message_t messages[60];
    epml_match_table_t match;

    tap_case("the messages of a context");
    table_init(&match);
    for (int i = 0; i < 60; ++i) {
        TAP_EQ(0, store(&match, &messages[i], (match_key_t){(uint64_t) i % 3, i % 5, -10 - i % 8}));
    }
    TAP_CHECK(NULL == epml_match_some_of_context(&match, 3), "a context without messages");
    for (int context = 2; context >= 0; --context) {
        for (int i = 0; i < 20; ++i) {
            epml_match_unexpected_t *got = epml_match_some_of_context(&match, (uint64_t) context);

            TAP_CHECK(NULL != got, "context %d: no message %d", context, i);
            if (NULL == got) {
                break;
            }
            TAP_EQ(context, epml_match_queue_of(got)->context);
            TAP_CHECK(got == epml_match_queue_of(got)->unexpected.exact.first, "not the first");
            epml_match_remove(&match, got);
        }
        TAP_CHECK(NULL == epml_match_some_of_context(&match, (uint64_t) context), "one left");
    }
    TAP_EQ(0, match.unexpected_count);
    table_fini(&match);
    tap_case_done();
}

/* Messages of others are in memory that nobody may touch while a context ends; but for the two
 * beside its own in the order of arrival. */
static void case_end_of_context(void)
{
    enum { OTHERS = 20000, OWN = 300 };
    const size_t size = OTHERS * sizeof(message_t);
    message_t *others = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                             0);
    message_t own[OWN], beside[2];
    epml_match_table_t match;

    tap_case("the end of a context looks at no message of others");
    TAP_CHECK(MAP_FAILED != (void *) others, "no memory");
    table_init(&match);
    for (int i = 0; i < OTHERS; ++i) {
        TAP_EQ(0, store(&match, &others[i], (match_key_t){1, i % 3, i % 100}));
    }
    TAP_EQ(0, store(&match, &beside[0], (match_key_t){1, 1, 1}));
    for (int i = 0; i < OWN; ++i) {
        TAP_EQ(0, store(&match, &own[i], (match_key_t){2, i % 2, i % 7}));
    }
    TAP_EQ(0, store(&match, &beside[1], (match_key_t){1, 1, 1}));
    TAP_EQ(0, epml_match_promise(&match, 2, 1u << EPML_MATCH_ANY_TAG));
    TAP_EQ(1, match.promises);
    TAP_EQ(0, mprotect(others, size, PROT_NONE));
    for (epml_match_unexpected_t *got; NULL != (got = epml_match_some_of_context(&match, 2));) {
        epml_match_remove(&match, got);
    }
    epml_match_end_promise(&match, 2);
    TAP_EQ(0, match.promises);
    TAP_EQ(0, mprotect(others, size, PROT_READ | PROT_WRITE));
    TAP_EQ(OTHERS + 2, match.unexpected_count);
    for (epml_match_unexpected_t *got; NULL != (got = epml_match_some_of_context(&match, 1));) {
        epml_match_remove(&match, got);
    }
    TAP_EQ(0, match.unexpected_count);
    table_fini(&match);
    munmap(others, size);
    tap_case_done();
}

/* ---- memory runs out ------------------------------------------------------------------------ */

/** Whichever allocation of a store fails: the message is stored nowhere, and can be again. */
static void case_store_without_memory(void)
{
    static const match_key_t kinds[] = {{1, ANY, ANY}, {1, 2, ANY}, {1, ANY, 3}};
    const match_key_t key = {2, 5, 6};

    tap_case("a message that cannot be stored leaves no trace");
    for (int fail = 0; fail < 2 * EPML_MATCH_KINDS - 1; ++fail) { /* a queue each, 3 entries */
        epml_match_table_t match;
        message_t message, other;

        table_init(&match);
        for (int i = 0; i < 3; ++i) {
            TAP_CHECK(NULL == first(&match, kinds[i]), "no message yet");
        }
        TAP_EQ(1u << EPML_MATCH_EXACT, match.indexed); /* nothing waits: nothing to be found */
        TAP_EQ(0, store(&match, &other, (match_key_t){3, 5, 6}));
        for (int i = 0; i < 3; ++i) {
            TAP_CHECK(NULL == first(&match, kinds[i]), "no message of that context");
        }
        heap.fail_after = fail;
        TAP_CHECK(0 != store(&match, &message, key), "allocation %d failed", fail);
        heap.fail_after = -1;
        TAP_EQ(1, match.unexpected_count);
        TAP_CHECK(&other.match == match.arrival_first && &other.match == match.arrival_last,
                  "an arrival");
        TAP_EQ(allocations(&match, 3), heap.live);
        TAP_CHECK(NULL == first(&match, (match_key_t){2, ANY, ANY}), "found by a receive");
        TAP_EQ(0, store(&match, &message, key));
        TAP_CHECK(&message == first(&match, key), "stored the second time");
        table_fini(&match);
    }
    heap.fail_after = 0;
    TAP_CHECK(0 != epml_match_init(&(epml_match_table_t){.mask = 0}), "init");
    heap.fail_after = -1;
    tap_case_done();
}

/** Memory runs out in the middle of queueing what waits by a new kind. */
static void case_index_without_memory(void)
{
    enum { MESSAGES = 40 };
    const match_key_t any = {4, ANY, ANY}; /* the fourth message: a queue and an entry each */
    static const uint64_t contexts[] = {1, 2, 3, 4};

    tap_case("a wildcard receive fails for lack of memory, and then succeeds");
    for (int fail = 0; fail < 8; ++fail) {
        message_t messages[MESSAGES + 4];
        epml_match_table_t match;
        epml_match_queue_t *queue = NULL;

        table_init(&match);
        for (int i = 0; i < MESSAGES; ++i) {
            TAP_EQ(0, store(&match, &messages[i], (match_key_t){contexts[i % 4], i, 1}));
        }
        heap.fail_after = fail;
        TAP_CHECK(NULL == epml_match_first(&match, any.context, any.source, any.tag, &queue),
                  "a message in spite of the failure");
        TAP_CHECK(NULL == queue, "a queue in spite of the failure");
        heap.fail_after = -1;
        for (int i = 0; i < 4; ++i) { /* more arrive, one that was queued already goes */
            TAP_EQ(0, store(&match, &messages[MESSAGES + i], (match_key_t){contexts[i], 99, 1}));
        }
        epml_match_remove(&match, &messages[0].match);
        for (int context = 0; context < 4; ++context) {
            const match_key_t key = {contexts[context], ANY, ANY};

            for (int i = 0 == context ? 4 : context; i < MESSAGES + 4; i += 4) {
                TAP_CHECK(&messages[i] == first(&match, key), "failure %d: message %d", fail, i);
                epml_match_remove(&match, &messages[i].match);
            }
            TAP_CHECK(NULL == first(&match, key), "failure %d: one more", fail);
        }
        table_fini(&match);
    }
    tap_case_done();
}

/* ---- scale: counts that must stay small ----------------------------------------------------- */

/** Queues and buckets that one operation may look at: twice two buckets that are swept and one that
 * is split, with what is in them. */
#define VISITS_MAX 64

/** Of allocations; what a thread waits for at most where the memory must be cleared. */
#define LARGEST_MAX 65536

/** Watches a table while operations are done on it. */
typedef struct meter_t {
    epml_match_table_t table;
    uint64_t visits, visits_most; /**< all, and of one operation */
    uint64_t queues_most;         /**< in the buckets at once */
} meter_t;

static void meter_start(meter_t *m)
{
    *m = (meter_t){.visits = 0};
    table_init(&m->table);
    visits = 0;
    heap.largest = 0;
}

/** An operation is over. */
static void meter(meter_t *m)
{
    m->visits += visits;
    m->visits_most = visits > m->visits_most ? visits : m->visits_most;
    m->queues_most = m->table.queues > m->queues_most ? m->table.queues : m->queues_most;
    visits = 0;
}

static void meter_check(const meter_t *m)
{
    TAP_CHECK(m->visits_most <= VISITS_MAX, "one operation looked at %llu queues and buckets",
              (unsigned long long) m->visits_most);
    TAP_CHECK(heap.largest <= LARGEST_MAX, "%zu bytes were allocated at once", heap.largest);
}

/** Key number i of an endless series without repetition. */
static match_key_t key_number(uint64_t i)
{
    return (match_key_t){i % 3 << 32 | 1, (int32_t) (i / 3 % 5), -32 - (int32_t) (i / 15)};
}

/** Distinct keys come and go, live of them at a time, by posting, by storing or by looking. */
static void case_come_and_go(const char *how, uint64_t live, uint64_t keys)
{
    receive_t *receives = calloc(live, sizeof(*receives));
    message_t *messages = calloc(live, sizeof(*messages));
    uint64_t bound = EPML_MATCH_BUCKETS_MIN;
    meter_t m;

    tap_case("%llu keys come and go by %s, %llu at a time", (unsigned long long) keys, how,
             (unsigned long long) live);
    meter_start(&m);
    for (uint64_t i = 0; i < keys; ++i) {
        if ('p' == how[0]) {
            if (live <= i) {
                epml_match_unpost(&m.table, &receives[i % live].posted);
            }
            post(&m.table, &receives[i % live], key_number(i));
        } else if ('s' == how[0]) {
            if (live <= i) {
                epml_match_remove(&m.table, &messages[i % live].match);
            }
            TAP_EQ(0, store(&m.table, &messages[i % live], key_number(i)));
        } else {
            TAP_CHECK(NULL == first(&m.table, key_number(i)), "a message");
        }
        meter(&m);
    }
    /* Grown only if more than half of the queues were in use: at most 4 buckets for one of them. */
    while (bound < 4 * live) {
        bound *= 2;
    }
    TAP_CHECK(m.table.buckets <= bound, "%llu buckets, %llu expected at most",
              (unsigned long long) m.table.buckets, (unsigned long long) bound);
    TAP_CHECK(m.queues_most <= bound, "%llu queues, %llu expected at most",
              (unsigned long long) m.queues_most, (unsigned long long) bound);
    TAP_CHECK(heap.live <= (int64_t) bound + segments(&m.table),
              "%lld allocations, %llu queues expected at most", (long long) heap.live,
              (unsigned long long) bound);
    TAP_CHECK(m.visits <= 12 * keys, "%llu visits for %llu keys", (unsigned long long) m.visits,
              (unsigned long long) keys);
    meter_check(&m);
    printf("# %llu buckets, at most %llu queues, %llu visits, at most %llu at a time\n",
           (unsigned long long) m.table.buckets, (unsigned long long) m.queues_most,
           (unsigned long long) m.visits, (unsigned long long) m.visits_most);
    table_fini(&m.table);
    free(receives);
    free(messages);
    tap_case_done();
}

/** Many at once: the load stays below one; a second flood needs no new memory. */
static void case_flood(void)
{
    enum { KEYS = 20000 };
    message_t *messages = calloc(KEYS, sizeof(*messages));
    epml_match_table_t match;
    int64_t made = 0;

    tap_case("%d messages of different keys wait at once, twice", KEYS);
    table_init(&match);
    for (uint64_t round = 0; round < 2; ++round) {
        made = heap.made;
        for (uint64_t i = 0; i < KEYS; ++i) {
            TAP_EQ(0, store(&match, &messages[i], key_number(round * KEYS + i)));
            TAP_CHECK(match.queues <= match.buckets, "more queues than buckets");
        }
        for (uint64_t i = 0; i < KEYS; ++i) {
            const uint64_t at = i * 7919 % KEYS;

            TAP_CHECK(&messages[at] == first(&match, key_number(round * KEYS + at)), "message %llu",
                      (unsigned long long) at);
            epml_match_remove(&match, &messages[at].match);
        }
    }
    TAP_EQ(1u << EPML_MATCH_EXACT, match.indexed);
    TAP_CHECK(match.buckets <= 4 * KEYS, "%llu buckets", (unsigned long long) match.buckets);
    TAP_CHECK(heap.made - made <= KEYS, "the second flood made %lld allocations",
              (long long) (heap.made - made));
    TAP_CHECK(heap.live <= (int64_t) match.buckets + 1 + segments(&match), "%lld allocations live",
              (long long) heap.live);
    table_fini(&match);
    free(messages);
    tap_case_done();
}

/** Queues that a lookup visits, on average over all keys in the table, times 100. */
static uint64_t visits_percent(const epml_match_table_t *table, uint64_t *longest_p)
{
    uint64_t visits = 0;

    *longest_p = 0;
    for (uint64_t i = 0; i < table->buckets; ++i) {
        uint64_t length = 0;

        for (const epml_match_queue_t *q = *epml_match_bucket(table, i); NULL != q; q = q->chain) {
            visits += ++length;
        }
        *longest_p = length > *longest_p ? length : *longest_p;
    }
    return 100 * visits / table->queues;
}

/** The keys that real programs have at once lie on grids, and must spread over the buckets. */
static void case_spread(void)
{
    static const struct {
        uint64_t processes, communicators; /**< the halves of a context id */
        int32_t sources, tags, first_tag;
    } grids[] = {{1, 1, 1, 4096, 0},   {1, 1, 4096, 1, 0},   {1, 4096, 1, 1, 0},
                 {4096, 1, 1, 1, 0},   {1, 1, 64, 64, 0},    {1, 64, 64, 1, 0},
                 {1, 64, 1, 64, 0},    {64, 1, 64, 1, 0},    {64, 1, 1, 64, 0},
                 {64, 64, 1, 1, 0},    {8, 8, 8, 8, 0},      {1, 64, 1, 64, -96},
                 {16, 1, 16, 16, -48}, {1, 16, 16, 16, -48}, {1, 1, 4, 1024, 1 << 20}};

    static message_t messages[4096];

    tap_case("keys on a grid spread over the buckets");
    for (size_t g = 0; g < sizeof(grids) / sizeof(grids[0]); ++g) {
        epml_match_table_t match;
        uint64_t longest, percent;

        table_init(&match);
        for (uint64_t i = 0; i < 4096; ++i) {
            uint64_t rest = i;
            match_key_t key;

            key.tag = grids[g].first_tag + (int32_t) (rest % (uint64_t) grids[g].tags);
            rest /= (uint64_t) grids[g].tags;
            key.source = (int32_t) (rest % (uint64_t) grids[g].sources);
            rest /= (uint64_t) grids[g].sources;
            key.context = rest % grids[g].communicators + 1;
            key.context |= rest / grids[g].communicators << 32;
            TAP_EQ(0, store(&match, &messages[i], key));
        }
        /* Each context that has messages has an anchor, too. */
        TAP_EQ(4096 + grids[g].processes * grids[g].communicators, match.queues);
        percent = visits_percent(&match, &longest);
        TAP_CHECK(percent <= 200,
                  "%llu processes, %llu communicators, %d sources, %d tags from %d: %llu.%02llu "
                  "queues per lookup, %llu at most",
                  (unsigned long long) grids[g].processes,
                  (unsigned long long) grids[g].communicators, (int) grids[g].sources,
                  (int) grids[g].tags, (int) grids[g].first_tag, (unsigned long long) percent / 100,
                  (unsigned long long) percent % 100, (unsigned long long) longest);
        table_fini(&match);
    }
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_match", TAP_SANITIZED ? 240 : 120);
    case_rules();
    case_posting_order();
    case_cancel();
    case_walk();
    for (int kind = EPML_MATCH_ANY_TAG; kind < EPML_MATCH_KINDS; ++kind) {
        case_late_wildcards(kind);
    }
    case_contexts();
    case_end_of_context();
    case_store_without_memory();
    case_index_without_memory();
    case_come_and_go("posting", 8, 100000);
    case_come_and_go("posting", 1000, 100000);
    case_come_and_go("storing", 8, 100000);
    case_come_and_go("storing", 33, 100000);
    case_come_and_go("looking", 1, 100000);
    case_flood();
    case_spread();
    return tap_end();
}
