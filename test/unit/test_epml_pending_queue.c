/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of ompi/mca/pml/epml/base/pml_epml_pending_queue.h: queues of what waits, by peer.  Random
 * programs against a model, with and without memory for the table; and what each operation looks
 * at, which must not grow with the number of peers.
 *
 * Guards: pml_epml_pending_queue.h
 */

#include "tap.h"

static bool no_memory;
static uint64_t steps;

static void *table_memory(size_t count, size_t size)
{
    return no_memory ? NULL : calloc(count, size);
}

#define EPML_PENDING_STEP() (++steps)
#define calloc(count, size) table_memory(count, size)
#include "ompi/mca/pml/epml/base/pml_epml_pending_queue.h"
#undef calloc

#define PEERS 50
#define THINGS 400

typedef struct thing_t {
    epml_pending_thing_t thing;
    int id;
} thing_t;

static thing_t things[THINGS];
static uint32_t numbers[PEERS]; /* of the peers */

/** What must be in the queues. */
static struct {
    int queue[PEERS][THINGS];
    int length[PEERS];
    uint64_t since[PEERS];
    int order[PEERS], queues; /* of the list */
} model;

static void model_leave(int at)
{
    memmove(&model.order[at], &model.order[at + 1],
            (size_t) (model.queues - at - 1) * sizeof(model.order[0]));
    --model.queues;
}

static int model_place(int peer)
{
    int at = 0;

    while (at < model.queues && peer != model.order[at]) {
        ++at;
    }
    return at;
}

/** Queues, list and table are as the model says. */
static void check(const epml_pending_queues_t *queues)
{
    const epml_pending_thing_t *head = queues->first, *before = NULL;

    TAP_EQ((uint32_t) model.queues, queues->count);
    for (int i = 0; i < model.queues && NULL != head; ++i) {
        const int peer = model.order[i];
        const epml_pending_thing_t *thing = head, *last = NULL;

        TAP_CHECK(&numbers[peer] == head->peer && before == head->prev_queue, "queue %d", i);
        TAP_EQ(model.since[peer], head->since);
        TAP_CHECK(head == epml_pending_find(queues, numbers[peer]), "queue %d is not found", i);
        for (int n = 0; n < model.length[peer]; ++n) {
            TAP_CHECK(NULL != thing && model.queue[peer][n] == ((const thing_t *) thing)->id,
                      "thing %d of queue %d", n, i);
            last = thing;
            thing = NULL == thing ? NULL : thing->next;
        }
        TAP_CHECK(NULL == thing && last == head->last, "the end of queue %d", i);
        before = head;
        head = head->next_queue;
    }
    TAP_CHECK(NULL == head && before == queues->last, "the end of the list");
    for (int peer = 0; peer < PEERS; ++peer) {
        TAP_CHECK((0 == model.length[peer]) == (NULL == epml_pending_find(queues, numbers[peer])),
                  "peer %d", peer);
    }
}

static void model_put(int peer, int at, int id)
{
    if (0 == model.length[peer]) {
        model.order[model.queues++] = peer;
        model.since[peer] = 0;
    }
    memmove(&model.queue[peer][at + 1], &model.queue[peer][at],
            (size_t) (model.length[peer] - at) * sizeof(model.queue[0][0]));
    model.queue[peer][at] = id;
    ++model.length[peer];
}

static void model_take(int peer, int at)
{
    --model.length[peer];
    memmove(&model.queue[peer][at], &model.queue[peer][at + 1],
            (size_t) (model.length[peer] - at) * sizeof(model.queue[0][0]));
    if (0 == model.length[peer]) {
        model_leave(model_place(peer));
    } else if (0 == at) {
        model.since[peer] = 0; /* what follows has waited for nothing yet */
    }
}

/** One random operation.  free_things: a stack of those in no queue. */
static void act(epml_pending_queues_t *queues, uint64_t *random, int *free_things, int *free_count)
{
    const int peer = (int) tap_below(random, PEERS);
    epml_pending_thing_t *first = epml_pending_find(queues, numbers[peer]);
    const uint64_t what = tap_below(random, 10);

    if (NULL != first && 0 == tap_below(random, 4)) {
        first->since = model.since[peer] = tap_below(random, 1000);
    }
    if (4 > what && 0 < *free_count) {
        thing_t *thing = &things[free_things[--*free_count]];
        const bool front = 3 == what;
        const bool is_new = front ? epml_pending_put_back(queues, &numbers[peer], numbers[peer],
                                                          &thing->thing)
                                  : epml_pending_append(queues, &numbers[peer], numbers[peer],
                                                        &thing->thing);

        TAP_EQ(NULL == first, is_new);
        model_put(peer, front ? 0 : model.length[peer], thing->id);
    } else if (7 > what && NULL != first) {
        TAP_EQ(1 == model.length[peer], epml_pending_take(queues, first));
        free_things[(*free_count)++] = ((thing_t *) first)->id;
        model_take(peer, 0);
    } else if (8 > what && NULL != first && NULL != first->next) {
        free_things[(*free_count)++] = ((thing_t *) first->next)->id;
        epml_pending_take_behind(first, first);
        model_take(peer, 1);
    } else if (NULL != first) {
        const int place = model_place(peer);

        epml_pending_rotate(queues, first);
        model_leave(place);
        model.order[model.queues++] = peer;
    }
}

static void case_random(const char *name, bool flaky)
{
    uint64_t random = tap_stream(flaky ? 2 : 1);
    epml_pending_queues_t queues = {0};
    int free_things[THINGS], free_count = 0;

    tap_case("%s", name);
    memset(&model, 0, sizeof(model));
    for (int i = 0; i < PEERS; ++i) {
        numbers[i] = (uint32_t) (i % 2 ? i : 64 * i); /* in a row, and every 64th */
    }
    for (int i = 0; i < THINGS; ++i) {
        things[i].id = i;
        free_things[free_count++] = i;
    }
    for (int i = 0; i < (TAP_SANITIZED ? 3000 : 20000) && !tap_case_failed(); ++i) {
        no_memory = flaky && 0 != tap_below(&random, 4);
        act(&queues, &random, free_things, &free_count);
        if (0 == i % 7) {
            check(&queues);
        }
    }
    while (NULL != queues.first) {
        (void) epml_pending_take(&queues, queues.first);
    }
    TAP_CHECK(NULL == queues.table && 0 == queues.count, "something is left");
    no_memory = false;
    tap_case_done();
}

/** Send to each of many slow peers, try a few of them at each turn, let all go: what is looked at
 * for each send, in thousandths. */
static uint64_t cost(uint32_t peers)
{
    enum { SENDS = 4, TRIES = 32 };
    thing_t *all = calloc((size_t) peers * SENDS, sizeof(*all));
    epml_pending_queues_t queues = {0};

    steps = 0;
    for (uint32_t i = 0; i < peers * SENDS; ++i) {
        (void) epml_pending_append(&queues, all, 1000 + i % peers, &all[i].thing);
        for (int n = 0; n < TRIES && 0 == i % TRIES; ++n) {
            epml_pending_thing_t *first = queues.first;

            epml_pending_rotate(&queues, first);
            (void) epml_pending_take(&queues, first);
            (void) epml_pending_put_back(&queues, all, first->number, first);
        }
    }
    TAP_EQ(peers, queues.count);
    for (uint32_t i = 0; i < peers * SENDS; ++i) {
        (void) epml_pending_take(&queues, epml_pending_find(&queues, 1000 + i % peers));
    }
    TAP_EQ(0u, queues.count);
    free(all);
    return steps * 1000 / (peers * SENDS);
}

static void case_cost(void)
{
    const uint64_t few = cost(100), many = cost(4000);

    tap_case("a send to one of 4000 slow peers looks at no more than to one of 100");
    TAP_CHECK(few <= 8000, "%llu thousandths of a step", (unsigned long long) few);
    TAP_CHECK(many <= few + few / 4 + 1000, "%llu thousandths of a step, and %llu with many",
              (unsigned long long) few, (unsigned long long) many);
    printf("# %llu thousandths of a step a send with 100 slow peers, %llu with 4000\n",
           (unsigned long long) few, (unsigned long long) many);
    tap_case_done();
}

/** Since when the first thing has waited for a way is no matter of the next one's. */
static void case_since(void)
{
    epml_pending_queues_t queues = {.first = NULL};
    epml_pending_thing_t *first = &things[0].thing, *second = &things[1].thing;

    tap_case("each first thing has a time of its own");
    (void) epml_pending_append(&queues, &numbers[0], 1, first);
    (void) epml_pending_append(&queues, &numbers[0], 1, second);
    TAP_EQ(0, first->since);
    first->since = 1000;
    TAP_CHECK(!epml_pending_take(&queues, first), "the queue is over");
    TAP_EQ(0, second->since);
    second->since = 2000;
    TAP_CHECK(!epml_pending_put_back(&queues, &numbers[0], 1, first), "a new queue");
    TAP_CHECK(first == epml_pending_find(&queues, 1), "the first one again");
    TAP_CHECK(!epml_pending_take(&queues, first), "the queue is over");
    TAP_EQ(0, second->since);
    TAP_CHECK(epml_pending_take(&queues, second), "the queue is not over");
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_pending_queue", 60);
    case_random("random programs", false);
    case_random("random programs, without memory for the table most of the time", true);
    case_cost();
    case_since();
    return tap_end();
}
