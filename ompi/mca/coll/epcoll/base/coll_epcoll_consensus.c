/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Uniform agreement: coll_epcoll_consensus.h.
 *
 * A participant pushes its state to its coordinator, and again to the next one when that has died.
 * The coordinator has all living participants accept one value, then has them note that all have
 * accepted it, then ends.  So a participant that ends leaves none behind that would need it: all
 * others have noted the value, or get it from the one that ends because its coordinator has died
 * (FINAL).
 *
 * Tests: unit/test_epcoll_consensus, ulfm_agree, ulfm_stress
 */

#include "coll_epcoll_consensus.h"

#include <stdlib.h>
#include <string.h>

static void consensus_collect(epcoll_consensus_t *c, uint32_t from,
                              const epcoll_consensus_message_t *message);
static void consensus_advance(epcoll_consensus_t *c);

epcoll_consensus_t *epcoll_consensus_new(uint32_t participants, uint32_t own,
                                         epcoll_consensus_send_t send, void *context)
{
    const uint32_t words = (participants + 63) / 64;
    epcoll_consensus_t *c = calloc(1, sizeof(*c));
    uint64_t *sets = calloc(7, words * sizeof(*sets)); /* one block: value, gathered, dead, ... */

    if (NULL != c) {
        c->kept = calloc(participants, sizeof(*c->kept));
        c->message = calloc(1, epcoll_consensus_bytes(participants));
    }
    if (NULL == c || NULL == sets || NULL == c->kept || NULL == c->message) {
        if (NULL != c) {
            free(c->kept);
            free(c->message);
        }
        free(c);
        free(sets);
        return NULL;
    }
    c->participants = participants;
    c->own = own;
    c->words = words;
    c->phase = EPCOLL_CONSENSUS_ENDED;
    c->value = (epcoll_consensus_value_t){.acked = sets, .failed = sets + words};
    c->gathered = (epcoll_consensus_value_t){.acked = sets + 2 * words, .failed = sets + 3 * words};
    c->dead = sets + 4 * words;
    c->replied = sets + 5 * words;
    c->early = sets + 6 * words;
    c->bytes = epcoll_consensus_bytes(participants);
    c->send = send;
    c->context = context;
    return c;
}

void epcoll_consensus_free(epcoll_consensus_t *c)
{
    if (NULL != c) {
        for (uint32_t i = 0; i < c->participants; ++i) {
            free(c->kept[i]);
        }
        free(c->kept);
        free(c->message);
        free(c->value.acked);
        free(c);
    }
}

static void copy_value(const epcoll_consensus_t *c, epcoll_consensus_value_t *to, uint64_t flag,
                       uint64_t id, const uint64_t *acked, const uint64_t *failed)
{
    to->flag = flag;
    to->id = id;
    memcpy(to->acked, acked, c->words * sizeof(*acked));
    memcpy(to->failed, failed, c->words * sizeof(*failed));
}

/** The lowest participant that lives, as far as is known here. */
static uint32_t consensus_coordinator(const epcoll_consensus_t *c)
{
    uint32_t participant = 0;

    while (participant < c->own && epcoll_consensus_has(c->dead, participant)) {
        ++participant;
    }
    return participant;
}

/* ---- messages that leave --------------------------------------------------------------------- */

static void consensus_send(epcoll_consensus_t *c, uint32_t to, epcoll_consensus_kind_t kind,
                           const epcoll_consensus_value_t *value)
{
    c->message->kind = kind;
    c->message->round = c->round;
    c->message->accepted = c->accepted;
    c->message->unused = 0;
    c->message->flag = value->flag;
    c->message->id = value->id;
    memcpy(c->message->sets, value->acked, c->words * sizeof(uint64_t));
    memcpy(c->message->sets + c->words, value->failed, c->words * sizeof(uint64_t));
    if (to == c->own) {
        consensus_collect(c, to, c->message); /* a state; all else a coordinator does for itself */
    } else {
        c->send(c->context, to, c->message, c->bytes);
    }
}

static void send_to_all(epcoll_consensus_t *c, epcoll_consensus_kind_t kind)
{
    for (uint32_t participant = 0; participant < c->participants; ++participant) {
        if (participant != c->own && !epcoll_consensus_has(c->dead, participant)) {
            consensus_send(c, participant, kind, &c->value);
        }
    }
}

/** The value is decided, and the coordinator that was to announce it has died: this participant
 * announces it. */
static void send_final(epcoll_consensus_t *c)
{
    c->phase = EPCOLL_CONSENSUS_ENDED;
    send_to_all(c, EPCOLL_CONSENSUS_FINAL);
}

/** To the coordinator, if it has not got it.  From then on lower ones are not listened to. */
static void send_state(epcoll_consensus_t *c)
{
    const uint32_t to = consensus_coordinator(c);

    if (EPCOLL_CONSENSUS_BEGUN == c->phase && to != c->promised) {
        c->promised = to;
        consensus_send(c, to, EPCOLL_CONSENSUS_STATE, &c->value);
    }
}

/* ---- the coordinator ------------------------------------------------------------------------- */

/** Take in a state; perhaps before this participant knows that it is the coordinator. */
static void consensus_collect(epcoll_consensus_t *c, uint32_t from,
                              const epcoll_consensus_message_t *message)
{
    const uint64_t *acked = message->sets, *failed = message->sets + c->words;

    epcoll_consensus_add(c->replied, from);
    if (EPCOLL_CONSENSUS_NONE != message->accepted) {
        if (EPCOLL_CONSENSUS_NONE == c->best || c->best < message->accepted) {
            c->best = message->accepted;
            copy_value(c, &c->gathered, message->flag, message->id, acked, failed);
        }
        return;
    }
    if (EPCOLL_CONSENSUS_NONE != c->best) {
        return;
    }
    for (uint32_t i = 0; i < c->words; ++i) {
        c->gathered.acked[i] &= acked[i];
        c->gathered.failed[i] |= failed[i];
    }
    c->gathered.flag &= message->flag;
    c->gathered.id = c->gathered.id < message->id ? c->gathered.id : message->id;
}

/** Nothing has been collected. */
static void collect_begin(epcoll_consensus_t *c)
{
    c->stage = EPCOLL_CONSENSUS_COLLECTS;
    c->best = EPCOLL_CONSENSUS_NONE;
    c->gathered.flag = c->gathered.id = UINT64_MAX;
    memset(c->gathered.acked, 0xff, c->words * sizeof(uint64_t));
    memset(c->gathered.failed, 0, c->words * sizeof(uint64_t));
    memset(c->replied, 0, c->words * sizeof(uint64_t));
}

static bool all_have_replied(const epcoll_consensus_t *c)
{
    for (uint32_t participant = 0; participant < c->participants; ++participant) {
        if (!epcoll_consensus_has(c->dead, participant)
            && !epcoll_consensus_has(c->replied, participant)) {
            return false;
        }
    }
    return true;
}

static void next_stage(epcoll_consensus_t *c, epcoll_consensus_stage_t stage,
                       epcoll_consensus_kind_t kind)
{
    c->stage = stage;
    memset(c->replied, 0, c->words * sizeof(uint64_t));
    epcoll_consensus_add(c->replied, c->own);
    send_to_all(c, kind);
}

/** All living participants have sent their state: which value is chosen? */
static void consensus_choose(epcoll_consensus_t *c)
{
    if (EPCOLL_CONSENSUS_NONE == c->best) { /* else one may have been decided */
        for (uint32_t i = 0; i < c->words; ++i) {
            c->gathered.failed[i] |= c->dead[i];
        }
    }
    copy_value(c, &c->value, c->gathered.flag, c->gathered.id, c->gathered.acked,
               c->gathered.failed);
    c->accepted = c->own;
    next_stage(c, EPCOLL_CONSENSUS_PREPARES, EPCOLL_CONSENSUS_PREPARE);
}

/** Go on as far as the living have replied. */
static void consensus_advance(epcoll_consensus_t *c)
{
    while (c->own == c->promised
           && (EPCOLL_CONSENSUS_BEGUN == c->phase || EPCOLL_CONSENSUS_NOTED == c->phase)
           && all_have_replied(c)) {
        switch (c->stage) {
        case EPCOLL_CONSENSUS_COLLECTS:
            consensus_choose(c);
            break;
        case EPCOLL_CONSENSUS_PREPARES:
            c->phase = EPCOLL_CONSENSUS_NOTED;
            next_stage(c, EPCOLL_CONSENSUS_COMMITS, EPCOLL_CONSENSUS_COMMIT);
            break;
        default:
            c->phase = EPCOLL_CONSENSUS_ENDED;
            send_to_all(c, EPCOLL_CONSENSUS_END);
        }
    }
}

/* ---- what happens ---------------------------------------------------------------------------- */

void epcoll_consensus_begin(epcoll_consensus_t *c, uint64_t flag, uint64_t id,
                            const uint64_t *acked)
{
    ++c->round;
    c->phase = EPCOLL_CONSENSUS_BEGUN;
    c->promised = EPCOLL_CONSENSUS_NONE;
    c->accepted = EPCOLL_CONSENSUS_NONE;
    copy_value(c, &c->value, flag, id, acked, c->dead);
    collect_begin(c);
    for (uint32_t participant = 0; participant < c->participants; ++participant) {
        if (epcoll_consensus_has(c->early, participant)) {
            consensus_collect(c, participant, c->kept[participant]);
        }
    }
    memset(c->early, 0, c->words * sizeof(uint64_t));
    send_state(c);
    consensus_advance(c);
}

void epcoll_consensus_died(epcoll_consensus_t *c, uint32_t participant)
{
    if (epcoll_consensus_has(c->dead, participant)) {
        return;
    }
    epcoll_consensus_add(c->dead, participant);
    if (EPCOLL_CONSENSUS_NOTED == c->phase && participant == c->promised) {
        send_final(c);
        return;
    }
    send_state(c);
    consensus_advance(c);
}

/** A state of the next round here.  @return false: no memory for it */
static bool consensus_retain(epcoll_consensus_t *c, uint32_t from,
                             const epcoll_consensus_message_t *message)
{
    if (NULL == c->kept[from]) {
        c->kept[from] = malloc(c->bytes);
    }
    if (NULL == c->kept[from]) {
        return false;
    }
    memcpy(c->kept[from], message, c->bytes);
    epcoll_consensus_add(c->early, from);
    return true;
}

static void consensus_accept(epcoll_consensus_t *c, uint32_t from,
                             const epcoll_consensus_message_t *message)
{
    copy_value(c, &c->value, message->flag, message->id, message->sets, message->sets + c->words);
    c->accepted = from;
}

/** From the coordinator that has this participant's state. */
static void consensus_follow(epcoll_consensus_t *c, uint32_t from,
                             const epcoll_consensus_message_t *message)
{
    switch (message->kind) {
    case EPCOLL_CONSENSUS_PREPARE:
        consensus_accept(c, from, message);
        consensus_send(c, from, EPCOLL_CONSENSUS_PREPARED, &c->value);
        break;
    case EPCOLL_CONSENSUS_COMMIT:
        c->phase = EPCOLL_CONSENSUS_NOTED;
        consensus_send(c, from, EPCOLL_CONSENSUS_COMMITTED, &c->value);
        break;
    default:
        c->phase = EPCOLL_CONSENSUS_ENDED;
    }
}

/** A reply that this participant, as coordinator, waits for in a stage. */
static void consensus_replied(epcoll_consensus_t *c, uint32_t from, epcoll_consensus_stage_t stage)
{
    if (stage == c->stage && c->own == c->promised) {
        epcoll_consensus_add(c->replied, from);
        consensus_advance(c);
    }
}

bool epcoll_consensus_arrived(epcoll_consensus_t *c, uint32_t from,
                              const epcoll_consensus_message_t *message, size_t bytes)
{
    const uint32_t ahead = bytes == c->bytes ? message->round - c->round : 2;

    if (1 < ahead || EPCOLL_CONSENSUS_KINDS <= message->kind || from >= c->participants) {
        /* A round that has ended here is not needed any more. */
        return bytes == c->bytes && UINT32_MAX / 2 < ahead
               && EPCOLL_CONSENSUS_KINDS > message->kind;
    }
    if (1 == ahead) {
        return EPCOLL_CONSENSUS_STATE == message->kind && consensus_retain(c, from, message);
    }
    if (EPCOLL_CONSENSUS_ENDED == c->phase) {
        return true;
    }
    switch (message->kind) {
    case EPCOLL_CONSENSUS_STATE:
        if (EPCOLL_CONSENSUS_COLLECTS == c->stage) {
            consensus_collect(c, from, message);
            consensus_advance(c);
        }
        break;
    case EPCOLL_CONSENSUS_PREPARED:
        consensus_replied(c, from, EPCOLL_CONSENSUS_PREPARES);
        break;
    case EPCOLL_CONSENSUS_COMMITTED:
        consensus_replied(c, from, EPCOLL_CONSENSUS_COMMITS);
        break;
    case EPCOLL_CONSENSUS_FINAL:
        consensus_accept(c, from, message);
        send_final(c);
        break;
    default:
        if (from == c->promised) {
            consensus_follow(c, from, message);
        }
    }
    return true;
}
