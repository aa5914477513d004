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
 * Creating endpoints: the collective behind MPIX_Comm_create_endpoints.
 *
 *  1. Each member of the parent makes its endpoints, with their transports.
 *  2. One reduction agrees: did everybody succeed, which context id, do all promise same_num_ep?
 *  3. Unless they do, the counts are gathered; then, with everybody's consent, names and addresses,
 *     if there is more than one member.
 *  4. Each member builds its handles; a second reduction agrees that everybody did.
 *
 * Whatever goes wrong at one member is known to all before the next step that communicates, and
 * everybody undoes what it has.
 */

#include "ompi_config.h"

#include "pml_epml_compat.h"
#include "pml_epml_request.h"

#include "ompi/attribute/attribute.h"
#include "ompi/constants.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_link.h"
#include "ompi/op/op.h"
#include "ompi/runtime/params.h"
#include "opal/util/info.h"

/** What an endpoint tells the others; on the wire followed by padding up to the agreed size. */
typedef struct card_t {
    opal_process_name_t name;
    uint16_t shm_length;
    uint16_t net_length;
    uint32_t unused;
    unsigned char addresses[]; /**< shm_length bytes, then net_length bytes */
} card_t;

/** What is agreed on in step 2; all are maxima over the members. */
typedef struct agreement_t {
    int64_t error;       /**< mpix_endpoints_error_t */
    int64_t num_ep;      /**< largest count */
    int64_t minus_ep;    /**< minus the smallest count */
    int64_t card_size;   /**< largest card */
    int64_t no_promise;  /**< somebody does not promise the same count everywhere */
    int64_t context;     /**< rank 0's drawing; the others give 0 */
} agreement_t;

#define AGREEMENT_COUNT (sizeof(agreement_t) / sizeof(int64_t))

/** A creation in progress, at one member of the parent. */
typedef struct creation_t {
    ompi_communicator_t *parent;
    int num_ep;
    mca_pml_epml_level_t level;
    bool promise;
    bool with_net;
    mpix_endpoints_error_t error;

    mca_pml_epml_ep_t **eps; /**< num_ep, those made so far */
    agreement_t agreed;
    int *counts;             /**< endpoints, by member of the parent */
    int total;
    int first;               /**< rank of our endpoint 0 */
    int *card_counts;        /**< bytes of cards by member, then where they begin */
    unsigned char *cards;    /**< total cards of agreed.card_size bytes, by rank */
    mca_pml_epml_peers_t *peers;
    int endpoints_on_node;
} creation_t;

static const char *const level_names[] = {"single", "funneled", "serialized", "multiple"};

/* ---- step 0: what the user wants ------------------------------------------------------------- */

/** Read an info key.  @return its value, to be released, or NULL */
static opal_cstring_t *info_value(opal_info_t *info, const char *key)
{
    opal_cstring_t *value = NULL;
    int flag = 0;

    if (NULL == info || OPAL_SUCCESS != opal_info_get(info, key, &value, &flag) || 0 == flag) {
        return NULL;
    }
    return value;
}

static void read_info(creation_t *creation, opal_info_t *info)
{
    opal_cstring_t *value = info_value(info, "same_num_ep");

    creation->promise = NULL != value && 0 == strcasecmp(value->string, "true");
    if (NULL != value) {
        OBJ_RELEASE(value);
    }
    creation->level = EPML_LEVEL_MULTIPLE;
    value = info_value(info, "mpix_thread_level");
    if (NULL != value) {
        int level;

        for (level = EPML_LEVEL_SINGLE; level <= EPML_LEVEL_MULTIPLE; ++level) {
            if (0 == strcasecmp(value->string, level_names[level])) {
                creation->level = (mca_pml_epml_level_t) level;
                break;
            }
        }
        if (level > EPML_LEVEL_MULTIPLE) {
            EPML_SHOW_HELP("bad thread level", true, value->string);
        }
        OBJ_RELEASE(value);
    }
}

/** Does the parent reach beyond this process? */
static bool leaves_process(const ompi_communicator_t *parent)
{
    ompi_group_t *group = parent->c_local_group;

    for (int i = 0; i < group->grp_proc_count; ++i) {
        opal_process_name_t name = ompi_group_get_proc_name(group, i);

        if (!mca_pml_epml_name_is_here(&name)) {
            return true;
        }
    }
    return false;
}

/** With its fault tolerance on, Open MPI's waiting functions look into every PML request as if it were
 * of the base's own type, which ours are not. */
static bool fault_tolerance_is_on(void)
{
#if OPAL_ENABLE_FT_MPI
    return ompi_ftmpi_enabled;
#else
    return false;
#endif
}

/* ---- step 1: endpoints ----------------------------------------------------------------------- */

static void make_endpoints(creation_t *creation)
{
    const int in_use = mca_pml_epml_ep_count();
    int rc;

    if (fault_tolerance_is_on()) {
        EPML_SHOW_HELP("fault tolerance", true);
        creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
        return;
    }
    if (creation->num_ep > mca_pml_epml_component.max_endpoints - in_use) {
        EPML_SHOW_HELP("limit", true, creation->num_ep, in_use,
                       mca_pml_epml_component.max_endpoints);
        creation->error = MPIX_ENDPOINTS_ERR_LIMIT;
        return;
    }
    creation->counts = malloc((size_t) ompi_comm_size(creation->parent)
                              * sizeof(*creation->counts));
    creation->eps = calloc((size_t) creation->num_ep + 1, sizeof(*creation->eps));
    if (NULL == creation->counts || NULL == creation->eps
        || OMPI_SUCCESS != mca_pml_epml_transports_open(creation->with_net)) {
        creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
        return;
    }
    for (int i = 0; i < creation->num_ep; ++i) {
        rc = mca_pml_epml_ep_create(creation->level, creation->with_net, &creation->eps[i]);
        if (OMPI_SUCCESS != rc) {
            EPML_SHOW_HELP("no resources", true, i + 1, creation->num_ep,
                           creation->with_net ? "epshm, epofi" : "epshm", opal_strerror(rc));
            creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
            return;
        }
    }
}

static size_t card_size(const creation_t *creation)
{
    size_t size = sizeof(card_t);

    if (NULL != creation->eps && 0 < creation->num_ep && NULL != creation->eps[0]) {
        const mca_pml_epml_ep_t *ep = creation->eps[0];

        size += ep->shm->ep_address_length;
        size += NULL != ep->net ? ep->net->ep_address_length : 0;
    }
    return (size + 7) & ~(size_t) 7;
}

/* ---- step 2: agreement ----------------------------------------------------------------------- */

static int allreduce_max(ompi_communicator_t *parent, void *values, size_t count)
{
    return parent->c_coll->coll_allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, parent,
                                          parent->c_coll->coll_allreduce_module);
}

static int agree(creation_t *creation)
{
    agreement_t *agreed = &creation->agreed;
    int rc;

    *agreed = (agreement_t){.error = creation->error,
                            .num_ep = creation->num_ep,
                            .minus_ep = -(int64_t) creation->num_ep,
                            .card_size = (int64_t) card_size(creation),
                            .no_promise = !creation->promise};
    if (0 == ompi_comm_rank(creation->parent)) {
        agreed->context = (int64_t) mca_pml_epml_context_ids(1);
    }
    rc = allreduce_max(creation->parent, agreed, AGREEMENT_COUNT);
    if (OMPI_SUCCESS != rc) {
        creation->error = MPIX_ENDPOINTS_ERR_INTERN;
        return rc;
    }
    creation->error = (mpix_endpoints_error_t) agreed->error;
    if (MPIX_ENDPOINTS_OK == creation->error && !agreed->no_promise
        && agreed->num_ep != -agreed->minus_ep) {
        creation->error = MPIX_ENDPOINTS_ERR_PROMISE;
    }
    return MPIX_ENDPOINTS_OK == creation->error ? OMPI_SUCCESS : OMPI_ERROR;
}

/* ---- step 3: counts, names, addresses -------------------------------------------------------- */

static int gather_counts(creation_t *creation)
{
    ompi_communicator_t *parent = creation->parent;
    const int size = ompi_comm_size(parent);
    const int rank = ompi_comm_rank(parent);
    int rc = OMPI_SUCCESS;

    if (creation->agreed.no_promise) {
        rc = parent->c_coll->coll_allgather(&creation->num_ep, 1, MPI_INT, creation->counts, 1,
                                            MPI_INT, parent,
                                            parent->c_coll->coll_allgather_module);
    } else {
        for (int i = 0; i < size; ++i) {
            creation->counts[i] = creation->num_ep;
        }
    }
    for (int i = 0; i < size; ++i) {
        creation->first += i < rank ? creation->counts[i] : 0;
        creation->total += creation->counts[i];
    }
    return rc;
}

static card_t *card_of(const creation_t *creation, int rank)
{
    return (card_t *) (creation->cards + (size_t) rank * (size_t) creation->agreed.card_size);
}

static void write_card(creation_t *creation, int index)
{
    const mca_pml_epml_ep_t *ep = creation->eps[index];
    card_t *card = card_of(creation, creation->first + index);
    opal_process_name_t own = ompi_group_get_proc_name(creation->parent->c_local_group,
                                                       ompi_comm_rank(creation->parent));

    card->name = 0 == index ? own : mca_pml_epml_name_new();
    card->shm_length = (uint16_t) ep->shm->ep_address_length;
    memcpy(card->addresses, ep->shm->ep_address, card->shm_length);
    if (NULL != ep->net) {
        card->net_length = (uint16_t) ep->net->ep_address_length;
        memcpy(card->addresses + card->shm_length, ep->net->ep_address, card->net_length);
    }
}

/** Memory for all cards, ours filled in.  Every member must have it before any goes on. */
static int prepare_cards(creation_t *creation)
{
    const int size = ompi_comm_size(creation->parent);
    int64_t failed;

    creation->cards = calloc((size_t) creation->total + 1, (size_t) creation->agreed.card_size);
    creation->card_counts = malloc(2 * (size_t) size * sizeof(*creation->card_counts));
    failed = NULL == creation->cards || NULL == creation->card_counts
             || INT_MAX / creation->agreed.card_size < creation->total;
    if (1 < size && OMPI_SUCCESS != allreduce_max(creation->parent, &failed, 1)) {
        failed = 1;
    }
    if (0 != failed) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < creation->num_ep; ++i) {
        write_card(creation, i);
    }
    return OMPI_SUCCESS;
}

static int gather_cards(creation_t *creation)
{
    ompi_communicator_t *parent = creation->parent;
    const int size = ompi_comm_size(parent);
    const int bytes = (int) creation->agreed.card_size;

    if (1 == size) {
        return OMPI_SUCCESS;
    }
    if (!creation->agreed.no_promise) {
        return parent->c_coll->coll_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, creation->cards,
                                              creation->num_ep * bytes, MPI_BYTE, parent,
                                              parent->c_coll->coll_allgather_module);
    }
    for (int i = 0, displacement = 0; i < size; ++i) {
        creation->card_counts[i] = creation->counts[i] * bytes;
        creation->card_counts[size + i] = displacement;
        displacement += creation->card_counts[i];
    }
    return parent->c_coll->coll_allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, creation->cards,
                                           EPML_COMPAT_COUNTS(creation->card_counts),
                                           EPML_COMPAT_DISPS(creation->card_counts + size),
                                           MPI_BYTE, parent,
                                           parent->c_coll->coll_allgatherv_module);
}

/* ---- step 4: handles ------------------------------------------------------------------------- */

/** The peer that a card describes; member is the one of the parent that sent it. */
static mca_pml_epml_peer_t *make_peer(const creation_t *creation, const card_t *card, int index,
                                      ompi_proc_t *member)
{
    const size_t room = (size_t) creation->agreed.card_size - sizeof(*card);
    mca_pml_epml_peer_t *peer;
    ompi_proc_t *proc = member;

    if ((size_t) card->shm_length + card->net_length > room
        || MCA_BTL_EP_ADDRESS_MAX < card->net_length) {
        return NULL;
    }
    if (0 == index) {
        OBJ_RETAIN(proc);
    } else {
        proc = mca_pml_epml_proc_get(&card->name, member);
    }
    if (NULL == proc) {
        return NULL;
    }
    peer = mca_pml_epml_peer_create(proc);
    if (NULL == peer) {
        mca_pml_epml_proc_put(proc);
        return NULL;
    }
    if (mca_pml_epml_name_is_here(&card->name)) {
        mca_btl_ep_module_t *any = creation->eps[0]->shm;

        if (OPAL_SUCCESS
            != any->ep_connect(any, card->addresses, card->shm_length, &peer->shm)) {
            mca_pml_epml_peer_release(peer);
            return NULL;
        }
        peer->shm_disconnect = any->ep_disconnect;
    } else {
        peer->address_length = card->net_length;
        memcpy(peer->address, card->addresses + card->shm_length, card->net_length);
    }
    return peer;
}

static int make_peers(creation_t *creation)
{
    ompi_group_t *group = creation->parent->c_local_group;
    int rank = 0;

    creation->peers = mca_pml_epml_peers_create(creation->total);
    if (NULL == creation->peers) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < group->grp_proc_count; ++i) {
        ompi_proc_t *member = ompi_group_peer_lookup(group, i);

        if (OPAL_PROC_ON_LOCAL_NODE(member->super.proc_flags)) {
            creation->endpoints_on_node += creation->counts[i];
        }
        for (int j = 0; j < creation->counts[i]; ++j, ++rank) {
            creation->peers->peer[rank] = make_peer(creation, card_of(creation, rank), j, member);
            if (NULL == creation->peers->peer[rank]) {
                return OMPI_ERR_OUT_OF_RESOURCE;
            }
        }
    }
    return OMPI_SUCCESS;
}

/** The group of all endpoints, seen from one of them. */
static ompi_group_t *make_group(const creation_t *creation, int rank)
{
    ompi_group_t *group = ompi_group_allocate(creation->parent->c_local_group, creation->total);

    if (NULL == group) {
        return NULL;
    }
    for (int i = 0; i < creation->total; ++i) {
        group->grp_proc_pointers[i] = creation->peers->peer[i]->proc;
    }
    ompi_group_increment_proc_count(group);
    group->grp_my_rank = rank;
    return group;
}

static int set_info(const creation_t *creation, ompi_communicator_t *comm)
{
    int rc = mca_pml_epml_comm_restrict_coll(comm);

    if (OMPI_SUCCESS == rc) {
        rc = opal_info_set(comm->super.s_info, "mpix_thread_level", level_names[creation->level]);
    }
    if (OMPI_SUCCESS == rc) {
        rc = opal_info_set(comm->super.s_info, "same_num_ep",
                           creation->promise ? "true" : "false");
    }
    return rc;
}

/** What MPI_COMM_WORLD says of the environment holds for an endpoint too; a library that was handed
 * one as its world may ask. */
static int set_predefined_attributes(ompi_communicator_t *comm)
{
    static const int keyvals[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM,
                                  MPI_LASTUSEDCODE, MPI_UNIVERSE_SIZE};
    int rc = OMPI_SUCCESS;

    for (size_t i = 0; OMPI_SUCCESS == rc && i < sizeof(keyvals) / sizeof(keyvals[0]); ++i) {
        void *value = NULL;
        int flag = 0;

        rc = ompi_attr_get_c(ompi_mpi_comm_world.comm.c_keyhash, keyvals[i], &value, &flag);
        if (OMPI_SUCCESS == rc && 0 != flag && NULL != value) {
            rc = ompi_attr_set_int(COMM_ATTR, comm, &comm->c_keyhash, keyvals[i], *(int *) value,
                                   true);
        }
    }
    return rc;
}

static int make_handle(const creation_t *creation, int index, ompi_communicator_t **comm_p)
{
    ompi_communicator_t *parent = creation->parent;
    ompi_communicator_t *comm = NULL;
    ompi_group_t *group = make_group(creation, creation->first + index);
    int rc;

    if (NULL == group) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = ompi_comm_set(&comm, parent, 0, NULL, 0, NULL, NULL, parent->error_handler, group, NULL,
                       0);
    OBJ_RELEASE(group);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    rc = mca_pml_epml_comm_place(comm, (uint64_t) creation->agreed.context);
    if (OMPI_SUCCESS != rc) {
        goto err_release;
    }
    snprintf(comm->c_name, MPI_MAX_OBJECT_NAME, "MPI COMM %s ENDPOINTS FROM %s",
             ompi_comm_print_cid(comm), ompi_comm_print_cid(parent));
    rc = mca_pml_epml_comm_attach(comm, creation->eps[index], (uint64_t) creation->agreed.context,
                                  creation->peers, creation->peers);
    if (OMPI_SUCCESS != rc) {
        goto err_release;
    }
    OMPI_COMM_SET_PML_ADDED(comm);
    creation->eps[index]->self = creation->peers->peer[creation->first + index];
    mca_pml_epml_peer_retain(creation->eps[index]->self);
    creation->eps[index]->family = creation->peers;
    mca_pml_epml_peers_retain(creation->peers);
    rc = set_info(creation, comm);
    if (OMPI_SUCCESS == rc) {
        rc = set_predefined_attributes(comm);
    }
    if (OMPI_SUCCESS == rc) {
        rc = mca_coll_base_comm_select(comm);
    }
    if (OMPI_SUCCESS != rc) {
        goto err_release;
    }
    *comm_p = comm;
    return OMPI_SUCCESS;

err_release:
    OBJ_RELEASE(comm);
    return rc;
}

static int make_handles(creation_t *creation, ompi_communicator_t **comms)
{
    int rc = 0 < creation->num_ep ? make_peers(creation) : OMPI_SUCCESS;

    for (int i = 0; OMPI_SUCCESS == rc && i < creation->num_ep; ++i) {
        rc = make_handle(creation, i, &comms[i]);
    }
    return rc;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/** Give up what is only needed while creating; the handles hold what they need. */
static void clean_up(creation_t *creation)
{
    for (int i = 0; NULL != creation->eps && i < creation->num_ep; ++i) {
        if (NULL != creation->eps[i]) {
            mca_pml_epml_ep_release(creation->eps[i]);
        }
    }
    if (NULL != creation->peers) {
        mca_pml_epml_peers_release(creation->peers);
    }
    free(creation->eps);
    free(creation->counts);
    free(creation->cards);
    free(creation->card_counts);
}

/** Free the handles made so far. */
static void free_handles(const creation_t *creation, ompi_communicator_t **handles)
{
    for (int i = 0; i < creation->num_ep; ++i) {
        if (NULL != handles[i]) {
            (void) ompi_comm_free(&handles[i]);
        }
    }
}

/** Steps 3 and 4.  @return OMPI_SUCCESS only if every member has its handles */
static int build(creation_t *creation, ompi_communicator_t **handles)
{
    int64_t failed;
    int rc = gather_counts(creation);

    if (OMPI_SUCCESS == rc) {
        rc = prepare_cards(creation);
    }
    if (OMPI_SUCCESS != rc) {
        /* A collective failed, or the cards have no room: everybody is here. */
        creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
        return rc;
    }
    rc = gather_cards(creation);
    if (OMPI_SUCCESS == rc) {
        rc = make_handles(creation, handles);
    }
    failed = OMPI_SUCCESS != rc;
    if (OMPI_SUCCESS != allreduce_max(creation->parent, &failed, 1)) {
        failed = 1;
    }
    if (0 == failed) {
        return OMPI_SUCCESS;
    }
    creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
    free_handles(creation, handles);
    return OMPI_SUCCESS != rc ? rc : OMPI_ERROR;
}

static int create_endpoints(ompi_communicator_t *parent, int num_ep, opal_info_t *info,
                            mpix_endpoints_error_t local_error, ompi_communicator_t **comms,
                            mpix_endpoints_error_t *error)
{
    creation_t creation = {.parent = parent, .num_ep = num_ep, .error = local_error};
    ompi_communicator_t **handles = calloc((size_t) num_ep + 1, sizeof(*handles));
    int rc;

    read_info(&creation, info);
    creation.with_net = leaves_process(parent);
    if (MPIX_ENDPOINTS_OK == creation.error) {
        if (NULL == handles) {
            creation.error = MPIX_ENDPOINTS_ERR_RESOURCE;
        } else {
            make_endpoints(&creation);
        }
    }
    rc = agree(&creation);
    if (OMPI_SUCCESS == rc) {
        rc = build(&creation, handles);
    }
    if (OMPI_SUCCESS == rc) {
        if (0 < num_ep) {
            mca_pml_epml_ep_note_node(creation.endpoints_on_node);
        }
        for (int i = 0; i < num_ep; ++i) {
            comms[i] = handles[i];
        }
    }
    clean_up(&creation);
    free(handles);
    *error = creation.error;
    return rc;
}

const mpix_endpoints_pml_t mca_pml_epml_link = {
    .abi = MPIX_ENDPOINTS_LINK_ABI,
    .create_endpoints = create_endpoints,
    .is_endpoint_comm = mca_pml_epml_is_endpoint_comm,
    .context_ids = mca_pml_epml_context_ids,
    .comm_assign = mca_pml_epml_comm_assign,
};
