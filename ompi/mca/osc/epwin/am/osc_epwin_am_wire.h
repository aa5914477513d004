/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layout of messages.  A message is a list of records, all for the target or all for the origin.
 * Each begins at a multiple of 8 bytes and has a head, runs, and packed data:
 *
 *     | head, 16 | runs, 24 each | data, padded to 8 |
 *
 * An access to one block has it in its head, and the wish for an answer is a flag of the last record:
 * so 8 bytes and a flush are 24, which a cell of shared memory holds with the engine's header.
 *
 * Numbers are in the byte order of the node: Open MPI's endpoints need the same one everywhere.
 *
 * Layer am only.
 *
 * Tests: unit/test_epwin_am
 */

#ifndef MCA_OSC_EPWIN_AM_WIRE_H
#define MCA_OSC_EPWIN_AM_WIRE_H

#include "ompi_config.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Kinds of records. */
typedef enum epwin_am_kind_t {
    /* to the target; with runs */
    EPWIN_AM_PUT = 1,    /**< runs, data */
    EPWIN_AM_GET,        /**< runs; answer DATA */
    EPWIN_AM_ACCUMULATE, /**< runs, data (none for MPI_NO_OP) */
    EPWIN_AM_FETCH,      /**< the same, answer DATA: the elements before */
    EPWIN_AM_SWAP,       /**< one run of an element, data: compare, origin; answer DATA */
    /* to the target; heads only */
    EPWIN_AM_FLUSH,       /**< nothing: for its flag */
    EPWIN_AM_LOCK,        /**< hold, with_domain */
    EPWIN_AM_UNLOCK,      /**< hold, with_domain */
    EPWIN_AM_DOMAIN_LOCK, /**< the domain's, of MPI_Win_lock_all; with_domain: another member has been
                           * asked for it */
    EPWIN_AM_DOMAIN_UNLOCK,
    EPWIN_AM_POST,
    EPWIN_AM_COMPLETE,
    /* to the target; heads with at, and an epwin_am_long_t: data by a message of the engine */
    EPWIN_AM_LONG_PUT, /**< from the origin */
    EPWIN_AM_LONG_GET, /**< to the origin */
    /* to the origin; DATA are the bytes of results in the order of the records that ask for them */
    EPWIN_AM_DATA = 64, /**< data */
    EPWIN_AM_NO_DATA,   /**< error; bytes: of the result that is not sent */
    EPWIN_AM_ACK,       /**< nothing: for its flag */
    EPWIN_AM_BROKEN     /**< error: the target executes no records any more */
} epwin_am_kind_t;

/** Flags of records. */
enum {
    /** To the target: it answers when this record and all before it are executed.  To the origin:
     * that answer, with error; answers come in the order in which they are asked for. */
    EPWIN_AM_FLAG_ACK = 1,
    EPWIN_AM_FLAG_BLOCK = 2 /**< in place of runs: one block, which is in the head */
};

/** The head of a record. */
typedef struct epwin_am_record_t {
    uint8_t kind;
    uint8_t flags;
    union {
        uint8_t op;    /**< Fortran's number of a predefined one; else 0 */
        uint8_t hold;  /**< LOCK, UNLOCK: mca_osc_epwin_hold_t */
        uint8_t error; /**< answers: an error class, or MPI_SUCCESS */
    };
    union {
        uint8_t type;        /**< likewise */
        uint8_t with_domain; /**< LOCK, UNLOCK, DOMAIN_LOCK: 0 or 1 */
    };
    uint16_t eights; /**< size of the record, in 8 bytes */
    uint16_t block;  /**< _BLOCK: bytes of it; else 0 */
    union {
        int64_t at; /**< _BLOCK, LONG_...: as in mca_osc_epwin_run_t */
        struct {
            uint32_t bytes; /**< that the runs address, or of data */
            uint16_t runs;
            uint16_t unused; /**< 0 */
        } access;
    };
} epwin_am_record_t;

/** Blocks of a target, at a constant distance. */
typedef struct epwin_am_run_t {
    int64_t at;     /**< of the first, as in mca_osc_epwin_run_t */
    int64_t stride; /**< from one to the next; count 1: 0 */
    uint32_t size;  /**< bytes of a block, not 0 */
    uint32_t count; /**< not 0 */
} epwin_am_run_t;

/** Behind the head of LONG_PUT and LONG_GET. */
typedef struct epwin_am_long_t {
    uint64_t bytes;
    uint32_t tag; /**< of a put's message, without EPWIN_AM_TAG_RESULT; of a get's one, with it */
    uint32_t unused; /**< 0 */
} epwin_am_long_t;

/** In tags of messages from targets: each member is origin and target of each other. */
#define EPWIN_AM_TAG_RESULT 0x800000U

static_assert(16 == sizeof(epwin_am_long_t), "");
static_assert(16 == sizeof(epwin_am_record_t) && 8 == offsetof(epwin_am_record_t, at), "");
static_assert(24 == sizeof(epwin_am_run_t), "");

/** Bytes of results of one record, at most: bounds the state that a step leaves. */
#define EPWIN_AM_RESULT_MAX 65536

/** Bytes of a record. */
static inline uint32_t epwin_am_size(uint32_t runs, uint32_t data)
{
    return (uint32_t) (sizeof(epwin_am_record_t) + runs * sizeof(epwin_am_run_t)
                       + ((data + 7) & ~7U));
}

static inline uint32_t epwin_am_length(const epwin_am_record_t *record)
{
    return 8 * (uint32_t) record->eights;
}

static inline bool epwin_am_is_block(const epwin_am_record_t *record)
{
    return 0 != (record->flags & EPWIN_AM_FLAG_BLOCK);
}

/** Bytes that a record addresses. */
static inline uint32_t epwin_am_bytes(const epwin_am_record_t *record)
{
    return epwin_am_is_block(record) ? record->block : record->access.bytes;
}

/** Number of runs in a record. */
static inline uint32_t epwin_am_run_count(const epwin_am_record_t *record)
{
    return epwin_am_is_block(record) ? 0 : record->access.runs;
}

/** The runs of a record, if it has no block. */
static inline const epwin_am_run_t *epwin_am_runs(const epwin_am_record_t *record)
{
    return (const epwin_am_run_t *) (record + 1);
}

/** Data of a record that has some. */
static inline const char *epwin_am_data(const epwin_am_record_t *record)
{
    return (const char *) (epwin_am_runs(record) + epwin_am_run_count(record));
}

/** Does a record address memory of the target? */
static inline bool epwin_am_has_runs(const epwin_am_record_t *record)
{
    return EPWIN_AM_SWAP >= record->kind;
}

/** Does the target answer it with DATA? */
static inline bool epwin_am_has_result(const epwin_am_record_t *record)
{
    return EPWIN_AM_GET == record->kind || EPWIN_AM_FETCH == record->kind
           || EPWIN_AM_SWAP == record->kind;
}

#endif /* MCA_OSC_EPWIN_AM_WIRE_H */
