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
 * Should some members of a node be unable to share memory, which may turn out in step 2 or in step
 * 4, all steps from 2 on are taken again, with the network in its place.
 *
 * If the parent is an intercommunicator, both sides do all that together (pml_epml_meeting.h), and
 * each handle is one of an intercommunicator with a local communicator of its own.
 *
 * Whatever goes wrong at one member is known to all before the next step that communicates, and
 * everybody undoes what it has.
 *
 * Tests: create, create_errors, create_fatal, create_info, create_many, create_omp
 */

#include "ompi_config.h"

#include "../calls/calls.h"
#include "../engine/engine.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_agree.h"
#include "pml_epml_card.h"
#include "pml_epml_create.h"
#include "pml_epml_handle.h"
#include "pml_epml_meeting.h"

#include "ompi/attribute/attribute.h"
#include "ompi/constants.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_link.h"
#include "opal/util/info.h"

/** What is agreed on in step 2; all are maxima over the members. */
typedef struct agreement_t {
    int64_t error;       /**< mpix_endpoints_error_t */
    int64_t num_ep;      /**< largest count */
    int64_t minus_ep;    /**< minus the smallest count */
    int64_t card_size;   /**< largest card */
    int64_t no_promise;  /**< somebody does not promise the same count everywhere */
    int64_t context;     /**< of the drawings of the sides' first members; the others give 0 */
    mca_pml_epml_node_state_t node;
} agreement_t;

#define AGREEMENT_COUNT (sizeof(agreement_t) / sizeof(int64_t))

/** A group of the parent's, and the endpoints of its members. */
typedef struct side_t {
    ompi_group_t *group;
    int *counts;          /**< endpoints, by member */
    int total;
    unsigned char *cards; /**< total cards of agreed.card_size bytes, by rank */
    mca_pml_epml_peers_t *peers;
} side_t;

/** A creation in progress, at one member of the parent. */
typedef struct creation_t {
    ompi_communicator_t *parent;
    mca_pml_epml_meeting_t meeting;
    int num_ep;
    opal_info_t *info;       /**< the user's, or NULL */
    mca_pml_epml_level_t level;
    bool promise;
    unsigned int ways;       /**< that our endpoints need, set of EPML_WITH_* */
    mpix_endpoints_error_t error;

    mca_pml_epml_ep_t **eps; /**< num_ep, those made so far */
    agreement_t agreed;
    uint64_t local_context;  /**< intercommunicators: of own side's communicator */
    side_t local;
    side_t remote;           /**< if there are two */
    int first;               /**< rank of our endpoint 0 */
    int *card_counts;        /**< bytes of cards by member, then where they begin */
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

    creation->info = info;
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

/** Who takes part, and how far apart they are. */
static void read_parent(creation_t *creation)
{
    ompi_communicator_t *parent = creation->parent;

    creation->meeting = (mca_pml_epml_meeting_t){.comm = parent};
    creation->local.group = parent->c_local_group;
    creation->ways = mca_pml_epml_group_ways(parent->c_local_group);
    if (OMPI_COMM_IS_INTER(parent)) {
        creation->meeting.comm = parent->c_local_comm;
        creation->meeting.two_sided = true;
        creation->meeting.bridge = parent;
        /* Not OMPI_COMM_ALLREDUCE_TAG: by that the leaders of an MPI_Comm_idup talk, which may be
         * under way.  This one is of blocking calls on all of the communicator, of which creation
         * is one. */
        creation->meeting.tag = OMPI_COMM_BARRIER_TAG;
        creation->remote.group = parent->c_remote_group;
        creation->ways |= mca_pml_epml_group_ways(parent->c_remote_group);
    }
}

/* ---- step 1: endpoints ----------------------------------------------------------------------- */

static bool allocate_counts(side_t *side)
{
    const size_t members = NULL != side->group ? (size_t) side->group->grp_proc_count : 0;

    side->counts = malloc((members + 1) * sizeof(*side->counts));
    return NULL != side->counts;
}

/** @return how many could be made */
static int make_reserved(creation_t *creation)
{
    int rc;

    creation->eps = calloc((size_t) creation->num_ep + 1, sizeof(*creation->eps));
    if (NULL == creation->eps || !allocate_counts(&creation->local)
        || !allocate_counts(&creation->remote)
        || OMPI_SUCCESS != mca_pml_epml_serve()) {
        creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
        return 0;
    }
    for (int i = 0; i < creation->num_ep; ++i) {
        rc = mca_pml_epml_ep_create(creation->level, creation->ways, &creation->eps[i]);
        if (OMPI_SUCCESS != rc) {
            /* What cannot be had at all, and why, the transport has said; else say how far it
             * went. */
            if (0 < i || (OMPI_ERR_BAD_PARAM != rc && OMPI_ERR_NOT_AVAILABLE != rc)) {
                EPML_SHOW_HELP("no resources", true, i + 1, creation->num_ep,
                               0 != creation->ways ? "epshm, epofi" : "epshm",
                               opal_strerror(rc));
            }
            creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
            return i;
        }
    }
    return creation->num_ep;
}

static void make_endpoints(creation_t *creation)
{
    creation->error = mca_pml_epml_ep_reserve(creation->num_ep);
    if (MPIX_ENDPOINTS_OK == creation->error) {
        mca_pml_epml_ep_unreserve(creation->num_ep - make_reserved(creation));
    }
}

/* ---- step 2: agreement ----------------------------------------------------------------------- */

static int agree(creation_t *creation)
{
    agreement_t *agreed = &creation->agreed, own_side;
    int rc;

    *agreed = (agreement_t){.error = creation->error,
                            .num_ep = creation->num_ep,
                            .minus_ep = -(int64_t) creation->num_ep,
                            .card_size = (int64_t) sizeof(mca_pml_epml_card_t),
                            .no_promise = !creation->promise};
    for (int i = 0; NULL != creation->eps && i < creation->num_ep && NULL != creation->eps[i];
         ++i) {
        const int64_t size = (int64_t) mca_pml_epml_card_size(
            creation->eps[i], 0 != (creation->ways & EPML_WITH_NODE));

        agreed->card_size = agreed->card_size < size ? size : agreed->card_size;
        mca_pml_epml_node_state_add(&agreed->node, creation->eps[i], creation->ways);
    }
    if (0 == ompi_comm_rank(creation->parent)) {
        agreed->context = (int64_t) mca_pml_epml_context_ids(2);
    }
    rc = mca_pml_epml_meeting_max(&creation->meeting, (int64_t *) agreed, AGREEMENT_COUNT,
                                  (int64_t *) &own_side);
    if (OMPI_SUCCESS != rc) {
        creation->error = MPIX_ENDPOINTS_ERR_INTERN;
        return rc;
    }
    creation->local_context = (uint64_t) own_side.context + 1;
    creation->error = (mpix_endpoints_error_t) agreed->error;
    if (MPIX_ENDPOINTS_OK == creation->error && !agreed->no_promise
        && agreed->num_ep != -agreed->minus_ep) {
        creation->error = MPIX_ENDPOINTS_ERR_PROMISE;
    }
    return MPIX_ENDPOINTS_OK == creation->error ? OMPI_SUCCESS : OMPI_ERROR;
}

/** Somebody cannot use the node side: nobody does, and those who were to be reached by it are
 * reached by the network. */
static void give_up_node(creation_t *creation)
{
    if (0 != (creation->ways & EPML_WITH_NODE)) {
        creation->ways = EPML_WITH_NET;
    }
    for (int i = 0; i < creation->num_ep; ++i) {
        mca_pml_epml_ep_drop_node(creation->eps[i]);
        if (OMPI_SUCCESS != mca_pml_epml_ep_need(creation->eps[i], creation->ways)) {
            creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
        }
    }
}

/** Agree, and once more if some have the node side and others have not. */
static int agree_on_ways(creation_t *creation)
{
    int rc = agree(creation);

    if (OMPI_SUCCESS == rc && mca_pml_epml_node_state_is_split(&creation->agreed.node)) {
        give_up_node(creation);
        rc = agree(creation);
    }
    return rc;
}

/* ---- step 3: counts, names, addresses -------------------------------------------------------- */

static void add_counts(side_t *side)
{
    for (int i = 0; i < side->group->grp_proc_count; ++i) {
        side->total += side->counts[i];
    }
}

static int gather_counts(creation_t *creation)
{
    ompi_communicator_t *comm = creation->meeting.comm;
    side_t *local = &creation->local, *remote = &creation->remote;
    const bool two_sided = creation->meeting.two_sided;
    const int size = local->group->grp_proc_count;
    const int remote_size = two_sided ? remote->group->grp_proc_count : 0;
    int rc = OMPI_SUCCESS;

    if (creation->agreed.no_promise) {
        rc = comm->c_coll->coll_allgather(&creation->num_ep, 1, MPI_INT, local->counts, 1, MPI_INT,
                                          comm, comm->c_coll->coll_allgather_module);
        if (OMPI_SUCCESS == rc && two_sided) {
            rc = mca_pml_epml_meeting_swap(&creation->meeting, local->counts,
                                           (size_t) size * sizeof(int), remote->counts,
                                           (size_t) remote_size * sizeof(int));
        }
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    } else {
        for (int i = 0; i < size; ++i) {
            local->counts[i] = creation->num_ep;
        }
        for (int i = 0; i < remote_size; ++i) {
            remote->counts[i] = creation->num_ep;
        }
    }
    add_counts(local);
    if (two_sided) {
        add_counts(remote);
    }
    for (int i = 0; i < ompi_comm_rank(creation->parent); ++i) {
        creation->first += local->counts[i];
    }
    return OMPI_SUCCESS;
}

static mca_pml_epml_card_t *card_of(const creation_t *creation, const side_t *side, int rank)
{
    return (mca_pml_epml_card_t *) (side->cards
                                    + (size_t) rank * (size_t) creation->agreed.card_size);
}

/** @return false: no memory, or more than one message holds */
static bool allocate_cards(const creation_t *creation, side_t *side)
{
    side->cards = calloc((size_t) side->total + 1, (size_t) creation->agreed.card_size);
    return NULL != side->cards && INT_MAX / creation->agreed.card_size >= side->total;
}

/** Memory for all cards, ours filled in.  Every member must have it before any goes on. */
static int prepare_cards(creation_t *creation)
{
    const int size = creation->local.group->grp_proc_count;
    opal_process_name_t own = ompi_group_get_proc_name(creation->local.group,
                                                       ompi_comm_rank(creation->parent));
    int64_t failed;

    creation->card_counts = malloc(2 * (size_t) size * sizeof(*creation->card_counts));
    failed = NULL == creation->card_counts || !allocate_cards(creation, &creation->local)
             || !allocate_cards(creation, &creation->remote);
    if (OMPI_SUCCESS != mca_pml_epml_meeting_max(&creation->meeting, &failed, 1, NULL)) {
        failed = 1;
    }
    if (0 != failed) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < creation->num_ep; ++i) {
        opal_process_name_t name = 0 == i ? own : mca_pml_epml_name_new();

        mca_pml_epml_card_write(card_of(creation, &creation->local, creation->first + i),
                                creation->eps[i], 0 != (creation->ways & EPML_WITH_NODE), &name);
    }
    return OMPI_SUCCESS;
}

/** The cards of own side. */
static int gather_own_cards(creation_t *creation)
{
    ompi_communicator_t *comm = creation->meeting.comm;
    side_t *local = &creation->local;
    const int size = local->group->grp_proc_count;
    const int bytes = (int) creation->agreed.card_size;

    if (1 == size) {
        return OMPI_SUCCESS;
    }
    if (!creation->agreed.no_promise) {
        return comm->c_coll->coll_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, local->cards,
                                            creation->num_ep * bytes, MPI_BYTE, comm,
                                            comm->c_coll->coll_allgather_module);
    }
    for (int i = 0, displacement = 0; i < size; ++i) {
        creation->card_counts[i] = local->counts[i] * bytes;
        creation->card_counts[size + i] = displacement;
        displacement += creation->card_counts[i];
    }
    return comm->c_coll->coll_allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, local->cards,
                                         EPML_COMPAT_COUNTS(creation->card_counts),
                                         EPML_COMPAT_DISPS(creation->card_counts + size),
                                         MPI_BYTE, comm, comm->c_coll->coll_allgatherv_module);
}

static int gather_cards(creation_t *creation)
{
    const size_t bytes = (size_t) creation->agreed.card_size;
    int rc = gather_own_cards(creation);

    if (OMPI_SUCCESS != rc || !creation->meeting.two_sided) {
        return rc;
    }
    return mca_pml_epml_meeting_swap(&creation->meeting, creation->local.cards,
                                     (size_t) creation->local.total * bytes,
                                     creation->remote.cards,
                                     (size_t) creation->remote.total * bytes);
}

/* ---- step 4: handles ------------------------------------------------------------------------- */

/** Can this be the card of endpoint number index of a member? */
static bool card_belongs_to(const creation_t *creation, const mca_pml_epml_card_t *card, int index,
                            const ompi_proc_t *member)
{
    const opal_process_name_t *name = &member->super.proc_name;

    return mca_pml_epml_card_is_sound(card, (size_t) creation->agreed.card_size)
           && (0 == index ? card->name.vpid == name->vpid
                          : mca_pml_epml_same_process(&card->name, name));
}

static int make_peers(creation_t *creation, side_t *side)
{
    int rank = 0;

    side->peers = mca_pml_epml_peers_create(side->total);
    if (NULL == side->peers) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < side->group->grp_proc_count; ++i) {
        const ompi_proc_t *member = ompi_group_peer_lookup(side->group, i);

        if (OPAL_PROC_ON_LOCAL_NODE(member->super.proc_flags)) {
            creation->endpoints_on_node += side->counts[i];
        }
        for (int j = 0; j < side->counts[i]; ++j, ++rank) {
            const mca_pml_epml_card_t *card = card_of(creation, side, rank);
            int rc;

            if (!card_belongs_to(creation, card, j, member)) {
                return OMPI_ERR_BAD_PARAM;
            }
            rc = mca_pml_epml_card_peer(card, creation->eps[0], &side->peers->member[rank]);
            if (OMPI_SUCCESS != rc) {
                return rc;
            }
        }
    }
    return OMPI_SUCCESS;
}

static int set_info(const creation_t *creation, ompi_communicator_t *comm)
{
    int rc = opal_info_set(comm->super.s_info, "mpix_thread_level", level_names[creation->level]);

    if (OMPI_SUCCESS == rc) {
        rc = opal_info_set(comm->super.s_info, "same_num_ep",
                           creation->promise ? "true" : "false");
    }
    return OMPI_SUCCESS == rc ? mca_pml_epml_hints_copy(comm, creation->info) : rc;
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

/** The communicator of one of our endpoints; the caller frees what it gets after a failure, too. */
static int make_handle(const creation_t *creation, int index, ompi_communicator_t **comm_p)
{
    const bool inter = creation->meeting.two_sided;
    ompi_communicator_t *parent = creation->parent;
    int rank = creation->first + index;
    int rc = mca_pml_epml_handle_intra(
        parent, creation->eps[index],
        inter ? creation->local_context : (uint64_t) creation->agreed.context,
        creation->local.peers, rank, comm_p);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    mca_pml_epml_ep_introduce(creation->eps[index], creation->local.peers->member[rank]);
    if (inter) {
        rc = mca_pml_epml_handle_inter(*comm_p, (uint64_t) creation->agreed.context,
                                       creation->remote.peers, comm_p);
    }
    if (OMPI_SUCCESS == rc) {
        rc = set_info(creation, *comm_p);
    }
    if (OMPI_SUCCESS == rc) {
        rc = set_predefined_attributes(*comm_p);
    }
    if (OMPI_SUCCESS == rc) {
        snprintf((*comm_p)->c_name, MPI_MAX_OBJECT_NAME, "MPI COMM %s ENDPOINTS FROM %s",
                 ompi_comm_print_cid(*comm_p), ompi_comm_print_cid(parent));
    }
    return rc;
}

static int make_handles(creation_t *creation, ompi_communicator_t **comms)
{
    int rc = OMPI_SUCCESS;

    if (0 < creation->num_ep) {
        rc = make_peers(creation, &creation->local);
        if (OMPI_SUCCESS == rc && creation->meeting.two_sided) {
            rc = make_peers(creation, &creation->remote);
        }
        if (OMPI_SUCCESS == rc) {
            /* Where the parent is of endpoints, others here are making their handles, too. */
            mca_pml_epml_peers_intern((uint64_t) creation->agreed.context, &creation->local.peers,
                                      creation->meeting.two_sided ? &creation->remote.peers
                                                                  : NULL);
        }
    }
    for (int i = 0; OMPI_SUCCESS == rc && i < creation->num_ep; ++i) {
        rc = make_handle(creation, i, &comms[i]);
    }
    return rc;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/** What cards say. */
static void forget_cards(side_t *side)
{
    if (NULL != side->peers) {
        mca_pml_epml_peers_release(side->peers);
        side->peers = NULL;
    }
    free(side->cards);
    side->cards = NULL;
    side->total = 0;
}

static void free_side(side_t *side)
{
    forget_cards(side);
    free(side->counts);
}

/** Give up what is only needed while creating; the handles hold what they need. */
static void clean_up(creation_t *creation)
{
    for (int i = 0; NULL != creation->eps && i < creation->num_ep; ++i) {
        if (NULL != creation->eps[i]) {
            mca_pml_epml_ep_release(creation->eps[i]);
        }
    }
    free_side(&creation->local);
    free_side(&creation->remote);
    free(creation->eps);
    free(creation->card_counts);
}

/** Others may have agreed that all is well: they are not to wait for this member's endpoints. */
static void leave_handles(const creation_t *creation, ompi_communicator_t **handles)
{
    for (int i = 0; i < creation->num_ep; ++i) {
        if (NULL != handles[i]) {
            mca_pml_epml_comm_leave(handles[i]);
        }
    }
}

/** Free the handles made so far. */
static void free_handles(const creation_t *creation, ompi_communicator_t **handles)
{
    for (int i = 0; i < creation->num_ep; ++i) {
        if (NULL != handles[i]) {
            (void) ompi_comm_free(&handles[i]);
            handles[i] = NULL;
        }
    }
}

/** Steps 3 and 4.
 *
 * @param[out] again_p  somebody cannot share memory with somebody on its node
 * @return OMPI_SUCCESS only if every member has its handles */
static int build(creation_t *creation, ompi_communicator_t **handles, bool *again_p)
{
    int64_t outcome[2];
    int rc = gather_counts(creation), agreed;

    if (OMPI_SUCCESS == rc && creation->meeting.two_sided
        && (0 == creation->local.total || 0 == creation->remote.total)) {
        /* A side without endpoints: there is nobody to talk to.  Everybody knows. */
        for (int i = 0; i < creation->num_ep; ++i) {
            handles[i] = MPI_COMM_NULL;
        }
        return OMPI_SUCCESS;
    }
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
    outcome[0] = OMPI_SUCCESS != rc && OMPI_ERR_UNREACH != rc;
    outcome[1] = OMPI_ERR_UNREACH == rc;
    agreed = mca_pml_epml_meeting_max(&creation->meeting, outcome, 2, NULL);
    if (OMPI_SUCCESS != agreed) {
        if (0 == outcome[0]) {
            leave_handles(creation, handles);
        }
        outcome[0] = 1;
        rc = OMPI_SUCCESS == rc ? agreed : rc;
    }
    if (0 == outcome[0] && 0 == outcome[1]) {
        return OMPI_SUCCESS;
    }
    free_handles(creation, handles);
    *again_p = 0 == outcome[0];
    if (!*again_p) {
        creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
    }
    return OMPI_SUCCESS != rc ? rc : OMPI_ERROR;
}

/** The same once more, without the node side. */
static int build_again(creation_t *creation, ompi_communicator_t **handles)
{
    bool again = false;
    int rc;

    forget_cards(&creation->local);
    forget_cards(&creation->remote);
    free(creation->card_counts);
    creation->card_counts = NULL;
    creation->first = 0;
    creation->endpoints_on_node = 0;
    give_up_node(creation);
    rc = agree(creation);
    if (OMPI_SUCCESS == rc) {
        rc = build(creation, handles, &again);
    }
    if (again) { /* of a node side that nobody offered */
        creation->error = MPIX_ENDPOINTS_ERR_INTERN;
    }
    return rc;
}

static int create_endpoints(ompi_communicator_t *parent, int num_ep, opal_info_t *info,
                            mpix_endpoints_error_t local_error, ompi_communicator_t **comms,
                            mpix_endpoints_error_t *error)
{
    creation_t creation = {.parent = parent, .num_ep = num_ep, .error = local_error};
    ompi_communicator_t **handles = calloc((size_t) num_ep + 1, sizeof(*handles));
    bool again = false;
    int rc;

    *error = MPIX_ENDPOINTS_OK;
    if (!mca_pml_epml_group_is_of_this_job(parent->c_local_group)
        || !mca_pml_epml_group_is_of_this_job(parent->c_remote_group)) {
        free(handles);
        return MPI_ERR_UNSUPPORTED_OPERATION; /* as all members see */
    }
    read_info(&creation, info);
    read_parent(&creation);
    if (MPIX_ENDPOINTS_OK == creation.error) {
        if (NULL == handles) {
            creation.error = MPIX_ENDPOINTS_ERR_RESOURCE;
        } else {
            make_endpoints(&creation);
        }
    }
    rc = agree_on_ways(&creation);
    if (OMPI_SUCCESS == rc) {
        rc = build(&creation, handles, &again);
    }
    if (again) {
        rc = build_again(&creation, handles);
    }
    if (OMPI_SUCCESS == rc) {
        if (0 < creation.endpoints_on_node) {
            mca_pml_epml_ep_note_node(creation.endpoints_on_node);
        }
        for (int i = 0; i < num_ep; ++i) {
            comms[i] = handles[i];
        }
        if (0 < num_ep && OPAL_UNLIKELY(0 < mca_pml_epml_component.verbose)) {
            mca_pml_epml_report_once();
        }
    }
    clean_up(&creation);
    free(handles);
    /* Of a member that is lost the code says all there is to say. */
    *error = MPI_ERR_PROC_FAILED == rc ? MPIX_ENDPOINTS_OK : creation.error;
    return rc;
}

const mpix_endpoints_pml_t mca_pml_epml_link = {
    .abi = MPIX_ENDPOINTS_LINK_ABI,
    .create_endpoints = create_endpoints,
    .is_endpoint_comm = mca_pml_epml_is_endpoint_comm,
    .context_ids = mca_pml_epml_context_ids,
    .comm_assign = mca_pml_epml_comm_assign,
    .agree_send = mca_pml_epml_agree_send,
    .agree_recv = mca_pml_epml_agree_recv,
    .comm_leave = mca_pml_epml_comm_leave,
    .intercomm_create = mca_pml_epml_intercomm_create,
    .report = mca_pml_epml_report,
};
