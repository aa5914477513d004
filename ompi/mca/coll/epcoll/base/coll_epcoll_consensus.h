/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Uniform agreement of processes that may die, as a state machine: messages and deaths are its
 * input, messages its output.  Independent of MPI. docs/nodes.md has the protocol and its proof.
 *
 * A process of the agreement is a *participant*; participants are numbered from 0 on.  The
 * *coordinator* of a participant is the lowest one that it does not know to be dead.  Messages
 * between two participants arrive in order.  Deaths may be reported late, but only real ones.
 *
 * Calls for one object do not overlap.
 */

#ifndef COLL_EPCOLL_CONSENSUS_H
#define COLL_EPCOLL_CONSENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Kinds of messages. */
typedef enum epcoll_consensus_kind_t {
    EPCOLL_CONSENSUS_STATE, /**< to the coordinator: what the sender has contributed or accepted */
    EPCOLL_CONSENSUS_PREPARE,   /**< from it: accept this value */
    EPCOLL_CONSENSUS_PREPARED,  /**< to it: accepted */
    EPCOLL_CONSENSUS_COMMIT,    /**< from it: all have accepted */
    EPCOLL_CONSENSUS_COMMITTED, /**< to it: noted */
    EPCOLL_CONSENSUS_END,       /**< from it: all have noted */
    EPCOLL_CONSENSUS_FINAL,     /**< to all, when the coordinator has died: this is the value */
    EPCOLL_CONSENSUS_KINDS
} epcoll_consensus_kind_t;

/** As a ballot: none. */
#define EPCOLL_CONSENSUS_NONE UINT32_MAX

/** A message; of the sets, words each: acked, then failed. */
typedef struct epcoll_consensus_message_t {
    uint32_t kind;
    uint32_t round;    /**< which agreement of this group it is */
    uint32_t accepted; /**< STATE: the ballot in which the value was accepted, or NONE */
    uint32_t unused;
    uint64_t flag;
    uint64_t id;
    uint64_t sets[];
} epcoll_consensus_message_t;

/** What is agreed on. */
typedef struct epcoll_consensus_value_t {
    uint64_t flag;    /**< the bitwise AND of what participants have contributed */
    uint64_t id;      /**< the least that a participant has contributed */
    uint64_t *acked;  /**< failures that all contributions had acknowledged */
    uint64_t *failed; /**< participants that have died */
} epcoll_consensus_value_t;

typedef enum epcoll_consensus_phase_t {
    EPCOLL_CONSENSUS_IDLE,  /**< not begun here */
    EPCOLL_CONSENSUS_BEGUN, /**< contributed, or accepted */
    EPCOLL_CONSENSUS_NOTED, /**< it knows that all have accepted */
    EPCOLL_CONSENSUS_ENDED  /**< decided; this participant is not needed for it any more */
} epcoll_consensus_phase_t;

/** What a coordinator waits for. */
typedef enum epcoll_consensus_stage_t {
    EPCOLL_CONSENSUS_COLLECTS,
    EPCOLL_CONSENSUS_PREPARES,
    EPCOLL_CONSENSUS_COMMITS
} epcoll_consensus_stage_t;

typedef struct epcoll_consensus_t epcoll_consensus_t;

/** Send a message to another participant.  It is the caller's again on return.
 * @param[in] bytes  of the message */
typedef void (*epcoll_consensus_send_t)(void *context, uint32_t to,
                                        const epcoll_consensus_message_t *message, size_t bytes);

struct epcoll_consensus_t {
    uint32_t participants, own, words;
    uint32_t round; /**< the active one, or the last one that has ended */
    epcoll_consensus_phase_t phase;
    uint32_t promised; /**< the coordinator that has this participant's state */
    uint32_t
        accepted; /**< the ballot of value, or NONE: value is this participant's contribution */
    epcoll_consensus_value_t value;
    uint64_t *dead;
    /* Of this participant as coordinator. */
    epcoll_consensus_stage_t stage;
    uint64_t *replied;                 /**< in this stage */
    uint32_t best;                     /**< highest ballot among the states, or NONE */
    epcoll_consensus_value_t gathered; /**< from the states */
    /* States that arrived before this participant had ended the round before. */
    uint64_t *early;                     /**< its sender */
    epcoll_consensus_message_t **kept;   /**< by participant */
    epcoll_consensus_message_t *message; /**< to write one in */
    size_t bytes;                        /**< of every message */
    epcoll_consensus_send_t send;
    void *context;
};

/** @return NULL: no memory */
epcoll_consensus_t *epcoll_consensus_new(uint32_t participants, uint32_t own,
                                         epcoll_consensus_send_t send, void *context);

void epcoll_consensus_free(epcoll_consensus_t *consensus);

/** Begin the next round; the last one has ended.
 * @param[in] acked  words; failures that this participant has acknowledged */
void epcoll_consensus_begin(epcoll_consensus_t *consensus, uint64_t flag, uint64_t id,
                            const uint64_t *acked);

/** A participant has died; it may have been known. */
void epcoll_consensus_died(epcoll_consensus_t *consensus, uint32_t participant);

/** A message has arrived.  @return false: no correct participant can have sent it */
bool epcoll_consensus_arrived(epcoll_consensus_t *consensus, uint32_t from,
                              const epcoll_consensus_message_t *message, size_t bytes);

static inline bool epcoll_consensus_has(const uint64_t *set, uint32_t participant)
{
    return 0 != (set[participant / 64] >> participant % 64 & 1);
}

static inline void epcoll_consensus_add(uint64_t *set, uint32_t participant)
{
    set[participant / 64] |= UINT64_C(1) << participant % 64;
}

/** Bytes of a message of so many participants. */
static inline size_t epcoll_consensus_bytes(uint32_t participants)
{
    return sizeof(epcoll_consensus_message_t) + 2 * sizeof(uint64_t) * ((participants + 63) / 64);
}

#endif /* COLL_EPCOLL_CONSENSUS_H */
