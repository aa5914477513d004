/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Headers: the table of their kinds, and messages made from it.  A field gets a value that makes
 * sense most of the time, so that what is behind the first checks is reached; or any other.
 *
 * A new kind of header is one entry in kinds[]; a new sort of field, one function beside a_context.
 * An answer also says when it fits the request that it names.
 */

#include "fuzz.h"

#define PAYLOAD_MAX 1500

/** The context of a communicator, the freed one's too, or anything. */
static uint64_t a_context(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);
    uint64_t context;

    if (FUZZ_COMMS > choice % 8) {
        return fuzz_comms[choice % 8].context;
    }
    if (0 != (choice & 8)) {
        return fuzz_comms[FUZZ_COMM_MAIN].context;
    }
    fuzz_bytes(input, &context, sizeof(context));
    return context;
}

static uint64_t a_source(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);
    uint32_t source;

    /* In most communicators; in the reversed one FUZZ_RANKS - 1 - FUZZ_REMOTE. */
    switch (choice % 16) {
    case 0:
        fuzz_bytes(input, &source, sizeof(source));
        return source;
    case 1:
        return FUZZ_RANKS;
    case 2:
        return (uint32_t) -1;
    case 3:
        return 1;
    case 4:
    case 5:
    case 6:
        return 0;
    default:
        return FUZZ_REMOTE;
    }
}

static uint64_t a_tag(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);
    uint32_t tag;

    if (16 > choice) {
        fuzz_bytes(input, &tag, sizeof(tag));
        return tag;
    }
    return 20 > choice ? (uint32_t) (16 - choice) : choice % 12u;
}

/** The request that waits under exactly this number, or NULL. */
static const mca_pml_epml_request_t *request_of(uint32_t number)
{
    for (uint32_t i = 0; i < fuzz_ep->numbers.count; ++i) {
        const mca_pml_epml_request_t *request
            = epml_request_ids_slot(&fuzz_ep->numbers, i)->request;

        if (NULL != request && number == request->number) {
            return request;
        }
    }
    return NULL;
}

/** The partitioned request that a message is about, for the fields behind its number. */
static const mca_pml_epml_part_t *addressee;

/** A number that was sent, one that is in use, one next to it, or anything. */
static uint32_t some_number(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);
    uint32_t number;

    if (0 == (choice & 7) || 0 == fuzz_net.learned_count) {
        fuzz_bytes(input, &number, sizeof(number));
        return number;
    }
    number = fuzz_net.learned[(choice >> 3) % fuzz_net.learned_count];
    if (1 == (choice & 7)) {
        number += fuzz_byte(input);
    } else if (2 == (choice & 7)) {
        number ^= (uint32_t) fuzz_byte(input) << EPML_NUMBER_INDEX_BITS;
    }
    return number;
}

static uint64_t a_number(fuzz_input_t *input)
{
    const uint32_t number = some_number(input);
    const mca_pml_epml_request_t *request = request_of(number);

    addressee = NULL != request && fuzz_is_part(request) ? (const mca_pml_epml_part_t *) request
                                                         : NULL;
    return number;
}

/** The number that a rendezvous which waits unmatched has at its sender, or any. */
static uint64_t a_kept_number(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);
    uint32_t left = choice % 8, number = fuzz_byte(input);

    for (const epml_match_unexpected_t *message = fuzz_ep->match.arrival_first;
         NULL != message && 224 > choice; message = message->newer) {
        const mca_pml_epml_unexpected_t *kept = (const mca_pml_epml_unexpected_t *) message;

        if (EPML_HDR_RNDV == kept->common.kind) {
            number = kept->common.request;
            if (0 == left--) {
                break;
            }
        }
    }
    return number;
}

/** Lengths and offsets: round a border of ours, or anything. */
static uint64_t a_length(fuzz_input_t *input)
{
    static const uint64_t borders[] = {0,         8,    100,  FUZZ_EAGER_LIMIT, FUZZ_FRAG_LIMIT,
                                       1000,      1024, 3000, UINT32_MAX,       INT64_MAX,
                                       UINT64_MAX};
    const size_t count = sizeof(borders) / sizeof(borders[0]);
    const uint8_t choice = fuzz_byte(input);
    uint64_t length;

    if (count > choice / 16) {
        return borders[choice / 16] + (choice % 16 < 8 ? 0 : (uint64_t) (choice % 16) - 12);
    }
    length = fuzz_byte(input);
    if (0 != (choice & 1)) {
        length |= (uint64_t) fuzz_byte(input) << 8;
    } else if (0 == (choice & 6)) {
        fuzz_bytes(input, &length, sizeof(length));
    }
    return length;
}

/** What the receive of the number that was sent last has got already. */
static uint64_t an_offset(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);
    mca_pml_epml_request_t *request = NULL;

    for (uint32_t i = 0; i < fuzz_ep->numbers.count && 0 != (choice & 3); ++i) {
        request = epml_request_ids_slot(&fuzz_ep->numbers, i)->request;
        if (NULL != request && fuzz_is(request, "receive")) {
            return request->received;
        }
    }
    return a_length(input);
}

static uint64_t anything(fuzz_input_t *input)
{
    uint64_t value;

    fuzz_bytes(input, &value, sizeof(value));
    return value;
}

/** A number of a partitioned request that is there, or any. */
static uint64_t a_part_number(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);
    uint32_t left = choice % 16;

    addressee = NULL;
    for (uint32_t i = 0; i < fuzz_ep->numbers.count && 224 > choice; ++i) {
        mca_pml_epml_request_t *request = epml_request_ids_slot(&fuzz_ep->numbers, i)->request;

        if (NULL != request && fuzz_is_part(request)) {
            addressee = (mca_pml_epml_part_t *) request;
            if (0 == left--) {
                break;
            }
        }
    }
    return NULL != addressee ? addressee->super.number : a_number(input);
}

/** The round that the send waits for, or any. */
static uint64_t a_round(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);
    const uint32_t next = NULL != addressee ? addressee->granted + 1 : 1;

    return 192 > choice ? next : next + choice - 224;
}

/** Now and then; takes nothing of the input, so that what the corpus says stays the same. */
static bool seldom(const fuzz_input_t *input)
{
    return 7 == input->size % 16;
}

/** The round that the request is in, or another one. */
static uint64_t this_round(fuzz_input_t *input)
{
    return NULL == addressee ? 0 : addressee->round + (seldom(input) ? 1 : 0);
}

/** The flags of a piece. */
static uint64_t piece_flags(fuzz_input_t *input)
{
    return fuzz_can_get() ^ (seldom(input) ? EPML_HDR_FLAG_NODE : 0);
}

/** Where a piece may be, by eighths of what is wanted, or any. */
static uint64_t a_part_offset(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);

    return NULL != addressee && 192 > choice ? addressee->super.wanted * (choice % 9) / 8
                                             : a_length(input);
}

/** What is missing, or wanted, or a part of it, or any. */
static uint64_t a_part_length(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);

    if (NULL == addressee || 192 <= choice) {
        return a_length(input);
    }
    return 64 > choice    ? addressee->missing
           : 128 > choice ? addressee->super.wanted / (1 + choice % 8)
                          : addressee->super.size / (1 + choice % 4);
}

/** The number that the peer of a partitioned request is known by, or any. */
static uint64_t a_sender(fuzz_input_t *input)
{
    return NULL != addressee && 0 != fuzz_byte(input) % 8 ? addressee->super.sender_request
                                                          : some_number(input);
}

/** An endpoint: the remote one, one of this process, or none. */
static uint64_t a_uid(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);

    switch (choice % 8) {
    case 0:
        return fuzz_ep->life.uid;
    case 1:
        return fuzz_local_uid;
    case 2:
        return anything(input);
    default:
        return fuzz_remote->uid;
    }
}

static uint64_t flags(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);
    const uint8_t sound = choice & (EPML_HDR_FLAG_SYNC | EPML_HDR_FLAG_GET | EPML_HDR_FLAG_DEVICE);

    if (128 <= choice) {
        return fuzz_byte(input);
    }
    return EPML_TRANSPORT_NODE == fuzz_net.transport && 0 != (sound & EPML_HDR_FLAG_GET)
               ? sound | EPML_HDR_FLAG_NODE
               : sound;
}

static uint64_t a_handle_size(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);
    uint16_t size;

    if (200 > choice) {
        return 0 != choice % 4 ? FUZZ_HANDLE_SIZE : 0;
    }
    fuzz_bytes(input, &size, sizeof(size));
    return 230 > choice ? size % (2 * MCA_BTL_EP_ADDRESS_MAX) : size;
}

static uint64_t a_status(fuzz_input_t *input)
{
    int32_t status = 0;

    if (0 != fuzz_byte(input) % 4) {
        fuzz_bytes(input, &status, sizeof(status));
    }
    return (uint32_t) status;
}

/* ---- a client of the engine, for messages of its kind --------------------------------------- */

static uint64_t client_sum;
static int client_number;

static int client_make(struct ompi_communicator_t *comm, void **object_p)
{
    (void) comm;
    *object_p = &client_sum;
    return MPI_SUCCESS;
}

/** Reads all that there is said to be. */
static bool client_arrived(void *object, int rank, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    FUZZ_CHECK(&client_sum == object && 0 <= rank && FUZZ_RANKS > rank
                   && MPIX_ENDPOINTS_AM_LIMIT >= size && 0 == (uintptr_t) data % 8,
               "%zu bytes of rank %d", size, rank);
    for (size_t i = 0; i < size; ++i) {
        client_sum += bytes[i];
    }
    return 0 != size;
}

void fuzz_header_client(void)
{
    static const mpix_endpoints_client_t client = {.name = "fuzz",
                                                   .make = client_make,
                                                   .am_handler = client_arrived};
    const mpix_endpoints_engine_t *engine = mpix_endpoints_engine(MPIX_ENDPOINTS_ENGINE_ABI);

    FUZZ_CHECK(NULL != engine && MPI_SUCCESS == engine->client_register(&client, &client_number),
               "no engine");
}

/** Of a piece, one in four; takes nothing of the input, as seldom. */
static uint64_t am_flags(fuzz_input_t *input)
{
    return 0 == input->size % 4 ? EPML_HDR_FLAG_MORE : 0;
}

static uint64_t a_client(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);

    return 0 == choice % 8 ? choice : (uint32_t) client_number;
}

typedef uint64_t (*field_fn_t)(fuzz_input_t *input);

typedef struct field_t {
    size_t offset, size;
    field_fn_t value;
} field_t;

/* ---- answers: may this one be followed by the request that it names? ------------------------- */

static bool is_send(const mca_pml_epml_request_t *request, mca_pml_epml_send_state_t state)
{
    return NULL != request && fuzz_is(request, "send") && state == request->state;
}

static bool fits_cts(const void *message, const mca_pml_epml_request_t *request)
{
    return (is_send(request, EPML_SEND_RNDV) || is_send(request, EPML_SEND_CANCELLED))
           && ((const mca_pml_epml_hdr_cts_t *) message)->length <= request->size;
}

static bool fits_frag(const void *message, const mca_pml_epml_request_t *request)
{
    return NULL != request && fuzz_is(request, "receive")
           && ((const mca_pml_epml_hdr_frag_t *) message)->offset == request->received;
}

static bool fits_fin(const void *message, const mca_pml_epml_request_t *request)
{
    if (NULL != request && fuzz_is(request, "partitioned send")) {
        const mca_pml_epml_part_t *part = (const mca_pml_epml_part_t *) request;

        const mca_pml_epml_hdr_done_t *hdr = message;

        return (0 < part->open && part->round == hdr->round)
               || (OMPI_SUCCESS != hdr->status && 0 == hdr->round && 0 == part->granted
                   && !part->refused);
    }
    return (is_send(request, EPML_SEND_RNDV) || is_send(request, EPML_SEND_CANCELLED));
}

static bool fits_part_start(const void *message, const mca_pml_epml_request_t *request)
{
    const mca_pml_epml_hdr_part_start_t *hdr = message;

    return NULL != request && fuzz_is(request, "partitioned send")
           && !((const mca_pml_epml_part_t *) request)->refused
           && ((const mca_pml_epml_part_t *) request)->granted + 1 == hdr->round
           && hdr->length <= request->size;
}

/** Does a partitioned receive wait for length bytes from offset on? */
static bool wants(const mca_pml_epml_request_t *request, uint64_t offset, uint64_t length)
{
    const mca_pml_epml_part_t *part = (const mca_pml_epml_part_t *) request;

    return NULL != request && fuzz_is(request, "partitioned receive") && part->matched
           && !request->done && !part->ended && !part->owes_start && offset <= request->wanted
           && length <= request->wanted - offset && length <= part->missing;
}

static bool fits_part_data(const void *message, const mca_pml_epml_request_t *request)
{
    const mca_pml_epml_hdr_frag_t *hdr = message;

    return wants(request, hdr->offset, 0)
           && mca_pml_epml_part_short_round(((const mca_pml_epml_part_t *) request)->round)
                  == hdr->common.handle_size;
}

static bool fits_part_rndv(const void *message, const mca_pml_epml_request_t *request)
{
    const mca_pml_epml_hdr_part_rndv_t *hdr = message;

    /* What cannot be fetched is asked for once more. */
    return wants(request, hdr->offset, hdr->length) && 0 < hdr->length
           && ((const mca_pml_epml_part_t *) request)->round == hdr->round
           && hdr->sender == request->sender_request;
}

static bool fits_part_fail(const void *message, const mca_pml_epml_request_t *request)
{
    return wants(request, 0, 0)
           && ((const mca_pml_epml_part_t *) request)->round
                  == ((const mca_pml_epml_hdr_done_t *) message)->round;
}

static bool fits_part_again(const void *message, const mca_pml_epml_request_t *request)
{
    const mca_pml_epml_hdr_part_again_t *hdr = message;

    return NULL != request && fuzz_is(request, "partitioned send") && !request->done
           && 0 < ((const mca_pml_epml_part_t *) request)->open && 0 < hdr->length
           && mca_pml_epml_part_short_round(((const mca_pml_epml_part_t *) request)->round)
                  == hdr->common.handle_size
           && hdr->length <= request->size && hdr->offset <= request->size - hdr->length;
}

/** The connection to the remote rank, or NULL. */
static const mca_pml_epml_connection_t *connection_to_remote(void)
{
    for (uint32_t i = 0; i < fuzz_ep->wire.connection_size; ++i) {
        if (fuzz_remote->id == fuzz_ep->wire.connections[i].peer_id) {
            return &fuzz_ep->wire.connections[i];
        }
    }
    return NULL;
}

static bool fits_flow(const void *message, const mca_pml_epml_request_t *request)
{
    (void) request;
    return fuzz_remote->uid == ((const mca_pml_epml_hdr_flow_t *) message)->uid
           && NULL != connection_to_remote();
}

static bool fits_withdraw(const void *message, const mca_pml_epml_request_t *request)
{
    (void) request;
    return fuzz_remote->uid == ((const mca_pml_epml_hdr_cancel_t *) message)->uid;
}

static bool fits_left(const void *message, const mca_pml_epml_request_t *request)
{
    const mca_pml_epml_hdr_left_t *hdr = message;

    (void) request;
    for (int i = 0; i < FUZZ_COMM_FREED; ++i) {
        if (fuzz_comms[i].context == hdr->context) {
            return fuzz_remote->uid == hdr->uid;
        }
    }
    return false;
}

static bool fits_ack(const void *message, const mca_pml_epml_request_t *request)
{
    (void) message;
    return is_send(request, EPML_SEND_SYNC);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* clang-format off */
#define FIELD(type, member, value) {offsetof(type, member), sizeof(((type *) 0)->member), value}
/* clang-format on */
#define FIELDS_MAX 8

/** Kinds, with the fields that do not follow from the kind.  The first OLD_KINDS are chosen as they
 * were when the corpus was made; new ones go behind the others. */
static const struct kind_t {
    uint8_t kind;
    size_t size;                            /**< of the header */
    enum { NOTHING, DATA, HANDLE } payload; /**< what is behind it */
    field_t fields[FIELDS_MAX];
    /** Of an answer: it is dropped if not.  request: the one of its number, or NULL. */
    bool (*fits)(const void *message, const mca_pml_epml_request_t *request);
} kinds[] = {
    {EPML_HDR_EAGER,
     sizeof(mca_pml_epml_hdr_match_t),
     DATA,
     {FIELD(mca_pml_epml_hdr_match_t, common.flags, flags),
      FIELD(mca_pml_epml_hdr_match_t, common.request, anything),
      FIELD(mca_pml_epml_hdr_match_t, context, a_context),
      FIELD(mca_pml_epml_hdr_match_t, source, a_source),
      FIELD(mca_pml_epml_hdr_match_t, tag, a_tag)},
     NULL},
    {EPML_HDR_RNDV,
     sizeof(mca_pml_epml_hdr_rndv_t),
     HANDLE,
     {FIELD(mca_pml_epml_hdr_rndv_t, match.common.flags, flags),
      FIELD(mca_pml_epml_hdr_rndv_t, match.common.handle_size, a_handle_size),
      FIELD(mca_pml_epml_hdr_rndv_t, match.common.request, anything),
      FIELD(mca_pml_epml_hdr_rndv_t, match.context, a_context),
      FIELD(mca_pml_epml_hdr_rndv_t, match.source, a_source),
      FIELD(mca_pml_epml_hdr_rndv_t, match.tag, a_tag),
      FIELD(mca_pml_epml_hdr_rndv_t, length, a_length),
      FIELD(mca_pml_epml_hdr_rndv_t, address, anything)},
     NULL},
    {EPML_HDR_CTS,
     sizeof(mca_pml_epml_hdr_cts_t),
     NOTHING,
     {FIELD(mca_pml_epml_hdr_cts_t, common.request, a_number),
      FIELD(mca_pml_epml_hdr_cts_t, receiver, anything),
      FIELD(mca_pml_epml_hdr_cts_t, length, a_length)},
     fits_cts},
    {EPML_HDR_FRAG,
     sizeof(mca_pml_epml_hdr_frag_t),
     DATA,
     {FIELD(mca_pml_epml_hdr_frag_t, common.request, a_number),
      FIELD(mca_pml_epml_hdr_frag_t, offset, an_offset)},
     fits_frag},
    {EPML_HDR_FIN,
     sizeof(mca_pml_epml_hdr_done_t),
     NOTHING,
     {FIELD(mca_pml_epml_hdr_done_t, common.request, a_number),
      FIELD(mca_pml_epml_hdr_done_t, status, a_status),
      FIELD(mca_pml_epml_hdr_done_t, round, this_round)},
     fits_fin},
    {EPML_HDR_ACK,
     sizeof(mca_pml_epml_hdr_done_t),
     NOTHING,
     {FIELD(mca_pml_epml_hdr_done_t, common.request, a_number),
      FIELD(mca_pml_epml_hdr_done_t, status, a_status)},
     fits_ack},
    {EPML_HDR_PART_INIT,
     sizeof(mca_pml_epml_hdr_rndv_t),
     NOTHING,
     {FIELD(mca_pml_epml_hdr_rndv_t, match.common.request, anything),
      FIELD(mca_pml_epml_hdr_rndv_t, match.context, a_context),
      FIELD(mca_pml_epml_hdr_rndv_t, match.source, a_source),
      FIELD(mca_pml_epml_hdr_rndv_t, match.tag, a_tag),
      FIELD(mca_pml_epml_hdr_rndv_t, length, a_length)},
     NULL},
    {EPML_HDR_PART_START,
     sizeof(mca_pml_epml_hdr_part_start_t),
     NOTHING,
     {FIELD(mca_pml_epml_hdr_part_start_t, common.flags, flags),
      FIELD(mca_pml_epml_hdr_part_start_t, common.request, a_part_number),
      FIELD(mca_pml_epml_hdr_part_start_t, receiver, anything),
      FIELD(mca_pml_epml_hdr_part_start_t, round, a_round),
      FIELD(mca_pml_epml_hdr_part_start_t, length, a_part_length)},
     fits_part_start},
    {EPML_HDR_PART_DATA,
     sizeof(mca_pml_epml_hdr_frag_t),
     DATA,
     {FIELD(mca_pml_epml_hdr_frag_t, common.request, a_part_number),
      FIELD(mca_pml_epml_hdr_frag_t, common.handle_size, this_round),
      FIELD(mca_pml_epml_hdr_frag_t, offset, a_part_offset)},
     fits_part_data},
    {EPML_HDR_PART_RNDV,
     sizeof(mca_pml_epml_hdr_part_rndv_t),
     HANDLE,
     {FIELD(mca_pml_epml_hdr_part_rndv_t, common.flags, piece_flags),
      FIELD(mca_pml_epml_hdr_part_rndv_t, common.handle_size, a_handle_size),
      FIELD(mca_pml_epml_hdr_part_rndv_t, common.request, a_part_number),
      FIELD(mca_pml_epml_hdr_part_rndv_t, round, this_round),
      FIELD(mca_pml_epml_hdr_part_rndv_t, sender, a_sender),
      FIELD(mca_pml_epml_hdr_part_rndv_t, offset, a_part_offset),
      FIELD(mca_pml_epml_hdr_part_rndv_t, length, a_part_length),
      FIELD(mca_pml_epml_hdr_part_rndv_t, address, anything)},
     fits_part_rndv},
    {EPML_HDR_HOLD,
     sizeof(mca_pml_epml_hdr_flow_t),
     NOTHING,
     {FIELD(mca_pml_epml_hdr_flow_t, uid, a_uid)},
     fits_flow},
    {EPML_HDR_GO,
     sizeof(mca_pml_epml_hdr_flow_t),
     NOTHING,
     {FIELD(mca_pml_epml_hdr_flow_t, uid, a_uid)},
     fits_flow},
    {EPML_HDR_PART_AGAIN,
     sizeof(mca_pml_epml_hdr_part_again_t),
     NOTHING,
     {FIELD(mca_pml_epml_hdr_part_again_t, common.request, a_part_number),
      FIELD(mca_pml_epml_hdr_part_again_t, common.handle_size, this_round),
      FIELD(mca_pml_epml_hdr_part_again_t, offset, a_part_offset),
      FIELD(mca_pml_epml_hdr_part_again_t, length, a_part_length)},
     fits_part_again},
    {EPML_HDR_CANCEL,
     sizeof(mca_pml_epml_hdr_cancel_t),
     NOTHING,
     {FIELD(mca_pml_epml_hdr_cancel_t, common.request, a_kept_number),
      FIELD(mca_pml_epml_hdr_cancel_t, context, a_context),
      FIELD(mca_pml_epml_hdr_cancel_t, uid, a_uid)},
     fits_withdraw},
    {EPML_HDR_PART_FAIL,
     sizeof(mca_pml_epml_hdr_done_t),
     NOTHING,
     {FIELD(mca_pml_epml_hdr_done_t, common.request, a_part_number),
      FIELD(mca_pml_epml_hdr_done_t, status, a_status),
      FIELD(mca_pml_epml_hdr_done_t, round, this_round)},
     fits_part_fail},
    {EPML_HDR_LEFT,
     sizeof(mca_pml_epml_hdr_left_t),
     NOTHING,
     {FIELD(mca_pml_epml_hdr_left_t, context, a_context),
      FIELD(mca_pml_epml_hdr_left_t, uid, a_uid)},
     fits_left},
    {EPML_HDR_AM,
     sizeof(mca_pml_epml_hdr_match_t),
     DATA,
     {FIELD(mca_pml_epml_hdr_match_t, common.flags, am_flags),
      FIELD(mca_pml_epml_hdr_match_t, context, a_context),
      FIELD(mca_pml_epml_hdr_match_t, source, a_source),
      FIELD(mca_pml_epml_hdr_match_t, tag, a_client)},
     NULL},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
#define OLD_KINDS 12
#define NEWER_KINDS 16 /**< likewise; of those behind them there is one */
#define NEWEST 223     /**< the choice that is its */

/** Bytes of the whole message: what the kind wants, mostly. */
static size_t message_size(fuzz_input_t *input, const struct kind_t *kind,
                           const mca_pml_epml_hdr_common_t *common)
{
    const uint8_t choice = fuzz_byte(input);
    const size_t most = kind->size + PAYLOAD_MAX;
    size_t size = kind->size;

    if (HANDLE == kind->payload) {
        size += common->handle_size;
    } else if (DATA == kind->payload) {
        size += a_length(input) % PAYLOAD_MAX;
    }
    if (240 <= choice) {
        size = choice % 2 ? fuzz_byte(input) : size + choice - 248;
    }
    return size < most ? size : most;
}

/** Let a message of a kind arrive.  An answer that fits nobody must be dropped. */
static void deliver(const struct kind_t *kind, const mca_pml_epml_hdr_common_t *message,
                    size_t size)
{
    const mca_pml_epml_request_t *request = request_of(message->request);
    const bool fits = NULL == kind->fits || kind->fits(message, request);
    const uint64_t dropped = fuzz_ep->flow.dropped, kept = fuzz_ep->match.unexpected_count;

    fuzz_net_deliver(message, size);
    if (EPML_HDR_CANCEL == kind->kind) {
        const uint64_t left = fuzz_ep->match.unexpected_count; /* others may have come meanwhile */

        FUZZ_CHECK(kept <= left + (fits ? 1 : 0), "%llu messages were, %llu are left",
                   (unsigned long long) kept, (unsigned long long) left);
    }
    FUZZ_CHECK(fits || dropped < fuzz_ep->flow.dropped, "kind %u: an answer to %u was followed",
               kind->kind, message->request);
    if (fits_flow == kind->fits && fits && sizeof(mca_pml_epml_hdr_flow_t) == size) {
        FUZZ_CHECK(connection_to_remote()->held == (EPML_HDR_HOLD == kind->kind)
                       && dropped == fuzz_ep->flow.dropped,
                   "the remote rank was not heard");
    }
}

/** The same from a module that is not the remote rank's, though the message says so: dropped. */
static void deliver_lie(const struct kind_t *kind, const mca_pml_epml_hdr_common_t *message,
                        size_t size)
{
    const uint64_t dropped = fuzz_ep->flow.dropped;

    fuzz_net.module.ep_source = FUZZ_SOURCE + 1;
    fuzz_net_deliver(message, size);
    fuzz_net.module.ep_source = FUZZ_SOURCE;
    FUZZ_CHECK(dropped < fuzz_ep->flow.dropped, "kind %u: somebody else's was taken for the peer's",
               kind->kind);
}

void fuzz_header_deliver(fuzz_input_t *input)
{
    union {
        mca_pml_epml_hdr_common_t common;
        unsigned char bytes[sizeof(mca_pml_epml_hdr_rndv_t) + PAYLOAD_MAX + 64];
    } message = {0};
    const uint8_t choice = fuzz_byte(input);
    const struct kind_t *kind
        = &kinds[NEWEST == choice ? KINDS - 1
                 : 224 <= choice  ? OLD_KINDS + choice % (NEWER_KINDS - OLD_KINDS)
                                  : choice % OLD_KINDS];
    const bool lie = EPML_TRANSPORT_NET == fuzz_net.transport
                     && (224 <= choice ? 244 <= choice : 9 == choice / OLD_KINDS);
    size_t size;

    if (248 <= choice) {
        /* Not from the table: as it comes. */
        size = fuzz_byte(input) % 64;
        fuzz_bytes(input, message.bytes, size);
        fuzz_net_deliver_changing(message.bytes, size);
        return;
    }
    message.common.kind = kind->kind;
    for (const field_t *field = kind->fields;
         field < kind->fields + FIELDS_MAX && NULL != field->value; ++field) {
        const uint64_t value = field->value(input);

        /* The low bytes come first: where they do not, the values are others, but no worse. */
        memcpy(message.bytes + field->offset, &value, field->size);
    }
    size = message_size(input, kind, &message.common);
    memset(message.bytes + kind->size, 0x3c, PAYLOAD_MAX);
    if (lie) {
        deliver_lie(kind, &message.common, size);
    } else if (0 == (choice / 8 + size) % 5) {
        fuzz_net_deliver_changing(message.bytes, size); /* what it is in the end nobody knows */
    } else {
        deliver(kind, &message.common, size);
    }
}
