/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Registration of btl/epofi, its parameters, and the way in (ep_create).
 *
 * Open MPI's own BTL selection opens this component too, gets no module from it, and may close it
 * while pml/epml uses it: what is shared lives as long as somebody has it open or has a module.
 *
 * Tests: unit/test_epofi_life, create_errors
 */

#include "opal_config.h"

#include "btl_epofi_types.h"

#include "opal/util/printf.h"
#include "opal/util/show_help.h"

#include <stdlib.h>
#include <string.h>

#if !defined(EPML_HELP_DIR)
#    error "EPML_HELP_DIR must name the folder of our help texts"
#endif

opal_mutex_t mca_btl_epofi_lock = OPAL_MUTEX_STATIC_INIT;

/** A parameter that is a number. */
typedef struct parameter_t {
    const char *name;
    void *storage; /**< an unsigned int or a size_t */
    mca_base_var_type_t type;
    size_t preset;
    bool automatic; /**< 0 leaves the choice to us, whatever the range */
    size_t low;
    size_t high;
    mca_base_var_info_lvl_t level;
    const char *help; /**< the range is added to it */
} parameter_t;

#define UINT_PARAMETER(member) \
    #member, &mca_btl_epofi_component.member, MCA_BASE_VAR_TYPE_UNSIGNED_INT
#define SIZE_PARAMETER(member) \
    #member, &mca_btl_epofi_component.member, MCA_BASE_VAR_TYPE_SIZE_T

static const parameter_t parameters[] = {
    {UINT_PARAMETER(recv_buffers), 64, false, 4, 65536, OPAL_INFO_LVL_4,
     "Receive buffers that an endpoint keeps posted, each of max_send_size bytes"},
    {SIZE_PARAMETER(eager_limit), 0, true, 256, 1 << 20, OPAL_INFO_LVL_4,
     "Largest message, in bytes and with its header, that is sent without asking the receiver; by "
     "itself 65536 over tcp, what the provider copies at once over shm, 16384 over others"},
    {SIZE_PARAMETER(max_send_size), 65536, false, 256, 1 << 24, OPAL_INFO_LVL_5,
     "Largest fragment of a long message, in bytes and with its header, where the data cannot be "
     "fetched by RMA; at least eager_limit"},
    {UINT_PARAMETER(send_buffers), 512, false, 4, 65536, OPAL_INFO_LVL_5,
     "Buffers of eager_limit bytes that an endpoint may have on their way; made as needed"},
    {UINT_PARAMETER(max_send_buffers), 64, false, 4, 65536, OPAL_INFO_LVL_5,
     "Buffers of max_send_size bytes that an endpoint may have on their way; made as needed"},
    {UINT_PARAMETER(peer_queue), 256, false, 1, 65536, OPAL_INFO_LVL_5,
     "Operations that an endpoint may have under way to one peer; a peer that does not receive "
     "holds no more than that"},
    {UINT_PARAMETER(tx_size), 0, true, 16, 1 << 20, OPAL_INFO_LVL_6,
     "Entries of the provider's transmit queue; by itself the provider's choice"},
    {UINT_PARAMETER(rx_size), 0, true, 16, 1 << 20, OPAL_INFO_LVL_6,
     "Entries of the provider's receive queue; by itself the provider's choice"},
    {UINT_PARAMETER(cq_size), 0, true, 16, 1 << 20, OPAL_INFO_LVL_6,
     "Entries of an endpoint's completion queue; by itself as many as both other queues together"},
    {SIZE_PARAMETER(get_chunk), 0, true, 4096, (size_t) 1 << 40, OPAL_INFO_LVL_6,
     "Largest single RMA read, in bytes, of which longer ones are made; by itself 524288 over tcp, "
     "what the provider allows over others"},
    {UINT_PARAMETER(get_depth), 2, false, 1, EPOFI_GET_DEPTH, OPAL_INFO_LVL_6,
     "Reads of get_chunk bytes that one long read has under way at a time"},
    {UINT_PARAMETER(linger), 10000, false, 0, 3600000, OPAL_INFO_LVL_6,
     "Milliseconds that the end of an endpoint waits for peers to take what was sent to them"},
    {UINT_PARAMETER(stall_warning), 60, false, 0, 86400, OPAL_INFO_LVL_6,
     "Seconds after which a peer that takes nothing, or answers nothing, is reported, once; 0: "
     "never"},
    {UINT_PARAMETER(confirm), 2000, true, 10, 3600000, OPAL_INFO_LVL_6,
     "Milliseconds after which an endpoint that has sent something, and nothing since, asks whether "
     "it has arrived; by a connection that breaks it may get lost without a word. For this number 0 "
     "means never"},
    {UINT_PARAMETER(keepalive), 60, false, 0, 32767, OPAL_INFO_LVL_6,
     "Seconds of silence after which a connection is looked after by the kernels, so that nothing "
     "between them forgets it; six looks in vain, 10 s apart, end it (tcp); 0: never"},
    {UINT_PARAMETER(silence), 30, false, 0, 86400, OPAL_INFO_LVL_6,
     "Seconds after which a connection is closed on which nobody has begun to talk (tcp); 0: never"},
    {UINT_PARAMETER(greeting), 1, false, 0, 1, OPAL_INFO_LVL_6,
     "Whether a connection has to prove that it comes from the job, or leads to it, before "
     "libfabric gets it (tcp, where libfabric can be led to it); the same for all processes"},
    {UINT_PARAMETER(descriptor_wait), 10000, false, 0, 3600000, OPAL_INFO_LVL_6,
     "Milliseconds for which a connection waits for a file descriptor, where there are none left, "
     "before it is refused or given up (tcp)"},
    {SIZE_PARAMETER(packet_size), 16384, false, 0, 1 << 20, OPAL_INFO_LVL_5,
     "Bytes of a packet in which messages of up to half of it leave together that are sent to a peer "
     "while others are on their way to it (tcp), at most eager_limit; 0: each leaves by itself"},
    {UINT_PARAMETER(packet_wait), 100, false, 10, 1000000, OPAL_INFO_LVL_6,
     "Microseconds between two looks at such packets for the case that their thread has left MPI; "
     "no message waits for longer than two of them"},
};

enum { PARAMETER_COUNT = sizeof(parameters) / sizeof(parameters[0]) };

static int register_text(const char *name, const char *help, char **storage)
{
    int rc;

    *storage = "";
    rc = mca_base_component_var_register(&mca_btl_epofi_component.super.super.btl_version, name,
                                         help, MCA_BASE_VAR_TYPE_STRING, NULL, 0,
                                         (mca_base_var_flag_t) 0, OPAL_INFO_LVL_3,
                                         MCA_BASE_VAR_SCOPE_READONLY, storage);
    return 0 > rc ? rc : OPAL_SUCCESS;
}

static int register_number(const parameter_t *parameter)
{
    char *help = NULL;
    int rc;

    if (MCA_BASE_VAR_TYPE_SIZE_T == parameter->type) {
        *(size_t *) parameter->storage = parameter->preset;
    } else {
        *(unsigned int *) parameter->storage = (unsigned int) parameter->preset;
    }
    if (0 > opal_asprintf(&help, "%s (%s%zu to %zu)", parameter->help,
                          parameter->automatic ? "0: by itself; or " : "", parameter->low,
                          parameter->high)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    rc = mca_base_component_var_register(&mca_btl_epofi_component.super.super.btl_version,
                                         parameter->name, help, parameter->type, NULL, 0,
                                         (mca_base_var_flag_t) 0, parameter->level,
                                         MCA_BASE_VAR_SCOPE_READONLY, parameter->storage);
    free(help);
    return 0 > rc ? rc : OPAL_SUCCESS;
}

static int component_register(void)
{
    int rc;

    rc = register_text("provider",
                       "libfabric provider, such as tcp, verbs or shm; empty: the best one that "
                       "reaches other nodes, hardware first, then tcp",
                       &mca_btl_epofi_component.provider);
    if (OPAL_SUCCESS == rc) {
        rc = register_text("interface",
                           "Network interfaces or devices as libfabric names them, such as eth0, "
                           "lo or mlx5_0, or networks, such as 10.1.0.0/16, separated by commas; "
                           "empty: what btl_tcp_if_include and btl_tcp_if_exclude leave over (tcp). "
                           "Of several, the fastest that all nodes have",
                           &mca_btl_epofi_component.interface);
    }
    for (int i = 0; i < PARAMETER_COUNT && OPAL_SUCCESS == rc; ++i) {
        rc = register_number(&parameters[i]);
    }
    return rc;
}

static bool in_range(const char *name, size_t value, size_t low, size_t high)
{
    if (low <= value && value <= high) {
        return true;
    }
    EPOFI_SHOW_HELP("out of range", true, name, value, low, high);
    return false;
}

int mca_btl_epofi_check_parameters(void)
{
    for (int i = 0; i < PARAMETER_COUNT; ++i) {
        const parameter_t *parameter = &parameters[i];
        size_t value = MCA_BASE_VAR_TYPE_SIZE_T == parameter->type
                           ? *(const size_t *) parameter->storage
                           : *(const unsigned int *) parameter->storage;

        if (!(parameter->automatic && 0 == value)
            && !in_range(parameter->name, value, parameter->low, parameter->high)) {
            return OPAL_ERR_NOT_AVAILABLE;
        }
    }
    if (!in_range("max_send_size", mca_btl_epofi_component.max_send_size,
                  mca_btl_epofi_component.eager_limit, 1 << 24)) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    return OPAL_SUCCESS;
}

/** Has the user asked for pml/epml?  Its parameter may not be registered yet: the BTLs come before
 * the PMLs when Open MPI starts. */
static bool endpoints_wanted(void)
{
    int index = mca_base_var_find("ompi", "pml", NULL, NULL);
    const char *const *value = NULL;
    const char *text = getenv("OMPI_MCA_pml");

    if (0 <= index && OPAL_SUCCESS == mca_base_var_get_value(index, &value, NULL, NULL)
        && NULL != value) {
        text = *value;
    }
    return NULL != text && NULL != strstr(text, "epml");
}

/** Bytes: 128, and what the header has grown by since that was enough. */
#define TCP_INJECT "152"

/**
 * Keep the contexts of the tcp provider small, and let it inject as much as without our header.
 *
 * It has a buffer for unexpected tagged messages in each entry of its transfer pool, of 16 KiB
 * unless told otherwise, and clears 1024 entries when the first is used: 17 MiB and 8 ms per
 * context.  We send no tagged messages.  With the buffer at the size of its injected messages a
 * context takes 0.5 MiB and 0.3 ms.  Seen in libfabric 2.1.0.
 *
 * It injects up to 128 bytes.  Of these our header would take 32; a message of 80 bytes, which goes
 * through a send buffer then, takes 4.9 us one way over a loopback instead of 4.7.
 *
 * libfabric reads the variable once, when the first of its users in the process comes; that is why
 * this happens so early.  What the user has set stays.
 */
static void trim_tcp(void)
{
    (void) setenv("FI_TCP_MAX_INJECT", TCP_INJECT, 0);
    (void) setenv("FI_TCP_MAX_RX_SIZE", TCP_INJECT, 0);
}

static int component_open(void)
{
    /* Not by the first threads that use it, which Open MPI does not order. */
    opal_class_initialize(OBJ_CLASS(mca_btl_base_descriptor_t));
    if (endpoints_wanted()) {
        trim_tcp();
    }
    opal_mutex_lock(&mca_btl_epofi_lock);
    mca_btl_epofi_fabric_hold(1);
    opal_mutex_unlock(&mca_btl_epofi_lock);
    return opal_show_help_add_dir(EPML_HELP_DIR);
}

static int component_close(void)
{
    opal_mutex_lock(&mca_btl_epofi_lock);
    mca_btl_epofi_fabric_hold(-1);
    opal_mutex_unlock(&mca_btl_epofi_lock);
    return OPAL_SUCCESS;
}

/** Open MPI's own selection gets nothing from us: modules are made per endpoint, by ep_create. */
static mca_btl_base_module_t **component_init(int *num_btls, bool enable_progress_threads,
                                              bool enable_mpi_threads)
{
    (void) enable_progress_threads;
    (void) enable_mpi_threads;
    *num_btls = 0;
    return NULL;
}

static int create(void *context, uint32_t flags, mca_btl_ep_module_t **module_p)
{
    MCA_BTL_EP_HOLD_CANCEL();
    int rc;

    opal_mutex_lock(&mca_btl_epofi_lock);
    rc = mca_btl_epofi_module_create(context, flags, module_p);
    opal_mutex_unlock(&mca_btl_epofi_lock);
    return rc;
}

static int check(void)
{
    MCA_BTL_EP_HOLD_CANCEL();
    int rc;

    opal_mutex_lock(&mca_btl_epofi_lock);
    rc = mca_btl_epofi_fabric_check();
    opal_mutex_unlock(&mca_btl_epofi_lock);
    return rc;
}

mca_btl_epofi_component_t mca_btl_epofi_component = {
    .super = {
        .super = {
            .btl_version = {
                MCA_BTL_BASE_VERSION_3_3_0,
                .mca_component_name = "epofi",
                MCA_BTL_EP_VERSION,
                .mca_open_component = component_open,
                .mca_close_component = component_close,
                .mca_register_component_params = component_register,
            },
            .btl_data = {
                MCA_BASE_METADATA_PARAM_NONE,
                .reserved = {0},
            },
            .btl_init = component_init,
        },
        .ep_abi = MCA_BTL_EP_ABI,
        .ep_create = create,
        .ep_report = mca_btl_epofi_report,
        .ep_check = check,
    },
};
