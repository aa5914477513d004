/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of ompi/mca/coll/epcoll/base/coll_epcoll_consensus.c: agreements of participants that die at
 * any moment, also in the middle of telling all, under random schedules.  What the dead have sent
 * may arrive or not; each death is reported to each of the living some time later.  A participant
 * that has ended its last agreement is gone: nothing reaches it.  Values are uniform, the dead's
 * last ones included, and all that live end.
 *
 *   --seed N   of the first schedule
 *
 * Guards: coll_epcoll_consensus.c
 */

#include "tap.h"

#include "ompi/mca/coll/epcoll/base/coll_epcoll_consensus.c"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 70, ROUNDS = 3 };

typedef struct sent_t {
    struct sent_t *next;
    epcoll_consensus_message_t message;
} sent_t;

typedef struct party_t {
    epcoll_consensus_t *consensus;
    bool dead, gone;
    uint32_t begun;         /**< rounds */
    uint32_t ended;         /**< likewise */
    uint64_t known[2];      /**< deaths that it knows of */
    uint32_t flag[ROUNDS];  /**< contributed */
    uint64_t id[ROUNDS];    /**< contributed: its own */
    uint32_t value[ROUNDS]; /**< decided */
    uint64_t ids[ROUNDS];   /**< likewise */
    uint64_t failed[ROUNDS][2], acked[ROUNDS][2];
    int dies_at; /**< the sends until it dies; -1: it does not while it sends */
} party_t;

static party_t participant[MOST];
static sent_t *first[MOST][MOST], *last[MOST][MOST];
static uint32_t participants;
static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t) (state >> 33) % below;
}

/** It dies; of what it has sent some arrives, up to a point. */
static void die(uint32_t number)
{
    participant[number].dead = true;
    for (uint32_t to = 0; to < participants; ++to) {
        sent_t **at = &first[number][to];

        while (NULL != *at && 0 != draw(3)) {
            at = &(*at)->next;
        }
        while (NULL != *at) {
            sent_t *lost = *at;

            *at = lost->next;
            free(lost);
        }
        last[number][to] = first[number][to];
        while (NULL != last[number][to] && NULL != last[number][to]->next) {
            last[number][to] = last[number][to]->next;
        }
    }
}

static void send_one(void *context, uint32_t to, const epcoll_consensus_message_t *message,
                     size_t bytes)
{
    const uint32_t number = (uint32_t) ((party_t *) context - participant);
    sent_t *sent;

    if (participant[number].dead) {
        return; /* it is still in the function in which it has died */
    }
    if (0 == participant[number].dies_at) {
        die(number);
        return;
    }
    participant[number].dies_at -= 0 < participant[number].dies_at;
    sent = malloc(sizeof(*sent) + bytes);
    sent->next = NULL;
    memcpy(&sent->message, message, bytes);
    if (NULL == first[number][to]) {
        first[number][to] = sent;
    } else {
        last[number][to]->next = sent;
    }
    last[number][to] = sent;
}

/** Note what has been decided, if it has not died in the function. */
static void see_end(uint32_t number)
{
    party_t *p = &participant[number];
    const epcoll_consensus_t *c = p->consensus;

    if (!p->dead && p->ended < p->begun && EPCOLL_CONSENSUS_ENDED == c->phase) {
        p->value[p->ended] = (uint32_t) c->value.flag;
        p->ids[p->ended] = c->value.id;
        memcpy(p->failed[p->ended], c->value.failed, c->words * sizeof(uint64_t));
        memcpy(p->acked[p->ended], c->value.acked, c->words * sizeof(uint64_t));
        p->gone = ROUNDS == ++p->ended;
    }
}

/** One thing happens at a participant that lives.  @return false: nothing could */
static bool happen(uint32_t number)
{
    party_t *p = &participant[number];
    const uint32_t other = draw(participants);

    if (p->dead || p->gone) {
        return false;
    }
    if (p->begun == p->ended && 0 == draw(4)) {
        p->flag[p->begun] = draw(UINT32_MAX);
        p->id[p->begun] = (uint64_t) draw(UINT32_MAX) * MOST + number;
        epcoll_consensus_begin(p->consensus, p->flag[p->begun], p->id[p->begun], p->known);
        ++p->begun;
        return true;
    }
    if (participant[other].dead && !epcoll_consensus_has(p->known, other) && 0 == draw(4)) {
        epcoll_consensus_add(p->known, other);
        epcoll_consensus_died(p->consensus, other);
        return true;
    }
    if (NULL != first[other][number]) {
        sent_t *sent = first[other][number];

        first[other][number] = sent->next;
        TAP_CHECK(epcoll_consensus_arrived(p->consensus, other, &sent->message,
                                           epcoll_consensus_bytes(participants)),
                  "a message makes no sense");
        free(sent);
        return true;
    }
    return false;
}

static void begin(void)
{
    memset(participant, 0, sizeof(participant));
    participants = 0 == draw(20) ? MOST : 1 + draw(6);
    for (uint32_t i = 0; i < participants; ++i) {
        participant[i].dies_at = 0 == draw(3) ? (int) draw(4 * participants) : -1;
        participant[i].consensus = epcoll_consensus_new(participants, i, send_one, &participant[i]);
    }
    participant[draw(participants)].dies_at = -1;
}

static void end(void)
{
    for (uint32_t i = 0; i < participants; ++i) {
        epcoll_consensus_free(participant[i].consensus);
        for (uint32_t j = 0; j < participants; ++j) {
            while (NULL != first[i][j]) {
                sent_t *sent = first[i][j];

                first[i][j] = sent->next;
                free(sent);
            }
        }
    }
}

/** Are all decisions of a round the same, and such as they may be? */
static void check_round(uint32_t round)
{
    uint32_t least = UINT32_MAX, most = UINT32_MAX;
    uint64_t highest = UINT64_MAX; /* that the id may be: the least of the living */
    const party_t *one = NULL;
    bool is_ones = false;

    for (uint32_t i = 0; i < participants; ++i) {
        const party_t *p = &participant[i];

        least &= round < p->begun ? p->flag[round] : UINT32_MAX;
        most &= !p->dead ? p->flag[round] : UINT32_MAX;
        highest = !p->dead && p->id[round] < highest ? p->id[round] : highest;
        if (round < p->ended) {
            one = NULL == one ? p : one;
            TAP_CHECK(one->value[round] == p->value[round] && one->ids[round] == p->ids[round]
                          && 0 == memcmp(one->failed[round], p->failed[round], 16)
                          && 0 == memcmp(one->acked[round], p->acked[round], 16),
                      "round %u: two values", round);
        } else {
            TAP_CHECK(p->dead, "round %u: %u does not end", round, i);
        }
    }
    if (NULL == one) {
        return;
    }
    TAP_CHECK(0 == (one->value[round] & ~most) && least == (one->value[round] & least),
              "round %u: a flag that is no AND of contributions", round);
    for (uint32_t i = 0; i < participants; ++i) {
        is_ones = is_ones
                  || (round < participant[i].begun && one->ids[round] == participant[i].id[round]);
    }
    TAP_CHECK(is_ones && one->ids[round] <= highest, "round %u: an id that is nobody's", round);
    for (uint32_t i = 0; i < participants; ++i) {
        TAP_CHECK(participant[i].dead || !epcoll_consensus_has(one->failed[round], i),
                  "round %u: %u is said to have failed", round, i);
    }
}

static void run(uint64_t seed)
{
    uint32_t idle = 0;

    state = seed;
    begin();
    while (idle < 4000 * participants) {
        const uint32_t number = draw(participants);

        idle = happen(number) ? 0 : idle + 1;
        see_end(number);
    }
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        check_round(round);
    }
    end();
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;

    for (int i = 1; i + 1 < argc; ++i) {
        if (0 == strcmp("--seed", argv[i])) {
            seed = strtoull(argv[i + 1], NULL, 0);
        }
    }
    tap_begin(argc, argv, "test_epcoll_consensus", 60);
    printf("# seeds from %llu on\n", (unsigned long long) seed);
    tap_case("random schedules and deaths: one value, and all that live end");
    for (uint64_t i = 0; i < 400; ++i) {
        run(seed + i);
    }
    tap_case_done();
    return tap_end();
}
