/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A network module that reaches nowhere: what is sent is looked at and forgotten, gets end when the
 * input says so, any call may fail.  Its progress is where messages of the fuzzer arrive.  With
 * FUZZ_LINK=node in the environment it stands for the shared memory of a node instead.
 */

#include "fuzz.h"

#include "opal/datatype/opal_convertor.h"
#include "opal/mca/btl/base/base.h"

#include <string.h>
#include <time.h>

#define GETS_MAX 64
#define TURNS_MAX 1000 /* more than the endpoint leaves out between two looks at its network */

typedef struct fuzz_get_t {
    void *local;
    size_t size;
    mca_btl_base_rdma_completion_fn_t done;
    void *context, *data;
    struct mca_btl_base_registration_handle_t *handle;
} fuzz_get_t;

struct mca_btl_base_registration_handle_t {
    unsigned char bytes[FUZZ_HANDLE_SIZE];
};

typedef struct fuzz_descriptor_t {
    mca_btl_base_descriptor_t super;
    mca_btl_base_segment_t segment;
    unsigned char bytes[FUZZ_FRAG_LIMIT];
} fuzz_descriptor_t;

fuzz_net_t fuzz_net;

static fuzz_get_t gets[GETS_MAX];
static int peer; /* its address is the connection */

/** The next thing to happen in progress. */
static struct {
    enum { NOTHING, MESSAGE, GET_DONE, LOSS } what;
    void *message;
    size_t size;
    int status;
    bool looked;
} next;

static unsigned int flaky_calls;

static int policy_rc(int call)
{
    if (fuzz_net.abandoned) {
        return OPAL_ERR_UNREACH;
    }
    switch (fuzz_net.policy[call]) {
    case FUZZ_FULL:
        return OPAL_ERR_OUT_OF_RESOURCE;
    case FUZZ_BROKEN:
        return OPAL_ERR_UNREACH;
    case FUZZ_FLAKY:
        return 0 != ++flaky_calls % 2 ? OPAL_SUCCESS : OPAL_ERR_OUT_OF_RESOURCE;
    case FUZZ_AT_ONCE:
        return FUZZ_CALL_CONNECT == call || FUZZ_CALL_SEND == call ? OPAL_ERR_NOT_AVAILABLE
                                                                   : OPAL_SUCCESS;
    default:
        return OPAL_SUCCESS;
    }
}

static void check_peer(const struct mca_btl_base_endpoint_t *endpoint)
{
    FUZZ_CHECK((const void *) &peer == endpoint, "a connection that is none");
}

/** A peer that reads this knows the number that it may answer with. */
static void learn(const void *header, size_t size)
{
    const mca_pml_epml_hdr_common_t *common = header;
    uint32_t number;

    FUZZ_CHECK(sizeof(*common) <= size, "a header of %zu bytes was sent", size);
    switch (common->kind) {
    case EPML_HDR_CTS:
        number = ((const mca_pml_epml_hdr_cts_t *) header)->receiver;
        break;
    case EPML_HDR_PART_START:
        number = ((const mca_pml_epml_hdr_part_start_t *) header)->receiver;
        break;
    case EPML_HDR_RNDV:
    case EPML_HDR_EAGER:
    case EPML_HDR_PART_INIT:
        number = common->request;
        break;
    default:
        return;
    }
    memmove(&fuzz_net.learned[1], &fuzz_net.learned[0],
            (FUZZ_LEARNED - 1) * sizeof(fuzz_net.learned[0]));
    fuzz_net.learned[0] = number;
    fuzz_net.learned_count += FUZZ_LEARNED > fuzz_net.learned_count ? 1 : 0;
}

/* ---- the module's functions ------------------------------------------------------------------ */

static int net_progress(mca_btl_ep_module_t *module)
{
    const mca_btl_active_message_callback_t *handler
        = &mca_btl_base_active_message_trigger[MCA_BTL_EP_TAG];
    fuzz_get_t get = gets[0];

    next.looked = true;
    if (NOTHING == next.what && fuzz_net.abandoned && 0 < fuzz_net.gets) {
        next.what = GET_DONE;
        next.status = OPAL_ERR_UNREACH;
    }
    if (NOTHING == next.what) {
        return 0;
    }
    if (LOSS == next.what) {
        next.what = NOTHING;
        fuzz_net.lost = module->ep_lost(module, (struct mca_btl_base_endpoint_t *) &peer)
                        || fuzz_net.lost;
        return 0;
    }
    if (MESSAGE == next.what) {
        mca_btl_base_segment_t segment = {.seg_addr.pval = next.message, .seg_len = next.size};
        const mca_btl_base_receive_descriptor_t descriptor = {.des_segments = &segment,
                                                              .des_segment_count = 1,
                                                              .tag = MCA_BTL_EP_TAG,
                                                              .cbdata = handler->cbdata};

        next.what = NOTHING;
        handler->cbfunc(&module->super, &descriptor);
        return 1;
    }
    next.what = NOTHING;
    memmove(&gets[0], &gets[1], (GETS_MAX - 1) * sizeof(gets[0]));
    --fuzz_net.gets;
    if (OPAL_SUCCESS == next.status) {
        memset(get.local, 0x3c, get.size);
    }
    get.done(&module->super, (struct mca_btl_base_endpoint_t *) &peer, get.local, get.handle,
             get.context, get.data, next.status);
    return 1;
}

static bool net_pending(const mca_btl_ep_module_t *module)
{
    (void) module;
    return true;
}

static int net_connect(mca_btl_ep_module_t *module, const void *address, size_t length,
                       struct mca_btl_base_endpoint_t **endpoint_p)
{
    const int rc = policy_rc(FUZZ_CALL_CONNECT);

    (void) module;
    FUZZ_CHECK(NULL != address && 0 < length, "no address");
    if (OPAL_SUCCESS == rc) {
        *endpoint_p = (struct mca_btl_base_endpoint_t *) &peer;
    }
    return rc;
}

static void net_disconnect(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint)
{
    (void) module;
    check_peer(endpoint);
}

/** Nothing is found out by asking. */
static void net_check_liveness(mca_btl_ep_module_t *module,
                               struct mca_btl_base_endpoint_t *endpoint, bool connect)
{
    (void) module;
    (void) connect;
    check_peer(endpoint);
}

static void net_abandon(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint)
{
    (void) module;
    check_peer(endpoint);
    FUZZ_CHECK(fuzz_net.lost, "a peer is given up");
    fuzz_net.abandoned = true;
}

static int net_send(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                    const void *header, size_t header_size, const void *payload,
                    size_t payload_size, mca_btl_base_tag_t tag)
{
    static volatile unsigned char sink;
    int rc = policy_rc(FUZZ_CALL_SEND);

    (void) module;
    check_peer(endpoint);
    FUZZ_CHECK(MCA_BTL_EP_TAG == tag, "tag %d", tag);
    FUZZ_CHECK(FUZZ_EAGER_LIMIT >= header_size + payload_size, "%zu bytes at once",
               header_size + payload_size);
    /* All of it must be there to be read. */
    for (size_t i = 0; i < payload_size; ++i) {
        sink = ((const unsigned char *) payload)[i];
    }
    (void) sink;
    if (OPAL_SUCCESS == rc) {
        learn(header, header_size);
    }
    return rc;
}

static int net_answer(mca_btl_ep_module_t *module, const void *address, size_t length,
                      const void *message, size_t size, mca_btl_base_tag_t tag)
{
    struct mca_btl_base_endpoint_t *endpoint;
    const int rc = net_connect(module, address, length, &endpoint);

    if (OPAL_SUCCESS == rc) {
        (void) net_send(module, endpoint, message, size, NULL, 0, tag);
    }
    return rc;
}

static mca_btl_base_descriptor_t *net_prepare_src(mca_btl_base_module_t *btl,
                                                  struct mca_btl_base_endpoint_t *endpoint,
                                                  opal_convertor_t *convertor, uint8_t order,
                                                  size_t reserve, size_t *size, uint32_t flags)
{
    fuzz_descriptor_t *descriptor;
    struct iovec iov;
    uint32_t count = 1;

    (void) btl;
    (void) order;
    check_peer(endpoint);
    FUZZ_CHECK(FUZZ_FRAG_LIMIT >= reserve + *size, "a fragment of %zu bytes", *size);
    if (OPAL_SUCCESS != policy_rc(FUZZ_CALL_PREPARE)) {
        return NULL;
    }
    descriptor = calloc(1, sizeof(*descriptor));
    if (NULL == descriptor) {
        return NULL;
    }
    iov.iov_base = (IOVBASE_TYPE *) (descriptor->bytes + reserve);
    iov.iov_len = *size;
    FUZZ_CHECK(0 <= opal_convertor_pack(convertor, &iov, &count, size), "cannot be packed");
    descriptor->segment.seg_addr.pval = descriptor->bytes;
    descriptor->segment.seg_len = reserve + *size;
    descriptor->super.des_segments = &descriptor->segment;
    descriptor->super.des_segment_count = 1;
    descriptor->super.des_flags = flags;
    return &descriptor->super;
}

static int net_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *descriptor)
{
    (void) btl;
    free(descriptor);
    return OPAL_SUCCESS;
}

static int net_send_descriptor(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                               mca_btl_base_descriptor_t *descriptor, mca_btl_base_tag_t tag)
{
    int rc = policy_rc(FUZZ_CALL_SEND_DESCRIPTOR);

    check_peer(endpoint);
    FUZZ_CHECK(MCA_BTL_EP_TAG == tag, "tag %d", tag);
    if (OPAL_SUCCESS != rc) {
        return rc; /* it is still the caller's */
    }
    learn(descriptor->des_segments->seg_addr.pval, descriptor->des_segments->seg_len);
    (void) net_free(btl, descriptor);
    return 1;
}

/** Of a layout in pieces. */
static int net_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                     opal_convertor_t *convertor, void *header, size_t header_size,
                     size_t payload_size, uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                     mca_btl_base_descriptor_t **descriptor_p)
{
    mca_btl_base_descriptor_t *descriptor = net_prepare_src(btl, endpoint, convertor, order,
                                                            header_size, &payload_size, flags);

    FUZZ_CHECK(NULL == descriptor_p, "a descriptor is wanted back");
    if (NULL == descriptor) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    memcpy(descriptor->des_segments->seg_addr.pval, header, header_size);
    if (0 > net_send_descriptor(btl, endpoint, descriptor, tag)) {
        (void) net_free(btl, descriptor);
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    return OPAL_SUCCESS;
}

static bool may_write(const void *memory, size_t size)
{
    return fuzz_requests_may_write(memory, size) || fuzz_parts_may_write(memory, size);
}

static struct mca_btl_base_registration_handle_t *net_register(
    mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *base, size_t size,
    uint32_t flags)
{
    struct mca_btl_base_registration_handle_t *handle;

    (void) btl;
    check_peer(endpoint);
    FUZZ_CHECK(NULL != base && 0 < size, "%zu bytes are to be registered", size);
    if (0 != (flags & MCA_BTL_REG_FLAG_LOCAL_WRITE)) {
        FUZZ_CHECK(may_write(base, size), "%zu bytes of no receive", size);
    }
    if (OPAL_SUCCESS != policy_rc(FUZZ_CALL_REGISTER)) {
        return NULL;
    }
    handle = calloc(1, sizeof(*handle));
    fuzz_net.registrations += NULL != handle ? 1 : 0;
    return handle;
}

static int net_deregister(mca_btl_base_module_t *btl,
                          struct mca_btl_base_registration_handle_t *handle)
{
    (void) btl;
    --fuzz_net.registrations;
    free(handle);
    return OPAL_SUCCESS;
}

static int net_get(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                   void *local_address, uint64_t remote_address,
                   struct mca_btl_base_registration_handle_t *local_handle,
                   struct mca_btl_base_registration_handle_t *remote_handle, size_t size, int flags,
                   int order, mca_btl_base_rdma_completion_fn_t done, void *context, void *data)
{
    int rc = policy_rc(FUZZ_CALL_GET);

    (void) btl;
    (void) remote_address;
    (void) flags;
    (void) order;
    check_peer(endpoint);
    FUZZ_CHECK(0 < size && FUZZ_GET_LIMIT >= size, "a get of %zu bytes", size);
    FUZZ_CHECK(may_write(local_address, size), "a get of %zu bytes to no receive", size);
    FUZZ_CHECK(NULL != local_handle && NULL != remote_handle, "a get without handles");
    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    if (FUZZ_AT_ONCE == fuzz_net.policy[FUZZ_CALL_GET]) {
        memset(local_address, 0x3c, size);
        done(btl, endpoint, local_address, local_handle, context, data, OPAL_SUCCESS);
        return OPAL_SUCCESS;
    }
    if (GETS_MAX == fuzz_net.gets) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    gets[fuzz_net.gets++] = (fuzz_get_t){.local = local_address,
                                         .size = size,
                                         .done = done,
                                         .context = context,
                                         .data = data,
                                         .handle = local_handle};
    return OPAL_SUCCESS;
}

/* ---- for the rest of the fuzzer -------------------------------------------------------------- */

void fuzz_net_init(void)
{
    const char *link = getenv("FUZZ_LINK");

    fuzz_net.transport = NULL != link && 0 == strcmp(link, "node") ? EPML_TRANSPORT_NODE
                                                                   : EPML_TRANSPORT_NET;
    fuzz_net.module = (mca_btl_ep_module_t){
        .super = {.btl_eager_limit = FUZZ_EAGER_LIMIT,
                  .btl_max_send_size = FUZZ_FRAG_LIMIT,
                  .btl_flags = MCA_BTL_FLAGS_GET,
                  .btl_get_limit = FUZZ_GET_LIMIT,
                  .btl_get_alignment = 1,
                  .btl_registration_handle_size = FUZZ_HANDLE_SIZE,
                  .btl_free = net_free,
                  .btl_prepare_src = net_prepare_src,
                  .btl_send = net_send_descriptor,
                  .btl_sendi = net_sendi,
                  .btl_get = net_get,
                  .btl_register_mem = net_register,
                  .btl_deregister_mem = net_deregister},
        .ep_context = fuzz_ep,
        .ep_source = EPML_TRANSPORT_NET == fuzz_net.transport ? FUZZ_SOURCE : 0,
        .ep_prefix = fuzz_ep->transports.shm->ep_prefix,
        .ep_receive_bare = fuzz_ep->transports.shm->ep_receive_bare,
        .ep_lost = fuzz_ep->transports.shm->ep_lost,
        .ep_describe = fuzz_ep->transports.shm->ep_describe,
        .ep_check_liveness = net_check_liveness,
        .ep_abandon = net_abandon,
        .ep_progress = net_progress,
        .ep_pending = net_pending,
        .ep_connect = net_connect,
        .ep_disconnect = net_disconnect,
        .ep_send = net_send,
        .ep_answer = net_answer};
}

void fuzz_net_reset(void)
{
    FUZZ_CHECK(0 == fuzz_net.gets, "%u gets were forgotten", fuzz_net.gets);
    FUZZ_CHECK(0 == fuzz_net.registrations, "%lld registrations too many",
               (long long) fuzz_net.registrations);
    memset(fuzz_net.policy, FUZZ_WELL, sizeof(fuzz_net.policy));
    memset(fuzz_net.learned, 0, sizeof(fuzz_net.learned));
    fuzz_net.learned_count = 0;
    flaky_calls = 0;
    fuzz_net.lost = false;
    fuzz_net.abandoned = false;
}

/** Turn the endpoint until its network has been looked at. */
static void turn(void)
{
    next.looked = false;
    for (int i = 0; !next.looked; ++i) {
        int flag;

        FUZZ_CHECK(TURNS_MAX > i, "the network is not progressed");
        (void) MPI_Iprobe(fuzz_comms[0].remote, INT32_MAX, fuzz_comms[0].comm, &flag,
                          MPI_STATUS_IGNORE);
    }
    FUZZ_CHECK(NOTHING == next.what, "something was left");
}

void fuzz_net_poll(void)
{
    turn();
}

void fuzz_net_deliver_changing(const void *message, size_t size)
{
    if (EPML_TRANSPORT_NODE != fuzz_net.transport) {
        fuzz_net_deliver(message, size); /* in a buffer of the receiver's own */
        return;
    }
    next.what = MESSAGE;
    next.message = fuzz_changing_begin(message, size);
    next.size = size;
    turn();
    fuzz_changing_end();
}

void fuzz_net_deliver(const void *message, size_t size)
{
    /* Of exactly this size, so that a read beyond it is seen. */
    void *copy = malloc(0 < size ? size : 1);

    FUZZ_CHECK(NULL != copy, "no memory");
    memcpy(copy, message, size);
    next.what = MESSAGE;
    next.message = copy;
    next.size = size;
    turn();
    free(copy);
}

void fuzz_net_finish_get(int status)
{
    if (0 < fuzz_net.gets) {
        next.what = GET_DONE;
        next.status = status;
        turn();
    }
}

void fuzz_net_lose(void)
{
    struct timespec now;

    /* No waiting for a launcher that knows of no death. */
    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    fuzz_ep->loss.launcher_ns = (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
    next.what = LOSS;
    turn();
}
