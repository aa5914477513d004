/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the endpoints of death are at: one talks with one other.
 */

#include "death.h"

static int exchange(survivor_t *s, int count)
{
    int rc = s->is_partner ? MPI_SUCCESS
                           : MPI_Send(s->buffer, count, MPI_CHAR, s->partner, TAG, s->comm);

    if (MPI_SUCCESS == rc) {
        rc = MPI_Recv(s->buffer, count, MPI_CHAR, s->partner, TAG, s->comm, MPI_STATUS_IGNORE);
    }
    if (MPI_SUCCESS == rc && s->is_partner) {
        rc = MPI_Send(s->buffer, count, MPI_CHAR, s->partner, TAG, s->comm);
    }
    return rc;
}

/** A receive that nothing answers. */
int way_recv(survivor_t *s)
{
    return MPI_Recv(s->buffer, 8, MPI_CHAR, s->partner, TAG, s->comm, MPI_STATUS_IGNORE);
}

int way_irecv(survivor_t *s)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int rc, class = MPI_SUCCESS;

    /* The first one is from a living rank, and arrives. */
    MPI_Irecv(s->buffer, 1, MPI_CHAR, s->rank, TAG + 1, s->comm, &requests[0]);
    MPI_Irecv(s->buffer + 8, 8, MPI_CHAR, s->partner, TAG, s->comm, &requests[1]);
    MPI_Irecv(s->buffer + 16, 8, MPI_CHAR, s->partner, MPI_ANY_TAG, s->comm, &requests[2]);
    MPI_Send(s->buffer + 32, 1, MPI_CHAR, s->rank, TAG + 1, s->comm);
    rc = MPI_Waitall(3, requests, statuses);
    MPI_Error_class(rc, &class);
    if (MPI_ERR_IN_STATUS != class) {
        return rc;
    }
    if (MPI_SUCCESS != statuses[0].MPI_ERROR) {
        printf("rank %d: a receive among survivors failed\n", s->rank);
    }
    return statuses[1].MPI_ERROR == statuses[2].MPI_ERROR ? statuses[1].MPI_ERROR : MPI_ERR_INTERN;
}

int way_probe(survivor_t *s)
{
    return MPI_Probe(s->partner, TAG, s->comm, MPI_STATUS_IGNORE);
}

int way_iprobe(survivor_t *s)
{
    int flag, rc;

    do {
        rc = MPI_Iprobe(s->partner, TAG, s->comm, &flag, MPI_STATUS_IGNORE);
    } while (MPI_SUCCESS == rc && !flag);
    return rc;
}

/** The dead leaves a message behind, which is received, and then a wait that nothing answers. */
int way_any(survivor_t *s)
{
    MPI_Status status;
    int rc;

    if (s->is_partner) {
        for (int i = 0; i + endpoints < s->size; i += endpoints) {
            MPI_Send(s->buffer, 8, MPI_CHAR, i + s->rank % endpoints, TAG, s->comm);
        }
    }
    do {
        rc = MPI_Recv(s->buffer, 8, MPI_CHAR, MPI_ANY_SOURCE, TAG, s->comm, &status);
    } while (MPI_SUCCESS == rc);
    return rc;
}

int way_pingpong(survivor_t *s)
{
    int rc;

    do {
        rc = exchange(s, 8);
    } while (MPI_SUCCESS == rc);
    return rc;
}

int way_stream(survivor_t *s)
{
    int rc;

    do {
        rc = exchange(s, LARGE);
    } while (MPI_SUCCESS == rc);
    return rc;
}

/** Messages that the dying rank receives. */
int way_flood(survivor_t *s)
{
    int rc;

    do {
        rc = s->is_partner
                 ? MPI_Recv(s->buffer, 64, MPI_CHAR, s->partner, TAG, s->comm, MPI_STATUS_IGNORE)
                 : MPI_Send(s->buffer, 64, MPI_CHAR, s->partner, TAG, s->comm);
    } while (MPI_SUCCESS == rc);
    return rc;
}

/** Messages that nobody takes: the sender is held up when the other one dies. */
int way_stuck(survivor_t *s)
{
    int rc;

    if (s->is_partner) {
        for (;;) {
            (void) pause();
        }
    }
    do {
        rc = MPI_Send(s->buffer, 1000, MPI_CHAR, s->partner, TAG, s->comm);
    } while (MPI_SUCCESS == rc);
    return rc;
}

/** A large message, a synchronous one and a buffered one that are never received. */
int way_unmatched(survivor_t *s)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Datatype pieces;
    int rc, class = MPI_SUCCESS;

    if (s->is_partner) {
        return way_recv(s);
    }
    MPI_Type_vector(LARGE / 16, 8, 16, MPI_CHAR, &pieces);
    MPI_Type_commit(&pieces);
    MPI_Isend(s->buffer, LARGE, MPI_CHAR, s->partner, TAG + 2, s->comm, &requests[0]);
    MPI_Issend(s->buffer, 8, MPI_CHAR, s->partner, TAG + 2, s->comm, &requests[1]);
    MPI_Isend(s->buffer, 1, pieces, s->partner, TAG + 2, s->comm, &requests[2]);
    rc = MPI_Waitall(3, requests, statuses);
    MPI_Type_free(&pieces);
    MPI_Error_class(rc, &class);
    if (MPI_ERR_IN_STATUS != class) {
        return rc;
    }
    return statuses[0].MPI_ERROR == statuses[1].MPI_ERROR
                   && statuses[1].MPI_ERROR == statuses[2].MPI_ERROR
               ? statuses[0].MPI_ERROR
               : MPI_ERR_INTERN;
}

/** Partitioned: a receive of which a half is being fetched, in pieces that the dead does not answer
 * any more, and a send that it never starts to receive. */
int way_part(survivor_t *s)
{
    enum { PARTITIONS = 4 };
    MPI_Request requests[MOST_EP] = {MPI_REQUEST_NULL};
    char small[8] = "";
    int count = 0, rc, flag;

    if (s->is_partner) {
        for (int i = s->rank % endpoints; i + endpoints < s->size; i += endpoints) {
            MPI_Psend_init(s->buffer, PARTITIONS, LARGE / PARTITIONS, MPI_CHAR, i, TAG, s->comm,
                           MPI_INFO_NULL, &requests[count]);
            MPI_Start(&requests[count++]);
        }
        /* Their starts arrive in the meantime. */
        for (double stop = MPI_Wtime() + 3e-4 * after_ms; MPI_Wtime() < stop;) {
            MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < count; ++i) {
            MPI_Pready(0, requests[i]);
            MPI_Pready(1, requests[i]);
        }
        for (;;) {
            (void) pause();
        }
    }
    MPI_Precv_init(s->buffer, PARTITIONS, LARGE / PARTITIONS, MPI_CHAR, s->partner, TAG, s->comm,
                   MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(small, 1, sizeof(small), MPI_CHAR, s->partner, TAG, s->comm, MPI_INFO_NULL,
                   &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready(0, requests[1]);
    rc = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    return rc == MPI_Wait(&requests[1], MPI_STATUS_IGNORE) ? rc : MPI_ERR_INTERN;
}
