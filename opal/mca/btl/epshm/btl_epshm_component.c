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
 * Registration of btl/epshm and its parameters.
 *
 * Tests: create_errors, create (pipe)
 */

#include "opal_config.h"

#include "btl_epshm_node.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <unistd.h>

#if !defined(EPML_HELP_DIR)
#    error "EPML_HELP_DIR must name the folder of our help texts"
#endif

/** What is between processes. */
static void register_node(void)
{
    mca_base_component_t *version = &mca_btl_epshm_component.super.super.btl_version;

    mca_btl_epshm_component.processes = true;
    (void) mca_base_component_var_register(
        version, "processes",
        "Should endpoints of different processes on one node talk through shared memory?  If not, "
        "or if one of them cannot, they use the network transport (epofi)",
        MCA_BASE_VAR_TYPE_BOOL, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_3,
        MCA_BASE_VAR_SCOPE_ALL_EQ, &mca_btl_epshm_component.processes);

    mca_btl_epshm_component.single_copy = true;
    (void) mca_base_component_var_register(
        version, "single_copy",
        "Should large messages between processes of a node be copied once, straight from the "
        "sender's memory, where Open MPI has a way to do it (smsc: cma, xpmem, knem)?",
        MCA_BASE_VAR_TYPE_BOOL, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_4,
        MCA_BASE_VAR_SCOPE_ALL_EQ, &mca_btl_epshm_component.single_copy);

    mca_btl_epshm_component.directory
        = 0 == access("/dev/shm", W_OK) || NULL == opal_process_info.job_session_dir
              ? "/dev/shm"
              : opal_process_info.job_session_dir;
    (void) mca_base_component_var_register(
        version, "directory",
        "Folder, the same for all processes of a node and in memory, for the files through which "
        "processes of a node talk",
        MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0, OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_LOCAL,
        &mca_btl_epshm_component.directory);

    mca_btl_epshm_component.segment_size = (size_t) 1 << 30;
    (void) mca_base_component_var_register(
        version, "segment_size",
        "Bytes to which the shared memory of a process may grow; only what is needed is taken "
        "(524288 to 1099511627776)",
        MCA_BASE_VAR_TYPE_SIZE_T, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_LOCAL, &mca_btl_epshm_component.segment_size);

    mca_btl_epshm_component.pipe_cells = 256;
    (void) mca_base_component_var_register(
        version, "pipe_cells",
        "Cells of 64 bytes in the pipe from one endpoint to another of another process: how many "
        "small messages the sender may be ahead (a power of two, 16 to 1048576)",
        MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_LOCAL, &mca_btl_epshm_component.pipe_cells);

    mca_btl_epshm_component.pipe_eager_limit = 16384;
    (void) mca_base_component_var_register(
        version, "pipe_eager_limit",
        "Largest message between processes of a node, in bytes and with its header, that the "
        "sender buffers (512 to 1048576)",
        MCA_BASE_VAR_TYPE_SIZE_T, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_4,
        MCA_BASE_VAR_SCOPE_LOCAL, &mca_btl_epshm_component.pipe_eager_limit);

    mca_btl_epshm_component.pipe_bytes = 65536;
    (void) mca_base_component_var_register(
        version, "pipe_bytes",
        "Bytes in such a pipe for messages that the cells do not hold, taken at the first one (at "
        "least pipe_eager_limit, at most 16777216)",
        MCA_BASE_VAR_TYPE_SIZE_T, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_LOCAL, &mca_btl_epshm_component.pipe_bytes);
}

static int component_register(void)
{
    mca_base_component_t *version = &mca_btl_epshm_component.super.super.btl_version;

    mca_btl_epshm_component.ring_cells = 512;
    (void) mca_base_component_var_register(
        version, "ring_cells",
        "Cells of 64 bytes in an endpoint's inbox: how many small messages senders may be ahead "
        "of the receiver (a power of two, 16 to 1048576)",
        MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_LOCAL, &mca_btl_epshm_component.ring_cells);

    mca_btl_epshm_component.lanes = 8;
    (void) mca_base_component_var_register(
        version, "lanes",
        "Rings of one sender that an inbox may have beside the one of all: given to senders that "
        "send much (0 to 32)",
        MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_LOCAL, &mca_btl_epshm_component.lanes);

    mca_btl_epshm_component.lane_cells = 256;
    (void) mca_base_component_var_register(
        version, "lane_cells",
        "Cells of 32 bytes in such a ring (a power of two, 64 to 1048576)",
        MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_LOCAL, &mca_btl_epshm_component.lane_cells);

    mca_btl_epshm_component.eager_limit = 4096;
    (void) mca_base_component_var_register(
        version, "eager_limit",
        "Largest message, in bytes and with its header, that the sender buffers; longer ones are "
        "copied once, straight from the sender's memory, when the receive is posted (512 to "
        "1048576)",
        MCA_BASE_VAR_TYPE_SIZE_T, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_4,
        MCA_BASE_VAR_SCOPE_LOCAL, &mca_btl_epshm_component.eager_limit);

    mca_btl_epshm_component.lend_min = 640;
    (void) mca_base_component_var_register(
        version, "lend_min",
        "Bytes of a buffered message from which on the receiver, if it is there, copies them "
        "straight from the sender's memory; if it does not come at once they are buffered (at "
        "least 1; a value above eager_limit switches it off)",
        MCA_BASE_VAR_TYPE_SIZE_T, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_LOCAL, &mca_btl_epshm_component.lend_min);

    mca_btl_epshm_component.share_min = 32768;
    (void) mca_base_component_var_register(
        version, "share_min",
        "Bytes of a single copy from which on the sender, if it is waiting, copies a part of the "
        "message itself (at least 1; a value above every message's size switches it off)",
        MCA_BASE_VAR_TYPE_SIZE_T, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_LOCAL, &mca_btl_epshm_component.share_min);

    mca_btl_epshm_component.max_send_size = 32768;
    (void) mca_base_component_var_register(
        version, "max_send_size",
        "Bytes, header included, in one fragment of a long message whose memory layout rules out "
        "a single copy (at least eager_limit, at most 16777216)",
        MCA_BASE_VAR_TYPE_SIZE_T, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_LOCAL, &mca_btl_epshm_component.max_send_size);

    mca_btl_epshm_component.eager_frags_max = 256;
    (void) mca_base_component_var_register(
        version, "eager_frags_max",
        "Buffers of eager_limit bytes that one endpoint may have on their way (1 to 65536)",
        MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_LOCAL, &mca_btl_epshm_component.eager_frags_max);

    mca_btl_epshm_component.max_frags_max = 16;
    (void) mca_base_component_var_register(
        version, "max_frags_max",
        "Buffers of max_send_size bytes that one endpoint may have on their way (1 to 65536)",
        MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_LOCAL, &mca_btl_epshm_component.max_frags_max);
    register_node();
    return OPAL_SUCCESS;
}

/** What follows from a mistake, for the help texts: nothing works without inboxes, but what the node
 * side does the network can do. */
static const char *consequence(const char *name)
{
    return 0 == strncmp(name, "btl_epshm_pipe", strlen("btl_epshm_pipe"))
                   || 0 == strcmp(name, "btl_epshm_segment_size")
               ? "Endpoints of different processes will use the network instead, which is\nslower."
               : "No endpoints can be created with it.";
}

static bool in_range(const char *name, size_t value, size_t low, size_t high)
{
    if (low <= value && value <= high) {
        return true;
    }
    EPSHM_SHOW_HELP("out of range", true, name, value, low, high, consequence(name));
    return false;
}

static bool is_power_of_two(const char *name, unsigned int value)
{
    if (0 == (value & (value - 1))) {
        return true;
    }
    EPSHM_SHOW_HELP("not a power of two", true, name, value, consequence(name));
    return false;
}

/** Those of the node side. */
static int check_node_parameters(void)
{
    const mca_btl_epshm_component_t *component = &mca_btl_epshm_component;

    if (!in_range("btl_epshm_segment_size", component->segment_size, EPSHM_SEGMENT_LEAST,
                  (size_t) 1 << 40)
        || !in_range("btl_epshm_pipe_cells", component->pipe_cells, EPSHM_PIPE_CELLS_LEAST,
                     EPSHM_PIPE_CELLS_MOST)
        || !in_range("btl_epshm_pipe_eager_limit", component->pipe_eager_limit, 512, 1 << 20)
        || !in_range("btl_epshm_pipe_bytes", component->pipe_bytes, component->pipe_eager_limit,
                     1 << 24)) {
        return OPAL_ERR_BAD_PARAM;
    }
    return is_power_of_two("btl_epshm_pipe_cells", component->pipe_cells) ? OPAL_SUCCESS
                                                                          : OPAL_ERR_BAD_PARAM;
}

/** Parameters are checked when the first module is made, so that a mistake is reported to those who
 * use endpoints and to nobody else. */
static int check_parameters(void)
{
    const mca_btl_epshm_component_t *component = &mca_btl_epshm_component;

    if (!in_range("btl_epshm_ring_cells", component->ring_cells, 2 * EPSHM_RING_CLAIM_MAX,
                  1 << 20)
        || !in_range("btl_epshm_lanes", component->lanes, 0, EPSHM_LANES_MAX)
        || !in_range("btl_epshm_lane_cells", component->lane_cells, 64, 1 << 20)
        || !in_range("btl_epshm_eager_limit", component->eager_limit, 512, 1 << 20)
        || !in_range("btl_epshm_lend_min", component->lend_min, 1, SIZE_MAX)
        || !in_range("btl_epshm_share_min", component->share_min, 1, SIZE_MAX)
        || !in_range("btl_epshm_max_send_size", component->max_send_size, component->eager_limit,
                     1 << 24)
        || !in_range("btl_epshm_eager_frags_max", component->eager_frags_max, 1, 1 << 16)
        || !in_range("btl_epshm_max_frags_max", component->max_frags_max, 1, 1 << 16)) {
        return OPAL_ERR_BAD_PARAM;
    }
    if (!is_power_of_two("btl_epshm_ring_cells", component->ring_cells)
        || !is_power_of_two("btl_epshm_lane_cells", component->lane_cells)) {
        return OPAL_ERR_BAD_PARAM;
    }
    return OPAL_SUCCESS;
}

static int create(void *context, uint32_t flags, mca_btl_ep_module_t **module_p)
{
    int rc = check_parameters();

    if (OPAL_SUCCESS == rc && 0 != (flags & MCA_BTL_EP_FLAG_NODE)) {
        rc = check_node_parameters();
        return OPAL_SUCCESS == rc ? mca_btl_epshm_node_module_create(context, module_p) : rc;
    }
    return OPAL_SUCCESS == rc ? mca_btl_epshm_module_create(context, flags, module_p) : rc;
}

/** Open MPI's own selection opens and closes the component as well, while it may be in use. */
static int component_close(void)
{
    /* Relaxed: nobody creates modules while components are closed. */
    if (0 == atomic_load_explicit(&mca_btl_epshm_component.node_modules, memory_order_relaxed)) {
        mca_btl_epshm_segment_close();
    }
    return OPAL_SUCCESS;
}

static int component_open(void)
{
    /* Here, where no other thread is: Open MPI's own way, by whoever makes the first object, lets a
     * second thread see that a class is ready before it sees what it then needs of it. */
    opal_class_initialize(OBJ_CLASS(mca_btl_epshm_frag_t));
    opal_class_initialize(OBJ_CLASS(epshm_node_frag_t));
    return opal_show_help_add_dir(EPML_HELP_DIR);
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

mca_btl_epshm_component_t mca_btl_epshm_component = {
    .super = {
        .super = {
            .btl_version = {
                MCA_BTL_BASE_VERSION_3_3_0,
                .mca_component_name = "epshm",
                MCA_BTL_EP_VERSION,
                .mca_open_component = component_open,
                .mca_close_component = component_close,
                .mca_register_component_params = component_register,
            },
            .btl_data = {
                .param_field = MCA_BASE_METADATA_PARAM_NONE
            },
            .btl_init = component_init,
        },
        .ep_abi = MCA_BTL_EP_ABI,
        .ep_create = create,
        .ep_report = mca_btl_epshm_report,
    },
};
