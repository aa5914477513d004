/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of active messages that the transport has no buffer for (pml_epml_transmit.c,
 * pml_epml_am.c): they arrive whole and in order, wherever the room ends; pieces that do not fit are
 * refused; how large a message may be.
 *
 * Guards: pml_epml_am.c, pml_epml_transmit.c
 */

#include "tap.h"

#include "ompi/mca/pml/epml/engine/pml_epml_am.c"
#include "ompi/mca/pml/epml/engine/pml_epml_work.c"
#include "ompi/mca/pml/epml/wire/pml_epml_transmit.c"

#define NUMBER 2
#define RANK 1

static mca_pml_epml_ep_t ep;
static mca_pml_epml_peer_t peer;
static mca_btl_ep_module_t transport;
static ompi_communicator_t handle;
static mca_pml_epml_comm_t comm;
static void *objects[EPML_ENROLLED_MOST];

/** Of the transport: the longest message that it buffers, and how many there is room for. */
static size_t longest;
static int room;

/** What the client has got. */
static int messages, wrong;
static size_t sizes[8];

/* ---- what is below --------------------------------------------------------------------------- */

mca_pml_epml_component_t mca_pml_epml_component = {.transport_wait = 1000000};

#if EP_OWN_HELP_TEXTS && !EP_IN_TREE
int mca_btl_ep_show_help(const char *file, const char *topic, int want_error_header, ...)
{
    (void) file;
    (void) topic;
    (void) want_error_header;
    return OPAL_SUCCESS;
}
#endif

bool mca_pml_epml_lost_is(const mca_pml_epml_ep_t *where, const mca_pml_epml_peer_t *peer)
{
    (void) where;
    (void) peer;
    return false;
}

bool mca_pml_epml_lost_refuses(const mca_pml_epml_ep_t *where, const mca_pml_epml_peer_t *peer)
{
    return mca_pml_epml_lost_is(where, peer);
}

void mca_pml_epml_connection_give_up(mca_pml_epml_ep_t *where, mca_pml_epml_peer_t *peer)
{
    (void) where;
    (void) peer;
    TAP_CHECK(false, "the peer is given up");
}

int mca_pml_epml_peer_connect(mca_pml_epml_ep_t *where, mca_pml_epml_peer_t *peer,
                              mca_pml_epml_connection_t **connection_p)
{
    (void) where;
    (void) peer;
    (void) connection_p;
    return OMPI_ERR_UNREACH;
}

mca_pml_epml_job_t *mca_pml_epml_job_find(opal_jobid_t id)
{
    (void) id;
    return NULL;
}

void mca_pml_epml_peer_retain(mca_pml_epml_peer_t *peer)
{
    atomic_fetch_add(&peer->references, 1);
}

void mca_pml_epml_peer_release(mca_pml_epml_peer_t *peer)
{
    atomic_fetch_sub(&peer->references, 1);
}

static unsigned char byte_of(size_t size, size_t at)
{
    return (unsigned char) (size * 7 + at * 13);
}

static bool arrived(void *object, int rank, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    TAP_CHECK(objects == object && RANK == rank && 0 == (uintptr_t) data % 8, "not what was sent");
    for (size_t i = 0; i < size; ++i) {
        wrong += byte_of(size, i) != bytes[i];
    }
    sizes[messages++ % 8] = size;
    return true;
}

static const mpix_endpoints_client_t client = {.am_handler = arrived};

const mpix_endpoints_client_t *mca_pml_epml_clients(int number)
{
    return NUMBER == number || NUMBER + 1 == number ? &client : NULL;
}

mca_pml_epml_comm_t *mca_pml_epml_comm_find(mca_pml_epml_ep_t *where, uint64_t context)
{
    (void) where;
    return comm.context == context ? &comm : NULL;
}

/** @return what the kind says of it */
static bool arrive(const mca_pml_epml_hdr_match_t *hdr, const void *data, size_t size)
{
    return mca_pml_epml_am_kind.arrived(&ep, &(const mca_pml_epml_message_t){.hdr = hdr,
                                                                             .rest = data,
                                                                             .rest_size = size,
                                                                             .module = &transport});
}

/** The receiver is this endpoint as well.  A pending queue's message is one piece, header and
 * all. */
static int transport_send(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *to,
                          const void *header, size_t header_size, const void *payload,
                          size_t payload_size, mca_btl_base_tag_t tag)
{
    _Alignas(8) unsigned char message[sizeof(mca_pml_epml_hdr_match_t) + MPIX_ENDPOINTS_AM_LIMIT];
    mca_pml_epml_hdr_match_t hdr;

    (void) module;
    (void) to;
    (void) tag;
    if (longest < header_size + payload_size) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    if (0 == room) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    --room;
    memcpy(message, header, header_size);
    if (0 < payload_size) {
        memcpy(message + header_size, payload, payload_size);
    }
    memcpy(&hdr, message, sizeof(hdr));
    TAP_CHECK(arrive(&hdr, message + sizeof(hdr), header_size + payload_size - sizeof(hdr)),
              "it is refused");
    return OMPI_SUCCESS;
}

static void begin(void)
{
    static mca_pml_epml_peers_t *peers;

    if (NULL == peers) {
        peers = calloc(1, sizeof(*peers) + (RANK + 1) * sizeof(peers->member[0]));
    }
    memset((void *) &ep, 0, sizeof(ep));
    peers->member[RANK] = &peer;
    transport.ep_send = transport_send;
    transport.super.btl_eager_limit = 16384;
    ep.transports.shm = ep.transports.module[EPML_TRANSPORT_NODE] = &transport;
    peer.shm = (struct mca_btl_base_endpoint_t *) &transport;
    objects[NUMBER] = objects[NUMBER + 1] = objects;
    comm = (mca_pml_epml_comm_t){.ep = &ep,
                                 .context = 11,
                                 .rank = RANK,
                                 .peers = peers,
                                 .comm = &handle,
                                 .objects = objects};
    ((opal_object_t *) &handle)->obj_reference_count = 1;
    messages = wrong = 0;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static int send_bytes(size_t size)
{
    unsigned char data[MPIX_ENDPOINTS_AM_LIMIT];

    for (size_t i = 0; i < size; ++i) {
        data[i] = byte_of(size, i);
    }
    return mca_pml_epml_am_send(&comm, NUMBER, RANK, data, size);
}

/** A large message between two small ones, with so much room at a time. */
static void check_size(size_t size, int step)
{
    int turns = 0;

    begin();
    room = step;
    TAP_EQ(OMPI_SUCCESS, send_bytes(8));
    TAP_EQ(OMPI_SUCCESS, send_bytes(size));
    TAP_EQ(OMPI_SUCCESS, send_bytes(9));
    for (; NULL != ep.wire.pending.first && 100 > turns; ++turns) {
        room = step;
        (void) mca_pml_epml_pending_progress(&ep);
    }
    TAP_CHECK(100 > turns, "it never ends");
    TAP_EQ(3, messages);
    TAP_CHECK(8 == sizes[0] && size == sizes[1] && 9 == sizes[2], "%zu, %zu, %zu bytes", sizes[0],
              sizes[1], sizes[2]);
    TAP_EQ(0, wrong);
    TAP_CHECK(NULL == comm.partials, "some pieces are left");
    TAP_EQ(0, atomic_load(&peer.references));
    TAP_EQ(1, ((opal_object_t *) &handle)->obj_reference_count);
}

static void case_sizes(void)
{
    static const size_t most[] = {8192, 4000, 1025, 512, 511, 257, 256, 255, 1, 0};

    for (longest = 280; longest < 20000; longest *= 3) {
        tap_case("messages of all sizes where %zu bytes go at once", longest);
        for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); ++i) {
            for (int step = 1; step <= 64; step *= 2) {
                check_size(most[i], step);
            }
        }
        tap_case_done();
    }
}

static void case_refused(void)
{
    static unsigned char data[MPIX_ENDPOINTS_AM_LIMIT + 1];
    mca_pml_epml_hdr_match_t piece = {.common = {.kind = EPML_HDR_AM, .flags = EPML_HDR_FLAG_MORE},
                                      .context = 11,
                                      .source = RANK,
                                      .tag = NUMBER};
    mca_pml_epml_hdr_match_t last = piece, other = piece;

    last.common.flags = 0;
    other.tag = NUMBER + 1;
    tap_case("pieces that do not fit");
    begin();
    TAP_CHECK(!arrive(&last, data, sizeof(data)), "a message that is too long");
    TAP_CHECK(!arrive(&piece, data, sizeof(data)), "a piece that is too long");
    TAP_CHECK(arrive(&piece, data, 8000), "the first piece is refused");
    TAP_CHECK(!arrive(&other, data, 8), "a piece of another client's");
    TAP_CHECK(!arrive(&last, data, 193), "one byte too many");
    TAP_EQ(0, messages);
    TAP_CHECK(arrive(&last, data, 192), "the last piece is refused");
    TAP_EQ(1, messages);
    TAP_EQ(8192, sizes[0]);
    tap_case_done();

    tap_case("of several senders; and what is not complete goes with the handle");
    begin();
    TAP_CHECK(arrive(&piece, data, 10), "the first piece is refused");
    objects[NUMBER] = NULL;
    TAP_CHECK(arrive(&last, data, 8), "a handle without object");
    TAP_EQ(1, ep.flow.dropped);
    objects[NUMBER] = objects;
    last.source = piece.source = RANK + 1;
    TAP_CHECK(arrive(&piece, data, 10), "another sender's piece");
    mca_pml_epml_am_del_comm(&comm);
    TAP_CHECK(NULL == comm.partials, "some pieces are left");
    TAP_EQ(0, messages);
    tap_case_done();
}

static void case_most(void)
{
    static const struct {
        size_t eager, most;
    } limits[] = {{512, 488}, {256, 256}, {0, 256}, {280, 256}, {281, 257},
                  {4096, 4072}, {8215, 8191}, {8216, 8192}, {65536, 8192}};

    tap_case("how large a message may be");
    begin();
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); ++i) {
        transport.super.btl_eager_limit = limits[i].eager;
        TAP_EQ(limits[i].most, mca_pml_epml_am_max(&comm, RANK));
    }
    peer.shm = NULL;
    peer.transport = EPML_TRANSPORT_NODE;
    TAP_EQ(8192, mca_pml_epml_am_max(&comm, RANK));
    peer.transport = EPML_TRANSPORT_NET;
    TAP_EQ(256, mca_pml_epml_am_max(&comm, RANK));
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_pieces", 60);
    case_sizes();
    case_refused();
    case_most();
    return tap_end();
}
