/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Sending without copying: the message's bytes stay where they are until the receiver has them, or
 * for a moment, if it does not come (btl_epshm_zcopy_cell.h).
 *
 * Whether it comes is learnt for each SPSC ring: after a zero-copy send that had to be taken back, some messages
 * are copied at once, then it is tried again; twice as many after each failure in a row or so.
 *
 * Tests: unit/test_epshm_zcopy, zcopy
 */

#include "opal_config.h"

#include "btl_epshm_types.h"

/** Turns without a zero-copy send coming back after which the sender wants its memory: some
 * microseconds, several times as long as a receiver that is there takes. */
#define EPSHM_ZCOPY_TURNS 64

/** A thread that only tests, and so progresses the endpoint rarely, does it after so many ticks of
 * the clock instead (4 us and more).  The clock is read at every fourth call. */
#define EPSHM_ZCOPY_TICKS 16384
#define EPSHM_ZCOPY_LOOK 4

/** Messages that are copied after a zero-copy send that was taken back: at first, and at most, as
 * powers of two.  A zero-copy send in vain costs some microseconds, as much as some copies. */
#define EPSHM_ZCOPY_SHY_FIRST 3
#define EPSHM_ZCOPY_SHY_MOST 10

/** A zero-copy send that is out. */
struct epshm_zcopy_t {
    uint64_t position; /**< of its cell in the SPSC ring */
    const void *data;
    size_t size;
    void *token; /**< the owner's name for it */
};

static inline struct epshm_zcopy_t *zcopy_at(const epshm_zcopy_sends_t *zcopy_sends,
                                             uint64_t number)
{
    return &zcopy_sends->zcopy[number & (mca_btl_epshm_component.spsc_cells - 1)];
}

static inline uint32_t bit_of(const mca_btl_epshm_module_t *module, const epshm_place_t *place)
{
    return UINT32_C(1) << (place - module->place);
}

_Static_assert(EPSHM_SPSC_PLACES <= 32, "a bit for each place");

/** Places that have zero-copy sends; written under the owner's lock only. */
static inline void set_zcopy(mca_btl_epshm_module_t *module, uint32_t places)
{
    /* Relaxed: a hint to mca_btl_epshm_pending. */
    atomic_store_explicit(&module->zcopy_on, places, memory_order_relaxed);
}

static inline uint32_t zcopy_count(const mca_btl_epshm_module_t *module)
{
    return atomic_load_explicit(&module->zcopy_on, memory_order_relaxed);
}

/** The first zero-copy send has come back. */
static inline void come_back(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    epshm_zcopy_sends_t *zcopy_sends = &place->zcopy_sends;
    const struct epshm_zcopy_t *zcopy = zcopy_at(zcopy_sends, zcopy_sends->first);
    void *token = zcopy->token;

    if (++zcopy_sends->first == zcopy_sends->last) {
        zcopy_sends->recalling = false;
        set_zcopy(module, zcopy_count(module) & ~bit_of(module, place));
    }
    module->super.ep_returned(module->super.ep_context, token);
}

/** @return number of zero-copy sends that the receiver is through with */
static int zcopy_collect(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    epshm_zcopy_sends_t *zcopy_sends = &place->zcopy_sends;
    int count = 0;

    while (zcopy_sends->first != zcopy_sends->last
           && epshm_zcopy_is_over(place->writer.ring,
                                  zcopy_at(zcopy_sends, zcopy_sends->first)->position)) {
        come_back(module, place);
        ++count;
    }
    if (0 < count && 0 < zcopy_sends->failures && !zcopy_sends->recalling) {
        --zcopy_sends->failures;
    }
    return count;
}

/** Copy the first zero-copy send into a buffer, for the receiver to find that instead.  Also where
 * all the buffers that there may be are out: they may be behind it in the SPSC ring, and would
 * never come back.
 * @return false: no memory at present */
static bool zcopy_replace(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    const struct epshm_zcopy_t *zcopy = zcopy_at(&place->zcopy_sends, place->zcopy_sends.first);
    mca_btl_epshm_frag_t *frag = mca_btl_epshm_frag_get_more(module->pool, place->recv_queue,
                                                             zcopy->size);

    if (NULL == frag) {
        return false;
    }
    memcpy(frag->data, zcopy->data, zcopy->size);
    epshm_zcopy_replace(place->writer.ring, zcopy->position, frag);
    come_back(module, place);
    return true;
}

/** Take all zero-copy sends of a place back, or go on with that.  @return number of zero-copy sends
 * that are back */
static int zcopy_recall(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    epshm_zcopy_sends_t *zcopy_sends = &place->zcopy_sends;
    int count = 0;

    if (!zcopy_sends->recalling) {
        zcopy_sends->recalling = true;
        zcopy_sends->shy = UINT32_C(1) << (EPSHM_ZCOPY_SHY_FIRST + zcopy_sends->failures);
        if (EPSHM_ZCOPY_SHY_FIRST + zcopy_sends->failures < EPSHM_ZCOPY_SHY_MOST) {
            ++zcopy_sends->failures;
        }
        epshm_zcopy_recall(&place->writer);
    }
    if (!epshm_zcopy_is_settled(place->writer.ring)) {
        return 0; /* it has come after all, and is copying */
    }
    count = zcopy_collect(module, place);
    while (zcopy_sends->first != zcopy_sends->last && zcopy_replace(module, place)) {
        ++count;
    }
    return count;
}

/** One more call in which zero-copy sends are out.  @return have they been out for too long? */
static bool is_impatient(mca_btl_epshm_module_t *module)
{
    ++module->zcopy_calls;
    if (1 == module->zcopy_calls) {
        module->zcopy_start = ep_pace_clock();
    }
    return EPSHM_ZCOPY_TURNS < module->zcopy_calls
           || (0 == module->zcopy_calls % EPSHM_ZCOPY_LOOK
               && EPSHM_ZCOPY_TICKS < ep_pace_clock() - module->zcopy_start);
}

int mca_btl_epshm_zcopy_progress(mca_btl_epshm_module_t *module)
{
    /* Late by some calls where several places take turns at coming back: no harm. */
    const bool impatient = is_impatient(module);
    int count = 0;

    for (uint32_t places = zcopy_count(module); 0 != places; places &= places - 1) {
        epshm_place_t *place = &module->place[__builtin_ctz(places)];

        /* Acquire pairs with the release in mca_btl_epshm_recv_queue_close: what the receiver has
         * read before what we write next. */
        if (OPAL_UNLIKELY(atomic_load_explicit(&place->recv_queue->closed, memory_order_acquire))) {
            count += mca_btl_epshm_zcopy_end(module, place);
        } else if (place->zcopy_sends.recalling || impatient) {
            count += zcopy_recall(module, place);
        } else {
            count += zcopy_collect(module, place);
        }
    }
    if (0 < count) {
        module->zcopy_calls = 0;
    }
    return count;
}

int mca_btl_epshm_zcopy_end(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    epshm_zcopy_sends_t *zcopy_sends = &place->zcopy_sends;
    int count = 0;

    while (zcopy_sends->first != zcopy_sends->last) {
        come_back(module, place);
        ++count;
    }
    return count;
}

void mca_btl_epshm_zcopy_free(epshm_place_t *place)
{
    free(place->zcopy_sends.zcopy);
    place->zcopy_sends.zcopy = NULL;
}

/** Is this the moment for zero copy?  Counts messages that are copied instead. */
static inline bool is_willing(epshm_zcopy_sends_t *zcopy_sends)
{
    if (OPAL_UNLIKELY(zcopy_sends->recalling)) {
        return false;
    }
    if (OPAL_UNLIKELY(0 < zcopy_sends->shy)) {
        --zcopy_sends->shy;
        return false;
    }
    if (OPAL_UNLIKELY(NULL == zcopy_sends->zcopy)) {
        zcopy_sends->zcopy = malloc(mca_btl_epshm_component.spsc_cells
                                    * sizeof(*zcopy_sends->zcopy));
    }
    return NULL != zcopy_sends->zcopy;
}

int mca_btl_epshm_ep_send_zcopy(mca_btl_ep_module_t *ep_module,
                                struct mca_btl_base_endpoint_t *endpoint, const void *header,
                                size_t header_size, const void *payload, size_t payload_size,
                                void *token)
{
    mca_btl_epshm_module_t *module = (mca_btl_epshm_module_t *) ep_module;
    epshm_place_t *place = mca_btl_epshm_place(module, endpoint);
    epshm_zcopy_sends_t *zcopy_sends = &place->zcopy_sends;
    epshm_zcopy_cell_t cell = {.address = (void *) payload};
    uint64_t first;

    memcpy(&first, header, sizeof(first));
    if (endpoint != place->recv_queue || sizeof(first) + sizeof(cell.header) != header_size
        || first != module->super.ep_prefix || module->super.ep_zcopy_max < payload_size
        || !is_willing(zcopy_sends)) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    if (!epshm_spsc_has_room(&place->writer, 1)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    /* There is room in the SPSC ring, so the receiver is through with the first at least. */
    if (OPAL_UNLIKELY(zcopy_sends->last - zcopy_sends->first
                      == mca_btl_epshm_component.spsc_cells)) {
        (void) zcopy_collect(module, place);
    }
    epshm_count_other(&module->other, 1, header_size + payload_size);
    memcpy(cell.header, (const unsigned char *) header + sizeof(first), sizeof(cell.header));
    memcpy(epshm_spsc_cell(&place->writer, 0)->data, &cell, sizeof(cell));
    *zcopy_at(zcopy_sends, zcopy_sends->last) = (struct epshm_zcopy_t){
        .position = place->writer.tail, .data = payload, .size = payload_size, .token = token};
    ++zcopy_sends->last;
    if (0 == (zcopy_count(module) & bit_of(module, place))) {
        set_zcopy(module, zcopy_count(module) | bit_of(module, place));
        module->zcopy_calls = 0;
    }
    epshm_spsc_publish(&place->writer, 1,
                       (epshm_spsc_mark_t){.kind = EPSHM_KIND_ZCOPY,
                                           .tag = MCA_BTL_EP_TAG,
                                           .size = (uint16_t) payload_size});
    return OPAL_SUCCESS;
}
