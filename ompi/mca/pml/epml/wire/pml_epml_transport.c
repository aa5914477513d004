/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The transports' components and their modules.
 *
 * A network module is not destroyed with its endpoint but kept for the next one: its address stays
 * known to the peers, data that the provider has not sent yet still go out, and making one can take
 * milliseconds.  So the sockets of a process are as many as its most endpoints at a time.  Some may
 * be there before the first endpoint, if the user wants them to (pml_epml_reserve).
 *
 * Tests: create, create_loop, reserve, ways
 */

#include "ompi_config.h"

#include <limits.h>

#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_transport.h"

#include "ompi/constants.h"
#include "opal/mca/base/mca_base_component_repository.h"
#include "opal/mca/btl/base/base.h"
#include "opal/mca/threads/mutex.h"

typedef struct component_use_t {
    const char *name;
    mca_base_framework_t framework;
    mca_btl_ep_component_t *component; /**< NULL: not open */
    bool failed;                       /**< said already */
} component_use_t;

/** A network module without endpoint. */
typedef struct kept_module_t {
    struct kept_module_t *next;
    mca_btl_ep_module_t *module;
    bool is_new; /**< no endpoint has had it: no peer knows its address, and it needs no progress */
} kept_module_t;

static struct {
    opal_mutex_t lock;
    const mca_pml_epml_upcalls_t *upcalls;
    component_use_t shm, net;
    bool net_mistaken; /**< what the user has set for the network cannot be right; said already */
    kept_module_t *kept;
    _Atomic int kept_count; /**< of those that need progress; also read without the lock */
    _Atomic int reserved;   /**< contexts that were opened before they were needed */
} transports = {
    .lock = OPAL_MUTEX_STATIC_INIT,
    .shm = {.name = "epshm"},
    .net = {.name = "epofi"},
};

static void transport_close(component_use_t *transport)
{
    if (NULL != transport->component) {
        mca_base_component_repository_release(&transport->component->super.btl_version);
        transport->component = NULL;
        mca_pml_epml_framework_close(&transport->framework);
    }
    transport->failed = false;
}

/** Open one transport.  Under the lock. */
static int transport_open(component_use_t *transport)
{
    mca_base_component_list_item_t *item;
    int rc;

    if (NULL != transport->component) {
        return OMPI_SUCCESS;
    }
    if (transport->failed) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    transport->failed = true;
    rc = mca_pml_epml_framework_open(&transport->framework, &opal_btl_base_framework,
                                     transport->name);
    if (OMPI_SUCCESS != rc) {
        EPML_SHOW_HELP("transport missing", true, transport->name);
        return OMPI_ERR_NOT_AVAILABLE;
    }
    item = (mca_base_component_list_item_t *)
        opal_list_get_first(&transport->framework.framework_components);
    if (opal_list_is_empty(&transport->framework.framework_components)) {
        EPML_SHOW_HELP("transport missing", true, transport->name);
        goto err_close;
    }
    transport->component = (mca_btl_ep_component_t *) item->cli_component;
    if (MCA_BTL_EP_ABI != transport->component->ep_abi) {
        EPML_SHOW_HELP("transport differs", true, transport->name);
        transport->component = NULL;
        goto err_close;
    }
    /* Open MPI's own BTL selection may let go of the component while we use it. */
    (void) mca_base_component_repository_retain_component("btl", transport->name);
    transport->failed = false;
    return OMPI_SUCCESS;

err_close:
    mca_pml_epml_framework_close(&transport->framework);
    return OMPI_ERR_NOT_AVAILABLE;
}

/** Has the user said which provider the network shall have? */
static bool provider_named(void)
{
    const int index = mca_base_var_find("opal", "btl", "epofi", "provider");
    const char *const *value = NULL;
    const char *text = getenv("OMPI_MCA_btl_epofi_provider");

    /* Registered only if Open MPI's own selection has looked at the component. */
    if (0 <= index && OPAL_SUCCESS == mca_base_var_get_value(index, &value, NULL, NULL)
        && NULL != value) {
        text = *value;
    }
    return NULL != text && '\0' != *text;
}

/** Without peers on other nodes the network is not opened, and a mistake in its provider would not
 * be seen before the job is larger.  Under the lock, once. */
static int check_net(void)
{
    if (provider_named()) {
        const int rc = transport_open(&transports.net);

        transports.net_mistaken = OMPI_SUCCESS != rc
                                  || (NULL != transports.net.component->ep_check
                                      && OMPI_SUCCESS != transports.net.component->ep_check());
    }
    return transports.net_mistaken ? OMPI_ERR_NOT_AVAILABLE : OMPI_SUCCESS;
}

int mca_pml_epml_transports_open(const mca_pml_epml_upcalls_t *upcalls)
{
    bool first;
    int rc;

    opal_mutex_lock(&transports.lock);
    if (NULL == transports.upcalls) {
        transports.upcalls = upcalls;
    }
    first = NULL == transports.shm.component;
    rc = transport_open(&transports.shm);
    if (first && NULL != transports.shm.component) {
        mca_btl_base_active_message_trigger[MCA_BTL_EP_TAG].cbfunc = upcalls->arrived;
        mca_btl_base_active_message_trigger[MCA_BTL_EP_TAG].cbdata = NULL;
        rc = check_net();
    } else if (transports.net_mistaken) {
        rc = OMPI_ERR_NOT_AVAILABLE;
    }
    opal_mutex_unlock(&transports.lock);
    return rc;
}

void mca_pml_epml_transports_close(void)
{
    opal_mutex_lock(&transports.lock);
    while (NULL != transports.kept) {
        kept_module_t *kept = transports.kept;

        transports.kept = kept->next;
        (void) kept->module->super.btl_finalize(&kept->module->super);
        free(kept);
    }
    transport_close(&transports.net);
    transport_close(&transports.shm);
    transports.net_mistaken = false;
    atomic_store_explicit(&transports.kept_count, 0, memory_order_relaxed);
    atomic_store_explicit(&transports.reserved, 0, memory_order_relaxed);
    opal_mutex_unlock(&transports.lock);
}

void mca_pml_epml_transports_report(uint32_t flags, bool net, mca_btl_ep_tell_fn_t tell,
                                    void *context)
{
    const mca_btl_ep_component_t *component;

    opal_mutex_lock(&transports.lock);
    component = net ? transports.net.component : transports.shm.component;
    opal_mutex_unlock(&transports.lock);
    if (NULL != component) {
        component->ep_report(flags, tell, context);
    }
}

int mca_pml_epml_transports_network(char *provider, char *interface)
{
    const mca_btl_ep_component_t *component;

    opal_mutex_lock(&transports.lock);
    component = transports.net.component;
    opal_mutex_unlock(&transports.lock);
    return NULL != component && NULL != component->ep_network
               ? component->ep_network(provider, interface)
               : OMPI_ERR_NOT_AVAILABLE;
}

/** A module of a transport, which knows how most of our messages begin. */
static int create_module(const component_use_t *transport, mca_pml_epml_ep_t *ep, uint32_t flags,
                         mca_btl_ep_module_t **module_p)
{
    const mca_pml_epml_hdr_common_t eager = {.kind = EPML_HDR_EAGER};
    const mca_pml_epml_upcalls_t *upcalls = transports.upcalls; /* there since it was opened */
    int rc = transport->component->ep_create(ep, flags, module_p);

    if (OMPI_SUCCESS == rc) {
        memcpy(&(*module_p)->ep_prefix, &eager, sizeof(eager));
        (*module_p)->ep_receive_bare = upcalls->arrived_bare;
        (*module_p)->ep_receive_zcopy = 0 == (flags & MCA_BTL_EP_FLAG_NODE)
                                            ? upcalls->arrived_zcopy
                                            : upcalls->arrived_on_node;
        (*module_p)->ep_returned = upcalls->returned;
        (*module_p)->ep_lost = upcalls->lost;
        (*module_p)->ep_lives = upcalls->lives;
        (*module_p)->ep_lost_sender = upcalls->lost_sender;
        (*module_p)->ep_describe = upcalls->describe;
        (*module_p)->ep_meet = upcalls->meet;
    }
    return rc;
}

int mca_pml_epml_shm_create(mca_pml_epml_ep_t *ep, mca_btl_ep_module_t **module_p)
{
    return create_module(&transports.shm, ep, MCA_BTL_EP_FLAG_NONE, module_p);
}

/** A module of the network. */
static int net_get(mca_pml_epml_ep_t *ep, mca_btl_ep_module_t **module_p)
{
    kept_module_t **next = &transports.kept;
    kept_module_t *kept;
    int rc;

    opal_mutex_lock(&transports.lock);
    rc = transport_open(&transports.net);
    while (NULL != *next && (*next)->module->ep_worn) {
        next = &(*next)->next;
    }
    kept = *next;
    if (NULL != kept) {
        *next = kept->next;
        atomic_fetch_sub_explicit(&transports.kept_count, kept->is_new ? 0 : 1,
                                  memory_order_relaxed);
    }
    opal_mutex_unlock(&transports.lock);

    if (NULL == kept) {
        return OMPI_SUCCESS == rc
                   ? create_module(&transports.net, ep, MCA_BTL_EP_FLAG_NONE, module_p)
                   : rc;
    }
    *module_p = kept->module;
    (*module_p)->ep_context = ep;
    free(kept);
    return OMPI_SUCCESS;
}

int mca_pml_epml_transport_get(mca_pml_epml_transport_t transport, mca_pml_epml_ep_t *ep,
                               mca_btl_ep_module_t **module_p)
{
    MCA_BTL_EP_HOLD_CANCEL();

    return EPML_TRANSPORT_NET == transport
               ? net_get(ep, module_p)
               : create_module(&transports.shm, ep, MCA_BTL_EP_FLAG_NODE, module_p);
}

/** Put a module where the next endpoint finds it. */
static void transport_keep(kept_module_t *kept, mca_btl_ep_module_t *module, bool is_new)
{
    kept->module = module;
    kept->is_new = is_new;
    opal_mutex_lock(&transports.lock);
    kept->next = transports.kept;
    transports.kept = kept;
    atomic_fetch_add_explicit(&transports.kept_count, is_new ? 0 : 1, memory_order_relaxed);
    opal_mutex_unlock(&transports.lock);
}

void mca_pml_epml_transport_put(mca_pml_epml_transport_t transport, mca_btl_ep_module_t *module)
{
    MCA_BTL_EP_HOLD_CANCEL();
    kept_module_t *kept = EPML_TRANSPORT_NET == transport ? malloc(sizeof(*kept)) : NULL;

    if (NULL == kept) {
        (void) module->super.btl_finalize(&module->super);
        return;
    }
    module->ep_context = NULL;
    transport_keep(kept, module, false);
}

void mca_pml_epml_net_room(int *optimal, int *maximum)
{
    const mca_btl_ep_component_t *component = NULL;

    opal_mutex_lock(&transports.lock);
    if (OMPI_SUCCESS == transport_open(&transports.net)) {
        component = transports.net.component;
    }
    opal_mutex_unlock(&transports.lock);
    *optimal = *maximum = NULL == component ? 0 : INT_MAX;
    if (NULL != component && NULL != component->ep_context_limit) {
        component->ep_context_limit(optimal, maximum);
    }
}

void mca_pml_epml_net_reserve(int count)
{
    MCA_BTL_EP_HOLD_CANCEL();
    int optimal, maximum, made = 0;

    mca_pml_epml_net_room(&optimal, &maximum);
    for (; made < count && made < optimal; ++made) {
        kept_module_t *kept = malloc(sizeof(*kept));
        mca_btl_ep_module_t *module;

        if (NULL == kept
            || OMPI_SUCCESS
                   != create_module(&transports.net, NULL, MCA_BTL_EP_FLAG_NONE, &module)) {
            free(kept);
            break;
        }
        transport_keep(kept, module, true);
    }
    /* Relaxed: for reports. */
    atomic_store_explicit(&transports.reserved, made, memory_order_relaxed);
}

int mca_pml_epml_net_reserved(void)
{
    return atomic_load_explicit(&transports.reserved, memory_order_relaxed);
}

int mca_pml_epml_node_memory_get(const mca_btl_ep_memory_name_t *name, size_t size,
                                 unsigned int processes, bool reserve,
                                 mca_btl_ep_memory_t **memory_p)
{
    const mca_btl_ep_component_t *component = transports.shm.component; /* the caller has one */

    return NULL == component->ep_memory_get
               ? OMPI_ERR_NOT_AVAILABLE
               : component->ep_memory_get(name, size, processes, reserve, memory_p);
}

int mca_pml_epml_node_copy(const void *address, size_t length, void *local, uint64_t remote,
                           size_t size, bool to_remote)
{
    const mca_btl_ep_component_t *component = transports.shm.component; /* as above */

    return NULL == component->ep_copy
               ? OMPI_ERR_NOT_AVAILABLE
               : component->ep_copy(address, length, local, remote, size, to_remote);
}

int mca_pml_epml_net_progress_kept(void)
{
    int events = 0;

    /* Relaxed: a hint. */
    if (0 == atomic_load_explicit(&transports.kept_count, memory_order_relaxed)
        || 0 != opal_mutex_trylock(&transports.lock)) {
        return 0;
    }
    for (kept_module_t *kept = transports.kept; NULL != kept; kept = kept->next) {
        int rc = kept->is_new ? 0 : kept->module->ep_progress(kept->module);

        events += 0 < rc ? rc : 0;
    }
    opal_mutex_unlock(&transports.lock);
    return events;
}
