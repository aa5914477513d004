/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The word of a shared file pointer: in the process's memory if all members are there, in a mapped
 * file of the job's session folder if they are on one node.  That file has a unique name, and is
 * unlinked as soon as all have mapped it.  If members are on several nodes rank 0 has the word
 * (sharedfp_remote.c).
 *
 * Tests: file_shared, file_random (also cluster)
 */

#include "ompi_config.h"

#include "../members/members.h"
#include "sharedfp.h"

#include "ompi/runtime/ompi_rte.h"
#include "opal/util/proc.h"

#if MPIX_ENDPOINTS_FILES

#    include <errno.h>
#    include <fcntl.h>
#    include <limits.h>
#    include <stdio.h>
#    include <stdlib.h>
#    include <string.h>
#    include <sys/mman.h>
#    include <unistd.h>

/** What rank 0 broadcasts. */
typedef struct offer_t {
    uint64_t address;    /**< in its process, if all are there; 0: none */
    int32_t error;       /**< or OMPI_SUCCESS */
    int32_t is_remote;   /**< they are on several nodes */
    char name[PATH_MAX]; /**< of a file on its node, if all are there; or "" */
} offer_t;

/** Are all members in this process, or on this node? */
static void word_locality(ompi_communicator_t *comm, bool *in_process, bool *on_node)
{
    const mpix_endpoints_engine_t *engine = mpix_endpoints_client_engine();

    *in_process = *on_node = true;
    for (int rank = 0; rank < ompi_comm_size(comm) && *on_node; ++rank) {
        mpix_endpoints_locality_t place;

        if (!engine->locality(comm, rank, &place)) {
            *in_process = *on_node = false;
        } else {
            *in_process = *in_process && place.in_process;
            *on_node = place.on_node;
        }
    }
}

/** Create a file for the word.  @param[out] offer  name and error */
static void word_create(offer_t *offer)
{
    const char *folder = opal_process_info.job_session_dir;
    int fd, error;

    snprintf(offer->name, sizeof(offer->name), "%s/endpoints-file-XXXXXX",
             NULL == folder ? "/tmp" : folder);
    fd = mkstemp(offer->name);
    if (0 > fd) {
        offer->error = OMPI_ERR_FILE_OPEN_FAILURE;
        return;
    }
    do {
        error = posix_fallocate(fd, 0, sizeof(mpix_endpoints_sharedfp_word_t));
    } while (EINTR == error);
    if (0 != error) {
        offer->error = OMPI_ERR_OUT_OF_RESOURCE;
        (void) unlink(offer->name);
    }
    close(fd);
}

static int word_map(const char *name, mpix_endpoints_sharedfp_t *shared)
{
    const int fd = open(name, O_RDWR | O_CLOEXEC);
    void *word = MAP_FAILED;

    if (0 <= fd) {
        word = mmap(NULL, sizeof(*shared->word), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    if (MAP_FAILED == word) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    shared->word = word;
    shared->mapped = sizeof(*shared->word);
    return OMPI_SUCCESS;
}

static void word_offer(ompi_communicator_t *comm, offer_t *offer)
{
    bool in_process, on_node;

    memset(offer, 0, sizeof(*offer));
    word_locality(comm, &in_process, &on_node);
    if (in_process) {
        mpix_endpoints_sharedfp_word_t *word = calloc(1, sizeof(*word));

        offer->address = (uintptr_t) word;
        offer->error = NULL == word ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
        if (NULL != word) {
            /* Relaxed: published by a message. */
            atomic_store_explicit(&word->users, ompi_comm_size(comm), memory_order_relaxed);
        }
    } else if (on_node) {
        word_create(offer);
    } else {
        offer->is_remote = true;
    }
}

/** Rank 0 has the word.  There is none if it cannot be had at some member. */
static int word_make_remote(ompi_communicator_t *comm, mpix_endpoints_sharedfp_t *shared)
{
    const bool is_first = 0 == ompi_comm_rank(comm);
    int64_t cannot;
    int rc;

    shared->remote = mpix_endpoints_sharedfp_remote(comm);
    if (NULL != shared->remote && is_first) {
        shared->word = mpix_endpoints_sharedfp_remote_serve(shared->remote);
    }
    cannot = NULL == shared->remote || (is_first && NULL == shared->word);
    rc = mpix_endpoints_reduce_max(comm, &cannot, 1);
    if (OMPI_SUCCESS != rc || 0 != cannot) {
        mpix_endpoints_sharedfp_word_free(shared);
    }
    return rc;
}

int mpix_endpoints_sharedfp_word_make(ompi_communicator_t *comm, mpix_endpoints_sharedfp_t *shared)
{
    offer_t *offer = malloc(sizeof(*offer));
    int rc = mpix_endpoints_reduce_error(comm,
                                         NULL == offer ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS);

    *shared = (mpix_endpoints_sharedfp_t){.word = NULL};
    if (OMPI_SUCCESS != rc) {
        free(offer);
        return rc;
    }
    if (0 == ompi_comm_rank(comm)) {
        word_offer(comm, offer);
    }
    rc = comm->c_coll->coll_bcast(offer, sizeof(*offer), &ompi_mpi_byte.dt, 0, comm,
                                  comm->c_coll->coll_bcast_module);
    if (OMPI_SUCCESS == rc) {
        rc = offer->error;
    }
    if (OMPI_SUCCESS == rc && 0 != offer->address) {
        shared->word = (mpix_endpoints_sharedfp_word_t *) (uintptr_t) offer->address;
    } else if (OMPI_SUCCESS == rc && offer->is_remote) {
        rc = word_make_remote(comm, shared);
    } else if (OMPI_SUCCESS == rc && '\0' != offer->name[0]) {
        rc = mpix_endpoints_reduce_error(comm, word_map(offer->name, shared));
        if (0 == ompi_comm_rank(comm)) {
            (void) unlink(offer->name);
        }
        if (OMPI_SUCCESS != rc) {
            mpix_endpoints_sharedfp_word_free(shared);
        }
    }
    free(offer);
    return rc;
}

void mpix_endpoints_sharedfp_word_free(mpix_endpoints_sharedfp_t *shared)
{
    if (NULL != shared->remote) {
        if (NULL != shared->word) {
            mpix_endpoints_sharedfp_remote_end(shared->remote);
        }
    } else if (0 != shared->mapped) {
        munmap(shared->word, shared->mapped);
    } else if (NULL != shared->word) {
        /* Acquire and release: all accesses of others before the word is freed; partner: the same
         * here, by the others. */
        if (1 == atomic_fetch_sub_explicit(&shared->word->users, 1, memory_order_acq_rel)) {
            free(shared->word);
        }
    }
    *shared = (mpix_endpoints_sharedfp_t){.word = NULL};
}

#endif
