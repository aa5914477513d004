/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Part of the test client: what windows need of the engine.  Active messages of all sizes that are
 * answered by work which their arrival begins.
 */

#include "client_windows.h"

#include "test/client/epanswer.h"
#include "test/client/epclient.h"

int client_windows_begin(void)
{
    return epanswer_open();
}

/* ---- active messages ------------------------------------------------------------------------- */

/** How large a message to a rank may be, and what is too large. */
static void sizes(MPI_Comm comm, struct ept *t)
{
    static unsigned char data[MPIX_ENDPOINTS_AM_LIMIT + 1];

    for (int rank = 0; rank < t->size; ++rank) {
        const size_t most = epclient_engine->am_max(comm, rank);

        EPT_CHECK(t, MPIX_ENDPOINTS_AM_MAX <= most && MPIX_ENDPOINTS_AM_LIMIT >= most,
                  "%zu bytes to rank %d", most, rank);
        EPT_CLASS(t, MPI_ERR_ARG,
                  epclient_engine->am_send(comm, epclient_number(), rank, data, most + 1));
        EPT_EQ(t, most, epclient_engine->am_max(comm, rank));
    }
}

#define QUESTIONS 40

/** Sizes of the i-th message to a rank: all up to the largest one, those round 256 in particular. */
static size_t size_of(MPI_Comm comm, int rank, int i)
{
    const size_t most = epclient_engine->am_max(comm, rank);
    size_t size = EPANSWER_LEAST;

    if (0 == i % 4) {
        size = most - (size_t) i / 4;
    } else if (1 == i % 4) {
        size = MPIX_ENDPOINTS_AM_MAX - 4 + (size_t) i / 4;
    } else if (2 == i % 4) {
        size += (most - size) * (size_t) i / QUESTIONS;
    }
    return size < most ? size : most;
}

static void answers(MPI_Comm comm, struct ept *t)
{
    const uint64_t all = (uint64_t) t->size * QUESTIONS;
    const uint64_t before = epanswer_answers(comm), asked = epanswer_questions(comm);

    EPT_OK(t, MPI_Barrier(comm));
    for (int i = 0; i < QUESTIONS; ++i) {
        for (int rank = 0; rank < t->size; ++rank) {
            EPT_OK(t, epanswer_ask(comm, rank, size_of(comm, rank, i),
                                   size_of(comm, rank, QUESTIONS - 1 - i)));
        }
    }
    while (all > epanswer_answers(comm) - before) {
    }
    EPT_OK(t, MPI_Barrier(comm)); /* others may still wait for some of this one's */
    EPT_EQ(t, all, epanswer_answers(comm) - before);
    EPT_EQ(t, all, epanswer_questions(comm) - asked);
    EPT_EQ(t, 0, epanswer_errors());
}

/** Handles that are freed while questions and answers are on their way to them. */
static void answers_freed(MPI_Comm comm, struct ept *t)
{
    MPI_Comm dup;

    for (int i = 0; i < 40; ++i) {
        EPT_OK(t, MPI_Comm_dup(comm, &dup));
        for (int rank = 0; rank < t->size; ++rank) {
            EPT_OK(t, epanswer_ask(dup, rank, EPANSWER_LEAST, 0 == i % 2 ? 2000 : EPANSWER_LEAST));
        }
        if (0 == i % 4) {
            (void) epanswer_answers(dup);
        }
        EPT_OK(t, MPI_Comm_free(&dup));
    }
    EPT_OK(t, MPI_Barrier(comm));
    while (t->nlocal < epanswer_handles()) { /* those that work still holds */
        (void) epclient_engine->progress(comm);
    }
    EPT_OK(t, MPI_Barrier(comm));
    EPT_EQ(t, t->nlocal, epanswer_handles());
    EPT_EQ(t, 0, epanswer_errors());
    EPT_OK(t, MPI_Barrier(comm));
}

void client_windows(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, sizes);
    EPT_CASE(t, answers);
    EPT_CASE(t, answers_freed);
}
