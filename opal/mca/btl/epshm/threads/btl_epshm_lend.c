/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Sending without copying: the message's bytes stay where they are until the receiver has them, or
 * for a moment, if it does not come (btl_epshm_loan.h).
 *
 * Whether it comes is learnt for each lane: after a loan that had to be taken back, some messages
 * are copied at once, then it is tried again; twice as many after each failure in a row or so.
 *
 * Tests: unit/test_epshm_lend, lend
 */

#include "opal_config.h"

#include "btl_epshm_types.h"

/** Turns without a loan coming back after which the sender wants its memory: some microseconds,
 * several times as long as a receiver that is there takes. */
#define EPSHM_LOAN_TURNS 64

/** A thread that only tests, and so progresses the endpoint rarely, does it after so many ticks of
 * the clock instead (4 us and more).  The clock is read at every fourth call. */
#define EPSHM_LOAN_TICKS 16384
#define EPSHM_LOAN_LOOK 4

/** Messages that are copied after a loan that was taken back: at first, and at most, as powers of
 * two.  A loan in vain costs some microseconds, as much as some copies. */
#define EPSHM_LOAN_SHY_FIRST 3
#define EPSHM_LOAN_SHY_MOST 10

/** A loan that is out. */
struct epshm_loan_t {
    uint64_t position; /**< of its cell in the lane */
    const void *data;
    size_t size;
    void *token; /**< the owner's name for it */
};

static inline struct epshm_loan_t *loan_at(const epshm_loans_t *loans, uint64_t number)
{
    return &loans->loan[number & (mca_btl_epshm_component.lane_cells - 1)];
}

static inline uint32_t bit_of(const mca_btl_epshm_module_t *module, const epshm_place_t *place)
{
    return UINT32_C(1) << (place - module->place);
}

_Static_assert(EPSHM_LANE_PLACES <= 32, "a bit for each place");

/** Places that have lent something; written under the owner's lock only. */
static inline void set_lending(mca_btl_epshm_module_t *module, uint32_t places)
{
    /* Relaxed: a hint to mca_btl_epshm_pending. */
    atomic_store_explicit(&module->lending, places, memory_order_relaxed);
}

static inline uint32_t lend_count(const mca_btl_epshm_module_t *module)
{
    return atomic_load_explicit(&module->lending, memory_order_relaxed);
}

/** The first loan has come back. */
static inline void come_back(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    epshm_loans_t *loans = &place->loans;
    const struct epshm_loan_t *loan = loan_at(loans, loans->first);
    void *token = loan->token;

    if (++loans->first == loans->last) {
        loans->recalling = false;
        set_lending(module, lend_count(module) & ~bit_of(module, place));
    }
    module->super.ep_returned(module->super.ep_context, token);
}

/** @return number of loans that the receiver is through with */
static int lend_collect(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    epshm_loans_t *loans = &place->loans;
    int count = 0;

    while (loans->first != loans->last
           && epshm_loan_is_over(place->writer.ring, loan_at(loans, loans->first)->position)) {
        come_back(module, place);
        ++count;
    }
    if (0 < count && 0 < loans->failures && !loans->recalling) {
        --loans->failures;
    }
    return count;
}

/** Copy the first loan into a buffer, for the receiver to find that instead.  Also where all the
 * buffers that there may be are out: they may be behind it in the lane, and would never come back.
 * @return false: no memory at present */
static bool lend_replace(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    const struct epshm_loan_t *loan = loan_at(&place->loans, place->loans.first);
    mca_btl_epshm_frag_t *frag = mca_btl_epshm_frag_get_more(module->pool, place->inbox,
                                                             loan->size);

    if (NULL == frag) {
        return false;
    }
    memcpy(frag->data, loan->data, loan->size);
    epshm_loan_replace(place->writer.ring, loan->position, frag);
    come_back(module, place);
    return true;
}

/** Take all loans of a place back, or go on with that.  @return number of loans that are back */
static int lend_recall(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    epshm_loans_t *loans = &place->loans;
    int count = 0;

    if (!loans->recalling) {
        loans->recalling = true;
        loans->shy = UINT32_C(1) << (EPSHM_LOAN_SHY_FIRST + loans->failures);
        if (EPSHM_LOAN_SHY_FIRST + loans->failures < EPSHM_LOAN_SHY_MOST) {
            ++loans->failures;
        }
        epshm_loan_recall(&place->writer);
    }
    if (!epshm_loan_is_settled(place->writer.ring)) {
        return 0; /* it has come after all, and is copying */
    }
    count = lend_collect(module, place);
    while (loans->first != loans->last && lend_replace(module, place)) {
        ++count;
    }
    return count;
}

/** One more call in which loans are out.  @return have they been out for too long? */
static bool is_impatient(mca_btl_epshm_module_t *module)
{
    ++module->loan_calls;
    if (1 == module->loan_calls) {
        module->loan_start = ep_pace_clock();
    }
    return EPSHM_LOAN_TURNS < module->loan_calls
           || (0 == module->loan_calls % EPSHM_LOAN_LOOK
               && EPSHM_LOAN_TICKS < ep_pace_clock() - module->loan_start);
}

int mca_btl_epshm_loans_progress(mca_btl_epshm_module_t *module)
{
    /* Late by some calls where several places take turns at coming back: no harm. */
    const bool impatient = is_impatient(module);
    int count = 0;

    for (uint32_t places = lend_count(module); 0 != places; places &= places - 1) {
        epshm_place_t *place = &module->place[__builtin_ctz(places)];

        /* Acquire pairs with the release in mca_btl_epshm_inbox_close: what the receiver has read
         * before what we write next. */
        if (OPAL_UNLIKELY(atomic_load_explicit(&place->inbox->closed, memory_order_acquire))) {
            count += mca_btl_epshm_loans_end(module, place);
        } else if (place->loans.recalling || impatient) {
            count += lend_recall(module, place);
        } else {
            count += lend_collect(module, place);
        }
    }
    if (0 < count) {
        module->loan_calls = 0;
    }
    return count;
}

int mca_btl_epshm_loans_end(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    epshm_loans_t *loans = &place->loans;
    int count = 0;

    while (loans->first != loans->last) {
        come_back(module, place);
        ++count;
    }
    return count;
}

void mca_btl_epshm_loans_free(epshm_place_t *place)
{
    free(place->loans.loan);
    place->loans.loan = NULL;
}

/** Is this the moment to lend?  Counts messages that are copied instead. */
static inline bool is_willing(epshm_loans_t *loans)
{
    if (OPAL_UNLIKELY(loans->recalling)) {
        return false;
    }
    if (OPAL_UNLIKELY(0 < loans->shy)) {
        --loans->shy;
        return false;
    }
    if (OPAL_UNLIKELY(NULL == loans->loan)) {
        loans->loan = malloc(mca_btl_epshm_component.lane_cells * sizeof(*loans->loan));
    }
    return NULL != loans->loan;
}

int mca_btl_epshm_ep_lend(mca_btl_ep_module_t *ep_module, struct mca_btl_base_endpoint_t *endpoint,
                          const void *header, size_t header_size, const void *payload,
                          size_t payload_size, void *token)
{
    mca_btl_epshm_module_t *module = (mca_btl_epshm_module_t *) ep_module;
    epshm_place_t *place = mca_btl_epshm_place(module, endpoint);
    epshm_loans_t *loans = &place->loans;
    epshm_loan_cell_t cell = {.address = (void *) payload};
    uint64_t first;

    memcpy(&first, header, sizeof(first));
    if (endpoint != place->inbox || sizeof(first) + sizeof(cell.header) != header_size
        || first != module->super.ep_prefix || UINT16_MAX < payload_size
        || mca_btl_epshm_component.eager_limit < payload_size || !is_willing(loans)) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    if (!epshm_lane_has_room(&place->writer, 1)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    /* There is room in the lane, so the receiver is through with the first at least. */
    if (OPAL_UNLIKELY(loans->last - loans->first == mca_btl_epshm_component.lane_cells)) {
        (void) lend_collect(module, place);
    }
    epshm_count_unusual(&module->unusual, 1, header_size + payload_size);
    memcpy(cell.header, (const unsigned char *) header + sizeof(first), sizeof(cell.header));
    memcpy(epshm_lane_cell(&place->writer, 0)->data, &cell, sizeof(cell));
    *loan_at(loans, loans->last) = (struct epshm_loan_t){
        .position = place->writer.tail, .data = payload, .size = payload_size, .token = token};
    ++loans->last;
    if (0 == (lend_count(module) & bit_of(module, place))) {
        set_lending(module, lend_count(module) | bit_of(module, place));
        module->loan_calls = 0;
    }
    epshm_lane_publish(&place->writer, 1,
                       (epshm_lane_mark_t){.kind = EPSHM_KIND_LOAN,
                                           .tag = MCA_BTL_EP_TAG,
                                           .size = (uint16_t) payload_size});
    return OPAL_SUCCESS;
}
