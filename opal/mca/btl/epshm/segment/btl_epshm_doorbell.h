/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The doorbell of an endpoint, and packets: messages that need no memory of their pair.
 *
 * A doorbell is one word in the consumer's segment: the head of a list, linked through the segments of
 * all senders, newest first.  Producers push with a compare-and-swap, the consumer takes the whole
 * list with an exchange, so a producer that dies between two instructions delays no other process.
 * An element of the list is a pipe (btl_epshm_pipe.h) or a packet, one message with its header.
 * Both lie in their producer's segment and begin alike.  Messages of one producer are in the list
 * in the order in which they were pushed: a pipe's messages follow the packets that were pushed
 * before it.
 *
 * The consumer writes EPSHM_WORD_SEEN into the link of each element that it has found.  A list that
 * leads back into itself therefore ends.
 *
 * Standalone: C11 atomics, no Open MPI.
 *
 * Tests: unit/test_epshm_doorbell, unit/test_epshm_packets, model/pipe
 */

#ifndef BTL_EPSHM_DOORBELL_H
#define BTL_EPSHM_DOORBELL_H

#include "btl_epshm_pipe.h"

/** A word is the process (its number + 1) in the upper 24 bits and the element's offset in its
 * segment, in lines, below; 0 is none. */
#define EPSHM_DOORBELL_OFFSET_BITS 40

/** In a doorbell whose list has led nowhere: nothing that is or will be pushed is read. */
#define EPSHM_DOORBELL_BROKEN UINT64_MAX

/** In a doorbell that no endpoint has at present. */
#define EPSHM_DOORBELL_LEFT (UINT64_MAX - 1)

/** In the link of an element that the consumer has found. */
#define EPSHM_WORD_SEEN UINT64_MAX

/** Memory of a doorbell is never used for anything else, so a late producer damages nothing. */
typedef struct epshm_doorbell_t {
    alignas(EPSHM_PIPE_LINE) _Atomic uint64_t last; /**< the element that was pushed last */
    _Atomic uint64_t owner; /**< number of the endpoint that reads it; 0: none */
} epshm_doorbell_t;

_Static_assert(EPSHM_PIPE_LINE == sizeof(epshm_doorbell_t), "a doorbell is one cache line");

#define EPSHM_PACKET_MAGIC UINT64_C(0x657070636b742d31)

/** What a packet is for: epshm_pipe_envelope_t.kind. */
enum {
    EPSHM_PACKET_MESSAGE = 1, /**< size bytes follow */
    EPSHM_PACKET_GIVE_UP = 2, /**< the producer has given up the consumer */
    EPSHM_PACKET_ASK = 3      /**< nothing: does the consumer take it? */
};

/** The producer's, but for next and detached; the data follow it. */
typedef struct epshm_packet_t {
    alignas(EPSHM_PIPE_LINE) uint64_t magic;
    epshm_pipe_envelope_t envelope;
    uint64_t addressee, sender, doorbell; /**< as in epshm_pipe_t */
    _Atomic uint64_t next;                /**< likewise */
    _Atomic uint64_t detached; /**< EPSHM_PIPE_LEFT, EPSHM_PIPE_REFUSED; 0: not read yet */
} epshm_packet_t;

_Static_assert(EPSHM_PIPE_LINE == sizeof(epshm_packet_t), "data begin on a line");
_Static_assert(offsetof(epshm_packet_t, addressee) == offsetof(epshm_pipe_t, addressee)
                   && offsetof(epshm_packet_t, sender) == offsetof(epshm_pipe_t, sender)
                   && offsetof(epshm_packet_t, doorbell) == offsetof(epshm_pipe_t, doorbell)
                   && offsetof(epshm_packet_t, next) == offsetof(epshm_pipe_t, next),
               "elements of a doorbell's list begin alike");

static inline unsigned char *epshm_packet_data(epshm_packet_t *packet)
{
    return (unsigned char *) (packet + 1);
}

/* ---- the producers' side --------------------------------------------------------------------- */

/**
 * Push an element.
 *
 * @param[in] next  its link
 * @param[in] word  that leads to it
 * @return 0; EPSHM_DOORBELL_BROKEN or EPSHM_DOORBELL_LEFT: nothing has been pushed
 */
static inline uint64_t epshm_doorbell_push(epshm_doorbell_t *doorbell, _Atomic uint64_t *next,
                                           uint64_t word)
{
    uint64_t last = atomic_load_explicit(&doorbell->last, memory_order_relaxed);

    do {
        if (EPSHM_DOORBELL_LEFT <= last) {
            return last;
        }
        atomic_store_explicit(next, last, memory_order_relaxed);
        /* Release pairs with the acquire in epshm_doorbell_take: the element is complete before its
         * word.  Others' pushes in between keep that order: they are read-modify-writes. */
    } while (!atomic_compare_exchange_weak_explicit(&doorbell->last, &last, word,
                                                    memory_order_release, memory_order_relaxed));
    return 0;
}

/** A packet that its consumer does not know, or has left, gets a message of size bytes. */
static inline void epshm_packet_set(epshm_packet_t *packet, uint8_t kind, uint8_t tag, size_t size)
{
    const epshm_pipe_envelope_t envelope = {.kind = kind, .tag = tag, .size = (uint32_t) size};

    memcpy(&packet->envelope, &envelope, sizeof(envelope)); /* it is read at once */
    /* Relaxed: published by the push. */
    atomic_store_explicit(&packet->detached, 0, memory_order_relaxed);
}

/** Has the endpoint of a number left its doorbell? */
static inline bool epshm_doorbell_is_left(const epshm_doorbell_t *doorbell, uint64_t number)
{
    /* Acquire pairs with the release in epshm_doorbell_leave: all that the endpoint has done is
     * ordered before. */
    return number != atomic_load_explicit(&doorbell->owner, memory_order_acquire);
}

/* ---- the consumer's side --------------------------------------------------------------------- */

/** Take the whole list.
 *
 * @param[in] instead  what the doorbell holds then: 0, or EPSHM_DOORBELL_LEFT
 * @return the newest word */
static inline uint64_t epshm_doorbell_take(epshm_doorbell_t *doorbell, uint64_t instead)
{
    /* Acquire pairs with the release in epshm_doorbell_push: the elements are complete. */
    return atomic_exchange_explicit(&doorbell->last, instead, memory_order_acquire);
}

/** The endpoint ends: producers see it before they push. */
static inline void epshm_doorbell_leave(epshm_doorbell_t *doorbell)
{
    atomic_store_explicit(&doorbell->owner, 0, memory_order_release);
}

/** The word that an element leads to; the element counts as found from then on.
 * @return EPSHM_WORD_SEEN: it has been found before */
static inline uint64_t epshm_word_follow(_Atomic uint64_t *next)
{
    /* Relaxed: acquired with the word that led here; nothing else touches it until the consumer has
     * left the element. */
    const uint64_t word = atomic_load_explicit(next, memory_order_relaxed);

    atomic_store_explicit(next, EPSHM_WORD_SEEN, memory_order_relaxed);
    return word;
}

/**
 * Validate a packet that a producer says to be at offset of a segment; nothing is trusted.
 *
 * @param[in]  segment, size, used  as in epshm_pipe_open
 * @param[out] envelope             a copy: the producer may write to its own at any time
 * @return NULL: there is no packet
 */
static inline epshm_packet_t *epshm_packet_open(const unsigned char *segment, uint64_t size,
                                                const _Atomic uint64_t *used, uint64_t offset,
                                                epshm_pipe_envelope_t *envelope)
{
    /* Relaxed: as in epshm_pipe_open. */
    const uint64_t most = atomic_load_explicit(used, memory_order_relaxed);
    epshm_packet_t *packet = (epshm_packet_t *) (segment + offset);
    uint64_t bytes;

    if (most > size || 0 != offset % EPSHM_PIPE_LINE || offset > most
        || most - offset < sizeof(*packet) || EPSHM_PACKET_MAGIC != packet->magic) {
        return NULL;
    }
    memcpy(&bytes, &packet->envelope, sizeof(bytes));
    bytes = epshm_pipe_once(bytes);
    memcpy(envelope, &bytes, sizeof(*envelope));
    return most - offset - sizeof(*packet) < envelope->size ? NULL : packet;
}

/** The consumer has read a packet, or refuses its producer, and never touches it again.
 *
 * The release orders the reads before the producer's next writes; it pairs with the acquire in
 * epshm_packet_state. */
static inline void epshm_packet_detach(epshm_packet_t *packet, uint64_t how)
{
    atomic_store_explicit(&packet->detached, how, memory_order_release);
}

/** The producer's: 0 until the consumer has left a packet; then the memory may serve again. */
static inline uint64_t epshm_packet_state(const epshm_packet_t *packet)
{
    /* Acquire pairs with the release in epshm_packet_detach. */
    return atomic_load_explicit(&packet->detached, memory_order_acquire);
}

#endif /* BTL_EPSHM_DOORBELL_H */
