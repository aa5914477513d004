/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of what a context promises to the matching table, epml_match_promise in
 * ompi/mca/pml/epml/base/pml_epml_match.h: what is left out, and that a broken promise does no
 * harm. Random programs that promise and break promises: test_epml_match_random.c.
 *
 * Guards: pml_epml_match.h
 */

#include "test_epml_match.h"

#define NEVER_WILD \
    (1u << EPML_MATCH_ANY_TAG | 1u << EPML_MATCH_ANY_SOURCE | 1u << EPML_MATCH_ANY_BOTH)

/** Into how many queues a message has been entered. */
static int entered(const message_t *message)
{
    int count = 1; /* that of its exact key */

    for (int kind = EPML_MATCH_EXACT + 1; kind < EPML_MATCH_KINDS; ++kind) {
        count += epml_match_is_entered(&message->match, kind);
    }
    return count;
}

/** What a promise saves: queues of messages that wait, and look-ups of messages that come. */
static void case_promise(void)
{
    static const struct {
        unsigned int never;
        int queues;
    } table[] = {{0, 4},
                 {1u << EPML_MATCH_ANY_TAG | 1u << EPML_MATCH_ANY_BOTH, 2},
                 {1u << EPML_MATCH_ANY_SOURCE | 1u << EPML_MATCH_ANY_BOTH, 2},
                 {NEVER_WILD, 1}};

    tap_case("messages leave out the kinds that their context has promised");
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); ++i) {
        receive_t others[3], exact;
        epml_match_table_t match;
        message_t message, waiting;

        table_init(&match);
        TAP_EQ(0, epml_match_promise(&match, 1, table[i].never));
        TAP_EQ(table[i].never, epml_match_promised(&match, 1));
        TAP_EQ(0, epml_match_promised(&match, 2));
        /* Wildcards that meet a waiting message, if not theirs: from then on others are entered. */
        TAP_EQ(0, store(&match, &waiting, (match_key_t){3, 9, 9}));
        post(&match, &others[0], (match_key_t){2, ANY, 3});
        post(&match, &others[1], (match_key_t){2, 2, ANY});
        post(&match, &others[2], (match_key_t){2, ANY, ANY});
        /* Another communicator's wildcards do not make it wait in queues that nobody looks into. */
        TAP_EQ(0, store(&match, &message, (match_key_t){1, 2, 3}));
        TAP_EQ(table[i].queues, entered(&message));
        TAP_CHECK(&message == first(&match, (match_key_t){1, 2, 3}), "the message is found");
        epml_match_remove(&match, &message.match);
        epml_match_remove(&match, &waiting.match);

        post(&match, &exact, (match_key_t){1, 2, 3});
        TAP_CHECK(&exact == arrive(&match, (match_key_t){1, 2, 3}), "the receive is found");
        /* The other context's are served as ever. */
        for (int k = 0; k < 3; ++k) {
            TAP_CHECK(&others[k] == arrive(&match, (match_key_t){2, 2, 3}), "receive %d", k);
        }
        table_fini(&match);
    }
    tap_case_done();
}

/** Put a wildcard receive behind the table's back, to see which queues an arrival looks into. */
static void case_promise_looks(void)
{
    epml_match_table_t match;
    receive_t hidden, other, exact;

    tap_case("an arrival looks into no queue that its context has promised to leave empty");
    table_init(&match);
    post(&match, &exact, (match_key_t){1, 2, 3});
    post(&match, &other, (match_key_t){2, ANY, ANY});
    TAP_EQ(0, epml_match_promise(&match, 1, NEVER_WILD));
    epml_match_post(&match, epml_match_open(&match, 1, ANY, ANY), &hidden.posted);
    TAP_CHECK(&exact == arrive(&match, (match_key_t){1, 2, 3}), "the exact receive");
    TAP_CHECK(NULL == arrive(&match, (match_key_t){1, 2, 3}), "a queue was looked into");
    if (NULL != hidden.posted.queue) {
        epml_match_unpost(&match, &hidden.posted);
    }
    epml_match_unpost(&match, &other.posted);
    table_fini(&match);
    tap_case_done();
}

/** A promise that is broken is taken back, and nothing is lost or out of order. */
static void case_promise_broken(void)
{
    enum { MESSAGES = 100 };
    static message_t messages[MESSAGES];

    tap_case("a broken promise is taken back");
    for (int kind = EPML_MATCH_ANY_TAG; kind < EPML_MATCH_KINDS; ++kind) {
        const match_key_t wild = {1, 0 != (kind & EPML_MATCH_ANY_SOURCE) ? ANY : 2,
                                  0 != (kind & EPML_MATCH_ANY_TAG) ? ANY : 3};
        epml_match_table_t match;
        receive_t receive;

        table_init(&match);
        for (int i = 0; i < MESSAGES; ++i) {
            if (MESSAGES / 3 == i) {
                (void) epml_match_index_kind(&match, kind);
            }
            if (MESSAGES / 2 == i) {
                TAP_EQ(0, epml_match_promise(&match, 1, NEVER_WILD));
                TAP_EQ(1, match.promises);
            }
            TAP_EQ(0, store(&match, &messages[i], (match_key_t){1, 2, 3}));
            TAP_CHECK((MESSAGES / 3 <= i && MESSAGES / 2 > i ? 2 : 1) >= entered(&messages[i]),
                      "message %d", i);
        }
        for (int i = 0; i < MESSAGES; ++i) {
            TAP_CHECK(&messages[i] == first(&match, wild), "kind %d, message %d", kind, i);
            epml_match_remove(&match, &messages[i].match);
        }
        TAP_EQ(0, match.promises);
        post(&match, &receive, wild);
        TAP_EQ(0, epml_match_promise(&match, 1, NEVER_WILD)); /* not of what is posted */
        TAP_EQ(NEVER_WILD & ~(1u << kind), epml_match_promised(&match, 1));
        TAP_CHECK(&receive == arrive(&match, (match_key_t){1, 2, 3}), "the wildcard");
        TAP_EQ(0, epml_match_promise(&match, 1, 0));
        TAP_EQ(0, match.promises);
        table_fini(&match);
    }
    tap_case_done();
}

/** libmpi's collectives receive from any source with negative tags: no promise of the user's. */
static void case_promise_of_the_user(void)
{
    epml_match_table_t match;
    receive_t receive, other;
    message_t message;

    tap_case("negative tags are not promised");
    table_init(&match);
    TAP_EQ(0, epml_match_promise(&match, 1, NEVER_WILD));
    post(&match, &receive, (match_key_t){1, ANY, -16});
    TAP_EQ(NEVER_WILD, epml_match_promised(&match, 1));
    post(&match, &other, (match_key_t){1, 2, -16});
    TAP_CHECK(&receive == arrive(&match, (match_key_t){1, 2, -16}), "posted first");
    TAP_CHECK(&other == arrive(&match, (match_key_t){1, 2, -16}), "posted second");
    TAP_EQ(0, store(&match, &message, (match_key_t){1, 2, -16}));
    TAP_CHECK(&message == first(&match, (match_key_t){1, ANY, -16}), "the message");
    TAP_EQ(2, entered(&message));
    epml_match_remove(&match, &message.match);
    TAP_EQ(NEVER_WILD, epml_match_promised(&match, 1));

    /* Nor do such receives keep a promise from being taken. */
    TAP_EQ(0, epml_match_promise(&match, 1, 0));
    post(&match, &receive, (match_key_t){1, ANY, -16});
    TAP_EQ(0, epml_match_promise(&match, 1, NEVER_WILD));
    TAP_EQ(NEVER_WILD, epml_match_promised(&match, 1));
    TAP_CHECK(&receive == arrive(&match, (match_key_t){1, 5, -16}), "taken");
    table_fini(&match);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_promise", TAP_SANITIZED ? 120 : 60);
    case_promise();
    case_promise_looks();
    case_promise_broken();
    case_promise_of_the_user();
    return tap_end();
}
