/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The process-local group of a file: its members in this process.  The first of them makes it when
 * the file is opened, the last one frees it.  It is found by the state of the file (io.c): no list
 * of all files is searched.
 *
 * In the barrier a member waits for threads of its own process that read or write.  It does not
 * progress its endpoint, as it would not if it were reading or writing itself, but sleeps, and
 * leaves the cores to them.
 *
 * Tests: file_blocks (also tsan), file_death, file_many, file_nomem
 */

#include "ompi_config.h"

#include "../fbtl/fbtl.h"
#include "mpiext_endpoints_client.h"
#include "mpiext_endpoints_local_group.h"

#if MPIX_ENDPOINTS_FILES

#    include <pthread.h>
#    include <stdlib.h>

struct mpix_endpoints_local_group_t {
    _Atomic int users;
    int count;
    pthread_mutex_t lock;
    pthread_cond_t all_there;
    int there;           /**< members that wait, under the lock */
    unsigned generation; /**< of barriers, under the lock */
    mpix_endpoints_local_member_t members[];
};

/** What a member keeps of a file. */
typedef struct entry_t {
    mpix_endpoints_io_state_t state; /**< first, as it leads here */
    uint64_t number;
    mpix_endpoints_local_view_t view;
} entry_t;

static mpix_endpoints_local_group_t *group_new(int count)
{
    mpix_endpoints_local_group_t *group
        = calloc(1, sizeof(*group) + (size_t) count * sizeof(group->members[0]));

    if (NULL != group) {
        /* Relaxed: published by a message. */
        atomic_store_explicit(&group->users, count, memory_order_relaxed);
        group->count = count;
        pthread_mutex_init(&group->lock, NULL);
        pthread_cond_init(&group->all_there, NULL);
    }
    return group;
}

static void group_free(mpix_endpoints_local_group_t *group)
{
    if (NULL != group) {
        pthread_cond_destroy(&group->all_there);
        pthread_mutex_destroy(&group->lock);
        free(group);
    }
}

static void group_release(mpix_endpoints_local_group_t *group)
{
    /* Acquire and release: all that others have done with it before it is freed; partner: the same
     * here, by the others. */
    if (1 == atomic_fetch_sub_explicit(&group->users, 1, memory_order_acq_rel)) {
        group_free(group);
    }
}

/** Count the members in this process.  @param[out] first  rank of the first one */
static void group_count_members(const ompio_file_t *file, entry_t *entry, int *first)
{
    const mpix_endpoints_engine_t *engine = mpix_endpoints_client_engine();
    mpix_endpoints_local_view_t *view = &entry->view;

    *first = file->f_rank;
    entry->state.is_on_node = true;
    for (int rank = 0; rank < file->f_size; ++rank) {
        mpix_endpoints_locality_t place;

        if (!engine->locality(file->f_comm, rank, &place)) {
            place = (mpix_endpoints_locality_t){.in_process = rank == file->f_rank};
        }
        entry->state.is_on_node = entry->state.is_on_node && (place.on_node || place.in_process);
        if (place.in_process) {
            *first = rank < *first ? rank : *first;
            view->index += rank < file->f_rank;
            ++view->count;
        }
    }
}

/** What each member contributes to the allgather. */
enum {
    OFFER_GROUP, /**< the address of its group, if it is the first member; or FAILED */
    OFFER_FIRST, /**< the rank of the first member: identifies the process */
    OFFER_COUNT
};

#    define FAILED (-1)

/**
 * Number the processes, and find the member of each that is in this member's channel.
 *
 * @param[in]  offers   of all ranks; written to
 * @param[out] ranks  of the own channel, by processes; twice as many as there are members
 */
static void group_find_channel(const ompio_file_t *file, mpix_endpoints_local_view_t *view,
                               int64_t *offers, int *ranks)
{
    int *const members = ranks + file->f_size;
    const int first = (int) offers[file->f_rank * OFFER_COUNT + OFFER_FIRST];

    for (int rank = 0; rank < file->f_size; ++rank) {
        int64_t *offer = &offers[rank * OFFER_COUNT];
        int process;

        if (rank == offer[OFFER_FIRST]) {
            offer[OFFER_GROUP] = view->processes; /* from now on the process's number */
            members[view->processes++] = 0;
        }
        process = (int) offers[offer[OFFER_FIRST] * OFFER_COUNT + OFFER_GROUP];
        if (view->index == members[process]++) {
            ranks[process] = rank;
        }
    }
    view->process = (int) offers[first * OFFER_COUNT + OFFER_GROUP];
    view->channels = MPIX_ENDPOINTS_LOCAL_CHANNELS;
    for (int process = 0; process < view->processes; ++process) {
        view->channels = members[process] < view->channels ? members[process] : view->channels;
    }
}

/** The first member of a group makes it.  @param[out] offer  this member's contribution */
static void group_offer(const ompio_file_t *file, entry_t *entry, int64_t offer[OFFER_COUNT])
{
    int first = file->f_rank;

    offer[OFFER_GROUP] = NULL == entry ? FAILED : 0;
    if (NULL != entry) {
        group_count_members(file, entry, &first);
        if (first == file->f_rank) {
            entry->view.group = group_new(entry->view.count);
            offer[OFFER_GROUP] = NULL == entry->view.group ? FAILED
                                                           : (int64_t) (intptr_t) entry->view.group;
        }
    }
    offer[OFFER_FIRST] = first;
}

/** @param[in] rc  an error of this member's, or OMPI_SUCCESS  @return of all members */
static int group_share(const ompio_file_t *file, entry_t *entry, int rc)
{
    ompi_communicator_t *comm = file->f_comm;
    const size_t members = (size_t) file->f_size;
    int64_t mine[OFFER_COUNT], *offers = malloc(members * sizeof(mine));
    int *ranks = malloc(2 * members * sizeof(*ranks));

    group_offer(file, entry, mine);
    if (OMPI_SUCCESS == rc && (NULL == offers || NULL == ranks || FAILED == mine[OFFER_GROUP])) {
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = mpix_endpoints_reduce_error(comm, rc);
    if (OMPI_SUCCESS != rc && NULL != entry) {
        group_free(entry->view.group); /* which no other member knows */
    }
    if (OMPI_SUCCESS == rc) {
        rc = comm->c_coll->coll_allgather(mine, OFFER_COUNT, &ompi_mpi_int64_t.dt, offers,
                                          OFFER_COUNT, &ompi_mpi_int64_t.dt, comm,
                                          comm->c_coll->coll_allgather_module);
    }
    if (OMPI_SUCCESS == rc) {
        entry->view.group = (mpix_endpoints_local_group_t *) (intptr_t)
            offers[mine[OFFER_FIRST] * OFFER_COUNT + OFFER_GROUP];
        entry->view.members = entry->view.group->members;
        entry->view.members[entry->view.index].rank = file->f_rank;
        group_find_channel(file, &entry->view, offers, ranks);
        entry->view.ranks = ranks;
        ranks = NULL;
    }
    free(ranks);
    free(offers);
    return rc;
}

/** No lock: calls on a handle are serialized.  @return NULL: the file has none */
static entry_t *group_entry(const ompio_file_t *file)
{
    return (entry_t *) mpix_endpoints_io_state(file);
}

int mpix_endpoints_local_group_join(ompio_file_t *file, int rc)
{
    entry_t *entry = NULL;

    if (NULL != group_entry(file)) {
        return mpix_endpoints_reduce_error(file->f_comm, rc); /* at all members alike */
    }
    if (OMPI_SUCCESS == rc) {
        entry = calloc(1, sizeof(*entry));
        if (NULL != entry && !mpix_endpoints_io_state_attach(file, &entry->state)) {
            free(entry);
            entry = NULL;
        }
    }
    rc = group_share(file, entry, rc);
    if (OMPI_SUCCESS != rc) {
        if (NULL != entry) {
            mpix_endpoints_io_state_detach(file);
        }
        free(entry);
        return rc;
    }
    entry->view.number_p = &entry->number;
    return OMPI_SUCCESS;
}

void mpix_endpoints_local_group_leave(ompio_file_t *file)
{
    entry_t *entry = group_entry(file);

    if (NULL != entry) {
        mpix_endpoints_io_state_detach(file);
        group_release(entry->view.group);
        free(entry->view.ranks);
        free(entry);
    }
}

bool mpix_endpoints_local_group_view(const ompio_file_t *file, mpix_endpoints_local_view_t *view)
{
    const entry_t *entry = group_entry(file);

    if (NULL != entry) {
        *view = entry->view;
    }
    return NULL != entry;
}

bool mpix_endpoints_local_group_all_well(const ompio_file_t *file,
                                         const mpix_endpoints_local_view_t *view, bool well)
{
    const mpix_endpoints_engine_t *engine = mpix_endpoints_client_engine();
    mpix_endpoints_local_member_t *members = view->members;
    const uint64_t number = 2 * ++*view->number_p;

    /* Release: what this member publishes; partner: the wait below, an acquire, of the others. */
    atomic_store_explicit(&members[view->index].met, well ? number + 1 : number,
                          memory_order_release);
    /* A reduction that has succeeded here has been begun by all: they come here, too.  A member at
     * which it has failed does not wait, and may have failed in later calls by now, but cannot have
     * succeeded in one. */
    for (int i = 0; well && i < view->count; ++i) {
        (void) engine->wait_flag(file->f_comm, members[i].rank, &members[i].met, number);
        /* Relaxed: wait_word has read it. */
        well = number + 1 == atomic_load_explicit(&members[i].met, memory_order_relaxed);
    }
    return well;
}

void mpix_endpoints_local_group_barrier(const mpix_endpoints_local_view_t *view)
{
    mpix_endpoints_local_group_t *group = view->group;
    unsigned generation;

    if (1 == group->count) {
        return;
    }
    pthread_mutex_lock(&group->lock);
    generation = group->generation;
    if (group->count == ++group->there) {
        group->there = 0;
        ++group->generation;
        pthread_cond_broadcast(&group->all_there);
    }
    while (generation == group->generation) {
        pthread_cond_wait(&group->all_there, &group->lock);
    }
    pthread_mutex_unlock(&group->lock);
}

#endif
