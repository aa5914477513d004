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
 * The members of a file that are in this process.  What they share is made when the file is opened,
 * by the first of them, and goes with the last.  It is found by the state of the file (io.c): no
 * list of all files is searched.
 *
 * Who waits here waits for threads of its own process that read or write, and does not turn its
 * endpoint, as it would not if it were reading or writing itself: so it sleeps, and leaves them the
 * cores.
 *
 * Tests: file_blocks (also tsan), file_death, file_many, file_nomem
 */

#include "ompi_config.h"

#include "../fbtl/fbtl.h"
#include "mpiext_endpoints_local_group.h"
#include "mpiext_endpoints_reduce.h"

#if MPIX_ENDPOINTS_FILES

#    include <pthread.h>
#    include <stdlib.h>

struct mpix_endpoints_crew_t {
    _Atomic int users;
    int count;
    pthread_mutex_t lock;
    pthread_cond_t all_there;
    int there;           /**< of those who wait, under the lock */
    unsigned generation; /**< of waits, under the lock */
    mpix_endpoints_crewman_t members[];
};

/** A file's. */
typedef struct entry_t {
    mpix_endpoints_io_state_t state; /**< first: by which this is found */
    uint64_t number;
    mpix_endpoints_crew_view_t view;
} entry_t;

static mpix_endpoints_crew_t *new_crew(int count)
{
    mpix_endpoints_crew_t *crew = calloc(1,
                                         sizeof(*crew) + (size_t) count * sizeof(crew->members[0]));

    if (NULL != crew) {
        /* Relaxed: the others are told of it by a message. */
        atomic_store_explicit(&crew->users, count, memory_order_relaxed);
        crew->count = count;
        pthread_mutex_init(&crew->lock, NULL);
        pthread_cond_init(&crew->all_there, NULL);
    }
    return crew;
}

static void free_crew(mpix_endpoints_crew_t *crew)
{
    if (NULL != crew) {
        pthread_cond_destroy(&crew->all_there);
        pthread_mutex_destroy(&crew->lock);
        free(crew);
    }
}

static void leave(mpix_endpoints_crew_t *crew)
{
    /* Acquire and release: all that others have done with it before it is freed; partner: the same
     * here, by the others. */
    if (1 == atomic_fetch_sub_explicit(&crew->users, 1, memory_order_acq_rel)) {
        free_crew(crew);
    }
}

/** Who is in this process?  @param[out] first  rank of the first one */
static void look(const ompio_file_t *file, entry_t *entry, int *first)
{
    const mpix_endpoints_door_t *door = mpix_endpoints_table()->door;
    mpix_endpoints_crew_view_t *view = &entry->view;

    *first = file->f_rank;
    entry->state.is_on_node = true;
    for (int rank = 0; rank < file->f_size; ++rank) {
        mpix_endpoints_place_t place;

        if (!door->place(file->f_comm, rank, &place)) {
            place = (mpix_endpoints_place_t){.in_process = rank == file->f_rank};
        }
        entry->state.is_on_node = entry->state.is_on_node && (place.on_node || place.in_process);
        if (place.in_process) {
            *first = rank < *first ? rank : *first;
            view->index += rank < file->f_rank;
            ++view->count;
        }
    }
}

/** What each member tells all others. */
enum {
    SAYS_CREW,  /**< the address of its crew, if it is the first one; or FAILED */
    SAYS_FIRST, /**< the rank of the first one: by which processes are told from each other */
    SAYS_COUNT
};

#    define FAILED (-1)

/**
 * Which processes there are, and who of each is in this member's channel.
 *
 * @param[in]  said   of all ranks; written to
 * @param[out] ranks  of the own channel, by processes; twice as many as there are members
 */
static void find_channel(const ompio_file_t *file, mpix_endpoints_crew_view_t *view, int64_t *said,
                         int *ranks)
{
    int *const members = ranks + file->f_size;
    const int first = (int) said[file->f_rank * SAYS_COUNT + SAYS_FIRST];

    for (int rank = 0; rank < file->f_size; ++rank) {
        int64_t *says = &said[rank * SAYS_COUNT];
        int process;

        if (rank == says[SAYS_FIRST]) {
            says[SAYS_CREW] = view->processes; /* its number, from now on */
            members[view->processes++] = 0;
        }
        process = (int) said[says[SAYS_FIRST] * SAYS_COUNT + SAYS_CREW];
        if (view->index == members[process]++) {
            ranks[process] = rank;
        }
    }
    view->process = (int) said[first * SAYS_COUNT + SAYS_CREW];
    view->channels = MPIX_ENDPOINTS_CREW_CHANNELS;
    for (int process = 0; process < view->processes; ++process) {
        view->channels = members[process] < view->channels ? members[process] : view->channels;
    }
}

/** The first member of a crew makes it.  @param[out] says  to all members */
static void offer(const ompio_file_t *file, entry_t *entry, int64_t says[SAYS_COUNT])
{
    int first = file->f_rank;

    says[SAYS_CREW] = NULL == entry ? FAILED : 0;
    if (NULL != entry) {
        look(file, entry, &first);
        if (first == file->f_rank) {
            entry->view.crew = new_crew(entry->view.count);
            says[SAYS_CREW] = NULL == entry->view.crew ? FAILED
                                                       : (int64_t) (intptr_t) entry->view.crew;
        }
    }
    says[SAYS_FIRST] = first;
}

/** @param[in] rc  an error of this member's, or OMPI_SUCCESS  @return of all members */
static int share(const ompio_file_t *file, entry_t *entry, int rc)
{
    ompi_communicator_t *comm = file->f_comm;
    const size_t members = (size_t) file->f_size;
    int64_t mine[SAYS_COUNT], *said = malloc(members * sizeof(mine));
    int *ranks = malloc(2 * members * sizeof(*ranks));

    offer(file, entry, mine);
    if (OMPI_SUCCESS == rc && (NULL == said || NULL == ranks || FAILED == mine[SAYS_CREW])) {
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = mpix_endpoints_reduce_error(comm, rc);
    if (OMPI_SUCCESS != rc && NULL != entry) {
        free_crew(entry->view.crew); /* which nobody has heard of */
    }
    if (OMPI_SUCCESS == rc) {
        rc = comm->c_coll->coll_allgather(mine, SAYS_COUNT, &ompi_mpi_int64_t.dt, said, SAYS_COUNT,
                                          &ompi_mpi_int64_t.dt, comm,
                                          comm->c_coll->coll_allgather_module);
    }
    if (OMPI_SUCCESS == rc) {
        entry->view.crew
            = (mpix_endpoints_crew_t *) (intptr_t) said[mine[SAYS_FIRST] * SAYS_COUNT + SAYS_CREW];
        entry->view.members = entry->view.crew->members;
        entry->view.members[entry->view.index].rank = file->f_rank;
        find_channel(file, &entry->view, said, ranks);
        entry->view.ranks = ranks;
        ranks = NULL;
    }
    free(ranks);
    free(said);
    return rc;
}

/** A handle's calls are one at a time, so there is no lock.  @return NULL: it has none */
static entry_t *entry_of(const ompio_file_t *file)
{
    return (entry_t *) mpix_endpoints_io_state(file);
}

int mpix_endpoints_crew_make(ompio_file_t *file, int rc)
{
    entry_t *entry = NULL;

    if (NULL != entry_of(file)) {
        return mpix_endpoints_reduce_error(file->f_comm, rc); /* all of its members have one */
    }
    if (OMPI_SUCCESS == rc) {
        entry = calloc(1, sizeof(*entry));
        if (NULL != entry && !mpix_endpoints_io_state_attach(file, &entry->state)) {
            free(entry);
            entry = NULL;
        }
    }
    rc = share(file, entry, rc);
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

void mpix_endpoints_crew_end(ompio_file_t *file)
{
    entry_t *entry = entry_of(file);

    if (NULL != entry) {
        mpix_endpoints_io_state_detach(file);
        leave(entry->view.crew);
        free(entry->view.ranks);
        free(entry);
    }
}

bool mpix_endpoints_crew_of(const ompio_file_t *file, mpix_endpoints_crew_view_t *view)
{
    const entry_t *entry = entry_of(file);

    if (NULL != entry) {
        *view = entry->view;
    }
    return NULL != entry;
}

bool mpix_endpoints_crew_met(const ompio_file_t *file, const mpix_endpoints_crew_view_t *view,
                             bool well)
{
    const mpix_endpoints_door_t *door = mpix_endpoints_table()->door;
    mpix_endpoints_crewman_t *members = view->members;
    const uint64_t number = 2 * ++*view->number_p;

    /* Release: what this member shows; partner: the wait below, an acquire, of the others. */
    atomic_store_explicit(&members[view->index].met, well ? number + 1 : number,
                          memory_order_release);
    /* A meeting that has gone well has been begun by all: they come here, too.  Who has failed goes
     * on, and may even have failed in later calls by now, but not have met well in one. */
    for (int i = 0; well && i < view->count; ++i) {
        (void) door->wait_word(file->f_comm, members[i].rank, &members[i].met, number);
        /* Relaxed: seen by wait_word already. */
        well = number + 1 == atomic_load_explicit(&members[i].met, memory_order_relaxed);
    }
    return well;
}

void mpix_endpoints_crew_wait(const mpix_endpoints_crew_view_t *view)
{
    mpix_endpoints_crew_t *crew = view->crew;
    unsigned generation;

    if (1 == crew->count) {
        return;
    }
    pthread_mutex_lock(&crew->lock);
    generation = crew->generation;
    if (crew->count == ++crew->there) {
        crew->there = 0;
        ++crew->generation;
        pthread_cond_broadcast(&crew->all_there);
    }
    while (generation == crew->generation) {
        pthread_cond_wait(&crew->all_there, &crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
}

#endif
