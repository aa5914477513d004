/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of the matching table, ompi/mca/pml/epml/base/pml_epml_match.h: long random programs in
 * which every answer is compared with a model that scans plain lists by MPI's rules, and in which
 * the table's inside is audited now and then.  Single cases and scale: test_epml_match.c.
 *
 * Guards: pml_epml_match.h, pml_epml_match_table.h, pml_epml_match_unexpected.h
 */

/* A table that comes to what follows its first buckets, and to where it grows no more. */
#define EPML_MATCH_SEGMENT UINT64_C(128)
#define EPML_MATCH_SEGMENTS_MAX UINT64_C(24)
#define BUCKETS_MAX (EPML_MATCH_SEGMENT * EPML_MATCH_SEGMENTS_MAX)

#include "test_epml_match.h"

/** What a random program does. */
typedef struct profile_t {
    const char *name;
    uint64_t steps;
    uint64_t contexts, sources, tags; /**< how many of each */
    unsigned int any_source, any_tag; /**< percent of the receives and probes */
    unsigned int negative;            /**< percent of the tags */
    unsigned int follow;              /**< percent of the keys that fit what waits */
    unsigned int wild_from;           /**< no wildcards in the first so many percent of the steps */
    uint64_t depth;                   /**< messages or receives that pile up, about */
    unsigned int chance;              /**< one allocation in so many fails; 0: none */
    unsigned int promises;            /**< one step in so many is a promise, kept or not; 0: none */
} profile_t;

/** The model: what is posted and what waits, in order, in plain arrays. */
typedef struct program_t {
    const profile_t *profile;
    epml_match_table_t table;
    uint64_t random, step, steps, arrivals;
    receive_t **posted;
    message_t **waiting;
    uint64_t num_posted, num_waiting, capacity;
    receive_t *free_receives;
    message_t *free_messages;
    uint64_t matched, failed, most_posted, most_waiting, most_buckets;
} program_t;

/** Index of the earliest posted receive that fits a message; num_posted if there is none. */
static uint64_t model_find_posted(const program_t *p, match_key_t key)
{
    uint64_t i = 0;

    while (i < p->num_posted && !fits(p->posted[i]->key, key)) {
        ++i;
    }
    return i;
}

/** Index of the earliest message that fits a receive; num_waiting if there is none. */
static uint64_t model_find_waiting(const program_t *p, match_key_t key)
{
    uint64_t i = 0;

    while (i < p->num_waiting && !fits(key, p->waiting[i]->key)) {
        ++i;
    }
    return i;
}

static void drop_posted(program_t *p, uint64_t i)
{
    p->posted[i]->free_next = p->free_receives;
    p->free_receives = p->posted[i];
    --p->num_posted;
    memmove(p->posted + i, p->posted + i + 1, (p->num_posted - i) * sizeof(*p->posted));
}

static void drop_waiting(program_t *p, uint64_t i)
{
    p->waiting[i]->free_next = p->free_messages;
    p->free_messages = p->waiting[i];
    --p->num_waiting;
    memmove(p->waiting + i, p->waiting + i + 1, (p->num_waiting - i) * sizeof(*p->waiting));
}

static bool percent(program_t *p, unsigned int percentage)
{
    return percentage > tap_below(&p->random, 100);
}

static int32_t random_tag(program_t *p)
{
    const int32_t tag = (int32_t) tap_below(&p->random, p->profile->tags);

    return percent(p, p->profile->negative) ? -10 - tag : tag;
}

/** A message's key: by chance, or one that the receive with index i, if there is one, fits. */
static match_key_t random_message_key(program_t *p)
{
    const uint64_t context = tap_below(&p->random, p->profile->contexts);
    match_key_t key = {context % 4 << 32 | (1 + context / 4),
                       (int32_t) tap_below(&p->random, p->profile->sources), random_tag(p)};

    if (0 < p->num_posted && percent(p, p->profile->follow)) {
        const match_key_t receive = p->posted[tap_below(&p->random, p->num_posted)]->key;

        key.context = receive.context;
        key.source = ANY == receive.source ? key.source : receive.source;
        key.tag = ANY == receive.tag ? key.tag : receive.tag;
    }
    return key;
}

/** A receive's or probe's key. */
static match_key_t random_receive_key(program_t *p)
{
    match_key_t key;

    if (0 < p->num_waiting && percent(p, p->profile->follow)) {
        key = p->waiting[tap_below(&p->random, p->num_waiting)]->key;
    } else {
        const uint64_t context = tap_below(&p->random, p->profile->contexts);

        key = (match_key_t){context % 4 << 32 | (1 + context / 4),
                            (int32_t) tap_below(&p->random, p->profile->sources), random_tag(p)};
    }
    if (p->steps * p->profile->wild_from <= p->step * 100) {
        key.source = percent(p, p->profile->any_source) ? ANY : key.source;
        key.tag = percent(p, p->profile->any_tag) ? ANY : key.tag;
    }
    return key;
}

/** A message comes in. */
static void step_arrive(program_t *p)
{
    const match_key_t key = random_message_key(p);
    const uint64_t i = model_find_posted(p, key);
    receive_t *expected = i < p->num_posted ? p->posted[i] : NULL;
    receive_t *got = arrive(&p->table, key);
    message_t *message = p->free_messages;

    TAP_CHECK(expected == got, "step %llu: message {%#llx, %d, %d}: receive %p, expected %p",
              (unsigned long long) p->step, (unsigned long long) key.context, (int) key.source,
              (int) key.tag, (void *) got, (void *) expected);
    if (NULL != expected) {
        TAP_CHECK(NULL == expected->posted.queue, "taken, but marked as posted");
        drop_posted(p, i);
        ++p->matched;
    } else if (p->num_waiting < p->capacity) {
        if (0 != store(&p->table, message, key)) {
            TAP_CHECK(0 != p->profile->chance, "store failed");
            ++p->failed;
            return;
        }
        p->free_messages = message->free_next;
        message->number = ++p->arrivals;
        p->waiting[p->num_waiting++] = message;
    }
}

/** A receive is posted, or a probe looks, or a matched probe takes a message. */
static void step_receive(program_t *p, bool look, bool take)
{
    const match_key_t key = random_receive_key(p);
    const uint64_t i = model_find_waiting(p, key);
    message_t *expected = i < p->num_waiting ? p->waiting[i] : NULL;
    epml_match_queue_t *queue = NULL;
    message_t *got = (message_t *) epml_match_first(&p->table, key.context, key.source, key.tag,
                                                    &queue);

    if (NULL == queue) {
        TAP_CHECK(0 != p->profile->chance && NULL == got, "first failed");
        ++p->failed;
        return;
    }
    TAP_CHECK(expected == got, "step %llu: receive {%#llx, %d, %d}: message %llu, expected %llu",
              (unsigned long long) p->step, (unsigned long long) key.context, (int) key.source,
              (int) key.tag, (unsigned long long) (NULL == got ? 0 : got->number),
              (unsigned long long) (NULL == expected ? 0 : expected->number));
    if (NULL != expected && take) {
        epml_match_remove(&p->table, &expected->match);
        drop_waiting(p, i);
        ++p->matched;
    } else if (NULL == expected && !look && p->num_posted < p->capacity) {
        receive_t *receive = p->free_receives;

        p->free_receives = receive->free_next;
        receive->key = key;
        epml_match_post(&p->table, queue, &receive->posted);
        p->posted[p->num_posted++] = receive;
    }
}

static void step_cancel(program_t *p)
{
    if (0 < p->num_posted) {
        const uint64_t i = tap_below(&p->random, p->num_posted);

        epml_match_unpost(&p->table, &p->posted[i]->posted);
        drop_posted(p, i);
    }
}

/** A communicator goes: its messages are thrown away, its receives cancelled. */
static void purge(program_t *p, uint64_t context)
{
    epml_match_unexpected_t *got;

    while (NULL != (got = epml_match_some_of_context(&p->table, context))) {
        uint64_t i = 0;

        while (i < p->num_waiting && &p->waiting[i]->match != got) {
            ++i;
        }
        TAP_CHECK(i < p->num_waiting && context == p->waiting[i]->key.context, "step %llu: purge",
                  (unsigned long long) p->step);
        epml_match_remove(&p->table, got);
        drop_waiting(p, i);
    }
    for (uint64_t i = 0; i < p->num_waiting; ++i) {
        TAP_CHECK(context != p->waiting[i]->key.context, "step %llu: not purged",
                  (unsigned long long) p->step);
    }
    for (uint64_t i = p->num_posted; 0 < i--;) {
        if (context == p->posted[i]->key.context) {
            epml_match_unpost(&p->table, &p->posted[i]->posted);
            drop_posted(p, i);
        }
    }
}

/** A message and the one before it in a queue. */
static void audit_message(const epml_match_queue_t *queue, const message_t *last,
                          const message_t *message)
{
    const match_key_t key = {queue->context, queue->source, queue->tag};

    TAP_CHECK(NULL == last || last->number < message->number, "order of messages");
    TAP_CHECK(fits(key, message->key), "a message in a wrong queue");
}

/** The messages in one queue of a wildcard key. */
static void audit_wild(const epml_match_queue_t *queue, int kind,
                       uint64_t counts[2 * EPML_MATCH_KINDS])
{
    const epml_match_entry_t *last = NULL;

    for (const epml_match_entry_t *e = queue->unexpected.wild.first; NULL != e; e = e->next) {
        TAP_CHECK(queue == e->queue && last == e->prev, "links of an entry");
        TAP_CHECK(epml_match_is_entered(e->message, kind), "an entry that its message lacks");
        audit_message(queue, NULL == last ? NULL : (const message_t *) last->message,
                      (const message_t *) e->message);
        last = e;
        ++counts[EPML_MATCH_KINDS + kind];
    }
    TAP_CHECK(last == queue->unexpected.wild.last, "last entry");
}

/** Everything in one queue; counts[0 ... 3]: receives by kind, counts[4 ... 7]: messages by kind */
static void audit_queue(const epml_match_queue_t *queue, uint64_t counts[2 * EPML_MATCH_KINDS])
{
    const int kind = epml_match_kind(queue->source, queue->tag);
    const bool promise = EPML_MATCH_PROMISE == queue->kind;
    const epml_match_posted_t *last_posted = NULL;
    const epml_match_unexpected_t *last = NULL;

    for (const epml_match_posted_t *r = queue->posted_first; NULL != r; r = r->next) {
        TAP_CHECK(queue == r->queue && last_posted == r->prev, "links of a receive");
        TAP_CHECK(NULL == last_posted || last_posted->sequence < r->sequence, "order of receives");
        last_posted = r;
        ++counts[kind];
    }
    TAP_CHECK(last_posted == queue->posted_last, "last receive");
    if (EPML_MATCH_EXACT != kind) {
        audit_wild(queue, kind, counts);
        return;
    }
    for (const epml_match_unexpected_t *m = queue->unexpected.exact.first; NULL != m; m = m->next) {
        audit_message(queue, (const message_t *) last, (const message_t *) m);
        TAP_CHECK(queue == epml_match_queue_of(m), "a message that knows another queue");
        last = m;
        ++counts[EPML_MATCH_KINDS];
    }
    TAP_CHECK(NULL == queue->unexpected.exact.first || last == queue->unexpected.exact.last,
              "last message");
    TAP_CHECK(!promise || (NULL == last_posted && NULL == last), "a promise that holds something");
    if (EPML_MATCH_ANCHOR == queue->kind) {
        TAP_CHECK(NULL == last_posted && NULL == last && NULL != queue->ring_next, "an anchor");
        return;
    }
    TAP_CHECK(promise || kind == queue->kind, "kind of a queue");
    TAP_CHECK(NULL == last || NULL != queue->ring_next, "messages that their context's end misses");
}

/** The ring of each context: links, and nobody of another context. */
static void audit_ring(const epml_match_queue_t *anchor)
{
    for (const epml_match_queue_t *q = anchor; q->ring_next != anchor; q = q->ring_next) {
        TAP_CHECK(q == q->ring_next->ring_prev, "links of a ring");
        TAP_EQ(anchor->context, q->ring_next->context);
        TAP_EQ(EPML_MATCH_EXACT, q->ring_next->kind);
    }
}

/** The inside of the table: all links, all counts, each key once. */
static void audit(const program_t *p)
{
    const epml_match_table_t *table = &p->table;
    uint64_t counts[2 * EPML_MATCH_KINDS] = {0}, expected[2 * EPML_MATCH_KINDS] = {0};
    const epml_match_unexpected_t *arrived = table->arrival_first;
    uint64_t queues = 0, entries = 0;
    bool behind[EPML_MATCH_KINDS] = {false}; /* there is the hand: the rest is not queued */

    for (uint64_t i = 0; i < table->buckets; ++i) {
        for (const epml_match_queue_t *q = *epml_match_bucket(table, i); NULL != q; q = q->chain) {
            ++queues;
            TAP_EQ(i, epml_match_place(table, q->context, q->source, q->tag));
            for (const epml_match_queue_t *o = q->chain; NULL != o; o = o->chain) {
                TAP_CHECK(!epml_match_is(o, q->context, q->source, q->tag), "two queues of a key");
            }
            audit_queue(q, counts);
            if (EPML_MATCH_ANCHOR == q->kind) {
                audit_ring(q);
            }
        }
    }
    for (uint64_t i = 0; i < p->num_posted; ++i) {
        ++expected[epml_match_kind(p->posted[i]->key.source, p->posted[i]->key.tag)];
    }
    for (uint64_t i = 0; i < p->num_waiting; ++i) {
        TAP_CHECK(&p->waiting[i]->match == arrived, "list of arrivals");
        arrived = NULL == arrived ? NULL : arrived->newer;
        for (int kind = 0; kind < EPML_MATCH_KINDS; ++kind) {
            behind[kind] |= &p->waiting[i]->match == table->hands[kind].message;
            expected[EPML_MATCH_KINDS + kind] += 0 != (table->indexed & 1u << kind) && !behind[kind]
                                                 && (0 <= p->waiting[i]->key.tag
                                                     || 0 == (kind & EPML_MATCH_ANY_TAG));
        }
    }
    TAP_CHECK(NULL == arrived, "more arrivals than there were");
    for (int kind = 0; kind < EPML_MATCH_KINDS; ++kind) {
        entries += EPML_MATCH_EXACT == kind ? 0 : counts[EPML_MATCH_KINDS + kind];
        TAP_EQ(expected[kind], counts[kind]);
        TAP_EQ(expected[kind], table->posted_count[kind]);
        TAP_CHECK(behind[kind] == (NULL != table->hands[kind].message), "a hand that is nowhere");
        TAP_CHECK(expected[EPML_MATCH_KINDS + kind] == counts[EPML_MATCH_KINDS + kind]
                      || (0 != kind && 0 != p->profile->promises
                          && (behind[kind]
                              || expected[EPML_MATCH_KINDS + kind]
                                     > counts[EPML_MATCH_KINDS + kind])),
                  "messages queued by kind %d", kind);
    }
    TAP_EQ(p->num_waiting, table->unexpected_count);
    TAP_EQ(queues, table->queues);
    TAP_EQ(allocations(table, entries), heap.live);
    TAP_CHECK(table->buckets <= BUCKETS_MAX && table->buckets <= table->mask + 1
                  && table->buckets > table->mask / 2,
              "%llu buckets, mask %#llx", (unsigned long long) table->buckets,
              (unsigned long long) table->mask);
    TAP_CHECK(table->first == table->segments[0]
                  && table->flat
                         == (table->buckets < EPML_MATCH_SEGMENT ? table->buckets
                                                                 : EPML_MATCH_SEGMENT),
              "%llu buckets in the first segment", (unsigned long long) table->flat);
    TAP_CHECK(0 != p->profile->chance || queues <= table->buckets + 1
                  || BUCKETS_MAX == table->buckets,
              "overfull");
}

/** A context promises something.  The model takes no notice: programs break their promises, and
 * must be served all the same. */
static void step_promise(program_t *p)
{
    const uint64_t context = tap_below(&p->random, p->profile->contexts);
    const unsigned int never = (unsigned int) tap_below(&p->random, 1u << EPML_MATCH_KINDS);

    p->failed += 0 != epml_match_promise(&p->table, context % 4 << 32 | (1 + context / 4), never);
}

static void program_step(program_t *p)
{
    /* Tides: messages pile up, then receives drain them and pile up themselves, and so on. */
    const bool flood = 0 == p->step / (4 * p->profile->depth) % 2;
    const uint64_t dice = tap_below(&p->random, 1000);

    if (0 != p->profile->promises && 0 == tap_below(&p->random, p->profile->promises)) {
        step_promise(p);
    } else if (0 == tap_below(&p->random, 16 * p->profile->depth)) {
        const uint64_t context = tap_below(&p->random, p->profile->contexts);

        purge(p, context % 4 << 32 | (1 + context / 4));
    } else if (30 > dice) {
        step_cancel(p);
    } else if (80 > dice) {
        step_receive(p, true, false); /* probe */
    } else if (100 > dice) {
        step_receive(p, true, true); /* matched probe */
    } else if (dice < (flood ? 780u : 250u)) {
        step_arrive(p);
    } else {
        step_receive(p, false, true);
    }
}

/** What is left goes, and the table must be as empty as it was. */
static void program_end(program_t *p)
{
    audit(p);
    for (uint64_t i = 0; i < p->profile->contexts && !tap_case_failed(); ++i) {
        purge(p, i % 4 << 32 | (1 + i / 4));
    }
    audit(p);
    TAP_EQ(0, p->num_posted + p->num_waiting);
    heap.chance = 0;
    table_fini(&p->table);
}

static void program_run(program_t *p)
{
    table_init(&p->table);
    for (p->step = 0; p->step < p->steps && !tap_case_failed(); ++p->step) {
        /* A table keeps the queues that it has, so only a young one runs out of memory. */
        if (0 != p->profile->chance && 0 == p->step % 4000) {
            program_end(p);
            table_init(&p->table);
            heap.chance = p->profile->chance;
        }
        program_step(p);
        p->most_buckets = p->table.buckets > p->most_buckets ? p->table.buckets : p->most_buckets;
        p->most_posted = p->num_posted > p->most_posted ? p->num_posted : p->most_posted;
        p->most_waiting = p->num_waiting > p->most_waiting ? p->num_waiting : p->most_waiting;
        if (0 == p->step % 1024) {
            audit(p);
        }
    }
    program_end(p);
}

static void case_program(const profile_t *profile)
{
    program_t p = {.profile = profile, .capacity = 4 * profile->depth};
    receive_t *receives = calloc(p.capacity, sizeof(*receives));
    message_t *messages = calloc(p.capacity, sizeof(*messages));

    p.steps = TAP_SANITIZED ? profile->steps / 4 : profile->steps;
    tap_case("random program, %s: %llu steps", profile->name, (unsigned long long) p.steps);
    p.random = tap_stream(profile->steps + profile->depth + profile->tags);
    heap.random = tap_stream(99);
    p.posted = calloc(p.capacity, sizeof(*p.posted));
    p.waiting = calloc(p.capacity, sizeof(*p.waiting));
    for (uint64_t i = 0; i < p.capacity; ++i) {
        receives[i].free_next = p.free_receives;
        p.free_receives = &receives[i];
        messages[i].free_next = p.free_messages;
        p.free_messages = &messages[i];
    }
    program_run(&p);
    printf("# %llu matched, at most %llu posted and %llu waiting, %llu times no memory, %llu "
           "buckets\n",
           (unsigned long long) p.matched, (unsigned long long) p.most_posted,
           (unsigned long long) p.most_waiting, (unsigned long long) p.failed,
           (unsigned long long) p.most_buckets);
    free(p.posted);
    free(p.waiting);
    free(receives);
    free(messages);
    tap_case_done();
}

int main(int argc, char **argv)
{
    static const profile_t profiles[] = {
        /* name, steps, contexts, sources, tags, any source, any tag, negative, follow, wild from,
         * depth, chance, promises */
        {"few keys, no wildcards", 200000, 1, 2, 3, 0, 0, 10, 0, 0, 100, 0, 0},
        {"few keys, all wildcards", 300000, 2, 3, 3, 30, 30, 10, 0, 0, 100, 0, 0},
        {"some keys", 300000, 5, 8, 12, 15, 15, 20, 40, 0, 400, 0, 0},
        {"very many keys", 200000, 40, 1000, 100000, 10, 10, 30, 60, 0, 1500, 0, 0},
        {"any source", 100000, 3, 50, 20, 50, 0, 20, 50, 0, 300, 0, 0},
        {"any tag", 100000, 3, 5, 1000, 0, 50, 20, 50, 0, 300, 0, 0},
        {"wildcards late", 200000, 8, 20, 50, 20, 20, 15, 50, 50, 2500, 0, 0},
        {"memory runs out", 200000, 8, 30, 500, 15, 15, 20, 50, 10, 600, 20, 0},
        {"promises, few wildcards", 300000, 6, 6, 8, 1, 1, 15, 50, 0, 200, 0, 100},
        {"promises, broken often", 300000, 3, 4, 6, 25, 25, 15, 40, 0, 150, 0, 10},
        {"promises without memory", 200000, 6, 30, 200, 5, 5, 20, 50, 0, 400, 20, 50}};

    tap_begin(argc, argv, "test_epml_match_random", TAP_SANITIZED ? 240 : 120);
    for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); ++i) {
        case_program(&profiles[i]);
    }
    return tap_end();
}
